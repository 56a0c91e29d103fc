"""Makes the bundled scenarios: plain data in, the JSON files of `scenarios/` and `checks/` out."""
