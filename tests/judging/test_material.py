"""Items, questions and held-out ratings as they are read for judges, and everything that is refused."""

import hashlib
import os
from pathlib import Path

import polars as pl
import pytest
from tests.judging.corpora import demonstrated, item, picture, question, rating, write

from voirdire.corpus.image_paths import ImageFolder, NotHere, stays_inside
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.reading import read_corpus
from voirdire.errors import InputError, UsageError
from voirdire.judging.asked import levels_of
from voirdire.judging.material import read_material
from voirdire.scales import Scale
from voirdire.texts import text


def refused(error, key, **fields):
    """The error is this one, has these fields, and can be said in both languages."""
    assert error.value.key == key
    assert {name: error.value.fields[name] for name in fields} == fields
    assert all(text(key, lang, **error.value.fields) for lang in ("en", "zh"))


def with_images(folder, *names, cells=None):
    """A corpus folder of pictures; the image column has ``cells``, or the names."""
    (folder / "images").mkdir(parents=True)
    for seed, name in enumerate(names):
        (folder / "images" / name).write_bytes(picture(seed))
    rows = [
        {"item_id": f"i{place}", "prompt.en": "Is it usual?", "image": cell}
        for place, cell in enumerate(cells or names)
    ]
    return write(folder, items=rows, questions=question())


def test_a_folder(tmp_path):
    made = read_material(demonstrated(tmp_path / "c"))
    assert [one.id for one in made.items] == ["t0", "t1", "t2"]
    assert len(made.held_out) == 20
    assert made.name == "small"
    assert made.folder == (tmp_path / "c").resolve()
    assert made.languages == ("en", "zh")
    assert made.evaluation == "q1"
    assert made.items[0].prompts == {"en": "Is t0 usual?", "zh": "t0常见吗？"}
    assert made.items[0].texts == {"und": "about t0"}
    assert (made.items[0].pair, made.items[0].culture) == ("p-t0", "us")
    assert made.consensus["us"]["d-us-4-1"] == 4
    assert set(made.consensus) == {"us", "cn"}
    assert "t0" not in made.consensus["us"]
    assert made.levels(made.questions[0], made.items[0]) == (1, 2, 3, 4, 5)
    assert {one.table for one in made.intake} == {"items", "ratings", "questions"}


def test_what_is_left_out_of_the_audit_stays_out_of_it(tmp_path):
    """Reading for judges changes nothing in the reading for the audit."""
    corpus = read_corpus(CorpusOptions(demonstrated(tmp_path / "c")))
    assert corpus.items["item_id"].to_list() == ["t0", "t1", "t2"]
    assert set(corpus.excluded_items.values()) == {"excluded_item"}


def test_pilot_and_rejected_items_are_not_judged(tmp_path):
    rows = [item("a"), item("b", ""), item("c", "pilot"), item("d", "rejected")]
    made = read_material(write(tmp_path, items=rows, questions=question()))
    assert [one.id for one in made.items] == ["a", "b"]
    assert made.held_out == ()
    assert made.intake[0].excluded == {"excluded_item": 2}


def test_a_file_without_a_folder(tmp_path):
    pl.DataFrame([item("a")]).write_csv(tmp_path / "things.csv")
    made = read_material(tmp_path / "things.csv", low=0, high=3)
    assert made.folder == tmp_path.resolve()
    assert [(one.id, str(one.scale)) for one in made.questions] == [("rating", "ordinal:0:3")]
    assert [one.key for one in made.notes] == ["material.note.question_assumed"]
    assert text(made.notes[0].key, "zh", **made.notes[0].fields)


def test_tables_beside_a_file(tmp_path):
    folder = demonstrated(tmp_path / "c")
    beside = {name: folder / f"{name}.csv" for name in ("questions", "ratings")}
    made = read_material(folder / "items.csv", **beside)
    assert (made.consensus, made.questions) == (read_material(folder).consensus, read_material(folder).questions)


def test_a_table_given_beside_the_folder_wins(tmp_path):
    folder = demonstrated(tmp_path / "c")
    other = pl.DataFrame([item("other")])
    assert [
        one.id for one in read_material(folder, items=other, ratings=pl.DataFrame([rating("other", "us", 1)])).items
    ] == ["other"]


def test_scales_read_off_the_ratings_are_those_of_the_reader(tmp_path):
    rows = [rating("a", "us", 0), rating("b", "us", 7), rating("a", "cn", 3)]
    folder = write(tmp_path, items=[item("a", question="x"), item("b")], ratings=rows)
    made = read_material(folder)
    assert [question.scale for question in made.questions] == [
        one.scale for one in read_corpus(CorpusOptions(folder)).questions
    ]
    assert "input.note.scale_inferred" in [one.key for one in made.notes]


