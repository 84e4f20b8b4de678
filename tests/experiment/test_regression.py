"""Rows of the R2 and of the effects of covariates, from corpora with planted effects, against plain loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.api as sm
from scipy import stats
from tests.analysis.builders import check_signature, corpus, judgments, rated

from voirdire.analysis.evaluate import contexts_of, judged_cells
from voirdire.analysis.experiment.design import Experiment, read_design
from voirdire.analysis.experiment.r2 import add_r2
from voirdire.analysis.experiment.regression import add_regression
from voirdire.analysis.options import AuditOptions
from voirdire.analysis.rows import Table
from voirdire.stats.tests import benjamini_hochberg, holm
from voirdire.texts import LANGUAGES, has

ITEMS = 40
ORIGIN = {f"j{k}": ("us" if k < 4 else "cn") for k in range(8)}
FACTORS = {"persona": {"n": "none", "u": "us", "c": "cn"}}
Rate = Callable[[int, int, str], float | None]
Found = dict[tuple[str, str, str, str], dict[str, Any]]


def humans(rng: np.random.Generator, culture: bool = True) -> tuple[Any, np.ndarray]:
    """Two pools of three raters, and the consensuses (2, I)."""
    ids = [f"i{k:02d}" for k in range(ITEMS)]
    mean = rng.uniform(1.5, 4.5, (2, ITEMS))
    ratings = np.clip(np.rint(mean[..., None] + rng.normal(0, 0.7, (2, ITEMS, 3))), 1, 5)
    frame = pl.DataFrame({"item_id": ids})
    if culture:
        frame = frame.with_columns(culture=pl.Series(["us", "cn"] * (ITEMS // 2)))
    table = {pool: {ids[i]: ratings[p, i].tolist() for i in range(ITEMS)} for p, pool in enumerate(("us", "cn"))}
    return corpus(rated(table), items=frame), ratings.mean(-1)


def answers(rate: Rate, judges: list[str], conditions: list[str], repeats: int = 1) -> list[Any]:
    return [
        (f"i{i:02d}", judge, condition, repeat, value, "malformed" if value is None else "ok")
        for k, judge in enumerate(judges)
        for condition in conditions
        for i in range(ITEMS)
        for repeat in range(repeats)
        for value in [rate(k, i, condition)]
    ]


def made(
    rate: Rate,
    *,
    covariates: Mapping[str, Mapping[str, str]] | None = None,
    conditions: tuple[str, ...] = ("n", "u", "c"),
    rank_only: tuple[str, ...] = (),
    culture: bool = True,
    repeats: int = 1,
    pair: tuple[str, str] = ("us", "cn"),
    seed: int = 0,
) -> tuple[Found, np.ndarray]:
    """The rows by statistic, params, condition and slice, and the consensuses."""
    source, consensus = humans(np.random.default_rng(seed), culture)
    known = {"origin": ORIGIN} if covariates is None else covariates
    judges = list(next(iter(known.values()))) if known else list(ORIGIN)
    asked = judgments(
        answers(rate, judges, list(conditions), repeats), factors=FACTORS, covariates=known, rank_only=rank_only
    )
    options = AuditOptions(pairs=(pair,), draws=10)
    table = Table({})
    (context,) = contexts_of(source, options, table)
    cells = judged_cells(context, source, asked)
    experiment = Experiment(context, cells, read_design(asked, cells, context.pools, options), source, {})
    add_r2(experiment)
    add_regression(experiment)
    frame = table.frame()
    keys = ["statistic", "params", "condition", "slice"]
    assert frame.select(keys).is_duplicated().sum() == 0
    for row in frame.iter_rows(named=True):
        check_signature(row)
        assert (row["low"] is None) == (row["high"] is None)
        assert sum(row[name] is not None for name in ("value", "label", "undefined")) == 1
        assert row["undefined"] != "not_computable"
        assert all(has(f"undefined.{row['undefined']}", lang) for lang in LANGUAGES if row["undefined"])
        assert all(has(f"statistics.{row['statistic']}.name", lang) for lang in LANGUAGES)
    return {tuple(row[name] for name in keys): row for row in frame.iter_rows(named=True)}, consensus


def noisy(seed: int, lost: float = 0.0) -> Rate:
    """Judges that rate higher the later their name, the origin us one level lower; some judgments are malformed."""
    rng = np.random.default_rng(seed)

    def rate(k: int, i: int, condition: str) -> float | None:
        shift = 0.2 * k - (k < 4) + {"n": 0, "u": 0.5, "c": -0.5}.get(condition, 0)
        value = float(np.clip(round(rng.normal(3 + shift, 1.2)), 1, 5))
        return None if rng.random() < lost else value

    return rate


def kept(rate: Rate) -> tuple[Rate, dict[tuple[int, int, str], float | None]]:
    """A rate that keeps what it gave."""
    given: dict[tuple[int, int, str], float | None] = {}

    def keeping(k: int, i: int, condition: str) -> float | None:
        given[k, i, condition] = rate(k, i, condition)
        return given[k, i, condition]

    return keeping, given


def long(given: Mapping[tuple[int, int, str], float | None], consensus: np.ndarray) -> pd.DataFrame:
    """One row a judgment: delta = abs(r - m_us) - abs(r - m_cn)."""
    rows = [
        (
            k,
            i,
            c,
            abs(value - consensus[0, i]) - abs(value - consensus[1, i]),
            float(k < 4),
            "us" if i % 2 == 0 else "cn",
        )
        for (k, i, c), value in given.items()
        if value is not None
    ]
    return pd.DataFrame(rows, columns=["judge", "item", "condition", "delta", "x", "culture"])


def least_squares(frame: pd.DataFrame, *terms: str) -> Any:
    design = pd.get_dummies(frame[list(terms)].astype(str), drop_first=True, dtype=float)
    return sm.OLS(frame.delta, sm.add_constant(design.assign(x=frame.x)))


US = "covariate=origin,level=us"


@pytest.mark.parametrize("lost", [0.0, 0.35])
@pytest.mark.parametrize("slice_", ["all", "culture=us", "culture=cn"])
def test_effect_equals_least_squares_with_dummies(lost: float, slice_: str) -> None:
    rate, given = kept(noisy(1, lost))
    rows, consensus = made(rate)
    frame = long(given, consensus)
    frame = frame[(slice_ == "all") | (frame.culture == slice_.removeprefix("culture="))]
    fit = least_squares(frame, "item", "condition").fit(cov_type="cluster", cov_kwds={"groups": frame["item"]})
    coef = rows["origin_effect.coef", US, "*", slice_]
    assert coef["value"] == pytest.approx(fit.params["x"], abs=1e-9)
    assert coef["n"] == len(frame)
    se = {kind: rows["origin_effect.se", f"{US},se={kind}", "*", slice_]["value"] for kind in ("g1", "cr1_full")}
    assert se["cr1_full"] == pytest.approx(fit.bse["x"], abs=1e-9)
    t = rows["origin_effect.t", f"{US},se=cr1_full", "*", slice_]["value"]
    assert t == pytest.approx(fit.tvalues["x"], rel=1e-9)
    df = frame["item"].nunique() - 1
    p = rows["origin_effect.p", f"{US},se=cr1_full", "*", slice_]["value"]
    assert p == pytest.approx(2 * stats.t.sf(abs(t), df), rel=1e-9)
    half = stats.t.ppf(0.975, df) * se["g1"]
    assert (coef["low"], coef["high"]) == pytest.approx((coef["value"] - half, coef["value"] + half), abs=1e-9)


@pytest.mark.parametrize("lost", [0.0, 0.35])
def test_r2_equals_least_squares_with_dummies(lost: float) -> None:
    rate, given = kept(noisy(2, lost))
    rows, consensus = made(rate)
    frame = long(given, consensus)
    items = sm.OLS(frame.delta, pd.get_dummies(frame["item"].astype(str), dtype=float)).fit()
    assert rows["r2_decomposition.r2", "", "*", "all"]["value"] == pytest.approx(items.rsquared, abs=1e-9)
    assert rows["r2_decomposition.r2_adjusted", "", "*", "all"]["value"] == pytest.approx(items.rsquared_adj, abs=1e-9)
    gains = {}
    for term, column in (("judge", "judge"), ("condition", "condition"), ("origin", "x")):
        design = pd.get_dummies(frame[["item", column]].astype(str), drop_first=True, dtype=float)
        both = sm.OLS(frame.delta, sm.add_constant(design)).fit()
        gains[term] = both.rsquared - items.rsquared
        place = (f"term={term}", "*", "all")
        assert rows["r2_decomposition.increment", *place]["value"] == pytest.approx(gains[term], abs=1e-9)
        adjusted = rows["r2_decomposition.increment_adjusted", *place]["value"]
        assert adjusted == pytest.approx(both.rsquared_adj - items.rsquared_adj, abs=1e-9)
    share = rows["r2_decomposition.share_of_judge", "term=origin", "*", "all"]["value"]
    assert share == pytest.approx(gains["origin"] / gains["judge"], abs=1e-8)
    assert 0 < share < 1


@pytest.mark.parametrize("lost", [0.0, 0.35])
def test_conditions_are_paired_over_items(lost: float) -> None:
    rate, given = kept(noisy(3, lost))
    rows, consensus = made(rate)
    p = []
    for condition, part in long(given, consensus).groupby("condition"):
        means = part.groupby(["item", "x"]).delta.mean().unstack()
        result = stats.ttest_1samp((means[1.0] - means[0.0]).dropna(), 0)
        row = rows["origin_effect.condition_difference", US, condition, "all"]
        assert row["value"] == pytest.approx((means[1.0] - means[0.0]).mean(), abs=1e-9)
        assert (row["low"], row["high"]) == pytest.approx(tuple(result.confidence_interval(0.95)), abs=1e-7)
        p.append((condition, result.pvalue))
    raw = np.array([value for _, value in p])
    for suffix, expected in (("", raw), ("_holm", holm(raw)), ("_bh", benjamini_hochberg(raw))):
        found = [rows[f"origin_effect.condition_difference_p{suffix}", US, c, "all"] for c, _ in p]
        assert [row["value"] for row in found] == pytest.approx(expected, rel=1e-5)
        assert all(("family=3" in row["signature"]) == bool(suffix) for row in found)


def test_pearson_space_is_a_two_sample_t() -> None:
    rate, given = kept(noisy(4))
    rows, consensus = made(rate)
    nearness: dict[bool, list[float]] = {True: [], False: []}
    for k in range(8):
        for condition in "nuc":
            ratings = [given[k, i, condition] for i in range(ITEMS)]
            us, cn = (float(np.corrcoef(ratings, pool)[0, 1]) for pool in consensus)
            nearness[k < 4].append(cn - us)
    row = rows["origin_effect.pearson_difference", US, "*", "all"]
    assert row["value"] == pytest.approx(np.mean(nearness[True]) - np.mean(nearness[False]), abs=1e-9)
    p = rows["origin_effect.pearson_difference_p", US, "*", "all"]
    assert (p["value"], p["n"]) == (pytest.approx(stats.ttest_ind(nearness[True], nearness[False]).pvalue), 24)


def test_the_judge_as_the_unit() -> None:
    rate, given = kept(noisy(5))
    rows, consensus = made(rate)
    means = long(given, consensus).groupby("judge").delta.mean().to_numpy()
    t = stats.ttest_ind(means[:4], means[4:])
    assert rows["origin_effect.judge_t", US, "*", "all"]["value"] == pytest.approx(t.statistic, rel=1e-8)
    p = rows["origin_effect.judge_t_p", US, "*", "all"]
    assert (p["value"], p["n"]) == (pytest.approx(t.pvalue, rel=1e-8), 8)
    exact = stats.permutation_test(
        (means[:4], means[4:]), lambda a, b: np.mean(a) - np.mean(b), n_resamples=np.inf, vectorized=False
    )
    permuted = rows["origin_effect.judge_permutation_p", US, "*", "all"]
    assert permuted["value"] == pytest.approx(exact.pvalue)
    assert "permutations=70" in permuted["signature"]
    assert "caution" not in permuted["signature"]


def test_few_judges_are_not_tested_in_general() -> None:
    few = {"origin": {f"j{k}": ("us" if k < 3 else "cn") for k in range(6)}}
    rows, _ = made(noisy(6), covariates=few)
    permuted = rows["origin_effect.judge_permutation_p", US, "*", "all"]
    assert permuted["value"] >= 0.1 - 1e-12
    assert "caution=few_judges" in permuted["signature"]
    assert rows["origin_effect.judge_t_p", US, "*", "all"]["undefined"] == "few_judges"
    assert rows["origin_effect.judge_t", US, "*", "all"]["value"] is not None


def test_swapped_pools_change_the_sign() -> None:
    rows, _ = made(noisy(7, 0.2))
    swapped, _ = made(noisy(7, 0.2), pair=("cn", "us"))
    signed = {"coef", "t", "judge_t", "condition_difference", "pearson_difference"}
    assert rows.keys() == swapped.keys()
    for place, row in rows.items():
        sign = -1 if place[0].removeprefix("origin_effect.") in signed else 1
        other = swapped[place]
        assert (row["label"], row["undefined"], row["n"]) == (other["label"], other["undefined"], other["n"])
        if row["value"] is not None:
            assert row["value"] == pytest.approx(sign * other["value"], abs=1e-9)


def lenient(k: int, i: int, condition: str) -> float:
    """The origin us rates everything one level higher: a mere difference in positivity."""
    return 3.0 + (k < 4) + (i + k) % 2


def test_positivity_changes_the_sign_between_cultures() -> None:
    """A pool that is kinder to its own images: the higher judge is nearer to whoever is kinder."""
    kind = np.array([[4.5, 2.0], [2.0, 4.5]])
    table = {
        pool: {f"i{i:02d}": [kind[p, i % 2] - 0.5, kind[p, i % 2] + 0.5] for i in range(ITEMS)}
        for p, pool in enumerate(("us", "cn"))
    }
    frame = pl.DataFrame({"item_id": [f"i{i:02d}" for i in range(ITEMS)], "culture": ["us", "cn"] * (ITEMS // 2)})
    source = corpus(rated(table), items=frame)
    asked = judgments(answers(lenient, list(ORIGIN), ["n"]), factors=FACTORS, covariates={"origin": ORIGIN})
    table_ = Table({})
    (context,) = contexts_of(source, AuditOptions(draws=0), table_)
    cells = judged_cells(context, source, asked)
    add_regression(Experiment(context, cells, read_design(asked, cells, context.pools, context.options), source, {}))
    rows = {
        (row["statistic"], row["slice"]): row
        for row in table_.frame().iter_rows(named=True)
        if "se=" not in row["params"]
    }
    us, cn = (rows["origin_effect.coef", f"culture={name}"]["value"] for name in ("us", "cn"))
    assert us == pytest.approx(-cn, abs=1e-9)
    assert abs(us) > 0.5
    assert rows["origin_effect.sign_change", "all"]["label"] == "yes"


def test_no_sign_change_and_an_uncertain_one() -> None:
    rows, _ = made(lambda k, i, c: 1.0 if k < 4 else 5.0)
    labels = {rows["origin_effect.sign_change", US, "*", "all"]["label"]}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rows, _ = made(lambda k, i, c, rng=rng: float(rng.integers(1, 6)), seed=seed)
        coefs = [rows["origin_effect.coef", US, "*", f"culture={name}"] for name in ("us", "cn")]
        label = rows["origin_effect.sign_change", US, "*", "all"]["label"]
        opposite = coefs[0]["value"] * coefs[1]["value"] < 0
        sure = all(row["low"] * row["high"] > 0 for row in coefs)
        assert label == ("no" if not opposite else "yes" if sure else "uncertain")
        labels.add(label)
    assert {"no", "uncertain"} <= labels


def test_without_cultures_there_is_no_sign_change() -> None:
    rows, _ = made(noisy(8), culture=False)
    assert not [place for place in rows if place[0] == "origin_effect.sign_change"]
    assert {place[3] for place in rows} == {"all"}


def test_a_covariate_that_is_a_number() -> None:
    size = {f"j{k}": str(value) for k, value in enumerate((1, 3, 7, 13, 30, 34, 70, 405))}
    rate, given = kept(noisy(9, 0.1))
    rows, consensus = made(rate, covariates={"size": size})
    frame = long(given, consensus)
    frame["x"] = frame.judge.map(lambda k: float(size[f"j{k}"]))
    fit = least_squares(frame, "item", "condition").fit()
    row = rows["origin_effect.coef", "covariate=size", "*", "all"]
    assert row["value"] == pytest.approx(fit.params["x"], abs=1e-9)
    assert rows["origin_effect.judge_t_p", "covariate=size", "*", "all"]["value"] is not None
    permuted = rows["origin_effect.judge_permutation_p", "covariate=size", "*", "all"]
    assert "permutations=40320" in permuted["signature"]


def test_each_of_many_levels_against_the_rest() -> None:
    maker = dict(zip(ORIGIN, "aabbbccc", strict=True))
    rate, given = kept(noisy(10))
    rows, consensus = made(rate, covariates={"maker": maker, "origin": ORIGIN})
    frame = long(given, consensus)
    for level in "abc":
        chosen = frame.judge.map(lambda k, level=level: maker[f"j{k}"] == level)
        expected = frame.delta[chosen].mean() - frame.delta[~chosen].mean()
        row = rows["origin_effect.coef", f"covariate=maker,level={level}", "*", "all"]
        assert row["value"] == pytest.approx(expected, abs=1e-9)
    assert ("r2_decomposition.increment", "term=maker", "*", "all") in rows


def test_a_covariate_that_names_the_judges_has_no_effect_of_its_own() -> None:
    names = {judge: f"model {judge}" for judge in ORIGIN}
    rows, _ = made(noisy(11), covariates={"origin": ORIGIN, "long": names})
    assert not [place for place in rows if "covariate=long" in place[1]]
    share = rows["r2_decomposition.share_of_judge", "term=long", "*", "all"]["value"]
    assert share == pytest.approx(1)


def test_judges_without_the_covariate_and_on_another_scale_are_left_out_and_counted() -> None:
    some = {judge: level for judge, level in ORIGIN.items() if judge != "j0"}
    rate, given = kept(noisy(12))
    everyone = {"origin": some, "size": {judge: str(k % 3) for k, judge in enumerate(ORIGIN)}}
    source = {"origin": {**dict.fromkeys(ORIGIN), **some}, "size": everyone["size"]}
    rows, consensus = made(rate, covariates=source, rank_only=("j7",))  # type: ignore[arg-type]
    frame = long(given, consensus)
    frame = frame[~frame.judge.isin([0, 7])]
    row = rows["origin_effect.coef", US, "*", "all"]
    expected = frame.delta[frame.x == 1].mean() - frame.delta[frame.x == 0].mean()
    assert row["value"] == pytest.approx(expected, abs=1e-9)
    assert row["n"] == 6 * 3 * ITEMS
    assert set(row["excluded"].split(";")) == {f"covariate_unknown={3 * ITEMS}", f"other_scale={3 * ITEMS}"}
    whole = rows["r2_decomposition.r2", "", "*", "all"]
    assert (whole["n"], whole["excluded"]) == (7 * 3 * ITEMS, f"other_scale={3 * ITEMS}")


def test_malformed_judgments_are_counted() -> None:
    rate, given = kept(noisy(13, 0.3))
    rows, _ = made(rate)
    lost = sum(value is None for value in given.values())
    assert rows["origin_effect.coef", US, "*", "all"]["excluded"] == f"malformed={lost}"


def test_constant_judges() -> None:
    """All judges give the same: nothing varies but the items."""
    rows, _ = made(lambda k, i, c: 3.0)
    assert rows["r2_decomposition.r2", "", "*", "all"]["value"] == pytest.approx(1)
    assert rows["origin_effect.coef", US, "*", "all"]["value"] == pytest.approx(0, abs=1e-12)
    assert rows["origin_effect.t", f"{US},se=g1", "*", "all"]["undefined"] == "no_spread"
    assert rows["origin_effect.judge_t", US, "*", "all"]["undefined"] == "no_spread"
    assert rows["r2_decomposition.share_of_judge", "term=origin", "*", "all"]["undefined"] == "judges_alike"
    assert rows["origin_effect.pearson_difference", US, "*", "all"]["undefined"] == "cell_undefined"


def test_nothing_to_regress() -> None:
    """One judge: no covariate varies; conditions still explain."""
    rows, _ = made(noisy(14), covariates={"origin": {"j0": "us"}})
    assert not [place for place in rows if place[0].startswith("origin_effect")]
    terms = {place[1] for place in rows if place[0] == "r2_decomposition.increment"}
    assert terms == {"term=condition"}


def test_one_cell_has_no_decomposition() -> None:
    rows, _ = made(noisy(15), covariates={"origin": {"j0": "us"}}, conditions=("n",))
    assert rows == {}


def test_one_condition_and_two_judges() -> None:
    rows, _ = made(noisy(16), covariates={"origin": {"j0": "us", "j1": "cn"}}, conditions=("n",))
    assert rows["origin_effect.coef", US, "*", "all"]["value"] is not None
    assert rows["origin_effect.judge_permutation_p", US, "*", "all"]["value"] == 1
    assert rows["origin_effect.judge_t", US, "*", "all"]["undefined"] == "few_judges"
    assert not [place for place in rows if place[1] == "term=condition"]


def test_repeats_are_averaged() -> None:
    once, _ = made(lambda k, i, c: 2.0 + (k < 4) + (i + k) % 2)
    thrice, _ = made(lambda k, i, c: 2.0 + (k < 4) + (i + k) % 2, repeats=3)
    place = ("origin_effect.coef", US, "*", "all")
    assert once[place]["value"] == pytest.approx(thrice[place]["value"], abs=1e-12)
    assert once[place]["n"] == thrice[place]["n"]
