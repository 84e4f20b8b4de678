"""Two audits side by side: the same definition, paired intervals, refusals with reasons."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.analysis.builders import BINARY, INTERVAL, LABELS
from tests.browsing.pairs import DRAWS, made, side

from voirdire.browsing import comparison
from voirdire.browsing.comparison import EACH, EITHER_WAY, EVERY, Choice, Comparison, Line, Side, compare, offer, table
from voirdire.reporting.access import Row
from voirdire.statistic import REGISTRY

QUESTION = Choice("q1")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Side:
    return side(tmp_path_factory.mktemp("plain"), made())


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Side:
    """The same items and pools, with a new version of every judge."""
    return side(tmp_path_factory.mktemp("other"), made(judges={"m": 0.8, "k": -0.4}, noise=1))


@pytest.fixture(scope="module")
def fewer(tmp_path_factory: pytest.TempPathFactory) -> Side:
    """Items 10 to 44 in place of 0 to 39, and items that judge m did not answer."""
    return side(tmp_path_factory.mktemp("fewer"), made(range(10, 45), lost={"m": (12, 20)}, noise=1))


def line(found_in: Comparison, statistic: str, judge: str = "", params: str = "", pool: str = "") -> Line:
    found = [
        one
        for one in found_in.lines
        if (one.first.statistic, one.first.params) == (statistic, params)
        and one.first.judge == judge
        and (not pool or one.first.pool == pool)
    ]
    assert len(found) == 1, found
    return found[0]


def errors(given: Side, judge: str, pool: str) -> dict[str, float]:
    """Mean absolute error of every item that the judge answered, over its conditions."""
    assert given.compared is not None
    rated = given.compared.judgments.filter(judge=judge).drop_nulls("rating")
    both = rated.join(given.compared.consensus.filter(pool=pool), on="item_id")
    frame = both.group_by("item_id").agg((pl.col("rating") - pl.col("value")).abs().mean().alias("error"))
    return dict(frame.rows())


def draws(count: int, items: int, seed: int = 0) -> Iterable[np.ndarray]:
    """Which items are drawn, by the rule of the definitions: a stream for each question and slice."""
    rng = np.random.default_rng([seed, zlib.crc32(b"q1/items/all")])
    return rng.integers(items, size=(count, items))


def test_the_interval_is_that_of_a_plain_bootstrap(plain: Side, other: Side) -> None:
    found = line(compare(plain, other, QUESTION), "mae", "m", pool="us").difference
    first, second = (errors(given, "m", "us") for given in (plain, other))
    gaps = np.array([second[item] - first[item] for item in sorted(first)])
    means = [gaps[chosen].mean() for chosen in draws(DRAWS, len(gaps))]
    assert found.value == pytest.approx(gaps.mean(), abs=1e-12)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])), abs=1e-12)
    assert found.items == 40
    assert found.same_items


def test_correlations_are_drawn_in_pairs_too(plain: Side, other: Side) -> None:
    found = line(compare(plain, other, Choice("q1", conditions=("c0", "c0"))), "pearson", "k", pool="cn").difference
    sides = []
    for given in (plain, other):
        assert given.compared is not None
        rated = given.compared.judgments.filter(judge="k", condition="c0")
        both = rated.join(given.compared.consensus.filter(pool="cn"), on="item_id").sort("item_id")
        sides.append((both["rating"].to_numpy(), both["value"].to_numpy()))
    means = []
    for chosen in draws(DRAWS, 40):
        first, second = (np.corrcoef(rating[chosen], value[chosen])[0, 1] for rating, value in sides)
        means.append(second - first)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])), abs=1e-9)


def test_an_audit_and_itself_differ_by_nothing(plain: Side) -> None:
    made_of = compare(plain, plain, Choice("q1", statistic=EVERY, conditions=(EACH, EACH)), most=5000)
    known = [one for one in made_of.lines if one.difference.value is not None]
    assert len(known) > 80
    for one in known:
        ends = (one.difference.value, one.difference.low or 0.0, one.difference.high or 0.0)
        assert ends == (0.0, 0.0, 0.0), one


def test_every_bootstrapped_sum_over_items_gives_the_audits_number_again(plain: Side, fewer: Side) -> None:
    """Also those of the pools; nothing that is registered with an interval is refused without a reason."""
    for given in (plain, fewer):
        found = compare(given, given, Choice("q1", statistic=EVERY), most=5000)
        for one in found.lines:
            statistic = REGISTRY.get((one.first.statistic, one.first.params))
            assert one.difference.why != "not_reproduced", one
            if one.first.statistic.startswith("ceiling."):
                assert one.difference.why in ("not_held", "undefined_alone")
            elif statistic is None:
                assert one.difference.why == "not_sums"
            elif one.first.value is not None:
                assert one.difference.why is None, one
                assert one.difference.own[0] == pytest.approx(one.first.value, abs=1e-9)


@pytest.mark.parametrize("scale", [BINARY, LABELS, INTERVAL], ids=["binary", "labels", "interval"])
def test_other_scales_and_repeats_give_the_audits_number_again(scale: object, tmp_path: Path) -> None:
    given = side(tmp_path, made(range(12), repeats=2, scale=scale))  # type: ignore[arg-type]
    found = compare(given, given, Choice("q1", statistic=EVERY), most=5000)
    assert [one for one in found.lines if one.difference.why in ("not_reproduced", "not_found")] == []
    assert sum(one.difference.value == 0.0 for one in found.lines) > 10


def test_exchanged_sides_turn_the_sign(plain: Side, other: Side) -> None:
    forth, back = compare(plain, other, QUESTION), compare(other, plain, QUESTION)
    for one, turned in zip(forth.lines, back.lines, strict=True):
        mine, theirs = one.difference, turned.difference
        assert mine.why == theirs.why
        if mine.value is not None and theirs.value is not None:
            assert theirs.value == pytest.approx(-mine.value, abs=1e-12)
        if mine.low is not None and mine.high is not None:
            assert (theirs.low, theirs.high) == pytest.approx((-mine.high, -mine.low), abs=1e-12)


def test_only_common_items_are_compared_and_counted(plain: Side, fewer: Side) -> None:
    made_of = compare(plain, fewer, QUESTION)
    assert made_of.items == (30, 10, 5)
    found = line(made_of, "mae", "m", pool="us").difference
    assert (found.items, found.counted) == (28, (40, 33))
    assert not found.same_items
    first, second = (errors(given, "m", "us") for given in (plain, fewer))
    common = sorted(first.keys() & second.keys())
    assert len(common) == 28
    assert found.joint == pytest.approx(tuple(np.mean([of[item] for item in common]) for of in (first, second)))
    assert found.value == pytest.approx(found.joint[1] - found.joint[0])  # type: ignore[operator]
    assert found.own == pytest.approx(tuple(np.mean(list(of.values())) for of in (first, second)))


def test_no_common_item_is_said(plain: Side, tmp_path: Path) -> None:
    found = compare(plain, side(tmp_path, made(range(50, 70))), QUESTION)
    assert found.items == (0, 40, 20)
    assert {one.difference.why for one in found.lines} <= {"no_common", "not_sums", "undefined_alone"}
    assert all(one.difference.value is None for one in found.lines)


def test_a_pair_that_is_named_the_other_way_round(plain: Side, tmp_path: Path) -> None:
    """Distances of pools are matched; what has a direction is not, and the pair is told."""
    back = side(tmp_path, made(), pairs=(("cn", "us"),))
    found = compare(plain, back, Choice("q1", statistic=EVERY), most=5000)
    assert found.turned == (("us", "cn"),)
    known = {one.first.statistic: one.difference for one in found.lines if one.first.pool_b}
    assert known["cross_pool_mad"].value == 0.0
    assert known["cross_pool_mad"].low == known["cross_pool_mad"].high == 0.0
    assert {"gap_test.p", "noise_floor", "cross_pool_pearson"} <= set(known)
    assert known.keys().isdisjoint({"delta", "tilt", "orientation.w"})
    ours, theirs = ({(one.statistic, one.params): one.value for one in rows(given)} for given in (plain, back))
    assert [name for name in ours if ours[name] != pytest.approx(theirs[name], abs=1e-12)] == []
    assert compare(plain, plain, QUESTION).turned == ()


def rows(given: Side) -> list[Row]:
    """The numbers that are said to be the same whichever pool is named first."""
    here = given.profile.estimates.filter((pl.col("slice") == "all") & (pl.col("pool_b") != ""))
    found = [Row(*line) for line in here.select(Row._fields).iter_rows()]
    return [row for row in found if row.statistic.startswith(EITHER_WAY) and row.value is not None]


def test_two_judges_of_one_audit(plain: Side) -> None:
    made_of = compare(plain, plain, Choice("q1", judges=("m", "k")))
    found = line(made_of, "mae", "m", pool="us")
    assert (found.first.judge, found.second.judge) == ("m", "k")
    first, second = (errors(plain, judge, "us") for judge in ("m", "k"))
    assert found.difference.value == pytest.approx(np.mean([second[item] - first[item] for item in first]))
    assert all(one.first.judge for one in made_of.lines)


def test_two_conditions_of_one_judge(plain: Side) -> None:
    made_of = compare(plain, plain, Choice("q1", judges=("m", ""), conditions=("c0", "c1")))
    found = line(made_of, "mean_rating", "m")
    assert (found.first.condition, found.second.condition, found.second.judge) == ("c0", "c1", "m")
    assert found.difference.value == pytest.approx(found.second.value - found.first.value)  # type: ignore[operator]


def test_other_definitions_share_no_row(plain: Side, tmp_path: Path) -> None:
    second = side(tmp_path, made(), consensus="median", seed=7)
    found = line(compare(plain, second, QUESTION), "mae", "m", pool="us")
    assert found.difference.why == "definition"
    assert found.difference.value is None
    assert {(key, mine, theirs) for _, key, mine, theirs in found.differs} == {
        ("consensus", "mean", "median"), ("seed", "0", "7"),
    }  # fmt: skip


def test_without_tables_values_stand_alone(plain: Side) -> None:
    second = replace(plain, compared=None)
    made_of = compare(plain, second, QUESTION)
    assert made_of.lacking == (second,)
    found = line(made_of, "mae", "m", pool="us")
    assert found.first.value == found.second.value
    assert (found.difference.why, found.difference.value) == ("no_tables", None)


def test_numbers_that_do_not_come_out_again_are_refused(plain: Side) -> None:
    assert plain.compared is not None
    wrong = replace(plain.compared, judgments=plain.compared.judgments.with_columns(rating=pl.lit(3.0)))
    found = line(compare(plain, replace(plain, compared=wrong), QUESTION), "mae", "m", pool="us").difference
    assert (found.why, found.value) == ("not_reproduced", None)


def test_drawn_raters_and_no_draws_leave_no_interval(tmp_path: Path) -> None:
    for name, options, why in (
        ("raters", {"resample": "items+raters"}, "raters_drawn"),
        ("none", {"draws": 0}, "no_draws"),
    ):
        folder = tmp_path / name
        folder.mkdir()
        given = side(folder, made(range(15)), **options)
        found = line(compare(given, given, QUESTION), "mae", "m", pool="us").difference
        assert (found.value, found.low, found.why_open) == (0.0, None, why)


def test_what_can_be_chosen_and_what_stands_alone(plain: Side, tmp_path: Path) -> None:
    second = side(tmp_path, made(judges={"m": 0.3, "new": 0.0}))
    found = offer(plain, second, "q1")
    assert found.questions == ("q1",)
    assert found.judges == (("m", "k", "*"), ("m", "new", "*"))
    assert "c0" in found.conditions[0]
    made_of = compare(plain, second, Choice("q1", statistic="mae"))
    assert [(one.first.judge, one.first.pool) for one in made_of.lines] == [("m", "us"), ("m", "cn")]
    assert made_of.alone == (2, 2)


def test_the_table_holds_everything_unrounded(plain: Side, fewer: Side) -> None:
    made_of = compare(plain, fewer, QUESTION, most=10)
    frame = table(made_of)
    assert frame.height == 10
    assert made_of.left > 0
    row = frame.filter(statistic="mae", judge="m", pool="us").row(0, named=True)
    found = line(made_of, "mae", "m", pool="us").difference
    assert (row["difference"], row["low"], row["items"], row["items_second"]) == (found.value, found.low, 28, 33)


def test_seed_is_an_argument(plain: Side, other: Side) -> None:
    one, same, another = (
        line(compare(plain, other, QUESTION, seed=seed), "mae", "m", pool="us").difference for seed in (None, 0, 5)
    )
    assert (one.low, one.high) == (same.low, same.high)
    assert (one.low, one.high) != (another.low, another.high)
    assert one.value == another.value


def test_means_over_many_cells_wait_until_they_are_asked_for(plain: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compare(plain, plain, QUESTION).later == ()
    monkeypatch.setattr(comparison, "MANY_CELLS", 1)
    found = compare(plain, plain, QUESTION)
    assert found.later == ("pearson",)
    assert "pearson" not in {one.first.statistic for one in found.lines}
    asked = compare(plain, plain, Choice("q1", statistic="pearson"))
    assert {one.difference.value for one in asked.lines} == {0.0}
