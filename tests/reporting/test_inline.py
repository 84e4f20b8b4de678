"""Charts inside a page without style, and what their marks say."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import pytest
from tests.reporting import fake_experiment, fake_profile

from voirdire.reporting.blocks import Figure
from voirdire.reporting.drawing import svg
from voirdire.reporting.drawing_process import Helper
from voirdire.reporting.inline import ATTRIBUTES, ELEMENTS, inline
from voirdire.reporting.report import build
from voirdire.reporting.spoken import behind
from voirdire.reporting.words import MINUS, Words

HOSTILE = (
    '<svg width="9" height="9" onload="alert(1)"><style>*{fill:red}</style><script>alert(1)</script>'
    '<a href="https://evil.example"><rect fill="red"/></a><image href="https://evil.example/x.png"/>'
    '<foreignObject><p>x</p></foreignObject><g class="mark-rect role-mark" clip-path="url(#a)">'
    '<rect id="a" fill="url(https://evil.example/#b)" style="fill:red" aria-label="&quot;&gt;&lt;b&gt;" d="1.123456"/>'
    "</g>"
    '<g class="role-axis" aria-label="X-axis titled"/></svg>'
)


def test_nothing_stands_in_a_page_that_is_on_no_list() -> None:
    made = inline(HOSTILE, "p", 'Chart "1" <b>')
    root = ET.fromstring(made)
    for element in root.iter():
        assert element.tag in ELEMENTS
        assert set(element.attrib) <= ATTRIBUTES | {"role", "aria-label", "font-family"}
    assert "evil" not in made
    assert root.attrib["aria-label"] == 'Chart "1" <b>'
    (mark,) = root.findall(".//rect")
    assert mark.attrib == {"id": "p-a", "d": "1.12", "role": "graphics-symbol", "aria-label": '"><b>'}
    assert root.findall("g")[0].attrib["clip-path"] == "url(#p-a)"
    assert "aria-label" not in root.findall("g")[1].attrib


@pytest.fixture(scope="module")
def figures() -> list[Figure]:
    """Every kind of chart of a report."""
    reports = (build(fake_profile.two_pools()), build(fake_experiment.experiment()))
    return [block for report in reports for block in report.blocks() if isinstance(block, Figure)]


def test_a_drawn_chart_needs_no_style(figures: list[Figure]) -> None:
    figure = next(figure for figure in figures if "tilt" in figure.name)
    made = inline(svg(figure.spec), figure.name, figure.alt)
    assert not re.search(r"\sstyle=|<style|href|xmlns", made)
    said = [mark.attrib["aria-label"] for mark in ET.fromstring(made).iter() if "aria-label" in mark.attrib][1:]
    grid = behind(figure)
    assert grid is not None
    assert said == [f"{line.heads[0]}: {line.entries[0].text} {line.entries[0].interval}" for line in grid.lines]


def test_every_chart_has_its_numbers_behind_it(figures: list[Figure]) -> None:
    assert {figure.name.split("-")[1] for figure in figures} >= {"mae", "tilt", "distributions", "parts", "ratings"}
    for figure in figures:
        grid = behind(figure)
        assert grid is not None, figure.name
        assert all(head for head in grid.heads), figure.name
        for line in grid.lines:
            assert all(entry.text for entry in line.entries), figure.name


def test_the_marks_of_tilt_are_its_estimates() -> None:
    profile, words = fake_profile.two_pools(), Words("en")
    figure = next(b for b in build(profile).blocks() if isinstance(b, Figure) and b.name == "q1-tilt-1")
    grid = behind(figure)
    assert grid is not None
    shown = {line.heads[0]: line.entries[0].text for line in grid.lines}
    place = {"statistic": "tilt", "params": "", "slice": "all", "pool": "us", "condition": "*"}
    rows = profile.estimates.filter(**place)
    assert rows.height == 5
    for row in rows.iter_rows(named=True):
        assert shown[words.judge(row["judge"])] == words.number("tilt", row["value"])
        assert float(shown[words.judge(row["judge"])].replace(MINUS, "-")) == pytest.approx(row["value"], abs=0.006)


def test_another_process_draws_raises_and_is_begun_anew() -> None:
    helper = Helper()
    assert helper.ask(abs, -3) == 3
    with pytest.raises(json.JSONDecodeError):
        helper.ask(json.loads, "{")
    held = helper._held
    assert held is not None
    held[0].kill()
    held[0].join(10)
    assert helper.ask(abs, -4) == 4
    assert helper._held is not None
    assert helper._held[0].pid != held[0].pid
    helper._drop()
