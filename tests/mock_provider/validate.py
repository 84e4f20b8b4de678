"""Whether a request is well formed in its dialect, as the provider would judge it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NoReturn

import orjson
import pybase64
from tests.mock_provider.state import Request

SIGNATURES = {
    "image/png": b"\x89PNG", "image/jpeg": b"\xff\xd8\xff", "image/gif": b"GIF8", "image/webp": b"RIFF"
}  # fmt: skip
FIXED_TEMPERATURE = re.compile(r"claude-opus-4-7|claude-opus-4-8|claude-fable|^gpt-5(?!.*chat)|^o\d")


@dataclass(frozen=True)
class Complaint:
    """Why a request is refused."""

    status: int
    why: str
    code: str = "invalid_request"


class BodyError(Exception):
    """A body that its dialect does not allow."""


def _refuse(why: str) -> NoReturn:
    raise BodyError(why)


def complaint(dialect: str, provider: str, request: Request) -> Complaint | None:
    """What is wrong with a request, or None."""
    headers = request.headers
    if not _authorized(dialect, headers):
        return Complaint(401, "Incorrect API key provided: sk-mock********0000.", "invalid_api_key")
    if headers.get("content-type", "").split(";")[0] != "application/json":
        return Complaint(400, "Content-Type must be application/json")
    try:
        document = orjson.loads(request.body)
    except orjson.JSONDecodeError as error:
        return Complaint(400, f"The body is not JSON: {error}")
    try:
        if dialect == "messages":
            _version(headers.get("anthropic-version", ""), document)
        {"chat": _chat, "messages": _messages, "generate": _generate}[dialect](document, provider)
    except BodyError as wrong:
        return Complaint(400, str(wrong))
    return None


def _authorized(dialect: str, headers: dict[str, str]) -> bool:
    if dialect == "chat":
        return headers.get("authorization", "").startswith("Bearer ") and len(headers["authorization"]) > 10
    if dialect == "messages" and headers.get("authorization", "").startswith("Bearer "):
        return True
    return bool(headers.get("x-api-key" if dialect == "messages" else "x-goog-api-key"))


def _version(version: str, document: Any) -> None:
    """The two versions of https://platform.claude.com/docs/en/api/versioning; the newer has no sampling parameters."""
    if version not in ("2023-06-01", "2026-10-21"):
        _refuse("anthropic-version: header is required")
    sampling = {"temperature", "top_p", "top_k"} & set(document)
    if version == "2026-10-21" and sampling:
        _refuse(f"{min(sampling)}: this parameter is not supported in this API version")


def _chat(body: Any, provider: str) -> None:
    model = _need(body, "model", str)
    known = {"model", "messages", "temperature", "max_tokens", "max_completion_tokens", "top_p", "seed", "logprobs",
             "top_logprobs", "reasoning_effort", "reasoning", "thinking", "enable_thinking", "usage", "provider",
             "n", "stop", "user", "stream", "response_format", "extra_body", "chat_template_kwargs", "top_k", "store",
             "service_tier", "verbosity", "do_sample", "thinking_budget", "presence_penalty", "frequency_penalty",
             "metadata", "logit_bias", "cache_prompt", "request_id", "min_p", "vl_high_resolution_images"}  # fmt: skip
    _only(body, known)
    if provider == "openai" and FIXED_TEMPERATURE.search(model):
        if "max_tokens" in body:
            _refuse("Unsupported parameter: 'max_tokens' is not supported with this model.")
        if body.get("temperature", 1) != 1 and body.get("reasoning_effort") != "none":
            _refuse("Unsupported value: 'temperature' does not support this value with this model.")
    for message in _need(body, "messages", list):
        content = message.get("content")
        if message.get("role") not in ("system", "user", "assistant") or not content:
            _refuse("messages: role and content are required")
        for part in content if isinstance(content, list) else []:
            if part.get("type") == "image_url":
                _data_url(part["image_url"]["url"])
            elif part.get("type") != "text" or not isinstance(part.get("text"), str):
                _refuse("messages: a part is of type text or image_url")


def _messages(body: Any, provider: str) -> None:
    model = _need(body, "model", str)
    if _need(body, "max_tokens", int) < 1:
        _refuse("max_tokens: must be at least 1")
    known = {"model", "messages", "max_tokens", "temperature", "top_p", "top_k", "thinking", "system", "metadata",
             "stop_sequences", "output_config", "service_tier", "stream", "tools", "inference_geo"}  # fmt: skip
    _only(body, known)
    if "temperature" in body and FIXED_TEMPERATURE.search(model):
        _refuse("temperature: this parameter is not supported by this model")
    for message in _need(body, "messages", list):
        content = message.get("content")
        if message.get("role") not in ("user", "assistant") or not content:
            _refuse("messages: role and content are required")
        for block in content if isinstance(content, list) else []:
            if block.get("type") == "image":
                source = block["source"]
                if source.get("type") != "base64":
                    _refuse("messages: image source must be base64")
                _image(source["media_type"], source["data"])
            elif block.get("type") != "text" or not block.get("text"):
                _refuse("messages: text content blocks must be non-empty")


def _generate(body: Any, provider: str) -> None:
    _only(body, {"contents", "generationConfig", "safetySettings", "systemInstruction", "tools", "toolConfig",
                 "cachedContent", "labels", "serviceTier", "store"})  # fmt: skip
    config = body.get("generationConfig", {})
    _only(config, {"temperature", "topP", "topK", "maxOutputTokens", "candidateCount", "stopSequences", "seed",
                   "responseLogprobs", "logprobs", "thinkingConfig", "responseMimeType", "responseSchema",
                   "presencePenalty", "frequencyPenalty", "mediaResolution", "responseModalities"})  # fmt: skip
    for content in _need(body, "contents", list):
        for part in _need(content, "parts", list):
            if "inlineData" in part:
                _image(part["inlineData"]["mimeType"], part["inlineData"]["data"])
            elif not isinstance(part.get("text"), str):
                _refuse("contents.parts: contents.parts must not be empty")


def _need(body: Any, name: str, kind: type) -> Any:
    if not isinstance(body, dict) or not isinstance(body.get(name), kind) or body[name] in ("", []):
        _refuse(f"{name}: field required")
    return body[name]


def _only(body: dict[str, Any], known: set[str]) -> None:
    unknown = sorted(set(body) - known)
    if unknown:
        _refuse(f"{unknown[0]}: extra inputs are not permitted")


def _data_url(url: str) -> None:
    found = re.match(r"data:(image/\w+);base64,", url)
    if not found:
        _refuse("image_url: expected a data URL with base64")
    _image(found[1], url[found.end() :])


def _image(media_type: str, data: str) -> None:
    if media_type not in SIGNATURES:
        _refuse(f"image: unsupported media type {media_type}")
    try:
        content = pybase64.b64decode(data, validate=True)
    except ValueError:
        _refuse("image: not valid base64")
    if not content.startswith(SIGNATURES[media_type]):
        _refuse(f"image: the content is not {media_type}")
