"""The split of T and delta into scale use, image, permissiveness and orientation, with bootstrap intervals over items.

Every draw of items corrects the consensuses anew and fits every cell anew, from where the fit of all items stands.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from voirdire.analysis.experiment.design import Experiment
from voirdire.analysis.experiment.orientation.fits import SliceFits, reason_of
from voirdire.analysis.experiment.orientation.selected import fits_of, left_out
from voirdire.analysis.selections import Selections
from voirdire.statistic import unexplained
from voirdire.stats.counterfactual import PARTS, Outcomes, split
from voirdire.stats.cumulative import RIDGE
from voirdire.stats.decomposition import CellFits, expanded_cuts, fit_all
from voirdire.stats.features import Array, nearest_level
from voirdire.stats.resampling import item_weights, percentile

DRAW_TOLERANCE = 1e-6
STATISTICS = ("tilt_split", "delta_split")


def add_split(experiment: Experiment) -> None:
    """``tilt_split.*`` and ``delta_split.*`` of every detailed pair, over all items and per image culture."""
    for pair in experiment.context.detail:
        _Split(experiment, pair).add()


class _Split:
    """The split of one pair: selections by slices, at the point and in every draw."""

    def __init__(self, experiment: Experiment, pair: tuple[int, int]) -> None:
        self.experiment, self.pair = experiment, pair
        self.context, self.judged = experiment.context, experiment.judged
        slices = self.context.slices
        self.names = ["all", *(name for name in slices if name.startswith("culture=") and "&" not in name)]
        self.fits: SliceFits = fits_of(experiment, "all", slices["all"], pair)
        usable = np.flatnonzero(self.fits.usable)
        self.masks = np.stack([slices[name][usable] for name in self.names]).astype(float)
        self.selections = self.judged.selections
        self.matrix = self.selections.matrix
        self.cube = self.judged.cube[:, usable]
        self.means = self.context.panel.arrays.mean[list(pair)][:, usable]

    def add(self) -> None:
        """The rows of every selection and slice."""
        reasons = self._reasons()
        size = (len(self.selections), len(self.names))
        if reason_of(self.fits) is not None:
            nothing = np.full((2, len(PARTS), *size), np.nan)
            self._write(nothing, None, np.zeros((2, *size)), reasons)
            return
        point, counts = self._of(self.fits.fits, self.fits.x(), np.arange(len(self.means[0])), None)
        n_draws = min(self.context.options.draws, self.context.options.decomposition_draws)
        draws = self._draws(n_draws) if n_draws else None
        self._write(point, draws, counts, reasons)
        self._faithful()

    def _reasons(self) -> np.ndarray:
        """(S,) why W is undefined, and the split with it."""
        reasons = self.experiment.kept["w_reasons", self.pair]
        other = self.matrix @ self.judged.rank_only > 0
        return np.where(other & unexplained(reasons), "other_scale", reasons)

    def _draws(self, n_draws: int) -> Array:
        """(D, 2, parts, S, slices) of resamples; each is independent of the others, so threads share them."""
        weights = item_weights(len(self.means[0]), n_draws, self.context.rng("decomposition"))
        with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
            return np.stack(list(pool.map(self._drawn, weights)))

    def _drawn(self, weights: Array) -> Array:
        items = np.asarray(weights, dtype=float)
        x = self.fits.x(items)
        fits = fit_all(
            self.fits.coded,
            x,
            len(self.judged.cube),
            weights=self.fits.weights(items),
            start=self.fits.fits,
            tolerance=DRAW_TOLERANCE,
        )
        drawn = np.flatnonzero(items > 0)
        return self._of(fits, x, drawn, items[drawn])[0]

    def _of(self, fits: CellFits, x: Array, items: np.ndarray, weights: Array | None) -> tuple[Array, Array]:
        """(2, parts, S, slices) of the selections, and the ratings behind each (2, S, slices)."""
        by_item = x[:: self.fits.n_repeats][items]
        masks = self.masks[:, items] * (1.0 if weights is None else weights)
        sums = np.zeros((2, len(PARTS), len(self.selections), len(self.names)))
        counts = np.zeros((2, len(self.selections), len(self.names)))
        for part in fits.parts:
            outcomes = Outcomes.of(
                self.means[0, items], self.means[1, items], part.values, self.context.options.min_gap
            )
            cube = self.cube[np.ix_(part.cells, items)]
            answered = (~np.isnan(cube).all(2)).astype(float)
            observed = _observed(cube, self.means[:, items], outcomes)
            both = split(expanded_cuts(part), part.fit.slopes, by_item, outcomes, observed, answered, masks)
            behind = ((answered * outcomes.tilted) @ masks.T, answered @ masks.T)
            share = self.matrix[:, part.cells]
            for which, (parts, number) in enumerate(zip(both, behind, strict=True)):
                sums[which] += share @ (np.nan_to_num(parts) * number)
                counts[which] += share @ number
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(counts[:, None] > 0, sums / counts[:, None], np.nan), counts

    def _write(self, point: Array, draws: Array | None, counts: Array, reasons: np.ndarray) -> None:
        for which, statistic in enumerate(STATISTICS):
            for place, part in enumerate(PARTS):
                for k, name in enumerate(self.names):
                    kept = self._kept(name)
                    drawn = None if draws is None else draws[:, which, place, :, k].T[kept]
                    self._rows(f"{statistic}.{part}", name, point[which, place, kept, k], drawn, reasons[kept], kept,
                               counts[which, kept, k])  # fmt: skip

    def _kept(self, name: str) -> np.ndarray:
        """The selections shown in a slice."""
        if name == "all":
            return np.arange(len(self.selections))
        inside: Selections = self.judged.in_slice(name)
        names = set(zip(inside.judges, inside.conditions, strict=True))
        pairs = zip(self.selections.judges, self.selections.conditions, strict=True)
        return np.array([s for s, known in enumerate(pairs) if known in names], dtype=int)

    def _rows(
        self,
        statistic: str,
        name: str,
        values: Array,
        draws: Array | None,
        reasons: np.ndarray,
        kept: np.ndarray,
        counts: Array,
    ) -> None:
        undefined = np.array([reason is not None for reason in reasons]) | np.isnan(values)
        why = [reason or "equal_consensuses" for reason in reasons]
        low = high = np.full(len(values), np.nan)
        told: dict[str, Any] = {"model": "cumulative_probit", "ridge": RIDGE, "noise": "empirical_bayes"}
        told |= {"average": "shapley", "fit": "all_items"}
        definition = self.context.definition("none", **told)
        if draws is not None:
            low, high = percentile(draws, self.context.options.level)
            options = self.context.options
            definition |= {"interval": "percentile", "unit": "items", "level": options.level}
            definition |= {"draws": draws.shape[1], "seed": options.seed}
        clean = [np.where(undefined, np.nan, part) for part in (values, low, high)]
        self.context.table.add(
            statistic,
            clean[0],
            reasons=why,
            low=clean[1],
            high=clean[2],
            n=np.rint(counts).astype(int),
            excluded=left_out(self.fits, self.matrix[kept], self.masks[self.names.index(name)] > 0),
            definition=definition,
            question=self.context.panel.question.id,
            judge=[self.selections.judges[s] for s in kept],
            condition=[self.selections.conditions[s] for s in kept],
            slice=name,
            **self.context.names(self.pair),
        )

    def _faithful(self) -> None:
        """T and delta of a judge that gives the mid-point of the two consensuses, rounded to the nearest level."""
        levels = self.context.panel.arrays.scale.levels
        if not levels:
            return
        rounded = nearest_level(self.means.mean(0), levels)
        outcomes = Outcomes.of(self.means[0], self.means[1], np.asarray(levels), self.context.options.min_gap)
        seen = _observed(rounded[None, :, None], self.means, outcomes)
        weighed = (self.masks * outcomes.tilted, self.masks)
        for statistic, values, weights in zip(STATISTICS, seen, weighed, strict=True):
            for name, weight in zip(self.names, weights, strict=True):
                n = int(weight.sum())
                self.context.table.add(
                    f"{statistic}.faithful",
                    (values[0] @ weight) / n if n else np.nan,
                    reasons=["equal_consensuses"],
                    n=n,
                    definition=self.context.definition("none", judge="rounded_midpoint"),
                    question=self.context.panel.question.id,
                    slice=name,
                    **self.context.names(self.pair),
                )


def _observed(cube: Array, means: Array, outcomes: Outcomes) -> tuple[Array, Array]:
    """(c, I) T and delta of the ratings (c, I, R), the mean over repeats; 0 where there is none or T is undefined."""
    known = ~np.isnan(cube)
    times = np.maximum(known.sum(2), 1)
    errors = [np.where(known, np.abs(cube - mean[None, :, None]), 0.0).sum(2) / times for mean in means]
    gap = np.abs(means[0] - means[1])
    tilt = np.where(outcomes.tilted > 0, (errors[1] - errors[0]) / np.where(outcomes.tilted > 0, gap, 1.0), 0.0)
    return tilt, errors[0] - errors[1]
