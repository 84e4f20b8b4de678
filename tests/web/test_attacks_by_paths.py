"""Paths, names of hosts and of files that lead elsewhere; and what stands around every response."""

from __future__ import annotations

import csv
import re
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.web.attack_world import HOST, House, Person, filled, routes
from tests.web.people import Visitor, csrf_of
from tests.web.running import Program

from voirdire.annotation.database import Unavailable
from voirdire.errors import VoirdireError
from voirdire.web.service import open_service
from voirdire.web.serving import prepare
from voirdire.web.settings import Settings


@pytest.fixture(scope="module")
def rater(house: House) -> Person:
    return house.joined("us")


TRICKS = [
    "../secret.txt", "images/../../secret.txt", "/etc/passwd", "images/link.png", "linked/secret.png",
    "images/0.png\0.txt", "file:///etc/passwd", "http://127.0.0.1/x.png", "//evil.example/x.png", "..\\secret.txt",
    "images/%2e%2e/secret.txt", "images", "~/x.png", "C:\\x.png",
]  # fmt: skip


@pytest.mark.parametrize("name", TRICKS, ids=repr)
def test_a_corpus_whose_image_leads_elsewhere_is_not_served(attacked_corpus: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "corpus"
    shutil.copytree(attacked_corpus, folder)
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "images" / "link.png").symlink_to(tmp_path / "secret.txt")
    (folder / "linked").symlink_to(tmp_path)
    shutil.copy(folder / "images" / "0.png", tmp_path / "secret.png")
    with (folder / "items.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    rows[2]["image"] = name
    with (folder / "items.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(VoirdireError):
        prepare(Settings(str(folder), f"sqlite:///{tmp_path / 'a.sqlite'}"), time.time())


def key_of(house: House, item: str) -> str:
    return house.service.image_key(item)


def test_an_image_is_sent_as_what_its_bytes_are(house: House, rater: Person) -> None:
    reply = rater.client.get(f"/images/{key_of(house, 'item-1')}")
    assert (reply.status_code, reply.headers["content-type"]) == (200, "image/png")
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "private" in reply.headers["cache-control"]
    assert "default-src 'none'" in reply.headers["content-security-policy"]


DISGUISED = {
    "svg": b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    "html": b"<!DOCTYPE html><script>alert(1)</script>",
    "html after the first bytes of a png": b"\x89PNG\r\n\x1a\n<script>alert(1)</script>",
    "html after the first bytes of a gif": b"GIF89a<script>alert(1)</script>",
    "nothing": b"",
}


@pytest.mark.parametrize("kind", DISGUISED)
def test_a_file_that_only_calls_itself_an_image_is_not_sent(attacked_corpus: Path, tmp_path: Path, kind: str) -> None:
    """Neither at the start, nor when a file is exchanged while the service runs."""
    folder = shutil.copytree(attacked_corpus, tmp_path / "corpus")
    house = House(folder, f"sqlite:///{tmp_path / 'a.sqlite'}")
    person, lead = house.joined("us"), house.lead()
    assert person.client.get(f"/images/{key_of(house, 'item-1')}").status_code == 200
    (folder / "images" / "1.png").write_bytes(DISGUISED[kind])
    for someone in (person, lead):
        reply = someone.client.get(f"/images/{key_of(house, 'item-1')}")
        assert reply.status_code == 404
        assert b"alert(1)" not in reply.content
    house.close()
    with pytest.raises(VoirdireError, match=r"1\.png"):
        prepare(house.settings, time.time())


KEYS = [
    "item-1", "1.png", "images/1.png", "..%2f..%2fcorpus.toml", "%2e%2e/corpus.toml", "..%5ccorpus.toml", "0" * 24,
    "%00", "x" * 5000, "%ff", "*", "KEY.png", "KEY%00", "KEY/..", "UPPER",
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key[:20])
def test_an_image_is_found_by_its_key_only(house: House, rater: Person, key: str) -> None:
    true = key_of(house, "item-1")
    for person in (rater, house.lead()):
        asked = true.upper() if key == "UPPER" else key.replace("KEY", true)
        assert person.client.get(f"/images/{asked}").status_code in (404, 422)


def test_keys_of_images_cannot_be_told_from_items(house: House) -> None:
    keys = [key_of(house, item) for item in house.service.shown.items]
    assert all(re.fullmatch("[0-9a-f]{24}", key) for key in keys)
    assert len(set(keys)) == len(keys)


def test_an_image_is_for_raters_of_its_batch_and_the_lead_alone(house: House) -> None:
    small = house.new_batch(items=2)
    person = house.joined("us", house.invite("us", small.id))
    names = list(house.service.shown.items)
    seen = [person.client.get(f"/images/{key_of(house, name)}").status_code for name in names[:4]]
    assert seen == [200, 200, 404, 404]
    assert house.lead().client.get(f"/images/{key_of(house, names[3])}").status_code == 200
    for nobody in (house.client(), house.session("visitor").client):
        assert nobody.get(f"/images/{key_of(house, names[0])}").status_code == 401


STATIC = [
    "../security.py", "..%2fsecurity.py", "%2e%2e/security.py", "%2e%2e%2fsecurity.py", "..%5csecurity.py",
    "....//security.py", "/etc/passwd", "%2fetc%2fpasswd", "site.css/../../security.py", "site.css%00.png", "",
    "rating", "\\..\\security.py", "%c0%ae%c0%ae/security.py",
]  # fmt: skip


@pytest.mark.parametrize("name", STATIC, ids=repr)
def test_what_is_not_among_the_static_files_is_not_sent(house: House, name: str) -> None:
    reply = house.client().get(f"/static/{name}")
    assert reply.status_code in (404, 405)
    assert "import" not in reply.text


HOSTS = [
    "evil.example", "127.0.0.1.evil.example", "evil.example:8765", "", "localhost.evil.example",
    "127.0.0.1@evil.example", "0x7f.1", "169.254.169.254", "127.0.0.1, evil.example", "evil.example#127.0.0.1",
]  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_a_name_that_somebody_pointed_at_us_is_refused(house: House, rater: Person, host: str) -> None:
    """Against DNS rebinding: a foreign page whose own name leads to this machine."""
    for path in ("/", "/api/session", "/lead", "/lead/enter", f"/join/{house.tokens['us']}", "/static/site.css"):
        reply = rater.client.get(path, headers={"host": host})
        assert reply.status_code == 400
        assert "set-cookie" not in reply.headers


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8765", "LOCALHOST", "[::1]:8765"])
def test_our_own_names_are_taken(house: House, host: str) -> None:
    assert house.client().get(f"/join/{house.tokens['us']}", headers={"host": host}).status_code == 200


def test_what_a_proxy_would_say_is_not_believed(house: House) -> None:
    """Links are made of the settings, never of what a request names."""
    person = house.joined("us")
    told = {"x-forwarded-host": "evil.example", "x-forwarded-proto": "https", "x-forwarded-prefix": "/evil"}
    assert person.post("/api/resume-link", None, **told).json()["url"].startswith(f"{HOST}/resume/")
    assert "evil.example" not in person.client.get("/rate", headers=told).text


BACK = [
    "https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "welcome/../../x",
    "\t//evil.example", "/lead/../..//evil.example", "/lead\\@evil.example", "%2f%2fevil.example",
    "/lead\r\nset-cookie: a=b",
]  # fmt: skip


@pytest.mark.parametrize("back", BACK, ids=repr)
def test_no_form_leads_to_another_site(house: House, rater: Person, back: str) -> None:
    lead = house.lead()
    replies = [
        rater.client.post("/language", data={"csrf": rater.csrf, "language": "en", "back": back, "next": back}),
        lead.client.post("/lead/language", data={"csrf": lead.csrf, "language": "en", "back": back, "next": back}),
    ]
    for reply in replies:
        assert reply.status_code == 303
        assert re.fullmatch(r"/(rate|lead|welcome|done)", reply.headers["location"])
        assert "a=b" not in reply.headers.get("set-cookie", "")


def test_no_address_leads_to_another_site(house: House, rater: Person) -> None:
    for path in ("//evil.example", "//evil.example/rate", "/%2f/evil.example", "/rate/", "/lead/", "/\\evil.example"):
        reply = rater.client.get(f"{HOST}{path}")
        assert "evil.example" not in reply.headers.get("location", "")


def everything(house: House, rater: Person) -> list[Any]:
    """One response of every route, for a rater and the lead, and of what does not exist."""
    known = {"token": house.tokens["us"], "number": "1", "rater_id": rater.id, "key": key_of(house, "item-1")}
    paths = [path for method, path in routes(house.app) if method == "GET"]
    paths = [filled(path, known) for path in paths]
    people = [rater.client, house.lead().client, house.client()]
    found = [client.get(path) for client in people for path in [*paths, "/static/site.css", "/nothing", "/rate?at=x"]]
    return [*found, rater.client.put("/rate"), rater.client.post("/api/answers"), house.client().post("/lead/enter")]


def test_headers_of_every_response_forbid_what_is_not_needed(house: House, rater: Person) -> None:
    replies = everything(house, rater)
    assert len(replies) > 40
    for reply in replies:
        headers = reply.headers
        rules = dict(part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";"))
        assert rules["default-src"] == rules["frame-ancestors"] == rules["base-uri"] == "'none'", reply.url
        assert rules["script-src"] == rules["style-src"] == rules["form-action"] == "'self'"
        assert not re.search(r"unsafe|\*|data:|blob:|https?:", headers["content-security-policy"])
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] in ("same-origin", "no-referrer", "strict-origin")
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert "no-store" in headers["cache-control"] or reply.url.path.startswith(("/images/", "/static/"))
        assert "server" not in headers
        assert "strict-transport-security" not in headers
        assert reply.status_code < 500


