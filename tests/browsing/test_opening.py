"""Which folder is what, and which runs and audits belong to which items."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from voirdire.app.audit import audit
from voirdire.app.run import run
from voirdire.app.view import view
from voirdire.browsing.library import NotThere, Shelf
from voirdire.browsing.opening import kind_of
from voirdire.errors import UsageError


def corpus(folder: Path, items: str = "abc") -> Path:
    """Items with texts, rated 1 to 5 by two raters of two pools."""
    folder.mkdir(parents=True)
    (folder / "items.csv").write_text(
        "item_id,text,prompt.en,pair_id\n" + "".join(f"{name},text {name},How good?,p\n" for name in items)
    )
    rows = [
        f"{name},{pool}{rater},{pool},{1 + (place + rater + (pool == 'cn')) % 5}\n"
        for place, name in enumerate(items)
        for pool in ("us", "cn")
        for rater in (1, 2)
    ]
    (folder / "ratings.csv").write_text("item_id,rater_id,pool,rating\n" + "".join(rows))
    return folder


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus, a run of a control judge on it, and their audit, in one folder."""
    folder = tmp_path_factory.mktemp("study")
    items = corpus(folder / "Tea & Milk", "abcdefgh")
    run(items / "items.csv", judges=["control/constant_3"], grid="neutral", out=folder / "run")
    made = audit(items / "ratings.csv", folder / "run", items=items / "items.csv", draws=50, permutations=50)
    made.save(folder / "audit")
    return folder


def test_a_folder_is_known_by_its_files(study: Path, tmp_path: Path) -> None:
    assert [kind_of(study / name) for name in ("Tea & Milk", "run", "audit")] == ["corpus", "run", "audit"]
    (tmp_path / "judgments.csv").write_text("item_id,judge,rating\na,m,3\n")
    assert kind_of(tmp_path) == "judgments"
    assert kind_of(study) is None


def test_a_folder_that_holds_some_opens_them_together(study: Path) -> None:
    library = view([study])
    (shelf,) = library.shelves
    assert (shelf.slug, shelf.title, len(shelf.ids)) == ("tea-milk", "Tea & Milk", 8)
    assert shelf.corpus is not None
    assert shelf.corpus.pools == ("us", "cn")
    assert [one.shelf for one in (*library.runs, *library.audits)] == [shelf.slug, shelf.slug]
    assert shelf.judged == (study / "run",)


def test_a_run_without_its_corpus_has_ids_alone(study: Path, tmp_path: Path) -> None:
    library = view([study / "run"])
    assert [(one.kind, one.ids) for one in library.shelves] == [("run", tuple("abcdefgh"))]
    other = view([corpus(tmp_path / "other", "abc"), study / "run"])
    assert [one.kind for one in other.shelves] == ["corpus", "run"]
    assert other.runs[0].shelf == other.shelves[1].slug


def test_an_audit_alone_has_the_items_that_it_compared(study: Path) -> None:
    library = view([study / "audit"])
    (shelf,) = library.shelves
    assert (shelf.kind, shelf.ids, shelf.images) == ("audit", tuple("abcdefgh"), None)
    assert shelf.compared is not None
    assert shelf.item(1).texts == {"und": "text a"}


def test_the_tables_of_an_audit_open_as_the_audit(study: Path) -> None:
    library = view([study / "audit" / "compared"])
    assert [one.folder for one in library.audits] == [study / "audit"]
    assert [one.kind for one in library.shelves] == ["audit"]


def test_a_corpus_without_judgments_shows_those_of_its_audit(study: Path) -> None:
    (shelf,) = view([study / "Tea & Milk", study / "audit"]).shelves
    (judged,) = shelf.judged
    assert not isinstance(judged, Path)
    assert judged.table.select("judge", "value").unique().rows() == [("control/constant_3", 3.0)]
    assert judged.table.height == 8 * judged.table["condition"].n_unique()


