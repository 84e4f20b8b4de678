"""Running a plan: lanes, ledger, budget and signals brought together in one asyncio process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from voirdire.judging.exposure import Exposure
from voirdire.judging.lane import Expected, Lane
from voirdire.judging.ledger import START, Ledger
from voirdire.judging.limits import Limits
from voirdire.judging.nouns import ImagePart, Judge, Outcome, Prompt, Reply, RunStopped, TextPart
from voirdire.judging.progress import Progress, Watch, take_over
from voirdire.judging.providers.capability import Capability
from voirdire.judging.spending import Budget, Price, PromptFacts, cost, cost_range, dollars, estimate
from voirdire.judging.steps import Cell, Step
from voirdire.judging.stopping import heard
from voirdire.judging.work import Asks

if TYPE_CHECKING:
    from voirdire.judging.images import ImageStore

GRACE = 10.0


class Planned(Asks, Protocol):
    """What a run asks: the plan of a grid, or anything else that makes cells into calls and says what they hold."""

    @property
    def images(self) -> ImageStore:
        """The images that prompts show."""
        ...

    def prompt(self, cell: Cell, malformed: int = 0) -> Prompt:
        """What is asked, after ``malformed`` replies that could not be read."""
        ...


@dataclass(frozen=True, slots=True)
class Tariff:
    """What is needed to say what a judge's calls cost; without a price they cost None.

    per_call : dollars that any call costs at most, whatever its tokens, where nothing is paid by tokens
    """

    capability: Capability
    parameters: Mapping[str, Any] = field(default_factory=dict)
    price: Price | None = None
    per_call: float | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """How a run ended.

    stopped : why cells are pending, to be raised when everything else is done; None when all cells have an outcome
    """

    progress: Progress
    stopped: RunStopped | None = None


async def run(
    plan: Planned,
    judges: Sequence[Judge],
    ledger: Ledger,
    *,
    limits: Limits | Mapping[str, Limits] | None = None,
    tariffs: Mapping[str, Tariff] | None = None,
    budget: Budget | None = None,
    watch: Watch | None = None,
    seed: int = 0,
    signals: bool = True,
    grace: float = GRACE,
) -> Summary:
    """Ask every pending cell of a plan that is registered in the ledger; the judges are closed at the end.

    Parameters
    ----------
    limits : for every lane, or by judge's name (the strictest of a lane's judges holds for the lane)
    tariffs : by judge's name; budget : a hard stop that knows what earlier sessions cost (``Ledger.costs``); what
        the ledger holds for calls without a known cost (``Ledger.held``) is counted here
    watch : counts what happens; seed : of the jitter of waiting times
    signals : SIGINT and SIGTERM let the calls in flight finish for ``grace`` seconds; a second one does not

    Raises RunStopped where the ledger cannot be written, and what a judge raises that is not a CallFailed. Everything
    that was committed stays, and the same call goes on.
    """
    watch = watch or Watch()
    ledger.close_exposure()
    purse = Purse(plan, carried(budget, ledger), tariffs or {}, Exposure(ledger.expose))
    sink = GroupCommit(ledger, purse.kept)
    lanes = _lanes(plan, judges, LedgerSource(ledger), sink, limits, purse, watch, np.random.default_rng(seed))
    take_over(watch, judges, ledger)
    watch.budget = purse.budget.limit
    reason = ""

    def stop(why: str) -> None:
        nonlocal reason
        reason = reason or why
        watch.stopping = True
        for lane in lanes:
            lane.stop()

    def nudge() -> None:
        for lane in lanes:
            if lane.short:
                lane.nudge()

    purse.on_change = nudge
    purse.on_end = lambda: stop("budget")
    async with AsyncExitStack() as closing:
        for judge in judges:
            closing.push_async_callback(judge.close)
        with _signals(lanes, lambda: stop("interrupt"), grace, signals):
            await _together(lanes)
    if ledger.meta("exposed") is not None:
        ledger.lose(purse.open)
    return Summary(watch.snapshot(), _why_stopped(lanes, ledger, reason, purse))


def carried(budget: Budget | None, ledger: Ledger) -> Budget:
    """The budget, or one without a limit, with what earlier sessions may have cost beside what is known."""
    found = budget or Budget()
    found.carry(ledger.held())
    return found


class GroupCommit:
    """Steps into the ledger: what arrives in one turn of the event loop is one transaction.

    kept : told of each step when it is safe
    """

    def __init__(self, ledger: Ledger, kept: Callable[[Step], object] = lambda _: None) -> None:
        self._ledger = ledger
        self._kept = kept
        self._steps: list[Step] = []
        self._outcomes: list[Outcome] = []
        self._pardons: dict[int, int] = {}
        self._waiting: list[asyncio.Future[None]] = []

    async def record(self, step: Step) -> None:
        """Keep a step."""
        self._steps.append(step)
        await self._committed()

    async def finish(self, outcomes: list[Outcome]) -> None:
        """Keep outcomes that were held back."""
        self._outcomes += outcomes
        await self._committed()

    async def pardon(self, cells: dict[int, int]) -> None:
        """Keep that failures up to an attempt no longer count."""
        self._pardons |= cells
        await self._committed()

    async def _committed(self) -> None:
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._commit)
        waiter: asyncio.Future[None] = loop.create_future()
        self._waiting.append(waiter)
        await waiter

    def _commit(self) -> None:
        steps, self._steps = self._steps, []
        outcomes, self._outcomes = self._outcomes, []
        pardons, self._pardons = self._pardons, {}
        waiting, self._waiting = self._waiting, []
        fault: Exception | None = None
        try:
            self._ledger.write(steps, outcomes, pardons)
        except Exception as error:  # noqa: BLE001 - raised in every task that waits for this commit
            fault = error
        else:
            for step in steps:
                self._kept(step)
        for waiter in waiting:
            if waiter.done():
                continue
            if fault is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(fault)


class LedgerSource:
    """Pending cells, page by page: what is done or in flight is never given twice."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._after: dict[str, tuple[int, ...]] = {}

    async def take(self, judge: str, count: int) -> list[Cell]:
        """The next cells of a judge."""
        cells = self._ledger.pending(judge, self._after.get(judge, START), count)
        if cells:
            self._after[judge] = cells[-1].place
        return cells


