"""The fixed-effects regression against statsmodels with all dummies and against pyfixest; the judge as the unit."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import numpy as np
import pandas as pd
import pyfixest
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from voirdire.stats import judge_unit
from voirdire.stats.judge_unit import (
    enough_judges,
    item_slopes,
    judge_effects,
    permutation_test,
    slope_t,
)
from voirdire.stats.regression import (
    FACTORS,
    ItemCube,
    dummies,
    explained,
    item_effect,
    partial,
    pseudo_inverse,
    r_squared,
)

JUDGES, CONDITIONS, ITEMS = 6, 4, 23
SSC: dict[str, dict[str, Any]] = {
    "cr0": {"k_adj": False, "G_adj": False},
    "g1": {"k_adj": False, "G_adj": True},
    "cr1_nested": {"k_adj": True, "k_fixef": "nonnested", "G_adj": True},
    "cr1_full": {"k_adj": True, "k_fixef": "full", "G_adj": True},
}


class World:
    """Cells of judges in conditions, a covariate of the judges, and outcomes with effects of everything."""

    def __init__(self, missing: float, weighted: bool = False, numeric: bool = False, seed: int = 1) -> None:
        rng = np.random.default_rng(seed)
        self.judge = np.repeat([f"j{k}" for k in range(JUDGES)], CONDITIONS)
        self.condition = np.tile([f"c{k}" for k in range(CONDITIONS)], JUDGES)
        by_judge = np.array([7.0, 1.5, 70.0, 2.0, 13.0, 405.0]) if numeric else np.array([1.0, 0, 1, 0, 0, 1])
        self.by_judge = by_judge
        self.x = np.repeat(by_judge, CONDITIONS)
        y = rng.normal(0, 1, (JUDGES * CONDITIONS, ITEMS)) + rng.normal(0, 2, ITEMS)
        y += 0.3 * rng.normal(0, 1, JUDGES).repeat(CONDITIONS)[:, None] + np.tile([0, 0.5, -1, 2], JUDGES)[:, None]
        lost = rng.random(y.shape) < missing
        if missing:
            lost[:, 3] = True
            lost[:, 4] = np.arange(len(y)) != 5
            lost[2] = True
        self.y = np.where(lost, np.nan, y)
        self.weights = rng.uniform(0.2, 3, y.shape) if weighted else None
        self.cube = ItemCube.of(self.y, self.weights)
        self.conditions = dummies(self.condition)[0]

    def frame(self) -> pd.DataFrame:
        cell, item = np.nonzero(~np.isnan(self.y))
        weights = np.ones(self.y.shape) if self.weights is None else self.weights
        columns = {"y": self.y[cell, item], "x": self.x[cell], "w": weights[cell, item], "item": item}
        return pd.DataFrame({**columns, "condition": self.condition[cell], "judge": self.judge[cell]})


WORLDS = {
    "balanced": World(0),
    "missing": World(0.4),
    "weighted": World(0.3, weighted=True),
    "number": World(0.2, numeric=True),
}


@pytest.mark.filterwarnings("ignore:The inplace keyword")
@pytest.mark.parametrize("kind", list(FACTORS))
@pytest.mark.parametrize("name", list(WORLDS))
def test_equals_pyfixest(name: str, kind: str) -> None:
    world = WORLDS[name]
    weights = {} if world.weights is None else {"weights": "w"}
    fit = pyfixest.feols(
        "y ~ x | item + condition", world.frame(), vcov={"CRV1": "item"}, ssc=pyfixest.ssc(**SSC[kind]),
        fixef_rm="none", demeaner=pyfixest.MapDemeaner(fixef_tol=1e-14, fixef_maxiter=1_000_000), **weights,
    )  # fmt: skip
    ours = item_effect(world.cube, world.x, world.conditions)
    assert ours is not None
    assert ours.coef == pytest.approx(fit.coef().iloc[0], rel=1e-9)
    assert ours.se(kind) == pytest.approx(fit.se().iloc[0], rel=1e-9)


@pytest.mark.parametrize("name", list(WORLDS))
def test_equals_statsmodels_with_dummies(name: str) -> None:
    world = WORLDS[name]
    frame = world.frame()
    design = pd.get_dummies(frame[["item", "condition"]].astype(str), drop_first=True, dtype=float)
    design = sm.add_constant(design.assign(x=frame.x))
    fit = sm.WLS(frame.y, design, weights=frame.w).fit(cov_type="cluster", cov_kwds={"groups": frame.item})
    ours = item_effect(world.cube, world.x, world.conditions)
    assert ours is not None
    assert ours.coef == pytest.approx(fit.params["x"], rel=1e-9)
    assert ours.se("cr1_full") == pytest.approx(fit.bse["x"], rel=1e-9)
    assert (ours.n, ours.n_items, ours.df) == (len(frame), frame.item.nunique(), frame.item.nunique() - 1)
    assert ours.influence.sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("terms", [[], ["judge"], ["condition"], ["x"], ["judge", "condition"]])
@pytest.mark.parametrize("name", list(WORLDS))
def test_r_squared_equals_statsmodels(name: str, terms: list[str]) -> None:
    world = WORLDS[name]
    frame = world.frame()
    columns = [frame[term] if term == "x" else frame[term].astype(str) for term in ["item", *terms]]
    columns[0] = columns[0].astype(str)
    design = sm.add_constant(pd.get_dummies(pd.concat(columns, axis=1), drop_first=True, dtype=float))
    fit = sm.WLS(frame.y, design, weights=frame.w).fit()
    ours = {"judge": dummies(world.judge)[0], "condition": world.conditions, "x": world.x[:, None]}
    more = explained(world.cube, np.hstack([ours[term] for term in terms])) if terms else None
    share = r_squared(world.cube, more)
    assert share.r2 == pytest.approx(fit.rsquared, abs=1e-9)
    assert share.adjusted == pytest.approx(fit.rsquared_adj, abs=1e-9)


def test_item_effects_alone_are_paired_differences() -> None:
    world = WORLDS["balanced"]
    ours = item_effect(world.cube, world.x)
    paired = world.y[world.x == 1].mean(0) - world.y[world.x == 0].mean(0)
    assert ours is not None
    assert ours.coef == pytest.approx(paired.mean(), abs=1e-12)
    assert ours.se("g1") == pytest.approx(stats.sem(paired), rel=1e-12)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), share=st.floats(0, 0.5))
def test_what_must_not_matter(seed: int, share: float) -> None:
    """The order of items and cells, a constant, the sign of the outcome, the unit of the regressor, empty items."""
    world = World(0, seed=seed)
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(world.y.shape) < share, np.nan, world.y)
    first = item_effect(ItemCube.of(y), world.x, world.conditions)
    assert first is not None
    rows, columns = rng.permutation(len(y)), rng.permutation(y.shape[1])
    moved = item_effect(ItemCube.of(y[rows][:, columns] + 5), world.x[rows], world.conditions[rows])
    turned = item_effect(ItemCube.of(-y), 2 * world.x + 1, world.conditions)
    longer = item_effect(ItemCube.of(np.hstack([y, np.full((len(y), 2), np.nan)])), world.x, world.conditions)
    assert moved is not None
    assert turned is not None
    assert longer is not None
    for kind in FACTORS:
        expected = pytest.approx(first.se(kind), rel=1e-9)
        assert (moved.se(kind), 2 * turned.se(kind), longer.se(kind)) == (expected, expected, expected)
    expected = pytest.approx(first.coef, rel=1e-8, abs=1e-10)
    assert (moved.coef, -2 * turned.coef, longer.coef) == (expected, expected, expected)


def test_weights_repeat_cells() -> None:
    """A weight of 2 is the cell twice, except where outcomes are counted."""
    world = WORLDS["missing"]
    twice = np.where(world.judge == "j1", 2.0, 1.0)
    weighted = item_effect(ItemCube.of(world.y, np.tile(twice[:, None], ITEMS)), world.x, world.conditions)
    place = np.repeat(np.arange(len(world.y)), twice.astype(int))
    repeated = item_effect(ItemCube.of(world.y[place]), world.x[place], world.conditions[place])
    assert weighted is not None
    assert repeated is not None
    assert weighted.coef == pytest.approx(repeated.coef, rel=1e-10)
    assert weighted.se("g1") == pytest.approx(repeated.se("g1"), rel=1e-10)
    assert weighted.n < repeated.n


def test_inseparable_regressors() -> None:
    world = WORLDS["balanced"]
    assert item_effect(world.cube, np.ones(len(world.x))) is None
    assert item_effect(world.cube, (world.condition == "c1") * 1.0, world.conditions) is None
    assert item_effect(ItemCube.of(np.full((4, 3), np.nan)), [0, 1, 0, 1]) is None
    alone = np.where(np.eye(4, 8, dtype=bool), 1.0, np.nan)
    assert item_effect(ItemCube.of(alone), [0, 1, 0, 1]) is None


def test_degenerate_shares() -> None:
    assert np.isnan(r_squared(ItemCube.of(np.full((3, 4), 2.5))).r2)
    nothing = ItemCube.of(np.full((3, 4), np.nan))
    assert np.isnan(r_squared(nothing).r2)
    assert explained(nothing, np.eye(3)).rank == 0
    single = r_squared(ItemCube.of([[1.0, 2.0, 4.0]]))
    assert single.r2 == pytest.approx(1)
    assert np.isnan(single.adjusted)
    one_item = ItemCube.of([[1.0], [2.0], [4.0]])
    assert r_squared(one_item).r2 == pytest.approx(0)
    effect = item_effect(one_item, [0, 0, 1])
    assert effect is not None
    assert effect.coef == pytest.approx(2.5)
    assert np.isnan(effect.se("g1"))


def test_negative_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="weights"):
        ItemCube.of(np.ones((2, 2)), np.array([[1.0, -1], [1, 1]]))


def test_rank_of_collinear_columns() -> None:
    world = WORLDS["balanced"]
    judges = dummies(world.judge)[0]
    assert explained(world.cube, judges).rank == JUDGES - 1
    assert explained(world.cube, np.hstack([judges, judges, world.x[:, None]])).rank == JUDGES - 1
    assert pseudo_inverse(np.empty((0, 0)))[1] == 0


def by_dummies(world: World, covariates: list[np.ndarray]) -> list[float]:
    """The coefficients of covariates of judges, each by least squares on what all dummies leave of it."""
    frame = world.frame()
    others = pd.get_dummies(frame[["item", "condition"]].astype(str), dtype=float).to_numpy()
    judge = pd.get_dummies(frame.judge, dtype=float).reindex(columns=[f"j{k}" for k in range(JUDGES)]).to_numpy()
    x = judge @ np.array(covariates).T
    x -= others @ np.linalg.lstsq(others, x, rcond=None)[0]
    return list(x.T @ frame.y.to_numpy() / (x**2).sum(0))


@pytest.mark.parametrize("name", ["balanced", "missing", "number"])
def test_permutation_equals_a_loop(name: str) -> None:
    world = WORLDS[name]
    cross, right = partial(world.cube, dummies(world.judge)[0], world.conditions)
    found = permutation_test(cross, right, world.by_judge, np.random.default_rng(0))
    if name == "number":
        arranged = [np.array(order) for order in permutations(world.by_judge)]
        ours = judge_unit._coefficients(np.array(arranged), cross, right)
        theirs = by_dummies(world, arranged)
        assert ours == pytest.approx(theirs, rel=1e-7)
        observed = abs(theirs[0])
        assert found.p == pytest.approx(np.mean(np.abs(theirs) >= observed - 1e-9))
        assert (found.permutations, found.exact) == (720, True)
        return
    observed = abs(by_dummies(world, [world.by_judge])[0])
    expected = np.mean(np.abs(by_dummies(world, two_levels())) >= observed - 1e-9)
    assert (found.p, found.permutations, found.exact) == (pytest.approx(expected), 20, True)


def two_levels() -> list[np.ndarray]:
    return [np.isin(np.arange(JUDGES), chosen).astype(float) for chosen in combinations(range(JUDGES), 3)]


def test_drawn_permutations_are_near_all(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    effects, covariate = rng.normal(0, 1, 12), np.repeat([0, 1], 6)
    cross = np.eye(12) - 1 / 12
    exact = permutation_test(cross, cross @ effects, covariate, rng)
    judge_unit._arrangements.cache_clear()
    monkeypatch.setattr(judge_unit, "MOST_EXACT", 900)
    drawn = permutation_test(cross, cross @ effects, covariate, np.random.default_rng(4))
    judge_unit._arrangements.cache_clear()
    assert (exact.permutations, exact.exact) == (924, True)
    assert (drawn.permutations, drawn.exact) == (judge_unit.SAMPLED, False)
    assert drawn.p == pytest.approx(exact.p, abs=0.02)


def test_permutation_is_exact_under_the_null() -> None:
    """Over all arrangements of one data set the p values are uniform on their grid."""
    rng = np.random.default_rng(5)
    cross = np.eye(8) - 1 / 8
    right = cross @ rng.normal(0, 1, 8)
    half = [np.isin(np.arange(8), chosen).astype(float) for chosen in combinations(range(8), 4)]
    p = np.array([permutation_test(cross, right, covariate, rng).p for covariate in half])
    assert [float((p <= level).mean()) <= level + 1e-12 for level in (0.03, 0.05, 0.1, 0.5)] == [True] * 4
    assert (p <= 0.1).mean() > 0.05


def test_constant_covariate_has_no_test() -> None:
    cross = np.eye(4) - 1 / 4
    found = permutation_test(cross, cross @ np.arange(4.0), np.ones(4), np.random.default_rng(0))
    assert (found.p, found.undefined) == (None, "not_separable")


@pytest.mark.parametrize("name", ["balanced", "missing"])
def test_judge_effects_equal_statsmodels(name: str) -> None:
    world = WORLDS[name]
    effects = judge_effects(*partial(world.cube, dummies(world.judge)[0], world.conditions))
    frame = world.frame()
    design = pd.get_dummies(frame[["item", "condition", "judge"]].astype(str), drop_first=True, dtype=float)
    fit = sm.OLS(frame.y, sm.add_constant(design)).fit()
    theirs = np.array([0, *(fit.params[f"judge_j{k}"] for k in range(1, JUDGES))])
    assert effects is not None
    assert effects == pytest.approx(theirs - theirs.mean(), abs=1e-9)
    if name == "balanced":
        means = np.array([world.y[world.judge == f"j{k}"].mean() for k in range(JUDGES)])
        assert effects == pytest.approx(means - means.mean(), abs=1e-9)


def test_judges_that_share_no_item_cannot_be_compared() -> None:
    y = np.full((4, 4), np.nan)
    y[:2, :2], y[2:, 2:] = 1.0, 2.0
    assert judge_effects(*partial(ItemCube.of(y), np.eye(4), np.ones((4, 1)))) is None


def test_slope_t_equals_scipy() -> None:
    rng = np.random.default_rng(6)
    values, two, many = rng.normal(0, 1, 9), np.array([0, 0, 0, 0, 1, 1, 1, 1, 1]), rng.normal(0, 1, 9)
    groups = stats.ttest_ind(values[two == 1], values[two == 0])
    line = stats.linregress(many, values)
    ours = slope_t(values, two), slope_t(values, many)
    assert (ours[0].t, ours[0].p, ours[0].df) == (pytest.approx(groups.statistic), pytest.approx(groups.pvalue), 7)
    assert (ours[1].t, ours[1].p) == (pytest.approx(line.slope / line.stderr), pytest.approx(line.pvalue))


def test_slope_t_without_an_answer() -> None:
    assert slope_t([1.0, 2.0], [0, 1]).undefined == "few_judges"
    assert slope_t([1.0, 1, 2, 2], [0, 0, 1, 1]).undefined == "no_spread"
    assert slope_t([1.0, 1, 1, 1], [0, 0, 1, 1]).undefined == "no_spread"
    assert slope_t([1.0, 2, 3, 4], [1, 1, 1, 1]).undefined == "not_separable"


def test_item_slopes_equal_a_loop() -> None:
    world = WORLDS["missing"]
    known = ~np.isnan(world.y)
    ours = item_slopes(np.nan_to_num(world.y), known.astype(float), world.x)
    for item in range(ITEMS):
        y, x = world.y[known[:, item], item], world.x[known[:, item]]
        expected = y[x == 1].mean() - y[x == 0].mean() if len(set(x)) == 2 else np.nan
        assert ours[item] == pytest.approx(expected, abs=1e-10, nan_ok=True)
    assert np.isnan(ours[[3, 4]]).all()


def test_enough_judges() -> None:
    assert enough_judges([0, 1] * 4)
    assert not enough_judges([0] * 3 + [1] * 5)
    assert not enough_judges([7, 8, 70, 13])
    assert enough_judges(np.arange(8))
