"""The wire formats of image models: Gemini's generateContent and OpenAI's images.

Gemini: https://ai.google.dev/gemini-api/docs/image-generation (``responseModalities``, ``imageConfig``, the image as
``inlineData``; pictures in thought parts are drafts). OpenAI: https://platform.openai.com/docs/api-reference/images
(``b64_json``). An address in a reply is never followed.
"""

from __future__ import annotations

import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import orjson
import pybase64

from voirdire.judging.nouns import Call, CallFailed, Reply, TextPart, Usage
from voirdire.judging.providers.generate import GenerateWire
from voirdire.judging.providers.keys import Secret
from voirdire.judging.providers.wire import (
    Encode,
    Settings,
    Wire,
    as_count,
    as_list,
    as_map,
    as_text,
    document_of,
    json_text,
    members,
    runs,
)
from voirdire.texts import text

PATH = "/images/generations"


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a reply holds besides words.

    data : the bytes of the image, or None; broken : there is one, but its base64 is damaged
    revised : the prompt as the model says that it rewrote it, empty where it says nothing
    """

    data: bytes | None = None
    broken: bool = False
    revised: str = ""


class ImageWire(Wire, Protocol):
    """A wire format whose replies hold an image."""

    def drawn(self, body: bytes) -> Drawn:
        """The image in a body that ``read`` has taken for a reply."""
        ...


class GeminiImages(GenerateWire):
    """generateContent with images in the reply."""

    name = "generate-image"

    def drawn(self, body: bytes) -> Drawn:
        """The last image of the first candidate that is not a draft of its thinking."""
        candidate = as_map(next(iter(as_list(as_map(orjson.loads(body)).get("candidates"))), None))
        parts = [as_map(part) for part in as_list(as_map(candidate.get("content")).get("parts"))]
        found = [as_map(part.get("inlineData")) for part in parts if part.get("thought") is not True]
        held = [as_text(each.get("data")) for each in found if as_text(each.get("mimeType")).startswith("image/")]
        return _decoded(held[-1] if held else "")


class OpenAIImages(Wire):
    """The images endpoint of OpenAI and of servers that are compatible with it."""

    name = "images"

    def __init__(self, provider: str) -> None:
        self._provider = provider

    def prepare(self, model: str, parameters: Mapping[str, Any]) -> Settings:
        """The prompt follows the head; one image is asked for."""
        head = b'{"model":' + json_text(model) + b',"n":1' + members(parameters) + b',"prompt":'
        return Settings(model, parameters, head, b"}")

    def pieces(self, call: Call, settings: Settings, encode: Encode) -> list[bytes]:  # noqa: ARG002 - of a Wire
        """All texts of the prompt as one."""
        said = "\n\n".join(part.text for part in runs(call.prompt) if isinstance(part, TextPart))
        return [settings.head, json_text(said), settings.tail]

    def url(self, base: str, model: str) -> str:  # noqa: ARG002 - of a Wire
        """Below the base URL.

        >>> OpenAIImages("openai").url("https://api.openai.com/v1", "gpt-image-1")
        'https://api.openai.com/v1/images/generations'
        """
        return f"{base}{PATH}"

    def headers(self, key: Secret | None) -> dict[str, str]:
        """The key as a bearer token."""
        return {"Authorization": f"Bearer {key.reveal()}"} if key else {}

    def read(self, status: int, headers: Mapping[str, str], body: bytes) -> Reply:
        """The reply; a filter's refusal stands in an error. Raises CallFailed for an address instead of an image."""
        document = document_of(status, headers, body, self._provider)
        if isinstance(document, Reply):
            return document
        first = _first(document)
        if as_text(first.get("url")) and not as_text(first.get("b64_json")):
            raise CallFailed("request", text("build_images.only_address"), status=status)
        usage = as_map(document.get("usage"))
        return Reply(
            served=as_text(document.get("model")),
            usage=Usage(as_count(usage.get("input_tokens")), as_count(usage.get("output_tokens"))),
        )

    def drawn(self, body: bytes) -> Drawn:
        """The first image."""
        first = _first(orjson.loads(body))
        return _decoded(as_text(first.get("b64_json")), as_text(first.get("revised_prompt")))


def image_wire(provider: str) -> ImageWire:
    """The wire format of a provider of the catalogue."""
    return GeminiImages(provider) if provider == "google" else OpenAIImages(provider)


def _first(document: Any) -> Mapping[str, Any]:
    return as_map(next(iter(as_list(as_map(document).get("data"))), None))


def _decoded(base64: str, revised: str = "") -> Drawn:
    if not base64:
        return Drawn(revised=revised)
    try:
        return Drawn(pybase64.b64decode(base64, validate=True), revised=revised)
    except (binascii.Error, ValueError):
        return Drawn(broken=True, revised=revised)
