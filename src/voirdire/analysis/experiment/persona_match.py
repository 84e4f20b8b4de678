"""Does a persona bring a judge nearer the pool that it speaks for: own-pool errors, and the gap to a pool's low items.

Source: Jury Duty, section 4.3 (own-MAE under matched and mismatched personas; food that the U.S. pool rates lowest).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from voirdire.analysis.context import scale_codes
from voirdire.analysis.engine import Drawn, Sums, select_sums
from voirdire.analysis.experiment.contrasts import SliceSums, contrast, stack, write
from voirdire.analysis.experiment.design import ALL, Block, Experiment, Mask
from voirdire.analysis.selections import is_crossed
from voirdire.statistic import ratio
from voirdire.stats.features import TIE

PARTS = ("matched", "mismatched")
MAE = ("mae", "")


def add_persona_match(experiment: Experiment) -> None:
    """``persona_match``: own-MAE with the persona of the image's culture and with another pool's.

    Where no level of the items' culture is called as a pool, one row with that reason.
    """
    design, context = experiment.design, experiment.context
    if design.persona is None or not design.pool_of:
        return
    pools = {name.lower(): k for k, name in enumerate(context.pools)}
    own = {name: pools[level.lower()] for level, name in experiment.cultures.items() if level.lower() in pools}
    if not own:
        context.table.add(
            "persona_match.difference",
            np.nan,
            reasons=["no_culture_of_a_pool"],
            definition=context.definition(),
            question=context.panel.question.id,
            judge=ALL,
            condition=design.blocks[0].name,
        )
        return
    slices = {name: SliceSums(experiment, name, context.slices[name]) for name in own}
    whole = SliceSums(experiment, "all", context.slices["all"])
    for block in design.blocks:
        for name, k in own.items():
            _add_match(slices[name], {name: k}, slices, block)
        if len(own) > 1:
            _add_match(whole, own, slices, block)


def _add_match(home: SliceSums, own: Mapping[str, int], slices: Mapping[str, SliceSums], block: Block) -> None:
    """The rows of one culture, or of all cultures that are called as a pool."""
    axis = home.experiment.design.judge_axis()
    place: dict[str, Any] = {"judge": list(axis), "condition": [block.name] * len(axis)}
    found = {part: _own_error(own, slices, block, axis, part) for part in PARTS}
    target = tuple(own.values())
    told: dict[str, Any] = {"of": MAE, "pools": target, "target": target if len(target) == 1 else ()}
    if len(target) > 1:
        told |= {"weights": "judgments", "strata": "culture"}
    for part, drawn in found.items():
        write(home, f"persona_match.{part}", drawn, **place, **told)
    size = len(axis)
    difference = contrast(stack(list(found.values())), np.concatenate([-np.eye(size), np.eye(size)], axis=1))
    write(home, "persona_match.difference", difference, **place, **told)


def _own_error(
    own: Mapping[str, int], slices: Mapping[str, SliceSums], block: Block, axis: Mapping[str, Mask], part: str
) -> Drawn:
    """Mean error against the pool of the image's culture, over the judgments of all these cultures.

    Items are drawn within each culture: the sums of two cultures are of different items and of different pools.
    """
    found: list[dict[str, Sums]] = []
    other = np.zeros(len(axis), dtype=bool)
    for name, k in own.items():
        sums = slices[name]
        cells = np.stack(list(axis.values())) & _cells(sums.experiment, block, k, part)
        found.append(select_sums(sums.by_cell(("abs_error", "rated"), (k,)), cells.astype(float)))
        other |= (cells & sums.experiment.judged.rank_only).any(1)
    width = min(sums["rated"].draws.shape[1] for sums in found)
    error, n = (np.sum([sums[name].point for sums in found], axis=0) for name in ("abs_error", "rated"))
    drawn = [np.sum([sums[name].draws[:, :width] for sums in found], axis=0) for name in ("abs_error", "rated")]
    values = np.where(other, np.nan, ratio(error, n))
    reasons = np.full(len(axis), None, dtype=object)
    reasons[n <= 0] = "no_cells"
    reasons[other] = "other_scale"
    return Drawn(values, reasons, np.where(other[:, None], np.nan, ratio(*drawn)), n)


def _cells(experiment: Experiment, block: Block, k: int, part: str) -> Mask:
    """(C,) cells whose persona is of pool k (matched), or of another pool."""
    masks = experiment.design.persona_masks(block.mask)
    own = experiment.context.pools[k]
    chosen = [mask for pool, mask in masks.items() if pool and (pool == own) == (part == "matched")]
    return np.any(chosen, axis=0) if chosen else np.zeros(experiment.design.n_cells, dtype=bool)


def add_floor_gap(experiment: Experiment) -> None:
    """``floor_gap``: under a pool's persona, how far above the pool judges rate what that pool rates lowest.

    Mean of r - m over the items of a crossed slice whose consensus is at or below the low cut, per condition of the
    persona, all judges together, without demonstrations.
    """
    design, context = experiment.design, experiment.context
    if design.persona is None or not design.pool_of or "levels" not in scale_codes(context.panel):
        return
    block = design.blocks[0]
    masks = design.persona_masks(block.mask)
    for name in filter(is_crossed, context.slices):
        for k, pool in enumerate(context.pools):
            if pool in masks:
                _add_floor_gap(experiment, name, k, masks[pool])


def _add_floor_gap(experiment: Experiment, name: str, k: int, cells: Mask) -> None:
    context = experiment.context
    with np.errstate(invalid="ignore"):
        low = context.panel.arrays.mean[k] <= context.panel.arrays.scale.low_cut + TIE
    conditions = _conditions(experiment, cells)
    matrix = np.stack(list(conditions.values())).astype(float)
    sums = SliceSums(experiment, name, context.slices[name] & low)
    drawn = sums.statistic("bias", (k,), matrix)
    reasons = drawn.reasons if sums.mask.any() else np.full(len(matrix), "no_low_items", dtype=object)
    write(
        sums,
        "floor_gap",
        Drawn(drawn.values, reasons, drawn.draws, drawn.n),
        judge=[ALL] * len(matrix),
        condition=list(conditions),
        target=(k,),
        of=("bias", ""),
        matrix=matrix,
        items="consensus_at_or_below_low_cut",
    )


def _conditions(experiment: Experiment, cells: Mask) -> dict[str, Mask]:
    """Condition -> its cells among these."""
    names = experiment.design.frame["condition"].to_list()
    chosen = [names[place] for place in np.flatnonzero(cells)]
    return {name: experiment.design.mask(cells, condition=name) for name in dict.fromkeys(chosen)}
