"""Rows of numbers that are given for every full cell, over all items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.analysis.context import Context
from voirdire.analysis.judge_rows import Judged
from voirdire.analysis.selections import Selections
from voirdire.stats.features import Array


@dataclass(frozen=True)
class FullCells:
    """Writes one row for every full cell."""

    context: Context
    judged: Judged
    full: Selections
    cell: np.ndarray

    def add(
        self,
        statistic: str,
        by_cell: Array,
        target: tuple[int, ...],
        *,
        reason: str | list[str | None] | None = None,
        any_scale: bool = False,
        method: str = "none",
        ends: tuple[Array, Array] | None = None,
        n: npt.ArrayLike = 0,
        params: str = "",
        **definition: Any,
    ) -> None:
        """Rows of per-cell values (C,), NaN with a reason; cells of judges on another scale are undefined."""
        other = self.judged.rank_only & (not any_scale)
        values = np.where(other, np.nan, by_cell)
        given = reason if isinstance(reason, list) else [reason] * len(values)
        reasons = ["other_scale" if other[c] else given[c] for c in range(len(values))]
        low, high = ends if ends is not None else (np.full(len(values), np.nan),) * 2
        counts = np.broadcast_to(np.asarray(n, dtype=int), values.shape)
        self.context.table.add(
            statistic,
            values[self.cell],
            params=params,
            reasons=[reasons[c] for c in self.cell],
            low=np.where(np.isnan(values), np.nan, low)[self.cell],
            high=np.where(np.isnan(values), np.nan, high)[self.cell],
            n=counts[self.cell],
            definition=self.context.definition(method, **definition),
            question=self.context.panel.question.id,
            judge=list(self.full.judges),
            condition=list(self.full.conditions),
            **self.context.names(target),
        )
