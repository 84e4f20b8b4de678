"""Agreement within a pool and between two pools, before any judge (section 1 of the definitions).

Source: Jury Duty, section 3.3. Krippendorff's alpha is in ``alpha.py``.
"""

from __future__ import annotations

import numpy as np

from voirdire.statistic import additive, empty, ratio
from voirdire.stats.features import TIE, Array, Features, feature, zero_where

CONSTANT = 1e-12
LEAST_DF = 10
DIVERGENT_Z = 1.959963984540054


@feature("pool")
def has(f: Features, k: int) -> Array:
    """1 where the pool has a consensus."""
    return f.pools.has[k].astype(float)


@feature("pool")
def mean(f: Features, k: int) -> Array:
    """The consensus."""
    return zero_where(f.pools.has[k], f.pools.mean[k])


@feature("pool")
def mean_sq(f: Features, k: int) -> Array:
    """Squared consensus, centred on the middle of the scale."""
    return zero_where(f.pools.has[k], (f.pools.mean[k] - f.pools.center) ** 2)


@feature("pool")
def inverse_n(f: Features, k: int) -> Array:
    """1 / raters of the item."""
    known = f.pools.has[k] & (f.pools.n[k] > 0)
    return zero_where(known, 1 / np.where(known, f.pools.n[k], 1.0))


@feature("pool")
def unknown_n(f: Features, k: int) -> Array:
    """1 where a consensus comes without its number of raters."""
    return (f.pools.has[k] & np.isnan(f.pools.n[k])).astype(float)


@feature("pool")
def ss_within(f: Features, k: int) -> Array:
    """Sum of squares of the raters around the item's mean."""
    usable = ~np.isnan(f.pools.s2[k])
    return zero_where(usable, f.pools.s2[k] * (f.pools.n[k] - 1))


@feature("pool")
def df_within(f: Features, k: int) -> Array:
    """Raters - 1 of items with two or more."""
    usable = ~np.isnan(f.pools.s2[k])
    return zero_where(usable, f.pools.n[k] - 1)


def sample_variance(n: Array, total: Array, squares: Array) -> Array:
    """Variance (ddof 1) from n, sum and sum of squares, floored at 0."""
    return np.maximum(ratio(squares - ratio(total * total, n), n - 1), 0.0)


def constant_side(n: Array, total: Array, squares: Array) -> np.ndarray:
    """Whether a side does not vary: its variance is nothing but rounding beside the squares it comes from, or n < 2."""
    return np.asarray(~(sample_variance(n, total, squares) > CONSTANT * np.maximum(1.0, ratio(squares, n))))


@feature("pool")
def mean_centred(f: Features, k: int) -> Array:
    """The consensus, centred on the middle of the scale."""
    return zero_where(f.pools.has[k], f.pools.mean[k] - f.pools.center)


@additive(
    "consensus_mean",
    per="pool",
    features=("has", "mean"),
    undefined=(empty(0),),
    sliced=True,
    bounds="the scale",
    source="Jury Duty, Figure 2",
)
def consensus_mean(has: Array, mean: Array) -> Array:
    """Mean of the pool's consensus over items."""
    return ratio(mean, has)


def consensus_reliability(
    has: Array, mean_centred: Array, mean_sq: Array, inverse_n: Array, ss_within: Array, df_within: Array
) -> Array:
    """1 - mean(s2_w / n_i) / var(m), with s2_w pooled within items."""
    noise = ratio(ss_within, df_within) * ratio(inverse_n, has)
    return 1 - ratio(noise, sample_variance(has, mean_centred, mean_sq))


_RELIABILITY = ("has", "mean_centred", "mean_sq", "inverse_n", "ss_within", "df_within")


@additive(
    "reliability",
    per="pool",
    features=(*_RELIABILITY, "unknown_n"),
    undefined=(
        empty(0),
        ("aggregate_pool", lambda *s: s[6] > 0),
        ("one_rater", lambda *s: s[5] <= 0),
        ("few_rated_twice", lambda *s: s[5] < LEAST_DF),
        ("one_item", lambda *s: s[0] == 1),
        ("constant_consensus", lambda *s: constant_side(s[0], s[1], s[2])),
    ),
    scale="distance",
    sliced=True,
    bounds="at most 1; negative when raters differ more within items than chance allows between them",
    source="one-way random effects, ICC(1,k) with unequal n",
)
def reliability(*sums: Array) -> Array:
    """Reliability of the consensus: the share of its variance over items that is not rater noise."""
    return consensus_reliability(*sums[:6])


