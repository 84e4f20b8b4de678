"""Small corpora on disk for the tests of judging."""

import io
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image

POOLS = ("us", "cn")


def picture(seed=0, size=(24, 16), kind="PNG", **options):
    """Bytes of a small picture that differs by its seed."""
    pixels = np.random.default_rng(seed).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind, **options)
    return out.getvalue()


def write(folder, **tables):
    """Write a corpus folder: corpus.toml, and a csv for each table given as a list of rows."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "corpus.toml").write_text('name = "small"\n', encoding="utf-8")
    for name, rows in tables.items():
        pl.DataFrame(rows, infer_schema_length=None).write_csv(folder / f"{name}.csv")
    return folder


def item(name, split="test", **more):
    """A row of an items table with a question in two languages and a text."""
    worded = {"prompt.en": f"Is {name} usual?", "prompt.zh": f"{name}常见吗？", "text": f"about {name}"}
    return {"item_id": name, "split": split, "pair_id": f"p-{name}", "culture": "us", **worded, **more}


def question(**more):
    """A questions table of one row."""
    return [{"question": "q1", "role": "evaluation", "level": "ordinal", "min": 1, "max": 5, **more}]


def held_out(n_each=2, cultures=POOLS, levels=range(1, 6), **more):
    """Items of the demonstration split: ``n_each`` at each level and culture, the two pools agree."""
    names = [
        (f"d-{culture}-{level}-{k}", culture, level) for culture in cultures for level in levels for k in range(n_each)
    ]
    items = [item(name, "demonstration", culture=culture, **more) for name, culture, _ in names]
    ratings = [rating(name, pool, level) for name, _, level in names for pool in POOLS]
    return items, ratings


def rating(name, pool, value, rater="1"):
    """A row of a ratings table."""
    return {"item_id": name, "rater_id": f"{pool}-{rater}", "pool": pool, "question": "q1", "rating": value}


def demonstrated(folder, n_test=3, **options):
    """A corpus folder of text items with a demonstration split."""
    items, ratings = held_out(**options)
    tests = [item(f"t{k}") for k in range(n_test)]
    rated = [rating(f"t{k}", pool, k % 5 + 1) for k in range(n_test) for pool in POOLS]
    return write(folder, items=[*tests, *items], ratings=[*rated, *ratings], questions=question())
