"""What was said of items and people before: an id that comes again has to mean the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from voirdire.exchange.importers.cells import cell
from voirdire.exchange.importers.records import Record, shown

ITEM, PERSON, PATTERN = "known.item", "known.person", "known.pattern"


@dataclass
class Known:
    """Rows by id, and where each was first said.

    key : the sentence for an id that means different things. Its fields are those of every error about a record, and
        ``item``, ``earlier`` (the value before), ``where`` (file and line of that) and ``how``
    how : what to do about it, where the sentence asks for that
    partial : an empty field says nothing; otherwise it has to be empty again
    lenient : what was said first stands, whatever else is said

    >>> known = Known()
    >>> known.keep("1", {"text": "a"}, Record({}, "a.json", 3))
    >>> known.keep("1", {"text": "a"}, Record({}, "b.json", 5))
    >>> known.rows
    {'1': {'text': 'a'}}
    """

    key: str = ITEM
    how: str = ""
    partial: bool = False
    lenient: bool = False
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    places: dict[str, tuple[str, int]] = field(default_factory=dict)

    def keep(self, name: str, row: Mapping[str, Any], at: Record, *, partial: bool = False) -> None:
        """Add what is said of an id. Raises InputError where other things were said of it before."""
        self.check(name, row, at, partial=partial)
        self.places.setdefault(name, (at.file, at.line))
        before = self.rows.setdefault(name, {})
        before |= {field: value for field, value in row.items() if cell(before.get(field)) is None}

    def check(self, name: str, row: Mapping[str, Any], at: Record, *, partial: bool = False) -> None:
        """Raises InputError where other things were said of an id; where nothing was said, all is well."""
        before = self.rows.get(name, {})
        if self.lenient or _empty(before) or _empty(row):
            return
        differ = next(_differing(before, row, partial=partial or self.partial), None)
        if differ is not None:
            file, line = self.places[name]
            told = {"earlier": shown(cell(before.get(differ)) or ""), "where": f"{file}:{line}", "how": self.how}
            raise at.error(self.key, differ, cell(row.get(differ)) or "", item=name, **told)


def _empty(row: Mapping[str, Any]) -> bool:
    return all(cell(value) is None for value in row.values())


def _differing(before: Mapping[str, Any], row: Mapping[str, Any], *, partial: bool) -> Iterator[str]:
    for name in dict.fromkeys((*row, *before)):
        values = cell(before.get(name)), cell(row.get(name))
        if values[0] != values[1] and not (partial and None in values):
            yield name
