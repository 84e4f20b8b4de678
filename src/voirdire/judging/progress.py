"""What a run has done so far: counted as it happens, read at any time from any thread."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from voirdire.judging.nouns import Outcome
from voirdire.judging.steps import Step

SPAN = 60.0
STATUSES = ("ok", "malformed", "refused", "error")


@dataclass(frozen=True, slots=True)
class JudgeProgress:
    """One judge: cells by status (of this run and of earlier ones), and what this session did.

    pending : cells without an outcome; calls : made in this session; retries : of them, not the first of their cell
    failures : kind -> calls without a reply (rate_limit, server, ...), or a malformed one
    cost : dollars of all sessions, where known; unpriced : replies of this session whose cost is unknown
    state : ``running``, ``resting`` (it only failed of late), ``stopped`` or ``done``; why : of a stop, untrusted
    """

    name: str
    lane: str
    pending: int
    status: dict[str, int]
    calls: int = 0
    retries: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    cost: float = 0.0
    unpriced: int = 0
    state: str = "running"
    why: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """A run at one moment.

    total, done : planned cells, and those with an outcome (earlier sessions included)
    in_flight : calls that are out; per_second : cells finished a second over the last minute; seconds : of this session
    left : seconds until the end at that rate, or None while it is unknown
    cost : dollars of all sessions; budget : the limit, or None; stopping : the run is being stopped
    """

    total: int
    done: int
    in_flight: int
    per_second: float
    seconds: float
    left: float | None
    cost: float
    budget: float | None
    judges: tuple[JudgeProgress, ...]
    stopping: bool = False


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
        self._ended: deque[list[int]] = deque(maxlen=int(SPAN) + 1)
        self.in_flight = 0
        self.budget: float | None = None
        self.stopping = False

    def begin(self, lanes: dict[str, str], counts: Iterable[tuple[str, str, int]], costs: dict[str, float]) -> None:
        """Take over what earlier sessions did.

        lanes : judge -> lane; counts : (judge, status or ``pending``, cells); costs : judge -> dollars
        """
        self._begun = self._clock()
        self._judges = {name: _Judge(lane, cost=costs.get(name, 0.0)) for name, lane in lanes.items()}
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
        if self._ended and self._ended[-1][0] == second:
            self._ended[-1][1] += len(outcomes)
        elif outcomes:
            self._ended.append([second, len(outcomes)])

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
        recent = sum(count for second, count in tuple(self._ended) if second > now - SPAN)
        rate = recent / max(1e-9, min(SPAN, now - self._begun)) if recent else 0.0
        return Progress(
            total=done + pending, done=done, in_flight=self.in_flight, per_second=rate, seconds=now - self._begun,
            left=pending / rate if rate else None, cost=sum(judge.cost for judge in judges), budget=self.budget,
            judges=judges, stopping=self.stopping,
        )  # fmt: skip


def _frozen(name: str, judge: _Judge) -> JudgeProgress:
    status = {kind: judge.status[kind] for kind in STATUSES if judge.status[kind]}
    return JudgeProgress(
        name, judge.lane, judge.pending, status, judge.calls, judge.retries, dict(judge.failures), judge.cost,
        judge.unpriced, judge.state, judge.why,
    )  # fmt: skip
