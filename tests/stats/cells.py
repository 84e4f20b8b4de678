"""Small corpora, judges and plain versions of the cumulative probit for the tests of the decomposition."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.stats import norm

from voirdire.simulation.judges import Character, judge_items
from voirdire.simulation.presets import paper_world
from voirdire.simulation.world import FIVE, Humans, draw_humans
from voirdire.stats.consensus_noise import Shrinkage
from voirdire.stats.cumulative import Data
from voirdire.stats.decomposition import CellFits, Coded, code_cells, fit_all, image_columns, regressors
from voirdire.stats.features import PoolArrays, ScaleCuts

LEVELS = (1.0, 2.0, 3.0, 4.0, 5.0)
CUTS = ScaleCuts(1.0, 5.0, LEVELS)
NEUTRAL = np.array([-1.0, 1.0, 0.0, 0.0])
A, B, LEAD = np.eye(4)[:3]
SUM = A + B


@dataclass(frozen=True)
class Corpus:
    """Two pools of five raters, and what the fits need of them. image : (I,) codes of the cultures."""

    humans: Humans
    pools: PoolArrays
    image: np.ndarray
    shrinkage: Shrinkage
    x: np.ndarray

    def ratings(self, rng: np.random.Generator, **character: object) -> np.ndarray:
        """(I,) of one judge of this character."""
        kind = replace(Character(), **character)  # type: ignore[arg-type]
        return judge_items(self.humans.expected, self.humans.cultures, kind, FIVE, rng)[0]

    def fit(self, ratings: np.ndarray, **options: object) -> tuple[CellFits, list[Coded]]:
        """Cells (C, I) fitted."""
        coded = code_cells(np.atleast_2d(ratings), LEVELS)
        return fit_all(coded, self.x, len(np.atleast_2d(ratings)), **options), coded  # type: ignore[arg-type]


def pool_arrays(blocks: tuple[np.ndarray, ...], scale: ScaleCuts = CUTS) -> PoolArrays:
    """Pools of (I, raters) ratings, NaN where there is none."""
    n = np.stack([(~np.isnan(block)).sum(1) for block in blocks]).astype(float)
    mean = np.stack([np.nanmean(block, axis=1) for block in blocks])
    around = np.stack([np.nansum((b - m[:, None]) ** 2, axis=1) for b, m in zip(blocks, mean, strict=True)])
    return PoolArrays(mean, n, np.where(n > 1, around / np.maximum(n - 1, 1), np.nan), scale)


def corpus(seed: int = 0, share: float = 0.5) -> Corpus:
    """The paper's design with a share of its items."""
    world = paper_world()
    strata = tuple(replace(s, items=round(s.items * share)) for s in world.strata)
    humans = draw_humans(replace(world, strata=strata, side=()), np.random.default_rng(seed))
    pools = pool_arrays(humans.ratings["q1"])
    image = (humans.cultures == "cn").astype(np.int64)
    shrinkage = Shrinkage.of(pools, humans.strata.astype(np.int64))
    return Corpus(humans, pools, image, shrinkage, regressors(shrinkage.posterior(), image_columns(image)))


def small_data(seed: int, cells: int = 3, items: int = 80, levels: int = 4, p: int = 3, ridge: float = 0.05) -> Data:
    """Cells with missing ratings and integer weights."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((items, p))
    latent = rng.normal(0, 0.7, (cells, p)) @ x.T + rng.standard_normal((cells, items))
    codes = (latent[:, :, None] > np.linspace(-0.8, 0.9, levels - 1)).sum(2)
    codes[rng.random(codes.shape) < 0.1] = -1
    codes[:, :levels] = np.arange(levels)
    return Data(codes.astype(np.int8), x, rng.integers(1, 4, items).astype(float), levels, ridge)


def plain_loglik(data: Data, cell: int, cuts: np.ndarray, slopes: np.ndarray) -> float:
    """The penalised log likelihood of one cell, a rating at a time."""
    edges = [-np.inf, *cuts, np.inf]
    total = 0.0
    for code, x, w in zip(data.codes[cell], data.x, data.weights, strict=True):
        if code >= 0:
            latent = float(x @ slopes)
            total += w * np.log(norm.cdf(edges[code + 1] - latent) - norm.cdf(edges[code] - latent))
    return float(total - data.ridge / 2 * np.sum(np.square(slopes)))


def oracle(shared_data: Path) -> ModuleType:
    """The slow prototype of the decomposition. Skips where it is absent."""
    path = shared_data.parent / "oracles" / "decomp.py"
    if not path.is_file():
        pytest.skip(f"no prototype at {path}")
    spec = importlib.util.spec_from_file_location("decomp_oracle", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
