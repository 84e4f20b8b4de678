"""A frozen corpus that was changed is told; judgments of another version are refused; a kill leaves no half corpus."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.construction.freeze_world import built, compare, freeze, ratings

from voirdire.app.audit import audit
from voirdire.app.build_split import build_split
from voirdire.app.exporting import export
from voirdire.app.importing import take_in
from voirdire.app.run import run as run_judges
from voirdire.app.validate import validate
from voirdire.cli.main import run
from voirdire.construction.freezing.folder import beside
from voirdire.construction.freezing.versions import Release, releases, settle
from voirdire.construction.history import open_history, read_history
from voirdire.corpus.belonging import made_on
from voirdire.errors import InputError, UsageError
from voirdire.exchange.release import ReleaseOptions

QUICK = {"draws": 50, "decomposition_draws": 20}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two versions of a corpus, and a run of a judge on each."""
    place = tmp_path_factory.mktemp("versions")
    folder, rated = built(place / "built"), ratings(place / "rated")
    shutil.copytree(folder, place / "before")
    assert freeze(folder, place / "v1", rated, version="1.0").done
    build_split(folder, demonstration=2, again=True)
    assert freeze(folder, place / "v2", rated, version="1.1", change="Two concepts kept back").done
    for name in ("v1", "v2"):
        run_judges(place / name, "control/random", out=place / f"run-{name}")
    return place


def _rating(folder: Path) -> Path:
    file = folder / "ratings.csv"
    file.write_text(file.read_text("utf-8") + "teapot-us,us-1,us,q9,1\n", encoding="utf-8")
    return file


def _picture(folder: Path) -> Path:
    (folder / "images" / "teapot-us.png").write_bytes((folder / "images" / "harbour-us.png").read_bytes())
    return folder / "images" / "teapot-us.png"


def _gone(folder: Path) -> Path:
    (folder / "images" / "teapot-us.png").unlink()
    return folder / "images" / "teapot-us.png"


def _beside(folder: Path) -> Path:
    shares = {"item_id": ["teapot-us"], "pool": ["us"], "question": ["q1"], "label": ["1"], "share": [1.0]}
    pl.DataFrame(shares).write_csv(folder / "shares.csv")
    return folder / "shares.csv"


def _comments(folder: Path) -> Path:
    (folder / "comments.csv").write_text("item_id,rater_id,written\nteapot-us,us0,Hm.\n", encoding="utf-8")
    return folder / "comments.csv"


def _manifest(folder: Path) -> Path:
    file = folder / "corpus.toml"
    file.write_text(file.read_text("utf-8").replace("CC-BY-4.0", "CC0-1.0"), encoding="utf-8")
    return file


@pytest.mark.parametrize("damage", [_rating, _picture, _gone, _beside, _comments, _manifest])
def test_a_change_is_told_with_its_file(world: Path, tmp_path: Path, damage: Callable[[Path], Path]) -> None:
    folder = Path(shutil.copytree(world / "v1", tmp_path / "copy"))
    validate(folder, draws=20)
    file = damage(folder)
    for read in (
        lambda: validate(folder, draws=20),
        lambda: audit(folder, world / "run-v1", **QUICK),
        lambda: audit(world / "rated" / "ratings.csv", folder=folder, **QUICK),
        lambda: run_judges(folder, "control/random", out=tmp_path / "run"),
    ):
        with pytest.raises(InputError) as caught:
            read()
        assert caught.value.key.startswith("freeze.file.")
        assert caught.value.fields["file"] == str(file)
    assert not (tmp_path / "run").exists()


def test_a_copy_without_marks_may_be_changed(world: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(world / "v1", tmp_path / "copy"))
    whole = (folder / "corpus.toml").read_text("utf-8")
    (folder / "corpus.toml").write_text(whole[: whole.index("[frozen]")], encoding="utf-8")
    _picture(folder)
    profile = audit(folder, world / "run-v1", **QUICK)
    assert profile.meta["corpus"] == {}
    assert "freeze.judged.unfrozen" in [note["key"] for note in profile.meta["notes"]]


def test_tables_of_other_origin_are_no_version(world: Path, tmp_path: Path) -> None:
    folder = world / "v1"
    rated = world / "rated" / "ratings.csv"
    profile = audit(rated, folder=folder, **QUICK)
    own, other = folder / "items.csv", tmp_path / "items.csv"
    other.write_bytes(own.read_bytes().replace(b"?", b"!", 1))
    assert (profile.meta["corpus"], validate(folder, items=other, draws=20).meta["corpus"]) == ({}, {})
    assert validate(folder, items=own, draws=20).meta["corpus"]["version"] == "1.0", "its own table is no other one"
    with pytest.raises(InputError, match="another version"):
        audit(folder, world / "run-v2", items=own, **QUICK)
    run_judges(folder, "control/random", out=tmp_path / "run", ratings=rated)
    assert "version" not in tomllib.loads((tmp_path / "run" / "run.toml").read_text("utf-8"))["corpus"]


