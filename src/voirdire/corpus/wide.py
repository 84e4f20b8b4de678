"""Half-wide and wide tables to long ones. The unit of the reckoning is then the rating cell, not the file's row."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from voirdire.corpus.corpus import Note
from voirdire.corpus.intake import note
from voirdire.errors import InputError
from voirdire.tables import Table


def melt(table: Table, frame: pl.DataFrame, columns: Sequence[str], name: str, value: str) -> tuple[pl.DataFrame, Note]:
    """A column per ``name`` (question, rater, pool, judge) to a row per cell.

    frame : the table's frame with ``_row``; the result keeps it and adds ``_column``, the cell's own header
    """
    rest = [column for column in frame.columns if column not in columns]
    clash = [column for column in (name, value) if column in rest]
    if clash:
        raise InputError("input.wide_clash", file=table.file, row=1, column=clash[0], value=", ".join(columns[:5]))
    long = frame.unpivot(list(columns), index=rest, variable_name=name, value_name=value)
    told = note("cells_counted", file=table.name, name=name, columns=len(columns), rows=frame.height, cells=long.height)
    own = {column: table.header(column) for column in columns if column != value}
    return long.with_columns(pl.col(name).replace(own)).with_columns(pl.col(name).alias("_column")), told


def check_columns(table: Table, columns: Sequence[str], option: str) -> None:
    """InputError for a column that was named and is not there."""
    for column in columns:
        if column not in table.frame.columns:
            raise InputError(
                "input.option_column_missing",
                file=table.file,
                row=1,
                column=column,
                option=option,
                value=table.shown_columns,
            )


def numeric_columns(frame: pl.DataFrame, names: Sequence[str]) -> list[str]:
    """Those of the columns that hold a number and nothing else, empty cells aside."""
    found = []
    for name in names:
        cells = frame[name].drop_nulls()
        if len(cells) and cells.cast(pl.Float64, strict=False).is_finite().fill_null(False).all():
            found.append(name)
    return found
