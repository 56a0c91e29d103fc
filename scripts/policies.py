"""Turns settings of memory and gate into what an arm needs: a gate and an injector per episode."""

from __future__ import annotations

from pathlib import Path

from injectors.bank import Bank
from injectors.bank_files import load_bank
from injectors.forms import BlockForm
from injectors.gate.gate import VerifyBeforeWrite
from injectors.gate.settings import GateSettings
from injectors.memory_injector import MemoryInjector
from injectors.profiles import MemorySettings
from injectors.retrieve import Bm25Retriever
from injectors.seen import SeenCards
from runtime.batch import Policy
from runtime.catalogue import Catalogue
from runtime.contracts import Gate, Injector, Json, NoInjector, Task
from runtime.errors import UsageError

__all__ = ["describe", "memory_bank", "policy"]


def memory_bank(path: str | None, benchmark: str) -> Bank | None:
    """Load the bank at `path`, if any. Raises `BadFile`, `UsageError` for another benchmark's."""
    if path is None:
        return None
    bank = load_bank(Path(path))
    if bank.benchmark != benchmark:
        raise UsageError(
            f"{path} is a bank for {bank.benchmark}, this run is on {benchmark}: its cards name"
            f" functions that are not there. Name a bank for {benchmark}, or --memory none."
        )
    return bank


def describe(settings: MemorySettings, bank: Bank | None) -> dict[str, Json]:
    """Return the settings for a manifest: the bank by its content, not by where it lies."""
    described = settings.describe()
    described["memory_path"] = settings.memory
    described["memory"] = f"{Path(settings.memory or '').name}@{bank.hash[:16]}" if bank else None
    return described


def policy(
    settings: MemorySettings, bank: Bank | None, catalogue: Catalogue, form: BlockForm
) -> Policy:
    """Return what makes one episode's gate and injector. Both share what was shown already."""
    gate_settings = GateSettings(
        on=settings.gate, latch=settings.latch, risk_stop=settings.risk_stop
    )
    retriever = Bm25Retriever(bank) if bank is not None else None

    def make(task: Task) -> tuple[Gate, Injector]:
        seen = SeenCards()
        gate = VerifyBeforeWrite(
            catalogue, task, settings=gate_settings, bank=bank, seen=seen, cards=settings.cards
        )
        if bank is None:
            return gate, NoInjector()
        return gate, MemoryInjector(bank, settings, seen, retriever=retriever, form=form)

    return make
