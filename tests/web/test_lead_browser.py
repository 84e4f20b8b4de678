"""The lead's pages in a browser: opened by the printed link, watched while raters answer, read by everybody."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.web.leads import link_on, people, pilot_of, rate
from tests.web.running import InProcess, Program

SIZES = {"wide": (1280, 900), "phone": (390, 844)}
PATHS = {
    "overview": "/lead", "new": "/lead/batches/new", "batch": "/lead/batches/1",
    "statistics": "/lead/batches/1/statistics", "verdicts": "/lead/batches/2/verdicts",
}  # fmt: skip


@pytest.fixture
def opened(browser, inside: InProcess):
    """Opens the lead's pages by the printed link, in a window of a size and a language."""
    windows = []

    def window(lang: str = "en", size: str = "wide", **more):
        width, height = SIZES[size]
        here = browser.new_context(viewport={"width": width, "height": height}, locale=lang, **more)
        windows.append(here)
        page = here.new_page()
        page.faults = []
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("console", lambda said: page.faults.append(said.text) if said.type == "error" else None)
        page.goto(inside.ready.lead_link)
        return page

    yield window
    for one in windows:
        one.close()


def _violations(page) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in found]


def _too_wide(page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth > window.innerWidth")


def _small_targets(page) -> list[str]:
    """Buttons, fields and links that stand alone and are lower than 44 pixels."""
    script = """() => [...document.querySelectorAll('button, .button, select, input:not([type=hidden]), summary')]
      .filter(one => one.checkVisibility() && !(one.closest('label.choice, label.toggle')))
      .filter(one => one.getBoundingClientRect().height < 44).map(one => one.outerHTML.slice(0, 100))"""
    return page.evaluate(script)


def test_the_link_opens_the_pages_and_the_secret_leaves_the_address(opened, inside: InProcess):
    page = opened()
    page.wait_for_url("**/lead")
    assert page.get_by_role("heading", name="Batches", level=1).is_visible()
    secret = inside.ready.lead_link.partition("#")[2]
    assert page.evaluate("document.cookie") == ""
    assert page.faults == []
    page.go_back()
    assert secret not in page.url
    page.goto(inside.ready.lead_link)
    assert page.get_by_role("heading", name="Batches", level=1).is_visible()
    assert secret not in page.evaluate("location.href")


def test_the_right_link_after_a_wrong_one_opens_the_pages_in_the_same_window(browser, inside: InProcess):
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{inside.here.url}/lead/enter#wrong-wrong-wrong-wrong")
    page.get_by_role("alert").wait_for()
    page.goto(inside.ready.lead_link)
    page.wait_for_url("**/lead")
    context.close()


def test_the_secret_can_be_pasted_where_scripts_are_off(opened, inside: InProcess):
    page = opened(java_script_enabled=False)
    page.goto(f"{inside.here.url}/lead/enter")
    page.get_by_label("The lead's secret").fill(inside.ready.lead_link.partition("#")[2])
    page.get_by_role("button", name="Open").click()
    assert page.url.endswith("/lead")
    page.goto(f"{inside.here.url}/lead/batches/1")
    assert page.get_by_role("heading", name="Progress").is_visible()
    assert not page.get_by_text("Refresh the numbers").is_visible()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_page_is_fit_for_everybody(opened, inside: InProcess, artefacts: Path, lang: str, size: str):
    for place, batch in enumerate((1, pilot_of(inside.service).id)):
        for pool in ("us", "cn"):
            rate(inside.here, people(inside.here, pool, 2, batch), most=None if place else 8)
    careless = people(inside.here, "us", 1)
    rate(inside.here, careless, q1="3", q2="3", q3="3", q4="3")
    page = opened(lang, size)
    page.wait_for_url("**/lead")
    for name, path in {**PATHS, "delete": f"/lead/raters/{careless[0].id}/delete"}.items():
        page.goto(inside.here.url + path)
        if name == "statistics":
            page.wait_for_selector("#verdicts", timeout=60_000)
        page.wait_for_load_state("networkidle")
        assert page.locator("html").get_attribute("lang") == ("en" if lang == "en" else "zh-Hans")
        assert _violations(page) == [], name
        assert not _too_wide(page), name
        assert _small_targets(page) == [], name
        page.screenshot(path=artefacts / f"lead-{name}-{lang}-{size}.png", full_page=True)
    assert page.faults == []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_on_a_phone_every_number_of_a_batch_is_in_sight_with_its_name(
    opened, inside: InProcess, artefacts: Path, lang: str
):
    rate(inside.here, people(inside.here, "us", 1), q1="3", q2="3", q3="3", q4="3")
    page = opened(lang, "phone")
    page.goto(f"{inside.here.url}/lead/batches/1")
    page.screenshot(path=artefacts / f"lead-stacked-{lang}.png", full_page=True)
    outside = """() => [...document.querySelectorAll('.stacks td')].filter((cell) => {
        const box = cell.getBoundingClientRect();
        return box.right > innerWidth || cell.closest('.scroll').scrollWidth > cell.closest('.scroll').clientWidth
            || !cell.dataset.label || cell.textContent.trim() === '';
      }).map((cell) => cell.outerHTML.slice(0, 120))"""
    assert page.evaluate(outside) == []
    assert page.locator(".stacks").count() == 3
    assert page.locator(".stacks td").count() > 20


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_where_the_secret_is_asked_for_is_fit_for_everybody(browser, inside: InProcess, artefacts: Path, lang: str):
    with browser.new_context(viewport={"width": 390, "height": 844}, locale=lang) as here:
        page = here.new_page()
        page.goto(f"{inside.here.url}/lead/enter#wrong")
        page.wait_for_selector("[role=alert]")
        assert _violations(page) == []
        assert not _too_wide(page)
        page.screenshot(path=artefacts / f"lead-enter-{lang}.png")


def test_the_lead_watches_while_raters_answer_and_keeps_the_place(opened, inside: InProcess):
    page = opened()
    page.wait_for_url("**/lead")
    page.clock.install()
    page.goto(f"{inside.here.url}/lead/batches/1")
    assert page.get_by_text("Nobody has joined yet").is_visible()
    label = page.get_by_label("Label")
    label.fill("half a wor")
    rate(inside.here, people(inside.here, "us", 1), most=7)
    inside.app.state.live.forget(1)
    page.clock.run_for(6000)
    page.get_by_text("7 of 24").wait_for(timeout=10_000)
    assert page.get_by_text("7 of 12").is_visible()
    assert page.locator("#pools tr[data-pool=us] progress").evaluate("bar => bar.value") == 7
    assert label.evaluate("field => field === document.activeElement")
    assert label.input_value() == "half a wor"
    page.get_by_label("Refresh the numbers by themselves").uncheck()
    rate(inside.here, people(inside.here, "us", 1), most=2)
    inside.app.state.live.forget(1)
    page.clock.run_for(20_000)
    assert page.get_by_text("7 of 24").is_visible()
    page.get_by_label("Refresh the numbers by themselves").check()
    page.clock.run_for(6000)
    page.get_by_text("9 of 24").wait_for(timeout=10_000)
    assert page.locator("#raters tr").count() == 2
    assert page.faults == []


def test_a_rater_who_joins_later_gets_a_row_whose_link_leads_to_deletion(opened, inside: InProcess):
    page = opened()
    page.wait_for_url("**/lead")
    page.clock.install()
    page.goto(f"{inside.here.url}/lead/batches/1")
    (known,) = people(inside.here, "cn", 1)
    rate(inside.here, [known], most=1)
    inside.app.state.live.forget(1)
    page.clock.run_for(6000)
    page.get_by_role("link", name=f"Delete the data of rater {known.id}").click()
    page.get_by_role("button", name="Delete these data").click()
    page.get_by_text(f"The data of rater {known.id} are deleted").wait_for()
    assert page.locator("#raters tr").count() == 0


def test_a_link_is_made_copied_and_used_with_the_keyboard(browser, opened, inside: InProcess):
    page = opened(permissions=["clipboard-read", "clipboard-write"])
    page.wait_for_url("**/lead")
    page.goto(f"{inside.here.url}/lead/batches/1")
    page.get_by_label("Pool", exact=True).focus()
    page.keyboard.type("cn")
    page.keyboard.press("Tab")
    page.keyboard.type("Anna")
    page.keyboard.press("Tab")
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Copy").press("Enter")
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == link_on(page.content())
    with browser.new_context(locale="zh") as other:
        rater = other.new_page()
        assert rater.goto(copied).status == 200
    assert page.faults == []


def test_statistics_come_by_themselves_when_they_are_computed(opened, inside: InProcess):
    for pool in ("us", "cn"):
        rate(inside.here, people(inside.here, pool, 2))
    page = opened()
    page.wait_for_url("**/lead")
    page.goto(f"{inside.here.url}/lead/batches/1/statistics")
    page.get_by_role("heading", name="Items that split the pools most").wait_for(timeout=60_000)
    images = page.locator(".thing img")
    assert images.count() == 6
    images.first.scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('.thing img').naturalWidth > 0")
    page.get_by_role("link", name="The complete report").click()
    page.get_by_role("heading", name=re.compile("Human pools as references")).wait_for()
    assert page.faults == []


def test_decisions_on_items_are_kept(opened, inside: InProcess):
    pilot = pilot_of(inside.service)
    rate(inside.here, people(inside.here, "us", 2, pilot.id))
    page = opened()
    page.wait_for_url("**/lead")
    page.goto(f"{inside.here.url}/lead/batches/{pilot.id}/verdicts")
    form = page.get_by_role("form", name="Decision on cup-us")
    form.get_by_label("Your decision").select_option("drop")
    form.get_by_label("Note").fill("too plain")
    form.get_by_role("button", name="Save").click()
    page.get_by_text("1 decided by you").wait_for()
    assert page.get_by_role("form", name="Decision on cup-us").get_by_label("Note").input_value() == "too plain"


def test_the_program_prints_a_link_that_opens_the_pages(browser, server: Program):
    batch = server.here.batch
    rate(server.here, people(server.here, "us", 1, batch))
    with browser.new_context() as here:
        page = here.new_page()
        page.goto(server.lead_link)
        page.locator(f"a[href='/lead/batches/{batch}']").click()
        page.get_by_text("12 of 24").first.wait_for()
