from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging.wiring import BASE64, MIXED, call, image, outcome, raw

from voirdire.judging.nouns import CallFailed, Usage
from voirdire.judging.providers.chat import ChatWire
from voirdire.judging.providers.keys import Secret

WIRE = ChatWire("openai")
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + BASE64.decode()}}


def completion(message: Any = None, finish: str | None = "stop", **more: Any) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": "4"} if message is None else message}
    return raw({"model": "m-1", "choices": [{**choice, "finish_reason": finish}], **more})


def test_body_with_images() -> None:
    settings = WIRE.prepare("gpt-4o", {"temperature": 0, "max_completion_tokens": 64})
    assert json.loads(WIRE.body(call(*MIXED), settings, image)) == {
        "model": "gpt-4o",
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
        "temperature": 0,
        "max_completion_tokens": 64,
    }


def test_body_of_texts_alone_is_one_string() -> None:
    found = json.loads(WIRE.body(call("One.", "Two."), WIRE.prepare("m", {}), image))
    assert found == {"model": "m", "messages": [{"role": "user", "content": "One.\n\nTwo."}]}


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=3))
def test_any_text_arrives(texts: list[str]) -> None:
    found = json.loads(WIRE.body(call(*texts, Path("x.png")), WIRE.prepare('m"\\', {}), image))
    assert found["messages"][0]["content"] == [{"type": "text", "text": "\n\n".join(texts)}, IMAGE]
    assert found["model"] == 'm"\\'


def test_half_a_surrogate_pair_ends_the_cell() -> None:
    with pytest.raises(CallFailed) as failure:
        WIRE.body(call("\ud83d"), WIRE.prepare("m", {}), image)
    assert failure.value.kind == "request"


def test_address_and_headers() -> None:
    assert (
        WIRE.url("http://h/v1", "m") == WIRE.url("http://h/v1/chat/completions", "m") == "http://h/v1/chat/completions"
    )
    assert WIRE.headers(Secret("k")) == {"Authorization": "Bearer k"}
    assert WIRE.headers(None) == {}


def test_a_whole_reply() -> None:
    reply = WIRE.read(
        200,
        {},
        completion(
            system_fingerprint="fp_1",
            usage={
                "prompt_tokens": 10,
                "completion_tokens": 7,
                "prompt_tokens_details": {"cached_tokens": 4},
                "completion_tokens_details": {"reasoning_tokens": 6},
            },
        ),
    )
    assert (reply.text, reply.refusal, reply.finish, reply.served, reply.served_by) == (
        "4",
        None,
        "stop",
        "m-1",
        "fp_1",
    )
    assert reply.usage == Usage(10, 7, 4, 6)
    assert reply.cost is None


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": "4", "reasoning_content": "Hm."}, "4", "Hm."),
        ({"content": "4", "reasoning": "Hm."}, "4", "Hm."),
        ({"content": "<think>Hm.</think>4"}, "4", "Hm."),
        ({"content": [{"type": "text", "text": "4"}]}, "4", ""),
        ({"content": [{"type": "thinking", "thinking": [{"text": "Hm."}]}, {"type": "text", "text": "4"}]}, "4", "Hm."),
        ({"content": None, "reasoning_content": "Hm."}, "", "Hm."),
        ({"content": ""}, "", ""),
    ],
)
def test_reasoning_is_parted_from_the_answer(message: Any, text: str, reasoning: str) -> None:
    reply = WIRE.read(200, {}, completion(message))
    assert (reply.text, reply.reasoning) == (text, reasoning)


@pytest.mark.parametrize(
    ("finish", "read"),
    [("stop", "stop"), (None, "stop"), ("length", "length"), ("content_filter", "filter"), ("sensitive", "filter"),
     ("tool_calls", "other"), ("model_context_window_exceeded", "length")],
)  # fmt: skip
def test_finish_reasons(finish: str | None, read: str) -> None:
    reply = WIRE.read(200, {}, completion(finish=finish))
    assert reply.finish == read
    assert reply.refusal == (finish if read == "filter" else None)


