from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from tests.judging.fakes import (
    Asks,
    FakeJudge,
    Sink,
    Source,
    attempt_of,
    cell_of,
    cells,
    good,
    simulate,
)

from voirdire.judging.lane import Expected, Lane
from voirdire.judging.limits import Limits
from voirdire.judging.nouns import Call, CallFailed, Reply, Usage
from voirdire.judging.progress import Watch
from voirdire.judging.steps import Cell
from voirdire.judging.work import KEPT_CHARACTERS

Answer = Callable[[Call], Reply | Exception]
FAST = Limits(concurrency=8, backoff=0.1, backoff_cap=2.0, cooldown=5.0)


class Run:
    """Judges asked about cells in simulated time."""

    def __init__(
        self,
        *judges: FakeJudge,
        asked: Sequence[Cell] = (),
        limits: Limits = FAST,
        sink: Sink | None = None,
        spending: object = None,
        fault: type[BaseException] | None = None,
    ) -> None:
        self.sink, self.watch = sink or Sink(), Watch()
        names = [judge.name for judge in judges]
        counts = [(name, "pending", sum(cell.judge == name for cell in asked)) for name in names]
        self.watch.begin(dict.fromkeys(names, "lane"), counts, {})

        async def main() -> None:
            self.lane = Lane(
                judges, Asks(), Source(asked), self.sink, limits, np.random.default_rng(5),
                spending=spending, tally=self.watch,
            )  # fmt: skip
            await self.lane.run()

        if fault is None:
            _, self.took = simulate(main)
        else:
            with pytest.raises(fault):
                simulate(main)
        self.stopped = {line.judge.name: line.stopped for line in self.lane.lines}


def failing(kind: str, status: int | None = None, retry_after: float | None = None) -> CallFailed:
    return CallFailed(kind, f"why {kind}", status=status, retry_after=retry_after)  # type: ignore[arg-type]


def test_every_cell_ends_once_in_order() -> None:
    judges = [FakeJudge(good, "a", seconds=0.1), FakeJudge(good, "b", seconds=0.1)]
    run = Run(*judges, asked=cells(200, ("a", "b")), limits=Limits(concurrency=4))
    assert run.sink.statuses == {"ok": 200}
    order = [step.attempt.cell for step in run.sink.steps]
    assert max(abs(place - cell) for place, cell in enumerate(order, start=1)) <= 4
    assert {judge.in_flight for judge in judges} == {0}
    snapshot = run.watch.snapshot()
    assert (snapshot.done, snapshot.total, snapshot.in_flight) == (200, 200, 0)
    assert [judge.state for judge in snapshot.judges] == ["done", "done"]


def test_malformed_is_asked_again_five_times_with_tighter_words() -> None:
    seen: list[str] = []

    def answer(call: Call) -> Reply:
        seen.append(call.prompt.digest)
        return Reply("I would say 4")

    run = Run(FakeJudge(answer), asked=cells(1))
    assert run.sink.statuses == {"malformed": 1}
    assert run.sink.outcomes[1].attempts == 6
    assert run.sink.outcomes[1].rating is None
    assert seen == [f"{malformed:016x}" for malformed in range(6)]
    assert [step.attempt.text for step in run.sink.steps] == ["I would say 4"] * 6
    assert run.took == 0


def test_malformed_then_a_rating() -> None:
    run = Run(FakeJudge(lambda call: Reply("4." if attempt_of(call) < 6 else "2")), asked=cells(1))
    assert (run.sink.outcomes[1].status, run.sink.outcomes[1].rating, run.sink.outcomes[1].attempts) == ("ok", 2.0, 6)


def test_refusals_end_the_cell() -> None:
    run = Run(FakeJudge(lambda call: Reply("", refusal="policy")), asked=cells(1))
    assert run.sink.statuses == {"refused": 1}
    assert len(run.sink.steps) == 1


@pytest.mark.parametrize("rating", [float("nan"), float("inf"), 0.5, 5.5])
def test_a_number_that_is_no_rating_is_not_asked_again(rating: float) -> None:
    run = Run(FakeJudge(lambda call: Reply(rating=rating)), asked=cells(1))
    assert run.sink.statuses == {"malformed": 1}
    assert len(run.sink.steps) == 1


