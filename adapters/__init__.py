"""Benchmarks: one folder each, with prompt, child processes, set-up and bundled tasks."""
