"""The table of estimates: rows with their signatures, and single estimates read back from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from voirdire.estimate import Estimate, Interval
from voirdire.signature import Signature, pairs, quote

COLUMNS: dict[str, Any] = {
    "statistic": pl.String,
    "params": pl.String,
    "question": pl.String,
    "pool": pl.String,
    "pool_b": pl.String,
    "judge": pl.String,
    "condition": pl.String,
    "slice": pl.String,
    "value": pl.Float64,
    "label": pl.String,
    "undefined": pl.String,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "excluded": pl.String,
    "signature": pl.String,
}
PLACE = ("question", "pool", "pool_b", "judge", "condition", "slice")


COLLECTED = {**{name: dtype for name, dtype in COLUMNS.items() if name != "signature"}, "definition": pl.String}


@dataclass
class Table:
    """Collects rows; ``source`` (digests, version) goes into every signature."""

    source: Mapping[str, str]
    columns: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in COLLECTED})

    def add(
        self,
        statistic: str,
        values: Any,
        *,
        definition: Mapping[str, Any],
        params: str = "",
        reasons: Any = None,
        labels: Any = None,
        low: Any = None,
        high: Any = None,
        n: Any = 0,
        excluded: Any = "",
        **place: Any,
    ) -> None:
        """Add the rows of one statistic in one slice.

        ``values`` : (S,) or one number, NaN or None where undefined; ``labels`` for text results. Every other
        argument is one entry for all rows or a list of S.
        """
        numbers = _numbers(values)
        size = max([len(numbers), *(len(entry) for entry in place.values() if isinstance(entry, list))])
        block = {
            "statistic": statistic,
            "params": params,
            **dict.fromkeys(PLACE, ""),
            "slice": "all",
            **place,
            "value": numbers,
            "label": labels,
            "undefined": None if labels is not None else _reasons(reasons, numbers),
            "low": _numbers(low),
            "high": _numbers(high),
            "n": n.tolist() if isinstance(n, np.ndarray) else n,
            "excluded": excluded,
            "definition": pairs(definition),
        }
        for name, entry in block.items():
            repeated = isinstance(entry, list) and len(entry) != 1
            single = entry[0] if isinstance(entry, list) and entry else entry
            self.columns[name].extend(entry if repeated else [single] * size)

    def frame(self) -> pl.DataFrame:
        """All rows with their signatures."""
        whole = pl.DataFrame(self.columns, schema=COLLECTED)
        return whole.with_columns(_signature(self.source)).drop("definition").select(list(COLUMNS))


def _signature(source: Mapping[str, str]) -> pl.Expr:
    """The signature of every row, as :class:`Signature` prints it."""
    places = [
        pl.when(pl.col(name) == "").then(pl.lit(None)).otherwise(pl.concat_str(pl.lit(f"{name}="), _quoted(name)))
        for name in PLACE
        if name != "question"
    ]
    on = pl.concat_str(places, separator=",", ignore_nulls=True)
    excluded = (
        pl.when(pl.col("excluded") == "")
        .then(pl.lit(None))
        .otherwise(pl.concat_str(pl.lit("excluded="), _quoted("excluded")))
    )
    origin = pl.concat_str(
        [pl.concat_str(pl.lit("n="), pl.col("n")), excluded, pl.lit(pairs(source) or None)],
        separator=",",
        ignore_nulls=True,
    )
    pieces = [
        _quoted("statistic"),
        pl.lit("("),
        pl.col("params"),
        pl.lit(")|def("),
        pl.col("definition"),
        pl.lit(")|on("),
        on,
        pl.lit(")|from("),
        origin,
        pl.lit(")|v:1"),
    ]
    return pl.concat_str(pieces).alias("signature")


def _quoted(column: str) -> pl.Expr:
    return pl.col(column).map_batches(_quote_series, return_dtype=pl.String)


def _quote_series(series: pl.Series) -> pl.Series:
    distinct = series.unique().to_list()
    return series.replace_strict({text: quote(text) for text in distinct}, return_dtype=pl.String)


def _numbers(values: Any) -> list[float | None]:
    """One number or many as a list, None for NaN."""
    if values is None:
        return [None]
    numbers = np.atleast_1d(np.asarray(values, dtype=float))
    return [None if np.isnan(number) else number for number in numbers.tolist()]


def _reasons(reasons: Any, numbers: list[float | None]) -> list[str | None]:
    given = list(reasons) if isinstance(reasons, list | tuple | np.ndarray) else [reasons] * len(numbers)
    return [
        None if number is not None else (reason or "not_computable")
        for number, reason in zip(numbers, given, strict=True)
    ]


def estimate_of(row: Mapping[str, Any]) -> Estimate:
    """One row of the table as an Estimate."""
    signature = Signature.parse(row["signature"])
    interval = None
    if row["low"] is not None and row["high"] is not None:
        level = float(signature.definition.get("level", "0.95"))
        interval = Interval(row["low"], row["high"], level, signature.definition.get("interval", ""))
    excluded = dict(part.split("=") for part in row["excluded"].split(";") if part)
    return Estimate(
        signature,
        value=row["value"],
        label=row["label"],
        undefined=row["undefined"],
        interval=interval,
        n=row["n"],
        excluded={reason: int(count) for reason, count in excluded.items()},
    )
