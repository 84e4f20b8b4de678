"""Columns that would read alike: what sets their definitions apart is put into their headings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from voirdire.reporting.access import Row
from voirdire.reporting.words import Words
from voirdire.signature import Signature
from voirdire.texts import has

OF_INTERVALS = frozenset({"unit", "level", "draws", "seed"})


def headings(words: Words, columns: Sequence[tuple[str, str, Row]]) -> list[str]:
    """A heading for each column, given as (title, heading above it, one of its estimates).

    Columns that are alike in title and heading above are told apart by the parts of their definitions that differ.
    """
    alike: dict[tuple[str, str], list[int]] = {}
    for place, (title, group, _) in enumerate(columns):
        alike.setdefault((title, group), []).append(place)
    found = [title for title, _, _ in columns]
    for (title, _), places in alike.items():
        told = _differences(words, [columns[place][2] for place in places]) if len(places) > 1 else []
        for place, what in zip(places, told, strict=False):
            found[place] = words.x("apart.heading", title=title, what=what) if what else title
    return found


def _differences(words: Words, rows: Sequence[Row]) -> list[str]:
    """For each estimate the settings of its definition that not all of them share."""
    settings = [_settings(row) for row in rows]
    names = dict.fromkeys(name for one in settings for name in one)
    differ = [name for name in names if len({one.get(name) for one in settings}) > 1]
    if "interval" in differ:
        differ = [name for name in differ if name not in OF_INTERVALS]
    return [words.list([_said(words, name, one[name]) for name in differ if name in one]) for one in settings]


def _settings(row: Row) -> Mapping[str, str]:
    signature = Signature.parse(row.signature)
    return {**signature.params, **signature.definition}


def _said(words: Words, name: str, value: str) -> str:
    """A setting in words; by its name where it has none of its own."""
    for key in (f"apart.{name}_{value}", f"apart.{name}"):
        if has(f"report_experiment.{key}", words.lang):
            return words.x(key, value=value)
    return words.params(f"{name}={value}")
