"""Users' own grids, without code."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.judging.golden.write import IMAGE, QUESTION, TEXT
from tests.judging.grids import STEPS, grid_from, prompt_text, write

from voirdire.judging.grid import check, load_grid
from voirdire.judging.grid_reading import shipped
from voirdire.judging.grid_schema import RESERVED_SLOTS, SCHEMA, TEXT_ENTRY
from voirdire.judging.nouns import DesignSpec

# Own grids without code


def test_own_personas(tmp_path: Path) -> None:
    source = """
    name = "trades"
    include = ["rating"]
    [factors.persona]
    levels = ["none", "cook", "nurse"]
    plain = ["none"]
    [factors.language]
    levels = ["en"]
    [[blocks]]
    name = "{persona}"
    cross = { persona = ["none", "cook", "nurse"] }
    [[texts]]
    slot = "persona"
    when = { persona = "cook" }
    text = "You cook for a living."
    [[texts]]
    slot = "persona"
    when = { persona = "nurse" }
    text = "You are a nurse on a night ward."
    """
    grid = load_grid(write(tmp_path, source))
    assert [condition.name for condition in grid.conditions] == ["none", "cook", "nurse"]
    assert prompt_text(grid, "cook").startswith("You cook for a living.\n\n[table_cn.png]\n\nHow inviting")
    assert prompt_text(grid, "none").startswith("[table_cn.png]")


def test_own_language(tmp_path: Path) -> None:
    source = """
    name = "german"
    [factors.language]
    levels = ["de"]
    [[blocks]]
    name = "neutral_{language}"
    cross = { language = ["de"] }
    [[texts]]
    slot = "instruction"
    when = { language = "de" }
    text = "Antworte mit einer ganzen Zahl von {low} bis {high}."
    [[texts]]
    slot = "tighten"
    when = { language = "de" }
    steps = ["Nur die Zahl.", "Nur {levels}.", "Nur eine Ziffer.", "Kein Text.", "Nur die Zahl!"]
    """
    grid = load_grid(write(tmp_path, source))
    item = replace(TEXT, prompts={"de": "Wie gut?"}, texts={"de": "Eine Suppe."})
    assert prompt_text(grid, "neutral_de", item, 2).endswith(
        "Wie gut?\n\nAntworte mit einer ganzen Zahl von 1 bis 5.\n\nNur 1, 2, 3, 4, 5."
    )
    (note,) = check(grid, [item], [QUESTION])
    assert (note.key, note.fields["languages"], note.kind) == ("grid.note.untold", "de", "warning")


def test_text_only_and_blind_conditions(tmp_path: Path) -> None:
    source = """
    name = "sight"
    include = ["rating"]
    [factors.sight]
    levels = ["image", "words", "blind"]
    plain = ["image"]
    [factors.sight.effects.words]
    image = "alt"
    [factors.sight.effects.blind]
    image = "none"
    [factors.language]
    levels = ["en"]
    [[blocks]]
    name = "{sight}_{language}"
    cross = { sight = ["image", "words", "blind"] }
    """
    grid = load_grid(write(tmp_path, source))
    item = replace(IMAGE, alts={"en": "A round table."})
    assert prompt_text(grid, "image_en", item).startswith("[table_cn.png]\n\nHow inviting")
    assert "<image_description>\nA round table.\n</image_description>\n\nHow" in prompt_text(grid, "words_en", item)
    assert prompt_text(grid, "blind_en", item).startswith("How inviting")


def test_image_cue_persona(tmp_path: Path) -> None:
    source = """
    name = "cues"
    include = ["rating"]
    [factors.persona]
    levels = ["none", "flag"]
    plain = ["none"]
    [factors.persona.effects.flag]
    cue = ["cues/flag.png", "cues/street.png"]
    [factors.language]
    levels = ["zh"]
    [[blocks]]
    name = "{persona}_{language}"
    cross = { persona = ["none", "flag"] }
    """
    cues = tmp_path / "cues"
    cues.mkdir()
    (cues / "flag.png").write_bytes(b"flag")
    (cues / "street.png").write_bytes(b"street")
    grid = load_grid(write(tmp_path, source))
    assert prompt_text(grid, "flag_zh").startswith("[flag.png]\n\n[street.png]\n\n[table_cn.png]\n\n这张餐桌")
    (cues / "flag.png").write_bytes(b"another flag")
    again = load_grid(tmp_path / "own.toml")
    assert [one.digest == other.digest for one, other in zip(grid.conditions, again.conditions, strict=True)] == [
        True,
        False,
    ]
    elsewhere = load_grid(write(cues, source, "copy.toml"), folder=tmp_path)
    assert elsewhere.digest == again.digest


def test_politeness_in_the_instruction(tmp_path: Path) -> None:
    source = """
    name = "manners"
    include = ["rating", "us-cn-personas"]
    prefix_order = ["persona", "mood"]
    [factors.manners]
    levels = ["plain", "polite"]
    plain = ["plain"]
    [factors.mood]
    levels = ["none", "tired"]
    plain = ["none"]
    [factors.persona]
    levels = ["none", "us"]
    plain = ["none"]
    [factors.detail]
    levels = ["none", "basic"]
    plain = ["none"]
    [factors.language]
    levels = ["en"]
    [[blocks]]
    name = "{persona}_{mood}_{manners}"
    cross = { persona = ["us"], detail = ["basic"], mood = ["none", "tired"], manners = ["plain", "polite"] }
    [[texts]]
    slot = "instruction"
    when = { manners = "polite", language = "en" }
    text = "Would you be so kind as to reply with a number from {low} to {high}? Thank you."
    [[texts]]
    slot = "mood"
    when = { mood = "tired" }
    text = "You have had a long day."
    """
    grid = load_grid(write(tmp_path, source))
    polite = prompt_text(grid, "us_tired_polite")
    assert polite.startswith(
        "You are an American who was born and raised in the United States.\n\nYou have had a long day."
    )
    assert polite.endswith("Would you be so kind as to reply with a number from 1 to 5? Thank you.")
    assert prompt_text(grid, "us_none_plain").endswith("no explanation.")


def test_scale_direction(tmp_path: Path) -> None:
    source = """
    name = "direction"
    include = ["rating", "demonstrations"]
    [factors.direction]
    levels = ["usual", "reversed"]
    plain = ["usual"]
    [factors.direction.effects.reversed]
    scale = "reversed"
    [factors.language]
    levels = ["en", "zh"]
    [designs.home]
    pool = "us"
    [[blocks]]
    name = "{direction}_{language}"
    cross = { direction = ["usual", "reversed"], language = ["en", "zh"] }
    [[blocks]]
    name = "{direction}_{language}"
    cross = { direction = ["reversed", "usual"], language = ["en", "zh"], design = ["home"] }
    """
    grid = load_grid(write(tmp_path, source))
    assert [one.reversed for one in grid.conditions] == [False, False, True, True, True, True, False, False]
    assert "1 is the highest rating and 5 is the lowest" in prompt_text(grid, "reversed_en")
    assert "1 为最高分，5 为最低分" in prompt_text(grid, "reversed_zh")
    assert "1 is the lowest rating" in prompt_text(grid, "usual_en")
    shown = prompt_text(grid, "reversed_en/home")
    assert "Rating: 4" in shown, "a 2 of the pool is a 4 on the reversed scale"
    assert 0 < shown.index("1 is the highest rating and 5 is the lowest") < shown.index("Rating: "), "said before"
    in_chinese = prompt_text(grid, "reversed_zh/home")
    assert 0 < in_chinese.index("1 为最高分，5 为最低分") < in_chinese.index("评分：4")
    assert prompt_text(grid, "usual_en/home").count("highest") == 1, "a usual scale is explained once"
    assert grid.conditions[-1].demonstrations == DesignSpec("home", "us", None)


def test_own_set_of_texts(tmp_path: Path) -> None:
    write(
        tmp_path,
        'name = "mine"\nversion = 3\n[[texts]]\nslot = "instruction"\ntext = "{levels}!"\n'
        f'[[texts]]\nslot = "tighten"\n{STEPS}\n',
        "mine.toml",
    )
    source = """
    name = "short"
    include = ["mine.toml"]
    repeats = 3
    questions = ["q1"]
    [factors.language]
    levels = ["en"]
    [[blocks]]
    name = "bare"
    cross = { language = ["en"] }
    """
    grid = load_grid(write(tmp_path, source))
    assert prompt_text(grid, "bare").endswith("1, 2, 3, 4, 5!")
    assert (grid.repeats, grid.questions, list(grid.wordings)) == (3, ("q1",), ["mine@3"])
    assert grid.source == source


def test_own_text_goes_before_an_included_one() -> None:
    source = (
        shipped("grids")["neutral"]
        + '\n[[texts]]\nslot = "instruction"\nwhen = { language = "en" }\ntext = "Only {levels}."\n'
    )
    grid = grid_from(source)
    assert prompt_text(grid, "neutral_en").endswith("Only 1, 2, 3, 4, 5.")
    assert prompt_text(grid, "neutral_zh").endswith("也不要解释。")


GUIDE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "grids.md"
EXAMPLES = re.findall(r"^```toml\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), flags=re.S | re.M)


@pytest.mark.parametrize("source", EXAMPLES)
def test_examples_of_the_guide(tmp_path: Path, source: str) -> None:
    (tmp_path / "flag.png").write_bytes(b"flag")
    grid = load_grid(write(tmp_path, source))
    item = replace(IMAGE, prompts={"und": "How?"}, alts={"und": "A table."})
    assert "grid.note.und" in [note.key for note in check(grid, [item], [QUESTION], held_out=[item])]
    assert len(grid.conditions) > 0


def test_the_guide_names_every_key_slot_and_set() -> None:
    page = GUIDE.read_text(encoding="utf-8")
    names = [*SCHEMA["properties"], *TEXT_ENTRY["properties"], *RESERVED_SLOTS, *shipped("wording"), *shipped("grids")]
    known = {"factors", "designs", "blocks", "texts"}
    assert [name for name in names if name not in known and f"`{name}" not in page] == []
    assert len(EXAMPLES) == 5
