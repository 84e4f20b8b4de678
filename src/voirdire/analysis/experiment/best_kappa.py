"""The largest weighted kappa of any cell with each pool, and with any pool: a maximum, without an interval.

Source: Jury Duty, section 5.1 (the best kappa of a model and a pool).
"""

from __future__ import annotations

import numpy as np

from voirdire.analysis.context import context_reason, scale_codes
from voirdire.analysis.experiment.cell_points import Points, cell_label, comparable_blocks, points
from voirdire.analysis.experiment.contrasts import SliceSums
from voirdire.analysis.experiment.design import ALL, Block, Experiment
from voirdire.analysis.judge_rows import definition_of
from voirdire.statistic import REGISTRY
from voirdire.stats.cross_fit import Places


def add_best_kappa(experiment: Experiment) -> None:
    """``best_kappa.value`` with its ``.cell``, for every pool and for the pool (``.pool``) where it is largest.

    Nothing where no judge has two conditions, or the scale has no declared levels.
    """
    context = experiment.context
    blocks = comparable_blocks(experiment)
    if not blocks or "discrete" not in scale_codes(context.panel):
        return
    sums = SliceSums(experiment, "all", context.slices["all"])
    kappas = [points(sums, "kappa_qw", (k,)) for k in range(len(context.pools))]
    for block in blocks:
        cells = np.flatnonzero(block.mask)
        best = [kappa.best(cells, largest=True) for kappa in kappas]
        for k, cell in enumerate(best):
            _add(experiment, block, (k,), kappas[k], cells, cell)
        values = [-np.inf if cell is None else kappas[k].values[cell] for k, cell in enumerate(best)]
        k = int(np.argmax(values))
        _add(experiment, block, (), kappas[k], cells, best[k])
        _row(experiment, block, (), "pool", kappas[k], best[k], kappas[k].reason(cells), context.pools[k])


def _add(
    experiment: Experiment, block: Block, target: tuple[int, ...], kappa: Points, cells: Places, cell: int | None
) -> None:
    frame = experiment.design.frame
    label = "" if cell is None else cell_label(frame["judge"][cell], frame["condition"][cell])
    _row(experiment, block, target, "value", kappa, cell, kappa.reason(cells), None)
    _row(experiment, block, target, "cell", kappa, cell, kappa.reason(cells), label)


def _row(
    experiment: Experiment, block: Block, target: tuple[int, ...], name: str, kappa: Points, cell: int | None,
    reason: str, label: str | None,
) -> None:  # fmt: skip
    """One row: the value, or a label."""
    context = experiment.context
    made = {**definition_of(context, REGISTRY["kappa_qw", ""], target), "cells": "best_of"}
    context.table.add(
        f"best_kappa.{name}",
        np.nan if cell is None or label is not None else kappa.values[cell],
        labels=None if cell is None or label is None else [label],
        reasons=[context_reason(context, reason, target)],
        n=0 if cell is None else int(kappa.n[cell]),
        definition=context.definition("none", **made),
        question=context.panel.question.id,
        judge=ALL,
        condition=block.name,
        **context.names(target),
    )
