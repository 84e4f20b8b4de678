"""Profiles made up for the tests of the report: every kind of number, undefined cells, hostile and Chinese texts."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from voirdire.analysis.specifications import SPECIFICATIONS
from voirdire.signature import Signature
from voirdire.texts import catalogue

HOSTILE = "<script>alert('x')</script> | a & b $1 \\cmd % # _ {x} \"q\" `c` *b* [l](http://evil.example)"
HOSTILE_JUDGE = "<b>judge</b> & $x_1 | {0} %"
COLUMNS = ("statistic", "params", "question", "pool", "pool_b", "judge", "condition", "slice")
SCHEMA = {
    **dict.fromkeys(COLUMNS, pl.String), "value": pl.Float64, "label": pl.String, "undefined": pl.String,
    "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "excluded": pl.String, "signature": pl.String,
}  # fmt: skip


@dataclass
class FakeProfile:
    """As much of a Profile as the report reads."""

    estimates: pl.DataFrame
    meta: dict[str, Any]
    distributions: pl.DataFrame
    items: pl.DataFrame
    specifications: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SPECIFICATIONS))


def reason() -> str:
    """A reason that the catalogue knows."""
    keys = sorted(key for key in catalogue("en") if key.startswith("undefined."))
    return keys[0].removeprefix("undefined.")


@dataclass
class Maker:
    """Collects rows of estimates."""

    rng: np.random.Generator
    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(
        self,
        statistic: str,
        value: float | str | None,
        spread: float | None = None,
        excluded: str = "",
        n: int = 40,
        **place: str,
    ) -> None:
        """One estimate: a number, a label (text) or undefined (None)."""
        where = {column: place.get(column, "") for column in COLUMNS[1:]} | {"slice": place.get("slice", "all")}
        params = dict(part.split("=", 1) for part in where["params"].split(",") if part)
        definition = {
            "question": where["question"],
            "scale": "ordinal:1:5",
            "consensus": "mean",
            "interval": "percentile:0.95:items",
        }
        on = {key: where[key] for key in ("pool", "pool_b", "judge", "condition", "slice") if where[key]}
        signature = str(Signature(statistic, params, definition, on, {"n": str(n)}))
        number = value if isinstance(value, float) else None
        low, high = (number - spread, number + spread) if number is not None and spread is not None else (None, None)
        self.rows.append(
            {
                "statistic": statistic,
                **where,
                "value": number, "label": value if isinstance(value, str) else None,
                "undefined": reason() if value is None else None, "low": low, "high": high,
                "n": n, "excluded": excluded,
                "signature": signature,
            }
        )  # fmt: skip

    def number(self, statistic: str, low: float, high: float, spread: float | None = 0.05, **place: str) -> None:
        """One number drawn from a range."""
        self.add(statistic, float(self.rng.uniform(low, high)), spread, **place)

    def frame(self) -> pl.DataFrame:
        """The rows as the estimates table."""
        return pl.DataFrame(self.rows, schema=SCHEMA)


def _pools(m: Maker, question: str, pools: list[str]) -> None:
    for place, pool in enumerate(pools):
        at = {"question": question, "pool": pool}
        for name, value in (("n_items", 40.0), ("n_ratings", 200.0), ("n_raters", 5.0), ("raters_per_item", 5.0)):
            m.add(name, value, **at)
        m.number("consensus_mean", 2, 4, **at)
        m.number("alpha", 0.5, 0.9, **at)
        m.number("reliability", 0.8, 0.95, **at)
        m.add("split_half", None, **at)
        m.number("ceiling.own", 0.4, 0.8, **at)
        m.add("gate", ("pass", "pass_low_alpha", "fail", "unknown")[place % 4], **at)
    for a, b in itertools.combinations(pools, 2):
        _pair(m, {"question": question, "pool": a, "pool_b": b})


def _pair(m: Maker, at: dict[str, str]) -> None:
    for name in ("cross_pool_pearson", "cross_pool_spearman", "cross_pool_kappa_qw", "disattenuated_r"):
        m.number(name, -0.3, 0.3, **at)
    for name in ("cross_pool_mad", "gap_rms", "noise_floor", "gap_test.null_mean"):
        m.number(name, 0.4, 1.8, **at)
    m.add("gap_test.p", 0.0004, **at)
    m.add("gap_test.n_left_out", 0.0, **at)
    m.add("composition", "simpson", **at)
    m.add("gate.divergent", "yes", **at)
    m.add("gate.evaluation_not_recognition", "yes", **at)
    for kind in ("high", "low", "divergent", "middle", "contested"):
        m.add(f"anchor_class.{kind}", 10.0, **at)


def _judge(m: Maker, at: dict[str, str], pools: list[str], constant: bool, control: bool = False) -> None:
    for name, low, high in (("mean_rating", 3, 4.5), ("share_low", 0, 0.3), ("share_high", 0.1, 0.6)):
        m.number(name, low, high, **at, excluded="malformed=3;refused=1")
    if not control:
        m.number("missing_share", 0, 0.1, **at)
        m.number("repeat_alpha", 0.6, 0.9, **at)
    for pool in pools:
        _judge_pool(m, at | {"pool": pool}, constant, control, pools)
    for a, b in itertools.combinations(pools, 2):
        _judge_pair(m, at | {"pool": a, "pool_b": b}, control)


def _judge_pool(m: Maker, at: dict[str, str], constant: bool, control: bool, pools: list[str]) -> None:
    m.number("mae", 0.6, 1.6, **at)
    m.number("bias", -0.5, 1.0, **at)
    for name in ("pearson", "spearman", "kappa_qw", "spread.slope"):
        if constant:
            m.add(name, None, **at)
        else:
            m.number(name, -0.2, 0.7, **at)
    m.number("spread.sd_ratio", 0.2, 0.9, **at)
    m.number("floor_recovery", 0, 0.4, **at)
    if not control:
        m.number("mae_vs_constant", -0.2, 0.2, **at)
        for name in ("ceiling.judge", "mae.bound_low", "mae.bound_high"):
            m.number(name, 0.5, 1.5, **at)
        for name in ("distribution.w1", "distribution.js", "distribution.w1_floor", "distribution.js_floor"):
            m.number(name, 0.1, 0.6, None, **at)
        for fit in pools:
            m.number("recalibrated_mae", 0.5, 1.2, **at, params=f"fit={fit}")
        verdicts = (
            "no_better_than_constant",
            "worse_than_rater",
            "as_near_as_rater",
            "cannot_say",
            "better_than_constant",
        )
        m.add("verdict", str(m.rng.choice(verdicts)), **at)


def _judge_pair(m: Maker, at: dict[str, str], control: bool) -> None:
    m.number("delta", -1, 1, **at)
    m.number("delta_sq", -1, 1, **at)
    m.number("tilt", -0.8, 0.8, **at)
    m.number("tilt", -0.8, 0.8, **at, params="form=ratio")
    if control:
        return
    m.number("tilt", -0.4, 0.4, **at, params="control=permuted")
    m.number("delta", -0.4, 0.4, **at, params="control=permuted")
    m.number("tilt.share_small_gaps", 0, 0.2, None, **at)
    for name in ("wilcoxon_p", "wilcoxon_p_holm", "wilcoxon_p_bh", "t_p", "t_p_holm", "t_p_bh"):
        m.number(f"delta_test.{name}", 0, 0.2, None, **at)
    m.add("delta_test.n_zero", 3.0, **at)
    m.number("percent_of_human", 50, 120, 5, **at)
    m.number("percent_of_human", 50, 120, 5, **(at | {"pool": at["pool_b"], "pool_b": at["pool"]}))
    m.number("equalised.delta", -1, 1, **at)
    m.number("equalised.tilt", -1, 1, **at)
    m.add("verdict", str(m.rng.choice(["nearer_a", "nearer_b", "undecided", "cannot_say", "sign_conflict"])), **at)


def _controls(pools: list[str]) -> list[str]:
    names = [f"control:constant_{level}" for level in range(1, 6)] + ["control:random"]
    names += [f"control:copy_{pool}{end}" for pool in pools for end in ("", "_rounded")]
    return names + [f"control:midpoint_{a}_{b}" for a, b in itertools.combinations(pools, 2)]


def make(
    pools: list[str],
    judges: list[str],
    conditions: list[str],
    questions: list[str],
    slices: list[str],
    judged: list[str] | None = None,
) -> FakeProfile:
    """A profile of these names. The last judge is a constant one."""
    m = Maker(np.random.default_rng(7))
    judged = questions if judged is None else judged
    for question in questions:
        _pools(m, question, pools)
        if question not in judged:
            continue
        for judge in judges:
            for condition in (*conditions, "*") if len(conditions) > 1 else conditions:
                at = {"question": question, "judge": judge, "condition": condition}
                _judge(m, at, pools, constant=judge == judges[-1])
        for control in _controls(pools):
            _judge(m, {"question": question, "judge": control, "condition": "-"}, pools, False, control=True)
        for judge, name in itertools.product(judges, slices):
            at = {
                "question": question,
                "judge": judge,
                "condition": "*" if len(conditions) > 1 else conditions[0],
                "slice": name,
            }
            for pool in pools:
                m.number("mae", 0.3, 1.9, **at, pool=pool)
            for a, b in itertools.combinations(pools, 2):
                m.number("tilt", -1, 1, **at, pool=a, pool_b=b)
    meta = _meta(pools, judges, conditions, questions, slices, judged)
    return FakeProfile(
        m.frame(),
        meta,
        _distributions(m, pools, judges, conditions, judged),
        _items(m, pools, judges, conditions, judged),
    )


def _meta(
    pools: list[str],
    judges: list[str],
    conditions: list[str],
    questions: list[str],
    slices: list[str],
    judged: list[str],
) -> dict[str, Any]:
    pairs = [list(pair) for pair in itertools.combinations(pools, 2)]
    return {
        "voirdire": "0.1.0",
        "version": "0.1.0",
        "seed": 7,
        "name": "corpus <i>one</i>",
        "simulated": True,
        "intake": [
            {
                "table": "ratings",
                "file": "ratings.csv",
                "digest": "abc",
                "rows_in": 1234,
                "rows_used": 1230,
                "excluded": {"duplicate": 3, "outside_scale": 1},
            }
        ],
        "notes": [],
        "questions": [
            {
                "id": q,
                "scale": "ordinal:1:5",
                "level": "ordinal",
                "low": 1,
                "high": 5,
                "labels": [],
                "positive": None,
                "role": "evaluation",
                "text": {"en": HOSTILE, "zh": "这道菜看起来如何？"},
                "inferred": True,
            }
            for q in questions
        ],
        "pools": [{"name": pool, "color_index": place, "aggregate": False} for place, pool in enumerate(pools)],
        "pairs": pairs,
        "detail_pairs": pairs[:3],
        "judges": judges,
        "conditions": conditions,
        "cells": [{"judge": j, "condition": c, "factors": {}} for j in judges for c in conditions],
        "factors": [],
        "covariates": [],
        "judges_covariates": {},
        "slices": slices,
        "judged_questions": judged,
        "options": {"consensus": "mean", "min_raters": 1, "draws": 2000, "level": 0.95, "resample": "items"},
        "families": [
            {
                "statistic": "delta",
                "pair": pairs[0] if pairs else None,
                "slice_set": "all",
                "size": len(judges) * len(conditions),
            }
        ],
    }


def _distributions(
    m: Maker, pools: list[str], judges: list[str], conditions: list[str], questions: list[str]
) -> pl.DataFrame:
    rows = []
    who = [("pool", pool, "") for pool in pools] + [("judge", j, c) for j in judges for c in conditions]
    for question, (kind, name, condition) in itertools.product(questions, who):
        counts = m.rng.multinomial(200, m.rng.dirichlet([2.0] * 5))
        for level, count in enumerate(counts, 1):
            rows.append((question, kind, name, condition, str(level), count / 200, int(count)))
    return pl.DataFrame(rows, schema=["question", "kind", "name", "condition", "level", "share", "count"], orient="row")


def _items(m: Maker, pools: list[str], judges: list[str], conditions: list[str], questions: list[str]) -> pl.DataFrame:
    rows = []
    for question, (a, b), number in itertools.product(questions, itertools.combinations(pools, 2), range(4)):
        row: dict[str, Any] = {
            "item_id": f"item_{number}<&>",
            "question": question,
            "pool": a,
            "pool_b": b,
            "gap": 3.0 - number * 0.2,
            "prompt.en": HOSTILE,
            "prompt.zh": "便利店的饭团看起来新鲜吗？",
            "image": ("http://evil.example/x.png", "images/a.png", "../secret.png", "")[number],
            "alt.en": 'a "quoted" picture',
        }
        row |= {f"consensus.{pool}": float(m.rng.uniform(1, 5)) for pool in pools}
        row |= {
            f"judge.{j}|{c}": float(m.rng.integers(1, 6)) if j != judges[0] else None
            for j in judges
            for c in conditions
        }
        rows.append(row)
    return pl.DataFrame(rows)


def two_pools() -> FakeProfile:
    """Two pools, five judges under three conditions, one judge constant, hostile and Chinese names."""
    judges = [
        "claude-like",
        "判断模型甲",
        HOSTILE_JUDGE,
        "a-judge-with-a-very-long-name-that-does-not-fit-anywhere-2026-preview",
        "constant-judge",
    ]
    slices = [
        "culture=cn",
        "culture=us",
        "category=food",
        "category=fashion",
        "culture=cn&category=food",
        "anchor=high",
    ]
    profile = make(["us", "cn"], judges, ["neutral_en", "neutral_zh", "persona_us/base"], ["q1"], slices)
    profile.meta["notes"] = []
    return profile


def six_pools() -> FakeProfile:
    """Six pools, three questions of which two are judged, three judges without conditions."""
    pools = ["us", "cn", "in", "ng", "印度尼西亚", "b<r>"]
    return make(
        pools,
        ["alpha-judge", "beta-judge", "gamma-judge"],
        ["-"],
        ["q1", "q2", "q3"],
        ["region=a", "region=b"],
        ["q1", "q2"],
    )


def no_judges() -> FakeProfile:
    """Two pools alone, as ``voirdire validate`` gives."""
    profile = make(["us", "cn"], [], ["-"], ["q1"], [], [])
    profile.meta["cells"] = []
    profile.meta["simulated"] = False
    return profile
