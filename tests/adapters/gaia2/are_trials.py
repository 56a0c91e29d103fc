"""Plays scenarios with given steps in ARE's interpreter and prints the judge's verdicts as JSON.

No cell, no bridge, no gate: only the scenario, the stepped environment and the judge. Input on
stdin: [{scenario, checks, steps, export}]. A step is {id, after, delay}, which waits for an event,
or that with {app, function, args}, which calls a tool. `export`: a path for ARE's own hf export.
"""

import json
import logging
import sys
from pathlib import Path

logging.disable(logging.CRITICAL)

from are.simulation.data_handler.exporter import JsonScenarioExporter  # noqa: E402

from adapters.gaia2.clock import SteppedEnvironment  # noqa: E402
from adapters.gaia2.scenario import load  # noqa: E402


class Session:
    """One scenario, open."""

    def __init__(self, trial):
        self.scenario = load(trial["scenario"], trial["checks"], engine=None)
        self.env = SteppedEnvironment(self.scenario.start_time, on_event=lambda event: None)
        self.env.run(self.scenario, wait_for_end=False)
        self.env.get_app("AgentUserInterface").wait_for_user_response = False
        self.tools = {tool.name: tool for tool in self.scenario.get_tools()}

    def event_time(self, event_id):
        """Return when an event happened, None if it has not, waiting as long as it may."""
        while True:
            for event in self.env.event_log.list_view():
                if event.event_id == event_id:
                    return event.event_time
            if not self.env.running:
                return None
            self.env.advance(1.0)

    def call(self, app, function, args):
        self.env.advance(0.01)
        result = self.tools[f"{app}__{function}"](**args)
        self.env.advance(0.01)
        return result

    def verdict(self):
        self.env.advance(1.0)
        result = self.scenario.validate(self.env)
        self.env.stop()
        return {
            "passed": bool(result.success),
            "why": str(result.rationale),
            "exception": str(result.exception) if result.exception else None,
            "minutes": (self.env.now - self.scenario.start_time) / 60,
        }


def run(trial):
    session = Session(trial)
    times, results = {}, {}
    for step in trial["steps"]:
        if "app" in step:
            due = max((times[name] for name in step["after"]), default=session.env.now)
            session.env.advance(max(0.0, due + step["delay"] - session.env.now))
            args = {name: fill(value, results) for name, value in step["args"].items()}
            results[step["id"]] = session.call(step["app"], step["function"], args)
            times[step["id"]] = session.env.now
        elif (happened := session.event_time(step["id"])) is None:
            break
        else:
            times[step["id"]] = happened
    verdict = session.verdict()
    if trial.get("export"):
        decision = "Valid" if verdict["passed"] else "Invalid"
        exported = JsonScenarioExporter().export_to_json(
            session.env, session.scenario, session.scenario.scenario_id, None, "m", "a", decision
        )
        Path(trial["export"]).write_text(exported)
    return verdict


def fill(value, results):
    """Put the return value of an earlier step in the place of `{{its id}}`."""
    if isinstance(value, str) and value.startswith("{{"):
        return results[value.strip("{}")]
    return value


if __name__ == "__main__":
    sys.stdout.write(json.dumps([run(trial) for trial in json.load(sys.stdin)]))
