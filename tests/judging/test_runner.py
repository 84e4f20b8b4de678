from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.judging.engine_world import Answer, corpus, go, plan_of, repeated
from tests.judging.fakes import FakeJudge, attempt_of, good

from voirdire.judging.export import export
from voirdire.judging.ledger import Ledger
from voirdire.judging.limits import Limits
from voirdire.judging.nouns import Call, CallFailed, Reply, RunStopped
from voirdire.judging.plan import Plan
from voirdire.judging.progress import Watch
from voirdire.judging.providers.catalog import capability
from voirdire.judging.run_folder import RunFolder
from voirdire.judging.runner import GroupCommit, Purse, Tariff, run
from voirdire.judging.spending import Budget, Price, dollars
from voirdire.judging.status import read_status
from voirdire.judging.steps import Cell

ROOT = Path(__file__).resolve().parents[2]


def test_a_run_ends_with_every_cell_and_closes_its_judges(tmp_path: Path) -> None:
    plan = plan_of(corpus(tmp_path / "c"), grid="paper-baseline")
    judges = [FakeJudge(good, "a", "one"), FakeJudge(good, "b", "two")]
    watch = Watch()
    summary = go(plan, tmp_path / "run", judges=judges, watch=watch)
    assert summary.stopped is None
    assert (summary.progress.done, summary.progress.total, summary.progress.in_flight) == (60, 60, 0)
    assert [judge.closed for judge in judges] == [1, 1]
    assert watch.snapshot().judges[0].status == {"ok": 30}


def test_a_second_run_asks_nothing(tmp_path: Path) -> None:
    plan = plan_of(corpus(tmp_path / "c"))
    go(plan, tmp_path / "run")
    judges = [FakeJudge(good, "a"), FakeJudge(good, "b")]
    assert go(plan, tmp_path / "run", judges=judges).stopped is None
    assert [judge.calls for judge in judges] == [[], []]


def test_a_stopped_run_says_why_and_goes_on(tmp_path: Path) -> None:
    plan = plan_of(corpus(tmp_path / "c"))

    def key_missing(call: Call) -> Exception:
        return CallFailed("auth", "no such key", status=401)

    stopped = go(plan, tmp_path / "run", key_missing).stopped
    assert isinstance(stopped, RunStopped)
    assert "a: auth: no such key" in str(stopped)
    assert "12 of 12 cells pending" in str(stopped)
    assert go(plan, tmp_path / "run").stopped is None


def test_judges_that_are_not_asked_leave_their_cells(tmp_path: Path) -> None:
    plan = plan_of(corpus(tmp_path / "c"))
    with RunFolder(tmp_path / "run") as folder:
        folder.register(plan, [FakeJudge(good, "a"), FakeJudge(good, "b")])
        summary = asyncio.run(run(plan, [FakeJudge(good, "a")], folder.ledger, signals=False))
    assert summary.stopped is not None
    assert summary.stopped.key == "run.stopped_pending"
    assert summary.stopped.fields == {"pending": 6, "total": 12}


def test_what_comes_in_one_turn_of_the_loop_is_one_transaction(tmp_path: Path) -> None:
    plan = plan_of(corpus(tmp_path / "c"), grid=repeated("paper-baseline", 4))
    writes: list[int] = []

    class Counting(Ledger):
        def write(self, steps, outcomes=(), pardons=None):
            writes.append(len(steps))
            super().write(steps, outcomes, pardons)

    with RunFolder(tmp_path / "run") as folder:
        judges = [FakeJudge(good, "a", seconds=0.05), FakeJudge(good, "b", seconds=0.05)]
        folder.register(plan, judges)
        folder.ledger.close()
        with Counting(folder.ledger.path) as ledger:
            folder.ledger = ledger
            asyncio.run(run(plan, judges, ledger, signals=False, limits=Limits(concurrency=60)))
    assert sum(writes) == 240
    assert len(writes) <= 60


def test_a_slot_is_free_only_when_its_step_is_safe(tmp_path: Path) -> None:
    """At any instant no more calls are out or unwritten than the lane's concurrency."""
    plan = plan_of(corpus(tmp_path / "c"), ["a"], repeated("paper-baseline", 4))
    started: list[str] = []
    most = 0
    with RunFolder(tmp_path / "run") as folder:

        def answer(call: Call) -> Reply:
            nonlocal most
            started.append(call.id)
            done = folder.ledger._db.execute("SELECT count(*) FROM attempt").fetchone()[0]
            most = max(most, len(started) - done)
            return good(call)

        judge = FakeJudge(answer, "a", seconds=0.001)
        folder.register(plan, [judge])
        asyncio.run(run(plan, [judge], folder.ledger, signals=False, limits=Limits(concurrency=5)))
    assert len(started) == 120
    assert most == 5


