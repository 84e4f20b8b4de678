"""``r2_decomposition``: how much of the variance of delta the items, and beside them judges and conditions, explain.

Every term is taken alone over items, never in sequence: a covariate is nested in the judges and would read 0 after
them. Source: Jury Duty, section 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voirdire.analysis.context import Mask
from voirdire.analysis.experiment.delta_cells import DeltaCells, numbers_of, regressed_slices
from voirdire.analysis.experiment.design import Block, Experiment
from voirdire.signature import pairs
from voirdire.stats.features import Array
from voirdire.stats.regression import SMALL, ItemCube, Share, explained, r_squared


def add_r2(experiment: Experiment) -> None:
    """R2 of item effects and the increments over them, in the baseline block, for all items and each image culture."""
    block = experiment.design.blocks[0]
    for pair in experiment.context.detail:
        cells = DeltaCells(experiment, pair)
        if cells.cells(block).sum() > 1:
            for name, items in regressed_slices(experiment).items():
                _Slice(cells, block, name, items).add()


@dataclass(frozen=True)
class _Slice:
    """The decomposition of one pair, block and slice."""

    cells: DeltaCells
    block: Block
    name: str
    items: Mask

    def add(self) -> None:
        chosen = self.cells.cells(self.block)
        cube = self.cells.cube(chosen, self.items)
        share = r_squared(cube)
        self._write("r2", "", share.r2, _reason(cube, share), cube, chosen)
        self._write("r2_adjusted", "", share.adjusted, _reason(cube, share), cube, chosen)
        for term in ("judge", "condition", *self.cells.experiment.design.covariates):
            self._term(term, chosen)

    def _term(self, term: str, chosen: Mask) -> None:
        """What one term adds to item effects, on the cells where it is known."""
        known, columns = _columns(self.cells, term, chosen)
        if columns is None:
            return
        cube = self.cells.cube(known, self.items)
        more = explained(cube, columns)
        base, full = r_squared(cube), r_squared(cube, more)
        params, reason = pairs({"term": term}), _reason(cube, full)
        self._write("increment", params, full.r2 - base.r2, reason, cube, known)
        self._write("increment_adjusted", params, full.adjusted - base.adjusted, reason, cube, known)
        judges, names = self.cells.dummies("judge", known)
        if term in ("judge", "condition") or len(names) < 2:
            return
        of_judges = explained(cube, judges).squares
        share = more.squares / of_judges if of_judges > SMALL * cube.total else np.nan
        self._write("share_of_judge", params, share, reason or "judges_alike", cube, known)

    def _write(self, name: str, params: str, value: float, reason: str | None, cube: ItemCube, known: Mask) -> None:
        context = self.cells.experiment.context
        context.table.add(
            f"r2_decomposition.{name}",
            value,
            params=params,
            reasons=reason,
            n=cube.n,
            excluded=self.cells.excluded(self.block, known, self.items),
            definition=context.definition(of="delta", effects="item", repeats="mean_of_errors"),
            **self.cells.place(self.block, self.name),
        )


def _columns(cells: DeltaCells, term: str, chosen: Mask) -> tuple[Mask, Array | None]:
    """The cells where a term is known and its columns for them; None where it does not vary."""
    known = chosen & cells.frame[term].is_not_null().to_numpy()
    number = None if term in ("judge", "condition") else numbers_of(cells.experiment.design, term)
    if number is not None:
        return known, number[known, None] if len(np.unique(number[known])) > 1 else None
    columns, levels = cells.dummies(term, known)
    return known, columns if len(levels) > 1 else None


def _reason(cube: ItemCube, share: Share) -> str | None:
    """Why an R2 or its adjusted form is undefined; None where both are defined."""
    if not cube.n:
        return "no_common_items"
    if np.isnan(share.r2):
        return "no_spread"
    return "no_degrees" if np.isnan(share.adjusted) else None
