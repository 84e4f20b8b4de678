"""Judges with planted truth: scale use, orientation over pools and permissiveness, each set separately.

A judge sees a blend of the pools' planted consensuses and gives
``rating = nearest level of center + offset + scale * (blend - center) + image effect + noise``, where
``blend = sum(weights * consensus) + permissiveness * (highest consensus - mean consensus)``. Of two pools the last
bracket is half their gap. Pure compression is equal weights, no permissiveness and a scale below 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from voirdire.errors import UsageError
from voirdire.scales import Scale
from voirdire.simulation.pools import Floats, scale_ends, to_scale

STATUSES = ("ok", "malformed", "refused", "absent")
ABSENT = STATUSES.index("absent")
GENEROUS = 0.725
ORIENTED = 0.8


@dataclass(frozen=True)
class Character:
    """The planted truth of a judge.

    offset, scale : shift and slope around the center; a scale below 1 compresses
    weights : of the pools (orientation; sum 1, may leave [0, 1]); None for equal weights
    permissiveness : 0 none, 1 with two pools and equal weights follows the higher pool
    image : shift for the items of a culture
    noise : sd of the residual
    floor, ceiling : no rating beyond them
    uniform : rates at random, whatever the item
    malformed, refused : shares of judgments without a rating; absent : share that nobody asked for (no row)
    sway : factor on the pull of conditions and groups; 0: personas do not move the judge
    center : by default 0.725 of the way up the scale (3.9 on 1-5)
    """

    offset: float = 0.0
    scale: float = 1.0
    weights: tuple[float, ...] | None = None
    permissiveness: float = 0.0
    image: Mapping[str, float] = field(default_factory=dict)
    noise: float = 0.5
    floor: float | None = None
    ceiling: float | None = None
    uniform: bool = False
    malformed: float = 0.0
    refused: float = 0.0
    absent: float = 0.0
    sway: float = 1.0
    center: float | None = None


@dataclass(frozen=True)
class Condition:
    """An elicitation setting and what it does to a judge: added offset, factor on the scale, pull toward pools.

    Designs of demonstrations and levels of a covariate do the same and are conditions too.

    pull : pool -> weight moved to it, taken from the others in equal parts
    image : shift for the items of a culture
    """

    name: str
    factors: Mapping[str, str] = field(default_factory=dict)
    offset: float = 0.0
    scale: float = 1.0
    pull: Mapping[str, float] = field(default_factory=dict)
    image: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class SharedNoise:
    """Standard deviations of item effects: common to all cells, to a judge's cells, to a condition's cells."""

    every: float = 0.0
    judge: float = 0.0
    condition: float = 0.0


def named_character(text: str, pools: Sequence[str], scale: Scale) -> Character:
    """A character by name: ``faithful_neutral``, ``compressed``, ``hard_floor``, ``permissive``, ``oriented_a``,
    ``oriented_b`` (first and second pool) or ``oriented_<pool>``, ``random``, ``constant`` or ``constant:<level>``,
    ``copy`` (of the first pool) or ``copy:<pool>``. Any other raises UsageError.

    >>> named_character("oriented_cn", ["us", "cn"], Scale("ordinal", 1, 5)).weights
    (0.2, 0.8)
    >>> named_character("constant:3", ["us", "cn"], Scale("ordinal", 1, 5)).center
    3.0
    """
    low, high = scale_ends(scale)
    name, _, detail = text.strip().partition(":")
    aliases = dict(zip(("oriented_a", "oriented_b"), (f"oriented_{pool}" for pool in pools), strict=False))
    plain = {
        "faithful_neutral": Character(),
        "compressed": Character(scale=0.3),
        "hard_floor": Character(floor=(low + high) / 2),
        "permissive": Character(permissiveness=0.8),
        "random": Character(uniform=True),
    }
    plain |= {f"oriented_{pool}": Character(weights=_leaning(pools, pool, ORIENTED)) for pool in pools}
    exact = name if name in plain else aliases.get(name, name)
    if not detail and exact in plain:
        return plain[exact]
    if name == "constant":
        return Character(scale=0.0, noise=0.0, center=_level(text, detail, pools, scale))
    if name == "copy" and (detail or pools[0]) in pools:
        return Character(weights=_leaning(pools, detail or pools[0], 1.0), noise=0.0)
    raise _unknown(text, pools)


def character_names(pools: Sequence[str]) -> list[str]:
    """Every name that named_character takes.

    >>> character_names(["us"])[:3]
    ['faithful_neutral', 'compressed', 'hard_floor']
    """
    oriented = ["oriented_a", "oriented_b", *(f"oriented_{pool}" for pool in pools)]
    return ["faithful_neutral", "compressed", "hard_floor", "permissive", *oriented, "random", "constant", "copy"]


def planted(character: Character, condition: Condition, pools: Sequence[str]) -> Character:
    """The character as it is under a condition, its weights spelled out.

    >>> persona = Condition("us", pull={"us": 0.3})
    >>> planted(Character(), persona, ["us", "cn"]).weights
    (0.8, 0.2)
    """
    weights = np.array(character.weights if character.weights is not None else [1 / len(pools)] * len(pools))
    for pool, pulled in condition.pull.items():
        amount = character.sway * pulled
        step = np.full(len(pools), -amount / max(len(pools) - 1, 1))
        step[list(pools).index(pool)] = amount if len(pools) > 1 else 0.0
        weights = weights + step
    exact = tuple(round(float(weight), 12) for weight in weights)
    moved = replace(character, offset=character.offset + condition.offset, weights=exact)
    cultures = {**character.image, **condition.image}
    image = {name: character.image.get(name, 0.0) + condition.image.get(name, 0.0) for name in cultures}
    return replace(moved, scale=character.scale * condition.scale, image=image)


def blend(consensus: Floats, weights: Sequence[float], permissiveness: float) -> Floats:
    """What the judge goes by (items,), from planted consensuses (items, K). No missing values.

    >>> blend(np.array([[2.0, 4.0]]), [0.5, 0.5], 1.0)
    array([4.])
    """
    highest = consensus.max(axis=1) - consensus.mean(axis=1)
    mixed: Floats = consensus @ np.asarray(weights) + permissiveness * highest
    return mixed


def judge_items(
    consensus: Floats,
    cultures: npt.NDArray[np.str_],
    character: Character,
    scale: Scale,
    rng: np.random.Generator,
    item_noise: Floats | float = 0.0,
) -> tuple[Floats, npt.NDArray[np.int8]]:
    """Ratings (items,) of a judge and their status codes (places in STATUSES); NaN where there is no rating.

    consensus : (items, K) planted; cultures : (items,) names; item_noise : (items,) effects shared with other cells
    """
    low, high = scale_ends(scale)
    if character.uniform:
        ratings = _uniform(len(consensus), scale, rng)
    else:
        center = character.center if character.center is not None else low + GENEROUS * (high - low)
        weights = character.weights or (1 / consensus.shape[1],) * consensus.shape[1]
        level = blend(consensus, weights, character.permissiveness)
        image = np.array([character.image.get(str(culture), 0.0) for culture in cultures]) if character.image else 0.0
        shared = item_noise if character.noise else 0.0
        noise = character.noise * rng.standard_normal(len(consensus)) + shared + image
        ratings = to_scale(center + character.offset + character.scale * (level - center) + noise, scale)
    ratings = np.clip(ratings, character.floor, character.ceiling) if _bounded(character) else ratings
    status = _statuses(len(ratings), character, rng)
    ratings[status != 0] = np.nan
    return ratings, status


def _bounded(character: Character) -> bool:
    return character.floor is not None or character.ceiling is not None


def _uniform(items: int, scale: Scale, rng: np.random.Generator) -> Floats:
    low, high = scale_ends(scale)
    levels = np.asarray(scale.level_values, dtype=float)
    return levels[rng.integers(len(levels), size=items)] if len(levels) else rng.uniform(low, high, items)


def _statuses(items: int, character: Character, rng: np.random.Generator) -> npt.NDArray[np.int8]:
    drawn = rng.random(items)
    ends = np.cumsum([character.malformed, character.refused, character.absent])
    return np.where(drawn < ends[-1], 1 + np.searchsorted(ends, drawn, side="right"), 0).astype(np.int8)


def _leaning(pools: Sequence[str], pool: str, weight: float) -> tuple[float, ...]:
    rest = (1 - weight) / max(len(pools) - 1, 1)
    return tuple(round(weight if name == pool else rest, 12) for name in pools) if len(pools) > 1 else (1.0,)


def _level(text: str, detail: str, pools: Sequence[str], scale: Scale) -> float:
    low, high = scale_ends(scale)
    if not detail:
        return float(to_scale(np.array([low + 0.75 * (high - low)]), scale)[0])
    try:
        level = float(detail)
    except ValueError:
        raise _unknown(text, pools) from None
    if not low <= level <= high:
        raise UsageError("simulation.error.level", value=detail, low=f"{low:g}", high=f"{high:g}")
    return level


def _unknown(text: str, pools: Sequence[str]) -> UsageError:
    return UsageError("simulation.error.character", value=text, known=", ".join(character_names(pools)))
