"""Every mistake in ``annotation.toml`` is refused with file, place, entry and value."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.annotation.study_corpora import FULL, corpus, shown_of, study_of, told, toml

from voirdire.annotation.material import Shown
from voirdire.annotation.study_entries import shown
from voirdire.annotation.study_file import find_study
from voirdire.errors import VoirdireError

ASKED: dict[str, Any] = {"id": "q", "low": 1, "high": 5, "text": "Good?"}
CHOICE: dict[str, Any] = {"id": "q", "text": "Kind?", "options": ["a", "b", "c"]}
SCREEN: dict[str, Any] = {"id": "s", "text": "Here?", "options": ["yes", "no"]}
GOLD: dict[str, Any] = {"item": "a1", "question": "q1", "accept": ["5"]}
POOL: dict[str, Any] = {"name": "us", "languages": ["en"]}
LONG = "x" * 101


def asked(**change: Any) -> dict[str, Any]:
    return {"questions": [ASKED | change]}


def choice(**change: Any) -> dict[str, Any]:
    return {"questions": [CHOICE | change]}


def screen(**change: Any) -> dict[str, Any]:
    return {"screening": [SCREEN | change]}


def pool(**change: Any) -> dict[str, Any]:
    return {"pools": [POOL | change]}


def gold(**change: Any) -> dict[str, Any]:
    return {"gold": [GOLD | change]}


def without(table: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key != name}


QUESTION = "[[questions]] 1 (q)"
POOLS = "[[pools]] 1 (us)"
SCREENING = "[[screening]] 1 (s)"
GOLDEN = "[[gold]] 1 (a1)"

MISTAKES: list[tuple[dict[str, Any], str, str, tuple[str, ...]]] = [
    # the file as a whole
    ({"raters": 5}, "key_unknown", "-", ("raters", "raters_per_item")),
    ({"raters_per_item": 0}, "number_range", "-", ("raters_per_item", "0", "1000")),
    ({"raters_per_item": "5"}, "kind", "-", ("raters_per_item", "5")),
    ({"raters_per_item": True}, "kind", "-", ("raters_per_item", "true")),
    ({"raters_per_item": 2.5}, "kind", "-", ("raters_per_item", "2.5")),
    ({"items_per_rater": 0}, "number_range", "-", ("items_per_rater",)),
    ({"repeats": -1}, "number_range", "-", ("repeats", "-1")),
    ({"repeats": 5, "items_per_rater": 4}, "repeats_many", "-", ("5", "4")),
    ({"lease_minutes": 0}, "number_range", "-", ("lease_minutes", "10080")),
    ({"lease_minutes": float("nan")}, "kind", "-", ("lease_minutes", "NaN")),
    ({"seed": -1}, "number_range", "-", ("seed",)),
    ({"name": ""}, "text_blank", "-", ("name",)),
    ({"name": 3}, "kind", "-", ("name", "3")),
    ({"pools": {"us": "en"}}, "kind", "-", ("pools", "[[pools]]")),
    ({"questions": ["q1"]}, "kind", "-", ("questions", "[[questions]]")),
    # pools
    ({"pools": [{"languages": ["en"]}]}, "key_missing", "[[pools]] 1", ("name",)),
    ({"pools": [{"name": "us"}]}, "key_missing", POOLS, ("languages",)),
    (pool(languages="en"), "kind", POOLS, ("languages", "en")),
    (pool(languages=[]), "kind", POOLS, ("languages", "[]")),
    (pool(languages=["English"]), "language_form", POOLS, ("English",)),
    (pool(languages=["en", "en"]), "value_twice", POOLS, ("languages", "en")),
    (pool(name="a,b"), "name_form", "[[pools]] 1 (a,b)", ("a,b", "name")),
    (pool(name="*"), "name_form", "[[pools]] 1 (*)", ("*",)),
    (pool(lang="en"), "key_unknown", POOLS, ("lang",)),
    (pool(completion_url="javascript:alert(1)"), "address_form", POOLS, ("javascript:alert(1)",)),
    (pool(completion_url="app.prolific.com/x"), "address_form", POOLS, ("completion_url",)),
    (pool(completion_url="https://["), "address_form", POOLS, ("https://[",)),
    (pool(consent={"zh": "我同意。"}), "text_missing", POOLS, ("consent.en",)),
    (pool(languages=["en", "zh"], consent="Yes.", welcome={"en": "Hi."}), "text_missing", POOLS, ("welcome.zh",)),
    (pool(languages=["en", "zh"], title={"en": "Hi."}), "text_missing", POOLS, ("title.zh",)),
    (pool(consent={"en": "  "}), "text_blank", POOLS, ("consent.en",)),
    (pool(consent={"En glish": "Yes."}), "language_form", POOLS, ("En glish",)),
    (pool(consent=5), "kind", POOLS, ("consent", "5")),
    ({"pools": [POOL, POOL]}, "name_twice", "[[pools]] 2 (us)", ("us", POOLS)),
    # questions
    ({"questions": [without(ASKED, "id")]}, "key_missing", "[[questions]] 1", ("id",)),
    ({"questions": [ASKED, ASKED]}, "name_twice", "[[questions]] 2 (q)", (QUESTION,)),
    (asked(id=""), "text_blank", "[[questions]] 1", ("id",)),
    (asked(id="a;b"), "name_form", "[[questions]] 1 (a;b)", ("a;b",)),
    (asked(id=1), "kind", "[[questions]] 1", ("id",)),
    (asked(role="taste"), "value_unknown", QUESTION, ("taste", "subjectivity")),
    (asked(widget="stars"), "value_unknown", QUESTION, ("stars", "buttons, slider, choice, number, text")),
    (asked(level="likert"), "value_unknown", QUESTION, ("likert", "ordinal")),
    (asked(level="nominal"), "widget_level", QUESTION, ("buttons", "nominal", "choice")),
    (choice(level="interval"), "widget_level", QUESTION, ("choice", "interval", "buttons, slider, number")),
    (asked(widget="number", level="nominal"), "widget_level", QUESTION, ("number",)),
    (asked(low=5, high=1), "ends_reversed", QUESTION, ("5", "1")),
    (asked(low=5), "ends_reversed", QUESTION, ("5",)),
    (asked(widget="number", low=5, high=1), "ends_reversed", QUESTION, ("5",)),
    ({"questions": [without(ASKED, "high")]}, "ends_missing", QUESTION, ("buttons",)),
    (asked(low=0.5), "ends_not_whole", QUESTION, ("0.5",)),
    (asked(low="1"), "kind", QUESTION, ("low", "1")),
    (asked(high=12), "too_many_levels", QUESTION, ("12", "11")),
    (asked(widget="slider", high=200), "too_many_levels", QUESTION, ("200", "101")),
    (choice(options=["a"]), "options_few", QUESTION, ("1",)),
    (choice(options=[]), "kind", QUESTION, ("options",)),
    (choice(options="a"), "kind", QUESTION, ("options",)),
    (choice(options=["a", "a"]), "value_twice", QUESTION, ("a",)),
    (choice(options=["a", "b|c"]), "value_form", QUESTION, ("b|c",)),
    (choice(options=["a", LONG]), "value_form", QUESTION, ("xxx",)),
    (choice(options=["a", "not_applicable"]), "value_reserved", QUESTION, ("not_applicable",)),
    (choice(options=["a", True]), "kind", QUESTION, ("true",)),
    (choice(options=[{"text": "A"}, "b"]), "key_missing", f"{QUESTION}: options 1", ("value",)),
    (choice(options=["b", {"value": "a", "label": "A"}]), "key_unknown", f"{QUESTION}: options 2", ("label",)),
    (choice(options=["b", {"value": "a", "text": {"en": "A"}}, "c"]), "text_missing", QUESTION, ("options 2", "zh")),
    (choice(options=[str(number) for number in range(31)]), "too_many", QUESTION, ("31", "30")),
    (choice(options=["a", "b", "tie"], level="pairwise"), "votes", QUESTION, ("import",)),
    (choice(options=["left", "right"]), "positive_needed", QUESTION, ("left, right",)),
    (choice(options=["yes", "no"], positive="maybe"), "value_unknown", QUESTION, ("maybe", "yes, no")),
    (choice(positive="a"), "positive_of_many", QUESTION, ("a", "3")),
    (asked(positive="5"), "positive_of_many", QUESTION, ("5",)),
    (asked(options=[{"value": "7"}]), "value_unknown", QUESTION, ("7", "1, 2, 3, 4, 5")),
    (choice(widget="choice", low=1), "entry_pointless", QUESTION, ("low", "choice")),
    (choice(widget="choice", low_end="bad"), "entry_pointless", QUESTION, ("low_end",)),
    (asked(widget="number", high_end="good"), "entry_pointless", QUESTION, ("high_end", "number")),
    (asked(widget="text"), "entry_pointless", QUESTION, ("low", "text")),
    (asked(text={}), "text_missing", QUESTION, ("text.en",)),
    ({"questions": [without(ASKED, "text")]}, "text_missing", QUESTION, ("text.en", "us")),
    (asked(text={"en": "Good?"}), "text_missing", QUESTION, ("text.zh", "cn")),
    (asked(help={"en": "Look."}), "text_missing", QUESTION, ("help.zh",)),
    (asked(low_end={"zh": "差"}), "text_missing", QUESTION, ("low_end.en",)),
    (asked(high_end={"zh": "好"}), "text_missing", QUESTION, ("high_end.en",)),
    (asked(text={"en": ""}), "text_blank", QUESTION, ("text.en",)),
    (asked(text="a\u0007b"), "text_blank", QUESTION, ("text",)),
    (asked(required="yes"), "kind", QUESTION, ("required", "yes")),
    (asked(comment=1), "kind", QUESTION, ("comment", "1")),
    (asked(minimum=1), "key_unknown", QUESTION, ("minimum", "low")),
    (asked(required=False), "nothing_required", "-", ()),
    ({"questions": [{"id": "q", "widget": "text", "text": "More?", "required": True}]}, "nothing_rated", "-", ()),
    # screening
    ({"screening": [without(SCREEN, "options")]}, "options_few", SCREENING, ("0",)),
    ({"screening": [without(SCREEN, "text")]}, "text_missing", SCREENING, ("text.en",)),
    ({"screening": [SCREEN, SCREEN]}, "name_twice", "[[screening]] 2 (s)", (SCREENING,)),
    (screen(kind="some"), "value_unknown", SCREENING, ("some", "one, many")),
    (screen(accept=["maybe"]), "value_unknown", SCREENING, ("maybe", "yes, no")),
    (screen(accept={"us": ["maybe"]}), "value_unknown", SCREENING, ("accept.us", "maybe")),
    (screen(accept={"uk": ["yes"]}), "value_unknown", SCREENING, ("uk", "us, cn")),
    (screen(accept="yes"), "kind", SCREENING, ("accept", "yes")),
    (screen(accept=[]), "kind", SCREENING, ("accept",)),
    (screen(accept={"us": []}), "kind", SCREENING, ("accept.us",)),
    (screen(all_of=True), "all_of_one", SCREENING, ()),
    (screen(keep="age"), "kind", SCREENING, ("keep", "age")),
    (screen(text={"en": "Here?"}), "text_missing", SCREENING, ("text.zh",)),
    (screen(options=["yes", {"value": "no", "text": {"zh": "不"}}]), "text_missing", SCREENING, ("options 2", "en")),
    # gold
    (gold(item="a9"), "value_unknown", "[[gold]] 1 (a9)", ("a9", "a1, a2")),
    (gold(question="q9"), "value_unknown", GOLDEN, ("q9", "q1, q2")),
    (gold(accept=["6"]), "value_unknown", GOLDEN, ("6", "1, 2, 3, 4, 5")),
    (gold(accept=[]), "kind", GOLDEN, ("accept",)),
    (gold(accept=True), "kind", GOLDEN, ("accept",)),
    ({"gold": [without(GOLD, "accept")]}, "key_missing", GOLDEN, ("accept",)),
    ({"gold": [without(GOLD, "item")]}, "key_missing", "[[gold]] 1", ("item",)),
    ({"gold": [GOLD, GOLD]}, "name_twice", "[[gold]] 2 (a1)", ("a1 / q1",)),
    (
        {"questions": [ASKED, {"id": "more", "widget": "text", "text": "More?"}], **gold(question="more")},
        "gold_typed",
        GOLDEN,
        ("more",),
    ),
    (asked(widget="number", level="ratio") | gold(question="q", accept=[2]), "gold_typed", GOLDEN, ("q",)),
]


@pytest.mark.parametrize(
    ("table", "key", "place", "named"), MISTAKES, ids=[f"{number}-{entry[1]}" for number, entry in enumerate(MISTAKES)]
)
def test_a_mistake_is_refused_where_it_stands(
    tmp_path: Path, table: dict[str, Any], key: str, place: str, named: tuple[str, ...]
) -> None:
    with pytest.raises(VoirdireError) as error:
        study_of(corpus(tmp_path), table)
    assert error.value.key == f"study.{key}"
    assert (error.value.fields["file"], error.value.fields["place"]) == (str(tmp_path / "annotation.toml"), place)
    sentence = told(error.value)
    assert [part for part in named if part not in sentence] == []
    assert str(tmp_path / "annotation.toml") in sentence


def test_a_file_that_is_no_toml_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(VoirdireError) as error:
        study_of(corpus(tmp_path), 'name = "a"\nname = "b"\n')
    assert error.value.key == "input.toml_broken"
    assert "line 2" in told(error.value)


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    folder = corpus(tmp_path)
    (folder / "annotation.toml").write_bytes('name = "茶"'.encode("gb18030"))
    with pytest.raises(VoirdireError) as error:
        study_of(folder)
    assert error.value.key == "input.toml_broken"
    assert "annotation.toml" in told(error.value)


def test_a_file_that_is_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(VoirdireError) as error:
        study_of(corpus(tmp_path), file=tmp_path / "absent.toml")
    assert error.value.key == "study.file_unreadable"
    assert "absent.toml" in told(error.value)


WRONG = ("", "x", -1, 2.5, True, [], ["x"], [{}], {}, {"en": 1}, {"en": "x"}, 10**30)


def test_an_entry_outside_all_tables_has_its_place_in_words(tmp_path: Path) -> None:
    folder = corpus(tmp_path)
    (folder / "annotation.toml").write_text("raters = 5\n", encoding="utf-8")
    with pytest.raises(VoirdireError) as error:
        study_of(folder)
    assert "annotation.toml, top level: there is no entry 'raters' here" in error.value.message("en")
    assert "annotation.toml，顶层：" in error.value.message("zh")


def places(table: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a table, from the outside in."""
    steps = table.items() if isinstance(table, dict) else enumerate(table) if isinstance(table, list) else ()
    for step, value in steps:
        yield (*path, step)
        yield from places(value, (*path, step))


