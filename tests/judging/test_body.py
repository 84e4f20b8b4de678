"""Bodies in pieces: the same bytes as one, sent from where they lie."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging.wiring import BASE64, MIXED, Images, call, image, kit

from voirdire.judging.providers.body import PORTION, Pieces, portions
from voirdire.judging.providers.make import make_judge, parse_spec
from voirdire.judging.providers.wire import wire_of

REPLY = b'{"choices":[{"message":{"content":"4"},"finish_reason":"stop"}]}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(REPLY)


@given(st.lists(st.binary(max_size=20)), st.integers(1, 12))
def test_portions_are_the_pieces_in_order(pieces: list[bytes], most: int) -> None:
    found = list(portions(pieces, most))
    assert b"".join(found) == b"".join(pieces)
    assert all(len(portion) <= most for portion in found if isinstance(portion, memoryview))


def test_a_large_piece_is_never_copied() -> None:
    large = bytes(3 * PORTION + 1)
    views = [portion for portion in portions([b"head", large, b"tail"]) if isinstance(portion, memoryview)]
    assert [len(view) for view in views] == [PORTION] * 3 + [1]
    assert all(view.obj is large for view in views)


@pytest.mark.parametrize(("wire", "provider"), [("chat", "openai"), ("messages", "anthropic"), ("generate", "google")])
def test_the_image_of_the_cache_is_a_piece_itself(wire: str, provider: str) -> None:
    format_ = wire_of(wire, provider)
    settings = format_.prepare("m", {"temperature": 0})
    pieces = format_.pieces(call(*MIXED), settings, image)
    assert sum(piece is BASE64 for piece in pieces) == 2
    body = format_.body(call(*MIXED), settings, image)
    assert body == b"".join(pieces)
    assert (Pieces(pieces).size, Pieces(pieces).decode().encode()) == (len(body), body)


def test_a_slow_server_gets_every_byte() -> None:
    """The connection fills up between portions: images of a megabyte, read in small gulps with rests."""
    got: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(next(line for line in head.splitlines() if line.lower().startswith(b"content-length")).split()[1])
        while length > 0:
            await asyncio.sleep(0.001)
            got.append(await reader.read(min(length, 100_000)))
            length -= len(got[-1])
        writer.write(HEAD + REPLY)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async def main() -> tuple[str, bytes]:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        spec = parse_spec("compatible/m", base_url=f"http://127.0.0.1:{port}/v1")
        judge = make_judge(spec, kit(images=Images(bytes(range(256)) * 4000)))
        try:
            reply = await judge.ask(call(*MIXED))
            return reply.text, judge.body(call(*MIXED))
        finally:
            await judge.close()
            server.close()
            await server.wait_closed()

    text, body = asyncio.run(main())
    assert text == "4"
    assert len(body) > 2_700_000
    assert b"".join(got) == body
