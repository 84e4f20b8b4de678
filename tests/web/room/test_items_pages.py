"""The pages of items: filters and orders in addresses, what is shown of an item, hostile texts, speed of the server."""

from __future__ import annotations

import html
import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import polars as pl
import pytest
from starlette.testclient import TestClient
from tests.web.room.items_world import HOSTILE, make_world

from voirdire.app.audit import audit
from voirdire.app.view import view
from voirdire.browsing.library import Library, Shelf
from voirdire.texts import catalogue
from voirdire.web.room.application import make_room
from voirdire.web.room.items_pages import numbers_of

GRID = "/items/pictures"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return make_world(tmp_path_factory.mktemp("world"))


def visiting(library: Library) -> TestClient:
    return TestClient(make_room(library), base_url="http://127.0.0.1", follow_redirects=False)


@pytest.fixture
def client(world: Library) -> TestClient:
    return visiting(world)


def ids(page: str) -> list[str]:
    """The ids of the cards of a page, in order."""
    return re.findall(r'<span class="item-id"><bdi>([^<]*)</bdi>', page)


def links(page: str) -> list[str]:
    """The addresses of the cards of a page, in order."""
    return [html.unescape(found) for found in re.findall(r'class="item-link"[^>]* href="([^"]*)"', page)]


def get(client: TestClient, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, answer.text[-500:]
    return answer.text


def test_a_page_holds_48_items_and_leads_to_the_next(client: TestClient) -> None:
    first = get(client, GRID)
    assert ids(first)[:2] == ["p00-us", "p00-cn"]
    assert len(ids(first)) == 48
    (after,) = re.findall(r'rel="next" href="([^"]*)"', first)
    second = get(client, html.unescape(after))
    assert ids(second) == [f"p{pair}-{culture}" for pair in range(24, 30) for culture in ("us", "cn")]
    assert ids(get(client, f"{GRID}?page=999")) == ids(second)


@pytest.mark.parametrize("page", ["0", "-1", "x", "²", "99999999999999", ""])
def test_a_page_that_is_no_number_is_the_first(client: TestClient, page: str) -> None:
    assert ids(client.get(GRID, params={"page": page}).text)[0] == "p00-us"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("text=P07", ["p07-us", "p07-cn"]),
        ("text=bowl+12", ["p12-us", "p12-cn"]),
        ("text=p07&by.culture=cn", ["p07-cn"]),
        ("status=malformed", ["p02-us"]),
        ("status=refused&judge=acme/small", ["p03-us"]),
        ("status=error", ["p03-cn"]),
        ("status=none", ["p02-us", "p03-us", "p03-cn"]),
        ("text=nothing+like+it", []),
    ],
)
def test_filters(client: TestClient, query: str, expected: list[str]) -> None:
    page = get(client, f"{GRID}?{query}")
    assert ids(page) == expected
    assert (f"{len(expected)} of 60 items" in page) == bool(expected or "0 of 60 items" in page)


def test_orders_are_those_of_the_numbers(client: TestClient, world: Library) -> None:
    from voirdire.web.room.service import Room
    from voirdire.web.settings import Settings

    numbers = numbers_of(Room(Settings("", ""), world), world.shelves[0])
    frame = numbers.frame("q1", (0, 1))
    expected = frame.sort(pl.col("gap").abs(), descending=True, maintain_order=True, nulls_last=True)
    assert ids(get(client, f"{GRID}?sort=gap")) == expected["item_id"].head(48).to_list()
    tilted = frame.sort(pl.col("tilt.1").abs(), descending=True, maintain_order=True, nulls_last=True)
    page = get(client, f"{GRID}?sort=tilt&judge=acme/small")
    assert ids(page) == tilted["item_id"].head(48).to_list()
    assert "Delta of acme/small" in page


def test_what_names_nothing_is_as_if_it_were_not_there(client: TestClient) -> None:
    strange = "question=q9&pair=a,b&a=us&b=us&anchor=x&split=x&judge=nobody&status=x&sort=x&view=x&by.culture=xx"
    assert ids(get(client, f"{GRID}?{strange}")) == ids(get(client, GRID))


