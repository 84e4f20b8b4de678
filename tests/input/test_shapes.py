"""One set of ratings, every shape and kind of file: the same corpus."""

import gzip

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from voirdire.corpus.reading import CorpusOptions, JudgmentOptions, read_corpus, read_judgments
from voirdire.tables import read_table, write_table

ITEMS = ["i1", "i 2", "条目3", 'i"4"', "i,5"]
RATERS = ["u1", "u2", "c1", "c2"]
POOL = {"u1": "us", "u2": "us", "c1": "cn", "c2": "cn"}
SETTINGS = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def ratings(draw):
    """A long table in which every cell of item x rater x question is filled, or empty."""
    cell = st.one_of(st.none(), st.integers(1, 5))
    rows = [
        {"item_id": item, "rater_id": rater, "pool": POOL[rater], "question": question, "rating": draw(cell)}
        for item in ITEMS
        for rater in RATERS
        for question in ("q1", "q2")
    ]
    rows[0]["rating"], rows[1]["rating"], rows[2]["rating"], rows[3]["rating"] = 1, 1, 5, 5
    return pl.DataFrame(rows)


def same(one, other):
    """Equal questions, pools, ratings and reckoning."""
    assert one.questions == other.questions
    assert one.pools == other.pools
    assert_frame_equal(one.ratings, other.ratings)
    assert_frame_equal(one.items, other.items)
    mine, theirs = one.intake[0], other.intake[0]
    assert (mine.rows_in, mine.rows_used, mine.excluded) == (theirs.rows_in, theirs.rows_used, theirs.excluded)


@SETTINGS
@given(long=ratings())
@pytest.mark.parametrize("name", ["r.csv", "r.csv.gz", "r.tsv", "r.jsonl", "r.jsonl.gz", "r.parquet"])
def test_every_kind_of_file_gives_the_same_corpus(long, name, tmp_path):
    same(read_corpus(CorpusOptions(long)), read_corpus(CorpusOptions(write_table(long, tmp_path / name))))


@SETTINGS
@given(long=ratings())
def test_half_wide_gives_the_same_corpus(long):
    half = long.pivot("question", index=["item_id", "rater_id", "pool"], values="rating")
    same(read_corpus(CorpusOptions(long)), read_corpus(CorpusOptions(half, question_columns=("q1", "q2"))))


@SETTINGS
@given(long=ratings())
def test_wide_with_a_rater_table_gives_the_same_corpus(long):
    wide = long.pivot("rater_id", index=["item_id", "question"], values="rating")
    raters = pl.DataFrame({"rater_id": RATERS, "pool": [POOL[rater] for rater in RATERS]})
    same(read_corpus(CorpusOptions(long)), read_corpus(CorpusOptions(wide, raters=raters)))
    explicit = CorpusOptions(wide, raters=raters, rater_columns=tuple(RATERS))
    same(read_corpus(CorpusOptions(long)), read_corpus(explicit))


@SETTINGS
@given(long=ratings(), seed=st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(long, seed):
    items = pl.DataFrame({"item_id": ITEMS})
    questions = pl.DataFrame({"question": ["q1", "q2"]})
    pools = ("us: pool == 'us'", "cn: pool == 'cn'")
    shuffled = long.sample(fraction=1.0, shuffle=True, seed=seed)
    one, other = (
        read_corpus(CorpusOptions(rows, items=items, questions=questions, pools=pools)) for rows in (long, shuffled)
    )
    same(one, other)


@pytest.mark.parametrize("delimiter", [";", "|", "\t", ","])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_delimiters_byte_order_marks_and_line_ends(delimiter, bom, newline, tmp_path):
    lines = ["item_id,rater_id,pool,rating", "a,u,us,1", '"b, or so",u,us,5', "", "a,c,cn,2", '"b, or so",c,cn,4', ""]
    text = newline.join(lines)
    quoted = '"b, or so"'
    text = text.replace(quoted, "@").replace(",", delimiter).replace("@", quoted)
    file = tmp_path / "r.csv"
    file.write_bytes(bom + text.encode())
    corpus = read_corpus(CorpusOptions(file))
    assert sorted(corpus.ratings["item_id"].unique()) == ["a", "b, or so"]
    assert corpus.ratings.height == 4


def test_decimal_commas_of_a_semicolon_table(tmp_path):
    file = tmp_path / "r.csv"
    file.write_text("item;rater;pool;score\na;u;us;1,5\nb;u;us;5\na;c;cn;2,25\nb;c;cn;4\n", encoding="utf-8")
    corpus = read_corpus(CorpusOptions(file))
    assert sorted(corpus.ratings["value"]) == [1.5, 2.25, 4.0, 5.0]
    assert "input.note.decimal_comma" in {note.key for note in corpus.notes}


def test_another_encoding_is_read_when_named(tmp_path):
    file = tmp_path / "r.csv"
    file.write_bytes("item,rater,pool,score\n花,甲,中,1\n花,乙,美,5\n".encode("gb18030"))
    corpus = read_corpus(CorpusOptions(file, encoding="gb18030"))
    assert corpus.pools == ("中", "美")


def test_pandas_frames_are_taken():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"item": [1, 1, 2, 2], "rater": ["u", "c", "u", "c"], "pool": ["us", "cn"] * 2, "score": [1, None, 5, 4]}
    )
    corpus = read_corpus(CorpusOptions(frame))
    assert corpus.ratings["item_id"].to_list() == ["1", "2", "2"]
    assert corpus.intake[0].excluded == {"missing": 1}
    indexed = frame.set_index("item")
    assert_frame_equal(read_corpus(CorpusOptions(indexed)).ratings, corpus.ratings)


