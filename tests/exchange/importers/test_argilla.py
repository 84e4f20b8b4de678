"""Argilla's records in all their forms, value by value: what its page does not show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from voirdire.errors import InputError
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.argilla import IMPORTER
from voirdire.exchange.importers.contract import ImportOptions, Tables

DATA = Path(__file__).parent / "data" / "argilla"
NESTED = DATA / "dataset" / ".argilla" / "records.json"
SETTINGS = {"settings": str(DATA / "dataset" / ".argilla" / "settings.json")}
ONE, TWO, THREE = (f"00000000-0000-0000-0000-00000000000{n}" for n in (1, 2, 3))


def read(*files: Path, **options: Any) -> tuple[Tables, Account]:
    assert IMPORTER.read is not None
    account = Account(skip_broken=options.get("skip_broken", False))
    made = IMPORTER.read(files, ImportOptions(**options), account)
    assert account.balanced
    tables = (made.ratings, made.judgments, made.comments)
    assert account.taken == sum(0 if table is None else table.height for table in tables)
    return made, account


def values(made: Tables, *questions: str) -> list[tuple[Any, ...]]:
    assert made.ratings is not None
    wanted = made.ratings.filter(pl.col("question").is_in(questions))
    return list(wanted.select("item_id", "rater_id", "rating").rows())


def nested(path: Path, **responses: list[Any]) -> Path:
    told = {
        name: [{"value": value, "user_id": f"u{n}"} for n, value in enumerate(said)] for name, said in responses.items()
    }
    record = {
        "id": "a",
        "fields": {"text": "t"},
        "metadata": {},
        "suggestions": {},
        "responses": told,
        "status": "completed",
    }
    path.write_text(json.dumps([record]))
    return path


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("flat.json", "yes"),
        ("dataset", "yes"),
        ("dataset/.argilla/records.json", "yes"),
        ("dataset/.argilla/settings.json", "no"),
        ("../labelstudio/export.json", "no"),
        ("../datasets/lists", "no"),
        ("there/is/none", "no"),
    ],
)
def test_recognised(file: str, kind: str) -> None:
    assert IMPORTER.recognise(DATA / file).kind == kind


def test_nearly(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    columns = {"id": ["a"], "fields": [{}], "metadata": [{}], "suggestions": [{}], "responses": [{}]}
    old = {"text": "a", "quality": [{"user_id": "u", "value": 1, "status": "submitted"}], "quality-suggestion": 1}
    for record, key in ((columns, "argilla.columns"), ({**old, "external_id": None}, "argilla.old")):
        file.write_text(json.dumps(record))
        assert (IMPORTER.recognise(file).kind, IMPORTER.recognise(file).key) == ("nearly", key)


def test_nested_and_flattened_hold_the_same_submitted_answers() -> None:
    flat, account = read(DATA / "flat.json", settings=SETTINGS)
    whole, _ = read(NESTED)
    assert values(flat, "quality") == [("007", ONE, "4"), ("007", TWO, "2"), ("008", ONE, "1")]
    assert values(whole, "quality") == [
        *(("007", ONE, "4"), ("007", TWO, "2"), ("007", THREE, "5")),
        *(("008", ONE, "1"), ("008", THREE, "3")),
    ]
    assert (
        values(flat, "tone")
        == values(whole, "tone")
        == [*(("007", ONE, "formal"), ("007", TWO, "casual"), ("008", ONE, "formal"))]
    )
    assert (account.counts["argilla.left.draft"], account.counts["argilla.left.discarded"]) == (1, 1)
    kept, _ = read(DATA / "flat.json", settings=SETTINGS, keep=("draft", "discarded"), with_text_of_raters=True)
    assert values(kept, "quality") == values(whole, "quality")
    assert kept.ratings is not None
    assert kept.ratings.filter(rater_id=THREE)["status"].to_list() == ["draft", "discarded"]
    assert kept.comments is not None
    assert kept.comments.drop("answered_at", strict=False).rows() == [("007", ONE, "why", "很好，但是太长")]
    assert [note.key for note in whole.notes][-1] == "argilla.note.states"


def test_kinds_without_the_settings(tmp_path: Path) -> None:
    long = "a text of many words that goes on and on and on"
    file = nested(
        tmp_path / "a.json",
        stars=[1, 2.0, None],
        tone=["x", "y"],
        tags=[["x"], ["y", "z"]],
        order=[["x", "y"], ["y", "x"]],
        spans=[[{"start": 0, "end": 1, "label": "x"}]],
        why=[long, ""],
    )
    made, account = read(file)
    assert values(made, "stars", "tone") == [*(("a", "u0", "1"), ("a", "u0", "x"), ("a", "u1", "2"), ("a", "u1", "y"))]
    assert values(made, "tags: x", "tags: y", "tags: z") == [
        *(("a", "u0", "yes"), ("a", "u0", "no"), ("a", "u0", "no")),
        *(("a", "u1", "no"), ("a", "u1", "yes"), ("a", "u1", "yes")),
    ]
    assert account.counts["argilla.left.kind"] == 3
    assert account.counts["argilla.left.text"] == 1
    kinds = next(note for note in made.notes if note.key == "argilla.note.kinds").fields["questions"]
    assert kinds == "stars: rating, tone: choices, tags: choices, order: ranking, spans: span, why: textarea"
    made, _ = read(nested(tmp_path / "a.json", tags=[["x"], ["y"]]))
    assert values(made, "tags: x") == [("a", "u0", "yes"), ("a", "u1", "no")]


def test_parquet_with_class_labels(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    frame = pl.DataFrame(
        {
            "id": ["007", "008"],
            "status": ["completed", "pending"],
            "text": ["茶", "b"],
            "vector": [[0.5, 0.25], None],
            "tone.responses": [["formal", "casual"], None],
            "tone.responses.users": [["u", "v"], None],
            "tone.responses.status": [["submitted", "submitted"], None],
            "tone.suggestion": [0, 1],
            "tone.suggestion.agent": ["m", None],
        }
    )
    features = {"info": {"features": {"tone.suggestion": {"names": ["formal", None], "_type": "ClassLabel"}}}}
    frame.write_parquet(file, metadata={"huggingface": json.dumps(features)})
    assert IMPORTER.recognise(file).kind == "yes"
    made, _ = read(file, settings=SETTINGS)
    assert values(made, "tone") == [("007", "u", "formal"), ("007", "v", "casual")]
    assert made.judgments is not None
    assert made.judgments.rows() == [("007", "m", "tone", "formal", "ok")]
    assert made.items is not None
    assert made.items.rows() == [("007", "茶"), ("008", "b")]


def test_settings(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    options = [{"value": value} for value in (0, 5, 10)]
    question = {"name": "stars", "title": "Stars?", "settings": {"type": "rating", "options": options}}
    file.write_text(json.dumps({"questions": [question]}))
    made, _ = read(nested(tmp_path / "a.json", stars=[5, 10]), settings={"settings": str(file), "language": "en"})
    assert made.questions is not None
    assert (
        made.questions.rows(named=True)[0] | {"level": "ordinal", "labels": "0;5;10", "text.en": "Stars?"}
        == (made.questions.rows(named=True)[0])
    )
    with pytest.raises(InputError, match="which is no option of the question stars: 0, 5, 10"):
        read(nested(tmp_path / "a.json", stars=[4]), settings={"settings": str(file)})
    file.write_text("[]")
    with pytest.raises(InputError, match="holds no settings"):
        read(nested(tmp_path / "a.json", stars=[4]), settings={"settings": str(file)})
    question["settings"] = {"type": "rating", "options": [{"value": "many"}]}
    file.write_text(json.dumps({"questions": [question]}))
    with pytest.raises(InputError, match="the options of a rating are whole numbers"):
        read(nested(tmp_path / "a.json", stars=[4]), settings={"settings": str(file)})


def test_broken_records() -> None:
    with pytest.raises(InputError, match=r"line 1: the field 'quality.responses' is 9") as caught:
        read(DATA / "broken.json", settings=SETTINGS)
    assert Path(caught.value.fields["file"]).name == "broken.json"
    made, account = read(DATA / "broken.json", settings=SETTINGS, skip_broken=True)
    assert values(made, "quality", "tone") == [("010", ONE, "1"), ("010", ONE, "formal")]
    assert [error.fields["line"] for error in account.broken_records] == [1, 2, 3]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"responses": {"q": [{"value": 1}]}}, "user_id"),
        ({"responses": {"q": [{"value": 1, "user_id": "u", "status": "gone"}]}}, "has to be one of submitted"),
        ({"responses": {"q": 4}}, "of the kind array"),
        ({"id": None}, "'id' is missing"),
    ],
)
def test_broken_fields(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    file = nested(tmp_path / "a.json", q=[1])
    record = json.loads(file.read_text())[0]
    file.write_text(json.dumps([{**record, **change}]))
    with pytest.raises(InputError, match=said):
        read(file)


def test_two_records_of_an_id(tmp_path: Path) -> None:
    file = nested(tmp_path / "a.json", q=[1])
    record = json.loads(file.read_text())[0]
    file.write_text(json.dumps([record, {**record, "fields": {"text": "other"}}]))
    with pytest.raises(InputError, match="another record with the id a has another 'text'"):
        read(file)
