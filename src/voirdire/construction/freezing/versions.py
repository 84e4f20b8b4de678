"""The versions of a corpus: each is higher than the last, says what changed, and stands in the history."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.construction.build_file import VERSION_FORM
from voirdire.construction.freezing.folder import beside
from voirdire.construction.history import Book, Event, History
from voirdire.corpus.corpus import Note
from voirdire.corpus.folder import frozen_folder
from voirdire.corpus.frozen import MANIFEST
from voirdire.errors import InputError, UsageError
from voirdire.reporting.markdown import escape
from voirdire.texts import text

FREEZE = "freeze"
BEGUN, DONE, ABANDONED, MOVED = "begun", "done", "abandoned", "moved"
TAKEN = (DONE, MOVED)
"""What became of a freeze whose version is taken; ``moved``: it was put in its place, and is not there any more."""

MOST_CHANGE = 4000
_PARTS = re.compile(r"\d+|[A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Release:
    """A version that was frozen.

    change : what changed since the last one; tables : name -> digest; allowed : check -> reason
    counts : concepts, items, ratings
    """

    version: str
    digest: str
    at: str = ""
    change: str = ""
    out: str = ""
    tables: Mapping[str, str] = field(default_factory=dict)
    allowed: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)

    def event(self, action: str) -> dict[str, Any]:
        """As it stands in the history."""
        told = {"version": self.version, "digest": self.digest, "change": self.change, "out": self.out}
        parts = {"tables": dict(self.tables), "allowed": dict(self.allowed), "counts": dict(self.counts)}
        return {"kind": FREEZE, "action": action, **told, **parts}


def releases(history: History) -> tuple[Release, ...]:
    """The versions that were frozen, in order."""
    return tuple(_release(event) for event in history.of_kind(FREEZE) if event.get("action") in TAKEN)


def settle(book: Book) -> tuple[Note, ...]:
    """Find out what became of a freeze that was killed at its very end, and write it down.

    The folder is moved to its place in one step: it is there whole, or not at all. Where it is neither there nor left
    beside its place, it was there and was taken away since; the version is taken then, and that is told.
    """
    notes = []
    known: dict[str, Event] = {}
    for event in book.history.of_kind(FREEZE):
        known.pop(str(event.get("digest")), None)
        if event.get("action") == BEGUN:
            known[str(event.get("digest"))] = event
    for event in known.values():
        release = _release(event)
        action = _became(release, book.folder)
        if action == MOVED:
            notes.append(Note("freezing.note.moved", {"version": release.version, "file": release.out}, "warning"))
        book.append(release.event(action))
    return tuple(notes)


@contextmanager
def begun(book: Book, release: Release) -> Iterator[None]:
    """Write down that a version is put in its place, and what became of it; a kill between the two is settled later."""
    book.append(release.event(BEGUN))
    try:
        yield
    finally:
        book.append(release.event(DONE if _is_there(Path(release.out), release.digest) else ABANDONED))


def _became(release: Release, folder: Path) -> str:
    """What became of a freeze of a folder that nobody saw end."""
    out = Path(release.out)
    if release.out and _is_there(out, release.digest):
        return DONE
    return MOVED if release.out and not beside(out, folder).exists() else ABANDONED


def check_version(version: str, change: str, known: Sequence[Release]) -> None:
    """Raise UsageError for a version that is none, or is not higher than the last; and where nothing is said of it."""
    if not VERSION_FORM.fullmatch(version):
        raise UsageError("freeze.version.form", value=version)
    if len(change) > MOST_CHANGE or not change.replace("\n", " ").isprintable():
        raise UsageError("freeze.version.change_form", limit=MOST_CHANGE)
    if not known:
        return
    highest = max(known, key=lambda one: order(one.version))
    if order(version) <= order(highest.version):
        raise UsageError("freeze.version.not_higher", value=version, last=highest.version)
    if not change.strip():
        raise UsageError("freeze.version.change_missing", last=highest.version)


def order(version: str) -> tuple[tuple[int, ...], tuple[tuple[int, int, str], ...]]:
    """By what versions are compared: numbers as numbers; letters stand before the version that they lead to.

    >>> order("0.9") < order("0.10") < order("1.0rc1") < order("1.0") < order("1.0.1")
    True
    >>> order("1") == order("1.0")
    True
    """
    found = _PARTS.findall(version)
    first = next((place for place, one in enumerate(found) if not one.isdigit()), len(found))
    numbers = [int(one) for one in found[:first]]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    rest = [(2, int(one), "") if one.isdigit() else (0, 0, one.casefold()) for one in found[first:]]
    return tuple(numbers), (*rest, (1, 0, ""))


def changelog(name: str, known: Sequence[Release], lang: str) -> str:
    """CHANGELOG.md: every version with what changed, the newest first; known : with the one that is being frozen."""
    parts = [f"# {text('freeze.changelog.title', lang, name=escape(name))}"]
    for place in reversed(range(len(known))):
        one, before = known[place], known[place - 1] if place else None
        parts.append(f"## {escape(one.version)} ({one.at[:10]})")
        said = [escape(line) for line in one.change.splitlines() if line.strip()]
        lines = said or [text("freeze.changelog.first", lang)]
        lines.append(text("freeze.changelog.counts", lang, **{**dict.fromkeys(COUNTS, 0), **one.counts}))
        changed = _changed(one, before)
        if changed:
            lines.append(text("freeze.changelog.tables", lang, tables=", ".join(changed)))
        allowed = ((check, escape(reason)) for check, reason in one.allowed.items())
        lines += [text("freeze.file.allowed", lang, check=check, reason=reason) for check, reason in allowed]
        parts.append("\n".join(f"- {line}" for line in lines))
    return "\n\n".join(parts) + "\n"


COUNTS = ("concepts", "items", "ratings")


def _changed(one: Release, before: Release | None) -> list[str]:
    """Tables (and ``images``) that are others than in the version before."""
    if before is None:
        return []
    names = dict.fromkeys([*before.tables, *one.tables])
    return [name for name in names if before.tables.get(name) != one.tables.get(name)]


def _release(event: Event) -> Release:
    """A freeze as the history has it; what was written by other hands and is of another kind is empty."""
    texts = {name: str(event.get(name, "")) for name in ("version", "digest", "at", "change", "out")}
    tables, allowed, counts = (_mapping(event.get(name)) for name in ("tables", "allowed", "counts"))
    numbers = {name: value for name, value in counts.items() if isinstance(value, int)}
    return Release(**texts, tables=_texts(tables), allowed=_texts(allowed), counts=numbers)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _texts(value: Mapping[str, Any]) -> dict[str, str]:
    return {str(name): str(one) for name, one in value.items()}


def _is_there(out: Path, digest: str) -> bool:
    if not (out / MANIFEST).is_file():
        return False
    try:
        found = frozen_folder(out)
    except InputError:  # it was there, and was changed since
        return True
    return found is not None and found.digest == digest
