"""Running a plan by batch APIs: the same cells, prompts, ledger and outcomes as an ordinary run, at a lower price."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire.errors import UsageError
from voirdire.judging.batching.access import batch_api, batch_judges, check_images, open_session
from voirdire.judging.batching.book import BatchBook
from voirdire.judging.batching.collecting import Collector
from voirdire.judging.batching.lane import BatchLane, Sleep, Tell
from voirdire.judging.nouns import Judge, Outcome, Reply, RunStopped
from voirdire.judging.progress import Watch, take_over
from voirdire.judging.runner import Purse, Summary, Tariff, budget_stop, carried, sentence
from voirdire.judging.spending import Budget, cost
from voirdire.judging.stopping import heard
from voirdire.texts import text

if TYPE_CHECKING:
    import aiohttp

    from voirdire.judging.batching.access import BatchJudge
    from voirdire.judging.lane import Expected
    from voirdire.judging.ledger import Ledger
    from voirdire.judging.plan import Plan
    from voirdire.judging.progress import Progress
    from voirdire.judging.steps import Cell

POLL_SECONDS = 60.0
SPOOLS = "batches"
"""Folder beside the ledger in which request files stand until they are handed over."""


async def run_batches(
    plan: Plan,
    judges: Sequence[Judge],
    ledger: Ledger,
    *,
    tariffs: Mapping[str, Tariff] | None = None,
    budget: Budget | None = None,
    watch: Watch | None = None,
    tell: Tell | None = None,
    poll_seconds: float = POLL_SECONDS,
    timeout: float = 120.0,
    signals: bool = True,
    sleep: Sleep = asyncio.sleep,
) -> Summary:
    """Ask every pending cell of a plan that is registered in the ledger by batches; the judges are closed at the end.

    Parameters
    ----------
    tariffs : by judge's name; budget : a hard stop: what a batch may cost at most is set aside before it is sent
    watch : counts what happens; its calls in flight are requests in batches under way
    tell : given a note on every batch that is handed over, found, collected or in trouble
    poll_seconds : between two looks at the batches under way; timeout : seconds of silence of a connection

    Raises UsageError before anything is sent where a judge cannot be asked in batches, and RunStopped where the
    ledger cannot be written. A run that is interrupted leaves its batches at the provider; the same call goes on.
    """
    watch = watch or Watch()
    purse = BatchPurse(plan, carried(budget, ledger), tariffs or {})
    stopped = ""
    try:
        asked = batch_judges(judges)
        check_images(asked, (*plan.items, *plan.material.held_out), plan.conditions)
        take_over(watch, judges, ledger)
        watch.budget = purse.budget.limit
        async with open_session() as session:
            told = tell or (lambda _: None)
            lanes = _lanes(plan, asked, ledger, session, purse, watch, told, sleep, poll_seconds, timeout)
            stopped = await _together(lanes, watch, signals)
    finally:
        for judge in judges:
            await judge.close()
    return Summary(watch.snapshot(), _why_stopped(lanes, watch.snapshot(), stopped, purse))


def refuse_while_under_way(ledger: Ledger) -> None:
    """Raise UsageError where batches of the run are under way: an ordinary run would pay their cells again."""
    batches = BatchBook(ledger).open() if BatchBook.exists(ledger) else []
    if batches:
        count = sum(batch.requests for batch in batches)
        raise UsageError("batch.under_way", batches=len(batches), requests=count)


class BatchPurse(Purse):
    """A budget whose calls have the price of batches."""

    def expect(self, cell: Cell, malformed: int) -> Expected:
        """Dollars at most and tokens probably."""
        ordinary = super().expect(cell, malformed)
        tariff = self._tariffs.get(cell.judge)
        factor = 1.0 if tariff is None or tariff.price is None else tariff.price.batch
        return type(ordinary)(ordinary.dollars * factor, ordinary.tokens)

    def price(self, judge: str, reply: Reply) -> float | None:
        """What a reply cost: as the provider says, else by the price table."""
        tariff = self._tariffs.get(judge)
        if reply.cost is not None or tariff is None:
            return reply.cost
        return cost(reply.usage, tariff.price, batch=True)


def _lanes(
    plan: Plan,
    judges: Sequence[BatchJudge],
    ledger: Ledger,
    session: aiohttp.ClientSession,
    purse: BatchPurse,
    watch: Watch,
    tell: Tell,
    sleep: Sleep,
    poll_seconds: float,
    timeout: float,
) -> list[BatchLane]:
    book = BatchBook(ledger)
    folder = _clean_folder(ledger.path.parent / SPOOLS)
    lanes = []
    for number, judge in enumerate(judges):
        api = batch_api(judge, session, timeout)
        collector = Collector(judge, api, plan, ledger, book, purse.price, watch.stepped, _ended(watch, judge.name))
        lanes.append(
            BatchLane(
                judge,
                api,
                plan,
                ledger,
                book,
                collector,
                folder / f"{number}.jsonl",
                spending=purse if purse.budget.limit is not None else None,
                tally=watch,
                tell=tell,
                sleep=sleep,
                poll_seconds=poll_seconds,
            )
        )
    return lanes


def _ended(watch: Watch, judge: str) -> Callable[[Sequence[Outcome]], None]:
    return lambda outcomes: watch.ended(judge, outcomes)


def _clean_folder(folder: Path) -> Path:
    """The folder of request files, without those that a killed run left."""
    folder.mkdir(exist_ok=True)
    for file in folder.glob("*.jsonl"):
        file.unlink()
    return folder


async def _together(lanes: Sequence[BatchLane], watch: Watch, signals: bool) -> str:
    """All lanes until each is over; ``interrupt`` where a signal ended them, else nothing."""
    tasks = [asyncio.create_task(lane.run()) for lane in lanes]
    interrupted = False

    def stop() -> None:
        nonlocal interrupted
        interrupted = watch.stopping = True
        for task in tasks:
            task.cancel()

    try:
        with heard(stop, signals):
            await asyncio.gather(*tasks)
    except asyncio.CancelledError:
        if not interrupted:
            raise
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return "interrupt" if interrupted else ""


def _why_stopped(lanes: Sequence[BatchLane], progress: Progress, reason: str, purse: Purse) -> RunStopped | None:
    pending = progress.total - progress.done
    if not pending:
        return None
    counts = {"pending": pending, "total": progress.total}
    if reason == "interrupt":
        return RunStopped("run.stopped_interrupt", **counts)
    stopped = [lane for lane in lanes if lane.stopped]
    if stopped and all(lane.stopped == "budget" for lane in stopped):
        return budget_stop(purse.budget, **counts)
    return BatchesStopped(stopped, pending, progress.total)


class BatchesStopped(RunStopped):
    """A run by batches that stopped with cells pending, and why each judge did."""

    def __init__(self, lanes: Sequence[BatchLane], pending: int, total: int) -> None:
        super().__init__("batch.stopped_judges", pending=pending, total=total, why="")
        self.reasons = [(lane.stopped, lane.judge.name, lane.why) for lane in lanes]

    def message(self, lang: str = "en") -> str:
        """The sentence in a language, with one for every judge."""
        each = [text(f"batch.stopped.{key}", lang, judge=judge, why=sentence(why)) for key, judge, why in self.reasons]
        return text(self.key, lang, **{**self.fields, "why": "\n".join(each)})
