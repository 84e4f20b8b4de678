from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from voirdire.cli.show import Progress


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)
    assert condition()


def test_off_when_not_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("en", patience=0) as progress:
        progress("pools", 0.5)
        time.sleep(0.1)
        assert progress.bar is None
    assert capsys.readouterr() == ("", "")


def test_quick_work_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("en", on=True, patience=60) as progress:
        progress("pools", 0.5)
        assert progress.bar is None
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("lang", "words"), [("en", "Examining the pools"), ("zh", "检查群体")])
def test_long_work_shows_a_bar_on_standard_error(lang: str, words: str) -> None:
    with Progress(lang, on=True, patience=0.05) as progress:
        progress("pools", 0.25)
        wait_for(lambda: progress.bar is not None)
        task = progress.bar.tasks[0]
        assert (task.description, task.completed) == (words, 0.25)
        assert progress.bar.console.stderr
        progress("a stage of a later version\x1b", 7)
        assert (task.description, task.completed) == ("a stage of a later version\\x1b", 1.0)


def test_an_error_ends_the_bar() -> None:
    progress = Progress("en", on=True, patience=0)

    def work() -> None:
        with progress:
            wait_for(lambda: progress.bar is not None)
            raise KeyError

    with pytest.raises(KeyError):
        work()
    assert not progress.bar.live.is_started
