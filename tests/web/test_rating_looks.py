"""How the rater's pages look and can be reached: for those who do not see them, on small windows, without jumps."""

from __future__ import annotations

import pytest
from tests.web.at_work import DESK, PHONE, SMALL, Browsing, browsing
from tests.web.corpora import EVERY_WIDGET, MANY_LEVELS, SCREENING, STUDY, build, build_texts
from tests.web.running import InProcess

SIZES = {"desk": DESK, "phone": PHONE, "small": SMALL}
POOLS = {"us": "en", "cn": "zh"}
LOOKS = [("us", "desk"), ("cn", "phone"), ("us", "small"), ("cn", "small")]
"""Every size and language, and both where there is least room."""
SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    const moved = entry.sources.map(({ node, previousRect, currentRect }) =>
      [node?.id || node?.className || node?.nodeName, JSON.stringify([previousRect, currentRect])]);
    window.shifts.push([entry.value, entry.hadRecentInput, moved]);
  }
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A service with screening, for as many raters as come."""
    folder = tmp_path_factory.mktemp("looks")
    text = (STUDY + SCREENING).replace("raters_per_item = 2", "raters_per_item = 40")
    with InProcess(build(folder / "things", text), f"sqlite:///{folder / 'store.sqlite'}") as running:
        yield running.here


@pytest.fixture(scope="module")
def widgets(tmp_path_factory):
    """A service whose study has every kind of question."""
    folder = tmp_path_factory.mktemp("widgets")
    text = (STUDY + EVERY_WIDGET).replace("raters_per_item = 2", "raters_per_item = 40")
    with InProcess(build(folder / "things", text), f"sqlite:///{folder / 'store.sqlite'}") as running:
        yield running.here


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """A service for texts without images, with scales of many levels."""
    folder = tmp_path_factory.mktemp("texts")
    text = (STUDY + MANY_LEVELS).replace("raters_per_item = 2", "raters_per_item = 40")
    with InProcess(build_texts(folder / "texts", text), f"sqlite:///{folder / 'store.sqlite'}") as running:
        yield running.here


@pytest.fixture
def check(artefacts):
    """Look at a page: no fault that axe finds, nothing to scroll sideways; keeps a screenshot."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()

    def look(window: Browsing, name: str, *, whole: bool = True) -> None:
        page = window.page
        page.wait_for_timeout(200)
        page.screenshot(path=artefacts / f"{name}.png", full_page=whole)
        wide = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert wide[0] <= wide[1], name
        found = axe.run(page, options={"resultTypes": ["violations"], "runOnly": TAGS})
        assert found.response["violations"] == [], found.generate_report()

    return look


TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def screening(window: Browsing, hours: str = "10-or-more") -> None:
    """Fill in the screening questions and take part."""
    page = window.page
    page.check(f"input[name='screening.0'][value='{hours}']")
    page.check("input[name='screening.1.1']")
    page.check("#consent")
    page.click("#join .button.primary")
    page.wait_for_url("**/welcome")


@pytest.mark.parametrize(("pool", "size"), LOOKS)
def test_the_way_through_the_pages(study, browser, check, pool, size):
    name = f"{POOLS[pool]}-{size}"
    with browsing(browser, **SIZES[size]) as window:
        page = window.page
        page.goto(study.link(pool))
        check(window, f"join-{name}")
        page.locator("#join").evaluate("(form) => { form.noValidate = true; }")
        page.click("#join .button.primary")
        page.wait_for_selector("[role=alert]")
        check(window, f"join-gaps-{name}")
        screening(window)
        check(window, f"welcome-{name}")
        page.click(".button.primary")
        window.ready()
        check(window, f"rate-{name}", whole=False)
        window.press("4", "2", "Enter")
        check(window, f"rate-lacks-{name}", whole=False)
        window.press("3", "5")
        window.saved()
        check(window, f"rate-complete-{name}", whole=False)
        page.click("#help-open")
        check(window, f"help-{name}", whole=False)
        page.click("#device-make")
        page.wait_for_selector("#device:not([hidden])")
        check(window, f"help-link-{name}", whole=False)
        window.press("Escape")
        page.click("#zoom-open")
        check(window, f"zoom-{name}", whole=False)
        window.press("+")
        check(window, f"zoom-larger-{name}", whole=False)
        window.press("Escape")
        for number in range(2, 13):
            window.press("Enter")
            window.until(number)
            window.press("1", "2", "3", "4")
        window.press("Enter")
        page.wait_for_selector("#all-done:not([hidden])")
        check(window, f"all-done-{name}", whole=False)
        page.click("#finish")
        page.wait_for_url("**/done")
        check(window, f"done-{name}")


