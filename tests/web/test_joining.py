"""Links, consent, screening, coming back, and the end."""

from __future__ import annotations

import re
import time

import pytest
from tests.web.corpora import SCREENING, STUDY, build
from tests.web.people import csrf_of
from tests.web.running import InProcess, free_port

from voirdire.annotation.invitations import invitations, invite, revoke
from voirdire.annotation.raters import rater, raters

PASSING = {"screening.0": "10-or-more", "screening.1.1": "zh"}


@pytest.fixture
def screened(tmp_path):
    """A service whose study has screening questions."""
    corpus = build(tmp_path / "screened", STUDY + SCREENING)
    with InProcess(corpus, f"sqlite:///{tmp_path / 'screened.sqlite'}") as running:
        yield running.here


def test_the_page_of_a_link_is_in_the_pools_language(here, client):
    page = client.http.get(here.link("cn"))
    assert '<html lang="zh-Hans">' in page.text
    assert "知情同意" in page.text
    assert "日常事物" in page.text


def test_another_language_of_the_pool_can_be_asked_for_and_no_other(here, client):
    link = here.link("cn")
    assert '<html lang="en">' in client.http.get(link, params={"lang": "en"}).text
    assert '<html lang="zh-Hans">' in client.http.get(link, params={"lang": "fr"}).text


def test_the_sentence_that_is_agreed_to_is_the_pools_own_where_it_has_one(tmp_path):
    study = STUDY.replace('name = "us"', 'name = "us"\nagree.en = "Yes, <I> join."', 1)
    with InProcess(build(tmp_path / "own", study), f"sqlite:///{tmp_path / 'own.sqlite'}") as running:
        link = running.here.link("us")
        visitor = running.here.visitor()
        assert '<span lang="en">Yes, &lt;I&gt; join.</span>' in visitor.http.get(link).text
        assert "我已阅读" in visitor.http.get(link, params={"lang": "zh"}).text


def test_joining_leads_to_the_first_words_and_from_there_to_rating(here, client):
    told = client.join(here.link("us"))
    assert told.status_code == 200
    assert told.url.path == "/welcome"
    assert "There are 12 items for you to rate." in told.text
    assert client.http.get("/rate").status_code == 200


def test_without_consent_nobody_joins(here, client):
    told = client.join(here.link("us"), consent="")
    assert told.status_code == 422
    assert "Taking part needs your consent." in told.text
    assert raters(here.database, 1) == []


def test_switching_the_language_of_the_form_keeps_what_was_chosen(screened):
    client = screened.visitor()
    link = screened.link("us")
    fields = {"csrf": csrf_of(client.http.get(link).text), "switch": "zh", **PASSING}
    page = client.send(link, fields)
    assert page.status_code == 200
    assert "您每周使用社交媒体多少小时？" in page.text
    assert 'value="10-or-more" checked' in page.text
    assert 'name="screening.1.1" value="zh" checked' in page.text
    assert raters(screened.database, 1) == []
    client.send(link, {"csrf": csrf_of(page.text), "language": "zh", "consent": "yes", **PASSING})
    assert [one.language for one in raters(screened.database, 1)] == ["zh"]


def test_unanswered_screening_questions_are_named(screened):
    told = screened.visitor().join(screened.link("us"), **{"screening.0": "10-or-more"})
    assert told.status_code == 422
    assert "Please answer: Which languages do you read fluently?" in told.text
    assert "Please answer: How many hours" not in told.text


def test_only_answers_that_the_study_keeps_are_stored(screened):
    screened.visitor().join(screened.link("us"), **PASSING)
    assert [(one.state, dict(one.attributes)) for one in raters(screened.database, 1)] == [
        ("active", {"hours": "10-or-more"})
    ]


