"""What stands around every page of the reading room."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import polars as pl
import pytest
from starlette.testclient import TestClient

from voirdire.browsing.library import Library, Run, Shelf
from voirdire.corpus.corpus import Note
from voirdire.errors import UsageError
from voirdire.web.room.application import free_port, make_room
from voirdire.web.room.service import Kept

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    shelf = Shelf("tea", HOSTILE, "corpus", tmp_path, None, pl.DataFrame({"item_id": ["a"]}))
    library = Library((shelf,), (Run("run", "run", tmp_path, "tea"),))
    return TestClient(make_room(library), base_url="http://127.0.0.1")


def test_the_first_page_names_what_is_open_and_is_inert(client: TestClient) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert HOSTILE not in page.text
    assert "&lt;script&gt;" in page.text
    assert 'href="/items/tea"' in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert page.headers["cache-control"] == "no-store"


def test_notes_of_what_is_open_stand_on_the_first_page() -> None:
    note = Note("room.note.differs", {"title": HOSTILE, "corpora": "tea", "what": "a"}, "warning")
    client = TestClient(make_room(Library(notes=(note,))), base_url="http://127.0.0.1")
    page = client.get("/").text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; stands apart." in page
    assert HOSTILE not in page
    assert "单独列出" in client.get("/?lang=zh").text


def test_the_language_of_an_address_is_kept(client: TestClient) -> None:
    assert 'lang="en"' in client.get("/").text
    chinese = client.get("/?lang=zh")
    assert 'lang="zh-Hans"' in chinese.text
    assert 'lang="zh-Hans"' in client.get("/").text
    assert "/?lang=en" in chinese.text


def test_what_is_not_open_is_a_page_with_words(client: TestClient) -> None:
    page = client.get("/items/other")
    assert page.status_code == 404
    assert "<html" in page.text
    assert client.get("/../etc/passwd").status_code == 404


def test_nothing_can_be_sent(client: TestClient) -> None:
    assert client.post("/", content=b"").status_code == 405
    assert client.post("/", content=b"x").status_code in (405, 413)


def test_another_name_for_this_machine_is_refused(client: TestClient) -> None:
    assert client.get("/", headers={"host": "evil.example"}).status_code == 400


def test_what_is_kept_is_made_once_by_many_threads() -> None:
    kept, made, gate = Kept(), [], threading.Event()

    def make() -> int:
        gate.wait(5)
        made.append(1)
        return len(made)

    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(kept.get("key", make))) for _ in range(8)]
    for thread in threads:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join()
    assert found == [1] * 8


def test_an_error_is_not_kept() -> None:
    kept = Kept()
    with pytest.raises(ZeroDivisionError):
        kept.get("key", lambda: 1 / 0)
    assert kept.get("key", lambda: 2) == 2


def test_a_port_that_is_taken_is_said_and_the_next_is_found() -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UsageError) as refused:
            free_port(taken.getsockname()[1])
    assert refused.value.key == "web.address_taken"
    assert free_port(None) >= 8785
    with pytest.raises(UsageError):
        free_port(70000)


def test_the_command_opens_the_room_and_stops(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("item_id,text\na,Tea\n")
    command = [sys.executable, "-m", "voirdire", "view", str(tmp_path), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told, _ = json.JSONDecoder().raw_decode(_document(process))
        assert told["items"] == [
            {"name": told["items"][0]["name"], "kind": "corpus", "items": 1, "folder": str(tmp_path)}
        ]
        assert told["url"].startswith("http://127.0.0.1:")
        assert httpx.get(told["url"]).status_code == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


def _document(process: subprocess.Popen[str]) -> str:
    """Standard output up to the end of the first JSON document."""
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        try:
            json.loads(said)
        except json.JSONDecodeError:
            continue
        return said
    raise AssertionError(process.stderr.read() if process.stderr else said)
