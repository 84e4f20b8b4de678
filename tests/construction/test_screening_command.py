"""``voirdire build screen`` and ``voirdire build decide``: files, page, second opinion, both languages."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image
from tests.construction.pilots import folder_of, planted
from tests.mock_provider import Behaviour, Spawned, spawn

from voirdire.app.build_screen import build_screen, screened_pairs
from voirdire.cli.main import run
from voirdire.construction.concepts import read_concepts, rewrite
from voirdire.construction.history import read_history
from voirdire.construction.same_answers import MOST
from voirdire.construction.screening_opinion import OPINION_ITEMS
from voirdire.construction.seen import changed, mark, texts_of
from voirdire.judging.nouns import RunStopped

EVIL = "<script>alert(1)</script>\x1b[31m"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    place, _, _ = folder_of(planted(5)[0], tmp_path / "corpus")
    return place


def arguments(place: Path, *more: object) -> list[str]:
    tables = ("--ratings", place / "pilot.csv", "--questions", place / "questions.csv")
    return [str(part) for part in ("build", "screen", place, *tables, "--checklist", place / "checklist.csv", *more)]


def told(capsys: pytest.CaptureFixture[str], args: list[str], code: int = 0) -> Any:
    capsys.readouterr()
    assert run([*args, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_the_command_writes_table_page_and_history(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = told(capsys, arguments(corpus))
    assert sum(made["counts"].values()) == len(made["pairs"]) == 12
    assert made["counts"]["drop"] >= 5
    assert (corpus / "screening.html").stat().st_size > 10_000
    rows = list(csv.DictReader((corpus / "screening.csv").read_text().splitlines()))
    assert len(rows) == 48
    assert {row["concept"]: row["verdict"] for row in rows} == {p["concept"]: p["suggested"] for p in made["pairs"]}
    assert made["rule"]["confidence"] == 0.9
    (event,) = read_history(corpus).of_kind("screened")
    assert {len(marks) for marks in event["answers"].values()} == {MOST}
    assert set(event["answers"]) == {pair["concept"] for pair in made["pairs"]}
    first = made["pairs"][0]
    assert len(first["said"]) == 4
    assert {name: one.verdict for name, one in screened_pairs(corpus).items()} == {
        one["concept"]: one["verdict"] for one in made["pairs"]
    }


def test_the_same_command_says_the_same(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = told(capsys, arguments(corpus))
    table, page = ((corpus / name).read_bytes() for name in ("screening.csv", "screening.html"))
    assert told(capsys, arguments(corpus)) == first
    assert ((corpus / "screening.csv").read_bytes(), (corpus / "screening.html").read_bytes()) == (table, page)
    assert len((corpus / "history.jsonl").read_text().splitlines()) == 1


def test_a_pilot_is_of_what_stood_there_when_it_was_screened_first(corpus: Path) -> None:
    tables = {"questions": corpus / "questions.csv"}
    build_screen(corpus, ratings=corpus / "pilot.csv", tables=tables)
    concepts = read_concepts(corpus)
    item = concepts.items[0]
    seen = texts_of(item)
    rewrite(corpus, concepts, {item.row: {"realisation": "rewritten"}})
    again = build_screen(corpus, ratings=corpus / "pilot.csv", tables=tables)
    assert again.standing[item.concept].basis[item.id] == seen
    assert changed(seen, texts_of(read_concepts(corpus).items[0])) == ("realisation",)


def test_the_items_beside_a_pilot_say_what_its_raters_saw(corpus: Path, tmp_path: Path) -> None:
    pilot = tmp_path / "exported"
    pilot.mkdir()
    (corpus / "pilot.csv").rename(pilot / "ratings.csv")
    (pilot / "corpus.toml").write_text('[images]\n"images/generated/a.png" = "sha256:0123456789abcdef01"\n')
    item = read_concepts(corpus).items[0]
    shown = {"item_id": [item.id], "prompt.en": ["As raters saw it"], "image": ["images/generated/a.png"]}
    pl.DataFrame(shown).write_csv(pilot / "items.csv")
    made = build_screen(corpus, ratings=pilot, tables={"questions": corpus / "questions.csv"})
    basis = made.standing[item.concept].basis[item.id]
    assert (basis["prompt.en"], basis["image.generated"]) == (mark("As raters saw it"), "0123456789abcdef")
    assert basis["realisation"] == mark(item.realisation)


@pytest.mark.parametrize(("lang", "word"), [("en", "undecided"), ("zh", "未定")])
def test_both_languages(corpus: Path, capsys: pytest.CaptureFixture[str], lang: str, word: str) -> None:
    assert run([*arguments(corpus), "--lang", lang]) == 0
    assert word in capsys.readouterr().out
    assert word in (corpus / "screening.html").read_text(encoding="utf-8")


def test_without_a_checklist_nothing_is_kept(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = told(capsys, arguments(corpus)[:-2])
    assert made["counts"]["keep"] == 0
    assert made["counts"]["undecided"] > 0


def test_a_decision_by_command(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = told(capsys, arguments(corpus))
    concept = next(one["concept"] for one in made["pairs"] if one["suggested"] == "drop")
    args = ["build", "decide", str(corpus), concept, "keep", "--by", "ana"]
    assert told(capsys, args, code=3)["error"]["key"] == "screening.decide.reason"
    if not EVIL.isprintable():
        assert told(capsys, [*args, "--why", EVIL], code=3)["error"]["key"]
    done = told(capsys, [*args, "--why", "".join(filter(str.isprintable, EVIL))])
    assert (done["step"], done["verdict"], done["suggested"]) == ("overrule", "keep", "drop")
    assert run(arguments(corpus)) == 0
    printed, page = capsys.readouterr().out, (corpus / "screening.html").read_text(encoding="utf-8")
    assert re.search(r"ana decided on [0-9-]{10}: keep\. Reason: ", printed)
    assert "\x1b" not in printed + page
    assert "ordinal:1:5" not in page
    assert "ordered steps, 1 to 5" in page
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    again = next(one for one in told(capsys, arguments(corpus))["pairs"] if one["concept"] == concept)
    assert (again["suggested"], again["verdict"], again["decided"]) == ("drop", "keep", "keep")


class Seen(HTMLParser):
    """Tags, addresses and headings of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        self.ids += [value or "" for name, value in attrs if name == "id"]


