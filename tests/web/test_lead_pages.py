"""The lead's pages, asked for by a browser without scripts."""

from __future__ import annotations

import io
import re
import time
import zipfile
from pathlib import Path

import polars as pl
import pytest
from tests.web.corpora import STUDY, build
from tests.web.leads import Lead, link_on, people, pilot_of, rate
from tests.web.people import Visitor
from tests.web.running import InProcess

from voirdire import validate
from voirdire.annotation.batches import batch, batches
from voirdire.annotation.collected import collect
from voirdire.annotation.flags import Flag
from voirdire.annotation.invitations import invite
from voirdire.annotation.raters import join, rater
from voirdire.cli.annotate import lines
from voirdire.web.lead_view import flag_told
from voirdire.web.live import LIVE

PAGES = (
    "/lead", "/lead/batches/new", "/lead/batches/1", "/lead/batches/1/statistics", "/lead/batches/1/report",
    "/lead/batches/1/export.zip", "/lead/batches/1/verdicts", "/lead/raters/abc/delete",
)  # fmt: skip
FORMS = (
    "/lead/leave", "/lead/language", "/lead/batches", "/lead/batches/1/state", "/lead/batches/1/links",
    "/lead/batches/1/links/1/revoke", "/lead/raters/abc/delete", "/lead/batches/1/verdicts",
)  # fmt: skip


@pytest.fixture
def lead(inside: InProcess):
    asking = Lead(inside)
    yield asking
    asking.http.close()


@pytest.fixture
def nobody(inside: InProcess):
    """A browser in which the lead's pages are not open."""
    asking = Lead(inside, enter=False)
    yield asking
    asking.http.close()


@pytest.fixture
def visit(inside: InProcess):
    """Makes people who ask the service."""
    made: list[Visitor] = []

    def another() -> Visitor:
        made.append(Visitor(inside.here.url))
        return made[-1]

    yield another
    for one in made:
        one.http.close()


def test_the_link_opens_a_page_that_sends_the_secret_by_a_form(inside: InProcess, nobody: Lead):
    page = nobody.http.get("/lead/enter")
    assert page.status_code == 200
    assert 'type="password"' in page.text
    assert re.search(r'<script src="/static/enter\.js', page.text)
    assert inside.ready.lead_link.endswith(f"/lead/enter#{nobody.secret}")
    assert len(nobody.secret) >= 32
    entered = nobody.enter(nobody.secret)
    assert entered.url.path == "/lead"
    assert "Main batch" in entered.text
    assert nobody.http.get("/lead/enter").url.path == "/lead"


def test_the_session_of_the_lead_is_signed_and_hidden_from_scripts(inside: InProcess, nobody: Lead):
    nobody.http.follow_redirects = False
    sent = nobody.enter(nobody.secret).headers["set-cookie"]
    assert "HttpOnly" in sent
    assert "SameSite=lax" in sent
    assert nobody.secret not in sent
    assert nobody.http.get("/lead").status_code == 200
    held = nobody.http.cookies["voirdire-lead"]
    nobody.http.cookies.clear()
    nobody.http.cookies.set("voirdire-lead", held[:-6] + "xxxxxx")
    assert nobody.http.get("/lead").headers["location"] == "/lead/enter"


def test_a_wrong_secret_opens_nothing_and_guessing_ends(inside: InProcess, nobody: Lead):
    for _ in range(20):
        refused = nobody.enter("wrong" * 8)
        assert refused.status_code == 403
        assert "not the secret" in refused.text
    assert nobody.enter("wrong" * 8).status_code == 429
    assert nobody.enter(nobody.secret).status_code == 429
    assert nobody.http.get("/lead").url.path == "/lead/enter"


@pytest.mark.parametrize("path", PAGES)
def test_pages_lead_strangers_and_raters_to_where_the_secret_is_asked_for(inside: InProcess, visit, path):
    for visitor in (visit(), visit()):
        found = visitor.http.get(path)
        assert found.url.path == "/lead/enter"
        assert "Main batch" not in found.text
        visitor.join(inside.here.link("us"))
        assert visitor.http.get(path).url.path == "/lead/enter"


