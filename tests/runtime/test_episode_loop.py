"""The loop on a small world: turns, limits, errors and what the trace says of them."""

import asyncio

import pytest

from runtime.cells import CUT_OFF, EMPTY, NO_CELL
from runtime.contracts import AllowGate, Decision, Injection, Limits, NoInjector, Reply
from runtime.episode import EpisodeResult, Progress, run_episode
from runtime.errors import ContextOverflow, ModelError, NotReady, WorldError
from runtime.records import (
    CallRecord,
    ErrorRecord,
    InjectionRecord,
    MessageRecord,
    NotificationRecord,
    ObservationRecord,
    OutcomeRecord,
    ResultRecord,
)
from runtime.trace import TraceFile, read_trace
from tests.support.fake_world import (
    BAD,
    BUY,
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


class Played:
    """One episode and its trace."""

    def __init__(self, benchmark: FakeBenchmark, result: EpisodeResult) -> None:
        self.world = benchmark.worlds[-1] if benchmark.worlds else None
        self.result = result
        self.trace: TraceFile = read_trace(result.trace)

    def of(self, kind):
        return [record for record in self.trace.records if isinstance(record, kind)]

    @property
    def users(self) -> list[str]:
        return [each.content for each in self.of(MessageRecord) if each.role == "user"]


@pytest.fixture
def play(tmp_path):
    async def play(model, *, benchmark=None, **options) -> Played:
        benchmark = benchmark or FakeBenchmark()
        path = tmp_path / "t_1.jsonl"
        return Played(benchmark, await run_episode(benchmark, task(), model, trace=path, **options))

    return play


async def test_an_episode_goes_to_its_end_and_is_judged(play):
    played = await play(says(*GOOD))
    assert played.result.status == "passed"
    assert played.result.limit is None
    assert played.world.closed == 1
    end = played.trace.end
    assert (end.status, end.steps, end.calls, end.events) == ("passed", 3, 3, 3)
    kinds = [each.type for each in played.trace.records]
    step = ["model_call", "message", "cell", "call", "result", "observation", "message"]
    assert kinds == ["message", "message", *step * 3, "outcome", "end"]


async def test_an_agent_that_ends_badly_has_failed(play):
    played = await play(says(*BAD))
    assert (played.result.status, played.result.error) == ("failed", "")
    assert played.of(OutcomeRecord)[0].checks[0].requirement == "one lamp"


async def test_each_request_begins_with_the_one_before(play):
    """Prefix caches of providers live on that."""
    model = PricedModel(GOOD)
    await play(model)
    assert len(model.asked) == 3
    for before, after in zip(model.asked, model.asked[1:], strict=False):
        assert after[: len(before)] == before
        assert [each.role for each in after[len(before) :]] == ["assistant", "user"]


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        (Reply(text=""), EMPTY),
        (Reply(text="I wonder."), NO_CELL),
        (Reply(text="```python\nshop.buy(", finish_reason="length"), CUT_OFF),
    ],
)
async def test_a_reply_without_a_cell_costs_a_step_and_is_answered(play, reply, complaint):
    class First:
        name = "first"

        def __init__(self):
            self.rest = says(*GOOD)
            self.asked = 0

        async def complete(self, messages):
            self.asked += 1
            return reply if self.asked == 1 else await self.rest.complete(messages)

    played = await play(First())
    assert played.result.status == "passed"
    assert played.users[1] == complaint
    assert played.trace.end.steps == 4


async def test_events_are_calls_and_cells_without_one(play):
    idle = cell("x = 1")
    played = await play(says(idle, LOOK, BUY, FINISH))
    assert (played.trace.end.calls, played.trace.end.events) == (3, 4)


async def test_secrets_of_the_world_are_masked_in_the_trace_and_shown_to_the_agent(play):
    model = PricedModel(GOOD)
    played = await play(model)
    text = played.result.trace.read_text("utf-8")
    assert PASSWORD not in text
    assert "eyJhbGci" not in text
    assert PASSWORD in model.asked[1][-1].content


LOOKS = [LOOK] * 20