def test_refusal_of_the_model() -> None:
    reply = WIRE.read(200, {}, completion({"content": None, "refusal": "I can't rate people."}))
    assert reply.refusal == "I can't rate people."
    assert reply.text == ""


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 1, "cached_tokens": 5}, Usage(9, 1, 5, None)),
        ({"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 5}, Usage(9, 1, 5, None)),
        ({"prompt_tokens": "9", "completion_tokens": -1}, Usage()),
        ({"prompt_tokens": 9, "completion_tokens": 0, "prompt_tokens_details": None}, Usage(9, 0, None, None)),
        (None, Usage()),
    ],
)
def test_usage_in_each_dialect(usage: Any, read: Usage) -> None:
    assert WIRE.read(200, {}, completion(usage=usage)).usage == read


def test_openrouter_tells_provider_and_cost() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "cost": 0.002}
    reply = ChatWire("openrouter").read(200, {}, completion(provider="Host", system_fingerprint="fp", usage=usage))
    assert (reply.served_by, reply.cost) == ("Host fp", 0.002)
    own = {**usage, "cost": 0.0001, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.002}}
    assert ChatWire("openrouter").read(200, {}, completion(usage=own)).cost == pytest.approx(0.0021)
    assert WIRE.read(200, {}, completion(usage=usage)).cost is None


@pytest.mark.parametrize("cost", [-1, -0.001, 1e300, True, "0.1", None])
def test_a_charge_that_is_none(cost: Any) -> None:
    """A negative one would pay into the budget, and end the run."""
    usage = {"prompt_tokens": 2**63, "completion_tokens": -1, "cost": cost}
    reply = ChatWire("openrouter").read(200, {}, completion(usage=usage))
    assert reply.cost is None
    assert reply.usage == Usage()


def test_logprobs_of_the_first_token() -> None:
    candidates = [{"token": "4", "logprob": -0.1}, {"token": "5", "logprob": -2.5}]
    logprobs = {"content": [{"token": "4", "logprob": -0.1, "top_logprobs": candidates}, {"token": "!"}]}
    choice = {"message": {"content": "4"}, "finish_reason": "stop", "logprobs": logprobs}
    assert WIRE.read(200, {}, raw({"choices": [choice]})).logprobs == {"4": -0.1, "5": -2.5}


@pytest.mark.parametrize(
    ("provider", "status", "body", "kind"),
    [
        ("openai", 429, {"error": {"code": "insufficient_quota", "type": "insufficient_quota"}}, "quota"),
        ("openai", 429, {"error": {"code": "project_spend_limit_exceeded", "type": "insufficient_quota"}}, "quota"),
        ("openai", 429, {"error": {"code": "rate_limit_exceeded", "type": "tokens"}}, "rate_limit"),
        ("openai", 404, {"error": {"code": "model_not_found"}}, "auth"),
        ("openai", 400, {"error": {"code": "unsupported_value", "type": "invalid_request_error"}}, "request"),
        ("openrouter", 200, {"error": {"code": 502, "message": "upstream is down"}}, "server"),
        ("openrouter", 200, {"error": {"code": 429, "message": "slow down"}}, "rate_limit"),
        ("openrouter", 200, {"error": {"code": 402, "message": "no credits"}}, "quota"),
        ("openrouter", 503, {"error": {"code": 503, "message": "no provider"}}, "overload"),
        ("dashscope", 200, {"code": "Throttling.RateQuota", "message": "slow down", "request_id": "x"}, "rate_limit"),
        ("dashscope", 429, {"error": {"code": "insufficient_quota", "message": "token rate"}}, "rate_limit"),
        ("dashscope", 400, {"error": {"code": "Arrearage", "type": "Arrearage"}}, "quota"),
        ("zai", 429, {"error": {"code": "1113", "message": "arrears"}}, "quota"),
        ("zai", 429, {"error": {"code": "1302", "message": "concurrency"}}, "rate_limit"),
        ("zai", 400, {"error": {"code": "1211", "message": "no such model"}}, "auth"),
        ("zai", 400, {"error": {"code": "1214", "message": "parameter"}}, "request"),
        ("moonshot", 429, {"error": {"type": "engine_overloaded_error"}}, "overload"),
        ("moonshot", 403, {"error": {"type": "exceeded_current_quota_error"}}, "quota"),
        (
            "compatible",
            400,
            {"object": "error", "message": "too long", "type": "BadRequestError", "code": 400},
            "request",
        ),
        (
            "compatible",
            503,
            {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}},
            "overload",
        ),
        ("compatible", 404, {"error": "model 'x' not found"}, "auth"),
        ("compatible", 422, {"detail": [{"msg": "field required"}]}, "request"),
    ],
)
def test_errors(provider: str, status: int, body: Any, kind: str) -> None:
    with pytest.raises(CallFailed) as failure:
        ChatWire(provider).read(status, {}, raw(body))
    assert failure.value.kind == kind
    assert failure.value.why


