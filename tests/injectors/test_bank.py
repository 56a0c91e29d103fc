"""Banks: what is in one, its hash, and edits of it in memory."""

import pytest
from bank_samples import bank, delta, function, skill
from hypothesis import given
from hypothesis import strategies as st

from injectors.bank import Bank, BankSettings, RetrievalConstants
from injectors.cards import Skill
from injectors.edits import (
    activate,
    add_function,
    add_skill,
    apply,
    configure,
    deactivate,
    merge,
    narrow,
    patch,
)
from runtime.errors import UnknownName, UsageError

ONE, TWO, THREE = (skill(f"Lesson {name}") for name in ("one", "two", "three"))


@given(st.permutations([ONE, TWO, THREE]))
def test_the_hash_does_not_depend_on_order(cards):
    assert bank(cards).hash == bank([ONE, TWO, THREE]).hash


def test_the_hash_is_the_same_on_every_machine():
    """Pinned: a change here makes every frozen bank in the world unreadable."""
    assert bank([ONE], [function()]).hash[:12] == "1a4c3a5ba53f"


@pytest.mark.parametrize(
    "other",
    [
        bank([ONE]),
        bank([ONE, TWO], benchmark="gaia2"),
        bank([ONE, skill("Lesson two", solves="else")]),
        bank([ONE, TWO], ability="Search"),
        bank([ONE, TWO], settings=BankSettings(inactive=(ONE.card_id,))),
        bank([ONE, TWO], settings=BankSettings(universal_for_time=(ONE.card_id,))),
        bank([ONE, TWO], settings=BankSettings(retrieval=RetrievalConstants(app_bonus=3))),
    ],
)
def test_the_hash_covers_whatever_changes_what_an_agent_sees(other):
    assert other.hash != bank([ONE, TWO]).hash


def test_the_hash_leaves_provenance_out():
    empty = bank()
    with_origin = apply(empty, add_skill(empty, "global", delta(), provenance={"by": "hand"}))
    assert with_origin.hash == apply(empty, add_skill(empty, "global", delta())).hash


def test_a_card_given_twice_is_refused():
    with pytest.raises(UsageError, match="twice"):
        bank([ONE, ONE])


def test_limits_of_the_benchmark_are_kept():
    card = function(doc_delta_notes=("seen",))
    assert bank(functions=[card])
    with pytest.raises(UsageError, match="doc_delta_notes has 1 items, at most 0"):
        bank(functions=[card], benchmark="gaia2")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (BankSettings(inactive=("skill::skill_000000000000",)), "no card named"),
        (BankSettings(universal_for_time=("function::music.show_songs",)), "no Skill Card"),
        (BankSettings(finalisation_card="function::music.show_songs"), "no Skill Card"),
    ],
)
def test_settings_must_name_cards_of_the_bank(settings, said):
    with pytest.raises(UsageError, match=said):
        bank([ONE], [function()], settings=settings)


def test_an_unknown_card_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match=r"function::music\.show_songs"):
        bank([ONE], [function()]).card("function::music.show_song")


def test_an_ability_selects_its_own_and_the_global_set():
    cards = {"Search": [ONE], "Time": [TWO], "global": [THREE]}
    whole = Bank.of("gaia2", skills=cards)
    assert {card.title for card in whole.skills("Search")} == {ONE.title, THREE.title}
    assert {card.title for card in whole.skills("Execution")} == {THREE.title}
    assert len(whole.skills()) == 3
    assert whole.abilities == ("Search", "Time", "global")


def test_inactive_cards_are_kept_but_never_delivered():
    whole = bank([ONE, TWO], [function()])
    for card_id in (ONE.card_id, function().card_id):
        whole = apply(whole, deactivate(whole, card_id))
    assert whole.skills() == (TWO,)
    assert whole.function("music.show_songs") is None
    assert not whole.functions
    assert whole.card(ONE.card_id) == ONE
    assert whole.counts() == {"functions": 1, "global": 2}
    whole = apply(whole, activate(whole, ONE.card_id))
    assert len(whole.skills()) == 2


@pytest.mark.parametrize(("edit", "state"), [(activate, "active"), (deactivate, "inactive")])
def test_a_card_that_is_so_already_says_so(edit, state):
    settings = BankSettings(inactive=(ONE.card_id,) if state == "inactive" else ())
    with pytest.raises(UsageError, match=f"{state} already"):
        edit(bank([ONE], settings=settings), ONE.card_id)


