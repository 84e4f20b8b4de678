"""What the study of recovery draws: worlds, planted judges, observed consensuses, and the planted model of a judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from voirdire.simulation.judges import Character, SharedNoise
from voirdire.simulation.pools import RaterPool
from voirdire.simulation.presets import paired_world, paper_world
from voirdire.simulation.world import Humans, World, draw_humans
from voirdire.stats.consensus_noise import Shrinkage
from voirdire.stats.decomposition import image_columns, regressors
from voirdire.stats.features import Array, PoolArrays, ScaleCuts

CUTS = ScaleCuts(1.0, 5.0, (1.0, 2.0, 3.0, 4.0, 5.0))
LEVELS = np.array(CUTS.levels)
CENTER = 3.9
NOISE = 0.8


@dataclass(frozen=True)
class Bench:
    """A world, its judges, and what is done to the pools after they are drawn.

    thin : pool -> numbers of raters an item has, each with the same chance
    """

    name: str
    told: str
    world: World
    judges: Mapping[str, Character]
    thin: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def kind(**given: object) -> Character:
    """A character with the study's noise."""
    return replace(Character(noise=NOISE), **given)  # type: ignore[arg-type]


NEUTRAL = {
    "neutral, full scale": kind(),
    "compression 0.3": kind(scale=0.3),
    "compression 0.3, generous": kind(scale=0.3, offset=0.4),
    "permissive 0.8": kind(permissiveness=0.8),
    "compression 0.4, permissive 0.6": kind(scale=0.4, permissiveness=0.6),
    "hard floor at 3": kind(floor=3.0),
    "compression 0.4, dislikes cn imagery": kind(scale=0.4, image={"cn": -0.5}),
}
ORIENTED = {
    "oriented to b 0.8": kind(weights=(0.2, 0.8)),
    "oriented to a 0.2": kind(weights=(0.8, 0.2)),
    "compression 0.4, to b 0.75": kind(scale=0.4, weights=(0.25, 0.75)),
    "compression 0.4, to a 0.25": kind(scale=0.4, weights=(0.75, 0.25)),
    "hard floor at 3, to a 0.25": kind(floor=3.0, weights=(0.75, 0.25)),
    "to a 0.3, dislikes cn imagery, permissive 0.4": kind(weights=(0.7, 0.3), permissiveness=0.4, image={"cn": -0.5}),
}
EMPTY = {"random": Character(uniform=True), "constant 4": Character(scale=0.0, noise=0.0, center=4.0)}
FEW = {
    name: {**NEUTRAL, **ORIENTED}[name]
    for name in ("neutral, full scale", "compression 0.3", "oriented to b 0.8", "oriented to a 0.2")
}


def people(noise: tuple[float, float], severity: float, layout: str, raters: tuple[int, int] = (5, 5)) -> World:
    """The paper's items with other raters."""
    pools = tuple(
        RaterPool(name, n, noise=sd, severity_sd=severity, layout=layout)
        for name, n, sd in zip(("us", "cn"), raters, noise, strict=True)
    )
    return replace(paper_world(), pools=pools, side=())


def five_pools() -> tuple[World, dict[str, Character]]:
    """626 items of five cultures in three categories, five raters in each of five pools."""
    names = ("us", "cn", "in", "br", "ng")
    world = paired_world(626, names)
    pools = tuple(replace(pool, noise=0.8, severity_sd=0.15) for pool in world.pools)
    judges = {
        "equal weights": kind(),
        "half to the first": kind(weights=(0.6, 0.1, 0.1, 0.1, 0.1)),
        "nothing to the second": kind(weights=(0.25, 0.0, 0.25, 0.25, 0.25), scale=0.6),
        "equal weights, permissive 0.6": kind(permissiveness=0.6),
    }
    return replace(world, pools=pools, side=(), judges={}), judges