def tables(table: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Every table in a table, with its place."""
    for path in places(table):
        inner: Any = table
        for step in path:
            inner = inner[step]
        if isinstance(inner, dict):
            yield path, inner


def changed(table: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """A copy with another value at a place."""
    copied = copy.deepcopy(table)
    inner: Any = copied
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return copied


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    return shown_of(corpus(tmp_path_factory.mktemp("small")))


def refusal(small: Shown, table: dict[str, Any]) -> VoirdireError | None:
    """The error that a study of this table meets; any other error than ours is none of these."""
    file = small.folder / "annotation.toml"
    file.write_text(toml(table), encoding="utf-8")
    try:
        find_study(small.folder, small)
    except VoirdireError as error:
        return error
    return None


@pytest.mark.parametrize("path", list(places(FULL)), ids=lambda path: ".".join(map(str, path)))
def test_whatever_stands_in_a_place_is_taken_or_refused(small: Shown, path: tuple[Any, ...]) -> None:
    """No value at any place leads to another error than one that names the file."""
    refused = [error for value in WRONG if (error := refusal(small, changed(FULL, path, value)))]
    assert refused
    assert [error.key for error in refused if "annotation.toml" not in told(error)] == []


@pytest.mark.parametrize(
    ("path", "table"),
    list(tables(FULL)),
    ids=lambda part: ".".join(map(str, part)) if isinstance(part, tuple) else "",
)
def test_a_word_that_is_no_entry_is_never_passed_over(
    small: Shown, path: tuple[Any, ...], table: dict[str, Any]
) -> None:
    error = refusal(small, changed(FULL, path, {**table, "no such entry": "x"}))
    assert error is not None
    assert "no such entry" in told(error)


def test_long_values_are_shortened_in_errors(tmp_path: Path) -> None:
    with pytest.raises(VoirdireError) as error:
        study_of(corpus(tmp_path), asked(role="taste" * 1000))
    assert len(told(error.value)) < 400
    assert shown("a" * 61) == "a" * 59 + "…"


def test_toml_of_the_tests_says_what_is_meant() -> None:
    import tomllib

    assert tomllib.loads(toml(FULL)) == FULL
