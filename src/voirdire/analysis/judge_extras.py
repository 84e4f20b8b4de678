"""What is not additive over items: distances of distributions, recalibration, the permuted control, equal raters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.analysis.context import Context, context_reason
from voirdire.analysis.engine import ItemSampler
from voirdire.analysis.judge_rows import FOLDS, Judged
from voirdire.analysis.judge_tests import add_delta_tests, add_repeats, add_spearman
from voirdire.analysis.panels import MOST_VALUES, Panel
from voirdire.analysis.selections import Selections
from voirdire.signature import pairs
from voirdire.statistic import REGISTRY, Statistic
from voirdire.stats.distribution import overall_distances, overall_floor
from voirdire.stats.features import Array, Features, PoolArrays
from voirdire.stats.permuted import permuted_disagreement, permuted_mae, permuted_pair
from voirdire.stats.raters import equalised
from voirdire.stats.recalibration import make_folds, recalibrate
from voirdire.stats.resampling import percentile, weighted_sums

SUBSAMPLES = 20
MOST_POOLS = 3


def add_extras(context: Context, judged: Judged) -> None:
    """Every row of section 2 that is not additive, over all items."""
    features = Features(context.panel.arrays, judged.cube, min_gap=context.options.min_gap)
    full = judged.selections.keep(judged.selections.full)
    writer = _Full(context, judged, full, full.matrix.argmax(1))
    add_delta_tests(context, judged, features)
    add_spearman(context, judged, features)
    add_repeats(context, judged)
    features.forget()
    for k in range(len(context.pools)):
        _add_distribution(writer, k)
    _add_permuted(writer, features)
    if not context.panel.question.scale.nominal:
        _add_recalibrated(writer, features)
        for pair in context.detail:
            _add_equalised(context, judged, pair)


@dataclass(frozen=True)
class _Full:
    """Writes one row for every full cell."""

    context: Context
    judged: Judged
    full: Selections
    cell: np.ndarray

    def add(
        self,
        statistic: str,
        by_cell: Array,
        target: tuple[int, ...],
        *,
        reason: str | list[str | None] | None = None,
        any_scale: bool = False,
        method: str = "none",
        ends: tuple[Array, Array] | None = None,
        n: npt.ArrayLike = 0,
        params: str = "",
        **definition: Any,
    ) -> None:
        """Rows of per-cell values (C,), NaN with a reason; cells of judges on another scale are undefined."""
        other = self.judged.rank_only & (not any_scale)
        values = np.where(other, np.nan, by_cell)
        given = reason if isinstance(reason, list) else [reason] * len(values)
        reasons = ["other_scale" if other[c] else given[c] for c in range(len(values))]
        low, high = ends if ends is not None else (np.full(len(values), np.nan),) * 2
        counts = np.broadcast_to(np.asarray(n, dtype=int), values.shape)
        self.context.table.add(
            statistic,
            values[self.cell],
            params=params,
            reasons=[reasons[c] for c in self.cell],
            low=np.where(np.isnan(values), np.nan, low)[self.cell],
            high=np.where(np.isnan(values), np.nan, high)[self.cell],
            n=counts[self.cell],
            definition=self.context.definition(method, **definition),
            question=self.context.panel.question.id,
            judge=list(self.full.judges),
            condition=list(self.full.conditions),
            **self.context.names(target),
        )


def _add_distribution(writer: _Full, k: int) -> None:
    """``distribution.w1`` and ``.js`` of each cell, and the pool's own left-one-rater-out floor."""
    panel, cube = writer.context.panel, np.round(writer.judged.cube, 9)
    reason = "aggregate_pool" if panel.pools[k] in panel.aggregate else None
    reason = reason or (None if panel.values.size else "too_many_values")
    w1, js, n = np.full(len(cube), np.nan), np.full(len(cube), np.nan), np.zeros(len(cube), dtype=int)
    reasons: list[str | None] = [reason or "no_items"] * len(cube)
    for cell in np.flatnonzero(~writer.judged.rank_only) if reason is None else ():
        found = _cell_distances(panel, k, cube[cell])
        if found is None:
            reasons[cell] = "too_many_values"
        else:
            w1[cell], js[cell], n[cell] = found
    if panel.question.scale.nominal:
        writer.add("distribution.w1", np.full(len(cube), np.nan), (k,), reason="nominal_scale")
    else:
        writer.add("distribution.w1", w1, (k,), reason=reasons, n=n, form="overall")
    writer.add("distribution.js", js, (k,), reason=reasons, n=n, form="overall", unit="distance_base_2")
    _add_floor(writer.context, k, reason)