def test_the_page_is_self_contained_and_escaped(corpus: Path) -> None:
    concepts = corpus / "concepts.csv"
    frame = pl.read_csv(concepts, infer_schema=False)
    frame.with_columns(realisation=pl.lit(EVIL)).write_csv(concepts)
    images = corpus / "images" / "generated"
    images.mkdir(parents=True)
    item = f"{frame['concept'][0]}-{frame['culture'][0]}"
    Image.new("RGB", (64, 48), "teal").save(images / f"{item}.png")
    tables = {"questions": corpus / "questions.csv"}
    made = build_screen(corpus, ratings=corpus / "pilot.csv", checklist=corpus / "checklist.csv", tables=tables)
    page = made.page.read_text(encoding="utf-8")
    seen = Seen()
    seen.feed(page)
    assert "script" not in seen.tags
    assert all(one.startswith(("#", "data:image/jpeg")) for one in seen.addresses)
    assert sum(one.startswith("data:") for one in seen.addresses) == 1
    assert len(seen.ids) == len(set(seen.ids))
    assert "&lt;script&gt;" in page
    assert "\x1b" not in page
    assert all(pair.concept in page for pair in made.screening.pairs)


def test_every_verdict_is_said_with_its_numbers(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for lang in ("en", "zh"):
        made = told(capsys, [*arguments(corpus), "--lang", lang])
        said = [line for pair in made["pairs"] for line in pair["said"]]
        assert all(re.search(r"\d", line) for line in said)
        assert not [line for line in said if "{" in line or "None" in line]


def test_a_second_opinion_decides_nothing(corpus: Path) -> None:
    asked: list[str] = []

    def judge(item: Any) -> int:
        asked.append(item.id)
        return 5

    tables = {"questions": corpus / "questions.csv"}
    common: dict[str, Any] = {
        "ratings": corpus / "pilot.csv", "checklist": corpus / "checklist.csv", "tables": tables,
    }  # fmt: skip
    without = build_screen(corpus, **common)
    made = build_screen(corpus, judge=judge, **common)
    assert made.opinion is not None
    assert len(asked) == len(made.opinion.ratings) == 24
    assert set(made.opinion.ratings.values()) == {5.0}
    assert made.opinion.described == tuple(item for pair in made.screening.pairs for item in pair.items)
    assert [pair.verdict for pair in made.screening.pairs] == [pair.verdict for pair in without.screening.pairs]
    assert made.standing == without.standing
    page = made.page.read_text(encoding="utf-8")
    assert "decides nothing" in page
    again = build_screen(corpus, judge=judge, **common)
    assert again.opinion == made.opinion
    assert len(asked) == 24
    assert "stock symbols" in (corpus / OPINION_ITEMS).read_text(encoding="utf-8")


def test_a_judge_that_fails_leaves_the_screening_written(corpus: Path) -> None:
    def judge(item: Any) -> int:
        raise OSError(item.id)

    with pytest.raises(RunStopped):
        build_screen(
            corpus,
            ratings=corpus / "pilot.csv",
            checklist=corpus / "checklist.csv",
            tables={"questions": corpus / "questions.csv"},
            judge=judge,
        )
    assert (corpus / "screening.html").is_file()
    assert len(screened_pairs(corpus)) == 12


@pytest.mark.parametrize("table", ["pilot.csv", "checklist.csv"])
def test_an_author_among_the_raters_is_told_and_kept(
    corpus: Path, capsys: pytest.CaptureFixture[str], table: str
) -> None:
    """Whether they rated or filled in the checklist; the history says it with the verdicts."""
    frame = pl.read_csv(corpus / table, infer_schema=False)
    if table == "checklist.csv":
        pools = pl.read_csv(corpus / "pilot.csv", infer_schema=False).select("rater_id", "pool").unique()
        frame = frame.join(pools, on="rater_id")
    frame.with_columns(pl.col("rater_id").replace({"r0": "Ana"})).write_csv(corpus / table)
    more = ("--pool-column", "pool") if table == "pilot.csv" else ()
    args = [one for one in arguments(corpus, *more) if table == "checklist.csv" or "checklist" not in one]
    notes = told(capsys, args)["notes"]
    assert any("'Ana' is the author 'ana'" in note for note in notes)
    assert {one.team for one in screened_pairs(corpus).values()} == {(("ana", "Ana"),)}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("command", ["screen", "decide"])
def test_help_has_an_example(capsys: pytest.CaptureFixture[str], command: str, lang: str) -> None:
    assert run(["build", command, "--help", "--lang", lang]) == 0
    assert f"voirdire build {command}" in capsys.readouterr().out


def test_ratings_that_are_not_there(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["build", "screen", str(corpus), "--ratings", str(corpus / "none.csv")]) == 3
    assert "none.csv" in capsys.readouterr().err


def test_a_regime_is_the_name_of_a_folder(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, arguments(corpus, "--regime", "../up"), code=3)["error"]["key"] == "build_images.regime"
    assert not (corpus / "history.jsonl").exists()


@pytest.fixture(scope="module")
def server() -> Iterator[Spawned]:
    with spawn() as mock:
        yield mock


def test_a_judge_behind_an_api(
    corpus: Path, server: Spawned, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Images are sent where there are any; calls are made once, the key is written nowhere."""
    key = "sk-Secret-openai-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    frame = pl.read_csv(corpus / "concepts.csv", infer_schema=False)
    images = corpus / "images" / "generated"
    images.mkdir(parents=True)
    for concept, culture in frame.select("concept", "culture").head(4).iter_rows():
        Image.new("RGB", (64, 48), "teal").save(images / f"{concept}-{culture}.png")
    server.reset(**vars(Behaviour(keep_bodies=100)))
    args = arguments(corpus, "--judge", "openai/gpt-4o", "--base-url", f"{server.url}/openai/v1")
    made = told(capsys, args)
    opinion = made["opinion"]
    assert (opinion["judge"], opinion["decides"], len(opinion["described"])) == ("openai/gpt-4o", False, 20)
    assert len(opinion["ratings"]) + len(opinion["unanswered"]) == 24
    calls = server.stats()["calls"]
    assert calls >= 24
    with_image = {kept["body"] for kept in server.get("bodies") if "data:image/png" in kept["body"]}
    assert len(with_image) >= 1
    assert all("stock symbols" in body for body in with_image)
    assert told(capsys, args)["opinion"] == opinion
    assert server.stats()["calls"] == calls
    assert [pair["suggested"] for pair in made["pairs"]] == [
        p["suggested"] for p in told(capsys, arguments(corpus))["pairs"]
    ]
    files = [path for path in corpus.rglob("*") if path.is_file()]
    assert not [path for path in files if key.encode() in path.read_bytes()]
