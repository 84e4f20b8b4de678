"""generateContent against Google's SDK."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.conformance.conftest import TEXTS, Beside
from tests.judging.wiring import MODELS, PNG

from voirdire.judging.nouns import CallFailed

pytestmark = pytest.mark.filterwarnings("default")
genai = pytest.importorskip("google.genai", reason="the SDK lives in the conformance environment")

Ask = Callable[..., Any]


@pytest.fixture
def ask(beside: Beside) -> Iterator[Ask]:
    """One call of Google's client, without retries."""
    clients = []

    def one(*, timeout: float = 10.0, **config: Any) -> Any:
        types = genai.types
        options = types.HttpOptions(base_url=beside.base("google"), api_version="v1beta", timeout=int(timeout * 1000))
        client = genai.Client(api_key=beside.key, http_options=options)
        clients.append(client)
        image = types.Part.from_bytes(data=PNG, mime_type="image/png")
        first, second = (types.Part.from_text(text=text) for text in TEXTS)
        contents = types.Content(role="user", parts=[first, image, second, image])
        return client.models.generate_content(
            model=MODELS["google"], contents=contents, config=types.GenerateContentConfig(**config)
        )

    yield one
    for client in clients:
        client.close()


def same_bytes(document: Any) -> Any:
    """A request with its images as bytes and its names in one form.

    The SDK writes base64 in the alphabet for addresses and some names with underscores; the API reads both alike
    (https://protobuf.dev/programming-guides/json/).
    """
    if isinstance(document, dict):
        return {
            camel(name): base64.b64decode(value.translate(str.maketrans("-_", "+/")))
            if name == "data"
            else same_bytes(value)
            for name, value in document.items()
        }
    return [same_bytes(each) for each in document] if isinstance(document, list) else document


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def test_the_same_request(beside: Beside, ask: Ask) -> None:
    types = genai.types
    sdk, ours = beside.both(
        "google",
        lambda: ask(
            temperature=0.5,
            max_output_tokens=64,
            top_p=0.9,
            seed=3,
            thinking_config=types.ThinkingConfig(thinking_budget=0),
        ),
        temperature=0.5,
        max_tokens=64,
        top_p=0.9,
        seed=3,
        reasoning="off",
    )
    assert same_bytes(ours[2]) == same_bytes(sdk[2])
    assert ours[0] == sdk[0]
    assert ours[1]["x-goog-api-key"] == sdk[1]["x-goog-api-key"]
    assert ours[1]["content-type"] == sdk[1]["content-type"]


def test_our_default_body_is_one_that_the_sdk_could_send(beside: Beside) -> None:
    beside.ours("google")
    config = beside.last()[2]["generationConfig"]
    parsed = genai.types.GenerationConfig.model_validate(config)
    assert parsed.model_dump(by_alias=True, exclude_none=True, mode="json") == config


@pytest.mark.parametrize("kind", ["ok", "empty", "refusal"])
@pytest.mark.parametrize("reasoning", [False, True])
def test_the_same_reading(beside: Beside, ask: Ask, kind: str, reasoning: bool) -> None:
    beside.behave(only=kind, reasoning=reasoning)
    theirs, ours = ask(), beside.ours("google")
    assert ours.text == (theirs.text or "")
    blocked = theirs.prompt_feedback.block_reason if theirs.prompt_feedback else None
    assert ours.refusal == (blocked.value if blocked else None)
    assert ours.served == theirs.model_version
    usage = theirs.usage_metadata
    assert (ours.usage.input, ours.usage.cached) == (usage.prompt_token_count, usage.cached_content_token_count)
    assert ours.usage.output == usage.candidates_token_count + (usage.thoughts_token_count or 0)
    assert ours.usage.reasoning == usage.thoughts_token_count
    assert usage.total_token_count == ours.usage.input + ours.usage.output
    if theirs.candidates:
        thoughts = [part.text for part in theirs.candidates[0].content.parts or [] if part.thought]
        assert ours.reasoning == "".join(thoughts)


def test_every_finish_reason_is_read(beside: Beside, ask: Ask) -> None:
    """What the SDK calls a block is a refusal of ours; nothing that is blocked counts as an ordinary stop."""
    blocks = {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY",
              "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "ESCALATION", "MODEL_ARMOR"}  # fmt: skip
    for reason in genai.types.FinishReason:
        beside.can({"candidates": [{"content": {"role": "model"}, "finishReason": reason.value}]})
        theirs, ours = ask(), beside.ours("google")
        assert theirs.candidates[0].finish_reason == reason
        assert (ours.refusal is not None) == (reason.value in blocks)
        assert (ours.finish == "stop") == (reason.value in ("STOP", "FINISH_REASON_UNSPECIFIED"))
        assert (ours.finish == "length") == (reason.value in ("MAX_TOKENS", "CONTINUATION"))


ERRORS = [
    (400, "INVALID_ARGUMENT", "ClientError", "request"),
    (403, "PERMISSION_DENIED", "ClientError", "auth"),
    (404, "NOT_FOUND", "ClientError", "auth"),
    (429, "RESOURCE_EXHAUSTED", "ClientError", "rate_limit"),
    (500, "INTERNAL", "ServerError", "server"),
    (503, "UNAVAILABLE", "ServerError", "overload"),
    (504, "DEADLINE_EXCEEDED", "ServerError", "timeout"),
]


@pytest.mark.parametrize(("status", "name", "exception", "kind"), ERRORS)
def test_the_same_errors(beside: Beside, ask: Ask, status: int, name: str, exception: str, kind: str) -> None:
    errors = pytest.importorskip("google.genai.errors")
    beside.can({"error": {"code": status, "message": "What the provider says.", "status": name}}, status)
    with pytest.raises(getattr(errors, exception)) as raised:
        ask()
    ours = beside.ours("google")
    assert isinstance(ours, CallFailed)
    assert (ours.kind, ours.status, ours.why) == (kind, raised.value.code, raised.value.message)


def test_a_server_that_hangs(beside: Beside, ask: Ask) -> None:
    beside.behave(only="hang")
    with pytest.raises(Exception, match=r"(?i)time"):
        ask(timeout=0.3)
    assert beside.ours("google", timeout=0.3).kind == "timeout"