def test_a_number_between_levels_is_a_rating() -> None:
    run = Run(FakeJudge(lambda call: Reply(rating=3.25)), asked=cells(1))
    assert run.sink.outcomes[1].rating == 3.25


@pytest.mark.parametrize("cost", [-1.0, float("nan"), float("inf")])
def test_a_charge_that_is_none_is_unknown(cost: float) -> None:
    run = Run(FakeJudge(lambda call: Reply("4", cost=cost)), asked=cells(1))
    assert run.sink.statuses == {"ok": 1}
    assert run.sink.steps[0].attempt.cost is None


def test_long_replies_are_kept_in_part_with_their_length() -> None:
    run = Run(FakeJudge(lambda call: Reply("x" * 100_000, reasoning="y" * 30_000)), asked=cells(1))
    attempt = run.sink.steps[0].attempt
    assert (len(attempt.text), len(attempt.reasoning)) == (KEPT_CHARACTERS, KEPT_CHARACTERS)
    assert "text_length=100000" in attempt.note
    assert "reasoning_length=30000" in attempt.note


def test_lone_surrogates_can_be_stored() -> None:
    run = Run(FakeJudge(lambda call: Reply("4 \ud800")), asked=cells(1))
    run.sink.steps[0].attempt.text.encode()


@pytest.mark.parametrize("kind", ["server", "timeout", "connection"])
def test_six_failures_are_an_error_where_others_succeed(kind: str) -> None:
    run = Run(
        FakeJudge(lambda call: failing(kind, 500) if cell_of(call) == 5 else good(call), seconds=0.5),
        asked=cells(200),
        limits=replace(FAST, concurrency=2),
    )
    assert run.sink.statuses == {"ok": 199, "error": 1}
    assert run.sink.outcomes[5].attempts == 6
    assert run.sink.kinds[kind] == 6


@pytest.mark.parametrize("kind", ["rate_limit", "overload"])
def test_refusals_of_the_server_never_count_against_a_cell(kind: str) -> None:
    run = Run(FakeJudge(lambda call: failing(kind, 429) if attempt_of(call) < 30 else good(call)), asked=cells(1))
    assert run.sink.statuses == {"ok": 1}
    assert run.sink.outcomes[1].attempts == 30


def test_a_request_that_is_refused_for_good_is_an_error_at_once() -> None:
    run = Run(FakeJudge(lambda call: failing("request", 400) if cell_of(call) == 5 else good(call)), asked=cells(20))
    assert run.sink.statuses == {"ok": 19, "error": 1}
    assert run.sink.outcomes[5].attempts == 1


def test_bad_requests_before_any_reply_stop_the_judge_and_stay_pending() -> None:
    """A wrong parameter would otherwise burn every cell of the run."""
    run = Run(FakeJudge(lambda call: failing("request", 400)), asked=cells(500))
    assert run.stopped == {"j": "failing"}
    assert not run.sink.outcomes
    assert 10 <= len(run.sink.steps) <= 18
    assert set(run.sink.pardons) >= set(range(1, 11))


def test_bad_requests_before_the_first_reply_are_errors_after_it() -> None:
    run = Run(FakeJudge(lambda call: failing("request", 400) if cell_of(call) < 5 else good(call)), asked=cells(50))
    assert run.sink.statuses == {"ok": 46, "error": 4}


def test_few_cells_that_all_fail_stay_pending() -> None:
    run = Run(FakeJudge(lambda call: failing("request", 400)), asked=cells(3))
    assert run.stopped == {"j": "failing"}
    assert not run.sink.outcomes


@pytest.mark.parametrize(("kind", "status"), [("auth", 401), ("quota", 402), ("quota", 429)])
def test_a_key_that_is_not_accepted_stops_the_lane_at_once(kind: str, status: int) -> None:
    def answer(call: Call) -> Reply | Exception:
        return failing(kind, status) if cell_of(call) > 20 else good(call)

    judges = [FakeJudge(answer, name, seconds=0.1, failing_seconds=0.1) for name in ("a", "b")]
    run = Run(*judges, asked=cells(1000, ("a", "b")))
    assert run.stopped == {"a": kind, "b": kind}
    assert run.sink.statuses == {"ok": 20}
    assert len(run.sink.steps) <= 20 + 2 * FAST.concurrency
    assert {judge.state for judge in run.watch.snapshot().judges} == {"stopped"}
    assert run.watch.snapshot().judges[0].why == f"why {kind}"


