"""A judge against one pool: errors, correlations, kappa (section 2 of the definitions; Jury Duty, section 4)."""

from __future__ import annotations

import numpy as np

from voirdire.statistic import additive, empty, ratio
from voirdire.stats.agreement import constant_side, kappa_of_sums, pearson_of_sums, sample_variance
from voirdire.stats.features import Array, Features, feature, nearest_level, zero_where


def rated_mask(f: Features, k: int) -> np.ndarray:
    """(C, I) whether the cell has a rating and the pool a consensus."""
    return np.asarray(f.answered & f.pools.has[k])


@feature("judge_pool")
def rated(f: Features, k: int) -> Array:
    """1 where the cell has a rating and the pool a consensus."""
    return rated_mask(f, k).astype(float)


@feature("judge_pool")
def abs_error(f: Features, k: int) -> Array:
    """abs(r - m), the mean over repeats; nominal: 1 - share of the pool's raters who agree with r."""
    return zero_where(rated_mask(f, k), f.error(k))


@feature("judge_pool")
def signed_error(f: Features, k: int) -> Array:
    """r - m."""
    return zero_where(rated_mask(f, k), f.rating - f.pools.mean[k])


@additive(
    "mae",
    per="judge_pool",
    features=("abs_error", "rated"),
    n_of=1,
    undefined=(empty(1),),
    scale="any",
    sliced=True,
    bounds="0 to the scale's range (nominal: 0 to 1)",
    source="Jury Duty, section 4; with repeats the mean over the repeats' errors",
)
def mae(abs_error: Array, rated: Array) -> Array:
    """Mean absolute error of the judge against the pool's consensus."""
    return ratio(abs_error, rated)


@additive(
    "bias",
    per="judge_pool",
    features=("signed_error", "rated"),
    n_of=1,
    undefined=(empty(1),),
    sliced=True,
    bounds="minus to plus the scale's range; positive: the judge rates higher than the pool",
    source="mean of r - m",
)
def bias(signed_error: Array, rated: Array) -> Array:
    """Mean signed error of the judge against the pool's consensus."""
    return ratio(signed_error, rated)


def _moment(name: str, left: str, right: str | None, rounded: bool) -> None:
    def moment(f: Features, k: int) -> Array:
        consensus = f.pools.rounded[k] if rounded else f.pools.mean[k]
        judge = nearest_level(f.rating, f.pools.scale.levels) if rounded else f.rating
        center = f.pools.center
        sides = {"r": judge - center, "m": np.broadcast_to(consensus - center, judge.shape)}
        return zero_where(rated_mask(f, k), sides[left] * (sides[right] if right else 1.0))

    moment.__name__ = name
    feature("judge_pool")(moment)


MOMENTS = ("j_r", "j_m", "j_rr", "j_mm", "j_rm")
ROUNDED = tuple(f"rounded_{name}" for name in MOMENTS)
for _name, _sides in zip(MOMENTS, (("r", None), ("m", None), ("r", "r"), ("m", "m"), ("r", "m")), strict=True):
    _moment(_name, *_sides, rounded=False)
    _moment(f"rounded_{_name}", *_sides, rounded=True)

CORRELATION = (
    empty(0),
    ("one_item", lambda *s: s[0] == 1),
    ("constant_judge", lambda *s: constant_side(s[0], s[1], s[3])),
    ("constant_consensus", lambda *s: constant_side(s[0], s[2], s[4])),
)


@additive(
    "pearson",
    per="judge_pool",
    features=("rated", *MOMENTS),
    undefined=CORRELATION,
    sliced=True,
    across="mean_of_cells",
    scale="rank",
    bounds="-1 to 1",
    source="Jury Duty, section 4; over several cells the mean of the cells' values",
)
def pearson(*sums: Array) -> Array:
    """Pearson correlation of the judge's ratings and the pool's consensus over items."""
    return pearson_of_sums(*sums)