def test_a_declared_question_that_nobody_rated(tmp_path):
    asked = [
        *question(),
        {**question()[0], "question": "q2", "role": ""},
        {"question": "q3", "role": "", "level": "", "min": None, "max": None},
    ]
    made = read_material(
        write(
            tmp_path,
            items=[item("a"), item("b")],
            ratings=[rating("a", "us", 1), rating("b", "us", 3)],
            questions=asked,
        )
    )
    assert [one.id for one in made.questions] == ["q1", "q2"]
    assert "material.note.question_left_out" in [one.key for one in made.notes]


def test_the_question_that_is_asked(tmp_path):
    asked = [{**question()[0], "question": "first", "role": ""}, question()[0]]
    folder = write(tmp_path, items=[item("a")], questions=asked)
    assert read_material(folder).evaluation == "q1"
    assert read_material(folder, question="first").evaluation == "first"
    with pytest.raises(UsageError) as error:
        read_material(folder, question="none")
    refused(error, "material.question_unknown", value="none", known="first, q1")


def test_an_item_with_its_own_scale(tmp_path):
    folder = write(tmp_path, items=[item("a", min=0, max=10), item("b", min=None, max=None)], questions=question())
    made = read_material(folder)
    assert [made.levels(made.questions[0], one) for one in made.items] == [tuple(range(11)), (1, 2, 3, 4, 5)]


def test_items_with_a_scale_and_no_question(tmp_path):
    made = read_material(write(tmp_path, items=[item("a", min=0, max=3), item("b", min=0, max=4)]))
    assert str(made.questions[0].scale) == "ordinal:0:4"
    assert [one.scale.high for one in made.items] == [3, 4]


def test_wording_from_the_questions_table(tmp_path):
    rows = [{"item_id": "a", "text": "Tea"}]
    made = read_material(
        write(tmp_path, items=rows, questions=question(**{"text.zh": "常见吗？", "text.en": "Usual?"}))
    )
    assert made.languages == ("zh", "en")
    assert made.items[0].texts == {"und": "Tea"}
    assert made.question("q1").text == {"zh": "常见吗？", "en": "Usual?"}


def test_a_language_that_is_not_complete(tmp_path):
    rows = [item("a"), item("b", **{"prompt.zh": None})]
    made = read_material(write(tmp_path, items=rows, questions=question()))
    assert made.languages == ("en",)
    (told,) = made.notes
    assert (told.key, told.kind, told.fields["item"]) == ("material.note.language_incomplete", "warning", "b")
    assert text(told.key, "zh", **told.fields)


def test_a_text_that_is_not_in_every_language(tmp_path):
    rows = [
        item("a", text=None, **{"text.en": "A", "text.zh": "甲"}),
        item("b", text=None, **{"text.en": "B", "text.zh": None}),
    ]
    made = read_material(write(tmp_path, items=rows, questions=question()))
    assert made.languages == ("en",)
    assert made.notes[0].fields["column"] == "text.zh"


def test_a_text_of_unknown_language_stands_in_for_any(tmp_path):
    rows = [{"item_id": "a", "text": "Tea", "prompt.en": "Usual?", "prompt.zh": "常见吗？"}]
    assert read_material(write(tmp_path, items=rows, questions=question())).languages == ("en", "zh")


def test_prompts_word_the_evaluation_question_alone(tmp_path):
    asked = [*question(), {**question()[0], "question": "q2", "role": "placement"}]
    folder = write(tmp_path, items=[item("a")], questions=asked)
    assert read_material(folder).languages == ("en", "zh")
    with pytest.raises(InputError) as error:
        read_material(folder, question="q2")
    refused(error, "material.no_question", row=2, item="a", question="q2")


def test_the_plain_prompt_column_is_of_no_language(tmp_path):
    rows = [{"item_id": "a", "text": "Tea", "prompt": "Usual?"}]
    assert read_material(write(tmp_path, items=rows, questions=question())).languages == ("und",)


def test_the_digest_does_not_know_the_order_of_rows(tmp_path):
    rows = [item("a"), item("b", min=0, max=3)]
    first = read_material(write(tmp_path / "1", items=rows, questions=question())).digest
    assert read_material(write(tmp_path / "2", items=rows[::-1], questions=question())).digest == first
    changed = [item("a"), item("b", text="other", min=0, max=3)]
    assert read_material(write(tmp_path / "3", items=changed, questions=question())).digest != first


