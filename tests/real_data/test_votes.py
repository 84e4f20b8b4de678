"""The votes of the CEMS students between business schools, and judges made of nothing, by plain counting."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.real_data.folders import Audit, Case, audit

pytestmark = pytest.mark.slow
POOLS = ("commerce", "other_study")
SIGN = {"first": 1.0, "second": -1.0, "tie": 0.0}


def votes_of(data: Path) -> pd.DataFrame:
    return pd.read_csv(data / "cems_pairs" / "ratings.csv").dropna(subset=["rating"])


def shares_of(data: Path) -> dict[str, pd.DataFrame]:
    """Pool -> item x label."""
    votes = votes_of(data)
    return {
        pool: pd.crosstab(part["item_id"], part["rating"], normalize="index") for pool, part in votes.groupby("pool")
    }


def answers_of(data: Path) -> pd.DataFrame:
    """Item x judge: always the first school, always the second, what most of commerce say, a fixed mixture."""
    shares = shares_of(data)["commerce"]
    mixture = np.random.default_rng(7).choice(["first", "second", "tie"], len(shares))
    return pd.DataFrame(
        {"first": "first", "second": "second", "copy": shares.idxmax(axis=1), "mixture": mixture}, index=shares.index
    )


@pytest.fixture(scope="module")
def found(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Audit:
    """The audit of all four judges; both orders of every pair are asked of the copy, which answers alike."""
    folder = tmp_path_factory.mktemp("votes")
    said = answers_of(shared_data).melt(ignore_index=False, var_name="judge", value_name="rating").reset_index()
    orders = pd.concat([said.assign(shown_first="a"), said[said["judge"] == "copy"].assign(shown_first="b")])
    orders.to_csv(folder / "judgments.csv", index=False)
    options = ("--level", "pairwise", "--judgments", str(folder / "judgments.csv"))
    return audit(Case("votes", "cems_pairs", options=options), shared_data, folder / "out")


def test_agreement_with_its_ceilings(found: Audit, shared_data: Path) -> None:
    answers, votes = answers_of(shared_data), votes_of(shared_data)
    for pool, shares in shares_of(shared_data).items():
        best = shares.max(axis=1).mean()
        assert found.row("agreement.best", pool=pool)["value"] == pytest.approx(best, abs=1e-12)
        counts = [part["rating"].value_counts() for _, part in votes[votes["pool"] == pool].groupby("item_id")]
        human = np.mean([(n * (n - 1)).sum() / (n.sum() * (n.sum() - 1)) for n in counts])
        assert found.row("agreement.human", pool=pool)["value"] == pytest.approx(human, abs=1e-12)
        for judge in answers:
            place = {"pool": pool, "judge": judge, "condition": "-"}
            wanted = np.mean([shares.loc[item, vote] for item, vote in answers[judge].items()])
            assert found.row("agreement", **place)["value"] == pytest.approx(wanted, abs=1e-12)
            assert found.row("mae", **place)["value"] == pytest.approx(1 - wanted, abs=1e-12)
    copied = found.row("agreement", pool="commerce", judge="copy", condition="-")["value"]
    assert copied == pytest.approx(found.row("agreement.best", pool="commerce")["value"])


def test_delta_gap_and_ratio(found: Audit, shared_data: Path) -> None:
    shares, answers = shares_of(shared_data), answers_of(shared_data)
    gap = (shares["commerce"] - shares["other_study"]).abs().sum(axis=1).mean() / 2
    pair = {"pool": "commerce", "pool_b": "other_study"}
    assert found.row("cross_pool_tv", **pair)["value"] == pytest.approx(gap, abs=1e-12)
    for judge in answers:
        disagreement = [
            1 - np.mean([shares[pool].loc[item, vote] for item, vote in answers[judge].items()]) for pool in POOLS
        ]
        place = {**pair, "judge": judge, "condition": "-"}
        delta = disagreement[0] - disagreement[1]
        assert found.row("delta", **place)["value"] == pytest.approx(delta, abs=1e-12)
        assert found.row("tilt", params="form=ratio", **place)["value"] == pytest.approx(-delta / gap, abs=1e-12)
        assert abs(delta) <= gap


def test_preferred_shares(found: Audit, shared_data: Path) -> None:
    votes = votes_of(shared_data)
    items = pd.read_csv(shared_data / "cems_pairs" / "items.csv").set_index("item_id")
    rows = votes.join(items[["first", "second"]], on="item_id")
    win = rows["rating"].map(SIGN)
    long = pd.concat(
        [
            rows.assign(thing=rows["first"], won=(1 + win) / 2),
            rows.assign(thing=rows["second"], won=(1 - win) / 2),
        ]
    )
    wanted = long.groupby(["pool", "thing", "item_id"])["won"].mean().groupby(["pool", "thing"]).mean()
    shown = found.rows("preferred_share", slice="all")
    assert shown.height == 12
    for row in shown.iter_rows(named=True):
        thing = row["params"].removeprefix("thing=")
        assert row["value"] == pytest.approx(wanted[row["pool"], thing], abs=1e-12)
        assert row["low"] <= row["value"] <= row["high"]
        assert row["n"] == 5
    assert wanted["commerce"].idxmax() == wanted["other_study"].idxmax() == "London"


def test_the_gate_passes_and_the_pools_differ(found: Audit) -> None:
    assert set(found.rows("gate")["label"]) == {"pass_low_alpha"}
    assert found.row("gate.divergent")["label"] == "yes"
    assert found.rows("reliability", slice="all")["value"].min() > 0.9
    assert set(found.rows("verdict")["label"]) == {"cannot_say"}
    assert set(found.estimates.filter(found.estimates["undefined"] == "nominal_scale")["statistic"]) == set()


def test_the_side_shown_first(found: Audit) -> None:
    assert found.row("position.bias", judge="first", condition="-")["value"] == 1
    assert found.row("position.bias", judge="second", condition="-")["value"] == -1
    assert found.row("position.bias", judge="copy", condition="-")["value"] == 0
    assert found.row("position.consistency", judge="copy", condition="-")["value"] == 1
    assert found.row("position.consistency", judge="first", condition="-")["undefined"] == "one_order"


def test_fifteen_pairs_of_six_schools(shared_data: Path) -> None:
    items = pd.read_csv(shared_data / "cems_pairs" / "items.csv")
    pairs = {frozenset(pair) for pair in items[["first", "second"]].itertuples(index=False)}
    assert pairs == {frozenset(pair) for pair in combinations(sorted(set(items["first"]) | set(items["second"])), 2)}


def test_the_report_reads_in_plain_words(found: Audit) -> None:
    page = (found.out / "report.md").read_text(encoding="utf-8")
    for words in ("Who prefers what", "Best possible agreement", "Agreement of raters", "The side shown first"):
        assert words in page
    assert "| T[" not in page
    assert "Spearman" not in page.split("Numbers that could not be computed")[0]
