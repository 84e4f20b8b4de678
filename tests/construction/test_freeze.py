"""From a folder that lacks nothing to a frozen corpus; every check refuses by itself; versions."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.construction import image_world
from tests.construction.building import make
from tests.construction.freeze_world import built, compare, freeze, ratings, screened
from tests.construction.mock_images import serving

from voirdire.analysis.profile import Profile
from voirdire.app.build_split import build_split
from voirdire.app.validate import validate
from voirdire.cli.main import run
from voirdire.construction.authoring import move
from voirdire.construction.build_file import read_build_file
from voirdire.construction.concepts import read_concepts, rewrite
from voirdire.construction.freezing.failures import check_allowed
from voirdire.construction.freezing.folder import only_freeze
from voirdire.construction.freezing.inspecting import inspect
from voirdire.construction.freezing.versions import Release, changelog, check_version, order, releases
from voirdire.construction.history import open_history, read_history
from voirdire.construction.same_answers import marks_of
from voirdire.corpus.frozen import file_digest
from voirdire.errors import InputError, UsageError
from voirdire.judging.material import read_material

REASON = "placement was not asked <b>in this round</b>"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("freeze")
    built(place / "built")
    ratings(place / "rated")
    return place


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "built", tmp_path / "built"))


@pytest.fixture(scope="module")
def corpus(made: Path) -> Path:
    """A frozen corpus, to look at."""
    folder = Path(shutil.copytree(made / "built", made / "first"))
    assert freeze(folder, made / "corpus", made / "rated", version="1.0").done
    return made / "corpus"


def test_a_frozen_corpus_has_all_its_parts(corpus: Path) -> None:
    told = tomllib.loads((corpus / "corpus.toml").read_text("utf-8"))
    assert (told["name"], told["version"], told["licence"], told["simulated"]) == ("small", "1.0", "CC-BY-4.0", True)
    files = {path.relative_to(corpus).as_posix() for path in corpus.rglob("*") if path.is_file()}
    assert set(told["digests"]) == files - {"corpus.toml"}
    assert {name: file_digest(corpus / name) for name in told["digests"]} == told["digests"]
    assert told["validity"]["divergent"] == {"us+cn": "yes"}
    assert set(told["validity"]["gate"]) == {"us", "cn"}
    assert "allowed" not in told
    assert told["equivalence"] == {"checked": False}
    assert "equivalence.unchecked" in [note["key"] for note in Profile.load(corpus / "validity").meta["notes"]]
    assert "It was not checked whether the words of the rating scales" in (corpus / "report.html").read_text("utf-8")
    material = read_material(corpus)
    assert (len(material.items), material.languages, material.digest) == (36, ("en", "zh"), told["frozen"]["material"])
    assert material.frozen is not None
    assert material.frozen.shown == told["frozen"]["shown"]
    assert "1.0" in (corpus / "CHANGELOG.md").read_text("utf-8")
    assert Profile.load(corpus / "validity").meta["corpus"] == {"name": "small", "version": "1.0"}
    assert not (corpus / "validity" / "compared").exists()
    assert "Small things" not in (corpus / "report.html").read_text("utf-8")


def test_what_is_read_again_names_version_and_digest(corpus: Path, made: Path) -> None:
    profile = validate(corpus, draws=50)
    told = tomllib.loads((corpus / "corpus.toml").read_text("utf-8"))
    assert profile.meta["corpus"]["frozen"] == told["frozen"]["digest"]
    assert profile.meta["corpus"]["version"] == "1.0"
    assert profile.meta["notes"][0]["key"] == "freeze.file.version"
    again = Profile.load(corpus / "validity")
    value = profile.get("reliability", question="q1", pool="us").value
    assert again.get("reliability", question="q1", pool="us").value == value
    (event,) = releases(read_history(made / "first"))
    assert (event.version, event.digest) == ("1.0", told["frozen"]["digest"])


def test_the_ratings_are_those_that_were_given(corpus: Path, made: Path) -> None:
    columns = ["item_id", "rater_id", "pool", "question", "rating"]
    here, given_ = (
        pl.read_csv(place / "ratings.csv").select(columns).sort(columns) for place in (corpus, made / "rated")
    )
    assert here.equals(given_)
    questions = pl.read_csv(corpus / "questions.csv")
    assert questions.filter(pl.col("question") == "q1").select("min", "max").row(0) == (1, 5)


def _unaccepted(folder: Path) -> None:
    author = next(one for one in read_history(folder).events if one["concept"] == "teapot" and one["by"])
    concepts = read_concepts(folder)
    rows = {item.row: {"realisation": "anew"} for item in concepts.items if item.id == "teapot-us"}
    rewrite(folder, concepts, rows)
    move(folder, "revise", "teapot", author["by"], note="one more look")


def _changed(folder: Path) -> None:
    concepts = read_concepts(folder)
    rewrite(folder, concepts, {item.row: {"realisation": "another"} for item in concepts.items[:1]})


def _image_gone(folder: Path) -> None:
    (folder / "images" / "photographs" / "teapot-us.png").unlink()


def _image_swapped(folder: Path) -> None:
    place = folder / "images" / "photographs"
    shutil.copy(place / "harbour-us.png", place / "teapot-us.png")


def _text_changed(folder: Path) -> None:
    concepts = read_concepts(folder)
    rows = {item.row: {"alt.zh": "另一句话"} for item in concepts.items if item.id == "teapot-us"}
    rewrite(folder, concepts, rows)


def _shifted(folder: Path) -> None:
    compare(folder, [1, 1, 2, 1, 1, 2, 1])


def _undecided(folder: Path) -> None:
    screened(folder, ("teapot",), "undecided")


def _dropped(folder: Path) -> None:
    screened(folder, ("teapot",), "drop")


def _unsplit(folder: Path) -> None:
    concepts = read_concepts(folder)
    rewrite(folder, concepts, {item.row: {"split": ""} for item in concepts.items if item.concept == "teapot"})


def _split_apart(folder: Path) -> None:
    concepts = read_concepts(folder)
    rewrite(folder, concepts, {item.row: {"split": "pilot"} for item in concepts.items if item.id == "teapot-us"})


def _rejected_in_the_table(folder: Path) -> None:
    concepts = read_concepts(folder)
    rewrite(folder, concepts, {item.row: {"split": "rejected"} for item in concepts.items if item.concept == "teapot"})


def _no_category(folder: Path) -> None:
    concepts = read_concepts(folder)
    rewrite(folder, concepts, {item.row: {"category": "other"} for item in concepts.items if item.id == "teapot-us"})


BROKEN: list[tuple[Callable[[Path], None], str, str]] = [
    (_unaccepted, "authoring", "freeze.reason.not_accepted"),
    (_changed, "authoring", "build.finding.changed_since"),
    (_image_gone, "images", "build_images.problem.missing"),
    (_image_swapped, "images", "build_images.problem.changed"),
    (_text_changed, "texts", "freeze.reason.unverified"),
    (_shifted, "equivalence", "freeze.reason.shifted"),
    (_undecided, "screening", "freeze.reason.undecided"),
    (_dropped, "screening", "freeze.reason.dropped"),
    (_unsplit, "splits", "freeze.reason.unsplit"),
    (_split_apart, "splits", "build.finding.split_differs"),
    (_rejected_in_the_table, "splits", "freezing.reason.contradicted"),
    (_no_category, "concepts", "build.finding.category_differs"),
]


@pytest.mark.parametrize(("damage", "check", "key"), BROKEN, ids=[one[0].__name__ for one in BROKEN])
def test_every_check_refuses(folder: Path, made: Path, damage: Callable[[Path], None], check: str, key: str) -> None:
    damage(folder)
    before = read_history(folder).events
    found = freeze(folder, folder.parent / "out", made / "rated")
    assert not found.done
    assert (check, key) in [(one.check, one.key) for one in found.failures]
    for one in found.failures:
        assert one.message("en") != one.message("zh")
    assert sorted(path.name for path in folder.parent.iterdir()) == ["built"]
    assert read_history(folder).events == before


def test_all_reasons_are_told_together(folder: Path, made: Path) -> None:
    for damage in (_undecided, _unsplit, _image_gone, _text_changed):
        damage(folder)
    rated = ratings(folder.parent / "same", gap=False)
    table = pl.read_csv(rated / "ratings.csv")
    told = table.with_columns(pl.col("rater_id").replace({"us-1": "Ana"}))
    told.write_csv(rated / "ratings.csv")
    found = freeze(folder, folder.parent / "out", rated)
    wanted = {"images", "texts", "screening", "splits", "team", "divergence", "authoring"}
    assert {one.check for one in found.failures} == wanted


def test_who_rates_is_looked_for_in_the_tables_as_they_are_read(folder: Path, tmp_path: Path) -> None:
    """Also where the raters table lacks them, and where the column of raters has another name."""
    rated = ratings(tmp_path / "rated")
    table = pl.read_csv(rated / "ratings.csv").with_columns(pl.col("rater_id").replace({"us-1": "Ana"}))
    table.rename({"rater_id": "wer"}).write_csv(rated / "ratings.csv")
    others = table.filter(pl.col("rater_id") != "Ana").select("rater_id").unique()
    others.with_columns(age=30).rename({"rater_id": "wer"}).write_csv(rated / "raters.csv")
    found = freeze(folder, tmp_path / "out", rated, tables={"mapping": {"rater_id": "wer"}})
    assert [(one.check, one.fields["value"], one.fields["column"]) for one in found.failures] == [
        ("team", "Ana", "rater_id")
    ]


def test_a_threshold_that_was_lowered_needs_a_reason(folder: Path, made: Path, tmp_path: Path) -> None:
    """It is written down in any case; one that is higher is nobody's business."""
    low = {"analysis": {"draws": 50, "gate_reliability": 0.05}}
    found = freeze(folder, tmp_path / "out", made / "rated", **low)
    assert [(one.check, one.key, one.fields["value"]) for one in found.failures] == [
        ("reliability", "freezing.reason.loosened", "0.05")
    ]
    assert freeze(folder, tmp_path / "out", made / "rated", allowed={"reliability": "a trial"}, **low).done
    told = tomllib.loads((tmp_path / "out" / "corpus.toml").read_text("utf-8"))
    assert (told["validity"]["threshold"], told["allowed"][0]["reason"]) == (0.05, "a trial")