NO_PROMPT = {"prompt.en": None, "prompt.zh": None}
NO_EN, NO_ZH = {"prompt.en": None}, {"prompt.zh": None}


@pytest.mark.parametrize(
    ("rows", "key", "fields"),
    [
        ([item("a"), item("", split="test")], "input.cell_empty", {"row": 3, "column": "item_id"}),
        ([item("a"), item("a", text="x")], "input.key_twice", {"row": 3, "value": "a"}),
        ([item("a"), item("b", "dev")], "material.split_unknown", {"row": 3, "column": "split", "value": "dev"}),
        ([item("a", "demonstration")], "material.no_test_items", {"count": 1}),
        ([item("a"), item("b", text=None, **NO_PROMPT)], "material.nothing_shown", {"row": 3, "item": "b"}),
        ([item("a"), item("b", **NO_PROMPT)], "material.no_question", {"row": 3, "item": "b"}),
        ([item("a", **NO_EN), item("b"), item("c"), item("d", **NO_ZH)], "material.no_common_language",
         {"row": 5, "item": "d", "column": "prompt.zh", "language": "zh"}),
        ([item("a", image="../a.png")], "material.image_outside", {"row": 2, "column": "image", "value": "../a.png"}),
        ([item("a", image="/etc/hostname")], "material.image_outside", {"row": 2, "value": "/etc/hostname"}),
        ([item("a", image="C:\\a.png")], "material.image_outside", {"row": 2}),
        ([item("a", image="https://example.org/a.png")], "material.image_address", {"row": 2}),
        ([item("a", image="data:image/png;base64,AAAA")], "material.image_address", {"row": 2}),
        ([item("a", image="none.png")], "material.image_missing", {"row": 2, "value": "none.png", "item": "a"}),
        ([item("a", image="images")], "material.image_missing", {"row": 2}),
        ([item("a", image="x" * 5000)], "material.image_missing", {"row": 2}),
        ([item("a", image="ab" * 32)], "material.image_digest_unknown", {"row": 2}),
        ([item("a", min=0.5, max=2.5)], "material.item_levels", {"row": 2, "column": "min", "item": "a"}),
    ],
)  # fmt: skip
def test_items_that_are_refused(tmp_path, rows, key, fields):
    with pytest.raises(InputError) as error:
        read_material(write(tmp_path / "c", items=rows, questions=question()))
    refused(error, key, **fields)
    assert error.value.fields["file"].endswith("items.csv")


@pytest.mark.parametrize(
    ("asked", "key"),
    [
        ([{"question": "q1", "min": None, "max": None}], "material.scale_unknown"),
        ([{"question": "q1", "labels": "red;green;blue"}], "material.no_order"),
        ([{"question": "q1", "labels": "a;b;tie", "level": "pairwise"}], "material.votes"),
        (question(min=0.5), "material.ends_not_whole"),
        (question(max=5000, level="interval"), "material.too_many_levels"),
    ],
)
def test_questions_that_are_refused(tmp_path, asked, key):
    with pytest.raises(InputError) as error:
        read_material(write(tmp_path, items=[item("a")], questions=asked))
    refused(error, key, question="q1")


def test_scales_as_levels():
    assert levels_of(Scale("interval", -1, 1)) == (-1, 0, 1)
    assert levels_of(Scale("ordinal", 0.0, 2.0, ("bad", "so", "good"))) == (0, 1, 2)
    with pytest.raises(InputError) as error:
        levels_of(Scale("ratio", 0), "q")
    refused(error, "material.no_ends", question="q")


def test_no_items_table(tmp_path):
    with pytest.raises(InputError) as error:
        read_material(write(tmp_path, ratings=[rating("a", "us", 1)]))
    refused(error, "material.no_items")
    folder = write(tmp_path, items=[item("a")])
    with pytest.raises(UsageError) as usage:
        read_material(folder / "items.csv", items=folder / "items.csv")
    refused(usage, "material.items_twice")


def test_an_item_without_a_picture_among_pictures(tmp_path):
    folder = with_images(tmp_path / "c", "a.png", "b.png", cells=["a.png", None])
    with pytest.raises(InputError) as error:
        read_material(folder)
    refused(error, "material.nothing_shown", row=3, column="image", item="i1")


