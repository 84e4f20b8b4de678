"""Are the pools good references? The composition check and the gate (sections 1 and 6 of the definitions)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from voirdire.analysis.context import Context
from voirdire.analysis.rows import Table
from voirdire.analysis.selections import is_crossed
from voirdire.corpus.corpus import Question
from voirdire.statistic import REGISTRY

GAP_LEVEL = 0.05
ALPHA_TENTATIVE, ALPHA_FIRM = 0.667, 0.80
LEAST_STRATUM = 10
EVALUATIVE_SHARE = 0.5


@dataclass(frozen=True)
class PoolRows:
    """The values of the pools' rows, by statistic, question, pool, pool_b and slice."""

    values: Mapping[tuple[str, ...], float | None]

    @classmethod
    def of(cls, frame: pl.DataFrame) -> PoolRows:
        """Index the rows without a judge; the alternatives that ``unit`` names are left out."""
        keys = ("statistic", "question", "pool", "pool_b", "slice")
        rows = frame.filter((pl.col("judge") == "") & ~pl.col("params").str.contains("unit="))
        return cls({row[:-1]: row[-1] for row in rows.select(*keys, "value").iter_rows()})

    def get(self, statistic: str, question: str, pool: str, pool_b: str = "", slice: str = "all") -> float | None:  # noqa: A002
        """The value of one row, None where it is undefined or absent."""
        return self.values.get((statistic, question, pool, pool_b, slice))


def add_validity(contexts: Sequence[Context], table: Table) -> None:
    """Composition, gate and divergence rows of every question; they read the rows that are there already."""
    frame = PoolRows.of(table.frame())
    roles = {context.panel.question.role: context for context in contexts if context.panel.question.role}
    for context in contexts:
        question = context.panel.question
        for pair in context.pairs:
            _add_composition(context, frame, pair)
            _add_divergence(context, frame, pair)
        for k in range(len(context.pools)):
            _add_gate(context, frame, k)
        if question.role == "evaluation":
            for pair in context.pairs:
                _add_recognition(context, frame, roles, pair)


def _add_composition(context: Context, frame: PoolRows, pair: tuple[int, int]) -> None:
    """simpson when the sign of the pooled correlation differs from the sign in most strata."""
    question, names = context.panel.question.id, context.names(pair)
    pooled = frame.get(_correlation(context), question, **names)
    strata = _strata(context)
    values = [_in_stratum(context, pair, name) for name in strata]
    signs = [value > 0 for value in values if value is not None]
    label = "not_applicable"
    if pooled is not None and len(signs) > 1:
        opposed = sum(sign != (pooled > 0) for sign in signs)
        label = "simpson" if opposed > len(signs) / 2 else "consistent"
    context.table.add(
        "composition",
        None,
        labels=label,
        n=len(signs),
        definition=context.definition(strata="+".join(strata) or "none"),
        question=question,
        **names,
    )


def _correlation(context: Context) -> str:
    """The correlation of two pools: of pairwise votes that of their preferences around 0."""
    return "cross_pool_preference_r" if context.panel.question.scale.pairwise else "cross_pool_pearson"


def _in_stratum(context: Context, pair: tuple[int, int], name: str) -> float | None:
    """The correlation in one stratum, for every pair (rows of slices exist for the pairs shown in detail only)."""
    statistic = REGISTRY[_correlation(context), ""]
    mask = context.slices[name].astype(float)
    sums = tuple(context.features.get(part, pair) @ mask for part in statistic.features)
    value = float(statistic.values(sums)[0][0])
    return None if np.isnan(value) else value


def _strata(context: Context) -> list[str]:
    """The finest slices that divide the items: culture x category, else the slices of the first slicing column."""
    crossed = [name for name in context.slices if is_crossed(name)]
    if crossed:
        chosen = crossed
    else:
        columns = [name.split("=")[0] for name in context.slices if name != "all" and not name.startswith("anchor=")]
        chosen = [name for name in context.slices if columns and name.split("=")[0] == columns[0]]
    return [name for name in chosen if int(context.slices[name].sum()) >= LEAST_STRATUM]