def test_a_commit_that_fails_reaches_every_waiter() -> None:
    class Full:
        def write(self, *given: object) -> None:
            raise RunStopped("run.disk", file="f", free="0", why="full")

    async def main() -> list[BaseException | None]:
        sink = GroupCommit(Full())  # type: ignore[arg-type]
        waits = [sink.finish([]), sink.pardon({}), sink.finish([])]
        return await asyncio.gather(*waits, return_exceptions=True)

    assert [type(error) for error in asyncio.run(main())] == [RunStopped] * 3


def test_a_full_disk_stops_the_spending(tmp_path: Path) -> None:
    plan = plan_of(corpus(tmp_path / "c"), ["a"], repeated("paper-baseline", 40))
    judge = FakeJudge(lambda call: Reply("4", reasoning="x" * 15_000), "a", seconds=0.001)
    with RunFolder(tmp_path / "run") as folder:
        folder.register(plan, [judge])
        pages = folder.ledger._db.execute("PRAGMA page_count").fetchone()[0]
        folder.ledger._db.execute(f"PRAGMA max_page_count = {pages + 200}")
        with pytest.raises(RunStopped, match=r"ledger\.sqlite could not be written .*full"):
            asyncio.run(run(plan, [judge], folder.ledger, signals=False, limits=Limits(concurrency=5)))
        safe = folder.ledger._db.execute("SELECT count(*) FROM outcome").fetchone()[0]
        assert 10 < safe <= len(judge.calls) <= safe + 5
        assert judge.closed == 1
    with RunFolder(tmp_path / "run") as folder:
        judge = FakeJudge(good, "a")
        folder.register(plan, [judge])
        assert asyncio.run(run(plan, [judge], folder.ledger, signals=False)).stopped is None
        assert len(judge.calls) == 1200 - safe


def test_the_budget_is_a_hard_stop(tmp_path: Path) -> None:
    plan = plan_of(corpus(tmp_path / "c"), ["a"], repeated("paper-baseline", 4))
    tariff = Tariff(capability("openai", "gpt-4o"), {"max_tokens": 16}, Price(2.5, 10.0))

    def priced(limit: float) -> tuple[FakeJudge, Budget]:
        judge = FakeJudge(good, "a", seconds=0.001)
        with RunFolder(tmp_path / "run") as folder:
            folder.register(plan, [judge])
            budget = Budget(limit, sum(folder.ledger.costs().values()))
            summary = asyncio.run(
                run(plan, [judge], folder.ledger, budget=budget, tariffs={"a": tariff}, signals=False)
            )
            assert sum(folder.ledger.costs().values()) == pytest.approx(budget.spent)
            stopped.append(summary.stopped)
        return judge, budget

    stopped: list[RunStopped | None] = []
    one = (100 * 2.5 + 1 * 10) / 1e6
    judge, budget = priced(20 * one)
    assert budget.spent <= 20 * one
    assert 15 <= len(judge.calls) <= 20
    assert stopped[0] is not None
    assert stopped[0].key == "run.stopped_budget"
    rest, _ = priced(1.0)
    assert stopped[1] is None
    assert len(rest.calls) == 120 - len(judge.calls)


TARIFF = Tariff(capability("openai", "gpt-4o"), {"max_tokens": 16}, Price(2.5, 10.0))


def session(
    out: Path, plan: Plan, answer: Answer, limit: float | None, concurrency: int = 4
) -> tuple[Budget, float, float, RunStopped | None]:
    """A session of one judge: the budget after it, costs and held dollars of the ledger, and how it ended."""
    with RunFolder(out) as folder:
        judge = FakeJudge(answer, "a")
        folder.register(plan, [judge])
        budget = Budget(limit, sum(folder.ledger.costs().values()))
        limits = Limits(concurrency=concurrency, backoff=0.001, backoff_cap=0.002)
        more = {"budget": budget, "tariffs": {"a": TARIFF}, "limits": limits, "signals": False}
        ended = asyncio.run(run(plan, [judge], folder.ledger, **more))
        return budget, sum(folder.ledger.costs().values()), folder.ledger.held(), ended.stopped


