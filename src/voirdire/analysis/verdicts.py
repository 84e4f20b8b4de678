"""Verdicts: the rule of section 6, first that applies, with thresholds in the signature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from voirdire.analysis.context import Context
from voirdire.analysis.judge_rows import Judged
from voirdire.analysis.rows import Table
from voirdire.analysis.validity import GAP_LEVEL

LEAST_ITEMS = 30
NEUTRALITY_LEVEL = 0.05
NEEDED = ("mae_vs_constant", "ceiling.judge", "delta", "delta_sq")
ORIENTATION = ("orientation.w", "orientation.contrast", "orientation.neutrality_p")
POOLS = ("gate", "ceiling.own", "gap_test.p")


@dataclass(frozen=True)
class Number:
    """What a verdict reads of a row."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    label: str | None
    undefined: str | None = None


NOTHING = Number(None, None, None, 0, None)


def add_verdicts(contexts: Sequence[Context], cells: Mapping[str, Judged], table: Table) -> None:
    """Verdict rows of every judge (each full cell and all conditions together) for every pool and detailed pair."""
    if not cells:
        return
    rows = _index(table.frame())
    for context in contexts:
        judged = cells.get(context.panel.question.id)
        if judged is None:
            continue
        chosen = _chosen(judged)
        for k in range(len(context.pools)):
            _add(context, table, rows, judged, chosen, (k,))
        for pair in context.detail:
            _add(context, table, rows, judged, chosen, pair)
            _add_orientation(context, table, rows, judged, chosen, pair)


def _index(frame: pl.DataFrame) -> dict[tuple[str, ...], Number]:
    keys = ("statistic", "question", "pool", "pool_b", "judge", "condition")
    rows = frame.filter((pl.col("slice") == "all") & pl.col("statistic").is_in([*NEEDED, *ORIENTATION, *POOLS]))
    rows = rows.filter(~pl.col("params").str.contains("control="))
    rows = rows.filter((pl.col("params") == "") | ~pl.col("statistic").is_in(ORIENTATION))
    columns = rows.select(*keys, "value", "low", "high", "n", "label", "undefined").iter_rows()
    return {row[:6]: Number(*row[6:]) for row in columns}


def _chosen(judged: Judged) -> list[int]:
    """Selections that speak of one real judge: its full cells, and all its conditions together."""
    selections = judged.selections
    names = set(judged.cells.frame["judge"].cast(pl.String))
    whole = [
        s
        for s in range(len(selections))
        if selections.judges[s] in names and (selections.full[s] or selections.conditions[s] == "*")
    ]
    return [s for s in whole if not selections.judges[s].startswith("control:")]


def _add(
    context: Context,
    table: Table,
    rows: Mapping[tuple[str, ...], Number],
    judged: Judged,
    chosen: list[int],
    target: tuple[int, ...],
) -> None:
    selections, question, names = judged.selections, context.panel.question.id, context.names(target)
    where = (question, names["pool"], names.get("pool_b", ""))
    rule = _pool_verdict if len(target) == 1 else _pair_verdict
    labels, counts = [], []
    for s in chosen:
        place = (*where, selections.judges[s], selections.conditions[s])
        label, n = rule(context, rows, place, int(selections.matrix[s].sum()))
        labels.append(label)
        counts.append(n)
    table.add(
        "verdict",
        np.full(len(chosen), np.nan),
        labels=labels,
        n=counts,
        definition=context.definition(
            least_items=LEAST_ITEMS, gate=context.options.gate_reliability, gap_level=GAP_LEVEL
        ),
        question=question,
        judge=[selections.judges[s] for s in chosen],
        condition=[selections.conditions[s] for s in chosen],
        **names,
    )


