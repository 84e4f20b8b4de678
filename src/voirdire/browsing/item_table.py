"""Numbers of every item of a shelf, for one question and one pair of pools, as one frame.

Columns of the frame, one row an item, in the order of the shelf:

- ``n`` (from 1), ``item_id``, ``split``, ``pair_id``, ``search`` (id and texts in lower case), ``by.COLUMN`` of every
  column that items are sliced by
- ``consensus.K``, ``raters.K`` of every pool K; ``gap`` (m_a - m_b of the chosen pair; of labels the total variation),
  ``widest`` (largest absolute gap of any pair) with ``widest.a``, ``widest.b``; ``anchor``
- ``mean.J`` of every judge J; ``tilt`` (mean over cells of abs(r - m_a) - abs(r - m_b); positive: nearer b),
  ``tilt.J``, ``tilt_most`` (that of the judge that leans most) with ``tilt_most.judge``, ``tilt_most.n`` (how many lean
  as much) and ``tilt_most.mixed`` (whether not all of these lean the same way); ``disagreement``
- ``asked``, ``status.S`` and ``asked.J``, ``status.S.J``: judgments, and those that ended without a rating

Control judges have ``mean.J`` and ``tilt.J``, and count in nothing that takes judges together. Distances from pools
stand in a frame of their own: see :mod:`voirdire.browsing.item_distances`.

A number that is undefined is null, and ``NAME.why`` holds the reason (a key of ``room_items.why``).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl

from voirdire.browsing.item_distances import labels_of
from voirdire.browsing.item_pools import ItemPools
from voirdire.browsing.said import STATUSES, Said
from voirdire.stats.agreement import anchor_classes
from voirdire.stats.features import TIE, Array, Features

Pair = tuple[int, int]
Mask = npt.NDArray[np.bool_]
CLASSES = ("high", "low", "divergent", "middle", "contested")
"""Anchor classes; ``contested`` is what is neither high nor low where the rater noise that splits it is unknown."""


def item_numbers(size: int, pools: ItemPools | None, said: Said | None, pair: Pair | None) -> pl.DataFrame:
    """The numbers of ``size`` items: all columns but those of :func:`item_facts`.

    pair : places of two pools in ``pools``; None where there are not two
    """
    return pl.concat([question_numbers(size, pools, said), pair_numbers(size, pools, said, pair)], how="horizontal")


def question_numbers(size: int, pools: ItemPools | None, said: Said | None) -> pl.DataFrame:
    """The columns that are the same whichever pair of pools is chosen: one copy of them serves all pairs."""
    judges = _of_judges(size, said, nominal=pools is not None and pools.scale.nominal)
    return pl.DataFrame(_of_pools(size, pools) | judges)


def pair_numbers(size: int, pools: ItemPools | None, said: Said | None, pair: Pair | None) -> pl.DataFrame:
    """The columns of one pair of pools: gap, anchor class, tilts."""
    columns = _gap(size, pools, pair) | _anchor(size, pools, pair)
    return pl.DataFrame(columns | _of_both(size, pools, said, pair))


def _of_pools(size: int, pools: ItemPools | None) -> dict[str, pl.Series]:
    columns: dict[str, pl.Series] = {}
    if pools is None:
        columns = _nothing("widest", size, "no_pools")
        return columns | {"widest.a": _none(size, pl.Int32), "widest.b": _none(size, pl.Int32)}
    nominal = pools.scale.nominal
    for k in range(len(pools.pools)):
        mean = np.full(size, np.nan) if nominal else pools.arrays.mean[k]
        columns[f"consensus.{k}"] = _number(mean)
        columns[f"raters.{k}"] = _number(np.where(pools.arrays.has[k], pools.arrays.n[k], np.nan))
    return columns | _widest(size, pools)


def _gap(size: int, pools: ItemPools | None, pair: Pair | None) -> dict[str, pl.Series]:
    if pools is None:
        return _nothing("gap", size, "no_pools")
    if pair is None:
        return _nothing("gap", size, "one_pool")
    if pools.scale.nominal and pools.arrays.shares is None:
        return _nothing("gap", size, "no_shares")
    return _valued("gap", pools.arrays.gap(*pair), "no_consensus")


def _widest(size: int, pools: ItemPools) -> dict[str, pl.Series]:
    empty = {"widest.a": _none(size, pl.Int32), "widest.b": _none(size, pl.Int32)}
    if len(pools.pools) < 2:
        return _nothing("widest", size, "one_pool") | empty
    if pools.scale.nominal and pools.arrays.shares is None:
        return _nothing("widest", size, "no_shares") | empty
    widest, first, second = _widest_of_labels(pools) if pools.scale.nominal else _widest_of_means(pools)
    known = ~np.isnan(widest)
    ends = {"widest.a": first, "widest.b": second}
    places = {name: pl.Series(np.where(known, end, -1)).cast(pl.Int32).replace(-1, None) for name, end in ends.items()}
    return _valued("widest", widest, "no_consensus") | places


def _widest_of_means(pools: ItemPools) -> tuple[Array, Array, Array]:
    """Over all pairs the largest gap is that of the highest and the lowest consensus."""
    mean, has = pools.arrays.mean, pools.arrays.has
    high, low = np.where(has, mean, -np.inf), np.where(has, mean, np.inf)
    at_high, at_low = high.argmax(0), low.argmin(0)
    two = has.sum(0) >= 2
    with np.errstate(invalid="ignore"):
        widest = np.where(two, high.max(0) - low.min(0), np.nan)
    widest = np.where(widest <= TIE, 0.0, widest)
    level = widest == 0
    first, second = has.argmax(0), has.shape[0] - 1 - has[::-1].argmax(0)
    return widest, np.where(level, first, at_high), np.where(level, second, at_low)


def _widest_of_labels(pools: ItemPools) -> tuple[Array, Array, Array]:
    size = pools.arrays.mean.shape[1]
    widest, first, second = np.full(size, np.nan), np.zeros(size), np.zeros(size)
    for a, b in combinations(range(len(pools.pools)), 2):
        gap = pools.arrays.gap(a, b)
        with np.errstate(invalid="ignore"):
            more = ~np.isnan(gap) & (np.isnan(widest) | (gap > widest + TIE))
        widest, first, second = np.where(more, gap, widest), np.where(more, a, first), np.where(more, b, second)
    return widest, first, second


def _anchor(size: int, pools: ItemPools | None, pair: Pair | None) -> dict[str, pl.Series]:
    if pools is None:
        return _nothing("anchor", size, "no_pools", pl.String)
    if pair is None:
        return _nothing("anchor", size, "one_pool", pl.String)
    if not pools.has_classes:
        reason = "no_order" if pools.scale.nominal else "few_levels"
        return _nothing("anchor", size, reason, pl.String)
    masks = anchor_classes(Features(pools.arrays), *pair)
    found = np.full(size, -1, dtype=np.int64)
    for place, name in reversed(list(enumerate(CLASSES))):
        found[masks[name]] = place
    known = pl.Series(found).replace(-1, None)
    names = pl.Series(CLASSES).gather(known.fill_null(0).cast(pl.UInt32))
    named = pl.select(pl.when(known.is_not_null()).then(names)).to_series()
    return {"anchor": named, "anchor.why": _why(named.is_null(), "no_consensus")}


def _of_judges(size: int, said: Said | None, *, nominal: bool) -> dict[str, pl.Series]:
    if said is None:
        empty = {f"status.{status}": pl.zeros(size, pl.Int64, eager=True) for status in STATUSES}
        return _nothing("disagreement", size, "not_judged") | {"asked": pl.zeros(size, pl.Int64, eager=True), **empty}
    columns = {"asked": pl.Series(said.asked.sum(0).astype(np.int64))}
    for s, status in enumerate(STATUSES):
        columns[f"status.{status}"] = pl.Series(said.status[:, s].sum(0).astype(np.int64))
        for j in range(len(said.judges)):
            columns[f"status.{status}.{j}"] = pl.Series(said.status[j, s])
    means = judge_means(said)
    for j in range(len(said.judges)):
        columns[f"asked.{j}"] = pl.Series(said.asked[j])
        columns[f"mean.{j}"] = _none(size, pl.Float64) if nominal else _number(means[j])
    return columns | _disagreement(size, said, means, nominal=nominal)


def judge_means(said: Said) -> Array:
    """(J, I) mean rating of each judge over its cells of an item, NaN where it gave none."""
    top, bottom = said.per_judge(said.value)
    return _over(top, bottom)


def _disagreement(size: int, said: Said, means: Array, *, nominal: bool) -> dict[str, pl.Series]:
    """Standard deviation (n - 1) over the means of judges that answer on the question's scale."""
    if nominal:
        return _nothing("disagreement", size, "no_order")
    comparable, counted = said.comparable(), said.counted()
    foreign = (~np.isnan(means[~comparable & counted])).any(0)
    means = means[comparable & counted]
    known = ~np.isnan(means)
    n = known.sum(0)
    with np.errstate(invalid="ignore", divide="ignore"):
        center = np.where(known, means, 0.0).sum(0) / n
        squares = np.where(known, (means - center) ** 2, 0.0).sum(0)
        spread = np.where(n >= 2, np.sqrt(squares / (n - 1)), np.nan)
    spread = np.where(spread <= TIE, 0.0, spread)
    column = _number(spread)
    reasons = np.select([n >= 2, n == 1, foreign], [0, 1, 2], 3)
    return {
        "disagreement": column,
        "disagreement.why": _reasons(reasons, ("", "one_judge", "other_scale", "not_judged")),
    }


