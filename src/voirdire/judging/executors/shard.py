"""The far end of an executor: lanes that ask the cells which they are given, and keep what came of them until the
driver says that it is safe. Knows nothing of how messages travel.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from voirdire.judging.lane import Lane
from voirdire.judging.nouns import Outcome, Reply
from voirdire.judging.runner import limits_of
from voirdire.judging.spending import cost
from voirdire.judging.steps import Cell, Step

if TYPE_CHECKING:
    from voirdire.judging.executors.blueprint import Blueprint, Environment, RemoteImages
    from voirdire.judging.nouns import Judge

PATIENCE = 0.5
"""Seconds after which a shard that has nothing to say answers all the same."""


@dataclass(frozen=True, slots=True)
class Orders:
    """What the driver tells a shard.

    kept : everything up to this number is in the ledger; cells : to be asked
    finish : nothing more comes in this round; stop : begin no further call; drop : break off those in flight
    """

    kept: int = 0
    cells: tuple[Cell, ...] = ()
    finish: bool = False
    stop: bool = False
    drop: bool = False


@dataclass(frozen=True, slots=True)
class News:
    """What a shard tells the driver.

    number : of the last thing told; steps, outcomes, pardons : to be written down, in this order
    queued : judge -> cells that are not begun; stopped : judge -> (reason, the provider's words)
    in_flight : calls that are out; idle : nothing is left to do with what was given; over : the round has ended
    fault : an error of the program or of the material that ended the round
    """

    number: int
    steps: tuple[Step, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    pardons: Mapping[int, int] = field(default_factory=dict)
    queued: Mapping[str, int] = field(default_factory=dict)
    stopped: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    in_flight: int = 0
    idle: bool = False
    over: bool = False
    fault: Exception | None = None


class Outbox:
    """A sink that holds everything until the driver has it safe."""

    def __init__(self) -> None:
        self._items: deque[tuple[int, Step | list[Outcome] | dict[int, int], asyncio.Future[None]]] = deque()
        self._number = 0
        self.filled = asyncio.Event()

    async def record(self, step: Step) -> None:
        """Keep a step."""
        await self._put(step)

    async def finish(self, outcomes: list[Outcome]) -> None:
        """Keep outcomes that were held back."""
        await self._put(outcomes)

    async def pardon(self, cells: dict[int, int]) -> None:
        """Keep that failures no longer count."""
        await self._put(cells)

    async def _put(self, item: Step | list[Outcome] | dict[int, int]) -> None:
        self._number += 1
        safe: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._items.append((self._number, item, safe))
        self.filled.set()
        await safe

    @property
    def empty(self) -> bool:
        """Whether everything is in the ledger."""
        return not self._items

    def release(self, kept: int) -> None:
        """Everything up to a number is in the ledger."""
        while self._items and self._items[0][0] <= kept:
            _, _, safe = self._items.popleft()
            if not safe.done():
                safe.set_result(None)

    def held(self) -> tuple[int, list[Step], list[Outcome], dict[int, int]]:
        """The last number, and everything that is not known to be in the ledger."""
        steps: list[Step] = []
        outcomes: list[Outcome] = []
        pardons: dict[int, int] = {}
        for _, item, _ in self._items:
            if isinstance(item, Step):
                steps.append(item)
            elif isinstance(item, list):
                outcomes += item
            else:
                pardons |= item
        return (self._items[-1][0] if self._items else 0), steps, outcomes, pardons


class Given:
    """A source of what the driver gave."""

    def __init__(self) -> None:
        self._cells: dict[str, deque[Cell]] = {}
        self.finished = False

    def put(self, cells: Sequence[Cell]) -> None:
        """More cells."""
        for cell in cells:
            self._cells.setdefault(cell.judge, deque()).append(cell)

    def queued(self, judge: str) -> int:
        """Cells of a judge that no lane has taken."""
        return len(self._cells.get(judge, ()))

    async def take(self, judge: str, count: int) -> list[Cell] | None:
        """The next cells of a judge; None where more may come."""
        cells = self._cells.get(judge)
        if not cells:
            return [] if self.finished else None
        return [cells.popleft() for _ in range(min(count, len(cells)))]


class Shard:
    """One worker. ``begin`` once, then ``exchange`` again and again, then ``close``."""

    def __init__(self, blueprint: Blueprint, number: int = 0) -> None:
        self._blueprint = blueprint
        self._rng = np.random.default_rng([blueprint.seed, number])
        self._plan = blueprint.plan()
        self._judges: list[Judge] = []
        self._lanes: list[Lane] = []
        self._outbox = Outbox()
        self._given = Given()
        self._round: asyncio.Task[None] | None = None
        self._fault: Exception | None = None

    async def begin(self, environment: Environment) -> tuple[str, ...]:
        """Make the judges; keys come over the wire only here and stay in this process."""
        self._judges = self._blueprint.judges(self._plan, environment.here())
        return tuple(judge.name for judge in self._judges)

    async def missing(self, paths: Sequence[Path]) -> list[Path]:
        """Those of these images that this machine lacks."""
        return self._images.missing(paths)

    async def keep(self, path: Path, data: bytes) -> None:
        """Keep an image that this machine lacks."""
        self._images.keep(path, data)

    async def exchange(self, orders: Orders) -> News:
        """Take orders, wait for news for a moment, and tell everything that the driver does not have yet."""
        self._outbox.release(orders.kept)
        self._obey(orders)
        if self._outbox.empty:
            self._outbox.filled.clear()
            waiter = asyncio.ensure_future(self._outbox.filled.wait())
            others = {self._round} if self._round is not None else set()
            await asyncio.wait({waiter, *others}, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
            waiter.cancel()
        return self._news()

    async def close(self) -> None:
        """Give connections and files back."""
        if self._round is not None:
            self._round.cancel()
            await asyncio.wait({self._round})
        for judge in self._judges:
            await judge.close()
        self._images.close()

    @property
    def _images(self) -> RemoteImages:
        from voirdire.judging.executors.blueprint import RemoteImages

        store = self._plan.images
        assert isinstance(store, RemoteImages)
        return store

    def _obey(self, orders: Orders) -> None:
        if orders.cells and (self._round is None or self._round.done()):
            self._start()
        self._given.put(orders.cells)
        if orders.finish:
            self._given.finished = True
        for lane in self._lanes:
            if orders.drop:
                lane.drop()
            elif orders.stop:
                lane.stop()
            else:
                lane.nudge()

    def _start(self) -> None:
        """A round: fresh lanes, which end when the driver says that there are no more cells."""
        self._given = Given()
        by_lane: dict[str, list[Judge]] = {}
        for judge in self._judges:
            by_lane.setdefault(judge.lane, []).append(judge)
        rngs = self._rng.spawn(len(by_lane))
        self._lanes = [
            Lane(
                members,
                self._plan,
                self._given,
                self._outbox,
                limits_of(self._blueprint.limits, [judge.name for judge in members]),
                rng,
                price=self._price,
            )
            for members, rng in zip(by_lane.values(), rngs, strict=True)
        ]
        self._round = asyncio.ensure_future(self._run(self._lanes))

    async def _run(self, lanes: Sequence[Lane]) -> None:
        tasks = [asyncio.ensure_future(lane.run()) for lane in lanes]
        try:
            await asyncio.gather(*tasks)
        except Exception as error:  # noqa: BLE001 - told to the driver, which raises it
            self._fault = error
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    def _price(self, judge: str, reply: Reply) -> float | None:
        return cost(reply.usage, self._blueprint.prices.get(judge)) if reply.cost is None else reply.cost

    def _news(self) -> News:
        number, steps, outcomes, pardons = self._outbox.held()
        lines = [line for lane in self._lanes for line in lane.lines]
        queued = {judge.name: 0 for judge in self._judges}
        for line in lines:
            if not line.stopped:
                queued[line.judge.name] = self._given.queued(line.judge.name) + len(line.fresh)
        over = self._round is None or self._round.done()
        empty = self._outbox.empty
        return News(
            number,
            tuple(steps),
            tuple(outcomes),
            pardons,
            queued,
            {line.judge.name: (line.stopped, line.why) for line in lines if line.stopped},
            sum(lane.in_flight for lane in self._lanes),
            idle=empty and not any(queued.values()) and all(lane.idle for lane in self._lanes),
            over=over and empty,
            fault=self._fault,
        )
