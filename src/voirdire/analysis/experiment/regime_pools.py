"""The pools in two image regimes: correlation and gap in each, and whether the gaps are the same."""

from __future__ import annotations

import numpy as np

from voirdire.analysis.context import Mask, subset
from voirdire.analysis.engine import Sums, draw
from voirdire.analysis.experiment.regime_rows import Regimes
from voirdire.signature import pairs as printed
from voirdire.statistic import REGISTRY
from voirdire.stats.features import Array, Features
from voirdire.stats.resampling import fisher_z, weighted_sums
from voirdire.stats.tests import wilcoxon


def add_regime_pools(regimes: Regimes, pair: tuple[int, int]) -> None:
    """``pearson`` and ``mad`` in each regime, ``gap_correlation`` and ``gap_wilcoxon_*`` across them, by slice."""
    arrays = regimes.experiment.context.panel.arrays
    features = [Features(subset(arrays, places)) for _, places in regimes.sides]
    gaps = np.stack([each.pools.gap(*pair) for each in features])
    both = ~np.isnan(gaps).any(0)
    for name, mask in regimes.slices.items():
        kept = mask & both
        for (level, _), each in zip(regimes.sides, features, strict=True):
            _each(regimes, pair, name, level, each, kept)
        _across(regimes, pair, name, gaps[:, kept])


def _each(regimes: Regimes, pair: tuple[int, int], name: str, level: str, features: Features, kept: Mask) -> None:
    """The pools' correlation and mean gap in one regime."""
    params = printed({"regime": level})
    for row, statistic in (("pearson", REGISTRY["cross_pool_pearson", ""]), ("mad", REGISTRY["cross_pool_mad", ""])):
        weights = regimes.sampler.weights
        parts = {part: features.get(part, pair) * kept for part in statistic.features}
        sums = {part: Sums(block.sum(-1), weighted_sums(weights, block)) for part, block in parts.items()}
        drawn = draw(statistic, sums, sums, None)
        of_fisher = statistic.interval == "fisher_z"
        low, high = regimes.ends(drawn.values, drawn.draws)
        if of_fisher:
            low, high = fisher_z(drawn.values, drawn.n, regimes.sampler.options.level)
        unmatched = not regimes.n_units
        regimes.write(
            row,
            drawn.values,
            pair,
            method="fisher_z" if of_fisher else "percentile",
            params=params,
            reasons=["no_matched_items"] if unmatched else list(drawn.reasons),
            low=low,
            high=high,
            n=drawn.n.astype(int),
            slice=name,
        )


def _across(regimes: Regimes, pair: tuple[int, int], name: str, gaps: Array) -> None:
    """gaps (2, U): the signed gaps' correlation, and a paired test of the absolute gaps."""
    n = gaps.shape[1]
    reason = "no_matched_items" if n == 0 else "one_item" if n == 1 else None
    if reason is None and (np.ptp(np.round(gaps, 9), axis=1) == 0).any():
        reason = "constant_gap"
    value = np.nan if reason else float(np.asarray(np.corrcoef(gaps))[0, 1])
    low, high = fisher_z(np.array([value]), np.array([n]), regimes.sampler.options.level)
    regimes.write(
        "gap_correlation", value, pair, method="fisher_z", reasons=reason, low=low, high=high, n=n, slice=name
    )
    test = wilcoxon(np.abs(gaps[0]) - np.abs(gaps[1]))
    defined = {"test": "wilcoxon_asymptotic", "test_unit": "item", "difference": "-".join(regimes.levels)}
    for part, found in (("statistic", test.statistic), ("z", test.z), ("p", test.p)):
        why = "no_matched_items" if n == 0 else test.undefined
        regimes.write(f"gap_wilcoxon_{part}", found, pair, defined=defined, reasons=why, n=test.n, slice=name)
