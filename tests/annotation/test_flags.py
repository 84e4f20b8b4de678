"""Rules that point at careless work."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.annotation.simulated_raters import QUESTIONS, careful_pool, changed, clicked

from voirdire.annotation import flags as flags_module
from voirdire.annotation.flags import LEVEL, Record, at_least, by_chance, difference, flags, longest_run, run_bound
from voirdire.annotation.nouns import Asked, Option

ORDINAL = Asked("q", "buttons", low=1, high=5)
CHOICE = Asked("q", "choice", level="nominal", options=(Option("a"), Option("b"), Option("c")))


def _kinds(records, rater):
    return {flag.kind for flag in flags(records, QUESTIONS)[rater]}


def test_of_careful_raters_about_one_in_a_hundred_is_flagged_at_most():
    rng = np.random.default_rng(1)
    told = [found for _ in range(400) for found in flags(careful_pool(rng), QUESTIONS).values()]
    share = np.mean([bool(found) for found in told])
    assert len(told) == 2400
    assert share <= 0.013


@pytest.mark.parametrize("items", [12, 20, 200])
def test_careful_raters_of_short_and_long_batches_are_left_alone(items):
    rng = np.random.default_rng(items)
    told = [found for _ in range(150) for found in flags(careful_pool(rng, items=items), QUESTIONS).values()]
    assert np.mean([bool(found) for found in told]) <= 0.02


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("level", ["1", "3", "5"])
def test_a_rater_who_always_answers_the_same_is_found(seed, level):
    pool = careful_pool(np.random.default_rng(seed))
    lined = changed(pool, 2, answers={q.id: [level] * 40 for q in QUESTIONS})
    found = flags(lined, QUESTIONS)["us2"]
    assert "same_answer" in {flag.kind for flag in found}
    assert all(flag.numbers["share"] == 1 for flag in found if flag.kind == "same_answer")
    assert not any(flag.kind == "same_answer" for k in (0, 1, 3, 4, 5) for flag in flags(lined, QUESTIONS)[f"us{k}"])


@pytest.mark.parametrize("seed", range(5))
def test_a_rater_who_stops_looking_half_way_is_found_by_the_run(seed):
    pool = careful_pool(np.random.default_rng(seed))
    tired = {q.id: [*pool[1].answers[q.id][:20], *["3"] * 20] for q in QUESTIONS}
    assert "straight_line" in _kinds(changed(pool, 1, answers=tired), "us1")


@pytest.mark.parametrize("seed", range(5))
def test_a_rater_who_needs_a_fifth_of_the_others_time_is_found(seed):
    pool = careful_pool(np.random.default_rng(seed))
    typical = np.median([np.median(record.seconds) for record in pool[1:]])
    found = flags(changed(pool, 0, seconds=[typical / 5] * 40), QUESTIONS)["us0"]
    assert [flag.kind for flag in found if flag.kind == "speeding"] == ["speeding"]


def test_less_than_a_second_a_question_is_told_without_others():
    record = careful_pool(np.random.default_rng(0), raters=1)[0]
    assert _kinds(changed([record], 0, seconds=[3.9] * 10), "us0") == {"speeding"}
    assert _kinds(changed([record], 0, seconds=[4.1] * 10), "us0") == set()
    assert _kinds(changed([record], 0, seconds=[0.1] * 4), "us0") == set()


@pytest.mark.parametrize(
    ("failed", "asked", "told"), [(1, 1, False), (1, 3, False), (2, 2, True), (2, 3, True), (2, 4, False), (3, 4, True)]
)
def test_failed_items_with_known_answers_are_told_beyond_a_slip(failed, asked, told):
    record = careful_pool(np.random.default_rng(0), raters=1)[0]
    answers = [False] * failed + [True] * (asked - failed)
    assert ("gold" in _kinds(changed([record], 0, gold=answers), "us0")) == told


def test_most_of_those_who_click_at_random_disagree_with_themselves_and_are_told():
    rng = np.random.default_rng(5)
    told = sum("repeats" in _kinds(changed(careful_pool(rng), 0, **clicked(rng)), "us0") for _ in range(100))
    assert told >= 50


def test_raters_of_other_pools_change_nothing():
    rng = np.random.default_rng(2)
    us, cn = careful_pool(rng), careful_pool(rng, pool="cn")
    us = changed(us, 0, answers={q.id: ["5"] * 40 for q in QUESTIONS})
    alone, together = flags(us, QUESTIONS), flags([*cn, *us], QUESTIONS)
    assert {name: together[name] for name in alone} == alone


def test_free_texts_are_never_looked_at():
    pool = changed(careful_pool(np.random.default_rng(3)), 0, answers={q.id: ["5"] * 40 for q in QUESTIONS})
    texts = [Asked(q.id, "text") for q in QUESTIONS]
    assert not any(flag.kind in ("same_answer", "straight_line") for flag in flags(pool, texts)["us0"])


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=7), st.integers(1, 7))
def test_the_bound_on_runs_is_never_below_the_share_of_orders_with_such_a_run(answers, length):
    orders = list(permutations(answers))
    share = sum(longest_run(order) >= length for order in orders) / len(orders)
    bound = run_bound([answers.count(value) for value in set(answers)], length)
    assert share - 1e-12 <= bound <= 1


@given(st.integers(0, 30), st.integers(0, 30), st.floats(0.01, 0.99))
def test_the_binomial_tail_falls_from_one(k, n, p):
    assert at_least(0, n, p) == 1
    assert 0 <= at_least(k + 1, n, p) <= at_least(k, n, p) <= 1


@given(st.lists(st.sampled_from("12345"), min_size=2, max_size=40))
def test_chance_is_the_mean_over_all_pairs_of_answers(answers):
    pairs = [(a, b) for i, a in enumerate(answers) for j, b in enumerate(answers) if i != j]
    assert by_chance(ORDINAL, answers) == pytest.approx(np.mean([difference(ORDINAL, a, b) for a, b in pairs]))


def test_differences_know_scales_labels_and_what_does_not_apply():
    words = Asked("q", "buttons", options=(Option("low"), Option("mid"), Option("high")))
    assert difference(ORDINAL, "1", "5") == 1
    assert difference(ORDINAL, "3", "not_applicable") == 1
    assert difference(CHOICE, "a", "c") == difference(CHOICE, "a", "b") == 1
    assert difference(words, "low", "mid") == 0.5
    assert difference(CHOICE, "not_applicable", "not_applicable") == 0


@pytest.mark.parametrize("ends", [{}, {"low": 0.0}, {"high": 100.0}])
def test_typed_numbers_without_ends_are_asked_twice_and_compared_with_nothing(ends):
    years = Asked("years", "number", level="interval", **ends)
    twice = Record("a", "us", {"years": ["2", "3"] * 5}, repeats={"years": [("2", "3")] * 6})
    others = [replace(twice, rater=name, repeats={"years": [("2", "2")] * 6}) for name in "bcd"]
    assert flags([twice, *others], [years])["a"] == []


def test_a_long_batch_does_not_overflow():
    assert run_bound([3000, 3000], 40) < 1e-6
    assert at_least(2990, 3000, 0.5) == pytest.approx(0, abs=1e-100)


def test_the_page_on_the_rules_names_the_thresholds_that_hold(root):
    page = (root / "docs" / "explanation" / "rater-checks.md").read_text("utf-8")
    for kind in get_args(flags_module.FlagKind):
        assert f"(`{kind}`)" in page
    told = {
        "p < 0.001 / Q": LEVEL == 0.001,
        "at least 0.9": flags_module.NEARLY_ALWAYS == 0.9,
        "n ≥ 10": flags_module.LEAST_ANSWERS == 10,
        "o′ = 2o / (1 + o)": flags_module.LENIENCE == 2,
        "from 5 items on": flags_module.LEAST_TIMED == 5,
        "one second for each rated question": flags_module.SECONDS_A_QUESTION == 1,
        "below a third": flags_module.SHARE_OF_MEDIAN == 1 / 3,
        "at least 2 others": flags_module.LEAST_OTHERS == 2,
        "once in 25": flags_module.SLIP == 1 / 25,
        "below 0.005": flags_module.GOLD_LEVEL == 0.005,
        "d ≥ 0.8 · d₀": flags_module.CHANCE_SHARE == 0.8,
        "≥ 3: clearly": flags_module.BEYOND_OTHERS == 3,
        "r ≥ 5": flags_module.LEAST_REPEATS == 5,
        "at least 3 other raters": flags_module.LEAST_COMPARED == 3,
    }
    assert [words for words, holds in told.items() if words not in page or not holds] == []
