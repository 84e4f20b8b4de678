"""Whatever the corpus: no exception, no NaN, one answer a row, reasons with sentences, signatures that say the row."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.analysis.builders import World, run, worlds

OPTIONS = st.fixed_dictionaries(
    {
        "interval": st.sampled_from(["percentile", "bca"]),
        "resample": st.sampled_from(["items", "items+raters"]),
        "consensus": st.sampled_from(["mean", "median"]),
        "min_raters": st.integers(1, 3),
        "min_gap": st.sampled_from([0.0, 0.5]),
        "draws": st.sampled_from([0, 20]),
    }
)


@given(world=worlds(), options=OPTIONS)
@settings(max_examples=25)
def test_any_small_corpus(world: World, options: dict[str, object]) -> None:
    run(world.make(), **options)


@given(world=worlds(scale="five", culture=False, judges=1, conditions=1))
@settings(max_examples=8)
def test_every_pair_and_no_pooled_number(world: World) -> None:
    made, judged = world.make()
    frame = run((made, judged)).estimates
    pairs = set(frame.filter(statistic="cross_pool_mad", slice="all").select("pool", "pool_b").iter_rows())
    assert pairs == set(combinations(made.pools, 2))
    against = frame.filter(statistic="mae")
    assert set(against["pool"]) == set(made.pools)
    of_pools = frame.filter(frame["statistic"].is_in(["delta", "tilt", "delta_sq", "verdict", "gate", "alpha"]))
    assert (of_pools["pool"] != "").all()


@given(world=worlds(pools=2, culture=True, items=6, lost=0.3, repeats=1))
@settings(max_examples=8)
def test_n_and_exclusions_add_up(world: World) -> None:
    """Every cell of the matrix of judgments is used or counted under a reason, in every slice."""
    made, judged = world.make()
    frame = run((made, judged)).estimates
    items = made.ratings["item_id"].unique().to_list()
    cultures = made.items.filter(made.items["item_id"].is_in(items))["culture"].to_list()
    sizes = {"all": len(items), "culture=us": cultures.count("us"), "culture=cn": cultures.count("cn")}
    for name in ("mae", "delta", "mean_rating", "tilt", "bias"):
        full = frame.filter(frame["statistic"] == name, frame["params"] == "", frame["judge"] == "j0")
        for row in full.filter(full["condition"] == "c0", full["slice"].is_in(list(sizes))).iter_rows(named=True):
            excluded = sum(int(part.split("=")[1]) for part in row["excluded"].split(";") if part)
            by_scale = row["undefined"] in ("nominal_scale", "pairwise_votes", "few_levels", "no_levels")
            assert by_scale or row["n"] + excluded == sizes[row["slice"]], row
