"""Judgments in several Parquet files, or in a large one: read in pieces, so that their rows are never all in memory.

Folders named ``design=aa`` give the files in them a column, as is usual for partitioned tables.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from voirdire.errors import InputError

LARGE = 2_000_000
BATCH = 1_000_000
CHUNK = 1 << 22


@dataclass(frozen=True)
class Part:
    """One file: its path and the columns that its folders' names give it."""

    path: Path
    folder_columns: Mapping[str, str]


@dataclass(frozen=True)
class Parts:
    """The files of one table, in the order of their paths.

    path : the folder, or the one file; columns are those of the first file, and every file must have them
    """

    path: Path
    files: tuple[Part, ...]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns. Raises InputError when a file has others than the first one."""
        first = self._columns_of(self.files[0])
        for part in self.files[1:]:
            here = self._columns_of(part)
            differ = [name for name in (*first, *here) if (name in first) != (name in here)]
            if differ:
                raise InputError(
                    "input.part_differs", file=str(part.path), first=str(self.files[0].path), column=differ[0]
                )
        return first

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first row of every file, counted from 0 over all files, and the number of all rows."""
        starts = [0]
        for part in self.files:
            starts.append(starts[-1] + int(self._collect(part, pl.scan_parquet(part.path).select(pl.len())).item()))
        return tuple(starts)

    @cached_property
    def digest(self) -> str:
        """sha256 of the file's bytes; of several files, sha256 of theirs in order."""
        digests = [_digest(part.path) for part in self.files]
        return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()

    def batches(self, columns: Sequence[str], values: Sequence[str] = ()) -> Iterator[pl.DataFrame]:
        """The rows in order, about a million at a time, with ``_row`` counted over all files.

        A column of numbers that are whole in every file is given as whole numbers; other decimals as text, which is
        the same in every piece, unless they are ``values``, of which only the number counts.
        """
        for part, start in zip(self.files, self.starts, strict=False):
            lazy = self._typed(part, columns, values).with_row_index("_row", offset=start)
            try:
                yield from (batch for batch in lazy.collect_batches(chunk_size=BATCH) if batch.height)
            except (pl.exceptions.PolarsError, OSError) as error:
                raise _damaged(part, error) from error

    def distinct(self, column: str) -> pl.DataFrame:
        """The distinct cells of a column, one row each."""
        found = [self._collect(part, self._typed(part, [column]).unique()) for part in self.files]
        return pl.concat(found, how="vertical_relaxed").unique()

    def _typed(self, part: Part, columns: Sequence[str], values: Sequence[str] = ()) -> pl.LazyFrame:
        schema = self._schema(part)
        added = {name: level for name, level in part.folder_columns.items() if name in columns and name not in schema}
        lazy = pl.scan_parquet(part.path, hive_partitioning=False)
        lazy = lazy.with_columns(pl.lit(level).alias(name) for name, level in added.items()).select(columns)
        floats = [name for name in columns if name not in added and schema[name].is_float()]
        whole = [name for name in floats if name in self.whole]
        decimal = [name for name in floats if name not in self.whole and name not in values]
        return lazy.with_columns(
            pl.col(whole).fill_nan(None).cast(pl.Int64), pl.col(decimal).fill_nan(None).cast(pl.String)
        )

    @cached_property
    def whole(self) -> frozenset[str]:
        """Columns whose decimals are whole numbers in every file, or missing."""
        broken: set[str] = set()
        seen: set[str] = set()
        for part in self.files:
            floats = [name for name, dtype in self._schema(part).items() if dtype.is_float()]
            known = [pl.col(name).fill_nan(None).drop_nulls() for name in floats]
            tests = [((col == col.round()) & (col.abs() < 2**53)).all() for col in known]
            if floats:
                lazy = pl.scan_parquet(part.path, hive_partitioning=False).select(tests)
                broken |= {name for name, good in self._collect(part, lazy).row(0, named=True).items() if not good}
            seen |= set(floats)
        return frozenset(seen - broken)

    def _columns_of(self, part: Part) -> tuple[str, ...]:
        names = self._schema(part).names()
        return (*names, *(name for name in part.folder_columns if name not in names))

    def _schema(self, part: Part) -> pl.Schema:
        try:
            return pl.read_parquet_schema(part.path)  # type: ignore[return-value]
        except (pl.exceptions.PolarsError, OSError) as error:
            raise _damaged(part, error) from error

    def _collect(self, part: Part, lazy: pl.LazyFrame) -> pl.DataFrame:
        try:
            return lazy.collect(engine="streaming")
        except (pl.exceptions.PolarsError, OSError) as error:
            raise _damaged(part, error) from error


def parts_of_folder(folder: Path, left_out: Sequence[str] = ()) -> Parts | None:
    """The Parquet files in a folder and the folders in it, without those of these names; None when there is none."""
    found = sorted(path for path in folder.rglob("*.parquet") if path.is_file() and path.stem not in left_out)
    files = [path for path in found if not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)]
    return Parts(folder, tuple(Part(path, _folder_columns(path, folder)) for path in files)) if files else None


def parts_of_file(path: Path) -> Parts | None:
    """One Parquet file of many rows; None for other kinds of file, and for fewer rows."""
    if path.suffix.lower() != ".parquet" or not path.is_file():
        return None
    parts = Parts(path, (Part(path, {}),))
    return parts if parts.starts[-1] >= LARGE else None


def _folder_columns(path: Path, folder: Path) -> dict[str, str]:
    pairs = [part.partition("=") for part in path.relative_to(folder).parts[:-1]]
    return {name: level for name, equals, level in pairs if equals and name and level}


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(CHUNK):
            digest.update(block)
    return digest.hexdigest()


def _damaged(part: Part, error: Exception) -> InputError:
    return InputError("input.file_damaged", file=str(part.path), value=str(error)[:200])
