"""Values of an export as the cells of a table of text, and rows of them as a frame."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

import polars as pl

RATINGS = ("item_id", "rater_id", "question", "rating")
JUDGMENTS = ("item_id", "judge", "condition", "question", "repeat", "rating", "status")
ITEMS, RATERS = ("item_id",), ("rater_id",)
QUESTIONS = ("question", "level", "min", "max", "labels", "positive", "text.en")


_MISSING = "#N/A|#N/A N/A|#NA|-1.#IND|-1.#QNAN|-NaN|-nan|1.#IND|1.#QNAN|<NA>|N/A|NA|NULL|NaN|None|n/a|nan|null"
PANDAS_MISSING = frozenset(_MISSING.split("|"))
"""Words that pandas reads as a missing value (``read_csv`` of pandas 2)."""


def cell(value: Any) -> str | None:
    """A value as the text of a cell: None where there is nothing, whole floats as whole numbers, lists as JSON.

    >>> [cell(value) for value in ("007", 4, 4.0, 0.5, True, None, "", float("nan"), ["a", 1])]
    ['007', '4', '4', '0.5', 'true', None, None, None, '["a", 1]']
    """
    if value is None or value == "" or value != value:
        return None
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    return cell(json.dumps(value, ensure_ascii=False, default=str)) if isinstance(value, list | dict) else str(value)


def frame(rows: Iterable[Mapping[str, Any]], columns: Sequence[str] = ()) -> pl.DataFrame:
    """Rows as a frame of text: the named columns first, further ones in the order in which they first occur.

    A further column that is empty throughout is left out.

    >>> frame([{"item_id": 1, "at": None}, {"item_id": "2", "lang": "zh"}], ("item_id", "rating")).columns
    ['item_id', 'rating', 'lang']
    """
    found: dict[str, list[str | None]] = {name: [] for name in columns}
    for height, row in enumerate(rows):
        for name, value in row.items():
            if name not in found:
                found[name] = [None] * height
            found[name].append(cell(value))
        for values in found.values():
            if len(values) == height:
                values.append(None)
    kept = [name for name, values in found.items() if name in columns or any(value is not None for value in values)]
    return pl.DataFrame({name: found[name] for name in kept}, schema=dict.fromkeys(kept, pl.String))


def question(
    name: str,
    level: str | None = None,
    low: float | None = None,
    high: float | None = None,
    labels: Sequence[str] = (),
    **more: Any,
) -> dict[str, Any]:
    """A row of the questions table; labels in their order, as the reader takes them apart.

    more : ``positive``, ``role``, ``missing``, and texts by language as ``text={"en": ..., "zh": ...}``

    >>> question("safe", "nominal", labels=["yes", "no; never"], text={"en": "Safe?"})["labels"]
    '["yes", "no; never"]'
    """
    texts = {f"text.{lang}": value for lang, value in (more.pop("text", None) or {}).items()}
    plain = not any(mark in label for label in labels for mark in ";|") and not "".join(labels[:1]).startswith("[")
    listed = ";".join(labels) if plain else json.dumps(list(labels), ensure_ascii=False)
    row = {"question": name, "level": level, "min": low, "max": high, "labels": listed or None}
    return {**row, **more, **texts}


def utc(moment: Any, unit: float = 1.0) -> str | None:
    """A time as UTC in ISO 8601; None where it is no time.

    moment : ISO 8601 text (UTC where it names no zone), or a number since 1970; unit : seconds that one of it is

    >>> utc("2026-04-18T10:00:00.5+02:00"), utc(1776499200), utc(1776499200000, 0.001), utc("soon")
    ('2026-04-18T08:00:00.500000Z', '2026-04-18T08:00:00Z', '2026-04-18T08:00:00Z', None)
    """
    try:
        if isinstance(moment, int | float) and not isinstance(moment, bool):
            found = datetime.fromtimestamp(moment * unit, UTC)
        else:
            found = datetime.fromisoformat(str(moment).strip())
    except (ValueError, OverflowError, OSError):
        return None
    aware = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat().replace("+00:00", "Z")
