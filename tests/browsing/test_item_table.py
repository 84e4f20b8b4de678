"""Numbers of every item: against plain arithmetic, and against the estimates of an audit."""

from __future__ import annotations

import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from voirdire.app.inputs import Inputs, read_inputs
from voirdire.browsing.item_distances import distance_numbers, distances_of_item
from voirdire.browsing.item_filters import Filters, Order, beside, matching, ordered, paired
from voirdire.browsing.item_pools import ItemPools, pools_of_consensus, pools_of_corpus
from voirdire.browsing.item_table import item_facts, item_numbers
from voirdire.browsing.said import ROWS, said_of_judgments, said_of_rows
from voirdire.browsing.sources import together
from voirdire.corpus.corpus import Coded, Corpus
from voirdire.corpus.options import JudgmentOptions
from voirdire.corpus.parts import Part, Parts
from voirdire.corpus.reading import CorpusOptions, read_corpus, read_judgments
from voirdire.scales import Scale

FOUR = ("q1", "q2", "q3", "q4")


def rated(rows: list[tuple[str, str, str, object]], **options: object) -> Corpus:
    frame = pl.DataFrame(rows, schema=["item_id", "rater_id", "pool", "rating"], orient="row")
    return read_corpus(CorpusOptions(frame, **options))  # type: ignore[arg-type]


SMALL = [
    ("a", "u1", "us", 5), ("a", "u2", "us", 5), ("a", "c1", "cn", 1), ("a", "c2", "cn", 2),
    ("b", "u1", "us", 4), ("b", "u2", "us", 5), ("b", "c1", "cn", 4), ("b", "c2", "cn", 5),
    ("c", "u1", "us", 3),
]  # fmt: skip
JUDGED = [
    ("a", "m", "x", 1, 4.0, "ok"), ("a", "m", "x", 2, 2.0, "ok"), ("a", "m", "y", 1, 5.0, "ok"),
    ("a", "k", "x", 1, 1.0, "ok"), ("b", "m", "x", 1, None, "refused"), ("b", "k", "x", 1, 3.0, "ok"),
    ("b", "k", "y", 1, None, "malformed"), ("c", "k", "x", 1, 3.0, "ok"), ("z", "k", "x", 1, 3.0, "ok"),
]  # fmt: skip


@pytest.fixture(scope="module")
def small() -> pl.DataFrame:
    corpus = rated(SMALL)
    items = pl.Series(["c", "b", "a", "d"])
    said = said_of_rows(pl.DataFrame(JUDGED, schema=ROWS, orient="row"), items)
    pools = pools_of_corpus(corpus, corpus.questions[0], items)
    assert pools is not None
    return item_numbers(4, pools, said, (0, 1)).with_columns(item_id=items)


def row(frame: pl.DataFrame, item: str) -> dict[str, object]:
    return frame.row(by_predicate=pl.col("item_id") == item, named=True)


def test_pools_and_gaps_of_a_few_items(small: pl.DataFrame) -> None:
    a, b, c, d = (row(small, item) for item in "abcd")
    assert (a["consensus.0"], a["consensus.1"], a["raters.0"], a["gap"], a["widest"]) == (5.0, 1.5, 2.0, 3.5, 3.5)
    assert (a["widest.a"], a["widest.b"], a["anchor"]) == (0, 1, "divergent")
    assert (b["gap"], b["widest"], b["anchor"]) == (0.0, 0.0, "high")
    assert (c["consensus.0"], c["consensus.1"], c["gap"], c["gap.why"], c["anchor"]) == (
        3.0, None, None, "no_consensus", None,
    )  # fmt: skip
    assert (d["consensus.0"], d["widest"], d["widest.why"], d["widest.a"]) == (None, None, "no_consensus", None)


