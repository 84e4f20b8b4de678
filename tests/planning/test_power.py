"""Power: formulas against exact sums, against simulated corpora, and in their limits."""

from __future__ import annotations

import itertools
import json

import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

from voirdire.analysis.power import PowerOptions, power_table
from voirdire.analysis.power_plan import plan_of
from voirdire.analysis.power_simulation import item_p, p_values, pool_arrays, simulated_world
from voirdire.app.power import power as planned
from voirdire.cli.main import run
from voirdire.errors import UsageError
from voirdire.simulation.calibration import calibrated
from voirdire.simulation.judges import Character
from voirdire.simulation.presets import paired_world
from voirdire.simulation.world import draw_humans, draw_judges
from voirdire.stats.power import (
    Noise,
    Plan,
    StratumNodes,
    components,
    consensus,
    detectable,
    judge_levels,
    orientation,
    power,
)

LEVELS = np.array([1.0, 2.0, 3.0])
NOISE = Noise(0.3, 0.4, 0.5)
FAST = {"items": (60, 240), "simulations": 0}


def small_plan() -> Plan:
    raters = np.array([[[0.2, 0.5, 0.3]], [[0.6, 0.3, 0.1]]])
    other = np.array([[[0.1, 0.1, 0.8]], [[0.3, 0.4, 0.3]]])
    strata = (
        StratumNodes(0.6, np.ones(1), raters, np.array([1.8]), 0),
        StratumNodes(0.4, np.ones(1), other, np.array([2.4]), 1),
    )
    return Plan(LEVELS, strata, (2, 3), NOISE)


def by_listing(plan: Plan, statistic: str) -> tuple[float, float]:
    """Expectation and total variance of one rating's value, every rating of every rater listed."""
    total = square = mass = 0.0
    for stratum in plan.strata:
        chance = judge_levels(stratum.latent, plan.noise, plan.levels)
        nodes = np.polynomial.hermite_e.hermegauss(5)[1]
        nodes = nodes / nodes.sum()
        judge = np.einsum("u,v,uvl->l", nodes, nodes, chance[0])
        pools = [
            [
                (float(np.mean([LEVELS[i] for i in picked])), float(np.prod([stratum.raters[k, 0, i] for i in picked])))
                for picked in itertools.product(range(3), repeat=plan.n[k])
            ]
            for k in range(2)
        ]
        for (a, p), (b, q), (level, r) in itertools.product(*pools, zip(LEVELS, judge, strict=True)):
            if statistic == "tilt" and abs(a - b) < 1e-9:
                continue
            value = abs(level - a) - abs(level - b)
            value = value if statistic == "delta" else -value / abs(a - b)
            weight = stratum.share * p * q * r
            total, square, mass = total + weight * value, square + weight * value**2, mass + weight
    mean = total / mass
    return mean, (square - 2 * mean * total + mean**2 * mass) / mass**2


@pytest.mark.parametrize("statistic", ["delta", "tilt"])
def test_moments_are_those_of_every_rating_listed(statistic):
    found = components(small_plan(), statistic)
    mean, variance = by_listing(small_plan(), statistic)
    assert found.expected == pytest.approx(mean, abs=1e-10)
    assert found.between + found.item + found.own + found.fresh == pytest.approx(variance, abs=1e-10)
    assert min(found.item, found.own, found.fresh, found.between) >= 0


def test_a_mean_of_many_ratings_keeps_its_mean_and_variance():
    chance = np.array([[0.1, 0.2, 0.3, 0.25, 0.15]])
    levels = np.arange(1.0, 6.0)
    mean, variance = float(chance[0] @ levels), float(chance[0] @ levels**2 - (chance[0] @ levels) ** 2)
    for n in (1, 4, 10, 60):
        values, weights = consensus(chance, levels, n)
        assert weights.sum() == pytest.approx(1)
        assert float(weights[0] @ values) == pytest.approx(mean)
        assert float(weights[0] @ values**2) - mean**2 == pytest.approx(variance / n, rel=0.15 if n > 10 else 1e-9)


