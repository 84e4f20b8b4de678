"""The corpus that a database belongs to: what has changed in its items since, and taking changes on knowingly.

Kept are a digest of all items and one for each cell of each item, so that a change can be named.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select, update

from voirdire.annotation.as_json import spec_from_json
from voirdire.annotation.database import Database
from voirdire.annotation.inserting import happened, insert_new
from voirdire.annotation.material import Shown
from voirdire.annotation.nouns import BatchSpec
from voirdire.annotation.schema import answers, assignments, batches, events, service
from voirdire.annotation.study_checks import check_items
from voirdire.corpus.shown import UNKNOWN_LANGUAGE, Item
from voirdire.errors import UsageError

Marks = Mapping[str, Mapping[str, str]]
"""Item id -> column -> digest of the cell."""

EVENT = "corpus_changed"
MOST_NAMED = 5
MARK_LENGTH = 16


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs between the items that a database knows and those of the corpus now.

    changed : item id -> columns. known : False when the database holds no digests of single items, so that nothing but
    missing items can be named
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: Mapping[str, tuple[str, ...]] | None = None
    known: bool = True

    def told(self) -> dict[str, str]:
        """How many items were changed, added and removed, and the first of them, as fields of a sentence.

        >>> Changes(("d",), (), {"a": ("text.en", "image")}).told()
        {'changed': '1: a (text.en, image)', 'added': '1: d', 'removed': '0'}
        """
        changed = [f"{name} ({', '.join(columns)})" for name, columns in (self.changed or {}).items()]
        return {
            "changed": _first(changed) if self.known else "?",
            "added": _first(self.added) if self.known else "?",
            "removed": _first(self.removed),
        }


@dataclass(frozen=True, slots=True)
class Accepted:
    """Changes that were taken on, and when."""

    at: float
    changes: Changes


def bind_corpus(db: Database, shown: Shown, now: float, *, accept: bool = False) -> Changes | None:
    """Say which corpus the database belongs to; gives the changes that were taken on.

    accept : take on changes of the items: the new digests hold from now on, and the history keeps old and new ones
    Raises UsageError when the database belongs to another corpus, when items have changed and that is not accepted,
    and, always, when an item of a batch is gone; InputError when a batch could not be asked any more.
    """
    with db.writing() as connection:
        for name, value in (("corpus_name", shown.name), ("corpus_digest", shown.digest)):
            insert_new(connection, service, {"name": name, "value": value})
        changes = _changes(connection, shown)
        if changes is None:
            insert_new(connection, service, {"name": "corpus_items", "value": _written(shown)})
            return None
        specs = _specs(connection)
        _refuse_other(db, connection, shown, specs)
        asked = dict.fromkeys(name for spec in specs for name in asked_items(spec))
        _refuse_lost(db, [name for name in asked if name not in shown.items])
        if not accept:
            key = "annotation.corpus_changed" if changes.known else "annotation.corpus_changed_somehow"
            raise UsageError(key, value=db.name, **changes.told())
        for spec in specs:
            mine = {name: shown.items[name] for name in asked_items(spec)}
            check_items(spec.study, replace(shown, items=mine))
        _take_on(connection, shown, changes, now)
        return changes


def changes_since(db: Database, shown: Shown) -> Changes | None:
    """What has changed in the items since the database took them on, None for nothing.

    Raises UsageError when the database belongs to another corpus, and when an item that was rated is gone.
    """
    with db.reading() as connection:
        changes = _changes(connection, shown)
        if changes is None:
            return None
        _refuse_other(db, connection, shown, _specs(connection))
        joined = answers.join(assignments, answers.c.assignment_id == assignments.c.id)
        rated = connection.execute(select(assignments.c.item_id).select_from(joined).distinct()).scalars().all()
    _refuse_lost(db, sorted(name for name in rated if name not in shown.items))
    return changes


def accepted_changes(db: Database) -> list[Accepted]:
    """Every change of the items that was taken on, the first first."""
    wanted = select(events.c.at, events.c.value).where(events.c.kind == EVENT).order_by(events.c.id)
    with db.reading() as connection:
        return [Accepted(row.at, _read(json.loads(row.value))) for row in connection.execute(wanted)]


def asked_items(spec: BatchSpec) -> tuple[str, ...]:
    """The items that a batch asks, those with known answers after the others."""
    return tuple(dict.fromkeys((*spec.items, *(gold.item_id for gold in spec.study.gold))))


def marks_of(shown: Shown) -> dict[str, dict[str, str]]:
    """A digest for each cell of each item that raters see or that decides how items are given out."""
    return {
        name: {column: _mark(value) for column, value in _cells(item, shown.folder) if value}
        for name, item in shown.items.items()
    }


def _changes(connection: Connection, shown: Shown) -> Changes | None:
    known = _service(connection)
    if known.get("corpus_digest", shown.digest) == shown.digest:
        return None
    if "corpus_items" not in known:
        asked = dict.fromkeys(name for spec in _specs(connection) for name in asked_items(spec))
        return Changes(removed=tuple(name for name in asked if name not in shown.items), known=False)
    return _between(json.loads(known["corpus_items"]), marks_of(shown))


def _between(old: Marks, new: Marks) -> Changes:
    differ = {
        name: tuple(column for column in dict.fromkeys((*old[name], *new[name])) if _differs(old, new, name, column))
        for name in new
        if name in old
    }
    return Changes(
        tuple(name for name in new if name not in old),
        tuple(name for name in old if name not in new),
        {name: columns for name, columns in differ.items() if columns},
    )


def _differs(old: Marks, new: Marks, name: str, column: str) -> bool:
    return old[name].get(column) != new[name].get(column)


def _refuse_other(db: Database, connection: Connection, shown: Shown, specs: Sequence[BatchSpec]) -> None:
    """Refuse a corpus none of whose items the database knows."""
    known = _service(connection)
    items = set(json.loads(known.get("corpus_items", "{}"))) | {name for spec in specs for name in asked_items(spec)}
    if items.isdisjoint(shown.items):
        raise UsageError("annotation.other_corpus", value=db.name, known=known["corpus_name"], corpus=shown.name)


def _refuse_lost(db: Database, lost: Sequence[str]) -> None:
    if lost:
        raise UsageError("annotation.items_gone", value=db.name, count=len(lost), items=_first(lost, counted=False))


def _take_on(connection: Connection, shown: Shown, changes: Changes, now: float) -> None:
    old = connection.execute(select(service.c.value).where(service.c.name == "corpus_digest")).scalar_one()
    told = {"from": old, "to": shown.digest, **asdict(changes)}
    happened(connection, EVENT, now, value=json.dumps(told, ensure_ascii=False))
    for name, value in (("corpus_digest", shown.digest), ("corpus_items", _written(shown))):
        if not insert_new(connection, service, {"name": name, "value": value}):
            connection.execute(update(service).where(service.c.name == name).values(value=value))


def _read(raw: Mapping[str, Any]) -> Changes:
    changed = {name: tuple(columns) for name, columns in (raw["changed"] or {}).items()}
    return Changes(tuple(raw["added"]), tuple(raw["removed"]), changed, raw["known"])


def _service(connection: Connection) -> dict[str, str]:
    return {row.name: row.value for row in connection.execute(select(service.c.name, service.c.value))}


def _specs(connection: Connection) -> list[BatchSpec]:
    return [spec_from_json(spec) for spec in connection.execute(select(batches.c.spec)).scalars()]


def _written(shown: Shown) -> str:
    return json.dumps(marks_of(shown), ensure_ascii=False)


def _mark(value: str) -> str:
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:MARK_LENGTH]


def _cells(item: Item, folder: Path) -> Iterator[tuple[str, str]]:
    """The columns of an item with their values, "" for an empty one."""
    for column, worded in (("prompt", item.prompts), ("text", item.texts), ("alt", item.alts)):
        for language, value in worded.items():
            yield (column if language == UNKNOWN_LANGUAGE else f"{column}.{language}"), value
    yield "image", "" if item.image is None else item.image.relative_to(folder).as_posix()
    for column, own in (("pair_id", item.pair), ("culture", item.culture), ("category", item.category)):
        yield column, own or ""
    yield "level, min, max", str(item.scale or "")
    yield "split", item.split


def _first(names: Sequence[str], *, counted: bool = True) -> str:
    """How many there are, and the first of them."""
    named = ", ".join(names[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")
    if not counted:
        return named
    return f"{len(names)}: {named}" if names else "0"
