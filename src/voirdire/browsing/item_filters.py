"""Which items are shown, and in which order: pure functions on the frame of :mod:`voirdire.browsing.item_table`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from voirdire.browsing.said import STATUSES

BY_STATUS = ("malformed", "refused", "error", "pending")
SORTS = ("order", "id", "far", "gap", "widest", "tilt", "tilt_most", "disagreement", *BY_STATUS)
"""What items are sorted by; the first is the order of the shelf."""
NO_RATING = "none"
"""The status filter for judgments that ended without a rating in any way."""
_ANCHORS = {"contested": ("divergent", "middle", "contested")}


@dataclass(frozen=True)
class Filters:
    """What is asked of the items; empty: no such condition.

    by : column -> level of the columns that items are sliced by; anchor, split : as in the frame
    judge : place of a judge, None = all; status : of ``STATUSES`` or ``none``, of that judge or of any
    text : looked for in ids and texts, whatever the case; item : an id, exactly
    """

    by: Mapping[str, str] = field(default_factory=dict)
    anchor: str = ""
    split: str = ""
    judge: int | None = None
    status: str = ""
    text: str = ""


@dataclass(frozen=True)
class Order:
    """By what, largest first unless ``ascending``; ``order`` and ``id`` begin at the beginning unless ``reversed``.

    pool : the place of the pool that ``far`` is the distance from
    >>> Order("gap").column, Order("tilt", judge=2).column, Order("refused", judge=0).column
    ('gap', 'tilt.2', 'status.refused.0')
    """

    by: str = "order"
    reverse: bool = False
    judge: int | None = None
    pool: int | None = None

    @property
    def column(self) -> str:
        """The column of the frame that is sorted by."""
        own = "" if self.judge is None else f".{self.judge}"
        if self.by == "order":
            return "n"
        if self.by == "id":
            return "item_id"
        if self.by == "far":
            return f"far.{self.pool}"
        if self.by in STATUSES:
            return f"status.{self.by}{own}"
        return f"tilt{own}" if self.by == "tilt" else self.by

    @property
    def descending(self) -> bool:
        """Whether the largest come first."""
        return (self.by not in ("order", "id")) != self.reverse


def matching(frame: pl.DataFrame, filters: Filters) -> pl.Series:
    """Whether each item meets every condition, in the order of the frame.

    >>> frame = pl.DataFrame({"n": [1, 2], "item_id": ["a", "b"], "split": ["test"] * 2, "search": ["tea", "rice"]})
    >>> matching(frame, Filters(text="TEA")).to_list()
    [True, False]
    """
    wanted = [pl.col(f"by.{name}") == level for name, level in filters.by.items() if f"by.{name}" in frame.columns]
    if filters.anchor:
        wanted.append(pl.col("anchor").is_in(_ANCHORS.get(filters.anchor, (filters.anchor,))))
    if filters.split:
        wanted.append(pl.col("split") == filters.split)
    if filters.text.strip():
        wanted.append(pl.col("search").str.contains(filters.text.strip().lower(), literal=True))
    own = "" if filters.judge is None else f".{filters.judge}"
    if filters.status:
        names = STATUSES if filters.status == NO_RATING else (filters.status,)
        wanted.append(pl.sum_horizontal(f"status.{name}{own}" for name in names) > 0)
    elif own:
        wanted.append(pl.col(f"asked{own}") > 0)
    if not wanted:
        return pl.repeat(True, frame.height, eager=True)
    return frame.select(pl.all_horizontal(wanted).fill_null(False)).to_series()


def ordered(frame: pl.DataFrame, order: Order) -> pl.Series:
    """Rows in an order: numbers with a sign by their size, equal ones as on the shelf, undefined ones last.

    >>> frame = pl.DataFrame({"n": [1, 2, 3], "gap": [None, 0.5, -2.0]})
    >>> ordered(frame, Order("gap")).to_list(), ordered(frame, Order("gap", reverse=True)).to_list()
    ([2, 1, 0], [1, 2, 0])
    """
    column = order.column
    if column == "n":
        rows = pl.int_range(frame.height, dtype=pl.UInt32, eager=True)
        return rows.reverse() if order.descending else rows
    key = pl.col(column).abs() if frame[column].dtype.is_numeric() else pl.col(column)
    return frame.select(pl.arg_sort_by(key, "n", descending=[order.descending, False], nulls_last=True)).to_series()


def beside(frame: pl.DataFrame, number: int) -> tuple[int, int | None, int | None]:
    """Where an item stands among those shown (from 1; 0 = it is not among them), and the items before and after it.

    >>> beside(pl.DataFrame({"n": [4, 2, 9]}), 2)
    (2, 4, 9)
    """
    place = frame["n"].index_of(number)
    if place is None:
        return 0, None, None
    before = frame["n"][place - 1] if place else None
    after = frame["n"][place + 1] if place + 1 < frame.height else None
    return place + 1, before, after


def paired(frame: pl.DataFrame) -> pl.Series:
    """The concept pairs of the items, each once, in the order of their first item."""
    return frame.filter(pl.col("pair_id").is_not_null())["pair_id"].unique(maintain_order=True)
