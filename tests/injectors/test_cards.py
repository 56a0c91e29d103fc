"""Records: identities, limits, and the forms in which models propose edits."""

import json

import pytest
from bank_samples import delta, function, skill
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from injectors.cards import (
    Argument,
    CuratorPatch,
    FunctionCard,
    Skill,
    SkillCard,
    limits_for,
    over_limits,
    skill_card_id,
)

words = st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1).filter(str.strip)


def test_a_card_file_starts_with_the_id():
    assert list(skill().model_dump())[:2] == ["card_id", "title"]
    assert list(function().model_dump())[:2] == ["card_id", "tool"]


@given(title=words, rule=words)
def test_a_skill_id_depends_on_content_only(title, rule):
    one = delta(title, skill=Skill(core_rule=rule))
    card = SkillCard(card_id=skill_card_id(one), **one.model_dump())
    assert skill_card_id(card) == skill_card_id(one) == skill_card_id(card.content)
    assert SkillCard.model_validate_json(card.model_dump_json()) == card


@given(title=words, other=words)
def test_other_content_has_another_id(title, other):
    same = delta(title).title == delta(other).title
    assert (skill_card_id(delta(title)) == skill_card_id(delta(other))) is same


@pytest.mark.parametrize(
    "change",
    [
        {"card_id": "function::other.show_songs"},
        {"app": "other"},
        {"function": "show"},
        {"tool": "no_dot"},
        {"what_it_does": "  "},
        {"usage_rules": ("",)},
        {"unknown_field": 1},
        {"arguments": ({"name": "page"}, {"name": "page"})},
    ],
)
def test_a_function_card_that_contradicts_itself_is_refused(change):
    with pytest.raises(ValidationError):
        FunctionCard(**(function().model_dump() | change))


@pytest.mark.parametrize(
    "tags", [("one", "two"), tuple("abcdefghi"), ("Upper", "two", "three"), ("a\nb", "two", "c")]
)
def test_tags_are_three_to_eight_lower_case_words(tags):
    with pytest.raises(ValidationError):
        delta(tags=tags)


@pytest.mark.parametrize(
    ("benchmark", "arguments", "notes"), [("appworld", 8, 3), ("gaia2", 12, 0), ("own", 12, 3)]
)
def test_limits_differ_by_benchmark(benchmark, arguments, notes):
    def card(n_arguments, n_notes):
        listed = tuple(Argument(name=f"a{n}") for n in range(n_arguments))
        return function(arguments=listed, doc_delta_notes=("seen",) * n_notes)

    limits = limits_for(benchmark)
    assert not over_limits(card(arguments, notes), limits)
    assert len(over_limits(card(arguments + 1, notes + 1), limits)) == 2


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"usage_rules": ("r",) * 6}, "usage_rules has 6 items, at most 5"),
        ({"common_mistakes": ("m",) * 5}, "common_mistakes has 5"),
        ({"side_effects": ("s",) * 5}, "side_effects has 5"),
        ({"what_it_does": "Lists songs. Then it stops."}, "more than one sentence"),
    ],
)
def test_limits_name_the_part_that_breaks_them(change, problem):
    (said,) = over_limits(function(**change), limits_for("appworld"))
    assert problem in said


def test_an_abbreviation_ends_no_sentence():
    card = function(what_it_does="Lists songs by genre, e.g. Rock ones.")
    assert not over_limits(card, limits_for("appworld"))


def test_gaia2_cards_have_no_idiom_and_no_procedure():
    limits = limits_for("gaia2")
    assert over_limits(function(code_idiom="x = apis.music.show_songs()"), limits)
    assert over_limits(skill(skill=Skill(core_rule="r", procedure_sketch=("a", "b"))), limits)
    assert not over_limits(function(), limits)


@pytest.mark.parametrize("operation", ["ADD", "add_card", "ADD_CARD", "add"])
def test_short_operation_names_are_read(operation):
    patch = CuratorPatch.model_validate({"operation": operation})
    assert patch.operation == "ADD_CARD"


def test_an_unknown_operation_is_refused():
    with pytest.raises(ValidationError):
        CuratorPatch.model_validate({"operation": "DELETE"})


def test_retained_card_id_is_read_as_the_target():
    card = skill()
    data = {"operation": "MERGE", "retained_card_id": card.card_id}
    assert CuratorPatch.model_validate(data).target_card_id == card.card_id
    with pytest.raises(ValidationError, match="different cards"):
        CuratorPatch.model_validate(data | {"target_card_id": skill("Another").card_id})


def test_a_model_cannot_give_an_id():
    proposed = json.loads(skill().model_dump_json()) | {"card_id": "whatever I like"}
    patch = CuratorPatch.model_validate({"operation": "ADD", "new_or_updated_card": proposed})
    assert patch.new_or_updated_card == delta()