def test_a_judge_s_repeats_share_the_weight_of_one_cell(small: pl.DataFrame) -> None:
    a = row(small, "a")
    # cell x of judge m: repeats 4 and 2, cell y: 5
    assert a["mean.0"] == pytest.approx((3 + 5) / 2)
    tilt_x = ((1 - 2.5) + (3 - 0.5)) / 2
    tilt_y = 0 - 3.5
    assert a["tilt.0"] == pytest.approx((tilt_x + tilt_y) / 2)
    assert a["tilt.1"] == pytest.approx(4 - 0.5)
    assert a["tilt"] == pytest.approx((tilt_x + tilt_y + 3.5) / 3)
    assert (a["tilt_most"], a["tilt_most.judge"]) == (pytest.approx(3.5), 1)
    assert a["disagreement"] == pytest.approx(statistics.stdev([4.0, 1.0]))


def test_what_is_undefined_says_why_and_is_never_a_number(small: pl.DataFrame) -> None:
    b, c, d = (row(small, item) for item in "bcd")
    assert (b["mean.0"], b["disagreement"], b["disagreement.why"]) == (None, None, "one_judge")
    assert (b["tilt"], b["tilt.why"]) == (0.0, None)
    assert (c["tilt"], c["tilt.why"]) == (None, "no_consensus")
    assert (d["tilt.why"], d["disagreement.why"], d["asked"]) == ("no_consensus", "not_judged", 0)
    for name, dtype in small.schema.items():
        assert not (dtype.is_float() and small[name].is_nan().any()), name


def test_judgments_without_a_rating_are_counted(small: pl.DataFrame) -> None:
    b = row(small, "b")
    assert (b["status.refused"], b["status.refused.0"], b["status.refused.1"]) == (1, 1, 0)
    assert (b["status.malformed.1"], b["asked"], b["asked.1"]) == (1, 3, 2)


def test_a_judge_on_another_scale_has_no_tilt() -> None:
    corpus = rated(SMALL)
    items = pl.Series(["a", "b"])
    rows = pl.DataFrame([("a", "m", "x", 1, 90.0, "ok"), ("a", "k", "x", 1, 4.0, "ok")], schema=ROWS, orient="row")
    pools = pools_of_corpus(corpus, corpus.questions[0], items)
    both = item_numbers(2, pools, said_of_rows(rows, items, rank_only={"m"}), (0, 1))
    assert (both["mean.0"][0], both["tilt.0"][0], both["disagreement.why"][0]) == (90.0, None, "one_judge")
    assert both["tilt"][0] == both["tilt.1"][0] == pytest.approx(1 - 2.5)
    alone = item_numbers(2, pools, said_of_rows(rows[:1], items, rank_only={"m"}), (0, 1))
    assert alone["tilt.why"].to_list() == ["other_scale"] * 2
    assert alone["disagreement.why"].to_list() == ["other_scale", "not_judged"]
    assert both["tilt.why"].to_list() == [None, "not_judged"]


def test_labels_have_a_distance_and_no_mean() -> None:
    rows = [("a", f"r{n}", pool, said) for n, (pool, said) in enumerate(
        [("us", "x"), ("us", "x"), ("us", "y"), ("us", "z"), ("cn", "y"), ("cn", "y"), ("cn", "z"), ("cn", "x")]
    )]  # fmt: skip
    corpus = rated(rows)
    assert corpus.questions[0].scale.nominal
    items = pl.Series(["a"])
    labels = corpus.questions[0].scale.labels
    code = {label: float(labels.index(label)) for label in "xyz"}
    said = said_of_rows(
        pl.DataFrame(
            [("a", "m", "-", 1, code["x"], "ok"), ("a", "k", "-", 1, code["y"], "ok")], schema=ROWS, orient="row"
        ),
        items,
    )
    numbers = item_numbers(1, pools_of_corpus(corpus, corpus.questions[0], items), said, (0, 1))
    assert numbers["gap"][0] == numbers["widest"][0] == pytest.approx(0.25)
    assert (numbers["consensus.0"][0], numbers["mean.0"][0]) == (None, None)
    assert numbers["anchor.why"][0] == "no_order" == numbers["disagreement.why"][0]
    # error of "x": 1 - 2/4 against us, 1 - 1/4 against cn
    assert numbers["tilt.0"][0] == pytest.approx((1 - 0.5) - (1 - 0.25))
    assert numbers["tilt.1"][0] == pytest.approx((1 - 0.25) - (1 - 0.5))


