"""The study of a corpus: without a file, with one, and with options beside it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.annotation.study_corpora import FULL, corpus, item, picture, shown_of, study_of, told

from voirdire.annotation.nouns import Asked, Option
from voirdire.annotation.study_defaults import USABLE, VERDICTS, for_pilot, four_questions, pilot_question
from voirdire.annotation.study_file import read_study
from voirdire.annotation.study_questions import levels, questions_table
from voirdire.annotation.wording import said
from voirdire.corpus.corpus import ROLES
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.reading import read_corpus
from voirdire.errors import UsageError, VoirdireError
from voirdire.simulation.demo import write_demo
from voirdire.texts import text


def test_without_a_file_the_four_questions_are_asked_in_both_languages(tmp_path: Path) -> None:
    found = study_of(corpus(tmp_path))
    assert (found.file, found.notes) == (None, ())
    asked = {question.id: question for question in found.study.questions}
    assert [question.role for question in asked.values()] == list(ROLES)
    assert [question.widget for question in asked.values()] == ["buttons", "slider", "buttons", "buttons"]
    assert all((question.low, question.high, question.level) == (1, 5, "ordinal") for question in asked.values())
    assert [question.of_item for question in asked.values()] == [True, False, False, False]
    for name in ("q2", "q3", "q4"):
        assert all(said(asked[name].text, lang) and said(asked[name].low_end, lang) for lang in ("en", "zh"))


def test_placement_goes_from_the_second_culture_to_the_first(tmp_path: Path) -> None:
    """As simulated corpora have it: 5 is the culture of the first pool, 1 that of the last."""
    question = study_of(corpus(tmp_path)).study.question("q2")
    assert (question.low_end["en"], question.high_end["en"]) == ("China", "United States")
    assert (question.low_end["zh"], question.high_end["zh"]) == ("中国", "美国")


def test_subjectivity_is_low_where_opinion_decides(tmp_path: Path) -> None:
    """The audit counts items at or below the lower cut as subjective."""
    assert "opinion" in study_of(corpus(tmp_path)).study.question("q3").low_end["en"]


@pytest.mark.parametrize("cultures", [["us"], ["us", "cn", "in"], [None]])
def test_placement_is_not_asked_without_two_cultures(tmp_path: Path, cultures: list[str | None]) -> None:
    rows = [item(f"a{place}", culture) for place, culture in enumerate(cultures)]
    found = study_of(corpus(tmp_path, rows), pools=("us=en", "cn=zh"))
    assert [asked.id for asked in found.study.questions] == ["q1", "q3", "q4"]
    assert [note.key for note in found.notes] == ["study.note.no_placement"]
    assert all(text(note.key, lang, **note.fields) for note in found.notes for lang in ("en", "zh"))
    assert "another culture" in found.study.question("q4").text["en"]


def test_pools_follow_from_the_cultures_of_the_items(tmp_path: Path) -> None:
    pools = study_of(corpus(tmp_path)).study.pools
    assert [(pool.name, pool.languages) for pool in pools] == [("us", ("en",)), ("cn", ("zh",))]
    assert list(pools[1].consent) == list(pools[1].welcome) == ["zh"]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"prompt.en": "?", "prompt.zh": "？"}, {"China": "zh", "Chinese": "zh", "US": "en"}),
        ({"prompt.en": "?"}, {"China": "en", "US": "en"}),
        ({"prompt": "?"}, {"cn": "zh", "US": "en"}),
    ],
)
def test_a_pool_reads_the_language_of_its_culture_if_the_items_have_it(
    tmp_path: Path, columns: dict[str, str], expected: dict[str, str]
) -> None:
    rows = [{"item_id": f"i{place}", "culture": name, **columns} for place, name in enumerate(expected)]
    pools = study_of(corpus(tmp_path, rows)).study.pools
    assert {pool.name: pool.languages for pool in pools} == {name: (code,) for name, code in expected.items()}


def test_pools_of_the_command_line_stand_instead_of_others(tmp_path: Path) -> None:
    found = study_of(corpus(tmp_path), pools=("young = zh, en", "old"))
    assert [(pool.name, pool.languages) for pool in found.study.pools] == [("young", ("zh", "en")), ("old", ("en",))]


def test_a_pool_of_the_command_line_keeps_its_texts_of_the_file(tmp_path: Path) -> None:
    found = study_of(corpus(tmp_path), FULL, pools=("cn=zh",))
    assert [(pool.name, pool.languages, pool.welcome["zh"]) for pool in found.study.pools] == [
        ("cn", ("zh",), "您好。")
    ]
    assert found.study.screening[0].accept == {"cn": ("yes",)}


def test_every_entry_of_a_file_is_read(tmp_path: Path) -> None:
    found = study_of(corpus(tmp_path), FULL)
    study = found.study
    assert found.file == tmp_path / "annotation.toml"
    assert (study.name, study.raters_per_item, study.items_per_rater, study.repeats) == ("teas", 3, 4, 2)
    assert (study.lease_minutes, study.seed) == (20.5, 7)
    us, cn = study.pools
    assert (us.consent, us.completion_code, us.completion_url) == ({"en": "I agree."}, "ABC", "")
    assert (cn.languages, cn.title["en"], cn.completion_url) == (("zh", "en"), "Tea", "https://example.org/done?cc=1")
    assert list(us.welcome) == ["en"]
    fit, kind, cups, remark = study.questions
    assert fit == Asked(
        "fit",
        "buttons",
        "evaluation",
        low=1,
        high=3,
        options=(Option("2", {"en": "middling", "zh": "一般"}),),
        low_end={"en": "bad", "zh": "差"},
        high_end={"en": "good", "zh": "好"},
        of_item=True,
        not_applicable=True,
        comment=True,
    )
    assert (kind.widget, kind.level, levels(kind), kind.required) == (
        "choice",
        "nominal",
        ("green", "black", "milk"),
        False,
    )
    assert (cups.level, cups.low, cups.high, cups.text, cups.help) == (
        "ratio",
        0,
        None,
        {"und": "?"},
        {"und": "0, 1, 2.5"},
    )
    assert (remark.widget, remark.required) == ("text", False)
    here, reads = study.screening
    assert (here.accept, here.kind, here.keep) == ({"us": ("yes",), "cn": ("yes",)}, "one", False)
    assert (reads.accept, reads.kind, reads.all_of, reads.keep) == ({"cn": ("zh", "en")}, "many", True, True)
    assert [(gold.item_id, gold.question, gold.accept) for gold in study.gold] == [
        ("a1", "fit", ("2", "3")),
        ("a1", "kind", ("milk",)),
    ]


def test_a_file_of_pools_alone_leaves_the_questions_as_they_are(tmp_path: Path) -> None:
    study = study_of(corpus(tmp_path), {"pools": FULL["pools"]}).study
    assert [asked.id for asked in study.questions] == ["q1", "q2", "q3", "q4"]


def test_another_file_can_be_named(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c")
    (folder / "annotation.toml").write_text("this is no TOML")
    (tmp_path / "other.toml").write_text('name = "other"\n', encoding="utf-8-sig")
    assert study_of(folder, file=tmp_path / "other.toml").study.name == "other"


def test_options_go_before_the_file(tmp_path: Path) -> None:
    folder = corpus(tmp_path)
    study_of(folder, FULL)
    study = read_study(folder, shown_of(folder), raters_per_item=9, items_per_rater=8, repeats=0, seed=1)
    assert (study.raters_per_item, study.items_per_rater, study.repeats, study.seed) == (9, 8, 0, 1)


@pytest.mark.parametrize(
    ("option", "value"),
    [("raters_per_item", 0), ("items_per_rater", 0), ("repeats", -1), ("seed", -1), ("raters_per_item", 1001)],
)
def test_options_out_of_range_are_refused_by_name(tmp_path: Path, option: str, value: int) -> None:
    folder = corpus(tmp_path)
    with pytest.raises(UsageError) as error:
        read_study(folder, shown_of(folder), **{option: value})  # type: ignore[arg-type]
    assert "--" + option.replace("_", "-") in told(error.value)
    assert str(value) in told(error.value)


@pytest.mark.parametrize(
    ("pools", "key"),
    [
        (("=en",), "study.pool_form"),
        (("a|b=en",), "study.pool_form"),
        (("x" * 65,), "study.pool_form"),
        (("us=",), "study.pool_language"),
        (("us=english",), "study.pool_language"),
        (("us=en,en",), "study.pool_language"),
        (("us=en", "us=zh"), "study.pool_twice"),
    ],
)
def test_pools_that_are_none_are_refused(tmp_path: Path, pools: tuple[str, ...], key: str) -> None:
    with pytest.raises(UsageError) as error:
        study_of(corpus(tmp_path), pools=pools)
    assert error.value.key == key
    assert "--pool" in told(error.value)


def test_a_corpus_without_cultures_says_how_to_name_pools(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        study_of(corpus(tmp_path, [item("a", None)]))
    assert error.value.key == "study.no_pools"
    assert "--pool us=en" in told(error.value)


def test_a_culture_that_cannot_name_a_pool_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        study_of(corpus(tmp_path, [item("a", "us, urban")]))
    assert error.value.key == "study.culture_form"
    assert "us, urban" in told(error.value)


def test_readers_of_other_languages_need_questions_of_their_own(tmp_path: Path) -> None:
    folder = corpus(tmp_path, [{"item_id": "a", "culture": "fr", "prompt.fr": "Usuel ?", "text.fr": "Thé"}])
    with pytest.raises(UsageError) as error:
        study_of(folder)
    assert (error.value.key, error.value.fields["language"]) == ("study.usual_language", "fr")
    assert "--init" in told(error.value)
    own = {
        "pools": [{"name": "fr", "languages": ["fr"], "consent": {"fr": "D’accord."}}],
        "questions": [{"id": "q1", "role": "evaluation", "low": 1, "high": 5}],
    }
    assert study_of(folder, own).study.pools[0].welcome == {}


def test_a_study_for_a_pilot_asks_whether_the_item_can_be_used(tmp_path: Path) -> None:
    study = study_of(corpus(tmp_path)).study
    asked = for_pilot(study).questions[-1]
    assert asked == pilot_question()
    assert (asked.id, asked.widget, asked.level, levels(asked)) == (USABLE, "choice", "nominal", VERDICTS)
    assert all(said(option.text, lang) for option in asked.options for lang in ("en", "zh"))
    assert for_pilot(for_pilot(study)) == for_pilot(study)


def test_images_without_a_description_are_told(tmp_path: Path) -> None:
    (tmp_path / "tea.png").write_bytes(picture())
    rows = [item("a1", image="tea.png", **{"alt.en": "Tea"}), item("a2", "cn", image="tea.png", **{"alt.en": None})]
    found = study_of(corpus(tmp_path, rows))
    assert [(note.key, note.fields["language"], note.fields["count"]) for note in found.notes] == [
        ("study.note.no_description", "en", 1),
        ("study.note.no_description", "zh", 2),
    ]
    assert all(text(note.key, lang, **note.fields) for note in found.notes for lang in ("en", "zh"))


def test_rejected_items_need_nothing(tmp_path: Path) -> None:
    rows = [item("a1"), {"item_id": "a2", "culture": "us", "split": "rejected", "text.en": "Tea"}]
    assert study_of(corpus(tmp_path, [{"split": "test", **rows[0]}, rows[1]]), pools=("us=en", "cn=zh")).study.pools


@pytest.mark.parametrize(
    ("change", "key", "column"),
    [
        ({"prompt.zh": None}, "study.item_prompt_missing", "prompt.zh"),
        ({"prompt.zh": None, "prompt.en": None}, "study.item_prompt_missing", "prompt.en"),
        ({"text.zh": None}, "study.item_text_missing", "text.zh"),
        ({"min": 0, "max": 5}, "study.item_scale", "min"),
        ({"max": 7}, "study.item_scale", "max"),
        ({"level": "nominal"}, "study.item_scale", "max"),
    ],
)
def test_items_that_cannot_be_asked_are_refused_with_their_cell(
    tmp_path: Path, change: dict[str, Any], key: str, column: str
) -> None:
    folder = corpus(tmp_path, [item("a1"), item("a2", "cn") | change])
    with pytest.raises(VoirdireError) as error:
        study_of(folder)
    fields = error.value.fields
    assert (error.value.key, fields["item"], fields["row"], fields["column"]) == (key, "a2", 3, column)
    assert str(folder / "items.csv") in told(error.value)


def test_a_scale_of_an_item_that_is_the_question_s_is_fine(tmp_path: Path) -> None:
    rows = [item("a1", min=1, max=5), item("a2", "cn", min=None, max=5)]
    assert len(study_of(corpus(tmp_path, rows)).study.questions) == 4


def test_gold_may_be_an_item_to_which_a_question_does_not_apply(tmp_path: Path) -> None:
    folder = corpus(tmp_path, [item("a1"), item("a2", "cn")])
    asked = {"id": "fit", "low": 1, "high": 5, "text": "Good?", "not_applicable": True}
    gold = {"item": "a1", "question": "fit", "accept": ["not_applicable"]}
    assert study_of(folder, {"questions": [asked], "gold": [gold]}).study.gold[0].accept == ("not_applicable",)


def test_a_rejected_item_that_is_gold_must_be_readable(tmp_path: Path) -> None:
    rows = [{"split": "test", **item("a1")}, item("a2", "cn", split="rejected") | {"text.zh": None}]
    folder = corpus(tmp_path, rows)
    assert study_of(folder).study.gold == ()
    with pytest.raises(VoirdireError) as error:
        study_of(folder, {"gold": [{"item": "a2", "question": "q1", "accept": ["1"]}]})
    assert (error.value.key, error.value.fields["item"]) == ("study.item_text_missing", "a2")


def test_items_without_any_question_say_so(tmp_path: Path) -> None:
    with pytest.raises(VoirdireError) as error:
        study_of(corpus(tmp_path, [{"item_id": "a", "culture": "us", "text": "Tea"}]))
    assert error.value.key == "study.no_prompts"
    assert "--init" in told(error.value)


def test_a_text_of_the_question_asks_items_that_have_none(tmp_path: Path) -> None:
    folder = corpus(tmp_path, [{"item_id": "a", "culture": "us", "text": "Tea"}])
    asked = {"id": "q1", "role": "evaluation", "low": 1, "high": 5, "text": {"en": "How usual is it?"}}
    assert study_of(folder, {"questions": [asked]}).study.question("q1").text == {"en": "How usual is it?"}


def test_the_questions_of_a_study_are_read_by_the_audit(tmp_path: Path) -> None:
    study = for_pilot(study_of(corpus(tmp_path), FULL).study)
    table = questions_table(study.questions)
    assert table["question"].to_list() == ["fit", "kind", "cups", USABLE]
    answers = {"fit": ["1", "3"], "kind": ["milk", "green"], "cups": ["0", "2.5"], USABLE: ["usable", "same"]}
    ratings = pl.DataFrame(
        [
            {"item_id": name, "rater_id": f"{pool}1", "pool": pool, "question": question, "rating": rating}
            for question, given in answers.items()
            for name, rating in zip(("a1", "a2"), given, strict=True)
            for pool in ("us", "cn")
        ]
    )
    read = read_corpus(CorpusOptions(ratings, questions=table))
    scales = {question.id: str(question.scale) for question in read.questions}
    assert (scales["fit"], scales["kind"], scales[USABLE]) == (
        "ordinal:1:3",
        "nominal:green/black/milk",
        "nominal:" + "/".join(VERDICTS),
    )
    assert read.question("fit").role == "evaluation"
    assert read.question("kind").text == {"en": "Kind?", "zh": "种类？"}


def test_a_further_study_can_be_made_from_the_questions_table(tmp_path: Path) -> None:
    study = study_of(corpus(tmp_path / "1")).study
    rows = questions_table(study.questions).to_dicts()
    again = study_of(corpus(tmp_path / "2", questions=rows)).study
    assert again == study


def test_the_four_questions_have_the_roles_of_the_audit() -> None:
    assert [asked.role for asked in four_questions(["us", "cn"])] == list(ROLES)


def test_the_demonstration_has_a_study(tmp_path: Path) -> None:
    folder = write_demo(tmp_path).corpus
    study = study_of(folder).study
    assert [(asked.id, asked.role, asked.widget) for asked in study.questions] == [
        ("q1", "evaluation", "buttons"),
        ("q2", "placement", "slider"),
        ("q3", "subjectivity", "buttons"),
        ("q4", "recognizability", "buttons"),
    ]
    assert replace(study, seed=1) == read_study(folder, shown_of(folder), seed=1)