@pytest.mark.parametrize("status", [403, 404])
def test_a_missing_model_stops_its_judge_only(status: int) -> None:
    judges = [FakeJudge(good, "a"), FakeJudge(lambda call: failing("auth", status), "b")]
    run = Run(*judges, asked=cells(100, ("a", "b")))
    assert run.stopped == {"a": "", "b": "auth"}
    assert run.sink.statuses == {"ok": 50}


def test_a_server_that_is_not_there_is_left_alone_soon() -> None:
    run = Run(FakeJudge(lambda call: failing("connection")), asked=cells(10_000))
    assert run.stopped == {"j": "failing"}
    assert not run.sink.outcomes
    assert len(run.sink.steps) < 30
    assert run.took < 10


def test_a_network_that_is_gone_for_a_minute_costs_no_cell() -> None:
    """The judge rests, is tried with single calls, and goes on; failures of that time are forgiven."""

    def answer(call: Call) -> Reply | Exception:
        gone = 1020 < asyncio.get_running_loop().time() < 1080
        return failing("connection") if gone else good(call)

    run = Run(FakeJudge(answer, seconds=0.5), asked=cells(2000), limits=replace(FAST, concurrency=32))
    assert run.sink.statuses == {"ok": 2000}
    assert run.sink.kinds["connection"] < 120
    assert run.took < 2000 / 32 * 0.5 + 60 + 45
    assert run.sink.pardons


def test_a_network_that_stays_away_leaves_the_cells_pending() -> None:
    def answer(call: Call) -> Reply | Exception:
        return failing("timeout") if cell_of(call) > 100 else good(call)

    run = Run(FakeJudge(answer, seconds=0.5), asked=cells(5000), limits=replace(FAST, concurrency=32))
    assert run.stopped == {"j": "failing"}
    assert run.sink.statuses == {"ok": 100}
    assert run.took < 700


def test_one_broken_judge_does_not_hold_up_its_lane() -> None:
    def broken(call: Call) -> Reply | Exception:
        return good(call) if cell_of(call) < 20 else failing("server", 500)

    judges = [FakeJudge(good, "a", seconds=0.2), FakeJudge(broken, "b", seconds=0.2)]
    run = Run(*judges, asked=cells(4000, ("a", "b")))
    assert run.stopped == {"a": "", "b": "failing"}
    assert run.sink.statuses["ok"] == 2000 + 9
    assert run.sink.statuses["error"] < 5


def test_a_server_that_only_refuses_is_waited_for_with_patience() -> None:
    limits = replace(FAST, patience=600.0)
    run = Run(FakeJudge(lambda call: failing("rate_limit", 429, 30.0)), asked=cells(100), limits=limits)
    assert run.stopped == {"j": "limited"}
    assert not run.sink.outcomes
    assert 600 < run.took < 700


def test_a_retry_after_beyond_patience_stops_at_once() -> None:
    run = Run(FakeJudge(lambda call: failing("rate_limit", 429, 86_400.0)), asked=cells(100))
    assert run.stopped == {"j": "limited"}
    assert run.took < 1


def test_a_waiting_cell_holds_no_slot() -> None:
    """Seven cells of ten wait 10 seconds each; one slot serves all of them."""

    def answer(call: Call) -> Reply | Exception:
        wait = cell_of(call) % 10 < 2 and attempt_of(call) == 1
        return failing("rate_limit", 429, 10.0) if wait else good(call)

    run = Run(FakeJudge(answer, seconds=0.1), asked=cells(100), limits=Limits(concurrency=1))
    assert run.took < 100 * 0.1 + 11


def test_cells_go_on_where_an_earlier_run_left_them() -> None:
    left = replace(cells(1)[0], attempts=7, malformed=4, failures=3)
    run = Run(FakeJudge(lambda call: Reply("no rating")), asked=[left])
    assert [step.attempt.number for step in run.sink.steps] == [8, 9]
    assert run.sink.outcomes[1].attempts == 9


