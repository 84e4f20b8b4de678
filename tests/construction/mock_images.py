"""A server that speaks two wire formats of image models and draws a picture on the spot.

What it draws is a function of the prompt and the path: ``POST .../models/M:generateContent`` (Gemini) draws shapes on
a gradient, ``POST .../images/generations`` (OpenAI) stripes. Prompts steer it by words: ``BLOCK`` is refused by a
filter, ``SORRY`` by the model's own words, ``SILENT`` has no image, ``TRUNCATED`` and ``CORRUPT`` damage it once, of
``CUTOFF`` the reply ends in the middle of its JSON, as behind a proxy that cuts large bodies,
``TWICE429`` and ``TWICE500`` fail twice first, ``NEVER`` fails always, ``WRONGSIZE`` is small, ``SLOW`` takes a second.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

KEY = "test-key-0123456789abcdef"


def picture(prompt: str, style: str, size: tuple[int, int], kind: str = "PNG") -> bytes:
    """An image that only this prompt has in this style."""
    from PIL import Image, ImageDraw

    seed = int.from_bytes(hashlib.sha256(f"{style} {prompt}".encode()).digest()[:8], "big")
    rng = np.random.default_rng(seed)
    image = Image.new("RGB", size, tuple(rng.integers(0, 256, 3).tolist()))
    draw = ImageDraw.Draw(image)
    width, height = size
    for _ in range(24):
        x, y = rng.integers(0, width), rng.integers(0, height)
        w, h = rng.integers(width // 10, width // 2), rng.integers(height // 10, height // 2)
        colour = tuple(rng.integers(0, 256, 3).tolist())
        if style == "gemini":
            draw.ellipse((x - w / 2, y - h / 2, x + w / 2, y + h / 2), fill=colour)
        else:
            draw.rectangle((x - w / 2, y - h / 8, x + w / 2, y + h / 8), fill=colour)
    out = io.BytesIO()
    image.save(out, kind)
    return out.getvalue()


@dataclass
class State:
    """What the server saw and did."""

    calls: Counter[str] = field(default_factory=Counter)
    prompts: Counter[str] = field(default_factory=Counter)
    drawn: Counter[str] = field(default_factory=Counter)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    open: int = 0
    most_open: int = 0
    latency: float = 0.0
    served: str = "gemini-3-pro-image-preview-0418"
    kind: str = "PNG"
    lock: Any = field(default_factory=threading.Lock, repr=False)


SIZES = {"1:1": (1024, 1024), "16:9": (1344, 768), "3:4": (896, 1200)}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: State

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        state = self.state
        gemini = ":generateContent" in self.path
        prompt = body["contents"][0]["parts"][0]["text"] if gemini else body["prompt"]
        with state.lock:
            state.calls[self.headers["X-Client-Request-Id"]] += 1
            state.prompts[prompt] += 1
            times = state.prompts[prompt]
            state.bodies.append(body)
            state.headers.append(dict(self.headers))
            state.paths.append(self.path)
            state.open += 1
            state.most_open = max(state.most_open, state.open)
        try:
            time.sleep(state.latency + (1.0 if "SLOW" in prompt else 0.0))
            status, document, headers = answer(state, prompt, times, body, gemini)
            self._send(status, document, headers, cut="CUTOFF" in prompt)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with state.lock:
                state.open -= 1

    def _send(self, status: int, document: Any, headers: dict[str, str], *, cut: bool = False) -> None:
        raw = json.dumps(document).encode()
        raw = raw[: len(raw) // 2] if cut else raw
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(raw)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)


def answer(
    state: State, prompt: str, times: int, body: dict[str, Any], gemini: bool
) -> tuple[int, Any, dict[str, str]]:
    if "NEVER" in prompt or ("TWICE500" in prompt and times <= 2):
        return 500, {"error": {"code": 500, "message": "internal", "status": "INTERNAL"}}, {}
    if "TWICE429" in prompt and times <= 2:
        return (
            429,
            {"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED"}},
            {"Retry-After": "0"},
        )
    if "BADREQUEST" in prompt:
        return 400, {"error": {"code": 400, "message": f"no such thing {KEY}", "status": "INVALID_ARGUMENT"}}, {}
    return (as_gemini if gemini else as_openai)(state, prompt, times, body)


def drawn(state: State, prompt: str, times: int, style: str, size: tuple[int, int]) -> str:
    data = picture(prompt, style, (64, 48) if "WRONGSIZE" in prompt else size, state.kind)
    with state.lock:
        state.drawn[prompt] += 1
    if "TRUNCATED" in prompt and times == 1:
        data = data[: len(data) // 2]
    held = base64.b64encode(data).decode()
    return held[:-7] + "~~" if "CORRUPT" in prompt and times == 1 else held


def as_gemini(state: State, prompt: str, times: int, body: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
    served = {"modelVersion": state.served}
    usage = {"promptTokenCount": 30, "candidatesTokenCount": 1120, "thoughtsTokenCount": 200}
    if "BLOCK" in prompt:
        return 200, {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, **served}, {}
    if "SORRY" in prompt:
        words = [{"text": "I'm sorry, but I can't create that image."}]
        return 200, {"candidates": [{"content": {"parts": words}, "finishReason": "STOP"}], **served}, {}
    if "SILENT" in prompt:
        return 200, {"candidates": [{"content": {}, "finishReason": "NO_IMAGE"}], "usageMetadata": usage, **served}, {}
    size = SIZES[body["generationConfig"]["imageConfig"]["aspectRatio"]]
    draft = base64.b64encode(picture("draft", "gemini", (32, 32))).decode()
    parts = [
        {"text": "Thinking of it.", "thought": True},
        {"inlineData": {"mimeType": "image/png", "data": draft}, "thought": True},
        {"inlineData": {"mimeType": "image/png", "data": drawn(state, prompt, times, "gemini", size)}},
    ]
    candidate = {"content": {"parts": parts, "role": "model"}, "finishReason": "STOP"}
    return 200, {"candidates": [candidate], "usageMetadata": usage, **served}, {}


def as_openai(state: State, prompt: str, times: int, body: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
    if "BLOCK" in prompt:
        error = {"message": "Your request was rejected by the safety system.", "code": "moderation_blocked"}
        return 400, {"error": error}, {}
    if "ADDRESS" in prompt:
        return 200, {"created": 1, "data": [{"url": "http://127.0.0.1:1/x.png"}]}, {}
    width, height = map(int, body["size"].split("x"))
    one = {"b64_json": drawn(state, prompt, times, "openai", (width, height))}
    if "REWRITTEN" in prompt:
        one["revised_prompt"] = "something else"
    return 200, {"created": 1, "data": [one], "usage": {"input_tokens": 20, "output_tokens": 1056}}, {}


@contextmanager
def serving(state: State | None = None) -> Iterator[tuple[str, State]]:
    """The server's address and what it sees, for the length of a ``with``."""
    own = state or State()
    handler = type("Bound", (Handler,), {"state": own})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", own
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
