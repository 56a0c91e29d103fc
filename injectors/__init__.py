"""Procedural memory at run time: cards, banks, retrieval, task-start block, write gate."""