def cookies(reply: Any) -> list[str]:
    return reply.headers.get_list("set-cookie")


def test_cookies_are_out_of_reach_of_scripts_and_of_other_sites(house: House) -> None:
    visitor = house.client()
    page = visitor.get(f"/join/{house.tokens['us']}")
    csrf = page.text.partition('name="csrf" value="')[2][:64]
    joined = visitor.post(f"/join/{house.tokens['us']}", data={"csrf": csrf, "consent": "yes", "screening.0": "yes"})
    asked = house.client()
    csrf = asked.get("/lead/enter").text.partition('name="csrf" value="')[2][:64]
    entered = asked.post("/lead/enter", data={"csrf": csrf, "secret": house.secret})
    assert entered.status_code == 303
    found = [cookie for reply in (page, joined, entered) for cookie in cookies(reply)]
    assert {cookie.partition("=")[0] for cookie in found} >= {"voirdire-visitor", "voirdire-rater", "voirdire-lead"}
    for cookie in found:
        parts = {part.strip().lower() for part in cookie.split(";")[1:]}
        assert {"httponly", "samesite=lax", "path=/"} <= parts
        assert "secure" not in parts


def test_behind_https_cookies_go_by_https_only(attacked_corpus: Path, tmp_path: Path) -> None:
    for url, path, prefix in (("https://rate.example", "/", "__Host-"), ("https://example.org/study", "/study", "")):
        database = f"sqlite:///{tmp_path / url.rpartition('/')[2]}.sqlite"
        house = House(attacked_corpus, database, public_url=url)
        client = house.client(base=url.removesuffix(path))
        reply = client.get(f"{house.settings.root}/join/{house.tokens['us']}")
        assert reply.status_code == 200
        [cookie] = cookies(reply)
        parts = {part.strip().lower() for part in cookie.split(";")[1:]}
        assert cookie.startswith(f"{prefix}voirdire-visitor=")
        assert {"secure", "httponly", "samesite=lax", f"path={path}"} <= parts
        assert reply.headers["strict-transport-security"].startswith("max-age=")
        assert client.get("/lead", headers={"host": "127.0.0.1.evil.example"}).status_code == 400
        house.close()


