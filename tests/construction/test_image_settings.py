"""What is the same for the members of a pair, and what of build.toml cannot be used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.construction.image_world import TEMPLATE, corpus

from voirdire.construction.build_file import read_build_file
from voirdire.construction.concepts import ConceptItem
from voirdire.construction.imaging.plan import wanted_of
from voirdire.construction.imaging.settings import (
    ImageSettings,
    check_settings,
    overruled,
    read_settings,
    worded,
)
from voirdire.construction.template import begin
from voirdire.errors import InputError, UsageError

USUAL = ImageSettings(template=TEMPLATE)


def item(realisation: str, culture: str = "us") -> ConceptItem:
    return ConceptItem(f"tea-{culture}", "tea", "food", culture, realisation)


@given(st.text(min_size=1), st.text(min_size=1))
def test_only_the_realisation_differs(first: str, second: str) -> None:
    template = "A photo of {realisation} ({concept}, {category}); soft light, {realisation}."
    for realisation in (first, second):
        head, tail = "A photo of ", " (tea, food); soft light, "
        assert worded(template, item(realisation)) == f"{head}{realisation}{tail}{realisation}."


@pytest.mark.parametrize("text", ["{concept}", "{realisation}", "{culture}", "{0}", "}{", "%s \\1 \\g<1>"])
def test_braces_of_the_table_are_text(text: str) -> None:
    assert worded(TEMPLATE, item(text)) == TEMPLATE.replace("{realisation}", text)


@pytest.mark.parametrize(
    ("template", "key"),
    [
        ("", "template_missing"),
        ("A photo of {culture}, {realisation}", "template_field"),
        ("A photo of {}", "template_field"),
        ("A photo of tea", "template_realisation"),
        ("A photo of {realisation} {", "template_realisation"),
    ],
)
def test_templates_that_cannot_be(template: str, key: str) -> None:
    with pytest.raises(InputError) as caught:
        check_settings(replace(USUAL, template=template), "build.toml")
    assert caught.value.key == f"build_images.{key}"
    assert "build.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"provider": "other"}, "provider"),
        ({"regime": "../up"}, "regime"),
        ({"regime": ""}, "regime"),
        ({"price": -1.0}, "price"),
        ({"price": float("nan")}, "price"),
        ({"model": ""}, "model"),
        ({"aspect_ratio": "wide"}, "aspect_ratio"),
        ({"aspect_ratio": "0:1"}, "aspect_ratio"),
        ({"size": "1024x1024"}, "size"),
        ({"size": "3K"}, "size"),
        ({"provider": "openai", "size": "auto"}, "size"),
        ({"provider": "openai", "size": "1536x1024"}, "size_ratio"),
    ],
)
def test_settings_that_cannot_be(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_settings(replace(USUAL, **changes), "build.toml")
    assert caught.value.key == f"build_images.{key}"


@pytest.mark.parametrize(
    ("provider", "ratio", "size", "sent", "side"),
    [
        ("gemini", "1:1", "1K", "1K", 1024),
        ("gemini", "16:9", "4K", "4K", 4096),
        ("gemini", "1:1", "auto", "auto", None),
        ("openai", "1:1", "1K", "1024x1024", 1024),
        ("openai", "3:2", "1K", "1536x1024", pytest.approx(1254.1, abs=0.1)),
        ("openai", "2:3", "1024x1536", "1024x1536", pytest.approx(1254.1, abs=0.1)),
        ("compatible", "1:1", "512x512", "512x512", 512),
    ],
)
def test_sizes(provider: str, ratio: str, size: str, sent: str, side: Any) -> None:
    settings = check_settings(replace(USUAL, provider=provider, aspect_ratio=ratio, size=size), "build.toml")
    assert settings.size == sent
    assert settings.frame is not None
    assert settings.frame.side == side


def test_what_gemini_is_sent() -> None:
    config = USUAL.sent()["generationConfig"]
    assert config == {"responseModalities": ["IMAGE"], "imageConfig": {"aspectRatio": "1:1", "imageSize": "1K"}}
    own = replace(USUAL, size="auto", parameters={"generationConfig": {"seed": 3}, "safetySettings": []}).sent()
    assert own["generationConfig"]["seed"] == 3
    assert own["generationConfig"]["imageConfig"] == {"aspectRatio": "1:1"}
    assert own["safetySettings"] == []


@pytest.mark.parametrize("name", ["model", "prompt", "n", "contents"])
def test_parameters_that_are_the_programs_own(name: str) -> None:
    with pytest.raises(InputError) as caught:
        check_settings(replace(USUAL, parameters={name: 1}), "build.toml")
    assert caught.value.key == "build_images.parameter"


def test_read_from_the_file(tmp_path: Path) -> None:
    lines = ['provider = "openai"', 'model = "gpt-image-1"', 'size = "1024x1024"', "price = 0.04"]
    more = "\n".join([*lines, 'parameters = { quality = "high" }'])
    settings = read_settings(read_build_file(corpus(tmp_path, images=more)))
    assert (settings.maker, settings.language, settings.price) == ("openai/gpt-image-1", "en", 0.04)
    assert settings.sent() == {"size": "1024x1024", "quality": "high"}


def test_several_templates(tmp_path: Path) -> None:
    more = 'template.zh = "{realisation}的照片。"\nlanguage = "zh"'
    settings = read_settings(read_build_file(corpus(tmp_path / "a", images=more)))
    assert (settings.template, settings.language) == ("{realisation}的照片。", "zh")
    with pytest.raises(InputError) as caught:
        read_settings(read_build_file(corpus(tmp_path / "b", images='language = "fr"')))
    assert caught.value.key == "build_images.template_language"


@pytest.mark.parametrize("more", ["colour = 1", "parameters = 3", "model = 3", 'provider = "folder"', "price = 'a'"])
def test_entries_that_nobody_knows(tmp_path: Path, more: str) -> None:
    with pytest.raises(InputError, match=r"build\.toml"):
        read_settings(read_build_file(corpus(tmp_path, images=more)))


@pytest.mark.parametrize(("languages", "own"), [(("en", "zh"), "en"), (("zh",), "zh"), (("fr", "en"), "en")])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_new_corpus_has_a_template(tmp_path: Path, languages: tuple[str, ...], own: str, lang: str) -> None:
    cultures = [f"{name}={languages[0]}" for name in ("us", "cn")]
    begin(tmp_path, cultures=cultures, languages=languages, lang=lang)
    settings = check_settings(read_settings(read_build_file(tmp_path)), "build.toml")
    assert (settings.language, settings.maker) == (own, ImageSettings().maker)
    lines = (tmp_path / "build.toml").read_text("utf-8").replace("# price =", "price =").replace("# model =", "model =")
    (tmp_path / "build.toml").write_text(lines, encoding="utf-8")
    assert read_settings(read_build_file(tmp_path)).price == 0.134


def test_another_provider_needs_a_model() -> None:
    assert overruled(USUAL, provider="openai").model == ""
    assert overruled(USUAL, provider="gemini").model == USUAL.model


def test_a_wording_has_a_name_of_its_own() -> None:
    one, other = (wanted_of(item(text), USUAL) for text in ("iced tea", "hot tea"))
    assert one.name != other.name
    assert one.name == wanted_of(item("iced tea"), USUAL).name
    assert one.name != wanted_of(item("iced tea"), replace(USUAL, regime="second")).name
    assert replace(one, draw=2).name == f"{one.name} 2"
