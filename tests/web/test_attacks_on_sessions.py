"""Somebody tries to be another rater, the lead, or to see what another pool does."""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import replace

import pytest
from itsdangerous import URLSafeTimedSerializer
from tests.web.attack_world import HOST, House, Person, filled, given, routes

from voirdire.annotation.answers import save
from voirdire.annotation.invitations import revoke
from voirdire.annotation.nouns import Given
from voirdire.annotation.raters import delete_rater, resume_link
from voirdire.annotation.service_state import set_lead
from voirdire.web.security import AGE, MAX_BODY, cookie_name
from voirdire.web.settings import Settings


@pytest.fixture(scope="module")
def alice(house: House) -> Person:
    return house.joined("us")


@pytest.fixture(scope="module")
def chen(house: House) -> Person:
    return house.joined("cn")


def altered(cookie: str, place: int) -> str:
    other = "A" if cookie[place] != "A" else "B"
    return cookie[:place] + other + cookie[place + 1 :]


def test_an_answer_to_another_raters_assignment_is_refused_and_kept_nowhere(own_house: House) -> None:
    mine, theirs = own_house.joined("us"), own_house.joined("us")
    before = own_house.rows()
    reply = mine.post("/api/answers", given(theirs.items[0]["assignment"]))
    assert (reply.status_code, reply.json()["error"]["key"]) == (404, "annotation.not_yours")
    assert own_house.rows() == before


def test_an_answer_to_an_assignment_of_the_other_pool_is_refused_alike(own_house: House) -> None:
    mine, theirs, unknown = own_house.joined("us"), own_house.joined("cn"), "A" * 16
    refused = [mine.post("/api/answers", given(name)) for name in (theirs.items[0]["assignment"], unknown)]
    told = [
        reply.text.replace(name, "")
        for reply, name in zip(refused, (theirs.items[0]["assignment"], unknown), strict=True)
    ]
    assert [reply.status_code for reply in refused] == [404, 404]
    assert told[0] == told[1]


def test_a_rater_sees_own_items_only_whatever_is_asked_for(house: House, alice: Person, chen: Person) -> None:
    theirs = {item["assignment"] for item in chen.items}
    for question in ("", f"?rater={chen.id}", "?pool=cn&batch=1", f"?assignment={min(theirs)}", "?start=1&count=20"):
        shown = alice.client.get(f"/api/items{question}").json()["items"]
        assert shown
        assert not {item["assignment"] for item in shown} & theirs


def test_what_the_other_pool_does_changes_nothing_that_a_rater_can_see(own_house: House) -> None:
    alice = own_house.joined("us")

    def everything() -> list[str]:
        paths = ["/api/session", "/api/items?count=20", "/welcome", "/done", f"/join/{own_house.tokens['us']}"]
        return [alice.client.get(path).text for path in paths]

    before = everything()
    chen = own_house.joined("cn")
    for item in chen.items:
        for question in ("q1", "q2", "q3", "q4"):
            assert chen.post("/api/answers", given(item["assignment"], question, "5")).status_code == 200
    assert everything() == before


def test_no_page_or_endpoint_of_a_rater_names_what_would_tell_or_sway_them(house: House, alice: Person) -> None:
    """Item ids, cultures, categories and pairs bias; other raters, pools and counts are nobody's business."""
    chen = house.joined("cn")
    paths = ["/rate", "/welcome", "/api/session", "/api/items?count=20"]
    shown = "\n".join(alice.client.get(path).text for path in paths)
    for hidden in ("item-1", "secret-pair", "secret-category", '"culture"', chen.id, "raters_per_item"):
        assert hidden not in shown


@pytest.mark.parametrize("place", [0, 5, -1, -3, -20, -30])
def test_an_altered_cookie_is_nobody(house: House, alice: Person, place: int) -> None:
    cookie = house.cookie(alice)
    client = house.client()
    client.cookies.set(cookie_name(house.service, "rater"), altered(cookie, place % len(cookie)))
    # the last character of a base64 text holds spare bits, so that two spellings may mean the same bytes
    assert client.get("/api/session").status_code == 401 or place == -1


@pytest.mark.parametrize(
    "cookie",
    [
        "",
        "null",
        "..",
        "a.b.c",
        "eyJyb2xlIjoibGVhZCJ9..",
        "\xff\xfe",
        "A" * 3000,
        "eyJyb2xlIjoicmF0ZXIifQ.aaaaaa.bbbbbb",
    ],
)
@pytest.mark.parametrize("path", ["/api/session", "/api/items", "/rate", "/welcome", "/done", "/images/" + "0" * 24])
def test_a_made_up_cookie_is_nobody(house: House, cookie: str, path: str) -> None:
    headers = [
        (b"cookie", f"{cookie_name(house.service, role)}={cookie}".encode("latin-1")) for role in ("rater", "lead")
    ]
    assert house.client().get(path, headers=headers).status_code == 401


