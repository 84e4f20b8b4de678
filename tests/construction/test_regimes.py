"""A corpus of two regimes: ids, splits, checks, what counts for the pools, and the comparison of the audit."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import tomllib
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.construction.building import make, pairs, row
from tests.construction.freeze_world import WORDS, built, freeze, photographs, ratings

from voirdire.analysis.profile import Profile
from voirdire.annotation.material import check_pictures, read_shown
from voirdire.annotation.ordering import order
from voirdire.annotation.study_checks import check_items
from voirdire.annotation.study_template import proposed_study
from voirdire.app.audit import audit
from voirdire.app.build_images import build_images
from voirdire.app.build_items import build_items
from voirdire.app.build_screen import build_screen
from voirdire.app.build_split import build_split
from voirdire.app.exporting import export
from voirdire.app.importing import take_in
from voirdire.app.run import run as run_judges
from voirdire.app.validate import validate
from voirdire.cli.main import run
from voirdire.construction.build_file import read_build_file
from voirdire.construction.concepts import read_concepts, rewrite
from voirdire.construction.freezing.pictures import inspect_pictures
from voirdire.construction.imaging.logbook import Logged, current
from voirdire.construction.regimes import check_regimes, entries_of, further_ids
from voirdire.corpus.shown import Item
from voirdire.errors import InputError, UsageError
from voirdire.exchange.release import ReleaseOptions
from voirdire.judging.demonstrations import prove_disjoint
from voirdire.judging.material import read_material
from voirdire.judging.nouns import Condition

BOTH = ("photographs", "street")
SUBSET = WORDS[:7]
QUICK: Mapping[str, Any] = {"draws": 50, "decomposition_draws": 20}


def second(folder: Path, names: tuple[str, ...], seed: int = 1) -> None:
    photographs(folder, [f"{name}-{culture}" for name in names for culture in ("us", "cn")], seed, regime="street")


def rated_twice(place: Path, rated: Path) -> Path:
    """The ratings of both regimes: what is said of the second images lies near what was said of the first."""
    table, rng = pl.read_csv(rated / "ratings.csv", infer_schema_length=None), np.random.default_rng(5)
    again = table.filter(pl.col("item_id").str.split("-").list.first().is_in(SUBSET))
    moved = np.clip(again["rating"].to_numpy() + rng.integers(-1, 2, again.height), 1, 5)
    again = again.with_columns(item_id=pl.col("item_id") + ".street")
    again = again.with_columns(
        rating=pl.when(pl.col("question").is_in(["q1"])).then(pl.Series(moved)).otherwise(pl.col("rating"))
    )
    shutil.copytree(rated, place)
    pl.concat([table, again.select(table.columns)]).write_csv(place / "ratings.csv")
    return place


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both regimes, ratings of one and of both, and the corpora of one and of both."""
    place = tmp_path_factory.mktemp("regimes")
    folder = built(place / "built")
    second(folder, SUBSET)
    build_split(folder, demonstration=3, again=True)
    rated = ratings(place / "one")
    rated_twice(place / "both", rated)
    shutil.copytree(folder, place / "before")
    assert freeze(folder, place / "main", rated, version="1.0").done
    return place


@pytest.fixture(scope="module")
def corpus(world: Path) -> Path:
    """A corpus of both, frozen by the command."""
    said = ["build", "freeze", str(world / "built"), "--ratings", str(world / "both"), "--out", str(world / "two")]
    said += ["--regime", "photographs", "--regime", "street", "--version", "1.1", "--change", "Streets", "--json"]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert run([*said, "--draws", "100"]) == 0
    told = json.loads(out.getvalue())
    assert (told["counts"]["items"], told["validity"]["regime"]) == (50, "photographs")
    (note,) = [note for note in told["notes"] if "alone" in note]
    assert "images of street" in note
    assert "items: 14, ratings: 560" in note
    return world / "two"


def test_the_items_of_both_regimes(world: Path, corpus: Path) -> None:
    items = pl.read_csv(corpus / "items.csv")
    assert items.height == 36 + 14
    more = items.filter(pl.col("regime") == "street")
    assert items.filter(pl.col("regime") == "photographs").height == 36
    assert more["item_id"].to_list() == [f"{item}.street" for item in more["counterpart"]]
    main = items.filter(pl.col("counterpart").is_null())
    shared = ["pair_id", "culture", "category", "split", "prompt.en", "prompt.zh"]
    joined = more.join(main, left_on="counterpart", right_on="item_id", suffix="_main")
    assert joined.select(shared).equals(joined.select(pl.col(f"{name}_main").alias(name) for name in shared))
    assert more["alt.en"].null_count() == more.height
    assert main["alt.en"].null_count() == 0
    for item, image in more.select("counterpart", "image").iter_rows():
        original = world / "built" / "images" / "street" / f"{item}.png"
        assert (corpus / image).read_bytes() == original.read_bytes()
    told = tomllib.loads((corpus / "corpus.toml").read_text("utf-8"))
    assert told["construction"]["regimes"] == list(BOTH)


