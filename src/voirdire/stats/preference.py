"""Pairwise votes: what a pool prefers, how far a judge agrees, and whether the side shown first matters.

A vote goes to the first thing, to the second, or is a tie. Which thing is called the first is arbitrary, so every
number here stays as it is when the two are swapped on any of the items: signed preferences are centred at 0 and never
averaged over items with their sign, and margins over items count every item in both orders.

Shapes: I items, K pools, L labels (first, second, and a tie where there is one), C cells, R repeats. ``shares`` are
(K, I, L). The *preference* of a pool on an item is its share for the first thing less that for the second, -1 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voirdire.statistic import additive, empty, ratio
from voirdire.stats.agreement import CONSTANT
from voirdire.stats.alignment import rated_mask
from voirdire.stats.features import TIE, Array, Features, feature, zero_where

Mask = npt.NDArray[np.bool_]
SECTION = "Votes between two things (docs/explanation/pairwise.md)"
MTBENCH = "Zheng et al. 2023 (MT-Bench), section 4.1"


@dataclass(frozen=True)
class Votes:
    """What some numbers need beside shares and ratings.

    thing : (I,) 1 where the thing is the first of its item, -1 where it is the second, 0 where it is neither
    shown : (C, I, R) 1 where a judgment saw the first thing first, -1 where it saw the second first, NaN unknown
    raters : (K, I) the same for people, summed over the votes of an item: 1 for a vote for what was shown first, -1
        for the other; n_raters : (K, I) votes of which the order is known
    """

    thing: Array | None = None
    shown: Array | None = None
    raters: Array | None = None
    n_raters: Array | None = None


def preference(f: Features, k: int) -> Array:
    """(I,) share for the first thing less that for the second, 0 without votes."""
    shares = _shares(f)[k]
    return zero_where(f.pools.has[k], shares[:, 0] - shares[:, 1])


def tie_share(f: Features, k: int) -> Array:
    """(I,) share of ties, 0 without votes or where no vote may be a tie."""
    shares = _shares(f)[k]
    return zero_where(f.pools.has[k], shares[:, 2]) if shares.shape[1] > 2 else np.zeros(len(shares))


def answer(f: Features) -> Array:
    """(C, I) the judge's preference: 1 for the first thing, -1 for the second, 0 for a tie; the mean over repeats."""
    sign = np.array([1.0, -1.0, 0.0])[np.nan_to_num(f.ratings).astype(int)]
    return f.over_repeats(np.where(np.isnan(f.ratings), np.nan, sign))


@feature("pool")
def abs_preference(f: Features, k: int) -> Array:
    """abs(preference)."""
    return np.abs(preference(f, k))


@additive(
    "preference.strength",
    per="pool",
    features=("has", "abs_preference"),
    undefined=(empty(0),),
    scale="votes",
    sliced=True,
    bounds="0 (every item split evenly) to 1 (every vote of an item for the same thing)",
    source=f"{SECTION}; it contains rater noise, as a mean of absolute values does",
)
def preference_strength(has: Array, abs_preference: Array) -> Array:
    """How clear the pool's preferences are: mean over items of the margin between the two things."""
    return ratio(abs_preference, has)


def preference_noise(f: Features, k: int) -> Array:
    """(I,) variance of the preference from its raters, the pool's where an item has one vote; NaN where unknown."""
    n, signed = f.pools.n[k], preference(f, k)
    second = zero_where(f.pools.has[k], 1 - tie_share(f, k)) - signed**2
    several = f.pools.has[k] & (n > 1)
    own = np.where(several, np.maximum(second, 0.0) * n / np.maximum(n - 1, 1), np.nan)
    df = np.where(several, n - 1, 0.0)
    pooled = ratio(np.asarray((np.nan_to_num(own) * df).sum()), np.asarray(df.sum()))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(f.pools.has[k], np.where(several, own, pooled) / n, np.nan)


@feature("pool")
def preference_sq_corrected(f: Features, k: int) -> Array:
    """Squared preference less its rater noise."""
    return np.nan_to_num(preference(f, k) ** 2 - preference_noise(f, k))


@feature("pool")
def preference_noise_unknown(f: Features, k: int) -> Array:
    """1 where the pool has votes and their noise is unknown."""
    return (f.pools.has[k] & np.isnan(preference_noise(f, k))).astype(float)


@additive(
    "preference.rms",
    per="pool",
    features=("has", "preference_sq_corrected", "preference_noise_unknown"),
    undefined=(empty(0), ("noise_unknown", lambda *s: s[2] > 0)),
    scale="votes",
    bounds="0 to about 1",
    source=f"{SECTION}; method of moments, as gap_rms",
)
def preference_rms(has: Array, preference_sq_corrected: Array, preference_noise_unknown: Array) -> Array:
    """Root mean square margin between the two things, corrected for rater noise."""
    return np.sqrt(np.maximum(ratio(preference_sq_corrected, has), 0.0))


@feature("pool")
def ties(f: Features, k: int) -> Array:
    """Share of ties."""
    return tie_share(f, k)


