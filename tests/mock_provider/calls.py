"""A synchronous call in one of the three wire formats."""

from __future__ import annotations

import re
import time
import zlib
from functools import lru_cache

import orjson
from tests.mock_provider import dialects
from tests.mock_provider.dialects import Answer
from tests.mock_provider.plan import Behaviour, cell_and_attempt, content_of, kind_of, share
from tests.mock_provider.state import Request, State
from tests.mock_provider.validate import complaint

GENERATE = re.compile(r"/models/(?P<model>[^/:]+):generateContent$")
MODEL = re.compile(rb'"model"\s*:\s*"([^"\\]+)"')
FAILURES = {
    "rate_limit": (429, "Rate limit reached. Please slow down.", "rate_limit_exceeded"),
    "server": (500, "The server had an error while processing your request.", ""),
    "overload": (529, "Overloaded", "overloaded"),
    "quota": (429, "You exceeded your current quota, please check your plan and billing details.",
              "insufficient_quota"),
}  # fmt: skip


def call(state: State, request: Request) -> tuple[Answer | bytes | None, float]:
    """What to send and after how many seconds; None drops the connection."""
    dialect, provider = where(request.path)
    if not dialect:
        return Answer(404, b'{"error":{"message":"Not found","type":"invalid_request_error","code":null}}'), 0.0
    behaviour = state.behaviour
    _note(state, request)
    if state.canned is not None:
        status, headers, document = state.canned
        return Answer(status, orjson.dumps(document), headers), 0.0
    if behaviour.validate:
        problem = complaint(dialect, provider, request)
        if problem is not None:
            state.counts["refused_body"] += 1
            return dialects.error(dialect, provider, problem.status, problem.why, problem.code, behaviour), 0.0
    if state.bucket.over(behaviour.rps, behaviour.burst):
        state.counts["rate_limit"] += 1
        return dialects.error(dialect, provider, *FAILURES["rate_limit"], behaviour), 0.0
    cell, attempt = cell_and_attempt(request.id) or (str(zlib.crc32(request.body)), 1)
    kind = kind_of(behaviour, cell, attempt)
    state.counts[kind] += 1
    seconds = behaviour.latency + (behaviour.jitter * share("jitter", cell) if behaviour.jitter else 0.0)
    if kind in FAILURES:
        return dialects.error(dialect, provider, *FAILURES[kind], behaviour), 0.0 if kind == "rate_limit" else seconds
    if kind == "hang":
        return None, behaviour.hang_seconds
    if kind == "drop":
        return None, seconds
    return _body(dialect, provider, model_of(dialect, request), behaviour, cell, attempt, kind), seconds


def is_call(request: Request) -> bool:
    """Whether a request is a call of a model, told at a glance."""
    return request.path.endswith(("/chat/completions", "/v1/messages", ":generateContent"))


def where(path: str) -> tuple[str, str]:
    """Dialect and provider of a path; the dialect is empty for an unknown one."""
    if path.endswith("/chat/completions"):
        first = path.split("/", 2)[1]
        return "chat", "openai" if re.fullmatch(r"v\d+|chat|api", first) else first
    if path.endswith("/v1/messages"):
        return "messages", "anthropic"
    if GENERATE.search(path):
        return "generate", "google"
    return "", ""


def model_of(dialect: str, request: Request) -> str:
    """The model asked for, found without parsing the body: it stands at its beginning."""
    if dialect == "generate":
        found = GENERATE.search(request.path)
        return found["model"] if found else ""
    named = MODEL.search(request.chunks[0] if request.chunks else b"", 0, 4096) or MODEL.search(request.body)
    return named[1].decode() if named else ""


def _note(state: State, request: Request) -> None:
    now = time.monotonic()
    state.first = state.first or now
    state.last = now
    state.sizes += request.size
    state.counts["calls"] += 1
    state.seen[request.id.decode("latin-1")] += 1
    if state.behaviour.keep_bodies:
        state.kept.append((request.path, request.headers, request.body))
        while len(state.kept) > state.behaviour.keep_bodies:
            state.kept.popleft()


def _body(
    dialect: str, provider: str, model: str, behaviour: Behaviour, cell: str, attempt: int, kind: str
) -> Answer | bytes:
    if kind == "html":
        return Answer(502, dialects.HTML, type="text/html")
    if kind == "garbage":
        return Answer(200, b"\x00\xff\xfe not json at all {[")
    content = content_of(behaviour, cell, attempt, kind)
    if kind == "truncated":
        whole = orjson.dumps(dialects.good(dialect, provider, model, content, "ok", behaviour))
        cut = int(share("cut", cell, attempt) * len(whole))
        return Answer(200, whole[:cut], truncated=cut % 2 == 1)
    return _good(dialect, provider, model, content, kind, behaviour.reasoning)


@lru_cache(maxsize=4096)
def _good(dialect: str, provider: str, model: str, content: str, kind: str, reasoning: bool) -> bytes:
    document = dialects.good(dialect, provider, model, content, kind, Behaviour(reasoning=reasoning))
    return Answer(200, orjson.dumps(document)).encode()
