"""What LeWiDi knows of its annotators: the metadata files of 2025, and other_info of 2023."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from voirdire.exchange.importers.cells import cell
from voirdire.exchange.importers.people_json import read_objects
from voirdire.exchange.importers.records import head_of

EXPIRED = ("DATA_EXPIRED", "CONSENT_REVOKED", "nan", "")
KNOWN = ("gender", "age", "nationality", "education")
_FIRST = re.compile(r'\s*\{\s*"[^"]*"\s*:\s*\{([^{}]*)\}')


def is_metadata(path: Path) -> bool:
    """Whether a file holds annotators with their gender, age and so on. Never raises."""
    match = _FIRST.match(head_of(path, 4096)) if path.is_file() else None
    names = {name.casefold() for name in re.findall(r'"([^"]*)"\s*:', match[1])} if match else set()
    return len(names & set(KNOWN)) >= 2


def read_metadata(path: Path) -> dict[str, dict[str, Any]]:
    """Annotator -> attributes; what the platform no longer tells is left empty.

    MultiPICo calls annotators ``0`` here and ``Ann0`` in the annotations.
    """
    return {f"Ann{name}" if name.isdecimal() else name: _told(known) for name, known in read_objects(path).items()}


def attributes(other: Mapping[str, Any], names: Sequence[str], who: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What other_info says of the annotators: ``Ann1`` -> a group (ArMIS), or a list of groups (HS-Brexit).

    >>> attributes({"annotators group": "g1,g2", "g1": "target"}, ["Ann1", "Ann2"], ["Ann1", "Ann2"])
    {'Ann1': {'annotator_group': 'target'}, 'Ann2': {'annotator_group': 'g2'}}
    """
    found = {name: {"annotator_group": cell(other[name])} for name in names if isinstance(other.get(name), str)}
    listed = next((other[name] for name in ("annotators group", "annotators_group") if name in other), None)
    groups = [part.strip() for part in listed.split(",")] if isinstance(listed, str) else []
    if len(groups) == len(who):
        found |= {
            name: {"annotator_group": cell(other.get(group, group))} for name, group in zip(who, groups, strict=True)
        }
    return found


def _told(known: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if str(value) in EXPIRED else value for name, value in known.items()}
