"""The opening messages of an AppWorld episode, from a template of ours or of the user.

A template is text with turns: a line `SYSTEM:`, `USER:` or `ASSISTANT:` begins one. Turns are
Jinja; they know `supervisor` (also as `main_user`) with `first_name`, `last_name`, `email` and
`phone_number`, and `instruction` (also as `input_str`). The last turn is the user's and holds one
of the lines in `ANCHORS`: a memory block goes right before it. Turns of one role that follow each
other become one message.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal, Self, cast

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from runtime.contracts import Message, Prompt, Task
from runtime.errors import BadFile

__all__ = ["ANCHORS", "Template"]

ANCHORS = (
    "Now write code for the actual task:",
    "Using these APIs, now generate code to solve the actual task:",
)
"""The line of our template, and the one of the benchmark's own."""
TURN = re.compile(r"^(SYSTEM|USER|ASSISTANT):[ \t]*$", re.MULTILINE)
Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True)
class Template:
    """A parsed template: (role, Jinja text) per message."""

    source: str
    turns: tuple[tuple[Role, str], ...]
    anchor: str

    @property
    def sha256(self) -> str:
        """The hash of all turns."""
        text = "\0".join(f"{role}\0{body}" for role, body in self.turns)
        return hashlib.sha256(text.encode()).hexdigest()

    @classmethod
    def bundled(cls) -> Self:
        """Return our own template."""
        own = files("adapters.appworld").joinpath("prompt.txt")
        return cls.parse(own.read_text("utf-8"), source="adapters/appworld/prompt.txt")

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a template of the user's. Raises `BadFile`."""
        try:
            text = path.read_text("utf-8")
        except FileNotFoundError:
            raise BadFile(path, "there is no such prompt template") from None
        except (OSError, UnicodeDecodeError) as error:
            raise BadFile(path, f"cannot be read as a prompt template ({error})") from None
        return cls.parse(text, source=str(path))

    @classmethod
    def parse(cls, text: str, *, source: str) -> Self:
        """Parse a template's text. Raises `BadFile` naming `source`."""
        first, *rest = TURN.split(text)
        if first.strip() or not rest:
            raise BadFile(source, "a template begins with a line `SYSTEM:` or `USER:`", 1)
        turns: list[tuple[Role, str]] = []
        for name, body in zip(rest[::2], rest[1::2], strict=True):
            role = cast("Role", name.lower())
            if turns and turns[-1][0] == role:
                turns[-1] = (role, f"{turns[-1][1]}\n\n{body.strip()}")
            else:
                turns.append((role, body.strip()))
        role, last = turns[-1]
        anchor = next((anchor for anchor in ANCHORS if anchor in last), None)
        if role != "user" or anchor is None:
            wanted = " or ".join(f"`{anchor}`" for anchor in ANCHORS)
            raise BadFile(source, f"the last turn must be the user's and hold the line {wanted}")
        template = cls(source=source, turns=tuple(turns), anchor=anchor)
        template.prompt(_SAMPLE)  # a wrong variable shows now, not in the middle of a run
        return template

    def prompt(self, task: Task) -> Prompt:
        """Return the messages for a task. Raises `BadFile` if a turn cannot be rendered."""
        environment = ImmutableSandboxedEnvironment(undefined=jinja2.StrictUndefined)
        values = {
            "supervisor": task.context,
            "main_user": task.context,
            "instruction": task.instruction,
            "input_str": task.instruction,
        }
        messages = []
        for role, body in self.turns:
            try:
                content = environment.from_string(body).render(values)
            except jinja2.TemplateError as error:
                line = getattr(error, "lineno", None)
                raise BadFile(self.source, f"the {role} turn: {error}", line) from None
            messages.append(Message(role=role, content=content))
        return Prompt(messages=tuple(messages), anchor=self.anchor)


_SAMPLE = Task(
    benchmark="appworld",
    id="sample_1",
    scenario_id="sample",
    dataset="none",
    instruction="-",
    context={"first_name": "-", "last_name": "-", "email": "-", "phone_number": "-"},
)
