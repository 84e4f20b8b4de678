"""``voirdire import`` as a whole: formats found and named, options, pools, personal data, what is written and read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from voirdire.app.importing import take_in
from voirdire.cli.main import run
from voirdire.errors import InputError, UsageError
from voirdire.exchange.importers import recognise
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Tables
from voirdire.exchange.importers.tables import RATINGS, finish, frame

LABELS = "task,worker,label\na,u,1\na,v,3\nb,u,2\nb,v,5\n"


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("labels.csv").write_text(LABELS)


def imported(*arguments: str, file: str = "labels.csv") -> int:
    return run(["import", file, "--out", "out", *arguments])


def rows(name: str = "ratings") -> list[str]:
    return Path(f"out/{name}.csv").read_text(encoding="utf-8").splitlines()[1:]


def test_pools_by_rule_column_and_name(capsys: pytest.CaptureFixture[str]) -> None:
    Path("people.csv").write_text("id,Worker ID,Country,e-mail\n9,u,US,u@x.org\n8,v,CN,v@x.org\n7,w,CN,w@x.org\n")
    joined = ["--raters", "people.csv", "--rater-key", "Worker ID"]
    assert imported(*joined, "--pool", "us: Country == 'US'", "--pool", "cn: Country == 'CN'") == 0
    said = capsys.readouterr().out
    assert "what is known of 2 raters was joined; 0 raters are not in it, and 1 of its rows are of nobody" in said
    assert "people.csv: columns with personal data were left out: e-mail." in said
    assert rows() == ["a,u,us,label,1", "a,v,cn,label,3", "b,u,us,label,2", "b,v,cn,label,5"]
    assert rows("raters") == ["u,9,US", "v,8,CN"]
    assert imported("--pool", "us: nothing == 1", "--one-pool", "x") == 3
    assert "exclude each other" in capsys.readouterr().err
    assert run(["import", "labels.csv", "--pool-column", "country", "--out", "other"]) == 3
    assert "--pool-column" in capsys.readouterr().err


@pytest.mark.parametrize("column", ["group", "country"])
def test_an_attribute_that_is_named_like_a_pool(column: str, capsys: pytest.CaptureFixture[str]) -> None:
    people = sorted({line.split(",")[1] for line in LABELS.split()[1:]})
    Path("people.csv").write_text("rater_id,group,country\n" + "".join(f"{who},one,two\n" for who in people))
    assert imported("--raters", "people.csv", "--pool-column", column) == 0
    assert "is called rater_group in the folder" in capsys.readouterr().out
    assert {line.split(",")[2] for line in rows()} == {"one" if column == "group" else "two"}
    assert Path("out/raters.csv").read_text().startswith("rater_id,rater_group,country\n")
    assert run(["validate", "out"]) == 0


def test_a_table_of_raters_that_is_not_clear(capsys: pytest.CaptureFixture[str]) -> None:
    Path("people.csv").write_text("worker,annotator,age\nu,v,3\n")
    assert imported("--raters", "people.csv") == 3
    assert "the column with the rater ids is not clear (found: worker, annotator)" in capsys.readouterr().err
    Path("people.csv").write_text("worker,age\nu,3\nv,4\nu,3\nu,5\n")
    assert imported("--raters", "people.csv") == 3
    assert "people.csv, line 5: the rater 'u' stands twice in the column 'worker'" in capsys.readouterr().err


def test_personal_ids(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mail.csv").write_text("task,worker,label\na,u@x.org,1\na,r1,3\nb,u@x.org,2\nb,v@x.org,5\n")
    assert imported("--one-pool", "p", file="mail.csv") == 0
    assert rows() == ["a,r2,p,label,1", "a,r1,p,label,3", "b,r2,p,label,2", "b,r3,p,label,5"]
    assert "2 rater ids are personal data and became r1, r2" in capsys.readouterr().out
    assert "@" not in "".join(path.read_text() for path in Path("out").iterdir())
    assert run(["import", "mail.csv", "--one-pool", "p", "--set", "keep_ids=yes", "--out", "kept"]) == 0
    assert "u@x.org" in Path("kept/ratings.csv").read_text()
    found = Tables(
        frame([{"item_id": "a", "rater_id": "5f", "question": "q", "rating": 1}], RATINGS), personal_ids=True
    )
    assert finish(found, ImportOptions(), "x").tables["ratings"]["rater_id"].to_list() == ["r1"]


def test_questions_overrule(capsys: pytest.CaptureFixture[str]) -> None:
    Path("words.csv").write_text("task,worker,label\na,u,low\na,v,high\n")
    assert imported(file="words.csv") == 3
    said = capsys.readouterr().err
    assert said.startswith("Error: the ratings of this import: question 'label' has two labels (high, low)")
    assert "such as these two lines: question,level,labels / label,ordinal,low|mid|high)" in said
    assert "--questions FILE" in said
    assert not Path("out").exists()
    Path("q.csv").write_text("question,level,labels\nlabel,ordinal,low;mid;high\n")
    assert imported("--questions", "q.csv", "--one-pool", "p", file="words.csv") == 0
    assert rows("questions") == ["label,ordinal,low;mid;high"]


def test_a_rater_who_answered_twice_stays_twice(capsys: pytest.CaptureFixture[str]) -> None:
    Path("twice.csv").write_text(LABELS + "a,u,4\n")
    assert imported("--one-pool", "p", file="twice.csv") == 0
    assert len(rows()) == 5
    assert "1 ratings are further ones of the same rater" in capsys.readouterr().out
    assert run(["validate", "out", "--duplicates", "last", "--draws", "10"]) == 0


def test_options_that_a_format_does_not_have(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in (
        (["--set", "rows=items"], "--set: the format crowdkit knows no 'rows'. Known: question, keep_ids."),
        (
            ["--map", "item=task"],
            "--map: the format crowdkit knows no 'item'. Known: task, worker, label, left, right.",
        ),
        (["--keep", "draft"], "--keep: the format crowdkit knows no 'draft'. Known: -."),
        (["--set", "keep_ids=perhaps"], "--set keep_ids=perhaps: the value is one of yes, no."),
        (["--rater-key", "id"], "--rater-key names a column of the table of raters"),
        (["--map", "task"], "--map task: write a name, an equals sign and a value"),
    ):
        assert imported(*arguments) == 3
        assert said in capsys.readouterr().err


def test_files_that_are_of_no_format_of_another_and_of_two(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("junk.bin").write_bytes(b"\0\1\2")
    assert imported(file="junk.bin") == 3
    assert "this is of no format that is recognised" in capsys.readouterr().err
    assert imported(file="gone.csv") == 3
    assert run(["import", "wide", "labels.csv", "--out", "out"]) == 3
    assert "labels.csv: this is no file of the format wide; it is one of crowdkit." in capsys.readouterr().err
    assert run(["import", "labelstuido", "labels.csv", "--out", "out"]) == 3
    assert "There is no format 'labelstuido'. Did you mean labelstudio?" in capsys.readouterr().err
    assert run(["import", "wide", "--out", "out"]) == 3
    assert "voirdire import wide wants a file behind the format." in capsys.readouterr().err
    both = [Importer(name, name, lambda path: YES, read=lambda *_: Tables()) for name in ("one", "two")]
    monkeypatch.setattr(recognise, "_all", lambda: (both, []))
    assert imported() == 3
    assert "more than one format says that this is one of its files: one, two." in capsys.readouterr().err


def test_in_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken.csv").write_text(LABELS + "c,,1\nc,u,\n")
    assert run(["--lang", "zh", "import", "broken.csv", "--skip-broken", "--one-pool", "甲", "--out", "out"]) == 0
    assert capsys.readouterr().out == (
        "识别出的格式：Crowd-Kit 标注表（crowdkit）。\n"
        "答案：读到 6 个，取用 4 个，略去 2 个。\n"
        "  略去 1 个：记录已损坏（broken.csv：6）。\n"
        "  略去 1 个：没有作答（broken.csv：7）。\n"
        "  损坏：broken.csv 第 6 行：字段“worker”缺失或为空（现有：task, worker, label）。"
        "请改正该记录，或用 --skip-broken 略过它。\n"
        "已写入 out：ratings 4。\n"
        "接下来：voirdire validate out\n"
    )


def test_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken.csv").write_text(LABELS + "c,,1\nc,u,\n")
    assert imported("--skip-broken", "--one-pool", "p", "--json", file="broken.csv") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == "crowdkit"
    assert document["recognised"] is True
    assert document["tables"] == {"ratings": 4}
    assert document["answers"] == {
        "read": 6,
        "taken": 4,
        "left": [
            {
                "reason": "importing.left.broken",
                "sentence": "the record is broken",
                "count": 1,
                "places": [{"file": "broken.csv", "line": 6}],
            },
            {
                "reason": "importing.left.missing",
                "sentence": "no answer was given",
                "count": 1,
                "places": [{"file": "broken.csv", "line": 7}],
            },
        ],
    }
    assert [entry["fields"]["line"] for entry in document["broken"]] == [6]
    assert run(["import", "broken.csv", "--out", "other", "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["fields"]["field"] == "worker"


def test_text_of_an_export_cannot_steer_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad\x1b[31m.csv").write_text("task,worker,label\n\x1b[31ma,,1\n")
    assert imported(file="bad\x1b[31m.csv") == 3
    assert "\x1b" not in capsys.readouterr().err


def test_nothing_that_can_be_taken(capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty.csv").write_text("task,worker,label\na,u,\n")
    assert imported(file="empty.csv") == 3
    assert (
        "none of 1 answers can be taken, so nothing was written. Left out: 1: no answer was given."
        in capsys.readouterr().err
    )
    Path("head.csv").write_text("task,worker,label\n")
    assert imported(file="head.csv") == 3
    assert "head.csv: there is a header and no answer" in capsys.readouterr().err
    assert not Path("out").exists()


def test_faults_of_an_importer_are_no_errors_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    one = [{"item_id": "a", "rater_id": "u", "question": "q", "rating": 1}]

    def uncounted(_: object, options: ImportOptions, account: Account) -> Tables:
        account.read(2)
        return Tables(frame(one, RATINGS))

    def unnamed(_: object, options: ImportOptions, account: Account) -> Tables:
        return Tables(frame([{**one[0], "rater_id": None}], RATINGS))

    for read, fault in ((uncounted, AssertionError), (unnamed, TypeError)):
        made = Importer("mine", "mine", lambda path: YES, read=read)
        monkeypatch.setattr("voirdire.app.importing.importer", lambda name, made=made: made)
        with pytest.raises(fault):
            take_in("mine", [Path("labels.csv")], Path("out"))
    judged = Importer("mine", "mine", lambda path: YES, read=unnamed, side="judgments")
    monkeypatch.setattr("voirdire.app.importing.importer", lambda name: judged)
    with pytest.raises(UsageError, match="judges have no pools"):
        take_in("mine", [Path("labels.csv")], Path("out"), ImportOptions(pool="p"))
    with pytest.raises(ValueError, match="give read, or for a release take_back"):
        Importer("mine", "mine", lambda path: NO)


def test_a_release_takes_no_options(capsys: pytest.CaptureFixture[str]) -> None:
    Path("release").mkdir()
    assert run(["import", "hf", "release", "--one-pool", "x", "--out", "out"]) == 3
    assert "has no options but --out" in capsys.readouterr().err
    with pytest.raises((InputError, UsageError)):
        take_in(None, [Path("release")], Path("out"))
