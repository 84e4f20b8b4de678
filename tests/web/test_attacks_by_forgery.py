"""A page of somebody else makes a browser send what its owner did not mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.web.attack_world import HOST, House, Person, filled, routes

CHANGING = ("POST", "PUT", "PATCH", "DELETE")


def changing(house: House) -> list[tuple[str, str, str]]:
    """(method, path, whose session) of all that changes anything, from the application's own routes."""
    found = [(method, path) for method, path in routes(house.app) if method in CHANGING]
    return [(method, path, owner(path)) for method, path in found]


def owner(path: str) -> str:
    if path.startswith(("/join/", "/lead/enter")):
        return "visitor"
    return "lead" if path.startswith("/lead") else "rater"


class Crowd:
    """Everybody whose sessions a browser may hold at once."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.rater = house.joined("us")
        batch = house.new_batch().id
        house.invite("us", batch)
        link = len(house.rows()["invitations"])
        self.known = {
            "token": house.tokens["us"],
            "number": str(batch),
            "link_id": str(link),
            "rater_id": self.rater.id,
        }
        self.people = {"rater": self.rater, "lead": house.lead(), "visitor": house.session("visitor")}
        self.others = {"rater": house.joined("us"), "lead": house.lead(), "visitor": house.session("visitor")}

    def send(self, method: str, path: str, role: str, token: str | None, headers: Mapping[str, str]) -> Any:
        person: Person = self.people[role]
        path = self.filled(path)
        if "/api/" in path:
            told = dict(headers) if token is None else {**headers, "x-csrf-token": token}
            return person.client.request(method, path, json={}, headers=told)
        return person.client.request(method, path, data={} if token is None else {"csrf": token}, headers=headers)

    def filled(self, path: str) -> str:
        return filled(path, self.known)

    def token(self, role: str) -> str:
        return self.people[role].csrf


FOREIGN = {
    "another site": {"origin": "https://evil.example", "sec-fetch-site": "cross-site"},
    "another site, an old browser": {"origin": "https://evil.example"},
    "a name that only begins like ours": {"origin": f"{HOST}.evil.example"},
    "another port of this machine": {"origin": "http://127.0.0.1:9999", "sec-fetch-site": "same-site"},
    "a sandboxed frame": {"origin": "null", "sec-fetch-site": "cross-site"},
    "a page without an origin": {"origin": "null"},
    "no origin, but a browser that tells": {"sec-fetch-site": "cross-site"},
    "our name as a user name": {"origin": "http://127.0.0.1:8765@evil.example"},
}


@pytest.fixture(scope="module")
def crowd(house: House) -> Crowd:
    return Crowd(house)


def test_all_that_changes_anything_is_known(house: House) -> None:
    paths = {path for _, path, _ in changing(house)}
    assert {"/api/answers", "/api/finish", "/join/{token}", "/lead/enter", "/lead/batches"} <= paths


def test_without_the_sessions_token_nothing_is_changed(house: House, crowd: Crowd) -> None:
    before = house.rows()
    for method, path, role in changing(house):
        wrong = {
            "none": None,
            "empty": "",
            "zeros": "0" * 64,
            "another session's": crowd.others[role].csrf,
            "another kind's": crowd.token("lead" if role == "rater" else "rater"),
            "too long": crowd.token(role) + "0",
            "in capitals": crowd.token(role).upper(),
        }
        for name, token in wrong.items():
            reply = crowd.send(method, path, role, token, {})
            assert reply.status_code == 403, (method, path, name, reply.status_code)
    assert house.rows() == before


def test_a_token_in_the_address_or_in_a_cookie_is_none(house: House, crowd: Crowd) -> None:
    before = house.rows()
    for method, path, role in changing(house):
        token = crowd.token(role)
        place = f"{path}?csrf={token}&x-csrf-token={token}"
        reply = crowd.send(method, place, role, None, {"csrf": token, "x-csrftoken": token})
        assert reply.status_code == 403, (method, path)
    assert house.rows() == before


@pytest.mark.parametrize("name", FOREIGN)
def test_with_the_token_but_from_elsewhere_nothing_is_changed(house: House, crowd: Crowd, name: str) -> None:
    before = house.rows()
    for method, path, role in changing(house):
        reply = crowd.send(method, path, role, crowd.token(role), FOREIGN[name])
        assert reply.status_code == 403, (method, path, reply.status_code)
    assert house.rows() == before


def test_without_a_session_nothing_is_changed(house: House, crowd: Crowd) -> None:
    before = house.rows()
    for method, path, role in changing(house):
        crowd.people["nobody"] = Person(house.client())
        reply = crowd.send(method, path, "nobody", crowd.token(role), {"origin": HOST})
        assert reply.status_code in (401, 403), (method, path, reply.status_code)
    assert house.rows() == before


def test_our_own_pages_are_let_through(house: House) -> None:
    """The refusals above are not for another reason: with token and origin every endpoint looks at what is sent."""
    for headers in ({}, {"origin": HOST}, {"origin": HOST, "sec-fetch-site": "same-origin"}):
        crowd = Crowd(house)
        for method, path, role in changing(house):
            if not path.endswith(("/delete", "/leave")):
                reply = crowd.send(method, path, role, crowd.token(role), headers)
                # a wrong secret is answered with 403 as well, on a page that asks again
                assert reply.status_code not in (401, 403) or path == "/lead/enter", (method, path, reply.text)


def test_reading_changes_nothing(house: House, crowd: Crowd) -> None:
    """What a foreign page can make a browser load (images, frames, links) has no effect."""
    before = house.rows()
    for method, path in routes(house.app):
        if method in ("GET", "HEAD"):
            for person in crowd.people.values():
                person.client.request(method, crowd.filled(path), headers={"sec-fetch-site": "cross-site"})
    assert house.rows() == before


def test_no_response_lets_other_sites_read_it(house: House, crowd: Crowd) -> None:
    for method in ("GET", "OPTIONS"):
        for path in ("/api/session", "/api/items", "/api/openapi.json", "/rate"):
            asked = {"origin": "https://evil.example", "access-control-request-method": "POST"}
            reply = crowd.rater.client.request(method, path, headers=asked)
            assert not [name for name in reply.headers if name.startswith("access-control-")]
            assert reply.headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_json_that_a_form_could_send_is_not_read(house: House, kind: str) -> None:
    """A foreign form can send text that looks like JSON, but not with the type of JSON."""
    person = house.joined("us")
    before = house.rows()
    body = b'{"key":"kkkkkkkkkkkkkkkkkkkk","assignment":"%s","question":"q1","value":"3"}'
    headers = {"x-csrf-token": person.csrf, "content-type": kind}
    content = body % person.items[0]["assignment"].encode()
    reply = person.client.post("/api/answers", content=content, headers=headers)
    assert reply.status_code == 422
    assert house.rows() == before
