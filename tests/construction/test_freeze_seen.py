"""What raters saw, in the pilot and afterwards, is what is frozen; where nothing tells, that is told."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.construction.freeze_world import built, freeze, photographs, ratings

from voirdire.app.build_items import build_items
from voirdire.app.exporting import export
from voirdire.construction.concepts import read_concepts, rewrite
from voirdire.construction.freezing.wording import wording_failures
from voirdire.construction.history import History, open_history, read_history
from voirdire.construction.screening_decisions import decide, outcomes
from voirdire.construction.screening_rule import Rule
from voirdire.construction.seen import now_of
from voirdire.corpus.frozen import file_digest
from voirdire.errors import UsageError

ALLOWED = {"authoring": "for this test", "texts": "for this test"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose screening says what was seen, and ratings with the items that raters saw."""
    place = tmp_path_factory.mktemp("seen")
    folder = built(place / "built")
    _screened(folder)
    rated = ratings(place / "rated")
    build_items(folder, regime="photographs")
    shutil.copy(folder / "items.csv", rated / "items.csv")
    images = {path.relative_to(folder).as_posix(): file_digest(path) for path in folder.glob("images/*/*.png")}
    lines = [f"{json.dumps(name)} = {json.dumps(digest)}" for name, digest in images.items()]
    with (rated / "corpus.toml").open("a", encoding="utf-8") as file:
        file.write("\n".join(["[images]", *lines, ""]))
    return place


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "built", tmp_path / "built"))


def _screened(folder: Path, **more: Any) -> None:
    concepts = read_concepts(folder)
    marks = now_of(folder, concepts.items)
    shown = {name: {item.id: marks[item.id] for item in items} for name, items in concepts.by_concept().items()}
    with open_history(folder) as book:
        pairs = {name: {"verdict": "keep", "reasons": []} for name in shown}
        book.append({"kind": "screened", "pairs": pairs, "shown": shown, **more})


def _rewritten(folder: Path, column: str, words: str, item: str = "teapot-us") -> None:
    concepts = read_concepts(folder)
    rewrite(folder, concepts, {one.row: {column: words} for one in concepts.items if one.id == item})


def _keys(found: Any) -> list[tuple[str, str]]:
    return [(one.check, one.key.rpartition(".")[2]) for one in found.failures]


def _unknown(found: Any) -> dict[str, int]:
    """What the notes say that could not be checked, and of how many."""
    told = {note.key.rpartition(".")[2]: note.fields.get("count") for note in found.notes}
    return {key: count for key, count in told.items() if key.startswith(("screened_", "rated_"))}


def test_what_was_seen_is_frozen_without_a_word(folder: Path, made: Path) -> None:
    found = freeze(folder, folder.parent / "out", made / "rated")
    assert (found.done, _unknown(found)) == (True, {})


def test_a_question_that_was_rewritten_is_neither_screened_nor_rated(folder: Path, made: Path) -> None:
    for item in ("teapot-us", "teapot-cn"):
        _rewritten(folder, "prompt.en", "How dangerous is this?", item)
    found = freeze(folder, folder.parent / "out", made / "rated", allowed=ALLOWED)
    assert _keys(found) == [("screening", "screened_otherwise"), ("ratings", "rated_otherwise")]
    assert found.failures[0].fields["concepts"] == "teapot (us: prompt.en, cn: prompt.en)"
    assert found.failures[1].fields["items"] == "teapot-us (prompt.en), teapot-cn (prompt.en)"
    for one in found.failures:
        assert one.message("en") != one.message("zh")


def test_another_image_is_neither_screened_nor_rated(folder: Path, made: Path) -> None:
    photographs(folder, ["teapot-us", "teapot-cn"], seed=9)
    found = freeze(folder, folder.parent / "out", made / "rated", allowed=ALLOWED)
    assert _keys(found) == [("screening", "screened_otherwise"), ("ratings", "rated_otherwise")]
    assert found.failures[1].fields["items"] == "teapot-us (image), teapot-cn (image)"