def test_a_run_and_a_profile_name_their_version(world: Path) -> None:
    frozen = tomllib.loads((world / "v1" / "corpus.toml").read_text("utf-8"))["frozen"]
    told = tomllib.loads((world / "run-v1" / "run.toml").read_text("utf-8"))["corpus"]
    assert (told["version"], told["frozen"], told["shown"]) == ("1.0", frozen["digest"], frozen["shown"])
    assert told["digest"] == frozen["material"]
    meta = audit(world / "v1", world / "run-v1", **QUICK).meta
    assert meta["corpus"]["frozen"] == meta["judged_corpus"]["frozen"] == frozen["digest"]
    assert not [note for note in meta["notes"] if note["key"].startswith("freeze.judged")]


@pytest.mark.parametrize("file", ["", "judgments.parquet"])
def test_judgments_of_another_version_are_refused(world: Path, file: str) -> None:
    with pytest.raises(InputError) as caught:
        audit(world / "v2", world / "run-v1" / file, **QUICK)
    fields = caught.value.fields
    ours, theirs = (
        tomllib.loads((world / name / "corpus.toml").read_text("utf-8"))["frozen"]["shown"] for name in ("v2", "v1")
    )
    assert (fields["ours"], fields["theirs"]) == (ours[:12], theirs[:12])
    assert (fields["version"], fields["other"]) == ("1.1", "1.0")


def test_another_version_that_is_meant_stands_in_the_report(world: Path, tmp_path: Path) -> None:
    said = ["audit", str(world / "v2"), "--judgments", str(world / "run-v1"), "--out", str(tmp_path / "audit")]
    said += ["--draws", "50", "--decomposition-draws", "20"]
    assert run(said) == 3
    assert not (tmp_path / "audit").exists()
    assert run([*said, "--other-corpus"]) == 0
    page = (tmp_path / "audit" / "report.html").read_text("utf-8")
    assert "This was asked for with --other-corpus" in page
    profile = json.loads((tmp_path / "audit" / "profile.json").read_bytes())["meta"]
    assert (profile["corpus"]["version"], profile["judged_corpus"]["version"]) == ("1.1", "1.0")


def test_a_run_that_was_made_before_the_freeze_counts_when_nothing_changed(world: Path, tmp_path: Path) -> None:
    """Judges that were asked about the same items before they were frozen need not be asked again."""
    run_folder = Path(shutil.copytree(world / "run-v1", tmp_path / "run"))
    file = run_folder / "run.toml"
    lines = file.read_text("utf-8").splitlines()
    kept = [line for line in lines if line.split(" =")[0] not in ("version", "frozen", "shown")]
    file.write_text("\n".join(kept), encoding="utf-8")
    assert audit(world / "v1", run_folder, **QUICK).meta["judges"]
    with pytest.raises(InputError):
        audit(world / "v2", run_folder, **QUICK)
    file.unlink()
    notes = [note["key"] for note in audit(world / "v2", run_folder, **QUICK).meta["notes"]]
    assert "freeze.judged.unknown" in notes


WRITING = "voirdire.app.freeze_folder"
KILLS = [
    ("voirdire.construction.freezing.folder:copy_images", "after", False),
    (f"{WRITING}:_write_report", "before", False),
    (f"{WRITING}:places.write_manifest", "after", False),
    ("voirdire.construction.freezing.folder:put_in_place", "before", False),
    ("voirdire.construction.freezing.folder:put_in_place", "after", True),
]


