"""Replies in the bodies of OpenAI's chat completions and responses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from voirdire.exchange.importers.judged import lookup
from voirdire.exchange.importers.records import Record

FINISH = {"length": "length", "content_filter": "filter", "max_output_tokens": "length"}
"""Why a reply ended -> the word for it in voirdire; anything else is ``stop``."""


@dataclass(frozen=True)
class Reply:
    """What a model said.

    text : its visible text; refusal : what it said where it declined; finish : ``stop``, ``length`` or ``filter``
    index : which of several replies it is, from 0
    """

    text: str
    refusal: str | None = None
    finish: str = "stop"
    index: int = 0


def replies_of(body: Record) -> list[Reply]:
    """The replies of a body: one a choice of a chat completion, one of a response. Raises InputError for another body.

    >>> body = {"choices": [{"message": {"content": "4"}, "finish_reason": "stop"}]}
    >>> replies_of(Record(body, "a.jsonl", 1))
    [Reply(text='4', refusal=None, finish='stop', index=0)]
    """
    if "choices" in body.value:
        choices = body.each("choices")
        told = [choice.may("index", int) for choice in choices]
        places = range(len(choices)) if None in told or len(set(told)) < len(told) else told
        return [_choice(choice, place) for choice, place in zip(choices, places, strict=True)]
    if "output" not in body.value:
        raise body.error("importing.field_missing", "choices", known=", ".join(map(str, body.value)) or "-")
    parts = [part for message in body.each("output") for part in _parts(message)]
    texts = [part.may("text", str) or "" for part in parts if part.value.get("type") == "output_text"]
    refusals = [part.may("refusal", str) or "" for part in parts if part.value.get("type") == "refusal"]
    finish = FINISH.get(str(lookup(body.value, "incomplete_details.reason")), "stop")
    return [Reply("".join(texts), refusals[0] if refusals else None, finish)]


def _choice(choice: Record, index: int) -> Reply:
    message = choice.inside("message")
    finish = FINISH.get(str(choice.value.get("finish_reason")), "stop")
    return Reply(_text(message.value.get("content")), message.may("refusal", str), finish, index)


def _parts(message: Record) -> list[Record]:
    return message.each("content") if message.value.get("type") == "message" else []


def _text(content: Any) -> str:
    """The text of a message: a text, or the parts of one."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))
