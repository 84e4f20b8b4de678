"""How a run stands, read beside the process that writes it: what the pages of a run show."""

from __future__ import annotations

import threading
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

from voirdire.judging.progress import STATUSES, is_free, time_left
from voirdire.judging.run_folder import MANIFEST
from voirdire.judging.status import writer_of
from voirdire.judging.tally import REPLIES, Calls, Counted, FailedCall, Place, Tally

State = Literal["running", "finished", "stopped", "killed", "idle"]
"""running : a process writes; finished : every cell has an outcome; stopped : its process ended, cells are pending;
killed : its process ended without saying so; idle : nobody writes, and an earlier version did not write down why."""

By = Literal["judge", "condition", "language", "question"]
ALL_STATUSES = (*STATUSES, "pending")
NO_FAILURES = ("ok", "refused")
"""Kinds of call that did not fail; a reply that could not be read did, as in ``voirdire run --status``."""

LOOKING = 0.2
FRESH = 0.5
STALE = 120.0
"""Seconds without a call after which the rate of the last minute of work says nothing of now."""


@dataclass(frozen=True, slots=True)
class Money:
    """What calls cost in US dollars.

    known : of the calls whose cost is known; unpriced : replies of judges that are paid, whose cost nobody told
    free : nobody is paid for any of the judges
    """

    known: float = 0.0
    unpriced: int = 0
    free: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """The cells and calls of one judge, condition, language or question.

    cells : status -> planned cells; failed : kind -> calls that failed; calls : all of them
    """

    name: str
    cells: Mapping[str, int]
    failed: Mapping[str, int]
    calls: int
    money: Money

    @property
    def total(self) -> int:
        """Planned cells."""
        return sum(self.cells.values())

    @property
    def done(self) -> int:
        """Cells with an outcome."""
        return self.total - self.cells.get("pending", 0)

    @property
    def failures(self) -> int:
        """Calls that failed, of all kinds."""
        return sum(self.failed.values())


@dataclass(frozen=True, slots=True)
class Again:
    """Failed calls that look alike, of those kept: the newest, and how many there are."""

    newest: FailedCall
    count: int


