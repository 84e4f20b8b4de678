"""Screened pairs on the lead's pages, and images of what is built."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from tests.construction.pilots import folder_of, planted
from tests.web.authoring_world import Building, Person, seen_on

from voirdire.app.build_screen import build_screen
from voirdire.construction.history import read_history
from voirdire.construction.screening_decisions import decide, outcomes
from voirdire.construction.screening_file import read_measured
from voirdire.construction.screening_rule import verdict_of
from voirdire.errors import InputError

TEAM = 'authors = ["ana", "bo", "chen"]\n'


@pytest.fixture
def building(tmp_path: Path) -> Iterator[Building]:
    """A folder whose pilot was screened, with an image of one item."""
    folder, _, _ = folder_of(planted(5)[0], tmp_path / "mine")
    file = folder / "build.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text if "authors" in text else TEAM + text, encoding="utf-8")
    tables = {"questions": folder / "questions.csv"}
    build_screen(folder, ratings=folder / "pilot.csv", checklist=folder / "checklist.csv", tables=tables)
    first = next(iter(outcomes(read_history(folder)).values())).concept
    images = folder / "images" / "generated"
    images.mkdir(parents=True, exist_ok=True)
    for culture in ("us", "cn"):
        Image.new("RGB", (64, 48), (200, 40, 40)).save(images / f"{first}-{culture}.png")
    with Building(folder) as running:
        yield running


@pytest.fixture
def lead(building: Building) -> Person:
    return building.lead()


def concept_of(building: Building, suggested: str) -> str:
    return next(one.concept for one in outcomes(read_history(building.folder)).values() if one.suggested == suggested)


def test_the_table_is_read_back_as_it_was_written(building: Building):
    measured, known = read_measured(building.folder), outcomes(read_history(building.folder))
    assert set(measured) == set(known)
    for concept, measures in measured.items():
        assert len(measures) == 4
        assert verdict_of([one.verdict for one in measures]) == known[concept].suggested


@pytest.mark.parametrize("change", [("facts", "fax"), ("{", "[{"), (",drop,", ",drop,"), ("factual,", "fictional,")])
def test_a_table_of_other_hands_is_told(building: Building, change: tuple[str, str]):
    file = building.folder / "screening.csv"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(*change), encoding="utf-8")
    if change[0] == change[1]:
        assert read_measured(building.folder)
        return
    with pytest.raises(InputError, match=r"screening\.csv"):
        read_measured(building.folder)


def test_a_pair_shows_numbers_reasons_and_images(building: Building, lead: Person):
    listed = lead.http.get("/lead/screening").text
    known = outcomes(read_history(building.folder))
    for concept in known:
        assert f"/lead/screening/{concept}" in listed
    concept = next(iter(known))
    page = html.unescape(lead.http.get(f"/lead/screening/{concept}").text)
    assert page.count('<tr><th scope="row">') == 4
    for one in read_measured(building.folder)[concept]:
        if one.value is not None:
            assert "[" in page
    addresses = re.findall(r'<img src="([^"]+)"', page)
    assert len(addresses) == 2
    answer = lead.http.get(addresses[0])
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
    assert building.author("ana").http.get(addresses[0]).status_code == 200
    assert building.browser().get(addresses[0]).status_code == 401


def test_the_lead_confirms_overrules_and_takes_back(building: Building, lead: Person):
    concept = concept_of(building, "drop")
    path = f"/lead/screening/{concept}"
    seen = seen_on(lead.http.get(path).text)
    assert lead.send(path, verdict="drop", seen=seen).status_code == 200
    known = outcomes(read_history(building.folder))[concept]
    assert (known.decided, known.by) == ("drop", "lead")
    seen = seen_on(lead.http.get(path).text)
    silent = lead.send(path, verdict="keep", seen=seen)
    assert silent.status_code == 422
    assert 'value="keep" checked' in silent.text
    assert "--why" not in silent.text
    told = lead.send(path, verdict="keep", seen=seen, why="<b>the gap is real</b>")
    assert "&lt;b&gt;the gap is real&lt;/b&gt;" in told.text
    assert "The lead decided on" in told.text
    assert outcomes(read_history(building.folder))[concept].verdict == "keep"
    seen = seen_on(lead.http.get(path).text)
    assert lead.send(path, verdict="undecided", seen=seen, why="again").status_code == 200
    assert outcomes(read_history(building.folder))[concept].decided is None
    assert lead.send(path, verdict="maybe", seen=seen_on(lead.http.get(path).text)).status_code == 422


def test_a_suggestion_is_told_in_the_readers_language(building: Building, lead: Person):
    concept = concept_of(building, "drop")
    path = f"/lead/screening/{concept}"
    seen = seen_on(lead.http.get(path).text)
    lead.send("/lead/language", language="zh")
    refused = lead.send(path, verdict="keep", seen=seen)
    assert refused.status_code == 422
    assert "建议是“剔除”" in refused.text
    lead.send(path, verdict="keep", seen=seen, why="差距真实")
    listed = lead.http.get("/lead/screening").text
    assert re.search(r"负责人 于 [0-9-]{10} 决定：保留。理由：差距真实", listed)
    assert " 与 " in lead.http.get(path).text


def test_a_decision_on_what_has_changed_is_told_and_kept(building: Building, lead: Person):
    concept = concept_of(building, "drop")
    path = f"/lead/screening/{concept}"
    seen = seen_on(lead.http.get(path).text)
    decide(building.folder, concept, "keep", "ana", why="from the command line")
    late = lead.send(path, verdict="drop", seen=seen, why="written at length")
    assert late.status_code == 409
    assert "written at length" in late.text
    assert "from the command line" in html.unescape(late.text)
    assert outcomes(read_history(building.folder))[concept].decided == "keep"


def test_numbers_of_another_screening_are_told(building: Building, lead: Person):
    concept = concept_of(building, "drop")
    file = building.folder / "screening.csv"
    file.write_text(file.read_text(encoding="utf-8").replace(",drop,", ",keep,"), encoding="utf-8")
    assert "are of another screening" in lead.http.get(f"/lead/screening/{concept}").text


def test_pairs_and_images_that_are_not_there(building: Building, lead: Person):
    assert lead.http.get("/lead/screening/nothing").status_code == 404
    for item in ("nothing-us", "..%2f..%2fbuild.toml", "build.toml", "%00"):
        assert lead.http.get(f"/pictures/{item}").status_code in (404, 422), item
    concept = next(iter(outcomes(read_history(building.folder))))
    image = building.folder / "images" / "generated" / f"{concept}-us.png"
    image.write_bytes(b"no image")
    assert lead.http.get(f"/pictures/{concept}-us").status_code == 404
    image.unlink()
    outside = building.folder.parent / "secret.png"
    Image.new("RGB", (4, 4)).save(outside)
    image.symlink_to(outside)
    assert lead.http.get(f"/pictures/{concept}-us").status_code == 404
