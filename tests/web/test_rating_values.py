"""What is typed and drawn on the rating page is what is kept."""

from __future__ import annotations

import pytest
from tests.annotation.lead_world import corpus_folder
from tests.web.at_work import DESK, browsing, given
from tests.web.corpora import EVERY_WIDGET, STUDY, build
from tests.web.running import InProcess

from voirdire.annotation.batches import batch
from voirdire.annotation.material import read_shown
from voirdire.annotation.study_file import read_study
from voirdire.web.batch_form import spec_of_form


@pytest.fixture
def widgets(tmp_path):
    """A service whose study has every kind of question."""
    with InProcess(build(tmp_path / "all", STUDY + EVERY_WIDGET), f"sqlite:///{tmp_path / 'all.sqlite'}") as running:
        yield running.here


@pytest.mark.parametrize("typed", ["1,000", "-2,500", "1,000,000"])
def test_a_number_that_could_be_thousands_is_asked_again_and_never_kept_as_another(widgets, browser, typed):
    with browsing(browser, **DESK) as window:
        window.join(widgets.link("us"))
        window.page.fill("[data-question=years] input", typed)
        window.page.press("[data-question=years] input", "Enter")
        window.page.wait_for_selector("#problem:not([hidden])")
        assert window.waiting() == 0
    assert given(widgets)[0] == {}


@pytest.mark.parametrize(("typed", "kept"), [("2,5", "2.5"), ("0,125", "0.125"), ("１２", "12"), ("7.5", "7.5")])
def test_decimal_commas_and_wide_digits_are_understood(widgets, browser, typed, kept):
    with browsing(browser, **DESK) as window:
        window.join(widgets.link("us"))
        window.page.fill("[data-question=years] input", typed)
        window.page.press("[data-question=years] input", "Enter")
        window.saved()
    assert given(widgets)[0] == {"years": kept}


def test_a_slider_that_comes_to_the_place_it_had_in_another_item_is_saved_at_once(widgets, browser):
    with browsing(browser, **DESK) as window:
        window.join(widgets.link("us"))
        input_of = "[data-question=sure] input[type=range]"
        for number, value in ((1, "60"), (2, "70")):
            window.page.evaluate(
                """async ([number, value]) => {
                    const { csrf } = await (await fetch('/api/session')).json();
                    const { items } = await (await fetch(`/api/items?start=${number}&count=1`)).json();
                    const body = { key: crypto.randomUUID(), assignment: items[0].assignment, question: 'sure', value };
                    const headers = { 'content-type': 'application/json', 'x-csrf-token': csrf };
                    await fetch('/api/answers', { method: 'POST', headers, body: JSON.stringify(body) });
                }""",
                [number, value],
            )
        window.page.goto(f"{widgets.url}/rate?at=2")
        window.until(2)
        window.page.press(input_of, "ArrowRight")
        window.saved()
        window.page.click("#back")
        window.until(1)
        window.page.locator(input_of).fill("71")  # one movement, as by a pointer
        window.page.wait_for_timeout(1000)
        window.saved()
        assert [item["sure"] for item in given(widgets)[:2]] == ["71", "71"]


def test_an_item_with_known_answers_never_stands_beside_its_pair(tmp_path):
    shown = read_shown(corpus_folder(tmp_path / "corpus"))
    (tmp_path / "corpus" / "annotation.toml").write_text(
        '[[pools]]\nname = "us"\nlanguages = ["en"]\n[[gold]]\nitem = "us-0"\nquestion = "q1"\naccept = ["5"]\n',
        encoding="utf-8",
    )
    spec = spec_of_form(
        {"name": "a", "kind": "rating", "split_0": "yes", "category_0": "yes", "category_1": "yes"},
        shown,
        read_study(shown.folder, shown),
    )
    with InProcess(tmp_path / "corpus", f"sqlite:///{tmp_path / 'store.sqlite'}") as running:
        first = batch(running.here.database, 1).spec
    for made in (spec, first):
        assert "us-0" not in made.items
        assert made.pairs["us-0"] == made.pairs["cn-0"]
