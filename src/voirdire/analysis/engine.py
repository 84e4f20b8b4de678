"""Additive statistics of many cells, selections and slices at once, with their intervals.

The features of a target (a pool or pair) are summed once for the point and once, as a matrix product with the
bootstrap weights, for every resample; selections are sums over cells. Shapes: C cells, S selections, D draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from voirdire import plugins
from voirdire.analysis.context import scale_reason
from voirdire.analysis.options import AuditOptions
from voirdire.statistic import REGISTRY, Statistic, unexplained
from voirdire.stats import (  # noqa: F401  (they declare the statistics)
    agreement,
    alignment,
    position,
    preference,
    scale_use,
    tilt,
)
from voirdire.stats.features import Array, Features
from voirdire.stats.resampling import bca, block_sums, fisher_z, item_weights, leave_one_out, percentile

SUMS = 4_000_000
BLOCKS = 8_000_000
SPARSE = 5


@dataclass(frozen=True)
class Result:
    """Values of one statistic on S selections: NaN with a reason where undefined, NaN ends without an interval.

    bias : where raters are drawn, mean of their draws - value; None elsewhere
    """

    statistic: Statistic
    values: Array
    reasons: npt.NDArray[np.object_]
    low: Array
    high: Array
    n: npt.NDArray[np.int64]
    method: str
    bias: Array | None = None


class Ends(NamedTuple):
    """The ends of S intervals; with raters drawn also the bias, mean of their draws - estimate."""

    low: Array
    high: Array
    bias: Array | None = None


@dataclass(frozen=True)
class Drawn:
    """A statistic on S selections: values (S,), NaN with a reason; draws (S, D), D = 0 without any; n (S,)."""

    values: Array
    reasons: npt.NDArray[np.object_]
    draws: Array
    n: Array


@dataclass(frozen=True)
class Sums:
    """Sums of one feature: point (C,) and draws (C, D)."""

    point: Array
    draws: Array


class ItemSampler:
    """Draws of items with replacement: all cells of an item together."""

    def __init__(self, n_items: int, options: AuditOptions, rng: np.random.Generator) -> None:
        self.options = options
        self.weights = item_weights(n_items, options.draws if n_items > 1 else 0, rng)

    def sums(self, features: Features, names: Sequence[str], target: tuple[int, ...]) -> dict[str, Sums]:
        """The sums of every named feature."""
        return self.sums_of_each(features, names, (target,))

    def sums_of_each(
        self, features: Features, names: Sequence[str], targets: Sequence[tuple[int, ...]]
    ) -> dict[str, Sums]:
        """The sums of every named feature, the cells of one target after those of another, by few products.

        Many cells are summed one part after the other, and features dropped as soon as they are summed.
        """
        parts = [self._block_sums(block, names, targets) for block in features.blocks()]
        if len(parts) == 1:
            return parts[0]
        return {name: _concatenated([part[name] for part in parts]) for name in parts[0]}

    def _block_sums(
        self, features: Features, names: Sequence[str], targets: Sequence[tuple[int, ...]]
    ) -> dict[str, Sums]:
        sums: dict[str, Sums] = {}
        waiting: dict[str, Array] = {}
        for name in dict.fromkeys(names):
            waiting[name] = _rows(features, name, targets)
            if sum(block.size for block in waiting.values()) > BLOCKS:
                sums |= self._product(waiting)
                waiting.clear()
                features.forget()
        return sums | self._product(waiting)

    def _product(self, blocks: dict[str, Array]) -> dict[str, Sums]:
        draws = block_sums(self.weights, list(blocks.values()))
        return {name: Sums(block.sum(-1), drawn) for (name, block), drawn in zip(blocks.items(), draws, strict=True)}

    def interval(
        self,
        target: tuple[int, ...],  # noqa: ARG002  (raters depend on it)
        values: Array,
        draws: Array,
        left_out: Array | None,
    ) -> Ends:
        """Percentile or BCa ends of (S, D) draws."""
        if left_out is not None:
            return Ends(*bca(values, draws, left_out, self.options.level))
        return Ends(*percentile(draws, self.options.level))

    @property
    def method(self) -> str:
        """Name of the interval in signatures."""
        return self.options.interval

    def told(self, target: tuple[int, ...]) -> dict[str, str]:  # noqa: ARG002  (raters depend on it)
        """What signatures add about the interval of a target."""
        return {}

    @property
    def draws_raters(self) -> bool:
        """Whether raters are drawn beside items."""
        return False


def _concatenated(parts: Sequence[Sums]) -> Sums:
    """The sums of the cells of one part after those of another."""
    return Sums(np.concatenate([part.point for part in parts]), np.concatenate([part.draws for part in parts]))


def _rows(features: Features, name: str, targets: Sequence[tuple[int, ...]]) -> Array:
    """A feature's cells (rows) of one target after those of another."""
    if len(targets) == 1:
        return features.get(name, targets[0])
    return np.concatenate([features.get(name, target) for target in targets])


