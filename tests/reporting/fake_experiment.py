"""A factorial run made up for the tests: every row that the experiment's part of the report reads."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
from tests.reporting.fake_profile import HOSTILE_JUDGE, FakeProfile, Maker, make

JUDGES = ["claude-like", "判断模型甲", HOSTILE_JUDGE, "delta-judge"]
ORIGINS = {"claude-like": "us", "判断模型甲": "cn", HOSTILE_JUDGE: "us", "delta-judge": "cn<i>"}
CONDITIONS = ["neutral_en/base", "us_en/base", "cn_en/base", "neutral_en/aa", "us_en/aa", "cn_en/aa"]
SLICES = ["culture=us", "culture=cn", "culture=cn&category=food", "culture=us&category=food"]
VERDICTS = ("oriented_a", "oriented_b", "not_oriented", "cannot_say")
PARTS = ("base", "image", "permissiveness", "orientation", "remainder", "observed", "faithful")


def experiment(pools: tuple[str, ...] = ("us", "cn")) -> FakeProfile:
    """A profile of a factorial run with two pools (or more), four judges, a persona factor and a design."""
    base = make(list(pools), JUDGES, CONDITIONS, ["q1"], SLICES)
    m = Maker(np.random.default_rng(11))
    for place, judge in enumerate(JUDGES):
        for condition in ("*", "design=base", *CONDITIONS):
            decomposition(m, pools, judge, condition, VERDICTS[place])
    base.meta["designs"] = {
        "q1": {
            "persona": "persona", "language": "language", "detail": None, "demonstrations": "design",
            "baseline": "base", "personas": {"us": "us", "cn": "cn"}, "neutral": ["none"], "other_factors": [],
            "blocks": ["design=base", "design=aa"],
        }
    }  # fmt: skip
    base.meta["covariates"] = ["origin"]
    base.meta["judges_covariates"] = {judge: {"origin": origin} for judge, origin in ORIGINS.items()}
    return FakeProfile(pl.concat([base.estimates, m.frame()]), base.meta, base.distributions, base.items)


def decomposition(m: Maker, pools: tuple[str, ...], judge: str, condition: str, verdict: str) -> None:
    """W, the test of neutrality and the split of T and delta of one judge between every pair."""
    at = {"question": "q1", "judge": judge, "condition": condition}
    for a, b in itertools.combinations(pools, 2):
        place = at | {"pool": a, "pool_b": b}
        m.add("orientation.verdict", verdict, **place)
        undefined = verdict == "cannot_say"
        for name in ("w", "pi"):
            m.add(f"orientation.{name}", None if undefined else float(m.rng.uniform(0.3, 0.7)), 0.05, **place)
        for name in ("neutrality_p", "neutrality_p_holm", "neutrality_p_bh"):
            m.number(f"orientation.{name}", 0, 0.3, None, **place)
        m.number("orientation.contrast", -0.5, 0.5, **place)
        for split, part in itertools.product(("tilt_split", "delta_split"), PARTS):
            m.add(f"{split}.{part}", None if undefined else float(m.rng.uniform(-0.4, 0.4)), 0.03, **place)
    if len(pools) > 2:
        for pool in pools:
            m.number("orientation.weight", 0.1, 0.5, **at, pool=pool)
