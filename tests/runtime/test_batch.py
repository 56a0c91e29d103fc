"""Many episodes: order, concurrency, budget, resuming, errors and cancellation."""

import asyncio

import pytest

from runtime.batch import Arm, Batch, BatchResult
from runtime.contracts import AllowGate, Limits, NoInjector
from runtime.errors import BadFile, ModelError, RunMismatch, TraceError, UsageError, WorldError
from runtime.report.summary import summarise
from runtime.runs import ArmManifest, Manifest, RunFolder, Shard
from runtime.spending import Spending
from runtime.trace import read_trace
from tests.support.fake_world import BAD, GOOD, LOOK, FakeBenchmark, FakeSource, cell


class Told:
    """A watcher that remembers."""

    def __init__(self):
        self.order: list[str] = []
        self.ends: list[str] = []
        self.running = self.most = self.done = 0

    def planned(self, jobs, done):
        self.done = done

    def started(self, job):
        self.order.append(job.name)
        self.running += 1
        self.most = max(self.most, self.running)

    def progressed(self, job, progress):
        """Nothing."""

    def ended(self, job, result):
        self.running -= 1
        self.ends.append(f"{job.name} {result.status}")


class Bench:
    """A batch of the fake shop under `folder`, made anew for each run as a new process would."""

    def __init__(self, folder, **sources: FakeSource):
        self.path = folder
        self.sources = sources or {"a": FakeSource(*GOOD), "b": FakeSource(*BAD)}
        self.benchmark = FakeBenchmark()
        self.told = Told()
        self.manifest = None

    async def run(self, *, gate=AllowGate, seed=0, **options) -> BatchResult:
        self.told = Told()
        arms = [
            Arm(
                manifest=ArmManifest(name=name, model=source.describe()),
                source=source,
                benchmark=self.benchmark,
                policy=lambda task: (gate(), NoInjector()),
            )
            for name, source in self.sources.items()
        ]
        tasks = self.benchmark.tasks("all")
        self.manifest = Manifest(
            benchmark="fake",
            dataset="all",
            tasks={task.id: task.scenario_id for task in tasks},
            seed=seed,
            limits=Limits(),
            versions={},
            arms=tuple(arm.manifest for arm in arms),
        )
        self.batch = Batch(
            folder=RunFolder(self.path), manifest=self.manifest, arms=arms, tasks=tasks, **options
        )
        return await self.batch.run(self.told)

    def rows(self):
        folder = RunFolder(self.path)
        return summarise(folder, self.manifest)

    def traces(self):
        return sorted(path.relative_to(self.path).as_posix() for path in self.path.rglob("*.jsonl"))


async def test_arms_are_interleaved_and_each_episode_has_its_trace(tmp_path):
    bench = Bench(tmp_path)
    await bench.run(concurrency=1)
    assert bench.told.order == ["a/t_1", "b/t_1", "a/t_2", "b/t_2", "a/u_1", "b/u_1"]
    assert bench.traces() == [
        f"{arm}/episodes/{task}.jsonl" for arm in "ab" for task in ("t_1", "t_2", "u_1")
    ]
    trace = read_trace(tmp_path / "a/episodes/t_1.jsonl")
    assert (trace.header.episode, trace.header.arm["name"]) == ("a/t_1", "a")
    assert trace.header.versions["contramem"]


@pytest.mark.parametrize("concurrency", [1, 2, 4, 50])
async def test_no_more_episodes_run_at_once_than_asked(tmp_path, concurrency):
    bench = Bench(tmp_path)
    await bench.run(concurrency=concurrency)
    assert bench.told.most == min(concurrency, 6)
    assert len(bench.traces()) == 6


async def test_the_same_run_again_repeats_nothing(tmp_path):
    bench = Bench(tmp_path)
    await bench.run()
    result = await bench.run()
    assert (bench.told.order, bench.told.done, result.already_done) == ([], 6, 6)


async def test_only_what_is_missing_is_run(tmp_path):
    bench = Bench(tmp_path)
    await bench.run()
    (tmp_path / "b/episodes/t_2.jsonl").unlink()
    (tmp_path / "b/episodes/t_2.jsonl.part").write_text("what a killed run left")
    await bench.run()
    assert bench.told.order == ["b/t_2"]
    assert list(tmp_path.rglob("*.part")) == []


