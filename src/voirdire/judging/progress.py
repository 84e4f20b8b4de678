"""What a run has done so far: counted as it happens, read at any time from any thread."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from voirdire.judging.nouns import Judge, Outcome
from voirdire.judging.steps import Step

if TYPE_CHECKING:
    from voirdire.judging.ledger import Ledger

SPAN = 60.0
STATUSES = ("ok", "malformed", "refused", "error")
NONE_UNPRICED: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class JudgeProgress:
    """One judge: cells by status (of this run and of earlier ones), and what this session did.

    pending : cells without an outcome; calls : made in this session; retries : of them, not the first of their cell
    failures : kind -> calls without a reply (rate_limit, server, ...), or a malformed one
    cost : dollars of all sessions, where known; None where replies came and the cost of none is known
    unpriced : replies of all sessions whose cost is unknown; free : the judge runs here, and nobody is paid
    state : ``running``, ``resting`` (it only failed of late), ``stopped`` or ``done``; why : of a stop, untrusted
    """

    name: str
    lane: str
    pending: int
    status: dict[str, int]
    calls: int = 0
    retries: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    cost: float | None = 0.0
    unpriced: int = 0
    state: str = "running"
    why: str = ""
    free: bool = False

    @property
    def unknown(self) -> int:
        """Replies that somebody is paid for, nobody knows what."""
        return 0 if self.free else self.unpriced


@dataclass(frozen=True, slots=True)
class Progress:
    """A run at one moment.

    total, done : planned cells, and those with an outcome (earlier sessions included)
    in_flight : calls that are out; per_second : cells finished a second over the last minute; seconds : of this session
    left : seconds until the end at that rate, or None while it is unknown
    cost : dollars of all sessions, where known; None where the cost of no reply is known, see also ``unknown``
    budget : the limit, or None; stopping : the run is being stopped
    """

    total: int
    done: int
    in_flight: int
    per_second: float
    seconds: float
    left: float | None
    cost: float | None
    budget: float | None
    judges: tuple[JudgeProgress, ...]
    stopping: bool = False

    @property
    def unknown(self) -> int:
        """Replies that somebody is paid for, nobody knows what: ``cost`` is then a lower bound."""
        return sum(judge.unknown for judge in self.judges)

    @property
    def free(self) -> bool:
        """Whether nobody is paid."""
        return bool(self.judges) and not self.cost and all(judge.free for judge in self.judges)


@dataclass(slots=True)
class _Judge:
    lane: str
    pending: int = 0
    status: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    retries: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    cost: float = 0.0
    unpriced: int = 0
    free: bool = False
    state: str = "running"
    why: str = ""


class Watch:
    """Counts what happens in a run. Pass one to ``run`` and read ``snapshot()`` as often as you like.

    clock : monotonic seconds
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun = clock()
        self._judges: dict[str, _Judge] = {}
        self._ended: deque[tuple[int, Counter[str]]] = deque(maxlen=int(SPAN) + 1)
        self.in_flight = 0
        self.budget: float | None = None
        self.stopping = False

    def begin(
        self,
        lanes: dict[str, str],
        counts: Iterable[tuple[str, str, int]],
        costs: dict[str, float],
        unpriced: Mapping[str, int] = NONE_UNPRICED,
        free: Collection[str] = (),
    ) -> None:
        """Take over what earlier sessions did.

        lanes : judge -> lane; counts : (judge, status or ``pending``, cells); costs : judge -> dollars
        unpriced : judge -> replies whose cost is unknown; free : judges that nobody is paid for
        """
        self._begun = self._clock()
        self._judges = {
            name: _Judge(lane, cost=costs.get(name, 0.0), unpriced=unpriced.get(name, 0), free=name in free)
            for name, lane in lanes.items()
        }
        for name, status, count in counts:
            if name in self._judges and status == "pending":
                self._judges[name].pending = count
            elif name in self._judges:
                self._judges[name].status[status] = count

    def flying(self, change: int) -> None:
        """Calls went out (positive) or came back (negative)."""
        self.in_flight += change

    def stepped(self, step: Step) -> None:
        """A step was kept."""
        judge, done = self._judges[step.cell.judge], step.attempt
        judge.calls += 1
        judge.retries += done.number > 1
        if done.kind not in ("ok", "refused"):
            judge.failures[done.kind] += 1
        if done.kind in STATUSES:
            judge.cost += done.cost or 0.0
            judge.unpriced += done.cost is None
        if step.outcome is not None:
            self.ended(step.cell.judge, [step.outcome])

    def ended(self, judge: str, outcomes: Sequence[Outcome]) -> None:
        """Cells of a judge have an outcome."""
        second = int(self._clock())
        for outcome in outcomes:
            self._judges[judge].status[outcome.status] += 1
            self._judges[judge].pending -= 1
        if outcomes and not (self._ended and self._ended[-1][0] == second):
            self._ended.append((second, Counter()))
        if outcomes:
            self._ended[-1][1][judge] += len(outcomes)

    def turned(self, judge: str, state: str, why: str = "") -> None:
        """A judge rests, runs again, has stopped or is done."""
        self._judges[judge].state = state
        self._judges[judge].why = why

    def snapshot(self) -> Progress:
        """The run at this moment."""
        now = self._clock()
        judges = tuple(_frozen(name, judge) for name, judge in list(self._judges.items()))
        pending = sum(judge.pending for judge in judges)
        done = sum(sum(judge.status.values()) for judge in judges)
        recent = Counter[str]()
        for second, counts in tuple(self._ended):
            recent.update(dict(counts) if second > now - SPAN else {})
        rates = {name: count / max(1e-9, min(SPAN, now - self._begun)) for name, count in recent.items()}
        left = time_left({judge.name: judge.pending for judge in judges}, rates)
        return Progress(
            total=done + pending, done=done, in_flight=self.in_flight, per_second=sum(rates.values()),
            seconds=now - self._begun, left=left, cost=total_cost(judges), budget=self.budget,
            judges=judges, stopping=self.stopping,
        )  # fmt: skip


