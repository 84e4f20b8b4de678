"""``voirdire simulate``: write a corpus with planted truth."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from voirdire.errors import InputError, UsageError
from voirdire.simulation.calibration import calibrated
from voirdire.simulation.judges import Character, Condition, named_character
from voirdire.simulation.pools import LAYOUTS
from voirdire.simulation.presets import CATEGORIES, DEFAULT_JUDGES, factorial, paired_world
from voirdire.simulation.spec import read_spec
from voirdire.simulation.spec_text import spec_text
from voirdire.simulation.tables import (
    MANIFEST,
    TRUTH,
    SimulatedTables,
    simulate_tables,
    write_manifest,
    write_readme,
    write_tables,
    write_truth,
)
from voirdire.simulation.world import FIVE, World

LEAST_PER_STRATUM = 2
SPEC = "world.toml"
BASE = "base"
_POOL_NAME = re.compile(r"[\w-]+")
Several = str | Sequence[str]


def simulate(
    out: Path | str,
    items: int = 120,
    pools: Several = "us,cn",
    raters: int | Several = 5,
    judges: Sequence[str] = (),
    seed: int = 0,
    *,
    spec: Path | str | None = None,
    reliability: float | Several | None = None,
    divergence: float | None = None,
    layout: str = "crossed",
    personas: Several = (),
    details: Several = (),
    languages: Several = (),
    persona_shift: float = 0.2,
    demonstrations: Sequence[str] = (),
    origins: Sequence[str] = (),
    origin_shifts: Sequence[str] = (),
    missing: float = 0.0,
    repeats: int = 1,
    force: bool = False,
) -> dict[str, Path]:
    """Write a simulated corpus and give its files by name.

    out : folder; the files of a simulation of the same world and seed in it are replaced, with ``force`` those of any
        simulation, and files of others never
    pools : two or more names, with commas or as a list; raters : one number, or one a pool
    judges : ``NAME=CHARACTER``; by default four of different character
    spec : a TOML file that describes the whole world; then only ``seed`` (0: the file's own) is taken beside it
    reliability : of each pool's consensus, one number or one a pool; divergence : root mean square gap of the pools
    personas, details, languages : levels of the conditions; a persona is called as a pool and moves ``persona_shift``
        of the weight to it
    demonstrations : ``DESIGN`` or ``DESIGN=SHIFT`` of the ratings, beside ``base``
    origins : ``JUDGE=LEVEL``; origin_shifts : ``LEVEL=SHIFT`` of the ratings of its judges
    missing : share of malformed judgments

    Raises UsageError (keys ``simulation.error.*``, ``simulation.spec.*``) for options that cannot be met.
    """
    folder = Path(out)
    if spec is not None:
        read = read_spec(spec)
        world, seed = read.world, seed or read.seed
    else:
        names = _pool_names(pools)
        world = _pools_of(names, items, raters, layout, repeats)
        world = calibrated(world, _reliabilities(reliability, names), divergence)
        characters = _characters(judges, names)
        world = replace(world, judges={name: _failing(kind, missing) for name, kind in characters.items()})
        world = replace(world, conditions=_conditions(personas, details, languages, persona_shift, names))
        world = replace(world, designs=_designs(demonstrations), **_covariate(origins, origin_shifts, world))
    described = spec_text(world, seed)
    _refuse_overwriting(folder, described, force)
    return _write(world, seed, folder, described)


def _write(world: World, seed: int, folder: Path, spec: str) -> dict[str, Path]:
    tables = simulate_tables(world, seed)
    written = write_tables(tables, folder)
    readme = write_readme(folder, "simulated", seed)
    described = folder / SPEC
    described.write_text(spec, encoding="utf-8", newline="\n")
    made = {"truth": write_truth(folder, tables), "world": described, "readme": readme}
    return written | made | {"corpus": write_manifest(folder, folder.resolve().name, written.values())}


def _pools_of(names: list[str], items: int, raters: int | Several, layout: str, repeats: int) -> World:
    least = LEAST_PER_STRATUM * len(CATEGORIES) * len(names)
    if items < least:
        raise UsageError("simulation.error.items", value=items, pools=len(names), least=least)
    if layout not in LAYOUTS:
        raise UsageError("simulation.error.layout", value=layout, known=", ".join(LAYOUTS))
    if repeats < 1:
        raise UsageError("simulation.error.repeats", value=repeats)
    numbers = _for_pools(raters, names, "raters")
    for number in numbers:
        if number < 1 or number != int(number):
            raise UsageError("simulation.error.raters", value=f"{number:g}")
    world = paired_world(items, names, judges={}, layout=layout, repeats=repeats)
    return replace(
        world, pools=tuple(replace(pool, raters=int(n)) for pool, n in zip(world.pools, numbers, strict=True))
    )


def _listed(given: Several) -> list[str]:
    return [name.strip() for name in (given.split(",") if isinstance(given, str) else given) if name.strip()]


def _for_pools(given: float | Several, pools: Sequence[str], option: str) -> list[float]:
    """One number for every pool."""
    parts = [str(given)] if isinstance(given, int | float) else _listed(given)
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, len(pools)):
        raise UsageError(
            "simulation.error.for_pools", option=option, value=",".join(parts), count=len(pools), pools=", ".join(pools)
        )
    return numbers * len(pools) if len(numbers) == 1 else numbers


def _reliabilities(given: float | Several | None, names: Sequence[str]) -> dict[str, float]:
    return {} if given is None else dict(zip(names, _for_pools(given, names, "reliability"), strict=True))


def _pool_names(pools: Several) -> list[str]:
    given = pools.split(",") if isinstance(pools, str) else pools
    names = [name.strip() for name in given]
    if len(names) < 2 or len(set(names)) < len(names) or not all(names):
        raise UsageError("simulation.error.pools", value=",".join(names))
    for name in names:
        if not _POOL_NAME.fullmatch(name):
            raise UsageError("simulation.error.pool_name", value=name)
    return names


def _characters(judges: Sequence[str], pools: Sequence[str]) -> dict[str, Character]:
    characters: dict[str, Character] = {}
    for given in judges:
        name, _, kind = given.rpartition("=")
        if not name.strip() or not kind.strip() or not name.isprintable():
            raise UsageError("simulation.error.judge", value=given)
        if name.strip() in characters:
            raise UsageError("simulation.error.judge_twice", value=name.strip())
        characters[name.strip()] = named_character(kind, pools, FIVE)
    return characters or {name: named_character(kind, pools, FIVE) for name, kind in DEFAULT_JUDGES.items()}


def _failing(character: Character, missing: float) -> Character:
    if not 0 <= missing < 1:
        raise UsageError("simulation.error.missing", value=f"{missing:g}")
    return replace(character, malformed=missing)


def _conditions(
    personas: Several, details: Several, languages: Several, shift: float, pools: Sequence[str]
) -> tuple[Condition, ...]:
    named = _listed(personas)
    for persona in named:
        if persona not in pools:
            raise UsageError("simulation.error.persona", value=persona, known=", ".join(pools))
    return factorial(named, _listed(details), _listed(languages), shift)


def _designs(demonstrations: Sequence[str]) -> tuple[Condition, ...]:
    given = [_shifted(entry, "demonstration") for entry in demonstrations]
    return tuple(Condition(name, offset=shift) for name, shift in ((BASE, 0.0), *given)) if given else ()


def _covariate(origins: Sequence[str], shifts: Sequence[str], world: World) -> dict[str, Any]:
    levels: dict[str, str] = {}
    for given in origins:
        judge, _, level = (part.strip() for part in given.rpartition("="))
        if not level or judge not in world.judges:
            raise UsageError("simulation.error.origin", value=given, known=", ".join(world.judges))
        levels[judge] = level
    groups = []
    for level, shift in (_shifted(entry, "origin-shift") for entry in shifts):
        if level not in levels.values():
            known = ", ".join(dict.fromkeys(levels.values())) or "-"
            raise UsageError("simulation.error.origin_level", value=level, known=known)
        groups.append(Condition(level, offset=shift))
    return {"origins": levels, "groups": tuple(groups)}


def _shifted(given: str, option: str) -> tuple[str, float]:
    """``NAME=SHIFT``; 0 without a shift."""
    name, _, shift = (part.strip() for part in given.partition("="))
    try:
        number = float(shift or 0)
    except ValueError:
        number = float("nan")
    if not name or number != number:
        raise UsageError("simulation.error.shift", option=option, value=given)
    return name, number


def _refuse_overwriting(folder: Path, described: str, force: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError("simulation.error.out_is_file", file=str(folder))
    ours = {f"{entry.name}.csv" for entry in fields(SimulatedTables)} | {"README.md", MANIFEST, TRUTH, SPEC}
    found = sorted(name for name in ours if (folder / name).exists())
    if found and not _simulated(folder / MANIFEST):
        raise UsageError("simulation.error.out_not_empty", file=str(folder), found=", ".join(found))
    if found and not force and not _describes(folder / SPEC, described):
        raise UsageError("simulation.error.out_other", file=str(folder))


def _describes(spec: Path, described: str) -> bool:
    """Whether a specification, whatever its wording, is of this world and seed."""
    try:
        read = read_spec(spec)
    except (InputError, UsageError):
        return False
    return spec_text(read.world, read.seed) == described


def _simulated(manifest: Path) -> bool:
    try:
        return tomllib.loads(manifest.read_text(encoding="utf-8")).get("simulated") is True
    except (OSError, ValueError):
        return False
