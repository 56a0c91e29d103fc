"""Downloads GAIA2's scenarios in ARE's interpreter: one JSON file each, one folder a configuration.

A child: imports the standard library and what ARE's environment holds.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

SPLIT = "validation"
"""The split with oracle events, which the judge needs."""


def main(arguments: Sequence[str]) -> None:
    """Download the dataset named first into the folder named second."""
    # takes seconds to import, and exists in ARE's environment only
    datasets = importlib.import_module("datasets")
    name, folder = arguments
    for configuration in datasets.get_dataset_config_names(name):
        rows = datasets.load_dataset(name, configuration, split=SPLIT, streaming=True)
        target = Path(folder) / configuration
        target.mkdir(parents=True)
        for row in rows:
            _free_name(target, row["scenario_id"]).write_text(row["data"], encoding="utf-8")


def _free_name(folder: Path, scenario: str) -> Path:
    path, repeat = folder / f"{scenario}.json", 1
    while path.exists():  # a scenario may occur once per phase
        repeat += 1
        path = folder / f"{scenario}-{repeat}.json"
    return path
