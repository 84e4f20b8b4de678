"""The pages of two audits side by side and of judges against every pool."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient
from tests.browsing.pairs import made, side
from tests.web.room.compare_world import HOSTILE, half_rated, library, single

from voirdire.browsing.comparison import Line
from voirdire.browsing.library import Audit, Library
from voirdire.browsing.paired import Difference
from voirdire.corpus.corpus import Note
from voirdire.reporting.access import Row
from voirdire.reporting.words import Words
from voirdire.web.room.application import make_room
from voirdire.web.room.comparison_view import summed_up


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return library(tmp_path_factory.mktemp("audits"))


@pytest.fixture(scope="module")
def served(opened: Library) -> FastAPI:
    return make_room(opened)


@pytest.fixture
def client(served: FastAPI) -> TestClient:
    """A reader who has not chosen a language yet."""
    return TestClient(served, base_url="http://127.0.0.1")


@pytest.fixture(scope="module")
def partly(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    opened = half_rated(tmp_path_factory.mktemp("partly"))
    return TestClient(make_room(opened), base_url="http://127.0.0.1")


def words(page: str) -> str:
    """The page without its tags, blanks made one."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page))


def test_a_pair_named_the_other_way_round_is_said(tmp_path: Path) -> None:
    audits = []
    for name, pair in (("forth", ("us", "cn")), ("back", ("cn", "us"))):
        (tmp_path / name).mkdir()
        opened = side(tmp_path / name, made(range(10), conditions=("c0",)), pairs=(pair,), draws=20)
        audits.append(Audit(name, name, tmp_path / name, opened.profile))
    client = TestClient(make_room(Library((), (), tuple(audits))), base_url="http://127.0.0.1")
    said = words(client.get("/compare?first=forth&second=back&statistic=every&lang=en").text)
    assert "The first audit sets judges between us and cn, the second between cn and us." in said


def test_two_audits_stand_side_by_side(client: TestClient) -> None:
    page = client.get("/compare?statistic=main")
    assert page.status_code == 200
    said = words(page.text)
    assert "Items in both audits: 42. Only in the first: 4; only in the second: 0." in said
    assert "42 in both, of 46 and 42" in said
    assert "41 in both, of 46 and 41" in said
    assert re.search(r"[+−]\d\.\d{3} \[[+−]?\d\.\d{3}, [+−]?\d\.\d{3}\] 0 is outside", said)
    assert "no difference: a fit or test, not sums over items" in said
    assert "nan" not in said.lower().replace("cannot", "")


def test_names_are_inert(client: TestClient) -> None:
    for address in ("/compare", "/leaderboard/first?sort=us", f"/compare?first_judge={HOSTILE}&question={HOSTILE}"):
        page = client.get(address).text
        assert HOSTILE not in page
        assert "&lt;img" in page
        assert "style=" not in page
        assert "<script" not in page


def test_both_languages_say_the_same_numbers(client: TestClient) -> None:
    for address in ("/compare", "/leaderboard/first?sort=cn"):
        numbers = []
        for lang in ("en", "zh"):
            page = client.get(address, params={"lang": lang, "sort": "cn"}).text
            numbers.append(re.findall(r"[+−]?\d\.\d\d", page))
        assert numbers[0] == numbers[1]
        assert len(numbers[0]) > 20
    assert "第二减第一" in client.get("/compare?lang=zh").text


def test_exchanged_sides_are_a_link(client: TestClient) -> None:
    page = client.get(
        "/compare", params={"first": "first", "second": "second", "first_judge": "steady", "statistic": "main"}
    )
    found = re.search(r'href="(/compare\?[^"]*)">Exchange', page.text)
    assert found is not None
    link = found.group(1).replace("&amp;", "&")
    assert link.startswith("/compare?first=second&second=first")
    back = client.get(link).text
    forth = re.findall(r'class="apart">([+−])(\d\.\d+)', page.text)
    assert len(forth) > 2
    turned = [("+−"[sign == "+"], size) for sign, size in re.findall(r'class="apart">([+−])(\d\.\d+)', back)]
    assert turned == forth


def test_a_page_begins_with_the_distance_from_each_pool(client: TestClient) -> None:
    page = client.get("/compare?lang=en").text
    named = set(re.findall(r'<th scope="row"[^>]*><span[^>]*>([^<]*)', page))
    assert named == {"MAE", "Missing"}
    assert 'statistic=main">the main numbers' in page
    assert page.count('autocomplete="off"') == 1
    assert client.get("/leaderboard/first").text.count('<form class="filters" method="get" autocomplete="off"') == 1


