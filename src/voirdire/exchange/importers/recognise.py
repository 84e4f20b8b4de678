"""Which importer files are for: every importer is asked, and two that say yes are an error."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from voirdire import plugins
from voirdire.corpus.corpus import Note
from voirdire.errors import InputError, UsageError, VoirdireError
from voirdire.exchange.importers import unknown
from voirdire.exchange.importers.contract import NO, Importer, Recognition
from voirdire.texts import has


@dataclass(frozen=True)
class Found:
    """The importer for some files, and the files: of a folder of logs, those in it.

    notes : importers of packages that could not be asked, and what of a folder is read
    """

    importer: Importer
    notes: tuple[Note, ...] = ()
    files: tuple[Path, ...] = ()


def importer(name: str) -> Importer:
    """An importer by its name. Raises UsageError where there is none, or where a package registers something else."""
    known = plugins.available(plugins.IMPORTERS)
    if name not in known:
        near = difflib.get_close_matches(name.casefold(), known, 2)
        key = "importing.format_near" if near else "importing.format_unknown"
        raise UsageError(key, name=name, near=", ".join(near), known=", ".join(sorted(known)))
    found = plugins.load(plugins.IMPORTERS, name)
    if not isinstance(found, Importer):
        raise UsageError("importing.not_an_importer", name=name, target=known[name].value, value=type(found).__name__)
    return found


def recognise(files: Sequence[Path]) -> Found:
    """The importer that says yes to one of the files, when no other does to any.

    Raises InputError that explains files that are missing or empty, nearly of a format, of none, and of two.
    """
    unknown.check_there(files)
    asked, notes = _all()
    answers = {one.name: [(file, _answer(one, file, notes)) for file in files] for one in asked}
    yes = [one for one in asked if any(answer.kind == "yes" for _, answer in answers[one.name])]
    if len(yes) == 1:
        return Found(yes[0], tuple(notes), tuple(files))
    shown = ", ".join(map(str, files))
    if yes:
        raise InputError("importing.two_formats", file=shown, formats=", ".join(sorted(one.name for one in yes)))
    for one in asked:
        _explain_nearly(one, answers[one.name])
    for one in asked:
        inside = gathered(one, files)
        if inside.files != tuple(files):
            return Found(one, (*notes, *inside.notes), inside.files)
    raise unknown.error(files, [one.name for one in asked])


def gathered(one: Importer, files: Sequence[Path]) -> Found:
    """The files, and in the place of a folder those in it that are of the format, where it takes folders apart.

    Raises InputError where none is, and some are nearly of it.
    """
    found: list[Path] = []
    notes: list[Note] = []
    for file in files:
        inside = _inside(one, file) if one.gathers and file.is_dir() else []
        answers = [(path, one.recognise(path)) for path in inside]
        own = [path for path, answer in answers if answer.kind == "yes"]
        if not own:
            _explain_nearly(one, answers)
            found.append(file)
            continue
        found += own
        fields = {"file": str(file), "count": len(own), "others": len(inside) - len(own)}
        notes.append(Note("importing.note.folder", fields, "warning" if fields["others"] else "info"))
    return Found(one, tuple(notes), tuple(found))


def check_named(named: Importer, files: Sequence[Path]) -> None:
    """Raises InputError where files that are said to be of a format are nearly of it, or are of another one."""
    answers = [(file, named.recognise(file)) for file in files]
    if any(answer.kind == "yes" for _, answer in answers):
        return
    _explain_nearly(named, answers)
    others, notes = _all()
    yes = [one.name for one in others for file in files if _answer(one, file, notes).kind == "yes"]
    if yes:
        shown = ", ".join(map(str, files))
        raise InputError("importing.other_format", file=shown, named=named.name, found=", ".join(dict.fromkeys(yes)))


def _inside(one: Importer, folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in one.gathers and path.is_file())


def _all() -> tuple[list[Importer], list[Note]]:
    """Every importer that can be loaded, and a warning for each of another package that cannot.

    Raises what one of voirdire's own raises: then the installation is broken.
    """
    found: list[Importer] = []
    notes: list[Note] = []
    for name in sorted(plugins.available(plugins.IMPORTERS)):
        try:
            found.append(importer(name))
        except Exception as error:
            if _is_own(name):
                raise
            notes.append(_unasked(name, error))
    return found, notes


def _answer(one: Importer, file: Path, notes: list[Note]) -> Recognition:
    """What an importer says of a file. One of another package that fails knows no file, and a note says so."""
    try:
        return one.recognise(file)
    except Exception as error:
        if _is_own(one.name):
            raise
        notes.append(_unasked(one.name, error))
        return NO


def _is_own(name: str) -> bool:
    return name in plugins.BUILT_IN[plugins.IMPORTERS]


def _unasked(name: str, error: Exception) -> Note:
    why = str(error) if isinstance(error, VoirdireError) else f"{type(error).__name__}: {error}"
    return Note("importing.note.unasked", {"name": name, "why": why}, "warning")


def _explain_nearly(one: Importer, answers: Sequence[tuple[Path, Recognition]]) -> None:
    for file, answer in answers:
        if answer.kind == "nearly":
            if has(answer.key):
                raise InputError(answer.key, **{"file": str(file), **answer.fields})
            raise InputError("importing.nearly", file=str(file), name=one.name, why=answer.key)
