"""GAIA2 on ARE: asynchronous scenarios with a clock, a user and an action-level judge."""
