"""What a persona does to the orientation W: the same questions as of T, with 1/2 in the place of 0.

W is 0 at the first pool and 1 at the second. Intervals and tests from item-clustered influences.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.analysis.experiment.contrasts import SliceSums
from voirdire.analysis.experiment.design import Block, Experiment
from voirdire.analysis.experiment.orientation.selected import (
    Linear,
    clustered_definition,
    linear_contrast,
    selected_w,
    write_linear,
)
from voirdire.analysis.experiment.personas import NEUTRAL, persona_cells, worded, write_family, write_labels
from voirdire.signature import pairs
from voirdire.stats.features import Array

OF = "orientation.w"


def add_w_pulls(experiment: Experiment) -> None:
    """``pull``, ``pull.crossing``, ``pull.difference`` and ``pull.larger`` of W. Nothing without personas of pools."""
    design, context = experiment.design, experiment.context
    if design.persona is None or not design.pool_of:
        return
    for name in ("all", *experiment.cultures.values()):
        sums = SliceSums(experiment, name, context.slices[name])
        for block in design.blocks:
            for pair in context.detail:
                _add(sums, block, pair)


def _add(sums: SliceSums, block: Block, pair: tuple[int, int]) -> None:
    """The rows of one slice, block and pair."""
    experiment = sums.experiment
    names = tuple(experiment.context.pools[k] for k in pair)
    levels = persona_cells(experiment, block, names)
    known = [pool for pool in names if pool in levels]
    if not known:
        return
    found = _selected(sums, pair, np.concatenate(list(levels.values())))
    axis = list(experiment.design.judge_axis())
    place: dict[str, Any] = {"judge": axis, "condition": [block.name] * len(axis), "target": pair}

    def combine(weights: dict[str, float]) -> Linear:
        eyes = [np.eye(len(axis)) * weights.get(level, 0.0) for level in levels]
        return linear_contrast(found, np.concatenate(eyes, axis=1))

    neutral = combine({NEUTRAL: 1.0})
    for pool in known:
        sign = 1.0 if pool == names[1] else -1.0
        params = pairs({"toward": pool, "of": OF})
        pull = combine({pool: sign, NEUTRAL: -sign})
        p = write_linear(sums.experiment.context, "pull", pull, name=sums.name, params=params, p=True, **place)
        write_family(sums, p, params, place, test="t")
        product = _sign(sums, neutral, 0.5) * _sign(sums, combine({pool: 1.0}), 0.5)
        _write_words(sums, "pull.crossing", product, ("yes", "no"), pull, params, place)
    if len(known) == 2:
        difference = combine({NEUTRAL: 2.0, names[0]: -1.0, names[1]: -1.0})
        params = pairs({"of": OF})
        write_linear(sums.experiment.context, "pull.difference", difference, name=sums.name, params=params, **place)
        words = ("toward_b", "toward_a")
        _write_words(sums, "pull.larger", _sign(sums, difference, 0.0), words, difference, params, place)


def _selected(sums: SliceSums, pair: tuple[int, int], matrix: Array) -> Linear:
    """W of every selection; a selection without a cell says so."""
    found = selected_w(sums.experiment, sums.name, sums.mask, pair, matrix)
    empty = matrix.sum(1) == 0
    reasons = np.where(empty, "no_cells", found.reasons).astype(object)
    return Linear(np.where(empty, np.nan, found.values), reasons, found.influence, found.n)


def _sign(sums: SliceSums, linear: Linear, middle: float) -> Array:
    """1 or -1 where the interval lies on one side of the middle, 0 where it holds it, NaN where there is none."""
    from scipy.stats import t as student

    groups = max(int((linear.influence != 0).any(0).sum()), 2)
    half = float(student.ppf((1 + sums.experiment.context.options.level) / 2, groups - 1)) * linear.error
    away = linear.values - middle
    return np.where(np.isnan(away), np.nan, np.sign(away) * (np.abs(away) > half))


def _write_words(
    sums: SliceSums,
    statistic: str,
    sign: Array,
    words: tuple[str, str],
    linear: Linear,
    params: str,
    place: dict[str, Any],
) -> None:
    context = sums.experiment.context
    labels = worded(sign, below=words[0], above=words[1])
    definition = clustered_definition(context, "clustered_t", error="item_clustered")
    write_labels(
        context, statistic, labels, list(linear.reasons), linear.n, definition, name=sums.name, params=params, **place
    )
