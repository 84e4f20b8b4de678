"""Judgments: any shape to one row per cell and repeat, checked against the corpus, on the questions' scales."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from voirdire.corpus import columns as names
from voirdire.corpus.belonging import check_belongs, made_on
from voirdire.corpus.cells import full_condition, key_factors, order_notes
from voirdire.corpus.corpus import Corpus, Judgments, Note
from voirdire.corpus.folder import expand_judgments
from voirdire.corpus.intake import note, some, with_rows
from voirdire.corpus.judgment_steps import (
    KEY,
    STATUSES,
    complete,
    conclude,
    duplicates,
    judge_columns,
    names_alike,
    repeats,
    take_columns,
)
from voirdire.corpus.options import JudgmentOptions
from voirdire.corpus.parts import Parts
from voirdire.corpus.sides import CODE, SHOWN_FIRST, by_order, votes_among, with_sides
from voirdire.corpus.streaming import stream_judgments
from voirdire.corpus.wide import melt, numeric_columns
from voirdire.errors import InputError
from voirdire.tables import Table, read_table

__all__ = ["STATUSES", "read_judgments"]


def read_judgments(options: JudgmentOptions, corpus: Corpus) -> Judgments:
    """Read what the judges said about a corpus.

    Rows of unknown items or questions are left out and counted; answers without a usable rating stay, with a
    status and no value, so that they can be counted for each cell. Raises InputError for judgments of a run that was
    made on another version of a frozen corpus (see ``other_corpus``).

    >>> from voirdire.corpus.reading import CorpusOptions, read_corpus
    >>> ratings = pl.DataFrame({"item": ["a", "a", "b", "b"], "rater": ["u", "v", "u", "v"],
    ...                         "pool": ["us", "cn", "us", "cn"], "score": [1, 5, 2, 4]})
    >>> judged = pl.DataFrame({"item": ["a", "b"], "model": "m", "score": [3, 9]})
    >>> read_judgments(JudgmentOptions(judged), read_corpus(CorpusOptions(ratings))).table["status"].to_list()
    ['ok', 'out_of_scale']
    """
    made = made_on(options.judgments)
    told = check_belongs(made, corpus.frozen, options.judgments, meant=options.other_corpus)
    options = expand_judgments(options)
    _refuse_sides_in_parts(options, corpus)
    if isinstance(options.judgments, Parts):
        read = stream_judgments(options.judgments, options, corpus)
    else:
        read = _whole(options, corpus)
    return replace(read, notes=(*told, *read.notes), made_on=made)


def _refuse_sides_in_parts(options: JudgmentOptions, corpus: Corpus) -> None:
    """A table that is read in pieces keeps one answer a cell and item, so it has no place for two orders."""
    parts = options.judgments
    if isinstance(parts, Parts) and votes_among(corpus.questions) and SHOWN_FIRST in parts.columns:
        raise InputError("input.sides_in_parts", file=str(parts.path), column=SHOWN_FIRST)


def _whole(options: JudgmentOptions, corpus: Corpus) -> Judgments:
    """The judgments of a table that is read at once."""
    frame, table, notes = _long(options, corpus)
    judges = list(frame["judge"].unique(maintain_order=True))
    frame, repeated = repeats(frame)
    frame = with_sides(frame, table, corpus.questions, corpus.items)
    told, orders = [*KEY, "repeat"] if repeated else KEY, [CODE] if CODE in frame.columns else []
    extra = key_factors(frame, [*told, *orders], table, options)
    frame = full_condition(frame, extra.names, table)
    doubled = names_alike(frame, table) + order_notes(frame, told, table)
    frame = by_order(frame)
    key = [*KEY, "repeat"] if orders else told
    if not extra.unique:
        frame, more = duplicates(frame, key, table, options)
        doubled += more
    return conclude(frame, judges, extra.names, table, options, corpus, (notes, [*extra.notes, *doubled]))[0]


def _long(options: JudgmentOptions, corpus: Corpus) -> tuple[pl.DataFrame, Table, list[Note]]:
    given = read_table(options.judgments, options.encoding)
    table, notes = take_columns(given, options)
    if table.frame.is_empty():
        raise InputError("input.file_no_rows", file=table.file)
    frame = with_rows(table.frame)
    columns, if_numbers = judge_columns(table.frame.columns, options)
    columns = numeric_columns(frame, columns) if if_numbers else columns
    if columns:
        frame, told = melt(table, frame, columns, "judge", "raw")
        notes.append(told)
        own = [table.header(name) for name in columns]
        beside = some(name for name in given.frame.columns if name not in own)
        notes.append(note("wide_columns", file=table.name, count=len(columns), used=some(own), beside=beside))
    else:
        names.require(table, "rating")
        frame = frame.rename({"rating": "raw"}).with_columns(_column=pl.lit(None, pl.String))
    frame, more = complete(frame, table, options, corpus)
    return frame, table, notes + more
