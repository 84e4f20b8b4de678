"""Tests, rank correlation and repeats of the judges, over all items of a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.analysis.context import Context, order_reason, scale_codes
from voirdire.analysis.judge_rows import Judged
from voirdire.analysis.pool_rows import alpha_level
from voirdire.stats.alpha import PAIRWISE, alpha
from voirdire.stats.features import MOST_HELD, Array, Features
from voirdire.stats.resampling import fisher_z
from voirdire.stats.tests import MeanT, Wilcoxon, benjamini_hochberg, holm, mean_t_rows, wilcoxon_rows


def add_delta_tests(context: Context, judged: Judged, features: Features) -> None:
    """``delta_test``: over items, the mean over the selection's cells of abs(r - m_a) - abs(r - m_b)."""
    for pair in context.detail:
        totals = features.get("error_difference", pair)
        counts = features.get("judged", pair)
        signed: list[Wilcoxon] = []
        means: list[MeanT] = []
        step = max(1, MOST_HELD // totals.shape[1])
        for start in range(0, len(judged.selections), step):
            differences = _item_means(judged.selections.matrix[start : start + step], totals, counts)
            signed += wilcoxon_rows(differences)
            means += mean_t_rows(differences)
        _write_tests(context, judged, pair, signed, means)


def _item_means(matrix: Array, totals: Array, counts: Array) -> Array:
    """(S, I) mean over the cells of every selection, NaN where none has a rating."""
    number = matrix @ counts
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(number > 0, (matrix @ totals) / number, np.nan)


def _write_tests(
    context: Context,
    judged: Judged,
    pair: tuple[int, int],
    signed: Sequence[Wilcoxon],
    means: Sequence[MeanT],
) -> None:
    selections = judged.selections
    other = (selections.matrix @ judged.rank_only) > 0
    family = family_of(judged)
    sizes: dict[str, int] = {}
    columns: dict[str, tuple[list[float | None], list[str | None]]] = {
        "wilcoxon_statistic": ([w.statistic for w in signed], [w.undefined for w in signed]),
        "wilcoxon_p": ([w.p for w in signed], [w.undefined for w in signed]),
        "n_zero": ([float(w.n_zero) if w.n else None for w in signed], [w.undefined for w in signed]),
        "t": ([t.t for t in means], [t.undefined for t in means]),
        "t_p": ([t.p for t in means], [t.undefined for t in means]),
    }
    for part in ("wilcoxon_p", "t_p"):
        values, reasons = columns[part]
        in_family = [value if member else None for value, member in zip(values, family, strict=True)]
        sizes[part] = sum(value is not None for value in in_family)
        for name, adjust in (("holm", holm), ("bh", benjamini_hochberg)):
            adjusted = adjust(np.array([np.nan if value is None else value for value in in_family]))
            columns[f"{part}_{name}"] = ([None if np.isnan(value) else float(value) for value in adjusted], reasons)
    for part, (values, reasons) in columns.items():
        adjusted_part = part.endswith(("_holm", "_bh"))
        kept = np.flatnonzero(family) if adjusted_part else np.arange(len(selections))
        more: dict[str, Any] = {"family": sizes[part.rsplit("_", 1)[0]]} if adjusted_part else {}
        test = "cluster_t" if part.startswith("t") else "wilcoxon_asymptotic"
        definition = context.definition(test=test, test_unit="item", repeats="mean_of_errors", **more)
        context.table.add(
            f"delta_test.{part}",
            [np.nan if values[s] is None or other[s] else values[s] for s in kept],
            reasons=["other_scale" if other[s] else reasons[s] for s in kept],
            n=[signed[int(s)].n for s in kept],
            definition=definition,
            question=context.panel.question.id,
            judge=[selections.judges[s] for s in kept],
            condition=[selections.conditions[s] for s in kept],
            **context.names(pair),
        )


def family_of(judged: Judged) -> npt.NDArray[np.bool_]:
    """(S,) the selections that are corrected together: every full cell of a judge on the question's scale."""
    selections = judged.selections
    other = (selections.matrix @ judged.rank_only) > 0
    return np.asarray(selections.full & selections.matrix[:, : judged.n_cells].any(1) & ~other)


def add_spearman(context: Context, judged: Judged, features: Features) -> None:
    """Spearman of every full cell; of other selections the mean over their cells is not given."""
    if "rank" not in scale_codes(context.panel):
        return
    full = judged.selections.keep(judged.selections.full)
    cell_of = full.matrix.argmax(1)
    for k in range(len(context.pools)):
        rho, reasons, n = _spearman_cells(features.rating, context.panel.arrays.mean[k])
        low, high = fisher_z(rho, n, context.options.level, extra=rho**2 / 2)
        context.table.add(
            "spearman",
            rho[cell_of],
            reasons=[reasons[c] for c in cell_of],
            low=low[cell_of],
            high=high[cell_of],
            n=n[cell_of].astype(int),
            definition=context.definition("fisher_z", repeats="mean_rating", variance="bonett_wright"),
            question=context.panel.question.id,
            judge=list(full.judges),
            condition=list(full.conditions),
            **context.names((k,)),
        )


def _spearman_cells(ratings: Array, consensus: Array) -> tuple[Array, list[str | None], Array]:
    """(C,) rank correlations, reasons and n."""
    from scipy.stats import rankdata

    rho, reasons, sizes = np.full(len(ratings), np.nan), [], np.zeros(len(ratings))
    ranked: dict[bytes, Array] = {}
    for cell, rating in enumerate(ratings):
        common = ~np.isnan(rating) & ~np.isnan(consensus)
        sizes[cell] = n = int(common.sum())
        reason: str | None = "no_items" if n == 0 else "one_item" if n == 1 else None
        mine, theirs = np.round(rating[common], 9), np.round(consensus[common], 9)
        if reason is None and np.ptp(mine) == 0:
            reason = "constant_judge"
        elif reason is None and np.ptp(theirs) == 0:
            reason = "constant_consensus"
        reasons.append(reason)
        if reason is None:
            key = common.tobytes()
            if key not in ranked:
                ranked[key] = _standard(rankdata(theirs))
            rho[cell] = float(_standard(rankdata(mine)) @ ranked[key])
    return np.clip(rho, -1, 1), reasons, sizes


def _standard(ranks: Array) -> Array:
    centred = ranks - ranks.mean()
    return np.asarray(centred / np.sqrt(centred @ centred))


def add_repeats(context: Context, judged: Judged) -> None:
    """``repeat_alpha`` and ``repeat_sd`` of every full cell whose judge rated items more than once.

    Votes between two things are compared within the order in which the things were shown: the two orders are different
    questions, and how far their answers agree is ``position.consistency``.
    """
    if judged.repeats < 2:
        return
    full = judged.selections.keep(judged.selections.full)
    real = [s for s in range(len(full)) if int(full.matrix[s].argmax()) < judged.n_cells]
    level = alpha_level(context.panel.question.scale) if not context.panel.normalised else context.panel.scale.level
    places = [int(full.matrix[s].argmax()) for s in real]
    shown = judged.cells.shown if context.panel.question.scale.pairwise else None
    results = [_repeat(*_within_orders(judged, place, shown), level, judged.cube.shape[1]) for place in places]
    nominal = context.panel.question.scale.nominal
    for place, name in enumerate(("repeat_alpha", "repeat_sd")):
        if nominal and name == "repeat_sd":
            reason = order_reason(context.panel.question.scale)
            results = [(alpha_, None, reason, n) for alpha_, _, _, n in results]
        context.table.add(
            name,
            [np.nan if result[place] is None else result[place] for result in results],
            params=f"level={level}" if name == "repeat_alpha" else "",
            reasons=[result[2] for result in results],
            n=[result[3] for result in results],
            definition=context.definition(),
            question=context.panel.question.id,
            judge=[full.judges[s] for s in real],
            condition=[full.conditions[s] for s in real],
        )


def _within_orders(judged: Judged, place: int, shown: Array | None) -> tuple[Array, str]:
    """The ratings of a cell (I, R), an item once for every order of its things; and why none may be repeated."""
    ratings = judged.cube[place]
    if shown is None:
        return ratings, "no_repeats"
    ratings, sides = ratings[:, : shown.shape[2]], np.nan_to_num(shown[place])
    several = ((~np.isnan(ratings)).sum(1) > 1).any()
    parts = [np.where(sides == side, ratings, np.nan) for side in (1, -1, 0)]
    return np.concatenate(parts), "only_orders" if several else "no_repeats"


def _repeat(
    ratings: Array, without: str, level: str, n_items: int
) -> tuple[float | None, float | None, str | None, int]:
    """alpha over repeats, pooled within-item sd, reason, items with two or more repeats.

    ratings : (I, R), or (3 I, R) where an item stands once for every order of its things
    """
    known = ~np.isnan(ratings)
    several = known.sum(1) > 1
    n = int(several.reshape(-1, n_items).any(0).sum())
    if n == 0:
        return None, None, without, 0
    values = np.arange(3.0) if level == PAIRWISE else np.unique(ratings[known])
    counts = np.stack([(ratings == value).sum(1) for value in values], 1).astype(float)
    result = alpha(counts, values, level)
    kept = np.where(known, ratings, np.nan)[several]
    spread = np.nanvar(kept, axis=1, ddof=1) * (known[several].sum(1) - 1)
    return result.value, float(np.sqrt(spread.sum() / (known[several].sum(1) - 1).sum())), result.undefined, n
