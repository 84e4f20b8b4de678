"""From a judge behind an HTTP API to the batch API of its provider."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from voirdire.corpus.shown import Item
from voirdire.errors import UsageError
from voirdire.judging.batching.anthropic import AnthropicBatches
from voirdire.judging.batching.google import GoogleBatches
from voirdire.judging.batching.openai import OpenAIBatches
from voirdire.judging.batching.protocol import BatchApi
from voirdire.judging.batching.transport import Transport
from voirdire.judging.nouns import Call, CallFailed, Condition, Judge, Reply
from voirdire.judging.providers.catalog import provider_entry

if TYPE_CHECKING:
    import aiohttp

    from voirdire.judging.providers.http import Endpoint

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


class BatchJudge(Judge, Protocol):
    """A judge whose requests can be written down instead of being sent."""

    endpoint: Endpoint

    def body(self, call: Call) -> bytes:
        """The body of the request for a call."""
        ...


def batch_judges(judges: Iterable[Judge]) -> list[BatchJudge]:
    """The judges, all of which can be asked in batches. Raises UsageError for the first that cannot be."""
    from voirdire.judging.providers.http import HttpJudge

    found: list[BatchJudge] = []
    for judge in judges:
        if not isinstance(judge, HttpJudge) or provider_entry(judge.endpoint.spec.provider).batch not in _APIS:
            raise UsageError("batch.provider", judge=judge.name, known=", ".join(_APIS))
        if not judge.endpoint.capability.batch:
            raise UsageError("batch.model", judge=judge.name, model=judge.endpoint.spec.model)
        found.append(judge)
    return found


def check_images(judges: Sequence[BatchJudge], items: Iterable[Item], conditions: Iterable[Condition]) -> None:
    """Raise UsageError when the run shows images and a model takes none in batches."""
    conditions = tuple(conditions)
    pictured = any(condition.image == "file" for condition in conditions) and any(item.image for item in items)
    if not pictured and not any(condition.cues for condition in conditions):
        return
    for judge in judges:
        known = judge.endpoint.capability
        if not (known.images and known.batch_images):
            raise UsageError("batch.images", judge=judge.name, model=judge.endpoint.spec.model)


def open_session() -> aiohttp.ClientSession:
    """A session without headers of its own, since a key must not travel to every address of a batch's life."""
    import aiohttp

    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=16),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=any(os.environ.get(name) for name in PROXIES),
    )


def batch_api(judge: BatchJudge, session: aiohttp.ClientSession, timeout: float) -> BatchApi:
    """The batch API of a judge's provider, at the judge's address and with its key."""
    end = judge.endpoint
    kind = provider_entry(end.spec.provider).batch

    def fail(status: int, headers: Mapping[str, str], body: bytes) -> CallFailed:
        try:
            found = end.wire.read(status, headers, body)
        except CallFailed as failure:
            return failure
        return CallFailed("request", found.refusal or "", status=status)

    root, headers = end.url, end.headers()
    if kind == "openai":
        return OpenAIBatches(Transport(session, root.removesuffix("/chat/completions"), headers, fail, timeout))
    if kind == "anthropic":
        return AnthropicBatches(Transport(session, root, headers, fail, timeout))
    address, _, model = root.removesuffix(":generateContent").rpartition("/models/")
    return GoogleBatches(Transport(session, address, headers, fail, timeout), model)


def read_answer(judge: BatchJudge, status: int, body: bytes) -> Reply:
    """A line of a result, read as the response of an ordinary call. Raises CallFailed."""
    key = judge.endpoint.key
    if key is not None:
        body = body.replace(key.reveal().encode(), b"[key]")
    return judge.endpoint.wire.read(status, {}, body)


_APIS = ("openai", "anthropic", "google")
