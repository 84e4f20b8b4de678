"""Replies and errors in the form of each provider's documents.

Sources: platform.openai.com/docs/api-reference/chat, platform.openai.com/docs/guides/error-codes,
platform.claude.com/docs/en/api/messages and .../api/errors, ai.google.dev/api/generate-content,
openrouter.ai/docs/api/reference/errors-and-debugging, docs.z.ai/api-reference/api-code,
platform.kimi.ai/docs/api/errors, help.aliyun.com/en/model-studio/error-code.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any

import orjson
from tests.mock_provider.plan import Behaviour

REASONS = {
    200: "OK", 400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
    413: "Payload Too Large", 429: "Too Many Requests", 500: "Internal Server Error", 502: "Bad Gateway",
    503: "Service Unavailable", 529: "Overloaded",
}  # fmt: skip
REFUSAL = "I'm sorry, I cannot help with that."
THOUGHT = "The person asks for a level. I compare the two scenes."
HTML = b"<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"


@dataclass
class Answer:
    """A reply to be sent: status, body, further header lines; truncated bodies promise more than they hold."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    type: str = "application/json"
    truncated: bool = False

    def encode(self) -> bytes:
        length = len(self.body) * 2 if self.truncated else len(self.body)
        head = [f"HTTP/1.1 {self.status} {REASONS.get(self.status, 'Other')}", f"Content-Type: {self.type}"]
        head += [f"{name}: {value}" for name, value in self.headers.items()]
        head += [f"Content-Length: {length}", "", ""]
        return "\r\n".join(head).encode("latin-1") + self.body


def good(dialect: str, provider: str, model: str, content: str, kind: str, behaviour: Behaviour) -> dict[str, Any]:
    """A reply in a dialect as a JSON document; ``kind`` is ok, malformed, empty or refusal."""
    thought = THOUGHT if behaviour.reasoning else ""
    form = {"chat": _chat, "messages": _messages, "generate": _generate}[dialect]
    document = form(model, content, kind, thought)
    if provider == "openrouter":
        document["provider"] = "MockHost"
        document["usage"]["cost"] = 0.00125
    return document


def _chat(model: str, content: str, kind: str, thought: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None}
    if thought:
        message["reasoning_content"] = thought
    if kind == "refusal":
        message.update(content=None, refusal=REFUSAL)
    return {
        "id": "chatcmpl-mock",
        "object": "chat.completion",
        "created": 1796000000,
        "model": f"{model}-2026-01-01",
        "system_fingerprint": "fp_mock",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 905,
            "completion_tokens": 12 if thought else 1,
            "total_tokens": 917 if thought else 906,
            "prompt_tokens_details": {"cached_tokens": 128},
            "completion_tokens_details": {"reasoning_tokens": 11 if thought else 0},
        },
    }


def _messages(model: str, content: str, kind: str, thought: str) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": content}] if content and kind != "refusal" else []
    if thought:
        blocks.insert(0, {"type": "thinking", "thinking": thought, "signature": "c2lnbg=="})
    return {
        "id": "msg_mock",
        "type": "message",
        "role": "assistant",
        "model": f"{model}-20260101",
        "content": blocks,
        "stop_reason": "refusal" if kind == "refusal" else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 777,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 128,
            "output_tokens": 12 if thought else 1,
            "service_tier": "standard",
        },
    }


def _generate(model: str, content: str, kind: str, thought: str) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": content}] if content else []
    if thought:
        parts.insert(0, {"text": thought, "thought": True})
    usage = {
        "promptTokenCount": 905,
        "candidatesTokenCount": 1,
        "totalTokenCount": 917 if thought else 906,
        "cachedContentTokenCount": 128,
        **({"thoughtsTokenCount": 11} if thought else {}),
    }
    document: dict[str, Any] = {"usageMetadata": usage, "modelVersion": f"{model}-001", "responseId": "mock"}
    if kind == "refusal":
        document["promptFeedback"] = {"blockReason": "PROHIBITED_CONTENT"}
    else:
        content_part: dict[str, Any] = {"role": "model", "parts": parts} if parts else {"role": "model"}
        document["candidates"] = [{"content": content_part, "finishReason": "STOP", "index": 0}]
    return document