def test_without_people_or_judges_everything_says_so() -> None:
    numbers = item_numbers(2, None, None, None)
    assert numbers["gap.why"].to_list() == ["no_pools"] * 2 == numbers["tilt.why"].to_list()
    assert numbers["disagreement.why"].to_list() == ["not_judged"] * 2
    single = rated([("a", "u", "us", 3), ("b", "u", "us", 1)])
    items = pl.Series(["a", "b"])
    numbers = item_numbers(2, pools_of_corpus(single, single.questions[0], items), None, None)
    assert numbers["gap.why"][0] == "one_pool" == numbers["widest.why"][0]


def test_the_widest_gap_is_that_of_any_two_pools() -> None:
    rng = np.random.default_rng(3)
    means = np.where(rng.random((5, 40)) < 0.3, np.nan, rng.integers(1, 6, (5, 40)).astype(float))
    rows = [(str(i), f"p{k}", means[k, i], 3, None) for i in range(40) for k in range(5) if not np.isnan(means[k, i])]
    frame = pl.DataFrame(
        rows,
        schema={"item_id": pl.String, "pool": pl.String, "value": pl.Float64, "n": pl.Int64, "s2": pl.Float64},
        orient="row",
    )
    items = pl.Series([str(i) for i in range(40)])
    names = [f"p{k}" for k in range(5)]
    pools = pools_of_consensus(frame, "q", Scale("ordinal", 1, 5), items, pools=names)
    assert isinstance(pools, ItemPools)
    numbers = item_numbers(40, pools, None, (0, 1))
    for i in range(40):
        known = [k for k in range(5) if not np.isnan(means[k, i])]
        gaps = [abs(means[a, i] - means[b, i]) for a in known for b in known if a < b]
        if not gaps:
            assert (numbers["widest"][i], numbers["widest.a"][i]) == (None, None)
            continue
        assert numbers["widest"][i] == max(gaps)
        a, b = numbers["widest.a"][i], numbers["widest.b"][i]
        assert means[a, i] - means[b, i] == max(gaps)
    # the rater noise is unknown here, so contested items are not told apart
    assert set(numbers["anchor"].drop_nulls()) <= {"high", "low", "contested"}


def simulated(shared_data: Path) -> Inputs:
    """The simulated corpus with the judgments of two of its fifty conditions."""
    folder = shared_data / "simulated-voirdire"
    judged = pl.read_csv(folder / "judgments.csv.gz")
    kept = judged.filter(pl.col("condition").is_in(["neutral_en", "basic_cn_zh"]) & (pl.col("design") == "base"))
    ratings, items = folder / "ratings.csv.gz", folder / "items.csv.gz"
    return read_inputs({"ratings": ratings, "items": items, "judgments": kept, "question_columns": FOUR})


