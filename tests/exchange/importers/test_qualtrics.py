"""Qualtrics and Prolific: what the page does not show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from voirdire.cli.main import run
from voirdire.errors import InputError, UsageError
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.contract import ImportOptions, Tables
from voirdire.exchange.importers.people import read_people
from voirdire.exchange.importers.prolific import not_approved
from voirdire.exchange.importers.qualtrics import IMPORTER

DATA = Path(__file__).parent / "data" / "qualtrics"
SURVEY, PATTERN = DATA / "survey.csv", {"column": "{item}_Q{question}"}
ANN, BO, DEE = "5f3c2a1b9d8e7f6a5b4c3d2e", "60aa2a1b9d8e7f6a5b4c3d2f", "62cc2a1b9d8e7f6a5b4c3d31"


def read(*files: Path, **options: Any) -> tuple[Tables, Account]:
    assert IMPORTER.read is not None
    account = Account(skip_broken=options.get("skip_broken", False))
    made = IMPORTER.read(files, ImportOptions(**options), account)
    assert account.balanced
    return made, account


def export(path: Path, columns: dict[str, str], *rows: str, told: str = "") -> Path:
    """An export with these columns, name -> ImportId."""
    ids = (f'"{{""ImportId"":""{one}""{told if one == "endDate" else ""}}}"' for one in columns.values())
    lines = [",".join(columns), ",".join(f"about {name}" for name in columns), ",".join(ids), *rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("survey.csv", "yes"),
        ("broken.csv", "yes"),
        ("one_header.csv", "nearly"),
        ("responses.json", "nearly"),
        ("prolific.csv", "no"),
        ("columns.csv", "no"),
        ("../potato/exports/csv/annotations.csv", "no"),
        ("there/is/none", "no"),
    ],
)
def test_recognised(file: str, kind: str) -> None:
    assert IMPORTER.recognise(DATA / file).kind == kind


def test_every_answer_is_taken_or_left_for_a_reason() -> None:
    made, account = read(SURVEY, settings={**PATTERN, "missing": "-99"}, raters=DATA / "prolific.csv")
    assert made.ratings is not None
    assert made.ratings.rows() == [
        ("1", ANN, "3", "4", "2026-03-01T17:11:30Z"),
        ("1", ANN, "4", "2", "2026-03-01T17:11:30Z"),
        ("2", ANN, "3", "1", "2026-03-01T17:11:30Z"),
        ("2", ANN, "4", "3", "2026-03-01T17:11:30Z"),
        ("1", BO, "3", "2", "2026-03-01T17:12:30Z"),
        ("2", BO, "3", "5", "2026-03-01T17:12:30Z"),
    ]
    assert (account.answers, account.taken) == (36, 6)
    reasons = ("preview", "unfinished", "spam", "returned")
    assert [account.counts[f"qualtrics.left.{name}"] for name in reasons] == [6, 6, 6, 6]
    assert (account.counts["qualtrics.left.text"], account.counts["importing.left.missing"]) == (2, 4)
    assert made.raters is not None
    assert made.raters.rows() == [(ANN, "a", "601", "EN"), (BO, "b", "602", "ZH-S")]
    assert made.personal_ids


def test_kept_where_you_say_so() -> None:
    kept = ("unfinished", "spam", "returned")
    made, account = read(SURVEY, settings=PATTERN, raters=DATA / "prolific.csv", keep=kept, with_text_of_raters=True)
    assert list(account.counts) == ["importing.left.missing", "qualtrics.left.preview"]
    assert made.comments is not None
    assert made.comments.row(1) == ("2", BO, "5_TEXT", "好笑", "2026-03-01T17:12:30Z")
    assert made.ratings is not None
    assert ("1", BO, "4", "-99") in made.ratings.select("item_id", "rater_id", "question", "rating").rows()
    with pytest.raises(InputError, match="'PROLIFIC_PID' is missing or empty"):
        read(SURVEY, settings=PATTERN, keep=("preview",))


def test_numeric_values_and_time_zones(tmp_path: Path) -> None:
    columns = {"EndDate": "endDate", "Status": "status", "Finished": "finished", "ResponseId": "_recordId"}
    columns |= {"Q5_1": "QID5_1", "Q5_2": "QID5_2", "Q6_1": 'QID6"",""choiceId"":""1'}
    rows = ("2026-07-01 12:00:00,0,1,R_1,3,,1", "soon,0,1,R_2,1,2,", "2026-07-01 12:00:00,1,1,R_3,1,2,")
    file = export(tmp_path / "a.csv", columns, *rows, "2026-07-01 12:00:00,0,0,R_4,1,2,1")
    made, account = read(file, settings={"column": "{question}_{item}", "timezone": "Europe/Berlin"})
    assert made.ratings is not None
    assert made.ratings.rows() == [
        ("1", "R_1", "Q5", "3", "2026-07-01T10:00:00Z"),
        ("1", "R_2", "Q5", "1", None),
        ("2", "R_2", "Q5", "2", None),
    ]
    assert not made.personal_ids
    left = {"preview": 3, "unfinished": 3, "several": 1}
    assert {name: account.counts[f"qualtrics.left.{name}"] for name in left} == left
    made, _ = read(file, settings={"column": "{question}_{item}"})
    assert "qualtrics.note.zone" in [note.key for note in made.notes]
    file = export(file, columns, rows[0], told=',""timeZone"":""Z""')
    made, _ = read(file, settings={"column": "{question}_{item}", "timezone": "Europe/Berlin"})
    assert made.ratings is not None
    assert made.ratings["at"].to_list() == ["2026-07-01T12:00:00Z"]
    with pytest.raises(UsageError, match="time zone Mars is not known"):
        read(export(file, columns, rows[0]), settings={"column": "{question}_{item}", "timezone": "Mars"})


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"column": "{question}"}, "Write {item} once"),
        ({"column": "x{item}"}, "no column of a question fits"),
        ({"items": "prolific.csv"}, "columns are missing: column, item_id"),
        ({**PATTERN, "about": "Q77"}, "has no column Q77"),
    ],
)
def test_what_does_not_fit(settings: dict[str, str], said: str) -> None:
    told = {name: str(DATA / value) if name == "items" else value for name, value in settings.items()}
    with pytest.raises((InputError, UsageError), match=said):
        read(SURVEY, settings=told)


def test_a_table_that_names_a_column_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("column,item_id\n1_Q3,a\nQ99,b\n")
    with pytest.raises(InputError, match=r"items\.csv, line 3: .*has no column Q99"):
        read(SURVEY, settings={"items": str(tmp_path / "items.csv")})
    columns = {"PROLIFIC_PID": "PROLIFIC_PID", "prolific_id": "prolific_id", "Q1": "QID1"}
    two = export(tmp_path / "two.csv", columns, "a,b,1")
    with pytest.raises(InputError, match="Name it: --map rater_id=COLUMN"):
        read(two, settings={"column": "{item}"})


def test_prolific_tells_participants_from_submissions() -> None:
    people = read_people(DATA / "prolific.csv")
    assert people.frame.select("rater_id", "Age", "Ethnicity simplified").rows() == [
        (ANN, "34", "White"),
        (BO, None, None),
        (DEE, "51", "White"),
    ]
    assert "Completion code" not in people.frame.columns
    assert not_approved(DATA / "prolific.csv") == {DEE: "returned"}
    assert not_approved(DATA / "columns.csv") == not_approved(None) == {}


def test_a_folder_that_validates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = ["--set", "column={item}_Q{question}", "--set", "missing=-99", "--set", "about=home"]
    assert run(["import", str(SURVEY), *told, "--pool-column", "home", "--out", "c"]) == 0
    assert run(["validate", "c", "--out", "v", "--draws", "10"]) == 0
    assert pl.read_csv("c/ratings.csv")["pool"].unique().sort().to_list() == ["US", "中国"]