def test_demonstrations_are_told_by_the_ratings_that_are_frozen(folder: Path, made: Path, tmp_path: Path) -> None:
    """Which levels they cover; a corpus without any may be frozen, and says so."""
    none = freeze(folder, tmp_path / "v1", made / "rated")
    assert "freezing.note.no_demonstrations" in [note.key for note in none.notes]
    build_split(folder, demonstration=1, again=True)
    some = freeze(folder, tmp_path / "v2", made / "rated", version="2", change="One is shown.")
    (note,) = (note for note in some.notes if note.key == "freezing.note.lacking")
    told = tomllib.loads((tmp_path / "v2" / "corpus.toml").read_text("utf-8"))["construction"]
    assert (told["demonstrations"], len(told["demonstrations_lacking"])) == (1, note.fields["count"])
    assert 16 <= note.fields["count"] < 20
    assert "lack a demonstration" in (tmp_path / "v2" / "report.html").read_text("utf-8")
    shown = build_split(folder, ratings=made / "rated", again=True, dry_run=True).split
    assert {(one.pool, one.culture, one.level) for one in shown.coverage if one.available == 0} <= {
        (one["pool"], one["culture"], one["level"]) for one in told["demonstrations_lacking"]
    }


def test_a_single_pool_and_means_alone_are_refused(folder: Path, made: Path) -> None:
    table = pl.read_csv(made / "rated" / "ratings.csv")
    questions = {"questions": made / "rated" / "questions.csv"}
    one = freeze(folder, folder.parent / "out", table.filter(pl.col("pool") == "us"), tables=questions)
    assert ("divergence", "freeze.reason.one_pool") in [(fail.check, fail.key) for fail in one.failures]
    few = table.filter(pl.col("rater_id").str.ends_with("-1"))
    lone = freeze(folder, folder.parent / "out", few, tables=questions)
    keys = {fail.key for fail in lone.failures}
    assert {"freeze.reason.gate_unknown", "freeze.reason.divergence_unknown"} <= keys


