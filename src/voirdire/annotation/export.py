"""A batch as a folder: the tables that the audit reads, and what stands beside them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from voirdire.annotation.collected import Collected, collect
from voirdire.annotation.corpus_changes import accepted_changes, changes_since
from voirdire.annotation.database import Database
from voirdire.annotation.material import Shown
from voirdire.annotation.progress import progress_of
from voirdire.annotation.rating_tables import (
    audit_tables,
    checks_table,
    comments_table,
    ratings_table,
    repeats_table,
)
from voirdire.annotation.verdicts import Decision, decisions, item_verdicts, verdicts_table
from voirdire.corpus.frozen import CHANGED_ITEMS, RELEASED_IMAGES, file_digest
from voirdire.errors import UsageError
from voirdire.tables import write_table
from voirdire.texts import text
from voirdire.version import VERSION

RATINGS, COPY, MANIFEST, README = "ratings.parquet", "csv/ratings.csv", "corpus.toml", "README.md"
TABLES = ("items.csv", "questions.csv", "raters.csv", "repeats.csv", "checks.csv", "comments.csv", "surplus.csv")
FILES = (RATINGS, COPY, *TABLES, MANIFEST, README)
VERDICTS = "verdicts.csv"
"""Written for a pilot."""

_READ = ("ratings", "items", "questions", "raters", "shares", "corpus")
_MARK = "[annotation]"


@dataclass(frozen=True, slots=True)
class Counts:
    """What an export holds and leaves out: items rated by a person, all their questions together."""

    ratings: int
    surplus: int
    partial: int
    deleted: int


def write_export(database: Database, batch_id: int, shown: Shown, folder: Path, lang: str = "en") -> list[Path]:
    """Write a batch to a folder; gives the files written.

    A new folder is there whole or not at all. Files of an earlier export are replaced, when all new ones are whole; a
    process that ends meanwhile can be begun again. A folder that holds other ratings, and one that cannot be written
    to, is refused (UsageError).
    """
    collected, decided = collect(database, batch_id), decisions(database, batch_id)
    told = told_changes(database, collected, shown, lang)
    folder = Path(folder)
    again = _check(folder)
    new = not folder.exists()
    place = folder.parent if new else folder
    try:
        place.mkdir(parents=True, exist_ok=True)
        with _beside(place, folder.name) as held:
            names = write_files(collected, decided, shown, held, lang, told)
            if new:
                held.replace(folder)
            else:
                _move(held, folder, names)
        if again and VERDICTS not in names:
            (folder / VERDICTS).unlink(missing_ok=True)
    except OSError as error:
        raise UsageError("lead.export.unwritable", file=str(folder), why=error.strerror or str(error)) from error
    return [folder / name for name in names]


@contextmanager
def _beside(place: Path, name: str) -> Iterator[Path]:
    """An empty hidden folder to write into, which is gone afterwards; so is what a killed export left of it."""
    held = place / f".{name}.voirdire-export"
    shutil.rmtree(held, ignore_errors=True)
    held.mkdir()
    try:
        yield held
    finally:
        shutil.rmtree(held, ignore_errors=True)


def _move(held: Path, folder: Path, names: Sequence[str]) -> None:
    """Put files in their places; the one by which an export is known comes first, so that it can be begun again."""
    for name in sorted(names, key=lambda name: name != MANIFEST):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.move(held / name, folder / name)


@dataclass(frozen=True, slots=True)
class ToldChanges:
    """Changes of the items since a batch was made.

    sentences : for people; items : item -> columns whose cells changed, which its raters saw otherwise, or may have
    """

    sentences: tuple[str, ...] = ()
    items: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def told_changes(database: Database, collected: Collected, shown: Shown, lang: str) -> ToldChanges:
    """Changes of the items since the batch was made: those taken on, then those since."""
    since = changes_since(database, shown)
    taken = [one for one in accepted_changes(database) if one.at >= collected.batch.created_at]
    told = [
        text(
            "lead.export.changed_on", lang, date=f"{datetime.fromtimestamp(one.at, UTC):%Y-%m-%d}", **one.changes.told()
        )
        for one in taken
    ]
    told += [] if since is None else [text("lead.export.changed_since", lang, **since.told())]
    found: dict[str, tuple[str, ...]] = {}
    for changes in (*(one.changes for one in taken), *([] if since is None else [since])):
        for item, columns in (changes.changed or {}).items():
            found[item] = tuple(dict.fromkeys((*found.get(item, ()), *columns)))
    rated = set(collected.batch.spec.items)
    return ToldChanges(tuple(told), {item: columns for item, columns in found.items() if item in rated})


def write_files(
    collected: Collected,
    decided: Mapping[str, Decision],
    shown: Shown,
    folder: Path,
    lang: str,
    changes: ToldChanges | None = None,
) -> tuple[str, ...]:
    """Write the files of ``FILES``, and the verdicts of a pilot, to an empty folder; gives their names.

    changes : of the items, for the README and ``corpus.toml``
    """
    changed = changes or ToldChanges()
    tables = audit_tables(collected, shown)
    (folder / COPY).parent.mkdir()
    write_table(tables.ratings, folder / RATINGS)
    (folder / COPY).write_bytes(b"\xef\xbb\xbf" + tables.ratings.write_csv().encode())
    beside: dict[str, pl.DataFrame] = {
        "items.csv": tables.items,
        "questions.csv": tables.questions,
        "raters.csv": tables.raters,
        "repeats.csv": repeats_table(collected),
        "checks.csv": checks_table(collected),
        "comments.csv": comments_table(collected),
        "surplus.csv": ratings_table(collected, states=("surplus",)),
    }
    names: tuple[str, ...] = FILES
    if collected.batch.spec.kind == "pilot":
        beside[VERDICTS] = verdicts_table(item_verdicts(collected, decided))
        names = (*names[:-1], VERDICTS, README)
    for name, frame in beside.items():
        write_table(frame, folder / name)
    (folder / MANIFEST).write_text(_manifest(collected, shown, changed), encoding="utf-8")
    (folder / README).write_text(_readme(collected, shown, names, lang, changed.sentences), encoding="utf-8")
    return names


def counts_of(collected: Collected) -> Counts:
    """What an export of this would hold and leave out."""
    pools = progress_of(collected, 0.0).pools.values()
    return Counts(
        sum(pool.done for pool in pools),
        sum(pool.surplus for pool in pools),
        sum(pool.partial for pool in pools),
        sum(pool.deleted for pool in pools),
    )


def _check(folder: Path) -> bool:
    """Whether the folder holds an earlier export.

    Refuses a file, tables that are of no export, and ratings that would be read beside ours.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError("lead.export.is_file", file=str(folder))
    manifest = folder / MANIFEST
    ours = manifest.is_file() and _MARK in manifest.read_text(encoding="utf-8", errors="replace")
    mine = FILES if ours else ()
    tables = [path.name for path in sorted(folder.glob("*.*")) if path.name.split(".")[0] in _READ]
    foreign = [name for name in tables if name not in mine]
    if foreign:
        raise UsageError("lead.export.other_tables", file=str(folder), value=foreign[0])
    return ours


