"""The pages of authors and of the lead in a browser, for everybody; the end-to-end test takes all steps on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from tests.construction.building import build_text
from tests.web.authoring_world import Building
from tests.web.test_lead_browser import SIZES, _small_targets, _too_wide, _violations

from voirdire.construction.authoring import add, write
from voirdire.construction.concepts import read_concepts
from voirdire.construction.history import History, open_history, read_history
from voirdire.construction.standing import standings

CONCEPTS = {
    "tea": ("A glass of iced tea with lemon", "A gaiwan of green tea", "How fitting is this for a guest?"),
    "wedding-gift": ("A set of plates", "A red envelope", "How generous does this gift feel?"),
}
TEAM = ("ana", "bo", "chen")


@pytest.fixture
def building(tmp_path: Path) -> Iterator[Building]:
    """A folder without concepts, with images to come."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "build.toml").write_text(build_text(), encoding="utf-8")
    (folder / "concepts.csv").write_text("concept,category,culture,realisation,prompt.en,prompt.zh\n", encoding="utf-8")
    images = folder / "images" / "generated"
    images.mkdir(parents=True)
    for culture, colour in (("us", (180, 120, 60)), ("cn", (70, 140, 90))):
        Image.new("RGB", (640, 480), colour).save(images / f"tea-{culture}.png")
    with Building(folder) as running:
        yield running


class Windows:
    """A browser window for each person, and what was looked at."""

    def __init__(self, browser, building: Building, artefacts: Path) -> None:
        self.browser, self.building, self.artefacts = browser, building, artefacts
        self.pages, self.faults, self.seen = {}, [], set()

    def open(self, who: str, link: str, **more):
        context = self.browser.new_context(viewport={"width": 1280, "height": 900}, **more)
        page = context.new_page()
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda said: self.faults.append(said.text) if said.type == "error" else None)
        page.goto(link)
        self.pages[who] = page
        return page

    def look(self, who: str, name: str) -> None:
        """Each kind of page once in both widths: no fault that axe finds, nothing to scroll sideways."""
        page = self.pages[who]
        if name in self.seen:
            return
        self.seen.add(name)
        for size, (width, height) in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            assert _violations(page) == [], (name, size)
            assert not _too_wide(page), (name, size)
            assert _small_targets(page) == [], (name, size)
            page.screenshot(path=self.artefacts / f"authoring-{name}-{size}.png", full_page=True)
        page.set_viewport_size({"width": 1280, "height": 900})

    def close(self) -> None:
        for page in self.pages.values():
            page.context.close()


@pytest.fixture
def windows(browser, building: Building, artefacts: Path) -> Iterator[Windows]:
    opened = Windows(browser, building, artefacts)
    yield opened
    opened.close()


def links_of(windows: Windows, lead) -> dict[str, str]:
    """The lead makes a link for everybody."""
    found = {}
    lead.get_by_role("link", name="Authors and links").click()
    for name in TEAM:
        lead.get_by_role("button", name=f"Make a link for {name}").click()
        found[name] = lead.locator("#made-url").input_value()
        windows.look("lead", "people")
    return found


def add_all(windows: Windows) -> None:
    for name, concept in zip(TEAM, CONCEPTS, strict=False):
        page = windows.pages[name]
        windows.look(name, "home-empty")
        page.locator("#concept").fill(concept)
        page.locator("#category").fill("food" if concept != "wedding-gift" else "gifts")
        page.get_by_role("button", name="Add").click()
        page.get_by_text("The concept is added.").wait_for()


def hand_in(windows: Windows, who: str, concept: str) -> None:
    page = windows.pages[who]
    us, cn, question = CONCEPTS[concept]
    page.goto(f"{windows.building.url}/author")
    page.get_by_role("link", name=concept).click()
    page.get_by_label("the United States").fill(us)
    page.get_by_role("button", name="Hand in for review").click()
    page.get_by_role("alert").wait_for()
    assert page.get_by_label("the United States").input_value() == us
    windows.look(who, "refused")
    page.get_by_label("mainland China").fill(cn)
    page.get_by_label("English").fill(question)
    page.get_by_label("中文", exact=True).fill("这有多合适？" + concept)
    windows.look(who, "writing")
    page.get_by_role("button", name="Hand in for review").click()
    page.get_by_text("Handed in.").wait_for()


def decide(windows: Windows, who: str, concept: str, choice: str, note: str = "") -> None:
    page = windows.pages[who]
    page.goto(f"{windows.building.url}/author")
    windows.look(who, f"home-{choice.split(' ')[0].strip(':').lower()}")
    page.get_by_role("link", name=concept).click()
    page.get_by_label(re.compile(f"^{choice}")).check()
    page.get_by_label("What you want to say").fill(note)
    windows.look(who, "deciding")
    page.get_by_role("button", name="Send").click()
    page.get_by_role("status").wait_for()


def revise(windows: Windows, who: str, concept: str) -> None:
    page = windows.pages[who]
    page.goto(f"{windows.building.url}/author/concepts/{concept}")
    page.get_by_label("English").fill(CONCEPTS[concept][2].replace("How", "Today, how"))
    page.get_by_label("What you changed").fill("It names the day now.")
    windows.look(who, "revising")
    page.get_by_role("button", name="Hand in the revision").click()
    page.get_by_text("The revision is handed in.").wait_for()


