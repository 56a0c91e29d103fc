"""What a run came to: counts, TGC and SGC per arm, as the benchmark itself defines them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from runtime.contracts import Json, Usage, Value
from runtime.records import EndRecord
from runtime.runs import ArmManifest, Manifest, RunFolder

__all__ = ["ArmSummary", "summarise"]


class ArmSummary(Value):
    """One arm's row. Totals are over all its complete episodes."""

    arm: ArmManifest
    benchmark: str
    dataset: str
    seed: int
    passed: int
    failed: int
    errored: int
    not_run: int
    tgc: float | None
    """Task goal completion: 100 x the mean success of evaluated tasks. None if there is none."""
    sgc: float | None
    """Scenario goal completion: 100 x the share of scenarios whose tasks all pass, over scenarios
    that were evaluated whole."""
    events: int
    """Agent events: calls that reached the world, and cells that made none."""
    calls: int
    usage: Usage
    memory_tokens: int
    cost_usd: float | None
    wall_s: float
    success: dict[str, bool]
    """Of each evaluated task."""
    run: str = ""
    """The run's folder, as it was given."""

    def as_json(self) -> dict[str, Json]:
        """Return the row that `contramem run --json` prints."""
        return {
            **self.arm.facts(),
            "dataset": self.dataset,
            "seed": self.seed,
            "episodes": self.passed + self.failed + self.errored,
            "passed": self.passed,
            "failed": self.failed,
            "errored": self.errored,
            "not_run": self.not_run,
            "tgc": self.tgc,
            "sgc": self.sgc,
            "events": self.events,
            "calls": self.calls,
            "tokens": {
                "input": self.usage.input,
                "cached": self.usage.cached,
                "output": self.usage.output,
                "memory": self.memory_tokens,
            },
            "cost": self.cost_usd,
            "wall_s": self.wall_s,
        }


def summarise(folder: RunFolder, manifest: Manifest) -> list[ArmSummary]:
    """Read every complete episode's end and summarise arm by arm. Raises `BadFile`."""
    return [_summarise_arm(folder, manifest, arm) for arm in manifest.arms]


def _summarise_arm(folder: RunFolder, manifest: Manifest, arm: ArmManifest) -> ArmSummary:
    ends = {
        task: end for task in manifest.tasks if (end := folder.end_of(arm.name, task)) is not None
    }
    success = {
        name: end.status == "passed" for name, end in ends.items() if end.status != "errored"
    }
    usage = Usage()
    for end in ends.values():
        usage += end.usage
    return ArmSummary(
        arm=arm,
        benchmark=manifest.benchmark,
        dataset=manifest.dataset,
        seed=manifest.seed,
        passed=sum(success.values()),
        failed=len(success) - sum(success.values()),
        errored=len(ends) - len(success),
        not_run=len(manifest.tasks) - len(ends),
        tgc=_percent(list(success.values())),
        sgc=_percent(_scenarios(manifest.tasks, success)),
        events=sum(end.events for end in ends.values()),
        calls=sum(end.calls for end in ends.values()),
        usage=usage,
        memory_tokens=sum(end.memory_tokens for end in ends.values()),
        cost_usd=_cost(list(ends.values())),
        wall_s=round(sum(end.wall_s for end in ends.values()), 3),
        success=success,
        run=str(folder.path),
    )


def _scenarios(tasks: Mapping[str, str], success: Mapping[str, bool]) -> list[bool]:
    """Return, for each scenario that was evaluated whole, whether all its tasks passed."""
    scenarios: dict[str, list[bool | None]] = defaultdict(list)
    for task, scenario in tasks.items():
        scenarios[scenario].append(success.get(task))
    return [all(results) for results in scenarios.values() if None not in results]


def _percent(results: Sequence[bool]) -> float | None:
    return round(100 * sum(results) / len(results), 2) if results else None


def _cost(ends: Sequence[EndRecord]) -> float | None:
    """Add up costs. One unknown price makes the sum unknown."""
    costs = [end.cost_usd for end in ends]
    return None if None in costs else round(sum(cost or 0.0 for cost in costs), 6)
