"""Counts of a run that are kept and brought up to date, so that a look at a million cells costs little each time.

Attempts are only ever added, and an outcome names the attempt by which its cell ended. So what is new since the last
look lies in the attempts of higher row numbers, and in those earlier ones that have no outcome yet. Each look reads
portions of them, every portion in a read transaction of its own that lasts some hundredths of a second.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.judging.reading import Torn, reading
from voirdire.judging.status import CONDITION_NAME, RECENT, held_dollars

PORTION = 10_000
LAST = 20
REPLIES = ("ok", "refused", "malformed")
"""Kinds of attempt that are replies; all others are failed calls."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a cell stands, but for its item and repeat. language : of its condition, empty where it names none."""

    judge: str
    condition: str
    language: str
    question: str


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls of one kind. cost : dollars, where known; unpriced : of them, those whose cost nobody told."""

    count: int = 0
    cost: float = 0.0
    unpriced: int = 0

    def __add__(self, other: Calls) -> Calls:
        """Both together."""
        return Calls(self.count + other.count, self.cost + other.cost, self.unpriced + other.unpriced)


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A call that failed. at : seconds since the epoch; note : the provider's words, untrusted."""

    judge: str
    condition: str
    item: str
    kind: str
    status: int | None
    at: float
    note: str


@dataclass(frozen=True, slots=True)
class Session:
    """The latest session that wrote to the ledger.

    at : its begin, seconds since the epoch; budget : US dollars for the whole run, or None
    ended : None while it writes, and for good where it was killed; else what it left (``at``, ``why``, ``fields``)
    tells : whether sessions of this ledger write down that they ended; ledgers of earlier versions do not
    """

    number: int
    at: float
    budget: float | None = None
    ended: dict[str, Any] | None = None
    tells: bool = True


@dataclass(frozen=True, slots=True)
class Counted:
    """A run as counted at one moment.

    whole : all attempts are counted; while it is False, the numbers are of the first ``read`` of ``attempts`` attempts
    cells : place -> status -> planned cells, ``pending`` without an outcome; places in the order of the ledger
    calls : (place, kind) -> calls, also those about cells that are planned no longer
    providers : judge -> its provider; held : dollars that a budget counts for calls whose cost nobody told
    per_second : cells that ended a second over the minute before the last attempt; last_at : its time, or None
    rates : the same by judge, of those of whom any ended
    batches : batches that lie at a provider, not collected yet
    """

    run_id: str
    facts: dict[str, str]
    session: Session
    whole: bool
    read: int
    attempts: int
    cells: dict[Place, dict[str, int]]
    calls: dict[tuple[Place, str], Calls]
    providers: dict[str, str]
    held: float
    per_second: float
    last_at: float | None
    failures: tuple[FailedCall, ...]
    batches: int = 0
    rates: Mapping[str, float] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Planned cells."""
        return sum(sum(row.values()) for row in self.cells.values())

    def count(self, status: str) -> int:
        """Planned cells of a status."""
        return sum(row.get(status, 0) for row in self.cells.values())


_KEY = """
SELECT (SELECT value FROM meta WHERE key = 'run'), (SELECT value FROM meta WHERE key = 'created'),
  (SELECT max(id) FROM session), {reopened}
"""
_NOUN = {
    "judge": "SELECT id, name, planned, coalesce(facts ->> 'provider', '') FROM judge",
    "condition": f"SELECT id, {CONDITION_NAME}, planned, coalesce(facts ->> 'language', '') FROM condition k",
    "question": "SELECT id, name, planned, '' FROM question",
}
_PLANNED = "c.repeat <= {repeats} AND c.item IN (SELECT id FROM item WHERE planned)"
_ALL_PLANNED = "c.repeat <= {repeats}"
_OWN = "c.judge, c.condition, c.question"
_PORTION = f"""
SELECT {_OWN}, a.kind, CASE WHEN o.attempts = a.number THEN o.status END, {{planned}},
  count(*), total(a.cost), sum(a.cost IS NULL), max(a.at)
FROM attempt a CROSS JOIN cell c ON c.id = a.cell LEFT JOIN outcome o ON o.cell = a.cell
WHERE a.rowid > ? AND a.rowid <= ? GROUP BY 1, 2, 3, 4, 5, 6
"""
_OPEN = f"""
SELECT a.cell, a.number, a.at, {_OWN}, {{planned}}
FROM attempt a CROSS JOIN cell c ON c.id = a.cell LEFT JOIN outcome o ON o.cell = a.cell
WHERE a.rowid > ? AND a.rowid <= ? AND o.cell IS NULL ORDER BY a.rowid
"""
_CLOSED = "SELECT cell, attempts, status FROM outcome WHERE cell IN (SELECT value FROM json_each(?))"
_TIMES = """
SELECT a.at, c.judge FROM attempt a CROSS JOIN outcome o ON o.cell = a.cell AND o.attempts = a.number
  JOIN cell c ON c.id = a.cell
