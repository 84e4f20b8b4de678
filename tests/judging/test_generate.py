from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging.test_chat import documents
from tests.judging.wiring import BASE64, MIXED, call, image, outcome, raw

from voirdire.judging.nouns import CallFailed, Usage
from voirdire.judging.providers.generate import GenerateWire
from voirdire.judging.providers.keys import Secret

WIRE = GenerateWire("google")
IMAGE = {"inlineData": {"mimeType": "image/png", "data": BASE64.decode()}}


def answer(parts: Any = None, finish: str = "STOP", **more: Any) -> bytes:
    content = {"role": "model", "parts": [{"text": "4"}] if parts is None else parts}
    return raw({"candidates": [{"content": content, "finishReason": finish}], "modelVersion": "gemini-1", **more})


def test_body() -> None:
    settings = WIRE.prepare("gemini-x", {"generationConfig": {"temperature": 0, "maxOutputTokens": 64}})
    assert json.loads(WIRE.body(call(*MIXED), settings, image)) == {
        "contents": [
            {
                "role": "user",
                "parts": [
                    {"text": "First.\n\nSecond."},
                    IMAGE,
                    {"text": "Then."},
                    IMAGE,
                    {"text": "Rate from 1 to 5."},
                ],
            }
        ],
        "generationConfig": {"temperature": 0, "maxOutputTokens": 64},
    }


@pytest.mark.parametrize(
    ("base", "model", "url"),
    [
        ("https://h", "gemini-x", "https://h/v1beta/models/gemini-x:generateContent"),
        ("https://h/v1beta", "models/gemini-x", "https://h/v1beta/models/gemini-x:generateContent"),
        ("https://h/v1", "tunedModels/mine", "https://h/v1/tunedModels/mine:generateContent"),
        ("https://h", "../x?key=1", "https://h/v1beta/models/..%2Fx%3Fkey%3D1:generateContent"),
    ],
)
def test_address(base: str, model: str, url: str) -> None:
    assert WIRE.url(base, model) == url


def test_the_key_is_in_a_header() -> None:
    assert WIRE.headers(Secret("k")) == {"x-goog-api-key": "k"}


def test_a_whole_reply() -> None:
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 1, "thoughtsTokenCount": 30, "cachedContentTokenCount": 4}
    parts = [{"text": "Hm, ", "thought": True}, {"text": "4"}]
    reply = WIRE.read(200, {}, answer(parts, usageMetadata=usage))
    assert (reply.text, reply.reasoning, reply.served, reply.finish) == ("4", "Hm, ", "gemini-1", "stop")
    assert reply.usage == Usage(9, 31, 4, 30)


@pytest.mark.parametrize(
    ("finish", "read", "refused"),
    [
        ("STOP", "stop", False),
        ("MAX_TOKENS", "length", False),
        ("SAFETY", "filter", True),
        ("PROHIBITED_CONTENT", "filter", True),
        ("RECITATION", "filter", True),
        ("BLOCKLIST", "filter", True),
        ("SPII", "filter", True),
        ("IMAGE_SAFETY", "filter", True),
        ("OTHER", "other", False),
        ("LANGUAGE", "other", False),
        ("A_NEW_ONE", "other", False),
    ],
)
def test_finish_reasons(finish: str, read: str, refused: bool) -> None:
    reply = WIRE.read(200, {}, raw({"candidates": [{"finishReason": finish}]}))
    assert (reply.finish, reply.text, reply.refusal) == (read, "", finish if refused else None)


def test_a_blocked_prompt_is_a_refusal() -> None:
    document = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 9}}
    reply = WIRE.read(200, {}, raw(document))
    assert (reply.refusal, reply.finish, reply.usage.input) == ("PROHIBITED_CONTENT", "filter", 9)


def test_logprobs_of_the_first_token() -> None:
    top = [{"candidates": [{"token": "4", "logProbability": -0.1}, {"token": "5", "logProbability": -3}]}]
    candidate = {"content": {"parts": [{"text": "4"}]}, "logprobsResult": {"topCandidates": top}}
    assert WIRE.read(200, {}, raw({"candidates": [candidate]})).logprobs == {"4": -0.1, "5": -3.0}


def error(code: int, status: str, sentence: str = "said", **more: Any) -> bytes:
    return raw({"error": {"code": code, "status": status, "message": sentence, **more}})


@pytest.mark.parametrize(
    ("code", "status", "sentence", "kind"),
    [
        (400, "INVALID_ARGUMENT", "bad field", "request"),
        (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", "auth"),
        (400, "FAILED_PRECONDITION", "User location is not supported for the API use.", "auth"),
        (402, "RESOURCE_EXHAUSTED", "balance", "quota"),
        (403, "PERMISSION_DENIED", "no", "auth"),
        (404, "NOT_FOUND", "models/x is not found", "auth"),
        (429, "RESOURCE_EXHAUSTED", "slow down", "rate_limit"),
        (429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted.", "quota"),
        (500, "INTERNAL", "internal", "server"),
        (503, "UNAVAILABLE", "overloaded", "overload"),
        (504, "DEADLINE_EXCEEDED", "late", "timeout"),
    ],
)
def test_errors(code: int, status: str, sentence: str, kind: str) -> None:
    with pytest.raises(CallFailed) as failure:
        WIRE.read(code, {}, error(code, status, sentence))
    assert (failure.value.kind, failure.value.status, failure.value.why) == (kind, code, sentence)


def test_details_of_errors() -> None:
    wait = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17.5s"}
    with pytest.raises(CallFailed) as failure:
        WIRE.read(429, {}, error(429, "RESOURCE_EXHAUSTED", details=[wait]))
    assert (failure.value.kind, failure.value.retry_after) == ("rate_limit", 17.5)
    violation = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}
    with pytest.raises(CallFailed, match=r"^quota"):
        WIRE.read(429, {}, error(429, "RESOURCE_EXHAUSTED", details=[wait, {"violations": [violation]}]))
    with pytest.raises(CallFailed, match=r"^auth"):
        WIRE.read(400, {}, error(400, "INVALID_ARGUMENT", details=[{"reason": "API_KEY_INVALID"}]))


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"candidates": []}', b'{"candidates": 4}', b"nonsense"])
def test_what_is_no_reply_is_a_failure_of_the_server(body: bytes) -> None:
    with pytest.raises(CallFailed, match=r"^server"):
        WIRE.read(200, {}, body)


@given(documents, st.sampled_from([200, 400, 429, 500]))
def test_no_document_breaks_the_reader(document: Any, status: int) -> None:
    found = outcome(WIRE, status, raw(document))
    assert found.why if isinstance(found, CallFailed) else isinstance(found.text + (found.refusal or ""), str)