@additive(
    "kappa_qw",
    per="judge_pool",
    features=("rated", *ROUNDED),
    undefined=(
        empty(0),
        ("all_equal", lambda *s: constant_side(s[0], s[1], s[3]) & constant_side(s[0], s[2], s[4]) & (s[1] == s[2])),
    ),
    scale="discrete",
    bounds="-1 to 1; 0 for a constant judge",
    source="Jury Duty, section 5.1; consensus rounded to the nearest level, ties to the higher",
)
def kappa_qw(*sums: Array) -> Array:
    """Quadratic-weighted kappa of the judge's ratings and the pool's rounded consensus."""
    return kappa_of_sums(*sums)


@additive(
    "spread.sd_ratio",
    per="judge_pool",
    features=("rated", *MOMENTS),
    undefined=(
        empty(0),
        ("one_item", lambda *s: s[0] == 1),
        ("constant_consensus", lambda *s: constant_side(s[0], s[2], s[4])),
    ),
    bounds="0 upwards; 1: as spread as the pool; below 1: compressed",
    source="sd of the judge's ratings over sd of the consensus",
)
def spread_sd_ratio(*sums: Array) -> Array:
    """How much of the scale the judge uses: sd of its ratings over sd of the consensus."""
    judge = sample_variance(sums[0], sums[1], sums[3])
    judge = np.where(constant_side(sums[0], sums[1], sums[3]), 0.0, judge)
    return np.sqrt(ratio(judge, sample_variance(sums[0], sums[2], sums[4])))


@additive(
    "spread.slope",
    per="judge_pool",
    features=("rated", *MOMENTS),
    undefined=(
        empty(0),
        ("one_item", lambda *s: s[0] == 1),
        ("constant_consensus", lambda *s: constant_side(s[0], s[2], s[4])),
    ),
    bounds="any; 1: a step of the pool is a step of the judge",
    source="least squares of r on the consensus",
)
def spread_slope(*sums: Array) -> Array:
    """Slope of the judge's ratings on the pool's consensus."""
    n, sum_r, sum_m, _, sq_m, cross = sums
    return ratio(cross - ratio(sum_r * sum_m, n), sq_m - ratio(sum_m * sum_m, n))


@feature("judge_pool")
def beside_constant(f: Features, k: int) -> Array:
    """1 where the cell has a rating, the pool a consensus and the other folds a best constant."""
    return (rated_mask(f, k) & ~np.isnan(_constant(f, k))).astype(float)


@feature("judge_pool")
def error_beside_constant(f: Features, k: int) -> Array:
    """abs_error on the items of ``beside_constant``."""
    return zero_where(beside_constant(f, k) > 0, f.error(k))


@feature("judge_pool")
def loss_of_constant(f: Features, k: int) -> Array:
    """Error of the best constant, chosen on the other folds, on the items of ``beside_constant``.

    Of labels a constant half way between two is a coin that falls on either.
    """
    constant, shares = _constant(f, k), f.pools.shares
    if shares is None:
        loss = np.abs(constant - f.pools.mean[k])
    else:
        items, code = np.arange(len(constant)), np.nan_to_num(constant)
        between = [shares[k][items, side(code).astype(int)] for side in (np.floor, np.ceil)]
        loss = 1 - (between[0] + between[1]) / 2
    return zero_where(beside_constant(f, k) > 0, loss[None, :])


def _constant(f: Features, k: int) -> Array:
    if f.constants is None:
        raise ValueError("no constants were given")  # noqa: TRY003
    return np.asarray(f.constants[k])


@additive(
    "mae_vs_constant",
    per="judge_pool",
    features=("error_beside_constant", "loss_of_constant", "beside_constant", "rated"),
    n_of=2,
    undefined=(empty(3), empty(2, "no_folds")),
    scale="any",
    sliced=True,
    bounds="negative: nearer the pool than the best constant rating",
    source="best constant cross-fitted over seeded folds of items; the best of all items where folds disagree",
    params={"folds": "10"},
)
def mae_vs_constant(error: Array, loss_of_constant: Array, beside_constant: Array, rated: Array) -> Array:
    """MAE of the judge minus MAE of the best constant rating, cross-fitted."""
    return ratio(error - loss_of_constant, beside_constant)


@feature("judge_pool")
def worst_error(f: Features, k: int) -> Array:
    """abs_error; at a missing judgment the largest error that a level could make."""
    return _bounded(f, k, np.max)


