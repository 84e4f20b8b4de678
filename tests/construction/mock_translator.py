"""A server that speaks chat completions and translates by a rule that can be turned around.

English letters become Chinese characters one for one and back; digits, placeholders and what is no letter stay. Marks
in the source make it misbehave: REFUSE, BLOCKED (the provider's own signal), EXPLAIN (at first, then never again),
CHATTY (always), ENGLISH (never translates), BROKEN (500 at first), BAD (400).
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEPT = re.compile(r"(\{[^{}\s]*\}|%s|<[^<>]*>|https?://\S+)")
FIRST = 0x4E00
KEY = "sk-mock-translator-0123456789"


def forward(words: str) -> str:
    """Every letter as a Chinese character, but for what must stay as it is."""
    parts = KEPT.split(words)
    return "".join(part if place % 2 else "".join(map(_there, part)) for place, part in enumerate(parts))


def back(words: str) -> str:
    return "".join(chr(ord(one) - FIRST) if FIRST < ord(one) < FIRST + 128 else one for one in words)


def _there(letter: str) -> str:
    return chr(FIRST + ord(letter)) if letter.isascii() and letter.isalpha() else letter


@dataclass
class State:
    """What was asked: calls by id, prompts in order, the most that were in flight at once."""

    latency: float = 0.0
    ids: Counter[str] = field(default_factory=Counter)
    prompts: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    tries: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def sources(self) -> list[str]:
        return [source_of(prompt) for prompt in self.prompts]


def source_of(prompt: str) -> str:
    found = re.findall(r"<text>\n(.*?)\n</text>", prompt, re.DOTALL)
    return str(found[-1])


def answered(source: str, tries: int) -> tuple[int, dict[str, Any]]:
    turned = back(source)
    there = forward(source) if turned == source else turned
    if "BROKEN" in source and tries == 1:
        return 500, {"error": {"message": "internal"}}
    if "BAD" in source:
        return 400, {"error": {"message": "this model cannot do that", "type": "invalid_request_error"}}
    if "BLOCKED" in source:
        return 200, {"finish": "content_filter", "content": ""}
    if "REFUSE" in source:
        return 200, {"finish": "stop", "content": "抱歉，我无法翻译这段文本。"}
    if "CHATTY" in source or ("EXPLAIN" in source and tries == 1):
        there = f"Here is the translation: {there}"
    if "ENGLISH" in source:
        there = source
    return 200, {"finish": "stop", "content": there}


class Handler(BaseHTTPRequestHandler):
    state: State

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["messages"][0]["content"]
        source = source_of(prompt)
        with self.state.lock:
            self.state.ids[self.headers["X-Client-Request-Id"]] += 1
            self.state.prompts.append(prompt)
            self.state.keys.add(self.headers.get("Authorization", ""))
            self.state.tries[source] += 1
            tries = self.state.tries[source]
        time.sleep(self.state.latency)
        status, told = answered(source, tries)
        self._send(status, told if status != 200 else self._document(body["model"], told))

    def _document(self, model: str, told: dict[str, Any]) -> dict[str, Any]:
        message = {"role": "assistant", "content": told["content"]}
        choice = {"index": 0, "message": message, "finish_reason": told["finish"]}
        usage = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
        return {"id": "x", "object": "chat.completion", "model": f"{model}-0901", "choices": [choice], "usage": usage}

    def _send(self, status: int, document: dict[str, Any]) -> None:
        data = json.dumps(document).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            self.close_connection = True  # the client was killed

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as the library calls it
        """Nothing: the tests look at the state."""


class Server(ThreadingHTTPServer):
    """A server that says nothing of clients that were killed."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving(state: State | None = None) -> Iterator[tuple[str, State]]:
    """Address (as a base URL) and state of a server for the length of a ``with``."""
    known = state or State()
    handler = type("Own", (Handler,), {"state": known, "protocol_version": "HTTP/1.1"})
    server = Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", known
    finally:
        server.shutdown()
        server.server_close()
