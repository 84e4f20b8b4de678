"""What a run may owe that its ledger does not tell of, so that a budget holds over a kill as well."""

from __future__ import annotations

from collections.abc import Callable

from voirdire.judging.spending import NANO, nano

GROWTH = 1.25


class Exposure:
    """Dollars of calls that are in flight, broken off, or answered and not committed yet.

    A mark in the ledger is raised before a call goes out that would bring the sum above it, each time by a quarter, so
    that it is written a few dozen times in a run. After a kill nobody knows which of these calls were charged: the
    next session counts the mark, which is never less than they can have cost.

    mark : writes the mark; it must be safe when this returns

    >>> marks = []
    >>> open_calls = Exposure(marks.append)
    >>> open_calls.begun(0.5), open_calls.begun(0.1), open_calls.begun(0.1)
    (None, None, None)
    >>> open_calls.ended(0.5, 0.25)
    >>> open_calls.kept(0.25)
    >>> marks, open_calls.dollars
    ([0.625, 0.875], 0.2)
    """

    def __init__(self, mark: Callable[[float], object]) -> None:
        self._mark = mark
        self._marked = self._open = 0

    @property
    def dollars(self) -> float:
        """What calls have cost at most that the ledger does not tell of."""
        return self._open / NANO

    def begun(self, reserved: float) -> None:
        """A call is about to go out."""
        self._open += nano(reserved)
        self._rise()

    def ended(self, reserved: float, actual: float | None) -> None:
        """A call is over, and what it cost (None = all that was reserved) is not committed yet."""
        if actual is not None:
            self._open += nano(actual) - nano(reserved)
            self._rise()

    def kept(self, dollars: float) -> None:
        """What a call cost, or was reserved for it, is committed."""
        self._open = max(0, self._open - nano(dollars))

    def _rise(self) -> None:
        if self._open > self._marked:
            self._marked = int(self._open * GROWTH)
            self._mark(self._marked / NANO)
