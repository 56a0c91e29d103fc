"""ARE's warm process. Runs in ARE's interpreter; forks a world for each episode."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.metadata
import logging
from typing import Any

from are.simulation import apps
from are.simulation.apps.reminder import ReminderApp
from are.simulation.validation.constants import TOOL_ARG_CHECKER_TYPE_REGISTRY
from are.simulation.validation.utils import llm_utils

from adapters.gaia2 import world
from adapters.gaia2.tools import agent_tools, describe
from runtime.bridge import zygote

APP_NAMES = {
    "Contacts": ("Contacts",),
    "EmailClientV2": ("Emails",),
    "Calendar": ("Calendar",),
    "MessagingAppV2": ("Messages", "Chats"),
    "CabApp": ("Cabs",),
    "Shopping": ("Shopping",),
    "RentAFlat": ("RentAFlat",),
    "CityApp": ("City",),
    "Files": ("Files",),
    "SandboxLocalFileSystem": ("SandboxLocalFileSystem",),
    "VirtualFileSystem": ("VirtualFileSystem",),
    "ReminderApp": ("ReminderApp",),
    "SystemApp": ("SystemApp",),
    "AgentUserInterface": ("AgentUserInterface",),
}
"""GAIA2's names of the apps, by class. A scenario may name them otherwise."""


def main(arguments: list[str]) -> None:
    """Warm up and serve. The first argument is the control socket's descriptor."""
    logging.disable(logging.CRITICAL)
    _warm_judges()
    ready = {
        "functions": _functions(),
        "version": importlib.metadata.version("meta-agents-research-environments"),
    }
    zygote.serve(int(arguments[0]), {"world": world.main}, ready)


def _warm_judges() -> None:
    """Render the judges' prompts once and for all forks.

    A judge compiles the same dozen templates anew for each tool of each scenario, which takes
    longer than everything else about opening one.
    """
    render = llm_utils.jinja_format
    remembered = functools.lru_cache(maxsize=8192)(render)

    def jinja_format(template: str, **options: Any) -> str:
        try:
            return str(remembered(template, **options))
        except TypeError:  # an option that cannot be a key
            return str(render(template, **options))

    llm_utils.jinja_format = jinja_format
    llm_utils.build_llm_checkers(engine=None)
    for tool in TOOL_ARG_CHECKER_TYPE_REGISTRY:
        llm_utils.build_subtask_extractor(engine=None, tool_name=tool)
    with contextlib.suppress(ImportError):  # ARE's file apps import it when one is loaded
        importlib.import_module("huggingface_hub.hf_file_system")


def _functions() -> list[dict[str, Any]]:
    """Return the tools of every app class that GAIA2 uses."""
    rows = []
    for class_name, names in APP_NAMES.items():
        app = (ReminderApp if class_name == "ReminderApp" else getattr(apps, class_name))()
        for tool in agent_tools(app):
            row = describe(app, tool)
            rows += [row | {"app": name} for name in names]
    return rows
