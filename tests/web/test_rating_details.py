"""What single keys, clicks and troubles do on the rating page."""

from __future__ import annotations

import json
import time

import pytest
from tests.web.at_work import DESK, PHONE, browsing, given, history
from tests.web.corpora import EVERY_WIDGET, STUDY, build
from tests.web.running import InProcess

from voirdire.annotation.assignments import release_expired


@pytest.fixture
def window(here, browser):
    """A rater at a desk, with the first item before them."""
    with browsing(browser, **DESK) as opened:
        yield opened.join(here.link("us"))


@pytest.fixture
def widgets(tmp_path):
    """A service whose study has every kind of question."""
    with InProcess(build(tmp_path / "all", STUDY + EVERY_WIDGET), f"sqlite:///{tmp_path / 'all.sqlite'}") as running:
        yield running.here


def test_a_digit_answers_the_question_that_has_the_focus_and_moves_on(window):
    assert window.focused() == "q1"
    window.press("4")
    assert window.focused() == "q2"
    window.press("2", "3")
    assert window.focused() == "q4"
    window.press("5")
    assert window.focused() == "next"
    assert window.answers() == ["4", "2", "3", "5"]


def test_digits_beyond_the_scale_do_nothing(window):
    window.press("6", "9", "0")
    assert window.answers() == [None] * 4
    assert window.focused() == "q1"


