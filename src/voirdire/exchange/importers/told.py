"""What a user says of the scale of an export."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from voirdire.corpus.intake import choice, some
from voirdire.errors import UsageError
from voirdire.exchange.importers.cells import frame, question
from voirdire.exchange.importers.contract import ImportOptions, Tables
from voirdire.scales import LEVELS

SCALE = ("level", "min", "max", "labels", "positive")


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
