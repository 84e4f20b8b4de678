"""The mock itself: its plan is a function of cell and attempt, and it counts what it is asked."""

from __future__ import annotations

import asyncio
from collections import Counter

import aiohttp
import pytest
from tests.mock_provider import Behaviour, MockProvider, spawn
from tests.mock_provider.plan import kind_of, rating_of

MIXED = Behaviour(rate_limit=0.02, server=0.01, malformed=0.02, refusal=0.005)


def test_shares_are_as_asked() -> None:
    kinds = Counter(kind_of(MIXED, str(cell), 1) for cell in range(20_000))
    assert kinds["rate_limit"] / 20_000 == pytest.approx(0.02, rel=0.2)
    assert kinds["server"] / 20_000 == pytest.approx(0.01, rel=0.2)
    assert kinds["malformed"] / 20_000 == pytest.approx(0.02, rel=0.2)
    assert kinds["refusal"] / 20_000 == pytest.approx(0.005, rel=0.3)
    assert Counter(rating_of(MIXED, str(cell)) for cell in range(5000)).keys() == {1, 2, 3, 4, 5}


def test_a_refusing_cell_refuses_at_every_attempt_and_a_failing_one_recovers() -> None:
    cells = [str(cell) for cell in range(3000)]
    refusing = [cell for cell in cells if kind_of(MIXED, cell, 1) == "refusal"]
    assert refusing
    assert {kind_of(MIXED, cell, attempt) for cell in refusing for attempt in range(2, 6)} <= {
        "refusal", "rate_limit", "server", "malformed"}  # fmt: skip
    failing = [cell for cell in cells if kind_of(MIXED, cell, 1) == "server"]
    assert Counter(kind_of(MIXED, cell, 2) for cell in failing)["ok"] > len(failing) * 0.8


async def post(session: aiohttp.ClientSession, url: str, cell: int, attempt: int = 1) -> tuple[int, str]:
    headers = {"X-Client-Request-Id": f"run-{cell}-{attempt}"}
    async with session.post(f"{url}/v1/chat/completions", data=b'{"model": "m"}', headers=headers) as response:
        return response.status, await response.text()


def test_order_and_restarts_do_not_matter() -> None:
    async def answers(order: range) -> dict[int, tuple[int, str]]:
        async with MockProvider(MIXED) as mock, aiohttp.ClientSession() as session:
            return {cell: await post(session, mock.url, cell) for cell in order}

    assert asyncio.run(answers(range(200))) == asyncio.run(answers(range(199, -1, -1)))


def test_chunked_bodies() -> None:
    async def main() -> int:
        async def pieces() -> object:
            for _ in range(50):
                yield b"x" * 10_000

        async with MockProvider() as mock, aiohttp.ClientSession() as session:
            async with session.post(f"{mock.url}/v1/chat/completions", data=pieces()) as response:
                assert response.status == 200
            return mock.state.sizes

    assert asyncio.run(main()) == 500_000


def test_a_bucket_of_calls_a_second() -> None:
    async def main() -> Counter[int]:
        async with MockProvider(Behaviour(rps=5, burst=3)) as mock, aiohttp.ClientSession() as session:
            return Counter([(await post(session, mock.url, cell))[0] for cell in range(20)])

    statuses = asyncio.run(main())
    assert 3 <= statuses[200] <= 6
    assert statuses[429] == 20 - statuses[200]


def test_a_process_of_its_own() -> None:
    async def some(url: str) -> list[int]:
        async with aiohttp.ClientSession() as session:
            return [(await post(session, url, cell))[0] for cell in (1, 2, 2)]

    with spawn(Behaviour(content="4")) as mock:
        assert asyncio.run(some(mock.url)) == [200, 200, 200]
        assert mock.seen() == {"run-1-1": 1, "run-2-1": 2}
        stats = mock.stats()
        assert (stats["calls"], stats["cells"], stats["repeats"], stats["max_in_flight"]) == (3, 2, 1, 1)
        mock.reset(only="server")
        assert asyncio.run(some(mock.url)) == [500, 500, 500]
        assert mock.stats()["counts"]["server"] == 3