def test_a_person_can_decide_on_what_was_changed_and_says_why(folder: Path, made: Path) -> None:
    _rewritten(folder, "realisation", "a teapot, as it is known in us")
    assert _keys(freeze(folder, folder.parent / "out", made / "rated", allowed=ALLOWED)) == [
        ("screening", "screened_otherwise")
    ]
    with pytest.raises(UsageError, match=r"teapot-us \(realisation\).*--why"):
        decide(folder, "teapot", "keep", "ana")
    decide(folder, "teapot", "keep", "ana", why="a comma")
    assert freeze(folder, folder.parent / "out", made / "rated", allowed=ALLOWED).done
    _rewritten(folder, "realisation", "a samovar")
    again = freeze(folder, folder.parent / "again", made / "rated", allowed=ALLOWED, version="2", change="x")
    assert _keys(again) == [("screening", "screened_otherwise")]


def test_a_translation_that_is_filled_in_later_is_no_change(folder: Path, made: Path) -> None:
    rated = Path(shutil.copytree(made / "rated", folder.parent / "rated"))
    pl.read_csv(rated / "items.csv").drop("prompt.zh", "alt.en").write_csv(rated / "items.csv")
    assert freeze(folder, folder.parent / "out", rated).done


def test_what_nobody_can_know_is_told_and_stands_in_the_report(folder: Path, made: Path) -> None:
    bare = Path(shutil.copytree(made / "rated", folder.parent / "rated"))
    (bare / "items.csv").unlink()
    with open_history(folder) as book:
        book.append({"kind": "screened", "pairs": {"teapot": {"verdict": "keep", "reasons": []}}})
    found = freeze(folder, folder.parent / "out", bare)
    assert (found.done, _unknown(found)) == (True, {"screened_unseen": 1, "rated_unseen": 36})
    assert "was not checked whether raters saw these items" in (folder.parent / "out" / "report.html").read_text(
        "utf-8"
    )


def test_images_that_nothing_tells_of_are_told(folder: Path, made: Path) -> None:
    rated = Path(shutil.copytree(made / "rated", folder.parent / "rated"))
    (rated / "corpus.toml").write_text('name = "rated"\nsimulated = true\n', encoding="utf-8")
    found = freeze(folder, folder.parent / "out", rated)
    assert _unknown(found) == {"rated_image": 36}


def test_what_other_hands_wrote_of_what_was_seen_is_passed_over(tmp_path: Path) -> None:
    with open_history(tmp_path) as book:
        book.append({"kind": "screened", "pairs": {"tea": {"verdict": "keep"}}, "shown": {"tea": {"tea-us": 3}}})
    assert outcomes(read_history(tmp_path))["tea"].basis == {}


def test_words_of_the_questions_that_nobody_verified_are_not_frozen(folder: Path, made: Path) -> None:
    rated = Path(shutil.copytree(made / "rated", folder.parent / "rated"))
    table = pl.read_csv(rated / "questions.csv", infer_schema=False)
    words = pl.when(question="q2").then(pl.lit("机器的译文")).otherwise("text.zh").alias("text.zh")
    table.with_columns(words, pl.lit("nobody's").alias("low_end.zh")).write_csv(rated / "questions.csv")
    found = freeze(folder, folder.parent / "out", rated)
    assert _keys(found) == [("texts", "wording")]
    assert found.failures[0].fields["texts"] == "q1/low_end/zh, q2/text/zh, q2/low_end/zh, q3/low_end/zh, q4/low_end/zh"


def test_a_language_that_the_corpus_does_not_have_is_left_out(folder: Path, made: Path) -> None:
    rated = Path(shutil.copytree(made / "rated", folder.parent / "rated"))
    table = pl.read_csv(rated / "questions.csv", infer_schema=False)
    table.with_columns(pl.lit("Bon ?").alias("text.fr")).write_csv(rated / "questions.csv")
    found = freeze(folder, folder.parent / "out", rated)
    assert [note.fields["languages"] for note in found.notes if note.key == "freezing.note.languages"] == ["fr"]
    assert "Bon" not in (folder.parent / "out" / "questions.csv").read_text("utf-8")


def test_words_of_a_scale_stand_together_or_one_by_one() -> None:
    told = [("Yes; often", "是；常常"), ("No", "否")]
    events = [
        {"kind": "translation", "action": "verify", "text_id": source, "source": source, "text": words}
        for source, words in told
    ]
    scale = {"labels": "a|b|3", "labels.en": "Yes, often|No|3", "labels.zh": "是；常常|否|3"}
    table = pl.DataFrame([{"question": "q1", **scale}])
    assert wording_failures(table, ("en", "zh"), History(tuple(events))) == []
    taken_back = {**events[1], "action": "withdraw"}
    (found,) = wording_failures(table, ("en", "zh"), History((*events, taken_back)))
    assert found.fields["texts"] == "q1/labels/zh"


