"""Texts of items, of the study, of raters and of the lead hold markup: it is shown, and does nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.web.attack_world import HOSTILE, HOSTILE_NAME, MARK, House, Person, filled, given, hostile_study, routes
from tests.web.running import InProcess

from voirdire.annotation.batches import create_batch
from voirdire.annotation.invitations import invite
from voirdire.annotation.nouns import BatchSpec
from voirdire.annotation.study_defaults import for_pilot
from voirdire.web.security import cookie_name

WRITTEN = f"3 {HOSTILE}"


class Elements(HTMLParser):
    """The elements of a page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def inert(page: str) -> Elements:
    """The page's elements, none of which came out of a text."""
    elements = Elements(page)
    for tag, attributes in elements.found:
        told = f"{tag} {attributes}"
        assert attributes.get("id") != MARK, told
        assert not [name for name in attributes if name.startswith("on") or name in ("style", "srcdoc")], told
        assert tag not in ("iframe", "object", "embed", "base", "style"), told
        if tag == "script":
            assert attributes.get("type") == "application/json" or attributes["src"].startswith("/static/"), told
        for name in ("href", "src", "action", "formaction", "data", "xlink:href"):
            where = attributes.get(name, "")
            assert not re.match(r"\s*(javascript|data|vbscript|https?):", where, re.IGNORECASE), told
    assert "1337" not in page, "a template in a text was evaluated"
    return elements


@pytest.fixture(scope="module")
def people(house: House) -> dict[str, Person]:
    """A rater who has commented as hostilely as possible, the lead, and a visitor."""
    rater = house.joined("us")
    for item in rater.items:
        for question in ("q1", "q2", "q3", "q4"):
            body = {"assignment": item["assignment"], "question": question, "value": "3", "comment": HOSTILE}
            reply = rater.post("/api/answers", {"key": f"{item['assignment']}-{question}", "seconds": 2.0, **body})
            assert reply.status_code == 200, reply.text
    pilot = house.new_batch(kind="pilot")
    house.invite("us", pilot.id)
    return {"rater": rater, "lead": house.lead(), "visitor": house.session("visitor"), "chen": house.joined("cn")}


def pages(house: House, people: dict[str, Person]) -> Iterator[tuple[str, Any]]:
    """Every page, and all JSON, as each of the people sees it."""
    for number in (1, 2):
        known = {"token": house.tokens["us"], "number": str(number), "rater_id": people["rater"].id, "key": "0" * 24}
        for method, path in routes(house.app):
            if method != "GET" or path == "/api/openapi.json":
                continue
            where = filled(path, known)
            for person in people.values():
                for lang in ("en", "zh"):
                    yield where, person.client.get(where, params={"lang": lang}, follow_redirects=True)


def test_no_text_of_anybody_becomes_an_element_of_a_page(house: House, people: dict[str, Person]) -> None:
    shown, seen = set(), 0
    for path, reply in pages(house, people):
        assert reply.status_code < 500, path
        if reply.headers["content-type"].startswith("text/html"):
            if path.partition("?")[0].endswith("/report") and reply.status_code == 200:
                continue  # it has a style of its own where it is ready, and a test of its own
            seen += 1
            texts = "".join(inert(reply.text).texts)
            shown |= {name for name, text in TOLD.items() if text in texts}
        elif reply.headers["content-type"].startswith("application/json"):
            assert "<script" not in reply.text.replace("\\u003c", "<") or json.loads(reply.text)
    assert seen > 30
    assert shown == set(TOLD), "pages did not show these texts at all"


TOLD = {
    "texts of the study and of items": f"window.{MARK}=1;alert(1)",
    "the name of the batch and of links": HOSTILE_NAME[:20],
}


def test_texts_reach_the_page_as_they_are(house: House, people: dict[str, Person]) -> None:
    """Escaped once, not twice, and not cut."""
    items = people["rater"].client.get("/api/items", params={"count": 20}).json()["items"]
    assert {item["prompt"]["text"].partition(" ")[2] for item in items} == {HOSTILE}
    assert {answer["comment"] for item in items for answer in item["answers"].values()} == {HOSTILE}
    page = people["rater"].client.get("/rate").text
    held = re.search(r'<script type="application/json" id="page-data">(.*?)</script>', page, re.DOTALL)
    assert held is not None
    assert "<" not in held[1]
    assert json.loads(held[1])["window"]["items"][0]["image"]["alt"] == HOSTILE


