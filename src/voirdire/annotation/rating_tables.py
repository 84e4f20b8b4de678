"""What a batch has brought in as tables: ratings as the audit reads them, and what stands beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any

import polars as pl

from voirdire.annotation.collected import COUNTED, Collected
from voirdire.annotation.material import Shown
from voirdire.annotation.nouns import NOT_APPLICABLE
from voirdire.annotation.progress import gold_answers, repeated
from voirdire.annotation.study_questions import questions_table
from voirdire.corpus.options import CorpusOptions

RATED = ("item_id", "rater_id", "pool", "question", "rating", "status", "seconds", "answered_at", "language", "batch")
CHECKED = ("item_id", "rater_id", "pool", "question", "value", "accepted", "right", "answered_at")
WRITTEN = ("item_id", "rater_id", "pool", "question", "kind", "written", "language", "answered_at")
UNTESTED_COLUMN = "corpus_split"


@dataclass(frozen=True)
class AuditTables:
    """The tables that the audit reads."""

    ratings: pl.DataFrame
    items: pl.DataFrame
    questions: pl.DataFrame
    raters: pl.DataFrame

    def options(self, shown: Shown) -> CorpusOptions:
        """The tables as the audit takes them."""
        return CorpusOptions(
            self.ratings,
            items=self.items,
            questions=self.questions,
            raters=self.raters,
            name=shown.name,
            simulated=shown.simulated,
        )


def audit_tables(collected: Collected, shown: Shown) -> AuditTables:
    """Ratings, items, questions and raters of a batch, as ``write_export`` writes them."""
    return AuditTables(
        ratings_table(collected),
        items_table(collected, shown),
        questions_table(collected.study.questions),
        raters_table(collected),
    )


def ratings_table(collected: Collected, states: Sequence[str] = ("done",)) -> pl.DataFrame:
    """One row a rater, item and rated question; an empty rating and its status where a question does not apply.

    states : ``surplus`` for what came too late, which never stands among the ratings
    Repeats, items with known answers, free texts and items that are answered in part are left out.
    """
    rated = [question.id for question in collected.study.questions if question.widget != "text"]
    answered = collected.answered("item", states=tuple(states)).filter(pl.col("question").is_in(rated))
    applies = pl.col("value") != NOT_APPLICABLE
    frame = answered.with_columns(
        pl.when(applies).then("value").alias("rating"),
        pl.when(applies).then(pl.lit("ok")).otherwise(pl.lit(NOT_APPLICABLE)).alias("status"),
        pl.lit(collected.batch.id, pl.Int64).alias("batch"),
        seconds=pl.col("seconds").round(2),
        answered_at=_moments(answered["answered_at"]),
    )
    return _ordered(frame, collected, rated).select(RATED)


def raters_table(collected: Collected) -> pl.DataFrame:
    """The raters who were let in: rater_id, pool, and the screening answers that the study keeps."""
    kept = [asked.id for asked in collected.study.screening if asked.keep]
    people = [rater for rater in collected.raters if rater.state in ("active", "finished")]
    columns: dict[str, list[str | None]] = {
        "rater_id": [rater.id for rater in people],
        "pool": [rater.pool for rater in people],
    }
    for name in kept:
        column = name if name not in columns else f"{name}_answer"
        columns[column] = [_attribute(rater.attributes.get(name)) for rater in people]
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


def items_table(collected: Collected, shown: Shown) -> pl.DataFrame:
    """The rows of the batch's items in the corpus's items table.

    A pilot rates items that are no test items, which an audit leaves out: the column ``split`` is named
    ``corpus_split`` there, so that they stay in.
    """
    chosen = set(collected.batch.spec.items)
    frame = shown.table.filter(pl.col("item_id").is_in(chosen))
    tested = any(shown.items[name].split == "test" for name in chosen if name in shown.items)
    if "split" not in frame.columns or (tested and collected.batch.spec.kind == "rating"):
        return frame
    return frame.rename({"split": next(name for name in _untested_names() if name not in frame.columns)})


def _untested_names() -> Iterator[str]:
    yield UNTESTED_COLUMN
    yield from (f"{UNTESTED_COLUMN}_{number}" for number in count(2))


def repeats_table(collected: Collected) -> pl.DataFrame:
    """Items that were asked twice: what was answered first and second."""
    pairs = repeated(collected, collected.answered("item"))
    return pairs.with_columns(_moments(pairs["answered_at"]))


def checks_table(collected: Collected) -> pl.DataFrame:
    """Answers to items whose answers are known, and whether they are right."""
    told = gold_answers(collected)
    return told.with_columns(pl.col("accepted").list.join("|"), _moments(told["answered_at"])).select(CHECKED)


def comments_table(collected: Collected) -> pl.DataFrame:
    """What raters wrote: comments below questions, and answers to questions of free text, also of late answers."""
    free = [question.id for question in collected.study.questions if question.widget == "text"]
    told = collected.answered("item", "repeat", "gold", states=COUNTED)
    told = told.with_columns(
        written=pl.when(pl.col("question").is_in(free)).then("value").otherwise("comment"),
        answered_at=_moments(told["answered_at"]),
    ).filter(pl.col("written") != "")
    return told.select(WRITTEN).with_columns(no_formula(pl.col("written")))


def no_formula(column: pl.Expr) -> pl.Expr:
    """Texts that a spreadsheet would take for a formula, with an apostrophe before them.

    >>> pl.DataFrame({"a": ["=1+1", "-", "@x", " fine"]}).select(no_formula(pl.col("a")))["a"].to_list()
    ["'=1+1", "'-", "'@x", ' fine']
    """
    return column.str.replace(r"(?s)^([=+\-@\t\r])", "'${1}")


def _attribute(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return "; ".join(str(one) for one in value) if isinstance(value, list | tuple) else str(value)


def _moments(seconds: pl.Series) -> pl.Series:
    """Seconds since 1970 as ISO times in UTC, to the second."""
    told = [datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for moment in seconds]
    return pl.Series("answered_at", told, dtype=pl.String)


def _ordered(frame: pl.DataFrame, collected: Collected, questions: Sequence[str]) -> pl.DataFrame:
    """By question, pool, item and rater, each in the order of the study, the batch and of joining."""
    orders = {
        "question": questions,
        "pool": collected.pools,
        "item_id": collected.batch.spec.items,
        "rater_id": [rater.id for rater in collected.raters],
    }
    places = [
        pl.col(name).replace_strict(list(order), list(range(len(order))), default=None, return_dtype=pl.Int64)
        for name, order in orders.items()
    ]
    return frame.sort(places)
