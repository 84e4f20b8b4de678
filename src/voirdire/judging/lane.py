"""A lane: the judges that share a server's limits, and the order, pace and patience with which they are asked."""

from __future__ import annotations

import asyncio
import heapq
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from voirdire.judging.limits import Breaker, Limits, Pace, Quota, pause_after, wait_as_told
from voirdire.judging.nouns import CallFailed, Judge, Outcome
from voirdire.judging.steps import Cell, Sink, Source, Step
from voirdire.judging.work import COUNTED, FAILED_ATTEMPTS, Asks, Job, Price, ask, named_cost

Most = Callable[[Cell, int], float]
"""(cell, malformed replies) -> what its next call can cost at most, in dollars."""

PAGE = 64
REFUSALS = ("rate_limit", "overload")
ONE_JUDGE = (403, 404)
"""Statuses that may concern one model only: that judge stops, not its lane."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a call is expected to use: dollars at most, and tokens (0 where nobody knows)."""

    dollars: float = 0.0
    tokens: float = 0.0


class Spending(Protocol):
    """What calls may cost."""

    def expect(self, cell: Cell, malformed: int) -> Expected:
        """What the call of a cell may use, after replies that could not be read."""
        ...

    def reserve(self, dollars: float) -> bool:
        """Set dollars aside; False when they are not left."""
        ...

    def settle(self, reserved: float, actual: float | None) -> None:
        """What was set aside for a call, and what it cost; None where that is unknown."""
        ...


class Tally(Protocol):
    """Who wants to know what happens (``progress.Watch``)."""

    def flying(self, change: int) -> None:
        """Calls went out or came back."""
        ...

    def stepped(self, step: Step) -> None:
        """A step was kept."""
        ...

    def ended(self, judge: str, outcomes: Sequence[Outcome]) -> None:
        """Outcomes that had been held back were kept."""
        ...

    def turned(self, judge: str, state: str, why: str = "") -> None:
        """A judge rests, runs again, has stopped or is done."""
        ...


@dataclass(frozen=True, slots=True)
class Begun:
    """The start of a call: when, how many others were open, and what was expected of it."""

    at: float
    others: int
    expected: Expected


@dataclass(slots=True)
class Line:
    """The cells of one judge in its lane.

    fresh : cells to ask, in order; done : the source has no more; again : jobs whose wait is over, a heap by place
    held : jobs that failed for good while it is not known whether the judge works at all
    stopped : why it is not asked any more (auth, quota, failing, limited), else empty; why : the last failure's words
    """

    judge: Judge
    breaker: Breaker
    fresh: deque[Cell] = field(default_factory=deque)
    again: list[tuple[tuple[int, ...], Job]] = field(default_factory=list)
    done: bool = False
    in_flight: int = 0
    held: list[Job] = field(default_factory=list)
    stopped: str = ""
    why: str = ""

    def head(self, fresh: bool) -> tuple[int, ...] | None:
        """The place of the cell that is next; fresh : whether cells may be begun."""
        first = self.again[0][0] if self.again else None
        if fresh and self.fresh and (first is None or self.fresh[0].place < first):
            return self.fresh[0].place
        return first

    def pop(self, fresh: bool) -> Job:
        """Take the cell that is next."""
        if fresh and self.fresh and (not self.again or self.fresh[0].place < self.again[0][0]):
            return Job.of(self.fresh.popleft())
        return heapq.heappop(self.again)[1]