def _pool_verdict(
    context: Context,  # noqa: ARG001  (as of a pair)
    rows: Mapping[tuple[str, ...], Number],
    place: tuple[str, ...],
    n_cells: int,
) -> tuple[str, int]:
    """The label, and the items behind it: per cell, where several cells are taken together."""
    question, pool, _, judge, condition = place
    gate = rows.get(("gate", question, pool, "", "", ""), NOTHING).label
    against = rows.get(("mae_vs_constant", question, pool, "", judge, condition), NOTHING)
    items = against.n // max(n_cells, 1)
    if gate == "fail" or items < LEAST_ITEMS or against.high is None:
        return "cannot_say", items
    if against.high >= 0:
        return "no_better_than_constant", items
    own = rows.get(("ceiling.own", question, pool, "", "", ""), NOTHING)
    mine = rows.get(("ceiling.judge", question, pool, "", judge, condition), NOTHING)
    if gate == "unknown" or own.high is None or mine.value is None:
        return "better_than_constant", items
    return ("worse_than_rater" if mine.value > own.high else "as_near_as_rater"), items


def _sign(number: Number) -> int:
    """+1 or -1 when the interval excludes 0, else 0."""
    if number.low is None or number.high is None:
        return 0
    return int(number.low > 0) - int(number.high < 0)


def _pair_verdict(
    context: Context, rows: Mapping[tuple[str, ...], Number], place: tuple[str, ...], n_cells: int
) -> tuple[str, int]:
    question, pool, pool_b = place[:3]
    delta = rows.get(("delta", *place), NOTHING)
    squared = rows.get(("delta_sq", *place), NOTHING)
    nominal = context.panel.question.scale.nominal
    gates = {rows.get(("gate", question, name, "", "", ""), NOTHING).label for name in (pool, pool_b)}
    gap = rows.get(("gap_test.p", question, pool, pool_b, "", ""), NOTHING).value
    lacking = delta.high is None or gap is None or (squared.high is None and not nominal)
    items = delta.n // max(n_cells, 1)
    if "fail" in gates or items < LEAST_ITEMS or lacking:
        return "cannot_say", items
    first, second = _sign(delta), _sign(delta) if nominal else _sign(squared)
    if first * second < 0:
        return "sign_conflict", items
    if first == 0 or first != second or gap >= GAP_LEVEL:  # type: ignore[operator]
        return "undecided", items
    return ("nearer_b" if first > 0 else "nearer_a"), items


def _add_orientation(
    context: Context,
    table: Table,
    rows: Mapping[tuple[str, ...], Number],
    judged: Judged,
    chosen: list[int],
    pair: tuple[int, int],
) -> None:
    """``orientation.verdict``: by the test of neutrality alone; undefined, with the reason, where W is."""
    selections, question, names = judged.selections, context.panel.question.id, context.names(pair)
    found: list[tuple[int, str | None, str | None, int]] = []
    for s in chosen:
        place = (question, names["pool"], names["pool_b"], selections.judges[s], selections.conditions[s])
        found.append((s, *_orientation(rows, place, int(selections.matrix[s].sum()))))
    definition = context.definition(least_items=LEAST_ITEMS, test_level=NEUTRALITY_LEVEL, adjusted="none")
    for labelled in (True, False):
        part = [entry for entry in found if (entry[1] is not None) == labelled]
        if not part:
            continue
        table.add(
            "orientation.verdict",
            np.full(len(part), np.nan),
            labels=[entry[1] for entry in part] if labelled else None,
            reasons=[entry[2] for entry in part],
            n=[entry[3] for entry in part],
            definition=definition,
            question=question,
            judge=[selections.judges[entry[0]] for entry in part],
            condition=[selections.conditions[entry[0]] for entry in part],
            **names,
        )


def _orientation(
    rows: Mapping[tuple[str, ...], Number], place: tuple[str, ...], n_cells: int
) -> tuple[str | None, str | None, int]:
    """The label or the reason why there is none, and the items behind it."""
    question, pool, pool_b = place[:3]
    w, contrast, p = (rows.get((name, *place), NOTHING) for name in ORIENTATION)
    gates = {rows.get(("gate", question, name, "", "", ""), NOTHING).label for name in (pool, pool_b)}
    items = w.n // max(n_cells, 1)
    if w.value is None:
        return None, w.undefined or "not_computable", items
    if "fail" in gates or items < LEAST_ITEMS or p.value is None or contrast.value is None:
        return "cannot_say", None, items
    if p.value >= NEUTRALITY_LEVEL:
        return "not_oriented", None, items
    return ("oriented_b" if contrast.value > 0 else "oriented_a"), None, items