def test_who_does_not_pass_screening_is_told_so_and_nothing_is_stored_of_the_answers(screened):
    client = screened.visitor()
    told = client.join(screened.link("us"), **{**PASSING, "screening.0": "below-10"})
    assert "Thank you for your interest" in told.text
    assert "VD-7F3K" not in told.text
    assert [(one.state, dict(one.attributes)) for one in raters(screened.database, 1)] == [("screened_out", {})]


def test_who_was_screened_out_cannot_try_again_in_the_same_browser(screened):
    client = screened.visitor()
    link = screened.link("us")
    client.join(link, **{**PASSING, "screening.0": "below-10"})
    assert "Thank you for your interest" in client.http.get(link).text
    assert "Thank you for your interest" in client.http.get("/done").text
    assert client.http.get("/rate").text == client.http.get("/welcome").text


def test_options_that_do_not_exist_count_as_not_chosen(screened):
    told = screened.visitor().join(screened.link("us"), **{**PASSING, "screening.0": "a-million"})
    assert told.status_code == 422


def test_the_same_platform_id_resumes_in_another_browser(here):
    link = f"{here.link('us')}?PROLIFIC_PID=5f2a&STUDY_ID=s&SESSION_ID=t"
    first, second = here.visitor(), here.visitor()
    first.join(link)
    told = second.http.get(link)
    assert told.url.path == "/rate"
    assert first.session()["rater"] == second.session()["rater"]


def test_another_platform_id_is_another_person_even_in_the_same_browser(here, client):
    link = here.link("us")
    client.join(f"{link}?PROLIFIC_PID=one")
    first = client.session()["rater"]
    client.join(f"{link}?PROLIFIC_PID=two")
    assert client.session()["rater"] != first


def test_a_platform_id_that_was_not_filled_in_is_none(here):
    link = f"{here.link('us')}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}"
    first, second = here.visitor(), here.visitor()
    first.join(link)
    second.join(link)
    assert first.session()["rater"] != second.session()["rater"]


def test_a_link_for_many_resumes_in_the_same_browser_and_is_new_in_another(here):
    link = here.link("us")
    first, second = here.visitor(), here.visitor()
    first.join(link)
    assert "Welcome back" in first.http.get(link).text
    assert first.http.get(f"{link}?as=known").url.path == "/rate"
    assert second.http.get(link).url.path.startswith("/join/")


def test_two_people_at_one_device_are_two_raters(here, client):
    link = here.link("us")
    client.join(link)
    mine = client.session()["rater"]
    client.join(f"{link}?as=new")
    assert client.session()["rater"] != mine
    assert len(raters(here.database, 1)) == 2


def test_who_was_screened_out_is_not_somebody_else_in_the_same_browser(screened):
    client, link = screened.visitor(), screened.link("us")
    client.join(link, **{**PASSING, "screening.0": "below-10"})
    assert "Thank you for your interest" in client.http.get(f"{link}?as=new").text


def test_a_personal_link_resumes_anywhere(here):
    link = here.link("us", people=1)
    first, second = here.visitor(), here.visitor()
    first.join(link)
    assert second.http.get(link).url.path == "/rate"
    assert first.session()["rater"] == second.session()["rater"]


def test_a_link_lets_in_as_many_as_it_is_for(here):
    link = here.link("us", people=2)
    here.visitor().join(link)
    here.visitor().join(link)
    third = here.visitor().http.get(link)
    assert third.status_code == 409
    assert "This link has been used" in third.text
    assert len(raters(here.database, 1)) == 2


def test_the_last_place_of_a_link_goes_to_who_fills_in_the_form_first(here):
    link = here.link("us", people=2)
    late = here.visitor()
    csrf = csrf_of(late.http.get(link).text)
    for _ in range(2):
        here.visitor().join(link)
    told = late.send(link, {"csrf": csrf, "consent": "yes"})
    assert told.status_code == 409
    assert len(raters(here.database, 1)) == 2


def test_a_revoked_link_does_not_work(here, client):
    invitation, token = invite(here.database, 1, "us", now=time.time())
    revoke(here.database, invitation.id, time.time())
    told = client.http.get(f"/join/{token}")
    assert told.status_code == 404
    assert "This link does not work" in told.text


