"""From a name on the command line to the models it stands for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import ValidationError

from runtime.contracts import ModelSource
from runtime.errors import UnknownName, UsageError
from runtime.models.config import (
    FILE_NAME,
    Endpoint,
    ModelSettings,
    ModelsFile,
    Provider,
    find_models_file,
    read_models_file,
    required_key,
    user_models_file,
)
from runtime.models.recorded import RecordedSource
from runtime.models.scripted import ScriptedSource, persona_folders, persona_names
from runtime.models.throttle import Throttle

__all__ = ["Models"]

OPENAI_URL = "https://api.openai.com/v1"


class Models:
    """Resolves names, for one program run: what it hands out shares the limits of its providers.

    - `scripted:PERSONA` - a bundled persona or a folder of one's own;
    - `recorded:PATH` - a trace, or a folder that holds traces;
    - `openai:MODEL` - by OPENAI_API_KEY and, if set, OPENAI_BASE_URL;
    - any other name - a model of models.toml.
    """

    def __init__(
        self,
        *,
        models_file: Path | None = None,
        personas: Iterable[Path] = (),
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """`models_file`: instead of ./models.toml and the user's own; `personas`: folders that
        hold a folder a persona; `environ`: where keys are looked up.
        """
        if models_file is not None:
            read_models_file(models_file)  # a wrong one is named even if no model is from it
        self._given = models_file
        self._personas = tuple(personas)
        self._environ = environ
        self._throttles: dict[str, Throttle] = {}

    def resolve(self, name: str) -> ModelSource:
        """Return the source of a name.

        Raises `UnknownName`, `BadFile` or `UsageError` for what is not there, `NotReady` for a
        key that is not set.
        """
        scheme, colon, rest = name.partition(":")
        if colon and scheme == "scripted":
            return ScriptedSource(name, persona_folders(rest, self._personas))
        if colon and scheme == "recorded" and rest:
            return RecordedSource(name, Path(rest).expanduser())
        if colon and scheme == "openai" and rest:
            return self._served(self._by_environment(name, rest))
        return self._served(self._by_file(name))

    def names(self) -> tuple[str, ...]:
        """Return the names that are known without a path: models of the file, then personas."""
        file, _ = self._file()
        return (*file.models, *(f"scripted:{each}" for each in persona_names(self._personas)))

    def _by_environment(self, name: str, model: str) -> Endpoint:
        base_url = self._environ.get("OPENAI_BASE_URL", "").strip() or OPENAI_URL
        try:
            provider = Provider(base_url=base_url, api_key_env="OPENAI_API_KEY")
        except ValidationError as error:
            reason = error.errors()[0]["msg"].removeprefix("Value error, ")
            raise UsageError(f"OPENAI_BASE_URL: {reason}") from None
        return Endpoint(
            name=name,
            provider_name="openai:",
            provider=provider,
            settings=ModelSettings(model=model),
        )

    def _by_file(self, name: str) -> Endpoint:
        file, path = self._file()
        if name not in file.models:
            where = (
                f"Models are named in {path}."
                if path
                else f"There is no {FILE_NAME} yet: write ./{FILE_NAME} or {user_models_file()} "
                "(docs/models.md has an example), or use openai:MODEL."
            )
            raise UnknownName("model", name, (*self.names(), "openai:MODEL"), where)
        return file.endpoint(name)

    def _file(self) -> tuple[ModelsFile, Path | None]:
        path = find_models_file(self._given)
        return (read_models_file(path) if path else ModelsFile()), path

    def _served(self, endpoint: Endpoint) -> ModelSource:
        key = required_key(endpoint, self._environ)
        # Late, because the openai package takes about a second: `--help` must not wait for it.
        from runtime.models.openai import OpenAISource  # noqa: PLC0415

        throttle = self._throttles.setdefault(endpoint.provider_name, Throttle(endpoint.provider))
        return OpenAISource(endpoint, key, throttle)
