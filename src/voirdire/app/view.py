"""``voirdire view``: folders and tables become what the reading room shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
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
    opened = _Opened(known, told, Names(one.folder for one in found))
    for folder in _of_kind(found, "corpus"):
        opened.add_corpus(folder)
    if loose and not opened.shelves:
        opened.add_tables()
    opened.add_judgments(_of_kind(found, "judgments"))
    for folder in _of_kind(found, "run"):
        opened.add_run(folder)
    opened.check_scales()
    for folder in _of_kind(found, "audit"):
        opened.add_audit(folder)
    return Library(tuple(opened.shelves), tuple(opened.runs), tuple(opened.audits), tuple(opened.notes))


def _of_kind(found: Sequence[opening.Found], kind: str) -> list[Path]:
    return [one.folder for one in found if one.kind == kind]


@dataclass
class _Opened:
    """What is open so far: corpora come first, then the runs and the audits that are placed on them.

    given : the options that were given; told : called with what was read of every table
    """

    given: Mapping[str, Any]
    told: Listener | None
    names: Names
    shelves: list[Shelf] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    audits: list[Audit] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def add_corpus(self, folder: Path) -> None:
        """A corpus folder; without ratings its items alone."""
        frozen = (folder / MANIFEST).is_file()
        tables = {} if frozen else find_tables(folder, ("ratings", "items"))
        reading = _reading(self.given)
        options = expand_corpus(CorpusOptions(folder, **reading), rated=False) if frozen else _plain(tables, reading)
        title = options.name or self.names.title(folder)
        if options.ratings is None:
            self._add_items(options, title, "corpus", folder, folder)
        else:
            self._add_rated({**self.given, "folder": folder}, options, title, folder)

    def add_tables(self) -> None:
        """Tables that were named one by one."""
        named = Path(self.given.get("ratings") or self.given["items"])
        options = _plain({}, _reading(self.given))
        if options.ratings is None:
            self._add_items(options, named.name.split(".")[0], "items", named.parent, images_of(self.given))
        else:
            title = str(self.given.get("name") or named.resolve().parent.name)
            self._add_rated(self.given, options, title, named.parent)

    def _add_items(self, options: CorpusOptions, title: str, named: str, folder: Path, images: Path | None) -> None:
        read = read_items(options, ())
        slug, known = self.names.shelves(title, named), digests_of(read.intake)
        self.shelves.append(Shelf(slug, title, "corpus", folder, images, read.frame, digests=known))

    def _add_rated(self, given: Mapping[str, Any], options: CorpusOptions, title: str, folder: Path) -> None:
        inputs = read_inputs(given)
        if self.told is not None:
            self.told(inputs.told)
        table = read_items(options, ()).frame if options.items is not None else inputs.corpus.items
        judged = () if inputs.judgments is None else (inputs.judgments,)
        slug, known = self.names.shelves(title, "corpus"), digests_of(inputs.corpus.intake)
        shelf = Shelf(
            slug, title, "corpus", folder, images_of(given), table, inputs.corpus, inputs.options,
            judged=judged, reading=judgment_options(given), digests=known,
        )  # fmt: skip
        self.shelves.append(shelf)

    def add_judgments(self, folders: Sequence[Path]) -> None:
        """Judgments of folders that hold them alone, beside the only corpus.

        Raises UsageError where no corpus can show judgments, or it is not known which.
        """
        rated = [place for place, shelf in enumerate(self.shelves) if shelf.corpus is not None]
        if "judgments" in self.given and not rated:
            raise UsageError("room.judgments_unused", file=str(self.given["judgments"]))
        if folders and len(rated) != 1:
            raise UsageError("room.judgments_of", file=str(folders[0]), count=len(rated))
        for folder in folders:
            shelf = self.shelves[rated[0]]
            assert shelf.corpus is not None
            read = read_judgments(judgment_options(self.given, folder), shelf.corpus)
            self.shelves[rated[0]] = replace(shelf, judged=(*shelf.judged, read))

    def add_run(self, folder: Path) -> None:
        """A run, beside its corpus or on a shelf of its own."""
        title = self.names.title(folder)
        known = placing.of_run(folder, title)
        place, told = known.place(self.shelves)
        self.notes += told
        run = Run(self.names.runs(title, "run"), title, folder)
        if place is None:
            place = len(self.shelves)
            self.shelves.append(opening.shelf_of_run(run, known.ids, self.names.shelves(title, "run")))
        else:
            self.shelves[place] = replace(self.shelves[place], judged=(*self.shelves[place].judged, folder))
        self.runs.append(replace(run, shelf=self.shelves[place].slug))

    def check_scales(self) -> None:
        """Raise UsageError for a scale of a judge that no run and no table knows, and for what is no scale."""
        judges = dict.fromkeys(name for shelf in self.shelves for name in _judges(shelf))
        judge_scales(list(judges), {}, judgment_options(self.given))

    def add_audit(self, folder: Path) -> None:
        """An audit, beside its corpus; on a shelf of its own where there is none, or where it compared other judges."""
        title, profile = self.names.title(folder), Profile.load(folder)
        compared = _compared(folder, profile)
        place, told = placing.of_audit(title, profile.meta, compared).place(self.shelves)
        self.notes += [*told, *foreign_tables(folder)]
        images = None if place is None else self.shelves[place].images
        if place is not None and compared is not None and not self.shelves[place].judged:
            self.shelves[place] = _judged_by(self.shelves[place], compared)
        elif compared is not None and (place is None or not _shows(self.shelves[place], compared)):
            slug, place = self.names.shelves(title, "audit"), len(self.shelves)
            self.shelves.append(Shelf(slug, title, "audit", folder, images, compared.items, compared=compared))
        shelf = "" if place is None else self.shelves[place].slug
        self.audits.append(Audit(self.names.audits(title, "audit"), title, folder, profile, shelf))


def _plain(tables: Mapping[str, Path], reading: Mapping[str, Any]) -> CorpusOptions:
    return CorpusOptions(**{"ratings": None, **tables, **reading})


def _reading(given: Mapping[str, Any]) -> dict[str, Any]:
    """How the tables of a corpus are read, of what was given."""
    unknown = [name for name in given if name not in option_names()]
    if unknown:
        raise UsageError("app.option_unknown", option=unknown[0], known=", ".join(option_names()))
    names = {one.name for one in fields(CorpusOptions)}
    return {name: value for name, value in given.items() if name in names}


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
