"""Judgments: factors, covariates, statuses, repeats, other scales; nothing is dropped in silence."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.input.input_tables import HEADER, answers, balanced, keys, table, two_pools

from voirdire.corpus.judgments import STATUSES
from voirdire.corpus.reading import CorpusOptions, JudgmentOptions, read_corpus, read_judgments
from voirdire.errors import InputError


def judged(header, *rows, corpus=None, **options):
    corpus = corpus or read_corpus(CorpusOptions(two_pools("d,u,us,3")))
    judgments = read_judgments(JudgmentOptions(table(header, *rows), **options), corpus)
    assert balanced(*judgments.intake)
    assert judgments.intake[0].rows_used == (judgments.table["status"] == "ok").sum()
    return judgments


def test_the_least_that_judgments_need():
    judgments = judged("task,model,label", "a,j,1", "b,j,4.5")
    assert judgments.table.rows() == [("a", "j", "-", "rating", 1, 1.0, "ok"), ("b", "j", "-", "rating", 1, 4.5, "ok")]
    assert judgments.cells.rows() == [("j", "-")]
    assert keys(judgments) == ["column_taken", "column_taken", "column_taken", "judged_question"]


def test_a_value_column_holds_the_judges_ratings_where_no_other_does():
    assert judged("task,model,value", "a,j,1", "b,j,4.5").table["value"].to_list() == [1.0, 4.5]
    assert judged("task,model,value,score", "a,j,9,1", "b,j,9,4.5").table["value"].to_list() == [1.0, 4.5]


def test_a_refusal_names_the_columns_of_the_file():
    with pytest.raises(InputError) as caught:
        judged("task,model,raw", "a,j,2")
    assert "Columns: task, model, raw." in str(caught.value)


def test_a_judge_has_the_name_of_its_column():
    judgments = judged("task,raw,mine", "a,1,2", "b,4.5,3")
    assert judgments.cells["judge"].to_list() == ["raw", "mine"]
    assert judgments.table.filter(judge="raw")["value"].to_list() == [1.0, 4.5]


def test_a_judge_named_beside_the_table():
    assert judged("item,score", "a,1", judge_name="mine").table["judge"].to_list() == ["mine"]


def test_covariates_and_factors():
    judgments = judged(
        "item_id,judge,condition,rating", "a,j,en,1", "a,k,zh,2", "a,k,xx,2",
        judges=table("judge,origin,size", "j,us,7", "unused,cn,1"),
        conditions=table("condition,language,persona", "en,en,", "zh,zh,cn", "fr,fr,"),
    )  # fmt: skip
    assert judgments.judges.rows() == [("j", "us", "7"), ("k", None, None)]
    assert judgments.covariates == ("origin", "size")
    assert judgments.factors == ("language", "persona")
    assert judgments.cells.rows() == [("j", "en", "en", None), ("k", "zh", "zh", "cn"), ("k", "xx", None, None)]
    assert {one.table: one.excluded for one in judgments.intake}["judges"] == {"not_rated": 1}
    assert {"judges_unlisted", "conditions_unlisted"} <= set(keys(judgments))


def test_an_extra_column_is_a_factor_only_when_the_key_needs_it():
    header = "item_id,judge,condition,design,seed,rating"
    rows = ("a,j,en,base,1,1", "a,j,en,icl,2,2", "b,j,en,base,3,1", "b,j,en,icl,4,2")
    judgments = judged(header, *rows)
    assert judgments.key_factors == ("design",)
    assert judgments.table["condition"].unique().sort().to_list() == ["en/base", "en/icl"]
    assert judgments.cells.columns == ["judge", "condition", "design"]
    assert "factors_found" in keys(judgments)
    alone = judged(header, rows[0], rows[2])
    assert (alone.key_factors, alone.table["condition"].to_list()) == ((), ["en", "en"])
    named = judged(header, rows[0], rows[2], factors=("design",))
    assert (named.key_factors, named.table["condition"].to_list()) == (("design",), ["en/base", "en/base"])


def test_two_extra_columns_and_no_condition():
    rows = [
        f"a,j,{style},{tongue},{place + 1}"
        for place, (style, tongue) in enumerate([("x", "en"), ("x", "zh"), ("y", "en")])
    ]
    judgments = judged("item_id,judge,style,tongue,rating", *rows)
    assert judgments.key_factors == ("style", "tongue")
    assert judgments.table["condition"].to_list() == ["x/en", "x/zh", "y/en"]


def test_conditions_listed_by_their_full_names_or_with_the_extra_column():
    header, rows = "item_id,judge,condition,design,rating", ("a,j,en,base,1", "a,j,en,icl,2")
    full = judged(header, *rows, conditions=table("condition,shots", "en/base,0", "en/icl,8"))
    pair = judged(header, *rows, conditions=table("condition,design,shots", "en,base,0", "en,icl,8"))
    assert full.cells.rows() == pair.cells.rows() == [("j", "en/base", "0", "base"), ("j", "en/icl", "8", "icl")]


def test_every_status():
    rows = [f"i{place},j,{status},3" for place, status in enumerate(STATUSES)]
    corpus = read_corpus(CorpusOptions(answers(*(["1", "5"] * 10))))
    judgments = judged("item_id,judge,status,rating", *rows, corpus=corpus)
    found = dict(zip(STATUSES, judgments.table["status"], strict=True))
    assert found == STATUSES
    valued = judgments.table.filter(pl.col("value").is_not_null())
    assert set(valued["status"]) == {"ok"}


def test_answers_without_a_usable_rating_stay_and_are_counted():
    judgments = judged(
        "item_id,judge,condition,rating,status",
        "a,j,1,,", "a,j,2,n/a,ok", "a,j,3,I think 4,ok", "a,j,4,9,", "a,j,5,nan,", "b,j,1,2,refused", "b,j,2,4,OK",
        missing_labels=("N/A",),
    )  # fmt: skip
    assert judgments.table["status"].to_list() == [
        "missing",
        "missing",
        "malformed",
        "out_of_scale",
        "malformed",
        "refused",
        "ok",
    ]
    assert judgments.table["value"].to_list() == [None] * 6 + [4.0]
    assert judgments.intake[0].excluded == {"missing": 2, "out_of_scale": 1, "malformed": 2, "refused": 1}
    assert {"judged_words", "judged_outside_inferred"} <= set(keys(judgments))


def test_what_the_corpus_does_not_have_is_left_out_and_counted():
    items = table("item_id,copied", "a,no", "b,no", "d,yes")
    corpus = read_corpus(CorpusOptions(two_pools("d,u,us,3"), items=items, exclude_items=("copied == 'yes'",)))
    judgments = judged(
        "item_id,judge,question,rating", "a,j,rating,1", "z,j,rating,1", "d,j,rating,1", "a,j,other,1", corpus=corpus
    )
    assert judgments.table.height == 1
    assert judgments.intake[0].excluded == {"unknown_item": 1, "excluded_item": 1, "unknown_question": 1}
    assert {"unknown_item", "unknown_question"} <= set(keys(judgments))


@pytest.mark.parametrize(("given_as", "numbered"), [("1 2", [1, 2]), ("0 7", [0, 7]), ("b a", [2, 1])])
def test_repeats(given_as, numbered):
    one, two = given_as.split()
    judgments = judged("item_id,judge,run,rating", f"a,j,{one},1", f"a,j,{two},2")
    assert judgments.table["repeat"].to_list() == numbered


@pytest.mark.parametrize(("policy", "values"), [("repeat", [1.0, 2.0]), ("first", [1.0]), ("last", [2.0])])
def test_the_same_cell_twice_by_rule(policy, values):
    judgments = judged("item_id,judge,rating", "a,j,1", "b,j,4", "a,j,2", duplicates=policy)
    assert judgments.table.filter(pl.col("item_id") == "a")["value"].to_list() == values
    assert judgments.table["repeat"].max() == (2 if policy == "repeat" else 1)


def test_the_question_that_judgments_answer():
    half = table("item_id,rater_id,pool,q1,q2", "a,u,us,1,2", "b,u,us,5,4")
    corpus = read_corpus(CorpusOptions(half, question_columns=("q1", "q2")))
    assert judged("item_id,judge,rating", "a,j,1", corpus=corpus).table["question"].to_list() == ["q1"]
    named = judged("item_id,judge,rating", "a,j,1", corpus=corpus, judged_question="q2")
    assert named.table["question"].to_list() == ["q2"]


LONG_SCALE = [f"i{place},j,{value}" for place, value in enumerate([0, 2, 4, 6, 8, 10, 88])]
SCALED = read_corpus(CorpusOptions(answers("1", "2", "3", "4", "5", "1", "5"), low=1, high=5))


def test_a_declared_scale_is_mapped_linearly():
    for options in (
        {"judge_scale": ("0:10",)},
        {"judge_scale": ("0:100", "j=0:10")},
        {"judges": table("judge,min,max", "j,0,10")},
    ):
        judgments = judged("item_id,judge,rating", *LONG_SCALE, corpus=SCALED, **options)
        assert judgments.table["value"].to_list() == pytest.approx([1, 1.8, 2.6, 3.4, 4.2, 5, None])
        assert judgments.table["status"].to_list() == ["ok"] * 6 + ["out_of_scale"]
        assert judgments.maps == {"j": (0.0, 10.0)}
        assert judgments.rank_only == frozenset()
        assert judgments.covariates == ()


def test_an_undeclared_other_scale_gives_ranks_only():
    judgments = judged(
        "item_id,judge,rating", *LONG_SCALE, *[row.replace("j", "k") for row in LONG_SCALE[1:3]], corpus=SCALED
    )
    assert judgments.rank_only == {("j", "rating")}
    assert judgments.table["value"].to_list() == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 88.0, 2.0, 4.0]
    assert "judge_rank_only" in keys(judgments)


def test_items_with_scales_of_their_own():
    items = table("item_id,min,max", "a,0,2", "b,1,10")
    corpus = read_corpus(CorpusOptions(table(HEADER, "a,u,us,1", "b,u,us,9", "b,v,us,8"), items=items))
    judgments = judged("item_id,judge,rating", "a,j,2", "b,j,10", "a,k,3", "b,k,3", corpus=corpus)
    assert judgments.table["status"].to_list() == ["ok", "ok", "out_of_scale", "ok"]
    mapped = judged("item_id,judge,rating", "a,j,5", "b,j,0", corpus=corpus, judge_scale=("0:10",))
    assert mapped.table["value"].to_list() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("values", "answer", "value"),
    [("no yes", "Yes", 1.0), ("no yes", "0.25", 0.25), ("0 1", "1.0", 1.0), ("0 1", "0.7", 0.7), ("a b c", "B", 1.0)],
)
def test_labels_and_probabilities(values, answer, value):
    corpus = read_corpus(CorpusOptions(answers(*values.split())))
    assert judged("item_id,judge,rating", f"i0,j,{answer}", corpus=corpus).table["value"].to_list() == [value]


@pytest.mark.parametrize(
    ("values", "answer", "status"),
    [("no yes", "-0.1", "out_of_scale"), ("a b c", "d", "malformed"), ("1 2", "0.5", "malformed")],
)
def test_answers_that_no_label_meets(values, answer, status):
    corpus = read_corpus(CorpusOptions(answers(*values.split()), positive="2" if "2" in values else None))
    rows = [f"i0,j{place},{answer if place == 0 else values.split()[0]}" for place in range(2)]
    rows += [f"i1,j0,{values.split()[0]}"] * 1
    assert judged("item_id,judge,rating", *rows, corpus=corpus).table["status"][0] == status


@pytest.mark.parametrize(("labels", "code"), [(("bad", "fair", "good"), "1.0"), (("1", "2", "3+"), "1.0")])
def test_ratings_of_a_run_are_codes_whatever_the_labels_are(labels, code):
    corpus = read_corpus(CorpusOptions(answers(*labels), level="ordinal", labels=labels))
    run = judged("item_id,judge,rating,condition_digest,prompt_digest", f"i0,j,{code},c,p", corpus=corpus)
    assert run.table["value"].to_list() == [1.0]
    said = judged("item_id,judge,rating", f"i0,j,{labels[1]}", corpus=corpus)
    assert said.table["value"].to_list() == [1.0]


ANSWER = st.sampled_from(["1", "5", "", "9", "x", "2.5"])
STATUS = st.sampled_from(["", "ok", "error", "pending"])
ROW = st.tuples(st.sampled_from("abdz"), st.sampled_from("jk"), ANSWER, STATUS)


@given(rows=st.lists(ROW, min_size=1, max_size=30))
def test_every_row_is_used_or_left_out_for_a_reason(rows):
    texts = [f"{item},{judge},{rating},{status}" for item, judge, rating, status in [("a", "j", "3", "ok"), *rows]]
    judgments = judged("item_id,judge,rating,status", *texts, duplicates="repeat")
    assert judgments.intake[0].rows_in == len(texts)
    assert judgments.table.filter(pl.col("value").is_not_null() != (pl.col("status") == "ok")).is_empty()
    dropped = sum(judgments.intake[0].excluded.get(reason, 0) for reason in ("unknown_item",))
    assert judgments.table.height == len(texts) - dropped
