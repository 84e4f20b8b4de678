"""The corpus: what is rated, by whom and by which judges, after reading and checking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from voirdire.scales import Scale

if TYPE_CHECKING:
    from voirdire.corpus.frozen import Frozen

ROLES = ("evaluation", "placement", "subjectivity", "recognizability")


@dataclass(frozen=True)
class Question:
    """One question put to raters and judges; ``text`` by language code (``und`` when unknown)."""

    id: str
    scale: Scale
    role: str | None = None
    text: Mapping[str, str] = field(default_factory=dict)
    inferred: bool = False


@dataclass(frozen=True)
class Note:
    """A sentence about the input or the result: a key of the catalogue and its fields.

    kind : ``info`` (what was taken for what) or ``warning``
    """

    key: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "info"


@dataclass(frozen=True)
class Intake:
    """The reckoning of one input table: ``rows_in == rows_used + sum(excluded.values())``, always."""

    table: str
    file: str
    digest: str
    rows_in: int
    rows_used: int
    excluded: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Corpus:
    """Items, questions, raters and their ratings.

    items : item_id (text, unique) first, then the columns as given
    ratings : item_id, rater_id, pool, question (text), value (float: the number, or the code of a label by
        its place in ``scale.labels``). One row a rater, item and question. Of pairwise votes also ``shown_first``
        where the table says it: 0 where the first thing was shown first, 1 where the second was, null else.
    aggregates : item_id, pool, question, value (the pool's consensus), n (raters behind it, null if unknown):
        pools that come without raters
    shares : item_id, pool, question, label, share: answer shares of pools that come without raters (optional)
    item_scales : item_id -> Scale, where an item overrides its question's scale
    pools : names in the order of the tables, or of ``--pool``
    anonymous_raters : rater ids mean nothing across items (slots), so raters cannot be permuted or resampled whole
    excluded_items : item -> reason, items that the items table holds and the audit leaves out
    frozen : which version this is, where the folder is a frozen corpus
    """

    items: pl.DataFrame
    questions: tuple[Question, ...]
    pools: tuple[str, ...]
    ratings: pl.DataFrame
    aggregates: pl.DataFrame
    shares: pl.DataFrame | None = None
    raters: pl.DataFrame | None = None
    item_scales: Mapping[str, Scale] = field(default_factory=dict)
    anonymous_raters: bool = False
    intake: tuple[Intake, ...] = ()
    notes: tuple[Note, ...] = ()
    name: str = ""
    simulated: bool = False
    excluded_items: Mapping[str, str] = field(default_factory=dict)
    frozen: Frozen | None = None

    def question(self, name: str) -> Question:
        """The question of this id. KeyError when there is none."""
        return {question.id: question for question in self.questions}[name]


@dataclass(frozen=True)
class CodedQuestion:
    """The judgments of one question as codes: C cells, I items of the corpus, R repeats.

    cells : (C,) rows of ``Judgments.cells``, in their order; repeats : (R,) their numbers, ascending
    codes : (C, I, R) place in ``values``, -1 where there is no rating; values : (L,) ascending
    status : (C, I, R) place in ``statuses``, 0 (absent) where there is no row
    """

    cells: npt.NDArray[np.int64]
    repeats: tuple[int, ...]
    codes: npt.NDArray[np.signedinteger[Any]]
    values: npt.NDArray[np.float64]
    status: npt.NDArray[np.uint8]
    statuses: tuple[str, ...]


@dataclass(frozen=True)
class Coded:
    """What a stream of judgments leaves behind: a few bytes for an item of a cell, however long its row was.

    items : (I,) item ids, those of ``Corpus.items`` in their order; questions : in the order of their first rows
    """

    items: pl.Series
    questions: Mapping[str, CodedQuestion]

    def table(self, cells: pl.DataFrame) -> pl.DataFrame:
        """The rows as ``Judgments.table`` has them, sorted by question, cell, item and repeat."""
        parts = [self._rows(name, coded, cells) for name, coded in self.questions.items()]
        return pl.concat(parts)

    def _rows(self, name: str, coded: CodedQuestion, cells: pl.DataFrame) -> pl.DataFrame:
        cell, item, repeat = np.nonzero(coded.status)
        codes = coded.codes[cell, item, repeat]
        of_cells = cells[coded.cells[cell]]
        values = np.append(coded.values, np.nan)[codes]
        return pl.DataFrame(
            {
                "item_id": self.items.gather(item),
                "judge": of_cells["judge"],
                "condition": of_cells["condition"],
                "question": pl.repeat(name, len(cell), dtype=pl.String, eager=True),
                "repeat": np.asarray(coded.repeats, dtype=np.int64)[repeat],
                "value": pl.Series(values).fill_nan(None),
                "status": pl.Series(coded.statuses).gather(coded.status[cell, item, repeat]),
            }
        )


@dataclass(frozen=True)
class Judgments:
    """What the judges said.

    rows : the table, or the codes that a stream of its rows left behind
    table : item_id, judge, condition, question, repeat (int), value (float, null when there is no rating),
        status (ok, malformed, refused, error, pending; missing: an empty answer or a label that means none;
        out_of_scale: a rating outside the judge's scale). Exactly the ``ok`` rows have a value. ``shown_first`` as
        in the ratings; the two orders of a pair are repeats of one cell.
        ``condition`` is the full cell's name (``neutral_en/base`` when there are extra key columns; ``-`` when
        judgments have no condition).
    cells : one row per judge x condition that occurs: judge, condition, then a column per factor (text, null where
        the conditions table says nothing)
    judges : judge, then a column per covariate (text, null where the judges table says nothing)
    factors, covariates : names of those columns; ``key_factors`` are the extra key columns (``design``)
    maps : judge -> its own (low, high), declared; ``value`` is already mapped linearly to the question's (or the
        item's) scale
    rank_only : (judge, question) answered on another scale that nobody declared: only rank statistics mean anything
    made_on : what a run says of the corpus that its judges were asked about
    """

    rows: pl.DataFrame | Coded
    cells: pl.DataFrame
    judges: pl.DataFrame
    factors: tuple[str, ...] = ()
    key_factors: tuple[str, ...] = ()
    covariates: tuple[str, ...] = ()
    rank_only: frozenset[tuple[str, str]] = frozenset()
    maps: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    intake: tuple[Intake, ...] = ()
    notes: tuple[Note, ...] = ()
    made_on: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def table(self) -> pl.DataFrame:
        """The rows as a table; made here where they were streamed, which takes the memory that streaming saves."""
        return self.rows if isinstance(self.rows, pl.DataFrame) else self.rows.table(self.cells)

    @property
    def questions(self) -> list[str]:
        """The questions that were answered, in the order of the rows."""
        if isinstance(self.rows, Coded):
            return list(self.rows.questions)
        return self.rows["question"].unique(maintain_order=True).to_list()
