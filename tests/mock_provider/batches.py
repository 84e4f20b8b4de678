"""The batch APIs of the three wire formats, on the same plan of failures as synchronous calls.

Sources: platform.openai.com/docs/api-reference/batch, docs.claude.com/en/api/creating-message-batches,
ai.google.dev/api/batch-api, ai.google.dev/api/files. What a call would have ended as stands in the batch's results;
``drop``, ``hang`` and ``truncated`` leave a line out, ``garbage`` and ``html`` spoil it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
from tests.mock_provider import dialects
from tests.mock_provider.calls import FAILURES
from tests.mock_provider.dialects import Answer
from tests.mock_provider.plan import cell_and_attempt, content_of, kind_of, share
from tests.mock_provider.state import Request, State
from tests.mock_provider.validate import complaint

Found = tuple[Answer | None, float]
DIALECTS = {"openai": "chat", "anthropic": "messages", "google": "generate"}


@dataclass
class Faults:
    """What goes wrong beyond the plan of single calls.

    answers : (method, part of the path, status) of requests that are answered with an error once each; status 0
        drops the connection after the request was carried out
    hold : seconds before the answer to a creation; hide : batches that listings do not show yet
    duplicate, foreign, missing : lines of results that come twice, that nobody asked for, that are left out
    cut : bytes of a result after which the connection breaks, once; refuse : code of batches that fail as a whole,
        one per batch that is made
    cancel : batches are cancelled half-way
    """

    answers: list[tuple[str, str, int]] = field(default_factory=list)
    hold: float = 0.0
    duplicate: bool = False
    foreign: bool = False
    missing: int = 0
    cut: int = 0
    refuse: list[str] = field(default_factory=list)
    cancel: bool = False


@dataclass
class Batch:
    """A batch as the provider keeps it; ``requests`` are (id, body)."""

    id: str
    provider: str
    model: str
    requests: list[tuple[str, dict[str, Any]]]
    made: float
    name: str = ""
    input: str = ""
    refused: str = ""
    problem: str = ""
    lines: list[bytes] = field(default_factory=list)
    errors: list[bytes] = field(default_factory=list)
    expired: bool = False
    canceled: bool = False


def answer(state: State, request: Request) -> Found | None:
    """The answer to a request of a batch API and the seconds before it; None for any other request."""
    for provider, method, pattern, handler in ROUTES:
        found = re.search(pattern, request.path)
        if found and method == request.method:
            return _guarded(state, request, provider, handler, found)
    return None


def _guarded(
    state: State, request: Request, provider: str, handler: Callable[..., Answer], found: re.Match[str]
) -> Found:
    faults = faults_of(state)
    state.counts[f"{provider} {request.method} {_tail(request.path)}"] += 1
    drop = False
    for fault in list(faults.answers):
        if fault[0] == request.method and fault[1] in request.path:
            faults.answers.remove(fault)
            if fault[2]:
                return _error(state, provider, fault[2], "not now", ""), 0.0
            drop = True
            break
    if not found.re.pattern.startswith("/upload-session") and not _keyed(provider, request):
        return _error(state, provider, 401, "no key", "invalid_api_key"), 0.0
    reply = handler(state, request, found)
    return (None if drop else reply), faults.hold if handler in CREATIONS else 0.0


def _tail(path: str) -> str:
    return re.sub(r"[0-9]+(?=$|/|:)", "N", path)


def faults_of(state: State) -> Faults:
    """The faults of a mock; made on first use."""
    return state.batches.setdefault("faults", Faults())


def all_of(state: State) -> list[Batch]:
    """Every batch, the newest first."""
    return [batch for batch in reversed(state.batches.values()) if isinstance(batch, Batch)]


def _keyed(provider: str, request: Request) -> bool:
    header = {"openai": "authorization", "anthropic": "x-api-key", "google": "x-goog-api-key"}[provider]
    versioned = provider != "anthropic" or "anthropic-version" in request.headers
    return bool(request.headers.get(header)) and versioned


def _error(state: State, provider: str, status: int, why: str, code: str) -> Answer:
    return dialects.error(DIALECTS[provider], provider, status, why, code, state.behaviour)


def _json(document: Any) -> Answer:
    return Answer(200, orjson.dumps(document))


def _new(state: State, provider: str, model: str, requests: list[tuple[str, dict[str, Any]]], **more: Any) -> Batch:
    number = len(all_of(state)) + 1
    prefix = {"openai": "batch_", "anthropic": "msgbatch_", "google": "batches/b"}[provider]
    batch = Batch(f"{prefix}{number:04d}", provider, model, requests, time.monotonic(), **more)
    faults = faults_of(state)
    if faults.refuse:
        batch.refused = faults.refuse.pop(0)
    ids = [name for name, _ in requests]
    if len(set(ids)) != len(ids):
        batch.problem = "custom_id: must be unique"
    state.batches[batch.id] = batch
    for name in ids:
        state.seen[name] += 1
    return batch


def _ended(state: State, batch: Batch) -> bool:
    if time.monotonic() - batch.made < state.behaviour.batch_seconds:
        return False
    if not batch.lines and not batch.errors:
        _process(state, batch)
    return True


def _process(state: State, batch: Batch) -> None:
    """Answer every request, in an order of our own."""
    faults = faults_of(state)
    batch.canceled = batch.canceled or faults.cancel
    order = sorted(batch.requests, key=lambda one: share("order", one[0]))
    left_out = {name for name, _ in order[: faults.missing]}
    for at, (name, body) in enumerate(order):
        if name not in left_out:
            _one(state, batch, name, body, canceled=batch.canceled and 2 * at >= len(order))
    if batch.provider == "google" and share("expire", batch.id) < state.behaviour.batch_expire:
        batch.expired = True
        batch.lines = [b" "]  # an expired batch of this provider has no results
        return
    if faults.foreign:
        _add(batch, *_good_line(state, batch, "another-run-7-1", "ok"))
    if faults.duplicate:
        batch.lines += batch.lines[: len(batch.lines) // 2 + 1]


def _one(state: State, batch: Batch, name: str, body: dict[str, Any], *, canceled: bool) -> None:
    behaviour = state.behaviour
    cell, attempt = cell_and_attempt(name.encode()) or ("0", 1)
    problem = _complaint(batch.provider, body) if behaviour.validate else None
    kind = kind_of(behaviour, cell, attempt)
    if canceled:
        kind = "canceled"
    elif problem is not None:
        kind = "request"
    elif batch.provider != "google" and share("expire", cell, attempt) < behaviour.batch_expire:
        kind, batch.expired = "expired", True
    elif share("fail", cell, attempt) < behaviour.batch_fail:
        kind = "server"
    state.counts[f"batch {kind}"] += 1
    if kind in ("drop", "hang", "truncated"):
        return
    if kind in ("garbage", "html"):
        batch.lines.append(b'{"neither": "one"}' if kind == "garbage" else b"<html>")
        return
    if kind in ("canceled", "expired"):
        _add(batch, *_unasked(batch, name, kind))
    elif kind in FAILURES or kind == "request":
        status, why, code = FAILURES.get(kind, (400, problem or "", "invalid_request"))
        _add(batch, *_failed(state, batch, name, status, why, code))
    else:
        _add(batch, *_good_line(state, batch, name, kind))


def _complaint(provider: str, body: dict[str, Any]) -> str | None:
    head = (
        b"POST / HTTP/1.1\r\ncontent-type: application/json\r\nauthorization: Bearer sk-mock-0000\r\n"
        b"x-api-key: k\r\nx-goog-api-key: k\r\nanthropic-version: 2023-06-01"
    )
    found = complaint(DIALECTS[provider], provider, Request(head, [orjson.dumps(body)]))
    return found.why if found else None


def _add(batch: Batch, document: dict[str, Any], error: bool) -> None:
    (batch.errors if error else batch.lines).append(orjson.dumps(document))


def _good_line(state: State, batch: Batch, name: str, kind: str) -> tuple[dict[str, Any], bool]:
    cell, attempt = cell_and_attempt(name.encode()) or ("0", 1)
    content = content_of(state.behaviour, cell, attempt, kind)
    reply = dialects.good(DIALECTS[batch.provider], batch.provider, batch.model, content, kind, state.behaviour)
    if batch.provider == "openai":
        response = {"status_code": 200, "request_id": "req_mock", "body": reply}
        return {"id": "batch_req_mock", "custom_id": name, "response": response, "error": None}, False
    if batch.provider == "anthropic":
        return {"custom_id": name, "result": {"type": "succeeded", "message": reply}}, False
    return {**_google_name(batch, name), "response": reply}, False


def _failed(state: State, batch: Batch, name: str, status: int, why: str, code: str) -> tuple[dict[str, Any], bool]:
    found = _error(state, batch.provider, status, why, code)
    body = orjson.loads(found.body)
    if batch.provider == "openai":
        response = {"status_code": found.status, "request_id": "req_mock", "body": body}
        return {"id": "batch_req_mock", "custom_id": name, "response": response, "error": None}, True
    if batch.provider == "anthropic":
        return {"custom_id": name, "result": {"type": "errored", "error": body}}, False
    codes = {400: 3, 429: 8, 500: 13, 503: 14}
    return {**_google_name(batch, name), "error": {"code": codes.get(found.status, 2), "message": why}}, False


def _unasked(batch: Batch, name: str, kind: str) -> tuple[dict[str, Any], bool]:
    if batch.provider == "openai":
        code = "batch_expired" if kind == "expired" else "batch_cancelled"
        error = {"code": code, "message": "This request could not be executed before the completion window expired."}
        return {"id": "batch_req_mock", "custom_id": name, "response": None, "error": error}, True
    if batch.provider == "anthropic":
        return {"custom_id": name, "result": {"type": kind}}, False
    code = 1 if kind == "canceled" else 4
    return {**_google_name(batch, name), "error": {"code": code, "message": kind}}, False


def _google_name(batch: Batch, name: str) -> dict[str, Any]:
    return {"key": name} if batch.input else {"metadata": {"key": name}}


def _lines(state: State, lines: list[bytes]) -> Answer:
    body = b"\n".join(lines) + b"\n" if lines else b""
    faults = faults_of(state)
    if faults.cut:
        body, faults.cut = body[: faults.cut], 0
        return Answer(200, body, type="application/x-jsonl", truncated=True)
    return Answer(200, body, type="application/x-jsonl")


# OpenAI


def _openai_upload(state: State, request: Request, found: re.Match[str]) -> Answer:
    boundary = re.search(r"boundary=(\S+)", request.headers["content-type"])
    assert boundary is not None
    parts = request.body.split(b"--" + boundary[1].strip('"').encode())
    purpose = next(part for part in parts if b'name="purpose"' in part).split(b"\r\n\r\n", 1)[1].strip()
    content = next(part for part in parts if b'name="file"' in part).split(b"\r\n\r\n", 1)[1].removesuffix(b"\r\n")
    if purpose != b"batch":
        return _error(state, "openai", 400, "purpose must be batch", "invalid_request")
    name = f"file-{len(state.files) + 1:04d}"
    state.files[name] = content
    return _json({"id": name, "object": "file", "bytes": len(content), "purpose": "batch"})


def _openai_create(state: State, request: Request, found: re.Match[str]) -> Answer:
    wanted = orjson.loads(request.body)
    content = state.files.get(wanted["input_file_id"])
    if content is None:
        return _error(state, "openai", 400, "no such file", "invalid_request")
    lines = [orjson.loads(line) for line in content.splitlines()]
    asked = [(line["custom_id"], line["body"]) for line in lines]
    batch = _new(state, "openai", asked[0][1]["model"], asked, input=wanted["input_file_id"])
    batch.name = wanted["metadata"]["voirdire_batch"]
    ways = {(line["method"], line["url"]) for line in lines}
    if ways != {("POST", wanted["endpoint"])} or wanted["endpoint"] != "/v1/chat/completions":
        batch.problem = "url: does not match the endpoint"
    if wanted["completion_window"] != "24h":
        batch.problem = "completion_window"
    if len({body["model"] for _, body in asked}) > 1:
        batch.problem = "model: one model a batch"
    return _json(_openai_view(state, batch))


def _openai_view(state: State, batch: Batch) -> dict[str, Any]:
    refused = batch.refused or ("invalid_request" if batch.problem else "")
    ended = not refused and _ended(state, batch)
    status = "failed" if refused else "in_progress"
    if ended:
        status = "cancelled" if batch.canceled else "expired" if batch.expired else "completed"
    problem = {"code": refused, "message": batch.problem or refused, "line": None, "param": None}
    done = len(batch.lines) if ended else 0
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": "/v1/chat/completions",
        "status": status,
        "input_file_id": batch.input,
        "output_file_id": f"file-out-{batch.id}" if ended and batch.lines else None,
        "error_file_id": f"file-err-{batch.id}" if ended and batch.errors else None,
        "errors": {"object": "list", "data": [problem]} if refused else None,
        "metadata": {"voirdire_batch": batch.name},
        "request_counts": {
            "total": len(batch.requests),
            "completed": done,
            "failed": len(batch.errors) if ended else 0,
        },
    }


def _openai_list(state: State, request: Request, found: re.Match[str]) -> Answer:
    page, more = _page([b for b in all_of(state) if b.provider == "openai"], request.fields, "after")
    return _json({"object": "list", "data": [_openai_view(state, one) for one in page], "has_more": more})


def _openai_get(state: State, request: Request, found: re.Match[str]) -> Answer:
    batch = state.batches.get(found[1])
    if batch is None:
        return _error(state, "openai", 404, "No batch found", "")
    return _json(_openai_view(state, batch))


def _openai_content(state: State, request: Request, found: re.Match[str]) -> Answer:
    batch = state.batches[found[2]]
    return _lines(state, batch.lines if found[1] == "out" else batch.errors)


def _delete(state: State, request: Request, found: re.Match[str]) -> Answer:
    state.files.pop(found[1], None)
    return _json({"id": found[1], "deleted": True})


def _page(batches: list[Batch], fields: dict[str, str], cursor: str) -> tuple[list[Batch], bool]:
    start = 0
    if cursor in fields:
        start = [batch.id for batch in batches].index(fields[cursor]) + 1
    size = int(fields.get("limit", "20"))
    return batches[start : start + size], len(batches) > start + size


# Anthropic


def _anthropic_create(state: State, request: Request, found: re.Match[str]) -> Answer:
    wanted = orjson.loads(request.body)["requests"]
    bad = [one["custom_id"] for one in wanted if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", one["custom_id"])]
    if bad or len({one["custom_id"] for one in wanted}) != len(wanted):
        return _error(state, "anthropic", 400, f"custom_id: {bad}", "")
    asked = [(one["custom_id"], one["params"]) for one in wanted]
    return _json(_anthropic_view(state, _new(state, "anthropic", asked[0][1]["model"], asked)))


def _anthropic_view(state: State, batch: Batch) -> dict[str, Any]:
    ended = _ended(state, batch)
    counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
    counts["succeeded" if ended else "processing"] = len(batch.requests)
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": "ended" if ended else "in_progress",
        "request_counts": counts,
        "cancel_initiated_at": "2026-01-01T00:00:00Z" if batch.canceled else None,
        "results_url": "https://elsewhere.invalid/results" if ended else None,
    }


def _anthropic_list(state: State, request: Request, found: re.Match[str]) -> Answer:
    page, more = _page([b for b in all_of(state) if b.provider == "anthropic"], request.fields, "after_id")
    return _json({"data": [_anthropic_view(state, one) for one in page], "has_more": more})


def _anthropic_get(state: State, request: Request, found: re.Match[str]) -> Answer:
    batch = state.batches.get(found[1])
    if batch is None:
        return _error(state, "anthropic", 404, "Not found", "")
    return _json(_anthropic_view(state, batch))


def _anthropic_results(state: State, request: Request, found: re.Match[str]) -> Answer:
    batch = state.batches[found[1]]
    if not _ended(state, batch):
        return _error(state, "anthropic", 404, "no results yet", "")
    return _lines(state, batch.lines)


# Google


def _google_start(state: State, request: Request, found: re.Match[str]) -> Answer:
    headers = request.headers
    if headers["x-goog-upload-protocol"] != "resumable" or headers["x-goog-upload-command"] != "start":
        return _error(state, "google", 400, "upload", "")
    size = headers["x-goog-upload-header-content-length"]
    return Answer(200, b"{}", {"X-Goog-Upload-URL": f"{state.url}/upload-session/{size}"})


def _google_upload(state: State, request: Request, found: re.Match[str]) -> Answer:
    if "x-goog-api-key" in request.headers or request.size != int(found[1]):
        return _error(state, "google", 400, "a key where none belongs, or a wrong length", "")
    name = f"files/f{len(state.files) + 1:04d}"
    state.files[name] = request.body
    return _json({"file": {"name": name, "sizeBytes": str(request.size), "state": "ACTIVE"}})


def _google_create(state: State, request: Request, found: re.Match[str]) -> Answer:
    wanted = orjson.loads(request.body)["batch"]
    source = wanted["input_config"]
    if "file_name" in source:
        lines = [orjson.loads(line) for line in state.files[source["file_name"]].splitlines()]
        asked = [(line["key"], line["request"]) for line in lines]
    else:
        if request.size > 20_000_000:
            return _error(state, "google", 413, "Request payload size exceeds the limit: 20000000 bytes.", "")
        asked = [(one["metadata"]["key"], one["request"]) for one in source["requests"]["requests"]]
    more = {"name": wanted["display_name"], "input": source.get("file_name", "")}
    return _json(_google_view(state, _new(state, "google", found[1], asked, **more)))


def _google_view(state: State, batch: Batch) -> dict[str, Any]:
    ended = not batch.refused and _ended(state, batch)
    state_name = "FAILED" if batch.refused else "RUNNING"
    if ended:
        state_name = "CANCELLED" if batch.canceled else "EXPIRED" if batch.expired else "SUCCEEDED"
    about: dict[str, Any] = {
        "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
        "model": f"models/{batch.model}",
        "displayName": batch.name,
        "state": f"BATCH_STATE_{state_name}",
        "batchStats": {"requestCount": str(len(batch.requests))},
        "name": batch.id,
    }
    if batch.input:
        about["inputConfig"] = {"fileName": batch.input}
    view: dict[str, Any] = {"name": batch.id, "metadata": about}
    if batch.refused:
        view.update(done=True, error={"code": 8, "message": batch.refused, "status": batch.refused})
    if ended:
        inlined = {"inlinedResponses": {"inlinedResponses": [orjson.loads(line) for line in _readable(batch.lines)]}}
        about["output"] = {"responsesFile": f"files/out-{batch.id[8:]}"} if batch.input else inlined
        view.update(done=True, response=about["output"])
    return view


def _readable(lines: list[bytes]) -> Iterator[bytes]:
    return (line for line in lines if line.startswith(b"{"))


def _google_list(state: State, request: Request, found: re.Match[str]) -> Answer:
    mine = [b for b in all_of(state) if b.provider == "google"]
    size, start = int(request.fields.get("pageSize", "10")), int(request.fields.get("pageToken", "0"))
    page: dict[str, Any] = {"operations": [_google_view(state, one) for one in mine[start : start + size]]}
    if len(mine) > start + size:
        page["nextPageToken"] = str(start + size)
    return _json(page)


def _google_get(state: State, request: Request, found: re.Match[str]) -> Answer:
    batch = state.batches.get(found[1])
    if batch is None:
        return _error(state, "google", 404, "Requested entity was not found.", "")
    return _json(_google_view(state, batch))


def _google_download(state: State, request: Request, found: re.Match[str]) -> Answer:
    if request.fields.get("alt") != "media":
        return _error(state, "google", 400, "alt=media", "")
    return _lines(state, state.batches[f"batches/{found[1]}"].lines)


ROUTES: list[tuple[str, str, str, Callable[..., Answer]]] = [
    ("openai", "POST", r"/openai/v1/files$", _openai_upload),
    ("openai", "POST", r"/openai/v1/batches$", _openai_create),
    ("openai", "GET", r"/openai/v1/batches$", _openai_list),
    ("openai", "GET", r"/openai/v1/batches/([\w-]+)$", _openai_get),
    ("openai", "GET", r"/openai/v1/files/file-(out|err)-(batch_\d+)/content$", _openai_content),
    ("openai", "DELETE", r"/openai/v1/files/([\w-]+)$", _delete),
    ("anthropic", "POST", r"/v1/messages/batches$", _anthropic_create),
    ("anthropic", "GET", r"/v1/messages/batches$", _anthropic_list),
    ("anthropic", "GET", r"/v1/messages/batches/([\w-]+)$", _anthropic_get),
    ("anthropic", "GET", r"/v1/messages/batches/([\w-]+)/results$", _anthropic_results),
    ("google", "POST", r"/upload/v1beta/files$", _google_start),
    ("google", "POST", r"/upload-session/(\d+)$", _google_upload),
    ("google", "POST", r"/v1beta/models/([^/:]+):batchGenerateContent$", _google_create),
    ("google", "GET", r"/v1beta/batches$", _google_list),
    ("google", "GET", r"/v1beta/(batches/[\w-]+)$", _google_get),
    ("google", "GET", r"/download/v1beta/files/out-(b\d+):download$", _google_download),
    ("google", "DELETE", r"/v1beta/(files/[\w-]+)$", _delete),
]
CREATIONS = {_openai_create, _anthropic_create, _google_create}
