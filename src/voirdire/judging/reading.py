"""Reading the ledger of a run beside the process that writes it: nothing is locked, nothing is changed or left behind.

A reader of SQLite's log makes the log's files where there are none, and they are then the reader's: the next process
that is to write, perhaps another user's, could not. So a ledger without a log, which is whole in itself, is read as it
lies; and where somebody began to write meanwhile, what was read is thrown away and read again.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import ParamSpec, TypeVar

from voirdire.errors import InputError
from voirdire.judging.ledger import FORMAT
from voirdire.judging.run_folder import LEDGER

P = ParamSpec("P")
Value = TypeVar("Value")
State = tuple[int, int, int]


class Torn(InputError):  # noqa: N818 - named for what it says
    """What was read since ``reading`` began may be of two moments; to be read again."""


def steady(read: Callable[P, Value]) -> Callable[P, Value]:
    """A function that uses ``reading``, called again where what it read is torn."""

    @functools.wraps(read)
    def again(*args: P.args, **named: P.kwargs) -> Value:
        while True:
            try:
                return read(*args, **named)
            except Torn:
                continue

    return again


@contextmanager
def reading(folder: Path) -> Iterator[sqlite3.Connection]:
    """The ledger of a run folder, read-only, as of one moment.

    Raises InputError where the folder holds no run, and where the ledger cannot be read; Torn at the end, where
    somebody began to write to a ledger that nobody wrote to (see ``steady``).
    """
    file = folder / LEDGER
    if not file.is_file():
        raise InputError("run.folder_no_run", file=str(folder))
    lying = _lying(file)
    try:
        with closing(_connected(file, as_it_lies=lying is not None)) as db:
            db.execute("BEGIN")
            row = db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
            if row is None or row[0] != FORMAT:
                raise InputError("run.ledger_format", file=str(file), value=row[0] if row else "-", known=FORMAT)
            yield db
    except Exception as error:
        _refuse_torn(file, lying)
        if isinstance(error, sqlite3.DatabaseError):
            raise InputError("run.ledger_broken", file=str(file), why=str(error)) from error
        raise
    _refuse_torn(file, lying)


def log_of(file: Path) -> Path:
    """The log of a ledger: what was written and does not stand in the file itself yet."""
    return file.with_name(f"{file.name}-wal")


def _lying(file: Path) -> State | None:
    """The state of a ledger that is whole in itself; None where there is a log, or no ledger any more."""
    try:
        if log_of(file).stat().st_size:
            return None
    except FileNotFoundError:
        pass
    try:
        state = file.stat()
    except FileNotFoundError:
        return None
    return state.st_ino, state.st_mtime_ns, state.st_size


def _refuse_torn(file: Path, lying: State | None) -> None:
    if lying is not None and _lying(file) != lying:
        raise Torn("run.ledger_torn", file=str(file))


def _connected(file: Path, *, as_it_lies: bool) -> sqlite3.Connection:
    address = f"{file.absolute().as_uri()}?mode=ro{'&immutable=1' if as_it_lies else ''}"
    return sqlite3.connect(address, uri=True, isolation_level=None)