class Purse:
    """The budget as lanes see it.

    A call that does not fit waits for those in flight, which mostly cost less than was set aside for them. Nothing is
    in flight and it still does not fit: ``on_end``. After each settlement: ``on_change``.

    exposure : kept up to date where there is a limit
    """

    def __init__(
        self, plan: Planned, budget: Budget, tariffs: Mapping[str, Tariff], exposure: Exposure | None = None
    ) -> None:
        self.budget = budget
        self._exposure = None if budget.limit is None else exposure
        self.on_change: Callable[[], object] = lambda: None
        self.on_end: Callable[[], object] = lambda: None
        self._plan = plan
        self._tariffs = tariffs

    def expect(self, cell: Cell, malformed: int) -> Expected:
        """Dollars at most and tokens probably, of a cell's next call."""
        tariff = self._tariffs.get(cell.judge)
        if tariff is None:
            return Expected()
        if tariff.per_call is not None:
            return Expected(tariff.per_call)
        parts = self._plan.prompt(cell, malformed).parts
        texts = tuple(part.text for part in parts if isinstance(part, TextPart))
        facts = [self._plan.images.facts(part.path) for part in parts if isinstance(part, ImagePart)]
        sizes = tuple((image.sent_width, image.sent_height) for image in facts)
        tokens = estimate(PromptFacts(texts, sizes), tariff.capability, tariff.parameters)
        dollars = cost_range(tokens, tariff.price)
        return Expected(0.0 if dollars is None else dollars.high, tokens.input.expected + tokens.output.expected)

    def most(self, cell: Cell, malformed: int) -> float:
        """Dollars at most, of a cell's next call."""
        return self.expect(cell, malformed).dollars

    def price(self, judge: str, reply: Reply) -> float | None:
        """What a reply cost: as the provider says, else by the price table."""
        tariff = self._tariffs.get(judge)
        return cost(reply.usage, tariff.price) if reply.cost is None and tariff is not None else reply.cost

    def reserve(self, dollars: float) -> bool:
        """Set dollars aside."""
        if self.budget.reserve(dollars):
            if self._exposure is not None:
                self._exposure.begun(dollars)
            return True
        if self.budget.reserved == 0:
            self.on_end()
        return False

    def settle(self, reserved: float, actual: float | None) -> None:
        """A call is over."""
        self.budget.settle(reserved, actual)
        if self._exposure is not None:
            self._exposure.ended(reserved, actual)
        self.on_change()

    @property
    def open(self) -> float:
        """Dollars at most of calls that the ledger does not tell of."""
        return 0.0 if self._exposure is None else self._exposure.dollars

    def kept(self, step: Step) -> None:
        """A step is safe in the ledger, with its cost or what is held for it."""
        if self._exposure is not None:
            self._exposure.kept(step.held if step.attempt.cost is None else step.attempt.cost)


