"""A simulated world as the formulas of power take it: nodes of every stratum's items, raters and one judge."""

from __future__ import annotations

import numpy as np

from voirdire.simulation.judges import GENEROUS, Character, blend
from voirdire.simulation.pools import Stratum, apart, level_chances, rating_moments, scale_ends
from voirdire.simulation.world import World
from voirdire.stats.features import Array
from voirdire.stats.power import Noise, Plan, StratumNodes

NODES, POOR_NODES = 9, 3


def plan_of(world: World, judge: Character, noise: Noise) -> Plan:
    """A world of two pools and a judge as the formulas take them: nodes of every stratum's latent opinions."""
    cultures = list(dict.fromkeys(stratum.culture for stratum in world.strata))
    strata = [_nodes(stratum, world, judge, cultures.index(stratum.culture)) for stratum in world.strata]
    a, b = (pool.raters for pool in world.pools)
    return Plan(np.asarray(world.scale.level_values, dtype=float), tuple(strata), (a, b), noise)


def _nodes(stratum: Stratum, world: World, judge: Character, image: int) -> StratumNodes:
    latent, weights = _latent_nodes(stratum, world)
    chances = np.stack([level_chances(latent[:, k], pool, world.scale) for k, pool in enumerate(world.pools)])
    means = np.stack([rating_moments(latent[:, k], pool, world.scale)[0] for k, pool in enumerate(world.pools)], axis=1)
    low, high = scale_ends(world.scale)
    center = judge.center if judge.center is not None else low + GENEROUS * (high - low)
    level = blend(means, judge.weights or (0.5, 0.5), judge.permissiveness)
    seen = center + judge.offset + judge.scale * (level - center) + judge.image.get(stratum.culture, 0.0)
    return StratumNodes(stratum.items / world.n_items, weights, chances, seen, image)


def _latent_nodes(stratum: Stratum, world: World) -> tuple[Array, Array]:
    """Nodes (Q, 2) of a stratum's latent opinions and their weights; those of items that all find poor behind."""
    low, high = scale_ends(world.scale)
    root = np.linalg.cholesky(np.array([[1.0, stratum.correlation], [stratum.correlation, 1.0]]))
    usual, mass = _grid(NODES)
    nodes = np.asarray(stratum.means) + np.asarray(stratum.sds) * (usual @ root.T)
    weights = mass * (1 - stratum.shared_low)
    if stratum.shared_low:
        poor, share = _grid(POOR_NODES)
        nodes = np.concatenate([nodes, low + (high - low) * (0.05 + 0.125 * poor)])
        weights = np.concatenate([weights, share * stratum.shared_low])
    return apart(nodes, world.contrast), weights


def _grid(size: int) -> tuple[Array, Array]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(size)
    chance = weights / weights.sum()
    first, second = (part.ravel() for part in np.meshgrid(nodes, nodes, indexing="ij"))
    return np.column_stack([first, second]), np.outer(chance, chance).ravel()
