"""Logs of Inspect AI, as its own package writes them, and what its pages do not show."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.exchange.importers.judgeside import DATA, read, rows

from voirdire.app.audit import audit
from voirdire.app.importing import take_in
from voirdire.errors import InputError, UsageError
from voirdire.exchange.importers.contract import ImportOptions
from voirdire.exchange.importers.inspect_logs import IMPORTER

HERE = DATA / "inspect"
SPEC: dict[str, Any] = {"task": "t", "model": "m", "dataset": {}, "config": {}}


def log(path: Path, *samples: dict[str, Any], **spec: Any) -> Path:
    """A log with what a reader needs of one."""
    whole = {"version": 2, "status": "success", "eval": {**SPEC, **spec}, "samples": samples}
    path.write_text(json.dumps(whole))
    return path


def sample(name: Any, epoch: int = 1, **more: Any) -> dict[str, Any]:
    return {"id": name, "epoch": epoch, "input": "", "target": "", "output": {"choices": []}, **more}


@pytest.mark.parametrize("file", ["judge.eval", "judge_us.eval", "judge_us.json", "graded.eval", "broken.json"])
def test_recognised(file: str) -> None:
    assert IMPORTER.recognise(HERE / file).kind == "yes"


def test_not_recognised(tmp_path: Path) -> None:
    assert IMPORTER.recognise(HERE / "header.json").kind == "nearly"
    assert IMPORTER.recognise(HERE / "ratings.csv").kind == "no"
    assert IMPORTER.recognise(tmp_path / "none.eval").kind == "no"
    with zipfile.ZipFile(tmp_path / "other.eval", "w") as archive:
        archive.writestr("readme.txt", "")
    assert IMPORTER.recognise(tmp_path / "other.eval").kind == "no"


def test_the_json_log_value_by_value() -> None:
    made, account = read(IMPORTER, HERE / "judge_us.json")
    where = ("mockllm/model", "judge persona=us")
    expected: list[tuple[Any, ...]] = []
    for item, epoch, rating, status in (
        ("001", "1", "4", "ok"), ("s3", "1", None, "malformed"), ("s4", "1", "3", "ok"), ("二", "1", "3", "ok"),
        ("001", "2", "2", "ok"), ("s3", "2", "4", "ok"), ("s4", "2", None, "error"), ("二", "2", "1", "ok"),
    ):  # fmt: skip
        other = status if status == "error" else "ok"
        expected.append((item, *where, "strict", epoch, rating, status))
        expected.append((item, *where, "warmth", epoch, None if other == "error" else "2", other))
        expected.append((item, *where, "formality", epoch, None if other == "error" else "3.5", other))
    assert rows(made) == expected
    assert (account.answers, account.taken) == (24, 24)
    assert made.items is not None
    assert made.items.row(1) == ("s3", 'Rate <b>bold</b>, "quotes"\nand lines', "4")
    assert made.judges is None
    assert made.conditions is not None
    assert made.conditions.rows(named=True) == [{"condition": "judge persona=us", "persona": "us"}]


def test_both_formats_say_the_same() -> None:
    pytest.importorskip("zstandard")
    packed, _ = read(IMPORTER, HERE / "judge_us.eval")
    plain, _ = read(IMPORTER, HERE / "judge_us.json")
    assert sorted(rows(packed), key=str) == sorted(rows(plain), key=str)


def test_who_judged() -> None:
    pytest.importorskip("zstandard")
    made, _ = read(IMPORTER, HERE / "graded.eval", settings={"letters": "numbers"})
    assert rows(made, ("item_id", "judge", "rating", "status")) == [
        ("001", "mockllm/grader", "1", "ok"),
        ("s3", "mockllm/grader", None, "malformed"),
        ("s4", "mockllm/grader", "0.5", "ok"),
        ("二", "mockllm/grader", "0", "ok"),
    ]
    made, _ = read(IMPORTER, HERE / "graded.eval", settings={"by": "model"})
    assert rows(made, ("judge", "rating", "raw"))[0] == ("mockllm/model", "C", "tea is good 🍵")
    assert made.notes == ()


def test_samples_without_a_score(tmp_path: Path) -> None:
    scored = {"strict": {"value": 4}}
    nothing = {"value": float("nan")}
    filtered = {"choices": [{"message": {"content": "I cannot"}, "stop_reason": "content_filter"}]}
    file = log(
        tmp_path / "a.json",
        sample(1, scores=scored),
        sample(2, limit={"type": "time", "limit": 3}),
        sample(3, scores={}),
        sample(4, scores={"strict": nothing}, output=filtered),
        sample(5, scores=scored, error={"message": "late", "traceback": ""}),
        sample(6, scores=scored, invalidation={"author": "x"}),
        sample(7, scores={"strict": {"value": True}}),
        dataset={"sample_ids": [1, 2, 3, 4, 5, 6, 7, "8"]},
        scorers=[{"name": "strict"}],
    )
    made, account = read(IMPORTER, file)
    assert rows(made, ("item_id", "rating", "status", "raw")) == [
        ("1", "4", "ok", None),
        ("2", None, "error", "limit: time"),
        ("3", None, "pending", None),
        ("4", None, "refused", "I cannot"),
        ("5", None, "error", "late"),
        ("7", "true", "ok", None),
        ("8", None, "pending", None),
    ]
    assert account.counts == {"inspect.left.invalidated": 1}
    made, _ = read(IMPORTER, file, keep=("invalidated",))
    assert ("6", "4") in rows(made, ("item_id", "rating"))


def test_logs_of_earlier_versions(tmp_path: Path) -> None:
    """Of October 2024, without scorers in the header; and of the first version, with one score a sample."""
    old = log(tmp_path / "old.json", sample(1, scores={"match": {"value": "I", "answer": "No"}}))
    made, _ = read(IMPORTER, old)
    assert rows(made) == [("1", "m", "t", "match", "1", "I", "ok")]
    first = json.loads(old.read_text())
    first |= {"version": 1, "results": {"scorer": {"name": "includes", "params": {}}}}
    first["samples"] = [{**sample("a"), "score": {"value": "C"}}]
    old.write_text(json.dumps(first))
    assert rows(read(IMPORTER, old)[0]) == [("a", "m", "t", "includes", "1", "C", "ok")]


def test_a_run_that_was_ended_early(tmp_path: Path) -> None:
    file = tmp_path / "a.eval"
    start = {"version": 2, "eval": {**SPEC, "dataset": {"sample_ids": ["a", "b"]}, "scorers": [{"name": "s"}]}}
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("_journal/start.json", json.dumps(start))
        archive.writestr("samples/a_epoch_1.json", json.dumps(sample("a", scores={"s": {"value": {"warm": 2}}})))
    assert IMPORTER.recognise(file).kind == "yes"
    assert rows(read(IMPORTER, file)[0], ("item_id", "question", "rating", "status")) == [
        ("a", "warm", "2", "ok"),
        ("b", "warm", None, "pending"),
    ]


def test_texts_of_messages_and_attachments(tmp_path: Path) -> None:
    said = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "茶"}, {"type": "image", "image": "data:..."}]},
        {"role": "user", "content": "attachment://k"},
    ]
    file = log(
        tmp_path / "a.json",
        {**sample(1, scores={"s": {"value": [1, 2]}}), "input": said, "attachments": {"k": "long"}},
    )
    made, _ = read(IMPORTER, file)
    assert made.items is not None
    assert made.items["text"].to_list() == ["茶\nlong"]
    assert rows(made, ("question", "rating")) == [("s.1", "1"), ("s.2", "2")]


def test_graders_of_several_models(tmp_path: Path) -> None:
    grade = {"s": {"value": "C", "metadata": {"grading": [{"role": "user"}, {"role": "assistant", "model": "g"}]}}}
    files = [log(tmp_path / f"{model}.json", sample(1, scores=grade), model=model) for model in "mn"]
    with pytest.raises(InputError, match="graded the answers of several models"):
        read(IMPORTER, *files)
    made, _ = read(IMPORTER, *files, settings={"item": "{sample.id} {eval.model}", "condition": "{eval.task}"})
    assert rows(made, ("item_id", "judge")) == [("1 m", "g"), ("1 n", "g")]
    two = log(tmp_path / "two.json", sample(1, scores=grade), scorers=[{"name": "s", "options": {"model": ["g", "h"]}}])
    assert rows(read(IMPORTER, two)[0], ("judge",)) == [("g, h",)]


def test_how_the_models_were_called(tmp_path: Path) -> None:
    scored = sample(1, scores={"s": {"value": 1}})
    ways = {"m": {"temperature": 0, "seed": 1}, "n": {"temperature": 0.5, "seed": 1}}
    files = [
        log(tmp_path / f"{name}.json", scored, model=name, model_generate_config=way) for name, way in ways.items()
    ]
    made, _ = read(IMPORTER, *files)
    assert made.judges is not None
    assert made.judges.rows(named=True) == [{"judge": "m", "temperature": "0"}, {"judge": "n", "temperature": "0.5"}]


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no field 'eval'"):
        read(IMPORTER, *[_written(tmp_path / "a.json", {"samples": []})])
    with pytest.raises(InputError, match="names no scorer"):
        read(IMPORTER, log(tmp_path / "b.json", sample(1)))
    named = log(tmp_path / "c.json", sample(1, scores={"s": {"value": 1}}))
    with pytest.raises(InputError, match=r"the field 'sample.metadata.x' is missing .* named by {sample.metadata.x}"):
        read(IMPORTER, named, settings={"item": "{sample.metadata.x}"})
    for settings in ({"item": "{sample.id"}, {"questions": "strict"}, {"by": "nobody"}):
        with pytest.raises(UsageError):
            read(IMPORTER, named, settings=settings)
    made, _ = read(IMPORTER, named, named)
    assert [note.key for note in made.notes] == ["judged.note.twice"]


def _written(path: Path, whole: Any) -> Path:
    path.write_text(json.dumps(whole))
    return path


def test_an_audit_of_a_log(tmp_path: Path) -> None:
    options = ImportOptions(settings={"scores": "strict", "questions": "q1=strict"})
    take_in(None, [HERE / "judge_us.json"], tmp_path / "judged", options)
    profile = audit(HERE / "ratings.csv", tmp_path / "judged", low=1, high=5, draws=20)
    where = {"judge": "mockllm/model", "condition": "judge persona=us"}
    assert profile.get("mean_rating", question="q1", **where).value == 3.0
