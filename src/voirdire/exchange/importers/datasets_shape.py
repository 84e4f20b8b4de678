"""Which columns of a Hugging Face data set are item, rater and rating: one row an item with lists, or one a rating."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voirdire.corpus.columns import NAMES, normal
from voirdire.errors import InputError
from voirdire.exchange.importers.contract import ImportOptions

ITEM, RATER, RATING = "item_id", "rater_id", "rating"
SCALAR, LIST, OBJECTS, COLUMNS = "scalar", "list", "objects", "columns"
"""Kinds of columns: one value, a list of values, a list of objects, an object of lists (an older form of the same)."""

RATINGS = ("annotation", "label", "rating", "score", "answer", "response", "judgment", "vote", "value")
HOLDERS = (*RATINGS, "annotator", "rater", "worker", "feedback")
PEOPLE = tuple(sorted({*NAMES[RATER][0].split(), RATER, "labeller_id", "coder_id"}))


@dataclass(frozen=True)
class Shape:
    """Where things stand.

    item : the column with the item's id; None where rows are numbered
    holder : the column with a list of objects, or an object of lists; empty where ratings are columns
    rater : column or field with the rater; None where a rater is known by a place alone
    ratings : columns or fields with ratings, each of which is a question
    lists : whether a row holds the ratings of several raters
    """

    item: str | None
    rater: str | None
    ratings: tuple[str, ...]
    holder: str = ""
    lists: bool = True

    @property
    def used(self) -> set[str]:
        """The columns that are no further columns."""
        inner = () if self.holder else (self.rater, *self.ratings)
        return {name for name in (self.item, self.holder, *inner) if name}


def kinds_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Column -> kind, by the first cell that tells it.

    >>> kinds_of([{"b": []}, {"a": 1, "b": [2]}, {"c": [{"d": 1}], "e": {"f": [1]}}])
    {'b': 'list', 'a': 'scalar', 'c': 'objects', 'e': 'columns'}
    """
    found: dict[str, str] = {}
    for row in rows:
        for name, value in row.items():
            if value == []:
                found.setdefault(name, LIST)
            elif value is not None and found.get(name, LIST) == LIST:
                found[name] = _kind(value)
    return found


def shape_of(rows: Sequence[Mapping[str, Any]], options: ImportOptions) -> Shape | None:
    """The shape, by what is mapped and by names that are known; None where these do not tell it.

    >>> shape_of([{"id": "a", "annotations": [1, 2], "annotator_ids": ["u", "v"]}], ImportOptions())
    Shape(item='id', rater='annotator_ids', ratings=('annotations',), holder='', lists=True)
    >>> shape_of([{"text": "a", "worker": "u", "label": 1, "id": 3}], ImportOptions()).lists
    False
    """
    kinds = kinds_of(rows)
    item = options.mapping.get(ITEM) or _known(kinds, SCALAR, _names(ITEM))
    asked = tuple(name.strip() for name in options.mapping.get(RATING, "").split(",") if name.strip())
    holder = _holder(kinds, options, asked)
    if holder is not None:
        return _inside(rows, kinds, holder, item, options, asked)
    rater = options.mapping.get(RATER)
    lists = any(kinds.get(name) == LIST for name in asked) if asked else _known_list(kinds) is not None
    if lists:
        found = _known_list(kinds)
        ratings = asked or ((found,) if found else ())
        people = rater or _plural(kinds, PEOPLE, ratings)
        return Shape(item, people, ratings) if ratings else None
    rater = rater or _known(kinds, SCALAR, PEOPLE)
    found = _known(kinds, SCALAR, _names(RATING))
    ratings = asked or ((found,) if found else ())
    return Shape(item, rater, ratings, lists=False) if item and rater and ratings else None


def check_columns(shape: Shape, rows: Sequence[Mapping[str, Any]], options: ImportOptions, file: str) -> None:
    """Raises InputError where a column that was mapped is not there."""
    known = kinds_of(rows)
    for ours, theirs in options.mapping.items():
        for name in theirs.split(","):
            column = name.strip().split(".")[0]
            if column not in known and not (shape.holder and ours != ITEM):
                raise InputError("datasets.mapped", file=file, ours=ours, value=column, known=", ".join(known))


def _kind(value: Any) -> str:
    if isinstance(value, list):
        return OBJECTS if any(isinstance(one, dict) for one in value) else LIST
    if isinstance(value, dict):
        return COLUMNS if any(isinstance(one, list) for one in value.values()) else "object"
    return SCALAR


def _holder(kinds: Mapping[str, str], options: ImportOptions, asked: Sequence[str]) -> str | None:
    """The column with objects that hold ratings: the one that is mapped (``annotations.label``), or known by name."""
    nested = [name.split(".")[0] for name in (*asked, options.mapping.get(RATER, "")) if "." in name]
    if nested:
        return nested[0]
    if asked:
        return None
    found = [name for name, kind in kinds.items() if kind in (OBJECTS, COLUMNS) and _singular(name) in HOLDERS]
    return found[0] if len(found) == 1 else None


def _inside(
    rows: Sequence[Mapping[str, Any]],
    kinds: Mapping[str, str],
    holder: str,
    item: str | None,
    options: ImportOptions,
    asked: Sequence[str],
) -> Shape | None:
    held: dict[str, None] = {}
    for row in rows:
        value = row.get(holder)
        for one in value if isinstance(value, list) else [value]:
            held |= dict.fromkeys(one) if isinstance(one, dict) else {}
    fields = dict.fromkeys(held, SCALAR)
    rater = options.mapping.get(RATER, "").removeprefix(f"{holder}.") or _known(fields, SCALAR, (*PEOPLE, "id"))
    found = _known(fields, SCALAR, (*_names(RATING), "value"))
    ratings = tuple(name.removeprefix(f"{holder}.") for name in asked) or ((found,) if found else ())
    return Shape(item, rater, ratings, holder) if ratings and kinds.get(holder) in (OBJECTS, COLUMNS) else None


def _names(ours: str) -> tuple[str, ...]:
    likely, weak = NAMES[ours]
    return (ours, *likely.split(), *weak.split())


def _known(kinds: Mapping[str, str], kind: str, names: Sequence[str]) -> str | None:
    """The one column of a kind that has one of the names; the first name of which there is exactly one."""
    for name in names:
        found = [column for column, one in kinds.items() if one == kind and normal(column) == name]
        if len(found) == 1:
            return found[0]
    return None


def _known_list(kinds: Mapping[str, str]) -> str | None:
    """The list of ratings: the only list with a known name."""
    lists = [name for name, kind in kinds.items() if kind == LIST and _singular(name) in RATINGS]
    return lists[0] if len(lists) == 1 else None


def _plural(kinds: Mapping[str, str], names: Sequence[str], taken: Sequence[str]) -> str | None:
    found = [name for name, kind in kinds.items() if kind == LIST and name not in taken and _singular(name) in names]
    return found[0] if len(found) == 1 else None


def _singular(name: str) -> str:
    return normal(name).removesuffix("s")
