"""Recorded episodes again: as they were, under other settings, and continued by another model."""

import asyncio
import itertools

import pytest

from injectors.gate.gate import VerifyBeforeWrite
from injectors.gate.settings import GateSettings
from runtime.contracts import Injection, Limits, NoInjector
from runtime.episode import run_episode
from runtime.errors import UsageError
from runtime.masking import Masker
from runtime.records import CallRecord, MessageRecord, ModelCallRecord
from runtime.replay import Replay, replay
from runtime.trace import TraceFile, read_trace
from tests.support.fake_world import (
    BAD,
    BUY,
    CATALOGUE,
    FINISH,
    GOOD,
    LOOK,
    PASSWORD,
    FakeBenchmark,
    PricedModel,
    cell,
    says,
    task,
)

OTHER = cell('print(shop.buy(item="chair"))')
CONFIRMED = (LOOK, BUY, BUY, FINISH)
USES_SECRET = (LOOK, cell(f'print("{PASSWORD}" == shop.login()["password"])'), *GOOD[1:])


def gate(*, on: bool) -> VerifyBeforeWrite:
    return VerifyBeforeWrite(CATALOGUE, task(), settings=GateSettings(on=on))


class Remembering(NoInjector):
    """Memory at task start."""

    def task_start(self, task):
        return Injection(text="Memory: lamps.", cards=("skill::lamps",), tokens=3)


class World:
    """Records and replays in a folder."""

    def __init__(self, folder) -> None:
        self.folder = folder
        self.benchmark = FakeBenchmark()
        self.replays = 0

    async def record(self, model, *, on=False, injector=None, limits=None) -> TraceFile:
        result = await run_episode(
            self.benchmark,
            task(),
            model,
            trace=self.folder / "recorded.jsonl",
            gate=gate(on=on),
            injector=injector,
            limits=limits,
        )
        return read_trace(result.trace)

    async def replay(self, recorded, mode, *, on=False, injector=None, **options) -> Replay:
        self.replays += 1
        return await replay(
            recorded,
            self.benchmark,
            gate=gate(on=on),
            injector=injector or NoInjector(),
            mode=mode,
            arm={"gate": on},
            to=self.folder / f"replayed-{self.replays}.jsonl",
            **options,
        )


@pytest.fixture
def world(tmp_path) -> World:
    return World(tmp_path)


def sources(trace: TraceFile) -> list[str]:
    return [record.source for record in trace.records if record.type == "cell"]


@pytest.mark.parametrize(
    ("turns", "on"),
    [
        (GOOD, False),
        (BAD, False),
        (USES_SECRET, False),
        (("", "I wonder.", *GOOD), False),
        ((cell("1/0"), *GOOD), False),
        (CONFIRMED, True),
        ((LOOK, BUY, cell('print(shop.buy(item="chair"))'), FINISH), True),
    ],
)
async def test_verifying_finds_no_difference(world, turns, on):
    recorded = await world.record(says(*turns), on=on)
    shown = await world.replay(recorded, "verify", on=on)
    assert str(shown.first_difference) == "None"
    assert shown.same
    assert shown.outcome == shown.recorded_outcome
    assert read_trace(shown.trace).header.parent == "recorded"


@pytest.mark.parametrize(
    ("model", "limits"),
    [
        (says(*[LOOK] * 9), Limits(steps=4)),
        (PricedModel([LOOK] * 9), Limits(tokens=250)),
        (PricedModel([LOOK] * 9), Limits(cost_usd=0.025)),
        (PricedModel([LOOK] * 9), Limits(context_tokens=50)),
    ],
)
async def test_an_episode_that_hit_a_limit_is_verified_to_its_limit(world, model, limits):
    recorded = await world.record(model, limits=limits)
    shown = await world.replay(recorded, "verify")
    assert str(shown.first_difference) == "None"


