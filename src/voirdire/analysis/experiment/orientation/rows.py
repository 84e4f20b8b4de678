"""Rows of orientation: every full cell by profile likelihood, every selection and slice with items as clusters."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from voirdire.analysis.context import Mask
from voirdire.analysis.experiment.design import Experiment
from voirdire.analysis.experiment.orientation.fits import PLAIN, SliceFits, Variant, reason_of
from voirdire.analysis.experiment.orientation.selected import (
    clustered_definition,
    clustered_neutrality,
    fits_of,
    left_out,
    mean_slopes,
    ratings_behind,
    ratio,
    t_quantile,
    unfitted_reason,
)
from voirdire.analysis.judge_tests import family_of
from voirdire.analysis.selections import Selections
from voirdire.signature import quote
from voirdire.statistic import unexplained
from voirdire.stats.cumulative import RIDGE
from voirdire.stats.decomposition import expanded_cuts, neutrality, slope_covariance
from voirdire.stats.features import Array
from voirdire.stats.profiling import linear_interval, ratio_interval
from voirdire.stats.tests import benjamini_hochberg, holm

UNFITTED = ("constant_judge", "not_converged")
CURVED = Variant(squares=True)
VARIANTS = (PLAIN, Variant(raw=True), Variant(standardise=True), CURVED)


def add_orientation(experiment: Experiment) -> None:
    """``orientation.*`` of every detailed pair, for every selection in every slice but those of anchors."""
    context, judged = experiment.context, experiment.judged
    for pair in context.detail:
        for name, mask in context.slices.items():
            whole = name == "all"
            if name.startswith("anchor=") or (context.panel.question.scale.nominal and not whole):
                continue
            _add_slice(experiment, pair, name, mask, judged.selections if whole else judged.in_slice(name))


def _add_slice(experiment: Experiment, pair: tuple[int, int], name: str, mask: Mask, selections: Selections) -> None:
    judged = experiment.judged
    matrix = np.zeros((len(selections), len(judged.cube)))
    matrix[:, : selections.matrix.shape[1]] = selections.matrix
    profiled = selections.full if name == "all" else np.zeros(len(selections), dtype=bool)
    groups = [
        (chosen, bool(profiled[chosen].all())) for chosen in map(np.flatnonzero, (profiled, ~profiled)) if chosen.size
    ]
    permissive: dict[tuple[str, bool], Array] = {}
    undefined = np.full(len(selections), None, dtype=object)
    for variant in VARIANTS if name == "all" else (PLAIN,):
        fits = fits_of(experiment, name, mask, pair, variant)
        for chosen, single in groups:
            some = selections.keep(np.isin(np.arange(len(selections)), chosen))
            rows = Rows(experiment, fits, name, pair, some, matrix[chosen], single)
            permissive[variant.params, single] = rows.add()
            if name == "all" and variant == PLAIN:
                undefined[chosen] = rows.w_reasons
            if variant == CURVED:
                changed = permissive["", single] * permissive[variant.params, single] < 0
                rows.label("permissiveness_curvature", np.flatnonzero(changed))
        if variant != PLAIN:
            experiment.fits.pop((pair, name, variant.params))
    if name == "all":
        experiment.kept["w_reasons", pair] = undefined


class Rows:
    """Writes the rows of some selections held between a pair of pools.

    single : whether each is one cell, over all items: then by profile likelihood, unless items have repeats, which a
        likelihood would take for independent items
    """

    def __init__(
        self,
        experiment: Experiment,
        fits: SliceFits,
        name: str,
        pair: tuple[int, int],
        selections: Selections,
        matrix: Array,
        single: bool,
    ) -> None:
        self.context, self.judged = experiment.context, experiment.judged
        self.fits, self.selections, self.matrix, self.single = fits, selections, matrix, single
        self.by_profile = single and fits.n_repeats == 1
        self.name, self.pair = name, pair
        self.n = np.rint(ratings_behind(fits, matrix)).astype(int)
        self.left_out = left_out(fits, matrix)
        self.w_reasons = np.full(len(selections), None, dtype=object)
        self.sum, self.contrast = fits.direction(p0=1, p1=1), fits.direction(p0=-1, p1=1)

    @cached_property
    def covariance(self) -> Array:
        """(S, P, P) of the mean slopes, items as clusters."""
        if self.fits.reason is not None:
            return np.zeros((len(self.matrix), self.fits.x_width, self.fits.x_width))
        return slope_covariance(self.fits.fits, self.matrix, self.fits.n_repeats)

    def add(self) -> Array:
        """All rows of these selections; returns their permissiveness, NaN where it was not asked for."""
        reason = reason_of(self.fits)
        reasons = np.full(len(self.selections), reason, dtype=object)
        if reason is None:
            unfitted = np.isnan(mean_slopes(self.fits, self.matrix)[:, 0])
            reasons[unfitted] = unfitted_reason(self.fits, self.matrix)[unfitted]
        tops = {"w": self.fits.direction(p1=1), "pi": self.fits.direction(lead=1)}
        self._ratio("w", tops["w"], reasons)
        if self.fits.variant not in (PLAIN, CURVED):
            return np.full(len(self.selections), np.nan)
        permissiveness = self._ratio("pi", tops["pi"], reasons)
        if self.fits.variant != PLAIN:
            return permissiveness
        self._linear("contrast", self.contrast, reasons)
        self._linear("slope", self.sum, reasons)
        self._neutrality(reasons)
        if self.single:
            self._parameters(reasons)
        if self.fits.uncorrected and self.fits.reason is None:
            self.label("uncorrected", np.arange(len(self.selections)))
        return permissiveness

    def _ratio(self, part: str, over: Array, reasons: np.ndarray) -> Array:
        if not self.by_profile or self.fits.reason is not None or self.fits.variant != PLAIN:
            found = ratio(self.fits, self.matrix, over, self.sum, self.covariance)
            ends, why, values = (found.low, found.high), found.reasons, found.values
            method = "fieller"
        else:
            values, ends, why = self._profiled(over, reasons)
            method = "profile"
        if part == "w":
            self.w_reasons = why
        self._write(f"orientation.{part}", values, why, ends, method)
        return values

    def _profiled(self, over: Array, reasons: np.ndarray) -> tuple[Array, tuple[Array, Array], np.ndarray]:
        """Values and profile ends of single cells; undefined unless the profile interval of the slope is above 0."""
        size, level = len(self.judged.cube), self.context.options.level
        values, low, high = (np.full(size, np.nan) for _ in range(3))
        for part in self.fits.fits.parts:
            cells = part.cells
            low[cells], high[cells] = ratio_interval(part.data, part.fit, over, self.sum, level)
            values[cells] = (part.fit.slopes @ over) / (part.fit.slopes @ self.sum)
        cell = self.matrix.argmax(1)
        why = reasons.copy()
        unclear = np.array([reason is None for reason in why]) & ~(self.slope_ends[0][cell] > 0)
        why[unclear] = "no_positive_relation"
        undefined = np.array([reason is not None for reason in why])
        clean = [np.where(undefined, np.nan, part[cell]) for part in (values, low, high)]
        return clean[0], (clean[1], clean[2]), why

    def _linear(self, part: str, direction: Array, reasons: np.ndarray) -> None:
        """Contrast and slope: shown wherever the cells were fitted, also where W is undefined."""
        why = self._why(reasons)
        if self.fits.reason is not None:
            empty = np.full(len(self.selections), np.nan)
            self._write(f"orientation.{part}", empty, why, (empty, empty), "none")
            return
        values = mean_slopes(self.fits, self.matrix) @ direction
        if self.by_profile:
            low, high = self.slope_ends if part == "slope" else self._ends(direction)
            cell = self.matrix.argmax(1)
            self._write(f"orientation.{part}", values, why, (low[cell], high[cell]), "profile")
            return
        half = t_quantile(self.fits) * np.sqrt(np.einsum("p,spq,q->s", direction, self.covariance, direction))
        self._write(f"orientation.{part}", values, why, (values - half, values + half), "clustered_t")

    @cached_property
    def slope_ends(self) -> tuple[Array, Array]:
        """(C,), (C,) profile interval of the slope on both pools."""
        return self._ends(self.sum)

    def _ends(self, direction: Array) -> tuple[Array, Array]:
        """(C,), (C,) profile interval of a linear function of each cell's slopes; NaN where a cell is not fitted."""
        low, high = (np.full(len(self.judged.cube), np.nan) for _ in range(2))
        for part in self.fits.fits.parts:
            ends = linear_interval(part.data, part.fit, direction, self.context.options.level)
            low[part.cells], high[part.cells] = ends
        return low, high

    def _why(self, reasons: np.ndarray) -> np.ndarray:
        """Why a number has no value that is shown also where W is undefined."""
        why = np.full(len(reasons), self.fits.reason, dtype=object)
        unfitted = np.isin(reasons.astype(str), UNFITTED)
        why[unfitted] = reasons[unfitted]
        return why

    def _neutrality(self, reasons: np.ndarray) -> None:
        """The likelihood ratio of single cells, the item-clustered score test of several."""
        size = len(self.selections)
        why = self._why(reasons)
        if self.fits.reason is not None:
            value, p = np.full(size, np.nan), np.full(size, np.nan)
        elif self.by_profile:
            by_cell = neutrality(self.fits.fits, self.contrast)
            value, p = (part[self.matrix.argmax(1)] for part in by_cell)
        else:
            value, p = clustered_neutrality(self.fits, self.matrix, self.contrast)
        why[np.isnan(p) & unexplained(why)] = "no_spread"
        told: dict[str, Any] = {
            "test": "likelihood_ratio" if self.by_profile else "clustered_score",
            "test_unit": "item",
        }
        name = "orientation.neutrality_lr" if self.by_profile else "orientation.neutrality_t"
        self._write(name, value, why, None, "none", **told)
        self._write("orientation.neutrality_p", p, why, None, "none", **told)
        if not self.single:
            return
        family = family_of(self.judged)[: len(self.judged.selections)]
        members = np.zeros(len(self.judged.cube), dtype=bool)
        members[self.judged.selections.matrix[family].argmax(1)] = True
        inside = members[self.matrix.argmax(1)]
        for adjusted, adjust in (("holm", holm), ("bh", benjamini_hochberg)):
            values = adjust(np.where(inside, p, np.nan))
            told["family"] = str(int((inside & ~np.isnan(p)).sum()))
            kept = np.flatnonzero(inside)
            self._write(f"orientation.neutrality_p_{adjusted}", values, why, None, "none", kept, **told)

    def _parameters(self, reasons: np.ndarray) -> None:
        """Image effects, cut points and flags of single cells."""
        if self.fits.reason is not None:
            return
        slopes = mean_slopes(self.fits, self.matrix)
        real = np.flatnonzero(self.matrix.argmax(1) < self.judged.n_cells)
        why = self._why(reasons)
        first = self.fits.lead + 1
        effects = slopes[:, first : first + len(self.fits.image_names) - 1]
        sizes = np.bincount(self.fits.image).astype(float)
        last = -(effects * sizes[:-1]).sum(1, keepdims=True) / sizes[-1]
        for place, level in enumerate(self.fits.image_names if effects.shape[1] else ()):
            value = np.concatenate([effects, last], axis=1)[:, place]
            self._write("orientation.image", value, why, None, "none", real, params=f"level={quote(level)}")
        self._cuts(why, real)
        self.label("separated", np.flatnonzero(self.fits.fits.separated[self.matrix.argmax(1)]))

    def _cuts(self, why: np.ndarray, real: np.ndarray) -> None:
        """Cut points of cells that answer on the declared levels; infinite ones, of levels never used, are left out."""
        levels = self.context.panel.arrays.scale.levels
        cuts = np.full((len(self.judged.cube), max(len(levels) - 1, 0)), np.nan)
        for part in self.fits.fits.parts:
            if len(part.values) == len(levels) and np.array_equal(part.values, levels):
                cuts[part.cells] = expanded_cuts(part)
        cell = self.matrix.argmax(1)
        for place, level in enumerate(levels[1:]):
            values = cuts[cell, place]
            kept = real[np.isfinite(values[real])]
            self._write("orientation.cut", values, why, None, "none", kept, params=f"below={level:g}")

    def _write(
        self,
        statistic: str,
        values: Array,
        reasons: np.ndarray,
        ends: tuple[Array, Array] | None,
        method: str,
        kept: np.ndarray | None = None,
        params: str = "",
        **told: Any,
    ) -> None:
        chosen = np.arange(len(values)) if kept is None else kept
        if not len(chosen):
            return
        low, high = ends if ends is not None else (np.full(len(values), np.nan),) * 2
        found = np.isfinite(low) & np.isfinite(high)  # under separation an end may not be found
        low, high = np.where(found, low, np.nan), np.where(found, high, np.nan)
        self.context.table.add(
            statistic,
            values[chosen],
            params=params or self.fits.variant.params,
            reasons=[reasons[s] for s in chosen],
            low=low[chosen],
            high=high[chosen],
            n=self.n[chosen],
            excluded=[self.left_out[s] for s in chosen],
            definition=self._definition(method, **told),
            **self._place(chosen),
        )

    def label(self, label: str, chosen: np.ndarray) -> None:
        """A flag of some of the selections."""
        if not len(chosen):
            return
        self.context.table.add(
            "orientation.flag",
            params=self.fits.variant.params,
            values=np.full(len(chosen), np.nan),
            labels=[label] * len(chosen),
            n=self.n[chosen],
            definition=self._definition("none"),
            **self._place(chosen),
        )

    def _definition(self, method: str, **told: Any) -> dict[str, Any]:
        more = {
            "model": "cumulative_probit",
            "ridge": RIDGE,
            "noise": "none" if self.fits.variant.raw else "empirical_bayes",
            "cells": "one" if self.single else "mean_of_slopes_by_ratings",
            "image": "culture" if len(self.fits.image_names) > 1 else "none",
        }
        return clustered_definition(self.context, method, **more, **told)

    def _place(self, chosen: np.ndarray) -> dict[str, Any]:
        return {
            "question": self.context.panel.question.id,
            "judge": [self.selections.judges[s] for s in chosen],
            "condition": [self.selections.conditions[s] for s in chosen],
            "slice": self.name,
            **self.context.names(self.pair),
        }
