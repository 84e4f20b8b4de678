"""Values of judgments: labels and numbers on the question's scale, declared judge scales mapped, the rest counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from voirdire.corpus.corpus import Corpus, Note, Question
from voirdire.corpus.intake import REASON, flag, note, number, rows_of, some, warning
from voirdire.corpus.levels import comma_note, encode, is_missing_label, numbers
from voirdire.scales import WITHOUT_ORDER, Scale
from voirdire.tables import Table

OTHER_SCALE_SHARE = 0.2
OTHER_SCALE_COUNT = 5
KEY = ["question", "raw"]
OF_A_RUN = ("condition_digest", "prompt_digest")
"""Columns that only judgments of a run of voirdire have: their ratings are codes, whatever the labels are."""


def give_judged_values(
    frame: pl.DataFrame,
    table: Table,
    corpus: Corpus,
    scales: Mapping[str, tuple[float, float]],
    missing_labels: Sequence[str],
) -> tuple[pl.DataFrame, frozenset[tuple[str, str]], list[Note]]:
    """Give every judgment that is in its ``value`` and ``_status``.

    A judge of which more than a fifth of the numbers lie outside a question's scale answers on another scale: its
    numbers stay as they are, for rank statistics only. Other numbers outside are left out and counted.
    """
    here = frame.filter(pl.col("_reason").is_null())
    parts = [_coded(question, here, table, missing_labels) for question in corpus.questions]
    frame = frame.join(pl.concat(parts), on=KEY, how="left", maintain_order="left")
    frame = _item_ends(frame, corpus)
    frame = _mapped(frame, scales)
    outside = (pl.col("value") < pl.col("_low")) | (pl.col("value") > pl.col("_high"))
    rank_only = _rank_only(frame, outside, scales)
    ranks = pl.DataFrame(sorted(rank_only), schema={"judge": pl.String, "question": pl.String}, orient="row")
    frame = frame.join(
        ranks.with_columns(_rank=pl.lit(True)), on=["judge", "question"], how="left", maintain_order="left"
    )
    outside = (outside & pl.col("_rank").is_null()).fill_null(False)
    notes = _notes(frame, outside, corpus, scales, rank_only, table)
    return _with_status(frame, outside), rank_only, notes


def _coded(question: Question, here: pl.DataFrame, table: Table, missing_labels: Sequence[str]) -> pl.DataFrame:
    scale = question.scale
    part = here.filter((pl.col("question") == question.id) & pl.col("raw").is_not_null()).select(KEY).unique()
    number = numbers(part["raw"], table.delimiter)
    coded = bool(scale.labels) and not scale.nominal and set(OF_A_RUN) <= set(table.frame.columns)
    value = number if coded else encode(scale, part["raw"], table.delimiter)
    if scale.binary and _takes_probabilities(scale):
        value = pl.select(pl.coalesce(value, number)).to_series()
    missing = (*scale.missing, *missing_labels)
    low, high = (scale.low, scale.high) if scale.low is not None else (float("-inf"), float("inf"))
    return part.with_columns(
        value=value,
        _number=number,
        _no_answer=is_missing_label(pl.col("raw"), missing),
        _low=pl.lit(low, pl.Float64),
        _high=pl.lit(high, pl.Float64),
    )


def _takes_probabilities(scale: Scale) -> bool:
    as_numbers = numbers(pl.Series(scale.labels, dtype=pl.String))
    return as_numbers.null_count() > 0 or set(as_numbers) == {0.0, 1.0}


def _item_ends(frame: pl.DataFrame, corpus: Corpus) -> pl.DataFrame:
    if not corpus.item_scales:
        return frame
    rows = [(item, scale.level, scale.low, scale.high) for item, scale in corpus.item_scales.items()]
    schema = {"item_id": pl.String, "_level": pl.String, "_own_low": pl.Float64, "_own_high": pl.Float64}
    own = pl.DataFrame(rows, schema=schema, orient="row")
    numeric = [question.id for question in corpus.questions if not question.scale.labels]
    frame = frame.join(own, on="item_id", how="left", maintain_order="left")
    frame = flag(frame, pl.col("_level").is_in(WITHOUT_ORDER) & pl.col("question").is_in(numeric), "item_level")
    ends = [pl.coalesce("_own_low", "_low").alias("_low"), pl.coalesce("_own_high", "_high").alias("_high")]
    return frame.with_columns(ends).drop("_level", "_own_low", "_own_high")


def _mapped(frame: pl.DataFrame, scales: Mapping[str, tuple[float, float]]) -> pl.DataFrame:
    if not scales:
        return frame.with_columns(_own=pl.lit(False))
    rows = [(judge, low, high) for judge, (low, high) in scales.items()]
    ends = pl.DataFrame(rows, schema={"judge": pl.String, "_from": pl.Float64, "_to": pl.Float64}, orient="row")
    frame = frame.join(ends, on="judge", how="left", maintain_order="left")
    own = pl.col("_from").is_not_null() & pl.col("_low").is_finite()
    part = (pl.col("_number") - pl.col("_from")) / (pl.col("_to") - pl.col("_from"))
    moved = pl.col("_low") + part * (pl.col("_high") - pl.col("_low"))
    at_low, at_high = (pl.col("_number") == pl.col(end) for end in ("_from", "_to"))
    moved = pl.when(at_low).then("_low").when(at_high).then("_high").otherwise(moved)
    frame = frame.with_columns(
        pl.when(own & pl.col("_number").is_not_null()).then(moved).otherwise("value").alias("value")
    )
    return frame.with_columns(_own=own.fill_null(False)).drop("_from", "_to")


def _rank_only(
    frame: pl.DataFrame, outside: pl.Expr, scales: Mapping[str, tuple[float, float]]
) -> frozenset[tuple[str, str]]:
    here = frame.filter(pl.col("_reason").is_null() & pl.col("value").is_not_null() & ~pl.col("_no_answer"))
    here = here.filter(~pl.col("judge").is_in(list(scales)) & (pl.col("_given") == "ok"))
    beyond = pl.col("_n").filter(outside).sum() if "_n" in here.columns else outside.sum()
    shares = here.group_by("judge", "question").agg(count=beyond, share=beyond / rows_of(here))
    enough = (pl.col("count") >= OTHER_SCALE_COUNT) | (pl.col("share") > 0.5)
    other = shares.filter((pl.col("share") > OTHER_SCALE_SHARE) & enough)
    return frozenset((str(judge), str(question)) for judge, question in other.select("judge", "question").iter_rows())


def _with_status(frame: pl.DataFrame, outside: pl.Expr) -> pl.DataFrame:
    status = (
        pl.when(pl.col("_given") != "ok").then("_given")
        .when(pl.col("raw").is_null() | pl.col("_no_answer")).then(pl.lit("missing"))
        .when(pl.col("value").is_null()).then(pl.lit("malformed"))
        .when(outside).then(pl.lit("out_of_scale"))
        .otherwise(pl.lit("ok"))
    )  # fmt: skip
    frame = frame.with_columns(_status=pl.when(pl.col("_reason").is_null()).then(status))
    bad = pl.col("_status").is_not_null() & (pl.col("_status") != "ok")
    reason = pl.when(bad).then(pl.col("_status")).cast(REASON, strict=False)
    return frame.with_columns(
        pl.coalesce("_reason", reason).alias("_reason"),
        pl.when(pl.col("_status") == "ok").then("value").alias("value"),
    )


def _notes(
    frame: pl.DataFrame,
    outside: pl.Expr,
    corpus: Corpus,
    scales: Mapping[str, tuple[float, float]],
    rank_only: frozenset[tuple[str, str]],
    table: Table,
) -> list[Note]:
    notes = comma_note(frame["raw"].unique(), table)
    for low, high in sorted(set(scales.values())):
        judges = some((judge for judge, ends in scales.items() if ends == (low, high)), 20)
        notes.append(note("judge_mapped", judge=judges, low=low, high=high))
    if rank_only:
        pairs = some((f"{judge} ({question})" for judge, question in sorted(rank_only)), 8)
        notes.append(warning("judge_rank_only", file=table.name, judges=pairs))
    lost = frame.filter(pl.col("_reason").is_null() & outside & (pl.col("_given") == "ok") & ~pl.col("_no_answer"))
    counts = lost.group_by("question", maintain_order=True).agg(
        rows_of(lost), pl.col("raw").unique(maintain_order=True).head(5)
    )
    for question, count, values in counts.iter_rows():
        asked = corpus.question(question)
        key = "judged_outside_inferred" if asked.inferred else "judged_outside"
        notes.append(
            warning(key, file=table.name, question=question, scale=str(asked.scale), count=count, values=some(values))
        )
    words = frame.filter(
        pl.col("_reason").is_null() & pl.col("raw").is_not_null() & pl.col("value").is_null() & ~pl.col("_no_answer")
    )
    if not words.is_empty():
        values = some(words["raw"].str.slice(0, 40).unique(maintain_order=True))
        notes.append(warning("judged_words", file=table.name, count=number(words), values=values))
    return notes