@feature("pool")
def may_tie(f: Features, k: int) -> Array:
    """1 where the pool has votes and a vote may be a tie."""
    return f.pools.has[k].astype(float) * float(_shares(f).shape[2] > 2)


_NO_TIES = ("no_tie_label", lambda *s: s[-1] <= 0)


@additive(
    "preference.ties",
    per="pool",
    features=("has", "ties", "may_tie"),
    undefined=(empty(0), _NO_TIES),
    scale="votes",
    sliced=True,
    bounds="0 to 1",
    source=SECTION,
)
def preference_ties(has: Array, ties: Array, may_tie: Array) -> Array:
    """Share of the pool's votes that are ties, the mean over items."""
    return ratio(ties, has)


def _best(f: Features, k: int, decided: bool) -> tuple[Array, Array]:
    """(I,) the largest share of an item's votes, and whether it counts; decided: among votes for one of the two."""
    shares = np.nan_to_num(_shares(f)[k])[:, : 2 if decided else None]
    total = shares.sum(1)
    counts = f.pools.has[k] & (total > TIE)
    return np.where(counts, shares.max(1) / np.where(counts, total, 1.0), 0.0), counts


def _human(f: Features, k: int, decided: bool) -> tuple[Array, Array]:
    """(I,) how often two raters of the pool agree on an item, and whether it has two; decided: as in ``_best``."""
    shares = np.nan_to_num(_shares(f)[k])[:, : 2 if decided else None]
    votes = np.round(shares * np.nan_to_num(f.pools.n[k])[:, None], 6)
    n = votes.sum(1)
    counts = f.pools.has[k] & (n > 1)
    pairs = np.where(counts, n * (n - 1), 1.0)
    return np.where(counts, (votes * (votes - 1)).sum(1) / pairs, 0.0), counts


def _judged(f: Features, k: int, decided: bool) -> tuple[Array, Array]:
    """(C, I) share of the pool's votes that agree with the judge, and whether it counts; decided: ties out on both."""
    if not decided:
        counts = rated_mask(f, k)
        return zero_where(counts, 1 - f.error(k)), counts
    shares = np.nan_to_num(_shares(f)[k])[:, :2]
    total = shares.sum(1)
    given = np.where(f.ratings < 2, f.ratings, np.nan)
    codes = np.nan_to_num(given).astype(int)
    agreeing = shares[np.arange(len(total))[:, None], codes] / np.where(total > TIE, total, 1.0)[:, None]
    value = f.over_repeats(np.where(np.isnan(given), np.nan, agreeing))
    counts = ~np.isnan(value) & f.pools.has[k] & (total > TIE)
    return np.where(counts, value, 0.0), counts


_AGREEMENT = {
    "agreement": ("judge_pool", _judged, "no_items", "share of a pool's votes that agree with the judge's answer"),
    "agreement.best": ("pool", _best, "no_items", "share of the plurality: no answer can agree with more of the votes"),
    "agreement.human": ("pool", _human, "one_rater", "chance that two raters of the pool, drawn on an item, agree"),
}
_AGREEMENT_DOC = {
    "agreement": "How often the judge agrees with a vote of the pool, the mean over items.",
    "agreement.best": "The highest agreement that any judge could reach with the pool's votes.",
    "agreement.human": "How often a rater of the pool agrees with another of its raters, the mean over items.",
}


def _agreement(name: str, decided: bool) -> None:
    """Declare a statistic of agreement, over all votes or over those for one of the two things."""
    per, function, reason, source = _AGREEMENT[name]
    tag = f"{name.replace('.', '_')}{'_decided' if decided else ''}"

    def numerator(f: Features, k: int) -> Array:
        return function(f, k, decided)[0]

    def denominator(f: Features, k: int) -> Array:
        return function(f, k, decided)[1].astype(float)

    numerator.__name__, denominator.__name__ = tag, f"{tag}_n"
    feature(per)(numerator)
    feature(per)(denominator)

    def value(top: Array, bottom: Array) -> Array:
        return ratio(top, bottom)

    value.__doc__ = _AGREEMENT_DOC[name] + (" Ties are left out on both sides." if decided else "")
    additive(
        name,
        per=per,
        features=(tag, f"{tag}_n"),
        n_of=1,
        undefined=(empty(1, reason),),
        params={"ties": "out"} if decided else {},
        scale="votes",
        sliced=not decided,
        bounds="0 to 1",
        source=f"{source}; {MTBENCH}: {'setup S2' if decided else 'setup S1'}",
    )(value)


for _name in _AGREEMENT:
    for _decided in (False, True):
        _agreement(_name, _decided)


@feature("pair")
def both_prefer(f: Features, a: int, b: int) -> Array:
    """1 where both pools have a majority for one of the two things."""
    return _majorities(f, a, b)[1].astype(float)


@feature("pair")
def majorities_differ(f: Features, a: int, b: int) -> Array:
    """1 where the two majorities are for different things."""
    return _majorities(f, a, b)[0].astype(float)