def test_nothing_is_asked_of_the_items_when_no_judge_sees_them(tmp_path):
    rows = [{"item_id": "a", "image": "https://example.org/a.png"}]
    made = read_material(write(tmp_path, items=rows, questions=question()), shown=False)
    assert (made.items[0].image, made.languages) == (None, ())


def test_three_ways_to_name_an_image(tmp_path):
    data = picture(1)
    digest = hashlib.sha256(data).hexdigest()
    cells = ["a.png", "images/b.png", digest.upper(), f"sha256:{digest}"]
    folder = with_images(tmp_path / "c", "a.png", "b.png", cells=cells)
    images = folder.resolve() / "images"
    made = read_material(folder)
    assert [one.image for one in made.items] == [images / "a.png", *[images / "b.png"] * 3]
    assert made.images() == {images / "a.png": "i0", images / "b.png": "i1"}


@pytest.mark.parametrize("cell", ["link.png", "there/secret.png"])
def test_a_link_that_leaves_the_folder(tmp_path, cell):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.png").write_bytes(picture(3))
    folder = with_images(tmp_path / "c", "a.png", cells=[cell])
    (folder / "images" / "link.png").symlink_to(outside / "secret.png")
    (folder / "images" / "there").symlink_to(outside)
    with pytest.raises(InputError) as error:
        read_material(folder)
    refused(error, "material.image_outside", row=2, value=cell)


def test_a_digest_does_not_reach_through_a_link(tmp_path):
    (tmp_path / "secret.png").write_bytes(picture(3))
    folder = with_images(tmp_path / "c", "a.png", cells=[hashlib.sha256(picture(3)).hexdigest()])
    (folder / "images" / "link.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(InputError) as error:
        read_material(folder)
    refused(error, "material.image_digest_unknown")


def test_a_link_that_stays_and_a_folder_behind_a_link(tmp_path):
    folder = with_images(tmp_path / "c", "a.png", cells=["link.png"])
    (folder / "images" / "link.png").symlink_to("a.png")
    (tmp_path / "linked").symlink_to(folder)
    made = read_material(tmp_path / "linked")
    assert made.items[0].image == folder.resolve() / "images" / "a.png"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_no_image(tmp_path):
    folder = with_images(tmp_path / "c", "a.png", cells=["pipe.png"])
    os.mkfifo(folder / "images" / "pipe.png")
    with pytest.raises(InputError) as error:
        read_material(folder)
    refused(error, "material.image_missing")


@pytest.mark.parametrize(
    "cell", ["..", "a/../../b", "a\\..\\b", "\\\\host\\share\\a.png", "//host/a.png", "C:a.png", "a\0b"]
)
def test_spellings_that_leave(cell):
    assert not stays_inside(cell)
    with pytest.raises(NotHere):
        ImageFolder(Path()).find(cell)


def test_names_that_look_alike_but_stay():
    assert all(stays_inside(cell) for cell in ("a..png", "...", "图/一.png", ".hidden", "a b.png"))


def test_real_tables(shared_data):
    here = shared_data / "trust_ama"
    made = read_material(here / "items.csv", questions=here / "questions.csv", ratings=here / "ratings.csv.gz")
    assert (len(made.items), made.languages, made.evaluation) == (16, ("und",), "trustworthy")
    assert {str(one.scale) for one in made.questions} == {"ordinal:1:7"}


def test_simulated_tables_without_content(shared_data):
    here = shared_data / "simulated-voirdire"
    reading = CorpusOptions(None, question_columns=("q1", "q2", "q3", "q4"))
    beside = {"ratings": here / "ratings.csv.gz", "reading": reading}
    made = read_material(here / "items.csv.gz", **beside, shown=False)
    assert (len(made.items), made.evaluation, made.items[0].pair) == (626, "q1", "food-000")
    with pytest.raises(InputError) as error:
        read_material(here / "items.csv.gz", **beside)
    refused(error, "material.nothing_shown", row=2, item="food-000-us")


def test_addresses_of_a_real_table_are_refused(shared_data):
    here = shared_data / "viescore"
    with pytest.raises(InputError) as error:
        read_material(here / "items.csv", ratings=here / "ratings.csv.gz")
    refused(error, "material.image_address", row=2, column="image")


def test_a_folder_without_ratings_can_be_judged_and_not_audited(tmp_path):
    folder = write(tmp_path, items=[item("a")], questions=question())
    assert read_material(folder).consensus == {}
    with pytest.raises(InputError) as error:
        read_corpus(CorpusOptions(folder))
    assert error.value.key == "input.folder_no_table"
