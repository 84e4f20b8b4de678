"""A world written as the TOML file from which it can be read again: a start for one's own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from voirdire.scales import Scale
from voirdire.simulation.judges import Character, Condition
from voirdire.simulation.world import World


def spec_text(world: World, seed: int) -> str:
    """The specification of a world. Reading it gives the same world, and with the seed the same files.

    Nominal side questions cannot be described and are left out.

    >>> from voirdire.simulation.presets import paired_world
    >>> print(spec_text(paired_world(items=12), 7).splitlines()[1])
    seed = 7
    """
    top: dict[str, Any] = {"name": world.name, "seed": seed, "main": world.main, "repeats": world.repeats}
    top |= {"contrast": world.contrast, "scale": _scale(world.scale)}
    top |= {"noise": {entry.name: getattr(world.noise, entry.name) for entry in fields(world.noise)}}
    parts = [_pairs(top)]
    parts += [_table("pool", {entry.name: getattr(pool, entry.name) for entry in fields(pool)}) for pool in world.pools]
    parts += [_table("stratum", _stratum(stratum, world.pool_names)) for stratum in world.strata]
    parts += [_table("question", _question(question)) for question in world.side if question.means]
    parts += [_table("judge", _judge(name, character, world)) for name, character in world.judges.items()]
    if world.origins:
        parts.append(_pairs({"covariate": {"name": world.covariate}}, "covariate"))
        parts += [_table("covariate.level", _condition(group)) for group in world.groups]
    parts += [_table("condition", _condition(condition)) for condition in world.conditions]
    parts += [_table("design", _condition(design)) for design in world.designs]
    return "\n".join(parts)


def _scale(scale: Scale) -> dict[str, Any]:
    if scale.binary:
        return {"level": "nominal", "labels": list(scale.labels), "positive": scale.positive}
    return {"level": scale.level, "low": scale.low, "high": scale.high}


def _stratum(stratum: Any, pools: tuple[str, ...]) -> dict[str, Any]:
    row = {entry.name: getattr(stratum, entry.name) for entry in fields(stratum)}
    return row | {name: dict(zip(pools, row[name], strict=True)) for name in ("means", "sds")}


def _question(question: Any) -> dict[str, Any]:
    row = {entry.name: getattr(question, entry.name) for entry in fields(question) if entry.name != "agreement"}
    return row | {"scale": _scale(question.scale), "means": {k: dict(v) for k, v in question.means.items()}}


def _judge(name: str, character: Character, world: World) -> dict[str, Any]:
    row: dict[str, Any] = {"name": name}
    row |= {entry.name: getattr(character, entry.name) for entry in fields(character) if entry.name != "uniform"}
    row["weights"] = None if character.weights is None else dict(zip(world.pool_names, character.weights, strict=True))
    row["random"] = character.uniform
    return row | ({world.covariate: world.origins[name]} if name in world.origins else {})


def _condition(condition: Condition) -> dict[str, Any]:
    return {entry.name: getattr(condition, entry.name) for entry in fields(condition)}


def _table(name: str, row: Mapping[str, Any]) -> str:
    return f"[[{name}]]\n{_pairs(row)}"


def _pairs(row: Mapping[str, Any], table: str = "") -> str:
    """``key = value`` lines; what is None or empty is left out."""
    if table:
        return f"[{table}]\n{_pairs(row[table])}"
    return "".join(f"{key} = {_value(value)}\n" for key, value in _told(row))


def _told(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    return ((_key(key), value) for key, value in row.items() if value is not None and value != {})


def _key(key: str) -> str:
    return key if key.replace("_", "").isalnum() and key.isascii() else json.dumps(key, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key} = {_value(entry)}' for key, entry in _told(value))}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