@pytest.mark.parametrize(("pool", "size"), LOOKS)
def test_every_kind_of_question(widgets, browser, check, pool, size):
    with browsing(browser, **SIZES[size]) as window:
        window.join(widgets.link(pool))
        check(window, f"widgets-{POOLS[pool]}-{size}", whole=False)
        window.press("0", "4", "ArrowRight", "Tab", "Tab", "2")
        window.page.click(".comment summary")
        window.page.fill(".comment textarea", "…")
        window.saved()
        check(window, f"widgets-answered-{POOLS[pool]}-{size}", whole=False)


@pytest.mark.parametrize(("pool", "size"), LOOKS)
def test_texts_are_rated_as_images_are(texts, browser, check, pool, size):
    with browsing(browser, **SIZES[size]) as window:
        page = window.join(texts.link(pool)).page
        check(window, f"texts-{POOLS[pool]}-{size}", whole=False)
        assert page.is_hidden("#frame")
        assert page.inner_text("#item-text").startswith("A note on the" if pool == "us" else "关于")
        window.press("9", "3", "2")
        assert window.answers() == ["9", "-1", "2"]
        window.press("Enter")
        window.until(2)
        window.press("0", "7", "1")
        assert window.answers() == ["0", "3", "1"]
        window.saved()


@pytest.mark.parametrize(("pool", "size"), LOOKS)
def test_troubles_on_the_rating_page(study, browser, check, pool, size):
    name = f"{POOLS[pool]}-{size}"
    with browsing(browser, **SIZES[size]) as window:
        window.page.goto(study.link(pool))
        screening(window)
        window.page.click(".button.primary")
        window.ready()
        window.page.wait_for_load_state("networkidle")
        window.context.set_offline(True)
        window.press("4", "2", "3")
        window.page.wait_for_selector("#save[data-state=waiting]")
        check(window, f"offline-{name}", whole=False)
        window.press("5")
        while window.page.is_hidden("#waiting"):
            window.press("Enter", "1", "1", "1", "1")
        check(window, f"waiting-{name}", whole=False)
        window.context.set_offline(False)
        window.page.wait_for_selector("#desk:not([hidden])")
        window.saved()
        try:
            study.open(False)
            window.press("4")
            window.page.wait_for_selector("#problem:not([hidden])")
            check(window, f"refused-{name}", whole=False)
        finally:
            study.open(True)


@pytest.mark.parametrize(("pool", "size"), LOOKS)
def test_pages_that_say_why_it_does_not_go_on(study, browser, check, pool, size):
    name = f"{POOLS[pool]}-{size}"
    with browsing(browser, **SIZES[size], locale="zh-CN" if pool == "cn" else "en-GB") as window:
        page = window.page
        page.goto(study.link(pool))
        screening(window, "below-10")
        check(window, f"screened-{name}")
        full = study.link(pool, people=2)
        for number in range(2):
            page.goto(f"{full}?PROLIFIC_PID={name}{number}")
            screening(window)
        page.goto(f"{full}?PROLIFIC_PID={name}2")
        check(window, f"full-{name}")
        try:
            study.open(False)
            page.goto(study.link(pool) + "?PROLIFIC_PID=late")
            check(window, f"closed-{name}")
        finally:
            study.open(True)
        for path in ("/join/no-such-link", "/resume/no-such-link", "/no-such-page"):
            page.goto(study.url + path)
            check(window, f"unknown{path.replace('/', '-')}-{name}")
        window.context.clear_cookies()
        page.goto(f"{study.url}/rate")
        check(window, f"nobody-{name}")


@pytest.mark.parametrize("size", SIZES)
def test_the_question_of_the_item_and_the_places_of_a_slider_stand_at_their_answers(study, browser, size):
    with browsing(browser, **SIZES[size]) as window:
        window.page.goto(study.link("us"))
        screening(window)
        window.page.click(".button.primary")
        window.ready()
        assert window.prompt.startswith("How typical is this")
        gap = """() => document.querySelector('.question .answers').getBoundingClientRect().top
            - document.querySelector('.question .words').getBoundingClientRect().bottom"""
        assert 0 <= window.page.evaluate(gap) <= 24
        assert window.page.locator(".tick:visible").all_inner_texts() == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize("size", ["phone", "small"])
