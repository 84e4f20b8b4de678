"""Somebody who rates several batches with one browser."""

from __future__ import annotations

import time

from tests.web.people import Visitor

from voirdire.annotation.raters import delete_rater, raters


def test_who_rated_another_batch_in_between_goes_on_as_the_same_rater(here, client):
    first = here.batch
    link = here.link("us")
    client.join(link)
    mine = client.session()["rater"]
    here.new_batch()
    client.join(here.link("us"))
    assert client.session()["rater"] != mine
    assert client.http.get(f"{link}?as=known").url.path == "/rate"
    assert client.session()["rater"] == mine
    assert len(raters(here.database, first)) == 1


def test_a_rater_who_was_deleted_in_between_joins_anew(here, client):
    link = here.link("us")
    client.join(link)
    mine = client.session()["rater"]
    here.new_batch()
    client.join(here.link("us"))
    delete_rater(here.database, mine, time.time())
    assert client.http.get(link).url.path.startswith("/join/")


def test_a_session_of_a_batch_that_was_changed_is_nobodys(here, client):
    link = here.link("us")
    client.join(link)
    held = client.http.cookies[f"voirdire-rater-{here.batch}"]
    stranger: Visitor = here.visitor()
    stranger.http.cookies.set(f"voirdire-rater-{here.batch}", held[:-3] + "aaa")
    assert stranger.http.get(link).url.path.startswith("/join/")
