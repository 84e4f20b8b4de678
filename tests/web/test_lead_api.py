"""The lead's endpoints for scripts."""

from __future__ import annotations

import pytest
from tests.web.leads import Lead, live_at, people, pilot_of, rate
from tests.web.people import Visitor
from tests.web.running import InProcess

from voirdire.annotation.batches import batches
from voirdire.annotation.raters import rater

READS = (
    "/batches", "/batches/1", "/batches/1/progress", "/batches/1/raters", "/batches/1/statistics",
    "/batches/1/verdicts",
)  # fmt: skip
CHANGES = (
    ("PUT", "/batches/1/open", {"open": False}),
    ("DELETE", "/raters/{rater}", None),
    ("PUT", "/batches/2/verdicts", {"item_id": "cup-us", "verdict": "drop"}),
)


@pytest.fixture
def lead(inside: InProcess):
    asking = Lead(inside)
    yield asking
    asking.http.close()


@pytest.fixture
def stranger(inside: InProcess):
    """A rater, who is no lead."""
    visitor = Visitor(inside.here.url)
    visitor.join(inside.here.link("us"))
    visitor.session()
    yield visitor
    visitor.http.close()


@pytest.mark.parametrize("path", READS)
def test_only_the_lead_reads(lead: Lead, stranger: Visitor, path):
    assert lead.http.get(f"/lead/api{path}").status_code == 200
    refused = stranger.http.get(f"/lead/api{path}")
    assert refused.status_code == 401
    assert refused.json()["error"]["key"] == "web.no_lead"


