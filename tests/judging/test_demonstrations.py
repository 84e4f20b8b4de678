"""Demonstrations: one example a level, the same draw for every judge, never a test item; and what is refused."""

import itertools
import random
import subprocess
import sys
from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging.corpora import demonstrated, held_out, item, picture, question, rating, write

from voirdire.corpus.options import CorpusOptions
from voirdire.errors import InputError
from voirdire.judging.demonstrations import Draws, by_level, counts_table, prove_disjoint
from voirdire.judging.images import ImageStore
from voirdire.judging.material import read_material
from voirdire.judging.nouns import Condition, DesignSpec
from voirdire.tables import read_table
from voirdire.texts import text

POOLS_AND_CULTURES = {"aa": ("us", "us"), "ac": ("us", "cn"), "ca": ("cn", "us"), "cc": ("cn", "cn")}
DESIGNS = tuple(DesignSpec(name, *whose) for name, whose in POOLS_AND_CULTURES.items())
GOLDEN = [("d-us-2-0", 2), ("d-us-5-2", 5), ("d-us-1-2", 1), ("d-us-3-2", 3), ("d-us-4-0", 4)]


def condition(name="neutral_en", design=DESIGNS[0]):
    shown = {"design": design.name, "demonstrations": design} if design else {}
    return Condition(name, "en", "Answer with one number.", (), **shown)


def refused(call, key, **fields):
    with pytest.raises(InputError) as error:
        call()
    assert error.value.key == f"material.{key}"
    assert {name: error.value.fields[name] for name in fields} == fields
    assert all(text(error.value.key, lang, **error.value.fields) for lang in ("en", "zh"))
    return error.value


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    return read_material(demonstrated(tmp_path_factory.mktemp("c"), n_test=40, n_each=3))


def test_one_example_at_each_level(material):
    draws = Draws(material, DESIGNS, seed=1)
    draws.check()
    for design, one in itertools.product(DESIGNS, material.items):
        drawn = draws.draw(condition(design=design), one)
        assert sorted(example.level for example in drawn) == [1, 2, 3, 4, 5]
        assert {example.item.culture for example in drawn} == {design.culture}
        assert {material.consensus[design.pool][example.item.id] - example.level for example in drawn} == {0}
        assert not {example.item.id for example in drawn} & {tested.id for tested in material.items}


def test_no_examples_without_a_design(material):
    assert Draws(material, DESIGNS, 1).draw(condition(design=None), material.items[0]) == ()
    Draws(material, (), 1).check([condition(design=None)])


@given(st.data(), st.integers(0, 2**40))
def test_the_draw_depends_on_nothing_but_the_cell(material, data, seed):
    """Drawn in any order, by any number of judges, with other rows of the tables before: the same examples."""
    cells = list(itertools.product(DESIGNS, ("neutral_en", "us_basic_zh"), material.items[:4]))
    draws = Draws(material, DESIGNS, seed)
    plain = {(design.name, name, one.id): draws.draw(condition(name, design), one) for design, name, one in cells}
    order = data.draw(st.permutations(cells))
    again = Draws(material, DESIGNS[:1], seed)
    for design, name, one in order:
        assert again.draw(condition(name, design), one) == plain[design.name, name, one.id]


def test_the_order_of_rows_does_not_count(tmp_path):
    items, ratings = held_out(n_each=3)
    rows, rated = [item("t0"), *items], list(ratings)
    first = read_material(write(tmp_path / "1", items=rows, ratings=rated, questions=question()))
    random.Random(3).shuffle(rows)
    random.Random(4).shuffle(rated)
    second = read_material(write(tmp_path / "2", items=rows, ratings=rated, questions=question()))
    assert first.digest == second.digest
    for design in DESIGNS:
        drawn = [Draws(made, (), 7).draw(condition(design=design), made.items[0]) for made in (first, second)]
        assert drawn[0] == drawn[1]


def test_cells_differ(material):
    """Another item, condition, design or seed gives another draw."""
    draws = Draws(material, DESIGNS, 1)
    names = [[one.item.id for one in draws.draw(condition(), item)] for item in material.items]
    assert len({tuple(drawn) for drawn in names}) == len(names)
    item = material.items[0]
    assert draws.draw(condition("us_basic_en"), item) != draws.draw(condition("neutral_en"), item)
    assert draws.draw(condition(), item) != Draws(material, DESIGNS, 2).draw(condition(), item)


def test_golden_draw(material):
    """The same on every machine and in every release: a run that is resumed shows the same examples."""
    drawn = Draws(material, DESIGNS, 20260418).draw(condition(), material.items[0])
    assert [(one.item.id, one.level) for one in drawn] == GOLDEN


