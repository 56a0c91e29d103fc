"""The forms that a task-start block can have. A benchmark's prompt gets one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from injectors.cards import FunctionCard, SkillCard
from injectors.gaia2_block import gaia2_block
from injectors.profiles import MemorySettings
from injectors.task_start import appworld_block
from runtime.contracts import Injection

__all__ = ["BlockForm", "plain_form", "rtm_form"]


class BlockForm(Protocol):
    """Writes the block for cards in order of rank; no card, no text."""

    def __call__(
        self,
        skills: Sequence[SkillCard],
        functions: Sequence[FunctionCard],
        scores: Mapping[str, float],
        settings: MemorySettings,
    ) -> Injection:
        """`scores`: of the functions, by card id."""
        ...


def plain_form(
    skills: Sequence[SkillCard],
    functions: Sequence[FunctionCard],
    scores: Mapping[str, float],  # noqa: ARG001 - protocol
    settings: MemorySettings,
) -> Injection:
    """Write AppWorld's block, which suits any agent that writes code."""
    idiom, when = settings.render_code_idiom, settings.render_when
    return appworld_block(skills, functions, code_idiom=idiom, when=when)


def rtm_form(
    skills: Sequence[SkillCard],
    functions: Sequence[FunctionCard],
    scores: Mapping[str, float],
    settings: MemorySettings,
) -> Injection:
    """Write GAIA2's block, Runtime Skill and Function Memory."""
    return gaia2_block(skills, functions, scores=scores, reply_marker=settings.reply_marker)