def test_one_regime_is_frozen_as_ever(world: Path) -> None:
    items = pl.read_csv(world / "main" / "items.csv")
    assert not {"regime", "counterpart"} & set(items.columns)
    told = tomllib.loads((world / "main" / "corpus.toml").read_text("utf-8"))
    assert "regimes" not in told["construction"]
    assert "regime" not in told["validity"]


def test_the_pools_are_checked_by_the_main_regime_alone(world: Path, corpus: Path) -> None:
    manifests = [tomllib.loads((place / "corpus.toml").read_text("utf-8")) for place in (world / "main", corpus)]
    assert manifests[1]["validity"] == {**manifests[0]["validity"], "regime": "photographs"}
    one, two = (Profile.load(place / "validity").estimates for place in (world / "main", corpus))
    same = ["statistic", "question", "pool", "pool_b", "slice", "params", "value", "low", "high", "n", "label"]
    one, two = (frame.select(same).filter(pl.col("slice") == "all") for frame in (one, two))
    assert one.equals(two)
    assert "counts the images of the regime" in (corpus / "report.html").read_text("utf-8")


def test_who_counts_both_is_warned_and_compares_recognition_once_a_concept(world: Path, corpus: Path) -> None:
    together = validate(corpus, draws=20)
    (note,) = [note for note in together.meta["notes"] if note["key"] == "regimes.note.together"]
    tested = pl.read_csv(corpus / "items.csv").filter((pl.col("split") == "test") & (pl.col("regime") == "street"))
    assert note["fields"] == {"count": tested.height, "rule": "counterpart != ''"}
    place = {"statistic": "recognizability_test.p", "question": "q4", "params": "pairing=concept"}
    alone = Profile.load(world / "main" / "validity").estimates.filter(**place)["n"].to_list()
    assert together.estimates.filter(**place)["n"].to_list() == alone != []
    again = validate(corpus, draws=20, exclude_items=(note["fields"]["rule"],))
    assert "regimes.note.together" not in [note["key"] for note in again.meta["notes"]]


def test_the_ratings_of_both_are_kept(world: Path, corpus: Path) -> None:
    columns = ["item_id", "rater_id", "question", "rating"]
    tables = (pl.read_csv(place / "ratings.csv").select(columns).sort(columns) for place in (corpus, world / "both"))
    first, second = tables
    assert first.equals(second)


def test_judges_and_the_audit_compare_the_regimes(corpus: Path, tmp_path: Path) -> None:
    run_judges(corpus, ["control/random", "control/copy_us"], out=tmp_path / "run")
    profile = audit(corpus, tmp_path / "run", regime="regime", **QUICK)
    rows = profile.estimates.filter((pl.col("question") == "q1") & (pl.col("slice") == "all"))
    items = pl.read_csv(corpus / "items.csv").filter(pl.col("split") == "test")
    matched = items.filter(pl.col("counterpart").is_in(items["item_id"].implode()))
    assert 0 < matched.height < 14
    means = pl.read_csv(corpus / "ratings.csv").filter(pl.col("question") == "q1")
    means = means.group_by("item_id", "pool").agg(pl.col("rating").mean())

    def consensus(pool: str, names: list[str]) -> np.ndarray:
        own = dict(means.filter(pl.col("pool") == pool).select("item_id", "rating").iter_rows())
        return np.array([own[name] for name in names])

    gaps = {}
    for regime, column in (("photographs", "counterpart"), ("street", "item_id")):
        us, cn = (consensus(pool, matched[column].to_list()) for pool in ("us", "cn"))
        (found,) = rows.filter(statistic="regime_comparison.pearson", params=f"regime={regime}")["value"]
        assert found == pytest.approx(np.corrcoef(us, cn)[0, 1], abs=1e-9)
        gaps[regime] = us - cn
    (row_,) = rows.filter(statistic="regime_comparison.gap_correlation").select("value", "n").rows()
    assert row_[0] == pytest.approx(np.corrcoef(*gaps.values())[0, 1], abs=1e-9)
    assert row_[1] == matched.height
    (tilt,) = rows.filter(statistic="regime_comparison.tilt", judge="control/copy_us", params="regime=street")[
        "value"
    ].unique()
    assert tilt == pytest.approx(1.0)


