"""Kills, interruptions, budgets and refusals beforehand: nothing is paid twice and nothing gets lost."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.judging.batch_world import (
    KEYS,
    MODELS,
    ROUGH,
    Told,
    batches,
    corpus,
    judges_of,
    judgments,
    on_mock,
    plan_of,
    rows,
    statuses,
)
from tests.mock_provider import Behaviour, MockProvider
from tests.mock_provider.batches import all_of, faults_of

from voirdire.corpus.shown import Item
from voirdire.errors import UsageError
from voirdire.judging.batching import collecting, refuse_while_under_way
from voirdire.judging.batching.batch_runner import BatchPurse
from voirdire.judging.nouns import CallFailed, Condition
from voirdire.judging.providers.capability import Price
from voirdire.judging.run_folder import RunFolder
from voirdire.judging.runner import Tariff
from voirdire.judging.spending import Budget
from voirdire.judging.status import read_status

PROVIDERS = list(MODELS)
ROOT = Path(__file__).resolve().parents[2]


class KilledError(Exception):
    """As if the process had ended here."""


async def killed(items: Path, run: Path, url: str, provider: str, when: object) -> None:
    """A run in a process of its own, killed with -9 as soon as ``when()`` is true."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.judging.batch_world", str(items), str(run), url, provider],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        env={**os.environ, **KEYS},
    )
    try:
        while not when():
            assert process.poll() is None, "the run ended before it was to be killed"
            await asyncio.sleep(0.002)
    finally:
        process.send_signal(signal.SIGKILL)
        await asyncio.to_thread(process.wait)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_killed_between_submission_and_record(provider: str, tmp_path: Path) -> None:
    """The provider has the batch, the ledger only the intent: the next run finds it."""
    items, told = corpus(tmp_path / "corpus"), Told()

    async def work(mock: MockProvider) -> None:
        faults_of(mock.state).hold = 3600.0
        await killed(items, tmp_path / "run", mock.url, provider, lambda: all_of(mock.state))
        assert rows(tmp_path / "run", "SELECT state, provider_id FROM batch") == [("intent", None)]
        faults_of(mock.state).hold = 0.0
        assert (await batches(tmp_path / "run", plan_of(items, mock.url, [provider]), told)).stopped is None
        assert [len(batch.requests) for batch in all_of(mock.state)] == [24]

    on_mock(Behaviour(), work)
    assert (told.count("found"), told.count("submitted")) == (1, 0)
    assert statuses(tmp_path / "run") == {"ok": 24}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_killed_before_the_provider_had_it(provider: str, tmp_path: Path) -> None:
    """Only the intent exists: the provider is asked twice, then the cells go into another batch."""
    items, told = corpus(tmp_path / "corpus"), Told()

    async def work(mock: MockProvider) -> None:
        faults_of(mock.state).answers = [("POST", "atch", 500)]
        plan = plan_of(items, mock.url, [provider])

        async def no_further(seconds: float) -> None:
            raise KilledError

        with pytest.raises(KilledError):
            await batches(tmp_path / "run", plan, sleep=no_further)
        assert rows(tmp_path / "run", "SELECT state FROM batch") == [("intent",)]
        assert (await batches(tmp_path / "run", plan_of(items, mock.url, [provider]), told)).stopped is None
        assert [len(batch.requests) for batch in all_of(mock.state)] == [24]

    on_mock(Behaviour(), work)
    assert (told.count("absent"), told.count("submitted")) == (1, 1)
    assert rows(tmp_path / "run", "SELECT state FROM batch") == [("dropped",), ("collected",)]


@pytest.mark.slow
@pytest.mark.parametrize("provider", PROVIDERS)
def test_killed_at_any_instant(provider: str, tmp_path: Path) -> None:
    """KilledError five times at different requests of the life cycle; the judgments are those of an undisturbed run."""
    items = corpus(tmp_path / "corpus", 30)
    moments = iter([1, 2, 4, 6, 9])

    async def work(mock: MockProvider) -> None:
        mock.state.behaviour.batch_seconds = 0.05
        for moment in moments:
            before = sum(mock.state.counts.values())
            asked = lambda before=before, moment=moment: sum(mock.state.counts.values()) >= before + moment  # noqa: E731
            await killed(items, tmp_path / "run", mock.url, provider, asked)
        assert (await batches(tmp_path / "run", plan_of(items, mock.url, [provider]))).stopped is None
        assert set(mock.state.seen.values()) == {1}
        assert (await batches(tmp_path / "plain", plan_of(items, mock.url, [provider]))).stopped is None

    on_mock(ROUGH, work)
    assert judgments(tmp_path / "run") == judgments(tmp_path / "plain")
    once = rows(tmp_path / "run", "SELECT count(*), count(DISTINCT cell || '-' || number) FROM attempt")
    assert once[0][0] == once[0][1]


