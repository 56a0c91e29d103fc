"""The examples of docs/models.md are what they say they are."""

from __future__ import annotations

import re
from pathlib import Path

from runtime.models.config import read_models_file
from runtime.models.script import read_turns

PAGE = (Path(__file__).parents[3] / "docs" / "models.md").read_text(encoding="utf-8")


def block(fence: str, language: str) -> str:
    found = re.search(rf"^{fence}{language}\n(.*?)^{fence}$", PAGE, re.DOTALL | re.MULTILINE)
    return found.group(1)


def test_the_example_file_is_valid(tmp_path):
    path = tmp_path / "models.toml"
    path.write_text(block("```", "toml"))
    file = read_models_file(path)
    large, tiny = file.endpoint("large"), file.endpoint("tiny")
    assert large.provider.concurrency == 8
    assert large.settings.parameters["extra_body"] == {"top_k": 20}
    assert large.settings.prices.cached == 0.5
    assert tiny.settings.roles == ("user", "assistant")


def test_the_example_script_has_three_turns(tmp_path):
    path = tmp_path / "t_1.md"
    path.write_text(block("````", "markdown"))
    first, second, third = read_turns(path)
    assert first.text.startswith("I look the person up.\n```python")
    assert second.suits("Found 2 contacts.")
    assert not second.suits("Found 1 contact.")
    assert third.text.endswith("```")
