"""A run as the reading room tells of it: its state, its lines, its money, what it was begun with."""

from __future__ import annotations

import sqlite3
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.judging.engine_world import corpus, go, plan_of
from tests.judging.fakes import FakeJudge, attempt_of, good

from voirdire.browsing.progress import Again, RunWatch, begun_with
from voirdire.errors import InputError
from voirdire.judging.nouns import Attempt, Call, CallFailed, Outcome, Reply, RunStopped, Usage
from voirdire.judging.run_folder import LEDGER, RunFolder
from voirdire.judging.status import read_status
from voirdire.judging.steps import Step
from voirdire.judging.tally import Tally


def failing_first(call: Call) -> Reply | Exception:
    return CallFailed("server", "no <b>luck", status=500) if attempt_of(call) == 1 else good(call)


def begun(place: Path, judges: tuple[str, ...] = ("a", "b")) -> RunFolder:
    run = RunFolder(place / "run")
    run.register(plan_of(corpus(place / "c"), judges), [FakeJudge(good, name) for name in judges], budget=3.0)
    return run


def answer(run: RunFolder, judge: str, count: int, *, cost: float | None = 0.5, kind: str = "ok") -> None:
    """Let a judge answer its next cells."""
    steps = [
        Step(
            cell,
            Attempt(cell.id, 1, kind, time.time(), 0.1, usage=Usage(), cost=cost),
            Outcome(cell.id, kind, 4.0 if kind == "ok" else None, 1),
        )
        for cell in run.ledger.pending(judge, limit=count)
    ]
    run.ledger.write(steps)


def look(place: Path):
    return RunWatch(place / "run", fresh=0.0).look()


class TestTheState:
    def test_running_with_rate_and_time_left(self, tmp_path: Path) -> None:
        with begun(tmp_path) as run:
            before = look(tmp_path)
            assert (before.state, before.per_second, before.left) == ("running", None, None)
            answer(run, "a", 3)
            now = look(tmp_path)
            assert (now.state, now.total.done, now.total.total) == ("running", 3, 12)
            assert now.per_second == pytest.approx(read_status(tmp_path / "run").per_second)
            assert now.left == pytest.approx(9 / now.per_second)
            later = replace(now, at=now.at + 600)
            assert (later.per_second, later.left) == (None, None)

    def test_stopped_and_finished(self, tmp_path: Path) -> None:
        with begun(tmp_path) as run:
            answer(run, "a", 6)
            run.stopped = RunStopped("run.stopped_interrupt", pending=6, total=12)
        assert look(tmp_path).state == "stopped"
        go(plan_of(tmp_path / "c"), tmp_path / "run")
        assert look(tmp_path).state == "finished"

    def test_killed_or_not_known(self, tmp_path: Path) -> None:
        run = begun(tmp_path)
        answer(run, "a", 1)
        run.close()
        assert look(tmp_path).state == "killed"
        with sqlite3.connect(tmp_path / "run" / LEDGER) as db:
            db.execute("DELETE FROM meta WHERE key = 'ended'")
        assert look(tmp_path).state == "idle"


def test_a_run_that_ends_during_a_look_is_not_called_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = begun(tmp_path)
    real = Tally.look

    def look_and_end(tally: Tally, seconds: float):
        found = real(tally, seconds)
        if not ended:
            ended.append(run.__exit__(None, None, None))
        return found

    ended: list[None] = []
    monkeypatch.setattr(Tally, "look", look_and_end)
    assert look(tmp_path).state == "stopped"


def test_lines_by_judge_condition_language_and_question(tmp_path: Path) -> None:
    go(plan_of(corpus(tmp_path / "c")), tmp_path / "run", failing_first)
    now = look(tmp_path)
    assert [(line.name, line.cells, line.failed, line.calls) for line in now.by("judge")] == [
        (name, {"ok": 6}, {"server": 6}, 12) for name in ("a", "b")
    ]
    assert [(line.name, line.done) for line in now.by("condition")] == [("neutral_en", 6), ("neutral_zh", 6)]
    assert [(line.name, line.failures) for line in now.by("language")] == [("en", 6), ("zh", 6)]
    assert [(line.name, line.total) for line in now.by("question")] == [("q1", 12)]
    assert (now.kinds, now.total.failures, now.total.calls) == (("server",), 12, 24)
    assert [(one.count, one.newest.note, one.newest.status) for one in now.errors] == [
        (6, "no <b>luck", 500),
        (6, "no <b>luck", 500),
    ]
    assert all(isinstance(one, Again) for one in now.errors)


