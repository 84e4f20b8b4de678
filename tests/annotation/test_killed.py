"""Processes that are killed in the middle of saving."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from sqlalchemy import func, select
from tests.annotation.studies import batch_of, complete, joined
from tests.annotation.test_concurrency import consistent

from voirdire.annotation.assignments import assign, work
from voirdire.annotation.database import Database
from voirdire.annotation.schema import answers

RATING = """
import sys
from tests.annotation.studies import opened, complete
from voirdire.annotation.assignments import work
with opened(sys.argv[1]) as db:
    while True:
        for one in work(db, sys.argv[2]):
            complete(db, sys.argv[2], one, 1.0, "5")
"""


def count(db: Database) -> int:
    with db.reading() as connection:
        return connection.execute(select(func.count()).select_from(answers)).scalar_one()


def test_a_process_that_is_killed_while_it_saves_leaves_whole_answers_and_no_lock(db: Database, root: Path) -> None:
    batch = batch_of(db, 40)
    who = joined(db, batch)
    assign(db, who, 0.0)
    address = db.url.render_as_string(hide_password=False)
    for round_ in (1, 2, 3):
        process = subprocess.Popen(
            [sys.executable, "-c", RATING, address, who], cwd=root, env={**os.environ, "PYTHONPATH": str(root)}
        )
        until = time.monotonic() + 60
        while count(db) < 10 * round_:
            assert process.poll() is None
            assert time.monotonic() < until
        process.send_signal(signal.SIGKILL)
        process.wait()
        consistent(db, batch)
        started = time.monotonic()
        complete(db, who, work(db, who)[-1], 2.0)
        assert time.monotonic() - started < 10
    consistent(db, batch)