@pytest.mark.parametrize(
    ("limit", "first"),
    [(100.0, CallFailed("timeout")), (None, CallFailed("timeout")), (100.0, CallFailed("server", status=200))],
)
def test_calls_of_unknown_cost_count_after_a_restart(tmp_path: Path, limit: float | None, first: CallFailed) -> None:
    """Also where the first session had no budget of its own: what would have been reserved is written down.

    The first call of a cell times out, or its reply cannot be read; the second comes without a count of tokens.
    """
    plan = plan_of(corpus(tmp_path / "c"), ["a"])

    def untold(call: Call) -> Reply | CallFailed:
        return first if attempt_of(call) == 1 else Reply("4")

    budget, known, held, stopped = session(tmp_path / "run", plan, untold, limit)
    assert (known, stopped) == (0, None)
    most = Purse(plan, Budget(), {"a": TARIFF})
    expected = 2 * sum(most.most(cell, 0) for cell in cells_of(plan))
    assert held == pytest.approx(expected)
    if limit is not None:
        assert budget.spent == budget.unknown == pytest.approx(held)
    later, *_ = session(tmp_path / "run", plan, good, 100.0)
    assert later.spent == later.unknown == pytest.approx(held)
    assert read_status(tmp_path / "run").held == pytest.approx(held)
    assert read_status(tmp_path / "run").cost == {}


def cells_of(plan: Plan) -> list[Cell]:
    """The cells of a plan with one judge and one question."""
    return [
        Cell(0, item.id, condition.full_name, plan.material.evaluation, 1, "a")
        for item in plan.items
        for condition in plan.conditions
    ]


def test_a_budget_is_kept_over_sessions_whose_calls_time_out(tmp_path: Path) -> None:
    """However often it is started again: what timed out was perhaps charged, and the limit holds for it."""
    plan = plan_of(corpus(tmp_path / "c"), ["a"], repeated("paper-baseline", 4))
    one = Purse(plan, Budget(), {"a": TARIFF}).most(cells_of(plan)[0], 0)
    sent = 0

    def slow(call: Call) -> CallFailed | Reply:
        nonlocal sent
        sent += 1
        return good(call) if sent % 2 else CallFailed("timeout")

    for _ in range(4):
        budget, known, held, stopped = session(tmp_path / "run", plan, slow, 20 * one)
        assert known + held <= 20 * one * (1 + 1e-6)
        assert budget.spent == pytest.approx(known + held, abs=1e-6)
    assert stopped is not None
    assert stopped.key == "run.stopped_budget"
    assert stopped.fields["held"] == dollars(held)
    assert held > 0


@pytest.mark.parametrize(
    "failure",
    [
        CallFailed("connection", sent=False),
        CallFailed("timeout", sent=False),
        CallFailed("server", status=500),
        CallFailed("rate_limit", status=429, retry_after=0.0),
    ],
)
def test_what_was_not_charged_is_not_held(tmp_path: Path, failure: CallFailed) -> None:
    plan = plan_of(corpus(tmp_path / "c"), ["a"])
    budget, known, held, stopped = session(
        tmp_path / "run", plan, lambda call: failure if attempt_of(call) == 1 else good(call), 100.0
    )
    assert stopped is None
    assert (held, budget.unknown) == (0, 0)
    assert budget.spent == pytest.approx(known)


def test_calls_that_are_broken_off_count_in_full(tmp_path: Path) -> None:
    """A fault of the program ends calls in flight that may be charged; so does a second signal."""
    plan = plan_of(corpus(tmp_path / "c"), ["a"])
    answered = 0

    def breaks(call: Call) -> Reply:
        nonlocal answered
        answered += 1
        if answered == 3:
            raise ZeroDivisionError
        return good(call)

    with pytest.raises(ZeroDivisionError):
        session(tmp_path / "run", plan, breaks, 100.0, concurrency=3)
    one = Purse(plan, Budget(), {"a": TARIFF}).most(cells_of(plan)[0], 0)
    held = read_status(tmp_path / "run").held
    assert one <= held <= 1.3 * 3 * 1.1 * one
    budget, known, later, _ = session(tmp_path / "run", plan, good, 100.0)
    assert later == pytest.approx(held)
    assert budget.spent == pytest.approx(known + held, abs=1e-6)


def test_a_session_that_ends_well_leaves_no_mark(tmp_path: Path) -> None:
    plan = plan_of(corpus(tmp_path / "c"), ["a"])
    session(tmp_path / "run", plan, good, 100.0)
    with Ledger(tmp_path / "run" / "ledger.sqlite") as ledger:
        assert (ledger.meta("exposed"), ledger.held()) == (None, 0)


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.judging.engine_world import plan_of, repeated
from tests.judging.fakes import FakeJudge, good
from tests.judging.test_runner import session

