"""The judges against every pool: section 2 of the definitions, for every selection and slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from voirdire.analysis.context import RATER_BIAS, Context, Mask, context_reason, scale_codes, subset
from voirdire.analysis.engine import ItemSampler, Result, active, compute, ruled_out
from voirdire.analysis.panels import Cells
from voirdire.analysis.rater_sampler import sampler_of
from voirdire.analysis.selections import CELLS_IN_SLICES, Selections, is_crossed
from voirdire.simulation.controls import control_judges
from voirdire.statistic import Statistic
from voirdire.stats.ceilings import judge_ceiling_repeats, judge_disagreement, leave_one_out
from voirdire.stats.features import TIE, Array, Features, PoolArrays
from voirdire.stats.level_cube import LeaveOneOut, LevelCube, LevelFeatures
from voirdire.stats.per_item import PerItem
from voirdire.stats.recalibration import best_constant, best_label, make_folds, whole_constant, whole_label
from voirdire.stats.votes import blind_shares

FOLDS = 10
COIN, TIE_CODE = 0.5, 2.0
BOUNDS_FROM = 0.01
ON_ANY_SCALE = frozenset({"rank", "anything"})


@dataclass(frozen=True)
class Judged:
    """The cells of one question with the control judges behind them.

    cube : (C, I, R); rank_only : (C,) cells whose judge answers on another scale; n_cells : without controls
    selections : of all C cells; those of the controls come last
    """

    cells: Cells
    cube: Array
    rank_only: Mask
    n_cells: int
    selections: Selections

    @property
    def repeats(self) -> int:
        """How often a judge may have rated an item; the control judges may have more."""
        held = self.cells.held
        return held.n_repeats if isinstance(held, LevelCube) else int(held.shape[2])

    def features(
        self,
        arrays: PoolArrays,
        items: Mask,
        *,
        controls: bool = True,
        by_level: bool = True,
        min_gap: float = 0.0,
        constants: Array | None = None,
        loo: LeaveOneOut | None = None,
    ) -> Features:
        """The features of the cells, with or without the controls, on some of the items (I,).

        arrays : the pools on those items; by_level : whether they may be looked up by the level that was given, which
        takes less time and memory where cells are many; loo : see :class:`LevelFeatures`
        """
        held, first = self.cells.held, self.n_cells
        if by_level and isinstance(held, LevelCube) and held.n_repeats == 1 and held.values.size < first:
            others = self.cube[first:, items] if controls and len(self.cube) > first else None
            return LevelFeatures(arrays, held.on_items(items), others, min_gap=min_gap, constants=constants, loo=loo)
        cube = self.cube[: len(self.cube) if controls else first, items]
        return Features(arrays, cube, min_gap=min_gap, constants=constants, loo=None if loo is None else loo(cube))

    def in_slice(self, name: str) -> Selections:
        """The selections that are computed inside a slice.

        No controls; full cells only when there are few or they were asked for; in slices that two columns or an anchor
        class make, no fine selections.
        """
        keep = np.asarray(self.selections.matrix[:, : self.n_cells].any(1))
        if self.n_cells > CELLS_IN_SLICES:
            keep &= ~(self.selections.full & self.selections.fine)
        if is_crossed(name) or name.startswith("anchor="):
            keep &= ~self.selections.fine
        return self.selections.keep(keep)


def with_controls(context: Context, cells: Cells, selections: Selections, rank_only: frozenset[str]) -> Judged:
    """Append the control judges to the cells, each with a selection of its own."""
    panel = context.panel
    consensus = panel.arrays.mean if panel.arrays.shares is None else panel.arrays.shares
    scale = panel.scale
    pairs = [(context.pools[a], context.pools[b]) for a, b in context.detail]
    controls = control_judges(consensus, context.pools, scale, context.rng("controls"), pairs)
    ratings = cells.cube
    n_cells, n_controls = len(ratings), len(controls)
    width = max(ratings.shape[2], *(made.shape[1] if made.ndim > 1 else 1 for made in controls.values()))
    cube = np.full((n_cells + n_controls, ratings.shape[1], width), np.nan)
    cube[:n_cells, :, : ratings.shape[2]] = ratings
    for place, made in enumerate(controls.values(), n_cells):
        cube[place, :, : made.shape[1] if made.ndim > 1 else 1] = made if made.ndim > 1 else made[:, None]
    matrix = np.zeros((len(selections) + n_controls, n_cells + n_controls))
    matrix[: len(selections), :n_cells] = selections.matrix
    matrix[len(selections) :, n_cells:] = np.eye(n_controls)
    extended = Selections(
        (*selections.judges, *controls),
        (*selections.conditions, *(["-"] * n_controls)),
        matrix,
        np.concatenate([selections.full, np.ones(n_controls, dtype=bool)]),
        np.concatenate([selections.fine, np.zeros(n_controls, dtype=bool)]),
    )
    other = cells.frame["judge"].cast(pl.String).is_in(list(rank_only)).to_numpy()
    return Judged(cells, cube, np.concatenate([other, np.zeros(n_controls, dtype=bool)]), n_cells, extended)


def add_judges(context: Context, judged: Judged) -> None:
    """The additive statistics of every selection in every slice."""
    for name, mask in context.slices.items():
        whole = name == "all"
        selections = judged.selections if whole else judged.in_slice(name)
        _add_slice(context, judged, selections, name, mask)


def _add_slice(context: Context, judged: Judged, selections: Selections, name: str, mask: Mask) -> None:
    whole = name == "all"
    used = len(judged.cube) if whole else judged.n_cells
    arrays = subset(context.panel.arrays, mask)
    sampler = sampler_of(context, name, mask)
    features = judged.features(
        arrays,
        mask,
        controls=whole,
        by_level=not sampler.draws_raters,
        min_gap=context.options.min_gap,
        constants=best_constants(context, arrays, name),
        loo=partial(_leave_one_out, context, context.panel.counts[:, mask]) if whole else None,
    )
    writer = Writer(context, judged, selections, name, mask, excluded_of(judged, selections, mask), sampler)
    codes = scale_codes(context.panel)
    matrix = selections.matrix[:, :used]
    targets: dict[str, Sequence[tuple[int, ...]]] = {
        "judge": [()],
        "judge_pool": [(k,) for k in range(len(context.pools))],
        "judge_pair": list(context.detail),
    }
    for per, places in targets.items():
        statistics = active(per, scale_codes=codes, sliced_only=not whole)
        for target in places:
            writer.add(compute(statistics, features, target, sampler, matrix), target)
            if whole:
                writer.add(ruled_out(per, codes, len(selections)), target)
            if per == "judge_pair":
                mirrored = [statistic for statistic in statistics if statistic.both_ways]
                writer.add(compute(mirrored, features, target[::-1], sampler, matrix), target[::-1])
            features.forget()


def best_constants(context: Context, arrays: PoolArrays, name: str) -> Array:
    """(K, I) the best constant of each pool, cross-fitted over folds of these items; NaN where there is none.

    Where folds choose different constants it is the best of all these items (see ``BestConstant.settled``).
    """
    constants = []
    folds = make_folds(arrays.mean.shape[1], FOLDS, context.rng("folds", name))
    for k in range(len(arrays.mean)):
        if arrays.shares is not None:
            shares = np.nan_to_num(arrays.shares[k])
            if context.panel.question.scale.pairwise:
                constants.append(_best_blind(blind_shares(shares), folds))
                continue
            best, whole = best_label(shares, folds), whole_label(shares)
        else:
            levels = arrays.scale.levels or None
            best, whole = best_constant(arrays.mean[k], folds, levels), whole_constant(arrays.mean[k], levels)
        constants.append(best.settled(whole)[folds])
    return np.stack(constants)


def _best_blind(agreeing: Array, folds: np.ndarray) -> Array:
    """(I,) as codes of votes, which judge that does not look at the pair a pool agrees with most: COIN, or a tie."""
    chosen = best_label(agreeing, folds).settled(whole_label(agreeing))[folds]
    return np.asarray(np.where(np.isnan(chosen), np.nan, np.where(chosen == 0, COIN, TIE_CODE)))


def _leave_one_out(context: Context, counts: Array, cube: Array) -> tuple[Array, Array]:
    """(K, C, I) errors against leave-one-out consensuses, and whether they count."""
    errors = np.zeros((len(counts), *cube.shape[:2]))
    counted = np.zeros_like(errors)
    for k, pool in enumerate(context.pools):
        if pool in context.panel.aggregate or not counts.shape[-1]:
            continue
        if context.panel.question.scale.nominal:
            per_item = _disagreement(counts[k], cube)
        else:
            per_item = judge_ceiling_repeats(leave_one_out(counts[k], context.panel.values), cube)
        errors[k], counted[k] = per_item.values, per_item.valid
    return errors, counted


def _disagreement(counts: Array, cube: Array) -> PerItem:
    """(C, I) nominal error against the raters less one, the mean over repeats."""
    parts = [judge_disagreement(counts, cube[..., repeat]) for repeat in range(cube.shape[-1])]
    times = np.sum([part.valid for part in parts], axis=0)
    total = np.sum([part.values for part in parts], axis=0)
    return PerItem(total / np.maximum(times, 1), times > 0, parts[0].n_left_out)


@dataclass(frozen=True)
class Excluded:
    """Judgments that are missing: reason -> (S,) counts over cells and items of the slice; answered (C, I)."""

    counts: dict[str, Array]
    answered: Mask
    selections: Selections

    def texts(self, lacking: Mapping[str, Mask] | None = None) -> list[str]:
        """``malformed=3;no_consensus=2`` for every selection; ``lacking``: reason -> items (I,) that do not count."""
        columns = dict(self.counts)
        for reason, items in (lacking or {}).items():
            columns[reason] = self.selections.matrix @ (self.answered & items).sum(1).astype(float)
        texts = np.full(len(self.selections), "", dtype=object)
        for reason, counts in columns.items():
            for s in np.flatnonzero(counts):
                texts[s] += f"{';' if texts[s] else ''}{reason}={int(counts[s])}"
        return list(texts)


def excluded_of(judged: Judged, selections: Selections, mask: Mask) -> Excluded:
    """The missing judgments of each selection on the items of a slice."""
    status = judged.cells.status[:, mask]
    real = selections.matrix[:, : judged.n_cells]
    counts = {
        reason: real @ (status == code).sum(1)
        for code, reason in enumerate(judged.cells.reasons)
        if code and (status == code).any()
    }
    answered = np.asarray(~np.isnan(judged.cube[:, mask]).all(-1))
    return Excluded(counts, answered, selections)


def lacking_items(context: Context, target: tuple[int, ...], mask: Mask) -> tuple[dict[str, Mask], dict[str, Mask]]:
    """Items (I,) of a slice that do not count for a pool or pair, by reason; the second also for want of a gap."""
    if not target:
        return {}, {}
    arrays = context.panel.arrays
    has = np.asarray(arrays.has[list(target)].all(0))[mask]
    if len(target) == 1:
        return {"no_consensus": ~has}, {"no_consensus": ~has}
    gap = np.where(has, np.abs(arrays.gap(*target)[mask]), np.inf)
    equal = gap <= TIE
    small = (gap < context.options.min_gap - TIE) & ~equal
    return {"no_consensus": ~has}, {"no_consensus": ~has, "equal_consensuses": equal, "small_gap": small}


def needs_gap(statistic: Statistic) -> bool:
    """Whether items with equal consensuses do not count."""
    return statistic.name.startswith("tilt") and "form" not in statistic.params


@dataclass(frozen=True)
class Writer:
    """Writes the results of one slice into the table."""

    context: Context
    judged: Judged
    selections: Selections
    slice: str
    mask: Mask
    excluded: Excluded
    sampler: ItemSampler

    def add(self, results: Sequence[Result], target: tuple[int, ...]) -> None:
        """Rows of these results for a pool, a pair or a judge alone."""
        lacking = lacking_items(self.context, target, self.mask)
        texts = {apart: self.excluded.texts(lacking[apart]) for apart in (False, True)}
        for result in results:
            kept = self._kept(result, target)
            if kept.any():
                self._write(result, target, kept, texts[needs_gap(result.statistic)])

    def _kept(self, result: Result, target: tuple[int, ...]) -> Mask:
        """Bounds are given only where more than 1 % of a selection's judgments of the pool's items is missing."""
        if not result.statistic.name.startswith("mae.bound"):
            return np.ones(len(self.selections), dtype=bool)
        has = np.asarray(self.context.panel.arrays.has[list(target)].all(0))[self.mask]
        cells = self.selections.matrix.sum(1) * int(has.sum())
        answered = self.selections.matrix @ (self.excluded.answered & has).sum(1)
        return np.asarray(1 - answered / np.maximum(cells, 1) > BOUNDS_FROM)

    def _write(self, result: Result, target: tuple[int, ...], kept: Mask, texts: list[str]) -> None:
        values, reasons, low, high = self._other_scale(result)
        chosen = np.flatnonzero(kept)
        self._add(result, "", chosen, (values, reasons, low, high), target, texts)
        if result.bias is not None:
            biased, nothing = chosen[np.isfinite(low[chosen])], np.full(len(values), np.nan)
            self._add(result, RATER_BIAS, biased, (result.bias, reasons, nothing, nothing), target, texts)

    def _add(
        self,
        result: Result,
        suffix: str,
        chosen: np.ndarray,
        columns: tuple[Array, np.ndarray, Array, Array],
        target: tuple[int, ...],
        texts: list[str],
    ) -> None:
        values, reasons, low, high = columns
        self.context.table.add(
            f"{result.statistic.name}{suffix}",
            values[chosen],
            params=result.statistic.key[1],
            reasons=[context_reason(self.context, reasons[s], target) for s in chosen],
            low=low[chosen],
            high=high[chosen],
            n=result.n[chosen],
            excluded=[texts[s] for s in chosen],
            definition=self.context.definition(
                result.method,
                **definition_of(self.context, result.statistic, target),
                **self.sampler.told(target),
            ),
            question=self.context.panel.question.id,
            judge=[self.selections.judges[s] for s in chosen],
            condition=[self.selections.conditions[s] for s in chosen],
            slice=self.slice,
            **self.context.names(target),
        )

    def _other_scale(self, result: Result) -> tuple[Array, np.ndarray, Array, Array]:
        """Only rank statistics are given for judges on another scale."""
        width = self.selections.matrix.shape[1]
        other = (self.selections.matrix @ self.judged.rank_only[:width]) > 0
        if result.statistic.scale in ON_ANY_SCALE or not other.any():
            return result.values, result.reasons, result.low, result.high
        reasons = np.where(other, "other_scale", result.reasons)
        values, low, high = (np.where(other, np.nan, part) for part in (result.values, result.low, result.high))
        return values, reasons, low, high


def definition_of(context: Context, statistic: Statistic, target: tuple[int, ...]) -> dict[str, object]:
    """What a judge's statistic adds to the definition."""
    of_mean = statistic.name == "pearson" or statistic.name.startswith(("kappa", "spread"))
    more: dict[str, object] = {"repeats": "mean_rating" if of_mean else "mean_of_errors", "cells": statistic.across}
    if statistic.name == "tilt":
        more["n_per_item"] = context.median_n(target)
    if needs_gap(statistic):
        more["min_gap"] = context.options.min_gap
    if "folds" in statistic.params:
        more["seed"] = context.options.seed
    if statistic.name == "ceiling.judge":
        more["consensus"] = "mean_of_others"
    if statistic.name == "kappa_qw":
        more["rounding"] = "half_up"
    return more
