"""The Batch API of Google: up to 20 MB of requests inside one request, more as an uploaded file.

Source: https://ai.google.dev/gemini-api/docs/batch-api and https://ai.google.dev/api/batch-api (a batch has a display
name and can be listed; states ``BATCH_STATE_*``; results inside the operation, or in a file to download; a line of
the file is ``key`` and ``response`` or ``error``); upload: https://ai.google.dev/api/files (resumable protocol).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import orjson

from voirdire.judging.batching.protocol import Found, Limits, Line, Order, Search, State
from voirdire.judging.batching.transport import Transport, loads, parse, part, resource, word
from voirdire.judging.nouns import CallFailed
from voirdire.texts import text

INLINE = 18_000_000
"""Bytes up to which requests go inside the call; the documented limit of 20 MB counts what surrounds them too."""

PAGES = 50


class GoogleBatches:
    """Batches of one model's generateContent; ``root`` is the versioned address, e.g. ``https://host/v1beta``."""

    limits = Limits(100_000, 2_000_000_000)

    def __init__(self, transport: Transport, model: str) -> None:
        self._transport = transport
        self._create = f"{transport.root}/models/{model}:batchGenerateContent"
        host, _, self._version = transport.root.rpartition("/")
        self._upload = f"{host}/upload/{self._version}/files"
        self._download = f"{host}/download/{self._version}"

    def line(self, custom_id: str, body: bytes) -> bytes:
        """``{"key", "request"}``; the body is put in as it is."""
        return b'{"key":%s,"request":%s}\n' % (orjson.dumps(custom_id), body)

    async def marker(self) -> str:
        """Not needed: a batch carries our name."""
        return ""

    async def submit(self, order: Order) -> str:
        """Small batches inside the call, others as a file."""
        name = orjson.dumps(order.key)
        if order.n_bytes <= INLINE:
            with order.spool.open("rb") as file:
                requests = b",".join(map(inline, file))
            source = b'{"requests":{"requests":[%s]}}' % requests
        else:
            source = b'{"file_name":%s}' % orjson.dumps(await self._upload_file(order))
        body = b'{"batch":{"display_name":%s,"input_config":%s}}' % (name, source)
        _, answer = await self._transport.send("POST", self._create, body, {"Content-Type": "application/json"})
        return resource(word(parse(answer), "name"), "batches")

    async def _upload_file(self, order: Order) -> str:
        """The upload address comes in a reply, so our key does not go there."""
        headers, _ = await self._transport.send(
            "POST",
            self._upload,
            orjson.dumps({"file": {"display_name": order.key}}),
            {
                "Content-Type": "application/json",
                "X-Goog-Upload-Protocol": "resumable",
                "X-Goog-Upload-Command": "start",
                "X-Goog-Upload-Header-Content-Length": str(order.n_bytes),
                "X-Goog-Upload-Header-Content-Type": "application/jsonl",
            },
        )
        address = headers.get("X-Goog-Upload-URL")
        if not address:
            raise CallFailed("server", text("batch.no_id"))
        with order.spool.open("rb") as file:
            _, answer = await self._transport.send(
                "POST",
                address,
                file,
                {
                    "Content-Length": str(order.n_bytes),
                    "X-Goog-Upload-Offset": "0",
                    "X-Goog-Upload-Command": "upload, finalize",
                },
                keyed=False,
            )
        return resource(word(part(parse(answer), "file"), "name"), "files")

    async def find(self, search: Search) -> Found:
        """Look for our name among the project's batches."""
        token: dict[str, str] = {}
        for _ in range(PAGES):
            page = await self._transport.json("GET", f"{self._transport.root}/batches", None, pageSize="100", **token)
            for one in page.get("operations") or ():
                if isinstance(one, dict) and word(part(one, "metadata"), "displayName") == search.key:
                    return Found("found", resource(word(one, "name"), "batches"))
            if not word(page, "nextPageToken"):
                break
            token = {"pageToken": word(page, "nextPageToken")}
        return Found("absent")

    async def state(self, batch: str) -> State:
        """``SUCCEEDED, PARTIALLY_SUCCEEDED, EXPIRED, CANCELLED`` ended; ``FAILED`` failed; all others are running."""
        found = await self._transport.json("GET", f"{self._transport.root}/{resource(batch, 'batches')}")
        about, error = part(found, "metadata"), part(found, "error")
        name = word(about, "state").removeprefix("BATCH_STATE_").removeprefix("JOB_STATE_")
        output = part(found, "response") or part(about, "output")
        files = tuple(word(output, field) for field in ("responsesFile",) if word(output, field))
        stats = part(about, "batchStats")
        inputs = word(part(about, "inputConfig"), "fileName")
        return State(
            "failed" if name == "FAILED" else "ended" if name in _ENDED else "running",
            done=_count(stats, "successfulRequestCount") + _count(stats, "failedRequestCount"),
            total=_count(stats, "requestCount"),
            canceled=name == "CANCELLED",
            rest="expired" if name == "EXPIRED" else "canceled" if name == "CANCELLED" else "missing",
            why=word(error, "message"),
            code=word(error, "status") or str(error.get("code", "")),
            results=files,
            inputs=(inputs,) if inputs else (),
            payload=tuple(_inlined(output)),
        )

    async def results(self, batch: str, state: State) -> AsyncIterator[Line]:  # noqa: ARG002
        """The responses inside the operation, then those of the file."""
        for document in state.payload:
            yield read_line(loads(document))
        for file in state.results:
            address = f"{self._download}/{resource(file, 'files')}:download"
            async for line in self._transport.lines(address, alt="media"):
                yield read_line(loads(line))

    async def clean(self, state: State) -> None:
        """Delete the input file; the provider itself deletes it after 48 hours."""
        for file in state.inputs:
            await self._transport.json("DELETE", f"{self._transport.root}/{resource(file, 'files')}")


