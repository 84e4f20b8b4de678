"""The reckoning of an import: every answer that was read is taken or left out for one named reason.

An answer is one value of one rater or judge for one item and question, or the empty place of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from voirdire.errors import InputError

BROKEN = "importing.left.broken"
MISSING = "importing.left.missing"
SHOWN_PLACES, SHOWN_BROKEN = 5, 20


class Placed(Protocol):
    """Anything that knows its file and its line: a ``Record``."""

    @property
    def file(self) -> str:
        """The file."""

    @property
    def line(self) -> int:
        """The line, counted from 1."""


@dataclass(slots=True)
class Left:
    """Answers left out for one reason: how many, (file, line) of the first ones, and whether there are more."""

    count: int = 0
    places: list[tuple[str, int | str]] = field(default_factory=list)
    more: bool = False

    def add(self, n: int, at: Placed | None) -> None:
        """Count n more."""
        self.count += n
        if at is None:
            return
        place = getattr(at, "place", "")
        where = at.file, f"{at.line} ({place})" if place else at.line
        if where in self.places:
            return
        self.more = len(self.places) == SHOWN_PLACES
        if not self.more:
            self.places.append(where)


class Account:
    """Counts answers while they are read.

    skip_broken : whether a broken record is left out and counted, instead of refusing the file

    >>> account = Account()
    >>> account.read(3)
    >>> account.took(2)
    >>> account.left(MISSING)
    >>> account.answers, account.taken, account.balanced
    (3, 2, True)
    """

    def __init__(self, *, skip_broken: bool = False) -> None:
        self.skip_broken = skip_broken
        self.answers = 0
        self.taken = 0
        self.reasons: dict[str, Left] = {}
        self.broken_records: list[InputError] = []
        self._held: list[tuple[str, int, Placed | None]] | None = None

    def read(self, n: int = 1) -> None:
        """Answers that were met, whatever becomes of them."""
        self._count("read", n, None)

    def took(self, n: int = 1) -> None:
        """Answers that stand in the tables."""
        self._count("took", n, None)

    def left(self, reason: str, n: int = 1, at: Placed | None = None) -> None:
        """Answers that were left out.

        reason : key of the catalogue, e.g. ``importing.left.missing`` (MISSING); a plugin without a catalogue gives
            the sentence itself
        at : the record they stand in
        """
        self._count(reason, n, at)

    @contextmanager
    def record(self, at: Placed | None = None) -> Iterator[None]:
        """What is counted inside stands when the record turns out whole; a broken one counts as broken alone.

        Raises the InputError that names what is broken; with ``skip_broken`` the record's answers (at least one) are
        read and left out as broken, and the error is kept to be told. Make the rows of a record inside the block and
        add them to those of the file as its last step.

        >>> account = Account(skip_broken=True)
        >>> with account.record():
        ...     account.read(2)
        ...     raise InputError("importing.record_field")
        >>> account.answers, account.reasons[BROKEN].count, len(account.broken_records)
        (2, 2, 1)
        """
        outer, self._held = self._held, []
        try:
            yield
        except InputError as error:
            met = sum(n for what, n, _ in self._held if what == "read")
            self._held = outer
            self.broken(error, max(met, 1), at)
        else:
            held, self._held = self._held, outer
            for what, n, where in held:
                self._count(what, n, where)
        finally:
            self._held = outer

    def broken(self, error: InputError, n: int = 1, at: Placed | None = None) -> None:
        """A record that cannot be read: raised, or with ``skip_broken`` counted as n answers read and left out."""
        if not self.skip_broken:
            raise error
        self.broken_records.append(error)
        self.read(n)
        self.left(BROKEN, n, at)

    @property
    def balanced(self) -> bool:
        """Whether every answer is accounted for."""
        return self.answers == self.taken + sum(left.count for left in self.reasons.values())

    @property
    def counts(self) -> Mapping[str, int]:
        """Reason -> answers left out, the most frequent first."""
        ordered = sorted(self.reasons.items(), key=lambda entry: -entry[1].count)
        return {reason: left.count for reason, left in ordered if left.count}

    def _count(self, what: str, n: int, at: Placed | None) -> None:
        if self._held is not None:
            self._held.append((what, n, at))
        elif what == "read":
            self.answers += n
        elif what == "took":
            self.taken += n
        elif n:
            self.reasons.setdefault(what, Left()).add(n, at)
