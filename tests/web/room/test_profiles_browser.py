"""A profile read in a browser: the box at a chart's marks by pointer and by keys, and that everybody can read it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.reporting import fake_profile
from tests.web.room.profiles_world import library, real
from tests.web.room.run_world import Serving

SIZES = {"wide": (1280, 900), "phone": (390, 844), "narrow": (320, 700)}


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """The room with an audit of two pools, the id of whose first item is very long, and one of six."""
    folder = tmp_path_factory.mktemp("audits")
    two = real(fake_profile.two_pools())
    longest = pl.col("item_id").replace(two.items["item_id"][0], "A" * 5000)
    audits = library(
        folder, two=replace(two, items=two.items.with_columns(longest)), six=real(fake_profile.six_pools())
    )
    with Serving(audits) as running:
        yield running


def window(browser: Any, size: str) -> Any:
    """A page of a size; its faults are kept."""
    width, height = SIZES[size]
    page = browser.new_page(viewport={"width": width, "height": height})
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on("console", lambda said: page.faults.append(said.text) if said.type == "error" else None)
    page.on("dialog", lambda dialog: page.faults.append(dialog.message))
    return page


def centre(mark: Any) -> tuple[float, float]:
    """Where a mark lies in the window."""
    where = mark.bounding_box()
    return where["x"] + where["width"] / 2, where["y"] + where["height"] / 2


def pass_below_the_pointer(page: Any, mark: Any) -> None:
    """A pointer rests beside a mark, then the page is scrolled until the mark lies below it."""
    across, down = centre(mark)
    page.mouse.move(across, down - 40)
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.evaluate("window.scrollBy({top: 40, behavior: 'instant'})")
    page.wait_for_timeout(400)
    assert abs(centre(mark)[1] - (down - 40)) < 2


@pytest.mark.slow
def test_a_chart_says_its_numbers_by_pointer_and_by_keys(browser: Any, serving: Serving) -> None:
    page = window(browser, "wide")
    page.goto(f"{serving.url}/profiles/two/pair?lang=en", timeout=60000)
    chart = page.locator("[data-chart]").first
    box = page.locator(".chart-box").first
    mark = chart.locator('[role="graphics-symbol"]').nth(1)
    mark.scroll_into_view_if_needed()
    mark.hover()
    assert box.is_visible()
    assert box.inner_text() == mark.get_attribute("aria-label")
    chart.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    third = chart.locator('[role="graphics-symbol"]').nth(2)
    assert box.inner_text() == third.get_attribute("aria-label")
    assert "at" in third.get_attribute("class").split()
    pass_below_the_pointer(page, mark)
    assert box.inner_text() == third.get_attribute("aria-label")
    page.mouse.move(*centre(chart))
    mark.hover()
    assert box.inner_text() == mark.get_attribute("aria-label")
    page.keyboard.press("Escape")
    assert not box.is_visible()
    page.locator("figure details summary").first.click()
    assert page.locator("figure details table").first.is_visible()
    page.select_option("select[name=slice]", "culture=cn")
    page.wait_for_url("**slice=culture%3Dcn**", timeout=60000)
    assert page.faults == []
    page.close()


@pytest.mark.slow
def test_everybody_can_read_a_profile(browser: Any, serving: Serving, artefacts: Path) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    for size, lang, paths in (
        ("wide", "en", ("two", "two/judges", "two/pair", "two/estimates")),
        ("phone", "zh", ("six/pair", "six/slices", "two/pair", "two/notes")),
        ("narrow", "en", ("two", "six/judges", "six/estimates")),
    ):
        page = window(browser, size)
        for path in paths:
            page.goto(f"{serving.url}/profiles/{path}?lang={lang}", timeout=60000)
            name = path.replace("/", "-")
            page.screenshot(path=artefacts / f"profile-{name}-{size}-{lang}.png", full_page=True)
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (path, size)
            assert axe.run(page).response["violations"] == [], (path, size)
        assert page.faults == []
        page.close()
