"""What the lead sees while ratings arrive: read anew every few seconds at most, statistics computed beside requests.

The statistics are those of the audit, from the same tables and the same functions, with fewer draws.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from voirdire.analysis.evaluate import evaluate
from voirdire.analysis.options import AuditOptions
from voirdire.analysis.profile import Profile
from voirdire.annotation.collected import RATING_KINDS, Collected, collect, last_event
from voirdire.annotation.database import Database, Unavailable
from voirdire.annotation.material import Shown
from voirdire.annotation.progress import Progress, progress_of
from voirdire.annotation.rating_tables import audit_tables
from voirdire.corpus.reading import read_corpus
from voirdire.errors import InputError, UsageError, VoirdireError
from voirdire.reporting.assemble import build
from voirdire.reporting.blocks import Section
from voirdire.web.reading_notes import reading_notes

PROGRESS_SECONDS, UNCHANGED_SECONDS, STATISTICS_SECONDS = 2.0, 15.0, 10.0
PAUSE = 5.0
"""Statistics that take long are computed a fifth of the time at most, so that raters' requests are not held up."""

LATE_SECONDS = 60.0
"""PostgreSQL numbers answers before they are kept: for so long one of a lower number may come after a higher one."""

MAIN_TABLES = ("-pools", "-pairs", "-gap")
LIVE = AuditOptions(draws=200, permutations=200)

State = Literal["none", "ready", "not_yet", "failed"]
"""none : never computed; ready : a profile; not_yet : the ratings do not suffice; failed : a fault of ours."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Statistics:
    """Statistics of a batch at one moment.

    event : number of the last change of ratings that they hold; collected : what they were computed from
    why : of ``not_yet``
    """

    state: State = "none"
    event: int = -1
    profile: Profile | None = None
    collected: Collected | None = None
    why: VoirdireError | None = None
    made_at: float = 0.0

    def sections(self, lang: str) -> list[Section]:
        """What the report says of the pools: the verdicts, then each question with its main tables."""
        if self.profile is None:
            return []
        found = []
        for section in build(self.profile, lang).sections:
            question, _, part = section.id.partition("-")
            if part == "pools":
                section.blocks = [block for block in section.blocks if getattr(block, "id", "").endswith(MAIN_TABLES)]
                section.blocks += reading_notes(self.profile, int(question.removeprefix("q")) - 1, lang)
            if section.id == "verdicts" or re.fullmatch(r"q\d+", question):
                found.append(section)
        return found


@dataclass(frozen=True)
class Standing:
    """Statistics as they are now. running : newer ones are being computed; behind : there are newer ratings."""

    statistics: Statistics
    running: bool
    behind: bool


@dataclass
class _Batch:
    """What is known of one batch. The lock lets one request at a time read; others wait and find what it read."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    collected: Collected | None = None
    progress: Progress | None = None
    read_at: float = 0.0
    statistics: Statistics = field(default_factory=Statistics)
    due_at: float = float("-inf")
    thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        return self.thread is not None and self.thread.is_alive()


def examine(collected: Collected, shown: Shown, options: AuditOptions = LIVE, now: float = 0.0) -> Statistics:
    """Alpha, reliability, cross-pool statistics and the gate of what was collected, or why there are none yet."""
    tables = audit_tables(collected, shown)
    try:
        if tables.ratings.is_empty():
            raise UsageError("lead.statistics.no_ratings")
        profile = evaluate(read_corpus(tables.options(shown)), None, options)
    except (InputError, UsageError) as error:
        return Statistics("not_yet", collected.rating_event, collected=collected, why=error, made_at=now)
    return Statistics("ready", collected.rating_event, profile, collected, made_at=now)


class Live:
    """What one process of the service knows of its batches.

    now : the clock, seconds since 1970
    """

    def __init__(self, database: Database, shown: Shown, now: Callable[[], float]) -> None:
        self.database, self.shown, self.now = database, shown, now
        self._batches: dict[int, _Batch] = {}
        self._lock = threading.Lock()
        self._computing = threading.Lock()

    def collected(self, batch_id: int) -> Collected:
        """What the batch has brought in, at most a few seconds old. Raises NotFoundError."""
        entry = self._entry(batch_id)
        with entry.lock:
            return self._read(entry, batch_id)

    def progress(self, batch_id: int) -> Progress:
        """How far the batch is, at most a few seconds old. Raises NotFoundError."""
        entry = self._entry(batch_id)
        with entry.lock:
            collected = self._read(entry, batch_id)
            if entry.progress is None:
                entry.progress = progress_of(collected, self.now())
            return entry.progress

    def forget(self, batch_id: int) -> None:
        """Read the batch anew at the next request: the lead changed something and wants to see it."""
        entry = self._entry(batch_id)
        with entry.lock:
            entry.collected = None

    def statistics(self, batch_id: int) -> Standing:
        """The statistics, and newer ones are begun in the background where there are newer ratings."""
        event = last_event(self.database, batch_id, RATING_KINDS)
        entry = self._entry(batch_id)
        with entry.lock:
            behind = entry.statistics.event != event
            wanted = behind or self._may_lack(entry.statistics)
            if wanted and self.now() >= entry.due_at and not entry.running:
                entry.due_at = self.now() + STATISTICS_SECONDS
                entry.thread = threading.Thread(
                    target=self._compute, args=(entry, batch_id), name=f"statistics-{batch_id}", daemon=True
                )
                entry.thread.start()
            return Standing(entry.statistics, entry.running, behind)

    def _may_lack(self, found: Statistics) -> bool:
        """Whether answers may have come that were numbered, and not yet kept, when statistics were computed."""
        if self.database.is_sqlite or found.collected is None or found.collected.given.is_empty():
            return False
        newest = float(found.collected.given.select(pl.col("answered_at").max()).item())
        return found.made_at - newest < LATE_SECONDS <= self.now() - found.made_at

    def _entry(self, batch_id: int) -> _Batch:
        with self._lock:
            return self._batches.setdefault(batch_id, _Batch())

    def _read(self, entry: _Batch, batch_id: int) -> Collected:
        """What the batch has brought in, read anew where it is old. The caller holds the lock."""
        if entry.collected is None or self._is_old(entry.collected, self.now() - entry.read_at):
            entry.collected, entry.progress = collect(self.database, batch_id), None
            entry.read_at = self.now()
        return entry.collected

    def _is_old(self, collected: Collected, age: float) -> bool:
        """Old after a while in any case, for the times at which raters were seen, and soon after a change."""
        if age < PROGRESS_SECONDS:
            return False
        return age >= UNCHANGED_SECONDS or last_event(self.database, collected.batch.id) != collected.event

    def _compute(self, entry: _Batch, batch_id: int) -> None:
        """One computation at a time in this process, and a pause after a long one; a fault is logged and shown."""
        with self._computing:
            began = self.now()
            try:
                found = examine(collect(self.database, batch_id), self.shown, now=began)
            except Unavailable as error:
                log.warning("%s", error)
                return
            except Exception:
                log.exception("statistics of batch %s", batch_id)
                found = Statistics("failed", last_event(self.database, batch_id, RATING_KINDS), made_at=began)
            took = self.now() - began
        entry.due_at = max(entry.due_at, began + PAUSE * took)
        entry.statistics = found
