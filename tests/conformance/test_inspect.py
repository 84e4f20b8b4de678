"""Cells run by Inspect AI itself, with a model of its own that answers from a list: the task, the scorer, the way back."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.judging import corpora

import voirdire
from voirdire.cli.main import run
from voirdire.integrations.inspect_scorer import pools, rating

pytestmark = pytest.mark.filterwarnings("ignore")  # of its own streams
pytest.importorskip("inspect_ai", reason="the package lives in the conformance environment")

FIRST = ("no explanation.", "也不要解释。")
"""How a message ends that no malformed reply came before."""
REFUSAL = "I'm sorry, but I can't rate people."


def corpus(folder: Path) -> Path:
    """Four text items in two languages; the pools us and cn rate them apart."""
    items = [corpora.item(f"t{n}") for n in range(4)]
    ratings = [
        corpora.rating(f"t{n}", pool, level, rater)
        for n in range(4)
        for pool, level, rater in (("us", 5, "1"), ("us", 4, "2"), ("cn", 1 + n % 2, "1"))
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
    assert judged.height == 4 * 2 * 2
    assert judged.select("item_id", "condition", "question", "repeat").n_unique() == judged.height
    assert set(judged.filter(pl.col("item_id") == "t1")["status"]) == {"refused"}
    assert judged.filter(pl.col("item_id") != "t1")["rating"].null_count() == 0
    profile = voirdire.audit(source, tmp_path / "judged", draws=20, decomposition_draws=20)
    [score] = log.results.scores
    shown = {name: metric.value for name, metric in score.metrics.items()}
    for pool in ("us", "cn"):
        mae = profile.get("mae", pool=pool, judge="mockllm/model", condition="*").value
        assert shown[f"mae {pool}"] == pytest.approx(mae)
    delta = profile.get("delta", pool="us", pool_b="cn", judge="mockllm/model", condition="*").value
    assert shown["delta us-cn"] == pytest.approx(delta)


def test_the_parts_are_known_to_inspect() -> None:
    from inspect_ai.scorer import Metric, Scorer

    assert isinstance(rating(low=1, high=5), Scorer)
    assert isinstance(pools(), Metric)
