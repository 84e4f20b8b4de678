"""Two image regimes of the same items: against numpy and scipy on a built corpus, and what cannot be matched."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.analysis import builders
from tests.experiment.parts import at, experiment_of, rows_of

from voirdire.analysis.experiment.regimes import add_regimes
from voirdire.corpus.corpus import Corpus, Judgments
from voirdire.errors import UsageError
from voirdire.stats.resampling import item_weights

PAIRS, CELLS = 18, [("j", "a"), ("j", "b"), ("k", "a"), ("k", "b")]
RNG = np.random.default_rng(3)
CONCEPT = RNG.uniform(1.5, 4.5, (2, PAIRS))
MEANS = {regime: np.clip(CONCEPT + RNG.normal(0, 0.5, (2, PAIRS)), 1, 5).round(1) for regime in ("generated", "photo")}
RATINGS = {
    regime: np.clip(np.rint(MEANS[regime].mean(0) + RNG.normal(0, 1, (len(CELLS), PAIRS))), 1, 5) for regime in MEANS
}
RATINGS["photo"][0, 4] = np.nan
CULTURE = np.array(["us" if place % 3 else "cn" for place in range(PAIRS)])


def made(by: str = "pair_id", extra: int = 0) -> tuple[Corpus, Judgments]:
    """Items of both regimes matched by a column; ``extra`` further photographs without a counterpart."""
    names = {regime: [f"{regime[0]}{place:02}" for place in range(PAIRS)] for regime in MEANS}
    rows: list[dict[str, Any]] = [
        {"item_id": name, "culture": CULTURE[place], "kind": regime, "pair_id": f"c{place // 2}-{place % 2}",
         "counterpart": names["photo"][place] if regime == "generated" else None}
        for regime, ids in names.items() for place, name in enumerate(ids)
    ]  # fmt: skip
    rows += [
        {"item_id": f"x{k}", "culture": "us", "kind": "photo", "pair_id": f"x{k}", "counterpart": None}
        for k in range(extra)
    ]
    given = [
        (names[regime][place], f"{pool}0", pool, float(means[k, place]))
        for regime, means in MEANS.items()
        for k, pool in enumerate(("us", "cn"))
        for place in range(PAIRS)
    ]
    given += [(f"x{k}", f"{pool}0", pool, 2.0 + k % 3) for k in range(extra) for pool in ("us", "cn")]
    judged = [
        (names[regime][place], judge, condition, 0, None if np.isnan(value) else float(value),
         "refused" if np.isnan(value) else "ok")
        for regime, ratings in RATINGS.items()
        for (judge, condition), row in zip(CELLS, ratings, strict=True)
        for place, value in enumerate(row)
    ]  # fmt: skip
    items = pl.DataFrame(rows).drop("pair_id" if by == "counterpart" else "counterpart")
    return builders.corpus(given, items=items), builders.judgments(judged)


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return rows_of(experiment_of(made(extra=3), regime="kind"), add_regimes)


def gaps(regime: str, slice_name: str = "all") -> np.ndarray:
    kept = np.ones(PAIRS, dtype=bool) if slice_name == "all" else slice_name[-2:] == CULTURE
    return (MEANS[regime][0] - MEANS[regime][1])[kept]


@pytest.mark.parametrize("slice_name", ["all", "culture=us", "culture=cn"])
def test_pools_in_each_regime_and_across(frame: pl.DataFrame, slice_name: str) -> None:
    kept = np.ones(PAIRS, dtype=bool) if slice_name == "all" else slice_name[-2:] == CULTURE
    place = {"slice": slice_name, "judge": ""}
    for regime, means in MEANS.items():
        params = {"params": f"regime={regime}", **place}
        r = at(frame, "regime_comparison.pearson", **params)
        assert r["value"] == pytest.approx(np.corrcoef(means[:, kept])[0, 1], abs=1e-9)
        assert r["n"] == kept.sum()
        mad = at(frame, "regime_comparison.mad", **params)
        assert mad["value"] == pytest.approx(np.abs(gaps(regime, slice_name)).mean(), abs=1e-9)
        assert mad["low"] < mad["value"] < mad["high"]
    first, second = gaps("generated", slice_name), gaps("photo", slice_name)
    r = at(frame, "regime_comparison.gap_correlation", **place)
    assert r["value"] == pytest.approx(np.corrcoef(first, second)[0, 1], abs=1e-9)
    difference = (np.abs(first) - np.abs(second)).round(9)
    expected = stats.wilcoxon(difference, correction=False, method="asymptotic", zero_method="wilcox")
    assert at(frame, "regime_comparison.gap_wilcoxon_statistic", **place)["value"] == expected.statistic
    p = at(frame, "regime_comparison.gap_wilcoxon_p", **place)["value"]
    z = at(frame, "regime_comparison.gap_wilcoxon_z", **place)["value"]
    assert p == pytest.approx(expected.pvalue, rel=1e-9)
    assert abs(z) == pytest.approx(abs(expected.zstatistic), rel=1e-9)
    assert 2 * stats.norm.sf(abs(z)) == pytest.approx(p, rel=1e-9)
    ranks = stats.rankdata(np.abs(difference[difference != 0]))
    positive = ranks[difference[difference != 0] > 0].sum()
    assert np.sign(z) == np.sign(positive - ranks.sum() / 2)


def tilt(regime: str, cell: int, kept: np.ndarray) -> float:
    both = kept & ~np.isnan(RATINGS["photo"][cell]) & ~np.isnan(RATINGS["generated"][cell])
    us, cn = MEANS[regime]
    apart = both & (np.abs(us - cn) > 1e-9)
    values = (2 * RATINGS[regime][cell] - us - cn)[apart] / (us - cn)[apart]
    return float(np.clip(values, -1, 1).mean())


def test_cells_in_both_regimes(frame: pl.DataFrame) -> None:
    """Only judgments whose cell answered the item in both regimes count."""
    vectors: dict[tuple[str, str], list[float]] = {}
    for slice_name in ("all", "culture=us", "culture=cn"):
        kept = np.ones(PAIRS, dtype=bool) if slice_name == "all" else slice_name[-2:] == CULTURE
        for regime in MEANS:
            values = [tilt(regime, cell, kept) for cell in range(len(CELLS))]
            vectors[slice_name, regime] = values
            for (judge, condition), value in zip(CELLS, values, strict=True):
                row = at(
                    frame, "regime_comparison.tilt", slice=slice_name, judge=judge, condition=condition,
                    params=f"regime={regime}",
                )  # fmt: skip
                assert row["value"] == pytest.approx(value, abs=1e-9)
        one, two = (np.array(vectors[slice_name, regime]) for regime in ("generated", "photo"))
        place = {"slice": slice_name, "params": "of=tilt", "judge": "*"}
        r = at(frame, "regime_comparison.cell_correlation", **place)
        assert r["value"] == pytest.approx(np.corrcoef(one, two)[0, 1], abs=1e-9)
        assert r["n"] == len(CELLS)
        assert at(frame, "regime_comparison.sign_kept", **place)["value"] == (np.sign(one) == np.sign(two)).mean()
    one, two = (
        np.array(vectors["culture=cn", regime]) - vectors["culture=us", regime] for regime in ("generated", "photo")
    )
    row = at(frame, "regime_comparison.cell_correlation", params="of=tilt_asymmetry")
    assert row["value"] == pytest.approx(np.corrcoef(one, two)[0, 1], abs=1e-9)


def test_interval_draws_an_item_with_its_counterpart(frame: pl.DataFrame) -> None:
    weights = item_weights(PAIRS, 20, np.random.default_rng([0, zlib.crc32(b"q1/items/regimes")]))
    draws = weights @ np.abs(gaps("photo")) / PAIRS
    row = at(frame, "regime_comparison.mad", slice="all", params="regime=photo")
    np.testing.assert_allclose([row["low"], row["high"]], np.quantile(draws, [0.025, 0.975]), atol=1e-9)


def test_counterpart_and_pair_match_alike(frame: pl.DataFrame) -> None:
    other = rows_of(experiment_of(made("counterpart", extra=3), regime="kind"), add_regimes)
    columns = ["statistic", "params", "judge", "condition", "slice", "value", "n"]
    assert other.select(columns).equals(frame.select(columns))


def test_order_of_the_pools_flips_tilt_alone(frame: pl.DataFrame) -> None:
    other = rows_of(experiment_of(made(extra=3), regime="kind", pairs=(("cn", "us"),)), add_regimes)
    place = {"slice": "all", "judge": "j", "condition": "*", "params": "regime=photo"}
    one, two = (at(table, "regime_comparison.delta", **place)["value"] for table in (frame, other))
    assert one == pytest.approx(-two, abs=1e-12)
    place = {"slice": "all", "judge": "*", "params": "of=delta"}
    one, two = (at(table, "regime_comparison.cell_correlation", **place)["value"] for table in (frame, other))
    assert one == pytest.approx(two, abs=1e-9)


def test_nothing_matched_is_told() -> None:
    corpus, judgments = made()
    unmatched = replace(corpus, items=corpus.items.with_columns(pair_id=pl.col("item_id")))
    frame = rows_of(experiment_of((unmatched, judgments), regime="kind"), add_regimes)
    assert set(frame["undefined"]) == {"no_matched_items"}
    assert "regime_comparison.tilt" not in frame["statistic"].to_list()


def test_items_with_two_counterparts_are_left_out() -> None:
    corpus, judgments = made()
    twice = pl.when(pl.col("pair_id") == "c1-0").then(pl.lit("c0-1")).otherwise(pl.col("pair_id"))
    items = corpus.items.with_columns(pair_id=twice, culture=pl.lit("us"))
    frame = rows_of(experiment_of((replace(corpus, items=items), judgments), regime="kind"), add_regimes)
    assert at(frame, "regime_comparison.gap_correlation", slice="all")["n"] == PAIRS - 2


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"regime": "no_such"}, "audit.regime_unknown"),
        ({"regime": "pair_id"}, "audit.regime_levels"),
        ({"drop": "pair_id"}, "audit.regime_pairs"),
    ],
)
def test_columns_that_do_not_do(change: dict[str, str], key: str) -> None:
    corpus, judgments = made()
    if "drop" in change:
        corpus = replace(corpus, items=corpus.items.drop(change["drop"]))
    with pytest.raises(UsageError) as raised:
        add_regimes(experiment_of((corpus, judgments), regime=change.get("regime", "kind")))
    assert raised.value.key == key


def test_without_the_option_there_are_no_rows() -> None:
    assert rows_of(experiment_of(made()), add_regimes).is_empty()
