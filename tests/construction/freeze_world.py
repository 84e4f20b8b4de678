"""A corpus that lacks nothing for a freeze: authored, with photographs, verified, screened, split; and its ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from PIL import Image
from tests.construction.building import build_text, make, row

from voirdire.app.build_equivalence import build_equivalence
from voirdire.app.build_freeze import BuildFrozen, build_freeze
from voirdire.app.build_images import build_images
from voirdire.app.build_split import build_split
from voirdire.construction.authoring import assign, move
from voirdire.construction.history import open_history
from voirdire.construction.translation.verifying import unverified, verify
from voirdire.simulation.presets import four_questions, paired_world
from voirdire.simulation.tables import SimulatedTables, simulate_tables

WORDS = (
    "porridge", "harbour", "wedding", "lantern", "bicycle", "teapot", "market", "festival", "kitchen", "garden",
    "school", "theatre", "bakery", "station", "orchard", "workshop", "balcony", "fountain",
)  # fmt: skip
RELEASE = """
[release]
title = "Small things"
authors = ["The authors"]

[[pool]]
name = "us"
title = "People of the United States"
"""
OPTIONS: Mapping[str, Any] = {"regime": "photographs", "tables": {}, "analysis": {"draws": 100}}


def built(folder: Path, concepts: int = 18, more: str = RELEASE) -> Path:
    """A folder with everything that a freeze asks for."""
    names = WORDS[:concepts]
    rows = [
        row(name, culture, category=f"k{place % 3}", alt_en=f"A {name} of {culture}", alt_zh=f"{culture}的{name}图")
        for place, name in enumerate(names)
        for culture in ("us", "cn")
    ]
    make(folder, rows, build_text(more=more))
    photographs(folder, [f"{name}-{culture}" for name in names for culture in ("us", "cn")])
    author(folder)
    asked(2).questions.write_csv(folder / "questions.csv")
    for one in unverified(folder):
        verify(folder, one.name, "dai")
    screened(folder, names)
    build_split(folder)
    return folder


def asked(concepts: int, *, side: bool = True, seed: int = 3) -> SimulatedTables:
    """Simulated answers, and the questions that they answer."""
    world = replace(paired_world(items=2 * concepts, judges={}), side=four_questions(("us", "cn")) if side else ())
    return simulate_tables(world, seed)


def photographs(folder: Path, items: list[str], seed: int = 0, **options: Any) -> None:
    place = folder.parent / f"{folder.name}-photos-{seed}"
    place.mkdir()
    rng = np.random.default_rng(seed)
    for name in items:
        tiles = rng.integers(0, 255, (8, 8, 3), dtype=np.uint8)
        Image.fromarray(tiles).resize((256, 256), Image.Resampling.NEAREST).save(place / f"{name}.png")
    result = build_images(folder, source=place, **options)
    assert result.stopped is None


def author(folder: Path) -> None:
    for one in assign(folder):
        move(folder, "submit", one.concept, one.author)
        move(folder, "review", one.concept, one.reviewer, note="fine")
        move(folder, "accept", one.concept, one.reviewer)


def screened(folder: Path, names: tuple[str, ...], verdict: str = "keep") -> None:
    with open_history(folder) as book:
        pairs = {name: {"verdict": verdict, "reasons": []} for name in names}
        book.append({"kind": "screened", "pairs": pairs, "digest": verdict})


def ratings(place: Path, concepts: int = 18, *, side: bool = True, seed: int = 3, gap: bool = True) -> Path:
    """A corpus folder of simulated ratings of the items; without ``gap`` both pools are the same one."""
    tables = asked(concepts, side=side, seed=seed)
    names: dict[str, str] = {}
    for culture in ("us", "cn"):
        own = tables.items.filter(pl.col("culture") == culture)["item_id"].to_list()
        names |= {old: f"{new}-{culture}" for old, new in zip(own, WORDS, strict=False)}
    place.mkdir()
    rated = tables.ratings.with_columns(pl.col("item_id").replace_strict(names))
    if not gap:
        one = rated.filter(pl.col("pool") == "us")
        other = one.with_columns(pool=pl.lit("cn"), rater_id="x" + pl.col("rater_id"))
        rated = pl.concat([one, other])
    rated.write_csv(place / "ratings.csv")
    tables.questions.write_csv(place / "questions.csv")
    (place / "corpus.toml").write_text('name = "rated"\nsimulated = true\n')
    return place


def compare(folder: Path, shifts: Sequence[int], question: str = "q1") -> None:
    """Compare the languages by raters of two items; shifts : how much higher each of them rates the second one."""
    rows = [
        (f"b{place}", item, question, language, 2 + (language == "zh") * shift)
        for place, shift in enumerate(shifts)
        for item in ("teapot-us", "teapot-cn")
        for language in ("en", "zh")
    ]
    build_equivalence(
        folder,
        ratings=pl.DataFrame(rows, schema=["rater_id", "item_id", "question", "language", "rating"], orient="row"),
    )


def freeze(folder: Path, out: Path, rated: Any, **options: Any) -> BuildFrozen:
    return build_freeze(folder, out, ratings=rated, **{**OPTIONS, **options})