def test_a_cookie_signed_with_another_key_or_for_another_purpose_is_nobody(house: House, alice: Person) -> None:
    told = {"role": "rater", "nonce": "n", "who": alice.id}
    key = house.service.state.signing_key
    signers = [
        URLSafeTimedSerializer(secrets.token_hex(32), salt="voirdire.session"),
        URLSafeTimedSerializer("", salt="voirdire.session"),
        URLSafeTimedSerializer(key, salt="other"),
    ]
    for signer in signers:
        client = house.client()
        client.cookies.set("voirdire-rater", str(signer.dumps(told)))
        assert client.get("/api/session").status_code == 401


@pytest.mark.parametrize("role", ["visitor", "rater", "lead"])
def test_a_session_ends_with_its_time(house: House, alice: Person, role: str, monkeypatch: pytest.MonkeyPatch) -> None:
    person = house.session(role, alice.id if role == "rater" else "")  # type: ignore[arg-type]
    path = {"visitor": f"/join/{house.tokens['us']}", "rater": "/api/session", "lead": "/lead"}[role]
    act = (
        (lambda: person.client.post(path, data={"csrf": person.csrf}))
        if role == "visitor"
        else lambda: person.client.get(path)
    )
    assert act().status_code not in (401, 403)
    later = time.time() + AGE[role] + 10  # type: ignore[index]
    monkeypatch.setattr("itsdangerous.timed.time.time", lambda: later)
    assert act().status_code in (303, 401)


def test_a_session_of_one_kind_is_none_of_another(house: House, alice: Person) -> None:
    """The value of a visitor's or a rater's cookie under the name of the lead's, and the other way round."""
    visitor, lead = house.session("visitor"), house.lead()
    values = {
        "visitor": house.cookie(visitor, "visitor"),
        "rater": house.cookie(alice),
        "lead": house.cookie(lead, "lead"),
    }
    paths = {"rater": "/api/session", "lead": LEADS}
    for had, value in values.items():
        for wanted, path in paths.items():
            client = house.client()
            client.cookies.set(f"voirdire-{wanted}", value)
            assert (client.get(path).status_code == 200) == (had == wanted), (had, wanted)


LEADS = "/lead"


def test_lead_pages_and_endpoints_answer_nobody_but_the_lead(house: House, alice: Person) -> None:
    people = [house.client(), house.session("visitor").client, alice.client]
    found = 0
    for method, path in routes(house.app):
        if not path.startswith("/lead") or path in OPEN_OF_LEAD or method == "HEAD":
            continue
        found += 1
        for client in people:
            reply = client.request(method, filled(path, {}), json={} if "/api/" in path else None)
            assert reply.status_code in (303, 401, 403), (method, path, reply.status_code)
            if reply.status_code == 303:
                assert reply.headers["location"].startswith("/lead/enter")
            assert "secret-category" not in reply.text
    assert found >= 5


OPEN_OF_LEAD = ("/lead/enter",)


def test_raters_endpoints_answer_no_visitor_and_no_lead(house: House) -> None:
    people = [house.client(), house.session("visitor").client, house.lead().client]
    found = [(method, path) for method, path in routes(house.app) if path.startswith("/api/") and "openapi" not in path]
    assert len(found) >= 6
    for method, path in found:
        for client in people:
            assert client.request(method, path, json={}).status_code == 401, (method, path)


def test_a_rater_whose_data_were_deleted_is_nobody(own_house: House) -> None:
    person = own_house.joined("us")
    link = resume_link(own_house.service.database, person.id)
    assert person.answer().status_code == 200
    delete_rater(own_house.service.database, person.id, time.time())
    before = own_house.rows()
    assert person.answer().status_code in (401, 410)
    for path in ("/api/session", "/api/items", "/rate", "/welcome", "/done", f"/images/{'0' * 24}"):
        assert person.client.get(path).status_code == 401
    assert own_house.client().get(f"/resume/{link}").status_code == 404
    assert own_house.rows() == before
    with pytest.raises(Exception, match="deleted"):
        save(own_house.service.database, person.id, Given("k" * 20, person.items[0]["assignment"], "q1", "1"), 1.0)