def test_json_of_texts_is_never_taken_for_a_page(house: House, people: dict[str, Person]) -> None:
    for path, reply in pages(house, people):
        kind = reply.headers["content-type"]
        if HOSTILE[:30] in reply.text and not kind.startswith("text/html"):
            assert kind.startswith(("application/json", "text/csv", "text/markdown")), path
            assert reply.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("query", ["<script>alert(1)</script>", "\"'><b id=injected>", "%3Csvg/onload=alert(1)%3E"])
def test_what_stands_in_an_address_becomes_no_element(house: House, people: dict[str, Person], query: str) -> None:
    paths = [
        "/join/{}", "/resume/{}", "/images/{}", "/lead/batches/{}", "/lead/raters/{}/delete", "/{}", "/rate?at={}",
        "/api/items?start={}", "/lead?lang={}", f"/join/{house.tokens['us']}?PROLIFIC_PID={{}}&{{}}={{}}",
    ]  # fmt: skip
    for person in people.values():
        for path in paths:
            reply = person.client.get(path.replace("{}", query))
            if reply.headers.get("content-type", "").startswith("text/html"):
                inert(reply.text)
            assert "<script>alert" not in reply.text


def test_what_a_form_holds_becomes_no_element(house: House, people: dict[str, Person]) -> None:
    lead, visitor = people["lead"], people["visitor"]
    names = (
        "name", "kind", "items", "label", "pool", "most", "raters_per_item", "items_per_rater", "repeats", "split",
        "secret", "language", "switch", "consent", "screening.0",
    )  # fmt: skip
    fields = dict.fromkeys(names, HOSTILE)
    replies = [
        lead.client.post("/lead/batches", data={**fields, "csrf": lead.csrf}),
        lead.client.post("/lead/batches/1/links", data={**fields, "csrf": lead.csrf}),
        visitor.client.post("/lead/enter", data={**fields, "csrf": visitor.csrf}),
        visitor.client.post(f"/join/{house.tokens['us']}", data={**fields, "csrf": visitor.csrf}),
    ]
    for reply in replies:
        assert 200 <= reply.status_code < 500
        inert(reply.text)


def test_in_the_statistics_and_the_complete_report_nothing_runs(attacked_corpus: Path, tmp_path: Path) -> None:
    """The report has styles of its own, but no script and nothing that may load one."""
    house = House(attacked_corpus, f"sqlite:///{tmp_path / 'a.sqlite'}")
    batch = house.new_batch()
    for pool in ("us", "cn"):
        for number in range(3):
            person = house.joined(pool, house.invite(pool, batch.id))
            for place, item in enumerate(person.items):
                for question in ("q1", "q2", "q3", "q4"):
                    body = given(item["assignment"], question, str(1 + (place + number) % 5), comment=HOSTILE)
                    assert person.post("/api/answers", body).status_code == 200
    lead = house.lead().client
    for lang in ("en", "zh"):
        end = time.monotonic() + 120
        while (reply := lead.get(f"/lead/batches/{batch.id}/report", params={"lang": lang})).status_code == 303:
            assert time.monotonic() < end, "statistics are computed beside requests, but these never came"
            time.sleep(0.2)
        assert (reply.status_code, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
        elements = Elements(reply.text)
        statistics = "".join(inert(lead.get(f"/lead/batches/{batch.id}/statistics").text).texts)
        assert "item-0<b" in statistics
        assert f"window.{MARK}" in statistics
        for tag, attributes in elements.found:
            assert tag not in ("script", "iframe", "object", "embed", "base", "form"), tag
            assert attributes.get("id") != MARK
            assert not [name for name in attributes if name.startswith("on")]
        policy = reply.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "script-src" not in policy
        assert "frame-ancestors 'none'" in policy
    house.close()


class Watch:
    """A page of a browser that notes every dialog, fault and foreign request."""

    def __init__(self, context: Any, url: str) -> None:
        self.page = context.new_page()
        self.trouble: list[str] = []
        self.page.on("dialog", lambda dialog: (self.trouble.append(f"dialog {dialog.message}"), dialog.dismiss()))
        self.page.on("request", lambda request: request.url.startswith(url) or self.trouble.append(request.url))
        self.page.on("response", lambda reply: reply.status < 400 or self.trouble.append(f"{reply.status} {reply.url}"))
        self.page.on("console", lambda said: said.type == "error" and self.trouble.append(said.text))
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))

    def visit(self, url: str) -> None:
        self.page.goto(url)
        self.page.wait_for_load_state("networkidle")
        self.check()

    def check(self) -> None:
        found = f"[document.querySelectorAll('#{MARK}, [onerror], [onload], body svg[onload]').length, window.{MARK}]"
        assert self.page.evaluate(found) == [0, None]
        assert self.trouble == []