def _majorities(f: Features, a: int, b: int) -> tuple[Mask, Mask]:
    first, second = preference(f, a), preference(f, b)
    present = (np.abs(first) > TIE) & (np.abs(second) > TIE)
    return present & (first * second < 0), present


@additive(
    "preference.reversed",
    per="pair",
    features=("majorities_differ", "both_prefer"),
    n_of=1,
    undefined=(empty(1, "no_majorities"),),
    scale="votes",
    sliced=True,
    bounds="0 to 1",
    source=f"{SECTION}; of the items on which each pool has more votes for one thing than for the other",
)
def preference_reversed(majorities_differ: Array, both_prefer: Array) -> Array:
    """Share of items on which the two pools' majorities are for different things."""
    return ratio(majorities_differ, both_prefer)


def _pair_product(name: str, sides: tuple[int, int]) -> None:
    """Register the product of two preferences on items that have both pools."""

    def product(f: Features, a: int, b: int) -> Array:
        left, right = (preference(f, (a, b)[side]) for side in sides)
        return zero_where(f.pools.has[a] & f.pools.has[b], left * right)

    product.__name__ = name
    feature("pair")(product)


for _name, _sides in (("prefer_ab", (0, 1)), ("prefer_aa", (0, 0)), ("prefer_bb", (1, 1))):
    _pair_product(_name, _sides)


def _through_origin(cross: Array, left: Array, right: Array) -> Array:
    """sum(xy) / sqrt(sum(x^2) sum(y^2)), clipped to [-1, 1]; NaN where a side has no preference."""
    square = left * right
    return np.asarray(np.clip(ratio(cross, np.sqrt(np.where(square <= CONSTANT**2, 0.0, square))), -1.0, 1.0))


@additive(
    "cross_pool_preference_r",
    per="pair",
    features=("both", "prefer_ab", "prefer_aa", "prefer_bb"),
    undefined=(
        empty(0, "no_common_items"),
        ("no_preference", lambda *s: np.minimum(s[2], s[3]) <= CONSTANT),
    ),
    scale="votes",
    sliced=True,
    bounds="-1 to 1",
    source=f"{SECTION}; correlation through the origin: which thing is the first moves no centre",
)
def cross_pool_preference_r(both: Array, prefer_ab: Array, prefer_aa: Array, prefer_bb: Array) -> Array:
    """Do the two pools prefer the same things equally clearly? Correlation of their preferences around 0."""
    return _through_origin(prefer_ab, prefer_aa, prefer_bb)


@feature("judge_pool")
def answer_by_preference(f: Features, k: int) -> Array:
    """The judge's preference times the pool's."""
    return zero_where(rated_mask(f, k), answer(f) * preference(f, k))


@feature("judge_pool")
def answer_sq(f: Features, k: int) -> Array:
    """The judge's preference, squared."""
    return zero_where(rated_mask(f, k), answer(f) ** 2)


@feature("judge_pool")
def preference_sq(f: Features, k: int) -> Array:
    """The pool's preference, squared, where the judge has an answer."""
    return zero_where(rated_mask(f, k), np.broadcast_to(preference(f, k) ** 2, f.answered.shape))


@additive(
    "preference_r",
    per="judge_pool",
    features=("rated", "answer_by_preference", "answer_sq", "preference_sq"),
    undefined=(
        empty(0),
        ("judge_ties", lambda *s: s[2] <= CONSTANT),
        ("no_preference", lambda *s: s[3] <= CONSTANT),
    ),
    scale="votes",
    sliced=True,
    bounds="-1 to 1",
    source=f"{SECTION}; correlation through the origin",
)
def preference_r(rated: Array, answer_by_preference: Array, answer_sq: Array, preference_sq: Array) -> Array:
    """Does the judge prefer what the pool prefers, most of all where the pool is clear? Correlation around 0."""
    return _through_origin(answer_by_preference, answer_sq, preference_sq)


@feature("judge")
def answers(f: Features) -> Array:
    """1 where the cell has an answer."""
    return f.answered.astype(float)


@feature("judge")
def said_tie(f: Features) -> Array:
    """Whether the answer is a tie, the mean over repeats."""
    said = f.over_repeats(np.where(np.isnan(f.ratings), np.nan, (f.ratings == 2).astype(float)))
    return zero_where(f.answered, np.nan_to_num(said))


@feature("judge")
def could_tie(f: Features) -> Array:
    """1 where the cell has an answer that may be a tie."""
    return f.answered.astype(float) * float(_shares(f).shape[2] > 2)


@additive(
    "ties_given",
    per="judge",
    features=("said_tie", "answers", "could_tie"),
    n_of=1,
    undefined=(empty(1), _NO_TIES),
    scale="votes",
    bounds="0 to 1",
    source=SECTION,
)
def ties_given(said_tie: Array, answers: Array, could_tie: Array) -> Array:
    """Share of the judge's answers that are ties."""
    return ratio(said_tie, answers)


def _shares(f: Features) -> Array:
    if f.pools.shares is None:
        raise ValueError("pairwise votes need the pools' shares")  # noqa: TRY003
    return f.pools.shares
