"""How far judges are from each pool, item by item: the terms of an audit's ``mae`` and ``bias``.

Shapes: J judges, I items, K pools, N points, as in :mod:`voirdire.browsing.said`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from voirdire.browsing.item_pools import ItemPools
from voirdire.browsing.said import Ints, Said
from voirdire.stats.features import TIE, Array


def distance_numbers(size: int, pools: ItemPools | None, said: Said | None, judge: int | None) -> pl.DataFrame:
    """``far.K`` and ``over.K`` of every pool K: the distance of one judge from it, or of all but the control judges.

    ``far`` is the mean over cells of abs(r - m), of labels 1 - the share of raters who gave the judge's; ``over`` is
    the mean of r - m, which labels do not have. Undefined ones are null.
    """
    columns: dict[str, pl.Series] = {}
    some = None if said is None else said.only(said.counted()[said.judge] if judge is None else said.judge == judge)
    for k in range(0 if pools is None else len(pools.pools)):
        means = [np.full(size, np.nan)] * 2
        if pools is not None and some is not None:
            means = [_mean_by(some.item, some.weight, apart, size) for apart in distances(pools, some, k)]
        columns |= {
            f"{name}.{k}": pl.Series(mean).fill_nan(None) for name, mean in zip(("far", "over"), means, strict=True)
        }
    return pl.DataFrame(columns)


def distances_of_item(pools: ItemPools, said: Said, place: int) -> tuple[Array, Array]:
    """``far`` and ``over`` of one item, (J, K) each: every judge, every pool."""
    here = said.only(said.item == place)
    found = np.full((2, len(said.judges), len(pools.pools)), np.nan)
    for k in range(len(pools.pools)):
        for which, apart in enumerate(distances(pools, here, k)):
            found[which, :, k] = _mean_by(here.judge, here.weight, apart, len(said.judges))
    return found[0], found[1]


def distances(pools: ItemPools, said: Said, k: int) -> tuple[Array, Array]:
    """(N,) how far each point is from a pool's consensus, and how far above it; NaN where that is undefined."""
    arrays, item = pools.arrays, said.item
    counts = said.comparable()[said.judge] & arrays.has[k, item]
    if arrays.shares is not None:
        known, code = labels_of(said.value, arrays.shares.shape[-1])
        far = np.where(counts & known, 1 - arrays.shares[k, item, code], np.nan)
        return far, np.full_like(far, np.nan)
    if pools.scale.nominal:
        return np.full(len(item), np.nan), np.full(len(item), np.nan)
    over = said.value - arrays.mean[k, item]
    over = np.where(counts, np.where(np.abs(over) <= TIE, 0.0, over), np.nan)
    return np.abs(over), over


def _mean_by(place: Ints, weight: Array, numbers: Array, size: int) -> Array:
    """Weighted means of the numbers (N,) at each place; NaN where there are none."""
    use = ~np.isnan(numbers)
    top = np.bincount(place[use], numbers[use] * weight[use], size)
    bottom = np.bincount(place[use], weight[use], size)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(bottom > 0, top / bottom, np.nan)
    return np.where(np.abs(mean) <= TIE, 0.0, mean)


def labels_of(value: Array, count: int) -> tuple[npt.NDArray[np.bool_], Ints]:
    """Which numbers are codes of labels, and the codes (0 for what is none)."""
    code = value.astype(np.int64)
    known = (code == value) & (code >= 0) & (code < count)
    return known, np.where(known, code, 0)
