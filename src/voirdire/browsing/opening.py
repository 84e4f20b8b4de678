"""Which folder is what: a corpus, a run, an audit, or a folder that holds some."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from voirdire.analysis.item_tables import OF
from voirdire.analysis.profile import PROFILE
from voirdire.browsing.library import Run, Shelf
from voirdire.corpus.folder import ENDINGS
from voirdire.corpus.frozen import MANIFEST
from voirdire.errors import UsageError
from voirdire.judging.reading import reading, steady
from voirdire.judging.run_folder import LEDGER

FolderKind = Literal["corpus", "run", "audit", "judgments"]
MOST_INSIDE = 200


@dataclass(frozen=True)
class Found:
    """A folder and what it is. ``judgments`` is a table of judgments without the ratings of anybody."""

    kind: FolderKind
    folder: Path


def find(folders: Sequence[Path]) -> list[Found]:
    """What the folders are; a folder that is nothing itself stands for those inside of it, and item-level tables for
    the audit that they belong to.

    Raises UsageError for one that does not exist, and where nothing is found.
    """
    found: list[Found] = []
    for folder in folders:
        if not folder.is_dir():
            raise UsageError("room.no_folder" if not folder.exists() else "room.is_file", file=str(folder))
        whole = folder.resolve().parent if (folder / OF).is_file() else folder
        here = list(_here_or_inside(whole if (whole / PROFILE).is_file() else folder))
        if not here:
            raise UsageError("room.nothing_known", file=str(folder))
        found += here
    return list({one.folder.resolve(): one for one in found}.values())


def _here_or_inside(folder: Path) -> Iterator[Found]:
    kind = kind_of(folder)
    if kind is not None:
        yield Found(kind, folder)
        return
    inside = sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    for entry in inside[:MOST_INSIDE]:
        kind = kind_of(entry)
        if kind is not None:
            yield Found(kind, entry)


def kind_of(folder: Path) -> FolderKind | None:
    """What a folder is by the files in it, None where it is none of ours."""
    if (folder / PROFILE).is_file():
        return "audit"
    if (folder / LEDGER).is_file():
        return "run"
    if (folder / MANIFEST).is_file() or any(_has(folder, name) for name in ("ratings", "items")):
        return "corpus"
    return "judgments" if _has(folder, "judgments") else None


def _has(folder: Path, name: str) -> bool:
    return any((folder / f"{name}{ending}").is_file() for ending in ENDINGS)


def shelf_of_run(run: Run, items: Sequence[str], slug: str) -> Shelf:
    """The items of a run whose corpus is not open: their ids alone."""
    table = pl.DataFrame({"item_id": list(items)}, schema={"item_id": pl.String})
    return Shelf(slug, run.title, "run", run.folder, None, table, judged=(run.folder,))


@steady
def judges_of_run(folder: Path) -> list[str]:
    """The names of the judges of a run, in order. Raises InputError where its ledger cannot be read."""
    with reading(folder) as db:
        return [str(name) for (name,) in db.execute("SELECT name FROM judge ORDER BY id")]
