"""Every error of a grid file names file, table and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.judging.grids import SMALL, STEPS, grid_from, write

from voirdire.errors import InputError, VoirdireError
from voirdire.judging.grid import load_grid
from voirdire.judging.grid_reading import shipped
from voirdire.texts import LANGUAGES


def edit(old: str, new: str) -> Callable[[str], str]:
    def apply(source: str) -> str:
        assert old in source
        return source.replace(old, new, 1)

    return apply


def add(text: str) -> Callable[[str], str]:
    return lambda source: f"{source}\n{text}\n"


def top(text: str) -> Callable[[str], str]:
    return lambda source: f"{text}\n{source}"


GLAD = '[[texts]]\nslot = "mood"\nwhen = { mood = "glad" }\ntext = "You are glad."\n'
BROKEN: list[tuple[str, Callable[[str], str], str, str]] = [
    ("not_toml", edit("name =", "name ==="), "", "line 2"),
    ("key_missing", edit('name = "small"', ""), "-", "name"),
    ("key_missing", edit(STEPS, ""), "[[texts]] 3", "steps"),
    ("key_unknown", top("persona = 1"), "persona", "persona"),
    ("key_unknown", edit('text = "You are glad."', 'text = "x"\nbefore = "y"'), "[[texts]] 1: before", "before"),
    ("value_type", top('repeats = "2"'), "repeats", "2"),
    ("value_unknown", top("repeats = 0"), "repeats", "0"),
    ("value_unknown", top('image = "words"'), "image", "words"),
    ("value_count", edit('"d", "e"]', '"d"]'), "[[texts]] 3: steps", "4"),
    (
        "value_twice",
        edit('["none", "glad"]\nplain', '["none", "glad", "glad"]\nplain'),
        "[factors.mood]: levels",
        "glad",
    ),
    ("value_pattern", edit('levels = ["en"]', 'levels = ["e/n"]'), "[factors.language]: levels 1", "e/n"),
    ("level_unknown", edit('plain = ["none"]', 'plain = ["no"]'), "[factors.mood]", "no"),
    ("level_unknown", edit('{ mood = "glad" }', '{ mood = "sad" }'), "[[texts]] 1", "sad"),
    ("level_unknown", edit('cross = { mood = ["none", "glad"]', 'cross = { mood = ["sad"]'), "[[blocks]] 1", "sad"),
    ("factor_unknown", edit('{ mood = "glad" }', '{ mode = "glad" }'), "[[texts]] 1", "mode"),
    ("factor_unknown", edit("{mood}_", "{mode}_"), "[[blocks]] 1", "mode"),
    ("factor_unknown", top('prefix_order = ["mode"]'), "prefix_order", "mode"),
    ("factor_reserved", add('[factors.judge]\nlevels = ["a"]'), "[factors.judge]", "judge"),
    ("factor_reserved", add('[factors.tighten]\nlevels = ["a"]'), "[factors.tighten]", "tighten"),
    ("no_language", edit("[factors.language]", "[factors.tongue]"), "", ""),
    ("language_plain", edit('levels = ["en"]', 'levels = ["en"]\nplain = ["en"]'), "[factors.language]", ""),
    ("design_reserved", add('[designs.base]\npool = "us"'), "[designs.base]", "base"),
    ("plain_effect", add('[factors.mood.effects.none]\nimage = "alt"'), "[factors.mood]", "none"),
    ("factor_open", edit('plain = ["none"]', ""), "", ""),
    ("slot_unknown", edit('slot = "mood"', 'slot = "mode"'), "[[texts]] 1", "mode"),
    ("slot_unknown", edit('slot = "mood"', 'slot = "language"'), "[[texts]] 1", "language"),
    ("field_unknown", edit("You are glad.", "{lowest}"), "[[texts]] 1: text", "lowest"),
    ("field_unknown", edit("From {low}", "From {level}"), "[[texts]] 2: text", "level"),
    ("wording_unknown", top('include = ["ratings"]'), "", "ratings"),
    ("wording_version", top('include = ["rating@7"]'), "", "rating@7"),
    ("name_twice", edit("{mood}_{language}", "{language}"), "[[blocks]] 1", "en"),
    ("name_broken", edit("{mood}_{language}", "{mood} in {language}"), "[[blocks]] 1", "none in en"),
    ("text_missing", edit(f'[[texts]]\nslot = "tighten"\n{STEPS}', ""), "", ""),
    ("prefix_missing", edit(GLAD, ""), "", "glad"),
    ("text_tie", add(GLAD), "[[texts]] 4", ""),
    ("text_unused", add('[[texts]]\nslot = "mood"\nwhen = { mood = "none" }\ntext = "Not glad."'), "[[texts]] 4", ""),
    ("text_unused", add('[[texts]]\nslot = "mood"\ntext = "Any mood."'), "[[texts]] 4", ""),
    ("same_prompt", edit("You are glad.", "{low}"), "", ""),
]


@pytest.mark.parametrize(("key", "change", "place", "value"), BROKEN)
def test_errors(key: str, change: Callable[[str], str], place: str, value: str) -> None:
    source = change(SMALL)
    if key == "factor_open":
        source = source.replace('mood = ["none", "glad"], ', "").replace("{mood}_", "")
    if key == "same_prompt":
        source = SMALL.replace("You are glad.", "x").replace('"none", "glad"]\nplain = ["none"]', '"glad", "gay"]')
        source = source.replace('["none", "glad"]', '["glad", "gay"]').replace(
            'mood = "glad"', 'mood = ["glad", "gay"]'
        )
    with pytest.raises(VoirdireError) as error:
        grid_from(source)
    assert error.value.key == f"grid.{key}"
    assert error.value.fields["file"] == "own.toml"
    assert place in error.value.fields.get("place", "")
    assert value in str(error.value.fields.get("value", value))
    for lang in LANGUAGES:
        assert "own.toml" in error.value.message(lang)


FRAME = '[[texts]]\nslot = "demonstrations"\nbefore = "a"\nexample = "{level}"\nafter = "b"\n'
MORE: list[tuple[str, str]] = [
    ("example_without_level", FRAME.replace("{level}", "rated")),
    ("text_missing", '[designs.aa]\npool = "us"\n[[blocks]]\nname = "x"\ncross = { design = ["aa"] }'),
    ("file_without_folder", '[factors.mood.effects.glad]\ncue = "flag.png"'),
    ("direction_unsaid", '[factors.mood.effects.glad]\nscale = "reversed"'),
    (
        "effect_twice",
        '[factors.mood.effects.glad]\nimage = "alt"\n[factors.see]\nlevels = ["x"]\neffects.x.image = "none"',
    ),
    (
        "order_open",
        '[factors.job]\nlevels = ["cook"]\n[[texts]]\nslot = "job"\nwhen = { job = "cook" }\ntext = "You cook."',
    ),
]


@pytest.mark.parametrize(("key", "more"), MORE)
def test_further_errors(key: str, more: str) -> None:
    with pytest.raises(InputError) as error:
        grid_from(f"{SMALL}\n{more}\n")
    assert error.value.key == f"grid.{key}"


def test_a_text_for_several_languages_says_so() -> None:
    source = SMALL.replace('levels = ["en"]', 'levels = ["en", "de"]').replace(
        'language = ["en"]', 'language = ["en", "de"]'
    )
    with pytest.raises(InputError) as error:
        grid_from(source)
    assert error.value.key == "grid.text_languages"
    both = 'language = ["en", "de"]'
    said = source.replace('{ mood = "glad" }', f'{{ mood = "glad", {both} }}')
    for slot in ("instruction", "tighten"):
        said = said.replace(f'slot = "{slot}"', f'slot = "{slot}"\nwhen = {{ {both} }}')
    assert len(grid_from(said).conditions) == 4


@pytest.mark.parametrize("cue", ["../flag.png", "/etc/hostname", "sub/../../flag.png", "link.png"])
def test_cues_stay_inside_the_folder(tmp_path: Path, cue: str) -> None:
    folder = tmp_path / "grid"
    folder.mkdir()
    (tmp_path / "flag.png").write_bytes(b"flag")
    (folder / "link.png").symlink_to(tmp_path / "flag.png")
    with pytest.raises(InputError) as error:
        load_grid(write(folder, f'{SMALL}\n[factors.mood.effects.glad]\ncue = "{cue}"\n'))
    assert error.value.key == "grid.file_outside"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError) as absent:
        load_grid(write(tmp_path, f'{SMALL}\n[factors.mood.effects.glad]\ncue = "no.png"\n'))
    (tmp_path / "latin.toml").write_bytes('name = "Ä"'.encode("latin-1"))
    with pytest.raises(InputError) as latin:
        load_grid(tmp_path / "latin.toml")
    with pytest.raises(InputError) as included:
        load_grid(write(tmp_path, f'include = ["own.toml"]\n{SMALL}'))
    assert [error.value.key for error in (absent, latin, included)] == [
        "grid.file_absent",
        "grid.not_utf8",
        "grid.key_missing",
    ]


def test_a_level_named_in_a_text_needs_one_everywhere() -> None:
    """A text for one language does not leave the other without, even where the level has an effect as well."""
    source = shipped("grids")["neutral"].replace("fit_languages = true", "")
    source = source.replace("neutral_{language}", "{persona}_{language}").replace(
        "cross = {", 'cross = { persona = ["us"],'
    )
    source += '\n[[texts]]\nslot = "persona"\nwhen = { persona = "us", language = "en" }\ntext = "x"\n'
    with pytest.raises(InputError) as error:
        grid_from(source + '[factors.persona.effects.us]\nimage = "alt"\n')
    assert error.value.key == "grid.prefix_missing"
    assert error.value.fields["when"] == 'persona = "us", language = "zh"'


def test_a_cue_that_vanishes(tmp_path: Path) -> None:
    (tmp_path / "flag.png").write_bytes(b"flag")
    grid = load_grid(write(tmp_path, f'{SMALL}\n[factors.mood.effects.glad]\ncue = "flag.png"\n'))
    (tmp_path / "flag.png").unlink()
    with pytest.raises(InputError) as error:
        grid.showing("none")
    assert error.value.key == "grid.file_unreadable"