def test_in_a_browser_no_text_does_anything(attacked_corpus: Path, tmp_path: Path, browser: Any) -> None:
    with InProcess(attacked_corpus, f"sqlite:///{tmp_path / 'a.sqlite'}") as running:
        service, url = running.service, running.here.url
        study = for_pilot(hostile_study(service.study))
        spec = BatchSpec(HOSTILE_NAME, study, tuple(service.shown.items), "pilot")
        batch = create_batch(service.database, spec, 0.0)
        _, token = invite(service.database, batch.id, "us", label=HOSTILE_NAME, now=0.0)
        context = browser.new_context()
        watch = Watch(context, url)
        page = watch.page
        watch.visit(f"{url}/join/{token}")
        page.check("#consent")
        page.locator("input[name='screening.0']").first.check()
        page.locator("form#join .actions button").click()
        page.wait_for_url("**/welcome")
        watch.check()
        watch.visit(f"{url}/rate")
        page.keyboard.press("3")
        page.locator("#zoom-open").click()
        watch.check()
        page.keyboard.press("Escape")
        watch.visit(f"{url}/rate?at=2")
        rater = context.request.get(f"{url}/api/session").json()
        items = context.request.get(f"{url}/api/items").json()["items"]
        body = {
            "key": "k" * 20,
            "assignment": items[0]["assignment"],
            "question": "q1",
            "value": "3",
            "comment": HOSTILE,
        }
        reply = context.request.post(f"{url}/api/answers", data=body, headers={"x-csrf-token": rater["csrf"]})
        assert reply.status == 200
        watch.visit(f"{url}/rate?at=1")
        watch.visit(running.ready.lead_link)
        lead_pages(watch, url, batch.id, rater["rater"], routes_of(running))
        context.close()


def routes_of(running: InProcess) -> list[str]:
    return [path for method, path in routes(running.app) if method == "GET" and path.startswith("/lead")]


def lead_pages(watch: Watch, url: str, batch: int, rater: str, paths: list[str]) -> None:
    """All pages of the lead, after the link has been followed."""
    watch.page.wait_for_url("**/lead")
    known = {"number": str(batch), "rater_id": rater}
    seen = 0
    for path in paths:
        where = filled(path, known)
        reply = watch.page.request.get(f"{url}{where}")
        if reply.headers["content-type"].startswith("text/html"):
            seen += 1
            watch.visit(f"{url}{where}")
    assert seen >= 4


def test_on_plain_http_under_a_name_of_ones_own_the_forms_work(
    attacked_corpus: Path, tmp_path: Path, browser: Any
) -> None:
    """Such pages are no secure context: browsers say of a form's origin only what the referrer policy lets them."""
    name = "rating.test"
    with InProcess(attacked_corpus, f"sqlite:///{tmp_path / 'a.sqlite'}", public_url=f"http://{name}") as running:
        token = running.here.link("us").rpartition("/")[2]
        program = os.environ.get("VOIRDIRE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
        places = ["--no-sandbox", "--disable-gpu", f"--host-resolver-rules=MAP {name} 127.0.0.1"]
        other = browser.browser_type.launch(executable_path=program, args=places)
        page = other.new_page()
        sent: list[dict[str, str]] = []
        page.on("request", lambda request: request.method == "POST" and sent.append(request.all_headers()))
        page.goto(f"http://{name}:{running.port}/join/{token}")
        page.check("#consent")
        page.locator("form#join .actions button").click()
        page.wait_for_url("**/welcome")
        assert cookie_name(running.service, "rater") in {cookie["name"] for cookie in page.context.cookies()}
        other.close()
    assert "sec-fetch-site" not in sent[0]
    assert sent[0]["origin"] == f"http://{name}:{running.port}"
