"""The near end of an executor: deals cells to shards, writes down what came of them, and takes back what a lost one
had. The driver alone writes the ledger.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from voirdire.judging.executors.blueprint import pictures
from voirdire.judging.executors.shard import News, Orders
from voirdire.judging.nouns import RunStopped
from voirdire.judging.runner import LedgerSource, Summary
from voirdire.judging.steps import Cell, Step
from voirdire.judging.stopping import heard
from voirdire.judging.work import COUNTED

if TYPE_CHECKING:
    from voirdire.judging.executors.blueprint import Environment
    from voirdire.judging.ledger import Ledger
    from voirdire.judging.plan import Plan
    from voirdire.judging.progress import Watch

PAGE = 32
"""Cells of a judge that a shard has in stock at least, where its concurrency does not ask for more."""

SILENCE = 60.0
"""Seconds without an answer after which a shard counts as lost; one with nothing to say answers every half second."""

STARTING = 180.0
GRACE = 10.0


class LostError(Exception):
    """A shard that can no longer be reached."""


class Handle(Protocol):
    """A shard as the driver sees it. Every method raises LostError when the shard cannot be reached."""

    name: str

    async def begin(self, environment: Environment) -> None:
        """Make the judges there."""
        ...

    async def missing(self, paths: Sequence[Path]) -> list[Path]:
        """Those of these images that it lacks."""
        ...

    async def keep(self, path: Path, data: bytes) -> None:
        """Give it an image."""
        ...

    async def exchange(self, orders: Orders) -> News:
        """Give orders, get news."""
        ...

    async def close(self) -> None:
        """End it."""
        ...


@dataclass(slots=True)
class Member:
    """A shard and what it has.

    given : cells that it was dealt and that have no outcome, as they stand now; seen : images that it has
    stopped : judge -> (reason, words); kept : number of its last news that is in the ledger
    """

    handle: Handle
    given: dict[int, Cell] = field(default_factory=dict)
    seen: set[Path] = field(default_factory=set)
    stopped: dict[str, tuple[str, str]] = field(default_factory=dict)
    queued: Mapping[str, int] = field(default_factory=dict)
    kept: int = 0
    in_flight: int = 0
    idle: bool = True
    over: bool = True


class Fleet:
    """Shards that ask the pending cells of a plan together.

    concurrency : of one shard, by judge
    lost : names of shards that could not be reached any more
    """

    def __init__(
        self, plan: Plan, ledger: Ledger, handles: Sequence[Handle], watch: Watch, concurrency: Mapping[str, int]
    ) -> None:
        self._plan, self._ledger, self._watch = plan, ledger, watch
        self._members = [Member(handle) for handle in handles]
        self._source = LedgerSource(ledger)
        self._judges = [spec.name for spec in plan.specs]
        self._back: dict[str, deque[Cell]] = {judge: deque() for judge in self._judges}
        self._dry: set[str] = set()
        self._stock = {judge: max(PAGE, 2 * concurrency.get(judge, 0)) for judge in self._judges}
        self._left = {judge: count for judge, status, count in ledger.counts() if status == "pending"}
        self._stop = self._drop = False
        self.lost: list[str] = []

    async def run(self, environment: Environment, *, signals: bool = True, grace: float = GRACE) -> Summary:
        """Ask every pending cell. Raises what went wrong in a shard, and RunStopped when the ledger takes nothing."""
        with heard(lambda: self._interrupt(grace), signals):
            tasks = [asyncio.ensure_future(self._accompany(member, environment)) for member in list(self._members)]
            try:
                await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)
        return Summary(self._watch.snapshot(), self._why_stopped())

    def _interrupt(self, grace: float) -> None:
        self._drop = self._stop
        self._stop = self._watch.stopping = True
        asyncio.get_running_loop().call_later(grace, self._hurry)

    def _hurry(self) -> None:
        self._drop = True

    async def _accompany(self, member: Member, environment: Environment) -> None:
        """One shard from its beginning to its end, or until it is lost."""
        here = True
        try:
            async with asyncio.timeout(STARTING):
                await member.handle.begin(environment)
            while not self._finished(member):
                cells = [] if self._stop else await self._deal(member)
                finish = not cells and member.idle and not member.over
                orders = Orders(member.kept, tuple(cells), finish, self._stop, self._drop)
                async with asyncio.timeout(SILENCE):
                    news = await member.handle.exchange(orders)
                await self._hear(member, news)
        except (LostError, TimeoutError):
            here = False
            self._lose(member)
        finally:
            if here:
                await self._close(member)

    async def _close(self, member: Member) -> None:
        try:
            async with asyncio.timeout(SILENCE):
                await member.handle.close()
        except (LostError, TimeoutError):
            self.lost.append(member.handle.name)

    def _finished(self, member: Member) -> bool:
        """Whether this shard will not be needed any more."""
        if not member.over:
            return False
        if self._stop:
            return True
        if any(other.given for other in self._members):
            return False
        return not any(self._may_have(judge) for judge in self._judges)

    def _may_have(self, judge: str) -> bool:
        """Whether there are cells of a judge that some shard would take."""
        wanted = any(judge not in member.stopped for member in self._members)
        return wanted and (bool(self._back[judge]) or judge not in self._dry)

    async def _deal(self, member: Member) -> list[Cell]:
        """Further cells for a shard that will soon have none, with the images that it lacks."""
        cells: list[Cell] = []
        for judge in self._judges:
            if judge not in member.stopped and member.queued.get(judge, 0) < self._stock[judge]:
                cells += await self._take(judge)
        member.given.update((cell.id, cell) for cell in cells)
        paths = [path for path in pictures(self._plan, cells) if path not in member.seen]
        for path in await member.handle.missing(paths) if paths else ():
            await member.handle.keep(path, await asyncio.to_thread(path.read_bytes))
        member.seen.update(paths)
        if cells:
            member.idle = member.over = False
        return cells

    async def _take(self, judge: str) -> list[Cell]:
        """The next cells of a judge: at most half of a fair share of those that are left, so that all end together."""
        back = self._back[judge]
        if judge not in self._dry and not back:
            fair = -(-self._left.get(judge, 0) // (2 * len(self._members)))
            cells = await self._source.take(judge, max(1, min(self._stock[judge], fair)))
            self._left[judge] = self._left.get(judge, 0) - len(cells)
            if not cells:
                self._dry.add(judge)
            return cells
        fair = -(-len(back) // len(self._members))
        return [back.popleft() for _ in range(min(self._stock[judge], fair))]

    async def _hear(self, member: Member, news: News) -> None:
        """Write down what a shard tells, then take back what it will not ask."""
        steps = [step for step in news.steps if step.cell.id in member.given]
        outcomes = [outcome for outcome in news.outcomes if outcome.cell in member.given]
        if steps or outcomes or news.pardons:
            self._ledger.write(steps, outcomes, news.pardons)
        member.kept = news.number
        for step in steps:
            self._move_on(member, step)
        for outcome in outcomes:
            self._watch.ended(member.given.pop(outcome.cell).judge, [outcome])
        for cell in news.pardons.keys() & member.given.keys():
            member.given[cell] = replace(member.given[cell], failures=0)
        self._watch.flying(news.in_flight - member.in_flight)
        member.in_flight, member.queued, member.idle, member.over = news.in_flight, news.queued, news.idle, news.over
        if news.fault is not None:
            raise news.fault
        for judge, why in news.stopped.items():
            if judge not in member.stopped:
                member.stopped[judge] = why
                if all(judge in other.stopped for other in self._members):
                    self._watch.turned(judge, "stopped", why[1])
        if member.idle or member.over:
            self._take_back(member, {judge for judge in self._judges if member.over or judge in member.stopped})

    def _move_on(self, member: Member, step: Step) -> None:
        done = step.attempt
        self._watch.stepped(step)
        if step.outcome is not None:
            del member.given[step.cell.id]
            return
        cell = member.given[step.cell.id]
        member.given[cell.id] = replace(
            cell,
            attempts=done.number,
            malformed=cell.malformed + (done.kind == "malformed"),
            failures=cell.failures + (done.kind in COUNTED),
        )

    def _take_back(self, member: Member, judges: set[str]) -> None:
        """Cells that a shard has not finished are pending again, in their order."""
        cells = [cell for cell in member.given.values() if cell.judge in judges]
        for cell in sorted(cells, key=lambda cell: cell.place):
            del member.given[cell.id]
            self._back[cell.judge].append(cell)

    def _lose(self, member: Member) -> None:
        self.lost.append(member.handle.name)
        self._members.remove(member)
        self._watch.flying(-member.in_flight)
        self._take_back(member, set(self._judges))

    def _why_stopped(self) -> RunStopped | None:
        progress = self._watch.snapshot()
        pending = progress.total - progress.done
        if not pending:
            return None
        counts = {"pending": pending, "total": progress.total}
        if self._stop:
            return RunStopped("run.stopped_interrupt", **counts)
        if not self._members:
            return RunStopped("executor.all_lost", names=", ".join(self.lost), **counts)
        reasons = {judge: why for member in self._members for judge, why in member.stopped.items()}
        judges = "; ".join(f"{judge}: {reason}: {why[:300] or '-'}" for judge, (reason, why) in reasons.items())
        return RunStopped("run.stopped_judges", judges=judges, **counts)
