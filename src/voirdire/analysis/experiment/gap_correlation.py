"""``gap_correlation``: does delta follow the pools' gap over items? (section 4; Jury Duty, 4.1).

It is an identity in part: a judge that never moves gets -0.76 (constant 4) or -1.00 (constant 5) in the paper's
setting. So every control judge stands beside the judges, and no p against 0 is given.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.analysis.engine import ItemSampler
from voirdire.analysis.experiment.design import ALL, Experiment
from voirdire.stats.agreement import constant_side, pearson_of_sums
from voirdire.stats.features import Array, Features, zero_where
from voirdire.stats.per_item import over
from voirdire.stats.resampling import percentile, weighted_sums


def add_gap_correlation(experiment: Experiment) -> None:
    """Rows of all judges and of each in every block of cells, and of every control, over all items."""
    context, judged = experiment.context, experiment.judged
    judges, conditions, matrix = _selections(experiment)
    features = Features(context.panel.arrays, judged.cube)
    sampler = ItemSampler(context.panel.n_items, context.options, context.rng("items", "all"))
    other = (matrix @ judged.rank_only) > 0
    for pair in context.detail:
        totals, counts = (features.get(name, pair) for name in ("error_difference", "judged"))
        delta = over(matrix @ totals, matrix @ counts)
        moments = _moments(delta, context.panel.arrays.gap(*pair))
        values, reasons = _correlations(moments.sum(-1))
        values[other], reasons[other] = np.nan, "other_scale"
        low, high = _interval(moments, sampler)
        undefined = np.isnan(values)
        more: dict[str, Any] = {"of": "item_mean_of_delta", "with": "m_a-m_b", "repeats": "mean_of_errors"}
        context.table.add(
            "gap_correlation",
            values,
            reasons=reasons,
            low=np.where(undefined, np.nan, low),
            high=np.where(undefined, np.nan, high),
            n=moments[0].sum(-1).astype(int),
            definition=context.definition("percentile", **more),
            question=context.panel.question.id,
            judge=judges,
            condition=conditions,
            **context.names(pair),
        )
        features.forget()


def _selections(experiment: Experiment) -> tuple[list[str], list[str], Array]:
    """Judges, conditions and the matrix (S, C): each block for all judges and each, then the controls."""
    design, judged = experiment.design, experiment.judged
    judges, conditions, masks = [], [], []
    for block in design.blocks:
        for judge in (ALL, *design.judges):
            mask = block.mask if judge == ALL else design.mask(block.mask, judge=judge)
            if mask.any():
                judges.append(judge)
                conditions.append(block.name)
                masks.append(mask)
    controls = np.arange(judged.n_cells, len(judged.cube))
    selections = judged.selections
    for cell in controls:
        place = int(selections.matrix[:, cell].argmax())
        judges.append(selections.judges[place])
        conditions.append(selections.conditions[place])
        masks.append(np.arange(len(judged.cube)) == cell)
    return judges, conditions, np.stack(masks).astype(float)


def _moments(delta: Array, gap: Array) -> Array:
    """(6, S, I): 1, x, y, xx, yy, xy of delta (S, I) and the gap (I,) where both exist, else 0."""
    known = ~np.isnan(delta) & ~np.isnan(gap)
    x, y = zero_where(known, delta), zero_where(known, np.broadcast_to(gap, delta.shape))
    return np.stack([known.astype(float), x, y, x * x, y * y, x * y])


def _correlations(sums: Array) -> tuple[Array, np.ndarray]:
    """Values (S,) and reasons of the summed moments (6, S)."""
    n, x, y, xx, yy = sums[:5]
    reasons = np.full(n.shape, None, dtype=object)
    for reason, hit in (
        ("constant_delta", constant_side(n, x, xx)),
        ("constant_gap", constant_side(n, y, yy)),
        ("one_item", n == 1),
        ("no_common_items", n == 0),
    ):
        reasons[hit] = reason
    with np.errstate(invalid="ignore", divide="ignore"):
        values = pearson_of_sums(*sums)
    return np.where(reasons == None, values, np.nan), reasons  # noqa: E711  (elementwise)


def _interval(moments: Array, sampler: ItemSampler) -> tuple[Array, Array]:
    size = moments.shape[1]
    if not len(sampler.weights):
        return np.full(size, np.nan), np.full(size, np.nan)
    drawn = weighted_sums(sampler.weights, moments.reshape(-1, moments.shape[-1])).reshape(6, size, -1)
    values, _ = _correlations(drawn)
    return percentile(values, sampler.options.level)
