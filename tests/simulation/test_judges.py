"""Judges: each part of the planted truth does what it says, and nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.errors import UsageError
from voirdire.scales import Scale
from voirdire.simulation.judges import (
    Character,
    Condition,
    blend,
    character_names,
    judge_items,
    named_character,
    planted,
)
from voirdire.simulation.presets import paper_grid, paper_world
from voirdire.simulation.world import FIVE, draw_humans, draw_judges

POOLS = ("us", "cn")
CONSENSUS = np.array([[1.0, 5.0], [2.0, 3.0], [4.0, 4.0], [5.0, 1.0]])
CULTURES = np.array(["us", "us", "cn", "cn"])


def rated(character, consensus=CONSENSUS, scale=FIVE, seed=1):
    cultures = np.resize(CULTURES, len(consensus))
    return judge_items(consensus, cultures, character, scale, np.random.default_rng(seed))[0]


def test_a_noiseless_faithful_judge_gives_the_midpoint_rounded_up():
    assert rated(Character(noise=0.0)).tolist() == [3, 3, 4, 3]


def test_a_copy_gives_the_rounded_consensus_of_its_pool():
    assert rated(named_character("copy:cn", POOLS, FIVE)).tolist() == [5, 3, 4, 1]
    assert rated(named_character("copy", POOLS, FIVE)).tolist() == [1, 2, 4, 5]


def test_full_permissiveness_follows_the_higher_pool():
    np.testing.assert_array_equal(blend(CONSENSUS, (0.5, 0.5), 1.0), CONSENSUS.max(axis=1))
    three = np.array([[1.0, 2.0, 6.0]])
    np.testing.assert_allclose(blend(three, (1 / 3, 1 / 3, 1 / 3), 1.0), [6.0])


def test_compression_pulls_towards_the_center_without_moving_it():
    compressed = rated(Character(scale=0.0, noise=0.0))
    assert compressed.tolist() == [4, 4, 4, 4]
    assert rated(Character(scale=0.0, noise=0.0, center=2.0, offset=1.0)).tolist() == [3, 3, 3, 3]


def test_hard_ends_bound_the_ratings():
    assert rated(Character(weights=(1.0, 0.0), noise=0.0, floor=3.0)).tolist() == [3, 3, 4, 5]
    assert rated(Character(weights=(1.0, 0.0), noise=0.0, ceiling=2.0)).tolist() == [1, 2, 2, 2]


def test_an_image_effect_moves_only_its_culture():
    plain, moved = rated(Character(noise=0.0)), rated(Character(noise=0.0, image={"cn": -1.0}))
    assert (moved - plain).tolist() == [0, 0, -1, -1]


def test_missing_judgments_come_at_their_planted_shares_and_have_no_rating():
    consensus = np.full((20_000, 2), 3.0)
    character = Character(malformed=0.1, refused=0.05)
    cultures = np.resize(CULTURES, len(consensus))
    ratings, status = judge_items(consensus, cultures, character, FIVE, np.random.default_rng(0))
    assert (status == 1).mean() == pytest.approx(0.1, abs=0.01)
    assert (status == 2).mean() == pytest.approx(0.05, abs=0.01)
    np.testing.assert_array_equal(np.isnan(ratings), status != 0)


def test_a_random_judge_ignores_the_pools():
    high, low = rated(Character(uniform=True), np.full((5000, 2), 5.0)), rated(Character(uniform=True), CONSENSUS)
    assert set(high) == {1, 2, 3, 4, 5}
    assert high.mean() == pytest.approx(3, abs=0.1)
    assert len(low) == 4


def test_a_persona_moves_weight_between_the_pools_only():
    moved = planted(Character(), Condition("us", pull={"us": 0.3}, offset=-0.2, scale=0.5), POOLS)
    assert moved.weights == (0.8, 0.2)
    assert (moved.offset, moved.scale) == (-0.2, 0.5)
    three = planted(Character(), Condition("in", pull={"in": 0.2}), ("us", "cn", "in"))
    np.testing.assert_allclose(three.weights, (1 / 3 - 0.1, 1 / 3 - 0.1, 1 / 3 + 0.2))


@given(st.sampled_from(POOLS), st.floats(-0.9, 0.9))
def test_weights_always_add_up_to_one(pool, amount):
    assert sum(planted(Character(), Condition("x", pull={pool: amount}), POOLS).weights) == pytest.approx(1)


@pytest.mark.parametrize("pools", [("us",), POOLS, ("us", "cn", "in")])
@pytest.mark.parametrize("scale", [FIVE, Scale("nominal", labels=("n", "y"), positive="y"), Scale("interval", 0, 10)])
def test_every_named_character_rates_on_the_scale(pools, scale):
    consensus = np.random.default_rng(0).uniform(0.0, 1.0, (40, len(pools))) + (scale.low or 0)
    low, high = (0, 1) if scale.binary else (scale.low, scale.high)
    known = [name for name in character_names(pools) if len(pools) > 1 or name != "oriented_b"]
    for name in known:
        ratings = rated(named_character(name, pools, scale), consensus, scale)
        assert ratings.min() >= low
        assert ratings.max() <= high


def test_a_pool_whose_name_is_a_letter_wins_over_the_place():
    assert named_character("oriented_a", ("b", "a"), FIVE).weights == (0.2, 0.8)
    assert named_character("oriented_a", ("us", "cn"), FIVE).weights == (0.8, 0.2)


@pytest.mark.parametrize(
    "text", ["saint", "constant:x", "constant:9", "copy:mars", "compressed:2", "oriented_mars", ""]
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_unknown_character_is_refused_with_what_is_known(text, lang):
    with pytest.raises(UsageError) as caught:
        named_character(text, POOLS, FIVE)
    message = caught.value.message(lang)
    assert text.partition(":")[2] in message
    assert ("compressed" in message) or ("5" in message)


def test_a_repeated_draw_is_equal_and_another_seed_is_not():
    world = paper_world({"a": "faithful_neutral"})

    def draw(seed):
        generator = np.random.default_rng(seed)
        return draw_judges(draw_humans(world, generator), generator).ratings

    np.testing.assert_array_equal(draw(1), draw(1))
    assert (draw(1) != draw(2)).mean() > 0.2


def test_shared_item_noise_correlates_judges():
    generator = np.random.default_rng(0)
    humans = draw_humans(paper_grid(), generator)
    ratings = draw_judges(humans, generator).ratings[:, 0, 0]
    left = ratings - humans.expected.mean(axis=1)
    assert np.corrcoef(left)[np.triu_indices(6, 1)].min() > 0.2


PLANTED = {
    "faithful_neutral": (Character(), 0.02, -0.01),
    "compression": (Character(scale=0.3), -0.31, 0.74),
    "compression, higher floor": (Character(scale=0.3, offset=0.3), -0.37, 1.01),
    "compression, oriented to us": (Character(scale=0.4, weights=(0.75, 0.25)), -0.16, 0.39),
    "hard floor": (Character(floor=3.0), -0.12, 0.35),
    "permissive": (Character(permissiveness=0.8), -0.38, 1.25),
    "oriented to cn": (Character(weights=(0.2, 0.8)), -0.38, 1.06),
    "oriented to us": (Character(weights=(0.8, 0.2)), 0.42, -1.06),
}


@pytest.mark.slow
def test_planted_judges_tilt_on_second_culture_imagery_as_an_independent_study_found():
    """Mean T and delta over draws of the paper-like design, near the figures of another simulator."""
    world = paper_world({name: character for name, (character, _, _) in PLANTED.items()})
    generator = np.random.default_rng(11)
    draws = []
    for _ in range(20):
        humans = draw_humans(world, generator)
        a, b = humans.consensus()
        there, apart = humans.cultures == "cn", np.abs(a - b) > 1e-9
        ratings = draw_judges(humans, generator).ratings[:, 0, 0]
        near = np.abs(ratings - b) - np.abs(ratings - a)
        draws.append([(near / np.where(apart, np.abs(a - b), 1))[:, there & apart].mean(1), -near[:, there].mean(1)])
    tilt, delta = np.mean(draws, axis=0)
    np.testing.assert_allclose(tilt, [row[1] for row in PLANTED.values()], atol=0.07)
    np.testing.assert_allclose(delta, [row[2] for row in PLANTED.values()], atol=0.15)
