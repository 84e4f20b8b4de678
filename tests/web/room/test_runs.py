"""Pages of runs: written by another process while they are looked at, killed, gone on with, finished."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import time
from functools import partial
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.browsing.test_progress import answer, begun
from tests.judging.engine_world import corpus, go, plan_of
from tests.web.room.run_world import HOSTILE, World, finished_world

from voirdire.browsing import progress
from voirdire.browsing.library import Library, Run
from voirdire.browsing.progress import RunWatch
from voirdire.judging.nouns import RunStopped
from voirdire.judging.run_folder import LEDGER
from voirdire.judging.tally import Calls, Place, Tally
from voirdire.web.room import runs_pages
from voirdire.web.room.application import make_room
from voirdire.web.room.runs_view import RunView, Words

STATUSES = ("ok", "malformed", "refused", "error", "pending")


class Tables(HTMLParser):
    """The rows of all tables of a page, as texts, below the heading before them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, list[str]]] = {}
        self._heading, self._row, self._text = "", list[str](), ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag in ("h2", "h3", "th", "td"):
            self._text = ""
        if tag == "tr":
            self._row = []

    def handle_endtag(self, tag: str) -> None:
        if tag in ("h2", "h3"):
            self._heading = self._text.strip()
        elif tag in ("th", "td"):
            self._row.append(" ".join(self._text.split()))
        elif tag == "tr" and self._row:
            self.rows.setdefault(self._heading, {})[self._row[0]] = self._row[1:]

    def handle_data(self, data: str) -> None:
        self._text += data


@pytest.fixture(autouse=True)
def always_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every request looks anew."""
    monkeypatch.setattr(runs_pages, "RunWatch", partial(RunWatch, fresh=0.0))


def client_of(library: Library) -> TestClient:
    return TestClient(make_room(library), base_url="http://127.0.0.1")


def page_says(page: str, told: dict[str, Any]) -> None:
    """Every number of ``voirdire run --status --json`` stands in the page."""
    tables = Tables(page).rows
    done = told["total"] - told["pending"]
    assert f"{done} of {told['total']} cells ({100 * done // told['total']} %)" in page
    for part, key in (("By judge", "judge"), ("By condition", "condition")):
        for name in {cell[key] for cell in told["cells"]}:
            counts = [
                str(sum(one["cells"] for one in told["cells"] if one[key] == name and one["status"] == status))
                for status in STATUSES
            ]
            assert tables[part][name][2:7] == counts
    for judge, kinds in told["attempts"].items():
        failed = sum(count for kind, count in kinds.items() if kind not in ("ok", "refused"))
        assert tables["By judge"][judge][7] == str(failed)
    if told["writer"]:
        assert f"Process {told['writer']} is writing" in page


def same_parts(client: TestClient) -> str:
    """The page, when what a script is told is what it holds: a session may begin between the two requests."""
    for _ in range(100):
        page, now = client.get("/runs/run"), client.get("/runs/run/now")
        assert (page.status_code, now.status_code) == (200, 200)
        apart = [name for name, part in now.json()["parts"].items() if part.strip() not in page.text]
        if not apart:
            return page.text
        time.sleep(0.05)
    raise AssertionError(apart)


def test_a_run_is_watched_killed_gone_on_with_and_finished(tmp_path: Path) -> None:
    """At each stop the page says what ``--status --json`` says."""
    world = World(tmp_path)
    client = client_of(world.library())

    def at(pending: int, *, writer: bool) -> str:
        told = world.wait(lambda told: told["pending"] == pending and bool(told["writer"]) == writer)
        page = same_parts(client)
        page_says(page, told)
        return page

    with world.running() as process:
        assert "running" in at(24, writer=True)
        world.allow(5)
        at(19, writer=True)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        killed = at(19, writer=False)
        assert "Its process ended without a word, with cells pending: 19" in killed
        assert 'class="chip state-killed"' in killed
    world.allow(0)
    with world.running() as process:
        assert "running" in at(19, writer=True)
        world.allow(7)
        at(12, writer=True)
        process.send_signal(signal.SIGINT)
        world.allow(8)
        assert process.wait(60) == 4
        told = world.status()
        stopped = at(told["pending"], writer=False)
        assert f"Stopped with {told['pending']} of 48 cells pending" in stopped
    world.allow(1000)
    with world.running() as process:
        assert process.wait(60) == 0
    finished = at(0, writer=False)
    assert "Every cell has an outcome." in finished
    assert client.get("/runs/run/now").json()["again"] is None


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A run with hostile replies and errors that was finished."""
    return finished_world(tmp_path_factory.mktemp("ended"))


def test_words_of_others_are_inert(ended: World) -> None:
    client = client_of(ended.library(title=HOSTILE))
    for path in ("/runs/run", "/runs", "/runs/run?lang=zh"):
        page = client.get(path).text
        assert "<img src=x" not in page
        assert "<script>alert" not in page
        assert "55433" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in client.get("/runs/run").text
    parts = client.get("/runs/run/now").json()["parts"]
    assert "<img src=x" not in "".join(parts.values())
    assert "&lt;img src=x" in parts["errors"]
    assert "\u202e" not in parts["errors"]


