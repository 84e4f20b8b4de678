"""A judge asked in both orders: both answers are shown, orders are no repeated calls, and what reports say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from tests.analysis.builders import VOTES, corpus, judgments, rated

from voirdire.analysis.evaluate import evaluate
from voirdire.analysis.options import AuditOptions
from voirdire.analysis.profile import Profile
from voirdire.corpus.sides import SHOWN_FIRST
from voirdire.reporting.access import View
from voirdire.reporting.assemble import build
from voirdire.reporting.audit import undefined
from voirdire.reporting.blocks import Items, Report
from voirdire.reporting.terminal import terminal
from voirdire.reporting.words import Words

M: dict[str, Any] = {"judge": "m", "condition": "-"}
TEA_COLA = pl.DataFrame({"item_id": ["i0", "i1", "i2"], "a": ["tea", "tea", "cola"], "b": ["cola", "milk", "milk"]})


def audited(answers: dict[str, Sequence[float]], sides: Sequence[int]) -> Profile:
    """Three pairs, two pools of opposite votes, and a judge with an answer for each of the sides shown first."""
    table = {
        "us": {"i0": (0, 0, 0, 1), "i1": (0, 0, 1, 1), "i2": (0, 2, 0, 0)},
        "cn": {"i0": (1, 1, 1, 1), "i1": (1, 1, 1, 1), "i2": (1, 1, 1, 0)},
    }
    said = judgments(
        (item, "m", "-", repeat, float(value), "ok")
        for item, given in answers.items()
        for repeat, value in enumerate(given)
    )
    first = pl.Series(SHOWN_FIRST, [side for _ in answers for side in sides], dtype=pl.Int8)
    rows = replace(said, rows=said.table.with_columns(first))
    return evaluate(corpus(rated(table), VOTES, items=TEA_COLA), rows, AuditOptions(draws=0, permutations=20))


@pytest.fixture(scope="module")
def orders() -> Profile:
    return audited({"i0": (0, 1), "i1": (0, 0), "i2": (0, 2)}, (0, 1))


def shown(report: Report) -> dict[str, dict[str, str]]:
    """Item -> whose -> what its card says."""
    cards = [
        card
        for section in report.sections
        for block in section.blocks
        if isinstance(block, Items)
        for card in block.cards
    ]
    return {card.id: {line.heads[0]: line.entries[0].text for line in card.ratings.lines} for card in cards}


def test_both_answers_of_a_judge_are_shown(orders: Profile) -> None:
    said = shown(build(orders, "en"))
    assert said["i0"] == {"us": "tea (75%)", "cn": "cola (100%)", "m": "cola (50%) / tea (50%)"}
    assert said["i1"] == {"us": "milk (50%) / tea (50%)", "cn": "milk (100%)", "m": "tea (100%)"}
    assert said["i2"] == {"us": "cola (75%)", "cn": "milk (75%)", "m": "cola (50%) / tie (50%)"}


def test_two_orders_are_no_repeated_calls(orders: Profile) -> None:
    assert orders.get("repeat_alpha", **M).undefined == "only_orders"
    assert orders.get("repeat_sd", **M).undefined == "pairwise_votes"
    grid = next(grid for grid in build(orders, "en").grids() if grid.id.endswith("-scale"))
    assert not grid.has("repeat_alpha")


def test_repeated_calls_are_compared_within_an_order() -> None:
    same = audited({"i0": (0, 0, 1, 1), "i1": (0, 0, 1, 1), "i2": (0, 0, 2, 2)}, (0, 0, 1, 1))
    assert same.get("repeat_alpha", **M).value == 1
    assert same.get("repeat_alpha", **M).n == 3


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_words(orders: Profile, lang: str) -> None:
    report, words = build(orders, lang), Words(lang)
    names = [head for grid in report.grids() for line in grid.lines for head in line.heads]
    assert words.judge("control:copy_us_rounded", labels=True) in names
    assert words.judge("control:copy_us_rounded") not in names
    assert not [grid.caption for grid in report.grids() if "MAE" in grid.caption]
    if lang == "zh":
        told = [grid.caption + "".join(column.title for column in grid.columns) for grid in report.grids()]
        assert not [one for one in told if "delta" in one.lower()]


@pytest.mark.parametrize(
    ("failed", "said"), [(["us", "cn"], "neither of the two consensuses is"), (["cn"], "one of the two consensuses is")]
)
def test_how_many_consensuses_are_not_reliable_enough(orders: Profile, failed: list[str], said: str) -> None:
    gate = (pl.col("statistic") == "gate") & pl.col("pool").is_in(failed)
    table = orders.estimates.with_columns(label=pl.when(gate).then(pl.lit("fail")).otherwise("label"))
    assert said in terminal(replace(orders, estimates=table), "en", width=1000)


def test_undefined_numbers_are_told_by_reason(orders: Profile) -> None:
    grid = undefined(View(orders), Words("en"))
    assert grid is not None
    reasons = [line.entries[0].text for line in grid.lines]
    assert len(set(reasons)) == len(reasons)
    assert reasons[-1] == Words("en").reason("pairwise_votes")
    assert int(grid.lines[-1].entries[1].text) > 30
    assert grid.lines[-1].entries[2].text.endswith(" more")


def test_definitions_say_what_the_heading_says(orders: Profile) -> None:
    assert "MAE against the first pool" not in orders.to_html()
