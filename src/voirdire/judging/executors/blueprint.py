"""What travels to another process so that the same plan and judges can be made there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.judging.grid import Grid
from voirdire.judging.images import ImageFacts, ImageStore
from voirdire.judging.limits import Limits
from voirdire.judging.material import Material
from voirdire.judging.nouns import ImagePart, Judge, JudgeSpec, Prompt
from voirdire.judging.plan import Plan
from voirdire.judging.providers.capability import Price
from voirdire.judging.providers.catalog import provider_entry
from voirdire.judging.providers.kit import Kit
from voirdire.judging.providers.make import make_judge
from voirdire.judging.runner import Tariff

if TYPE_CHECKING:
    from voirdire.judging.steps import Cell

SETTINGS = ("max_bytes", "max_pixels", "resize", "cache_bytes")


@dataclass(frozen=True, slots=True)
class Blueprint:
    """A plan, its judges and their limits, without keys.

    images : settings of the image store; facts : what the driver knows of the images, so that a file which is another
        one on another machine is noticed
    limits, prices : by judge
    """

    material: Material
    grid: Grid
    specs: tuple[JudgeSpec, ...]
    seed: int
    run_id: str
    folder: Path
    also: tuple[Path, ...]
    images: Mapping[str, Any]
    facts: Mapping[Path, ImageFacts]
    limits: Mapping[str, Limits]
    prices: Mapping[str, Price | None] = field(default_factory=dict)
    timeout: float = 120.0

    def plan(self) -> Plan:
        """The plan, as on the driver."""
        store = RemoteImages(self.folder, self.also, self.images, self.facts)
        plan = Plan(self.material, self.grid, self.specs, store, seed=self.seed)
        plan.run_id = self.run_id
        return plan

    def judges(self, plan: Plan, environment: Mapping[str, str]) -> list[Judge]:
        """The judges, with keys from an environment."""
        kit = Kit(plan.images, self.material, self.seed, environment, self.run_id, self.timeout)
        return [make_judge(spec, kit) for spec in self.specs]


def blueprint_of(plan: Plan, limits: Mapping[str, Limits], tariffs: Mapping[str, Tariff], timeout: float) -> Blueprint:
    """The blueprint of a plan that is registered in a run."""
    store = plan.images
    shown = any(condition.image == "file" for condition in plan.conditions)
    paths = [*(plan.material.images() if shown else ()), *(cue for one in plan.conditions for cue in one.cues)]
    return Blueprint(
        plan.material,
        plan.grid,
        plan.specs,
        plan.seed,
        plan.run_id,
        store.folder,
        store.also,
        {name: getattr(store, name) for name in SETTINGS},
        {path: store.facts(path) for path in paths},
        limits,
        {name: tariff.price for name, tariff in tariffs.items()},
        timeout,
    )


class RemoteImages(ImageStore):
    """An image store on a machine that may lack the files: what it was sent stands in for them."""

    def __init__(
        self, folder: Path, also: Iterable[Path], settings: Mapping[str, Any], facts: Mapping[Path, ImageFacts]
    ) -> None:
        super().__init__(folder, also=tuple(also), **settings)
        self._facts.update(facts)
        self._sent: tempfile.TemporaryDirectory[str] | None = None
        self._copies: dict[Path, Path] = {}

    def missing(self, paths: Iterable[Path]) -> list[Path]:
        """Those of these files that are neither here nor were sent."""
        return [path for path in dict.fromkeys(paths) if path not in self._copies and not path.is_file()]

    def keep(self, path: Path, data: bytes) -> None:
        """Keep the bytes of a file that is not here."""
        if self._sent is None:
            self._sent = tempfile.TemporaryDirectory(prefix="voirdire-images-")
        copy = Path(self._sent.name) / f"{len(self._copies)}"
        copy.write_bytes(data)
        self._copies[path] = copy

    def close(self) -> None:
        """Delete what was sent."""
        if self._sent is not None:
            self._sent.cleanup()

    def _read(self, path: Path) -> bytes:
        copy = self._copies.get(path)
        return super()._read(path) if copy is None else copy.read_bytes()


def pictures(plan: Plan, cells: Iterable[Cell]) -> list[Path]:
    """The image files that the prompts of these cells show."""
    found: dict[Path, None] = {}
    for cell in cells:
        prompt: Prompt = plan.prompt(cell, cell.malformed)
        found.update((part.path, None) for part in prompt.parts if isinstance(part, ImagePart))
    return list(found)


def variables(specs: Iterable[JudgeSpec]) -> tuple[str, ...]:
    """The environment variables from which these judges take keys and addresses."""
    names: dict[str, None] = {}
    for spec in specs:
        if spec.provider in _LOCAL:
            continue
        entry = provider_entry(spec.provider)
        own = (spec.key_env,) if spec.key_env else entry.key_env
        names.update((name, None) for name in (*own, *entry.base_url_env))
    return tuple(names)


class Environment:
    """Environment variables on their way: shown to nobody.

    >>> Environment({"OPENAI_API_KEY": "sk-abc"})
    Environment(1 variables)
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = dict(values)

    @classmethod
    def of(cls, specs: Iterable[JudgeSpec], environment: Mapping[str, str]) -> Environment:
        """What these judges need of an environment."""
        return cls({name: environment[name] for name in variables(specs) if name in environment})

    def here(self) -> dict[str, str]:
        """The variables of this machine; where it lacks one, the one that was sent."""
        return {**self._values, **os.environ}

    def __repr__(self) -> str:
        return f"Environment({len(self._values)} variables)"


_LOCAL = ("python",)