def test_numbers_of_the_simulated_corpus_agree_with_plain_arithmetic_and_the_audit(shared_data: Path) -> None:
    import voirdire

    inputs = simulated(shared_data)
    corpus, judgments = inputs.corpus, inputs.judgments
    assert judgments is not None
    items = corpus.items["item_id"]
    pools, said = pools_of_corpus(corpus, corpus.questions[0], items), said_of_judgments(judgments, "q1", items)
    assert pools is not None
    assert said is not None
    numbers = item_numbers(len(items), pools, said, (0, 1)).with_columns(items)
    profile = voirdire.audit(corpus, judgments, draws=0, decomposition_draws=0, permutations=1)
    assert numbers["tilt"].mean() == pytest.approx(
        profile.get("delta", question="q1", pool="us", pool_b="cn", judge="*", condition="*").value
    )
    for j, judge in enumerate(said.judges):
        value = profile.get("delta", question="q1", pool="us", pool_b="cn", judge=judge, condition="*").value
        assert numbers[f"tilt.{j}"].mean() == pytest.approx(value)
    for place, judge in ((None, "*"), (0, said.judges[0]), (2, said.judges[2])):
        apart = distance_numbers(len(items), pools, said, place)
        for k, pool in enumerate(pools.pools):
            told = {"question": "q1", "pool": pool, "judge": judge, "condition": "*"}
            assert apart[f"far.{k}"].mean() == pytest.approx(profile.get("mae", **told).value)
            assert apart[f"over.{k}"].mean() == pytest.approx(profile.get("bias", **told).value)
    assert numbers["gap"].abs().mean() == pytest.approx(
        profile.get("cross_pool_mad", question="q1", pool="us", pool_b="cn").value
    )
    counts = dict(numbers["anchor"].value_counts().iter_rows())
    for name in ("high", "low", "divergent", "middle"):
        assert counts[name] == profile.get(f"anchor_class.{name}", question="q1", pool="us", pool_b="cn").value
    plain(corpus, judgments.table, numbers, said.judges)


def plain(corpus: Corpus, table: pl.DataFrame, numbers: pl.DataFrame, judges: tuple[str, ...]) -> None:
    """Every third item once more, by lists."""
    for item in corpus.items["item_id"][::3]:
        found = row(numbers, item)
        means = []
        for k, pool in enumerate(corpus.pools):
            own = corpus.ratings.filter(
                (pl.col("item_id").cast(pl.String) == item) & (pl.col("question") == "q1") & (pl.col("pool") == pool)
            )["value"].to_list()
            means.append(sum(own) / len(own))
            assert (found[f"consensus.{k}"], found[f"raters.{k}"]) == (pytest.approx(means[k]), len(own))
        assert found["gap"] == pytest.approx(means[0] - means[1])
        here = table.filter((pl.col("item_id") == item) & (pl.col("question") == "q1"))
        by_judge = []
        for j, judge in enumerate(judges):
            said = here.filter(pl.col("judge") == judge)["value"].drop_nulls().to_list()
            by_judge.append(sum(said) / len(said))
            assert found[f"mean.{j}"] == pytest.approx(by_judge[j])
            tilt = sum(abs(r - means[0]) - abs(r - means[1]) for r in said) / len(said)
            assert found[f"tilt.{j}"] == pytest.approx(tilt)
        assert found["disagreement"] == pytest.approx(statistics.stdev(by_judge))


def test_numbers_of_labelled_ratings_agree_with_the_audit(shared_data: Path) -> None:
    import voirdire

    folder = shared_data / "crehate"
    judged = pl.read_csv(folder / "judgments.csv")
    two = judged.filter(pl.col("judge").is_in(judged["judge"].unique().sort().head(2).to_list()))
    inputs = read_inputs({"folder": folder, "judgments": two, "missing_labels": ("unsure",), "duplicates": "first"})
    corpus, judgments = inputs.corpus, inputs.judgments
    assert judgments is not None
    items = corpus.items["item_id"]
    pools = pools_of_corpus(corpus, corpus.questions[0], items)
    said = said_of_judgments(judgments, corpus.questions[0].id, items)
    assert pools is not None
    assert said is not None
    a, b = pools.place("US"), pools.place("ZA")
    numbers = item_numbers(len(items), pools, said, (a, b))
    options = {"draws": 0, "decomposition_draws": 0, "permutations": 1, "pairs": (("US", "ZA"),)}
    profile = voirdire.audit(corpus, judgments, **options)
    for j, judge in enumerate(said.judges):
        value = profile.get("delta", judge=judge, condition="*", pool="US", pool_b="ZA").value
        cells = said.per_judge(np.ones_like(said.value))[1][j]
        weight = np.where(numbers[f"tilt.{j}"].is_not_null().to_numpy(), cells, 0.0)
        terms = numbers[f"tilt.{j}"].fill_null(0.0).to_numpy()
        assert (terms * weight).sum() / weight.sum() == pytest.approx(value)


