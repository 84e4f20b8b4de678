"""What a change of language, of detail or of another factor does, over cells that are equal in everything else.

A matched change is the value of a cell at one level less that of its counterpart at another. Their mean absolute value
is biased upward by item noise, and their maximum more so: beside each stands what it would be if nothing but the draw
of items moved it. The signed change of the mean has an interval. Source: Jury Duty, section 4.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.analysis.context import Context, context_reason, scale_codes
from voirdire.analysis.engine import Drawn
from voirdire.analysis.experiment.contrasts import SliceSums, contrast, write
from voirdire.analysis.experiment.design import ALL, Block, Experiment
from voirdire.analysis.experiment.orientation.selected import Linear, linear_contrast, selected_w, write_linear
from voirdire.analysis.judge_rows import definition_of
from voirdire.signature import pairs
from voirdire.statistic import REGISTRY
from voirdire.stats.features import Array

OF = ("pearson", "mae", "tilt")
W = "orientation.w"
Levels = tuple[str, str]


@dataclass(frozen=True)
class Changes:
    """The matched changes of a factor in one block.

    levels : (M,) the two levels of each change; judges : (M,) whose it is; weights : (M, C) +1 at the second level and
    -1 at the first, shared out where several cells of a group have the same level
    """

    levels: list[Levels]
    judges: list[str]
    weights: Array

    def keep(self, mask: npt.NDArray[np.bool_]) -> Changes:
        """Some of the changes."""
        chosen = np.flatnonzero(mask).tolist()
        return Changes([self.levels[m] for m in chosen], [self.judges[m] for m in chosen], self.weights[mask])

    def of(self, judge: str, levels: Levels | None = None) -> npt.NDArray[np.int64]:
        """Places of a judge's changes (``*``: of all), between two levels or any."""
        chosen = [
            place
            for place, (name, pair) in enumerate(zip(self.judges, self.levels, strict=True))
            if judge in (ALL, name) and levels in (None, pair)
        ]
        return np.array(chosen, dtype=np.int64)


def add_factor_effects(experiment: Experiment) -> None:
    """``language_effect``, ``detail_effect`` and, for factors without a part of their own, ``factor_effect``.

    Per pool (Pearson, MAE) and pair (T, W), for all judges and each, in all items and in each culture.
    """
    design = experiment.design
    effects = [("language_effect", design.language), ("detail_effect", design.detail)]
    effects += [("factor_effect", name) for name in design.other_factors]
    found = [(name, factor) for name, factor in effects if factor is not None]
    if not found:
        return
    changes = [
        (name, factor, block, matched_changes(experiment, factor, block))
        for name, factor in found
        for block in design.blocks
    ]
    for slice_ in ("all", *experiment.cultures.values()):
        sums = SliceSums(experiment, slice_, experiment.context.slices[slice_])
        for of, target in _targets(experiment.context):
            cells = sums.statistic(of, target, np.eye(design.n_cells))
            for name, factor, block, moved in changes:
                _Writer(sums, name, factor, block, of, target).add(cells, moved)
        for pair in experiment.context.detail:
            linear = selected_w(experiment, slice_, sums.mask, pair, np.eye(design.n_cells))
            for name, factor, block, moved in changes:
                _Writer(sums, name, factor, block, W, pair, linear).add(_linearised(sums, linear), moved)


def _linearised(sums: SliceSums, linear: Linear) -> Drawn:
    """W of every cell with its draws by the influence of the items: no cell is fitted anew in any draw."""
    draws = linear.values[:, None] + linear.influence @ (sums.sampler.weights.astype(float) - 1).T
    return Drawn(linear.values, linear.reasons, draws, linear.n)


def _targets(context: Context) -> Iterator[tuple[str, tuple[int, ...]]]:
    codes = scale_codes(context.panel)
    for of in OF:
        if REGISTRY[of, ""].scale in codes:
            one = [(k,) for k in range(len(context.pools))]
            yield from ((of, target) for target in (context.detail if of == "tilt" else one))


def matched_changes(experiment: Experiment, factor: str, block: Block) -> Changes:
    """Every pair of levels in every group of cells that are equal in judge and all other factors.

    Levels are in the order of their names. A cell without a level, or whose level nobody else in its group has, is in
    none of them.
    """
    design = experiment.design
    names, owners = design.frame[factor].to_list(), design.frame["judge"].to_list()
    levels: list[Levels] = []
    judges: list[str] = []
    rows: list[Array] = []
    for group in design.matched(factor, block.mask):
        at = {level: [place for place in group if names[place] == level] for level in {names[p] for p in group}}
        for first, second in combinations(sorted(level for level in at if level is not None), 2):
            row = np.zeros(design.n_cells)
            row[at[first]] = -1 / len(at[first])
            row[at[second]] = 1 / len(at[second])
            levels.append((first, second))
            judges.append(owners[group[0]])
            rows.append(row)
    return Changes(levels, judges, np.array(rows).reshape(len(rows), design.n_cells))


