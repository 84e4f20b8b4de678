"""Scores of Langfuse, LangSmith, MLflow and PyRIT: what their pages do not show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.exchange.importers.judgeside import DATA, read, rows

from voirdire.app.audit import audit
from voirdire.app.importing import take_in
from voirdire.errors import InputError
from voirdire.exchange.importers import langfuse, langsmith, mlflow_scores, pyrit
from voirdire.exchange.importers.contract import Importer, ImportOptions, Tables
from voirdire.exchange.importers.scored import LEFT_PROGRAM, LEFT_TAKE

ALL = (langfuse.IMPORTER, langsmith.IMPORTER, mlflow_scores.IMPORTER, pyrit.IMPORTER)


def rated(made: Tables) -> list[tuple[Any, ...]]:
    assert made.ratings is not None
    return made.ratings.select("item_id", "rater_id", "question", "rating").rows()


@pytest.mark.parametrize(
    ("importer", "file", "kind"),
    [
        (langfuse.IMPORTER, "langfuse/scores.json", "yes"),
        (langfuse.IMPORTER, "langfuse/scores.csv", "yes"),
        (langfuse.IMPORTER, "langfuse/broken.jsonl", "yes"),
        (langsmith.IMPORTER, "langsmith/feedback.jsonl", "yes"),
        (langsmith.IMPORTER, "langsmith/broken.json", "yes"),
        (langsmith.IMPORTER, "langsmith/feedback.csv", "nearly"),
        (mlflow_scores.IMPORTER, "mlflow/traces.json", "yes"),
        (mlflow_scores.IMPORTER, "mlflow/eval_results_table.json", "yes"),
        (mlflow_scores.IMPORTER, "mlflow/traces.csv", "nearly"),
        (pyrit.IMPORTER, "pyrit/scores.json", "yes"),
        (pyrit.IMPORTER, "pyrit/new.jsonl", "yes"),
    ],
)
def test_recognised_by_one_alone(importer: Importer, file: str, kind: str) -> None:
    assert importer.recognise(DATA / file).kind == kind
    assert {one.recognise(DATA / file).kind for one in ALL if one is not importer} == {"no"}
    assert importer.recognise(DATA / "promptfoo" / "results.json").kind == "no"
    assert importer.recognise(DATA / "there" / "is" / "none").kind == "no"


def test_langfuse_value_by_value() -> None:
    here = DATA / "langfuse"
    made, account = read(langfuse.IMPORTER, here / "scores.json", with_text_of_raters=True)
    assert rated(made) == [
        ("007", "user-安", "warmth", "4"),
        ("007", "user-b", "warmth", "2"),
        ("二", "user-b", "tone", "kind"),
        ("二", "user-安", "warmth", "5"),
        ("二", "user-b", "warmth", "2"),
    ]
    assert made.ratings is not None
    assert made.ratings["comment"].to_list() == [None, "too cold 🥶", None, None, None]
    assert made.personal_ids
    assert rows(made, ("item_id", "judge", "question", "rating", "status", "raw")) == [
        ("007", "EVAL", "warmth", "3", "ok", "It is polite."),
        ("二", "EVAL", "safe", "1", "ok", None),
        ("二", "EVAL", "warmth", "1", "ok", None),
    ]
    assert (account.answers, account.counts) == (9, {LEFT_PROGRAM: 1})
    table, _ = read(langfuse.IMPORTER, here / "scores.csv")
    assert [row[0:1] + row[2:] for row in rated(table)] == [row[0:1] + row[2:] for row in rated(made)]
    assert rows(table) == rows(made)


def test_sides_and_programs() -> None:
    file = DATA / "langfuse" / "scores.json"
    made, account = read(langfuse.IMPORTER, file, settings={"take": "judgments", "programs": "judge", "judge": "gpt-x"})
    assert made.ratings is None
    assert account.counts == {LEFT_TAKE: 5}
    assert rows(made, ("judge", "question")) == [("gpt-x", name) for name in ("warmth", "safe", "thumbs", "warmth")]
    made, _ = read(langfuse.IMPORTER, file, settings={"take": "ratings", "programs": "rater", "scores": "thumbs"})
    assert rated(made) == [("二", "API", "thumbs", "1")]
    assert made.judgments is None
    with pytest.raises(InputError, match="no score is called 'cold'; there are: warmth, tone"):
        read(langfuse.IMPORTER, file, settings={"scores": "cold"})


def test_free_text_of_langfuse_and_repeats(tmp_path: Path) -> None:
    one = {
        "id": "1",
        "traceId": "t",
        "observationId": "o",
        "name": "q",
        "source": "EVAL",
        "dataType": "TEXT",
        "value": 0,
    }
    file = tmp_path / "a.jsonl"
    again = {**one, "dataType": "NUMERIC", "value": 2}
    file.write_text("".join(json.dumps(line) + "\n" for line in (one, again, again)))
    made, account = read(langfuse.IMPORTER, file)
    assert rows(made, ("item_id", "repeat", "rating")) == [("o", "1", "2"), ("o", "2", "2")]
    assert account.counts == {"langfuse.left.text": 1}


def test_langsmith_value_by_value() -> None:
    made, account = read(langsmith.IMPORTER, DATA / "langsmith" / "feedback.jsonl")
    first, second = (f"00000000-0000-0000-0000-00000000000{n}" for n in (1, 2))
    ann, bo = (f"00000000-0000-0000-0000-0000000003{n}" for n in ("85", "86"))
    assert rated(made) == [
        (first, ann, "warmth", "4"),
        (first, bo, "warmth", "2"),
        (second, ann, "tone", "kind"),
    ]
    assert rows(made, ("item_id", "judge", "question", "rating", "status")) == [
        (first, "model", "warmth", "3", "ok"),
        (second, "model", "warmth", None, "malformed"),
        (second, "auto_eval", "safe", "true", "ok"),
    ]
    assert account.counts == {LEFT_PROGRAM: 1}


def test_mlflow_value_by_value(tmp_path: Path) -> None:
    made, account = read(mlflow_scores.IMPORTER, DATA / "mlflow" / "traces.json")
    assert rated(made) == [
        ("tr-1", "ann@example.org", "warmth", "4"),
        ("tr-1", "bo", "warmth", "2"),
        ("tr-2", "bo", "warmth", "1"),
    ]
    assert rows(made, ("item_id", "judge", "question", "rating", "status", "raw")) == [
        ("tr-1", "openai:/gpt-x", "warmth", "3", "ok", "礼貌"),
        ("tr-2", "openai:/gpt-x", "warmth", None, "error", "late"),
        ("tr-2", "openai:/gpt-x", "kind", "true", "ok", None),
        ("tr-2", "openai:/gpt-x", "clear", "0.5", "ok", None),
    ]
    assert account.counts == {"mlflow.left.overridden": 1, LEFT_PROGRAM: 1, "mlflow.left.expectation": 1}
    traces = json.loads((DATA / "mlflow" / "traces.json").read_text(encoding="utf-8"))
    whole = [{"info": {"trace_id": one["trace_id"], "assessments": one["assessments"]}, "data": {}} for one in traces]
    file = tmp_path / "traces.json"
    file.write_text(json.dumps(whole))
    assert mlflow_scores.IMPORTER.recognise(file).kind == "yes"
    assert rows(read(mlflow_scores.IMPORTER, file)[0]) == rows(made)


def test_the_table_of_mlflow(tmp_path: Path) -> None:
    table = DATA / "mlflow" / "eval_results_table.json"
    made, _ = read(mlflow_scores.IMPORTER, table, settings={"judge": "m", "item": "{inputs}"})
    assert rows(made, ("item_id", "judge", "question", "rating", "status", "raw")) == [
        ("Rate 茶", "m", "answer_tone", "5", "ok", "kind"),
        ('Rate "x"', "m", "answer_tone", None, "malformed", None),
    ]
    with pytest.raises(InputError, match="the field 'judge' is missing"):
        read(mlflow_scores.IMPORTER, table)
    ragged = tmp_path / "table.json"
    ragged.write_text('{"columns": ["a/v1/score", "b"], "data": [[1]]}')
    with pytest.raises(InputError, match="1 fields where the header has 2"):
        read(mlflow_scores.IMPORTER, ragged, settings={"judge": "m"})


def test_pyrit_value_by_value(tmp_path: Path) -> None:
    here = DATA / "pyrit"
    made, account = read(pyrit.IMPORTER, here / "scores.json", here / "new.jsonl")
    assert rows(made, ("item_id", "judge", "question", "rating", "status")) == [
        ("p-1", "SelfAskTrueFalseScorer", "hate", "true", "ok"),
        ("p-1", "SelfAskLikertScorer", "violence", "0.25", "ok"),
        ("p-2", "SelfAskTrueFalseScorer", "hate", "false", "ok"),
        ("p-3", "SelfAskTrueFalseScorer", "hate, harm", None, "malformed"),
    ]
    assert account.taken == 4
    scores = json.loads((here / "scores.json").read_text(encoding="utf-8"))
    pieces = tmp_path / "pieces.json"
    pieces.write_text(json.dumps([{"id": "p-1", "role": "assistant", "scores": scores}, {"id": "p-9", "scores": []}]))
    assert pyrit.IMPORTER.recognise(pieces).kind == "yes"
    assert rows(read(pyrit.IMPORTER, pieces)[0]) == rows(made)[:3]


def test_an_audit_of_both_sides(tmp_path: Path) -> None:
    here = DATA / "langfuse"
    options = ImportOptions(pool="team", questions=here / "questions.csv")
    take_in(None, [here / "scores.json"], tmp_path / "corpus", options)
    profile = audit(tmp_path / "corpus", tmp_path / "corpus", draws=20)
    assert profile.get("mean_rating", question="warmth", judge="EVAL", condition="-").value == 2.0
