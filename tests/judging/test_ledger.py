from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from voirdire.errors import InputError
from voirdire.judging.ledger import Ledger
from voirdire.judging.nouns import Attempt, Outcome, RunStopped, Usage
from voirdire.judging.steps import Cell, Shown, Step


def rows(*names: str) -> list[tuple[str, str, str]]:
    return [(name, "texts=1", "{}") for name in names]


def register(ledger: Ledger, items: int = 2, judges: tuple[str, ...] = ("a", "b"), repeats: int = 1) -> None:
    nouns = {
        "item": rows(*(f"i{number}" for number in range(items))),
        "question": rows("q"),
        "condition": rows("neutral_en", "neutral_zh"),
        "judge": rows(*judges),
    }
    ledger.register(nouns, repeats=repeats, meta={}, session="{}")


def step(cell: Cell, number: int = 1, kind: str = "ok", ends: bool = True, **more: object) -> Step:
    attempt = Attempt(
        cell.id, number, kind, 1.8e9, 0.41, "0123456789abcdef", 200, "4", served="model-2026-01-01",
        served_by="fp_0123456789", usage=Usage(905, 1, 0, 0), cost=0.00231,
    )  # fmt: skip
    status = kind if kind in ("ok", "malformed", "refused") else "error"
    outcome = Outcome(cell.id, status, 4.0 if status == "ok" else None, number) if ends else None
    return Step(cell, replace(attempt, **more), outcome)


@pytest.fixture
def ledger(tmp_path: Path):
    with Ledger(tmp_path / "ledger.sqlite") as opened:
        register(opened)
        yield opened


def everything(ledger: Ledger) -> list[Cell]:
    return [cell for judge in ledger.known("judge") for cell in ledger.pending(judge, limit=10**6)]


def test_cells_are_numbered_by_item_condition_and_judge(ledger: Ledger) -> None:
    found = sorted(everything(ledger), key=lambda cell: cell.id)
    assert [(cell.item, cell.condition, cell.judge) for cell in found] == [
        (item, condition, judge)
        for item in ("i0", "i1")
        for condition in ("neutral_en", "neutral_zh")
        for judge in ("a", "b")
    ]
    assert sorted(cell.place for cell in found) == [cell.place for cell in found]


def test_pages_hold_every_cell_once(ledger: Ledger) -> None:
    register(ledger, items=50)
    seen, after = [], (0, 0, 0, 0)
    while page := ledger.pending("a", after, 7):
        seen += [cell.id for cell in page]
        after = page[-1].place
    assert len(seen) == len(set(seen)) == 100


def test_what_is_added_gets_new_cells_and_what_was_there_keeps_its_numbers(ledger: Ledger) -> None:
    before = {cell.id: cell for cell in everything(ledger)}
    register(ledger, items=3, judges=("a", "b", "c"), repeats=2)
    after = {cell.id: cell for cell in everything(ledger)}
    assert len(after) == 3 * 2 * 3 * 2
    assert {key: (cell.item, cell.condition, cell.judge) for key, cell in before.items()} == {
        key: (after[key].item, after[key].condition, after[key].judge) for key in before
    }


def test_what_is_left_out_is_kept_and_not_asked(ledger: Ledger) -> None:
    ledger.write([step(everything(ledger)[0])])
    register(ledger, items=1, judges=("b",))
    assert {(cell.item, cell.judge) for cell in everything(ledger)} == {("i0", "b")}
    assert sum(count for *_, count in ledger.counts()) == 2
    register(ledger)
    assert len(everything(ledger)) == 7


def test_pending_cells_know_what_was_tried(ledger: Ledger) -> None:
    cell = everything(ledger)[0]
    kinds = ["malformed", "server", "rate_limit", "timeout", "malformed", "connection", "overload"]
    ledger.write([step(cell, number, kind, ends=False) for number, kind in enumerate(kinds, start=1)])
    found = everything(ledger)[0]
    assert (found.attempts, found.malformed, found.failures) == (7, 2, 3)
    ledger.write([], pardons={cell.id: 4})
    assert everything(ledger)[0].failures == 1
    ledger.write([], outcomes=[Outcome(cell.id, "error", None, 7)])
    assert cell.id not in {left.id for left in everything(ledger)}


def test_a_transaction_is_kept_whole_or_not_at_all(ledger: Ledger) -> None:
    first, second = everything(ledger)[:2]
    ledger.write([step(first)])
    with pytest.raises(sqlite3.IntegrityError):
        ledger.write([step(second), step(first, 2)])
    assert second.id in {cell.id for cell in everything(ledger)}
    assert ledger.write([step(second)]) is None


