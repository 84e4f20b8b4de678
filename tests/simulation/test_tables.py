"""Tables and files of simulated corpora."""

from dataclasses import fields, replace

import polars as pl
import pytest

from voirdire.app.simulate import simulate
from voirdire.errors import UsageError
from voirdire.scales import Scale
from voirdire.simulation.judges import Character
from voirdire.simulation.presets import paired_world
from voirdire.simulation.tables import simulate_tables, write_tables
from voirdire.simulation.world import SideQuestion

BINARY = Scale("nominal", labels=("fine", "hateful"), positive="hateful")


def files_of(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_every_rating_and_judgment_points_at_a_known_item_rater_and_judge():
    tables = simulate_tables(paired_world(items=13, pools=["us", "cn", "in"]), seed=2)
    items = set(tables.items["item_id"])
    assert len(items) == 13
    assert set(tables.ratings["item_id"]) == items
    assert set(tables.judgments["item_id"]) == items
    assert set(tables.ratings["rater_id"]) == set(tables.raters["rater_id"])
    assert set(tables.judgments["judge"]) == set(tables.judges["judge"])
    keys = ["item_id", "rater_id", "question"]
    assert tables.ratings.select(keys).is_duplicated().sum() == 0


def test_nested_raters_rate_one_item_and_slots_have_ids_that_recur():
    nested = simulate_tables(paired_world(items=12, layout="nested"), seed=2)
    assert nested.ratings.group_by("rater_id").agg(pl.col("item_id").n_unique())["item_id"].max() == 1
    assert set(nested.ratings["rater_id"]) == set(nested.raters["rater_id"])
    slots = simulate_tables(paired_world(items=12, layout="slots"), seed=2)
    assert slots.raters.height == 10
    assert set(slots.ratings["rater_id"]) == set(slots.raters["rater_id"])


def test_a_missing_judgment_is_an_empty_rating_with_its_status():
    world = paired_world(items=60, judges={"a": Character(malformed=0.3, refused=0.3)})
    judgments = simulate_tables(world, seed=2).judgments
    assert set(judgments["status"]) == {"ok", "malformed", "refused"}
    assert (judgments["rating"].is_null() == (judgments["status"] != "ok")).all()


def test_repeats_are_counted_from_one_and_differ():
    judgments = simulate_tables(paired_world(items=60, repeats=2), seed=2).judgments
    assert set(judgments["repeat"]) == {1, 2}
    one, two = (judgments.filter(repeat=k, judge="sim-faithful")["rating"] for k in (1, 2))
    assert (one != two).any()


def test_two_label_and_nominal_questions_are_written_as_their_labels():
    stance = SideQuestion("stance", scale=Scale("nominal", labels=("for", "against", "neither")))
    world = replace(paired_world(items=30, scale=BINARY), side=(stance,))
    tables = simulate_tables(world, seed=2)
    by_question = dict(tables.ratings.group_by("question").agg(pl.col("rating").unique()).iter_rows())
    assert set(by_question["q1"]) == {"fine", "hateful"}
    assert set(by_question["stance"]) == {"for", "against", "neither"}
    assert set(tables.judgments["rating"].drop_nulls()) <= {"fine", "hateful"}
    assert tables.questions["labels"].to_list() == ["fine|hateful", "for|against|neither"]


def test_planted_consensuses_are_near_the_observed_ones():
    tables = simulate_tables(paired_world(items=600, raters=40), seed=2)
    seen = tables.ratings.filter(question="q1", pool="us").group_by("item_id").agg(pl.col("rating").mean())
    both = tables.truth_items.join(seen, on="item_id")
    assert (both["mu.us"] - both["rating"]).abs().mean() < 0.12


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_written_tables_read_back(tmp_path, form):
    tables = simulate_tables(paired_world(items=12), seed=2)
    written = write_tables(tables, tmp_path / "new", form)
    assert set(written) == {entry.name for entry in fields(tables)} - {"truth"}
    read = pl.read_csv if form == "csv" else pl.read_parquet
    back = read(written["ratings"])
    assert back.equals(tables.ratings)


def test_unknown_forms_are_refused(tmp_path):
    with pytest.raises(ValueError, match="csv"):
        write_tables(simulate_tables(paired_world(items=12), seed=2), tmp_path, "xlsx")


def test_simulate_writes_the_asked_corpus(tmp_path):
    chosen = {"items": 30, "pools": "jp, br", "raters": 3, "judges": ["x=oriented_br", "y=constant:2"], "seed": 4}
    written = simulate(tmp_path / "a", **chosen)
    assert pl.read_csv(written["items"]).height == 30
    assert pl.read_csv(written["raters"])["pool"].unique().sort().to_list() == ["br", "jp"]
    truth = pl.read_csv(written["truth_judges"])
    assert truth.filter(judge="x")["w.br"].item() == 0.8
    assert pl.read_csv(written["judgments"]).filter(judge="y")["rating"].unique().to_list() == [2]
    simulate(tmp_path / "b" / "a", **chosen)
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b" / "a")


def test_a_simulation_is_replaced_but_files_of_others_are_not(tmp_path):
    simulate(tmp_path, items=12)
    simulate(tmp_path, items=18, force=True)
    assert pl.read_csv(tmp_path / "items.csv").height == 18
    other = tmp_path / "mine"
    other.mkdir()
    (other / "notes.txt").write_text("keep")
    simulate(other, items=12)
    assert (other / "notes.txt").read_text() == "keep"
    (other / "corpus.toml").write_text("name = 'real'")
    before = files_of(other)
    for force in (False, True):
        with pytest.raises(UsageError, match="items"):
            simulate(other, items=18, force=force)
    assert files_of(other) == before


@pytest.mark.parametrize("changed", [{"items": 18}, {"seed": 4}, {"judges": ["x=compressed"]}])
def test_another_simulation_is_replaced_only_when_asked_for(tmp_path, changed):
    first = {"items": 12, "seed": 3}
    simulate(tmp_path, **first)
    before = files_of(tmp_path)
    (tmp_path / "items.csv").unlink()
    simulate(tmp_path, **first)
    simulate(tmp_path, spec=tmp_path / "world.toml")
    assert files_of(tmp_path) == before
    with pytest.raises(UsageError, match="--force"):
        simulate(tmp_path, **{**first, **changed})
    assert files_of(tmp_path) == before
    simulate(tmp_path, **{**first, **changed}, force=True)
    assert files_of(tmp_path) != before


@pytest.mark.parametrize("content", [None, "seed = ", "pools = 1"])
def test_a_simulation_whose_description_cannot_be_read_is_another(tmp_path, content):
    simulate(tmp_path, items=12)
    spec = tmp_path / "world.toml"
    spec.unlink() if content is None else spec.write_text(content)
    with pytest.raises(UsageError, match="--force"):
        simulate(tmp_path, items=12)
    simulate(tmp_path, items=12, force=True)


WRONG = [
    ({"items": 11}, "12"),
    ({"raters": 0}, "0"),
    ({"pools": "us"}, "us"),
    ({"pools": "us,us"}, "us,us"),
    ({"pools": "us,../x"}, "../x"),
    ({"judges": ["compressed"]}, "compressed"),
    ({"judges": ["a=compressed", "a=copy"]}, "a"),
    ({"judges": ["a=angel"]}, "angel"),
]


@pytest.mark.parametrize(("options", "named"), WRONG)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_options_that_cannot_be_met_are_refused_before_anything_is_written(tmp_path, options, named, lang):
    with pytest.raises(UsageError) as caught:
        simulate(tmp_path / "out", **options)
    assert named in caught.value.message(lang)
    assert not (tmp_path / "out").exists()


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(UsageError, match="folder"):
        simulate(tmp_path / "out")
