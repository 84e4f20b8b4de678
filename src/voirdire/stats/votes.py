"""Votes between two things as numbers: the two things swapped, judges that look at nothing, reliability.

Shapes: I items, L labels (the first thing, the second, and a tie where there is one). Which thing is called the first
is arbitrary, and nothing here depends on it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from voirdire.statistic import ratio
from voirdire.stats.agreement import CONSTANT, LEAST_DF
from voirdire.stats.features import Array

Mask = npt.NDArray[np.bool_]


def mirrored(codes: Array) -> Array:
    """Votes with the two things swapped; ties and missing ones stay.

    >>> mirrored(np.array([0.0, 1.0, 2.0, np.nan]))
    array([ 1.,  0.,  2., nan])
    """
    return np.where(codes < 2, 1 - codes, codes)


def canonical(item: npt.NDArray[np.int64], value: Array, is_b: Mask) -> Array:
    """The votes with the things of each item in an order that the votes themselves give: the one with more first.

    item, value, is_b : (votes,). Where both have as many, the first pool's favourite comes first. What is drawn at
    random then does not depend on which thing was called the first.

    >>> canonical(np.array([0, 0, 1]), np.array([1.0, 1.0, 2.0]), np.array([False, True, False]))
    array([0., 0., 2.])
    """
    sign = np.where(value < 2, 1.0 - 2.0 * value, 0.0)
    both, of_a = (np.asarray(np.bincount(item, weights)) for weights in (sign, np.where(is_b, 0.0, sign)))
    favoured = np.take(np.where(both == 0, of_a, both), item)
    return np.where(favoured < 0, mirrored(value), value)


def blind_shares(shares: Array) -> Array:
    """(I, 1 or 2) how many raters agree with a judge that does not look at the pair: a coin, and always a tie.

    shares : (I, L), zeros where missing
    """
    return np.column_stack([(shares[:, 0] + shares[:, 1]) / 2, *shares.T[2:]])


def plurality_votes(shares: Array) -> Array:
    """(I, L) every label that most of the votes are for, NaN behind them: a copy of a pool, as repeats of one answer.

    shares : (I, L), NaN where there are none

    >>> plurality_votes(np.array([[0.4, 0.4, 0.2], [0.2, 0.8, 0.0]]))
    array([[ 0.,  1., nan],
           [ 1., nan, nan]])
    """
    known: Mask = np.asarray(~np.isnan(shares).any(1))
    rounded = np.round(np.nan_to_num(shares), 9)
    top = (rounded == rounded.max(1, keepdims=True)) & known[:, None]
    places = np.where(top, np.arange(shares.shape[1], dtype=float), np.nan)
    return np.sort(places, axis=1)


def reliability_votes(counts: Array) -> Array:
    """(7, I) per-item sums of the reliability of pairwise votes; zeros where the pool has no vote.

    counts : (I, L) votes for each label
    """
    n = counts.sum(1)
    rated, size = n > 0, np.maximum(n, 1.0)
    shares = counts / size[:, None]
    signed = shares[:, 0] - shares[:, 1]
    tie = shares[:, 2] if counts.shape[1] > 2 else np.zeros(len(n))
    several = n > 1
    rows = [rated, np.where(rated, 1 / size, 0.0), np.where(several, n * (1 - (shares**2).sum(1)), 0.0)]
    rows += [np.where(several, n - 1, 0.0), signed**2, tie, tie**2]
    return np.array(rows, dtype=float)


def reliability_of_votes(sums: Array) -> Array:
    """1 - noise / variance of the shares, the preferences around 0; sums (7, ...), NaN where undefined.

    The variance of the shares summed over labels is half the mean squared preference and one and a half times the
    variance of the ties: the centre of a preference is 0, whichever thing is the first.

    >>> float(reliability_of_votes(reliability_votes(np.array([[3.0, 0, 0], [3.0, 0, 0]])).sum(1)))
    1.0
    """
    rated, inverse, within, df, squares, tie, tie_sq = sums
    noise = ratio(within, df) * ratio(inverse, rated)
    ties = np.maximum(ratio(tie_sq - ratio(tie * tie, rated), rated - 1), 0.0)
    spread = ratio(squares, rated) / 2 + 1.5 * ties
    return 1 - ratio(noise, np.where(spread <= CONSTANT, 0.0, spread))


def votes_reason(sums: Array) -> str | None:
    """Why the reliability of these sums (7,) is undefined, None when it is not."""
    rated, _, _, df, squares, tie, tie_sq = (float(value) for value in sums)
    for reason, hit in (
        ("no_items", rated == 0),
        ("one_rater", df == 0),
        ("few_rated_twice", df < LEAST_DF),
        ("one_item", rated == 1),
    ):
        if hit:
            return reason
    flat = squares <= CONSTANT and tie_sq - tie * tie / rated <= CONSTANT
    return "constant_consensus" if flat else None
