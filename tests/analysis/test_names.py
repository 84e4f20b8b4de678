"""Names of slices, selections and cells parse back to what they were made of, and no two are the same."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.analysis.evaluate import evaluate
from voirdire.analysis.naming import cell_column, cell_of, level_name, levels_of
from voirdire.analysis.options import AuditOptions
from voirdire.analysis.profile import Profile
from voirdire.corpus.reading import CorpusOptions, JudgmentOptions, read_corpus, read_judgments
from voirdire.errors import InputError

NAMES = st.text(st.sampled_from("ab%&=|26C37D ,"), max_size=6)
QUICK = AuditOptions(draws=10, permutations=10)
ITEMS = [f"i{place}" for place in range(8)]


@given(pairs=st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=3))
def test_levels_come_back(pairs: list[tuple[str, str]]) -> None:
    assert levels_of("&".join(level_name(*pair) for pair in pairs)) == pairs


@given(judge=NAMES, condition=NAMES)
def test_cells_come_back(judge: str, condition: str) -> None:
    assert cell_of(cell_column(judge, condition)) == (judge, condition)


def audited(items: pl.DataFrame | None = None, judge: str = "m", judges: pl.DataFrame | None = None) -> Profile:
    """Two pools and two judges of eight items."""
    ratings = pl.DataFrame(
        [(item, f"{pool}{k}", pool, 1 + (n + k) % 5) for n, item in enumerate(ITEMS) for pool in "ab" for k in (0, 1)],
        schema=["item_id", "rater_id", "pool", "rating"], orient="row",
    )  # fmt: skip
    judged = pl.DataFrame(
        [(item, name, 1 + n % 5 if name == "n" else 3) for n, item in enumerate(ITEMS) for name in (judge, "n")],
        schema=["item_id", "judge", "rating"], orient="row",
    )  # fmt: skip
    corpus = read_corpus(CorpusOptions(ratings, items=items))
    return evaluate(corpus, read_judgments(JudgmentOptions(judged, judges=judges), corpus), QUICK)


def test_slices_of_awkward_levels_are_apart() -> None:
    culture = ["us", "cn", "us&category=food", "cn"] * 2
    items = pl.DataFrame({"item_id": ITEMS, "culture": culture, "category": ["food", "drink"] * 4})
    made = audited(items).estimates["slice"].unique()
    assert {"culture=us&category=food", "culture=us%26category%3Dfood"} <= set(made)
    assert {("culture", "us&category=food")} in [set(levels_of(name)) for name in made]


def test_a_column_called_anchor_is_no_anchor_class() -> None:
    items = pl.DataFrame({"item_id": ITEMS, "anchor": ["high", "low"] * 4})
    profile = audited(items)
    assert profile.get("n_items", pool="a", slice="anchor_given=high").n == 4
    assert "anchor_given=low" in set(profile.estimates["slice"])


def test_a_judge_called_as_a_level_is_refused_when_they_differ() -> None:
    judges = pl.DataFrame({"judge": ["origin=us", "n"], "origin": ["cn", "us"]})
    with pytest.raises(InputError) as caught:
        audited(judge="origin=us", judges=judges)
    assert caught.value.key == "audit.selection_twice"
    same = pl.DataFrame({"judge": ["origin=us", "n"], "origin": ["us", "cn"]})
    assert audited(judge="origin=us", judges=same).get("mean_rating", judge="origin=us", condition="-").value == 3


def test_repeats_numbered_at_will_cost_no_more_room() -> None:
    ratings = [(item, f"{pool}0", pool, 1 + n % 5) for n, item in enumerate(ITEMS) for pool in "ab"]
    judged = [(item, "m", 1000 * n + 7 * k, 1 + (n + k) % 5) for n, item in enumerate(ITEMS) for k in (0, 1)]
    corpus = read_corpus(
        CorpusOptions(pl.DataFrame(ratings, schema=["item_id", "rater_id", "pool", "rating"], orient="row"))
    )
    frame = pl.DataFrame(judged, schema=["item_id", "judge", "repeat", "rating"], orient="row")
    regular = frame.with_columns(pl.col("repeat") % 1000)
    first, second = (
        evaluate(corpus, read_judgments(JudgmentOptions(table), corpus), QUICK).estimates.drop("signature")
        for table in (frame, regular)
    )
    assert first.equals(second)
