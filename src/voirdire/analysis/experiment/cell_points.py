"""A statistic in every cell without draws, and the best of some cells: what a raw best is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voirdire.analysis.experiment.contrasts import SliceSums
from voirdire.analysis.experiment.design import ALL, Block, Experiment
from voirdire.analysis.naming import CELL, cell_column
from voirdire.statistic import REGISTRY
from voirdire.stats.cross_fit import Places
from voirdire.stats.features import TIE, Array


@dataclass(frozen=True)
class Points:
    """A statistic in every cell, without draws: values (C,), NaN with a reason; n (C,); their order by name (C,)."""

    values: Array
    reasons: npt.NDArray[np.object_]
    n: Array
    order: Places

    def best(self, cells: Places, *, largest: bool = False) -> int | None:
        """Place of the best of these cells, the first by name of those that tie; None where none has a value."""
        values = self.values[cells] * (-1 if largest else 1)
        if not len(cells) or np.isnan(values).all():
            return None
        tied = cells[values <= np.nanmin(values) + TIE]
        return int(tied[self.order[tied].argmin()])

    def reason(self, cells: Places) -> str:
        """Why there is no best."""
        return str(self.reasons[cells][0]) if len(cells) else "no_cells"


def points(sums: SliceSums, name: str, target: tuple[int, ...]) -> Points:
    """A registered statistic in every cell; undefined where a judge answers on another scale."""
    statistic = REGISTRY[name, ""]
    totals = sums.features.totals(statistic.features, target)
    values, reasons = statistic.values(totals)
    other = sums.experiment.judged.rank_only
    values, reasons = np.where(other, np.nan, values), np.where(other, "other_scale", reasons)
    return Points(values, reasons, totals[statistic.n_of], _by_name(sums.experiment, len(values)))


def _by_name(experiment: Experiment, n_cells: int) -> Places:
    """(C,) the place of each cell when cells are sorted by judge and condition; controls last."""
    names = list(experiment.design.frame.select("judge", "condition").iter_rows())
    order = np.arange(n_cells)
    order[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return order


def comparable_blocks(experiment: Experiment) -> list[Block]:
    """The blocks, and all cells together, in which some judge has several cells."""
    design = experiment.design
    every = [Block(ALL, design.mask())] if len(design.blocks) > 1 else []
    axis = [design.mask(judge=name) for name in design.judges]
    return [block for block in (*design.blocks, *every) if any((block.mask & mask).sum() > 1 for mask in axis)]


def cell_label(judge: str, condition: str) -> str:
    """A cell in one text, which :func:`voirdire.analysis.naming.cell_of` reads after ``judge.``.

    >>> cell_label("a|b", "neutral")
    'a%7Cb|neutral'
    """
    return cell_column(judge, condition).removeprefix(CELL)
