"""The demonstration corpus: real short texts of our own, simulated raters and judges, planted truth.

Sixty items in thirty concept pairs, two pools of five raters, four questions, four judges of different character in
three conditions. It says everywhere that nobody rated it.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.simulation.judges import Character, Condition, SharedNoise
from voirdire.simulation.presets import CATEGORIES, four_questions, paired_world
from voirdire.simulation.tables import simulate_tables, write_manifest, write_readme, write_tables
from voirdire.simulation.world import World
from voirdire.texts import LANGUAGES, text

SEED = 20_260_101
POOLS = ("us", "cn")
JUDGES = {
    "sim-faithful": Character(noise=0.4),
    "sim-compressed": Character(scale=0.3, offset=0.1, malformed=0.02),
    "sim-oriented-us": Character(weights=(0.9, 0.1), noise=0.4, malformed=0.01, refused=0.02),
    "sim-constant": Character(scale=0.0, noise=0.15, center=4.0),
}
ORIGINS = {"sim-faithful": "us", "sim-compressed": "cn", "sim-oriented-us": "us", "sim-constant": "cn"}
CONDITIONS = (
    Condition("neutral_en", {"persona": "none", "language": "en"}),
    Condition("neutral_zh", {"persona": "none", "language": "zh"}, offset=-0.1),
    Condition("cn_zh", {"persona": "cn", "language": "zh"}, pull={"cn": 0.25}),
)


def demo_world() -> World:
    """The world behind the demonstration corpus.

    >>> demo_world().n_items
    60
    """
    base = paired_world(len(_pairs()) * len(POOLS), POOLS, judges=JUDGES, conditions=CONDITIONS, repeats=2)
    return World(
        base.strata,
        base.pools,
        side=four_questions(POOLS),
        judges=base.judges,
        origins=ORIGINS,
        conditions=CONDITIONS,
        noise=SharedNoise(every=0.2, judge=0.2),
        repeats=base.repeats,
        name="demo",
    )


def write_demo(directory: Path | str, seed: int = SEED) -> dict[str, Path]:
    """Write the demonstration corpus into a folder: its tables, planted truth, README.md and corpus.toml.

    Returns the files by the tables' names, with ``readme`` and ``corpus``. The same seed gives the same bytes.
    """
    tables = simulate_tables(demo_world(), seed, demo_texts())
    written = write_tables(tables, directory)
    readme = write_readme(directory, "demo", seed)
    manifest = write_manifest(directory, "demo", written.values())
    return written | {"readme": readme, "corpus": manifest}


def demo_texts() -> pl.DataFrame:
    """prompt.<lang> and text.<lang> of every item, in the order of the world's strata. Each text says SIMULATED.

    >>> demo_texts()["text.en"][0]
    '[SIMULATED: nobody rated this] Pancakes with maple syrup, two eggs and a mug of filter coffee.'
    """
    rows = [
        _row(pair, culture)
        for culture in POOLS
        for category in CATEGORIES
        for pair in _pairs()
        if pair["category"] == category
    ]
    return pl.DataFrame(rows)


def _row(pair: dict[str, Any], culture: str) -> dict[str, str]:
    row = {f"prompt.{lang}": str(pair["prompt"][lang]) for lang in LANGUAGES}
    return row | {f"text.{lang}": f"{text('simulation.mark', lang)} {pair[culture][lang]}" for lang in LANGUAGES}


def _pairs() -> list[dict[str, Any]]:
    stored = files(__package__).joinpath("demo_items.toml").read_text(encoding="utf-8")
    pairs: list[dict[str, Any]] = tomllib.loads(stored)["pair"]
    return pairs
