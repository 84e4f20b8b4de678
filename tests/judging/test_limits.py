from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.judging.fakes import Asks, Bucket, FakeJudge, Sink, Source, Window, cells, good, simulate

from voirdire.judging.lane import Lane
from voirdire.judging.limits import Breaker, Limits, Pace, Quota, pause_after, wait_as_told
from voirdire.judging.nouns import Call, CallFailed, Reply

Server = Callable[[Call], Reply | Exception]


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


class Trial:
    """Cells through a lane against a server, in simulated time."""

    def __init__(
        self,
        count: int,
        server: Callable[[Callable[[], float]], Server],
        limits: Limits,
        seconds: float,
    ) -> None:
        async def main() -> None:
            clock = asyncio.get_running_loop().time
            self.judge = FakeJudge(server(clock), seconds=seconds, failing_seconds=0.001)
            self.sink = Sink()
            self.lane = Lane([self.judge], Asks(), Source(cells(count)), self.sink, limits, rng())
            await self.lane.run()

        _, self.took = simulate(main)
        self.calls = len(self.judge.calls)


@pytest.mark.parametrize("concurrency", [4, 16, 64, 256])
@pytest.mark.parametrize(("burst", "seconds"), [(10, 0.4), (10, 2.0), (1, 0.4), (100, 0.4)])
@pytest.mark.parametrize("retry_after", [1.0, None])
def test_ten_calls_a_second_for_ever(concurrency: int, burst: int, seconds: float, retry_after: float | None) -> None:
    """No cell is lost, and the server's limit is used, whatever the concurrency."""
    trial = Trial(300, lambda clock: Bucket(clock, 10, burst, retry_after), Limits(concurrency=concurrency), seconds)
    assert trial.sink.statuses == {"ok": 300}
    ideal = max((300 - burst) / 10 + seconds, 300 / concurrency * seconds)
    assert trial.took <= 1.15 * ideal


@pytest.mark.parametrize("rate", [0.5, 40.0, 200.0])
def test_other_rates(rate: float) -> None:
    count = max(60, int(rate * 30))
    trial = Trial(count, lambda clock: Bucket(clock, rate, max(1, rate)), Limits(concurrency=64), 0.3)
    assert trial.sink.statuses == {"ok": count}
    assert trial.took <= 1.15 * count / rate


def test_few_calls_are_wasted_at_a_limit() -> None:
    trial = Trial(3000, lambda clock: Bucket(clock, 10, 10), Limits(concurrency=64), 0.4)
    assert trial.calls <= 1.1 * 3000
    assert trial.took <= 1.05 * 300


def test_a_limit_that_rises_is_found() -> None:
    def server(clock: Callable[[], float]) -> Server:
        bucket = Bucket(clock, 5, 5)
        begun = clock()

        def answer(call: Call) -> Reply | Exception:
            bucket.rate = 5 if clock() < begun + 30 else 50
            return bucket(call)

        return answer

    trial = Trial(1500, server, Limits(concurrency=64), 0.4)
    assert trial.sink.statuses == {"ok": 1500}
    assert trial.took <= 30 + 2.5 * 1350 / 50


@pytest.mark.parametrize("share", [0.02, 0.05, 0.1])
def test_scattered_refusals_slow_nobody_else(share: float) -> None:
    """Each refused cell waits as told, the others go on: no shared pause, no spacing."""
    chance = rng()

    def answer(call: Call) -> Reply | Exception:
        refused = CallFailed("rate_limit", "", status=429, retry_after=1.0)
        return refused if chance.random() < share else good(call)

    trial = Trial(3000, lambda clock: answer, Limits(concurrency=64), 0.4)
    assert trial.sink.statuses == {"ok": 3000}
    assert trial.lane.pace.rate == math.inf
    assert trial.took <= 3000 / 64 * 0.4 + 3.0


@pytest.mark.parametrize(("count", "seconds"), [(60, 60.0), (600, 60.0), (10, 1.0)])
def test_fixed_windows(count: int, seconds: float) -> None:
    cells_asked = 5 * count if count > 10 else 300
    trial = Trial(cells_asked, lambda clock: Window(clock, count, seconds), Limits(concurrency=64), 0.4)
    assert trial.sink.statuses == {"ok": cells_asked}
    assert trial.took <= 1.2 * cells_asked / count * seconds


@pytest.mark.parametrize("most", [1, 5])
def test_a_server_that_limits_how_many_are_open(most: int) -> None:
    judges: list[FakeJudge] = []

    def answer(call: Call) -> Reply | Exception:
        full = judges[0].in_flight > most
        return CallFailed("rate_limit", "too many at once", status=429, retry_after=None) if full else good(call)

    async def main() -> Sink:
        judges.append(FakeJudge(answer, seconds=0.4))
        sink = Sink()
        limits = Limits(concurrency=64)
        await Lane(judges, Asks(), Source(cells(300)), sink, limits, rng()).run()
        return sink

    sink, took = simulate(main)
    assert sink.statuses == {"ok": 300}
    assert took <= 1.25 * 300 * 0.4 / most


def test_retry_after_is_obeyed_by_the_cell() -> None:
    """A cell that was told to wait 5 seconds does so; it holds no slot meanwhile."""
    first: set[str] = set()

    def answer(call: Call) -> Reply | Exception:
        cell = call.id.split("-")[1]
        if cell == "1" and cell not in first:
            first.add(cell)
            return CallFailed("rate_limit", "", status=429, retry_after=5.0)
        return good(call)

    trial = Trial(20, lambda clock: answer, Limits(concurrency=1), 0.1)
    times = [at for at, name in trial.judge.calls if name.startswith("r-1-")]
    assert times[1] - times[0] >= 5.0
    assert trial.judge.most_in_flight == 1
    assert trial.took < 7


