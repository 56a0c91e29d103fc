"""VERIFY_BEFORE_WRITE around one's own functions.

    guard = Guard([search, pay], kinds={"search": "READ"}, audit="audit.jsonl")
    pay = guard.wrap(pay)                 # same signature, sync or async
    messages += guard.answer(reply)       # or: answer an OpenAI tool-call turn

The first time a write is made it does not run: a wrapped function raises `WriteStopped` with the
advisory (or returns its text, with `on_stop="return"`), a tool call is answered with it. Made again
unchanged, it runs.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar, cast

from injectors.around.asking import Answer, Ask, Question, ask_later, ask_now
from injectors.around.audit import AuditLog
from injectors.around.describe import result_json
from injectors.around.refusals import (
    UnfitCall,
    WriteDenied,
    WriteStopped,
    failed,
    not_made,
    words_of,
)
from injectors.around.running import (
    is_stream,
    leaves_open,
    read_out,
    read_out_later,
    run_later,
    run_now,
)
from injectors.around.tool_calls import Answers, ToolRequest, requests_of
from injectors.around.tools import Tool, Toolbox
from injectors.around.watch import Ruling, Watch
from injectors.bank import Bank
from injectors.gate.advisory import AdvisoryWriter
from injectors.gate.checklists import Checklists
from injectors.gate.memory import GateMemory
from injectors.gate.observed import Observed
from injectors.gate.render import masked
from injectors.gate.risks import RISKS, Risk
from injectors.gate.texts import AdvisoryText
from injectors.seen import SeenCards
from runtime.contracts import CallResult, Kind, Task, ToolCall
from runtime.errors import ContramemError, UnknownName, UsageError

__all__ = ["Guard", "UnfitCall", "WriteDenied", "WriteStopped"]

logger = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")


class Guard:
    """The gate of one agent's session. One guard per conversation."""

    def __init__(
        self,
        tools: Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]] = (),
        *,
        kinds: Mapping[str, Kind | str] | None = None,
        task: str = "",
        app: str = "tools",
        bank: Bank | None = None,
        seen: SeenCards | None = None,
        risks: Sequence[Risk] = RISKS,
        checklists: Mapping[str, Sequence[str]] | None = None,
        advisory_text: AdvisoryText | None = None,
        advisory_tokens: int = 700,
        ask: Ask | None = None,
        audit: Path | str | None = None,
        clock: Callable[[], float] | None = None,
        on_stop: Literal["raise", "return"] = "raise",
    ) -> None:
        """`kinds`: READ, WRITE or FINISH by tool name; a tool it does not name is a WRITE.

        `app`: cards and checklists know a tool as `app.name`. `ask`: approves or denies each
        confirmed write. `clock`: seconds since the epoch, for risks about the past. Raises
        `UsageError` for kinds or tools that do not fit together.
        """
        self._tools = Toolbox(tools, kinds or {}, app)
        if tools:
            self._tools.check_kinds()
        self._ask, self._clock, self._on_stop = ask, clock, on_stop
        self._audit = AuditLog(audit)
        own = Task(benchmark="own", id="own", scenario_id="own", dataset="own", instruction=task)
        self._observed = Observed(self._tools.catalogue, own)
        writer = AdvisoryWriter(
            self._tools.catalogue,
            GateMemory(bank, seen, own),
            checklists=Checklists(checklists),
            text=advisory_text or AdvisoryText(),
            cap=advisory_tokens,
        )
        self._watch = Watch(self._observed, writer, tuple(risks), asks=ask is not None)

    def wrap(self, function: Callable[P, R], *, name: str | None = None) -> Callable[P, R]:
        """Return the function under guard, with the same signature, sync or async."""
        tool = self._tools.add(function, name)
        if tool.is_async:

            @functools.wraps(function)
            async def guarded_async(*args: P.args, **kwargs: P.kwargs) -> Any:  # noqa: ANN401
                return await self._run_async(tool, args, kwargs)

            return cast("Callable[P, R]", guarded_async)

        @functools.wraps(function)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> Any:  # noqa: ANN401
            return self._run(tool, args, kwargs)

        return cast("Callable[P, R]", guarded)

    def turn(self) -> AbstractContextManager[None]:
        """Treat the calls inside as one turn: what is stopped in it cannot be confirmed in it."""
        return self._watch.turn()

    def observe(self, text: str) -> None:
        """Tell the guard what the agent was told besides tool results, such as a user's words."""
        self._watch.hear(text)

    def answer(self, reply: object, *, into: list[Any] | None = None) -> list[dict[str, str]]:
        """Run the tool calls of one model reply and return their tool messages, in order.

        `reply`: an assistant message of the chat completions API, as a dict or an object, or its
        list of tool calls. What a tool, a hook or the audit log raises is the answer of its call,
        and the others go on. `into`: the conversation, to which each message is added as soon as
        there is one, so that nothing done is unknown if the turn is interrupted. Raises
        `UsageError`, before any call, for a tool that is async.
        """
        requests = requests_of(reply)
        self._check_plain(requests)
        with self.turn(), Answers(requests, [] if into is None else into) as answers:
            for request in requests:
                answers.add(self._answer(request))
        return answers.messages

    async def answer_async(
        self, reply: object, *, into: list[Any] | None = None
    ) -> list[dict[str, str]]:
        """Do the same in async code, for tools and hooks of either kind."""
        requests = requests_of(reply)
        with self.turn(), Answers(requests, [] if into is None else into) as answers:
            for request in requests:
                answers.add(await self._answer_async(request))
        return answers.messages

    # --- one call

    def _run(self, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        try:
            ruling = self._admit(tool, args, kwargs)
        except WriteStopped as stopped:
            return self._stopped(stopped)
        with self._noting_failure(ruling):
            value = run_now(tool, args, kwargs)
        return self._noted(ruling, value)

    async def _run_async(self, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        try:
            ruling = await self._admit_async(tool, args, kwargs)
        except WriteStopped as stopped:
            return self._stopped(stopped)
        with self._noting_failure(ruling):
            value = await run_later(tool, args, kwargs)
        return self._noted(ruling, value)

    def _answer(self, request: ToolRequest) -> object:
        arguments = dict(request.arguments)
        try:
            tool = self._tool_of(request)
            ruling = self._admit(tool, (), arguments)
        except Exception as why:  # noqa: BLE001 - the reply's other calls may have been made
            return self._refused(request, why)
        try:
            with self._noting_failure(ruling):
                value = read_out(tool, run_now(tool, (), arguments))
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is its answer
            return failed(error)
        return self._noted(ruling, value)

    async def _answer_async(self, request: ToolRequest) -> object:
        arguments = dict(request.arguments)
        try:
            tool = self._tool_of(request)
            ruling = await self._admit_async(tool, (), arguments)
        except Exception as why:  # noqa: BLE001 - the reply's other calls may have been made
            return self._refused(request, why)
        try:
            with self._noting_failure(ruling):
                value = await read_out_later(await run_later(tool, (), arguments))
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is its answer
            return failed(error)
        return self._noted(ruling, value)

    def _check_plain(self, requests: Sequence[ToolRequest]) -> None:
        for request in requests:
            tool = self._tools.find(request.name)
            if tool is not None and tool.is_async:
                raise UsageError(f"{request.name} is async: use `await guard.answer_async(...)`.")

    def _tool_of(self, request: ToolRequest) -> Tool:
        problem = request.problem
        try:
            tool = self._tools.get(request.name)
        except UnknownName as unknown:
            problem = str(unknown)
        if problem:
            self._audit.write(self._watch.stray(request.name), "refused", detail=problem)
            raise UnfitCall(problem)
        return tool

    def _admit(self, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ruling:
        ruling = self._rule(tool, args, kwargs)
        if ruling.action != "ask" or self._ask is None:
            return self._conclude(ruling)
        with self._asking(ruling):
            answer = ask_now(self._ask, _question(ruling))
        return self._conclude(self._settled(ruling, answer))

    async def _admit_async(
        self, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Ruling:
        ruling = self._rule(tool, args, kwargs)
        if ruling.action != "ask" or self._ask is None:
            return self._conclude(ruling)
        with self._asking(ruling):
            answer = await ask_later(self._ask, _question(ruling))
        return self._conclude(self._settled(ruling, answer))

    def _rule(self, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ruling:
        try:
            arguments = tool.arguments(args, kwargs)
        except TypeError as error:
            self._audit.write(self._watch.stray(tool.name), "refused", detail=str(error))
            raise UnfitCall(f"{tool.name}: {error}") from error
        now = self._clock() if self._clock else None
        call = self._watch.call(tool, arguments, now)
        with self._refusing(call, "ruling failed"):
            return self._watch.rule(tool, call)

    @contextmanager
    def _refusing(self, call: ToolCall, what: str, risks: tuple[str, ...] = ()) -> Iterator[None]:
        """Log a call as refused that nothing was decided on. The first error is the one to tell."""
        try:
            yield
        except BaseException as error:
            try:
                self._audit.write(call, "refused", risks=risks, detail=f"{what}: {words_of(error)}")
            except ContramemError as unlogged:
                error.add_note(str(unlogged))
            raise

    @contextmanager
    def _asking(self, ruling: Ruling) -> Iterator[None]:
        """A hook that fails, or is cancelled, has not approved."""
        try:
            with self._refusing(ruling.call, "asking failed", ruling.risk_ids):
                yield
        except BaseException:
            self._watch.unanswered(ruling)
            raise

    def _settled(self, ruling: Ruling, answer: Answer) -> Ruling:
        word = "approved" if answer.approved else "denied"
        detail = f"{word}: {answer.reason}" if answer.reason else word
        return self._watch.settle(ruling, approved=answer.approved, detail=detail)

    def _conclude(self, ruling: Ruling) -> Ruling:
        """Write the one audit line of a call, then let it go on or raise what stopped it."""
        try:
            self._audit.write(
                ruling.call, ruling.reason, risks=ruling.risk_ids, detail=ruling.detail
            )
        except ContramemError as error:
            self._watch.not_made(ruling, f"not made: {error}")
            raise
        if ruling.advisory is not None:
            raise WriteStopped(ruling.advisory)
        if ruling.action == "refuse":
            raise WriteDenied(ruling.call.function, ruling.detail)
        return ruling

    @contextmanager
    def _noting_failure(self, ruling: Ruling) -> Iterator[None]:
        """Note a failure. A call that timed out or was cancelled keeps its outcome unknown."""
        try:
            yield
        except Exception as error:
            if not leaves_open(error):
                self._watch.done(ruling, CallResult(ok=False, value=words_of(error)))
            raise

    def _noted(self, ruling: Ruling, value: Any) -> Any:  # noqa: ANN401
        """Note a result, except one that only the caller can read."""
        if is_stream(value):
            self._watch.handed_on()
        else:
            self._watch.done(ruling, CallResult(ok=True, value=result_json(value)))
        return value

    def _refused(self, request: ToolRequest, why: Exception) -> object:
        if not isinstance(why, WriteStopped | WriteDenied | UnfitCall):
            logger.warning("%s was not made: %s", request.name, words_of(why), exc_info=why)
        return not_made(why)

    def _stopped(self, stopped: WriteStopped) -> str:
        if self._on_stop == "return":
            return str(stopped)
        raise stopped


def _question(ruling: Ruling) -> Question:
    return Question(
        function=ruling.call.function,
        arguments=masked(ruling.call.arguments),
        risks=tuple(risk.sentence for risk in ruling.risks),
    )