WHERE a.rowid > ? AND a.rowid <= ? AND a.at > ?
"""
_FAILED = f"""
SELECT j.name, {CONDITION_NAME}, i.name, a.kind, a.status, a.at, a.note
FROM attempt a CROSS JOIN cell c ON c.id = a.cell JOIN judge j ON j.id = c.judge
  JOIN condition k ON k.id = c.condition JOIN item i ON i.id = c.item
WHERE a.rowid > ? AND a.rowid <= ? AND a.kind NOT IN ('ok', 'refused', 'malformed') ORDER BY a.rowid DESC LIMIT {LAST}
"""
_STRAY = f"""
SELECT {_OWN}, o.status, count(*) FROM outcome o CROSS JOIN cell c ON c.id = o.cell
WHERE NOT EXISTS (SELECT 1 FROM attempt a WHERE a.cell = o.cell AND a.number = o.attempts) AND {{planned}}
GROUP BY 1, 2, 3, 4
"""

Own = tuple[int, int, int]
"""Judge, condition and question as the ledger numbers them."""


@dataclass(slots=True)
class _Counts:
    """What was counted since the counting began anew.

    upto : row number of the last attempt that was counted; outcomes : counted in all; ended : (own, status) -> planned
    open : cell -> (number, at, own, planned) of its latest attempt, while it has no outcome
    recent : times and judges of the attempts by which cells ended, those of the last minute
    strays : as ``ended``, of outcomes whose attempt is not there; missed : how many there were in all
    """

    key: tuple[Any, ...] = ()
    upto: int = 0
    outcomes: int = 0
    ended: Counter[tuple[Own, str]] = field(default_factory=Counter)
    calls: dict[tuple[Own, str], Calls] = field(default_factory=dict)
    open: dict[int, tuple[int, float, Own, bool]] = field(default_factory=dict)
    recent: list[tuple[float, int]] = field(default_factory=list)
    last_at: float | None = None
    failures: list[FailedCall] = field(default_factory=list)
    strays: Counter[tuple[Own, str]] = field(default_factory=Counter)
    missed: int = 0
    nouns: dict[str, dict[int, tuple[str, bool, str]]] = field(default_factory=dict)
    items: int = 0
    repeats: int = 1
    planned: str = "1"


class Tally:
    """The counts of the run in a folder. ``look`` brings them up to date; one thread at a time may call it.

    clock : monotonic seconds; portion : attempts that one read transaction covers
    """

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.monotonic, portion: int = PORTION) -> None:
        self.folder = folder
        self._clock = clock
        self._portion = portion
        self._counts = _Counts()

    def look(self, seconds: float = float("inf")) -> Counted:
        """The run now. After ``seconds`` it returns what was counted so far (``whole`` is False), to be called again.

        Raises InputError where there is no run, or no ledger that can be read.
        """
        until = self._clock() + seconds
        while True:
            try:
                with reading(self.folder) as db:
                    self._begin(db)
                    whole, last = self._count(db)
                    if whole or self._clock() >= until:
                        return self._counted(db, whole=whole, last=last)
            except Torn:
                self._counts = _Counts()

    def _begin(self, db: sqlite3.Connection) -> None:
        """Count anew where another session, another plan or errors that are asked again changed what is planned."""
        known = _has(db, "reopened")
        key = db.execute(_KEY.format(reopened="(SELECT count(*) FROM reopened)" if known else "0")).fetchone()
        if self._counts.key == key:
            return
        self._counts = counts = _Counts(key=key)
        counts.nouns = {
            noun: {number: (name, bool(planned), fact) for number, name, planned, fact in db.execute(query)}
            for noun, query in _NOUN.items()
        }
        counts.items, left_out = db.execute("SELECT total(planned), count(*) - total(planned) FROM item").fetchone()
        counts.repeats = int(_meta(db).get("repeats", "1"))
        counts.planned = (_PLANNED if left_out else _ALL_PLANNED).format(repeats=counts.repeats)

    def _count(self, db: sqlite3.Connection) -> tuple[bool, int]:
        """Count a portion; whether it was the last, and the row number of the last attempt that there is."""
        counts = self._counts
        (last,) = db.execute("SELECT coalesce(max(rowid), 0) FROM attempt").fetchone()
        upto = min(last, counts.upto + self._portion)
        if upto > counts.upto:
            self._add(db, (counts.upto, upto))
            counts.upto = upto
        if upto < last:
            return False, last
        self._close(db)
        self._find_strays(db)
        return True, last

    def _add(self, db: sqlite3.Connection, span: tuple[int, int]) -> None:
        counts = self._counts
        for *own, kind, status, planned, n, cost, unpriced, at in db.execute(
            _PORTION.format(planned=counts.planned), span
        ):
            key = (_own(own), kind)
            counts.calls[key] = counts.calls.get(key, Calls()) + Calls(n, cost, unpriced)
            counts.last_at = at if counts.last_at is None else max(at, counts.last_at)
            if status is not None:
                counts.outcomes += n
                counts.ended[_own(own), status] += n if planned else 0
        for cell, number, at, *own, planned in db.execute(_OPEN.format(planned=counts.planned), span):
            counts.open[cell] = (number, at, _own(own), bool(planned))
        since = (counts.last_at or 0.0) - RECENT
        counts.recent = [(at, judge) for at, judge in counts.recent if at > since]
        counts.recent += db.execute(_TIMES, (*span, since)).fetchall()
        newest = [FailedCall(*row) for row in db.execute(_FAILED, span)]
        counts.failures = [*newest, *counts.failures][:LAST]

    def _close(self, db: sqlite3.Connection) -> None:
        """Outcomes that came later than the attempt that they name."""
        counts = self._counts
        if not counts.open:
            return
        for cell, attempts, status in db.execute(_CLOSED, (json.dumps(list(counts.open)),)):
            number, at, own, planned = counts.open.pop(cell)
            if number == attempts:
                counts.outcomes += 1
                counts.ended[own, status] += planned
                counts.recent.append((at, own[0]))

    def _find_strays(self, db: sqlite3.Connection) -> None:
        """Outcomes that name no attempt: nothing of ours writes them, and they are cells that ended all the same."""
        counts = self._counts
        (outcomes,) = db.execute("SELECT count(*) FROM outcome").fetchone()
        missed = outcomes - counts.outcomes
        if missed == counts.missed:
            return
        counts.missed = missed
        counts.strays = Counter(
            {(_own(own), status): n for *own, status, n in db.execute(_STRAY.format(planned=counts.planned))}
        )

    def _counted(self, db: sqlite3.Connection, *, whole: bool, last: int) -> Counted:
        counts, facts = self._counts, _meta(db)
        session = _session(db, facts)
        judges, rates = counts.nouns["judge"].values(), self._rates(session)
        return Counted(
            run_id=facts.get("run", ""),
            facts=facts,
            session=session,
            whole=whole,
            read=counts.upto,
            attempts=last,
            cells=self._cells(),
            calls={(self._place(own), kind): calls for (own, kind), calls in sorted(counts.calls.items())},
            providers={name: provider for name, _, provider in judges},
            held=held_dollars(db),
            per_second=sum(rates.values()),
            last_at=counts.last_at,
            failures=tuple(counts.failures),
            batches=_batches(db),
            rates=rates,
        )

    def _cells(self) -> dict[Place, dict[str, int]]:
        counts = self._counts
        each = int(counts.items) * counts.repeats
        rows = {own: {"pending": each} for own in self._planned()} if each else {}
        for (own, status), n in [*counts.ended.items(), *counts.strays.items()]:
            if n and own in rows:
                rows[own][status] = rows[own].get(status, 0) + n
                rows[own]["pending"] -= n
        return {self._place(own): {status: n for status, n in row.items() if n} for own, row in rows.items()}

    def _planned(self) -> Iterable[Own]:
        judges, conditions, questions = (
            sorted(number for number, (_, planned, _) in self._counts.nouns[noun].items() if planned)
            for noun in ("judge", "condition", "question")
        )
        return ((judge, condition, question) for judge in judges for condition in conditions for question in questions)

    def _place(self, own: Own) -> Place:
        nouns = self._counts.nouns
        condition, _, language = nouns["condition"][own[1]]
        return Place(nouns["judge"][own[0]][0], condition, language, nouns["question"][own[2]][0])

    def _rates(self, session: Session) -> dict[str, float]:
        """As ``RunStatus.rates``."""
        counts = self._counts
        if counts.last_at is None:
            return {}
        span = min(RECENT, max(1.0, counts.last_at - session.at))
        ended = Counter(judge for at, judge in counts.recent if at > counts.last_at - span)
        return {counts.nouns["judge"][judge][0]: count / span for judge, count in ended.items()}


def _own(own: Iterable[int]) -> Own:
    judge, condition, question = own
    return judge, condition, question


def _has(db: sqlite3.Connection, table: str) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone() is not None


def _meta(db: sqlite3.Connection) -> dict[str, str]:
    return dict(db.execute("SELECT key, value FROM meta"))


def _batches(db: sqlite3.Connection) -> int:
    if not _has(db, "batch"):
        return 0
    return int(db.execute("SELECT count(*) FROM batch WHERE state IN ('intent', 'open')").fetchone()[0])


def _session(db: sqlite3.Connection, facts: dict[str, str]) -> Session:
    row = db.execute("SELECT id, at, settings FROM session ORDER BY id DESC LIMIT 1").fetchone()
    if row is None:
        return Session(0, float(facts.get("created", 0)), tells=False)
    budget = _mapping(row[2]).get("budget")
    ended = _mapping(facts.get("ended", "")) or None
    known = budget if isinstance(budget, (int, float)) and not isinstance(budget, bool) else None
    return Session(row[0], row[1], known, ended, "ended" in facts)


def _mapping(told: str) -> dict[str, Any]:
    """A JSON object, or nothing where the text is none."""
    try:
        found = json.loads(told or "{}")
    except json.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}
