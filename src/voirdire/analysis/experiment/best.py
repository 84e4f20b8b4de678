"""The best condition of each judge, raw and cross-fitted.

The smallest of many errors is too small: the raw minimum has no interval, the cross-fitted value has one.
Source: Jury Duty, section 4.3 and Table 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.analysis.context import Context, context_reason
from voirdire.analysis.experiment.cell_points import Points, cell_label, comparable_blocks, points
from voirdire.analysis.experiment.contrasts import SliceSums, excluded_texts
from voirdire.analysis.experiment.design import ALL, Block, Experiment
from voirdire.analysis.judge_rows import definition_of
from voirdire.analysis.selections import is_crossed
from voirdire.statistic import REGISTRY
from voirdire.stats.cross_fit import CrossFit, Places, cross_fitted, halves, t_interval
from voirdire.stats.features import Array

SPLITS = 20
MOST_DRAWS = 500


def add_best(experiment: Experiment) -> None:
    """``best_mae`` of every judge, slice and pool.

    Conditions are compared in each block and, where there are several, over all configurations (``*``). Nothing where
    no judge has two.
    """
    blocks = comparable_blocks(experiment)
    if not blocks:
        return
    context = experiment.context
    for name in ("all", *experiment.cultures.values()):
        sums = SliceSums(experiment, name, context.slices[name])
        split = halves(_strata(context, name), SPLITS, context.rng("best_mae", name))
        for k in range(len(context.pools)):
            _Best(sums, blocks, k, split).add()
            sums.features.forget()


def _strata(context: Context, name: str) -> npt.NDArray[np.int64]:
    """(I,) the culture, and category within it, of each item of a slice, as codes."""
    codes = np.zeros(context.panel.n_items, dtype=np.int64)
    by_culture = [slice_ for slice_ in context.slices if slice_.startswith("culture=") and not is_crossed(slice_)]
    crossed = [slice_ for slice_ in context.slices if is_crossed(slice_)]
    for code, stratum in enumerate((*by_culture, *crossed)):
        codes[context.slices[stratum]] = code + 1
    return codes[context.slices[name]]


@dataclass(frozen=True)
class _Column:
    """Values (R,) with what their rows say; matrix (R, C) the cells behind them."""

    values: Array
    reasons: Sequence[str | None]
    n: Array
    low: Array
    high: Array
    matrix: Array

    def at(self, rows: npt.NDArray[np.int64]) -> _Column:
        """Some of the rows."""
        return _Column(
            self.values[rows], [self.reasons[row] for row in rows], self.n[rows], self.low[rows], self.high[rows],
            self.matrix[rows],
        )  # fmt: skip

    def averaged(self, ends: tuple[float, float] | None) -> _Column:
        """The mean over the rows that have a value, as one row; n is how many there are."""
        known = ~np.isnan(self.values)
        mean = self.values[known].mean() if known.any() else np.nan
        low, high = ends or (np.nan, np.nan)
        matrix = self.matrix.sum(0, keepdims=True)
        count = np.array([float(known.sum())])
        return _Column(np.array([mean]), [self.reasons[0]], count, np.array([low]), np.array([high]), matrix)


@dataclass(frozen=True)
class _Best:
    """The rows of one slice and pool."""

    sums: SliceSums
    blocks: Sequence[Block]
    k: int
    split: npt.NDArray[np.bool_]

    @property
    def judges(self) -> list[str]:
        return self.sums.experiment.design.judges

    @cached_property
    def groups(self) -> list[Places]:
        """The cells of every judge in each block, then of all judges in each block."""
        design = self.sums.experiment.design
        masks = [block.mask & design.mask(judge=name) for block in self.blocks for name in self.judges]
        other = self.sums.experiment.judged.rank_only
        return [np.flatnonzero(mask) for mask in masks] + [np.flatnonzero(block.mask & ~other) for block in self.blocks]

    def add(self) -> None:
        """Raw minima with their conditions, shares of the human gap, and cross-fitted values."""
        mae = points(self.sums, "mae", (self.k,))
        best = [mae.best(cells) for cells in self.groups]
        self._values("value", "lowest", mae, best)
        self._labels(mae, best)
        self._fitted("cross_fitted", "lowest_cross_fitted", mae, self._own_fit, (self.k,))
        for other in self._others():
            self._percent(best, (self.k, other))

    def _others(self) -> list[int]:
        """The pools of the pairs that this pool is in."""
        return [sum(pair) - self.k for pair in self.sums.experiment.context.detail if self.k in pair]

    def _percent(self, best: Sequence[int | None], pair: tuple[int, int]) -> None:
        """In percent of the two pools' mean gap on the same items."""
        percent = points(self.sums, "percent_of_human", pair)
        self._values("percent_of_human", None, percent, best, pair)
        gap = self._gap(pair)
        fitted = self._cross_fit(("error_a", "judged"), pair) if self._fewer(pair) else self._own_fit
        share = CrossFit(100 * fitted.values / gap[0], 100 * fitted.draws / gap[1:])
        self._fitted("percent_cross_fitted", None, percent, share, pair)

    @cached_property
    def _own_fit(self) -> CrossFit:
        return self._cross_fit(("abs_error", "rated"), (self.k,))

    def _fewer(self, pair: tuple[int, int]) -> bool:
        """Whether some item of the slice has the first pool without the second."""
        has = self.sums.features.pools.has
        return bool((has[pair[0]] & ~has[pair[1]]).any())

    def _gap(self, pair: tuple[int, int]) -> Array:
        """(1 + D,) mean absolute gap of the pair, on the items and in each draw; NaN where it is 0."""
        gap = np.abs(self.sums.features.pools.gap(*pair))
        known = np.stack([np.nan_to_num(gap), (~np.isnan(gap)).astype(float)])
        total = np.concatenate([known.sum(1, keepdims=True), known @ self._weights.astype(float).T], axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(total[0] > 0, total[0] / total[1], np.nan)

    @property
    def _weights(self) -> npt.NDArray[np.uint8]:
        return self.sums.sampler.weights[:MOST_DRAWS]

    def _cross_fit(self, names: tuple[str, str], target: tuple[int, ...]) -> CrossFit:
        errors, counts = (self.sums.features.get(name, target) for name in names)
        other = self.sums.experiment.judged.rank_only[:, None]
        return cross_fitted(
            np.where(other, 0.0, errors), np.where(other, 0.0, counts), self.groups, self.split, self._weights
        )

    def _values(
        self, name: str, lowest: str | None, found: Points, best: Sequence[int | None],
        target: tuple[int, ...] | None = None,
    ) -> None:  # fmt: skip
        """Raw values at the best cells: of each judge, their average, and the lowest."""
        values = np.array([np.nan if cell is None else found.values[cell] for cell in best])
        n = np.array([0.0 if cell is None else found.n[cell] for cell in best])
        reasons = [
            found.reason(cells) if cell is None else found.reasons[cell]
            for cell, cells in zip(best, self.groups, strict=True)
        ]
        matrix = np.zeros((len(best), self.sums.experiment.design.n_cells))
        for row, cell in enumerate(best):
            matrix[row, [] if cell is None else cell] = 1
        nothing = np.full(len(values), np.nan)
        self._write(name, lowest, _Column(values, reasons, n, nothing, nothing, matrix), target or (self.k,), "none")

    def _fitted(self, name: str, lowest: str | None, found: Points, fitted: CrossFit, target: tuple[int, ...]) -> None:
        """Cross-fitted values with their intervals."""
        reasons: list[str | None] = [
            "few_items" if np.isfinite(found.values[cells]).any() else found.reason(cells) for cells in self.groups
        ]
        has = np.asarray(self.sums.features.pools.has[list(target)].all(0))
        n = np.full(len(reasons), float(has.sum()))
        low, high = self._interval(fitted, int(has.sum()))
        matrix = np.stack([np.isin(np.arange(self.sums.experiment.design.n_cells), cells) for cells in self.groups])
        column = _Column(fitted.values, reasons, n, low, high, matrix.astype(float))
        self._write(name, lowest, column, target, "t", self._average(fitted, int(has.sum())))

    def _interval(self, fitted: CrossFit, n_items: int) -> tuple[Array, Array]:
        level = self.sums.experiment.context.options.level
        return t_interval(fitted.values, fitted.draws, max(n_items - 1, 1), level)

    def _average(self, fitted: CrossFit, n_items: int) -> tuple[Array, Array]:
        """The interval of the average over judges, block by block."""
        by_block = [slice(b * len(self.judges), (b + 1) * len(self.judges)) for b in range(len(self.blocks))]
        known = [~np.isnan(fitted.values[rows]) for rows in by_block]
        means = [
            (fitted.values[rows][kept].mean(), fitted.draws[rows][kept].mean(0))
            for rows, kept in zip(by_block, known, strict=True)
            if kept.any()
        ]
        low, high = np.full((2, len(self.blocks)), np.nan)
        if means:
            chosen = [b for b, kept in enumerate(known) if kept.any()]
            low[chosen], high[chosen] = self._interval(
                CrossFit(np.array([value for value, _ in means]), np.array([draws for _, draws in means])), n_items
            )
        return low, high

    def _write(
        self, name: str, lowest: str | None, column: _Column, target: tuple[int, ...], method: str,
        average: tuple[Array, Array] | None = None,
    ) -> None:  # fmt: skip
        """Rows of each judge, of their average and, as ``best_mae.<lowest>``, of all cells together."""
        size = len(self.judges)
        for b, block in enumerate(self.blocks):
            rows = np.arange(b * size, (b + 1) * size)
            self._rows(f"best_mae.{name}", column.at(rows), self.judges, block, target, method)
            ends = None if average is None else (average[0][b], average[1][b])
            self._rows(f"best_mae.{name}", column.at(rows).averaged(ends), [ALL], block, target, method)
            if lowest is not None:
                last = column.at(np.array([len(self.blocks) * size + b]))
                self._rows(f"best_mae.{lowest}", last, [ALL], block, target, method)

    def _rows(
        self, name: str, column: _Column, judge: list[str], block: Block, target: tuple[int, ...], method: str
    ) -> None:
        context = self.sums.experiment.context
        whose = [block.name] * len(judge)
        context.table.add(
            name,
            column.values,
            reasons=[context_reason(context, reason, target) for reason in column.reasons],
            low=column.low,
            high=column.high,
            n=np.rint(column.n).astype(int),
            excluded=excluded_texts(self.sums, column.matrix, judge, whose),
            definition=self._definition(method, target),
            question=context.panel.question.id,
            judge=judge,
            condition=whose,
            slice=self.sums.name,
            **context.names(target),
        )

    def _definition(self, method: str, target: tuple[int, ...]) -> dict[str, Any]:
        context = self.sums.experiment.context
        name = "mae" if len(target) == 1 else "percent_of_human"
        made = {**definition_of(context, REGISTRY[name, ""], target), "cells": "best_of"}
        if method == "none":
            return context.definition("none", **made)
        draws = min(MOST_DRAWS, context.options.draws)
        made |= {"splits": SPLITS, "strata": "culture+category", "split_seed": context.options.seed}
        return {**context.definition(method, **made), "draws": draws}

    def _labels(self, mae: Points, best: Sequence[int | None]) -> None:
        """The condition that is best for each judge, and the cell that is best of all."""
        frame = self.sums.experiment.design.frame
        conditions, owners = frame["condition"].to_list(), frame["judge"].to_list()
        size = len(self.judges)
        for b, block in enumerate(self.blocks):
            for s, judge in enumerate(self.judges):
                cell = best[b * size + s]
                label = None if cell is None else conditions[cell]
                self._label("condition", label, mae, b * size + s, cell, judge, block)
            cell = best[len(self.blocks) * size + b]
            label = None if cell is None else cell_label(owners[cell], conditions[cell])
            self._label("lowest_cell", label, mae, len(self.blocks) * size + b, cell, ALL, block)

    def _label(
        self, name: str, label: str | None, mae: Points, group: int, cell: int | None, judge: str, block: Block
    ) -> None:
        context = self.sums.experiment.context
        context.table.add(
            f"best_mae.{name}",
            np.nan,
            labels=None if label is None else [label],
            reasons=[context_reason(context, mae.reason(self.groups[group]), (self.k,))],
            n=0 if cell is None else int(mae.n[cell]),
            definition=self._definition("none", (self.k,)),
            question=context.panel.question.id,
            judge=judge,
            condition=block.name,
            slice=self.sums.name,
            **context.names((self.k,)),
        )
