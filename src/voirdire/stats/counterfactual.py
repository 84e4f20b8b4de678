"""What T and delta of a fitted judge are made of: scale use, image effect, permissiveness, orientation.

The base judge uses the scale as fitted (cut points and b_a + b_b) but is neutral (W 1/2), not permissive and without an
image effect. Three players are put back, each at its average over the 6 orders (Shapley 1953): orientation keeps
b_a + b_b, permissiveness is b_g, the image effect counts from its mean over the whole corpus.

Shapes: c cells, I items, L values, S slices.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from voirdire.stats.features import TIE, Array

PLAYERS = ("image", "permissiveness", "orientation")
_BLOCK = 30_000
PARTS = ("base", *PLAYERS, "remainder", "observed")


@dataclass(frozen=True)
class Outcomes:
    """What a rating at each value counts for T and delta on each item.

    tilt, delta : (I, L); tilted : (I,) whether T is defined
    """

    tilt: Array
    delta: Array
    tilted: Array

    @classmethod
    def of(cls, mean_a: Array, mean_b: Array, values: Array, min_gap: float = 0.0) -> Outcomes:
        """From the raw consensuses (I,) and the judges' values (L,).

        >>> Outcomes.of(np.array([5.0]), np.array([1.0]), np.array([1.0, 3.0, 5.0])).tilt
        array([[-1.,  0.,  1.]])
        """
        gap = np.abs(mean_a - mean_b)
        to_a = np.abs(values[None, :] - mean_a[:, None])
        to_b = np.abs(values[None, :] - mean_b[:, None])
        tilted = (gap > TIE) & (gap >= min_gap - TIE)
        tilt = np.where(tilted[:, None], (to_b - to_a) / np.where(tilted, gap, 1.0)[:, None], 0.0)
        return cls(tilt, to_a - to_b, tilted.astype(float))


def split(
    cuts: Array,
    slopes: Array,
    x: Array,
    outcomes: Outcomes,
    observed: tuple[Array, Array],
    answered: Array,
    slices: Array,
) -> tuple[Array, Array]:
    """Parts of T and of delta, each (6, c, S) in the order of PARTS; NaN where a slice has no item that counts.

    cuts : (c, L - 1) between all values; slopes : (c, P) and x : (I, P): two pools, lead, image columns
    observed : T and delta (c, I) of the ratings as given (0 where unanswered); answered : (c, I) 0/1
    slices : (S, I) weights of the items
    """
    step = max(1, _BLOCK // max(len(x), 1))
    if len(cuts) > step:  # a few cells at a time: what fits a cache is twice as fast
        runs = [slice(first, first + step) for first in range(0, len(cuts), step)]
        parts = [
            split(cuts[run], slopes[run], x, outcomes, (observed[0][run], observed[1][run]), answered[run], slices)
            for run in runs
        ]
        return np.concatenate([part[0] for part in parts], axis=1), np.concatenate([part[1] for part in parts], axis=1)
    counts = [answered * outcomes.tilted, answered]
    below = [count @ slices.T for count in counts]
    tables = (outcomes.tilt, outcomes.delta)
    worth: dict[tuple[int, ...], list[Array]] = {}
    for members in product((0, 1), repeat=3):
        latent = _latent(slopes, x, *members)
        means = _expected(cuts, latent, tables)
        worth[members] = [
            _ratio((mean * count) @ slices.T, low) for mean, count, low in zip(means, counts, below, strict=True)
        ]
    seen = [_ratio((part * count) @ slices.T, low) for part, count, low in zip(observed, counts, below, strict=True)]
    split_of = [_parts({key: value[which] for key, value in worth.items()}, seen[which]) for which in (0, 1)]
    return split_of[0], split_of[1]


def _ratio(top: Array, bottom: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(bottom > 0, top / bottom, np.nan)


def _latent(slopes: Array, x: Array, image: int, permissive: int, oriented: int) -> Array:
    """(c, I) latent values with some of the players."""
    own = slopes.copy()
    if not oriented:
        own[:, :2] = (slopes[:, :1] + slopes[:, 1:2]) / 2
    if not permissive:
        own[:, 2] = 0.0
    if not image:
        own[:, 3:] = 0.0
    return np.asarray(own @ x.T)


def _expected(cuts: Array, latent: Array, tables: tuple[Array, ...]) -> list[Array]:
    """(c, I) expectations of each table (I, L): what the last value is worth, and a step down at each cut."""
    from scipy.special import ndtr

    means = [np.broadcast_to(table[:, -1], latent.shape).copy() for table in tables]
    for cut in range(cuts.shape[1]):
        share = ndtr(cuts[:, cut : cut + 1] - latent)
        for mean, table in zip(means, tables, strict=True):
            mean += share * (table[:, cut] - table[:, cut + 1])
    return means


def _parts(worth: dict[tuple[int, ...], Array], observed: Array) -> Array:
    base, full = worth[0, 0, 0], worth[1, 1, 1]
    parts = [base]
    for player in range(3):
        value = np.zeros_like(base)
        for others in product((0, 1), repeat=2):
            without, with_it = ((*others[:player], present, *others[player:]) for present in (0, 1))
            share = (1 / 3, 1 / 6, 1 / 3)[sum(others)]
            value += share * (worth[with_it] - worth[without])
        parts.append(value)
    return np.stack([*parts, observed - full, observed])
