"""Single parts of the experiment's analysis on a built corpus, without the rest of the audit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from tests.analysis.builders import FIVE, QUICK, check, corpus, judgments

from voirdire.analysis.engine import load_plugins
from voirdire.analysis.evaluate import contexts_of, judged_cells, source_of
from voirdire.analysis.experiment.design import Experiment, read_design
from voirdire.analysis.profile import Profile
from voirdire.analysis.rows import Table
from voirdire.corpus.corpus import Corpus, Judgments
from voirdire.scales import Scale


def experiment_of(made: tuple[Corpus, Judgments], **options: Any) -> Experiment:
    """The experiment of the first judged question."""
    load_plugins()
    chosen = replace(QUICK, **options)
    contexts = contexts_of(made[0], chosen, Table(source_of(*made)))
    context = next(c for c in contexts if c.panel.question.id in made[1].table["question"].unique().to_list())
    judged = judged_cells(context, *made)
    design = read_design(made[1], judged, context.pools, chosen)
    roles = {known.panel.question.role: known for known in contexts if known.panel.question.role}
    return Experiment(context, judged, design, made[0], roles)


def rows_of(experiment: Experiment, *parts: Callable[[Experiment], None]) -> pl.DataFrame:
    """The rows that some parts add, checked."""
    for part in parts:
        part(experiment)
    frame = experiment.context.table.frame()
    check(Profile(frame, {}, pl.DataFrame(), pl.DataFrame()))
    return frame


def at(frame: pl.DataFrame, statistic: str, **place: Any) -> dict[str, Any]:
    """The one row at a place."""
    rows = frame.filter(pl.col("statistic") == statistic, *(pl.col(name) == value for name, value in place.items()))
    assert rows.height == 1, rows
    return rows.row(0, named=True)


def simple(
    consensus: np.ndarray, ratings: dict[tuple[str, str], np.ndarray], scale: Scale = FIVE, **factors: dict[str, str]
) -> tuple[Corpus, Judgments]:
    """Two pools of one rater with these ratings (2, I); ratings of (judge, condition) with NaN where missing."""
    names = [f"i{item:03}" for item in range(consensus.shape[1])]
    given = [
        (name, f"{pool}0", pool, float(value))
        for pool, values in zip(("us", "cn"), consensus, strict=True)
        for name, value in zip(names, values, strict=True)
    ]
    judged = [
        (name, judge, condition, 0, None if np.isnan(value) else float(value), "malformed" if np.isnan(value) else "ok")
        for (judge, condition), values in ratings.items()
        for name, value in zip(names, values, strict=True)
    ]
    return corpus(given, scale), judgments(judged, factors=factors)
