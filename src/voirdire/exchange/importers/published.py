"""What the importers of published data sets share: records of any file, texts with several parts, names of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.errors import InputError
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.cells import cell
from voirdire.exchange.importers.records import (
    Record,
    delimited_records,
    head_columns,
    head_of,
    head_record,
    json_records,
    jsonl_records,
)

JSONL = (".jsonl", ".ndjson")
TAKEN = frozenset(("item_id", "level", "min", "max", "text", "image", "a", "b", "first", "second"))
"""Columns of the items table that mean something to the reader."""

OURS = frozenset(("item_id", "rater_id", "question", "rating", "shown_first", "status", "seconds", "at", "given"))
"""Columns of the ratings that an importer fills."""


def records_of(path: Path, account: Account) -> Iterator[Record]:
    """The records of a csv, tsv, jsonl, JSON or Parquet file; the line of a row of Parquet is its number from 1.

    Raises InputError for a Parquet file that cannot be read.
    """
    if path.suffix == ".parquet":
        yield from _rows(path)
    elif any(ending in path.suffixes for ending in JSONL):
        yield from jsonl_records(path, account)
    elif ".json" in path.suffixes:
        yield from json_records(path, account)
    else:
        yield from delimited_records(path, account)[1]


def first_of(path: Path) -> dict[str, Any]:
    """The fields of the first record, for recognising a file; empty where there is none. Never raises."""
    if path.is_dir():
        return {}
    if path.suffix == ".parquet":
        try:
            return next(iter(pl.scan_parquet(path).head(1).collect().to_dicts()), {})
        except (pl.exceptions.PolarsError, OSError):
            return {}
    if head_of(path, 64).lstrip()[:1] in ("{", "["):
        found = head_record(path)
        return found if isinstance(found, dict) else {}
    return dict.fromkeys(head_columns(path))


def described(value: Any) -> dict[str, Any]:
    r"""An item's text as columns: one text as it is; of several parts each, and ``text`` with all of them in lines.

    A part ``_`` is none: ConvAbuse writes it where a conversation has no earlier turn.

    >>> described({"context": "It rains.", "reply": "Great."})
    {'text': 'context: It rains.\nreply: Great.', 'context': 'It rains.', 'reply': 'Great.'}
    >>> described("It rains.")
    {'text': 'It rains.'}
    """
    if not isinstance(value, Mapping):
        return {"text": cell(value)}
    parts = {str(name): cell(part) for name, part in value.items() if part not in (None, "", "_")}
    lines = "\n".join(f"{name}: {part}" for name, part in parts.items())
    return {"text": lines, **columns(parts)}


def columns(found: Mapping[str, Any]) -> dict[str, Any]:
    """Entries as further columns of the items; those whose name would mean something else are called ``given_...``.

    >>> columns({"level": 1.0, "lang": "en"})
    {'given_level': 1.0, 'lang': 'en'}
    """
    return {f"given_{name}" if name.casefold() in TAKEN else name: value for name, value in found.items()}


def given_name(name: str) -> str:
    """A further column of the ratings; ``given_...`` where its name is one of ours.

    >>> given_name("country"), given_name("rating")
    ('country', 'given_rating')
    """
    return f"given_{name}" if name.casefold() in OURS else name


def slug(name: str) -> str:
    """A name of a question: without blanks, in small letters.

    >>> slug("Sarcasm detection ")
    'sarcasm_detection'
    """
    return "_".join(name.casefold().split())


def _rows(path: Path) -> Iterator[Record]:
    try:
        frame = pl.read_parquet(path)
    except FileNotFoundError as error:
        raise InputError("input.file_missing", file=str(path)) from error
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError("input.file_unreadable", file=str(path), value=str(error)) from error
    for number, row in enumerate(frame.iter_rows(named=True), start=1):
        yield Record(row, str(path), number)
