"""The judges against every pool: section 2 of the definitions, for every selection and slice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from voirdire.analysis.context import Context, Mask, context_reason, scale_codes, subset
from voirdire.analysis.engine import Result, active, compute
from voirdire.analysis.panels import Cells
from voirdire.analysis.rater_sampler import sampler_of
from voirdire.analysis.selections import CELLS_IN_SLICES, Selections
from voirdire.simulation.controls import control_judges
from voirdire.statistic import Statistic
from voirdire.stats.ceilings import judge_ceiling_repeats, judge_disagreement, leave_one_out
from voirdire.stats.features import Array, Features, PoolArrays
from voirdire.stats.recalibration import best_constant, best_label, make_folds

FOLDS = 10
BOUNDS_FROM = 0.01
ON_ANY_SCALE = frozenset({"rank", "anything"})


@dataclass(frozen=True)
class Judged:
    """The cells of one question with the control judges behind them.

    cube : (C, I, R); rank_only : (C,) cells whose judge answers on another scale; n_cells : without controls
    selections : of all C cells; those of the controls come last
    """

    cells: Cells
    cube: Array
    rank_only: Mask
    n_cells: int
    selections: Selections

    def in_slice(self, name: str) -> Selections:
        """The selections that are computed inside a slice.

        No controls; full cells only when there are few; in slices that two columns or an anchor class make, no fine
        selections.
        """
        keep = self.selections.matrix[:, : self.n_cells].any(1)
        if self.n_cells > CELLS_IN_SLICES:
            keep &= ~self.selections.full
        if "&" in name or name.startswith("anchor="):
            keep &= ~self.selections.fine
        return self.selections.keep(keep)


def with_controls(context: Context, cells: Cells, selections: Selections, rank_only: frozenset[str]) -> Judged:
    """Append the control judges to the cells, each with a selection of its own."""
    panel = context.panel
    consensus = panel.arrays.mean if panel.arrays.shares is None else panel.arrays.shares
    scale = panel.scale
    pairs = [(context.pools[a], context.pools[b]) for a, b in context.detail]
    controls = control_judges(consensus, context.pools, scale, context.rng("controls"), pairs)
    n_cells, n_controls = len(cells.cube), len(controls)
    cube = np.full((n_cells + n_controls, *cells.cube.shape[1:]), np.nan)
    cube[:n_cells] = cells.cube
    cube[n_cells:, :, 0] = list(controls.values())
    matrix = np.zeros((len(selections) + n_controls, n_cells + n_controls))
    matrix[: len(selections), :n_cells] = selections.matrix
    matrix[len(selections) :, n_cells:] = np.eye(n_controls)
    extended = Selections(
        (*selections.judges, *controls),
        (*selections.conditions, *(["-"] * n_controls)),
        matrix,
        np.concatenate([selections.full, np.ones(n_controls, dtype=bool)]),
        np.concatenate([selections.fine, np.zeros(n_controls, dtype=bool)]),
    )
    other = cells.frame["judge"].cast(pl.String).is_in(list(rank_only)).to_numpy()
    return Judged(cells, cube, np.concatenate([other, np.zeros(n_controls, dtype=bool)]), n_cells, extended)


def add_judges(context: Context, judged: Judged) -> None:
    """The additive statistics of every selection in every slice."""
    for name, mask in context.slices.items():
        whole = name == "all"
        selections = judged.selections if whole else judged.in_slice(name)
        _add_slice(context, judged, selections, name, mask)


def _add_slice(context: Context, judged: Judged, selections: Selections, name: str, mask: Mask) -> None:
    whole = name == "all"
    used = len(judged.cube) if whole else judged.n_cells
    arrays = subset(context.panel.arrays, mask)
    cube = judged.cube[:used, mask]
    counts = context.panel.counts[:, mask]
    features = Features(
        arrays,
        cube,
        min_gap=context.options.min_gap,
        constant_loss=_constant_losses(context, arrays, name),
        loo=_leave_one_out(context, counts, cube) if whole else None,
    )
    sampler = sampler_of(context, name, mask)
    writer = _Writer(context, judged, selections, name, mask, _excluded(judged, selections, mask))
    codes = scale_codes(context.panel)
    matrix = selections.matrix[:, :used]
    targets: dict[str, Sequence[tuple[int, ...]]] = {
        "judge": [()],
        "judge_pool": [(k,) for k in range(len(context.pools))],
        "judge_pair": list(context.detail),
    }
    for per, places in targets.items():
        statistics = active(per, scale_codes=codes, sliced_only=not whole)
        for target in places:
            writer.add(compute(statistics, features, target, sampler, matrix), target)
            features.forget()


def _constant_losses(context: Context, arrays: PoolArrays, name: str) -> Array:
    """(K, I) error of the best constant, cross-fitted over folds of these items."""
    losses = []
    for k in range(len(arrays.mean)):
        folds = make_folds(arrays.mean.shape[1], FOLDS, context.rng("folds", name))
        if arrays.shares is not None:
            best = best_label(np.nan_to_num(arrays.shares[k]), folds)
        else:
            best = best_constant(arrays.mean[k], folds, arrays.scale.levels or None)
        losses.append(np.where(best.loss.valid, best.loss.values, np.nan))
    return np.stack(losses)


def _leave_one_out(context: Context, counts: Array, cube: Array) -> tuple[Array, Array]:
    """(K, C, I) errors against leave-one-out consensuses, and whether they count."""
    errors = np.zeros((len(counts), *cube.shape[:2]))
    counted = np.zeros_like(errors)
    for k, pool in enumerate(context.pools):
        if pool in context.panel.aggregate or not counts.shape[-1]:
            continue
        if context.panel.question.scale.nominal:
            per_item = judge_disagreement(counts[k], cube[..., 0])
        else:
            per_item = judge_ceiling_repeats(leave_one_out(counts[k], context.panel.values), cube)
        errors[k], counted[k] = per_item.values, per_item.valid
    return errors, counted


@dataclass(frozen=True)
class Excluded:
    """Judgments that are missing: reason -> (S,) counts over cells and items of the slice; total (S,) cells x items."""

    counts: dict[str, Array]
    answered: Array
    selections: Selections

    def texts(self, no_consensus: Array | None = None) -> list[str]:
        """``malformed=3;no_consensus=2`` for every selection."""
        columns = dict(self.counts)
        if no_consensus is not None:
            columns["no_consensus"] = no_consensus
        texts = np.full(len(self.selections), "", dtype=object)
        for reason, counts in columns.items():
            for s in np.flatnonzero(counts):
                texts[s] += f"{';' if texts[s] else ''}{reason}={int(counts[s])}"
        return list(texts)


def _excluded(judged: Judged, selections: Selections, mask: Mask) -> Excluded:
    status = judged.cells.status[:, mask]
    real = selections.matrix[:, : judged.n_cells]
    counts = {
        reason: real @ (status == code).sum(1)
        for code, reason in enumerate(judged.cells.reasons)
        if code and (status == code).any()
    }
    answered = ~np.isnan(judged.cube[:, mask]).all(-1)
    return Excluded(counts, answered, selections)


@dataclass(frozen=True)
class _Writer:
    """Writes the results of one slice into the table."""

    context: Context
    judged: Judged
    selections: Selections
    slice: str
    mask: Mask
    excluded: Excluded

    def add(self, results: Sequence[Result], target: tuple[int, ...]) -> None:
        texts = self.excluded.texts(self._no_consensus(target))
        for result in results:
            kept = self._kept(result)
            if kept.any():
                self._write(result, target, kept, texts)

    def _no_consensus(self, target: tuple[int, ...]) -> Array | None:
        if not target:
            return None
        has = self.context.panel.arrays.has[list(target)].all(0)[self.mask]
        lacking = (self.excluded.answered & ~has).sum(1).astype(float)
        return np.asarray(self.selections.matrix @ lacking[: self.selections.matrix.shape[1]])

    def _kept(self, result: Result) -> Mask:
        """Bounds are given only where more than 1 % of a selection is missing."""
        if not result.statistic.name.startswith("mae.bound"):
            return np.ones(len(self.selections), dtype=bool)
        cells = self.selections.matrix.sum(1) * int(self.mask.sum())
        answered = self.selections.matrix @ self.excluded.answered.sum(1)[: self.selections.matrix.shape[1]]
        return np.asarray(1 - answered / np.maximum(cells, 1) > BOUNDS_FROM)

    def _write(self, result: Result, target: tuple[int, ...], kept: Mask, texts: list[str]) -> None:
        values, reasons, low, high = self._other_scale(result)
        chosen = np.flatnonzero(kept)
        selections = self.selections
        self.context.table.add(
            result.statistic.name,
            values[chosen],
            params=result.statistic.key[1],
            reasons=[context_reason(self.context, reasons[s]) for s in chosen],
            low=low[chosen],
            high=high[chosen],
            n=result.n[chosen],
            excluded=[texts[s] for s in chosen],
            definition=self.context.definition(result.method, **definition_of(self.context, result.statistic, target)),
            question=self.context.panel.question.id,
            judge=[selections.judges[s] for s in chosen],
            condition=[selections.conditions[s] for s in chosen],
            slice=self.slice,
            **self.context.names(target),
        )

    def _other_scale(self, result: Result) -> tuple[Array, np.ndarray, Array, Array]:
        """Only rank statistics are given for judges on another scale."""
        width = self.selections.matrix.shape[1]
        other = (self.selections.matrix @ self.judged.rank_only[:width]) > 0
        if result.statistic.scale in ON_ANY_SCALE or not other.any():
            return result.values, result.reasons, result.low, result.high
        reasons = np.where(other, "other_scale", result.reasons)
        values, low, high = (np.where(other, np.nan, part) for part in (result.values, result.low, result.high))
        return values, reasons, low, high


def definition_of(context: Context, statistic: Statistic, target: tuple[int, ...]) -> dict[str, object]:
    """What a judge's statistic adds to the definition."""
    more: dict[str, object] = {"repeats": "mean_of_errors", "cells": statistic.across}
    if target:
        more["n_per_item"] = context.median_n(target)
    if statistic.name.startswith("tilt") and "form" not in statistic.params:
        more["min_gap"] = context.options.min_gap
    if statistic.name == "kappa_qw":
        more["rounding"] = "half_up"
    return more
