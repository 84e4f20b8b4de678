"""The specification curve: its values are those of an audit, and its verdicts what the values say."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from voirdire.analysis.evaluate import evaluate
from voirdire.analysis.options import AuditOptions
from voirdire.analysis.speccurve import SpecificationCurve, speccurve
from voirdire.analysis.specifications import half_step, standardised
from voirdire.analysis.survival import survival
from voirdire.app.inputs import read_inputs
from voirdire.app.simulate import simulate
from voirdire.errors import UsageError
from voirdire.stats.features import PoolArrays

OPTIONS = {"draws": 60, "permutations": 20}
JUDGES = ["faithful=faithful_neutral", "toward_us=oriented_us", "toward_cn=oriented_cn", "level=constant:4"]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sim")
    simulate(folder, items=120, judges=JUDGES, personas="us,cn", demonstrations=["aa=-0.4"], seed=3)
    return read_inputs({"folder": folder, **OPTIONS})


@pytest.fixture(scope="module")
def curve(inputs):
    return speccurve(inputs.corpus, inputs.judgments, inputs.options)


@pytest.fixture(scope="module")
def profile(inputs):
    return evaluate(inputs.corpus, inputs.judgments, inputs.options)


def test_the_audit_keeps_the_same_curve(profile, curve):
    assert profile.specifications.equals(curve.frame)


def main(curve: SpecificationCurve, statistic: str) -> pl.DataFrame:
    return curve.frame.filter(pl.col("main") & (pl.col("statistic") == statistic))


@pytest.mark.parametrize("statistic", ["tilt", "delta", "orientation.w"])
def test_the_main_definition_is_the_number_of_the_audit(profile, curve, statistic):
    found = main(curve, statistic)
    rows = profile.estimates.filter(
        (pl.col("statistic") == statistic) & (pl.col("params") == "") & (pl.col("slice") == "all")
    )
    both = found.join(rows, on=["judge", "condition", "pool", "pool_b"], suffix="_audit")
    assert both.height == found.height == len(JUDGES)
    for name in ("value", "low", "high"):
        ours, theirs = both[name].to_numpy(), both[f"{name}_audit"].to_numpy()
        assert np.allclose(ours, theirs, atol=1e-9, equal_nan=True)
    assert both["undefined"].to_list() == both["undefined_audit"].to_list()


def test_cells_with_demonstrations_are_left_out(curve):
    assert curve.frame["condition"].unique().to_list() == ["design=base"]


def test_a_small_gap_is_left_out_as_by_the_audits_own_option(inputs, curve):
    options = AuditOptions(**OPTIONS, min_gap=0.5)
    again = speccurve(inputs.corpus, inputs.judgments, options)
    place = (pl.col("min_gap") == 0.5) & (pl.col("pools") == "raw") & (pl.col("correction") == "no")
    place &= (pl.col("consensus") == "mean") & (pl.col("anchors") == "in") & (pl.col("subset") == "all")
    assert main(again, "tilt")["value"].to_list() == curve.frame.filter(place)["value"].to_list()


def test_every_choice_is_crossed_with_every_other(curve):
    shares = curve.frame.filter(judge="faithful").group_by("statistic").len().sort("statistic")
    subsets = curve.frame["subset"].n_unique()
    assert subsets == 6
    crossed = 2 * 2 * 2 * 2 * subsets  # consensus, anchors, pools, correction
    assert dict(shares.iter_rows()) == {"delta": crossed, "orientation.w": crossed, "tilt": 2 * crossed}


def test_swapping_the_pools_turns_every_side(inputs, curve):
    options = AuditOptions(**OPTIONS, pairs=(("cn", "us"),))
    turned = speccurve(inputs.corpus, inputs.judgments, options).frame
    keys = ["judge", "statistic", "consensus", "min_gap", "anchors", "pools", "correction", "subset"]
    both = curve.frame.join(turned, on=keys, suffix="_turned", nulls_equal=True).filter(pl.col("value").is_not_null())
    assert both.height > 500
    twice = pl.when(pl.col("statistic") == "orientation.w").then(1.0).otherwise(0.0)
    assert both.select((pl.col("value") + pl.col("value_turned") - twice).abs().max()).item() < 1e-6
    assert both.select(pl.col("value_turned").is_null().any()).item() is False


def test_oriented_judges_keep_their_sign_and_a_neutral_one_has_none(curve):
    summary = {(row["judge"], row["statistic"]): row for row in curve.summary().iter_rows(named=True)}
    assert summary["toward_us", "tilt"]["verdict"] in {"survives", "all_items"}
    assert summary["toward_us", "tilt"]["main"] > 0 > summary["toward_cn", "tilt"]["main"]
    assert summary["toward_us", "orientation.w"]["main"] < 0.5 < summary["toward_cn", "orientation.w"]["main"]
    assert summary["faithful", "orientation.w"]["verdict"] == "undecided"
    assert summary["level", "orientation.w"]["verdict"] == "undefined"
    row = summary["toward_us", "delta"]
    assert row["agree"] <= row["defined"]
    assert row["lowest"] <= row["median"] <= row["highest"]


def test_a_constant_judge_has_no_standardised_definition(curve):
    rows = curve.frame.filter((pl.col("judge") == "level") & (pl.col("pools") == "standardised"))
    kept = rows.filter((pl.col("statistic") == "tilt") & (pl.col("consensus") == "mean"))
    assert set(kept["undefined"]) == {"constant_judge"}


def test_a_median_consensus_cannot_be_corrected(curve):
    rows = curve.frame.filter((pl.col("consensus") == "median") & (pl.col("correction") == "yes"))
    assert rows["value"].null_count() == rows.height
    assert "median_consensus" in set(rows["undefined"])


def _summary(values: list[float | None], low: float, high: float, subset: list[str]) -> str:
    rows = [
        {
            "question": "q", "judge": "m", "condition": "*", "pool": "a", "pool_b": "b", "statistic": "tilt",
            "value": value, "low": low if k == 0 else None, "high": high if k == 0 else None, "subset": where,
            "main": k == 0,
        }
        for k, (value, where) in enumerate(zip(values, subset, strict=True))
    ]  # fmt: skip
    return SpecificationCurve(pl.DataFrame(rows, infer_schema_length=None)).summary()["verdict"].item()


def test_verdicts_by_rule():
    two, three = ["all", "all"], ["all", "all", "culture=x"]
    assert _summary([0.3, 0.1], 0.1, 0.5, two) == "survives"
    assert _summary([0.3, -0.1], 0.1, 0.5, two) == "changes"
    assert _summary([0.3, 0.1, -0.1], 0.1, 0.5, three) == "all_items"
    assert _summary([0.3, 0.1], -0.1, 0.5, two) == "undecided"
    assert _summary([None, 0.1], 0.1, 0.5, two) == "undefined"
    assert _summary([0.3, 0.0], 0.1, 0.5, two) == "changes"


def test_standardised_pools_and_judges_have_mean_0_and_sd_1():
    rng = np.random.default_rng(0)
    arrays = PoolArrays.of(rng.uniform(1, 5, (2, 40)))
    cube = rng.integers(1, 6, (3, 40, 1)).astype(float)
    pools, judges = standardised(arrays, cube, (0, 1))
    assert np.allclose(pools.mean.mean(1), 0)
    assert np.allclose(pools.mean.std(1), 1)
    assert np.allclose(judges.mean((1, 2)), 0)
    assert np.allclose(judges.std((1, 2)), 1)


def test_half_a_step_of_the_scale(inputs):
    from voirdire.analysis.panels import build_panel

    assert half_step(build_panel(inputs.corpus, inputs.corpus.question("q1"))) == 0.5


def test_without_judgments_it_is_refused(tmp_path):
    from voirdire.app.speccurve import speccurve as run

    simulate(tmp_path, items=12)
    for name in ("judgments", "judges", "conditions"):
        (tmp_path / f"{name}.csv").unlink()
    with pytest.raises(UsageError) as caught:
        run(folder=tmp_path)
    assert caught.value.key == "speccurve.error.no_judgments"


@pytest.mark.parametrize("consensus", ["mean", "median"])
def test_labels_without_order_have_one_definition_which_is_the_main_one(consensus):
    raters = [(item, pool, rater) for item in range(8) for pool in ("us", "cn") for rater in range(3)]
    ratings = pl.DataFrame(
        {
            "item_id": [f"i{item}" for item, _, _ in raters],
            "rater_id": [f"{pool}{rater}" for _, pool, rater in raters],
            "pool": [pool for _, pool, _ in raters],
            "rating": ["abc"[(item + rater * (pool == "us")) % 3] for item, pool, rater in raters],
        }
    )
    judgments = pl.DataFrame({"item_id": [f"i{item}" for item in range(8)], "judge": "m", "rating": list("abcabcab")})
    found = read_inputs({"ratings": ratings, "judgments": judgments, "consensus": consensus, **OPTIONS})
    profile = evaluate(found.corpus, found.judgments, found.options)
    assert profile.specifications["main"].to_list() == [True, False, True, True]
    assert survival(profile.specifications)["verdict"].to_list()[0] == "undefined"
    assert "<h1>" in profile.to_html()
