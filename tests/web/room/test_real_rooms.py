"""The whole room on real data in a browser: the demo, public ratings, the simulated corpus of the paper's size."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.web.room.run_world import Serving

from voirdire.app import demo
from voirdire.app.audit import audit
from voirdire.app.view import view
from voirdire.browsing.library import Library

pytestmark = pytest.mark.slow
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
QUICK = {"draws": 20, "decomposition_draws": 10, "permutations": 20}
SIZES = {"wide": (1280, 900), "phone": (390, 844)}
SETTLED_WIDTHS = """() => new Promise((told) => requestAnimationFrame(() => requestAnimationFrame(() => told(
    [document.documentElement.scrollWidth, document.documentElement.clientWidth]))))"""
"""Of the page and of the window, when the page has been laid out for a new size."""


def of_demo(folder: Path) -> Library:
    """The drawings, a run of simulated judges on them, and their audit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("voirdire.judging.providers.embedded.missing", lambda: "model")
        run = demo.prepare(folder)
    assert demo.ask(run).stopped is None
    audit(folder=folder / "corpus", judgments=run.folder, **QUICK).save(folder / "audit")
    return view([folder / "corpus", run.folder, folder / "audit"])


def of_crehate(folder: Path, data: Path) -> Library:
    """Texts that five pools rated, three judges, and two audits: of all conditions, and of one."""
    reading = {"missing_labels": ("unsure",), "duplicates": "first"}
    place = data / "crehate"
    said = pl.read_csv(place / "judgments.csv", infer_schema=False)
    one = said.filter(pl.col("condition") == said["condition"][0])
    audit(folder=place, pairs=("US", "ZA"), **reading, **QUICK).save(folder / "all conditions")
    audit(folder=place, judgments=one, pairs=("US", "ZA"), **reading, **QUICK).save(folder / "one condition")
    return view([place, folder / "all conditions", folder / "one condition"], **reading)


def of_viescore(folder: Path, data: Path) -> Library:
    """An audit of one pool, without its corpus."""
    audit(folder=data / "viescore", judge_scale=("0:10",), **QUICK).save(folder / "viescore")
    return view([folder / "viescore"])


def of_simulated(folder: Path, data: Path) -> Library:
    """626 items with 187,800 judgments; the audit is of two conditions, for the time that it takes."""
    place, questions = data / "simulated-voirdire", ("q1", "q2", "q3", "q4")
    said = pl.read_csv(place / "judgments.csv.gz", infer_schema=False)
    two = said.filter(pl.col("condition").is_in(["neutral_en", "neutral_zh"]))
    audit(folder=place, judgments=two, question_columns=questions, **QUICK).save(folder / "audit")
    return view([place, folder / "audit"], question_columns=questions)


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory, shared_data: Path) -> Iterator[dict[str, Serving]]:
    """The rooms by name; made in a thread of its own, as Playwright holds the loop of this one."""
    folder = tmp_path_factory.mktemp("rooms")

    def make() -> dict[str, Library]:
        return {
            "demo": of_demo(folder / "demo"),
            "crehate": of_crehate(folder / "crehate", shared_data),
            "viescore": of_viescore(folder, shared_data),
            "simulated": of_simulated(folder / "simulated", shared_data),
        }

    with ThreadPoolExecutor(1) as thread:
        libraries = thread.submit(make).result()
    found = {name: Serving(library) for name, library in libraries.items()}
    for one in found.values():
        one.__enter__()
    yield found
    for one in found.values():
        one.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A window; a fault on any of its pages fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    window = context.new_page()
    faults: list[str] = []
    window.on("pageerror", lambda error: faults.append(str(error)))
    window.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    window.on("response", lambda got: faults.append(f"{got.status} {got.url}") if got.status >= 400 else None)
    yield window
    assert faults == []
    context.close()


def names(serving: Serving, page: Any, part: str) -> list[str]:
    """The addresses of a part of the room on its first page."""
    page.goto(f"{serving.url}/")
    links = page.locator(f'main a[href^="/{part}/"]')
    return list(dict.fromkeys(link.get_attribute("href") for link in links.all()))


