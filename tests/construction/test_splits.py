from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.construction.building import build_text, make, pair, pairs

from voirdire.app.build_split import build_split
from voirdire.construction.authoring import move
from voirdire.construction.build_file import SplitPlan
from voirdire.construction.concepts import ConceptItem, read_concepts
from voirdire.construction.history import open_history, read_history
from voirdire.construction.screening_decisions import decide
from voirdire.construction.splits import Rated, Split, split_concepts
from voirdire.errors import InputError, UsageError
from voirdire.judging.demonstrations import Draws
from voirdire.judging.material import read_material
from voirdire.judging.nouns import DesignSpec
from voirdire.simulation.presets import paired_world
from voirdire.simulation.tables import simulate_tables

LEVELS = (1, 2, 3, 4, 5)
POOLS = ("us", "cn")
SPLITS = ("test", "demonstration", "pilot", "rejected")


def concepts(
    count: int, categories: int = 3, given_splits: Mapping[str, str] | None = None
) -> dict[str, list[ConceptItem]]:
    given_splits = given_splits or {}
    made = {}
    for number in range(count):
        name, category = f"c{number:03d}", f"k{number % categories}"
        split = given_splits.get(name, "")
        made[name] = [ConceptItem(f"{name}-{c}", name, category, c, "x", split=split) for c in POOLS]
    return made


def rated(listed: Mapping[str, Sequence[ConceptItem]], rng: np.random.Generator, missing: float = 0.1) -> Rated:
    ids = [item.id for items in listed.values() for item in items]
    consensus = {pool: {one: float(rng.uniform(1, 5)) for one in ids if rng.random() >= missing} for pool in POOLS}
    return Rated("q1", consensus, LEVELS)


def split(listed: Any, plan: SplitPlan, seed: int = 0, **more: Any) -> Split:
    return split_concepts(listed, plan, np.random.default_rng(seed), **more)


def nearest(value: float) -> int:
    """The nearest level, ties to the higher one."""
    return min(LEVELS, key=lambda level: (abs(level - value), -level))


def levels_shown(made: Split, listed: Mapping[str, Sequence[ConceptItem]], answers: Rated) -> Counter[Any]:
    shown: Counter[Any] = Counter()
    for name, items in listed.items():
        if made.splits.get(name) == "demonstration":
            for pool in POOLS:
                for item in items:
                    if item.id in answers.consensus[pool]:
                        shown[pool, item.culture, nearest(answers.consensus[pool][item.id])] += 1
    return shown


@given(st.integers(0, 60), st.integers(0, 2**32), st.integers(1, 2), st.integers(0, 4), st.integers(0, 6))
def test_every_level_that_can_be_there_is_there(count: int, seed: int, per_level: int, pilot: int, least: int) -> None:
    listed = concepts(count)
    answers = rated(listed, np.random.default_rng(seed))
    plan = SplitPlan(least, pilot, per_level)
    if pilot > count or least > count - pilot:
        with pytest.raises(UsageError, match="left to choose from"):
            split(listed, plan, seed, rated=answers)
        return
    made = split(listed, plan, seed, rated=answers)
    assert list(made.splits) == list(listed)
    counts = made.counts()
    assert counts["pilot"] == pilot
    assert counts["demonstration"] >= least
    shown = levels_shown(made, listed, answers)
    possible: Counter[Any] = Counter()
    for name, items in listed.items():
        if made.splits[name] in ("test", "demonstration"):
            for pool in POOLS:
                possible += Counter(
                    (pool, item.culture, nearest(answers.consensus[pool][item.id]))
                    for item in items
                    if item.id in answers.consensus[pool]
                )
    cells = [(pool, culture, level) for pool in POOLS for culture in POOLS for level in LEVELS] if count else []
    assert [(one.pool, one.culture, one.level) for one in made.coverage] == cells
    for one in made.coverage:
        cell = (one.pool, one.culture, one.level)
        assert (one.items, one.available) == (shown[cell], possible[cell])
        assert one.items >= min(per_level, possible[cell])
    assert [one for one in made.coverage if one.items < per_level] == list(made.missing)
    again = split(dict(reversed(list(listed.items()))), plan, seed, rated=answers)
    assert dict(again.splits) == dict(made.splits)