def test_guessing_links_is_stopped(here, client):
    assert {client.http.get(f"/join/guess-{number}").status_code for number in range(20)} == {404}
    assert client.http.get("/join/guess-more").status_code == 429
    assert client.http.get(here.link("us")).status_code == 429


def test_guessing_links_to_resume_is_stopped_as_well(here, client):
    assert {client.http.get(f"/resume/guess-{number}").status_code for number in range(20)} == {404}
    assert client.http.get("/resume/guess-more").status_code == 429


def test_a_closed_batch_lets_nobody_in(here, client):
    link = here.link("us")
    here.open(False)
    told = client.http.get(link)
    assert told.status_code == 409
    assert "This study is closed" in told.text


def test_a_batch_that_closes_while_the_form_is_filled_in_lets_nobody_in(here, client):
    link = here.link("us")
    csrf = csrf_of(client.http.get(link).text)
    here.open(False)
    told = client.send(link, {"csrf": csrf, "consent": "yes"})
    assert told.status_code == 409
    assert raters(here.database, 1) == []


def test_a_form_from_elsewhere_is_refused(here, client):
    link = here.link("us")
    client.http.get(link)
    assert client.send(link, {"csrf": "0" * 64, "consent": "yes"}).status_code == 403
    assert raters(here.database, 1) == []


def test_a_form_without_a_session_is_refused(here, client):
    assert client.send(here.link("us"), {"csrf": "0" * 64, "consent": "yes"}).status_code == 401


def test_a_resume_link_opens_the_same_work_on_another_device(here, client):
    client.join(here.link("us"))
    client.session()
    item = client.items()[0]
    assert client.answer(item, "q1", "4").status_code == 200
    url = client.post("/api/resume-link", {}).json()["url"]
    other = here.visitor()
    assert other.http.get(url).url.path == "/rate"
    assert other.items()[0]["answers"] == {"q1": {"value": "4", "comment": ""}}


def test_a_new_resume_link_ends_the_one_before(here, client):
    client.join(here.link("us"))
    client.session()
    first = client.post("/api/resume-link", {}).json()["url"]
    second = client.post("/api/resume-link", {}).json()["url"]
    assert here.visitor().http.get(first).status_code == 404
    assert here.visitor().http.get(second).status_code == 200


def test_when_all_items_are_given_out_people_are_told_before_they_join(here):
    late = here.visitor()
    link = here.link("us")
    csrf = csrf_of(late.http.get(link).text)
    for _ in range(2):
        here.visitor().join(link)
    for told in (here.visitor().http.get(link), late.send(link, {"csrf": csrf, "consent": "yes"})):
        assert told.status_code == 409
        assert "Nothing to rate now" in told.text
    assert len(raters(here.database, 1)) == 2
    assert "Nothing to rate now" not in here.visitor().join(here.link("cn"), language="en").text


def test_the_end_shows_code_and_link_only_after_finishing(here, client):
    client.join(here.link("us"))
    assert client.http.get("/done").url.path == "/rate"
    client.rate_all()
    assert client.http.get("/done").url.path == "/rate"
    told = client.post("/api/finish", {})
    assert told.json() == {"url": "/done"}
    page = client.http.get("/done")
    assert "You have rated 12 items." in page.text
    assert "VD-7F3K" in page.text
    assert "https://platform.example.org/complete?code=VD-7F3K" in page.text


def test_who_had_only_to_finish_when_the_batch_closed_gets_the_code(here, client):
    client.join(here.link("us"))
    client.rate_all()
    here.open(False)
    assert client.http.get("/rate").url.path == "/done"
    assert "VD-7F3K" in client.http.get("/done").text


def test_who_was_not_done_when_the_batch_closed_is_told_so(here, client):
    client.join(here.link("us"))
    here.open(False)
    page = client.http.get("/rate")
    assert "This study is closed" in page.text
    assert "VD-7F3K" not in page.text


