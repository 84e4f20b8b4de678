"""From tables to arrays: the pools of one question and the cells that judged it.

Shapes: K pools, I items of the question, L values, C cells, R repeats.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from voirdire.corpus.corpus import Coded, CodedQuestion, Corpus, Judgments, Question
from voirdire.corpus.sides import shown_signs
from voirdire.scales import Scale
from voirdire.stats.features import Array, PoolArrays, ScaleCuts, cuts_of
from voirdire.stats.level_cube import MOST_LEVELS, LevelCube

Ints = npt.NDArray[np.int64]
MOST_VALUES = 1001


@dataclass(frozen=True)
class RaterRows:
    """One pool's individual ratings in long form: item (index), rater (global code), value; all (R,).

    shown : of pairwise votes, 1 where the first thing was shown first, -1 where the second was, NaN where unknown;
        None where nobody says it
    """

    item: Ints
    rater: Ints
    value: Array
    shown: Array | None = None

    @property
    def crossed(self) -> bool:
        """Whether some rater rates several items."""
        return bool(self.rater.size) and int(np.unique(self.rater).size) < self.rater.size


@dataclass(frozen=True)
class Panel:
    """One question's pools as arrays.

    item_rows : (I,) rows of ``corpus.items``; counts : (K, I, L) ratings at each value; values : (L,)
    aggregate : pools that come without raters; excluded : reason -> ratings left out here
    ranges : low ends and ranges (I,) of items that have scales of their own; None where there are none
    """

    question: Question
    item_rows: Ints
    pools: tuple[str, ...]
    arrays: PoolArrays
    counts: Array
    values: Array
    rows: tuple[RaterRows, ...]
    aggregate: frozenset[str]
    ranges: tuple[Array, Array] | None
    anonymous: bool
    excluded: Mapping[str, int] = field(default_factory=dict)

    @property
    def normalised(self) -> bool:
        """Whether values were mapped to 0-1 because items have scales of their own."""
        return self.ranges is not None

    @property
    def scale(self) -> Scale:
        """The question's scale; 0-1 without levels where items have scales of their own."""
        return Scale("interval", 0.0, 1.0) if self.normalised else self.question.scale

    @property
    def n_items(self) -> int:
        """How many items the question has."""
        return len(self.item_rows)

    def raters(self, k: int) -> int | None:
        """Distinct raters of a pool; None where ids mean nothing across items or there are none."""
        if self.pools[k] in self.aggregate or self.anonymous:
            return None
        return int(np.unique(self.rows[k].rater).size)


@dataclass(frozen=True)
class Cells:
    """The judgments of one question.

    frame : judge, condition and a column per factor, one row per cell; held : the ratings (C, I, R) as places in a
    list of levels, or as numbers, NaN where there is none, when there are over 127 different ones; status : (C, I)
    index into ``reasons`` (0 = ok); shown : (C, I, R) as of :class:`RaterRows`
    """

    frame: pl.DataFrame
    held: LevelCube | Array
    status: npt.NDArray[np.uint8]
    reasons: tuple[str, ...]
    shown: Array | None = None

    @property
    def cube(self) -> Array:
        """(C, I, R) the ratings as numbers, NaN where there is none; made anew where levels are held."""
        return self.held.ratings() if isinstance(self.held, LevelCube) else self.held