_ENDED = frozenset({"SUCCEEDED", "PARTIALLY_SUCCEEDED", "EXPIRED", "CANCELLED"})


def inline(line: bytes) -> bytes:
    r"""A line of the spool as a request inside the call.

    >>> inline(b'{"key":"r-1-1","request":{"contents":[]}}\n')
    b'{"metadata":{"key":"r-1-1"},"request":{"contents":[]}}'
    """
    head, field, body = line.rstrip(b"\n").partition(b',"request":')
    return b'{"metadata":' + head + b"}" + field + body


def _inlined(output: dict[str, Any]) -> Iterator[bytes]:
    inlined = output.get("inlinedResponses")
    found = inlined.get("inlinedResponses") if isinstance(inlined, dict) else inlined
    for one in found if isinstance(found, list) else ():
        yield orjson.dumps(one)


def read_line(line: dict[str, Any]) -> Line:
    """A line of a result file, or a response inside an operation.

    >>> read_line({"key": "r-1-1", "response": {"candidates": []}})
    Line(custom_id='r-1-1', kind='answer', status=200, body=b'{"candidates":[]}')
    >>> read_line({"metadata": {"key": "r-1-1"}, "error": {"code": 14, "message": "try later"}}).status
    503
    """
    custom_id = word(line, "key") or word(part(line, "metadata"), "key")
    if "response" in line and isinstance(line["response"], dict):
        return Line(custom_id, "answer", 200, orjson.dumps(line["response"]))
    error = part(line, "error") or part(line, "status")
    if not error:
        return Line(custom_id, "unreadable")
    code = _count(error, "code")
    if code == CANCELLED or word(error, "status") == "CANCELLED":
        return Line(custom_id, "canceled")
    return Line(custom_id, "answer", STATUS.get(code, code if code >= 400 else 500), orjson.dumps({"error": error}))


CANCELLED = 1

STATUS = {3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 11: 400, 13: 500, 14: 503, 16: 401}
"""Code of an error inside a result -> HTTP status. Source: https://google.aip.dev/193 (google.rpc.Code)"""


def _count(document: dict[str, Any], name: str) -> int:
    found = document.get(name)
    return found if isinstance(found, int) else int(found) if isinstance(found, str) and found.isdecimal() else 0