def test_the_other_way_round_a_pair_turns_the_signs(client: TestClient) -> None:
    def gap(page: str) -> str:
        return re.findall(r"<dt>Gap</dt><dd>([+\u2212][^ <]*)", page)[0]

    one, two = gap(get(client, f"{GRID}?pair=us,cn")), gap(get(client, f"{GRID}?a=cn&b=us"))
    assert {one[0], two[0]} == {"+", "\u2212"}
    assert one[1:] == two[1:]


def test_pairs_stand_side_by_side_with_members_that_the_filter_leaves_out(client: TestClient) -> None:
    page = get(client, f"{GRID}?view=pairs&text=p07-cn")
    assert ids(page) == ["p07-us", "p07-cn"]
    assert page.count("item-card dimmed") == 1
    assert page.count('<section class="pair"') == 1
    whole = get(client, f"{GRID}?view=pairs")
    assert whole.count('<section class="pair"') == 24


def test_the_state_goes_along_to_an_item_and_back(client: TestClient) -> None:
    query = "by.culture=cn&sort=gap&reverse=1"
    page = get(client, f"{GRID}?{query}")
    first, second = links(page)[:2]
    item = get(client, first)
    assert "1 of 30" in item
    assert 'rel="prev"' not in item
    (after,) = re.findall(r'rel="next" href="([^"]*)"', item)
    assert html.unescape(after) == second
    assert dict(parse_qsl(urlsplit(second).query)) == dict(parse_qsl(query))
    (back,) = re.findall(r'href="(/items/pictures\?[^"]*)"><bdi>pictures', item)
    assert ids(get(client, html.unescape(back))) == ids(page)


