"""What tests of the wire formats share: a call, images from memory, judges on a mock."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import orjson
import pybase64
from tests.mock_provider import Behaviour, MockProvider

from voirdire.corpus.shown import Item
from voirdire.judging.images import Encoded
from voirdire.judging.nouns import Call, CallFailed, ImagePart, Prompt, Reply, TextPart
from voirdire.judging.providers.kit import Kit
from voirdire.judging.providers.make import make_judge, parse_spec

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
BASE64 = pybase64.b64encode(PNG)
KEY = "sk-test-0123456789abcdef"
MODELS = {
    "openai": "gpt-4o", "anthropic": "claude-sonnet-4-6", "google": "gemini-2.5-flash", "zai": "glm-4.6v",
    "moonshot": "kimi-k2.5", "openrouter": "z-ai/glm-4.6v", "dashscope": "qwen3-vl-plus", "compatible": "my-model",
}  # fmt: skip


class Images:
    """Every path is the same image."""

    def __init__(self, content: bytes = PNG) -> None:
        self.one = Encoded(pybase64.b64encode(content), "image/png")
        self.asked = 0

    def encoded(self, path: Path) -> Encoded:
        self.asked += 1
        return self.one


def image(path: Path = Path("one.png")) -> Encoded:
    return Encoded(BASE64, "image/png")


def call(*parts: str | Path, cell: int = 7, attempt: int = 1) -> Call:
    """A call whose prompt has these texts and images."""
    made = tuple(TextPart(part) if isinstance(part, str) else ImagePart(part) for part in parts or ("Rate it.",))
    return Call(
        id=f"run-{cell}-{attempt}",
        prompt=Prompt(made, "en"),
        item=Item("i1"),
        condition="neutral_en",
        question="q",
        repeat=1,
        levels=(1, 2, 3, 4, 5),
    )


MIXED = ("First.", "Second.", Path("one.png"), "Then.", Path("two.png"), "Rate from 1 to 5.")


def kit(timeout: float = 10.0, images: Any = None, **environment: str) -> Kit:
    keys = {f"{name.upper()}_API_KEY": KEY for name in MODELS if name != "compatible"}
    return Kit(images or Images(), None, 0, {**keys, **environment}, "run", timeout)  # type: ignore[arg-type]


def base_of(provider: str, url: str) -> str:
    return url if provider in ("anthropic", "google") else f"{url}/{provider}/v1"


def judge_on(mock: MockProvider, provider: str, *, timeout: float = 10.0, **options: Any) -> Any:
    spec = parse_spec(f"{provider}/{MODELS[provider]}", base_url=base_of(provider, mock.url), **options)
    return make_judge(spec, kit(timeout))


def asked(provider: str, behaviour: Behaviour, *, timeout: float = 10.0, parts: tuple[Any, ...] = MIXED) -> Any:
    """What one call comes to: a Reply or a CallFailed."""

    async def run(mock: MockProvider, judge: Any) -> Reply | CallFailed:
        try:
            return await judge.ask(call(*parts))
        except CallFailed as failure:
            return failure

    return on_mock(provider, behaviour, run, timeout=timeout)


def on_mock(
    provider: str, behaviour: Behaviour, what: Callable[[MockProvider, Any], Awaitable[Any]], *, timeout: float = 10.0
) -> Any:
    """Run with a mock and a judge on it, both closed afterwards."""

    async def main() -> Any:
        async with MockProvider(behaviour) as mock:
            judge = judge_on(mock, provider, timeout=timeout)
            try:
                return await what(mock, judge)
            finally:
                await judge.close()

    return asyncio.run(main())


def outcome(wire: Any, status: int, body: bytes) -> Reply | CallFailed:
    """What a response is read as."""
    try:
        found: Reply = wire.read(status, {"Retry-After": "1"}, body)
    except CallFailed as failure:
        return failure
    return found


def raw(document: Any) -> bytes:
    return orjson.dumps(document)
