"""What the raters' noise alone does to a tilt: T over redrawn consensuses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voirdire.analysis.experiment.contrasts import SliceSums
from voirdire.statistic import REGISTRY
from voirdire.stats.features import Array, Features, PoolArrays

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
    ratings = sums.features.ratings[cells]
    for draw in range(redraws):
        mean = two.mean + deviation * rng.standard_normal(deviation.shape)
        drawn = Features(PoolArrays(mean, two.n, two.s2, two.scale), ratings, min_gap=sums.features.min_gap)
        parts = tuple(matrix[:, cells] @ drawn.get(name, (0, 1)).sum(-1) for name in statistic.features)
        values[draw] = statistic.numbers(parts)
    undefined = np.asarray(np.isnan(values).any(0))
    mean, sd = (np.where(undefined, np.nan, part) for part in (values.mean(0), values.std(0, ddof=1)))
    return Noise(mean, sd, ["equal_consensuses" if missing else None for missing in undefined.tolist()], redraws)
