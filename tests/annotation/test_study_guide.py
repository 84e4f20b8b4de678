"""The page on ``annotation.toml`` says what is there, and its examples work."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.annotation.study_corpora import FULL, corpus, study_of, told

from voirdire.annotation.study_defaults import USABLE, VERDICTS
from voirdire.annotation.study_parts import NUMBERS
from voirdire.annotation.study_questions import MOST_LEVELS, WIDGETS
from voirdire.errors import InputError

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "annotation-file.md"
PAGE = GUIDE.read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```toml\n(.*?)^```", PAGE, flags=re.S | re.M)


def entries(folder: Path, table: dict[str, Any]) -> set[str]:
    """The entries that an error names as known beside one that is not."""
    with pytest.raises(InputError) as error:
        study_of(corpus(folder), table)
    assert "unheard" in told(error.value)
    return set(error.value.fields["known"].split(", "))


def test_the_example_of_the_page_can_be_read(tmp_path: Path) -> None:
    found = study_of(corpus(tmp_path), EXAMPLES[0])
    assert (len(found.study.questions), len(found.study.pools), len(found.study.gold)) == (4, 2, 1)
    assert found.notes == ()


def test_the_example_of_a_pilots_words_has_them_all(tmp_path: Path) -> None:
    assert len(EXAMPLES) == 2
    assert set(study_of(corpus(tmp_path), EXAMPLES[1]).study.pilot) == {"text", *VERDICTS}


@pytest.mark.parametrize("section", ["", "pools", "questions", "screening", "gold"])
def test_the_page_names_every_entry(tmp_path: Path, section: str) -> None:
    table = {section: [{**FULL[section][0], "unheard": 1}]} if section else {"unheard": 1}
    part = PAGE.split(f"\n## {section.capitalize()}\n" if section else "\n## Entries of the file\n")[1].split("\n## ")[
        0
    ]
    known = entries(tmp_path, table)
    assert [name for name in known if f"`{name}`" not in part and f"`[[{name}]]`" not in part] == []
    rows = re.findall(r"^\| (`[^|]+) \|", part, flags=re.M)
    assert {re.sub(r"\W", "", name) for row in rows for name in row.split(", ")} <= known


def test_the_page_names_widgets_numbers_and_verdicts() -> None:
    assert [name for name in (*WIDGETS, *VERDICTS, USABLE) if f"`{name}`" not in PAGE] == []
    assert [number for number in MOST_LEVELS.values() if f"up to {number}" not in PAGE] == []
    assert f"1 to {NUMBERS['raters_per_item'][1]}" in PAGE
