"""What a user says of an export as a whole: its scale, and a table of raters, which has to be about these raters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from voirdire.corpus.intake import choice, some
from voirdire.errors import UsageError
from voirdire.exchange.importers.cells import frame, question
from voirdire.exchange.importers.contract import ImportOptions, Tables
from voirdire.exchange.importers.people import ID, join_people, read_people
from voirdire.scales import LEVELS

SCALE = ("level", "min", "max", "labels", "positive")
EXAMPLES = 3


def says_scale(options: ImportOptions) -> bool:
    """Whether an option says something of the scale."""
    return bool(
        options.level or options.ends or options.labels or options.positive is not None or options.missing_labels
    )


def with_scale(found: Tables, options: ImportOptions) -> Tables:
    """The tables with what the options say of the scale, in the questions table and in ``[read]``.

    It is for the questions whose scale the export does not declare; where it declares all, for all of them.

    Raises UsageError for a level that there is none of, and for a positive label that nobody gave.
    """
    if found.ratings is None or not says_scale(options):
        return found
    if options.level is not None:
        choice("--level", options.level, LEVELS)
    named = found.ratings["question"].unique(maintain_order=True).to_list()
    rows = {} if found.questions is None else {row["question"]: row for row in found.questions.iter_rows(named=True)}
    open_ones = [name for name in named if all(rows.get(name, {}).get(part) is None for part in SCALE)] or named
    counted = _with_label(found.ratings, open_ones, options)
    low, high = options.ends or (None, None)
    for name in open_ones:
        positive = options.positive if name in counted else None
        told = question(name, options.level, low, high, options.labels, positive=positive)
        rows[name] = {**rows.get(name, {}), **{key: value for key, value in told.items() if value is not None}}
    read = dict(found.read)
    if options.missing_labels:
        read["missing_labels"] = [*dict.fromkeys([*read.get("missing_labels", ()), *options.missing_labels])]
    scaled = bool(options.level or options.ends or options.labels or options.positive is not None)
    return replace(found, questions=frame(rows.values(), ("question",)) if scaled else found.questions, read=read)


def check_joined(found: Tables, options: ImportOptions) -> None:
    """Raises UsageError where a table of raters is of nobody who rated, or nobody has a value for the pool."""
    if found.ratings is None:
        return
    who = found.ratings[ID].drop_nulls().unique(maintain_order=True)
    raters = found.raters
    if options.raters is not None:
        people = read_people(options.raters, options.rater_key)
        theirs = people.frame[ID]
        if not who.is_in(theirs.implode()).any():
            ids = {"ours": some(who, EXAMPLES), "theirs": some(theirs, EXAMPLES)}
            raise UsageError("importing.nobody_joined", file=str(options.raters), count=len(who), **ids)
        raters, _ = join_people(raters, people, found.ratings[ID])
    column = options.pool_column
    tables = [table for table in (raters, found.ratings) if table is not None and column in table.columns]
    if column is None or not tables:
        return
    if not any(table.filter(pl.col(ID).is_in(who.implode()))[column].is_not_null().any() for table in tables):
        raise UsageError("importing.pool_empty", column=column, count=len(who), raters=some(who, EXAMPLES))


def _with_label(ratings: pl.DataFrame, asked: list[str], options: ImportOptions) -> set[Any]:
    """The questions to which the positive label is an answer."""
    label = options.positive
    if label is None:
        return set()
    if label in options.labels:
        return set(asked)
    given = ratings.filter(pl.col("question").is_in(asked))
    counted = set(given.filter(pl.col("rating").str.strip_chars() == label)["question"])
    if not counted:
        answers = some(given["rating"].drop_nulls().unique(maintain_order=True))
        raise UsageError("importing.positive_unknown", value=label, known=answers)
    return counted
