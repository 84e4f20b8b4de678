"""How the reading room is served: its end, and requests for headers alone."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient
from tests.browsing.pairs import made, side

from voirdire.app.view import view
from voirdire.browsing.library import Audit, Library
from voirdire.web.room.application import free_port, make_room

ENDLESS = """
import asyncio, sys
from voirdire.browsing.library import Library
from voirdire.web.room import application

async def endless(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"more", "more_body": True})
    await asyncio.sleep(3600)

application.make_room = lambda *_, **__: endless
application.serve_room(Library(), port=int(sys.argv[1]), lang="en", ready=lambda: print("ready", flush=True))
"""


def test_it_ends_quietly_while_somebody_downloads() -> None:
    port = free_port(None)
    command = [sys.executable, "-c", ENDLESS, str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as room:
        assert room.stdout is not None
        assert room.stdout.readline() == "ready\n"
        with httpx.stream("GET", f"http://127.0.0.1:{port}/") as response:
            assert next(response.iter_raw()) == b"more"
            room.send_signal(signal.SIGINT)
            _, told = room.communicate(timeout=30)
    assert (room.returncode, told) == (0, "")


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    (tmp_path / "items.csv").write_text("item_id,text\na,Tea\n", encoding="utf-8")
    return TestClient(make_room(view([tmp_path])), base_url="http://127.0.0.1")


@pytest.mark.parametrize("path", ["/", "/items", "/static/room.css", "/nowhere", "/compare/differences.csv"])
def test_head_is_answered_as_get_without_the_content(client: TestClient, path: str) -> None:
    whole, head = client.get(path), client.head(path)
    assert head.status_code == whole.status_code
    assert head.content == b""
    varying = ("set-cookie", "date")
    assert [one for one in head.headers.items() if one[0] not in varying] == [
        one for one in whole.headers.items() if one[0] not in varying
    ]


def test_a_query_of_nothing_that_there_is_is_not_kept(tmp_path: Path) -> None:
    profile = side(tmp_path, made(range(8), conditions=("c0",))).profile
    room = make_room(Library((), (), (Audit("alone", "alone", tmp_path, profile),)))
    client = TestClient(room, base_url="http://127.0.0.1")
    pages = ("/compare", "/leaderboard/alone")

    def ask(value: str) -> int:
        names = ("question", "slice", "statistic", "first_judge", "second_condition", "sort", "lang")
        for page in pages:
            client.get(page, params=dict.fromkeys(names, value))
        return len(room.state.service.kept._values)

    assert ask("junk") == ask("other junk") == ask("x" * 5000)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_nothing_can_be_sent(client: TestClient, method: str) -> None:
    assert client.request(method, "/").status_code == 405
