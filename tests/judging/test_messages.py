from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging.test_chat import documents
from tests.judging.wiring import BASE64, MIXED, call, image, outcome, raw

from voirdire.judging.nouns import CallFailed, Usage
from voirdire.judging.providers.keys import Secret
from voirdire.judging.providers.messages import MessagesWire

WIRE = MessagesWire("anthropic")
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": BASE64.decode()}}


def message(content: Any = None, stop: str = "end_turn", **more: Any) -> bytes:
    blocks = [{"type": "text", "text": "4"}] if content is None else content
    return raw({"type": "message", "model": "claude-1", "content": blocks, "stop_reason": stop, **more})


def test_body() -> None:
    settings = WIRE.prepare("claude-x", {"max_tokens": 64, "temperature": 0})
    assert json.loads(WIRE.body(call(*MIXED), settings, image)) == {
        "model": "claude-x",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "First.\n\nSecond."},
                    IMAGE,
                    {"type": "text", "text": "Then."},
                    IMAGE,
                    {"type": "text", "text": "Rate from 1 to 5."},
                ],
            }
        ],
        "max_tokens": 64,
        "temperature": 0,
    }


def test_a_limit_is_always_sent() -> None:
    settings = WIRE.prepare("m", {})
    assert json.loads(WIRE.body(call("One."), settings, image))["max_tokens"] == settings.parameters["max_tokens"] > 0


@pytest.mark.parametrize("base", ["https://h", "https://h/v1", "https://h/v1/messages"])
def test_address(base: str) -> None:
    assert WIRE.url(base, "m") == "https://h/v1/messages"


def test_headers() -> None:
    assert WIRE.headers(Secret("k")) == {"x-api-key": "k", "anthropic-version": "2023-06-01"}


def test_a_whole_reply() -> None:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 2, "output_tokens": 9,
             "output_tokens_details": {"thinking_tokens": 8}}  # fmt: skip
    blocks = [
        {"type": "thinking", "thinking": "Hm.", "signature": "x"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "4"},
    ]
    reply = WIRE.read(200, {}, message(blocks, usage=usage))
    assert (reply.text, reply.reasoning, reply.served, reply.finish) == ("4", "Hm.", "claude-1", "stop")
    assert reply.usage == Usage(11, 9, 4, 8)
    assert reply.refusal is None


def test_refusal() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "Not that."}
    assert WIRE.read(200, {}, message([], "refusal", stop_details=details)).refusal == "refusal: cyber: Not that."
    assert WIRE.read(200, {}, message([], "refusal", stop_details=None)).refusal == "refusal"


@pytest.mark.parametrize(
    ("stop", "finish"),
    [("end_turn", "stop"), ("stop_sequence", "stop"), ("max_tokens", "length"), ("pause_turn", "other"),
     ("model_context_window_exceeded", "length"), ("refusal", "filter")],
)  # fmt: skip
def test_stop_reasons(stop: str, finish: str) -> None:
    assert WIRE.read(200, {}, message(stop=stop)).finish == finish


def test_no_blocks_are_an_empty_reply() -> None:
    reply = WIRE.read(200, {}, message([]))
    assert (reply.text, reply.refusal) == ("", None)


@pytest.mark.parametrize(
    ("status", "type_", "sentence", "kind"),
    [
        (400, "invalid_request_error", "temperature: not supported", "request"),
        (400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.", "quota"),
        (400, "invalid_request_error", "You have reached your specified API usage limits.", "quota"),
        (401, "authentication_error", "invalid x-api-key", "auth"),
        (402, "billing_error", "billing", "quota"),
        (403, "permission_error", "not allowed", "auth"),
        (404, "not_found_error", "model: claude-9", "auth"),
        (413, "request_too_large", "too large", "request"),
        (429, "rate_limit_error", "slow down", "rate_limit"),
        (500, "api_error", "internal", "server"),
        (504, "timeout_error", "timed out", "timeout"),
        (529, "overloaded_error", "Overloaded", "overload"),
        (200, "overloaded_error", "Overloaded", "overload"),
    ],
)
def test_errors(status: int, type_: str, sentence: str, kind: str) -> None:
    body = raw({"type": "error", "error": {"type": type_, "message": sentence}, "request_id": "r"})
    with pytest.raises(CallFailed) as failure:
        WIRE.read(status, {}, body)
    assert (failure.value.kind, failure.value.why) == (kind, sentence)


def test_a_spend_limit_is_no_rate_limit() -> None:
    error = {"type": "rate_limit_error", "message": "x", "details": {"error_code": "enforced_spend_limit_reached"}}
    with pytest.raises(CallFailed, match=r"^quota"):
        WIRE.read(429, {"retry-after": "1"}, raw({"type": "error", "error": error}))


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"content": "4"}', b'{"content": null}', b"nonsense"])
def test_what_is_no_message_is_a_failure_of_the_server(body: bytes) -> None:
    with pytest.raises(CallFailed, match=r"^server"):
        WIRE.read(200, {}, body)


@given(documents, st.sampled_from([200, 400, 429, 500]))
def test_no_document_breaks_the_reader(document: Any, status: int) -> None:
    found = outcome(WIRE, status, raw(document))
    assert found.why if isinstance(found, CallFailed) else isinstance(found.text + (found.refusal or ""), str)
