"""``voirdire view``: folders and tables become what the reading room shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.analysis.profile import Profile
from voirdire.app.inputs import Listener, find_tables, images_of, judgment_options, option_names, read_inputs
from voirdire.browsing import opening, placing
from voirdire.browsing.compared import Compared, foreign_tables, read_compared
from voirdire.browsing.library import Audit, Library, Names, Run, Shelf
from voirdire.browsing.placing import digests_of
from voirdire.corpus.cells import judge_scales
from voirdire.corpus.corpus import Note
from voirdire.corpus.folder import expand_corpus
from voirdire.corpus.frozen import MANIFEST
from voirdire.corpus.itemtable import read_items
from voirdire.corpus.options import CorpusOptions, JudgmentOptions
from voirdire.corpus.reading import read_judgments
from voirdire.errors import UsageError


def view(folders: Sequence[Path | str] = (), *, told: Listener | None = None, **options: Any) -> Library:
    """Open corpora, runs and audits to be looked at; nothing is written.

    Parameters
    ----------
    folders : corpora, runs, audits, or folders that hold some
    told : called with what was read of every table
    options : ``ratings``, ``items``, ``judgments`` and how tables are read, as for ``audit``

    A run is shown with the corpus that it was made on, and so is an audit; where only the ids of the items fit it
    stands apart, and a note says so. Raises UsageError for a folder that is none of these and InputError for what
    cannot be read.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "items.csv").write_text("item_id,text" + chr(10) + "a,Tea with milk")
    >>> view([folder]).shelves[0].item(1).texts
    {'und': 'Tea with milk'}
    """
    known = {name: value for name, value in options.items() if value is not None}
    paths = [Path(folder) for folder in folders]
    run = known.get("judgments")
    if isinstance(run, str | Path) and opening.kind_of(Path(run)) == "run":
        paths.append(Path(known.pop("judgments")))
    loose = "ratings" in known or "items" in known
    if not paths and not loose:
        raise UsageError("room.nothing_given")
    found = opening.find(paths)
    names = Names(one.folder for one in found)
    shelves = [_corpus(one.folder, known, told, names) for one in found if one.kind == "corpus"]
    if loose and not shelves:
        shelves = [_tables(known, told, names)]
    if "judgments" in known and not any(shelf.corpus for shelf in shelves):
        raise UsageError("room.judgments_unused", file=str(known["judgments"]))
    shelves = _with_tables(shelves, [one.folder for one in found if one.kind == "judgments"], known)
    notes: list[Note] = []
    runs, shelves = _runs([one.folder for one in found if one.kind == "run"], shelves, names, notes)
    _check_scales(shelves, known)
    audits, shelves = _audits([one.folder for one in found if one.kind == "audit"], shelves, names, notes)
    return Library(tuple(shelves), tuple(runs), tuple(audits), tuple(notes))


def _corpus(folder: Path, given: Mapping[str, Any], told: Listener | None, names: Names) -> Shelf:
    """A corpus folder; without ratings its items alone."""
    frozen = (folder / MANIFEST).is_file()
    tables = {} if frozen else find_tables(folder, ("ratings", "items"))
    options = expand_corpus(CorpusOptions(folder, **_reading(given)), rated=False) if frozen else _plain(tables, given)
    title = options.name or names.title(folder)
    if options.ratings is None:
        read = read_items(options, ())
        slug, known = names.shelves(title, "corpus"), digests_of(read.intake)
        return Shelf(slug, title, "corpus", folder, folder, read.frame, digests=known)
    return _rated({**given, "folder": folder}, options, title, folder, told, names)


def _tables(given: Mapping[str, Any], told: Listener | None, names: Names) -> Shelf:
    """Tables that were named one by one."""
    named = Path(given.get("ratings") or given["items"])
    options = _plain({}, given)
    if options.ratings is None:
        title = named.name.split(".")[0]
        slug, read, images = names.shelves(title, "items"), read_items(options, ()), images_of(given)
        return Shelf(slug, title, "corpus", named.parent, images, read.frame, digests=digests_of(read.intake))
    title = str(given.get("name") or named.resolve().parent.name)
    return _rated(dict(given), options, title, named.parent, told, names)


def _rated(
    given: Mapping[str, Any],
    options: CorpusOptions,
    title: str,
    folder: Path,
    told: Listener | None,
    names: Names,
) -> Shelf:
    inputs = read_inputs(given)
    if told is not None:
        told(inputs.told)
    table = read_items(options, ()).frame if options.items is not None else inputs.corpus.items
    judged = () if inputs.judgments is None else (inputs.judgments,)
    slug, images, known = names.shelves(title, "corpus"), images_of(given), digests_of(inputs.corpus.intake)
    return Shelf(
        slug, title, "corpus", folder, images, table, inputs.corpus, inputs.options,
        judged=judged, reading=judgment_options(given), digests=known,
    )  # fmt: skip


def _plain(tables: Mapping[str, Path], given: Mapping[str, Any]) -> CorpusOptions:
    read = _reading(given)
    return CorpusOptions(**{"ratings": None, **tables, **read})


def _reading(given: Mapping[str, Any]) -> dict[str, Any]:
    """How the tables of a corpus are read, of what was given."""
    unknown = [name for name in given if name not in option_names()]
    if unknown:
        raise UsageError("app.option_unknown", option=unknown[0], known=", ".join(option_names()))
    names = {field.name for field in fields(CorpusOptions)}
    return {name: value for name, value in given.items() if name in names}


def _with_tables(shelves: list[Shelf], folders: Sequence[Path], given: Mapping[str, Any]) -> list[Shelf]:
    """Judgments of folders that hold them alone, beside the only corpus. Raises UsageError where it is not known."""
    if not folders:
        return shelves
    rated = [place for place, shelf in enumerate(shelves) if shelf.corpus is not None]
    if len(rated) != 1:
        raise UsageError("room.judgments_of", file=str(folders[0]), count=len(rated))
    shelf = shelves[rated[0]]
    assert shelf.corpus is not None
    read = tuple(read_judgments(judgment_options(given, folder), shelf.corpus) for folder in folders)
    shelves[rated[0]] = replace(shelf, judged=(*shelf.judged, *read))
    return shelves


def _runs(
    folders: Sequence[Path], shelves: list[Shelf], names: Names, notes: list[Note]
) -> tuple[list[Run], list[Shelf]]:
    runs = []
    for folder in folders:
        title = names.title(folder)
        known = placing.of_run(folder, title)
        place, told = known.place(shelves)
        notes += told
        run = Run(names.runs(title, "run"), title, folder)
        if place is None:
            shelves = [*shelves, opening.shelf_of_run(run, known.ids, names.shelves(title, "run"))]
            place = len(shelves) - 1
        else:
            shelves[place] = replace(shelves[place], judged=(*shelves[place].judged, folder))
        runs.append(replace(run, shelf=shelves[place].slug))
    return runs, shelves


def _check_scales(shelves: Sequence[Shelf], given: Mapping[str, Any]) -> None:
    """Raise UsageError for a scale of a judge that no run and no table knows, and for what is no scale."""
    judges = dict.fromkeys(name for shelf in shelves for name in _judges(shelf))
    judge_scales(list(judges), {}, judgment_options(given))


def _judges(shelf: Shelf) -> list[str]:
    """The judges of the runs and tables of a shelf."""
    runs = [name for said in shelf.judged if isinstance(said, Path) for name in opening.judges_of_run(said)]
    tables = [said for said in shelf.judged if not isinstance(said, Path)]
    return [*runs, *(str(name) for said in tables for name in said.judges["judge"])]


def _shows(shelf: Shelf, compared: Compared) -> bool:
    """Whether a shelf has judgments of every judge that an audit compared."""
    return set(compared.judgments["judge"].unique()) <= set(_judges(shelf))


def _judged_by(shelf: Shelf, compared: Compared) -> Shelf:
    """A corpus without judgments of its own, with those that its audit compared: numbers on the questions' scales."""
    if shelf.corpus is None or shelf.corpus.item_scales:
        return shelf
    numeric = [question.id for question in shelf.corpus.questions if not question.scale.labels]
    said = compared.judgments.filter(pl.col("question").is_in(numeric))
    if said.is_empty():
        return shelf
    judgments = read_judgments(JudgmentOptions(said), shelf.corpus)
    return replace(shelf, judged=(replace(judgments, rank_only=judgments.rank_only | compared.rank_only),))


