"""The pages of items in a browser: keys, looks, hostile texts."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.web.room.items_world import make_world
from tests.web.room.run_world import Serving

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
SIZES = {"wide": (1280, 900), "phone": (390, 844), "narrow": (320, 700)}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the grid; the run is made in a thread of its own, as Playwright holds the loop of this one."""
    with ThreadPoolExecutor(1) as thread:
        library = thread.submit(make_world, tmp_path_factory.mktemp("world")).result()
    with Serving(library) as serving:
        yield f"{serving.url}/items/pictures"


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A window of which faults and dialogs are kept."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    window = context.new_page()
    window.faults = []
    window.on("pageerror", lambda error: window.faults.append(str(error)))
    window.on("console", lambda said: window.faults.append(said.text) if said.type == "error" else None)
    window.on("dialog", lambda dialog: window.faults.append(dialog.message))
    yield window
    assert window.faults == []
    context.close()


def focused(page: Any) -> str:
    return str(
        page.evaluate(
            "document.activeElement.querySelector?.('.item-id')?.textContent ?? document.activeElement.name ?? ''"
        )
    )


@pytest.mark.slow
def test_keys_move_between_cards_and_items(page: Any, place: str) -> None:
    page.goto(place)
    for key, expected in (
        ("j", "p00-us"), ("j", "p00-cn"), ("k", "p00-us"), ("ArrowRight", "p00-cn"), ("ArrowDown", "p02-cn"),
        ("ArrowUp", "p00-cn"), ("ArrowLeft", "p00-us"), ("k", "p00-us"),
    ):  # fmt: skip
        page.keyboard.press(key)
        assert focused(page) == expected, key
    page.keyboard.press("/")
    assert focused(page) == "text"
    page.keyboard.type("jn?p07")
    assert page.input_value("input[name=text]") == "jn?p07"
    page.fill("input[name=text]", "p07")
    page.keyboard.press("Enter")
    page.wait_for_url("**/items/pictures?text=p07")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/items/pictures/15?text=p07")
    for key, number in (("]", 16), ("[", 15), ("n", 16), ("p", 15)):
        page.keyboard.press(key)
        page.wait_for_url(f"**/items/pictures/{number}?text=p07")
    page.keyboard.press("u")
    page.wait_for_url("**/items/pictures?text=p07#item-15")


@pytest.mark.slow
def test_who_comes_back_stands_where_they_left_and_the_lists_say_what_is_shown(page: Any, place: str) -> None:
    page.goto(f"{place}/40?by.culture=cn")
    page.keyboard.press("u")
    page.wait_for_url("**/items/pictures?by.culture=cn#item-40")
    assert focused(page) == "p19-cn"
    assert page.evaluate("document.activeElement.getBoundingClientRect().top < innerHeight && scrollY > 0")
    page.goto(place)
    page.locator(".more-filters").evaluate("(one) => { one.open = true; }")
    page.select_option("select[name='by.culture']", "cn")
    page.click(".item-filters .button")
    page.wait_for_url("**by.culture=cn")
    page.go_back()
    page.wait_for_url(place)
    assert page.input_value("select[name='by.culture']") == ""


@pytest.mark.slow
def test_the_list_of_keys_opens_and_closes(page: Any, place: str) -> None:
    page.goto(place)
    page.keyboard.press("?")
    assert page.is_visible("#keys")
    page.keyboard.press("j")
    assert page.is_visible("#keys")
    page.keyboard.press("Escape")
    assert not page.is_visible("#keys")
    page.click("[data-keys]")
    assert page.is_visible("#keys")


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_looks(page: Any, place: str, size: str, tmp_path: Path) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})
    for query in ("?sort=gap&by.culture=us&lang=zh", "?view=pairs", "/5?lang=en", "/8?lang=zh"):
        page.goto(f"{place}{query}")
        for part in page.locator("details").all():
            part.evaluate("(one) => { one.open = true; }")
        page.wait_for_load_state("networkidle")
        wide = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert wide[0] <= wide[1], (query, wide)
        if size == "wide" or (size == "phone" and query in ("?view=pairs", "/5?lang=en")):
            found = axe.run(page, options={"resultTypes": ["violations"], "runOnly": TAGS})
            assert found.response["violations"] == [], (query, found.generate_report())


@pytest.mark.slow
def test_pages_work_without_scripts(browser: Any, place: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(place)
    page.click(".more-filters summary")
    page.select_option("select[name='by.culture']", "cn")
    page.click(".item-filters .button")
    assert "30 of 60" in page.inner_text(".results")
    assert not page.is_visible("[data-keys]")
    context.close()


@pytest.mark.slow
def test_a_window_made_narrow_scrolls_wide_tables_and_not_the_page(page: Any, place: str) -> None:
    page.goto(f"{place}/1")
    page.evaluate(
        """for (const row of document.querySelectorAll('.cells tr')) for (let n = 0; n < 12; n++) {
             const cell = row.lastElementChild.cloneNode(true);
             cell.innerHTML = '–<span class="unseen">not asked</span>';
             row.append(cell);
        }"""
    )
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.querySelector('.scroll:has(.cells)').scrollWidth") > 390
    assert page.evaluate("document.documentElement.scrollWidth") == 390
