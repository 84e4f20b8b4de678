"""A grid file read and checked for form: factors, blocks, designs and texts, nothing expanded yet."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from voirdire.errors import InputError
from voirdire.judging.grid_schema import RESERVED_SLOTS, SCHEMA, WORDING_SCHEMA, Problem, place, problems
from voirdire.judging.nouns import BASE_DESIGN, DesignSpec

FIELDS = ("low", "high", "levels")
"""What a text may ask to be filled in; the ``example`` of a demonstration may also ask for ``level``."""

DIRECTION = ("forward", "reversed")
"""Levels of ``scale``, by which a text says for which direction it is written."""

RESERVED_FACTORS = (
    *("scale", "item_id", "item", "judge", "condition", "question", "repeat", "rating", "status", "attempts"),
    *("reply", "reasoning", "digest", "condition_digest", "prompt_digest", "flags", "at", "all", "base"),
)
_FIELD = re.compile(r"\{([A-Za-z_]\w*)\}")


@dataclass(frozen=True, slots=True)
class Effect:
    """What a level does besides adding text: reverse the scale, replace the image, show cue images."""

    reversed: bool = False
    image: Literal["file", "alt", "none"] | None = None
    cues: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor: its levels in order, those that add nothing, and the effects of levels."""

    name: str
    levels: tuple[str, ...]
    plain: tuple[str, ...] = ()
    effects: Mapping[str, Effect] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Block:
    """A full cross of levels, and the pattern of its conditions' names."""

    name: str
    cross: Mapping[str, tuple[str, ...]]
    place: str


@dataclass(frozen=True, slots=True, eq=False)
class TextEntry:
    """A text and the conditions that it is for; two entries are never equal.

    when : factor -> levels, one of which must hold; the entry that names more factors goes first
    own : written in the grid file itself, and so before an included text that names as many factors
    steps : of the slot ``tighten``; frame : of the slot ``demonstrations``
    """

    slot: str
    when: Mapping[str, tuple[str, ...]]
    file: str
    place: str
    own: bool
    text: str = ""
    steps: tuple[str, ...] = ()
    frame: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GridFile:
    """The contents of a grid file.

    wordings : ``name@version`` of each included set of texts -> digest of its contents (16 hex digits)
    """

    file: str
    name: str
    version: int
    factors: Mapping[str, Factor]
    blocks: tuple[Block, ...]
    designs: Mapping[str, DesignSpec]
    texts: tuple[TextEntry, ...]
    wordings: Mapping[str, str]
    repeats: int
    questions: tuple[str, ...]
    image: Literal["file", "alt", "none"]
    fit_languages: bool
    prefix_order: tuple[str, ...]
    source: str


def read_grid_file(source: str, file: str, folder: Path | None = None) -> GridFile:
    """Read a grid.

    Parameters
    ----------
    source : the TOML
    file : its name in errors
    folder : where cue images and own sets of texts are found; None = there are none

    Raises InputError that names file and table: not TOML, not of the form of ``grid.schema.json``, a level or factor
    that is not declared, a field that is not known, a file outside the folder.
    """
    table = _parsed(source, file)
    _form(table, SCHEMA, file)
    factors = {name: _factor(name, entry, file, folder) for name, entry in table["factors"].items()}
    designs = {name: DesignSpec(name, **entry) for name, entry in table.get("designs", {}).items()}
    _names(factors, designs, table.get("prefix_order", ()), file)
    included, wordings = _included(table.get("include", ()), file, folder)
    texts = tuple(_texts(table.get("texts", ()), file, own=True))
    levels = _levels(factors, designs)
    for entry in texts:
        _check_when(entry, levels)
    return GridFile(
        file=file,
        name=table["name"],
        version=table.get("version", 1),
        factors=factors,
        blocks=tuple(_blocks(table["blocks"], levels, file)),
        designs=designs,
        texts=(*texts, *included),
        wordings=wordings,
        repeats=table.get("repeats", 1),
        questions=tuple(table.get("questions", ())),
        image=table.get("image", "file"),
        fit_languages=table.get("fit_languages", False),
        prefix_order=tuple(table.get("prefix_order", ())),
        source=source,
    )


