"""Samples of lmms-eval and lm-evaluation-harness: what their page does not show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.exchange.importers.judgeside import DATA, read, rows

from voirdire.errors import InputError
from voirdire.exchange.importers.lmms_eval import IMPORTER, task_of

HERE = DATA / "lmms-eval"
LMMS = HERE / "llava" / "20261130_100531_samples_tone.jsonl"
LM = HERE / "org__model-a" / "samples_tone_2026-11-30T10-05-31.790653.jsonl"


def samples(path: Path, *records: dict[str, Any]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def test_recognised(tmp_path: Path) -> None:
    assert IMPORTER.recognise(LMMS).kind == "yes"
    assert IMPORTER.recognise(LM).kind == "yes"
    assert IMPORTER.recognise(HERE / "results.json").kind == "nearly"
    assert IMPORTER.recognise(DATA / "promptfoo" / "broken.jsonl").kind == "no"
    assert IMPORTER.recognise(tmp_path).kind == "no"


@pytest.mark.parametrize(
    ("name", "task"),
    [
        (LMMS.name, "tone"),
        (LM.name, "tone"),
        ("samples_mmlu_abstract_2024-05-01T10-00-00.123456.jsonl", "mmlu_abstract"),
        ("samples_a_samples_b.jsonl", "a_samples_b"),
        ("mine.jsonl", "mine"),
    ],
)
def test_task_in_the_name(name: str, task: str) -> None:
    assert task_of(name) == task


def test_metrics_value_by_value() -> None:
    made, account = read(IMPORTER, LMMS, LM)
    assert rows(made) == [
        ("0", "llava", "tone", "warmth", "1", "1.5", "ok"),
        ("1", "llava", "tone", "warmth", "1", "0.5", "ok"),
        ("2", "llava", "tone", "warmth", "1", "0.5", "ok"),
        ("0", "org__model-a", "tone", "exact_match", "1", "1", "ok"),
        ("1", "org__model-a", "tone", "exact_match", "1", "0", "ok"),
        ("2", "org__model-a", "tone", "exact_match", "1", "0", "ok"),
    ]
    assert (account.answers, account.taken, account.counts) == (12, 6, {"lmms.left.object": 6})
    made, _ = read(IMPORTER, LM, settings={"item": "{doc.id}", "scores": "filtered_resps"})
    assert rows(made, ("item_id", "rating", "raw")) == [
        ("007", "4", "4"),
        ("二", "I cannot", "I cannot"),
        ("s3", "3", " 3 "),
    ]


def test_the_model_of_the_results(tmp_path: Path) -> None:
    file = samples(tmp_path / "org__m" / "samples_t.jsonl", {"doc_id": "a", "filtered_resps": ["1"], "m": 1})
    results = tmp_path / "org__m" / "results_1.json"
    results.write_text(json.dumps({"results": {}, "group_subtasks": {}, "model_name": "org/m"}))
    assert rows(read(IMPORTER, file, results)[0], ("judge",)) == [("org/m",)]
    with pytest.raises(InputError, match="which hold means"):
        read(IMPORTER, results)


def test_filters_and_repeats(tmp_path: Path) -> None:
    one = {"doc_id": 1, "resps": [["a 4", "a 5"]], "filtered_resps": [["4", "5"]], "metrics": ["acc"], "acc": 0.5}
    file = samples(tmp_path / "m" / "samples_t.jsonl", {**one, "filter": "strict"}, {**one, "filter": "loose"})
    made, _ = read(IMPORTER, file)
    assert rows(made, ("question", "rating")) == [("acc,strict", "0.5"), ("acc,loose", "0.5")]
    single = samples(tmp_path / "m" / "samples_u.jsonl", one)
    made, _ = read(IMPORTER, single, settings={"scores": "filtered_resps"})
    assert rows(made, ("repeat", "rating", "raw")) == [("1", "4", "a 4"), ("2", "5", "a 5")]
    odds = samples(
        tmp_path / "m" / "samples_v.jsonl", {"doc_id": 1, "filtered_resps": [[-1.5, False], [-2, True]], "acc": 1}
    )
    _, account = read(IMPORTER, odds, settings={"scores": "filtered_resps,acc"})
    assert account.counts == {"lmms.left.object": 1}


def test_other_data_with_the_same_numbers(tmp_path: Path) -> None:
    files = [samples(tmp_path / f"samples_{t}.jsonl", {"doc_id": 0, "doc_hash": t, "resps": "1", "m": 1}) for t in "ab"]
    with pytest.raises(InputError, match="the item 0 has '"):
        read(IMPORTER, *files)
    made, _ = read(IMPORTER, *files, settings={"item": "{task} {doc_id}"})
    assert rows(made, ("item_id",)) == [("a 0",), ("b 0",)]
