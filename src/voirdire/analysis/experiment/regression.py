"""``origin_effect``: a covariate of judges on delta, with item and condition effects.

The judge is the unit where judges in general are meant: a permutation of the covariate over judges, and t on their
effects. Errors clustered on items speak of these judges only. Source: Jury Duty, section 4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from voirdire.analysis.context import Mask, scale_codes, subset
from voirdire.analysis.experiment.covariate_fit import PRINTED, Fit, t_quantile
from voirdire.analysis.experiment.delta_cells import DeltaCells, regressed_slices, regressors
from voirdire.analysis.experiment.design import Experiment
from voirdire.statistic import REGISTRY
from voirdire.stats.features import Array
from voirdire.stats.judge_unit import item_slopes, slope_of, slope_t
from voirdire.stats.tests import MeanT, benjamini_hochberg, holm, mean_t_rows


def add_regression(experiment: Experiment) -> None:
    """The effect of every covariate of the judges in every block: all items, each culture, each condition."""
    design = experiment.design
    if not design.covariates:
        return
    slices = regressed_slices(experiment)
    told = [regressor for covariate in design.covariates for regressor in regressors(design, covariate)]
    correlations = _Correlations(experiment) if "rank" in scale_codes(experiment.context.panel) else None
    for pair in experiment.context.detail:
        cells = DeltaCells(experiment, pair)
        for regressor in told:
            for block in design.blocks:
                fits = {name: Fit(cells, regressor, block, name, items) for name, items in slices.items()}
                for fit in fits.values():
                    fit.add()
                _add_sign_change(experiment, fits)
                _add_conditions(fits["all"])
                if correlations is not None:
                    correlations.add(fits["all"])


def _add_sign_change(experiment: Experiment, fits: dict[str, Fit]) -> None:
    """Whether the coefficient changes sign between image cultures, as a mere difference in positivity would make it.

    yes : one culture's interval lies above 0 and another's below; uncertain : only the coefficients differ in sign
    """
    cultures = [fits[name] for name in experiment.cultures.values()]
    known = [fit for fit in cultures if fit.effect is not None]
    if len(cultures) < 2 or fits["all"].effect is None:
        return
    label = None
    if len(known) > 1:
        coefs = np.array([fit.coef for fit in known])
        low, high = np.array([fit.interval for fit in known]).T
        opposite = (coefs > 0).any() and (coefs < 0).any()
        label = "no" if not opposite else "yes" if (low > 0).any() and (high < 0).any() else "uncertain"
    level = experiment.context.options.level
    told = {"error": PRINTED, "test_unit": "item", "level": level}
    fits["all"].write("sign_change", None, told, label=label, reason="few_cultures")


def _add_conditions(fit: Fit) -> None:
    """``condition_difference``: within each condition the difference of delta, paired over items."""
    conditions = fit.cells.frame["condition"].to_numpy()
    names = list(dict.fromkeys(conditions[fit.known].tolist()))
    slopes = [_slopes(fit, fit.known & (conditions == name)) for name in names]
    if not slopes or not fit.varies:
        return
    results = mean_t_rows(np.stack(slopes))
    p = np.array([np.nan if result.p is None else result.p for result in results])
    family = int((~np.isnan(p)).sum())
    place = {**fit.cells.place(fit.block, fit.name), "condition": names}
    level = fit.cells.experiment.context.options.level
    ends = [_ends(result, level) for result in results]
    mean = [np.nan if result.mean is None else result.mean for result in results]
    whole = {"low": [end[0] for end in ends], "high": [end[1] for end in ends]}
    _write_conditions(fit, "", mean, results, place, {"interval": "cluster_t", "level": level}, **whole)
    _write_conditions(fit, "_p", p, results, place, {"test": "paired_t"})
    for name, adjust in (("holm", holm), ("bh", benjamini_hochberg)):
        _write_conditions(fit, f"_p_{name}", adjust(p), results, place, {"test": "paired_t", "family": family})


def _slopes(fit: Fit, cells: Mask) -> Array:
    """(I,) the difference between the groups of judges (the slope) on every item."""
    chosen = np.ix_(cells, fit.items)
    return item_slopes(fit.cells.totals[chosen], fit.cells.counts[chosen], fit.regressor.values[cells])


def _ends(result: MeanT, level: float) -> tuple[float, float]:
    if result.mean is None or result.se is None:
        return np.nan, np.nan
    half = t_quantile(result.df, level) * result.se
    return result.mean - half, result.mean + half


def _write_conditions(
    fit: Fit,
    suffix: str,
    values: Any,
    results: Sequence[MeanT],
    place: dict[str, Any],
    told: dict[str, Any],
    **columns: Any,
) -> None:
    context = fit.cells.experiment.context
    definition = context.definition(of="delta", repeats="mean_of_errors", judges="mean_of_group", test_unit="item")
    context.table.add(
        f"origin_effect.condition_difference{suffix}",
        values,
        params=fit.regressor.params(),
        reasons=[result.undefined for result in results],
        n=[result.n for result in results],
        definition={**definition, **told},
        **columns,
        **place,
    )


class _Correlations:
    """``pearson_difference``: between groups of judges, of the difference of Pearson against the two pools."""

    def __init__(self, experiment: Experiment) -> None:
        self.context, self.judged = experiment.context, experiment.judged
        self.kept: dict[tuple[int, int], Array] = {}

    def nearness(self, pair: tuple[int, int]) -> Array:
        """(C,) Pearson against the second pool minus that against the first, over the items that have both."""
        if pair not in self.kept:
            arrays = self.context.panel.arrays
            both = np.asarray(arrays.has[list(pair)].all(0))
            features = self.judged.features(subset(arrays, both), both, controls=False)
            pearson = REGISTRY["pearson", ""]
            first, second = (pearson.values(features.totals(pearson.features, (k,)))[0] for k in pair)
            self.kept[pair] = second - first
        return self.kept[pair]

    def add(self, fit: Fit) -> None:
        """The difference and the paper's two-sample t over cells."""
        nearness, covariate = self.nearness(fit.cells.pair), fit.regressor.values
        known = fit.block.mask[: len(nearness)] & ~np.isnan(covariate) & ~np.isnan(nearness)
        slope = slope_of(nearness[known], covariate[known]) if known.any() else None
        if slope is None:
            self._write(fit, "", np.nan, "one_level" if known.any() else "cell_undefined", known, {})
            return
        result = slope_t(nearness[known], covariate[known])
        told = {"test": "two_sample_t", "test_unit": "cell", "df": result.df}
        self._write(fit, "", slope, None, known, {})
        self._write(fit, "_p", np.nan if result.p is None else result.p, result.undefined, known, told)

    def _write(
        self, fit: Fit, suffix: str, value: float, reason: str | None, known: Mask, told: dict[str, Any]
    ) -> None:
        definition = self.context.definition(of="pearson_b-pearson_a", repeats="mean_rating", cells="mean_of_cells")
        self.context.table.add(
            f"origin_effect.pearson_difference{suffix}",
            value,
            params=fit.regressor.params(),
            reasons=reason,
            n=int(known.sum()),
            definition={**definition, **told},
            **fit.cells.place(fit.block, fit.name),
        )