def test_the_same_lesson_is_added_once():
    whole = bank([skill()])
    with pytest.raises(UsageError, match="already"):
        add_skill(whole, "global", delta())
    with pytest.raises(UsageError, match="already"):
        add_function(bank(functions=[function()]), function())


def test_patch_and_narrow_keep_the_id():
    whole = bank([ONE])
    changed = apply(whole, patch(whole, ONE.card_id, delta("Reworded")))
    assert changed.skills()[0].title == "Reworded"
    assert changed.skills()[0].card_id == ONE.card_id
    tags = ("narrow", "paging", "default")
    narrowed = apply(whole, narrow(whole, ONE.card_id, "only when pages exist", tags))
    (card,) = narrowed.skills()
    assert (card.applies_when, card.tags) == ("only when pages exist", tags)
    assert card.model_dump(exclude={"applies_when", "tags"}) == ONE.model_dump(
        exclude={"applies_when", "tags"}
    )


def test_merge_keeps_one_id_and_all_origins():
    whole = bank()
    for title, origin in (("Lesson one", "a1"), ("Lesson two", "b2")):
        edit = add_skill(whole, "global", delta(title), provenance={"generator_ids": [origin]})
        whole = apply(whole, edit)
    settings = BankSettings(universal_for_time=(TWO.card_id,), finalisation_card=TWO.card_id)
    whole = apply(whole, configure(whole, settings))
    edit = merge(whole, ONE.card_id, [ONE.card_id, TWO.card_id], delta("Both"))
    merged = apply(whole, edit)
    assert [(card.card_id, card.title) for card in merged.skills()] == [(ONE.card_id, "Both")]
    assert merged.placed(ONE.card_id).generators == {"a1", "b2"}
    assert merged.settings.universal_for_time == (ONE.card_id,)
    assert merged.settings.finalisation_card == ONE.card_id
    assert apply(merged, edit.reversed()) == whole


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (lambda b: merge(b, ONE.card_id, [ONE.card_id], delta()), "at least two"),
        (lambda b: merge(b, ONE.card_id, ["skill::skill_000000"], delta()), "no card named"),
        (lambda b: narrow(b, function().card_id, "x", ("a", "b", "c")), "no Skill Card"),
        (lambda b: patch(b, function().card_id, delta()), "same function"),
        (lambda b: patch(b, ONE.card_id, function()), "cannot become"),
        (lambda b: patch(b, function().card_id, function("music.other")), "same function"),
        (lambda b: add_skill(b, "GLOBAL", delta("New")), "case only"),
    ],
)
def test_an_edit_that_makes_no_sense_is_refused(plan, said):
    with pytest.raises(UsageError, match=said):
        plan(bank([ONE], [function()]))


def test_every_edit_can_be_taken_back():
    whole = bank([ONE, TWO], [function()])
    plans = [
        add_skill(whole, "global", delta("New")),
        add_function(whole, function("music.other")),
        patch(whole, ONE.card_id, delta("Reworded"), provenance={"generator_ids": ["c3"]}),
        narrow(whole, ONE.card_id, "less often", ("a", "b", "c")),
        merge(whole, TWO.card_id, [ONE.card_id, TWO.card_id], delta("Both")),
        deactivate(whole, ONE.card_id),
    ]
    for edit in plans:
        changed = apply(whole, edit)
        assert changed != whole
        assert apply(changed, edit.reversed()) == whole


def test_an_edit_planned_on_another_state_is_refused():
    whole = bank([ONE])
    late = patch(whole, ONE.card_id, delta("Late"))
    moved = apply(whole, patch(whole, ONE.card_id, delta("First")))
    with pytest.raises(UsageError, match="has changed since"):
        apply(moved, late)


def test_an_edit_over_the_limits_is_refused():
    whole = bank([ONE])
    steps = Skill(core_rule="r", procedure_sketch=("step",) * 6)
    with pytest.raises(UsageError, match="procedure_sketch has 6"):
        apply(whole, patch(whole, ONE.card_id, delta(skill=steps)))


def test_a_frozen_bank_refuses_edits():
    frozen = bank([ONE]).sealed()
    with pytest.raises(UsageError, match="frozen"):
        apply(frozen, deactivate(frozen, ONE.card_id))
