"""The demonstration corpus: own drawings in concept pairs, simulated pools, and simulated judges with planted truth.

Thirty drawings in fifteen concept pairs, each with a description and a question in two languages; two pools of
five raters on four questions; three judges of known character under the ten conditions of the grid
``paper-baseline``. Drawings, descriptions and questions were made for voirdire. It says everywhere that nobody rated
them: ratings and simulated judgments are drawn by a program.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.simulation.judges import Character, Condition, SharedNoise
from voirdire.simulation.presets import CATEGORIES, four_questions, paired_world
from voirdire.simulation.tables import (
    SimulatedTables,
    item_table,
    simulate_tables,
    write_manifest,
    write_readme,
    write_tables,
)
from voirdire.simulation.world import World
from voirdire.texts import LANGUAGES, text

SEED = 20_260_292
"""Chosen so that the simulated judges read as they are planted: with thirty items, luck decides too."""

POOLS = ("us", "cn")
JUDGES = {
    "sim-faithful": Character(noise=0.3),
    "sim-compressed": Character(scale=0.3, offset=0.1, noise=0.3),
    "sim-oriented-us": Character(weights=(0.9, 0.1), noise=0.3),
}
PULLS = {"basic": 0.1, "advanced": 0.2}
"""Weight that a persona moves to its pool, by the detail of the persona."""

CORPUS, PLANTED, IMAGES = "corpus", "simulated-judges", "images"
GRID = "grid.toml"
DRAWINGS = "demo_drawings"
EMPTY = pl.DataFrame()


@dataclass(frozen=True)
class DemoFiles:
    """The folders and files of a written demonstration.

    corpus : folder of items, images and pools' ratings; judgments : what the simulated judges said, with planted
        truth beside it; grid : the ten conditions, with descriptions instead of images
    """

    corpus: Path
    judgments: Path
    grid: Path


def demo_conditions() -> tuple[Condition, ...]:
    """The conditions of the grid ``paper-baseline`` as simulated judges meet them.

    >>> [condition.name for condition in demo_conditions()][:4]
    ['neutral_en', 'neutral_zh', 'us_basic_en', 'us_basic_zh']
    """
    return tuple(_conditions())


def demo_world() -> World:
    """The world behind the demonstration corpus.

    >>> demo_world().n_items, len(demo_world().conditions)
    (30, 10)
    """
    base = paired_world(len(_pairs()) * len(POOLS), POOLS, judges=JUDGES, conditions=demo_conditions())
    return replace(base, side=four_questions(POOLS), noise=SharedNoise(every=0.15, judge=0.15), name="demo")


def write_demo(directory: Path | str, seed: int = SEED) -> DemoFiles:
    """Write the demonstration into a folder: the corpus, the simulated judges and the grid.

    The same seed gives the same bytes. Files of other names stay as they are.
    """
    folder = Path(directory)
    tables = simulate_tables(demo_world(), seed, demo_items())
    tables = replace(tables, questions=_worded(tables.questions))
    corpus, planted = folder / CORPUS, folder / PLANTED
    written = list(write_tables(_pools_of(tables), corpus).values())
    write_drawings(corpus / IMAGES)
    write_readme(corpus, "demo", seed)
    write_manifest(corpus, "demo", written)
    judged = write_tables(_judges_of(tables), planted)
    write_readme(planted, "demo_judges", seed)
    grid = folder / GRID
    grid.write_bytes(files(__package__).joinpath("demo_grid.toml").read_bytes())
    return DemoFiles(corpus, judged["judgments"], grid)


def demo_items() -> pl.DataFrame:
    """image, prompt.<lang> and alt.<lang> of every item, in the order of the world's strata.

    >>> demo_items()["alt.en"][0]
    'A drawing of a stack of pancakes with butter and syrup, a fried egg and a mug of coffee.'
    """
    pairs = [pair for category in CATEGORIES for pair in _pairs() if pair["category"] == category]
    rows = [_row(pair, culture) for culture in POOLS for pair in pairs]
    return pl.concat([_images(), pl.DataFrame(rows)], how="horizontal")


def write_drawings(folder: Path) -> None:
    """Write the drawing of every item into a folder, by the item's id."""
    folder.mkdir(parents=True, exist_ok=True)
    for entry in files(__package__).joinpath(DRAWINGS).iterdir():
        if entry.name.endswith(".png"):
            (folder / entry.name).write_bytes(entry.read_bytes())


def _conditions() -> Iterator[Condition]:
    for lang in LANGUAGES:
        yield Condition(f"neutral_{lang}", {"persona": "none", "detail": "none", "language": lang}, offset=_shift(lang))
    for persona in POOLS:
        for detail, amount in PULLS.items():
            for lang in LANGUAGES:
                factors = {"persona": persona, "detail": detail, "language": lang}
                pull = {persona: amount}
                yield Condition(f"{persona}_{detail}_{lang}", factors, offset=_shift(lang), pull=pull)


def _shift(lang: str) -> float:
    """Simulated judges are a little stricter in Chinese."""
    return -0.1 if lang == "zh" else 0.0


def _pools_of(tables: SimulatedTables) -> SimulatedTables:
    return replace(tables, judges=EMPTY, conditions=EMPTY, judgments=EMPTY, truth_judges=EMPTY)


def _judges_of(tables: SimulatedTables) -> SimulatedTables:
    return replace(tables, items=EMPTY, questions=EMPTY, raters=EMPTY, ratings=EMPTY, truth_items=EMPTY)


def _worded(questions: pl.DataFrame) -> pl.DataFrame:
    """The questions in words that speak of drawings, with the two cultures at the ends of the placement."""
    rows = []
    for row in questions.iter_rows(named=True):
        for lang in LANGUAGES:
            ends = _ends(lang) if row["role"] == "placement" else {}
            row[f"text.{lang}"] = text(f"demo.question.{row['role']}", lang, **ends)
            row[f"low_end.{lang}"], row[f"high_end.{lang}"] = ends.get("last"), ends.get("first")
        rows.append(row)
    return pl.DataFrame(rows, schema_overrides=questions.schema)


def _ends(lang: str) -> dict[str, str]:
    first, last = (text(f"simulation.culture.{pool}", lang) for pool in POOLS)
    return {"first": first, "last": last}


def _images() -> pl.DataFrame:
    known = item_table(demo_world())["item_id"]
    return pl.DataFrame({"image": [f"{IMAGES}/{item}.png" for item in known]})


def _row(pair: dict[str, Any], culture: str) -> dict[str, str]:
    row = {f"prompt.{lang}": str(pair["prompt"][lang]) for lang in LANGUAGES}
    return row | {f"alt.{lang}": str(pair[culture][lang]) for lang in LANGUAGES}


def _pairs() -> list[dict[str, Any]]:
    stored = files(__package__).joinpath("demo_items.toml").read_text(encoding="utf-8")
    pairs: list[dict[str, Any]] = tomllib.loads(stored)["pair"]
    return pairs
