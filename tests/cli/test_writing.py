"""What is written is whole or not there, and other files of the folder stay."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import FAST

from voirdire.analysis.profile import Profile
from voirdire.cli.main import run


def audit(folder: Path, out: Path) -> int:
    return run(["audit", str(folder), *FAST, "--out", str(out)])


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Four items, two pools; names that would steer a terminal, a page or a spreadsheet."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    pools = ("=cmd()", "\x1b[31mred")
    rows = [f"i{n},{k}{place},{pool},{1 + (n + k + place) % 5}" for n in range(6) for k in (0, 1)
            for place, pool in enumerate(pools)]  # fmt: skip
    (folder / "ratings.csv").write_text("\n".join(["item_id,rater_id,pool,rating", *rows]) + "\n")
    judged = [f"i{n},<b>m</b>,{1 + n % 5}" for n in range(6)]
    (folder / "judgments.csv").write_text("\n".join(["item_id,judge,rating", *judged]) + "\n")
    return folder


def test_hostile_names_reach_no_file_as_code(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit(corpus, tmp_path / "out") == 0
    assert "\x1b" not in capsys.readouterr().out
    for name in ("report.html", "report.md"):
        page = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert "\x1b" not in page
        assert "<b>m</b>" not in page
    table = (tmp_path / "out" / "estimates.csv").read_text(encoding="utf-8")
    assert ",=cmd()" not in table
    assert ",'=cmd()" in table
    assert Profile.load(tmp_path / "out").get("n_items", pool="=cmd()").value == 6


def test_a_full_disk_leaves_what_was_there(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    assert audit(corpus, out) == 0
    before = {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Profile, "to_json", full)
    capsys.readouterr()
    assert audit(corpus, out) == 3
    told = capsys.readouterr().err
    assert "No space left" in told
    assert "Traceback" not in told
    assert {file: file.read_bytes() for file in out.rglob("*") if file.is_file()} == before


def test_an_interrupt_while_writing_leaves_no_profile(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Profile, "to_json", stop)
    assert audit(corpus, tmp_path / "out") == 4
    assert list((tmp_path / "out").iterdir()) == []


def test_a_folder_under_a_file_is_refused_before_anything_is_read(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit(corpus, corpus / "ratings.csv" / "out") == 3
    captured = capsys.readouterr()
    assert "is a file" in captured.err
    assert captured.out == ""


@pytest.mark.skipif(os.geteuid() == 0, reason="everything is allowed to root")
def test_a_folder_that_is_closed_is_refused(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    assert audit(corpus, closed / "out") == 3
    assert "Nothing was written" in capsys.readouterr().err
