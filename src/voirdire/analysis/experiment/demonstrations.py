"""``icl_effect``: what demonstrations change, on matched cells (section 4 of the definitions; Jury Duty, 4.4 and H).

A cell under a design of demonstrations is held against the cell without any that is equal to it in judge and every
other factor, on the items that both have. The paper tests the change of the absolute error over cells, as if the cells
of one item were independent; the tests over item means stand beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from voirdire.analysis.engine import Drawn
from voirdire.analysis.experiment.contrasts import SliceSums, contrast, write
from voirdire.analysis.experiment.demonstration_tests import Tested, write_tests
from voirdire.analysis.experiment.derived import UNMATCHED, Pairs, culture_slices, matched_cells, pair_cells
from voirdire.analysis.experiment.design import ALL, Block, Design, Experiment, Mask
from voirdire.analysis.experiment.orientation.selected import linear_contrast, selected_w, write_linear
from voirdire.analysis.naming import level_name
from voirdire.signature import pairs as printed
from voirdire.stats.features import Array

PER_JUDGE = ("mean_rating", "share_low", "share_high")
PER_POOL = ("floor_recovery", "mae")
PER_PAIR = ("tilt", "delta")
MOST_LEVELS = 4
NAMES: Mapping[str, str] = {"mae": "error"}


@dataclass(frozen=True)
class Group:
    """Cells whose changes are averaged: ``*``, a judge, a level of a covariate or of the persona.

    judge, condition : of its rows; mask : (P,) the pairs of cells
    """

    judge: str
    condition: str
    mask: Mask


@dataclass(frozen=True)
class Arm:
    """One design of demonstrations: its level, and its groups over all pairs (P,) of the analysis."""

    level: str
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class Matched:
    """The pairs of all designs as an experiment of 2 P cells, first the designs' sides and then the baseline's.

    complete : whether no judgment of theirs is without its counterpart, so that each side is its cell as it was
    """

    experiment: Experiment
    arms: tuple[Arm, ...]
    pairs: Pairs
    complete: bool

    @property
    def n_pairs(self) -> int:
        """P."""
        return len(self.pairs)

    def cells(self, matrix: Array, n_cells: int) -> Array:
        """Selections (R, 2 P) of the sides as selections (R, C) of the cells that they are."""
        first, second = np.split(matrix, 2, axis=1)
        every = np.eye(n_cells)
        return np.minimum(first @ every[self.pairs.first] + second @ every[self.pairs.second], 1.0)


def add_demonstrations(experiment: Experiment) -> None:
    """Rows ``icl_effect.*`` of every design; none without demonstrations or without a level that has none."""
    design = experiment.design
    if design.demonstrations is None or design.baseline is None:
        return
    matched = match(experiment)
    for name, mask in culture_slices(experiment.context, crossed=True).items():
        sums = SliceSums(matched.experiment, name, mask)
        _add_changes(sums, matched)
        _add_tests(sums, matched)
        if name in culture_slices(experiment.context):
            _add_w(experiment, matched, name, mask)
            _add_gaps(SliceSums(experiment, name, mask), design.blocks)


def match(experiment: Experiment) -> Matched:
    """Every cell of every design with its counterpart in the baseline."""
    design = experiment.design
    assert design.demonstrations is not None
    assert design.baseline is not None
    levels = [block.level for block in design.blocks if block.level not in (None, design.baseline)]
    found = [pair_cells(experiment, design.demonstrations, str(level), design.baseline) for level in levels]
    total = sum(map(len, found))
    arms, start = [], 0
    for level, pairs in zip(levels, found, strict=True):
        here = np.zeros(total, dtype=bool)
        here[start : start + len(pairs)] = True
        cells = np.zeros(total, dtype=np.int64)
        cells[start : start + len(pairs)] = pairs.first
        arms.append(Arm(str(level), tuple(_groups(design, here, cells))))
        start += len(pairs)
    whole = Pairs(np.concatenate([p.first for p in found]), np.concatenate([p.second for p in found]))
    sides = matched_cells(experiment, whole)
    complete = not (sides.judged.cells.status == sides.judged.cells.reasons.index(UNMATCHED)).any()
    return Matched(sides, tuple(arms), whole, complete and bool((whole.second >= 0).all()))


def _groups(design: Design, here: Mask, cells: np.ndarray) -> list[Group]:
    frame = design.frame[cells.tolist()]
    groups = [Group(ALL, ALL, here)]
    for column in ("judge", *design.covariates, *([design.persona] if design.persona else [])):
        of_persona = column == design.persona
        for level in design.levels(column):
            mask = here & (frame[column] == level).fill_null(False).to_numpy()
            name = level if column == "judge" else level_name(column, level)
            if mask.any():
                groups.append(Group(ALL, name, mask) if of_persona else Group(name, ALL, mask))
    return groups


def _selected(groups: Sequence[Group], sides: int) -> Array:
    """(2 G, 2 P): the groups on the first side, then on the second; or (G, 2 P) on both."""
    first = np.stack([group.mask for group in groups]).astype(float)
    nothing = np.zeros_like(first)
    if sides == 1:
        return np.concatenate([first, first], axis=1)
    return np.concatenate([np.concatenate([first, nothing], 1), np.concatenate([nothing, first], 1)])


def _change(drawn: Drawn, size: int) -> Drawn:
    """First side minus second of (2 G,) values; n counts the first side."""
    weights = np.concatenate([np.eye(size), -np.eye(size)], axis=1)
    return replace(contrast(drawn, weights), n=drawn.n[:size])


def _add_changes(sums: SliceSums, matched: Matched) -> None:
    context = sums.experiment.context
    wanted: list[tuple[str, tuple[int, ...]]] = [(name, ()) for name in PER_JUDGE]
    wanted += [(name, (k,)) for name in PER_POOL for k in range(len(context.pools))]
    wanted += [(name, pair) for name in PER_PAIR for pair in context.detail]
    against = sums.experiment.design.baseline
    for arm in matched.arms:
        matrix, both = _selected(arm.groups, 2), _selected(arm.groups, 1)
        for name, target in wanted:
            change = _change(sums.statistic(name, target, matrix), len(arm.groups))
            _write(sums, name, target, change, arm.groups, both, {"design": arm.level, "against": against})
            if name in PER_PAIR:
                _add_gap_changes(sums, name, target, change, arm, both)


def _write(
    sums: SliceSums,
    name: str,
    target: tuple[int, ...],
    change: Drawn,
    groups: Sequence[Group],
    matrix: Array,
    params: Mapping[str, Any],
) -> None:
    write(
        sums,
        f"icl_effect.{NAMES.get(name, name)}",
        change,
        judge=[group.judge for group in groups],
        condition=[group.condition for group in groups],
        target=target,
        params=printed(params),
        of=(name, ""),
        matrix=matrix,
        matched="judge+factors+item",
    )


def _add_w(experiment: Experiment, matched: Matched, name: str, mask: Mask) -> None:
    """``icl_effect.orientation.w``: W of the mean slopes under the design minus under the baseline.

    Where every judgment has its counterpart the fits of the cells themselves are used, else those of the sides.
    """
    of = experiment if matched.complete else matched.experiment
    for arm in matched.arms:
        size, sides = len(arm.groups), _selected(arm.groups, 2)
        matrix = matched.cells(sides, len(experiment.judged.cube)) if matched.complete else sides
        weights = np.concatenate([np.eye(size), -np.eye(size)], axis=1)
        for pair in experiment.context.detail:
            linear = selected_w(of, name, mask, pair, matrix)
            write_linear(
                experiment.context,
                "icl_effect.orientation.w",
                replace(linear_contrast(linear, weights), n=linear.n[:size]),
                name=name,
                target=pair,
                judge=[group.judge for group in arm.groups],
                condition=[group.condition for group in arm.groups],
                params=printed({"design": arm.level, "against": experiment.design.baseline}),
                of="orientation.w",
                matched="judge+factors+item",
            )


def _covariate_pairs(groups: Sequence[Group], design: Design) -> list[tuple[str, str, str, int, int]]:
    """covariate, level, other level, and the places of both groups; none of covariates with many levels.

    The other level is the one that comes first in the alphabet, as the reference level of ``origin_effect``.
    """
    places = {group.judge: place for place, group in enumerate(groups) if group.condition == ALL}
    found = []
    for column in design.covariates:
        levels = sorted((level for level in design.levels(column) if level_name(column, level) in places), reverse=True)
        if len(levels) > MOST_LEVELS:
            continue
        found += [
            (column, level, other, places[level_name(column, level)], places[level_name(column, other)])
            for place, level in enumerate(levels)
            for other in levels[place + 1 :]
        ]
    return found


def _add_gap_changes(sums: SliceSums, name: str, target: tuple[int, ...], change: Drawn, arm: Arm, both: Array) -> None:
    """``icl_effect.covariate_gap_change``: the change of the judges of one level minus that of another's."""
    for column, level, other, mine, theirs in _covariate_pairs(arm.groups, sums.experiment.design):
        weights = np.zeros((1, len(arm.groups)))
        weights[0, mine], weights[0, theirs] = 1, -1
        params = {"of": name, "design": arm.level, "against": sums.experiment.design.baseline}
        write(
            sums,
            "icl_effect.covariate_gap_change",
            contrast(change, weights),
            judge=[ALL],
            condition=[ALL],
            target=target,
            params=printed({**params, "covariate": column, "level": level, "minus": other}),
            of=(name, ""),
            matrix=np.maximum(both[[mine]], both[[theirs]]),
            matched="judge+factors+item",
        )


