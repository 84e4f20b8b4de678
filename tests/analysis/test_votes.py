"""Whole audits of pairwise votes: read from tables, by hand, and where nothing can be said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.analysis.builders import VOTES, check, corpus, judged, judgments, rated, run

from voirdire.analysis import preference_rows
from voirdire.analysis.evaluate import evaluate
from voirdire.analysis.options import AuditOptions
from voirdire.analysis.profile import Profile
from voirdire.corpus.reading import CorpusOptions, JudgmentOptions, read_corpus, read_judgments
from voirdire.errors import VoirdireError

A, B, TIE = 0.0, 1.0, 2.0
TWO: dict[str, Any] = {"pool": "us", "pool_b": "cn"}


def table() -> pl.DataFrame:
    """Two pools of three raters on two pairs of drinks, called as their makers call them."""
    given = {
        ("tea-cola", "us"): ("second", "second", "first"),
        ("tea-cola", "cn"): ("first", "first", "first"),
        ("milk-tea", "us"): ("first", "tie", "first"),
        ("milk-tea", "cn"): ("second", "second", "tie"),
    }
    rows = [(item, f"{pool}{k}", pool, vote) for (item, pool), votes in given.items() for k, vote in enumerate(votes)]
    return pl.DataFrame(rows, schema=["item_id", "rater_id", "pool", "rating"], orient="row")


ITEMS = pl.DataFrame({"item_id": ["tea-cola", "milk-tea"], "first": ["tea", "milk"], "second": ["cola", "tea"]})


def audited(ratings: pl.DataFrame, judged_rows: pl.DataFrame | None = None, **options: Any) -> Profile:
    read = read_corpus(CorpusOptions(ratings, **({"items": ITEMS, "level": "pairwise"} | options)))
    made = None if judged_rows is None else read_judgments(JudgmentOptions(judged_rows), read)
    profile = evaluate(read, made, AuditOptions(draws=50, permutations=50))
    check(profile)
    return profile


def test_by_hand() -> None:
    said = pl.DataFrame({"item_id": ["tea-cola", "milk-tea"], "judge": "m", "rating": ["first", "second"]})
    found = audited(table(), said)
    assert found.meta["questions"][0]["scale"] == "pairwise:first/second/tie"
    assert [note["key"] for note in found.meta["notes"]].count("input.note.votes_inferred") == 1
    m: dict[str, Any] = {"judge": "m", "condition": "-"}
    assert found.get("agreement", pool="us", **m).value == pytest.approx((1 / 3 + 0) / 2)
    assert found.get("agreement", pool="cn", **m).value == pytest.approx((1 + 2 / 3) / 2)
    assert found.get("agreement", params="ties=out", pool="cn", **m).value == pytest.approx(1)
    assert found.get("agreement.best", pool="us").value == pytest.approx(2 / 3)
    assert found.get("agreement.human", pool="us").value == pytest.approx(1 / 3)
    assert found.get("delta", **TWO, **m).value == pytest.approx((2 / 3 + 1) / 2 - (0 + 1 / 3) / 2)
    assert found.get("cross_pool_tv", **TWO).value == pytest.approx((2 / 3 + 2 / 3) / 2)
    assert found.get("tilt", params="form=ratio", **TWO, **m).value == pytest.approx(-(5 / 6 - 1 / 6) / (2 / 3))
    assert found.get("preference.reversed", **TWO).value == 1
    assert found.get("cross_pool_preference_r", **TWO).value == pytest.approx(-7 / 65**0.5)
    tea = {"params": "thing=tea"}
    assert found.get("preferred_share", pool="us", **tea).value == pytest.approx((1 / 3 + 0.5 / 3) / 2)
    assert found.get("preferred_share", pool="cn", **tea).value == pytest.approx((1 + 2.5 / 3) / 2)
    assert found.get("preferred_share.gap", **TWO, **tea).value == pytest.approx((1 / 3 + 0.5 / 3 - 1 - 2.5 / 3) / 2)
    assert found.get("preferred_share.judge", **m, **tea).value == 1
    assert found.get("preferred_share.difference", pool="us", **m, **tea).value == pytest.approx(1 - 0.25)
    assert "thing=cola" not in set(found.estimates["params"])


def test_what_does_not_exist_says_why() -> None:
    said = pl.DataFrame({"item_id": ["tea-cola", "milk-tea"], "judge": "m", "rating": ["first", "tie"]})
    found = audited(table(), said).estimates
    reasons = dict(found.filter(slice="all").select("statistic", "undefined").unique().drop_nulls().rows())
    named = ("bias", "pearson", "kappa_qw", "spread.slope", "share_low", "share_high", "anchor_class.high",
             "orientation.w", "cross_pool_pearson", "split_half", "consensus_mean", "tilt.share_small_gaps",
             "cross_pool_spearman", "distribution.w1")  # fmt: skip
    assert {name: reasons.get(name) for name in named} == dict.fromkeys(named, "pairwise_votes")
    assert {reasons[name] for name in ("position.bias", "position.consistency", "position.raters")} == {"no_order"}
    undefined = found.filter(pl.col("undefined") == "nominal_scale")
    assert undefined.is_empty()


def test_controls_are_for_either_thing() -> None:
    found = audited(table(), pl.DataFrame({"item_id": ["tea-cola"], "judge": ["m"], "rating": ["first"]}))
    control: dict[str, Any] = {"condition": "-", "pool": "us"}
    assert found.get("agreement", judge="control:coin", **control).value == pytest.approx((1 + 2 / 3) / 4)
    assert found.get("agreement", judge="control:constant_tie", **control).value == pytest.approx(1 / 6)
    assert found.get("agreement", judge="control:random", **control).value == pytest.approx(1 / 3)
    assert found.get("plurality_agreement", judge="control:copy_us_rounded", **control).value == 1
    assert found.get("position.bias", judge="m", condition="-").undefined == "no_order"


def test_both_orders_are_repeats_of_one_cell() -> None:
    said = pl.DataFrame(
        {
            "item_id": ["tea-cola", "tea-cola", "milk-tea", "milk-tea"],
            "judge": "m",
            "rating": ["first", "first", "first", "second"],
            "shown_first": ["first", "cola", "a", "b"],
        }
    )
    found = audited(table().with_columns(shown_first=pl.lit("first")), said)
    m: dict[str, Any] = {"judge": "m", "condition": "-"}
    assert found.get("position.bias", **m).value == pytest.approx((0 + 1) / 2)
    assert found.get("position.consistency", **m).value == 0.5
    assert found.get("position.consistency", **m).interval is not None
    effect = found.get("position.effect", pool="us", **m).value
    assert effect == pytest.approx((1 / 3 + 2 / 3) / 2 - (1 / 3 + 0) / 2)
    assert found.get("position.raters", pool="us").value == pytest.approx((-1 / 3 + 2 / 3) / 2)
    assert found.get("agreement", pool="us", **m).value == pytest.approx((1 / 3 + 1 / 3) / 2)
    assert found.get("repeat_alpha", **m).signature.params == {"level": "pairwise"}
    assert "shown_first" not in found.meta["factors"]


def in_two_orders(first: tuple[str, ...], **columns: tuple[str, ...]) -> pl.DataFrame:
    items = ["tea-cola", "tea-cola", "milk-tea", "milk-tea"]
    rating = ["first", "first", "first", "second"]
    return pl.DataFrame({"item_id": items, "judge": "m", "rating": rating, "shown_first": first, **columns})


@pytest.mark.parametrize("first", [("a", "b", "a", "b"), ("a", "b", "b", "a")])
def test_a_design_that_the_order_tells_apart_too_is_said(first: tuple[str, ...]) -> None:
    read = read_corpus(CorpusOptions(table(), items=ITEMS, level="pairwise"))
    said = in_two_orders(first, persona=("us", "cn", "us", "cn"))
    made = read_judgments(JudgmentOptions(said), read)
    found = [note for note in made.notes if note.key == "input.note.order_alike"]
    assert [(note.kind, note.fields["columns"]) for note in found] == [("warning", "persona")]
    assert made.cells["condition"].to_list() == ["-"]
    named = read_judgments(JudgmentOptions(said, factors=("persona",)), read)
    assert "input.note.order_alike" not in [note.key for note in named.notes]
    assert named.table.select("condition", "repeat").unique().sort("condition").rows() == [("cn", 1), ("us", 1)]
    plain = read_judgments(JudgmentOptions(in_two_orders(first, persona=("us", "us", "us", "cn"))), read)
    assert "input.note.order_alike" not in [note.key for note in plain.notes]


def test_the_side_shown_first_in_one_order_is_no_repeat() -> None:
    said = pl.DataFrame(
        {"item_id": ["tea-cola", "milk-tea"], "judge": "m", "rating": ["tie", "first"], "shown_first": ["tea", None]}
    )
    found = audited(table(), said)
    m: dict[str, Any] = {"judge": "m", "condition": "-"}
    assert (found.get("position.bias", **m).value, found.get("position.bias", **m).n) == (0.0, 1)
    assert found.get("position.consistency", **m).undefined == "one_order"
    assert "repeat_alpha" not in set(found.estimates["statistic"])


def test_things_beyond_the_most_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not [note for note in audited(table()).meta["notes"] if note["key"] == "audit.note.things_beyond"]
    monkeypatch.setattr(preference_rows, "MOST_THINGS", 0)
    found = audited(table())
    said = [note for note in found.meta["notes"] if note["key"] == "audit.note.things_beyond"]
    assert [(note["fields"]["count"], note["kind"]) for note in said] == [(1, "warning")]


def test_things_are_no_slices() -> None:
    items = ITEMS.with_columns(kind=pl.Series(["hot", "cold"]))
    found = audited(table(), items=items)
    assert set(found.meta["slices"]) == {"all", "kind=hot", "kind=cold"}
    split = found.items.sort("item_id")
    assert split["consensus.us"].to_list() == ["milk (67%)", "cola (67%)"]
    assert set(found.distributions["level"]) == {"first / second", "tie"}


def test_two_labels_have_no_ties() -> None:
    votes = table().with_columns(pl.col("rating").replace({"tie": "first", "first": "L", "second": "R"}))
    votes = votes.with_columns(pl.col("rating").replace({"first": "L"}))
    found = audited(votes, labels=("L", "R"), items=None)
    assert found.meta["questions"][0]["scale"] == "pairwise:L/R"
    assert found.get("preference.ties", pool="us").undefined == "no_tie_label"
    assert "preferred_share" not in set(found.estimates["statistic"])


def test_declared_in_the_questions_table() -> None:
    """The words of the table are the labels, whatever they are called, and case does not matter."""
    words = {"first": "Links", "second": "rechts", "tie": "egal"}
    votes = table().with_columns(pl.col("rating").replace(words), question=pl.lit("better"))
    questions = pl.DataFrame({"question": ["better"], "level": ["pairwise"], "labels": ["links|rechts|egal"]})
    found = audited(votes, level=None, questions=questions)
    assert found.meta["questions"][0]["labels"] == ["links", "rechts", "egal"]
    assert found.get("agreement.best", pool="us").value == pytest.approx(2 / 3)


def test_shares_without_raters() -> None:
    """A pool that comes as shares of the labels is a reference of unknown reliability."""
    shares = [("i", "us", "a", 0.5), ("i", "us", "b", 0.25), ("i", "us", "tie", 0.25)]
    people = rated({"cn": {"i": (A, A)}})
    made = corpus(people, VOTES, shares=shares, pools=("us", "cn")), judgments(judged({"m": {"i": B}}))
    found = run(made)
    assert found.get("agreement", pool="us", judge="m", condition="-").value == 0.25
    assert found.get("agreement.best", pool="us").value == 0.5
    assert found.get("agreement.human", pool="us").undefined == "aggregate_pool"
    assert found.get("reliability", pool="us").undefined == "aggregate_pool"
    assert found.get("delta", **TWO, judge="m", condition="-").value == pytest.approx(0.75 - 1)


def test_a_side_shown_first_cannot_be_read_in_pieces(tmp_path: Path) -> None:
    said = pl.DataFrame({"item_id": ["tea-cola"], "judge": ["m"], "rating": ["first"], "shown_first": ["a"]})
    (tmp_path / "parts").mkdir()
    said.write_parquet(tmp_path / "parts" / "one.parquet")
    read = read_corpus(CorpusOptions(table(), items=ITEMS, level="pairwise"))
    with pytest.raises(VoirdireError) as caught:
        read_judgments(JudgmentOptions(tmp_path / "parts"), read)
    assert caught.value.key == "input.sides_in_parts"


def test_a_column_of_that_name_is_nothing_where_no_question_asks_for_votes() -> None:
    rows = pl.DataFrame({"item_id": ["x", "y"], "rater_id": "r", "pool": "us", "rating": [1, 5], "shown_first": "?"})
    read = read_corpus(CorpusOptions(rows))
    assert "shown_first" not in read.ratings.columns


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"labels": ("first", "second", "tie", "neither")}, "input.votes_labels"),
        ({"labels": ("first", "second", "tie"), "positive": "first"}, "input.votes_positive"),
        ({"labels": ("x", "y")}, "input.value_out_of_scale"),
        ({"aggregate": ("all",)}, "input.votes_as_means"),
    ],
)
def test_refused(options: dict[str, Any], key: str) -> None:
    with pytest.raises(VoirdireError) as caught:
        audited(table(), **options)
    assert caught.value.key == key


def test_labels_that_nobody_knows_are_refused() -> None:
    votes = table().with_columns(pl.col("rating").replace({"first": "x", "second": "y"}))
    with pytest.raises(VoirdireError) as caught:
        audited(votes)
    assert (caught.value.key, caught.value.fields["words"]) == ("input.votes_unknown", "tie, x, y")


def test_items_that_nobody_rated_count_in_no_number_of_a_judge() -> None:
    items = pl.concat([ITEMS, pl.DataFrame({"item_id": ["unrated"], "first": ["tea"], "second": ["cola"]})])
    said = pl.DataFrame(
        {
            "item_id": ["tea-cola", "tea-cola", "milk-tea", "milk-tea", "unrated", "unrated"],
            "judge": "m",
            "rating": ["first", "first", "first", "second", "second", "first"],
            "shown_first": ["a", "b", "a", "b", "a", "b"],
        }
    )
    one: dict[str, Any] = {"judge": "m", "condition": "-"}
    found = audited(table(), said, items=items)
    assert found.get("position.consistency", **one).value == 0.5
    assert found.get("position.bias", **one).value == 0.5
    assert found.get("preferred_share.judge", params="thing=tea", **one).value == 0.75


def test_a_side_that_is_no_thing_of_the_item_is_refused() -> None:
    said = pl.DataFrame({"item_id": ["tea-cola"], "judge": ["m"], "rating": ["first"], "shown_first": ["milk"]})
    with pytest.raises(VoirdireError) as caught:
        audited(table(), said)
    assert (caught.value.key, caught.value.fields["row"]) == ("input.shown_unknown", 1)


@pytest.mark.parametrize(
    ("pools", "answers"),
    [
        ({"us": {"i": (A,)}, "cn": {"i": (B,)}}, {"i": A}),
        ({"us": {"i": (TIE, TIE), "j": (TIE, TIE)}, "cn": {"i": (TIE,), "j": (TIE, TIE)}}, {"i": TIE, "j": TIE}),
        ({"us": {"i": (A, B), "j": (A, A)}, "cn": {"i": (A, B), "j": (A, A)}}, {"i": A, "j": A}),
        ({"us": {"i": (A, B, TIE)}, "cn": {"j": (A, A)}}, {"i": TIE, "j": None}),
    ],
)
def test_where_little_can_be_said(pools: dict[str, Any], answers: dict[str, float | None]) -> None:
    found = run((corpus(rated(pools), VOTES), judgments(judged({"m": answers}))))
    verdicts = found.estimates.filter(statistic="verdict")
    assert set(verdicts["label"]) == {"cannot_say"}


def test_a_judge_that_always_says_the_same_and_one_pool() -> None:
    pools = {"us": {f"i{k}": (A, A, B, TIE) for k in range(40)}}
    answers = {"m": {f"i{k}": A for k in range(40)}}
    found = run((corpus(rated(pools), VOTES), judgments(judged(answers))))
    assert found.get("agreement", pool="us", judge="m", condition="-").value == 0.5
    assert found.get("mae_vs_constant", pool="us", judge="m", condition="-").value == pytest.approx(0.5 - 0.625)
    assert found.get("gate", pool="us").label == "fail"


def test_the_gate_can_pass_and_a_copy_is_as_near_as_a_rater() -> None:
    pools = {
        pool: {f"i{k}": (float(k % 2 == odd),) * 7 + (float(k % 3 == 0),) for k in range(40)}
        for pool, odd in (("us", 0), ("cn", 1))
    }
    answers = {"m": {f"i{k}": float(k % 2 == 0) for k in range(40)}}
    found = run((corpus(rated(pools), VOTES), judgments(judged(answers))))
    m: dict[str, Any] = {"judge": "m", "condition": "-"}
    assert {row["label"] for row in found.estimates.filter(statistic="gate").iter_rows(named=True)} == {"pass"}
    assert found.get("verdict", pool="us", **m).label == "as_near_as_rater"
    assert found.get("verdict", pool="cn", **m).label == "no_better_than_constant"
    assert found.get("verdict", **TWO, **m).label == "nearer_a"
