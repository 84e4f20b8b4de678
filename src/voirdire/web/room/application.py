"""The reading room: its pages, what stands around them, and starting it."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable
from contextlib import suppress

from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from voirdire.browsing.library import Library
from voirdire.errors import UsageError
from voirdire.web.application import surrounded
from voirdire.web.room import (
    comparison_pages,
    home,
    items_pages,
    leaderboard_pages,
    profiles_downloads,
    profiles_pages,
    runs_pages,
)
from voirdire.web.room.profiles_view import get_ready_to_draw
from voirdire.web.room.service import Room
from voirdire.web.settings import Settings

HOST = "127.0.0.1"
PORT = 8785
TRIES = 20
MAX_BODY = 0
"""Nothing is sent to the reading room."""
PARTS = (home, items_pages, comparison_pages, leaderboard_pages, profiles_downloads, profiles_pages, runs_pages)


def make_room(library: Library, *, port: int = PORT, lang: str = "en") -> FastAPI:
    """The reading room of a library, as an application."""
    settings = Settings("", "", host=HOST, port=port, lang=lang)
    app = surrounded(Room(settings, library), PARTS, most=MAX_BODY, openapi=None)
    app.add_middleware(Heads)
    return app


class Heads:
    """Answers HEAD as GET is answered, without the content."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def bare(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self.app({**scope, "method": "GET"}, receive, bare)


def free_port(wanted: int | None) -> int:
    """The port that was asked for, else the first free one from 8785 on. Raises UsageError where it is taken."""
    ports = (wanted,) if wanted is not None else range(PORT, PORT + TRIES)
    why = ""
    for port in ports:
        if not 0 < port < 65536:
            raise UsageError("web.port", value=port)
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError as error:
                why = error.strerror or str(error)
                continue
        return port
    raise UsageError("web.address_taken", host=HOST, port=ports[0], why=why)


def serve_room(library: Library, *, port: int, lang: str, ready: Callable[[], None] = lambda: None) -> None:
    """Answer requests on this machine alone until the process is stopped; ready : called when it does."""
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                ready()
            if self.started and library.audits:
                threading.Thread(target=get_ready_to_draw, daemon=True).start()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            # Downloads that are broken off now are no faults, and would be told as such.
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
            await super().shutdown(sockets)

    config = uvicorn.Config(
        make_room(library, port=port, lang=lang),
        host=HOST,
        port=port,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=2,
    )
    with suppress(KeyboardInterrupt):
        Server(config).run()
