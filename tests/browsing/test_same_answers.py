"""What one side refused changes no difference: the same answers are compared, not the same items."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.browsing.pairs import made, side
from tests.browsing.test_comparison import line

from voirdire.browsing.comparison import EACH, EVERY, Choice, Side, compare
from voirdire.browsing.paired import Difference
from voirdire.corpus.corpus import Corpus, Judgments

Given = tuple[Corpus, Judgments]


def refusing(given: Given, condition: str, items: Iterable[int], repeat: int = 0, judge: str = "x") -> Given:
    """The same, with a judge that refused one condition (and repeat) of some items."""
    corpus, judgments = given
    gone = (
        (pl.col("condition") == condition)
        & (pl.col("judge") == judge)
        & (pl.col("repeat") == repeat)
        & pl.col("item_id").is_in([f"i{n:02}" for n in items])
    )
    rows = judgments.table.with_columns(
        value=pl.when(~gone).then("value"), status=pl.when(gone).then(pl.lit("refused")).otherwise("status")
    )
    return corpus, replace(judgments, rows=rows)


def persona(repeats: int = 1) -> Given:
    """A judge near pool us by itself, and at random as a persona."""
    corpus, judgments = made(range(24), judges={"x": 0.0}, conditions=("neutral", "persona"), repeats=repeats)
    ratings = corpus.ratings.filter(pl.col("pool") == "us").group_by("item_id").agg(near=pl.col("value").mean().round())
    rows = judgments.table.join(ratings, on="item_id", how="left", maintain_order="left")
    chance = pl.Series(np.random.default_rng(3).integers(1, 6, rows.height).astype(float))
    by_itself = pl.col("condition") == "neutral"
    rows = rows.with_columns(value=pl.when(by_itself).then("near").otherwise(chance)).drop("near")
    return corpus, replace(judgments, rows=rows)


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Side, Side]:
    """The same ratings twice; the second time most answers of the persona were refused."""
    given = persona()
    return (
        side(tmp_path_factory.mktemp("answering"), given),
        side(tmp_path_factory.mktemp("refusing"), refusing(given, "persona", range(5, 24))),
    )


def error(first: Side, second: Side, judge: str = "x", **choice: object) -> Difference:
    return line(compare(first, second, Choice("q1", **choice)), "mae", judge, pool="us").difference  # type: ignore[arg-type]


def test_refusals_change_no_difference(sides: tuple[Side, Side]) -> None:
    found = error(*sides)
    assert found.own[1] < found.own[0] - 0.3  # type: ignore[operator]
    assert (found.value, found.low, found.high) == (0.0, 0.0, 0.0)
    assert found.joint[0] == found.joint[1] == found.own[1]
    assert (found.answers, found.shared, found.items) == ((48, 29), 29, 24)
    assert found.changed == (True, False)
    back = error(sides[1], sides[0])
    assert (back.value, back.low, back.high, back.answers) == (0.0, 0.0, 0.0, (29, 48))


def test_no_number_of_a_judge_changes_where_no_rating_did(sides: tuple[Side, Side]) -> None:
    found = compare(*sides, Choice("q1", statistic=EVERY, conditions=(EACH, EACH)), most=5000)
    known = {one.first.statistic: one.difference for one in found.lines if one.difference.value is not None}
    assert len(known) > 15
    changed = {name for name, one in known.items() if one.value or one.low or one.high}
    assert changed == {"missing_share"}
    lacking = line(compare(*sides, Choice("q1", statistic="missing_share")), "missing_share", "x").difference
    assert lacking.value == pytest.approx(19 / 48)
    assert lacking.shared is None


def test_repeats_are_told_apart(tmp_path: Path) -> None:
    """The first repeat that the second side answered is not the first that the first side answered."""
    given = persona(repeats=2)
    both = [refusing(given, "persona", range(4, 24), repeat=place) for place in (1, 0)]
    folders = [tmp_path / name for name in ("late", "early")]
    for folder in folders:
        folder.mkdir()
    late, early = (side(folder, one) for folder, one in zip(folders, both, strict=True))
    found = error(late, early)
    assert (found.answers, found.shared) == ((76, 76), 24 * 2 + 4 * 2)
    assert (found.value, found.low, found.high) == (0.0, 0.0, 0.0)


def test_other_conditions_share_items_and_say_so(sides: tuple[Side, Side]) -> None:
    found = error(sides[0], sides[1], conditions=("neutral", "persona"))
    assert (found.items, found.counted, found.answers, found.shared) == (5, (24, 5), (24, 5), None)


def test_two_judges_are_compared_on_what_both_answered(tmp_path: Path) -> None:
    given = refusing(made(range(12)), "c1", range(2, 12), judge="k")
    one = side(tmp_path, given)
    found = error(one, one, "m", judges=("m", "k"))
    assert (found.answers, found.shared) == ((24, 14), 14)
    assert one.compared is not None
    rated = one.compared.judgments.pivot("judge", index=["item_id", "condition"], values="rating").drop_nulls()
    us = one.compared.consensus.filter(pool="us").select("item_id", "value")
    gaps = rated.join(us, on="item_id").select((pl.col(name) - pl.col("value")).abs().mean() for name in ("m", "k"))
    assert found.joint == pytest.approx(gaps.row(0))