def test_names_in_addresses_are_plain_and_unique(tmp_path: Path) -> None:
    folders = [corpus(tmp_path / name) for name in ("one/语料", "two/语料", "x/corpus")]
    for given in (folders, folders[::-1]):
        library = view(given)
        assert sorted(one.slug for one in library.shelves) == ["corpus", "one-语料", "two-语料"]
        assert library.shelf("two-语料").folder == folders[1]


def test_tables_can_be_named_one_by_one(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "tables")
    (folder / "judgments.csv").write_text("item_id,judge,rating\na,m,3\n")
    library = view(ratings=folder / "ratings.csv", judgments=folder / "judgments.csv", items=folder / "items.csv")
    (shelf,) = library.shelves
    assert (shelf.ids, len(shelf.judged)) == (("a", "b", "c"), 1)
    alone = view(items=folder / "items.csv").shelves[0]
    assert (alone.corpus, alone.ids) == (None, ("a", "b", "c"))


def test_judgments_of_a_folder_stand_beside_the_only_corpus(tmp_path: Path) -> None:
    folder, said = corpus(tmp_path / "tables"), tmp_path / "said"
    said.mkdir()
    (said / "judgments.csv").write_text("item_id,judge,rating\na,m,3\nb,m,4\n")
    (judged,) = view([folder, said]).shelves[0].judged
    assert not isinstance(judged, Path)
    assert judged.table["value"].to_list() == [3.0, 4.0]
    with pytest.raises(UsageError) as refused:
        view([said])
    assert refused.value.key == "room.judgments_of"


@pytest.mark.parametrize(
    ("made", "key"), [("nothing", "room.no_folder"), ("file", "room.is_file"), ("empty", "room.nothing_known")]
)
def test_what_cannot_be_opened_is_named(tmp_path: Path, made: str, key: str) -> None:
    if made == "file":
        (tmp_path / made).write_text("")
    elif made == "empty":
        (tmp_path / made).mkdir()
    with pytest.raises(UsageError) as refused:
        view([tmp_path / made])
    assert (refused.value.key, refused.value.fields["file"]) == (key, str(tmp_path / made))


def test_judgments_that_nothing_opened_can_use_are_said(study: Path, tmp_path: Path) -> None:
    table = tmp_path / "judgments.csv"
    table.write_text("item_id,judge,rating\na,m,3\n")
    with pytest.raises(UsageError) as refused:
        view([study / "audit"], judgments=table)
    assert refused.value.key == "room.judgments_unused"


def test_an_audit_of_other_judges_has_a_shelf_of_its_own(study: Path, tmp_path: Path) -> None:
    items = study / "Tea & Milk"
    table = tmp_path / "judgments.csv"
    table.write_text("item_id,judge,rating\na,m,3\nb,m,4\n")
    audit(items / "ratings.csv", table, items=items / "items.csv", draws=20, permutations=20).save(tmp_path / "other")
    library = view([items, study / "run", study / "audit", tmp_path / "other"])
    assert [one.shelf for one in library.audits] == ["tea-milk", "other"]
    assert library.shelf("other").images == items


def test_nothing_to_open_is_said() -> None:
    with pytest.raises(UsageError) as refused:
        view()
    assert refused.value.key == "room.nothing_given"


def test_an_item_has_a_number_and_no_other() -> None:
    shelf = Shelf("s", "s", "corpus", Path(), None, pl.DataFrame({"item_id": ["x", "y"]}))
    assert [shelf.item(number).id for number in (1, 2)] == ["x", "y"]
    for number in (0, 3, -1):
        with pytest.raises(NotThere):
            shelf.item(number)


def test_images_lead_out_of_no_folder(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "secret.png").write_bytes(b"x")
    (tmp_path / "inside" / "own.png").write_bytes(b"x")
    table = pl.DataFrame({"item_id": ["a", "b", "c"], "image": ["own.png", "../secret.png", "gone.png"]})
    shelf = Shelf("s", "s", "corpus", tmp_path, tmp_path / "inside", table)
    assert [shelf.pictured(name) for name in "abc"] == [True, False, False]
