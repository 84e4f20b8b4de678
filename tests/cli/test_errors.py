"""Exit codes and what is said when something is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.small_corpus import build

from voirdire.cli import show
from voirdire.cli.main import run
from voirdire.errors import InputError, Lines


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "Name a command"),
        (["chekc"], "no command 'chekc'"),
        (["audit", "--nonsense"], "no option --nonsense"),
        (["audit", "--draws", "many"], "--draws"),
        (["audit", "--out"], "--out"),
        (["audit", "one", "two"], "unexpected"),
        (["audit"], "no ratings to read"),
        (["check"], "PROFILE is missing"),
        (["check", "x"], "--policy is missing"),
        (["audit", "--ratings", "r.csv", "--pair", "us"], "--pair takes two parts"),
        (["audit", "--ratings", "r.csv", "--scale", "one:five"], "--scale takes two parts"),
        (["audit", "--ratings", "r.csv", "--map", "rater_id"], "--map takes two parts"),
        (["audit", "no-such-folder"], "no folder no-such-folder"),
        (["audit", "--ratings", "no-such-file.csv"], "no-such-file.csv"),
        (["signature", "explain", "nonsense"], "not a signature"),
        (["signature", "explain", "mae()|def()|on()|from()|v:9"], "format 9"),
        (["simulate", "--pools", "one"], "pools"),
    ],
)
def test_wrong_usage_is_3(
    args: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(args) == 3
    captured = capsys.readouterr()
    assert words in captured.err
    assert "Traceback" not in captured.err
    assert list(tmp_path.iterdir()) == []


def test_advice_names_no_option_that_the_command_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["build", "new", "mine", "--author", "ana", "--author", "bo", "--author", "chen"]) == 0
    table = tmp_path / "mine" / "concepts.csv"
    table.write_bytes(table.read_text("utf-8").replace("meal", "m\u00e9al").encode("cp1252", "replace"))
    assert run(["build", "check", "mine"]) == 3
    assert "`voirdire build check` has no --encoding: change the file instead." in capsys.readouterr().err
    assert run(["build", "check", "mine", "--json", "--lang", "zh"]) == 3
    assert "没有 --encoding" in json.loads(capsys.readouterr().out)["error"]["message"]
    assert run(["audit", "--ratings", "mine/concepts.csv"]) == 3
    assert "--encoding cp1252 (" in (said := capsys.readouterr().err)
    assert "has no" not in said


@pytest.mark.parametrize("args", [["audit", "--nonsense"], ["audit"], ["audit", "--draws", "many"], ["chekc"]])
def test_wrong_usage_in_chinese(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*args, "--lang", "zh"]) == 3
    assert "错误：" in capsys.readouterr().err


def test_errors_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "--json"]) == 3
    captured = capsys.readouterr()
    error = json.loads(captured.out)["error"]
    assert error["key"] == "app.no_ratings"
    assert error["exit_code"] == 3
    assert error["message"] in captured.err


def fails_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr("voirdire.app.signature.explain", fail)


def test_interruption_is_4(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    fails_with(KeyboardInterrupt(), monkeypatch)
    assert run(["signature", "explain", "x"]) == 4
    captured = capsys.readouterr()
    assert "Interrupted" in captured.err
    assert "Traceback" not in captured.err


def test_a_fault_says_how_to_report_it(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    fails_with(RuntimeError("broken inside"), monkeypatch)
    assert run(["signature", "explain", "x"]) == 70
    captured = capsys.readouterr()
    assert "Traceback" in captured.err
    assert "broken inside" in captured.err
    assert "Please report it" in captured.err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.strip().count(".") == 2


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = [sys.executable, "-m", "voirdire", "audit", "--help"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read().decode()
        code = process.wait()
    assert code not in (1, 2)
    assert "Traceback" not in said


def test_control_characters_are_shown() -> None:
    assert show.clean("a\x1b]0;title\x07b\n") == "a\\x1b]0;title\\x07b\\n"
    assert show.clean("中文 ok") == "中文 ok"


def test_a_sentence_of_several_lines_is_shown_in_lines(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """And what a table holds cannot add a line, nor steer the terminal."""
    nasty = "aa\nvoirdire: all is well\x1b[2J"
    error = InputError(
        "material.draw_impossible", design=nasty, pool="us", culture="*", question="q", low=1, high=5, missing="5",
        table=Lines("  pool  1\n    us  0"),
    )  # fmt: skip
    shown = show.sentence(error, "en").splitlines()
    assert shown[0].startswith("The design 'aa\\nvoirdire: all is well\\x1b[2J' needs one example")
    assert shown[2:4] == ["  pool  1", "    us  0"]
    assert len(shown) == 5


def test_a_draw_that_cannot_be_made_is_told_in_lines(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    corpus = build(tmp_path / "corpus")
    kept = [line for line in (corpus / "ratings.csv").read_text().splitlines() if not line.endswith(",5")]
    (corpus / "ratings.csv").write_text("\n".join(kept) + "\n")
    assert (
        run(["run", str(corpus), "--judge", "control/random", "--grid", "paper-icl", "--out", f"{tmp_path}/run"]) == 3
    )
    told = capsys.readouterr().err
    assert "\\n" not in told
    assert "pool  culture  1  2  3  4  5" in [line.strip() for line in told.splitlines()]
