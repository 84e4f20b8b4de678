"""``voirdire import``: a release, or another tool's files, as a corpus folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from voirdire import plugins
from voirdire.corpus.corpus import Note
from voirdire.errors import UsageError, VoirdireError
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.contract import KEEP_IDS, Importer, ImportOptions
from voirdire.exchange.importers.recognise import check_named, gathered, importer, recognise
from voirdire.exchange.importers.tables import finish, read_back, rows_of, write
from voirdire.exchange.importers.told import says_scale, with_scale
from voirdire.exchange.importers.unreadable import NothingTakenError, reworded
from voirdire.exchange.new_folder import new_folder

NAMES = ("items", "questions", "raters", "ratings", "shares", "comments", "judgments", "judges", "conditions")


@dataclass(frozen=True)
class Imported:
    """A corpus folder that was written: its files, and what was taken into it.

    account : the reckoning of answers; None for a release, which is taken back unchanged
    rows : table -> its rows; recognised : whether the format was found, not named
    """

    folder: Path
    files: tuple[str, ...]
    importer: Importer
    recognised: bool = False
    account: Account | None = None
    rows: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    @property
    def tables(self) -> tuple[str, ...]:
        """The files that are tables."""
        return tuple(name for name in self.files if Path(name).name.split(".")[0] in NAMES and not self._is_image(name))

    @property
    def images(self) -> tuple[str, ...]:
        """The files below ``images/``."""
        return tuple(name for name in self.files if self._is_image(name))

    @staticmethod
    def _is_image(name: str) -> bool:
        return name.startswith("images/")


def named_format(words: Sequence[str]) -> tuple[str | None, tuple[Path, ...]]:
    """The words behind ``voirdire import`` as a format, or None, and files: the first may name a format.

    >>> named_format(["hf", "release"]), named_format(["export.json"])
    (('hf', (PosixPath('release'),)), (None, (PosixPath('export.json'),)))
    """
    known = plugins.available(plugins.IMPORTERS)
    first, rest = words[0], words[1:]
    if rest and first in known:
        return first, tuple(map(Path, rest))
    if first in known and not Path(first).exists():
        raise UsageError("importing.no_file", form=first)
    if rest and not Path(first).suffix and not Path(first).exists():
        importer(first)
    return None, tuple(map(Path, words))


def take_in(form: str | None, files: Sequence[Path], out: Path, options: ImportOptions | None = None) -> Imported:
    """Write a corpus folder from files of a form; it is there whole or not at all.

    form : the name of an importer: ``labelstudio``, ``csv`` (a release), or one that a package registers; None to find
        it from the files
    out : a folder that is not there yet, or is empty

    Raises InputError for files that are not of the form, broken, or not as they were released, and UsageError for an
    unknown form, an option that the form does not have, and a folder that holds files.
    """
    options = options or ImportOptions()
    found = recognise(files) if form is None else gathered(importer(form), files)
    chosen = found.importer
    check_options(chosen, options)
    if form is not None and chosen.side != "release" and not (options.mapping or set(options.settings) - {KEEP_IDS}):
        check_named(chosen, found.files)
    if chosen.take_back is not None:
        with new_folder(out) as folder:
            chosen.take_back(found.files, folder)
        return Imported(out, _files(out), chosen, form is None, notes=found.notes)
    try:
        made = _written(chosen, found.files, out, options)
    except VoirdireError as error:
        told = reworded(error)
        if told is error:
            raise
        raise told from error
    return replace(made, recognised=form is None, notes=(*found.notes, *made.notes))


def check_options(chosen: Importer, options: ImportOptions) -> None:
    """Raises UsageError for an option that the format does not have, and for two that exclude each other."""
    given = {
        "--set": (options.settings, {**chosen.settings, KEEP_IDS: ""}),
        "--map": (options.mapping, chosen.maps),
        "--keep": (options.keep, chosen.keeps),
    }
    for option, (names, known) in given.items():
        wrong = next((name for name in names if name not in known or chosen.side == "release"), None)
        if wrong is not None:
            shown = "-" if chosen.side == "release" else ", ".join(known) or "-"
            raise UsageError("importing.option_unknown", option=option, name=wrong, form=chosen.name, known=shown)
    pools = [bool(options.pools), options.pool_column is not None, options.pool is not None]
    if sum(pools) > 1:
        raise UsageError("importing.pools_twice")
    if options.rater_key is not None and options.raters is None:
        raise UsageError("importing.key_alone")
    if chosen.side == "judgments" and (any(pools) or options.raters is not None):
        raise UsageError("importing.judged_options", form=chosen.name)
    if chosen.side == "judgments" and says_scale(options):
        raise UsageError("importing.judged_scale", form=chosen.name)
    if chosen.side == "release" and options != ImportOptions():
        raise UsageError("importing.release_options", form=chosen.name)


def _written(chosen: Importer, files: Sequence[Path], out: Path, options: ImportOptions) -> Imported:
    account = Account(skip_broken=options.skip_broken)
    if chosen.read is None:
        raise TypeError(chosen.name)
    with new_folder(out) as folder:
        tables = chosen.read(tuple(files), options, account)
        if not account.balanced:
            left = dict(account.counts)
            raise AssertionError(f"{chosen.name}: {account.answers} read, {account.taken} taken, {left} left")  # noqa: TRY003
        if not account.taken and all(table is None or table.is_empty() for table in (tables.ratings, tables.judgments)):
            raise NothingTakenError.of(", ".join(map(str, files)), account)
        done = finish(with_scale(tables, options), options, out.resolve().name)
        write(done, folder)
        notes = (*done.notes, *read_back(folder, out))
    return Imported(out, _files(out), chosen, account=account, rows=rows_of(done.tables), notes=notes)


def _files(out: Path) -> tuple[str, ...]:
    return tuple(sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()))
