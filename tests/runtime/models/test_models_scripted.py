"""Scripted models: the file format, and which turn answers when."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.contracts import Message, ModelSource, Task
from runtime.errors import BadFile, ModelError, UnknownName, UsageError
from runtime.models.resolve import Models
from runtime.models.script import read_turns

TASK = Task(benchmark="b", id="t_1", scenario_id="t", dataset="d", instruction="do")


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def play(tmp_path):
    """Return a function that plays a script against observations."""

    async def run(script: str, *observations: str, always: str | None = None) -> list[str]:
        write(tmp_path / "persona" / "t_1.md", script)
        if always is not None:
            write(tmp_path / "persona" / "always.md", always)
        source = Models().resolve(f"scripted:{tmp_path / 'persona'}")
        model = source.for_episode(TASK, 0)
        conversation: list[Message] = []
        replies: list[str] = []
        for observation in observations:
            conversation.append(Message(role="user", content=observation))
            replies.append((await model.complete(conversation)).text)
            conversation.append(Message(role="assistant", content=replies[-1]))
        return replies

    return run


async def test_turns_are_said_in_order(play):
    assert await play("## turn\none\n\n## turn\n two \n", "a", "b") == ["one", "two"]


async def test_text_before_the_first_turn_is_a_comment(play):
    assert await play("# Careful\n\nSearches first.\n\n## turn\none\n", "a") == ["one"]


async def test_a_turn_whose_pattern_does_not_match_is_passed_over_for_good(play):
    script = "## turn when: error\nmend\n## turn\none\n## turn\ntwo\n"
    assert await play(script, "fine", "an error") == ["one", "two"]
    assert await play(script, "an error", "fine") == ["mend", "one"]


async def test_a_pattern_is_searched_over_lines_and_by_line(play):
    script = "## turn when: a.b\nover\n## turn when: ^c$\nby line\n"
    assert await play(script, "a\nb", "x\nc\ny") == ["over", "by line"]


async def test_a_pattern_sees_the_last_user_message_only(play):
    script = "## turn\none\n## turn when: first\nwrong\n## turn\nright\n"
    assert await play(script, "first", "second") == ["one", "right"]


async def test_an_always_turn_goes_first_and_keeps_the_position(play):
    script = "## turn\none\n## turn\ntwo\n"
    always = "## turn when: VERIFY\n{{last}}\n"
    said = await play(script, "go", "VERIFY this", "VERIFY again", "done", always=always)
    assert said == ["one", "one", "one", "two"]


async def test_last_stands_for_the_whole_previous_reply(play):
    script = "## turn\n```python\nx = '{}'\n```\n## turn\nAgain:\n{{last}}\n"
    code = "```python\nx = '{}'\n```"
    assert await play(script, "a", "b") == [code, f"Again:\n{code}"]


async def test_last_before_any_reply_is_an_error(play):
    with pytest.raises(ModelError, match="before there is one"):
        await play("## turn\n{{last}}\n", "a")


async def test_a_heading_inside_a_fence_belongs_to_the_reply(play):
    script = (
        "## turn\n```python\n## turn\nx = 1\n```\n"
        "## turn\n~~~~\n```\n## turn when: x\n~~~\n~~~~\n"
        "## turn\nlast\n"
    )
    said = await play(script, "a", "b", "c")
    assert said == [
        "```python\n## turn\nx = 1\n```",
        "~~~~\n```\n## turn when: x\n~~~\n~~~~",
        "last",
    ]


async def test_an_open_fence_may_end_the_script(play):
    assert await play("## turn\n```python\nprint(1)\n", "a") == ["```python\nprint(1)"]


async def test_other_headings_are_text(play):
    assert await play("## turn\n## turning\n# turn\n", "a") == ["## turning\n# turn"]


async def test_a_script_that_is_used_up_names_its_file(play):
    with pytest.raises(ModelError, match=r"t_1\.md is used up"):
        await play("## turn\none\n## turn when: never\ntwo\n", "a", "b")


async def test_an_empty_turn_is_an_empty_reply(play):
    assert await play("## turn\n\n## turn\nnext\n", "a", "b") == ["", "next"]


@pytest.mark.parametrize(
    ("script", "line", "words"),
    [
        ("## turn\none\n## turn if: x\n", 3, "## turn when: REGEX"),
        ("## Turn\n", 1, "## turn when: REGEX"),
        ("## turn when:\n", 1, "## turn when: REGEX"),
        ("\n## turn when: (\n", 2, "not a regular expression"),
    ],
)
def test_a_malformed_script_is_named_with_the_line(tmp_path, script, line, words):
    path = write(tmp_path / "t.md", script)
    with pytest.raises(BadFile) as caught:
        read_turns(path)
    assert str(caught.value).startswith(f"{path}, line {line}: ")
    assert words in str(caught.value)


def test_a_script_without_turns_is_no_script(tmp_path):
    with pytest.raises(BadFile, match="has no turn"):
        read_turns(write(tmp_path / "t.md", "Just words.\n"))


async def test_always_turns_need_a_pattern(play):
    with pytest.raises(BadFile, match=r"always\.md.*needs a pattern"):
        await play("## turn\none\n", "a", always="## turn\nalways\n")


async def test_a_script_counts_no_tokens_and_costs_nothing_known(tmp_path):
    write(tmp_path / "p" / "t_1.md", "## turn\none\n")
    model = Models().resolve(f"scripted:{tmp_path / 'p'}").for_episode(TASK, 0)
    reply = await model.complete([Message(role="user", content="go")])
    assert (reply.usage, reply.cost_usd, reply.finish_reason) == (None, None, "stop")


async def test_each_episode_begins_at_the_first_turn(tmp_path):
    write(tmp_path / "p" / "t_1.md", "## turn\none\n## turn\ntwo\n")
    source = Models().resolve(f"scripted:{tmp_path / 'p'}")
    go = [Message(role="user", content="go")]
    assert [(await source.for_episode(TASK, 0).complete(go)).text for _ in range(2)] == ["one"] * 2


def test_a_bundled_persona_is_found_in_each_benchmark(tmp_path):
    write(tmp_path / "one" / "careful" / "a_1.md", "## turn\none\n")
    write(tmp_path / "two" / "careful" / "t_1.md", "## turn\ntwo\n")
    models = Models(personas=[tmp_path / "one", tmp_path / "two", tmp_path / "missing"])
    source: ModelSource = models.resolve("scripted:careful")
    assert source.for_episode(TASK, 0).name == source.name == "scripted:careful"
    assert source.describe()["name"] == "scripted:careful"
    assert source.secrets() == ()


def test_an_edited_script_is_another_model(tmp_path):
    write(tmp_path / "p" / "t_1.md", "## turn\none\n")
    source = Models().resolve(f"scripted:{tmp_path / 'p'}")
    before = source.describe()
    assert source.describe() == before
    write(tmp_path / "p" / "t_1.md", "## turn\ntwo\n")
    assert source.describe() != before


def test_a_folder_that_ends_like_a_script_is_none(tmp_path):
    write(tmp_path / "mine" / "t_1.md", "## turn\none\n")
    source = Models().resolve(f"scripted:{tmp_path / 'mine'}")
    described = source.describe()
    (tmp_path / "mine" / "notes.md").mkdir()
    assert source.describe() == described


def test_an_unknown_persona_is_answered_with_the_nearest(tmp_path):
    write(tmp_path / "careful" / "t_1.md", "## turn\none\n")
    with pytest.raises(UnknownName, match=r"'carefull'.*Nearest: careful.*scripted:\./FOLDER"):
        Models(personas=[tmp_path]).resolve("scripted:carefull")


def test_a_task_without_a_script_names_the_file_to_write(tmp_path):
    write(tmp_path / "careful" / "t_1.md", "## turn\none\n")
    source = Models(personas=[tmp_path]).resolve("scripted:careful")
    with pytest.raises(UsageError) as caught:
        source.for_episode(TASK.model_copy(update={"id": "t_2"}), 0)
    assert str(tmp_path / "careful" / "t_2.md") in str(caught.value)
