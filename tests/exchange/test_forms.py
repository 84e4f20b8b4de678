"""Every form of a release, taken back: equal tables, same digests, same images; and nothing else is taken."""

from __future__ import annotations

import errno
import hashlib
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.exchange import told_corpus

from voirdire import plugins
from voirdire.app.exporting import export
from voirdire.app.importing import take_in
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.reading import read_corpus
from voirdire.errors import InputError, UsageError
from voirdire.exchange import croissant, hf
from voirdire.exchange.release import Release, ReleaseOptions
from voirdire.exchange.release_tables import as_csv
from voirdire.exchange.tabular import table_path

FORMS = ("csv", "parquet", "hf", "croissant")
Written = Callable[[str], Path]


@pytest.fixture
def written(release: Release, tmp_path: Path) -> Written:
    """Writes the release in a form."""

    def write(form: str) -> Path:
        folder = tmp_path / form
        folder.mkdir()
        plugins.load(plugins.EXPORTERS, form)(release, folder, "en")
        return folder

    return write


def settings(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "corpus.toml").read_text(encoding="utf-8"))


def edit(folder: Path, old: str, new: str) -> None:
    file = folder / "corpus.toml"
    said = file.read_text(encoding="utf-8")
    assert old in said
    file.write_text(said.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("form", FORMS)
def test_taken_back_unchanged(release: Release, written: Written, tmp_path: Path, form: str) -> None:
    folder, back = written(form), tmp_path / "back"
    taken = take_in(form, [folder], back)
    for name, frame in release.tables.items():
        data = (back / table_path(name, "csv")).read_bytes()
        assert data == as_csv(frame)
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        assert settings(folder)["contents"][name] == settings(back)["contents"][name] == digest
        assert settings(back)["digests"][table_path(name, "csv")] == digest
    for image in release.images:
        assert (back / image.path).read_bytes() == image.source.read_bytes()
    assert (len(taken.tables), len(taken.images)) == (len(release.tables), 22)
    told = {name: settings(back).get(name) for name in ("name", "version", "languages", "licence", "release", "pool")}
    assert told == {name: settings(folder).get(name) for name in told}
    assert told["pool"][0]["title"]["zh"] == "美国评分者"


@pytest.mark.parametrize("form", FORMS)
def test_the_corpus_reads_as_before(corpus: Path, written: Written, tmp_path: Path, form: str) -> None:
    take_in(form, [written(form)], tmp_path / "back")
    was, now = (read_corpus(CorpusOptions(folder)) for folder in (corpus, tmp_path / "back"))
    assert now.pools == was.pools
    assert now.questions == was.questions
    key = ["question", "pool", "item_id", "value"]
    assert now.ratings.select(key).sort(key).equals(was.ratings.select(key).sort(key))
    assert now.excluded_items == was.excluded_items
    assert now.items.drop("image").equals(was.items.drop("image"))


@pytest.mark.parametrize("form", ["csv", "parquet", "croissant"])
def test_the_release_itself_is_a_corpus_folder(written: Written, form: str) -> None:
    assert read_corpus(CorpusOptions(written(form))).name == "meals"


def test_every_form_has_the_same_contents(written: Written) -> None:
    contents = [settings(written(form))["contents"] for form in FORMS]
    assert all(one == contents[0] for one in contents)


def test_a_csv_release_comes_back_byte_for_byte(written: Written, tmp_path: Path) -> None:
    folder, back = written("csv"), tmp_path / "back"
    take_in("csv", [folder], back)
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(back) for path in back.rglob("*") if path.is_file())
    assert [name for name in files if (folder / name).read_bytes() != (back / name).read_bytes()] == []


@pytest.mark.parametrize("form", FORMS)
def test_writing_again_gives_the_same_bytes(release: Release, written: Written, tmp_path: Path, form: str) -> None:
    first, second = written(form), tmp_path / "again"
    second.mkdir()
    plugins.load(plugins.EXPORTERS, form)(release, second, "en")
    for path in first.rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (second / path.relative_to(first)).read_bytes()


@pytest.mark.parametrize("form", FORMS)
class TestChanged:
    """A release that is not as it was released is refused, and leaves nothing behind."""

    def refused(self, form: str, folder: Path, tmp_path: Path, words: str) -> None:
        with pytest.raises(InputError, match=words):
            take_in(form, [folder], tmp_path / "back")
        assert not (tmp_path / "back").exists()
        assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]

    def table(self, form: str, folder: Path) -> Path:
        ending = "csv" if form == "csv" else "parquet"
        return next((folder / "data" / "ratings").glob("test*")) if form == "hf" else folder / f"ratings.{ending}"

    def test_a_rating(self, form: str, written: Written, tmp_path: Path) -> None:
        folder = written(form)
        file = self.table(form, folder)
        frame = pl.read_csv(file) if form == "csv" else pl.read_parquet(file)
        changed = frame.with_columns(rating=pl.col("rating").reverse())
        changed.write_csv(file) if form == "csv" else changed.write_parquet(file)
        self.refused(form, folder, tmp_path, "the table 'ratings' is not the one that was released")

    def test_a_lost_table(self, form: str, written: Written, tmp_path: Path) -> None:
        folder = written(form)
        file = self.table(form, folder)
        shutil.rmtree(file.parent) if form == "hf" else file.unlink()
        self.refused(form, folder, tmp_path, "lists the table 'ratings'")

    def test_a_damaged_table(self, form: str, written: Written, tmp_path: Path) -> None:
        folder = written(form)
        file = self.table(form, folder)
        file.write_bytes(file.read_bytes()[:-9])
        self.refused(form, folder, tmp_path, "is not the one that was released|cannot be read")

    def test_another_image(self, form: str, written: Written, tmp_path: Path) -> None:
        folder = written(form)
        digest = next(iter(settings(folder)["images"].values()))
        edit(folder, digest, "sha256:" + "0" * 64)
        self.refused(form, folder, tmp_path, "is not the one that was released")

    @pytest.mark.parametrize("path", ["../out.png", "/tmp/out.png", "images/../../out.png", "ratings.csv"])
    def test_an_image_that_leads_out(self, form: str, path: str, written: Written, tmp_path: Path) -> None:
        folder = written(form)
        edit(folder, '"images/p00-us.png"', f'"{path}"')
        self.refused(form, folder, tmp_path, "no path that an image of a release can have")
        assert not (tmp_path / "out.png").exists()

    def test_a_table_that_no_release_has(self, form: str, written: Written, tmp_path: Path) -> None:
        folder = written(form)
        edit(folder, "[contents]\n", '[contents]\n"../x" = "sha256:0"\n')
        self.refused(form, folder, tmp_path, "tables that a release does not have")

    def test_another_form(self, form: str, written: Written, tmp_path: Path) -> None:
        folder = written(form)
        other = FORMS[FORMS.index(form) - 1]
        self.refused(other, folder, tmp_path, f"no release in the form {other} \\(found: {form}\\)")