def test_numbers_of_frames_and_files_name_the_same_items(tmp_path):
    frame = pl.DataFrame({"item_id": [1.0, 2.0], "rating": [1.0, 2.5]})
    assert read_table(frame).frame.rows() == [("1", "1.0"), ("2", "2.5")]
    with_gap = pl.DataFrame({"item_id": [1.0, None, float("nan")]})
    assert read_table(with_gap).frame.rows() == [("1",), (None,), (None,)]


def test_a_column_per_pool_of_means():
    wide = pl.DataFrame({"item_id": ["a", "b"], "us": [1.5, 4.0], "cn": [2.0, None]})
    for options in (
        CorpusOptions(wide, pool_columns=("us", "cn")),
        CorpusOptions(wide, aggregate=("us", "cn")),
        CorpusOptions(wide, aggregate=("all",)),
    ):
        corpus = read_corpus(options)
        assert corpus.ratings.is_empty()
        assert corpus.aggregates.sort("pool", "item_id").rows() == [
            ("a", "cn", "rating", 2.0, None),
            ("a", "us", "rating", 1.5, None),
            ("b", "us", "rating", 4.0, None),
        ]
        assert corpus.intake[0].rows_in == 4
        assert corpus.intake[0].excluded == {"missing": 1}


@pytest.mark.parametrize("explicit", [True, False])
def test_a_column_per_judge(explicit):
    long = pl.DataFrame(
        {"item": ["a", "b"] * 2, "rater": ["u", "u", "c", "c"], "pool": ["us"] * 2 + ["cn"] * 2, "score": [1, 5, 2, 4]}
    )
    wide = pl.DataFrame({"item": ["a", "b"], "gpt": [1, 5], "glm": [3, None]})
    options = JudgmentOptions(wide, judge_columns=("gpt", "glm") if explicit else ())
    judgments = read_judgments(options, read_corpus(CorpusOptions(long)))
    rows = judgments.table.select("judge", "item_id", "value", "status").sort("judge", "item_id").rows()
    assert rows == [
        ("glm", "a", 3.0, "ok"),
        ("glm", "b", None, "missing"),
        ("gpt", "a", 1.0, "ok"),
        ("gpt", "b", 5.0, "ok"),
    ]
    assert judgments.intake[0].rows_in == 4


def test_thousands_of_columns(tmp_path):
    raters = [f"r{place}" for place in range(3000)]
    lines = [",".join(["item_id", *raters])]
    lines += [",".join([item, *["1" if place % 2 else "5" for place in range(3000)]]) for item in ("a", "b")]
    file = tmp_path / "wide.csv.gz"
    file.write_bytes(gzip.compress("\n".join(lines).encode()))
    table = pl.DataFrame({"rater_id": raters, "pool": ["us" if place % 3 else "cn" for place in range(3000)]})
    corpus = read_corpus(CorpusOptions(file, raters=table))
    assert corpus.ratings.height == 6000
    assert corpus.pools == ("cn", "us")


def test_a_corpus_folder(tmp_path):
    (tmp_path / "corpus.toml").write_text('name = "mine"\nsimulated = true\n', encoding="utf-8")
    write_table(pl.DataFrame({"item_id": ["a", "b"], "culture": ["us", "cn"]}), tmp_path / "items.csv")
    rows = {
        "item_id": ["a", "b"] * 2,
        "rater_id": ["u", "u", "c", "c"],
        "pool": ["us", "us", "cn", "cn"],
        "rating": [1, 5, 2, 4],
    }
    write_table(pl.DataFrame(rows), tmp_path / "ratings.parquet")
    corpus = read_corpus(CorpusOptions(tmp_path))
    assert (corpus.name, corpus.simulated, corpus.items.columns) == ("mine", True, ["item_id", "culture"])
    write_table(pl.DataFrame({"item_id": ["a"], "judge": ["j"], "rating": [3]}), tmp_path / "judgments.jsonl")
    assert read_judgments(JudgmentOptions(tmp_path), corpus).table["value"].to_list() == [3.0]


def test_item_columns_of_the_ratings_are_kept_without_an_items_table():
    rows = {
        "item": ["a", "a", "b"],
        "rater": ["u", "c", "u"],
        "pool": ["us", "cn", "us"],
        "score": [1, 5, 2],
        "culture": ["us", "us", "cn"],
    }
    assert read_corpus(CorpusOptions(pl.DataFrame(rows))).items.rows() == [("a", "us"), ("b", "cn")]


def test_a_byte_order_mark_before_another_encoding_is_dropped(tmp_path):
    file = tmp_path / "ratings.csv"
    file.write_bytes(b"\xef\xbb\xbf" + "item;rater;pool;score\na;Müller;Köln;1\na;Groß;Köln;5\n".encode("cp1252"))
    corpus = read_corpus(CorpusOptions(file, encoding="cp1252"))
    assert corpus.pools == ("Köln",)
    assert set(corpus.ratings["rater_id"]) == {"Müller", "Groß"}
