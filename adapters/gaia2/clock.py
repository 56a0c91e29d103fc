"""ARE's environment without its thread and without the wall clock. Runs in ARE's interpreter.

The stock environment ticks once a real second in a daemon thread. Here nothing happens by itself:
whoever drives the environment moves its clock, and every event due on the way is processed at its
own time. The same calls at the same simulated times give the same world, in milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from are.simulation.environment import Environment, EnvironmentConfig
from are.simulation.notification_system import VerboseNotificationSystem, VerbosityLevel
from are.simulation.time_manager import TimeManager
from are.simulation.types import EnvironmentState, EnvironmentType, Event, EventType

__all__ = ["SteppedEnvironment", "VirtualClock"]

FOREIGN = (EventType.ENV, EventType.USER)


class VirtualClock(TimeManager):  # type: ignore[misc]
    """A clock that moves by `add_offset` and never by itself. Times are seconds since the epoch."""

    def __init__(self) -> None:
        self.start_time = 0.0
        self.elapsed = 0.0
        self.is_paused = False

    def time(self) -> float:
        """Return the simulated time."""
        return self.start_time + self.elapsed

    def time_passed(self) -> float:
        """Return the seconds since the start."""
        return self.elapsed

    def real_time_passed(self) -> float:
        """Return the seconds since the start: there is no other time here."""
        return self.elapsed

    def reset(self, start_time: float | None = None) -> None:
        """Start again."""
        self.start_time, self.elapsed = start_time or 0.0, 0.0

    def pause(self) -> None:
        """Do nothing: it stands still anyway."""

    def resume(self) -> None:
        """Do nothing."""

    def add_offset(self, offset: float) -> None:
        """Move on by `offset` seconds. It never goes back."""
        self.elapsed += max(0.0, offset)

    def move_to(self, moment: float) -> None:
        """Move on to a moment; stay if it has passed."""
        self.elapsed = max(self.elapsed, moment - self.start_time)


class SteppedEnvironment(Environment):  # type: ignore[misc]
    """An environment whose time the caller moves.

    `on_event` is told every completed event once, at the moment it completes: a return value is a
    live object of the app, and later changes would show in it.
    """

    def __init__(self, start_time: float, on_event: Callable[[Any], None]) -> None:
        super().__init__(
            config=EnvironmentConfig(start_time=start_time),
            environment_type=EnvironmentType.CLI,
            notification_system=VerboseNotificationSystem(VerbosityLevel.MEDIUM),
        )
        self._on_event = on_event
        self.clock = self.time_manager = VirtualClock()
        self.clock.reset(self.start_time)
        self.notification_system.initialize(self.clock)

    @property
    def now(self) -> float:
        """The simulated time."""
        return self.clock.time()

    @property
    def running(self) -> bool:
        """Whether the scenario goes on. Once it does not, nothing may be executed any more."""
        return bool(self.state == EnvironmentState.RUNNING)

    def start(self, debug: bool = False) -> None:  # noqa: ARG002 - the base class's signature
        """Begin at the start time, without a thread."""
        if not self.running:
            self.state = EnvironmentState.RUNNING
            self.prepare_events_for_start()
            self.tick()

    def join(self) -> None:
        """Do nothing: there is no thread to wait for."""

    def add_to_log(self, events: Any) -> None:
        """Log events as the base class does, and tell of each one.

        A condition that was checked and did not hold is no event of the world. The turn's condition
        is checked once a second, and each check reads the whole log.
        """
        for event in events if isinstance(events, list) else [events]:
            if event.event_type is EventType.CONDITION and not event.metadata.return_value:
                continue
            super().add_to_log(event)
            self._on_event(event)

    def advance(self, seconds: float) -> None:
        """Move on by `seconds`, stopping at everything that is due on the way."""
        self._move_to(self.now + seconds, lambda: False)

    def advance_until(self, moment: float, reached: Callable[[], bool]) -> None:
        """Move on to `moment`, or to the first stop on the way at which `reached()` is true."""
        self._move_to(moment, reached)

    def _move_to(self, target: float, reached: Callable[[], bool]) -> None:
        end = float("inf") if self.duration is None else self.start_time + self.duration
        while self.running:
            stop = min(target, self.next_stop())
            if stop > end:
                self.clock.move_to(end)
                self.stop()
                return
            self.clock.move_to(stop)
            self.tick()
            if stop >= target or reached():
                return

    def next_stop(self) -> float:
        """Return when something is due next: an event, a condition to check or a reminder."""
        event = self.get_next_event_time()
        moments = [float("inf") if event is None else event, *self._reminders()]
        return max(self.now, min(moments))

    def foreign_events_due(self) -> list[float]:
        """Return the times of environment and user events that are scheduled but not delivered."""
        return [
            event.event_time
            for event in self.event_queue.list_view()
            if isinstance(event, Event) and event.event_type in FOREIGN
        ]

    def timers_due(self) -> list[float]:
        """Return the times of reminders that the agent has set and that are still to come."""
        return list(self._reminders())

    def _reminders(self) -> list[float]:
        app = self.notification_system.reminder_app
        if app is None:
            return []
        waiting = (item for item in app.reminders.values() if not item.already_notified)
        return [item.due_datetime.timestamp() for item in waiting]

    def messages_waiting(self) -> bool:
        """Tell whether a notification is due that has not been drained."""
        queue = self.notification_system.message_queue
        return bool(queue.has_new_messages(self._moment()))

    def drain(self) -> list[Any]:
        """Take the notifications that are due, in their order. Each is taken once."""
        taken = self.notification_system.message_queue.get_by_timestamp(self._moment())
        return list(taken)

    def wait_for_next_notification(self) -> None:
        """Jump to the next notification or to the time-out of the wait that the agent asked for."""
        app = self.notification_system.system_app
        timeout = app.wait_for_notification_timeout.timeout_timestamp
        try:
            if not self.messages_waiting():
                self.advance_until(timeout, self.messages_waiting)
        finally:
            app.reset_wait_for_notification_timeout()

    def _moment(self) -> datetime:
        return datetime.fromtimestamp(self.now, tz=UTC)
