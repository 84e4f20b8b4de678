"""From twelve pairs of concepts to a release and an audit, as a team does it; then killed at every step on the way."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

from tests.construction import mock_images, mock_translator, page_path, whole_path
from tests.construction.page_path import Desks, desks_of
from tests.construction.whole_path import CALL, EXPECTED, KINDS, PRICE, QUESTIONS, Crowd, printed, started, told
from tests.web import chromium

from voirdire.construction.concepts import read_concepts
from voirdire.construction.freezing.versions import releases
from voirdire.construction.history import read_history
from voirdire.corpus.frozen import file_digest

pytestmark = pytest.mark.slow

KEPT = [name for name, kind in KINDS.items() if kind == "good"]
SHOWN = [name for name, kind in KINDS.items() if kind != "withdrawn"]
TRANSLATED = len(SHOWN) + 2
"""A question for each concept that is not rejected, and the words at both ends of a scale."""
CORRECTED = {"q1/low_end/zh": "一点也不"}


@dataclass(frozen=True)
class Authored:
    """A folder whose concepts were written and reviewed; desks : the windows of the team, None without a browser."""

    folder: Path
    desks: Desks | None


@dataclass(frozen=True)
class Way:
    """A corpus whose whole way was gone, and what the servers of the models saw."""

    folder: Path
    corpus: Path
    pilot: Path
    ratings: Path
    verdicts: dict[str, str]
    verified: tuple[str, ...]
    drawn: Counter[str]
    asked: Counter[str]


@pytest.fixture(scope="module", autouse=True)
def _keys() -> object:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in whole_path.ENVIRONMENT.items():
            patch.setenv(name, value)
        for name in ("VOIRDIRE_LANG", "LC_ALL", "LC_MESSAGES", "LANG", "VOIRDIRE_DATABASE"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="module")
def authored(tmp_path_factory: pytest.TempPathFactory) -> Authored:
    """On the pages, in a browser; where there is none, by commands."""
    folder = tmp_path_factory.mktemp("authored") / "mine"
    whole_path.begun(folder)
    if chromium.missing():
        whole_path.by_commands(folder)
        return Authored(folder, None)
    with chromium.running_chromium() as browser, desks_of(folder, browser) as desks:
        page_path.authored(desks)
    return Authored(folder, desks)


@pytest.fixture(scope="module")
def way(authored: Authored, tmp_path_factory: pytest.TempPathFactory) -> Way:
    place = tmp_path_factory.mktemp("way")
    folder = Path(shutil.copytree(authored.folder, place / "mine"))
    with mock_images.serving() as (url, images):
        told(*whole_path.images(folder, url), "--budget", 22 * PRICE + 0.1)
        told(*whole_path.second_images(folder, url), "--budget", 30 * PRICE + 0.1)
    whole_path.study(folder)
    by_hand = whole_path.verified(folder, {})
    with mock_translator.serving() as (url, translator):
        told(*whole_path.translation(folder, url), "--back", "--budget", "10")
    verified = (*by_hand, *whole_path.verified(folder, CORRECTED))
    told("build", "items", folder)
    batch = whole_path.rated(folder, "pilot", ("test",), Crowd(6))
    pilot = whole_path.exported(folder, batch, place / "pilot")
    verdicts = whole_path.screened_and_split(folder, pilot)
    batch = whole_path.rated(folder, "rating", ("test", "demonstration"), Crowd(8, seed=1))
    ratings = whole_path.exported(folder, batch, place / "ratings")
    told("build", "split", folder, "--ratings", ratings, "--again")
    told(*whole_path.freeze(folder, ratings, place / "corpus"))
    drawn, asked = images.drawn, Counter(translator.sources())
    return Way(folder, place / "corpus", pilot, ratings, verdicts, verified, drawn, asked)


def test_three_people_took_turns(authored: Authored) -> None:
    status = told("build", "author", authored.folder)
    assert status["states"] == {"accepted": 11, "rejected": 1} | dict.fromkeys(
        set(status["states"]) - {"accepted", "rejected"}, 0
    )
    assert {name: (one["writes"], one["reviews"]) for name, one in status["people"].items()} == dict.fromkeys(
        whole_path.TEAM, (4, 4)
    )
    steps = [one.get("action") for one in told("build", "author", authored.folder, "history", "gift")["events"]]
    assert steps[-4:] == ["review", "write", "revise", "accept"]
    checked = told("build", "check", authored.folder)
    assert (checked["ok"], [one["level"] for one in checked["findings"]]) == (True, ["warning"])
    for concept, items in read_concepts(authored.folder).by_concept().items():
        assert tuple(item.realisation for item in items) == whole_path.SHOWN[concept]
        assert {item.prompts["en"] for item in items} == {whole_path.REVISED.get(concept, QUESTIONS[concept])}


def test_nothing_that_was_typed_is_lost_when_the_pages_program_is_killed(authored: Authored) -> None:
    """What was not saved stands in the form of whoever typed it; people stay signed in, an old lead's link does not."""
    if authored.desks is None:
        pytest.skip(f"{chromium.missing()}: the concepts were written by commands")
    assert set(authored.desks.kept) == set(whole_path.TEAM)
    assert all(typed == shown for typed, shown in authored.desks.kept.values())
    assert authored.desks.entered.endswith("/lead/enter")
    assert authored.desks.faults == []


