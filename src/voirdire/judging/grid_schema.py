"""The form of a grid file: a JSON schema, and the check against it.

``SCHEMA`` is published as ``grid.schema.json`` (editors complete and check TOML with it) and is what ``problems``
enforces, so that the published form and the enforced form are one. Only the words of JSON Schema 2020-12 that
stand in ``SCHEMA`` are understood.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

RESERVED_SLOTS = ("instruction", "tighten", "demonstrations", "material")
"""Slots of texts that are not a factor's own."""

TIGHTENING_STEPS = 5

_PLAIN_FIRST = r"[^\x00-/:-@\[-`{-\x7f\s]"
_PLAIN_REST = r"[^\x00-*,/:-@\[-^`{-\x7f\s]*"
_END = r"(?![\s\S])"

_FACTOR_NAME = {"type": "string", "pattern": rf"^[a-z][a-z0-9_]*{_END}"}
_LEVEL = {"type": "string", "pattern": f"^{_PLAIN_FIRST}{_PLAIN_REST}{_END}"}
_WORDS = {"type": "string", "pattern": r"\S"}
_LEVELS = {"type": "array", "items": _LEVEL, "minItems": 1, "uniqueItems": True}
_ONE_OR_MORE_LEVELS = {
    "type": ["string", "array"],
    "pattern": _LEVEL["pattern"],
    "items": _LEVEL,
    "minItems": 1,
    "uniqueItems": True,
}
_FRAME = ("before", "example", "after")


def _only(*wanted: str) -> dict[str, Any]:
    others = [name for name in ("text", "steps", *_FRAME) if name not in wanted]
    return {"required": list(wanted), "properties": dict.fromkeys(others, False)}


def _slot(name: str) -> dict[str, Any]:
    return {"properties": {"slot": {"const": name}}}


TEXT_ENTRY: Mapping[str, Any] = {
    "type": "object",
    "description": "A text of a slot, for the conditions whose factors are as `when` says.",
    "properties": {
        "slot": {**_FACTOR_NAME, "description": "A factor (its text stands before the question) or a reserved slot."},
        "when": {"type": "object", "additionalProperties": _ONE_OR_MORE_LEVELS},
        "text": _WORDS,
        "steps": {"type": "array", "items": _WORDS, "minItems": TIGHTENING_STEPS, "maxItems": TIGHTENING_STEPS},
        "before": _WORDS,
        "example": _WORDS,
        "after": _WORDS,
    },
    "required": ["slot"],
    "additionalProperties": False,
    "if": _slot("tighten"),
    "then": _only("steps"),
    "else": {"if": _slot("demonstrations"), "then": _only(*_FRAME), "else": _only("text")},
}

_EFFECT: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "scale": {"enum": ["reversed"], "description": "The scale is asked with its ends exchanged."},
        "image": {"enum": ["alt", "none"], "description": "The image's description instead of the image, or neither."},
        "cue": {
            "type": ["string", "array"],
            "pattern": r"\S",
            "items": _WORDS,
            "minItems": 1,
            "description": "Image files in the folder of the grid, shown before the item.",
        },
    },
    "additionalProperties": False,
    "minProperties": 1,
}

_FACTOR: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "levels": _LEVELS,
        "plain": {**_LEVELS, "description": "Levels that add nothing; the first holds where a block names no level."},
        "effects": {"type": "object", "additionalProperties": _EFFECT},
    },
    "required": ["levels"],
    "additionalProperties": False,
}

_BLOCK: Mapping[str, Any] = {
    "type": "object",
    "description": "A full cross of the levels named; {factor} in the name stands for the level.",
    "properties": {
        "name": _WORDS,
        "cross": {"type": "object", "additionalProperties": _LEVELS, "minProperties": 1},
    },
    "required": ["name", "cross"],
    "additionalProperties": False,
}

_DESIGN: Mapping[str, Any] = {
    "type": "object",
    "description": "Demonstrations: rated by the pool, of items of the culture (any, where none is named).",
    "properties": {"pool": _WORDS, "culture": _WORDS},
    "required": ["pool"],
    "additionalProperties": False,
}

SCHEMA: Mapping[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Grid of conditions of voirdire",
    "type": "object",
    "properties": {
        "name": _LEVEL,
        "version": {"type": "integer", "minimum": 1},
        "include": {
            "type": "array",
            "items": _WORDS,
            "description": "Sets of texts: shipped ones by name or name@version, own ones as files ending in .toml.",
        },
        "repeats": {"type": "integer", "minimum": 1, "maximum": 1000},
        "questions": {"type": "array", "items": _WORDS, "uniqueItems": True},
        "image": {"enum": ["file", "alt", "none"], "description": "For every condition whose factors do not say."},
        "fit_languages": {"type": "boolean", "description": "Leave out languages that the corpus does not have."},
        "prefix_order": {"type": "array", "items": _FACTOR_NAME, "uniqueItems": True},
        "factors": {"type": "object", "propertyNames": _FACTOR_NAME, "additionalProperties": _FACTOR},
        "designs": {"type": "object", "propertyNames": _LEVEL, "additionalProperties": _DESIGN},
        "blocks": {"type": "array", "items": _BLOCK, "minItems": 1},
        "texts": {"type": "array", "items": TEXT_ENTRY},
    },
    "required": ["name", "factors", "blocks"],
    "additionalProperties": False,
}

