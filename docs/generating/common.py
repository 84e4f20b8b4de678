"""What the pages of the reference share: text that Markdown leaves as it is, tables, and the commands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import voirdire

HERE = Path(__file__).resolve().parents[1]
SOURCE = Path(voirdire.__file__).parent
ENTITY = re.compile(r"&(?=#?\w+;)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")
CODE = re.compile(r"(``.*?``|`[^`]*`)")


def plain(sentence: str) -> str:
    r"""A sentence as Markdown shows it letter by letter; options are code, and so is what stands in backquotes.

    >>> plain("all (*), <b> and `a*b`; see --lang")
    'all (\\*), &lt;b> and `a*b`; see `--lang`'
    """
    parts = CODE.split(sentence)
    return "".join(part if part.startswith("`") else _escaped(part) for part in parts)


def _escaped(text: str) -> str:
    escaped = ENTITY.sub("&amp;", text).replace("<", "&lt;").replace("*", r"\*")
    return OPTION.sub(r"`\g<0>`", escaped)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table; cells are Markdown, and one line each."""
    lines = [heads, ["---"] * len(heads), *rows]
    return ["| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def code(text: str) -> str:
    """A name or a value as code, nothing for an empty one."""
    return f"`{text}`" if text else ""


def leaves(group: Any, prefix: str = "voirdire") -> Iterator[tuple[str, Any]]:
    """Every command by its whole name."""
    for name, command in group.commands.items():
        full = f"{prefix} {name}"
        if hasattr(command, "commands"):
            yield from leaves(command, full)
        else:
            yield full, command