def test_pages_change_their_language_by_a_form(here, client):
    page = client.join(here.link("us"))
    told = client.http.post("/language", data={"csrf": csrf_of(page.text), "language": "zh", "back": "welcome"})
    assert told.url.path == "/welcome"
    assert "共有 12 个条目等您评分。" in told.text


def test_going_back_leads_to_no_other_site(here, client):
    page = client.join(here.link("us"))
    fields = {"csrf": csrf_of(page.text), "language": "zh", "back": "/evil.example.org"}
    told = client.http.post("/language", data=fields, follow_redirects=False)
    assert told.headers["location"] == "/rate"


def test_texts_of_a_study_are_shown_as_text(tmp_path):
    study = STUDY.replace("Everyday things", "<script>alert(1)</script> & things")
    with InProcess(build(tmp_path / "evil", study), f"sqlite:///{tmp_path / 'evil.sqlite'}") as running:
        client = running.here.visitor()
        link = running.here.link("us")
        pages = [client.http.get(link).text, client.join(link).text, client.http.get("/rate").text]
    assert all("&lt;script&gt;alert(1)&lt;/script&gt; &amp; things" in page for page in pages)
    assert not any("<script>alert" in page for page in pages)


def test_a_platform_id_is_not_stored_as_such(here, client, tmp_path):
    client.join(f"{here.link('us')}?PROLIFIC_PID=5f2ac0ffee5f2ac0ffee")
    here.database.dispose()
    assert b"5f2ac0ffee5f2ac0ffee" not in b"".join(file.read_bytes() for file in tmp_path.glob("store.sqlite*"))


def test_a_rater_whose_data_were_deleted_is_not_known_any_more(here, client):
    from voirdire.annotation.raters import delete_rater

    client.join(here.link("us"))
    who = client.session()["rater"]
    delete_rater(here.database, who, time.time())
    assert client.http.get("/rate").status_code == 401
    assert rater(here.database, who).state == "deleted"


def test_links_count_who_joined(here):
    link = here.link("us")
    here.visitor().join(link)
    here.visitor().join(link)
    assert [one.joined for one in invitations(here.database, 1)] == [2]


def test_scripts_and_styles_are_kept_and_asked_for_again_by_their_mark(client):
    for name in ("site.css", "rating.css", "rating.js", "rating/queue.js"):
        told = client.http.get(f"/static/{name}")
        assert (told.status_code, told.headers["cache-control"]) == (200, "no-cache")
        assert client.http.get(f"/static/{name}", headers={"if-none-match": told.headers["etag"]}).status_code == 304


@pytest.mark.parametrize("path", ["/study", "/a/b"])
def test_below_a_path_every_address_lies_below_it(corpus, tmp_path, path):
    port = free_port()
    url = f"http://127.0.0.1:{port}{path}"
    with InProcess(corpus, f"sqlite:///{tmp_path / 'below.sqlite'}", public_url=url, port=port) as running:
        client = running.here.visitor()
        link = f"{url}/join/{running.here.link('us').rsplit('/', 1)[1]}"
        page = client.join(link)
        assert page.url.path == f"{path}/welcome"
        assert f'href="{path}/rate"' in page.text
        rating = client.http.get(f"{path}/rate").text
        found = re.findall(r'(?:src|href|action)="(/[^"]*)"', rating)
        assert found
        assert all(address.startswith(f"{path}/") for address in found)
        assert all(client.http.get(address).status_code == 200 for address in found if "/static/" in address)
        items = client.http.get(f"{path}/api/items").json()["items"]
        assert client.http.get(items[0]["image"]["url"]).status_code == 200
        client.csrf = client.http.get(f"{path}/api/session").json()["csrf"]
        made = client.post(f"{path}/api/resume-link", {}).json()["url"]
        assert made.startswith(f"{url}/resume/")
