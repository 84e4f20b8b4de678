"""The ``annotation.toml`` to begin with, and studies written and read again."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.annotation.study_corpora import corpus, item, picture, shown_of, study_of

from voirdire.annotation.nouns import Asked, Option, PoolPlan, Screening
from voirdire.annotation.study_entries import Entries, Where
from voirdire.annotation.study_file import read_study
from voirdire.annotation.study_languages import for_readers
from voirdire.annotation.study_parts import read_parts
from voirdire.annotation.study_pools import read_pool
from voirdire.annotation.study_questions import levels, questions_table, read_question
from voirdire.annotation.study_screening import AGES_OF_PAPER, ENOUGH_HOURS, usual_screening
from voirdire.annotation.study_template import UNNAMED, study_template
from voirdire.annotation.study_writing import pool_lines, question_lines, screening_lines
from voirdire.simulation.demo import write_demo

RATED = [
    {
        "question": "fit",
        "role": "evaluation",
        "level": "ordinal",
        "min": 1,
        "max": 7,
        "text.en": "Fit?",
        "labels": None,
    },
    {"question": "kind", "labels": "hot|cold", "positive": "hot", "text": 'A "drink"\\?'},
    {"question": "cups", "level": "ratio", "min": 0.5, "text.en": "Cups?", "text.zh": "几杯？"},
]


def begun(folder: Path, **options: Any) -> str:
    """The template of a corpus folder, which is written there."""
    source = study_template(folder, **options)
    (folder / "annotation.toml").write_text(source, encoding="utf-8")
    return source


def uncommented(source: str) -> str:
    """The template with every entry that is commented out."""
    return re.sub(r"^# (?=\[\[|[a-z_.]+ = )", "", source, flags=re.MULTILINE)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("pools", [(), ("young=zh,en", "old men=en")])
def test_read_again_the_template_is_the_usual_study_with_screening(
    tmp_path: Path, lang: str, pools: tuple[str, ...]
) -> None:
    folder = corpus(tmp_path)
    usual = read_study(folder, shown_of(folder), pools=pools)
    begun(folder, lang=lang, pools=pools)
    again = read_study(folder, shown_of(folder))
    assert again == replace(usual, screening=usual_screening(usual.pools))


def test_the_template_of_the_demonstration_is_its_study_with_screening(tmp_path: Path) -> None:
    folder = write_demo(tmp_path).corpus
    usual = read_study(folder, shown_of(folder))
    begun(folder)
    assert read_study(folder, shown_of(folder)) == replace(usual, screening=usual_screening(usual.pools))


def test_questions_of_a_table_are_written_as_they_are(tmp_path: Path) -> None:
    rows = [{name: row.get(name) for one in RATED for name in one} for row in RATED]
    folder = corpus(tmp_path, [item("a1") | {"culture": "us"}], questions=rows)
    usual = read_study(folder, shown_of(folder))
    begun(folder)
    assert read_study(folder, shown_of(folder)).questions == for_readers(usual).questions
    assert usual.question("kind").positive == "hot"


def test_two_pools_are_proposed_where_the_items_have_no_culture(tmp_path: Path) -> None:
    folder = corpus(tmp_path, [item("a", None)])
    begun(folder)
    assert [pool.name for pool in read_study(folder, shown_of(folder)).pools] == list(UNNAMED)


def test_a_question_is_proposed_where_items_have_none(tmp_path: Path) -> None:
    folder = corpus(tmp_path, [{"item_id": "a", "culture": "us", "text": "Tea"}])
    begun(folder)
    assert "suitable" in read_study(folder, shown_of(folder)).question("q1").text["en"]


def test_what_is_commented_out_can_be_used(tmp_path: Path) -> None:
    folder = corpus(tmp_path)
    source = uncommented(begun(folder))
    study = study_of(folder, source).study
    assert (study.items_per_rater, study.questions[-1].widget, len(study.gold)) == (50, "text", 1)
    assert all(pool.completion_code and pool.completion_url for pool in study.pools)


def test_the_example_of_gold_is_one_of_the_last_question(tmp_path: Path) -> None:
    rows = [{"question": "kind", "role": "evaluation", "labels": "green|black|milk", "text": "Kind?"}]
    folder = corpus(tmp_path, questions=rows)
    assert study_of(folder, uncommented(begun(folder))).study.gold[0].accept == ("milk",)


def test_comments_are_in_the_language_asked_for(tmp_path: Path) -> None:
    folder = corpus(tmp_path)
    comments = {lang: re.findall(r"^# .*", begun(folder, lang=lang), flags=re.MULTILINE) for lang in ("en", "zh")}
    assert len(comments["en"]) == len(comments["zh"])
    assert comments["en"][0].startswith("# What raters")
    assert "评分者" in comments["zh"][0]


def test_the_screening_is_the_paper_s(tmp_path: Path) -> None:
    """Affiliation, ten hours or more a week with the country's media, its language, and 24 to 30 years."""
    pools = read_study(corpus(tmp_path), shown_of(tmp_path)).pools
    asked = {question.id: question for question in usual_screening(pools)}
    assert asked["affiliation"].accept == {"us": ("us",), "cn": ("cn",)}
    assert asked["media_hours"].accept == {"us": ENOUGH_HOURS, "cn": ENOUGH_HOURS}
    assert [int(re.split(r"[-+]", band)[0]) >= 10 for band in levels_of(asked["media_hours"])] == [
        band in ENOUGH_HOURS for band in levels_of(asked["media_hours"])
    ]
    assert asked["languages"].accept == {"us": ("en",), "cn": ("zh",)}
    assert asked["age"].accept == {"us": AGES_OF_PAPER, "cn": AGES_OF_PAPER}
    assert [name for name, question in asked.items() if question.keep] == ["media_hours", "age"]
    for question in asked.values():
        assert all(set(option.text) == {"en", "zh"} for option in question.options)


