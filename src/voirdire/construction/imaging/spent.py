"""What images cost: those of a regime, and all of the folder, which is what a budget counts."""

from __future__ import annotations

from dataclasses import dataclass

from voirdire.judging.ledger import Ledger

_CALLS = """
FROM attempt a JOIN cell c ON c.id = a.cell JOIN condition k ON k.id = c.condition JOIN judge j ON j.id = c.judge
WHERE coalesce(j.facts ->> 'provider', '') <> 'folder'
"""
_UNKNOWN = "sum(a.cost IS NULL AND a.kind IN ('ok', 'refused', 'malformed'))"


@dataclass(frozen=True, slots=True)
class Spent:
    """US dollars over all sessions.

    known : of calls whose cost is known; unknown : replies whose cost is not known
    held : what a budget counts for such replies, and for calls that never came back
    free : nothing was ever asked of anybody who is paid
    """

    known: float = 0.0
    unknown: int = 0
    held: float = 0.0
    free: bool = False

    @property
    def dollars(self) -> float | None:
        """What is known; None where replies came and the cost of none is known."""
        return None if self.unknown and not self.known else self.known

    @property
    def counted(self) -> float:
        """What a budget counts."""
        return self.known + self.held


def spent_on(ledger: Ledger, regime: str) -> Spent:
    """Of one regime; what is held for calls is not known by regime."""
    with ledger.writing() as db:
        query = f"SELECT total(a.cost), {_UNKNOWN}, count(*) {_CALLS} AND k.name = ?"
        known, unknown, calls = db.execute(query, (regime,)).fetchone()
    return Spent(float(known), int(unknown or 0), free=not calls)


def spent_in_all(ledger: Ledger) -> Spent:
    """Of all regimes of the folder."""
    with ledger.writing() as db:
        known, unknown, calls = db.execute(f"SELECT total(a.cost), {_UNKNOWN}, count(*) {_CALLS}").fetchone()
    return Spent(float(known), int(unknown or 0), ledger.held(), free=not calls)
