"""The item-level tables beside a profile are what the audit compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.analysis.builders import LABELS, QUICK, corpus, judged, judgments, rated

from voirdire.analysis import item_tables
from voirdire.analysis.evaluate import evaluate
from voirdire.analysis.options import AuditOptions
from voirdire.analysis.profile import Profile
from voirdire.app.audit import audit_to
from voirdire.app.validate import validate_to
from voirdire.app.view import view
from voirdire.browsing.compared import foreign_tables, read_compared
from voirdire.corpus.corpus import Coded, CodedQuestion, Corpus, Judgments
from voirdire.errors import InputError
from voirdire.texts import text

FEW: dict[str, Any] = {"draws": 20, "permutations": 20, "decomposition_draws": 0}
IDS = [f"i{n}" for n in range(12)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two pools, three raters; two items are not test items; judge m has repeats, and malformed and foreign ratings."""
    items = ["item_id,culture,split,text", *(f"i{n},{'us' if n % 2 else 'cn'},test,Tea <b>{n}" for n in range(12))]
    items += ["d1,us,demonstration,x", "d2,cn,pilot,y"]
    (tmp_path / "items.csv").write_text("\n".join(items) + "\n")
    rows = [
        f"{item},{pool}{k},{pool},{1 + (place * 3 + k * (1 + place % 2) + (pool == 'us')) % 5}"
        for place, item in enumerate([*IDS, "d1", "d2"])
        for pool in ("us", "cn")
        for k in range(3)
    ]
    (tmp_path / "ratings.csv").write_text("\n".join(["item_id,rater_id,pool,rating", *rows]) + "\n")
    said = [f"{item},m,{repeat},{1 + (n * 2 + repeat) % 5},ok" for n, item in enumerate(IDS) for repeat in (1, 2)]
    said[0] = "i0,m,1,,malformed"
    said += [f"{item},k,1,{1 + n % 5},ok" for n, item in enumerate(IDS[:9])]
    said += ["i9,k,1,,refused", "i10,k,1,9,ok", "d1,k,1,3,ok"]
    (tmp_path / "judgments.csv").write_text("\n".join(["item_id,judge,repeat,rating,status", *said]) + "\n")
    return tmp_path


def test_mean_error_over_the_tables_is_the_estimate(folder: Path, tmp_path: Path) -> None:
    written = audit_to(tmp_path / "out", folder=folder, out_of_scale="exclude", **FEW)
    tables = read_compared(tmp_path / "out")
    assert tables is not None
    for judge in ("m", "k"):
        for pool in ("us", "cn"):
            held = tables.judgments.filter(judge=judge).drop_nulls("rating")
            both = held.join(tables.consensus.filter(pool=pool), on=["question", "item_id"])
            errors = both.group_by("item_id").agg((pl.col("rating") - pl.col("value")).abs().mean().alias("error"))
            assert errors["error"].mean() == pytest.approx(
                written.profile.get("mae", pool=pool, judge=judge, condition="*").value, abs=1e-14
            )


def test_tables_hold_what_was_compared_and_mark_the_rest(folder: Path, tmp_path: Path) -> None:
    written = audit_to(tmp_path / "out", folder=folder, out_of_scale="exclude", **FEW)
    tables = read_compared(tmp_path / "out")
    assert tables is not None
    assert tables.items["item_id"].to_list() == IDS
    assert tables.items["text"].to_list()[0] == "Tea <b>0"
    assert set(tables.consensus["item_id"]) == set(IDS)
    assert tables.consensus.columns == ["question", "item_id", "pool", "value", "n", "s2"]
    assert tables.consensus["n"].to_list() == [3] * 24
    k = tables.judgments.filter(judge="k")
    assert set(k["item_id"]) == set(IDS[:11])
    without = {row["item_id"]: row["status"] for row in k.filter(pl.col("rating").is_null()).to_dicts()}
    assert without == {"i9": "refused", "i10": "out_of_scale"}
    m = tables.judgments.filter(judge="m")
    assert m.filter(item_id="i0").select("repeat", "rating", "status").rows() == [
        (1, None, "malformed"),
        (2, 3.0, "ok"),
    ]
    assert m.filter(item_id="i1")["repeat"].to_list() == [1, 2]
    assert {"compared/items.parquet", "compared/consensus.parquet", "compared/judgments.parquet"} <= {
        str(path.relative_to(tmp_path / "out")) for path in written.files
    }


