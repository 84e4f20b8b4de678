"""What every part of an audit needs of one question: its panel, its slices, its options and the table of rows."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.analysis.options import AuditOptions
from voirdire.analysis.panels import Panel
from voirdire.analysis.rows import Table
from voirdire.scales import Scale
from voirdire.stats.features import Array, Features, PoolArrays

Mask = npt.NDArray[np.bool_]
RATER_BIAS = ".rater_bias"
RATER_METHOD = "normal"


@dataclass(frozen=True)
class Context:
    """One question of an audit.

    pairs : every pair of pools (indices); detail : the pairs that judges are held against
    slices : name -> (I,) mask, ``all`` first
    """

    panel: Panel
    options: AuditOptions
    table: Table
    pairs: tuple[tuple[int, int], ...]
    detail: tuple[tuple[int, int], ...]
    slices: Mapping[str, Mask]

    @property
    def pools(self) -> tuple[str, ...]:
        """Names of the pools."""
        return self.panel.pools

    @cached_property
    def features(self) -> Features:
        """The pools' features over all items."""
        return Features(self.panel.arrays)

    def rng(self, *labels: object) -> np.random.Generator:
        """A generator of its own for every purpose, so that no result depends on what else was computed."""
        name = zlib.crc32("/".join(str(label) for label in (self.panel.question.id, *labels)).encode())
        return np.random.default_rng([self.options.seed, name])

    def names(self, target: tuple[int, ...]) -> dict[str, str]:
        """``pool`` and ``pool_b`` of a target."""
        return dict(zip(("pool", "pool_b"), (self.pools[k] for k in target), strict=False))

    def by_name(self, pair: tuple[int, int]) -> tuple[int, int]:
        """The pair in the order of its names: what is drawn at random does not depend on which pool comes first."""
        first, second = sorted(pair, key=lambda k: self.pools[k])
        return first, second

    def definition(self, method: str = "none", **more: Any) -> dict[str, Any]:
        """The ``def`` of a signature: question, scale, consensus, missing rule and interval."""
        options, scale = self.options, self.panel.question.scale
        if options.draws == 0 and method != "fisher_z":
            method = "none"
        base: dict[str, Any] = {
            "question": self.panel.question.id,
            "scale": "per_item:0:1" if self.panel.normalised else str(scale),
            "consensus": options.consensus,
            "min_raters": options.min_raters,
            "missing": "excluded",
            **more,
            "interval": method,
        }
        if method == "fisher_z":
            base |= {"level": options.level}
        elif method != "none":
            unit = "items+raters" if method == RATER_METHOD else "items"
            base |= {"unit": unit, "level": options.level, "draws": options.draws, "seed": options.seed}
        if method == RATER_METHOD:
            base |= {"quantile": "t", "rater_draws": options.rater_draws}
        return base

    def median_n(self, target: tuple[int, ...]) -> str:
        """Median raters an item of the target's pools, for signatures: ``5/5``."""
        return "/".join(_median(self.panel.arrays.n[k], self.panel.arrays.has[k]) for k in target)


def _median(n: Array, has: Mask) -> str:
    known = n[has & ~np.isnan(n)]
    return f"{np.median(known):g}" if known.size else "unknown"


def subset(arrays: PoolArrays, mask: Mask | npt.NDArray[np.int64]) -> PoolArrays:
    """The pools' arrays on some of the items, by a mask or by their places.

    The within-item variance that is pooled over items is taken from these items.
    """
    shares = None if arrays.shares is None else arrays.shares[:, mask]
    return PoolArrays(arrays.mean[:, mask], arrays.n[:, mask], arrays.s2[:, mask], arrays.scale, shares)


def scale_codes(panel: Panel) -> frozenset[str]:
    """Which declared ``scale`` needs of statistics the question meets."""
    return codes_of(panel.question.scale, normalised=panel.normalised)


def codes_of(scale: Scale, *, normalised: bool = False) -> frozenset[str]:
    """Which needs of statistics a scale meets; normalised : items have scales of their own, mapped to 0-1.

    >>> sorted(codes_of(Scale("ordinal", 1, 3)) ^ codes_of(Scale("ordinal", 1, 5)))
    ['levels']
    """
    if scale.nominal:
        return frozenset({"any", "anything", "labels", "ends"} | ({"votes"} if scale.pairwise else set()))
    codes = {"any", "anything", "numeric", "distance", "rank"}
    has_ends = normalised or scale.binary or (scale.low is not None and scale.high is not None)
    levels = scale.n_levels
    if has_ends:
        codes.add("ends")
        if (levels is None or levels >= 4) and not scale.binary:
            codes.add("levels")
    if scale.level_values and not normalised:
        codes.add("discrete")
    return frozenset(codes)


def order_reason(scale: Scale) -> str:
    """Why a number that needs an order does not exist for labels or for votes between two things.

    >>> order_reason(Scale("nominal", labels=("x", "y", "z"))), order_reason(Scale("pairwise", labels=("a", "b")))
    ('nominal_scale', 'pairwise_votes')
    """
    return "pairwise_votes" if scale.pairwise else "nominal_scale"


def context_reason(context: Context, reason: str | None, target: tuple[int, ...] = ()) -> str | None:
    """The reason in its context: why the rater noise is not known."""
    if reason in ("noise_unknown", "one_rater"):
        if any(context.pools[k] in context.panel.aggregate for k in target):
            return "aggregate_pool"
        if context.options.consensus == "median":
            return "median_consensus"
    return reason


def scale_reason(need: str, codes: frozenset[str]) -> str | None:
    """Why a statistic that needs this of the scale is undefined; None where it has another form or a row says nothing.

    >>> scale_reason("levels", frozenset({"any", "numeric", "ends"}))
    'few_levels'
    """
    if need not in ("numeric", "rank", "levels", "discrete"):
        return None
    if "numeric" not in codes:
        return "pairwise_votes" if "votes" in codes else "nominal_scale"
    return "few_levels" if need == "levels" and "ends" in codes else "no_levels"
