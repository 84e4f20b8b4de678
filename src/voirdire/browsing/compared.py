"""What an audit compared item by item, read back from its folder."""

from __future__ import annotations

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
    SHARE_COLUMNS,
    SHARES,
)
from voirdire.errors import InputError


@dataclass(frozen=True)
class Compared:
    """The item-level tables of an audit, on the scales on which they were compared.

    items : item_id and the columns of the items table as they were read, in the audit's order
    consensus : question, item_id, pool, value, n (ratings that count; null where unknown), s2 (their variance)
    judgments : question, item_id, judge, condition, repeat, rating (null without one), status
    shares : question, item_id, pool, label, share: of questions whose labels have no order
    """

    items: pl.DataFrame
    consensus: pl.DataFrame
    judgments: pl.DataFrame
    shares: pl.DataFrame


def read_compared(folder: Path) -> Compared | None:
    """The tables below an audit folder; None where the audit left them out.

    Raises InputError, which names the file, for one that is damaged, lacks columns or is missing beside the others.
    """
    place = folder / FOLDER
    if not (place / ITEMS).is_file() and not (place / CONSENSUS).is_file() and not (place / JUDGMENTS).is_file():
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
