"""Cells for Inspect: every message as a run would send it; the scorer's reading; the log that is imported back."""

from __future__ import annotations

import ast
import asyncio
import hashlib
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from tests.exchange import told_corpus
from tests.judging import corpora

from voirdire.app.run_inputs import RunOptions, read_run
from voirdire.cli.main import run
from voirdire.errors import InputError, UsageError
from voirdire.integrations import inspect_scorer
from voirdire.integrations.inspect_scorer import answer_of, numbers, rating, with_added
from voirdire.judging.nouns import TextPart
from voirdire.judging.plan import Plan
from voirdire.judging.steps import Cell
from voirdire.texts import text

LEVELS = {"low": 1, "high": 5}


def cells(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "cells.jsonl").read_text(encoding="utf-8").splitlines()]


def exported(corpus: Path, out: Path, *options: str) -> list[dict[str, Any]]:
    assert run(["export", "inspect", str(corpus), "--out", str(out), *options]) == 0
    return cells(out)


def plan_of(corpus: Path, grid: str) -> Plan:
    return read_run(corpus, RunOptions(("control/random",), grids=(grid,))).plan


def assert_same_messages(found: list[dict[str, Any]], plan: Plan, folder: Path) -> None:
    """Every cell of the plan stands there once, with the parts of its prompt in order, bytes of images included."""
    wanted = [(i.id, c.name, c.design, q.id) for i in plan.items for c in plan.conditions for q in plan.questions]
    named = [tuple(s["metadata"][name] for name in ("item_id", "condition", "design", "question")) for s in found]
    assert named == wanted
    conditions = {(condition.name, condition.design): condition for condition in plan.conditions}
    for sample in found:
        known = sample["metadata"]
        full = conditions[known["condition"], known["design"]].full_name
        cell = Cell(0, known["item_id"], full, known["question"], 1, "")
        [message] = sample["input"]
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for part, mine in zip(parts, plan.prompt(cell).parts, strict=True):
            if isinstance(mine, TextPart):
                assert part == {"type": "text", "text": mine.text}
            else:
                assert (folder / part["image"]).read_bytes() == mine.path.read_bytes()
        assert message["role"] == "user"
        assert known["prompt_digest"] == plan.prompt(cell).digest
        for number, added in enumerate(known["again"], start=1):
            assert parts[-1]["text"] + added == plan.prompt(cell, number).parts[-1].text


def test_messages_with_images_are_those_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    corpus = told_corpus.write(tmp_path / "corpus")
    found = exported(corpus, tmp_path / "out")
    assert_same_messages(found, plan_of(corpus, "neutral"), tmp_path / "out")
    names = {path.name for path in (tmp_path / "out" / "images").iterdir()}
    assert names == {
        hashlib.sha256((tmp_path / "out" / "images" / name).read_bytes()).hexdigest() + ".png" for name in names
    }
    first = found[0]["metadata"]
    assert {name: first[name] for name in ("voirdire", "item_id", "condition", "low", "high", "reversed")} == {
        "voirdire": 1, "item_id": "p00-us", "condition": "neutral_en", "low": 1, "high": 5, "reversed": False
    }  # fmt: skip
    rated = pl.read_csv(corpus / "ratings.csv").filter(pl.col("item_id") == "p00-us", pl.col("rating").is_not_null())
    means = {pool: rated.filter(pl.col("pool") == pool)["rating"].mean() for pool in ("cn", "us")}
    assert first["consensus"] == pytest.approx(means)


def test_messages_with_demonstrations_are_those_of_a_run(tmp_path: Path) -> None:
    corpus = corpora.demonstrated(tmp_path / "corpus", n_test=1)
    found = exported(corpus, tmp_path / "out", "--grid", "paper-icl", "--repeats", "3")
    assert_same_messages(found, plan_of(corpus, "paper-icl"), tmp_path / "out")
    shown = next(s["metadata"] for s in found if s["metadata"]["design"] != "base")
    assert len(shown["demonstrations"].split()) == 5
    tree = ast.parse((tmp_path / "out" / "task.py").read_text(encoding="utf-8"))
    epochs = [node.value for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "epochs"]
    assert [ast.literal_eval(value) for value in epochs] == [3]


