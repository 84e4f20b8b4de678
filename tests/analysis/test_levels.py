"""Levels, own scales, aggregates, other scales and the options of the consensus."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tests.analysis.builders import BINARY, FIVE, INTERVAL, LABELS, corpus, judged, judgments, rated, run

from voirdire.scales import Scale

WHERE = {"judge": "j", "condition": "-"}
PAIR = {"pool": "us", "pool_b": "cn"}
TWO = {
    "us": {"a": (1, 2), "b": (5, 4), "c": (3, 3), "d": (2, 1)},
    "cn": {"a": (3, 4), "b": (4, 4), "c": (1, 2), "d": (5, 5)},
}


def test_two_labels() -> None:
    table = {"us": {"a": (1, 1, 0), "b": (0, 0, 0), "c": (1, 0, 0)}, "cn": {"a": (0, 0), "b": (1, 1), "c": (1, 0)}}
    profile = run((corpus(rated(table), BINARY), judgments(judged({"j": {"a": 1, "b": 0, "c": 1}}))))
    assert profile.get("consensus_mean", pool="us").value == pytest.approx((2 / 3 + 0 + 1 / 3) / 3)
    assert profile.get("mae", pool="us", **WHERE).value == pytest.approx((1 / 3 + 0 + 2 / 3) / 3)
    assert profile.get("alpha", params="level=nominal", pool="us").value is not None
    assert profile.get("share_low", **WHERE).undefined == "few_levels"
    assert profile.get("anchor_class.high", **PAIR).undefined == "few_levels"
    assert profile.get("kappa_qw", pool="us", **WHERE).value == pytest.approx(1 - (1 / 3) / (5 / 9))


def test_labels_without_order() -> None:
    table = {"us": {"a": (0, 0, 1), "b": (2, 2, 2), "c": (0, 1, 2)}, "cn": {"a": (1, 1), "b": (2, 0), "c": (1, 1)}}
    rows = [*judged({"j": {"a": 0, "b": 2}}), ("c", "j", "-", 0, 1.0, "ok"), ("c", "j", "-", 1, 2.0, "ok")]
    profile = run((corpus(rated(table), LABELS), judgments(rows)))
    error = {"us": (1 / 3 + 0 + 2 / 3) / 3, "cn": (1 + 0.5 + 0.5) / 3}
    for pool, value in error.items():
        assert profile.get("mae", pool=pool, **WHERE).value == pytest.approx(value)
    delta = profile.get("delta", **PAIR, **WHERE).value
    assert delta == pytest.approx(error["us"] - error["cn"])
    gap = profile.get("cross_pool_tv", **PAIR).value
    assert gap == pytest.approx((2 / 3 + 1 / 2 + 2 / 3) / 3)
    assert profile.get("tilt", params="form=ratio", **PAIR, **WHERE).value == pytest.approx(-delta / gap)
    assert profile.get("plurality_agreement", pool="us", **WHERE).value == pytest.approx((1 + 1 + 1 / 3) / 3)
    assert profile.get("plurality_agreement", pool="cn", **WHERE).value == pytest.approx((0 + 0.5 + 0.5) / 3)
    for name, place in (
        ("tilt", PAIR | WHERE), ("bias", {"pool": "us"} | WHERE), ("pearson", {"pool": "us"} | WHERE),
        ("spread.slope", {"pool": "us"} | WHERE), ("anchor_class.high", PAIR), ("repeat_sd", WHERE),
    ):  # fmt: skip
        assert profile.get(name, **place).undefined == "nominal_scale", name
    assert profile.estimates.filter(statistic="cross_pool_mad").is_empty()
    shown = profile.items.filter(pl.col("item_id") == "c")["judge.j|-"][0]
    assert shown == "b (50%) / c (50%)"


def test_label_shares_of_a_pool_without_raters() -> None:
    ratings = rated({"us": {"a": (0, 0), "b": (2, 1)}})
    shares = [("a", "cn", "a", 0.5), ("a", "cn", "c", 0.5), ("b", "cn", "b", 0.3), ("b", "cn", "unknown", 0.7)]
    made = corpus(ratings, LABELS, shares=shares)
    profile = run((made, judgments(judged({"j": {"a": 0, "b": 1}}))))
    assert profile.get("mae", pool="cn", **WHERE).value == pytest.approx((0.5 + 0) / 2)
    assert profile.get("cross_pool_tv", **PAIR).value == pytest.approx(0.5)
    assert profile.get("gate", pool="cn").label == "unknown"


def test_interval_scale() -> None:
    table = {"us": {"a": (10, 20.5), "b": (90, 70), "c": (50, 55)}, "cn": {"a": (40, 30), "b": (60, 60), "c": (1, 2)}}
    profile = run((corpus(rated(table), INTERVAL), judgments(judged({"j": {"a": 12.25, "b": 80, "c": 30}}))))
    assert profile.get("bias", pool="us", **WHERE).value == pytest.approx((12.25 - 15.25 + 0 + 30 - 52.5) / 3)
    assert profile.get("kappa_qw", pool="us", **WHERE).undefined == "no_levels"
    assert profile.get("share_low", **WHERE).value == pytest.approx(1 / 3)
    assert profile.get("distribution.w1", pool="us", **WHERE).value is not None


def test_many_values_of_one_judge_do_not_cost_the_others_their_distance() -> None:
    items = [f"i{k}" for k in range(1100)]
    table = {"us": {item: (k % 100, k % 90) for k, item in enumerate(items)}}
    rows = judged({"j": {item: k % 100 for k, item in enumerate(items)}, "k": {x: n / 20 for n, x in enumerate(items)}})
    profile = run((corpus(rated(table), INTERVAL), judgments(rows)), draws=0)
    assert profile.get("distribution.w1", pool="us", **WHERE).value is not None
    found = profile.get("distribution.w1", pool="us", judge="k", condition="-")
    assert found.undefined == "too_many_values"


def test_items_with_scales_of_their_own() -> None:
    table = {"us": {"a": (1, 3), "b": (50, 100)}, "cn": {"a": (5, 5), "b": (0, 0)}}
    own = {"b": Scale("interval", 0, 100)}
    made = corpus(rated(table), FIVE, item_scales=own)
    profile = run((made, judgments(judged({"j": {"a": 3, "b": 75}}))))
    mae = profile.get("mae", pool="us", **WHERE)
    assert mae.value == pytest.approx((0.25 + 0) / 2)
    assert mae.signature.definition["scale"] == "per_item:0:1"
    assert profile.get("cross_pool_mad", **PAIR).value == pytest.approx((0.75 + 0.75) / 2)
    assert profile.get("kappa_qw", pool="us", **WHERE).undefined == "no_levels"


def test_own_scales_do_not_touch_labels_and_items_without_a_range_are_counted() -> None:
    own = {"a": Scale("ordinal", 0, 10), "b": Scale("interval")}
    labels = corpus(rated({"us": {"a": (0, 1), "b": (1, 1)}}), BINARY, item_scales=own)
    assert run((labels, None)).get("consensus_mean", pool="us").value == pytest.approx(0.75)
    numbers = run((corpus(rated({"us": {"a": (0, 10), "b": (3, 4)}}), FIVE, item_scales=own), None))
    assert numbers.get("n_items", pool="us").value == 1
    assert numbers.meta["left_out"] == {"q1": {"item_without_range": 2}}


@pytest.mark.parametrize("known", [True, False])
def test_aggregate_pools(known: bool) -> None:
    means = [(item, "cn", value, 40 if known else None) for item, value in (("a", 3.2), ("b", 4.0), ("c", 1.5))]
    made = corpus(rated({"us": TWO["us"]}), aggregates=means)
    profile = run((made, judgments(judged({"j": {"a": 2, "b": 4, "c": 2, "d": 1}}))))
    for name, params in {
        "alpha": "level=ordinal",
        "reliability": "",
        "n_raters": "",
        "split_half": "splits=200",
    }.items():
        assert profile.get(name, params=params, pool="cn").undefined == "aggregate_pool", name
    per_item = profile.get("raters_per_item", pool="cn")
    assert (per_item.value, per_item.undefined) == ((40, None) if known else (None, "aggregate_pool"))
    for name in ("gap_rms", "noise_floor", "disattenuated_r", "gap_test.p"):
        assert profile.get(name, **PAIR).undefined == "aggregate_pool", name
    assert profile.get("delta_sq", **PAIR, **WHERE).undefined == "aggregate_pool"
    assert profile.get("equalised.delta", **PAIR, **WHERE).undefined == "aggregate_pool"
    assert profile.get("mae", pool="cn", **WHERE).value == pytest.approx((1.2 + 0 + 0.5) / 3)
    tilt = profile.get("tilt", **PAIR, **WHERE)
    assert tilt.signature.definition["n_per_item"] == ("2/40" if known else "2/unknown")
    assert profile.get("verdict", **PAIR, **WHERE).label == "cannot_say"
    assert profile.get("gate", pool="cn").label == "unknown"


def test_aggregates_of_too_few_raters_are_left_out() -> None:
    means = [("a", "cn", 3.0, 2), ("b", "cn", 4.0, 9), ("c", "cn", 1.0, None)]
    profile = run((corpus(rated({"us": TWO["us"]}), aggregates=means), None), min_raters=3)
    assert profile.get("n_items", pool="cn").value == 2
    assert profile.meta["left_out"] == {"q1": {"too_few_raters": 9}}


RANKS = {"pearson", "spearman", "missing_share", "recalibrated_mae", "repeat_alpha", "repeat_sd", "verdict"}


def test_a_judge_on_another_scale_has_only_rank_statistics() -> None:
    rows = judged({"j": {"a": 20, "b": 90, "c": 60, "d": 10}, "k": {"a": 2, "b": 4, "c": 3, "d": 1}})
    profile = run((corpus(rated(TWO)), judgments(rows, rank_only=["j"])))
    mine = profile.estimates.filter(judge="j")
    given = mine.filter(pl.col("value").is_not_null())
    assert set(given["statistic"]) <= RANKS
    assert {"pearson", "spearman", "recalibrated_mae"} <= set(given["statistic"])
    fitted = pl.col("statistic").str.contains(r"^(orientation|tilt_split|delta_split|minimum_detectable)")
    others = mine.filter(~pl.col("statistic").is_in(list(RANKS)))
    assert set(others.filter(~fitted)["undefined"]) == {"other_scale"}
    assert set(others.filter(fitted)["undefined"]) <= {"other_scale", "few_items"}
    assert profile.get("verdict", pool="us", **WHERE).label == "cannot_say"
    both = profile.get("mae", pool="us", judge="*", condition="*")
    assert both.undefined == "other_scale"
    assert profile.get("pearson", pool="us", judge="*", condition="*").value is not None
    assert profile.get("mae", pool="us", judge="k", condition="-").value == pytest.approx(0.375)
    holm = profile.estimates.filter(statistic="delta_test.t_p_holm")
    assert set(holm["judge"]) == {"k"}
    assert profile.meta["families"][0]["size"] == 1


def test_min_gap_leaves_items_out_of_tilt_alone() -> None:
    table = {"us": {"a": (1, 1), "b": (3, 3)}, "cn": {"a": (5, 5), "b": (3, 4)}}
    made = corpus(rated(table)), judgments(judged({"j": {"a": 1, "b": 4}}))
    wide, narrow = run(made), run(made, min_gap=1.0)
    assert wide.get("tilt", **PAIR, **WHERE).value == pytest.approx((1 - 1) / 2)
    found = narrow.get("tilt", **PAIR, **WHERE)
    assert (found.value, found.n, found.excluded) == (1.0, 1, {"small_gap": 1})
    assert found.signature.definition["min_gap"] == "1.0"
    for name in ("delta", "cross_pool_mad"):
        place: dict[str, Any] = PAIR if name == "cross_pool_mad" else PAIR | WHERE
        assert narrow.get(name, **place).value == wide.get(name, **place).value
    control = narrow.get("tilt", params="control=permuted", **PAIR, **WHERE)
    assert control.value == pytest.approx((1 + -0.5) / 2)


def test_min_raters_speaks_of_the_same_items_everywhere() -> None:
    table = {"us": {"a": (1, 2, 3), "b": (5,), "c": (2, 2, 4)}, "cn": {"a": (3, 3, 3), "b": (1, 1, 2), "c": (1, 5, 5)}}
    profile = run((corpus(rated(table)), judgments(judged({"j": {"a": 2, "b": 2, "c": 2}}))), min_raters=2)
    assert profile.get("n_items", pool="us").value == 2
    assert profile.get("n_ratings", pool="us").value == 6
    assert profile.get("mae", pool="us", **WHERE).excluded == {"no_consensus": 1}
    assert profile.get("gap_test.p", **PAIR).n == 2
    assert profile.meta["left_out"] == {"q1": {"too_few_raters": 1}}
    assert profile.get("mae", pool="us", **WHERE).signature.definition["min_raters"] == "2"


def test_median_consensus() -> None:
    table = {"us": {"a": (1, 1, 5), "b": (2, 3, 4)}, "cn": {"a": (2, 2, 2), "b": (5, 5, 1)}}
    made = corpus(rated(table)), judgments(judged({"j": {"a": 1, "b": 3}}))
    profile = run(made, consensus="median")
    assert profile.get("mae", pool="us", **WHERE).value == 0
    assert profile.get("gap_rms", **PAIR).undefined == "median_consensus"
    assert profile.get("reliability", pool="us").undefined == "median_consensus"
    assert profile.get("mae", pool="us", **WHERE).signature.definition["consensus"] == "median"
    assert profile.get("ceiling.own", pool="us").signature.definition["consensus"] == "mean_of_others"
    raters = run(made, consensus="median", resample="items+raters").get("mae", pool="us", **WHERE)
    assert raters.interval is None
    assert raters.signature.definition["no_interval"] == "median_consensus"