def test_streamed_judgments_give_the_same_numbers(tmp_path: Path) -> None:
    corpus = rated(SMALL)
    rows = [(item, judge, condition, str(n), r) for item, judge, condition, n, r, _ in JUDGED[:8]]
    frame = pl.DataFrame(rows, schema=["item_id", "judge", "condition", "repeat", "rating"], orient="row")
    parts = tmp_path / "judgments.parquet"
    frame.write_parquet(parts)
    whole = read_judgments(JudgmentOptions(frame), corpus)
    streamed = read_judgments(JudgmentOptions(Parts(parts, (Part(parts, {}),))), corpus)
    assert isinstance(streamed.rows, Coded)
    items = pl.Series(["b", "a", "c"])
    one, two = (said_of_judgments(each, "rating", items) for each in (whole, streamed))
    assert one is not None
    assert two is not None
    pools = pools_of_corpus(corpus, corpus.questions[0], items)
    assert item_numbers(3, pools, one, (0, 1)).equals(item_numbers(3, pools, two, (0, 1)))


FACTS = pl.DataFrame(
    {
        "item_id": ["b", "a", "d", "c"],
        "pair_id": ["p", "q", "p", None],
        "culture": ["us", "cn", "cn", None],
        "split": [None, "test", "demonstration", ""],
        "text": ["Tea (hot)", "Rice", "tea", "100%"],
    }
)


@pytest.fixture
def frame() -> pl.DataFrame:
    facts = item_facts(FACTS, ["culture"], ["text"])
    return facts.with_columns(
        gap=pl.Series([0.5, -3.0, None, 0.5]),
        anchor=pl.Series(["high", "divergent", "middle", None]),
        **{"status.refused": pl.Series([0, 2, 1, 0]), "status.refused.0": pl.Series([0, 0, 1, 0])},
        **{"asked.0": pl.Series([1, 0, 1, 1])},
    )


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(), ["b", "a", "d", "c"]),
        (Filters(text="TEA"), ["b", "d"]),
        (Filters(text="(hot)"), ["b"]),
        (Filters(text=".*"), []),
        (Filters(text="a"), ["b", "a", "d"]),
        (Filters(by={"culture": "cn"}), ["a", "d"]),
        (Filters(by={"nothing": "cn"}), ["b", "a", "d", "c"]),
        (Filters(anchor="contested"), ["a", "d"]),
        (Filters(anchor="middle"), ["d"]),
        (Filters(split="test"), ["b", "a", "c"]),
        (Filters(status="refused"), ["a", "d"]),
        (Filters(status="refused", judge=0), ["d"]),
        (Filters(judge=0), ["b", "d", "c"]),
        (Filters(by={"culture": "cn"}, status="refused", text="rice"), ["a"]),
    ],
)
def test_filters(frame: pl.DataFrame, filters: Filters, expected: list[str]) -> None:
    assert frame.filter(matching(frame, filters))["item_id"].to_list() == expected


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (Order(), ["b", "a", "d", "c"]),
        (Order(reverse=True), ["c", "d", "a", "b"]),
        (Order("id"), ["a", "b", "c", "d"]),
        (Order("gap"), ["a", "b", "c", "d"]),
        (Order("gap", reverse=True), ["b", "c", "a", "d"]),
        (Order("refused"), ["a", "d", "b", "c"]),
        (Order("refused", judge=0), ["d", "b", "a", "c"]),
    ],
)
def test_orders(frame: pl.DataFrame, order: Order, expected: list[str]) -> None:
    assert frame[ordered(frame, order)]["item_id"].to_list() == expected


def test_places_and_pairs(frame: pl.DataFrame) -> None:
    assert beside(frame, 1) == (1, None, 2)
    assert beside(frame, 9) == (0, None, None)
    assert paired(frame).to_list() == ["p", "q"]