def test_arrows_move_within_a_scale_and_count_as_one_answer(here, window):
    window.press("3")
    window.press("Space", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft")
    assert window.answers() == ["3", "3", None, None]
    window.saved()
    assert given(here)[0] == {"q1": "3", "q2": "3"}
    assert set(history(here).values()) == {1}


def test_enter_names_the_question_that_lacks_an_answer(window):
    window.press("4", "2")
    window.press("Enter")
    assert window.number == 1
    assert window.focused() == "q3"
    assert window.page.text_content("#told") == "Question 3 still needs an answer."


@pytest.mark.parametrize("key", ["Backspace", "u"])
def test_undo_takes_the_last_answer_back_and_then_goes_to_the_item_before(here, window, key):
    window.press("4", "2", "3", "5", "Enter")
    window.until(2)
    window.press("1", "2")
    window.press(key)
    assert window.answers() == ["1", None, None, None]
    assert window.focused() == "q2"
    window.press(key)
    assert window.answers() == [None] * 4
    window.press(key)
    window.until(1)
    assert window.answers() == ["4", "2", "3", "5"]
    window.saved()
    assert given(here)[1] == {}


def test_undo_brings_an_earlier_answer_back(here, window):
    window.press("4", "2", "3", "5", "Enter")
    window.until(2)
    window.press("Backspace")
    window.until(1)
    window.press("1")
    assert window.answers()[0] == "1"
    window.press("u")
    assert window.answers()[0] == "4"
    window.saved()
    assert given(here)[0]["q1"] == "4"


def test_going_back_and_changing_an_answer_changes_it_once(here, window):
    window.press("4", "2", "3", "5", "Enter")
    window.until(2)
    window.page.click("#back")
    window.until(1)
    window.page.locator("input[name=q3][value='1']").check()
    window.saved()
    assert given(here)[0] == {"q1": "4", "q2": "2", "q3": "1", "q4": "5"}
    assert window.page.inner_text("#progress-text") == "1 of 12"


def test_taking_an_answer_back_takes_the_item_out_of_the_progress(window):
    window.press("4", "2", "3", "5")
    assert window.page.inner_text("#progress-text") == "1 of 12"
    window.press("u")
    assert window.page.inner_text("#progress-text") == "0 of 12"
    window.saved()
    assert window.page.inner_text("#progress-text") == "0 of 12"


def test_single_keys_can_be_switched_off_and_stay_off(here, window):
    window.press("?")
    window.page.uncheck("#single-keys")
    window.press("Escape")
    window.press("4", "u", "z", "?")
    assert window.answers() == [None] * 4
    assert window.page.is_hidden("#zoom")
    assert window.page.is_hidden("#help")
    window.page.reload()
    window.ready()
    window.press("4")
    assert window.answers() == [None] * 4
    window.page.click("#help-open")
    assert window.page.is_checked("#single-keys") is False


def test_the_image_is_enlarged_and_escape_closes(window):
    window.press("z")
    assert window.page.is_visible("#zoom")
    assert window.page.get_attribute("#zoom-image", "alt") == window.page.get_attribute("#frame img", "alt")
    wide = window.page.evaluate("document.getElementById('zoom-image').clientWidth")
    window.press("+")
    assert window.page.evaluate("document.getElementById('zoom-image').clientWidth") == 2 * wide
    window.press("4")
    window.press("Escape")
    assert window.page.is_hidden("#zoom")
    assert window.answers() == [None] * 4
    assert window.focused() == "q1"


def test_keys_still_answer_after_a_window_was_opened_by_a_click(window):
    for opener in ("#zoom-open", "#help-open"):
        window.page.click(opener)
        window.press("Escape")
    window.press("4", "2", "3", "5", "Enter")
    window.until(2)


def test_an_answer_to_a_closed_batch_is_kept_and_sent_when_it_is_open_again(here, window):
    window.press("4")
    window.saved()
    here.open(False)
    window.press("2")
    window.page.wait_for_selector("#problem:not([hidden])")
    assert window.page.inner_text("#problem-text").startswith("This study is closed at the moment")
    assert window.page.inner_text("#save") == "Closed: 1 kept here"
    assert window.answers() == ["4", "2", None, None]
    window.press("5", "Backspace")
    assert window.answers() == ["4", "2", None, None]
    assert window.waiting() == 1
    assert given(here)[0] == {"q1": "4"}
    here.open(True)
    window.page.wait_for_function("() => !document.getElementById('questions').inert", timeout=8000)
    window.saved()
    assert window.page.is_hidden("#problem")
    assert given(here)[0] == {"q1": "4", "q2": "2"}
    window.press("3", "5", "Enter")
    window.until(2)
    window.saved()
    assert given(here)[0] == {"q1": "4", "q2": "2", "q3": "3", "q4": "5"}


@pytest.mark.parametrize("status", [429, 502, 503])
def test_a_busy_service_is_tried_again(here, window, status):
    times = []

    def busy(route):
        times.append(route.request.post_data_json["key"])
        if len(times) <= 2:
            body = json.dumps({"error": {"key": "web.busy", "message": "busy"}})
            route.fulfill(status=status, body=body, content_type="application/json")
        else:
            route.continue_()

    window.page.route("**/api/answers", busy)
    window.press("4")
    window.page.wait_for_selector("#save[data-state=waiting]")
    window.saved()
    assert len(set(times)) == 1
    assert given(here)[0] == {"q1": "4"}


def test_an_answer_whose_response_was_lost_counts_once(here, window):
    lost = []

    def lose(route):
        if not lost:
            lost.append(route.fetch().status)
            route.abort()
        else:
            route.continue_()

    window.page.route("**/api/answers", lose)
    window.press("4")
    window.page.wait_for_selector("#save[data-state=waiting]")
    window.saved()
    assert lost == [200]
    assert given(here)[0] == {"q1": "4"}
    assert set(history(here).values()) == {1}


def test_a_session_that_began_anew_in_another_window_is_taken_up(here, window):
    link = window.page.evaluate(
        """async () => {
            const data = JSON.parse(document.getElementById('page-data').textContent);
            const headers = {'content-type': 'application/json', 'x-csrf-token': data.session.csrf};
            const made = await fetch('/api/resume-link', {method: 'POST', headers, body: '{}'});
            return (await made.json()).url;
        }"""
    )
    window.context.clear_cookies()
    other = window.context.new_page()
    other.goto(link)
    window.page.bring_to_front()
    window.press("4")
    window.saved()
    assert given(here)[0] == {"q1": "4"}


def test_another_persons_session_gets_no_answers_of_this_one(here, window):
    other = window.context.new_page()
    other.goto(f"{here.link('us')}?PROLIFIC_PID=another")
    other.check("#consent")
    other.click("#join .button.primary")
    other.wait_for_url("**/welcome")
    window.page.bring_to_front()
    window.press("4")
    window.page.wait_for_selector("#problem:not([hidden])")
    assert "Another person" in window.page.inner_text("#problem-text")
    assert window.waiting() == 1
    assert given(here, 0) == given(here, 1) == [{}] * 12


def test_without_a_session_answers_are_kept_until_there_is_one(here, window):
    cookies = window.context.cookies()
    window.context.clear_cookies()
    window.press("4")
    window.page.wait_for_selector("#problem:not([hidden])")
    assert "no longer signed in" in window.page.inner_text("#problem-text")
    assert window.waiting() == 1
    window.context.add_cookies(cookies)
    window.saved()
    assert given(here)[0] == {"q1": "4"}


def test_an_image_that_failed_is_loaded_again(here, browser):
    with browsing(browser, **DESK) as window:
        failed = []
        window.page.route(
            "**/images/*",
            lambda route: route.abort() if not failed.append(1) and len(failed) <= 6 else route.continue_(),
        )
        window.join(here.link("us"))
        window.page.wait_for_function("() => document.querySelector('#frame img').naturalWidth === 640")


def test_the_next_items_and_their_images_are_fetched_ahead(here, browser):
    with browsing(browser, **DESK) as window:
        fetched = []
        window.page.on("request", lambda request: fetched.append(request.url) if "/images/" in request.url else None)
        window.join(here.link("us"))
        window.page.wait_for_load_state("networkidle")
        assert len(set(fetched)) == 6
        window.press("1", "1", "1", "1", "Enter")
        window.until(2)
        window.page.wait_for_load_state("networkidle")
        assert len(set(fetched)) == 7
        assert len(fetched) == 7


def test_the_time_spent_is_counted_and_sent(here, window):
    window.page.wait_for_timeout(1200)
    window.press("4")
    window.saved()
    data = window.page.evaluate("async () => (await (await fetch('/api/session')).json()).progress.seconds")
    assert 1.0 <= data < 60.0
    assert window.page.inner_text("#time") == "< 1 min"


def test_who_comes_back_after_others_got_the_items_goes_on_to_the_end(here, window):
    window.press("4", "2", "3", "5", "Enter")
    window.until(2)
    window.page.wait_for_load_state("networkidle")
    window.saved()
    later = time.time() + 7200
    release_expired(here.database, here.batch, later)
    for _ in range(2):
        here.visitor().join(here.link("us"))
    window.context.set_offline(True)
    for number in range(2, 8):
        window.until(number)
        window.press("1", "1", "1", "1", "Enter")
    window.context.set_offline(False)
    window.page.wait_for_selector("#all-done:not([hidden])")
    window.saved()
    rated = [item for item in given(here) if item]
    assert rated[0] == {"q1": "4", "q2": "2", "q3": "3", "q4": "5"}
    assert len(rated) >= 7
    window.page.click("#finish")
    window.page.wait_for_url("**/done")


def test_who_answers_slowly_after_others_got_the_items_is_not_held_at_one(here, window):
    window.press("4", "2", "3", "5", "Enter")
    window.until(2)
    window.saved()
    release_expired(here.database, here.batch, time.time() + 7200)
    for _ in range(2):
        here.visitor().join(here.link("us"))
    for _ in range(4):
        window.press("1")
        window.saved()
    assert window.answers() == ["1", "1", "1", "1"]
    window.press("Enter")
    window.page.wait_for_function("() => !document.getElementById('foot-where').textContent.startsWith('2')")
    assert window.page.is_visible("#all-done") or window.number == 3
    assert [item for item in given(here) if item][1] == dict.fromkeys(("q1", "q2", "q3", "q4"), "1")


def test_another_language_needs_the_network_and_says_so(window):
    window.context.set_offline(True)
    window.press("4")
    window.page.click(".bar button[value=zh]")
    window.page.wait_for_selector("#problem:not([hidden])")
    assert window.page.inner_text("#problem-text").startswith("This needs the network.")
    window.press("2")
    assert window.answers() == ["4", "2", None, None]
    window.page.click("#problem-close")
    assert window.page.is_hidden("#problem")
    window.context.set_offline(False)
    window.saved()


def test_a_refusal_of_another_form_stops_nothing(here, window):
    refusals = []

    def refuse(route):
        refusals.append(1)
        if len(refusals) == 1:
            route.fulfill(status=400, body="{}", content_type="application/json")
        else:
            route.continue_()

    window.page.route("**/api/answers", refuse)
    window.press("4")
    window.page.wait_for_selector("#problem:not([hidden])")
    assert window.answers()[0] is None
    window.page.locator("input[name=q1][value='3']").check()
    window.saved()
    assert given(here)[0] == {"q1": "3"}


def test_answers_of_two_windows_count_once(here, window):
    window.context.set_offline(True)
    window.press("4", "2", "3", "5")
    window.page.wait_for_selector("#save[data-state=waiting]")
    window.context.set_offline(False)
    second = window.context.new_page()
    second.goto(f"{here.url}/rate")
    window.page.bring_to_front()
    window.saved()
    second.wait_for_selector("#save[data-state=saved]")
    assert given(here)[0] == {"q1": "4", "q2": "2", "q3": "3", "q4": "5"}
    assert set(history(here).values()) == {1}


def test_a_slider_follows_the_pointer(window):
    track = window.page.locator(".track").bounding_box()
    middle = track["y"] + track["height"] / 2
    window.page.mouse.move(track["x"] + 0.1 * track["width"], middle)
    window.page.mouse.down()
    for share in (0.3, 0.5, 0.72):
        window.page.mouse.move(track["x"] + share * track["width"], middle)
    window.page.mouse.up()
    assert window.answers()[1] == "4"
    window.saved()


def test_every_kind_of_question_is_answered_with_the_keyboard(widgets, browser):
    with browsing(browser, **DESK) as window:
        window.join(widgets.link("us"))
        window.press("0")
        window.press("4")
        assert window.page.evaluate("document.querySelector('.range').classList.contains('unset')") is True
        assert window.page.get_attribute("input[type=range]", "aria-valuetext") == "not answered"
        window.press("ArrowRight", "ArrowRight", "Tab", "Tab")
        window.press("2")
        window.page.keyboard.type("7,5")
        window.press("Tab", "Tab")
        window.page.keyboard.type("A <b>remark</b>")
        window.press("Tab")
        window.saved()
    assert given(widgets)[0] == {
        "q1": "not_applicable", "q2": "1", "sure": "52", "kind": "thing", "years": "7.5", "remark": "A <b>remark</b>",
    }  # fmt: skip


def test_a_box_that_may_stay_empty_takes_no_keys_and_is_left_by_the_keyboard(widgets, browser):
    with browsing(browser, **DESK) as window:
        window.join(widgets.link("us"))
        window.press("4", "4", "ArrowRight", "Tab", "Tab", "2")
        window.page.keyboard.type("7")
        window.press("Enter")
        assert window.focused() == "next"
        assert window.page.text_content("#told") == "This item is complete. Enter goes on to the next."
        window.press("Enter")
        window.until(2)
        window.press("4", "4", "ArrowRight", "Tab", "Tab", "2")
        window.page.focus("[data-question=remark] textarea")
        window.page.keyboard.type("one")
        window.press("Enter", "Escape")
        assert window.focused() == "next"
        window.page.focus("[data-question=years] input")
        window.page.keyboard.type("8")
        window.page.focus("[data-question=remark] textarea")
        window.press("End")
        window.press("Control+Enter")
        window.until(3)
        window.saved()
    assert [one["years"] for one in given(widgets)[:2]] == ["7", "8"]
    assert given(widgets)[1]["remark"] == "one"


def test_every_kind_of_question_is_shown_again_as_it_was_answered(widgets, browser):
    with browsing(browser, **PHONE) as window:
        page = window.join(widgets.link("us")).page
        page.locator("input[name=q1][value='2']").tap()
        page.locator("input[name=q2][value='-2']").tap()
        page.locator("[data-question=sure] .none").tap()
        page.locator("input[name=q4][value=food]").tap()
        page.fill("[data-question=years] input", "12")
        page.locator(".comment summary").tap()
        page.fill(".comment textarea", "because")
        page.fill("[data-question=remark] textarea", "two\nlines")
        page.locator("#next").tap()
        window.until(2)
        assert page.input_value("[data-question=remark] textarea") == ""
        window.saved()
        page.reload()
        window.ready()
        page.locator("#back").tap()
        window.until(1)
        assert window.answers()[:4] == ["2", "-2", None, "food"]
        assert page.is_checked("[data-question=sure] .none input")
        assert page.input_value("[data-question=years] input") == "12"
        assert page.input_value(".comment textarea") == "because"
        assert page.input_value("[data-question=remark] textarea") == "two\nlines"


def test_a_number_that_cannot_be_is_told_and_not_kept(widgets, browser):
    with browsing(browser, **DESK) as window:
        window.join(widgets.link("us"))
        window.page.fill("[data-question=years] input", "300")
        window.page.press("[data-question=years] input", "Enter")
        window.page.wait_for_selector("#problem:not([hidden])")
        assert window.page.inner_text("#problem-text").startswith("An answer was not saved: ")
        assert window.page.input_value("[data-question=years] input") == ""
        assert window.waiting() == 0


def test_a_refused_answer_is_explained_in_the_language_of_the_page(widgets, browser):
    with browsing(browser, **DESK) as window:
        window.join(widgets.link("cn"))
        window.page.fill("[data-question=years] input", "300")
        window.page.press("[data-question=years] input", "Enter")
        window.page.wait_for_selector("#problem:not([hidden])")
        assert window.page.inner_text("#problem-text").startswith("有一个回答没有保存：")
        assert "题目" in window.page.inner_text("#problem-text")


def test_items_with_hostile_texts_are_shown_as_text(tmp_path, browser):
    corpus = build(tmp_path / "hostile")
    table = corpus / "items.csv"
    hostile = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
    table.write_text(
        table.read_text(encoding="utf-8").replace("How typical", f"{hostile} How typical"), encoding="utf-8"
    )
    with InProcess(corpus, f"sqlite:///{tmp_path / 'h.sqlite'}") as running, browsing(browser, **DESK) as window:
        window.page.on("dialog", lambda dialog: window.faults.append(dialog.message))
        window.join(running.here.link("us"))
        assert window.prompt.startswith(hostile)
