"""A request's body in pieces, sent without being joined: calls in flight share the images that they show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import aiohttp
from aiohttp.abc import AbstractStreamWriter

PORTION = 2**16
"""Bytes handed to a connection at once. What the socket does not take is copied, so this bounds a call's memory."""


class Pieces(aiohttp.payload.Payload):
    """JSON in pieces of bytes, of any length together.

    Small pieces are joined; a large one, the base64 of an image, is sent from where it lies, portion by portion, and
    the next portion waits until the connection has room.
    """

    _autoclose = True
    _value: Sequence[bytes]

    def __init__(self, pieces: Sequence[bytes]) -> None:
        super().__init__(pieces, content_type="application/json")
        self._size = sum(map(len, pieces))

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """The body as text."""
        return b"".join(self._value).decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Send the body."""
        for portion in portions(self._value):
            await writer.write(portion)


def portions(pieces: Sequence[bytes], most: int = PORTION) -> Iterator[bytes | memoryview]:
    """The bytes of all pieces in order: runs of pieces below ``most`` joined, others in views of at most that.

    >>> [bytes(portion) for portion in portions([b"a", b"b", b"cdefg", b"h"], 4)]
    [b'ab', b'cdef', b'g', b'h']
    """
    small: list[bytes] = []
    for piece in pieces:
        if len(piece) < most:
            small.append(piece)
            continue
        if small:
            yield b"".join(small)
            small.clear()
        view = memoryview(piece)
        for start in range(0, len(view), most):
            yield view[start : start + most]
    if small:
        yield b"".join(small)
