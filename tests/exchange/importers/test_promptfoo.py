"""Results of promptfoo: what its page does not show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.exchange.importers.judgeside import DATA, read, rows

from voirdire.app.audit import audit
from voirdire.app.importing import take_in
from voirdire.errors import InputError
from voirdire.exchange.importers.contract import ImportOptions
from voirdire.exchange.importers.promptfoo import IMPORTER

HERE = DATA / "promptfoo"


def result(test: int, **more: Any) -> dict[str, Any]:
    return {
        "testIdx": test, "promptIdx": 0, "provider": {"id": "p"}, "vars": {},
        "prompt": {"raw": "Rate {{x}}", "label": ""},
        "response": {"output": "4"}, "namedScores": {}, "score": 1, "success": True, "failureReason": 0, **more,
    }  # fmt: skip


def lines(path: Path, *results: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in results))
    return path


def test_recognised(tmp_path: Path) -> None:
    assert IMPORTER.recognise(HERE / "results.json").kind == "yes"
    assert IMPORTER.recognise(HERE / "broken.jsonl").kind == "yes"
    assert IMPORTER.recognise(HERE / "table.csv").kind == "nearly"
    assert IMPORTER.recognise(HERE / "ratings.csv").kind == "no"
    old = tmp_path / "old.json"
    old.write_text(json.dumps({"version": 2, "results": [], "table": {"body": [{"promptIdx": 0}]}}))
    assert IMPORTER.recognise(old).kind == "nearly"


def test_named_scores_value_by_value() -> None:
    made, account = read(IMPORTER, HERE / "results.json")
    expected: list[tuple[Any, ...]] = []
    cells = [
        ("judge-a", "plain", "0.6"), ("judge-a", "persona us", "0.8"),
        ("file://./judge2.js", "plain", "0.4"), ("file://./judge2.js", "persona us", "1"),
    ]  # fmt: skip
    for item in ("007", "二", "s3", "s4"):
        for judge, condition, strict in cells:
            rating, status = {"s3": (None, "error"), "s4": ("0", "ok")}.get(item, (strict, "ok"))
            expected.append((item, judge, condition, "Strict", "1", rating, status))
            if item == "s4":
                expected.append((item, judge, condition, "Three", "1", "0", "ok"))
    assert rows(made) == expected
    assert (account.answers, account.taken) == (20, 20)
    assert made.items is not None
    assert made.items.rows() == [("007", "茶 🍵"), ("二", 'a, "b"\nc'), ("s3", "boom"), ("s4", "words")]


def test_tests_without_ids_prompts_without_labels_and_repeats(tmp_path: Path) -> None:
    file = lines(
        tmp_path / "a.jsonl",
        result(0, vars={"text": "x"}, promptId="k", provider="plain"),
        result(1, vars={"text": "x"}, promptId="k", provider="plain", score=0),
        result(2, vars={"text": "y"}, promptId="l", response={"output": "I cannot", "isRefusal": True}, success=False),
    )
    made, _ = read(IMPORTER, file, settings={"scores": "score,pass,output"})
    assert rows(made, ("item_id", "judge", "condition", "question", "repeat", "rating", "status")) == [
        ("1", "plain", "prompt 1", "score", "1", "1", "ok"),
        ("1", "plain", "prompt 1", "pass", "1", "true", "ok"),
        ("1", "plain", "prompt 1", "output", "1", "4", "ok"),
        ("1", "plain", "prompt 1", "score", "2", "0", "ok"),
        ("1", "plain", "prompt 1", "pass", "2", "true", "ok"),
        ("1", "plain", "prompt 1", "output", "2", "4", "ok"),
        ("2", "p", "prompt 2", "score", "1", "1", "ok"),
        ("2", "p", "prompt 2", "pass", "1", "false", "ok"),
        ("2", "p", "prompt 2", "output", "1", None, "refused"),
    ]
    made, _ = read(IMPORTER, file)
    assert {row[3] for row in rows(made)} == {"score"}
    with pytest.raises(InputError, match="no score is called 'tone'; there are: output, score, pass"):
        read(IMPORTER, file, settings={"scores": "tone"})


def test_errors_have_the_scores_of_their_test(tmp_path: Path) -> None:
    sets = [{"type": "assert-set", "assert": [{"metric": "warm"}, {"metric": "{{m}}"}]}]
    file = lines(
        tmp_path / "a.jsonl",
        result(0, failureReason=2, response=None, error="gone", testCase={"assert": sets}),
        result(1, namedScores={"warm": 0.5}),
        result(1, provider={"id": "q"}, failureReason=2, response={"error": "late"}, score=0),
    )
    made, account = read(IMPORTER, file)
    assert rows(made, ("item_id", "judge", "question", "rating", "status", "raw")) == [
        ("1", "p", "warm", None, "error", "gone"),
        ("1", "p", "warm", "0.5", "ok", "4"),
        ("1", "q", "warm", None, "error", "late"),
    ]
    assert account.answers == 3
    made, account = read(IMPORTER, file, settings={"scores": "output"})
    assert account.counts == {"judged.left.not_asked": 3}
    assert rows(made, ("question", "status")) == [("output", "error"), ("output", "ok"), ("output", "error")]


def test_what_a_person_graded_is_no_judgment(tmp_path: Path) -> None:
    graded = {"componentResults": [{"score": 1, "assertion": {"type": "human"}}]}
    file = lines(tmp_path / "a.jsonl", result(0, gradingResult=graded), result(1, score=0.5, vars={"id": 7}))
    made, account = read(IMPORTER, file)
    assert rows(made, ("item_id", "question", "rating")) == [("7", "score", "0.5")]
    assert account.counts == {"promptfoo.left.by_hand": 1}
    made, _ = read(IMPORTER, file, settings={"scores": "output"})
    assert len(rows(made)) == 2


def test_an_audit_of_results(tmp_path: Path) -> None:
    options = ImportOptions(settings={"scores": "output", "questions": "q1=output"})
    take_in("promptfoo", [HERE / "results.json"], tmp_path / "judged", options)
    profile = audit(HERE / "ratings.csv", tmp_path / "judged", low=1, high=5, draws=20)
    assert profile.get("mean_rating", question="q1", judge="judge-a", condition="persona us").value == 4.0
