"""A small version of the study of recovery: planted W, PI and parts of T come back, and blind judges have none.

Seeds are fixed; bounds are those of the study (docs/studies/recovery.md) with room for 60 corpora.
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

CORPORA = 60
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def study(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("recovery_study", root / "docs" / "studies" / "recovery.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def rows_of(study: ModuleType, place: int, names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    bench = study.BENCHES[place]
    bench = replace(bench, judges={name: bench.judges[name] for name in names})
    fields = study.stacked([study.one_corpus(bench, (1, 40 + place, at)) for at in range(CORPORA)])
    return {row["judge"]: row for row in study.summary(bench.name, bench.judges, fields)}


@pytest.fixture(scope="module")
def paper(study: ModuleType) -> dict[str, dict[str, Any]]:
    names = ("neutral, full scale", "compression 0.3", "oriented to b 0.8", "hard floor at 3, to a 0.25")
    return rows_of(study, 0, (*names, "compression 0.4, permissive 0.6", "random", "constant 4"))


def planted(rows: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows.values() if "w" in row]


def test_w_comes_back_without_bias_and_its_interval_covers(paper: dict[str, dict[str, Any]]) -> None:
    for row in planted(paper):
        assert row["defined"] == 1
        assert abs(row["bias"]) <= (0.03 if "floor" in row["judge"] else 0.01) + 2 * row["error"]
        assert row["coverage"] >= 0.88
    assert np.mean([row["coverage"] for row in planted(paper)]) >= 0.93


def test_neutral_judges_are_not_called_oriented_though_t_is_far_from_0(paper: dict[str, dict[str, Any]]) -> None:
    neutral = [row for row in planted(paper) if row["w"] == 0.5]
    assert max(row["rejected"] for row in neutral) <= 0.13
    assert np.mean([row["rejected"] for row in neutral]) <= 0.08
    assert paper["compression 0.3"]["split"][1][5] < -0.25
    assert paper["oriented to b 0.8"]["rejected"] == paper["hard floor at 3, to a 0.25"]["rejected"] == 1


def test_parts_of_t_come_back(paper: dict[str, dict[str, Any]]) -> None:
    for row in planted(paper):
        found, truth = np.array(row["split"]), np.array(row["planted"])
        assert found[0, :4] == pytest.approx(truth[0, :4], abs=0.015)
        assert found[1, :4] == pytest.approx(truth[1, :4], abs=0.03)
        assert np.abs(found[:, 4]).max() < 0.02


def test_permissiveness_comes_back(paper: dict[str, dict[str, Any]]) -> None:
    for row in planted(paper):
        assert abs(row["pi_bias"]) <= 0.06 + 2 * row["pi_error"]


def test_blind_judges_have_no_w_and_copies_are_decided(paper: dict[str, dict[str, Any]]) -> None:
    assert paper["random"]["defined"] <= 0.06
    assert paper["random"]["rejected"] <= 0.13
    assert paper["constant 4"]["defined"] == 0
    copies = [name for name in paper if name.startswith("copy")]
    assert len(copies) == 4
    for name in copies:
        assert paper[name]["rejected"] == 1
        assert paper[name]["largest_p"] < 1e-100


def test_unequal_numbers_of_raters_do_not_pass_for_orientation(study: ModuleType) -> None:
    row = rows_of(study, 2, ("neutral, full scale",))["neutral, full scale"]
    assert abs(row["bias"]) <= 0.01 + 2 * row["error"]
    assert row["coverage"] >= 0.88
    assert row["rejected"] <= 0.13
    assert row["raw_bias"] < -0.05
    assert row["raw_rejected"] >= 0.8


def test_conditions_that_share_noise_are_tested_together(study: ModuleType) -> None:
    fields = study.stacked([study.conditions_corpus((1, 50, at)) for at in range(CORPORA // 2)])
    for row in study.conditions_table(study.CONDITIONS, fields)[1]:
        assert abs(row["bias"]) <= 0.01 + 2 * row["error"]
        assert row["coverage"] >= 0.86
        if row["w"] == 0.5:
            assert row["rejected"] <= 0.13


def test_weights_of_five_pools_come_back(study: ModuleType) -> None:
    fields = study.stacked([study.five_corpus((1, 60, at)) for at in range(15)])
    for row in study.five_table(study.five_pools()[1], fields)[1]:
        assert abs(row["bias"]) <= 0.01 + 2.6 * row["error"]
        assert row["coverage"] >= 0.88