def time_left(pending: Mapping[str, int], rates: Mapping[str, float]) -> float | None:
    """Seconds until all judges have answered: as long as the slowest takes, and no less than all take together.

    pending : judge -> cells without an outcome; rates : judge -> cells a second, of judges of whom any ended of late

    >>> time_left({"quick": 0, "slow": 120}, {"quick": 50.0, "slow": 1.5}), time_left({"slow": 9}, {})
    (80.0, None)
    """
    together = sum(rates.values())
    if not together:
        return None
    alone = [count / rates[judge] for judge, count in pending.items() if rates.get(judge)]
    return max([sum(pending.values()) / together, *alone])


def _frozen(name: str, judge: _Judge) -> JudgeProgress:
    status = {kind: judge.status[kind] for kind in STATUSES if judge.status[kind]}
    cost = None if judge.unpriced and not judge.cost and not judge.free else judge.cost
    return JudgeProgress(
        name, judge.lane, judge.pending, status, judge.calls, judge.retries, dict(judge.failures), cost,
        judge.unpriced, judge.state, judge.why, judge.free,
    )  # fmt: skip


def total_cost(judges: Sequence[JudgeProgress]) -> float | None:
    """Dollars of all judges, where known; None where replies came and the cost of none is known."""
    known = sum(judge.cost or 0.0 for judge in judges)
    return known if known or not any(judge.unknown for judge in judges) else None


def take_over(watch: Watch, judges: Sequence[Judge], ledger: Ledger) -> None:
    """Begin a watch with what the ledger holds of earlier sessions."""
    free = [name for name, provider in ledger.providers().items() if is_free(provider)]
    lanes = {judge.name: judge.lane for judge in judges}
    watch.begin(lanes, ledger.counts(), ledger.costs(), ledger.unpriced(), free)


def is_free(provider: str) -> bool:
    """Whether judges of a provider run here and nobody is paid for them.

    >>> is_free("control"), is_free("openai"), is_free("")
    (True, False, False)
    """
    from voirdire.judging.providers.catalog import provider_names

    return bool(provider) and provider not in provider_names()
