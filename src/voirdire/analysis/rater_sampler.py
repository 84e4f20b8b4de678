"""``resample=items+raters``: intervals that speak of new items rated by new raters of the same pools."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from voirdire.analysis.context import RATER_METHOD, Context, Mask
from voirdire.analysis.engine import Ends, ItemSampler, Sums
from voirdire.stats.features import Array, Features, PoolArrays
from voirdire.stats.raters import RaterSampling, rater_interval


def sampler_of(context: Context, name: str, mask: Mask) -> ItemSampler:
    """The sampler that the options ask for, on the items of one slice."""
    rng = context.rng("items", name)
    n_items = int(mask.sum())
    if context.options.resample == "items" or context.panel.question.scale.nominal:
        return ItemSampler(n_items, context.options, rng)
    return RaterSampler(context, name, mask, rng)


class RaterSampler(ItemSampler):
    """Draws of items and draws of raters, one after the other in the last axis.

    The interval is estimate +- t SE from both, never a percentile one: drawn consensuses are noisier than the
    observed, so absolute differences are biased upward. A target with a pool of fewer than five raters has none;
    pools that come without raters keep their consensuses.
    """

    def __init__(self, context: Context, name: str, mask: Mask, rng: np.random.Generator) -> None:
        super().__init__(int(mask.sum()), context.options, rng)
        self.place = np.cumsum(mask) - 1
        self.context = context
        self.name = name
        rows = [(k, row, mask[row.item]) for k, row in enumerate(context.panel.rows)]
        self.sampling = RaterSampling(
            np.concatenate([self.place[row.item[kept]] for _, row, kept in rows]),
            np.concatenate([row.rater[kept] for _, row, kept in rows]),
            np.concatenate([np.full(int(kept.sum()), k) for k, _, kept in rows]),
            np.concatenate([row.value[kept] for _, row, kept in rows]),
            n_items=int(mask.sum()),
            n_pools=len(context.pools),
            anonymous=context.panel.anonymous,
        )
        self.aggregate = {k for k, pool in enumerate(context.pools) if pool in context.panel.aggregate}
        self.unusable = frozenset(k for k in self.sampling.undefined if k not in self.aggregate)
        if context.options.consensus == "median":
            self.unusable = frozenset(range(len(context.pools)))

    @property
    def method(self) -> str:
        """Name of the interval in signatures."""
        return RATER_METHOD

    @property
    def draws_raters(self) -> bool:
        """Whether raters are drawn beside items."""
        return True

    def told(self, target: tuple[int, ...]) -> dict[str, str]:
        """Why a target has no interval, for its signatures."""
        if not self.unusable & set(target):
            return {}
        return {"no_interval": "median_consensus" if self.options.consensus == "median" else "few_raters"}

    def sums(self, features: Features, names: Sequence[str], target: tuple[int, ...]) -> dict[str, Sums]:
        """The sums of every named feature; no draws for a target with too few raters."""
        names = list(dict.fromkeys(names))
        by_items = super().sums(features, names, target)
        if self.unusable & set(target) or not self.weights.size:
            return {name: Sums(part.point, part.draws[:, :0]) for name, part in by_items.items()}
        by_raters = np.split(np.column_stack(self._draws(features, names, target)), len(names))
        return {
            name: Sums(part.point, np.concatenate([part.draws, drawn], axis=1))
            for (name, part), drawn in zip(by_items.items(), by_raters, strict=True)
        }

    def _draws(self, features: Features, names: Sequence[str], target: tuple[int, ...]) -> list[Array]:
        if not target:
            points = np.concatenate([features.get(name).sum(-1) for name in names])
            return [points, points]
        rng = self.context.rng("raters", self.name)
        chunks = self.sampling.draws(self.options.rater_draws, rng)
        worlds = chain.from_iterable(zip(chunk.mean, chunk.n, chunk.s2, strict=True) for chunk in chunks)
        return [self._one(features, names, target, *world) for world in worlds]

    def _one(
        self,
        features: Features,
        names: Sequence[str],
        target: tuple[int, ...],
        mean: Array,
        n: Array,
        s2: Array,
    ) -> Array:
        fixed = sorted(self.aggregate)
        mean, n = mean.copy(), n.copy()
        mean[fixed], n[fixed] = features.pools.mean[fixed], features.pools.n[fixed]
        drawn = Features(
            PoolArrays(mean, n, s2, features.pools.scale),
            features.cube,
            min_gap=features.min_gap,
            constants=features.constants,
            loo=features.loo,
        )
        return np.concatenate([drawn.get(name, target).sum(-1) for name in names])

    def interval(
        self,
        target: tuple[int, ...],
        values: Array,
        draws: Array,
        left_out: Array | None,  # noqa: ARG002  (BCa is of items alone)
    ) -> Ends:
        """Estimate +- t * SE of the draws of items and of raters."""
        items = len(self.weights)
        found = rater_interval(
            values,
            draws[:, :items],
            draws[:, items:],
            level=self.options.level,
            df_items=self.weights.shape[1] - 1,
            df_raters=self.sampling.df(*target),
        )
        return Ends(found.low, found.high, found.bias)
