"""The card of a Hugging Face data set: README.md, whose YAML header names the configurations and the kinds of columns.

Source: Hugging Face Hub, Dataset Cards (``configs``, ``license``, ``language``, ``size_categories``, ``dataset_info``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from voirdire.exchange.datasheet import datasheet, title_of
from voirdire.exchange.facts import facts_of
from voirdire.exchange.release import Release

LICENCES = frozenset({
    "apache-2.0", "mit", "cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nd-4.0", "cc-by-nc-nd-4.0",
    "cc-by-nc-sa-4.0", "cc-by-3.0", "cc-by-sa-3.0", "cc-by-2.0", "cc-by-2.5", "cc-by-nc-2.0", "cc-by-nc-3.0",
    "cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0", "cc-by-nc-nd-3.0", "odbl", "odc-by", "pddl", "bsd-2-clause",
    "bsd-3-clause", "gpl-2.0", "gpl-3.0", "lgpl-3.0", "agpl-3.0", "mpl-2.0", "isc", "unlicense",
    "cdla-permissive-2.0", "cdla-permissive-1.0", "cdla-sharing-1.0",
})  # fmt: skip
"""Licences that the Hub knows by a name of their own; any other is ``other`` with its name beside."""

SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10**7, "1M<n<10M"))
LARGEST = "n>10M"
TAGS = ("llm-as-a-judge", "human-ratings", "rater-pools")
DTYPES: Mapping[Any, str] = {pl.Int64: "int64", pl.Float64: "float64", pl.Boolean: "bool"}
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def card(release: Release, parts: Mapping[str, Mapping[str, int]], lang: str = "en") -> str:
    """The whole of README.md.

    parts : table -> split -> its rows, as they were written to ``data/TABLE/SPLIT-*.parquet``
    """
    return f"---\n{yaml(header(release, parts))}---\n\n{datasheet(release, lang, 'hf')}"


def header(release: Release, parts: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """What the header says; nothing in it that corpus.toml or the tables do not say."""
    told, facts = release.told, facts_of(release)
    rows = max((sum(splits.values()) for splits in parts.values()), default=0)
    entries: dict[str, Any] = {"pretty_name": title_of(release, "en")}
    entries |= licence_entries(told.licence)
    if facts.languages:
        entries["language"] = list(facts.languages)
    entries["tags"] = [*TAGS, *(["simulated"] if told.simulated else [])]
    entries["size_categories"] = [next((name for most, name in SIZES if rows < most), LARGEST)]
    entries["configs"] = [_config(name, splits, name == "items") for name, splits in parts.items()]
    entries["dataset_info"] = [_info(name, release) for name in parts]
    return entries


def licence_entries(licence: str | None) -> dict[str, str]:
    """How the Hub names a licence; nothing when none is told.

    >>> licence_entries("CC-BY-4.0"), licence_entries("Ask us first"), licence_entries(None)
    ({'license': 'cc-by-4.0'}, {'license': 'other', 'license_name': 'ask-us-first'}, {})
    """
    if licence is None:
        return {}
    plain = re.sub(r"\s+", "-", licence.strip().lower())
    if plain in LICENCES:
        return {"license": plain}
    return {"license": "other", "license_name": re.sub(r"[^a-z0-9.]+", "-", plain).strip("-") or "other"}


def yaml(entries: Mapping[str, Any]) -> str:
    """Nested lists and tables as YAML; every text that is not a bare word is quoted.

    >>> print(yaml({"a": [{"b": "x: y", "c": 1}], "d": ["e"]}), end="")
    a:
      - b: "x: y"
        c: 1
    d:
      - "e"
    """
    return "".join(f"{line}\n" for line in _lines(entries))


def _lines(value: Mapping[str, Any] | Sequence[Any], indent: str = "") -> Iterator[str]:
    pairs = value.items() if isinstance(value, Mapping) else ((None, one) for one in value)
    for key, one in pairs:
        head = f"{indent}-" if key is None else f"{indent}{_key(key)}:"
        if not isinstance(one, Mapping | list | tuple):
            yield f"{head} {_scalar(one)}"
        elif key is None:
            inner = list(_lines(one, indent + "  "))
            yield f"{indent}- {inner[0].strip()}" if inner else f"{indent}- {{}}"
            yield from inner[1:]
        else:
            yield head
            yield from _lines(one, indent + "  ")


def _key(key: str) -> str:
    return key if _PLAIN.fullmatch(key) else _scalar(key)


def _scalar(value: Any) -> str:
    """A YAML scalar: JSON's double-quoted texts are YAML's; what cannot be printed is spelled out."""
    if not isinstance(value, str):
        return json.dumps(value)
    quoted = json.dumps(value.encode("utf-8", "replace").decode(), ensure_ascii=False)
    return "".join(char if char.isprintable() else _escaped(char) for char in quoted)


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def _config(name: str, splits: Mapping[str, int], default: bool) -> dict[str, Any]:
    files = [{"split": split, "path": f"data/{name}/{split}-*.parquet"} for split in splits]
    return {"config_name": name, **({"default": True} if default else {}), "data_files": files}


def _info(name: str, release: Release) -> dict[str, Any]:
    frame, shown = release.tables[name], bool(release.images) and name == "items"
    kinds = [
        {"name": column, "dtype": "image" if shown and column == "image" else DTYPES.get(frame[column].dtype, "string")}
        for column in frame.columns
    ]
    return {"config_name": name, "features": kinds}