def _compared(folder: Path, profile: Profile) -> Compared | None:
    """The item-level tables of an audit, with what its profile says of their judges."""
    compared = read_compared(folder)
    other = frozenset((str(judge), str(question)) for judge, question in profile.meta.get("rank_only", ()))
    return None if compared is None else replace(compared, rank_only=other)


def _audits(
    folders: Sequence[Path], shelves: list[Shelf], names: Names, notes: list[Note]
) -> tuple[list[Audit], list[Shelf]]:
    audits = []
    for folder in folders:
        title, profile = names.title(folder), Profile.load(folder)
        compared = _compared(folder, profile)
        place, told = placing.of_audit(title, profile.meta, compared).place(shelves)
        notes += [*told, *foreign_tables(folder)]
        images = None if place is None else shelves[place].images
        if place is not None and compared is not None and not shelves[place].judged:
            shelves[place] = _judged_by(shelves[place], compared)
        elif compared is not None and (place is None or not _shows(shelves[place], compared)):
            slug = names.shelves(title, "audit")
            shelves = [*shelves, Shelf(slug, title, "audit", folder, images, compared.items, compared=compared)]
            place = len(shelves) - 1
        shelf = "" if place is None else shelves[place].slug
        audits.append(Audit(names.audits(title, "audit"), title, folder, profile, shelf))
    return audits, shelves