def test_repeats_and_judges_average_out_their_own_parts_only():
    found = components(small_plan(), "delta")
    assert found.variance(1, 10**9, 1) == pytest.approx(found.item)
    assert found.variance(1, 1, 10**9) == pytest.approx(found.item + found.own)
    assert found.variance(100) == pytest.approx(found.variance(1) / 100)


def test_power_of_a_z_test():
    assert power(0.0, 1.0, 1.0, 0.05) == pytest.approx(0.05)
    assert power(-2.0, 1.0, 1.0) == power(2.0, 1.0, 1.0)
    assert power(1.0, 0.0, 0.1) == 1.0
    effect = detectable(0.3, 0.35, 0.9, 0.01)
    assert power(effect, 0.3, 0.35, 0.01) == pytest.approx(0.9, abs=1e-4)


def test_orientation_is_what_was_planted_and_symmetric():
    base = calibrated(paired_world(judges={}), {"us": 0.85, "cn": 0.85}, 1.5)
    plans = {w: plan_of(base, Character(scale=0.6, weights=(1 - w, w)), NOISE) for w in (0.3, 0.7)}
    low, high = (orientation(plan, (1 - w, w), 0.6) for w, plan in plans.items())
    assert (low.w, high.w) == (pytest.approx(0.3), pytest.approx(0.7))
    assert low.contrast == pytest.approx(-high.contrast, rel=0.01)
    assert low.contrast_error(100) == pytest.approx(high.contrast_error(100), rel=0.02)
    assert low.contrast_error(400) == pytest.approx(low.contrast_error(100) / 2)
    assert high.inflation(1) == 1.0
    assert high.inflation(4) < 1.0


def test_the_planted_judge_has_the_wanted_effect():
    table = power_table(PowerOptions(effects=(("delta", -0.2), ("tilt", 0.15), ("orientation", 0.35)), **FAST))
    for row in table.plans.iter_rows(named=True):
        assert row["expected"] == pytest.approx(row["wanted"], abs=1e-4)
    assert table.divergence == pytest.approx(1.5, abs=0.01)


def test_needed_items_are_the_fewest_that_reach_the_power():
    options = PowerOptions(effects=(("delta", 0.2), ("orientation", 0.7)), raters=(3, 9), repeats=(1, 2), **FAST)
    for row in power_table(options).needed.iter_rows(named=True):
        people = {name: (row[name],) for name in ("raters", "judges", "repeats")}
        again = PowerOptions(
            effects=((row["statistic"], row["wanted"]),), items=(row["items"] - 1, row["items"]), simulations=0,
            reliability=None, divergence=None, world=power_world(options, row["raters"]), **people,
        )  # fmt: skip
        if row["raters"] == 9 and row["statistic"] == "delta":
            continue  # there the judge is set by three raters, and its delta is another
        below, enough = power_table(again).plans.sort("items")["power"].to_list()
        assert below < 0.8 <= enough


def power_world(options: PowerOptions, raters: int):
    world = paired_world(raters=options.raters[0], judges={})
    wanted = {pool.name: options.reliability for pool in world.pools}
    return calibrated(world, wanted, options.divergence)


