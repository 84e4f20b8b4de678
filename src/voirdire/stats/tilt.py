"""A judge between two pools: delta, delta_sq and the tilt T (section 2 of the definitions).

T and delta do not identify orientation: a judge that only compresses the scale tilts toward whichever pool is more
permissive on the items at hand.
"""

from __future__ import annotations

import numpy as np

from voirdire.statistic import additive, empty, ratio
from voirdire.stats.features import TIE, Array, Features, feature, zero_where


def pair_mask(f: Features, a: int, b: int) -> np.ndarray:
    """(C, I) whether the cell has a rating and both pools a consensus."""
    return np.asarray(f.answered & f.pools.has[a] & f.pools.has[b])


@feature("judge_pair")
def judged(f: Features, a: int, b: int) -> Array:
    """1 where the cell has a rating and both pools a consensus."""
    return pair_mask(f, a, b).astype(float)


@feature("judge_pair")
def error_difference(f: Features, a: int, b: int) -> Array:
    """abs(r - m_a) - abs(r - m_b)."""
    return zero_where(pair_mask(f, a, b), f.error(a) - f.error(b))


@feature("judge_pair")
def error_a(f: Features, a: int, b: int) -> Array:
    """abs(r - m_a) on items that have both pools."""
    return zero_where(pair_mask(f, a, b), f.error(a))


@feature("judge_pair")
def judged_gap(f: Features, a: int, b: int) -> Array:
    """abs(m_a - m_b) where the cell has a rating."""
    return zero_where(pair_mask(f, a, b), np.abs(f.pools.gap(a, b))[None, :])


@feature("judge_pair")
def judged_noise_unknown(f: Features, a: int, b: int) -> Array:
    """1 where the rater noise of a pool is unknown."""
    unknown = np.isnan(f.pools.noise[a] + f.pools.noise[b])
    return (pair_mask(f, a, b) & unknown).astype(float)


@feature("judge_pair")
def square_difference(f: Features, a: int, b: int) -> Array:
    """(r - m_a)^2 - s2_a / n_a - (r - m_b)^2 + s2_b / n_b."""
    noise = f.pools.noise[a] - f.pools.noise[b]
    return np.nan_to_num(zero_where(pair_mask(f, a, b), f.error(a, 2) - f.error(b, 2) - noise))


def tilted_mask(f: Features, a: int, b: int) -> np.ndarray:
    """(C, I) where T is defined: the consensuses differ, by at least ``min_gap``."""
    gap = np.abs(f.pools.gap(a, b))
    with np.errstate(invalid="ignore"):
        apart = (gap > TIE) & (gap >= f.min_gap - TIE)
    return np.asarray(pair_mask(f, a, b) & apart)


@feature("judge_pair")
def tilted(f: Features, a: int, b: int) -> Array:
    """1 where T is defined."""
    return tilted_mask(f, a, b).astype(float)


@feature("judge_pair")
def tilt_sum(f: Features, a: int, b: int) -> Array:
    """(abs(r - m_b) - abs(r - m_a)) / abs(m_a - m_b)."""
    mask = tilted_mask(f, a, b)
    gap = np.abs(f.pools.gap(a, b))
    safe = np.where(np.isnan(gap) | (gap <= TIE), 1.0, gap)
    return zero_where(mask, (f.error(b) - f.error(a)) / safe[None, :])


@feature("judge_pair")
def small_gap(f: Features, a: int, b: int) -> Array:
    """1 where T is defined and the gap is under half a scale step."""
    levels = f.pools.scale.levels
    step = levels[1] - levels[0] if len(levels) > 1 else np.nan
    with np.errstate(invalid="ignore"):
        return (tilted_mask(f, a, b) & (np.abs(f.pools.gap(a, b)) < step / 2 - TIE)).astype(float)


_NO_PAIR = empty(0, "no_common_items")


@additive(
    "delta",
    per="judge_pair",
    features=("judged", "error_difference"),
    undefined=(_NO_PAIR,),
    scale="any",
    sliced=True,
    bounds="minus to plus cross_pool_mad; positive: nearer the second pool",
    source="Jury Duty, section 4",
)
def delta(judged: Array, error_difference: Array) -> Array:
    """MAE against the first pool minus MAE against the second, on items that have both."""
    return ratio(error_difference, judged)


@additive(
    "delta_sq",
    per="judge_pair",
    features=("judged", "square_difference", "judged_noise_unknown"),
    undefined=(_NO_PAIR, ("noise_unknown", lambda *s: s[2] > 0)),
    sliced=True,
    bounds="squared scale units; positive: nearer the second pool",
    source="squared errors less each consensus's rater noise, so a noisier pool is not farther for that alone",
)
def delta_sq(judged: Array, square_difference: Array, judged_noise_unknown: Array) -> Array:
    """Difference of mean squared errors, each less the rater noise of its consensus."""
    return ratio(square_difference, judged)


@additive(
    "tilt",
    per="judge_pair",
    features=("judged", "tilt_sum", "tilted"),
    n_of=2,
    undefined=(_NO_PAIR, empty(2, "equal_consensuses")),
    sliced=True,
    bounds="-1 (at the second pool) to +1 (at the first)",
    source="Jury Duty, section 4: mean over cells of clip((2r - m_a - m_b) / (m_a - m_b), -1, 1)",
)
def tilt(judged: Array, tilt_sum: Array, tilted: Array) -> Array:
    """The paper's tilt T: where between the two consensuses the judge places the items."""
    return ratio(tilt_sum, tilted)


@additive(
    "tilt",
    per="judge_pair",
    features=("judged", "error_difference", "judged_gap"),
    params={"form": "ratio"},
    undefined=(_NO_PAIR, empty(2, "equal_consensuses")),
    scale="any",
    sliced=True,
    bounds="-1 to +1",
    source="-delta / cross_pool_mad: items weighted by their gap",
)
def tilt_ratio(judged: Array, error_difference: Array, judged_gap: Array) -> Array:
    """The tilt with items weighted by their gap: -delta / cross_pool_mad."""
    return -ratio(error_difference, judged_gap)


@additive(
    "tilt.share_small_gaps",
    per="judge_pair",
    features=("judged", "small_gap", "tilted"),
    n_of=2,
    undefined=(_NO_PAIR, empty(2, "equal_consensuses")),
    scale="discrete",
    interval="none",
    bounds="0 to 1",
    source="gaps under half a scale step weigh as much in T as large ones",
)
def share_small_gaps(judged: Array, small_gap: Array, tilted: Array) -> Array:
    """Share of T's items whose gap is under half a scale step."""
    return ratio(small_gap, tilted)


@additive(
    "percent_of_human",
    per="judge_pair",
    features=("judged", "error_a", "judged_gap"),
    undefined=(_NO_PAIR, empty(2, "equal_consensuses")),
    scale="any",
    sliced=True,
    both_ways=True,
    bounds="0 upwards; 100: as far from the pool as the other pool is",
    source="Jury Duty, Table 1; it flatters the judge, so the ceiling stands beside it",
)
def percent_of_human(judged: Array, error_a: Array, judged_gap: Array) -> Array:
    """MAE against the first pool as a percentage of the mean absolute difference of the two pools."""
    return 100 * ratio(error_a, judged_gap)
