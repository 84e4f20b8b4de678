"""What the engine offers to plans that are not grids of judges: a price for each call, nouns of any kind."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.judging.engine_world import corpus, plan_of
from tests.judging.fakes import FakeJudge, good
from tests.judging.test_http import GOOD, answer, with_server

from voirdire.errors import InputError
from voirdire.judging.ledger import Ledger
from voirdire.judging.limits import Limits
from voirdire.judging.nouns import Call, CallFailed, JudgeSpec, Reply
from voirdire.judging.providers import http
from voirdire.judging.providers.body import Pieces
from voirdire.judging.providers.catalog import capability
from voirdire.judging.run_folder import RunFolder
from voirdire.judging.runner import Tariff, run
from voirdire.judging.spending import Budget

EACH = Tariff(capability("openai", "gpt-4o"), per_call=0.25)


@pytest.mark.parametrize(("limit", "calls"), [(1.0, 4), (1.1, 4), (0.2, 0), (None, 6)])
def test_a_price_for_each_call(tmp_path: Path, limit: float | None, calls: int) -> None:
    """Tokens do not matter; what has no known cost is held in full."""
    plan = plan_of(corpus(tmp_path / "corpus"), ["a"])
    judge = FakeJudge(good, "a")
    with RunFolder(tmp_path / "run") as folder:
        folder.register(plan, [judge])
        budget = Budget(limit)
        ended = asyncio.run(run(plan, [judge], folder.ledger, budget=budget, tariffs={"a": EACH}, signals=False))
        held = folder.ledger.held()
    assert len(judge.calls) == calls
    assert (ended.stopped is None) == (limit is None)
    assert held == pytest.approx(0.25 * calls)


def test_a_cost_that_is_told_goes_before(tmp_path: Path) -> None:
    def told(call: Call) -> Reply:
        return Reply("4", cost=0.125)

    plan, judge = plan_of(corpus(tmp_path / "corpus"), ["a"]), FakeJudge(told, "a")
    with RunFolder(tmp_path / "run") as folder:
        folder.register(plan, [judge])
        limits = Limits(concurrency=1)
        budget = Budget(0.5)
        asyncio.run(run(plan, [judge], folder.ledger, limits=limits, budget=budget, tariffs={"a": EACH}, signals=False))
        assert sum(folder.ledger.costs().values()) == pytest.approx(0.375)
        assert folder.ledger.held() == 0


def rows(name: str, digest: str = "asked=1") -> list[tuple[str, str, str]]:
    return [(name, digest, "{}")]


def bind(folder: RunFolder, item: str = "a 1", digest: str = "asked=1", **same: str) -> None:
    nouns = {"item": rows(item, digest), "question": rows("q"), "condition": rows("c"), "judge": rows("j")}
    folder.bind(nouns, repeats=1, meta={"kind": "other"}, same=same, session={"x": 1})


def test_nouns_of_any_kind_are_bound(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run") as folder:
        bind(folder, seed="3")
        bind(folder, "b 2", seed="3")
        assert folder.ledger.counts() == [("j", "pending", 1)]
        assert list(folder.ledger.known("item")) == ["a 1", "b 2"]
        assert (folder.ledger.meta("kind"), folder.ledger.meta("seed")) == ("other", "3")
        with pytest.raises(InputError) as caught:
            bind(folder, digest="asked=2", seed="4")
        assert caught.value.key == "run.changed_item"
        with pytest.raises(InputError) as caught:
            bind(folder, seed="4")
        assert caught.value.key == "run.other_seed"
        assert folder.ledger.meta("seed") == "3"


@pytest.mark.parametrize("killed", [True, False])
def test_calls_whose_replies_turn_up_are_taken_off_once(tmp_path: Path, killed: bool) -> None:
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.expose(1.0)
        if not killed:
            ledger.lose(1.0)
        ledger.found({"r-1-1": 0.25})
        assert ledger.held() == pytest.approx(0.75)
        ledger.found({"r-1-1": 0.25, "r-2-1": 0.25})
        assert ledger.held() == pytest.approx(0.5)
        ledger.close_exposure()
        ledger.found({"r-1-1": 0.25, "r-2-1": 0.25})
        assert ledger.held() == pytest.approx(0.5)
        ledger.found({"r-3-1": 7.0})
        assert ledger.held() == 0


@pytest.mark.parametrize("largest", [None, 2 * http.LARGEST_REPLY])
def test_how_much_is_read_of_a_reply(largest: int | None) -> None:
    body = GOOD[:-1] + b" " * (http.LARGEST_REPLY + 10) + b"}"

    async def use(url: str) -> Any:
        spec = JudgeSpec("j", "compatible", "m", base_url=f"{url}/v1")
        end = http.endpoint(spec, {})
        sender = http.Sender(end, http.LaneSession(30.0), largest=largest)
        try:
            return await sender.post("r-1-1", Pieces([b"{}"]))
        finally:
            await sender.close()

    def served() -> Any:
        return with_server(lambda _: answer(body, f"Content-Length: {len(body)}"), use)

    if largest is None:
        with pytest.raises(CallFailed, match="larger than 8 MB"):
            served()
    else:
        status, _, read = served()
        assert (status, read) == (200, body)