def test_consensus_is_that_of_the_numbers_of_the_pools(folder: Path, tmp_path: Path) -> None:
    written = validate_to(tmp_path / "out", folder=folder, consensus="median", **FEW)
    tables = read_compared(tmp_path / "out")
    assert tables is not None
    assert tables.judgments.is_empty()
    wide = tables.consensus.pivot("pool", index="item_id", values="value")
    mad = (wide["us"] - wide["cn"]).abs().mean()
    assert mad == pytest.approx(written.profile.get("cross_pool_mad", pool="us", pool_b="cn").value, abs=1e-14)
    assert tables.consensus["s2"].null_count() == tables.consensus.height


def test_labels_have_shares_and_no_rater_is_told(tmp_path: Path) -> None:
    ratings = rated({"us": {"x": [0, 0, 1], "y": [2, 2, 2]}, "cn": {"x": [1, 1], "y": [2, 0]}})
    profile = evaluate(corpus(ratings, LABELS), judgments(judged({"m": {"x": 1, "y": None}})), QUICK)
    profile.save(tmp_path)
    tables = read_compared(tmp_path)
    assert tables is not None
    us = tables.shares.filter(item_id="x", pool="us")
    assert dict(us.select("label", "share").iter_rows()) == {"a": 2 / 3, "b": 1 / 3, "c": 0.0}
    frames = [frame for frame in vars(tables).values() if isinstance(frame, pl.DataFrame)]
    assert len(frames) == 4
    assert not any("rater" in column for frame in frames for column in frame.columns)