asked = 0
def answer(call):
    global asked
    asked += 1
    print(asked, flush=True)
    if asked == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
    return good(call)

plan = plan_of(Path(sys.argv[1]), ["a"], repeated("paper-baseline", 2))
session(Path(sys.argv[2]), plan, answer, 100.0)
"""


@pytest.mark.parametrize("after", [1, 9])
def test_calls_in_flight_at_a_kill_count_with_an_upper_bound(tmp_path: Path, after: int) -> None:
    plan = plan_of(corpus(tmp_path / "c"), ["a"], repeated("paper-baseline", 2))
    one = Purse(plan, Budget(), {"a": TARIFF}).most(cells_of(plan)[0], 0)
    out = tmp_path / "run"
    command = [sys.executable, "-c", KILLED, str(tmp_path / "c"), str(out), str(after)]
    lost = 0.0
    for _ in range(2):
        before = sum(read_status(out).attempts.get("a", {}).values()) if out.exists() else 0
        killed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        status = read_status(out)
        unwritten = len(killed.stdout.split()) - (sum(status.attempts.get("a", {}).values()) - before)
        assert unwritten >= 1
        assert lost + unwritten * 0.8 * one <= status.held <= lost + 1.3 * 8 * one
        lost = status.held
    budget, known, held, stopped = session(out, plan, good, 100.0)
    assert stopped is None
    assert held == pytest.approx(lost)
    assert budget.spent == pytest.approx(known + lost, abs=1e-6)


def test_long_names_of_servers_are_cut(tmp_path: Path) -> None:
    plan = plan_of(corpus(tmp_path / "c"), ["a"])
    go(plan, tmp_path / "run", lambda call: replace(good(call), served="m" * 10_000, served_by="s" * 10_000))
    with sqlite3.connect(tmp_path / "run" / "ledger.sqlite") as db:
        assert db.execute("SELECT served, served_by FROM origin").fetchall() == [("m" * 200, "s" * 200)]
    db.close()


def test_costs_of_the_provider_go_before_the_table(tmp_path: Path) -> None:
    plan = plan_of(corpus(tmp_path / "c"), ["a"])
    tariff = Tariff(capability("openai", "gpt-4o"), {}, Price(2.5, 10.0))
    summary = go(plan, tmp_path / "run", lambda call: replace(good(call), cost=0.5), tariffs={"a": tariff})
    assert summary.progress.cost == pytest.approx(3.0)


def test_attempts_are_numbered_on_over_sessions(tmp_path: Path) -> None:
    """A malformed reply of the first session counts in the second: the cell ends as in one session."""
    plan = plan_of(corpus(tmp_path / "c", 1), ["a"], "neutral")

    def first(call: Call) -> Reply | Exception:
        return Reply("hm") if attempt_of(call) <= 3 else CallFailed("auth", status=401)

    go(plan, tmp_path / "run", first)
    prompts: list[tuple[str, str]] = []

    def second(call: Call) -> Reply:
        prompts.append((call.id.split("-", 1)[1], call.prompt.digest))
        return good(call)

    go(plan, tmp_path / "run", second)
    assert sorted(name for name, _ in prompts) == ["1-5", "2-5"]
    status = read_status(tmp_path / "run")
    assert status.attempts["a"] == {"auth": 2, "malformed": 6, "ok": 2}


STOPPABLE = """
import asyncio, sys
from pathlib import Path
from tests.judging.engine_world import plan_of, repeated
from tests.judging.fakes import FakeJudge, good
from voirdire.judging.limits import Limits
from voirdire.judging.run_folder import RunFolder
from voirdire.judging.runner import run

plan = plan_of(Path(sys.argv[1]), ["a"], repeated("paper-baseline", 100))
judge = FakeJudge(good, "a", seconds=float(sys.argv[3]))
with RunFolder(Path(sys.argv[2])) as folder:
    folder.register(plan, [judge])
    print("begins", flush=True)
    summary = asyncio.run(run(plan, [judge], folder.ledger, limits=Limits(concurrency=4), grace=30))