def _manifest(collected: Collected, shown: Shown, changed: ToldChanges) -> str:
    """``corpus.toml``: the corpus's name, what the ratings come from, which images were shown (path -> digest), and
    which items were changed meanwhile (id -> columns).

    A TOML text is written as a JSON text is.
    """
    spec = collected.batch.spec
    entries: Mapping[str, str | int | bool] = {"name": shown.name, "simulated": shown.simulated}
    origin: Mapping[str, str | int | bool] = {
        "study": spec.study.name,
        "batch": collected.batch.id,
        "batch_name": spec.name,
        "kind": spec.kind,
        "raters_per_item": spec.study.raters_per_item,
        "corpus_digest": shown.digest,
        "voirdire": VERSION,
    }
    return "\n".join(
        [*_entries(entries), "", _MARK, *_entries(origin), "", *_images(collected, shown), *_changed(changed)]
    )


def _changed(changed: ToldChanges) -> list[str]:
    """``[changed]``: the items that were changed after the batch was made; nothing where none was."""
    lines = [f"{json.dumps(item, ensure_ascii=False)} = {json.dumps(cells)}" for item, cells in changed.items.items()]
    return [f"[{CHANGED_ITEMS}]", *(line.replace("\x7f", "\\u007f") for line in lines), ""] if lines else []


def _images(collected: Collected, shown: Shown) -> list[str]:
    """``[images]``: the images of the batch's items, each by its path from the corpus folder; nothing for texts."""
    files = [shown.items[name].image for name in collected.batch.spec.items if name in shown.items]
    there = sorted({file for file in files if file is not None and file.is_file()})
    told = {file.relative_to(shown.folder).as_posix(): file_digest(file) for file in there}
    lines = [f"{json.dumps(name, ensure_ascii=False)} = {json.dumps(digest)}" for name, digest in told.items()]
    return [f"[{RELEASED_IMAGES}]", *(line.replace("\x7f", "\\u007f") for line in lines), ""] if lines else []


def _entries(entries: Mapping[str, str | int | bool]) -> list[str]:
    told = {name: json.dumps(value, ensure_ascii=False) for name, value in entries.items()}
    return [f"{name} = {value}".replace("\x7f", "\\u007f") for name, value in told.items()]


def _readme(collected: Collected, shown: Shown, names: Sequence[str], lang: str, changes: Sequence[str]) -> str:
    spec, counts = collected.batch.spec, counts_of(collected)
    head = text("lead.export.title", lang, name=_line(shown.name), batch=_line(spec.name))
    about = text(
        "lead.export.about",
        lang,
        ratings=counts.ratings,
        partial=counts.partial,
        surplus=counts.surplus,
        deleted=counts.deleted,
    )
    files = [f"- `{name}`: {text(f'lead.export.file.{_key(name)}', lang)}" for name in names if name != README]
    uses = text("lead.export.use", lang)
    said = [line for sentence in changes for line in (_line(sentence), "")]
    return "\n".join([f"# {head}", "", about, "", *said, *files, "", uses, "", text("lead.export.formulas", lang), ""])


def _key(name: str) -> str:
    return name.replace("/", "_").replace(".", "_")


def _line(value: str) -> str:
    return " ".join(value.split())
