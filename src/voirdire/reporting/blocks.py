"""What a report is made of: sections of paragraphs, tables, figures and items, the same for every output."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from voirdire.reporting.grid import Grid


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
    """A chart: a Vega-Lite specification, its caption, its description in words and the numbers behind it."""

    name: str
    spec: dict[str, Any]
    caption: str
    alt: str
    data: Grid | None = None


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
    words: Any = None