def test_left_out_on_request_and_tables_of_an_earlier_audit_go(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    audit_to(out, folder=folder, out_of_scale="exclude", **FEW)
    (out / "compared" / "mine.txt").write_text("kept")
    audit_to(out, folder=folder, out_of_scale="exclude", compared=False, **FEW)
    assert read_compared(out) is None
    assert [path.name for path in (out / "compared").iterdir()] == ["mine.txt"]


def test_too_many_judgments_are_not_written_and_a_note_says_so(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(item_tables, "MOST_JUDGMENTS", 5)
    written = audit_to(tmp_path / "out", folder=folder, out_of_scale="exclude", **FEW)
    assert read_compared(tmp_path / "out") is None
    notes = {note["key"]: note["fields"] for note in written.profile.meta["notes"]}
    assert notes["audit.note.compared_large"] == {"count": 35, "most": 5}


def small() -> tuple[Corpus, Judgments]:
    ratings = rated({"us": {"x": [1, 2], "y": [4, 5]}, "cn": {"x": [2, 2], "y": [1, 5]}})
    return corpus(ratings), judgments(judged({"m": {"x": 1, "y": 4}}))


def test_saving_another_profile_removes_the_tables_and_saving_the_same_keeps_them(tmp_path: Path) -> None:
    evaluate(*small(), QUICK).save(tmp_path)
    loaded = Profile.load(tmp_path)
    assert loaded.compared is None
    loaded.save(tmp_path)
    assert read_compared(tmp_path) is not None
    evaluate(*small(), AuditOptions(draws=20, permutations=20, seed=1, compared=False)).save(tmp_path)
    assert not (tmp_path / "compared").exists()


def test_numbers_with_many_values_and_repeats_are_kept_exactly(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 2))
    ratings = rated({"us": {f"i{n}": [rng.random()] for n in range(200)}})
    rows = [(f"i{n}", "m", "-", r + 3, float(values[n, r]), "ok") for n in range(200) for r in range(2)]
    evaluate(corpus(ratings), judgments(rows), QUICK).save(tmp_path)
    tables = read_compared(tmp_path)
    assert tables is not None
    held = {
        (item, repeat): rating for item, repeat, rating in tables.judgments.select("item_id", "repeat", "rating").rows()
    }
    assert held == {(f"i{n}", r + 3): values[n, r] for n in range(200) for r in range(2)}


def test_tables_beside_another_profile_are_not_shown_and_a_note_says_so(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    evaluate(*small(), QUICK).save(first)
    evaluate(*small(), AuditOptions(draws=20, permutations=20, seed=1)).save(second)
    assert foreign_tables(first) == ()
    (first / "profile.json").write_bytes((second / "profile.json").read_bytes())
    assert read_compared(first) is None
    assert [note.key for note in foreign_tables(first)] == ["room.note.foreign_tables"]
    (second / "compared" / "tables.json").unlink()
    assert read_compared(second) is None
    library = view([second])
    assert (library.shelves, len(library.audits)) == ((), 1)
    assert library.notes == foreign_tables(second)
    assert str(second / "compared") in text(library.notes[0].key, "en", **library.notes[0].fields)


def test_no_table_of_an_earlier_audit_stays_beside_those_of_a_new_one(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ratings = rated({"us": {"x": [0, 0, 1], "y": [2, 2, 2]}, "cn": {"x": [1, 1], "y": [2, 0]}})
    evaluate(corpus(ratings, LABELS), None, QUICK).save(out)
    assert (out / "compared" / "shares.parquet").is_file()
    audit_to(out, folder=folder, out_of_scale="exclude", **FEW)
    assert sorted(file.name for file in (out / "compared").iterdir()) == [
        "consensus.parquet",
        "items.parquet",
        "judgments.parquet",
        "tables.json",
    ]
    assert read_compared(out) is not None


SAID = [
    ("x", "m", "-", 2, 1.0, "ok"),
    ("x", "m", "-", 5, None, "refused"),
    ("x", "m", "-", 9, None, "malformed"),
    ("y", "m", "-", 2, None, "refused"),
    ("y", "m", "-", 5, None, "refused"),
]


@pytest.mark.parametrize("pieces", [False, True])
def test_every_repeat_keeps_its_number_and_its_status(pieces: bool, tmp_path: Path) -> None:
    held, said = small()[0], judgments(SAID)
    if pieces:
        said = replace(said, rows=coded(SAID))
    evaluate(held, said, QUICK).save(tmp_path)
    tables = read_compared(tmp_path)
    assert tables is not None
    assert tables.judgments.drop("question").rows() == SAID


def coded(rows: list[tuple[str, str, str, int, float | None, str]]) -> Coded:
    """The same rows as codes, as reading in pieces leaves them."""
    items, repeats, statuses = ["x", "y"], (2, 5, 9), ("absent", "ok", "refused", "malformed")
    codes, status = np.full((1, 2, 3), -1, dtype=np.int8), np.zeros((1, 2, 3), dtype=np.uint8)
    for item, _, _, repeat, value, outcome in rows:
        place = (0, items.index(item), repeats.index(repeat))
        codes[place] = -1 if value is None else 0
        status[place] = statuses.index(outcome)
    question = CodedQuestion(np.array([0]), repeats, codes, np.array([1.0]), status, statuses)
    return Coded(pl.Series(items), {"q1": question})


@pytest.mark.parametrize("name", ["items", "consensus", "judgments"])
def test_a_damaged_file_is_named(name: str, tmp_path: Path) -> None:
    evaluate(*small(), QUICK).save(tmp_path)
    file = tmp_path / "compared" / f"{name}.parquet"
    good = file.read_bytes()
    for broken in (b"", good[: len(good) // 2], None):
        file.unlink() if broken is None else file.write_bytes(broken)
        with pytest.raises(InputError) as caught:
            read_compared(tmp_path)
        assert str(file) in caught.value.message("en")
    pl.DataFrame({"other": [1]}).write_parquet(file)
    with pytest.raises(InputError) as caught:
        read_compared(tmp_path)
    assert caught.value.key == "audit.compared_columns"