@given(st.integers(1, 40), st.integers(0, 2**32))
def test_no_demonstration_is_without_need(count: int, seed: int) -> None:
    """Without any one of those that the levels asked for, a level would be missing."""
    listed = concepts(count)
    answers = rated(listed, np.random.default_rng(seed))
    made = split(listed, SplitPlan(), seed, rated=answers)
    shown = levels_shown(made, listed, answers)
    for name, which in made.splits.items():
        if which == "demonstration":
            own = levels_shown(Split({name: "demonstration"}), listed, answers)
            assert any(shown[cell] - own[cell] < 1 for cell in own)


@given(
    st.dictionaries(st.integers(0, 19), st.sampled_from(SPLITS), max_size=12),
    st.sets(st.integers(0, 19), max_size=6),
    st.sets(st.integers(0, 19), max_size=6),
    st.booleans(),
)
def test_what_is_given_stays(table: dict[int, str], out: set[int], idle: set[int], again: bool) -> None:
    name = "c{:03d}".format
    listed = concepts(20, given_splits={name(number): which for number, which in table.items()})
    rejected, waiting = {name(number) for number in out}, {name(number) for number in idle}
    made = split(listed, SplitPlan(pilot=1, demonstration=1), rejected=rejected, waiting=waiting, again=again)
    gone = rejected | {name(number) for number, which in table.items() if which == "rejected"}
    assert {one for one, which in made.splits.items() if which == "rejected"} == gone
    assert set(made.waiting) == waiting - gone
    assert set(made.splits) == set(listed) - set(made.waiting)
    for number, which in table.items():
        if not again and name(number) in made.splits and name(number) not in gone:
            assert made.splits[name(number)] == which


def test_categories_are_spread() -> None:
    listed = concepts(40, categories=4)
    made = split(listed, SplitPlan(pilot=8, demonstration=4))
    for which, each in (("pilot", 2), ("demonstration", 1)):
        found = Counter(listed[name][0].category for name, one in made.splits.items() if one == which)
        assert found == {f"k{number}": each for number in range(4)}


def test_seeds_differ_and_repeat() -> None:
    listed = concepts(40)
    found = [dict(split(listed, SplitPlan(pilot=8), seed).splits) for seed in (1, 2, 1)]
    assert found[0] == found[2] != found[1]


def test_demonstrations_that_the_table_has_count(tmp_path: Path) -> None:
    """They fill levels and the number that is wanted; what they fill is not filled again."""
    listed = concepts(30, given_splits={f"c{number:03d}": "demonstration" for number in range(5)})
    every = {item.id: float(1 + number % 5) for number, items in enumerate(listed.values()) for item in items}
    answers = Rated("q1", {"us": every, "cn": every}, LEVELS)
    for least, wanted in ((0, 5), (5, 5), (7, 7)):
        made = split(listed, SplitPlan(demonstration=least), rated=answers)
        assert made.missing == ()
        assert made.counts()["demonstration"] == wanted


def test_concepts_that_are_open_again_may_be_told_by_a_generator() -> None:
    listed = concepts(3, given_splits=dict.fromkeys(("c000", "c001", "c002"), "rejected"))
    plan, rng = SplitPlan(pilot=0, demonstration=0), np.random.default_rng(0)
    made = split_concepts(listed, plan, rng, reopened=(name for name in ("c000", "c002")))
    assert dict(made.splits) == {"c000": "test", "c001": "rejected", "c002": "test"}


def test_a_missing_level_is_named() -> None:
    listed = concepts(10)
    every = {item.id: float(1 + number % 5) for number, items in enumerate(listed.values()) for item in items}
    answers = Rated("q1", {"us": every, "cn": {one: min(value, 4.4) for one, value in every.items()}}, LEVELS)
    made = split(listed, SplitPlan(), rated=answers)
    assert [(one.pool, one.culture, one.level, one.available) for one in made.missing] == [
        ("cn", "us", 5, 0),
        ("cn", "cn", 5, 0),
    ]


