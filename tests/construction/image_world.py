"""A small corpus that is being built, for tests of its images."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tests.construction.mock_images import KEY

from voirdire.app.build_images import ImagesResult, build_images
from voirdire.judging.limits import Limits

ENVIRONMENT = {"GEMINI_API_KEY": KEY, "OPENAI_API_KEY": KEY}
QUICK = Limits(backoff=0.01, backoff_cap=0.05, cooldown=0.05)
NOTHING: Mapping[str, str] = MappingProxyType({})
TEMPLATE = "A photograph of {realisation}, eye level, soft daylight."


def corpus(folder: Path, concepts: int = 3, words: Mapping[str, str] = NOTHING, images: str = "") -> Path:
    """build.toml and concepts.csv; words : item id -> what stands in its realisation besides."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        'name = "tables"', 'languages = ["en", "zh"]', "[[culture]]", 'name = "us"', 'title.en = "United States"',
        'title.zh = "美国"', "[[culture]]", 'name = "cn"', 'title.en = "China"', 'title.zh = "中国"', "[images]",
        f'template.en = "{TEMPLATE}"', images,
    ]  # fmt: skip
    (folder / "build.toml").write_text("\n".join(lines), encoding="utf-8")
    rows = []
    for place in range(concepts):
        for culture in ("us", "cn"):
            item = f"c{place}-{culture}"
            shown = " ".join(filter(None, [f"thing {place} of {culture}", words.get(item, "")]))
            rows.append([f"c{place}", f"k{place % 2}", culture, shown, f"How usual is {place}?", f"{place} 常见吗？"])
    write_concepts(folder, rows)
    return folder


def write_concepts(folder: Path, rows: Sequence[Sequence[str]]) -> None:
    with (folder / "concepts.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["concept", "category", "culture", "realisation", "prompt.en", "prompt.zh"])
        writer.writerows(rows)


def make(folder: Path, url: str, **options: Any) -> ImagesResult:
    """Make the images at a server."""
    given = {"environment": ENVIRONMENT, "limits": QUICK, "base_url": url, **options}
    return build_images(folder, **given)
