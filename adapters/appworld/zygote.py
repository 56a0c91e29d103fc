"""AppWorld's warm process. Runs in AppWorld's interpreter; forks worlds, cells and plain engines.

Everything that the engine or agent code may import lazily is imported here: a locked-down cell
can read no file any more. Nothing is opened, and the process keeps one thread.
"""

from __future__ import annotations

import datetime as dt
import gc
import importlib
import pkgutil
import zoneinfo
from functools import partial
from typing import Any

from adapters.appworld import cell, plain, world
from adapters.appworld.kinds import kind_of
from runtime.bridge import zygote

ALLOWED_IN_CELLS = """
array bisect calendar collections collections.abc contextlib copy csv dataclasses datetime decimal
difflib enum fractions functools heapq itertools json math numbers operator os pathlib pendulum
pprint random re statistics string textwrap time typing unittest unittest.mock uuid yaml zoneinfo
"""
NEEDED_BY_THEM = """
_strptime ast asyncio base64 concurrent.futures.thread hashlib hmac html inspect linecache locale
queue stringprep threading token tokenize traceback urllib.parse
encodings.ascii encodings.idna encodings.latin_1 encodings.raw_unicode_escape
encodings.unicode_escape encodings.utf_16 encodings.utf_8 pendulum.locales.en
IPython.core.completer executing libcst libcst.matchers libcst.metadata libcst.native
pygments.formatters pygments.lexers pytest
appworld.apps.supervisor.constants
"""


def main(arguments: list[str]) -> None:
    """Warm up and serve. The first argument is the control socket's descriptor."""
    zones = _warm()
    managers = _login_managers()
    roles: dict[str, zygote.Role] = {
        "cell": cell.main,
        "world": partial(world.main, managers),
        "plain": partial(plain.main, managers),
    }
    ready = {"functions": _functions(), "version": _version(), "zones": len(zones)}
    zygote.serve(int(arguments[0]), roles, ready)


def _warm() -> list[object]:
    """Import everything. The objects returned must stay alive: zones are cached weakly."""
    from appworld.apps import get_all_apps
    from appworld.collections.api_docs import ApiDocCollection
    from appworld.common.utils import import_apis_module
    from appworld.requester import _get_api_name_to_doc

    for app in get_all_apps():
        import_apis_module(app)
        _get_api_name_to_doc(app, True)
    visible = tuple(get_all_apps(skip_admin=True))
    ApiDocCollection.load(load_apps=visible, include_response_schemas=True)
    for name in (*ALLOWED_IN_CELLS.split(), *NEEDED_BY_THEM.split()):
        importlib.import_module(name)
    import pendulum
    import yaml

    for package in (pendulum, yaml):
        _import_submodules(package)
    pendulum.parse("2023-05-18T12:00:00").format("dddd, MMMM Do YYYY")
    zones = _zones(pendulum)
    _freeze_once()
    return zones


def _freeze_once() -> None:
    """Freeze and free the clock: what that looks up in all modules is kept for the children."""
    from appworld.apps.api_lib import set_local_date_and_time, unset_local_date_and_time

    unset_local_date_and_time(set_local_date_and_time(dt.datetime(2023, 5, 18, 12)))


def _import_submodules(package: Any) -> None:
    """Import a package whole: pendulum imports formatters and languages inside functions."""
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        parts = module.name.split(".")
        foreign = "locales" in parts and "en" not in parts and parts[-1] != "locales"
        if foreign or "testing" in parts or parts[-1] == "__main__":
            continue
        try:
            importlib.import_module(module.name)
        except ImportError:
            continue  # an optional extra that is not installed cannot be used by a cell either


def _zones(pendulum: Any) -> list[object]:
    zones: list[object] = []
    for name in sorted(zoneinfo.available_timezones()):
        zones += [pendulum.timezone(name), zoneinfo.ZoneInfo(name)]
    return zones


def _login_managers() -> list[Any]:
    """Find them here, once: a child that walks all objects would copy the memory they are in."""
    from appworld.apps.api_lib import LogInOutManager

    return [thing for thing in gc.get_objects() if isinstance(thing, LogInOutManager)]


def _version() -> str:
    import appworld

    return str(appworld.__version__)


def _functions() -> list[dict[str, Any]]:
    """Return the engine's API table with our kinds."""
    from appworld.api_docs import prepare_api_docs
    from appworld.apps import get_all_apps

    rows = []
    for app in get_all_apps(skip_admin=True):
        for doc in prepare_api_docs(app):
            name = f"{app}.{doc['api_name']}"
            kind, reason = kind_of(name, doc["method"])
            parameters = [
                {
                    "name": item["name"],
                    "type": str(item["type"]),
                    "required": bool(item["required"]),
                    "default": item["default"] if _plain(item["default"]) else str(item["default"]),
                    "has_default": not item["required"],
                }
                for item in doc["parameters"]
            ]
            row = {"name": name, "kind": kind, "reason": reason, "parameters": parameters}
            rows.append(row | {"method": doc["method"], "path": doc["path"]})
    return rows


def _plain(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float | str | list | dict)
