"""What a report shows beside numbers: rating distributions and the items that split the pools most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from voirdire.analysis.context import Context
from voirdire.analysis.judge_rows import Judged
from voirdire.analysis.naming import cell_column
from voirdire.analysis.selections import CELLS_IN_SLICES
from voirdire.corpus.corpus import Corpus
from voirdire.corpus.sides import thing_columns
from voirdire.scales import Scale
from voirdire.stats.features import Array

MOST_ITEMS = 20
MOST_BARS = 12
SAME = 1e-9
SHOWN = ("text", "prompt", "image", "alt", "pair_id", "culture", "category")
DISTRIBUTIONS = {
    "question": pl.String,
    "kind": pl.String,
    "name": pl.String,
    "condition": pl.String,
    "level": pl.String,
    "share": pl.Float64,
    "count": pl.Int64,
}


def distributions(contexts: Sequence[Context], cells: Mapping[str, Judged]) -> pl.DataFrame:
    """Share of ratings at each level: individual ratings of the pools, and of each judge per condition and in all."""
    rows: list[dict[str, Any]] = []
    for context in contexts:
        panel = context.panel
        names, edges = _bars(context, cells.get(panel.question.id))
        for k, pool in enumerate(panel.pools):
            values = panel.rows[k].value
            if values.size:
                rows += _bars_of(panel.question.id, "pool", pool, "", values, names, edges)
        judged = cells.get(panel.question.id)
        if judged is not None:
            rows += _judge_bars(panel.question.id, judged, names, edges)
    return pl.DataFrame(rows, schema=DISTRIBUTIONS)


def _judge_bars(question: str, judged: Judged, names: list[str], edges: Array) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    frame = judged.cells.frame
    usable = ~judged.rank_only[: judged.n_cells]
    for judge in frame["judge"].cast(pl.String).unique(maintain_order=True):
        mine = np.flatnonzero((frame["judge"].cast(pl.String) == judge).to_numpy() & usable)
        groups = {"*": mine}
        if judged.n_cells <= CELLS_IN_SLICES:
            groups |= {frame["condition"][int(cell)]: np.array([cell]) for cell in mine}
        for condition, chosen in groups.items():
            values = judged.cube[chosen]
            values = values[~np.isnan(values)]
            if values.size:
                rows += _bars_of(question, "judge", judge, str(condition), values, names, edges)
    return rows


def _bars(context: Context, judged: Judged | None) -> tuple[list[str], Array]:
    """Names of the bars and the edges between them: levels, labels, or ten classes of a continuous scale.

    Votes between two things are shown as votes for either of them, and ties: which is the first means nothing.
    """
    panel = context.panel
    if panel.question.scale.pairwise:
        labels = panel.question.scale.labels
        return [" / ".join(labels[:2]), *labels[2:]], np.asarray([1.5] * len(labels[2:]), dtype=float)
    if panel.question.scale.labels and not panel.normalised:
        names = list(panel.question.scale.labels)
        return names, np.asarray(np.arange(len(names) - 1) + 0.5, dtype=float)
    levels = np.asarray(panel.arrays.scale.levels)
    if levels.size and levels.size <= MOST_BARS:
        return [f"{level:g}" for level in levels], np.asarray((levels[1:] + levels[:-1]) / 2, dtype=float)
    low, high = panel.arrays.scale.low, panel.arrays.scale.high
    if not np.isfinite(low + high):
        everything = [rows.value for rows in panel.rows]
        if judged is not None:
            own = ~judged.rank_only[: judged.n_cells]
            everything.append(judged.cube[: judged.n_cells][own].ravel())
        seen = np.concatenate([panel.arrays.mean.ravel(), *everything])
        seen = seen[np.isfinite(seen)]
        low, high = (float(seen.min()), float(seen.max())) if seen.size else (0.0, 1.0)
    ends: Array = np.linspace(low, high, 11).astype(float)
    return [f"{a:.3g} - {b:.3g}" for a, b in pairwise(ends.tolist())], ends[1:-1]


def _bars_of(
    question: str, kind: str, name: str, condition: str, values: Array, names: list[str], edges: Array
) -> list[dict[str, Any]]:
    counts = np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(names))
    common = {"question": question, "kind": kind, "name": name, "condition": condition}
    return [
        {**common, "level": level, "share": float(count / values.size), "count": int(count)}
        for level, count in zip(names, counts, strict=True)
    ]


def splitting_items(contexts: Sequence[Context], cells: Mapping[str, Judged], corpus: Corpus) -> pl.DataFrame:
    """Of every judged question (else of the first) and detailed pair the items with the largest gap."""
    shown = [context for context in contexts if context.panel.question.id in cells] or list(contexts[:1])
    frames = [
        _split(context, pair, cells.get(context.panel.question.id), corpus)
        for context in shown
        for pair in context.detail
    ]
    frames = [frame for frame in frames if not frame.is_empty()]
    return pl.concat(frames, how="diagonal_relaxed") if frames else pl.DataFrame(schema={"item_id": pl.String})


def _split(context: Context, pair: tuple[int, int], judged: Judged | None, corpus: Corpus) -> pl.DataFrame:
    panel = context.panel
    gap = panel.arrays.gap(*pair)
    present = np.flatnonzero(~np.isnan(gap))
    order = present[np.argsort(-np.abs(gap[present]), kind="stable")][:MOST_ITEMS]
    items = corpus.items[panel.item_rows[order]]
    kept = [name for name in items.columns if name.split(".")[0] in SHOWN]
    columns: dict[str, Any] = {"item_id": items["item_id"].cast(pl.String).to_list()}
    columns |= {"question": [panel.question.id] * len(order)}
    columns |= {name: [value] * len(order) for name, value in context.names(pair).items()}
    columns["gap"] = gap[order].tolist()
    named = _named(items, panel.question.scale)
    columns |= {name: items[name].to_list() for name in kept}
    if panel.arrays.shares is None:
        columns |= {f"consensus.{pool}": _plain(panel.arrays.mean[k][order]) for k, pool in enumerate(panel.pools)}
    else:
        columns |= {f"consensus.{pool}": _plurality(context, k, order, named) for k, pool in enumerate(panel.pools)}
    if judged is not None:
        columns |= _ratings(context, judged, order, named)
    return pl.DataFrame(columns)


def _named(items: pl.DataFrame, scale: Scale) -> list[tuple[str, ...]]:
    """The labels of every item; of votes between two things that the items name, their names."""
    columns = thing_columns(items.columns, scale) if scale.pairwise else None
    if columns is None:
        return [scale.labels] * items.height
    names = items.select(pl.col(column).cast(pl.String) for column in columns).rows()
    return [
        (*(name or label for name, label in zip(row, scale.labels, strict=False)), *scale.labels[2:]) for row in names
    ]


def _plurality(context: Context, k: int, order: np.ndarray, named: Sequence[tuple[str, ...]]) -> list[str | None]:
    shares = context.panel.arrays.shares
    if shares is None:
        return [None] * len(order)
    return [
        _with_share(row, labels, every=context.panel.question.scale.pairwise) if np.isfinite(row).all() else None
        for row, labels in zip(shares[k][order], named, strict=True)
    ]


def _with_share(shares: Array, labels: tuple[str, ...], *, every: bool) -> str:
    """The most frequent label with its share; or, as which vote is declared first means nothing, all that tie."""
    if not every:
        return f"{labels[int(shares.argmax())]} ({shares.max():.0%})"
    return _joined(
        {labels[int(place)]: float(shares[place]) for place in np.flatnonzero(shares >= shares.max() - SAME)}
    )


def _joined(shares: Mapping[str, float]) -> str:
    """Labels with their shares, the most frequent first.

    >>> _joined({"tea": 0.25, "cola": 0.75}), _joined({"tea": 0.5, "cola": 0.5})
    ('cola (75%) / tea (25%)', 'cola (50%) / tea (50%)')
    """
    ordered = sorted(shares.items(), key=lambda pair: (-pair[1], pair[0]))
    return " / ".join(f"{label} ({share:.0%})" for label, share in ordered)


def _ratings(context: Context, judged: Judged, order: np.ndarray, named: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    frame = judged.cells.frame
    ratings = judged.cube[: judged.n_cells, order]
    result: dict[str, Any] = {}
    for judge in frame["judge"].cast(pl.String).unique(maintain_order=True):
        mine = np.flatnonzero((frame["judge"].cast(pl.String) == judge).to_numpy())
        if judged.n_cells > CELLS_IN_SLICES and not context.panel.question.scale.nominal:
            result[cell_column(judge, "*")] = _plain(_mean(ratings[mine].swapaxes(0, 1).reshape(len(order), -1)))
            continue
        for cell in mine:
            name = cell_column(judge, frame["condition"][int(cell)])
            if context.panel.question.scale.nominal:
                result[name] = [_labels_of(row, labels) for row, labels in zip(ratings[cell], named, strict=True)]
            else:
                result[name] = _plain(_mean(ratings[cell]))
        if context.panel.question.scale.nominal and len(mine) > 1 and judged.repeats > 1:
            together = ratings[mine].swapaxes(0, 1).reshape(len(order), -1)
            result[cell_column(judge, "*")] = [
                _labels_of(row, labels) for row, labels in zip(together, named, strict=True)
            ]
    return result


def _labels_of(repeats: Array, labels: tuple[str, ...]) -> str | None:
    """The only answer of an item, or every label that was given with its share of the answers."""
    given = repeats[~np.isnan(repeats)].astype(int)
    if given.size < 2:
        return labels[int(given[0])] if given.size else None
    codes, counts = np.unique(given, return_counts=True)
    return _joined({labels[int(code)]: count / given.size for code, count in zip(codes, counts, strict=True)})


def _mean(values: Array) -> Array:
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(-1)
    return np.where(known.any(-1), total / np.maximum(known.sum(-1), 1), np.nan)


def _plain(values: Array) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]
