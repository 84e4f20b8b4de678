"""The corpus as raters see it."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest
from tests.annotation.study_corpora import corpus, item, picture, told

from voirdire.annotation.material import check_pictures, read_shown
from voirdire.corpus.options import CorpusOptions
from voirdire.errors import InputError
from voirdire.simulation.demo import write_demo

SPLITS = ("test", "demonstration", "pilot", "rejected")


def pictured(folder: Path, **files: bytes) -> Path:
    """A corpus folder with an item for each image file."""
    (folder / "images").mkdir(parents=True)
    for name, data in files.items():
        (folder / "images" / f"{name}.png").write_bytes(data)
    return corpus(folder, [{"item_id": name, "prompt.en": "Is it usual?", "image": f"{name}.png"} for name in files])


def test_items_of_every_split_are_there_in_the_order_of_the_table(tmp_path: Path) -> None:
    rows = [item(f"{split[0]}{number}", split=split) for number in range(2) for split in SPLITS]
    shown = read_shown(corpus(tmp_path, rows))
    assert list(shown.items) == [row["item_id"] for row in rows]
    assert shown.of_splits("test", "pilot") == ("t0", "p0", "t1", "p1")
    assert shown.table["split"].to_list() == [row["split"] for row in rows]


def test_cultures_languages_and_pairs_are_read_off_the_items(tmp_path: Path) -> None:
    shown = read_shown(corpus(tmp_path, [item("a1"), item("a2", "cn"), item("b1", pair_id=None)]))
    assert (shown.name, shown.cultures, shown.languages) == ("small", ("us", "cn"), ("en", "zh"))
    assert shown.pairs == {"a1": "p-a", "a2": "p-a"}
    assert shown.items["a1"].prompts == {"en": "Is a1 usual?", "zh": "a1常见吗？"}


def test_a_column_without_a_language_names_none(tmp_path: Path) -> None:
    shown = read_shown(corpus(tmp_path, [{"item_id": "a", "text": "Tea", "prompt": "Is it usual?"}]))
    assert (shown.languages, shown.cultures, shown.pairs) == ((), (), {})


def test_descriptions_tell_the_languages_where_nothing_else_does(tmp_path: Path) -> None:
    rows = [{"item_id": "a", "alt.zh": "一杯茶"}]
    assert read_shown(corpus(tmp_path, rows)).languages == ("zh",)


def test_an_items_table_alone_has_its_images_beside_it(tmp_path: Path) -> None:
    folder = pictured(tmp_path / "things", tea=picture())
    (folder / "corpus.toml").unlink()
    shown = read_shown(folder / "items.csv")
    assert shown.name == "things"
    assert shown.image("tea") == (folder / "images" / "tea.png").resolve()


def test_ratings_are_not_needed_and_not_read(tmp_path: Path) -> None:
    folder = corpus(tmp_path)
    (folder / "ratings.csv").write_text("this is, no\ntable of ratings")
    assert len(read_shown(folder).items) == 4


def test_columns_by_other_names_are_read_where_it_is_said(tmp_path: Path) -> None:
    folder = corpus(tmp_path, [{"code": "a", "prompt": "Is it usual?", "text": "Tea"}])
    shown = read_shown(folder, reading=CorpusOptions(None, mapping={"item_id": "code"}))
    assert list(shown.items) == ["a"]


def test_a_questions_table_can_be_given(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c")
    pl.DataFrame({"question": ["fit"], "min": ["1"], "max": ["7"]}).write_csv(tmp_path / "other.csv")
    assert list(read_shown(folder, questions=tmp_path / "other.csv").questions.declared) == ["fit"]


def test_the_digest_is_of_items_and_not_of_their_order(tmp_path: Path) -> None:
    rows = [item("a1"), item("a2", "cn")]
    first = read_shown(corpus(tmp_path / "1", rows)).digest
    assert read_shown(corpus(tmp_path / "2", rows[::-1])).digest == first
    changes = [{"text.en": "Other"}, {"pair_id": "other"}, {"split": "pilot"}, {"item_id": "a9"}]
    others = [
        read_shown(corpus(tmp_path / f"c{number}", [{**rows[0], **change}, rows[1]])).digest
        for number, change in enumerate(changes)
    ]
    assert len({first, *others}) == 5


def test_the_digest_names_image_files_by_their_place_in_the_corpus(tmp_path: Path) -> None:
    digests = {read_shown(pictured(tmp_path / name, tea=picture())).digest for name in ("here", "there")}
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("kind", "media"), [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/webp"), ("GIF", "image/gif")]
)
def test_the_kind_of_a_picture_is_told_by_its_bytes(tmp_path: Path, kind: str, media: str) -> None:
    found = read_shown(pictured(tmp_path / "c", tea=picture(kind=kind, size=(40, 30)))).picture("tea")
    assert found is not None
    assert (found.media_type, found.width, found.height) == (media, 40, 30)


def test_a_picture_that_changed_is_looked_at_again(tmp_path: Path) -> None:
    folder = pictured(tmp_path / "c", tea=picture(size=(40, 30)))
    shown, file = read_shown(folder), folder / "images" / "tea.png"
    before = shown.picture("tea")
    file.write_bytes(picture(size=(20, 10)))
    os.utime(file, ns=(1, 1))
    after = shown.picture("tea")
    assert before is not None
    assert after is not None
    assert (before.width, after.width) == (40, 20)


def test_an_item_without_an_image_and_an_unknown_id_have_no_picture(tmp_path: Path) -> None:
    shown = read_shown(corpus(tmp_path))
    assert [shown.image(name) for name in ("a1", "no such item", "../secret")] == [None, None, None]
    assert [shown.picture(name) for name in ("a1", "no such item")] == [None, None]


@pytest.mark.parametrize(
    ("data", "key"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "material.image_kind"),
        (picture()[:200], "material.image_broken"),
        (b"", "material.image_kind"),
    ],
)
def test_what_is_no_whole_picture_is_refused_with_its_item(tmp_path: Path, data: bytes, key: str) -> None:
    shown = read_shown(pictured(tmp_path / "c", tea=data))
    with pytest.raises(InputError) as error:
        shown.picture("tea")
    assert (error.value.key, error.value.fields["item"]) == (key, "tea")
    assert "tea.png" in told(error.value)


def test_a_picture_that_is_gone_is_refused_with_its_item(tmp_path: Path) -> None:
    folder = pictured(tmp_path / "c", tea=picture())
    shown = read_shown(folder)
    (folder / "images" / "tea.png").unlink()
    with pytest.raises(InputError) as error:
        check_pictures(shown)
    assert error.value.key == "material.image_unreadable"
    assert "tea" in told(error.value)


def test_looking_at_every_picture_tells_how_far_it_is(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    check_pictures(
        read_shown(pictured(tmp_path / "c", a=picture(1), b=picture(2))), lambda done, all_: seen.append((done, all_))
    )
    assert seen == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("cell", "key"),
    [
        ("absent.png", "material.image_missing"),
        ("../outside.png", "material.image_outside"),
        ("link.png", "material.image_outside"),
        ("https://example.org/a.png", "material.image_address"),
    ],
)
def test_images_come_from_the_corpus_alone(tmp_path: Path, cell: str, key: str) -> None:
    (tmp_path / "outside.png").write_bytes(picture())
    folder = corpus(tmp_path / "c", [{"item_id": "a", "prompt.en": "Is it usual?", "image": cell}])
    (folder / "link.png").symlink_to(tmp_path / "outside.png")
    with pytest.raises(InputError) as error:
        read_shown(folder)
    assert error.value.key == key
    assert (error.value.fields["row"], error.value.fields["column"], error.value.fields["value"]) == (2, "image", cell)
    assert "items.csv" in told(error.value)


def test_a_folder_without_items_is_refused(tmp_path: Path) -> None:
    (tmp_path / "corpus.toml").write_text('name = "empty"\n')
    with pytest.raises(InputError) as error:
        read_shown(tmp_path)
    assert error.value.key == "study.no_items_table"
    assert "items.csv" in told(error.value)


def test_a_table_without_rows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("item_id,text\n")
    with pytest.raises(InputError) as error:
        read_shown(tmp_path / "items.csv")
    assert error.value.key == "study.no_items"
    assert "items.csv" in told(error.value)


def test_an_item_with_nothing_to_look_at_is_refused(tmp_path: Path) -> None:
    rows = [item("a1"), {"item_id": "a2", "culture": "us"}]
    with pytest.raises(InputError) as error:
        read_shown(corpus(tmp_path, rows))
    assert (error.value.key, error.value.fields["item"], error.value.fields["row"]) == (
        "material.nothing_shown",
        "a2",
        3,
    )


def test_a_prompt_is_enough_where_no_item_has_an_image(tmp_path: Path) -> None:
    assert len(read_shown(corpus(tmp_path, [{"item_id": "a", "prompt.en": "Is tea with milk usual?"}])).items) == 1


def test_a_prompt_is_not_enough_where_others_have_images(tmp_path: Path) -> None:
    folder = pictured(tmp_path / "c", tea=picture())
    rows = [{"item_id": "tea", "prompt.en": "Usual?", "image": "tea.png"}, {"item_id": "b", "prompt.en": "Usual?"}]
    with pytest.raises(InputError) as error:
        read_shown(corpus(folder, rows))
    assert (error.value.key, error.value.fields["column"]) == ("material.nothing_shown", "image")


def test_the_demonstration_can_be_shown(tmp_path: Path) -> None:
    shown = read_shown(write_demo(tmp_path).corpus)
    check_pictures(shown)
    assert (len(shown.items), len(shown.pairs), shown.cultures, shown.simulated) == (30, 30, ("us", "cn"), True)
    assert list(shown.questions.declared) == ["q1", "q2", "q3", "q4"]


@pytest.mark.parametrize(
    ("name", "items"),
    [("trust_ama", 16), ("crehate", 790), ("seegull", 6781), ("dices350", 350), ("cems_pairs", 15), ("psa001", 120)],
)
def test_real_corpora_of_texts_can_be_shown(shared_data: Path, name: str, items: int) -> None:
    shown = read_shown(shared_data / name / "items.csv")
    assert len(shown.items) == items
    assert all(one.texts for one in shown.items.values())
