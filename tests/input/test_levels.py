"""Scales declared, and scales read off the data."""

import polars as pl
import pytest
from tests.input.input_tables import answers, keys, table, two_pools

from voirdire.corpus.levels import Spec, encode, numbers
from voirdire.corpus.reading import CorpusOptions, read_corpus
from voirdire.errors import InputError, UsageError
from voirdire.scales import Scale


def scales(corpus):
    return [str(question.scale) for question in corpus.questions]


def scale_of(values, **options):
    return read_corpus(CorpusOptions(answers(*values), **options)).questions[0].scale


@pytest.mark.parametrize(
    ("values", "options", "printed"),
    [
        ("12345", {}, "ordinal:1:5"),
        (["1.0", "3", "5.0"], {}, "ordinal:1:5"),
        ("24", {}, "ordinal:2:4"),
        ("24", {"low": 1, "high": 5}, "ordinal:1:5"),
        ("24", {"low": 1}, "ordinal:1:4"),
        (["1", "2.5", "4"], {}, "interval:1:4"),
        (["0", "50", "100"], {}, "interval:0:100"),
        ("12345", {"level": "ratio"}, "ratio:1:5"),
        (["-2", "0", "2"], {}, "ordinal:-2:2"),
        ("01", {}, "binary:0<1"),
        (["0.0", "1.0"], {}, "binary:0<1"),
        ("01", {"level": "ordinal"}, "ordinal:0:1"),
        ("12", {"positive": "2"}, "binary:1<2"),
        (["Yes", "No"], {}, "binary:No<Yes"),
        (["是", "否"], {}, "binary:否<是"),
        (["toxic", "not_toxic"], {}, "binary:not_toxic<toxic"),
        (["a", "b"], {"positive": "b"}, "binary:a<b"),
        (["a", "b"], {"positive": "A"}, "binary:b<a"),
        (["a", "b", "c"], {}, "nominal:a/b/c"),
        (["a", "b"], {"labels": ("c", "a", "b")}, "nominal:c/a/b"),
        (["1", "2", "9"], {"level": "nominal"}, "nominal:1/2/9"),
        (["lo", "hi"], {"level": "ordinal", "labels": ("lo", "mid", "hi")}, "ordinal:lo/mid/hi"),
        ("24", {"labels": ("1", "2", "3", "4", "5")}, "ordinal:1:5"),
        (["0", "0.5", "1"], {"labels": ("0", "0.5", "1")}, "ordinal:0/0.5/1"),
        (["yes", "no", "dk"], {"missing_labels": ("DK",)}, "binary:no<yes"),
    ],
)
def test_the_scale(values, options, printed):
    assert str(scale_of(values, **options)) == printed


def test_values_are_numbers_or_codes():
    corpus = read_corpus(CorpusOptions(answers("hi", "lo", "mid"), level="ordinal", labels=("lo", "mid", "hi")))
    assert corpus.ratings["value"].to_list() == [2.0, 0.0, 1.0]
    assert corpus.questions[0].scale.level_values == (0.0, 1.0, 2.0)


def test_what_is_concluded_is_said():
    assert keys(read_corpus(CorpusOptions(answers("1", "5")))) == ["scale_inferred"]
    assert keys(read_corpus(CorpusOptions(answers("0", "1")))) == ["binary_inferred"]
    assert keys(read_corpus(CorpusOptions(answers("a", "b", "unsure")))) == ["label_no_answer", "nominal_inferred"]
    declared = CorpusOptions(answers("1", "5"), level="ordinal", low=1, high=5)
    assert keys(read_corpus(declared)) == []


def test_decimals_on_a_scale_of_whole_numbers_make_it_interval_with_a_warning():
    corpus = read_corpus(CorpusOptions(answers("1", "2.5", "5"), level="ordinal", low=1, high=5))
    (note,) = [note for note in corpus.notes if note.key == "input.note.decimals"]
    assert str(corpus.questions[0].scale) == "interval:1:5"
    assert (note.kind, note.fields["row"], note.fields["column"], note.fields["value"]) == (
        "warning",
        2,
        "rating",
        "2.5",
    )


def test_nothing_is_said_of_even_levels():
    assert "outlying_code" not in keys(read_corpus(CorpusOptions(answers("1", "2", "3", "4", "5"))))


def test_a_code_far_from_the_others_is_pointed_out():
    corpus = read_corpus(CorpusOptions(answers("1", "2", "3", "4", "99")))
    (note,) = [note for note in corpus.notes if note.key == "input.note.outlying_code"]
    assert note.fields["value"] == "99"
    assert str(scale_of(["1", "2", "3", "4", "99"], missing_labels=("99",))) == "ordinal:1:4"


def test_questions_of_one_table_share_the_widest_scale_read_off():
    half = table("item_id,rater_id,pool,q1,q2,q3", "a,u,us,1,2,0", "b,u,us,5,5,10", "c,u,us,3,4,3")
    read = read_corpus(CorpusOptions(half, question_columns=("q1", "q2")))
    assert [str(question.scale) for question in read.questions] == ["ordinal:1:5", "ordinal:1:5"]
    assert "scale_shared" in keys(read)
    apart = read_corpus(CorpusOptions(half, question_columns=("q1", "q2", "q3")))
    assert [str(question.scale) for question in apart.questions] == ["ordinal:1:5", "ordinal:2:5", "ordinal:0:10"]


