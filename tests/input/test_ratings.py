"""Names recognised, duplicates, means: nothing is dropped in silence."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.input.input_tables import HEADER, balanced, keys, table, two_pools

from voirdire.corpus.columns import NAMES
from voirdire.corpus.reading import CorpusOptions, JudgmentOptions, read_corpus, read_judgments
from voirdire.errors import InputError


@pytest.mark.parametrize(
    "names",
    [
        "task worker label", "item rater score", "item_id annotator rating", "example_id annotator_id response",
        "id user annotation", "Item ID WorkerId Answer".replace("Item ID", "ItemID"), "task_id worker_id label",
        "条目 评分者 评分",
    ],
)  # fmt: skip
def test_names_recognised_are_taken_and_said(names):
    item, rater, rating = names.split()
    long = two_pools().rename({"item_id": item, "rater_id": rater, "rating": rating})
    corpus = read_corpus(CorpusOptions(long))
    assert corpus.ratings.height == 4
    taken = [(note.fields["ours"], note.fields["theirs"]) for note in corpus.notes if note.key.endswith("column_taken")]
    wanted = [("item_id", item), ("rater_id", rater), ("rating", rating)]
    assert taken == [(ours, theirs) for ours, theirs in wanted if ours != theirs]
    assert keys(corpus)[: len(taken)] == ["column_taken"] * len(taken)


def test_every_recognised_name_is_written_as_names_are_compared():
    from voirdire.corpus.columns import normal

    words = [word for tiers in NAMES.values() for tier in tiers for word in tier.split()]
    assert [word for word in words if normal(word) != word] == []


def test_a_map_wins_over_names_recognised():
    long = two_pools().with_columns(label=pl.lit("9"), score=pl.col("rating")).drop("rating")
    corpus = read_corpus(CorpusOptions(long, mapping={"rating": "score"}))
    assert sorted(corpus.ratings["value"]) == [1.0, 2.0, 4.0, 5.0]


def test_a_map_may_speak_of_one_table():
    long = two_pools().rename({"rating": "stars"})
    mapping = {"rating": "stars", "judgments.rating": "verdict", "items.culture": "region", "culture": "nowhere"}
    items = table("item_id,region", "a,us", "b,cn")
    corpus = read_corpus(CorpusOptions(long, items=items, mapping=mapping))
    assert corpus.items.columns == ["item_id", "culture"]
    judged = table("item_id,judge,label,verdict", "a,j,5,1")
    assert read_judgments(JudgmentOptions(judged, mapping=mapping), corpus).table["value"].to_list() == [1.0]
    plain = table("item_id,judge,rating", "a,j,2")
    general = {"rating": "stars"}
    assert read_judgments(JudgmentOptions(plain, mapping=general), corpus).table["value"].to_list() == [2.0]
    with pytest.raises(InputError, match="--map rating=verdict names a column that is not there"):
        read_judgments(JudgmentOptions(plain, mapping=mapping), corpus)


def test_columns_named_like_ours_or_like_our_own_marks_do_no_harm():
    long = two_pools().with_columns(
        raw=pl.lit("x"), _row=pl.lit("y"), _reason=pl.lit("z"), value=pl.lit(None, pl.String)
    )
    corpus = read_corpus(CorpusOptions(long, items=table("item_id,_row,_reason,raw", "a,1,2,3", "b,1,2,3")))
    assert corpus.ratings.height == 4
    judged = table("item_id,judge,rating,raw,_status,value,_row", "a,j,1,r,s,9,t")
    assert read_judgments(JudgmentOptions(judged), corpus).table["value"].to_list() == [1.0]


@pytest.mark.parametrize(("policy", "value", "kept"), [("first", 1.0, 1), ("last", 4.0, 1), ("mean", 2.5, 1)])
def test_duplicate_ratings_by_rule(policy, value, kept):
    corpus = read_corpus(CorpusOptions(table(HEADER, "a,u,us,1", "b,u,us,5", "a,u,us,4"), duplicates=policy))
    assert corpus.ratings.filter(pl.col("item_id") == "a")["value"].to_list() == [value] * kept
    assert corpus.intake[0].excluded == {"duplicate": 1}
    assert "duplicates" in keys(corpus)


def test_duplicates_are_found_within_a_question_and_a_person():
    half = table("item_id,rater_id,pool,q1,q2", "a,u,us,1,", "a,u,us,,2", "b,u,us,5,5")
    corpus = read_corpus(CorpusOptions(half, question_columns=("q1", "q2")))
    assert corpus.intake[0].excluded == {"missing": 2}
    again = half.vstack(table("item_id,rater_id,pool,q1,q2", "b,u,us,,4"))
    with pytest.raises(InputError, match="row 4, column 'rater_id': 'u' rated item 'b' before, in row 3"):
        read_corpus(CorpusOptions(again, question_columns=("q1", "q2")))
    last = read_corpus(CorpusOptions(again, question_columns=("q1", "q2"), duplicates="last"))
    assert last.ratings.filter((pl.col("item_id") == "b") & (pl.col("question") == "q2"))["value"].to_list() == [4.0]


@pytest.mark.parametrize(
    ("long", "options"),
    [
        (table("item_id,pool,value,n", "a,us,1.5,10", "b,us,4,7"), {}),
        (table("item_id,rater_id,pool,rating,n", "a,aggregate-us,us,1.5,10", "b,Aggregate,us,4,7"), {}),
        (table("item_id,rater_id,pool,rating,n", "a,,us,1.5,10", "b,,us,4,7"), {}),
        (table("item_id,pool,rating,n_raters", "a,us,1.5,10", "b,us,4,7"), {"aggregate": ("all",)}),
        (table("item_id,rater_id,pool,rating,n", "a,someone,us,1.5,10", "b,someone,us,4,7"), {"aggregate": ("us",)}),
    ],
)
def test_means_in_every_form(long, options):
    corpus = read_corpus(CorpusOptions(long, low=1, high=5, **options))
    assert corpus.aggregates.rows() == [("a", "us", "rating", 1.5, 10), ("b", "us", "rating", 4.0, 7)]
    assert corpus.ratings.is_empty()
    assert "aggregates" in keys(corpus)


def test_pools_with_raters_beside_pools_of_means():
    corpus = read_corpus(CorpusOptions(two_pools("a,aggregate-fr,fr,3.5", "b,aggregate-fr,fr,2.25")))
    assert corpus.pools == ("us", "cn", "fr")
    assert str(corpus.questions[0].scale) == "ordinal:1:5"
    assert corpus.aggregates["value"].to_list() == [3.5, 2.25]
    twice = two_pools("a,aggregate-fr,fr,3.5", "a,aggregate-fr,fr,2.25")
    with pytest.raises(InputError, match="row 6, column 'rater_id': 'fr' rated item 'a' before, in row 5"):
        read_corpus(CorpusOptions(twice))


def test_a_value_column_with_raters_holds_ratings():
    long = two_pools("a,u2,us,3").rename({"rating": "value"})
    assert read_corpus(CorpusOptions(long)).ratings.height == 5


def test_a_value_column_of_one_rater_a_pool_holds_ratings():
    """The rater comes again with every item; the numbers of rows do not, and a column of means says what it is."""
    rows = ("a,u,us,1", "b,u,us,4", "a,c,cn,5", "b,c,cn,2")
    read = read_corpus(CorpusOptions(table("item_id,rater_id,pool,value", *rows)))
    assert (read.ratings.height, read.aggregates.height) == (4, 0)
    numbered = ("a,1,us,1", "b,2,us,4", "a,3,cn,5", "b,4,cn,2")
    for header, lines in (("item_id,id,pool,value", numbered), ("item_id,rater_id,pool,mean", rows)):
        read = read_corpus(CorpusOptions(table(header, *lines)))
        assert (read.ratings.height, read.aggregates.height) == (0, 4)


def test_means_alone_leave_the_ends_open_and_say_so():
    corpus = read_corpus(CorpusOptions(table("item_id,pool,value", "a,us,1.5", "b,us,3.2")))
    assert str(corpus.questions[0].scale) == "interval:1:4"
    assert corpus.questions[0].inferred
    assert "scale_from_means" in keys(corpus)


def test_shares():
    rows = ("a,us,rating,1,0.25", "a,us,rating,2,0.75", "z,us,rating,1,1", "a,us,other,1,1", "a,us,rating,3,")
    shares = table("item_id,pool,question,label,share", *rows)
    corpus = read_corpus(CorpusOptions(two_pools(), shares=shares))
    assert corpus.shares.rows() == [("a", "us", "rating", "1", 0.25), ("a", "us", "rating", "2", 0.75)]
    assert corpus.intake[-1].excluded == {"missing": 1, "unknown_item": 1, "unknown_question": 1}


CELL = st.sampled_from(["1", "3", "5", "", "9", "dk"])


@given(cells=st.lists(st.tuples(st.sampled_from("abcz"), st.sampled_from("uvwx"), CELL), min_size=1, max_size=30))
def test_every_row_is_used_or_left_out_for_a_reason(cells):
    long = table(HEADER, "a,t,us,1", "b,t,us,5", *[f"{item},{rater},,{value}" for item, rater, value in cells])
    raters = table("rater_id,pool", "t,us", "u,us", "v,cn", "w,")
    options = CorpusOptions(
        long, raters=raters, items=table("item_id,x", "a,1", "b,1", "c,2"), exclude_items=("x == 2",), low=1, high=5,
        missing_labels=("dk",), duplicates="first", unknown_items="exclude", out_of_scale="exclude",
    )  # fmt: skip
    corpus = read_corpus(options)
    assert balanced(*corpus.intake)
    ratings = corpus.intake[0]
    assert ratings.rows_in == len(cells) + 2
    assert ratings.rows_used == corpus.ratings.height
    assert corpus.ratings.select("item_id", "rater_id").is_duplicated().sum() == 0
    assert set(corpus.ratings["value"]) <= {1.0, 3.0, 5.0}
