"""Bad input is refused: the sentence names file, row, column and value, and says what to do."""

import gzip

import pytest
from tests.input.input_tables import HEADER, answers, table, two_pools

from voirdire.corpus.reading import CorpusOptions, JudgmentOptions, read_corpus, read_judgments
from voirdire.errors import InputError, UsageError, VoirdireError
from voirdire.tables import read_table, write_table


def refusal(tmp_path, content, name="r.csv", **options):
    """The English and Chinese sentences with which a ratings file is refused."""
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        read_corpus(CorpusOptions(file, **options))
    for lang in ("en", "zh"):
        assert str(file) in caught.value.message(lang)
    return str(caught.value)


def lines(*rows):
    return "\n".join((HEADER, *rows)) + "\n"


FILES = [
    # content, what the sentence says
    (lines("a,u,us,1", "b,u,us"), ["row 3", "3 fields", "header has 4", "'pool'"]),
    (lines("a,u,us,1,9", "b,u,us,2"), ["row 2", "5 fields", "header has 4", "'rating'"]),
    (lines('"a",u,us,1', "", "b,u,us"), ["row 4", "3 fields"]),
    (lines("a,u,us,1", '"b,u,us,2', "c,u,us,3"), ["row 3", "quotation marks"]),
    ("item_id,rating,pool,rating\na,1,us,2\n", ["row 1", "'rating'", "twice", "places 2 and 4", "Rename"]),
    (
        lines("a,u,us,1").encode() + "b,é,us,2\n".encode("latin-1"),
        ["row 3", "character 3", "0xe9", "--encoding cp1252"],
    ),
    (lines("a,u,us,1").encode() + "b,花,us,2\n".encode("gb18030"), ["row 3", "character 3", "--encoding gb18030"]),
    (lines("a,u,us,1").encode() + "b,Müller,Köln,2\n".encode("cp1252"), ["row 3", "--encoding cp1252"]),
    (lines("a,u,us,1").encode("utf-16"), ["UTF-16", "--encoding utf-16"]),
    ("", ["empty", "header"]),
    (HEADER + "\n", ["no rows"]),
    (lines("a,u,us,1", "b,u,us,unsure", "c,u,us,5"), ["row 3", "'rating'", "'unsure'", "--missing-label unsure"]),
    (lines("a,u,us,3", "b,u,us,3"), ["row 2", "'rating'", "'3'", "--scale LOW:HIGH"]),
    (lines("a,u,us,x", "b,u,us,x"), ["row 2", "'rating'", "'x'", "--labels"]),
    (lines("a,u,us,x", "b,u,us,y"), ["'rating'", "x, y", "--positive LABEL"]),
    (lines("a,u,us,Yes", "b,u,us,yes"), ["row 2", "'rating'", "Yes, yes", "--labels"]),
    (lines(*[f"a{n},u,us,word {n}" for n in range(101)]), ["row 2", "101", "--map rating=NAME"]),
    (lines("a,u,us,1", ",u,us,2"), ["row 3", "'item_id'", "empty"]),
    (lines("a,u,us,1", "a,u,us,2"), ["row 3", "'rater_id'", "'u'", "row 2", "--duplicates"]),
    (lines("a,u,us,1", "b,u,cn,2"), ["row 2", "'rater_id'", "'u'", "cn, us", "--two-pools separate"]),
    (lines("a,u,us,1", "b,,us,2"), ["row 3", "'rater_id'", "'us'", "--aggregate 'us'"]),
    (lines("a,u,us,", "b,u,us,"), ["no rating is left", "--missing-label"]),
    ("item_id,rater_id,pool\na,u,us\n", ["'rating'", "--map rating=NAME", "item_id, rater_id, pool"]),
    ("worker,pool,rating\nu,us,1\n", ["'item_id'", "--map item_id=NAME"]),
    ("item_id,rater_id,label,score\na,u,1,2\n", ["'rating'", "label, score", "--map rating=NAME"]),
    ("item_id,pool,rating\na,us,1\n", ["--aggregate all", "--map rater_id=NAME"]),
]


@pytest.mark.parametrize(("content", "said"), FILES, ids=[str(place) for place in range(len(FILES))])
def test_a_bad_file(content, said, tmp_path):
    sentence = refusal(tmp_path, content)
    for part in said:
        assert part in sentence, sentence


def test_rows_and_columns_are_those_of_the_file_when_names_are_recognised(tmp_path):
    sentence = refusal(tmp_path, "Task,Worker,pool,Label\na,u,us,1\na,u,us,2\n")
    assert "row 3, column 'Worker'" in sentence
    assert "column 'Label'" in refusal(tmp_path, "Task,Worker,pool,Label\na,u,us,1\nb,u,us,x\n")


