"""Rows of questions that have a role: cultural placement, subjectivity, recognizability (Jury Duty, section 3.3c)."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from voirdire.analysis.context import Context, Mask
from voirdire.analysis.counterparts import second_images
from voirdire.corpus.corpus import Corpus
from voirdire.stats.features import TIE, Array
from voirdire.stats.tests import DIGITS, wilcoxon


def add_roles(context: Context, corpus: Corpus) -> None:
    """The rows of the question's role, for every pool and slice; none for ``evaluation`` or without a role."""
    question = context.panel.question
    if question.role not in ("placement", "subjectivity", "recognizability") or question.scale.nominal:
        return
    for name, mask in context.slices.items():
        for k in range(len(context.pools)):
            _add_role(context, question.role, k, name, mask)
    if question.role == "recognizability":
        for a, b in context.detail:
            _add_tests(context, corpus, a, b)


def _add_role(context: Context, role: str, k: int, name: str, mask: Mask) -> None:
    panel, cuts = context.panel, context.panel.arrays.scale
    values = panel.arrays.mean[k][mask]
    values = values[~np.isnan(values)]
    common: dict[str, Any] = {
        "reasons": "no_items",
        "n": len(values),
        "definition": context.definition(),
        "question": panel.question.id,
        "pool": panel.pools[k],
        "slice": name,
    }
    if role == "subjectivity":
        share = None if not len(values) else float((values <= cuts.low_cut + TIE).mean())
        context.table.add("subjectivity", share, **common)
        rows = panel.rows[k]
        single = rows.value[mask[rows.item]]
        of_ratings = None if not len(single) else float((single <= cuts.low_cut + TIE).mean())
        reason = "aggregate_pool" if panel.pools[k] in panel.aggregate else "no_items"
        ratings = common | {"reasons": reason, "n": len(single)}
        context.table.add("subjectivity", of_ratings, params="unit=ratings", **ratings)
        return
    zero = cuts.center if role == "placement" else 0.0
    if zero is None:
        common |= {"reasons": "no_levels"}
    value = None if zero is None or not len(values) else float(values.mean() - zero)
    context.table.add(role, value, **common)


def _add_tests(context: Context, corpus: Corpus, a: int, b: int) -> None:
    """Paired Wilcoxon of the two pools: on the same items, and on concept pairs (each pool its own culture).

    The concept pairs also without rounding the differences first, as the published test was made.
    """
    mean = context.panel.arrays.mean
    tests: dict[str, tuple[Array, int | None]] = {"pairing=item": (mean[a] - mean[b], DIGITS)}
    concept = _concept_differences(context, corpus, a, b)
    if concept is not None:
        tests |= {"pairing=concept": (concept, DIGITS), "pairing=concept,rounding=none": (concept, None)}
    for params, (differences, digits) in tests.items():
        result = wilcoxon(differences[~np.isnan(differences)], digits)
        for part, value in (("statistic", result.statistic), ("p", result.p)):
            context.table.add(
                f"recognizability_test.{part}",
                value,
                params=params,
                reasons=result.undefined,
                n=result.n,
                definition=context.definition(test="wilcoxon", zeros="dropped"),
                question=context.panel.question.id,
                **context.names((a, b)),
            )


def _concept_differences(context: Context, corpus: Corpus, a: int, b: int) -> Array | None:
    """(pairs,) consensus of pool a on its own culture's item minus that of b on its own; None without such pairs.

    An item that shows another one in a second regime is no further member of the pair.
    """
    items = corpus.items[context.panel.item_rows]
    if not {"pair_id", "culture"} <= set(items.columns):
        return None
    mean = context.panel.arrays.mean
    frame = items.select(pl.col("pair_id", "culture").cast(pl.String)).with_columns(
        pl.Series("a", mean[a]), pl.Series("b", mean[b])
    )
    frame = frame.filter(~second_images(items))
    own_a = frame.filter(pl.col("culture") == context.pools[a]).select("pair_id", "a")
    own_b = frame.filter(pl.col("culture") == context.pools[b]).select("pair_id", "b")
    joined = own_a.join(own_b, on="pair_id", how="inner")
    if joined.is_empty():
        return None
    return np.asarray((joined["a"] - joined["b"]).to_numpy(), dtype=float)
