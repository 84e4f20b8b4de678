"""``screening.csv``: the numbers of the latest screening, read back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from voirdire.construction.screening import COLUMNS, Measured
from voirdire.construction.screening_rule import MEASURES
from voirdire.errors import InputError
from voirdire.tables import Table, read_table

SCREENING_FILE = "screening.csv"
NUMBERS = ("value", "low", "high", "threshold")


def read_measured(folder: Path | str) -> dict[str, tuple[Measured, ...]]:
    """concept -> what was measured of it, as the table of a folder tells; empty where nothing was screened.

    Raises InputError, naming file and row, for a table that no screening wrote.
    """
    path = Path(folder) / SCREENING_FILE
    if not path.is_file():
        return {}
    table = read_table(path)
    missing = [name for name in COLUMNS if name not in table.frame.columns]
    if missing:
        raise InputError("screening.file.column_missing", file=table.file, column=missing[0])
    found: dict[str, list[Measured]] = {}
    for index, row in enumerate(table.frame.iter_rows(named=True)):
        found.setdefault(str(row["concept"]), []).append(_measured(table, index, row))
    return {concept: tuple(measures) for concept, measures in found.items()}


def _measured(table: Table, index: int, row: Mapping[str, Any]) -> Measured:
    try:
        facts = json.loads(row["facts"] or "{}")
        value, low, high, threshold = (float(row[name]) if row[name] else None for name in NUMBERS)
        if row["measure"] not in MEASURES or not isinstance(facts, dict):
            raise ValueError(row["measure"])
        count = int(row["n"] or 0)
    except ValueError as error:
        raise InputError("screening.file.row_broken", file=table.file, row=table.row(index)) from error
    undefined = row["undefined"] or None
    return Measured(
        row["measure"], row["finding"] or "", value, low, high, threshold, count, undefined=undefined, facts=facts
    )
