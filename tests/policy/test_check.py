from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.policy.fakes import policy, profile

import voirdire
from voirdire.cli.main import run

PASSING = '[[require]]\nname = "near"\nmax_mae = 0.6\njudge = "a"\npool = "us"\n'
FAILING = '[[require]]\ngate = true\nquestion = "q1"\n'
UNDECIDED = '[[require]]\nmax_mae = 0.8\njudge = "a"\npool = "cn"\n'


@pytest.fixture
def audit(tmp_path: Path) -> Path:
    profile().save(tmp_path / "audit")
    return tmp_path / "audit"


@pytest.mark.parametrize(
    ("text", "code", "outcome"), [(PASSING, 0, "pass"), (FAILING, 1, "fail"), (UNDECIDED, 2, "not_enough")]
)
def test_exit_codes(audit: Path, text: str, code: int, outcome: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = policy(audit, text)
    assert run(["check", str(audit), "--policy", str(file), "--json"]) == code
    document = json.loads(capsys.readouterr().out)
    assert (document["outcome"], document["exit_code"]) == (outcome, code)
    assert run(["check", str(audit / "profile.json"), "--policy", str(file)]) == code
    result = voirdire.check(profile(), file)
    assert (result.outcome, result.exit_code) == (outcome, code)


def test_the_table_shows_the_numbers(audit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = policy(audit, PASSING + FAILING + UNDECIDED + '[[require]]\nmax_missing_share = 0.05\njudge = "a"\n')
    assert run(["check", str(audit), "--policy", str(file)]) == 1
    printed = capsys.readouterr().out
    for words in (
        "near",
        "mae at most 0.6",
        "0.45 [0.4, 0.5]",
        "FAIL",
        "not enough evidence",
        "at most 5.0%",
        "q1, cn",
    ):
        assert words in printed
    assert "1 of 5 checks fail" in printed


def test_chinese(audit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(audit), "--policy", str(policy(audit, FAILING)), "--lang", "zh"]) == 1
    printed = capsys.readouterr().out
    assert "不通过" in printed
    assert "通过关卡" in printed


@pytest.mark.parametrize("text", ["[[require]]\nmax_mea = 1\n", "[[require]]\nmax_mae = 1\njudge = 'nobody'\n", "[["])
def test_a_broken_policy_is_3(audit: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(audit), "--policy", str(policy(audit, text))]) == 3
    captured = capsys.readouterr()
    assert "policy.toml" in captured.err
    assert "Traceback" not in captured.err


@pytest.mark.parametrize("content", [None, "{", "[]", '{"format": 99}', "{}"])
def test_a_broken_profile_is_3(tmp_path: Path, content: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    if content is not None:
        (tmp_path / "profile.json").write_text(content, encoding="utf-8")
    assert run(["check", str(tmp_path), "--policy", str(policy(tmp_path, PASSING)), "--json"]) == 3
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    assert json.loads(captured.out)["error"]["exit_code"] == 3


def test_names_cannot_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile().save(tmp_path)
    file = policy(
        tmp_path, '[[require]]\nname = "\\u001b[31mred [bold]x[/bold]"\nmax_mae = 1\njudge = "a"\npool = "us"\n'
    )
    assert run(["check", str(tmp_path), "--policy", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "[bold]x[/bold]" in printed
