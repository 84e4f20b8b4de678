"""Personal data are taken out of every format's tables in one place, counted and told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from voirdire.exchange.importers import crowdkit, votes, wide
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.contract import Importer, ImportOptions, Tables
from voirdire.exchange.importers.people import is_personal, personal_ids
from voirdire.exchange.importers.tables import Finished, finish

PROLIFIC, TURK = "5f3c2a1b9d8e7f6a5b4c3d2e", "A2M45YGLOWMO4N"
VOTES = f"""question_id,model_a,model_b,winner,judge,reason,annotator_name,contact,minutes
q1,gpt,llama,gpt,{PROLIFIC},I am Jane from Leeds,Jane Doe,write to jane@x.org,4
q1,gpt,llama,tie,ann,,Bob Roe,none,5
"""


def done(importer: Importer, file: Path, written: str, **options: Any) -> Finished:
    file.write_text(written, encoding="utf-8")
    assert importer.read is not None
    asked = ImportOptions(**options)
    return finish(importer.read([file], asked, Account()), asked, "here")


def told(made: Finished) -> dict[str, Any]:
    return {note.key: dict(note.fields) for note in made.notes}


def test_votes_keep_neither_names_nor_addresses_nor_words_of_raters(tmp_path: Path) -> None:
    made = done(votes.IMPORTER, tmp_path / "v.csv", VOTES)
    assert made.tables["ratings"].columns == ["item_id", "rater_id", "question", "rating", "minutes"]
    assert made.tables["ratings"]["rater_id"].to_list() == ["r1", "ann"]
    notes = told(made)
    assert notes["personal.texts"] == {"table": "ratings", "columns": "reason", "count": 1}
    assert notes["importing.note.personal"] == {"table": "ratings", "columns": "annotator_name, contact"}
    assert notes["importing.note.ids"] == {"count": 1}


def test_words_of_raters_that_are_wanted_hold_no_address(tmp_path: Path) -> None:
    written = VOTES.replace("from Leeds", f"{TURK} <jane@x.org>")
    made = done(votes.IMPORTER, tmp_path / "v.csv", written, with_text_of_raters=True)
    assert made.tables["ratings"]["reason"].to_list() == ["I am Jane […] <[…]>", None]
    assert told(made)["personal.masked"] == {"table": "ratings", "count": 1}


@pytest.mark.parametrize(
    ("importer", "written"),
    [
        (crowdkit.IMPORTER, f"task,worker,label\nt,{TURK},1\nt,w2,2\n"),
        (wide.IMPORTER, f"Unit,Rater1,{PROLIFIC}\nu1,1,2\n"),
    ],
    ids=["crowdkit", "wide"],
)
def test_ids_of_platforms_are_replaced_whatever_the_format(importer: Importer, written: str, tmp_path: Path) -> None:
    made = done(importer, tmp_path / "a.csv", written, settings={"rows": "items"} if importer.name == "wide" else {})
    assert "r1" in made.tables["ratings"]["rater_id"].to_list()
    assert not {TURK, PROLIFIC} & set(made.tables["ratings"]["rater_id"])
    kept = done(importer, tmp_path / "a.csv", written, settings={"rows": "items", "keep_ids": "yes"})
    assert {TURK, PROLIFIC} & set(kept.tables["ratings"]["rater_id"])


def test_comments_items_and_judges() -> None:
    def table(**columns: list[str]) -> pl.DataFrame:
        return pl.DataFrame(columns)

    found = Tables(
        ratings=table(item_id=["i"], rater_id=["a@b.org"], question=["q"], rating=["1"]),
        comments=table(item_id=["i"], rater_id=["a@b.org"], written=["ask c.d@e.org"], rater_email=["a@b.org"]),
        items=table(item_id=["i"], text=["write to us@shop.com"], worker_id=[TURK], name=["Tea"]),
        judgments=table(item_id=["i", "i"], judge=["gpt-4", "c.d@e.org"], question=["q", "q"], rating=["1", "2"]),
    )
    made = finish(found, ImportOptions(), "here").tables
    assert made["comments"].rows() == [("i", "r1", "ask […]")]
    assert made["items"].rows() == [("i", "write to us@shop.com", "Tea")]
    assert made["judgments"]["judge"].to_list() == ["gpt-4", "r2"]


def test_ids_that_are_or_hold_ip_addresses_are_replaced() -> None:
    personal = ["10.0.0.7", "arena_user_10.0.0.8", "2001:db8::1", "::1", "fe80:0:0:0:0:0:0:1", "user fe80::"]
    plain = ["12:30:45:00", "v1.2.3.4", "1.2.3", "1.2.3.4.5", "team::one", "team :: one", "u:1:2:3", "r9"]
    assert list(personal_ids(pl.Series([*personal, *plain]), every=False)) == personal
    assert [is_personal(pl.Series("x", [cell])) for cell in ("10.0.0.7", "2001:db8::1", "12:30:45:00")] == [
        *(True, True),
        False,
    ]
