"""Further columns of rows a rating: those of the items, those of the raters, and those of the ratings themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from voirdire.exchange.free_text import is_free_text
from voirdire.exchange.importers.cells import RATINGS, frame

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
    texts = () if with_texts else tuple(name for name in rest if is_free_text(table[name]))
    return Spread(
        table.select(name for name in table.columns if name not in (*of_items, *of_raters, *texts)),
        _of(table, "item_id", of_items),
        _of(table, "rater_id", of_raters),
        texts,
    )


def _settled(table: pl.DataFrame, key: str, column: str) -> bool:
    """Whether a column has one value for each key."""
    return table.select(key, column).unique().height == table[key].n_unique()


def _of(table: pl.DataFrame, key: str, columns: list[str]) -> pl.DataFrame | None:
    return table.select(key, *columns).unique(maintain_order=True) if columns else None
