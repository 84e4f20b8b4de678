"""What is in a release, and what is not."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import polars as pl
import pytest
from PIL import Image
from tests.exchange import told_corpus
from tests.exchange.conftest import SECRET

from voirdire.cli.main import run
from voirdire.errors import InputError, UsageError
from voirdire.exchange.datasheet import privacy_sentences
from voirdire.exchange.release import Release, ReleaseOptions, build_release


def made(folder: Path, **options: object) -> Release:
    return build_release(folder, ReleaseOptions(**{"rater_columns": ("age",), **options}), SECRET)  # type: ignore[arg-type]


def cells(frame: pl.DataFrame) -> set[str]:
    return {str(cell) for row in frame.iter_rows() for cell in row if cell is not None}


def test_nobody_is_in_it(release: Release) -> None:
    everything = {cell for frame in release.tables.values() for cell in cells(frame)}
    assert not [cell for cell in everything if "@x.org" in cell or told_corpus.COMMENT in cell or "us 1" in cell]
    assert release.tables["ratings"].columns == ["item_id", "rater_id", "pool", "question", "rating"]
    assert release.tables["raters"].columns == ["rater_id", "pool", "age"]
    assert set(release.left_out) == {("raters", "city"), ("ratings", "seconds"), ("ratings", "comment")}


def test_the_same_ratings_under_other_names(corpus: Path, release: Release) -> None:
    was, now = pl.read_csv(corpus / "ratings.csv"), release.tables["ratings"]
    key = ["item_id", "pool", "question", "rating"]
    assert was.select(key).sort(key).equals(now.select(key).sort(key))
    assert now["rating"].dtype == pl.Int64
    per_rater = [
        sorted(
            str(row) for row in frame.sort("item_id").group_by("rater_id").agg(pl.col("rating")).drop("rater_id").rows()
        )
        for frame in (was, now)
    ]
    assert per_rater[0] == per_rater[1]
    assert release.tables["raters"]["rater_id"].to_list() != was["rater_id"].unique().to_list()


def test_the_order_says_nothing_of_the_raters(corpus: Path, release: Release) -> None:
    """The same corpus with its rows shuffled gives the same release."""
    for name in ("ratings.csv", "raters.csv"):
        pl.read_csv(corpus / name).sample(fraction=1, shuffle=True, seed=3).write_csv(corpus / name)
    again = made(corpus, judgments=corpus / "judged.parquet")
    for name in ("ratings", "raters"):
        keys = ["rater_id"] if name == "raters" else ["question", "pool", "item_id", "rater_id"]
        assert again.tables[name].sort(keys).equals(release.tables[name].sort(keys))
    for _, group in release.tables["ratings"].group_by("question", "pool", "item_id"):
        assert group["rater_id"].is_sorted()
    listed = release.tables["raters"]
    assert listed["rater_id"].to_list() == [
        name
        for pool in listed["pool"].unique(maintain_order=True)
        for name in sorted(listed.filter(pool=pool)["rater_id"])
    ]


def test_two_releases_cannot_be_joined(corpus: Path) -> None:
    options = ReleaseOptions(rater_columns=())
    first, second = (build_release(corpus, options, bytes([n] * 32)).tables["raters"]["rater_id"] for n in (1, 2))
    assert set(first).isdisjoint(second)


def test_too_few_alike_is_refused_with_what_would_do(corpus: Path) -> None:
    with pytest.raises(UsageError) as caught:
        made(corpus, rater_columns=("age", "city"))
    assert (
        caught.value.fields | {"smallest": 1, "k": 5, "columns": "age, city", "instead": "age"} == caught.value.fields
    )
    with pytest.raises(UsageError, match=r"The pool '..' has fewer raters"):
        made(corpus, k=6)
    assert made(corpus, rater_columns=("city",), k=1).anonymity.smallest == 1  # type: ignore[union-attr]


def test_what_every_rating_of_a_rater_says_counts_as_an_attribute(corpus: Path) -> None:
    """seconds is 3.5 + n for rater n: it tells the raters of a pool apart as an attribute would."""
    with pytest.raises(UsageError, match="columns age, seconds"):
        made(corpus, rating_columns=("seconds",))
    frame = pl.read_csv(corpus / "ratings.csv").with_row_index("n")
    frame.with_columns(seconds=pl.col("n") / 7).drop("n").write_csv(corpus / "ratings.csv")
    assert "seconds" in made(corpus, rating_columns=("seconds",)).tables["ratings"].columns


@pytest.mark.parametrize("spoilt", [None, "fifty"])
def test_a_cell_that_is_missing_or_mistyped_hides_no_attribute(corpus: Path, spoilt: str | None) -> None:
    ratings = pl.read_csv(corpus / "ratings.csv").with_columns(born=pl.col("rater_id").str.slice(3, 1))
    first = pl.int_range(pl.len()) == 0
    ratings.with_columns(pl.when(first).then(pl.lit(spoilt)).otherwise("born").alias("born")).write_csv(
        corpus / "ratings.csv"
    )
    with pytest.raises(UsageError, match="--rater-columns age --rating-columns none") as caught:
        made(corpus, rating_columns=("born",))
    assert caught.value.fields["columns"] == "age, born"
    assert run(["export", "csv", str(corpus), "--out", str(corpus / "o"), "--rating-columns", "none"]) == 0


def test_raters_who_answered_nothing_neither_count_nor_go_out(corpus: Path) -> None:
    ratings = pl.read_csv(corpus / "ratings.csv")
    silent = pl.col("rater_id") == "us-1@x.org"
    ratings.with_columns(rating=pl.when(~silent).then("rating")).write_csv(corpus / "ratings.csv")
    with pytest.raises(UsageError, match=r"The pool 'us' has fewer raters \(4\)"):
        made(corpus)
    release = made(corpus, k=4)
    people = release.tables["raters"].filter(pool="us")["rater_id"]
    assert len(people) == release.tables["ratings"].filter(pool="us")["rater_id"].n_unique() == 4
    assert [(note.key, note.fields["count"]) for note in release.notes] == [("release.note.silent", 1)]


def test_columns_are_chosen_by_name(corpus: Path) -> None:
    with pytest.raises(UsageError, match=r"no column 'aeg' to choose\. Columns: age, city"):
        made(corpus, rater_columns=("aeg",))
    with pytest.raises(UsageError, match="--rating-columns: the column 'comment' holds what raters wrote"):
        made(corpus, rating_columns=("comment",))


def test_texts_of_raters_only_when_asked_for(corpus: Path) -> None:
    told = pl.DataFrame(
        {"item_id": ["p00-us"], "rater_id": ["us-1@x.org"], "pool": ["us"], "question": ["q1"], "written": ["Hm."]}
        | {"answered_at": ["2026-05-01T10:00:00Z"]}
    )
    earlier = told.with_columns(item_id=pl.lit("p01-us"), rater_id=pl.lit("us-0@x.org"))
    pl.concat([earlier, told, told.with_columns(written=pl.lit("Ah."))]).write_csv(corpus / "comments.csv")
    assert "comments" not in made(corpus).tables
    tables = made(corpus, text_of_raters=True).tables
    assert told_corpus.COMMENT in cells(tables["ratings"])
    assert tables["comments"].columns == ["item_id", "rater_id", "pool", "question", "written"]
    order = [item for item in tables["items"]["item_id"] if item in ("p00-us", "p01-us")]
    assert tables["comments"]["item_id"].unique(maintain_order=True).to_list() == order
    assert tables["comments"].filter(item_id="p00-us")["written"].to_list() == ["Ah.", "Hm."], "no order of writing"
    assert tables["comments"]["rater_id"][0] in tables["raters"].filter(pool="us")["rater_id"]


def asked(corpus: Path, question: str, answers: list[str]) -> pl.DataFrame:
    """The ratings with the same people's answers to one more question."""
    ratings = pl.read_csv(corpus / "ratings.csv").with_columns(pl.col("rating").cast(pl.String))
    said = pl.Series("rating", [answers[n % len(answers)] for n in range(ratings.height)])
    both = pl.concat([ratings, ratings.with_columns(said, question=pl.lit(question))])
    both.write_csv(corpus / "ratings.csv")
    return both


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("tell", ["My mother cooked this every single day of the year"]),
        ("why", ["habit", "taste"]),
        ("q5", ["yes", "no", "ask ann@x.org"]),
        ("dish", [f"dish{n}" for n in range(13)]),
    ],
)
def test_answers_in_words_of_their_own_stay_behind(corpus: Path, question: str, answers: list[str]) -> None:
    both = asked(corpus, question, answers)
    release = made(corpus)
    assert release.tables["ratings"]["question"].unique().to_list() == ["q1"]
    assert release.tables["ratings"]["rating"].dtype == pl.Int64
    assert ("ratings", f"rating ({question})") in release.left_out
    assert not release.written
    all_of_it = made(corpus, text_of_raters=True)
    assert (all_of_it.tables["ratings"].height, all_of_it.written) == (both.height, True)
    both.filter(question=question).write_csv(corpus / "ratings.csv")
    with pytest.raises(UsageError, match=f"words of raters' own .{question}"):
        made(corpus)


