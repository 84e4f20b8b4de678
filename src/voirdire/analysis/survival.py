"""Whether the sign of T, W and delta survives the choice of a definition, judge by judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl

from voirdire.analysis.context import Mask
from voirdire.analysis.specifications import STATISTICS, ZERO
from voirdire.stats.features import TIE, Array

GROUP = ("question", "pool", "pool_b", "judge", "condition", "statistic")
SPREAD: Mapping[str, Callable[[Array], Any]] = {"lowest": np.min, "median": np.median, "highest": np.max}
SURVIVES, ON_ALL_ITEMS, CHANGES, UNDECIDED, UNDEFINED = "survives", "all_items", "changes", "undecided", "undefined"


def survival(frame: pl.DataFrame) -> pl.DataFrame:
    """One row a judge, pair and statistic: does the sign of the main definition survive?

    frame : the rows of a specification curve (of a profile's ``specifications``)

    main, main_low, main_high ; lowest, median, highest over definitions ; defined and undefined: how many ;
    agree : definitions on the main one's side of 0 (of 1/2 for W) ; against : definitions whose whole interval
    lies on the other side ; agree_all_items, defined_all_items : the same without the subsets of items ;
    verdict : ``survives`` (every definition agrees), ``all_items`` (every definition on all items agrees, a subset
    does not), ``changes``, ``undecided`` (the main interval reaches the middle), ``undefined``
    """
    rows = [_summary(group) for _, group in frame.group_by(GROUP, maintain_order=True)]
    judges = list(dict.fromkeys(row["judge"] for row in rows))
    pairs = list(dict.fromkeys((row["question"], row["pool"], row["pool_b"]) for row in rows))

    def place(row: Mapping[str, Any]) -> tuple[int, int, int]:
        pair = pairs.index((row["question"], row["pool"], row["pool_b"]))
        return pair, judges.index(row["judge"]), STATISTICS.index(row["statistic"])

    return pl.DataFrame(sorted(rows, key=place), infer_schema_length=None)


def _summary(group: pl.DataFrame) -> dict[str, Any]:
    """The row of one judge, pair and statistic."""
    first = group.row(0, named=True)
    zero = ZERO[first["statistic"]]
    known = group.filter(pl.col("value").is_not_null())
    main = group.filter("main").row(0, named=True)
    values = known["value"].to_numpy()
    side = 0.0 if main["value"] is None else float(np.sign(main["value"] - zero))
    agrees = np.sign(np.where(np.abs(values - zero) <= TIE, zero, values) - zero) == side
    on_all = (known["subset"] == "all").to_numpy()
    ends = known.select(pl.col("high") - zero, pl.col("low") - zero).to_numpy()
    against = (ends[:, 0] < 0) if side > 0 else (ends[:, 1] > 0)
    return {
        **{name: first[name] for name in GROUP},
        **{f"main{end}": main[name] for end, name in (("", "value"), ("_low", "low"), ("_high", "high"))},
        **{name: _of(values, function) for name, function in SPREAD.items()},
        "defined": len(values),
        "undefined": group.height - len(values),
        "agree": int(agrees.sum()),
        "against": int(against.sum()),
        "defined_all_items": int(on_all.sum()),
        "agree_all_items": int(agrees[on_all].sum()),
        "verdict": _verdict(main, zero, agrees, on_all),
    }


def _of(values: Array, function: Callable[[Array], Any]) -> float | None:
    return float(function(values)) if values.size else None


def _verdict(main: Mapping[str, Any], zero: float, agrees: Mask, on_all: Mask) -> str:
    if main["value"] is None:
        return UNDEFINED
    reaches = main["low"] is not None and main["low"] <= zero <= main["high"]
    if reaches or abs(main["value"] - zero) <= TIE:
        return UNDECIDED
    if agrees.all():
        return SURVIVES
    return ON_ALL_ITEMS if agrees[on_all].all() else CHANGES