def _of_both(size: int, pools: ItemPools | None, said: Said | None, pair: Pair | None) -> dict[str, pl.Series]:
    reason = _no_tilt(pools, said, pair)
    if reason is not None or pools is None or said is None or pair is None:
        columns = _nothing("tilt", size, reason or "not_judged") | _nothing("tilt_most", size, reason or "not_judged")
        columns |= {"tilt_most.judge": _none(size, pl.Int32), "tilt_most.n": _none(size, pl.Int32)}
        columns["tilt_most.mixed"] = _none(size, pl.Boolean)
        judges = () if said is None else range(len(said.judges))
        return columns | {f"tilt.{j}": _none(size, pl.Float64) for j in judges}
    by_judge, overall = tilts(pools, said, pair)
    compared = pools.arrays.has[pair[0]] & pools.arrays.has[pair[1]]
    counted, answered = said.counted(), ~np.isnan(judge_means(said))
    reasons = np.select([~np.isnan(overall), ~compared, answered[counted].any(0), answered.any(0)], [0, 1, 2, 3], 4)
    columns = {"tilt": _number(overall)}
    columns["tilt.why"] = _reasons(reasons, ("", "no_consensus", "other_scale", "only_controls", "not_judged"))
    columns |= {f"tilt.{j}": _number(by_judge[j]) for j in range(len(said.judges))}
    return columns | _most(np.where(counted[:, None], by_judge, np.nan), columns["tilt.why"])


