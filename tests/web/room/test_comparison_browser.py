"""The pages of comparisons in a browser. Playwright holds the loop of its thread: these tests stand by themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.web.room.compare_world import HOSTILE, library
from tests.web.room.run_world import Serving

PAGES = ("compare", "leaderboard/first?sort=us", "leaderboard/first?pools=us", "compare?first=first&second=bare")
SIZES = ((1280, "en"), (390, "zh"), (320, "en"))


@pytest.mark.slow
def test_everybody_can_read_and_use_the_pages(
    browser: Any, artefacts: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    faults: list[str] = []
    with Serving(library(tmp_path_factory.mktemp("audits"))) as serving:
        for width, lang in SIZES:
            context = browser.new_context(viewport={"width": width, "height": 900})
            page = context.new_page()
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.on("dialog", lambda dialog: faults.append(dialog.message))
            for place, path in enumerate(PAGES):
                page.goto(f"{serving.url}/{path}{'&' if '?' in path else '?'}lang={lang}")
                page.screenshot(path=artefacts / f"compare-{place}-{width}-{lang}.png", full_page=True)
                assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (path, width)
                assert axe.run(page).response["violations"] == [], (path, width)
            context.close()
        page = browser.new_page()
        page.goto(f"{serving.url}/compare?first=first&second=first&lang=en")
        page.select_option("[name=first_judge]", "steady")
        page.select_option("[name=second_judge]", HOSTILE)
        page.get_by_role("button", name="Show").focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("table.compare")
        assert f"steady → {HOSTILE}" in page.inner_text("caption")
        page.goto(f"{serving.url}/leaderboard/first?lang=en")
        page.get_by_role("link", name="MAE, cn").click()
        page.wait_for_selector("[aria-sort=ascending]")
        assert "sort=cn" in page.url
        page.close()
    assert faults == []