def test_what_is_touched_is_large_enough(widgets, study, browser, size):
    small = """() => [...document.querySelectorAll('a[href], button, input, summary, textarea')]
        .filter((one) => one.checkVisibility() && !one.closest('.notice') && !one.matches('.skip'))
        .map((one) => [one.closest('.choice, .level, .stop') ?? one, one])
        .map(([box, one]) => [one.outerHTML.slice(0, 80), box.getBoundingClientRect()])
        .filter(([, box]) => box.width > 0 && (box.height < 43.5 || box.width < 43.5))
        .map(([what, box]) => `${what} ${box.width}x${box.height}`)"""
    with browsing(browser, **SIZES[size]) as window:
        page = window.page
        page.goto(study.link("us"))
        assert page.evaluate(small) == []
        window.join(widgets.link("us"))
        assert page.evaluate(small) == []
        page.tap("#help-open")
        assert page.evaluate(small) == []
        window.press("Escape")
        page.tap("#zoom-open")
        assert page.evaluate(small) == []


@pytest.mark.parametrize("size", SIZES)
def test_nothing_jumps_while_one_rates(study, browser, size):
    with browsing(browser, **SIZES[size]) as window:
        window.context.add_init_script(SHIFTS)
        window.page.route("**/images/*", lambda route: (window.page.wait_for_timeout(150), route.continue_()))
        window.page.goto(study.link("us"))
        screening(window)
        window.page.click(".button.primary")
        window.ready()
        for number in range(1, 5):
            window.until(number)
            window.press("4", "2", "3", "5")
            window.page.wait_for_timeout(700)
            window.press("Enter")
        window.until(5)
        window.page.wait_for_timeout(700)
        shifts = window.page.evaluate("window.shifts")
        assert [shift for shift in shifts if not shift[1]] == []
        assert sum(value for value, *_ in shifts) < 0.03, shifts


def test_what_a_screen_reader_hears(study, browser):
    with browsing(browser, **DESK) as window:
        page = window.page
        page.goto(study.link("us"))
        screening(window)
        page.click(".button.primary")
        window.ready()
        prompt = window.prompt
        assert page.get_by_text(prompt).count() == 1
        first = page.get_by_role("radiogroup", name=prompt)
        assert first.get_by_role("radio").count() == 5
        assert first.get_by_role("radio", name="1, Not at all").count() == 1
        slider = page.get_by_role("radiogroup", name="Where would you place")
        assert slider.get_by_role("radio", name="5 of 5, United States").count() == 1
        assert page.get_by_role("button", name="Enlarge the image").count() == 1
        assert page.get_by_role("progressbar", name="Items that are complete").count() == 1
        assert page.get_by_role("heading", level=1).inner_text() == "Item 1 of 12"
        assert page.get_attribute("#told", "role") == page.get_attribute("#save", "role") == "status"
        window.press("4", "2", "3", "5")
        assert page.text_content("#told") == "This item is complete. Enter goes on to the next."
        window.press("Enter")
        window.until(2)
        assert page.text_content("#told") == "Item 2 of 12"
        assert window.focused() == "q1"
        assert page.inner_text("#save") == "All answers saved"


def test_prompts_carry_their_language(tmp_path, browser):
    corpus = build(tmp_path / "english")
    table = corpus / "items.csv"
    lines = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join([lines[0].replace("prompt.zh", "note"), *lines[1:]]) + "\n", encoding="utf-8")
    study = STUDY + EVERY_WIDGET.replace('role = "evaluation"', "of_item = false")
    (corpus / "annotation.toml").write_text(study, encoding="utf-8")
    with InProcess(corpus, f"sqlite:///{tmp_path / 'e.sqlite'}") as running, browsing(browser, **DESK) as window:
        window.join(running.here.link("cn"))
        assert window.page.get_attribute("html", "lang") == "zh-Hans"
        assert window.page.get_attribute("#prompt", "lang") == "en"


def test_less_motion_is_respected(study, browser):
    with browsing(browser, **PHONE, reduced_motion="reduce") as window:
        window.page.goto(study.link("us"))
        screening(window)
        window.page.tap(".button.primary")
        window.ready()
        moving = """() => [...document.querySelectorAll('*')]
            .filter((one) => getComputedStyle(one).transitionDuration !== '0s').length"""
        assert window.page.evaluate(moving) == 0
        window.page.evaluate("window.asked = []; Element.prototype.scrollIntoView = (how) => window.asked.push(how)")
        window.page.locator("input[name=q1][value='3']").tap()
        assert window.page.evaluate("window.asked.filter((how) => how?.block).map((how) => how.behavior)") == ["auto"]


def test_without_scripts_the_page_says_so(study, browser):
    with browsing(browser, **DESK, java_script_enabled=False) as window:
        window.page.goto(study.link("us"))
        screening(window)
        window.page.click(".button.primary")
        assert "This page needs JavaScript." in window.page.inner_text("main")