def test_another_batch_of_the_same_size_is_not_taken_for_ours(tmp_path: Path) -> None:
    """Batches of messages have no name: one of another run with as many requests is left alone."""
    items, told = corpus(tmp_path / "corpus"), Told()

    async def work(mock: MockProvider) -> None:
        faults_of(mock.state).hold = 3600.0
        await killed(items, tmp_path / "run", mock.url, "anthropic", lambda: all_of(mock.state))
        faults_of(mock.state).hold = 0.0
        await batches(tmp_path / "other", plan_of(items, mock.url, ["anthropic"]))
        assert len(all_of(mock.state)) == 2
        assert (await batches(tmp_path / "run", plan_of(items, mock.url, ["anthropic"]), told)).stopped is None
        assert len(all_of(mock.state)) == 2

    on_mock(Behaviour(), work)
    found = [note for note in told.notes if note.key == "batch.note.found"]
    assert [note.fields["provider_id"] for note in found] == ["msgbatch_0001"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_and_resumed(number: signal.Signals, tmp_path: Path) -> None:
    items = corpus(tmp_path / "corpus")

    async def work(mock: MockProvider) -> None:
        mock.state.behaviour.batch_seconds = 3600.0
        plan = plan_of(items, mock.url)

        async def interrupt(seconds: float) -> None:
            if len(all_of(mock.state)) == 3:
                os.kill(os.getpid(), number)
            await asyncio.sleep(seconds)

        summary = await batches(tmp_path / "run", plan, signals=True, sleep=interrupt)
        assert summary.stopped is not None
        assert summary.stopped.key == "run.stopped_interrupt"
        assert summary.stopped.exit_code == 4
        assert len(all_of(mock.state)) == 3
        mock.state.behaviour.batch_seconds = 0.0
        assert (await batches(tmp_path / "run", plan_of(items, mock.url))).stopped is None
        assert len(all_of(mock.state)) == 3

    on_mock(Behaviour(), work)
    assert statuses(tmp_path / "run") == {"ok": 72}


def test_an_ordinary_run_is_refused_while_batches_are_under_way(tmp_path: Path) -> None:
    items = corpus(tmp_path / "corpus")

    async def work(mock: MockProvider) -> None:
        faults_of(mock.state).hold = 3600.0
        await killed(items, tmp_path / "run", mock.url, "openai", lambda: all_of(mock.state))
        with RunFolder(tmp_path / "run") as home, pytest.raises(UsageError, match="24 requests"):
            refuse_while_under_way(home.ledger)
        faults_of(mock.state).hold = 0.0
        await batches(tmp_path / "run", plan_of(items, mock.url, ["openai"]))
        with RunFolder(tmp_path / "run") as home:
            refuse_while_under_way(home.ledger)

    on_mock(Behaviour(), work)


def test_a_key_that_does_not_know_the_batch_keeps_it(tmp_path: Path) -> None:
    """404 for a batch may mean another account's key: it is not asked again on that account."""
    items = corpus(tmp_path / "corpus")

    async def work(mock: MockProvider) -> None:
        mock.state.behaviour.batch_seconds = 3600.0
        await killed(items, tmp_path / "run", mock.url, "openai", lambda: _is_open(tmp_path / "run"))
        kept = dict(mock.state.batches)
        mock.state.batches.clear()
        summary = await batches(tmp_path / "run", plan_of(items, mock.url, ["openai"]))
        assert "does not know" in str(summary.stopped)
        assert all_of(mock.state) == []
        mock.state.batches.update(kept)
        mock.state.behaviour.batch_seconds = 0.0
        assert (await batches(tmp_path / "run", plan_of(items, mock.url, ["openai"]))).stopped is None

    on_mock(Behaviour(), work)


def test_the_budget_holds_and_more_of_it_goes_on(tmp_path: Path) -> None:
    items = corpus(tmp_path / "corpus", 8, side=800)

    async def work(mock: MockProvider) -> None:
        plan = plan_of(items, mock.url, ["openai"])
        end = judges_of(plan)[0].endpoint
        price = Price(input=1000.0, output=0.0)
        tariffs = {"openai/gpt-4o": Tariff(end.capability, end.settings.parameters, price)}
        whole = 16 * 905 * 1000 / 1e6 / 2
        budget = Budget(whole * 0.6)
        summary = await batches(tmp_path / "run", plan, tariffs=tariffs, budget=budget)
        assert summary.stopped is not None
        assert summary.stopped.key == "run.stopped_budget"
        assert 0 < budget.spent <= whole * 0.6
        assert budget.reserved == 0
        done = summary.progress.done
        assert budget.spent == pytest.approx(whole * done / 16)
        again = Budget(2 * whole, budget.spent)
        plan = plan_of(items, mock.url, ["openai"])
        assert (await batches(tmp_path / "run", plan, tariffs=tariffs, budget=again)).stopped is None
        assert again.spent == pytest.approx(whole)

    on_mock(Behaviour(), work)
    assert statuses(tmp_path / "run") == {"ok": 16}


def test_judges_without_batches_are_refused_before_anything_is_sent(tmp_path: Path) -> None:
    items = corpus(tmp_path / "corpus", 2)

    async def work(mock: MockProvider) -> None:
        from voirdire.judging.grid import load_grid
        from voirdire.judging.images import ImageStore
        from voirdire.judging.material import read_material
        from voirdire.judging.plan import Plan
        from voirdire.judging.providers.make import parse_spec

        specs = [parse_spec("compatible/some-model", base_url=f"{mock.url}/compatible/v1")]
        plan = Plan(read_material(items), load_grid("neutral"), specs, ImageStore(items.parent))
        with pytest.raises(UsageError, match="no batch API"):
            await batches(tmp_path / "run", plan)
        assert sum(mock.state.counts.values()) == 0

    on_mock(Behaviour(), work)


def test_images_are_refused_where_a_model_takes_none_in_batches(tmp_path: Path) -> None:
    from dataclasses import replace

    from voirdire.judging.batching.access import batch_judges, check_images

    items = corpus(tmp_path / "corpus", 2)

    async def work(mock: MockProvider) -> None:
        judges = judges_of(plan_of(items, mock.url, ["google"]))
        (judge,) = batch_judges(judges)
        shown, pictured = Condition("a", "en", "", ()), Item("i", image=Path("x.png"))
        check_images([judge], [pictured], [shown])
        judge.endpoint = replace(judge.endpoint, capability=replace(judge.endpoint.capability, batch_images=False))
        check_images([judge], [Item("i")], [shown])
        check_images([judge], [pictured], [replace(shown, image="alt")])
        with pytest.raises(UsageError, match="takes none in batches"):
            check_images([judge], [pictured], [shown])
        with pytest.raises(UsageError, match="takes none in batches"):
            check_images([judge], [Item("i")], [replace(shown, cues=(Path("cue.png"),))])
        judge.endpoint = replace(judge.endpoint, capability=replace(judge.endpoint.capability, batch=False))
        with pytest.raises(UsageError, match="does not offer"):
            batch_judges([judge])
        await judge.close()

    on_mock(Behaviour(), work)


def test_keys_stand_in_no_file_and_no_note(tmp_path: Path) -> None:
    items, told = corpus(tmp_path / "corpus", 3), Told()

    async def work(mock: MockProvider) -> None:
        faults_of(mock.state).answers = [("POST", "atch", 401)]
        await batches(tmp_path / "run", plan_of(items, mock.url), told)
        await batches(tmp_path / "run", plan_of(items, mock.url), told)

    on_mock(Behaviour(), work)
    written = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())
    for key in KEYS.values():
        assert key.encode() not in written
        assert key not in str(told.notes)


