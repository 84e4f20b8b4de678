"""Where each concept stands in the authoring protocol, as its history tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from voirdire.construction.concepts import ConceptItem
from voirdire.construction.history import Event, History
from voirdire.construction.schedule import ASSIGNED, Assignment, assigned

AUTHORING = "authoring"
TEXT = "text"
"""Kind of the events that tell what was written into the table of concepts."""

WRITE = "write"
OPEN, DRAFTED, REVIEWED, REVISED, ACCEPTED, REJECTED = "open", "drafted", "reviewed", "revised", "accepted", "rejected"
STATES = (OPEN, DRAFTED, REVIEWED, REVISED, ACCEPTED, REJECTED)
REASONS = ("factual", "uncontested", "stereotype", "duplicate", "other")
"""Why a concept is rejected: its question has an answer to look up; its pools have no grounds to differ; it shows
cultures by their props; it repeats another concept; something else, which the note says."""


@dataclass(frozen=True, slots=True)
class Move:
    """A step of the protocol: from which states, to which one, and by whom (``author``, ``reviewer``)."""

    start: tuple[str, ...]
    end: str
    who: tuple[str, ...]


MOVES: Mapping[str, Move] = {
    "submit": Move((OPEN, DRAFTED), DRAFTED, ("author",)),
    "review": Move((DRAFTED, REVISED), REVIEWED, ("reviewer",)),
    "revise": Move((REVIEWED, REVISED, ACCEPTED), REVISED, ("author",)),
    "accept": Move((REVIEWED, REVISED), ACCEPTED, ("reviewer",)),
    "reject": Move((DRAFTED, REVIEWED, REVISED, ACCEPTED), REJECTED, ("reviewer", "author")),
}

Text = dict[str, dict[str, Any]]
"""culture -> category, realisation, and by language the question and the description of the image."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a concept stands.

    state : one of STATES; at, by : of the last move; reason : of a rejection; note : of the last move
    text : as it was handed in last; writers : everyone who wrote in it or handed it in; reviews : how often reviewed
    """

    concept: str
    author: str = ""
    reviewer: str = ""
    state: str = OPEN
    at: str = ""
    by: str = ""
    reason: str = ""
    note: str = ""
    text: Mapping[str, Any] = field(default_factory=dict, repr=False)
    writers: tuple[str, ...] = ()
    reviews: int = 0

    def can(self) -> dict[str, tuple[str, ...]]:
        """The moves that are possible from here -> the people who may make them.

        >>> Standing("tea", "ana", "bo", "drafted").can()
        {'submit': ('ana',), 'review': ('bo',), 'reject': ('bo', 'ana')}
        """
        people = {"author": self.author, "reviewer": self.reviewer}
        possible = {name: move for name, move in MOVES.items() if self.state in move.start}
        return {name: tuple(people[role] for role in move.who) for name, move in possible.items()}

    @property
    def waiting(self) -> str:
        """The person whose turn it is; empty when the concept is accepted or rejected."""
        turns = {OPEN: self.author, DRAFTED: self.reviewer, REVIEWED: self.author, REVISED: self.reviewer}
        return turns.get(self.state, "")


def standings(history: History) -> dict[str, Standing]:
    """concept -> where it stands, of every concept that the history speaks of."""
    people = assigned(history)
    found: dict[str, Standing] = {}
    for event in history.of_kind(ASSIGNED, AUTHORING, TEXT):
        concept = event["concept"]
        before = found.get(concept, Standing(concept))
        if event["kind"] == ASSIGNED:
            now: Assignment = people[concept]
            found[concept] = replace(before, author=now.author, reviewer=now.reviewer)
        elif event["kind"] == AUTHORING:
            found[concept] = _moved(before, event)
        elif event.get("action") == WRITE:
            found[concept] = replace(before, writers=_with(before.writers, event["by"]))
    return found


def text_of(items: Sequence[ConceptItem]) -> Text:
    """What is authored of a concept, by culture.

    >>> text_of([ConceptItem("tea-us", "tea", "food", "us", "iced tea", {"en": "Is it usual?"})])["us"]["realisation"]
    'iced tea'
    """
    return {item.culture: _text(item) for item in items}


def _text(item: ConceptItem) -> dict[str, Any]:
    told: dict[str, Any] = {"category": item.category, "realisation": item.realisation, "prompt": dict(item.prompts)}
    return told | ({"alt": dict(item.alts)} if item.alts else {})


def undescribed(before: Mapping[str, Any], now: Mapping[str, Any], language: str) -> tuple[str, ...]:
    """Cultures whose image is described in a language now, and was not when the text was handed in.

    >>> undescribed({"us": {"prompt": {}}}, {"us": {"alt": {"en": "A glass"}}}, "en")
    ('us',)
    """
    return tuple(
        culture
        for culture, part in now.items()
        if language in part.get("alt", {}) and language not in before.get(culture, {}).get("alt", {})
    )


def differs(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether what was written before has changed. What was empty then and is filled now (a translation) has not.

    >>> before = {"us": {"realisation": "iced tea", "prompt": {"en": "Usual?"}}}
    >>> differs(before, {"us": {"realisation": "iced tea", "prompt": {"en": "Usual?", "zh": "常见吗？"}}})
    False
    >>> differs(before, {"us": {"realisation": "hot tea", "prompt": {"en": "Usual?"}}})
    True
    """
    if set(now) - set(before):
        return True
    return any(_changed(part, now.get(culture)) for culture, part in before.items())


def _changed(before: Any, now: Any) -> bool:
    if isinstance(before, Mapping):
        return not isinstance(now, Mapping) or any(_changed(part, now.get(name)) for name, part in before.items())
    return bool(before != now)


def _moved(before: Standing, event: Event) -> Standing:
    """A standing after a move; an event that knows no such move leaves it as it is."""
    move = MOVES.get(event.get("action", ""))
    if move is None:
        return before
    wrote, text = event["action"] in ("submit", "revise"), event.get("text")
    return replace(
        before,
        state=move.end,
        at=event["at"],
        by=event["by"],
        reason=str(event.get("reason", "")),
        note=str(event.get("note", "")),
        text=text if wrote and isinstance(text, Mapping) else before.text,
        writers=_with(before.writers, event["by"]) if wrote else before.writers,
        reviews=before.reviews + (event["action"] == "review"),
    )


def _with(people: tuple[str, ...], person: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*people, person)))
