"""How a run is shown: while it goes on, afterwards, and from another process."""

from __future__ import annotations

import io
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.cli.small_corpus import build

from voirdire.cli import judging_progress as jp
from voirdire.cli.main import run
from voirdire.judging.progress import JudgeProgress, Progress


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("status") / "corpus")


@pytest.fixture(autouse=True)
def _place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def judge(name: str = "a/b", **changes: Any) -> JudgeProgress:
    given = {"status": {"ok": 70, "refused": 5}, "calls": 90, "retries": 12, "cost": 1.5, **changes}
    return JudgeProgress(name, "lane", 25, failures={"rate_limit": 8, "malformed": 4, "server": 1}, **given)


NOW = Progress(1200, 900, 16, 12.5, 100.0, 3725.0, 1.5, 20.0, (judge(),))


def drawn(now: Progress, lang: str, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    console.print(jp.board(now, lang))
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_a_line_of_the_log() -> None:
    line = jp.line(NOW, "en")
    assert line == (
        "900/1,200 cells (75 %), 16 in flight, retries 12, failures 13, 12.5 cells/s, $1.50 of $20.00, 1 h 2 min left"
    )
    assert "还需 1 小时 2 分钟" in jp.line(NOW, "zh")
    done = jp.line(replace(NOW, done=1200, left=0.0, budget=None, stopping=True), "en")
    assert "left" not in done
    assert done.endswith("$1.50, stopping: waiting for the calls in flight")


def test_a_cost_that_is_not_known_is_not_shown_as_0() -> None:
    unknown = replace(NOW, cost=0.0, budget=None, judges=(judge(cost=0.0, unpriced=7),))
    assert "$" not in jp.line(unknown, "en")
    assert "cost not known" in jp.line(unknown, "en")
    assert "$1.50+" in jp.line(replace(unknown, cost=1.5), "en")
    assert "$0.00" in jp.line(replace(unknown, judges=(judge(cost=0.0),)), "en")


def test_the_board() -> None:
    for lang, words in (
        ("en", ("cells/s", "a/b", "75/100", "13 (429: 8, malformed: 4)", "running")),
        ("zh", ("进行中",)),
    ):
        shown = drawn(NOW, lang)
        for word in words:
            assert word in shown
    many = replace(NOW, judges=tuple(judge(f"a/{number}") for number in range(40)))
    assert "and 28 more judges" in drawn(many, "en")
    assert len(drawn(many, "en").splitlines()) < 20
    assert max(map(len, drawn(NOW, "en", 60).splitlines())) <= 60


def test_what_a_judge_is_called_cannot_steer_the_terminal() -> None:
    nasty = replace(NOW, judges=(judge("a/\x1b[2J[red]x"),))
    assert "a/\\x1b[2J[red]x" in drawn(nasty, "en")
    assert "a/\\x1b[2J[red]x" in jp.summary(nasty.judges, "en")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 s"), (89, "89 s"), (100, "2 min"), (3540, "59 min"), (3600, "1 h 0 min"), (200_000, "2 d 7 h")],
)
def test_durations(seconds: float, words: str) -> None:
    assert jp.duration(seconds, "en") == words


def test_a_log_when_not_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(jp, "FIRST", 0.05)
    monkeypatch.setattr(jp, "EVERY", 0.05)
    with jp.Board(lambda: NOW, "en", on=False) as board:
        board.start()
        time.sleep(0.5)
    captured = capsys.readouterr()
    lines = captured.err.splitlines()
    assert len(lines) >= 2
    assert all("900/1,200 cells (75 %)" in line for line in lines)
    assert captured.out == ""


def test_a_board_on_a_terminal_appears_and_goes(capsys: pytest.CaptureFixture[str]) -> None:
    with jp.Board(lambda: NOW, "en", on=True, patience=0.01) as board:
        board.start()
        time.sleep(0.5)
    captured = capsys.readouterr()
    assert "900/1,200 cells" in captured.err
    assert captured.out == ""
    with jp.Board(lambda: NOW, "en", on=True, patience=60) as quick:
        quick.start()
    assert capsys.readouterr() == ("", "")


def test_an_error_before_the_run_leaves_no_thread(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyError), jp.Board(lambda: NOW, "en", on=True, patience=0):
        raise KeyError
    assert capsys.readouterr() == ("", "")


def test_the_status_of_a_finished_run(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run", str(corpus), "--judge", "control/random", "--judge", "control/constant_9", "--out", "run"]) == 0
    capsys.readouterr()
    assert run(["run", "--status", "--out", "run"]) == 0
    printed = capsys.readouterr().out
    assert "Finished" in printed
    assert "48/48 cells (100 %)" in printed
    assert "no answer for this cell" in printed
    assert "refused request" not in printed
    assert "The scale has no level 9" in printed
    assert run(["run", "--status", "run", "--lang", "zh"]) == 0
    assert "已全部完成" in capsys.readouterr().out
    assert run(["run", "--status", "run", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["total"], found["pending"], found["writer"]) == (48, 0, None)
    assert {cell["status"] for cell in found["cells"]} == {"ok", "error"}


def test_the_status_of_a_run_that_stopped(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("rule.py").write_text("def judge(item):\n    raise OSError('no disk.')\n")
    assert run(["run", str(corpus), "--judge", "python/rule.py:judge", "--out", "run"]) == 4
    told = capsys.readouterr().err
    assert "python/rule.py:judge: failing: OSError: no disk. Set right" in told
    assert "provider" not in told
    assert run(["run", "--status", "run"]) == 0
    printed = capsys.readouterr().out
    assert "Nobody is running it" in printed
    assert "0/24 cells (0 %)" in printed
    assert "error in the judge" in printed
    assert "refused request" not in printed


def test_status_of_the_default_folder(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run", str(corpus), "--judge", "control/random"]) == 0
    assert run(["run", "--status"]) == 0
    assert "voirdire-run" in capsys.readouterr().out


def test_status_changes_nothing(corpus: Path) -> None:
    assert run(["run", str(corpus), "--judge", "control/random", "--out", "run"]) == 0
    before = {path.name: path.read_bytes() for path in Path("run").iterdir()}
    assert run(["run", "--status", "run"]) == 0
    after = {path.name: path.read_bytes() for path in Path("run").iterdir() if not path.name.endswith(("-wal", "-shm"))}
    assert after == before


def test_conditions_are_named_as_the_audit_names_them(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run", str(corpus), "--judge", "control/random", "--limit", "1", "--grid", "paper-icl"]) == 0
    capsys.readouterr()
    assert run(["run", "--status", "--json"]) == 0
    named = {cell["condition"] for cell in json.loads(capsys.readouterr().out)["cells"]}
    assert "neutral_en/aa" in named
    assert all(name.count("/") == 1 for name in named)


def test_failures_in_words() -> None:
    assert [jp.failure_words("request", provider, "en") for provider in ("python", "replay", "openai")] == [
        "error in the judge", "no answer for this cell", "refused request",
    ]  # fmt: skip
    assert jp.failure_words("rate_limit", "openai", "zh") == "速率限制"