class Lane:
    """Asks the cells of its judges until there are no more, everything has stopped, or ``stop`` is called.

    A slot is held from the start of a call until what came of it is safe in the sink; a cell that waits holds none.
    ``run`` raises what the sink raises (a full disk), and what a judge raises beside CallFailed.

    judges : all of this lane; rng : jitter; spending : None where nothing is counted
    most : asked without ``spending``, for a call whose cost nobody told
    """

    def __init__(
        self,
        judges: Sequence[Judge],
        asks: Asks,
        source: Source,
        sink: Sink,
        limits: Limits,
        rng: np.random.Generator,
        *,
        spending: Spending | None = None,
        price: Price = named_cost,
        most: Most = lambda _cell, _malformed: 0.0,
        tally: Tally | None = None,
    ) -> None:
        self.lines = [Line(judge, Breaker(limits)) for judge in judges]
        self.limits = limits
        self.pace = Pace(limits.concurrency)
        self.short = False
        self._asks, self._source, self._sink, self._rng = asks, source, sink, rng
        self._spending, self._price, self._tally = spending, price, tally
        self._most = most
        self._requests = Quota(limits.requests_per_minute) if limits.requests_per_minute else None
        self._tokens = Quota(limits.tokens_per_minute) if limits.tokens_per_minute else None
        self._waiting: list[tuple[float, tuple[int, ...], Job, Line]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = False
        self._fault: BaseException | None = None
        self._wake = asyncio.Event()
        self._let_through_at = 0.0

    @property
    def in_flight(self) -> int:
        """Calls that are out, or whose step is not safe yet."""
        return len(self._tasks)

    @property
    def idle(self) -> bool:
        """Whether nothing is out, waits or is to be asked."""
        queued = any(not line.stopped and (line.fresh or line.again) for line in self.lines)
        return not (self._tasks or queued or any(not entry[3].stopped for entry in self._waiting))

    def stop(self) -> None:
        """Begin no further call; ``run`` returns when those in flight are over."""
        self._stopping = True
        self._wake.set()

    def drop(self) -> None:
        """Begin no further call and break off those in flight: they will be asked again."""
        self.stop()
        for task in self._tasks:
            task.cancel()

    def nudge(self) -> None:
        """Look again whether a call may start."""
        self._wake.set()

    async def run(self) -> None:
        """Ask all cells."""
        loop = asyncio.get_running_loop()
        self._clock = loop.time
        self._let_through_at = loop.time()
        try:
            while self._fault is None and not await self._over():
                self._wake.clear()
                await self._sleep(self._launch())
        finally:
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)
        if self._fault is not None:
            raise self._fault
        if not self._stopping:
            await self._conclude()

    async def _over(self) -> bool:
        """Whether nothing is left to do; asks the source for more cells where a line runs out."""
        if not self._stopping:
            for line in self.lines:
                if not line.done and not line.stopped and len(line.fresh) < self.limits.concurrency:
                    cells = await self._source.take(line.judge.name, max(PAGE, 2 * self.limits.concurrency))
                    line.fresh.extend(cells or ())
                    line.done = cells == []
        if self._tasks:
            return False
        left = any(not line.stopped and (line.fresh or line.again or not line.done) for line in self.lines)
        return self._stopping or not (left or any(not entry[3].stopped for entry in self._waiting))

    async def _sleep(self, seconds: float) -> None:
        if seconds <= 0 or self._fault is not None:
            return
        timer = None
        if seconds < math.inf:
            timer = asyncio.get_running_loop().call_later(seconds, self._wake.set)
        await self._wake.wait()
        if timer is not None:
            timer.cancel()

    def _launch(self) -> float:
        """Start every call that may start now. Seconds until the next may (infinite: when something happens)."""
        while not self._stopping:
            now = self._clock()
            self._bring_back(now)
            wait = self.pace.wait(now, self.in_flight)
            if self._requests is not None:
                wait = max(wait, self._requests.wait(now))
            if wait > 0:
                return wait
            line, wait = self._choose(now)
            if line is None:
                return min(wait, self._waiting[0][0] - now) if self._waiting else wait
            wait = self._start(line, now)
            if wait > 0:
                return wait
        return math.inf

    def _bring_back(self, now: float) -> None:
        while self._waiting and self._waiting[0][0] <= now:
            _, place, job, line = heapq.heappop(self._waiting)
            heapq.heappush(line.again, (place, job))

    def _choose(self, now: float) -> tuple[Line | None, float]:
        """The line whose cell is next by place, or None and the seconds until a resting judge may be tried."""
        begin = self._may_begin()
        best: tuple[tuple[int, ...], Line] | None = None
        soonest = math.inf
        for line in self.lines:
            head = None if line.stopped else line.head(begin)
            if head is None:
                continue
            rest = line.breaker.wait(now, line.in_flight)
            soonest = min(soonest, rest)
            if rest <= 0 and (best is None or head < best[0]):
                best = head, line
        return (None, soonest) if best is None else (best[1], 0.0)

    def _may_begin(self) -> bool:
        """New cells are not begun while very many wait to be asked again: memory stays flat and order kept."""
        return len(self._waiting) < max(64, 4 * self.limits.concurrency)

    def _start(self, line: Line, now: float) -> float:
        job = line.pop(self._may_begin())
        expected = self._spending.expect(job.cell, job.malformed) if self._spending is not None else Expected()
        if self._tokens is not None and (wait := self._tokens.wait(now, expected.tokens)) > 0:
            heapq.heappush(line.again, (job.cell.place, job))
            return wait
        if self._spending is not None and not self._spending.reserve(expected.dollars):
            heapq.heappush(line.again, (job.cell.place, job))
            self.short = True
            return math.inf
        self.short = False
        for quota, units in ((self._requests, 1.0), (self._tokens, expected.tokens)):
            if quota is not None:
                quota.take(now, units)
        self.pace.started(now)
        line.in_flight += 1
        if self._tally is not None:
            self._tally.flying(1)
        task = asyncio.create_task(self._attempt(line, job, Begun(now, self.in_flight, expected)))
        self._tasks.add(task)
        task.add_done_callback(lambda ended: self._ended(ended, line))
        return 0.0

    def _ended(self, task: asyncio.Task[None], line: Line) -> None:
        self._tasks.discard(task)
        line.in_flight -= 1
        if self._tally is not None:
            self._tally.flying(-1)
        if not task.cancelled() and task.exception() is not None and self._fault is None:
            self._fault = task.exception()
        self._wake.set()

    async def _attempt(self, line: Line, job: Job, begun: Begun) -> None:
        cost: float | None = None
        malformed = job.malformed
        try:
            step, failure = await ask(job, line.judge, self._asks, self._clock, self._price)
            cost = 0.0 if failure is not None and failure.free else step.attempt.cost
        finally:
            if self._spending is not None:
                self._spending.settle(begun.expected.dollars, cost)
        if cost is None:
            counted = self._spending is not None
            step = replace(step, held=begun.expected.dollars if counted else self._most(job.cell, malformed))
        if self._tokens is not None:
            used = (step.attempt.usage.input or 0) + (step.attempt.usage.output or 0)
            self._tokens.take(self._clock(), used - begun.expected.tokens if used else 0.0)
        if failure is None:
            await self._replied(line, job, step, begun)
        else:
            await self._failed(line, job, step, failure, begun)

    async def _replied(self, line: Line, job: Job, step: Step, begun: Begun) -> None:
        now = self._clock()
        self._let_through_at = now
        self.pace.answered(begun.others)
        rested = line.breaker.opened
        line.breaker.replied()
        held = [_error(other) for other in line.held]
        line.held.clear()
        await self._sink.record(step)
        if held:
            await self._sink.finish(held)
        if self._tally is not None:
            self._tally.stepped(step)
            self._tally.ended(line.judge.name, held)
            if rested:
                self._tally.turned(line.judge.name, "running")
        if step.outcome is None:
            self._put_off(line, job, now)

    async def _failed(self, line: Line, job: Job, step: Step, failure: CallFailed, begun: Begun) -> None:
        """Keep a failed call; its cell waits, or ends as an error.

        An error is a verdict on the cell only while the judge is known to work: otherwise it is held back until the
        judge's next reply, and forgotten when the breaker opens first.
        """
        now = self._clock()
        self._learn(line, failure, now, begun)
        works = self.limits.final or (line.breaker.proven and job.cell.id not in line.breaker.row)
        job.count(failure.kind, line.breaker.epoch)
        forgiven = self._opens(line, job, failure, now, begun)
        final = not forgiven and (failure.kind == "request" or job.failures >= FAILED_ATTEMPTS)
        step = replace(step, outcome=_error(job) if final and works else None)
        await self._sink.record(step)
        if forgiven:
            await self._sink.pardon(forgiven)
        if self._tally is not None:
            self._tally.stepped(step)
        if not final:
            self._put_off(line, job, now + self._pause(job, failure))
        elif not works:
            line.why = failure.why
            line.held.append(job)

    def _learn(self, line: Line, failure: CallFailed, now: float, begun: Begun) -> None:
        """What a failure says of the server as a whole."""
        if failure.kind in REFUSALS:
            self.pace.refused(now, begun.at, failure.retry_after, begun.others, self.in_flight - 1)
            if max(failure.retry_after or 0.0, now - self._let_through_at) > self.limits.patience:
                self._halt(self.lines, "limited", failure.why)
        elif failure.kind in ("auth", "quota"):
            alone = failure.kind == "auth" and failure.status in ONE_JUDGE
            self._halt([line] if alone else self.lines, failure.kind, failure.why)
        elif failure.kind == "timeout":
            self.pace.timed_out(now, begun.at)
        elif failure.status is not None:
            self._let_through_at = now
            self.pace.answered(begun.others)

    def _opens(self, line: Line, job: Job, failure: CallFailed, now: float, begun: Begun) -> dict[int, int]:
        """The cells that are forgiven (with their last attempts) where this failure opens the line's breaker."""
        breaker = line.breaker
        refused = failure.kind == "request" and not breaker.proven and not self.limits.final
        counts = failure.kind in COUNTED or refused
        if not counts or not breaker.failed(now, begun.at, job.cell.id, job.attempts):
            return {}
        if breaker.stopped:
            self._halt([line], "failing", failure.why)
        elif self._tally is not None:
            self._tally.turned(line.judge.name, "resting", failure.why)
        for other in line.held:
            self._put_off(line, other, now)
        line.held.clear()
        forgiven = dict(breaker.row)
        breaker.row.clear()
        return forgiven

    def _pause(self, job: Job, failure: CallFailed) -> float:
        if failure.retry_after is not None:
            return wait_as_told(min(failure.retry_after, self.limits.patience), self._rng)
        return pause_after(job.refused if failure.kind in REFUSALS else job.failures, self.limits, self._rng)

    def _put_off(self, line: Line, job: Job, until: float) -> None:
        """A cell waits to be asked again; it holds no slot."""
        heapq.heappush(self._waiting, (until, job.cell.place, job, line))

    def _halt(self, lines: Sequence[Line], reason: str, why: str) -> None:
        """Judges are not asked any more; their cells stay pending."""
        for line in lines:
            if not line.stopped:
                line.stopped, line.why = reason, why
                line.held.clear()
                if self._tally is not None:
                    self._tally.turned(line.judge.name, "stopped", why)

    async def _conclude(self) -> None:
        """At the end: what is still held back is an error where the judge has worked, else it stays pending."""
        for line in self.lines:
            if line.stopped:
                continue
            if line.held and not line.breaker.proven:
                await self._sink.pardon(dict(line.breaker.row))
                self._halt([line], "failing", line.why)
                continue
            outcomes = [_error(job) for job in line.held]
            if outcomes:
                await self._sink.finish(outcomes)
            if self._tally is not None:
                self._tally.ended(line.judge.name, outcomes)
                self._tally.turned(line.judge.name, "done")


def _error(job: Job) -> Outcome:
    return Outcome(job.cell.id, "error", None, job.attempts)