class FailingError(RuntimeError):
    """A fault whose words must not be shown."""


@pytest.mark.parametrize("accept", ["/rate", "/api/session", "/lead", "/api/items"])
def test_a_fault_shows_nothing_of_itself(
    house: House, rater: Person, accept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise FailingError("the innards: /srv/secret.py")  # noqa: TRY003

    rater.client.cookies.update(house.lead().client.cookies)
    for module in ("rating_pages", "rating_api", "lead_pages"):
        for name in ("desk_of", "batches"):
            if hasattr(__import__(f"voirdire.web.{module}", fromlist=[name]), name):
                monkeypatch.setattr(f"voirdire.web.{module}.{name}", fails)
    reply = rater.client.get(accept)
    assert reply.status_code == 500
    for hidden in ("innards", "Traceback", "secret.py", "FailingError", "voirdire.web"):
        assert hidden not in reply.text
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert reply.headers["cache-control"] == "no-store"


def test_a_database_that_is_gone_shows_nothing_of_itself(
    house: House, rater: Person, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def gone(*_: Any) -> None:
        raise Unavailable("annotation.unavailable", why='connection to "10.0.0.5" failed for user "voirdire"')

    monkeypatch.setattr("voirdire.web.security.rater", gone)
    for path in ("/api/session", "/rate"):
        reply = rater.client.get(path)
        assert reply.status_code == 503
        assert reply.headers["retry-after"] == "2"
        assert "10.0.0.5" not in reply.text
        assert 'for user "voirdire"' not in reply.text
    assert "10.0.0.5" in caplog.text


def test_the_interface_description_holds_nothing_of_this_study(house: House) -> None:
    told = house.client().get("/api/openapi.json").text
    for hidden in ("item-1", "secret-category", str(house.settings.corpus), house.settings.database, "injected"):
        assert hidden not in told
    for path in ("/docs", "/redoc", "/openapi.json", "/.env", "/.git/config", "/admin", "/metrics"):
        assert house.client().get(path).status_code == 404


def test_logs_of_the_program_hold_no_secret(attacked_corpus: Path, database_url: str, tmp_path: Path) -> None:
    """Requests of every kind, refused and taken, then all that the program wrote."""
    log = tmp_path / "log"
    with Program(attacked_corpus, database_url, log) as program:
        settings = Settings(str(attacked_corpus), database_url, port=program.port)
        service = open_service(settings)
        link = program.lead_link
        visitor = Visitor(program.here.url)
        token = program.here.link("us").rpartition("/")[2]
        page = visitor.http.get(f"/join/{token}?PROLIFIC_PID=known-person-7")
        form = {"csrf": csrf_of(page.text), "consent": "yes"}
        visitor.http.post(f"/join/{token}?PROLIFIC_PID=known-person-7", data=form)
        told = visitor.session()
        item = visitor.items()[0]
        visitor.answer(item, "q1", "3")
        visitor.answer(item, "q1", "99", comment="a comment that nobody may read")
        visitor.http.post("/api/answers", content=b"{" * 10)
        visitor.http.get("/join/wrong-token-of-somebody")
        cookie = visitor.http.cookies["voirdire-rater"]
        visitor.http.close()
        service.database.dispose()
    written = log.read_text(encoding="utf-8").replace(link, "")
    secrets = (
        link.partition("#")[2], token, cookie, told["csrf"], "known-person-7", "a comment that nobody", "wrong-token",
        str(service.state.signing_key), told["rater"],
    )  # fmt: skip
    for secret in secrets:
        assert secret not in written
    assert "Traceback" not in written


def test_a_password_of_the_database_is_not_shown(attacked_corpus: Path) -> None:
    settings = Settings(str(attacked_corpus), "postgresql://rater:geheim@db.example/ratings")
    assert "geheim" not in settings.shown_database
    assert "geheim" not in replace(settings, port=1).shown_database
