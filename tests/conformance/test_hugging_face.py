"""Releases read by Hugging Face's own packages, from disk."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image
from tests.exchange import told_corpus

from voirdire.exchange.hf import write_hf
from voirdire.exchange.release import Release, ReleaseOptions, build_release

pytestmark = pytest.mark.filterwarnings("default")
pytest.importorskip("datasets", reason="the package lives in the conformance environment")


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The package, with its caches in a folder of the test and no way to the network."""
    import datasets

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path_factory.mktemp("cache"))
        yield datasets


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    corpus = told_corpus.write(tmp_path_factory.mktemp("corpus"))
    return build_release(corpus, ReleaseOptions(told_corpus.judgments(corpus), rater_columns=("age",)), bytes(32))


@pytest.fixture(scope="module")
def folder(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hf")
    write_hf(release, folder)
    return folder


def test_configurations(datasets: Any, folder: Path, release: Release) -> None:
    assert datasets.get_dataset_config_names(str(folder)) == list(release.tables)
    assert datasets.get_dataset_default_config_name(str(folder)) == "items"
    assert datasets.get_dataset_split_names(str(folder), "ratings") == ["test", "demonstration"]


@pytest.mark.parametrize("name", ["questions", "raters", "ratings", "judgments"])
def test_every_cell_is_the_same(datasets: Any, folder: Path, release: Release, name: str) -> None:
    parts = datasets.load_dataset(str(folder), name)
    rows = [row for part in parts.values() for row in part]
    assert rows == list(release.tables[name].iter_rows(named=True))


def test_images(datasets: Any, folder: Path, release: Release) -> None:
    parts = datasets.load_dataset(str(folder), "items")
    rows = [row for part in parts.values() for row in part]
    sources = {image.path: image.source for image in release.images}
    for row, path in zip(rows, release.tables["items"]["image"], strict=True):
        assert row["image"].tobytes() == Image.open(sources[path]).tobytes()
    assert [row["item_id"] for row in rows] == release.tables["items"]["item_id"].to_list()
    held = parts["test"].cast_column("image", datasets.Image(decode=False))[0]["image"]
    assert held["bytes"] == sources[held["path"]].read_bytes()


def test_the_kinds_of_columns_are_those_of_the_card(datasets: Any, folder: Path) -> None:
    features = datasets.load_dataset(str(folder), "judgments")["test"].features
    kinds = {name: feature.dtype for name, feature in features.items()}
    assert kinds | {"cost_usd": "float64", "attempts": "int64", "reply": "string", "rating": "float64"} == kinds


def test_the_card(folder: Path) -> None:
    """The Hub's reader of cards takes the header, and finds nothing to complain of in it."""
    from huggingface_hub import DatasetCard

    card = DatasetCard.load(folder / "README.md")
    data = card.data.to_dict()
    assert (data["license"], data["language"], data["pretty_name"]) == (
        "cc-by-4.0",
        ["en", "zh"],
        "Meals of two cultures",
    )
    assert card.content.count("\n---\n") == 1


@pytest.mark.parametrize("title", ['a: "b"\n---\n# c', "'#{}[]!&*?|>%@`", "\u2028 \x07 \x85 \ufeff", "null", "好 🍜"])
def test_odd_titles(folder: Path, release: Release, title: str) -> None:
    from dataclasses import replace

    from huggingface_hub import DatasetCardData
    from yaml import safe_load

    from voirdire.exchange.card import card

    told = replace(release.told, release={"title": title})
    header = card(replace(release, told=told), {}).split("\n---\n", 1)[0].removeprefix("---\n")
    assert safe_load(header)["pretty_name"] == title
    assert DatasetCardData(**safe_load(header)).pretty_name == title


def test_shards(datasets: Any, release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from voirdire.exchange import hf

    monkeypatch.setattr(hf, "SHARD_BYTES", 5_000)
    write_hf(release, tmp_path)
    assert len(list((tmp_path / "data" / "items").glob("test-*"))) > 2
    part = datasets.load_dataset(str(tmp_path), "items", split="test")
    assert part["item_id"][:] == release.tables["items"].filter(split="test")["item_id"].to_list()


def test_items_without_images(datasets: Any, tmp_path: Path) -> None:
    (tmp_path / "corpus.toml").write_text('name = "t"\n')
    pl.DataFrame({"item_id": ["a", "b"], "image": [None, None], "text": ["x", "y"]}).write_csv(tmp_path / "items.csv")
    rated = {"item_id": ["a", "b"], "rater_id": ["u", "v"], "pool": ["p", "p"], "rating": ["yes", "no"]}
    pl.DataFrame(rated).write_csv(tmp_path / "ratings.csv")
    folder = tmp_path / "hf"
    folder.mkdir()
    write_hf(build_release(tmp_path, ReleaseOptions(k=2), bytes(32)), folder)
    assert datasets.load_dataset(str(folder), "items", split="test")["text"][:] == ["x", "y"]
    assert datasets.load_dataset(str(folder), "ratings", split="test")["rating"][:] == ["yes", "no"]


def test_an_image_that_some_items_lack(datasets: Any, release: Release, tmp_path: Path) -> None:
    from dataclasses import replace

    items = release.tables["items"]
    first = pl.int_range(pl.len()) == 0
    lacking = items.with_columns(image=pl.when(first).then(None).otherwise("image"))
    write_hf(replace(release, tables=dict(release.tables) | {"items": lacking}), tmp_path)
    rows = datasets.load_dataset(str(tmp_path), "items", split="test")
    assert rows[0]["image"] is None
    out = io.BytesIO()
    rows[1]["image"].save(out, "PNG")
    assert out.getvalue()
