"""Reads tests/reference_map.toml: which rows of the estimates hold which numbers of the independent reference."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

MAP = Path(__file__).resolve().parent.parent / "reference_map.toml"
PLACE = ("statistic", "params", "question", "pool", "pool_b", "judge", "condition", "slice")
HOLDS = ("row", "mean", "maximum", "minimum", "difference", "out")
ABSOLUTE, RELATIVE = 1e-9, 1e-6

Place = tuple[str, ...]
Lookup = Callable[[Place], Mapping[str, Any]]


@dataclass(frozen=True)
class Leaf:
    """One number (or text) of the reference: its key, its path inside the key, the value and the key's n."""

    key: str
    path: tuple[str, ...]
    value: Any
    n: int

    def __str__(self) -> str:
        return "".join([self.key, *(f"[{step}]" for step in self.path)])


@dataclass(frozen=True, eq=False)
class Part:
    """One entry of the map: the leaves that it speaks of and how rows give their value."""

    key: str
    leaf: tuple[str, ...]
    where: Mapping[str, list[str]]
    how: str
    spec: Any
    field: str
    says: str
    n: str
    run: str
    rest: frozenset[str]

    def match(self, leaf: Leaf) -> dict[str, str] | None:
        """What the templates found in the leaf's path; None where it is another entry's leaf."""
        if leaf.key != self.key or len(leaf.path) != len(self.leaf):
            return None
        found: dict[str, str] = {}
        for template, step in zip(self.leaf, leaf.path, strict=True):
            hit = re.fullmatch(_pattern(template), step)
            if hit is None:
                return None
            found |= hit.groupdict()
        allowed = all(found[name] in values for name, values in self.where.items())
        return found if allowed else None


@dataclass(frozen=True)
class Found:
    """What the rows say of a leaf: the value, the n of the rows and their places."""

    leaf: Leaf
    value: float | str
    n: tuple[int, ...]
    places: tuple[Place, ...]


def _pattern(template: str) -> str:
    pieces = re.split(r"\{(\w+)\}", template)
    return "".join(f"(?P<{piece}>[^|/]+?)" if place % 2 else re.escape(piece) for place, piece in enumerate(pieces))


class ReferenceMap:
    """The map with its lists, defaults and runs."""

    def __init__(self, path: Path = MAP) -> None:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        self.defaults: dict[str, str] = document["defaults"]
        self.lists: dict[str, list[str]] = document["lists"]
        self.runs: dict[str, dict[str, Any]] = document["runs"]
        self.parts = [_part(key, entry) for key, entries in document["keys"].items() for entry in entries]
        self.keys = list(document["keys"])

    def of(self, leaf: Leaf) -> list[tuple[Part, dict[str, str]]]:
        """Every entry that claims a leaf, with what its templates found."""
        matches = [(part, part.match(leaf)) for part in self.parts if part.key == leaf.key]
        return [(part, found) for part, found in matches if found is not None]

    def find(self, leaf: Leaf, part: Part, names: Mapping[str, str], lookup: Lookup) -> Found:
        """The value that the rows give for a leaf."""
        operands = part.spec if isinstance(part.spec, list) else [part.spec]
        places = [self.places(operand, names) for operand in operands]
        rows = [[lookup(place) for place in group] for group in places]
        n = tuple(int(row["n"]) for group in rows for row in group)
        flat = tuple(place for group in places for place in group)
        if part.says:
            return Found(replace(leaf, value=part.says.format(value=leaf.value)), rows[0][0]["label"], n, flat)
        values = [[float(row[part.field]) for row in group] for group in rows]
        return Found(leaf, _combine(part.how, values), n, flat)

    def places(self, operand: Mapping[str, str], names: Mapping[str, str]) -> list[Place]:
        """The rows that an operand names, one for each combination of its lists."""
        filled = {**dict.fromkeys(PLACE, ""), **self.defaults, **operand}
        return list(product(*(self._members(filled[name].format(**names)) for name in PLACE)))

    def _members(self, text: str) -> list[str]:
        name = re.match(r"@(\w+)", text)
        return [member + text[name.end() :] for member in self.lists[name[1]]] if name else [text]

    def compare(self, reference: Mapping[str, Mapping[str, Any]], run: str, lookup: Lookup) -> dict[Part, list[Found]]:
        """Every leaf that rows of this run hold, by the entry that says so."""
        found: dict[Part, list[Found]] = {}
        for leaf in leaves(reference):
            for part, names in self.of(leaf):
                if part.how != "out" and part.run == run:
                    found.setdefault(part, []).append(self.find(leaf, part, names, lookup))
        return found


def _part(key: str, entry: Mapping[str, Any]) -> Part:
    how = [name for name in HOLDS if name in entry]
    assert len(how) == 1, f"{key}: exactly one of {HOLDS}"
    taken = {"leaf", "where", "field", "says", "n", "run", how[0]}
    return Part(
        key,
        tuple(entry.get("leaf", ())),
        entry.get("where", {}),
        how[0],
        entry[how[0]],
        entry.get("field", "value"),
        entry.get("says", ""),
        entry.get("n", ""),
        entry.get("run", "audit"),
        frozenset(set(entry) - taken),
    )


def _combine(how: str, values: list[list[float]]) -> float:
    if how in ("maximum", "minimum"):
        return (max if how == "maximum" else min)(values[0])
    means = [sum(group) / len(group) for group in values]
    return means[0] - means[1] if how == "difference" else sum(means) / len(means)


def read_reference(folder: Path) -> dict[str, dict[str, Any]]:
    """The reference: key -> value, n, definition, published, where, underspecified."""
    document: dict[str, dict[str, Any]] = json.loads((folder / "reference.json").read_text(encoding="utf-8"))
    return document


def leaves(reference: Mapping[str, Mapping[str, Any]]) -> Iterator[Leaf]:
    """Every number and text of the reference."""
    for key, entry in reference.items():
        yield from _leaves(key, (), entry["value"], entry["n"])


def _leaves(key: str, path: tuple[str, ...], value: Any, n: int) -> Iterator[Leaf]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if steps is None:
        yield Leaf(key, path, value, n)
        return
    for step, inner in steps:
        yield from _leaves(key, (*path, str(step)), inner, n)


def agrees(found: Found) -> bool:
    """Whether the rows equal the reference: p values to 1e-6 relative, other numbers to 1e-9, texts exactly."""
    if isinstance(found.value, str):
        return bool(found.value == found.leaf.value)
    expected = float(found.leaf.value)
    is_p = any(place[0].endswith((".p", "_p", ".p_normal")) for place in found.places)
    allowed = RELATIVE * abs(expected) if is_p else ABSOLUTE
    return abs(found.value - expected) <= allowed


def failures(found: Mapping[Part, list[Found]]) -> list[str]:
    """Every leaf whose value, and every entry whose n, is not the reference's."""
    wrong = []
    for part, hits in found.items():
        wrong += [f"{hit.leaf}: {hit.value!r}, not {hit.leaf.value!r}" for hit in hits if not agrees(hit)]
        counts, expected = [n for hit in hits for n in hit.n], hits[0].leaf.n
        if (part.n == "each" and set(counts) != {expected}) or (part.n == "sum" and sum(counts) != expected):
            wrong.append(f"{part.key} {part.leaf}: n {counts[:8]}, not {expected} ({part.n})")
    return wrong
