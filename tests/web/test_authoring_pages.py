"""The authoring pages by plain requests: every move, moves that are not, other people's links, forged forms."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.construction.building import build_text, make, pair, pairs, write_rows
from tests.web.authoring_world import Building, Person, seen_on
from tests.web.people import csrf_of
from tests.web.running import free_port

from voirdire.cli.main import run
from voirdire.construction.authoring import move, write
from voirdire.construction.concepts import read_concepts
from voirdire.construction.history import open_history

HOSTILE = "<script>alert(1)</script> {{ 7919*7 }} \"'> =cmd|x \u202eabc"


@pytest.fixture
def building(tmp_path: Path) -> Iterator[Building]:
    """Three concepts: tea by ana and bo, rice by bo and chen, soup by chen and ana."""
    with Building(make(tmp_path / "mine", pairs("tea", "rice", "soup"))) as running:
        yield running


@pytest.fixture
def ana(building: Building) -> Person:
    return building.author("ana")


@pytest.fixture
def bo(building: Building) -> Person:
    return building.author("bo")


def realisation(building: Building, concept: str, culture: str) -> str:
    found = read_concepts(building.folder).by_concept()[concept]
    return next(one.realisation for one in found if one.culture == culture)


def test_a_concept_goes_all_the_way(building: Building, ana: Person, bo: Person):
    home = html.unescape(ana.http.get("/author").text)
    assert "You are ana" in home
    assert home.index("Your turn") < home.index("/author/concepts/tea") < home.index("With others")
    done = ana.write("tea", realisation_us="iced tea", note="first try")
    assert done.status_code == 200
    assert "Handed in" in done.text
    assert realisation(building, "tea", "us") == "iced tea"
    assert (building.standing("tea").state, building.standing("tea").by) == ("drafted", "ana")
    assert "The author is next" in bo.decide("tea", "review", note="say where").text
    assert "say where" in ana.page("tea")
    assert "revision is handed in" in ana.write("tea", prompt_en="Would this please a guest?").text
    assert {one.prompts["en"] for one in read_concepts(building.folder).by_concept()["tea"]} == {
        "Would this please a guest?"
    }
    assert "is accepted" in bo.decide("tea", "accept").text
    assert building.events("tea") == ["assigned", "write", "submit", "review", "write", "revise", "accept"]
    page = ana.page("tea")
    for told in ("first try", "say where", "iced tea", "handed in a revision", "accepted it"):
        assert told in page


def test_a_draft_is_kept_and_not_handed_in(building: Building, ana: Person):
    assert "not handed in" in ana.write("tea", action="save", realisation_cn="green\r\ntea\r\n").text
    assert realisation(building, "tea", "cn") == "green\ntea"
    assert building.standing("tea").state == "open"
    assert ana.write("tea", action="save").status_code == 200
    assert building.events("tea").count("write") == 1


def test_what_was_not_changed_is_not_written(building: Building, ana: Person):
    page = ana.page("tea")
    fields = dict(re.findall(r'<textarea[^>]* name="([^"]+)"[^>]*>\n(.*?)</textarea>', page, re.S))
    assert {"realisation.us", "realisation.cn", "prompt.en", "prompt.zh"} < set(fields)
    told = {"seen": seen_on(page), "action": "hand_in", **{name: html.unescape(text) for name, text in fields.items()}}
    assert ana.send("/author/concepts/tea/text", **told).status_code == 200
    assert building.events("tea") == ["assigned", "submit"]


def test_a_rejection_needs_reason_and_note_and_keeps_what_was_typed(building: Building, ana: Person, bo: Person):
    ana.write("tea")
    without = bo.decide("tea", "reject", note="can be looked up")
    assert without.status_code == 422
    assert "can be looked up" in without.text
    assert 'value="reject" checked' in without.text
    silent = bo.decide("tea", "reject", reason="factual")
    assert silent.status_code == 422
    assert '<option value="factual" selected>' in silent.text
    assert "is rejected" in bo.decide("tea", "reject", reason="factual", note="can be looked up").text
    assert (building.standing("tea").state, building.standing("tea").reason) == ("rejected", "factual")
    assert 'name="seen"' not in ana.page("tea")


def test_an_author_may_give_up(building: Building, ana: Person):
    ana.write("tea")
    assert ana.decide("tea", "reject", reason="other", note="no idea").status_code == 200
    assert building.standing("tea").by == "ana"


@pytest.mark.parametrize(("action", "status"), [("accept", 409), ("review", 409), ("nonsense", 422), ("", 422)])
def test_moves_that_are_not_possible(building: Building, bo: Person, action: str, status: int):
    answer = bo.decide("tea", action, seen=seen_on(building.author("ana").page("tea")), note="kept words")
    assert answer.status_code == status
    assert 'role="alert"' in answer.text
    assert building.events("tea") in ([], ["assigned"])


def test_nobody_acts_for_another(building: Building, ana: Person, bo: Person):
    seen = seen_on(ana.page("tea"))
    chen = building.author("chen")
    for other in (bo, chen):
        answer = other.write("tea", seen=seen, realisation_us="mine", by="ana", person="ana")
        assert answer.status_code == 422
        assert "mine" not in realisation(building, "tea", "us")
    ana.write("tea")
    for other in (ana, chen):
        answer = other.decide("tea", "review", seen=seen, note="fine", by="bo")
        assert answer.status_code == 422
    assert building.standing("tea").state == "drafted"


def test_a_reviewer_sees_what_they_decide_on(building: Building, ana: Person, bo: Person):
    ana.write("tea")
    seen = seen_on(bo.page("tea"))
    ana.write("tea", realisation_us="another tea")
    late = bo.decide("tea", "review", seen=seen, note="typed with care")
    assert late.status_code == 409
    assert "changed since you looked" in html.unescape(late.text)
    assert "typed with care" in late.text
    assert "another tea" in late.text
    again = bo.decide("tea", "review", seen=seen_on(late.text), note="typed with care")
    assert again.status_code == 200


def test_two_windows_of_an_author_do_not_overwrite_each_other(building: Building, ana: Person):
    seen = seen_on(ana.page("tea"))
    write(building.folder, "tea", "ana", realisations={"us": "from the other window"})
    late = ana.write("tea", seen=seen, action="save", realisation_us="from this window", note="and a note")
    assert late.status_code == 409
    assert "is saved as a draft" not in late.text
    for told in ("from this window", "from the other window", "and a note"):
        assert told in late.text
    assert realisation(building, "tea", "us") == "from the other window"
    assert (
        ana.write("tea", seen=seen_on(late.text), action="save", realisation_us="from this window").status_code == 200
    )
    assert realisation(building, "tea", "us") == "from this window"


def test_what_was_not_touched_takes_the_text_that_changed_meanwhile(building: Building, ana: Person):
    page = ana.page("tea")
    shown = {name: html.unescape(text) for name, text in re.findall(r'name="was\.([^"]+)" value="([^"]*)"', page)}
    assert {"category", "realisation.us", "realisation.cn", "prompt.en"} <= set(shown)
    write(building.folder, "tea", "ana", realisations={"us": "from a spreadsheet"})
    form = {**{f"was.{name}": text for name, text in shown.items()}, **shown, "realisation.cn": "typed"}
    late = ana.send("/author/concepts/tea/text", action="save", seen=seen_on(page), **form)
    assert late.status_code == 409
    assert re.search(r'name="realisation\.us"[^>]*>\s*from a spreadsheet</textarea>', late.text)
    assert ana.send("/author/concepts/tea/text", action="save", seen=seen_on(late.text), **form).status_code == 200
    assert (realisation(building, "tea", "us"), realisation(building, "tea", "cn")) == ("from a spreadsheet", "typed")


def test_a_form_without_the_digest_changes_nothing(building: Building, ana: Person):
    assert ana.send("/author/concepts/tea/text", action="hand_in", **{"realisation.us": "x"}).status_code == 409
    assert building.events("tea") in ([], ["assigned"])


def test_what_is_typed_is_kept_where_the_folder_cannot_be_read(building: Building, ana: Person):
    seen = seen_on(ana.page("tea"))
    csrf = ana.csrf
    build = building.folder / "concepts.csv"
    kept = build.read_bytes()
    build.write_text("nonsense", encoding="utf-8")
    told = {"csrf": csrf, "seen": seen, "action": "save", "realisation.us": "a long text of mine"}
    answer = ana.http.post("/author/concepts/tea/text", data=told)
    assert answer.status_code == 409
    assert "a long text of mine" in answer.text
    assert str(building.folder) not in answer.text
    build.write_bytes(kept)
    assert ana.http.get("/author").status_code == 200


def test_a_text_that_is_not_ready_is_saved_and_told(building: Building, ana: Person, bo: Person):
    assert bo.send("/author/concepts", concept="noodles", category="food").status_code == 200
    assert building.standing("noodles").author == "ana"
    answer = ana.write("noodles", realisation_us="spaghetti")
    assert answer.status_code == 422
    assert "spaghetti" in answer.text
    assert "is saved as a draft" in answer.text
    assert realisation(building, "noodles", "us") == "spaghetti"
    assert building.standing("noodles").state == "open"
    assert str(building.folder) not in answer.text


@pytest.mark.parametrize("name", ["", "tea", "TEA", "../x", "a b", "茶", "<b>"])
def test_names_that_cannot_be_concepts(building: Building, ana: Person, name: str):
    before = (building.folder / "concepts.csv").read_bytes()
    answer = ana.send("/author/concepts", concept=name, category="food & drink")
    assert answer.status_code == 422
    assert "food &amp; drink" in answer.text
    assert (building.folder / "concepts.csv").read_bytes() == before


def test_hostile_texts_are_shown_and_never_obeyed(building: Building, ana: Person, bo: Person):
    assert (
        ana.write("tea", realisation_us=HOSTILE, prompt_en=HOSTILE, category=HOSTILE, note=HOSTILE).status_code == 200
    )
    assert bo.decide("tea", "review", note=HOSTILE).status_code == 200
    lead = building.lead()
    pages = [bo.page("tea"), ana.page("tea"), ana.http.get("/author").text, lead.http.get("/lead").text]
    for page in [*pages, lead.http.get("/lead/concepts/tea").text]:
        assert "<script>alert" not in page
        assert "55433" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; {{ 7919*7 }}" in pages[0]
    assert realisation(building, "tea", "us") == HOSTILE
    escape = ana.write("tea", realisation_us="\x1b[31mred", note="stays here")
    assert escape.status_code == 422
    assert "stays here" in escape.text


def test_hostile_events_of_other_hands_do_no_harm(building: Building, ana: Person):
    with open_history(building.folder) as book:
        book.append({"kind": "<img src=x>", "concept": "tea", "by": "<b>eve", "note": ["<i>"], "text": [1]})
        book.append({"kind": "text", "action": "write", "concept": "tea", "by": "eve", "text": {"us": {"a": {"b": 1}}}})
        book.append({"kind": "authoring", "action": "fly", "concept": "tea", "by": "eve", "reason": {"x": 1}})
    page = ana.page("tea")
    assert "&lt;img src=x&gt;" in page
    assert "<img src=x>" not in page
    assert "<b>eve" not in page


def test_forged_forms_are_refused(building: Building, ana: Person, bo: Person):
    seen = seen_on(ana.page("tea"))
    told = {"seen": seen, "action": "save", "realisation.us": "forged"}
    path = "/author/concepts/tea/text"
    foreign = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    assert ana.http.post(path, data=told).status_code == 403
    assert ana.http.post(path, data={**told, "csrf": "0" * 64}).status_code == 403
    assert ana.http.post(path, data={**told, "csrf": bo.csrf}).status_code == 403
    assert ana.http.post(path, data={**told, "csrf": ana.csrf}, headers=foreign).status_code == 403
    assert building.browser().post(path, data=told).status_code == 401
    assert realisation(building, "tea", "us") != "forged"


def test_every_change_needs_its_own_session(building: Building, ana: Person):
    lead, nobody = building.lead(), building.browser()
    for route in building.app.routes:
        if "POST" not in getattr(route, "methods", ()) or route.path.endswith("/enter"):
            continue
        path = route.path.replace("{concept}", "tea")
        other = ana if path.startswith("/lead") else lead
        assert nobody.post(path, data={"csrf": "x"}).status_code == 401, path
        assert other.http.post(path, data={"csrf": other.csrf}).status_code == 401, path
        owner = lead if path.startswith("/lead") else ana
        assert owner.http.post(path, data={"csrf": "x"}).status_code == 403, path


def test_pages_are_for_those_they_are_for(building: Building, ana: Person):
    nobody = building.browser()
    for path in ("/author", "/author/concepts/tea", "/lead", "/lead/people", "/lead/screening", "/lead/concepts/tea"):
        assert nobody.get(path).url.path.endswith("/enter"), path
        if path.startswith("/lead"):
            assert ana.http.get(path).url.path == "/lead/enter", path
    assert nobody.get("/pictures/tea-us").status_code == 401
    assert ana.http.get("/pictures/tea-us").status_code == 404
    assert ana.http.get("/author/concepts/..%2Fx").status_code in (404, 422)
    assert ana.http.get("/author/concepts/nothing").status_code == 404


def test_links_are_personal_kept_as_hashes_and_end(building: Building):
    ana = building.author("ana")
    token = ana.link.partition("#")[2]
    assert len(token) >= 32
    for file in building.folder.iterdir():
        if file.is_file():
            assert token.encode() not in file.read_bytes(), file
    assert token not in building.lead().http.get("/lead/people").text
    new = building.author("ana")
    assert new.http.get("/author").url.path == "/author"
    assert ana.http.get("/author").url.path == "/author/enter"
    old = Person(building, "author", ana.link)
    assert old.entered.status_code == 403
    building.lead().send("/lead/people/end", name="ana")
    assert new.http.get("/author").url.path == "/author/enter"
    assert building.lead().send("/lead/people", name="eve").status_code == 400


def test_who_left_the_team_is_let_in_no_more(building: Building, ana: Person):
    file = building.folder / "build.toml"
    file.write_text(file.read_text(encoding="utf-8").replace("'ana'", "'dora'"), encoding="utf-8")
    assert ana.http.get("/author").status_code == 403
    assert "not in build.toml any more" in building.lead().http.get("/lead/people").text


def test_guessing_is_limited(building: Building):
    person = building.browser()
    csrf = csrf_of(person.get("/author/enter").text)
    answers = [person.post("/author/enter", data={"csrf": csrf, "secret": f"guess{n}"}).status_code for n in range(22)]
    assert answers[:20] == [403] * 20
    assert answers[-1] == 429


def test_the_lead_sees_states_balances_and_findings(building: Building, ana: Person, bo: Person):
    ana.write("tea", prompt_en="Would rice please you?")
    bo.decide("tea", "review", note="say where")
    lead = building.lead()
    page = html.unescape(lead.http.get("/lead").text)
    assert "reviewed 1" in page
    assert "not written 2" in page
    assert "nearly the same" in page.partition("What the check finds")[2] or "Look at" in page
    assert re.search(r"<bdi>ana</bdi></th><td class=\"num\">1</td><td class=\"num\">1</td>", page)
    one = lead.http.get("/lead/concepts/tea").text
    assert "say where" in one
    assert '<form method="post" action="/author' not in one


def test_hundreds_of_concepts_can_be_searched(building: Building, ana: Person):
    write_rows(building.folder, [*pairs("tea"), *pairs(*(f"dish-{n:03d}" for n in range(60)))])
    lead = building.lead()
    whole = lead.http.get("/lead").text
    assert whole.count('<th scope="row"><a href="/lead/concepts/') == 50
    assert "50 of 61 are shown." in whole
    everything = re.search(r'href="(/lead\?[^"]*all=1)"', whole)
    assert everything is not None
    assert lead.http.get(html.unescape(everything[1])).text.count('<th scope="row"><a href="/lead/concepts/') == 61
    found = lead.http.get("/lead", params={"find": "FOOD dish-00", "state": "open"}).text
    assert found.count('<th scope="row"><a href="/lead/concepts/') == 10
    assert 'value="FOOD dish-00"' in found
    assert "Nothing is found here." in lead.http.get("/lead", params={"find": "nowhere"}).text
    assert ana.http.get("/author", params={"find": "<b>x"}).status_code == 200
    home = ana.http.get("/author").text
    assert home.count('<li class="card">') == 21
    assert ana.http.get("/author", params={"find": "tea"}).text.count('<li class="card">') == 1


def test_few_concepts_need_no_search(building: Building, ana: Person):
    assert 'role="search"' not in building.lead().http.get("/lead").text
    assert 'role="search"' not in ana.http.get("/author").text


def test_pages_name_files_languages_and_cultures_as_people_do(building: Building, ana: Person):
    write_rows(building.folder, [*pairs("tea"), *pair("rice", realisation="")])
    page = html.unescape(building.lead().http.get("/lead").text)
    assert "concepts.csv, row 4" in page
    assert str(building.folder) not in page
    assert "English: 4 of 4 items have a question." in page
    assert "<bdi>the United States</bdi>" in page


def test_a_page_that_there_is_not_leads_back(building: Building, ana: Person):
    for path in ("/author/concepts/nothing", "/nowhere"):
        answer = ana.http.get(path)
        assert answer.status_code == 404
        assert '<a href="/">All concepts</a>' in answer.text


def test_a_persons_translation_is_told_in_words(building: Building, ana: Person):
    with open_history(building.folder) as book:
        for action in ("verify", "withdraw"):
            book.append({"kind": "translation", "action": action, "concept": "tea", "by": "dai", "language": "zh"})
        book.append({"kind": "translation", "action": "fly", "concept": "tea", "by": "dai", "language": "<b>"})
    page = ana.page("tea")
    assert "verified the text in this language: 中文" in page
    assert "took back the verification" in page
    assert "(translation)" in page


def test_pages_and_command_line_share_the_history(building: Building, ana: Person, bo: Person):
    move(building.folder, "submit", "tea", "ana")
    assert bo.decide("tea", "review", note="from the page").status_code == 200
    move(building.folder, "revise", "tea", "ana", note="stays")
    assert bo.decide("tea", "accept").status_code == 200
    assert building.standing("tea").state == "accepted"


def test_pages_speak_chinese(building: Building, ana: Person):
    ana.send("/author/language", language="zh", back="/author/concepts/tea")
    page = ana.http.get("/author").text
    assert 'lang="zh-Hans"' in page
    assert "轮到您" in page
    assert ana.send("/author/language", language="en", back="//evil.example").url.path == "/author"


def test_headers_and_sizes(building: Building, ana: Person):
    answer = ana.http.get("/author/concepts/tea")
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"
    assert not re.search(r"<script(?![^>]* src=)|style=\"|<style|onclick", answer.text)
    long = "茶" * 4000
    fields = {f"realisation_{culture}": f"{culture}{long[3:]}" for culture in ("us", "cn")}
    assert ana.write("tea", action="save", prompt_en=long, prompt_zh=long, **fields).status_code == 200
    assert ana.write("tea", action="save", prompt_en="x" * 2_000_000).status_code == 413


@pytest.mark.parametrize(("text", "key"), [(build_text(team=("ana", "bo")), "authors"), ("name = 3", "build.toml")])
def test_the_command_refuses_what_cannot_be_served(tmp_path: Path, capsys, text: str, key: str):
    folder = make(tmp_path / "mine", pairs("tea"), text)
    assert run(["build", "serve", str(folder), "--port", str(free_port())]) == 3
    assert key in capsys.readouterr().err