def test_money_is_told_with_what_is_not_known(tmp_path: Path) -> None:
    with begun(tmp_path) as run:
        run.ledger._db.execute("""UPDATE judge SET facts = json_set(facts, '$.provider', 'openai') WHERE name = 'a'""")
        answer(run, "a", 2)
        answer(run, "a", 1, cost=None)
        answer(run, "b", 1, cost=None)
        now = look(tmp_path)
    a, b = now.by("judge")
    assert (a.money.known, a.money.unpriced, a.money.free) == (1.0, 1, False)
    assert (b.money.known, b.money.unpriced, b.money.free) == (0.0, 0, True)
    assert (now.total.money.known, now.total.money.unpriced, now.total.money.free) == (1.0, 1, False)
    assert now.counted.session.budget == 3.0


def test_judges_that_are_asked_no_longer_have_no_line_but_their_calls_count(tmp_path: Path) -> None:
    go(plan_of(corpus(tmp_path / "c")), tmp_path / "run")
    go(plan_of(tmp_path / "c", ["b"]), tmp_path / "run")
    now = look(tmp_path)
    assert [line.name for line in now.by("judge")] == ["b"]
    assert (now.total.total, now.total.calls) == (6, 12)


def test_a_look_is_shared_for_half_a_second_and_by_many_threads(tmp_path: Path) -> None:
    clock = [0.0]
    with begun(tmp_path) as run:
        watch = RunWatch(tmp_path / "run", clock=lambda: clock[0])
        first = watch.look()
        answer(run, "a", 2)
        assert watch.look() is first
        clock[0] += 0.6
        seen = []
        threads = [threading.Thread(target=lambda: seen.append(watch.look().total.done)) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert seen == [2] * 5


class TestWhatItWasBegunWith:
    def test_the_facts_of_the_folder(self, tmp_path: Path) -> None:
        go(plan_of(corpus(tmp_path / "c")), tmp_path / "run")
        told = begun_with(tmp_path / "run")
        assert told.readable
        assert {name: told.facts[name] for name in ("corpus", "items", "grid", "seed", "repeats")} == {
            "corpus": "killed", "items": "3", "grid": "neutral", "seed": "0", "repeats": "1",
        }  # fmt: skip
        assert [(one.name, one.provider, one.model) for one in told.judges] == [
            ("a", "python", "a.py"),
            ("b", "python", "b.py"),
        ]
        assert (dict(told.scales), told.conditions) == ({"q1": "ordinal:1:5"}, 2)

    @pytest.mark.parametrize("content", ["", "[[", "run = 3\njudge = [1]\nquestion = 'x'\ncorpus = [1]", "\ud800x"])
    def test_a_damaged_file_tells_nothing(self, tmp_path: Path, content: str) -> None:
        (tmp_path / "run.toml").write_bytes(content.encode("utf-8", "surrogatepass"))
        told = begun_with(tmp_path)
        assert (told.facts, told.judges, told.scales) == ({}, (), {})
        assert begun_with(tmp_path / "nowhere").readable is False


def test_what_cannot_be_read_is_an_input_error(tmp_path: Path) -> None:
    watch = RunWatch(tmp_path / "run", fresh=0.0)
    with pytest.raises(InputError, match="holds no run"):
        watch.look()
    begun(tmp_path).close()
    assert watch.look().total.total == 12
    with sqlite3.connect(tmp_path / "run" / LEDGER) as db:
        db.execute("UPDATE meta SET value = '0' WHERE key = 'format'")
    with pytest.raises(InputError, match="format 0"):
        watch.look()
    for file in (tmp_path / "run").iterdir():
        file.unlink()
    (tmp_path / "run" / LEDGER).write_bytes(b"damaged" * 900)
    with pytest.raises(InputError, match="cannot be read"):
        watch.look()


@pytest.mark.slow
def test_a_large_run_is_looked_at_in_short_reads(tmp_path: Path) -> None:
    """187,800 cells: the count is spread over looks, and from then on a look is quick."""
    from tests.browsing.large_run import large_run

    large_run(tmp_path / "run", items=626)
    watch, spans = RunWatch(tmp_path / "run", fresh=0.0), []
    while True:
        begin = time.process_time()
        now = watch.look(0.05)
        spans.append(time.process_time() - begin)
        if now.counted.whole:
            break
    begin = time.process_time()
    assert watch.look().total.total == 187_800
    again = time.process_time() - begin
    assert len(spans) > 1
    assert max(spans) < 0.5
    assert again < 0.2
    counted = Tally(tmp_path / "run").look()
    assert counted.cells == now.counted.cells
    assert counted.calls.keys() == now.counted.calls.keys()
