"""A small corpus about which much is told: images, two splits, attributes, comments, and judgments in odd words."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from tests.cli.small_corpus import build

COMMENT = "I grew up with this dish, and it is for feasts only."
TOLD = """
name = "meals"
version = "0.1"
languages = ["en", "zh"]
licence = "CC-BY-4.0"

[release]
title = { en = "Meals of two cultures", zh = "两种文化的餐食" }
description = "Meals | with *marks* and <b>tags</b>."
authors = ["A. One", "B. Two"]
citation = "One and Two, 2026"
url = "https://example.org/meals"
published = 2026-06-01
collected_from = 2026-04-18
collected_to = "2026-04-25"
collection = "Drawn by a program."
uses = "Measuring judges."
not_for = "Ranking cultures."

[[pool]]
name = "us"
title = { en = "Raters in the United States", zh = "美国评分者" }
recruited = "University groups"
paid = "$20 an hour"
criteria = "Fluent in both languages"
languages = ["en"]
"""
RATERS = 5


def write(folder: Path) -> Path:
    """22 items with images, 12 of them test items; five raters in each of the pools us and cn."""
    build(folder)
    pl.DataFrame(_ratings(pl.read_csv(folder / "items.csv"))).write_csv(folder / "ratings.csv")
    people = [{"rater_id": f"{pool}-{n}@x.org", "age": "20s", "city": f"{pool} {n}"} for pool, n in _people()]
    pl.DataFrame(people).write_csv(folder / "raters.csv")
    (folder / "corpus.toml").write_text(TOLD, encoding="utf-8")
    return folder


def judgments(folder: Path) -> Path:
    """A Parquet file of judgments: some without a rating, replies with quotation marks, line breaks and formulas."""
    items = pl.read_csv(folder / "items.csv")["item_id"]
    replies = ["=1+1", ' 好\n"yes", ok ', None, "plain"]
    rows = [
        {
            "item_id": item,
            "judge": "some/judge",
            "condition": "neutral_en",
            "rating": None if n % 3 == 0 else float(n % 5 + 1),
            "status": "malformed" if n % 3 == 0 else "ok",
            "cost_usd": n * 1e-6 / 3,
            "attempts": n % 3 + 1,
            "reply": replies[n % 4],
        }
        for n, item in enumerate(items)
    ]
    file = folder / "judged.parquet"
    pl.DataFrame(rows).write_parquet(file)
    return file


def _people() -> list[tuple[str, int]]:
    return [(pool, n) for n in range(RATERS) for pool in ("cn", "us")]


def _ratings(items: pl.DataFrame) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for place, item in enumerate(items["item_id"]):
        for pool, n in _people():
            level = None if (place + n) % 17 == 0 else 1 + (place + n + 2 * (pool == "cn")) % 5
            said = COMMENT if place == n else None
            rows.append(
                {"item_id": item, "rater_id": f"{pool}-{n}@x.org", "pool": pool, "question": "q1", "rating": level}
                | {"seconds": 3.5 + n, "comment": said}
            )
    return rows
