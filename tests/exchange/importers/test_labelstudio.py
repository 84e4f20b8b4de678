"""Label Studio's export, value by value: what its page does not show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from voirdire.errors import InputError
from voirdire.exchange.importers.account import MISSING, Account
from voirdire.exchange.importers.contract import ImportOptions, Tables
from voirdire.exchange.importers.labelstudio import IMPORTER
from voirdire.exchange.importers.labelstudio_config import read_config
from voirdire.exchange.importers.recognise import recognise

DATA = Path(__file__).parent / "data" / "labelstudio"
CONFIG = {"config": str(DATA / "config.xml")}


def read(*files: Path, **options: Any) -> tuple[Tables, Account]:
    assert IMPORTER.read is not None
    account = Account(skip_broken=options.get("skip_broken", False))
    made = IMPORTER.read(files, ImportOptions(**options), account)
    assert account.balanced
    assert account.taken == sum(
        0 if table is None else table.height for table in (made.ratings, made.judgments, made.comments)
    )
    return made, account


def values(made: Tables, table: str = "ratings", *more: str) -> list[tuple[Any, ...]]:
    found = getattr(made, table)
    assert found is not None
    who = "judge" if table == "judgments" else "rater_id"
    return list(found.select("item_id", who, "question", "rating", *more).rows())


def write(path: Path, *annotations: dict[str, Any], **task: Any) -> Path:
    whole = [{"completed_by": 1, "was_cancelled": False, **one} for one in annotations]
    path.write_text(json.dumps([{"id": 1, "data": {"text": "a"}, "annotations": whole, **task}]), encoding="utf-8")
    return path


def result(name: str, kind: str, **value: Any) -> dict[str, Any]:
    return {"from_name": name, "to_name": "txt", "type": kind, "value": value}


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("export.json", "yes"),
        ("pairs.json", "yes"),
        ("broken.json", "yes"),
        ("storage_102.json", "yes"),
        ("merged.csv", "nearly"),
        ("tasks.json", "nearly"),
        ("config.xml", "no"),
        ("drinks/items.csv", "no"),
        ("../argilla/flat.json", "no"),
        ("there/is/none", "no"),
    ],
)
def test_recognised(file: str, kind: str) -> None:
    assert IMPORTER.recognise(DATA / file).kind == kind


def test_nearly(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    for record, key in (
        ({"text": "a", "q": 4, "annotator": 1, "annotation_id": 7, "lead_time": 2.0}, "labelstudio.merged"),
        ({"id": 1, "data": {"text": "a"}, "completions": []}, "labelstudio.old"),
        ({"id": 1, "data": {"text": "a"}}, "labelstudio.tasks"),
    ):
        file.write_text(json.dumps([record]))
        found = IMPORTER.recognise(file)
        assert (found.kind, found.key) == ("nearly", key)
    with pytest.raises(InputError, match="tasks of Label Studio without annotations"):
        recognise([file])
    file.write_text('[{"images": [], "categories": [], "annotations": [{"id": 1}]}]')
    assert IMPORTER.recognise(file).kind == "no"


def test_a_first_task_longer_than_the_head(tmp_path: Path) -> None:
    many = [{"id": n, "completed_by": n, "result": [result("q", "rating", rating=1)]} for n in range(1, 900)]
    record = {"id": 1, "annotations": many, "data": {"text": "a"}}
    (tmp_path / "a.json").write_text(json.dumps([record]))
    assert IMPORTER.recognise(tmp_path / "a.json").kind == "yes"


def test_without_the_config() -> None:
    made, account = read(DATA / "export.json")
    assert values(made)[:4] == [
        ("1", "3", "quality", "4"),
        ("1", "3", "tone", "formal"),
        ("1", "3", "issues: typo", "yes"),
        ("1", "3", "issues: too long", "yes"),
    ]
    assert made.questions is not None
    assert made.questions.filter(question="quality").rows(named=True) == [
        {"question": "quality", "level": None, "labels": None, "positive": None}
    ]
    assert [note.key for note in made.notes] == [
        *("labelstudio.note.scale", "labelstudio.note.multiple", "labelstudio.note.judged", "labelstudio.note.drawn")
    ]
    assert account.counts["labelstudio.left.ground_truth"] == 2
    assert account.reasons[MISSING].places == [(str(DATA / "export.json"), 2), (str(DATA / "export.json"), 1)]


def test_what_is_kept_and_written() -> None:
    keep = ("cancelled", "ground_truth")
    made, account = read(DATA / "export.json", settings=CONFIG, keep=keep, with_text_of_raters=True)
    truth = [row for row in values(made, "ratings", "status", "seconds", "at") if row[4] == "ground_truth"]
    assert truth == [
        ("1", "ground_truth:1", "quality", "1", "ground_truth", "4.5", "2026-03-09T21:44:49.513742Z"),
        ("1", "ground_truth:1", "tone", "formal", "ground_truth", "4.5", "2026-03-09T21:44:49.513742Z"),
    ]
    assert made.comments is not None
    assert made.comments.rows() == [("1", "3", "why", "a bit long", "2026-03-09T21:41:49.513742Z")]
    assert not {"labelstudio.left.cancelled", "labelstudio.left.ground_truth", "labelstudio.left.text"} & set(
        account.counts
    )
    assert "example.org" not in str(
        [table.rows() for table in (made.ratings, made.items, made.comments) if table is not None]
    )


def test_predictions_by_version_and_number(tmp_path: Path) -> None:
    made, _ = read(DATA / "export.json", settings={**CONFIG, "predictions": "no"})
    assert made.judgments is None
    twice = [{"model_version": "m", "result": [result("q", "rating", rating=n)]} for n in (2, 3)]
    none = {"model_version": None, "result": [result("q", "rating", rating=5), result("t", "textarea", text=["x"])]}
    file = write(tmp_path / "a.json", {"result": [result("q", "rating", rating=4)]}, predictions=[*twice, none])
    made, account = read(file)
    assert values(made, "judgments", "repeat") == [
        ("1", "m", "q", "2", "0"),
        ("1", "m", "q", "3", "1"),
        ("1", "predictions", "q", "5", "0"),
    ]
    assert account.counts["labelstudio.left.text"] == 1
    file = write(tmp_path / "a.json", {"result": [result("q", "rating", rating=4)]}, predictions=[11, 12], drafts=[3])
    _, account = read(file)
    assert dict(account.counts) == {"labelstudio.left.prediction_id": 2, "labelstudio.left.draft": 1}


def test_annotations_in_storage_name_their_task() -> None:
    made, _ = read(DATA / "storage_102.json")
    assert values(made) == [("1", "5", "quality", "5"), ("1", "5", "tone", "casual"), ("1", "5", "minutes", "2")]
    assert made.items is not None
    assert made.items.rows() == [("1", "Tea with milk ☕", "007")]


def test_who_annotated(tmp_path: Path) -> None:
    rated = {"result": [result("q", "rating", rating=4)]}
    people: list[Any] = [7, "zoë", {"id": 0, "email": "a@x.org"}, {"email": "b@x.org", "first_name": "B"}]
    made, _ = read(write(tmp_path / "a.json", *({**rated, "completed_by": one} for one in people)))
    assert [row[1] for row in values(made)] == ["7", "zoë", "0", "b@x.org"]  # an address is replaced by the framework


def test_broken_annotations_are_left_out_alone() -> None:
    with pytest.raises(InputError, match=r"annotations\[1\]\.completed_by") as caught:
        read(DATA / "broken.json")
    assert (caught.value.fields["line"], Path(caught.value.fields["file"]).name) == (1, "broken.json")
    made, account = read(DATA / "broken.json", skip_broken=True)
    assert values(made) == [("1", "3", "quality", "4"), ("2", "5", "quality", "1")]
    assert [(error.fields["line"], error.fields["field"]) for error in account.broken_records] == [
        (1, "annotations[1].completed_by"),
        (2, "annotations[0].result[0].value.rating"),
        (3, "data"),
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (result("q", "pairwise", selected="middle"), "has to be left or right"),
        (result("q", "choices", choices=[1]), "of the kind string"),
        (result("q", "number", number="3"), "of the kind number"),
        ({"type": "rating", "value": {"rating": 3}}, "from_name"),
        ({"from_name": "q", "value": {"rating": 3}}, "type"),
        ("rating", "of the kind object"),
    ],
)
def test_broken_results(tmp_path: Path, given: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(write(tmp_path / "a.json", {"result": [given]}))


def test_ids_from_the_data(tmp_path: Path) -> None:
    made, _ = read(DATA / "export.json", settings=CONFIG, mapping={"item_id": "ref"}, pool_column="ref")
    assert values(made, "ratings", "ref")[0] == ("007", "3", "quality", "4", "007")
    first = write(tmp_path / "a.json", {"result": [result("q", "rating", rating=4)]})
    second = write(tmp_path / "b.json", {"result": [result("q", "rating", rating=2)]}, data={"text": "other"})
    with pytest.raises(InputError, match="another task with the item id 1") as caught:
        read(first, second)
    assert caught.value.fields["field"] == "data.text"
    made, account = read(first, second, skip_broken=True)
    assert values(made) == [("1", "1", "q", "4")]
    assert account.taken == 1
    odd = write(tmp_path / "c.json", {"result": [result("q", "rating", rating=4)]}, data={"level": "B1", "item_id": 5})
    made, _ = read(odd)
    assert made.items is not None
    assert made.items.rows(named=True) == [{"item_id": "1", "level_given": "B1", "item_id_given": "5"}]


def test_comparisons() -> None:
    for options in ({"settings": {"config": str(DATA / "pairs.xml")}}, {"mapping": {"a": "left", "b": "right"}}):
        made, _ = read(DATA / "pairs.json", **options)
        assert values(made, "ratings", "shown_first") == [
            ("1", "3", "better", "a", "a"),
            ("1", "5", "better", "b", "a"),
            ("2", "3", "better", "b", "a"),
            ("2", "5", "better", "b", "a"),
        ]
        assert made.items is not None
        assert made.items.select("item_id", "a", "b").rows() == [("1", "tea", "咖啡"), ("2", "milk", "tea")]
    made, _ = read(DATA / "pairs.json")
    assert [note.key for note in made.notes] == ["labelstudio.note.sides"]


def test_what_a_config_says(tmp_path: Path) -> None:
    file = tmp_path / "a.xml"
    file.write_text(
        '<View><rating NAME="stars" toname="t"/><Choices name="n" toName="t" choice="single-radio">'
        '<Choice value="none" alias="0"/><Choice value="some" alias="1"/></Choices>'
        '<Number name="free" toName="t" min="1"/><Rating name="r" toName="t" perRegion="true"/></View>'
    )
    found = read_config(file)
    assert (found["stars"].low, found["stars"].high, found["n"].labels, found["free"].high) == (1, 5, ("0", "1"), None)
    assert list(found) == ["stars", "n", "free"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<!DOCTYPE v [<!ENTITY a "b">]><View>&a;</View>', "document type"),
        ("<!DOCTYPE v SYSTEM 'file:///etc/passwd'><View/>", "document type"),
        ("<View><Rating></View>", "no XML"),
        ('<View><Rating name="r" maxRating="many"/></View>', "has to be a number"),
    ],
)
def test_configs_that_are_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "a.xml").write_text(text)
    with pytest.raises(InputError, match=said):
        read_config(tmp_path / "a.xml")
