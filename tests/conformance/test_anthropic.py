"""The messages format against Anthropic's SDK."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.conformance.conftest import TEXTS, Beside
from tests.judging.wiring import MODELS

from voirdire.judging.nouns import CallFailed
from voirdire.judging.providers.messages import VERSION

pytestmark = pytest.mark.filterwarnings("default")
anthropic = pytest.importorskip("anthropic", reason="the SDK lives in the conformance environment")

Ask = Callable[..., Any]


@pytest.fixture
def ask(beside: Beside) -> Iterator[Ask]:
    """One call of Anthropic's client, without retries, in our version of the format unless told otherwise."""
    clients = []

    def one(*, timeout: float = 10.0, version: str | None = VERSION, **parameters: Any) -> Any:
        headers = {"anthropic-version": version} if version else {}
        client = anthropic.Anthropic(
            api_key=beside.key,
            base_url=beside.base("anthropic"),
            max_retries=0,
            timeout=timeout,
            default_headers=headers,
        )
        clients.append(client)
        source = {"type": "base64", "media_type": "image/png", "data": beside.base64}
        image = {"type": "image", "source": source}
        first, second = ({"type": "text", "text": text} for text in TEXTS)
        messages = [{"role": "user", "content": [first, image, second, image]}]
        sent = {"max_tokens": 64, **parameters}
        return client.messages.create(model=MODELS["anthropic"], messages=messages, **sent)

    yield one
    for client in clients:
        client.close()


def test_the_same_request(beside: Beside, ask: Ask) -> None:
    beside.behave(validate=True)
    sdk, ours = beside.both(
        "anthropic", lambda: ask(extra_body={"top_k": 5, "temperature": 0.5}), max_tokens=64, top_k=5, temperature=0.5
    )
    assert ours[2] == sdk[2]
    assert ours[0] == sdk[0] == "/v1/messages"
    for name in ("anthropic-version", "content-type"):
        assert ours[1][name] == sdk[1][name]
    theirs = sdk[1].get("x-api-key") or sdk[1]["authorization"].removeprefix("Bearer ")
    assert ours[1]["x-api-key"] == theirs


def test_the_sdks_own_version_refuses_what_we_send(beside: Beside, ask: Ask) -> None:
    """Why the version is older than the SDK's: the newer one has no temperature."""
    beside.behave(validate=True)
    ask(version=None)
    own = beside.last()[1]["anthropic-version"]
    assert own >= VERSION
    if own > VERSION:
        with pytest.raises(anthropic.BadRequestError, match="temperature"):
            ask(version=None, extra_body={"temperature": 0})


def test_what_is_sent_by_default_is_taken_by_the_sdk(beside: Beside, ask: Ask) -> None:
    beside.ours("anthropic")
    mine = beside.last()[2]
    ask(**{name: value for name, value in mine.items() if name not in ("model", "messages", "temperature")},
        extra_body={"temperature": mine["temperature"]} if "temperature" in mine else {})  # fmt: skip
    assert beside.last()[2] == mine


@pytest.mark.parametrize("kind", ["ok", "empty", "refusal"])
@pytest.mark.parametrize("reasoning", [False, True])
def test_the_same_reading(beside: Beside, ask: Ask, kind: str, reasoning: bool) -> None:
    beside.behave(only=kind, reasoning=reasoning)
    theirs, ours = ask(), beside.ours("anthropic")
    assert ours.text == "".join(block.text for block in theirs.content if block.type == "text")
    assert ours.reasoning == "".join(block.thinking for block in theirs.content if block.type == "thinking")
    assert (ours.refusal is not None) == (theirs.stop_reason == "refusal")
    assert ours.served == theirs.model
    usage = theirs.usage
    whole = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens
    assert (ours.usage.input, ours.usage.cached) == (whole, usage.cache_read_input_tokens)
    assert ours.usage.output == usage.output_tokens


def test_details_of_a_refusal_and_of_thinking(beside: Beside, ask: Ask) -> None:
    beside.can(
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "claude-1",
            "content": [],
            "stop_reason": "refusal",
            "stop_sequence": None,
            "stop_details": {"type": "refusal", "category": "general_harms", "explanation": "Not that."},
            "usage": {"input_tokens": 3, "output_tokens": 9, "output_tokens_details": {"thinking_tokens": 7}},
        }
    )
    theirs, ours = ask(), beside.ours("anthropic")
    assert ours.refusal == f"refusal: {theirs.stop_details.category}: {theirs.stop_details.explanation}"
    assert ours.usage.reasoning == theirs.usage.output_tokens_details.thinking_tokens == 7


ERRORS = [
    (400, "invalid_request_error", "BadRequestError", "request"),
    (401, "authentication_error", "AuthenticationError", "auth"),
    (402, "billing_error", "APIStatusError", "quota"),
    (403, "permission_error", "PermissionDeniedError", "auth"),
    (404, "not_found_error", "NotFoundError", "auth"),
    (409, "conflict_error", "ConflictError", "server"),
    (413, "request_too_large", "APIStatusError", "request"),
    (422, "invalid_request_error", "UnprocessableEntityError", "request"),
    (429, "rate_limit_error", "RateLimitError", "rate_limit"),
    (500, "api_error", "InternalServerError", "server"),
    (504, "timeout_error", "InternalServerError", "timeout"),
    (529, "overloaded_error", "InternalServerError", "overload"),
]


@pytest.mark.parametrize(("status", "type_", "exception", "kind"), ERRORS)
def test_the_same_errors(beside: Beside, ask: Ask, status: int, type_: str, exception: str, kind: str) -> None:
    beside.can({"type": "error", "error": {"type": type_, "message": "What the provider says."}}, status)
    with pytest.raises(getattr(anthropic, exception)) as raised:
        ask()
    ours = beside.ours("anthropic")
    assert isinstance(ours, CallFailed)
    assert (ours.kind, ours.status) == (kind, raised.value.status_code)
    assert ours.why == raised.value.body["error"]["message"]


@pytest.mark.parametrize("code", ["enforced_spend_limit_reached", "contract_spend_limit_reached"])
def test_spend_limits(beside: Beside, ask: Ask, code: str) -> None:
    error = {"type": "rate_limit_error", "message": "x", "details": {"error_code": code}}
    beside.can({"type": "error", "error": error}, 429)
    with pytest.raises(anthropic.RateLimitError) as raised:
        ask()
    assert getattr(raised.value, "error_code", code) == code
    assert beside.ours("anthropic").kind == "quota"


@pytest.mark.parametrize("headers", [{"retry_after": "7"}, {"retry_after_ms": "250"}])
def test_the_same_waiting_time(beside: Beside, ask: Ask, headers: dict[str, str]) -> None:
    beside.can({"type": "error", "error": {"type": "rate_limit_error", "message": "x"}}, 429, **headers)
    with pytest.raises(anthropic.RateLimitError) as raised:
        ask()
    reader = anthropic.Anthropic(api_key="x")
    theirs = reader._parse_retry_after_header(raised.value.response.headers)
    reader.close()
    assert beside.ours("anthropic").retry_after == theirs


def test_timeouts_and_connections(beside: Beside, ask: Ask) -> None:
    beside.behave(only="hang")
    with pytest.raises(anthropic.APITimeoutError):
        ask(timeout=0.3)
    assert beside.ours("anthropic", timeout=0.3).kind == "timeout"
    beside.behave(only="drop")
    with pytest.raises(anthropic.APIConnectionError):
        ask()
    assert beside.ours("anthropic").kind == "connection"
