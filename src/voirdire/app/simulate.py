"""``voirdire simulate``: write a corpus with planted truth."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from voirdire.errors import UsageError
from voirdire.simulation.judges import Character, named_character
from voirdire.simulation.presets import CATEGORIES, DEFAULT_JUDGES, paired_world
from voirdire.simulation.tables import (
    MANIFEST,
    SimulatedTables,
    simulate_tables,
    write_manifest,
    write_readme,
    write_tables,
)
from voirdire.simulation.world import FIVE

LEAST_PER_STRATUM = 2
_POOL_NAME = re.compile(r"[\w-]+")


def simulate(
    out: Path | str,
    items: int = 120,
    pools: str | Sequence[str] = "us,cn",
    raters: int = 5,
    judges: Sequence[str] = (),
    seed: int = 0,
) -> dict[str, Path]:
    """Write a simulated corpus and give its files by name.

    out : folder; files of an earlier simulation in it are replaced, any others refused
    pools : two or more names, with commas or as a list
    judges : ``NAME=CHARACTER``; by default four of different character

    Raises UsageError (keys ``simulation.error.*``) for options that cannot be met.
    """
    names = _pool_names(pools)
    characters = _characters(judges, names)
    least = LEAST_PER_STRATUM * len(CATEGORIES) * len(names)
    if items < least:
        raise UsageError("simulation.error.items", value=items, pools=len(names), least=least)
    if raters < 1:
        raise UsageError("simulation.error.raters", value=raters)
    folder = Path(out)
    _refuse_overwriting(folder)
    world = paired_world(items, names, raters, characters)
    written = write_tables(simulate_tables(world, seed), folder)
    readme = write_readme(folder, "simulated", seed)
    return written | {"readme": readme, "corpus": write_manifest(folder, folder.resolve().name, written.values())}


def _pool_names(pools: str | Sequence[str]) -> list[str]:
    given = pools.split(",") if isinstance(pools, str) else pools
    names = [name.strip() for name in given]
    if len(names) < 2 or len(set(names)) < len(names) or not all(names):
        raise UsageError("simulation.error.pools", value=",".join(names))
    for name in names:
        if not _POOL_NAME.fullmatch(name):
            raise UsageError("simulation.error.pool_name", value=name)
    return names


def _characters(judges: Sequence[str], pools: Sequence[str]) -> dict[str, str | Character]:
    characters: dict[str, str | Character] = {}
    for given in judges:
        name, _, kind = given.rpartition("=")
        if not name.strip() or not kind.strip():
            raise UsageError("simulation.error.judge", value=given)
        if name.strip() in characters:
            raise UsageError("simulation.error.judge_twice", value=name.strip())
        characters[name.strip()] = named_character(kind, pools, FIVE)
    return characters or dict(DEFAULT_JUDGES)


def _refuse_overwriting(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError("simulation.error.out_is_file", file=str(folder))
    ours = {f"{entry.name}.csv" for entry in fields(SimulatedTables)} | {"README.md", MANIFEST}
    found = sorted(name for name in ours if (folder / name).exists())
    if found and not _simulated(folder / MANIFEST):
        raise UsageError("simulation.error.out_not_empty", file=str(folder), found=", ".join(found))


def _simulated(manifest: Path) -> bool:
    try:
        return tomllib.loads(manifest.read_text(encoding="utf-8")).get("simulated") is True
    except (OSError, ValueError):
        return False