print(len(judge.calls), summary.progress.done, summary.stopped.key, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_first_signal_lets_calls_in_flight_finish(tmp_path: Path, number: signal.Signals) -> None:
    corpus(tmp_path / "c")
    command = [sys.executable, "-c", textwrap.dedent(STOPPABLE), str(tmp_path / "c"), str(tmp_path / "run"), "0.3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(1.0)
        process.send_signal(number)
        calls, done, key = process.stdout.read().split()
    assert process.returncode == 0
    assert (calls, key) == (done, "run.stopped_interrupt")
    assert int(done) >= 4


def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    corpus(tmp_path / "c")
    command = [sys.executable, "-c", textwrap.dedent(STOPPABLE), str(tmp_path / "c"), str(tmp_path / "run"), "60"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(1.0)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        calls, done, key = process.stdout.read().split()
        assert time.monotonic() - begun < 10
    assert (calls, done, key) == ("4", "0", "run.stopped_interrupt")


def test_no_key_reaches_the_folder(tmp_path: Path) -> None:
    """What a judge is set to and what a provider says are written down; a key is in neither."""
    from tests.judging.kill_run import KEYS, perform
    from tests.mock_provider import Behaviour, spawn

    corpus(tmp_path / "c", 2)
    with spawn(Behaviour(malformed=0.1, server=0.1)) as mock:
        summary = perform(tmp_path / "c", tmp_path / "run", mock.url, 8)
    assert summary.stopped is None
    secret = next(iter(KEYS.values())).encode()
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert len(files) >= 5
    assert [path.name for path in files if secret in path.read_bytes()] == []


def test_two_hundred_thousand_cells_are_planned_in_flat_memory(tmp_path: Path) -> None:
    """Pages, not lists: what is held of the cells does not grow with their number."""
    import tracemalloc

    plan = plan_of(corpus(tmp_path / "c", 10), ["a"], repeated("paper-baseline", 2000))
    with RunFolder(tmp_path / "run") as folder:
        tracemalloc.start()
        folder.register(plan, [FakeJudge(good, "a")])
        page = folder.ledger.pending("a")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert folder.ledger.counts() == [("a", "pending", 200_000)]
    assert len(page) == 256
    assert peak < 4e6


def test_lanes_are_by_the_judges_lane(tmp_path: Path) -> None:
    """Judges of one lane share its concurrency; another lane has its own."""
    plan = plan_of(corpus(tmp_path / "c"), ["a", "b", "c"], repeated("paper-baseline", 2))
    open_now: Counter[str] = Counter()
    most: Counter[str] = Counter()

    class Counted(FakeJudge):
        async def ask(self, call: Call) -> Reply:
            open_now[self.lane] += 1
            most[self.lane] = max(most[self.lane], open_now[self.lane])
            try:
                return await super().ask(call)
            finally:
                open_now[self.lane] -= 1

    judges = [Counted(good, name, lane, seconds=0.005) for name, lane in (("a", "x"), ("b", "x"), ("c", "y"))]
    limits = {"a": Limits(concurrency=3), "b": Limits(concurrency=50), "c": Limits(concurrency=7)}
    assert go(plan, tmp_path / "run", judges=judges, limits=limits).stopped is None
    assert most == {"x": 3, "y": 7}


def test_the_process_that_was_killed_does_not_hold_the_lock(tmp_path: Path) -> None:
    corpus(tmp_path / "c")
    command = [sys.executable, "-c", textwrap.dedent(STOPPABLE), str(tmp_path / "c"), str(tmp_path / "run"), "0.05"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.7)
        assert read_status(tmp_path / "run").writer == process.pid
        os.kill(process.pid, signal.SIGKILL)
    assert read_status(tmp_path / "run").writer is None
    with RunFolder(tmp_path / "run") as folder, sqlite3.connect(folder.ledger.path) as db:
        assert db.execute("SELECT count(*) FROM outcome").fetchone()[0] > 0
    db.close()


def test_a_clock_that_jumps_changes_nothing_but_the_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting follows the monotonic clock: a wall clock set back by years delays no cell and loses none."""
    shown = itertools.cycle([2e9, 1e9, 1.5e9, 0.0])
    monkeypatch.setattr("time.time", lambda: next(shown))
    refused = CallFailed("rate_limit", status=429, retry_after=0.01)
    plan = plan_of(corpus(tmp_path / "c"), ["a"])
    summary = go(plan, tmp_path / "run", lambda call: refused if attempt_of(call) == 1 else good(call))
    assert summary.stopped is None
    export(tmp_path / "run")
    table = pl.read_parquet(tmp_path / "run" / "judgments.parquet")
    assert table.height == plan.size
    assert set(table["status"]) == {"ok"}
    assert set(table["attempts"]) == {2}
    assert table["seconds"].min() >= 0
