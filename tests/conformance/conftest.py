"""A mock in a thread, so that the SDKs' ordinary clients can be asked beside our judges.

The SDKs are pinned in requirements/conformance.txt and live in an environment of their own; where one is missing its
tests are skipped.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.judging.wiring import BASE64, KEY, MODELS, base_of, call, kit
from tests.mock_provider import Behaviour, MockProvider

from voirdire.judging.nouns import CallFailed, Reply
from voirdire.judging.providers.make import make_judge, parse_spec

TEXTS = ("First.", "Then 你好 “quoted” \n line.")
PARTS = (TEXTS[0], Path("one.png"), TEXTS[1], Path("two.png"))


class Beside:
    """The mock, and what our judges and an SDK make of it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, mock: MockProvider) -> None:
        self.loop = loop
        self.mock = mock
        self.key = KEY
        self.base64 = BASE64.decode()

    def base(self, provider: str) -> str:
        return base_of(provider, self.mock.url)

    def behave(self, **settings: Any) -> None:
        self.mock.state.behaviour = Behaviour(keep_bodies=8, **{"content": "4", **settings})
        self.mock.state.canned = None

    def can(self, document: Any, status: int = 200, **headers: str) -> None:
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        self.mock.state.canned = (status, fields, document)

    def ours(self, provider: str, *, model: str | None = None, timeout: float = 10.0, **parameters: Any) -> Any:
        """What our judge makes of one call: a Reply or a CallFailed."""

        async def ask() -> Reply | CallFailed:
            name = f"{provider}/{model or MODELS[provider]}"
            judge = make_judge(parse_spec(name, base_url=self.base(provider), parameters=parameters), kit(timeout))
            try:
                return await judge.ask(call(*PARTS))
            except CallFailed as failure:
                return failure
            finally:
                await judge.close()

        return asyncio.run_coroutine_threadsafe(ask(), self.loop).result(60)

    def last(self) -> tuple[str, dict[str, str], Any]:
        """Path, headers and JSON body of the last request."""
        path, headers, body = self.mock.state.kept[-1]
        return path, headers, orjson.loads(body)

    def both(self, provider: str, theirs: Callable[[], Any], **parameters: Any) -> tuple[Any, Any]:
        """The last request of the SDK and of ours, for the same call."""
        theirs()
        sdk = self.last()
        self.ours(provider, **parameters)
        return sdk, self.last()


@pytest.fixture(scope="module")
def server() -> Iterator[Beside]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    mock = MockProvider(Behaviour(keep_bodies=8))
    asyncio.run_coroutine_threadsafe(mock.start(), loop).result(30)
    yield Beside(loop, mock)
    asyncio.run_coroutine_threadsafe(mock.close(), loop).result(30)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(30)
    loop.close()


@pytest.fixture
def beside(server: Beside) -> Beside:
    server.behave()
    return server