@feature("pair")
def both(f: Features, a: int, b: int) -> Array:
    """1 where both pools have a consensus."""
    return (f.pools.has[a] & f.pools.has[b]).astype(float)


@feature("pair")
def abs_gap(f: Features, a: int, b: int) -> Array:
    """abs(m_a - m_b); nominal: total variation between the pools' shares."""
    return np.abs(np.nan_to_num(f.pools.gap(a, b)))


def _pair_noise(f: Features, a: int, b: int) -> Array:
    return np.asarray(f.pools.noise[a] + f.pools.noise[b])


@feature("pair")
def noise_unknown(f: Features, a: int, b: int) -> Array:
    """1 where both pools have a consensus and the rater noise of one is unknown."""
    return (f.pools.has[a] & f.pools.has[b] & np.isnan(_pair_noise(f, a, b))).astype(float)


@feature("pair")
def gap_sq_corrected(f: Features, a: int, b: int) -> Array:
    """(m_a - m_b)^2 - s2_a / n_a - s2_b / n_b."""
    return np.nan_to_num(f.pools.gap(a, b) ** 2 - _pair_noise(f, a, b))


def pooled_noise(f: Features, a: int, b: int) -> Array:
    """(I,) variance of m_a - m_b from within-item variances pooled over each pool's items."""
    with np.errstate(divide="ignore", invalid="ignore"):
        total: Array = f.pools.pooled_s2[a] / f.pools.n[a] + f.pools.pooled_s2[b] / f.pools.n[b]
    return np.where(f.pools.has[a] & f.pools.has[b], total, np.nan)


@feature("pair")
def noise_gap(f: Features, a: int, b: int) -> Array:
    """sqrt(2 (s2_a / n_a + s2_b / n_b) / pi) / c4: the mean absolute difference that rater noise alone gives."""
    return np.nan_to_num(np.sqrt(2 * _pair_noise(f, a, b) / np.pi) / _c4(_noise_df(f, a, b)))


def _noise_df(f: Features, a: int, b: int) -> Array:
    """(I,) degrees of freedom of s2_a / n_a + s2_b / n_b by Welch and Satterthwaite; infinite where s2 is pooled."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = [np.where(f.pools.n[k] > 1, 1 / (f.pools.n[k] ** 2 * (f.pools.n[k] - 1)), 0.0) for k in (a, b)]
        df: Array = (1 / f.pools.n[a] + 1 / f.pools.n[b]) ** 2 / (terms[0] + terms[1])
    return df


def _c4(df: Array) -> Array:
    """E(s) / sigma of a standard deviation with these degrees of freedom; 1 where they are infinite or unknown."""
    from scipy.special import gammaln

    finite = np.isfinite(df)
    half = np.where(finite, df, 2.0) / 2
    return np.where(finite, np.exp(gammaln(half + 0.5) - gammaln(half)) / np.sqrt(half), 1.0)


_NO_PAIR = empty(0, "no_common_items")
_NO_NOISE = ("noise_unknown", lambda *s: s[-1] > 0)


@additive(
    "cross_pool_mad",
    per="pair",
    features=("both", "abs_gap"),
    undefined=(_NO_PAIR,),
    scale="distance",
    sliced=True,
    bounds="0 to the scale's range",
    source="Jury Duty, section 3.3b",
)
def cross_pool_mad(both: Array, abs_gap: Array) -> Array:
    """Mean absolute difference of the two pools' consensuses."""
    return ratio(abs_gap, both)


@additive(
    "cross_pool_tv",
    per="pair",
    features=("both", "abs_gap"),
    undefined=(_NO_PAIR,),
    scale="labels",
    sliced=True,
    bounds="0 to 1",
    source="the nominal form of cross_pool_mad",
)
def cross_pool_tv(both: Array, abs_gap: Array) -> Array:
    """Mean total variation between the two pools' label shares."""
    return ratio(abs_gap, both)