def load_plugins() -> None:
    """Import what installed packages register as statistics, so that they declare them.

    A plugin names a function that ``additive`` has declared, or a module that declares some when it is imported.
    """
    for name in plugins.available(plugins.STATISTICS):
        plugins.load(plugins.STATISTICS, name)


def active(per: str, *, scale_codes: frozenset[str], sliced_only: bool) -> list[Statistic]:
    """The registered statistics of a kind that the question's scale allows."""
    return [
        statistic
        for statistic in REGISTRY.values()
        if statistic.per == per and statistic.scale in scale_codes and (statistic.sliced or not sliced_only)
    ]


def ruled_out(per: str, scale_codes: frozenset[str], width: int) -> list[Result]:
    """Undefined results (width,) of the statistics of a kind that the question's scale does not allow."""
    results = []
    for statistic in REGISTRY.values():
        reason = scale_reason(statistic.scale, scale_codes)
        if statistic.per == per and statistic.scale not in scale_codes and reason is not None:
            nothing = np.full(width, np.nan)
            reasons = np.full(width, reason, dtype=object)
            results.append(
                Result(statistic, nothing, reasons, nothing, nothing, np.zeros(width, dtype=np.int64), "none")
            )
    return results


def compute(
    statistics: Sequence[Statistic],
    features: Features,
    target: tuple[int, ...],
    sampler: ItemSampler,
    matrix: Array | None = None,
) -> list[Result]:
    """Each statistic on each selection (rows of ``matrix``; None: every cell for itself)."""
    if not statistics:
        return []
    names = [name for statistic in statistics for name in statistic.features]
    by_cell = sampler.sums(features, names, target)
    selected = by_cell if matrix is None else select_sums(by_cell, matrix)
    return [_one(statistic, by_cell, selected, features, target, sampler, matrix) for statistic in statistics]


