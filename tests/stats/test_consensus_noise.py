"""Empirical-Bayes consensuses against a plain loop, the slow prototype and planted values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.stats.cells import CUTS, corpus, oracle, pool_arrays

from voirdire.stats.consensus_noise import FLOOR, Posterior, Shrinkage, expected_absolute, merge_small
from voirdire.stats.features import PoolArrays, ScaleCuts


def blocks(rng: np.random.Generator, items: int = 90, counts: tuple[int, int] = (2, 7)) -> tuple[np.ndarray, ...]:
    """Two pools of ``counts`` raters a item, about a third of the ratings missing, the first never."""
    truth = rng.normal(3, 1, (items, 2)) + rng.normal(0, 0.5, (items, 1))
    made = []
    for k, most in enumerate(counts):
        block = np.clip(np.rint(truth[:, k, None] + rng.normal(0, 0.8, (items, most))), 1, 5)
        block[:, 1:][rng.random((items, most - 1)) < 0.35] = np.nan
        made.append(block)
    return tuple(made)


def plain_posterior(
    ratings: tuple[np.ndarray, ...], strata: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Means (K, I) and covariances (I, K, K), written from the definitions, an item at a time."""
    k, items = len(ratings), len(strata)
    mean = np.array([[np.nanmean(row) for row in block] for block in ratings])
    n = np.array([[np.sum(~np.isnan(row)) for row in block] for block in ratings])
    post, covariance = mean.copy(), np.zeros((items, k, k))
    for stratum in set(strata.tolist()):
        here = [i for i in range(items) if strata[i] == stratum]
        noise = np.zeros((k, items))
        for p in range(k):
            twice = [i for i in here if n[p, i] > 1]
            used = twice if len(twice) >= 20 else [i for i in range(items) if n[p, i] > 1]
            squares = sum(w[i] * np.nansum((ratings[p][i] - mean[p, i]) ** 2) for i in used)
            noise[p] = squares / sum(w[i] * (n[p, i] - 1) for i in used) / n[p]
        total = sum(w[i] for i in here)
        center = sum(w[i] * mean[:, i] for i in here) / total
        observed = sum(w[i] * np.outer(mean[:, i] - center, mean[:, i] - center) for i in here) / (total - 1)
        between = observed - np.diag(sum(w[i] * noise[:, i] for i in here) / total)
        values, vectors = np.linalg.eigh(between)
        between = vectors @ np.diag(np.maximum(values, FLOOR)) @ vectors.T
        for i in here:
            gain = between @ np.linalg.inv(between + np.diag(noise[:, i]))
            post[:, i] = center + gain @ (mean[:, i] - center)
            covariance[i] = between - gain @ between
    return post, covariance