def _most(by_judge: Array, why: pl.Series) -> dict[str, pl.Series]:
    """The tilt that is largest in size, of whom, and how many judges have it, with one sign or both."""
    strength = np.where(np.isnan(by_judge), -1.0, np.abs(by_judge))
    top = strength.max(0)
    level = (strength >= 0) & (strength >= top - TIE)
    most = level.argmax(0)
    leaning = by_judge[most, np.arange(by_judge.shape[1])]
    known = ~np.isnan(leaning)
    mixed = (level & (by_judge > 0)).any(0) & (level & (by_judge < 0)).any(0)
    return {
        "tilt_most": _number(leaning),
        "tilt_most.why": why,
        "tilt_most.judge": pl.Series(np.where(known, most, -1)).cast(pl.Int32).replace(-1, None),
        "tilt_most.n": pl.Series(np.where(known, level.sum(0), -1)).cast(pl.Int32).replace(-1, None),
        "tilt_most.mixed": pl.Series(mixed),
    }


def _no_tilt(pools: ItemPools | None, said: Said | None, pair: Pair | None) -> str | None:
    """Why no item has a tilt; None where some may."""
    if pools is None:
        return "no_pools"
    if pair is None:
        return "one_pool"
    if pools.scale.nominal and pools.arrays.shares is None:
        return "no_shares"
    if said is None:
        return "not_judged"
    return None if said.comparable().any() else "other_scale"


