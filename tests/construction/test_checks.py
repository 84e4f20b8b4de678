from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.construction.building import TEAM, Row, build_text, make, pair, pairs, row

from voirdire.app.build_check import build_check
from voirdire.cli.main import run
from voirdire.construction.authoring import move
from voirdire.construction.build_file import read_build_file
from voirdire.construction.checks import Checked, check_concepts
from voirdire.construction.concepts import read_concepts
from voirdire.construction.team import refuse_raters, who_rates
from voirdire.construction.translation.verifying import verify
from voirdire.errors import InputError
from voirdire.texts import catalogue

WORDS = ("soup", "wedding", "garden", "jacket", "doorway", "haircut", "picnic", "teapot")


def check(folder: Path, rows: Sequence[Row], **text: Any) -> Checked:
    make(folder, rows, build_text(**text))
    return check_concepts(read_build_file(folder), read_concepts(folder))


def kinds(checked: Checked) -> list[str]:
    return [one.kind for one in checked.findings]


def different(*concepts: str) -> list[Row]:
    """Pairs whose questions and realisations share few letters."""
    rows = []
    for place, concept in enumerate(concepts):
        asked = {
            "prompt_en": f"{WORDS[place]} {WORDS[::-1][place]}?",
            "prompt_zh": "春夏秋冬东南西北"[place] * 4 + "？",
        }
        rows += [row(concept, "us", realisation=f"{place} {WORDS[place]}", **asked)]
        rows += [row(concept, "cn", realisation=f"{WORDS[::-1][place]} {place}{place}", **asked)]
    return rows


def test_nothing_is_wrong(tmp_path: Path) -> None:
    checked = check(tmp_path, different("a", "b", "c"))
    assert checked.findings == ()
    assert (checked.concepts, checked.items) == (3, 6)
    assert checked.categories == {"food": {"us": 3, "cn": 3}}
    assert checked.languages == {"en": 6, "zh": 6}


CASES: list[tuple[str, list[Row], dict[str, Any]]] = [
    ("no_concepts", [], {}),
    ("culture_missing", [row("tea", "us")], {}),
    ("culture_unknown", [*pair("tea"), row("tea", "jp")], {}),
    ("category_missing", [row("tea", "us"), row("tea", "cn", category="")], {}),
    ("category_differs", [row("tea", "us"), row("tea", "cn", category="drink")], {}),
    ("split_differs", [row("tea", "us", split="test"), row("tea", "cn", split="pilot")], {}),
    ("split_differs", [row("tea", "us", split="test"), row("tea", "cn")], {}),
    ("split_unknown", pair("tea", split="training"), {}),
    ("realisation_missing", [row("tea", "us"), row("tea", "cn", realisation="")], {}),
    ("realisation_same", [row("tea", "us", realisation="A cup"), row("tea", "cn", realisation="a  CUP ")], {}),
    ("question_missing", [row("tea", "us"), row("tea", "cn", prompt_en="")], {}),
    ("question_differs", [row("tea", "us"), row("tea", "cn", prompt_en="Would tea please you ?")], {}),
    ("question_differs", [row("tea", "us"), row("tea", "cn", prompt_zh="你喜欢tea吗？")], {}),
    ("question_differs", [row("tea", "us"), row("tea", "cn", prompt_en="would tea please you?")], {}),
    ("text_unfit", [row("tea", "us"), row("tea", "cn", realisation="a cup\x1b[31m")], {}),
    ("text_unfit", pair("tea", prompt_zh="好\x07吗"), {}),
    ("person_missing", pair("tea", author="ana"), {}),
    ("person_unknown", pair("tea", author="ana", reviewer="dee"), {}),
    (
        "person_differs",
        [row("tea", "us", author="ana", reviewer="bo"), row("tea", "cn", author="bo", reviewer="ana")],
        {},
    ),
    ("reviews_own", pair("tea", author="ana", reviewer="ana"), {}),
    ("spelt_otherwise", [row("tea", "us"), row("Tea", "cn")], {}),
    ("spelt_otherwise", [*pair("tea"), *pair("rice", category="Food")], {}),
    ("category_small", [*pairs("tea"), *pair("hat", category="fashion")], {"more": "[balance]\nmin_per_category = 2"}),
    ("language_missing", pair("tea"), {"languages": ["fr", "en"]}),
    ("language_missing", pair("tea"), {"languages": ["en", "zh", "fr"]}),
    ("language_unknown", pair("tea"), {"languages": ["en"]}),
    ("translation_missing", [*different("tea", "rice")[:2], *pair("fish", prompt_zh="")], {}),
    ("alt_missing", [row("tea", "us", alt_en="A cup"), row("tea", "cn")], {}),
    ("authors_few", pair("tea"), {"team": TEAM[:2]}),
]
WARNINGS = ("language_unknown", "translation_missing", "alt_missing", "authors_few", "questions_alike")


