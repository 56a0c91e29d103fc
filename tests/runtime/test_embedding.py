"""The program of docs/embedding.md, as it stands there, and its copy in the README."""

import os
import re
import subprocess
import sys
from pathlib import Path

from runtime.trace import read_trace

ROOT = Path(__file__).parents[2]


def programs(page: str) -> list[str]:
    text = (ROOT / page).read_text("utf-8")
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_readme_has_the_same_program():
    assert programs("README.md")[:1] == programs("docs/embedding.md")


def test_the_program_of_the_page_runs(tmp_path, appworld_setup):
    (program,) = programs("docs/embedding.md")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout == "failed 1 episode.jsonl\n"
    trace = read_trace(tmp_path / "episode.jsonl")
    assert trace.header.model == {"name": "my-agent"}
    assert trace.end.status == "failed"
    assert [path.name for path in tmp_path.iterdir()] == ["episode.jsonl"]
