"""One episode: a model and a world take turns until the task is closed or a limit is hit.

One step is one completion: ask the model, run the cell in its reply, show what came back. The
conversation only ever grows at its end, so a provider's prompt cache keeps working.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from runtime.cells import observation_message, read_reply
from runtime.contracts import (
    AllowGate,
    Benchmark,
    ChatModel,
    Gate,
    Injection,
    Injector,
    Limits,
    Message,
    NoInjector,
    Observation,
    Outcome,
    Reply,
    Task,
    World,
)
from runtime.errors import (
    ContextOverflow,
    EpisodeError,
    NotReady,
    RecordingEnds,
    TraceError,
    UsageError,
)
from runtime.masking import Masker
from runtime.recording import RecordingGate
from runtime.records import (
    CellRecord,
    EndRecord,
    ErrorRecord,
    Header,
    InjectionRecord,
    MessageRecord,
    ModelCallRecord,
    NotificationRecord,
    ObservationRecord,
    OutcomeRecord,
    Record,
    Timed,
)
from runtime.result import EpisodeResult, Progress, Provenance
from runtime.tally import Limit, LimitHit, Tally
from runtime.trace import TraceWriter

__all__ = ["EpisodeResult", "Progress", "Provenance", "run_episode"]

logger = logging.getLogger(__name__)
NEAR_END_STEPS = 5
"""Steps that are left when an injector may speak once more about the close."""


async def run_episode(
    benchmark: Benchmark,
    task: Task,
    model: ChatModel,
    *,
    trace: Path,
    gate: Gate | None = None,
    injector: Injector | None = None,
    limits: Limits | None = None,
    provenance: Provenance | None = None,
    masker: Masker | None = None,
    watch: Callable[[Progress], None] = lambda _progress: None,
) -> EpisodeResult:
    """Run one episode and write its trace to the file `trace`.

    Infrastructure errors end the episode as `errored`, in the trace and in the result. Raises
    `TraceError` if the trace cannot be written and `NotReady` or `UsageError` for what has to be
    mended before any episode can run. `masker` keeps secrets out of the trace: pass one that
    knows the provider's key, or to share what it learns.
    """
    masker = masker or Masker()
    limits = limits or Limits()
    with TraceWriter(trace, masker) as writer:
        episode = _Episode(
            benchmark=benchmark,
            task=task,
            model=model,
            gate=gate or AllowGate(),
            injector=injector or NoInjector(),
            limits=limits,
            provenance=provenance or Provenance(episode=trace.stem),
            writer=writer,
            masker=masker,
            watch=watch,
        )
        return await episode.run()


class _Episode:
    def __init__(
        self,
        *,
        benchmark: Benchmark,
        task: Task,
        model: ChatModel,
        gate: Gate,
        injector: Injector,
        limits: Limits,
        provenance: Provenance,
        writer: TraceWriter,
        masker: Masker,
        watch: Callable[[Progress], None],
    ) -> None:
        self._benchmark, self._task, self._model = benchmark, task, model
        self._gate = RecordingGate(gate, self._write)
        self._injector, self._limits, self._provenance = injector, limits, provenance
        self._writer, self._masker, self._watch = writer, masker, watch
        self._tally = Tally()
        self._messages: list[Message] = []
        self._near_end_said = False
        self._header_written = False

    async def run(self) -> EpisodeResult:
        limit: Limit | None = None
        outcome: Outcome | None = None
        error = ""
        world: World | None = None
        try:
            self._say("open")
            world = await self._benchmark.open(self._task, self._gate, self._limits)
            self._open_trace(world)
            try:
                await self._loop(world)
            except LimitHit as hit:
                limit = hit.limit
                if hit.words:
                    self._write(ErrorRecord(error=f"limit: {limit}", message=hit.words))
            self._say("evaluate")
            outcome = await world.evaluate()
            self._write(OutcomeRecord.model_validate(outcome.model_dump()))
        except (TraceError, UsageError, NotReady):
            raise
        except Exception as failure:
            if not isinstance(failure, EpisodeError):
                logger.exception("%s failed", self._provenance.episode)
            error = self._masker.mask_text(f"{failure}" or type(failure).__name__)
            self._fail(failure, error)
        finally:
            if world is not None:
                await world.close()
        return self._finish(outcome, limit, error)

    async def _loop(self, world: World) -> None:
        while True:
            self._tally.check(self._limits)
            self._tally.steps += 1
            self._say("model")
            turn = read_reply(reply := await self._ask())
            await world.thought(reply.latency_s)
            self._add("assistant", turn.said)
            if turn.source is None:
                self._add("user", turn.complaint)
                continue
            self._say("cell")
            observation = await self._execute(world, turn.source)
            self._show(turn.source, observation)
            if observation.done:
                return

    async def _ask(self) -> Reply:
        """Complete the conversation within what is left of the wall time."""
        left = self._limits.wall_s - self._tally.wall_s()
        try:
            async with asyncio.timeout(left) as scope:
                reply = await self._model.complete(tuple(self._messages))
        except TimeoutError:
            if not scope.expired():
                raise
            raise LimitHit("wall", "The model was still answering.") from None
        except ContextOverflow as overflow:
            raise LimitHit("context", str(overflow)) from None
        except RecordingEnds as end:
            raise LimitHit(end.limit) from None
        if reply.masked:
            reply = reply.model_copy(update={"text": self._masker.reveal(reply.text)})
        self._tally.add(reply)
        self._write(ModelCallRecord.of(self._tally.steps, reply))
        return reply

    async def _execute(self, world: World, source: str) -> Observation:
        self._tally.cells += 1
        self._write(CellRecord(cell=self._tally.cells, source=source))
        left = max(1.0, self._limits.wall_s - self._tally.wall_s())
        observation = await world.execute(source, seconds=left)
        self._tally.idle_cells += not self._gate.calls_of_cell
        self._write(ObservationRecord.of(self._tally.cells, observation))
        return observation

    def _show(self, source: str, observation: Observation) -> None:
        """Add the observation, with what memory has to say to it, to the conversation."""
        for text in observation.notifications:
            self._write(NotificationRecord(text=text))
            self._gate.observe(text)
        injected = [
            self._inject("after_cell", self._injector.after_cell(source, self._gate.calls_of_cell))
        ]
        if self._limits.steps - self._tally.steps <= NEAR_END_STEPS and not self._near_end_said:
            self._near_end_said = True
            injected.append(self._inject("near_end", self._injector.near_end()))
        memory = "\n\n".join(text for text in injected if text)
        self._add("user", observation_message(observation, self._limits.observation_chars, memory))

    def _open_trace(self, world: World) -> None:
        prompt = self._benchmark.prompt(self._task)
        injection = self._injector.task_start(self._task)
        messages = prompt.with_block(injection.text)
        text = "\0".join(f"{message.role}\0{message.content}" for message in messages)
        sound = text.encode("utf-8", "backslashreplace")
        self._write_header(world.lockdown, hashlib.sha256(sound).hexdigest())
        self._inject("task_start", injection)
        for message in messages:
            self._add(message.role, message.content)

    def _write_header(self, lockdown: str, prompt_sha256: str) -> None:
        provenance = self._provenance
        self._header_written = True
        self._write(
            Header(
                episode=provenance.episode,
                task=self._task,
                seed=provenance.seed,
                model={"name": self._model.name, **provenance.model},
                arm=provenance.arm,
                limits=self._limits,
                prompt_sha256=prompt_sha256,
                versions={"contramem": version("contramem"), **self._benchmark.versions()},
                lockdown=lockdown,
                judge=provenance.judge,
                parent=provenance.parent,
            )
        )

    def _inject(
        self, point: Literal["task_start", "after_cell", "near_end"], injection: Injection
    ) -> str:
        if injection.text:
            self._tally.memory_tokens += injection.tokens
            self._write(
                InjectionRecord(
                    point=point,
                    cards=injection.cards,
                    tokens=injection.tokens,
                    text=injection.text,
                )
            )
        return injection.text

    def _fail(self, failure: Exception, error: str) -> None:
        if not self._header_written:
            self._write_header("", "")
        self._write(ErrorRecord(error=type(failure).__name__, message=error))

    def _finish(self, outcome: Outcome | None, limit: Limit | None, error: str) -> EpisodeResult:
        tally = self._tally
        passed = outcome is not None and outcome.passed
        status: Literal["passed", "failed", "errored"] = "passed" if passed else "failed"
        end = EndRecord(
            status="errored" if error else status,
            limit=limit,
            steps=tally.steps,
            calls=self._gate.calls,
            events=self._gate.executed + tally.idle_cells,
            usage=tally.usage,
            memory_tokens=tally.memory_tokens + self._gate.advisory_tokens,
            cost_usd=tally.cost_usd,
            judge_cost_usd=outcome.judge_cost_usd if outcome is not None else None,
            wall_s=round(tally.wall_s(), 3),
        )
        self._write(end)
        self._writer.finish()
        return EpisodeResult(
            status=end.status,
            limit=limit,
            outcome=outcome,
            end=end,
            error=error,
            trace=self._writer.path,
        )

    def _add(self, role: Literal["system", "user", "assistant"], content: str) -> None:
        self._messages.append(Message(role=role, content=content))
        self._write(MessageRecord(role=role, content=content))

    def _write(self, record: Record) -> None:
        if isinstance(record, Timed):
            record = record.model_copy(update={"t": round(self._tally.wall_s(), 4)})
        self._writer.write(record)

    def _say(self, doing: Literal["open", "model", "cell", "evaluate"]) -> None:
        self._watch(
            Progress(
                step=self._tally.steps,
                calls=self._gate.calls,
                usage=self._tally.usage,
                cost_usd=self._tally.cost_usd,
                doing=doing,
            )
        )
