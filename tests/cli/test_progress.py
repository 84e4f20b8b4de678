from __future__ import annotations

import pytest

from voirdire.cli.show import Progress


def test_off_when_not_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("en", patience=0) as progress:
        progress("pools", 0.5)
    assert capsys.readouterr() == ("", "")


def test_quick_work_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("en", on=True, patience=60) as progress:
        progress("pools", 0.5)
        assert progress._bar is None
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("lang", "words"), [("en", "Examining the pools"), ("zh", "检查群体")])
def test_long_work_shows_a_bar_on_standard_error(lang: str, words: str) -> None:
    with Progress(lang, on=True, patience=0) as progress:
        progress("pools", 0.25)
        assert progress._bar.tasks[0].description == words
        assert progress._bar.tasks[0].completed == 0.25
        assert progress._bar.console.stderr
        progress("a stage of a later version\x1b", 7)
        assert progress._bar.tasks[0].description == "a stage of a later version\\x1b"
        assert progress._bar.tasks[0].completed == 1.0
