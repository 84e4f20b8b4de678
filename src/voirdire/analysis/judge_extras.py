"""What is not additive over items: distances of distributions, recalibration, the permuted control, equal raters."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.analysis.context import Context, context_reason
from voirdire.analysis.distribution_rows import add_distributions
from voirdire.analysis.engine import ItemSampler
from voirdire.analysis.full_cells import FullCells
from voirdire.analysis.judge_rows import FOLDS, Judged
from voirdire.analysis.judge_tests import add_delta_tests, add_repeats, add_spearman
from voirdire.analysis.selections import Selections
from voirdire.signature import pairs
from voirdire.statistic import REGISTRY, Statistic
from voirdire.stats.features import Array, Features, PoolArrays
from voirdire.stats.permuted import permuted_disagreement, permuted_mae, permuted_pair
from voirdire.stats.raters import equalised
from voirdire.stats.recalibration import make_folds, recalibrate
from voirdire.stats.resampling import percentile, weighted_sums
from voirdire.stats.votes import mirrored

SUBSAMPLES = 20
MOST_POOLS = 3


def add_extras(context: Context, judged: Judged) -> None:
    """Every row of section 2 that is not additive, over all items."""
    features = Features(context.panel.arrays, judged.cube, min_gap=context.options.min_gap)
    full = judged.selections.keep(judged.selections.full)
    writer = FullCells(context, judged, full, full.matrix.argmax(1))
    add_delta_tests(context, judged, features)
    add_spearman(context, judged, features)
    add_repeats(context, judged)
    features.forget()
    add_distributions(writer)
    _add_permuted(writer, features)
    if not context.panel.question.scale.nominal:
        _add_recalibrated(writer, features)
        for pair in context.detail:
            _add_equalised(context, judged, pair)


def _add_permuted(writer: FullCells, features: Features) -> None:
    """The judge's own ratings permuted over the items: the exact expectation."""
    context, arrays = writer.context, writer.context.panel.arrays
    ratings, params = writer.judged.cube, "control=permuted"
    more: dict[str, Any] = {"repeats": "mean_of_errors"}
    for k in range(len(context.pools)):
        if arrays.shares is not None:
            values = permuted_disagreement(_either_way(context, ratings), np.nan_to_num(arrays.shares[k]))
        else:
            values = permuted_mae(ratings, arrays.mean[k])
        (n,) = features.totals(("rated",), (k,))
        writer.add("mae", values, (k,), reason="no_items", params=params, n=n, **more)
    if arrays.shares is not None:
        return
    for a, b in context.detail:
        n, apart = features.totals(("judged", "tilted"), (a, b))
        min_gap = context.options.min_gap
        expected = permuted_pair(ratings, arrays.mean[a], arrays.mean[b], min_gap)
        noise = _noise_difference(features, a, b)
        for name, values, form, reason, size in (
            ("delta", expected.delta, "", "no_common_items", n),
            ("delta_sq", expected.delta_sq - noise, "", context_reason(context, "noise_unknown", (a, b)), n),
            ("tilt", expected.tilt, "", "equal_consensuses", apart),
            ("tilt", expected.tilt_ratio, "form=ratio,", "equal_consensuses", n),
        ):
            reasons: list[str | None] = ["no_common_items" if count == 0 else reason for count in n]
            gap: dict[str, Any] = {"min_gap": min_gap} if name == "tilt" and not form else {}
            writer.add(name, values, (a, b), reason=reasons, params=form + params, n=size, **more, **gap)


def _either_way(context: Context, ratings: Array) -> Array:
    """The ratings (C, I, R); votes between two things fall on the items with either thing first, as repeats."""
    if not context.panel.question.scale.pairwise:
        return ratings
    return np.concatenate([ratings, mirrored(ratings)], axis=-1)


def _noise_difference(features: Features, a: int, b: int) -> Array:
    """(C,) mean of s2_a / n_a - s2_b / n_b over the items of each cell."""
    judged = features.get("judged", (a, b))
    difference = features.pools.noise[a] - features.pools.noise[b]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(judged > 0, difference, 0.0).sum(1) / judged.sum(1))


