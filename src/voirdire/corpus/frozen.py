"""A frozen corpus: a version of a corpus whose every file is known again by its digest.

``corpus.toml`` of such a folder has ``[frozen]`` (version, digest, what is shown to judges) and ``[digests]``, the
sha256 of every file. A folder without ``[frozen]`` is no frozen corpus, and nothing here concerns it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from voirdire.corpus.corpus import Note
from voirdire.corpus.image_paths import stays_inside
from voirdire.errors import InputError

MANIFEST, FROZEN, DIGESTS, ALLOWED = "corpus.toml", "frozen", "digests", "allowed"
ORIGIN, RELEASED_IMAGES = "origin", "images"
"""What a release says of the frozen corpus that it was made of, and the digests of its images."""

CHANGED_ITEMS = "changed"
"""What an export of ratings says of items that were changed while they were rated: id -> columns."""

TABLES = ("items", "questions", "raters", "ratings", "shares")
READ = (*TABLES, "comments")
"""Names of tables that would be read, or released, if they were put beside."""

PREFIX = "sha256:"


@dataclass(frozen=True, slots=True)
class Frozen:
    """What identifies a frozen corpus.

    digest : of everything that ``corpus.toml`` says, the digests of all files among it
    shown : of what judges are shown: items, questions, images, and the consensus on demonstrations
    material : the same without the images' bytes, as a run computes it
    allowed : checks that failed and were allowed, with the reason
    """

    name: str
    version: str
    digest: str
    shown: str = ""
    material: str = ""
    allowed: tuple[tuple[str, str], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As it stands in profiles and in ``run.toml``."""
        return {"name": self.name, "version": self.version, "frozen": self.digest, "shown": self.shown}

    def notes(self) -> tuple[Note, ...]:
        """Which version is read, and what was allowed in it."""
        version = Note("freeze.file.version", {"name": self.name, "version": self.version, "digest": self.digest[:12]})
        return (version, *allowed_notes(self.allowed))


def allowed_notes(allowed: Iterable[tuple[str, str]]) -> tuple[Note, ...]:
    """A warning for each check that failed and was allowed."""
    return tuple(Note("freeze.file.allowed", {"check": check, "reason": why}, "warning") for check, why in allowed)


def frozen_of(folder: Path, settings: Mapping[str, Any]) -> Frozen | None:
    """The frozen corpus of a folder, or that which a release was made of; None where it is neither.

    settings : of its ``corpus.toml``

    Raises InputError, naming the file, where a file is gone, has changed, or was put beside.
    """
    told = settings.get(FROZEN, settings.get(ORIGIN))
    if told is None:
        return None
    file = str(folder / MANIFEST)
    released, digests = settings.get(RELEASED_IMAGES, {}), settings.get(DIGESTS)
    if not (isinstance(told, Mapping) and isinstance(digests, Mapping) and isinstance(released, Mapping)):
        raise InputError("freeze.file.broken", file=file)
    version, digest = str(told.get("version", "")), str(told.get("digest", ""))
    if FROZEN in settings and digest != digest_of_settings(settings):
        raise InputError("freeze.file.manifest", file=file, version=version)
    _check_files(folder, {**digests, **(released if FROZEN not in settings else {})}, version)
    name, shown = str(settings.get("name", "")), str(told.get("shown", ""))
    return Frozen(name, version, digest, shown, str(told.get("material", "")), allowed_in(settings))


def allowed_in(settings: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """(check, reason) of ``[[allowed]]`` in ``corpus.toml``; what is of another form is passed over.

    >>> allowed_in({"allowed": [{"check": "texts", "reason": "one language"}, 3]})
    (('texts', 'one language'),)
    """
    told = settings.get(ALLOWED, [])
    rows = [one for one in told if isinstance(one, Mapping)] if isinstance(told, list) else []
    return tuple((str(one.get("check", "")), str(one.get("reason", ""))) for one in rows)


def digest_of_settings(settings: Mapping[str, Any]) -> str:
    """sha256 over all entries of ``corpus.toml`` but the digest itself.

    >>> told = {"name": "c", "frozen": {"version": "1", "digest": "x"}}
    >>> digest_of_settings(told) == digest_of_settings({"name": "c", "frozen": {"version": "1"}})
    True
    """
    told = {name: value for name, value in settings[FROZEN].items() if name != "digest"}
    whole = json.dumps({**settings, FROZEN: told}, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(whole.encode()).hexdigest()


def shown_digest(material: str, images: Mapping[str, str]) -> str:
    """sha256 over what judges are shown.

    material : digest of items, questions and consensus; images : path -> digest of its bytes
    """
    return hashlib.sha256(json.dumps([material, dict(sorted(images.items()))]).encode()).hexdigest()


def file_digest(path: Path) -> str:
    """``sha256:`` and the sha256 of a file. Raises OSError. A file that has not changed is read once."""
    stat = path.stat()
    return _digest(path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


@lru_cache(maxsize=100_000)
def _digest(path: Path, *_: int) -> str:
    with path.open("rb") as file:
        return f"{PREFIX}{hashlib.file_digest(file, 'sha256').hexdigest()}"


def _check_files(folder: Path, digests: Mapping[str, Any], version: str) -> None:
    for name, known in digests.items():
        path = folder / name
        if not stays_inside(name) or not path.is_file():
            raise InputError("freeze.file.missing", file=str(path), version=version)
        if file_digest(path) != known:
            raise InputError("freeze.file.changed", file=str(path), version=version)
    for path in sorted(folder.iterdir()):
        if path.name.split(".")[0] in READ and path.is_file() and path.name not in digests:
            raise InputError("freeze.file.added", file=str(path), version=version)
