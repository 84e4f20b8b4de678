"""A corpus folder or a run folder: the tables in it, by their names."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from voirdire.corpus.frozen import MANIFEST, Frozen, file_digest, frozen_of
from voirdire.corpus.options import CorpusOptions, JudgmentOptions
from voirdire.corpus.parts import Parts, parts_of_file, parts_of_folder
from voirdire.errors import InputError

ENDINGS = (".parquet", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".jsonl", ".jsonl.gz")
BESIDE = ("items", "raters", "questions", "shares")
"""Tables that can be given beside a folder."""


def expand_corpus(options: CorpusOptions, *, rated: bool = True) -> CorpusOptions:
    """Options with the tables of a corpus folder filled in; what was given beside the folder stays.

    rated : whether a folder without ratings is refused; if not, ``ratings`` is None there
    With other tables given beside it, a frozen corpus is no longer the version that it was.

    Raises InputError, naming the file, where the folder is a frozen corpus and was changed.
    """
    folder = _folder(options.ratings)
    if folder is None:
        return options
    settings = settings_of(folder)
    frozen = frozen_of(folder, settings)
    beside = any(_is_other(getattr(options, table), folder, table) for table in BESIDE)
    found: dict[str, Any] = {"ratings": _table(folder, "ratings", needed=rated)}
    for table in BESIDE:
        if getattr(options, table) is None:
            found[table] = _table(folder, table)
    read = _of_kind(settings, "read", {}, folder)
    found["question_columns"] = options.question_columns or tuple(_of_kind(read, "question_columns", [], folder))
    found["mapping"] = {**_of_kind(read, "map", {}, folder), **options.mapping}
    found["missing_labels"] = options.missing_labels or tuple(_of_kind(read, "missing_labels", [], folder))
    found["anonymous_raters"] = options.anonymous_raters or _of_kind(read, "anonymous_raters", False, folder)
    found["name"] = options.name or str(settings.get("name", folder.name))
    found["simulated"] = options.simulated or _of_kind(settings, "simulated", False, folder)
    return replace(options, **found, frozen=None if beside else frozen)


def frozen_folder(folder: Path) -> Frozen | None:
    """The frozen corpus in a folder with ``corpus.toml``, checked; None where it is none."""
    return frozen_of(folder, settings_of(folder))


def expand_judgments(options: JudgmentOptions) -> JudgmentOptions:
    """Options with the tables of a run folder, or of a folder of Parquet files, filled in.

    A folder holds ``judgments.*``, or the folder ``judgments`` with Parquet files, or Parquet files itself; beside them
    ``judges.*`` and ``conditions.*``. Several Parquet files, and a large one, become Parts, which are read in pieces.
    """
    source, folder = options.judgments, _folder(options.judgments)
    if folder is None:
        parts = parts_of_file(Path(source)) if isinstance(source, (str, Path)) else None
        return options if parts is None else replace(options, judgments=parts)
    judges = options.judges if options.judges is not None else _table(folder, "judges")
    conditions = options.conditions if options.conditions is not None else _table(folder, "conditions")
    return replace(options, judgments=_judgments(folder), judges=judges, conditions=conditions)


def _judgments(folder: Path) -> Path | Parts:
    named, inner = _table(folder, "judgments"), folder / "judgments"
    if named is not None:
        return parts_of_file(named) or named
    parts = parts_of_folder(inner if inner.is_dir() else folder, ("judges", "conditions"))
    if parts is None:
        raise InputError("input.folder_no_table", file=str(folder), value="judgments")
    return parts


def _is_other(given: Any, folder: Path, name: str) -> bool:
    """Whether a table that was given is another one than the folder's own."""
    if given is None:
        return False
    own = _table(folder, name)
    if own is None or not isinstance(given, str | Path) or not Path(given).is_file():
        return True
    return own.suffixes != Path(given).suffixes or file_digest(own) != file_digest(Path(given))


def _folder(source: Any) -> Path | None:
    return Path(source) if isinstance(source, (str, Path)) and Path(source).is_dir() else None


def settings_of(folder: Path) -> dict[str, Any]:
    """What corpus.toml of a folder holds. Raises InputError where there is none, or where it is no TOML."""
    file = folder / MANIFEST
    if not file.is_file():
        raise InputError("input.folder_no_corpus", file=str(folder))
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError("input.toml_broken", file=str(file), value=str(error)) from error


def _of_kind(settings: dict[str, Any], key: str, default: Any, folder: Path) -> Any:
    """An entry of corpus.toml, or InputError when it is of another kind than its default, or holds no texts."""
    value = settings.get(key, default)
    held = (
        list(value.values()) if key == "map" and isinstance(value, dict) else value if isinstance(value, list) else []
    )
    if type(value) is not type(default) or not all(isinstance(entry, str) for entry in held):
        kinds = {dict: "{}", list: '["..."]', bool: "true, false"}
        known = {"file": str(folder / MANIFEST), "entry": key, "known": kinds[type(default)]}
        raise InputError("input.toml_entry", **known, value=str(value))
    return value


def _table(folder: Path, name: str, needed: bool = False) -> Path | None:
    for ending in ENDINGS:
        if (folder / f"{name}{ending}").is_file():
            return folder / f"{name}{ending}"
    if needed:
        raise InputError("input.folder_no_table", file=str(folder), value=name)
    return None