def test_images_of_two_regimes(way: Way) -> None:
    drawn = sorted((way.folder / "images" / "generated").iterdir())
    again = sorted((way.folder / "images" / "second").iterdir())
    assert {path.stem for path in drawn} == {f"{name}-{culture}" for name in SHOWN for culture in ("us", "cn")}
    assert len(again) == 8
    assert Counter(path.stem.rpartition("-")[0] for path in again) == dict.fromkeys(
        {path.stem.rpartition("-")[0] for path in again}, 2
    )
    first = {path.stem: path.read_bytes() for path in drawn}
    assert all(path.read_bytes() != first[path.stem] for path in again)
    assert way.drawn.total() == 22 + 8


def test_texts_are_a_persons_before_they_are_released(way: Way) -> None:
    assert way.asked.total() == 2 * TRANSLATED  # once there, once back
    status = told("build", "verify", way.folder, "--status")["texts"]
    assert {one["state"] for one in status} == {"verified"}
    asked = tomllib.loads((way.folder / "annotation.toml").read_text("utf-8"))["questions"][0]
    assert asked["low_end"] == {"en": "Not at all", "zh": "一点也不"}
    assert asked["high_end"] == {"en": "Extremely", "zh": mock_translator.forward("Extremely")}
    items = pl.read_csv(way.corpus / "items.csv")
    assert items["prompt.zh"].null_count() == 0


def test_planted_failures_are_dropped_and_good_pairs_kept(way: Way) -> None:
    assert way.verdicts == {name: EXPECTED[KINDS[name]] for name in SHOWN}
    failed = pl.read_csv(way.folder / "screening.csv").filter(pl.col("finding") == "drop")
    modes = dict(failed.select("concept", "mode").unique().iter_rows())
    assert modes == {"distance": "factual", "sunset": "uncontested", "dragon": "stereotype"}


def test_the_frozen_corpus(way: Way) -> None:
    items = pl.read_csv(way.corpus / "items.csv")
    assert sorted(items["pair_id"].unique()) == sorted(KEPT)
    assert set(items["split"]) == {"test", "demonstration"}
    assert (items.group_by("pair_id").agg(pl.col("split").n_unique())["split"] == 1).all()
    second = items.filter(regime="second")
    drawn = {path.stem for path in (way.folder / "images" / "second").iterdir()}
    assert set(second["counterpart"]) == {name for name in drawn if name.rpartition("-")[0] in KEPT} != set()
    assert items.height == 16 + second.height
    assert pl.read_csv(way.corpus / "ratings.csv").height == items.height * 2 * 8 * 4
    frozen = tomllib.loads((way.corpus / "corpus.toml").read_text("utf-8"))
    assert (frozen["name"], frozen["version"], "allowed" in frozen) == ("small-things", "1.0", False)
    assert {name: file_digest(way.corpus / name) for name in frozen["digests"]} == frozen["digests"]
    assert [one.version for one in releases(read_history(way.folder))] == ["1.0"]
    printed("validate", way.corpus)


@pytest.mark.parametrize("form", ["csv", "parquet", "hf", "croissant"])
def test_a_release_comes_back(way: Way, form: str, tmp_path: Path) -> None:
    told("export", form, way.corpus, "--out", tmp_path / "release")
    told("import", form, tmp_path / "release", "--out", tmp_path / "again")
    items, kept = (pl.read_csv(folder / "items.csv").sort("item_id") for folder in (tmp_path / "again", way.corpus))
    assert items.drop("image").equals(kept.select(items.drop("image").columns))
    shown = items.select("item_id", "image").join(kept.select("item_id", "image"), on="item_id", suffix="_kept")
    for again, original in shown.select("image", "image_kept").iter_rows():
        assert (tmp_path / "again" / again).read_bytes() == (way.corpus / original).read_bytes()
    columns = ["item_id", "pool", "question", "rating"]
    ratings, original = (pl.read_csv(folder / "ratings.csv") for folder in (tmp_path / "again", way.corpus))
    assert ratings.select(columns).sort(columns).equals(original.select(columns).sort(columns))
    assert not set(ratings["rater_id"]) & set(original["rater_id"])
    contents = tomllib.loads((tmp_path / "again" / "corpus.toml").read_text("utf-8"))["contents"]
    assert set(contents) == {"items", "questions", "raters", "ratings"}
    assert contents == {name: file_digest(tmp_path / "again" / f"{name}.csv") for name in contents}


