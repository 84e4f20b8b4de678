"""The cube of bytes against plain loops and against features of the ratings themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from voirdire.stats import (  # noqa: F401  (features)
    agreement,
    alignment,
    features,
    level_cube,
    position,
    preference,
    scale_use,
    tilt,
)
from voirdire.stats.features import FEATURES, Features, PoolArrays, ScaleCuts
from voirdire.stats.level_cube import LevelCube, LevelFeatures

TARGET = {"judge": (), "pool": (1,), "judge_pool": (1,), "pair": (0, 1), "judge_pair": (0, 1)}


@given(
    codes=arrays(
        np.int8, st.tuples(st.integers(1, 4), st.integers(1, 7), st.integers(1, 3)), elements=st.integers(-1, 2)
    )
)
def test_sums_are_those_of_a_loop(codes):
    rng = np.random.default_rng(codes.size)
    tables = rng.normal(size=(3, codes.shape[1], 3))
    expected = np.zeros((3, len(codes)))
    for f, table in enumerate(tables):
        for cell, items in enumerate(codes):
            for item, repeats in enumerate(items):
                given_levels = [int(level) for level in repeats if level >= 0]
                if given_levels:
                    expected[f, cell] += np.mean([table[item, level] for level in given_levels])
    found = LevelCube(codes, np.arange(3.0)).sums(tables)
    assert found == pytest.approx(expected, abs=1e-12)


def test_parts_of_the_items_add_up(monkeypatch):
    rng = np.random.default_rng(0)
    cube = LevelCube(rng.integers(-1, 5, (6, 101, 1)).astype(np.int8), np.arange(1.0, 6.0))
    tables = rng.normal(size=(2, 101, 5))
    whole = cube.sums(tables)
    monkeypatch.setattr(level_cube, "BLOCK", 40)
    assert cube.sums(tables) == pytest.approx(whole, abs=1e-12)


def test_ratings_come_back():
    rng = np.random.default_rng(1)
    ratings = rng.choice([1.0, 2.5, 5.0, np.nan], size=(3, 20, 2))
    cube = LevelCube.of(ratings)
    np.testing.assert_array_equal(cube.ratings(), ratings)
    np.testing.assert_array_equal(cube.counts(), [[(cell == value).sum() for value in (1, 2.5, 5)] for cell in ratings])
    assert LevelCube.of(rng.random((2, 100))) is None
    nothing = LevelCube.of(np.full((2, 3), np.nan))
    assert nothing.sums(np.zeros((1, 3, 0))).tolist() == [[0.0, 0.0]]
    with pytest.raises(ValueError, match="one repeat"):
        cube.gather(np.zeros((4, 20)))


def world(*, nominal=False, labels=5):
    """Three pools, some items without a consensus or with equal ones; eight cells with missing ratings."""
    rng = np.random.default_rng(7)
    mean = rng.uniform(1, 5, (3, 40))
    mean[1, :5] = mean[0, :5]
    mean[1, 5:8] = np.nan
    n = np.where(np.isnan(mean), 0.0, 5.0)
    s2 = np.where(np.isnan(mean), np.nan, rng.uniform(0.1, 2, mean.shape))
    shares = rng.dirichlet(np.ones(labels), (3, 40)) if nominal else None
    levels = tuple(np.arange(float(labels)) if nominal else np.arange(1.0, 6.0))
    pools = PoolArrays(mean, n, s2, ScaleCuts(levels[0], levels[-1], levels, nominal), shares)
    ratings = rng.choice([*levels, np.nan], size=(8, 40))
    constants = rng.choice(levels, size=(3, 40))
    return pools, ratings, constants, rng.uniform(1, 5, (2, 40, 1))


OF_VOTES = (preference.__name__, position.__name__)


def left_out(cube):
    """Some errors of the right shape that depend on the item and the rating alone."""
    errors = np.abs(np.nan_to_num(cube).sum(-1) - np.arange(cube.shape[1]) / 7)
    return np.stack([errors, errors + 1, errors + 2]), np.ones((3, *errors.shape))


@pytest.mark.parametrize("nominal", [False, True])
@pytest.mark.parametrize("name", FEATURES)
def test_every_feature_is_the_same_number(name, nominal, monkeypatch):
    per, function = FEATURES[name]
    labels = 3 if function.__module__ in OF_VOTES else 5
    if labels == 3 and not nominal:
        pytest.skip("votes are labels")
    pools, ratings, constants, others = world(nominal=nominal, labels=labels)
    others = np.round(others) % labels if nominal else others
    cube = np.concatenate([ratings[..., None], others])
    plain = Features(pools, cube, min_gap=0.3, constants=constants, loo=left_out(cube))
    levels = LevelCube.of(ratings)
    looked_up = LevelFeatures(pools, levels, others, min_gap=0.3, constants=constants, loo=left_out)
    try:
        expected = plain.get(name, TARGET[per])
    except (TypeError, ValueError):
        pytest.skip("the feature is not of this scale")
    np.testing.assert_array_equal(looked_up.get(name, TARGET[per]), expected)
    for one in (looked_up, plain):
        if per.startswith("judge"):
            assert one.totals([name], TARGET[per])[0] == pytest.approx(expected.sum(1), rel=1e-12, abs=1e-10)
    if not per.startswith("judge"):
        return
    for one in (looked_up, plain):
        monkeypatch.setattr(level_cube, "MOST_HELD", 120)
        monkeypatch.setattr(features, "MOST_HELD", 120)
        parts = [part.get(name, TARGET[per]) for part in one.blocks()]
        assert len(parts) > 2
        np.testing.assert_array_equal(np.concatenate(parts), expected)


def test_the_ratings_of_all_cells_are_there_when_asked_for():
    pools, ratings, constants, others = world()
    looked_up = LevelFeatures(pools, LevelCube.of(ratings), others, constants=constants)
    np.testing.assert_array_equal(looked_up.ratings, np.concatenate([ratings[..., None], others]))
    looked_up.get("rated", (0,))
    looked_up.forget()
    alone = LevelFeatures(pools, LevelCube.of(ratings))
    np.testing.assert_array_equal(alone.answered, ~np.isnan(ratings))
