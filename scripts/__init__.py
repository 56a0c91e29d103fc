"""The command line: the composition root that wires runtime, adapters and injectors together."""
