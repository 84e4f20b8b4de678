"""The labeling config of a Label Studio project: which control asks what, and what it lets a rater answer.

Tags and attributes as the pages of labelstud.io/tags (Rating, Choices, Number, Pairwise, TextArea) and
``label_studio_sdk.label_interface`` 2.1.2 have them. The editor reads the names of tags and attributes without case.
"""

from __future__ import annotations

import xml.parsers.expat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from voirdire.errors import InputError
from voirdire.exchange.importers.answer_rows import CHOICES, NUMBER, PAIRWISE, RATING, TEXT, Control
from voirdire.exchange.importers.records import read_text, shown

STARS = "5"
"""``maxRating`` where the tag does not say it."""

CHOICE = "choice"


class _DoctypeError(Exception):
    """The file declares a document type; entities could be made of it."""


@dataclass
class _Tag:
    name: str
    told: Mapping[str, str]
    choices: list[Mapping[str, str]] = field(default_factory=list)


def read_config(file: Path) -> dict[str, Control]:
    """The controls of a config by name, without those that ask about regions of an item.

    Raises InputError for a file that is no XML, that declares a document type (no entity is ever expanded), and for
    an end of a scale that is no number.
    """
    tags = _tags(read_text(file), str(file))
    fields = {tag.told["name"]: tag.told.get("value", "") for tag in tags if tag.told.get("name")}
    found = {}
    for tag in tags:
        kind = tag.name
        if kind not in (RATING, CHOICES, NUMBER, PAIRWISE, TEXT) or not tag.told.get("name"):
            continue
        if tag.told.get("perregion") == "true" or tag.told.get("peritem") == "true":
            continue
        found[tag.told["name"]] = _control(tag, fields, str(file))
    return found


def _control(tag: _Tag, fields: Mapping[str, str], file: str) -> Control:
    name, told = tag.told["name"], tag.told
    if tag.name == RATING:
        return Control(name, RATING, 1.0, _number(told, "maxrating", file, STARS))
    if tag.name == NUMBER:
        return Control(name, NUMBER, _number(told, "min", file), _number(told, "max", file))
    if tag.name == CHOICES:
        labels = [choice.get("alias") or choice.get("value", "") for choice in tag.choices]
        multiple = told.get(CHOICE) == "multiple"
        return Control(name, CHOICES, labels=tuple(filter(None, labels)), multiple=multiple)
    if tag.name == PAIRWISE:
        sides = tuple(fields.get(one.strip(), "") for one in told.get("toname", "").split(","))
        named = len(sides) == 2 and all(side.startswith("$") for side in sides)
        return Control(name, PAIRWISE, sides=tuple(side[1:] for side in sides) if named else ())
    return Control(name, TEXT)


def _number(told: Mapping[str, str], name: str, file: str, default: str | None = None) -> float | None:
    said = told.get(name) or default
    try:
        return None if said is None else float(said)
    except ValueError as error:
        raise InputError("labelstudio.config_number", file=file, field=name, value=shown(said)) from error


@dataclass
class _Reader:
    """Takes the tags of a config as the parser meets them."""

    tags: list[_Tag] = field(default_factory=list)
    groups: list[_Tag] = field(default_factory=list)

    def begin(self, name: str, told: dict[str, str]) -> None:
        tag = _Tag(name.casefold(), {key.casefold(): value for key, value in told.items()})
        self.tags.append(tag)
        if tag.name == CHOICE and self.groups:
            self.groups[-1].choices.append(tag.told)
        if tag.name == CHOICES:
            self.groups.append(tag)

    def end(self, name: str) -> None:
        if name.casefold() == CHOICES:
            self.groups.pop()

    def refuse(self, *_: object) -> None:
        raise _DoctypeError


def _tags(text: str, file: str) -> list[_Tag]:
    """Every tag in its order, names without case; a choice stands with the tag that it is of."""
    reader, parser = _Reader(), xml.parsers.expat.ParserCreate()
    parser.StartDoctypeDeclHandler = reader.refuse
    parser.StartElementHandler, parser.EndElementHandler = reader.begin, reader.end
    try:
        parser.Parse(text, True)
    except _DoctypeError as error:
        raise InputError("labelstudio.config_doctype", file=file, line=parser.CurrentLineNumber) from error
    except xml.parsers.expat.ExpatError as error:
        why = xml.parsers.expat.ErrorString(error.code)
        raise InputError("labelstudio.config_broken", file=file, line=error.lineno, value=why) from error
    return reader.tags
