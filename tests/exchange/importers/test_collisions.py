"""Ids that come again in another file: the same thing or an error, never another thing's answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.exchange.importers.judgeside import rows

from voirdire.errors import InputError
from voirdire.exchange.importers import (
    argilla,
    datasets_folder,
    dices,
    inspect_logs,
    labelstudio,
    langsmith,
    lmms_eval,
    mlflow_scores,
    promptfoo,
)
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.contract import Importer, ImportOptions, Tables

SHORT = ("item_id", "question", "repeat", "rating")


def take(importer: Importer, *files: Path, skip_broken: bool = False, **settings: str) -> Tables:
    account = Account(skip_broken=skip_broken)
    assert importer.read is not None
    made = importer.read(files, ImportOptions(skip_broken=skip_broken, settings=settings), account)
    assert account.balanced
    return made


def cells(table: pl.DataFrame | None, *columns: str) -> list[Any]:
    """Rows of the columns; of one column its values."""
    assert table is not None
    found = table.select(columns or table.columns)
    return found.to_series().to_list() if len(columns) == 1 else found.rows()


def refused(importer: Importer, *files: Path, **settings: str) -> Mapping[str, Any]:
    with pytest.raises(InputError) as caught:
        take(importer, *files, skip_broken=False, **settings)
    message = caught.value.message("en")
    assert caught.value.message("zh") != message
    assert all(str(caught.value.fields[name]) in message for name in ("file", "field", "item", "value", "earlier"))
    return caught.value.fields


def differs(fields: Mapping[str, Any]) -> tuple[str, str, str, str]:
    return fields["field"], fields["item"], fields["value"], fields["earlier"]


def write(file: Path, value: Any) -> Path:
    file.write_text(json.dumps(value), encoding="utf-8")
    return file


def test_shards_of_a_split_are_numbered_on(tmp_path: Path) -> None:
    for number, texts in enumerate((["A", "B"], ["C", "D"])):
        shard = {"text": texts, "annotations": [[1, 2], [1, 1]], "annotator_ids": [["u", "v"], ["u", "w"]]}
        pl.DataFrame(shard).write_parquet(tmp_path / f"train-{number:05}-of-00002.parquet")
    expected = [("train-1", "A"), ("train-2", "B"), ("train-3", "C"), ("train-4", "D")]
    made = take(datasets_folder.IMPORTER, tmp_path)
    assert cells(made.items, "item_id", "text") == expected
    assert list(dict.fromkeys(cells(made.ratings, "item_id"))) == [item for item, _ in expected]
    plain = take(datasets_folder.IMPORTER, *sorted(tmp_path.glob("*.parquet")))
    assert cells(plain.items, "item_id", "text") == [
        ("1", "A"), ("2", "B"), ("3", "C"), ("4", "D"),
    ]  # fmt: skip


def test_items_of_splits_with_the_same_ids(tmp_path: Path) -> None:
    for split, text in (("test", "A"), ("train", "B")):
        table = {"item_id": ["7"], "text": [text], "annotations": [[1, 2]], "annotator_ids": [["u", "v"]]}
        pl.DataFrame(table).write_parquet(tmp_path / f"{split}.parquet")
    assert differs(refused(datasets_folder.IMPORTER, tmp_path)) == ("text", "7", "B", "A")
    skipped = take(datasets_folder.IMPORTER, tmp_path, skip_broken=True)
    assert len(cells(skipped.ratings)) == 2
    one = take(datasets_folder.IMPORTER, tmp_path, split="train")
    assert cells(one.items, "text") == ["B"]


def long(texts: tuple[str, str], wave: int) -> pl.DataFrame:
    item, rater, rating = ["1", "1", "2"], ["u", "v", "u"], [1, 2, 3]
    told = {"text": [texts[0], texts[0], texts[1]], "age": [30, 50, 30], "wave": [wave] * 3}
    return pl.DataFrame({"item_id": item, "rater_id": rater, "rating": rating, **told})


def test_rows_a_rating_of_two_files(tmp_path: Path) -> None:
    first, second, again = (tmp_path / f"{name}.parquet" for name in "abc")
    long(("A", "B"), 1).write_parquet(first)
    long(("C", "D"), 2).write_parquet(second)
    long(("A", "B"), 2).write_parquet(again)
    assert differs(refused(datasets_folder.IMPORTER, first, second)) == ("text", "1", "C", "A")
    made = take(datasets_folder.IMPORTER, first, again)
    assert cells(made.items) == [("1", "A"), ("2", "B")]


def conversation(file: Path, rater: str, gender: str, context: str, more: str = "") -> Path:
    columns = f"rater_id,item_id,rater_gender,context,response{',' * bool(more)}{more},Q_overall"
    values = f"{rater},7,{gender},{context},bye{',' * bool(more)}{more},Yes"
    file.write_text(f"{columns}\n{values}\n", encoding="utf-8")
    return file


def test_two_data_sets_of_dices(tmp_path: Path) -> None:
    first = conversation(tmp_path / "a.csv", "1", "Man", "hello")
    other = conversation(tmp_path / "b.csv", "2", "Man", "other")
    person = conversation(tmp_path / "c.csv", "1", "Woman", "hello")
    assert differs(refused(dices.IMPORTER, first, other)) == ("text", "7", "other\nbye", "hello\nbye")
    assert differs(refused(dices.IMPORTER, first, person)) == ("gender", "1", "Woman", "Man")
    wider = conversation(tmp_path / "d.csv", "2", "Man", "hello", "harm_type")
    with pytest.raises(InputError) as caught:
        take(dices.IMPORTER, first, wider)
    assert caught.value.key == "research.dices.several"
    skipped = take(dices.IMPORTER, first, other, skip_broken=True)
    assert cells(skipped.ratings, "rater_id") == ["1"]
    assert cells(skipped.raters, "rater_id") == ["1"]


def task(file: Path, data: dict[str, Any], who: int) -> Path:
    result = [{"from_name": "q", "to_name": "t", "type": "rating", "value": {"rating": 3}}]
    given = [{"completed_by": who, "was_cancelled": False, "result": result}]
    return write(file, [{"id": 1, "data": data, "annotations": given}])


def test_two_projects_of_label_studio(tmp_path: Path) -> None:
    first = task(tmp_path / "a.json", {"text": "A", "own": "x"}, 1)
    other = task(tmp_path / "b.json", {"image": "/dog.png", "own": "x"}, 2)
    assert differs(refused(labelstudio.IMPORTER, first, other)) == ("data.image", "1", "/dog.png", "")
    assert labelstudio.IMPORTER.read is not None
    made = labelstudio.IMPORTER.read([first, other], ImportOptions(mapping={"item_id": "own"}), Account())
    assert cells(made.items) == [("x", "A", "/dog.png")]


def test_two_data_sets_of_argilla(tmp_path: Path) -> None:
    def records(name: str, fields: dict[str, str]) -> Path:
        said = {"q": [{"value": 3, "user_id": name}]}
        told = {"id": "1", "fields": fields, "metadata": {}, "suggestions": {}, "responses": said}
        return write(tmp_path / f"{name}.json", [told])

    first, other = records("a", {"text": "A"}), records("b", {"image": "dog"})
    assert differs(refused(argilla.IMPORTER, first, other)) == ("image", "1", "dog", "")
    again = take(argilla.IMPORTER, first, records("c", {"text": "A"}))
    assert cells(again.ratings, "rater_id") == ["a", "c"]


def log(file: Path, name: str, *samples: tuple[Any, str, dict[str, Any]]) -> Path:
    listed = [
        {"id": item, "epoch": 1, "input": said, "target": "", "output": {"completion": "4"},
         "scores": {scorer: {"value": value} for scorer, value in scores.items()}}
        for item, said, scores in samples
    ]  # fmt: skip
    spec = {"task": name, "model": "m", "dataset": {}, "config": {}}
    return write(file, {"version": 2, "status": "success", "eval": spec, "samples": listed})


def test_logs_of_two_tasks(tmp_path: Path) -> None:
    first = log(tmp_path / "a.json", "A", (1, "one", {"s": 4}))
    other = log(tmp_path / "b.json", "B", (1, "two", {"s": 2}))
    fields = refused(inspect_logs.IMPORTER, first, other)
    assert (*differs(fields), fields["how"]) == ("text", "1", "two", "one", "{eval.task} {sample.id}")
    named = take(inspect_logs.IMPORTER, first, other, item=fields["how"])
    assert rows(named, SHORT) == [("A 1", "s", "1", "4"), ("B 1", "s", "1", "2")]
    asked = take(inspect_logs.IMPORTER, first, other, texts="first")
    assert cells(asked.items, "text") == ["one"]


def test_ids_of_two_kinds_in_one_log(tmp_path: Path) -> None:
    both = log(tmp_path / "a.json", "A", (1, "one", {"s": 4}), ("1", "text one", {"s": 2}))
    assert differs(refused(inspect_logs.IMPORTER, both)) == ("text", "1", "text one", "one")


def test_scorers_with_a_score_of_the_same_name(tmp_path: Path) -> None:
    scores = {"s1": {"quality": 5, "tone": 2}, "s2": {"quality": 1}}
    file = log(tmp_path / "a.json", "A", (1, "one", scores))
    expected = [("1", "s1.quality", "1", "5"), ("1", "tone", "1", "2"), ("1", "s2.quality", "1", "1")]
    assert rows(take(inspect_logs.IMPORTER, file), SHORT) == expected
    renamed = take(inspect_logs.IMPORTER, file, scores="s2.quality", questions="q1=s2.quality")
    assert rows(renamed, SHORT) == [("1", "q1", "1", "1")]


def result(number: int, said: dict[str, str], score: int) -> dict[str, Any]:
    told = {"provider": {"id": "m"}, "prompt": {"raw": "x {{y}}", "label": "p"}, "response": {"output": "o"}}
    more = {"namedScores": {"q": score}, "score": score, "success": True, "failureReason": 0}
    return {"testIdx": number, "promptIdx": 0, "vars": said, **told, **more}


def results(file: Path, *told: dict[str, Any]) -> Path:
    return write(file, {"evalId": "e", "results": {"version": 3, "results": list(told)}})


def test_tests_of_promptfoo_with_and_without_an_id(tmp_path: Path) -> None:
    mixed = results(tmp_path / "a.json", result(0, {"text": "A"}, 4), result(1, {"id": "1", "text": "B"}, 2))
    expected = [("test 1", "q", "1", "4"), ("1", "q", "1", "2")]
    assert rows(take(promptfoo.IMPORTER, mixed), SHORT) == expected


def test_an_id_of_promptfoo_with_another_text(tmp_path: Path) -> None:
    first = results(tmp_path / "a.json", result(0, {"id": "1", "text": "A"}, 4))
    other = results(tmp_path / "b.json", result(0, {"id": "1", "text": "B"}, 2))
    fields = refused(promptfoo.IMPORTER, first, other)
    assert differs(fields) == ("text", "1", "B", "A")
    named = take(promptfoo.IMPORTER, first, other, item=fields["how"])
    assert rows(named, SHORT) == [("a.json 1", "q", "1", "4"), ("b.json 1", "q", "1", "2")]


def test_tables_of_mlflow(tmp_path: Path) -> None:
    def table(name: str, said: str, score: int) -> Path:
        columns = ["inputs", "outputs", "latency", "tone/v1/score", "tone/v1/justification"]
        return write(tmp_path / name, {"columns": columns, "data": [[said, "out", 0.5 * score, score, f"is {score}"]]})

    first, again, other = table("a.json", "A", 4), table("b.json", "A", 3), table("c.json", "B", 2)
    assert rows(take(mlflow_scores.IMPORTER, first, again, judge="j"), SHORT) == [
        ("1", "tone", "1", "4"), ("1", "tone", "2", "3"),
    ]  # fmt: skip
    fields = refused(mlflow_scores.IMPORTER, first, other, judge="j")
    assert differs(fields) == ("inputs", "1", "B", "A")
    named = take(mlflow_scores.IMPORTER, first, other, judge="j", item=fields["how"])
    assert rows(named, SHORT) == [("a.json 1", "tone", "1", "4"), ("c.json 1", "tone", "1", "2")]


def test_samples_of_lmms_without_a_hash(tmp_path: Path) -> None:
    def samples(name: str, target: str) -> Path:
        file = tmp_path / f"samples_{name}.jsonl"
        return write(file, {"doc_id": 0, "target": target, "filtered_resps": ["4"], "acc": 1})

    fields = refused(lmms_eval.IMPORTER, samples("a", "x"), samples("b", "y"))
    assert differs(fields) == ("target", "0", "y", "x")


def test_feedback_of_langsmith_with_a_key_twice(tmp_path: Path) -> None:
    def told(key: str, value: Any) -> dict[str, Any]:
        return {"run_id": "r", "key": key, "score": None, "value": value, "feedback_source": {"type": "model"}}

    file = write(tmp_path / "a.json", [told("a", {"x": 1, "y": 2}), told("b", {"x": 5}), told("x", 3)])
    assert rows(take(langsmith.IMPORTER, file), SHORT) == [
        ("r", "a.x", "1", "1"), ("r", "y", "1", "2"), ("r", "b.x", "1", "5"), ("r", "x", "1", "3"),
    ]  # fmt: skip
