"""Requests that no page of ours would send: replayed, misshapen, too large, impossible."""

from __future__ import annotations

import json
import secrets
import time
from typing import Any

import pytest
from tests.web.attack_world import House, Person, given, routes

from voirdire.annotation.batches import set_open
from voirdire.annotation.schema import answers, events
from voirdire.web.rating_models import MOST_COMMENT
from voirdire.web.security import MAX_BODY


@pytest.fixture(scope="module")
def rater(house: House) -> Person:
    return house.joined("us")


def kept(house: House, person: Person, question: str = "q1") -> list[str]:
    """The value kept of a question, and those in its history."""
    name = person.items[0]["assignment"]
    with house.service.database.reading() as connection:
        value = answers.select().where(answers.c.assignment_id == name, answers.c.question == question)
        history = events.select().where(events.c.assignment_id == name, events.c.question == question)
        now = [row.value for row in connection.execute(value)]
        return [*now, *(row.value for row in connection.execute(history.order_by(events.c.id)))]


def test_an_answer_sent_again_counts_once(own_house: House) -> None:
    person = own_house.joined("us")
    body = given(person.items[0]["assignment"], value="2")
    replies = [person.post("/api/answers", body) for _ in range(4)]
    assert [reply.status_code for reply in replies] == [200] * 4
    assert [reply.json()["applied"] for reply in replies] == [True, False, False, False]
    assert kept(own_house, person) == ["2", "2"]


@pytest.mark.parametrize("change", [{"value": "5"}, {"question": "q3"}, {"comment": "other"}, {"assignment": 1}])
def test_a_key_with_other_content_is_refused(own_house: House, change: dict[str, Any]) -> None:
    person = own_house.joined("us")
    body = given(person.items[0]["assignment"], value="2")
    assert person.post("/api/answers", body).status_code == 200
    before = own_house.rows()
    other = {**body, **change}
    if "assignment" in change:
        other["assignment"] = person.items[1]["assignment"]
    reply = person.post("/api/answers", other)
    assert (reply.status_code, reply.json()["error"]["key"]) == (409, "annotation.key_reused")
    assert own_house.rows() == before


def test_an_old_request_after_a_newer_answer_does_not_bring_the_old_value_back(own_house: House) -> None:
    person = own_house.joined("us")
    captured = given(person.items[0]["assignment"], value="1")
    for body in (captured, given(person.items[0]["assignment"], value="5")):
        assert person.post("/api/answers", body).status_code == 200
    replayed = person.post("/api/answers", captured)
    assert (replayed.status_code, replayed.json()["applied"]) == (200, False)
    assert kept(own_house, person) == ["5", "1", "5"]


def test_a_key_of_one_rater_is_free_for_another(own_house: House) -> None:
    """Else whoever knows a key could keep somebody's answer from being saved."""
    key = secrets.token_urlsafe(18)
    for person in (own_house.joined("us"), own_house.joined("us")):
        reply = person.post("/api/answers", {**given(person.items[0]["assignment"]), "key": key})
        assert (reply.status_code, reply.json()["applied"]) == (200, True)


def test_a_closed_batch_takes_nothing(own_house: House) -> None:
    person, newcomer = own_house.joined("us"), own_house.client()
    csrf = newcomer.get(f"/join/{own_house.tokens['us']}").text.partition('name="csrf" value="')[2][:64]
    set_open(own_house.service.database, own_house.batch.id, False, time.time())
    before = own_house.rows()
    assert person.answer().status_code == 409
    assert person.answer(value=None).status_code == 409
    assert person.post("/api/finish").status_code == 409
    form = {"csrf": csrf, "consent": "yes", "screening.0": "yes"}
    assert newcomer.post(f"/join/{own_house.tokens['us']}", data=form).status_code == 409
    assert person.client.get("/rate").status_code in (200, 303)
    assert own_house.rows() == before


QUESTIONS = ["", "q9", "usable", "Q1", "q1 ", "q1\0", "../q1", "'; DROP TABLE answers; --", "q" * 101, None, 1, ["q1"]]


@pytest.mark.parametrize("question", QUESTIONS, ids=repr)
def test_a_question_that_does_not_exist_is_refused(house: House, rater: Person, question: Any) -> None:
    refused(house, rater, given(rater.items[0]["assignment"], question))