def test_differing_answers_are_told_in_the_row(client: TestClient) -> None:
    """Judge low did not answer one item of the second audit: 46 items in two conditions, and 41."""
    page = client.get("/compare?first_judge=low&lang=en").text
    said = words(page)
    assert "92 and 82 answers, 82 in both" in said
    assert "92 and 82 answers" in said.replace("92 and 82 answers, 82 in both", "")
    apart = words(
        client.get("/compare?first=second&second=first&first_judge=low&first_condition=c0&second_condition=c1").text
    )
    assert "41 and 46 answers, averaged by item within each side" in apart
    assert re.search(r"\d\.\d\d in the audit: \d\.\d\d \[\d\.\d\d, \d\.\d\d\]", said)
    assert "smaller is nearer" in said
    assert re.search(r"(nearer to|farther from|not told apart by the distance from) (us|cn)", said)


def distance(pool: str, low: float | None, high: float | None) -> Line:
    row = Row("mae", "", "q1", pool, "", "m", "*", "all", 1.0, None, None, None, None, 9, "", "")
    middle = None if low is None or high is None else (low + high) / 2
    return Line(row, row, (), Difference(value=middle, low=low, high=high))


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        (((-0.2, -0.1), (0.1, 0.3)), "nearer to kr (−0.150); farther from br (+0.200): not better for both pools."),
        (((-0.2, -0.1), (-0.1, 0.3)), ("nearer to kr (−0.150); not told apart by the distance from br: "
         "not shown to be better for every pool.")),
        (((-0.2, -0.1), (None, None)), ("nearer to kr (−0.150); without an interval for br: "
         "not shown to be better for every pool.")),
        (((-0.2, -0.1), (-0.4, -0.2)), "nearer to kr (−0.150), br (−0.300)."),
        (((0.0, 0.2), (0.1, 0.3)), "farther from br (+0.200); not told apart by the distance from kr."),
        (((-0.1, 0.2), (-0.1, 0.3)), "not told apart by the distance from kr, br."),
    ],
)  # fmt: skip
def test_a_sentence_speaks_of_all_pools_together(ends: tuple[tuple[float, float], ...], said: str) -> None:
    lines = [distance(pool, *both) for pool, both in zip(("kr", "br"), ends, strict=True)]
    assert summed_up(lines, Words("en"), 4) == said
    assert len(summed_up(lines, Words("zh"), 4)) > 5


def test_the_same_on_both_sides_asks_for_a_choice(client: TestClient) -> None:
    said = words(client.get("/compare?first=first&second=first").text)
    assert "Both sides are the same audit" in said
    two = client.get("/compare?first=first&second=first&first_judge=steady&second_judge=low").text
    assert "steady → low" in words(two)
    assert "Second compared with First on all items, by the distance from each pool" in words(two)
    conditions = client.get("/compare?first=first&second=first&first_condition=c0&second_condition=c1").text
    assert "steady · c0 → steady · c1" in words(conditions)


def test_tables_of_another_profile_are_named_by_the_page(opened: Library) -> None:
    folder = opened.audit("bare").folder / "compared"
    note = Note("room.note.foreign_tables", {"folder": str(folder)}, "warning")
    client = TestClient(make_room(replace(opened, notes=(note,))), base_url="http://127.0.0.1")
    said = f"{folder} is not shown"
    assert said in client.get("/compare?first=first&second=bare").text
    assert said not in client.get("/compare?first=first&second=second").text


def test_without_item_tables_the_page_says_what_to_do(client: TestClient) -> None:
    said = words(client.get("/compare?first=first&second=bare").text)
    assert "bare has no item-level tables" in said
    assert "without --no-compared" in said
    assert "no difference: an audit has no item-level tables" in said


def test_values_of_another_audit_are_told(client: TestClient) -> None:
    said = words(client.get("/compare?first=first&second=second&first_judge=nobody&slice=all").text)
    assert "These audits do not have: nobody." in said
    assert client.get("/compare?first=other").status_code == 404


def test_the_table_of_differences(client: TestClient) -> None:
    file = client.get("/compare/differences.csv?first=first&second=second&statistic=every")
    assert file.headers["content-type"].startswith("text/csv")
    assert 'filename="differences-first-second.csv"' in file.headers["content-disposition"]
    frame = pl.read_csv(io.StringIO(file.text), infer_schema_length=None)
    mae = frame.filter(statistic="mae", pool="us", judge="steady").row(0, named=True)
    assert mae["difference"] == pytest.approx(mae["second_joint"] - mae["first_joint"])
    assert mae["low"] < mae["difference"] < mae["high"]


def test_every_pool_has_its_column_and_any_orders(client: TestClient) -> None:
    page = client.get("/leaderboard/first?lang=en")
    assert page.status_code == 200
    said = words(page.text)
    for column in ("MAE, us", "MAE, cn", "Delta, us / cn", "T, us / cn", "origin"):
        assert column in said
    for row in ("One left-out rater", "Noise floor", "always 4", "mid-point of us / cn"):
        assert row in said
    assert "In the order of the audit, which ranks nobody" in said
    by_us, by_cn = (client.get(f"/leaderboard/first?sort={pool}&lang=en").text for pool in ("us", "cn"))
    assert by_us.count('aria-sort="ascending"') == by_cn.count('aria-sort="ascending"') == 1
    assert "from the row above" in by_us


