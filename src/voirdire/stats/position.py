"""Pairwise votes by thing, and by the side that was shown first. Shapes as in ``preference.py``.

These numbers need more than shares: the thing that they speak of, or which thing was shown first
(``Features.votes``). The audit asks for them by name.
"""

from __future__ import annotations

import numpy as np

from voirdire.statistic import additive, empty, ratio
from voirdire.stats.alignment import rated_mask
from voirdire.stats.features import TIE, Array, Features, feature, zero_where
from voirdire.stats.preference import MTBENCH, SECTION, Votes, answer, preference

BY_THING = "a_thing"
BY_SIDE = "a_side"
"""What these statistics need of a question: that the audit gives the thing or the side."""


def _votes(f: Features) -> Votes:
    if f.votes is None:
        raise ValueError("the thing or the side shown first was not given")  # noqa: TRY003
    return f.votes


def _thing(f: Features) -> Array:
    thing = _votes(f).thing
    if thing is None:
        raise ValueError("no thing was given")  # noqa: TRY003
    return thing


def _share_for(signed: Array) -> Array:
    """Share of votes for a thing, a tie counting half, of a preference for it."""
    return (1 + signed) / 2


@feature("pool")
def for_thing(f: Features, k: int) -> Array:
    """Share of the pool's votes for the thing, a tie counting half."""
    return shows_thing(f, k) * _share_for(preference(f, k) * _thing(f))


@feature("pool")
def shows_thing(f: Features, k: int) -> Array:
    """1 where the item shows the thing and the pool has votes."""
    return ((_thing(f) != 0) & f.pools.has[k]).astype(float)


@additive(
    "preferred_share",
    per="pool",
    features=("for_thing", "shows_thing"),
    n_of=1,
    undefined=(empty(1),),
    scale=BY_THING,
    bounds="0 to 1; 1/2: preferred as often as not",
    source=f"{SECTION}; a tie counts half; params: thing",
)
def preferred_share(for_thing: Array, shows_thing: Array) -> Array:
    """How often the pool prefers a thing to what it is shown beside, the mean over the items that show it."""
    return ratio(for_thing, shows_thing)


@feature("pair")
def share_gap(f: Features, a: int, b: int) -> Array:
    """Share of pool a's votes for the thing less that of pool b's."""
    return both_show(f, a, b) * (preference(f, a) - preference(f, b)) * _thing(f) / 2


@feature("pair")
def both_show(f: Features, a: int, b: int) -> Array:
    """1 where the item shows the thing and both pools have votes."""
    return ((_thing(f) != 0) & f.pools.has[a] & f.pools.has[b]).astype(float)


@additive(
    "preferred_share.gap",
    per="pair",
    features=("share_gap", "both_show"),
    n_of=1,
    undefined=(empty(1, "no_common_items"),),
    scale=BY_THING,
    bounds="-1 to 1; positive: the first pool prefers it more often",
    source=f"{SECTION}; on the items that both pools voted on; params: thing",
)
def preferred_share_gap(share_gap: Array, both_show: Array) -> Array:
    """How much more often the first pool prefers a thing than the second."""
    return ratio(share_gap, both_show)


@feature("judge")
def judged_for_thing(f: Features) -> Array:
    """1 where the judge prefers the thing, 1/2 where it says a tie, the mean over repeats."""
    return zero_where(judged_thing(f) > 0, _share_for(np.nan_to_num(answer(f)) * _thing(f)))


@feature("judge")
def judged_thing(f: Features) -> Array:
    """1 where the item shows the thing and the judge has an answer."""
    return ((_thing(f) != 0) & f.answered).astype(float)


@additive(
    "preferred_share.judge",
    per="judge",
    features=("judged_for_thing", "judged_thing"),
    n_of=1,
    undefined=(empty(1),),
    scale=BY_THING,
    bounds="0 to 1",
    source=f"{SECTION}; the judge's win rate of the thing; params: thing",
)
def preferred_share_judge(judged_for_thing: Array, judged_thing: Array) -> Array:
    """How often the judge prefers a thing to what it is shown beside; a tie counts half."""
    return ratio(judged_for_thing, judged_thing)


@feature("judge_pool")
def judge_over_pool(f: Features, k: int) -> Array:
    """The judge's share for the thing less the pool's."""
    return zero_where(judged_with_pool(f, k) > 0, (np.nan_to_num(answer(f)) - preference(f, k)) * _thing(f) / 2)


@feature("judge_pool")
def judged_with_pool(f: Features, k: int) -> Array:
    """1 where the item shows the thing, the judge has an answer and the pool votes."""
    return ((_thing(f) != 0) & rated_mask(f, k)).astype(float)


@additive(
    "preferred_share.difference",
    per="judge_pool",
    features=("judge_over_pool", "judged_with_pool"),
    n_of=1,
    undefined=(empty(1),),
    scale=BY_THING,
    bounds="-1 to 1; positive: the judge prefers it more often than the pool",
    source=f"{SECTION}; on the items of both; params: thing",
)
def preferred_share_difference(judge_over_pool: Array, judged_with_pool: Array) -> Array:
    """How much more often the judge prefers a thing than the pool does, on the same items."""
    return ratio(judge_over_pool, judged_with_pool)


def _shown(f: Features) -> Array:
    shown = _votes(f).shown
    if shown is None:
        raise ValueError("nobody says which thing was shown first")  # noqa: TRY003
    return shown


@feature("judge")
def first_over_second(f: Features) -> Array:
    """1 for an answer for the thing shown first, -1 for the other, 0 for a tie; the mean over those of known order."""
    sign = np.array([1.0, -1.0, 0.0])[np.nan_to_num(f.ratings).astype(int)]
    return np.nan_to_num(f.over_repeats(np.where(np.isnan(f.ratings), np.nan, sign) * _shown(f)))


