"""One judge asked in batches: hand over, look, collect, hand over what is to be asked again.

What is done at each moment follows from the ledger alone, so a lane that is killed goes on where it was:

- an ``intent`` is a batch whose submission was not recorded: it is looked for, and only when the provider twice says
  that it does not exist are its cells free again;
- an ``open`` batch is looked at until it ends, then collected;
- cells that have no outcome and stand in no such batch are put into a new one, when they fill it or when nothing of
  the judge is under way. So replies that could not be read come again, with the tighter instruction, in the next round.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire.corpus.corpus import Note
from voirdire.judging.batching.openai import QUEUE_FULL
from voirdire.judging.batching.packing import Packed, pack, waiting
from voirdire.judging.batching.protocol import Order, Search
from voirdire.judging.nouns import CallFailed

if TYPE_CHECKING:
    from voirdire.judging.batching.access import BatchJudge
    from voirdire.judging.batching.book import Batch, BatchBook
    from voirdire.judging.batching.collecting import Collector, Tally
    from voirdire.judging.batching.protocol import BatchApi, State
    from voirdire.judging.lane import Spending
    from voirdire.judging.lane import Tally as RunTally
    from voirdire.judging.ledger import Ledger
    from voirdire.judging.steps import Cell
    from voirdire.judging.work import Asks

UNDER_WAY = 20
"""Batches of one judge that are under way at most."""

BARREN = 3
"""Batches in a row that came back with nothing but expired or put-off requests, after which the judge is left alone."""

PASSING = ("rate_limit", "overload", "server", "timeout", "connection")
LONGEST_PAUSE = 10
"""A pause grows with every failure in a row up to so many times the usual one."""

LOOKS = 12
"""Looks after a batch was handed over until the pause between two of them has its full length."""

Tell = Callable[[Note], None]
Sleep = Callable[[float], Awaitable[None]]


class BatchLane:
    """The batches of one judge.

    stopped : why nothing further is handed over (a key of ``batch.stopped``), empty while it goes on; why : the
    provider's words, untrusted
    """

    def __init__(
        self,
        judge: BatchJudge,
        api: BatchApi,
        asks: Asks,
        ledger: Ledger,
        book: BatchBook,
        collector: Collector,
        spool: Path,
        *,
        spending: Spending | None,
        tally: RunTally,
        tell: Tell,
        sleep: Sleep,
        poll_seconds: float,
    ) -> None:
        self.judge = judge
        self.stopped = ""
        self.why = ""
        self._api, self._asks, self._ledger, self._book, self._collector = api, asks, ledger, book, collector
        self._spool, self._spending, self._tally = spool, spending, tally
        self._tell, self._sleep, self._poll = tell, sleep, poll_seconds
        self._shut_out = False
        self._held: dict[int, float] = {}
        self._absent: dict[int, int] = {}
        self._looks = self._troubles = self._barren = self._unwanted = self._looks_to_wait = 0

    async def run(self) -> None:
        """Go on until every cell has an outcome, or the lane has stopped and nothing of it is under way.

        A provider that does not let us in at all (key, credit) ends it at once; batches under way stay where they are.
        """
        for batch in self._book.open(self.judge.name):
            self._hold(batch)
        try:
            while True:
                for batch in self._book.open(self.judge.name):
                    await self._look(batch)
                waited = self._looks_to_wait > 0
                if waited:
                    self._looks_to_wait -= 1
                else:
                    while not self.stopped and await self._hand_over():
                        pass
                finished = self.stopped or not (waited or self._looks_to_wait)
                if self._shut_out or (finished and not self._book.open(self.judge.name)):
                    return
                await self._sleep(self._pause())
        finally:
            self._spool.unlink(missing_ok=True)

    def _pause(self) -> float:
        """Short after a batch was handed over, since small ones end soon; long while the provider has troubles."""
        self._looks += 1
        if self._troubles:
            return self._poll * min(2**self._troubles, LONGEST_PAUSE)
        return self._poll * min(1.0, self._looks / LOOKS)

    # what is under way

    async def _look(self, batch: Batch) -> None:
        """Look at one batch; troubles of the moment are waited out, others stop the lane and leave it as it is."""
        try:
            if batch.state == "intent":
                await self._search(batch)
            else:
                await self._see(batch)
            self._troubles = 0
        except CallFailed as failure:
            self._troubles += 1
            self._trouble(failure)

    async def _search(self, batch: Batch) -> None:
        search = Search(batch.key, batch.requests, batch.marker, self._book.known(), self._collector.mine_in(batch))
        found = await self._api.find(search)
        if found.kind == "found":
            self._note("found", batch, provider_id=found.batch)
            self._book.opened(batch, found.batch)
        elif found.kind == "absent":
            self._absent[batch.id] = self._absent.get(batch.id, 0) + 1
            if self._absent[batch.id] > 1:
                self._note("absent", batch)
                self._release(batch, 0.0)
                self._book.close(batch, collected=False)

    async def _see(self, batch: Batch) -> None:
        state = await self._api.state(batch.provider_id)
        if state.kind == "running":
            return
        if state.kind == "failed":
            await self._refused(batch, state)
            return
        tally = await self._collector.collect(batch, state)
        self._release(batch, tally.cost)
        self._looks_to_wait = 0
        self._report(batch, state, tally)
        await self._clean(batch, state)

    async def _refused(self, batch: Batch, state: State) -> None:
        """The provider did not take the batch as a whole: nothing of it was asked."""
        self._release(batch, 0.0)
        self._book.close(batch, collected=False)
        if state.code == QUEUE_FULL:
            self._note("queue_full", batch, why=state.why)
            self._wait_longer()
        else:
            self._halt("failed", state.why or state.code)
        await self._clean(batch, state)

    async def _clean(self, batch: Batch, state: State) -> None:
        try:
            await self._api.clean(state)
        except CallFailed as failure:
            self._note("not_cleaned", batch, why=failure.why)

    def _report(self, batch: Batch, state: State, tally: Tally) -> None:
        self._note("collected", batch, replies=tally.replies, failures=tally.failures, absent=tally.absent)
        for name in ("foreign", "repeated", "unreadable"):
            if count := getattr(tally, name):
                self._note(name, batch, warning=True, count=count)
        if tally.absent and state.rest == "missing":
            self._note("missing", batch, warning=True, count=tally.absent)
        self._barren = 0 if tally.replies or tally.counted else self._barren + 1
        if tally.halt is not None:
            self._halt("refused" if tally.halt is tally.refusal else tally.halt.kind, tally.halt.why)
        elif state.canceled:
            self._halt("canceled", batch.provider_id)
        elif self._barren >= BARREN:
            self._halt("barren", "")

    # what is handed over

    async def _hand_over(self) -> bool:
        """Submit one batch where there is something to submit; True when another may follow at once."""
        under_way = self._book.open(self.judge.name)
        if len(under_way) >= UNDER_WAY:
            return False
        packed = await pack(self._cells(), self.judge, self._api, self._asks, self._spending, self._spool)
        if packed.refused:
            self._ledger.write(packed.refused)
            for step in packed.refused:
                self._tally.stepped(step)
        if not packed.cells and packed.short and not under_way:
            self._halt("budget", "")
        if not packed.cells or (under_way and not packed.full):
            self._give_back(packed.reserved)
            return False
        try:
            await self._submit(packed)
        except CallFailed as failure:
            self._wait_longer()
            self._trouble(failure)
            return False
        return packed.full

    def _cells(self) -> Iterator[Cell]:
        return waiting(self._ledger, self._book, self.judge.name)

    async def _submit(self, packed: Packed) -> None:
        try:
            marker = await self._api.marker()
        except CallFailed:
            self._give_back(packed.reserved)
            raise
        batch = self._book.intend(self.judge.name, packed.cells, marker, packed.reserved)
        self._held[batch.id] = packed.reserved
        self._tally.flying(batch.requests)
        try:
            provider_id = await self._api.submit(Order(batch.key, packed.spool, batch.requests, packed.n_bytes))
        except CallFailed as failure:
            if failure.kind in ("rate_limit", "request", "auth", "quota"):
                self._release(batch, 0.0)
                self._book.close(batch, collected=False)
            raise
        self._book.opened(batch, provider_id)
        self._unwanted = self._looks = 0
        self._note("submitted", batch, provider_id=provider_id, requests=batch.requests, bytes=packed.n_bytes)

    # money, troubles, words

    def _hold(self, batch: Batch) -> None:
        """Set aside again what a batch of an earlier session was expected to cost; it is spent in any case."""
        self._tally.flying(batch.requests)
        if self._spending is not None and self._spending.reserve(batch.reserved):
            self._held[batch.id] = batch.reserved

    def _release(self, batch: Batch, cost: float | None) -> None:
        self._tally.flying(-batch.requests)
        if self._spending is not None:
            self._spending.settle(self._held.pop(batch.id, 0.0), cost)

    def _give_back(self, dollars: float) -> None:
        if self._spending is not None:
            self._spending.settle(dollars, 0.0)

    def _wait_longer(self) -> None:
        """Nothing is handed over for some looks, for more of them each time, until a batch was collected."""
        self._unwanted += 1
        self._looks_to_wait = min(2 ** (self._unwanted - 1), LONGEST_PAUSE)

    def _trouble(self, failure: CallFailed) -> None:
        if failure.kind in PASSING:
            about = {"judge": self.judge.name, "kind": failure.kind, "why": failure.why}
            self._tell(Note("batch.note.trouble", about))
        else:
            self._shut_out = True
            self._halt(failure.kind, failure.why)

    def _halt(self, reason: str, why: str) -> None:
        if not self.stopped:
            self.stopped, self.why = reason, why

    def _note(self, name: str, batch: Batch, *, warning: bool = False, **fields: object) -> None:
        about = {"judge": self.judge.name, "batch": batch.key, **fields}
        self._tell(Note(f"batch.note.{name}", about, "warning" if warning else "info"))
