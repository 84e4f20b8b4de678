"""An undecided pair says which condition of the rule is not met, and what shuffled ratings would give."""

from __future__ import annotations

import polars as pl
import pytest
from tests.reporting.fake_profile import FakeProfile, two_pools

from voirdire.reporting.access import Cell, View
from voirdire.reporting.verdicts import judge_sentences
from voirdire.reporting.words import Words


def undecided(divergent: str, low: float, high: float) -> tuple[FakeProfile, dict[str, str]]:
    """A profile whose first pair verdict is *undecided*, with the gate of the pair and delta's interval as given."""
    made = two_pools()
    row = made.estimates.filter((pl.col("statistic") == "verdict") & (pl.col("pool_b") != "")).row(0, named=True)
    place = {name: row[name] for name in ("question", "pool", "pool_b", "judge", "condition")}
    pair = pl.all_horizontal(pl.col(name) == place[name] for name in ("question", "pool", "pool_b"))
    cell = pair & pl.all_horizontal(pl.col(name) == place[name] for name in ("judge", "condition"))
    verdict, gate = pl.col("statistic") == "verdict", pl.col("statistic") == "gate.divergent"
    delta = cell & (pl.col("statistic") == "delta") & (pl.col("params") == "")
    frame = made.estimates.with_columns(
        pl.when(cell & verdict)
        .then(pl.lit("undecided"))
        .when(pair & gate)
        .then(pl.lit(divergent))
        .otherwise("label")
        .alias("label"),
        pl.when(delta).then(low).otherwise("low").alias("low"),
        pl.when(delta).then(high).otherwise("high").alias("high"),
    )
    return FakeProfile(frame, made.meta, made.distributions, made.items), place


@pytest.mark.parametrize(
    ("divergent", "low", "high", "english", "chinese"),
    [
        ("no", 0.1, 0.2, "do not differ beyond chance", "并不超出偶然"),
        ("yes", -0.1, 0.2, "the interval of delta reaches 0", "Δ 的区间包含 0"),
        ("yes", 0.1, 0.2, "corrected for rater noise reaches 0", "校正评分者噪声后"),
    ],
)
def test_the_reason_is_said(divergent: str, low: float, high: float, english: str, chinese: str) -> None:
    profile, place = undecided(divergent, low, high)
    for lang, reason, shuffled in (("en", english, "shuffled over the items"), ("zh", chinese, "在条目间打乱")):
        cell = Cell(place["judge"], place["condition"])
        sentence = judge_sentences(View(profile), Words(lang), place["question"], cell)[-1]
        assert reason in sentence
        assert (
            sentence.count(shuffled)
            == profile.estimates.filter(
                pl.all_horizontal(pl.col(name) == value for name, value in place.items()),
                statistic="tilt",
                params="control=permuted",
            ).height
        )