VALUES = [
    "0", "6", "-1", "3.5", "3.0", "03", "+3", " 3", "3\0", "1e0", "３", "NaN", "inf", "", "yes", "not_applicable",
    "3" * 4001, 3, 3.0, True, ["3"], {"value": "3"},
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:20])
def test_a_value_outside_the_scale_is_refused(house: House, rater: Person, value: Any) -> None:
    refused(house, rater, given(rater.items[0]["assignment"], value=value))


OTHERS = [
    {"assignment": ""}, {"assignment": "\0" * 16}, {"assignment": "x" * 65}, {"assignment": None}, {"assignment": 1},
    {"assignment": "../../etc/passwd"}, {"assignment": "' OR 1=1 --"}, {"key": ""}, {"key": "short"}, {"key": "k" * 65},
    {"key": "k" * 19 + "\n"}, {"key": "k" * 19 + "\0"}, {"key": "ключ" * 5}, {"key": None},
    {"comment": "c" * (MOST_COMMENT + 1)}, {"comment": "\0"}, {"comment": None}, {"comment": ["c"]},
    {"language": "xx"}, {"language": "zh"}, {"language": "../en"}, {"language": "e" * 36}, {"language": "en\0"},
    {"seconds": -1}, {"seconds": "long"}, {"seconds": 1e300}, {"seconds": None},
    {"rater": "x"}, {"rater_id": "x"}, {"now": 1}, {"state": "done"}, {"slot": 1}, {"__proto__": {"a": 1}},
]  # fmt: skip


@pytest.mark.parametrize("change", OTHERS, ids=lambda change: repr(change)[:30])
def test_an_answer_with_an_impossible_part_is_refused(house: House, rater: Person, change: dict[str, Any]) -> None:
    refused(house, rater, {**given(rater.items[0]["assignment"]), **change})


def refused(house: House, person: Person, body: dict[str, Any]) -> None:
    before = house.rows()
    reply = person.post("/api/answers", body)
    assert reply.status_code in (400, 404, 422), reply.text
    assert set(reply.json()["error"]) == {"key", "message"}
    assert len(reply.text) < 1000
    assert house.rows() == before


def raw(house: House, person: Person, content: Any, **headers: str) -> Any:
    told = {"x-csrf-token": person.csrf, "content-type": "application/json", **headers}
    return person.client.post("/api/answers", content=content, headers=told)