def test_counts_lead_to_the_items_behind_them(ended: World) -> None:
    page = client_of(ended.library()).get("/runs/run").text
    links = [unescape(link) for link in re.findall(r'href="(/items/[^"]*)"', page)]
    assert "/items/corpus?status=malformed" in links
    judge = f"python/{ended.judges}:poor".replace("/", "%2F").replace(":", "%3A")
    assert f"/items/corpus?status=error&judge={judge}" in links
    assert [link for link in links if re.fullmatch(r"/items/corpus/\d+", link)]
    alone = client_of(Library((), (Run("run", "run", ended.folder),))).get("/runs/run").text
    assert 'href="/items/' not in alone


def test_in_chinese_numbers_and_times_are_chinese(ended: World) -> None:
    page = client_of(ended.library()).get("/runs/run?lang=zh").text
    assert "48/48 个单元（100 %）" in page
    assert re.search(r"查看于 \d{4}年\d\d月\d\d日 \d\d:\d\d:\d\d", page)
    assert "By judge" not in page
    assert "无法解读" in page


def test_the_list_tells_how_far_each_run_is(ended: World, tmp_path: Path) -> None:
    gone = Run("gone", "gone", tmp_path / "gone")
    library = Library((), (*ended.library().runs, gone))
    page = client_of(library).get("/runs")
    assert page.status_code == 200
    assert "48 of 48 cells (100 %)" in page.text
    assert "The run cannot be shown" in page.text


def test_a_folder_that_goes_and_a_ledger_that_breaks_give_a_page_with_words(tmp_path: Path) -> None:
    go(plan_of(corpus(tmp_path / "c")), tmp_path / "run")
    client = client_of(Library((), (Run("run", "run", tmp_path / "run"),)))
    assert client.get("/runs/run").status_code == 200
    with sqlite3.connect(tmp_path / "run" / LEDGER) as db:
        db.execute("UPDATE meta SET value = '0' WHERE key = 'format'")
    runs_pages_say(client, 422, "is a ledger of format 0")
    for file in (tmp_path / "run").iterdir():
        file.unlink()
    (tmp_path / "run" / LEDGER).write_bytes(b"damaged" * 900)
    runs_pages_say(client, 422, "cannot be read")
    shutil.rmtree(tmp_path / "run")
    runs_pages_say(client, 404, "holds no run")
    assert client.get("/runs/other").status_code == 404
    assert client.get("/runs/other/now").status_code == 404


def runs_pages_say(client: TestClient, status: int, words: str) -> None:
    page, now = client.get("/runs/run"), client.get("/runs/run/now")
    assert (page.status_code, now.status_code) == (status, status)
    assert words in unescape(page.text)
    assert words in now.json()["error"]["message"]
    assert "<main" in page.text


def test_a_ledger_that_names_no_reason_of_ours_is_not_believed(tmp_path: Path) -> None:
    go(plan_of(corpus(tmp_path / "c")), tmp_path / "run")
    client = client_of(Library((), (Run("run", "run", tmp_path / "run"),)))
    for told in ('{"why": "errors.x"}', '{"why": "run.stopped_budget", "fields": {}}', "[1]", "{", '{"at": "x"}'):
        with sqlite3.connect(tmp_path / "run" / LEDGER) as db:
            db.execute("DROP TRIGGER IF EXISTS outcome_kept")
            db.execute("DELETE FROM outcome")
            db.execute("UPDATE meta SET value = ? WHERE key = 'ended'", (told,))
        assert client.get("/runs/run").status_code == 200


def test_a_large_ledger_says_that_it_is_being_counted(ended: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "Tally", partial(Tally, portion=20))
    monkeypatch.setattr(RunWatch.look, "__defaults__", (0.0,))
    client = client_of(ended.library())
    first = client.get("/runs/run")
    assert "The ledger is being counted for the first time" in first.text
    told = client.get("/runs/run/now").json()
    assert told["again"] < 1
    while told["again"] is not None:
        told = client.get("/runs/run/now").json()
    assert "48 of 48 cells" in told["parts"]["summary"]


def test_every_part_has_its_place_in_the_page(ended: World) -> None:
    page = client_of(ended.library()).get("/runs/run").text
    assert all(f'id="part-{name}"' in page for name in runs_pages.PARTS)
    assert " style=" not in page
    assert "<script>" not in page


def test_money_is_told_with_what_is_not_known_and_the_budget(tmp_path: Path) -> None:
    with begun(tmp_path) as run:
        run.ledger._db.execute("UPDATE judge SET facts = json_set(facts, '$.provider', 'openai') WHERE name = 'a'")
        answer(run, "a", 2)
        answer(run, "a", 1, cost=None)
        run.ledger.expose(0.25)
        run.stopped = RunStopped("run.stopped_budget", spent="1.00", limit="3.00", held="0.25", pending=9, total=12)
    page = client_of(Library((), (Run("run", "run", tmp_path / "run"),))).get("/runs/run").text
    for words in ("at least $1.00", "Budget: $3.00.", "cost is not known: 1.", "counts $0.2500 besides"):
        assert words in page
    assert "The next call does not fit into the budget: $1.00 of $3.00 are spent" in page
    assert Tables(page).rows["By judge"]["a"][-1] == "$1.00+"
    assert Tables(page).rows["By judge"]["b"][-1] == "free"


def test_a_kind_of_failure_is_called_by_the_judges_that_had_it() -> None:
    calls = {(Place("mine", "neutral_en", "en", "q1"), "request"): Calls(2, 0.0, 0)}
    counted = SimpleNamespace(providers={"mine": "python", "control/random": "control"}, calls=calls)
    seen: Any = SimpleNamespace(counted=counted, kinds=("request",))
    assert RunView(seen, Words("en")).kinds == (("request", "error in the judge"),)
