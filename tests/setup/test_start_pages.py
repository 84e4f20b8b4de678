"""The pages that a newcomer follows: each is gone through from its first step to its last, and prints what it says."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest
from tests.setup.start_pages import FOLDER, ROOT, printed, rated, steps

pytestmark = pytest.mark.slow
PAGES = [page for page in sorted(FOLDER.glob("*.md")) if "```console" in page.read_text(encoding="utf-8")]


def matches(wanted: str, told: str) -> bool:
    """Whether lines are equal but for blanks; ``...`` stands for what is another each time."""
    return doctest.OutputChecker().check_output(wanted, told, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_can_be_followed(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    for step in steps(page):
        if step.kind == "file":
            Path(step.name).write_text(step.told, encoding="utf-8")
        elif step.kind == "mark":
            assert step.name == "rated"
            rated(Path("dishes.csv"))
        else:
            told = printed(step.name)
            assert matches(step.told, told), f"{step.name}\n{told}"


def test_a_page_that_says_something_else_is_found() -> None:
    assert matches("480 cells (..., free)\n", "480 cells (12 s, free)\n")
    assert not matches("480 cells\n", "481 cells\n")


def test_all_four_are_there() -> None:
    assert {page.stem for page in FOLDER.glob("*.md")} == {"first-audit", "first-run", "first-ratings", "first-corpus"}