def test_another_process_draws_the_same(material):
    """String hashes differ between processes; draws do not."""
    code = """
from voirdire.judging.demonstrations import generator
print(generator(1, "aa", "\u00e9", "q", "i").integers(10**9, size=4).tolist())
"""
    made = []
    for seed in ("1", "2"):
        env = {"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)}
        made.append(subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True).stdout)
    assert made[0] == made[1] != b""


def test_examples_are_used_about_equally_often(material):
    """Chi-square of counts against equal use, and every order of levels about equally often."""
    draws, n = Draws(material, DESIGNS, 5), 0
    used, first = Counter(), Counter()
    for number, one in itertools.product(range(150), material.items):
        drawn = draws.draw(condition(f"c{number}"), one)
        used.update(example.item.id for example in drawn)
        first[drawn[0].level] += 1
        n += 1
    assert len(used) == 15
    assert sum((count - n / 3) ** 2 / (n / 3) for count in used.values()) < 29.6  # 10 df, p = 0.001
    assert sum((count - n / 5) ** 2 / (n / 5) for count in first.values()) < 18.5  # 4 df, p = 0.001


@pytest.mark.parametrize(
    ("ratings", "level"),
    [((1, 2), 2), ((2, 3), 3), ((4, 5), 5), ((2, 2, 3), 2), ((2, 3, 3), 3), ((1, 1, 1, 3), 2), ((5, 5), 5), ((1,), 1)],
)
def test_the_mean_is_rounded_half_up(tmp_path, ratings, level):
    rows = [item("t"), item("d", "demonstration")]
    rated = [rating("d", "us", value, str(rater)) for rater, value in enumerate(ratings)] + [rating("t", "us", 3)]
    made = read_material(write(tmp_path, items=rows, ratings=rated, questions=question()))
    found = by_level(made, "q1", "us", None, (1, 2, 3, 4, 5))
    assert [one for one, items in found.items() if items] == [level]


def test_means_without_raters(tmp_path):
    rows = [item("t"), *(item(f"d{k}", "demonstration") for k in range(1, 6))]
    rated = [{"item_id": f"d{k}", "pool": "us", "question": "q1", "value": k - 0.5} for k in range(2, 6)]
    rated += [{"item_id": "d1", "pool": "us", "question": "q1", "value": 1.4999}]
    made = read_material(write(tmp_path, items=rows, ratings=rated, questions=question()))
    drawn = Draws(made, (), 1).draw(condition(design=DesignSpec("a", "us")), made.items[0])
    assert sorted((one.item.id, one.level) for one in drawn) == [(f"d{k}", k) for k in range(1, 6)]


def test_any_culture(material):
    draws = Draws(material, (), 1)
    design = DesignSpec("mixed", "us")
    cultures = {example.item.culture for one in material.items for example in draws.draw(condition(design=design), one)}
    assert cultures == {"us", "cn"}


def test_other_scales(tmp_path):
    made = read_material(demonstrated(tmp_path / "c", levels=range(1, 6)), low=1, high=5)
    asked = question(min=0, max=1, level="ordinal")
    items, ratings = held_out(levels=(0, 1))
    made = read_material(write(tmp_path / "d", items=[item("t"), *items], ratings=ratings, questions=asked))
    assert sorted(one.level for one in Draws(made, DESIGNS, 1).draw(condition(), made.items[0])) == [0, 1]


def test_an_item_with_its_own_scale_needs_examples_on_it(tmp_path):
    items, ratings = held_out(cultures=("us",))
    own, more = held_out(cultures=("us",), levels=range(1, 4), min=1, max=3)
    own = [{**row, "item_id": f"own-{row['item_id']}", "pair_id": ""} for row in own]
    more = [{**row, "item_id": f"own-{row['item_id']}"} for row in more]
    tests = [item("t"), item("u", min=1, max=3)]
    made = read_material(
        write(tmp_path / "1", items=[*tests, *items, *own], ratings=[*ratings, *more], questions=question())
    )
    draws = Draws(made, DESIGNS[:1], 1)
    draws.check()
    assert sorted(one.level for one in draws.draw(condition(), made.items[1])) == [1, 2, 3]
    assert all(one.item.id.startswith("own") for one in draws.draw(condition(), made.items[1]))
    without = read_material(write(tmp_path / "2", items=[*tests, *items], ratings=ratings, questions=question()))
    refused(Draws(without, DESIGNS[:1], 1).check, "draw_impossible", low=1, high=3, missing="1, 2, 3")


