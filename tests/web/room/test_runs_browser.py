"""A run watched in a browser. Playwright holds the loop of its thread, so these tests stand by themselves."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.web.room.run_world import HOSTILE, Serving, World, finished_world

SIZES = {"wide": (1280, 900), "phone": (390, 844), "narrow": (320, 700)}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A run with hostile replies and errors that was finished."""
    return finished_world(tmp_path_factory.mktemp("ended"))


@pytest.fixture
def watching(browser: Any) -> Iterator[Any]:
    """Opens pages in a window of a size; faults of the page are kept."""
    windows = []

    def window(size: str = "wide", **more: Any) -> Any:
        width, height = SIZES[size]
        here = browser.new_context(viewport={"width": width, "height": height}, **more)
        windows.append(here)
        page = here.new_page()
        page.faults = []
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("console", lambda said: page.faults.append(said.text) if said.type == "error" else None)
        page.on("dialog", lambda dialog: page.faults.append(dialog.message))
        return page

    yield window
    for one in windows:
        one.close()


@pytest.mark.slow
def test_the_numbers_grow_without_a_reload(watching: Any, tmp_path: Path) -> None:
    world = World(tmp_path)
    with world.running() as process, Serving(world.library(title=HOSTILE)) as serving:
        world.wait(lambda told: told["pending"] == 24)
        page = watching()
        page.goto(f"{serving.url}/runs/run")
        page.evaluate("window.mark = 1")
        page.focus("#again")
        assert page.inner_text("#progress") == "24 of 48 cells (50 %)"
        world.allow(10)
        page.locator("#progress", has_text="34 of 48 cells (70 %)").wait_for(timeout=20000)
        assert page.inner_text("#said") == "running: 70 % of the cells."
        os.kill(process.pid, signal.SIGKILL)
        page.wait_for_selector(".chip.state-killed", timeout=20000)
        assert page.evaluate("[window.mark, document.activeElement.id]") == [1, "again"]
        assert page.faults == []
    page.wait_for_selector("#trouble:not([hidden])", timeout=30000)
    assert "does not answer any more" in page.inner_text("#trouble")


@pytest.mark.slow
def test_everybody_can_read_the_pages(watching: Any, ended: World, artefacts: Path) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    with Serving(ended.library(title=HOSTILE)) as serving:
        for size, lang in (("wide", "en"), ("phone", "zh"), ("narrow", "en")):
            page = watching(size)
            for path in ("runs", "runs/run"):
                page.goto(f"{serving.url}/{path}?lang={lang}")
                page.screenshot(path=artefacts / f"{path.replace('/', '-')}-{size}-{lang}.png", full_page=True)
                assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (path, size)
                assert axe.run(page).response["violations"] == [], (path, size)
            assert page.faults == []


@pytest.mark.slow
def test_without_javascript_a_link_reloads(watching: Any, ended: World) -> None:
    with Serving(ended.library()) as serving:
        page = watching(java_script_enabled=False)
        page.goto(f"{serving.url}/runs/run")
        assert "48 of 48 cells" in page.inner_text("#progress")
        page.click("#again")
        assert "48 of 48 cells" in page.inner_text("#progress")
