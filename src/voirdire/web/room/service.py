"""What every request of the reading room works on: what was opened, and what was worked out from it already."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from starlette.requests import Request

from voirdire.browsing.library import Library
from voirdire.web.service import Host

Value = TypeVar("Value")
MOST_KEPT = 256


class Kept:
    """Values that are worked out once; the one that was not asked for longest goes first. Safe between threads.

    >>> kept = Kept(most=1)
    >>> kept.get("a", lambda: 1), kept.get("a", lambda: 2), kept.get("b", lambda: 3), kept.get("a", lambda: 4)
    (1, 1, 3, 4)
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of a key, made by the first who asks while others wait for it. An error is not kept."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._values:
                    return self._values[key]
            try:
                value = make()
            finally:
                with self._lock:
                    self._making.pop(key, None)
            with self._lock:
                self._values[key] = value
                while len(self._values) > self._most:
                    self._values.popitem(last=False)
            return value


@dataclass(frozen=True)
class Room(Host):
    """One process of the reading room."""

    library: Library
    kept: Kept = field(default_factory=Kept, repr=False)
    name: ClassVar[str] = "voirdire-room"
    title: ClassVar[str] = "room.title"
    home: ClassVar[str] = "room.home"


def room_of(request: Request) -> Room:
    """The reading room that answers a request."""
    found: Room = request.app.state.service
    return found
