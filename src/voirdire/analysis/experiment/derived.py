"""Cells made of others (both sides of a pair, the items of a bin), so that the same machinery computes on them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from voirdire.analysis.context import Context
from voirdire.analysis.experiment.design import Experiment, Mask
from voirdire.analysis.judge_rows import Judged
from voirdire.analysis.panels import Cells
from voirdire.analysis.selections import Selections, is_crossed
from voirdire.stats.features import Array

UNMATCHED = "unmatched"
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Pairs:
    """Cells under a level of a factor and the cells that are equal to them in everything else.

    first, second : (P,) places of the two cells; -1 in ``second`` where there is none
    """

    first: Places
    second: Places

    def __len__(self) -> int:
        return len(self.first)


def pair_cells(experiment: Experiment, factor: str, level: str, against: str) -> Pairs:
    """Each cell of a level with its counterpart: same judge, same other factors.

    Where several cells are alike in all of that (the design does not say what tells them apart), none is taken.
    """
    design = experiment.design
    levels = design.frame[factor].to_list()
    every = design.mask()
    mine = {place for place, found in enumerate(levels) if found == level}
    partner: dict[int, int] = {}
    for group in design.matched(factor, every):
        own = [place for place in group.tolist() if levels[place] == level]
        other = [place for place in group.tolist() if levels[place] == against]
        if len(own) == 1 and len(other) == 1:
            partner[own[0]] = other[0]
    first = sorted(mine)
    return Pairs(np.array(first, dtype=np.int64), np.array([partner.get(place, -1) for place in first], dtype=np.int64))


def matched_cells(experiment: Experiment, pairs: Pairs) -> Experiment:
    """An experiment of 2 P cells: the first sides, then the second, each only on the items that both have.

    A judgment whose counterpart is missing is excluded as ``unmatched``, and so is every judgment of a cell that has
    no counterpart; a missing judgment keeps its own reason.
    """
    judged = experiment.judged
    reasons = (*judged.cells.reasons, UNMATCHED)
    lacking = pairs.second < 0
    sides = judged.cube[np.concatenate([pairs.first, pairs.second])].copy()
    n = len(pairs)
    sides[n:][lacking] = np.nan
    given = ~np.isnan(sides).all(-1)
    both = given[:n] & given[n:]
    status = judged.cells.status[np.concatenate([pairs.first, pairs.second])].copy()
    status[n:][lacking] = 0
    matched = np.concatenate([both, both])
    status[given & ~matched] = reasons.index(UNMATCHED)
    sides[~matched] = np.nan
    return _remade(experiment, np.concatenate([pairs.first, pairs.second]), sides, status, reasons)


def binned_cells(experiment: Experiment, cells: Places, bins: npt.NDArray[np.bool_]) -> Experiment:
    """An experiment of B C cells: these cells on the items of the first bin, then of the second, and so on.

    bins : (B, I). Draws of items then draw all bins together.
    """
    judged = experiment.judged
    cube = np.concatenate([np.where(items[None, :, None], judged.cube[cells], np.nan) for items in bins])
    status = np.concatenate([np.where(items[None, :], judged.cells.status[cells], 0) for items in bins])
    return _remade(experiment, np.tile(cells, len(bins)), cube, status.astype(np.uint8), judged.cells.reasons)


def some_cells(experiment: Experiment, cells: Places) -> Experiment:
    """An experiment of some of the cells, on all items."""
    return binned_cells(experiment, cells, np.ones((1, experiment.judged.cube.shape[1]), dtype=bool))


def _remade(
    experiment: Experiment, rows: Places, cube: Array, status: npt.NDArray[np.uint8], reasons: tuple[str, ...]
) -> Experiment:
    judged = experiment.judged
    frame = judged.cells.frame[rows.clip(0).tolist()] if len(rows) else judged.cells.frame.clear()
    rank_only: Mask = judged.rank_only[rows]
    nothing = np.zeros(0, dtype=bool)
    selections = Selections((), (), np.zeros((0, len(rows))), nothing, nothing)
    cells = Cells(frame, cube, status, reasons)
    design = replace(experiment.design, frame=_rows(experiment.design.frame, rows), n_cells=len(rows), blocks=())
    judged = Judged(cells, cube, rank_only, len(rows), selections)
    return replace(experiment, judged=judged, design=design, fits={}, kept={})


def _rows(frame: pl.DataFrame, rows: Places) -> pl.DataFrame:
    return frame[rows.clip(0).tolist()] if len(rows) else frame.clear()


def culture_slices(context: Context, *, crossed: bool = False) -> dict[str, Mask]:
    """``all`` and the levels of culture; ``crossed``: also the categories within them. Empty slices are left out."""
    chosen = {
        name: mask
        for name, mask in context.slices.items()
        if name == "all" or (name.startswith("culture=") and (crossed or not is_crossed(name)))
    }
    return {name: mask for name, mask in chosen.items() if mask.any()}
