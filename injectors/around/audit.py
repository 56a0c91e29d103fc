"""The audit log: one JSON line for each call, with the one decision on it, before it executes."""

from __future__ import annotations

import json
import time
from pathlib import Path
from threading import Lock

from runtime.contracts import Json, ToolCall
from runtime.errors import TraceError
from runtime.masking import Masker

__all__ = ["AuditLog"]


class AuditLog:
    """Appends decisions to a file, secrets masked. Without a path it keeps nothing."""

    def __init__(self, path: Path | str | None) -> None:
        self._path = Path(path) if path is not None else None
        self._masker = Masker()
        self._lock = Lock()

    def write(
        self, call: ToolCall, decision: str, *, risks: tuple[str, ...] = (), detail: str = ""
    ) -> None:
        """Append one decision. Raises `TraceError` if it cannot be kept: then nothing may run.

        The file is opened anew for each line, so that a log that was moved away is not lost sight
        of and nothing is left open.
        """
        if self._path is None:
            return
        record: dict[str, Json] = {
            "n": call.n,
            "time": round(time.time(), 3),
            "function": call.function,
            "arguments": call.arguments,
            "kind": call.kind.value,
            "decision": decision,
            "risks": [*risks],
            "detail": detail,
        }
        with self._lock:
            line = json.dumps(self._masker.mask(record), ensure_ascii=False)
            try:
                with self._path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(line + "\n")
            except OSError as error:
                raise TraceError(
                    f"Cannot write the audit log {self._path}: {error}. The call was not made; "
                    "free space or pass another path, then make it again."
                ) from error
