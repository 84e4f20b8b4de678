"""How a judge uses the scale: mean, low and high ends, recovery of the floor (section 2 of the definitions)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from voirdire.statistic import additive, empty, ratio
from voirdire.stats.alignment import rated_mask
from voirdire.stats.features import TIE, Array, Features, feature, zero_where


@feature("judge")
def answers(f: Features) -> Array:
    """1 where the cell has a rating."""
    return f.answered.astype(float)


@feature("judge")
def rating_sum(f: Features) -> Array:
    """The rating, the mean over repeats."""
    return zero_where(f.answered, f.rating)


def _share(f: Features, hit: Callable[[Array], Any]) -> Array:
    cube = f.ratings
    return zero_where(f.answered, f.over_repeats(np.where(np.isnan(cube), np.nan, hit(cube))))


@feature("judge")
def low_ratings(f: Features) -> Array:
    """Share of the cell's repeats at or below the low cut."""
    return _share(f, lambda cube: cube <= f.pools.scale.low_cut + TIE)


@feature("judge")
def high_ratings(f: Features) -> Array:
    """Share of the cell's repeats at the top of the scale."""
    return _share(f, lambda cube: cube >= f.pools.scale.high - TIE)


@feature("judge_pool")
def low_consensus(f: Features, k: int) -> Array:
    """1 where the pool's consensus is at or below the low cut and the cell has a rating."""
    with np.errstate(invalid="ignore"):
        low = f.pools.mean[k] <= f.pools.scale.low_cut + TIE
    return (rated_mask(f, k) & low).astype(float)


@feature("judge_pool")
def low_both(f: Features, k: int) -> Array:
    """The judge's share of low ratings where the consensus is low."""
    return low_consensus(f, k) * low_ratings(f)


@feature("judge")
def scope(f: Features) -> Array:
    """1 for every item of the question that some pool has rated."""
    return np.broadcast_to(f.pools.has.any(0).astype(float), f.answered.shape)


@feature("judge")
def unanswered(f: Features) -> Array:
    """1 where some pool has rated the item and the cell has no rating."""
    return np.asarray(np.asarray(f.pools.has.any(0))[None, :] & ~f.answered, dtype=float)


@additive(
    "mean_rating",
    per="judge",
    features=("answers", "rating_sum"),
    undefined=(empty(0),),
    sliced=True,
    bounds="the scale",
    source="Jury Duty, Figure 2",
)
def mean_rating(answers: Array, rating_sum: Array) -> Array:
    """Mean of the judge's ratings."""
    return ratio(rating_sum, answers)


@additive(
    "share_low",
    per="judge",
    features=("answers", "low_ratings"),
    undefined=(empty(0),),
    scale="levels",
    sliced=True,
    bounds="0 to 1",
    source="Jury Duty, section 4.1: ratings at or below low + 25 % of the range (1 and 2 on 1-5)",
)
def share_low(answers: Array, low_ratings: Array) -> Array:
    """Share of the judge's ratings at the low end of the scale."""
    return ratio(low_ratings, answers)


@additive(
    "share_high",
    per="judge",
    features=("answers", "high_ratings"),
    undefined=(empty(0),),
    scale="levels",
    sliced=True,
    bounds="0 to 1",
    source="Jury Duty, Appendix H.2: ratings at the top level",
)
def share_high(answers: Array, high_ratings: Array) -> Array:
    """Share of the judge's ratings at the top of the scale."""
    return ratio(high_ratings, answers)


@additive(
    "floor_recovery",
    per="judge_pool",
    features=("rated", "low_consensus", "low_both"),
    n_of=1,
    undefined=(empty(0), empty(1, "no_low_items")),
    scale="levels",
    sliced=True,
    bounds="0 to 1",
    source="Jury Duty, sections 4.1 and 4.4",
)
def floor_recovery(rated: Array, low_consensus: Array, low_both: Array) -> Array:
    """Share of low ratings among the items that the pool itself rates low."""
    return ratio(low_both, low_consensus)


@additive(
    "missing_share",
    per="judge",
    features=("scope", "unanswered"),
    undefined=(empty(0),),
    scale="anything",
    sliced=True,
    interval="none",
    bounds="0 to 1",
    source="items of the question that a pool has rated and the cell has not",
)
def missing_share(scope: Array, unanswered: Array) -> Array:
    """Share of the items for which the judge has no usable rating."""
    return ratio(unanswered, scope)
