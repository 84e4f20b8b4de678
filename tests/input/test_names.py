"""Names that could be taken for one another, and tables that could lose rows in silence."""

import gzip
from datetime import timedelta

import polars as pl
import pytest
from tests.input.input_tables import answers, balanced, keys, table, two_pools

from voirdire.corpus.reading import CorpusOptions, JudgmentOptions, read_corpus, read_judgments
from voirdire.errors import InputError
from voirdire.tables import read_table

JUDGED = "item_id,judge,condition,design,rating"


def judged(*rows, header=JUDGED, **options):
    corpus = read_corpus(CorpusOptions(two_pools()))
    return read_judgments(JudgmentOptions(table(header, *rows), **options), corpus)


@pytest.mark.parametrize("judge", ["*", "control:random", "control:constant_3"])
def test_a_judge_does_not_take_a_name_of_the_results(judge):
    with pytest.raises(InputError) as caught:
        judged("a,m,-,x,1", f"b,{judge},-,x,2")
    assert caught.value.key == "input.name_reserved"
    assert (caught.value.fields["row"], caught.value.fields["value"]) == (2, judge)


def test_a_condition_is_not_called_all():
    with pytest.raises(InputError, match="meaning of its own"):
        judged("a,m,*,x,1")


def test_two_cells_never_share_a_name():
    rows = ("a,m,a/b,c,1", "a,m,a,b/c,5", "b,m,a/b,c,1", "b,m,a,b/c,5")
    with pytest.raises(InputError, match="both be called 'a/b/c'"):
        judged(*rows, factors=("design",))
    apart = judged(*(row.replace("a/b,c", "a/b,z") for row in rows), factors=("design",))
    assert apart.table.filter(pl.col("status") == "ok").height == 4
    assert apart.cells.height == 2


@pytest.mark.parametrize(
    ("pools", "warned"),
    [(("us", "US"), True), (("\u00e9", "e\u0301"), True), (("us", "us\u200b"), True), (("us", "cn"), False)],
)
def test_names_that_look_alike_are_told(pools, warned):
    rows = [f"{item},{place}{pool},{pool},{place + 1}" for place, pool in enumerate(pools) for item in "ab"]
    read = read_corpus(CorpusOptions(table("item_id,rater_id,pool,rating", *rows), low=1, high=5))
    assert read.pools == pools
    assert bool({"names_alike", "pools_alike"} & set(keys(read))) is warned


def test_a_missing_label_is_also_its_number():
    read = read_corpus(CorpusOptions(answers("0.0", "0", "1", "5"), missing_labels=("0",), low=0, high=5))
    assert read.intake[0].excluded == {"missing_label": 2}
    assert sorted(read.ratings["value"]) == [1, 5]
    assert balanced(*read.intake)


@pytest.mark.parametrize("column", ["_q1", "value"])
def test_question_columns_of_any_name(column):
    frame = two_pools().rename({"rating": column})
    read = read_corpus(CorpusOptions(frame, question_columns=(column,)))
    assert [question.id for question in read.questions] == [column]
    assert read.ratings.height == frame.height


@pytest.mark.parametrize("column", ["item_id", "raw", "_row"])
def test_question_columns_that_cannot_be(column):
    frame = two_pools().with_columns(pl.col("rating").alias(column))
    with pytest.raises(InputError, match="meaning of its own"):
        read_corpus(CorpusOptions(frame, question_columns=(column,)))


def test_a_quotation_mark_in_a_header_takes_no_row(tmp_path):
    file = tmp_path / "r.csv"
    file.write_text('item_id,5" tall,rating\na,1,2\nb,3" x,3\nc,y,4\n')
    assert read_table(file).frame.rows() == [("a", "1", "2"), ("b", '3" x', "3"), ("c", "y", "4")]
    file.write_text('item_id,"two\nlines",rating\na,1,2\n')
    assert read_table(file).frame.columns == ["item_id", "two\nlines", "rating"]
    assert read_table(file).frame.height == 1


def test_nested_cells_beside_plain_ones_are_text(tmp_path):
    file = tmp_path / "r.jsonl"
    file.write_text('{"item_id": "a", "raw": {"x": [1]}}\n\n{"item_id": 7, "raw": 3, "more": true}\n')
    read = read_table(file)
    assert read.frame.rows() == [("a", '{"x":[1]}', None), ("7", "3", "true")]
    assert (read.row(0), read.row(1)) == (1, 3)


def test_damage_inside_a_gz_is_refused(tmp_path):
    whole = gzip.compress(b"item_id,t\n" + b"a,1\nb,2\n" * 500)
    file = tmp_path / "r.csv.gz"
    file.write_bytes(whole[:15] + b"\xff\x00\xff" + whole[18:])
    with pytest.raises(InputError, match="cannot be read"):
        read_table(file)


def test_frames_of_any_type_are_text():
    frame = pl.DataFrame({"item_id": ["a"], "bytes": [b"\xff"], "took": [timedelta(1)], "nested": [{"a": 1}]})
    assert read_table(frame).frame.height == 1


def test_pandas_index_and_whole_floats():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"item_id": pandas.Series([1.0, "x"], dtype=object)})
    assert read_table(frame).frame.rows() == [("1",), ("x",)]
    assert read_table(frame.set_index("item_id", drop=False)).frame.columns == ["item_id"]


@pytest.mark.parametrize(
    "line",
    [
        'simulated = "no"',
        "[read]\nmap = 3",
        '[read]\nmissing_labels = "NA"',
        "read = 3",
        "[read]\nquestion_columns = [1]",
    ],
)
def test_a_corpus_file_of_another_form_is_refused(line, tmp_path):
    two_pools().write_csv(tmp_path / "ratings.csv")
    (tmp_path / "corpus.toml").write_text(line)
    with pytest.raises(InputError, match="is not of the form"):
        read_corpus(CorpusOptions(tmp_path))
