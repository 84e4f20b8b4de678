"""The ledger of a run: one SQLite file that says what was asked, what came back, and how every cell ended.

Attempts and outcomes are only ever added (the database itself refuses to change or delete them), but that an error
which is to be asked again moves to the table ``reopened``. One process writes; any number read. The reasons for this
form stand in docs/design/ledger.md.
"""

from __future__ import annotations

import json
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from voirdire.errors import InputError, VoirdireError
from voirdire.judging.nouns import Outcome, RunStopped
from voirdire.judging.steps import Cell, Step

FORMAT = "1"
SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE session (id INTEGER PRIMARY KEY, at REAL NOT NULL, settings TEXT NOT NULL);
CREATE TABLE item (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, digest TEXT NOT NULL, planned INTEGER NOT NULL, facts TEXT NOT NULL
);
CREATE TABLE question (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, digest TEXT NOT NULL, planned INTEGER NOT NULL, facts TEXT NOT NULL
);
CREATE TABLE condition (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, digest TEXT NOT NULL, planned INTEGER NOT NULL, facts TEXT NOT NULL
);
CREATE TABLE judge (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, digest TEXT NOT NULL, planned INTEGER NOT NULL, facts TEXT NOT NULL
);
CREATE TABLE cell (
  id INTEGER PRIMARY KEY, item INTEGER NOT NULL, condition INTEGER NOT NULL, question INTEGER NOT NULL,
  repeat INTEGER NOT NULL, judge INTEGER NOT NULL, UNIQUE (judge, item, condition, question, repeat)
);
CREATE TABLE origin (
  id INTEGER PRIMARY KEY, served TEXT NOT NULL, served_by TEXT NOT NULL, UNIQUE (served, served_by)
);
CREATE TABLE attempt (
  cell INTEGER NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL, at REAL NOT NULL, seconds REAL NOT NULL,
  prompt TEXT NOT NULL, status INTEGER, text TEXT NOT NULL, reasoning TEXT NOT NULL, note TEXT NOT NULL,
  origin INTEGER, tokens_in INTEGER, tokens_out INTEGER, tokens_cached INTEGER, tokens_reasoning INTEGER, cost REAL,
  PRIMARY KEY (cell, number)
);
CREATE TABLE outcome (
  cell INTEGER PRIMARY KEY, status TEXT NOT NULL CHECK (status IN ('ok', 'malformed', 'refused', 'error')),
  rating REAL, attempts INTEGER NOT NULL, CHECK ((status = 'ok') = (rating IS NOT NULL))
);
CREATE TABLE pardon (cell INTEGER NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (cell, number)) WITHOUT ROWID;
CREATE TABLE shown (
  item INTEGER NOT NULL, condition INTEGER NOT NULL, question INTEGER NOT NULL, flags TEXT NOT NULL,
  demonstrations TEXT NOT NULL, PRIMARY KEY (item, condition, question)
) WITHOUT ROWID;
CREATE TRIGGER attempt_stays BEFORE UPDATE ON attempt BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TRIGGER attempt_kept BEFORE DELETE ON attempt BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TRIGGER outcome_stays BEFORE UPDATE ON outcome BEGIN SELECT RAISE(ABORT, 'append only'); END;
"""

REOPENED = """
CREATE TABLE IF NOT EXISTS reopened (
  cell INTEGER NOT NULL, attempts INTEGER NOT NULL, at REAL NOT NULL, status TEXT NOT NULL,
  PRIMARY KEY (cell, attempts, at)
) WITHOUT ROWID
"""
OUTCOME_KEPT = """
CREATE TRIGGER outcome_kept BEFORE DELETE ON outcome WHEN OLD.status <> 'error'
  OR NOT EXISTS (SELECT 1 FROM reopened r WHERE r.cell = OLD.cell AND r.attempts = OLD.attempts)
BEGIN SELECT RAISE(ABORT, 'append only'); END
"""
"""An error may be taken back once it is written down in ``reopened``; no other outcome ever."""

HELD_TABLE = """
CREATE TABLE IF NOT EXISTS held (
  cell INTEGER NOT NULL, number INTEGER NOT NULL, dollars REAL NOT NULL, PRIMARY KEY (cell, number)
) WITHOUT ROWID
"""

COUNTED = ("server", "timeout", "connection")
"""Kinds of failure that count against a cell."""

_PENDING = """
SELECT c.id, c.item, c.condition, c.question, c.repeat,
  (SELECT count(*) FROM attempt a WHERE a.cell = c.id),
  (SELECT count(*) FROM attempt a WHERE a.cell = c.id AND a.kind = 'malformed'),
  (SELECT count(*) FROM attempt a WHERE a.cell = c.id AND a.kind IN ('server', 'timeout', 'connection')
     AND a.number > (SELECT coalesce(max(p.number), 0) FROM pardon p WHERE p.cell = c.id))
