"""From a reply to a cell, and from an observation to a message."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runtime.cells import CUT_OFF, EMPTY, NO_CELL, Turn, observation_message, read_reply, truncate
from runtime.contracts import CellEnd, Observation, Reply


def read(text: str, finish_reason: str = "stop") -> Turn:
    return read_reply(Reply(text=text, finish_reason=finish_reason))


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("I look.\n```python\nprint(1)\n```", "print(1)"),
        ("```py\nprint(1)\n```", "print(1)"),
        ("```Python3\nprint(1)\n```", "print(1)"),
        ("```\nprint(1)\n```", "print(1)"),
        ("~~~python\nprint(1)\n~~~", "print(1)"),
        ('```python title="look.py"\nprint(1)\n```', "print(1)"),
        ("```python\nprint(1)```", "print(1)"),
        ("```python\nprint(1)\n```\nOutput: 1\n```python\nprint(2)\n```", "print(1)"),
        ("```bash\nls\n```\nNow\n```python\nprint(1)\n```", "print(1)"),
        ("```json\n{}\n```\n```\nprint(1)\n```", "print(1)"),
        ("```python\n```\n```python\nprint(1)\n```", "print(1)"),
        ("```python\nprint(1)", "print(1)"),
        ("```python\r\nif x:\r\n    y()\r\n```\r\n", "if x:\n    y()"),
        ("1. Look\n   ```python\n   if x:\n       y()\n   ```", "if x:\n    y()"),
        ("````python\ns = '''\n```\n'''\n````", "s = '''\n```\n'''"),
        ("```python\ns = 'a```b'\nt()\n```", "s = 'a```b'\nt()"),
        ("```python\n\n\nprint(1)   \n\n```", "print(1)"),
        ("```python\n    print(1)\n```", "    print(1)"),
        ("```python\nprint('\ud800')\n```", "print('\\ud800')"),
    ],
)
def test_the_first_python_fence_is_the_cell(text, source):
    assert read(text).source == source
    assert read(text).complaint == ""


@pytest.mark.parametrize(
    ("text", "finish_reason", "complaint"),
    [
        ("", "stop", EMPTY),
        (" \n\r\n", "stop", EMPTY),
        ("print(1)", "stop", NO_CELL),
        ("Use `print` or ```x``` here.", "stop", NO_CELL),
        ("```bash\nls\n```", "stop", NO_CELL),
        ("```bash\nls", "stop", NO_CELL),
        ("```python", "stop", NO_CELL),
        ("```python\n \n```", "stop", NO_CELL),
        ("```python\npay()", "length", CUT_OFF),
        ("I think", "length", CUT_OFF),
    ],
)
def test_a_reply_without_a_cell_is_answered_with_the_reason(text, finish_reason, complaint):
    turn = read(text, finish_reason)
    assert turn.source is None
    assert turn.complaint == complaint
    assert turn.said


def test_a_reply_cut_off_after_its_cell_runs_the_cell():
    assert read("```python\nprint(1)\n```\nand then I", "length").source == "print(1)"


def test_what_follows_the_cell_is_not_said():
    turn = read("Look.\n```python\nprint(1)\n```\nOutput:\n```\n1\n```")
    assert turn.said == "Look.\n```python\nprint(1)\n```"


def test_an_unterminated_cell_is_said_with_its_end():
    assert read("```python\nprint(1)").said == "```python\nprint(1)\n```"


PIECES = st.sampled_from(
    ["```", "```python", "~~~", "```bash", "````", "\n", "\r\n", " ", "x", "print(1)", "'", "é"]
)


@example("```\nx``````", "stop")
@given(st.lists(PIECES, max_size=14).map("".join), st.sampled_from(["stop", "length"]))
def test_reading_what_was_said_again_gives_the_same_turn(text, finish_reason):
    """Else a replay, which knows only what was said, would run other cells."""
    turn = read(text, finish_reason)
    assert read(turn.said, finish_reason) == turn


@given(st.text(max_size=400), st.integers(min_value=1, max_value=200))
def test_truncation_keeps_head_and_tail_and_says_how_much_is_gone(text, most):
    short = truncate(text, most)
    if len(text) <= most:
        assert short == text
        return
    head, tail = (most + 1) // 2, most // 2
    assert short.startswith(text[:head])
    assert short.endswith(text[len(text) - tail :])
    assert f"{len(text) - most} characters left out" in short


def observed(text: str, **fields) -> str:
    end = CellEnd(status="finished")
    return observation_message(Observation(text=text, end=end, **fields), 100)


def test_an_output_with_a_fence_stays_inside_its_fence():
    assert observed("a\n```\nb") == "Output:\n````\na\n```\nb\n````"


def test_notes_and_notifications_are_shown_whole_after_the_output():
    shown = observed("x" * 500, notes="n" * 300, notifications=("mail came",))
    assert shown.endswith(f"{'n' * 300}\n\nNotifications:\nmail came")
    assert "400 characters left out" in shown
