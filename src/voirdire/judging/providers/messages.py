"""Messages: Anthropic, and servers that speak its format.

Request and reply: https://platform.claude.com/docs/en/api/messages. Stop reasons, ``refusal`` among them:
https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons. Thinking blocks:
https://platform.claude.com/docs/en/build-with-claude/extended-thinking. ``input_tokens`` leaves out what was read from
or written to the cache: https://platform.claude.com/docs/en/build-with-claude/prompt-caching.

Version 2023-06-01 is asked for on purpose: 2026-10-21 refuses ``temperature`` of every model, and a judge that can be
asked at temperature 0 should be (https://platform.claude.com/docs/en/api/versioning).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voirdire.judging.nouns import Call, Reply, TextPart, Usage
from voirdire.judging.providers.keys import Secret
from voirdire.judging.providers.wire import (
    Encode,
    Settings,
    Wire,
    as_count,
    as_map,
    as_text,
    document_of,
    json_text,
    members,
    runs,
    unexpected,
)

PATH = "/v1/messages"
VERSION = "2023-06-01"
LIMIT = 1024
"""max_tokens where nobody sets it: the format demands one."""

FINISHES = {
    "end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "model_context_window_exceeded": "length",
    "refusal": "filter",
}  # fmt: skip


class MessagesWire(Wire):
    """The messages format."""

    name = "messages"

    def __init__(self, provider: str) -> None:
        self._provider = provider

    def prepare(self, model: str, parameters: Mapping[str, Any]) -> Settings:
        """One user message of content blocks."""
        sent = {"max_tokens": LIMIT, **parameters}
        head = b'{"model":' + json_text(model) + b',"messages":[{"role":"user","content":['
        return Settings(model, sent, head, b"]}]" + members(sent) + b"}")

    def pieces(self, call: Call, settings: Settings, encode: Encode) -> list[bytes]:
        """Text blocks and base64 image blocks in the order of the prompt."""
        pieces = [settings.head]
        for number, part in enumerate(runs(call.prompt)):
            if number:
                pieces.append(b",")
            if isinstance(part, TextPart):
                pieces += (b'{"type":"text","text":', json_text(part.text), b"}")
            else:
                image = encode(part.path)
                pieces += (b'{"type":"image","source":{"type":"base64","media_type":"', image.media_type.encode())
                pieces += (b'","data":"', image.base64, b'"}}')
        pieces.append(settings.tail)
        return pieces

    def url(self, base: str, model: str) -> str:  # noqa: ARG002 - other formats name the model in the path
        """``<base>/v1/messages``; a base that ends in ``/v1`` or names the path is taken as meant."""
        if base.endswith(PATH):
            return base
        return base.removesuffix("/v1") + PATH

    def headers(self, key: Secret | None) -> dict[str, str]:
        """The key in a header of its own, and the version of the format."""
        return {"anthropic-version": VERSION, **({"x-api-key": key.reveal()} if key else {})}

    def read(self, status: int, headers: Mapping[str, str], body: bytes) -> Reply:
        """The text blocks of a message. An empty list of blocks is an empty reply."""
        document = document_of(status, headers, body, self._provider)
        if isinstance(document, Reply):
            return document
        if not isinstance(document.get("content"), list):
            raise unexpected(status)
        blocks = [as_map(block) for block in document["content"]]
        reason = as_text(document.get("stop_reason"))
        return Reply(
            text="".join(as_text(block.get("text")) for block in blocks if block.get("type") == "text"),
            reasoning="\n".join(as_text(block.get("thinking")) for block in blocks if block.get("type") == "thinking"),
            refusal=_refusal(document) if reason == "refusal" else None,
            finish=FINISHES.get(reason, "other" if reason else "stop"),
            served=as_text(document.get("model")),
            usage=usage_of(as_map(document.get("usage"))),
        )


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """Tokens of a message, with what the cache gave and took counted as input.

    >>> usage_of({"input_tokens": 5, "cache_read_input_tokens": 4, "output_tokens": 1})
    Usage(input=9, output=1, cached=4, reasoning=None)
    """
    fresh = as_count(usage.get("input_tokens"))
    written = as_count(usage.get("cache_creation_input_tokens")) or 0
    read = as_count(usage.get("cache_read_input_tokens"))
    return Usage(
        input=None if fresh is None else fresh + written + (read or 0),
        output=as_count(usage.get("output_tokens")),
        cached=read,
        reasoning=as_count(as_map(usage.get("output_tokens_details")).get("thinking_tokens")),
    )


def _refusal(document: Mapping[str, Any]) -> str:
    details = as_map(document.get("stop_details"))
    said = [as_text(details.get(name)) for name in ("category", "explanation")]
    return ": ".join(filter(None, ("refusal", *said)))
