"""The Message Batches API of Anthropic: one request carries all the requests, one JSONL stream carries the results.

Source: https://docs.claude.com/en/docs/build-with-claude/batch-processing and
https://docs.claude.com/en/api/creating-message-batches (100,000 requests or 256 MB; ``custom_id`` of 1 to 64 letters,
digits, ``_`` and ``-``; results ``succeeded, errored, canceled, expired``, in no order; listed newest first).

A batch carries no name. To find one whose id was never learnt, voirdire notes before a submission which batch of the
account is the newest; of those that are newer, one with as many requests is a candidate, and the ids in its results
tell whether it is the one.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any
from urllib.parse import quote

import orjson

from voirdire.judging.batching.protocol import Found, Limits, Line, Order, Search, State
from voirdire.judging.batching.transport import Transport, loads, parse, part, resource, stream, stream_length, word

HEAD, TAIL = b'{"requests":[', b"]}"

STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""Type of error -> HTTP status. Source: https://docs.claude.com/en/api/errors"""

PAGES = 50


class AnthropicBatches:
    """Batches of messages; ``root`` is the address of the messages endpoint."""

    limits = Limits(100_000, 256_000_000)

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._batches = f"{transport.root}/batches"

    def line(self, custom_id: str, body: bytes) -> bytes:
        """``{"custom_id", "params"}``; the body is put in as it is."""
        return b'{"custom_id":%s,"params":%s}\n' % (orjson.dumps(custom_id), body)

    async def marker(self) -> str:
        """The id of the account's newest batch."""
        page = await self._transport.json("GET", self._batches, None, limit="1")
        newest = _batches(page)
        return word(newest[0], "id") if newest else ""

    async def submit(self, order: Order) -> str:
        """Send the file as the array of requests, streamed."""
        length = stream_length(HEAD, order.n_bytes, order.requests, TAIL)
        _, answer = await self._transport.send(
            "POST",
            self._batches,
            stream(HEAD, order.spool, TAIL),
            {"Content-Type": "application/json", "Content-Length": str(length)},
        )
        return resource(word(parse(answer), "id"))

    async def find(self, search: Search) -> Found:
        """Look through the batches that are newer than the marker."""
        undecided = False
        for one in await self._newer_than(search.marker):
            batch, counts = word(one, "id"), part(one, "request_counts")
            size = sum(n for n in counts.values() if isinstance(n, int))
            if batch in search.known or size != search.requests:
                continue
            if word(one, "processing_status") != "ended":
                undecided = True
            elif await self._first_is(batch, search.mine):
                return Found("found", resource(batch))
        return Found("undecided") if undecided else Found("absent")

    async def _newer_than(self, marker: str) -> list[dict[str, Any]]:
        newer: list[dict[str, Any]] = []
        after: dict[str, str] = {}
        for _ in range(PAGES):
            page = await self._transport.json("GET", self._batches, None, limit="100", **after)
            for one in _batches(page):
                if word(one, "id") == marker:
                    return newer
                newer.append(one)
            if not page.get("has_more") or not newer:
                break
            after = {"after_id": word(newer[-1], "id")}
        return newer

    async def _first_is(self, batch: str, mine: Callable[[str], bool]) -> bool:
        async with aclosing(self.results(batch, State("ended"))) as lines:
            async for line in lines:
                return mine(line.custom_id)
        return False

    async def state(self, batch: str) -> State:
        """``in_progress`` and ``canceling`` are running; ``ended`` has results."""
        found = await self._transport.json("GET", f"{self._batches}/{quote(batch, safe='')}")
        counts = {name: n for name, n in part(found, "request_counts").items() if isinstance(n, int)}
        return State(
            "ended" if word(found, "processing_status") == "ended" else "running",
            done=sum(n for name, n in counts.items() if name != "processing"),
            total=sum(counts.values()),
            canceled=bool(found.get("cancel_initiated_at")),
        )

    async def results(self, batch: str, state: State) -> AsyncGenerator[Line]:  # noqa: ARG002
        """The lines of the results endpoint; the key never goes to the address in ``results_url``."""
        async for line in self._transport.lines(f"{self._batches}/{quote(batch, safe='')}/results"):
            yield read_line(loads(line))

    async def clean(self, state: State) -> None:
        """Nothing was uploaded."""


def _batches(page: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in page.get("data") or () if isinstance(one, dict)]


def read_line(line: dict[str, Any]) -> Line:
    """A line of the results.

    >>> read_line({"custom_id": "r-1-1", "result": {"type": "succeeded", "message": {"id": "m"}}})
    Line(custom_id='r-1-1', kind='answer', status=200, body=b'{"id":"m"}')
    >>> error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    >>> read_line({"custom_id": "r-1-1", "result": {"type": "errored", "error": error}}).status
    529
    """
    custom_id, result = word(line, "custom_id"), part(line, "result")
    match word(result, "type"):
        case "succeeded":
            return Line(custom_id, "answer", 200, orjson.dumps(result.get("message")))
        case "errored":
            error = part(result, "error")
            kind = word(part(error, "error"), "type") or word(error, "type")
            return Line(custom_id, "answer", STATUS.get(kind, 500), orjson.dumps(error))
        case "expired":
            return Line(custom_id, "expired")
        case "canceled":
            return Line(custom_id, "canceled")
        case _:
            return Line(custom_id, "unreadable")