def test_answers_that_a_question_declares_are_no_words_of_their_own(corpus: Path) -> None:
    both = asked(corpus, "why", ["It is what everybody at home has always eaten", "Taste", "n/a"])
    (corpus / "questions.csv").write_text(
        "question,level,labels\nwhy,nominal,It is what everybody at home has always eaten|taste\n"
    )
    assert made(corpus).tables["ratings"].height == both.height


def test_status_is_released_where_it_says_nothing_else(corpus: Path) -> None:
    ratings = pl.read_csv(corpus / "ratings.csv")
    ratings.with_columns(status=pl.lit("ok")).write_csv(corpus / "ratings.csv")
    assert made(corpus).tables["ratings"]["status"].unique().to_list() == ["ok"]
    ratings.with_columns(status=pl.lit("ok, but I was ill")).write_csv(corpus / "ratings.csv")
    release = made(corpus)
    assert "status" not in release.tables["ratings"].columns
    assert ("ratings", "status") in release.left_out
    assert "status" in made(corpus, rating_columns=("status",)).tables["ratings"].columns


def test_a_count_beside_the_rating_of_a_person_stays_behind(corpus: Path) -> None:
    ratings = pl.read_csv(corpus / "ratings.csv").with_columns(n=pl.col("rater_id").str.slice(3, 1))
    ratings.write_csv(corpus / "ratings.csv")
    release = made(corpus)
    assert "n" not in release.tables["ratings"].columns
    assert ("ratings", "n") in release.left_out


