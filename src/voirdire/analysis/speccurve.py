"""The specification curve: T, W and delta of each judge under many definitions, and whether the sign survives.

A number that speaks for one pool under one definition and for the other under the next is no finding. The definitions
are those of section 4; the choices of the audit are the main one, marked in the result.
Source: Simonsohn, Simmons and Nelson, Specification curve analysis, Nature Human Behaviour 4 (2020).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from voirdire.analysis.engine import load_plugins
from voirdire.analysis.evaluate import contexts_of, judged_cells, judged_questions, source_of
from voirdire.analysis.experiment.design import Experiment, read_design
from voirdire.analysis.options import AuditOptions
from voirdire.analysis.rows import Table
from voirdire.analysis.specification_rows import specification_rows
from voirdire.analysis.survival import survival
from voirdire.corpus.corpus import Corpus, Judgments

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class SpecificationCurve:
    """Every definition's value for each judge and ordered pair of pools.

    frame : question, judge, condition (the block of cells that was taken), pool, pool_b, statistic (``tilt``,
        ``delta``, ``orientation.w``), consensus, min_gap (null where it does not apply), anchors, pools, correction,
        subset, value, low, high, undefined, n (items x cells), main (the definition of the audit), signature
    simulated : whether nobody rated the corpus
    """

    frame: pl.DataFrame
    name: str = ""
    simulated: bool = False

    def summary(self) -> pl.DataFrame:
        """One row a judge, pair and statistic: does the sign survive? (see ``survival``)."""
        return survival(self.frame)


def speccurve(
    corpus: Corpus,
    judgments: Judgments,
    options: AuditOptions | None = None,
    progress: Progress | None = None,
) -> SpecificationCurve:
    """The definitions that an audit keeps as ``specifications``, without the rest of the audit.

    Raises what ``evaluate`` raises.
    """
    options = options or AuditOptions()
    load_plugins()
    contexts = contexts_of(corpus, options, Table(source_of(corpus, judgments)))
    names = judged_questions(contexts, judgments)
    frames = []
    for place, context in enumerate(context for context in contexts if context.panel.question.id in names):
        judged = judged_cells(context, corpus, judgments)
        design = read_design(judgments, judged, context.pools, options)
        experiment = Experiment(context, judged, design, corpus, {})
        frames.append(specification_rows(experiment, _part(progress, place, len(names))))
    return SpecificationCurve(pl.concat(frames), corpus.name, corpus.simulated)


def _part(progress: Progress | None, place: int, of: int) -> Callable[[float], None]:
    """Tells the share done of one question among several."""

    def tell(share: float) -> None:
        if progress is not None:
            progress("judges", (place + share) / of)

    return tell
