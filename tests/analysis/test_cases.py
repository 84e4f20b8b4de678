"""Named degenerate corpora: each ends with values or with reasons."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tests.analysis.builders import BINARY, FIVE, INTERVAL, LABELS, corpus, judged, judgments, rated, run

from voirdire.analysis.evaluate import evaluate
from voirdire.analysis.options import AuditOptions
from voirdire.errors import InputError, UsageError
from voirdire.scales import Scale

ITEMS = ["a", "b", "c", "d"]
TWO = {
    "us": {"a": (1, 2), "b": (5, 4), "c": (3, 3), "d": (2, 1)},
    "cn": {"a": (3, 4), "b": (4, 4), "c": (1, 2), "d": (5, 5)},
}
GOOD = {"a": 2, "b": 4, "c": 3, "d": 3}


def of(profile: Any, statistic: str, **place: str) -> Any:
    return profile.get(statistic, **place)


def cell(profile: Any, statistic: str, judge: str = "j", condition: str = "-", **place: str) -> Any:
    return profile.get(statistic, judge=judge, condition=condition, **place)


def test_constant_judge() -> None:
    profile = run((corpus(rated(TWO)), judgments(judged({"j": dict.fromkeys(ITEMS, 3)}))))
    assert cell(profile, "pearson", pool="us").undefined == "constant_judge"
    assert cell(profile, "spearman", pool="us").undefined == "constant_judge"
    assert cell(profile, "kappa_qw", pool="us").value == pytest.approx(0)
    assert cell(profile, "spread.slope", pool="us").value == pytest.approx(0)
    constant = profile.get("mae", pool="us", judge="control:constant_3", condition="-")
    assert cell(profile, "mae", pool="us").value == constant.value


def test_one_rater_an_item() -> None:
    table = {pool: {item: values[:1] for item, values in by.items()} for pool, by in TWO.items()}
    profile = run((corpus(rated(table)), judgments(judged({"j": GOOD}))))
    assert of(profile, "reliability", pool="us").undefined == "one_rater"
    assert of(profile, "alpha", params="level=ordinal", pool="us").undefined == "no_pairable"
    assert of(profile, "gate", pool="us").label == "unknown"
    assert of(profile, "gap_rms", pool="us", pool_b="cn").undefined == "noise_unknown"
    assert cell(profile, "delta_sq", pool="us", pool_b="cn").undefined == "noise_unknown"
    assert cell(profile, "ceiling.judge", pool="us").undefined == "no_individual_ratings"
    assert of(profile, "gap_test.p", pool="us", pool_b="cn").undefined == "one_rater"
    assert cell(profile, "verdict", pool="us").label == "cannot_say"


def test_one_item() -> None:
    table = {pool: {"a": by["a"]} for pool, by in TWO.items()}
    profile = run((corpus(rated(table)), judgments(judged({"j": {"a": 2}}))))
    assert cell(profile, "mae", pool="us").value == pytest.approx(0.5)
    assert cell(profile, "mae", pool="us").interval is None
    assert cell(profile, "pearson", pool="us").undefined == "one_item"
    assert cell(profile, "mae_vs_constant", params="folds=10", pool="us").undefined == "no_folds"
    assert cell(profile, "delta_test.t_p", pool="us", pool_b="cn").undefined == "one_item"


def test_a_pool_with_one_item_has_no_constant_to_beat() -> None:
    """The best constant is chosen on the other items: with none its loss is unknown, not 0."""
    table = {"us": TWO["us"], "cn": {"a": (3, 4)}}
    profile = run((corpus(rated(table)), judgments(judged({"j": GOOD}))))
    assert cell(profile, "mae_vs_constant", params="folds=10", pool="cn").undefined == "no_folds"
    assert cell(profile, "mae", pool="cn").n == 1


def test_two_items() -> None:
    table = {pool: {item: by[item] for item in "ab"} for pool, by in TWO.items()}
    profile = run((corpus(rated(table)), judgments(judged({"j": {"a": 2, "b": 4}}))))
    assert cell(profile, "pearson", pool="us").value == pytest.approx(1)
    assert of(profile, "cross_pool_pearson", pool="us", pool_b="cn").interval is None


def test_pools_without_a_common_item() -> None:
    table = {"us": {item: TWO["us"][item] for item in "ab"}, "cn": {item: TWO["cn"][item] for item in "cd"}}
    profile = run((corpus(rated(table)), judgments(judged({"j": GOOD}))))
    for name in ("cross_pool_mad", "cross_pool_pearson", "cross_pool_spearman", "gap_test.p", "noise_floor"):
        assert of(profile, name, pool="us", pool_b="cn").undefined == "no_common_items", name
    for name in ("delta", "tilt", "delta_sq", "percent_of_human", "delta_test.t", "equalised.delta"):
        found = cell(profile, name, pool="us", pool_b="cn")
        assert found.undefined in ("no_common_items", "no_items"), name
    assert cell(profile, "verdict", pool="us", pool_b="cn").label == "cannot_say"
    assert cell(profile, "mae", pool="us").n == 2
    assert cell(profile, "mae", pool="us").excluded == {"no_consensus": 2}


def test_a_pool_that_has_no_rating() -> None:
    profile = run((corpus(rated({"us": TWO["us"]}), pools=("us", "cn")), judgments(judged({"j": GOOD}))))
    assert of(profile, "consensus_mean", pool="cn").undefined == "no_items"
    assert cell(profile, "mae", pool="cn").undefined == "no_items"


def test_equal_consensuses() -> None:
    table = {"us": TWO["us"], "cn": {item: values[::-1] for item, values in TWO["us"].items()}}
    profile = run((corpus(rated(table)), judgments(judged({"j": GOOD}))))
    assert of(profile, "cross_pool_mad", pool="us", pool_b="cn").value == 0
    assert cell(profile, "delta", pool="us", pool_b="cn").value == 0
    assert cell(profile, "tilt", pool="us", pool_b="cn").undefined == "equal_consensuses"
    assert cell(profile, "tilt", params="form=ratio", pool="us", pool_b="cn").undefined == "equal_consensuses"
    assert cell(profile, "tilt", pool="us", pool_b="cn").excluded == {"equal_consensuses": 4}
    assert cell(profile, "percent_of_human", pool="cn", pool_b="us").undefined == "equal_consensuses"
    assert cell(profile, "delta_test.wilcoxon_p", pool="us", pool_b="cn").undefined == "all_zero"
    assert cell(profile, "delta_test.t", pool="us", pool_b="cn").undefined == "no_spread"


def test_all_ratings_equal() -> None:
    same = {pool: dict.fromkeys(ITEMS, (3, 3)) for pool in ("us", "cn")}
    profile = run((corpus(rated(same)), judgments(judged({"j": dict.fromkeys(ITEMS, 3)}))))
    assert of(profile, "alpha", params="level=ordinal", pool="us").undefined == "all_equal"
    assert of(profile, "cross_pool_pearson", pool="us", pool_b="cn").undefined == "constant_consensus"
    assert cell(profile, "kappa_qw", pool="us").undefined == "all_equal"
    assert cell(profile, "mae", pool="us").value == 0


def test_all_judgments_missing() -> None:
    """They are of rated items: the audit counts them, it does not say that the tables have nothing in common."""
    profile = run((corpus(rated(TWO)), judgments(judged({"j": dict.fromkeys(ITEMS)}))))
    mae = cell(profile, "mae", pool="us")
    assert (mae.undefined, mae.excluded) == ("no_items", {"malformed": 4})
    assert cell(profile, "missing_share").value == 1
    assert cell(profile, "verdict", pool="us").label == "cannot_say"
    low, high = (cell(profile, f"mae.bound_{side}", pool="us").value for side in ("low", "high"))
    assert 0 <= low < high <= 4


def test_judgments_of_other_items_are_refused_when_they_are_all_there_is() -> None:
    with pytest.raises(InputError) as raised:
        evaluate(corpus(rated(TWO)), judgments(judged({"j": {"z": 3}})), AuditOptions(draws=5, permutations=5))
    assert raised.value.key == "audit.nothing_in_common"


def test_a_judge_of_another_item_set() -> None:
    rows = [*judged({"j": GOOD}), *judged({"other": {"z": 3}})]
    profile = run((corpus(rated(TWO)), judgments(rows)))
    found = cell(profile, "mae", judge="other", pool="us")
    assert (found.undefined, found.excluded) == ("no_items", {"absent": 4})
    assert cell(profile, "mae", pool="us").n == 4
    assert profile.get("pearson", judge="*", condition="*", pool="us").undefined == "cell_undefined"


def test_judgments_of_a_question_without_ratings_are_refused() -> None:
    with pytest.raises(InputError) as raised:
        evaluate(corpus(rated(TWO)), judgments(judged({"j": GOOD}), question="q2"), AuditOptions(draws=5))
    assert raised.value.key == "audit.nothing_judged"


def test_one_pool_only() -> None:
    profile = run((corpus(rated({"us": TWO["us"]})), judgments(judged({"j": GOOD}))))
    assert profile.estimates.filter(pl.col("pool_b") != "").is_empty()
    assert cell(profile, "mae", pool="us").value is not None


def test_no_judgments() -> None:
    profile = run((corpus(rated(TWO)), None))
    assert set(profile.estimates["judge"]) == {""}
    assert profile.meta["judges"] == []


def test_no_ratings() -> None:
    with pytest.raises(InputError) as raised:
        evaluate(corpus([], pools=("us",)), None, AuditOptions(draws=5))
    assert raised.value.key == "audit.no_ratings"


@pytest.mark.slow
def test_many_pools() -> None:
    places = dict(enumerate(ITEMS))
    pools = {f"p{k:02d}": {item: (k % 5 + 1, (k + n) % 5 + 1) for n, item in places.items()} for k in range(25)}
    profile = run((corpus(rated(pools)), judgments(judged({"j": GOOD}))), permutations=5, draws=5)
    frame = profile.estimates
    assert frame.filter(statistic="cross_pool_mad", slice="all").height == 300
    assert frame.filter(pl.col("statistic") == "delta", pl.col("judge") == "j", pl.col("params") == "").height == 2 * 3
    assert len(profile.meta["detail_pairs"]) == 3


def test_pairs_asked_for_twice_or_reversed_are_one() -> None:
    profile = run((corpus(rated(TWO)), None), pairs=(("cn", "us"), ("us", "cn"), ("cn", "us")))
    assert profile.meta["pairs"] == [["cn", "us"]]


@pytest.mark.parametrize("pairs", [(("us", "us"),), (("us", "nobody"),)])
def test_wrong_pairs(pairs: Any) -> None:
    with pytest.raises(UsageError):
        evaluate(corpus(rated(TWO)), None, AuditOptions(pairs=pairs, draws=5))


def test_slices_with_an_ampersand_are_not_crossed() -> None:
    items = pl.DataFrame({"item_id": ITEMS, "category": ["food & drink", "food & drink", "art", "art"]})
    profile = run((corpus(rated(TWO), items=items), judgments(judged({"j": GOOD}))))
    assert "category=food %26 drink" in set(profile.estimates["slice"])
    row = profile.estimates.filter(pl.col("statistic") == "composition")
    assert "strata=none" in row["signature"][0]


def test_hostile_names_keep_their_place() -> None:
    names = {"u|s,(=)%": TWO["us"], "c&n\n": TWO["cn"]}
    made = corpus(rated(names)), judgments(judged({"j=1,k|(2)%": GOOD}, condition="persona=us|x"))
    profile = run(made)
    found = profile.get("mae", pool="u|s,(=)%", judge="j=1,k|(2)%", condition="persona=us|x")
    assert found.n == 4


@pytest.mark.parametrize("scale", [BINARY, LABELS, INTERVAL, FIVE, Scale("interval")], ids=str)
def test_rating_of_everything_by_one_rater(scale: Scale) -> None:
    ratings = [(item, "r", "us", float(place % 2)) for place, item in enumerate(ITEMS)]
    rows = judged({"j": {item: float(place % 2) for place, item in enumerate(ITEMS)}})
    profile = run((corpus(ratings, scale), judgments(rows)))
    assert cell(profile, "mae", pool="us").value == pytest.approx(0)
