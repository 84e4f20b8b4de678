"""The judges in two image regimes: tilt and delta in each, and whether cells keep their order and sign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voirdire.analysis.context import Mask, scale_codes, subset
from voirdire.analysis.engine import Drawn, Sums, draw, select_sums
from voirdire.analysis.experiment.design import ALL
from voirdire.analysis.experiment.regime_rows import Regimes
from voirdire.signature import pairs as printed
from voirdire.statistic import REGISTRY
from voirdire.stats.features import Array, Features
from voirdire.stats.resampling import weighted_sums

STATISTICS = ("tilt", "delta")
BOTH = 2


@dataclass(frozen=True)
class Cells:
    """Which cells a row speaks of: judge, condition, and (S, C) 0/1; the first C rows are the single cells."""

    judges: tuple[str, ...]
    conditions: tuple[str, ...]
    matrix: Array


def add_regime_judges(regimes: Regimes, pair: tuple[int, int]) -> None:
    """``tilt`` and ``delta`` of every cell, judge and all together, and their agreement over cells."""
    features = _features(regimes)
    cells = _cells(regimes)
    for name in STATISTICS:
        if REGISTRY[name, ""].scale not in scale_codes(regimes.experiment.context.panel):
            continue
        found = {
            part: [_drawn(regimes, each, name, pair, mask, cells.matrix) for each in features]
            for part, mask in regimes.slices.items()
        }
        for part, sides in found.items():
            for (level, _), drawn in zip(regimes.sides, sides, strict=True):
                _write(regimes, pair, name, part, level, drawn, cells)
            _agreement(regimes, pair, name, part, sides, len(cells.matrix[0]))
        cultures = [part for part in found if part != "all"]
        if len(cultures) == BOTH:
            sides = [_minus(found[cultures[0]][side], found[cultures[1]][side]) for side in range(BOTH)]
            _agreement(regimes, pair, f"{name}_asymmetry", "all", sides, len(cells.matrix[0]))


def _features(regimes: Regimes) -> list[Features]:
    """The judges on the matched items of each regime; a judgment counts where its cell answered both."""
    context, judged = regimes.experiment.context, regimes.experiment.judged
    cubes = [judged.cube[: judged.n_cells, places] for _, places in regimes.sides]
    arrays = [subset(context.panel.arrays, places) for _, places in regimes.sides]
    answered = np.asarray(~np.isnan(cubes[0]).all(-1) & ~np.isnan(cubes[1]).all(-1))
    return [
        Features(pools, np.where(answered[..., None], cube, np.nan), min_gap=context.options.min_gap)
        for pools, cube in zip(arrays, cubes, strict=True)
    ]


def _cells(regimes: Regimes) -> Cells:
    frame = regimes.experiment.design.frame
    judges, conditions = frame["judge"].to_list(), frame["condition"].to_list()
    named = dict.fromkeys(judges)
    groups = [[judge == name for judge in judges] for name in named] + [[True] * len(judges)]
    matrix = np.concatenate([np.eye(len(judges)), np.array(groups, dtype=float)])
    return Cells((*judges, *named, ALL), (*conditions, *[ALL] * len(groups)), matrix)


def _drawn(regimes: Regimes, features: Features, name: str, pair: tuple[int, int], mask: Mask, matrix: Array) -> Drawn:
    """A statistic of every selection on the matched items of a slice, with the draws of all matched items."""
    statistic = REGISTRY[name, ""]
    arrays = regimes.experiment.context.panel.arrays
    has = np.asarray(arrays.has[list(pair)].all(0))
    kept = mask & has[regimes.first] & has[regimes.second]
    blocks = {part: features.get(part, pair) * kept for part in statistic.features}
    weights = regimes.sampler.weights
    by_cell = {part: Sums(block.sum(-1), weighted_sums(weights, block)) for part, block in blocks.items()}
    drawn = draw(statistic, by_cell, select_sums(by_cell, matrix), matrix)
    judged = regimes.experiment.judged
    other = matrix @ judged.rank_only[: judged.n_cells] > 0
    values, reasons = np.where(other, np.nan, drawn.values), np.where(other, "other_scale", drawn.reasons)
    return Drawn(values, reasons, np.where(other[:, None], np.nan, drawn.draws), drawn.n)


def _minus(one: Drawn, two: Drawn) -> Drawn:
    missing = np.isnan(one.values)
    reasons = np.where(missing, one.reasons, two.reasons)
    return Drawn(one.values - two.values, reasons, one.draws - two.draws, one.n + two.n)


def _write(
    regimes: Regimes, pair: tuple[int, int], name: str, part: str, level: str, drawn: Drawn, cells: Cells
) -> None:
    low, high = regimes.ends(drawn.values, drawn.draws)
    regimes.write(
        name,
        drawn.values,
        pair,
        method="percentile",
        params=printed({"regime": level}),
        defined={"judgments": "answered_in_both", "repeats": "mean_of_errors"},
        reasons=list(drawn.reasons),
        low=low,
        high=high,
        n=drawn.n.astype(int),
        slice=part,
        judge=list(cells.judges),
        condition=list(cells.conditions),
    )


def _agreement(
    regimes: Regimes, pair: tuple[int, int], name: str, part: str, sides: Sequence[Drawn], n_cells: int
) -> None:
    """Over cells: the correlation of both regimes' values, and the share whose sign is the same."""
    values = [side.values[:n_cells, None] for side in sides]
    draws = [side.draws[:n_cells] for side in sides]
    known = ~np.isnan(values[0] + values[1])
    for statistic, function in (("cell_correlation", cell_correlation), ("sign_kept", sign_kept)):
        value = function(*values)
        low, high = regimes.ends(value, function(*draws)[None])
        n = int(known.sum())
        reason = "no_matched_items" if n == 0 else "one_cell" if n == 1 else "cells_alike"
        regimes.write(
            statistic,
            value,
            pair,
            method="percentile",
            params=printed({"of": name}),
            defined={"over": "cells"},
            reasons=reason,
            low=low,
            high=high,
            n=n,
            slice=part,
            judge=ALL,
            condition=ALL,
        )


def cell_correlation(one: Array, two: Array) -> Array:
    """(D,) Pearson over cells of (C, D) and (C, D), cells that lack a side left out; NaN where nothing varies.

    >>> cell_correlation(np.array([[1.0], [2.0], [4.0]]), np.array([[1.0], [2.0], [4.0]])).round(6)
    array([1.])
    """
    known = ~np.isnan(one + two)
    n = known.sum(0)
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y = (np.where(known, side - np.where(known, side, 0).sum(0) / n, 0) for side in (one, two))
        spread = (x * x).sum(0) * (y * y).sum(0)
        return np.where((n > 1) & (spread > 1e-24), (x * y).sum(0) / np.sqrt(spread), np.nan)


def sign_kept(one: Array, two: Array) -> Array:
    """(D,) share of cells whose two values have the same sign; a value of 0 keeps none.

    >>> sign_kept(np.array([[1.0], [-2.0]]), np.array([[0.5], [2.0]]))
    array([0.5])
    """
    known = ~np.isnan(one + two)
    kept = known & (np.sign(one) == np.sign(two)) & (np.sign(one) != 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(kept.sum(0) / np.where(known.any(0), known.sum(0), np.nan))
