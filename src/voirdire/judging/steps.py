"""What goes to and fro between the ledger, the lanes and whoever asks: cells to ask, steps taken, what was shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from voirdire.judging.nouns import Attempt, Outcome


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that has no outcome yet, and what earlier runs have tried.

    id : of the ledger; cells are asked in the order of ``place``: by item, condition, question, repeat, judge
    condition : the full name (``neutral_en/aa``)
    attempts : calls that are written down; malformed : of them, replies that could not be read
    failures : of them, failed calls that count against the cell
    """

    id: int
    item: str
    condition: str
    question: str
    repeat: int
    judge: str
    place: tuple[int, ...] = ()
    attempts: int = 0
    malformed: int = 0
    failures: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """What a prompt held beside the item: flags of its text, ids and levels of demonstrations (``p7=3 p2=5``)."""

    flags: str = ""
    demonstrations: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One attempt at a cell, and the cell's outcome where it ended with it.

    held : dollars that a budget counts for a call whose cost nobody told; 0 where it is known or nothing is charged
    """

    cell: Cell
    attempt: Attempt
    outcome: Outcome | None = None
    shown: Shown = Shown()
    held: float = 0.0


class Sink(Protocol):
    """Where steps are kept. Each call returns when what it was given is safe."""

    async def record(self, step: Step) -> None:
        """Keep a step."""
        ...

    async def finish(self, outcomes: list[Outcome]) -> None:
        """Keep outcomes that were held back."""
        ...

    async def pardon(self, cells: dict[int, int]) -> None:
        """Cell -> attempt number: failures up to this attempt no longer count against the cell."""
        ...


class Source(Protocol):
    """Where a lane's cells come from, in order."""

    async def take(self, judge: str, count: int) -> list[Cell] | None:
        """At most ``count`` further cells of a judge; an empty list when there are no more.

        None when there are none now and more may come: who brings them calls ``Lane.nudge``.
        """
        ...
