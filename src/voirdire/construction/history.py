"""``history.jsonl``: everything that was decided while a corpus was built, one JSON object a line, only ever appended.

An event has ``at`` (UTC), ``kind``, ``by`` and ``concept`` (either may be empty), and what belongs to its kind. A
process that is killed while it writes leaves a torn last line: it is told, the rest is read, and the next event that is
appended stands after a line of kind ``torn`` which vouches for the damage.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from voirdire.corpus.corpus import Note
from voirdire.errors import InputError, UsageError

HISTORY_FILE = "history.jsonl"
LOCK_FILE = "build.lock"
TORN = "torn"
PATIENCE = 10.0
"""Seconds that a process waits for another one to finish writing."""

_LOOKING = 0.02

Event = Mapping[str, Any]
Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The time now, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class History:
    """The events in the order in which they were written, and notes about lines that were torn."""

    events: tuple[Event, ...] = ()
    notes: tuple[Note, ...] = ()

    def of_kind(self, *kinds: str) -> Iterator[Event]:
        """The events of some kinds, in order."""
        return (event for event in self.events if event["kind"] in kinds)


@dataclass(slots=True)
class Book:
    """A history that this process alone may write to, for as long as it is open."""

    folder: Path
    history: History
    clock: Clock = field(default=utc_now, repr=False)

    def append(self, *events: Event) -> None:
        """Write events behind the others; they are on the disk when this returns.

        Each event needs ``kind``; ``at``, ``by`` and ``concept`` are filled in where they are not given.
        """
        stamped = tuple(self._stamped(event) for event in events)
        path = self.folder / HISTORY_FILE
        try:
            new = not path.exists()
            file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                _write_all(file, _mended(file) + b"".join(map(_line, stamped)))
                os.fsync(file)
            finally:
                os.close(file)
            if new:
                sync_folder(self.folder)
        except OSError as error:
            raise UsageError("build.history.unwritable", file=str(path), why=error.strerror or str(error)) from error
        self.history = History((*self.history.events, *stamped), self.history.notes)

    def _stamped(self, event: Event) -> dict[str, Any]:
        at = self.clock().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return {"at": at, "by": "", "concept": "", **event}


@contextmanager
def open_history(folder: Path | str, clock: Clock = utc_now) -> Iterator[Book]:
    """The history of a folder, to read and write; other processes wait until it is closed.

    Raises UsageError where another process keeps it longer than PATIENCE seconds, InputError for a damaged line.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with open_history(folder) as book:
    ...     book.append({"kind": "remark", "by": "ana", "concept": "tea"})
    >>> [event["by"] for event in read_history(folder).events]
    ['ana']
    """
    path = Path(folder)
    with _held(path, shared=False):
        yield Book(path, _read(path), clock)


def read_history(folder: Path | str) -> History:
    """The history of a folder; empty where there is none. Raises InputError for a damaged line that nobody vouches for.

    A writer is waited for, so that the line that it is writing is not taken for a torn one.
    """
    path = Path(folder)
    if not (path / LOCK_FILE).is_file():
        return _read(path)
    with _held(path, shared=True):
        return _read(path)


def digest_of(value: Any) -> str:
    """sha256 of a value as canonical JSON, 64 hex digits.

    >>> digest_of({"b": 1, "a": 2}) == digest_of({"a": 2, "b": 1})
    True
    """
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _line(event: Event) -> bytes:
    return json.dumps(event, ensure_ascii=False).encode() + b"\n"


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def sync_folder(folder: Path) -> None:
    """Have on the disk which files a folder has."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _mended(file: int) -> bytes:
    """What has to stand between the last line of a file and the next event: nothing where it ended as it should."""
    line, ended = _last_line(file)
    broken = bool(line.strip()) and _parsed(line) is None
    return (b"" if ended else b"\n") + (_line(_torn(line)) if broken else b"")


def _last_line(file: int) -> tuple[bytes, bool]:
    """The last line of a file, and whether a line break stands behind it (or the file is empty)."""
    at, read = os.fstat(file).st_size, b""
    while at > 0 and b"\n" not in read.rstrip(b"\n"):
        step = min(65536, at)
        at -= step
        read = os.pread(file, step, at) + read
    return read.rstrip(b"\n").rpartition(b"\n")[2], not read or read.endswith(b"\n")


def _torn(tail: bytes) -> dict[str, Any]:
    return {"kind": TORN, "bytes": len(tail), "sha256": hashlib.sha256(tail).hexdigest()}


def _parsed(line: bytes) -> dict[str, Any] | None:
    """The event of a line, or None where the line is none."""
    try:
        event = json.loads(line)
    except ValueError:  # also bytes that are no text
        return None
    if not isinstance(event, dict) or not event.get("kind"):
        return None
    return event if all(isinstance(event.get(name, ""), str) for name in ("kind", "at", "by", "concept")) else None


def _read(folder: Path) -> History:
    path = folder / HISTORY_FILE
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return History()
    except OSError as error:
        raise InputError("input.file_unreadable", file=str(path), value=error.strerror or str(error)) from error
    lines = data.split(b"\n")
    events: list[Event] = []
    notes: list[Note] = []
    for place, line in enumerate(lines):
        event = _parsed(line)
        if event is not None and event["kind"] != TORN:
            events.append({"at": "", "by": "", "concept": "", **event})
        elif event is None and line.strip(b"\r "):
            notes.append(_forgiven(lines, place, path))
    return History(tuple(events), tuple(notes))


def _forgiven(lines: Sequence[bytes], place: int, path: Path) -> Note:
    """The note about a line that is no event. Raises InputError where it was not torn but spoilt."""
    if _vouched(lines, place):
        return Note("build.history.torn", {"file": str(path), "row": place + 1}, "warning")
    shown = lines[place][:60].decode(errors="replace")
    raise InputError("build.history.broken", file=str(path), row=place + 1, value=shown)


def _vouched(lines: Sequence[bytes], place: int) -> bool:
    """Whether a line is the last one, or the next one says that it was torn; that one may be torn in its turn."""
    rest = [line for line in lines[place + 1 :] if line]
    if not rest:
        return True
    following, marker = lines[place + 1], _torn(lines[place])
    if _parsed(following) == marker:
        return True
    return bool(following) and _line(marker).startswith(following) and _vouched(lines, place + 1)


@contextmanager
def _held(folder: Path, *, shared: bool) -> Iterator[None]:
    lock = _opened(folder, shared=shared)
    try:
        _wait_for(lock, folder, shared=shared)
        yield
    finally:
        lock.close()


def _opened(folder: Path, *, shared: bool) -> IO[bytes]:
    path = folder / LOCK_FILE
    try:
        return path.open("rb" if shared else "ab")
    except OSError as error:
        raise UsageError("build.history.unwritable", file=str(path), why=error.strerror or str(error)) from error


def _wait_for(lock: IO[bytes], folder: Path, *, shared: bool) -> None:
    """Hold the lock. The system lets go of it when this process ends, however it ends."""
    try:
        import fcntl
    except ImportError as error:
        raise UsageError("build.history.no_locks", file=str(folder)) from error
    until = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(lock, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError as error:
            if time.monotonic() >= until:
                raise UsageError("build.history.locked", file=str(folder), seconds=int(PATIENCE)) from error
            time.sleep(_LOOKING)
        else:
            return
