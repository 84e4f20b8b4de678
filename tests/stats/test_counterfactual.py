"""The split of T and delta against plain loops and the slow prototype."""

from __future__ import annotations

from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm
from tests.stats.cells import LEVELS, Corpus, corpus, oracle

from voirdire.stats.counterfactual import PARTS, PLAYERS, Outcomes, split
from voirdire.stats.decomposition import expanded_cuts

VALUES = np.array(LEVELS)


@pytest.fixture(scope="module")
def c() -> Corpus:
    return corpus(7, share=0.3)


@pytest.fixture(scope="module")
def judges(c: Corpus) -> np.ndarray:
    """(3, I): oriented and permissive; compressed with a dislike; with missing ratings and an unused level."""
    rng = np.random.default_rng(8)
    first = c.ratings(rng, weights=(0.2, 0.8), permissiveness=0.5, image={"cn": 0.3})
    second = c.ratings(rng, scale=0.4, image={"cn": -0.5}, noise=0.7)
    third = np.where(first == 3, 4.0, first)
    third[::7] = np.nan
    return np.stack([first, second, third])


def slices_of(c: Corpus) -> np.ndarray:
    return np.stack([np.ones(len(c.x)), c.image, np.zeros(len(c.x))])


def split_of(c: Corpus, ratings: np.ndarray, min_gap: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """(6, C, S) parts of T and of delta."""
    fits, _ = c.fit(ratings)
    outcomes = Outcomes.of(c.pools.mean[0], c.pools.mean[1], VALUES, min_gap)
    n_slices = 3
    tilt, delta = (np.full((len(PARTS), len(ratings), n_slices), np.nan) for _ in range(2))
    for part in fits.parts:
        given = ratings[part.cells]
        answered = (~np.isnan(given)).astype(float)
        place = np.nan_to_num(given, nan=1).astype(int) - 1
        items = np.arange(len(c.x))
        seen = tuple(table[items, place] * answered for table in (outcomes.tilt, outcomes.delta))
        found = split(expanded_cuts(part), part.fit.slopes, c.x, outcomes, (seen[0], seen[1]), answered, slices_of(c))
        tilt[:, part.cells], delta[:, part.cells] = found
    return tilt, delta


def plain_worth(c: Corpus, ratings: np.ndarray, mask: np.ndarray, members: tuple[str, ...]) -> tuple[float, float]:
    """T and delta that the fitted judge would have with these players, item by item and level by level."""
    fits, _ = c.fit(ratings[None])
    slopes, cuts = fits.slopes[0], [-np.inf, *expanded_cuts(fits.parts[0])[0], np.inf]
    half = (slopes[0] + slopes[1]) / 2
    tilts, deltas = [], []
    for i in np.flatnonzero(mask & ~np.isnan(ratings)):
        a, b, lead, image = c.x[i]
        own = slopes[:2] if "orientation" in members else (half, half)
        latent = own[0] * a + own[1] * b
        latent += slopes[2] * lead if "permissiveness" in members else 0.0
        latent += slopes[3] * image if "image" in members else 0.0
        us, cn = c.pools.mean[:, i]
        chance = [norm.cdf(high - latent) - norm.cdf(low - latent) for low, high in pairwise(cuts)]
        deltas.append(sum(p * (abs(r - us) - abs(r - cn)) for p, r in zip(chance, LEVELS, strict=True)))
        if abs(us - cn) > 1e-9:
            place = [np.clip((2 * r - us - cn) / (us - cn), -1, 1) for r in LEVELS]
            tilts.append(sum(p * t for p, t in zip(chance, place, strict=True)))
    return float(np.mean(tilts)), float(np.mean(deltas))


@pytest.mark.parametrize("judge", [0, 1, 2])
def test_parts_equal_averages_over_all_orders(c: Corpus, judges: np.ndarray, judge: int) -> None:
    mask = c.image == 1
    found = [which[:, judge, 1] for which in split_of(c, judges)]
    worth = {
        members: plain_worth(c, judges[judge], mask, members)
        for n in range(4)
        for members in permutations(sorted(PLAYERS), n)
        if list(members) == sorted(members)
    }
    for which in (0, 1):
        assert found[which][0] == pytest.approx(worth[()][which], abs=1e-9)
        for place, player in enumerate(PLAYERS):
            gains = []
            for order in permutations(PLAYERS):
                before = order[: order.index(player)]
                after = tuple(sorted((*before, player)))
                gains.append(worth[after][which] - worth[tuple(sorted(before))][which])
            assert found[which][1 + place] == pytest.approx(np.mean(gains), abs=1e-9)


def test_parts_add_up_to_what_was_observed(c: Corpus, judges: np.ndarray) -> None:
    for min_gap in (0.0, 0.5):
        for found in split_of(c, judges, min_gap):
            assert found[:5].sum(0)[:, :2] == pytest.approx(found[5, :, :2], abs=1e-12)
            assert np.isnan(found[:, :, 2]).all()


def test_observed_is_the_mean_of_the_definition(c: Corpus, judges: np.ndarray) -> None:
    tilt, delta = split_of(c, judges)
    us, cn = c.pools.mean
    apart = np.abs(us - cn) > 1e-9
    position = np.clip((2 * judges[:, apart] - us[apart] - cn[apart]) / (us[apart] - cn[apart]), -1, 1)
    assert tilt[5, :, 0] == pytest.approx(np.nanmean(position, axis=1))
    assert delta[5, :, 0] == pytest.approx(np.nanmean(np.abs(judges - us) - np.abs(judges - cn), axis=1))


def test_the_model_reproduces_what_was_observed_nearly(c: Corpus, judges: np.ndarray) -> None:
    tilt, delta = split_of(c, judges)
    assert np.abs(tilt[4, :, 0]).max() < 0.08
    assert np.abs(delta[4, :, 0]).max() < 0.2


def test_swapping_the_pools_turns_every_sign(c: Corpus, judges: np.ndarray) -> None:
    fits, _ = c.fit(judges[:2])
    part = fits.parts[0]
    turn = [1, 0, 2, 3]
    found = []
    for order in ([0, 1], [1, 0]):
        outcomes = Outcomes.of(*c.pools.mean[order], VALUES)
        columns = turn if order == [1, 0] else [0, 1, 2, 3]
        seen = np.zeros((2, len(c.x)))
        slopes, x = part.fit.slopes[:, columns], c.x[:, columns]
        found.append(np.stack(split(expanded_cuts(part), slopes, x, outcomes, (seen, seen), seen + 1, slices_of(c))))
    assert found[1][:, :4, :, :2] == pytest.approx(-found[0][:, :4, :, :2], abs=1e-12)


def test_a_neutral_plain_judge_is_all_base(c: Corpus, judges: np.ndarray) -> None:
    fits, _ = c.fit(judges[:2])
    part = fits.parts[0]
    slopes = part.fit.slopes * [1, 0, 0, 0] + part.fit.slopes * [1, 0, 0, 0] @ np.eye(4, k=1)
    zero = np.zeros((2, len(c.x)))
    outcomes = Outcomes.of(*c.pools.mean, VALUES)
    for found in split(expanded_cuts(part), slopes, c.x, outcomes, (zero, zero), zero + 1, slices_of(c)):
        assert found[1:4, :, :2] == pytest.approx(0, abs=1e-12)


def test_each_player_owns_what_it_alone_does(c: Corpus, judges: np.ndarray) -> None:
    fits, _ = c.fit(judges[:1])
    part = fits.parts[0]
    zero = np.zeros((1, len(c.x)))
    outcomes = Outcomes.of(*c.pools.mean, VALUES)
    for player, slopes in enumerate(([0.5, 0.5, 0, 0.4], [0.5, 0.5, 0.6, 0], [0.1, 0.9, 0, 0])):
        for found in split(
            expanded_cuts(part), np.array([slopes]), c.x, outcomes, (zero, zero), zero + 1, slices_of(c)
        ):
            moved = np.abs(found[1:4, 0, 1]) > 1e-9
            assert moved.tolist() == [place == player for place in range(3)]


def test_pools_of_one_mind_have_no_t_but_a_delta_of_0() -> None:
    same = np.array([2.0, 3.5, 4.0])
    outcomes = Outcomes.of(same, same, VALUES)
    assert not outcomes.tilted.any()
    x, zero = np.zeros((3, 4)), np.zeros((1, 3))
    cuts = np.array([[-1.0, 0.0, 1.0, 2.0]])
    tilt, delta = split(cuts, np.ones((1, 4)), x, outcomes, (zero, zero), zero + 1, np.ones((1, 3)))
    assert np.isnan(tilt).all()
    assert delta == pytest.approx(0)


def test_one_item_equals_its_expectation() -> None:
    outcomes = Outcomes.of(np.array([5.0]), np.array([1.0]), VALUES)
    cuts, one = np.array([[-1.5, -0.5, 0.5, 1.5]]), np.ones((1, 1))
    observed = (np.array([[1.0]]), np.array([[-4.0]]))
    tilt, _ = split(cuts, np.array([[0.0, 0, 0, 0]]), np.zeros((1, 4)), outcomes, observed, one, one)
    assert tilt[:, 0, 0] == pytest.approx([0, 0, 0, 0, 1, 1], abs=1e-12)


def test_base_and_whole_equal_the_prototype(shared_data: Path, c: Corpus, judges: np.ndarray) -> None:
    decomp = oracle(shared_data)
    posterior = c.shrinkage.posterior()
    post, gap = posterior.mean.T, posterior.expected_gap(0, 1)
    culture, mask = c.image.astype(float), c.image == 1
    fit = decomp.cumlink(judges[0], decomp._design(*post.T, gap), culture)
    steps = decomp.split_cumlink(fit, post, gap, *c.pools.mean, mask, culture)
    for which, found in enumerate(split_of(c, judges)):
        base, whole = found[0, 0, 1], found[:4, 0, 1].sum()
        assert base == pytest.approx(steps[0][which], abs=0.01)
        assert whole == pytest.approx(steps[3][which], abs=0.01)