def test_a_pool_without_a_consensus_has_no_shares_and_no_tilt_of_labels() -> None:
    """Shares that are told of one pool alone are none of the other: no answer, no gap, no tilt is made up."""
    items = pl.Series(["a", "b"])
    rows = pl.DataFrame({"item_id": ["a", "a", "b"], "pool": ["us", "cn", "us"], "value": [0.0, 1.0, 0.0],
                         "n": [1, 1, 1], "s2": [None] * 3})  # fmt: skip
    shares = pl.DataFrame({"item_id": ["a", "a", "b"], "pool": ["us", "cn", "us"], "label": ["x", "y", "x"],
                           "share": [1.0, 1.0, 1.0]})  # fmt: skip
    pools = pools_of_consensus(rows, "q", Scale("nominal", labels=("x", "y")), items, shares=shares)
    assert pools is not None
    assert pools.arrays.shares is not None
    assert pools.arrays.shares[1].tolist()[0] == [0.0, 1.0]
    assert np.isnan(pools.arrays.shares[1, 1]).all()
    said = said_of_rows(pl.DataFrame([(i, "m", "x", 1, 0.0, "ok") for i in items], schema=ROWS, orient="row"), items)
    frame = item_numbers(2, pools, said, (0, 1))
    assert (frame["gap"].to_list(), frame["tilt"].to_list(), frame["tilt.0"].to_list()) == (
        [1.0, None], [-1.0, None], [-1.0, None],
    )  # fmt: skip
    assert frame["tilt.why"].to_list() == [None, "no_consensus"]


def test_numbers_that_stand_for_no_label_are_none() -> None:
    corpus = rated([("a", "r1", "us", "x"), ("a", "r2", "cn", "y"), ("b", "r1", "us", "z")])
    pools = pools_of_corpus(corpus, corpus.questions[0], pl.Series(["a"]))
    rows = [("a", f"m{value}", "-", 1, value, "ok") for value in (0.0, 0.5, 5.0, -1.0)]
    said = said_of_rows(pl.DataFrame(rows, schema=ROWS, orient="row"), pl.Series(["a"]))
    frame = item_numbers(1, pools, said, (0, 1))
    assert abs(frame["tilt.0"][0]) == 1
    assert [frame[f"tilt.{j}"][0] for j in (1, 2, 3)] == [None] * 3


@pytest.mark.parametrize("name", ["*", "^.*$", "^item.*$"])
def test_the_name_of_a_column_is_a_name_and_no_pattern(name: str) -> None:
    table = pl.DataFrame({"item_id": ["a", "b"], name: ["Us", "cn"], "note": ["tea", "rice"]})
    facts = item_facts(table, (name,), (name, "note"))
    assert facts[f"by.{name}"].to_list() == ["Us", "cn"]
    assert facts["search"].to_list() == ["a\nus\ntea", "b\ncn\nrice"]
    assert facts.columns == ["n", "item_id", "split", "pair_id", "search", f"by.{name}"]


def test_distances_of_a_few_items_are_plain_arithmetic() -> None:
    corpus, items = rated(SMALL), pl.Series(["c", "b", "a", "d"])
    said = said_of_rows(pl.DataFrame(JUDGED, schema=ROWS, orient="row"), items)
    pools = pools_of_corpus(corpus, corpus.questions[0], items)
    assert pools is not None
    own = distance_numbers(4, pools, said, 0).row(2, named=True)
    # cell x of judge m: repeats 4 and 2, cell y: 5; us 5.0, cn 1.5
    assert own["far.0"] == pytest.approx(((1 + 3) / 2 + 0) / 2)
    assert own["over.0"] == pytest.approx(-((1 + 3) / 2 + 0) / 2)
    assert own["far.1"] == pytest.approx(((2.5 + 0.5) / 2 + 3.5) / 2)
    everybody = distance_numbers(4, pools, said, None)
    assert everybody["far.1"][2] == pytest.approx(((2.5 + 0.5) / 2 + 3.5 + 0.5) / 3)
    assert everybody["far.1"].to_list()[0] is None
    far, over = distances_of_item(pools, said, 2)
    assert far[0].tolist() == pytest.approx([own["far.0"], own["far.1"]])
    assert over[1].tolist() == pytest.approx([1 - 5.0, 1 - 1.5])
    foreign = said_of_rows(pl.DataFrame(JUDGED, schema=ROWS, orient="row"), items, rank_only=["m"])
    assert distance_numbers(4, pools, foreign, 0)["far.0"].null_count() == 4


