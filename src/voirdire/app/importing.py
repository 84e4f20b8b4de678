"""``voirdire import``: a release, or another tool's files, as a corpus folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from voirdire import plugins
from voirdire.exchange.new_folder import new_folder

NAMES = ("items", "questions", "raters", "ratings", "shares", "comments", "judgments", "judges", "conditions")


@dataclass(frozen=True)
class Imported:
    """A corpus folder that was written: its files, the tables among them, and its images."""

    folder: Path
    files: tuple[str, ...]

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


def take_in(form: str, files: Sequence[Path], out: Path) -> Imported:
    """Write a corpus folder from files of a form; it is there whole or not at all.

    form : the name of an importer: ``csv``, ``parquet``, ``hf``, ``croissant``, or one that a package registers

    Raises InputError for files that are not of the form or not as they were released, and UsageError for an unknown
    form and a folder that holds files.
    """
    read = plugins.load(plugins.IMPORTERS, form)
    with new_folder(out) as folder:
        read(tuple(files), folder)
    found = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    return Imported(out, tuple(found))
