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
from voirdire.browsing.library import Audit, Library, Run, Shelf, Slugs
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
    found, slugs = opening.find(paths), Slugs()
    shelves = [_corpus(one.folder, known, told, slugs) for one in found if one.kind == "corpus"]
    if loose and not shelves:
        shelves = [_tables(known, told, slugs)]
    shelves = _with_tables(shelves, [one.folder for one in found if one.kind == "judgments"], known)
    notes: list[Note] = []
    runs, shelves = _runs([one.folder for one in found if one.kind == "run"], shelves, slugs, notes)
    _check_scales(runs, shelves, known)
    audits, shelves = _audits([one.folder for one in found if one.kind == "audit"], shelves, slugs, notes)
    return Library(tuple(shelves), tuple(runs), tuple(audits), tuple(notes))


def _corpus(folder: Path, given: Mapping[str, Any], told: Listener | None, slugs: Slugs) -> Shelf:
    """A corpus folder; without ratings its items alone."""
    frozen = (folder / MANIFEST).is_file()
    tables = {} if frozen else find_tables(folder, ("ratings", "items"))
    options = expand_corpus(CorpusOptions(folder, **_reading(given)), rated=False) if frozen else _plain(tables, given)
    title = options.name or folder.resolve().name
    if options.ratings is None:
        read = read_items(options, ())
        known = digests_of(read.intake)
        return Shelf(slugs(title, "corpus"), title, "corpus", folder, folder, read.frame, digests=known)
    return _rated({**given, "folder": folder}, options, title, folder, told, slugs)


def _tables(given: Mapping[str, Any], told: Listener | None, slugs: Slugs) -> Shelf:
    """Tables that were named one by one."""
    named = Path(given.get("ratings") or given["items"])
    options = _plain({}, given)
    if options.ratings is None:
        title = named.name.split(".")[0]
        slug, read, images = slugs(title, "items"), read_items(options, ()), images_of(given)
        return Shelf(slug, title, "corpus", named.parent, images, read.frame, digests=digests_of(read.intake))
    title = str(given.get("name") or named.resolve().parent.name)
    return _rated(dict(given), options, title, named.parent, told, slugs)


def _rated(
    given: Mapping[str, Any],
    options: CorpusOptions,
    title: str,
    folder: Path,
    told: Listener | None,
    slugs: Slugs,
) -> Shelf:
    inputs = read_inputs(given)
    if told is not None:
        told(inputs.told)
    table = read_items(options, ()).frame if options.items is not None else inputs.corpus.items
    judged = () if inputs.judgments is None else (inputs.judgments,)
    slug, images, known = slugs(title, "corpus"), images_of(given), digests_of(inputs.corpus.intake)
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
    folders: Sequence[Path], shelves: list[Shelf], slugs: Slugs, notes: list[Note]
) -> tuple[list[Run], list[Shelf]]:
    runs = []
    for folder in folders:
        title = folder.resolve().name
        known = placing.of_run(folder, title)
        place, told = known.place(shelves)
        notes += told
        run = Run(slugs(title, "run"), title, folder)
        if place is None:
            shelves = [*shelves, opening.shelf_of_run(run, known.ids, slugs)]
            place = len(shelves) - 1
        else:
            shelves[place] = replace(shelves[place], judged=(*shelves[place].judged, folder))
        runs.append(replace(run, shelf=shelves[place].slug))
    return runs, shelves


def _check_scales(runs: Sequence[Run], shelves: Sequence[Shelf], given: Mapping[str, Any]) -> None:
    """Raise UsageError for a scale of a judge that no run and no table knows, and for what is no scale."""
    judges = [name for run in runs for name in opening.judges_of_run(run.folder)]
    tables = [said for shelf in shelves for said in shelf.judged if not isinstance(said, Path)]
    judges += [str(name) for said in tables for name in said.judges["judge"]]
    judge_scales(list(dict.fromkeys(judges)), {}, judgment_options(given))


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
    folders: Sequence[Path], shelves: list[Shelf], slugs: Slugs, notes: list[Note]
) -> tuple[list[Audit], list[Shelf]]:
    audits = []
    for folder in folders:
        title = folder.resolve().name
        profile = Profile.load(folder)
        compared = _compared(folder, profile)
        slug = slugs(title, "audit")
        place, told = placing.of_audit(title, profile.meta, compared).place(shelves)
        notes += [*told, *foreign_tables(folder)]
        if place is None and compared is not None:
            shelves = [
                *shelves,
                Shelf(slugs(title), title, "audit", folder, None, compared.items, compared=compared),
            ]
            place = len(shelves) - 1
        elif place is not None and compared is not None and not shelves[place].judged:
            shelves[place] = _judged_by(shelves[place], compared)
        audits.append(Audit(slug, title, folder, profile, "" if place is None else shelves[place].slug))
    return audits, shelves
