"""A small corpus to run judges on: 12 generated images in two languages, two pools, five held-out images a culture."""

from __future__ import annotations

import io
import random
from pathlib import Path

import polars as pl

TEST_PAIRS, HELD_PAIRS = 6, 5
CULTURES = ("us", "cn")


def picture(name: str) -> bytes:
    """A PNG of its own for every name."""
    from PIL import Image

    noise = random.Random(name)
    image = Image.frombytes("RGB", (8, 8), noise.randbytes(8 * 8 * 3)).resize((32, 24))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def build(folder: Path) -> Path:
    """Write the corpus: 12 test items, 10 demonstration items rated 1 to 5 by both pools."""
    (folder / "images").mkdir(parents=True)
    rows, ratings = [], []
    for number in range(TEST_PAIRS + HELD_PAIRS):
        held = number >= TEST_PAIRS
        for culture in CULTURES:
            item = f"p{number:02}-{culture}"
            (folder / "images" / f"{item}.png").write_bytes(picture(item))
            rows.append(
                {
                    "item_id": item,
                    "pair_id": f"p{number:02}",
                    "culture": culture,
                    "category": "food" if number % 2 else "fashion",
                    "image": f"images/{item}.png",
                    "prompt.en": f"How typical is dish {number} of breakfast?",
                    "prompt.zh": f"菜品 {number} 作为早餐有多典型？",
                    "alt.en": f"A plate of dish {number}.",
                    "alt.zh": f"一盘菜品 {number}。",
                    "split": "demonstration" if held else "test",
                }
            )
            for pool in CULTURES:
                level = number - TEST_PAIRS + 1 if held else 1 + (number + (pool == culture) * 2) % 5
                ratings += [
                    {"item_id": item, "rater_id": f"{pool}{rater}", "pool": pool, "question": "q1", "rating": level}
                    for rater in range(3)
                ]
    pl.DataFrame(rows).write_csv(folder / "items.csv")
    pl.DataFrame(ratings).write_csv(folder / "ratings.csv")
    (folder / "questions.csv").write_text(
        "question,role,level,min,max,text.en,text.zh\nq1,evaluation,ordinal,1,5,How typical is it?,有多典型？\n"
    )
    (folder / "corpus.toml").write_text('name = "small"\nlanguages = ["en", "zh"]\n')
    return folder
