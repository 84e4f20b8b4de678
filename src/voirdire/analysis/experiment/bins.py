"""``recognizability_bins``: T in bins of how recognizable a pool finds the items (section 4; Jury Duty, 4.1).

The bins are quantiles of the pool's item mean of the recognizability question within the slice: thirds, and halves as
the alternative. A value that equals an edge belongs to the lower bin, as in ``pandas.qcut``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.analysis.context import Context
from voirdire.analysis.engine import Drawn
from voirdire.analysis.experiment.contrasts import SliceSums, contrast, write
from voirdire.analysis.experiment.derived import binned_cells, culture_slices, some_cells
from voirdire.analysis.experiment.design import ALL, Experiment, Mask
from voirdire.analysis.experiment.orientation.selected import Linear, linear_contrast, selected_w, write_linear
from voirdire.signature import pairs as printed
from voirdire.stats.features import Array

ROLE = "recognizability"
BINS: dict[int, tuple[str, ...]] = {3: ("low", "mid", "high"), 2: ("low", "high")}
DIGITS = 9


@dataclass(frozen=True)
class Binned:
    """Items of a slice in bins: names (B,), masks (B, I), edges (B + 1,)."""

    names: tuple[str, ...]
    masks: npt.NDArray[np.bool_]
    edges: Array

    def told(self) -> dict[str, Any]:
        """The edges and the items of each bin, for definitions."""
        return {
            "edges": "/".join(f"{edge:.10g}" for edge in self.edges),
            "items": "/".join(str(int(count)) for count in self.masks.sum(1)),
        }


def quantile_bins(values: Array, mask: Mask, names: tuple[str, ...]) -> Binned | None:
    """Items of a slice by quantiles of a number.

    values : (I,) NaN where unknown; mask : (I,) the slice; names : of the B bins, the lowest first

    Edges are linear quantiles of the known values; a bin holds what is above its lower and at most at its upper edge,
    the first also its lower edge. Equal values stay together, so bins may differ in size or be empty. None without
    any value.

    >>> quantile_bins(np.array([1.0, 2.0, 2.0, 3.0]), np.ones(4, bool), ("low", "high")).masks.sum(1)
    array([3, 1])
    """
    rounded = np.round(values, DIGITS)
    known = mask & ~np.isnan(values)
    if not known.any():
        return None
    edges = np.round(np.quantile(values[known], np.linspace(0, 1, len(names) + 1)), DIGITS)
    place = np.searchsorted(edges[1:-1], rounded, side="left")
    return Binned(names, np.stack([known & (place == number) for number in range(len(names))]), edges)


def add_bins(experiment: Experiment) -> None:
    """Rows ``recognizability_bins.*`` for each pool's bins, where the recognizability question was asked."""
    other = experiment.others.get(ROLE)
    if other is None or other is experiment.context or other.panel.question.scale.nominal:
        return
    for name, mask in culture_slices(experiment.context).items():
        for k, pool in enumerate(other.pools):
            found = aligned(experiment.context, other, k)
            for number, names in BINS.items():
                binned = quantile_bins(found, mask, names)
                if binned is not None:
                    _Bins(experiment, name, mask, pool, number, binned, other.panel.question.id).add()


def aligned(context: Context, other: Context, k: int) -> Array:
    """(I,) a pool's consensus on another question for the items of this one, NaN where there is none."""
    place = {row: item for item, row in enumerate(other.panel.item_rows.tolist())}
    items = np.array([place.get(row, -1) for row in context.panel.item_rows.tolist()], dtype=np.int64)
    return np.where(items >= 0, other.panel.arrays.mean[k][items], np.nan)


@dataclass(frozen=True)
class _Bins:
    """One slice by one pool's recognizability."""

    experiment: Experiment
    name: str
    mask: Mask
    pool: str
    number: int
    binned: Binned
    question: str

    def add(self) -> None:
        """T of all judges and of each, in every bin, and the lowest bin minus the highest."""
        design = self.experiment.design
        block = design.blocks[0]
        cells = np.flatnonzero(block.mask)
        frame = design.frame[cells.tolist()]
        judges = [ALL, *frame["judge"].unique(maintain_order=True).to_list()]
        one = np.stack([np.ones(len(cells)) if j == ALL else (frame["judge"] == j).to_numpy() for j in judges]).astype(
            float
        )
        bins = len(self.binned.names)
        matrix = np.kron(np.eye(bins), one)
        derived = binned_cells(self.experiment, cells, self.binned.masks)
        sums = SliceSums(derived, self.name, self.mask)
        for pair in self.experiment.context.detail:
            drawn = sums.statistic("tilt", pair, matrix)
            for number, bin_ in enumerate(self.binned.names):
                rows = slice(number * len(judges), (number + 1) * len(judges))
                part = Drawn(drawn.values[rows], drawn.reasons[rows], drawn.draws[rows], drawn.n[rows])
                self._write(sums, pair, part, judges, block.name, bin_, matrix[rows])
            size, none = len(judges), np.zeros((len(judges), len(judges) * (bins - 2)))
            difference = contrast(drawn, np.concatenate([np.eye(size), none, -np.eye(size)], axis=1))
            ends = matrix[:size] + matrix[-size:]
            self._write(sums, pair, difference, judges, block.name, "low-high", ends)
            self._add_w(some_cells(self.experiment, cells), pair, one, judges, block.name)

    def _add_w(self, chosen: Experiment, pair: tuple[int, int], one: Array, judges: list[str], condition: str) -> None:
        """W in every bin, and of the lowest minus the highest, whose items differ."""
        found = []
        for bin_, items in zip(self.binned.names, self.binned.masks, strict=True):
            key = f"{self.name}/{self.number}/{self.pool}/{bin_}"
            linear = selected_w(chosen, key, items, pair, one)
            influence = np.zeros((len(one), int(self.mask.sum())))
            influence[:, items[self.mask]] = linear.influence
            found.append(replace(linear, influence=influence))
            self._write_w(found[-1], pair, judges, condition, bin_)
        ends = Linear(
            np.concatenate([found[0].values, found[-1].values]),
            np.concatenate([found[0].reasons, found[-1].reasons]),
            np.concatenate([found[0].influence, found[-1].influence]),
            np.concatenate([found[0].n, found[-1].n]),
        )
        size = len(judges)
        difference = linear_contrast(ends, np.concatenate([np.eye(size), -np.eye(size)], axis=1))
        self._write_w(difference, pair, judges, condition, "low-high")

    def _write_w(self, linear: Linear, pair: tuple[int, int], judges: list[str], condition: str, bin_: str) -> None:
        write_linear(
            self.experiment.context,
            "recognizability_bins.orientation.w",
            linear,
            name=self.name,
            target=pair,
            judge=judges,
            condition=[condition] * len(judges),
            params=printed({"bins": self.number, "bin": bin_, "by": self.pool}),
            of="orientation.w",
            by_question=self.question,
            **self.binned.told(),
        )

    def _write(
        self,
        sums: SliceSums,
        pair: tuple[int, int],
        drawn: Drawn,
        judges: list[str],
        condition: str,
        bin_: str,
        matrix: Array,
    ) -> None:
        write(
            sums,
            "recognizability_bins.tilt",
            drawn,
            judge=judges,
            condition=[condition] * len(judges),
            target=pair,
            params=printed({"bins": self.number, "bin": bin_, "by": self.pool}),
            of=("tilt", ""),
            matrix=matrix,
            by_question=self.question,
            **self.binned.told(),
        )
