from __future__ import annotations

import re
from itertools import pairwise

import polars as pl
import pytest
from tests.reporting.fake_profile import HOSTILE_JUDGE, FakeProfile
from tests.reporting.pages import parse

from voirdire.reporting.report import notebook, render_html

MISSING = re.compile(r"(?<![\w-])(nan|NaN|None|null|undefined|inf)(?![\w-])")


def test_page_is_well_formed_and_ids_are_unique(page):
    root = parse(page[2])
    ids = [element.attrs["id"] for element in root.all() if "id" in element.attrs]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[\w-]+", name) for name in ids)


def test_every_inner_link_leads_somewhere(page):
    root = parse(page[2])
    ids = {element.attrs.get("id") for element in root.all()}
    links = [element.attrs["href"] for element in root.all("a", "use") if "href" in element.attrs]
    assert links
    assert all(link.startswith("#") and link[1:] in ids for link in links)


def test_nothing_is_fetched_and_nothing_runs(page):
    root = parse(page[2])
    for element in root.all():
        assert element.tag not in {"script", "iframe", "object", "embed", "link", "base", "form", "foreignobject"}
        for name, value in element.attrs.items():
            assert not name.startswith("on"), (element.tag, name)
            if name in {"src", "srcset", "data", "action", "poster", "background", "href", "xlink:href"}:
                assert (value or "").startswith(("#", "data:image/jpeg;base64,")), (element.tag, value)
            if name != "content":
                assert "url(http" not in (value or "")
    assert "@import" not in page[2]
    assert "url(" not in "".join(element.text for element in root.all("style"))


def test_content_security_policy_comes_before_everything_it_guards(page):
    metas = [element for element in parse(page[2]).all("meta") if element.attrs.get("http-equiv")]
    assert metas[0].attrs["content"].startswith("default-src 'none';")
    assert "script-src" not in metas[0].attrs["content"]
    assert page[2].index("Content-Security-Policy") < page[2].index("<style")


def test_headings_are_in_order(page):
    levels = [int(element.tag[1]) for element in parse(page[2]).all("h1", "h2", "h3", "h4", "h5")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_verdicts_come_first(page):
    headings = [element.attrs.get("id") for element in parse(page[2]).all("h2")]
    assert headings[0] == "verdicts"


def test_tables_have_captions_and_scoped_headers(page):
    tables = list(parse(page[2]).all("table"))
    assert tables
    for table in tables:
        assert table.children[0].tag == "caption"
        assert all(head.attrs.get("scope") in {"col", "row", "colgroup", "rowgroup"} for head in table.all("th"))


def test_tables_are_rectangular(page):
    for table in parse(page[2]).all("table"):
        widths = set()
        open_spans: list[list[int]] = []
        for row in table.all("tr"):
            carried = sum(width for width, left in open_spans if left > 0)
            cells = [(int(c.attrs.get("colspan", "1")), int(c.attrs.get("rowspan", "1"))) for c in row.children]
            widths.add(carried + sum(width for width, _ in cells))
            open_spans = [[w, left - 1] for w, left in open_spans if left > 1] + [[w, n - 1] for w, n in cells if n > 1]
        assert len(widths) == 1, (table.attrs.get("id"), widths)


def test_figures_have_names_and_tables(page):
    name, _, html = page
    figures = list(parse(html).all("figure"))
    assert len(figures) >= (3 if name == "two" else 6 if name == "six" else 0)
    for figure in figures:
        charts = [part for part in figure.all("div") if part.attrs.get("role") == "img"]
        assert charts
        assert charts[0].attrs["aria-label"]
        assert any(True for _ in charts[0].all("svg"))


def test_no_missing_value_is_printed_as_such(page):
    root = parse(page[2])
    for style in root.all("style"):
        style.texts.clear()
    for code in root.all("code"):
        code.texts.clear()
    found = MISSING.search(re.sub(r"\b(missing|none)\b", "", root.text))
    allowed = {"undefined"} if page[1] == "en" else set()
    assert found is None or found.group() in allowed, root.text[found.start() - 60 : found.end() + 60]


def test_hostile_texts_are_shown_as_texts(page):
    name, _, html = page
    assert "<script" not in html.lower()
    assert "<b>judge" not in html
    assert "<i>one" not in html
    if name == "two":
        assert HOSTILE_JUDGE in parse(html).text
        assert "判断模型甲" in html


def test_language_is_declared(page):
    root = parse(page[2])
    declared = next(iter(root.all("html"))).attrs["lang"]
    assert declared == {"en": "en", "zh": "zh-Hans"}[page[1]]


def test_simulated_corpus_has_a_banner(page):
    banners = [e for e in parse(page[2]).all("div") if e.attrs.get("class") == "banner"]
    assert len(banners) == (0 if page[0] == "none" else 1)


def test_undefined_cells_have_a_mark_and_a_reason(profiles):
    root = parse(render_html(profiles["two"]))
    cells = [cell for cell in root.all("td") if cell.text.startswith("\u2014")]
    assert cells
    assert all(cell.attrs.get("title") for cell in cells)
    tables = {table.attrs.get("id") for table in root.all("table")}
    assert "table-undefined" in tables


def test_size_of_a_large_audit():
    from tests.reporting import fake_profile as fake

    judges = [f"judge-{place}" for place in range(6)]
    conditions = [f"condition-{place}" for place in range(50)]
    profile = fake.make(["us", "cn"], judges, conditions, ["q1"], ["culture=cn", "culture=us"])
    html = render_html(profile)
    assert len(html.encode()) < 5_000_000
    assert html.count("condition-49") >= 6


def test_no_pooled_agreement(profiles):
    """Each MAE names the pool whose consensus it is a distance from."""
    root = parse(render_html(profiles["two"]))
    table = next(t for t in root.all("table") if t.attrs.get("id") == "table-q1-judges")
    heads = [th.text for th in table.all("thead").__next__().all("th")]
    assert heads[:2] == ["Judge", "Pool"]
    pools = [th.text for th in table.all("th") if th.attrs.get("scope") == "row"]
    assert set(pools) == {"us", "cn"}


def test_two_definitions_never_share_a_column(profiles):
    """A row with another consensus rule gets a column of its own."""
    profile = profiles["two"]
    changed = profile.estimates.with_columns(
        signature=pl.when((pl.col("statistic") == "mae") & (pl.col("pool") == "cn"))
        .then(pl.col("signature").str.replace("consensus=mean", "consensus=median"))
        .otherwise(pl.col("signature"))
    )
    root = parse(render_html(FakeProfile(changed, profile.meta, profile.distributions, profile.items)))
    table = next(t for t in root.all("table") if t.attrs.get("id") == "table-q1-judges")
    heads = [th.text for th in next(iter(table.all("thead"))).all("th")]
    assert len([head for head in heads if re.fullmatch(r"MAE \(consensus: \w+\)\d+", head)]) == 2


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_notebook_view_is_a_fragment(profiles, lang):
    root = parse(notebook(profiles["two"], lang))
    assert not list(root.all("html", "script", "style", "a"))
    assert HOSTILE_JUDGE in root.text
