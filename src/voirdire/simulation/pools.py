"""Pools of raters with planted opinions: items in strata, latent opinions, raters with severities, ratings.

A pool has a latent opinion of every item, jointly normal over pools within a stratum. A rater sees the opinion
through a severity of their own (positive: generous) and noise; the rating is the nearest level, so ratings follow an
ordered probit with cut points half way between the levels. Every function takes a numpy Generator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voirdire.scales import Scale

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
LAYOUTS = ("crossed", "nested", "slots")


@dataclass(frozen=True)
class Stratum:
    """Items of one culture and category, and how the pools see them.

    items : how many; an even number of strata in pairs of cultures makes concept pairs
    means, sds : per pool, of the latent opinion in the units of the scale (it may lie beyond the scale's ends)
    correlation : of the latent opinions of every two pools, above -1/(K - 1)
    shared_low : share of the items that every pool finds poor (latent near the low end, independent)
    """

    culture: str
    category: str
    items: int
    means: tuple[float, ...]
    sds: tuple[float, ...]
    correlation: float = 0.0
    shared_low: float = 0.0


@dataclass(frozen=True)
class RaterPool:
    """A pool of raters.

    raters : ratings that an item gets, or raters in the pool when the layout is crossed
    noise : sd of a rating around what its rater sees
    severity_sd : sd of the raters' severities when they are drawn
    severities : fixed severities instead (one a rater; crossed and slots only)
    layout : ``crossed`` the same raters rate all items; ``nested`` every item has raters of its own; ``slots``
        as nested, with ids that mean nothing across items
    share : part of the items that a rater rates, drawn independently for each item and rater
    """

    name: str
    raters: int = 5
    noise: float = 0.8
    severity_sd: float = 0.2
    severities: tuple[float, ...] | None = None
    layout: str = "crossed"
    share: float = 1.0

    def __post_init__(self) -> None:
        if self.layout not in LAYOUTS or self.raters < 1 or not 0 < self.share <= 1 or self.noise <= 0:
            raise ValueError("layout is crossed, nested or slots; raters >= 1; 0 < share <= 1; noise > 0")  # noqa: TRY003
        if self.severities is not None and len(self.severities) != self.raters:
            raise ValueError("one severity a rater")  # noqa: TRY003


def draw_latent(strata: Sequence[Stratum], scale: Scale, rng: np.random.Generator) -> Floats:
    """Latent opinions (items, K), the strata one after the other.

    >>> strata = [Stratum("us", "food", 2, (4.5, 2.0), (0.5, 0.5)), Stratum("cn", "food", 1, (2.0, 4.5), (0.5, 0.5))]
    >>> draw_latent(strata, Scale("ordinal", 1, 5), np.random.default_rng(0)).shape
    (3, 2)
    """
    return np.concatenate([_latent_of(stratum, scale, rng) for stratum in strata])


def apart(latent: Floats, contrast: float) -> Floats:
    """Latent opinions (items, K) with the pools' differences from their mean multiplied.

    >>> apart(np.array([[2.0, 4.0]]), 0.5)
    array([[2.5, 3.5]])
    """
    if contrast == 1:
        return latent
    middle = latent.mean(axis=1, keepdims=True)
    moved: Floats = middle + contrast * (latent - middle)
    return moved


def draw_severities(pool: RaterPool, items: int, rng: np.random.Generator) -> Floats:
    """Severities (items, raters): equal rows when the pool is crossed, drawn anew for each item otherwise.

    >>> draw_severities(RaterPool("us", raters=2, severities=(-0.5, 0.5)), 2, np.random.default_rng(0))
    array([[-0.5,  0.5],
           [-0.5,  0.5]])
    """
    if pool.severities is not None:
        return np.tile(np.asarray(pool.severities, dtype=float), (items, 1))
    if pool.layout == "crossed":
        return np.tile(pool.severity_sd * rng.standard_normal(pool.raters), (items, 1))
    return pool.severity_sd * rng.standard_normal((items, pool.raters))


def rate(latent: Floats, severities: Floats, pool: RaterPool, scale: Scale, rng: np.random.Generator) -> Floats:
    """Ratings (items, raters) of one pool from latent (items,) and severities (items, raters); NaN = not asked."""
    seen = latent[:, None] + severities + pool.noise * rng.standard_normal(severities.shape)
    ratings = to_scale(seen, scale)
    if pool.share < 1:
        ratings[rng.random(ratings.shape) >= pool.share] = np.nan
    return ratings


def to_scale(values: Floats, scale: Scale) -> Floats:
    """The nearest level of an ordinal or two-label scale, ties to the higher; only clipped on an interval scale.

    >>> to_scale(np.array([0.2, 3.4, 9.0]), Scale("ordinal", 1, 5))
    array([1., 3., 5.])
    >>> to_scale(np.array([0.2, 3.4, 9.0]), Scale("interval", 0, 4))
    array([0.2, 3.4, 4. ])
    """
    low, high = scale_ends(scale)
    inner = low + np.floor(values - low + 0.5 + 1e-9) if scale.level_values else values
    clipped: Floats = np.clip(inner, low, high)
    return clipped


def scale_ends(scale: Scale) -> tuple[float, float]:
    """The lowest and highest code. ValueError for an interval scale without ends.

    >>> scale_ends(Scale("nominal", labels=("no", "yes"), positive="yes"))
    (0.0, 1.0)
    """
    if scale.level_values:
        return float(scale.level_values[0]), float(scale.level_values[-1])
    if scale.low is None or scale.high is None:
        raise ValueError("simulation needs a scale with ends")  # noqa: TRY003
    return float(scale.low), float(scale.high)


def expected_rating(latent: Floats, pool: RaterPool, severities: Floats, scale: Scale) -> Floats:
    """The planted consensus (items,): the mean rating that the pool's raters would give on endless repetition.

    ``severities`` (items, raters) as drawn for a crossed pool; where raters are drawn anew the mean is over raters
    too, so their spread joins the noise. No missing values.

    >>> pool = RaterPool("us", raters=1, noise=0.5, severities=(0.0,))
    >>> expected_rating(np.array([3.0]), pool, np.zeros((1, 1)), Scale("ordinal", 1, 5)).round(6)
    array([3.])
    """
    if pool.layout == "crossed":
        distinct = severities[0]
        noise = pool.noise
    else:
        distinct = np.asarray(pool.severities if pool.severities is not None else (0.0,))
        noise = pool.noise if pool.severities is not None else float(np.hypot(pool.noise, pool.severity_sd))
    means = [_mean_level(latent + severity, noise, scale) for severity in distinct]
    average: Floats = np.mean(means, axis=0)
    return average


def rating_moments(latent: Floats, pool: RaterPool, scale: Scale) -> tuple[Floats, Floats]:
    """Mean and variance (items,) of one rating by a rater drawn anew: severities and noise as one spread.

    >>> pool = RaterPool("us", noise=1e-6, severity_sd=0.0)
    >>> mean, variance = rating_moments(np.array([3.0]), pool, Scale("ordinal", 1, 5))
    >>> mean.tolist(), variance.tolist()
    ([3.0], [0.0])
    """
    if not scale.level_values:
        nodes, weights = np.polynomial.hermite_e.hermegauss(41)
        seen = np.clip(latent[:, None] + _spread(pool) * nodes, *scale_ends(scale))
        chances, levels = np.broadcast_to(weights / weights.sum(), seen.shape), seen
    else:
        chances = level_chances(latent, pool, scale)
        levels = np.broadcast_to(np.asarray(scale.level_values, dtype=float), chances.shape)
    mean: Floats = (chances * levels).sum(axis=1)
    return mean, np.maximum((chances * levels**2).sum(axis=1) - mean**2, 0.0)


def level_chances(latent: Floats, pool: RaterPool, scale: Scale) -> Floats:
    """Probabilities (items, L) of the levels of one rating by a rater drawn anew. The scale must have levels.

    >>> level_chances(np.array([1.5]), RaterPool("us"), Scale("ordinal", 1, 2))
    array([[0.5, 0.5]])
    """
    from scipy.special import ndtr

    cuts = np.asarray(scale.level_values[1:], dtype=float) - 0.5
    above = ndtr((latent[:, None] - cuts) / _spread(pool))
    edge = np.ones((len(latent), 1))
    chances: Floats = -np.diff(np.concatenate([edge, above, 0 * edge], axis=1), axis=1)
    return chances


def _spread(pool: RaterPool) -> float:
    """sd of a rating of an item, over raters and their noise."""
    severity = pool.severity_sd if pool.severities is None else float(np.std(pool.severities))
    return float(np.hypot(pool.noise, severity))


def rate_nominal(utilities: Floats, raters: int, rng: np.random.Generator) -> Floats:
    """Label codes (items, raters): each rater takes the label of the highest utility plus Gumbel noise.

    utilities : (items, labels) of one pool; the label shares are their softmax

    >>> rate_nominal(np.array([[0.0, 50.0, 0.0]]), 3, np.random.default_rng(0))
    array([[1., 1., 1.]])
    """
    noise = rng.gumbel(size=(utilities.shape[0], raters, utilities.shape[1]))
    codes: Floats = np.argmax(utilities[:, None, :] + noise, axis=2).astype(float)
    return codes


def draw_utilities(items: int, labels: int, pools: int, agreement: float, rng: np.random.Generator) -> Floats:
    """Utilities (pools, items, labels) of a nominal question; ``agreement`` in [0, 1] is the pools' correlation."""
    shared = rng.standard_normal((items, labels))
    own = rng.standard_normal((pools, items, labels))
    drawn: Floats = 2.0 * (np.sqrt(agreement) * shared + np.sqrt(1 - agreement) * own)
    return drawn


def _latent_of(stratum: Stratum, scale: Scale, rng: np.random.Generator) -> Floats:
    pools = len(stratum.means)
    covariance = np.full((pools, pools), stratum.correlation)
    np.fill_diagonal(covariance, 1.0)
    standard = rng.standard_normal((stratum.items, pools)) @ np.linalg.cholesky(covariance).T
    latent = np.asarray(stratum.means) + np.asarray(stratum.sds) * standard
    low, high = scale_ends(scale)
    poor = low + (high - low) * (0.05 + 0.125 * rng.standard_normal((stratum.items, pools)))
    chosen = rng.random(stratum.items) < stratum.shared_low
    mixed: Floats = np.where(chosen[:, None], poor, latent)
    return mixed


def _mean_level(latent: Floats, noise: float, scale: Scale) -> Floats:
    from scipy.special import ndtr

    low, high = scale_ends(scale)
    if not scale.level_values:
        return _mean_clipped(latent, noise, low, high)
    cuts = np.asarray(scale.level_values[1:]) - 0.5
    above: Floats = ndtr((latent[:, None] - cuts) / noise)
    level: Floats = low + above.sum(axis=1)
    return level


def _mean_clipped(latent: Floats, noise: float, low: float, high: float) -> Floats:
    from scipy.special import ndtr

    lower, upper = (low - latent) / noise, (high - latent) / noise
    density = (np.exp(-(lower**2) / 2) - np.exp(-(upper**2) / 2)) * noise / np.sqrt(2 * np.pi)
    inside: Floats = latent * (ndtr(upper) - ndtr(lower)) + density
    total: Floats = inside + low * ndtr(lower) + high * ndtr(-upper)
    return total
