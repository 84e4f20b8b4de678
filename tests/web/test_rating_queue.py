"""Answers on their way: full storage, a second window, a clock that is set back, a rater whose items went back."""

from __future__ import annotations

import time

import pytest
from tests.web.at_work import DESK, browsing, given, history

from voirdire.annotation.assignments import release_expired

FULL = "() => { Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }; }"
QUESTIONS = ("q1", "q2", "q3", "q4")


@pytest.fixture
def window(here, browser):
    """A rater at a desk, with the first item before them."""
    with browsing(browser, **DESK) as opened:
        yield opened.join(here.link("us"))


def test_an_answer_changed_while_the_storage_is_full_is_not_undone_by_the_next_page(here, window):
    window.context.set_offline(True)
    window.press("4")
    window.page.wait_for_selector("#save[data-state=waiting]")
    window.page.evaluate(FULL)
    window.page.locator("input[name=q1][value='2']").check()
    window.context.set_offline(False)
    window.page.wait_for_selector("#save[data-state=saved]")
    assert given(here)[0] == {"q1": "2"}
    window.page.goto(f"{here.url}/rate")
    window.ready()
    window.saved()
    assert window.answers()[0] == "2"
    assert given(here)[0] == {"q1": "2"}


def test_an_answer_that_another_window_replaced_is_not_sent_any_more(here, window):
    second = window.context.new_page()
    for page in (window.page, second):
        page.route("**/api/answers", lambda route: route.abort())
    window.page.bring_to_front()
    window.press("4")
    window.page.wait_for_selector("#save[data-state=waiting]")
    second.goto(f"{here.url}/rate")
    second.wait_for_function("() => document.querySelector('input[name=q1]:checked')?.value === '4'")
    second.locator("input[name=q1][value='2']").check()
    second.unroute("**/api/answers")
    second.evaluate("() => window.dispatchEvent(new Event('online'))")
    second.wait_for_selector("#save[data-state=saved]")
    window.page.unroute("**/api/answers")
    window.page.evaluate("() => window.dispatchEvent(new Event('online'))")
    window.page.wait_for_selector("#save[data-state=saved]")
    assert given(here)[0] == {"q1": "2"}
    assert sum(history(here).values()) == 1


def test_a_clock_that_is_set_back_holds_no_answer_back(here, window):
    window.context.set_offline(True)
    window.press("4", "2")
    window.page.wait_for_selector("#save[data-state=waiting]")
    window.context.add_init_script("(() => { const now = Date.now; Date.now = () => now() - 3600000; })()")
    window.page.route("**/api/answers", lambda route: route.abort())
    window.context.set_offline(False)
    window.page.goto(f"{here.url}/rate")
    window.ready()
    window.page.locator("input[name=q3][value='3']").check()
    assert window.page.evaluate(
        """() => Object.keys(localStorage).filter((key) => key.startsWith('voirdire.answer.')).sort()
            .map((key) => JSON.parse(localStorage[key]).question)"""
    ) == ["q1", "q2", "q3"]
    window.page.unroute("**/api/answers")
    window.saved()
    assert given(here)[0] == {"q1": "4", "q2": "2", "q3": "3"}


def test_who_comes_back_to_an_open_page_is_not_done_before_the_items_that_are_free_again(here, client):
    client.join(here.link("us"))
    client.session()
    items = client.items()
    for number, item in enumerate(items[:5]):
        if number == 4:
            release_expired(here.database, here.batch, time.time() + 7200)
        for question in QUESTIONS:
            assert client.answer(item, question, "3").status_code == 200
    told = client.post("/api/finish", {})
    assert (told.status_code, told.json()["error"]["key"]) == (409, "rating.not_finished")
    assert client.session()["progress"]["total"] == 12
    client.rate_all()
    assert client.post("/api/finish", {}).status_code == 200


def test_the_page_of_who_comes_back_goes_on_with_the_items_that_are_free_again(here, window):
    release_expired(here.database, here.batch, time.time() + 7200)
    while window.page.is_hidden("#all-done"):
        window.press("1", "1", "1", "1", "Enter")
        window.page.wait_for_timeout(60)
    window.saved()
    done = len(given(here))
    assert done < 12
    window.page.click("#finish")
    window.until(done + 1)
    assert len(given(here)) == 12