def test_what_was_allowed_stands_everywhere(folder: Path, tmp_path: Path) -> None:
    """The ratings are those by which the pairs were screened, too, and that is told."""
    rated = ratings(tmp_path / "bare", side=False)
    table = pl.read_csv(rated / "ratings.csv").with_columns(value=pl.col("rating").cast(float))
    with open_history(folder) as book:
        marks = marks_of(table, "q1", read_concepts(folder).items)
        book.append({"kind": "screened", "pairs": {}, "question": "q1", "answers": marks})
    assert {one.check for one in freeze(folder, tmp_path / "out", rated).failures} == {"recognition"}
    allowed = {"recognition": REASON, "team": "not needed"}
    found = freeze(folder, tmp_path / "out", rated, allowed=allowed)
    assert (found.done, found.allowed, found.unused) == (True, (("recognition", REASON),), ("team",))
    told = tomllib.loads((tmp_path / "out" / "corpus.toml").read_text("utf-8"))
    assert told["allowed"] == [{"check": "recognition", "reason": REASON}]
    assert told["screening"]["same_ratings"] == 18
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert page.count("placement was not asked &lt;b&gt;in this round") == 2
    assert page.index("placement was not asked") < page.index("The pools")
    assert "<b>in this round" not in page
    assert "the answers of the pilot by which they were screened (18)" in page
    notes = [note["key"] for note in validate(tmp_path / "out", draws=50).meta["notes"]]
    assert "freeze.file.allowed" in notes
    assert "placement was not asked" in (tmp_path / "out" / "CHANGELOG.md").read_text("utf-8")