def simulated(folder: Path, items: int = 120, **more: str) -> tuple[Path, Path]:
    """A folder of concepts whose items are those of a simulated corpus, and the ratings of two pools."""
    tables = simulate_tables(paired_world(items=items), seed=3)
    rows = []
    for item in tables.items.iter_rows(named=True):
        made = pair(item["pair_id"], category=item["category"], **more)
        rows.append(next(one for one in made if one["culture"] == item["culture"]))
    make(folder, rows)
    ratings = folder / "ratings.csv"
    tables.ratings.filter(pl.col("question") == tables.questions["question"][0]).write_csv(ratings)
    return folder, ratings


def test_judges_can_be_shown_what_was_chosen(tmp_path: Path) -> None:
    """The proof that judges need before a run: every design has an example at each level, and no test item is shown."""
    folder, ratings = simulated(tmp_path / "new", 240)
    made = build_split(folder, ratings=ratings, pilot=6, seed=5, tables={"low": 1.0, "high": 5.0})
    assert made.split.missing == ()
    table = read_concepts(folder).table.frame
    items = table.select(
        (pl.col("concept") + "-" + pl.col("culture")).alias("item_id"),
        pl.col("concept").alias("pair_id"),
        pl.col("realisation").alias("text"),
        pl.col("prompt.en"),
        "culture",
        "split",
    )
    material = read_material(items, ratings=ratings, low=1.0, high=5.0)
    designs = [DesignSpec(f"{pool}-{culture}", pool=pool, culture=culture) for pool in POOLS for culture in POOLS]
    Draws(material, designs, seed=1).check()
    assert len(material.held_out) == 2 * made.split.counts()["demonstration"]
    assert len(material.items) == 2 * made.split.counts()["test"]


def test_written_once_and_the_same_again(tmp_path: Path) -> None:
    folder, ratings = simulated(tmp_path / "new")
    tables = {"low": 1.0, "high": 5.0}
    dry = build_split(folder, ratings=ratings, dry_run=True, tables=tables)
    assert "split" not in read_concepts(folder).table.frame.columns
    assert read_history(folder).events == ()
    made = build_split(folder, ratings=ratings, tables=tables)
    assert dry.split == made.split
    assert (made.changed, dry.changed) == (120, 120)
    by_concept = read_concepts(folder).by_concept()
    assert all(len({item.split for item in items}) == 1 for items in by_concept.values())
    event = read_history(folder).events[-1]
    assert (event["kind"], event["seed"], event["splits"]) == ("split", 0, dict(made.split.splits))
    assert build_split(folder).changed == 0
    assert build_split(folder, ratings=ratings, tables=tables, seed=9).changed == 0
    assert build_split(folder, ratings=ratings, tables=tables, seed=9, again=True).changed > 0
    assert len(read_history(folder).events) == 2


def test_options_over_the_build_file(tmp_path: Path) -> None:
    make(
        tmp_path,
        pairs(*(f"c{n}" for n in range(9))),
        build_text(more="[splits]\npilot = 3\ndemonstration = 2\nseed = 4"),
    )
    assert build_split(tmp_path, dry_run=True).split.counts() == {
        "test": 4,
        "demonstration": 2,
        "pilot": 3,
        "rejected": 0,
    }
    assert build_split(tmp_path, dry_run=True, pilot=0).split.counts()["pilot"] == 0
    assert build_split(tmp_path, dry_run=True, seed=5).split != build_split(tmp_path, dry_run=True).split
    for name, value in (("pilot", -1), ("per_level", 0), ("seed", -1)):
        with pytest.raises(UsageError, match="--" + name.replace("_", "-")):
            build_split(tmp_path, **{name: value})
    with pytest.raises(UsageError, match="for the pilot: 8"):
        build_split(tmp_path, pilot=8)


def test_only_accepted_concepts_are_split(tmp_path: Path) -> None:
    make(tmp_path, pairs("a", "b", "c"))
    for action, by, note in (("submit", "ana", ""), ("review", "bo", "Fine."), ("accept", "bo", "")):
        move(tmp_path, action, "a", by, note=note)
    move(tmp_path, "submit", "b", "bo")
    move(tmp_path, "reject", "b", "chen", reason="factual", note="It can be looked up.")
    made = build_split(tmp_path)
    assert dict(made.split.splits) == {"a": "test", "b": "rejected"}
    assert made.split.waiting == ("c",)
    assert [item.split for item in read_concepts(tmp_path).items] == ["test", "test", "rejected", "rejected", "", ""]


