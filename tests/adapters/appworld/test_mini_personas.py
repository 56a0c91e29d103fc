"""The scripted personas, played in the plain engine: what each is there to show."""

from __future__ import annotations

import ast
import re
from importlib.resources import files
from pathlib import Path

import pytest
from mini_plays import Play, Turn, play_all

from adapters.appworld.mini.catalogue import TASKS
from adapters.appworld.setup import AppWorldSetup
from runtime.cells import read_reply
from runtime.contracts import Reply
from runtime.models.script import read_turns

PERSONAS = ("careful", "hasty", "wanderer")
IDS = [task.id for task in TASKS]
FOLDER = Path(str(files("adapters.appworld.mini"))) / "personas"
CASES = [(persona, task_id) for persona in PERSONAS for task_id in IDS]


def script(persona: str, task_id: str) -> tuple[Turn, ...]:
    turns = []
    for turn in read_turns(FOLDER / persona / f"{task_id}.md"):
        cell = read_reply(Reply(text=turn.text))
        assert cell.source is not None, turn.text
        turns.append(Turn(cell.source, turn.when.pattern if turn.when else None))
    return tuple(turns)


@pytest.fixture(scope="module")
def plays(
    appworld_setup: AppWorldSetup, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, str], Play]:
    jobs = {(task_id, persona): script(persona, task_id) for persona, task_id in CASES}
    return play_all(appworld_setup, tmp_path_factory.mktemp("personas"), jobs)


@pytest.mark.parametrize(("persona", "task_id"), CASES)
def test_a_script_is_a_conversation_that_ends(persona: str, task_id: str) -> None:
    turns = script(persona, task_id)
    assert (3 if persona == "hasty" else 5) <= len(turns) <= 14
    assert all(turn.when is None for turn in turns)
    for turn in turns:
        ast.parse(turn.code)
    calls = [turn.code.count("apis.supervisor.complete_task(") for turn in turns]
    assert calls == [0] * (len(turns) - 1) + [1]


@pytest.mark.parametrize("persona", PERSONAS)
def test_a_persona_knows_every_task_and_repeats_itself_after_a_stop(persona: str) -> None:
    names = {path.stem for path in (FOLDER / persona).iterdir()}
    assert names == {*IDS, "always"}
    (again,) = read_turns(FOLDER / persona / "always.md")
    assert again.suits('{"rtm_pre_tool_memory": "VERIFY_BEFORE_WRITE"}')
    assert again.text == "{{last}}"


@pytest.mark.parametrize("task_id", IDS)
def test_careful_reads_a_document_before_the_first_use(task_id: str) -> None:
    cells = "\n".join(turn.code for turn in script("careful", task_id))
    read = {
        f"{match['app']}.{match['api']}": match.start()
        for match in re.finditer(r'app_name="(?P<app>\w+)", api_name="(?P<api>\w+)"', cells)
    }
    used = [
        (f"{match['app']}.{match['api']}", match.start())
        for match in re.finditer(r"apis\.(?P<app>\w+)\.(?P<api>\w+)\(", cells)
        if match["app"] not in {"api_docs", "supervisor"}
    ]
    assert used
    for function, place in used:
        assert read[function] < place


@pytest.mark.parametrize(("persona", "task_id"), CASES)
def test_no_script_holds_what_it_could_look_up(persona: str, task_id: str) -> None:
    text = (FOLDER / persona / f"{task_id}.md").read_text("utf-8")
    task = next(task for task in TASKS if task.id == task_id)
    host = task.supervisor
    secrets = [host.password(app) for app in ("venmo", "phone", "spotify", "gmail")]
    assert not [secret for secret in (*secrets, "@", host.phone_number) if secret in text]
    if task.answer is not None:
        assert str(task.answer) not in text


@pytest.mark.slow
@pytest.mark.parametrize("task_id", IDS)
def test_careful_passes_without_an_exception(
    plays: dict[tuple[str, str], Play], task_id: str
) -> None:
    play = plays[task_id, "careful"]
    assert play.success is True, (play.failures, play.outputs)
    assert all("Execution failed" not in output for output in play.outputs)


@pytest.mark.slow
def test_hasty_fails_most_tasks(plays: dict[tuple[str, str], Play]) -> None:
    failed = {task_id for task_id in IDS if plays[task_id, "hasty"].success is False}
    assert 12 <= len(failed) < len(IDS), sorted(failed)
    for task_id in IDS:
        assert "Execution failed" not in "".join(plays[task_id, "hasty"].outputs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task_id", "requirement"),
    [
        # a recipient whose name matched several records
        ("7be24d8_1", "assert the message went from the supervisor to the right person."),
        ("7be24d8_2", "assert the message went from the supervisor to the right person."),
        ("19d7ac4_1", "assert the supervisor asks each roommate for the amount in the note."),
        ("19d7ac4_2", "assert the supervisor asks each roommate for the amount in the note."),
        ("d81ca05_1", "assert the supervisor paid the right person."),
        ("d81ca05_2", "assert the supervisor paid the right person."),
        # a target set from a full first page with no next page read
        ("e50f6b2_1", "assert exactly the wanted songs left the supervisor's library."),
        ("e50f6b2_2", "assert exactly the wanted songs left the supervisor's library."),
        (
            "62e5f47_1",
            "assert exactly the sender's threads in the supervisor's inbox have the new mark.",
        ),
    ],
)
def test_hasty_fails_by_a_write_that_a_look_would_have_prevented(
    plays: dict[tuple[str, str], Play], task_id: str, requirement: str
) -> None:
    play = plays[task_id, "hasty"]
    assert play.failures == (requirement,)
    assert play.writes


@pytest.mark.slow
def test_wanderer_passes_about_half_and_runs_long(plays: dict[tuple[str, str], Play]) -> None:
    passed = {task_id for task_id in IDS if plays[task_id, "wanderer"].success}
    assert 8 <= len(passed) <= 12, sorted(passed)
    for task_id in IDS:
        play = plays[task_id, "wanderer"]
        assert play.success is not None, play.outputs
        assert "Execution failed" in "".join(play.outputs)
        assert len(play.outputs) > len(plays[task_id, "hasty"].outputs)
