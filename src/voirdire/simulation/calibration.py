"""Pools with a wanted reliability and divergence: rater noise and contrast are solved for, without drawing raters.

The expected variance of a consensus and the planted consensuses are known functions of the latent opinions, so that a
fixed large draw of opinions gives both to about three digits, the same on every call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from voirdire.errors import UsageError
from voirdire.simulation.pools import Floats, RaterPool, apart, draw_latent, rating_moments
from voirdire.simulation.world import World

OPINIONS = 4_000
ROUNDS = 60
CLOSE = 0.002
_LEAST, _MOST = 1e-3, 60.0
_FAR = 30.0


@dataclass(frozen=True)
class Planted:
    """What a world's pools come to: reliability of each consensus, and the rms gap over all pairs of pools."""

    reliability: Mapping[str, float]
    gap_rms: float


def planted_pools(world: World) -> Planted:
    """The reliability and divergence that a world's pools have in the long run.

    Reliability is the variance of the planted consensus over itself plus the raters' mean variance over n.

    >>> from voirdire.simulation.presets import paired_world
    >>> round(planted_pools(paired_world()).reliability["us"], 2)
    0.94
    """
    latent = _opinions(world)
    moments = [rating_moments(column, pool, world.scale) for column, pool in _columns(latent, world)]
    reliability = {
        pool.name: _reliability(mean, variance, pool)
        for pool, (mean, variance) in zip(world.pools, moments, strict=True)
    }
    return Planted(reliability, _gap(np.stack([mean for mean, _ in moments], axis=1)))


def calibrated(world: World, reliability: Mapping[str, float] | None = None, divergence: float | None = None) -> World:
    """The world with rater noise and contrast such that the pools have these values.

    reliability : pool -> reliability of its consensus, in (0, 1); the pools' severities and noise get one factor
    divergence : root mean square gap of the planted consensuses, over all items and pairs of pools

    Both change each other and are set in turn. Raises UsageError (``simulation.error.reliability``, ``.divergence``,
    ``.together``) for what cannot be reached.
    """
    wanted = dict(reliability or {})
    for pool, value in wanted.items():
        if not 0 < value < 1:
            raise UsageError("simulation.error.reliability", pool=pool, value=f"{value:g}")
    world = _apart(world, divergence)
    if not wanted:
        return world
    for _ in range(ROUNDS):
        world = _noisy(world, wanted)
        if divergence is None or abs(planted_pools(world).gap_rms - divergence) < CLOSE * divergence + 1e-9:
            return world
        world = _apart(world, divergence)
    raise UsageError("simulation.error.together", value=f"{divergence:g}", reliability=_told(wanted))


def _apart(world: World, divergence: float | None) -> World:
    return world if divergence is None else replace(world, contrast=_contrast(world, divergence))


def _noisy(world: World, wanted: Mapping[str, float]) -> World:
    latent = _opinions(world)
    pools = [_with(wanted.get(pool.name), pool, column, world) for column, pool in _columns(latent, world)]
    return replace(world, pools=tuple(pools))


def _told(wanted: Mapping[str, float]) -> str:
    return ", ".join(f"{pool} {value:g}" for pool, value in wanted.items())


def _opinions(world: World) -> Floats:
    """The same latent opinions on every call, in the proportions of the strata."""
    times = max(1, round(OPINIONS / max(world.n_items, 1)))
    strata = [replace(stratum, items=stratum.items * times) for stratum in world.strata]
    return apart(draw_latent(strata, world.scale, np.random.default_rng(0)), world.contrast)


def _columns(latent: Floats, world: World) -> list[tuple[Floats, RaterPool]]:
    return [(latent[:, place], pool) for place, pool in enumerate(world.pools)]


def _reliability(mean: Floats, variance: Floats, pool: RaterPool) -> float:
    true = float(mean.var())
    noise = float(variance.mean()) / (pool.raters * pool.share)
    return true / (true + noise) if true + noise > 0 else 0.0


def _gap(means: Floats) -> float:
    places = range(means.shape[1])
    squares = [(means[:, a] - means[:, b]) ** 2 for a in places for b in places if a < b]
    return float(np.sqrt(np.mean(squares)))


def _with(value: float | None, pool: RaterPool, latent: Floats, world: World) -> RaterPool:
    """The pool with severities and noise such that its consensus has a reliability."""
    if value is None:
        return pool

    def reached(factor: float) -> float:
        noisier = _scaled(pool, factor)
        return _reliability(*rating_moments(latent, noisier, world.scale), noisier)

    if not reached(_MOST) < value < reached(_LEAST):
        raise UsageError("simulation.error.reliability", pool=pool.name, value=f"{value:g}")
    return _scaled(pool, _solve(lambda factor: value - reached(factor), _LEAST, _MOST))


def _scaled(pool: RaterPool, factor: float) -> RaterPool:
    severities = None if pool.severities is None else tuple(factor * severity for severity in pool.severities)
    return replace(pool, noise=factor * pool.noise, severity_sd=factor * pool.severity_sd, severities=severities)


def _contrast(world: World, divergence: float) -> float:
    plain = _opinions(replace(world, contrast=1.0))

    def reached(contrast: float) -> float:
        moved = apart(plain, contrast)
        return _gap(np.stack([rating_moments(c, pool, world.scale)[0] for c, pool in _columns(moved, world)], axis=1))

    most = reached(_FAR)
    least = reached(0.0)
    if not least - 1e-9 <= divergence < most:
        raise UsageError(
            "simulation.error.divergence", value=f"{divergence:g}", least=f"{least:.2f}", most=f"{most:.2f}"
        )
    return 0.0 if divergence <= least else _solve(lambda contrast: reached(contrast) - divergence, 0.0, _FAR)


def _solve(rising: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function is 0 between two ends."""
    from scipy.optimize import brentq

    return float(brentq(rising, low, high, xtol=1e-7, rtol=1e-7))
