"""Loads a scenario and gives it its judge. Runs in ARE's interpreter."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from are.simulation.data_handler.importer import JsonScenarioImporter
from are.simulation.scenarios.scenario_imported_from_json.utils import preprocess_scenario
from are.simulation.types import EventType
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
    raw = json.loads(text)
    scenario, _, _ = JsonScenarioImporter().import_from_json_to_benchmark(
        text, load_completed_events=False
    )
    _set_times(scenario, raw["metadata"]["definition"])
    judge = _judge(raw, checks, engine)
    try:
        preprocess_scenario(scenario, judge_config=judge)
    finally:  # the lack of an app is why, whatever has failed by now
        _require_apps(scenario, {app["name"] for app in raw["apps"]}, source)
    _reject_absent_texts(scenario.judge)
    return scenario


def _set_times(scenario: Any, definition: dict[str, Any]) -> None:
    """Replace ARE's defaults: 1000 s, and the wall clock's time of its import."""
    if definition.get("start_time") is None:
        scenario.start_time = 0.0
    if definition.get("duration") is None:
        timed = "Time" in (definition.get("tags") or ())
        scenario.duration = LONGEST_TIME if timed else LONGEST


def _require_apps(scenario: Any, wanted: set[str], source: str) -> None:
    """The importer drops an app whose class or state it cannot read, and goes on."""
    lost = sorted(wanted - {app.name for app in scenario.apps or ()})
    if scenario.apps and lost:
        raise BadScenario(f"ARE could not load the apps {', '.join(lost)} of {source}.")


def _reject_absent_texts(judge: Any) -> None:
    """Let a text that the agent left out contain nothing: ARE's checkers raise on None."""
    for tool in judge.event_judges[EventType.AGENT].tool_judges.values() if judge else ():
        checkers = tool.hard_judge.checkers
        for kind in (CheckerType.contain_any_checker, CheckerType.contain_all_checker):
            checkers[kind.value] = _for_a_given_text(checkers[kind.value])


def _for_a_given_text(checker: Callable[..., bool]) -> Callable[..., bool]:
    return lambda text, **arguments: text is not None and checker(text, **arguments)


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
    classes = {app["name"]: app.get("class_name") or app["name"] for app in raw["apps"]}
    classes |= {"AgentUserInterface": "AgentUserInterface", "SystemApp": "SystemApp"}
    actions = [event["action"] for event in raw["events"] if event["event_type"] == "AGENT"]
    if lacking := sorted({action["app"] for action in actions} - set(classes)):
        raise BadScenario(f"Its oracle uses apps that it does not have: {', '.join(lacking)}.")
    tools = {f"{classes[action['app']]}__{action['function']}" for action in actions}
    whole = TOOL_ARG_CHECKER_TYPE_REGISTRY
    if unknown := sorted(tools - set(whole)):
        raise BadScenario(f"ARE's judge has no entry for {', '.join(unknown)}.")
    return type(whole)({name: whole[name] for name in tools})
