"""What a report is made of: sections of paragraphs, tables, figures and items, the same for every output."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from voirdire.reporting.grid import Grid
from voirdire.reporting.words import Words


@dataclass(frozen=True)
class Text:
    """Paragraphs. ``style``: plain, note, caution or warning."""

    paragraphs: tuple[str, ...]
    style: str = "plain"


@dataclass(frozen=True)
class Bullets:
    """A list; each entry has a heading (bold, may be empty) and its sentences."""

    entries: tuple[tuple[str, tuple[str, ...]], ...]
    style: str = "plain"


@dataclass(frozen=True)
class Figure:
    """A chart (Altair), its caption, its description in words and the numbers behind it.

    data : the table behind it where it has one of its own
    heads, column : the headings of the table that is made of its marks: what a number is of, and what the number is
    """

    name: str
    chart: Any
    caption: str
    alt: str
    data: Grid | None = None
    heads: tuple[str, ...] = ()
    column: str = ""

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The chart as a Vega-Lite specification, to be read alone."""
        return dict(self.chart.to_dict(validate=False))


@dataclass(frozen=True)
class Picture:
    """An item's image as a data URI, or where it is (shown as text)."""

    uri: str = ""
    source: str = ""
    alt: str = ""


@dataclass(frozen=True)
class ItemCard:
    """An item that splits two pools: its texts (label, language, text), its image, the ratings it got."""

    id: str
    gap: str
    texts: tuple[tuple[str, str, str], ...]
    about: tuple[tuple[str, str], ...]
    picture: Picture | None
    ratings: Grid


@dataclass(frozen=True)
class Items:
    """The items that split a pair of pools most."""

    cards: tuple[ItemCard, ...]


@dataclass(frozen=True)
class Folded:
    """Blocks that are there for who wants them, closed at first."""

    summary: str
    blocks: tuple[Any, ...]


@dataclass(frozen=True)
class Note:
    """A numbered definition: number, name, plain help, the definition's parts and the first printed signature."""

    number: int
    name: str
    help: str
    parts: tuple[tuple[str, str], ...]
    signature: str


@dataclass(frozen=True)
class Notes:
    """The numbered definitions of all columns."""

    notes: tuple[Note, ...]


@dataclass
class Section:
    """A heading of a level (2 to 4) and what stands below it."""

    id: str
    title: str
    level: int
    blocks: list[Any] = field(default_factory=list)


@dataclass
class Report:
    """The whole report in one language."""

    lang: str
    title: str
    subtitle: str
    banner: str
    facts: list[tuple[str, str]]
    sections: list[Section]
    words: Words

    def blocks(self) -> Iterator[Any]:
        """Every block, also those that are folded or stand behind a figure."""
        for section in self.sections:
            for block in section.blocks:
                yield from _inner(block)

    def grids(self) -> list[Grid]:
        """Every table but those of single items."""
        return [block for block in self.blocks() if isinstance(block, Grid)]


def _inner(block: Any) -> Iterator[Any]:
    yield block
    if isinstance(block, Folded):
        for part in block.blocks:
            yield from _inner(part)
    if isinstance(block, Figure) and block.data is not None:
        yield block.data


def prefixed(block: Any, prefix: str) -> Any:
    """A block whose tables and figures are named for one question."""
    if isinstance(block, Grid):
        return replace(block, id=f"{prefix}-{block.id}")
    if isinstance(block, Figure):
        return replace(block, name=f"{prefix}-{block.name}", data=prefixed(block.data, prefix))
    if isinstance(block, Folded):
        return replace(block, blocks=tuple(prefixed(part, prefix) for part in block.blocks))
    return block