@pytest.mark.parametrize("path", FORMS)
def test_forms_need_the_leads_session_and_its_token(inside: InProcess, visit, lead: Lead, path):
    (known,) = people(inside.here, "us", 1)
    path = path.replace("abc", known.id)
    stranger = visit()
    assert stranger.http.post(path, data={"csrf": "x"}).status_code == 401
    for token in ("", "x", "0" * 64):
        assert lead.http.post(path, data={"csrf": token, "open": "no", "name": "forged"}).status_code == 403
    foreign = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    assert lead.http.post(path, data={"csrf": lead.csrf}, headers=foreign).status_code == 403
    assert [one.open for one in batches(inside.here.database)] == [True]
    assert rater(inside.here.database, known.id).state == "active"


def test_leaving_ends_the_session(lead: Lead):
    assert lead.send("/lead/leave").url.path == "/lead/enter"
    assert lead.http.get("/lead").url.path == "/lead/enter"


def test_pages_are_read_in_the_language_that_was_chosen(lead: Lead):
    chinese = lead.send("/lead/language", language="zh", back="/lead/batches/1")
    assert chinese.url.path == "/lead/batches/1"
    assert '<html lang="zh-Hans">' in chinese.text
    assert "邀请链接" in chinese.text
    assert '<html lang="zh-Hans">' in lead.http.get("/lead").text
    assert '<html lang="en">' in lead.send("/lead/language", language="en", back="/lead").text
    assert '<html lang="en">' in lead.send("/lead/language", language="../xx", back="/lead").text


@pytest.mark.parametrize("back", ["https://evil.example", "//evil.example", "/lead//evil", "/lead/../join", ""])
def test_nobody_is_sent_away_from_the_leads_pages(lead: Lead, back):
    assert str(lead.send("/lead/language", language="en", back=back).url) == f"{lead.here.url}/lead"


@pytest.mark.parametrize("number", ["99", "0", "-1", "abc", "9999999999999999999999"])
def test_a_batch_that_does_not_exist_is_told(lead: Lead, number):
    for path in ("", "/statistics", "/report", "/export.zip", "/verdicts"):
        assert lead.http.get(f"/lead/batches/{number}{path}").status_code in (404, 422)
    assert lead.send(f"/lead/batches/{number}/state", open="no").status_code in (404, 422)
    assert lead.send(f"/lead/batches/{number}/links", pool="us").status_code in (404, 422)


def _ticked(lead: Lead) -> dict[str, str]:
    page = lead.http.get("/lead/batches/new").text
    return dict.fromkeys(re.findall(r'type="checkbox" name="(\w+)" value="yes" checked', page), "yes")


def test_a_batch_is_made_of_a_category(inside: InProcess, lead: Lead):
    ticked = _ticked(lead)
    assert set(ticked) == {"split_0", "category_0", "category_1"}
    del ticked["category_1"]
    made = lead.send("/lead/batches", name="Out <b>doors", kind="rating", raters_per_item="4", repeats="2", **ticked)
    assert made.url.path == "/lead/batches/2"
    assert "Out &lt;b&gt;doors" in made.text
    spec = batch(inside.here.database, 2).spec
    shown = inside.service.shown.items
    assert [shown[name].category for name in spec.items] == ["outdoors"] * 6
    assert (spec.study.raters_per_item, spec.study.repeats, spec.study.items_per_rater) == (4, 2, None)
    assert spec.pairs == {name: shown[name].pair for name in spec.items}


def test_a_pilot_is_made_of_ids_and_asks_whether_items_can_be_used(inside: InProcess, lead: Lead):
    ids = "cup-us,\ncup-cn  lamp-us; cup-us"
    made = lead.send("/lead/batches", name="Try", kind="pilot", ids=ids, items_per_rater="2", **_ticked(lead))
    assert made.url.path == "/lead/batches/2"
    spec = batch(inside.here.database, 2).spec
    assert spec.items == ("cup-us", "cup-cn", "lamp-us")
    assert [asked.id for asked in spec.study.questions][-1] == "usable"
    assert spec.study.items_per_rater == 2
    assert "/lead/batches/2/verdicts" in made.text


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": " "}, "1 to 80 characters"),
        ({"name": "x" * 81}, "1 to 80 characters"),
        ({"name": "a\x00b"}, "1 to 80 characters"),
        ({"ids": "cup-us\x00"}, "1 of these ids"),
        ({"kind": "other"}, "what the batch is for"),
        ({"ids": "cup-us nothing &lt;"}, "2 of these ids"),
        ({"raters_per_item": "0"}, "&#39;0&#39; cannot be the number of raters"),
        ({"raters_per_item": "1e3"}, "cannot be the number of raters"),
        ({"items_per_rater": "-4"}, "cannot be the number of items"),
        ({"repeats": "9", "items_per_rater": "3"}, "More items would be repeated (9) than a rater has (3)"),
        ({"repeats": "99999999999"}, "cannot be the number of repeats"),
    ],
)
def test_a_form_with_a_fault_is_shown_again_with_what_was_written(inside: InProcess, lead: Lead, fields, said):
    sent = {"name": "Kept name", "kind": "rating", **_ticked(lead), **fields}
    found = lead.send("/lead/batches", **sent)
    assert found.status_code == 422
    assert said in found.text
    assert f'value="{sent["name"]}"' in found.text
    assert len(batches(inside.here.database)) == 1


