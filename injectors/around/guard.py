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
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar, cast

from injectors.around.asking import Answer, Ask, Question, ask_later, ask_now
from injectors.around.audit import AuditLog
from injectors.around.tool_calls import ToolRequest, requests_of, tool_message
from injectors.around.tools import Tool, Toolbox, result_json
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
from runtime.contracts import CallResult, Json, Kind, Task
from runtime.errors import ContramemError, UnknownName, UsageError

__all__ = ["Guard", "WriteDenied", "WriteStopped"]

P = ParamSpec("P")
R = TypeVar("R")


class WriteStopped(ContramemError):
    """A write did not run: it is to be verified first. The text is the advisory as JSON."""

    def __init__(self, advisory: dict[str, Json]) -> None:
        self.advisory = advisory
        super().__init__(json.dumps(advisory, ensure_ascii=False))


class WriteDenied(ContramemError):
    """A write did not run and will not: a person said no, or an equal call is undecided."""

    def __init__(self, function: str, reason: str) -> None:
        self.function, self.reason = function, reason
        super().__init__(f"{function} was denied: {reason or 'no reason was given'}")


class UnfitCall(ContramemError, TypeError):
    """A call that no tool can take: an unknown name, or arguments that do not fit."""


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

    def answer(self, reply: object) -> list[dict[str, str]]:
        """Run the tool calls of one model reply and return their tool messages, in order.

        `reply`: an assistant message of the chat completions API, as a dict or an object, or its
        list of tool calls. A tool that raises is answered with its error. Raises `UsageError` for
        a tool that is async.
        """
        with self.turn():
            return [tool_message(request, self._answer(request)) for request in requests_of(reply)]

    async def answer_async(self, reply: object) -> list[dict[str, str]]:
        """Do the same in async code, for tools and hooks of either kind."""
        with self.turn():
            return [
                tool_message(request, await self._answer_async(request))
                for request in requests_of(reply)
            ]

    # --- one call

    def _run(self, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        try:
            ruling = self._admit(tool, args, kwargs)
        except WriteStopped as stopped:
            return self._stopped(stopped)
        return self._execute(tool, ruling, args, kwargs)

    async def _run_async(self, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        try:
            ruling = await self._admit_async(tool, args, kwargs)
        except WriteStopped as stopped:
            return self._stopped(stopped)
        return await self._execute_async(tool, ruling, args, kwargs)

    def _answer(self, request: ToolRequest) -> object:
        try:
            tool = self._tool_of(request)
            if tool.is_async:
                raise UsageError(f"{request.name} is async: use `await guard.answer_async(...)`.")
            ruling = self._admit(tool, (), dict(request.arguments))
        except (WriteStopped, WriteDenied, UnfitCall) as refusal:
            return _told(refusal)
        try:
            return self._execute(tool, ruling, (), dict(request.arguments))
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is its answer
            return {"error": f"{type(error).__name__}: {error}"}

    async def _answer_async(self, request: ToolRequest) -> object:
        try:
            tool = self._tool_of(request)
            ruling = await self._admit_async(tool, (), dict(request.arguments))
        except (WriteStopped, WriteDenied, UnfitCall) as refusal:
            return _told(refusal)
        try:
            if not tool.is_async:
                return self._execute(tool, ruling, (), dict(request.arguments))
            return await self._execute_async(tool, ruling, (), dict(request.arguments))
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is its answer
            return {"error": f"{type(error).__name__}: {error}"}

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
        return self._watch.rule(tool, self._watch.call(tool, arguments, now))

    @contextmanager
    def _asking(self, ruling: Ruling) -> Iterator[None]:
        """A hook that fails, or is cancelled, has not approved: the call is logged as refused."""
        try:
            yield
        except BaseException as error:
            self._watch.unanswered(ruling)
            detail = f"asking failed: {type(error).__name__}: {error}"
            self._audit.write(ruling.call, "refused", risks=ruling.risk_ids, detail=detail)
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
            self._watch.done(ruling, CallResult(ok=False, value=f"not made: {error}"))
            raise
        if ruling.advisory is not None:
            raise WriteStopped(ruling.advisory)
        if ruling.action == "refuse":
            raise WriteDenied(ruling.call.function, ruling.detail)
        return ruling

    def _execute(
        self, tool: Tool, ruling: Ruling, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:  # noqa: ANN401
        with self._noting_failure(ruling):
            value = tool.run(*args, **kwargs)
        self._watch.done(ruling, CallResult(ok=True, value=result_json(value)))
        return value

    async def _execute_async(
        self, tool: Tool, ruling: Ruling, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:  # noqa: ANN401
        with self._noting_failure(ruling):
            value = await tool.run(*args, **kwargs)
        self._watch.done(ruling, CallResult(ok=True, value=result_json(value)))
        return value

    @contextmanager
    def _noting_failure(self, ruling: Ruling) -> Iterator[None]:
        """Note a failure. A call that was cancelled keeps its outcome unknown."""
        try:
            yield
        except Exception as error:
            self._watch.done(ruling, CallResult(ok=False, value=f"{error}"))
            raise

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


def _told(refusal: ContramemError) -> object:
    """Return what a model is told of a call that was not made."""
    if isinstance(refusal, WriteStopped):
        return refusal.advisory
    if isinstance(refusal, WriteDenied):
        return {"executed": False, "denied": True, "reason": refusal.reason}
    return {"executed": False, "error": str(refusal)}