async def test_an_episode_that_ran_into_the_wall_is_verified(world):
    class Slow:
        name = "slow"

        def __init__(self):
            self.first = says(LOOK)

        async def complete(self, messages):
            if len(messages) > 2:
                await asyncio.Event().wait()
            return await self.first.complete(messages)

    recorded = await world.record(Slow(), limits=Limits(wall_s=0.3))
    assert recorded.end.limit == "wall"
    shown = await world.replay(recorded, "verify")
    assert str(shown.first_difference) == "None"


def tampered(recorded: TraceFile, before: str, after: str) -> TraceFile:
    text = recorded.path.read_text("utf-8")
    assert before in text
    recorded.path.write_text(text.replace(before, after, 1), "utf-8")
    return read_trace(recorded.path)


@pytest.mark.parametrize(
    ("before", "after", "where"),
    [
        ('"value":{"bought":"lamp"}', '"value":{"bought":"sofa"}', "result of call 2, value"),
        ('"arguments":{"item":"lamp"}', '"arguments":{"item":"sofa"}', "call 2 (cell 2, shop.buy)"),
        ("{'bought': 'lamp'}", "{'bought': 'sofa'}", "observation of cell 2, text"),
        ('"passed":true', '"passed":false', "outcome, passed"),
        ("You shop by code.", "You sing.", "message of the system, content"),
        ('"reason":"gate off"', '"reason":"verified"', "call 2 (cell 2, shop.buy), decision"),
    ],
)
async def test_a_tampered_trace_is_found_out(world, before, after, where):
    recorded = tampered(await world.record(says(*GOOD)), before, after)
    shown = await world.replay(recorded, "verify")
    assert not shown.same
    assert str(shown.first_difference).startswith(where)


async def test_a_missing_reply_is_an_error_and_no_model_is_called(world):
    recorded = await world.record(says(*GOOD))
    lines = recorded.path.read_text("utf-8").splitlines(keepends=True)
    last = max(at for at, line in enumerate(lines) if '"type":"model_call"' in line)
    recorded.path.write_text("".join([*lines[:last], *lines[-2:]]), "utf-8")
    shown = await world.replay(read_trace(recorded.path), "verify")
    assert shown.outcome == "errored"
    replayed = read_trace(shown.trace)
    (error,) = [record for record in replayed.records if record.type == "error"]
    assert error.error == "RecordingMiss"
    assert "all 2 recorded replies are played" in error.message


async def test_a_trace_without_replies_cannot_be_replayed(world):
    recorded = await world.record(says())
    with pytest.raises(UsageError, match="holds no model reply"):
        await world.replay(recorded, "verify")


async def test_toggled_on_a_stopped_cell_is_sent_again_as_by_an_agent_that_confirms(world):
    recorded = await world.record(says(*GOOD), on=False)
    shown = await world.replay(recorded, "toggled", on=True)
    assert [write.function for write in shown.stopped_writes] == ["shop.buy"]
    assert shown.stopped_writes[0].args == {"item": "lamp"}
    assert shown.outcome == "passed"
    assert sources(read_trace(shown.trace)) == sources(recorded)[:2] + sources(recorded)[1:]
    assert world.benchmark.worlds[-1].bought == ["lamp"]


async def test_toggled_off_the_confirmations_are_dropped(world):
    recorded = await world.record(says(*CONFIRMED), on=True)
    shown = await world.replay(recorded, "toggled", on=False)
    assert shown.stopped_writes == ()
    assert shown.outcome == "passed"
    assert world.benchmark.worlds[-1].bought == ["lamp"]
    assert len(sources(read_trace(shown.trace))) == 3


async def test_toggled_off_an_edited_confirmation_is_kept(world):
    recorded = await world.record(says(LOOK, BUY, OTHER, FINISH), on=True)
    await world.replay(recorded, "toggled", on=False)
    assert world.benchmark.worlds[-1].bought == ["lamp", "chair"]


CHECKED = (LOOK, BUY, LOOK, BUY, FINISH)
"""An agent that looks once more between the stop and its confirmation."""