def test_no_ticked_part_is_a_fault(lead: Lead):
    found = lead.send("/lead/batches", name="None", kind="rating")
    assert found.status_code == 422
    assert "Tick more" in found.text


def test_an_invitation_is_shown_once_and_lets_people_in(inside: InProcess, visit, lead: Lead):
    made = lead.send("/lead/batches/1/links", pool="cn", label="Class <i>A</i>", most="2")
    url = link_on(made.text)
    assert "Class &lt;i&gt;A&lt;/i&gt;" in made.text
    assert "PROLIFIC_PID={{%PROLIFIC_PID%}}" in made.text
    assert url not in lead.http.get("/lead/batches/1").text
    for _ in range(2):
        assert visit().join(url).url.path == "/welcome"
    assert ">2 of 2<" in lead.http.get("/lead/batches/1").text
    assert visit().http.get(url).status_code == 409


def test_a_revoked_link_lets_nobody_in(inside: InProcess, visit, lead: Lead):
    url = link_on(lead.send("/lead/batches/1/links", pool="us", most="1").text)
    page = lead.http.get("/lead/batches/1").text
    action = re.search(r'action="(/lead/batches/1/links/\d+/revoke)"', page)[1]
    assert "revoked" in lead.send(action).text
    assert visit().http.get(url).status_code == 404


def test_a_link_of_another_batch_is_not_revoked_by_this_one(inside: InProcess, visit, lead: Lead):
    lead.send("/lead/batches", name="Two", kind="rating", **_ticked(lead))
    url = link_on(lead.send("/lead/batches/1/links", pool="us").text)
    lead.send("/lead/batches/2/links/1/revoke")
    assert visit().http.get(url).status_code == 200


@pytest.mark.parametrize("fields", [{"pool": "xx"}, {"pool": "us", "most": "0"}, {"pool": "us", "most": "many"},
                                    {"pool": "us", "label": "x" * 81}])  # fmt: skip
def test_a_link_that_cannot_be_is_told_on_the_page(lead: Lead, fields):
    found = lead.send("/lead/batches/1/links", **fields)
    assert found.status_code == 422
    assert 'role="alert"' in found.text
    assert "There is no link yet" in found.text


def test_a_batch_is_closed_and_opened_again(inside: InProcess, visit, lead: Lead):
    assert "This batch is closed" in lead.send("/lead/batches/1/state", open="no").text
    assert visit().http.get(inside.here.link("us")).status_code == 409
    assert "This batch is open" in lead.send("/lead/batches/1/state", open="yes").text
    assert visit().http.get(inside.here.link("us")).status_code == 200


def test_progress_and_what_should_be_looked_at_are_told(inside: InProcess, lead: Lead):
    first, second = people(inside.here, "us", 2)
    rate(inside.here, [first])
    rate(inside.here, [second], q1="3", q2="3", q3="3", q4="3")
    rate(inside.here, people(inside.here, "cn", 1), most=5)
    page = lead.fresh("/lead/batches/1")
    assert "24 of 24" in page
    assert "5 of 24" in page
    assert "the same answer to 100% of 12 items" in page
    assert second.id in page


