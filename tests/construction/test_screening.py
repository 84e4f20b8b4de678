"""Verdicts on pairs: planted failures, what must not matter, and what leaves a pair undecided."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.construction.pilots import by_hand, numbers, planted, shuffled, study, thinned

from voirdire.construction.screening import PairScreening, screen
from voirdire.construction.screening_rule import MEASURES, NOT_APPLICABLE, Rule
from voirdire.scales import Scale

ITEMS, POOLS, RATERS = 24, 2, 5


def tables(seed: int = 0, items: int = ITEMS, pools: int = POOLS, raters: int = RATERS) -> list[np.ndarray]:
    """Ratings on which the pools differ by two steps, answers that it is a matter of taste, no stereotype."""
    rng = np.random.default_rng(seed)
    shape = (items, pools, raters)
    ratings = np.clip(np.round(2 + 2 * (np.arange(pools)[:, None] > 0) + 0.6 * rng.standard_normal(shape)), 1, 5)
    return [ratings, np.clip(np.round(1.5 + 0.5 * rng.standard_normal(shape)), 1, 5), np.zeros(shape)]


def first(evaluation: np.ndarray, *more: np.ndarray | None, rule: Rule | None = None, **told: object) -> PairScreening:
    return screen(by_hand(evaluation, *more, **told), rule).pairs[0]  # type: ignore[arg-type]


def test_a_good_pair_is_kept() -> None:
    pair = first(*tables())
    assert (pair.verdict, pair.reasons) == ("keep", ())
    assert {one.name for one in pair.measures} == set(MEASURES)


def test_a_matter_of_fact_is_dropped() -> None:
    ratings, asked, marked = tables()
    asked[:2] = 5
    pair = first(ratings, asked, marked)
    assert (pair.verdict, pair.reasons) == ("drop", ("factual",))
    assert pair.measure("factual").facts["by_pool"] == {"us": 1.0, "cn": 1.0}


@pytest.mark.parametrize(("level", "end"), [(5, "high"), (1, "low")])
def test_ratings_that_pile_at_an_end_are_dropped(level: int, end: str) -> None:
    ratings, asked, marked = tables()
    ratings[:2] = level
    pair = first(ratings, asked, marked)
    assert pair.verdict == "drop"
    assert set(pair.reasons) == {"pile", "gap"}
    assert pair.measure("pile").facts["end"] == end


def test_one_pool_at_the_end_is_no_pile() -> None:
    ratings, asked, marked = tables()
    ratings[:2, 0], ratings[:2, 1] = 5, 3
    assert first(ratings, asked, marked).verdict == "keep"


def test_pools_that_converge_are_dropped() -> None:
    ratings, asked, marked = tables(raters=8)
    ratings[:2] = np.tile([3, 3, 4, 4], 2)
    pair = first(ratings, asked, marked)
    assert (pair.verdict, pair.reasons) == ("drop", ("gap",))
    assert pair.measure("gap").mode == "uncontested"


def test_one_stereotype_drops_its_pair() -> None:
    ratings, asked, marked = tables()
    marked[1] = 1
    pair = first(ratings, asked, marked)
    assert (pair.verdict, pair.reasons) == ("drop", ("stereotype",))
    assert pair.measure("stereotype").facts["item"] == "c0-1"


def test_opposite_gaps_do_not_cancel() -> None:
    ratings, asked, marked = tables()
    ratings[0], ratings[1] = [[4], [2]], [[2], [4]]
    assert first(ratings, asked, marked).measure("gap").verdict == "keep"


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.2, 0.6]))
def test_order_means_nothing(seed: int, missing: float) -> None:
    """Pools swapped, raters renamed, items and answers permuted: the same verdicts and numbers."""
    pilot = thinned(planted(seed % 7)[0], missing, np.random.default_rng(seed))
    assert numbers(screen(shuffled(pilot, np.random.default_rng(seed)))) == numbers(screen(pilot))


def test_the_scale_upside_down_means_nothing_to_gap_and_pile() -> None:
    ratings, asked, marked = tables(3)
    ratings[2:4] = 5
    told, turned = (numbers(screen(by_hand(part, asked, marked))) for part in (ratings, 6 - ratings))
    for concept, found in told.items():
        assert turned[concept]["gap"] == found["gap"]
        assert turned[concept]["pile"] == found["pile"]


def test_a_wider_scale_in_the_same_places_means_nothing() -> None:
    """1 to 5 as 10 to 50: shares and verdicts stay, the gap is ten times as large."""
    ratings, asked, marked = tables(4)
    small = screen(by_hand(ratings, asked, marked))
    large = screen(by_hand(10 * ratings, asked, marked, scale=Scale("interval", 10, 50)))
    for one, other in zip(small.pairs, large.pairs, strict=True):
        assert one.verdict == other.verdict
        assert other.measure("gap").value == pytest.approx(10 * (one.measure("gap").value or 0))
        assert other.measure("pile").low == one.measure("pile").low


class TestUndecided:
    """What leaves a pair undecided, with its reason."""

    def undecided(self, pair: PairScreening, measure: str, reason: str) -> None:
        assert pair.verdict == "undecided"
        assert measure in pair.reasons
        assert (pair.measure(measure).verdict, pair.measure(measure).undefined) == ("undecided", reason)
        assert pair.measure(measure).value is None

    def test_no_checklist(self) -> None:
        self.undecided(first(*tables()[:2]), "stereotype", "not_asked")

    def test_no_question_on_subjectivity(self) -> None:
        ratings, _, marked = tables()
        self.undecided(first(ratings, None, marked), "factual", "not_asked")

    def test_one_rater(self) -> None:
        found = first(*tables(raters=1))
        for measure in MEASURES:
            self.undecided(found, measure, "few_raters")

    def test_one_rater_of_one_item(self) -> None:
        ratings, asked, marked = tables()
        ratings[0, 1, 1:] = np.nan
        found = first(ratings, asked, marked)
        self.undecided(found, "gap", "few_raters")
        assert found.measure("factual").verdict == "keep"

    def test_one_item_of_the_pair(self) -> None:
        ratings, asked, marked = tables()
        ratings[1], asked[1], marked[1] = np.nan, np.nan, np.nan
        found = first(ratings, asked, marked)
        for measure in MEASURES:
            self.undecided(found, measure, "item_unrated")

    def test_one_item_in_the_table(self) -> None:
        names = ["alone", *(f"c{place // 2}" for place in range(ITEMS - 1))]
        self.undecided(first(*tables(), concepts=names), "gap", "one_member")

    def test_a_pool_is_missing(self) -> None:
        ratings, asked, marked = tables()
        ratings[:2, 1] = np.nan
        self.undecided(first(ratings, asked, marked), "gap", "missing_pool")

    def test_one_pool_only(self) -> None:
        found = first(*tables(pools=1), pools=("us",))
        for measure in MEASURES:
            self.undecided(found, measure, "missing_pool")

    def test_raters_who_never_differ(self) -> None:
        ratings, asked, marked = tables()
        ratings[:] = np.array([2, 4])[:, None]
        self.undecided(first(ratings, asked, marked), "gap", "noise_unknown")

    def test_labels_without_order(self) -> None:
        ratings, asked, marked = tables()
        found = first(ratings, asked, marked, scale=Scale("nominal", labels=("a", "b", "c", "d", "e", "f")))
        self.undecided(found, "gap", "nominal_scale")
        assert found.measure("pile").verdict == NOT_APPLICABLE

    def test_a_scale_without_ends(self) -> None:
        ratings, asked, marked = tables()
        self.undecided(first(ratings, asked, marked, scale=Scale("interval")), "gap", "no_ends")


def test_two_labels_have_no_ends_to_pile_at() -> None:
    ratings, asked, marked = tables()
    scale = Scale("nominal", 0, 1, ("no", "yes"), "yes")
    rng = np.random.default_rng(1)
    chance = np.array([0.1, 0.9])[:, None]
    found = first((rng.random(ratings.shape) < chance).astype(float), asked, marked, scale=scale)
    assert (found.measure("pile").verdict, found.measure("pile").undefined) == (NOT_APPLICABLE, "few_levels")
    assert found.verdict == "keep"


def test_few_raters_leave_open_what_many_decide() -> None:
    """The same half step between the pools' means of a pair, in a pilot of noisy raters."""
    outcomes = []
    for raters in (2, 12):
        rng = np.random.default_rng(2)
        ratings, asked, marked = tables(raters=raters)
        ratings[2:] = np.clip(np.round(3 + rng.standard_normal(ratings[2:].shape)), 1, 5)
        ratings[:2, 0], ratings[:2, 1] = np.tile([2, 4], raters // 2), np.tile([3, 4], raters // 2)
        outcomes.append(first(ratings, asked, marked).measure("gap").verdict)
    assert outcomes == ["undecided", "drop"]


def test_three_pools_are_contestable_where_two_of_them_differ() -> None:
    ratings, asked, marked = tables(pools=3)
    ratings[2:4, :] = np.tile([3, 3, 4, 4, 3], 1)
    pilot = by_hand(ratings, asked, marked, pools=("us", "cn", "in"))
    found = screen(pilot)
    assert found.pairs[0].measure("gap").verdict == "keep"
    assert "us" in found.pairs[0].measure("gap").facts["pools"]
    assert found.pairs[1].measure("gap").verdict == "drop"
    assert numbers(screen(shuffled(pilot, np.random.default_rng(0)))) == numbers(found)


def test_a_concept_in_three_cultures() -> None:
    """All items of a concept count together, and one that nobody rated leaves it undecided."""
    names = [f"c{place // 3}" for place in range(ITEMS)]
    ratings, asked, marked = tables()
    found = screen(by_hand(ratings, asked, marked, concepts=names))
    assert [pair.verdict for pair in found.pairs] == ["keep"] * 8
    assert len(found.pairs[0].items) == 3
    ratings[1] = np.nan
    pair = first(ratings, asked, marked, concepts=names)
    assert pair.measure("gap").undefined == "item_unrated"


def test_pools_of_different_size_count_the_same() -> None:
    """Eight raters of one pool who say factual do not outvote three of the other who do not."""
    ratings, asked, marked = tables(raters=8)
    ratings[:, 1, 3:], asked[:, 1, 3:], marked[:, 1, 3:] = np.nan, np.nan, np.nan
    asked[:2, 0], asked[:2, 1, :3] = 5, 1
    found = first(ratings, asked, marked).measure("factual")
    assert (found.value, found.verdict) == (0.5, "undecided")


def test_thresholds_are_those_of_the_rule() -> None:
    ratings, asked, marked = tables(raters=10)
    marked[0, :, :4] = 1
    usual, strict = first(ratings, asked, marked), first(ratings, asked, marked, rule=Rule(stereotype_share=0.15))
    assert usual.measure("stereotype").verdict != "drop"
    assert (strict.measure("stereotype").verdict, strict.measure("stereotype").threshold) == ("drop", 0.15)
    asked[:2] = 1
    turned = first(ratings, asked, marked, rule=Rule(factual_end="low"))
    assert turned.measure("factual").verdict == "drop"


def test_concepts_without_answers_have_no_verdict() -> None:
    ratings, asked, marked = tables()
    for part in (ratings, asked, marked):
        part[2:4] = np.nan
    found = screen(by_hand(ratings, asked, marked))
    assert found.unrated == ("c1",)
    assert "c1" not in [pair.concept for pair in found.pairs]


def test_the_table_has_every_number() -> None:
    found = screen(planted()[0])
    table = found.table()
    assert table.height == 4 * len(found.pairs)
    assert table["signature"].str.starts_with("screening.").all()
    assert table.filter(table["undefined"].is_null())["value"].is_not_null().all()
    assert set(table["verdict"]) <= {"keep", "drop", "undecided"}


def test_planted_pairs_are_found() -> None:
    """The study's world, 12 seeds of 12 pairs with five raters a pool; the figures of 50 seeds stand in the study."""
    module = study()
    found: dict[str, Counter[str]] = module.tally(module.Design(5, module.SMALL), 12)
    for kind, counts in found.items():
        total = sum(counts.values())
        if kind == "good":
            assert counts["keep"] >= 0.7 * total
            assert counts["drop"] + counts["other"] <= 0.05 * total
        else:
            assert counts["drop"] >= (0.5 if kind == "uncontested" else 0.7) * total, kind
            assert counts["keep"] <= 0.13 * total, kind
            assert counts["other"] <= 0.1 * total, kind