def test_in_a_half_wide_table_the_column_is_that_of_the_cell(tmp_path):
    content = "item_id,rater_id,pool,q1,q2\na,u,us,1,2\nb,u,us,5,dk\n"
    assert "row 3, column 'q2': 'dk'" in refusal(tmp_path, content, question_columns=("q1", "q2"))
    assert "row 3, column 'item_id'" in refusal(
        tmp_path, "item_id,rater_id,pool,q1,q2\na,u,us,1,2\n,u,us,5,1\n", question_columns=("q1", "q2")
    )


def test_outside_a_declared_scale(tmp_path):
    sentence = refusal(tmp_path, lines("a,u,us,1", "b,u,us,88"), low=1, high=5)
    for part in ("row 3, column 'rating': '88'", "1 - 5", "--missing-label 88", "--out-of-scale exclude"):
        assert part in sentence
    assert "'maybe'" in refusal(tmp_path, lines("a,u,us,yes", "b,u,us,maybe"), labels=("no", "yes"))


def test_declared_levels_that_words_do_not_fit(tmp_path):
    assert "--labels LOW,MIDDLE,HIGH" in refusal(tmp_path, lines("a,u,us,hi", "b,u,us,lo"), level="ordinal")
    assert "--missing-label hi" in refusal(tmp_path, lines("a,u,us,hi", "b,u,us,lo"), level="interval")
    assert "more than two labels" in refusal(tmp_path, lines("a,u,us,x", "b,u,us,y", "c,u,us,z"), positive="x")
    with pytest.raises(InputError, match="'z' is neither"):
        read_corpus(CorpusOptions(answers("x", "y"), positive="z"))


def test_jsonl(tmp_path):
    good = b'{"item_id": "a", "rater_id": "u", "pool": "us", "rating": 1}\n'
    assert "row 3: this line is no JSON" in refusal(tmp_path, good + b"\n{oops\n", "r.jsonl")
    assert "row 2: the line is JSON and no object: [1]" in refusal(tmp_path, good + b"[1]\n", "r.jsonl")
    file = tmp_path / "words.jsonl"
    file.write_bytes(good + b"\n" + good.replace(b'"a"', b'"b"').replace(b": 1", b': "dk"'))
    with pytest.raises(InputError, match="row 3, column 'rating': 'dk'"):
        read_corpus(CorpusOptions(file))


def test_files_of_other_kinds(tmp_path):
    assert "csv, tsv, jsonl or parquet" in refusal(tmp_path, "x", "r.xlsx")
    assert "cannot be read" in refusal(tmp_path, "x", "r.parquet")
    assert "cannot be read" in refusal(tmp_path, "x", "r.csv.gz")
    assert "cannot be read" in refusal(tmp_path, gzip.compress(b"item_id\n" * 99)[:-9], "r.csv.gz")
    with pytest.raises(InputError, match="no file"):
        read_corpus(CorpusOptions(tmp_path / "none.csv"))
    with pytest.raises(InputError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(InputError, match=r"no corpus\.toml"):
        read_corpus(CorpusOptions(tmp_path))
    with pytest.raises(InputError, match="this is a int"):
        read_corpus(CorpusOptions(7))
    with pytest.raises(InputError, match="no encoding 'klingon'"):
        read_corpus(CorpusOptions(write_table(two_pools(), tmp_path / "ok.csv"), encoding="klingon"))


def test_a_corpus_folder_that_lacks_its_tables(tmp_path):
    (tmp_path / "corpus.toml").write_text("name = ", encoding="utf-8")
    with pytest.raises(InputError, match="no TOML"):
        read_corpus(CorpusOptions(tmp_path))
    (tmp_path / "corpus.toml").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="no table ratings"):
        read_corpus(CorpusOptions(tmp_path))


def test_what_a_map_names_must_be_there():
    with pytest.raises(InputError, match="--map rater_id=who names a column that is not there"):
        read_corpus(CorpusOptions(two_pools(), mapping={"rater_id": "who"}))
    with pytest.raises(UsageError, match="nothing called 'annotater'"):
        read_corpus(CorpusOptions(two_pools(), mapping={"annotater": "rater_id"}))
    with pytest.raises(InputError, match="--question-columns names the column 'q9'"):
        read_corpus(CorpusOptions(two_pools(), question_columns=("q9",)))
    with pytest.raises(InputError, match="--pool-column names the column 'nation'"):
        read_corpus(CorpusOptions(two_pools(), pool_column="nation"))


