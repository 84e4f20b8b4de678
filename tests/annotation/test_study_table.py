"""Questions for raters from the questions table of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.annotation.study_corpora import corpus, shown_of, study_of, told

from voirdire.annotation.material import read_shown
from voirdire.annotation.nouns import Asked
from voirdire.annotation.study_questions import levels, questions_table
from voirdire.annotation.study_table import questions_of_table
from voirdire.errors import VoirdireError
from voirdire.texts import text

TEXTS = {"text.en": "Good?", "text.zh": "好吗？"}


def asked_of(folder: Path, *rows: dict[str, Any]) -> dict[str, Asked]:
    found = questions_of_table(shown_of(corpus(folder, questions=list(rows))))
    return {asked.id: asked for asked, _ in found}


@pytest.mark.parametrize(
    ("row", "widget", "level", "count"),
    [
        ({"min": 1, "max": 5}, "buttons", "ordinal", 5),
        ({"min": -5, "max": 5}, "buttons", "ordinal", 11),
        ({"min": 0, "max": 11}, "slider", "ordinal", 12),
        ({"min": 0, "max": 100}, "slider", "ordinal", 101),
        ({"min": 0, "max": 101}, "number", "ordinal", 0),
        ({"min": 0, "max": 100, "level": "interval"}, "slider", "interval", 101),
        ({"min": 0, "max": 100, "widget": "number"}, "number", "ordinal", 0),
        ({"min": 1, "max": 5, "widget": "slider"}, "slider", "ordinal", 5),
        ({"min": 1, "max": 5, "role": "placement"}, "slider", "ordinal", 5),
        ({"min": 0.5, "max": 5}, "number", "interval", 0),
        ({"level": "ratio"}, "number", "ratio", 0),
        ({"labels": "a|b|c"}, "choice", "nominal", 3),
        ({"labels": "yes;no"}, "choice", "nominal", 2),
        ({"labels": "left|right", "positive": "left"}, "choice", "nominal", 2),
        ({"labels": "1|2|3|4"}, "buttons", "ordinal", 4),
        ({"labels": "never|often|always", "level": "ordinal"}, "choice", "ordinal", 3),
    ],
)
def test_the_widget_follows_from_the_scale(
    tmp_path: Path, row: dict[str, Any], widget: str, level: str, count: int
) -> None:
    asked = asked_of(tmp_path, {"question": "q", **row})["q"]
    assert (asked.widget, asked.level, len(levels(asked))) == (widget, level, count)


def test_words_of_ends_and_levels_are_columns(tmp_path: Path) -> None:
    row = {"question": "q", "min": 1, "max": 3, "low_end.en": "bad", "high_end.en": "good", "help.en": "Look."}
    asked = asked_of(tmp_path, {**row, "labels.en": "bad|so so|good", "labels.zh": "差;一般;好"})["q"]
    assert (asked.low_end, asked.high_end, asked.help) == ({"en": "bad"}, {"en": "good"}, {"en": "Look."})
    assert [(option.value, option.text["en"], option.text["zh"]) for option in asked.options] == [
        ("1", "bad", "差"),
        ("2", "so so", "一般"),
        ("3", "good", "好"),
    ]


def test_a_column_without_a_language_stands_for_any(tmp_path: Path) -> None:
    asked = asked_of(tmp_path, {"question": "q", "min": 1, "max": 3, "text": "Good?", "low_end": "bad"})["q"]
    assert (asked.text, asked.low_end) == ({"und": "Good?"}, {"und": "bad"})


def test_words_of_labels_are_kept_with_their_values(tmp_path: Path) -> None:
    asked = asked_of(tmp_path, {"question": "q", "labels": "yes|no", "labels.zh": "是|否"})["q"]
    assert [(option.value, option.text) for option in asked.options] == [("yes", {"zh": "是"}), ("no", {"zh": "否"})]


def test_labels_that_mean_no_answer_become_not_applicable(tmp_path: Path) -> None:
    asked = asked_of(tmp_path, {"question": "q", "labels": "a|b|c", "missing": "unsure"})["q"]
    assert (asked.not_applicable, levels(asked)) == (True, ("a", "b", "c"))


def test_items_word_the_evaluation_question(tmp_path: Path) -> None:
    asked = asked_of(
        tmp_path,
        {"question": "taste", "role": "subjectivity", "min": 1, "max": 5},
        {"question": "fit", "role": "evaluation", "min": 1, "max": 5},
    )
    assert [(name, one.of_item) for name, one in asked.items()] == [("taste", False), ("fit", True)]


def test_items_word_the_first_question_where_none_has_a_role(tmp_path: Path) -> None:
    asked = asked_of(tmp_path, {"question": "a", "min": 1, "max": 5}, {"question": "b", "min": 1, "max": 5})
    assert [one.of_item for one in asked.values()] == [True, False]


def test_names_tell_the_roles_as_in_the_audit(tmp_path: Path) -> None:
    asked = asked_of(tmp_path, *({"question": f"q{number}", "min": 1, "max": 5} for number in range(1, 5)))
    assert asked["q2"].widget == "slider"
    assert [one.role for one in asked.values()] == ["evaluation", "placement", "subjectivity", "recognizability"]


def test_ends_follow_from_the_role_but_not_those_of_placement(tmp_path: Path) -> None:
    """Which culture stands at which end, only the table can know."""
    rows = [{"question": role, "role": role, "min": 1, "max": 5, **TEXTS} for role in ("placement", "subjectivity")]
    found = study_of(corpus(tmp_path, questions=rows))
    placement, subjectivity = found.study.questions
    assert (placement.low_end, placement.high_end) == ({}, {})
    assert list(subjectivity.low_end) == list(subjectivity.high_end) == ["en", "zh"]
    assert [(note.key, note.fields) for note in found.notes] == [("study.note.no_ends", {"question": "placement"})]
    assert all(text(note.key, lang, **note.fields) for note in found.notes for lang in ("en", "zh"))


def test_own_ends_stay(tmp_path: Path) -> None:
    row = {"question": "q", "role": "subjectivity", "min": 1, "max": 5, "low_end.en": "all taste"}
    asked = asked_of(tmp_path, row)["q"]
    assert (asked.low_end, asked.high_end) == ({"en": "all taste"}, {})


@pytest.mark.parametrize(
    ("row", "key", "named"),
    [
        ({}, "study.table_no_scale", ("q",)),
        ({"min": 1}, "study.table_no_scale", ("q",)),
        ({"level": "nominal"}, "study.table_no_labels", ("q",)),
        ({"level": "pairwise"}, "study.votes", ("q", "import")),
        ({"labels": "a|b|tie", "level": "pairwise", "widget": "choice"}, "study.votes", ("q",)),
        ({"min": 1, "max": 5, "widget": "stars"}, "study.value_unknown", ("stars", "buttons")),
        ({"min": 1, "max": 5, "widget": "text"}, "study.value_unknown", ("text", "buttons")),
        ({"min": 1, "max": 5, "widget": "choice"}, "study.widget_level", ("choice", "buttons, slider, number")),
        ({"labels": "a|b|c", "widget": "buttons"}, "study.widget_level", ("buttons", "choice")),
        ({"min": 1, "max": 50, "widget": "buttons"}, "study.too_many_levels", ("50", "11")),
        ({"min": 0.5, "max": 5, "widget": "slider"}, "study.ends_not_whole", ("0.5",)),
        ({"level": "interval", "widget": "slider"}, "study.ends_missing", ("slider",)),
        ({"min": 5, "max": 1}, "input.ends_reversed", ("5", "1")),
        ({"min": 1, "max": "inf"}, "study.kind", ("max", "inf")),
        ({"level": "ratio", "min": "nan"}, "study.kind", ("min", "nan")),
        ({"labels": "left|right"}, "input.positive_needed", ("left, right",)),
        ({"labels": "a|b|c", "low_end.en": "bad"}, "study.entry_pointless", ("low_end", "choice")),
        ({"labels": "a|b|a"}, "study.value_twice", ("a",)),
        ({"labels": "a|b|not_applicable"}, "study.value_reserved", ("not_applicable",)),
        ({"labels": "a|b|c", "labels.en": "A|B"}, "study.table_labels", ("labels.en", "2", "3")),
        ({"min": 1, "max": 3, "labels.en": "A||C"}, "study.table_labels", ("labels.en",)),
        ({"question": "a,b", "min": 1, "max": 5}, "study.name_form", ("a,b",)),
    ],
)
def test_a_table_that_cannot_be_asked_is_refused(
    tmp_path: Path, row: dict[str, Any], key: str, named: tuple[str, ...]
) -> None:
    with pytest.raises(VoirdireError) as error:
        asked_of(tmp_path, {"question": "q", **row})
    assert error.value.key == key
    sentence = told(error.value)
    assert [part for part in named if part not in sentence] == []
    assert key == "input.ends_reversed" or "questions.csv" in sentence


def test_a_table_without_the_language_of_a_pool_is_refused(tmp_path: Path) -> None:
    rows = [
        {"question": "fit", "role": "evaluation", "min": 1, "max": 5, "text.en": None},
        {"question": "taste", "role": "subjectivity", "min": 1, "max": 5, "text.en": "Taste?"},
    ]
    with pytest.raises(VoirdireError) as error:
        study_of(corpus(tmp_path, questions=rows))
    assert (error.value.key, error.value.fields["place"]) == ("study.text_missing", "taste")
    assert "text.zh" in told(error.value)
    assert "questions.csv" in told(error.value)


def test_real_questions_of_seven_points_become_buttons(shared_data: Path) -> None:
    folder = shared_data / "trust_ama"
    found = questions_of_table(read_shown(folder / "items.csv", questions=folder / "questions.csv"))
    assert {(asked.widget, asked.high) for asked, _ in found} == {("buttons", 7.0)}
    again = questions_table([asked for asked, _ in found])
    assert again["text"].to_list() == [asked.text["und"] for asked, _ in found]
