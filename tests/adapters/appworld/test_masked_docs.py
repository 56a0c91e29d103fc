"""Agents print API documentation all the time: it holds no secret and is never masked."""

import json
import pprint
from pathlib import Path

import pytest

from runtime.masking import Masker


@pytest.mark.parametrize(
    "written", [json.dumps, repr, pprint.pformat, lambda doc: json.dumps(doc, indent=1)]
)
def test_of_documentation_nothing_is_masked(appworld_root: Path, written) -> None:
    paths = sorted((appworld_root / "data/api_docs").rglob("*.json"))
    assert len(paths) > 10
    masker = Masker()
    for path in paths:
        doc = json.loads(path.read_text())
        text = written(doc)
        assert masker.mask({"text": text, "value": doc}) == {"text": text, "value": doc}, path.name
