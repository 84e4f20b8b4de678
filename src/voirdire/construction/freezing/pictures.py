"""The checks on what raters see: the images of every regime that is frozen, with whole pairs; none for texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.construction.build_file import BuildFile
from voirdire.construction.concepts import ConceptItem
from voirdire.construction.freezing.failures import Failure, some
from voirdire.construction.imaging.checking import UNMADE, Checked, check_images
from voirdire.construction.imaging.files import RUN
from voirdire.construction.imaging.logbook import Logged, current, read_log
from voirdire.construction.imaging.settings import (
    CATALOGUED,
    TEXT,
    ImageSettings,
    check_settings,
    overruled,
    read_settings,
    worded,
)
from voirdire.construction.regimes import Entry, entries_of

LOST = (*UNMADE, "missing", "broken", "changed", "stray")
"""Problems of an image without which there is none to freeze."""


@dataclass(frozen=True, slots=True)
class Pictures:
    """What raters see of the items.

    entries : an item for each image, or for each realisation where there are no images
    files : id of an entry -> file and sha256, of the images that can be read
    """

    entries: tuple[Entry, ...]
    files: Mapping[str, tuple[Path, str]] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()


def inspect_pictures(folder: Path, build: BuildFile, items: Sequence[ConceptItem], regimes: Sequence[str]) -> Pictures:
    """Look at the images of every regime.

    The main regime, the first, has an image of every item. A further one may have some of the concepts, with all
    their members. ``text`` has none, and nothing is looked at. Raises UsageError where two items would have one id.
    """
    if TEXT in regimes:
        return Pictures(entries_of(items, regimes, {}))
    log = read_log(folder) if (folder / RUN).is_dir() else []
    ids = {item.id for item in items}
    logged = {regime: {name: row for name, row in current(log, regime).items() if name in ids} for regime in regimes}
    entries = entries_of(items, regimes, logged)
    looked = {regime: _look(folder, build, items, regime, logged[regime]) for regime in regimes}
    failures = [
        *_incomplete(items, regimes, logged),
        *(one for checked in looked.values() for one in _problems(checked)),
    ]
    files: dict[str, tuple[Path, str]] = {}
    for one in entries:
        checked = looked[one.regime]
        if checked is not None and one.item.id in checked.looks:
            file = folder / checked.rows[one.item.id].facts["file"]
            files[one.id] = (file, checked.looks[one.item.id].sha256)
    return Pictures(entries, files, (*failures, *_same(entries, files)))


def _incomplete(
    items: Sequence[ConceptItem], regimes: Sequence[str], logged: Mapping[str, Mapping[str, Logged]]
) -> Iterator[Failure]:
    main, *further = regimes
    lacking = [item.id for item in items if item.id not in logged[main]]
    if lacking:
        fields = {"regime": main, "count": len(lacking), "items": some(lacking)}
        yield Failure("images", "freeze.reason.no_image", fields)
    for regime in further:
        if not logged[regime]:
            yield Failure("images", "regimes.reason.none", {"regime": regime})
        begun = {item.concept for item in items if item.id in logged[regime]}
        lacking = [item.id for item in items if item.concept in begun and item.id not in logged[regime]]
        if lacking:
            fields = {"regime": regime, "count": len(lacking), "items": some(lacking)}
            yield Failure("images", "regimes.reason.broken_pair", fields)


def _look(
    folder: Path, build: BuildFile, items: Sequence[ConceptItem], regime: str, rows: Mapping[str, Logged]
) -> Checked | None:
    """What is found in the images of a regime, None where it has none."""
    if not rows:
        return None
    known = {item.id: item for item in items}
    settings = _settings(build, regime, next(iter(rows.values())).facts)
    drawn = settings.source is None
    asked = {name: worded(settings.template, known[name]) for name in rows} if drawn else {}
    return check_images(folder, rows, settings, asked)


def _settings(build: BuildFile, regime: str, facts: Mapping[str, Any]) -> ImageSettings:
    """What the images of a regime were asked for by, as ``build.toml`` and their log say."""
    if facts["provider"] == "folder":
        return overruled(ImageSettings(), provider="folder", regime=regime, source=Path(build.file).parent)
    known = {catalogued: provider for provider, catalogued in CATALOGUED.items()}
    made = {"provider": known.get(facts["provider"]), "model": facts["model"]}
    return check_settings(overruled(read_settings(build), regime=regime, **made), build.file)


def _problems(checked: Checked | None) -> list[Failure]:
    return [
        Failure(
            "images" if problem.kind in LOST else "image_quality",
            f"build_images.problem.{problem.kind}",
            {"items": some(problem.items), **problem.fields},
        )
        for problem in (checked.problems if checked is not None else ())
    ]


def _same(entries: Sequence[Entry], files: Mapping[str, tuple[Path, str]]) -> Iterator[Failure]:
    """Files that stand in two regimes; what is nearly alike within one is found there."""
    first: dict[str, Entry] = {}
    for one in entries:
        if one.id in files:
            other = first.setdefault(files[one.id][1], one)
            if other.regime != one.regime:
                yield Failure("image_quality", "regimes.reason.same_image", {"items": f"{other.id}, {one.id}"})
