"""Reads other harnesses' runs into our traces: what all the formats share."""