def error(dialect: str, provider: str, status: int, sentence: str, code: str, behaviour: Behaviour) -> Answer:
    """An error in the form of a provider's documents, with what it says about waiting on 429, 503 and 529."""
    waiting = status in (429, 503, 529) and code != "insufficient_quota"
    body, status = _error_body(dialect, provider, status, sentence, code)
    headers = {"request-id": "req_mock"} if dialect == "messages" else {"x-request-id": "req_mock"}
    if waiting:
        headers.update(_waiting(dialect, behaviour))
        if behaviour.retry_style == "body" and dialect == "generate":
            delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{behaviour.retry_after}s"}
            body["error"]["details"] = [delay]
    return Answer(status, orjson.dumps(body), headers)


def _error_body(dialect: str, provider: str, status: int, sentence: str, code: str) -> tuple[dict[str, Any], int]:
    if dialect == "messages":
        kinds = {400: "invalid_request_error", 401: "authentication_error", 402: "billing_error",
                 403: "permission_error", 404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error",
                 529: "overloaded_error"}  # fmt: skip
        kind = "billing_error" if code == "insufficient_quota" else kinds.get(status, "api_error")
        body = {"type": "error", "error": {"type": kind, "message": sentence}, "request_id": "req_mock"}
        return body, 402 if code == "insufficient_quota" else status
    if dialect == "generate":
        names = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 402: "RESOURCE_EXHAUSTED", 403: "PERMISSION_DENIED",
                 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}  # fmt: skip
        status = {529: 503}.get(status, 402 if code == "insufficient_quota" else status)
        return {"error": {"code": status, "message": sentence, "status": names.get(status, "INTERNAL")}}, status
    if provider == "openrouter":
        number = {529: 503}.get(status, 402 if code == "insufficient_quota" else status)
        body = {"error": {"code": number, "message": sentence, "metadata": {"provider_name": "MockHost"}}}
        return body, 200 if status >= 500 else number
    if provider == "zai":
        codes = {"insufficient_quota": "1113", "rate_limit_exceeded": "1302", "overloaded": "1305"}
        number = 429 if status == 529 else status
        return {"error": {"code": codes.get(code, "500"), "message": sentence}}, number
    if provider == "moonshot":
        kinds = {
            "insufficient_quota": "exceeded_current_quota_error",
            "rate_limit_exceeded": "rate_limit_reached_error",
            "overloaded": "engine_overloaded_error",
        }
        number = 429 if status == 529 else status
        return {"error": {"type": kinds.get(code, "server_error"), "message": sentence}}, number
    if provider == "dashscope":
        codes = {"insufficient_quota": "Arrearage", "rate_limit_exceeded": "Throttling.RateQuota"}
        number = {"insufficient_quota": 400}.get(code, 503 if status == 529 else status)
        body = {"error": {"code": codes.get(code, "InternalError"), "message": sentence, "type": "error"}}
        return {**body, "request_id": "mock"}, number
    kind = {429: "requests", 400: "invalid_request_error", 401: "invalid_request_error"}.get(status, "server_error")
    kind = "insufficient_quota" if code == "insufficient_quota" else kind
    body = {"error": {"message": sentence, "type": kind, "param": None, "code": code or None}}
    return body, 503 if status == 529 else status


def _waiting(dialect: str, behaviour: Behaviour) -> dict[str, str]:
    seconds = behaviour.retry_after
    style = behaviour.retry_style
    if style == "seconds":
        return {"Retry-After": str(max(0, round(seconds)))}
    if style == "date":
        return {"Retry-After": formatdate(time.time() + seconds, usegmt=True)}
    if style == "ms":
        return {"retry-after-ms": str(round(seconds * 1000))}
    if style == "reset" and dialect == "messages":
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))
        return {
            "anthropic-ratelimit-requests-limit": "50",
            "anthropic-ratelimit-requests-remaining": "0",
            "anthropic-ratelimit-requests-reset": moment,
        }
    if style == "reset":
        return {
            "x-ratelimit-limit-requests": "60",
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-requests": f"{round(seconds * 1000)}ms" if seconds < 1 else f"{seconds}s",
        }
    return {}
