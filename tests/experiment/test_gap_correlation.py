"""Delta and the pools' gap: an identity for constants, a loop for judges, and no p."""

from __future__ import annotations

import numpy as np
import pytest
from tests.experiment.factorial import Factorial
from tests.experiment.parts import at, experiment_of, rows_of, simple

from voirdire.analysis.experiment.gap_correlation import add_gap_correlation

WORLD = Factorial(n_items=30, lost=0.1)


def by_loop(judge: str, design: str) -> float:
    us, cn = WORLD.consensus["us"], WORLD.consensus["cn"]
    delta: dict[int, list[float]] = {}
    for row in WORLD.select("all", judge, design=design):
        delta.setdefault(row.item, []).append(abs(row.rating - us[row.item]) - abs(row.rating - cn[row.item]))
    items = sorted(delta)
    return float(np.corrcoef([np.mean(delta[item]) for item in items], [us[i] - cn[i] for i in items])[0, 1])


def test_correlation_is_that_of_a_loop() -> None:
    frame = rows_of(experiment_of(WORLD.tables()), add_gap_correlation)
    for judge in ("*", "j0", "j2"):
        for design in ("base", "aa"):
            row = at(frame, "gap_correlation", judge=judge, condition=f"design={design}")
            assert row["value"] == pytest.approx(by_loop(judge, design), abs=1e-9)
            assert row["low"] < row["value"] < row["high"]
    assert set(frame["statistic"]) == {"gap_correlation"}


def test_every_control_stands_beside_the_judges() -> None:
    """A constant at the end of the scale is the identity itself."""
    frame = rows_of(experiment_of(WORLD.tables()), add_gap_correlation)
    us, cn = WORLD.consensus["us"], WORLD.consensus["cn"]
    for level in range(1, 6):
        expected = float(np.corrcoef(np.abs(level - us) - np.abs(level - cn), us - cn)[0, 1])
        row = at(frame, "gap_correlation", judge=f"control:constant_{level}")
        assert row["value"] == pytest.approx(expected, abs=1e-9)
    assert at(frame, "gap_correlation", judge="control:constant_5")["value"] == pytest.approx(-1)
    assert at(frame, "gap_correlation", judge="control:constant_1")["value"] == pytest.approx(1)
    assert at(frame, "gap_correlation", judge="control:midpoint_us_cn")["undefined"] == "constant_delta"


def test_order_of_the_pools_changes_nothing() -> None:
    one = rows_of(experiment_of(WORLD.tables()), add_gap_correlation)
    two = rows_of(experiment_of(WORLD.tables(), pairs=(("cn", "us"),)), add_gap_correlation)
    place = {"judge": "j1", "condition": "design=base"}
    assert at(one, "gap_correlation", **place)["value"] == pytest.approx(
        at(two, "gap_correlation", **place)["value"], abs=1e-12
    )


@pytest.mark.parametrize(
    ("consensus", "reason"),
    [
        ([[1, 2, 3, 4], [1, 2, 3, 4]], "constant_gap"),
        ([[1], [2]], "one_item"),
    ],
)
def test_degenerate(consensus: list[list[float]], reason: str) -> None:
    means = np.array(consensus, dtype=float)
    made = simple(means, {("j", "-"): np.arange(1.0, means.shape[1] + 1)})
    assert at(rows_of(experiment_of(made), add_gap_correlation), "gap_correlation", judge="j")["undefined"] == reason


def test_a_judge_without_a_common_item() -> None:
    made = simple(
        np.array([[1.0, 2, 3], [3, 1, 5]]), {("j", "-"): np.array([1.0, 2, 3]), ("k", "-"): np.full(3, np.nan)}
    )
    frame = rows_of(experiment_of(made), add_gap_correlation)
    row = at(frame, "gap_correlation", judge="k")
    assert (row["undefined"], row["n"]) == ("no_common_items", 0)
