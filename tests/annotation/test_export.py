"""A batch as a folder that the audit reads."""

from __future__ import annotations

import csv
import io
import shutil
import tomllib
from pathlib import Path

import polars as pl
import pytest
from tests.annotation.lead_world import (
    NOW,
    answer,
    corpus_folder,
    joined,
    make_batch,
    rate,
    rated_world,
)

from voirdire import audit, validate
from voirdire.analysis.evaluate import evaluate
from voirdire.analysis.options import AuditOptions
from voirdire.annotation.assignments import assign, work
from voirdire.annotation.collected import collect
from voirdire.annotation.database import Database
from voirdire.annotation.export import FILES, write_export
from voirdire.annotation.invitations import invite
from voirdire.annotation.material import read_shown
from voirdire.annotation.raters import delete_rater, resume_link
from voirdire.annotation.rating_tables import audit_tables, ratings_table
from voirdire.corpus.frozen import file_digest
from voirdire.corpus.reading import read_corpus
from voirdire.errors import UsageError

FEW = {"draws": 50, "permutations": 50}
FOUR = ("q1", "q2", "q3", "q4")


def _numbers(profile) -> pl.DataFrame:
    """The estimates without their signatures, which name the tables that they were computed from."""
    return profile.estimates.drop("signature")


def test_validate_reads_the_folder_and_gives_the_numbers_of_the_live_page(db: Database, tmp_path: Path):
    shown, batch = rated_world(db, tmp_path / "corpus", repeats=2)
    write_export(db, batch.id, shown, tmp_path / "out")
    live = evaluate(read_corpus(audit_tables(collect(db, batch.id), shown).options(shown)), None, AuditOptions(**FEW))
    offline = validate(tmp_path / "out", **FEW)
    assert _numbers(live).equals(_numbers(offline))
    assert offline.meta["name"] == "Tables"
    assert [pool["name"] for pool in offline.meta["pools"]] == ["us", "cn"]
    assert offline.get("n_ratings", question="q1", pool="us").value == 36


def test_audit_reads_the_folder_beside_judgments(db: Database, tmp_path: Path):
    shown, batch = rated_world(db, tmp_path / "corpus")
    write_export(db, batch.id, shown, tmp_path / "out")
    judged = pl.DataFrame({"item_id": list(batch.spec.items), "judge": "m", "question": "q1", "rating": [3, 4] * 6})
    profile = audit(tmp_path / "out", judged, **FEW)
    assert profile.get("n_items", question="q1", pool="cn").value == 12
    assert profile.meta["judges"] == ["m"]


