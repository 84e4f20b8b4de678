"""Looking at a run leaves nothing behind, and what is read is of one moment, whoever writes meanwhile."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.judging.engine_world import corpus, go, plan_of
from tests.judging.fakes import FakeJudge, good

from voirdire.errors import InputError
from voirdire.judging.reading import Torn, reading, steady
from voirdire.judging.run_folder import LEDGER, RunFolder
from voirdire.judging.status import read_status
from voirdire.judging.tally import Tally


@pytest.fixture
def run(tmp_path: Path) -> Path:
    go(plan_of(corpus(tmp_path / "c")), tmp_path / "run")
    return tmp_path / "run"


def listing(folder: Path) -> list[tuple[str, int, int]]:
    return sorted((one.name, one.stat().st_size, one.stat().st_mtime_ns) for one in folder.iterdir())


def counted(folder: Path) -> int:
    with reading(folder) as db:
        return int(db.execute("SELECT count(*) FROM attempt").fetchone()[0])


def written(file: Path, number: int) -> int:
    """A session that begins, writes and ends: its log is gone afterwards."""
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute("INSERT INTO session (at, settings) VALUES (?, '{}')", (number,))
    return number


def test_a_finished_run_is_left_as_it_was(run: Path) -> None:
    before = listing(run)
    read_status(run)
    Tally(run).look()
    assert counted(run) == 12
    assert listing(run) == before


def test_a_log_that_an_earlier_look_left_empty_is_no_hindrance(run: Path) -> None:
    (run / f"{LEDGER}-wal").touch()
    before = listing(run)
    assert counted(run) == 12
    assert listing(run) == before


def test_a_run_that_is_resumed_is_seen_and_what_stands_in_its_log(tmp_path: Path, run: Path) -> None:
    assert read_status(run).total == 12
    plan = plan_of(tmp_path / "c", ("a", "b", "late"))
    with RunFolder(run) as folder:
        folder.register(plan, [FakeJudge(good, spec.name) for spec in plan.specs])
        assert (run / f"{LEDGER}-wal").stat().st_size
        assert read_status(run).total == 18
        assert Tally(run).look().count("pending") == 6
    before = listing(run)
    assert read_status(run).total == 18
    assert listing(run) == before


def test_what_was_read_while_somebody_began_is_read_again(run: Path) -> None:
    looks: list[int] = []

    @steady
    def sessions() -> int:
        with reading(run) as db:
            looks.append(len(looks))
            if len(looks) < 3:
                written(run / LEDGER, len(looks))
            return int(db.execute("SELECT count(*) FROM session").fetchone()[0])

    assert sessions() == 3
    assert looks == [0, 1, 2]


def test_a_log_that_appears_while_one_reads_makes_it_read_again(run: Path) -> None:
    with closing(sqlite3.connect(run / LEDGER, isolation_level=None)) as db:
        with pytest.raises(Torn), reading(run):
            db.execute("INSERT INTO session (at, settings) VALUES (1, '{}')")
        with reading(run) as other:
            assert other.execute("SELECT count(*) FROM session").fetchone()[0] == 2


def test_an_error_of_what_is_torn_is_none_and_another_is(run: Path) -> None:
    with pytest.raises(Torn), reading(run) as db:
        db.execute(f"SELECT 1 FROM nowhere_{written(run / LEDGER, 1)}")
    with pytest.raises(InputError, match="nowhere"), reading(run) as db:
        db.execute("SELECT 1 FROM nowhere")


def test_a_tally_that_was_torn_counts_anew(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tally, count = Tally(run), Tally._count

    def once(self: Tally, db: sqlite3.Connection) -> tuple[bool, int]:
        monkeypatch.setattr(Tally, "_count", count)
        found = count(self, db)
        written(run / LEDGER, 1)
        return found

    monkeypatch.setattr(Tally, "_count", once)
    assert tally.look().count("ok") == 12