def test_a_question_with_one_answer_takes_the_scale_of_the_others():
    half = table("item_id,rater_id,pool,q1,q2,q3", "a,u,us,1,3,1", "b,u,us,5,3,1")
    read = read_corpus(CorpusOptions(half, question_columns=("q1", "q2", "q3")))
    assert scales(read) == ["ordinal:1:5"] * 3
    alone = read_corpus(CorpusOptions(half, question_columns=("q3",)))
    assert scales(alone) == ["binary:0<1"]


def test_the_questions_table_declares_scale_role_and_wording():
    questions = table(
        "question,role,text.en,text.zh,level,min,max,labels,positive,missing",
        "good,evaluation,Good?,好吗,ordinal,1,7,,,",
        "kind,,Which?,,,,,x|y|z,,dunno;skip",
        "flag,,,,,,,off;on,on,",
        "spare,,,,,,,,,",
    )
    long = table(
        "item_id,rater_id,pool,question,rating",
        "a,u,us,flag,on", "a,u,us,good,3", "a,u,us,kind,y", "b,u,us,kind,Dunno", "b,u,us,kind,skip",
    )  # fmt: skip
    corpus = read_corpus(CorpusOptions(long, questions=questions))
    assert [question.id for question in corpus.questions] == ["good", "kind", "flag"]
    assert [str(question.scale) for question in corpus.questions] == ["ordinal:1:7", "nominal:x/y/z", "binary:off<on"]
    assert corpus.question("good").role == "evaluation"
    assert corpus.question("good").text == {"en": "Good?", "zh": "好吗"}
    assert corpus.question("kind").scale.missing == ("dunno", "skip")
    assert not any(question.inferred for question in corpus.questions)
    assert corpus.intake[0].excluded == {"missing_label": 2}
    assert {one.table: one.excluded for one in corpus.intake}["questions"] == {"not_rated": 1}


def test_q1_to_q4_have_roles_only_when_exactly_those_occur():
    half = table("item_id,rater_id,pool,q1,q2,q3,q4,q5", "a,u,us,1,2,3,4,5", "b,u,us,5,4,2,1,1")
    four = read_corpus(CorpusOptions(half, question_columns=("q2", "q1", "q3", "q4")))
    assert {question.id: question.role for question in four.questions} == {
        "q1": "evaluation", "q2": "placement", "q3": "subjectivity", "q4": "recognizability",
    }  # fmt: skip
    five = read_corpus(CorpusOptions(half, question_columns=("q1", "q2", "q3", "q4", "q5")))
    assert {question.role for question in five.questions} == {None}


def test_ratings_outside_a_declared_scale_are_left_out_when_asked():
    corpus = read_corpus(CorpusOptions(answers("1", "6", "0", "5"), low=1, high=5, out_of_scale="exclude"))
    assert corpus.ratings["value"].to_list() == [1.0, 5.0]
    assert corpus.intake[0].excluded == {"out_of_scale": 2}
    assert "out_of_scale" in keys(corpus)


def test_items_with_scales_of_their_own():
    items = table("item_id,level,min,max", "a,ordinal,0,2", "b,ordinal,1,10", "c,nominal,1,3", "d,,,")
    long = two_pools("c,u,us,3", "d,u,us,4")
    corpus = read_corpus(CorpusOptions(long.with_columns(rating=pl.col("rating").replace("5", "9")), items=items))
    assert str(corpus.questions[0].scale) == "ordinal:0:10"
    assert corpus.item_scales == {"a": Scale("ordinal", 0, 2), "b": Scale("ordinal", 1, 10)}
    assert corpus.intake[0].excluded == {"item_level": 1}
    assert corpus.intake[1].excluded == {"item_level": 1}
    assert dict(corpus.excluded_items) == {"c": "item_level"}
    with pytest.raises(InputError, match=r"row 2, column 'rating': '3' is outside the scale .*\(0 - 2\)"):
        read_corpus(CorpusOptions(table("item_id,rater_id,pool,rating", "b,u,us,9", "a,u,us,3"), items=items))


def test_item_columns_called_level_or_min_that_are_no_scale_stay_ordinary():
    items = table("item_id,level,min", "a,hard,x", "b,easy,y")
    corpus = read_corpus(CorpusOptions(two_pools(), items=items))
    assert corpus.item_scales == {}
    assert "not_item_scales" in keys(corpus)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1_0", "0x1", "", "１"])
def test_what_is_no_number(text):
    assert numbers(pl.Series([text])).to_list() == [None]


def test_labels_are_found_by_text_number_or_case():
    scale = Scale("nominal", 0, 1, ("0", "1"), "1")
    assert encode(scale, pl.Series(["1.0", "1", "0", "2", "x"])).to_list() == [1.0, 1.0, 0.0, None, None]
    cased = Scale("nominal", labels=("a", "A"))
    assert encode(cased, pl.Series(["A", "a"])).to_list() == [1.0, 0.0]


def test_reversed_ends_and_unknown_levels_are_refused():
    with pytest.raises(UsageError, match="ends reversed"):
        Spec(low=5, high=1)
    with pytest.raises(UsageError, match="level cannot be 'likert'"):
        Spec(level="likert")
