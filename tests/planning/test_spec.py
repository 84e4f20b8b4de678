"""Worlds from files: read, written, refused; wanted reliability and divergence; what an audit recognises."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voirdire.app.inputs import read_inputs
from voirdire.app.simulate import simulate
from voirdire.cli.main import run
from voirdire.errors import InputError, UsageError
from voirdire.scales import Scale
from voirdire.simulation.calibration import calibrated, planted_pools
from voirdire.simulation.judges import Character, Condition
from voirdire.simulation.presets import factorial, paired_world
from voirdire.simulation.spec import read_spec
from voirdire.simulation.spec_text import spec_text
from voirdire.simulation.world import draw_humans, draw_judges

SMALL = """
items = 24
[[pool]]
name = "us"
[[pool]]
name = "cn"
[[judge]]
name = "m"
"""
EVERYTHING = {
    "items": 36,
    "raters": "5,3",
    "judges": ["a=compressed", 'b "q"=oriented_cn'],
    "personas": "us,cn",
    "details": "basic,advanced",
    "languages": "en,zh",
    "demonstrations": ["aa=-0.3", "ac"],
    "origins": ["a=us", 'b "q"=cn'],
    "origin_shifts": ["us=0.25"],
    "missing": 0.05,
    "repeats": 2,
    "layout": "nested",
    "seed": 9,
}


def write(folder, text):
    file = folder / "world.toml"
    file.write_text(text, encoding="utf-8")
    return file


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "corpus.toml"}


def test_a_written_world_makes_the_same_files(tmp_path):
    simulate(tmp_path / "a", **EVERYTHING, reliability="0.8,0.7", divergence=1.2)
    simulate(tmp_path / "b", spec=tmp_path / "a" / "world.toml")
    assert bytes_of(tmp_path / "a") == bytes_of(tmp_path / "b")


def test_two_labels_are_written_and_read(tmp_path):
    scale = Scale("nominal", labels=("fine", "bad"), positive="bad")
    world = paired_world(items=12, scale=scale)
    again = read_spec(write(tmp_path, spec_text(world, 3)))
    assert (again.world, again.seed) == (replace(world, side=()), 3)


def test_an_audit_recognises_the_factors_the_design_and_the_covariate(tmp_path):
    simulate(tmp_path, **EVERYTHING)
    judgments = read_inputs({"folder": tmp_path}).judgments
    assert set(judgments.factors) == {"persona", "detail", "language", "design"}
    assert judgments.key_factors == ("design",)
    assert judgments.covariates == ("origin",)
    assert judgments.cells.height == 2 * 10 * 3
    truth = json.loads((tmp_path / "truth.json").read_text("utf-8"))
    planted = {(cell["judge"], cell["condition"]) for cell in truth["cells"]}
    assert planted == set(judgments.cells.select("judge", "condition").iter_rows())


def test_truth_holds_what_was_planted(tmp_path):
    simulate(tmp_path, **EVERYTHING)
    truth = json.loads((tmp_path / "truth.json").read_text("utf-8"))
    cells = {(cell["judge"], cell["condition"]): cell for cell in truth["cells"]}
    neutral, persona = cells['b "q"', "neutral_en/base"], cells['b "q"', "us_basic_en/aa"]
    assert neutral["orientation"] == [{"pool": "us", "pool_b": "cn", "w": 0.8, "pi": 0.0}]
    assert persona["orientation"][0]["w"] == pytest.approx(0.6)
    assert persona["offset"] == pytest.approx(-0.3)
    assert cells["a", "neutral_en/base"]["offset"] == 0.25
    assert persona["factors"] == {"persona": "us", "detail": "basic", "language": "en", "design": "aa"}
    assert [pool["raters"] for pool in truth["pools"]] == [5, 3]


def test_a_random_or_constant_judge_has_no_orientation_in_the_truth(tmp_path):
    simulate(tmp_path, items=12, judges=["r=random", "c=constant:2"])
    cells = json.loads((tmp_path / "truth.json").read_text("utf-8"))["cells"]
    assert {cell["orientation"][0]["undefined"] for cell in cells} == {"no_positive_relation"}


@settings(max_examples=8, deadline=None)
@given(st.floats(0.4, 0.97), st.floats(0.4, 0.97), st.floats(0.2, 1.6), st.integers(1, 9))
def test_pools_come_to_the_wanted_reliability_and_divergence(first, second, gap, raters):
    world = calibrated(paired_world(raters=raters), {"us": first, "cn": second}, gap)
    found = planted_pools(world)
    assert found.reliability["us"] == pytest.approx(first, abs=0.005)
    assert found.reliability["cn"] == pytest.approx(second, abs=0.005)
    assert found.gap_rms == pytest.approx(gap, abs=0.01)


def test_drawn_pools_have_the_planted_reliability():
    world = replace(calibrated(paired_world(items=6000), {"us": 0.8, "cn": 0.6}, 1.2), side=(), judges={})
    humans = draw_humans(world, np.random.default_rng(1))
    for place, (wanted, block) in enumerate(zip((0.8, 0.6), humans.ratings["q1"], strict=True)):
        noise = block.var(1, ddof=1).mean() / 5
        assert 1 - noise / humans.consensus()[place].var(ddof=1) == pytest.approx(wanted, abs=0.03)
    gap = humans.expected[:, 0] - humans.expected[:, 1]
    assert np.sqrt(np.mean(gap**2)) == pytest.approx(1.2, abs=0.06)


def test_noise_that_would_level_the_pools_out_is_refused():
    with pytest.raises(UsageError, match="apart"):
        calibrated(paired_world(raters=1), {"us": 0.3, "cn": 0.3}, 2.5)


def test_pools_of_one_mind_and_of_equal_noise_are_not_apart():
    assert planted_pools(calibrated(paired_world(), divergence=0.0)).gap_rms == 0.0


def test_a_group_moves_its_judges_and_sway_scales_the_pull():
    world = paired_world(items=12, judges={"a": Character(), "b": Character(sway=0.0)})
    world = replace(world, origins={"a": "x"}, groups=(Condition("x", offset=0.5),))
    persona = Condition("us", pull={"us": 0.3})
    assert world.planted("a", persona).offset == 0.5
    assert world.planted("a", persona).weights == (0.8, 0.2)
    assert world.planted("b", persona).offset == 0.0
    assert world.planted("b", persona).weights == (0.5, 0.5)


def test_absent_judgments_have_no_row(tmp_path):
    text = SMALL.replace('name = "m"', 'name = "m"\nabsent = 0.5\nrefused = 0.2')
    written = simulate(tmp_path / "out", spec=write(tmp_path, text))
    rows = pl.read_csv(written["judgments"])
    assert rows.height < 20
    assert set(rows["status"]) == {"ok", "refused"}


def test_demonstrations_shift_ratings_in_their_design_only():
    world = paired_world(items=600, judges={"a": Character(noise=0.1)})
    world = replace(world, designs=(Condition("base"), Condition("aa", offset=-0.5)), side=())
    rng = np.random.default_rng(0)
    ratings = draw_judges(draw_humans(world, rng), rng).ratings[0, :, 0]
    assert ratings[1].mean() - ratings[0].mean() == pytest.approx(-0.5, abs=0.12)


def test_conditions_cross_personas_details_and_languages():
    assert [condition.name for condition in factorial([], [], [], 0.2)] == ["neutral"]
    made = factorial(["us", "cn"], ["basic", "advanced"], ["en", "zh"], 0.2)
    assert len({condition.name for condition in made}) == len(made) == 10
    assert made[0].factors == {"persona": "none", "detail": "none", "language": "en"}
    assert made[-1].pull == {"cn": 0.2}


BROKEN = [
    ("colour = 3\n" + SMALL, "unknown", "colour"),
    (SMALL.replace("24", '"many"'), "kind.number", "items"),
    (SMALL.replace("24", "2.5"), "kind.whole", "items"),
    (SMALL + "malformed = -1\n", "range", "malformed"),
    (SMALL + "noise = true\n", "kind.number", "noise"),
    (SMALL + "weights = [0.5]\n", "kind.for_each", "weights"),
    (SMALL + "weights = {us = 1.0}\n", "missing", "weights.cn"),
    (SMALL + "image = {mars = 1.0}\n", "known", "mars"),
    (SMALL + "malformed = 0.7\nrefused = 0.7\n", "shares", "judge 1"),
    (SMALL + '[[judge]]\nname = "m"\n', "twice", "judge 2"),
    (SMALL.replace('name = "m"', ""), "missing", "judge 1: name"),
    (SMALL.replace('[[pool]]\nname = "cn"\n', ""), "pools", "world.toml"),
    (SMALL.replace('[[judge]]\nname = "m"\n', ""), "judges", "world.toml"),
    (SMALL.replace("items = 24", ""), "no_items", "world.toml"),
    (SMALL + '[[stratum]]\nculture = "us"\nmeans = 3\nitems = 5\n', "items_and_strata", "world.toml"),
    ('scale = {level = "ordinal", low = 5, high = 1}\n' + SMALL, "ends", "world.toml"),
    ('scale = {level = "nominal", labels = ["a", "b", "c"]}\n' + SMALL, "two_labels", "world.toml"),
    ('noise = 3\n' + SMALL, "table", "noise"),
    ('judge = 3\n' + SMALL.replace('[[judge]]\nname = "m"\n', ""), "kind.tables", "judge"),
    (SMALL.replace('"m"', '"two\\nlines"'), "kind.text", "name"),
    (SMALL + 'random = "yes"\n', "kind.flag", "random"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "key", "named"), BROKEN)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_broken_world_is_refused_by_the_name_of_its_key(tmp_path, text, key, named, lang):
    with pytest.raises(UsageError) as caught:
        read_spec(write(tmp_path, text))
    assert caught.value.key == f"simulation.spec.{key}"
    assert named in caught.value.message(lang)


def test_files_that_are_no_toml_are_refused(tmp_path):
    with pytest.raises(InputError, match="TOML"):
        read_spec(write(tmp_path, "a = = b"))
    with pytest.raises(InputError, match="nowhere"):
        read_spec(tmp_path / "nowhere.toml")


WRONG = [
    ({"reliability": 1.2}, "1.2"),
    ({"reliability": "0.8,0.7,0.6"}, "0.6"),
    ({"divergence": 9.0}, "9"),
    ({"layout": "round"}, "round"),
    ({"repeats": 0}, "0"),
    ({"missing": 1.0}, "1"),
    ({"personas": "mars"}, "mars"),
    ({"origins": ["nobody=us"]}, "nobody"),
    ({"origin_shifts": ["us=1"]}, "us"),
    ({"demonstrations": ["aa=much"]}, "aa=much"),
    ({"raters": "5,x"}, "5,x"),
]


@pytest.mark.parametrize(("options", "named"), WRONG)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_options_that_cannot_be_met(tmp_path, options, named, lang):
    with pytest.raises(UsageError) as caught:
        simulate(tmp_path / "out", items=24, **options)
    assert named in caught.value.message(lang)
    assert not (tmp_path / "out").exists()


def test_options_beside_a_world_are_refused(tmp_path, capsys):
    file = write(tmp_path, SMALL)
    out = ["--out", str(tmp_path / "out")]
    assert run(["simulate", "--spec", str(file), *out, "--items", "30", "--judge", "x=copy"]) == 3
    assert "--items, --judge" in capsys.readouterr().err
    assert run(["simulate", "--spec", str(file), *out, "--seed", "5"]) == 0