def build_panel(corpus: Corpus, question: Question, *, consensus: str = "mean", min_raters: int = 1) -> Panel:
    """Pools of a question as arrays; consensus is the mean or median where there are ``min_raters`` ratings."""
    ratings = corpus.ratings.filter(pl.col("question") == question.id)
    means = corpus.aggregates.filter(pl.col("question") == question.id)
    shares = _label_shares(corpus, question, ratings)
    items = _item_index(corpus, (ratings, means, shares))
    items, left_out = _with_ends(corpus, question, items)
    ranges = _item_ranges(corpus, question, items)
    rows, few_ratings = _enough(_rater_rows(ratings, items, corpus.pools, ranges), min_raters)
    means, few_means = _enough_means(means, min_raters)
    values = _values(rows, question.scale, normalised=ranges is not None)
    counts = np.stack([_count(pool, len(items), values) for pool in rows])
    cuts = ScaleCuts(0.0, 1.0) if ranges is not None else cuts_of(question.scale)
    aggregate = frozenset(pl.concat([means["pool"].cast(pl.String), shares["pool"]]).unique().to_list())
    arrays = _pool_arrays(rows, counts, cuts, consensus)
    arrays = _with_aggregates(arrays, means, items, corpus.pools, ranges)
    arrays = _with_shares(arrays, shares, items, corpus.pools)
    return Panel(
        question,
        items["row"].to_numpy().astype(np.int64),
        corpus.pools,
        arrays,
        counts,
        values,
        rows,
        aggregate,
        ranges,
        corpus.anonymous_raters,
        _excluded((ratings, means), left_out, few_ratings + few_means),
    )


def _excluded(frames: tuple[pl.DataFrame, ...], left_out: Mapping[str, list[str]], few: int) -> dict[str, int]:
    counts = {
        reason: sum(frame.filter(pl.col("item_id").cast(pl.String).is_in(ids)).height for frame in frames)
        for reason, ids in left_out.items()
    }
    return {reason: count for reason, count in {**counts, "too_few_raters": few}.items() if count}


def _item_index(corpus: Corpus, frames: tuple[pl.DataFrame, ...]) -> pl.DataFrame:
    """item_id and row (in corpus.items) of the items that the frames rate.

    Sorted by id: what is drawn at random does not depend on the order of the tables.
    """
    rated = pl.concat([frame.select(pl.col("item_id").cast(pl.String)) for frame in frames]).unique()
    ids = corpus.items.select(pl.col("item_id").cast(pl.String)).with_row_index("row")
    return ids.join(rated, on="item_id", how="semi").sort("item_id")


def _with_ends(corpus: Corpus, question: Question, items: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, list[str]]]:
    """The items with their ``item`` index, less those whose own scale is nominal or without a range to divide by."""
    left_out: dict[str, list[str]] = {"nominal_item": [], "item_without_range": []}
    if _own_scales(corpus, question, items):
        for item in items["item_id"]:
            scale = corpus.item_scales.get(item, question.scale)
            if scale.nominal:
                left_out["nominal_item"].append(item)
            elif scale.low is None or scale.high is None or not scale.low < scale.high:
                left_out["item_without_range"].append(item)
    dropped = [item for ids in left_out.values() for item in ids]
    return items.filter(~pl.col("item_id").is_in(dropped)).with_row_index("item"), left_out


def _own_scales(corpus: Corpus, question: Question, items: pl.DataFrame) -> bool:
    """Whether items override the question's scale: only a scale of numbers can be overridden."""
    labelled = question.scale.nominal or bool(question.scale.labels)
    return not labelled and any(item in corpus.item_scales for item in items["item_id"])


def _item_ranges(corpus: Corpus, question: Question, items: pl.DataFrame) -> tuple[Array, Array] | None:
    """Low ends and ranges (I,) when items override the question's scale."""
    if not _own_scales(corpus, question, items):
        return None
    scales = [corpus.item_scales.get(item, question.scale) for item in items["item_id"]]
    low = np.array([np.nan if scale.low is None else scale.low for scale in scales], dtype=float)
    high = np.array([np.nan if scale.high is None else scale.high for scale in scales], dtype=float)
    return low, high - low