@feature("judge_pool")
def least_error(f: Features, k: int) -> Array:
    """abs_error; at a missing judgment the smallest error that a level could make."""
    return _bounded(f, k, np.min)


def _bounded(f: Features, k: int, pick: object) -> Array:
    at_levels = level_errors(f, k)
    extreme = at_levels.max(0) if pick is np.max else at_levels.min(0)
    return zero_where(f.pools.has[k], np.where(f.answered, f.error(k), extreme[None, :]))


def level_errors(f: Features, k: int) -> Array:
    """(L, I) the error of each declared level (of the scale's ends where it has no levels); nominal: 1 - share."""
    if f.pools.shares is not None:
        return np.asarray(1 - f.pools.shares[k].T)
    cuts = f.pools.scale
    levels = np.asarray(cuts.levels or (cuts.low, cuts.high))
    errors = np.abs(levels[:, None] - f.pools.mean[k][None, :])
    if cuts.levels:
        return np.asarray(errors)
    return np.vstack([errors, np.zeros(errors.shape[1])])


@feature("judge_pool")
def in_scope(f: Features, k: int) -> Array:
    """1 where the pool has a consensus, whether the cell has a rating or not."""
    return np.broadcast_to(f.pools.has[k].astype(float), f.answered.shape)


def _bound(side: str, feature_name: str) -> None:
    def bound(error: Array, in_scope: Array) -> Array:
        return ratio(error, in_scope)

    bound.__doc__ = f"MAE if every missing judgment had the level that makes it {side}."
    additive(
        f"mae.bound_{side}",
        per="judge_pool",
        features=(feature_name, "in_scope"),
        n_of=1,
        undefined=(empty(1),),
        scale="ends",
        interval="none",
        bounds="0 to the scale's range",
        source="worst and best case of the missing judgments; given when more than 1 % are missing",
    )(bound)


_bound("low", "least_error")
_bound("high", "worst_error")


@feature("judge_pool")
def loo_error(f: Features, k: int) -> Array:
    """Mean error against the pool's leave-one-rater-out consensuses of the item."""
    error, _ = _loo(f)
    return np.asarray(error[k])


@feature("judge_pool")
def loo_rated(f: Features, k: int) -> Array:
    """1 where the cell has a rating and the pool two or more raters."""
    _, counted = _loo(f)
    return np.asarray(counted[k])


def _loo(f: Features) -> tuple[Array, Array]:
    if f.loo is None:
        raise ValueError("no leave-one-out errors were given")  # noqa: TRY003
    return f.loo


@additive(
    "ceiling.judge",
    per="judge_pool",
    features=("loo_error", "loo_rated"),
    n_of=1,
    undefined=(empty(1, "no_individual_ratings"),),
    scale="any",
    interval="items",
    bounds="0 to the scale's range",
    source="MAE against leave-one-rater-out consensuses, to stand beside ceiling.own",
)
def ceiling_judge(loo_error: Array, loo_rated: Array) -> Array:
    """The judge's MAE against the same leave-one-out consensuses that a single rater is measured by."""
    return ratio(loo_error, loo_rated)


@additive(
    "plurality_agreement",
    per="judge_pool",
    features=("agrees_plurality", "rated"),
    n_of=1,
    undefined=(empty(1),),
    scale="labels",
    bounds="0 to 1",
    source="share of items on which the judge gives the pool's most frequent label; ties count by fraction",
)
def plurality_agreement(agrees_plurality: Array, rated: Array) -> Array:
    """Share of items on which the judge gives the label that most of the pool gave."""
    return ratio(agrees_plurality, rated)


@feature("judge_pool")
def agrees_plurality(f: Features, k: int) -> Array:
    """1 / number of tied most frequent labels where the judge's label is one of them, the mean over repeats."""
    shares = f.pools.shares
    if shares is None:
        raise ValueError("plurality needs the pool's shares")  # noqa: TRY003
    top = np.isclose(shares[k], shares[k].max(-1, keepdims=True)) & f.pools.has[k][:, None]
    credit = top / np.maximum(top.sum(-1, keepdims=True), 1)
    return zero_where(rated_mask(f, k), f.per_label(credit))
