"""The checklist of a pilot: what raters say is wrong with an item, in a table of its own or among the ratings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from voirdire.annotation.study_defaults import USABLE
from voirdire.annotation.study_defaults import VERDICTS as LABELS
from voirdire.construction.screening_rule import STEREOTYPE
from voirdire.corpus import columns as names
from voirdire.corpus.corpus import Corpus, Note
from voirdire.corpus.levels import NEGATIVE, POSITIVE
from voirdire.corpus.options import CorpusOptions
from voirdire.errors import InputError, UsageError
from voirdire.tables import Table, read_table

CHECKLISTS = (USABLE, STEREOTYPE)
"""Questions of a checklist: what is wrong with the item (one of LABELS), or whether it is a stereotype (yes, no)."""

TARGETS = ("item_id", "rater_id", "pool", "question", "rating")


def apart(options: CorpusOptions) -> tuple[CorpusOptions, Table | None]:
    """Options with the ratings of a long table less the answers to the checklist, and these as a table, if any.

    So the words of a checklist need no scale. Rows keep the numbers that an editor shows.

    >>> rows = {"item_id": ["tea-us"] * 2, "rater_id": ["a"] * 2, "question": ["q1", "usable"], "rating": ["4", "same"]}
    >>> rated, beside = apart(CorpusOptions(pl.DataFrame(rows)))
    >>> rated.ratings.frame["rating"].to_list(), beside.frame["rating"].to_list(), beside.row(0)
    (['4'], ['same'], 2)
    """
    table = read_table(options.ratings, options.encoding)
    named = options.mapping.get("ratings.question", options.mapping.get("question"))
    taken, _ = names.take(table, "ratings", ("question",), {} if named is None else {"question": named})
    if "question" not in taken.frame.columns:
        return replace(options, ratings=table), None
    hit = taken.frame["question"].is_in(CHECKLISTS).fill_null(False)
    if not hit.any():
        return replace(options, ratings=table), None
    return replace(options, ratings=_rows(table, ~hit)), _rows(table, hit)


def _rows(table: Table, wanted: pl.Series) -> Table:
    kept = [table.row(index) for index in wanted.arg_true()]
    return replace(table, frame=table.frame.filter(wanted), rows=kept)


def said(frame: pl.DataFrame, question: str) -> pl.Series:
    """Whether each answer to a question of a checklist calls the item a stereotype."""
    return frame["label"].is_in([STEREOTYPE, *POSITIVE] if question == STEREOTYPE else [STEREOTYPE])


@dataclass(frozen=True, slots=True)
class Told:
    """Answers of a checklist as labels: item_id, rater_id, pool, question, label."""

    frame: pl.DataFrame
    digest: str = ""
    notes: tuple[Note, ...] = ()


_COLUMNS = ("item_id", "rater_id", "pool", "question", "label")


def from_corpus(corpus: Corpus) -> Told:
    """The answers to checklist questions that the corpus has as questions of its own (a column for each question)."""
    parts = [pl.DataFrame(schema=dict.fromkeys(_COLUMNS, pl.String))]
    for question in (one for one in corpus.questions if one.id in CHECKLISTS):
        labels = [label.casefold() for label in question.scale.labels]
        frame = corpus.ratings.filter(pl.col("question") == question.id)
        told = [labels[int(value)] if labels else f"{value:g}" for value in frame["value"]]
        parts.append(frame.with_columns(label=pl.Series(told, dtype=pl.String)).select(_COLUMNS))
    frame = pl.concat(parts)
    for name, label in frame.select("question", "label").unique().sort("question", "label").iter_rows():
        if label not in _known(name):
            raise UsageError("screening.label_in_ratings", question=name, value=label, known=", ".join(_known(name)))
    return Told(frame)


def _known(question: str) -> tuple[str, ...]:
    return LABELS if question == USABLE else (*sorted(POSITIVE), *sorted(NEGATIVE), STEREOTYPE)


def from_table(
    given: Table,
    corpus: Corpus,
    places: Mapping[str, int],
    mapping: Mapping[str, str],
    further: Collection[str] = (),
) -> Told:
    """The answers of a long table; where it has no column of pools, raters have the pool of their ratings.

    places : item -> its number, of the items that are known; mapping : our name of a column -> the table's, where the
        table has such a column; further : items whose answers are left aside without a word, as their ratings are told
    """
    here = {ours: theirs for ours, theirs in mapping.items() if theirs in given.frame.columns}
    table, notes = names.take(given, "ratings", TARGETS, here)
    for column in ("item_id", "rater_id", "rating"):
        names.require(table, column)
    rows = []
    home = dict(corpus.ratings.select("rater_id", "pool").unique().iter_rows())
    for index, row in enumerate(table.frame.iter_rows(named=True)):
        if row["item_id"] in places and row["rating"] is not None:
            rows.append(_row(row, table, index, corpus, home))
    _refuse_twice(rows, table)
    unknown = sum(name not in places and name not in further for name in table.frame["item_id"])
    told = [Note("build.split.left_out", {"count": unknown}, "warning")] if unknown else []
    frame = pl.DataFrame([row[1:] for row in rows], schema=dict.fromkeys(_COLUMNS, pl.String), orient="row")
    return Told(frame, table.digest, (*notes, *told))


def _row(
    row: Mapping[str, Any], table: Table, index: int, corpus: Corpus, home: Mapping[str, str]
) -> tuple[int, str, str, str, str, str]:
    def broken(key: str, column: str, **fields: Any) -> InputError:
        file, number = table.place(index)
        place = {"file": file, "row": number, "column": table.header(column)}
        return InputError(f"screening.{key}", **place, value=row.get(column) or "", **fields)

    if row["rater_id"] is None:
        raise broken("rater_empty", "rater_id")
    pool = row.get("pool") or home.get(row["rater_id"])
    if pool is None:
        raise broken("pool_missing", "rater_id")
    if pool not in corpus.pools:
        raise broken("pool_unknown", "pool", known=", ".join(corpus.pools))
    label = row["rating"].strip().casefold()
    question = row.get("question") or (USABLE if label in LABELS else STEREOTYPE)
    if question not in CHECKLISTS:
        raise broken("question_unknown", "question", known=", ".join(CHECKLISTS))
    if label not in _known(question):
        raise broken("label_unknown", "rating", known=", ".join(_known(question)), question=question)
    return index, row["item_id"], row["rater_id"], pool, question, label


def _refuse_twice(rows: Iterable[tuple[int, str, str, str, str, str]], table: Table) -> None:
    seen: set[tuple[str, str, str]] = set()
    for index, item, rater, _, question, _ in rows:
        if (item, rater, question) in seen:
            file, number = table.place(index)
            raise InputError("screening.twice", file=file, row=number, column="rater_id", value=rater, item=item)
        seen.add((item, rater, question))
