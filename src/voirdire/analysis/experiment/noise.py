"""What the raters' noise alone does to a tilt: T over redrawn consensuses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voirdire.analysis.experiment.contrasts import SliceSums
from voirdire.statistic import REGISTRY
from voirdire.stats.features import Array, Features, PoolArrays
from voirdire.stats.level_cube import MOST_LEVELS

REDRAWS = 200


@dataclass(frozen=True)
class Noise:
    """Mean and sd of T over redrawn noise (S,), NaN where unknown; reasons (S,)."""

    mean: Array
    sd: Array
    reasons: list[str | None]
    redraws: int = REDRAWS


def redrawn_tilts(
    sums: SliceSums, pair: tuple[int, int], matrix: Array, rng: np.random.Generator, redraws: int = REDRAWS
) -> Noise:
    """Mean and sd of T of each selection when each consensus gets new normal noise of variance s2 / n.

    sums : the slice; matrix : (S, C) 0/1. Only the cells that are selected are computed on.

    Undefined (``noise_unknown``) where the noise of some common item of the two pools is unknown.
    """
    cells = np.flatnonzero(matrix.any(0))
    arrays = sums.features.pools
    a, b = pair
    in_order = sums.experiment.context.by_name(pair) == pair  # the draws do not depend on which pool is first
    common = arrays.has[a] & arrays.has[b]
    deviation = np.sqrt(np.maximum(arrays.noise[[a, b]], 0.0))
    if not common.any() or bool(np.isnan(deviation[:, common]).any()):
        reason = "noise_unknown" if common.any() else "no_common_items"
        unknown = np.full(len(matrix), np.nan)
        return Noise(unknown, unknown, [reason] * len(matrix), redraws)
    statistic = REGISTRY["tilt", ""]
    two = PoolArrays(arrays.mean[[a, b]], arrays.n[[a, b]], arrays.s2[[a, b]], arrays.scale)
    deviation = np.where(common, deviation, 0.0)
    values = np.empty((redraws, len(matrix)))
    cube, weights = _by_level(sums.features.ratings[cells], matrix[:, cells])
    for draw in range(redraws):
        noise = rng.standard_normal(deviation.shape)
        mean = two.mean + deviation * (noise if in_order else noise[::-1])
        drawn = Features(PoolArrays(mean, two.n, two.s2, two.scale), cube, min_gap=sums.features.min_gap)
        parts = tuple(_summed(weights, drawn.get(name, (0, 1))) for name in statistic.features)
        values[draw] = statistic.numbers(parts)
    undefined = np.asarray(np.isnan(values).any(0))
    mean, sd = (np.where(undefined, np.nan, part) for part in (values.mean(0), values.std(0, ddof=1)))
    return Noise(mean, sd, ["equal_consensuses" if missing else None for missing in undefined.tolist()], redraws)


def _by_level(ratings: Array, matrix: Array) -> tuple[Array, Array]:
    """Judges that always give one level (L, I, 1), and how much of each selection gives it (S, L, I).

    T is the mean of what depends on the item and the level alone, so few levels stand for any number of cells.
    Where there are many different ratings: the cells themselves, and the selections (S, C).
    """
    levels = np.unique(ratings[~np.isnan(ratings)])
    if levels.size > MOST_LEVELS:
        return ratings, matrix
    given = np.maximum((~np.isnan(ratings)).sum(-1), 1)
    shares = [matrix @ ((ratings == level).sum(-1) / given) for level in levels]
    cube = levels[:, None, None] * np.ones((1, ratings.shape[1], 1))
    return cube, np.stack(shares, 1) if shares else np.zeros((len(matrix), *cube.shape[:2]))


def _summed(weights: Array, feature: Array) -> Array:
    """(S,) the feature (L or C, I) summed over what each selection holds of it."""
    if weights.ndim == 2:
        return np.asarray(weights @ feature.sum(-1))
    return np.asarray(np.tensordot(weights, feature, axes=([1, 2], [0, 1])))
