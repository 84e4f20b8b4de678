"""Personal data of raters, taken out of the tables of every format in one place, and told."""

from __future__ import annotations

import polars as pl

from voirdire.corpus.columns import normal
from voirdire.corpus.corpus import Note
from voirdire.exchange.importers.contract import ImportOptions
from voirdire.exchange.importers.people import (
    ID,
    KEYS,
    TEXTS,
    about_raters,
    masked,
    personal_ids,
    replace_ids,
    without_personal,
    without_texts,
)
from voirdire.exchange.importers.platforms import any_identity

Frames = dict[str, pl.DataFrame]

FIRST = ("item_id", "rater_id", "pool", "question", "rating")
OTHERS = (*FIRST, "answered_at", "at", "status")
"""Columns of the comments that hold no text."""


def leave_out(tables: Frames, options: ImportOptions) -> tuple[Frames, list[Note]]:
    """Texts of raters go unless they are wanted, and columns with personal data whoever brought them."""
    made = dict(tables)
    notes = []
    for name in ("ratings", "raters"):
        if name not in made:
            continue
        texts = [column for column in made[name].columns if normal(column) in TEXTS]
        if options.with_text_of_raters:
            made[name], count = masked(made[name], texts)
            notes += _masked(name, count)
        else:
            made[name], found = without_texts(made[name])
            fields = {"table": name, "columns": ", ".join(found), "count": sum(found.values())}
            notes += [Note("personal.texts", fields)] if found else []
    for name in ("raters", "ratings"):
        if name in made:
            kept = [column for column in made[name].columns if normal(column) in TEXTS]
            made[name], dropped = without_personal(made[name], keep=(*FIRST, *kept))
            notes += _dropped(name, dropped)
    if "comments" in made:
        named = tuple(name for name in made["comments"].columns if name not in OTHERS and about_raters(name))
        written = made["comments"].drop(named)
        notes += _dropped("comments", named)
        made["comments"], count = masked(written, [name for name in written.columns if name not in OTHERS])
        notes += _masked("comments", count)
    return _items(made, notes), notes


def replace_everywhere(tables: Frames, every: bool) -> tuple[Frames, list[Note]]:
    """Ids of raters, and of judges who are people, that are personal become r1, r2, ... in every table.

    every : all ids of raters are personal; otherwise those that have the form of an address or of a platform's id
    """
    raters = _column(tables, ("ratings", "raters", "comments"), ID)
    judges = _column(tables, ("judgments", "judges"), "judge")
    names = {} if raters is None else personal_ids(raters, every)
    if judges is not None:
        names |= personal_ids(judges.filter(~judges.is_in(list(names))), every=False, used=names.values())
    made = {name: replace_ids(table, names) for name, table in tables.items()}
    return made, [Note("importing.note.ids", {"count": len(names)})] if names else []


def _column(tables: Frames, named: tuple[str, ...], column: str) -> pl.Series | None:
    found = [tables[name][column] for name in named if name in tables and column in tables[name].columns]
    return pl.concat(found) if found else None


def _items(made: Frames, notes: list[Note]) -> Frames:
    """The items without columns that tell who rated; what they show to raters stays as it is."""
    if "items" not in made:
        return made
    items = made["items"]
    dropped = tuple(
        name
        for name in items.columns
        if name != "item_id"
        and (about_raters(name) or (normal(name) in KEYS and any_identity(items[name].drop_nulls().unique())))
    )
    notes += _dropped("items", dropped)
    return {**made, "items": items.drop(dropped)}


def _dropped(table: str, columns: tuple[str, ...]) -> list[Note]:
    return [Note("importing.note.personal", {"table": table, "columns": ", ".join(columns)})] if columns else []


def _masked(table: str, count: int) -> list[Note]:
    return [Note("personal.masked", {"table": table, "count": count})] if count else []
