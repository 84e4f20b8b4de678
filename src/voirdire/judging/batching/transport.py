"""Requests around a batch: small JSON documents, large files, lines that arrive one by one."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from voirdire.judging.nouns import CallFailed
from voirdire.texts import text

if TYPE_CHECKING:
    import aiohttp

CHUNK = 1 << 20
LONGEST_LINE = 1 << 25
"""Bytes of a result line that are still read; a longer one is left out and its request counts as not answered."""

Fail = Callable[[int, Mapping[str, str], bytes], CallFailed]
"""Turns an error response into the failure that an ordinary call would have raised."""


class Transport:
    """A provider's address, our key for it, and how its errors read.

    headers carry the key: they go only to addresses that this module builds from ``root``, never to one that came
    in a reply.
    """

    def __init__(
        self, session: aiohttp.ClientSession, root: str, headers: Mapping[str, str], fail: Fail, timeout: float
    ) -> None:
        self._session = session
        self._headers = {name: value for name, value in headers.items() if name.lower() != "content-type"}
        self._fail = fail
        self._timeout = timeout
        self.root = root

    async def json(self, method: str, url: str, document: Any = None, **query: str) -> dict[str, Any]:
        """Send a small document or none, and read the answer as a JSON object."""
        body = None if document is None else orjson.dumps(document)
        _, answer = await self.send(method, url, body, {"Content-Type": "application/json"} if body else {}, query)
        return parse(answer)

    async def send(
        self,
        method: str,
        url: str,
        data: Any,
        headers: Mapping[str, str],
        query: Mapping[str, str] | None = None,
        *,
        keyed: bool = True,
    ) -> tuple[Mapping[str, str], bytes]:
        """Send bytes, a form or a stream; returns the headers and the body of a success.

        keyed : whether our key goes along
        """
        import aiohttp

        try:
            async with self._session.request(
                method,
                url,
                data=data,
                params=query,
                headers={**(self._headers if keyed else {}), **headers},
                timeout=self._patience(),
                allow_redirects=False,
            ) as response:
                answer = await response.read()
                if not 200 <= response.status < 300:
                    raise self._fail(response.status, response.headers, answer)
                return response.headers, answer
        except TimeoutError as error:
            raise CallFailed("timeout", text("providers.timeout")) from error
        except aiohttp.ClientError as error:
            raise CallFailed("connection", text("providers.connection", why=type(error).__name__)) from error

    async def lines(self, url: str, **query: str) -> AsyncIterator[bytes]:
        """The lines of a file as they arrive; blank ones are left out."""
        import aiohttp

        try:
            async with self._session.get(
                url, params=query, headers=self._headers, timeout=self._patience(), allow_redirects=False
            ) as response:
                if response.status != 200:
                    raise self._fail(response.status, response.headers, await response.read())
                splitter = LineSplitter()
                async for chunk in response.content.iter_any():
                    for line in splitter.feed(chunk):
                        yield line
                for line in splitter.feed(b"\n"):
                    yield line
        except TimeoutError as error:
            raise CallFailed("timeout", text("providers.timeout")) from error
        except aiohttp.ClientError as error:
            raise CallFailed("connection", text("providers.connection", why=type(error).__name__)) from error

    def _patience(self) -> aiohttp.ClientTimeout:
        """No limit on the whole, which may be hundreds of megabytes; a limit on silence."""
        import aiohttp

        return aiohttp.ClientTimeout(total=None, connect=self._timeout, sock_read=self._timeout)


class LineSplitter:
    r"""Cuts a stream of bytes into lines without ever holding more than one; a line that is too long is dropped.

    >>> splitter = LineSplitter()
    >>> list(splitter.feed(b"one\ntw")), list(splitter.feed(b"o\n\n"))
    ([b'one'], [b'two'])
    """

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._held = bytearray()
        self._longest = longest
        self._dropping = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The lines that this chunk completes."""
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            self._hold(piece)
            line = bytes(self._held).strip()
            self._held.clear()
            if line and not self._dropping:
                yield line
            self._dropping = False
        self._hold(rest)

    def _hold(self, piece: bytes) -> None:
        if self._dropping or len(self._held) + len(piece) > self._longest:
            self._dropping = True
            self._held.clear()
        else:
            self._held += piece


def parse(document: bytes) -> dict[str, Any]:
    """A JSON object; anything else is a failure of the server."""
    try:
        found = orjson.loads(document)
    except orjson.JSONDecodeError as error:
        raise CallFailed("server", text("batch.not_json")) from error
    if not isinstance(found, dict):
        raise CallFailed("server", text("batch.not_json"))
    return found


def loads(line: bytes) -> dict[str, Any]:
    """A result line as an object; an empty one where it cannot be read.

    >>> loads(b'{"a": 1}'), loads(b"[1]"), loads(b"{")
    ({'a': 1}, {}, {})
    """
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def part(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object inside a document, or an empty one.

    >>> part({"a": {"b": 1}}, "a"), part({"a": None}, "a")
    ({'b': 1}, {})
    """
    found = document.get(name)
    return found if isinstance(found, dict) else {}


def word(document: Mapping[str, Any], name: str) -> str:
    """A text inside a document, or an empty one.

    >>> word({"id": "b_1"}, "id"), word({"id": 3}, "id")
    ('b_1', '')
    """
    found = document.get(name)
    return found if isinstance(found, str) else ""


def resource(name: str, kind: str = "") -> str:
    """A provider's id, checked so that it is a piece of a path and no more; raises CallFailed.

    >>> resource("batch_a1"), resource("batches/x-1", "batches")
    ('batch_a1', 'batches/x-1')
    >>> resource("../files")
    Traceback (most recent call last):
    ...
    voirdire.judging.nouns.CallFailed: server: The answer names no usable id.
    """
    if re.fullmatch((kind + "/" if kind else "") + r"[A-Za-z0-9_-]{1,200}", name) is None:
        raise CallFailed("server", text("batch.no_id"))
    return name


async def stream(head: bytes, spool: Path, tail: bytes) -> AsyncIterator[bytes]:
    """The lines of a file as the elements of a JSON array between head and tail, a megabyte at a time."""
    yield head
    comma = b""
    with spool.open("rb") as file:
        while block := file.readlines(CHUNK):
            yield comma + b",".join(block)
            comma = b","
    yield tail


def stream_length(head: bytes, n_bytes: int, requests: int, tail: bytes) -> int:
    """Bytes that ``stream`` sends."""
    return len(head) + n_bytes + max(requests - 1, 0) + len(tail)
