"""``voirdire build check``: what a corpus that is being built lacks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from voirdire.construction.build_file import BuildFile, read_build_file
from voirdire.construction.checks import ERROR, Checked, Finding
from voirdire.construction.concepts import read_concepts
from voirdire.construction.history import read_history
from voirdire.construction.overview import check_folder
from voirdire.construction.team import who_rates
from voirdire.corpus.corpus import Note


@dataclass(frozen=True, slots=True)
class BuildChecked:
    """What was found, in which corpus; notes tell what was torn in its history."""

    build: BuildFile
    checked: Checked
    notes: tuple[Note, ...] = ()

    def passed(self, *, strict: bool = False) -> bool:
        """Whether there is no error; with ``strict``, no warning either."""
        return not (self.checked.findings if strict else self.checked.errors)


def build_check(folder: Path | str, *, raters: Any = None, mapping: Mapping[str, str] | None = None) -> BuildChecked:
    """Check the concepts of a folder, how far they are authored, and that the authors do not rate.

    raters : a raters table, a ratings table or a corpus folder in which the authors are looked for
    mapping : our name of its column of raters -> the table's, where it is not recognised

    Raises InputError for files that cannot be read; what they lack is told and not raised.
    """
    build = read_build_file(folder)
    concepts, history = read_concepts(folder), read_history(folder)
    checked = check_folder(folder, build, concepts, history)
    if raters is not None:
        rate = tuple(_rates(build, raters, mapping))
        checked = replace(checked, findings=(*rate, *checked.findings))
    return BuildChecked(build, checked, history.notes)


def _rates(build: BuildFile, raters: Any, mapping: Mapping[str, str] | None) -> list[Finding]:
    found = []
    for one in who_rates(build.authors, raters, mapping):
        where = {"file": one.file, "row": one.row, "column": one.column}
        found.append(Finding("author_rates", ERROR, {**where, "author": one.author, "value": one.value}))
    return found
