"""From pending cells to a file of requests that one batch may hold."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire.judging.batching.protocol import Limits
from voirdire.judging.ledger import START
from voirdire.judging.nouns import CallFailed, Outcome
from voirdire.judging.spending import NANO
from voirdire.judging.work import Job, failed
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.judging.batching.access import BatchJudge
    from voirdire.judging.batching.book import BatchBook
    from voirdire.judging.batching.protocol import BatchApi
    from voirdire.judging.lane import Spending
    from voirdire.judging.ledger import Ledger
    from voirdire.judging.nouns import Call
    from voirdire.judging.steps import Cell, Step
    from voirdire.judging.work import Asks

PAGE = 256
SPOOL_BYTES = 200_000_000
"""A file is not made larger than this where the provider would take more: it stands on the disk for a while."""


@dataclass(slots=True)
class Packed:
    """A file that is ready: its cells, its size, what was reserved for it.

    full : there may be more cells for another batch; short : it ended because the budget did
    refused : steps of cells that cannot be sent in any batch
    """

    spool: Path
    cells: list[Cell] = field(default_factory=list)
    n_bytes: int = 0
    reserved: float = 0.0
    full: bool = False
    short: bool = False
    refused: list[Step] = field(default_factory=list)


def waiting(ledger: Ledger, book: BatchBook, judge: str) -> Iterator[Cell]:
    """The cells of a judge that have no outcome and stand in no batch under way, in order."""
    after: tuple[int, ...] = START
    while page := ledger.pending(judge, after, PAGE):
        after = page[-1].place
        busy = book.under_way(cell.id for cell in page)
        yield from (cell for cell in page if cell.id not in busy)


async def pack(
    cells: Iterator[Cell], judge: BatchJudge, api: BatchApi, asks: Asks, spending: Spending | None, spool: Path
) -> Packed:
    """Write the requests of as many cells as one batch may hold, one by one: memory stays flat.

    Money is set aside request by request, so the last batch of a run is as large as the budget allows.
    """
    limits = Limits(api.limits.requests, min(api.limits.n_bytes, SPOOL_BYTES))
    packed = Packed(spool)
    spool.parent.mkdir(exist_ok=True)
    with spool.open("wb") as file:
        for cell in cells:
            call = asks.call(cell, cell.attempts + 1, cell.malformed)
            try:
                line = api.line(call.id, judge.body(call))
                if len(line) > limits.n_bytes:
                    raise CallFailed("request", text("batch.request_too_large", bytes=len(line)))
            except CallFailed as failure:
                packed.refused.append(_refused(cell, call, failure))
                continue
            dollars = 0.0 if spending is None else _rounded_up(spending.expect(cell, cell.malformed).dollars)
            packed.full = len(packed.cells) == limits.requests or packed.n_bytes + len(line) > limits.n_bytes
            packed.short = not packed.full and spending is not None and not spending.reserve(dollars)
            if packed.full or packed.short:
                break
            packed.reserved += dollars
            packed.n_bytes += file.write(line)
            packed.cells.append(cell)
            if len(packed.cells) % 16 == 0:
                await asyncio.sleep(0)
    return packed


def _rounded_up(dollars: float) -> float:
    """To whole billionths, as the budget does, so that what is given back is the sum of what was set aside."""
    return math.ceil(round(dollars * NANO, 3)) / NANO


def _refused(cell: Cell, call: Call, failure: CallFailed) -> Step:
    """A cell whose request cannot be written ends as an error, as it would in an ordinary run."""
    step = failed(Job.of(cell), call, failure, at=time.time(), seconds=0.0)
    return replace(step, outcome=Outcome(cell.id, "error", None, step.attempt.number))
