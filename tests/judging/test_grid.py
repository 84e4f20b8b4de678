"""The named grids, and the form of a grid file."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.judging.grids import SMALL, grid_from

from voirdire.errors import InputError, UsageError
from voirdire.judging import grid_schema
from voirdire.judging.grid import load_grid, merge, named_grids
from voirdire.judging.grid_reading import shipped, wording_digest
from voirdire.judging.grid_schema import SCHEMA, WORDING_SCHEMA, problems
from voirdire.judging.nouns import DesignSpec
from voirdire.texts import LANGUAGES

TEN = [
    *("neutral_en", "neutral_zh"),
    *(
        f"{who}_{detail}_{language}"
        for who in ("us", "cn")
        for detail in ("basic", "advanced")
        for language in ("en", "zh")
    ),
]
WORDINGS = {
    "demonstrations@2": "8e67d836f39f9217",
    "rating@1": "284684ec492d8d33",
    "us-cn-personas@1": "a0c068df22635673",
}

# The named grids


def test_paper_baseline_is_the_ten_conditions() -> None:
    grid = load_grid("paper-baseline")
    assert [condition.full_name for condition in grid.conditions] == TEN
    assert [dict(condition.factors) for condition in grid.conditions[:3]] == [
        {"persona": "none", "detail": "none", "language": "en"},
        {"persona": "none", "detail": "none", "language": "zh"},
        {"persona": "us", "detail": "basic", "language": "en"},
    ]
    assert grid.factors == ("persona", "detail", "language")
    assert all(len(condition.prefixes) == (condition.factors["persona"] != "none") for condition in grid.conditions)
    assert all(condition.material and len(condition.tightening) == 5 for condition in grid.conditions)


def test_paper_icl_is_four_designs_of_the_ten() -> None:
    grid = load_grid("paper-icl")
    assert sorted(condition.full_name for condition in grid.conditions) == sorted(
        f"{name}/{design}" for name in TEN for design in ("aa", "ac", "ca", "cc")
    )
    designs = {condition.design: condition.demonstrations for condition in grid.conditions}
    assert designs == {
        "aa": DesignSpec("aa", "us", "us"),
        "ac": DesignSpec("ac", "us", "cn"),
        "ca": DesignSpec("ca", "cn", "us"),
        "cc": DesignSpec("cc", "cn", "cn"),
    }
    frames = {(one.language, json.dumps(dict(one.demonstration_frame))) for one in grid.conditions}
    assert len(frames) == 2, "one frame a language, the same in every design"


def test_neutral_fits_itself_to_the_corpus() -> None:
    grid = load_grid("neutral")
    assert [condition.name for condition in grid.conditions] == ["neutral_en", "neutral_zh"]
    fitted, notes = grid.for_languages(["zh"])
    assert ([one.name for one in fitted.conditions], notes) == (["neutral_zh"], ())
    assert fitted.digest != grid.digest
    assert grid.for_languages(["en", "zh", "und"]) == (grid, ())
    assert grid.for_languages(["und"]) == (grid, ())
    fitted, notes = grid.for_languages(["en", "sw"])
    assert [one.name for one in fitted.conditions] == ["neutral_en"]
    assert [(note.key, note.fields["languages"]) for note in notes] == [("grid.note.unasked", "sw")]
    with pytest.raises(InputError) as error:
        grid.for_languages(["sw"])
    assert error.value.key == "grid.no_common_language"


def test_other_grids_do_not_fit_themselves() -> None:
    grid = load_grid("paper-baseline")
    assert grid.for_languages(["zh"]) == (grid, ())


def test_names() -> None:
    assert named_grids() == ("neutral", "paper-baseline", "paper-icl")
    with pytest.raises(UsageError, match="paper-icl"):
        load_grid("paper")
    with pytest.raises(InputError, match=r"no/such\.toml"):
        load_grid("no/such.toml")


def test_shipped_texts_keep_their_digests() -> None:
    """A text is changed only together with the version of its set."""
    tables = [tomllib.loads(source) for source in shipped("wording").values()]
    assert {f"{table['name']}@{table['version']}": wording_digest(table) for table in tables} == WORDINGS
    assert load_grid("paper-icl").wordings == WORDINGS


def test_shipped_texts_have_both_languages() -> None:
    for source in shipped("wording").values():
        texts = tomllib.loads(source)["texts"]
        cases = {
            lang: sorted(
                json.dumps({**entry["when"], "language": ""}, sort_keys=True)
                for entry in texts
                if entry["when"]["language"] == lang
            )
            for lang in LANGUAGES
        }
        assert cases["en"] == cases["zh"]


def test_the_two_cultures_have_the_same_sentences() -> None:
    """Personas differ by the names of country, people and language alone."""
    texts = {
        tuple(entry["when"].values()): entry["text"]
        for entry in tomllib.loads(shipped("wording")["us-cn-personas"])["texts"]
    }
    names = {
        "en": [
            ("an American", "X"),
            ("a Chinese person", "X"),
            ("the United States", "Y"),
            ("mainland China", "Y"),
            ("mostly American", "Z"),
            ("mostly Chinese", "Z"),
            ("English", "L"),
            ("Chinese", "L"),
        ],
        "zh": [
            ("美国人", "X"),
            ("中国人", "X"),
            ("中国大陆", "Y"),
            ("美国", "Y"),
            ("中国", "Y"),
            ("英语", "L"),
            ("中文", "L"),
        ],
    }
    for detail in ("basic", "advanced"):
        for language, pairs in names.items():
            found = set()
            for culture in ("us", "cn"):
                text = texts[culture, detail, language]
                for name, letter in pairs:
                    text = text.replace(name, letter)
                found.add(text)
            assert len(found) == 1, found


def test_merged_grids() -> None:
    grid = merge([load_grid("neutral"), load_grid("paper-baseline"), load_grid("paper-icl")])
    assert len(grid.conditions) == 50
    assert {condition.factors["design"] for condition in grid.conditions} == {"base", "aa", "ac", "ca", "cc"}
    assert grid.optional == frozenset()
    assert grid.wordings == WORDINGS
    alone = {one.full_name: one.digest for one in load_grid("paper-baseline").conditions}
    assert {one.full_name: one.digest for one in grid.conditions if one.design == "base"} == alone


def test_grids_that_cannot_be_merged() -> None:
    small = grid_from(SMALL)
    with pytest.raises(UsageError, match="glad_en"):
        merge([small, grid_from(SMALL.replace("You are glad.", "Be glad."))])
    with pytest.raises(UsageError, match="repeats"):
        merge([small, grid_from("repeats = 2\n" + SMALL)])


def test_showing_descriptions() -> None:
    grid = load_grid("paper-baseline")
    described = grid.showing("alt")
    assert {condition.image for condition in described.conditions} == {"alt"}
    assert not {one.digest for one in described.conditions} & {one.digest for one in grid.conditions}
    assert described.digest != grid.digest
    assert described.showing("file") == grid


# The form


def test_the_published_schema_is_the_enforced_one() -> None:
    published = Path(grid_schema.__file__).with_name("grid.schema.json").read_text(encoding="utf-8")
    assert published == grid_schema.schema_text(), "write it anew: grid_schema.schema_text()"
    Draft202012Validator.check_schema(json.loads(published))


@pytest.mark.parametrize("name", ["neutral", "paper-baseline", "paper-icl"])
def test_shipped_grids_have_the_published_form(name: str) -> None:
    table = tomllib.loads(shipped("grids")[name])
    assert list(Draft202012Validator(SCHEMA).iter_errors(table)) == []
    assert list(problems(table, SCHEMA)) == []
    assert table["name"] == name


@pytest.mark.parametrize("name", ["rating", "demonstrations", "us-cn-personas"])
def test_shipped_sets_have_their_form(name: str) -> None:
    table = tomllib.loads(shipped("wording")[name])
    assert list(Draft202012Validator(WORDING_SCHEMA).iter_errors(table)) == []
    assert table["name"] == name


STRINGS = (
    "",
    " ",
    "en",
    "a b",
    "é",
    "x\n",
    "tighten",
    "demonstrations",
    "Persona",
    "reversed",
    "alt",
    "-",
    "a/b",
    "__",
)
OTHERS = (True, 0, 1, 5, 2000, [], ["a"], ["a", "a"], [1], ["a"] * 5, {}, {"levels": ["a"]}, {"slot": "x"})
ODD = st.sampled_from((*STRINGS, *OTHERS))


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, entry in inner for found in places(entry, (*path, key)))]


@given(st.data(), st.sampled_from([SMALL, *shipped("grids").values()]))
def test_the_check_agrees_with_a_validator(data: st.DataObject, source: str) -> None:
    """A grid with one thing changed, added or taken out has the form for us exactly when it has it for jsonschema."""
    table = tomllib.loads(source)
    *path, last = data.draw(st.sampled_from(places(table)[1:]))
    parent = table
    for step in path:
        parent = parent[step]
    action = data.draw(st.sampled_from(["set", "drop", "add"]))
    if action == "drop":
        del parent[last]
    elif action == "set":
        parent[last] = data.draw(ODD)
    elif isinstance(parent, dict):
        parent[data.draw(st.sampled_from(["text", "steps", "odd key", "image", "plain", "name", "x\n"]))] = data.draw(
            ODD
        )
    valid = Draft202012Validator(SCHEMA).is_valid(table)
    found = list(problems(table, SCHEMA))
    assert (found == []) is valid
    assert all(problem.place for problem in found)