def wording_digest(table: Mapping[str, Any]) -> str:
    """16 hex digits over name, version and texts of a set of texts, in whatever order they stand."""
    texts = sorted(json.dumps(entry, ensure_ascii=False, sort_keys=True) for entry in table["texts"])
    content = json.dumps([table["name"], table["version"], texts], ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def shipped(kind: Literal["grids", "wording"]) -> dict[str, str]:
    """Name -> contents of every shipped grid or set of texts.

    >>> sorted(shipped("grids"))
    ['neutral', 'paper-baseline', 'paper-icl']
    """
    found = files(__package__).joinpath(kind).iterdir()
    return {
        entry.name.removesuffix(".toml"): entry.read_text(encoding="utf-8")
        for entry in sorted(found, key=lambda entry: entry.name)
        if entry.name.endswith(".toml")
    }


def inside(value: str, folder: Path | None, file: str, where: str) -> Path:
    """A file named in a grid, inside its folder. Raises InputError for one outside it and for one that is not there."""
    if folder is None:
        raise InputError("grid.file_without_folder", file=file, place=where, value=value)
    root = folder.resolve()
    path = (root / value).resolve()
    if not path.is_relative_to(root):
        raise InputError("grid.file_outside", file=file, place=where, value=value, folder=str(folder))
    if not path.is_file():
        raise InputError("grid.file_absent", file=file, place=where, value=value, folder=str(folder))
    return path


def _parsed(source: str, file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise InputError("grid.not_toml", file=file, value=str(error)) from error


def _form(table: Mapping[str, Any], schema: Mapping[str, Any], file: str) -> None:
    for found in problems(dict(table), schema):
        raise _malformed(found, file)


def _malformed(found: Problem, file: str) -> InputError:
    where = {"file": file, "place": found.place, "value": found.value, "known": found.wanted}
    if found.rule == "missing":
        return InputError("grid.key_missing", **where)
    if found.rule == "unknown":
        return InputError("grid.key_unknown", **where)
    if found.rule == "type":
        return InputError("grid.value_type", **where)
    if found.rule in ("enum", "const", "range"):
        return InputError("grid.value_unknown", **where)
    if found.rule == "count":
        return InputError("grid.value_count", **where)
    if found.rule == "unique":
        return InputError("grid.value_twice", **where)
    return InputError("grid.value_pattern", **where)


def _factor(name: str, entry: Mapping[str, Any], file: str, folder: Path | None) -> Factor:
    where = f"[factors.{name}]"
    levels, plain = tuple(entry["levels"]), tuple(entry.get("plain", ()))
    effects = entry.get("effects", {})
    for level in (*plain, *effects):
        if level not in levels:
            raise InputError(
                "grid.level_unknown", file=file, place=where, factor=name, value=level, known=_list(levels)
            )
        if level in plain and level in effects:
            raise InputError("grid.plain_effect", file=file, place=where, value=level)
    made = {level: _effect(effect, file, f"{where}: effects.{level}", folder) for level, effect in effects.items()}
    return Factor(name, levels, plain, made)


def _effect(entry: Mapping[str, Any], file: str, where: str, folder: Path | None) -> Effect:
    cue = entry.get("cue", ())
    names = (cue,) if isinstance(cue, str) else tuple(cue)
    cues = tuple(inside(name, folder, file, where) for name in names)
    return Effect(entry.get("scale") == "reversed", entry.get("image"), cues)


def _names(
    factors: Mapping[str, Factor], designs: Mapping[str, DesignSpec], order: tuple[str, ...] | list[str], file: str
) -> None:
    for name in factors:
        if name in RESERVED_FACTORS or name in RESERVED_SLOTS or name == "design":
            raise InputError("grid.factor_reserved", file=file, place=f"[factors.{name}]", value=name)
    if "language" not in factors:
        raise InputError("grid.no_language", file=file)
    if factors["language"].plain or factors["language"].effects:
        raise InputError("grid.language_plain", file=file, place="[factors.language]")
    if BASE_DESIGN in designs:
        raise InputError("grid.design_reserved", file=file, place=f"[designs.{BASE_DESIGN}]", value=BASE_DESIGN)
    for name in order:
        if name not in factors:
            known = _list(tuple(factors))
            raise InputError("grid.factor_unknown", file=file, place="prefix_order", value=name, known=known)


def _levels(factors: Mapping[str, Factor], designs: Mapping[str, DesignSpec]) -> dict[str, tuple[str, ...]]:
    """Every factor by which a text can be chosen, with its levels."""
    declared = {name: factor.levels for name, factor in factors.items()}
    return declared | {"design": (BASE_DESIGN, *designs), "scale": DIRECTION}


def _blocks(entries: list[Mapping[str, Any]], levels: Mapping[str, tuple[str, ...]], file: str) -> Iterator[Block]:
    known = {name: found for name, found in levels.items() if name != "scale"}
    for number, entry in enumerate(entries):
        where = place(("blocks", number))
        for name, named in entry["cross"].items():
            _declared(name, named, known, file, where)
        for name in _FIELD.findall(entry["name"]):
            if name not in known:
                raise InputError("grid.factor_unknown", file=file, place=where, value=name, known=_list(tuple(known)))
        yield Block(entry["name"], {name: tuple(named) for name, named in entry["cross"].items()}, where)


def _declared(
    name: str, named: list[str] | tuple[str, ...], known: Mapping[str, tuple[str, ...]], file: str, where: str
) -> None:
    if name not in known:
        raise InputError("grid.factor_unknown", file=file, place=where, value=name, known=_list(tuple(known)))
    for level in named:
        if level not in known[name]:
            known_levels = _list(known[name])
            raise InputError("grid.level_unknown", file=file, place=where, factor=name, value=level, known=known_levels)


def _check_when(entry: TextEntry, levels: Mapping[str, tuple[str, ...]]) -> None:
    """An own text names factors and levels that there are; those of included sets may be of other grids."""
    if entry.slot not in (*RESERVED_SLOTS, *levels) or entry.slot in ("language", "design", "scale"):
        slots = [name for name in levels if name not in ("language", "design", "scale")]
        raise InputError(
            "grid.slot_unknown",
            file=entry.file,
            place=entry.place,
            value=entry.slot,
            known=_list((*slots, *RESERVED_SLOTS)),
        )
    for name, named in entry.when.items():
        _declared(name, named, levels, entry.file, entry.place)


def _texts(entries: list[Mapping[str, Any]], file: str, own: bool) -> Iterator[TextEntry]:
    for number, entry in enumerate(entries):
        when = {
            name: (named,) if isinstance(named, str) else tuple(named) for name, named in entry.get("when", {}).items()
        }
        frame = {name: entry[name] for name in ("before", "example", "after") if name in entry}
        made = TextEntry(
            slot=entry["slot"],
            when=when,
            file=file,
            place=place(("texts", number)),
            own=own,
            text=entry.get("text", ""),
            steps=tuple(entry.get("steps", ())),
            frame=frame,
        )
        _check_fields(made)
        yield made


def _check_fields(entry: TextEntry) -> None:
    for name, text in (("text", entry.text), *(("steps", step) for step in entry.steps), *entry.frame.items()):
        allowed = (*FIELDS, "level") if name == "example" else FIELDS
        for found in _FIELD.findall(text):
            if found not in allowed:
                known = " ".join(f"{{{field}}}" for field in allowed)
                where = f"{entry.place}: {name}"
                raise InputError("grid.field_unknown", file=entry.file, place=where, value=found, known=known)
        if name == "example" and "{level}" not in text:
            raise InputError("grid.example_without_level", file=entry.file, place=entry.place)


def _included(
    names: list[str] | tuple[str, ...], file: str, folder: Path | None
) -> tuple[tuple[TextEntry, ...], dict[str, str]]:
    texts: list[TextEntry] = []
    wordings: dict[str, str] = {}
    for name in names:
        label, source = _wording_source(name, file, folder)
        table = _parsed(source, label)
        _form(table, WORDING_SCHEMA, label)
        wanted = name.partition("@")[2]
        if wanted and wanted != str(table["version"]) and not name.endswith(".toml"):
            raise InputError("grid.wording_version", file=file, value=name, version=table["version"])
        texts += _texts(table["texts"], label, own=False)
        wordings[f"{table['name']}@{table['version']}"] = wording_digest(table)
    return tuple(texts), wordings


def _wording_source(name: str, file: str, folder: Path | None) -> tuple[str, str]:
    """The name in errors and the contents of an included set of texts."""
    if name.endswith(".toml"):
        path = inside(name, folder, file, "include")
        return str(path), read_text(path)
    known = shipped("wording")
    bare = name.partition("@")[0]
    if bare not in known:
        raise InputError("grid.wording_unknown", file=file, value=name, known=_list(tuple(known)))
    return f"{bare}.toml", known[bare]


def read_text(path: Path) -> str:
    """A file as UTF-8. Raises InputError."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError("grid.file_unreadable", file=str(path), value=error.strerror or "") from error
    except UnicodeDecodeError as error:
        raise InputError("grid.not_utf8", file=str(path), value=error.reason) from error


def _list(names: tuple[str, ...]) -> str:
    return ", ".join(names)