def test_rejected_concepts_stay_behind(folder: Path, made: Path) -> None:
    before = next(one for one in read_history(folder).events if one["concept"] == "teapot" and one["by"])
    move(folder, "reject", "teapot", before["by"], reason="duplicate", note="as harbour")
    found = freeze(folder, folder.parent / "out", made / "rated")
    assert (found.done, found.counts["items"], found.counts["ratings"]) == (True, 34, 34 * 10 * 4)
    assert [note.fields["count"] for note in found.notes if note.key == "freeze.note.left_out"] == [80]
    out = folder.parent / "out"
    assert not list(out.glob("images/teapot*"))
    assert pl.read_csv(out / "items.csv").filter(pl.col("pair_id") == "teapot").is_empty()
    told = tomllib.loads((out / "corpus.toml").read_text("utf-8"))
    assert told["construction"] == {"concepts": 17, "demonstrations": 0, "rejected": 1}


def test_ratings_of_other_items_are_an_error(folder: Path, made: Path) -> None:
    table = pl.read_csv(made / "rated" / "ratings.csv").with_columns(item_id=pl.lit("ferry-us"))
    with pytest.raises(InputError, match="ferry-us"):
        freeze(folder, folder.parent / "out", table)
    assert not (folder.parent / "out").exists()


def test_a_change_is_a_higher_version_with_a_changelog(folder: Path, made: Path) -> None:
    out, rated = folder.parent, made / "rated"
    assert freeze(folder, out / "v1", rated, version="1.0").done
    with pytest.raises(UsageError, match="not empty"):
        freeze(folder, out / "v1", rated, version="1.1", change="more")
    with pytest.raises(UsageError, match="not higher"):
        freeze(folder, out / "v2", rated, version="1.0", change="more")
    with pytest.raises(UsageError, match="Say what changed"):
        freeze(folder, out / "v2", rated, version="1.1")
    build_split(folder, demonstration=2, again=True)
    assert freeze(folder, out / "v2", rated, version="1.1", change="Two concepts *kept* back").done
    log = (out / "v2" / "CHANGELOG.md").read_text("utf-8")
    assert log.index("## 1.1") < log.index("Two concepts \\*kept\\* back") < log.index("## 1.0")
    assert "Changed: items.csv." in log
    first, second = (tomllib.loads((out / name / "corpus.toml").read_text("utf-8")) for name in ("v1", "v2"))
    assert first["frozen"]["shown"] != second["frozen"]["shown"]
    assert [one.version for one in releases(read_history(folder))] == ["1.0", "1.1"]


