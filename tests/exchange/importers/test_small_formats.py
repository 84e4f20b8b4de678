"""Crowd-Kit, wide tables and Hugging Face data sets: what the pages do not show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from voirdire.errors import InputError
from voirdire.exchange.importers import crowdkit, datasets_folder, wide
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.contract import Importer, ImportOptions, Tables

DATA = Path(__file__).parent / "data"


def read(importer: Importer, *files: Path, **options: Any) -> Tables:
    assert importer.read is not None
    account = Account(skip_broken=options.get("skip_broken", False))
    made = importer.read(files, ImportOptions(**options), account)
    assert account.balanced
    return made


def rows(frame: pl.DataFrame | None) -> list[tuple[Any, ...]]:
    assert frame is not None
    return frame.rows()


@pytest.mark.parametrize(
    ("importer", "file", "kind"),
    [
        (crowdkit.IMPORTER, "crowdkit/labels.csv", "yes"),
        (crowdkit.IMPORTER, "crowdkit/old.csv", "yes"),
        (crowdkit.IMPORTER, "crowdkit/comparisons.csv", "yes"),
        (crowdkit.IMPORTER, "crowdkit/texts.csv", "nearly"),
        (crowdkit.IMPORTER, "crowdkit/true_labels.csv", "no"),
        (crowdkit.IMPORTER, "wide/subjects.csv", "no"),
        (wide.IMPORTER, "wide/subjects.csv", "yes"),
        (wide.IMPORTER, "wide/coders.tsv", "yes"),
        (wide.IMPORTER, "wide/unnamed.csv", "yes"),
        (wide.IMPORTER, "wide/unclear.csv", "no"),
        (wide.IMPORTER, "wide/blank.csv", "no"),
        (wide.IMPORTER, "crowdkit/labels.csv", "no"),
        (datasets_folder.IMPORTER, "datasets/lists", "yes"),
        (datasets_folder.IMPORTER, "datasets/rows", "yes"),
        (datasets_folder.IMPORTER, "datasets/objects.jsonl", "no"),
        (datasets_folder.IMPORTER, "datasets", "no"),
        (datasets_folder.IMPORTER, "there/is/none", "no"),
    ],
)
def test_recognised(importer: Importer, file: str, kind: str) -> None:
    assert importer.recognise(DATA / file).kind == kind


def test_comparisons_the_other_way_round(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("worker,left,right,label\nu,x,y,x\nv,y,x,x\nw,y,x,right\nw,y,z,both\n")
    made = read(crowdkit.IMPORTER, file)
    assert rows(made.ratings) == [
        ("x | y", "u", "label", "a", "a"),
        ("x | y", "v", "label", "a", "b"),
        ("x | y", "w", "label", "a", "b"),
        ("y | z", "w", "label", "tie", "a"),
    ]
    file.write_text("worker,left,right,label\nu,x,y | z,x\nu,x | y,z,z\n")
    assert [row[0] for row in rows(read(crowdkit.IMPORTER, file).items)] == ["x | y | z", "x | y | z #2"]
    for row, said in (("u,x,x,x", "and so is the left one"), ("u,x,y,z", "neither x nor y nor a tie")):
        file.write_text(f"worker,left,right,label\nu,x,y,x\n{row}\n")
        with pytest.raises(InputError, match=said) as caught:
            read(crowdkit.IMPORTER, file)
        assert caught.value.fields["line"] == 3


def test_columns_of_crowdkit_that_are_called_otherwise(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("image,by,answer,time\n1,u,4,7\n")
    with pytest.raises(InputError, match="columns are missing: task, worker, label"):
        read(crowdkit.IMPORTER, file)
    made = read(crowdkit.IMPORTER, file, mapping={"task": "image", "worker": "by", "label": "answer"})
    assert rows(made.ratings) == [("1", "u", "label", "4", "7")]
    with pytest.raises(InputError, match="Import them one after the other"):
        read(crowdkit.IMPORTER, DATA / "crowdkit/labels.csv", DATA / "crowdkit/comparisons.csv")


@pytest.mark.parametrize(
    ("header", "first", "rows_are", "named"),
    [
        (["Units", "ann", "bob"], ["1", "2"], "items", True),
        (["coder", "x", "y"], ["ann", "bob"], "raters", True),
        (["x", "y", "z"], ["Observer A:", "Observer B:"], "raters", True),
        (["x", "Rater 1", "Rater 2"], ["p", "q"], "items", True),
        (["item", "item 1", "item 2"], ["p", "q"], None, True),
        (["R1", "R2"], ["1", "2"], None, False),
        (["rater", "Rater1", "Rater2"], ["1", "2"], None, True),
        (["评分者", "条目1", "条目2"], ["甲", "乙"], "raters", True),
    ],
)
def test_which_way_a_table_stands(header: list[str], first: list[str], rows_are: str | None, named: bool) -> None:
    assert wide.shape_of(header, first) == wide.Shape(rows_are, named)


def test_wide_settings(tmp_path: Path) -> None:
    for name in ("clarity", "tone"):
        (tmp_path / f"{name}.csv").write_text("subject,Rater1,Rater2\na,1,99\nb,n/a,2\n")
    made = read(wide.IMPORTER, *sorted(tmp_path.glob("*.csv")), settings={"missing": "99, N/A"})
    assert rows(made.ratings) == [
        *(("a", "Rater1", "clarity", "1"), ("b", "Rater2", "clarity", "2")),
        *(("a", "Rater1", "tone", "1"), ("b", "Rater2", "tone", "2")),
    ]
    with pytest.raises(InputError, match="whether the first column"):
        read(wide.IMPORTER, DATA / "wide/unclear.csv", settings={"rows": "items"})
    made = read(wide.IMPORTER, DATA / "wide/blank.csv", settings={"rows": "items"})
    assert rows(made.ratings)[:2] == [("a", "ann", "rating", "1"), ("a", "bob", "rating", "2")]


def parquet(path: Path, **columns: Any) -> Path:
    pl.DataFrame(columns).write_parquet(path)
    return path


def test_shapes_of_data_sets(tmp_path: Path) -> None:
    file = parquet(tmp_path / "a.parquet", text=["p", "q"], ratings=[[1, 2], [3, None]])
    made = read(datasets_folder.IMPORTER, file)
    assert rows(made.ratings) == [("1", "1", "ratings", "1"), ("1", "2", "ratings", "2"), ("2", "1", "ratings", "3")]
    assert made.read == {"anonymous_raters": True}
    assert [note.key for note in made.notes] == ["datasets.shape_lists", "datasets.slots", "datasets.numbered"]

    older = [{"who": ["u", "v"], "mark": [1, 2]}, {"who": ["u"], "mark": [3]}]
    file = parquet(tmp_path / "b.parquet", id=["p", "q"], judged=older)
    made = read(datasets_folder.IMPORTER, file, mapping={"rater_id": "judged.who", "rating": "judged.mark"})
    assert rows(made.ratings) == [("p", "u", "mark", "1"), ("p", "v", "mark", "2"), ("q", "u", "mark", "3")]

    file = parquet(tmp_path / "c.parquet", item=["p", "p"], rater=["u", "v"], kind=[1, 2], tone=[3, None])
    with pytest.raises(InputError, match="does not say by its columns"):
        read(datasets_folder.IMPORTER, file)
    made = read(datasets_folder.IMPORTER, file, mapping={"rating": "kind,tone"})
    assert rows(made.ratings) == [("p", "u", "kind", "1"), ("p", "u", "tone", "3"), ("p", "v", "kind", "2")]
    with pytest.raises(InputError, match="there is no column 'marks', which --map names for rating"):
        read(datasets_folder.IMPORTER, file, mapping={"rating": "kind,marks"})


def test_splits_and_names_of_files(tmp_path: Path) -> None:
    for split, mark in (("train", 1), ("test", 2)):
        parquet(tmp_path / f"{split}-00000-of-00001.parquet", id=["p"], worker=["u"], label=[mark])
    assert [row[3] for row in rows(read(datasets_folder.IMPORTER, tmp_path).ratings)] == ["2", "1"]
    made = read(datasets_folder.IMPORTER, tmp_path, settings={"split": "train"})
    assert [row[3] for row in rows(made.ratings)] == ["1"]
    with pytest.raises(InputError, match=r"there is no split 'dev'\. Splits: test, train"):
        read(datasets_folder.IMPORTER, tmp_path, settings={"split": "dev"})
    saved = tmp_path / "saved"
    saved.mkdir()
    for state, said in (
        ('{"_data_files": [{"filename": "../test-00000-of-00001.parquet"}]}', "is no name of a file beside this one"),
        ('{"_data_files": [{"filename": "a.arrow"}], "_indices_data_files": [{"filename": "i"}]}', "flatten_indices"),
        ('{"_data_files": [{"filename": "a.arrow"}]}', "cannot be read"),
        ("junk", "cannot be read"),
    ):
        (saved / "state.json").write_text(state)
        with pytest.raises(InputError, match=said):
            read(datasets_folder.IMPORTER, saved)


def test_labels_of_a_class_label(tmp_path: Path) -> None:
    features = '{"info": {"features": {"label": {"names": ["否", "是"], "_type": "ClassLabel"}}}}'
    frame = pl.DataFrame({"id": ["p", "p", "q"], "worker": [1, 2, 1], "label": [0, 1, -1]})
    frame.write_parquet(tmp_path / "a.parquet", metadata={"huggingface": features})
    made = read(datasets_folder.IMPORTER, tmp_path / "a.parquet")
    assert rows(made.ratings) == [("p", "1", "label", "否"), ("p", "2", "label", "是")]
    assert made.questions is not None
    assert made.questions.drop("min", "max", strict=False).row(0) == ("label", "nominal", "否;是")
    frame.with_columns(label=pl.Series([0, 7, 1])).write_parquet(
        tmp_path / "a.parquet", metadata={"huggingface": features}
    )
    with pytest.raises(InputError, match="line 2: the field 'label' is 7, which is the number of none of its labels"):
        read(datasets_folder.IMPORTER, tmp_path / "a.parquet")
