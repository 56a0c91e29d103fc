"""Runs episodes: the loop, the bridge to a benchmark's processes, models, traces, replay, reports.

Knows no benchmark and no card: both are handed in through the protocols of `runtime.contracts`.
"""
