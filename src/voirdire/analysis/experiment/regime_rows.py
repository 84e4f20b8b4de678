"""The matched items of two regimes, and how rows of their comparison are written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.analysis.context import Mask
from voirdire.analysis.engine import ItemSampler
from voirdire.analysis.experiment.derived import culture_slices
from voirdire.analysis.experiment.design import Experiment
from voirdire.stats.features import Array
from voirdire.stats.resampling import percentile

Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Regimes:
    """Two regimes of the same items.

    levels : their names, sorted; first, second : (U,) places of each matched item in the two regimes
    """

    experiment: Experiment
    levels: tuple[str, str]
    first: Places
    second: Places

    @property
    def n_units(self) -> int:
        """Matched items."""
        return len(self.first)

    @property
    def sides(self) -> tuple[tuple[str, Places], tuple[str, Places]]:
        """Name and places of each regime."""
        return (self.levels[0], self.first), (self.levels[1], self.second)

    @cached_property
    def sampler(self) -> ItemSampler:
        """Draws of matched items, the same for everything that is compared."""
        context = self.experiment.context
        return ItemSampler(self.n_units, context.options, context.rng("items", "regimes"))

    @cached_property
    def slices(self) -> dict[str, Mask]:
        """Slice -> (U,) matched items that are in it in both regimes."""
        every = culture_slices(self.experiment.context)
        return {name: mask[self.first] & mask[self.second] for name, mask in every.items()}

    def ends(self, values: Array, draws: Array) -> tuple[Array, Array]:
        """Percentile ends (S,) of draws (S, D), NaN without draws or value."""
        if not draws.shape[-1]:
            return np.full(len(values), np.nan), np.full(len(values), np.nan)
        undefined = np.isnan(values)
        low, high = percentile(draws, self.sampler.options.level)
        return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)

    def write(
        self,
        statistic: str,
        values: Any,
        pair: tuple[int, int],
        *,
        method: str = "none",
        defined: dict[str, Any] | None = None,
        **row: Any,
    ) -> None:
        """One row of ``regime_comparison`` or several; ``defined`` goes into the definition."""
        context = self.experiment.context
        told = {"regime": context.options.regime, "matched_items": self.n_units, **(defined or {})}
        context.table.add(
            f"regime_comparison.{statistic}",
            values,
            definition=context.definition(method, **told),
            question=context.panel.question.id,
            **row,
            **context.names(pair),
        )
