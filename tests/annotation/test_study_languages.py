"""Pools that read other languages than the pages have."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.annotation.study_corpora import FULL, corpus, item, shown_of, study_of, told
from tests.annotation.test_study_guide import EXAMPLES

from voirdire.annotation.as_json import study_from_json, study_to_json
from voirdire.annotation.nouns import Study
from voirdire.annotation.study_defaults import for_pilot
from voirdire.annotation.study_languages import for_readers, missing_texts
from voirdire.annotation.study_template import proposed_study, study_template
from voirdire.annotation.wording import said
from voirdire.errors import InputError, UsageError

KOREAN: dict[str, Any] = {
    "pools": [{"name": "kr", "languages": ["ko", "en"], "consent": {"ko": "동의", "en": "I agree."}}],
    "questions": [{"id": "fit", "low": 1, "high": 5, "text": {"ko": "좋아요?", "en": "Good?"}}],
}
KOREAN["pools"][0]["welcome"] = {"ko": "안녕", "en": "Hello"}
PILOT = tomllib.loads(EXAMPLES[1])


def in_korean(name: str, culture: str = "kr") -> dict[str, Any]:
    return item(name, culture, **{"prompt.ko": f"{name}?", "text.ko": f"{name}."})


def korean(folder: Path, **more: Any) -> Study:
    return study_of(corpus(folder, [in_korean("a1"), in_korean("b1")]), {**KOREAN, **more}).study


def test_a_pilot_is_refused_where_its_question_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        for_pilot(korean(tmp_path))
    sentence = told(caught.value)
    assert "'kr' read 'ko'" in sentence
    assert "text.ko, usable.ko, factual.ko, same.ko, stereotype.ko, unclear.ko" in sentence


def test_one_missing_answer_is_enough_to_refuse(tmp_path: Path) -> None:
    partly = {name: texts for name, texts in PILOT["pilot"].items() if name != "same"}
    with pytest.raises(UsageError, match=r"\(same\.ko\)"):
        for_pilot(korean(tmp_path, pilot=partly))


def test_own_words_of_a_pilot_are_asked_beside_the_usual_ones(tmp_path: Path) -> None:
    study = korean(tmp_path, pilot=PILOT["pilot"])
    asked = for_pilot(study).questions[-1]
    assert said(asked.text, "ko") == PILOT["pilot"]["text"]["ko"]
    assert said(asked.text, "en") == "Can this item be used as it is?"
    assert [said(one.text, "ko") for one in asked.options] == [PILOT["pilot"][one.value]["ko"] for one in asked.options]
    assert study_from_json(study_to_json(study)) == study


def test_a_bare_text_of_a_pilot_is_read_in_every_language(tmp_path: Path) -> None:
    study = study_of(corpus(tmp_path), {**FULL, "pilot": {"text": "OK?"}}).study
    assert said(for_pilot(study).questions[-1].text, "zh") == "OK?"


@pytest.mark.parametrize(("pilot", "value"), [({"maybe": "?"}, "maybe"), ("OK?", "pilot"), ({"same": 3}, "same")])
def test_mistakes_in_the_words_of_a_pilot_are_refused(tmp_path: Path, pilot: Any, value: str) -> None:
    with pytest.raises(InputError) as caught:
        study_of(corpus(tmp_path), {**FULL, "pilot": pilot})
    assert value in told(caught.value)


def test_a_question_of_the_own_stands_for_that_of_a_pilot(tmp_path: Path) -> None:
    own = {"id": "usable", "options": ["usable", "same", "unclear"], "text": {"ko": "?", "en": "?"}}
    study = korean(tmp_path, questions=[*KOREAN["questions"], own])
    assert for_pilot(study) == study


def test_the_start_says_what_is_not_in_a_pools_language(tmp_path: Path) -> None:
    folder = corpus(tmp_path, [in_korean("a1")])
    notes = {note.key: note.fields for note in study_of(folder, KOREAN).notes}
    assert list(notes) == ["study.note.pages_and_agree_english", "study.note.no_pilot"]
    assert notes["study.note.no_pilot"]["language"] == "ko"
    pool = {**KOREAN["pools"][0], "agree": {"ko": "참여에 동의합니다."}}
    again = study_of(folder, {**KOREAN, "pools": [pool], **PILOT})
    assert [note.key for note in again.notes] == ["study.note.pages_english"]
    assert again.study.pool("kr").agree == {"ko": "참여에 동의합니다."}


def test_the_template_proposes_the_language_of_a_culture_that_the_items_have(tmp_path: Path) -> None:
    folder = corpus(tmp_path, [in_korean("a1"), in_korean("a2", "us"), in_korean("a3", "jp")])
    pools = {pool.name: pool.languages for pool in proposed_study(shown_of(folder)).pools}
    assert pools == {"kr": ("ko",), "us": ("en",), "jp": ("en",)}
    usual = study_of(folder)
    assert usual.study.pool("kr").languages == ("en",)
    assert [note.fields for note in usual.notes if note.key == "study.note.other_language"] == [
        {"pool": "kr", "language": "en", "own": "ko"}
    ]


def test_the_template_holds_no_text_that_no_pool_reads(tmp_path: Path) -> None:
    folder = corpus(tmp_path, [in_korean("a1"), in_korean("a2", "us")])
    source = study_template(folder, pools=["kr=ko,en", "us=en"])
    entries = "\n".join(line for line in source.splitlines() if not line.startswith("#"))
    assert "zh" not in entries
    assert "# [[pools]] kr: consent.ko, welcome.ko" in source


def test_missing_texts_are_listed_with_their_places(tmp_path: Path) -> None:
    shown = shown_of(corpus(tmp_path, [in_korean("a1"), in_korean("a2", "us")]))
    missing = missing_texts(proposed_study(shown, ["kr=ko,en", "us=en"]))
    assert missing[0] == "[[pools]] kr: consent.ko, welcome.ko"
    assert "[[questions]] q2: text.ko, low_end.ko, high_end.ko" in missing
    assert any(line.startswith("[[screening]] age: text.ko, options under-18: text.ko") for line in missing)
    assert missing_texts(proposed_study(shown, ["us=en", "cn=zh,en"])) == []
    assert missing_texts(proposed_study(shown, ["kr=ko"]))[0] == "[[pools]] kr: consent.ko, welcome.ko"


def test_a_study_for_its_readers_says_the_same_to_them(tmp_path: Path) -> None:
    study = study_of(corpus(tmp_path), pools=("us=en",)).study
    less = for_readers(study)
    assert {language for asked in less.questions for language in asked.text} == {"en"}
    assert [said(asked.text, "en") for asked in less.questions] == [said(asked.text, "en") for asked in study.questions]