@dataclass(frozen=True)
class _Writer:
    """The rows of one statistic's changes in one slice and block."""

    sums: SliceSums
    name: str
    factor: str
    block: Block
    of: str
    target: tuple[int, ...]
    linear: Linear | None = None

    def add(self, cells: Drawn, changes: Changes) -> None:
        """Rows for all judges and for each. cells : (C,) the statistic in every cell, with draws."""
        moved = contrast(cells, changes.weights)
        names = [ALL, *self.sums.experiment.design.judges]
        found = [_summary(moved, changes.of(name), self.sums.n_draws) for name in names]
        for part in ("mean", "max", "noise_floor", "max_noise_floor"):
            self._rows(part, names, [row[part] for row in found], [row["n"] for row in found], found)
        self._shifts(cells, changes.keep(~np.isnan(moved.values)), names, [row["reason"] for row in found])

    def _rows(
        self, part: str, names: list[str], values: list[float], n: list[float], found: list[dict[str, Any]]
    ) -> None:
        context = self.sums.experiment.context
        noise = part.endswith("noise_floor")
        reasons = [row["noise_reason" if noise else "reason"] for row in found]
        told: dict[str, Any] = {"draws": context.options.draws, "seed": context.options.seed} if noise else {}
        context.table.add(
            f"{self.name}.{part}",
            values,
            params=self._params(),
            reasons=[context_reason(context, reason, self.target) for reason in reasons],
            n=np.rint(n).astype(int),
            excluded=[row["excluded"] for row in found],
            definition=context.definition("none", **self._definition(), **told),
            question=context.panel.question.id,
            judge=names,
            condition=self.block.name,
            slice=self.sums.name,
            **context.names(self.target),
        )

    def _shifts(self, cells: Drawn, changes: Changes, names: list[str], reasons: list[str | None]) -> None:
        """The change of the mean over matched cells between two levels, and the mean of its absolute values.

        changes : those that have a value
        """
        context = self.sums.experiment.context
        absolute: dict[str, list[float]] = {name: [] for name in names}
        counts: dict[str, float] = dict.fromkeys(names, 0.0)
        for levels in sorted(set(changes.levels)):
            chosen = [(name, changes.of(name, levels)) for name in names]
            chosen = [(name, places) for name, places in chosen if len(places)]
            means = np.stack([changes.weights[places].mean(0) for _, places in chosen])
            values = self._shift(cells, means, [name for name, _ in chosen], self._params(levels))
            for place, (name, _) in enumerate(chosen):
                absolute[name].append(abs(float(values[place])))
                counts[name] += float((means[place] != 0).sum())
        context.table.add(
            f"{self.name}.of_means",
            [np.mean(absolute[name]) if absolute[name] else np.nan for name in names],
            params=self._params(),
            reasons=[context_reason(context, reason, self.target) for reason in reasons],
            n=[int(counts[name]) for name in names],
            definition=context.definition("none", **self._definition()),
            question=context.panel.question.id,
            judge=names,
            condition=self.block.name,
            slice=self.sums.name,
            **context.names(self.target),
        )

    def _shift(self, cells: Drawn, means: Array, who: list[str], params: str) -> Array:
        """Rows of the signed change with its interval and p; returns the values."""
        place: dict[str, Any] = {"judge": who, "condition": [self.block.name] * len(who), "target": self.target}
        told: dict[str, Any] = {"cells": "matched", "factor": self.factor}
        name = f"{self.name}.shift"
        if self.linear is not None:
            moved = linear_contrast(self.linear, means)
            context = self.sums.experiment.context
            write_linear(context, name, moved, name=self.sums.name, params=params, p=True, **place, **told)
            return moved.values
        shift, matrix = contrast(cells, means), (means != 0).astype(float)
        write(self.sums, name, shift, params=params, of=(self.of, ""), matrix=matrix, p=True, **place, **told)
        return shift.values

    def _params(self, levels: Levels | None = None) -> str:
        factor = {"factor": self.factor} if self.name == "factor_effect" else {}
        between = {} if levels is None else {"from": levels[0], "to": levels[1]}
        return pairs({"of": self.of, **factor, **between})

    def _definition(self) -> dict[str, Any]:
        told = {"cells": "matched", "factor": self.factor}
        if self.linear is not None:
            return {**told, "noise": "linearised"}
        return {**definition_of(self.sums.experiment.context, REGISTRY[self.of, ""], self.target), **told}


def _summary(moved: Drawn, places: npt.NDArray[np.int64], n_draws: int) -> dict[str, Any]:
    """Mean and maximum absolute change, and what the draw of items alone would make of each."""
    nothing: dict[str, Any] = dict.fromkeys(("mean", "max", "noise_floor", "max_noise_floor"), np.nan)
    if not len(places):
        return {**nothing, "n": 0, "reason": "no_matched_cells", "noise_reason": "no_matched_cells", "excluded": ""}
    values = moved.values[places]
    known = ~np.isnan(values)
    lost = int((~known).sum())
    result = {**nothing, "n": int(known.sum()), "excluded": f"cell_undefined={lost}" if lost else ""}
    if not known.any():
        reason = moved.reasons[places][0]
        return {**result, "reason": reason, "noise_reason": reason}
    result |= {"mean": np.abs(values[known]).mean(), "max": np.abs(values[known]).max()}
    drawn = np.abs(moved.draws[places][known, :n_draws] - values[known][:, None])
    drawn = drawn[:, ~np.isnan(drawn).all(0)]
    if drawn.shape[1]:
        result |= {"noise_floor": np.nanmean(drawn), "max_noise_floor": np.nanmax(drawn, axis=0).mean()}
    return {**result, "reason": None, "noise_reason": "no_draws"}
