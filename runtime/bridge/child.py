"""Starts a module of ours inside another interpreter: `PYTHON -P -s child.py MODULE [ARGUMENT...]`.

A benchmark's environment has its own pydantic, httpx and so on; putting our installation on its
path would mix the two. So only our own packages are found from here, and nothing beside them.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

OURS = ("adapters", "runtime")
HOME = str(Path(__file__).resolve().parent.parent.parent)


class OurPackages(importlib.abc.MetaPathFinder):
    """Finds `runtime` and `adapters` beside this file, and no other module there."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """Find one of our modules."""
        if fullname.partition(".")[0] not in OURS:
            return None
        return importlib.machinery.PathFinder.find_spec(fullname, path or [HOME], target)


def main() -> None:
    """Import the module named by the first argument and call its `main(arguments)`."""
    sys.meta_path.insert(0, OurPackages())
    module = importlib.import_module(sys.argv[1])
    module.main(sys.argv[2:])


if __name__ == "__main__":
    main()
