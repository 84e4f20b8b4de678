"""What the tests of grids share."""

from __future__ import annotations

from pathlib import Path

from tests.judging.golden.write import IMAGE, QUESTION

from voirdire.corpus.shown import Item
from voirdire.judging.grid import Grid, grid_of
from voirdire.judging.grid_reading import read_grid_file
from voirdire.judging.nouns import Demonstration, TextPart
from voirdire.judging.prompts import build_prompt, levels_of

STEPS = 'steps = ["a", "b", "c", "d", "e"]'
SMALL = f"""
name = "small"
[factors.language]
levels = ["en"]
[factors.mood]
levels = ["none", "glad"]
plain = ["none"]
[[blocks]]
name = "{{mood}}_{{language}}"
cross = {{ mood = ["none", "glad"], language = ["en"] }}
[[texts]]
slot = "mood"
when = {{ mood = "glad" }}
text = "You are glad."
[[texts]]
slot = "instruction"
text = "From {{low}} to {{high}}."
[[texts]]
slot = "tighten"
{STEPS}
"""


def grid_from(source: str, folder: Path | None = None) -> Grid:
    return grid_of(read_grid_file(source, "own.toml", folder))


def prompt_text(grid: Grid, name: str, item: Item = IMAGE, malformed: int = 0) -> str:
    (condition,) = (one for one in grid.conditions if one.full_name == name)
    shown = [Demonstration(item, 2)] if condition.demonstrations else []
    made = build_prompt(
        item,
        QUESTION,
        condition,
        levels=levels_of(QUESTION),
        malformed=malformed,
        demonstrations=shown,
        sha256_of=str,
    )
    return "\n\n".join(part.text if isinstance(part, TextPart) else f"[{part.path.name}]" for part in made.parts)


def write(folder: Path, text: str, name: str = "own.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
