"""`contramem bank`: what it prints and how it ends."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from injectors.bank import Bank
from injectors.bank_files import create_bank, load_bank
from injectors.cards import FunctionCard, Skill, SkillCard, SkillDelta, skill_card_id
from runtime.errors import BadFile, UnknownName, UsageError
from scripts.commands.bank import app

LESSON = SkillDelta(
    title="Pay a debt [once]",
    applies_when="money is owed",
    solves="paying twice",
    tags=("payment", "debt", "state_write"),
    skill=Skill(core_rule="Send the amount once."),
    functions_used=("venmo.pay",),
)
CARD = SkillCard(card_id=skill_card_id(LESSON), **LESSON.model_dump())
TOOL = FunctionCard(
    card_id="function::venmo.pay",
    tool="venmo.pay",
    app="venmo",
    function="pay",
    what_it_does="Pays somebody.",
)


@pytest.fixture
def bank(tmp_path) -> Path:
    create_bank(tmp_path / "b", Bank.of("appworld", [TOOL], {"global": [CARD]}, about="A test."))
    return tmp_path / "b"


def run(*words, code=0):
    result = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "80"})
    if isinstance(result.exception, UsageError):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.stdout


def test_show_as_json_has_the_fixed_keys(bank):
    assert json.loads(run("show", bank, "--json")) == {
        "hash": load_bank(bank).hash,
        "frozen": False,
        "function_cards": 1,
        "skill_cards": {"global": 1},
    }


def test_show_lists_cards_for_people(bank):
    text = run("show", bank)
    for part in ("open for edits", "A test.", CARD.card_id, "Pay a debt [once]", "Pays somebody."):
        assert part in text


def test_search_shows_the_ranking_with_its_parts(bank):
    text = run("search", bank, "Pay my debt on Venmo")
    for part in ("apps venmo; signature state_write", CARD.card_id, "+2.00", "+0.50", "debt pay"):
        assert part in text
    found = json.loads(run("search", bank, "Pay my debt", "--app", "Venmo", "--json"))
    assert found["apps"] == ["venmo"]
    assert found["skills"][0]["card_id"] == CARD.card_id
    assert set(found["functions"][0]) == {
        "card_id",
        "score",
        "bm25",
        "app_bonus",
        "signature_hint",
        "shared_terms",
    }


def test_a_search_without_a_find_says_so_in_words_and_by_its_exit_code(bank):
    assert json.loads(run("search", bank, "Water plants", "--json", code=1))["skills"] == []
    text = run("search", bank, "Water plants", code=1)
    assert "No Skill Card shares a term with the text." in text
    assert "No Function Card shares a term with the text." in text
    assert "bm25" not in text


def test_misspelt_apps_and_abilities_are_answered_with_the_nearest(bank):
    with pytest.raises(UnknownName, match=r"app of the bank named 'vemno'. Nearest: venmo"):
        run("search", bank, "Pay", "--app", "vemno")
    with pytest.raises(UnknownName, match=r"skill set named 'Foo'. Known: global"):
        run("search", bank, "Pay", "--ability", "Foo")


def test_ids_are_whole_in_a_pipe(tmp_path):
    name = "venmo.create_transaction_with_a_very_long_name"
    card = TOOL.model_copy(
        update={
            "card_id": f"function::{name}",
            "tool": name,
            "function": name.partition(".")[2],
            "what_it_does": "Pays somebody, " * 20,
        }
    )
    create_bank(tmp_path / "b", Bank.of("appworld", [card]))
    for words in (("show", tmp_path / "b"), ("search", tmp_path / "b", "Pay somebody")):
        assert f" function::{name} " in run(*words)


def test_a_card_is_switched_off_and_on(bank):
    run("deactivate", bank, CARD.card_id, "--reason", "misled an agent")
    assert not load_bank(bank).skills()
    run("activate", bank, CARD.card_id)
    assert load_bank(bank).skills() == (CARD,)
    with pytest.raises(UsageError, match="active already"):
        run("activate", bank, CARD.card_id)


def test_a_frozen_bank_stays_as_it_is(bank):
    assert load_bank(bank).hash in run("freeze", bank)
    assert json.loads(run("show", bank, "--json"))["frozen"] is True
    with pytest.raises(UsageError, match="frozen"):
        run("deactivate", bank, CARD.card_id)


def test_what_is_not_there_is_named(bank, tmp_path):
    with pytest.raises(UnknownName, match=r"venmo\.pay"):
        run("deactivate", bank, "function::venmo.play")
    with pytest.raises(BadFile, match="no bank here"):
        run("show", tmp_path / "nowhere")
