"""The scenarios: one file each, two tasks each."""
