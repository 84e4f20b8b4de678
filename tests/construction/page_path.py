"""Three people author the concepts on the pages, each in a browser window of their own; the program is killed once."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tests.construction.whole_path import CATEGORIES, KINDS, QUESTIONS, REVISED, SHOWN, TEAM
from tests.web.authoring_world import Command

from voirdire.construction.history import read_history
from voirdire.construction.standing import Standing, standings
from voirdire.texts import text

ROUND = 0.25
"""Seconds within which the program is killed after three people pressed the button: some are answered by then."""


@dataclass
class Desks:
    """The windows of the team, and the program that serves their pages.

    kept : person -> what was typed when the program was killed, and what the form shows when it runs again
    entered : where the lead's page leads after that; faults : errors of scripts
    """

    folder: Path
    browser: Any
    serving: Command
    pages: dict[str, Any] = field(default_factory=dict)
    kept: dict[str, tuple[str, str]] = field(default_factory=dict)
    entered: str = ""
    faults: list[str] = field(default_factory=list)

    def open(self, who: str, link: str) -> Any:
        page = self.browser.new_context(locale="en").new_page()
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.goto(link)
        self.pages[who] = page
        return page

    def go(self, who: str, path: str, *, anew: bool = False) -> Any:
        """The page of this address, as it was loaded where the window shows it already, unless it is to be anew."""
        page = self.pages[who]
        if anew or page.url.partition("?")[0] != self.serving.url + path:
            page.goto(self.serving.url + path)
        return page

    def people(self) -> Mapping[str, Standing]:
        return standings(read_history(self.folder))

    def enter(self) -> None:
        """The lead makes a link for each, and each opens it."""
        assert self.serving.told["authors"] == list(TEAM)
        lead = self.open("lead", self.serving.told["lead_link"])
        lead.wait_for_url("**/lead")
        for who in TEAM:
            self.go("lead", "/lead/people")
            lead.get_by_role("button", name=f"Make a link for {who}").click()
            self.open(who, lead.locator("#made-url").input_value()).wait_for_url("**/author")

    def add(self, who: str, concept: str) -> None:
        page = self.go(who, "/author")
        page.locator("#concept").fill(concept)
        page.locator("#category").fill(CATEGORIES[concept])
        self.press(who, page.get_by_role("button", name="Add"), "add")

    def press(self, who: str, button: Any, done: str) -> None:
        """Press a button, and wait for the page to say that it is done."""
        button.click()
        self.pages[who].get_by_text(text(f"authoring.done.{done}")).wait_for()

    def killed_while_they_save(self, rng: np.random.Generator) -> None:
        """Everybody types and saves at the same time, and the program ends; then it runs again at its old address."""
        first = {one.author: name for name, one in reversed(self.people().items())}
        for who, concept in first.items():
            page = self.go(who, f"/author/concepts/{concept}")
            page.locator('[name="realisation.us"]').fill(SHOWN[concept][0])
        for who in first:
            self.pages[who].evaluate("setTimeout(() => document.querySelector('[value=save]').click(), 0)")
        time.sleep(float(rng.uniform(0, ROUND)))
        self.serving.kill()
        self.serving = Command(self.folder, self.serving.port)
        self.serving.__enter__()
        for who, concept in first.items():
            self.kept[who] = (SHOWN[concept][0], self.shown_again(who, concept))
        self.entered = self.go("lead", "/lead").url

    def shown_again(self, who: str, concept: str) -> str:
        """What the form holds; opened anew where the browser shows its own page about a program that was gone."""
        page = self.go(who, f"/author/concepts/{concept}")
        page.wait_for_load_state()
        if not page.locator('[name="realisation.us"]').count():
            page = self.go(who, f"/author/concepts/{concept}", anew=True)
        return str(page.locator('[name="realisation.us"]').input_value())

    def hand_in(self, concept: str, who: str, **fields: str) -> None:
        page = self.go(who, f"/author/concepts/{concept}")
        for name, words in fields.items():
            page.locator(f'[name="{name.replace("_", ".")}"]').fill(words)
        again = self.people()[concept].state == "reviewed"
        self.press(who, page.locator("[value=hand_in]"), "revise" if again else "submit")

    def decide(self, concept: str, who: str, action: str, note: str = "", reason: str = "") -> None:
        page = self.go(who, f"/author/concepts/{concept}", anew=concept in REVISED)
        page.locator(f"[name=action][value={action}]").check()
        page.locator("#reason").select_option(reason)
        page.locator("#decision-note").fill(note)
        self.press(who, page.get_by_role("button", name="Send"), action)


def authored(desks: Desks) -> None:
    """All concepts, from an empty table to where the reviewers have decided on each."""
    desks.enter()
    for place, concept in enumerate(KINDS):
        if place == len(TEAM):
            desks.killed_while_they_save(np.random.default_rng(20261130))
        desks.add(TEAM[place % len(TEAM)], concept)
        if place >= len(TEAM):
            through(desks, concept)
    for concept in list(KINDS)[: len(TEAM)]:
        through(desks, concept)


def through(desks: Desks, concept: str) -> None:
    """A concept from its empty page to where its reviewer has decided."""
    one, (us, cn) = desks.people()[concept], SHOWN[concept]
    desks.hand_in(concept, one.author, realisation_us=us, realisation_cn=cn, prompt_en=QUESTIONS[concept])
    if KINDS[concept] == "withdrawn":
        desks.decide(concept, one.reviewer, "reject", "Only the clothes differ.", "stereotype")
        return
    desks.decide(concept, one.reviewer, "review", "Say whose present." if concept in REVISED else "Good.")
    if concept in REVISED:
        desks.hand_in(concept, one.author, prompt_en=REVISED[concept])
    desks.decide(concept, one.reviewer, "accept")


@contextmanager
def desks_of(folder: Path, browser: Any) -> Iterator[Desks]:
    """The program and its windows, for the length of a ``with``."""
    desks = Desks(folder, browser, Command(folder))
    desks.serving.__enter__()
    try:
        yield desks
    finally:
        desks.serving.kill()
