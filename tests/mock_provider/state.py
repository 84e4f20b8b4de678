"""What the mock remembers: its behaviour, counters, which calls it saw."""

from __future__ import annotations

import asyncio
import re
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from tests.mock_provider.plan import Behaviour, Bucket

REQUEST_ID = re.compile(rb"\r\nx-client-request-id:[ \t]*([^\r\n]*)", re.I)


class Request:
    """A request as it came; nothing is parsed before it is asked for."""

    __slots__ = ("chunks", "head", "method", "path", "query")

    def __init__(self, head: bytes, chunks: list[bytes]) -> None:
        self.head = head
        self.chunks = chunks
        method, target, _ = head.split(b" ", 2)
        path, _, query = target.decode("latin-1").partition("?")
        self.method = method.decode("latin-1")
        self.path = path
        self.query = query

    @property
    def body(self) -> bytes:
        return b"".join(self.chunks)

    @property
    def size(self) -> int:
        return sum(map(len, self.chunks))

    @property
    def headers(self) -> dict[str, str]:
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        pairs = (line.split(":", 1) for line in lines if ":" in line)
        return {name.strip().lower(): value.strip() for name, value in pairs}

    @property
    def fields(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(self.query).items()}

    @property
    def id(self) -> bytes:
        found = REQUEST_ID.search(self.head)
        return found[1] if found else b""


@dataclass
class State:
    """Counters by kind of reply, calls seen by request id, in-flight numbers, and what batches hold.

    canned : status, headers and document that answer every call instead of the plan, for tests in this process
    """

    behaviour: Behaviour
    url: str = ""
    canned: tuple[int, dict[str, str], Any] | None = None
    counts: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    sizes: int = 0
    in_flight: int = 0
    max_in_flight: int = 0
    first: float = 0.0
    last: float = 0.0
    bucket: Bucket = field(default_factory=Bucket)
    connections: set[asyncio.Transport] = field(default_factory=set)
    kept: deque[tuple[str, dict[str, str], bytes]] = field(default_factory=deque)
    files: dict[str, Any] = field(default_factory=dict)
    batches: dict[str, Any] = field(default_factory=dict)

    def reset(self) -> None:
        """Counters to zero; files and batches stay, as a provider's would."""
        self.counts.clear()
        self.seen.clear()
        self.kept.clear()
        self.sizes = 0
        self.max_in_flight = self.in_flight
        self.first = self.last = 0.0
        self.bucket = Bucket()
