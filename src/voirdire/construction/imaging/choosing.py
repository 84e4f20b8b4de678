"""Which items get an image: all that are not rejected, or some concepts, always with every culture of each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from voirdire.construction.build_file import BuildFile
from voirdire.construction.concepts import ConceptItem, Concepts, concepts_of
from voirdire.construction.imaging.files import KINDS
from voirdire.errors import InputError, UsageError

REJECTED = "rejected"
ENDINGS = (*KINDS.values(), ".jpeg")


@dataclass(frozen=True, slots=True)
class Chosen:
    """Items in the order of the table, and concepts that are left out because they are rejected."""

    items: tuple[ConceptItem, ...]
    rejected: tuple[str, ...] = ()


def choose(concepts: Concepts, build: BuildFile, subset: str | None, seed: int, out: Collection[str] = ()) -> Chosen:
    """The items of a subset, or all.

    out : concepts that are rejected in the protocol; those that the table rejects are left out as well
    subset : a number of concepts, drawn by ``seed`` evenly over the categories; or a file with a concept a line
    Raises InputError where a concept lacks a culture, has an empty realisation, or is not in the table.
    """
    groups = concepts.by_concept()
    rejected = tuple(
        name for name, items in groups.items() if name in out or any(item.split == REJECTED for item in items)
    )
    open_ones = {name: items for name, items in groups.items() if name not in rejected}
    if not open_ones:
        raise InputError("build_images.no_items", file=concepts.table.file)
    wanted = list(open_ones) if subset is None else _subset(subset, open_ones, rejected, seed)
    items = [item for item in concepts.items if item.concept in wanted]
    _check(items, concepts, build.culture_names)
    return Chosen(tuple(items), rejected)


def photographs(items: Sequence[ConceptItem], source: Path, *, named: bool) -> dict[str, Path]:
    """item id -> its photograph, ``<item id>.png`` (or jpg, jpeg, webp, gif), of whole pairs only.

    named : whether the concepts were named, so that each must be there; else those that are there are taken
    Raises InputError for a pair of which one member is missing, and where nothing is found.
    """
    if not source.is_dir():
        raise UsageError("build_images.no_folder", file=str(source))
    files = {path.name.casefold(): path for path in sorted(source.iterdir()) if path.is_file()}
    found: dict[str, Path] = {}
    for item in items:
        paths = [files[name] for end in ENDINGS if (name := f"{item.id}{end}".casefold()) in files]
        if len(paths) > 1:
            raise InputError("build_images.photo_twice", file=str(source), value=item.id)
        if paths:
            found[item.id] = paths[0]
    begun = {item.concept for item in items if named or item.id in found}
    missing = [item.id for item in items if item.concept in begun and item.id not in found]
    if missing:
        shown = ", ".join(missing[:10])
        raise InputError("build_images.photo_missing", file=str(source), items=shown, count=len(missing))
    if not found:
        raise InputError("build_images.photo_none", file=str(source), value=items[0].id)
    return found


def _subset(subset: str, groups: dict[str, tuple[ConceptItem, ...]], rejected: Sequence[str], seed: int) -> list[str]:
    if subset.isdigit():
        count = int(subset)
        if not 1 <= count <= len(groups):
            raise UsageError("build_images.subset_count", value=count, count=len(groups))
        categories = {name: items[0].category for name, items in groups.items()}
        return drawn_evenly(categories, count, np.random.default_rng(seed))
    names = listed(Path(subset), "build_images.subset_file")
    for row, name in names:
        if name not in groups:
            key = "build_images.subset_rejected" if name in rejected else "build_images.subset_unknown"
            raise InputError(key, file=subset, row=row, value=name)
    return [name for _, name in names]


def listed(path: Path, key: str) -> list[tuple[int, str]]:
    """(row, name) of a file with a name a line; empty lines and lines that begin with # are left out."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(key, value=str(path), why=getattr(error, "strerror", None) or str(error)) from error
    bare = [(row, line.strip()) for row, line in enumerate(lines, start=1)]
    return [(row, line) for row, line in bare if line and not line.startswith("#")]


def drawn_evenly(categories: dict[str, str], count: int, rng: np.random.Generator) -> list[str]:
    """``count`` concepts, one category after another until there are enough; of a category, at random.

    >>> found = drawn_evenly({"a": "x", "b": "x", "c": "x", "d": "y"}, 2, np.random.default_rng(1))
    >>> "d" in found, len(found)
    (True, 2)
    """
    queues: dict[str, list[str]] = {}
    for name, category in categories.items():
        queues.setdefault(category, []).append(name)
    shuffled = [[queue[place] for place in rng.permutation(len(queue))] for queue in queues.values()]
    longest = max(map(len, shuffled))
    turns = [queue[turn] for turn in range(longest) for queue in shuffled if turn < len(queue)]
    return turns[:count]


def _check(items: Iterable[ConceptItem], concepts: Concepts, cultures: Sequence[str]) -> None:
    listed_items = list(items)
    for item in listed_items:
        if not item.realisation.strip():
            raise InputError(
                "build_images.no_realisation", file=concepts.table.file, row=item.row, column="realisation",
                value=item.id,
            )  # fmt: skip
    for concept in concepts_of(listed_items):
        have = [item.culture for item in listed_items if item.concept == concept]
        missing = [culture for culture in cultures if culture not in have]
        if missing:
            raise InputError(
                "build_images.pair_broken", file=concepts.table.file, value=concept, missing=", ".join(missing)
            )
