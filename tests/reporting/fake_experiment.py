"""A factorial run made up for the tests: every row that the experiment's part of the report reads."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
from tests.reporting.fake_profile import HOSTILE_JUDGE, FakeProfile, Maker, make

from voirdire.signature import quote

JUDGES = ["claude-like", "判断模型甲", HOSTILE_JUDGE, "delta-judge"]
ORIGINS = {"claude-like": "us", "判断模型甲": "cn", HOSTILE_JUDGE: "us", "delta-judge": "cn"}
CONDITIONS = ["neutral_en/base", "us_en/base", "cn_en/base", "neutral_en/aa", "us_en/aa", "cn_en/aa"]
CULTURES = ["culture=us", "culture=cn"]
SLICES = [*CULTURES, "culture=cn&category=food", "culture=us&category=food"]
VERDICTS = ("oriented_a", "oriented_b", "not_oriented", None)
PARTS = ("base", "image", "permissiveness", "orientation", "remainder", "observed")
BASE, OTHER = "design=base", "design=aa"
GROUPS = ["*", "origin=us", "origin=cn"]
DESIGN = "design=aa,against=base"


def experiment(pools: tuple[str, ...] = ("us", "cn")) -> FakeProfile:
    """A profile of a factorial run with two pools (or more), four judges, a persona factor and a design."""
    base = make(list(pools), JUDGES, CONDITIONS, ["q1"], SLICES)
    m = Maker(np.random.default_rng(11))
    for place, judge in enumerate(JUDGES):
        for condition in ("*", *CONDITIONS):
            orientation(m, pools, judge, condition, VERDICTS[place])
    pairs = list(itertools.combinations(pools, 2))
    selections(m, pools, pairs)
    for a, b in pairs:
        pair = {"question": "q1", "pool": a, "pool_b": b}
        effects(m, pair)
        demonstrations(m, pair)
        items(m, pair)
        honesty(m, pair)
    best(m, pools)
    base.meta["designs"] = {"q1": design()}
    base.meta["covariates"] = ["origin"]
    base.meta["judges_covariates"] = {judge: {"origin": origin} for judge, origin in ORIGINS.items()}
    return FakeProfile(pl.concat([base.estimates, m.frame()]), base.meta, base.distributions, base.items)


def design() -> dict[str, object]:
    """What the columns mean, as a profile's meta data tell it."""
    return {
        "persona": "persona", "language": "language", "detail": None, "demonstrations": "design", "baseline": "base",
        "personas": {"us": "us", "cn": "cn"}, "neutral": ["none"], "other_factors": ["layout"], "blocks": [BASE, OTHER],
    }  # fmt: skip


def orientation(m: Maker, pools: tuple[str, ...], judge: str, condition: str, verdict: str | None) -> None:
    """W, the test of neutrality and the split of T and delta of one judge between every pair."""
    at = {"question": "q1", "judge": judge, "condition": condition}
    for a, b in itertools.combinations(pools, 2):
        place = at | {"pool": a, "pool_b": b}
        m.add("orientation.verdict", verdict, **place)
        for name, params in (("w", ""), ("w", "pools=standardised"), ("pi", ""), ("pi", "curvature=yes")):
            value = None if verdict is None else float(m.rng.uniform(0.3, 0.7))
            m.add(f"orientation.{name}", value, 0.05, **place, params=params)
        for name in ("neutrality_p", "contrast", "slope"):
            m.number(f"orientation.{name}", 0, 0.3, None, **place)
        m.number("orientation.image", -0.2, 0.2, **place, params="level=us")
        for split, part, slice_ in itertools.product(("tilt_split", "delta_split"), PARTS, ("all", *CULTURES)):
            value = None if verdict is None else float(m.rng.uniform(-0.4, 0.4))
            m.add(f"{split}.{part}", value, 0.03, **place, slice=slice_)
    if len(pools) > 2:
        for pool in pools:
            m.number("orientation.weight", 0.1, 0.5, **at, pool=pool)


