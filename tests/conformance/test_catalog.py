"""What the capability table sends is what the SDKs' own types allow, at every level of reasoning."""

from __future__ import annotations

from typing import Any

import pytest

from voirdire.judging.providers.catalog import capability

pytestmark = pytest.mark.filterwarnings("default")
pydantic = pytest.importorskip("pydantic", reason="comes with the SDKs of the conformance environment")

OPENAI = ("gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-5", "gpt-5-mini", "gpt-5.1", "gpt-5.2", "o3", "o4-mini")
ANTHROPIC = ("claude-opus-4-7", "claude-opus-4-6", "claude-sonnet-4-6", "claude-sonnet-4-5", "claude-haiku-4-5")
GOOGLE = ("gemini-2.0-flash", "gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-2.5-pro", "gemini-3-pro-preview")


def bodies(provider: str, model: str) -> list[dict[str, Any]]:
    """What is sent by default and at each level of reasoning."""
    known = capability(provider, model)
    assert known.known
    asked: list[dict[str, Any]] = [{}, *({"reasoning": level} for level in known.reasoning)]
    return [known.settle(parameters)[0] for parameters in asked]


def message(model: str) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": "Rate it."}]}


@pytest.mark.parametrize("model", OPENAI)
def test_openai(model: str) -> None:
    module = pytest.importorskip("openai.types.chat.completion_create_params")
    kind = module.CompletionCreateParamsNonStreaming
    for sent in bodies("openai", model):
        pydantic.TypeAdapter(kind).validate_python({**message(model), **sent}, strict=True)
        assert set(sent) <= set(kind.__annotations__) | set(module.CompletionCreateParamsBase.__annotations__)


@pytest.mark.parametrize("model", ANTHROPIC)
def test_anthropic(model: str) -> None:
    module = pytest.importorskip("anthropic.types.message_create_params")
    kind = module.MessageCreateParamsNonStreaming
    older = {"temperature", "top_p", "top_k"}
    for sent in bodies("anthropic", model):
        pydantic.TypeAdapter(kind).validate_python({**message(model), **sent})
        known = set(kind.__annotations__) | set(module.MessageCreateParamsBase.__annotations__)
        assert set(sent) - older <= known
        budget = sent.get("thinking", {}).get("budget_tokens")
        assert budget is None or 1024 <= budget < sent["max_tokens"]


@pytest.mark.parametrize("model", GOOGLE)
def test_google(model: str) -> None:
    types = pytest.importorskip("google.genai.types")
    for sent in bodies("google", model):
        assert set(sent) <= {"generationConfig"}
        config = types.GenerationConfig.model_validate(sent["generationConfig"])
        shown = config.model_dump(by_alias=True, exclude_none=True, mode="json")
        assert shown == same_case(sent["generationConfig"])


def same_case(config: Any) -> Any:
    """The SDK shows names of levels in capitals."""
    if isinstance(config, dict):
        return {name: same_case(value) for name, value in config.items()}
    return config.upper() if isinstance(config, str) else config