def _lanes(
    plan: Planned,
    judges: Sequence[Judge],
    source: LedgerSource,
    sink: GroupCommit,
    limits: Limits | Mapping[str, Limits] | None,
    purse: Purse,
    watch: Watch,
    rng: np.random.Generator,
) -> list[Lane]:
    by_lane: dict[str, list[Judge]] = {}
    for judge in judges:
        by_lane.setdefault(judge.lane, []).append(judge)
    lanes = []
    for members in by_lane.values():
        own = limits_of(limits, [judge.name for judge in members])
        counted = purse.budget.limit is not None or own.tokens_per_minute is not None
        spending = purse if counted else None
        (jitter,) = rng.spawn(1)
        price, most = purse.price, purse.most
        lanes.append(
            Lane(members, plan, source, sink, own, jitter, spending=spending, price=price, most=most, tally=watch)
        )
    return lanes


def limits_of(limits: Limits | Mapping[str, Limits] | None, judges: Sequence[str]) -> Limits:
    """The limits of a lane: those given, or the strictest of those of its judges.

    >>> limits_of({"a": Limits(concurrency=4), "b": Limits(requests_per_minute=60)}, ["a", "b"])
    Limits(concurrency=4, requests_per_minute=60, ...)
    """
    if limits is None:
        return Limits()
    if isinstance(limits, Limits):
        return limits
    found = [limits[judge] for judge in judges if judge in limits] or [Limits()]

    def least(values: list[float | None]) -> float | None:
        return min((value for value in values if value is not None), default=None)

    return replace(
        found[0],
        concurrency=min(one.concurrency for one in found),
        requests_per_minute=least([one.requests_per_minute for one in found]),
        tokens_per_minute=least([one.tokens_per_minute for one in found]),
    )


async def _together(lanes: Sequence[Lane]) -> None:
    """All lanes until each is over; a fault in one ends the others at once."""
    tasks = [asyncio.create_task(lane.run()) for lane in lanes]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def _signals(lanes: Sequence[Lane], stop: Callable[[], None], grace: float, wanted: bool) -> Iterator[None]:
    """While this lasts, a first signal stops gently and a second one at once."""
    loop = asyncio.get_running_loop()
    timers: list[asyncio.TimerHandle] = []

    def drop() -> None:
        for lane in lanes:
            lane.drop()

    def told() -> None:
        stop()
        if timers:
            drop()
        timers.append(loop.call_later(grace, drop))

    try:
        with heard(told, wanted):
            yield
    finally:
        for timer in timers:
            timer.cancel()


def budget_stop(budget: Budget, **counts: int) -> RunStopped:
    """The end of a run whose budget is used up."""
    money = {"spent": budget.spent, "limit": budget.limit or 0.0, "held": budget.unknown}
    return RunStopped("run.stopped_budget", **{name: dollars(value) for name, value in money.items()}, **counts)


def sentence(why: str) -> str:
    r"""The beginning of somebody's words, in one line, to stand before a full stop.

    >>> sentence("No such key.\nAt all. "), sentence("")
    ('No such key. At all', '-')
    """
    return " ".join(why[:300].split()).rstrip(" .。") or "-"


def _why_stopped(lanes: Sequence[Lane], ledger: Ledger, reason: str, purse: Purse) -> RunStopped | None:
    planned = ledger.counts()
    pending = sum(count for _, status, count in planned if status == "pending")
    if not pending:
        return None
    counts = {"pending": pending, "total": sum(count for *_, count in planned)}
    if reason == "interrupt":
        return RunStopped("run.stopped_interrupt", **counts)
    if reason == "budget":
        return budget_stop(purse.budget, **counts)
    stopped = [line for lane in lanes for line in lane.lines if line.stopped]
    if not stopped:
        return RunStopped("run.stopped_pending", **counts)
    judges = "; ".join(f"{line.judge.name}: {line.stopped}: {sentence(line.why)}" for line in stopped)
    return RunStopped("run.stopped_judges", judges=judges, **counts)