def selections(m: Maker, pools: tuple[str, ...], pairs: list[tuple[str, str]]) -> None:
    """Plain statistics of groups and of selections of conditions."""
    personas = [f"persona={level}&{block}" for level in ("none", "us", "cn") for block in (BASE, OTHER)]
    places = [(who, block) for who in (*GROUPS, *JUDGES) for block in (BASE, OTHER)]
    places += [(who, name) for who in ("*", *JUDGES) for name in personas]
    for (who, condition), slice_ in itertools.product(places, ("all", *SLICES)):
        at = {"question": "q1", "judge": who, "condition": condition, "slice": slice_}
        for name, low, high in (("mean_rating", 3, 4.5), ("share_low", 0, 0.3), ("share_high", 0.1, 0.6)):
            m.number(name, low, high, **at)
        for a, b in pairs:
            m.number("tilt", -0.6, 0.2, **at, pool=a, pool_b=b)
            m.number("delta", -0.3, 1, **at, pool=a, pool_b=b)
            if slice_ != "all":
                m.number("orientation.w", 0.3, 0.7, **at, pool=a, pool_b=b)
        for pool in pools:
            m.number("floor_recovery", 0, 0.4, **at, pool=pool)
    for pool, slice_ in itertools.product(pools, CULTURES):
        m.number("consensus_mean", 2, 4.5, question="q1", pool=pool, slice=slice_)
        for a, b in pairs:
            m.number("tilt_split.faithful", -0.1, 0.1, None, question="q1", pool=a, pool_b=b, slice=slice_)


def effects(m: Maker, pair: dict[str, str]) -> None:
    """Variance, covariates, personas and factors."""
    one = pair | {"judge": "*", "condition": BASE}
    for slice_ in ("all", *CULTURES):
        at = one | {"slice": slice_}
        for name in ("r2", "r2_adjusted"):
            m.number(f"r2_decomposition.{name}", 0.4, 0.7, None, **at)
        for term, name in itertools.product(("judge", "condition", "origin"), ("increment", "increment_adjusted")):
            m.number(f"r2_decomposition.{name}", 0, 0.05, None, **at, params=f"term={term}")
        regressor = "covariate=origin,level=us"
        m.number("origin_effect.coef", -0.2, 0.2, 0.03, **at, params=regressor)
        m.add("origin_effect.judge_permutation_p", 0.5, **at, params=regressor)
        m.add("origin_effect.judge_t_p", None, **at, params=regressor)
        for kind, name in itertools.product(("g1", "cr0"), ("se", "p")):
            m.number(f"origin_effect.{name}", 0, 0.04, None, **at, params=f"{regressor},se={kind}")
        if slice_ == "all":
            m.add("origin_effect.sign_change", "yes", **at, params=regressor)
        for who in ("*", *JUDGES):
            who_at = at | {"judge": who}
            for pool in (pair["pool"], pair["pool_b"]):
                params = f"toward={quote(pool)},of=tilt"
                m.number("pull", 0.05, 0.3, 0.02, **who_at, params=params)
                m.number("pull_p", 0, 0.04, None, **who_at, params=params)
                m.add("pull.crossing", "no", **who_at, params=params)
            m.number("pull.difference", -0.1, 0.1, **who_at, params="of=tilt")
            m.add("pull.larger", "toward_b", **who_at, params="of=tilt")
        for name, part in itertools.product(("language_effect", "factor_effect"), ("mean", "max", "of_means")):
            params = "of=tilt" if name == "language_effect" else "of=tilt,factor=layout"
            m.number(f"{name}.{part}", 0, 0.05, None, **at, params=params)
    for part in ("matched", "mismatched", "difference"):
        m.number(f"persona_match.{part}", 0.3, 1.2, question="q1", judge="*", condition=BASE)
    m.number("floor_gap", 0.5, 1.5, question="q1", pool="us", judge="*", condition="us_en/base", slice=SLICES[2])


def demonstrations(m: Maker, pair: dict[str, str]) -> None:
    """Changes under a design, their tests, and the distance of groups."""
    for slice_, who in itertools.product(("all", *SLICES), (*GROUPS, *JUDGES)):
        at = {"question": "q1", "judge": who, "condition": "*", "slice": slice_, "params": DESIGN}
        for name in ("mean_rating", "share_low", "share_high"):
            m.number(f"icl_effect.{name}", -0.1, 0.2, **at)
        for name in ("tilt", "delta", "orientation.w"):
            m.number(f"icl_effect.{name}", -0.1, 0.2, **at, pool=pair["pool"], pool_b=pair["pool_b"])
        for pool, name in itertools.product((pair["pool"], pair["pool_b"]), ("floor_recovery", "error")):
            m.number(f"icl_effect.{name}", 0.02, 0.1, 0.01, **at, pool=pool)
    for slice_, pool in itertools.product(("all", *CULTURES), (pair["pool"], pair["pool_b"])):
        at = {"question": "q1", "judge": "*", "condition": "*", "slice": slice_, "params": DESIGN, "pool": pool}
        for name in ("wilcoxon_cells_p", "wilcoxon_cells_p_holm", "wilcoxon_items_p", "t_items_p"):
            m.number(f"icl_effect.error.{name}", 0, 0.01, None, **at)
        m.add("icl_effect.error.n_nonzero", 120.0, **at)
        m.add("pseudo_replication", "yes", **at)
    told = "covariate=origin,level=us,minus=cn"
    for slice_ in ("all", *CULTURES):
        at = pair | {"judge": "*", "slice": slice_}
        m.number("icl_effect.covariate_gap", 0, 0.2, **at, condition=BASE, params=f"of=tilt,design=base,{told}")
        change = f"of=tilt,{DESIGN},{told}"
        m.number("icl_effect.covariate_gap_change", -0.1, 0.1, **at, condition="*", params=change)


