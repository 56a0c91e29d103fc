"""What the parent knows of tools and scenarios without ARE: kinds, binding, prompt, tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.gaia2.calls import Tools
from adapters.gaia2.kinds import kind_of, kind_of_call
from adapters.gaia2.notifications import notification
from adapters.gaia2.prompt import ANCHOR, opening
from adapters.gaia2.setup import MINI, datasets
from adapters.gaia2.tasks import read_task
from runtime.bridge.world import Route, Unrouted
from runtime.contracts import Kind, Prompt, Task
from runtime.errors import BadFile

ARE = "are.simulation.apps.some_app"


def row(function: str, *parameters: tuple[str, str, bool], **options: Any) -> dict[str, Any]:
    return {
        "app": "Files",
        "class": "Files",
        "function": function,
        "kind": options.get("kind", "READ"),
        "reason": options.get("reason", "tagged READ by ARE"),
        "returns": "str",
        "text": "Text.",
        "parameters": [
            {
                "name": name,
                "type": "string",
                "text": text,
                "required": required,
                "default": None,
                "has_default": not required,
            }
            for name, text, required in parameters
        ],
    }


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        (("AgentUserInterface", "send_message_to_user", "write", ARE), "FINISH"),
        (("EmailClientV2", "send_email", "write", ARE), "WRITE"),
        (("EmailClientV2", "list_emails", "read", ARE), "READ"),
        (("SystemApp", "wait_for_notification", "read", ARE), "READ"),
        (("Shopping", "get_all_discount_codes", None, ARE), "READ"),
        (("Shopping", "refund", None, ARE), "WRITE"),
        (("SimpleTaskApp", "create_task", "read", "are.simulation.scenarios.x"), "WRITE"),
        (("SimpleTaskApp", "get_tasks", "read", "are.simulation.scenarios.x"), "READ"),
    ],
)
def test_kinds_follow_the_tag_but_for_reasoned_exceptions(
    tool: tuple[str, str, str | None, str], kind: str
) -> None:
    found, reason = kind_of(*tool)
    assert found == kind
    assert reason


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [({}, "READ"), ({"mode": "r"}, "READ"), ({"mode": "w"}, "WRITE"), ({"mode": "rb+"}, "WRITE")],
)
def test_opening_a_file_is_a_write_unless_its_mode_only_reads(
    arguments: dict[str, str], kind: str
) -> None:
    assert kind_of_call(*kind_of("Files", "open", "write", ARE), arguments) == kind


@pytest.mark.parametrize(
    ("text", "value", "fits"),
    [
        ("str", "a", True),
        ("str", None, False),
        ("str | None", None, True),
        ("int", 3, True),
        ("int", 3.0, False),
        ("int", True, False),
        ("bool", True, True),
        ("int | float | None", 2.5, True),
        ("float", 2, True),
        ("list[str]", ["a"], True),
        ("list[str] | None", [1], False),
        ("list[str] | None", None, True),
        ("dict[str, Any]", {"a": 1}, True),
        ("dict[str, Any]", [], False),
        ("SomethingOfAre", 1, True),
    ],
)
def test_arguments_are_checked_against_the_types_that_are_writes(
    text: str, value: object, fits: bool
) -> None:
    tools = Tools([row("f", ("a", text, True))])
    routed = tools.route({"function": "Files.f", "arguments": {"a": value}})
    assert isinstance(routed, Route) is fits


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ({}, "There is no function None"),
        ({"function": ["x"], "arguments": {}}, "There is no function"),
        ({"function": "Files.g", "arguments": {}}, "There is no function Files.g"),
        ({"function": "Files.f", "arguments": [1]}, "There is no function"),
        ({"function": "Files.f", "arguments": {}}, "'a' is missing"),
        ({"function": "Files.f", "arguments": {"a": "x", "z": 1}}, "unexpected argument 'z'"),
    ],
)
def test_a_frame_that_is_no_call_is_refused_with_words(frame: dict[str, Any], words: str) -> None:
    routed = Tools([row("f", ("a", "str", True))]).route(frame)
    assert isinstance(routed, Unrouted)
    assert words in routed.reason


def test_arguments_that_are_nested_too_deeply_are_refused() -> None:
    tools = Tools([row("f", ("a", "dict[str, Any]", True))])
    deep: Any = {}
    for _ in range(900):
        deep = {"a": deep}
    routed = tools.route({"function": "Files.f", "arguments": deep})
    assert isinstance(routed, Unrouted)
    assert "too deeply" in routed.reason


def test_arguments_are_put_in_the_order_of_the_signature() -> None:
    tools = Tools([row("f", ("a", "str", True), ("b", "int", False))])
    routed = tools.route({"function": "Files.f", "arguments": {"b": 1, "a": "x"}})
    assert isinstance(routed, Route)
    assert list(routed.arguments) == ["a", "b"]
    assert routed.frame == {"function": "Files.f", "arguments": {"a": "x", "b": 1}}


def test_the_kind_of_a_call_depends_on_its_arguments_where_it_must() -> None:
    kind, reason = kind_of("Files", "open", "write", ARE)
    tools = Tools([row("open", ("mode", "str", False), kind=kind, reason=reason)])
    assert tools.kind("Files.open", {"mode": "r"}) is Kind.READ
    assert tools.kind("Files.open", {"mode": "w"}) is Kind.WRITE
    assert tools.kind("Nothing.known", {}) is Kind.WRITE


def test_a_message_of_the_user_is_told_without_what_are_writes_around_it() -> None:
    text = "Received at: now\nSender: User\nMessage: One.\nAlready read: two\nAlready read: True"
    assert notification(0, "USER_MESSAGE", f"{text}\nRead at: now") == (
        "[user, 1970-01-01 00:00:00] One.\nAlready read: two"
    )
    assert notification(0, "USER_MESSAGE", "odd").endswith("] odd")
    assert notification(60, "ENVIRONMENT_NOTIFICATION", "Emails: new") == (
        "[notification, 1970-01-01 00:01:00] Emails: new"
    )


# prompt and tasks


def a_task(ability: str | None = None, instruction: str = "Mail Eve.") -> Task:
    return Task(
        benchmark="gaia2",
        id="s1",
        scenario_id="s1",
        dataset="d",
        instruction=instruction,
        ability=ability,
    )


def opened(task: Task, *rows: dict[str, Any]) -> Prompt:
    return opening(task, rows, time=1730797200.0)


def test_the_prompt_lists_a_line_a_tool_and_ends_with_the_request() -> None:
    rows = [row("read", ("path", "str", True), ("limit", "int", False)), row("tree")]
    system, user = opened(a_task(), *rows).messages
    assert "- read(path: str, limit: int = None) -> str\n- tree() -> str" in system.content
    assert "Text." not in system.content
    assert "It is Tuesday, 2024-11-05 09:00:00 (UTC)." in user.content
    assert user.content.endswith(f"{ANCHOR}\n\nMail Eve.")


def test_a_block_goes_right_before_the_anchor_and_changes_nothing_else() -> None:
    prompt = opened(a_task(instruction=f"{ANCHOR} twice"), row("tree"))
    assert prompt.with_block("") == prompt.messages
    with_block = prompt.with_block("BLOCK")
    assert with_block[0] == prompt.messages[0]
    assert with_block[1].content == prompt.messages[1].content.replace(
        ANCHOR, f"BLOCK\n\n{ANCHOR}", 1
    )


def test_only_the_time_ability_is_told_about_clock_messages() -> None:
    assert "[clock" in opened(a_task("Time"), row("tree")).messages[1].content
    assert "[clock" not in opened(a_task("Search"), row("tree")).messages[1].content


def test_bundled_scenarios_become_tasks_with_their_abilities() -> None:
    abilities: dict[str | None, int] = {}
    for dataset, files in datasets(MINI).items():
        for path in files:
            task = read_task(path, dataset)
            assert task.id == path.stem
            assert len(task.instruction) > 20
            abilities[task.ability] = abilities.get(task.ability, 0) + 1
    assert abilities == dict.fromkeys(
        ("Execution", "Search", "Ambiguity", "Adaptability", "Time"), 4
    )


@pytest.mark.parametrize("broken", ["{", "[]", "{}", '{"metadata": {"definition": {}}}'])
def test_a_file_that_is_no_scenario_is_named(tmp_path: Path, broken: str) -> None:
    path = tmp_path / "odd.json"
    path.write_text(broken)
    with pytest.raises(BadFile, match=r"odd\.json.*no GAIA2 scenario"):
        read_task(path, "d")


def test_a_scenario_without_a_request_is_named(tmp_path: Path) -> None:
    source = json.loads(next(iter(datasets(MINI)["mini_test"])).read_text())
    path = tmp_path / "silent.json"
    path.write_text(json.dumps(source | {"events": []}))
    with pytest.raises(BadFile, match="no first message"):
        read_task(path, "d")