def test_names_with_quotation_marks_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "tea.png").write_bytes(picture())
    name = 'a "quoted" \\ name'
    folder = corpus(tmp_path, [item(name, image="tea.png", **{"alt.en": "Tea", "alt.zh": "茶"})])
    (folder / "corpus.toml").write_text("name = '''\nx = \"1\"\n[[pools]]'''\n")
    source = uncommented(begun(folder))
    assert tomllib.loads(source)["gold"][0]["item"] == name
    assert study_of(folder, source).study.name == 'x = "1"\n[[pools]]'


def levels_of(asked: Screening) -> list[str]:
    return [option.value for option in asked.options]


WORDS = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\t\"'\\"), min_size=1, max_size=20
).filter(lambda words: words.strip() == words and words != "")
TEXTS = st.one_of(
    st.just({}),
    st.dictionaries(st.sampled_from(["en", "zh", "pt-BR"]), WORDS, min_size=1),
    st.builds(lambda words: {"und": words}, WORDS),
)
NAMES = st.from_regex(r"[\w]([\w .+-]{0,10}[\w.+-])?", fullmatch=True)
VALUES = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="|;"), min_size=1, max_size=20
).filter(lambda value: value.strip() == value and value != "not_applicable")
OPTIONS = st.lists(st.builds(Option, VALUES, TEXTS), min_size=3, max_size=5, unique_by=lambda option: option.value)
FLAGS = {name: st.booleans() for name in ("of_item", "required", "not_applicable", "comment")}
SAID = {"text": TEXTS, "help": TEXTS}
ROLES = st.sampled_from([None, "evaluation", "placement", "subjectivity"])


@st.composite
def rated(draw: st.DrawFn) -> Asked:
    """A question with buttons or a slider."""
    low = draw(st.integers(-50, 50))
    ends = {"low": float(low), "high": float(low + draw(st.integers(1, 10)))}
    words = {name: draw(TEXTS) for name in ("low_end", "high_end")}
    widget = draw(st.sampled_from(["buttons", "slider"]))
    level = draw(st.sampled_from(["ordinal", "interval"]))
    given = {name: draw(strategy) for name, strategy in {**SAID, **FLAGS, "role": ROLES}.items()}
    return Asked(draw(NAMES), widget, level=level, **ends, **words, **given)


CHOICES = st.builds(
    Asked,
    NAMES,
    st.just("choice"),
    ROLES,
    st.sampled_from(["nominal", "ordinal"]),
    options=OPTIONS.map(tuple),
    **SAID,
    **FLAGS,
)
NUMBERS = st.builds(
    Asked,
    NAMES,
    st.just("number"),
    ROLES,
    st.sampled_from(["interval", "ratio"]),
    st.none() | st.floats(-1e9, 0.0),
    st.none() | st.floats(0.5, 1e9),
    **SAID,
    **FLAGS,
)
FREE = st.builds(
    Asked, NAMES, st.just("text"), level=st.just("nominal"), of_item=st.booleans(), required=st.booleans(), **SAID
)


def again(lines: Any) -> Entries:
    """The one table that these lines write."""
    ((_, [table]),) = tomllib.loads("\n".join(lines)).items()
    return Entries(Where("a file"), table)


@given(st.one_of(rated(), CHOICES, NUMBERS, FREE))
def test_a_question_that_is_written_is_read_as_it_was(asked: Asked) -> None:
    assert read_question(again(question_lines(asked))) == asked


@given(st.lists(st.one_of(rated(), CHOICES, NUMBERS), min_size=1, max_size=4, unique_by=lambda asked: asked.id))
def test_every_question_has_its_row_in_the_questions_table(questions: list[Asked]) -> None:
    table = questions_table(questions)
    assert table["question"].to_list() == [asked.id for asked in questions]
    for asked, row in zip(questions, table.to_dicts(), strict=True):
        assert (row.get("labels") or "") == ("|".join(levels(asked)) if asked.widget == "choice" else "")


@given(
    st.builds(
        PoolPlan,
        NAMES,
        st.lists(st.sampled_from(["en", "zh", "fr"]), min_size=1, unique=True).map(tuple),
        TEXTS,
        TEXTS,
        TEXTS,
        st.just("") | WORDS,
        st.sampled_from(["", "https://example.org/?a=1&b=2"]),
    )
)
def test_a_pool_that_is_written_is_read_as_it_was(pool: PoolPlan) -> None:
    assert read_pool(again(pool_lines(pool))) == pool


@given(st.data())
def test_screening_that_is_written_is_read_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    options = tuple(data.draw(OPTIONS))
    some = st.lists(st.sampled_from([option.value for option in options]), min_size=1, unique=True).map(tuple)
    accept = data.draw(st.dictionaries(NAMES, some, max_size=2))
    many = data.draw(st.booleans())
    asked = Screening(
        data.draw(NAMES),
        options,
        data.draw(TEXTS),
        "many" if many else "one",
        accept,
        all_of=many and data.draw(st.booleans()),
        keep=data.draw(st.booleans()),
    )
    file = tmp_path_factory.mktemp("screening") / "annotation.toml"
    file.write_text("\n".join(screening_lines(asked)), encoding="utf-8")
    ((read, _),) = read_parts(file).screening
    alike = len(set(accept.values())) == 1
    assert read == (replace(asked, accept={"*": next(iter(accept.values()))}) if alike else asked)