def _add_recalibrated(writer: FullCells, features: Features) -> None:
    """MAE against every pool after a cross-fitted monotone map fitted on one; many pools: those of the pairs shown."""
    context, arrays = writer.context, writer.context.panel.arrays
    folds = make_folds(context.panel.n_items, FOLDS, context.rng("recalibrate"))
    sampler = ItemSampler(context.panel.n_items, context.options, context.rng("items", "all"))
    pools = range(len(context.pools))
    if len(context.pools) > MOST_POOLS:
        pools = sorted({k for pair in context.detail for k in pair})  # type: ignore[assignment]
    for fit in pools:
        result = recalibrate(features.rating, arrays.mean[fit], arrays.mean, folds)
        for k in pools:
            loss = result.losses[k]
            ends = _mean_interval(loss.values, loss.valid, sampler)
            writer.add(
                "recalibrated_mae",
                loss.mean(),
                (k,),
                reason="no_items",
                any_scale=True,
                method="percentile",
                ends=ends,
                n=loss.n,
                params=pairs({"fit": context.pools[fit]}),
                map="isotonic",
                folds=FOLDS,
                seed=context.options.seed,
                repeats="mean_rating",
            )


def _mean_interval(values: Array, valid: np.ndarray, sampler: ItemSampler) -> tuple[Array, Array]:
    if not len(sampler.weights):
        return np.full(len(values), np.nan), np.full(len(values), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        draws = weighted_sums(sampler.weights, values) / weighted_sums(sampler.weights, valid.astype(float))
    return percentile(draws, sampler.options.level)


def _add_equalised(context: Context, judged: Judged, pair: tuple[int, int]) -> None:
    """delta and T with both pools subsampled per item to the smaller number of raters."""
    panel, selections = context.panel, judged.selections
    nothing = np.full(len(selections), np.nan), np.full(len(selections), "aggregate_pool", dtype=object), 0
    aggregate = any(context.pools[k] in panel.aggregate for k in pair)
    found: dict[str, tuple[Any, ...]] = {"delta": nothing, "tilt": nothing}
    if not aggregate:
        found = dict(_equalised(context, judged, pair))
    other = (selections.matrix @ judged.rank_only) > 0
    for name, (values, reasons, n) in found.items():
        gap: dict[str, Any] = {"min_gap": context.options.min_gap} if name == "tilt" else {}
        context.table.add(
            f"equalised.{name}",
            np.where(other, np.nan, values),
            reasons=np.where(other, "other_scale", reasons),
            n=n,
            definition=context.definition(subsamples=SUBSAMPLES, seed=context.options.seed, consensus="mean", **gap),
            question=panel.question.id,
            judge=list(selections.judges),
            condition=list(selections.conditions),
            **context.names(pair),
        )


def _equalised(context: Context, judged: Judged, pair: tuple[int, int]) -> dict[str, tuple[Array, np.ndarray, Array]]:
    """Values (S,), reasons and n of both statistics, averaged over the subsamples that define them."""
    panel = context.panel
    n = panel.arrays.n[list(pair)]
    ordered = context.by_name(pair)
    even = bool((n[0] == n[1])[(n > 0).all(0)].all())
    rows = [panel.rows[k] for k in ordered]
    result = equalised(
        np.concatenate([row.item for row in rows]),
        np.concatenate([row.value for row in rows]),
        np.repeat([False, True], [row.item.size for row in rows]),
        n_items=panel.n_items,
        rng=context.rng("equalised", *context.names(ordered).values()),
        subsamples=1 if even else SUBSAMPLES,
    )
    drawn, every = [], np.ones(panel.n_items, dtype=bool)
    for means in zip(result.mean_a, result.mean_b, strict=True):
        mean = np.stack(means)
        raters, unknown = np.where(np.isnan(mean), 0.0, result.n), np.full(mean.shape, np.nan)
        arrays = PoolArrays(mean, raters, unknown, panel.arrays.scale)
        drawn.append(judged.features(arrays, every, min_gap=context.options.min_gap))
    target = (ordered.index(pair[0]), ordered.index(pair[1]))
    return {name: _over_subsamples(REGISTRY[name, ""], drawn, judged.selections, target) for name in ("delta", "tilt")}


def _over_subsamples(
    statistic: Statistic, drawn: list[Features], selections: Selections, target: tuple[int, int]
) -> tuple[Array, np.ndarray, Array]:
    values, reasons, sizes = [], [], []
    for features in drawn:
        sums = tuple(selections.matrix @ total for total in features.totals(statistic.features, target))
        value, reason = statistic.values(sums)
        values.append(value)
        reasons.append(reason)
        sizes.append(sums[statistic.n_of])
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(0)
    mean = np.where(known.any(0), total / np.maximum(known.sum(0), 1), np.nan)
    return mean, reasons[0], np.rint(np.mean(sizes, axis=0)).astype(int)
