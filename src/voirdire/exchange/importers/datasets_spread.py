"""Further columns of rows a rating: those of the items, those of the raters, and those of the ratings themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from voirdire.exchange.free_text import NAMED, is_free_text
from voirdire.exchange.importers.cells import RATINGS, frame
from voirdire.exchange.importers.known import Known
from voirdire.exchange.importers.records import Record

FIXED = (*RATINGS, "pool")


@dataclass(frozen=True)
class Spread:
    """The ratings, and the tables of items and raters (None where nothing is known of them).

    texts : columns of raters' own words that were left out
    """

    ratings: pl.DataFrame
    items: pl.DataFrame | None
    raters: pl.DataFrame | None
    texts: tuple[str, ...] = ()


def spread(rows: Iterable[Mapping[str, Any]], *, with_texts: bool = False) -> Spread:
    """Take further columns apart: what is the same for every rating of an item is said of the item, what is the same
    for every rating of a rater of the rater, and the rest stays with the ratings, without texts of raters.

    Where everyone rated once, or every item has one rating, nothing tells what a text is about: it then counts as a
    rater's own by what it holds, or its name.

    >>> made = spread([{"item_id": "a", "rater_id": "u", "question": "q", "rating": 1, "text": "A", "age": 3, "s": 4},
    ...                {"item_id": "a", "rater_id": "v", "question": "q", "rating": 2, "text": "A", "age": 5, "s": 1},
    ...                {"item_id": "b", "rater_id": "u", "question": "q", "rating": 2, "text": "B", "age": 3, "s": 9}])
    >>> made.items.columns, made.raters.columns, made.ratings.columns[-1]
    (['item_id', 'text'], ['rater_id', 'age'], 's')
    """
    table = frame(rows, RATINGS)
    further = [name for name in table.columns if name not in FIXED]
    of_items = [name for name in further if _settled(table, "item_id", name)]
    of_raters = [name for name in further if name not in of_items and _settled(table, "rater_id", name)]
    rest = [name for name in further if name not in of_items and name not in of_raters]
    doubtful = [*rest, *(of_raters if _once(table, "rater_id") else ())]
    texts = [name for name in doubtful if is_free_text(table[name])]
    if _once(table, "item_id"):
        texts += [name for name in of_items if NAMED.search(name) and is_free_text(table[name])]
    left = set() if with_texts else set(texts)
    return Spread(
        table.select(name for name in table.columns if name not in (*of_items, *of_raters, *left)),
        _of(table, "item_id", [name for name in of_items if name not in left]),
        _of(table, "rater_id", [name for name in of_raters if name not in left]),
        tuple(name for name in further if name in left),
    )


def _once(table: pl.DataFrame, key: str) -> bool:
    """Whether no item (or rater) comes twice, so that every column has one value for each, whatever it says."""
    return table.select(key, "question").is_unique().all()


def _settled(table: pl.DataFrame, key: str, column: str) -> bool:
    """Whether a column has one value for each key."""
    return table.select(key, column).unique().height == table[key].n_unique()


def _of(table: pl.DataFrame, key: str, columns: list[str]) -> pl.DataFrame | None:
    return table.select(key, *columns).unique(maintain_order=True) if columns else None


def check_reused(parts: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Raises InputError for an item that is another one in another file.

    What tells an item is a column with one value for each item in every file, while it differs between items and a file
    has several ratings of an item; without such a column nothing shows it.
    """
    tables = {file: frame(rows, RATINGS) for file, rows in parts.items()}
    if not any(table.height > table["item_id"].n_unique() for table in tables.values()):
        return
    names = [name for table in tables.values() for name in table.columns if name not in FIXED]
    telling = [name for name in dict.fromkeys(names) if all(_tells(table, name) for table in tables.values())]
    known = Known("datasets.item_twice")
    for file, table in tables.items():
        for row in table.select("item_id", *telling).unique(maintain_order=True).iter_rows(named=True):
            known.keep(row["item_id"], row, Record({}, file, 0))


def _tells(table: pl.DataFrame, column: str) -> bool:
    return column in table.columns and table[column].n_unique() > 1 and _settled(table, "item_id", column)
