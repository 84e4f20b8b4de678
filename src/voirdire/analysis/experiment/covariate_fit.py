"""The regression of delta on one covariate of the judges, in one block and slice, and its rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.analysis.context import Mask
from voirdire.analysis.experiment.delta_cells import DeltaCells, Regressor
from voirdire.analysis.experiment.design import Block
from voirdire.stats.features import Array
from voirdire.stats.judge_unit import enough_judges, judge_effects, permutation_test, slope_t
from voirdire.stats.regression import FACTORS, Effect, ItemCube, item_effect, partial

PRINTED = "g1"
NO_SE = 1e-12


@dataclass(frozen=True)
class Fit:
    """The regression of one pair, covariate (level), block and slice."""

    cells: DeltaCells
    regressor: Regressor
    block: Block
    name: str
    items: Mask

    @cached_property
    def known(self) -> Mask:
        """(C real cells) that enter."""
        return self.cells.cells(self.block) & ~np.isnan(self.regressor.values)

    @cached_property
    def varies(self) -> bool:
        """Whether the covariate differs among the cells that enter."""
        return len(np.unique(self.regressor.values[self.known])) > 1

    @cached_property
    def cube(self) -> ItemCube:
        """delta of the cells that enter."""
        return self.cells.cube(self.known, self.items)

    @cached_property
    def conditions(self) -> Array:
        """Dummies of the conditions."""
        return self.cells.dummies("condition", self.known)[0]

    @cached_property
    def effect(self) -> Effect | None:
        """The coefficient; None where there is none."""
        if not self.varies or not self.cube.n:
            return None
        return item_effect(self.cube, self.regressor.values[self.known], self.conditions)

    @property
    def coef(self) -> float:
        """The coefficient, NaN where there is none."""
        return np.nan if self.effect is None else self.effect.coef

    @property
    def _level(self) -> float:
        return self.cells.experiment.context.options.level

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The item-clustered t interval; NaN where there is none."""
        if self.effect is None or self.effect.df < 1:
            return np.nan, np.nan
        half = t_quantile(self.effect.df, self._level) * self.effect.se(PRINTED)
        return self.effect.coef - half, self.effect.coef + half

    @cached_property
    def excluded(self) -> str:
        """What does not enter, by reason."""
        return self.cells.excluded(self.block, self.known, self.items)

    def add(self) -> None:
        """The coefficient, its item-clustered errors and tests, and the tests with the judge as the unit."""
        told = {"error": PRINTED, "test_unit": "item", "interval": "cluster_t", "level": self._level}
        self.write("coef", self.coef, told, reason=self._reason(), ends=self.interval)
        if self.effect is None:
            return
        for kind in FACTORS:
            self._add_clustered(self.effect, kind)
        self._add_judges()

    def _reason(self) -> str | None:
        if not self.varies:
            return "one_level"
        return "no_common_items" if not self.cube.n else "not_separable"

    def _add_clustered(self, effect: Effect, kind: str) -> None:
        """se, t and p by one convention: about these judges only."""
        from scipy.special import ndtr, stdtr

        se = effect.se(kind)
        zero = "one_item" if effect.n_items < 2 else "no_degrees" if np.isnan(se) else "no_spread"
        t = effect.coef / se if se > NO_SE else np.nan
        values = {"se": se, "t": t, "p": 2 * stdtr(max(effect.df, 1), -abs(t)), "p_normal": 2 * ndtr(-abs(t))}
        for name, value in values.items():
            told = {"test_unit": "item", "about": "these_judges", **({"df": effect.df} if name == "p" else {})}
            self.write(name, value, told, {"se": kind}, reason=zero)

    def _add_judges(self) -> None:
        """The tests of judges in general: a permutation of the covariate over judges, t on the judges' effects."""
        judges, names = self.cells.dummies("judge", self.known)
        covariate = self.regressor.values[self.known][judges.argmax(0)]
        cross, right = partial(self.cube, judges, self.conditions)
        told: dict[str, Any] = {"test_unit": "judge", "judges": len(names)}
        if not enough_judges(covariate):
            told["caution"] = "few_judges"
        self._add_permutation(cross, right, covariate, told)
        self._add_t(judge_effects(cross, right), covariate, told | {"df": len(names) - 2})

    def _add_permutation(self, cross: Array, right: Array, covariate: Array, told: dict[str, Any]) -> None:
        context = self.cells.experiment.context
        rng = context.rng("judge_unit", *self.regressor.told.values(), self.block.name, self.name)
        found = permutation_test(cross, right, covariate, rng)
        told = {**told, "test": "permutation", "permutations": found.permutations}
        told |= {"arrangements": "all"} if found.exact else {"arrangements": "drawn", "seed": context.options.seed}
        p = np.nan if found.p is None else found.p
        self.write("judge_permutation_p", p, told, reason=found.undefined, n=len(covariate))

    def _add_t(self, effects: Array | None, covariate: Array, told: dict[str, Any]) -> None:
        """t is told for any number of judges, its p only where there are enough for a test."""
        n, found = len(covariate), None if effects is None else slope_t(effects, covariate)
        reason = "not_separable" if found is None else found.undefined
        t, p = (np.nan, np.nan) if found is None or found.t is None or found.p is None else (found.t, found.p)
        self.write("judge_t", t, told, reason=reason, n=n)
        p = p if enough_judges(covariate) else np.nan
        self.write("judge_t_p", p, {**told, "test": "t"}, reason=reason or "few_judges", n=n)

    def write(
        self,
        name: str,
        value: float | None,
        told: dict[str, Any],
        params: dict[str, str] | None = None,
        *,
        reason: str | None = None,
        label: str | None = None,
        ends: tuple[float, float] = (np.nan, np.nan),
        n: int | None = None,
    ) -> None:
        """One row about all judges of the block; ``told`` goes into its definition."""
        context = self.cells.experiment.context
        base = context.definition(of="delta", effects="item+condition", repeats="mean_of_errors")
        context.table.add(
            f"origin_effect.{name}",
            value,
            params=self.regressor.params(**(params or {})),
            reasons=reason,
            labels=label,
            low=ends[0],
            high=ends[1],
            n=self.cube.n if n is None else n,
            excluded=self.excluded,
            definition={**base, **told},
            **self.cells.place(self.block, self.name),
        )


def t_quantile(df: int, level: float) -> float:
    """Where t with df degrees of freedom holds its middle ``level``."""
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + level) / 2))
