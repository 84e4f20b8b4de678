"""Additive statistics of selections with their draws, and linear combinations of them: the base of every effect.

Within a slice everything shares the same draws of items, so that the interval of a difference is that of paired values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.analysis.context import Mask, context_reason, scale_codes, scale_reason, subset
from voirdire.analysis.engine import Drawn, Sums, draw, select_sums
from voirdire.analysis.experiment.design import Experiment
from voirdire.analysis.judge_rows import definition_of, excluded_of, lacking_items, needs_gap
from voirdire.analysis.rater_sampler import sampler_of
from voirdire.analysis.selections import Selections
from voirdire.statistic import REGISTRY
from voirdire.stats.features import Array
from voirdire.stats.tests import benjamini_hochberg, holm

ROUNDING = 1e-12


class SliceSums:
    """The sums of features over the items of one slice, kept while the slice is worked on."""

    def __init__(self, experiment: Experiment, name: str, mask: Mask) -> None:
        context, judged = experiment.context, experiment.judged
        self.experiment, self.name, self.mask = experiment, name, mask
        self.sampler = sampler_of(context, name, mask)
        arrays, by_level = subset(context.panel.arrays, mask), not self.sampler.draws_raters
        self.features = judged.features(arrays, mask, by_level=by_level, min_gap=context.options.min_gap)
        self._kept: dict[tuple[str, tuple[int, ...]], Sums] = {}

    def statistic(self, name: str, target: tuple[int, ...], matrix: Array, params: str = "") -> Drawn:
        """A registered statistic of a pool, pair or (``()``) judge alone on every selection.

        matrix : (S, C) 0/1. Undefined where the scale does not allow it or a judge answers on another scale.
        """
        statistic = REGISTRY[name, params]
        need = statistic.scale if statistic.scale not in scale_codes(self.experiment.context.panel) else None
        if need is not None:
            reason = scale_reason(need, scale_codes(self.experiment.context.panel)) or "not_computable"
            return nothing(len(matrix), reason, self.n_draws)
        by_cell = self.by_cell(statistic.features, target)
        drawn = draw(statistic, by_cell, select_sums(by_cell, matrix), matrix)
        other = matrix @ self.experiment.judged.rank_only > 0
        if statistic.scale in ("rank", "anything") or not other.any():
            return drawn
        values = np.where(other, np.nan, drawn.values)
        reasons = np.where(other, "other_scale", drawn.reasons)
        return Drawn(values, reasons, np.where(other[:, None], np.nan, drawn.draws), drawn.n)

    @property
    def n_draws(self) -> int:
        """How many draws there are."""
        return len(self.sampler.weights)

    def by_cell(self, names: Sequence[str], target: tuple[int, ...]) -> dict[str, Sums]:
        """The sums of features over the items, of every cell, with their draws."""
        lacking = [name for name in names if (name, target) not in self._kept]
        if lacking:
            for name, sums in self.sampler.sums(self.features, lacking, target).items():
                self._kept[name, target] = sums
            self.features.forget()
        return {name: self._kept[name, target] for name in names}


def nothing(size: int, reason: str, draws: int = 0) -> Drawn:
    """Undefined everywhere, for this reason."""
    empty = np.full(size, np.nan)
    return Drawn(empty, np.full(size, reason, dtype=object), np.full((size, draws), np.nan), np.zeros(size))


def contrast(drawn: Drawn, weights: npt.ArrayLike) -> Drawn:
    """Linear combinations (R, S) of S values, draw by draw.

    Undefined, with the first reason, where a value with a weight is; n is the sum over those values. What is nothing
    but rounding (under 1e-12) is 0.

    >>> two = Drawn(np.array([1.0, 3.0]), np.array([None, None]), np.array([[0.0], [1.0]]), np.array([5.0, 5.0]))
    >>> contrast(two, [[-1, 1]]).values
    array([2.])
    """
    w = np.atleast_2d(np.asarray(weights, dtype=float))
    used = np.flatnonzero((w != 0).any(0))
    w, of = w[:, used], Drawn(drawn.values[used], drawn.reasons[used], drawn.draws[used], drawn.n[used])
    counts = (w != 0).astype(float)
    missing = np.isnan(of.values)
    values = w @ np.where(missing, 0.0, of.values)
    touched = (w != 0) & missing
    reasons = np.full(len(w), None, dtype=object)
    for r in np.flatnonzero(touched.any(1)):
        reasons[r] = of.reasons[touched[r].argmax()]
    values[touched.any(1)] = np.nan
    unknown = np.isnan(of.draws)
    draws = w @ np.where(unknown, 0.0, of.draws)
    if unknown.any():
        draws[counts @ unknown.astype(float) > 0] = np.nan
    for part in (values, draws):
        part[np.abs(part) < ROUNDING] = 0.0
    return Drawn(values, reasons, draws, counts @ of.n)


def stack(parts: Sequence[Drawn]) -> Drawn:
    """Several results as one."""
    return Drawn(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.reasons for part in parts]),
        np.concatenate([part.draws for part in parts]),
        np.concatenate([part.n for part in parts]),
    )


def studentised(drawn: Drawn, n_items: int) -> tuple[Array, Array]:
    """t and its two-sided p with n_items - 1 df: the value over the sd of its item draws; NaN where there are none."""
    from scipy.stats import t as student

    usable = (~np.isnan(drawn.draws)).sum(1) > 1 if drawn.draws.shape[1] else np.zeros(len(drawn.values), dtype=bool)
    error = np.full(len(drawn.values), np.nan)
    for r in np.flatnonzero(usable & ~np.isnan(drawn.values)):
        error[r] = np.nanstd(drawn.draws[r], ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(error > 0, drawn.values / error, np.nan)
    return t, 2 * student.sf(np.abs(t), max(n_items - 1, 1))


def interval_of(sums: SliceSums, target: tuple[int, ...], drawn: Drawn) -> tuple[Array, Array, str]:
    """The ends of the interval of each value, NaN where there is none, and its method.

    Percentile also where BCa is asked for: a combination of values has no acceleration of its own here.
    """
    if not drawn.draws.shape[1]:
        nothing = np.full(len(drawn.values), np.nan)
        return nothing, nothing, "none"
    if sums.sampler.method == "bca":
        return *_percentile(drawn.draws, sums.experiment.context.options.level), "percentile"
    ends = sums.sampler.interval(target, drawn.values, drawn.draws, None)
    return ends.low, ends.high, sums.sampler.method


def write(
    sums: SliceSums,
    statistic: str,
    drawn: Drawn,
    *,
    judge: Sequence[str],
    condition: Sequence[str],
    target: tuple[int, ...] = (),
    params: str = "",
    of: tuple[str, str] | None = None,
    matrix: Array | None = None,
    p: bool = False,
    pools: tuple[int, ...] | None = None,
    **definition: Any,
) -> Array:
    """Rows of a result with percentile intervals (or those of drawn raters); returns the p values, NaN where none.

    of : name and params of the registered statistic that it is made of, whose definition goes into the signature
    matrix : (R, C) 0/1 the cells behind each row, for the count of missing judgments
    pools : those whose raters the interval is of, where they are more than the target
    p : also rows ``<statistic>_p``: studentised by the sd of the item draws, t with G - 1 df
    """
    context = sums.experiment.context
    sampler = sums.sampler
    made = definition_of(context, REGISTRY[of], target) if of is not None else {}
    pools = target if pools is None else pools
    low, high, method = interval_of(sums, pools, drawn)
    undefined = np.isnan(drawn.values)
    place: dict[str, Any] = {
        "question": context.panel.question.id,
        "judge": list(judge),
        "condition": list(condition),
        "slice": sums.name,
        **context.names(target),
    }
    excluded = "" if matrix is None else excluded_texts(sums, matrix, judge, condition)
    reasons = [context_reason(context, reason, target) for reason in drawn.reasons]
    n = np.rint(drawn.n).astype(int)
    context.table.add(
        statistic,
        drawn.values,
        params=params,
        reasons=reasons,
        low=np.where(undefined, np.nan, low),
        high=np.where(undefined, np.nan, high),
        n=n,
        excluded=excluded,
        definition=context.definition(method, **{**made, **definition, **sampler.told(pools)}),
        **place,
    )
    if not p:
        return np.full(len(drawn.values), np.nan)
    return _write_p(sums, statistic, drawn, reasons, params, {**made, **definition}, place, target, of)


def items_behind(sums: SliceSums, target: tuple[int, ...], of: tuple[str, str] | None = None) -> int:
    """How many items of the slice count for a pool or pair (and, for T, have a gap): the clusters of a test."""
    lacking = lacking_items(sums.experiment.context, target, sums.mask)
    apart = of is not None and needs_gap(REGISTRY[of])
    out = np.zeros(int(sums.mask.sum()), dtype=bool)
    for items in lacking[apart].values():
        out |= items
    return int((~out).sum())


def _write_p(
    sums: SliceSums,
    statistic: str,
    drawn: Drawn,
    reasons: list[str | None],
    params: str,
    definition: dict[str, Any],
    place: dict[str, Any],
    target: tuple[int, ...],
    of: tuple[str, str] | None,
) -> Array:
    context = sums.experiment.context
    n_items = items_behind(sums, target, of)
    by_items = Drawn(drawn.values, drawn.reasons, drawn.draws[:, : sums.n_draws], drawn.n)
    _, p = studentised(by_items, n_items)
    why = [None if np.isfinite(value) else reason or "no_spread" for value, reason in zip(p, reasons, strict=True)]
    told = {"test": "studentised", "test_unit": "item", "df": n_items - 1}
    told |= {"error": "sd_of_item_draws", "draws": context.options.draws, "seed": context.options.seed}
    context.table.add(
        f"{statistic}_p",
        p,
        params=params,
        reasons=why if drawn.draws.shape[1] else ["no_draws"] * len(p),
        n=n_items,
        definition=context.definition("none", **definition, **told),
        **place,
    )
    return p


def write_adjusted(
    sums: SliceSums,
    statistic: str,
    p: Array,
    *,
    judge: Sequence[str],
    condition: Sequence[str],
    target: tuple[int, ...] = (),
    params: str = "",
    **definition: Any,
) -> None:
    """Rows ``<statistic>_holm`` and ``_bh``: the p values of one family, adjusted; its size is in the definition.

    p : (R,) NaN where there is no test, which is no member of the family
    """
    context = sums.experiment.context
    size = int(np.isfinite(p).sum())
    for name, adjust in (("holm", holm), ("bh", benjamini_hochberg)):
        context.table.add(
            f"{statistic}_{name}",
            adjust(p),
            params=params,
            reasons=["no_test"] * len(p),
            n=int(sums.mask.sum()),
            definition=context.definition("none", test_unit="item", family=size, **definition),
            question=context.panel.question.id,
            judge=list(judge),
            condition=list(condition),
            slice=sums.name,
            **context.names(target),
        )


def _percentile(draws: Array, level: float) -> tuple[Array, Array]:
    from voirdire.stats.resampling import percentile

    return percentile(draws, level)


def excluded_texts(sums: SliceSums, matrix: Array, judge: Sequence[str], condition: Sequence[str]) -> list[str]:
    """The missing judgments of each row's cells (rows of ``matrix``), as rows print them."""
    full = np.zeros(len(matrix), dtype=bool)
    selections = Selections(tuple(judge), tuple(condition), (matrix > 0).astype(float), full, full)
    return excluded_of(sums.experiment.judged, selections, sums.mask).texts()