@pytest.mark.parametrize("on", [True, False])
async def test_a_confirmation_after_another_look_buys_once_whatever_is_toggled(world, on):
    recorded = await world.record(says(*CHECKED), on=True)
    shown = await world.replay(recorded, "toggled", on=on, injector=Remembering())
    assert world.benchmark.worlds[-1].bought == ["lamp"]
    assert shown.outcome == "passed"
    assert len(sources(read_trace(shown.trace))) == (5 if on else 4)


@pytest.mark.parametrize("turns", [*itertools.product((LOOK, BUY, OTHER), repeat=4)])
async def test_under_the_recorded_gate_exactly_the_recorded_writes_are_made(world, turns):
    recorded = await world.record(says(*turns, FINISH), on=True)
    bought = world.benchmark.worlds[-1].bought
    await world.replay(recorded, "toggled", on=True, injector=Remembering())
    assert world.benchmark.worlds[-1].bought == bought


async def test_a_reply_without_a_cell_after_a_stop_is_said_once(world):
    recorded = await world.record(says(LOOK, BUY, "I checked it.", BUY, FINISH), on=True)
    shown = await world.replay(recorded, "toggled", on=True, injector=Remembering())
    assert len(calls(read_trace(shown.trace))) == 5
    assert world.benchmark.worlds[-1].bought == ["lamp"]


async def test_a_write_that_the_agent_withdrew_at_a_stop_is_not_confirmed_for_it(world):
    recorded = await world.record(says(LOOK, BUY, OTHER, OTHER, FINISH), on=True)
    assert world.benchmark.worlds[-1].bought == ["chair"]
    await world.replay(recorded, "toggled", on=True, injector=Remembering())
    assert world.benchmark.worlds[-1].bought == ["chair"]


async def test_a_cell_that_is_meant_twice_still_runs_twice(world):
    recorded = await world.record(says(LOOK, BUY, BUY, BUY, BUY, FINISH), on=True)
    assert world.benchmark.worlds[-1].bought == ["lamp", "lamp"]
    await world.replay(recorded, "toggled", on=False)
    assert world.benchmark.worlds[-1].bought == ["lamp", "lamp"]


async def test_a_replay_never_replaces_a_trace(world):
    recorded = await world.record(says(*GOOD))
    before = recorded.path.read_bytes()
    with pytest.raises(UsageError, match=r"recorded\.jsonl exists, and a replay replaces nothing"):
        await replay(
            recorded,
            world.benchmark,
            gate=gate(on=True),
            injector=NoInjector(),
            mode="toggled",
            arm={},
            to=recorded.path,
        )
    assert recorded.path.read_bytes() == before


async def test_toggled_both_ways_comes_back_to_the_recording(world, tmp_path):
    recorded = await world.record(says(*GOOD), on=False)
    shown = await world.replay(recorded, "toggled", on=True)
    gated = tmp_path / "gated.jsonl"
    shown.trace.rename(gated)
    back = await world.replay(read_trace(gated), "toggled", on=False)
    assert sources(read_trace(back.trace)) == sources(recorded)


async def test_toggled_memory_shows_what_would_have_been_injected(world):
    recorded = await world.record(says(*GOOD))
    shown = await world.replay(recorded, "toggled", injector=Remembering())
    assert (shown.injected_cards, shown.tokens_added) == (("skill::lamps",), 3)
    assert "replayed injection at task_start" in str(shown.first_difference)
    recorded = await world.record(says(*GOOD), injector=Remembering())
    assert (await world.replay(recorded, "toggled")).tokens_added == -3


async def test_toggled_a_recorded_limit_still_ends_the_episode(world):
    recorded = await world.record(says(LOOK, BUY), limits=Limits(steps=2))
    shown = await world.replay(recorded, "toggled", on=True)
    end = read_trace(shown.trace).end
    assert (end.status, end.limit, end.steps) == ("failed", "steps", 4)
    assert len(shown.stopped_writes) == 1


def calls(trace: TraceFile) -> list[ModelCallRecord]:
    return [record for record in trace.records if isinstance(record, ModelCallRecord)]


