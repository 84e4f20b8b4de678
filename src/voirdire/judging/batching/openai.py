"""The Batch API of OpenAI: a file of requests is uploaded, a batch is made of it, two files come back.

Source: https://platform.openai.com/docs/guides/batch and https://platform.openai.com/docs/api-reference/batch
(50,000 requests and 200 MB a file; ``metadata`` can be listed; output and error file; order not kept; unfinished
requests of an expired batch stand in the error file with the code ``batch_expired``).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import orjson

from voirdire.judging.batching.protocol import Found, Limits, Line, Order, Search, State
from voirdire.judging.batching.transport import Transport, loads, parse, part, resource, word

ENDPOINT = "/v1/chat/completions"

PAGES = 50
"""Pages of a hundred batches that a search goes back through."""

MARK = "voirdire_batch"
"""The metadata key that carries our name of a batch."""

QUEUE_FULL = "token_limit_exceeded"
"""Code of a batch that was refused because too many tokens are waiting already: later it will be taken."""


class OpenAIBatches:
    """Batches of chat completions."""

    limits = Limits(50_000, 200_000_000)

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def line(self, custom_id: str, body: bytes) -> bytes:
        """``{"custom_id", "method", "url", "body"}``; the body is put in as it is, images and all."""
        head = orjson.dumps({"custom_id": custom_id, "method": "POST", "url": ENDPOINT})
        return b'%s,"body":%s}\n' % (head[:-1], body)

    async def marker(self) -> str:
        """Not needed: a batch carries our name."""
        return ""

    async def submit(self, order: Order) -> str:
        """Upload the file, then make the batch."""
        import aiohttp

        with order.spool.open("rb") as file:
            form = aiohttp.FormData()
            form.add_field("purpose", "batch")
            form.add_field("file", file, filename=f"{order.key}.jsonl", content_type="application/jsonl")
            _, answer = await self._transport.send("POST", f"{self._transport.root}/files", form, {})
        made = await self._transport.json(
            "POST",
            f"{self._transport.root}/batches",
            {
                "input_file_id": resource(word(parse(answer), "id")),
                "endpoint": ENDPOINT,
                "completion_window": "24h",
                "metadata": {MARK: order.key},
            },
        )
        return resource(word(made, "id"))

    async def find(self, search: Search) -> Found:
        """Look for our name among the account's batches, the newest first."""
        after: dict[str, str] = {}
        for _ in range(PAGES):
            page = await self._transport.json("GET", f"{self._transport.root}/batches", None, limit="100", **after)
            batches = [one for one in page.get("data") or () if isinstance(one, dict)]
            for one in batches:
                if part(one, "metadata").get(MARK) == search.key:
                    return Found("found", resource(word(one, "id")))
            if not batches or not page.get("has_more"):
                break
            after = {"after": word(batches[-1], "id")}
        return Found("absent")

    async def state(self, batch: str) -> State:
        """``validating, in_progress, finalizing, cancelling`` are running; ``completed, expired, cancelled`` ended."""
        found = await self._transport.json("GET", f"{self._transport.root}/batches/{quote(batch, safe='')}")
        counts, status = part(found, "request_counts"), word(found, "status")
        errors = [one for one in part(found, "errors").get("data") or () if isinstance(one, dict)]
        return State(
            "failed" if status == "failed" else "ended" if status in _ENDED else "running",
            done=_count(counts, "completed") + _count(counts, "failed"),
            total=_count(counts, "total"),
            canceled=status == "cancelled",
            rest="expired" if status == "expired" else "canceled" if status == "cancelled" else "missing",
            why=word(errors[0], "message") if errors else "",
            code=word(errors[0], "code") if errors else "",
            results=tuple(name for name in (word(found, "output_file_id"), word(found, "error_file_id")) if name),
            inputs=tuple(name for name in (word(found, "input_file_id"),) if name),
        )

    async def results(self, batch: str, state: State) -> AsyncIterator[Line]:  # noqa: ARG002
        """The lines of the output file, then those of the error file."""
        for file in state.results:
            async for line in self._transport.lines(f"{self._transport.root}/files/{resource(file)}/content"):
                yield read_line(loads(line))

    async def clean(self, state: State) -> None:
        """Delete the input file."""
        for file in state.inputs:
            await self._transport.json("DELETE", f"{self._transport.root}/files/{resource(file)}")


_ENDED = frozenset({"completed", "expired", "cancelled"})


def read_line(line: dict[str, Any]) -> Line:
    """A line of the output or the error file.

    >>> read_line({"custom_id": "r-1-1", "response": {"status_code": 200, "body": {"id": "x"}}, "error": None})
    Line(custom_id='r-1-1', kind='answer', status=200, body=b'{"id":"x"}')
    >>> read_line({"custom_id": "r-2-1", "response": None, "error": {"code": "batch_expired", "message": ""}}).kind
    'expired'
    """
    custom_id, response, error = word(line, "custom_id"), part(line, "response"), part(line, "error")
    code = word(error, "code")
    if code in ("batch_expired", "batch_cancelled"):
        return Line(custom_id, "expired" if code == "batch_expired" else "canceled")
    if response:
        return Line(custom_id, "answer", _count(response, "status_code") or 500, orjson.dumps(response.get("body")))
    if error:
        return Line(custom_id, "answer", 500, orjson.dumps({"error": error}))
    return Line(custom_id, "unreadable")


def _count(document: dict[str, Any], name: str) -> int:
    found = document.get(name)
    return found if isinstance(found, int) else 0
