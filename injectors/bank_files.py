"""A bank on disk: a folder that people can read, diff and edit while it is not frozen.

    manifest.json                       counts, hash, settings (docs/bank-format.md)
    functions/App.function.json         one file a card, keys in declared order
    skills/ABILITY/skill_HEX.json
    provenance/...                      where a card comes from, under the card's own path
    history.jsonl                       every edit, with the cards before and after

An edit is appended to the history first, then the files change, then the manifest counts it. So
after a kill at any point the bank is either as before or, with the logged edit, as after.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from injectors.bank import FUNCTIONS, Bank, BankSettings, Card, Placed
from injectors.cards import FunctionCard, SkillCard
from injectors.durable import append_line, cut_torn_line, write_atomically
from injectors.edits import Edit, apply
from runtime.contracts import Json, Value
from runtime.errors import BadFile, UsageError
from runtime.locking import locked

__all__ = ["BankFolder", "create_bank", "load_bank"]

SCHEMA = 1
MANIFEST = "manifest.json"
HISTORY = "history.jsonl"
PROVENANCE = "provenance"

S = TypeVar("S")
T = TypeVar("T")


class Manifest(Value):
    """What `manifest.json` holds."""

    schema_version: Literal[1] = Field(default=1, alias="schema")
    benchmark: str
    about: str = ""
    frozen: bool = False
    content_hash: str = ""
    """`Bank.hash`. Binding once the bank is frozen, informative before."""
    function_cards: int = 0
    skill_cards: dict[str, int] = Field(default_factory=dict)
    edits: int = 0
    """How many lines of the history are in the cards."""
    settings: BankSettings = BankSettings()
    seals: dict[str, str] = Field(default_factory=dict)
    """Of a frozen bank: each card's digest, so that a changed one can be named."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)


class BankFolder:
    """A bank on disk that is open for edits. One process edits at a time."""

    def __init__(self, path: Path) -> None:
        """Open an existing bank. Raises `BadFile`."""
        self.path = path
        self.bank = load_bank(path)
        self._edits = len(_history(path))

    def commit(self, edit: Edit) -> Bank:
        """Make an edit durable and return the new bank. Raises `UsageError`, `BadFile`."""
        with locked(self.path):
            self._only_editor()
            bank = apply(self.bank, edit)
            _settle(self.path, self.bank, self._edits)
            append_line(self.path / HISTORY, edit.model_dump_json())
            self._edits += 1
            _write_edit(self.path, edit)
            _write_manifest(self.path, bank, self._edits)
        self.bank = bank
        return bank

    def freeze(self) -> Bank:
        """Bind the bank to its content hash. A frozen bank stays as it is."""
        with locked(self.path):
            self._only_editor()
            bank = self.bank.sealed()
            _settle(self.path, self.bank, self._edits)
            _write_manifest(self.path, bank, self._edits)
        self.bank = bank
        return bank

    def history(self) -> tuple[Edit, ...]:
        """Return all edits, oldest first; `commit(history()[-1].reversed())` takes one back."""
        return _history(self.path)

    def _only_editor(self) -> None:
        now = load_bank(self.path)
        if now != self.bank:
            raise UsageError(f"{self.path} has been changed by someone else. Open it again.")


def create_bank(path: Path, bank: Bank) -> BankFolder:
    """Write a new bank. Raises `UsageError` if something is there already."""
    if path.exists():
        raise UsageError(f"{path} exists already. Choose a new folder, or remove it first.")
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    for placed in bank.cards.values():
        _write_card(draft, placed)
    _write_manifest(draft, bank, 0)
    draft.rename(path)
    return BankFolder(path)


def load_bank(path: Path) -> Bank:
    """Read and check a bank. Raises `BadFile` naming the file that is wrong, and why."""
    manifest = _read_manifest(path)
    cards: dict[str, Placed] = {}
    for placed in _read_cards(path):
        twin = cards.setdefault(placed.card.card_id, placed)
        if twin is not placed:
            raise BadFile(path / _card_path(placed), f"the card is in {_card_path(twin)} as well")
    bank = Bank(
        benchmark=manifest.benchmark, about=manifest.about, cards=cards, settings=manifest.settings
    )
    bank = _with_pending_edit(path, bank, manifest)
    try:
        bank.checked()
    except UsageError as error:
        raise BadFile(path, str(error)) from error
    if not manifest.frozen:
        return bank
    if bank.hash != manifest.content_hash:
        raise BadFile(path / MANIFEST, _broken_seal(bank, manifest))
    return bank.sealed()


def _with_pending_edit(path: Path, bank: Bank, manifest: Manifest) -> Bank:
    """Finish an edit that was logged but not counted: its writer was killed in between."""
    history = _history(path)
    if manifest.frozen or len(history) != manifest.edits + 1:
        return bank
    edit = history[-1]
    cards = {card_id: placed for card_id, placed in bank.cards.items() if card_id not in edit.after}
    cards |= {card_id: placed for card_id, placed in edit.after.items() if placed is not None}
    return Bank(
        benchmark=bank.benchmark, about=bank.about, cards=cards, settings=edit.settings_after
    )


