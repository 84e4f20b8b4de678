"""What exports hold that no scale, no retry, no place in a line tells: read as it is meant, or said."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.exchange.importers.judgeside import read, rows

from voirdire.errors import InputError
from voirdire.exchange.importers import (
    datasets_folder,
    inspect_logs,
    lewidi,
    lmms_eval,
    mtbench,
    openai_batch,
    promptfoo,
    records,
)
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.datasets_spread import spread
from voirdire.exchange.importers.records import json_records


def lines(file: Path, *values: Any) -> Path:
    file.write_text("\n".join(map(json.dumps, values)))
    return file


def task(name: str, soft: dict[str, float], **answers: str) -> dict[str, Any]:
    return {
        "annotation task": name,
        "text": {"a": "x"},
        "annotators": ",".join(answers),
        "annotations": answers,
        "soft_label": soft,
    }


@pytest.mark.parametrize(
    ("name", "keys", "scale", "told"),
    [
        ("sarcasm detection", range(7), ("1", "6"), []),
        ("paraphrase detection", range(-1, 2), ("-5", "5"), []),
        ("warmth", range(7), ("0", "6"), ["0"]),
        ("warmth", range(3, 6), ("3", "5"), []),
    ],
)
def test_scale_of_known_tasks_and_ends_that_nobody_gave(
    tmp_path: Path, name: str, keys: range, scale: tuple[str, str], told: list[str]
) -> None:
    high = str(keys[-1])
    whole = {"1": task(name, {str(key): 0.0 for key in keys}, u=high, v="3" if 3 in keys else "0")}
    file = tmp_path / "d.json"
    file.write_text(json.dumps(whole))
    made, _ = read(lewidi.IMPORTER, file)
    assert made.questions is not None
    assert made.questions.select("min", "max").rows() == [scale]
    assert [note.fields["value"] for note in made.notes if note.key == "research.lewidi.unused"] == told


def test_a_request_that_was_sent_again_counts_once_and_choices_have_their_index(tmp_path: Path) -> None:
    def line(name: str, status: int, *texts: tuple[int, str]) -> dict[str, Any]:
        choices = [{"index": at, "message": {"content": said}, "finish_reason": "stop"} for at, said in texts]
        body: dict[str, Any] = {"model": "m", "choices": choices} if choices else {"error": {"message": "429"}}
        return {"custom_id": name, "response": {"status_code": status, "body": body}, "error": None}

    file = lines(
        tmp_path / "out.jsonl",
        line("a", 429), line("b", 429), line("a", 200, (1, "4"), (0, "2")), line("b", 429), line("c", 429),
    )  # fmt: skip
    made, account = read(openai_batch.IMPORTER, file, settings={"scale": "1:5", "judge": "m"})
    assert rows(made, ("item_id", "repeat", "rating", "status")) == [
        ("a", "2", "4", "ok"), ("a", "1", "2", "ok"), ("b", "1", None, "error"), ("c", "1", None, "error"),
    ]  # fmt: skip
    assert account.counts == {"openai_batch.left.retried": 2}


def test_nan_in_a_list_and_what_means_no_answer_are_missing(tmp_path: Path) -> None:
    file = tmp_path / "d.parquet"
    pl.DataFrame({"id": ["a"], "annotations": [[float("nan"), -1.0, 2.0]]}).write_parquet(file)
    made, account = read(datasets_folder.IMPORTER, file)
    assert made.ratings is not None
    assert made.ratings["rating"].to_list() == ["-1", "2"]
    assert (account.taken, [note.fields for note in made.notes if note.key == "datasets.below"]) == (2, [{"count": 1}])
    made, account = read(datasets_folder.IMPORTER, file, settings={"missing": "-1"})
    assert account.counts == {"importing.left.missing": 2}


@pytest.mark.parametrize("turned", [False, True])
def test_files_of_two_layouts_are_not_read_together(tmp_path: Path, turned: bool) -> None:
    lists, rows = tmp_path / "lists.parquet", tmp_path / "rows.parquet"
    pl.DataFrame({"id": ["a"], "annotations": [[1, 2]], "annotator_ids": [["u", "v"]]}).write_parquet(lists)
    pl.DataFrame({"id": ["b", "b"], "worker": ["u", "v"], "label": [1, 2]}).write_parquet(rows)
    with pytest.raises(InputError) as caught:
        read(datasets_folder.IMPORTER, *((rows, lists) if turned else (lists, rows)))
    assert (caught.value.key, caught.value.fields) == (
        "datasets.layouts_differ",
        {"lists": str(lists), "rows": str(rows)},
    )


@pytest.mark.parametrize("key", ["item_id", "rater_id"])
def test_words_of_raters_are_left_out_where_each_comes_once(key: str) -> None:
    other = "rater_id" if key == "item_id" else "item_id"
    given = [{key: f"k{n}", other: "o", "question": "q", "rating": n, "why": f"because {n}"} for n in range(3)]
    assert spread(given).texts == ("why",)
    kept = spread(given, with_texts=True)
    assert "why" in [name for table in (kept.items, kept.raters) if table is not None for name in table.columns]


def test_lmms_samples_without_a_hash_are_told_apart_by_their_input(tmp_path: Path) -> None:
    first = lines(tmp_path / "samples_t.jsonl", {"doc_id": 0, "target": "1", "input": "Tone?", "score": 1})
    second = lines(tmp_path / "samples_u.jsonl", {"doc_id": 0, "target": "1", "input": "Size?", "score": 1})
    with pytest.raises(InputError) as caught:
        read(lmms_eval.IMPORTER, first, second, settings={"judge": "m"})
    assert (caught.value.fields["field"], caught.value.fields["value"]) == ("input", "Size?")


def test_promptfoo_numbers_the_tests_of_each_file_anew(tmp_path: Path) -> None:
    def result(item: str, scores: dict[str, int], reason: int = 0) -> dict[str, Any]:
        told = {"testIdx": 0, "promptIdx": 0, "vars": {"id": item}, "provider": {"id": "p"}, "prompt": {"label": "l"}}
        return {**told, "namedScores": scores, "failureReason": reason, "response": {"output": "x"}}

    first = lines(tmp_path / "a.jsonl", result("A", {"q": 1}))
    second = lines(tmp_path / "b.jsonl", result("C", {"z": 1}), result("B", {}, 2))
    made, _ = read(promptfoo.IMPORTER, first, second)
    assert rows(made, ("item_id", "question")) == [("A", "q"), ("C", "z"), ("B", "z")]


def test_lists_among_the_arguments_of_a_task_are_part_of_its_condition(tmp_path: Path) -> None:
    sample = {"id": "a", "epoch": 1, "scores": {"s": {"value": 1}}}
    files = []
    for pool in ("us", "cn"):
        spec = {"task": "t", "model": "m", "task_args": {"personas": [pool]}, "scorers": [{"name": "s"}]}
        files.append(tmp_path / f"{pool}.json")
        files[-1].write_text(json.dumps({"version": 2, "eval": spec, "samples": [sample]}))
    made, _ = read(inspect_logs.IMPORTER, *files)
    assert rows(made, ("condition",)) == [('t personas=["us"]',), ('t personas=["cn"]',)]


def test_a_record_of_a_line_with_several_is_named_by_number_and_id(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('[{"id": 7, "n": 1},{"id": 42, "n": {"m": 1}}]')
    record = list(json_records(file, Account()))[1]
    assert "line 1 (#2, id 42)" in str(record.inside("n").error("importing.record_field", "m", why="w"))
    account = Account()
    account.left("x", at=record)
    assert account.reasons["x"].places == [(str(file), "1 (#2, id 42)")]
    file.write_text('[{"id": 7},{"id": }]')
    with pytest.raises(InputError, match=r"line 1 \(#2\)"):
        list(json_records(file, Account()))
    file.write_text('[\n{"id": 7},\n{"id": 8}]')
    assert [record.place for record in json_records(file, Account())] == ["", ""]


def test_a_judge_with_two_prompts_for_a_pair_has_two_conditions(tmp_path: Path) -> None:
    games = {"question_id": 1, "model_1": "m", "model_2": "n", "g1_winner": "model_1", "g2_winner": "tie", "turn": 1}
    told = [{**games, "judge": ["gpt-4", prompt]} for prompt in ("pair-v2", "pair-v3")]
    made, _ = read(mtbench.IMPORTER, lines(tmp_path / "g.jsonl", *told))
    assert rows(made, ("condition",)) == [("pair-v2",), ("pair-v2",), ("pair-v3",), ("pair-v3",)]
    assert [note.key for note in made.notes] == []
    made, _ = read(mtbench.IMPORTER, lines(tmp_path / "h.jsonl", told[0], told[0]))
    assert [(note.key, note.fields) for note in made.notes] == [("judged.note.twice", {"count": 2})]


def test_a_packed_file_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.json.gz"
    file.write_bytes(gzip.compress(b"[" + b" " * 100 + b"]"))
    assert list(json_records(file, Account())) == []
    monkeypatch.setattr(records, "MOST", 50)
    with pytest.raises(InputError, match="more than 50 bytes"):
        list(json_records(file, Account()))


def test_mtbench_items_keep_their_place_and_their_things(tmp_path: Path) -> None:
    def vote(asked: str, first: str, second: str, **more: Any) -> dict[str, Any]:
        names = {"question_id": asked, "model_a": first, "model_b": second}
        return {**names, "winner": "model_a", "judge": "expert_1", "turn": 1, **more}

    said = {
        f"conversation_{side}": [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": side}]
        for side in "ab"
    }
    file = lines(tmp_path / "a.jsonl", vote("1", "c", "d"), vote("2", "c", "d"), vote("1", "c", "d", **said))
    made, _ = read(mtbench.IMPORTER, file)
    assert made.items is not None
    assert made.items.select("question_id", "text", "response_b").rows() == [("1", "Why?", "b"), ("2", None, None)]
    file = lines(tmp_path / "b.jsonl", vote("1", "a turn 1: c", "d"), vote("1 turn 1: a", "c", "d", **said))
    with pytest.raises(InputError) as caught:
        read(mtbench.IMPORTER, file)
    assert caught.value.key == "votes.item_twice"
