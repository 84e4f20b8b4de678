"""Planned audits drawn and tested as an audit does: what the formulas of power are checked against."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from voirdire.simulation.judges import Character, SharedNoise
from voirdire.simulation.pools import scale_ends
from voirdire.simulation.world import Humans, World, draw_humans, draw_judges
from voirdire.stats import tilt  # noqa: F401  (it declares the features)
from voirdire.stats.consensus_noise import Shrinkage
from voirdire.stats.decomposition import code_cells, fit_all, image_columns, neutrality, regressors
from voirdire.stats.features import Array, Features, PoolArrays, ScaleCuts
from voirdire.stats.power import Noise

DELTA, WEIGHT = "delta", "orientation"


def simulated_world(world: World, judge: Character, noise: Noise, items: int, judges: int, repeats: int) -> World:
    """The world with this many items, and judges of one character that share noise as planned."""
    sizes = _sizes([stratum.items for stratum in world.strata], items)
    strata = tuple(replace(stratum, items=size) for stratum, size in zip(world.strata, sizes, strict=True) if size)
    named = {f"judge-{rank + 1}": judge for rank in range(judges)}
    return replace(
        world, strata=strata, judges=named, repeats=repeats, noise=SharedNoise(every=noise.common, judge=noise.own)
    )


def _sizes(proportions: Sequence[int], items: int) -> list[int]:
    """Items in the proportions of the strata, by largest remainders."""
    exact = np.asarray(proportions) * items / sum(proportions)
    sizes = np.floor(exact).astype(int)
    for place in np.argsort(-(exact - sizes), kind="stable")[: items - int(sizes.sum())]:
        sizes[place] += 1
    return [int(size) for size in sizes]


def p_values(world: World, statistic: str, draws: int, rng: np.random.Generator) -> Iterator[float]:
    """p of one statistic in each of many corpora: the item-clustered t of delta or T over all judges, or the test of
    neutrality of the first judge. 1 where the test does not exist.
    """
    for _ in range(draws):
        humans = draw_humans(world, rng)
        ratings = draw_judges(humans, rng).ratings[:, 0].transpose(0, 2, 1)
        pools = pool_arrays(humans)
        yield orientation_p(humans, pools, ratings[:1]) if statistic == WEIGHT else item_p(pools, ratings, statistic)


def pool_arrays(humans: Humans) -> PoolArrays:
    """The drawn pools as an audit has them."""
    low, high = scale_ends(humans.world.scale)
    blocks = humans.ratings[humans.world.main]
    n = np.stack([np.sum(~np.isnan(block), axis=1) for block in blocks]).astype(float)
    mean = humans.consensus()
    squares = np.stack([np.nansum((b - m[:, None]) ** 2, axis=1) for b, m in zip(blocks, mean, strict=True)])
    with np.errstate(divide="ignore", invalid="ignore"):
        s2 = np.where(n > 1, squares / (n - 1), np.nan)
    return PoolArrays(mean, n, s2, ScaleCuts(low, high, humans.world.scale.level_values))


def item_p(pools: PoolArrays, ratings: Array, statistic: str) -> float:
    """p of the t test that delta or T is 0, with items as clusters; ratings (J, I, R)."""
    from scipy.stats import t as student

    features = Features(pools, ratings)
    top, below = ("error_difference", "judged") if statistic == DELTA else ("tilt_sum", "tilted")
    values, counts = (features.get(name, (0, 1)).sum(0) for name in (top, below))
    groups = int((counts > 0).sum())
    if groups < 2:
        return 1.0
    mean = values.sum() / counts.sum()
    around = (values - mean * counts)[counts > 0]
    error = float(np.sqrt((around**2).sum() * groups / (groups - 1))) / float(counts.sum())
    return float(2 * student.sf(abs(mean) / error, groups - 1)) if error > 0 else 1.0


def orientation_p(humans: Humans, pools: PoolArrays, ratings: Array) -> float:
    """p of the test of neutrality of one judge; ratings (1, I, R)."""
    images = np.unique(humans.cultures, return_inverse=True)[1].astype(np.int64)
    usable = np.flatnonzero(pools.has.all(0))
    picked = PoolArrays(pools.mean[:, usable], pools.n[:, usable], pools.s2[:, usable], pools.scale)
    shrinkage = Shrinkage.of(picked, humans.strata[usable])
    repeats = ratings.shape[2]
    by_item = regressors(shrinkage.posterior(), image_columns(images[usable]), unit=shrinkage.unit)
    x = np.repeat(by_item, repeats, axis=0)
    weights = np.full(len(x), 1 / repeats)
    fits = fit_all(code_cells(ratings[:, usable].reshape(1, -1), pools.scale.levels), x, 1, weights=weights)
    if not fits.fitted[0]:
        return 1.0
    contrast = np.zeros(x.shape[1])
    contrast[:2] = -1.0, 1.0
    return float(neutrality(fits, contrast)[1][0])