def looked_at(page: Any, sizes: tuple[str, ...] = ("wide", "phone"), *, axe: bool = True) -> None:
    """Nothing scrolls sideways and everybody can read it."""
    for size in sizes:
        width, height = SIZES[size]
        page.set_viewport_size({"width": width, "height": height})
        wide = page.evaluate(SETTLED_WIDTHS)
        assert wide[0] <= wide[1], (page.url, size, wide)
    if axe:
        checker = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
        found = checker.run(page, options={"resultTypes": ["violations"], "runOnly": TAGS})
        assert found.response["violations"] == [], (page.url, found.generate_report())
    page.set_viewport_size({"width": 1280, "height": 900})


@pytest.mark.parametrize(("name", "count"), [("demo", 30), ("crehate", 790), ("viescore", 2653), ("simulated", 626)])
def test_items(page: Any, rooms: dict[str, Serving], name: str, count: int) -> None:
    (grid,) = names(rooms[name], page, "items")
    page.goto(f"{rooms[name].url}{grid}?lang=en")
    assert f"{count:,} items" in page.inner_text(".results")
    looked_at(page, axe=name == "demo")
    assert page.locator("[data-cards] > li").count() == min(count, 48)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{grid}/1**")
    looked_at(page)
    page.keyboard.press("n")
    page.wait_for_url(f"**{grid}/2**")
    page.goto(f"{rooms[name].url}{grid}?lang=zh")
    assert page.get_attribute("html", "lang") == "zh-Hans"
    looked_at(page, axe=False)


def test_pictures_of_the_demo(page: Any, rooms: dict[str, Serving]) -> None:
    (grid,) = names(rooms["demo"], page, "items")
    page.goto(f"{rooms['demo'].url}{grid}?view=pairs&sort=gap&lang=en")
    page.wait_for_load_state("networkidle")
    drawn = page.evaluate("[...document.querySelectorAll('main img')].map((one) => one.complete && one.naturalWidth)")
    assert len(drawn) == 30
    assert all(width > 100 for width in drawn[:4])
    looked_at(page)


@pytest.mark.parametrize("name", ["demo", "crehate", "viescore", "simulated"])
def test_profiles(page: Any, rooms: dict[str, Serving], name: str) -> None:
    first = names(rooms[name], page, "profiles")[0]
    page.goto(f"{rooms[name].url}{first}?lang=en", timeout=60000)
    looked_at(page)
    tabs = page.locator(f'main nav a[href^="{first}/"]')
    addresses = list(dict.fromkeys(tab.get_attribute("href") for tab in tabs.all()))
    assert len(addresses) >= 3
    for place, address in enumerate(addresses):
        page.goto(f"{rooms[name].url}{address}", timeout=60000)
        looked_at(page, axe=place == 0)
    page.goto(f"{rooms[name].url}{first}?lang=zh", timeout=60000)
    looked_at(page, axe=False)


def test_a_pool_alone_is_no_leaderboard(page: Any, rooms: dict[str, Serving]) -> None:
    refused = page.request.get(f"{rooms['viescore'].url}/leaderboard/viescore?lang=en")
    assert refused.status == 422
    assert "Every judge against every one" not in refused.text()
    page.goto(f"{rooms['crehate'].url}/leaderboard/all-conditions?lang=en")
    assert "Every judge against every one of the 5 pools" in page.inner_text("main")
    looked_at(page)


def test_two_audits_are_compared(page: Any, rooms: dict[str, Serving]) -> None:
    page.goto(f"{rooms['crehate'].url}/compare?first=all-conditions&second=one-condition&lang=en", timeout=60000)
    assert page.locator("main table tbody tr").count() > 5
    looked_at(page)
    page.goto(f"{rooms['crehate'].url}/compare?first=one-condition&second=one-condition&lang=zh", timeout=60000)
    looked_at(page, axe=False)


def test_the_run_of_the_demo_has_ended(page: Any, rooms: dict[str, Serving]) -> None:
    (run,) = names(rooms["demo"], page, "runs")
    page.goto(f"{rooms['demo'].url}{run}?lang=en")
    assert "1,500" in page.inner_text("main")
    looked_at(page)