def _add_divergence(context: Context, frame: PoolRows, pair: tuple[int, int]) -> None:
    question, names = context.panel.question.id, context.names(pair)
    p = frame.get("gap_test.p", question, **names)
    label = "unknown" if p is None else "yes" if p < GAP_LEVEL else "no"
    definition = context.definition(test="gap_test", level=GAP_LEVEL)
    context.table.add("gate.divergent", None, labels=label, definition=definition, question=question, **names)


def gate_label(reliability: float | None, alpha: float | None, threshold: float) -> str:
    """pass, pass_low_alpha (the consensus is reliable although single raters are not), fail or unknown.

    >>> gate_label(0.9, 0.1, 0.8), gate_label(0.5, 0.9, 0.8), gate_label(None, None, 0.8)
    ('pass_low_alpha', 'fail', 'unknown')
    """
    if reliability is None:
        return "unknown"
    if reliability < threshold:
        return "fail"
    return "pass_low_alpha" if alpha is not None and alpha < ALPHA_TENTATIVE else "pass"


def _add_gate(context: Context, frame: PoolRows, k: int) -> None:
    question, pool = context.panel.question.id, context.pools[k]
    reliability = frame.get("reliability", question, pool)
    alpha = frame.get("alpha", question, pool)
    label = gate_label(reliability, alpha, context.options.gate_reliability)
    definition = context.definition(
        reliability=context.options.gate_reliability, alpha=f"{ALPHA_TENTATIVE}/{ALPHA_FIRM}"
    )
    n = int(context.panel.arrays.has[k].sum())
    context.table.add("gate", None, labels=label, n=n, definition=definition, question=question, pool=pool)


def _add_recognition(context: Context, frame: PoolRows, roles: Mapping[str, Context], pair: tuple[int, int]) -> None:
    """Do the pools differ in what they think of the items while they agree on what the items show?

    yes when the pools diverge on the evaluation, place each culture on the same side and find most items
    subjective; else which of these fails first: not_divergent, sides_differ, not_subjective; unknown without a gap
    test or where the two questions have no answer; not_asked without the placement and subjectivity questions.
    """
    names = context.names(pair)
    label = "not_asked"
    if "placement" in roles and "subjectivity" in roles:
        p = frame.get("gap_test.p", context.panel.question.id, **names)
        agreed = _same_side(frame, roles["placement"].panel.question, roles["placement"], pair)
        shares = [frame.get("subjectivity", roles["subjectivity"].panel.question.id, name) for name in names.values()]
        label = recognition_label(p, agreed, shares)
    context.table.add(
        "gate.evaluation_not_recognition",
        None,
        labels=label,
        definition=context.definition(gap_level=GAP_LEVEL, subjective_share=EVALUATIVE_SHARE),
        question=context.panel.question.id,
        **names,
    )


def recognition_label(p: float | None, same_side: bool | None, subjective: Sequence[float | None]) -> str:
    """Of the gap test's p, whether the pools place each culture alike, and each pool's share of subjective items.

    >>> recognition_label(0.01, True, [0.9, 0.8]), recognition_label(0.01, False, [0.9, 0.8])
    ('yes', 'sides_differ')
    >>> recognition_label(0.086, False, [0.1, 0.1]), recognition_label(0.01, None, [0.9, 0.8])
    ('not_divergent', 'unknown')
    """
    if p is None:
        return "unknown"
    if p >= GAP_LEVEL:
        return "not_divergent"
    if same_side is False:
        return "sides_differ"
    if any(share is not None and share < EVALUATIVE_SHARE for share in subjective):
        return "not_subjective"
    return "unknown" if same_side is None or None in subjective else "yes"


def _same_side(frame: PoolRows, question: Question, context: Context, pair: tuple[int, int]) -> bool | None:
    """Whether both pools place every culture on the same side of the middle; None where one of them has no place."""
    cultures = [name for name in context.slices if name.startswith("culture=") and not is_crossed(name)] or ["all"]
    every = [
        [frame.get("placement", question.id, name, slice=culture) for name in context.names(pair).values()]
        for culture in cultures
    ]
    known = [(first, second) for first, second in every if first is not None and second is not None]
    if any((first > 0) != (second > 0) for first, second in known):
        return False
    return True if len(known) == len(every) else None
