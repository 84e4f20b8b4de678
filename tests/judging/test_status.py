from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.judging.engine_world import corpus, go, plan_of
from tests.judging.fakes import FakeJudge, attempt_of, good

from voirdire.errors import InputError
from voirdire.judging.nouns import Call, CallFailed, Reply
from voirdire.judging.progress import Watch
from voirdire.judging.run_folder import LEDGER, RunFolder
from voirdire.judging.status import read_status


def failing_first(call: Call) -> Reply | Exception:
    return CallFailed("server", "[not markup] & <b>", status=500) if attempt_of(call) == 1 else good(call)


def test_a_run_that_has_not_begun(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run") as folder:
        folder.register(plan_of(corpus(tmp_path / "c")), [FakeJudge(good, "a"), FakeJudge(good, "b")])
        status = read_status(tmp_path / "run")
        assert status.run_id == folder.ledger.run_id
    assert status.writer == os.getpid()
    assert (status.total, status.count("pending"), status.count("pending", "a")) == (12, 12, 6)
    assert (status.attempts, status.cost, status.per_second, status.last_at) == ({}, {}, 0.0, None)


def test_a_run_that_is_over(tmp_path: Path) -> None:
    go(plan_of(corpus(tmp_path / "c"), ["a"]), tmp_path / "run", failing_first)
    status = read_status(tmp_path / "run")
    assert status.writer is None
    assert status.cells == (("a", "neutral_en", "ok", 3), ("a", "neutral_zh", "ok", 3))
    assert status.attempts == {"a": {"ok": 6, "server": 6}}
    assert status.per_second > 0
    assert [failure.kind for failure in status.failures] == ["server"] * 5
    assert status.failures[0].note == "[not markup] & <b>"


def test_looking_changes_nothing(tmp_path: Path) -> None:
    go(plan_of(corpus(tmp_path / "c")), tmp_path / "run")
    before = (tmp_path / "run" / LEDGER).read_bytes()
    read_status(tmp_path / "run")
    assert (tmp_path / "run" / LEDGER).read_bytes() == before


def test_a_copy_in_a_read_only_folder_can_be_read(tmp_path: Path) -> None:
    """Where no log can be made beside the file, it is read as it lies."""
    go(plan_of(corpus(tmp_path / "c")), tmp_path / "run")
    for name in ("ledger.sqlite-wal", "ledger.sqlite-shm"):
        (tmp_path / "run" / name).unlink(missing_ok=True)
    (tmp_path / "run").chmod(0o500)
    try:
        assert read_status(tmp_path / "run").count("ok") == 12
    finally:
        (tmp_path / "run").chmod(0o700)


def test_no_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no run"):
        read_status(tmp_path)
    (tmp_path / LEDGER).write_bytes(b"x" * 5000)
    with pytest.raises(InputError, match="cannot be read"):
        read_status(tmp_path)


class TestWatch:
    def test_numbers_of_a_run(self, tmp_path: Path) -> None:
        watch = Watch()
        go(plan_of(corpus(tmp_path / "c"), ["a"]), tmp_path / "run", failing_first, watch=watch)
        seen = watch.snapshot()
        (judge,) = seen.judges
        assert (seen.total, seen.done, seen.left) == (6, 6, 0.0)
        assert (judge.calls, judge.retries, judge.failures, judge.status) == (12, 6, {"server": 6}, {"ok": 6})
        assert (judge.state, judge.pending, judge.unpriced) == ("done", 0, 6)

    def test_earlier_sessions_are_taken_over(self, tmp_path: Path) -> None:
        plan = plan_of(corpus(tmp_path / "c"), ["a"])
        go(plan, tmp_path / "run")
        watch = Watch()
        go(plan_of(tmp_path / "c", ["a", "b"]), tmp_path / "run", watch=watch)
        seen = {judge.name: judge for judge in watch.snapshot().judges}
        assert (seen["a"].status, seen["a"].calls) == ({"ok": 6}, 0)
        assert (seen["b"].status, seen["b"].calls) == ({"ok": 6}, 6)

    def test_rate_and_time_left(self) -> None:
        now = [0.0]
        watch = Watch(lambda: now[0])
        watch.begin({"a": "lane"}, [("a", "pending", 100), ("a", "ok", 20)], {"a": 1.5})
        assert watch.snapshot().left is None
        from voirdire.judging.nouns import Outcome

        now[0] = 10.0
        watch.ended("a", [Outcome(cell, "ok", 4.0, 1) for cell in range(50)])
        seen = watch.snapshot()
        assert (seen.total, seen.done, seen.per_second, seen.left, seen.cost) == (120, 70, 5.0, 10.0, 1.5)
        now[0] = 100.0
        assert watch.snapshot().per_second == 0.0

    def test_the_slowest_judge_says_how_long_it_takes(self) -> None:
        now = [0.0]
        watch = Watch(lambda: now[0])
        watch.begin({"quick": "a", "slow": "b"}, [("quick", "pending", 100), ("slow", "pending", 100)], {})
        from voirdire.judging.nouns import Outcome

        now[0] = 10.0
        watch.ended("quick", [Outcome(cell, "ok", 4.0, 1) for cell in range(100)])
        watch.ended("slow", [Outcome(cell, "ok", 4.0, 1) for cell in range(10)])
        assert (watch.snapshot().per_second, watch.snapshot().left) == (11.0, 90.0)