@pytest.mark.parametrize(
    ("kind", "rows", "text"), CASES, ids=[f"{kind}-{place}" for place, (kind, *_) in enumerate(CASES)]
)
def test_each_lack_is_found(tmp_path: Path, kind: str, rows: list[Row], text: dict[str, Any]) -> None:
    checked = check(tmp_path, rows, **text)
    found = next(one for one in checked.findings if one.kind == kind)
    translation = kind == "language_missing" and text["languages"][0] == "en"
    assert found.level == ("warning" if kind in WARNINGS or translation else "error")
    for lang in ("en", "zh"):
        sentence = found.message(lang)
        assert "concepts.csv" in sentence or "row" not in found.fields
        assert all(str(found.fields[name]) in sentence for name in ("row", "value", "concept") if name in found.fields)


def test_the_row_that_is_named(tmp_path: Path) -> None:
    rows = [*pair("tea"), row("rice", "us"), row("rice", "cn", prompt_en="Other?")]
    found = next(one for one in check(tmp_path, rows).findings if one.kind == "question_differs")
    assert (found.fields["row"], found.fields["first"], found.fields["column"]) == (5, 4, "prompt.en")


def test_balance_of_categories(tmp_path: Path) -> None:
    rows = [*pairs("a", "b", "c"), *pair("hat", category="fashion")]
    assert "category_unbalanced" not in kinds(check(tmp_path, rows, more="[balance]\nmax_ratio = 3"))
    checked = check(tmp_path, rows, more="[balance]\nmax_ratio = 2.5")
    found = next(one for one in checked.findings if one.kind == "category_unbalanced")
    assert (found.fields["most"], found.fields["many"], found.fields["fewest"], found.fields["few"]) == (
        "food",
        3,
        "fashion",
        1,
    )


def test_near_duplicates_are_told_in_groups(tmp_path: Path) -> None:
    rows = different("a", "b", "c", "d")
    for place, ending in ((0, ""), (1, ""), (4, "!"), (5, "!")):
        rows[place]["prompt.zh"] = "这顿饭有多喜庆" + ending
    rows[0]["realisation"], rows[6]["realisation"] = "A big bowl of noodle soup", "A bowl of noodle soup"
    found = {one.kind: one.fields for one in check(tmp_path, rows).findings}
    assert set(found) == {"questions_alike", "realisations_alike"}
    assert (found["questions_alike"]["concepts"], found["questions_alike"]["column"]) == ("a, c", "prompt.zh")
    assert (found["realisations_alike"]["concepts"], found["realisations_alike"]["culture"]) == ("a, d", "us")
    strict = check(tmp_path, rows, more="[similar]\nen = 1\nzh = 1")
    assert kinds(strict) == ["questions_alike"]


def test_rejected_concepts_count_for_nothing(tmp_path: Path) -> None:
    rows = [*different("a", "b"), row("bad", "us", split="rejected", prompt_en="", realisation="")]
    checked = check(tmp_path, rows)
    assert checked.findings == ()
    assert (checked.concepts, checked.items) == (2, 4)


def test_many_concepts_are_checked_in_time(tmp_path: Path) -> None:
    """The paper has 313 pairs; ten times as many, all of one wording, are one finding for each language."""
    rows = [
        one for number in range(3130) for one in pair(f"c{number}", prompt_en="How good is this?", prompt_zh="好吗？")
    ]
    checked = check(tmp_path, rows)
    assert (checked.concepts, checked.items) == (3130, 6260)
    asked = [one.fields["count"] for one in checked.findings if one.kind == "questions_alike"]
    assert asked == [3130, 3130]


def test_history_and_table_that_have_parted(tmp_path: Path) -> None:
    rows = different("a", "b", "c")
    make(tmp_path, rows)
    for action, by, note in (("submit", "ana", ""), ("review", "bo", "Fine."), ("accept", "bo", "")):
        move(tmp_path, action, "a", by, note=note)
    checked = build_check(tmp_path).checked
    assert checked.states == {"accepted": 1, "open": 2}
    assert [one.kind for one in checked.findings] == ["not_accepted", "texts_unverified"]
    rows[0]["prompt.zh"] = rows[1]["prompt.zh"] = ""
    make(tmp_path, rows)
    assert "changed_since" in kinds(build_check(tmp_path).checked)
    make(tmp_path, [{**one, "author": "bo", "reviewer": "ana"} for one in different("a")])
    assert "assigned_otherwise" in kinds(build_check(tmp_path).checked)
    make(tmp_path, different("z"))
    gone = next(one for one in build_check(tmp_path).checked.findings if one.kind == "concept_gone")
    assert (gone.fields["state"], "的状态是 已接受" in gone.message("zh")) == ("accepted", True)
    make(tmp_path, different("a", "b", "c"), build_text(team=["ana", "chen", "dee"]))
    left = next(one for one in build_check(tmp_path).checked.findings if one.kind == "author_left")
    assert (left.fields["value"], left.fields["concepts"]) == ("bo", "b")


