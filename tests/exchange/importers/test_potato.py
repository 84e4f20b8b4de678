"""Potato: what the page does not show. The fixtures were written by Potato's own code, see the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from voirdire.cli.main import run
from voirdire.errors import InputError, UsageError
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.contract import ImportOptions, Tables
from voirdire.exchange.importers.potato import IMPORTER
from voirdire.exchange.importers.potato_answers import attributes
from voirdire.exchange.importers.potato_files import Said
from voirdire.exchange.importers.potato_schemes import read_config
from voirdire.exchange.importers.records import Record

DATA = Path(__file__).parent / "data" / "potato"
CONFIG = {"config": str(DATA / "config.json")}


def read(*files: Path, **options: Any) -> tuple[Tables, Account]:
    assert IMPORTER.read is not None
    account = Account(skip_broken=options.get("skip_broken", False))
    made = IMPORTER.read(files, ImportOptions(**options), account)
    assert account.balanced
    return made, account


def answers(made: Tables) -> list[tuple[Any, ...]]:
    assert made.ratings is not None
    return made.ratings.select("item_id", "rater_id", "question", "rating").rows()


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("study", "yes"),
        ("study/annotation_output", "yes"),
        ("study/annotation_output/bo/user_state.json", "yes"),
        ("old/annotation_output/annotated_instances.tsv", "yes"),
        ("old/annotation_output/u1/annotated_instances.jsonl", "yes"),
        ("exports/csv/annotations.csv", "yes"),
        ("exports/jsonl/annotations.jsonl", "yes"),
        ("exports/parquet/annotations.parquet", "yes"),
        ("exports/csv/phase_responses.csv", "nearly"),
        ("exports/jsonl/phase_responses.jsonl", "nearly"),
        ("exports/parquet/phase_responses.parquet", "nearly"),
        ("items.json", "no"),
        ("config.json", "no"),
        ("../crowdkit", "no"),
        ("../crowdkit/labels.csv", "no"),
        ("there/is/none", "no"),
    ],
)
def test_recognised(file: str, kind: str) -> None:
    assert IMPORTER.recognise(DATA / file).kind == kind


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_exports_say_what_the_states_say(form: str) -> None:
    """But for the one radio scheme with two stored options, for which the exporters choose one."""
    states, _ = read(DATA / "study", settings=CONFIG)
    made, account = read(DATA / "exports" / form, settings=CONFIG)
    more = set(answers(made)) - set(answers(states))
    assert more == {("茶", "明", "topic", "drink" if form == "csv" else "food")}
    assert set(answers(states)) <= set(answers(made))
    assert (account.answers, account.taken) == (44, 26)
    assert made.raters is not None
    assert made.raters.rows() == [("ann@example.org", "US", "34"), ("bo", "CN", "29"), ("明", "CN", None)]


def test_lines_do_not_tell_which_option_was_last() -> None:
    made, account = read(DATA / "exports" / "jsonl", settings=CONFIG)
    states, _ = read(DATA / "study", settings=CONFIG)
    assert set(answers(states)) - set(answers(made)) == {("007", "明", "offence", "3")}
    assert account.counts["potato.left.two"] == 2
    assert account.counts["importing.left.missing"] == 15


def test_the_table_of_version_1_says_what_its_lines_say() -> None:
    told = {"types": "topic=radio"}
    table, _ = read(DATA / "old" / "annotation_output" / "annotated_instances.tsv", settings=told)
    lines, _ = read(DATA / "old", settings=told)
    assert answers(table) == answers(lines)
    assert table.items is not None
    assert table.items.rows() == [("001", "A pun 🥁"), ("002", "谐音梗")]


def test_kept_where_you_say_so() -> None:
    made, account = read(DATA / "study", settings=CONFIG, keep=("machine",), with_text_of_raters=True)
    assert ("007", "gpt", "offence", "1") in answers(made)
    assert made.comments is not None
    assert made.comments.row(0)[:4] == ("007", "ann@example.org", "why", "My own words")
    assert made.raters is not None
    assert made.raters.row(0) == ("ann@example.org", "US", "34", "I teach")
    assert "potato.left.text" not in account.counts
    made, _ = read(DATA / "old", settings={"types": "topic=radio"}, keep=("test",))
    assert ("001_testing_drink", "u1", "topic", "drink") in answers(made)


def state(folder: Path, stored: dict[str, Any]) -> Path:
    file = folder / "u" / "user_state.json"
    file.parent.mkdir(exist_ok=True)
    listed = {item: [[{"schema": s, "name": n}, v] for s, n, v in found] for item, found in stored.items()}
    file.write_text(json.dumps({"user_id": "5f3c2a1b9d8e7f6a5b4c3d2e", "instance_id_to_label_to_value": listed}))
    return folder


def test_comparisons_and_rows_of_rates(tmp_path: Path) -> None:
    folder = state(
        tmp_path,
        {
            "1": [("better", "selection", "B"), ("rates", "clarity", "4"), ("rates", "tone", "2")],
            "2": [("better", "selection", "tie"), ("strength", "scale_value", "-2")],
            "3": [("better", "selection", "neither"), ("parts", "_data", "[]"), ("pick", "select-one", "x: y")],
        },
    )
    items = tmp_path / "items.jsonl"
    items.write_text("".join(json.dumps({"id": str(n), "text": [f"left {n}", f"right {n}"]}) + "\n" for n in (1, 2, 3)))
    made, account = read(folder, settings={"types": "rates=multirate", "items": str(items)})
    who = "5f3c2a1b9d8e7f6a5b4c3d2e"
    assert answers(made) == [
        ("1", who, "better", "b"),
        ("1", who, "rates: clarity", "4"),
        ("1", who, "rates: tone", "2"),
        ("2", who, "better", "tie"),
        ("2", who, "strength", "-2"),
        ("3", who, "pick", "x: y"),
    ]
    assert made.personal_ids
    assert account.counts["potato.left.neither"] == account.counts["potato.left.kind"] == 1
    assert made.items is not None
    assert made.items.select("item_id", "a", "b").row(1) == ("2", "left 2", "right 2")
    assert made.questions is not None
    assert made.questions.row(0)[:2] == ("better", "pairwise")


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        ([("mood", "good", "quite good")], "--set types=mood=KIND"),
        ([("mood", "3", "3"), ("mood", "5", "5")], "--set types=mood=KIND"),
        ([("better", "selection", "left")], "A, B, tie or neither"),
        ([("heat", "slider", "hot")], "has to be a number"),
    ],
)
def test_what_cannot_be_told_is_asked(tmp_path: Path, stored: list[Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(state(tmp_path, {"1": stored}))


def test_a_config_that_is_yaml_is_not_read() -> None:
    with pytest.raises(InputError, match="makes JSON of it"):
        read(DATA / "study", settings={"config": str(DATA / "study" / "config.yaml")})
    with pytest.raises(UsageError, match="NAME=KIND"):
        read(DATA / "study", settings={"types": "topic=words"})
    made, _ = read(DATA / "study", settings={"types": "offence=likert,topic=radio"})
    assert "potato.note.yaml" in [note.key for note in made.notes]


def test_a_declared_end_of_0_is_an_end(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    scheme = {"annotation_type": "pairwise", "mode": "scale", "description": ""}
    ends = {"up": {"min": 0, "max": 5}, "down": {"min": -5, "max": 0}, "none": {}}
    schemes = [{"name": name, "scale": one, **scheme} for name, one in ends.items()]
    config.write_text(json.dumps({"annotation_schemes": schemes}))
    found = read_config(config) or {}
    assert {name: (one.low, one.high) for name, one in found.items()} == {
        "up": (0, 5),
        "down": (-5, 0),
        "none": (-3, 3),
    }


def test_the_number_0_is_an_answer_and_an_attribute(tmp_path: Path) -> None:
    stored = [("rates", "clarity", 0), ("rates", "tone", False), ("pick", "select-one", 0), ("mood", "good", 0)]
    folder = state(tmp_path, {"1": [*stored, ("mood", "bad", True)]})
    made, _ = read(folder, settings={"types": "rates=multirate"})
    assert [found[2:] for found in answers(made)] == [("rates: clarity", "0"), ("pick", "0"), ("mood", "bad")]
    said = Said("u", "1", Record({}, "a.json", 1), {"children": {"number": 0}, "pets": {"text_box": 0}})
    assert attributes(said, texts=False) == ({"children": "0", "pets": "0"}, 0)


def test_empty_folders_are_explained(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no annotations of Potato"):
        read(tmp_path)


def test_a_folder_that_validates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = [f"{name}={value}" for name, value in CONFIG.items()]
    assert run(["import", str(DATA / "study"), "--set", *found, "--pool-column", "country", "--out", "c"]) == 0
    assert run(["validate", "c", "--out", "v", "--draws", "100"]) == 0
