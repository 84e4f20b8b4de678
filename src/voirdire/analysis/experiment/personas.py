"""What a persona does: how far it pulls T toward its pool, and whether it brings a judge nearer its own pool.

Source: Jury Duty, section 4.3 (CN-pull, US-pull, matched and mismatched personas).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.analysis.context import context_reason
from voirdire.analysis.engine import Drawn
from voirdire.analysis.experiment.contrasts import (
    SliceSums,
    contrast,
    interval_of,
    stack,
    write,
    write_adjusted,
)
from voirdire.analysis.experiment.design import Block, Experiment, Mask
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
    masks = experiment.design.persona_masks(block.mask)
    names = tuple(experiment.context.pools[k] for k in pair)
    known = [pool for pool in names if pool in masks]
    if not known:
        return
    axis = experiment.design.judge_axis()
    levels = {level: _matrix(axis, masks.get(level)) for level in (NEUTRAL, *known)}
    tilts = {level: selected_tilt(sums, pair, matrix) for level, matrix in levels.items()}
    neutral = tilts[NEUTRAL]
    place: dict[str, Any] = {"judge": list(axis), "condition": [block.name] * len(axis), "target": pair}
    pulls = []
    for pool in known:
        sign = 1.0 if pool == names[0] else -1.0
        pull = _combine([neutral, tilts[pool]], [-sign, sign])
        cells = levels[NEUTRAL] + levels[pool]
        _write_pull(sums, pull, cells, pool, place)
        _write_crossing(sums, neutral, tilts[pool], pool, place)
        pulls.append(pull)
    if len(known) == 2:
        _write_larger(sums, _combine([neutral, tilts[names[0]], tilts[names[1]]], [-2.0, 1.0, 1.0]), place)


def _matrix(axis: Mapping[str, Mask], mask: Mask | None) -> Array:
    """(R, C) the cells of every judge in a persona; none where nobody has it."""
    cells = np.stack(list(axis.values())).astype(float)
    return cells * mask if mask is not None else np.zeros_like(cells)


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
    judges = set(sums.experiment.design.judges)
    family = [s for s, name in enumerate(place["judge"]) if name in judges]
    names = {"judge": [place["judge"][s] for s in family], "condition": [place["condition"][s] for s in family]}
    write_adjusted(
        sums, "pull_p", p[family], params=params, target=place["target"], over="judges", test="studentised", **names
    )


def _write_crossing(sums: SliceSums, neutral: Drawn, persona: Drawn, pool: str, place: Mapping[str, Any]) -> None:
    """Whether T has one sign without and another with the persona: yes, no, or not shown."""
    before, after = (_sign(sums, place["target"], drawn) for drawn in (neutral, persona))
    product = before * after
    labels = _worded(product, below="yes", above="no")
    params = pairs({"toward": pool, "of": "tilt"})
    write_labels(sums, "pull.crossing", labels, _combine([neutral, persona], [1.0, 1.0]), params=params, **place)


def _write_larger(sums: SliceSums, difference: Drawn, place: Mapping[str, Any]) -> None:
    """Which persona pulls more: the pull toward the first pool less that toward the second, and in words."""
    write(sums, "pull.difference", difference, params="of=tilt", of=TILT, **place)
    labels = _worded(_sign(sums, place["target"], difference), below="toward_b", above="toward_a")
    write_labels(sums, "pull.larger", labels, difference, params="of=tilt", **place)


def _sign(sums: SliceSums, target: tuple[int, ...], drawn: Drawn) -> Array:
    """1 or -1 where the interval lies on one side of 0, 0 where it reaches 0, NaN where there is none."""
    low, high, _ = interval_of(sums, target, drawn)
    sign: Array = (low > 0).astype(float) - (high < 0).astype(float)
    return np.where(np.isnan(low), np.nan, sign)


def _worded(sign: Array, *, below: str, above: str) -> npt.NDArray[np.object_]:
    """A sign in words, ``not_shown`` for 0; None for NaN."""
    words = np.where(sign > 0, above, np.where(sign < 0, below, "not_shown")).astype(object)
    words[np.isnan(sign)] = None
    return words


def write_labels(
    sums: SliceSums,
    statistic: str,
    labels: npt.NDArray[np.object_],
    drawn: Drawn,
    *,
    judge: Sequence[str],
    condition: Sequence[str],
    target: tuple[int, ...],
    params: str = "",
) -> None:
    """Rows in words of the intervals of a result; the reason where there is no word (None)."""
    context = sums.experiment.context
    method = interval_of(sums, target, drawn)[2]
    without = sums.sampler.told(target).get("no_interval") or _no_interval(sums)
    worded = np.array([label is not None for label in labels], dtype=bool)
    for chosen in (np.flatnonzero(worded).tolist(), np.flatnonzero(~worded).tolist()):
        if not chosen:
            continue
        reasons = [context_reason(context, drawn.reasons[s], target) or without for s in chosen]
        context.table.add(
            statistic,
            np.full(len(chosen), np.nan),
            params=params,
            labels=[labels[s] for s in chosen] if worded[chosen[0]] else None,
            reasons=reasons,
            n=np.rint(drawn.n[chosen]).astype(int),
            definition=context.definition(method, **sums.sampler.told(target)),
            question=context.panel.question.id,
            judge=[judge[s] for s in chosen],
            condition=[condition[s] for s in chosen],
            slice=sums.name,
            **context.names(target),
        )


def _no_interval(sums: SliceSums) -> str:
    """Why there is no interval."""
    if sums.mask.sum() < 2:
        return "one_item"
    return "unstable_draws" if sums.n_draws else "no_draws"