def test_an_impossible_draw_shows_the_counts(tmp_path):
    items, ratings = held_out(n_each=2)
    ratings = [row for row in ratings if not (row["pool"] == "cn" and row["item_id"].startswith("d-us-2"))]
    made = read_material(write(tmp_path, items=[item("t"), *items], ratings=ratings, questions=question()))
    Draws(made, [DESIGNS[0], DESIGNS[1], DESIGNS[3]], 1).check()
    error = refused(Draws(made, DESIGNS, 1).check, "draw_impossible", design="ca", pool="cn", culture="us", missing="2")
    refused(lambda: Draws(made, (), 1).check([condition(design=DESIGNS[2])]), "draw_impossible", missing="2")
    refused(lambda: Draws(made, (), 1).draw(condition(design=DESIGNS[2]), made.items[0]), "draw_impossible")
    assert error.fields["table"].splitlines() == [
        "  pool  culture  1  2  3  4  5",
        "    us       cn  2  2  2  2  2",
        "    us       us  2  2  2  2  2",
        "    us        *  4  4  4  4  4",
        "    cn       cn  2  2  2  2  2",
        "    cn       us  2  0  2  2  2",
        "    cn        *  4  2  4  4  4",
    ]


def test_a_long_table_of_counts_is_cut(tmp_path):
    items, ratings = held_out(n_each=1, cultures=[f"c{k}" for k in range(40)], levels=(1, 5))
    made = read_material(write(tmp_path, items=[item("t"), *items], ratings=ratings, questions=question()))
    lines = counts_table(made, "q1", (1, 2, 3, 4, 5)).splitlines()
    assert (len(lines), set(lines[-1].split())) == (31, {"..."})


def test_a_pool_that_rated_nothing_held_out(tmp_path):
    made = read_material(demonstrated(tmp_path))
    design = DesignSpec("xx", "fr")
    refused(Draws(made, [design], 1).check, "pool_unknown", value="fr", design="xx", known="us, cn")


def test_no_demonstration_split(tmp_path):
    rated = [rating("t", "us", 1), rating("u", "us", 5)]
    made = read_material(write(tmp_path, items=[item("t"), item("u")], ratings=rated, questions=question()))
    refused(Draws(made, DESIGNS, 1).check, "no_held_out", design="aa")


def test_held_out_items_without_ratings(tmp_path):
    items, _ = held_out()
    made = read_material(write(tmp_path, items=[item("t"), *items], questions=question()))
    refused(Draws(made, DESIGNS, 1).check, "pool_unknown", value="us", known="-")


def test_a_shared_concept_pair(tmp_path):
    items, ratings = held_out()
    items[3]["pair_id"] = "food-1"
    made = read_material(
        write(tmp_path, items=[item("t", pair_id="food-1"), *items], ratings=ratings, questions=question())
    )
    refused(Draws(made, DESIGNS, 1).check, "same_pair", item=items[3]["item_id"], test="t", value="food-1")


def test_a_pair_is_the_same_in_capitals(material):
    from dataclasses import replace

    twin = replace(material.items[0], pair=f" {material.held_out[2].pair.upper()} ")
    mixed = replace(material, items=(twin,))
    refused(lambda: prove_disjoint(mixed), "same_pair", item=material.held_out[2].id, test=twin.id)


def test_items_without_a_pair_are_not_a_pair(tmp_path):
    items, ratings = held_out(pair_id="")
    made = read_material(write(tmp_path, items=[item("t", pair_id=""), *items], ratings=ratings, questions=question()))
    Draws(made, DESIGNS, 1).check()


def test_a_shared_wording(tmp_path):
    items, ratings = held_out()
    twin = item("t", **{name: items[0][name] for name in ("text", "prompt.en", "prompt.zh")})
    made = read_material(write(tmp_path, items=[twin, *items], ratings=ratings, questions=question()))
    refused(Draws(made, DESIGNS, 1).check, "same_content", item=items[0]["item_id"], test="t")


@pytest.mark.parametrize(
    "rated",
    [
        {"text": "about d-us-1-0"},
        {"text": "  About\u3000D-US-1-0 "},
        {"text": "\uff41\uff42\uff4f\uff55\uff54 d-us-1-0"},
        {"text": None, "text.zh": "about d-us-1-0"},
        {"text": None, "alt": "about\nd-us-1-0"},
    ],
)
def test_another_prompt_does_not_make_another_item(tmp_path, rated):
    items, ratings = held_out()
    twin = item("t", **{"prompt.en": "How common is this?", "prompt.zh": "这有多常见？", **rated})
    more = [{**row, **{name: None for name in rated if name not in row}} for row in items]
    made = read_material(write(tmp_path, items=[twin, *more], ratings=ratings, questions=question()))
    error = refused(Draws(made, DESIGNS, 1).check, "same_content", item="d-us-1-0", test="t", value="about d-us-1-0")
    assert "'d-us-1-0'" in str(error)