def _rater_rows(
    ratings: pl.DataFrame, items: pl.DataFrame, pools: tuple[str, ...], ranges: tuple[Array, Array] | None
) -> tuple[RaterRows, ...]:
    joined = ratings.with_columns(pl.col("item_id").cast(pl.String)).join(items, on="item_id", how="inner")
    joined = joined.with_columns(pl.col("rater_id").cast(pl.String).rank("dense").alias("rater"))
    rows = []
    for pool in pools:
        part = joined.filter(pl.col("pool") == pool).sort("item", "rater", "value")
        item = part["item"].to_numpy().astype(np.int64)
        value = part["value"].to_numpy().astype(float)
        if ranges is not None:
            value = (value - ranges[0][item]) / ranges[1][item]
        rows.append(RaterRows(item, part["rater"].to_numpy().astype(np.int64), value, shown_signs(part)))
    return tuple(rows)


def _enough(rows: tuple[RaterRows, ...], min_raters: int) -> tuple[tuple[RaterRows, ...], int]:
    """The ratings of items that have ``min_raters`` of the pool, and how many others there are.

    Everything that speaks of a pool then speaks of the same items as its consensus.
    """
    kept, dropped = [], 0
    for pool in rows:
        enough = np.bincount(pool.item)[pool.item] >= min_raters if pool.item.size else np.zeros(0, dtype=bool)
        shown = None if pool.shown is None else pool.shown[enough]
        kept.append(RaterRows(pool.item[enough], pool.rater[enough], pool.value[enough], shown))
        dropped += int((~enough).sum())
    return tuple(kept), dropped


def _enough_means(means: pl.DataFrame, min_raters: int) -> tuple[pl.DataFrame, int]:
    """The consensuses that come without raters, less those of fewer raters than asked for."""
    kept = means.filter(pl.col("n").is_null() | (pl.col("n") >= min_raters))
    return kept, means.height - kept.height


def _values(rows: tuple[RaterRows, ...], scale: Scale, normalised: bool) -> Array:
    """The distinct values that occur, with the declared levels among them."""
    declared = () if normalised else scale.level_values
    found = np.unique(np.concatenate([np.asarray(declared, dtype=float), *(pool.value for pool in rows)]))
    return found if found.size <= MOST_VALUES else np.empty(0)


def _count(rows: RaterRows, n_items: int, values: Array) -> Array:
    if not values.size:
        return np.zeros((n_items, 0))
    place = np.searchsorted(values, rows.value)
    flat = np.bincount(rows.item * values.size + place, minlength=n_items * values.size)
    return flat.reshape(n_items, values.size).astype(float)


def _pool_arrays(rows: tuple[RaterRows, ...], counts: Array, cuts: ScaleCuts, consensus: str) -> PoolArrays:
    n_items = counts.shape[1]
    n = np.stack([np.bincount(pool.item, minlength=n_items) for pool in rows]).astype(float)
    total = np.stack([np.bincount(pool.item, pool.value, n_items) for pool in rows])
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(n > 0, total / n, np.nan)
        around = np.stack([_squares(pool, total[k] / n[k], n_items) for k, pool in enumerate(rows)])
        s2 = np.where((n >= 2) & ~np.isnan(mean), around / (n - 1), np.nan)
        shares = counts / counts.sum(-1, keepdims=True) if cuts.nominal else None
    if consensus == "median":
        mean = np.where(np.isnan(mean), np.nan, np.stack([_medians(pool, n_items) for pool in rows]))
        s2 = np.full_like(s2, np.nan)
    return PoolArrays(mean, n, s2, cuts, shares)


def _squares(rows: RaterRows, mean: Array, n_items: int) -> Array:
    return np.bincount(rows.item, (rows.value - mean[rows.item]) ** 2, n_items).astype(float)


def _medians(rows: RaterRows, n_items: int) -> Array:
    frame = pl.DataFrame({"item": rows.item, "value": rows.value}).group_by("item").agg(pl.col("value").median())
    result = np.full(n_items, np.nan)
    result[frame["item"].to_numpy()] = frame["value"].to_numpy()
    return result


