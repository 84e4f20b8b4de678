"""What an audit compared item by item, read back from its folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.analysis.item_tables import (
    CONSENSUS,
    CONSENSUS_COLUMNS,
    FOLDER,
    ITEMS,
    JUDGMENT_COLUMNS,
    JUDGMENTS,
    OF,
    SHARE_COLUMNS,
    SHARES,
)
from voirdire.analysis.profile import PROFILE
from voirdire.corpus.corpus import Note
from voirdire.errors import InputError


@dataclass(frozen=True)
class Compared:
    """The item-level tables of an audit, on the scales on which they were compared.

    items : item_id and the columns of the items table as they were read, in the audit's order
    consensus : question, item_id, pool, value, n (ratings that count; null where unknown), s2 (their variance)
    judgments : question, item_id, judge, condition, repeat, rating (null without one), status
    shares : question, item_id, pool, label, share: of questions whose labels have no order
    rank_only : (judge, question) answered on another scale that nobody declared, as the profile says
    """

    items: pl.DataFrame
    consensus: pl.DataFrame
    judgments: pl.DataFrame
    shares: pl.DataFrame
    rank_only: frozenset[tuple[str, str]] = frozenset()


def read_compared(folder: Path) -> Compared | None:
    """The tables below an audit folder; None where the audit left them out, or where they are of another profile.

    Raises InputError, which names the file, for one that is damaged, lacks columns or is missing beside the others.
    """
    place = folder / FOLDER
    if not _there(place) or not _belong(folder):
        return None
    shares = pl.DataFrame(schema=SHARE_COLUMNS)
    if (place / SHARES).is_file():
        shares = _read(place / SHARES, SHARE_COLUMNS)
    return Compared(
        _read(place / ITEMS, {"item_id": pl.String}, more=True),
        _read(place / CONSENSUS, CONSENSUS_COLUMNS),
        _read(place / JUDGMENTS, JUDGMENT_COLUMNS),
        shares,
    )


def foreign_tables(folder: Path) -> tuple[Note, ...]:
    """A note where tables stand in an audit folder that its profile was not written with, which are not shown."""
    place = folder / FOLDER
    if not _there(place) or _belong(folder):
        return ()
    return (Note("room.note.foreign_tables", {"folder": str(place)}, "warning"),)


def _there(place: Path) -> bool:
    return any((place / name).is_file() for name in (ITEMS, CONSENSUS, JUDGMENTS))


def _belong(folder: Path) -> bool:
    """Whether the tables say that they belong to the profile beside them."""
    try:
        told = json.loads((folder / FOLDER / OF).read_bytes())
        digest = hashlib.sha256((folder / PROFILE).read_bytes()).hexdigest()
    except (OSError, ValueError):
        return False
    return isinstance(told, dict) and told.get("profile") == digest


def _read(file: Path, columns: Mapping[str, Any], *, more: bool = False) -> pl.DataFrame:
    """A table with these columns, of these kinds; with ``more`` its other columns too."""
    try:
        frame = pl.read_parquet(file)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError("audit.compared_broken", file=str(file), why=str(error).splitlines()[0]) from None
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise InputError("audit.compared_columns", file=str(file), columns=", ".join(missing))
    try:
        cast = frame.with_columns(pl.col(name).cast(kind) for name, kind in columns.items())
    except pl.exceptions.PolarsError as error:
        raise InputError("audit.compared_broken", file=str(file), why=str(error).splitlines()[0]) from None
    return cast if more else cast.select(list(columns))