@feature("judge")
def order_known(f: Features) -> Array:
    """1 where an answer says which thing was shown first."""
    return np.asarray((~np.isnan(f.ratings) & ~np.isnan(_shown(f))).any(-1), dtype=float)


@additive(
    "position.bias",
    per="judge",
    features=("first_over_second", "order_known"),
    n_of=1,
    undefined=(empty(1, "no_order"),),
    scale=BY_SIDE,
    bounds="-1 (always for the thing shown second) to 1 (always for the first); 0: neither side",
    source=f"{MTBENCH}; share of answers for the thing shown first less that for the second",
)
def position_bias(first_over_second: Array, order_known: Array) -> Array:
    """Does the judge favour the thing that it is shown first?"""
    return ratio(first_over_second, order_known)


@feature("judge")
def in_both_orders(f: Features) -> Array:
    """1 where the judge answered the item in both orders."""
    return _orders(f)[1].astype(float)


@feature("judge")
def same_in_both(f: Features) -> Array:
    """Share of pairs of answers, one in each order, that are for the same thing (or both ties)."""
    return _orders(f)[0]


def _orders(f: Features) -> tuple[Array, np.ndarray]:
    """(C, I) agreement between the answers of the two orders, and whether there are both."""
    shown, given = _shown(f), f.ratings
    by_order = [
        np.stack([((given == label) & (shown == side)).sum(-1) for label in range(3)], -1).astype(float)
        for side in (1.0, -1.0)
    ]
    n = [answers.sum(-1) for answers in by_order]
    both = (n[0] > 0) & (n[1] > 0)
    pairs = np.where(both, n[0] * n[1], 1.0)
    return np.where(both, (by_order[0] * by_order[1]).sum(-1) / pairs, 0.0), both


@additive(
    "position.consistency",
    per="judge",
    features=("same_in_both", "in_both_orders", "order_known"),
    n_of=1,
    undefined=(empty(2, "no_order"), empty(1, "one_order")),
    scale=BY_SIDE,
    bounds="0 to 1",
    source=f"{MTBENCH}; share of items with the same answer when the sides are swapped",
)
def position_consistency(same_in_both: Array, in_both_orders: Array, order_known: Array) -> Array:
    """How often the judge gives the same answer when the two things change sides."""
    return ratio(same_in_both, in_both_orders)


def _by_favourite(f: Features, k: int, side: float) -> tuple[Array, Array]:
    """(C, I) agreement of answers that saw the pool's favourite first (1) or second (-1), and whether there are any."""
    favourite = np.sign(np.where(np.abs(preference(f, k)) > TIE, preference(f, k), 0.0))
    seen = (_shown(f) * favourite[None, :, None]) == side
    shares = f.pools.shares
    codes = np.nan_to_num(f.ratings).astype(int)
    agreeing = np.nan_to_num(shares[k])[np.arange(len(favourite))[:, None], codes]  # type: ignore[index]
    value = f.over_repeats(np.where(np.isnan(f.ratings) | ~seen, np.nan, agreeing))
    counts = ~np.isnan(value) & f.pools.has[k]
    return np.where(counts, value, 0.0), counts.astype(float)


for _name, _side, _part in (
    ("agrees_favourite_first", 1.0, 0),
    ("favourite_first", 1.0, 1),
    ("agrees_favourite_second", -1.0, 0),
    ("favourite_second", -1.0, 1),
):

    def _favourite(f: Features, k: int, side: float = _side, part: int = _part) -> Array:
        return _by_favourite(f, k, side)[part]

    _favourite.__name__ = _name
    feature("judge_pool")(_favourite)


@additive(
    "position.effect",
    per="judge_pool",
    features=("agrees_favourite_first", "favourite_first", "agrees_favourite_second", "favourite_second"),
    n_of=1,
    undefined=(
        ("no_order", lambda *s: s[1] + s[3] <= 0),
        ("one_order", lambda *s: np.minimum(s[1], s[3]) <= 0),
    ),
    scale=BY_SIDE,
    bounds="-1 to 1; positive: agrees more where the pool's favourite was shown first",
    source=f"{SECTION}: the side presented first as a factor; its two levels are said by the pool's own favourite",
)
def position_effect(first: Array, n_first: Array, second: Array, n_second: Array) -> Array:
    """Agreement with the pool where its favourite was shown first, less that where it was shown second."""
    return ratio(first, n_first) - ratio(second, n_second)


@feature("pool")
def raters_first(f: Features, k: int) -> Array:
    """Votes for the thing shown first less those for the other, the mean over an item's votes of known order."""
    return _rater_sides(f, k)[0]


@feature("pool")
def raters_order_known(f: Features, k: int) -> Array:
    """1 where a vote of the pool says which thing was shown first."""
    return _rater_sides(f, k)[1]


def _rater_sides(f: Features, k: int) -> tuple[Array, Array]:
    votes = _votes(f)
    if votes.raters is None or votes.n_raters is None:
        raise ValueError("nobody says which thing the raters were shown first")  # noqa: TRY003
    n = votes.n_raters[k]
    return votes.raters[k] / np.maximum(n, 1), (n > 0).astype(float)


@additive(
    "position.raters",
    per="pool",
    features=("raters_first", "raters_order_known"),
    n_of=1,
    undefined=(empty(1, "no_order"),),
    scale=BY_SIDE,
    bounds="-1 to 1; 0: neither side",
    source=f"{SECTION}; as position.bias, for people",
)
def position_raters(raters_first: Array, raters_order_known: Array) -> Array:
    """Do the pool's raters favour the thing that they are shown first?"""
    return ratio(raters_first, raters_order_known)