@pytest.mark.parametrize(
    ("limits", "limit", "steps"),
    [
        (Limits(steps=3), "steps", 3),
        (Limits(tokens=220), "tokens", 2),
        (Limits(cost_usd=0.025), "cost", 3),
        (Limits(context_tokens=100), "context", 1),
    ],
)
async def test_a_limit_ends_the_episode_which_is_judged_and_counted(play, limits, limit, steps):
    played = await play(PricedModel(LOOKS), limits=limits)
    assert (played.result.status, played.result.limit) == ("failed", limit)
    assert played.trace.end.steps == steps
    assert played.of(OutcomeRecord)
    assert played.world.closed == 1


async def test_a_task_that_is_done_when_the_limit_is_hit_passes(play):
    played = await play(says(*GOOD), limits=Limits(steps=3))
    assert (played.result.status, played.result.limit) == ("passed", None)


async def test_an_unpriced_model_costs_an_unknown_sum(play):
    played = await play(PricedModel(GOOD, cost_usd=None))
    assert played.trace.end.cost_usd is None
    assert (await play(PricedModel(GOOD))).trace.end.cost_usd == pytest.approx(0.03)


async def test_a_model_that_hangs_runs_into_the_wall(play):
    class Hanging:
        name = "hanging"

        async def complete(self, messages):
            await asyncio.Event().wait()

    played = await play(Hanging(), limits=Limits(wall_s=0.2))
    assert (played.result.status, played.result.limit) == ("failed", "wall")
    assert played.of(ErrorRecord)[0].message == "The model was still answering."


async def test_a_cell_that_hangs_runs_into_the_wall(play):
    played = await play(says(cell("hang()")), limits=Limits(wall_s=0.2))
    assert (played.result.status, played.result.limit) == ("failed", "wall")
    assert played.of(ObservationRecord)[0].end.status == "timeout"


async def test_a_conversation_that_no_longer_fits_ends_by_its_limit_with_the_servers_words(play):
    words = "This model's maximum context length is 8 tokens."
    played = await play(PricedModel([LOOK, ContextOverflow(words)]))
    assert (played.result.status, played.result.limit) == ("failed", "context")
    assert played.of(ErrorRecord)[0].message == words
    assert played.of(OutcomeRecord)


async def test_a_model_that_fails_for_good_is_an_error_not_a_failure(play):
    played = await play(PricedModel([LOOK, ModelError("no answer")]))
    assert (played.result.status, played.result.error) == ("errored", "no answer")
    assert played.of(OutcomeRecord) == []
    assert played.of(ErrorRecord)[0].error == "ModelError"
    assert played.trace.end.status == "errored"
    assert played.world.closed == 1


async def test_a_key_in_an_error_is_masked(play):
    played = await play(PricedModel([ModelError("bad key sk-abcdefghijklmnopqrstuvw")]))
    assert "sk-abc" not in played.result.error
    assert "sk-abc" not in played.result.trace.read_text("utf-8")


async def test_a_world_that_does_not_open_is_an_error_with_a_readable_trace(play):
    benchmark = FakeBenchmark()
    benchmark.open_error = WorldError("no world")
    played = await play(says(*GOOD), benchmark=benchmark)
    assert (played.result.status, played.result.error) == ("errored", "no world")
    assert played.trace.header.task == task()


async def test_what_has_to_be_mended_first_ends_more_than_the_episode(play):
    benchmark = FakeBenchmark()
    benchmark.open_error = NotReady("Run `contramem setup`.")
    with pytest.raises(NotReady):
        await play(says(*GOOD), benchmark=benchmark)


class BrokenGate(AllowGate):
    def decide(self, call):
        raise ZeroDivisionError("the gate's own bug")


class BrokenInjector(NoInjector):
    def task_start(self, task):
        raise ZeroDivisionError("the injector's own bug")


class BrokenModel:
    name = "broken"

    async def complete(self, messages):
        raise ZeroDivisionError("the model's own bug")


async def test_a_users_model_that_raises_costs_its_episode_only(play, caplog):
    played = await play(BrokenModel())
    assert (played.result.status, played.result.error) == ("errored", "the model's own bug")
    assert played.of(ErrorRecord)[0].error == "ZeroDivisionError"
    assert "ZeroDivisionError" in caplog.text  # a bug: its stack trace is in the log


async def test_a_users_injector_that_raises_costs_its_episode_only(play):
    """Although no header was written yet."""
    played = await play(says(*GOOD), injector=BrokenInjector())
    assert (played.result.status, played.result.error) == ("errored", "the injector's own bug")
    assert played.world.closed == 1


