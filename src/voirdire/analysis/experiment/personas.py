"""What a persona does to T: how far it pulls toward its pool, whether T crosses 0, and which pool pulls more.

Source: Jury Duty, section 4.3 (CN-pull, US-pull).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.analysis.context import Context, context_reason
from voirdire.analysis.engine import Drawn
from voirdire.analysis.experiment.contrasts import (
    SliceSums,
    contrast,
    interval_of,
    stack,
    write,
    write_adjusted,
)
from voirdire.analysis.experiment.design import Block, Experiment
from voirdire.signature import pairs
from voirdire.stats.features import Array

NEUTRAL = ""
TILT = ("tilt", "")


def add_personas(experiment: Experiment) -> None:
    """``pull``, its crossing of 0 and the larger of two, in all items and in each culture.

    Nothing where no factor is a persona of a pool.
    """
    design, context = experiment.design, experiment.context
    if design.persona is None or not design.pool_of:
        return
    for name in ("all", *experiment.cultures.values()):
        sums = SliceSums(experiment, name, context.slices[name])
        for block in design.blocks:
            for pair in context.detail:
                _add_pulls(sums, block, pair)


def _add_pulls(sums: SliceSums, block: Block, pair: tuple[int, int]) -> None:
    """The rows of one slice, block and pair."""
    experiment = sums.experiment
    names = tuple(experiment.context.pools[k] for k in pair)
    levels = persona_cells(experiment, block, names)
    known = [pool for pool in names if pool in levels]
    if not known:
        return
    axis = experiment.design.judge_axis()
    tilts = {level: selected_tilt(sums, pair, matrix) for level, matrix in levels.items()}
    neutral = tilts[NEUTRAL]
    place: dict[str, Any] = {"judge": list(axis), "condition": [block.name] * len(axis), "target": pair}
    for pool in known:
        sign = 1.0 if pool == names[0] else -1.0
        pull = _combine([neutral, tilts[pool]], [-sign, sign])
        _write_pull(sums, pull, levels[NEUTRAL] + levels[pool], pool, place)
        _write_crossing(sums, neutral, tilts[pool], pool, place)
    if len(known) == 2:
        _write_larger(sums, _combine([neutral, tilts[names[0]], tilts[names[1]]], [-2.0, 1.0, 1.0]), place)


def persona_cells(experiment: Experiment, block: Block, pools: Sequence[str]) -> dict[str, Array]:
    """(R, C) the cells of every judge without a persona (``""``) and under that of each of these pools that has one."""
    cells = np.stack(list(experiment.design.judge_axis().values())).astype(float)
    masks = experiment.design.persona_masks(block.mask)
    found = {pool: cells * masks[pool] for pool in pools if pool in masks}
    return {NEUTRAL: cells * masks.get(NEUTRAL, 0.0), **found}


def selected_tilt(sums: SliceSums, pair: tuple[int, int], matrix: Array) -> Drawn:
    """T of every selection; a selection without a cell says so."""
    drawn = sums.statistic("tilt", pair, matrix)
    empty = matrix.sum(1) == 0
    return Drawn(drawn.values, np.where(empty, "no_cells", drawn.reasons).astype(object), drawn.draws, drawn.n)


def _combine(parts: Sequence[Drawn], weights: Sequence[float]) -> Drawn:
    """The weighted sum of several results, selection by selection."""
    size = len(parts[0].values)
    return contrast(stack(parts), np.concatenate([np.eye(size) * weight for weight in weights], axis=1))


def _write_pull(sums: SliceSums, pull: Drawn, cells: Array, pool: str, place: Mapping[str, Any]) -> None:
    """The pull with its interval and p, and p adjusted over the judges."""
    params = pairs({"toward": pool, "of": "tilt"})
    p = write(sums, "pull", pull, params=params, of=TILT, matrix=cells, p=True, **place)
    write_family(sums, p, params, place, test="studentised")


def write_family(sums: SliceSums, p: Array, params: str, place: Mapping[str, Any], *, test: str) -> None:
    """``pull_p`` adjusted over the judges."""
    judges = set(sums.experiment.design.judges)
    family = [s for s, name in enumerate(place["judge"]) if name in judges]
    names = {column: [place[column][s] for s in family] for column in ("judge", "condition")}
    write_adjusted(sums, "pull_p", p[family], params=params, target=place["target"], over="judges", test=test, **names)


def _write_crossing(sums: SliceSums, neutral: Drawn, persona: Drawn, pool: str, place: Mapping[str, Any]) -> None:
    """Whether T has one sign without and another with the persona: yes, no, or not shown."""
    before, after = (_sign(sums, place["target"], drawn) for drawn in (neutral, persona))
    product = before * after
    labels = worded(product, below="yes", above="no")
    params = pairs({"toward": pool, "of": "tilt"})
    _write_words(sums, "pull.crossing", labels, _combine([neutral, persona], [1.0, 1.0]), params, place)


def _write_larger(sums: SliceSums, difference: Drawn, place: Mapping[str, Any]) -> None:
    """Which persona pulls more: the pull toward the first pool less that toward the second, and in words."""
    write(sums, "pull.difference", difference, params="of=tilt", of=TILT, **place)
    labels = worded(_sign(sums, place["target"], difference), below="toward_b", above="toward_a")
    _write_words(sums, "pull.larger", labels, difference, "of=tilt", place)


def _sign(sums: SliceSums, target: tuple[int, ...], drawn: Drawn) -> Array:
    """1 or -1 where the interval lies on one side of 0, 0 where it reaches 0, NaN where there is none."""
    low, high, _ = interval_of(sums, target, drawn)
    sign: Array = (low > 0).astype(float) - (high < 0).astype(float)
    return np.where(np.isnan(low), np.nan, sign)


def worded(sign: Array, *, below: str, above: str) -> npt.NDArray[np.object_]:
    """A sign in words, ``not_shown`` for 0; None for NaN."""
    words = np.where(sign > 0, above, np.where(sign < 0, below, "not_shown")).astype(object)
    words[np.isnan(sign)] = None
    return words


def _write_words(
    sums: SliceSums,
    statistic: str,
    labels: npt.NDArray[np.object_],
    drawn: Drawn,
    params: str,
    place: Mapping[str, Any],
) -> None:
    """Rows in words of the intervals of a result; the reason where there is no word (None)."""
    context, target = sums.experiment.context, place["target"]
    told = sums.sampler.told(target)
    without = told.get("no_interval") or _no_interval(sums)
    reasons = [context_reason(context, reason, target) or without for reason in drawn.reasons]
    definition = context.definition(interval_of(sums, target, drawn)[2], **told)
    write_labels(context, statistic, labels, reasons, drawn.n, definition, name=sums.name, params=params, **place)


def write_labels(
    context: Context,
    statistic: str,
    labels: npt.NDArray[np.object_],
    reasons: Sequence[str | None],
    n: Array,
    definition: Mapping[str, Any],
    *,
    name: str,
    judge: Sequence[str],
    condition: Sequence[str],
    target: tuple[int, ...],
    params: str = "",
) -> None:
    """Rows with a label (R,); with the reason where it is None. name : of the slice."""
    worded = np.array([label is not None for label in labels], dtype=bool)
    for chosen in (np.flatnonzero(worded).tolist(), np.flatnonzero(~worded).tolist()):
        if not chosen:
            continue
        context.table.add(
            statistic,
            np.full(len(chosen), np.nan),
            params=params,
            labels=[labels[s] for s in chosen] if worded[chosen[0]] else None,
            reasons=[reasons[s] for s in chosen],
            n=np.rint(n[chosen]).astype(int),
            definition=definition,
            question=context.panel.question.id,
            judge=[judge[s] for s in chosen],
            condition=[condition[s] for s in chosen],
            slice=name,
            **context.names(target),
        )


def _no_interval(sums: SliceSums) -> str:
    """Why there is no interval."""
    if sums.mask.sum() < 2:
        return "one_item"
    return "unstable_draws" if sums.n_draws else "no_draws"
