"""The pages of a profile: the report's own numbers, the choice in the address, files, what is not there."""

from __future__ import annotations

import csv
import io
import json
import re
import threading
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from starlette.testclient import TestClient
from tests.web.room.profiles_world import FORMULA, STUB, everything, library, many_cells

from voirdire.reporting.words import Words
from voirdire.web.room import profiles_view
from voirdire.web.room.application import make_room

PAGES = {
    "two": ("", "/judges", "/pair", "/slices", "/notes", "/estimates"),
    "six": ("", "/judges", "/pair", "/slices", "/notes", "/estimates"),
    "none": ("", "/notes", "/estimates"),
    "factorial": ("", "/judges", "/pair", "/slices", "/experiment", "/notes", "/estimates"),
    "pool": ("", "/judges", "/notes", "/estimates"),
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The room with every kind of profile; charts are not drawn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profiles_view, "svg_of", lambda _: STUB)
        room = make_room(everything(tmp_path_factory.mktemp("audits")))
        yield TestClient(room, base_url="http://127.0.0.1")


@pytest.fixture
def client(house: TestClient) -> TestClient:
    """Somebody who has not chosen a language."""
    house.cookies.clear()
    return house


DRAWING = profiles_view.svg_of


class Tables(HTMLParser):
    """The tables of a page by id: rows of texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: dict[str, list[list[str]]] = {}
        self._name = ""
        self._in = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._name = dict(attrs).get("id") or ""
            self.found.setdefault(self._name, [])
        elif tag == "tr" and self._name:
            self.found[self._name].append([])
        elif tag in ("td", "th") and self._name:
            self.found[self._name][-1].append("")
            self._in = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._name = ""
        self._in = self._in and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._in and self._name:
            self.found[self._name][-1][-1] += data


def csv_of(client: TestClient, address: str) -> list[list[str]]:
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    return list(csv.reader(io.StringIO(answer.text)))


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("audit", PAGES)
def test_every_part_is_a_page_without_style_or_script_of_its_own(client: TestClient, audit: str, lang: str) -> None:
    first = client.get(f"/profiles/{audit}?lang={lang}")
    links = re.findall(
        r'href="/profiles/[^"/?]+(/[a-z]+)?\?[^"]*"', first.text.split('class="tabs"')[1].split("</nav>")[0]
    )
    assert tuple(links) == PAGES[audit]
    for path in PAGES[audit]:
        page = client.get(f"/profiles/{audit}{path}?lang={lang}")
        assert page.status_code == 200, path
        assert f'lang="{"zh-Hans" if lang == "zh" else "en"}"' in page.text
        assert not re.search(r"\sstyle=|<style|\son[a-z]+=", page.text), path
        assert re.findall(r"<script(?! src=)", page.text) == []
        assert "evil.example" not in re.sub(r">[^<]*<", "><", page.text), "an address from a text is a link"
        assert "<b>" not in page.text
        assert "nan" not in re.findall(r"<td[^>]*>([^<]*)", page.text.lower())


def test_the_numbers_of_the_judges_table_are_those_of_the_estimates(client: TestClient, tmp_path: Path) -> None:
    estimates = client.app.state.service.library.audit("two").profile.estimates
    words = Words("en")
    rows = csv_of(client, "/profiles/two/judges/table/judges.csv")
    head, seen = rows[0], 0
    for row in rows[1:]:
        here = dict(zip(head, row, strict=True))
        judge = estimates.filter(pl.col("judge").map_elements(words.judge, pl.String) == here["Judge"])
        judge = judge.filter(pl.col("condition") == "*")
        for title, name in (("MAE", "mae"), ("Bias", "bias"), ("Pearson r", "pearson")):
            place = {"statistic": name, "params": "", "pool": here["Pool"], "slice": "all"}
            found = judge.filter(**place)
            if found.height:
                (one,) = found.to_dicts()
                wanted = "—" if one["value"] is None else words.number(name, one["value"])
                assert here[title].split(" ")[0] == wanted
                if one["low"] is not None:
                    assert words.number(name, one["low"]) in here[title]
                seen += 1
    assert seen == 30
    table = Tables(client.get("/profiles/two/judges").text).found["table-judges"]
    assert table[1][3].split(" ")[0] == rows[1][3].split(" ")[0]


def test_a_slice_shows_its_own_numbers(client: TestClient) -> None:
    estimates = client.app.state.service.library.audit("two").profile.estimates
    words = Words("en")
    place = {"statistic": "tilt", "params": "", "judge": "claude-like", "condition": "*"}
    values = {
        part: words.number("tilt", estimates.filter(slice=part, **place)["value"].item())
        for part in ("all", "culture=cn", "culture=us")
    }
    assert len(set(values.values())) == 3
    for part, value in values.items():
        query = "" if part == "all" else "?slice=" + part.replace("=", "%3D")
        rows = csv_of(client, f"/profiles/two/pair/table/pair-1.csv{query}")
        column = rows[0].index("T")
        (row,) = [row for row in rows if row[0] == "claude-like"]
        assert row[column].split(" ")[0] == value
    page = client.get("/profiles/two/pair?slice=culture%3Dcn").text
    assert '<option value="culture=cn" selected>' in page
    assert "distributions" not in client.get("/profiles/two/judges?slice=culture%3Dcn").text


def test_the_choice_stays_in_every_link(client: TestClient) -> None:
    page = client.get("/profiles/six/pair?question=q2&pair=us,in&slice=region%3Da").text
    assert '<option value="q2" selected>' in page
    assert '<option value="us,in" selected>' in page
    tabs = page.split('class="tabs"')[1].split("</nav>")[0]
    for part in ("/judges", "/pair", "/slices"):
        assert f'href="/profiles/six{part}?question=q2&amp;slice=region%3Da&amp;pair=us%2Cin"' in tabs
    judges = client.get("/profiles/six/judges?question=q2&pair=us,in").text
    assert '<input type="hidden" name="pair" value="us,in">' in judges
    assert "lang=zh" in page
    reverse = client.get("/profiles/six/pair?question=q2&pair=in,us").text
    assert '<option value="us,in" selected>' in reverse


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("/profiles/other", "other"),
        ("/profiles/two/other", "other"),
        ("/profiles/two?question=q9", "q9"),
        ("/profiles/two/pair?pair=us,xx", "us,cn"),
        ("/profiles/two/pair?slice=colour%3Dred", "voirdire audit ... --slice colour"),
        ("/profiles/two/pair?slice=%3Cb%3E%27%3Bx", "--slice"),
        ("/profiles/two/judges/table/none.csv", "none.csv"),
        ("/profiles/two/judges/table/judges.exe", "judges.exe"),
        ("/profiles/two/judges/figure/..%2Fx.svg", ""),
        ("/profiles/two/judges/figure/none.svg", "none.svg"),
    ],
)
def test_what_is_not_there_is_a_page_with_words(client: TestClient, address: str, says: str, lang: str) -> None:
    answer = client.get(f"{address}{'&' if '?' in address else '?'}lang={lang}")
    assert answer.status_code == 404
    assert "<html" in answer.text
    assert says in answer.text
    assert "<b>" not in answer.text


def test_a_pair_that_was_not_compared_says_how_to_get_it(client: TestClient) -> None:
    page = client.get("/profiles/pair/pair?pair=in,ng").text
    assert "voirdire audit ... --pair in,ng" in page
    assert "table-pairs" in page
    assert "data-chart" not in page.split('class="report"')[1]
    hostile = client.get("/profiles/pair/pair?pair=us,b<r>").text
    assert "--pair &#39;us,b&lt;r&gt;&#39;" in hostile
    assert "--pair" not in client.get("/profiles/pair/pair?pair=us,cn").text


def test_items_that_split_two_pools_lead_to_the_shelf(client: TestClient) -> None:
    page = client.get("/profiles/two/pair").text
    assert 'href="/items/tea?question=q1&amp;a=us&amp;b=cn&amp;sort=gap"' in page
    assert 'href="/items/tea/1?question=q1&amp;a=us&amp;b=cn"' in page
    assert 'href="/items/' not in client.get("/profiles/six/pair").text.split('class="report"')[1]


def test_files_have_safe_names_and_disarmed_formulas(client: TestClient) -> None:
    for address, name in (
        ("/profiles/two/pair/table/pair-1.csv?slice=culture%3Dcn", "two-q1-us-cn-culture-cn-pair-1.csv"),
        ("/profiles/six/pair/table/pair-1.tex?question=q2&pair=us,b%3Cr%3E", "six-q2-us-b-r-pair-1.tex"),
        ("/profiles/six/pair/figure/tilt-1.svg", "six-q1-us-cn-tilt-1.svg"),
        ("/profiles/six/pair/table/tilt-1-data.csv", "six-q1-us-cn-tilt-1-data.csv"),
        ("/profiles/two/estimates.csv", "two-estimates.csv"),
        ("/profiles/two/profile.json", "two-profile.json"),
    ):
        answer = client.get(address)
        assert answer.status_code == 200, address
        assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
        assert answer.headers["x-content-type-options"] == "nosniff"
    rows = csv_of(client, "/profiles/formula/judges/table/judges.csv")
    assert rows[1][0] == f"'{FORMULA}"
    behind = csv_of(client, "/profiles/formula/pair/table/tilt-1-data.csv")
    assert f"'{FORMULA}" in [row[0] for row in behind]
    assert f"'{FORMULA}" in client.get("/profiles/formula/estimates.csv").text


def test_estimates_are_looked_through(client: TestClient) -> None:
    estimates = client.app.state.service.library.audit("two").profile.estimates
    query = "statistic=tilt&judge=claude-like&slice=culture%3Dcn"
    page = client.get(f"/profiles/two/estimates?{query}")
    held = estimates.filter(statistic="tilt", judge="claude-like", slice="culture=cn")
    assert f"{held.height} estimates." in page.text
    assert f"{held['value'][0]:.6g}".replace("-", "−") in page.text
    got = pl.read_csv(io.StringIO(client.get(f"/profiles/two/estimates.csv?{query}").text))
    assert got["value"].to_list() == pytest.approx(held["value"].to_list())
    assert "0 estimates." in client.get("/profiles/two/estimates?judge=nobody").text
    assert client.get("/profiles/two/estimates?page=99999").status_code == 200
    undefined = client.get("/profiles/two/estimates?statistic=split_half").text
    assert '<span class="why">' in undefined
    document = json.loads(client.get("/profiles/two/profile.json").content)
    assert document["estimates"]["statistic"] == estimates["statistic"].to_list()


def test_a_page_of_three_hundred_cells_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiles_view, "svg_of", lambda _: STUB)
    client = TestClient(make_room(library(tmp_path, many=many_cells())), base_url="http://127.0.0.1")
    first = client.get("/profiles/many/judges").text
    monkeypatch.setattr(profiles_view, "_drawn", None)
    started = time.process_time()
    assert client.get("/profiles/many/judges").text == first
    assert time.process_time() - started < 0.3


def test_a_long_folded_table_has_an_address_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiles_view, "svg_of", lambda _: STUB)
    client = TestClient(make_room(library(tmp_path, many=many_cells())), base_url="http://127.0.0.1")
    page = client.get("/profiles/many/pair?lang=en").text
    found = re.findall(r': (\d+) rows\. <a href="(/profiles/many/pair\?[^"#]*open=([^"&#]+))#table-', page)
    assert found
    assert len(page) < 200_000
    for count, link, name in found:
        assert int(count) > profiles_view.MOST_FOLDED
        assert f'id="table-{name}"' not in page
        opened = client.get(link.replace("&amp;", "&")).text
        assert opened.count(f'id="table-{name}"') == 1
        assert len(Tables(opened).found[f"table-{name}"]) > int(count)
        before = opened[: opened.index(f'id="table-{name}"')]
        assert before.rindex("<details open>") > before.rindex("</details>")
        assert len(csv_of(client, f"/profiles/many/pair/table/{name}.csv")) == int(count) + 1
    assert client.get("/profiles/many/pair?lang=en&open=nothing").text.count("<details open>") == 0


def test_a_chart_is_drawn_apart_and_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiles_view, "svg_of", DRAWING)
    client = TestClient(make_room(everything(tmp_path)), base_url="http://127.0.0.1")
    client.get("/profiles/pool")
    waited: list[float] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            before = time.perf_counter()
            time.sleep(0.005)
            waited.append(time.perf_counter() - before)

    profiles_view.PENCIL.ask(abs, -1)
    watcher = threading.Thread(target=watch)
    now = profiles_view.reading(client.app.state.service, "pool", "judges", {}, "en")
    figure = profiles_view.sections_of(now).figures()[0]
    spec = figure.spec
    watcher.start()
    started = time.perf_counter()
    drawn = profiles_view.PENCIL.ask(profiles_view.drawing.svg, spec)
    took = time.perf_counter() - started
    done.set()
    watcher.join()
    assert drawn.startswith("<svg")
    assert len(waited) > 10 or took < 0.1
    page = client.get("/profiles/pool/judges").text
    assert 'role="graphics-symbol" aria-label="a, us: ' in page
    assert not re.search(r"\sstyle=", page)
