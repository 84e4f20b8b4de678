"""The rater's endpoints for scripts."""

from __future__ import annotations

import json
import uuid

import pytest
from tests.web.corpora import CULTURES, EVERY_WIDGET, STUDY, THINGS, build
from tests.web.running import InProcess

from voirdire.annotation.assignments import work

KEYS = {"assignment", "number", "state", "image", "prompt", "text", "answers", "seconds"}


@pytest.fixture
def us(here, client):
    """A rater of the pool us, who has joined."""
    client.join(here.link("us"))
    client.session()
    return client


@pytest.fixture
def widgets(tmp_path):
    """A rater of a study with every kind of question."""
    corpus = build(tmp_path / "widgets", STUDY + EVERY_WIDGET)
    with InProcess(corpus, f"sqlite:///{tmp_path / 'widgets.sqlite'}") as running:
        visitor = running.here.visitor()
        visitor.join(running.here.link("us"))
        visitor.session()
        yield visitor


def test_without_a_session_there_is_nothing(here, client):
    for path in ("/api/session", "/api/items", "/rate", "/welcome", "/done"):
        assert client.http.get(path).status_code == 401
    assert client.http.get("/api/session").json()["error"]["key"] == "web.no_rater"


def test_the_session_tells_the_questions_in_the_raters_language(us):
    told = us.session()
    assert [asked["id"] for asked in told["questions"]] == ["q1", "q2", "q3", "q4"]
    assert [level["value"] for level in told["questions"][0]["levels"]] == ["1", "2", "3", "4", "5"]
    assert told["questions"][1]["widget"] == "slider"
    assert told["questions"][1]["low_end"] == "China"
    assert us.post("/api/language", {"language": "zh"}).status_code == 200
    told = us.session()
    assert (told["language"], told["questions"][1]["low_end"]) == ("zh", "中国")
    assert [one["name"] for one in told["languages"]] == ["English", "中文"]


def test_a_language_that_the_pool_does_not_have_is_refused(us):
    assert us.post("/api/language", {"language": "fr"}).status_code == 400
    assert us.session()["language"] == "en"


def test_items_come_in_the_raters_order_in_windows(here, us):
    whole = us.items()
    assert [item["number"] for item in whole] == list(range(1, 13))
    assert us.items(start=4, count=3) == whole[3:6]
    assert us.items(start=12, count=5) == whole[11:]
    assert us.items(start=13) == []
    kept = work(here.database, us.session()["rater"])
    assert [item["assignment"] for item in whole] == [one.id for one in kept]


@pytest.mark.parametrize("query", ["start=0", "start=x", "count=0", "count=21", "start=99999999999999"])
def test_windows_that_cannot_be_are_refused(us, query):
    told = us.http.get(f"/api/items?{query}")
    assert told.status_code == 422
    assert set(told.json()) == {"error"}


def test_an_item_shows_its_prompt_image_and_description(us):
    by_alt = {item["image"]["alt"]: item for item in us.items()}
    house = by_alt["A plain drawing of a house."]
    assert set(house) == KEYS
    assert house["prompt"] == {"text": "How typical is this house of a family home?", "lang": "en"}
    assert (house["image"]["width"], house["image"]["height"]) == (640, 480)
    assert "The image that is to be rated" in by_alt


def test_nothing_gives_away_items_cultures_or_the_kind_of_an_assignment(us):
    told = us.http.get("/api/session").text + json.dumps(us.items()) + us.http.get("/rate").text
    for thing, *_ in THINGS:
        assert not any(f"{thing}-{culture}" in told for culture in CULTURES)
        assert f"pair-{thing}" not in told
    for word in ("item_id", "pair", 'culture"', "indoors", "outdoors", '"kind"', "repeat", "gold", "pool"):
        assert word not in told


