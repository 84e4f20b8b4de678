"""The pools of one question over every item of a shelf, as an audit compares judges with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from voirdire.analysis.context import codes_of
from voirdire.analysis.panels import Panel, build_panel
from voirdire.browsing.said import Ints, places
from voirdire.corpus.corpus import Corpus, Question
from voirdire.scales import Scale
from voirdire.stats.features import Array, PoolArrays, ScaleCuts, cuts_of

CONSENSUS: dict[str, Any] = {
    "item_id": pl.String, "pool": pl.String, "value": pl.Float64, "n": pl.Int64, "s2": pl.Float64
}  # fmt: skip
SHARES: dict[str, Any] = {"item_id": pl.String, "pool": pl.String, "label": pl.String, "share": pl.Float64}
"""The columns of the two tables that :func:`pools_of_consensus` reads."""


@dataclass(frozen=True)
class ItemPools:
    """K pools of a question over I items, in the order of the shelf.

    arrays : consensus, raters and rater noise; NaN where a pool has no consensus of an item
    counts : (K, I, L) how many raters gave each of ``values``; None where only consensuses are known
    ranges : low ends and ranges (I,) of the items' own scales, to which everything here is then related (0-1)
    aggregate : pools that come without raters
    """

    question: str
    scale: Scale
    pools: tuple[str, ...]
    arrays: PoolArrays
    counts: Array | None = None
    values: Array | None = None
    ranges: tuple[Array, Array] | None = None
    aggregate: frozenset[str] = frozenset()
    normalised: bool = False

    @property
    def has_classes(self) -> bool:
        """Whether the scale has the four levels that anchor classes need."""
        return "levels" in codes_of(self.scale, normalised=self.normalised)

    @property
    def has_distances(self) -> bool:
        """Whether a judge's distance from a pool is defined: of labels the shares must be known."""
        return not self.scale.nominal or self.arrays.shares is not None

    @property
    def ends(self) -> tuple[float, float] | None:
        """The ends of the axis that consensuses are drawn on; None where the scale has none."""
        low, high = self.arrays.scale.low, self.arrays.scale.high
        return (low, high) if np.isfinite(low + high) else None

    def place(self, pool: str) -> int:
        """The index of a pool. ValueError when there is none."""
        return self.pools.index(pool)


def pools_of_corpus(
    corpus: Corpus, question: Question, items: pl.Series, *, consensus: str = "mean", min_raters: int = 1
) -> ItemPools | None:
    """The pools that rated a question, by the consensus rule of an audit; None where nobody rated it.

    items : (I,) ids in the order of the shelf

    >>> from voirdire.corpus.reading import CorpusOptions, read_corpus
    >>> ratings = pl.DataFrame({"item": ["b", "b", "a"], "rater": ["u", "v", "u"], "pool": ["us", "cn", "us"],
    ...                         "score": [1, 5, 2]})
    >>> corpus = read_corpus(CorpusOptions(ratings))
    >>> pools_of_corpus(corpus, corpus.questions[0], pl.Series(["a", "b", "c"])).arrays.mean.tolist()
    [[2.0, 1.0, nan], [nan, 5.0, nan]]
    """
    panel = build_panel(corpus, question, consensus=consensus, min_raters=min_raters)
    if not panel.n_items:
        return None
    rated = corpus.items["item_id"].cast(pl.String).gather(panel.item_rows)
    at = places(rated, items)
    kept = np.flatnonzero(at >= 0)
    arrays = _spread(panel, at[kept], kept, len(items))
    counts = None
    if panel.values.size:
        counts = np.zeros((len(panel.pools), len(items), panel.values.size))
        counts[:, at[kept]] = panel.counts[:, kept]
    ranges = None if panel.ranges is None else ranges_of(corpus.item_scales, question.scale, items)
    return ItemPools(
        question.id,
        question.scale,
        panel.pools,
        arrays,
        counts,
        panel.values if panel.values.size else None,
        ranges,
        panel.aggregate,
        panel.normalised,
    )


def _spread(panel: Panel, at: Ints, kept: Ints, size: int) -> PoolArrays:
    """The panel's arrays at the places of its items among all items of the shelf."""
    given = panel.arrays

    def spread(values: Array, empty: float) -> Array:
        whole = np.full((values.shape[0], size, *values.shape[2:]), empty)
        whole[:, at] = values[:, kept]
        return whole

    shares = None if given.shares is None else spread(given.shares, np.nan)
    return PoolArrays(spread(given.mean, np.nan), spread(given.n, 0.0), spread(given.s2, np.nan), given.scale, shares)


def ranges_of(scales: Mapping[str, Scale], scale: Scale, items: pl.Series) -> tuple[Array, Array]:
    """Low ends and ranges (I,) of items; NaN of an item whose scale has no ends."""
    own = [scales.get(item, scale) for item in items]
    low = np.array([np.nan if each.low is None else each.low for each in own], dtype=float)
    high = np.array([np.nan if each.high is None else each.high for each in own], dtype=float)
    return low, np.where(high > low, high - low, np.nan)


def pools_of_consensus(
    rows: pl.DataFrame,
    question: str,
    scale: Scale,
    items: pl.Series,
    *,
    pools: Sequence[str] = (),
    shares: pl.DataFrame | None = None,
    normalised: bool = False,
) -> ItemPools | None:
    """Pools of which only the consensuses are known (the columns ``CONSENSUS``); None without any.

    scale : of the question; shares : of labels without order (the columns ``SHARES``)
    normalised : the consensuses are places from 0 to 1 in the items' own ranges
    """
    found = [str(name) for name in rows["pool"].cast(pl.String).unique(maintain_order=True)]
    names = tuple(dict.fromkeys([*(name for name in pools if name in set(found)), *found]))
    if not names:
        return None
    at = places(rows["item_id"], items)
    here = at >= 0
    pool = _codes(rows["pool"], names)
    parts = {name: np.full((len(names), len(items)), np.nan) for name in ("value", "n", "s2")}
    parts["n"][:] = 0.0
    for name, part in parts.items():
        part[pool[here], at[here]] = rows[name].cast(pl.Float64).to_numpy()[here]
    cuts = ScaleCuts(0.0, 1.0) if normalised else cuts_of(scale)
    arrays = PoolArrays(parts["value"], parts["n"], parts["s2"], cuts)
    if scale.nominal and shares is not None:
        by_label = _shares(shares, names, scale.labels, items)
        by_label[~arrays.has] = np.nan
        arrays = replace(arrays, shares=by_label)
    return ItemPools(question, scale, names, arrays, normalised=normalised)


def _shares(rows: pl.DataFrame, pools: Sequence[str], labels: Sequence[str], items: pl.Series) -> Array:
    """(K, I, L) the share of each label, 0 of those that are not told."""
    at = places(rows["item_id"], items)
    known = (at >= 0) & rows["pool"].cast(pl.String).is_in(pools).to_numpy()
    rows, at = rows.filter(pl.Series(known)), at[known]
    table = np.zeros((len(pools), len(items), len(labels)))
    table[_codes(rows["pool"], pools), at, _codes(rows["label"], labels)] = rows["share"].to_numpy()
    return table


def _codes(names: pl.Series, known: Sequence[str]) -> Ints:
    codes = names.cast(pl.String).replace_strict({name: k for k, name in enumerate(known)}, return_dtype=pl.Int64)
    return codes.to_numpy()