def compute_each(
    statistics: Sequence[Statistic],
    features: Features,
    targets: Sequence[tuple[int, ...]],
    sampler: ItemSampler,
) -> list[list[Result]]:
    """What :func:`compute` gives for each of many pools or pairs.

    They are rows of the same sums where their intervals come from the same draws of items: hundreds of pairs of
    pools would else each multiply a few features with all the draws.
    """
    if not statistics or sampler.draws_raters or sampler.method == "bca":
        return [compute(statistics, features, target, sampler) for target in targets]
    names = [name for statistic in statistics for name in statistic.features]
    step = max(1, SUMS // (len(set(names)) * max(len(sampler.weights), 1)))
    results: list[list[Result]] = []
    for start in range(0, len(targets), step):
        part = targets[start : start + step]
        sums = sampler.sums_of_each(features, names, part)
        together = [_one(statistic, sums, sums, features, part[0], sampler, None) for statistic in statistics]
        results.extend([_row(result, place) for result in together] for place in range(len(part)))
    return results


def _row(result: Result, place: int) -> Result:
    """One row of a result as a result of its own."""
    row = slice(place, place + 1)
    return replace(
        result,
        values=result.values[row],
        reasons=result.reasons[row],
        low=result.low[row],
        high=result.high[row],
        n=result.n[row],
    )


def _one(
    statistic: Statistic,
    by_cell: dict[str, Sums],
    selected: dict[str, Sums],
    features: Features,
    target: tuple[int, ...],
    sampler: ItemSampler,
    matrix: Array | None,
) -> Result:
    drawn = draw(statistic, by_cell, selected, matrix, resampled=_resampled(statistic, sampler))
    values, reasons, n = drawn.values, drawn.reasons, drawn.n
    ends = Ends(np.full(values.shape, np.nan), np.full(values.shape, np.nan))
    method = "none"
    if statistic.interval == "fisher_z":
        ends = Ends(*fisher_z(values, n, sampler.options.level))
        method = "fisher_z"
    elif drawn.draws.shape[-1]:
        left_out = _left_out(statistic, features, target, matrix) if sampler.method == "bca" else None
        ends = sampler.interval(target, values, drawn.draws, left_out)
        method = sampler.method
    elif _resampled(statistic, sampler) and not len(sampler.weights):
        method = sampler.method  # a slice of one item: the same definition, with nothing to draw
    undefined = np.isnan(values)
    low, high = np.where(undefined, np.nan, ends.low), np.where(undefined, np.nan, ends.high)
    reasons = np.where(undefined & unexplained(reasons), "not_computable", reasons)
    return Result(statistic, values, reasons, low, high, np.rint(n).astype(np.int64), method, ends.bias)


def draw(
    statistic: Statistic,
    by_cell: Mapping[str, Sums],
    selected: Mapping[str, Sums],
    matrix: Array | None,
    *,
    resampled: bool = True,
) -> Drawn:
    """A statistic on every selection with its draws.

    by_cell, selected : sums of its features over items for every cell, and for every selection (rows of ``matrix``)
    """
    mean_of_cells = statistic.across == "mean_of_cells" and matrix is not None
    sums = [(by_cell if mean_of_cells else selected)[name] for name in statistic.features]
    values, reasons = statistic.values(tuple(part.point for part in sums))
    n = selected[statistic.features[statistic.n_of]].point
    if mean_of_cells:
        values, reasons = _mean_of_cells(values, reasons, matrix)
    draws = np.empty((len(values), 0))
    if resampled and sums[0].draws.shape[-1]:
        draws = statistic.numbers(tuple(part.draws for part in sums))
        if mean_of_cells:
            draws = _average(draws.T, matrix).T
    return Drawn(values, reasons, draws, n)


def select_sums(by_cell: Mapping[str, Sums], matrix: Array) -> dict[str, Sums]:
    """Sums over the cells of every selection."""
    return {name: Sums(_select(part.point, matrix), _select(part.draws, matrix)) for name, part in by_cell.items()}


def _resampled(statistic: Statistic, sampler: ItemSampler) -> bool:
    return statistic.interval == "bootstrap" or (statistic.interval == "items" and not sampler.draws_raters)


def _select(sums: Array, matrix: Array | None) -> Array:
    """Sums over the cells (first axis) of every selection; selections of few cells as a sparse product."""
    if matrix is None:
        return sums
    if sums.ndim > 1 and SPARSE * np.count_nonzero(matrix) < matrix.size:
        from scipy.sparse import csr_array

        return np.asarray(csr_array(matrix) @ sums)
    return np.asarray(matrix @ sums)


def _average(values: Array, matrix: Array | None) -> Array:
    """Means over the cells of each selection (last axis); NaN when a cell of it is NaN."""
    if matrix is None:
        return values
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0) @ matrix.T
    complete = known.astype(float) @ matrix.T == matrix.sum(1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(complete, total / matrix.sum(1), np.nan)


def _mean_of_cells(
    values: Array, reasons: npt.NDArray[np.object_], matrix: Array | None
) -> tuple[Array, npt.NDArray[np.object_]]:
    if matrix is None:
        return values, reasons
    means = _average(values, matrix)
    single = matrix.sum(1) == 1
    first = matrix.argmax(1)
    why = np.where(single, reasons[first], "cell_undefined").astype(object)
    why[~np.isnan(means)] = None
    return means, why


def _left_out(statistic: Statistic, features: Features, target: tuple[int, ...], matrix: Array | None) -> Array:
    """(S, I) the statistic with each item left out, for BCa."""
    stacked = np.stack([features.get(name, target) for name in statistic.features])
    if statistic.across == "mean_of_cells" or matrix is None:
        by_cell = leave_one_out(lambda *sums: statistic.numbers(sums), stacked)
        return _average(by_cell.T, matrix).T
    return leave_one_out(lambda *sums: statistic.numbers(sums), matrix @ stacked)
