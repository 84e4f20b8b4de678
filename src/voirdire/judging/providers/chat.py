"""Chat completions: OpenAI, Z.AI, Moonshot, OpenRouter, DashScope and every server that is compatible.

Request and reply: https://platform.openai.com/docs/api-reference/chat. Reasoning: ``reasoning_content`` (Z.AI
https://docs.z.ai/guides/capabilities/thinking, Moonshot, DashScope, vLLM), ``reasoning`` (OpenRouter
https://openrouter.ai/docs/use-cases/reasoning-tokens), ``<think>`` in the text (local servers). Upstream provider and
cost: https://openrouter.ai/docs/use-cases/usage-accounting. ``finish_reason`` ``sensitive`` and ``network_error``:
https://docs.z.ai/api-reference/llm/chat-completion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voirdire.judging.nouns import Call, CallFailed, Reply, TextPart, Usage
from voirdire.judging.parsing import separate_reasoning
from voirdire.judging.providers.keys import Secret
from voirdire.judging.providers.wire import (
    Encode,
    Settings,
    Wire,
    as_count,
    as_dollars,
    as_list,
    as_map,
    as_number,
    as_text,
    document_of,
    inner_error,
    json_text,
    members,
    runs,
    unexpected,
)
from voirdire.texts import text

PATH = "/chat/completions"
FINISHES = {
    "stop": "stop", "eos": "stop", "end_turn": "stop", "stop_sequence": "stop",
    "length": "length", "max_tokens": "length", "model_length": "length", "model_context_window_exceeded": "length",
    "content_filter": "filter", "sensitive": "filter", "safety": "filter",
}  # fmt: skip
"""What a finish_reason means; any other is ``other``."""

BROKEN_OFF = {"network_error": "server", "insufficient_system_resource": "overload"}
"""Finish reasons that say that the provider, not the model, ended the reply (Z.AI, DeepSeek)."""


class ChatWire(Wire):
    """Chat completions as a provider speaks them."""

    name = "chat"

    def __init__(self, provider: str) -> None:
        self._provider = provider

    def prepare(self, model: str, parameters: Mapping[str, Any]) -> Settings:
        """One user message; the content follows the head."""
        head = b'{"model":' + json_text(model) + b',"messages":[{"role":"user","content":'
        return Settings(model, parameters, head, b"}]" + members(parameters) + b"}")

    def pieces(self, call: Call, settings: Settings, encode: Encode) -> list[bytes]:
        """A prompt of texts alone is one string, which every server takes; with images it is a list of parts."""
        parts = runs(call.prompt)
        pieces = [settings.head]
        if len(parts) == 1 and isinstance(parts[0], TextPart):
            pieces.append(json_text(parts[0].text))
        else:
            mark = b"["
            for part in parts:
                pieces.append(mark)
                mark = b","
                if isinstance(part, TextPart):
                    pieces += (b'{"type":"text","text":', json_text(part.text), b"}")
                else:
                    image = encode(part.path)
                    media_type = image.media_type.encode()
                    pieces += (b'{"type":"image_url","image_url":{"url":"data:', media_type, b";base64,")
                    pieces += (image.base64, b'"}}')
            pieces.append(b"]")
        pieces.append(settings.tail)
        return pieces

    def url(self, base: str, model: str) -> str:  # noqa: ARG002 - other formats name the model in the path
        """``<base>/chat/completions``, also where the base already names it."""
        return base if base.endswith(PATH) else base + PATH

    def headers(self, key: Secret | None) -> dict[str, str]:
        """A bearer token."""
        return {"Authorization": f"Bearer {key.reveal()}"} if key else {}

    def read(self, status: int, headers: Mapping[str, str], body: bytes) -> Reply:
        """The first choice of a completion."""
        document = document_of(status, headers, body, self._provider)
        if isinstance(document, Reply):
            return document
        choice = as_map(next(iter(as_list(document.get("choices"))), None))
        message = as_map(choice.get("message"))
        reason = as_text(choice.get("finish_reason"))
        if not message or reason in BROKEN_OFF or choice.get("error"):
            return self._without_message(status, choice, reason)
        visible, thinking = _content(message)
        finish = FINISHES.get(reason, "other" if reason else "stop")
        return Reply(
            text=visible,
            reasoning=thinking,
            refusal=as_text(message.get("refusal")) or (reason if finish == "filter" else None),
            finish=finish,
            served=as_text(document.get("model")),
            served_by=" ".join(filter(None, map(as_text, map(document.get, ("provider", "system_fingerprint"))))),
            usage=usage_of(as_map(document.get("usage"))),
            cost=_cost(as_map(document.get("usage"))) if self._provider == "openrouter" else None,
            logprobs=_logprobs(as_map(choice.get("logprobs"))),
        )

    def _without_message(self, status: int, choice: Mapping[str, Any], reason: str) -> Reply:
        if choice.get("error"):
            return inner_error(as_map(choice["error"]), self._provider)
        if reason == "network_error":
            raise CallFailed("server", text("providers.broken_off", reason=reason), status=status)
        if reason in BROKEN_OFF:
            raise CallFailed("overload", text("providers.broken_off", reason=reason), status=status)
        raise unexpected(status)


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """Tokens of a completion. Cached ones stand in the details, or beside them (Moonshot, DeepSeek).

    >>> usage_of({"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 4}})
    Usage(input=9, output=1, cached=4, reasoning=None)
    """
    cached = as_count(as_map(usage.get("prompt_tokens_details")).get("cached_tokens"))
    for name in ("cached_tokens", "prompt_cache_hit_tokens"):
        cached = as_count(usage.get(name)) if cached is None else cached
    return Usage(
        input=as_count(usage.get("prompt_tokens")),
        output=as_count(usage.get("completion_tokens")),
        cached=cached,
        reasoning=as_count(as_map(usage.get("completion_tokens_details")).get("reasoning_tokens")),
    )


def _content(message: Mapping[str, Any]) -> tuple[str, str]:
    """Visible text and reasoning of a message, whose content is a text or a list of parts."""
    content = message.get("content")
    visible = as_text(content)
    thinking = [as_text(message.get("reasoning_content")) or as_text(message.get("reasoning"))]
    for part in map(as_map, as_list(content)):
        if part.get("type") == "thinking":
            inner = part.get("thinking")
            thinking.append(as_text(inner) or "".join(as_text(as_map(each).get("text")) for each in as_list(inner)))
        else:
            visible += as_text(part.get("text"))
    said, visible = separate_reasoning(visible)
    return visible, "\n".join(filter(None, (*thinking, said)))


def _cost(usage: Mapping[str, Any]) -> float | None:
    """OpenRouter's charge in dollars; with a key of one's own at the upstream provider, its charge comes on top."""
    cost = as_dollars(usage.get("cost"))
    upstream = as_dollars(as_map(usage.get("cost_details")).get("upstream_inference_cost"))
    if usage.get("is_byok") is True and upstream is not None:
        return (cost or 0.0) + upstream
    return cost


def _logprobs(logprobs: Mapping[str, Any]) -> dict[str, float]:
    """Log-probabilities of the candidates for the first token."""
    first = as_map(next(iter(as_list(logprobs.get("content"))), None))
    candidates = [as_map(each) for each in (*as_list(first.get("top_logprobs")), first)]
    pairs = ((as_text(each.get("token")), as_number(each.get("logprob"))) for each in candidates)
    return {token: value for token, value in pairs if token and value is not None}