def test_answers_are_kept_and_shown_again(us):
    item = us.items()[0]
    told = us.answer(item, "q1", "4", comment="", seconds=3.5)
    assert told.json() == {"applied": True, "state": "open", "done": 0, "total": 12}
    us.answer(item, "q2", "2", seconds=7.25)
    again = us.items()[0]
    assert {name: answer["value"] for name, answer in again["answers"].items()} == {"q1": "4", "q2": "2"}
    assert again["seconds"] == 7.25
    us.answer(item, "q1", "5")
    us.answer(item, "q2", None)
    assert us.items()[0]["answers"] == {"q1": {"value": "5", "comment": ""}}


def test_an_item_is_done_when_every_question_is_answered(us):
    item = us.items()[0]
    states = [us.answer(item, question, "3").json() for question in ("q1", "q2", "q3", "q4")]
    assert [(told["state"], told["done"]) for told in states] == [("open", 0), ("open", 0), ("open", 0), ("done", 1)]
    progress = us.session()["progress"]
    assert (progress["done"], progress["total"], progress["first_open"]) == (1, 12, 2)


def test_the_same_key_is_applied_once(us):
    item, key = us.items()[0], uuid.uuid4().hex
    body = {"key": key, "assignment": item["assignment"], "question": "q1", "value": "2"}
    assert us.post("/api/answers", body).json()["applied"] is True
    assert us.answer(item, "q1", "5").json()["applied"] is True
    assert us.post("/api/answers", body).json()["applied"] is False
    assert us.items()[0]["answers"]["q1"]["value"] == "5"


def test_a_key_is_not_used_for_another_answer(us):
    item, key = us.items()[0], uuid.uuid4().hex
    body = {"key": key, "assignment": item["assignment"], "question": "q1", "value": "2"}
    us.post("/api/answers", body)
    told = us.post("/api/answers", {**body, "value": "3"})
    assert (told.status_code, told.json()["error"]["key"]) == (409, "annotation.key_reused")


@pytest.mark.parametrize("value", ["6", "0", "", "x", "2.5", "1e0", "<b>"])
def test_values_that_the_question_does_not_have_are_refused_in_plain_words(us, value):
    told = us.answer(us.items()[0], "q1", value)
    assert told.status_code == 400
    assert len(told.json()["error"]["message"]) > 20
    assert us.items()[0]["answers"] == {}


@pytest.mark.parametrize(
    "change",
    [
        {"key": "short"},
        {"key": "x" * 65},
        {"key": "with spaces and more"},
        {"value": 4},
        {"value": "x" * 5000},
        {"seconds": -1},
        {"seconds": "nan"},
        {"comment": None},
        {"more": 1},
        {"assignment": ""},
    ],
)
def test_answers_of_another_form_are_refused(us, change):
    body = {"key": uuid.uuid4().hex, "assignment": us.items()[0]["assignment"], "question": "q1", "value": "4"}
    assert us.post("/api/answers", {**body, **change}).status_code == 422
    assert us.items()[0]["answers"] == {}


def test_an_assignment_of_another_rater_is_not_there(here, us):
    other = here.visitor()
    other.join(here.link("us"))
    other.session()
    told = other.answer(us.items()[0], "q1", "4")
    assert (told.status_code, told.json()["error"]["key"]) == (404, "annotation.not_yours")
    assert us.items()[0]["answers"] == {}


def test_changes_need_the_token_of_the_session(us):
    item, us.csrf = us.items()[0], "0" * 64
    assert us.answer(item, "q1", "4").status_code == 403
    for path, body in (("/api/language", {"language": "zh"}), ("/api/resume-link", {}), ("/api/finish", {})):
        assert us.post(path, body).status_code == 403


def test_changes_from_another_site_are_refused(us):
    item = us.items()[0]
    body = {"key": uuid.uuid4().hex, "assignment": item["assignment"], "question": "q1", "value": "4"}
    assert us.post("/api/answers", body, origin="https://evil.example.org").status_code == 403
    assert us.post("/api/answers", body, **{"sec-fetch-site": "cross-site"}).status_code == 403


