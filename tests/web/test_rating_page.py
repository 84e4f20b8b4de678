"""Whole raters at a browser, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest
from tests.web.at_work import DESK, PHONE, browsing, given, history

from voirdire.annotation.raters import raters

HEADINGS = {"us": "Thank you", "cn": "谢谢您"}


def expected(number: int) -> list[str]:
    """Answers to the four questions of an item, different for each."""
    return [str(1 + (number + question) % 5) for question in range(4)]


@pytest.mark.parametrize(("program", "pool"), [("sqlite", "us"), ("postgresql", "cn")], indirect=["program"])
def test_a_rater_of_each_pool_rates_with_the_keyboard_alone(server, browser, pool):
    with browsing(browser, **DESK) as window:
        page = window.page
        page.goto(server.here.link(pool))
        window.tab_to("#consent")
        window.press("Space")
        window.tab_to("#join .button.primary")
        window.press("Enter")
        page.wait_for_url("**/welcome")
        window.tab_to(".button.primary")
        window.press("Enter")
        window.ready()
        for number in range(1, 13):
            window.until(number)
            window.press(*expected(number), "Enter")
        page.wait_for_selector("#all-done:not([hidden])")
        window.tab_to("#finish")
        window.press("Enter")
        page.wait_for_url("**/done")
        assert page.inner_text("h1") == HEADINGS[pool]
        assert "VD-7F3K" in page.inner_text("main")
    assert [list(item.values()) for item in given(server.here)] == [expected(number) for number in range(1, 13)]
    assert set(history(server.here).values()) == {1}
    assert [(one.pool, one.state) for one in raters(server.here.database, server.here.batch)] == [(pool, "finished")]


@pytest.mark.parametrize(("program", "pool"), [("sqlite", "us"), ("postgresql", "cn")], indirect=["program"])
def test_a_rater_of_each_pool_rates_by_touch(server, browser, pool):
    with browsing(browser, **PHONE) as window:
        page = window.page
        page.goto(server.here.link(pool))
        page.tap("#consent")
        page.tap("#join .button.primary")
        page.wait_for_url("**/welcome")
        page.tap(".button.primary")
        window.ready()
        for number in range(1, 13):
            window.until(number)
            for question, value in enumerate(expected(number), start=1):
                page.locator(f"input[name=q{question}][value='{value}']").tap()
            page.tap("#next")
        page.tap("#finish")
        page.wait_for_url("**/done")
        assert page.inner_text("h1") == HEADINGS[pool]
    assert [list(item.values()) for item in given(server.here)] == [expected(number) for number in range(1, 13)]
    assert set(history(server.here).values()) == {1}


def test_a_rater_switches_the_language_on_the_way_and_loses_nothing(server, browser):
    with browsing(browser, **DESK) as window:
        window.join(server.here.link("us"))
        window.press(*expected(1), "Enter")
        window.until(2)
        window.press("5", "4")
        window.page.click(".bar button[value=zh]")
        window.page.wait_for_selector("html[lang=zh-Hans]")
        window.ready()
        assert window.number == 2
        assert window.answers() == ["5", "4", None, None]
        assert "有多典型" in window.prompt
        window.press("3", "2", "Enter")
        window.until(3)
        window.saved()
        window.page.click(".bar button[value=en]")
        window.page.wait_for_selector("html[lang=en]")
        window.ready()
        assert window.number == 3
    rated = given(server.here)
    assert [list(item.values()) for item in rated[:2]] == [expected(1), ["5", "4", "3", "2"]]


def test_an_answer_that_is_saved_while_the_next_page_is_made_is_shown_there(server, browser):
    """The page is made before the answer arrives, and comes after the old page has heard that it is saved."""
    with browsing(browser, **DESK) as window:
        window.join(server.here.link("us"))
        page, sent, made = window.page, [], []
        page.route("**/api/answers", lambda route: sent.append(route))
        page.route("**/rate?at=*", lambda route: made.append((route, route.fetch())))
        window.press("5")
        page.click(".bar button[value=zh]")
        while not (sent and made):
            page.wait_for_timeout(20)
        page.unroute("**/api/answers")
        with page.expect_response("**/api/answers"):
            sent[0].continue_()
        page.wait_for_timeout(100)
        route, reply = made[0]
        route.fulfill(response=reply)
        page.wait_for_selector("html[lang=zh-Hans]")
        window.ready()
        assert window.answers() == ["5", None, None, None]
        window.saved()
        assert list(given(server.here)[0].values())[:1] == ["5"]
        assert set(history(server.here).values()) == {1}


def test_a_rater_leaves_and_resumes_on_another_device(server, browser):
    with browsing(browser, **DESK) as first:
        first.join(server.here.link("us"))
        for number in range(1, 4):
            first.until(number)
            first.press(*expected(number), "Enter")
        first.until(4)
        first.press("2")
        first.saved()
        first.press("?")
        first.page.click("#device-make")
        first.page.wait_for_selector("#device:not([hidden])")
        link = first.page.input_value("#device-link")
    with browsing(browser, **PHONE) as second:
        second.page.goto(link)
        second.ready()
        assert second.number == 4
        assert second.answers() == ["2", None, None, None]
        assert second.page.inner_text("#progress-text") == "3 of 12"
        second.page.tap("#back")
        second.until(3)
        assert second.answers() == expected(3)
    assert len(raters(server.here.database, server.here.batch)) == 1


def test_answers_given_without_a_network_are_sent_when_it_returns_each_once(server, browser):
    with browsing(browser, **DESK) as window:
        window.join(server.here.link("us"))
        window.page.wait_for_load_state("networkidle")
        window.context.set_offline(True)
        for number in range(1, 6):
            window.until(number)
            window.press(*expected(number), "Enter")
        window.until(6)
        window.page.wait_for_selector("#save[data-state=waiting]")
        assert "20 kept here" in window.page.inner_text("#save")
        assert window.waiting() == 20
        assert window.page.inner_text("#progress-text") == "5 of 12"
        assert window.page.evaluate("document.querySelector('#frame img').naturalWidth") == 640
        assert given(server.here)[0] == {}
        window.context.set_offline(False)
        window.saved()
        for number in range(6, 13):
            window.until(number)
            window.press(*expected(number), "Enter")
        window.page.click("#finish")
        window.page.wait_for_url("**/done")
    assert [list(item.values()) for item in given(server.here)] == [expected(number) for number in range(1, 13)]
    assert set(history(server.here).values()) == {1}


def test_answers_kept_by_the_browser_are_sent_by_the_next_page(server, browser):
    with browsing(browser, **DESK) as window:
        window.join(server.here.link("us"))
        window.context.set_offline(True)
        window.press("5", "4", "3")
        window.page.wait_for_selector("#save[data-state=waiting]")
        window.page.close()
        window.context.set_offline(False)
        page = window.page = window.context.new_page()
        page.goto(f"{server.here.url}/rate")
        window.ready()
        assert window.answers() == ["5", "4", "3", None]
        window.saved()
    assert given(server.here)[0] == {"q1": "5", "q2": "4", "q3": "3"}
    assert set(history(server.here).values()) == {1}


def test_a_window_of_items_that_has_run_out_is_waited_for(server, browser):
    with browsing(browser, **DESK) as window:
        window.join(server.here.link("us"))
        window.page.wait_for_load_state("networkidle")
        window.context.set_offline(True)
        while window.page.is_hidden("#waiting"):
            window.press("1", "1", "1", "1", "Enter")
            window.page.wait_for_timeout(50)
        reached = window.number
        assert reached >= 5
        assert "Waiting for the network" in window.page.inner_text("#waiting")
        window.press("Enter", "Enter", "5")
        assert window.number == reached
        window.context.set_offline(False)
        window.page.wait_for_selector("#desk:not([hidden])")
        window.saved()
    assert sum(len(item) == 4 for item in given(server.here)) == reached - 1