async def test_another_configuration_runs_nothing(tmp_path):
    bench = Bench(tmp_path)
    await bench.run()
    with pytest.raises(RunMismatch, match="seed: 0 there, 1 here"):
        await bench.run(seed=1)


async def test_shards_together_are_the_whole_run(tmp_path):
    bench = Bench(tmp_path)
    await bench.run(shard=Shard(index=1, count=2))
    assert sorted(bench.told.order) == ["a/t_1", "a/u_1", "b/t_1", "b/u_1"]
    await bench.run(shard=Shard(index=2, count=2))
    assert sorted(bench.told.order) == ["a/t_2", "b/t_2"]


async def test_a_budget_stops_launches(tmp_path):
    bench = Bench(tmp_path)
    result = await bench.run(concurrency=1, budget_usd=0.05)  # 3 + 2 replies at 0.01
    assert bench.told.order == ["a/t_1", "b/t_1"]
    assert [job.name for job in result.not_run] == ["a/t_2", "b/t_2", "a/u_1", "b/u_1"]
    assert [row.not_run for row in bench.rows()] == [2, 2]
    again = await bench.run(concurrency=1, budget_usd=0.05)
    assert len(again.not_run) == 4  # what was spent before counts
    await bench.run(concurrency=1, budget_usd=1)
    assert len(bench.traces()) == 6


async def test_an_unknown_cost_is_said_not_to_count(tmp_path, caplog):
    bench = Bench(tmp_path, a=FakeSource(*GOOD, cost_usd=None))
    await bench.run(budget_usd=1)
    assert "a/t_1 cost an unknown sum: the budget does not count it." in caplog.text


async def test_errored_episodes_are_repeated_only_when_asked(tmp_path):
    bench = Bench(tmp_path, a=FakeSource(*GOOD))
    bench.benchmark.open_error = WorldError("no world")
    await bench.run()
    assert bench.told.ends == [f"a/{task} errored" for task in ("t_1", "t_2", "u_1")]
    bench.benchmark.open_error = None
    await bench.run()
    assert bench.told.order == []
    await bench.run(retry_errors=True)
    assert sorted(bench.told.ends) == [f"a/{task} passed" for task in ("t_1", "t_2", "u_1")]


class Broken(AllowGate):
    def decide(self, call):
        raise ZeroDivisionError("a bug of its user")


async def test_a_gate_that_raises_costs_its_episodes_only(tmp_path):
    bench = Bench(tmp_path, a=FakeSource(*GOOD))
    await bench.run(gate=Broken)
    assert {each.partition(" ")[2] for each in bench.told.ends} == {"errored"}
    assert len(bench.traces()) == 3


async def three_ended(bench: Bench) -> None:
    """All episodes of one arm end at once; those of the other hang."""
    async with asyncio.timeout(20):
        while len(bench.told.ends) < 3:  # noqa: ASYNC110 - the watcher is the batch's
            await asyncio.sleep(0.01)


async def test_a_cancelled_batch_keeps_what_is_finished(tmp_path):
    bench = Bench(tmp_path, a=FakeSource(*GOOD), b=FakeSource(LOOK, cell("hang()")))
    running = asyncio.create_task(bench.run(concurrency=6))
    await three_ended(bench)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert all(world.closed for world in bench.benchmark.worlds)
    finished = bench.traces()
    bench.sources["b"] = FakeSource(*BAD)
    await bench.run()
    assert len(finished) + len(bench.told.order) == 6


async def test_a_trace_that_cannot_be_written_ends_the_run(tmp_path):
    bench = Bench(tmp_path)
    await bench.run(shard=Shard(index=1, count=2))
    (tmp_path / "a/episodes/t_2.jsonl.part").mkdir()
    with pytest.raises(TraceError, match="Cannot write the trace"):
        await bench.run(concurrency=1)
    assert all(world.closed for world in bench.benchmark.worlds)


