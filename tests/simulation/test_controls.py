"""Control judges: names, levels, ties and missing consensuses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.scales import Scale
from voirdire.simulation.controls import control_judges, permute_ratings, round_to_level

FIVE = Scale("ordinal", 1, 5)
BINARY = Scale("nominal", labels=("no", "yes"), positive="yes")
NOMINAL = Scale("nominal", labels=("a", "b", "tie"))


def made(consensus, pools, scale=FIVE, **options):
    return control_judges(consensus, pools, scale, np.random.default_rng(3), **options)


def test_the_names_of_an_ordinal_question():
    names = set(made([[1.0, 2.0], [3.0, 4.0]], ["us", "cn"]))
    constants = {f"control:constant_{level}" for level in range(1, 6)}
    copies = {f"control:copy_{pool}{end}" for pool in ("us", "cn") for end in ("", "_rounded")}
    midpoints = {"control:midpoint_us_cn", "control:midpoint_us_cn_rounded"}
    assert names == constants | copies | midpoints | {"control:random"}


def test_three_pools_have_three_midpoints_or_those_asked_for():
    consensus = np.full((3, 4), 2.0)
    names = made(consensus, ["us", "cn", "in"])
    assert sum("midpoint" in name and "rounded" not in name for name in names) == 3
    chosen = made(consensus, ["us", "cn", "in"], pairs=[("cn", "in")])
    assert [name for name in chosen if "midpoint" in name] == [
        "control:midpoint_cn_in",
        "control:midpoint_cn_in_rounded",
    ]


def test_missing_consensus_is_missing_only_where_it_is_needed():
    controls = made([[1.0, np.nan, 3.0], [np.nan, 2.0, 5.0]], ["us", "cn"])
    assert np.isnan(controls["control:copy_us"]).tolist() == [False, True, False]
    assert np.isnan(controls["control:midpoint_us_cn_rounded"]).tolist() == [True, True, False]
    assert not np.isnan(controls["control:constant_2"]).any()
    assert not np.isnan(controls["control:random"]).any()


def test_ties_go_to_the_higher_level_even_with_float_noise():
    assert round_to_level([1.5, 2.5, 4.4999, 0.1 + 0.2 + 1.2], FIVE).tolist() == [2, 3, 4, 2]
    fifths = sum([0.5, 0.5, 0.5]) / 3 + 1.0 - 1e-12
    assert round_to_level([fifths], FIVE).tolist() == [2]
    assert round_to_level([0.5, 0.49], BINARY).tolist() == [1, 0]


@given(st.lists(st.floats(1, 5), min_size=1, max_size=30))
def test_rounding_stays_on_the_scale_and_within_half_a_level(values):
    rounded = round_to_level(values, FIVE)
    assert set(rounded) <= set(FIVE.level_values)
    assert np.all(np.abs(rounded - values) <= 0.5 + 1e-8)


@given(st.lists(st.tuples(st.floats(1, 5), st.floats(1, 5)), min_size=1, max_size=20))
def test_the_exact_midpoint_is_equally_far_from_both_pools(pairs):
    consensus = np.array(pairs).T
    middle = made(consensus, ["a", "b"])["control:midpoint_a_b"]
    np.testing.assert_allclose(np.abs(middle - consensus[0]), np.abs(middle - consensus[1]), atol=1e-12)


def test_two_labels_have_constants_zero_and_one():
    controls = made([[0.5, 0.2]], ["us"], BINARY)
    assert {name for name in controls if "constant" in name} == {"control:constant_0", "control:constant_1"}
    assert controls["control:copy_us"].tolist() == [0.5, 0.2]
    assert controls["control:copy_us_rounded"].tolist() == [1, 0]


def test_nominal_copies_take_the_plurality_and_the_first_label_of_a_tie():
    shares = np.array([[[0.6, 0.4, 0.0], [0.5, 0.5, 0.0]], [[0.0, 0.2, 0.8], [np.nan] * 3]])
    controls = made(shares, ["us", "cn"], NOMINAL)
    assert {name for name in controls if "constant" in name} == {f"control:constant_{x}" for x in ("a", "b", "tie")}
    assert controls["control:copy_us_rounded"].tolist() == [0, 0]
    np.testing.assert_array_equal(controls["control:copy_cn_rounded"], [2, np.nan])
    np.testing.assert_array_equal(controls["control:midpoint_us_cn_rounded"], [2, np.nan])
    assert "control:copy_us" not in controls


def test_nominal_plurality_codes_are_copied():
    controls = made([[0.0, 2.0], [1.0, 1.0]], ["us", "cn"], NOMINAL)
    assert controls["control:copy_us_rounded"].tolist() == [0, 2]
    assert not any("midpoint" in name for name in controls)


def test_an_interval_scale_has_constants_at_quartiles_and_nothing_rounded():
    controls = made([[10.0, 90.0]], ["us"], Scale("interval", 0, 100))
    assert {name for name in controls if "constant" in name} == {
        f"control:constant_{level}" for level in (0, 25, 50, 75, 100)
    }
    assert not any("rounded" in name for name in controls)
    assert 0 <= controls["control:random"].min() <= controls["control:random"].max() <= 100


def test_a_scale_without_ends_takes_the_range_of_the_consensuses():
    controls = made([[2.0, np.nan, 6.0]], ["us"], Scale("ratio"))
    assert controls["control:constant_3"].tolist() == [3, 3, 3]
    assert set(made([[np.nan]], ["us"], Scale("ratio"))) == {
        "control:constant_0",
        "control:random",
        "control:copy_us",
    }


def test_the_random_judge_is_seeded_and_uses_every_level():
    consensus = np.ones((1, 2000))
    one, two = made(consensus, ["us"]), made(consensus, ["us"])
    np.testing.assert_array_equal(one["control:random"], two["control:random"])
    _, counts = np.unique(one["control:random"], return_counts=True)
    assert len(counts) == 5
    assert counts.min() > 300


def test_controls_do_not_share_memory_with_the_consensus():
    consensus = np.array([[1.0, 2.0]])
    made(consensus, ["us"])["control:copy_us"][0] = 9
    assert consensus[0, 0] == 1.0


def test_a_wrong_shape_is_refused():
    with pytest.raises(ValueError, match="consensus"):
        made([[1.0], [2.0]], ["us"])


@given(st.lists(st.one_of(st.floats(1, 5), st.just(float("nan"))), max_size=20), st.integers(0, 99))
def test_permuting_keeps_the_ratings_and_the_places_of_missing_ones(ratings, seed):
    shuffled = permute_ratings(ratings, np.random.default_rng(seed))
    given_ratings = np.array(ratings, dtype=float)
    np.testing.assert_array_equal(np.isnan(shuffled), np.isnan(given_ratings))
    np.testing.assert_array_equal(np.sort(shuffled), np.sort(given_ratings))
