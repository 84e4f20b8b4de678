"""One order of rows for every form of a release, and the splits by which Hugging Face names parts of a data set."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import polars as pl

SPLITS = ("test", "demonstration", "pilot", "rejected")
BY_ITEM = ("items", "ratings", "judgments")
"""Tables whose rows belong to an item, and with it to a split."""

_RANK = "_rank"
_RESERVED = "all"
"""Hugging Face's word for every split together."""


def split_name(cell: str | None) -> str:
    """A value of the items' ``split`` column as a split of Hugging Face can be called.

    >>> split_name(None), split_name("Pilot 2"), split_name("all"), split_name("保留")
    ('test', 'pilot_2', 'all_', '保留')
    """
    name = re.sub(r"\W+", "_", (cell or SPLITS[0]).casefold()).strip("_") or SPLITS[0]
    return f"{name}_" if name == _RESERVED else name


def splits_of(items: pl.DataFrame) -> dict[str, str]:
    """Item id -> the name of its split.

    >>> splits_of(pl.DataFrame({"item_id": ["a", "b"], "split": ["pilot", None]}))
    {'a': 'pilot', 'b': 'test'}
    """
    cells = items["split"].to_list() if "split" in items.columns else [None] * items.height
    return {str(item): split_name(cell) for item, cell in zip(items["item_id"], cells, strict=True)}


def ranked_splits(items: pl.DataFrame) -> list[str]:
    """The splits that occur: test, demonstration, pilot and rejected first, others by name."""
    found = set(splits_of(items).values())
    return [name for name in SPLITS if name in found] + sorted(found - set(SPLITS))


def in_order(tables: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The tables with their rows in an order that says nothing of when, and by whom, they were made.

    Items by split, else as they stand; ratings by split, question, pool, item and rater; raters by pool and id;
    comments as ratings; judgments by split, else as they stand; the other tables as they stand. Pools and questions
    keep their order. Ratings that are equal in all of these keep theirs.
    """
    made = dict(tables)
    made["items"] = _by_split(tables["items"], tables["items"])
    orders = {
        "question": tables["questions"]["question"] if "questions" in tables else tables["ratings"]["question"],
        "pool": tables["ratings"]["pool"],
        "item_id": made["items"]["item_id"],
    }
    for name in ("ratings", "comments"):
        if name in tables:
            keys = [_place(key, values) for key, values in orders.items() if key in tables[name].columns]
            further = [key for key in tables[name].columns if key not in orders and key != "rater_id"]
            last = further if name == "comments" else []
            rows = tables[name].sort([*keys, "rater_id", *last], maintain_order=True)
            made[name] = _by_split(rows, tables["items"])
    made["raters"] = tables["raters"].sort(_place("pool", orders["pool"]), "rater_id")
    if "judgments" in tables:
        made["judgments"] = _by_split(tables["judgments"], tables["items"])
    return made


def partition(frame: pl.DataFrame, items: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """A table in the parts of its splits, in their order; put together again they are the table."""
    names = frame["item_id"].replace_strict(splits_of(items), default=SPLITS[0], return_dtype=pl.String)
    parts = {name: frame.filter(names == name) for name in ranked_splits(items)}
    return {name: part for name, part in parts.items() if part.height}


def _by_split(frame: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    ranks = {name: rank for rank, name in enumerate(ranked_splits(items))}
    of_items = {item: ranks[name] for item, name in splits_of(items).items()}
    rank = pl.col("item_id").replace_strict(of_items, default=0, return_dtype=pl.Int64)
    return frame.with_columns(rank.alias(_RANK)).sort(_RANK, maintain_order=True).drop(_RANK)


def _place(name: str, values: pl.Series | Sequence[str]) -> pl.Expr:
    order = list(dict.fromkeys(value for value in values if value is not None))
    if not order:
        return pl.lit(0)
    return pl.col(name).replace_strict(order, list(range(len(order))), default=len(order), return_dtype=pl.Int64)
