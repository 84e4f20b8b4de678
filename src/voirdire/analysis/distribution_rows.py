"""Distances between the ratings of a judge and the individual ratings of a pool (section 2: ``distribution``).

Over all items; and, for judges that rated items more than once, item by item.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.analysis.context import Context, order_reason
from voirdire.analysis.full_cells import FullCells
from voirdire.analysis.panels import MOST_VALUES, Panel
from voirdire.stats.distribution import item_distances, item_floor, level_shares, overall_distances, overall_floor
from voirdire.stats.features import Array

PER_ITEM = "form=per_item"
Floored = tuple[float | None, float | None, int, dict[str, Any], str | None]


def add_distributions(writer: FullCells) -> None:
    """The rows of every pool.

    Of pairwise votes item by item alone: how often the first thing is named over all items means nothing.
    """
    for k in range(len(writer.context.pools)):
        _add_distribution(writer, k)


def _add_distribution(writer: FullCells, k: int) -> None:
    """``distribution.w1`` and ``.js`` of each cell, and what the pool's own raters reach, one left out at a time."""
    panel, cube = writer.context.panel, np.round(writer.judged.cube, 9)
    reason = "aggregate_pool" if panel.pools[k] in panel.aggregate else None
    reason = reason or (None if panel.values.size else "too_many_values")
    forms = ("", PER_ITEM) if cube.shape[-1] > 1 else ("",)
    forms = (PER_ITEM,) if panel.question.scale.pairwise else forms
    for params in forms:
        found = np.full((3, len(cube)), np.nan)
        reasons: list[str | None] = [reason or "no_items"] * len(cube)
        for cell in np.flatnonzero(~writer.judged.rank_only) if reason is None else ():
            distances = _cell_distances(panel, k, cube[cell], params)
            if distances is None:
                reasons[cell] = "too_many_values"
            else:
                found[:, cell] = distances
        _add_rows(writer, k, found, reasons, params)
        _add_floor(writer.context, k, reason, params)


def _add_rows(writer: FullCells, k: int, found: Array, reasons: list[str | None], params: str) -> None:
    w1, js, n = found[0], found[1], np.nan_to_num(found[2]).astype(int)
    form: dict[str, Any] = {} if params else {"form": "overall"}
    if writer.context.panel.question.scale.nominal:
        writer.add(
            "distribution.w1",
            np.full(len(w1), np.nan),
            (k,),
            reason=order_reason(writer.context.panel.question.scale),
            params=params,
        )
    else:
        writer.add("distribution.w1", w1, (k,), reason=reasons, n=n, params=params, **form)
    writer.add("distribution.js", js, (k,), reason=reasons, n=n, params=params, unit="distance_base_2", **form)


def _cell_distances(panel: Panel, k: int, ratings: Array, params: str) -> tuple[float, float, int] | None:
    """Wasserstein-1, Jensen-Shannon and items of one cell's ratings (I, R); None with too many values to count."""
    known = np.round(panel.values, 9)
    values = np.unique(np.concatenate([known, ratings[~np.isnan(ratings)]]))
    if len(values) > MOST_VALUES:
        return None
    counts = np.zeros((panel.n_items, len(values)))
    counts[:, np.searchsorted(values, known)] = panel.counts[k]
    if params:
        w1, js = item_distances(level_shares(ratings[None], values), counts, values)
        return float(w1.mean()[0]), float(js.mean()[0]), int(w1.n[0])
    found = overall_distances(ratings[None], counts, values)
    return float(found.w1[0]), float(found.js[0]), int(found.n[0])


def _add_floor(context: Context, k: int, reason: str | None, params: str) -> None:
    panel = context.panel
    place = {"question": panel.question.id, "pool": panel.pools[k], "params": params}
    found: Floored = (None, None, 0, {}, reason)
    if reason is None:
        found = _item_floor(panel, k) if params else _overall_floor(context, k)
    w1, js, n, told, why = found
    for part, value in (("w1", w1), ("js", js)):
        nominal = part == "w1" and panel.question.scale.nominal
        context.table.add(
            f"distribution.{part}_floor",
            None if nominal else value,
            reasons=order_reason(panel.question.scale) if nominal else why,
            n=n,
            definition=context.definition(**told),
            **place,
        )


def _overall_floor(context: Context, k: int) -> Floored:
    panel, rows = context.panel, context.panel.rows[k]
    codes = np.searchsorted(panel.values, rows.value)
    rng = context.rng("floor", panel.pools[k])
    floor = overall_floor(rows.item, rows.rater, codes, panel.values, rng=rng, anonymous=panel.anonymous)
    told: dict[str, Any] = {"form": "overall", "left_out": floor.method, "seed": context.options.seed}
    return floor.w1, floor.js, floor.n, told, floor.undefined


def _item_floor(panel: Panel, k: int) -> Floored:
    """One rater's rating of an item against the item's others."""
    w1, js = item_floor(panel.counts[k], panel.values)
    n = int(w1.n)
    told: dict[str, Any] = {"left_out": "one rating an item"}
    return (float(w1.mean()), float(js.mean()), n, told, None) if n else (None, None, 0, told, "one_rater")