def items(m: Maker, pair: dict[str, str]) -> None:
    """What goes by items: the gap, recognizability and two kinds of images."""
    for who in ("*", *JUDGES):
        m.number("gap_correlation", -0.8, -0.6, **pair, judge=who, condition=BASE)
        for slice_, bin_ in itertools.product(("all", *CULTURES), ("low", "mid", "high", "low-high")):
            at = pair | {"judge": who, "condition": BASE, "slice": slice_}
            for of in ("tilt", "orientation.w"):
                m.number(f"recognizability_bins.{of}", -0.5, 0, **at, params=f"bins=3,bin={bin_},by=cn")
    m.add("gap_correlation", -0.76, **pair, judge="control:constant_4", condition="-")
    m.add("gap_correlation", None, **pair, judge="control:random", condition="-")
    for slice_, level in itertools.product(("all", "culture=cn"), ("generated", "photograph")):
        for name in ("pearson", "mad"):
            m.number(f"regime_comparison.{name}", 0, 1, **pair, slice=slice_, params=f"regime={level}")
        for who in ("*", *JUDGES):
            at = pair | {"slice": slice_, "judge": who, "condition": "*", "params": f"regime={level}"}
            m.number("regime_comparison.tilt", -0.4, 0.2, **at)
            m.number("regime_comparison.delta", -0.4, 0.8, **at)
    m.number("regime_comparison.gap_correlation", 0.5, 0.9, **pair)
    m.number("regime_comparison.gap_wilcoxon_p", 0.1, 0.9, None, **pair)


def honesty(m: Maker, pair: dict[str, str]) -> None:
    """Rows that warn."""
    for who in ("*", *JUDGES):
        at = pair | {"judge": who, "condition": BASE}
        for of in ("tilt", "delta"):
            m.number("minimum_detectable", 0.05, 0.1, None, **at, params=f"of={of}")
        m.number("tilt_noise", 0.01, 0.02, None, **at)
        m.add("tilt_noise.narrower", "yes" if who == "delta-judge" else "no", **at)


def best(m: Maker, pools: tuple[str, ...]) -> None:
    """The best condition of each judge in each culture."""
    for slice_, pool, condition in itertools.product(("all", *CULTURES), pools, (BASE, "*")):
        at = {"question": "q1", "slice": slice_, "pool": pool, "condition": condition}
        for who in (*JUDGES, "*"):
            lost = who == "delta-judge" and slice_ == "culture=us"
            m.add("best_mae.value", None if lost else float(m.rng.uniform(0.6, 1.8)), **at, judge=who)
            m.add("best_mae.cross_fitted", None if lost else float(m.rng.uniform(0.7, 1.9)), 0.1, **at, judge=who)
            if who != "*":
                m.add("best_mae.condition", "us_en/base", **at, judge=who)
                m.add("winners_curse", "yes" if who == JUDGES[0] else "no", **at, judge=who)
            for other in pools:
                if other != pool:
                    m.number("best_mae.percent_of_human", 30, 80, None, **at, judge=who, pool_b=other)
                    m.number("best_mae.percent_cross_fitted", 30, 80, 5, **at, judge=who, pool_b=other)
        if slice_ == "all":
            m.number("best_kappa.value", 0.1, 0.4, None, **at, judge="*")
            m.add("best_kappa.cell", f"{HOSTILE_JUDGE}|us_en/base", **at, judge="*")
        for name in ("lowest", "lowest_cross_fitted"):
            m.number(f"best_mae.{name}", 0.6, 1.2, 0.05, **at, judge="*")
