"""What was planted in a simulated corpus, as tables and as one document."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from voirdire.simulation.calibration import planted_pools
from voirdire.simulation.judges import Character, Condition
from voirdire.simulation.pools import Floats
from voirdire.simulation.world import Humans, World

DIGITS = 6


def item_truth(humans: Humans, item_ids: pl.Series) -> pl.DataFrame:
    """item_id and the planted consensus of every pool, ``mu.<pool>``."""
    names = humans.world.pool_names
    planted_means = {f"mu.{pool}": humans.expected[:, place].round(DIGITS) for place, pool in enumerate(names)}
    return pl.DataFrame({"item_id": item_ids, **planted_means})


def judge_truth(world: World) -> pl.DataFrame:
    """judge, condition, design (where there are some) and the character that was planted there."""
    rows = []
    for judge in world.judges:
        for condition, design in world.settings:
            there = world.planted(judge, condition, design)
            row: dict[str, str | float | None] = {"judge": judge, "condition": condition.name}
            row |= {"design": design.name} if design else {}
            row |= {name: getattr(there, name) for name in ("offset", "scale", "permissiveness", "noise")}
            row |= {f"w.{pool}": weight for pool, weight in zip(world.pool_names, _weights(there), strict=True)}
            row |= {name: getattr(there, name) for name in ("center", "floor", "ceiling", "malformed", "refused")}
            rows.append(row | {"random": str(there.uniform).lower()})
    return pl.DataFrame(rows, infer_schema_length=None)


def planted_truth(humans: Humans) -> dict[str, Any]:
    """Everything planted, for JSON.

    pools : name, raters, noise, severity_sd, layout, share, and the reliability that they come to in the long run
    pairs : pool, pool_b and how far their planted consensuses are apart: gap_rms, mad, correlation; over all items
        and in ``cultures``
    cells : judge, its covariate, condition as an audit names it (``neutral/base``), factors, design, what was planted,
        the weights of the pools, and ``orientation``: pool, pool_b, w and pi of each pair, null with ``undefined`` for
        judges that do not look at the pools

    W is the share of the second pool in the weights of the two; PI is permissiveness over the sum of all weights.
    """
    world = humans.world
    reliability = planted_pools(world).reliability
    return {
        "simulated": True,
        "name": world.name,
        "pools": [_pool(pool) | {"reliability": round(reliability[pool.name], 3)} for pool in world.pools],
        "pairs": [_pair(humans, a, b) for a, b in combinations(range(len(world.pools)), 2)],
        "covariate": world.covariate if world.origins else None,
        "cells": [_cell(world, judge, *setting) for judge in world.judges for setting in world.settings],
    }


def _pool(pool: Any) -> dict[str, Any]:
    return {name: getattr(pool, name) for name in ("name", "raters", "noise", "severity_sd", "layout", "share")}


def _pair(humans: Humans, a: int, b: int) -> dict[str, Any]:
    names = humans.world.pool_names
    cultures = {str(culture): humans.cultures == culture for culture in dict.fromkeys(humans.cultures.tolist())}
    within = {culture: _distances(humans.expected[mask], a, b) for culture, mask in cultures.items()}
    return {"pool": names[a], "pool_b": names[b], **_distances(humans.expected, a, b), "cultures": within}


def _distances(expected: Floats, a: int, b: int) -> dict[str, float | None]:
    first, second = expected[:, a], expected[:, b]
    gap = first - second
    varies = min(first.std(), second.std()) > 0 if len(gap) > 1 else False
    return {
        "gap_rms": round(float(np.sqrt(np.mean(gap**2))), DIGITS),
        "mad": round(float(np.mean(np.abs(gap))), DIGITS),
        "correlation": round(float(np.corrcoef(first, second)[0, 1]), DIGITS) if varies else None,
    }


def _cell(world: World, judge: str, condition: Condition, design: Condition | None) -> dict[str, Any]:
    there = world.planted(judge, condition, design)
    named = [condition.name] if len(world.conditions) > 1 or design is None else []
    cell: dict[str, Any] = {"judge": judge, "condition": "/".join([*named, *([design.name] if design else [])])}
    cell |= {world.covariate: world.origins.get(judge)} if world.origins else {}
    cell |= {"factors": {**condition.factors, **({"design": design.name} if design else {})}}
    plain = (
        "offset",
        "scale",
        "permissiveness",
        "noise",
        "floor",
        "ceiling",
        "center",
        "malformed",
        "refused",
        "absent",
    )
    cell |= {name: getattr(there, name) for name in plain}
    cell |= {"image": dict(there.image), "random": there.uniform}
    weights = _weights(there)
    cell["weights"] = dict(zip(world.pool_names, weights, strict=True))
    pairs = combinations(range(len(weights)), 2)
    cell["orientation"] = [
        {"pool": world.pool_names[a], "pool_b": world.pool_names[b], **orientation(there, a, b)} for a, b in pairs
    ]
    return cell


def orientation(character: Character, a: int, b: int) -> dict[str, Any]:
    """w and pi of a pair of pools, or why they do not exist. The character's weights must be spelled out.

    >>> orientation(Character(weights=(0.25, 0.75), permissiveness=0.5), 0, 1)
    {'w': 0.75, 'pi': 0.5}
    >>> orientation(Character(scale=0.0, weights=(0.5, 0.5)), 0, 1)
    {'w': None, 'pi': None, 'undefined': 'no_positive_relation'}
    """
    weights = _weights(character)
    both, every = weights[a] + weights[b], sum(weights)
    if character.uniform or character.scale <= 0 or both <= 0 or every <= 0:
        return {"w": None, "pi": None, "undefined": "no_positive_relation"}
    return {"w": round(weights[b] / both, DIGITS), "pi": round(character.permissiveness / every, DIGITS)}


def _weights(character: Character) -> tuple[float, ...]:
    """The weights, which ``planted`` has spelled out."""
    if character.weights is None:
        raise ValueError("the weights are not spelled out: see planted")  # noqa: TRY003
    return character.weights
