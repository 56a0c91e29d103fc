"""One episode's injector: what is delivered when, and how often."""

import pytest
from bank_samples import bank, delta, function, skill

from injectors.bank import Bank, BankSettings
from injectors.cards import Skill
from injectors.edits import add_skill, apply
from injectors.forms import plain_form, rtm_form
from injectors.memory_injector import JIT_CAP, MemoryInjector
from injectors.profiles import settings_for
from injectors.seen import SeenCards
from runtime.contracts import CallResult, Injection, Kind, Task, ToolCall

PAY = skill("Pay a debt", applies_when="money is owed", tags=("payment", "debt", "state_write"))
SONG = skill("Count songs", applies_when="songs are counted", tags=("song", "count", "default"))
TOOLS = [function("venmo.pay_debt"), function("spotify.show_songs"), function("phone.show_alarm")]
WHOLE = bank([PAY, SONG], TOOLS)
DEBT = "Pay my debt on Venmo"


def task(instruction=DEBT, benchmark="appworld", **fields):
    return Task(
        benchmark=benchmark,
        id="abc_1",
        scenario_id="abc",
        dataset="test",
        instruction=instruction,
        **fields,
    )


def injector(whole=WHOLE, seen=None, profile="appworld-start", form=plain_form, **overrides):
    given = {"memory": "a/bank", **overrides}
    return MemoryInjector(whole, settings_for(profile, given), seen, form=form)


def call(function="venmo.pay_debt", ok=True, kind=Kind.WRITE):
    made = ToolCall(n=1, cell=1, function=function, arguments={}, kind=kind)
    return made, CallResult(ok=ok)


def test_task_start_delivers_the_cards_that_suit():
    block = injector().task_start(task())
    assert block.cards == (PAY.card_id, "function::venmo.pay_debt")
    assert block.text


def test_same_cards_and_task_give_the_same_bytes():
    shuffled = bank([SONG, PAY], TOOLS[::-1])
    assert injector().task_start(task()) == injector(shuffled).task_start(task())


def test_a_task_that_no_card_suits_gets_nothing():
    assert injector().task_start(task("Water the plants")) == Injection()


@pytest.mark.parametrize(
    ("cards", "expected"),
    [("skill", (PAY.card_id,)), ("function", ("function::venmo.pay_debt",))],
)
def test_card_filters(cards, expected):
    assert injector(cards=cards).task_start(task()).cards == expected


def test_top_ks():
    assert injector(skill_topk=0, function_topk_start=0).task_start(task()) == Injection()


def test_the_block_has_the_form_that_was_handed_in():
    whole = bank([PAY], [function("Shopping.pay_debt")], benchmark="gaia2", ability="Execution")
    of_gaia2 = injector(whole, profile="gaia2-start-gate", form=rtm_form)
    block = of_gaia2.task_start(task(benchmark="gaia2", ability="Execution"))
    assert block.text.startswith("Runtime Skill and Function Memory (RTM)")
    assert "[score=" in block.text


def test_a_card_built_from_the_tasks_own_scenario_is_never_shown():
    whole = bank(functions=TOOLS)
    edit = add_skill(whole, "global", delta("Pay a debt"), provenance={"generator_ids": ["abc"]})
    whole = apply(whole, edit)
    assert injector(whole, cards="skill").task_start(task()) == Injection()


def test_the_tasks_own_signature_is_not_read():
    tagged = skill("Pay a debt", tags=("cross_app", "payment", "debt"))
    plain = injector(bank([tagged, PAY])).task_start(task())
    told = injector(bank([tagged, PAY])).task_start(task(signature="cross_app"))
    assert told == plain


def test_nothing_comes_after_a_cell_by_default():
    assert injector().after_cell("", [call()]) == Injection()


@pytest.mark.parametrize("ok", [True, False])
def test_just_in_time_a_functions_card_comes_once(ok):
    late = injector(jit=True)
    first = late.after_cell("", [call("phone.show_alarm", ok), call("phone.show_alarm", ok)])
    assert first.cards == ("function::phone.show_alarm",)
    assert first.text.count("Tool memory for phone.show_alarm") == 1
    assert first.tokens > 0
    assert late.after_cell("", [call("phone.show_alarm", ok)]) == Injection()
    assert late.after_cell("", [call("phone.unknown", ok)]) == Injection()