FROM cell c
WHERE c.judge = (SELECT id FROM judge WHERE id = ? AND planned)
  AND (c.item, c.condition, c.question, c.repeat) > (?, ?, ?, ?)
  AND {planned} AND NOT EXISTS (SELECT 1 FROM outcome o WHERE o.cell = c.id)
ORDER BY c.item, c.condition, c.question, c.repeat LIMIT ?
"""
PLANNED = """
c.item IN (SELECT id FROM item WHERE planned) AND c.condition IN (SELECT id FROM condition WHERE planned)
AND c.question IN (SELECT id FROM question WHERE planned)
AND c.repeat <= (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'repeats')
"""
HELD = "SELECT (SELECT total(dollars) FROM held) + total(value) FROM meta WHERE key IN ('lost', 'exposed')"
UNPRICED = """
SELECT j.name, count(*) FROM attempt a JOIN cell c ON c.id = a.cell JOIN judge j ON j.id = c.judge
WHERE a.cost IS NULL AND a.kind IN ('ok', 'refused', 'malformed')
"""
START = (0, 0, 0, 0)
_QUERY = _PENDING.format(planned=PLANNED)

_REOPEN = f"""
INSERT INTO reopened SELECT o.cell, o.attempts, ?, o.status FROM outcome o JOIN cell c ON c.id = o.cell
WHERE o.status = 'error' AND {PLANNED} AND c.judge IN (SELECT id FROM judge WHERE planned)
"""

NOUNS = ("item", "question", "condition", "judge")


class Ledger:
    """The ledger, open for writing.

    The caller holds the run's lock (``run_folder.RunFolder``). A write that the disk refuses raises RunStopped, and
    nothing of it is kept. Raises InputError for a file that is no ledger or that a newer version wrote.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = self._open()
        self._names: dict[str, dict[int, str]] = {noun: {} for noun in NOUNS}
        self._ids: dict[str, dict[str, int]] = {noun: {} for noun in NOUNS}
        self._origins: dict[tuple[str, str], int] = {}
        for noun in NOUNS:
            self._learn(noun)
        self._origins = {
            (served, by): key for key, served, by in self._db.execute("SELECT id, served, served_by FROM origin")
        }

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                self._create(db)
            row = db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
            if row is not None and row[0] == FORMAT:
                db.execute(HELD_TABLE)
                db.execute(REOPENED)
        except sqlite3.DatabaseError as error:
            db.close()
            if isinstance(error, sqlite3.OperationalError) and _is_full(error):
                raise self._full(error) from error
            raise InputError("run.ledger_broken", file=str(self.path), why=str(error)) from error
        if row is None or row[0] != FORMAT:
            db.close()
            raise InputError("run.ledger_format", file=str(self.path), value=row[0] if row else "-", known=FORMAT)
        return db

    @staticmethod
    def _create(db: sqlite3.Connection) -> None:
        """All tables in one transaction: a kill leaves either an empty file or a whole ledger."""
        run = secrets.token_hex(4)
        db.executescript(
            f"BEGIN IMMEDIATE;{SCHEMA}{REOPENED};{OUTCOME_KEPT};"
            f"INSERT INTO meta VALUES ('format', '{FORMAT}'), ('run', '{run}'), ('created', '{time.time()}'),"
            " ('repeats', '1'); COMMIT;"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what was committed stays."""
        self._db.close()

    @property
    def run_id(self) -> str:
        """8 hex digits that name the run in every request."""
        return self.meta("run") or ""

    def meta(self, key: str) -> str | None:
        """A fact about the run, or None."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def known(self, noun: str) -> dict[str, str]:
        """Name -> digest of all items, questions, conditions or judges of the ledger."""
        return dict(self._db.execute(f"SELECT name, digest FROM {_noun(noun)} ORDER BY id"))

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is kept, or nothing. Raises RunStopped when the disk is full."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield self._db
            self._db.execute("COMMIT")
        except BaseException as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if isinstance(error, sqlite3.OperationalError):
                raise self._full(error) from error
            raise

    def register(
        self,
        nouns: Mapping[str, Iterable[tuple[str, str, str]]],
        *,
        repeats: int,
        meta: Mapping[str, str],
        session: str,
    ) -> None:
        """Write down what is planned, and one cell for every combination that has none.

        nouns : (name, digest, facts as JSON) of every item, question, condition and judge, in order; what an
            earlier run planned and this one does not stays, without being asked
        """
        with self.writing() as db:
            for noun in NOUNS:
                db.execute(f"UPDATE {noun} SET planned = 0")
                db.executemany(
                    f"INSERT INTO {noun} (name, digest, planned, facts) VALUES (?, ?, 1, ?)"
                    " ON CONFLICT (name) DO UPDATE SET planned = 1, digest = excluded.digest, facts = excluded.facts",
                    nouns[noun],
                )
            facts = {**meta, "repeats": str(repeats), "ended": ""}
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", facts.items())
            db.execute("INSERT INTO session (at, settings) VALUES (?, ?)", (time.time(), session))
            db.execute(
                "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < ?)"
                " INSERT OR IGNORE INTO cell (item, condition, question, repeat, judge)"
                " SELECT i.id, c.id, q.id, r.n, j.id FROM item i, condition c, question q, r, judge j"
                " WHERE i.planned AND c.planned AND q.planned AND j.planned"
                " ORDER BY i.id, c.id, q.id, r.n, j.id",
                (repeats,),
            )
        for noun in NOUNS:
            self._learn(noun)

    def end(self, why: VoirdireError | None = None) -> None:
        """Write down that this session ended, and why where cells are pending; a kill writes nothing."""
        told = {"at": time.time(), "why": why and why.key, "fields": why.fields if why else {}}
        with self.writing() as db:
            db.execute("UPDATE meta SET value = ? WHERE key = 'ended'", (json.dumps(told, default=str),))

    def reopen_errors(self) -> int:
        """Make planned cells that ended as ``error`` pending again; how many.

        The old outcome is kept in ``reopened``, the attempts stay, and failures up to now no longer count.
        """
        with self.writing() as db:
            (at,) = db.execute("SELECT max(coalesce(max(at), 0) + 1e-3, ?) FROM reopened", (time.time(),)).fetchone()
            db.execute("DROP TRIGGER IF EXISTS outcome_kept")
            db.execute(OUTCOME_KEPT)
            count = db.execute(_REOPEN, (at,)).rowcount
            db.execute("INSERT OR IGNORE INTO pardon SELECT cell, attempts FROM reopened WHERE at = ?", (at,))
            db.execute("DELETE FROM outcome WHERE cell IN (SELECT cell FROM reopened WHERE at = ?)", (at,))
        return int(count)

    def pending(self, judge: str, after: tuple[int, ...] = START, limit: int = 256) -> list[Cell]:
        """The next planned cells of a judge without an outcome, behind the place ``after``, in order."""
        number = self._ids["judge"][judge]
        items, conditions, questions = self._names["item"], self._names["condition"], self._names["question"]
        return [
            Cell(
                row[0],
                items[row[1]],
                conditions[row[2]],
                questions[row[3]],
                row[4],
                judge,
                (*row[1:5], number),
                *row[5:],
            )
            for row in self._db.execute(_QUERY, (number, *after[:4], limit))
        ]

    def counts(self) -> list[tuple[str, str, int]]:
        """(judge, status, cells) of all planned cells; ``pending`` for those without an outcome."""
        query = (
            "SELECT j.name, coalesce(o.status, 'pending'), count(*) FROM cell c JOIN judge j ON j.id = c.judge"
            f" LEFT JOIN outcome o ON o.cell = c.id WHERE j.planned AND {PLANNED} GROUP BY 1, 2 ORDER BY j.id, 2"
        )
        return [(judge, status, count) for judge, status, count in self._db.execute(query)]

    def costs(self) -> dict[str, float]:
        """Judge -> dollars of all its attempts whose cost is known."""
        query = "SELECT j.name, sum(a.cost) FROM attempt a JOIN cell c ON c.id = a.cell JOIN judge j ON j.id = c.judge"
        return dict(self._db.execute(f"{query} WHERE a.cost > 0 GROUP BY j.id"))

    def unpriced(self) -> dict[str, int]:
        """Judge -> replies whose cost is unknown, where there are any."""
        return dict(self._db.execute(f"{UNPRICED} GROUP BY j.id"))

    def answered(self) -> set[str]:
        """Judges that have replied at least once, or whose batches are under way."""
        query = (
            "SELECT DISTINCT j.name FROM attempt a JOIN cell c ON c.id = a.cell JOIN judge j ON j.id = c.judge"
            " WHERE a.kind IN ('ok', 'refused', 'malformed')"
        )
        if self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'batch'").fetchone():
            query += " UNION SELECT judge FROM batch WHERE state IN ('intent', 'open')"
        return {name for (name,) in self._db.execute(query)}

    def providers(self) -> dict[str, str]:
        """Judge -> its provider; an empty text where none is written down."""
        return dict(self._db.execute("SELECT name, coalesce(facts ->> 'provider', '') FROM judge ORDER BY id"))

    def held(self) -> float:
        """Dollars that a budget counts beside ``costs``: of calls whose cost nobody told, or that never came back.

        After a session without an end (a kill) the mark of its open calls is among them, see ``Exposure``.
        """
        return float(self._db.execute(HELD).fetchone()[0])

    def expose(self, dollars: float) -> None:
        """Write down what the open calls of this session may cost at most; it counts until ``lose``."""
        with self.writing() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES ('exposed', ?)", (repr(dollars),))

    def lose(self, dollars: float) -> None:
        """Count dollars for good that calls without an attempt may have cost, instead of what ``expose`` said."""
        lost = float(self.meta("lost") or 0) + dollars
        with self.writing() as db:
            db.execute("DELETE FROM meta WHERE key = 'exposed'")
            db.execute("INSERT OR REPLACE INTO meta VALUES ('lost', ?)", (repr(lost),))

    def close_exposure(self) -> None:
        """At the begin of a session: what an earlier one left open without an end is counted for good."""
        if (left := self.meta("exposed")) is not None:
            self.lose(float(left))

    def found(self, calls: Mapping[str, float]) -> None:
        """Replies of an earlier session have turned up: what was counted for these calls will be counted as their cost.

        calls : id -> dollars that were set aside for it; each is taken off once, however often it is told
        """
        known = set(json.loads(self.meta("found") or "[]"))
        dollars = sum(price for call, price in calls.items() if call not in known)
        key = "lost" if self.meta("exposed") is None else "exposed"
        left = max(0.0, float(self.meta(key) or 0) - dollars)
        with self.writing() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, repr(left)))
            db.execute("INSERT OR REPLACE INTO meta VALUES ('found', ?)", (json.dumps(sorted(known | set(calls))),))

    def write(
        self, steps: Sequence[Step], outcomes: Sequence[Outcome] = (), pardons: Mapping[int, int] | None = None
    ) -> None:
        """Keep steps, further outcomes and pardons in one transaction."""
        with self.writing() as db:
            if steps:
                db.executemany(
                    "INSERT INTO attempt VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    [self._row(step) for step in steps],
                )
            held = [(step.attempt.cell, step.attempt.number, step.held) for step in steps if step.held]
            if held:
                db.executemany("INSERT INTO held VALUES (?, ?, ?)", held)
            ended = [*(step.outcome for step in steps if step.outcome is not None), *outcomes]
            if ended:
                rows = [(end.cell, end.status, end.rating, end.attempts) for end in ended]
                db.executemany("INSERT INTO outcome VALUES (?, ?, ?, ?)", rows)
            if pardons:
                db.executemany("INSERT OR IGNORE INTO pardon VALUES (?, ?)", pardons.items())
            shown = [
                (*_key(self._ids, step.cell), step.shown)
                for step in steps
                if step.shown.flags or step.shown.demonstrations
            ]
            if shown:
                rows_shown = [(*key, what.flags, what.demonstrations) for *key, what in shown]
                db.executemany("INSERT OR IGNORE INTO shown VALUES (?, ?, ?, ?, ?)", rows_shown)

    def _row(self, step: Step) -> tuple[object, ...]:
        done, used = step.attempt, step.attempt.usage
        return (
            done.cell, done.number, done.kind, done.at, done.seconds, done.prompt, done.status, done.text,
            done.reasoning, done.note, self._origin(done.served, done.served_by), used.input, used.output, used.cached,
            used.reasoning, done.cost,
        )  # fmt: skip

    def _origin(self, served: str, served_by: str) -> int | None:
        if not served and not served_by:
            return None
        found = self._origins.get((served, served_by))
        if found is None:
            row = self._db.execute(
                "INSERT INTO origin (served, served_by) VALUES (?, ?) RETURNING id", (served, served_by)
            ).fetchone()
            found = self._origins[(served, served_by)] = int(row[0])
        return found

    def _learn(self, noun: str) -> None:
        self._names[noun] = dict(self._db.execute(f"SELECT id, name FROM {_noun(noun)}"))
        self._ids[noun] = {name: key for key, name in self._names[noun].items()}

    def _full(self, error: Exception) -> RunStopped:
        free = shutil.disk_usage(self.path.parent).free
        return RunStopped("run.disk", file=str(self.path), free=f"{free / 1e6:.1f}", why=str(error))


def _noun(noun: str) -> str:
    if noun not in NOUNS:
        raise KeyError(noun)
    return noun


def _key(ids: Mapping[str, Mapping[str, int]], cell: Cell) -> tuple[int, int, int]:
    return ids["item"][cell.item], ids["condition"][cell.condition], ids["question"][cell.question]


def _is_full(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY)
