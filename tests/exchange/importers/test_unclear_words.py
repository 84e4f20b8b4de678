"""Words that a name and a role share, and two labels of which nothing says which counts as 1: never guessed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import voirdire
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.reading import read_corpus
from voirdire.errors import InputError
from voirdire.exchange.importers import crowdkit, datasets_folder, dices, judgebench, labelstudio, mtbench, votes
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.contract import Importer, ImportOptions, Tables
from voirdire.exchange.importers.tables import finish, read_back, write
from voirdire.texts import text


def made(importer: Importer, *files: Path, **options: Any) -> Tables:
    assert importer.read is not None
    return importer.read(files, ImportOptions(**options), Account())


def folder(tables: Tables, out: Path) -> Path:
    out.mkdir()
    write(finish(tables, ImportOptions(pool="all"), "x"), out)
    read_back(out, out)
    return out


def shown(frame: pl.DataFrame | None) -> list[str | None]:
    assert frame is not None
    return frame["shown_first"].to_list()


@pytest.mark.parametrize(
    ("importer", "head"),
    [(crowdkit.IMPORTER, "worker,left,right,label"), (votes.IMPORTER, "voter,left,right,winner")],
    ids=lambda one: getattr(one, "name", ""),
)
def test_things_that_are_called_as_the_sides(tmp_path: Path, importer: Importer, head: str) -> None:
    votes_for_left = "".join(f"u{k},b,a,b\nu{k},c,a,c\nu{k},b,c,b\nu{k},c,b,c\n" for k in range(3))
    if importer is votes.IMPORTER:
        votes_for_left = votes_for_left.replace(",b\n", ",left\n").replace(",c\n", ",left\n")
    (tmp_path / "a.csv").write_text(f"{head}\n{votes_for_left}")
    tables = made(importer, tmp_path / "a.csv")
    assert set(shown(tables.ratings)) == {"side 1", "side 2"}
    out = folder(tables, tmp_path / "out")
    profile = voirdire.audit(ratings=out, duplicates="first", draws=0)
    assert profile.get("position.raters", pool="all").value == 1


def test_models_that_are_called_as_the_sides(tmp_path: Path) -> None:
    vote = {"question_id": 1, "model_a": "b", "model_b": "c", "winner": "model_a", "turn": 1}
    lines = [json.dumps({**vote, "judge": f"expert_{k}"}) for k in range(3)]
    game = {"question_id": 1, "model_1": "b", "model_2": "c", "judge": ["m", "p"], "turn": 1, "g1_judgment": "x"}
    (tmp_path / "a.jsonl").write_text(
        "\n".join([*lines, json.dumps({**game, "g1_winner": "model_1", "g2_winner": "model_2", "g2_judgment": "y"})])
    )
    tables = made(mtbench.IMPORTER, tmp_path / "a.jsonl")
    assert shown(tables.judgments) == ["side 1", "side 2"]
    out = folder(tables, tmp_path / "out")
    profile = voirdire.audit(ratings=out, judgments=out, draws=0)
    assert profile.get("position.bias", judge="m", condition="-").value == 1


def test_a_pair_in_label_studio_that_is_called_as_the_sides(tmp_path: Path) -> None:
    result = {"type": "pairwise", "value": {"selected": "left"}, "to_name": "q", "from_name": "q"}
    notes = [{"id": k, "completed_by": k, "result": [result]} for k in (1, 2)]
    (tmp_path / "a.json").write_text(json.dumps([{"id": 1, "annotations": notes, "data": {"x": "b", "y": "a"}}]))
    tables = made(labelstudio.IMPORTER, tmp_path / "a.json", mapping={"a": "x", "b": "y"})
    assert shown(tables.ratings) == ["side 1", "side 1"]


def read(said: list[str], a: str, b: str) -> Any:
    items = pl.DataFrame({"item_id": ["1"], "a": [a], "b": [b]})
    rows = {"item_id": "1", "rater_id": [f"u{k}" for k in range(len(said))], "pool": "p", "rating": "a"}
    ratings = pl.DataFrame({**rows, "shown_first": said})
    return read_corpus(CorpusOptions(ratings, items=items, level="pairwise")).ratings["shown_first"].to_list()


@pytest.mark.parametrize(("a", "b", "word"), [("b", "c", "b"), ("c", "a", "a"), ("B", "c", "b"), (" b ", "c", "B")])
def test_a_word_that_is_a_side_and_the_name_of_the_other_thing_is_refused(a: str, b: str, word: str) -> None:
    with pytest.raises(InputError, match="Say side 1 or side 2 instead") as caught:
        read(["side 1", word], a, b)
    assert caught.value.key == "input.shown_ambiguous"
    assert (caught.value.fields["row"], caught.value.fields["value"]) == (2, word)
    assert "side 1" in text(caught.value.key, "zh", **caught.value.fields)


def test_words_that_say_one_thing_alone() -> None:
    assert read(["a", "b", "side 1", "Side 2"], "a", "b") == [0, 1, 0, 1]
    assert read(["c", "side 1", "side 2", "a"], "b", "c") == [1, 0, 1, 0]


def bench(file: Path, labels: list[str], scores: list[str]) -> Path:
    metric = {"metric": "m", "category": "categorical", "labels_list": labels}
    told = [{"id": file.stem, "annotations": {"m": {"individual_human_scores": scores}}}]
    file.write_text(json.dumps({"annotations": [metric], "instances": told}))
    return file


def test_which_of_two_labels_counts_as_1_is_left_to_the_reader(tmp_path: Path) -> None:
    for labels in (["not toxic", "toxic"], ["toxic", "not toxic"]):
        tables = made(judgebench.IMPORTER, bench(tmp_path / "a.json", labels, labels))
        out = folder(tables, tmp_path / labels[0].replace(" ", ""))
        assert read_corpus(CorpusOptions(out)).questions[0].scale.positive == "toxic"
    tables = made(judgebench.IMPORTER, bench(tmp_path / "a.json", ["incorrect", "correct"], ["correct", "incorrect"]))
    with pytest.raises(InputError, match="which one counts as 1 is not known"):
        folder(tables, tmp_path / "asked")


def test_which_of_two_labels_of_a_class_label_counts_as_1(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": ["p", "p"], "worker": [1, 2], "label": [0, 1]})
    for names, positive in ((("yes", "no"), "yes"), (("toxic", "non-toxic"), "toxic"), (("pos", "neg"), None)):
        features = json.dumps({"info": {"features": {"label": {"names": names, "_type": "ClassLabel"}}}})
        frame.write_parquet(tmp_path / "a.parquet", metadata={"huggingface": features})
        tables = made(datasets_folder.IMPORTER, tmp_path / "a.parquet")
        if positive is None:
            with pytest.raises(InputError, match="which one counts as 1 is not known"):
                folder(tables, tmp_path / names[0])
        else:
            out = folder(tables, tmp_path / names[0])
            assert read_corpus(CorpusOptions(out)).questions[0].scale.positive == positive


def test_the_answers_of_dices_do_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    head = "item_id,rater_id,context,response,Q1_whole_conversation_evaluation,Q_overall"
    rows = ["1,u,c,r,Yes,No", "1,v,c,r,No,Yes"]
    found = []
    for name, lines in (("a", rows), ("b", rows[::-1])):
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *lines]))
        questions = made(dices.IMPORTER, tmp_path / f"{name}.csv").questions
        assert questions is not None
        found.append(questions.row(0, named=True))
    assert found[0] == found[1]
    assert found[0]["positive"] is None
    assert found[0]["labels"] == ";".join((*dices.WHOLE_ANSWERS, "No", "Yes"))


def test_a_metric_that_has_another_scale_in_another_file(tmp_path: Path) -> None:
    def graded(name: str, best: int) -> Path:
        metric = {"metric": "m", "category": "graded", "worst": 0, "best": best}
        told = [{"id": name, "annotations": {"m": {"individual_human_scores": [1]}}}]
        (tmp_path / name).write_text(json.dumps({"annotations": [metric], "instances": told}))
        return tmp_path / name

    first = graded("a.json", 100)
    with pytest.raises(InputError, match=r"b\.json: the metric 'm' .*graded: 0, 5; before: graded: 0, 100"):
        made(judgebench.IMPORTER, first, graded("b.json", 5))
    with pytest.raises(InputError, match="has another scale"):
        made(judgebench.IMPORTER, first, bench(tmp_path / "b.json", ["x", "y"], ["x"]))
    assert made(judgebench.IMPORTER, first, graded("b.json", 100)).questions is not None