def test_a_rater_who_did_not_pass_gets_no_items(house: House) -> None:
    client = house.client()
    page = client.get(f"/join/{house.tokens['us']}")
    strict = house.new_batch(
        screening=tuple(replace(one, accept={"us": ("yes",)}) for one in house.batch.spec.study.screening)
    )
    token = house.invite("us", strict.id)
    page = client.get(f"/join/{token}")
    csrf = page.text.partition('name="csrf" value="')[2][:64]
    other = strict.spec.study.screening[0].options[1].value
    entered = client.post(f"/join/{token}", data={"csrf": csrf, "consent": "yes", "screening.0": other})
    assert entered.status_code in (200, 303)
    assert "page-data" not in client.get("/rate").text
    assert client.get("/api/items").json()["items"] == []


def test_a_revoked_link_lets_nobody_in(own_house: House) -> None:
    token = own_house.invite("us")
    known = own_house.joined("us", token)
    waiting = own_house.client()
    csrf = waiting.get(f"/join/{token}").text.partition('name="csrf" value="')[2][:64]
    link = next(row for row in own_house.rows()["invitations"] if row[0] == 3)
    revoke(own_house.service.database, link[0], time.time())
    before = own_house.rows()
    assert own_house.client().get(f"/join/{token}").status_code == 404
    form = {"csrf": csrf, "consent": "yes", "screening.0": "yes"}
    assert waiting.post(f"/join/{token}", data=form).status_code == 404
    assert own_house.rows()["raters"] == before["raters"]
    assert known.client.get("/api/session").status_code == 200


def test_a_link_for_two_lets_no_third_in_and_never_into_anothers_session(own_house: House) -> None:
    token = own_house.invite("us", most_raters=2)
    first, third = own_house.joined("us", token), own_house.client()
    csrf = third.get(f"/join/{token}").text.partition('name="csrf" value="')[2][:64]
    second = own_house.joined("us", token)
    reply = third.post(f"/join/{token}", data={"csrf": csrf, "consent": "yes", "screening.0": "yes"})
    assert reply.status_code == 409
    assert third.get("/api/session").status_code == 401
    assert first.id != second.id


def test_a_personal_link_in_another_browser_is_the_same_rater_and_no_second_one(own_house: House) -> None:
    token = own_house.invite("us", most_raters=1)
    person = own_house.joined("us", token)
    other = own_house.client()
    assert other.get(f"/join/{token}").status_code == 303
    assert other.get("/api/session").json()["rater"] == person.id
    assert len(own_house.rows()["raters"]) == 1


def test_a_link_to_another_device_works_until_the_next_one_is_made(own_house: House) -> None:
    person = own_house.joined("us")
    old = person.post("/api/resume-link").json()["url"].removeprefix(HOST)
    new = person.post("/api/resume-link").json()["url"].removeprefix(HOST)
    assert own_house.client().get(old).status_code == 404
    assert own_house.client().get(new).status_code == 303


@pytest.mark.parametrize("path", ["/join/", "/resume/"])
def test_guessing_tokens_ends_in_429_for_that_address_alone(own_house: House, path: str) -> None:
    guesser = own_house.client("203.0.113.7")
    seen = [guesser.get(path + secrets.token_urlsafe(24)).status_code for _ in range(25)]
    assert seen == [404] * 20 + [429] * 5
    right = guesser.get(f"/join/{own_house.tokens['us']}")
    assert right.status_code == 429
    assert "retry-after" in right.headers
    forged = guesser.get(path + "x", headers={"x-forwarded-for": "198.51.100.1", "forwarded": "for=198.51.100.1"})
    assert forged.status_code == 429
    assert own_house.client("203.0.113.8").get(f"/join/{own_house.tokens['us']}").status_code == 200


def test_tokens_are_kept_as_hashes_only(own_house: House) -> None:
    person = own_house.joined("us", query="?PROLIFIC_PID=5f2a-known-person")
    link = person.post("/api/resume-link").json()["url"].rpartition("/")[2]
    held = json.dumps([[list(row) for row in rows] for rows in own_house.rows().values()], default=str)
    for secret in (*own_house.tokens.values(), link, own_house.secret, "5f2a-known-person", own_house.cookie(person)):
        assert secret not in held


def test_settings_of_workers_hold_no_secret_of_the_lead(house: House) -> None:
    assert house.secret not in Settings.to_text(house.settings)
    assert MAX_BODY < 1_000_000


def test_a_session_of_the_lead_ends_with_the_secret(own_house: House) -> None:
    lead = own_house.lead()
    assert lead.client.get("/lead").status_code == 200
    set_lead(own_house.service.database, secrets.token_urlsafe(24))
    assert lead.client.get("/lead").status_code == 303
    assert lead.client.post("/lead/batches", data={"csrf": lead.csrf}).status_code == 401
    assert own_house.lead().client.get("/lead").status_code == 200
