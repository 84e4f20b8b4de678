"""Who writes and who reviews: a rotation in which nobody reviews their own and everyone changes roles.

For a team of ``n`` the concept at place ``k`` of the rotation is written by person ``k mod n`` and reviewed by the one
who sits ``1 + (k div n) mod (n - 1)`` places further. At every moment the numbers of concepts that two people have
written differ by at most one, and so do those that they have reviewed, and those of two ordered pairs of author and
reviewer; so two people who meet change roles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voirdire.construction.concepts import ConceptItem
from voirdire.construction.history import Event, History
from voirdire.errors import InputError

ASSIGNED = "assigned"
LEAST_AUTHORS = 3
"""With fewer, two people would review nobody but each other."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """Who writes a concept and who reviews it.

    team : the people of the rotation, in order; place : in the rotation, None where it was named and not drawn
    """

    concept: str
    author: str
    reviewer: str
    team: tuple[str, ...] = ()
    place: int | None = None

    def event(self, by: str = "") -> dict[str, Any]:
        """What stands in the history."""
        told: dict[str, Any] = {"kind": ASSIGNED, "concept": self.concept, "by": by}
        told |= {"author": self.author, "reviewer": self.reviewer}
        return told if self.place is None else {**told, "team": list(self.team), "place": self.place}


def turn(place: int, people: int) -> tuple[int, int]:
    """Author and reviewer, as places in a team of two or more people.

    >>> [turn(place, 3) for place in range(6)]
    [(0, 1), (1, 2), (2, 0), (0, 2), (1, 0), (2, 1)]
    """
    author = place % people
    return author, (author + 1 + place // people % (people - 1)) % people


def assigned(history: History) -> dict[str, Assignment]:
    """concept -> its assignment; a later one replaces an earlier one."""
    return {event["concept"]: _of_event(event) for event in history.of_kind(ASSIGNED)}


def assign_new(
    concepts: Mapping[str, Sequence[ConceptItem]], team: Sequence[str], history: History
) -> tuple[Assignment, ...]:
    """Assignments of the concepts that have none yet, in their order.

    Where the table of concepts names author and reviewer, they are taken; the others go on with the rotation, which
    begins anew when the team is another one. Raises InputError for a team of fewer than three.

    >>> from voirdire.construction.history import History
    >>> tea = ConceptItem("tea-us", "tea", "food", "us", "iced tea")
    >>> assign_new({"tea": [tea]}, ["ana", "bo", "chen"], History())[0].reviewer
    'bo'
    """
    known = assigned(history)
    place = _next_place(team, history)
    made: list[Assignment] = []
    for concept, items in concepts.items():
        if concept in known:
            continue
        named = next(((item.author, item.reviewer) for item in items if item.author and item.reviewer), None)
        if named:
            made.append(Assignment(concept, *named))
            continue
        refuse_few(team)
        author, reviewer = turn(place, len(team))
        made.append(Assignment(concept, team[author], team[reviewer], tuple(team), place))
        place += 1
    return tuple(made)


def refuse_few(team: Sequence[str]) -> None:
    """Raise InputError for a team that is too small for the protocol."""
    if len(team) < LEAST_AUTHORS:
        raise InputError("authoring.authors_few", count=len(team), least=LEAST_AUTHORS)


def loads(assignments: Iterable[Assignment]) -> dict[str, tuple[int, int]]:
    """person -> how many concepts they write, and how many they review.

    >>> loads([Assignment("tea", "ana", "bo"), Assignment("rice", "bo", "ana")])
    {'ana': (1, 1), 'bo': (1, 1)}
    """
    found: dict[str, tuple[int, int]] = {}
    for one in assignments:
        wrote, reviewed = found.get(one.author, (0, 0))
        found[one.author] = (wrote + 1, reviewed)
        wrote, reviewed = found.get(one.reviewer, (0, 0))
        found[one.reviewer] = (wrote, reviewed + 1)
    return found


def _next_place(team: Sequence[str], history: History) -> int:
    drawn = [event for event in history.of_kind(ASSIGNED) if event.get("place") is not None]
    if not drawn or list(drawn[-1].get("team", ())) != list(team):
        return 0
    return int(drawn[-1]["place"]) + 1


def _of_event(event: Event) -> Assignment:
    team = tuple(event.get("team", ()))
    return Assignment(event["concept"], event.get("author", ""), event.get("reviewer", ""), team, event.get("place"))
