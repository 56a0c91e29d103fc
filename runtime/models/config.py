"""models.toml: which models there are, where they are served, what they cost.

docs/models.md describes the file with an example.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

import platformdirs
from pydantic import (
    AfterValidator,
    Field,
    FiniteFloat,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails

from runtime.contracts import Json, Usage, Value
from runtime.errors import BadFile, NotReady, UnknownName
from runtime.masking import Masker
from runtime.models.toml_lines import line_given_up, line_of, line_of_syntax_error

__all__ = [
    "FILE_NAME",
    "Endpoint",
    "ModelSettings",
    "ModelsFile",
    "Prices",
    "Provider",
    "find_models_file",
    "read_models_file",
    "required_key",
    "user_models_file",
]

FILE_NAME = "models.toml"
OURS_TO_SET = frozenset({"model", "messages", "stream", "n"})
"""Body fields that the harness sets itself: one completion, in one piece."""

Price = Annotated[FiniteFloat, Field(ge=0)]

_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RANDOM_WORD = re.compile(r"(?=.*[0-9])(?=.*[a-z]).{20,}|[0-9a-fA-F]{32,}")
"""Keys whose prefix `Masker` does not know. Long names of variables are in capitals."""


def _http_address(address: str) -> str:
    example = "a base_url looks like http://127.0.0.1:8080/v1"
    if not (address.isascii() and address.isprintable()) or " " in address:
        raise ValueError(f"{example}, without spaces and in ASCII")
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{example} ({error})") from error
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0:
        raise ValueError(example)
    if parts.username or parts.password:
        raise ValueError("no password in base_url: put the key in a variable, see api_key_env")
    if parts.query or parts.fragment:
        raise ValueError(f"{example}, without ? and #: /chat/completions is added to its end")
    return address.rstrip("/")


def _variable_name(name: str) -> str:
    """Refuse what is no name, and a pasted key: errors quote the name of a variable that is not
    set. The message leaves the value out for the same reason.
    """
    like_a_key = _RANDOM_WORD.fullmatch(name) or Masker().mask_text(name) != name
    if like_a_key or not _VARIABLE_NAME.fullmatch(name):
        raise ValueError(
            "this is no name of an environment variable, such as LAB_KEY, or looks like a key; "
            "the key itself goes into the variable, never into this file"
        )
    return name


BaseUrl = Annotated[str, AfterValidator(_http_address)]
VariableName = Annotated[str, AfterValidator(_variable_name)]


class Prices(Value):
    """US dollars per million tokens. None: unknown, which is not the same as free."""

    input: Price | None = None
    cached: Price | None = None
    """For the part of the input that the provider read from its cache."""
    output: Price | None = None

    def cost(self, usage: Usage | None) -> float | None:
        """Return the cost of `usage` in dollars; None where a price or the usage is unknown."""
        if usage is None:
            return None
        parts = (
            (usage.input - usage.cached, self.input),
            (usage.cached, self.cached),
            (usage.output, self.output),
        )
        total = 0.0
        for tokens, price in parts:
            if tokens and price is None:
                return None
            total += tokens * (price or 0.0)
        return None if self == Prices() else total / 1_000_000


class Provider(Value):
    """An endpoint and its limits, which all models and arms on it share."""

    base_url: BaseUrl
    api_key_env: VariableName | None = None
    """Name of the environment variable that holds the key; None for a server that needs none."""
    requests_per_minute: Annotated[FiniteFloat, Field(gt=0)] | None = None
    concurrency: Annotated[int, Field(ge=1)] | None = None
    """Requests in flight at the same time."""


class ModelSettings(Value):
    """What is particular to one model."""

    model: Annotated[str, Field(min_length=1)]
    """The id that the endpoint knows."""
    parameters: dict[str, Json] = Field(default_factory=dict)
    """Sent as they are. `extra_body` is merged into the request, as the openai client does it."""
    roles: tuple[Literal["system", "user", "assistant"], ...] = ("system", "user", "assistant")
    """Without `system`, its text goes to the front of the first user message."""
    send_seed: bool = False
    """Whether the episode's seed is sent as the parameter `seed`."""
    prices: Prices = Prices()
    timeout_s: Annotated[FiniteFloat, Field(gt=0)] = 300.0
    """For one attempt, from sending to the last byte."""
    retries: Annotated[int, Field(ge=0, le=20)] = 5
    """Further attempts after a passing failure."""

    @model_validator(mode="after")
    def _parameters_are_ours_to_pass(self) -> Self:
        extra = self.parameters.get("extra_body", {})
        if not isinstance(extra, dict):
            raise ValueError("parameters.extra_body must be a table")  # noqa: TRY004 - pydantic's
        names = self.parameters.keys() | extra.keys()
        if taken := sorted(names & OURS_TO_SET):
            raise ValueError(f"parameters cannot hold {', '.join(taken)}: the harness sets it")
        if self.send_seed and "seed" in names:
            raise ValueError("either send_seed or a fixed parameters.seed, not both")
        if not {"user", "assistant"} <= set(self.roles):
            raise ValueError("roles must hold user and assistant")
        return self