def test_an_item_is_found_by_its_id(client: TestClient) -> None:
    answer = client.get(GRID, params={"item": "p07-cn"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/items/pictures/16")
    assert client.get(GRID, params={"item": HOSTILE}).status_code == 404
    assert HOSTILE not in client.get(GRID, params={"item": HOSTILE}).text


@pytest.mark.parametrize("number", ["0", "61", "-1", "x", "1e3", "99999999999"])
def test_a_number_that_no_item_has_is_not_there(client: TestClient, number: str) -> None:
    assert client.get(f"{GRID}/{number}").status_code in (404, 422)


def test_an_item_tells_what_people_and_judges_said(client: TestClient) -> None:
    page = get(client, f"{GRID}/1")
    assert "How usual is it?" in page
    assert "有多常见？" in page
    assert page.count('class="pool-chart"') == 2
    table = re.findall(r"<tr><th scope=\"row\"><bdi>us</bdi></th>(.*?)</tr>", page)[0]
    assert re.findall(r'class="num">([^<]*)<', table) == ["0", "0", "1", "1", "1", "3", "4.00"]
    assert "acme/large" in page
    assert re.findall(r'<td class="tone-0"><bdi>1</bdi>', page)
    assert "as seen" in page


def test_judgments_without_a_rating_have_words_and_no_number(client: TestClient) -> None:
    refused = get(client, f"{GRID}/7")
    assert "p03-us" in refused
    assert re.findall(r'<td class="without"><bdi>refused</bdi>', refused)
    assert "The delta" not in refused
    assert "no judge gave a rating" in refused
    assert not re.search(r"\bnan\b", refused, re.IGNORECASE)


def test_hostile_texts_are_inert(client: TestClient) -> None:
    for address in (f"{GRID}?text=p02", f"{GRID}/5", f"{GRID}/8", f"{GRID}?view=pairs&text=p02"):
        page = get(client, address)
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "55433" not in page
    assert "&lt;script&gt;alert(2)" in get(client, f"{GRID}/5")
    assert "no: &lt;img" in get(client, f"{GRID}/8")
    sent = client.get(GRID, params={"text": '"><script>alert(1)</script>'}).text
    assert "<script>alert" not in sent


def test_nothing_in_a_page_needs_what_the_policy_forbids(client: TestClient) -> None:
    for address in (GRID, f"{GRID}/1"):
        page = get(client, address)
        assert " style=" not in page
        assert "<style" not in page
        assert "data:" not in page
        assert not re.search(r"<script(?! src=)", page)
        assert not re.search(r"\son[a-z]+=\"", page)


def test_every_page_is_there_in_chinese(client: TestClient) -> None:
    english = {value for key, value in catalogue("en").items() if key.startswith("room_items.") and "{" not in value}
    for address in (f"{GRID}?lang=zh", f"{GRID}/1?lang=zh", f"{GRID}?view=pairs&lang=zh"):
        page = get(client, address)
        assert 'lang="zh-Hans"' in page
        for sentence in english:
            assert len(sentence) < 12 or html.escape(sentence) not in page, sentence


def test_a_reply_of_one_judge_is_shown_on_request_where_there_are_many(tmp_path: Path) -> None:
    rows = [f"a,m{judge},c{n},{1 + n % 5},said {judge} {n}" for judge in range(3) for n in range(40)]
    (tmp_path / "judgments.csv").write_text("item_id,judge,condition,rating,raw\n" + "\n".join(rows) + "\n")
    (tmp_path / "ratings.csv").write_text(
        "item_id,rater_id,pool,rating\n"
        + "\n".join(f"{i},{p}{r},{p},{1 + r}" for i in "ab" for p in "xy" for r in range(5))
    )
    client = visiting(view([tmp_path]))
    slug = view([tmp_path]).shelves[0].slug
    page = get(client, f"/items/{slug}/1")
    assert "said 1 7" not in page
    (chosen,) = [html.unescape(found) for found in re.findall(r'href="([^"]*replies=[^"]*m1[^"]*)"', page)]
    told = get(client, chosen)
    assert "said 1 7" in told
    assert "said 0 7" not in told


def test_an_audit_alone_says_that_single_raters_are_not_in_it(world: Library, tmp_path: Path) -> None:
    folder = world.shelves[0].folder
    audit(folder, world.runs[0].folder, draws=0, permutations=1, decomposition_draws=0).save(tmp_path / "audit")
    library = view([tmp_path / "audit"])
    client = visiting(library)
    slug = library.shelves[0].slug
    assert len(ids(get(client, f"/items/{slug}?sort=tilt"))) == 48
    page = get(client, f"/items/{slug}/1")
    assert "not the ratings of single raters" in page
    assert "Consensus 4.00" in page


def test_a_run_alone_has_ids_and_what_judges_said(world: Library) -> None:
    library = view([world.runs[0].folder])
    client = visiting(library)
    slug = library.shelves[0].slug
    page = get(client, f"/items/{slug}?sort=refused")
    assert ids(page)[0] == "p03-us"
    assert "no pool rated this question here" in page
    assert "acme/large" in get(client, f"/items/{slug}/1")


def test_items_alone_are_shown_without_any_number(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("item_id,text\na,Tea\nb,Rice\n")
    library = view([tmp_path])
    client = visiting(library)
    slug = library.shelves[0].slug
    assert ids(get(client, f"/items/{slug}?text=rice")) == ["b"]
    assert "Nobody rated this item" in get(client, f"/items/{slug}/1")


def test_a_shelf_without_anything_is_a_page(tmp_path: Path) -> None:
    shelf = Shelf(
        "none", "none", "corpus", tmp_path, None, pl.DataFrame({"item_id": []}, schema={"item_id": pl.String})
    )
    assert "0 items" in get(visiting(Library((shelf,))), "/items/none")


@pytest.mark.parametrize("name", ["*", "^.*$", "^item.*$"])
def test_a_column_may_be_called_like_a_pattern(name: str, tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text(f"item_id,text,{name}\na,tea,us\nb,rice,cn\n")
    (tmp_path / "ratings.csv").write_text("item_id,rater_id,pool,rating\na,r,us,1\na,s,cn,5\nb,r,us,2\nb,s,cn,2\n")
    client = TestClient(make_room(view([tmp_path])), base_url="http://127.0.0.1")
    slug = view([tmp_path]).shelves[0].slug
    page = client.get(f"/items/{slug}", params={f"by.{name}": "us"})
    assert page.status_code == 200
    assert "tea" in page.text
    assert "rice" not in page.text
    assert client.get(f"/items/{slug}/1").status_code == 200


def test_labels_without_order_stand_beside_each_other_and_none_above(tmp_path: Path) -> None:
    answers = {"us": "x", "cn": "y", "de": "x"}
    rows = [f"{item},{pool},{pool},q1,{label}" for item in "ab" for pool, label in answers.items()]
    (tmp_path / "ratings.csv").write_text("item_id,rater_id,pool,question,rating\n" + "\n".join([*rows, "a,r,us,q1,z"]))
    (tmp_path / "questions.csv").write_text("question,level\nq1,nominal\n")
    library = view([tmp_path])
    page = get(visiting(library), f"/items/{library.shelves[0].slug}")
    assert "cn and de" in page
    assert "above" not in re.sub(r"<details.*?</details>", "", page, flags=re.S)


def test_thousands_of_conditions_are_pages_of_bounded_size(tmp_path: Path) -> None:
    rows = [f"a,m{j},c{n},{1 + n % 5},{'word ' * 50}{j} {n}" for j in range(2) for n in range(1_100)]
    (tmp_path / "judgments.csv").write_text("item_id,judge,condition,rating,raw\n" + "\n".join(rows) + "\n")
    (tmp_path / "ratings.csv").write_text("item_id,rater_id,pool,rating\na,r,x,1\na,s,y,5\n")
    library = view([tmp_path])
    client, slug = visiting(library), library.shelves[0].slug
    page = get(client, f"/items/{slug}/1")
    assert len(page) < 30_000
    assert "<bdi>c1050</bdi>" not in page
    (chosen,) = {html.unescape(found) for found in re.findall(r'href="([^"]*ratings=m1[^"]*)"', page)}
    first = get(client, chosen)
    last = get(client, chosen.replace("#", "&part=7#"))
    for said, conditions in ((first, (0, 199)), (last, (1000, 1099))):
        assert len(said) < 60_000
        shown = [int(name) for name in re.findall(r"<bdi>c(\d+)</bdi>", said)]
        assert (min(shown), max(shown)) == conditions
    (chosen,) = {html.unescape(found) for found in re.findall(r'href="([^"]*replies=[^"]*m1[^"]*)"', page)}
    calls = get(client, chosen.replace("#", "&part=19#"))
    assert calls.count('class="reply"') == 1_100 - 18 * 60
    assert "word 1 1099" in calls


@pytest.fixture(scope="module")
def judged_world(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Four items (three rated by both pools), judges hana and ivo, and a control judge."""
    folder = tmp_path_factory.mktemp("judged")
    people = {"a": (1, 4), "b": (5, 5), "c": (2, 3)}
    rows = [(item, pool, r) for item, (kr, br) in people.items() for pool, r in (("kr", kr), ("br", br))]
    ratings = [f"{item},{pool}{n},{pool},{r}" for item, pool, r in rows for n in range(2)]
    (folder / "ratings.csv").write_text("\n".join(["item_id,rater_id,pool,rating", *ratings, "d,kr1,kr,1"]) + "\n")
    (folder / "items.csv").write_text("item_id,kind\na,x\nb,y\nc,x\nd,y\n")
    said = ["a,hana,2.5", "b,hana,", "c,hana,3", "a,ivo,2.5", "b,ivo,1", "c,ivo,2", "a,control/constant_1,1",
            "b,control/constant_1,1", "c,control/constant_1,1"]  # fmt: skip
    (folder / "judgments.csv").write_text("\n".join(["item_id,judge,rating", *said]) + "\n")
    return view([folder])


@pytest.fixture
def judged(judged_world: Library) -> TestClient:
    return visiting(judged_world)


def card(page: str, item: str) -> str:
    """One card of a page, in words."""
    (found,) = [part for part in page.split('<div class="item-card')[1:] if f"<bdi>{item}</bdi>" in part]
    plain = html.unescape(re.sub(r"<svg.*?</svg>|<[^>]*>", " ", found.split("</li>")[0], flags=re.S))
    return re.sub(r"\s+", " ", plain.partition(">")[2])


def shelf_of(client: TestClient) -> str:
    return re.findall(r'href="(/items/[^"?/]+)', client.get("/").text)[0]


def test_a_judge_s_distance_from_every_pool_stands_on_cards(judged: TestClient) -> None:
    grid = shelf_of(judged)
    own = card(get(judged, f"{grid}?judge=hana"), "a")
    assert "hana: distance from kr 1.50 too high by 1.50" in own
    assert "hana: distance from br 1.50 too low by 1.50" in own
    assert " hana 2.50 " in own
    assert "control" not in own
    everybody = card(get(judged, grid), "c")
    # hana 3 and ivo 2 against kr 2 and br 3; the control judge's 1 is left out
    assert "Distance from kr 0.50 too high by 0.50" in everybody
    assert "Distance from br 0.50 too low by 0.50" in everybody
    chinese = card(get(judged, f"{grid}?judge=hana&lang=zh"), "a")
    assert "hana 与 kr 的距离 1.50 偏高 1.50" in chinese


def test_items_are_ordered_by_the_distance_from_any_pool(judged: TestClient) -> None:
    grid = shelf_of(judged)
    page = get(judged, f"{grid}?sort=far.br&judge=ivo&lang=en")
    assert ids(page) == ["b", "a", "c"]
    assert '<option value="far.br" selected>Farthest from br first</option>' in page
    assert ids(get(judged, f"{grid}?sort=far.kr&judge=hana")) == ["a", "c", "b"]
    assert ids(get(judged, f"{grid}?sort=far.kr")) == ["b", "a", "c", "d"]
    assert "sort=far.kr" in links(get(judged, f"{grid}?sort=far.kr"))[0]


def test_the_page_of_an_item_has_every_judge_s_distances(judged: TestClient) -> None:
    grid = shelf_of(judged)
    page = html.unescape(get(judged, f"{grid}/1?lang=en"))
    assert page.count("from kr 1.50 (too high by 1.50), from br 1.50 (too low by 1.50)") == 2
    assert "from kr 0.00 (on average as high), from br 3.00 (too low by 3.00)" in page
    assert "与 kr 1.50（偏高 1.50），与 br 1.50（偏低 1.50）" in get(judged, f"{grid}/1?lang=zh")


def test_a_chosen_judge_that_gave_no_rating_is_named(judged: TestClient) -> None:
    grid = shelf_of(judged)
    for page in (card(get(judged, f"{grid}?judge=hana&lang=en"), "b"), get(judged, f"{grid}/2?judge=hana&lang=en")):
        assert "hana gave no rating" in page
        assert "no judge gave a rating" not in page
    assert "hana 没有给出评分" in get(judged, f"{grid}/2?judge=hana&lang=zh")


def test_chips_count_the_chosen_judge_s_answers_alone(judged: TestClient) -> None:
    grid = shelf_of(judged)
    assert "no answer: 1" in card(get(judged, f"{grid}?judge=hana&lang=en"), "b")
    assert "no answer" not in card(get(judged, f"{grid}?judge=ivo&lang=en"), "b")


def test_the_largest_delta_says_how_many_judges_have_it(judged: TestClient) -> None:
    grid = shelf_of(judged)
    assert "Largest delta ±1.00 2 judges" in card(get(judged, f"{grid}?lang=en"), "c")
    assert "最大 Δ ±1.00 2 个评判模型" in card(get(judged, f"{grid}?lang=zh"), "c")


def test_control_judges_are_said_to_be_left_out(judged: TestClient) -> None:
    grid = shelf_of(judged)
    page = get(judged, f"{grid}?lang=en")
    assert "Control judges of a run" in page
    assert "<bdi>control/constant_1</bdi>" in page
    assert "Delta of control/constant_1" in card(get(judged, f"{grid}?judge=control/constant_1"), "a")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("judge=nobody", "There is no judge 'nobody' here; all 4 items are shown."),
        ("judge=nobody&by.kind=x", "There is no judge 'nobody' here; it narrows nothing."),
        ("by.kind=zz", "Nothing here has the value 'zz'"),
        ("by.colour=red", "There is no column 'colour' to choose by here; all 4 items are shown."),
        ("status=asleep", "There is no status 'asleep' here; all 4 items"),
        ("sort=far.jp", "There is no order 'far.jp' here; the page is as it is without it."),
        ("sort=widest", "There is no order 'widest' here"),
        ("pair=kr,jp", "There is no pair of pools 'kr,jp' here"),
        ("question=q9", "There is no question 'q9' here"),
        ("view=pairs", "There is no view 'pairs' here"),
    ],
)
def test_what_an_address_names_in_vain_is_said(judged: TestClient, query: str, said: str) -> None:
    grid = shelf_of(judged)
    page = judged.get(f"{grid}?{query}&lang=en")
    assert page.status_code == 200
    assert said in html.unescape(page.text)
    (chinese,) = re.findall(r'class="notice warning" role="status">([^<]*)<', get(judged, f"{grid}?{query}&lang=zh"))
    assert re.match("这里没有|所查的列中没有值", chinese)
    assert 'class="notice warning"' not in get(judged, f"{grid}?judge=hana&by.kind=x&sort=far.br&lang=en")
    assert "There is no judge" in get(judged, f"{grid}/1?judge=nobody")


def test_labels_without_known_shares_have_no_distances_and_say_so(tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text("item_id,rater_id,pool,rating\na,u,us,x\na,v,us,y\na,c,cn,z\n")
    (tmp_path / "judgments.csv").write_text("item_id,judge,rating\na,m,x\n")
    library = view([tmp_path])
    client = visiting(library)
    shown = card(get(client, f"/items/{library.shelves[0].slug}"), "a")
    assert "Distance from us 0.50" in shown
    assert "Distance from cn 1.00" in shown
    assert "too" not in shown


def test_the_way_back_leads_to_the_card(client: TestClient) -> None:
    for query, number, page in (("", 50, "page=2"), ("view=pairs", 51, "page=2"), ("view=pairs", 3, "")):
        (back,) = re.findall(r'href="(/items/pictures[^"]*#item-\d+)"', get(client, f"{GRID}/{number}?{query}"))
        assert (page or "page=") in back or not page
        assert back.endswith(f"#item-{number}")
        assert f'id="item-{number}"' in get(client, html.unescape(back))


@pytest.mark.parametrize("number", ["0", "-1", "abc", "61", "1.5", "²", "9" * 30])
@pytest.mark.parametrize("part", ["", "/image", "/thumbnail"])
def test_every_number_without_an_item_is_answered_alike(client: TestClient, number: str, part: str) -> None:
    answer = client.get(f"{GRID}/{number}{part}?lang=en")
    assert answer.status_code == 404
    assert f"There is no item {number}: pictures has 60." in html.unescape(answer.text)


def test_forms_keep_nothing_of_their_own(client: TestClient) -> None:
    for form in re.findall(r"<form[^>]*>", get(client, GRID) + get(client, f"{GRID}/1")):
        assert 'autocomplete="off"' in form


def test_a_judge_on_another_scale_has_no_distance_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text("item_id,rater_id,pool,rating\na,u,us,1\na,c,cn,5\nb,u,us,3\n")
    (tmp_path / "judgments.csv").write_text("item_id,judge,rating\na,m,90\nb,m,60\na,k,4\n")
    library = view([tmp_path])
    client, grid = visiting(library), f"/items/{library.shelves[0].slug}"
    page = get(client, f"{grid}?judge=m")
    assert "No distances from pools: the judges answer on another scale" in page
    assert "distance from us" not in card(page, "a")
    assert "answers on another scale" in card(page, "a")
    shown = card(get(client, grid), "b")
    assert "Distance from cn cn has no consensus of this item" in shown
    assert "Distance from us the judges answer on another scale" in shown
