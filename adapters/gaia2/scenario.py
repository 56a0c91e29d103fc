"""Loads a scenario and gives it its judge. Runs in ARE's interpreter."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from are.simulation.data_handler.importer import JsonScenarioImporter
from are.simulation.scenarios.scenario_imported_from_json.utils import preprocess_scenario
from are.simulation.validation import GraphPerEventJudgeConfig, ScriptedGraphPerEventJudgeConfig
from are.simulation.validation.configs import CheckerType, ToolCheckerParam
from are.simulation.validation.constants import TOOL_ARG_CHECKER_TYPE_REGISTRY

__all__ = ["BadScenario", "Engine", "load"]

Engine = Callable[..., tuple[str, None]]
"""Completes a judge's messages: (text, None)."""
LONGEST = 1800
LONGEST_TIME = 420
"""Simulated seconds of a scenario that states no duration: GAIA2's own defaults."""


class BadScenario(Exception):
    """A scenario that cannot be run as it stands."""


def load(source: str, checks: str | None, engine: Engine) -> Any:
    """Return a scenario, initialised, with its judge.

    `source`: a path to scenario JSON, or `module:Class` for one of ARE's scenario classes, which
    bring their own validation. `checks`: a path to scripted checks, by oracle event; without, soft
    arguments that differ from the oracle's are put to `engine`.
    """
    if not source.endswith(".json"):
        return _from_class(source)
    text = Path(source).read_text(encoding="utf-8")
    scenario, _, _ = JsonScenarioImporter().import_from_json_to_benchmark(
        text, load_completed_events=False
    )
    raw = json.loads(text)
    if scenario.duration is None:
        tags = raw["metadata"]["definition"].get("tags") or []
        scenario.duration = LONGEST_TIME if "Time" in tags else LONGEST
    preprocess_scenario(scenario, judge_config=_judge(raw, checks, engine))
    missing = {app["name"] for app in raw["apps"]} - {app.name for app in scenario.apps}
    if missing:  # the importer drops an app whose state it cannot read, and goes on
        raise BadScenario(f"ARE could not load the apps {', '.join(sorted(missing))} of {source}.")
    return scenario


def _from_class(source: str) -> Any:
    module, _, name = source.partition(":")
    scenario = getattr(importlib.import_module(module), name)()
    scenario.duration = scenario.duration or LONGEST
    scenario.initialize()
    return scenario


def _judge(raw: dict[str, Any], checks: str | None, engine: Engine) -> GraphPerEventJudgeConfig:
    common = {"engine": engine, "per_tool_arg_to_checker_type": _registry(raw)}
    if checks is None:
        return GraphPerEventJudgeConfig(**common)
    groups = json.loads(Path(checks).read_text(encoding="utf-8"))
    parameters = {
        event: [
            ToolCheckerParam(
                arg_name=check["arg_name"],
                checker_type=CheckerType(check["checker_type"]),
                tool_name=check["tool_name"],
                checker_args=check["checker_args"],
            )
            for check in group
        ]
        for event, group in groups.items()
    }
    return ScriptedGraphPerEventJudgeConfig(**common, event_id_to_checker_params=parameters)


def _registry(raw: dict[str, Any]) -> Any:
    """Return the checkers of the oracle's tools only: building all 89 takes seconds."""
    classes = {app["name"]: app["class_name"] for app in raw["apps"]}
    classes |= {"AgentUserInterface": "AgentUserInterface", "SystemApp": "SystemApp"}
    tools = {
        f"{classes[event['action']['app']]}__{event['action']['function']}"
        for event in raw["events"]
        if event["event_type"] == "AGENT"
    }
    whole = TOOL_ARG_CHECKER_TYPE_REGISTRY
    if unknown := sorted(tools - set(whole)):
        raise BadScenario(f"ARE's judge has no entry for {', '.join(unknown)}.")
    return type(whole)({name: whole[name] for name in tools})