@additive(
    "gap_rms",
    per="pair",
    features=("both", "gap_sq_corrected", "noise_unknown"),
    undefined=(_NO_PAIR, _NO_NOISE),
    sliced=True,
    bounds="0 to the scale's range",
    source="method of moments; items' own s2, the pool's where an item has one rating",
)
def gap_rms(both: Array, gap_sq_corrected: Array, noise_unknown: Array) -> Array:
    """Root mean square difference of the pools, corrected for rater noise."""
    return np.sqrt(np.maximum(ratio(gap_sq_corrected, both), 0.0))


@additive(
    "noise_floor",
    per="pair",
    features=("both", "noise_gap", "noise_unknown"),
    undefined=(_NO_PAIR, _NO_NOISE),
    sliced=True,
    interval="none",
    bounds="0 to the scale's range",
    source="normal approximation; items' own s2 (the pool's where n = 1), with c4 against the bias of a root",
)
def noise_floor(both: Array, noise_gap: Array, noise_unknown: Array) -> Array:
    """What cross_pool_mad would be if the pools did not differ: rater noise alone."""
    return ratio(noise_gap, both)


def _moment(name: str, left: int, right: int | None, rounded: bool = False) -> None:
    """Register the pair moment sum(x_left [* x_right]) of the centred consensuses."""

    def moment(f: Features, a: int, b: int) -> Array:
        source = f.pools.rounded if rounded else f.pools.mean
        columns = [np.nan_to_num(source[k] - f.pools.center) for k in (a, b)]
        product = columns[left] * (columns[right] if right is not None else 1.0)
        return zero_where(f.pools.has[a] & f.pools.has[b], product)

    moment.__name__ = name
    feature("pair")(moment)


MOMENTS = ("sum_a", "sum_b", "sq_a", "sq_b", "cross")
ROUNDED = tuple(f"rounded_{name}" for name in MOMENTS)
for _name, _left, _right in (("sum_a", 0, None), ("sum_b", 1, None), ("sq_a", 0, 0), ("sq_b", 1, 1), ("cross", 0, 1)):
    _moment(_name, _left, _right)
    _moment(f"rounded_{_name}", _left, _right, rounded=True)


def pearson_of_sums(n: Array, sx: Array, sy: Array, sxx: Array, syy: Array, sxy: Array) -> Array:
    """Pearson's r from n and the five moment sums, clipped to [-1, 1]."""
    covariance = sxy - ratio(sx * sy, n)
    spread = np.sqrt(np.maximum(sxx - ratio(sx * sx, n), 0) * np.maximum(syy - ratio(sy * sy, n), 0))
    return np.clip(ratio(covariance, spread), -1.0, 1.0)


def kappa_of_sums(n: Array, sx: Array, sy: Array, sxx: Array, syy: Array, sxy: Array) -> Array:
    """Quadratic-weighted kappa: 1 - mean (x - y)^2 / its mean under independent margins (equals Lin's CCC)."""
    observed = ratio(sxx + syy - 2 * sxy, n)
    expected = ratio(sxx + syy, n) - 2 * ratio(sx, n) * ratio(sy, n)
    return 1 - ratio(observed, expected)


_PEARSON = (
    _NO_PAIR,
    ("one_item", lambda *s: s[0] == 1),
    ("constant_consensus", lambda *s: constant_side(s[0], s[1], s[3]) | constant_side(s[0], s[2], s[4])),
)


@additive(
    "cross_pool_pearson",
    per="pair",
    features=("both", *MOMENTS),
    undefined=_PEARSON,
    sliced=True,
    interval="fisher_z",
    bounds="-1 to 1",
    source="Jury Duty, section 3.3b; Fisher's z interval",
)
def cross_pool_pearson(*sums: Array) -> Array:
    """Pearson correlation of the two pools' consensuses over items that have both."""
    return pearson_of_sums(*sums)


@additive(
    "cross_pool_kappa_qw",
    per="pair",
    features=("both", *ROUNDED),
    undefined=(
        _NO_PAIR,
        ("all_equal", lambda *s: constant_side(s[0], s[1], s[3]) & constant_side(s[0], s[2], s[4]) & (s[1] == s[2])),
    ),
    scale="discrete",
    bounds="-1 to 1",
    source="Jury Duty, section 5.1; consensuses rounded to the nearest level, ties to the higher",
)
def cross_pool_kappa_qw(*sums: Array) -> Array:
    """Quadratic-weighted kappa of the two pools' rounded consensuses."""
    return kappa_of_sums(*sums)


