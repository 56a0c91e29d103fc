"""Measurements, as ratios within one run: `scripts/bench [--json] [NAME ...]`."""