def test_every_rating_is_a_row_once_and_ids_of_raters_are_random(db: Database, tmp_path: Path):
    shown, batch = rated_world(db, tmp_path / "corpus", repeats=2)
    files = write_export(db, batch.id, shown, tmp_path / "out")
    assert sorted(path.relative_to(tmp_path / "out").as_posix() for path in files) == sorted(FILES)
    table = pl.read_parquet(tmp_path / "out" / "ratings.parquet")
    assert table.height == 12 * 3 * 2 * 4
    assert not table.select("item_id", "rater_id", "question").is_duplicated().any()
    assert set(table["status"]) == {"ok"}
    assert table["answered_at"].str.contains(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$").all()
    copy = pl.read_csv(tmp_path / "out" / "csv" / "ratings.csv", infer_schema=False)
    assert copy.equals(table.cast(pl.String))
    assert pl.read_csv(tmp_path / "out" / "repeats.csv").height == 6 * 2 * 4
    checks = pl.read_csv(tmp_path / "out" / "checks.csv")
    assert (checks.height, checks["right"].all(), set(checks["item_id"])) == (6, True, {"gold"})


def test_no_token_and_no_hash_is_in_any_file(db: Database, tmp_path: Path):
    shown, batch = rated_world(db, tmp_path / "corpus")
    _, token = invite(db, batch.id, "us", label="Anna Smith", now=NOW)
    (rater,) = joined(db, batch, "us", 1, affiliation="us")
    secret = resume_link(db, rater.id)
    write_export(db, batch.id, shown, tmp_path / "out")
    written = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    for hidden in (token, secret, "Anna Smith", "hash"):
        assert hidden.encode() not in written


def test_only_attributes_that_the_study_keeps_are_written(db: Database, tmp_path: Path):
    folder = corpus_folder(tmp_path / "corpus")
    (folder / "annotation.toml").write_text(
        '[[pools]]\nname = "us"\nlanguages = ["en"]\n[[screening]]\nid = "age"\nkeep = true\n'
        'options = ["18-29", "30-49"]\ntext.en = "Your age?"\n',
        encoding="utf-8",
    )
    shown = read_shown(folder)
    batch = make_batch(db, shown)
    rate(db, batch, joined(db, batch, "us", 1, age="18-29", email="a@example.org"))
    write_export(db, batch.id, shown, tmp_path / "out")
    raters = pl.read_csv(tmp_path / "out" / "raters.csv")
    assert raters.columns == ["rater_id", "pool", "age"]
    assert raters["age"].to_list() == ["18-29"]


def test_what_does_not_apply_is_empty_and_says_so(db: Database, tmp_path: Path):
    folder = corpus_folder(tmp_path / "corpus")
    (folder / "annotation.toml").write_text(
        '[[pools]]\nname = "us"\nlanguages = ["en"]\n[[questions]]\nid = "q1"\nlow = 1\nhigh = 5\n'
        'not_applicable = true\ncomment = true\ntext.en = "Good?"\n'
        '[[questions]]\nid = "why"\nwidget = "text"\ntext.en = "Why?"\n',
        encoding="utf-8",
    )
    shown = read_shown(folder)
    batch = make_batch(db, shown, raters_per_item=2, gold=False)
    for rater, values in zip(joined(db, batch, "us", 2), ("12345", "54321"), strict=True):
        assign(db, rater.id, NOW)
        for place, one in enumerate(work(db, rater.id)):
            value = "not_applicable" if place == 0 else values[place % 5]
            answer(db, rater, one, {"q1": value}, comment="=HYPERLINK(1)" if place < 2 else "")
            answer(db, rater, one, {"why": "-5 of 7"} if place == 3 else {})
    write_export(db, batch.id, shown, tmp_path / "out")
    table = pl.read_csv(tmp_path / "out" / "csv" / "ratings.csv")
    assert table["status"].value_counts().sort("status").rows() == [("not_applicable", 2), ("ok", 22)]
    assert table.filter(pl.col("status") == "not_applicable")["rating"].is_null().all()
    assert set(table["question"]) == {"q1"}
    written = pl.read_csv(tmp_path / "out" / "comments.csv")["written"]
    assert sorted(written) == ["'-5 of 7"] * 2 + ["'=HYPERLINK(1)"] * 4
    assert validate(tmp_path / "out", **FEW).get("n_ratings", question="q1", pool="us").value == 22


@pytest.mark.parametrize("lead", ["=", "+", "-", "@", "\t", "\r"])
def test_a_comment_never_begins_as_a_formula(db: Database, tmp_path: Path, lead):
    folder = corpus_folder(tmp_path / "corpus")
    (folder / "annotation.toml").write_text(
        '[[pools]]\nname = "us"\nlanguages = ["en"]\n[[questions]]\nid = "q1"\nlow = 1\nhigh = 5\ncomment = true\n'
        'text.en = "Good?"\n'
    )
    shown = read_shown(folder)
    batch = make_batch(db, shown, gold=False)
    (rater,) = joined(db, batch, "us", 1)
    assign(db, rater.id, NOW)
    answer(db, rater, work(db, rater.id)[0], {"q1": "2"}, comment=f'{lead}cmd, "quoted"')
    write_export(db, batch.id, shown, tmp_path / "out")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / "comments.csv").read_text("utf-8"), newline="")))
    assert len(rows) == 1
    assert rows[0]["written"][0] not in "=+-@\t\r"
    assert rows[0]["written"].endswith('cmd, "quoted"')