@dataclass(frozen=True)
class RunNow:
    """A run at one moment.

    at : seconds since the epoch; writer : id of the process that writes, or None
    """

    counted: Counted
    writer: int | None
    at: float

    @property
    def state(self) -> State:
        """Whether it runs, and else how it ended."""
        session = self.counted.session
        if self.writer is not None:
            return "running"
        if not self.counted.count("pending"):
            return "finished"
        if session.ended is not None:
            return "stopped"
        return "killed" if session.tells else "idle"

    @cached_property
    def total(self) -> Line:
        """The whole run. Its calls and money are those of all judges, also of those that are asked no longer."""
        sums = _sums(self.counted, lambda _: "", planned=False)
        return next(iter(sums.values()), _Sum()).line("")

    def by(self, what: By) -> tuple[Line, ...]:
        """The planned cells and their calls by judge, condition, language or question, in the order of the ledger."""
        return tuple(total.line(name) for name, total in _sums(self.counted, attrgetter(what), planned=True).items())

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of failed calls that there were, the most frequent first."""
        return tuple(kind for kind, _ in Counter(self.total.failed).most_common())

    @property
    def per_second(self) -> float | None:
        """Cells that ended a second over the last minute of work; None where no process works, or none of late."""
        last = self.counted.last_at
        if self.writer is None or last is None or self.at - last > STALE:
            return None
        return self.counted.per_second or None

    @property
    def left(self) -> float | None:
        """Seconds until the slowest judge has answered at its rate; None where there is no rate."""
        if self.per_second is None:
            return None
        return time_left({line.name: line.cells.get("pending", 0) for line in self.by("judge")}, self.counted.rates)

    @property
    def errors(self) -> tuple[Again, ...]:
        """The latest failed calls, the newest first, those that look alike together."""
        found: dict[tuple[Any, ...], Again] = {}
        for call in self.counted.failures:
            key = (call.judge, call.kind, call.status, call.note)
            known = found.get(key)
            found[key] = Again(call, 1) if known is None else Again(known.newest, known.count + 1)
        return tuple(found.values())


@dataclass(slots=True)
class _Sum:
    """A line while it is added up."""

    cells: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    known: float = 0.0
    unpriced: int = 0
    paid: bool = False

    def add(self, kind: str, calls: Calls, *, free: bool) -> None:
        self.calls += calls.count
        self.known += calls.cost
        if kind not in NO_FAILURES:
            self.failed[kind] += calls.count
        if kind in REPLIES and not free:
            self.unpriced += calls.unpriced

    def line(self, name: str) -> Line:
        money = Money(self.known, self.unpriced, not self.paid and not self.known)
        return Line(name, dict(self.cells), dict(self.failed), self.calls, money)


def _sums(counted: Counted, name_of: Callable[[Place], str], *, planned: bool) -> dict[str, _Sum]:
    """Name -> the sum of its cells and calls. planned : of names of planned cells alone"""
    free = {name for name, provider in counted.providers.items() if is_free(provider)}
    found: dict[str, _Sum] = {}
    for place, row in counted.cells.items():
        total = found.setdefault(name_of(place), _Sum())
        total.cells.update(row)
        total.paid |= place.judge not in free
    for (place, kind), calls in counted.calls.items():
        name = name_of(place)
        if planned and name not in found:
            continue
        total = found.setdefault(name, _Sum())
        total.add(kind, calls, free=place.judge in free)
        total.paid |= place.judge not in free
    return found


class RunWatch:
    """Looks at the run in a folder as often as it is asked to; several threads may ask.

    clock : monotonic seconds; wall : seconds since the epoch
    """

    def __init__(
        self,
        folder: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        fresh: float = FRESH,
    ) -> None:
        self.folder = folder
        self._clock, self._wall, self._fresh = clock, wall, fresh
        self._tally = Tally(folder, clock=clock)
        self._lock = threading.Lock()
        self._seen: tuple[float, RunNow] | None = None

    def look(self, seconds: float = LOOKING) -> RunNow:
        """The run now, or as it was half a second ago.

        A large ledger is counted over several looks of about ``seconds`` each; ``counted.whole`` says whether it is.
        Raises InputError where there is no run, or no ledger that can be read.
        """
        with self._lock:
            if self._seen is not None and self._clock() - self._seen[0] < self._fresh and self._seen[1].counted.whole:
                return self._seen[1]
            writer, counted = writer_of(self.folder), self._tally.look(seconds)
            if writer is not None and writer_of(self.folder) is None:
                writer, counted = (
                    None,
                    self._tally.look(seconds),
                )  # it ended meanwhile: what it wrote last is to be seen
            now = RunNow(counted, writer, self._wall())
            self._seen = (self._clock(), now)
            return now


@dataclass(frozen=True, slots=True)
class AskedJudge:
    """A judge as run.toml names it; settings : its parameters and the like, as text."""

    name: str
    provider: str
    model: str
    settings: str


@dataclass(frozen=True, slots=True)
class Begun:
    """What a run was begun with, as its run.toml says; empty texts where it does not say.

    readable : whether there is a run.toml that can be read
    facts : name of a fact -> its value, of those known: corpus, version, corpus_digest, items, grid, grid_digest,
        seed, repeats, created, voirdire, python
    scales : question -> its scale; conditions : how many
    """

    readable: bool = False
    facts: Mapping[str, str] = field(default_factory=dict)
    judges: tuple[AskedJudge, ...] = ()
    scales: Mapping[str, str] = field(default_factory=dict)
    conditions: int = 0


_FACTS = {
    "corpus": ("corpus", "name"),
    "version": ("corpus", "version"),
    "corpus_digest": ("corpus", "digest"),
    "items": ("corpus", "items"),
    "grid": ("grid", "name"),
    "grid_digest": ("grid", "digest"),
    "seed": ("run", "seed"),
    "repeats": ("run", "repeats"),
    "created": ("run", "created"),
    "voirdire": ("run", "voirdire"),
    "python": ("run", "python"),
}
MOST_BYTES = 16_000_000


def begun_with(folder: Path) -> Begun:
    """What the run in a folder was begun with; a file that is gone or damaged gives what is left: nothing."""
    try:
        with (folder / MANIFEST).open("rb") as file:
            told = tomllib.loads(file.read(MOST_BYTES).decode("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return Begun()
    found = {name: _table(told.get(table)).get(key) for name, (table, key) in _FACTS.items()}
    return Begun(
        True,
        {name: str(value) for name, value in found.items() if value not in (None, "")},
        tuple(_judge(one) for one in _tables(told.get("judge"))),
        {str(one.get("id", "")): str(one.get("scale", "")) for one in _tables(told.get("question"))},
        len(list(_tables(told.get("condition")))),
    )


def _judge(told: Mapping[str, Any]) -> AskedJudge:
    settings = _table(told.get("settings"))
    known = {name: value for name, value in settings.items() if value not in (None, "", {}, [])}
    shown = ", ".join(f"{name} = {_plain(value)}" for name, value in known.items())
    name, provider, model = (str(told.get(key, "")) for key in ("name", "provider", "model"))
    return AskedJudge(name, provider, model, shown)


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name} = {_plain(one)}" for name, one in value.items()) + "}"
    return str(value)


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _tables(value: Any) -> Iterable[Mapping[str, Any]]:
    return (one for one in value if isinstance(one, Mapping)) if isinstance(value, list) else ()
