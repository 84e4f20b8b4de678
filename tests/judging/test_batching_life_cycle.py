"""The whole life of a run by batches, against a mock of each provider."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from tests.judging.batch_world import (
    MODELS,
    ROUGH,
    Told,
    batches,
    corpus,
    judgments,
    on_mock,
    ordinary,
    plan_of,
    rows,
    statuses,
)
from tests.mock_provider import Behaviour, MockProvider
from tests.mock_provider.batches import all_of, faults_of

from voirdire.judging.batching import anthropic, google, openai, packing
from voirdire.judging.batching.protocol import Limits

PROVIDERS = list(MODELS)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_cell_is_answered_by_one_batch(provider: str, tmp_path: Path) -> None:
    items, told = corpus(tmp_path / "corpus"), Told()

    async def work(mock: MockProvider) -> None:
        summary = await batches(tmp_path / "run", plan_of(items, mock.url, [provider]), told)
        assert (summary.progress.done, summary.progress.total, summary.stopped) == (24, 24, None)
        assert [len(batch.requests) for batch in all_of(mock.state)] == [24]
        assert mock.state.files == {}

    on_mock(Behaviour(validate=True), work)
    assert statuses(tmp_path / "run") == {"ok": 24}
    assert (told.count("submitted"), told.count("collected")) == (1, 1)
    assert not [note for note in told.notes if note.kind == "warning"]
    assert list((tmp_path / "run" / "batches").iterdir()) == []


@pytest.mark.parametrize("provider", PROVIDERS)
def test_judgments_equal_those_of_an_ordinary_run(provider: str, tmp_path: Path) -> None:
    """Malformed, refused, failed, expired, missing and unreadable lines: the judgments of one call after another."""
    items = corpus(tmp_path / "corpus", 40)

    async def work(mock: MockProvider) -> None:
        summary = await batches(tmp_path / "run", plan_of(items, mock.url, [provider]))
        assert summary.stopped is None
        assert len(all_of(mock.state)) > 2
        mock.state.behaviour.rate_limit = mock.state.behaviour.server = mock.state.behaviour.drop = 0.0
        mock.state.behaviour.garbage = 0.0
        assert (await ordinary(tmp_path / "plain", plan_of(items, mock.url, [provider]))).stopped is None

    on_mock(ROUGH, work)
    assert judgments(tmp_path / "run") == judgments(tmp_path / "plain")
    assert statuses(tmp_path / "run")["refused"] > 0


@pytest.mark.parametrize("provider", PROVIDERS)
def test_malformed_replies_come_again_with_the_tighter_instruction(provider: str, tmp_path: Path) -> None:
    items = corpus(tmp_path / "corpus", 2)

    async def work(mock: MockProvider) -> list[str]:
        await batches(tmp_path / "run", plan_of(items, mock.url, [provider]))
        return [str(batch.requests[0][1]) for batch in reversed(all_of(mock.state))]

    bodies = on_mock(Behaviour(only="malformed"), work)
    assert len(bodies) == len(set(bodies)) == 6
    assert statuses(tmp_path / "run") == {"malformed": 4}
    attempts = rows(tmp_path / "run", "SELECT count(*), count(DISTINCT prompt) FROM attempt GROUP BY cell")
    assert attempts == [(6, 6)] * 4


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_request_is_the_same_as_in_an_ordinary_run(provider: str, tmp_path: Path) -> None:
    items = corpus(tmp_path / "corpus", 3)

    async def work(mock: MockProvider) -> tuple[list[object], list[object]]:
        await batches(tmp_path / "run", plan_of(items, mock.url, [provider]))
        await ordinary(tmp_path / "plain", plan_of(items, mock.url, [provider]))
        sent = [body for _, body in all_of(mock.state)[0].requests]
        return sent, [orjson.loads(body) for path, _, body in mock.state.kept if "atch" not in path]

    batched, plain = on_mock(Behaviour(keep_bodies=20), work)
    assert sorted(map(str, batched)) == sorted(map(str, plain))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_large_batches_are_split_by_size_and_by_number(
    provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = corpus(tmp_path / "corpus", 8, side=64)
    monkeypatch.setattr(packing, "SPOOL_BYTES", 30_000)
    monkeypatch.setattr(google, "INLINE", 1)

    async def work(mock: MockProvider) -> None:
        assert (await batches(tmp_path / "run", plan_of(items, mock.url, [provider]))).stopped is None
        sizes = [len(batch.requests) for batch in all_of(mock.state)]
        assert sum(sizes) == 16
        assert len(sizes) > 2
        assert max(mock.state.counts.values()) < 200

    on_mock(Behaviour(validate=True), work)
    monkeypatch.setattr(packing, "SPOOL_BYTES", 200_000_000)
    for api in (openai.OpenAIBatches, anthropic.AnthropicBatches, google.GoogleBatches):
        monkeypatch.setattr(api, "limits", Limits(5, 200_000_000))

    async def numbered(mock: MockProvider) -> list[int]:
        await batches(tmp_path / "run2", plan_of(items, mock.url, [provider]))
        return [len(batch.requests) for batch in reversed(all_of(mock.state))]

    assert on_mock(Behaviour(validate=True), numbered) == [5, 5, 5, 1]


def test_an_item_that_fits_in_no_batch_ends_as_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    items = corpus(tmp_path / "corpus", 2)
    monkeypatch.setattr(packing, "SPOOL_BYTES", 100)

    async def work(mock: MockProvider) -> None:
        assert (await batches(tmp_path / "run", plan_of(items, mock.url, ["openai"]))).stopped is None
        assert all_of(mock.state) == []

    on_mock(Behaviour(), work)
    assert statuses(tmp_path / "run") == {"error": 4}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_odd_results(provider: str, tmp_path: Path) -> None:
    """Lines twice, of nobody, left out, in any order: each is told of, and every cell ends once."""
    items, told = corpus(tmp_path / "corpus"), Told()

    async def work(mock: MockProvider) -> None:
        faults = faults_of(mock.state)
        faults.duplicate, faults.foreign, faults.missing = True, True, 3
        summary = await batches(tmp_path / "run", plan_of(items, mock.url, [provider]), told)
        faults.missing = 0
        assert summary.stopped is None
        first = [name for name, _ in all_of(mock.state)[-1].requests]
        assert len(first) == 24

    on_mock(Behaviour(), work)
    assert statuses(tmp_path / "run") == {"ok": 21, "error": 3}
    assert (told.count("foreign"), told.count("repeated")) == (6, 1)
    assert told.count("missing") == 6
    lost = rows(tmp_path / "run", "SELECT kind, count(*) FROM attempt GROUP BY kind")
    assert dict(lost) == {"ok": 21, "server": 18}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_cancelled_batch_is_kept_as_far_as_it_went(provider: str, tmp_path: Path) -> None:
    items = corpus(tmp_path / "corpus")

    async def work(mock: MockProvider) -> None:
        faults_of(mock.state).cancel = True
        summary = await batches(tmp_path / "run", plan_of(items, mock.url, [provider]))
        assert summary.progress.done == 12
        assert summary.stopped is not None
        assert "cancelled" in str(summary.stopped)
        assert "取消" in summary.stopped.message("zh")
        assert len(all_of(mock.state)) == 1
        faults_of(mock.state).cancel = False
        assert (await batches(tmp_path / "run", plan_of(items, mock.url, [provider]))).stopped is None
        assert [len(batch.requests) for batch in all_of(mock.state)] == [12, 24]

    on_mock(Behaviour(), work)
    assert statuses(tmp_path / "run") == {"ok": 24}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_batch_api_that_stumbles_is_waited_for(provider: str, tmp_path: Path) -> None:
    """429 and 500 while uploading, creating, looking and fetching, and results that break off in the middle."""
    items, told = corpus(tmp_path / "corpus"), Told()

    async def work(mock: MockProvider) -> None:
        faults = faults_of(mock.state)
        faults.answers = [("POST", "atch", 429), ("GET", "atches", 500), ("GET", "atches", 429), ("GET", "atches", 529)]
        faults.answers += [("POST", "files", 500), ("GET", "content", 500), ("GET", "results", 429)]
        faults.answers += [("DELETE", "files", 500)]
        faults.cut = 3000
        summary = await batches(tmp_path / "run", plan_of(items, mock.url, [provider]), told)
        assert summary.stopped is None
        assert [len(batch.requests) for batch in all_of(mock.state)] == [24]
        assert set(mock.state.seen.values()) == {1}

    on_mock(Behaviour(validate=True), work)
    assert statuses(tmp_path / "run") == {"ok": 24}
    assert told.count("trouble") >= 4
    assert rows(tmp_path / "run", "SELECT count(*), max(number) FROM attempt") == [(24, 1)]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_answer_that_got_lost_does_not_pay_twice(provider: str, tmp_path: Path) -> None:
    """The batch is made, but the connection drops before its id arrives: it is found, not made again."""
    items, told = corpus(tmp_path / "corpus"), Told()

    async def work(mock: MockProvider) -> None:
        faults_of(mock.state).answers = [("POST", "batches" if provider != "google" else "batchGenerate", 0)]
        summary = await batches(tmp_path / "run", plan_of(items, mock.url, [provider]), told)
        assert summary.stopped is None
        assert len(all_of(mock.state)) == 1

    on_mock(Behaviour(batch_seconds=0.1), work)
    assert (told.count("found"), told.count("submitted")) == (1, 0)
    assert statuses(tmp_path / "run") == {"ok": 24}


def test_a_full_queue_is_waited_for(tmp_path: Path) -> None:
    items, told = corpus(tmp_path / "corpus"), Told()

    async def work(mock: MockProvider) -> None:
        faults_of(mock.state).refuse = ["token_limit_exceeded"] * 3
        assert (await batches(tmp_path / "run", plan_of(items, mock.url, ["openai"]), told)).stopped is None
        assert len(all_of(mock.state)) == 4
        assert mock.state.files == {}

    on_mock(Behaviour(), work)
    assert told.count("queue_full") == 3
    assert statuses(tmp_path / "run") == {"ok": 24}


@pytest.mark.parametrize("provider", ["openai", "google"])
def test_a_batch_that_is_refused_as_a_whole_stops_its_judge(provider: str, tmp_path: Path) -> None:
    items = corpus(tmp_path / "corpus")

    async def work(mock: MockProvider) -> None:
        faults_of(mock.state).refuse = ["model_not_supported"]
        summary = await batches(tmp_path / "run", plan_of(items, mock.url, [provider]))
        assert "model_not_supported" in str(summary.stopped)
        assert summary.progress.done == 0
        assert len(all_of(mock.state)) == 1
        assert (await batches(tmp_path / "run", plan_of(items, mock.url, [provider]))).stopped is None

    on_mock(Behaviour(), work)


def test_requests_that_are_all_refused_end_no_cell(tmp_path: Path) -> None:
    """A wrong parameter: nothing is written down as an error of the items, and no second round is paid."""
    items = corpus(tmp_path / "corpus")

    async def work(mock: MockProvider) -> None:
        plan = plan_of(items, mock.url, ["anthropic"])
        summary = await batches(tmp_path / "run", plan)
        assert "refused every request" in str(summary.stopped)
        assert len(all_of(mock.state)) == 1

    on_mock(Behaviour(validate=True, only="request"), work)
    assert statuses(tmp_path / "run") == {}


def test_quota_inside_results_stops_the_judge(tmp_path: Path) -> None:
    items = corpus(tmp_path / "corpus")

    async def work(mock: MockProvider) -> None:
        summary = await batches(tmp_path / "run", plan_of(items, mock.url, ["openai"]))
        assert "no credit" in str(summary.stopped)

    on_mock(Behaviour(only="quota"), work)
    assert statuses(tmp_path / "run") == {}


def test_batches_that_only_expire_are_given_up(tmp_path: Path) -> None:
    items = corpus(tmp_path / "corpus", 2)

    async def work(mock: MockProvider) -> None:
        summary = await batches(tmp_path / "run", plan_of(items, mock.url, PROVIDERS))
        assert summary.progress.done == 0
        assert len(all_of(mock.state)) == 9
        assert "single answer" in str(summary.stopped)

    on_mock(Behaviour(batch_expire=1.0), work)


def test_several_judges_at_once_and_conditions(tmp_path: Path) -> None:
    items = corpus(tmp_path / "corpus", 6)

    async def work(mock: MockProvider) -> None:
        summary = await batches(tmp_path / "run", plan_of(items, mock.url, grid="paper-baseline"))
        assert (summary.progress.done, summary.stopped) == (180, None)
        assert summary.progress.in_flight == 0

    on_mock(ROUGH, work)
    assert sum(statuses(tmp_path / "run").values()) == 180
