"""What the mock answers: a fixed function of cell and attempt, so that order and restarts do not matter."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, fields
from functools import lru_cache
from hashlib import blake2b

KINDS = (
    "rate_limit",
    "server",
    "overload",
    "malformed",
    "empty",
    "drop",
    "hang",
    "truncated",
    "garbage",
    "html",
    "quota",
)
"""Kinds of reply beside ``ok`` and ``refusal``; each is also a field of Behaviour that gives its share of calls."""

ID = re.compile(rb"^(.*)-(\d+)-(\d+)$")
REPLIES_OF_A_MALFORMED_KIND = ("I would rate this a 4.", "Rating: four", "4/5", "4.5", '{"rating": 4}')


@dataclass
class Behaviour:
    """Shares are of calls, by a hash of (seed, cell, attempt); ``refusal`` is of cells.

    only : every call ends so (a kind, or ``ok``); attempts : attempts beyond this number are always ok (0 = no end)
    rps, burst : a token bucket over all calls, 0 = none
    retry_after : seconds; retry_style : seconds, date, ms, reset, body (Google's RetryInfo), none
    latency, jitter : seconds before a reply, jitter by a hash of the cell
    content : every good reply says this, else a rating from low to high by a hash of the cell
    reasoning : send a thinking part in the dialect's form
    validate : refuse bodies and headers that the dialect does not allow
    batch_seconds : age at which a batch has ended; batch_fail, batch_expire : shares of its requests
    """

    seed: int = 0
    rate_limit: float = 0.0
    server: float = 0.0
    overload: float = 0.0
    malformed: float = 0.0
    refusal: float = 0.0
    empty: float = 0.0
    drop: float = 0.0
    hang: float = 0.0
    truncated: float = 0.0
    garbage: float = 0.0
    html: float = 0.0
    quota: float = 0.0
    only: str = ""
    attempts: int = 0
    rps: float = 0.0
    burst: float = 1.0
    retry_after: float = 1.0
    retry_style: str = "seconds"
    latency: float = 0.0
    jitter: float = 0.0
    hang_seconds: float = 3600.0
    content: str = ""
    low: int = 1
    high: int = 5
    reasoning: bool = False
    validate: bool = False
    keep_bodies: int = 0
    batch_seconds: float = 0.0
    batch_fail: float = 0.0
    batch_expire: float = 0.0


def typed(settings: dict[str, object]) -> dict[str, object]:
    """Settings from JSON or from the command line, in the types of Behaviour; unknown names raise KeyError."""
    kinds = {field.name: type(field.default) for field in fields(Behaviour)}
    return {name: kinds[name](value) for name, value in settings.items()}


@lru_cache(maxsize=1 << 16)
def share(*parts: object) -> float:
    """A number in [0, 1) that is a fixed function of its parts."""
    digest = blake2b("|".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def cell_and_attempt(request_id: bytes) -> tuple[str, int] | None:
    """``<run>-<cell>-<attempt>`` taken apart; None for any other id."""
    found = ID.match(request_id)
    return (found[2].decode(), int(found[3])) if found else None


def kind_of(behaviour: Behaviour, cell: str, attempt: int) -> str:
    """How this call ends."""
    if behaviour.only:
        return behaviour.only
    if share(behaviour.seed, "refusal", cell) < behaviour.refusal:
        wanted = "refusal"
    else:
        wanted = "ok"
    if behaviour.attempts and attempt > behaviour.attempts:
        return wanted
    at = share(behaviour.seed, "call", cell, attempt)
    for kind in KINDS:
        part: float = getattr(behaviour, kind)
        if at < part:
            return kind
        at -= part
    return wanted


def content_of(behaviour: Behaviour, cell: str, attempt: int, kind: str) -> str:
    """The text of a reply."""
    if kind == "malformed":
        choice = int(share("malformed", cell, attempt) * len(REPLIES_OF_A_MALFORMED_KIND))
        return REPLIES_OF_A_MALFORMED_KIND[choice]
    if kind == "empty":
        return ""
    if behaviour.content:
        return behaviour.content
    return str(rating_of(behaviour, cell))


def rating_of(behaviour: Behaviour, cell: str) -> int:
    """The rating of a cell, the same for every attempt."""
    return behaviour.low + int(share(behaviour.seed, "rating", cell) * (behaviour.high - behaviour.low + 1))


class Bucket:
    """A token bucket in monotonic time."""

    def __init__(self) -> None:
        self.tokens = 0.0
        self.at = 0.0

    def over(self, rps: float, burst: float) -> bool:
        """Whether one more call is over the limit now."""
        if rps <= 0:
            return False
        now = time.monotonic()
        self.tokens = min(burst, self.tokens + (now - self.at) * rps) if self.at else burst
        self.at = now
        if self.tokens >= 1:
            self.tokens -= 1
            return False
        return True
