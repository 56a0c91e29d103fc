"""Plays scenarios in ARE's own threaded environment, in real time. Runs in ARE's interpreter.

Stands alone. Input on stdin: [{scenario, checks, turns: [[{name, function, arguments}]]}]. Output:
[{passed, events: [[type, app, function, seconds since the start]], notifications}].
"""

import json
import logging
import multiprocessing
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

logging.disable(logging.CRITICAL)

from are.simulation.data_handler.importer import JsonScenarioImporter  # noqa: E402
from are.simulation.environment import Environment, EnvironmentConfig  # noqa: E402
from are.simulation.notification_system import (  # noqa: E402
    VerboseNotificationSystem,
    VerbosityLevel,
)
from are.simulation.scenarios.scenario_imported_from_json.utils import (  # noqa: E402
    preprocess_scenario,
)
from are.simulation.types import EnvironmentState, EnvironmentType  # noqa: E402
from are.simulation.validation import ScriptedGraphPerEventJudgeConfig  # noqa: E402
from are.simulation.validation.configs import CheckerType, ToolCheckerParam  # noqa: E402


def play(trial):
    text = Path(trial["scenario"]).read_text()
    scenario, _, _ = JsonScenarioImporter().import_from_json_to_benchmark(
        text, load_completed_events=False
    )
    checks = {
        event: [
            ToolCheckerParam(
                arg_name=item["arg_name"],
                checker_type=CheckerType(item["checker_type"]),
                tool_name=item["tool_name"],
                checker_args=item["checker_args"],
            )
            for item in group
        ]
        for event, group in json.loads(Path(trial["checks"]).read_text()).items()
    }
    config = ScriptedGraphPerEventJudgeConfig(event_id_to_checker_params=checks, engine=None)
    preprocess_scenario(scenario, judge_config=config)
    env = Environment(
        environment_type=EnvironmentType.CLI,
        config=EnvironmentConfig(
            start_time=scenario.start_time,
            time_increment_in_seconds=scenario.time_increment_in_seconds,
        ),
        notification_system=VerboseNotificationSystem(VerbosityLevel.MEDIUM),
    )
    env.run(scenario, wait_for_end=False)
    env.get_app("AgentUserInterface").wait_for_user_response = False
    tools = {tool.name.replace("__", "."): tool for tool in scenario.get_tools()}
    told, results = hear(env), {}
    for number, turn in enumerate(trial["turns"], start=1):
        for step in turn:
            arguments = {
                name: results[value[2:-2]] if str(value).startswith("{{") else value
                for name, value in step["arguments"].items()
            }
            results[step["name"]] = tools[step["function"]](**arguments)
        told += hear(env, last=number == len(trial["turns"]))
    passed = bool(scenario.validate(env).success)
    events = [
        [event.event_type.value, event.app_name(), event.function_name(), event.event_time]
        for event in env.event_log.list_view()
        if event.event_type.value in {"AGENT", "ENV", "USER"}
    ]
    env.stop()
    env.join()
    for event in events:
        event[3] -= scenario.start_time
    return {"passed": passed, "events": events, "notifications": told}


def hear(env, *, last=False):
    """Wait for what the world has to say; after the last turn, for a few ticks only."""
    deadline = time.monotonic() + 35.0
    quiet = time.monotonic() + 4.0
    while time.monotonic() < deadline:
        now = datetime.fromtimestamp(env.time_manager.time(), tz=UTC)
        messages = env.notification_system.message_queue.get_by_timestamp(now)
        words = [
            message.message
            for message in messages
            if message.message_type.value != "ENVIRONMENT_STOP"
        ]
        over = env.state != EnvironmentState.RUNNING
        if words or over or (last and time.monotonic() > quiet):
            return words
        time.sleep(0.1)
    return []


def main():
    """Play each trial in a process of its own: ARE's switches for events are global."""
    with multiprocessing.get_context("fork").Pool(3, maxtasksperchild=1) as pool:
        played = pool.map(play, json.load(sys.stdin), chunksize=1)
    sys.stdout.write(json.dumps(played))


if __name__ == "__main__":
    main()
