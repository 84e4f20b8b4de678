"""The files of a Hugging Face data set on disk, as records: Arrow of ``save_to_disk``, Parquet shards, JSONL.

Shapes as ``datasets`` 5.2 (Apache-2.0) writes them: ``dataset_dict.json`` names the splits, ``state.json`` the Arrow
files of one (IPC streams), ``dataset_info.json`` the features; a Parquet file holds them under the key ``huggingface``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.errors import InputError
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.records import Record, jsonl_records

DICT, STATE, INFO = "dataset_dict.json", "state.json", "dataset_info.json"
ENDINGS = (".arrow", ".parquet", ".jsonl", ".ndjson", ".jsonl.gz")


@dataclass(frozen=True)
class Part:
    """One file of a data set; ``features`` as ``datasets`` writes them, empty where none are told."""

    file: Path
    split: str = ""
    features: Mapping[str, Any] = field(default_factory=dict)

    def records(self, account: Account) -> Iterator[Record]:
        """Its rows; the line of a row of Arrow or Parquet is its number, counted from 1."""
        if self.file.suffix in (".arrow", ".parquet"):
            rows = _frame(self.file).iter_rows(named=True)
            yield from (Record(row, str(self.file), number) for number, row in enumerate(rows, start=1))
        else:
            yield from jsonl_records(self.file, account)

    def labels(self, column: str, inner: str = "") -> tuple[str, ...]:
        """The names of a ClassLabel, by the column and the field inside; empty where it is none."""
        found = self.features.get(column)
        while found is not None:
            if isinstance(found, list) and len(found) == 1:
                found = found[0]
            elif isinstance(found, Mapping) and found.get("_type") == "ClassLabel":
                return tuple(str(name) for name in found.get("names") or ())
            elif isinstance(found, Mapping) and "feature" in found:
                found = found["feature"]
            elif isinstance(found, Mapping) and inner in found:
                found, inner = found[inner], ""
            else:
                return ()
        return ()


def parts_of(path: Path) -> list[Part]:
    """The files of a data set: of a folder, or the one that is given.

    Raises InputError where a folder is no data set, where its files are not beside it, and for a selection that was
    saved without its rows.
    """
    if not path.exists():
        raise InputError("input.file_missing", file=str(path))
    if path.is_file():
        return [Part(path, features=_features_of(path))]
    if (path / DICT).is_file():
        splits = _json(path / DICT).get("splits")
        names = [_plain(name, path / DICT) for name in splits] if isinstance(splits, list) else []
        return [part for name in names for part in _saved(path / name, name)]
    if (path / STATE).is_file():
        return _saved(path, str(_json(path / STATE).get("_split") or ""))
    found = sorted(file for file in path.rglob("*") if file.is_file() and file.name.endswith(ENDINGS))
    wanted = [file for file in found if file.suffix == ".parquet"] or found
    if not wanted:
        raise InputError("datasets.no_files", file=str(path))
    return [Part(file, _split_of(file), _features_of(file)) for file in wanted]


def is_data_set(path: Path) -> bool:
    """Whether a path is a folder of ``save_to_disk``, or a folder or file of Arrow or Parquet. Never raises."""
    if path.is_dir():
        inside = (path, path / "data")
        saved = (path / DICT).is_file() or (path / STATE).is_file()
        return saved or any(next(folder.glob("*.parquet"), None) is not None for folder in inside)
    return path.suffix in (".arrow", ".parquet") and path.is_file()


def first_records(path: Path, count: int = 20) -> tuple[list[dict[str, Any]], Part | None]:
    """The first rows of a data set, for recognising its shape; none where it cannot be read. Never raises."""
    try:
        part = parts_of(path)[0]
        if part.file.suffix == ".parquet":
            rows = pl.scan_parquet(part.file).head(count).collect().to_dicts()
        elif part.file.suffix == ".arrow":
            rows = pl.read_ipc_stream(part.file, n_rows=count).to_dicts()
        else:
            rows = [one.value for one, _ in zip(part.records(Account(skip_broken=True)), range(count), strict=False)]
    except (InputError, pl.exceptions.PolarsError, OSError, ValueError, IndexError):
        return [], None
    return [row for row in rows if isinstance(row, dict)], part


def _saved(folder: Path, split: str) -> list[Part]:
    state = _json(folder / STATE)
    if state.get("_indices_data_files"):
        raise InputError("datasets.indices", file=str(folder / STATE))
    info = folder / INFO
    features = _json(info).get("features") if info.is_file() else None
    files = state.get("_data_files")
    listed = files if isinstance(files, list) else []
    names = [_plain(one.get("filename") if isinstance(one, dict) else one, folder / STATE) for one in listed]
    return [Part(folder / name, split, features if isinstance(features, dict) else {}) for name in names]


def _plain(name: Any, file: Path) -> str:
    """A name of a file or folder that lies right beside. Raises InputError for anything that leads elsewhere."""
    if not isinstance(name, str) or name in ("", ".", "..") or set(name) & set("/\\\0"):
        raise InputError("datasets.file_name", file=str(file), value=str(name))
    return name


def _json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError("input.file_missing", file=str(file)) from error
    except (OSError, ValueError, RecursionError) as error:
        raise InputError("input.file_damaged", file=str(file), value=str(error)[:200]) from error
    return found if isinstance(found, dict) else {}


def _frame(file: Path) -> pl.DataFrame:
    try:
        if file.suffix == ".parquet":
            return pl.read_parquet(file, hive_partitioning=False)
        return pl.read_ipc_stream(file)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError("input.file_damaged", file=str(file), value=str(error)[:200]) from error


def _features_of(file: Path) -> Mapping[str, Any]:
    """The features that a Parquet file tells; none where it tells none, or is damaged, which reading will say."""
    if file.suffix != ".parquet":
        return {}
    try:
        told = json.loads(pl.read_parquet_metadata(file).get("huggingface", "{}"))
        features = told["info"]["features"]
    except (pl.exceptions.PolarsError, OSError, ValueError, KeyError, TypeError):
        return {}
    return features if isinstance(features, dict) else {}


def _split_of(file: Path) -> str:
    """``train`` of ``train-00000-of-00002.parquet`` and of ``train.jsonl``."""
    return file.name.split(".")[0].split("-")[0]
