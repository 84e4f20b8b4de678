"""Rows as numbers: the distinct contents of some columns get a number each, in the order in which they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from voirdire.corpus.intake import refuse
from voirdire.tables import Table, as_text

Ints = npt.NDArray[np.int64]
Settle = Callable[[pl.DataFrame], pl.DataFrame]


class Coder:
    """Numbers the distinct contents of ``columns``.

    settle : checks and completes the distinct contents, as text, with the ``_row`` of the first; keeps their order
    key : the columns of what it gives that tell contents apart
    """

    def __init__(self, columns: Sequence[str], settle: Settle, key: Sequence[str]) -> None:
        self._columns, self._settle, self._key = list(columns), settle, list(key)
        self._codes: dict[tuple[object, ...], int] = {}
        self._rows: list[pl.DataFrame] = []

    def codes(self, batch: pl.DataFrame) -> Ints:
        """The number of every row's contents."""
        columns = [name for name in self._columns if name in batch.columns]
        if not columns:
            return np.full(batch.height, self._learn(batch.select("_row").head(1), columns)[0])
        numbered = batch.select(*columns, "_row").with_row_index("_at")
        first = numbered.group_by(columns).agg(pl.col("_at", "_row").first()).sort("_at")
        codes = pl.Series("_code", self._learn(first, columns))
        joined = batch.select(columns).join(
            first.select(columns).with_columns(codes), on=columns, how="left", nulls_equal=True, maintain_order="left"
        )
        return joined["_code"].to_numpy()

    def _learn(self, first: pl.DataFrame, columns: list[str]) -> Ints:
        text = as_text(first.select(columns)).with_columns(first["_row"]) if columns else first
        settled = self._settle(text)
        codes, new = [], []
        for place, key in enumerate(settled.select(self._key).iter_rows()):
            if key not in self._codes:
                self._codes[key] = len(self._codes)
                new.append(place)
            codes.append(self._codes[key])
        if new:
            self._rows.append(settled[new])
        return np.array(codes, dtype=np.int64)

    def frame(self) -> pl.DataFrame:
        """The distinct contents, in the order of their numbers."""
        return pl.concat(self._rows)


class ItemCoder:
    """Numbers items: those of the corpus by their rows, others behind them in the order in which they come."""

    def __init__(self, known: pl.Series, table: Table) -> None:
        self.ids: list[str] = known.to_list()
        self.n_known = len(self.ids)
        self._table = table
        self._codes = {item: place for place, item in enumerate(self.ids)}
        self._seen: dict[str, pl.DataFrame] = {}

    def codes(self, batch: pl.DataFrame) -> Ints:
        """The number of every row's item. Raises InputError for a row without one."""
        items = batch.select("item_id", "_row")
        found = self._look_up(items)
        if found.null_count():
            self._learn(items.filter(found.is_null()).unique("item_id", keep="first", maintain_order=True))
            found = self._look_up(items)
        return found.to_numpy().astype(np.int64)

    def _look_up(self, items: pl.DataFrame) -> pl.Series:
        seen = self._seen.get(str(items["item_id"].dtype))
        if seen is None:
            return pl.repeat(None, items.height, dtype=pl.Int64, eager=True)
        return items.join(seen, on="item_id", how="left", maintain_order="left")["_code"]

    def _learn(self, new: pl.DataFrame) -> None:
        text = as_text(new.select("item_id")).with_columns(new["_row"])
        empty = text.filter(pl.col("item_id").is_null())
        if not empty.is_empty():
            raise refuse("cell_empty", self._table, empty, "item_id", value="")
        for item in text["item_id"]:
            if item not in self._codes:
                self._codes[item] = len(self.ids)
                self.ids.append(item)
        coded = new.select("item_id", pl.Series("_code", [self._codes[item] for item in text["item_id"]]))
        dtype = str(new["item_id"].dtype)
        self._seen[dtype] = pl.concat([self._seen[dtype], coded]) if dtype in self._seen else coded