async def test_a_world_that_breaks_costs_its_episode_only(play):
    played = await play(says(*GOOD), benchmark=FakeBenchmark(broken="the world's own bug"))
    assert (played.result.status, played.result.error) == ("errored", "the world's own bug")


class Stopping(AllowGate):
    """Stops the first write, with an advisory that shows a card."""

    def __init__(self):
        super().__init__()
        self.stopped = False

    def decide(self, call):
        if call.function == "shop.buy" and not self.stopped:
            self.stopped = True
            return Decision(action="stop", reason="stopped", advisory={"detected_risks": []})
        return super().decide(call)

    def end_cell(self, end):
        super().end_cell(end)
        if end.status != "stopped":
            return Injection()
        return Injection(text="VERIFY", cards=("function::shop.buy",), tokens=7)


async def test_each_call_has_one_decision_and_each_executed_one_a_result(play):
    played = await play(says(LOOK, BUY, BUY, FINISH), gate=Stopping())
    assert [each.decision.action for each in played.of(CallRecord)] == [
        *("allow", "stop", "allow", "allow"),
    ]
    assert [each.n for each in played.of(ResultRecord)] == [1, 3, 4]
    assert played.users[2].endswith("VERIFY")
    assert played.world.bought == ["lamp"]


async def test_memory_of_advisories_counts_as_memory(play):
    played = await play(says(LOOK, BUY, BUY, FINISH), gate=Stopping())
    shown = [each for each in played.of(InjectionRecord) if each.point == "advisory"]
    assert shown[0].cards == ("function::shop.buy",)
    assert played.trace.end.memory_tokens == sum(each.tokens for each in shown) > 0


class Listening(AllowGate):
    def __init__(self):
        super().__init__()
        self.heard: list[str] = []

    def observe(self, text):
        self.heard.append(text)


async def test_notifications_reach_agent_trace_and_a_gate_that_listens(play):
    listening = Listening()
    benchmark = FakeBenchmark(notifications=("Ann: make it two.",))
    played = await play(says(*GOOD), gate=listening, benchmark=benchmark)
    assert listening.heard[0] == "Ann: make it two."
    assert played.users[1].endswith("Notifications:\nAnn: make it two.")
    assert [each.text for each in played.of(NotificationRecord)] == listening.heard


class Remembering(NoInjector):
    def task_start(self, task):
        return Injection(text="Memory: lamps.", cards=("a",), tokens=3)

    def after_cell(self, source, calls):
        names = [call.function for call, _ in calls]
        return Injection(text=f"Card of {names[0]}.", cards=("b",), tokens=4)

    def near_end(self):
        return Injection(text="Close soon.", cards=("c",), tokens=2)


async def test_memory_is_delivered_at_its_points_and_counted(play):
    played = await play(says(*GOOD), injector=Remembering(), limits=Limits(steps=6))
    assert "Memory: lamps.\n\nTask: Buy" in played.users[0]
    assert played.users[1].endswith("Card of shop.login.\n\nClose soon.")
    assert [each.content for each in played.of(MessageRecord)].count("Close soon.") == 0
    assert sum("Close soon." in text for text in played.users) == 1
    assert played.trace.end.memory_tokens == 3 + 3 * 4 + 2


async def test_no_memory_leaves_every_byte_of_the_prompt(play):
    played = await play(says(*GOOD))
    prompt = FakeBenchmark().prompt(task())
    assert [each.content for each in played.of(MessageRecord)][:2] == [
        message.content for message in prompt.messages
    ]


async def test_progress_is_told(play):
    told: list[Progress] = []
    await play(PricedModel(GOOD), watch=told.append)
    assert [each.doing for each in told] == ["open", *["model", "cell"] * 3, "evaluate"]
    assert told[-1].cost_usd == pytest.approx(0.03)


async def test_a_cancelled_episode_closes_its_world_and_leaves_a_prefix(play, tmp_path):
    benchmark, in_a_cell = FakeBenchmark(), asyncio.Event()

    def watch(progress: Progress) -> None:
        if progress.doing == "cell" and progress.step == 2:
            in_a_cell.set()

    model = says(LOOK, cell("hang()"))
    running = asyncio.create_task(play(model, benchmark=benchmark, watch=watch))
    await in_a_cell.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert benchmark.worlds[0].closed == 1
    assert not (tmp_path / "t_1.jsonl").exists()
    assert read_trace(tmp_path / "t_1.jsonl.part", complete=False).records
