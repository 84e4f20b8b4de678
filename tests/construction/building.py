"""Folders of a corpus that is being built, made by hand."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

TEAM = ("ana", "bo", "chen")
COLUMNS = ("concept", "category", "culture", "realisation", "prompt.en", "prompt.zh")

Row = dict[str, str]


def row(concept: str, culture: str, **cells: str) -> Row:
    """One row that lacks nothing; ``prompt_en`` stands for ``prompt.en``."""
    made = {
        "concept": concept,
        "category": "food",
        "culture": culture,
        "realisation": f"{concept} as it is known in {culture}",
        "prompt.en": f"Would {concept} please you?",
        "prompt.zh": f"你会喜欢{concept}吗？",
    }
    return made | {
        name.replace("_", ".", 1) if name[:4] in ("prom", "alt_") else name: text for name, text in cells.items()
    }


def pair(concept: str, **cells: str) -> list[Row]:
    return [row(concept, culture, **cells) for culture in ("us", "cn")]


def pairs(*concepts: str) -> list[Row]:
    return [one for concept in concepts for one in pair(concept)]


def build_text(team: Sequence[str] = TEAM, languages: Sequence[str] = ("en", "zh"), more: str = "") -> str:
    return f"""
name = "small"
version = "0.1"
license = "CC-BY-4.0"
languages = {list(languages)!r}
authors = {list(team)!r}

[[culture]]
name = "us"
title.en = "the United States"
language = "en"

[[culture]]
name = "cn"
title.en = "mainland China"
{more}
"""


def write_rows(folder: Path, rows: Iterable[Mapping[str, Any]], columns: Sequence[str] = ()) -> Path:
    listed = list(rows)
    named = columns or list(dict.fromkeys([*COLUMNS, *(name for one in listed for name in one)]))
    path = folder / "concepts.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, named, restval="")
        writer.writeheader()
        writer.writerows(listed)
    return path


def make(folder: Path, rows: Iterable[Mapping[str, Any]] = (), text: str | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "build.toml").write_text(build_text() if text is None else text, encoding="utf-8")
    write_rows(folder, rows)
    return folder
