"""How a run stands, read from its folder while it goes on or after it ended."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

from voirdire.judging.ledger import HELD, PLANNED, UNPRICED
from voirdire.judging.nouns import BASE_DESIGN
from voirdire.judging.progress import is_free, time_left
from voirdire.judging.reading import reading, steady
from voirdire.judging.run_folder import LOCK

RECENT = 60.0
LAST = 5


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed call: at in seconds since the epoch; note : the provider's words, untrusted."""

    judge: str
    kind: str
    status: int | None
    at: float
    note: str


@dataclass(frozen=True, slots=True)
class RunStatus:
    """A run at one moment.

    run_id : 8 hex digits; writer : id of the process that is writing now, or None
    cells : (judge, condition, status, cells) of planned cells, in order; ``pending`` without an outcome;
        conditions are named as the audit names them: with the design, where any has one
    attempts : judge -> kind of attempt -> how many; cost : judge -> dollars, where they are known and not 0
    unpriced : judge -> replies whose cost nobody knows (``cost`` lacks them); providers : judge -> its provider
    held : dollars that a budget counts besides, for calls whose cost nobody told (those in flight among them)
    per_second : cells that ended a second over the minute before the last attempt; last_at : its time, or None
    rates : the same by judge, of those of whom any ended
    failures : the latest failed calls, the newest first
    """

    run_id: str
    writer: int | None
    cells: tuple[tuple[str, str, str, int], ...]
    attempts: dict[str, dict[str, int]]
    cost: dict[str, float]
    held: float
    per_second: float
    last_at: float | None
    failures: tuple[Failure, ...]
    unpriced: dict[str, int] = field(default_factory=dict)
    providers: dict[str, str] = field(default_factory=dict)
    rates: dict[str, float] = field(default_factory=dict)

    @property
    def free(self) -> tuple[str, ...]:
        """Judges that nobody is paid for."""
        return tuple(name for name, provider in self.providers.items() if is_free(provider))

    @property
    def total(self) -> int:
        """Planned cells."""
        return sum(count for *_, count in self.cells)

    @property
    def left(self) -> float | None:
        """Seconds until the end at these rates; None without any."""
        judges = dict.fromkeys(judge for judge, *_ in self.cells)
        return time_left({judge: self.count("pending", judge) for judge in judges}, self.rates)

    def count(self, status: str, judge: str | None = None) -> int:
        """Planned cells of a status, of one judge or of all."""
        return sum(n for name, _, kind, n in self.cells if kind == status and judge in (None, name))


CONDITION_NAME = f"""
CASE WHEN k.facts ->> 'design' = '{BASE_DESIGN}' AND EXISTS (
    SELECT 1 FROM condition WHERE facts ->> 'design' <> '{BASE_DESIGN}'
  ) THEN k.name || '/{BASE_DESIGN}' ELSE k.name END
"""
"""The name of a condition ``k`` as the audit says it: with the design, where any condition has one."""
_COUNTS = f"""
SELECT j.name, {CONDITION_NAME}, coalesce(o.status, 'pending'), count(*)
FROM cell c JOIN judge j ON j.id = c.judge JOIN condition k ON k.id = c.condition LEFT JOIN outcome o ON o.cell = c.id
WHERE j.planned AND {PLANNED} GROUP BY j.id, k.id, 3 ORDER BY j.id, k.id, 3
"""
_ATTEMPTS = """
SELECT j.name, a.kind, count(*), sum(a.cost) FROM attempt a JOIN cell c ON c.id = a.cell JOIN judge j ON j.id = c.judge
GROUP BY j.id, a.kind ORDER BY j.id, a.kind
"""
_RATE = """
SELECT j.name, count(DISTINCT a.cell) FROM attempt a JOIN outcome o ON o.cell = a.cell AND o.attempts = a.number
  JOIN cell c ON c.id = a.cell JOIN judge j ON j.id = c.judge
WHERE a.at > ? - ? GROUP BY j.id
"""
_FAILURES = """
SELECT j.name, a.kind, a.status, a.at, a.note FROM attempt a JOIN cell c ON c.id = a.cell JOIN judge j ON j.id = c.judge
WHERE a.kind NOT IN ('ok', 'refused', 'malformed') ORDER BY a.rowid DESC LIMIT ?
"""


@steady
def read_status(folder: Path) -> RunStatus:
    """How the run in a folder stands. Raises InputError where there is none."""
    with reading(folder) as db:
        run_id = db.execute("SELECT value FROM meta WHERE key = 'run'").fetchone()[0]
        attempts: dict[str, dict[str, int]] = {}
        cost: dict[str, float] = {}
        for judge, kind, count, dollars in db.execute(_ATTEMPTS):
            attempts.setdefault(judge, {})[kind] = count
            if dollars:
                cost[judge] = cost.get(judge, 0.0) + dollars
        rates, last = _rates(db)
        providers = dict(db.execute("SELECT name, coalesce(facts ->> 'provider', '') FROM judge ORDER BY id"))
        unpriced = dict(db.execute(f"{UNPRICED} GROUP BY j.id"))
        return RunStatus(
            run_id=run_id,
            writer=writer_of(folder),
            cells=tuple(db.execute(_COUNTS)),
            attempts=attempts,
            cost=cost,
            held=held_dollars(db),
            per_second=sum(rates.values()),
            last_at=last,
            failures=tuple(Failure(*row) for row in db.execute(_FAILURES, (LAST,))),
            unpriced={name: count for name, count in unpriced.items() if not is_free(providers[name])},
            providers=providers,
            rates=rates,
        )


def held_dollars(db: sqlite3.Connection) -> float:
    """As ``Ledger.held``; a ledger that no later session opened may lack the table."""
    known = db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'held'").fetchone()[0]
    return float(db.execute(HELD).fetchone()[0]) if known else 0.0


def _rates(db: sqlite3.Connection) -> tuple[dict[str, float], float | None]:
    """Cells a second over the last minute of work by judge, and when that was."""
    last, begun = db.execute("SELECT max(at), (SELECT max(at) FROM session) FROM attempt").fetchone()
    if last is None:
        return {}, None
    span = min(RECENT, max(1.0, last - begun))
    return {judge: count / span for judge, count in db.execute(_RATE, (last, span))}, last


def writer_of(folder: Path) -> int | None:
    """The process that writes to the run in a folder (it holds the lock), or None."""
    import fcntl

    try:
        with (folder / LOCK).open("r") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                held = lock.read().strip()
                return int(held) if held.isdigit() else None
    except OSError:
        return None
    return None
