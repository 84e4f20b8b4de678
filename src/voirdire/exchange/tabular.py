"""Releases as plain tables: csv and Parquet. A csv release is a corpus folder that every command reads."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import polars as pl

from voirdire.exchange.datasheet import datasheet
from voirdire.exchange.manifest import README, write_manifest
from voirdire.exchange.release import Release
from voirdire.exchange.release_images import write_images
from voirdire.exchange.release_tables import JUDGE_TABLES, as_csv

JUDGMENTS = "judgments"


def write_csv(release: Release, folder: Path, lang: str = "en") -> None:
    """Write a release into an empty folder: csv files, images, README.md (the datasheet) and corpus.toml."""
    write_tables(release, folder, "csv")
    _beside(release, folder, lang, "csv")


def write_parquet(release: Release, folder: Path, lang: str = "en") -> None:
    """Write a release into an empty folder: Parquet files, images, README.md (the datasheet) and corpus.toml."""
    write_tables(release, folder, "parquet")
    _beside(release, folder, lang, "parquet")


def table_path(name: str, ending: str) -> str:
    """Where a table stands in a release: what judges said has a folder of its own, as a run has.

    >>> table_path("items", "csv"), table_path("judges", "csv")
    ('items.csv', 'judgments/judges.csv')
    """
    return f"{JUDGMENTS}/{name}.{ending}" if name in JUDGE_TABLES else f"{name}.{ending}"


def write_tables(release: Release, folder: Path, ending: str) -> list[Path]:
    """Write the tables as csv or parquet; gives the files."""
    writers: dict[str, Callable[[pl.DataFrame, Path], object]] = {
        "csv": lambda frame, path: path.write_bytes(as_csv(frame)),
        "parquet": as_parquet,
    }
    files = []
    for name, frame in release.tables.items():
        path = folder / table_path(name, ending)
        path.parent.mkdir(exist_ok=True)
        writers[ending](frame, path)
        files.append(path)
    return files


def as_parquet(frame: pl.DataFrame, path: Path, row_group_size: int | None = None) -> None:
    """Write a Parquet file; where that fails, it fails as any file does, with an OSError."""
    data = io.BytesIO()
    frame.write_parquet(data, compression="zstd", row_group_size=row_group_size)
    path.write_bytes(data.getbuffer())


def _beside(release: Release, folder: Path, lang: str, form: str) -> None:
    write_images(release.images, folder)
    (folder / README).write_text(datasheet(release, lang, form), encoding="utf-8", newline="\n")
    write_manifest(release, folder, form)