class ModelEntry(ModelSettings):
    """A `[models.NAME]` table: settings, and a provider by name or spelt out."""

    provider: str | None = None
    base_url: BaseUrl | None = None
    api_key_env: VariableName | None = None
    requests_per_minute: Annotated[FiniteFloat, Field(gt=0)] | None = None
    concurrency: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _one_provider(self) -> Self:
        if (self.provider is None) == (self.base_url is None):
            raise ValueError("a model needs either provider or base_url")
        if self.provider is not None and self.model_fields_set & _OF_PROVIDER:
            given = ", ".join(sorted(self.model_fields_set & _OF_PROVIDER))
            raise ValueError(f"{given}: belongs into [providers.{self.provider}], which has it")
        return self


_OF_PROVIDER = frozenset(Provider.model_fields)


class Endpoint(Value):
    """A model of a file together with its provider."""

    name: str
    provider_name: str
    """Models with the same one share its limits."""
    provider: Provider
    settings: ModelSettings


class ModelsFile(Value):
    """The content of a models.toml."""

    providers: dict[str, Provider] = Field(default_factory=dict)
    models: dict[str, ModelEntry] = Field(default_factory=dict)

    def endpoint(self, name: str) -> Endpoint:
        """Return a model with its provider. Raises `KeyError` where there is no such model."""
        entry = self.models[name]
        fields = {key: getattr(entry, key) for key in ModelSettings.model_fields}
        if entry.provider is None:
            provider = Provider.model_validate({key: getattr(entry, key) for key in _OF_PROVIDER})
        else:
            provider = self.providers[entry.provider]
        return Endpoint(
            name=name,
            provider_name=entry.provider or f"models.{name}",
            provider=provider,
            settings=ModelSettings.model_validate(fields),
        )


def user_models_file() -> Path:
    """Return where the user's own models.toml is looked for."""
    return platformdirs.user_config_path("contramem") / FILE_NAME


def find_models_file(given: Path | None = None) -> Path | None:
    """Return the file to read: the given one, ./models.toml, or the user's; None if none exists."""
    if given is not None:
        return given
    return next((path for path in (Path(FILE_NAME), user_models_file()) if path.is_file()), None)


def read_models_file(path: Path) -> ModelsFile:
    """Read and validate a models.toml. Raises `BadFile` with the line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise BadFile(path, f"cannot be read: {reason}") from error
    try:
        file = ModelsFile.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise BadFile(path, f"not TOML: {error}", line_of_syntax_error(error, text)) from error
    except ValidationError as error:
        first = error.errors()[0]
        raise BadFile(path, _problem(first), line_of(text, first["loc"])) from error
    except (RecursionError, ValueError) as error:  # nested too deep; a number with too many digits
        raise BadFile(path, f"cannot be read: {error}", line_given_up(text)) from error
    for name, entry in file.models.items():
        if entry.provider is not None and entry.provider not in file.providers:
            where = ("models", name, "provider")
            problem = UnknownName("provider", entry.provider, file.providers)
            raise BadFile(path, f"{'.'.join(where)}: {problem}", line_of(text, where))
    return file


def required_key(endpoint: Endpoint, environ: Mapping[str, str]) -> str | None:
    """Return the endpoint's key, None if it needs none. Raises `NotReady` if it is not set."""
    variable = endpoint.provider.api_key_env
    if variable is None:
        return None
    key = environ.get(variable, "").strip()
    if not key:
        raise NotReady(
            f"The model {endpoint.name!r} needs a key, and the environment variable {variable} is "
            f"not set. Set it with: export {variable}=YOUR_KEY"
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise NotReady(
            f"The environment variable {variable} holds spaces or characters that no key has: "
            "copy the key into it again."
        )
    return key


def _problem(error: ErrorDetails) -> str:
    where = ".".join(str(part) for part in error["loc"])
    words = error["msg"].removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        words = "unknown key (what the endpoint should receive goes into `parameters`)"
    return f"{where}: {words}" if where else words