def _on_both(name: str) -> None:
    """Register the features of each pool's reliability on the items that have both pools."""
    _, function = _POOL_FEATURES[name]
    for side in (0, 1):

        def restricted(f: Features, a: int, b: int, side: int = side) -> Array:
            return zero_where(f.pools.has[a] & f.pools.has[b], function(f, (a, b)[side]))

        restricted.__name__ = f"{name}_{'ab'[side]}"
        feature("pair")(restricted)


_POOL_FEATURES = {
    "inverse_n": ("pool", inverse_n),
    "ss_within": ("pool", ss_within),
    "df_within": ("pool", df_within),
}
for _name in _POOL_FEATURES:
    _on_both(_name)

_NOISES = ("inverse_n_a", "ss_within_a", "df_within_a", "inverse_n_b", "ss_within_b", "df_within_b")


def _reliabilities(*sums: Array) -> tuple[Array, Array]:
    n, sum_a, sum_b, sq_a, sq_b = sums[:5]
    return (
        consensus_reliability(n, sum_a, sq_a, *sums[6:9]),
        consensus_reliability(n, sum_b, sq_b, *sums[9:12]),
    )


@additive(
    "disattenuated_r",
    per="pair",
    features=("both", *MOMENTS, *_NOISES, "noise_unknown"),
    undefined=(
        *_PEARSON,
        _NO_NOISE,
        ("one_rater", lambda *s: np.minimum(s[8], s[11]) <= 0),
        ("few_rated_twice", lambda *s: np.minimum(s[8], s[11]) < LEAST_DF),
        ("nonpositive_reliability", lambda *s: np.minimum(*_reliabilities(*s)) <= 0),
    ),
    bounds="around -1 to 1; stored raw, clipped in print",
    source="Spearman 1904; reliabilities on exactly these items, recomputed in every resample",
)
def disattenuated_r(*sums: Array) -> Array:
    """cross_pool_pearson / sqrt(reliability_a * reliability_b): the correlation without rater noise."""
    reliability_a, reliability_b = _reliabilities(*sums)
    return ratio(pearson_of_sums(*sums[:6]), np.sqrt(np.maximum(reliability_a * reliability_b, 0)))


def anchor_classes(f: Features, a: int, b: int) -> dict[str, np.ndarray]:
    """(I,) masks of high and low anchors, contested items and their parts (neither, where the noise is unknown)."""
    cuts, m_a, m_b = f.pools.scale, f.pools.mean[a], f.pools.mean[b]
    present = f.pools.has[a] & f.pools.has[b]
    with np.errstate(invalid="ignore"):
        high = present & (np.minimum(m_a, m_b) >= cuts.high_cut - TIE)
        low = present & (np.maximum(m_a, m_b) <= cuts.low_cut + TIE)
        noise = DIVERGENT_Z * np.sqrt(pooled_noise(f, a, b))
        beyond, within = np.abs(m_a - m_b) > noise + TIE, np.abs(m_a - m_b) <= noise + TIE
    contested = present & ~high & ~low
    return {
        "high": high,
        "low": low,
        "contested": contested,
        "divergent": contested & beyond,
        "middle": contested & within,
    }


def _anchor(name: str, needs_noise: bool) -> None:
    def member(f: Features, a: int, b: int) -> Array:
        return anchor_classes(f, a, b)[name].astype(float)

    member.__name__ = f"anchor_{name}"
    feature("pair")(member)

    def count(both: Array, anchor: Array, noise_unknown: Array) -> Array:
        return anchor

    count.__doc__ = f"How many items are {name}."
    additive(
        f"anchor_class.{name}",
        per="pair",
        features=("both", f"anchor_{name}", "noise_unknown"),
        undefined=(_NO_PAIR, *((_NO_NOISE,) if needs_noise else ())),
        scale="levels",
        interval="none",
        bounds="0 to the number of items",
        source="Jury Duty, section 3.3d: both consensuses at or above 75 %, at or below 25 % of the range",
    )(count)


for _name in ("high", "low", "contested"):
    _anchor(_name, needs_noise=False)
for _name in ("divergent", "middle"):
    _anchor(_name, needs_noise=True)