def _is_open(run: Path) -> bool:
    import sqlite3
    from contextlib import closing

    try:
        with closing(sqlite3.connect(f"file:{run / 'ledger.sqlite'}?mode=ro", uri=True)) as db:
            found = db.execute("SELECT count(*) FROM batch WHERE state = 'open'").fetchone()[0]
    except sqlite3.OperationalError:
        return False
    return bool(found)


def test_replies_that_came_and_cannot_be_read_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They were written, and are charged: each counts with its share of what was set aside for its batch."""
    read, seen = collecting.read_answer, set[bytes]()

    def cut_once(judge: Any, status: int, body: bytes) -> Any:
        if len(seen) < 4:
            seen.add(body)
            raise CallFailed("server", "cut", status=200)
        return read(judge, status, body)

    monkeypatch.setattr(collecting, "read_answer", cut_once)
    items = corpus(tmp_path / "corpus", 4)

    async def work(mock: MockProvider) -> None:
        plan = plan_of(items, mock.url, ["openai"])
        end = judges_of(plan)[0].endpoint
        tariffs = {"openai/gpt-4o": Tariff(end.capability, end.settings.parameters, Price(1000.0, 0.0))}
        budget = Budget(1e6)
        assert (await batches(tmp_path / "run", plan, tariffs=tariffs, budget=budget)).stopped is None
        status = read_status(tmp_path / "run")
        assert status.held > 0
        assert budget.spent == pytest.approx(status.held + sum(status.cost.values()))

    on_mock(Behaviour(), work)


def test_replies_of_unknown_cost_count_after_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BatchPurse, "price", lambda *_: None)
    items = corpus(tmp_path / "corpus", 4)

    async def work(mock: MockProvider) -> None:
        plan = plan_of(items, mock.url, ["openai"])
        end = judges_of(plan)[0].endpoint
        tariffs = {"openai/gpt-4o": Tariff(end.capability, end.settings.parameters, Price(1000.0, 0.0))}
        budget = Budget(1e6)
        assert (await batches(tmp_path / "run", plan, tariffs=tariffs, budget=budget)).stopped is None
        assert budget.spent == budget.unknown > 0
        assert read_status(tmp_path / "run").held == pytest.approx(budget.spent)
        later, plan = Budget(1e6), plan_of(items, mock.url, ["openai"])
        await batches(tmp_path / "run", plan, tariffs=tariffs, budget=later)
        assert later.spent == later.unknown == pytest.approx(budget.spent)

    on_mock(Behaviour(), work)
