"""The same numbers by voirdire's array functions."""

from __future__ import annotations

import numpy as np

from voirdire.statistic import REGISTRY
from voirdire.stats import alignment, tilt  # noqa: F401  (they declare the statistics)
from voirdire.stats.alpha import alpha
from voirdire.stats.features import Features, PoolArrays
from voirdire.stats.resampling import block_sums, item_weights, percentile

LEVELS = np.arange(1.0, 6.0)
WANTED = (("mae", (0,)), ("mae", (1,)), ("pearson", (0,)), ("pearson", (1,)), ("tilt", (0, 1)))


def alpha_draws(counts: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """(draws,) ordinal alpha under item resamples."""
    return alpha(counts, LEVELS, "ordinal", draws=draws, rng=rng).draws


def alpha_point(counts: np.ndarray) -> float:
    """Ordinal alpha of these items."""
    value = alpha(counts, LEVELS, "ordinal").value
    if value is None:
        raise ValueError("alpha is undefined")  # noqa: TRY003
    return value


def resample(ratings: np.ndarray, consensus: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(5, cells, draws) MAE and Pearson against both pools and T, under item weights (draws, I)."""
    features = Features(PoolArrays.of(consensus, n=5), ratings)
    sums: dict[tuple[str, tuple[int, ...]], np.ndarray] = {}
    for target in {target for _, target in WANTED}:
        names = sorted({part for name, wanted in WANTED if wanted == target for part in REGISTRY[name, ""].features})
        blocks = block_sums(weights, [features.get(part, target) for part in names])
        sums |= {(part, target): block for part, block in zip(names, blocks, strict=True)}
    return np.stack(
        [
            REGISTRY[name, ""].numbers(tuple(sums[part, target] for part in REGISTRY[name, ""].features))
            for name, target in WANTED
        ]
    )


def intervals(ratings: np.ndarray, consensus: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """(2, 5, cells) percentile ends of 95 % intervals, drawing included."""
    weights = item_weights(consensus.shape[1], draws, rng)
    return np.stack(percentile(resample(ratings, consensus, weights), 0.95))
