"""Which importer files are for: every importer is asked, and two that say yes are an error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from voirdire import plugins
from voirdire.corpus.corpus import Note
from voirdire.errors import InputError, UsageError
from voirdire.exchange.importers.contract import Importer, Recognition
from voirdire.texts import has


@dataclass(frozen=True)
class Found:
    """The importer for some files; ``notes`` name importers of packages that could not be asked."""

    importer: Importer
    notes: tuple[Note, ...] = ()


def importer(name: str) -> Importer:
    """An importer by its name. Raises UsageError where there is none, or where a package registers something else."""
    found = plugins.load(plugins.IMPORTERS, name)
    if not isinstance(found, Importer):
        target = plugins.available(plugins.IMPORTERS)[name].value
        raise UsageError("importing.not_an_importer", name=name, target=target, value=type(found).__name__)
    return found


def recognise(files: Sequence[Path]) -> Found:
    """The importer that says yes to one of the files, when no other does to any.

    Raises InputError that explains files that are nearly of a format, that are of none, and that are of two.
    """
    asked, notes = _all()
    answers = {one.name: [(file, one.recognise(file)) for file in files] for one in asked}
    yes = [one for one in asked if any(answer.kind == "yes" for _, answer in answers[one.name])]
    if len(yes) == 1:
        return Found(yes[0], tuple(notes))
    shown = ", ".join(map(str, files))
    if yes:
        raise InputError("importing.two_formats", file=shown, formats=", ".join(sorted(one.name for one in yes)))
    for one in asked:
        _explain_nearly(one, answers[one.name])
    raise InputError("importing.unknown_format", file=shown, known=", ".join(sorted(one.name for one in asked)))


def check_named(named: Importer, files: Sequence[Path]) -> None:
    """Raises InputError where files that are said to be of a format are nearly of it, or are of another one."""
    answers = [(file, named.recognise(file)) for file in files]
    if any(answer.kind == "yes" for _, answer in answers):
        return
    _explain_nearly(named, answers)
    others, _ = _all()
    yes = [one.name for one in others for file in files if one.recognise(file).kind == "yes"]
    if yes:
        shown = ", ".join(map(str, files))
        raise InputError("importing.other_format", file=shown, named=named.name, found=", ".join(dict.fromkeys(yes)))


def _all() -> tuple[list[Importer], list[Note]]:
    """Every importer that can be loaded, and a warning for each that cannot."""
    found: list[Importer] = []
    notes: list[Note] = []
    for name in sorted(plugins.available(plugins.IMPORTERS)):
        try:
            found.append(importer(name))
        except UsageError as error:
            notes.append(Note("importing.note.unasked", {"name": name, "why": str(error)}, "warning"))
    return found, notes


def _explain_nearly(one: Importer, answers: Sequence[tuple[Path, Recognition]]) -> None:
    for file, answer in answers:
        if answer.kind == "nearly":
            if has(answer.key):
                raise InputError(answer.key, **{"file": str(file), **answer.fields})
            raise InputError("importing.nearly", file=str(file), name=one.name, why=answer.key)
