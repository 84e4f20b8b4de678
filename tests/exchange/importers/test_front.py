"""What ``voirdire import`` says of files and options that do not fit, and the options of the scale."""

from __future__ import annotations

import shutil
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from voirdire import plugins
from voirdire.cli.main import run
from voirdire.errors import UsageError
from voirdire.exchange.importers.contract import Importer, Recognition
from voirdire.exchange.importers.recognise import recognise

DATA = Path(__file__).parent / "data"


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run(["import", *words, "--out", "out"]) == 3
    assert not Path("out").exists()
    return capsys.readouterr().err


def labels(*answers: str) -> str:
    """A table of Crowd-Kit: every answer of another item, by two raters in turn."""
    rows = [f"w{n},{'uv'[n % 2]},{answer}" for n, answer in enumerate(answers)]
    Path("labels.csv").write_text("\n".join(["task,worker,label", *rows, ""]), encoding="utf-8")
    return "labels.csv"


def test_files_with_nothing_in_them(capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty.csv").write_text("\n")
    Path("none.json").write_text("[]\n")
    Path("folder").mkdir()
    assert refused(capsys, "gone.csv") == "Error: There is no file gone.csv. Check the path.\n"
    assert refused(capsys, "empty.csv") == "Error: empty.csv is empty. Export it again.\n"
    assert "none.json holds no record, only []." in refused(capsys, "none.json")
    assert "folder is an empty folder." in refused(capsys, "folder")
    Path("folder/notes.txt").write_text("x")
    assert "folder: this folder is of no format that is recognised." in refused(capsys, "folder")


def test_files_in_another_encoding(capsys: pytest.CaptureFixture[str]) -> None:
    Path("gbk.csv").write_bytes("task,worker,label\n一,u,好吃\n".encode("gb18030"))
    Path("wide16.txt").write_bytes("task\tworker\tlabel\n".encode("utf-16"))
    for words in (["gbk.csv"], ["crowdkit", "gbk.csv"], ["wide16.txt"], ["crowdkit", "wide16.txt"]):
        said = refused(capsys, *words)
        assert "UTF-8 (in Excel: CSV UTF-8), and import that." in said
        assert "--encoding" not in said


def test_names_that_are_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, "labelstdio", "a.json") == (
        "Error: There is no format 'labelstdio'. Did you mean labelstudio?\n"
    )
    assert "There is no format 'zzz'. Known: " in refused(capsys, "zzz", "a.json")
    assert refused(capsys, "a.json", "--wxyz").startswith("Error: There is no option --wxyz. See ")


