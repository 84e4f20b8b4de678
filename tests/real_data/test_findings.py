"""What the folders really show: figures that do not hang on the number of draws."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest
from tests.real_data.folders import Audit

pytestmark = pytest.mark.slow
Audited = Callable[[str], Audit]


def test_crehate_a_constant_tilts_as_much_as_the_classifiers(audited: Audited) -> None:
    found = audited("crehate")
    gap = found.row("cross_pool_mad", pool="SG", pool_b="US")
    shuffled = found.row("gap_test.null_mean", pool="SG", pool_b="US")
    assert gap["value"] == pytest.approx(0.2037, abs=5e-5)
    assert shuffled["value"] == pytest.approx(0.1776, abs=0.003)
    tilts = found.rows("tilt", pool="SG", pool_b="US", slice="all", params="")
    real = tilts.filter(~pl.col("judge").str.contains(r"^control:|\*") & (pl.col("condition") != "*"))
    constant = tilts.filter(pl.col("judge") == "control:constant_0")["value"].item()
    assert constant == pytest.approx(-0.3443, abs=1e-4)
    assert sorted(real["value"].to_list())[1] > constant
    assert found.rows("gate", label="fail")["pool"].sort().to_list() == ["AU", "GB", "SG", "ZA"]
    between = found.rows("verdict").filter(pl.col("pool_b") != "")
    assert between["label"].unique().to_list() == ["cannot_say"]


@pytest.mark.parametrize(
    ("name", "statistic", "gap", "shuffled"),
    [
        ("seegull", "cross_pool_mad", 0.3067, 0.3028),
        ("seegull with copies", "cross_pool_mad", 0.2925, 0.3006),
        ("seegull three labels", "cross_pool_tv", 0.3124, 0.3060),
    ],
)
def test_seegull_hardly_has_a_gap(audited: Audited, name: str, statistic: str, gap: float, shuffled: float) -> None:
    found = audited(name)
    assert found.row(statistic)["value"] == pytest.approx(gap, abs=1e-4)
    assert found.row("gap_test.null_mean")["value"] == pytest.approx(shuffled, abs=0.002)
    assert "shuffled=within items" in found.row("gap_test.p")["signature"]
    assert set(found.rows("gate")["label"]) == {"fail"}


def test_seegull_slots_are_said_to_look_like_no_people(audited: Audited) -> None:
    notes = [note["key"] for note in audited("seegull bare").profile["meta"]["notes"]]
    assert "input.note.looks_anonymous" in notes


def test_trust_ama_passes_by_reliability_and_fails_on_surprise(audited: Audited) -> None:
    found = audited("trust_ama")
    assert found.rows("alpha", slice="all")["value"].max() < 0.21
    gates = found.rows("gate")
    assert dict(gates["label"].value_counts().rows()) == {"pass_low_alpha": 27, "fail": 33}
    assert set(gates.filter(pl.col("question") == "surprise")["label"]) == {"fail"}
    assert set(gates.filter(pl.col("pool").is_in(["CN", "IN"]))["label"]) == {"fail"}
    assert found.rows("reliability", slice="all")["value"].max() == pytest.approx(0.952, abs=5e-4)
    for pool in ("US", "IN"):
        assert found.row("reliability", question="surprise", pool=pool)["value"] < 0.05


def _cells(found: Audit) -> pl.DataFrame:
    rows = found.rows("mae_vs_constant", slice="all").filter(~pl.col("params").str.contains("control="))
    return rows.filter(~pl.col("judge").str.contains(r"^control:|\*") & ~pl.col("condition").str.contains(r"\*"))


def test_hanna_few_cells_beat_a_constant(audited: Audited) -> None:
    cells = _cells(audited("hanna"))
    assert cells.height == 96
    nearer = cells.filter(pl.col("value") < 0)
    assert set(nearer.select("question", "judge").rows()) == {("Complexity", "Mistral-7B")}
    assert nearer.height == 4
    assert audited("hanna").intake("judgments")["excluded"] == {"out_of_scale": 438}


def test_mena_hardly_a_cell_beats_a_constant(audited: Audited) -> None:
    found = audited("mena_values")
    own = _cells(found).filter(pl.col("condition").str.split(":").list.last() == pl.col("pool"))
    assert own.height == 192
    assert (own["value"] < 0).sum() == 2  # three before folds that disagree took the best constant of all items
    verdicts = dict(found.rows("verdict")["label"].value_counts().rows())
    assert verdicts.pop("better_than_constant", 0) < 10  # with 2,000 draws there is none
    assert set(verdicts) == {"cannot_say", "no_better_than_constant"}
    assert set(found.rows("gate")["label"]) == {"unknown"}


def test_dices_a_pool_of_one_expert(audited: Audited) -> None:
    found = audited("dices350")
    reasons = {name: found.row(name, pool="expert")["undefined"] for name in ("reliability", "ceiling.own")}
    assert reasons == {"reliability": "one_rater", "ceiling.own": "no_individual_ratings"}
    assert found.rows("alpha", pool="expert")["undefined"].item() == "no_pairable"
    assert found.rows("gate", pool="expert")["label"].item() == "unknown"
    assert found.rows("gate", pool="crowd")["label"].item() == "pass_low_alpha"


def test_multipico_reliability_is_undefined_with_reasons(audited: Audited) -> None:
    rows = audited("multipico").rows("reliability", slice="all")
    undefined = rows.filter(pl.col("undefined").is_not_null())
    assert dict(undefined["undefined"].value_counts().rows()) == {"one_rater": 7, "few_rated_twice": 4}
    assert undefined.filter(pl.col("pool") == "Canada")["undefined"].item() == "one_rater"
    assert rows["value"].max() < 0.8


def test_psa_pools_agree_and_hardly_an_item_is_an_anchor(audited: Audited) -> None:
    found = audited("psa001")
    medians = found.rows("cross_pool_pearson", slice="all").group_by("question").agg(pl.col("value").median())["value"]
    assert medians.min() == pytest.approx(0.812, abs=5e-4)
    assert medians.max() == pytest.approx(0.918, abs=5e-4)
    contested = found.rows("anchor_class.contested", slice="all")["value"].sum()
    assert contested / (120 * 55 * 13) > 0.98
    assert set(found.rows("anchor_class.divergent", slice="all")["undefined"]) == {"aggregate_pool"}


def test_viescore_judges_on_another_scale(audited: Audited) -> None:
    found = audited("viescore undeclared")
    real = ~pl.col("judge").str.contains(r"^control:|\*")
    assert set(found.rows("mae", slice="all", params="").filter(real)["undefined"]) == {"other_scale"}
    assert found.rows("spearman", slice="all", params="").filter(real)["value"].max() > 0.6
    assert set(found.rows("verdict")["label"]) == {"cannot_say"}
    declared = audited("viescore")
    assert declared.rows("mae", slice="all", params="").filter(real)["undefined"].is_null().all()
    assert "mapped linearly" in (declared.out / "report.html").read_text(encoding="utf-8")


def test_cems_ties_are_labels(audited: Audited) -> None:
    found = audited("cems_pairs")
    assert found.profile["meta"]["questions"][0]["labels"] == ["first", "second", "tie"]
    assert set(found.rows("gate")["label"]) == {"pass_low_alpha"}
    assert found.rows("cross_pool_pearson", slice="all")["undefined"].item() == "nominal_scale"
    assert found.row("gate.divergent")["label"] == "yes"


def test_a_report_of_pools_is_not_called_an_audit_of_judges(audited: Audited) -> None:
    page = (audited("seegull").out / "report.html").read_text(encoding="utf-8")
    assert "Human pools as references" in page
    assert "Audit of judges" not in page
    assert "two labels (not_stereotype, stereotype)" in page
