"""The hand-written starter bank: sound, named as hand-written, free of values, and of use."""

import json
from importlib.resources import files
from pathlib import Path

import pytest

from injectors.bank_files import load_bank
from injectors.cards import FunctionCard, SkillCard, skill_card_id
from injectors.idiom import idiom_problems
from injectors.memory_injector import MemoryInjector
from injectors.neutralise import carries_value, plain
from injectors.profiles import settings_for
from injectors.signature import SIGNATURES
from injectors.task_start import appworld_block
from runtime.contracts import Task

FOLDER = Path(str(files("adapters.appworld") / "starter_bank"))
BANK = load_bank(FOLDER)
FUNCTIONS = list(BANK.functions)
SKILLS = list(BANK.skills())


def strings(value):
    if isinstance(value, dict):
        return [text for item in value.values() for text in strings(item)]
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    return [value] if isinstance(value, str) else []


def test_it_holds_what_it_should():
    assert BANK.benchmark == "appworld"
    assert len(FUNCTIONS) >= 12
    assert len(SKILLS) >= 6
    tags = {tag for card in SKILLS for tag in card.tags}
    assert set(SIGNATURES) <= tags


def test_it_says_that_it_was_written_by_hand():
    assert "by hand" in BANK.about
    assert "written by hand" in (FOLDER / "README.md").read_text().lower()
    assert all(
        placed.provenance["origin"] == "hand-written" and not placed.generators
        for placed in BANK.cards.values()
    )


@pytest.mark.parametrize("card", [*FUNCTIONS, *SKILLS], ids=lambda card: card.card_id)
def test_cards_carry_no_value_and_nothing_to_neutralise(card):
    for text in strings(card.model_dump(mode="json", exclude={"card_id", "code_idiom"})):
        assert not carries_value(text)
        assert plain(text) == text


@pytest.mark.parametrize("card", FUNCTIONS, ids=lambda card: card.card_id)
def test_function_cards_keep_the_rules(card):
    assert not idiom_problems(card)
    assert appworld_block([], [card]).cards == (card.card_id,)
    written = ("create_", "update_", "send_", "remove_", "record_", "complete_")
    if card.function.startswith(written):
        assert card.side_effects


@pytest.mark.parametrize("card", SKILLS, ids=lambda card: card.title)
def test_skill_cards_keep_the_rules(card):
    assert isinstance(card, SkillCard)
    assert skill_card_id(card) == card.card_id
    known = {tool.tool for tool in FUNCTIONS}
    assert set(card.functions_used) <= known
    assert len(card.skill.procedure_sketch) <= 5
    apps = {tool.partition(".")[0] for tool in known}
    for text in (card.title, card.applies_when, card.skill.core_rule):
        assert not any(app in text.lower() for app in apps - {"phone"})
    assert appworld_block([card], []).cards == (card.card_id,)


@pytest.mark.parametrize(
    ("text", "title", "tool"),
    [
        (
            "Request the money on Venmo from each of my roommates, as listed in my Simple Note.",
            "Carry people across apps",
            "simple_note.search_notes",
        ),
        ("What is the most played song in my Spotify song library?", "Read a listing", "spotify."),
        ("Archive every thread from Ann in my Gmail inbox.", "Collect the whole", "gmail."),
        ("Text my roommate Nora that I am late", "Make sure of the one", "phone.send_text"),
        ("Let my alarm ring earlier", "Compute a change", "phone.update_alarm"),
    ],
)
def test_tasks_get_the_cards_that_were_written_for_their_kind(text, title, tool):
    task = Task(benchmark="appworld", id="a_1", scenario_id="a", dataset="d", instruction=text)
    settings = settings_for("appworld-start", {"memory": str(FOLDER)})
    block = MemoryInjector(BANK, settings).task_start(task)
    best = BANK.card(block.cards[0])
    assert isinstance(best, SkillCard)
    assert best.title.startswith(title)
    assert any(card.startswith(f"function::{tool}") for card in block.cards)
    assert all(isinstance(BANK.card(card), FunctionCard | SkillCard) for card in block.cards)


def test_its_files_are_in_the_form_that_edits_write():
    for file in FOLDER.rglob("*.json"):
        text = file.read_text(encoding="utf-8")
        assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"
    manifest = json.loads((FOLDER / "manifest.json").read_text())
    assert manifest["content_hash"] == BANK.hash