def test_ratings_that_are_not_whole_are_left_out_and_counted(db: Database, tmp_path: Path):
    shown = read_shown(corpus_folder(tmp_path / "corpus"))
    batch = make_batch(db, shown, gold=False)
    rate(db, batch, joined(db, batch, "us", 1), most=4)
    (late,) = joined(db, batch, "us", 1)
    assign(db, late.id, NOW)
    answer(db, late, work(db, late.id)[0], {"q1": "4"})
    write_export(db, batch.id, shown, tmp_path / "out")
    assert ratings_table(collect(db, batch.id)).height == 16
    readme = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "4 items rated by a person" in readme
    assert "1 that are answered in part" in readme


def test_late_ratings_stand_beside_the_ratings(db: Database, tmp_path: Path):
    shown = read_shown(corpus_folder(tmp_path / "corpus"))
    batch = make_batch(db, shown, raters_per_item=1, gold=False)
    slow, fast = joined(db, batch, "us", 2)
    assign(db, slow.id, NOW)
    held = work(db, slow.id)[0]
    assign(db, fast.id, NOW + 7200)
    rate(db, batch, [fast])
    answer(db, slow, held, dict.fromkeys(FOUR, "3"))
    write_export(db, batch.id, shown, tmp_path / "out")
    assert pl.read_parquet(tmp_path / "out" / "ratings.parquet").height == 48
    surplus = pl.read_csv(tmp_path / "out" / "surplus.csv", schema_overrides={"rater_id": pl.String})
    assert set(surplus["rater_id"]) == {slow.id}
    assert surplus["item_id"].to_list() == [held.item_id] * 4


def test_a_deleted_rater_is_in_no_file(db: Database, tmp_path: Path):
    shown, batch = rated_world(db, tmp_path / "corpus")
    gone = collect(db, batch.id).raters[0].id
    delete_rater(db, gone, NOW + 500)
    write_export(db, batch.id, shown, tmp_path / "out")
    written = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert gone.encode() not in written
    assert "deleted on request: 1" in (tmp_path / "out" / "README.md").read_text("utf-8")


def test_a_pilot_of_items_that_are_no_test_items_can_be_validated(db: Database, tmp_path: Path):
    shown = read_shown(corpus_folder(tmp_path / "corpus", split="pilot"))
    batch = make_batch(db, shown, kind="pilot", raters_per_item=2)
    for pool in ("us", "cn"):
        rate(db, batch, joined(db, batch, pool, 2))
    write_export(db, batch.id, shown, tmp_path / "out")
    assert pl.read_csv(tmp_path / "out" / "items.csv")["corpus_split"].to_list() == ["pilot"] * 12
    assert validate(tmp_path / "out", **FEW).get("n_items", question="q1", pool="us").value == 12


def test_no_name_of_a_question_and_no_column_of_items_stops_progress_and_export(db: Database, tmp_path: Path):
    folder = corpus_folder(tmp_path / "corpus", split="demonstration")
    lines = (folder / "items.csv").read_text(encoding="utf-8").splitlines()
    more = [f"{lines[0]},corpus_split", *(f"{line},a" for line in lines[1:])]
    (folder / "items.csv").write_text("\n".join(more) + "\n", encoding="utf-8")
    names = ("place", "rating", "item_id", "value")
    asked = [f'[[questions]]\nid = "{name}"\nlow = 1\nhigh = 5\ntext.en = "{name}?"\n' for name in names]
    pool = '[[pools]]\nname = "us"\nlanguages = ["en"]\n'
    (folder / "annotation.toml").write_text(pool + "".join(asked), encoding="utf-8")
    shown = read_shown(folder)
    batch = make_batch(db, shown, gold=False, kind="pilot")
    (rater,) = joined(db, batch, "us", 1)
    assign(db, rater.id, NOW)
    for one in work(db, rater.id):
        answer(db, rater, one, {**dict.fromkeys(names, "3"), "usable": "usable"})
    write_export(db, batch.id, shown, tmp_path / "out")
    items = pl.read_csv(tmp_path / "out" / "items.csv")
    assert items["corpus_split_2"].to_list() == ["demonstration"] * 12
    assert pl.read_parquet(tmp_path / "out" / "ratings.parquet").height == 12 * 5