def _broken_seal(bank: Bank, manifest: Manifest) -> str:
    now, then = bank.digests(), manifest.seals
    changed = sorted(key for key in {*now, *then} if now.get(key) != then.get(key))
    what = [
        f"{key} was {'added' if key not in then else 'edited' if key in now else 'lost'}"
        for key in changed
    ]
    return (
        f"the bank was changed after it was frozen: {'; '.join(what) or 'not in its cards'} "
        f"(content hash {bank.hash[:12]}, frozen as {manifest.content_hash[:12]}). Restore the "
        'files, or set "frozen" to false to go on with it as another bank.'
    )


def _read_manifest(path: Path) -> Manifest:
    file = path / MANIFEST
    if not file.is_file():
        raise BadFile(path, f"there is no bank here: a bank is a folder with a {MANIFEST}")
    data = _read_json(file)
    schema = data.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise BadFile(
            file,
            f"the bank has schema {schema}, newer than the {SCHEMA} this version reads. "
            "Upgrade contramem.",
        )
    if schema != SCHEMA:
        raise BadFile(file, f'this is no manifest of ours: "schema" should be {SCHEMA}')
    return _validated(file, data, Manifest.model_validate)


def _read_cards(path: Path) -> Iterator[Placed]:
    for file in _json_files(path / FUNCTIONS):
        card = _validated(file, _read_json(file), FunctionCard.model_validate)
        yield _placed(path, file, FUNCTIONS, card)
    folder = path / "skills"
    for ability in sorted(folder.iterdir()) if folder.is_dir() else ():
        for file in _json_files(ability):
            skill = _validated(file, _read_json(file), SkillCard.model_validate)
            yield _placed(path, file, ability.name, skill)


def _placed(path: Path, file: Path, place: str, card: Card) -> Placed:
    beside = path / PROVENANCE / file.relative_to(path)
    provenance = _read_json(beside) if beside.exists() else {}
    parts = {"place": place, "card": card, "provenance": provenance}
    placed = _validated(file, parts, Placed.model_validate)
    wanted = path / _card_path(placed)
    if file != wanted:
        raise BadFile(file, f"holds {card.card_id}, which belongs in {wanted}")
    return placed


def _card_path(placed: Placed) -> Path:
    name = placed.card.card_id.partition("::")[2] + ".json"
    if placed.place == FUNCTIONS:
        return Path(FUNCTIONS, name)
    return Path("skills", placed.place, name)


def _json_files(folder: Path) -> list[Path]:
    """Cards of a folder; what starts with a dot is a write that a kill cut off."""
    files = folder.glob("*.json") if folder.is_dir() else ()
    return sorted(file for file in files if not file.name.startswith("."))


def _read_text(file: Path) -> str:
    if not file.is_file():
        raise BadFile(file, "is no regular file")  # a pipe would be waited for without end
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(file, f"cannot be read ({error})") from error


def _read_json(file: Path) -> dict[str, Json]:
    text = _read_text(file)
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadFile(file, f"is not JSON: {error.msg}", error.lineno) from error
    except (ValueError, RecursionError) as error:  # too many digits, nested too deep
        raise BadFile(file, f"cannot be read ({error})") from error
    if not isinstance(data, dict):
        raise BadFile(file, "should hold one JSON object")
    return data


def _validated(file: Path, data: S, validate: Callable[[S], T], line: int | None = None) -> T:
    try:
        return validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        problem = f"{where + ': ' if where else ''}{first['msg']}"
        raise BadFile(file, problem, line) from error


def _history(path: Path) -> tuple[Edit, ...]:
    file = path / HISTORY
    if not file.exists():
        return ()
    *whole, _torn = _read_text(file).split("\n")
    validate = Edit.model_validate_json
    return tuple(_validated(file, line, validate, n) for n, line in enumerate(whole, start=1))


def _settle(path: Path, bank: Bank, edits: int) -> None:
    """Bring the files to the state of `bank`: finish a logged edit, count what is there."""
    history = _history(path)
    if history and _read_manifest(path).edits + 1 == edits:
        _write_edit(path, history[-1])
    _write_manifest(path, bank, edits)
    cut_torn_line(path / HISTORY)


def _write_edit(path: Path, edit: Edit) -> None:
    """Write what comes before removing what goes: a kill leaves a card too many, never too few."""
    for placed in edit.after.values():
        if placed is not None:
            _write_card(path, placed)
    for card_id, placed in edit.after.items():
        was = edit.before.get(card_id)
        if placed is None and was is not None:
            (path / _card_path(was)).unlink(missing_ok=True)
            (path / PROVENANCE / _card_path(was)).unlink(missing_ok=True)


def _write_card(path: Path, placed: Placed) -> None:
    place = _card_path(placed)
    beside = path / PROVENANCE / place
    if placed.provenance:
        _write_json(beside, placed.provenance)
    else:
        beside.unlink(missing_ok=True)
    _write_json(path / place, placed.card)


def _write_manifest(path: Path, bank: Bank, edits: int) -> None:
    counts = bank.counts()
    manifest = Manifest(
        benchmark=bank.benchmark,
        about=bank.about,
        frozen=bank.frozen,
        content_hash=bank.hash,
        function_cards=counts.pop(FUNCTIONS),
        skill_cards=counts,
        edits=edits,
        settings=bank.settings,
        seals=bank.digests() if bank.frozen else {},
    )
    _write_json(path / MANIFEST, manifest)


def _write_json(file: Path, value: BaseModel | dict[str, Json]) -> None:
    data = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    write_atomically(file, json.dumps(data, indent=2, ensure_ascii=False) + "\n")
