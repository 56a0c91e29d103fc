"""What agent code prints is shown, and steers no terminal."""

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from runtime.report.transcript import transcript
from runtime.report.visible import visible
from runtime.trace import read_trace
from tests.runtime.test_replay import World
from tests.support.fake_world import GOOD, cell, says

STEERS = "\x1b]52;c;aGk=\x07 \x1b[2J \x9b31m \u202egnp.exe \b\r"


async def test_a_transcript_passes_no_control_on(tmp_path):
    source = f"print({STEERS!r})"
    recorded = await World(tmp_path).record(says(cell(source), *GOOD))
    console = Console(file=io.StringIO(), width=80, color_system=None)
    console.print(transcript(read_trace(recorded.path)))
    shown = console.file.getvalue()
    assert not set(shown) & (set(STEERS) - set("]52;c;aGk= [2J31mgnp.exe"))
    assert "\\x1b]52;c;aGk=\\x07" in shown


@given(st.text())
def test_only_tab_and_line_feed_are_left_of_controls(text):
    shown = visible(text)
    assert all(
        character.isprintable() or character in "\t\n" or ord(character) > 159
        for character in shown
    )


def test_other_text_stays_as_it_is():
    text = "Zoë zahlt 3 €\n\tja, 🎉 שלום"
    assert visible(text) == text