def test_what_the_block_or_the_gate_has_shown_does_not_come_again():
    seen = SeenCards()
    late = injector(seen=seen, jit=True)
    late.task_start(task())
    assert late.after_cell("", [call()]) == Injection()
    assert seen.count("function::venmo.pay_debt") == 1
    assert seen.show("function::phone.show_alarm")
    assert late.after_cell("", [call("phone.show_alarm")]) == Injection()


def test_pre_tool_all_brings_cards_of_reads_only():
    late = injector(pre_tool="all")
    assert late.after_cell("", [call("venmo.pay_debt", kind=Kind.WRITE)]) == Injection()
    (card,) = late.after_cell("", [call("spotify.show_songs", kind=Kind.READ)]).cards
    assert card == "function::spotify.show_songs"


def test_a_finish_brings_its_card_only_if_it_failed():
    late = injector(bank(functions=[function("supervisor.complete_task")]), jit=True)
    done = call("supervisor.complete_task", ok=True, kind=Kind.FINISH)
    assert late.after_cell("", [done]) == Injection()
    failed = call("supervisor.complete_task", ok=False, kind=Kind.FINISH)
    assert late.after_cell("", [failed]).cards == ("function::supervisor.complete_task",)


def test_a_skill_only_arm_gets_no_functions_late():
    assert injector(jit=True, cards="skill").after_cell("", [call()]) == Injection()


def test_what_comes_with_one_observation_is_bounded():
    rules = ("word " * 60,) * 2
    many = [function(f"app.show_{n}", usage_rules=rules) for n in range(9)]
    late = injector(bank(functions=many), jit=True)
    calls = [call(card.tool) for card in many]
    first = late.after_cell("", calls)
    assert 0 < first.tokens <= JIT_CAP
    assert 0 < len(first.cards) < 9
    second = late.after_cell("", calls)
    assert not set(first.cards) & set(second.cards)


def time_bank(universal=0, final=False):
    cards = [skill(f"Pay a debt {word}") for word in ("early", "late", "soon", "today", "now")]
    tools = [function("Emails.send_email"), function("Emails.delete_email")]
    chosen = tuple(sorted(card.card_id for card in cards)[:universal])
    settings = BankSettings(
        universal_for_time=chosen, finalisation_card=cards[0].card_id if final else None
    )
    return Bank.of("gaia2", tools, {"Time": cards}, settings)


def test_under_time_two_slots_at_most_go_to_universal_cards():
    whole = time_bank(universal=4)
    late = injector(whole, profile="time", form=rtm_form)
    block = late.task_start(task(benchmark="gaia2", ability="Time"))
    skills = [card for card in block.cards if card.startswith("skill")]
    universal = set(whole.settings.universal_for_time)
    assert len(skills) == 3
    assert len(universal & set(skills)) == 2


def test_under_time_functions_share_a_verb_family_with_the_task():
    late = injector(time_bank(), profile="time", form=rtm_form)
    block = late.task_start(task("Reply to the email", benchmark="gaia2", ability="Time"))
    assert block.cards == ("function::Emails.send_email",)


def test_the_finalisation_card_comes_once_near_the_end():
    late = injector(time_bank(final=True), profile="time", form=rtm_form)
    late.task_start(task(benchmark="gaia2", ability="Time"))
    end = late.near_end()
    assert "Pay a debt early" in end.text
    assert end.tokens > 0
    assert late.near_end() == Injection()


def test_without_time_nothing_comes_near_the_end():
    assert injector(time_bank(final=True)).near_end() == Injection()
    assert injector(time_bank(), profile="time").near_end() == Injection()


def test_another_retriever_can_stand_in():
    class First:
        def skills(self, query, topk=None):
            return ()

        def functions(self, query, topk=None):
            return ()

    settings = settings_for("appworld-start", {"memory": "x"})
    assert MemoryInjector(WHOLE, settings, retriever=First()).task_start(task()) == Injection()


def test_long_skill_rules_do_not_reach_the_prompt_uncut():
    big = skill("Pay a debt", skill=Skill(core_rule="word " * 400))
    assert injector(bank([big])).task_start(task()) == Injection()