def test_demonstrations_are_of_other_concepts(corpus: Path) -> None:
    material = read_material(corpus)
    prove_disjoint(material)
    assert any(item.id.endswith(".street") for item in material.items)
    assert not {item.pair for item in material.items} & {item.pair for item in material.held_out}


@pytest.mark.parametrize("form", ["hf", "csv"])
def test_a_release_keeps_the_regimes(corpus: Path, tmp_path: Path, form: str) -> None:
    export(form, corpus, tmp_path / "release")
    take_in(form, [tmp_path / "release"], tmp_path / "again")
    items, kept = (pl.read_csv(place / "items.csv").sort("item_id") for place in (tmp_path / "again", corpus))
    assert items.drop("image").equals(kept.select(items.drop("image").columns))
    assert {"regime", "counterpart"} <= set(items.columns)
    for mine, theirs in zip(items["image"], kept["image"], strict=True):
        assert (tmp_path / "again" / mine).read_bytes() == (corpus / theirs).read_bytes()


def test_what_raters_are_shown(world: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(world / "before", tmp_path / "built"))
    made = build_items(folder, regime=BOTH)
    assert (made.items, made.further, made.lacking) == (50, {"street": 14}, ())
    shown = read_shown(made.file)
    check_pictures(shown)
    assert shown.image("teapot-us.street") == (folder / "images" / "street" / "teapot-us.png").resolve()
    pairs_, rng = shown.pairs, np.random.default_rng(0)
    four = [name for name in shown.items if pairs_[name] in SUBSET[:3]]
    for names in (list(shown.items), four):
        ordered = order(names, pairs_, rng).items
        assert len(ordered) == len(names)
        assert all(pairs_[one] != pairs_[other] for one, other in pairwise(ordered))
    assert len(order(four[:2] + [name for name in four if name.startswith("porridge")], pairs_, rng).left_out) > 0


@pytest.fixture(scope="module")
def steps(world: Path) -> list[tuple[Any, ...]]:
    """What splits and screening say with the ratings of one regime, and with those of both."""
    found = []
    for name in ("one", "both"):
        folder = Path(shutil.copytree(world / "before", world / f"step-{name}"))
        split = build_split(folder, ratings=world / name, again=True, demonstration=2)
        screened = build_screen(folder, ratings=world / name)
        found.append((split.split, screened.screening.table().drop("signature"), split.notes, screened.notes))
    return found


def test_splits_and_screening_are_by_the_main_regime(steps: list[tuple[Any, ...]]) -> None:
    (split, table, *_), (again, other, *notes) = steps
    assert split == again
    assert table.equals(other)
    for told in notes:
        counts = {note.key: note.fields["count"] for note in told if note.key.startswith(("regimes", "build.split"))}
        assert set(counts) == {"regimes.note.further"}
        assert counts["regimes.note.further"] == 14 * 10 * 4


def test_ratings_of_a_regime_that_is_not_frozen_are_left_out(world: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(world / "before", tmp_path / "built"))
    made = freeze(folder, tmp_path / "out", world / "both")
    assert (made.done, made.counts["ratings"]) == (True, 36 * 10 * 4)
    assert [(note.key, note.fields["count"]) for note in made.notes if note.key.startswith("regimes")] == [
        ("regimes.note.not_frozen", 14 * 10 * 4)
    ]
    with pytest.raises(InputError, match=r"\.street"):
        freeze(folder, tmp_path / "x", world / "both", regime=("street", "photographs"), version="2", change="more")


