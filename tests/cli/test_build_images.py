from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from tests.construction.image_world import corpus
from tests.construction.mock_images import KEY, serving

from voirdire.cli.build_images import ImageBoard
from voirdire.cli.main import run
from voirdire.judging.progress import JudgeProgress
from voirdire.judging.progress import Progress as RunProgress


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    for name in ("GOOGLE_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return corpus(tmp_path / "c", 2, {"c0-us": "BLOCK"})


def test_it_says_what_was_made(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving() as (url, _):
        assert run(["build", "images", str(folder), "--base-url", url, "--price", "0.1"]) == 0
    said = capsys.readouterr().out
    assert "0 of 4 images are decided, 4 are asked for" in said
    assert "3 kept, 1 refused" in said
    assert "c0-us: refused by a filter or the model: PROHIBITED_CONTENT" in said
    assert "$0.3000+" in said
    assert "contact-sheet-generated.html" in said
    assert "Not checked by the program: letters" in said


def test_for_machines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving() as (url, _):
        assert run(["build", "images", str(folder), "--base-url", url, "--price", "0.1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["images"] == {"ok": 3, "malformed": 0, "refused": 1, "error": 0, "pending": 0}
    assert (document["complete"], document["calls"], document["calls_without_cost"]) == (True, 4, 1)
    assert document["problems"][0]["kind"] == "refused"
    assert Path(document["sheet"]).is_file()


def test_a_budget_that_is_used_up(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving() as (url, state):
        command = ["build", "images", str(folder), "--base-url", url, "--price", "0.1", "--budget", "0.2"]
        assert run([*command, "--json"]) == 4
        document = json.loads(capsys.readouterr().out)
        assert document["error"]["key"] == "build_images.stopped_budget"
        assert document["images"]["pending"] == 2
        assert run([*command, "--lang", "zh"]) == 4
        assert "超出预算" in capsys.readouterr().err
        assert state.calls.total() == 2


def test_in_chinese(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving() as (url, _):
        assert run(["build", "images", str(folder), "--base-url", url, "--lang", "zh"]) == 0
    said = capsys.readouterr().out
    assert "保留 3 张" in said
    assert "被过滤器或模型拒绝" in said


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--budget", "2"], "price of an image"),
        (["--budget", "-1", "--price", "1"], "budget is -1"),
        (["--regime", "a/b"], "name of a folder"),
        (["--concurrency", "0"], "--concurrency 0"),
        (["--provider", "magic"], "magic"),
        (["--provider", "openai"], "Which model"),
        (["--provider", "openai", "--model", "m"], "OPENAI_API_KEY"),
        (["--from", "nowhere"], "no such folder"),
    ],
)
def test_what_cannot_be(folder: Path, capsys: pytest.CaptureFixture[str], more: list[str], said: str) -> None:
    assert run(["build", "images", str(folder), *more]) == 3
    shown = capsys.readouterr().err
    assert said in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize(
    ("lang", "said"), [("en", "images 1/4, failed calls 2, $0.1000 of $2.00"), ("zh", "1/4 张图像")]
)
def test_how_far_it_is(lang: str, said: str) -> None:
    maker = JudgeProgress("gemini/m", "lane", 3, {"ok": 1}, calls=3, failures={"server": 2}, cost=0.1)
    now = RunProgress(4, 1, 1, 0.5, 2.0, 6.0, 0.1, 2.0, (maker,))
    board = ImageBoard(lambda: now, lang, on=False)
    assert board.line(now).startswith(said)
    console = Console(file=io.StringIO(), width=100)
    console.print(board)
    assert said in console.file.getvalue()


def test_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["build", "images", str(tmp_path / "nothing")]) == 3
    assert "build.toml" in capsys.readouterr().err


def test_words_of_a_model_cannot_steer_the_terminal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving() as (url, state):
        state.served = "m\x1b[31m"
        assert run(["build", "images", str(folder), "--base-url", url]) == 0
        state.served = "other"
        assert run(["build", "images", str(folder), "--base-url", url, "--again", "c1-us"]) == 0
    assert "\x1b" not in capsys.readouterr().out