def screened(building: Building) -> None:
    """What a screening left in the history, without numbers for one pair."""
    suggested = {"tea": {"verdict": "drop", "reasons": ["gap"]}, "wedding-gift": {"verdict": "undecided"}}
    with open_history(building.folder) as book:
        book.append({"kind": "screened", "pairs": suggested})
    head = "concept,verdict,mode,measure,finding,value,low,high,threshold,n,undefined,facts,signature"
    facts = '"{""observed"": 0.1, ""noise_floor"": 0.3, ""pools"": [""us"", ""cn""]}"'
    rows = [
        f"tea,drop,uncontested,gap,drop,0.1,-0.2,0.3,0.4,40,,{facts},",
        "tea,drop,factual,factual,keep,0.1,0.05,0.2,0.5,40,,{},",
    ]
    (building.folder / "screening.csv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")


def test_every_page_is_fit_for_everybody_who_authors_and_reviews(windows: Windows, building: Building):
    lead = windows.open("lead", building.ready.lead_link, locale="en")
    lead.wait_for_url("**/lead")
    for name, link in links_of(windows, lead).items():
        page = windows.open(name, link, locale="en", java_script_enabled=name != "chen")
        if name == "chen":
            page.get_by_label("Your link").fill(link)
            page.get_by_role("button", name="Open").click()
        page.wait_for_url("**/author")
        assert page.get_by_text(f"You are {name}").is_visible()
        assert link.partition("#")[2] not in page.url
    add_all(windows)
    people = {one.concept: (one.author, one.reviewer) for one in standings(_history(building)).values()}
    assert people == {"tea": ("ana", "bo"), "wedding-gift": ("bo", "chen")}
    for concept, (author, _) in people.items():
        hand_in(windows, author, concept)
    for concept, (_, reviewer) in people.items():
        decide(windows, reviewer, concept, "Review", "Name the day, please.")
    for concept, (author, _) in people.items():
        revise(windows, author, concept)
    for concept, (_, reviewer) in people.items():
        decide(windows, reviewer, concept, "Accept")
    windows.look(people["tea"][1], "accepted")
    assert {one.state for one in standings(_history(building)).values()} == {"accepted"}
    assert read_concepts(building.folder).by_concept()["tea"][0].prompts["en"].startswith("Today, how fitting")
    the_lead_looks(windows, building)
    assert [fault for fault in windows.faults if "422" not in fault] == []


def test_what_was_typed_is_there_after_signing_in_again(windows: Windows, building: Building):
    add(building.folder, "tea", "ana", "food")
    concept = f"{building.url}/author/concepts/tea"
    link = building.link("ana")
    page = windows.open("ana", link, locale="en")
    page.wait_for_url("**/author")
    page.goto(concept)
    page.get_by_label("the United States").fill("Iced tea\nin a <tall> glass")
    page.locator("#note").fill("Is a glass right?")
    page.context.clear_cookies()
    page.locator("button[value=save]").click()
    assert "Iced tea" not in page.locator("main").inner_text()
    page.goto(link)
    page.wait_for_url("**/author")
    page.goto(concept)
    assert page.get_by_label("the United States").input_value() == "Iced tea\nin a <tall> glass"
    assert "stands in the form again" in page.get_by_role("status").inner_text()
    windows.look("ana", "draft")
    page.locator("button[value=save]").click()
    page.get_by_text("Saved as a draft, not handed in.").wait_for()
    page.get_by_text("stands in the form again").wait_for()  # the note is not saved with a text that is not handed in
    assert page.locator("#note").input_value() == "Is a glass right?"
    assert read_concepts(building.folder).by_concept()["tea"][0].realisation.endswith("in a <tall> glass")
    page.get_by_role("button", name="Show what is saved").click()
    assert page.locator("#note").input_value() == ""
    assert page.evaluate("localStorage.length") == 0
    page.get_by_label("the United States").fill("Hot tea")
    write(building.folder, "tea", "ana", realisations={"us": "A pot of tea"})
    page.goto(concept)
    assert page.get_by_label("the United States").input_value() == "A pot of tea"
    assert "Hot tea" in page.locator("[data-draft=older]").inner_text()
    page.get_by_role("button", name="Throw it away").click()
    assert page.evaluate("localStorage.length") == 0
    assert [fault for fault in windows.faults if "401" not in fault] == []


def the_lead_looks(windows: Windows, building: Building) -> None:
    screened(building)
    lead = windows.pages["lead"]
    for name, path in {
        "lead": "/lead", "lead-concept": "/lead/concepts/tea", "screening": "/lead/screening",
        "pair": "/lead/screening/tea", "enter": "/author/enter",
    }.items():  # fmt: skip
        lead.goto(building.url + path)
        windows.look("lead", name)
    lead.goto(f"{building.url}/lead/screening/tea")
    lead.get_by_label("Keep the pair").check()
    lead.locator("#why").fill("The gap is known from the first round.")
    lead.get_by_role("button", name="Send").click()
    lead.get_by_text("Your decision is recorded.").wait_for()
    lead.get_by_role("button", name="中文").click()
    for name, path in {"lead-zh": "/lead", "pair-zh": "/lead/screening/tea", "people-zh": "/lead/people"}.items():
        lead.goto(building.url + path)
        assert lead.locator("html").get_attribute("lang") == "zh-Hans"
        windows.look("lead", name)


def _history(building: Building) -> History:
    return read_history(building.folder)
