"""From models, profiles and banks to arms: what each is called, and what it runs with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from injectors.bank import Bank
from injectors.profiles import MemorySettings, settings_for
from runtime.batch import Arm
from runtime.catalogue import Catalogue
from runtime.contracts import Benchmark, Json, ModelSource
from runtime.errors import UsageError
from runtime.names import told_apart
from runtime.runs import ArmManifest, file_name
from scripts.benchmarks import block_form, default_latch
from scripts.policies import describe, memory_bank, policy

__all__ = ["ArmSpec", "arm_specs"]


@dataclass(frozen=True)
class ArmSpec:
    """One arm before anything is started for it: a model under one setting."""

    name: str
    source: ModelSource
    settings: MemorySettings
    bank: Bank | None

    def manifest(self) -> ArmManifest:
        """Return what the run's manifest says of the arm."""
        settings = describe(self.settings, self.bank)
        return ArmManifest(name=self.name, model=self.source.describe(), settings=settings)

    def arm(self, folder: Path, benchmark: Benchmark, catalogue: Catalogue) -> Arm:
        """Return the arm of the run in `folder`."""
        return Arm(
            manifest=self.manifest(),
            source=self.source,
            benchmark=benchmark.for_arm(folder / self.name, self.name),
            policy=policy(self.settings, self.bank, catalogue, block_form(benchmark.name)),
        )


def arm_specs(
    sources: Sequence[ModelSource],
    profiles: Sequence[str],
    memories: Sequence[str],
    overrides: Mapping[str, Json],
    *,
    benchmark: str,
) -> list[ArmSpec]:
    """Return an arm for every model under every profile with every bank, `none` being one.

    Raises the `UsageError`s of names, settings and banks, and one for an arm that comes twice.
    """
    banks = dict(zip(memories, told_apart(memories), strict=True))
    specs: list[ArmSpec] = []
    models = zip(sources, _model_names(sources), strict=True)
    for (source, model), profile, memory in product(models, profiles, memories or (None,)):
        settings = settings_for(
            profile, {**overrides, "memory": memory}, latch=default_latch(benchmark)
        )
        labels = [profile] if len(profiles) > 1 else []
        if memory is not None and (len(memories) > 1 or settings.memory is not None):
            labels.append(banks[memory])
        name = _arm_name(model, labels)
        if any(name == spec.name for spec in specs):
            raise UsageError(
                f"Two arms would be called {name!r}: name each model, profile and bank once."
            )
        specs.append(ArmSpec(name, source, settings, memory_bank(settings.memory, benchmark)))
    return specs


def _model_names(sources: Sequence[ModelSource]) -> list[str]:
    """Return `scheme-last part` of each, with more parts where that is not enough."""
    schemes, paths = [], []
    for source in sources:
        scheme, colon, path = source.name.partition(":")
        schemes.append(f"{scheme}-" if colon else "")
        paths.append(path if colon else source.name.replace("/", "-"))
    return [scheme + name for scheme, name in zip(schemes, told_apart(paths), strict=True)]


def _arm_name(model: str, labels: Sequence[str]) -> str:
    name = "_with_".join((model, "_".join(labels))) if labels else model
    # the AppWorld engine takes a path with this word for a database in memory
    return file_name(name.replace("memory", "mem"))
