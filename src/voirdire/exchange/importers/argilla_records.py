"""A record of Argilla: its item, the responses of every user and the suggestions, nested or flattened.

Both forms as ``argilla.records._io`` of the package argilla 2.8 writes them. Nested: ``{"id", "fields", "metadata",
"suggestions": {question: {"value", "score", "agent"}}, "responses": {question: [{"value", "user_id"}]}, "vectors",
"status", "_server_id"}``. Flattened: fields and metadata beside ``id``, and ``question.responses``,
``question.responses.users``, ``question.responses.status``, ``question.suggestion``, ``question.suggestion.agent``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from voirdire.exchange.importers.labelstudio_items import OTHERWISE
from voirdire.exchange.importers.records import ID, Record

RESPONSES, SUGGESTION = ".responses", ".suggestion"
USERS, STATUS, AGENT, SCORE = ".users", ".status", ".agent", ".score"
OWN = ("id", "status", "_server_id", "score", "vectors")
"""Columns of a flattened record that say nothing of the item."""

UNNAMED = "suggestions"
"""The judge of suggestions that name no agent."""


@dataclass(frozen=True)
class Said:
    """One response or suggestion.

    who : the user, or the agent; status : submitted, draft or discarded; None where the form does not tell it
    """

    question: str
    who: str
    value: Any
    status: str | None = None


def is_flat(record: Record) -> bool:
    """Whether a record is of the flattened form."""
    return not isinstance(record.value.get("fields"), dict)


def item_of(record: Record) -> tuple[str, dict[str, Any]]:
    """The id of a record, and its row of the items table. What is no text or number for people is left out."""
    own = record.may("id", ID)
    item = own if own is not None else record.may("_server_id", ID) or record.need("id", ID)
    if is_flat(record):
        found = {name: value for name, value in record.value.items() if name not in OWN and not _is_answer(name)}
    else:
        metadata = record.inside("metadata").value
        found = dict(record.inside("fields").value)
        found |= {f"{name}_given" if name in found else name: value for name, value in metadata.items()}
    return item, {
        f"{name}_given" if name in OTHERWISE else name: value for name, value in found.items() if _read(value)
    }


def responses_of(record: Record) -> Iterator[tuple[Said, Record]]:
    """Every response, and where it stands."""
    if is_flat(record):
        for name in record.value:
            if name.endswith(RESPONSES):
                yield from _flat(record, name)
        return
    held = record.inside("responses")
    for question in held.value:
        for part in held.each(question):
            yield Said(question, part.need("user_id", ID), part.value.get("value"), part.may("status", str)), part


def suggestions_of(record: Record) -> Iterator[tuple[Said, Record]]:
    """Every suggestion, and where it stands."""
    if is_flat(record):
        for name, value in record.value.items():
            if name.endswith(SUGGESTION) and value is not None:
                agent = record.may(f"{name}{AGENT}", ID) or UNNAMED
                yield Said(name.removesuffix(SUGGESTION), agent, value), record
        return
    held = record.inside("suggestions")
    for question in held.value:
        part = held.inside(question)
        if part.value:
            yield Said(question, part.may("agent", ID) or UNNAMED, part.value.get("value")), part


def _flat(record: Record, name: str) -> Iterator[tuple[Said, Record]]:
    values = record.may(name, list) or []
    users = record.may(f"{name}{USERS}", list) or []
    states = record.may(f"{name}{STATUS}", list) or [None] * len(values)
    if not len(values) == len(users) == len(states):
        raise record.error("argilla.lengths", name, values, users=len(users), states=len(states))
    for value, user, state in zip(values, users, states, strict=True):
        part = Record({"user": user, "status": state}, record.file, record.line, name)
        yield Said(name.removesuffix(RESPONSES), part.need("user", ID), value, part.may("status", str)), part


def _is_answer(name: str) -> bool:
    endings = (RESPONSES, RESPONSES + USERS, RESPONSES + STATUS, SUGGESTION, SUGGESTION + AGENT, SUGGESTION + SCORE)
    return name.endswith(endings)


def _read(value: Any) -> bool:
    """Whether people read a value: no vector, and no bytes of an image."""
    if isinstance(value, list):
        return not (value and all(isinstance(one, float) for one in value))
    if isinstance(value, dict) and "bytes" in value:
        return False
    return not (isinstance(value, bytes) or (isinstance(value, str) and value.startswith("data:")))