def test_a_rater_is_found_by_the_label_of_the_link_and_by_the_time(inside: InProcess, lead: Lead):
    link, _ = invite(inside.here.database, 1, "us", label="Ms. <Lee>", most_raters=1, now=time.time())
    who = join(inside.here.database, link, language="en", attributes={}, passed=True, now=1_700_000_000.0)
    page = lead.fresh("/lead/batches/1")
    row = page.partition(f'data-rater="{who.id}"')[2].partition("</tr>")[0]
    assert "Ms. &lt;Lee&gt;" in row
    assert "2023-11-14 22:13 UTC" in row
    assert "Ms. &lt;Lee&gt;" in lead.http.get(f"/lead/raters/{who.id}/delete").text
    told = lead.http.get("/lead/api/batches/1/raters").json()
    assert [(one["id"], one["label"]) for one in told] == [(who.id, "Ms. <Lee>")]


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ({"seconds": 2.5, "least": 4.0, "others": 0.5}, "less than 4 s, which is one second for each question. Among"),
        ({"seconds": 2.5, "least": 4.0}, "less than 4 s, which is one second for each question."),
        ({"seconds": 6.0, "least": 4.0, "others": 30.0}, "less than a third of the 30 s of the others."),
    ],
)
def test_a_rater_who_is_fast_is_told_with_the_rule_that_applied(numbers: dict[str, float], told: str):
    assert told in flag_told(Flag("speeding", numbers), "en").text


def test_deleting_a_rater_is_asked_once_more_and_then_done(inside: InProcess, lead: Lead):
    (gone, stays) = people(inside.here, "us", 2)
    rate(inside.here, [gone, stays])
    asked = lead.fresh(f"/lead/raters/{gone.id}/delete")
    assert "12 of 12 items answered" in asked
    assert rater(inside.here.database, gone.id).state == "finished"
    done = lead.send(f"/lead/raters/{gone.id}/delete").text
    assert "answers: 48, items: 12" in done
    assert "12 of 24" in done
    assert {one.id for one in collect(inside.here.database, 1).raters} == {stays.id}
    assert lead.http.get(f"/lead/raters/{gone.id}/delete").status_code == 404
    assert lead.send(f"/lead/raters/{gone.id}/delete").status_code == 404


def test_the_download_is_what_validate_reads_and_the_page_shows_its_numbers(
    inside: InProcess, lead: Lead, tmp_path: Path
):
    rate(inside.here, people(inside.here, "us", 2))
    rate(inside.here, people(inside.here, "cn", 2))
    sent = lead.http.get("/lead/batches/1/export.zip")
    assert sent.headers["content-type"] == "application/zip"
    assert sent.headers["content-disposition"] == 'attachment; filename="ratings-1.zip"'
    with zipfile.ZipFile(io.BytesIO(sent.content)) as packed:
        packed.extractall(tmp_path / "out")
    profile = validate(tmp_path / "out" / "ratings-1", draws=LIVE.draws, permutations=LIVE.permutations)
    page = lead.statistics().text
    live = inside.app.state.live.statistics(1).statistics.profile
    assert live.estimates.drop("signature").equals(profile.estimates.drop("signature"))
    alpha = profile.get("alpha", question="q1", pool="us").value
    assert f">{alpha:.2f}".replace("-", "−") in page
    assert "Items that split the pools most" in page
    assert page.count("<img") == 6
    assert page.count("<table") >= 12


def test_statistics_say_what_is_missing_before_there_are_any(lead: Lead):
    first = lead.http.get("/lead/batches/1/statistics")
    assert first.status_code == 200
    assert lead.http.get("/lead/batches/1/report").url.path == "/lead/batches/1/statistics"
    page = lead.statistics().text
    assert "No item has been rated whole" in page
    assert "<table" not in page


def test_few_ratings_give_reasons_in_words_and_no_error(inside: InProcess, lead: Lead):
    rate(inside.here, people(inside.here, "us", 1), most=2)
    page = lead.statistics()
    assert page.status_code == 200
    assert "no item has two ratings that can be compared" in page.text
    assert "nan" not in page.text.lower().replace("finance", "")


def test_the_complete_report_has_a_policy_of_its_own_without_scripts(inside: InProcess, lead: Lead):
    rate(inside.here, people(inside.here, "us", 2))
    lead.statistics()
    report = lead.http.get("/lead/batches/1/report")
    assert report.status_code == 200
    policy = report.headers["content-security-policy"]
    assert "script-src" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "Krippendorff" in report.text


def test_verdicts_of_a_pilot_are_shown_confirmed_and_taken_back(inside: InProcess, lead: Lead):
    pilot = pilot_of(inside.service)
    for pool in ("us", "cn"):
        rate(inside.here, people(inside.here, pool, 2, pilot.id))
    path = f"/lead/batches/{pilot.id}/verdicts"
    page = lead.http.get(path).text
    assert "12 keep, 0 drop, 0 undecided; 0 decided by you" in page
    changed = lead.send(path, item="cup-us", verdict="drop", note="</li><script>alert(1)</script>").text
    assert "11 keep, 1 drop, 0 undecided; 1 decided by you" in changed
    assert "<script>alert" not in changed
    assert "&lt;script&gt;alert" in changed
    assert "0 decided by you" in lead.send(path, item="cup-us", verdict="", note="").text
    assert lead.send(path, item="cup-us", verdict="perhaps").status_code == 422
    assert lead.send(path, item="not-there", verdict="drop").status_code == 404


