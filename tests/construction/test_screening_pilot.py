"""Reading a pilot: ratings, the checklist in its forms, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.construction.building import build_text, make, pairs
from tests.construction.pilots import folder_of, numbers, planted

from voirdire.construction.build_file import read_build_file
from voirdire.construction.concepts import Concepts, read_concepts
from voirdire.construction.screening import screen
from voirdire.construction.screening_pilot import Pilot, read_pilot
from voirdire.construction.screening_rule import Rule, read_rule
from voirdire.corpus.options import CorpusOptions
from voirdire.errors import InputError, UsageError

RATERS = ("a", "b", "c", "d")
POOLS = {"a": "us", "b": "us", "c": "cn", "d": "cn"}


@pytest.fixture
def concepts(tmp_path: Path) -> Concepts:
    return read_concepts(make(tmp_path / "corpus", pairs("tea", "rice")))


def ratings(**columns: Any) -> pl.DataFrame:
    """Every rater on every item of two concepts, questions q1 and q3."""
    rows = [
        {"item_id": item, "rater_id": rater, "pool": POOLS[rater], "question": question, "rating": rating}
        for item in ("tea-us", "tea-cn", "rice-us", "rice-cn")
        for place, rater in enumerate(RATERS)
        for question, rating in (("q1", 1 + place), ("q3", 1 if place else 5))
    ]
    return pl.DataFrame(rows).with_columns(**columns)


def read(concepts: Concepts, table: pl.DataFrame | None = None, **told: Any) -> Pilot:
    questions = pl.DataFrame(
        {"question": ["q1", "q3"], "role": ["evaluation", "subjectivity"], "min": [1, 1], "max": [5, 5]}
    )
    table = ratings() if table is None else table
    known = questions if set(table["question"]) <= {"q1", "q3"} else None
    return read_pilot(concepts, CorpusOptions(table, questions=known), **told)


def checklist(label: str = "usable", **columns: Any) -> pl.DataFrame:
    rows = [{"item_id": item, "rater_id": rater, "rating": label} for item in ("tea-us", "tea-cn") for rater in RATERS]
    return pl.DataFrame(rows).with_columns(**columns)


def test_what_is_read(concepts: Concepts) -> None:
    pilot = read(concepts, checklist=checklist())
    assert pilot.pools == ("us", "cn")
    assert pilot.raters == RATERS
    assert pilot.concepts() == {"tea": (0, 1), "rice": (2, 3)}
    assert (pilot.evaluation.question, len(pilot.evaluation.value)) == ("q1", 16)
    assert pilot.subjectivity is not None
    assert pilot.subjectivity.question == "q3"
    assert pilot.checklist is not None
    assert pilot.checklist.value.tolist() == [0.0] * 8
    assert pilot.votes == {"tea-us": {"usable": 4}, "tea-cn": {"usable": 4}}


def test_tables_and_arrays_give_the_same_screening(tmp_path: Path) -> None:
    pilot, _ = planted(2)
    place, table, beside = folder_of(pilot, tmp_path / "corpus")
    options = CorpusOptions(table, questions=place / "questions.csv")
    told = screen(read_pilot(read_concepts(place), options, checklist=beside))
    assert numbers(told) == numbers(screen(pilot))


@pytest.mark.parametrize(
    ("label", "hit"),
    [("stereotype", 1.0), ("usable", 0.0), ("factual", 0.0), ("Stereotype ", 1.0), ("yes", 1.0), ("no", 0.0)],
)
def test_labels_of_a_checklist(concepts: Concepts, label: str, hit: float) -> None:
    found = read(concepts, checklist=checklist(label)).checklist
    assert found is not None
    assert set(found.value.tolist()) == {hit}


def test_the_question_about_stereotypes_alone_comes_first(concepts: Concepts) -> None:
    both = pl.concat(
        [
            checklist("stereotype").with_columns(question=pl.lit("usable")),
            checklist("no").with_columns(question=pl.lit("stereotype")),
        ]
    )
    pilot = read(concepts, checklist=both)
    assert pilot.checklist is not None
    assert (pilot.checklist.question, set(pilot.checklist.value.tolist())) == ("stereotype", {0.0})
    assert pilot.votes["tea-us"] == {"stereotype": 4}


def test_a_checklist_among_the_ratings(concepts: Concepts) -> None:
    beside = (
        ratings()
        .filter(pl.col("question") == "q1")
        .with_columns(
            question=pl.lit("usable"),
            rating=pl.when(pl.col("item_id") == "tea-us").then(pl.lit("stereotype")).otherwise(pl.lit("usable")),
        )
    )
    table = pl.concat([ratings().with_columns(pl.col("rating").cast(pl.String)), beside])
    roles = pl.DataFrame({"question": ["q1", "q3"], "role": ["evaluation", "subjectivity"]})
    pilot = read_pilot(concepts, CorpusOptions(table, questions=roles))
    assert pilot.checklist is not None
    assert pilot.evaluation.question == "q1"
    hit = {place: set(pilot.checklist.value[pilot.checklist.item == place]) for place in range(4)}
    assert hit == {0: {1.0}, 1: {0.0}, 2: {0.0}, 3: {0.0}}


def test_a_checklist_in_a_column_of_its_own(concepts: Concepts) -> None:
    wide = ratings().pivot("question", index=["item_id", "rater_id", "pool"], values="rating")
    wide = wide.with_columns(usable=pl.Series([*(["stereotype", "usable", "same", "usable"] * 4)]))
    wide = wide.with_columns(pl.col("q1", "q3").cast(pl.String))
    roles = pl.DataFrame({"question": ["q1", "q3"], "role": ["evaluation", "subjectivity"]})
    options = CorpusOptions(wide, questions=roles, question_columns=("q1", "q3", "usable"))
    pilot = read_pilot(concepts, options)
    assert pilot.checklist is not None
    assert pilot.checklist.value.sum() == 4
    assert pilot.votes["rice-cn"] == {"same": 1, "stereotype": 1, "usable": 2}


def test_another_answer_among_the_ratings_is_refused(concepts: Concepts) -> None:
    beside = (
        ratings()
        .filter(pl.col("question") == "q1")
        .with_columns(question=pl.lit("usable"), rating=pl.Series(["fine", "usable"] * 8))
    )
    table = pl.concat([ratings().with_columns(pl.col("rating").cast(pl.String)), beside])
    with pytest.raises(InputError, match="row 33, column 'rating': 'fine'"):
        read_pilot(concepts, CorpusOptions(table))


def test_slots_are_raters_of_one_item(concepts: Concepts) -> None:
    questions = pl.DataFrame({"question": ["q1", "q3"], "role": ["evaluation", "subjectivity"]})
    pilot = read_pilot(concepts, CorpusOptions(ratings(), questions=questions, anonymous_raters=True))
    assert len(np.unique(pilot.evaluation.rater)) == 16


def test_answers_to_other_items_are_counted(concepts: Concepts) -> None:
    table = pl.concat([ratings(), ratings().head(1).with_columns(item_id=pl.lit("soup-us"))])
    notes = read(concepts, table, checklist=checklist(item_id=pl.lit("soup-us"))).notes
    assert [note.fields["count"] for note in notes if note.key == "build.split.left_out"] == [1, 8]


@pytest.mark.parametrize(
    ("table", "key", "column", "value"),
    [
        (checklist("maybe"), "label_unknown", "rating", "maybe"),
        (checklist(rater_id=pl.lit("z")), "pool_missing", "rater_id", "z"),
        (checklist(rater_id=pl.lit(None, pl.String)), "rater_empty", "rater_id", ""),
        (checklist(pool=pl.lit("fr")), "pool_unknown", "pool", "fr"),
        (checklist(question=pl.lit("q9")), "question_unknown", "question", "q9"),
    ],
)
def test_a_broken_checklist(concepts: Concepts, table: pl.DataFrame, key: str, column: str, value: str) -> None:
    with pytest.raises(InputError) as caught:
        read(concepts, checklist=table)
    assert caught.value.key == f"screening.{key}"
    told = {name: caught.value.fields[name] for name in ("row", "column", "value")}
    assert told == {"row": 1, "column": column, "value": value}


def test_a_rater_answers_once(concepts: Concepts) -> None:
    with pytest.raises(InputError, match="answered for 'tea-us' before"):
        read(concepts, checklist=pl.concat([checklist(), checklist().head(1)]))


def test_a_checklist_without_its_columns(concepts: Concepts) -> None:
    with pytest.raises(InputError, match="rater_id"):
        read(concepts, checklist=checklist().drop("rater_id"))


def test_means_without_raters_are_no_pilot(concepts: Concepts) -> None:
    means = pl.DataFrame({"item_id": ["tea-us", "tea-us"], "pool": ["us", "cn"], "value": [1.0, 4.5]})
    with pytest.raises(InputError, match="without raters"):
        read_pilot(concepts, CorpusOptions(means))


def test_a_question_that_is_not_there(concepts: Concepts) -> None:
    with pytest.raises(UsageError, match="q7"):
        read(concepts, question="q7")
    assert read(concepts, question="q3").evaluation.question == "q3"


class TestRule:
    """``[screening]`` of build.toml."""

    def rule(self, folder: Path, lines: str) -> Rule:
        return read_rule(read_build_file(make(folder, (), build_text(more=f"\n[screening]\n{lines}\n"))))

    def test_what_is_left_out_is_usual(self, tmp_path: Path) -> None:
        assert self.rule(tmp_path, "") == Rule()
        assert read_rule(read_build_file(make(tmp_path / "none"))) == Rule()

    def test_every_entry(self, tmp_path: Path) -> None:
        wanted = Rule(0.95, 0.6, 0.7, 0.4, 0.5, "low", 3)
        lines = "\n".join(f"{name} = {value!r}" for name, value in wanted.as_dict().items())
        assert self.rule(tmp_path, lines) == wanted

    def test_the_documented_rule_is_the_usual_one(self, root: Path, tmp_path: Path) -> None:
        page = (root / "docs" / "explanation" / "screening.md").read_text(encoding="utf-8")
        block = page.split("```toml\n[screening]\n", 1)[1].split("```", 1)[0]
        assert self.rule(tmp_path, block) == Rule()
        assert all(name in block for name in Rule().as_dict())

    @pytest.mark.parametrize(
        "line",
        ["confidence = 1", "factual_share = 0", "least_gap = 2.0", "min_raters = 1", 'factual_end = "up"', "gap = 1"],
    )
    def test_what_cannot_stand_there(self, tmp_path: Path, line: str) -> None:
        with pytest.raises(InputError, match="screening") as caught:
            self.rule(tmp_path, line)
        assert line.split()[0] in str(caught.value)