def test_a_fault_of_the_sink_stops_everything_at_once() -> None:
    judge = FakeJudge(good, seconds=0.1)
    sink = Sink(fail_after=20, fault=OSError("disk full"))
    run = Run(judge, asked=cells(1000), sink=sink, fault=OSError)
    assert len(run.sink.steps) == 20
    assert len(judge.calls) <= 20 + FAST.concurrency
    assert judge.in_flight == 0


def test_a_fault_of_a_judge_is_not_swallowed() -> None:
    def answer(call: Call) -> Reply | Exception:
        return ZeroDivisionError() if cell_of(call) == 3 else good(call)

    Run(FakeJudge(answer), asked=cells(10), fault=ZeroDivisionError)


class Account:
    """A budget for tests: every call may cost 1 and costs 0.25."""

    def __init__(self, limit: float, lane: Callable[[], Lane]) -> None:
        self.left, self.held, self.highest, self.lane = limit, 0.0, 0.0, lane
        self.limit = limit

    def expect(self, cell: Cell, malformed: int) -> Expected:
        return Expected(1.0, 0.0)

    def reserve(self, dollars: float) -> bool:
        if self.held + dollars > self.left:
            if self.held == 0:
                self.lane().stop()
            return False
        self.held += dollars
        self.highest = max(self.highest, self.limit - self.left + self.held)
        return True

    def settle(self, reserved: float, actual: float | None) -> None:
        self.held -= reserved
        self.left -= reserved if actual is None else actual
        if self.lane().short:
            self.lane().nudge()


def test_calls_that_do_not_fit_the_budget_wait_for_those_in_flight() -> None:
    runs: list[Run] = []

    class Kept(Run):
        def __init__(self, account: Account) -> None:
            runs.append(self)
            judge = FakeJudge(lambda call: replace(good(call), cost=0.25), seconds=0.1)
            super().__init__(judge, asked=cells(1000), spending=account)

    account = Account(10.0, lambda: runs[0].lane)
    run = Kept(account)
    assert account.highest <= 10.0
    assert len(run.sink.outcomes) == 37
    assert account.left < 1.0
    assert account.held == 0


def test_tokens_a_minute() -> None:
    class Tokens:
        def expect(self, cell: Cell, malformed: int) -> Expected:
            return Expected(0.0, 500.0)

        def reserve(self, dollars: float) -> bool:
            return True

        def settle(self, reserved: float, actual: float | None) -> None:
            pass

    judge = FakeJudge(lambda call: Reply("4", usage=Usage(990, 10)), seconds=0.1)
    run = Run(judge, asked=cells(100), limits=Limits(tokens_per_minute=30_000), spending=Tokens())
    assert run.sink.statuses == {"ok": 100}
    used = 1000 * len([at for at, _ in judge.calls if at < 1000 + 60])
    assert used <= 1.1 * 30_000
    assert run.took == pytest.approx(200, rel=0.1)


def test_stop_lets_calls_in_flight_finish() -> None:
    judge, sink = FakeJudge(good, seconds=1.0), Sink()

    async def main() -> None:
        lane = Lane([judge], Asks(), Source(cells(1000)), sink, Limits(concurrency=8), np.random.default_rng(1))
        asyncio.get_running_loop().call_later(2.5, lane.stop)
        await lane.run()

    _, took = simulate(main)
    assert took == pytest.approx(3.0)
    assert sink.statuses == {"ok": 24}


def test_drop_breaks_them_off() -> None:
    judge, sink = FakeJudge(good, seconds=100.0), Sink()

    async def main() -> None:
        lane = Lane([judge], Asks(), Source(cells(1000)), sink, Limits(concurrency=8), np.random.default_rng(1))
        asyncio.get_running_loop().call_later(2.5, lane.drop)
        await lane.run()

    _, took = simulate(main)
    assert took == pytest.approx(2.5)
    assert judge.in_flight == 0
    assert not sink.outcomes


def test_a_cancelled_run_leaves_nothing_running() -> None:
    judge = FakeJudge(good, seconds=100.0)

    async def main() -> int:
        lane = Lane([judge], Asks(), Source(cells(1000)), Sink(), Limits(concurrency=8), np.random.default_rng(1))
        task = asyncio.ensure_future(lane.run())
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return len(asyncio.all_tasks())

    left, _ = simulate(main)
    assert (left, judge.in_flight) == (1, 0)