def tilts(pools: ItemPools, said: Said, pair: Pair) -> tuple[Array, Array]:
    """Each judge's (J, I) and all judges' (I,) mean over cells of abs(r - m_a) - abs(r - m_b); positive: nearer b.

    Control judges do not count among all.
    These are the terms of an audit's ``delta``: their mean over cells and items is its value. NaN where there is none.
    """
    a, b = pair
    arrays, item = pools.arrays, said.item
    counts = said.comparable()[said.judge] & arrays.has[a, item] & arrays.has[b, item]
    if arrays.shares is not None:
        known, code = labels_of(said.value, arrays.shares.shape[-1])
        counts &= known
        difference = arrays.shares[b, item, code] - arrays.shares[a, item, code]
    else:
        difference = np.abs(said.value - arrays.mean[a, item]) - np.abs(said.value - arrays.mean[b, item])
    difference = np.where(np.abs(difference) <= TIE, 0.0, difference)
    difference = np.where(counts, difference, np.nan)
    top, bottom = said.per_judge(difference)
    counted = said.counted()
    return _over(top, bottom), _over(top[counted].sum(0), bottom[counted].sum(0))


def _over(top: Array, bottom: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(bottom > 0, top / bottom, np.nan))


def _number(values: Array) -> pl.Series:
    return pl.Series(np.asarray(values, dtype=float)).fill_nan(None)


def _valued(name: str, values: Array, reason: str) -> dict[str, pl.Series]:
    column = _number(values)
    return {name: column, f"{name}.why": _why(column.is_null(), reason)}


def _nothing(name: str, size: int, reason: str, dtype: type[pl.DataType] = pl.Float64) -> dict[str, pl.Series]:
    return {name: _none(size, dtype), f"{name}.why": pl.repeat(reason, size, dtype=pl.String, eager=True)}


def _none(size: int, dtype: type[pl.DataType]) -> pl.Series:
    return pl.repeat(None, size, dtype=dtype, eager=True)


def _why(missing: pl.Series, reason: str) -> pl.Series:
    return pl.select(pl.when(missing).then(pl.lit(reason))).to_series()


def _reasons(places: npt.NDArray[np.int64], names: Sequence[str]) -> pl.Series:
    """The reasons by their places among ``names``; the empty one is none."""
    return pl.Series([name or None for name in names], dtype=pl.String).gather(places)


def item_facts(table: pl.DataFrame, slicing: Sequence[str], searched: Sequence[str]) -> pl.DataFrame:
    """What is known of every item without any rating: the first columns of the frame.

    table : item_id and the columns as given; slicing, searched : columns to slice by and to search in
    """
    # without their names, which operations on a series would take as patterns
    own = {name: table[name].alias("cell").cast(pl.String) for name in {"item_id", *slicing, *searched}}
    blank = pl.repeat("", table.height, dtype=pl.String, eager=True)
    split, pair = (
        table[name].cast(pl.String).fill_null("") if name in table.columns else blank for name in ("split", "pair_id")
    )
    worded = pl.concat_str([own[name].fill_null("") for name in ("item_id", *searched)], separator="\n")
    columns = pl.select(
        pl.int_range(1, table.height + 1).alias("n"),
        own["item_id"].alias("item_id"),
        pl.when(split == "").then(pl.lit("test")).otherwise(split).alias("split"),
        pl.when(pair != "").then(pair).alias("pair_id"),
        worded.str.to_lowercase().alias("search"),
    )
    return columns.with_columns(own[name].alias(f"by.{name}") for name in slicing)