def test_verdicts_by_the_team_itself_are_no_screening(folder: Path, made: Path) -> None:
    _screened(folder, team=[{"author": "ana", "value": "Ana"}])
    decide(folder, "teapot", "keep", "ana")
    found = freeze(folder, folder.parent / "out", made / "rated")
    assert _keys(found) == [("team", "author_screened")]
    assert (found.failures[0].fields["author"], found.failures[0].fields["count"]) == ("ana", 18)
    _screened(folder)
    assert freeze(folder, folder.parent / "out", made / "rated").done


def test_what_the_screening_did_stays_with_the_corpus(folder: Path, made: Path) -> None:
    """Rule, suggestions, loosened thresholds and overruled pairs: in corpus.toml, the report, and every datasheet."""
    rule = {**Rule().as_dict(), "stereotype_share": 0.99}
    _screened(folder, question="q1", rule=rule)
    with open_history(folder) as book:
        pairs = {"teapot": {"verdict": "drop", "reasons": ["gap"]}}
        book.append({"kind": "screened", "pairs": pairs, "question": "q1", "rule": rule})
    decide(folder, "teapot", "keep", "ana", why="<b>they</b> differ at home")
    out = folder.parent / "out"
    assert freeze(folder, out, made / "rated").done
    told = tomllib.loads((out / "corpus.toml").read_text("utf-8"))["screening"]
    assert told["suggested"] == {"keep": 17, "drop": 1, "undecided": 0}
    assert told["rules"] == [{"question": "q1", "concepts": 18, **rule}]
    assert told["unusual"] == [{"name": "stereotype_share", "value": 0.99, "usual": 0.5}]
    why = "<b>they</b> differ at home"
    assert told["overruled"] == [
        {"concept": "teapot", "suggested": "drop", "reasons": ["gap"], "decided": "keep", "by": "ana", "why": why}
    ]
    page = (out / "report.html").read_text("utf-8")
    assert "stereotype_share = 0.99" in page
    assert "&lt;b&gt;they&lt;/b&gt; differ at home" in page
    export("csv", out, out.parent / "release")
    sheet = (out.parent / "release" / "README.md").read_text("utf-8")
    assert "Suggested: keep 17, drop 1, undecided 0" in sheet
    assert "voirdire's usual is 0.5" in sheet
    assert tomllib.loads((out.parent / "release" / "corpus.toml").read_text("utf-8"))["screening"] == told


def test_descriptions_that_nobody_reviewed_are_told(tmp_path: Path, made: Path) -> None:
    """Those that were written when the concept was accepted already; nothing of the builder's disk is told."""
    folder = Path(shutil.copytree(made / "built", tmp_path / "built"))
    lines = (folder / "history.jsonl").read_text("utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    for event in events:
        if event["concept"] == "teapot" and isinstance(event.get("text"), dict):
            for part in event["text"].values():
                part.pop("alt")
    (folder / "history.jsonl").write_text("\n".join(map(json.dumps, events)) + "\n", encoding="utf-8")
    found = freeze(folder, tmp_path / "out", made / "rated")
    (note,) = (note for note in found.notes if note.key == "freezing.note.alt_unreviewed")
    assert (found.done, dict(note.fields)) == (True, {"column": "alt.en", "count": 1, "concepts": "teapot"})
    assert str(tmp_path) not in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_items_that_were_changed_while_they_were_rated_are_told_apart(folder: Path, made: Path) -> None:
    """An export knows which; the items beside it are as they were at its end."""
    rated = Path(shutil.copytree(made / "rated", folder.parent / "rated"))
    with (rated / "corpus.toml").open("a", encoding="utf-8") as file:
        file.write('[changed]\nteapot-us = ["prompt.en", "split"]\nteapot-cn = ["image"]\nharbour-us = ["category"]\n')
    found = freeze(folder, folder.parent / "out", rated)
    assert _keys(found) == [("ratings", "rated_otherwise")]
    assert found.failures[0].fields["items"] == "teapot-us (prompt.en), teapot-cn (image)"