def test_without_ratings_there_is_no_consensus(tmp_path: Path) -> None:
    corpus = corpora.write(tmp_path / "corpus", items=[corpora.item("a\"'{}/../b")], questions=corpora.question())
    [en, zh] = exported(corpus, tmp_path / "out")
    assert en["metadata"]["consensus"] == zh["metadata"]["consensus"] == {}
    assert (en["id"], en["metadata"]["item_id"]) == (1, "a\"'{}/../b")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["cells.jsonl", "task.py"]


@pytest.mark.parametrize(
    ("form", "options", "words"),
    [
        ("inspect", ["--judgments", "x"], "--judgments means nothing for the format inspect"),
        ("csv", ["--grid", "neutral"], "--grid means nothing for the format csv"),
        ("csv", ["--repeats", "0"], "--repeats means nothing for the format csv"),
        ("labelstudio", ["--repeats", "0"], "--repeats means nothing for the format labelstudio"),
        ("inspect", ["--k", "5"], "--k means nothing for the format inspect"),
        ("dashboard", ["--k", "0"], "--k means nothing for the format dashboard"),
        ("pdf", ["--k", "7"], "--k means nothing for the format pdf"),
        ("model-card", ["--k", "7"], "--k means nothing for the format model-card"),
        ("dashboard", ["--repeats", "2"], "--repeats means nothing for the format dashboard"),
        ("inspect", ["--grid", "nowhere"], "nowhere"),
        ("inspect", ["--questions", "q9"], "q9"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    tmp_path: Path, form: str, options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = corpora.demonstrated(tmp_path / "corpus", n_test=1)
    assert run(["export", form, str(corpus), "--out", str(tmp_path / "out"), *options]) == 3
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def state(reply: str, stop: str = "stop", **metadata: Any) -> Any:
    return SimpleNamespace(sample_id=7, metadata=metadata, output=SimpleNamespace(completion=reply, stop_reason=stop))


@pytest.mark.parametrize(
    ("reply", "stop", "more", "kind", "value"),
    [
        ("4", "stop", {}, "ok", 4.0),
        ("4", "stop", {"reversed": True}, "ok", 2.0),
        ("<think>2 or 3</think>3", "stop", {}, "ok", 3.0),
        ("4", "max_tokens", {}, "malformed", None),
        ("4", "content_filter", {}, "refused", None),
        ("4/5", "stop", {}, "malformed", None),
        ("6", "stop", {}, "malformed", None),
        ("I'm sorry, but I can't rate people.", "stop", {}, "refused", None),
    ],
)
def test_replies_are_read_by_our_rules(reply: str, stop: str, more: dict[str, Any], kind: str, value: float) -> None:
    answer = answer_of(state(reply, stop, **LEVELS, **more))
    assert (answer.reading.kind, answer.rating) == (kind, value)
    assert answer_of(state(reply, stop, **more), 1, 5) == answer


def test_a_sample_without_a_scale_is_named() -> None:
    with pytest.raises(InputError, match="sample 7"):
        answer_of(state("4"))
    with pytest.raises(InputError, match="whole ends"):
        answer_of(state("4", low=5, high=1))


def score(sample: int, value: float, question: str = "q1", **consensus: float) -> Any:
    held = SimpleNamespace(as_float=lambda: value)
    return SimpleNamespace(sample_id=sample, score=held, sample_metadata={"question": question, "consensus": consensus})


def test_numbers_are_of_every_pool_and_question() -> None:
    """By hand: repeats of a cell are averaged before cells are; a pair counts the cells that have both pools."""
    one = [score(1, 4, us=5, cn=2), score(1, 2, us=5, cn=2), score(2, 3, us=3)]
    assert numbers(one) == {"mae us": 1.0, "cells us": 2.0, "mae cn": 1.0, "cells cn": 1.0, "delta us-cn": 1.0}
    two = numbers([*one, score(3, 1, "q2", us=4)])
    assert (two["q1: mae us"], two["q2: mae us"], two["q2: cells us"]) == (1.0, 3.0, 1.0)
    assert numbers([]) == {}
    assert numbers([score(1, 4)]) == {}


def test_without_inspect_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    inspect_scorer._parts.cache_clear()
    with pytest.raises(UsageError, match="pip install inspect-ai"):
        rating()


class Message:
    """As much of a message as the solver touches."""

    def __init__(self, content: Any = None, text: str = "") -> None:
        self.content, self.text = content, text

    def model_copy(self, update: dict[str, Any]) -> Message:
        return Message(**{"content": self.content, "text": self.text} | update)


def test_a_malformed_reply_is_asked_again_as_a_run_does() -> None:
    replies, heard = iter(["4.", "**4**", "4"]), []

    async def generate(asked: Any) -> Any:
        heard.append(asked.messages[-1].content)
        asked.output.completion = next(replies)
        return asked

    asked = state("", again=[" first", " second"], **LEVELS)
    asked.messages = [Message("rate")]
    done = asyncio.run(inspect_scorer._asking()(asked, generate))
    assert heard == ["rate", "rate first", "rate second"]
    assert done.metadata["attempts"] == 3
    shown = with_added(Message([Message(text="picture"), Message(text="rate")]), "!")
    assert [part.text for part in shown.content] == ["picture", "rate!"]


def log(samples: list[dict[str, Any]], ids: list[int]) -> dict[str, Any]:
    """A log in the shape of inspect_ai 0.3.285, with what the importer reads."""
    spec = {
        "task": "voirdire", "model": "openai/gpt-4o", "dataset": {"name": "cells", "sample_ids": ids},
        "config": {"epochs": 2}, "scorers": [{"name": "voirdire", "options": {}}], "task_args": {},
    }  # fmt: skip
    return {"version": 2, "status": "success", "eval": spec, "results": {}, "samples": samples}


def sample(number: int, epoch: int, value: float, status: str, reply: str, **metadata: Any) -> dict[str, Any]:
    told = {"voirdire": 1, "item_id": "饺子 🥟", "condition": "neutral_zh", "question": "q2", "design": "base"}
    return {
        "id": number, "epoch": epoch, "input": [{"role": "user", "content": "rate"}], "target": "",
        "output": {"completion": reply, "choices": []},
        "metadata": told | {"factors": {"language": "zh"}} | metadata,
        "scores": {"voirdire": {"value": value, "metadata": {"status": status, "attempts": 1}}},
    }  # fmt: skip


def test_a_log_of_ours_says_its_own_cells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    samples = [
        sample(1, 1, 4.0, "ok", "4"),
        sample(1, 2, float("nan"), "malformed", "4."),
        sample(2, 1, float("nan"), "refused", "no", condition="cn_zh", design="aa", factors={"persona": "cn"}),
    ]
    (tmp_path / "log.json").write_text(json.dumps(log(samples, [1, 2, 3])), encoding="utf-8")
    assert run(["import", str(tmp_path / "log.json"), "--out", str(tmp_path / "out")]) == 0
    rows = pl.read_csv(tmp_path / "out" / "judgments.csv").select(
        "item_id", "judge", "condition", "design", "question", "repeat", "rating", "status", "raw"
    )
    judge = "openai/gpt-4o"
    assert rows.rows() == [
        ("饺子 🥟", judge, "neutral_zh", "base", "q2", 1, 4, "ok", "4"),
        ("饺子 🥟", judge, "neutral_zh", "base", "q2", 2, None, "malformed", "4."),
        ("饺子 🥟", judge, "cn_zh", "aa", "q2", 1, None, "refused", "no"),
        ("饺子 🥟", judge, "cn_zh", "aa", "q2", 2, None, "pending", None),
    ]
    conditions = pl.read_csv(tmp_path / "out" / "conditions.csv")
    assert conditions.rows() == [("neutral_zh", "zh", "base", None), ("cn_zh", None, "aa", "cn")]
    printed = capsys.readouterr().out
    assert "6 read, 4 taken, 2 left out" in printed
    assert text("inspect.left.unknown_cell") in printed