def test_ids_of_raters_in_other_columns_are_told(corpus: Path) -> None:
    items = pl.read_csv(corpus / "items.csv").with_columns(reviewer=pl.lit("us-1@x.org"))
    items.write_csv(corpus / "items.csv")
    (note,) = made(corpus).notes
    assert (note.key, note.fields["columns"]) == ("release.note.naming", "items.reviewer")


def test_only_who_rated_is_listed(corpus: Path) -> None:
    raters = pl.read_csv(corpus / "raters.csv")
    idle = pl.DataFrame({"rater_id": ["idle@x.org"], "age": ["90s"], "city": ["nowhere"]})
    pl.concat([raters, idle]).write_csv(corpus / "raters.csv")
    assert made(corpus).tables["raters"].height == 10


def test_splits_stay_and_come_in_order(corpus: Path, release: Release) -> None:
    items = pl.read_csv(corpus / "items.csv")
    assert set(release.tables["items"]["item_id"]) == set(items["item_id"])
    assert release.tables["items"]["split"].rle().struct.field("value").to_list() == ["test", "demonstration"]
    splits = dict(items.select("item_id", "split").iter_rows())
    assert [splits[item] for item in release.tables["judgments"]["item_id"]] == ["test"] * 12 + ["demonstration"] * 10