LONE = '{"key":"kkkkkkkkkkkkkkkkkkkk","assignment":"%s","question":"q1","value":"3","comment":"\\ud800"}'
BODIES: dict[str, bytes | str] = {
    "nothing": b"",
    "no JSON": b"{",
    "a list": b"[]",
    "null": b"null",
    "a number": b"1",
    "deep lists": b"[" * 30_000,
    "deep lists that end": b"[" * 30_000 + b"]" * 30_000,
    "deep objects": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "a deep part": b'{"key":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    "NaN": b'{"key":"kkkkkkkkkkkkkkkkkkkk","assignment":"a","question":"q1","value":"3","seconds":NaN}',
    "Infinity": b'{"key":"kkkkkkkkkkkkkkkkkkkk","assignment":"a","question":"q1","value":"3","seconds":1e999}',
    "a long number": b'{"seconds":' + b"9" * 20_000 + b"}",
    "a name that is half a character": b'{"\\ud800":1}',
    "names with controls": b'{"\\u0000\\u001b[31m":1,"<script>":2}',
    "no UTF-8": b'{"key":"\xff\xfe"}',
    "UTF-16": '{"key":"k"}'.encode("utf-16"),
    "many names": json.dumps({f"n{number}": number for number in range(4000)}).encode(),
    "a name twice": b'{"key":"a","key":"b"}',
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_is_no_answer_is_refused_without_a_fault(house: House, rater: Person, name: str) -> None:
    before = house.rows()
    reply = raw(house, rater, BODIES[name])
    assert reply.status_code in (400, 422), reply.text
    assert set(reply.json()["error"]) == {"key", "message"}
    assert len(reply.content) < 1000
    assert house.rows() == before


@pytest.mark.parametrize("field", ["key", "assignment", "question", "value", "comment", "language"])
def test_half_characters_and_nul_are_refused(own_house: House, field: str) -> None:
    person = own_house.joined("us")
    before = own_house.rows()
    for text in ("\\ud800", "\\udfff\\ud800", "\\u0000"):
        body = json.dumps({**given(person.items[0]["assignment"]), field: "HERE"}).replace("HERE", text)
        reply = raw(own_house, person, body.encode())
        assert reply.status_code in (400, 404, 422), reply.text
    assert own_house.rows() == before


TAKES_NO_BODY = ("/api/resume-link", "/api/finish")
"""What comes with a request to these is not read at all."""


@pytest.mark.parametrize("size", [MAX_BODY + 1, 5_000_000])
@pytest.mark.parametrize("told", [True, False])
def test_a_huge_body_is_refused_whether_its_length_is_told_or_not(house: House, size: int, told: bool) -> None:
    person = house.joined("us")
    person.client.cookies.update(house.session("visitor").client.cookies)

    def parts() -> Any:
        for _ in range(size // 1000 + 1):
            yield b"a" * 1000

    for method, path in routes(house.app):
        if method == "POST" and path.startswith(("/api/", "/join")):
            kind = "application/json" if "/api/" in path else "application/x-www-form-urlencoded"
            headers = {"x-csrf-token": person.csrf, "content-type": kind}
            where = path.replace("{token}", house.tokens["us"])
            reply = person.client.post(where, content=b"a" * size if told else parts(), headers=headers)
            assert reply.status_code in ((200, 409) if path in TAKES_NO_BODY else (413,)), (path, reply.status_code)
            assert "default-src 'none'" in reply.headers["content-security-policy"]


@pytest.mark.parametrize("length", ["-1", "abc", "1 2", "٣", "99999999999999999999", "9" * 5000])
def test_a_length_that_is_none_is_refused(house: House, rater: Person, length: str) -> None:
    headers = [(b"x-csrf-token", rater.csrf.encode()), (b"content-type", b"application/json")]
    reply = rater.client.post("/api/answers", headers=[*headers, (b"content-length", length.encode())])
    assert reply.status_code in (400, 413)


def test_forms_of_many_fields_and_files_are_refused_without_a_fault(house: House) -> None:
    path = f"/join/{house.tokens['us']}"
    visitor = house.session("visitor").client
    many = "&".join(f"f{number}=1" for number in range(5000))
    kinds = [
        (many, "application/x-www-form-urlencoded"),
        ("%ff%00=%ff", "application/x-www-form-urlencoded"),
        ("--x\r\n\r\n", "multipart/form-data; boundary=x"),
        ("nothing", "multipart/form-data"),
        (
            '--x\r\ncontent-disposition: form-data; name="csrf"; filename="a"\r\n\r\n1\r\n--x--',
            "multipart/form-data; boundary=x",
        ),
    ]
    for content, kind in kinds:
        reply = visitor.post(path, content=content, headers={"content-type": kind})
        assert reply.status_code in (400, 403), (kind, reply.status_code)


WINDOWS = [
    "start=0", "start=-1", "start=1e9", "start=99999999999999999999", "start=x", "start=%00", "start=1&start=x",
    "count=0", "count=21", "count=1000000",
]  # fmt: skip


@pytest.mark.parametrize("query", WINDOWS)
def test_windows_of_items_that_cannot_be_are_refused(house: House, rater: Person, query: str) -> None:
    reply = rater.client.get(f"/api/items?{query}")
    assert reply.status_code == 422
    assert set(reply.json()["error"]) == {"key", "message"}


@pytest.mark.parametrize("query", ["at=-1", "at=99999999999999999999", "at=x", "at=%00", "lang=%00", "lang=<script>"])
def test_addresses_of_pages_that_cannot_be_are_no_faults(house: House, rater: Person, query: str) -> None:
    for path in ("/rate", f"/join/{house.tokens['us']}", "/done", "/lead"):
        assert rater.client.get(f"{path}?{query}").status_code < 500


@pytest.mark.parametrize("external", ["%00", "%ff", "x" * 300, "<script>", "' OR 1=1", "%F0%9F%98%80"])
def test_ids_of_a_platform_that_cannot_be_are_no_faults(own_house: House, external: str) -> None:
    assert own_house.joined("us", query=f"?PROLIFIC_PID={external}").items
