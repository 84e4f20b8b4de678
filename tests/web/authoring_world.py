"""The authoring service for tests: a folder, the lead, authors who ask by plain requests."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import uvicorn
from tests.web.people import csrf_of
from tests.web.running import free_port, wait_for

from voirdire.construction.history import read_history
from voirdire.construction.standing import Standing, standings
from voirdire.web.authoring_application import database_of, make_authoring_application, prepare
from voirdire.web.settings import Settings
from voirdire.web.workshop import open_workshop


class Building:
    """The authoring service behind a web server in a thread."""

    def __init__(self, folder: Path, **more: str) -> None:
        self.folder, self.port = folder, free_port()
        settings = Settings(str(folder), database_of(folder), port=self.port, **more)
        self.ready = prepare(settings)
        self.workshop = open_workshop(settings)
        self.app = make_authoring_application(self.workshop)
        self.url = settings.url
        config = uvicorn.Config(self.app, host="127.0.0.1", port=self.port, log_level="error", ws="none")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.people: list[httpx.Client] = []

    def __enter__(self) -> Building:
        self.thread.start()
        wait_for(self.url)
        return self

    def __exit__(self, *_: object) -> None:
        for one in self.people:
            one.close()
        self.server.should_exit = True
        self.thread.join(10)
        self.workshop.database.dispose()

    def browser(self) -> httpx.Client:
        self.people.append(httpx.Client(base_url=self.url, follow_redirects=True, timeout=60))
        return self.people[-1]

    def lead(self) -> Person:
        return Person(self, "lead", self.ready.lead_link)

    def author(self, name: str) -> Person:
        return Person(self, "author", self.link(name))

    def link(self, name: str) -> str:
        return link_on(self.lead().send("/lead/people", name=name).text)

    def standing(self, concept: str) -> Standing:
        return standings(read_history(self.folder))[concept]

    def events(self, concept: str) -> list[str]:
        return [str(one.get("action") or one["kind"]) for one in read_history(self.folder).events
                if one["concept"] == concept]  # fmt: skip


class Command:
    """``voirdire build serve`` as a program of its own."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        serve = ("build", "serve", str(folder), "--json", "--port", str(self.port))
        self.words = [sys.executable, "-m", "voirdire", *serve]
        self.log = folder.parent / f"log-{time.time_ns()}"

    def __enter__(self) -> Command:
        with self.log.open("wb") as file:
            self.process = subprocess.Popen(self.words, stdout=file, stderr=file)
        wait_for(self.url, self.process, self.log)
        self.told = json.loads(self.log.read_text(encoding="utf-8"))
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """End it at once, whatever it is doing."""
        self.process.kill()
        self.process.wait(20)


class Person:
    """Somebody with a link, who sends forms."""

    def __init__(self, building: Building, role: str, link: str) -> None:
        self.building, self.role, self.link = building, role, link
        self.http = building.browser()
        page = self.http.get(f"/{role}/enter")
        self.entered = self.http.post(f"/{role}/enter", data={"csrf": csrf_of(page.text), "secret": link})

    @property
    def csrf(self) -> str:
        return csrf_of(self.http.get("/lead/people" if self.role == "lead" else "/author").text)

    def send(self, path: str, **fields: str) -> httpx.Response:
        return self.http.post(path, data={"csrf": self.csrf, **fields})

    def page(self, concept: str) -> str:
        return self.http.get(f"/author/concepts/{concept}").text

    def write(self, concept: str, seen: str | None = None, **fields: str) -> httpx.Response:
        """Send the form of a text; ``realisation_us`` stands for ``realisation.us``."""
        told = {name.replace("_", ".", 1) if name[:4] in ("real", "prom") else name: text
                for name, text in fields.items()}  # fmt: skip
        told.setdefault("action", "hand_in")
        return self.send(f"/author/concepts/{concept}/text", seen=seen or seen_on(self.page(concept)), **told)

    def decide(self, concept: str, action: str, seen: str | None = None, **fields: str) -> httpx.Response:
        path = f"/author/concepts/{concept}/decision"
        return self.send(path, action=action, seen=seen or seen_on(self.page(concept)), **fields)


def seen_on(page: str) -> str:
    """The digest of the text that a page shows; of no text where it has no form."""
    found = re.search(r'name="seen" value="(\w+)"', page)
    return found[1] if found else "none"


def link_on(page: str) -> str:
    found = re.search(r'value="(http[^"]+/author/enter#[^"]+)"', page)
    assert found is not None
    return found[1]
