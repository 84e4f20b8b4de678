"""Chat completions against the SDKs of OpenAI and Z.AI."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.conformance.conftest import TEXTS, Beside
from tests.judging.wiring import MODELS

from voirdire.judging.nouns import CallFailed, Reply

pytestmark = pytest.mark.filterwarnings("default")
openai = pytest.importorskip("openai", reason="the SDK lives in the conformance environment")

COMPATIBLE = ("openai", "moonshot", "openrouter", "dashscope")
Ask = Callable[..., Any]


def content(beside: Beside) -> list[dict[str, Any]]:
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{beside.base64}"}}
    first, second = ({"type": "text", "text": text} for text in TEXTS)
    return [first, image, second, image]


@pytest.fixture
def ask(beside: Beside) -> Iterator[Ask]:
    """One call of OpenAI's client, without retries."""
    clients = []

    def one(provider: str = "openai", *, timeout: float = 10.0, **parameters: Any) -> Any:
        client = openai.OpenAI(api_key=beside.key, base_url=beside.base(provider), max_retries=0, timeout=timeout)
        clients.append(client)
        messages = [{"role": "user", "content": content(beside)}]
        return client.chat.completions.create(model=MODELS[provider], messages=messages, **parameters)

    yield one
    for client in clients:
        client.close()


@pytest.mark.parametrize("provider", COMPATIBLE)
def test_the_same_request(beside: Beside, ask: Ask, provider: str) -> None:
    beside.ours(provider)
    path, headers, mine = beside.last()
    model, messages = mine["model"], mine["messages"]
    extra = {name: value for name, value in mine.items() if name not in ("model", "messages")}
    ask(provider, extra_body=extra)
    their_path, their_headers, theirs = beside.last()
    assert theirs == mine
    assert their_path == path
    assert (model, messages[0]["role"]) == (MODELS[provider], "user")
    for name in ("authorization", "content-type"):
        assert their_headers[name] == headers[name]


def test_parameters_have_the_names_of_the_sdk(beside: Beside, ask: Ask) -> None:
    """No name of ours is one that the SDK does not know."""
    sdk, ours = beside.both(
        "openai",
        lambda: ask(temperature=0.5, max_completion_tokens=17, top_p=0.9, seed=3, logprobs=True, top_logprobs=5),
        temperature=0.5,
        max_tokens=17,
        top_p=0.9,
        seed=3,
        logprobs=True,
        top_logprobs=5,
    )
    assert ours[2] == sdk[2]


@pytest.mark.parametrize("kind", ["ok", "malformed", "empty", "refusal"])
@pytest.mark.parametrize("reasoning", [False, True])
def test_the_same_reading(beside: Beside, ask: Ask, kind: str, reasoning: bool) -> None:
    beside.behave(only=kind, reasoning=reasoning)
    theirs, ours = ask(), beside.ours("openai")
    if kind == "malformed":
        assert ours.text
    else:
        message = theirs.choices[0].message
        assert ours.text == (message.content or "")
        assert ours.refusal == message.refusal
        assert ours.reasoning == getattr(message, "reasoning_content", "")
    assert_same_figures(theirs, ours)


def assert_same_figures(theirs: Any, ours: Reply) -> None:
    usage = theirs.usage
    assert ours.finish == theirs.choices[0].finish_reason.replace("content_filter", "filter")
    assert (ours.served, ours.served_by) == (theirs.model, theirs.system_fingerprint)
    assert (ours.usage.input, ours.usage.output) == (usage.prompt_tokens, usage.completion_tokens)
    assert ours.usage.cached == usage.prompt_tokens_details.cached_tokens
    assert ours.usage.reasoning == usage.completion_tokens_details.reasoning_tokens


def test_logprobs(beside: Beside, ask: Ask) -> None:
    top = [{"token": "4", "logprob": -0.1, "bytes": [52]}, {"token": "5", "logprob": -2.0, "bytes": [53]}]
    choice = {
        "index": 0,
        "finish_reason": "length",
        "message": {"role": "assistant", "content": "4", "refusal": None},
        "logprobs": {"content": [{**top[0], "top_logprobs": top}], "refusal": None},
    }
    beside.can({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})
    theirs, ours = ask(), beside.ours("openai")
    assert ours.logprobs == {each.token: each.logprob for each in theirs.choices[0].logprobs.content[0].top_logprobs}
    assert ours.finish == theirs.choices[0].finish_reason == "length"


ERRORS = [
    (400, "invalid_request_error", "unsupported_value", "BadRequestError", "request"),
    (401, "invalid_request_error", "invalid_api_key", "AuthenticationError", "auth"),
    (403, "invalid_request_error", "unsupported_country_region_territory", "PermissionDeniedError", "auth"),
    (404, "invalid_request_error", "model_not_found", "NotFoundError", "auth"),
    (409, "conflict", None, "ConflictError", "server"),
    (422, "invalid_request_error", None, "UnprocessableEntityError", "request"),
    (429, "requests", "rate_limit_exceeded", "RateLimitError", "rate_limit"),
    (429, "insufficient_quota", "insufficient_quota", "RateLimitError", "quota"),
    (500, "server_error", None, "InternalServerError", "server"),
    (503, "service_unavailable_error", "server_is_overloaded", "InternalServerError", "overload"),
]