def _with_aggregates(
    arrays: PoolArrays,
    means: pl.DataFrame,
    items: pl.DataFrame,
    pools: tuple[str, ...],
    ranges: tuple[Array, Array] | None,
) -> PoolArrays:
    """The consensuses of pools that come without raters; n as the table tells it, NaN where it does not."""
    if means.is_empty():
        return arrays
    mean, n = arrays.mean.copy(), arrays.n.copy()
    joined = means.with_columns(pl.col("item_id").cast(pl.String)).join(items, on="item_id", how="inner")
    item = joined["item"].to_numpy().astype(np.int64)
    pool = np.array([pools.index(name) for name in joined["pool"].cast(pl.String)], dtype=np.int64)
    value = joined["value"].to_numpy().astype(float)
    mean[pool, item] = value if ranges is None else (value - ranges[0][item]) / ranges[1][item]
    n[pool, item] = joined["n"].cast(pl.Float64).to_numpy()
    return PoolArrays(mean, n, arrays.s2, arrays.scale, arrays.shares)


def _label_shares(corpus: Corpus, question: Question, ratings: pl.DataFrame) -> pl.DataFrame:
    """item_id, pool, code, share of a nominal question's pools that come as label shares.

    Labels that the scale does not know are left out, and what remains of an item adds up to 1.
    """
    empty = {"item_id": pl.String, "pool": pl.String, "code": pl.Int64, "share": pl.Float64}
    if corpus.shares is None or not question.scale.nominal:
        return pl.DataFrame(schema=empty)
    code = {label: place for place, label in enumerate(question.scale.labels)}
    here = corpus.shares.filter(
        (pl.col("question") == question.id)
        & pl.col("pool").is_in(list(corpus.pools))
        & ~pl.col("pool").is_in(ratings["pool"].unique().to_list())
        & pl.col("label").is_in(list(code))
    )
    known = here.with_columns(code=pl.col("label").replace_strict(code, default=None, return_dtype=pl.Int64))
    total = pl.col("share").sum().over("item_id", "pool")
    return known.filter(total > 0).with_columns(share=pl.col("share") / total).select(empty.keys()).cast(empty)  # type: ignore[arg-type]


def _with_shares(arrays: PoolArrays, shares: pl.DataFrame, items: pl.DataFrame, pools: tuple[str, ...]) -> PoolArrays:
    """The label shares of pools that come without raters."""
    if shares.is_empty() or arrays.shares is None:
        return arrays
    mean, n, table = arrays.mean.copy(), arrays.n.copy(), arrays.shares.copy()
    joined = shares.join(items, on="item_id", how="inner")
    item = joined["item"].to_numpy().astype(np.int64)
    pool = np.array([pools.index(name) for name in joined["pool"]], dtype=np.int64)
    table[pool, item] = 0.0
    np.add.at(table, (pool, item, joined["code"].to_numpy()), joined["share"].to_numpy())
    mean[pool, item] = table[pool, item] @ np.arange(table.shape[-1])
    n[pool, item] = np.nan
    return PoolArrays(mean, n, arrays.s2, arrays.scale, table)


def build_cells(judgments: Judgments, question: Question, corpus: Corpus, panel: Panel) -> Cells:
    """The judgments of a question as an array over its items; judgments of other items are not in it."""
    if isinstance(judgments.rows, Coded):
        return _decoded(judgments.rows.questions[question.id], judgments.cells, panel)
    table = judgments.rows.filter(pl.col("question") == question.id)
    frame = judgments.cells.join(
        table.select("judge", "condition").unique(), on=["judge", "condition"], how="semi", maintain_order="left"
    )
    ids = corpus.items["item_id"].cast(pl.String).gather(panel.item_rows)
    index = pl.DataFrame({"item_id": ids}).with_row_index("item")
    keys = frame.select("judge", "condition").with_row_index("cell")
    joined = table.with_columns(pl.col("item_id").cast(pl.String)).join(index, on="item_id", how="inner")
    joined = joined.join(keys, on=["judge", "condition"], how="inner")
    return _cube(frame, joined, panel)


