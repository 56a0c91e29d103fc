"""Writes the files of all bundled scenarios into a folder."""

from __future__ import annotations

from pathlib import Path

from adapters.gaia2.mini.source import adaptability, ambiguity, execution, search, timing
from adapters.gaia2.mini.source.scenario import Mini, text_of

MINIS: tuple[Mini, ...] = (
    *execution.MINIS,
    *search.MINIS,
    *ambiguity.MINIS,
    *adaptability.MINIS,
    *timing.MINIS,
)


def all_files() -> dict[str, str]:
    """Return the text of every file by its path below the folder."""
    index = {
        dataset: [mini.id for mini in MINIS if mini.dataset == dataset]
        for dataset in ("mini_train", "mini_test")
    }
    files = {"index.json": text_of(index)}
    for mini in MINIS:
        files[f"scenarios/{mini.id}.json"] = text_of(mini.scenario())
        files[f"checks/{mini.id}.json"] = text_of(mini.checks())
    return files


def write(folder: Path) -> None:
    """Write them all."""
    for name, text in all_files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).parent.parent)
