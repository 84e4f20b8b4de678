"""From the lines of a batch that ended to steps in the ledger."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from voirdire.judging.batching.access import read_answer
from voirdire.judging.nouns import CallFailed, Outcome
from voirdire.judging.work import COUNTED, FAILED_ATTEMPTS, Job, answered, failed
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.judging.batching.access import BatchJudge
    from voirdire.judging.batching.book import Batch, BatchBook
    from voirdire.judging.batching.protocol import BatchApi, Line, State
    from voirdire.judging.ledger import Ledger
    from voirdire.judging.nouns import Reply
    from voirdire.judging.steps import Cell, Step
    from voirdire.judging.work import Asks, Price

CHUNK = 200
"""Lines that are kept in one transaction."""

NAME = re.compile(r"(?P<run>.+)-(?P<cell>[0-9]{1,18})-(?P<number>[0-9]{1,9})")


@dataclass(slots=True)
class Tally:
    """What the lines of a batch came to.

    replies, failures : by what the requests ended as; counted : failures that count against their cell
    cost : dollars of the replies, None where a price is unknown
    foreign : lines that answer no request of this batch; repeated : lines of a request that had one already
    unreadable : lines that are not of the documented form; absent : requests without a line, by ``State.rest``
    held, refusal : cells whose request was refused for good, and the last reason
    halt : the failure after which the judge must not be asked again (auth, quota, or nothing but refused requests)
    """

    replies: int = 0
    failures: int = 0
    counted: int = 0
    cost: float | None = 0.0
    foreign: int = 0
    repeated: int = 0
    unreadable: int = 0
    absent: int = 0
    halt: CallFailed | None = None
    refusal: CallFailed | None = None
    held: list[Outcome] = field(default_factory=list)

    def charge(self, dollars: float | None) -> None:
        """Add what a reply cost."""
        self.cost = None if self.cost is None or dollars is None else self.cost + dollars


class Collector:
    """Reads the results of one judge's batches.

    kept : told of every step that is safe in the ledger; ended : of outcomes that had been held back
    proven : the judge has replied at least once, in this run or an earlier one
    """

    def __init__(
        self,
        judge: BatchJudge,
        api: BatchApi,
        asks: Asks,
        ledger: Ledger,
        book: BatchBook,
        price: Price,
        kept: Callable[[Step], None],
        ended: Callable[[list[Outcome]], None],
    ) -> None:
        self._judge, self._api, self._asks, self._ledger, self._book = judge, api, asks, ledger, book
        self._price, self._kept, self._ended = price, kept, ended
        self._tallies: dict[int, Tally] = {}
        replied = ("ok", "malformed", "refused")
        self.proven = any(name == judge.name and status in replied for name, status, _ in ledger.counts())

    def mine_in(self, batch: Batch) -> Callable[[str], bool]:
        """A test of whether an id is that of a request of a batch."""

        def mine(custom_id: str) -> bool:
            cell, number = self._name(custom_id)
            return cell > 0 and self._book.members(batch, {cell}).get(cell) == number

        return mine

    async def collect(self, batch: Batch, state: State) -> Tally:
        """Keep what every line says and close the batch.

        May be broken off at any point and begun again: lines that are kept already are passed over. Raises
        CallFailed where the results cannot be fetched.
        """
        tally, seen = self._tallies.setdefault(batch.id, Tally()), set[int]()
        tally.foreign = tally.repeated = tally.unreadable = 0
        async for lines in _chunks(self._api.results(batch.provider_id, state)):
            self._keep(batch, lines, tally, seen)
        absent = self._book.unanswered(batch)
        tally.absent = len(absent)
        if state.rest != "canceled":
            self._write([self._step(batch, cell, _absent(state), tally) for cell in absent])
        self._settle_held(tally)
        self._book.close(batch, collected=True)
        return tally

    def _keep(self, batch: Batch, lines: list[Line], tally: Tally, seen: set[int]) -> None:
        ids = {cell for cell, _ in (self._name(line.custom_id) for line in lines) if cell}
        cells = {cell.id: cell for cell in self._book.unanswered(batch, ids)}
        members = self._book.members(batch, ids)
        steps = []
        for line in lines:
            cell, number = self._name(line.custom_id)
            if line.kind == "unreadable":
                tally.unreadable += 1
            elif members.get(cell) != number:
                tally.foreign += 1
            elif cell in seen:
                tally.repeated += 1
            else:
                seen.add(cell)
                if cell in cells and line.kind != "canceled":
                    steps.append(self._step(batch, cells[cell], line, tally))
        self._write(steps)

    def _name(self, custom_id: str) -> tuple[int, int]:
        """The cell and the number of the attempt that an id names; (0, 0) for an id of another run."""
        found = NAME.fullmatch(custom_id)
        if found is None or found["run"] != self._ledger.run_id:
            return 0, 0
        return int(found["cell"]), int(found["number"])

    def _step(self, batch: Batch, cell: Cell, line: Line | CallFailed, tally: Tally) -> Step:
        job = Job.of(cell)
        call = self._asks.call(cell, cell.attempts + 1, cell.malformed)
        seconds = max(0.0, time.time() - batch.at)
        try:
            reply = self._reply(line)
        except CallFailed as failure:
            return self._failed(batch, job, failed(job, call, failure, at=batch.at, seconds=seconds), failure, tally)
        cost = self._price(self._judge.name, reply)
        tally.replies += 1
        tally.charge(cost)
        self.proven = True
        shown = self._asks.shown(cell)
        step = answered(job, call, reply, at=batch.at, seconds=seconds, cost=cost, shown=shown)
        return step if cost is not None else replace(step, held=_share(batch))

    def _reply(self, line: Line | CallFailed) -> Reply:
        if isinstance(line, CallFailed):
            raise line
        if line.kind == "expired":
            raise CallFailed("overload", text("batch.why_expired"))
        return read_answer(self._judge, line.status, line.body)

    def _failed(self, batch: Batch, job: Job, step: Step, failure: CallFailed, tally: Tally) -> Step:
        """A cell ends after as many failures as in an ordinary run; before the first reply that is held back.

        A reply that came and cannot be read was paid for: it counts with its share of what was set aside.
        """
        tally.failures += 1
        if failure.delivered:
            step = replace(step, held=_share(batch))
            tally.charge(step.held)
        job.count(failure.kind, 0)
        tally.counted += failure.kind in (*COUNTED, "request")
        if failure.kind in ("auth", "quota"):
            tally.halt = failure
        outcome = Outcome(job.cell.id, "error", None, job.attempts)
        if failure.kind == "request":
            tally.held.append(outcome)
            tally.refusal = failure
        elif failure.kind in COUNTED and job.failures >= FAILED_ATTEMPTS:
            return replace(step, outcome=outcome)
        return step

    def _settle_held(self, tally: Tally) -> None:
        """Refused requests end their cells, unless the judge has never replied: then it is set up wrongly."""
        if not tally.held:
            return
        if self.proven:
            self._ledger.write((), tally.held)
            self._ended(tally.held)
        else:
            tally.halt = tally.halt or tally.refusal

    def _write(self, steps: list[Step]) -> None:
        if steps:
            self._ledger.write(steps)
            for step in steps:
                self._kept(step)


def _share(batch: Batch) -> float:
    """Dollars that were set aside for one request of a batch."""
    return batch.reserved / batch.requests


def _absent(state: State) -> CallFailed:
    """What a request without a line came to."""
    if state.rest == "expired":
        return CallFailed("overload", text("batch.why_expired"))
    return CallFailed("server", text("batch.why_absent"))


async def _chunks(lines: AsyncIterator[Line]) -> AsyncIterator[list[Line]]:
    chunk: list[Line] = []
    async for line in lines:
        chunk.append(line)
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
