"""Judgments in pieces: the same meaning as a table in memory, the same refusals by file and row."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.input.input_tables import balanced, keys, table, two_pools

from voirdire.app.audit import audit
from voirdire.corpus import parts
from voirdire.corpus.corpus import Coded
from voirdire.corpus.reading import CorpusOptions, JudgmentOptions, read_corpus, read_judgments
from voirdire.errors import InputError

KEY = ["question", "item_id", "judge", "condition", "repeat"]
CASES = {
    "least": ("task,model,label", ["a,j,1", "b,j,4.5"], {}),
    "one judge named beside": ("item,score", ["a,1", "b,2"], {"judge_name": "mine"}),
    "statuses": (
        "item,model,label,status",
        ["a,j,1,ok", "b,j,,refused", "c,j,9,", "d,j,3,error", "a,k,x,success", "b,k,5,malformed", "c,k,,"],
        {},
    ),
    "unknown items": ("item,model,label", ["z,k,1", "a,j,1", "b,j,2", "y,j,2", "z,j,4"], {}),
    "unknown question": ("item,model,question,label", ["a,j,rating,1", "b,j,other,2", "b,j,rating,3"], {}),
    "a design that the key needs": (
        "item_id,judge,condition,note,design,seed,rating",
        ["a,j,en,same,base,1,1", "a,j,en,same,icl,2,2", "b,j,en,same,base,3,1", "b,j,en,same,icl,4,2"],
        {},
    ),
    "two extra columns": (
        "item,model,lang,persona,label",
        ["a,j,en,x,1", "a,j,zh,x,2", "a,j,en,y,3", "a,j,zh,y,4", "b,j,en,,5"],
        {},
    ),
    "factors named": ("item,model,design,label", ["a,j,base,1", "b,j,icl,2"], {"factors": ("design",)}),
    "repeats": ("item,model,run,label", ["a,j,2,1", "a,j,1,2", "b,j,1,3", "a,k,,3", "b,k,2,x"], {}),
    "repeats in words": ("item,model,run,label", ["a,j,two,1", "a,j,one,2", "b,j,one,3"], {}),
    "numbered": ("item,model,label", ["a,j,1", "a,j,2", "b,j,3", "a,j,4", "b,k,1"], {"duplicates": "repeat"}),
    "first": ("item,model,label", ["a,j,1", "a,j,9", "b,j,3", "a,j,4"], {"duplicates": "first"}),
    "last": ("item,model,label", ["a,j,1", "z,j,2", "a,j,9", "z,j,3", "b,j,3", "a,j,4"], {"duplicates": "last"}),
    "another scale": ("item,model,label", [f"{i},j,{n}0" for n, i in enumerate("abcd")] * 2, {"duplicates": "repeat"}),
    "a declared scale": ("item,model,label", ["a,j,0", "b,j,10", "c,j,12"], {"judge_scale": ("j=0:10",)}),
    "labels that mean no answer": ("item,model,label", ["a,j,NA", "b,j,2"], {"missing_labels": ("na",)}),
    "judges as columns": ("item,j,k,other", ["a,1,2,x", "b,3,,y", "z,5,4,w"], {"judge_columns": ("j", "k")}),
    "side tables": (
        "item_id,judge,condition,rating",
        ["a,j,en,1", "a,k,zh,2", "a,k,xx,2", "q,l,en,3"],
        {
            "judges": table("judge,origin,size", "j,us,7", "unused,cn,1"),
            "conditions": table("condition,language,persona", "en,en,", "zh,zh,cn"),
        },
    ),
    "spaces and names that look alike": ("item,model,label", ["a ,J, 1", " b,j,2"], {}),
}


@pytest.fixture
def corpus():
    return read_corpus(CorpusOptions(two_pools("c,u,us,3", "d,u,us,3")))


def write(folder, frame, pieces):
    """The frame as Parquet files of nearly equal length, in their order."""
    ends = [round(frame.height * k / pieces) for k in range(pieces + 1)]
    for k in range(pieces):
        frame[ends[k] : ends[k + 1]].write_parquet(folder / f"part-{k}.parquet")
    return folder


def same(whole, streamed):
    """Whether both say the same: rows, cells, judges, reckoning, notes and what was taken for what."""
    assert isinstance(streamed.rows, Coded)
    assert not isinstance(whole.rows, Coded)
    assert streamed.table.sort(KEY).rows() == whole.table.sort(KEY).rows()
    assert streamed.table.schema == whole.table.schema
    assert streamed.cells.sort("judge", "condition").rows() == whole.cells.sort("judge", "condition").rows()
    assert streamed.cells.columns == whole.cells.columns
    for name in ("factors", "key_factors", "covariates", "rank_only", "maps"):
        assert getattr(streamed, name) == getattr(whole, name)
    assert streamed.judges.rows() == whole.judges.rows()
    assert sorted(streamed.questions) == sorted(whole.questions)
    assert balanced(*streamed.intake)
    first, second = streamed.intake[0], whole.intake[0]
    assert (first.rows_in, first.rows_used, first.excluded) == (second.rows_in, second.rows_used, second.excluded)
    assert keys(streamed) == keys(whole)
    unlike = {"file", "values", "value"}
    for one, other in zip(streamed.notes, whole.notes, strict=True):
        assert {k: v for k, v in one.fields.items() if k not in unlike} == {
            k: v for k, v in other.fields.items() if k not in unlike
        }


@pytest.mark.parametrize("pieces", [1, 3])
@pytest.mark.parametrize("name", CASES)
def test_a_folder_means_what_a_table_means(name, pieces, corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "BATCH", 2)
    header, rows, options = CASES[name]
    frame = table(header, *rows)
    whole = read_judgments(JudgmentOptions(frame, **options), corpus)
    same(whole, read_judgments(JudgmentOptions(write(tmp_path, frame, pieces), **options), corpus))


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c", "z"]),
        st.sampled_from(["j", "k"]),
        st.sampled_from(["en", "zh"]),
        st.sampled_from(["1", "2", "5", "9", "no", ""]),
        st.sampled_from(["ok", "refused", ""]),
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=40, deadline=None)
@given(rows=ROWS, policy=st.sampled_from(["repeat", "first", "last"]), pieces=st.integers(1, 3))
def test_any_rows_mean_the_same(rows, policy, pieces, tmp_path_factory):
    corpus = read_corpus(CorpusOptions(two_pools("c,u,us,3")))
    frame = table("item,model,condition,label,status", *map(",".join, rows))
    options = {"duplicates": policy}
    folder = write(tmp_path_factory.mktemp("parts"), frame, min(pieces, frame.height))
    whole, streamed = (outcome(source, corpus, options) for source in (frame, folder))
    if isinstance(whole, str) or isinstance(streamed, str):
        assert streamed == whole
    else:
        same(whole, streamed)


def outcome(source, corpus, options):
    """The judgments, or the key of the error that refuses them."""
    try:
        return read_judgments(JudgmentOptions(source, **options), corpus)
    except InputError as error:
        return error.key


REFUSED = {
    "an item twice": ("item,model,label", ["a,j,1", "b,j,2", "a,j,3"], "judged_twice", 1, "item", "a"),
    "no item": ("item,model,label", ["a,j,1", "b,j,2", ",j,3"], "cell_empty", 1, "item", ""),
    "no judge": ("item,model,label", ["a,j,1", "b,j,2", "c,,3"], "cell_empty", 1, "model", ""),
    "a strange status": (
        "item,model,label,status",
        ["a,j,1,ok", "b,j,2,ok", "c,j,3,odd"],
        "status_unknown", 1, "status", "odd",
    ),
    "a name with a meaning": ("item,model,label", ["a,j,1", "b,j,2", "c,*,3"], "name_reserved", 1, "model", "*"),
    "no item that is rated": ("item,model,label", ["x,j,1", "y,j,2", "z,j,2"], "all_unknown_item", 1, "item", "x"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_file_row_column_and_value(name, corpus, tmp_path):
    header, rows, key, row, column, value = REFUSED[name]
    folder = write(tmp_path, table(header, *rows), 2)
    with pytest.raises(InputError) as refused:
        read_judgments(JudgmentOptions(folder), corpus)
    file = folder / ("part-0.parquet" if name.startswith("no item that") else "part-1.parquet")
    fields = refused.value.fields
    assert refused.value.key == f"input.{key}"
    assert (fields["file"], fields["row"], fields["column"], fields["value"]) == (str(file), row, column, value)
    if key == "judged_twice":
        assert fields["earlier"] == f"1 ({folder / 'part-0.parquet'})"


def test_numbers_and_dates_are_read_as_a_table_reads_them(corpus, tmp_path):
    frame = pl.DataFrame({"item": ["a", "b", "a", "b"], "model": [1.0, 1.0, 2.0, 2.0], "label": [1.0, None, 2.5, 4.0]})
    frame = frame.with_columns(temperature=pl.Series([0.0, 0.0, 0.0, 0.7]))
    options = {"factors": ("temperature",)}
    whole = read_judgments(JudgmentOptions(frame, **options), corpus)
    assert set(whole.judges["judge"]) == {"1", "2"}
    same(whole, read_judgments(JudgmentOptions(write(tmp_path, frame, 4), **options), corpus))


def test_folders_named_for_a_level_are_a_column(corpus, tmp_path):
    frame = table("item,model,design,label", "a,j,base,1", "b,j,base,2", "a,j,icl,3", "b,j,icl,4")
    for level, part in frame.group_by("design", maintain_order=True):
        place = tmp_path / f"design={level[0]}"
        place.mkdir()
        part.drop("design").write_parquet(place / "part.parquet")
    same(read_judgments(JudgmentOptions(frame), corpus), read_judgments(JudgmentOptions(tmp_path), corpus))


def test_a_run_folder_may_hold_a_folder_of_judgments(corpus, tmp_path):
    frame = table("item,model,label", "a,j,1", "b,j,2")
    (tmp_path / "judgments").mkdir()
    write(tmp_path / "judgments", frame, 2)
    table("judge,origin", "j,us").write_csv(tmp_path / "judges.csv")
    assert read_judgments(JudgmentOptions(tmp_path), corpus).judges.rows() == [("j", "us")]


def test_a_large_file_is_read_in_pieces(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "LARGE", 3)
    frame = table("item,model,label", "a,j,1", "b,j,2", "c,j,4")
    frame.write_parquet(tmp_path / "judgments.parquet")
    whole = read_judgments(JudgmentOptions(frame), corpus)
    streamed = read_judgments(JudgmentOptions(tmp_path / "judgments.parquet"), corpus)
    same(whole, streamed)
    monkeypatch.setattr(parts, "LARGE", 4)
    small = read_judgments(JudgmentOptions(tmp_path / "judgments.parquet"), corpus)
    assert small.intake[0].digest == streamed.intake[0].digest
    assert not isinstance(small.rows, Coded)


def test_files_that_differ_or_are_damaged_are_refused(corpus, tmp_path):
    table("item,model,label", "a,j,1").write_parquet(tmp_path / "a.parquet")
    table("item,model,label,design", "b,j,1,x").write_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match="design"):
        read_judgments(JudgmentOptions(tmp_path), corpus)
    (tmp_path / "b.parquet").write_bytes(b"PAR1 no parquet PAR1")
    with pytest.raises(InputError, match=r"b\.parquet"):
        read_judgments(JudgmentOptions(tmp_path), corpus)


def test_what_pieces_cannot_tell_is_refused(corpus, tmp_path, monkeypatch):
    wide = tmp_path / "wide"
    wide.mkdir()
    write(wide, table("item,j,k", "a,1,2", "b,3,4"), 2)
    with pytest.raises(InputError, match="--judge-columns"):
        read_judgments(JudgmentOptions(wide), corpus)
    monkeypatch.setattr("voirdire.corpus.streaming.MOST_REPEATS", 1)
    runs = tmp_path / "runs"
    runs.mkdir()
    write(runs, table("item,model,run,label", "a,j,1,2", "b,j,2,4"), 1)
    with pytest.raises(InputError, match="repeat=NAME"):
        read_judgments(JudgmentOptions(runs), corpus)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="judgments"):
        read_judgments(JudgmentOptions(empty), corpus)


def test_items_with_scales_of_their_own(tmp_path):
    items = table("item_id,min,max", "a,1,5", "b,0,10", "c,1,5")
    rows = ("a,u,us,1", "b,u,us,9", "c,u,us,2", "a,c,cn,2", "b,c,cn,4", "c,c,cn,5")
    corpus = read_corpus(CorpusOptions(table("item_id,rater_id,pool,rating", *rows), items=items))
    frame = table("item,model,label", "a,j,5", "b,j,10", "c,j,6", "a,k,0", "b,k,11", "c,k,3")
    whole = read_judgments(JudgmentOptions(frame), corpus)
    assert whole.table["status"].to_list().count("out_of_scale") == 1
    assert whole.rank_only == {("k", "rating")}
    same(whole, read_judgments(JudgmentOptions(write(tmp_path, frame, 2)), corpus))


def small_audit():
    """Ratings of two pools and judgments of two judges in two conditions and designs, on 30 items."""
    rng = np.random.default_rng(5)
    items = pl.DataFrame({"item_id": [f"i{n}" for n in range(30)]})
    items = items.with_columns(culture=pl.Series(["us", "cn"] * 15))
    raters = pl.DataFrame({"rater_id": ["u1", "u2", "u3", "c1", "c2"], "pool": ["us"] * 3 + ["cn"] * 2})
    ratings = items.select("item_id").join(raters, how="cross")
    ratings = ratings.with_columns(rating=pl.Series(rng.integers(1, 6, ratings.height)))
    axes = {"judge": ["j", "k"], "condition": ["en", "zh"], "design": ["base", "aa"]}
    judged = items.select("item_id")
    for name, levels in axes.items():
        judged = judged.join(pl.DataFrame({name: levels}), how="cross")
    return items, ratings, judged.with_columns(rating=pl.Series(rng.integers(1, 6, judged.height)))


@pytest.mark.parametrize("messy", [False, True])
def test_an_audit_of_pieces_is_the_audit_of_the_table(messy, tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "BATCH", 50)
    items, ratings, judged = small_audit()
    if messy:
        place = pl.int_range(pl.len())
        judged = pl.concat([judged.with_columns(repeat=1), judged.with_columns(repeat=2, rating=6 - pl.col("rating"))])
        key = ["item_id", "judge", "condition", "design", "repeat"]
        judged = judged.with_columns(
            status=pl.when(place % 17 == 0).then(pl.lit("refused")).otherwise(pl.lit("ok")),
            item_id=pl.when(place % 29 == 0).then(pl.lit("nowhere")).otherwise("item_id"),
            rating=pl.when(place % 31 == 0).then(pl.lit(9)).otherwise("rating"),
        ).filter(place % 7 != 0).unique(key, maintain_order=True)  # fmt: skip
    options = {"items": items, "draws": 20, "factors": ("design",), "min_raters": 1}
    whole = audit(ratings, judged, **options).estimates
    streamed = audit(ratings, write(tmp_path, judged, 3), **options).estimates
    compared = [name for name in whole.columns if name != "signature"]
    assert len(whole) > 500
    for one, other in zip(whole.select(compared).rows(), streamed.select(compared).rows(), strict=True):
        assert all(x == y or x == pytest.approx(y, rel=1e-6, abs=1e-9) for x, y in zip(one, other, strict=True)), (
            one,
            other,
        )
