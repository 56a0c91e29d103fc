"""Writes that a kill or a power cut leaves either undone or done."""

from __future__ import annotations

import os
from pathlib import Path

from runtime.errors import BadFile

__all__ = ["append_line", "cut_torn_line", "write_atomically"]


def write_atomically(file: Path, text: str) -> None:
    """Write a file beside its place, make it durable, rename it. Raises `BadFile`."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_name(f".{file.name}.{os.getpid()}")
        with draft.open("w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        draft.replace(file)
        _sync(file.parent)
    except OSError as error:
        raise BadFile(file, f"cannot be written ({error})") from error


def append_line(file: Path, line: str) -> None:
    """Append one line and make it durable. Raises `BadFile`."""
    try:
        with file.open("a", encoding="utf-8") as out:
            out.write(line + "\n")
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        raise BadFile(file, f"cannot be written ({error})") from error


def cut_torn_line(file: Path) -> None:
    """Remove a last line that a kill left without its end."""
    if not file.is_file():
        return
    text = file.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if whole != text:
        write_atomically(file, whole.decode("utf-8"))


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
