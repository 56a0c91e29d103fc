"""Chat models that say what files hold: demonstrations and tests without an endpoint."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from runtime.contracts import Json, Message, Reply, Task
from runtime.errors import BadFile, ModelError, UnknownName, UsageError
from runtime.models.script import Turn, read_turns

__all__ = ["ScriptedModel", "ScriptedSource", "persona_folders", "persona_names"]

ALWAYS = "always.md"
LAST = "{{last}}"


class ScriptedSource:
    """A persona: one folder or several (one a benchmark) of `TASK_ID.md` files."""

    def __init__(self, name: str, folders: Sequence[Path]) -> None:
        self._name = name
        self._folders = tuple(folders)

    @property
    def name(self) -> str:
        """The name on the command line."""
        return self._name

    def describe(self) -> dict[str, Json]:
        """Return the name and a hash of the scripts: an edited script is another model."""
        digest = hashlib.sha256()
        for path in (path for folder in self._folders for path in sorted(folder.glob("*.md"))):
            if path.is_file():
                digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
        return {"name": self.name, "sha256": digest.hexdigest()}

    def secrets(self) -> tuple[str, ...]:
        """Return nothing."""
        return ()

    def for_episode(self, task: Task, seed: int) -> ScriptedModel:  # noqa: ARG002 - protocol
        """Read the task's script. Raises `UsageError` naming the file if there is none."""
        wanted = [folder / f"{task.id}.md" for folder in self._folders]
        path = next((path for path in wanted if path.is_file()), None)
        if path is None:
            expected = " or ".join(str(path) for path in wanted)
            raise UsageError(
                f"{self.name} has no script for the task {task.id!r}: write {expected}, or choose "
                "tasks that it knows (docs/models.md says what a script looks like)."
            )
        always = path.with_name(ALWAYS)
        return ScriptedModel(
            self.name, path, read_turns(path), _read_always(always) if always.is_file() else ()
        )

    async def close(self) -> None:
        """Do nothing."""


class ScriptedModel:
    """A script for one episode.

    Each completion goes on from the current position to the next turn that has no pattern or whose
    pattern matches the last user message; the turns passed over are gone. Before that, the first
    `always` turn that matches answers, and the position stays.
    """

    def __init__(
        self, name: str, path: Path, turns: Sequence[Turn], always: Sequence[Turn] = ()
    ) -> None:
        self._name = name
        self._path = path
        self._turns = tuple(turns)
        self._always = tuple(always)
        self._position = 0

    @property
    def name(self) -> str:
        """The name on the command line."""
        return self._name

    async def complete(self, messages: Sequence[Message]) -> Reply:
        """Say the next turn. Raises `ModelError` where the script has none left.

        The usage is None: a script has no tokens, and a made-up count would end up in a report.
        """
        observation = _last(messages, "user") or ""
        turn = self._next(observation)
        return Reply(text=self._filled(turn.text, messages), served_model=self._name)

    def _next(self, observation: str) -> Turn:
        for turn in self._always:
            if turn.suits(observation):
                return turn
        while self._position < len(self._turns):
            turn = self._turns[self._position]
            self._position += 1
            if turn.suits(observation):
                return turn
        raise ModelError(
            f"The script {self._path} is used up: none of its {len(self._turns)} turns is left to "
            "answer with. Add one, or end its last cell with what finishes the task."
        )

    def _filled(self, text: str, messages: Sequence[Message]) -> str:
        if LAST not in text:
            return text
        last = _last(messages, "assistant")
        if last is None:
            raise ModelError(f"{self._path.parent} repeats the last reply before there is one.")
        return text.replace(LAST, last)


def persona_names(roots: Iterable[Path]) -> tuple[str, ...]:
    """Return the personas in folders of persona folders, sorted."""
    folders = (folder for root in roots if root.is_dir() for folder in root.iterdir())
    return tuple(sorted({folder.name for folder in folders if any(folder.glob("*.md"))}))


def persona_folders(persona: str, roots: Iterable[Path]) -> tuple[Path, ...]:
    """Return the folders of a persona: bundled ones by name, else a path on disk.

    Raises `UnknownName` with the nearest bundled names.
    """
    roots = tuple(roots)
    names = persona_names(roots)
    if persona in names:
        return tuple(root / persona for root in roots if (root / persona).is_dir())
    path = Path(persona).expanduser()
    if persona and path.is_dir():
        return (path,)
    raise UnknownName(
        "persona", persona, names, "A persona of your own is given as its folder: scripted:./FOLDER"
    )


def _read_always(path: Path) -> tuple[Turn, ...]:
    turns = read_turns(path)
    if any(turn.when is None for turn in turns):
        raise BadFile(path, "each turn here needs a pattern (`## turn when: REGEX`)")
    return turns


def _last(messages: Sequence[Message], role: str) -> str | None:
    return next((each.content for each in reversed(messages) if each.role == role), None)