def test_a_batch_that_is_no_pilot_has_no_verdicts(lead: Lead):
    found = lead.http.get("/lead/batches/1/verdicts")
    assert found.status_code == 400
    assert "no pilot" in found.text


def test_texts_of_the_corpus_are_shown_as_texts(tmp_path: Path):
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    folder = build(tmp_path / "evil")
    table = pl.read_csv(folder / "items.csv").with_columns(
        pl.lit(evil).alias("prompt.en"), pl.lit(evil).alias("category"), pl.lit(evil).alias("alt.en")
    )
    table.write_csv(folder / "items.csv")
    (folder / "corpus.toml").write_text("name = '<b onclick=x>things</b>'\n")
    (folder / "annotation.toml").write_text(STUDY)
    with InProcess(folder, f"sqlite:///{tmp_path / 'store.sqlite'}") as running:
        lead = Lead(running)
        for pool in ("us", "cn"):
            rate(running.here, people(running.here, pool, 2))
        pilot = pilot_of(running.service)
        pages = [lead.http.get(path).text for path in ("/lead", "/lead/batches/new", "/lead/batches/1")]
        pages += [lead.statistics().text, lead.http.get("/lead/batches/1/report").text]
        pages += [lead.http.get(f"/lead/batches/{pilot.id}/verdicts").text]
        lead.http.close()
    for page in pages:
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "<b onclick" not in page
    assert "onerror" in pages[3]


def test_comments_stand_in_the_export_alone(inside: InProcess, visit, lead: Lead):
    pilot = pilot_of(inside.service)
    rate(inside.here, people(inside.here, "us", 1, pilot.id), comment="a private remark")
    for path in ("", "/verdicts"):
        assert "a private remark" not in lead.http.get(f"/lead/batches/{pilot.id}{path}").text
    with zipfile.ZipFile(io.BytesIO(lead.http.get(f"/lead/batches/{pilot.id}/export.zip").content)) as packed:
        assert packed.read(f"ratings-{pilot.id}/comments.csv").count(b"a private remark") == 12
    visitor = visit()
    visitor.join(inside.here.link("us"))
    assert "a private remark" not in visitor.http.get("/api/items").text


def test_items_with_known_answers_are_counted_where_a_batch_is_made(tmp_path: Path):
    gold = '\n[[gold]]\nitem = "bowl-us"\nquestion = "q1"\naccept = ["5"]\n'
    with InProcess(build(tmp_path / "gold", STUDY + gold), f"sqlite:///{tmp_path / 'gold.sqlite'}") as running:
        told = [note.fields for note in running.ready.notes if note.key == "lead.new.gold_alone"]
        assert told == [{"count": 1, "left": 11, "alone": 1}]
        asking = Lead(running)
        page = asking.http.get("/lead/batches/new").text
        asking.http.close()
        assert "items left to rate: 11. Of these, 1 had such an item as the mate" in page


def test_without_items_with_known_answers_nothing_is_said_of_them(inside: InProcess, lead: Lead):
    assert [note for note in inside.ready.notes if note.key.startswith("lead.new.gold")] == []
    assert 'id="gold"' not in lead.http.get("/lead/batches/new").text


def test_the_lead_reads_the_name_of_the_study_with_the_corpus_beside_it(tmp_path: Path):
    study = 'name = "Tea & <co>"\n' + STUDY
    with InProcess(build(tmp_path / "named", study), f"sqlite:///{tmp_path / 'named.sqlite'}") as running:
        asking = Lead(running)
        page = asking.http.get("/lead").text
        asking.http.close()
        assert "<title>Tea &amp; &lt;co&gt; (corpus things)</title>" in page
        assert lines(running.ready, "en")[0].startswith("Tea & <co> (corpus things). Items: 12;")


def test_a_study_without_a_name_is_called_by_the_corpus(inside: InProcess, lead: Lead):
    assert "Ratings of things" in lead.http.get("/lead").text
    assert lines(inside.ready, "en")[0].startswith("things. Items: 12;")
