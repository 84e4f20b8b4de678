"""Signatures: how a number says what it is.

``name(params)|def(...)|on(...)|from(...)|v:1`` is printable, parses back and compares. ``def`` is the definition
(question, scale, consensus rule, missing rule, interval), ``on`` the place (pool or pair, judge, condition, slice),
``from`` the material (n, exclusions, digests of the tables, package version). Two numbers stand in one column of a
report only when their names, params and ``def`` are equal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from voirdire.errors import SignatureError

FORMAT = "1"
RESERVED = "%|(),="
PARTS = ("params", "definition", "on", "source")
_ESCAPES = {ord(char): f"%{ord(char):02X}" for char in [*RESERVED, *map(chr, range(32))]}
_SHAPE = re.compile(r"([^()|]+)\(([^()|]*)\)\|def\(([^()|]*)\)\|on\(([^()|]*)\)\|from\(([^()|]*)\)\|v:(\w+)")


@dataclass(frozen=True)
class Signature:
    """What a number is. All names and values are text.

    >>> s = Signature("mae", {}, {"question": "q1"}, {"pool": "us", "judge": "a|b"}, {"n": "626"})
    >>> str(s)
    'mae()|def(question=q1)|on(pool=us,judge=a%7Cb)|from(n=626)|v:1'
    >>> Signature.parse(str(s)) == s
    True
    """

    name: str
    params: Mapping[str, str] = field(default_factory=dict)
    definition: Mapping[str, str] = field(default_factory=dict)
    on: Mapping[str, str] = field(default_factory=dict)
    source: Mapping[str, str] = field(default_factory=dict)
    version: str = FORMAT

    def __str__(self) -> str:
        parts = (pairs(getattr(self, part)) for part in PARTS)
        params, definition, on, source = parts
        return f"{_edge(self.name)}({params})|def({definition})|on({on})|from({source})|v:{self.version}"

    @classmethod
    def parse(cls, printed: str) -> Signature:
        """Read a printed signature back. Raises SignatureError for anything else."""
        match = _SHAPE.fullmatch(printed.strip())
        if match is None:
            raise SignatureError("errors.signature_shape", value=printed[:200])
        name, *parts, version = match.groups()
        if version != FORMAT:
            raise SignatureError("errors.signature_version", value=version, known=FORMAT)
        params, definition, on, source = (_unpairs(part, printed) for part in parts)
        return cls(unquote(name), params, definition, on, source, version)

    def same_definition(self, other: Signature) -> bool:
        """Whether two numbers may stand in one column."""
        mine, theirs = (self.name, self.params, self.definition), (other.name, other.params, other.definition)
        return mine == theirs

    def diff(self, other: Signature) -> list[tuple[str, str, str | None, str | None]]:
        """Where two signatures differ, as (part, key, mine, theirs); None where a side lacks the key."""
        rows: list[tuple[str, str, str | None, str | None]] = []
        if self.name != other.name:
            rows.append(("name", "", self.name, other.name))
        for part in PARTS:
            mine, theirs = getattr(self, part), getattr(other, part)
            keys = dict.fromkeys([*mine, *theirs])
            rows += [(part, key, mine.get(key), theirs.get(key)) for key in keys if mine.get(key) != theirs.get(key)]
        return rows


def quote(value: Any) -> str:
    """A name or value with the reserved characters and control characters percent-encoded.

    >>> quote("a=b (c)")
    'a%3Db %28c%29'
    """
    return str(value).translate(_ESCAPES)


def _edge(name: str) -> str:
    """A name with its leading space encoded too, which would be lost where a signature is copied."""
    bare = name.lstrip()
    return "".join(f"%{byte:02X}" for byte in name[: len(name) - len(bare)].encode()) + quote(bare)


def pairs(mapping: Mapping[str, Any]) -> str:
    """``k=v,k=v`` with names and values quoted."""
    return ",".join(f"{quote(key)}={quote(value)}" for key, value in mapping.items())


def _unpairs(printed: str, whole: str) -> dict[str, str]:
    if not printed:
        return {}
    result: dict[str, str] = {}
    for pair in printed.split(","):
        key, equals, value = pair.partition("=")
        if not equals or "=" in value:
            raise SignatureError("errors.signature_shape", value=whole[:200])
        result[unquote(key)] = unquote(value)
    return result
