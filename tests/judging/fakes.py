"""Fakes for the engine: an event loop whose time is simulated, servers with limits, judges, a sink in memory."""

from __future__ import annotations

import asyncio
import selectors
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from voirdire.corpus.shown import Item
from voirdire.judging.nouns import Call, CallFailed, Outcome, Prompt, Reply, Usage
from voirdire.judging.steps import Cell, Shown, Step

LEVELS = (1, 2, 3, 4, 5)
T = TypeVar("T")


class HangsError(AssertionError):
    """Nothing will ever happen in the simulation."""


class _Selector(selectors.SelectSelector):
    """Never waits: the loop's time jumps to when the next timer is due."""

    loop: SimulatedLoop

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise HangsError
        if timeout > 0:
            self.loop.now += timeout
        return super().select(0)


class SimulatedLoop(asyncio.SelectorEventLoop):
    """Hours of waiting in milliseconds."""

    def __init__(self) -> None:
        self.now = 1000.0
        selector = _Selector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.now


def simulate(main: Callable[[], Coroutine[Any, Any, T]]) -> tuple[T, float]:
    """The result of a coroutine, and the simulated seconds that it took."""
    loop = SimulatedLoop()
    try:
        asyncio.set_event_loop(loop)
        result = loop.run_until_complete(main())
        return result, loop.now - 1000.0
    finally:
        asyncio.set_event_loop(None)
        loop.close()


class Asks:
    """A plan without material."""

    def call(self, cell: Cell, number: int, malformed: int) -> Call:
        prompt = Prompt((), "en", digest=f"{malformed:016x}")
        return Call(f"r-{cell.id}-{number}", prompt, Item(cell.item), cell.condition, cell.question, 1, LEVELS)

    def shown(self, cell: Cell) -> Shown:
        return Shown()


class Source:
    """Cells from a list, by judge."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        self.left: dict[str, deque[Cell]] = {}
        for cell in cells:
            self.left.setdefault(cell.judge, deque()).append(cell)

    async def take(self, judge: str, count: int) -> list[Cell]:
        left = self.left.get(judge, deque())
        return [left.popleft() for _ in range(min(count, len(left)))]


class Sink:
    """Steps in a list; refuses a cell's second outcome and an attempt's second writing, as the ledger does."""

    def __init__(self, fail_after: int | None = None, fault: Exception | None = None) -> None:
        self.steps: list[Step] = []
        self.outcomes: dict[int, Outcome] = {}
        self.pardons: dict[int, int] = {}
        self.fail_after, self.fault = fail_after, fault
        self._seen: set[tuple[int, int]] = set()

    async def record(self, step: Step) -> None:
        await asyncio.sleep(0)
        if self.fault is not None and len(self.steps) == self.fail_after:
            raise self.fault
        key = (step.attempt.cell, step.attempt.number)
        assert key not in self._seen
        self._seen.add(key)
        self.steps.append(step)
        if step.outcome is not None:
            await self.finish([step.outcome])

    async def finish(self, outcomes: list[Outcome]) -> None:
        for outcome in outcomes:
            assert outcome.cell not in self.outcomes
            self.outcomes[outcome.cell] = outcome

    async def pardon(self, cells: dict[int, int]) -> None:
        self.pardons |= cells

    @property
    def statuses(self) -> Counter[str]:
        return Counter(outcome.status for outcome in self.outcomes.values())

    @property
    def kinds(self) -> Counter[str]:
        return Counter(step.attempt.kind for step in self.steps)


class FakeJudge:
    """Answers as ``answer`` says: a Reply, or an exception to raise; after ``seconds``, failures at once."""

    settings: Mapping[str, Any] = MappingProxyType({})

    def __init__(
        self,
        answer: Callable[[Call], Reply | Exception],
        name: str = "j",
        lane: str = "lane",
        seconds: float = 0.0,
        failing_seconds: float = 0.0,
    ) -> None:
        self.answer, self.name, self.lane = answer, name, lane
        self.seconds, self.failing_seconds = seconds, failing_seconds
        self.calls: list[tuple[float, str]] = []
        self.in_flight = self.most_in_flight = 0
        self.closed = 0

    async def ask(self, call: Call) -> Reply:
        self.calls.append((asyncio.get_running_loop().time(), call.id))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            answer = self.answer(call)
            await asyncio.sleep(self.failing_seconds if isinstance(answer, Exception) else self.seconds)
        finally:
            self.in_flight -= 1
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None:
        self.closed += 1


def good(call: Call) -> Reply:
    """A rating."""
    return Reply("4", served="m-1", usage=Usage(100, 1))


def cells(count: int, judges: Sequence[str] = ("j",)) -> list[Cell]:
    """Cells of one condition, item by item."""
    made = []
    for number in range(count):
        item, judge = divmod(number, len(judges))
        made.append(Cell(number + 1, f"i{item}", "neutral_en", "q", 1, judges[judge], (item, 1, 1, 1, judge)))
    return made


def cell_of(call: Call) -> int:
    """The number of a call's cell."""
    return int(call.id.split("-")[1])


def attempt_of(call: Call) -> int:
    """The number of a call within its cell."""
    return int(call.id.split("-")[2])


class Bucket:
    """A server that lets ``rate`` calls a second through, ``burst`` at once, and refuses the others."""

    def __init__(self, clock: Callable[[], float], rate: float, burst: float, retry_after: float | None = 1.0) -> None:
        self.clock, self.rate, self.burst, self.retry_after = clock, rate, burst, retry_after
        self.tokens, self.at = burst, clock()
        self.refused = 0

    def __call__(self, call: Call) -> Reply | Exception:
        now = self.clock()
        self.tokens = min(self.burst, self.tokens + (now - self.at) * self.rate)
        self.at = now
        if self.tokens >= 1 - 1e-9:
            self.tokens -= 1
            return good(call)
        self.refused += 1
        return CallFailed("rate_limit", "slow down", status=429, retry_after=self.retry_after)


class Window:
    """A server that lets ``count`` calls through in each window of ``seconds``, and says when the next one begins."""

    def __init__(self, clock: Callable[[], float], count: int, seconds: float) -> None:
        self.clock, self.count, self.seconds = clock, count, seconds
        self.window, self.used, self.refused = -1, 0, 0

    def __call__(self, call: Call) -> Reply | Exception:
        now = self.clock()
        window = int(now // self.seconds)
        if window != self.window:
            self.window, self.used = window, 0
        if self.used < self.count:
            self.used += 1
            return good(call)
        self.refused += 1
        left = (window + 1) * self.seconds - now
        return CallFailed("rate_limit", "slow down", status=429, retry_after=left)