def test_the_command(folder: Path, made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ratings of an item of another study stand in the table, and are left out."""
    _unsplit(folder)
    rated = shutil.copytree(made / "rated", folder.parent / "rated")
    table = pl.read_csv(rated / "ratings.csv", infer_schema=False)
    pl.concat([table, table.head(1).with_columns(item_id=pl.lit("ferry-us"))]).write_csv(rated / "ratings.csv")
    base = ["build", "freeze", str(folder), "--ratings", str(rated), "--out", str(folder.parent / "out")]
    base += ["--regime", "photographs", "--draws", "100", "--version", "2.0"]
    assert run(base) == 3
    assert "--unknown-items exclude" in (said := capsys.readouterr().err)
    assert "has no" not in said
    base += ["--unknown-items", "exclude"]
    assert run(base) == 3
    assert "splits: Concepts without a split (1): teapot." in capsys.readouterr().out
    assert run([*base, "--json", "--lang", "zh"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert (told["ok"], told["digest"], [one["check"] for one in told["failures"]]) == (False, None, ["splits"])
    assert "teapot" in told["failures"][0]["message"]
    assert run([*base, "--allow", "splits"]) == 3
    assert run([*base, "--allow", "images=never mind"]) == 3
    capsys.readouterr()
    assert run([*base, "--allow", "splits=it is kept for later", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["ok"], told["version"], told["counts"]["items"]) == (True, "2.0", 36)
    assert told["allowed"] == [{"check": "splits", "reason": "it is kept for later"}]
    assert "ferry" not in (folder.parent / "out" / "ratings.csv").read_text("utf-8")


@pytest.mark.parametrize(
    ("allowed", "key"),
    [
        ({"everything": "why not"}, "freeze.allow.unknown"),
        ({"images": "none yet"}, "freeze.allow.never"),
        ({"texts": "  "}, "freeze.allow.reason"),
        ({"texts": "a\x1b[31mb"}, "freeze.allow.reason"),
    ],
)
def test_allowances_that_are_none(allowed: dict[str, str], key: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_allowed(allowed)
    assert caught.value.key == key


@given(st.lists(st.integers(0, 30), min_size=1, max_size=4), st.integers(0, 3))
def test_versions_grow_with_their_numbers(parts: list[int], place: int) -> None:
    at = place % len(parts)
    higher = [*parts[:at], parts[at] + 1, *(0 for _ in parts[at + 1 :])]
    one, other = (".".join(map(str, numbers)) for numbers in (parts, higher))
    assert order(one) < order(other)
    known = (Release(other, "x"),)
    with pytest.raises(UsageError):
        check_version(one, "more", known)
    check_version(other, "more", (Release(one, "x"),))


def test_a_changelog_is_no_place_for_marks() -> None:
    log = changelog("a [b](c)", (Release("1.0", "x", change="- <script>\n\n# big"),), "en")
    assert "<script>" not in log.replace("\\<script\\>", "")
    assert log.count("\n#") == 1


def test_a_damaged_history_event_is_no_release(tmp_path: Path) -> None:
    with open_history(tmp_path) as book:
        book.append({"kind": "freeze", "action": "done", "tables": 3, "counts": {"items": "x"}})
    assert releases(read_history(tmp_path))[0].tables == {}


def test_generated_images_are_those_of_the_template(tmp_path: Path) -> None:
    with serving() as (url, _):
        folder = image_world.corpus(tmp_path / "drawn", 2)
        image_world.make(folder, url)
        image_world.make(folder, url, provider="openai", model="gpt-image-1", regime="second")

    def looked(*regimes: str) -> list[str]:
        build = read_build_file(folder)
        found = inspect(folder, build, read_concepts(folder), read_history(folder), regimes)
        return [one.key for one in found.failures if one.check in ("images", "image_quality")]

    assert (looked("generated"), looked("second"), looked("third")) == ([], [], ["freeze.reason.no_image"])
    _changed(folder)
    assert looked("generated") == ["build_images.problem.stale"]


def test_without_concepts_there_is_nothing_to_freeze(made: Path, tmp_path: Path) -> None:
    found = freeze(make(tmp_path / "empty"), tmp_path / "out", made / "rated")
    assert "freeze.reason.no_items" in [one.key for one in found.failures]
    assert not found.done


def test_a_full_disk_leaves_nothing(folder: Path, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("voirdire.app.freeze_folder._write_report", full)
    with pytest.raises(UsageError) as caught:
        freeze(folder, folder.parent / "out", made / "rated")
    assert caught.value.key == "freeze.out.unwritable"
    assert [path.name for path in folder.parent.iterdir()] == ["built"]


def test_what_is_told_of_pools_must_be_of_pools(folder: Path, made: Path) -> None:
    file = folder / "build.toml"
    file.write_text(file.read_text("utf-8").replace('[[pool]]\nname = "us"', '[[pool]]\nname = "uk"'), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        freeze(folder, folder.parent / "out", made / "rated")
    assert (caught.value.key, caught.value.fields["file"]) == ("release.pool_unknown", str(file))


def test_a_second_freeze_waits_for_nobody(folder: Path, made: Path) -> None:
    with only_freeze(folder), pytest.raises(UsageError) as caught:
        freeze(folder, folder.parent / "out", made / "rated")
    assert caught.value.key == "freeze.out.locked"


def test_a_folder_that_changes_meanwhile_is_not_frozen(
    folder: Path, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from voirdire.app import build_freeze as module

    whole = module._evaluated

    def changing(*args: Any) -> Any:
        screened(folder, ("teapot",), "drop")
        return whole(*args)

    monkeypatch.setattr(module, "_evaluated", changing)
    with pytest.raises(UsageError) as caught:
        freeze(folder, folder.parent / "out", made / "rated")
    assert caught.value.key == "freeze.out.moved"
    assert not (folder.parent / "out").exists()
