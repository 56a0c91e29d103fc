"""ARE's judge over a chat model of ours: what it asks, what its answers mean, how it fails."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest
from gaia2_worlds import BOOK, TELL, run, small_setup, task

from adapters.gaia2.benchmark import Gaia2
from adapters.gaia2.judge import Judge
from runtime.contracts import AllowGate, Limits, Message, Reply, Usage
from runtime.errors import ModelError, WorldError


class Answers:
    """A model that answers as told."""

    name = "judging-model"

    def __init__(self, answer: Callable[[], str]) -> None:
        self.answer = answer
        self.questions: list[Sequence[Message]] = []

    async def complete(self, messages: Sequence[Message]) -> Reply:
        self.questions.append(messages)
        return Reply(text=self.answer(), usage=Usage(input=10, output=2), cost_usd=0.5)


def broken() -> str:
    raise ModelError("the endpoint is dead")


@pytest.fixture(scope="module")
async def judged(
    gaia2_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[Gaia2, Answers]]:
    answers = Answers(broken)
    setup = small_setup(gaia2_python, tmp_path_factory.mktemp("judged"), scripted=False)
    async with Gaia2(setup, judge=answers) as gaia2:
        yield gaia2, answers


@pytest.mark.parametrize(
    ("verdict", "passed"), [("[[Success]] [[True]]", True), ("[[Failure]] [[False]]", False)]
)
async def test_the_models_verdict_on_a_soft_argument_decides(
    judged: tuple[Gaia2, Answers], verdict: str, passed: bool
) -> None:
    gaia2, answers = judged
    answers.answer = lambda: verdict
    answers.questions.clear()
    world = await gaia2.open(task(gaia2, "search"), AllowGate(), Limits())
    await run(world, TELL.format("The number on it is INV-44, I think."))
    assert (await world.evaluate()).passed is passed
    asked = [message.content for question in answers.questions for message in question]
    assert any("INV-44, I think" in content for content in asked)
    assert world.judge is not None
    assert world.judge.questions == len(answers.questions)
    assert world.judge.usage.input == 10 * len(answers.questions)
    assert world.judge.cost_usd == 0.5 * len(answers.questions)
    await world.close()


@pytest.mark.parametrize(
    ("verdict", "passed"),
    [
        ("[[TRUE]] [[SUCCESS]]", True),
        ("It matches.\n[[ True ]] [[ Success ]]", True),
        ("[[false]] [[failure]]", False),
    ],
)
async def test_a_verdict_counts_however_its_marker_is_spelt(
    judged: tuple[Gaia2, Answers], verdict: str, passed: bool
) -> None:
    gaia2, answers = judged
    answers.answer = lambda: verdict
    world = await gaia2.open(task(gaia2, "search"), AllowGate(), Limits())
    await run(world, TELL.format("The number on it is INV-44, I think."))
    assert (await world.evaluate()).passed is passed
    await world.close()


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, I can't help with that.",
        "**True**",
        "Either [[True]] or [[False]], either [[Success]] or [[Failure]].",
    ],
)
async def test_a_judge_that_gives_no_verdict_is_an_error_never_a_failure(
    judged: tuple[Gaia2, Answers], answer: str
) -> None:
    gaia2, answers = judged
    answers.answer = lambda: answer
    world = await gaia2.open(task(gaia2, "search"), AllowGate(), Limits())
    await run(world, TELL.format("The number on it is INV-44, I think."))
    with pytest.raises(WorldError, match=rf"no verdict(.|\n)*{re.escape(answer)}"):
        await world.evaluate()
    await world.close()


RULES = {"role": "system", "content": "Say [[True]] if they match, [[False]] otherwise."}


async def test_a_model_without_a_verdict_is_asked_once_more() -> None:
    replies = iter(["They match.", "[[True]]"])
    answers = Answers(lambda: next(replies))
    judge = Judge(answers)
    assert await judge.answer([RULES, {"role": "user", "content": "..."}]) == "[[True]]"
    assert judge.questions == 2
    assert judge.usage.input == 20
    assert [message.content for message in answers.questions[1][2:]] == [
        "They match.",
        "Answer with your verdict only: [[True]] or [[False]].",
    ]


async def test_a_question_for_text_is_answered_as_the_model_says_it() -> None:
    """Such a question may quote an agent that writes verdicts itself."""
    judge = Judge(Answers(lambda: "<subtask>Book lunch.</subtask>"))
    quoted = {"role": "user", "content": "The agent wrote: [[True]] [[False]]"}
    rules = {"role": "system", "content": "Extract the subtask."}
    assert await judge.answer([rules, quoted]) == "<subtask>Book lunch.</subtask>"
    assert judge.questions == 1


async def test_equal_arguments_need_no_model(judged: tuple[Gaia2, Answers]) -> None:
    gaia2, answers = judged
    answers.answer = broken
    world = await gaia2.open(task(gaia2, "search"), AllowGate(), Limits())
    await run(world, TELL.format("INV-44"))
    assert (await world.evaluate()).passed
    await world.close()


@pytest.mark.parametrize("answer", [broken, lambda: "  "])
async def test_a_fault_of_the_judges_model_is_an_error_never_a_verdict(
    judged: tuple[Gaia2, Answers], answer: Callable[[], str]
) -> None:
    gaia2, answers = judged
    answers.answer = answer
    last = await gaia2.open(task(gaia2, "search"), AllowGate(), Limits())
    await run(last, TELL.format("It says INV-44"))
    with pytest.raises(WorldError, match="judging-model"):
        await last.evaluate()
    await last.close()
    early = await gaia2.open(task(gaia2, "execution"), AllowGate(), Limits())
    await run(early, BOOK.replace("Lunch at 12", "We eat at twelve"))
    with pytest.raises(WorldError, match="judging-model"):
        await early.execute(TELL.format("Done"))
    await early.close()


async def test_an_unknown_price_makes_the_sum_unknown() -> None:
    class Free(Answers):
        async def complete(self, messages: Sequence[Message]) -> Reply:
            return Reply(text="yes", cost_usd=None)

    judge = Judge(Free(broken))
    await judge.answer([{"role": "user", "content": "?"}])
    await judge.answer([{"role": "tool", "content": "?"}])
    assert judge.cost_usd is None
    assert judge.questions == 2
