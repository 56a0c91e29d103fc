"""GAIA2's block (RTM): its text, its cap, the derived response contract."""

import re

import pytest
from bank_samples import function, skill
from hypothesis import given, settings
from hypothesis import strategies as st
from test_task_start import FULL, TOOL, functions, golden, skills

from injectors.cards import Evidence, Skill
from injectors.gaia2_block import RTM_HEADING, RULES, gaia2_block, response_contract, runtime_prompt
from runtime.contracts import Injection

ASK = Evidence(
    good_examples=("Sent both. Which date suits you?", "Done. Which of the two?"),
    bad_examples=("I have now carefully gone through all of it. It was long. Then I stopped.",),
)


def card(**changes):
    return FULL.model_copy(update=changes)


def test_the_block_as_it_is_written():
    scores = {TOOL.card_id: 3.14159}
    block = gaia2_block([card(evidence=ASK)], [TOOL, function()], scores=scores)
    golden("gaia2_block.txt", block.text)
    assert block.text.startswith(RTM_HEADING + "\n")
    assert "[score=3.14]" in block.text


def test_no_card_no_text():
    assert gaia2_block([], []) == Injection()


def test_a_host_marker_is_named_when_configured():
    assert "[[reply_to_current]]" not in gaia2_block([FULL], []).text
    block = gaia2_block([FULL], [], reply_marker="[[reply_to_current]]")
    assert "[[reply_to_current]]" in block.text


@pytest.mark.parametrize("cap", [2000, 900, 700, 100])
def test_the_block_keeps_its_cap(cap):
    skills = [
        skill(f"Lesson {n}", skill=Skill(core_rule="word " * 200, failure_contrast=("no " * 50,)))
        for n in range(9)
    ]
    block = gaia2_block(skills, [TOOL], cap=cap)
    assert block.tokens <= cap
    assert bool(block.text) == bool(block.cards) == (cap > 100)


def test_the_runtime_prompt_is_derived_from_the_card():
    text = runtime_prompt(FULL)
    for part in ("Trigger: money is owed", "Rule: Send", "[ ] the balance", "Failed: Sent twice."):
        assert part in text


@pytest.mark.parametrize(
    ("good", "bad", "contract"),
    [
        (ASK.good_examples, ASK.bad_examples, "at most 2 sentences; at most 6 words; ends with a"),
        (("Done.",), ("Done?",), "asks nothing"),
        (("Done.", "Done?"), ("Well, done.",), "at most 1 word"),
        (("Done.",), ("Gone.",), ""),
        (("Done.",), (), ""),
        ((), ("Done.",), ""),
    ],
)
def test_a_response_contract_is_a_shape_that_tells_good_from_bad(good, bad, contract):
    evidence = Evidence(good_examples=good, bad_examples=bad)
    derived = response_contract(card(evidence=evidence))
    assert derived.startswith(contract)
    assert bool(derived) == bool(contract)
    assert "date" not in derived


LINE = re.compile(
    r"\d\. \[skill\] |   (Trigger|Rule|Worked|Failed|Functions|Response contract): |   \[ \] |"
    r"- music\.show_songs: |  (Use|Avoid|Side effect): "
)


@settings(max_examples=50, deadline=None)
@given(st.lists(skills(), max_size=3), st.lists(functions(), max_size=2))
def test_no_card_can_leave_its_line(some_skills, some_functions):
    block = gaia2_block(some_skills, some_functions)
    assert block == gaia2_block(some_skills, some_functions)
    if not block.text:
        return
    assert block.text.endswith("\n\n" + RULES)
    for line in block.text.removesuffix("\n\n" + RULES).split("\n\n", 1)[1].split("\n"):
        assert LINE.match(line)
        assert line.splitlines() == [line]
        assert "`" not in line
        assert not re.search(r"\b(system|user|assistant|task)\s*:", line, re.IGNORECASE)