@given(st.integers(0, 10_000), st.booleans())
def test_unequal_raters_equal_a_plain_loop(seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    ratings, strata = blocks(rng), rng.integers(0, 2, 90)
    w = rng.integers(0, 4, 90).astype(float) if weighted else np.ones(90)
    found = Shrinkage.of(pool_arrays(ratings), strata).posterior(w if weighted else None)
    mean, covariance = plain_posterior(ratings, strata, w)
    assert found.mean == pytest.approx(mean, abs=1e-9)
    assert found.covariance == pytest.approx(covariance, abs=1e-9)


def test_equal_raters_equal_the_prototype(shared_data: Path) -> None:
    c = corpus(1, share=1.0)
    ratings = np.stack(c.humans.ratings["q1"], axis=1)
    post, gap = oracle(shared_data).regression_calibration(ratings, c.humans.strata)
    found = c.shrinkage.posterior()
    assert found.mean == pytest.approx(post.T, abs=1e-12)
    assert found.expected_gap(0, 1) == pytest.approx(gap, abs=1e-9)


def test_it_comes_nearer_the_planted_consensus() -> None:
    c = corpus(2, share=1.0)
    for k, truth in enumerate(c.humans.expected.T):
        raw, shrunk = (np.mean((mean - truth) ** 2) for mean in (c.pools.mean[k], c.shrinkage.posterior().mean[k]))
        assert shrunk < raw


def test_integer_weights_equal_repeated_items() -> None:
    rng = np.random.default_rng(3)
    ratings, strata, times = blocks(rng), rng.integers(0, 2, 90), rng.integers(1, 4, 90)
    one = Shrinkage.of(pool_arrays(ratings), strata).posterior(times.astype(float))
    repeated = tuple(np.repeat(block, times, axis=0) for block in ratings)
    other = Shrinkage.of(pool_arrays(repeated), np.repeat(strata, times)).posterior()
    assert np.repeat(one.mean, times, axis=1) == pytest.approx(other.mean, abs=1e-9)


@given(st.integers(0, 10_000))
def test_order_of_items_and_of_pools_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ratings, strata, order = blocks(rng), rng.integers(0, 3, 90), rng.permutation(90)
    found = Shrinkage.of(pool_arrays(ratings), strata).posterior()
    moved = Shrinkage.of(pool_arrays(tuple(b[order] for b in ratings[::-1])), strata[order]).posterior()
    assert moved.mean == pytest.approx(found.mean[::-1, order], abs=1e-9)
    assert moved.covariance == pytest.approx(found.covariance[order][:, ::-1, ::-1], abs=1e-9)


def test_a_pool_without_repeated_raters_is_left_as_it_is() -> None:
    rng = np.random.default_rng(4)
    first, second = blocks(rng)
    shrinkage = Shrinkage.of(pool_arrays((first, second[:, :1])), np.zeros(90, dtype=int))
    assert shrinkage.corrected.tolist() == [True, False]
    found = shrinkage.posterior()
    assert found.mean[1] == pytest.approx(second[:, 0])
    assert np.abs(found.mean[0] - shrinkage.mean[0]).max() > 0.05


def test_without_correction_the_means_stay() -> None:
    pools = pool_arrays(blocks(np.random.default_rng(5)))
    found = Shrinkage.of(pools, np.zeros(90, dtype=int), correct=False).posterior()
    assert found.mean == pytest.approx(pools.mean)
    assert found.covariance == pytest.approx(0, abs=1e-12)


def test_one_item_and_a_stratum_that_was_not_drawn_keep_their_means() -> None:
    pools = pool_arrays(blocks(np.random.default_rng(6), items=1))
    assert Shrinkage.of(pools, np.zeros(1, dtype=int)).posterior().mean == pytest.approx(pools.mean)
    many = pool_arrays(blocks(np.random.default_rng(6)))
    strata = np.repeat([0, 1], 45)
    found = Shrinkage.of(many, strata).posterior(np.where(strata == 0, 1.0, 0.0))
    assert found.mean[:, strata == 1] == pytest.approx(many.mean[:, strata == 1])


def test_the_unit_of_the_scale_does_not_matter() -> None:
    ratings = blocks(np.random.default_rng(7))
    wide = tuple(block * 25 for block in ratings)
    strata = np.zeros(90, dtype=int)
    found = Shrinkage.of(pool_arrays(ratings), strata).posterior()
    other = Shrinkage.of(pool_arrays(wide, ScaleCuts(25, 125, ())), strata).posterior()
    assert other.mean == pytest.approx(25 * found.mean, rel=1e-9)


def test_pools_of_one_mind_keep_a_covariance_above_the_floor() -> None:
    rng = np.random.default_rng(8)
    one = np.clip(np.rint(rng.normal(3, 1, (90, 1)) + rng.normal(0, 0.8, (90, 5))), 1, 5)
    found = Shrinkage.of(pool_arrays((one, one[:, ::-1])), np.zeros(90, dtype=int)).posterior()
    assert found.mean[0] == pytest.approx(found.mean[1], abs=1e-9)
    assert (np.linalg.eigvalsh(found.covariance) > 0).all()


def random_posterior(k: int, seed: int, items: int = 40) -> Posterior:
    rng = np.random.default_rng(seed)
    root = rng.normal(0, 0.4 / np.sqrt(k), (items, k, k))
    return Posterior(rng.normal(3, 0.7, (k, items)), root @ root.transpose(0, 2, 1) + 0.02 * np.eye(k))


def test_lead_of_two_pools_is_half_the_expected_gap() -> None:
    found = random_posterior(2, 0)
    assert found.expected_lead() == pytest.approx(found.expected_gap(0, 1) / 2, abs=1e-9)


@pytest.mark.parametrize(("k", "most", "average"), [(2, 0.006, 0.002), (3, 0.03, 0.006), (5, 0.03, 0.01)])
def test_lead_against_draws(k: int, most: float, average: float) -> None:
    """Clark's error, of posteriors with sds of 0.3 to 0.6 scale steps: none of two pools, under 0.03 of five."""
    found = random_posterior(k, k)
    normal = np.random.default_rng(1).standard_normal((k, 60_000))
    root = np.linalg.cholesky(found.covariance)
    errors = []
    for i in range(40):
        drawn = found.mean[:, [i]] + root[i] @ normal
        errors.append(abs(found.expected_lead()[i] - (drawn.max(0) - drawn.mean(0)).mean()))
    assert max(errors) < most
    assert np.mean(errors) < average


def test_lead_hardly_depends_on_the_order_of_five_pools() -> None:
    found = random_posterior(5, 9)
    turned = Posterior(found.mean[::-1], found.covariance[:, ::-1, ::-1])
    assert np.abs(turned.expected_lead() - found.expected_lead()).max() < 0.03


def test_lead_without_noise_is_the_highest_less_the_mean() -> None:
    mean = np.array([[1.0, 4.0], [3.0, 2.0], [2.0, 3.0]])
    found = Posterior(mean, np.zeros((2, 3, 3))).expected_lead()
    assert found == pytest.approx([1.0, 1.0], abs=1e-5)


def test_expected_absolute_against_draws() -> None:
    draws = np.random.default_rng(2).standard_normal(400_000)
    for mean, variance in ((0.3, 0.5), (-1.0, 0.2), (0.0, 2.0)):
        expected = np.abs(mean + np.sqrt(variance) * draws).mean()
        assert expected_absolute(np.array([mean]), np.array([variance]))[0] == pytest.approx(expected, abs=0.006)


def test_small_strata_are_merged() -> None:
    codes = np.repeat([0, 1, 2, 3], [40, 30, 5, 4])
    assert np.bincount(merge_small(codes, 8)).tolist() == [40, 30, 9]
    assert sorted(np.bincount(merge_small(codes, 14)).tolist()) == [39, 40]
    assert np.bincount(merge_small(codes, 100)).tolist() == [79]
    assert merge_small(np.zeros(0, dtype=np.int64), 5).size == 0


def test_strata_under_10_and_twice_the_pools_are_merged() -> None:
    pools = PoolArrays.of(np.full((3, 46), 3.0))
    strata = np.repeat([0, 1, 2], [15, 15, 16])
    assert Shrinkage.of(pools, strata).n_strata == 2
    assert CUTS.levels == pools.scale.levels