def _decoded(coded: CodedQuestion, cells: pl.DataFrame, panel: Panel) -> Cells:
    """The cells of judgments that were read in pieces; of several repeats without a rating the last tells why."""
    codes, places = coded.codes[:, panel.item_rows], coded.status[:, panel.item_rows]
    held: LevelCube | Array = LevelCube(codes, coded.values) if codes.dtype == np.int8 else _floats(coded, codes)
    if panel.ranges is not None:
        low, extent = (end[:, None] for end in panel.ranges)
        held = (_floats(coded, codes) - low) / extent
    last = places[..., 0]
    for repeat in range(1, places.shape[-1]):
        last = np.where(places[..., repeat] > 0, places[..., repeat], last)
    found = sorted({coded.statuses[place] for place in np.unique(places) if place} - {"ok"})
    reasons = ("ok", *found, "absent")
    known = {name: code for code, name in enumerate(reasons)}
    status = np.array([known.get(name, 0) for name in coded.statuses], dtype=np.uint8)[last]
    status[(codes >= 0).any(-1)] = 0
    return Cells(cells[coded.cells], held, status, reasons)


def _floats(coded: CodedQuestion, codes: npt.NDArray[np.signedinteger[Any]]) -> Array:
    return np.asarray(np.append(coded.values, np.nan)[codes])


def _cube(frame: pl.DataFrame, joined: pl.DataFrame, panel: Panel) -> Cells:
    ranks = joined.select(pl.col("repeat").rank("dense").over("cell", "item")).to_series()
    repeat = ranks.to_numpy().astype(np.int64) - 1
    n_repeats = int(repeat.max(initial=0)) + 1
    if n_repeats > 1:
        order = joined.select(pl.arg_sort_by("repeat", maintain_order=True)).to_series()
        joined, repeat = joined[order], repeat[order.to_numpy()]
    cell, item = joined["cell"].to_numpy().astype(np.int64), joined["item"].to_numpy().astype(np.int64)
    held = _held(joined["value"], (cell, item, repeat), (frame.height, panel.n_items, n_repeats), panel)
    statuses = joined["status"].cast(pl.String)
    reasons = ("ok", *sorted(set(statuses.unique().to_list()) - {"ok"}), "absent")
    status = np.full((frame.height, panel.n_items), reasons.index("absent"), dtype=np.uint8)
    codes = statuses.replace_strict({name: code for code, name in enumerate(reasons)}, return_dtype=pl.UInt8)
    status[cell, item] = codes.to_numpy()
    answered = joined["value"].is_not_null().to_numpy()
    status[cell[answered], item[answered]] = 0
    sides = shown_signs(joined)
    shown = None if sides is None else np.full((frame.height, panel.n_items, n_repeats), np.nan)
    if shown is not None:
        shown[cell, item, repeat] = sides
    return Cells(frame, held, status, reasons, shown)


def _held(
    values: pl.Series, place: tuple[Ints, Ints, Ints], shape: tuple[int, int, int], panel: Panel
) -> LevelCube | Array:
    """The ratings as levels where there are few, else as numbers; of items with scales of their own from 0 to 1."""
    levels = values.drop_nulls().unique().sort()
    if panel.ranges is None and len(levels) <= MOST_LEVELS:
        codes = np.full(shape, -1, dtype=np.int8)
        codes[place] = levels.search_sorted(values).to_numpy()
        codes[tuple(index[values.is_null().to_numpy()] for index in place)] = -1
        return LevelCube(codes, levels.to_numpy().astype(float))
    numbers = values.to_numpy().astype(float)
    if panel.ranges is not None:
        numbers = (numbers - panel.ranges[0][place[1]]) / panel.ranges[1][place[1]]
    cube = np.full(shape, np.nan)
    cube[place] = numbers
    return cube
