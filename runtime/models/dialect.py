"""What an endpoint turned out not to accept, and requests that take it into account.

A model that rejects the system role, or a parameter such as temperature, is asked again without
it; what was learnt holds for the life of the source, so that one episode pays for it, not each.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runtime.contracts import Json, Message
from runtime.models.config import ModelSettings
from runtime.models.failures import Failure

__all__ = ["Dialect", "Request", "merge_system"]

_LOG = logging.getLogger(__name__)
_OTHER_NAME = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}


@dataclass(frozen=True)
class Request:
    """One request as it is sent, model id aside."""

    messages: tuple[Message, ...]
    parameters: dict[str, Json]
    adaptations: tuple[str, ...] = ()
    """What of it is other than models.toml says."""

    @property
    def has_system(self) -> bool:
        """Whether a system message is among the messages."""
        return any(message.role == "system" for message in self.messages)


class Dialect:
    """The form in which one endpoint takes requests."""

    def __init__(self, name: str, settings: ModelSettings) -> None:
        self._name = name
        self._settings = settings
        self._takes_system = "system" in settings.roles
        self._rejected: set[str] = set()

    def request(self, messages: Sequence[Message], seed: int) -> Request:
        """Put a conversation into the endpoint's form."""
        form = tuple(messages) if self._takes_system else merge_system(messages)
        parameters = dict(self._settings.parameters)
        if self._settings.send_seed:
            parameters["seed"] = seed
        extra = parameters.pop("extra_body", None)
        if isinstance(extra, dict):
            parameters |= extra
        return Request(form, self._accepted(parameters), self._adaptations(messages, parameters))

    def learn(self, failure: Failure, request: Request) -> bool:
        """Take a rejection to heart; say whether the next request will differ from this one."""
        if request.has_system and failure.system_role_rejected:
            if self._takes_system:
                _LOG.warning(
                    "Model %s rejects system messages (%s): their text goes to the first user "
                    "message from now on. Set roles in models.toml to say so from the start.",
                    self._name,
                    failure.quoted,
                )
            self._takes_system = False
            return True
        name = failure.rejected_parameter(request.parameters)
        if name is None:
            return False
        if name not in self._rejected:
            _LOG.warning(
                "Model %s rejects the parameter %s (%s): it is %s from now on.",
                self._name,
                name,
                failure.quoted,
                self._instead(name),
            )
        self._rejected.add(name)
        return True

    def _adaptations(
        self, messages: Sequence[Message], parameters: Mapping[str, Json]
    ) -> tuple[str, ...]:
        learnt = "system" in self._settings.roles and not self._takes_system
        merged = learnt and any(message.role == "system" for message in messages)
        names = sorted(parameters.keys() & self._rejected)
        return (
            *(["system message merged into the first user message"] if merged else []),
            *(f"{name} {self._instead(name)}" for name in names),
        )

    def _instead(self, name: str) -> str:
        other = _OTHER_NAME.get(name)
        return "left out" if other is None or other in self._rejected else f"sent as {other}"

    def _accepted(self, parameters: Mapping[str, Json]) -> dict[str, Json]:
        accepted = {key: item for key, item in parameters.items() if key not in self._rejected}
        for name in parameters.keys() & self._rejected:
            other = _OTHER_NAME.get(name)
            if other is not None and other not in self._rejected:
                accepted.setdefault(other, parameters[name])
        return accepted


def merge_system(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Move the text of system messages to the front of the first user message."""
    system = [message.content for message in messages if message.role == "system"]
    rest = [message for message in messages if message.role != "system"]
    if not system:
        return tuple(rest)
    if rest and rest[0].role == "user":
        system.append(rest.pop(0).content)
    return (Message(role="user", content="\n\n".join(system)), *rest)