@pytest.mark.parametrize(("place", "when", "there"), KILLS)
def test_a_kill_leaves_no_half_corpus(world: Path, tmp_path: Path, place: str, when: str, there: bool) -> None:
    folder = Path(shutil.copytree(world / "before", tmp_path / "built"))
    out, rated = tmp_path / "out", world / "rated"
    arguments = [str(folder), str(out), str(rated), place, when]
    root = Path(__file__).resolve().parents[2]
    search = os.pathsep.join([str(root / "src"), str(root)])
    done = subprocess.run(
        [sys.executable, "-m", "tests.construction.kill_freeze", *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": search},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -9, done.stderr
    assert out.exists() == there
    if there:
        assert validate(out, draws=20).meta["corpus"]["version"] == "1.0"
        assert freeze(folder, tmp_path / "next", rated, version="1.1", change="more").done
        assert [one.version for one in releases(read_history(folder))] == ["1.0", "1.1"]
        return
    assert freeze(folder, out, rated, version="1.0").done
    assert validate(out, draws=20).meta["corpus"]["version"] == "1.0"
    assert [one.version for one in releases(read_history(folder))] == ["1.0"]
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_release_names_the_version_and_what_was_allowed(world: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(world / "before", tmp_path / "built"))
    bare = ratings(tmp_path / "bare", side=False)
    allowed = {"recognition": "placement was *not* asked"}
    compare(folder, [0, 1, 0, -1, 1, 0])
    frozen = freeze(folder, tmp_path / "corpus", bare, version="1.0", allowed=allowed)
    assert "equivalence.open" in [note.key for note in frozen.notes]
    export("csv", tmp_path / "corpus", tmp_path / "release")
    told = tomllib.loads((tmp_path / "release" / "corpus.toml").read_text("utf-8"))
    assert (told["origin"]["version"], told["origin"]["digest"]) == ("1.0", frozen.digest)
    assert told["allowed"] == [{"check": "recognition", "reason": "placement was *not* asked"}]
    sheets = [path.read_text("utf-8") for path in (tmp_path / "release").rglob("*.md")]
    (row,) = told["equivalence"]["compared"]
    assert (row["question"], row["finding"], row["raters"], row["low"] < 0 < row["high"]) == ("q1", "open", 6, True)
    assert any("not shown whether the words of the scale mean the same" in sheet for sheet in sheets)
    assert any("placement was \\*not\\* asked" in sheet and frozen.digest[:12] in sheet for sheet in sheets)
    take_in("csv", [tmp_path / "release"], tmp_path / "again")
    again = tomllib.loads((tmp_path / "again" / "corpus.toml").read_text("utf-8"))
    assert (again["origin"], again["equivalence"]) == (told["origin"], told["equivalence"])
    meta = validate(tmp_path / "again", draws=20).meta
    assert (meta["corpus"]["version"], meta["corpus"]["frozen"]) == ("1.0", frozen.digest)
    assert "freeze.file.allowed" in [note["key"] for note in meta["notes"]]


def _judgments_of_a_release_name_their_version(world: Path, tmp_path: Path) -> None:
    for form, judged in (("parquet", "release/judgments"), ("csv", "again/judgments"), ("hf", "hub/data/judgments")):
        if form == "hf":
            export("hf", world / "v2", tmp_path / "hub", ReleaseOptions(judgments=world / "run-v2"))
        told = made_on(tmp_path / judged)
        assert told["shown"] == made_on(world / "run-v2")["shown"]
        with pytest.raises(InputError) as caught:
            audit(world / "v1", tmp_path / judged, **QUICK)
        assert caught.value.key == "freeze.judged.other"
    with pytest.raises(InputError):
        export("csv", world / "v1", tmp_path / "mixed", ReleaseOptions(judgments=tmp_path / "again" / "judgments"))
    assert "about this version" in (tmp_path / "again" / "README.md").read_text("utf-8")


def test_a_release_is_audited_with_its_own_judgments_alone(world: Path, tmp_path: Path) -> None:
    export("parquet", world / "v2", tmp_path / "release", ReleaseOptions(judgments=world / "run-v2"))
    take_in("parquet", [tmp_path / "release"], tmp_path / "again")
    for folder in (tmp_path / "release", tmp_path / "again"):
        assert audit(folder, world / "run-v2", **QUICK).meta["judges"]
        with pytest.raises(InputError) as caught:
            audit(folder, world / "run-v1", **QUICK)
        assert caught.value.key == "freeze.judged.other"
    with pytest.raises(InputError) as caught:
        export("csv", world / "v2", tmp_path / "mixed", ReleaseOptions(judgments=world / "run-v1"))
    assert caught.value.key == "freeze.judged.other"
    _judgments_of_a_release_name_their_version(world, tmp_path)
    (tmp_path / "again" / "images" / "teapot-us.png").unlink()
    with pytest.raises(InputError) as caught:
        validate(tmp_path / "again", draws=20)
    assert caught.value.key == "freeze.file.missing"


def _killed_at_the_end(folder: Path) -> None:
    """The history as it is when the process is killed before it writes that the corpus is in its place."""
    lines = (folder / "history.jsonl").read_text("utf-8").splitlines(keepends=True)
    assert '"done"' in lines[-1]
    (folder / "history.jsonl").write_text("".join(lines[:-1]), encoding="utf-8")


def test_a_version_that_was_moved_away_after_a_kill_is_taken(world: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(world / "before", tmp_path / "built"))
    assert freeze(folder, tmp_path / "out", world / "rated", version="1.0").done
    _killed_at_the_end(folder)
    (tmp_path / "out").rename(tmp_path / "published")
    with pytest.raises(UsageError) as caught:
        freeze(folder, tmp_path / "out", world / "rated", version="1.0")
    assert caught.value.key == "freeze.version.not_higher"
    assert [one.version for one in releases(read_history(folder))] == ["1.0"]


def test_a_freeze_that_was_killed_before_its_folder_was_moved_took_no_version(world: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(world / "before", tmp_path / "built"))
    release = Release("1.0", "x", out=str(tmp_path / "out"))
    with open_history(folder) as book:
        book.append(release.event("begun"))
        beside(tmp_path / "out", folder).mkdir()
        assert settle(book) == ()
        assert releases(book.history) == ()
        beside(tmp_path / "out", folder).rmdir()
        book.append(release.event("begun"))
        assert [note.fields["version"] for note in settle(book)] == ["1.0"]
    assert [one.version for one in releases(read_history(folder))] == ["1.0"]
