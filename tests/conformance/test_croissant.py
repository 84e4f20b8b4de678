"""Releases read and validated by MLCommons' own package."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.exchange import told_corpus

from voirdire.exchange.croissant import write_croissant
from voirdire.exchange.release import Release, ReleaseOptions, build_release
from voirdire.exchange.told import Told

pytestmark = pytest.mark.filterwarnings("default")
mlc = pytest.importorskip("mlcroissant", reason="the package lives in the conformance environment")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    corpus = told_corpus.write(tmp_path_factory.mktemp("corpus"))
    return build_release(corpus, ReleaseOptions(told_corpus.judgments(corpus), rater_columns=("age",)), bytes(32))


@pytest.fixture(scope="module")
def folder(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("croissant")
    write_croissant(release, folder)
    return folder


@pytest.fixture(scope="module")
def dataset(folder: Path) -> Any:
    return mlc.Dataset(folder / "croissant.json")


def test_valid(dataset: Any) -> None:
    """No error and no warning: all that Croissant recommends is told of this corpus."""
    issues = dataset.metadata.ctx.issues
    assert (sorted(issues.errors), sorted(issues.warnings)) == ([], [])
    assert str(dataset.metadata.ctx.conforms_to).endswith("V_1_1")


def test_in_chinese(release: Release, tmp_path: Path) -> None:
    write_croissant(release, tmp_path, "zh")
    dataset = mlc.Dataset(tmp_path / "croissant.json")
    assert not dataset.metadata.ctx.issues.errors
    assert dataset.metadata.name == "两种文化的餐食"
    assert len(list(dataset.records("ratings"))) == release.tables["ratings"].height


def test_what_is_not_told_is_recommended_and_no_more(release: Release, tmp_path: Path) -> None:
    write_croissant(replace(release, told=Told("bare")), tmp_path)
    issues = mlc.Dataset(tmp_path / "croissant.json").metadata.ctx.issues
    assert not issues.errors
    assert len(issues.warnings) == 4


@pytest.mark.parametrize("name", ["items", "questions", "raters", "ratings", "judgments"])
def test_every_cell_is_the_same(dataset: Any, release: Release, name: str) -> None:
    found = [{key.split("/", 1)[1]: _plain(value) for key, value in row.items()} for row in dataset.records(name)]
    assert found == list(release.tables[name].iter_rows(named=True))


def test_images(dataset: Any, release: Release) -> None:
    sources = {image.path: image.source for image in release.images}
    rows = list(dataset.records("images"))
    assert {_plain(row["images/path"]) for row in rows} == set(sources)
    for row in rows:
        assert row["images/content"].tobytes() == Image.open(sources[_plain(row["images/path"])]).tobytes()


def test_responsible_fields(dataset: Any) -> None:
    told = dataset.metadata
    assert told.data_collection == "Drawn by a program."
    assert told.data_limitations == ["not meant for: Ranking cultures."]
    assert [day.date().isoformat() for day in told.data_collection_timeframe] == ["2026-04-18", "2026-04-25"]
    assert "$20 an hour" in told.annotator_demographics[1]
    assert told.machine_annotation_tools == ["some/judge"]
    assert "4 / 5 / 5" in told.annotations_per_item


def test_the_package_says_the_same_again(dataset: Any, folder: Path) -> None:
    """Nothing of the document is unknown to the package: what it reads and writes again has every property of ours."""
    ours = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    again = dataset.metadata.to_json()
    unread = {"alternateName", "isLiveDataset", "rai:dataCollectionTimeframe", "rai:dataManipulationProtocol"}
    assert set(ours) - set(again) <= unread


def test_a_changed_table_is_noticed(release: Release, tmp_path: Path) -> None:
    write_croissant(release, tmp_path)
    file = tmp_path / "croissant.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    for one in document["distribution"]:
        if one["@id"] == "ratings-file":
            one["sha256"] = "0" * 64
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(mlc.GenerationError) as caught:
        list(mlc.Dataset(file).records("ratings"))
    assert "Hash of downloaded file" in str(caught.value.__cause__)


def _plain(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value
