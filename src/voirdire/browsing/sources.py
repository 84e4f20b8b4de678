"""Where judgments come from: the ledger of a run that may be growing, a table that was read, an audit's tables."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np
import polars as pl

from voirdire.browsing.compared import Compared
from voirdire.browsing.library import Shelf
from voirdire.browsing.run_answers import judgments_of_run, questions_of_run, rows_of_run, stamp_of_run
from voirdire.browsing.said import ROWS, Said, said_of_judgments, said_of_rows
from voirdire.corpus.corpus import Coded, Corpus, Judgments, Question
from voirdire.corpus.options import JudgmentOptions


class Source(Protocol):
    """Judgments from one place. title : its name for readers, empty where it needs none."""

    title: str

    def stamp(self) -> Hashable:
        """What changes when there are more judgments."""
        ...

    def questions(self) -> tuple[str, ...]:
        """The questions that are answered."""
        ...

    def said(self, question: str, items: pl.Series) -> Said | None:
        """The judgments of a question over all items; None where there are none."""
        ...

    def of_item(self, question: str, item: str) -> pl.DataFrame:
        """The judgments of one item (the columns ``ROWS``)."""
        ...


@dataclass
class RunSource:
    """A run folder; its judgments are read from the ledger, and again when it has grown.

    corpus, options : what its export would be read beside, and how; questions that the corpus does not have are taken
        as the ledger has them
    """

    folder: Path
    title: str = ""
    corpus: Corpus | None = field(default=None, repr=False)
    options: JudgmentOptions = field(default_factory=lambda: JudgmentOptions(None), repr=False)
    _held: dict[str, tuple[Hashable, pl.DataFrame | Judgments | None]] = field(default_factory=dict, repr=False)

    def stamp(self) -> Hashable:
        """The state of the ledger's files."""
        return stamp_of_run(self.folder)

    def questions(self) -> tuple[str, ...]:
        """The questions that the run asks."""
        return tuple(question.id for question in self.asked)

    @cached_property
    def asked(self) -> tuple[Question, ...]:
        """The questions with their scales as the ledger has them."""
        return questions_of_run(self.folder)

    def judgments(self, question: str) -> pl.DataFrame | Judgments | None:
        """All judgments of a question, as of now."""
        now = self.stamp()
        held = self._held.get(question)
        if held is None or held[0] != now:
            held = self._held[question] = (now, self._read(question))
        return held[1]

    def _read(self, question: str) -> pl.DataFrame | Judgments | None:
        if self.corpus is not None and question in {one.id for one in self.corpus.questions}:
            return judgments_of_run(self.folder, question, self.corpus, self.options)
        return rows_of_run(self.folder, question)

    def said(self, question: str, items: pl.Series) -> Said | None:
        """See :class:`Source`."""
        found = self.judgments(question)
        if isinstance(found, Judgments):
            return said_of_judgments(found, question, items)
        return None if found is None or found.is_empty() else said_of_rows(found, items)

    def of_item(self, question: str, item: str) -> pl.DataFrame:
        """See :class:`Source`. As of when all were last read: the page of an item reads no growing ledger again."""
        held = self._held.get(question)
        found = self.judgments(question) if held is None else held[1]
        if isinstance(found, Judgments):
            return TableSource(found).of_item(question, item)
        return pl.DataFrame(schema=ROWS) if found is None else found.filter(pl.col("item_id") == item)


@dataclass
class TableSource:
    """Judgments that were read from a table."""

    judgments: Judgments
    title: str = ""

    def stamp(self) -> Hashable:
        """Always the same."""
        return 0

    def questions(self) -> tuple[str, ...]:
        """See :class:`Source`."""
        return tuple(self.judgments.questions)

    def said(self, question: str, items: pl.Series) -> Said | None:
        """See :class:`Source`."""
        return said_of_judgments(self.judgments, question, items)

    def of_item(self, question: str, item: str) -> pl.DataFrame:
        """See :class:`Source`."""
        rows = self.judgments.rows
        if isinstance(rows, Coded):
            return _of_codes(rows, question, item, self.judgments.cells)
        return _of_rows(rows, question, item)


def _of_rows(rows: pl.DataFrame, question: str, item: str) -> pl.DataFrame:
    wanted = (pl.col("item_id") == item) & (pl.col("question") == question)
    return rows.filter(wanted).select(pl.col(name).cast(kind) for name, kind in ROWS.items())