def test_distances_of_labels_are_the_share_who_say_otherwise() -> None:
    corpus = rated([("a", "r1", "us", "x"), ("a", "r2", "us", "x"), ("a", "r3", "us", "y"), ("a", "r4", "cn", "z")])
    items = pl.Series(["a"])
    pools = pools_of_corpus(corpus, corpus.questions[0], items)
    code = float(corpus.questions[0].scale.labels.index("x"))
    said = said_of_rows(pl.DataFrame([("a", "m", "-", 1, code, "ok")], schema=ROWS, orient="row"), items)
    numbers = distance_numbers(1, pools, said, 0)
    assert (numbers["far.0"][0], numbers["far.1"][0]) == (pytest.approx(1 / 3), 1.0)
    assert numbers["over.0"][0] is None


def test_control_judges_count_by_their_names_alone() -> None:
    corpus, items = rated(SMALL), pl.Series(["a"])
    rows = [("a", judge, "-", 1, value, "ok") for judge, value in (("m", 4.0), ("k", 2.0), ("control/constant_1", 1.0))]
    pools = pools_of_corpus(corpus, corpus.questions[0], items)
    with_control, without = (
        item_numbers(1, pools, said_of_rows(pl.DataFrame(some, schema=ROWS, orient="row"), items), (0, 1)).row(
            0, named=True
        )
        for some in (rows, rows[:2])
    )
    for name in ("disagreement", "tilt", "tilt_most", "tilt_most.judge", "tilt_most.n"):
        assert with_control[name] == without[name], name
    assert (with_control["mean.2"], with_control["tilt.2"]) == (1.0, pytest.approx(4 - 0.5))
    said = said_of_rows(pl.DataFrame(rows, schema=ROWS, orient="row"), items)
    assert distance_numbers(1, pools, said, None)["far.0"][0] == pytest.approx((1 + 3) / 2)
    assert distance_numbers(1, pools, said, 2)["far.0"][0] == pytest.approx(4)
    alone = said_of_rows(pl.DataFrame(rows[2:], schema=ROWS, orient="row"), items)
    assert item_numbers(1, pools, alone, (0, 1))["tilt.why"][0] == "only_controls"
    named = replace(said, controls=frozenset({"k"}))
    assert together([named], [["x", "y", "z"]]).counted().tolist() == [True, False, False]  # type: ignore[union-attr]


def test_judges_that_lean_as_much_are_counted() -> None:
    corpus, items = rated([("a", "u", "us", 5), ("a", "c", "cn", 1)]), pl.Series(["a"])
    pools = pools_of_corpus(corpus, corpus.questions[0], items)
    for values, expected in (
        ((1.0, 5.0, 3.0), (4.0, 2, True)),
        ((1.0, 1.0), (4.0, 2, False)),
        ((2.0, 5.0), (-4.0, 1, False)),
    ):
        rows = [("a", f"m{n}", "-", 1, value, "ok") for n, value in enumerate(values)]
        said = said_of_rows(pl.DataFrame(rows, schema=ROWS, orient="row"), items)
        found = item_numbers(1, pools, said, (0, 1)).row(0, named=True)
        assert (found["tilt_most"], found["tilt_most.n"], found["tilt_most.mixed"]) == expected