async def test_continued_in_an_equal_context_the_live_model_is_not_asked(world):
    recorded = await world.record(says(*USES_SECRET))
    live = PricedModel([])
    shown = await world.replay(recorded, "continue", live=live)
    assert (shown.fork_step, live.asked) == (None, [])
    assert shown.same


async def test_continued_with_memory_it_forks_at_the_first_step(world):
    recorded = await world.record(says(*BAD))
    live = PricedModel(GOOD, name="live")
    shown = await world.replay(
        recorded, "continue", injector=Remembering(), live=live, live_model={"model": "live-1"}
    )
    assert (shown.fork_step, shown.recorded_outcome, shown.outcome) == (1, "failed", "passed")
    header = read_trace(shown.trace).header
    assert header.model["name"] == "live"
    assert header.model["model"] == "live-1"
    assert header.model["continues"] == recorded.header.model
    assert header.parent == recorded.header.episode


async def test_continued_behind_the_gate_it_forks_where_the_stop_is_seen(world):
    recorded = await world.record(says(*GOOD), on=False)
    live = PricedModel([BUY, FINISH])
    shown = await world.replay(recorded, "continue", on=True, live=live)
    assert shown.fork_step == 3
    assert shown.outcome == "passed"
    replayed = read_trace(shown.trace)
    assert [call.recorded for call in calls(replayed)] == [True, True, False, False]
    assert PASSWORD in live.asked[0][3].content  # of this world, not its mask


async def test_continued_from_a_step_it_forks_there(world):
    recorded = await world.record(says(*BAD))
    live = PricedModel([BUY, FINISH])
    shown = await world.replay(recorded, "continue", live=live, from_step=2)
    assert (shown.fork_step, shown.outcome) == (2, "passed")
    assert [call.recorded for call in calls(read_trace(shown.trace))] == [True, False, False]


async def test_continued_past_the_recordings_end_the_live_model_goes_on(world):
    recorded = await world.record(says(LOOK, LOOK), limits=Limits(steps=2))
    unlimited = recorded.model_copy(
        update={"header": recorded.header.model_copy(update={"limits": Limits()})}
    )
    shown = await world.replay(unlimited, "continue", live=PricedModel([BUY, FINISH]))
    assert (shown.fork_step, shown.outcome) == (3, "passed")


async def test_a_secret_that_is_learnt_late_does_not_make_a_fork(world):
    """An early message held it before it was known to be one."""
    turns = (cell(f"print('{PASSWORD}')"), LOOK, BUY, FINISH)
    recorded = await world.record(says(*turns))
    shown = await world.replay(recorded, "continue", live=PricedModel([]))
    assert shown.fork_step is None


async def test_a_continuation_needs_a_model(world):
    recorded = await world.record(says(*GOOD))
    with pytest.raises(UsageError, match="--continue-with MODEL"):
        await world.replay(recorded, "continue")


async def test_the_json_object_has_the_keys_that_scripts_rely_on(world):
    recorded = await world.record(says(*GOOD))
    shown = (await world.replay(recorded, "toggled", on=True)).as_json()
    assert {
        *("episode", "mode", "same", "first_difference", "injected_cards", "tokens_added"),
        *("stopped_writes", "outcome"),
    } <= shown.keys()
    assert shown["stopped_writes"] == [
        {
            "function": "shop.buy",
            "args": {"item": "lamp"},
            "risks": [],
            "advisory": shown["stopped_writes"][0]["advisory"],
        }
    ]
    assert shown["stopped_writes"][0]["advisory"]["function"] == "shop.buy"


async def test_the_keys_of_the_live_model_are_masked(world):
    recorded = await world.record(says(*BAD))
    live = PricedModel([cell("print('live-key-0123')"), *GOOD])
    shown = await world.replay(
        recorded, "continue", live=live, from_step=1, masker=Masker(("live-key-0123",))
    )
    assert "live-key-0123" not in shown.trace.read_text("utf-8")
    assert [r for r in read_trace(shown.trace).records if isinstance(r, MessageRecord)]
    assert any(isinstance(r, CallRecord) for r in read_trace(shown.trace).records)