@pytest.mark.parametrize(("method", "path", "body"), CHANGES)
def test_only_the_lead_changes_and_only_from_our_own_pages(
    inside: InProcess, lead: Lead, stranger: Visitor, method, path, body
):
    pilot_of(inside.service)
    (known,) = people(inside.here, "us", 1)
    url = "/lead/api" + path.format(rater=known.id)
    tokens = {"x-csrf-token": stranger.csrf}
    assert stranger.http.request(method, url, json=body, headers=tokens).status_code == 401
    for headers in ({}, {"x-csrf-token": "0" * 64}, tokens):
        assert lead.http.request(method, url, json=body, headers=headers).status_code == 403
    foreign = {"x-csrf-token": lead.csrf, "origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    assert lead.http.request(method, url, json=body, headers=foreign).status_code == 403
    assert [one.open for one in batches(inside.here.database)] == [True, True]
    assert rater(inside.here.database, known.id).state == "active"
    assert lead.ask(method, path.format(rater=known.id), body).status_code == 200


def test_progress_is_told_by_pool_and_by_rater(inside: InProcess, lead: Lead):
    rate(inside.here, people(inside.here, "us", 1))
    rate(inside.here, people(inside.here, "cn", 1), most=3)
    live_at(inside).forget(1)
    told = lead.http.get("/lead/api/batches/1/progress").json()
    pools = {pool["pool"]: pool for pool in told["pools"]}
    assert (pools["us"]["wanted"], pools["us"]["done"], pools["us"]["finished"]) == (24, 12, 1)
    assert (pools["cn"]["done"], pools["cn"]["open"], pools["cn"]["done_text"]) == (3, 9, "3 of 24")
    assert [one["state"] for one in told["raters"]] == ["finished", "active"]
    assert told["raters"][0]["median_seconds"] == 12.0
    assert told["raters"] == lead.http.get("/lead/api/batches/1/raters").json()


def test_sentences_are_in_the_leads_language(inside: InProcess, lead: Lead):
    rate(inside.here, people(inside.here, "us", 1), q1="3", q2="3", q3="3", q4="3")
    live_at(inside).forget(1)
    lead.http.cookies.set("voirdire-lang", "zh")
    (told,) = lead.http.get("/lead/api/batches/1/raters").json()
    assert told["state_text"] == "已完成"


def test_statistics_go_from_none_to_ready(inside: InProcess, lead: Lead):
    rate(inside.here, people(inside.here, "us", 2))
    first = lead.http.get("/lead/api/batches/1/statistics").json()
    assert (first["state"], first["behind"]) == ("none", True)
    lead.statistics()
    told = lead.http.get("/lead/api/batches/1/statistics").json()
    assert (told["state"], told["running"], told["behind"]) == ("ready", False, False)
    assert "96 answers" in told["message"]


def test_a_batch_is_closed_and_opened(inside: InProcess, lead: Lead):
    assert lead.ask("PUT", "/batches/1/open", {"open": False}).json() == {"open": False}
    assert lead.http.get("/lead/api/batches/1").json()["open"] is False
    assert lead.ask("PUT", "/batches/1/open", {"open": True}).status_code == 200
    assert batches(inside.here.database)[0].open


def test_a_raters_data_are_deleted_once(inside: InProcess, lead: Lead):
    (known,) = people(inside.here, "us", 1)
    rate(inside.here, [known], most=2)
    gone = lead.ask("DELETE", f"/raters/{known.id}").json()
    assert gone["answers"] == 8
    assert gone["assignments"] == 12
    assert lead.ask("DELETE", f"/raters/{known.id}").status_code == 404
    assert lead.http.get("/lead/api/batches/1/raters").json() == []


def test_verdicts_are_told_decided_and_taken_back(inside: InProcess, lead: Lead):
    pilot = pilot_of(inside.service)
    for pool in ("us", "cn"):
        rate(inside.here, people(inside.here, pool, 2, pilot.id))
    path = f"/batches/{pilot.id}/verdicts"
    told = lead.http.get(f"/lead/api{path}").json()
    assert {one["verdict"] for one in told} == {"keep"}
    assert told[0]["pools"][0]["counts"] == {"usable": 2}
    decided = {"item_id": told[0]["item_id"], "verdict": "drop", "note": "dull"}
    assert lead.ask("PUT", path, decided).json() == decided
    after = lead.http.get(f"/lead/api{path}").json()[0]
    assert (after["verdict"], after["suggested"], after["decided"], after["note"]) == ("drop", "keep", True, "dull")
    assert lead.ask("PUT", path, {**decided, "verdict": None}).status_code == 200
    assert lead.http.get(f"/lead/api{path}").json()[0]["decided"] is False


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("PUT", "/batches/1/verdicts", {"item_id": "cup-us", "verdict": "drop"}, 400),
        ("PUT", "/batches/2/verdicts", {"item_id": "nothing", "verdict": "drop"}, 404),
        ("PUT", "/batches/2/verdicts", {"item_id": "cup-us", "verdict": "maybe"}, 422),
        ("PUT", "/batches/2/verdicts", {"item_id": "cup-us", "verdict": "drop", "note": "x" * 2001}, 422),
        ("PUT", "/batches/2/verdicts", {"item_id": "cup-us", "verdict": "drop", "note": "a\x00b"}, 400),
        ("PUT", "/batches/2/verdicts", {"item_id": "a\x00b", "verdict": "drop"}, 404),
        ("PUT", "/batches/2/verdicts", {"verdict": "drop"}, 422),
        ("PUT", "/batches/99/open", {"open": True}, 404),
        ("PUT", "/batches/0/open", {"open": True}, 422),
        ("PUT", "/batches/1/open", {"open": "perhaps"}, 422),
        ("DELETE", "/raters/nobody", None, 404),
        ("DELETE", "/raters/..%2Fx", None, 404),
        ("GET", "/batches/99/progress", None, 404),
        ("GET", "/batches/4294967296/statistics", None, 422),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(inside: InProcess, lead: Lead, method, path, body, status):
    pilot_of(inside.service)
    refused = lead.ask(method, path, body)
    assert refused.status_code == status
    assert refused.json()["error"]["message"]


def test_the_schema_documents_every_endpoint_with_what_it_refuses(lead: Lead):
    schema = lead.http.get("/api/openapi.json").json()
    mine = {path: methods for path, methods in schema["paths"].items() if path.startswith("/lead/api/")}
    assert len(mine) == 8
    for path, methods in mine.items():
        for method, told in methods.items():
            assert {"200", "401", "503"} <= set(told["responses"]), path
            if method != "get":
                assert {"400", "403", "404", "413", "422"} <= set(told["responses"]), path
    assert not [path for path in schema["paths"] if path.startswith("/lead") and path not in mine]
