"""Any small table with any options: a corpus whose rows balance, or a refusal in both languages."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.input.input_tables import balanced, table

from voirdire.corpus.reading import CorpusOptions, JudgmentOptions, read_corpus, read_judgments
from voirdire.errors import VoirdireError
from voirdire.texts import text

VALUE = st.sampled_from(
    ["", "0", "1", "2", "3", "5", "2.5", "-1", "1.0", "99", "yes", "no", "a", "b", "unsure", "A", "nan"]
)
ROW = st.tuples(
    st.sampled_from("ijkl"), st.sampled_from(["u", "v", "w", "aggregate-x", ""]), st.sampled_from(["us", "cn", ""]),
    st.sampled_from("pq"), VALUE, st.sampled_from(["", "3", "x"]), VALUE,
)  # fmt: skip
ITEMS = table("item_id,level,min,max,kind", "i,ordinal,1,5,x", "j,,0,10,y", "k,nominal,,,x", "m,interval,,,y")
PLAIN = table("item_id,kind", "i,x", "j,y", "k,x")
RATERS = table("rater_id,pool,age", "u,us,30", "v,cn,40", "w,,x")
QUESTIONS = table(
    "question,role,level,min,max,labels,positive,missing", "p,evaluation,ordinal,1,5,,,", "q,,,,,yes;no,,unsure"
)
OPTIONS = {
    "items": st.sampled_from([None, ITEMS, PLAIN]),
    "raters": st.sampled_from([None, RATERS]),
    "questions": st.sampled_from([None, QUESTIONS]),
    "pools": st.sampled_from([(), ("us: pool == 'us'", "cn: pool != 'us'"), ("old: age > 30", "young: age <= 35")]),
    "pool_column": st.sampled_from([None, "pool", "age"]),
    "level": st.sampled_from([None, None, "nominal", "ordinal", "interval", "ratio"]),
    "low": st.sampled_from([None, None, 0, 1]),
    "high": st.sampled_from([None, None, 5]),
    "labels": st.sampled_from([(), (), ("yes", "no"), ("a", "b", "1"), ("0", "1", "2", "3")]),
    "positive": st.sampled_from([None, None, "yes", "1"]),
    "missing_labels": st.sampled_from([(), ("unsure",), ("unsure", "yes", "no", "a", "b", "nan", "99", "-1")]),
    "aggregate": st.sampled_from([(), (), ("us",), ("all",)]),
    "anonymous_raters": st.booleans(),
    "duplicates": st.sampled_from(["refuse", "first", "last", "mean"]),
    "two_pools": st.sampled_from(["refuse", "exclude", "separate"]),
    "unknown_items": st.sampled_from(["refuse", "exclude"]),
    "out_of_scale": st.sampled_from(["refuse", "exclude"]),
    "exclude_items": st.sampled_from([(), ("kind == 'x'",)]),
}
JUDGING = {
    "judge_scale": st.sampled_from([(), ("0:10",), ("u=1:5",)]),
    "missing_labels": st.sampled_from([(), ("unsure",)]),
    "duplicates": st.sampled_from(["refuse", "first", "last", "repeat"]),
    "factors": st.sampled_from([(), ("n",)]),
    "judges": st.sampled_from([None, table("judge,origin,min,max", "u,us,0,10", "v,cn,,")]),
    "conditions": st.sampled_from([None, table("condition,tongue", "us,en", "cn,zh")]),
}


CORPUS = st.fixed_dictionaries({}, optional=OPTIONS)
JUDGED = st.fixed_dictionaries({}, optional=JUDGING)


@settings(max_examples=200)
@given(rows=st.lists(ROW, min_size=1, max_size=8), options=CORPUS, judging=JUDGED)
def test_a_corpus_or_a_refusal(rows, options, judging):
    lines = [",".join(row[:6]) for row in rows]
    judged = [",".join((*row[:1], row[1] or "u", row[2], row[3], row[6], row[5])) for row in rows]
    try:
        corpus = read_corpus(CorpusOptions(table("item_id,rater_id,pool,question,rating,n", *lines), **options))
        said, intakes = list(corpus.notes), list(corpus.intake)
        assert corpus.intake[0].rows_used == corpus.ratings.height + corpus.aggregates.height
        assert corpus.ratings.null_count().sum_horizontal()[0] == 0
        header = "item_id,judge,condition,question,rating,n"
        judgments = read_judgments(JudgmentOptions(table(header, *judged), **judging), corpus)
        said, intakes = [*said, *judgments.notes], [*intakes, *judgments.intake]
        assert judgments.table["value"].is_nan().sum() == 0
    except VoirdireError as error:
        assert error.message("zh") != error.message("en")  # noqa: PT017
        return
    assert balanced(*intakes)
    assert all(text(note.key, lang, **note.fields) for note in said for lang in ("en", "zh"))
