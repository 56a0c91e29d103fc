"""Distils banks of cards from the traces of several models on the same tasks."""
