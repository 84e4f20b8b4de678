"""A rater at a browser: what one does with keys, fingers and the network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import select
from tests.web.running import Here

from voirdire.annotation.assignments import work
from voirdire.annotation.raters import raters
from voirdire.annotation.schema import events

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
SMALL = {"viewport": {"width": 320, "height": 640}, "has_touch": True, "is_mobile": True}
DESK = {"viewport": {"width": 1280, "height": 800}}
PATIENCE = 15000
QUIET = ("net::ERR_INTERNET_DISCONNECTED", "net::ERR_FAILED", "the server responded with a status of")


class Browsing:
    """A window of the browser with cookies of its own; complains of what the page complained of."""

    def __init__(self, browser, **options) -> None:
        self.context = browser.new_context(**(options or DESK))
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._heard)

    def _heard(self, message) -> None:
        if message.type in ("error", "warning") and not any(part in message.text for part in QUIET):
            self.faults.append(message.text)

    def join(self, link: str) -> Browsing:
        """Take part by clicking, and begin with the first item."""
        self.page.goto(link)
        self.page.check("#consent")
        self.page.click("#join .button.primary")
        self.page.wait_for_url("**/welcome")
        self.page.click(".button.primary")
        self.ready()
        return self

    def ready(self) -> None:
        """Until an item is shown."""
        self.page.wait_for_function("() => document.getElementById('where')?.textContent")

    def tab_to(self, selector: str) -> None:
        """Press Tab until an element has the focus."""
        for _ in range(40):
            self.page.keyboard.press("Tab")
            if self.page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
                return
        raise AssertionError(selector)

    def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def saved(self) -> None:
        """Until every answer is saved."""
        self.page.wait_for_selector("#save[data-state=saved]")
        self.page.wait_for_function(
            "() => Object.keys(localStorage).every((key) => !key.startsWith('voirdire.answer.'))"
        )

    def waiting(self) -> int:
        """How many answers this browser keeps for later."""
        held = "Object.keys(localStorage).filter((key) => key.startsWith('voirdire.answer.')).length"
        return self.page.evaluate(held)

    @property
    def number(self) -> int:
        """The number of the item that is shown."""
        return int(self.page.inner_text("#foot-where").split(" / ")[0])

    def until(self, number: int) -> None:
        """Until the item of a number is shown."""
        self.page.wait_for_function(
            """(number) => !document.getElementById('desk').hidden
                && document.getElementById('foot-where').textContent.startsWith(`${number} /`)""",
            arg=number,
        )

    def answers(self) -> list[str | None]:
        """What is chosen in each question with levels."""
        return self.page.evaluate(
            """() => [...document.querySelectorAll('.question')]
                .map((one) => one.querySelector('.scale input:checked')?.value ?? null)"""
        )

    @property
    def prompt(self) -> str:
        """The question of the item, which is the wording of the first question."""
        return self.page.inner_text(".question[data-of-item] .words")

    def focused(self) -> str:
        """The question and value that have the focus."""
        return self.page.evaluate("`${document.activeElement.name || document.activeElement.id}`")


@contextmanager
def browsing(browser, **options) -> Iterator[Browsing]:
    """A window that is closed at the end, and was content with every page."""
    window = Browsing(browser, **options)
    try:
        yield window
        assert window.faults == []
    finally:
        window.context.close()


def given(here: Here, place: int = 0) -> list[dict[str, str]]:
    """Question -> value for each item of a rater, in order."""
    who = raters(here.database, here.batch)[place]
    orders = work(here.database, who.id)
    return [{name: one.answers[name].value for name in sorted(one.answers)} for one in orders]


def history(here: Here) -> Counter[tuple[str, str]]:
    """How often each (assignment, question) was answered."""
    with here.database.reading() as connection:
        rows = connection.execute(
            select(events).where(events.c.kind == "answer", events.c.batch_id == here.batch)
        ).all()
    return Counter((row.assignment_id, row.question) for row in rows)
