"""Lists of concepts that stay readable when there are hundreds: found by words and states, and not all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MANY = 20
"""From how many rows on a list can be searched."""
MOST = 50
"""How many rows are shown until all are asked for."""
LONGEST = 200
SEARCHED = ("concept", "category", "author", "reviewer")

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for; states : (name, words) that can be chosen; offered : whether the form is shown."""

    find: str = ""
    state: str = ""
    everything: bool = False
    states: tuple[tuple[str, str], ...] = ()
    offered: bool = False

    @property
    def narrow(self) -> bool:
        """Whether rows are left out."""
        return bool(self.find or self.state)

    def of(self, rows: Sequence[Row]) -> list[Row]:
        """The rows that are meant."""
        words = self.find.casefold().split()
        return [row for row in rows if self.state in ("", row["mark"]) and all(_has(row, word) for word in words)]

    def shown(self, rows: Sequence[Row]) -> Sequence[Row]:
        """The rows that stand on the page."""
        return rows if self.everything else rows[:MOST]


def search_of(query: Mapping[str, str], rows: Sequence[Row]) -> Search:
    """What the address of a page asks for, of all rows.

    >>> rows = [{"concept": "tea", "mark": "open", "state": "not written"}, {"concept": "rice", "mark": "drafted"}]
    >>> [row["concept"] for row in search_of({"find": " TEA "}, rows).of(rows)]
    ['tea']
    >>> search_of({"state": "drafted"}, rows).narrow, search_of({"state": "flown"}, rows).narrow
    (True, False)
    """
    states = {row["mark"]: str(row.get("state", row["mark"])) for row in rows}
    find, state = " ".join(query.get("find", "")[:LONGEST].split()), query.get("state", "")
    state = state if state in states else ""
    offered = len(rows) > MANY or bool(find or state)
    return Search(find, state, "all" in query, tuple(states.items()), offered)


def _has(row: Row, word: str) -> bool:
    return any(word in str(row.get(name, "")).casefold() for name in SEARCHED)
