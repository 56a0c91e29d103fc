"""Runs scenarios with given steps in ARE's interpreter and prints the judge's verdicts as JSON.

Stands alone: ARE without its thread, on a clock that moves only when told to.
Input on stdin: [{scenario, checks, steps}], a step being {id, after, delay} to wait for an event,
with {app, function, args} to call a tool; or [{scenario, checks, cells}], a cell being source text.
"""

import contextlib
import io
import json
import logging
import sys
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
from are.simulation.time_manager import TimeManager  # noqa: E402
from are.simulation.types import EnvironmentState, EnvironmentType  # noqa: E402
from are.simulation.utils import make_serializable  # noqa: E402
from are.simulation.validation import ScriptedGraphPerEventJudgeConfig  # noqa: E402
from are.simulation.validation.configs import CheckerType, ToolCheckerParam  # noqa: E402
from are.simulation.validation.constants import TOOL_ARG_CHECKER_TYPE_REGISTRY  # noqa: E402


class StillClock(TimeManager):
    """A clock that moves by `add_offset` only."""

    def __init__(self):
        self.start_time = 0.0
        self.elapsed = 0.0
        self.is_paused = False

    def time(self):
        return self.start_time + self.elapsed

    def time_passed(self):
        return self.elapsed

    def real_time_passed(self):
        return self.elapsed

    def reset(self, start_time=None):
        self.start_time, self.elapsed = start_time or 0.0, 0.0

    def pause(self):
        pass

    def resume(self):
        pass

    def add_offset(self, offset):
        self.elapsed += max(0.0, offset)


class StillEnvironment(Environment):
    """An environment whose time the caller moves."""

    def __init__(self, config):
        super().__init__(
            environment_type=EnvironmentType.CLI,
            config=config,
            notification_system=VerboseNotificationSystem(VerbosityLevel.MEDIUM),
        )
        self.time_manager = StillClock()
        self.time_manager.reset(config.start_time)
        self.notification_system.initialize(self.time_manager)

    def start(self, debug=False):
        if self.state != EnvironmentState.RUNNING:
            self.state = EnvironmentState.RUNNING
            self.prepare_events_for_start()
            self.tick()

    def join(self):
        pass

    @property
    def now(self):
        return self.time_manager.time()

    def advance(self, seconds):
        """Move time, stopping at every scheduled event on the way."""
        target = self.now + seconds
        while self.state == EnvironmentState.RUNNING:
            upcoming = self.get_next_event_time()
            stop = target if upcoming is None else min(target, max(upcoming, self.now))
            self.time_manager.add_offset(stop - self.now)
            self.tick()
            if stop >= target:
                return


def judge_config(checks, scenario):
    tools = {
        f"{app['class_name']}__{event['action']['function']}"
        for event in scenario["events"]
        for app in scenario["apps"]
        if event["event_type"] == "AGENT" and app["name"] == event["action"]["app"]
    }
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
        for event, group in checks.items()
    }
    registry = type(TOOL_ARG_CHECKER_TYPE_REGISTRY)(
        {name: TOOL_ARG_CHECKER_TYPE_REGISTRY[name] for name in tools}
    )
    return ScriptedGraphPerEventJudgeConfig(
        engine=None,
        per_tool_arg_to_checker_type=registry,
        event_id_to_checker_params=parameters,
    )


class Session:
    """One scenario, open."""

    def __init__(self, trial):
        text = Path(trial["scenario"]).read_text()
        self.source = json.loads(text)
        checks = json.loads(Path(trial["checks"]).read_text())
        self.scenario, _, _ = JsonScenarioImporter().import_from_json_to_benchmark(
            text, load_completed_events=False
        )
        preprocess_scenario(self.scenario, judge_config=judge_config(checks, self.source))
        self.env = StillEnvironment(EnvironmentConfig(start_time=self.scenario.start_time))
        self.env.run(self.scenario, wait_for_end=False)
        self.env.get_app("AgentUserInterface").wait_for_user_response = False
        self.tools = {tool.name: tool for tool in self.scenario.get_tools()}
        self.lost_apps = sorted(
            {app["name"] for app in self.source["apps"]} - {app.name for app in self.scenario.apps}
        )

    def event_time(self, event_id):
        for event in self.env.event_log.list_view():
            if event.event_id == event_id:
                return event.event_time
        return None

    def call(self, app, function, args):
        self.env.advance(0.01)
        result = self.tools[f"{app}__{function}"](**args)
        self.env.advance(0.01)
        return result

    def is_over(self):
        late = self.env.now - self.scenario.start_time > self.scenario.duration
        return late or self.env.state != EnvironmentState.RUNNING

    def news(self):
        """Take the notifications that have come in."""
        now = datetime.fromtimestamp(self.env.now, tz=UTC)
        return self.env.notification_system.message_queue.get_by_timestamp(now)

    def next_news(self):
        """Let time pass to the next notification; say whether there was one."""
        while not (news := self.news()):
            if self.is_over() or self.env.get_next_event_time() is None:
                return False
            self.env.advance(1.0)
        return bool(news) and not self.is_over()

    def verdict(self):
        self.env.advance(1.0)
        result = self.scenario.validate(self.env)
        self.env.stop()
        return {
            "passed": bool(result.success),
            "why": str(result.rationale),
            "exception": str(result.exception) if result.exception else None,
            "lost_apps": self.lost_apps,
            "minutes": round((self.env.now - self.scenario.start_time) / 60, 2),
        }


class Apps:
    """`apps` of a cell, without any guard: `apps.App.function(...)` in plain data."""

    def __init__(self, session):
        self.session = session

    def __getattr__(self, app):
        return App(self.session, app)


class App:
    def __init__(self, session, app):
        self.session, self.app = session, app

    def __getattr__(self, function):
        def call(**args):
            self.session.reported |= function == "send_message_to_user"
            result = self.session.call(self.app, function, args)
            return json.loads(json.dumps(make_serializable(result), default=str))

        return call


def run_cells(trial):
    """Run cells, and let time pass to the next notification after each report."""
    session = Session(trial)
    session.reported = False
    session.news()
    namespace, printed, cells_run = {"apps": Apps(session)}, [], 0
    for cell in trial["cells"]:
        if session.is_over() or (session.reported and not session.next_news()):
            break
        session.reported = False
        cells_run += 1
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            try:
                exec(cell, namespace)
            except Exception as error:
                output.write(f"{type(error).__name__}: {error}")
        session.env.advance(0.01)
        printed.append(output.getvalue())
        if not session.reported:
            session.news()
    return {**session.verdict(), "printed": printed, "cells_run": cells_run}


def run(trial):
    if "cells" in trial:
        return run_cells(trial)
    session = Session(trial)
    times, results = {}, {}
    for step in trial["steps"]:
        if "app" not in step:
            while session.event_time(step["id"]) is None:
                if session.is_over():
                    return session.verdict()
                session.env.advance(1.0)
            times[step["id"]] = session.event_time(step["id"])
            continue
        due = max((times[name] for name in step["after"]), default=session.env.now) + step["delay"]
        session.env.advance(max(0.0, due - session.env.now))
        args = {name: fill(value, results) for name, value in step["args"].items()}
        results[step["id"]] = session.call(step["app"], step["function"], args)
        times[step["id"]] = session.env.now
    return session.verdict()


def fill(value, results):
    """Put the return value of an earlier step in the place of `{{its id}}`."""
    if isinstance(value, str) and value.startswith("{{"):
        return results[value.strip("{}")]
    return value


if __name__ == "__main__":
    sys.stdout.write(json.dumps([run(trial) for trial in json.load(sys.stdin)]))