BENCHES = (
    Bench("paper", "5 + 5 raters, noise 0.8", replace(paper_world(), side=()), {**NEUTRAL, **ORIENTED, **EMPTY}),
    Bench(
        "numbers",
        "5 raters in a; 1 or 8 in b; other raters on each item",
        people((0.8, 0.8), 0.2, "nested", (5, 8)),
        FEW,
        {"cn": (1, 8)},
    ),
    Bench(
        "noisy numbers",
        "the same, noise 1.6 in b",
        people((0.8, 1.6), 0.2, "nested", (5, 8)),
        FEW,
        {"cn": (1, 8)},
    ),
    Bench("reliability", "5 + 5 raters, noise 0.5 in a, 1.6 in b", people((0.5, 1.6), 0.14, "crossed"), FEW),
    Bench("severity", "5 + 5 raters, severity sd 0.5", people((0.8, 0.8), 0.5, "crossed"), FEW),
    Bench("two raters", "2 + 2 raters, noise 0.8", people((0.8, 0.8), 0.14, "crossed", (2, 2)), FEW),
)
CONDITIONS = {
    "neutral": kind(noise=0.5),
    "neutral, compression 0.4": kind(noise=0.5, scale=0.4),
    "oriented to b 0.65": kind(noise=0.5, weights=(0.35, 0.65)),
    "oriented to a 0.4, compression 0.5": kind(noise=0.5, weights=(0.6, 0.4), scale=0.5),
}
SHARED = SharedNoise(every=0.5, judge=0.3, condition=0.2)


def drawn(bench: Bench, rng: np.random.Generator) -> tuple[Humans, PoolArrays]:
    """People of a corpus, and the consensuses that were observed."""
    humans = draw_humans(bench.world, rng)
    blocks = []
    for pool, ratings in zip(bench.world.pool_names, humans.ratings[bench.world.main], strict=True):
        kept = ratings.copy()
        if pool in bench.thin:
            numbers = rng.choice(bench.thin[pool], len(kept))
            kept[np.arange(kept.shape[1])[None, :] >= numbers[:, None]] = np.nan
        blocks.append(kept)
    n = np.stack([(~np.isnan(block)).sum(1) for block in blocks]).astype(float)
    mean = np.stack([np.nanmean(block, axis=1) for block in blocks])
    squares = np.stack([np.nansum((b - m[:, None]) ** 2, axis=1) for b, m in zip(blocks, mean, strict=True)])
    s2 = np.where(n > 1, squares / np.maximum(n - 1, 1), np.nan)
    return humans, PoolArrays(mean, n, s2, CUTS)


def columns_of(humans: Humans) -> Array:
    """Image columns of the cultures in order of their names."""
    return image_columns(np.unique(humans.cultures, return_inverse=True)[1].astype(np.int64))


def design_of(humans: Humans, pools: PoolArrays, correct: bool = True) -> Array:
    """The regressors as an audit makes them, with or without correction of the consensuses."""
    shrinkage = Shrinkage.of(pools, humans.strata.astype(np.int64), correct=correct)
    return regressors(shrinkage.posterior(), columns_of(humans))


def planted_design(humans: Humans) -> Array:
    """The regressors without noise of raters, pools about the judge's center."""
    expected = humans.expected
    lead = expected.max(1) - expected.mean(1)
    return np.column_stack([expected - CENTER, lead, columns_of(humans)])


def planted_model(judge: Character, humans: Humans) -> tuple[Array, Array]:
    """Cut points (1, L - 1) and slopes (1, P) by which the judge rates, as the simulation defines it."""
    names, codes = np.unique(humans.cultures, return_inverse=True)
    effects = np.array([judge.image.get(str(name), 0.0) for name in names])
    mean = effects[codes].mean()
    weights = np.asarray(judge.weights or (1 / humans.expected.shape[1],) * humans.expected.shape[1])
    slopes = [*(judge.scale * weights), judge.scale * judge.permissiveness, *(effects[:-1] - mean)]
    cuts = LEVELS[1:] - 0.5 - CENTER - judge.offset - mean
    cuts[LEVELS[1:] <= (judge.floor or 0)] = -np.inf
    return cuts[None] / judge.noise, np.array([slopes]) / judge.noise
