"""The datasheet, the card and the Croissant document say what is told, and list what is not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from voirdire.exchange.card import SIZES, card, header, licence_entries, yaml
from voirdire.exchange.croissant import croissant, write_croissant
from voirdire.exchange.datasheet import datasheet, scale_words
from voirdire.exchange.facts import QuestionFacts, facts_of
from voirdire.exchange.release import Release
from voirdire.exchange.told import RELEASE, Told
from voirdire.texts import text


def section(sheet: str, name: str, lang: str = "en") -> str:
    return sheet.split(f"\n## {text(f'datasheet.section.{name}', lang)}\n", 1)[1].split("\n## ", 1)[0]


def test_who_rated(release: Release) -> None:
    sheet = datasheet(release)
    raters = section(sheet, "raters")
    us = release.tables["ratings"].filter(pool="us").drop_nulls("rating")
    each = us.group_by("item_id").len()["len"]
    assert f"| us | 5 | {us.height} | {each.min()} / {each.median():g} / {each.max()} | 0 |" in raters
    assert "- what they were paid: \\$20 an hour" in raters
    assert raters.count("what they were paid") == 1, "nobody told what the other pool was paid"


def test_what_is_not_told_is_listed(release: Release) -> None:
    untold = section(datasheet(release), "untold")
    corpus, cn, us = (line for line in untold.splitlines() if line.startswith("- "))
    assert "consent of the raters" in corpus
    assert "description" not in corpus
    assert us == "- us: country, ages"
    assert "what they were paid" in cn
    everything = replace(release, told=replace(release.told, release=dict.fromkeys(RELEASE, "x"), pools={}))
    assert "of the corpus" not in section(datasheet(everything), "untold")


def test_privacy(release: Release) -> None:
    privacy = section(datasheet(release), "privacy")
    assert "by pool and age, the smallest group of raters who look alike has 5 (asked for: at least 5)" in privacy
    assert "raters.city" in privacy
    assert "is not in this release" in privacy


def test_texts_of_others_are_shown_as_they_are(release: Release) -> None:
    assert "Meals \\| with \\*marks\\* and \\<b\\>tags\\</b\\>." in datasheet(release)


@pytest.mark.parametrize("form", ["csv", "parquet", "hf", "croissant"])
def test_in_chinese(release: Release, form: str) -> None:
    sheet = datasheet(release, "zh", form)
    assert sheet.startswith("# 两种文化的餐食\n")
    assert "美国评分者" in sheet
    assert f"voirdire import {form} " in section(sheet, "reading", "zh")


def test_scales_and_roles_are_told_in_words() -> None:
    asked = QuestionFacts("q1", "evaluation", {"en": "How good?"}, ("ordinal", (1.0, 5.0), ()))
    assert scale_words(asked, "zh") == "有序等级，1 至 5"
    assert scale_words(replace(asked, scale=("nominal", None, ("no", "yes"))), "en") == "labels without order, no, yes"
    assert scale_words(replace(asked, scale=("stars", (0.5, 5.0), ())), "en") == "stars; 0.5 to 5"
    assert scale_words(replace(asked, scale=("", None, ())), "en") == ""


@pytest.mark.parametrize("cell", ["low|mid|high", "low; mid; high", '["low", "mid", "high"]'])
def test_labels_are_listed_however_the_questions_table_has_them(release: Release, cell: str) -> None:
    table = pl.DataFrame({"question": ["q1"], "level": ["ordinal"], "labels": [cell]})
    told = datasheet(replace(release, tables={**release.tables, "questions": table}), "en", "csv")
    assert "low, mid, high" in section(told, "questions", "en")
    assert cell not in told


def test_counts(release: Release) -> None:
    facts = facts_of(release)
    assert (facts.items, facts.pairs, facts.judgments) == (22, 11, 22)
    assert facts.counts["split"] == {"test": 12, "demonstration": 10}
    assert facts.ratings + facts.missing == 220
    assert [pool.name for pool in facts.pools] == ["cn", "us"]
    assert facts.languages == ("en", "zh")
    bare = replace(release, told=Told("bare"))
    assert facts_of(bare).languages == ("en", "zh"), "read off the columns prompt.en, prompt.zh"


class TestCard:
    def test_header(self, release: Release) -> None:
        parts = {name: {"test": frame.height} for name, frame in release.tables.items()}
        head = header(release, parts)
        assert head["license"] == "cc-by-4.0"
        assert head["language"] == ["en", "zh"]
        assert head["size_categories"] == ["n<1K"]
        assert [config["config_name"] for config in head["configs"]] == list(release.tables)
        kinds = {one["name"]: one["dtype"] for one in head["dataset_info"][0]["features"]}
        assert (kinds["image"], kinds["item_id"]) == ("image", "string")
        assert "simulated" not in head["tags"]
        assert "simulated" in header(replace(release, told=replace(release.told, simulated=True)), parts)["tags"]

    def test_nothing_is_made_up(self, release: Release) -> None:
        bare = replace(release, told=Told("bare"))
        assert "license" not in header(bare, {})
        assert set(header(bare, {})) <= {
            "pretty_name",
            "language",
            "tags",
            "size_categories",
            "configs",
            "dataset_info",
        }

    @pytest.mark.parametrize(
        ("licence", "expected"),
        [
            ("CC-BY-4.0", {"license": "cc-by-4.0"}),
            ("Apache-2.0", {"license": "apache-2.0"}),
            ("CC BY 4.0", {"license": "cc-by-4.0"}),
            ("For research: only!", {"license": "other", "license_name": "for-research-only"}),
            ("仅供研究", {"license": "other", "license_name": "other"}),
        ],
    )
    def test_licences(self, licence: str, expected: dict[str, str]) -> None:
        assert licence_entries(licence) == expected

    def test_sizes(self, release: Release) -> None:
        assert [rows for rows, _ in SIZES] == [10**n for n in range(3, 8)]
        assert header(release, {"ratings": {"test": 999, "pilot": 1}})["size_categories"] == ["1K<n<10K"]

    def test_yaml_of_odd_texts(self) -> None:
        assert yaml({"a b": 'x"\n: y', "c": [{"d": True}, {}], "e": "\x85\x7f"}) == (
            '"a b": "x\\"\\n: y"\nc:\n  - d: true\n  - {}\ne: "\\u0085\\u007f"\n'
        )

    def test_the_header_ends_before_the_datasheet(self, release: Release) -> None:
        title = replace(release, told=replace(release.told, release={"title": "a\n---\nb"}))
        said = card(title, {})
        assert said.split("\n---\n")[1].startswith("\n# a --- b\n")


class TestCroissant:
    @pytest.fixture
    def document(self, release: Release, tmp_path: Path) -> dict[str, Any]:
        folder = tmp_path / "out"
        folder.mkdir()
        write_croissant(release, folder)
        read: dict[str, Any] = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
        assert read == json.loads(json.dumps(croissant(release, folder)))
        return read

    def test_what_is_told(self, document: dict[str, Any]) -> None:
        assert document["conformsTo"] == [
            "http://mlcommons.org/croissant/1.1",
            "http://mlcommons.org/croissant/RAI/1.0",
        ]
        assert document["license"] == "https://spdx.org/licenses/CC-BY-4.0"
        assert (document["version"], document["datePublished"]) == ("0.1.0", "2026-06-01")
        assert [one["name"] for one in document["creator"]] == ["A. One", "B. Two"]

    def test_responsible_fields(self, document: dict[str, Any]) -> None:
        assert document["rai:dataCollection"] == "Drawn by a program."
        assert document["rai:dataLimitations"] == ["not meant for: Ranking cultures."]
        assert document["rai:dataCollectionTimeframe"] == ["2026-04-18", "2026-04-25"]
        assert "what they were paid: $20 an hour" in document["rai:annotatorDemographics"][1]
        assert document["rai:annotatorDemographics"][0] == "cn: Raters: 5"
        assert document["rai:machineAnnotationTools"] == ["some/judge"]
        assert "4 / 5 / 5" in document["rai:annotationsPerItem"]

    def test_nothing_is_made_up(self, document: dict[str, Any]) -> None:
        assert not {"rai:dataBiases", "rai:dataSocialImpact", "rai:personalSensitiveInformation", "keywords_"} & set(
            document
        )

    def test_keys_and_references(self, document: dict[str, Any]) -> None:
        records = {record["@id"]: record for record in document["recordSet"]}
        assert records["items"]["key"] == {"@id": "items/item_id"}
        ratings = {field["name"]: field for field in records["ratings"]["field"]}
        assert ratings["rater_id"]["references"] == {"field": {"@id": "raters/rater_id"}}
        assert ratings["rating"]["dataType"] == "sc:Integer"
