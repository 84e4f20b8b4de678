"""Output of OpenAI's batch API: what its page does not show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.exchange.importers.judgeside import DATA, read, rows

from voirdire.errors import InputError, UsageError
from voirdire.exchange.importers.openai_batch import IMPORTER

HERE = DATA / "openai-batch"


def lines(path: Path, *bodies: Any, name: str = "a") -> Path:
    told = [{"custom_id": name, "response": {"status_code": 200, "body": body}, "error": None} for body in bodies]
    path.write_text("".join(json.dumps(one) + "\n" for one in told))
    return path


def choice(text: Any, finish: str = "stop") -> dict[str, Any]:
    return {"model": "m", "choices": [{"message": {"content": text}, "finish_reason": finish}]}


def test_recognised(tmp_path: Path) -> None:
    assert IMPORTER.recognise(HERE / "output.jsonl").kind == "yes"
    assert IMPORTER.recognise(HERE / "errors.jsonl").kind == "yes"
    assert IMPORTER.recognise(HERE / "requests.jsonl").kind == "nearly"
    assert IMPORTER.recognise(HERE / "questions.csv").kind == "no"
    assert IMPORTER.recognise(tmp_path / "none").kind == "no"


def test_value_by_value() -> None:
    files = (HERE / name for name in ("output.jsonl", "errors.jsonl", "requests.jsonl"))
    made, account = read(IMPORTER, *files, settings={"custom_id": "{item}|{condition}", "scale": "1:5"})
    assert rows(made, ("item_id", "judge", "condition", "question", "rating", "status", "raw")) == [
        ("007", "gpt-x", "us", "rating", "4", "ok", "4"),
        ("007", "gpt-x", "none", "rating", "5", "ok", "5\n"),
        ("二", "gpt-x", "us", "rating", None, "refused", "I'm sorry, but I can't rate people."),
        ("二", "gpt-x", "none", "rating", None, "malformed", "four 😀"),
        ("s3", "gpt-x", "us", "rating", None, "malformed", "3"),
        ("s3", "gpt-x", "none", "rating", None, "refused", "No."),
        ("s4", "gpt-x", "us", "rating", None, "error", "Rate limit reached"),
        (
            "s4", "gpt-x", "none", "rating", None, "pending",
            "This request could not be executed before the completion window expired.",
        ),
        ("s5", "gpt-x", "us", "rating", None, "pending", None),
        ("s5", "gpt-x", "none", "rating", None, "pending", None),
    ]  # fmt: skip
    assert (account.answers, account.taken) == (10, 10)
    assert made.conditions is None


@pytest.mark.parametrize(
    ("body", "rating", "status"),
    [
        (choice([{"type": "text", "text": "2"}]), "2", "ok"),
        (choice(None), None, "malformed"),
        (choice("2", "content_filter"), None, "refused"),
        (choice("<think>5?</think>2"), "2", "ok"),
        (choice("7"), None, "malformed"),
        ({"model": "m", "output": [], "error": {"code": "server_error", "message": "x"}}, None, "error"),
    ],
)
def test_replies(tmp_path: Path, body: dict[str, Any], rating: str | None, status: str) -> None:
    made, _ = read(IMPORTER, lines(tmp_path / "a.jsonl", body), settings={"scale": "1:5"})
    assert rows(made, ("rating", "status")) == [(rating, status)]


def test_ids_of_several_parts(tmp_path: Path) -> None:
    file = lines(tmp_path / "a.jsonl", choice("4"), name="run1/x:y/q2/zh/3")
    made, _ = read(
        IMPORTER, file, settings={"custom_id": "{skip}/{item}/{question}/{language}/{repeat}", "scale": "0:9"}
    )
    assert rows(made) == [("x:y", "m", "language=zh", "q2", "3", "4", "ok")]
    assert made.conditions is not None
    assert made.conditions.rows(named=True) == [{"condition": "language=zh", "language": "zh"}]
    for pattern in ("{condition}", "{item}{condition}", "{item}|{item}", "{item}|{a b}"):
        with pytest.raises(UsageError, match="with names in braces"):
            read(IMPORTER, file, settings={"custom_id": pattern, "scale": "1:5"})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (2, "the field 'custom_id' is missing"),
        (3, r"can be taken apart in more than one way by {item}\|{condition}"),
        (4, r"which is not made like {item}\|{condition}"),
        (5, "this record is no JSON"),
        (6, r"the field 'response.body.choices' is missing"),
    ],
)
def test_broken_lines_are_named(tmp_path: Path, line: int, said: str) -> None:
    one = tmp_path / "broken.jsonl"
    kept = (HERE / "broken.jsonl").read_text(encoding="utf-8").splitlines()
    one.write_text("\n" * (line - 1) + kept[line - 1] + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=said) as caught:
        read(IMPORTER, one, settings={"custom_id": "{item}|{condition}", "scale": "1:5", "judge": "m"})
    assert caught.value.fields["line"] == line


def test_who_judged(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing else says which model was asked"):
        read(IMPORTER, HERE / "errors.jsonl", settings={"scale": "1:5"})
    made, _ = read(IMPORTER, HERE / "errors.jsonl", settings={"scale": "1:5", "judge": "x"})
    assert {row[1] for row in rows(made)} == {"x"}


def test_without_a_scale(tmp_path: Path) -> None:
    file = lines(tmp_path / "a.jsonl", choice(" fine\n"))
    made, _ = read(IMPORTER, file, settings={"scale": "none"})
    assert rows(made, ("rating", "status")) == [("fine", "ok")]
    with pytest.raises(UsageError, match="The scale of the question 'rating' is not known"):
        read(IMPORTER, file)
    with pytest.raises(UsageError, match="write the ends as whole numbers"):
        read(IMPORTER, file, settings={"scale": "5"})