@pytest.mark.parametrize("table", ["item,Ann,Bob,Carla\na,1,2,3\nb,2,2,1\n", "\tu1\tx\tz\ncoder A\t1\t2\t3\n"])
def test_a_table_that_looks_wide(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("table.tsv" if "\t" in table else "table.csv").write_text(table)
    file = next(Path().iterdir()).name
    assert "name the format: voirdire import wide FILE --out DIR" in refused(capsys, file)
    assert run(["import", "wide", file, "--out", "out"]) == 0


def test_a_table_with_a_rating_a_row_does_not_look_wide(capsys: pytest.CaptureFixture[str]) -> None:
    Path("long.csv").write_text("item_id,rater_id,rating\na,u,1\n")
    assert "A table with one rating a row needs no import" in (said := refused(capsys, "long.csv"))
    assert "wide table" not in said


def test_the_scale_by_options(capsys: pytest.CaptureFixture[str]) -> None:
    file = labels("cat", "dog", "cat", "unsure", "dog")
    assert (
        run(["import", file, "--positive", "dog", "--missing-label", "unsure", "--one-pool", "p", "--out", "out"]) == 0
    )
    assert Path("out/questions.csv").read_text() == "question,positive\nlabel,dog\n"
    assert 'missing_labels = ["unsure"]' in Path("out/corpus.toml").read_text()
    assert run(["validate", "out", "--draws", "10"]) == 0
    shutil.rmtree("out")
    file = labels("low", "mid", "high", "low")
    assert run(["import", file, "--level", "ordinal", "--labels", "low,mid,high", "--out", "out"]) == 0
    assert Path("out/questions.csv").read_text() == "question,level,labels\nlabel,ordinal,low;mid;high\n"
    shutil.rmtree("out")
    assert run(["import", labels("1", "2", "3"), "--scale", "1:5", "--out", "out"]) == 0
    assert Path("out/questions.csv").read_text() == "question,min,max\nlabel,1,5\n"
    shutil.rmtree("out")
    capsys.readouterr()
    assert "no answer is 'bird'. The answers are: 1, 2" in refused(capsys, labels("1", "2"), "--positive", "bird")
    assert "--level cannot be 'big'" in refused(capsys, "labels.csv", "--level", "big")
    assert "joined by ':'" in refused(capsys, "labels.csv", "--scale", "5")
    log = str(DATA / "inspect" / "graded.eval")
    assert "say them at the audit" in refused(capsys, log, "--level", "ordinal")


def test_an_answer_that_cannot_be_read_is_named_by_item_and_rater(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, labels("1", "2", "n/v", "3"))
    assert said.startswith(
        "Error: the ratings of this import, row 4, column 'rating': 'n/v' is a word among the numbers"
    )
    assert "It is the answer of rater 'u' to item 'w2', question 'label'." in said
    said = refused(capsys, labels("1", "9"), "--scale", "1:5")
    assert "say --scale LOW:HIGH or --labels." in said
    assert "--out-of-scale" not in said
    assert refused(capsys, "labels.csv", "--scale", "1:5", "--lang", "zh").startswith("错误：本次导入的评分 第 3 行")


def test_raters_and_pools_that_match_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    file = labels("1", "2", "3")
    Path("people.csv").write_text("rater_id,country,city\nx1,US,\nx2,CN,\n")
    said = refused(capsys, file, "--raters", "people.csv", "--pool-column", "country")
    assert said.startswith(
        "Error: people.csv: none of 2 raters is in it. Ids of the export: u, v. Ids of the table: x1, x2."
    )
    assert "none of 2 raters is in it" in refused(capsys, file, "--raters", "people.csv")
    Path("people.csv").write_text("rater_id,country,city\nu,US,\nx2,CN,b\n")
    said = refused(capsys, file, "--raters", "people.csv", "--pool-column", "city")
    assert said.startswith("Error: --pool-column city: none of 2 raters has a value there (u, v).")
    assert run(["import", file, "--raters", "people.csv", "--pool-column", "country", "--out", "out"]) == 0
    assert "1 raters are not in it" in capsys.readouterr().out


def test_a_folder_of_logs(capsys: pytest.CaptureFixture[str]) -> None:
    Path("logs/deep").mkdir(parents=True)
    shutil.copy(DATA / "inspect" / "judge.eval", "logs")
    shutil.copy(DATA / "inspect" / "judge_us.eval", "logs/deep")
    Path("logs/listing.json").write_text('{"a": 1}')
    settings = ["--set", "scores=strict"]
    assert run(["import", "logs", *settings, "--out", "found"]) == 0
    assert "logs: 2 files of this format in the folder are read; 1 others are not." in capsys.readouterr().out
    assert run(["import", "inspect", "logs/", *settings, "--out", "named"]) == 0
    logs = ["logs/judge.eval", "logs/deep/judge_us.eval"]
    assert run(["import", *sorted(logs), *settings, "--out", "files"]) == 0
    judged = Path("files/judgments.csv").read_bytes()
    assert Path("found/judgments.csv").read_bytes() == Path("named/judgments.csv").read_bytes() == judged


def test_an_importer_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    file = Path(labels("1", "2"))
    known = plugins.available(plugins.IMPORTERS)

    def fails(path: Path) -> Recognition:
        raise ValueError(path)

    theirs = {"bad": EntryPoint("bad", "voirdire.no_such:X", plugins.IMPORTERS)}
    odd = Importer("odd", "odd", fails, read=lambda *_: pytest.fail("read"))
    monkeypatch.setattr(plugins, "available", lambda group: {**known, **theirs, "odd": known["wide"]})
    load = plugins.load
    monkeypatch.setattr(plugins, "load", lambda group, name: odd if name == "odd" else load(group, name))
    found = recognise([file])
    assert found.importer.name == "crowdkit"
    assert [(note.fields["name"], note.kind) for note in found.notes] == [("bad", "warning"), ("odd", "warning")]
    broken = {"wide": EntryPoint("wide", "voirdire.no_such:X", plugins.IMPORTERS)}
    monkeypatch.setattr(plugins, "available", lambda group: {**known, **broken})
    with pytest.raises(UsageError, match=r"'wide'.*cannot be loaded"):
        recognise([file])