def _of_codes(held: Coded, question: str, item: str, cells: pl.DataFrame) -> pl.DataFrame:
    """The judgments of one item of a stream that left its codes behind."""
    coded, place = held.questions.get(question), held.items.cast(pl.String).index_of(item)
    if coded is None or place is None:
        return pl.DataFrame(schema=ROWS)
    codes, status = coded.codes[:, place], coded.status[:, place]
    cell, repeat = np.nonzero(status)
    named = cells[coded.cells[cell]]
    return pl.DataFrame(
        {
            "item_id": pl.repeat(item, len(cell), dtype=pl.String, eager=True),
            "judge": named["judge"],
            "condition": named["condition"],
            "repeat": np.asarray(coded.repeats, dtype=np.int64)[repeat],
            "value": pl.Series(np.append(coded.values, np.nan)[codes[cell, repeat]]).fill_nan(None),
            "status": pl.Series(coded.statuses, dtype=pl.String).gather(status[cell, repeat]),
        }
    ).select(pl.col(name).cast(kind) for name, kind in ROWS.items())


@dataclass
class ComparedSource:
    """The judgments that stand beside an audit, on the scale on which they were compared."""

    compared: Compared
    title: str = ""

    def stamp(self) -> Hashable:
        """Always the same."""
        return 0

    def questions(self) -> tuple[str, ...]:
        """See :class:`Source`."""
        return tuple(str(name) for name in self.compared.judgments["question"].unique(maintain_order=True))

    def said(self, question: str, items: pl.Series) -> Said | None:
        """See :class:`Source`."""
        rows = self.compared.judgments.filter(pl.col("question") == question).rename({"rating": "value"})
        other = [judge for judge, asked in self.compared.rank_only if asked == question]
        return None if rows.is_empty() else said_of_rows(rows, items, rank_only=other)

    def of_item(self, question: str, item: str) -> pl.DataFrame:
        """See :class:`Source`."""
        return _of_rows(self.compared.judgments.rename({"rating": "value"}), question, item)


def sources_of(shelf: Shelf) -> tuple[Source, ...]:
    """Where the judgments of a shelf come from, in order; run folders by their names."""
    found: list[Source] = []
    for place, judged in enumerate(shelf.judged, start=1):
        if isinstance(judged, Path):
            found.append(RunSource(judged, judged.resolve().name, shelf.corpus, shelf.reading))
        else:
            found.append(TableSource(judged, judged.intake[0].file if judged.intake else str(place)))
    if shelf.compared is not None:
        found.append(ComparedSource(shelf.compared, shelf.title))
    return tuple(found)


def names_in(sources: Sequence[Source], judges: Sequence[Sequence[str]]) -> list[list[str]]:
    """Names of the judges of each source that are different in all of them: with the source where they recur.

    >>> class Run: title = "second"
    >>> names_in([Run(), Run()], [["m"], ["m", "k"]])
    [['m'], ['m (second)', 'k']]
    """
    taken: set[str] = set()
    result = []
    for source, names in zip(sources, judges, strict=True):
        own = []
        for name in names:
            shown, number = name, 1
            while shown in taken:
                shown = f"{name} ({source.title})" if number == 1 else f"{name} ({source.title}, {number})"
                number += 1
            own.append(shown)
        taken |= set(own)
        result.append(own)
    return result


def together(parts: Sequence[Said], names: Sequence[Sequence[str]]) -> Said | None:
    """The judgments of several sources as those of one; names : of their judges, all different."""
    if not parts:
        return None
    renamed = [
        replace(
            part,
            rank_only=frozenset(new for old, new in zip(part.judges, own, strict=True) if old in part.rank_only),
            controls=frozenset(new for old, new in zip(part.judges, own, strict=True) if part.is_control(old)),
        )
        for part, own in zip(parts, names, strict=True)
    ]
    starts = np.cumsum([0, *(len(part.judges) for part in renamed)])
    return Said(
        tuple(name for own in names for name in own),
        np.concatenate([part.judge + start for part, start in zip(renamed, starts, strict=False)]),
        np.concatenate([part.item for part in renamed]),
        np.concatenate([part.value for part in renamed]),
        np.concatenate([part.weight for part in renamed]),
        np.concatenate([part.asked for part in renamed]),
        np.concatenate([part.status for part in renamed]),
        frozenset().union(*(part.rank_only for part in renamed)),
        frozenset().union(*(part.controls for part in renamed)),
    )