def test_what_a_person_dropped_after_a_screening_is_rejected(tmp_path: Path) -> None:
    """A suggestion that nobody decided on drops nothing."""
    make(tmp_path, pairs("a", "b", "c"))
    pairs_told = {
        name: {"verdict": verdict, "reasons": ["gap"]}
        for name, verdict in zip("abc", ("drop", "drop", "keep"), strict=True)
    }
    with open_history(tmp_path) as book:
        book.append({"kind": "screened", "pairs": pairs_told})
    assert build_split(tmp_path, dry_run=True).split.counts()["rejected"] == 0
    decide(tmp_path, "a", "drop", "ana")
    decide(tmp_path, "b", "keep", "ana", why="The gap is known from elsewhere.")
    decide(tmp_path, "c", "drop", "bo", why="It repeats another one.")
    assert dict(build_split(tmp_path).split.splits) == {"a": "rejected", "b": "test", "c": "rejected"}


@pytest.mark.parametrize("again", [False, True])
def test_a_drop_that_is_taken_back_opens_the_split_again(tmp_path: Path, again: bool) -> None:
    """What a split called rejected is not rejected for good; what a person wrote into the table is."""
    make(tmp_path, [*pairs("a", "b"), *pair("c", split="rejected")])
    with open_history(tmp_path) as book:
        book.append({"kind": "screened", "pairs": {name: {"verdict": "drop", "reasons": ["gap"]} for name in "ab"}})
    decide(tmp_path, "a", "drop", "ana")
    decide(tmp_path, "b", "drop", "ana")
    assert build_split(tmp_path).split.counts()["rejected"] == 3
    decide(tmp_path, "a", "keep", "bo", why="a mistake")
    made = build_split(tmp_path, again=again)
    assert dict(made.split.splits) == {"a": "test", "b": "rejected", "c": "rejected"}
    assert [note.fields for note in made.notes if note.key == "freezing.note.reopened"] == [{"concepts": "a"}]
    assert [item.split for item in read_concepts(tmp_path).items][:3] == ["test", "test", "rejected"]


def test_ratings_of_other_items_are_left_out_and_told(tmp_path: Path) -> None:
    make(tmp_path, pairs("a", "b"))
    listed = {"item_id": ["a-us", "b-cn", "z-us"], "rater_id": "r1", "pool": "us", "rating": [1, 5, 3]}
    made = build_split(tmp_path, ratings=pl.DataFrame(listed), tables={"low": 1.0, "high": 5.0}, dry_run=True)
    note = next(note for note in made.notes if note.key == "build.split.left_out")
    assert note.fields == {"count": 1}
    assert {one.available for one in made.split.coverage if one.level == 3} == {0}
    other = pl.DataFrame(listed).with_columns(item_id=pl.lit("z"))
    with pytest.raises(InputError, match="CONCEPT-CULTURE"):
        build_split(tmp_path, ratings=other, tables={"low": 1.0, "high": 5.0})


def test_a_rounded_tie_goes_up(tmp_path: Path) -> None:
    make(tmp_path, pairs("a"))
    listed = {"item_id": ["a-us"] * 2, "rater_id": ["r1", "r2"], "pool": "us", "rating": [2, 3]}
    made = build_split(tmp_path, ratings=pl.DataFrame(listed), tables={"low": 1.0, "high": 5.0}, dry_run=True)
    assert [(one.culture, one.level) for one in made.split.coverage if one.items] == [("us", 3)]


@pytest.mark.parametrize(
    ("splits", "kind"), [(("training", "training"), "split_unknown"), (("test", ""), "split_differs")]
)
def test_a_table_whose_splits_cannot_stand(tmp_path: Path, splits: tuple[str, str], kind: str) -> None:
    rows = [{**one, "split": which} for one, which in zip(pair("tea"), splits, strict=True)]
    with pytest.raises(InputError) as caught:
        build_split(make(tmp_path, rows))
    assert caught.value.key == f"build.finding.{kind}"