def test_a_time_out_halves_the_calls_in_flight() -> None:
    pace = Pace(64)
    pace.started(10.0)
    for _ in range(64):
        pace.timed_out(70.0, 10.0)
    assert pace.concurrency == 32
    assert pace.wait(70.0, 32) == math.inf
    assert pace.wait(70.0, 31) == 0
    for _ in range(400):
        pace.answered(31)
    assert pace.concurrency == 64


@pytest.mark.parametrize("per_minute", [1, 3, 30, 600])
def test_requests_a_minute(per_minute: int) -> None:
    limits = Limits(concurrency=64, requests_per_minute=per_minute)
    trial = Trial(3 * per_minute, lambda clock: good, limits, 0.1)
    times = np.array([at for at, _ in trial.judge.calls])
    most = max(np.sum((times >= start) & (times < start + 60 - 1e-6)) for start in times)
    assert most <= per_minute
    assert trial.took <= 1.15 * 180


@settings(max_examples=60, deadline=None)
@given(
    per_minute=st.integers(1, 1_000_000),
    asks=st.lists(st.tuples(st.floats(0, 90), st.floats(0, 1)), min_size=1, max_size=60),
)
def test_no_minute_has_more_than_the_quota(per_minute: int, asks: list[tuple[float, float]]) -> None:
    quota, now, used = Quota(per_minute), 0.0, []
    for later, share in asks:
        units = max(1.0, share * max(1.0, per_minute / 60))
        now += later
        now += quota.wait(now, units)
        quota.take(now, units)
        used.append((now, units))
    for start, _ in used:
        inside = sum(units for at, units in used if start <= at < start + 60 - 1e-6)
        assert inside <= per_minute * (1 + 1e-6) + 1e-6


def test_a_call_larger_than_a_second_of_quota_waits_until_it_is_full() -> None:
    quota = Quota(600)
    quota.take(0.0, 500)
    assert quota.wait(0.0, 500) == pytest.approx(500 / ((600 - 9) / 60))


def test_backoff_is_full_jitter_and_grows() -> None:
    chance, limits = rng(), Limits(backoff=0.5, backoff_cap=60)
    for failures, most in ((1, 1.0), (3, 4.0), (40, 60.0)):
        drawn = [pause_after(failures, limits, chance) for _ in range(2000)]
        assert 0 <= min(drawn) < 0.05 * most
        assert 0.95 * most < max(drawn) <= most
        assert np.mean(drawn) == pytest.approx(most / 2, rel=0.1)


def test_retry_after_is_never_cut_short() -> None:
    chance = rng()
    assert all(3.0 <= wait_as_told(3.0, chance) <= 3.3 for _ in range(100))


class TestBreaker:
    def test_an_unproven_judge_is_stopped_after_distinct_cells(self) -> None:
        breaker = Breaker(Limits(unproven=3))
        assert not breaker.failed(0, 0, cell=1, attempt=1)
        assert not breaker.failed(0, 0, cell=1, attempt=2)
        assert not breaker.failed(0, 0, cell=2, attempt=1)
        assert breaker.failed(0, 0, cell=3, attempt=1)
        assert breaker.stopped
        assert breaker.row == {1: 2, 2: 1, 3: 1}

    def test_one_cell_that_fails_again_and_again_is_enough_in_the_end(self) -> None:
        breaker = Breaker(Limits(unproven=3))
        opened = [breaker.failed(0, 0, cell=1, attempt=number) for number in range(1, 7)]
        assert opened == [False] * 5 + [True]

    def test_a_reply_begins_the_count_anew(self) -> None:
        breaker = Breaker(Limits(unproven=3, failing=3))
        for cell in range(20):
            assert not breaker.failed(0, 0, cell=cell, attempt=1)
            breaker.replied()
        assert breaker.proven
        assert not breaker.stopped

    def test_a_proven_judge_rests_and_is_tried_with_one_call(self) -> None:
        breaker = Breaker(Limits(failing=2, cooldown=5, probes=2))
        breaker.replied()
        breaker.failed(0, 0, 1, 1)
        assert breaker.failed(0, 0, 2, 1)
        assert not breaker.stopped
        assert (breaker.wait(1, 0), breaker.wait(5, 0), breaker.wait(5, 1)) == (4, 0, math.inf)
        assert breaker.failed(6, 5.5, 3, 1)
        assert breaker.wait(6, 0) == 10
        breaker.replied()
        assert breaker.wait(6, 5) == 0

    def test_calls_from_before_the_rest_do_not_count(self) -> None:
        breaker = Breaker(Limits(failing=2, cooldown=5))
        breaker.replied()
        breaker.failed(0, 0, 1, 1)
        breaker.failed(0, 0, 2, 1)
        assert not breaker.failed(1, 0, 3, 1)
        assert breaker.open_until == 5

    def test_after_the_last_trial_it_is_stopped(self) -> None:
        breaker, now, opened = Breaker(Limits(failing=1, cooldown=1, probes=3)), 0.0, 0
        breaker.replied()
        while not breaker.stopped:
            opened += breaker.failed(now, now, 1, 1)
            now += breaker.wait(now, 0) + 0.1
        assert opened == 4