@pytest.mark.parametrize("name", ["duplicates", "two_pools", "unknown_items", "out_of_scale"])
def test_policies_that_do_not_exist(name):
    long = two_pools("a,u,cn,2") if name == "two_pools" else two_pools("a,u,us,2")
    with pytest.raises(UsageError, match="cannot be 'whatever'"):
        read_corpus(CorpusOptions(long, items=table("item_id", "a", "b"), **{name: "whatever"}))


def test_the_tables_beside_the_ratings(tmp_path):
    def refused(match, **tables):
        with pytest.raises(VoirdireError, match=match):
            read_corpus(CorpusOptions(two_pools(), **tables))

    refused("row 2, column 'item_id': '' *|empty", items=table("item_id,text", "a,x", ",y"))
    refused("row 3, column 'item_id': 'a' was there before", items=table("item_id,text", "a,x", "b,z", "a,y"))
    refused("row 2, column 'item_id': the item 'b' is not in the items table \\(2", items=table("item_id", "a"))
    refused("row 1, column 'max'.*'1' is not above", items=table("item_id,min,max", "a,5,1", "b,1,5"))
    refused("row 2, column 'rater_id': 'u' was there before", raters=table("rater_id,pool", "u,us", "u,cn"))
    refused("rater 'u' is in pool 'us' here and in 'fr'", raters=table("rater_id,pool", "u,fr", "c,cn"))
    refused("row 1, column 'level': 'likert' is no level", questions=table("question,level", "rating,likert"))
    refused("row 1, column 'min': 'x' is no number", questions=table("question,min,max", "rating,x,5"))
    refused("role cannot be 'boss'", questions=table("question,role", "rating,boss"))
    refused("column 'question': 'rating' was there before", questions=table("question,min", "rating,1", "rating,2"))
    shares = table("item_id,pool,question,label,share", "a,fr,rating,1,1.2")
    refused("row 1, column 'share': '1.2' is no share", shares=shares)
    means = table("item_id,rater_id,pool,rating,n", "a,aggregate-x,x,1,many")
    with pytest.raises(InputError, match="row 1, column 'n': 'many' is no number of raters"):
        read_corpus(CorpusOptions(means, low=1, high=5))
    with pytest.raises(InputError, match="row 1, column 'rating': 'high' stands where the mean"):
        read_corpus(CorpusOptions(table(HEADER, "a,aggregate-x,x,high")))
    with pytest.raises(InputError, match="cannot be the mean of a pool"):
        read_corpus(CorpusOptions(table(HEADER, "a,aggregate-x,x,1"), labels=("a", "b", "c")))


def test_labels_cannot_be_averaged():
    with pytest.raises(UsageError, match="--duplicates first"):
        read_corpus(CorpusOptions(answers("x", "y", "z").vstack(answers("y")), duplicates="mean"))


def judged(*rows, header="item_id,judge,rating", **options):
    corpus = read_corpus(CorpusOptions(two_pools()))
    return read_judgments(JudgmentOptions(table(header, *rows), **options), corpus)


def test_bad_judgments():
    def refused(match, *rows, header="item_id,judge,rating", **options):
        with pytest.raises(VoirdireError, match=match):
            judged(*rows, header=header, **options)

    refused("row 1, column 'item_id': 'x' and every other judged item", "x,j,1", "y,j,2")
    refused("row 1, column 'question': 'fun' and every", "a,j,fun,1", header="item_id,judge,question,rating")
    refused("row 2, column 'item_id': judge 'j' has judged item 'a'.*row 1.*--factors", "a,j,1", "a,j,2")
    refused("row 2, column 'judge': the cell is empty", "a,j,1", "b,,2")
    refused("row 1, column 'status': 'meh' is no status", "a,j,1,meh", header="item_id,judge,rating,status")
    refused("--judge-name NAME", "a,1", header="item_id,rating")
    refused("'rating'", "a,j", header="item_id,judge")
    refused("--judge-scale 5:1: write 0:10", "a,j,1", judge_scale=("5:1",))
    refused("--judge-scale ten: write 0:10", "a,j,1", judge_scale=("ten",))
    refused("no judge 'k'", "a,j,1", judge_scale=("k=0:10",))
    refused("no question 'zest'. Questions: rating", "a,j,1", judged_question="zest")
    refused("--factors names the column 'temp'", "a,j,1", factors=("temp",))
    refused("'j' was there before", "a,j,1", judges=table("judge,origin", "j,us", "j,cn"))
    refused("row 1, column 'max': 'ten' is no number", "a,j,1", judges=table("judge,min,max", "j,0,ten"))
