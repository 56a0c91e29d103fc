"""Files of scripted checks: mistakes that would switch a check off are named, with file and key."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, get_args

import pytest

from adapters.gaia2.checks import SOFT_ARGUMENTS, Check, checks_of, require_sound
from runtime.errors import BadFile
from tests.adapters.gaia2.worlds.gaia2_scenarios import NOTE, act, ask, scenario, tell

CONTENT = {
    "arg_name": "content",
    "checker_type": "contain_all_checker",
    "tool_name": "AgentUserInterface__send_message_to_user",
    "checker_args": {"targets": ["INV-44"]},
}
MAIL = {"arg_name": "subject", "checker_type": "eq_str_strip_checker", "checker_args": {}}
MAIL |= {"tool_name": "EmailClientV2__send_email"}
SOUND: dict[str, Any] = {"o_mail": [MAIL], "o_tell": [CONTENT]}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    mail = act("o_mail", "Emails.send_email", "u0", **NOTE)
    look = act("o_gone", "Calendar.delete_calendar_event", "u0", event_id="x")
    events = [ask("u0", "Which?"), mail, look, tell("o_tell", "INV-44", "o_mail")]
    (tmp_path / "checks").mkdir()
    (tmp_path / "s.json").write_text(json.dumps(scenario("search") | {"events": events}))
    return tmp_path


def hold(place: Path, text: str) -> None:
    checks = place / "checks" / "s.json"
    checks.write_text(text)
    assert checks_of(place / "s.json") == checks
    require_sound(checks, place / "s.json")


def test_sound_checks_are_taken(place: Path) -> None:
    hold(place, json.dumps(SOUND))


def test_an_empty_list_says_that_any_text_may_pass(place: Path) -> None:
    hold(place, json.dumps(SOUND | {"o_mail": []}))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "Invalid JSON"),
        ("[]", "should be an object"),
        ("{}", r"nothing about o_mail .*any content and any subject would pass.*\"o_mail\": \[\]"),
    ],
)
def test_a_file_that_checks_nothing_is_named(place: Path, text: str, words: str) -> None:
    with pytest.raises(BadFile, match=rf"checks/s\.json: .*{words}"):
        hold(place, text)


@pytest.mark.parametrize("field", CONTENT)
def test_a_missing_key_is_named(place: Path, field: str) -> None:
    lacking = {name: value for name, value in CONTENT.items() if name != field}
    with pytest.raises(BadFile, match=rf"checks/s\.json: .*o_tell\.0\.{field}: Field required"):
        hold(place, json.dumps(SOUND | {"o_tell": [lacking]}))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"arg_name": "contents"}, r"o_tell: .*no argument 'contents'\. Its arguments: content"),
        ({"tool_name": "AUI__say"}, r"o_tell: tool_name is 'AUI__say', .*__send_message_to_user"),
        ({"checker_type": "contains_everything"}, r"o_tell\.0\.checker_type"),
        ({"checker_type": "llm_checker"}, r"o_tell\.0\.checker_type"),
        ({"checker_args": None}, r"o_tell\.0\.checker_args"),
        ({"checker_args": {"target": ["INV-44"]}}, "takes no target"),
        ({"checker_args": {}}, "needs a list of texts, `targets`"),
        ({"checker_args": {"targets": []}}, "needs a list of texts, `targets`"),
        ({"checker_args": {"targets": "INV-44"}}, "needs a list of texts, `targets`"),
        ({"checker_type": "eq_checker"}, "eq_checker takes no targets"),
    ],
)
def test_a_check_that_would_not_be_applied_is_named(
    place: Path, change: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadFile, match=rf"checks/s\.json: .*{words}"):
        hold(place, json.dumps(SOUND | {"o_tell": [CONTENT | change]}))


def test_an_unknown_event_is_named_with_the_oracles(place: Path) -> None:
    with pytest.raises(BadFile, match=r"'o_tel' is no event .*: o_mail, o_gone, o_tell\."):
        hold(place, json.dumps({"o_mail": [MAIL], "o_tel": [CONTENT]}))


def test_a_text_is_not_looked_for_in_a_list(place: Path) -> None:
    within = CONTENT | {"arg_name": "recipients", "tool_name": MAIL["tool_name"]}
    with pytest.raises(BadFile, match="o_mail: contain_all_checker compares texts"):
        hold(place, json.dumps(SOUND | {"o_mail": [within]}))


def test_an_app_that_only_the_oracle_has_is_named(place: Path) -> None:
    scenario_file = place / "s.json"
    content = json.loads(scenario_file.read_text())
    content["apps"] = [app for app in content["apps"] if app["name"] != "Emails"]
    scenario_file.write_text(json.dumps(content))
    with pytest.raises(BadFile, match=r"s\.json: .*o_mail uses Emails, which is no app"):
        hold(place, json.dumps(SOUND))


ARES_WORDS = """
import json
from are.simulation.validation.constants import TOOL_ARG_CHECKER_TYPE_REGISTRY, CheckerType
from are.simulation.validation.configs import HardToolJudgeConfig
from are.simulation.validation.tool_judge import HardToolJudge
soft = {}
for tool, arguments in TOOL_ARG_CHECKER_TYPE_REGISTRY.items():
    names = [name for name, kind in arguments.items() if kind == CheckerType.llm_checker]
    if names:
        soft.setdefault(tool.partition("__")[2], set()).update(names)
checkers = HardToolJudge(HardToolJudgeConfig(tool_name="t", arg_to_checker_type={})).checkers
print(json.dumps([sorted(checkers), {name: sorted(found) for name, found in soft.items()}]))
"""


def test_the_tables_are_ares(gaia2_python: Path) -> None:
    done = subprocess.run(
        [gaia2_python, "-W", "ignore", "-c", ARES_WORDS],
        capture_output=True,
        text=True,
        timeout=120,
        env={"PATH": os.defpath},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    checkers, soft = json.loads(done.stdout)
    assert sorted(get_args(Check.model_fields["checker_type"].annotation)) == checkers
    assert {name: sorted(found) for name, found in SOFT_ARGUMENTS.items()} == soft
