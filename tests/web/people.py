"""A rater who asks the service by plain requests."""

from __future__ import annotations

import re
import uuid

import httpx


def csrf_of(page: str) -> str:
    """The token of the form on a page."""
    found = re.search(r'name="csrf" value="(\w+)"', page)
    assert found is not None
    return found[1]


class Visitor:
    """A browser without scripts: keeps cookies, sends forms, asks for JSON."""

    def __init__(self, url: str) -> None:
        self.http = httpx.Client(base_url=url, follow_redirects=True, timeout=30)
        self.csrf = ""

    def join(self, link: str, consent: str = "yes", **fields: str) -> httpx.Response:
        """Open a link, send its form, and look at where that leads."""
        page = self.http.get(link)
        assert page.status_code == 200, page.text
        return self.send(link, {"csrf": csrf_of(page.text), "consent": consent, "language": "", **fields})

    def send(self, link: str, fields: dict[str, str]) -> httpx.Response:
        """Send the form of a link."""
        return self.http.post(link, data=fields)

    def session(self) -> dict:
        """The session; its token is used from now on."""
        told = self.http.get("/api/session")
        assert told.status_code == 200, told.text
        self.csrf = told.json()["csrf"]
        return told.json()

    def items(self, start: int = 1, count: int = 20) -> list[dict]:
        """Items in order."""
        told = self.http.get("/api/items", params={"start": start, "count": count})
        assert told.status_code == 200, told.text
        return told.json()["items"]

    def post(self, path: str, body: object, **headers: str) -> httpx.Response:
        """Ask for a change."""
        return self.http.post(path, json=body, headers={"x-csrf-token": self.csrf, **headers})

    def answer(self, item: dict, question: str, value: str | None, **more: object) -> httpx.Response:
        """Answer a question of an item."""
        body = {"key": uuid.uuid4().hex, "assignment": item["assignment"], "question": question, "value": value, **more}
        return self.post("/api/answers", body)

    def rate_all(self, value: str = "3") -> None:
        """Answer every question of every item alike."""
        questions = [asked["id"] for asked in self.session()["questions"]]
        for item in self.items():
            for question in questions:
                assert self.answer(item, question, value, seconds=2.0).status_code == 200