@pytest.mark.parametrize(
    ("provider", "status", "error"),
    [
        ("zai", 400, {"code": "1301", "message": "sensitive content"}),
        ("moonshot", 400, {"type": "content_filter", "message": "high risk"}),
        ("dashscope", 400, {"code": "data_inspection_failed", "message": "may contain inappropriate content"}),
        ("openrouter", 403, {"code": 403, "message": "flagged", "metadata": {"reasons": ["x"], "flagged_input": "y"}}),
        ("compatible", 400, {"code": "content_filter", "message": "filtered", "innererror": {"code": "Policy"}}),
    ],
)
def test_a_filter_that_declines_is_a_refusal(provider: str, status: int, error: Any) -> None:
    reply = ChatWire(provider).read(status, {}, raw({"error": error}))
    assert reply.refusal == error["message"]
    assert reply.finish == "filter"


def test_errors_inside_a_choice() -> None:
    choice = {"message": {"content": ""}, "finish_reason": "error", "error": {"code": 502, "message": "died"}}
    with pytest.raises(CallFailed, match="server: died"):
        ChatWire("openrouter").read(200, {}, raw({"choices": [choice]}))
    with pytest.raises(CallFailed, match=r"^server"):
        ChatWire("zai").read(200, {}, completion(finish="network_error"))
    with pytest.raises(CallFailed, match=r"^overload"):
        WIRE.read(200, {}, completion(finish="insufficient_system_resource"))


@pytest.mark.parametrize("body", [b"", b" ", b"{", b"[]", b"null", b"4", b'"4"', b"{}", b'{"choices":[]}', b"\xff\xfe",
                                  b'{"choices":[null]}', b'{"choices":{"0":1}}', b"<html>502</html>"])  # fmt: skip
def test_what_is_no_completion_is_a_failure_of_the_server(body: bytes) -> None:
    with pytest.raises(CallFailed) as failure:
        WIRE.read(200, {}, body)
    assert failure.value.kind == "server"
    assert failure.value.why


FIELDS = (
    "choices", "message", "content", "error", "code", "finish_reason", "usage", "cost", "metadata", "details", "text",
    "type", "parts", "candidates", "reasoning", "refusal", "logprobs", "top_logprobs", "token", "promptFeedback",
    "blockReason", "thinking", "stop_reason",
)  # fmt: skip
documents = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 600) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(FIELDS) | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(documents, st.sampled_from([200, 302, 400, 403, 429, 500, 529]))
def test_no_document_breaks_the_reader(document: Any, status: int) -> None:
    found = outcome(ChatWire("openrouter"), status, raw(document))
    assert found.why if isinstance(found, CallFailed) else isinstance(found.text + (found.refusal or ""), str)