async def test_the_providers_keys_are_in_no_trace(tmp_path):
    source = FakeSource(cell("print('key-0123456789')"), *GOOD)
    bench = Bench(tmp_path, a=source)
    await bench.run()
    assert "key-0123456789" not in (tmp_path / "a/episodes/t_1.jsonl").read_text()


async def test_two_processes_cannot_work_on_one_part(tmp_path):
    bench = Bench(tmp_path)
    await bench.run()
    with (
        RunFolder(tmp_path).locked(Shard()),
        pytest.raises(UsageError, match="Another process is working"),
    ):
        await bench.run()


async def test_several_runs_live_in_one_loop(tmp_path):
    benches = [Bench(tmp_path / name) for name in "xy"]
    await asyncio.gather(*(bench.run() for bench in benches))
    assert [len(bench.traces()) for bench in benches] == [6, 6]


class FailsAt(FakeSource):
    """Answers once, then fails."""

    def for_episode(self, task, seed):
        model = super().for_episode(task, seed)
        complete, asked = model.complete, []

        async def once(messages):
            asked.append(1)
            if len(asked) > 1:
                raise ModelError("broken")
            return await complete(messages)

        model.complete = once
        return model


async def test_a_budget_counts_attempts_that_were_replaced(tmp_path):
    bench = Bench(tmp_path, a=FailsAt(*GOOD))
    await bench.run(concurrency=1, budget_usd=0.05)
    assert bench.told.ends == [f"a/{task} errored" for task in ("t_1", "t_2", "u_1")]
    again = await bench.run(concurrency=1, retry_errors=True, budget_usd=0.05)
    assert (len(again.ended), len(again.not_run)) == (2, 1)  # 3 x 0.01 before
    assert Spending(tmp_path).total_usd({"a/t_1", "a/t_2", "a/u_1"}) == pytest.approx(0.02)
    last = await bench.run(concurrency=1, retry_errors=True, budget_usd=0.05)
    assert (last.ended, len(last.not_run)) == ([], 3)


async def test_a_budget_counts_what_a_killed_episode_had_cost(tmp_path):
    bench = Bench(tmp_path, a=FakeSource(*GOOD))
    await bench.run()
    trace = tmp_path / "a/episodes/t_1.jsonl"
    lines = trace.read_bytes().splitlines(keepends=True)
    trace.unlink()
    trace.with_name("t_1.jsonl.part").write_bytes(b"".join(lines[:-1]) + lines[-1][:9])
    result = await bench.run(budget_usd=0.09)  # six replies of the others, three of the killed one
    assert len(result.not_run) == 1
    await bench.run(budget_usd=1)
    assert Spending(tmp_path).total_usd({"a/t_1", "a/t_2", "a/u_1"}) == pytest.approx(0.03)


async def test_the_trace_of_another_task_is_not_taken_for_this_ones(tmp_path):
    bench = Bench(tmp_path, a=FakeSource(*GOOD))
    await bench.run()
    folder = tmp_path / "a" / "episodes"
    (folder / "t_2.jsonl").write_bytes((folder / "t_1.jsonl").read_bytes())
    with pytest.raises(BadFile, match=r"t_2\.jsonl: is the trace of another task, t_1"):
        await bench.run()


async def test_a_refused_folder_is_left_as_it_was(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(UsageError, match="holds other files"):
        await Bench(tmp_path).run()
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


async def test_a_budget_counts_what_judging_cost(tmp_path):
    bench = Bench(tmp_path, a=FakeSource(*GOOD))
    bench.benchmark = FakeBenchmark(judge_cost_usd=0.02)
    result = await bench.run(concurrency=1, budget_usd=0.06)  # 0.03 + 0.02 an episode
    assert (len(result.ended), len(result.not_run)) == (2, 1)


async def test_an_outlook_counts_errored_episodes_as_waiting_when_they_are_repeated(tmp_path):
    bench = Bench(tmp_path, a=FailsAt(*GOOD))
    await bench.run()
    again = await bench.run(retry_errors=True, budget_usd=0.0)
    assert len(again.not_run) == 3
    outlook = bench.batch.outlook()
    assert [job.name for job in outlook.waiting] == ["a/t_1", "a/t_2", "a/u_1"]
    assert outlook.spent_usd == pytest.approx(0.03)
