"""The server: a bare asyncio protocol, so that a call of 220 kB costs little beside the client under test."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from tests.mock_provider import admin, batches
from tests.mock_provider.calls import call, is_call
from tests.mock_provider.dialects import Answer
from tests.mock_provider.plan import Behaviour
from tests.mock_provider.state import Request, State

LENGTH = re.compile(rb"\r\ncontent-length:\s*(\d+)", re.I)
CHUNKED = re.compile(rb"\r\ntransfer-encoding:\s*chunked", re.I)
EXPECT = re.compile(rb"\r\nexpect:\s*100", re.I)


class Connection(asyncio.Protocol):
    """One connection of one client: requests one after another."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.transport: asyncio.Transport | None = None
        self.head = b""
        self.body: list[bytes] = []
        self.rest: list[bytes] = []
        self.missing = 0
        self.chunked = False
        self.tasks: set[asyncio.TimerHandle] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.state.connections.add(transport)
        self.state.counts["connections"] += 1

    def connection_lost(self, exc: Exception | None) -> None:
        if self.transport:
            self.state.connections.discard(self.transport)
        self.transport = None
        for handle in self.tasks:
            handle.cancel()
            self.state.in_flight -= 1
            self.state.counts["cancelled"] += 1
        self.tasks.clear()

    def data_received(self, data: bytes) -> None:
        if self.missing:
            self.body.append(data)
            self.missing -= len(data)
            if self.missing <= 0:
                self._complete()
            return
        if self.chunked:
            self.rest.append(data)
            self._finish_chunked()
            return
        self.head += data
        end = self.head.find(b"\r\n\r\n")
        if end < 0:
            return
        rest = self.head[end + 4 :]
        self.head = self.head[: end + 2]
        if EXPECT.search(self.head) and self.transport:
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if CHUNKED.search(self.head):
            self.chunked, self.body, self.rest = True, [], [rest]
            self._finish_chunked()
            return
        self.body = [rest] if rest else []
        length = LENGTH.search(self.head)
        self.missing = (int(length[1]) if length else 0) - len(rest)
        if self.missing <= 0:
            self._complete()

    def _finish_chunked(self) -> None:
        """Take whole chunks off what has come; the rest waits for more."""
        raw, at, ended = b"".join(self.rest), 0, False
        while not ended:
            line = raw.find(b"\r\n", at)
            size = int(raw[at:line].split(b";")[0], 16) if line >= 0 else 0
            if line < 0 or len(raw) < line + 2 + size + 2:
                break
            self.body.append(raw[line + 2 : line + 2 + size])
            at, ended = line + 2 + size + 2, size == 0
        self.rest = [raw[at:]] if at < len(raw) and not ended else []
        if ended:
            self.chunked = False
            self._complete()

    def _complete(self) -> None:
        request = Request(self.head, self.body)
        self.head, self.body, self.missing = b"", [], 0
        admin_answer = admin.answer(self.state, request)
        if admin_answer is not None:
            self._write(admin_answer.encode())
            return
        found, seconds = (None if is_call(request) else batches.answer(self.state, request)) or call(
            self.state, request
        )
        self.state.in_flight += 1
        self.state.max_in_flight = max(self.state.max_in_flight, self.state.in_flight)
        if seconds <= 0:
            self._reply(found)
            return
        loop = asyncio.get_running_loop()
        handle = loop.call_later(seconds, lambda: (self.tasks.discard(handle), self._reply(found)))
        self.tasks.add(handle)

    def _reply(self, found: Answer | bytes | None) -> None:
        self.state.in_flight -= 1
        if found is None:
            if self.transport:
                self.transport.abort()
            return
        self._write(found.encode() if isinstance(found, Answer) else found)
        if isinstance(found, Answer) and found.truncated and self.transport:
            self.transport.close()

    def _write(self, data: bytes) -> None:
        if self.transport and not self.transport.is_closing():
            self.transport.write(data)


class MockProvider:
    """The server in the running loop. ``url`` has no trailing slash; ``state`` counts what was asked."""

    def __init__(self, behaviour: Behaviour | None = None, *, port: int = 0, tls: Any = None) -> None:
        self.state = State(behaviour or Behaviour())
        self._port = port
        self._tls = tls
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Connection(self.state), "127.0.0.1", self._port, backlog=2048, ssl=self._tls
        )
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"
        self.state.url = self.url

    async def close(self) -> None:
        if self._server:
            self._server.close()
            for transport in list(self.state.connections):
                transport.abort()
            await self._server.wait_closed()

    async def __aenter__(self) -> MockProvider:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
