"""Do the words of a rating scale mean the same in two languages? Items rated in both by the same bilingual people.

A table ``rater_id, item_id, question, language, rating``, with ``pool`` where the raters belong to several. For every
question and every language beside the first: the shift, its interval, what such a pilot could have seen, a finding.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from voirdire.construction.history import Clock, digest_of, open_history, utc_now
from voirdire.construction.translation.ends import Ends
from voirdire.construction.translation.shifts import Shift, shift_of, stretch_of
from voirdire.corpus.corpus import Note
from voirdire.corpus.equivalence import ALL, EQUAL, OPEN, SHIFTED, SMALL, UNDEFINED
from voirdire.errors import InputError, UsageError
from voirdire.tables import Table, read_table

NEEDED = ("rater_id", "item_id", "language", "rating")
ONLY = "rating"
"""The question of a table without a column of questions."""

MARGIN, CONFIDENCE = 0.25, 0.95
UNKNOWN: Ends = MappingProxyType({})
EVENT = "equivalence"


@dataclass(frozen=True, slots=True)
class Compared:
    """A question in two languages.

    pool : of the raters, ``*`` for all; first, second : the languages
    shift : how much higher the second is rated; stretch : how much more of the scale is used in it
    items : rated in both
    finding : ``equal`` (the interval lies within the margin), ``small`` (so it does, and 0 is outside it),
        ``shifted`` (0 is outside the interval), ``open`` (neither is shown), ``undefined``
    """

    question: str
    pool: str
    first: str
    second: str
    shift: Shift
    stretch: Shift
    items: int
    finding: str


@dataclass(frozen=True, slots=True)
class Equivalence:
    """All comparisons, with the margin in scale points, the confidence, and the digest of the table."""

    compared: tuple[Compared, ...]
    margin: float
    confidence: float
    file: str
    digest: str
    notes: tuple[Note, ...] = ()

    def table(self) -> pl.DataFrame:
        """One row for each comparison."""
        rows = []
        for one in self.compared:
            row: dict[str, Any] = {"question": one.question, "pool": one.pool, "first": one.first, "second": one.second}
            row |= {"finding": one.finding, "items": one.items, **asdict(one.shift)}
            row |= {f"stretch_{name}": getattr(one.stretch, name) for name in ("value", "low", "high", "undefined")}
            rows.append(row)
        return pl.DataFrame(rows, infer_schema_length=None)


@dataclass(slots=True)
class _Given:
    """Ratings as they were read: (question, rater) -> item -> language -> rating.

    ends : question -> the lowest and the highest rating that there is, where that is known
    """

    ends: Ends = field(default_factory=dict)
    ratings: dict[tuple[str, str], dict[str, dict[str, float]]] = field(default_factory=dict)
    pools: dict[str, tuple[str, int]] = field(default_factory=dict)
    seen: dict[tuple[str, ...], int] = field(default_factory=dict)
    empty: int = 0
    left_out: int = 0


def read_equivalence(
    source: Any,
    items: Sequence[str],
    languages: Sequence[str],
    *,
    margin: float = MARGIN,
    confidence: float = CONFIDENCE,
    ends: Ends = UNKNOWN,
) -> Equivalence:
    """Compare the languages of a table of ratings; the first one is compared with every other.

    items : ids of the corpus, others are left out and counted; margin : scale points that make no difference
    ends : of the scales, by question; of a question without, the range of its ratings is told

    Raises UsageError for a margin or a confidence that cannot be, InputError, naming file, row, column and value, for a
    missing column, an empty name, a rating that is no number or lies outside of its scale, one that is there twice, and
    an unknown language.

    >>> rows = [("a", "t", "en", 3), ("a", "t", "zh", 4), ("b", "t", "en", 2), ("b", "t", "zh", 2)]
    >>> frame = pl.DataFrame(rows, schema=["rater_id", "item_id", "language", "rating"], orient="row")
    >>> one, = read_equivalence(frame, ["t"], ["en", "zh"]).compared
    >>> one.shift.value, one.finding
    (0.5, 'open')
    """
    if not (math.isfinite(margin) and margin > 0):
        raise UsageError("translation.equivalence.margin", value=margin)
    if not 0.5 <= confidence <= 0.999:
        raise UsageError("translation.equivalence.confidence", value=confidence)
    table = read_table(source)
    given = _read(table, set(items), languages, ends)
    if not given.ratings:
        raise InputError("translation.equivalence.nothing", file=table.file)
    compared: list[Compared] = []
    single = 0
    for question in dict.fromkeys(question for question, _ in given.ratings):
        for second in languages[1:]:
            found, alone = _compared(given, question, (languages[0], second), margin, confidence)
            compared += found
            single += alone
    counts = {"left_out": given.left_out, "empty": given.empty, "single": single}
    notes = [Note(f"translation.equivalence.note.{name}", {"count": count}) for name, count in counts.items() if count]
    notes += _unbounded(given)
    return Equivalence(tuple(compared), margin, confidence, table.file, table.digest, tuple(notes))


def record(folder: Path | str, found: Equivalence, words: Mapping[str, str], clock: Clock = utc_now) -> None:
    """Append the comparisons to the history, unless they are the same as the latest ones.

    words : question -> digest of its words as they were rated, to see later whether they have changed since. A table
        that was compared before keeps those of then: it is not of words that were written later
    """
    told: dict[str, Any] = {"margin": found.margin, "confidence": found.confidence, "tables": [found.digest]}
    told["compared"] = [asdict(one) for one in found.compared]
    with open_history(folder, clock) as book:
        latest = list(book.history.of_kind(EVENT))
        same = [event["words"] for event in latest if event.get("tables") == told["tables"] and "words" in event]
        told["words"] = same[0] if same else dict(words)
        told["digest"] = digest_of(told)
        if not latest or latest[-1].get("digest") != told["digest"]:
            book.append({"kind": EVENT, **told})


def finding_of(shift: Shift, margin: float) -> str:
    """What a shift shows, beside a margin.

    >>> finding_of(Shift(0.1, -0.1, 0.2), 0.25), finding_of(Shift(0.5, 0.1, 0.9), 0.25), finding_of(Shift(0.5), 0.25)
    ('equal', 'shifted', 'undefined')
    """
    if shift.low is None or shift.high is None:
        return UNDEFINED
    within = -margin < shift.low and shift.high < margin
    apart = shift.low > 0 or shift.high < 0
    if within:
        return SMALL if apart else EQUAL
    return SHIFTED if apart else OPEN


def _compared(
    given: _Given, question: str, pair: tuple[str, str], margin: float, confidence: float
) -> tuple[list[Compared], int]:
    """A question for all raters together and for each pool; ratings in one of the two languages alone."""
    pools = dict.fromkeys(pool for pool, _ in given.pools.values())
    found, alone = [], 0
    for pool in (ALL, *(pools if len(pools) > 1 else ())):
        rows = list(_pairs(given, question, pool, pair))
        if pool == ALL:
            alone = sum(first is None or second is None for *_, first, second in rows)
        whole = [(rater, item, a, b) for rater, item, a, b in rows if a is not None and b is not None]
        first, second = (np.array([row[place] for row in whole], dtype=float) for place in (2, 3))
        names = {rater: place for place, rater in enumerate(dict.fromkeys(row[0] for row in whole))}
        who = np.array([names[row[0]] for row in whole], dtype=np.int64)
        shift = shift_of(first, second, who, confidence)
        stretch = stretch_of(first, second, who, confidence)
        items = len({row[1] for row in whole})
        found.append(Compared(question, pool, *pair, shift, stretch, items, finding_of(shift, margin)))
    return found, alone


def _pairs(
    given: _Given, question: str, pool: str, pair: tuple[str, str]
) -> Iterator[tuple[str, str, float | None, float | None]]:
    for (asked, rater), items in given.ratings.items():
        if asked == question and pool in (ALL, given.pools[rater][0]):
            for item, told in items.items():
                if told.keys() & set(pair):
                    yield rater, item, told.get(pair[0]), told.get(pair[1])


def _unbounded(given: _Given) -> Iterator[Note]:
    """The range of the ratings of each question whose scale is not known: a slip of the pen shows in it."""
    for question in dict.fromkeys(question for question, _ in given.ratings):
        if question_of(question, given.ends) not in given.ends:
            told = [items for (asked, _), items in given.ratings.items() if asked == question]
            values = list(chain.from_iterable(said.values() for items in told for said in items.values()))
            fields = {"question": question, "low": f"{min(values):g}", "high": f"{max(values):g}"}
            yield Note("translation.equivalence.note.range", fields)


def question_of(name: str, known: Collection[str]) -> str:
    """The question that a table means by a name: the only one that is known where it has no column of questions.

    >>> question_of("rating", {"q1"}), question_of("rating", {"q1", "q2"}), question_of("q2", {"q1"})
    ('q1', 'rating', 'q2')
    """
    return next(iter(known)) if name == ONLY and len(known) == 1 else name


def _read(table: Table, items: set[str], languages: Sequence[str], ends: Ends) -> _Given:
    for column in NEEDED:
        if column not in table.frame.columns:
            fields = {"file": table.file, "row": 1, "column": column, "known": table.shown_columns}
            raise InputError("translation.equivalence.column_missing", **fields)
    given = _Given(ends)
    for index, row in enumerate(table.frame.iter_rows(named=True)):
        _take(given, row, {"file": table.file, "row": table.row(index)}, items, languages)
    return given


def _take(
    given: _Given, row: Mapping[str, str | None], where: dict[str, Any], items: set[str], languages: Sequence[str]
) -> None:
    for column in ("rater_id", "item_id", "language", *(("question",) if "question" in row else ())):
        if row[column] is None:
            raise InputError("translation.equivalence.cell_empty", **where, column=column)
    rater, item, language = str(row["rater_id"]), str(row["item_id"]), str(row["language"])
    if language not in languages:
        known = ", ".join(languages)
        raise InputError("translation.equivalence.language_unknown", **where, value=language, known=known)
    pool, first = given.pools.setdefault(rater, (row.get("pool") or "", where["row"]))
    if pool != (row.get("pool") or ""):
        raise InputError("translation.equivalence.pool_differs", **where, value=rater, first=first)
    if item not in items:
        given.left_out += 1
        return
    if row["rating"] is None:
        given.empty += 1
        return
    question = str(row.get("question") or ONLY)
    before = given.seen.setdefault((rater, item, question, language), where["row"])
    if before != where["row"]:
        raise InputError("translation.equivalence.twice", **where, value=rater, first=before)
    told = given.ratings.setdefault((question, rater), {}).setdefault(item, {})
    told[language] = _number(row["rating"], where, question, given.ends.get(question_of(question, given.ends)))


def _number(value: str, where: Mapping[str, Any], question: str, ends: tuple[float, float] | None) -> float:
    try:
        found = float(value)
    except ValueError as error:
        raise InputError("translation.equivalence.rating_form", **where, value=value) from error
    if not math.isfinite(found):
        raise InputError("translation.equivalence.rating_form", **where, value=value)
    if ends is not None and not ends[0] <= found <= ends[1]:
        told = {"value": value, "question": question, "low": f"{ends[0]:g}", "high": f"{ends[1]:g}"}
        raise InputError("translation.equivalence.off_scale", **where, **told)
    return found
