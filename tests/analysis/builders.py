"""Small corpora and judgments built directly, and what must hold of every table of estimates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

from voirdire.analysis.evaluate import evaluate
from voirdire.analysis.options import AuditOptions
from voirdire.analysis.profile import Profile
from voirdire.corpus.corpus import Corpus, Judgments, Question
from voirdire.scales import Scale
from voirdire.signature import Signature
from voirdire.texts import LANGUAGES, has

FIVE = Scale("ordinal", 1, 5)
BINARY = Scale("nominal", 0, 1, ("no", "yes"), "yes")
LABELS = Scale("nominal", labels=("a", "b", "c"))
INTERVAL = Scale("interval", 0, 100)
OPEN = Scale("interval")
VOTES = Scale("pairwise", labels=("a", "b", "tie"))
WORDS = Scale("ordinal", 0, 3, ("never", "rarely", "often", "always"))
SCALES = {
    "five": FIVE, "binary": BINARY, "labels": LABELS, "interval": INTERVAL, "open": OPEN, "words": WORDS,
    "three": Scale("ordinal", 1, 3), "ratio": Scale("ratio", 0, 10),
    "votes": VOTES, "votes without ties": Scale("pairwise", labels=("a", "b")),
}  # fmt: skip
QUICK = AuditOptions(draws=20, permutations=20)
KEY = ["statistic", "params", "question", "pool", "pool_b", "judge", "condition", "slice"]

RATINGS = {"item_id": pl.String, "rater_id": pl.String, "pool": pl.String, "question": pl.String, "value": pl.Float64}
AGGREGATES = {"item_id": pl.String, "pool": pl.String, "question": pl.String, "value": pl.Float64, "n": pl.Int64}
SHARES = {"item_id": pl.String, "pool": pl.String, "question": pl.String, "label": pl.String, "share": pl.Float64}
JUDGED = {
    "item_id": pl.String, "judge": pl.String, "condition": pl.String, "question": pl.String, "repeat": pl.Int64,
    "value": pl.Float64, "status": pl.String,
}  # fmt: skip

Rating = tuple[str, str, str, float]


def corpus(
    ratings: Iterable[Rating],
    scale: Scale = FIVE,
    *,
    pools: Sequence[str] | None = None,
    items: pl.DataFrame | None = None,
    aggregates: Iterable[tuple[str, str, float, int | None]] = (),
    shares: Iterable[tuple[str, str, str, float]] = (),
    question: str = "q1",
    role: str | None = None,
    **more: Any,
) -> Corpus:
    """One question; ratings are (item, rater, pool, value), aggregates (item, pool, value, n)."""
    rows = [(item, rater, pool, question, value) for item, rater, pool, value in ratings]
    means = [(item, pool, question, value, n) for item, pool, value, n in aggregates]
    table = pl.DataFrame([(i, p, question, label, s) for i, p, label, s in shares], SHARES, orient="row")
    ids = list(dict.fromkeys([*(row[0] for row in rows), *(row[0] for row in means), *table["item_id"]]))
    found = dict.fromkeys([*(row[2] for row in rows), *(row[1] for row in means), *table["pool"]])
    return Corpus(
        items=pl.DataFrame({"item_id": ids}, {"item_id": pl.String}) if items is None else items,
        questions=(Question(question, scale, role),),
        pools=tuple(found) if pools is None else tuple(pools),
        ratings=pl.DataFrame(rows, RATINGS, orient="row"),
        aggregates=pl.DataFrame(means, AGGREGATES, orient="row"),
        shares=None if table.is_empty() else table,
        **more,
    )


def judgments(
    rows: Iterable[tuple[str, str, str, int, float | None, str]],
    *,
    question: str = "q1",
    factors: Mapping[str, Mapping[str, str]] | None = None,
    covariates: Mapping[str, Mapping[str, str]] | None = None,
    rank_only: Iterable[str] = (),
) -> Judgments:
    """Rows are (item, judge, condition, repeat, value, status); factors: name -> condition -> level."""
    table = pl.DataFrame([(i, j, c, question, r, v, s) for i, j, c, r, v, s in rows], JUDGED, orient="row")
    cells = table.select("judge", "condition").unique(maintain_order=True)
    names = {"condition": factors or {}, "judge": covariates or {}}
    for name, levels in names["condition"].items():
        cells = cells.with_columns(pl.col("condition").replace_strict(levels, default=None).alias(name))
    judges = table.select("judge").unique(maintain_order=True)
    for name, levels in names["judge"].items():
        judges = judges.with_columns(pl.col("judge").replace_strict(levels, default=None).alias(name))
    return Judgments(
        table,
        cells,
        judges,
        factors=tuple(names["condition"]),
        covariates=tuple(names["judge"]),
        rank_only=frozenset((judge, question) for judge in rank_only),
    )


def rated(table: Mapping[str, Mapping[str, Sequence[float]]]) -> list[Rating]:
    """{pool: {item: ratings}} as rows; the n-th rating of a pool is of its n-th rater."""
    return [
        (item, f"{pool}-{k}", pool, float(value))
        for pool, by_item in table.items()
        for item, values in by_item.items()
        for k, value in enumerate(values)
    ]


def judged(table: Mapping[str, Mapping[str, float | None]], condition: str = "-") -> list[Any]:
    """{judge: {item: rating}} as rows; None is malformed."""
    return [
        (item, judge, condition, 0, None if value is None else float(value), "malformed" if value is None else "ok")
        for judge, by_item in table.items()
        for item, value in by_item.items()
    ]


@dataclass(frozen=True)
class World:
    """What a random corpus is made of."""

    seed: int
    scale: str = "five"
    items: int = 6
    pools: int = 2
    raters: int = 3
    judges: int = 2
    conditions: int = 1
    repeats: int = 1
    gaps: float = 0.0
    lost: float = 0.0
    culture: bool = False

    def make(self) -> tuple[Corpus, Judgments]:
        """The corpus and its judgments."""
        rng = np.random.default_rng(self.seed)
        scale = SCALES[self.scale]
        items = [f"i{k}" for k in range(self.items)]
        ratings = [
            (item, f"{pool}{k}", f"p{pool}", draw(rng, scale))
            for item in items
            for pool in range(self.pools)
            for k in range(self.raters)
            if rng.random() >= self.gaps
        ]
        ratings = ratings or [(items[0], "00", "p0", draw(rng, scale))]
        frame = pl.DataFrame({"item_id": items})
        if self.culture:
            frame = frame.with_columns(
                culture=pl.Series([("us", "cn")[k % 2] for k in range(self.items)]),
                category=pl.Series([("food", "art & craft")[k // 2 % 2] for k in range(self.items)]),
            )
        pools = [f"p{k}" for k in range(self.pools)]
        return corpus(ratings, scale, pools=pools, items=frame), judgments(
            self._judged(rng, scale, items),
            factors={"persona": {f"c{k}": ("us", "cn")[k % 2] for k in range(self.conditions)}},
            covariates={"origin": {f"j{k}": ("us", "cn")[k % 2] for k in range(self.judges)}},
        )

    def _judged(self, rng: np.random.Generator, scale: Scale, items: list[str]) -> list[Any]:
        rows: list[Any] = []
        for k in range(self.judges):
            for c in range(self.conditions):
                for item in items:
                    for repeat in range(self.repeats):
                        gone = rng.random() < self.lost
                        value = None if gone else draw(rng, scale)
                        rows.append((item, f"j{k}", f"c{c}", repeat, value, "malformed" if gone else "ok"))
        return rows


def draw(rng: np.random.Generator, scale: Scale) -> float:
    """A random rating on a scale."""
    if scale.level_values or scale.nominal:
        return float(rng.choice(scale.level_values))
    low, high = (scale.low or 0.0), (10.0 if scale.high is None else scale.high)
    return float(np.round(rng.uniform(low, high), 1))


def worlds(**fixed: Any) -> st.SearchStrategy[World]:
    """Random worlds, small enough to meet the degenerate ones often."""
    free: dict[str, st.SearchStrategy[Any]] = {
        "seed": st.integers(0, 10**6),
        "scale": st.sampled_from(sorted(SCALES)),
        "items": st.integers(1, 7),
        "pools": st.integers(1, 3),
        "raters": st.integers(1, 4),
        "judges": st.integers(1, 2),
        "conditions": st.integers(1, 2),
        "repeats": st.integers(1, 2),
        "gaps": st.sampled_from([0.0, 0.4]),
        "lost": st.sampled_from([0.0, 0.3, 1.0]),
        "culture": st.booleans(),
    }
    return st.builds(World, **{name: st.just(fixed[name]) if name in fixed else free[name] for name in free})


def run(made: tuple[Corpus, Judgments | None], **options: Any) -> Profile:
    """The profile, checked."""
    profile = evaluate(*made, replace(QUICK, **options))
    check(profile)
    return profile


def values(profile: Profile, *columns: str) -> dict[tuple[str, ...], float | None]:
    """Values by the key of their row (or by these columns)."""
    names = columns or tuple(KEY)
    return {row[:-1]: row[-1] for row in profile.estimates.select(*names, "value").iter_rows()}


def check(profile: Profile) -> None:
    """What holds of every table of estimates."""
    frame = profile.estimates
    assert frame.select(KEY).is_duplicated().sum() == 0
    assert frame["signature"].is_duplicated().sum() == 0
    for column in ("value", "low", "high"):
        given = frame[column].drop_nulls()
        assert given.is_finite().all(), frame.filter(~pl.col(column).is_finite())
    filled = frame.select(pl.sum_horizontal(pl.col("value", "label", "undefined").is_not_null())).to_series()
    assert (filled == 1).all()
    assert frame.filter(
        (pl.col("low") > pl.col("high")) | (pl.col("low").is_null() != pl.col("high").is_null())
    ).is_empty()
    assert frame.filter(pl.col("value").is_null() & pl.col("low").is_not_null()).is_empty()
    assert (frame["n"] >= 0).all()
    for reason in frame["undefined"].drop_nulls().unique():
        assert reason != "not_computable", frame.filter(pl.col("undefined") == reason)
        assert all(has(f"undefined.{reason}", lang) for lang in LANGUAGES), reason
    for row in frame.iter_rows(named=True):
        check_signature(row)


def check_signature(row: Mapping[str, Any]) -> None:
    """The signature parses, prints back and says what the row says."""
    signature = Signature.parse(row["signature"])
    assert str(signature) == row["signature"]
    assert signature.name == row["statistic"]
    params = [f"{key}={value}" for key, value in signature.params.items()]
    assert len(params) == (row["params"].count(",") + 1 if row["params"] else 0)
    assert signature.definition["question"] == row["question"]
    assert signature.source["n"] == str(row["n"])
    assert signature.source.get("excluded", "") == row["excluded"]
    on = {name: row[name] for name in ("pool", "pool_b", "judge", "condition", "slice") if row[name]}
    assert dict(signature.on) == on
    if row["low"] is not None:
        assert signature.definition["interval"] != "none"
        assert math.isclose(float(signature.definition["level"]), 0.95)