def test_means_and_slots_have_nobody_to_hide(tmp_path: Path) -> None:
    (tmp_path / "corpus.toml").write_text('name = "m"\n[read]\nanonymous_raters = true\n')
    (tmp_path / "ratings.csv").write_text(
        "item_id,rater_id,pool,question,rating\na,slot-1,us,q,1\na,slot-2,us,q,2\nb,aggregate-cn,cn,q,2.5\n"
    )
    release = made(tmp_path, rater_columns=None)
    assert release.anonymity is None
    assert release.tables["ratings"]["rater_id"].to_list() == ["slot-1", "slot-2", None]
    assert release.read == {"anonymous_raters": True}


def test_ids_that_end_like_slots_are_people(tmp_path: Path) -> None:
    """Whole ids that say slot stay only where the corpus says that they are places."""
    rows = [f"a,{name},us,q,{n}" for n, name in enumerate(("Ann.Smith-slot1", "slot-2"))]
    (tmp_path / "ratings.csv").write_text("\n".join(["item_id,rater_id,pool,question,rating", *rows]))
    for head, kept in (("", set()), ("[read]\nanonymous_raters = true\n", {"slot-2"})):
        (tmp_path / "corpus.toml").write_text(f'name = "m"\n{head}')
        release = made(tmp_path, rater_columns=None, k=1)
        names = set(release.tables["ratings"]["rater_id"])
        assert {name for name in names if not name.startswith("r-")} == kept
        assert "Rater ids are pseudonyms" in privacy_sentences(release, "en")[0]


def test_of_slots_no_attributes_are_told(tmp_path: Path) -> None:
    (tmp_path / "corpus.toml").write_text('name = "m"\n[read]\nanonymous_raters = true\n')
    (tmp_path / "ratings.csv").write_text("item_id,rater_id,pool,question,rating\na,slot-1,us,q,1\na,slot-2,us,q,2\n")
    (tmp_path / "raters.csv").write_text("rater_id,age\nslot-1,20s\nslot-2,20s\n")
    release = made(tmp_path, rater_columns=None)
    assert release.left_out == (("raters", "age"),)
    assert not any("pseudonym" in said for said in privacy_sentences(release, "en"))


def test_half_wide_ratings_become_rows(tmp_path: Path) -> None:
    (tmp_path / "corpus.toml").write_text(
        'name = "w"\n[read]\nquestion_columns = ["Q1", "Q2"]\nmap = { rater_id = "who" }\nmissing_labels = ["-"]\n'
    )
    (tmp_path / "ratings.csv").write_text("item,who,pool,Q1,Q2\na,ann,us,1,yes\na,bob,us,2,-\n")
    release = made(tmp_path, rater_columns=None, k=2)
    table = release.tables["ratings"]
    assert sorted(table.select("item_id", "question", "rating").rows()) == [
        ("a", "Q1", "1"), ("a", "Q1", "2"), ("a", "Q2", "-"), ("a", "Q2", "yes"),
    ]  # fmt: skip
    assert release.read == {"missing_labels": ["-"]}


def test_judgments_of_another_corpus_are_refused(corpus: Path) -> None:
    pl.DataFrame({"item": ["elsewhere"], "judge": ["j"], "rating": [1]}).write_csv(corpus / "j.csv")
    with pytest.raises(InputError, match="1 judged items are not in the corpus: elsewhere"):
        made(corpus, judgments=corpus / "j.csv")


def test_judgments_of_another_image_are_refused(corpus: Path) -> None:
    digest = hashlib.sha256((corpus / "images" / "p00-us.png").read_bytes()).hexdigest()
    rows = {"item_id": ["p00-us", "p00-cn"], "judge": ["j", "j"], "rating": [1, 2], "image_sha256": [digest, None]}
    pl.DataFrame(rows).write_csv(corpus / "j.csv")
    assert "judgments" in made(corpus, judgments=corpus / "j.csv").tables
    shutil.copy(corpus / "images" / "p00-cn.png", corpus / "images" / "p00-us.png")
    with pytest.raises(InputError, match=r"items were judged with another image than they have now \(1\): p00-us"):
        made(corpus, judgments=corpus / "j.csv")


