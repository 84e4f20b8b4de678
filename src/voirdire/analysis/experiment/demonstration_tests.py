"""Tests of the change of the absolute error under demonstrations: the paper's over cells, and those over item means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voirdire.analysis.experiment.contrasts import SliceSums
from voirdire.analysis.experiment.design import ALL
from voirdire.signature import pairs as printed
from voirdire.stats.features import Array
from voirdire.stats.per_item import over
from voirdire.stats.tests import MeanT, Wilcoxon, benjamini_hochberg, holm, mean_t, wilcoxon

ADJUST: tuple[tuple[str, Callable[[Any], Array]], ...] = (("holm", holm), ("bh", benjamini_hochberg))


@dataclass(frozen=True)
class Tested:
    """The changes that one test is about.

    design : the level of the demonstrations; pool : its index
    change : (P, I) absolute error under the design minus the baseline's, NaN where a side is missing
    other_scale : whether a judge of them answers on another scale, so that errors mean nothing
    """

    design: str
    pool: int
    change: Array
    other_scale: bool = False

    @property
    def item_means(self) -> Array:
        """(I,) mean over the cells of each item, NaN where none has both sides."""
        given = ~np.isnan(self.change)
        return over(np.where(given, self.change, 0.0).sum(0), given.sum(0))


@dataclass(frozen=True)
class Outcome:
    """The three tests of one change: over cells, and two over items."""

    cells: Wilcoxon
    items: Wilcoxon
    mean: MeanT

    @classmethod
    def of(cls, tested: Tested) -> Outcome:
        """Every test, undefined as ``other_scale`` where errors mean nothing."""
        change = np.full_like(tested.change, np.nan) if tested.other_scale else tested.change
        means = Tested(tested.design, tested.pool, change).item_means
        return cls(wilcoxon(change.ravel()), wilcoxon(means), mean_t(means))

    def columns(self) -> dict[str, tuple[float | None, str | None, int]]:
        """Name of a row -> value, reason and n."""
        cells, items, mean = self.cells, self.items, self.mean
        nonzero = float(cells.n - cells.n_zero) if cells.n else None
        return {
            "wilcoxon_cells_statistic": (cells.statistic, cells.undefined, cells.n),
            "wilcoxon_cells_p": (cells.p, cells.undefined, cells.n),
            "n_nonzero": (nonzero, cells.undefined, cells.n),
            "wilcoxon_items_statistic": (items.statistic, items.undefined, items.n),
            "wilcoxon_items_p": (items.p, items.undefined, items.n),
            "t_items": (mean.t, mean.undefined, mean.n),
            "t_items_p": (mean.p, mean.undefined, mean.n),
        }


def write_tests(sums: SliceSums, tested: Sequence[Tested]) -> None:
    """Rows ``icl_effect.error.*`` of every test of a slice; the family of the corrections is designs x pools."""
    outcomes = [Outcome.of(each).columns() for each in tested]
    for part in outcomes[0] if outcomes else ():
        found = [outcome[part] for outcome in outcomes]
        _add(sums, tested, part, found, {})
        if part.endswith("_p"):
            values = np.array([np.nan if value is None else value for value, _, _ in found])
            family = int((~np.isnan(values)).sum())
            for suffix, adjust in ADJUST:
                adjusted = [(float(p), reason, n) for p, (_, reason, n) in zip(adjust(values), found, strict=True)]
                _add(sums, tested, f"{part}_{suffix}", adjusted, {"family": family, "family_of": "designs+pools"})


def _add(
    sums: SliceSums,
    tested: Sequence[Tested],
    part: str,
    found: Sequence[tuple[float | None, str | None, int]],
    more: dict[str, Any],
) -> None:
    context, design = sums.experiment.context, sums.experiment.design
    test = "cluster_t" if part.startswith("t_") else "wilcoxon_asymptotic"
    unit = "cell" if "cells" in part or part == "n_nonzero" else "item"
    for each, (value, reason, n) in zip(tested, found, strict=True):
        context.table.add(
            f"icl_effect.error.{part}",
            value,
            params=printed({"design": each.design, "against": design.baseline}),
            reasons="other_scale" if each.other_scale else reason,
            n=n,
            definition=context.definition(
                test=test, test_unit=unit, repeats="mean_of_errors", matched="judge+factors+item", **more
            ),
            question=context.panel.question.id,
            judge=ALL,
            condition=ALL,
            slice=sums.name,
            **context.names((each.pool,)),
        )