def test_order_and_what_is_not_told_apart(client: TestClient, opened: Library) -> None:
    page = client.get("/leaderboard/first?sort=us&lang=en").text
    body = page[page.index("<tbody>") : page.index("</tbody>")]
    profile = opened.audit("first").profile
    errors = {name: profile.get("mae", pool="us", judge=name, condition="*").value for name in profile.meta["judges"]}
    places = [page.index(f"<bdi>{name.replace('<', '&lt;').replace('>', '&gt;')}</bdi>") for name in
              sorted(errors, key=lambda name: errors[name] or 0)]  # fmt: skip
    assert places == sorted(places)
    assert "not told apart from the row above" in body
    assert body.count('class="tied"') < 4
    turned = client.get("/leaderboard/first?sort=us&first=last&lang=en").text
    assert 'aria-sort="descending"' in turned
    bare = client.get("/leaderboard/bare?sort=us&lang=en").text
    assert "interval overlaps the row above" in bare
    assert "Without item-level tables" in bare


@pytest.mark.parametrize("asked", ["pools=us", "pools=us&pools=nobody", "pools=nobody"])
def test_a_single_column_is_refused_and_every_pool_is_shown(client: TestClient, asked: str) -> None:
    page = client.get(f"/leaderboard/first?{asked}&lang=en")
    assert page.status_code == 422
    said = words(page.text)
    assert "One column alone is not shown." in said
    assert "silently chooses whom the judges are to agree with" in said
    assert "MAE, us" in said
    assert "MAE, cn" in said
    assert client.get(f"/leaderboard/first/judges.csv?{asked}").status_code == 400
    assert client.get("/leaderboard/first?pools=us,cn").status_code == 200


def test_an_audit_of_one_pool_has_no_leaderboard(tmp_path_factory: pytest.TempPathFactory) -> None:
    alone = TestClient(make_room(single(tmp_path_factory.mktemp("alone"))), base_url="http://127.0.0.1")
    page = alone.get("/leaderboard/alone?lang=en")
    assert page.status_code == 422
    assert "This audit has one pool (us)." in words(page.text)
    assert "<table" not in page.text
    assert alone.get("/leaderboard/alone/judges.csv").status_code == 400


@pytest.mark.parametrize("asked", ["slice=half%3Dlate", "question=q2", "question=q2&statistic=pearson&sort=us"])
def test_a_column_without_numbers_is_no_second_column(partly: TestClient, asked: str) -> None:
    """A pool that rated none of these items has a row of 0 items, or none."""
    page = partly.get(f"/leaderboard/partly?{asked}&lang=en")
    assert page.status_code == 422
    assert "judges have numbers against fewer than two pools (us)" in words(page.text)
    assert "<table" not in page.text
    assert "<select" in page.text
    assert partly.get(f"/leaderboard/partly/judges.csv?{asked}").status_code == 400
    assert partly.get("/leaderboard/partly?slice=half%3Dearly&sort=us").status_code == 200


def test_an_audit_without_judges_says_so(tmp_path: Path) -> None:
    corpus, _ = made(range(8))
    bare = Audit("bare", "bare", tmp_path, side(tmp_path, (corpus, None)).profile)
    client = TestClient(make_room(Library((), (), (bare,))), base_url="http://127.0.0.1")
    page = client.get("/leaderboard/bare?lang=en")
    assert "This audit has no judges" in words(page.text)
    assert "One column alone" not in page.text
    assert client.get("/leaderboard/bare/judges.csv").status_code == 400


def test_covariates_stand_beside_with_their_reasons(client: TestClient) -> None:
    said = words(client.get("/leaderboard/first?lang=en").text)
    assert "Recommendation R2" in said
    assert "Effect of a covariate on delta" in said
    assert "not testable for judges in general" in said
    assert "R2 added over items: judges" in said


def test_the_table_of_judges(client: TestClient) -> None:
    file = client.get("/leaderboard/first/judges.csv?sort=us")
    frame = pl.read_csv(io.StringIO(file.text), infer_schema_length=None)
    assert {"mae.us", "mae.us.low", "mae.cn", "delta.us.cn", "tilt.us.cn", "origin"} <= set(frame.columns)
    assert set(frame["kind"]) == {"judge", "control"}
    assert frame.filter(kind="judge")["mae.us"].is_sorted()


def test_pages_without_audits() -> None:
    empty = TestClient(make_room(Library()), base_url="http://127.0.0.1")
    assert "No audit is open" in empty.get("/compare?lang=en").text
    assert empty.get("/leaderboard/x").status_code == 404