def test_judges_are_audited_on_it(way: Way, tmp_path: Path) -> None:
    judges = ("--judge", "control/random", "--judge", "control/copy_us")
    told("run", way.corpus, *judges, "--grid", "paper-baseline", "--out", tmp_path / "run")
    told("export", "hf", way.corpus, "--judgments", tmp_path / "run", "--out", tmp_path / "release")
    told("import", "hf", tmp_path / "release", "--out", tmp_path / "again")
    found = []
    for corpus, judged in ((way.corpus, tmp_path / "run"), (tmp_path / "again", tmp_path / "again" / "judgments")):
        out = tmp_path / f"audit-{len(found)}"
        matched = ("--regime", "regime", "--draws", "100", "--decomposition-draws", "20", "--out", out)
        printed("audit", "--ratings", corpus, "--judgments", judged, *matched)
        found.append(pl.read_csv(out / "estimates.csv", infer_schema_length=None))
    first, second = found
    copied = first.filter(statistic="mae", pool="us", slice="all", judge="control/copy_us", condition="*")
    assert copied["value"].to_list() == [0.0]
    compared = first.filter(statistic="regime_comparison.tilt", judge="control/copy_us", params="regime=second")
    assert compared["value"].unique().to_list() == [pytest.approx(1.0)]
    assert first["statistic"].to_list() == second["statistic"].to_list()
    both = first.select("statistic", "value", "label").with_columns(again=second["value"], told=second["label"])
    assert both["label"].equals(both["told"], null_equal=True)
    other = both.filter(
        ((pl.col("value") - pl.col("again")).abs() > 1e-9) | (pl.col("value").is_null() != pl.col("again").is_null())
    )
    assert set(other["statistic"]) <= {"gap_test.p", "gap_test.null_mean", "split_half"}  # drawn by lot over raters


def killed_at(place: str, when: str, *command: object) -> bool:
    """A process of the command ends as a function begins, or when it is done; whether it did."""
    words = [sys.executable, "-m", "tests.construction.kill_command", place, when, *map(str, command)]
    environment = {**os.environ, **whole_path.ENVIRONMENT}
    ended = subprocess.run(words, cwd=whole_path.ROOT, env=environment, capture_output=True, check=False)
    return ended.returncode == -signal.SIGKILL


def kill_randomly(
    command: tuple[object, ...], count: Callable[[], int], least: int, rng: np.random.Generator, wait: float = 0.1
) -> bool:
    """A process of the command is killed at a random moment after ``count`` reached ``least``; whether it worked."""
    return whole_path.killed_when(started(*command), lambda: count() >= least, float(rng.uniform(0, wait)))


def begun(folder: Path, since: int) -> int:
    """How many entries of a folder were made or written into since a time (nanoseconds)."""
    found = 0
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # taken away meanwhile
            found += path.stat().st_mtime_ns > since
    return found


def test_killed_on_the_whole_way(authored: Authored, way: Way, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(authored.folder, tmp_path / "mine"))
    rng = np.random.default_rng(20261130)
    draw_all(folder, rng)
    whole_path.study(folder)
    whole_path.verified(folder, {})
    translate_all(folder, rng)
    verify_all(folder)
    assert screen_and_split(folder, way) == way.verdicts
    corpus = freeze_whole(folder, way.ratings, tmp_path / "frozen" / "corpus", rng)
    drawn = {path.name: path.read_bytes() for path in (corpus / "images").rglob("*.png")}
    assert drawn == {path.name: path.read_bytes() for path in (way.corpus / "images").rglob("*.png")}
    release, again = tmp_path / "out" / "release", tmp_path / "back" / "again"
    whole_or_not(("export", "hf", corpus, "--out", release), release, rng)
    whole_or_not(("import", "hf", release, "--out", again), again, rng)
    assert pl.read_csv(again / "ratings.csv").height == pl.read_csv(way.corpus / "ratings.csv").height


def test_an_export_of_ratings_is_killed_and_made_again(way: Way, tmp_path: Path) -> None:
    out = tmp_path / "ratings"
    command = ("annotate", way.folder / "items.csv", "--export", out, "--batch", "3")
    assert killed_at("voirdire.annotation.export:write_files", "after", *command)
    assert not out.exists()
    told(*command)
    assert {path.name for path in tmp_path.iterdir()} == {out.name}
    names = [path.relative_to(out) for path in out.rglob("*.*") if path.name not in ("README.md", "corpus.toml")]
    assert names
    assert all((out / name).read_bytes() == (way.ratings / name).read_bytes() for name in names)