def _add_gaps(sums: SliceSums, blocks: Sequence[Block]) -> None:
    """``icl_effect.covariate_gap``: T and delta of the judges of one level minus another's, in every design."""
    context, design = sums.experiment.context, sums.experiment.design
    for block in blocks:
        groups = [
            Group(level_name(column, level), ALL, design.mask(block.mask, **{column: level}))
            for column in design.covariates
            for level in design.levels(column)
        ]
        groups = [group for group in groups if group.mask.any()]
        if not groups:
            continue
        matrix = np.stack([group.mask for group in groups]).astype(float)
        for name, pair in ((name, pair) for name in PER_PAIR for pair in context.detail):
            drawn = sums.statistic(name, pair, matrix)
            for column, level, other, mine, theirs in _covariate_pairs(groups, design):
                weights = np.zeros((1, len(groups)))
                weights[0, mine], weights[0, theirs] = 1, -1
                params = {"of": name, "design": block.level, "covariate": column, "level": level, "minus": other}
                write(
                    sums,
                    "icl_effect.covariate_gap",
                    contrast(drawn, weights),
                    judge=[ALL],
                    condition=[block.name],
                    target=pair,
                    params=printed(params),
                    of=(name, ""),
                    matrix=np.maximum(matrix[[mine]], matrix[[theirs]]),
                )


def _add_tests(sums: SliceSums, matched: Matched) -> None:
    """The tests of the change of the absolute error over all matched cells, for every design and pool."""
    context, n = sums.experiment.context, matched.n_pairs
    tested = []
    for k in range(len(context.pools)):
        errors = sums.features.error(k)
        change = errors[:n] - errors[n:]
        for arm in matched.arms:
            everyone = arm.groups[0]
            other = bool(sums.experiment.judged.rank_only[:n][everyone.mask].any())
            tested.append(Tested(arm.level, k, change[everyone.mask], other))
    write_tests(sums, tested)
