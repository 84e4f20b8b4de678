"""Tasks of Label Studio as items: their ids, and their data as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

import polars as pl

from voirdire.exchange.importers.cells import ITEMS, frame
from voirdire.exchange.importers.known import Known
from voirdire.exchange.importers.records import ID, Record
from voirdire.exchange.release_images import is_safe_path

OURS = "voirdire_"
OUR_ITEM, OUR_POOL, OUR_LANGUAGE = f"{OURS}item", f"{OURS}pool", f"{OURS}language"
"""Data that ``voirdire export labelstudio`` gives to its tasks, by which they are known again."""

WORDED = ("text", "prompt")
LOCAL = "/data/local-files/?d="
"""How a task names a file that Label Studio serves from its own disk."""

OTHERWISE = ("item_id", "level", "min", "max")
"""Columns that mean something else in the items table."""


class Items:
    """Items by id.

    id_field : the field of the data that holds the id, where it is not the task's; pool_field : a field of the data
        that becomes a column of the ratings, as the pool
    own_ids : whether the ids are the user's own, so that tasks of an id may each say a part of it; else an id that
        comes again has to come with the same data. An ``id_field`` is of that kind unless it is said
    """

    def __init__(self, id_field: str | None, pool_field: str | None, *, own_ids: bool | None = None) -> None:
        self.id_field, self.pool_field = id_field, pool_field
        self.told = Known("labelstudio.item_twice", partial=id_field is not None if own_ids is None else own_ids)
        self.rows: dict[str, dict[str, Any]] = {}
        self.raw: dict[str, dict[str, Any]] = {}

    def of(self, task: Record) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """The id of a task, its row of the items table, and what its data says of each of its ratings."""
        task.need("data", dict)
        data = task.inside("data")
        ours = data.may(OUR_ITEM, ID)
        if self.id_field is not None:
            item = data.need(self.id_field, ID)
        else:
            item = ours if ours is not None else task.need("id", ID)
        told = data.value.get(self.pool_field) if self.pool_field is not None else None
        more = {} if told is None else {str(self.pool_field): told}
        if ours is None:
            return item, _as_given(data.value, self.id_field), more
        return item, _as_ours(data), {"pool": data.may(OUR_POOL, str), "language": data.may(OUR_LANGUAGE, str), **more}

    def keep(self, item: str, row: dict[str, Any], task: Record) -> None:
        """Add an item, or what another task says of it. Raises InputError where two tasks of an id differ."""
        data = task.inside("data")
        self.told.keep(item, row, data, partial=OUR_ITEM in data.value)
        self.rows.setdefault(item, {"item_id": item}).update(row)
        self.raw[item] = task.value["data"]

    def sided(self, sides: Sequence[str]) -> bool:
        """Name the two things of every item, by the fields that hold them; whether that could be done."""
        if len(sides) != 2 or not all(set(sides) <= set(data) for data in self.raw.values()):
            return False
        for item, data in self.raw.items():
            self.rows[item] |= {"a": data[sides[0]], "b": data[sides[1]]}
        return True

    def frame(self) -> pl.DataFrame:
        """The items table."""
        return frame(self.rows.values(), ITEMS)


def _as_given(data: Mapping[str, Any], id_field: str | None) -> dict[str, Any]:
    named = ((name, value) for name, value in data.items() if name != id_field)
    return {f"{name}_given" if name in OTHERWISE else name: value for name, value in named}


def _as_ours(data: Record) -> dict[str, Any]:
    """A task of our own export: texts go back to the columns of their language, images to their paths."""
    language = data.may(OUR_LANGUAGE, str)
    row = {}
    for name, value in data.value.items():
        if name.startswith(OURS):
            continue
        if name in WORDED and language is not None:
            row[f"{name}.{language}"] = value
        elif name == "image" and isinstance(value, str) and value.startswith(LOCAL):
            path = unquote(value.removeprefix(LOCAL))
            row[name] = path if is_safe_path(path) else value
        else:
            row[name] = value
    return {name: value for name, value in row.items() if value != ""}
