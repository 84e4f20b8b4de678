"""Reading the ledger of a run beside the process that writes it: nothing is locked, nothing is changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from voirdire.errors import InputError
from voirdire.judging.ledger import FORMAT
from voirdire.judging.run_folder import LEDGER


@contextmanager
def reading(folder: Path) -> Iterator[sqlite3.Connection]:
    """The ledger of a run folder, read-only, as of one moment.

    Raises InputError where the folder holds no run, and where the ledger cannot be read.
    """
    file = folder / LEDGER
    if not file.is_file():
        raise InputError("run.folder_no_run", file=str(folder))
    try:
        with closing(_connected(file)) as db:
            db.execute("BEGIN")
            row = db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
            if row is None or row[0] != FORMAT:
                raise InputError("run.ledger_format", file=str(file), value=row[0] if row else "-", known=FORMAT)
            yield db
    except sqlite3.DatabaseError as error:
        raise InputError("run.ledger_broken", file=str(file), why=str(error)) from error


def _connected(file: Path) -> sqlite3.Connection:
    """A read-only connection; where the folder is read-only too and nobody writes, the file is read as it lies."""
    address = f"{file.absolute().as_uri()}?mode=ro"
    db = sqlite3.connect(address, uri=True, isolation_level=None)
    try:
        db.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:
        db.close()
        if file.with_name(f"{file.name}-wal").exists():
            raise
        return sqlite3.connect(f"{address}&immutable=1", uri=True, isolation_level=None)
    except sqlite3.DatabaseError:
        db.close()
        raise
    return db
