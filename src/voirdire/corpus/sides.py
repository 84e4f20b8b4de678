"""Pairwise votes: which columns of the items name the two things, and which thing was shown first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from voirdire.corpus.corpus import Question
from voirdire.corpus.intake import refuse
from voirdire.scales import Scale
from voirdire.tables import Table

SHOWN_FIRST = "shown_first"
SIDES = ("side 1", "side 2")
"""What says which thing was shown first where the things are called as the other words for it."""
CODE = "_shown"
"""0 where the first thing was shown first, 1 where the second was, null where nobody says."""
KEY = ["item_id", "judge", "condition", "question"]


def thing_columns(columns: Sequence[str], scale: Scale) -> tuple[str, str] | None:
    """The columns of the items that name the two things: called as the first two labels, else ``a`` and ``b``.

    >>> votes = Scale("pairwise", labels=("first", "second", "tie"))
    >>> thing_columns(["item_id", "first", "second"], votes), thing_columns(["item_id", "a"], votes)
    (('first', 'second'), None)
    """
    for first, second in (scale.labels[:2], ("a", "b")):
        if first in columns and second in columns:
            return first, second
    return None


def votes_among(questions: Sequence[Question]) -> list[Question]:
    """The questions that ask for pairwise votes."""
    return [question for question in questions if question.scale.pairwise]


def with_sides(frame: pl.DataFrame, table: Table, questions: Sequence[Question], items: pl.DataFrame) -> pl.DataFrame:
    """The rows with ``_shown`` where a column ``shown_first`` says which thing was shown first.

    It may say so by ``a`` and ``b``, by the question's labels, by ``side 1`` and ``side 2``, or by the thing's own
    name. Rows of other questions have none. Raises InputError for what is neither thing of the item, and for what is a
    word for the one thing and the name of the other.
    """
    votes = votes_among(questions)
    if not votes or SHOWN_FIRST not in frame.columns:
        return frame
    frame = frame.with_columns(pl.lit(None, pl.Int8).alias(CODE))
    for question in votes:
        here = (pl.col("question") == question.id) & pl.col(SHOWN_FIRST).is_not_null()
        by_word, by_name = _readings(frame.select("item_id", SHOWN_FIRST), question.scale, items)
        either = frame.filter(here & (by_word != by_name))
        if not either.is_empty():
            fields = {"question": question.id, "first": SIDES[0], "second": SIDES[1]}
            raise refuse("shown_ambiguous", table, either, SHOWN_FIRST, **fields)
        coded = pl.select(pl.coalesce(by_name, by_word)).to_series()
        frame = frame.with_columns(pl.when(here).then(coded).otherwise(CODE).alias(CODE))
        strange = frame.filter(here & pl.col(CODE).is_null())
        if not strange.is_empty():
            known = ", ".join(dict.fromkeys(["a", "b", *question.scale.labels[:2], *SIDES]))
            raise refuse("shown_unknown", table, strange, SHOWN_FIRST, question=question.id, known=known)
    return frame


def _readings(shown: pl.DataFrame, scale: Scale, items: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    """0 or 1 for every row as a word for a side says it and as a name of a thing does, null where it is none."""
    text = shown[SHOWN_FIRST].cast(pl.String).str.strip_chars()
    codes = {word: place for words in (("a", "b"), SIDES) for place, word in enumerate(words)}
    codes |= {label.casefold(): place for place, label in enumerate(scale.labels[:2])}
    by_word = text.str.to_lowercase().replace_strict(codes, default=None, return_dtype=pl.Int8)
    columns = thing_columns(items.columns, scale)
    if columns is None:
        return by_word, pl.Series([None] * len(text), dtype=pl.Int8)
    names = items.select("item_id", *columns).cast(pl.String).rename(dict(zip(columns, ("_0", "_1"), strict=True)))
    joined = shown.select(pl.col("item_id").cast(pl.String), _text=text, _word=by_word)
    joined = joined.join(names, on="item_id", how="left", maintain_order="left")
    first, second = (pl.col(name).str.strip_chars() for name in ("_0", "_1"))
    said, lower = pl.col("_text"), pl.col("_text").str.to_lowercase()
    nearly = pl.col("_word").is_not_null()
    by_name = joined.select(
        pl.when(said == first).then(pl.lit(0, pl.Int8))
        .when(said == second).then(pl.lit(1, pl.Int8))
        .when(nearly & (lower == first.str.to_lowercase())).then(pl.lit(0, pl.Int8))
        .when(nearly & (lower == second.str.to_lowercase())).then(pl.lit(1, pl.Int8))
    ).to_series()  # fmt: skip
    return by_word, by_name


def shown_signs(frame: pl.DataFrame) -> npt.NDArray[np.float64] | None:
    """1 where the first thing was shown first, -1 where the second was, NaN where unknown; None without the column.

    >>> shown_signs(pl.DataFrame({"shown_first": [0, 1, None]}))
    array([ 1., -1., nan])
    """
    if SHOWN_FIRST not in frame.columns:
        return None
    code = frame[SHOWN_FIRST].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return np.asarray(1 - 2 * code, dtype=float)


def by_order(frame: pl.DataFrame) -> pl.DataFrame:
    """Judgments of one cell in both orders as repeats of it: they answer the same question.

    Which of them is the first repeat means nothing; every number is a mean over them.
    """
    if CODE not in frame.columns:
        return frame
    place = pl.struct("repeat", pl.col(CODE).fill_null(2)).rank("dense").over(KEY)
    votes = pl.col("question").is_in(frame.filter(pl.col(CODE).is_not_null())["question"].unique().implode())
    return frame.with_columns(pl.when(votes).then(place).otherwise("repeat").cast(pl.Int64).alias("repeat"))
