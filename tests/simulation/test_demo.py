"""The demonstration corpus: own drawings, simulated pools and judges, the same to the byte."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from voirdire.judging.grid import load_grid
from voirdire.simulation import demo
from voirdire.simulation.demo import demo_conditions, demo_items, write_demo

SOURCES = Path(demo.__file__).parent / demo.DRAWINGS
CAPTION = 300
"""Row at which the caption begins: its letters depend on the fonts of a machine."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder)
    return folder


def digests(folder: Path) -> Mapping[str, str]:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def test_the_same_to_the_byte_and_says_that_it_is_simulated(written: Path, tmp_path: Path) -> None:
    write_demo(tmp_path)
    assert digests(tmp_path) == digests(written)
    for folder in ("corpus", "simulated-judges"):
        readme = (written / folder / "README.md").read_text(encoding="utf-8")
        assert readme.startswith("# SIMULATED: nobody ")
        assert "# 模拟数据：没有" in readme
    manifest = tomllib.loads((written / "corpus" / "corpus.toml").read_text(encoding="utf-8"))
    assert manifest["simulated"] is True
    assert set(manifest["digests"]) >= {"items.csv", "ratings.csv", "questions.csv"}


def test_fifteen_concept_pairs_with_questions_and_descriptions_in_both_languages(written: Path) -> None:
    items = pl.read_csv(written / "corpus" / "items.csv")
    pairs = items.group_by("pair_id").agg(pl.col("culture").n_unique(), pl.col("category").n_unique(), pl.len())
    assert pairs.height == 15
    assert set(pairs.select("culture", "category", "len").rows()) == {(2, 1, 2)}
    for name in ("alt.en", "alt.zh", "image", "item_id"):
        assert items[name].n_unique() == items.height == 30
    for lang in ("en", "zh"):
        asked = items.group_by("pair_id").agg(pl.col(f"prompt.{lang}").n_unique())
        assert asked[f"prompt.{lang}"].unique().to_list() == [1]
    assert items["alt.en"].str.starts_with("A drawing of ").all()
    assert items["alt.zh"].str.contains(r"^一幅画：[\p{Han}，、]+。$").all()
    assert items["prompt.zh"].str.contains(r"[\p{Han}]").all()


def test_pools_and_questions(written: Path) -> None:
    ratings = pl.read_csv(written / "corpus" / "ratings.csv")
    counts = ratings.group_by("question", "pool").agg(pl.col("rater_id").n_unique(), pl.len())
    assert sorted(counts.rows()) == sorted((f"q{k}", pool, 5, 150) for k in range(1, 5) for pool in ("us", "cn"))
    questions = pl.read_csv(written / "corpus" / "questions.csv")
    assert questions["role"].to_list() == ["evaluation", "placement", "subjectivity", "recognizability"]
    assert "United States" in questions["text.en"][1]
    assert "美国" in questions["text.zh"][1]


def test_simulated_judges_meet_the_conditions_of_the_grid(written: Path) -> None:
    judgments = pl.read_csv(written / "simulated-judges" / "judgments.csv")
    grid = load_grid(written / "grid.toml")
    names = [condition.name for condition in grid.conditions]
    assert judgments["condition"].unique(maintain_order=True).to_list() == names
    assert judgments["status"].unique().to_list() == ["ok"]
    assert set(judgments["judge"]) == set(demo.JUDGES)
    factors = {condition.name: dict(condition.factors) for condition in grid.conditions}
    assert {condition.name: condition.factors for condition in demo_conditions()} == factors


def test_the_grid_is_the_papers_with_descriptions_instead_of_images(written: Path) -> None:
    described = load_grid("paper-baseline").showing("alt")
    assert load_grid(written / "grid.toml").conditions == described.conditions


def test_every_drawing_is_small_and_is_what_its_source_draws(written: Path) -> None:
    vl_convert = pytest.importorskip("vl_convert")
    drawn = sorted((written / "corpus" / "images").iterdir())
    assert [path.name for path in drawn] == sorted(f"{item}.png" for item in _ids())
    for path in drawn:
        assert path.stat().st_size < 10_000
        source = (SOURCES / f"{path.stem}.svg").read_text(encoding="utf-8")
        assert re.search("Own drawing, ratings simulated · 自绘图，评分为模拟", source)
        kept = _pixels(path.read_bytes())
        assert kept.shape == (320, 320, 3)
        assert np.abs(kept - _pixels(vl_convert.svg_to_png(source, scale=1.0)))[:CAPTION].mean() < 3


def test_items_name_their_drawings() -> None:
    assert demo_items()["image"].to_list() == [f"images/{item}.png" for item in _ids()]


def _ids() -> list[str]:
    kinds = ("food", "fashion", "architecture")
    return [f"{kind}-{rank:03d}-{pool}" for pool in ("us", "cn") for kind in kinds for rank in range(1, 6)]


def _pixels(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(png)).convert("RGB"), dtype=float)
