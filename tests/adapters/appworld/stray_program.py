"""A small program of a user's, for the tests of what it leaves behind. Run as its own process.

`stray_program.py MODE PYTHON CACHE ROOT SCRATCH`: opens a task and ends as MODE says.
"""

import asyncio
import sys
from pathlib import Path

from adapters.appworld.benchmark import AppWorld
from adapters.appworld.setup import AppWorldSetup
from runtime.contracts import AllowGate, Limits


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def main(mode: str, *paths: str) -> None:
    python, cache, root, scratch = map(Path, paths)
    setup = AppWorldSetup(python=python, cache=cache, root=root, scratch=scratch)
    async with AppWorld(setup) as benchmark:
        world = await benchmark.open(benchmark.tasks("mini_test")[0], AllowGate(), Limits())
        assert benchmark._host._process is not None
        say(str(benchmark._host._process.pid))
        await world.execute("print(apis.supervisor.show_profile())")
        if mode == "failure":
            raise RuntimeError("as asked")
        if mode == "wait":
            say("waiting")
            await world.execute("while True: len('')")
        await world.evaluate()
        await world.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
