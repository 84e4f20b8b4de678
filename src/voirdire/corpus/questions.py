"""The questions table: scales, roles and wordings; without it the roles of q1..q4 by their order."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from voirdire.corpus import columns as names
from voirdire.corpus.corpus import ROLES, Intake, Note
from voirdire.corpus.intake import choice, close, flag, note, refuse, warning, with_rows
from voirdire.corpus.levels import Spec
from voirdire.corpus.options import CorpusOptions
from voirdire.scales import LEVELS
from voirdire.tables import Table, read_table

COLUMNS = ("question", "role", "level", "min", "max", "labels", "positive", "missing")
_LIST = r"[|;]"


@dataclass(frozen=True)
class Declared:
    """What the questions table says of one question."""

    spec: Spec = field(default_factory=Spec)
    role: str | None = None
    text: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class QuestionTable:
    """All questions declared, in order; ``intake`` closes the table once it is known which were rated."""

    declared: Mapping[str, Declared] = field(default_factory=dict)
    table: Table | None = None
    notes: tuple[Note, ...] = ()

    def intake(self, rated: Sequence[str]) -> tuple[Intake, ...]:
        """The reckoning: questions without a rating are left out."""
        if self.table is None:
            return ()
        frame = flag(with_rows(self.table.frame), ~pl.col("question").is_in(list(rated)), "not_rated")
        return (close(frame, self.table, "questions"),)


def read_questions(options: CorpusOptions) -> QuestionTable:
    """Read the questions table, if there is one."""
    if options.questions is None:
        return QuestionTable()
    table, notes = names.take(read_table(options.questions, options.encoding), "questions", COLUMNS, options.mapping)
    names.require(table, "question")
    frame = with_rows(table.frame)
    empty = frame.filter(pl.col("question").is_null())
    twice = frame.filter(pl.col("question").is_duplicated() & pl.col("question").is_not_null())
    if not empty.is_empty():
        raise refuse("cell_empty", table, empty, "question", value="")
    if not twice.is_empty():
        raise refuse("key_twice", table, twice.tail(1), "question")
    declared = {row["question"]: _declared(row, table) for row in frame.iter_rows(named=True)}
    return QuestionTable(declared, table, tuple(notes))


def global_spec(options: CorpusOptions) -> Spec:
    """What the options declare for every question."""
    return Spec(
        options.level, options.low, options.high, tuple(options.labels), options.positive, tuple(options.missing_labels)
    )


def spec_of(question: str, table: QuestionTable, options: CorpusOptions) -> Spec:
    """The question's own declaration, what it leaves open filled from the options."""
    return table.declared.get(question, Declared()).spec.filled(global_spec(options))


def roles(questions: Sequence[str], table: QuestionTable) -> tuple[dict[str, str | None], list[Note]]:
    """The role of each question; q1..q4 have the four roles in order when exactly those names occur."""
    found = {question: table.declared.get(question, Declared()).role for question in questions}
    if set(questions) == {"q1", "q2", "q3", "q4"} and not any(found.values()):
        given = dict(zip(("q1", "q2", "q3", "q4"), ROLES, strict=True))
        told = note("roles_by_name", roles=", ".join(f"{name} = {role}" for name, role in given.items()))
        return {**found, **given}, [told]
    undeclared = [question for question in questions if table.declared and question not in table.declared]
    return found, [warning("question_undeclared", question=name) for name in undeclared]


def _declared(row: Mapping[str, Any], table: Table) -> Declared:
    text = {"und": row.get("text")} | {key[5:]: value for key, value in row.items() if key.startswith("text.")}
    role, level = row.get("role"), row.get("level")
    if role is not None:
        choice("role", role, ROLES)
    if level is not None and level not in LEVELS:
        raise refuse("level_unknown", table, _one(row), "level", known=", ".join(LEVELS))
    spec = Spec(
        level,
        _end(row, "min", table),
        _end(row, "max", table),
        listed_labels(row.get("labels")),
        row.get("positive"),
        listed_labels(row.get("missing")),
    )
    return Declared(spec, role, {language: value for language, value in text.items() if value})


def _end(row: Mapping[str, Any], column: str, table: Table) -> float | None:
    cell = row.get(column)
    if cell is None:
        return None
    try:
        return float(cell)
    except ValueError as error:
        raise refuse("cell_not_number", table, _one(row), column) from error


def listed_labels(cell: str | None) -> tuple[str, ...]:
    r"""The labels of a cell: joined by ``;`` or ``|``, or a JSON list, where a label holds one of these itself.

    >>> listed_labels("low; high"), listed_labels('["a; b", "c|d"]')
    (('low', 'high'), ('a; b', 'c|d'))
    >>> listed_labels("[x];[y]"), listed_labels(None)
    (('[x]', '[y]'), ())
    """
    if cell and cell.startswith("["):
        try:
            found = json.loads(cell)
        except ValueError:
            found = None
        if isinstance(found, list) and all(isinstance(label, str) for label in found):
            return tuple(found)
    return tuple(part.strip() for part in re.split(_LIST, cell) if part.strip()) if cell else ()


def _one(row: Mapping[str, Any]) -> pl.DataFrame:
    return pl.DataFrame({name: [value] for name, value in row.items()})
