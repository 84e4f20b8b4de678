"""Reading and writing one table: any bytes end with a table or a refusal."""

import csv
import io

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from voirdire.corpus.reading import CorpusOptions, read_corpus
from voirdire.errors import VoirdireError
from voirdire.tables import read_table, write_table

QUIET = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
PIECES = st.sampled_from([*",;\t|\" 'a1é花\ufeff", '""', "\n", "\r\n", "\r", "item_id", "rating"])
# A byte order mark in front of the first row is taken for what it is called, not for content.
LETTERS = st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Z"], exclude_characters="\ufeff")
CELLS = st.text(LETTERS, min_size=1, max_size=6)


TEXT = st.lists(PIECES, max_size=30).map(lambda parts: "".join(parts).encode())


@QUIET
@given(content=st.one_of(st.binary(max_size=60), TEXT))
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl", "t.parquet", "t.csv.gz"])
def test_any_bytes_are_a_table_or_a_refusal(content, name, tmp_path):
    file = tmp_path / name
    file.write_bytes(content)
    try:
        table = read_table(file)
    except VoirdireError as error:
        said = [error.message(lang) for lang in ("en", "zh")]
    else:
        said = [str(table.frame.height)]
        assert set(table.frame.dtypes) <= {pl.String}
    assert all(said)


@QUIET
@given(rows=st.lists(st.lists(st.text(max_size=5), min_size=3, max_size=3), min_size=1, max_size=8))
def test_csv_is_read_as_the_csv_module_reads_it(rows, tmp_path):
    rows = [[cell.replace("\r", "").replace("\x00", "") for cell in row] for row in rows]
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_MINIMAL, lineterminator="\n").writerows([["a", "b", "c"], *rows])
    file = tmp_path / "t.csv"
    file.write_bytes(out.getvalue().encode())
    read = [[cell or "" for cell in row] for row in read_table(file).frame.rows()]
    strip = pl.Series([cell for row in rows for cell in row], dtype=pl.String).str.strip_chars().to_list()
    assert [cell for row in read for cell in row] == strip


@QUIET
@given(cells=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5))
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.jsonl", "t.jsonl.gz", "t.parquet"])
def test_what_is_written_is_read_back(cells, name, tmp_path):
    frame = pl.DataFrame(cells, schema={"a": pl.String, "b": pl.String}, orient="row")
    assert_frame_equal(read_table(write_table(frame, tmp_path / name)).frame, frame)


def test_rows_of_quoted_fields_with_line_breaks_are_counted_as_rows(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text('item_id,rater_id,pool,rating\n"a\nb",u,us,1\nc,u,us,x\n', encoding="utf-8")
    with pytest.raises(VoirdireError, match="row 3, column 'rating': 'x'"):
        read_corpus(CorpusOptions(file))


def test_unnamed_columns_are_called_by_their_place(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text(",item_id\n0,a\n", encoding="utf-8")
    assert read_table(file).frame.columns == ["column_1", "item_id"]


def test_writing_the_same_twice_gives_the_same_bytes(tmp_path):
    frame = pl.DataFrame({"a": ["x", "花"]})
    one, two = (write_table(frame, tmp_path / name).read_bytes() for name in ("1.csv.gz", "2.csv.gz"))
    assert one == two


def test_a_header_alone_is_an_empty_table(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("a,b", encoding="utf-8")
    assert read_table(file).frame.shape == (0, 2)
