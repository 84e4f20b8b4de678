"""Counts that are kept are those that a fresh look gives, whatever was written in between."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.judging.engine_world import corpus, go, plan_of
from tests.judging.fakes import FakeJudge, good

from voirdire.errors import InputError
from voirdire.judging.ledger import Ledger
from voirdire.judging.nouns import Attempt, Outcome, RunStopped, Usage
from voirdire.judging.reading import reading
from voirdire.judging.run_folder import LEDGER, RunFolder
from voirdire.judging.status import read_status
from voirdire.judging.steps import Cell, Step
from voirdire.judging.tally import Counted, Tally

KINDS = ("ok", "malformed", "refused", "server", "timeout", "rate_limit")


def same_as_status(counted: Counted, folder: Path) -> None:
    """Every number that both give is the same."""
    status = read_status(folder)
    cells: Counter[tuple[str, str, str]] = Counter()
    for place, row in counted.cells.items():
        for kind, count in row.items():
            cells[place.judge, place.condition, kind] += count
    attempts: dict[str, dict[str, int]] = {}
    for (place, kind), calls in counted.calls.items():
        own = attempts.setdefault(place.judge, {})
        own[kind] = own.get(kind, 0) + calls.count
    assert counted.whole
    assert cells == Counter({(judge, condition, kind): count for judge, condition, kind, count in status.cells})
    assert attempts == status.attempts
    assert counted.count("pending") == status.count("pending")
    assert sum(calls.cost for calls in counted.calls.values()) == pytest.approx(sum(status.cost.values()))
    assert (counted.run_id, counted.last_at, counted.held) == (status.run_id, status.last_at, status.held)
    assert counted.per_second == pytest.approx(status.per_second)
    assert dict(counted.rates) == pytest.approx(status.rates)
    shared = [(one.judge, one.kind, one.status, one.at, one.note) for one in counted.failures[:5]]
    assert shared == [(one.judge, one.kind, one.status, one.at, one.note) for one in status.failures]


class Writer:
    """Random attempts and outcomes into a ledger; some outcomes come a while after their attempt."""

    def __init__(self, ledger: Ledger, seed: int) -> None:
        self.ledger, self.rng, self.late, self.at = ledger, np.random.default_rng(seed), list[Outcome](), 1000.0

    def write(self, judge: str, count: int) -> None:
        waiting = {outcome.cell for outcome in self.late}
        cells = [cell for cell in self.ledger.pending(judge, limit=1000) if cell.id not in waiting]
        chosen = self.rng.permutation(len(cells))[:count]
        steps = [self._step(cells[place]) for place in chosen]
        kept, self.late = self.late[: len(self.late) // 2], self.late[len(self.late) // 2 :]
        ends = [step.outcome for step in steps]
        held_back = self.rng.random(len(steps)) < 0.3
        self.late += [end for end, wait in zip(ends, held_back, strict=True) if end is not None and wait]
        self.ledger.write(
            [Step(s.cell, s.attempt, None if wait else s.outcome) for s, wait in zip(steps, held_back, strict=True)],
            kept,
        )

    def _step(self, cell: Cell) -> Step:
        self.at += float(self.rng.exponential(3.0))
        kind, number = str(self.rng.choice(KINDS)), cell.attempts + 1
        cost = None if self.rng.random() < 0.3 else 0.25
        attempt = Attempt(cell.id, number, kind, self.at, 0.1, note=f"note {number}", usage=Usage(), cost=cost)
        if kind in ("ok", "malformed", "refused"):
            return Step(cell, attempt, Outcome(cell.id, kind, 3.0 if kind == "ok" else None, number))
        return Step(cell, attempt, Outcome(cell.id, "error", None, number) if number > 2 else None)


@pytest.mark.parametrize("seed", range(4))
def test_counts_are_those_of_a_fresh_look_at_every_moment(tmp_path: Path, seed: int) -> None:
    folder = corpus(tmp_path / "c", 8)
    tally = Tally(tmp_path / "run", portion=5)
    with RunFolder(tmp_path / "run") as run:
        run.register(plan_of(folder, grid="paper-baseline"), [FakeJudge(good, "a"), FakeJudge(good, "b")])
        writer = Writer(run.ledger, seed)
        for _ in range(20):
            for judge in ("a", "b"):
                writer.write(judge, int(writer.rng.integers(0, 9)))
            if writer.rng.random() < 0.7:
                same_as_status(tally.look(), tmp_path / "run")
        assert run.ledger.reopen_errors()
        same_as_status(tally.look(), tmp_path / "run")
        writer.write("a", 9)
        same_as_status(tally.look(), tmp_path / "run")


def test_a_later_session_may_plan_less_or_more(tmp_path: Path) -> None:
    tally = Tally(tmp_path / "run", portion=4)
    folder = corpus(tmp_path / "c", 5)
    for judges, limit in ((["a", "b"], 5), (["b"], 2), (["b", "d"], 4)):
        plan = plan_of(folder, judges)
        plan.material = replace(plan.material, items=plan.items[:limit])
        go(plan, tmp_path / "run")
        same_as_status(tally.look(), tmp_path / "run")


def test_an_outcome_without_an_attempt_counts(tmp_path: Path) -> None:
    tally = Tally(tmp_path / "run")
    with RunFolder(tmp_path / "run") as run:
        run.register(plan_of(corpus(tmp_path / "c"), ["a"]), [FakeJudge(good, "a")])
        tally.look()
        run.ledger.write([], [Outcome(2, "refused", None, 1)])
        same_as_status(tally.look(), tmp_path / "run")
        assert tally.look().count("refused") == 1


def test_a_large_ledger_is_counted_bit_by_bit(tmp_path: Path) -> None:
    go(plan_of(corpus(tmp_path / "c")), tmp_path / "run")
    tally, seen = Tally(tmp_path / "run", portion=5), []
    while not seen or not seen[-1].whole:
        seen.append(tally.look(0.0))
    assert [(one.read, one.attempts) for one in seen] == [(5, 12), (10, 12), (12, 12)]
    same_as_status(seen[-1], tmp_path / "run")


def test_another_run_in_the_same_place_is_counted_anew(tmp_path: Path) -> None:
    tally = Tally(tmp_path / "run")
    for judges in (["a", "b"], ["c"]):
        for file in (tmp_path / "run").glob("*"):
            file.unlink()
        go(plan_of(corpus(tmp_path / "c"), judges), tmp_path / "run")
        same_as_status(tally.look(), tmp_path / "run")
    for file in (tmp_path / "run").glob("*"):
        file.unlink()
    with pytest.raises(InputError, match="holds no run"):
        tally.look()


class TestTheEndOfASession:
    def test_it_is_written_down_with_its_reason(self, tmp_path: Path) -> None:
        with RunFolder(tmp_path / "run") as run:
            run.register(plan_of(corpus(tmp_path / "c"), ["a"]), [FakeJudge(good, "a")], budget=2.5)
            session = Tally(tmp_path / "run").look().session
            assert (session.budget, session.ended, session.tells) == (2.5, None, True)
            run.stopped = RunStopped("run.stopped_interrupt", pending=6, total=6)
        ended = Tally(tmp_path / "run").look().session.ended
        assert ended is not None
        assert (ended["why"], ended["fields"]) == ("run.stopped_interrupt", {"pending": 6, "total": 6})

    def test_a_session_that_breaks_off_says_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(ZeroDivisionError), RunFolder(tmp_path / "run") as run:  # noqa: PT012
            run.register(plan_of(corpus(tmp_path / "c"), ["a"]), [FakeJudge(good, "a")])
            raise ZeroDivisionError
        assert Tally(tmp_path / "run").look().session.ended is None

    def test_ledgers_of_earlier_versions_do_not_tell(self, tmp_path: Path) -> None:
        go(plan_of(corpus(tmp_path / "c"), ["a"]), tmp_path / "run")
        with sqlite3.connect(tmp_path / "run" / LEDGER) as db:
            db.execute("DELETE FROM meta WHERE key = 'ended'")
        session = Tally(tmp_path / "run").look().session
        assert (session.ended, session.tells) == (None, False)


def test_who_looks_never_holds_up_the_writer(tmp_path: Path) -> None:
    """The writer waits for no lock at all, and no look leaves a transaction behind."""
    stop, looks = threading.Event(), Counter[int]()

    def look(number: int) -> None:
        tally = Tally(tmp_path / "run", portion=7)
        while not stop.is_set():
            tally.look(0.01)
            looks[number] += 1

    with RunFolder(tmp_path / "run") as run:
        run.register(plan_of(corpus(tmp_path / "c", 40), grid="paper-baseline"), [FakeJudge(good, n) for n in "ab"])
        run.ledger._db.execute("PRAGMA busy_timeout = 0")
        threads = [threading.Thread(target=look, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        writer = Writer(run.ledger, 1)
        for _ in range(60):
            writer.write("a", 3)
            with reading(tmp_path / "run"):
                writer.write("b", 3)
        stop.set()
        for thread in threads:
            thread.join()
        (busy, *_) = run.ledger._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    assert min(looks[0], looks[1]) > 5
    assert busy == 0
    same_as_status(Tally(tmp_path / "run").look(), tmp_path / "run")
