"""``voirdire build freeze``: from a folder that is being built to a frozen, documented corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.construction.build_file import BUILD_FILE, BuildFile, read_build_file
from voirdire.construction.concepts import CONCEPTS_FILE, Concepts, read_concepts
from voirdire.construction.freezing.failures import Failure, check_allowed, open_failures, used
from voirdire.construction.freezing.folder import held_folder, only_freeze
from voirdire.construction.freezing.inspecting import Inspected, inspect
from voirdire.construction.freezing.validity import USUAL, Validity, validity_of
from voirdire.construction.freezing.versions import Release, begun, check_version, releases, settle
from voirdire.construction.history import History, open_history
from voirdire.construction.imaging.settings import GENERATED
from voirdire.construction.regimes import check_regimes
from voirdire.corpus.corpus import Note
from voirdire.corpus.equivalence import equivalence_notes
from voirdire.corpus.frozen import file_digest
from voirdire.corpus.options import CorpusOptions
from voirdire.errors import UsageError, VoirdireError

if TYPE_CHECKING:
    from voirdire.analysis.profile import Profile

Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class FreezeOptions:
    """What may be said of a freeze, besides its folders.

    ratings : a table, or a corpus folder; tables : how they are read, by the names of CorpusOptions
    version : instead of that of build.toml; change : what changed since the last version
    allowed : check -> the reason why it may fail; regime : whose images are frozen, as for
        ``build_items``; lang : of report and changelog
    analysis : options of the validity argument, by the names of AuditOptions
    """

    ratings: Any
    version: str | None = None
    change: str = ""
    allowed: Mapping[str, str] = field(default_factory=dict)
    regime: str | Sequence[str] = GENERATED
    lang: str = "en"
    tables: Mapping[str, Any] = field(default_factory=dict)
    analysis: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BuildFrozen:
    """A corpus that was frozen, or the reasons why it was not.

    out : the folder; digest : empty where it was refused
    failures : that are not allowed; allowed : (check, reason) of checks that failed and were allowed
    unused : checks that were allowed and did not fail
    """

    out: Path
    version: str
    digest: str
    validity: Validity
    failures: tuple[Failure, ...] = ()
    allowed: tuple[tuple[str, str], ...] = ()
    unused: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    @property
    def done(self) -> bool:
        """Whether the corpus was frozen."""
        return bool(self.digest)


@dataclass(frozen=True, slots=True)
class _Read:
    """A folder as it was when the freeze began; regimes : whose images are frozen, the main one first."""

    folder: Path
    regimes: tuple[str, ...]
    build: BuildFile
    concepts: Concepts
    history: History
    inspected: Inspected
    marks: tuple[str, ...]


def build_freeze(
    folder: Path | str, out: Path | str, *, ratings: Any, progress: Progress | None = None, **options: Any
) -> BuildFrozen:
    """Make every check on a folder, and write the frozen corpus where none fails that was not allowed.

    ratings : of the pools, a table or a corpus folder; options : further fields of FreezeOptions
    progress : called with a stage and the share done

    The corpus is there whole or not at all. Raises InputError for files that cannot be read, UsageError for a version
    that is not higher than the last, a change that nobody describes, a check that cannot be allowed, and a folder that
    holds files.
    """
    said = FreezeOptions(ratings, **options)
    allowed, regimes = check_allowed(said.allowed), check_regimes(said.regime)
    place, target = Path(folder), Path(out)
    build = read_build_file(place)
    version = said.version or build.version
    with only_freeze(place):
        with open_history(place) as book:
            settled = settle(book)
            check_version(version, said.change, releases(book.history))
        read = _read(place, build, regimes)
        if not read.inspected.items:
            failures = open_failures(read.inspected.failures, {})
            return BuildFrozen(target, version, "", Validity(""), failures, notes=(*settled, *read.history.notes))
        with held_folder(target, place) as held, _named(held, target):
            made = _frozen(read, replace(said, version=version, allowed=allowed), held, target, progress)
            return replace(made, notes=(*settled, *made.notes))


def _read(folder: Path, build: BuildFile, regimes: tuple[str, ...]) -> _Read:
    with open_history(folder) as book:
        concepts, history = read_concepts(folder), book.history
    inspected = inspect(folder, build, concepts, history, regimes)
    return _Read(folder, regimes, build, concepts, history, inspected, _marks(folder))


def _marks(folder: Path) -> tuple[str, ...]:
    return tuple(file_digest(folder / name) for name in (BUILD_FILE, CONCEPTS_FILE))


def _frozen(read: _Read, said: FreezeOptions, held: Path, target: Path, progress: Progress | None) -> BuildFrozen:
    from voirdire.app.freeze_folder import finish, write_tables

    tables = {"questions": _questions(read.folder, said), **said.tables}
    options = CorpusOptions(said.ratings, **tables)
    written = write_tables(read.build, read.concepts, read.history, read.inspected, options, held, read.regimes)
    profile = _evaluated(held, said, progress, read.regimes)
    threshold = float(said.analysis.get("gate_reliability") or USUAL)
    main = read.regimes[0] if read.regimes[1:] else ""
    validity = replace(validity_of(profile), regime=main, threshold=threshold)
    failures = (*read.inspected.failures, *written.failures, *validity.failures())
    allowed = used(failures, said.allowed)
    version = said.version or read.build.version
    made = BuildFrozen(
        target,
        version,
        "",
        validity,
        open_failures(failures, said.allowed),
        allowed,
        tuple(check for check in said.allowed if check not in dict(allowed)),
        written.counts,
        (*read.history.notes, *written.notes, *equivalence_notes(read.inspected.equivalence)),
    )
    if made.failures:
        return made
    release = Release(version, "", "", said.change, str(target.resolve()), {}, dict(allowed), written.counts)
    release = finish(written, release, (validity, profile), read.history, held, said.lang)
    _publish(read, release, held, target)
    return replace(made, digest=release.digest)


def _questions(folder: Path, said: FreezeOptions) -> Path | None:
    """``questions.csv`` of the folder, where the ratings are a table and no other is named."""
    file = folder / "questions.csv"
    beside = isinstance(said.ratings, str | Path) and Path(said.ratings).is_dir()
    return file if file.is_file() and not beside else None


def _evaluated(held: Path, said: FreezeOptions, progress: Progress | None, regimes: tuple[str, ...]) -> Profile:
    """The pools by the images of the main regime alone: a second image of an item is no further item of its concept."""
    from voirdire.app.audit import evaluate_inputs
    from voirdire.app.inputs import read_inputs

    aside = {"exclude_items": (f"regime != '{regimes[0]}'",)} if regimes[1:] else {}
    return evaluate_inputs(read_inputs({"folder": held, **said.analysis, **aside}, judged=False), progress, None)


def _publish(read: _Read, release: Release, held: Path, target: Path) -> None:
    """Move the folder to its place and write it down; refused where the corpus was changed meanwhile."""
    from voirdire.construction.freezing.folder import put_in_place

    with open_history(read.folder) as book:
        if len(book.history.events) != len(read.history.events) or _marks(read.folder) != read.marks:
            raise UsageError("freeze.out.moved", file=str(read.folder))
        with begun(book, release):
            put_in_place(held, target)


@contextmanager
def _named(held: Path, target: Path) -> Iterator[None]:
    """Errors name the folder that was asked for, not the one beside it that is being written."""
    try:
        yield
    except VoirdireError as error:
        names = {
            name: value.replace(str(held), str(target)) if isinstance(value, str) else value
            for name, value in error.fields.items()
        }
        if names == error.fields:
            raise
        raise type(error)(error.key, **names) from error