def test_a_culture_that_came_later_is_a_change(tmp_path: Path) -> None:
    make(tmp_path, different("a"))
    for action, by, note in (("submit", "ana", ""), ("review", "bo", "Fine."), ("accept", "bo", "")):
        move(tmp_path, action, "a", by, note=note)
    third = {**different("a")[0], "culture": "jp", "realisation": "!!! elsewhere"}
    make(tmp_path, [*different("a"), third], build_text(more='[[culture]]\nname = "jp"'))
    assert kinds(build_check(tmp_path).checked) == ["changed_since", "texts_unverified"]


def test_a_translation_that_came_later_is_no_change(tmp_path: Path) -> None:
    rows = different("a")
    without = [{**one, "prompt.zh": ""} for one in rows]
    make(tmp_path, without)
    for action, by, note in (("submit", "ana", ""), ("review", "bo", "Fine."), ("accept", "bo", "")):
        move(tmp_path, action, "a", by, note=note)
    make(tmp_path, rows)
    assert kinds(build_check(tmp_path).checked) == ["texts_unverified"]
    verify(tmp_path, "a/prompt/zh", "dai")
    assert build_check(tmp_path).checked.findings == ()


def test_every_finding_has_a_sentence_and_a_test() -> None:
    known = {key.removeprefix("build.finding.") for key in catalogue("en") if key.startswith("build.finding.")}
    tested = {kind for kind, *_ in CASES} | {"category_unbalanced", "questions_alike", "realisations_alike"}
    tested |= {"not_accepted", "changed_since", "assigned_otherwise", "concept_gone", "author_left", "author_rates"}
    tested |= {"texts_unverified", "alt_unreviewed"}
    assert known == tested


RATERS = pl.DataFrame(
    {
        "worker_id": ["w1", "w2", "w3"],
        "name": ["Lee", "ＢＯ ", "Kim"],
        "city": ["ana", "ana", "Lima"],
        "age": [24, 30, 30],
    }
)


def test_authors_among_the_raters(tmp_path: Path) -> None:
    """By id and by columns that tell people apart; a column with a value for two people does not."""
    RATERS.write_csv(tmp_path / "raters.csv")
    found = who_rates(TEAM, tmp_path / "raters.csv")
    assert [(one.author, one.row, one.column, one.value) for one in found] == [("bo", 3, "name", "ＢＯ")]
    with pytest.raises(InputError, match=r"raters\.csv, row 3, column 'name'"):
        refuse_raters(TEAM, tmp_path / "raters.csv")
    checked = build_check(make(tmp_path / "corpus", different("a")), raters=tmp_path / "raters.csv").checked
    assert kinds(checked) == ["author_rates", "texts_unverified"]
    assert checked.errors


def test_authors_among_ratings_and_in_a_corpus(tmp_path: Path) -> None:
    ratings = pl.DataFrame(
        {"item_id": ["i", "j", "i"], "rater": ["r1", "r1", "Chen"], "pool": "us", "rating": [1, 2, 3]}
    )
    assert [(one.author, one.column, one.row) for one in who_rates(TEAM, ratings)] == [("chen", "rater", 3)]
    folder = tmp_path / "frozen"
    folder.mkdir()
    ratings.write_csv(folder / "ratings.csv")
    (folder / "corpus.toml").write_text('name = "frozen"')
    assert [one.author for one in who_rates(TEAM, folder)] == ["chen"]
    RATERS.write_csv(folder / "raters.csv")
    assert [(one.author, one.column) for one in who_rates(TEAM, folder)] == [("bo", "name"), ("chen", "rater")]
    wide = pl.DataFrame({"item_id": ["i"], "w1": [1], "w2": [2]})
    wide.write_csv(folder / "ratings.csv")
    assert [one.author for one in who_rates(TEAM, folder)] == ["bo"]


def test_a_column_of_raters_can_be_named(tmp_path: Path) -> None:
    table = tmp_path / "ratings.csv"
    pl.DataFrame({"item_id": ["i"], "wer": ["Ana"], "rating": [1]}).write_csv(table)
    corpus = make(tmp_path / "corpus", different("a"))
    with pytest.raises(InputError, match="rater_id"):
        build_check(corpus, raters=table)
    assert "author_rates" in kinds(build_check(corpus, raters=table, mapping={"rater_id": "wer"}).checked)
    assert run(["build", "check", str(corpus), "--raters", str(table), "--map", "rater_id=wer"]) == 3
    folder = tmp_path / "rated"
    folder.mkdir()
    table.rename(folder / "ratings.csv")
    (folder / "corpus.toml").write_text('[read]\nmap = { rater_id = "wer" }\n')
    assert "author_rates" in kinds(build_check(corpus, raters=folder).checked)


def test_raters_without_an_id() -> None:
    with pytest.raises(InputError, match="rater_id"):
        who_rates(TEAM, pl.DataFrame({"name": ["ana"]}))