WORDING_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "name": _LEVEL,
        "version": {"type": "integer", "minimum": 1},
        "texts": {"type": "array", "items": TEXT_ENTRY, "minItems": 1},
    },
    "required": ["name", "version", "texts"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Where a table departs from its form.

    rule : type, pattern, enum, const, range, count, unique, unknown or missing
    path : keys and places from the top of the file; value : what stands there; wanted : what may stand there
    """

    rule: str
    path: tuple[str | int, ...]
    value: str = ""
    wanted: str = ""

    @property
    def place(self) -> str:
        """The place as a reader of TOML finds it: tables of an array are counted from 1.

        >>> Problem("type", ("texts", 2, "when", "language")).place
        '[[texts]] 3: when.language'
        """
        return place(self.path)


def place(path: tuple[str | int, ...]) -> str:
    """A path as a place in TOML.

    >>> place(("factors", "persona", "levels", 0)), place(("name",))
    ('[factors.persona]: levels 1', 'name')
    """
    if not path:
        return "-"
    if path[0] in ("texts", "blocks") and len(path) > 1 and isinstance(path[1], int):
        head, rest = f"[[{path[0]}]] {path[1] + 1}", path[2:]
    elif path[0] in ("factors", "designs") and len(path) > 1:
        head, rest = f"[{path[0]}.{path[1]}]", path[2:]
    else:
        head, rest = "", path
    words = "".join(f" {step + 1}" if isinstance(step, int) else f".{step}" for step in rest).lstrip(".")
    return ": ".join(part for part in (head, words) if part)


def schema_text() -> str:
    """The published schema: the contents of ``grid.schema.json``."""
    return json.dumps(SCHEMA, indent=2, ensure_ascii=False) + "\n"


def problems(value: Any, schema: Any, path: tuple[str | int, ...] = ()) -> Iterator[Problem]:
    """Every departure of a value from a schema, outermost first; none when it has the form.

    >>> [(found.rule, found.place) for found in problems({"name": "g", "blocks": 1, "factors": {}}, SCHEMA)]
    [('type', 'blocks')]
    """
    if schema is False:
        yield Problem("unknown", path, shown(value))
        return
    kinds = schema.get("type", ())
    if kinds and not any(_TYPES[kind](value) for kind in _listed(kinds)):
        yield Problem("type", path, shown(value), ", ".join(_listed(kinds)))
        return
    yield from _scalar(value, schema, path)
    if isinstance(value, list):
        yield from _array(value, schema, path)
    if isinstance(value, dict):
        yield from _object(value, schema, path)
    if "if" in schema:
        branch = "else" if any(problems(value, schema["if"], path)) else "then"
        yield from problems(value, schema.get(branch, {}), path)


def shown(value: Any) -> str:
    """A value for an error: short, on one line.

    >>> shown("a" * 100)[-4:], shown(True)
    ('aaa…', 'true')
    """
    text = json.dumps(value, ensure_ascii=False, default=str)
    text = text[1:-1] if isinstance(value, str) else text
    return text if len(text) <= 60 else f"{text[:59]}…"


def _listed(kinds: Any) -> tuple[str, ...]:
    return (kinds,) if isinstance(kinds, str) else tuple(kinds)


_TYPES = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _scalar(value: Any, schema: Mapping[str, Any], path: tuple[str | int, ...]) -> Iterator[Problem]:
    if "enum" in schema and value not in schema["enum"]:
        yield Problem("enum", path, shown(value), ", ".join(schema["enum"]))
    if "const" in schema and value != schema["const"]:
        yield Problem("const", path, shown(value), schema["const"])
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        yield Problem("pattern", path, shown(value))
    low, high = schema.get("minimum"), schema.get("maximum")
    if _TYPES["integer"](value) and ((low is not None and value < low) or (high is not None and value > high)):
        yield Problem("range", path, shown(value), f"{low}-{high}" if high is not None else f">= {low}")


def _array(value: list[Any], schema: Mapping[str, Any], path: tuple[str | int, ...]) -> Iterator[Problem]:
    low, high = schema.get("minItems", 0), schema.get("maxItems")
    if len(value) < low or (high is not None and len(value) > high):
        yield Problem("count", path, str(len(value)), str(low) if low == high else f">= {low}")
    if schema.get("uniqueItems") and len({json.dumps(entry, default=str) for entry in value}) < len(value):
        yield Problem("unique", path, shown(value))
    for number, entry in enumerate(value):
        yield from problems(entry, schema.get("items", {}), (*path, number))


def _object(value: dict[str, Any], schema: Mapping[str, Any], path: tuple[str | int, ...]) -> Iterator[Problem]:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield Problem("missing", path, name)
    if len(value) < schema.get("minProperties", 0):
        yield Problem("count", path, str(len(value)), f">= {schema['minProperties']}")
    for name, entry in value.items():
        inner = known.get(name, schema.get("additionalProperties", {}))
        for found in problems(name, schema.get("propertyNames", {}), (*path, name)):
            yield Problem("pattern", path, found.value)
        if inner is False:
            allowed = [key for key, form in known.items() if form is not False and not key.startswith("$")]
            yield Problem("unknown", (*path, name), name, ", ".join(allowed))
        else:
            yield from problems(entry, inner, (*path, name))