def test_the_readme_names_every_file_and_the_manifest_the_batch(db: Database, tmp_path: Path):
    shown, batch = rated_world(db, tmp_path / "corpus")
    for lang in ("en", "zh"):
        write_export(db, batch.id, shown, tmp_path / lang, lang)
        readme = (tmp_path / lang / "README.md").read_text("utf-8")
        assert [name for name in FILES if name != "README.md" and f"`{name}`" not in readme] == []
    told = tomllib.loads((tmp_path / "en" / "corpus.toml").read_text("utf-8"))
    assert told["annotation"]["batch"] == batch.id
    assert told["annotation"]["corpus_digest"] == shown.digest
    files = {item.image for name, item in shown.items.items() if name in batch.spec.items and item.image}
    assert told["images"] == {path.relative_to(shown.folder).as_posix(): file_digest(path) for path in files}
    assert files


def test_exporting_again_replaces_the_files(db: Database, tmp_path: Path):
    shown = read_shown(corpus_folder(tmp_path / "corpus"))
    batch = make_batch(db, shown)
    rate(db, batch, joined(db, batch, "us", 1), most=2)
    write_export(db, batch.id, shown, tmp_path / "out")
    rate(db, batch, joined(db, batch, "cn", 1))
    write_export(db, batch.id, shown, tmp_path / "out")
    assert set(pl.read_parquet(tmp_path / "out" / "ratings.parquet")["pool"]) == {"us", "cn"}
    assert not list(tmp_path.rglob(".*voirdire-*"))


class KilledError(BaseException):
    """As if the process had ended here."""


def test_an_export_that_was_broken_off_can_be_made_again(db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A new folder is whole or not there; into one that is there, the file by which it is known comes first."""
    shown, batch = rated_world(db, tmp_path / "corpus")
    (tmp_path / "out").mkdir()
    move, left = shutil.move, [1]

    def killed(*_: object) -> None:
        raise KilledError

    def moving(*paths: Path) -> None:
        left[0] -= 1
        killed() if left[0] < 0 else move(*paths)

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "move", moving)
        patch.setattr(Path, "replace", killed)
        patch.setattr(shutil, "rmtree", lambda *_, **__: None)
        for name in ("out", "new"):
            with pytest.raises(KilledError):
                write_export(db, batch.id, shown, tmp_path / name)
    assert not (tmp_path / "new").exists()
    for name in ("out", "new"):
        write_export(db, batch.id, shown, tmp_path / name)
        assert {path.name for path in (tmp_path / name).iterdir()} == {path.split("/")[0] for path in FILES}
    assert not list(tmp_path.rglob(".*voirdire-*"))


def test_tables_that_are_not_of_an_export_are_never_overwritten(db: Database, tmp_path: Path):
    shown, batch = rated_world(db, tmp_path / "corpus")
    before = (tmp_path / "corpus" / "items.csv").read_bytes()
    with pytest.raises(UsageError, match=r"corpus\.toml"):
        write_export(db, batch.id, shown, tmp_path / "corpus")
    assert (tmp_path / "corpus" / "items.csv").read_bytes() == before
    write_export(db, batch.id, shown, tmp_path / "out")
    (tmp_path / "out" / "ratings.csv").write_text("item_id\n")
    with pytest.raises(UsageError, match=r"ratings\.csv"):
        write_export(db, batch.id, shown, tmp_path / "out")
    with pytest.raises(UsageError, match="is a file"):
        write_export(db, batch.id, shown, tmp_path / "corpus" / "items.csv")


def test_a_batch_without_ratings_is_written_with_empty_tables(db: Database, tmp_path: Path):
    shown = read_shown(corpus_folder(tmp_path / "corpus"))
    batch = make_batch(db, shown)
    write_export(db, batch.id, shown, tmp_path / "out")
    assert pl.read_parquet(tmp_path / "out" / "ratings.parquet").height == 0
    assert (tmp_path / "out" / "comments.csv").read_text("utf-8").startswith("item_id,rater_id")
