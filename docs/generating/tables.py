"""``reference/tables.md``: every table, column by column."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from generating.common import code, table
from generating.declared_tables import declared_tables, other_names
from voirdire.corpus.columns import NAMES

TEXTS = Path(__file__).with_name("tables.toml")
INTRODUCTION = """Every table that voirdire reads or writes, with its columns. Tables are long: a row is one thing.
Written tables are UTF-8; missing is an empty cell in csv and null in Parquet, never 0 and never NaN. The keys of
configuration files stand in [configuration](configuration.md).
"""


@cache
def described() -> dict[str, Mapping[str, Any]]:
    """Table -> what is told of it: title, file, about, columns."""
    return {one["id"]: one for one in _texts()["table"]}


@cache
def _texts() -> Mapping[str, Any]:
    return tomllib.loads(TEXTS.read_text(encoding="utf-8"))


def page() -> str:
    """The page of tables."""
    lines = ["# Tables", "", INTRODUCTION]
    declared = declared_tables()
    for group in _texts()["group"]:
        lines += [f"## {group['title']}", "", group["about"].strip(), ""]
        for name in group["tables"]:
            lines += [*_table(described()[name], declared[name], RECOGNISED.get(name, ())), ""]
    return "\n".join(lines)


RECOGNISED: Mapping[str, Collection[str]] = {
    **dict.fromkeys(("ratings", "raters", "questions", "shares", "judgments", "judges", "conditions"), NAMES),
    "items": ("item_id",),
}
"""Tables and the columns of each that are recognised by other names."""


def _table(told: Mapping[str, Any], columns: Mapping[str, str], recognised: Collection[str]) -> Iterator[str]:
    yield from (f"### {told['title']}", "", f"{told['about'].strip()}", "", f"File: {told['file']}.", "")
    rows = [_row(name, told["columns"][name], columns[name], recognised) for name in columns]
    heads = ["column", "meaning", "type", "missing", "also read as"]
    filled = [place for place in range(len(heads)) if any(row[place] for row in rows)]
    yield from table([heads[place] for place in filled], [[row[place] for place in filled] for row in rows])


def _row(name: str, told: list[str], kind: str, recognised: Collection[str]) -> list[str]:
    own, missing, meaning = told
    return [code(name), meaning, own or kind, missing, other_names(name) if name in recognised else ""]