def test_a_further_regime_has_whole_pairs(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(shutil.copytree(world / "before", tmp_path / "built"))
    source = tmp_path / "source"
    source.mkdir()
    for culture in ("us", "cn"):
        shutil.copy(folder / "images" / "photographs" / f"school-{culture}.png", source)
    build_images(folder, source=source, regime="street")

    def without(rows: Iterable[Logged], regime: str) -> dict[str, Logged]:
        kept = current(rows, regime)
        return {name: one for name, one in kept.items() if (regime, name) != ("street", "teapot-cn")}

    monkeypatch.setattr("voirdire.construction.freezing.pictures.current", without)
    items, build = read_concepts(folder).items, read_build_file(folder)
    found = inspect_pictures(folder, build, items, (*BOTH, "nowhere"))
    told = {(one.check, one.key): one.fields for one in found.failures}
    assert told["images", "regimes.reason.broken_pair"]["items"] == "teapot-cn"
    assert told["images", "regimes.reason.none"]["regime"] == "nowhere"
    assert told["image_quality", "regimes.reason.same_image"]["items"] == "school-cn, school-cn.street"
    assert len(found.failures) == 4
    for one in found.failures:
        assert one.message("en") != one.message("zh")


def test_names_that_cannot_be(tmp_path: Path) -> None:
    for regimes, key in (
        (("a", "A"), "regimes.twice"),
        (("generated", "text"), "regimes.text_alone"),
        (("../a",), "build_images.regime"),
        ((), "build_images.regime"),
    ):
        with pytest.raises(UsageError) as caught:
            check_regimes(regimes)
        assert caught.value.key == key
    folder = make(tmp_path / "c", [*pairs("tea"), row("tea", "us.street")])
    items = read_concepts(folder).items
    with pytest.raises(UsageError) as caught:
        entries_of(items, ("generated", "street"), {"street": {"tea-us"}})
    assert (caught.value.key, caught.value.fields["value"]) == ("regimes.collision", "tea-us.street")
    assert further_ids(folder, ["tea-us"]) == {}


def test_the_command_lists_what_is_further(world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(shutil.copytree(world / "before", tmp_path / "built"))
    said = ["build", "items", str(folder), "--regime", "photographs", "--regime"]
    assert run([*said, "street"]) == 0
    assert "Images of the regime 'street' besides, as items of their own: 14." in capsys.readouterr().out
    assert run([*said, "nowhere"]) == 3


def spoken(folder: Path) -> Path:
    """A folder like the others, whose images are gone: its realisations are what is rated."""
    shutil.rmtree(folder / "images")
    shutil.rmtree(folder / "image-run")
    return folder


def test_a_corpus_of_texts(world: Path, tmp_path: Path) -> None:
    folder = spoken(Path(shutil.copytree(world / "before", tmp_path / "built")))
    made = build_items(folder, regime="text")
    assert [note.key for note in made.notes] == ["regimes.note.text"]
    shown = read_shown(made.file)
    assert check_items(proposed_study(shown, ("us=en", "cn=zh")), shown) == ()
    assert shown.items["teapot-us"].texts == {"und": "teapot as it is known in us"}
    frozen = freeze(folder, tmp_path / "corpus", world / "one", regime="text")
    assert (frozen.done, frozen.counts["items"]) == (True, 36)
    items = pl.read_csv(tmp_path / "corpus" / "items.csv")
    assert not {"image", "alt.en", "regime", "counterpart"} & set(items.columns)
    assert not (tmp_path / "corpus" / "images").exists()
    told = tomllib.loads((tmp_path / "corpus" / "corpus.toml").read_text("utf-8"))
    assert told["construction"]["regimes"] == ["text"]
    asked = []

    def judge(item: Item, condition: Condition) -> int:
        asked.append((item.texts["und"], condition.language))
        return 3

    run_judges(tmp_path / "corpus", judge, grid="paper-baseline", out=tmp_path / "run")
    assert {language for _, language in asked} == {"en", "zh"}
    export("hf", tmp_path / "corpus", tmp_path / "release", ReleaseOptions(judgments=tmp_path / "run"))
    take_in("hf", [tmp_path / "release"], tmp_path / "again")
    assert pl.read_csv(tmp_path / "again" / "items.csv").sort("item_id").equals(items.sort("item_id"))
    assert (tmp_path / "again" / "judgments").is_dir()


def test_a_text_that_is_missing_or_no_name_for_images(world: Path, tmp_path: Path) -> None:
    folder = spoken(Path(shutil.copytree(world / "before", tmp_path / "built")))
    concepts = read_concepts(folder)
    rewrite(folder, concepts, {item.row: {"realisation": ""} for item in concepts.items if item.id == "teapot-us"})
    assert build_items(folder, regime="text").lacking == ("teapot-us",)
    found = freeze(folder, tmp_path / "out", world / "one", regime="text")
    assert "build.finding.realisation_missing" in [one.key for one in found.failures if one.check == "concepts"]
    assert {one.check for one in found.failures} & {"images", "image_quality"} == set()
    with pytest.raises(UsageError) as caught:
        build_images(folder, source=tmp_path, regime="text")
    assert caught.value.key == "regimes.text_reserved"