def test_the_same_prompt_of_other_texts_is_no_overlap(tmp_path):
    items, ratings = held_out()
    asked = {"prompt.en": items[0]["prompt.en"], "prompt.zh": items[0]["prompt.zh"]}
    made = read_material(write(tmp_path, items=[item("t", **asked), *items], ratings=ratings, questions=question()))
    Draws(made, DESIGNS, 1).check()


def test_texts_that_show_nothing_are_not_the_same(material):
    """An empty text is none, of however many items."""
    from dataclasses import replace

    bare = [replace(one, texts={"en": " "}, pair=" ") for one in (material.items[0], material.held_out[0])]
    prove_disjoint(replace(material, items=(bare[0],), held_out=(bare[1],)))


def pictured(folder, twin):
    """A corpus of pictures; ``twin``: one of the demonstrations has the picture of the test item, by another name."""
    items, ratings = held_out(n_each=1)
    rows = [{**row, "image": f"{place}.png", "text": None} for place, row in enumerate([item("t"), *items])]
    write(folder, items=rows, ratings=ratings, questions=question())
    (folder / "images").mkdir()
    for place, row in enumerate(rows):
        (folder / "images" / row["image"]).write_bytes(picture(0 if twin and place == 4 else place))
    return read_material(folder)


def test_a_shared_image(tmp_path):
    made = pictured(tmp_path / "1", twin=True)
    store = ImageStore(made.folder)
    digest = store.sha256(made.items[0].image)
    refused(Draws(made, DESIGNS, 1, store.sha256).check, "same_image", item=made.held_out[3].id, test="t", value=digest)
    refused(lambda: prove_disjoint(made), "same_image", value=digest)
    other = pictured(tmp_path / "2", twin=False)
    Draws(other, DESIGNS, 1, ImageStore(other.folder).sha256).check()


def test_an_id_in_both_splits(material):
    """The items table cannot say this; a material made by hand can."""
    from dataclasses import replace

    mixed = replace(material, items=(*material.items, material.held_out[0]))
    refused(lambda: prove_disjoint(mixed), "same_id", item=material.held_out[0].id, test=material.held_out[0].id)


def test_pictures_are_proved_apart_without_reading_them_twice(tmp_path, monkeypatch):
    made = pictured(tmp_path / "1", twin=False)
    store = ImageStore(made.folder)
    store.check(made.images())
    monkeypatch.setattr(store, "_read", lambda path: pytest.fail("read again"))
    Draws(made, DESIGNS, 1, store.sha256).check()


def test_another_question(tmp_path):
    """Examples show the answers to the question that is asked."""
    items, ratings = held_out(n_each=1)
    more = [{**row, "question": "q2", "rating": 6 - row["rating"]} for row in ratings]
    asked = [*question(), {**question()[0], "question": "q2", "role": "placement"}]
    made = read_material(write(tmp_path, items=[item("t"), *items], ratings=[*ratings, *more], questions=asked))
    draws = Draws(made, DESIGNS, 1)
    draws.check(questions=("q1", "q2"))
    levels = [{one.item.id: one.level for one in draws.draw(condition(), made.items[0], name)} for name in ("q1", "q2")]
    assert levels[1] == {name: 6 - level for name, level in levels[0].items()}


def simulated(folder, here, every):
    """The simulated corpus with each ``every``-th of its pairs held out; ids stand for the texts."""
    table = read_table(here / "items.csv.gz").frame
    kept = table["pair_id"].unique().sort().gather_every(every)
    split = pl.when(pl.col("pair_id").is_in(kept.implode())).then(pl.lit("demonstration"))
    table.with_columns(split=split, text=pl.col("item_id"), prompt=pl.lit("?")).write_csv(folder / "items.csv")
    reading = CorpusOptions(None, question_columns=("q1", "q2", "q3", "q4"))
    return read_material(folder / "items.csv", ratings=here / "ratings.csv.gz", reading=reading)


def test_simulated_corpus(shared_data, tmp_path):
    made = simulated(tmp_path, shared_data / "simulated-voirdire", 2)
    assert len(made.items) + len(made.held_out) == 626
    draws = Draws(made, DESIGNS, 1)
    draws.check()
    drawn = [draws.draw(condition(design=design), one) for design in DESIGNS for one in made.items]
    assert {tuple(sorted(example.level for example in one)) for one in drawn} == {(1, 2, 3, 4, 5)}
    pairs = {one.pair for one in made.items}
    assert not {example.item.pair for one in drawn for example in one} & pairs


def test_simulated_corpus_with_too_few_pairs_held_out(shared_data, tmp_path):
    """Pools seldom put images of their own culture in the middle: a third of the pairs is not enough."""
    made = simulated(tmp_path, shared_data / "simulated-voirdire", 3)
    refused(Draws(made, DESIGNS, 1).check, "draw_impossible", design="aa", pool="us", culture="us", missing="3")
