"""The batches of a run, in its ledger: what is about to be handed over, what is under way, what was collected.

A batch is written down with all its requests before a byte of it is sent (state ``intent``). So after a kill at any
instant each request either is known to be under way, or stands in an intent whose batch can be looked for.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from voirdire.judging.steps import Cell

if TYPE_CHECKING:
    import sqlite3

    from voirdire.judging.ledger import Ledger

SCHEMA = """
CREATE TABLE IF NOT EXISTS batch (
  id INTEGER PRIMARY KEY, judge TEXT NOT NULL, key TEXT NOT NULL UNIQUE, marker TEXT NOT NULL,
  requests INTEGER NOT NULL, reserved REAL NOT NULL, at REAL NOT NULL, provider_id TEXT,
  state TEXT NOT NULL CHECK (state IN ('intent', 'open', 'collected', 'dropped'))
);
CREATE TABLE IF NOT EXISTS batch_request (
  cell INTEGER NOT NULL, number INTEGER NOT NULL, batch INTEGER NOT NULL, PRIMARY KEY (cell, number, batch)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS batch_requests ON batch_request (batch)
"""
"""``number`` is that of the attempt which the request is."""

_OPEN = "('intent', 'open')"


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch that is not over: state ``intent`` (its submission was not recorded) or ``open``.

    id : of the ledger; key : our name of it at the provider; provider_id : the provider's, empty for an intent
    marker : what ``BatchApi.marker`` said before the submission; reserved : dollars; at : seconds since the epoch
    """

    id: int
    judge: str
    key: str
    marker: str
    requests: int
    reserved: float
    at: float
    provider_id: str
    state: Literal["intent", "open"]


class BatchBook:
    """The tables of batches in a ledger that is open for writing."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        with ledger.writing() as db:
            for statement in SCHEMA.split(";"):
                db.execute(statement)

    @staticmethod
    def exists(ledger: Ledger) -> bool:
        """Whether a run was ever asked by batches."""
        with ledger.writing() as db:
            return bool(db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'batch'").fetchone()[0])

    def intend(self, judge: str, cells: Sequence[Cell], marker: str, reserved: float) -> Batch:
        """Write down a batch that will be submitted next, through to the disk."""
        now = time.time()
        with self._durable() as db:
            number = int(db.execute("SELECT coalesce(max(id), 0) + 1 FROM batch").fetchone()[0])
            key = f"voirdire-{self._ledger.run_id}-{number}"
            db.execute(
                "INSERT INTO batch VALUES (?, ?, ?, ?, ?, ?, ?, NULL, 'intent')",
                (number, judge, key, marker, len(cells), reserved, now),
            )
            db.executemany(
                "INSERT INTO batch_request VALUES (?, ?, ?)", ((cell.id, cell.attempts + 1, number) for cell in cells)
            )
        return Batch(number, judge, key, marker, len(cells), reserved, now, "", "intent")

    def opened(self, batch: Batch, provider_id: str) -> Batch:
        """Write down that the provider has taken a batch."""
        with self._durable() as db:
            db.execute("UPDATE batch SET provider_id = ?, state = 'open' WHERE id = ?", (provider_id, batch.id))
        return replace(batch, provider_id=provider_id, state="open")

    def close(self, batch: Batch, *, collected: bool) -> None:
        """A batch is over; its requests without an outcome are pending again."""
        with self._ledger.writing() as db:
            db.execute("UPDATE batch SET state = ? WHERE id = ?", ("collected" if collected else "dropped", batch.id))

    def open(self, judge: str | None = None) -> list[Batch]:
        """The batches of a judge, or of all, that are not over, the oldest first."""
        with self._ledger.writing() as db:
            rows = db.execute(
                "SELECT id, judge, key, marker, requests, reserved, at, coalesce(provider_id, ''), state FROM batch"
                f" WHERE state IN {_OPEN} AND judge = coalesce(?, judge) ORDER BY id",
                (judge,),
            ).fetchall()
        return [Batch(*row) for row in rows]

    def known(self) -> frozenset[str]:
        """The provider's ids of all batches of this run."""
        with self._ledger.writing() as db:
            rows = db.execute("SELECT provider_id FROM batch WHERE provider_id IS NOT NULL").fetchall()
        return frozenset(row[0] for row in rows)

    def under_way(self, cells: Iterable[int]) -> frozenset[int]:
        """Which of these cells stand in a batch that is not over."""
        wanted = ",".join(map(str, cells))
        with self._ledger.writing() as db:
            rows = db.execute(
                "SELECT r.cell FROM batch_request r JOIN batch b ON b.id = r.batch"
                f" WHERE r.cell IN ({wanted}) AND b.state IN {_OPEN}"
            ).fetchall()
        return frozenset(row[0] for row in rows)

    def unanswered(self, batch: Batch, cells: Iterable[int] | None = None) -> list[Cell]:
        """The cells of a batch (or those of them that are named) whose attempt is not written down yet."""
        only = "" if cells is None else f"AND r.cell IN ({','.join(map(str, cells))})"
        with self._ledger.writing() as db:
            rows = db.execute(_UNANSWERED.format(only=only), (batch.id,)).fetchall()
        return [_cell(row) for row in rows]

    def members(self, batch: Batch, cells: Iterable[int]) -> dict[int, int]:
        """Those of these cells that stand in a batch, with the number of their attempt in it."""
        wanted = ",".join(map(str, cells))
        with self._ledger.writing() as db:
            rows = db.execute(
                f"SELECT cell, number FROM batch_request WHERE batch = ? AND cell IN ({wanted})", (batch.id,)
            ).fetchall()
        return dict(rows)

    @contextmanager
    def _durable(self) -> Iterator[sqlite3.Connection]:
        """A transaction that has reached the disk when it ends: what it says must outlive a loss of power."""
        with self._ledger.writing() as db:
            yield db
        sync_to_disk(self._ledger.path)


_UNANSWERED = """
SELECT c.id, i.name, k.name, q.name, c.repeat, j.name, c.item, c.condition, c.question, c.repeat, c.judge,
  (SELECT count(*) FROM attempt a WHERE a.cell = c.id),
  (SELECT count(*) FROM attempt a WHERE a.cell = c.id AND a.kind = 'malformed'),
  (SELECT count(*) FROM attempt a WHERE a.cell = c.id AND a.kind IN ('server', 'timeout', 'connection')
     AND a.number > (SELECT coalesce(max(p.number), 0) FROM pardon p WHERE p.cell = c.id))
FROM batch_request r JOIN cell c ON c.id = r.cell JOIN item i ON i.id = c.item JOIN condition k ON k.id = c.condition
  JOIN question q ON q.id = c.question JOIN judge j ON j.id = c.judge
WHERE r.batch = ? {only} AND NOT EXISTS (SELECT 1 FROM attempt a WHERE a.cell = r.cell AND a.number = r.number)
ORDER BY c.item, c.condition, c.question, c.repeat, c.judge
"""


def _cell(row: Sequence[Any]) -> Cell:
    name, item, condition, question, repeat, judge, *place = row[:11]
    return Cell(name, item, condition, question, repeat, judge, tuple(place), *row[11:])


def sync_to_disk(ledger: Path) -> None:
    """Flush a ledger's write-ahead log, which SQLite in this mode leaves to the system after a commit."""
    log = ledger.with_name(ledger.name + "-wal")
    if log.exists():
        with log.open("rb+") as file:
            os.fsync(file.fileno())
