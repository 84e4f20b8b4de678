from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from tests.exchange import told_corpus

from voirdire import plugins
from voirdire.cli.main import run
from voirdire.exchange import tabular
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Tables
from voirdire.exchange.importers.records import delimited_records
from voirdire.exchange.importers.tables import RATINGS, frame
from voirdire.exchange.release import Release
from voirdire.plugins import EXPORTERS, IMPORTERS, available


def test_export_and_import(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, back = tmp_path / "out", tmp_path / "back"
    judged = str(told_corpus.judgments(corpus))
    assert run(["export", "hf", str(corpus), "--judgments", judged, "--rater-columns", "age", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "Tables: 5, images: 22" in said
    assert "Left out: raters.city, ratings.seconds, ratings.comment." in said
    assert "smallest group that looks alike 5 (wanted: 5), by pool and age" in said
    names = said.partition("that corpus.toml does not tell")[2].partition("not told: ")[2]
    assert re.search(r"(^|, )cn: \w+(, |\.)", names)
    assert run(["import", "hf", str(out), "--out", str(back)]) == 0
    assert f"voirdire validate {back}" in capsys.readouterr().out


def test_as_json(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    arguments = ["export", "csv", str(corpus), "--rater-columns", "none", "--out", str(out), "--json"]
    assert run(arguments) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["anonymity"] == {"k": 5, "smallest": 5, "columns": []}
    assert document["tables"] == {"items": 22, "questions": 1, "raters": 10, "ratings": 220}
    assert "us: ages" in document["not_told"]
    assert "ratings.csv" in document["files"]
    assert run(["import", "csv", str(out), "--out", str(tmp_path / "back"), "--json"]) == 0
    assert "items.csv" in json.loads(capsys.readouterr().out)["files"]


def test_refusals_leave_nothing(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert run(["export", "csv", str(corpus), "--rater-columns", "age,city", "--out", str(out)]) == 3
    assert "--rater-columns age" in capsys.readouterr().err
    assert not out.exists()
    assert run(["export", "xls", str(corpus), "--out", str(out)]) == 3
    assert "no plugin 'xls'. Installed: croissant, csv, " in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus"]


def test_a_folder_with_files_is_not_written_into(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["export", "csv", str(corpus), "--rater-columns", "none", "--out"]
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "file").write_text("")
    assert run([*arguments, str(tmp_path / "full")]) == 3
    assert "holds files already (mine.txt)" in capsys.readouterr().err
    assert run([*arguments, str(tmp_path / "file")]) == 3
    assert "is a file" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert run([*arguments, str(tmp_path / "empty")]) == 0


def test_a_fault_while_writing_leaves_nothing(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", str(tmp_path / "x"))

    monkeypatch.setattr(tabular, "write_images", full)
    assert run(["export", "csv", str(corpus), "--rater-columns", "none", "--out", str(tmp_path / "out")]) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus"]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("command", ["export", "import"])
def test_help(command: str, lang: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--lang", lang, command, "--help"]) == 0
    assert f"voirdire {command} " in capsys.readouterr().out


def test_four_forms_both_ways() -> None:
    assert {"csv", "parquet", "hf", "croissant"} <= set(available(EXPORTERS)) & set(available(IMPORTERS))


def test_in_chinese(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out")
    assert run(["--lang", "zh", "export", "csv", str(corpus), "--rater-columns", "age", "--out", out]) == 0
    assert "已写入" in capsys.readouterr().out
    assert (tmp_path / "out" / "README.md").read_text(encoding="utf-8").startswith("# 两种文化的餐食")


def write_mine(release: Release, folder: Path, lang: str) -> None:
    """An exporter as an installed package would bring it."""
    (folder / "mine.txt").write_text(f"{lang} {release.tables['ratings'].height}")


def read_mine(files: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """An importer as an installed package would bring it."""
    _, rows = delimited_records(files[0], account)
    found = [row.value for row in rows]
    account.read(len(found))
    account.took(len(found))
    return Tables(ratings=frame(found, RATINGS))


MINE = Importer("mine", "my own format", lambda path: YES if path.name == "ratings.csv" else NO, read=read_mine)


def test_a_package_adds_a_form(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    added = {
        EXPORTERS: EntryPoint("mine", "tests.exchange.test_cli:write_mine", EXPORTERS),
        IMPORTERS: EntryPoint("mine", "tests.exchange.test_cli:MINE", IMPORTERS),
    }
    monkeypatch.setattr(plugins, "entry_points", lambda group: [added[group]])
    arguments = ["export", "mine", str(corpus), "--rater-columns", "none", "--out", str(tmp_path / "out")]
    assert run(arguments) == 0
    assert (tmp_path / "out" / "mine.txt").read_text() == "en 220"
    ratings = str(corpus / "ratings.csv")
    assert run(["import", "mine", ratings, "--out", str(tmp_path / "back")]) == 0
    said = capsys.readouterr().out
    assert "Format: my own format (mine).\nAnswers: 220 read, 220 taken, 0 left out.\n" in said
    assert f"Written to {tmp_path / 'back'}: ratings 220." in said


@pytest.mark.parametrize("form", ["csv", "parquet", "hf", "croissant"])
def test_a_folder_that_is_no_release_is_called_so(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "notes.csv").write_text("a\n1\n")
    arguments = ["import", form, str(tmp_path / "tables"), "--out", str(tmp_path / "out")]
    assert run(arguments) == 3
    said = capsys.readouterr().err
    assert "is no release: it has no corpus.toml" in said
    assert "There: notes.csv." in said
    assert f"voirdire export {form}" in said
    assert not (tmp_path / "out").exists()
    assert run([*arguments, "--lang", "zh"]) == 3
    assert "不是发布包" in capsys.readouterr().err
