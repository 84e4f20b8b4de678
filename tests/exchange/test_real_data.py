"""Releases of public ratings: people in five countries, means without people, a judge that gave up, no corpus.toml."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

from voirdire.app.exporting import export
from voirdire.app.importing import take_in
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.reading import read_corpus
from voirdire.errors import InputError, UsageError
from voirdire.exchange.release import ReleaseOptions
from voirdire.exchange.release_tables import as_csv
from voirdire.exchange.tabular import table_path

FORMS = ("csv", "parquet", "hf", "croissant")


@pytest.fixture
def data(shared_data: Path, tmp_path: Path) -> Path:
    """Copies of the folders, each with a corpus.toml."""
    said = {"crehate": 'licence = "CC-BY-SA-4.0"\n[read]\nmissing_labels = ["unsure"]\n', "hanna": 'licence = "MIT"\n'}
    for name in ("crehate", "hanna", "dices350", "viescore"):
        (tmp_path / name).mkdir()
        for file in (shared_data / name).iterdir():
            shutil.copyfile(file, tmp_path / name / file.name)
        (tmp_path / name / "corpus.toml").write_text(f'name = "{name}"\n{said.get(name, "")}')
    return tmp_path


@pytest.mark.parametrize("form", FORMS)
def test_people_in_five_countries(data: Path, form: str) -> None:
    corpus, out, back = data / "crehate", data / "out", data / "back"
    options = ReleaseOptions(corpus / "judgments.csv", rater_columns=())
    release = export(form, corpus, out, options).release
    assert release.anonymity is not None
    assert release.anonymity.smallest == 102
    take_in(form, [out], back)
    for name, frame in release.tables.items():
        assert (back / table_path(name, "csv")).read_bytes() == as_csv(frame)
    was, now = (read_corpus(CorpusOptions(folder, duplicates="first")) for folder in (corpus, back))
    assert (now.pools, now.questions) == (was.pools, was.questions)
    key = ["item_id", "pool", "question"]
    means = [one.ratings.group_by(key).agg(pl.col("value").sum(), pl.len()).sort(key) for one in (was, now)]
    assert means[0].equals(means[1])
    assert set(was.ratings["rater_id"]).isdisjoint(now.ratings["rater_id"])
    counts = [one.ratings.group_by("rater_id").len()["len"].sort() for one in (was, now)]
    assert counts[0].equals(counts[1])


def test_their_ages_and_genders_are_too_telling(data: Path) -> None:
    with pytest.raises(UsageError) as caught:
        export("csv", data / "crehate", data / "out")
    told = caught.value.fields
    assert (told["columns"], told["smallest"], told["raters"], told["instead"]) == ("gender, age_band", 1, 1064, "none")
    raters = pl.read_csv(data / "crehate" / "raters.csv")
    groups = raters.group_by("pool", "gender", "age_band").len()
    assert told["count"] == groups.filter(pl.col("len") < 5)["len"].sum()
    assert all(raters.group_by("pool", name).len()["len"].min() < 5 for name in ("gender", "age_band"))


@pytest.mark.parametrize("form", FORMS)
def test_means_without_people(data: Path, form: str) -> None:
    corpus, out, back = data / "hanna", data / "out", data / "back"
    release = export(form, corpus, out, ReleaseOptions(corpus / "judgments.csv.gz")).release
    assert "raters" not in release.tables, "Hugging Face cannot read a table without rows"
    assert release.tables["ratings"]["rater_id"].null_count() == 3168
    assert release.tables["judgments"].height == 50_688
    take_in(form, [out], back)
    assert (back / "judgments" / "judgments.csv").read_bytes() == as_csv(release.tables["judgments"])
    was, now = (read_corpus(CorpusOptions(folder, low=1, high=5)) for folder in (corpus, back))
    assert now.ratings.is_empty()
    key = ["item_id", "question"]
    assert was.aggregates.sort(key).equals(now.aggregates.sort(key))


def test_a_pool_of_one(data: Path) -> None:
    with pytest.raises(UsageError, match="The pool 'expert' has fewer raters"):
        export("csv", data / "dices350", data / "out")
    assert export("csv", data / "dices350", data / "out", ReleaseOptions(k=1)).release.anonymity is not None


def test_images_that_are_addresses(data: Path) -> None:
    with pytest.raises(InputError, match="is an address"):
        export("csv", data / "viescore", data / "out")
    assert not (data / "out").exists()