def test_an_image_path_inside_the_table_that_leads_out(written: Written, tmp_path: Path) -> None:
    """The paths that Hugging Face keeps beside the bytes are as little trusted as those of corpus.toml."""
    folder = written("hf")
    file = next((folder / "data" / "items").glob("test-*"))
    frame = pl.read_parquet(file)
    cell = pl.struct(pl.col("image").struct.field("bytes"), pl.lit(str(tmp_path / "out.png")).alias("path"))
    frame.with_columns(image=cell).write_parquet(file)
    with pytest.raises(InputError, match="no path that an image of a release can have"):
        take_in("hf", [folder], tmp_path / "back")
    assert not (tmp_path / "out.png").exists()


def test_hugging_face_splits_and_shards(release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hf, "SHARD_BYTES", 5_000)
    folder = tmp_path / "hf"
    folder.mkdir()
    hf.write_hf(release, folder)
    names = sorted(path.name for path in (folder / "data" / "items").iterdir())
    assert len(names) > 4
    assert {name.split("-")[0] for name in names} == {"test", "demonstration"}
    assert sorted(path.name for path in (folder / "data" / "raters").iterdir()) == ["test-00000-of-00001.parquet"]
    take_in("hf", [folder], tmp_path / "back")
    assert (tmp_path / "back" / "items.csv").read_bytes() == as_csv(release.tables["items"])


@pytest.mark.parametrize("split", ["pilot", "2nd", "保留 2"])
def test_a_corpus_without_test_items(corpus: Path, tmp_path: Path, split: str) -> None:
    """The tables that belong to no item are in the split ``test`` whatever the items are."""
    items = pl.read_csv(corpus / "items.csv").with_columns(split=pl.lit(split))
    items.write_csv(corpus / "items.csv")
    made = export("hf", corpus, tmp_path / "hf", ReleaseOptions(rater_columns=())).release
    take_in("hf", [tmp_path / "hf"], tmp_path / "back")
    assert (tmp_path / "back" / "raters.csv").read_bytes() == as_csv(made.tables["raters"])


def test_only_one_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"There is no file .*none"):
        take_in("csv", [tmp_path / "none"], tmp_path / "back")
    for given in ([], [tmp_path, tmp_path], [tmp_path / "file"]):
        with pytest.raises(UsageError, match="takes one folder"):
            take_in("csv", given, tmp_path / "back")
    with pytest.raises(InputError, match=r"no corpus\.toml"):
        take_in("csv", [tmp_path], tmp_path / "back")


def test_a_corpus_that_is_no_release(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no release in the form csv"):
        take_in("csv", [corpus], tmp_path / "back")


def test_a_readme_that_leads_out_is_not_followed(written: Written, tmp_path: Path) -> None:
    folder = shutil.copytree(written("csv"), tmp_path / "release")
    (folder / "README.md").unlink()
    (tmp_path / "secret").write_text("secret")
    (folder / "README.md").symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match="a link to a file outside"):
        take_in("csv", [folder], tmp_path / "back")


@pytest.mark.parametrize("form", ["parquet", "hf", "croissant"])
def test_a_full_disk_is_told(corpus: Path, tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, _: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(UsageError, match="cannot be written to: No space left"):
        export(form, corpus, tmp_path / "out", ReleaseOptions(rater_columns=()))
    assert not (tmp_path / "out").exists()


def test_only_licences_that_are_known_have_an_address(release: Release, written: Written) -> None:
    folder = written("croissant")
    named = {"cc-by-4.0": "https://spdx.org/licenses/CC-BY-4.0", "Acme-2": "Acme-2"}
    for told, expected in named.items():
        changed = replace(release, told=replace(release.told, licence=told))
        assert croissant.croissant(changed, folder)["license"] == expected


def test_croissant_takes_its_file_too(written: Written, tmp_path: Path) -> None:
    assert take_in("croissant", [written("croissant") / "croissant.json"], tmp_path / "back").tables


def test_formulas_are_left_as_they_are_and_told(release: Release, written: Written) -> None:
    folder = written("csv")
    replies = pl.read_csv(folder / "judgments" / "judgments.csv")["reply"].to_list()
    assert "=1+1" in replies
    assert "takes a cell that begins with `=`" in (folder / "README.md").read_text(encoding="utf-8")
    assert told_corpus.COMMENT not in (folder / "README.md").read_text(encoding="utf-8")