def test_power_grows_with_items_raters_and_the_effect():
    plans = power_table(
        PowerOptions(
            effects=(("orientation", 0.6), ("orientation", 0.8)), items=(60, 200), raters=(3, 12), simulations=0
        )
    ).plans
    values = plans["power"].to_numpy().reshape(2, 2, 2)  # effect, raters, items
    for axis in range(3):
        assert (np.diff(values, axis=axis) > 0).all()
    assert (np.diff(plans["detectable"].to_numpy().reshape(2, 2, 2), axis=2) < 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("effect", [("delta", 0.2), ("tilt", 0.15), ("orientation", 0.7)])
@pytest.mark.parametrize("more", [{}, {"raters": (2,), "reliability": 0.6}, {"slope": 0.3, "divergence": 2.0}])
def test_formulas_agree_with_simulated_corpora(effect, more):
    options = PowerOptions(effects=(effect,), items=(80, 240), repeats=(1, 3), simulations=250, seed=3, **more)
    plans = power_table(options).plans
    off = (plans["power"] - plans["simulated"]).abs()
    assert off.max() < 0.16
    assert off.mean() < 0.06


def test_the_item_test_is_scipys_where_each_item_is_rated_once():
    world = simulated_world(paired_world(judges={}), Character(weights=(0.8, 0.2)), NOISE, 90, 1, 1)
    rng = np.random.default_rng(5)
    humans = draw_humans(world, rng)
    ratings = draw_judges(humans, rng).ratings[:, 0].transpose(0, 2, 1)
    pools = pool_arrays(humans)
    differences = np.abs(ratings[0, :, 0] - pools.mean[0]) - np.abs(ratings[0, :, 0] - pools.mean[1])
    assert item_p(pools, ratings, "delta") == pytest.approx(scipy_stats.ttest_1samp(differences, 0).pvalue, rel=1e-9)


def test_a_constant_judge_between_equal_pools_is_never_found():
    world = simulated_world(paired_world(judges={}), Character(scale=0.0, noise=0.0), Noise(0, 0, 0), 30, 1, 1)
    assert list(p_values(world, "orientation", 2, np.random.default_rng(0))) == [1.0, 1.0]


WRONG = [
    ({"delta": [9.0]}, "unreachable"),
    ({"items": "60,many"}, "numbers"),
    ({"items": 5}, "least"),
    ({"power": 1.0}, "share"),
    ({"common": 0.7}, "common"),
    ({"slope": 0.0}, "positive"),
    ({"colour": 1}, "option"),
    *(({"orientation": [w]}, "weight") for w in (1.5, -0.2, 0.0, 1.0, 0.5, float("nan"))),
]


@pytest.mark.parametrize(("options", "key"), WRONG)
def test_plans_that_cannot_be(options, key):
    with pytest.raises(UsageError) as caught:
        planned(simulations=0, **options)
    assert caught.value.key == f"power.error.{key}"
    assert all(caught.value.message(lang) for lang in ("en", "zh"))


def test_a_world_of_ones_own(tmp_path):
    file = tmp_path / "w.toml"
    pools = "".join(f'[[pool]]\nname = "{name}"\n' for name in "abc")
    judge = '[[judge]]\nname = "m"\n'
    file.write_text(f"items = 40\n{pools}{judge}")
    with pytest.raises(UsageError, match="two pools"):
        planned(spec=file, simulations=0)
    two = pools.replace('[[pool]]\nname = "c"\n', "")
    file.write_text(f'scale = {{level = "interval", low = 0, high = 1}}\nitems = 40\n{two}{judge}')
    with pytest.raises(UsageError, match="levels"):
        planned(spec=file, simulations=0)
    file.write_text(f"items = 40\n{two}{judge}")
    assert planned(spec=file, simulations=0, items=50).plans.height == 1


def test_the_command(tmp_path, capsys):
    command = ["power", "--delta", "0.3", "--orientation", "0.7", "--items", "60,120", "--simulations", "4"]
    assert run([*command, "--out", str(tmp_path / "a"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["plans"]) == 4
    assert run([*command, "--out", str(tmp_path / "b"), "--lang", "zh"]) == 0
    assert "功效" in capsys.readouterr().out
    names = {path.name for path in (tmp_path / "b").iterdir()}
    assert {"power.html", "power.md", "power.csv", "items-needed.csv", "figures"} == names
    assert pl.read_csv(tmp_path / "b" / "power.csv").equals(pl.read_csv(tmp_path / "a" / "power.csv"))
