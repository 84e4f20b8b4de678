"""Shards and the driver that deals to them, in one process: what Ray adds is only the way of the messages."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.judging.batch_world import KEYS, corpus, judges_of, judgments, on_mock, ordinary, plan_of, rows, statuses
from tests.mock_provider import Behaviour, MockProvider

from voirdire.errors import InputError, UsageError
from voirdire.judging.executors.blueprint import Environment, RemoteImages, blueprint_of, variables
from voirdire.judging.executors.fleet import Fleet, LostError
from voirdire.judging.executors.ray import check_ray
from voirdire.judging.executors.shard import News, Orders, Shard
from voirdire.judging.limits import Limits
from voirdire.judging.nouns import JudgeSpec
from voirdire.judging.plan import Plan
from voirdire.judging.progress import Watch
from voirdire.judging.run_folder import RunFolder
from voirdire.judging.runner import Summary

FAST = Limits(concurrency=8, backoff=0.01, backoff_cap=0.05, cooldown=0.05)
MIXED = Behaviour(malformed=0.1, refusal=0.05, server=0.05, rate_limit=0.02, drop=0.02, retry_after=0.0)


class Near:
    """A shard in this process; every message is pickled, as on its way to another one."""

    def __init__(self, blueprint: Any, number: int) -> None:
        self.name = f"near-{number}"
        self.shard = Shard(pickle.loads(pickle.dumps(blueprint)), number)
        self.lost = False
        self.die_when: Callable[[News], bool] = lambda news: False
        self.sent: list[Path] = []
        self.elsewhere = False
        self.steps = 0

    async def begin(self, environment: Environment) -> None:
        await self.shard.begin(environment)

    async def missing(self, paths: Sequence[Path]) -> list[Path]:
        return list(paths) if self.elsewhere else await self.shard.missing(paths)

    async def keep(self, path: Path, data: bytes) -> None:
        self.sent.append(path)
        await self.shard.keep(path, data)

    async def exchange(self, orders: Orders) -> News:
        if self.lost:
            raise LostError(self.name)
        news = await self.shard.exchange(pickle.loads(pickle.dumps(orders)))
        self.steps += len(news.steps)
        if self.die_when(news):
            self.lost = True
            await self.shard.close()
            raise LostError(self.name)
        return pickle.loads(pickle.dumps(news))

    async def close(self) -> None:
        await self.shard.close()


async def spread(
    folder: Path, plan: Plan, count: int = 3, prepare: Callable[[list[Near]], None] = lambda near: None, **options: Any
) -> Summary:
    judges = judges_of(plan)
    watch = Watch()
    with RunFolder(folder) as home:
        home.register(plan, judges)
        watch.begin({judge.name: judge.lane for judge in judges}, home.ledger.counts(), home.ledger.costs())
        limits = {judge.name: options.pop("limits", FAST) for judge in judges}
        blueprint = blueprint_of(plan, limits, {}, 10.0)
        near = [Near(blueprint, number) for number in range(count)]
        prepare(near)
        for judge in judges:
            await judge.close()
        fleet = Fleet(plan, home.ledger, near, watch, {judge: own.concurrency for judge, own in limits.items()})
        return await fleet.run(Environment(KEYS), signals=options.pop("signals", False), **options)


@pytest.mark.parametrize("count", [1, 3])
def test_judgments_equal_those_of_one_process(count: int, tmp_path: Path) -> None:
    items = corpus(tmp_path / "corpus", 40)

    async def work(mock: MockProvider) -> None:
        summary = await spread(tmp_path / "run", plan_of(items, mock.url, ["openai", "google"]), count)
        assert (summary.stopped, summary.progress.done, summary.progress.in_flight) == (None, 160, 0)
        assert set(mock.state.seen.values()) == {1}
        assert (await ordinary(tmp_path / "plain", plan_of(items, mock.url, ["openai", "google"]))).stopped is None

    on_mock(MIXED, work)
    assert judgments(tmp_path / "run") == judgments(tmp_path / "plain")
    assert rows(tmp_path / "run", "SELECT count(*) FROM attempt WHERE prompt = ''") == [(0,)]


def test_all_shards_take_part(tmp_path: Path) -> None:
    items = corpus(tmp_path / "corpus", 40)
    shards: list[Near] = []

    async def work(mock: MockProvider) -> None:
        mock.state.behaviour.latency = 0.01
        await spread(tmp_path / "run", plan_of(items, mock.url, ["openai"]), 3, shards.extend)

    on_mock(Behaviour(), work)
    assert min(shard.steps for shard in shards) >= 10


@pytest.mark.parametrize("after", [1, 20, 60])
def test_a_lost_shards_cells_are_asked_by_the_others(after: int, tmp_path: Path) -> None:
    items = corpus(tmp_path / "corpus", 60)

    async def work(mock: MockProvider) -> None:
        mock.state.behaviour.latency = 0.005
        told = 0

        def dies(news: News) -> bool:
            nonlocal told
            told += len(news.steps)
            return told >= after

        def prepare(near: list[Near]) -> None:
            near[0].die_when = dies

        summary = await spread(tmp_path / "run", plan_of(items, mock.url, ["openai"]), 2, prepare)
        assert (summary.stopped, summary.progress.done, summary.progress.in_flight) == (None, 120, 0)
        again = sum(number - 1 for number in mock.state.seen.values())
        assert 0 < again <= 2 * FAST.concurrency
        mock.state.behaviour.latency = 0.0
        await ordinary(tmp_path / "plain", plan_of(items, mock.url, ["openai"]))

    on_mock(MIXED, work)
    assert judgments(tmp_path / "run") == judgments(tmp_path / "plain")


def test_when_all_are_lost_the_rest_is_pending_and_can_go_on(tmp_path: Path) -> None:
    items = corpus(tmp_path / "corpus", 20)

    async def work(mock: MockProvider) -> None:
        def prepare(near: list[Near]) -> None:
            for shard in near:
                shard.die_when = lambda news: bool(news.steps)

        summary = await spread(tmp_path / "run", plan_of(items, mock.url, ["openai"]), 2, prepare)
        assert summary.stopped is not None
        assert summary.stopped.key == "executor.all_lost"
        assert "near-0" in str(summary.stopped)
        assert (await spread(tmp_path / "run", plan_of(items, mock.url, ["openai"]), 2)).stopped is None

    on_mock(Behaviour(), work)
    assert statuses(tmp_path / "run") == {"ok": 40}


def test_a_server_that_is_down_for_one_shard_is_left_to_the_others(tmp_path: Path) -> None:
    """A shard whose judge only fails gives its cells back; nothing ends as an error for it."""
    items = corpus(tmp_path / "corpus", 20)

    async def work(mock: MockProvider) -> None:
        def prepare(near: list[Near]) -> None:
            broken = near[0].shard

            async def begin(environment: Environment) -> tuple[str, ...]:
                names = await Shard.begin(broken, environment)
                from yarl import URL

                broken._judges[0]._url = URL("http://127.0.0.1:1/v1/chat/completions")
                return names

            broken.begin = begin

        summary = await spread(tmp_path / "run", plan_of(items, mock.url, ["openai"]), 2, prepare)
        assert summary.stopped is None

    on_mock(Behaviour(latency=0.01), work)
    assert statuses(tmp_path / "run") == {"ok": 40}


def test_a_judge_that_works_nowhere_stops_with_its_cells_pending(tmp_path: Path) -> None:
    items = corpus(tmp_path / "corpus", 20)

    async def work(mock: MockProvider) -> None:
        summary = await spread(tmp_path / "run", plan_of(items, mock.url, ["openai"]), 2)
        assert summary.stopped is not None
        assert "quota" in str(summary.stopped)
        assert summary.progress.done == 0

    on_mock(Behaviour(only="quota"), work)


def test_images_that_a_shard_lacks_are_sent(tmp_path: Path) -> None:
    items = corpus(tmp_path / "corpus", 10)
    shards: list[Near] = []

    async def work(mock: MockProvider) -> None:
        def prepare(near: list[Near]) -> None:
            shards.extend(near)
            near[0].elsewhere = True

        await spread(tmp_path / "run", plan_of(items, mock.url, ["openai"]), 1, prepare)
        await ordinary(tmp_path / "plain", plan_of(items, mock.url, ["openai"]))
        assert len({body for path, _, body in mock.state.kept if path.endswith("completions")}) == 20

    on_mock(Behaviour(keep_bodies=100), work)
    assert len(shards[0].sent) == len(set(shards[0].sent)) == 10


def change(path: Path) -> None:
    path.write_bytes(b"other")


def test_an_image_that_is_another_one_there_ends_the_run(tmp_path: Path) -> None:
    items = corpus(tmp_path / "corpus", 4)

    async def work(mock: MockProvider) -> None:
        plan = plan_of(items, mock.url, ["openai"])
        plan.check()
        with pytest.raises(InputError, match="not the file that was checked"):
            await spread(tmp_path / "run", plan, 1, lambda near: change(items.parent / "images" / "2.png"))

    on_mock(Behaviour(), work)


def test_a_first_signal_lets_calls_finish(tmp_path: Path) -> None:
    import os
    import signal

    items = corpus(tmp_path / "corpus", 40)

    async def work(mock: MockProvider) -> None:
        mock.state.behaviour.latency = 0.05
        asyncio.get_running_loop().call_later(1.0, lambda: os.kill(os.getpid(), signal.SIGTERM))

        def slowly(near: list[Near]) -> None:
            assert len(near) == 2

        summary = await spread(
            tmp_path / "run", plan_of(items, mock.url), 2, slowly, signals=True, limits=Limits(concurrency=1)
        )
        assert summary.stopped is not None
        assert summary.stopped.key == "run.stopped_interrupt"
        assert set(mock.state.seen.values()) == {1}
        assert sum(mock.state.seen.values()) == summary.progress.done

    on_mock(Behaviour(), work)


def test_keys_travel_unseen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    specs = [JudgeSpec("a", "openai", "m"), JudgeSpec("b", "compatible", "m", key_env="MY_KEY")]
    assert {"OPENAI_API_KEY", "OPENAI_BASE_URL", "MY_KEY"} <= set(variables(specs))
    keys = Environment.of(specs, {"OPENAI_API_KEY": "sk-1", "MY_KEY": "k", "HOME": "/"})
    assert repr(keys) == str(keys) == "Environment(2 variables)"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-this-machine")
    monkeypatch.delenv("MY_KEY", raising=False)
    here = pickle.loads(pickle.dumps(keys)).here()
    assert (here["OPENAI_API_KEY"], here["MY_KEY"]) == ("sk-of-this-machine", "k")

    async def work(mock: MockProvider) -> None:
        plan = plan_of(corpus(tmp_path / "corpus", 1), mock.url, ["openai"])
        assert b"sk-test" not in pickle.dumps(blueprint_of(plan, {}, {}, 1.0))

    on_mock(Behaviour(), work)


def test_sent_images_are_deleted_at_the_end(tmp_path: Path) -> None:
    store = RemoteImages(tmp_path, (), {"resize": None}, {})
    store.keep(tmp_path / "a.png", b"x")
    assert store.missing([tmp_path / "a.png", tmp_path / "b.png"]) == [tmp_path / "b.png"]
    folder = Path(store._sent.name)
    store.close()
    assert not folder.exists()


def test_what_cannot_be_spread_is_refused() -> None:
    check_ray([JudgeSpec("a", "openai", "m")])
    with pytest.raises(UsageError, match="lives in one process"):
        check_ray([JudgeSpec("a", "control", "constant")])
    with pytest.raises(UsageError, match="hard stop"):
        check_ray([], budget=1.0)
    with pytest.raises(UsageError, match="object of this program"):
        check_ray([], own=["mine"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"executor": "slurm"}, "no executor 'slurm'"),
        ({"ray_address": "auto"}, "--ray-address is for --executor ray alone"),
        ({"executor": "ray", "budget": 1.0}, "hard stop"),
        ({"executor": "ray"}, "object of this program"),
    ],
)
def test_the_run_command_refuses_what_cannot_be_spread(options: dict[str, Any], words: str, tmp_path: Path) -> None:
    import voirdire

    def judge(item: Any) -> int:
        return 3

    with pytest.raises(UsageError, match=words):
        voirdire.run(corpus(tmp_path / "corpus", 2), judge, out=tmp_path / "run", **options)
    assert not (tmp_path / "run").exists()


def test_the_run_command_hands_over_to_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import voirdire
    from voirdire.judging.executors import ray

    asked: dict[str, Any] = {}

    async def instead(plan: Plan, judges: Any, ledger: Any, **options: Any) -> Summary:
        asked.update(options)
        watch = options["watch"]
        watch.begin({judge.name: judge.lane for judge in judges}, ledger.counts(), {})
        return Summary(watch.snapshot())

    monkeypatch.setattr(ray, "run_on_ray", instead)
    monkeypatch.setenv("OPENAI_API_KEY", KEYS["OPENAI_API_KEY"])
    items = corpus(tmp_path / "corpus", 2)
    voirdire.run(items, "openai/gpt-4o", out=tmp_path / "run", executor="ray", ray_address="auto", concurrency=3)
    assert asked["address"] == "auto"
    assert asked["limits"]["openai/gpt-4o"].concurrency == 3
