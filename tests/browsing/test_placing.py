"""A run and an audit stand on the corpus that they were made on, not on any whose items have the same ids."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest
from PIL import Image
from tests.judging.engine_world import corpus as pictured
from tests.judging.engine_world import go, plan_of

from voirdire.app.audit import audit
from voirdire.app.run import run
from voirdire.app.view import view
from voirdire.browsing.library import Library
from voirdire.browsing.placing import _column
from voirdire.cli.view import document, lines

QUICK = {"draws": 20, "permutations": 20}


def corpus(folder: Path, text: str = "tea", shift: int = 0) -> Path:
    """Items a, b and c with texts, rated by two raters of two pools."""
    folder.mkdir()
    (folder / "corpus.toml").write_text(f'name = "{folder.name}"\n')
    rows = "".join(f"{name},{text} {name},How good?\n" for name in "abc")
    (folder / "items.csv").write_text("item_id,text,prompt.en\n" + rows)
    rated = "".join(
        f"{name},{pool}{rater},{pool},{1 + (place + rater + shift * (pool == 'cn')) % 5}\n"
        for place, name in enumerate("abc")
        for pool in ("us", "cn")
        for rater in (1, 2)
    )
    (folder / "ratings.csv").write_text("item_id,rater_id,pool,rating\n" + rated)
    return folder


def run_on(folder: Path, out: Path) -> Path:
    run(folder, judges=["control/constant_3"], grid="neutral", out=out)
    return out


def audit_of(folder: Path, out: Path) -> Path:
    audit(folder=folder, judgments=pl.DataFrame({"item_id": ["a", "b"], "judge": "m", "rating": [3, 4]}), **QUICK).save(
        out
    )
    return out


def keys(library: Library) -> list[tuple[str, str, str]]:
    return [(note.key.rpartition(".")[2], note.fields["corpora"], note.fields["what"]) for note in library.notes]


def test_a_run_stands_on_the_corpus_whose_texts_were_shown(tmp_path: Path) -> None:
    first, second = corpus(tmp_path / "first"), corpus(tmp_path / "second", "milk")
    made = run_on(second, tmp_path / "run")
    library = view([first, second, made])
    assert (library.runs[0].shelf, library.notes) == ("second", ())
    assert [len(shelf.judged) for shelf in library.shelves] == [0, 1]
    apart = view([first, made])
    assert [shelf.kind for shelf in apart.shelves] == ["corpus", "run"]
    assert apart.runs[0].shelf == apart.shelves[1].slug
    assert keys(apart) == [("differs", "first", "a")]


def test_of_corpora_with_the_same_items_the_name_decides_and_without_it_none(tmp_path: Path) -> None:
    first, second = corpus(tmp_path / "first"), corpus(tmp_path / "second", shift=1)
    made = run_on(second, tmp_path / "run")
    library = view([first, second, made])
    assert (library.runs[0].shelf, library.notes) == ("second", ())
    for folder in (first, second):
        (folder / "corpus.toml").write_text('name = "tea"\n')
    apart = view([first, second, run_on(second, tmp_path / "again")])
    assert [shelf.kind for shelf in apart.shelves] == ["corpus", "corpus", "run"]
    assert keys(apart) == [("several", "tea, tea", "")]


def test_a_run_is_told_from_one_on_other_pictures(tmp_path: Path) -> None:
    first = pictured(tmp_path / "first", 3)
    second = Path(shutil.copytree(first, tmp_path / "second"))
    for file in second.rglob("*.png"):
        Image.new("RGB", (8, 8), "red").save(file)
    go(plan_of(first, ("m",)), tmp_path / "run")
    assert view([second, first, tmp_path / "run"]).runs[0].shelf == view([second, first]).shelves[1].slug
    assert [note.key for note in view([second, tmp_path / "run"]).notes] == ["room.note.differs"]


def test_an_audit_stands_on_the_corpus_whose_tables_it_read(tmp_path: Path) -> None:
    first, second = corpus(tmp_path / "first"), corpus(tmp_path / "second", shift=1)
    made = audit_of(second, tmp_path / "audit")
    library = view([first, second, made])
    assert (library.audits[0].shelf, library.notes) == ("second", ())
    apart = view([first, made])
    assert [shelf.kind for shelf in apart.shelves] == ["corpus", "audit"]
    assert keys(apart) == [("differs", "first", "ratings")]
    assert apart.shelves[0].judged == ()


def test_of_copies_of_a_corpus_the_first_will_do(tmp_path: Path) -> None:
    first = corpus(tmp_path / "first")
    second = Path(shutil.copytree(first, tmp_path / "second"))
    for made in (run_on(first, tmp_path / "run"), audit_of(second, tmp_path / "audit")):
        library = view([first, second, made])
        assert [one.shelf for one in (*library.runs, *library.audits)] == [library.shelves[0].slug]
        assert library.notes == ()


@pytest.mark.parametrize(("text", "kinds"), [("tea", ["corpus"]), ("milk", ["corpus", "audit"])])
def test_an_audit_of_frames_is_known_by_the_texts_that_it_compared(tmp_path: Path, text: str, kinds: list[str]) -> None:
    folder = corpus(tmp_path / "first")
    items = pl.read_csv(folder / "items.csv").with_columns(pl.col("text").str.replace("tea", text))
    ratings = pl.read_csv(folder / "ratings.csv")
    audit(ratings, pl.DataFrame({"item_id": ["a"], "judge": "m", "rating": [3]}), items=items, **QUICK).save(
        tmp_path / "audit"
    )
    assert [shelf.kind for shelf in view([folder, tmp_path / "audit"]).shelves] == kinds


def test_the_command_says_what_stands_apart(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "first")
    library = view([folder, run_on(corpus(tmp_path / "second", "milk"), tmp_path / "run")])
    said = "\n".join(lines(library, "http://127.0.0.1:1/", "en"))
    assert "run stands apart. All of its items have their ids in first" in said
    assert document(library, "en")["notes"][0] in said
    assert "单独列出" in "\n".join(lines(library, "http://127.0.0.1:1/", "zh"))


@pytest.mark.parametrize("name", ["*", "^.*$"])
def test_columns_are_compared_by_name_and_not_by_pattern(name: str) -> None:
    table = pl.DataFrame({"item_id": ["a", "b"], name: ["x", "y"]})
    assert _column(table, table[::-1]) is None
    assert _column(table, table.with_columns(pl.Series(name, ["x", "z"]))) == name