def test_a_closed_batch_takes_no_answers_and_a_reopened_one_goes_on(here, us):
    item = us.items()[0]
    here.open(False)
    told = us.answer(item, "q1", "4")
    assert (told.status_code, told.json()["error"]["key"]) == (409, "annotation.closed")
    assert us.session()["open"] is False
    here.open(True)
    assert us.answer(item, "q1", "4").status_code == 200


def test_finishing_needs_every_item(us):
    told = us.post("/api/finish", {})
    assert (told.status_code, told.json()["error"]["key"]) == (409, "rating.not_finished")
    us.rate_all()
    assert us.post("/api/finish", {}).status_code == 200
    assert us.session()["finished"] is True


def test_answers_can_be_changed_after_finishing_as_long_as_the_batch_is_open(us):
    us.rate_all()
    us.post("/api/finish", {})
    assert us.answer(us.items()[0], "q1", "5").json()["done"] == 12
    assert us.http.get("/rate?at=1").status_code == 200


def test_errors_are_in_the_raters_language(us):
    us.post("/api/language", {"language": "zh"})
    assert "12 个条目" in us.post("/api/finish", {}).json()["error"]["message"]


def test_refused_answers_are_explained_in_the_language_of_the_page(us):
    us.http.headers["accept-language"] = "zh"
    assert "题目" in us.answer(us.items()[0], "q1", "9").json()["error"]["message"]


def test_the_page_begins_where_it_is_asked_to(us):
    us.answer(us.items()[0], "q1", "3")
    for at, number in ((0, 1), (5, 5), (12, 12), (13, 1), (-3, 1)):
        data = page_data(us.http.get(f"/rate?at={at}").text)
        assert data["at"] == number
        assert number in [item["number"] for item in data["window"]["items"]]


def test_the_page_of_a_rater_who_is_done_begins_behind_the_last_item(us):
    us.rate_all()
    assert page_data(us.http.get("/rate").text)["at"] == 13


def test_every_kind_of_question_takes_its_answers(widgets):
    item = widgets.items()[0]
    good = {"q1": "not_applicable", "q2": "-2", "sure": "67", "kind": "thing", "years": "2.5", "remark": "<i>fine</i>"}
    for question, value in good.items():
        assert widgets.answer(item, question, value).status_code == 200, question
    assert {name: kept["value"] for name, kept in widgets.items()[0]["answers"].items()} == good
    bad = {"q2": "not_applicable", "sure": "101", "kind": "nothing", "years": "-1", "remark": "not\x00text"}
    for question, value in bad.items():
        assert widgets.answer(item, question, value).status_code == 400, question


def test_comments_are_kept_with_their_answer(widgets):
    item = widgets.items()[0]
    assert widgets.answer(item, "q1", "2", comment="<b>why</b>").status_code == 200
    assert widgets.items()[0]["answers"]["q1"]["comment"] == "<b>why</b>"
    assert widgets.answer(item, "q2", "1", comment="nobody asked").status_code == 400


def test_two_pools_never_see_each_others_numbers(here, us):
    us.rate_all()
    other = here.visitor()
    other.join(here.link("cn"))
    told = other.session()
    assert (told["progress"]["done"], told["progress"]["total"], told["progress"]["first_open"]) == (0, 12, 1)
    assert all(item["answers"] == {} and item["seconds"] == 0 for item in other.items())


def test_the_schema_tells_of_every_endpoint_and_its_refusals(client):
    paths = client.http.get("/api/openapi.json").json()["paths"]
    mine = {path: set(next(iter(paths[path].values()))["responses"]) for path in paths if path.startswith("/api/")}
    assert set(mine) == {
        f"/api/{name}" for name in ("session", "items", "answers", "language", "resume-link", "finish")
    }
    assert {"400", "401", "403", "404", "409", "410", "413", "422", "503"} <= mine["/api/answers"]
    assert all({"401", "503"} <= codes for codes in mine.values())


def page_data(page):
    text = page.split('id="page-data">', 1)[1].split("</script>", 1)[0]
    return json.loads(text)
