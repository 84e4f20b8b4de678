"""Every branch of a policy: reading it, finding its places, deciding by the interval."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.analysis.policy import Policy
from voirdire.analysis.policy_rules import EXIT_CODES, MIN_N, RULES, PolicyResult, decide, overall
from voirdire.analysis.verdicts import LEAST_ITEMS
from voirdire.app.check import items, line
from voirdire.errors import PolicyError
from voirdire.texts import has, text

META: dict[str, Any] = {
    "questions": [{"id": "q1"}, {"id": "q2"}],
    "judged_questions": ["q1"],
    "pools": [{"name": "us"}, {"name": "cn"}],
    "pairs": [["us", "cn"]],
    "detail_pairs": [["us", "cn"]],
    "judges": ["a", "b"],
    "conditions": ["neutral", "persona"],
    "slices": ["all", "culture=cn"],
}
SCHEMA = {
    **dict.fromkeys(("statistic", "params", "question", "pool", "pool_b", "judge", "condition", "slice"), pl.String),
    "value": pl.Float64,
    "label": pl.String,
    "undefined": pl.String,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "excluded": pl.String,
    "signature": pl.String,
}


def row(statistic: str, **given: Any) -> dict[str, Any]:
    place = {"params": "", "question": "q1", "pool": "", "pool_b": "", "judge": "", "condition": "", "slice": "all"}
    number = {"value": None, "label": None, "undefined": None, "low": None, "high": None, "n": 60}
    return {"statistic": statistic, **place, **number, "excluded": "", "signature": "s", **given}


def judged(statistic: str, low: float, high: float, judge: str = "a", **given: Any) -> dict[str, Any]:
    given = {"judge": judge, "condition": "*", "value": (low + high) / 2, "low": low, "high": high, **given}
    return row(statistic, **given)


def check(rows: list[dict[str, Any]], *requirements: dict[str, Any], meta: Any = None, **defaults: Any) -> PolicyResult:
    policy = Policy.of({"require": list(requirements), "defaults": defaults}, file="p.toml")
    return policy.check(pl.DataFrame(rows, schema=SCHEMA), META if meta is None else meta)


def outcomes(result: PolicyResult) -> list[tuple[str, str]]:
    return [(check.outcome, check.reason) for check in result.checks]


@pytest.mark.parametrize(
    ("rule", "limit", "low", "high", "expected"),
    [
        ("max_mae", 0.8, 0.5, 0.8, "pass"),
        ("max_mae", 0.8, 0.81, 0.9, "fail"),
        ("max_mae", 0.8, 0.8, 0.9, "not_enough"),
        ("max_mae", 0.8, 0.7, 0.9, "not_enough"),
        ("max_percent_of_human", 100, 80, 100, "pass"),
        ("max_percent_of_human", 100, 101, 120, "fail"),
        ("max_abs_tilt", 0.3, -0.3, 0.3, "pass"),
        ("max_abs_tilt", 0.3, 0.31, 0.5, "fail"),
        ("max_abs_tilt", 0.3, -0.5, -0.31, "fail"),
        ("max_abs_tilt", 0.3, -0.5, 0.0, "not_enough"),
        ("max_abs_tilt", 0.3, -0.5, 0.5, "not_enough"),
        ("max_abs_delta", 0.0, 0.0, 0.0, "pass"),
        ("max_abs_position_bias", 0.1, -0.1, 0.05, "pass"),
        ("max_abs_position_bias", 0.1, 0.11, 0.3, "fail"),
        ("better_than_constant", 0.0, -0.2, -0.01, "pass"),
        ("better_than_constant", 0.0, 0.0, 0.2, "fail"),
        ("better_than_constant", 0.0, -0.1, 0.0, "not_enough"),
        ("better_than_constant", 0.0, -0.1, 0.2, "not_enough"),
    ],
)
def test_interval_decides(rule: str, limit: float, low: float, high: float, expected: str) -> None:
    found = {"value": (low + high) / 2, "label": None, "undefined": None, "low": low, "high": high, "n": 60}
    assert decide(rule, limit, found)[0] == expected


@given(st.floats(-5, 5), st.floats(0, 5), st.floats(0, 5), st.sampled_from(["max_mae", "max_abs_tilt"]))
def test_a_wider_interval_never_turns_pass_into_fail(low: float, width: float, limit: float, rule: str) -> None:
    narrow = {"value": low, "label": None, "undefined": None, "low": low, "high": low + width, "n": 60}
    wide = {**narrow, "low": low - 1, "high": low + width + 1}
    before, after = decide(rule, limit, narrow)[0], decide(rule, limit, wide)[0]
    assert after in (before, "not_enough")


@given(st.floats(-5, 5), st.floats(0, 5), st.floats(0, 5), st.floats(0, 5))
def test_a_looser_limit_never_turns_pass_into_anything(low: float, width: float, limit: float, more: float) -> None:
    found = {"value": low, "label": None, "undefined": None, "low": low, "high": low + width, "n": 60}
    for rule in ("max_mae", "max_abs_delta"):
        if decide(rule, limit, found)[0] == "pass":
            assert decide(rule, limit + more, found)[0] == "pass"


def test_infinite_ends_decide_nothing_inside() -> None:
    found = {"value": 0.1, "label": None, "undefined": None, "low": float("-inf"), "high": float("inf"), "n": 60}
    assert decide("max_abs_tilt", 0.3, found) == ("not_enough", "straddles")


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("pass", ("pass", "gate_pass")),
        ("pass_low_alpha", ("pass", "gate_pass_low_alpha")),
        ("fail", ("fail", "gate_fail")),
        ("unknown", ("not_enough", "gate_unknown")),
        ("not_asked", ("not_enough", "gate_not_asked")),
        ("a label of a later version", ("not_enough", "gate_unknown")),
    ],
)
def test_gate(label: str, expected: tuple[str, str]) -> None:
    rows = [row("gate", pool="us", label=label)]
    assert outcomes(check(rows, {"gate": True, "pool": "us", "question": "q1"})) == [expected]


def test_share_of_missing_is_counted_not_estimated() -> None:
    rows = [row("missing_share", judge="a", condition="*", value=0.02)]
    assert outcomes(check(rows, {"max_missing_share": 0.02, "judge": "a"})) == [("pass", "counted_inside")]
    assert outcomes(check(rows, {"max_missing_share": 0.01, "judge": "a"})) == [("fail", "counted_outside")]


def test_no_estimate_no_interval_no_value_is_no_evidence() -> None:
    rows = [
        row("mae", judge="a", condition="*", pool="us", value=0.1),
        row("mae", judge="a", condition="*", pool="cn", undefined="no_overlap"),
    ]
    result = check(rows, {"max_mae": 9, "judge": ["a", "b"]})
    assert outcomes(result) == [
        ("not_enough", "no_interval"),
        ("not_enough", "undefined"),
        ("not_enough", "absent"),
        ("not_enough", "absent"),
    ]
    assert result.checks[1].undefined == "no_overlap"
    assert result.exit_code == 2


def test_too_few_items() -> None:
    rows = [judged("mae", 0.1, 0.2, pool="us", n=20)]
    assert outcomes(check(rows, {"max_mae": 1, "judge": "a", "pool": "us", "min_n": 30})) == [("not_enough", "too_few")]
    assert outcomes(check(rows, {"max_mae": 1, "judge": "a", "pool": "us", "min_n": 20})) == [("pass", "inside")]
    assert outcomes(check(rows, {"max_mae": 1, "judge": "a", "pool": "us"}, min_n=30)) == [("not_enough", "too_few")]


def test_a_policy_that_says_nothing_asks_for_as_many_items_as_the_verdicts() -> None:
    near = {"max_mae": 1, "judge": "a", "pool": "us"}
    assert MIN_N == LEAST_ITEMS
    for n, expected in ((MIN_N - 1, ("not_enough", "too_few")), (MIN_N, ("pass", "inside"))):
        result = check([judged("mae", 0.1, 0.2, pool="us", n=n)], near)
        assert outcomes(result) == [expected]
    few = [judged("mae", 0.1, 0.2, pool="us", n=2)]
    assert "2 items; fewer than 30 are no evidence" in line(check(few, near).checks[0], "en")
    assert outcomes(check(few, near, min_n=0)) == [("pass", "inside")]
    gates = [row("gate", pool="us", label="pass", n=12)]
    assert outcomes(check(gates, {"gate": True, "pool": "us", "question": "q1"})) == [("not_enough", "too_few")]


def test_an_interval_without_width_on_few_items_is_no_evidence() -> None:
    near = {"max_mae": 1, "judge": "a", "pool": "us", "min_n": 2}
    equal = [judged("mae", 1 / 3, 1 / 3 + 1e-16, pool="us", n=2)]
    assert outcomes(check(equal, near)) == [("not_enough", "no_width")]
    assert outcomes(check([judged("mae", 0.0, 0.0, pool="us", n=30)], near)) == [("pass", "inside")]


def test_the_items_that_a_judge_answered_are_told() -> None:
    rows = [
        judged("mae", 0.1, 0.2, pool="us", n=40),
        row("missing_share", judge="a", condition="*", value=0.6, n=100),
    ]
    near, missing = check(rows, {"max_mae": 1, "pool": "us", "max_missing_share": 0.9}, judge="a").checks
    assert (near.n, near.items, items(near, "en"), items(missing, "en")) == (40, 100, "40 of 100", "100")
    assert "items 40 of 100" in line(near, "en")


def test_fail_beats_not_enough_beats_pass() -> None:
    rows = [judged("mae", 0.1, 0.2, pool="us"), judged("mae", 0.8, 0.9, pool="cn")]
    passed = {"max_mae": 1, "judge": "a"}
    assert check(rows, passed).outcome == "pass"
    assert check(rows, passed, {"max_mae": 1, "judge": "b"}).outcome == "not_enough"
    assert check(rows, passed, {"max_mae": 1, "judge": "b"}, {"max_mae": 0.5, "judge": "a"}).outcome == "fail"
    assert [EXIT_CODES[overall([outcome])] for outcome in ("pass", "fail", "not_enough")] == [0, 1, 2]


def test_places_left_out_mean_each() -> None:
    rows = [judged("mae", 0.1, 0.2, judge, pool=pool) for judge in ("a", "b") for pool in ("us", "cn")]
    result = check(rows, {"max_mae": 1})
    assert [(check.judge, check.pool) for check in result.checks] == [
        ("a", "us"),
        ("a", "cn"),
        ("b", "us"),
        ("b", "cn"),
    ]
    assert {(check.question, check.condition, check.slice) for check in result.checks} == {("q1", "*", "all")}
    assert result.outcome == "pass"


def test_the_gate_covers_every_question_and_pool() -> None:
    result = check([], {"gate": True})
    expected = [("q1", "us"), ("q1", "cn"), ("q2", "us"), ("q2", "cn")]
    assert [(check.question, check.pool) for check in result.checks] == expected


def test_each_condition_and_slice() -> None:
    rows = [judged("mae", 0.1, 0.2, pool="us", slice="culture=cn", condition="neutral")]
    result = check(rows, {"max_mae": 1, "judge": "a", "pool": "us", "condition": "each", "slice": "each"})
    places = [(check.condition, check.slice, check.outcome) for check in result.checks]
    assert places == [
        ("neutral", "all", "not_enough"),
        ("neutral", "culture=cn", "pass"),
        ("persona", "all", "not_enough"),
        ("persona", "culture=cn", "not_enough"),
    ]


def test_one_condition_is_taken_as_all() -> None:
    rows = [judged("mae", 0.1, 0.2, pool="us", condition="-")]
    meta = {**META, "conditions": ["-"]}
    assert check(rows, {"max_mae": 1, "judge": "a", "pool": "us"}, meta=meta).outcome == "pass"


def test_all_judges_and_selections_are_places_too() -> None:
    rows = [judged("mae", 0.1, 0.2, "*", pool="us"), judged("mae", 0.1, 0.2, "origin=us", pool="us")]
    result = check(rows, {"max_mae": 1, "judge": ["*", "origin=us"], "pool": "us"})
    assert [check.judge for check in result.checks] == ["*", "origin=us"]
    assert result.outcome == "pass"
    assert [check.judge for check in check(rows, {"max_mae": 1, "pool": "us"}).checks] == ["a", "b"]


def test_a_pair_in_either_order() -> None:
    rows = [judged("tilt", -0.1, 0.1, pool="us", pool_b="cn")]
    for pair in (["us", "cn"], ["cn", "us"]):
        assert check(rows, {"max_abs_tilt": 0.2, "judge": "a", "pair": pair}).outcome == "pass"


def test_the_ratio_form_is_a_number_of_its_own() -> None:
    rows = [
        judged("tilt", -0.1, 0.1, pool="us", pool_b="cn"),
        judged("tilt", 0.5, 0.7, pool="us", pool_b="cn", params="form=ratio"),
    ]
    result = check(rows, {"max_abs_tilt": 0.2, "max_abs_tilt_ratio": 0.2, "judge": "a"})
    assert [(check.rule, check.outcome) for check in result.checks] == [
        ("max_abs_tilt", "pass"),
        ("max_abs_tilt_ratio", "fail"),
    ]


def test_orientation_is_decided_on_the_row_itself_and_not_on_a_variant() -> None:
    pair = {"pool": "us", "pool_b": "cn"}
    base = judged("orientation.w", 0.2, 1.1, **pair)
    variants = [
        judged("orientation.w", 0.45, 0.55, params=params, **pair)
        for params in ("consensus=raw", "pools=standardised", "curvature=yes")
    ]
    limit = {"max_abs_orientation": 0.21, "judge": "a"}
    for rows in ([base, *variants], [*variants, base]):
        result = check(rows, limit)
        assert outcomes(result) == [("not_enough", "straddles")]
        assert (result.checks[0].low, result.checks[0].high) == (0.2, 1.1)
    assert outcomes(check(variants, limit)) == [("not_enough", "absent")]
    assert outcomes(check([judged("orientation.w", 0.45, 0.55, pool="cn", pool_b="us")], limit)) == [("pass", "inside")]


def test_two_rows_for_a_place_decide_nothing() -> None:
    near, far = judged("mae", 0.1, 0.2, pool="us"), judged("mae", 0.8, 0.9, pool="us")
    for rows in ([near, far], [far, near]):
        result = check(rows, {"max_mae": 0.5, "judge": "a", "pool": "us"})
        assert outcomes(result) == [("not_enough", "ambiguous")]
        assert result.checks[0].value is None
        assert "more than one" in line(result.checks[0], "en")
    both = [judged("delta", 0, 0.1, pool=pool, pool_b=pool_b) for pool, pool_b in (("us", "cn"), ("cn", "us"))]
    assert outcomes(check(both, {"max_abs_delta": 0.5, "judge": "a"})) == [("not_enough", "ambiguous")]


MANY: dict[str, Any] = {
    **META,
    "pools": [{"name": name} for name in ("us", "cn", "uk", "in")],
    "pairs": [["us", "cn"], ["us", "uk"], ["us", "in"], ["cn", "uk"], ["cn", "in"], ["uk", "in"]],
    "detail_pairs_by_question": {"q1": [["cn", "uk"]]},
}


@pytest.mark.parametrize("pair", [None, "each"])
def test_pairs_that_were_not_looked_at_are_no_evidence(pair: str | None) -> None:
    rows = [judged("delta", 0, 0.1, pool="cn", pool_b="uk")]
    limit = {"max_abs_delta": 0.5, "judge": "a", **({"pair": pair} if pair else {})}
    result = check(rows, limit, meta=MANY)
    assert outcomes(result) == [("pass", "inside"), ("not_enough", "pairs_left")]
    assert (result.checks[1].pairs, result.checks[1].pairs_left, result.exit_code) == (6, 5, 2)
    assert all(part in line(result.checks[1], "en") for part in ("5 of 6 pairs were not looked at", "--all-pairs"))
    whole = {**MANY, "detail_pairs_by_question": {"q1": MANY["pairs"]}}
    assert {check.reason for check in check(rows, limit, meta=whole).checks} == {"inside", "absent"}


def test_named_pairs_are_all_that_is_asked() -> None:
    rows = [judged("delta", 0, 0.1, pool="cn", pool_b="uk"), judged("percent_of_human", 80, 90, pool="cn", pool_b="uk")]
    assert check(rows, {"max_abs_delta": 0.5, "judge": "a", "pair": ["uk", "cn"]}, meta=MANY).outcome == "pass"
    human = {"max_percent_of_human": 100, "judge": "a", "pool": "cn"}
    assert check(rows, {**human, "against": "uk"}, meta=MANY).outcome == "pass"
    result = check(rows, human, meta=MANY)
    assert outcomes(result) == [("pass", "inside"), ("not_enough", "pairs_left")]
    assert (result.checks[1].pairs, result.checks[1].pairs_left) == (3, 2)


def test_of_the_params_the_folds_do_not_matter() -> None:
    rows = [
        judged("mae_vs_constant", -0.5, -0.2, pool="us", params="folds=10"),
        judged("mae", 0.1, 0.2, pool="us"),
        judged("mae", 0.8, 0.9, pool="us", params="control=permuted"),
    ]
    result = check(rows, {"better_than_constant": True, "max_mae": 0.5, "judge": "a", "pool": "us"})
    assert outcomes(result) == [("pass", "inside"), ("pass", "inside")]


def test_percent_of_human_is_against_the_other_pool() -> None:
    rows = [
        judged("percent_of_human", 80, 90, pool="us", pool_b="cn"),
        judged("percent_of_human", 110, 120, pool="cn", pool_b="us"),
    ]
    result = check(rows, {"max_percent_of_human": 100, "judge": "a"})
    assert [(check.pool, check.pool_b, check.outcome) for check in result.checks] == [
        ("us", "cn", "pass"),
        ("cn", "us", "fail"),
    ]
    assert check(rows, {"max_percent_of_human": 100, "judge": "a", "pool": "us", "against": "cn"}).outcome == "pass"


def test_a_requirement_without_any_place_is_no_evidence() -> None:
    meta = {**META, "pools": [{"name": "us"}], "pairs": [], "detail_pairs": []}
    rows = [judged("mae", 0.1, 0.2, pool="us")]
    assert outcomes(check(rows, {"max_abs_tilt": 0.2, "judge": "a"}, meta=meta)) == [("not_enough", "no_place")]
    assert outcomes(check(rows, {"max_percent_of_human": 90, "judge": "a"}, meta=meta)) == [("not_enough", "no_place")]


def test_defaults_fill_in_and_a_requirement_overrides() -> None:
    rows = [judged("mae", 0.1, 0.2, judge, pool="us") for judge in ("a", "b")]
    result = check(rows, {"max_mae": 1}, {"max_mae": 1, "judge": "b"}, judge="a", pool="us", pair=["us", "cn"])
    assert [check.judge for check in result.checks] == ["a", "b"]


@pytest.mark.parametrize(
    ("place", "known"),
    [("question", "q2"), ("pool", "cn"), ("judge", "b"), ("condition", "persona"), ("slice", "all")],
)
def test_unknown_names(place: str, known: str) -> None:
    with pytest.raises(PolicyError) as caught:
        check([judged("mae", 0, 1, pool="us")], {"max_mae": 1, place: "nowhere"})
    message = str(caught.value)
    assert "p.toml" in message
    assert "[[require]] 1" in message
    assert place in message
    assert "'nowhere'" in message
    assert known in message


def test_unknown_pool_of_a_pair() -> None:
    with pytest.raises(PolicyError, match="no pair named 'uk'"):
        check([], {"max_abs_tilt": 1, "pair": ["us", "uk"]})


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({}, "requires nothing"),
        ({"require": []}, "requires nothing"),
        ({"require": "mae"}, "requires nothing"),
        ({"require": ["mae"]}, "requires nothing"),
        ({"require": [{"max_mae": 1}], "defaults": 3}, "requires nothing"),
        ({"require": [{}]}, "sets no limit"),
        ({"require": [{"pool": "us"}]}, "sets no limit"),
        ({"require": [{"max_mea": 1}]}, "no key 'max_mea'"),
        ({"requires": [{"max_mae": 1}]}, "no key 'requires'"),
        ({"require": [{"max_mae": 1}], "defaults": {"pol": "us"}}, "no key 'pol'"),
        ({"require": [{"gate": True, "judge": "a"}]}, "no meaning for gate"),
        ({"require": [{"max_mae": 1, "pair": ["us", "cn"]}]}, "no meaning for max_mae"),
        ({"require": [{"gate": False}]}, "can only be true"),
        ({"require": [{"better_than_constant": 1}]}, "can only be true"),
        ({"require": [{"max_mae": True}]}, "A limit is a number"),
        ({"require": [{"max_mae": "1"}]}, "A limit is a number"),
        ({"require": [{"max_mae": -0.1}]}, "A limit is a number"),
        ({"require": [{"max_mae": float("nan")}]}, "A limit is a number"),
        ({"require": [{"max_mae": float("inf")}]}, "A limit is a number"),
        ({"require": [{"max_mae": 1, "min_n": 1.5}]}, "whole number"),
        ({"require": [{"max_mae": 1, "min_n": -1}]}, "whole number"),
        ({"require": [{"max_mae": 1, "min_n": True}]}, "whole number"),
        ({"require": [{"max_mae": 1, "pool": 3}]}, "one name, a list of names"),
        ({"require": [{"max_mae": 1, "pool": []}]}, "one name, a list of names"),
        ({"require": [{"max_mae": 1, "pool": ""}]}, "one name, a list of names"),
        ({"require": [{"max_abs_tilt": 1, "pair": "us"}]}, "Give two names"),
        ({"require": [{"max_abs_tilt": 1, "pair": ["us"]}]}, "Give two names"),
        ({"require": [{"max_abs_tilt": 1, "pair": ["us", "us"]}]}, "Give two names"),
    ],
)
def test_policies_that_cannot_be_applied(table: dict[str, Any], words: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.of(table, file="p.toml")
    assert words in str(caught.value)
    assert "p.toml" in str(caught.value)
    assert caught.value.message("zh") != str(caught.value)


def test_pairs_may_be_a_list() -> None:
    policy = Policy.of({"require": [{"max_abs_tilt": 1, "pair": [["us", "cn"], ["us", "uk"]]}]})
    assert policy.requirements[0].places["pair"] == (("us", "cn"), ("us", "uk"))


def test_files(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="cannot be opened"):
        Policy.load(tmp_path / "none.toml")
    for name, content in (("broken", b"[["), ("bytes", b"\xff\xfe")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(PolicyError, match="is not TOML"):
            Policy.load(tmp_path / name)
    (tmp_path / "good").write_text('[[require]]\nmax_mae = 1\nname = "near"\n', encoding="utf-8")
    assert Policy.load(tmp_path / "good").requirements[0].name == "near"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_rule_outcome_and_reason_has_words(lang: str) -> None:
    reasons = ("inside", "absent", "too_few", "no_width", "ambiguous", "pairs_left", "no_interval")
    assert all(has(f"policy.reason.{reason}", lang) for reason in reasons)
    assert all(has(f"policy.rule.{rule}", lang) for rule in RULES)
    assert all(has(f"policy.{kind}.{outcome}", lang) for kind in ("outcome", "overall") for outcome in EXIT_CODES)
    assert "0.8" in text("policy.rule.max_mae", lang, limit=0.8)


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (0.41, 0.59, "pass"),
        (0.72, 0.9, "fail"),
        (0.1, 0.29, "fail"),
        (0.45, 0.75, "not_enough"),
        (None, None, "not_enough"),
    ],
)
def test_orientation_is_held_against_the_middle(low: float | None, high: float | None, outcome: str) -> None:
    row = {"value": 0.5, "label": None, "undefined": None, "low": low, "high": high, "n": 60}
    assert decide("max_abs_orientation", 0.2, row)[0] == outcome
    undefined = row | {"value": None, "undefined": "no_positive_relation"}
    assert decide("max_abs_orientation", 0.2, undefined) == ("not_enough", "undefined")