def test_a_rating_goes_with_ok_only(ledger: Ledger) -> None:
    cell = everything(ledger)[0]
    for outcome in (
        Outcome(cell.id, "ok", None, 1),
        Outcome(cell.id, "refused", 4.0, 1),
        Outcome(cell.id, "x", None, 1),
    ):
        with pytest.raises(sqlite3.IntegrityError):
            ledger.write([], outcomes=[outcome])


@pytest.mark.parametrize("table", ["attempt", "outcome"])
@pytest.mark.parametrize("change", ["DELETE FROM {}", "UPDATE {} SET cell = 99"])
def test_what_was_written_cannot_be_changed(ledger: Ledger, table: str, change: str) -> None:
    ledger.write([step(everything(ledger)[0])])
    with pytest.raises(sqlite3.IntegrityError, match="append only"), ledger.writing() as db:
        db.execute(change.format(table))


def test_a_full_disk_stops_the_run_and_keeps_what_was_there(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        register(ledger, items=100)
        todo = everything(ledger)
        ledger.write([step(todo[0])])
        with ledger.writing() as db:
            pages = db.execute("PRAGMA page_count").fetchone()[0]
        ledger._db.execute(f"PRAGMA max_page_count = {pages}")
        full = [step(cell, text="x" * 20_000) for cell in todo[1:]]
        with pytest.raises(RunStopped, match="MB are free") as caught:
            ledger.write(full)
        assert caught.value.fields["file"].endswith("ledger.sqlite")
        assert caught.value.exit_code == 4
        ledger._db.execute("PRAGMA max_page_count = 100000")
        left = len(everything(ledger))
        ledger.write([step(cell) for cell in everything(ledger)])
        assert left == 399
        assert not everything(ledger)


LIMITED = """
import resource, sys
from pathlib import Path
from tests.judging.test_ledger import everything, register, step
from voirdire.judging.ledger import Ledger
from voirdire.judging.nouns import RunStopped

with Ledger(Path(sys.argv[1])) as ledger:
    register(ledger, items=1000)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))
    for done, cell in enumerate(everything(ledger)):
        try:
            ledger.write([step(cell, text="x" * 5000)])
        except RunStopped as error:
            print(done, error.key, error.fields["why"], flush=True)
            break
"""


def test_a_file_that_may_not_grow_stops_the_run(tmp_path: Path) -> None:
    """The system itself refuses the write, as a full disk does."""
    path, root = tmp_path / "ledger.sqlite", Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", textwrap.dedent(LIMITED), str(path)]
    told = subprocess.run(command, capture_output=True, text=True, cwd=root, check=True).stdout
    done, key, why = told.split(maxsplit=2)
    assert key == "run.disk"
    assert why.strip() in ("disk I/O error", "database or disk is full")
    with Ledger(path) as ledger:
        assert 4000 - len(everything(ledger)) == int(done) > 5


def test_a_small_ledger(tmp_path: Path) -> None:
    """Under 0.5 MB for 1,000 cells, numbers and names as providers give them."""
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        register(ledger, items=500)
        todo = everything(ledger)
        assert len(todo) == 2000
        for cell in todo:
            ledger.write([step(cell)])
    assert (tmp_path / "ledger.sqlite").stat().st_size < 2 * 250_000


def test_readers_do_not_stop_the_writer(ledger: Ledger) -> None:
    reader = sqlite3.connect(f"file:{ledger.path}?mode=ro", uri=True, isolation_level=None)
    try:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM outcome").fetchone() == (0,)
        ledger.write([step(cell) for cell in everything(ledger)])
        assert reader.execute("SELECT count(*) FROM outcome").fetchone() == (0,)
        reader.execute("COMMIT")
        assert reader.execute("SELECT count(*) FROM outcome").fetchone() == (8,)
    finally:
        reader.close()


def test_what_was_shown_is_kept_once_for_all_judges(ledger: Ledger) -> None:
    shown = Shown("instruction", "p1=3 p2=5")
    ledger.write([replace(step(cell), shown=shown) for cell in everything(ledger)])
    with ledger.writing() as db:
        assert db.execute("SELECT count(*), min(flags), min(demonstrations) FROM shown").fetchone() == (
            4,
            "instruction",
            "p1=3 p2=5",
        )


def test_costs_are_summed_by_judge(ledger: Ledger) -> None:
    first = [cell for cell in everything(ledger) if cell.judge == "a"][:2]
    ledger.write([step(first[0], cost=0.5), step(first[1], cost=None)])
    assert ledger.costs() == {"a": 0.5}


def test_the_run_keeps_its_id(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        run = ledger.run_id
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        assert ledger.run_id == run
        assert len(run) == 8


@pytest.mark.parametrize(
    "content", [b"not a database, but long enough to be looked at" * 100, b"SQLite format 3\0" + b"\xff" * 4000]
)
def test_a_file_that_is_no_ledger_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ledger.sqlite").write_bytes(content)
    with pytest.raises(InputError, match="cannot be read as the ledger"):
        Ledger(tmp_path / "ledger.sqlite")


def test_a_ledger_of_another_format_is_refused(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite") as ledger, ledger.writing() as db:
        db.execute("UPDATE meta SET value = '99' WHERE key = 'format'")
    with pytest.raises(InputError, match="format 99"):
        Ledger(tmp_path / "ledger.sqlite")


WRITER = """
import sys
from pathlib import Path
from tests.judging.test_ledger import everything, register, step
from voirdire.judging.ledger import Ledger

with Ledger(Path(sys.argv[1])) as ledger:
    register(ledger, items=5000)
    for cell in everything(ledger):
        ledger.write([step(cell, text="x" * (cell.id % 3000))])
        print(cell.id, flush=True)
"""


@pytest.mark.parametrize("after", [1, 150, 1000])
def test_what_was_committed_outlives_kill_9(tmp_path: Path, after: int) -> None:
    path = tmp_path / "ledger.sqlite"
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(path)]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)
    assert writer.stdout is not None
    told = [int(writer.stdout.readline()) for _ in range(after)]
    os.kill(writer.pid, signal.SIGKILL)
    told += [int(line) for line in writer.stdout.read().split("\n")[:-1] if line]
    writer.wait()
    writer.stdout.close()
    with Ledger(path) as ledger:
        assert ledger._db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        done = {row[0] for row in ledger._db.execute("SELECT cell FROM outcome")}
        assert done == {row[0] for row in ledger._db.execute("SELECT cell FROM attempt")}
    assert set(told) <= done
    assert len(done - set(told)) <= 1


@pytest.mark.parametrize("kills", range(4))
def test_a_ledger_killed_while_it_is_made_can_be_made_again(tmp_path: Path, kills: int) -> None:
    """An empty file, or a half-written log beside it, is no obstacle."""
    path = tmp_path / "ledger.sqlite"
    (path.touch() if kills == 0 else path.with_name("ledger.sqlite-wal").write_bytes(b"\0" * (kills - 1) * 100))
    with Ledger(path) as ledger:
        register(ledger)
        assert len(everything(ledger)) == 8


def test_errors_are_reopened_and_the_old_outcome_is_kept(ledger: Ledger) -> None:
    first, second, *rest = everything(ledger)
    ledger.write([step(first, number, "server", ends=number == 6) for number in range(1, 7)])
    ledger.write([step(second, kind="refused"), *(step(cell) for cell in rest)])
    assert ledger.pending("a") == []
    assert ledger.reopen_errors() == 1
    (again,) = everything(ledger)
    assert (again.id, again.attempts, again.failures) == (first.id, 6, 0)
    with sqlite3.connect(ledger.path) as db:
        assert db.execute("SELECT cell, attempts, status FROM reopened").fetchall() == [(first.id, 6, "error")]
        assert db.execute("SELECT count(*) FROM attempt WHERE cell = ?", (first.id,)).fetchone() == (6,)
        with pytest.raises(sqlite3.IntegrityError, match="append only"):
            db.execute("DELETE FROM outcome WHERE cell = ?", (second.id,))
    db.close()
    ledger.write([step(again, 7)])
    assert ledger.reopen_errors() == 0
    assert everything(ledger) == []


def test_an_error_can_be_reopened_again_and_again_also_in_an_older_ledger(ledger: Ledger) -> None:
    with ledger.writing() as db:
        db.execute("DROP TABLE reopened")
        db.execute("DROP TRIGGER outcome_kept")
        db.execute("CREATE TRIGGER outcome_kept BEFORE DELETE ON outcome BEGIN SELECT RAISE(ABORT, 'append only'); END")
    with Ledger(ledger.path) as opened:
        (cell, *_) = everything(opened)
        for number in (1, 2, 3):
            opened.write([step(cell, number, "request")])
            assert opened.reopen_errors() == 1
        assert cell.id in {left.id for left in everything(opened)}


def test_errors_of_judges_that_are_not_asked_now_stay(ledger: Ledger) -> None:
    ledger.write([step(cell, kind="request") for cell in everything(ledger)])
    register(ledger, judges=("a",))
    assert ledger.reopen_errors() == 4
    register(ledger)
    assert {cell.judge for cell in everything(ledger)} == {"a"}


def test_replies_of_unknown_cost_are_counted(ledger: Ledger) -> None:
    one, two, three, *_ = ledger.pending("a")
    ledger.write([step(one), step(two, cost=None), step(three, kind="malformed", cost=None)])
    ledger.write([step(ledger.pending("b")[0], kind="server", ends=False, cost=None)])
    assert ledger.unpriced() == {"a": 2}