def test_a_pool_that_nobody_rated_for_is_refused(corpus: Path) -> None:
    with (corpus / "corpus.toml").open("a") as file:
        file.write('[[pool]]\nname = "fr"\n')
    with pytest.raises(InputError, match=r"name = 'fr' is no pool of the ratings. Pools: cn, us"):
        made(corpus)


class TestImages:
    """Only pictures inside the corpus folder go out."""

    def point(self, corpus: Path, cell: str) -> None:
        items = pl.read_csv(corpus / "items.csv")
        first = pl.int_range(pl.len()) == 0
        items.with_columns(image=pl.when(first).then(pl.lit(cell)).otherwise("image")).write_csv(corpus / "items.csv")

    @pytest.mark.parametrize(
        ("cell", "words"),
        [
            ("../secret.png", "leads out of the corpus folder"),
            ("/etc/passwd", "leads out of the corpus folder"),
            ("https://x.org/a.png", "is an address"),
            ("images/none.png", "no file 'images/none.png'"),
            ("ratings.csv", "no png, jpeg, webp or gif"),
            ("images/link.png", "leads out of the corpus folder"),
            ("images/empty.png", "no png, jpeg, webp or gif"),
        ],
    )
    def test_anything_else_is_refused(self, corpus: Path, cell: str, words: str) -> None:
        shutil.copy(corpus / "images" / "p00-us.png", corpus.parent / "secret.png")
        (corpus / "images" / "link.png").symlink_to(corpus.parent / "secret.png")
        (corpus / "images" / "empty.png").write_bytes(b"")
        self.point(corpus, cell)
        with pytest.raises(InputError, match=words) as caught:
            made(corpus)
        assert caught.value.fields["item"] == "p00-us"

    def test_the_row_is_named(self, corpus: Path) -> None:
        self.point(corpus, "images/none.png")
        with pytest.raises(InputError) as caught:
            made(corpus)
        assert caught.value.fields["row"] == 2

    @pytest.mark.parametrize("name", ["images/我.png", "images/a b.png", "images/con.png", "images/x.jpg", "up.png"])
    def test_names_become_safe(self, corpus: Path, name: str) -> None:
        shutil.copy(corpus / "images" / "p00-us.png", corpus / name)
        self.point(corpus, name)
        release = made(corpus)
        path = release.tables["items"]["image"][0]
        digest = next(image.sha256 for image in release.images if image.path == path)
        assert path == ("images/up.png" if name == "up.png" else f"images/{digest}.png")

    @pytest.mark.parametrize("name", ["images/P00-CN.png", "images/p00-cn.png"])
    def test_names_that_differ_by_capitals_stay_apart(self, corpus: Path, name: str) -> None:
        """Whichever comes first; the other item is told to show the other file."""
        other = "images/p00-cn.png" if "CN" in name else "images/P00-CN.png"
        (corpus / "images" / "P00-CN.png").write_bytes((corpus / "images" / "p00-us.png").read_bytes())
        self.point(corpus, name)
        items = pl.read_csv(corpus / "items.csv")
        second = pl.col("item_id") == "p00-cn"
        items.with_columns(image=pl.when(second).then(pl.lit(other)).otherwise("image")).write_csv(corpus / "items.csv")
        paths = [image.path.casefold() for image in made(corpus).images]
        assert len(set(paths)) == len(paths) == 22

    def test_photographs_that_say_where_are_told(self, corpus: Path) -> None:
        image = Image.new("RGB", (8, 8))
        place = image.getexif()
        place.get_ifd(0x8825)[1] = "N"
        image.save(corpus / "images" / "here.jpg", exif=place)
        self.point(corpus, "images/here.jpg")
        (note,) = made(corpus).notes
        assert (note.key, note.fields["images"]) == ("release.note.located", "images/here.jpg")
