"""Cells run by Inspect AI itself, with its mock of a model: the task, the scorer, the way back."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.judging import corpora

from voirdire.cli.main import run
from voirdire.integrations.inspect_scorer import pools, rating

pytestmark = pytest.mark.filterwarnings("ignore")  # of its own streams
pytest.importorskip("inspect_ai", reason="the package lives in the conformance environment")

FIRST = ("no explanation.", "也不要解释。")
"""How a message ends that no malformed reply came before."""
CN = {"t0": 1, "t1": 2, "t2": 1}
"""What the pool cn says of each item; the mean of the pool us is 4.5 everywhere."""
REFUSAL = "I'm sorry, but I can't rate people."


def corpus(folder: Path) -> Path:
    """Three text items in two languages; the pools us and cn rate them apart."""
    items = [corpora.item(name) for name in CN]
    ratings = [
        corpora.rating(name, pool, level, rater)
        for name, mean in CN.items()
        for pool, level, rater in (("us", 5, "1"), ("us", 4, "2"), ("cn", mean, "1"))
    ]
    return corpora.write(folder, items=items, ratings=ratings, questions=corpora.question())


def task_of(folder: Path) -> Any:
    spec = importlib.util.spec_from_file_location("exported_task", folder / "task.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.voirdire()


def answered(task: Any, folder: Path) -> tuple[Any, list[str]]:
    """The log of a run and the messages; the first reply to t0 is malformed, every one to t1 a refusal."""
    from inspect_ai import eval as run_eval
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    heard: list[str] = []

    def reply(messages: Any, *_: Any) -> Any:
        heard.append(messages[-1].text)
        said = "4" if "usual" in heard[-1] else "3"
        if "t0" in heard[-1] and heard[-1].endswith(FIRST):
            said = f"{said}."
        output = ModelOutput.from_content("mockllm/model", REFUSAL if "t1" in heard[-1] else said)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    model = get_model("mockllm/model", custom_outputs=reply)
    [log] = run_eval(task, model=model, log_dir=str(folder), log_format="json", display="none", max_connections=1)
    assert log.status == "success", log.error
    return log, heard


def test_cells_go_to_inspect_and_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    source, folder = corpus(tmp_path / "corpus"), tmp_path / "task"
    assert run(["export", "inspect", str(source), "--repeats", "2", "--out", str(folder)]) == 0
    log, heard = answered(task_of(folder), tmp_path / "logs")
    assert any("Reply with one integer from 1 to 5 only." in text for text in heard)
    [file] = (tmp_path / "logs").glob("*.json")
    assert run(["import", "inspect", str(file), "--out", str(tmp_path / "judged")]) == 0
    judged = pl.read_csv(tmp_path / "judged" / "judgments.csv")
    assert judged.height == 3 * 2 * 2
    assert judged.select("item_id", "condition", "question", "repeat").n_unique() == judged.height
    assert set(judged.filter(pl.col("item_id") == "t1")["status"]) == {"refused"}
    assert judged.filter(pl.col("item_id") != "t1")["rating"].null_count() == 0
    assert_numbers(judged, {name: metric.value for name, metric in log.results.scores[0].metrics.items()})


def assert_numbers(judged: pl.DataFrame, shown: dict[str, float]) -> None:
    """Inspect's page shows what an audit of the same judgments says: the mean over cells of the mean over repeats."""
    known = judged.filter(pl.col("rating").is_not_null()).with_columns(pl.col("item_id").replace_strict(CN).alias("cn"))
    known = known.with_columns(
        (pl.col("rating") - 4.5).abs().alias("us"), (pl.col("rating") - pl.col("cn")).abs().alias("cn")
    )
    cells = known.group_by("item_id", "condition").agg(pl.col("us", "cn").mean())
    near, far = cells["us"].mean(), cells["cn"].mean()
    expected = {"mae us": near, "cells us": 4, "mae cn": far, "cells cn": 4, "delta us-cn": near - far}
    assert shown == pytest.approx(expected)


def test_the_parts_are_known_to_inspect() -> None:
    from inspect_ai.scorer import Metric, Scorer

    assert isinstance(rating(low=1, high=5), Scorer)
    assert isinstance(pools(), Metric)
