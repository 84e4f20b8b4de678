"""What a wire format is: how a call becomes the bytes of a request, and how the bytes of a response become a reply.

Bodies are assembled from bytes. Texts go through orjson; the base64 of an image is put in as it is and never
passes a serialiser.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from voirdire.judging.nouns import Call, CallFailed, ImagePart, Prompt, Reply, TextPart
from voirdire.judging.providers.failures import Problem, meaning_of, problem_in, problem_of, tidy
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.judging.images import Encoded
    from voirdire.judging.providers.keys import Secret

Encode = Callable[[Path], "Encoded"]
"""An image as base64 with its media type, from a cache."""

PARAGRAPH = "\n\n"
"""What stands between texts that become one."""

MOST = 10**9
"""Tokens or dollars of one call, above which a number is a mistake: it would not fit the ledger, or end the budget."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What is the same in every body of a judge.

    model, parameters : as sent; head, tail : the JSON before and after the parts of the message
    """

    model: str
    parameters: Mapping[str, Any]
    head: bytes
    tail: bytes


class Wire(Protocol):
    """A wire format of one provider. All methods are pure."""

    name: str

    def prepare(self, model: str, parameters: Mapping[str, Any]) -> Settings:
        """Settings of a judge from its model and the parameters that are sent."""
        ...

    def pieces(self, call: Call, settings: Settings, encode: Encode) -> list[bytes]:
        """The body of a request in pieces; the base64 of an image is one, as it lies in the cache.

        Raises CallFailed of kind ``request`` for a text that JSON cannot carry.
        """
        ...

    def body(self, call: Call, settings: Settings, encode: Encode) -> bytes:
        """The pieces of a request as one."""
        return b"".join(self.pieces(call, settings, encode))

    def url(self, base: str, model: str) -> str:
        """Where calls are sent, from a base URL without a slash at its end."""
        ...

    def headers(self, key: Secret | None) -> dict[str, str]:
        """Headers of every request, the key among them."""
        ...

    def read(self, status: int, headers: Mapping[str, str], body: bytes) -> Reply:
        """The reply in a response. Raises CallFailed for an error and for what is no reply in this format."""
        ...


def wire_of(name: str, provider: str) -> Wire:
    """The wire format ``chat``, ``messages`` or ``generate`` as a provider speaks it. Raises KeyError for another.

    >>> wire_of("chat", "openai").url("https://api.openai.com/v1", "gpt-4o")
    'https://api.openai.com/v1/chat/completions'
    """
    from voirdire.judging.providers.chat import ChatWire
    from voirdire.judging.providers.generate import GenerateWire
    from voirdire.judging.providers.messages import MessagesWire

    kinds: dict[str, Callable[[str], Wire]] = {"chat": ChatWire, "messages": MessagesWire, "generate": GenerateWire}
    return kinds[name](provider)


def json_text(value: str) -> bytes:
    r"""A text as a JSON string. Raises CallFailed for half of a surrogate pair, which UTF-8 cannot carry.

    >>> json_text('say "4"')
    b'"say \\"4\\""'
    """
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError as error:
        raise CallFailed("request", text("providers.text_unusable")) from error


def runs(prompt: Prompt) -> Sequence[TextPart | ImagePart]:
    r"""The parts of a prompt with neighbouring texts joined by an empty line, so that every server reads the same.

    >>> [part.text for part in runs(Prompt((TextPart("a"), TextPart("b")), "en"))]
    ['a\n\nb']
    """
    joined: list[TextPart | ImagePart] = []
    for is_text, parts in groupby(prompt.parts, key=lambda part: isinstance(part, TextPart)):
        if is_text:
            joined.append(TextPart(PARAGRAPH.join(part.text for part in parts if isinstance(part, TextPart))))
        else:
            joined.extend(parts)
    return joined


def members(parameters: Mapping[str, Any]) -> bytes:
    """Parameters as members of an object, each after a comma: ``,"temperature":0``.

    >>> members({"temperature": 0}), members({})
    (b',"temperature":0', b'')
    """
    return b"," + orjson.dumps(dict(parameters))[1:-1] if parameters else b""


def document_of(status: int, headers: Mapping[str, str], body: bytes, provider: str) -> dict[str, Any] | Reply:
    """The JSON object of a good response, or the refusal of a filter.

    Raises CallFailed for an error, wherever it stands: in the status, or inside a body of status 200.
    """
    if not 200 <= status < 300:
        return _declined(meaning_of(status, headers, problem_of(body), provider))
    if not body.strip():
        raise CallFailed("server", text("providers.empty_body"), status=status)
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        why = text("providers.not_json", start=tidy(body[:80].decode("utf-8", "replace")))
        raise CallFailed("server", why, status=status) from error
    problem = problem_in(document)
    if problem is not None:
        return _declined(meaning_of(problem.status or 500, headers, problem, provider))
    if not isinstance(document, dict):
        raise unexpected(status)
    return document


def unexpected(status: int) -> CallFailed:
    """The failure of a response that is JSON but not of the format."""
    return CallFailed("server", text("providers.unexpected"), status=status)


def inner_error(error: Mapping[str, Any], provider: str) -> Reply:
    """What an error inside a choice means. Raises CallFailed unless it is a refusal."""
    problem = problem_in({"error": error}) or Problem()
    return _declined(meaning_of(problem.status or 500, {}, problem, provider))


def _declined(found: CallFailed | Reply) -> Reply:
    if isinstance(found, CallFailed):
        raise found
    return found


def as_map(value: Any) -> Mapping[str, Any]:
    """An object of an untrusted document, or an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """An array of an untrusted document, or an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: Any) -> str:
    """A text of an untrusted document, or an empty one."""
    return value if isinstance(value, str) else ""


def as_count(value: Any) -> int | None:
    """A number of tokens of an untrusted document, or None; more than ``MOST`` is no number of tokens.

    >>> as_count(3), as_count(-1), as_count(True), as_count("3"), as_count(2**63)
    (3, None, None, None, None)
    """
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST else None


def as_dollars(value: Any) -> float | None:
    """A charge in an untrusted document: from 0 to ``MOST``, or None.

    >>> as_dollars(0.5), as_dollars(-1), as_dollars("1"), as_dollars(1e300)
    (0.5, None, None, None)
    """
    found = as_number(value)
    return found if found is not None and 0 <= found <= MOST else None


def as_number(value: Any) -> float | None:
    """A finite number of an untrusted document, or None."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
