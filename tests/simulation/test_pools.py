"""Pools: latent opinions, raters and what their ratings are expected to be."""

from dataclasses import replace

import numpy as np
import pytest

from voirdire.scales import Scale
from voirdire.simulation.pools import (
    RaterPool,
    Stratum,
    draw_latent,
    draw_severities,
    draw_utilities,
    expected_rating,
    rate,
    rate_nominal,
)
from voirdire.simulation.presets import paired_world
from voirdire.simulation.world import FIVE, SideQuestion, draw_humans

BINARY = Scale("nominal", labels=("no", "yes"), positive="yes")


def rng(seed=5):
    return np.random.default_rng(seed)


def test_latent_opinions_have_the_planted_moments():
    stratum = Stratum("us", "food", 40_000, (4.0, 2.0, 3.0), (0.5, 1.0, 2.0), correlation=-0.3)
    latent = draw_latent([stratum], FIVE, rng())
    np.testing.assert_allclose(latent.mean(axis=0), stratum.means, atol=0.05)
    np.testing.assert_allclose(latent.std(axis=0), stratum.sds, rtol=0.02)
    correlations = np.corrcoef(latent.T)[np.triu_indices(3, 1)]
    np.testing.assert_allclose(correlations, -0.3, atol=0.02)


def test_a_shared_low_share_is_poor_for_every_pool():
    latent = draw_latent([Stratum("us", "food", 20_000, (5.0, 5.0), (0.1, 0.1), shared_low=0.25)], FIVE, rng())
    poor = (latent < 3).all(axis=1)
    assert poor.mean() == pytest.approx(0.25, abs=0.02)
    assert ((latent < 3).any(axis=1) == poor).mean() > 0.999


@pytest.mark.parametrize("layout", ["crossed", "nested", "slots"])
@pytest.mark.parametrize("scale", [FIVE, BINARY, Scale("interval", 0, 10)])
def test_the_expected_rating_is_the_mean_of_many_ratings(layout, scale):
    pool = RaterPool("us", raters=3, noise=0.7, severity_sd=0.5, layout=layout)
    levels = np.repeat([-0.5, 0.4, 1.8, 4.2], 20_000)
    severities = draw_severities(pool, len(levels), rng())
    ratings = rate(levels, severities, pool, scale, rng(6))
    seen = ratings.mean(axis=1).reshape(4, -1).mean(axis=1)
    planted = expected_rating(np.array([-0.5, 0.4, 1.8, 4.2]), pool, severities, scale)
    np.testing.assert_allclose(seen, planted, atol=0.02)


def test_crossed_raters_keep_their_severity_and_nested_ones_do_not():
    crossed = draw_severities(RaterPool("us", raters=4), 50, rng())
    nested = draw_severities(RaterPool("us", raters=4, layout="nested"), 50, rng())
    assert np.ptp(crossed, axis=0).max() == 0
    assert np.ptp(nested, axis=0).min() > 0


def test_a_share_leaves_ratings_out_at_random():
    pool = RaterPool("us", raters=20, share=0.25)
    ratings = rate(np.full(2000, 3.0), draw_severities(pool, 2000, rng()), pool, FIVE, rng(1))
    assert (~np.isnan(ratings)).mean() == pytest.approx(0.25, abs=0.01)


def test_a_rater_who_was_not_asked_answers_no_question():
    world = paired_world(items=24)
    world = replace(world, pools=tuple(replace(pool, raters=8, share=0.5) for pool in world.pools))
    humans = draw_humans(world, rng())
    for p in range(2):
        missing = [np.isnan(humans.ratings[question][p]) for question in ("q1", "q2", "q3", "q4")]
        assert missing[0].any()
        assert all((part == missing[0]).all() for part in missing)


def test_consensus_of_an_item_without_ratings_is_missing():
    world = paired_world(items=60, raters=1)
    world = replace(world, pools=tuple(replace(pool, share=0.5) for pool in world.pools))
    humans = draw_humans(world, rng())
    consensus = humans.consensus()
    assert consensus.shape == (2, 60)
    np.testing.assert_array_equal(np.isnan(consensus[0]), np.isnan(humans.ratings["q1"][0][:, 0]))
    assert np.isnan(consensus).any()


def test_nominal_shares_are_the_softmax_of_the_utilities():
    utilities = np.tile([0.0, 1.0, 2.0], (1, 1))
    codes = rate_nominal(utilities, 60_000, rng())
    shares = np.bincount(codes.ravel().astype(int), minlength=3) / codes.size
    np.testing.assert_allclose(shares, np.exp(utilities[0]) / np.exp(utilities[0]).sum(), atol=0.01)


def test_full_agreement_on_a_nominal_question_gives_equal_utilities():
    drawn = draw_utilities(7, 3, 2, 1.0, rng())
    np.testing.assert_array_equal(drawn[0], drawn[1])
    apart = draw_utilities(4000, 3, 2, 0.0, rng())
    assert abs(np.corrcoef(apart[0].ravel(), apart[1].ravel())[0, 1]) < 0.05


def test_less_recognizable_items_are_those_that_split_the_pools():
    means = {pool: {"us": 3.0, "cn": 3.0} for pool in ("us", "cn")}
    side = SideQuestion("q4", "recognizability", means=means, item_sd=0.8, gap_loading=0.9)
    world = replace(paired_world(items=3000), side=(side,))
    humans = draw_humans(world, rng())
    gap = np.abs(humans.expected[:, 0] - humans.expected[:, 1])
    known = humans.consensus("q4").mean(axis=0)
    assert np.corrcoef(gap, known)[0, 1] < -0.5


@pytest.mark.parametrize("wrong", [{"layout": "square"}, {"raters": 0}, {"share": 0}, {"severities": (0.1,)}])
def test_an_impossible_pool_is_refused(wrong):
    with pytest.raises(ValueError, match="rater"):
        RaterPool("us", **wrong)


def test_a_scale_without_ends_cannot_be_simulated():
    with pytest.raises(ValueError, match="ends"):
        draw_latent([Stratum("us", "food", 3, (1.0,), (1.0,))], Scale("ratio"), rng())