def verify_all(folder: Path) -> None:
    """Killed when the history says what was verified and the file does not yet: it is not verified, and done again."""
    name, words = next(iter(CORRECTED.items()))
    command = ("build", "verify", folder, name, "--by", "dai", "--text", words)
    assert killed_at("voirdire.construction.translation.verifying:write_texts", "before", *command)
    states = {one["text_id"]: one["state"] for one in told("build", "verify", folder, "--status")["texts"]}
    assert states[name] == "proposed"
    assert told(*command)["state"] == "verified"
    whole_path.verified(folder, {})
    states = {one["text_id"]: one["state"] for one in told("build", "verify", folder, "--status")["texts"]}
    assert set(states.values()) == {"verified"}


def screen_and_split(folder: Path, way: Way) -> dict[str, str]:
    """Each killed when the history has it and the table does not: nobody is asked twice, the tables are the same."""
    command = ("build", "screen", folder, "--ratings", way.pilot)
    assert killed_at("voirdire.app.build_screen:replace_table", "before", *command)
    assert not (folder / "screening.csv").exists()
    verdicts = whole_path.screened(folder, way.pilot)
    assert len(list(read_history(folder).of_kind("screened"))) == 1
    assert killed_at("voirdire.app.build_split:rewrite", "before", "build", "split", folder)
    assert not any(item.split for item in read_concepts(folder).items)
    told("build", "split", folder)
    told("build", "split", folder, "--ratings", way.ratings, "--again")
    splits, whole = ({item.id: item.split for item in read_concepts(one).items} for one in (folder, way.folder))
    assert splits == whole
    return verdicts


def draw_all(folder: Path, rng: np.random.Generator) -> None:
    """Images: killed, stopped by a budget, then drawn to the end; then those of another regime."""
    with mock_images.serving(mock_images.State(latency=0.1)) as (url, state):
        command = whole_path.images(folder, url)
        wanted = int(rng.integers(1, 9))
        assert kill_randomly((*command, "--budget", 22 * PRICE), state.drawn.total, wanted, rng)
        before = state.drawn.total()
        told(*command, "--budget", 15 * PRICE, code=4)
        assert before <= state.drawn.total() <= 15
        told(*command, "--budget", (22 + 2 + 2) * PRICE)
        assert len(state.drawn) == 22
        assert state.drawn.total() - 22 <= 2
        state.latency = 0.0
        told(*whole_path.second_images(folder, url), "--budget", (22 + 2 + 2 + 8) * PRICE)
    rows = map(json.loads, (folder / "images.jsonl").read_text("utf-8").splitlines())
    assert Counter(row["status"] for row in rows) == {"ok": 22 + 8}


def translate_all(folder: Path, rng: np.random.Generator) -> None:
    """Translations: a budget that is too small, a kill, then the rest."""
    with mock_translator.serving(mock_translator.State(latency=0.15)) as (url, state):
        command = whole_path.translation(folder, url)
        told(*command, "--budget", "2.4", code=4)
        few = len(state.prompts)
        assert 1 <= few < TRANSLATED
        assert few * CALL <= 2.4
        assert kill_randomly((*command, "--budget", "30"), state.ids.total, few + int(rng.integers(1, 4)), rng)
        told(*command, "--budget", "30")
    assert len(set(state.sources())) == TRANSLATED
    assert len(state.prompts) - TRANSLATED <= 2


def freeze_whole(folder: Path, ratings: Path, out: Path, rng: np.random.Generator) -> Path:
    """The frozen corpus is there whole or not at all, whenever the process ends; nothing else is left beside it."""
    out.parent.mkdir()
    kills = 0
    for _ in range(3):
        if kills or out.exists():
            break
        kills += kill_randomly(
            whole_path.freeze(folder, ratings, out), partial(begun, out.parent, time.time_ns()), 1, rng, 0.8
        )
        assert not out.exists() or printed("validate", out)
    assert kills >= 1
    if not out.exists():
        told(*whole_path.freeze(folder, ratings, out))
    assert [one.version for one in releases(read_history(folder))] == ["1.0"]
    assert [path.name for path in out.parent.iterdir()] == [out.name]
    frozen = tomllib.loads((out / "corpus.toml").read_text("utf-8"))["digests"]
    assert {name: file_digest(out / name) for name in frozen} == frozen
    return out


def whole_or_not(command: tuple[object, ...], out: Path, rng: np.random.Generator) -> None:
    """What a killed command writes is there whole or not at all, and the same command goes on."""
    out.parent.mkdir()
    kills = 0
    for _ in range(3):
        kills += kill_randomly(command, partial(begun, out.parent, time.time_ns()), 1, rng)
        if kills or out.exists():
            break
    assert kills >= 1
    if not out.exists():
        told(*command)
    assert [path.name for path in out.parent.iterdir()] == [out.name]