@pytest.mark.parametrize(("status", "type_", "code", "exception", "kind"), ERRORS)
def test_the_same_errors(
    beside: Beside, ask: Ask, status: int, type_: str, code: str, exception: str, kind: str
) -> None:
    error = {"message": "What the provider says.", "type": type_, "param": None, "code": code}
    beside.can({"error": error}, status)
    with pytest.raises(getattr(openai, exception)) as raised:
        ask()
    ours = beside.ours("openai")
    assert isinstance(ours, CallFailed)
    assert (ours.kind, ours.status) == (kind, raised.value.status_code)
    assert ours.why == raised.value.body["message"]


@pytest.mark.parametrize("headers", [{"Retry_After": "7"}, {"retry_after_ms": "250"}, {"Retry_After": "1.5"}])
def test_the_same_waiting_time(beside: Beside, ask: Ask, headers: dict[str, str]) -> None:
    beside.can({"error": {"message": "x", "code": "rate_limit_exceeded"}}, 429, **headers)
    with pytest.raises(openai.RateLimitError) as raised:
        ask()
    reader = openai.OpenAI(api_key="x")
    theirs = reader._parse_retry_after_header(raised.value.response.headers)
    reader.close()
    assert beside.ours("openai").retry_after == theirs


def test_timeouts_and_connections(beside: Beside, ask: Ask) -> None:
    beside.behave(only="hang")
    with pytest.raises(openai.APITimeoutError):
        ask(timeout=0.3)
    assert beside.ours("openai", timeout=0.3).kind == "timeout"
    beside.behave(only="drop")
    with pytest.raises(openai.APIConnectionError):
        ask()
    assert beside.ours("openai").kind == "connection"


def without_prefix(document: Any) -> Any:
    """A request with bare base64: the SDK of Z.AI takes the head of a data URL away, and the API reads both."""
    if isinstance(document, dict):
        return {name: without_prefix(value) for name, value in document.items()}
    if isinstance(document, list):
        return [without_prefix(each) for each in document]
    return document.removeprefix("data:image/png;base64,") if isinstance(document, str) else document


class TestZai:
    @pytest.fixture
    def client(self, beside: Beside) -> Any:
        zai = pytest.importorskip("zai", reason="the SDK lives in the conformance environment")
        return zai.ZaiClient(api_key=beside.key, base_url=beside.base("zai"), max_retries=0)

    def ask(self, client: Any, beside: Beside, **parameters: Any) -> Any:
        messages = [{"role": "user", "content": content(beside)}]
        return client.chat.completions.create(model=MODELS["zai"], messages=messages, **parameters)

    def test_the_same_request(self, beside: Beside, client: Any) -> None:
        beside.ours("zai", temperature=0.5, max_tokens=300)
        path, headers, mine = beside.last()
        extra = {name: value for name, value in mine.items() if name not in ("model", "messages")}
        known = {name: extra.pop(name) for name in ("temperature", "max_tokens", "thinking") if name in extra}
        self.ask(client, beside, **known, extra_body=extra)
        their_path, their_headers, theirs = beside.last()
        assert their_path == path
        assert their_headers["authorization"] == headers["authorization"]
        assert {name: without_prefix(value) for name, value in theirs.items() if name in mine} == without_prefix(mine)
        assert {value for name, value in theirs.items() if name not in mine} <= {None, False}

    def test_the_same_reading(self, beside: Beside, client: Any) -> None:
        beside.behave(only="ok", reasoning=True)
        theirs, ours = self.ask(client, beside), beside.ours("zai")
        message = theirs.choices[0].message
        assert (ours.text, ours.reasoning) == (message.content, message.reasoning_content)
        assert (ours.usage.input, ours.usage.output) == (theirs.usage.prompt_tokens, theirs.usage.completion_tokens)
        assert ours.served == theirs.model

    @pytest.mark.parametrize(
        ("status", "code", "exception", "kind"),
        [
            (400, "1214", "APIRequestFailedError", "request"),
            (401, "1002", "APIAuthenticationError", "auth"),
            (429, "1302", "APIReachLimitError", "rate_limit"),
            (429, "1113", "APIReachLimitError", "quota"),
            (500, "500", "APIInternalError", "server"),
        ],
    )
    def test_the_same_errors(
        self, beside: Beside, client: Any, status: int, code: str, exception: str, kind: str
    ) -> None:
        core = pytest.importorskip("zai.core", reason="the SDK lives in the conformance environment")
        beside.can({"error": {"code": code, "message": "What the provider says."}}, status)
        with pytest.raises(getattr(core, exception)):
            self.ask(client, beside)
        ours = beside.ours("zai")
        assert (ours.kind, ours.status, ours.why) == (kind, status, "What the provider says.")
