"""Asking a judge once, and what follows from the answer. Knows nothing of ledgers, lanes or other cells."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from voirdire.judging.nouns import Attempt, Call, CallFailed, Judge, Outcome, Reply, Status
from voirdire.judging.parsing import ReadingKind, read_reply, separate_reasoning
from voirdire.judging.steps import Cell, Shown, Step

MALFORMED_RETRIES = 5
FAILED_ATTEMPTS = 6
KEPT_CHARACTERS = 20_000
KEPT_NAME = 200
"""Characters of a reply, and of the names of models and servers in it, that are kept."""

COUNTED = ("server", "timeout", "connection")
"""Kinds of failure that count against a cell."""

Clock = Callable[[], float]
Price = Callable[[str, Reply], float | None]
"""(judge, reply) -> US dollars, or None where the price is unknown."""


class Asks(Protocol):
    """What makes a cell into a call: the plan, or its copy on another machine."""

    def call(self, cell: Cell, number: int, malformed: int) -> Call:
        """The ``number``-th call of a cell, after ``malformed`` replies that could not be read."""
        ...

    def shown(self, cell: Cell) -> Shown:
        """What its prompt holds beside the item."""
        ...


@dataclass(slots=True)
class Job:
    """A cell on its way: what was tried so far, in this run and in earlier ones.

    refused : how often in a row the server asked to wait
    epoch : of the judge's breaker when failures were last counted
    """

    cell: Cell
    attempts: int = 0
    malformed: int = 0
    failures: int = 0
    refused: int = 0
    epoch: int = 0

    @classmethod
    def of(cls, cell: Cell) -> Job:
        """A job that goes on where earlier runs left the cell."""
        return cls(cell, cell.attempts, cell.malformed, cell.failures)

    def count(self, kind: str, epoch: int) -> None:
        """Count a failed call; failures of an earlier epoch are forgiven."""
        if kind not in COUNTED:
            self.refused += 1
            return
        self.failures = self.failures + 1 if self.epoch == epoch else 1
        self.epoch = epoch


def named_cost(judge: str, reply: Reply) -> float | None:  # noqa: ARG001 - a Price
    """The cost that the provider itself names, else unknown."""
    return reply.cost


async def ask(
    job: Job, judge: Judge, asks: Asks, clock: Clock, price: Price = named_cost
) -> tuple[Step, CallFailed | None]:
    """Ask for a job's cell once: the step to keep, and the failure where the call gave no reply.

    The step of a reply carries the cell's outcome, unless the reply is malformed and asked again. The step of a
    failure never does: whether the cell ends with it, the lane decides. Anything but CallFailed that a judge
    raises is an error of the program and not caught.
    """
    call = asks.call(job.cell, job.attempts + 1, job.malformed)
    at, begun = time.time(), clock()
    try:
        reply = await judge.ask(call)
    except CallFailed as failure:
        return failed(job, call, failure, at=at, seconds=clock() - begun), failure
    shown, cost = asks.shown(job.cell), _charged(price(judge.name, reply))
    return answered(job, call, reply, at=at, seconds=clock() - begun, cost=cost, shown=shown), None


def answered(
    job: Job, call: Call, reply: Reply, *, at: float, seconds: float, cost: float | None, shown: Shown
) -> Step:
    """The step of a reply: a rating, a refusal, or malformed; the job's counters are moved on.

    >>> from voirdire.corpus.shown import Item
    >>> from voirdire.judging.nouns import Prompt
    >>> cell, item = Cell(1, "a", "neutral_en", "q", 1, "j"), Item("a")
    >>> call = Call("r-1-1", Prompt((), "en"), item, "neutral_en", "q", 1, (1, 2, 3, 4, 5))
    >>> answered(Job(cell), call, Reply("4"), at=0.0, seconds=0.5, cost=None, shown=Shown()).outcome
    Outcome(cell=1, status='ok', rating=4.0, attempts=1)
    """
    job.attempts += 1
    job.refused = 0
    kind, rating, why = judged(reply, call.levels)
    own, visible = separate_reasoning(reply.text)
    kept, text_cut = _kept(visible, "text")
    reasoning, reasoning_cut = _kept("\n".join(part for part in (reply.reasoning, own) if part), "reasoning")
    attempt = Attempt(
        cell=job.cell.id, number=job.attempts, kind=kind, at=at, seconds=round(seconds, 4), prompt=call.prompt.digest,
        status=200, text=kept, reasoning=reasoning, note=_note(kind, why, text_cut, reasoning_cut),
        served=_kept(reply.served, "", KEPT_NAME)[0], served_by=_kept(reply.served_by, "", KEPT_NAME)[0],
        usage=reply.usage, cost=cost,
    )  # fmt: skip
    if kind == "malformed":
        job.malformed += 1
        if reply.rating is None and job.malformed <= MALFORMED_RETRIES:
            return Step(job.cell, attempt, None, shown)
    status: Status = kind
    return Step(job.cell, attempt, Outcome(job.cell.id, status, rating, job.attempts), shown)


def failed(job: Job, call: Call, failure: CallFailed, *, at: float, seconds: float) -> Step:
    """The step of a call that gave no reply."""
    job.attempts += 1
    note, _ = _kept(failure.why, "", 2000)
    attempt = Attempt(
        cell=job.cell.id, number=job.attempts, kind=failure.kind, at=at, seconds=round(seconds, 4),
        prompt=call.prompt.digest, status=failure.status, note=note,
    )  # fmt: skip
    return Step(job.cell, attempt)


def judged(reply: Reply, levels: tuple[int, ...]) -> tuple[ReadingKind, float | None, str]:
    """Kind, rating and label of a reply.

    A rating that a judge gives as a number (a reward model, a rule) must be finite and lie within the ends of the
    scale; it need not be a level. Otherwise it is malformed, and not asked again: the same number would come back.

    >>> judged(Reply(rating=3.5), (1, 2, 3, 4, 5)), judged(Reply(rating=7.0), (1, 2, 3, 4, 5))
    (('ok', 3.5, 'number'), ('malformed', None, 'outside'))
    """
    if reply.rating is not None:
        if not math.isfinite(reply.rating):
            return "malformed", None, "not_finite"
        if not min(levels) <= reply.rating <= max(levels):
            return "malformed", None, "outside"
        return "ok", float(reply.rating), "number"
    reading = read_reply(reply.text, levels, refusal=reply.refusal, finish=reply.finish)
    return reading.kind, None if reading.rating is None else float(reading.rating), reading.why


def _charged(dollars: float | None) -> float | None:
    """A charge, or None for what is none: a judge of the user's own may say anything, and a budget never grows."""
    return dollars if dollars is not None and math.isfinite(dollars) and dollars >= 0 else None


def _note(kind: str, *parts: str) -> str:
    """Labels for the ledger; nothing for a plain rating, which is nearly every row."""
    return "" if kind == "ok" and parts == ("rating", "", "") else " ".join(part for part in parts if part)


def _kept(text: str, name: str, most: int = KEPT_CHARACTERS) -> tuple[str, str]:
    """The beginning of a text, and a label with its full length where it was cut."""
    clean = text.encode("utf-8", "replace").decode() if not text.isascii() else text
    return (clean, "") if len(clean) <= most else (clean[:most], f"{name}_length={len(clean)}")