def _cell_distances(panel: Panel, k: int, ratings: Array) -> tuple[float, float, int] | None:
    """Wasserstein-1, Jensen-Shannon and items of one cell's ratings (I, R); None with too many values to count."""
    known = np.round(panel.values, 9)
    values = np.unique(np.concatenate([known, ratings[~np.isnan(ratings)]]))
    if len(values) > MOST_VALUES:
        return None
    counts = np.zeros((panel.n_items, len(values)))
    counts[:, np.searchsorted(values, known)] = panel.counts[k]
    found = overall_distances(ratings[None], counts, values)
    return float(found.w1[0]), float(found.js[0]), int(found.n[0])


def _add_floor(context: Context, k: int, reason: str | None) -> None:
    panel = context.panel
    rows = panel.rows[k]
    place = {"question": panel.question.id, "pool": panel.pools[k]}
    if reason is not None:
        for part in ("w1", "js"):
            definition = context.definition()
            context.table.add(f"distribution.{part}_floor", None, reasons=reason, definition=definition, **place)
        return
    codes = np.searchsorted(panel.values, rows.value)
    floor = overall_floor(
        rows.item, rows.rater, codes, panel.values, rng=context.rng("floor", panel.pools[k]), anonymous=panel.anonymous
    )
    definition = context.definition(form="overall", left_out=floor.method, seed=context.options.seed)
    for part, value in (("w1", floor.w1), ("js", floor.js)):
        nominal = part == "w1" and panel.question.scale.nominal
        context.table.add(
            f"distribution.{part}_floor",
            None if nominal else value,
            reasons="nominal_scale" if nominal else floor.undefined,
            n=floor.n,
            definition=definition,
            **place,
        )


def _add_permuted(writer: _Full, features: Features) -> None:
    """The judge's own ratings permuted over the items: the exact expectation."""
    context, arrays = writer.context, writer.context.panel.arrays
    ratings, params = writer.judged.cube, "control=permuted"
    more: dict[str, Any] = {"repeats": "mean_of_errors"}
    for k in range(len(context.pools)):
        if arrays.shares is not None:
            values = permuted_disagreement(ratings, np.nan_to_num(arrays.shares[k]))
        else:
            values = permuted_mae(ratings, arrays.mean[k])
        n = features.get("rated", (k,)).sum(1)
        writer.add("mae", values, (k,), reason="no_items", params=params, n=n, **more)
    if arrays.shares is not None:
        return
    for a, b in context.detail:
        n, apart = (features.get(name, (a, b)).sum(1) for name in ("judged", "tilted"))
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


def _noise_difference(features: Features, a: int, b: int) -> Array:
    """(C,) mean of s2_a / n_a - s2_b / n_b over the items of each cell."""
    judged = features.get("judged", (a, b))
    difference = features.pools.noise[a] - features.pools.noise[b]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(judged > 0, difference, 0.0).sum(1) / judged.sum(1))


def _add_recalibrated(writer: _Full, features: Features) -> None:
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
    drawn = []
    for means in zip(result.mean_a, result.mean_b, strict=True):
        mean = np.stack(means)
        raters, unknown = np.where(np.isnan(mean), 0.0, result.n), np.full(mean.shape, np.nan)
        arrays = PoolArrays(mean, raters, unknown, panel.arrays.scale)
        drawn.append(Features(arrays, judged.cube, min_gap=context.options.min_gap))
    target = (ordered.index(pair[0]), ordered.index(pair[1]))
    return {
        name: _over_subsamples(REGISTRY[name, ""], drawn, judged.selections, target) for name in ("delta", "tilt")
    }


def _over_subsamples(
    statistic: Statistic, drawn: list[Features], selections: Selections, target: tuple[int, int]
) -> tuple[Array, np.ndarray, Array]:
    values, reasons, sizes = [], [], []
    for features in drawn:
        sums = tuple(selections.matrix @ features.get(part, target).sum(-1) for part in statistic.features)
        value, reason = statistic.values(sums)
        values.append(value)
        reasons.append(reason)
        sizes.append(sums[statistic.n_of])
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(0)
    mean = np.where(known.any(0), total / np.maximum(known.sum(0), 1), np.nan)
    return mean, reasons[0], np.rint(np.mean(sizes, axis=0)).astype(int)
