"""Orientation of selections of cells: ratios of mean slopes, with items as clusters.

The slopes of a selection are the means over its cells, each by its number of ratings. An item's influence on them runs
over all of these cells, so that cells which share items are not taken for independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.analysis.context import Context, Mask
from voirdire.analysis.experiment.design import Experiment
from voirdire.analysis.experiment.orientation.fits import PLAIN, SliceFits, Strata, Variant, reason_of, slice_fits
from voirdire.stats.decomposition import efficient_scores, fieller, influence, slope_covariance
from voirdire.stats.features import Array

Reasons = npt.NDArray[np.object_]


@dataclass(frozen=True)
class Linear:
    """Values of S selections with what each item adds to them.

    values : (S,), NaN with a reason; influence : (S, I); n : (S,) ratings behind each
    """

    values: Array
    reasons: Reasons
    influence: Array
    n: Array

    @property
    def error(self) -> Array:
        """(S,) item-clustered standard errors, with G / (G - 1); NaN where undefined."""
        return np.where(np.isnan(self.values), np.nan, clustered(self.influence))


def clustered(influence: Array) -> Array:
    """(S,) root of the sum of squares over the G items that matter, times G / (G - 1)."""
    groups = np.maximum((influence != 0).any(0).sum(), 2)
    return np.asarray(np.sqrt((influence**2).sum(1) * groups / (groups - 1)))


@dataclass(frozen=True)
class Ratio:
    """A ratio of mean slopes on S selections.

    values (S,) NaN with a reason; low, high : Fieller's set; direction : (S, P) gradient of the ratio in the slopes
    """

    values: Array
    reasons: Reasons
    low: Array
    high: Array
    direction: Array


def fits_of(
    experiment: Experiment, name: str, mask: Mask, pools: tuple[int, ...], variant: Variant = PLAIN
) -> SliceFits:
    """The fits of a slice, kept in the experiment."""
    key = (pools, name, variant.params)
    if key not in experiment.fits:
        if "strata" not in experiment.kept:
            experiment.kept["strata"] = Strata.of(experiment.corpus, experiment.context.panel)
        strata = experiment.kept["strata"]
        experiment.fits[key] = slice_fits(experiment.context, experiment.judged, strata, pools, mask, variant)
    return experiment.fits[key]


def mean_slopes(fits: SliceFits, matrix: Array) -> Array:
    """(S, P) mean slopes of the selection's fitted cells, by their ratings; NaN where none is fitted."""
    known = matrix * fits.fits.rated
    total = known @ np.nan_to_num(fits.fits.slopes)
    size = known.sum(1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(size > 0, total / size, np.nan)


def ratio(fits: SliceFits, matrix: Array, over: Array, under: Array, covariance: Array | None = None) -> Ratio:
    """``(over @ slopes) / (under @ slopes)`` of every selection, undefined unless the denominator is clearly above 0.

    matrix : (S, C) 0/1. Fieller's set from item-clustered variances, with the t quantile of G - 1 df.
    covariance : of the selections' mean slopes, where it is already known
    """
    size = len(matrix)
    reasons = np.full(size, reason_of(fits), dtype=object)
    empty = np.full(size, np.nan)
    if fits.reason is not None:
        return Ratio(empty, reasons, empty, empty, np.zeros((size, fits.x_width)))
    slopes = mean_slopes(fits, matrix)
    top, bottom = slopes @ over, slopes @ under
    unfitted = np.isnan(bottom) & (reasons == None)  # noqa: E711  (elementwise)
    reasons[unfitted] = unfitted_reason(fits, matrix)[unfitted]
    v = slope_covariance(fits.fits, matrix, fits.n_repeats) if covariance is None else covariance
    variance = tuple(np.einsum("p,spq,q->s", p, v, q) for p, q in ((over, over), (over, under), (under, under)))
    quantile = t_quantile(fits)
    with np.errstate(invalid="ignore", divide="ignore"):
        unclear = ~(bottom > quantile * np.sqrt(variance[2]))
        values = top / bottom
        direction = (over[None] - values[:, None] * under[None]) / bottom[:, None]
    reasons[unclear & (reasons == None)] = "no_positive_relation"  # noqa: E711  (elementwise)
    undefined = reasons != None  # noqa: E711  (elementwise)
    low, high = fieller(top, bottom, (variance[0], variance[1], variance[2]), quantile)
    clean = [np.where(undefined, np.nan, part) for part in (values, low, high)]
    return Ratio(clean[0], reasons, clean[1], clean[2], np.where(undefined[:, None], 0.0, direction))


def t_quantile(fits: SliceFits) -> float:
    """The two-sided t quantile of the audit's level with G - 1 df."""
    from scipy.stats import t

    return float(t.ppf((1 + fits.context.options.level) / 2, max(int(fits.usable.sum()) - 1, 1)))


def selected_w(experiment: Experiment, name: str, mask: Mask, pair: tuple[int, int], matrix: Array) -> Linear:
    """W of every selection in a slice, with each item's influence on it (delta method).

    matrix : (S, C) 0/1 over all cells (controls last). Undefined with the reasons of ``orientation.w``.
    """
    fits = fits_of(experiment, name, mask, pair)
    over, under = fits.direction(p1=1), fits.direction(p0=1, p1=1)
    found = ratio(fits, matrix, over, under)
    n = ratings_behind(fits, matrix)
    if fits.reason is not None:
        return Linear(found.values, found.reasons, np.zeros((len(matrix), len(fits.usable))), n)
    by_item = fits.by_item(influence(fits.fits, matrix, found.direction))
    return Linear(found.values, found.reasons, by_item, n)


def ratings_behind(fits: SliceFits, matrix: Array) -> Array:
    """(S,) cells x items with a rating on usable items; cells that could not be fitted are not among them."""
    rated = _rated_items(fits)
    return np.asarray(matrix @ (rated if fits.reason is not None else rated * fits.fits.fitted))


def unfitted_reason(fits: SliceFits, matrix: Array) -> Reasons:
    """(S,) why none of a selection's cells is fitted: one level only, or a fit that did not converge."""
    stuck = matrix @ fits.fits.stuck > 0
    return np.where(stuck, "not_converged", "constant_judge").astype(object)


def left_out(fits: SliceFits, matrix: Array, items: Mask | None = None) -> list[str]:
    """What of each selection of several cells is not in its slopes: ``constant_judge=60``; empty where all is.

    items : (U,) the usable items that are counted; all by default
    """
    if fits.reason is not None:
        return [""] * len(matrix)
    rated = _rated_items(fits, items)
    some = matrix @ fits.fits.fitted > 0
    lacking = {
        "constant_judge": matrix @ (rated * (~fits.fits.fitted & ~fits.fits.stuck)),
        "not_converged": matrix @ (rated * fits.fits.stuck),
    }
    return [
        ";".join(f"{reason}={int(counts[s])}" for reason, counts in lacking.items() if counts[s] and some[s])
        for s in range(len(matrix))
    ]


def _rated_items(fits: SliceFits, items: Mask | None = None) -> Array:
    usable = np.flatnonzero(fits.mask)[fits.usable]
    cube = fits.judged.cube[:, usable if items is None else usable[items]]
    return np.asarray((~np.isnan(cube).all(2)).sum(1).astype(float))


def linear_contrast(linear: Linear, weights: npt.ArrayLike) -> Linear:
    """Linear combinations (R, S) of values; undefined, with the first reason, where a value with a weight is."""
    w = np.atleast_2d(np.asarray(weights, dtype=float))
    missing = np.isnan(linear.values)
    touched = (w != 0) & missing
    reasons = np.full(len(w), None, dtype=object)
    for r in np.flatnonzero(touched.any(1)):
        reasons[r] = linear.reasons[touched[r].argmax()]
    values = w @ np.where(missing, 0.0, linear.values)
    values[touched.any(1)] = np.nan
    return Linear(values, reasons, w @ linear.influence, (w != 0).astype(float) @ linear.n)


def write_linear(
    context: Context,
    statistic: str,
    linear: Linear,
    *,
    name: str,
    target: tuple[int, ...],
    judge: Sequence[str],
    condition: Sequence[str],
    params: str = "",
    p: bool = False,
    **definition: Any,
) -> Array:
    """Rows with value +- t item-clustered SE; with ``p`` also ``<statistic>_p``. Returns the p, NaN where none."""
    from scipy.stats import t as student

    groups = max(int((linear.influence != 0).any(0).sum()), 2)
    half = float(student.ppf((1 + context.options.level) / 2, groups - 1)) * linear.error
    place: dict[str, Any] = {
        "question": context.panel.question.id,
        "judge": list(judge),
        "condition": list(condition),
        "slice": name,
        **context.names(target),
    }
    told = {**definition, "error": "item_clustered", "df": groups - 1}
    context.table.add(
        statistic,
        linear.values,
        params=params,
        reasons=list(linear.reasons),
        low=linear.values - half,
        high=linear.values + half,
        n=np.rint(linear.n).astype(int),
        definition=clustered_definition(context, "clustered_t", **told),
        **place,
    )
    if not p:
        return np.full(len(linear.values), np.nan)
    return _write_p(context, f"{statistic}_p", linear, groups, params, told, place)


def _write_p(
    context: Context,
    statistic: str,
    linear: Linear,
    groups: int,
    params: str,
    told: dict[str, Any],
    place: dict[str, Any],
) -> Array:
    """The test against 0 by the same error. groups : items that move any of the values"""
    from scipy.stats import t as student

    error = linear.error
    with np.errstate(divide="ignore", invalid="ignore"):
        found = 2 * student.sf(np.abs(np.where(error > 0, linear.values / error, np.nan)), groups - 1)
    context.table.add(
        statistic,
        found,
        params=params,
        reasons=[reason or "no_spread" for reason in linear.reasons],
        n=np.rint(linear.n).astype(int),
        definition=clustered_definition(context, "none", **told, test="t", test_unit="item"),
        **place,
    )
    return np.asarray(found)


def clustered_definition(context: Context, method: str, **more: Any) -> dict[str, Any]:
    """A definition whose interval is not a bootstrap: its level alone stands in it."""
    base = context.definition("none", **more)
    if method != "none":
        base |= {"interval": method, "level": context.options.level}
    return base


def clustered_neutrality(fits: SliceFits, matrix: Array, contrast: Array) -> tuple[Array, Array]:
    """t and p of the item-clustered score test of ``contrast @ slopes == 0`` for every selection; NaN where none."""
    from scipy.stats import t as student

    if fits.reason is not None:
        return np.full(len(matrix), np.nan), np.full(len(matrix), np.nan)
    by_cell = efficient_scores(fits.fits, contrast, len(fits.judged.cube))
    items = fits.by_item((matrix * fits.fits.fitted) @ by_cell)[:, fits.usable]
    groups = items.shape[1]
    spread = np.sqrt(items.var(1, ddof=1) * groups)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(spread > 0, items.sum(1) / spread, np.nan)
    return t, np.asarray(2 * student.sf(np.abs(t), groups - 1))
