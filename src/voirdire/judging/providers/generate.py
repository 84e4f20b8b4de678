"""generateContent: Google's Gemini API.

Request, reply, ``finishReason``, ``promptFeedback`` and ``usageMetadata``: https://ai.google.dev/api/generate-content.
Thought parts: https://ai.google.dev/gemini-api/docs/thinking. The key goes in a header, never in the address.

Version v1beta is the one of the reference and has all fields; a base URL that ends in ``/v1`` asks for the other one
(https://ai.google.dev/gemini-api/docs/api-versions).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from voirdire.judging.nouns import Call, Reply, TextPart, Usage
from voirdire.judging.providers.keys import Secret
from voirdire.judging.providers.wire import (
    Encode,
    Settings,
    Wire,
    as_count,
    as_list,
    as_map,
    as_number,
    as_text,
    document_of,
    json_text,
    members,
    runs,
    unexpected,
)

VERSION = "/v1beta"
FINISHES = {
    "STOP": "stop", "MAX_TOKENS": "length", "CONTINUATION": "length", "FINISH_REASON_UNSPECIFIED": "stop",
    "SAFETY": "filter", "RECITATION": "filter", "BLOCKLIST": "filter", "PROHIBITED_CONTENT": "filter",
    "SPII": "filter", "IMAGE_SAFETY": "filter", "IMAGE_PROHIBITED_CONTENT": "filter", "IMAGE_RECITATION": "filter",
    "ESCALATION": "filter", "MODEL_ARMOR": "filter",
}  # fmt: skip


class GenerateWire(Wire):
    """The generateContent format."""

    name = "generate"

    def __init__(self, provider: str) -> None:
        self._provider = provider

    def prepare(self, model: str, parameters: Mapping[str, Any]) -> Settings:
        """One user content of parts; parameters stand beside it (``generationConfig``, ``safetySettings``)."""
        head = b'{"contents":[{"role":"user","parts":['
        return Settings(model, parameters, head, b"]}]" + members(parameters) + b"}")

    def pieces(self, call: Call, settings: Settings, encode: Encode) -> list[bytes]:
        """Text parts and inlineData parts in the order of the prompt."""
        pieces = [settings.head]
        for number, part in enumerate(runs(call.prompt)):
            if number:
                pieces.append(b",")
            if isinstance(part, TextPart):
                pieces += (b'{"text":', json_text(part.text), b"}")
            else:
                image = encode(part.path)
                pieces += (b'{"inlineData":{"mimeType":"', image.media_type.encode(), b'","data":"')
                pieces += (image.base64, b'"}}')
        pieces.append(settings.tail)
        return pieces

    def url(self, base: str, model: str) -> str:
        """``<base>/v1beta/models/<model>:generateContent``; a base that ends in a version keeps it.

        >>> GenerateWire("google").url("https://example.org", "models/gemini-x")
        'https://example.org/v1beta/models/gemini-x:generateContent'
        """
        root = base if re.search(r"/v\d+(alpha|beta)?\d*$", base) else base + VERSION
        name = model if model.startswith(("models/", "tunedModels/")) else f"models/{model}"
        kind, _, rest = name.partition("/")
        return f"{root}/{kind}/{quote(rest, safe='')}:generateContent"

    def headers(self, key: Secret | None) -> dict[str, str]:
        """The key in a header."""
        return {"x-goog-api-key": key.reveal()} if key else {}

    def read(self, status: int, headers: Mapping[str, str], body: bytes) -> Reply:
        """The first candidate, or the reason why the prompt was blocked."""
        document = document_of(status, headers, body, self._provider)
        if isinstance(document, Reply):
            return document
        served, usage = as_text(document.get("modelVersion")), usage_of(as_map(document.get("usageMetadata")))
        blocked = as_text(as_map(document.get("promptFeedback")).get("blockReason"))
        candidate = as_map(next(iter(as_list(document.get("candidates"))), None))
        if not candidate:
            if not blocked:
                raise unexpected(status)
            return Reply(refusal=blocked, finish="filter", served=served, usage=usage)
        parts = [as_map(part) for part in as_list(as_map(candidate.get("content")).get("parts"))]
        reason = as_text(candidate.get("finishReason"))
        finish = FINISHES.get(reason, "other" if reason else "stop")
        said = as_text(candidate.get("finishMessage"))
        return Reply(
            text="".join(as_text(part.get("text")) for part in parts if part.get("thought") is not True),
            reasoning="".join(as_text(part.get("text")) for part in parts if part.get("thought") is True),
            refusal=": ".join(filter(None, (reason, said))) if finish == "filter" else None,
            finish=finish,
            served=served,
            usage=usage,
            logprobs=_logprobs(as_map(candidate.get("logprobsResult"))),
        )


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """Tokens of a reply. Thoughts are counted beside the candidates and are output all the same.

    >>> usage_of({"promptTokenCount": 9, "candidatesTokenCount": 1, "thoughtsTokenCount": 30})
    Usage(input=9, output=31, cached=None, reasoning=30)
    """
    visible, thoughts = as_count(usage.get("candidatesTokenCount")), as_count(usage.get("thoughtsTokenCount"))
    known = [count for count in (visible, thoughts) if count is not None]
    return Usage(
        input=as_count(usage.get("promptTokenCount")),
        output=sum(known) if known else None,
        cached=as_count(usage.get("cachedContentTokenCount")),
        reasoning=thoughts,
    )


def _logprobs(result: Mapping[str, Any]) -> dict[str, float]:
    """Log-probabilities of the candidates for the first token."""
    first = as_map(next(iter(as_list(result.get("topCandidates"))), None))
    candidates = [as_map(each) for each in as_list(first.get("candidates"))]
    pairs = ((as_text(each.get("token")), as_number(each.get("logProbability"))) for each in candidates)
    return {token: value for token, value in pairs if token and value is not None}
