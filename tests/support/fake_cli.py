"""`contramem` with the fake shop as one more benchmark.

python -m tests.support.fake_cli run --bench fake --dataset all ...
"""

from __future__ import annotations

from typing import Any

import scripts.benchmarks
import scripts.planning
import scripts.replaying
from runtime.contracts import Benchmark
from scripts.cli import main
from tests.support.fake_world import FakeBenchmark

REAL = scripts.benchmarks.open_benchmark


def open_benchmark(name: str, *rest: Any, **options: Any) -> Benchmark:
    return FakeBenchmark() if name == "fake" else REAL(name, *rest, **options)


def know_the_shop() -> None:
    for module in (scripts.planning, scripts.replaying):
        module.open_benchmark = open_benchmark


if __name__ == "__main__":
    know_the_shop()
    main()
