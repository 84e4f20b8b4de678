"""The gate and the verdicts: the rules of the definitions as tables of cases."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.analysis.builders import FIVE, LABELS

from voirdire.analysis.validity import gate_label
from voirdire.analysis.verdicts import NOTHING, Number, _pair_verdict, _pool_verdict


@pytest.mark.parametrize(
    ("reliability", "alpha", "label"),
    [
        (None, 0.9, "unknown"),
        (0.799, 0.95, "fail"),
        (-0.2, None, "fail"),
        (0.80, 0.10, "pass_low_alpha"),
        (0.96, 0.6669, "pass_low_alpha"),
        (0.80, 0.667, "pass"),
        (0.90, None, "pass"),
    ],
)
def test_gate(reliability: float | None, alpha: float | None, label: str) -> None:
    assert gate_label(reliability, alpha, 0.80) == label


def number(value: float | None, low: float | None, high: float | None, n: int = 100) -> Number:
    return Number(value, low, high, n, None)


def label(text: str) -> Number:
    return Number(None, None, None, 0, text)


def pool_rows(**changed: Number) -> dict[tuple[str, ...], Number]:
    rows = {
        ("gate", "q", "us", "", "", ""): label("pass"),
        ("mae_vs_constant", "q", "us", "", "j", "c"): number(-0.3, -0.4, -0.2),
        ("ceiling.own", "q", "us", "", "", ""): number(0.7, 0.6, 0.8),
        ("ceiling.judge", "q", "us", "", "j", "c"): number(0.75, 0.7, 0.85),
    }
    return {key: changed.get(key[0].replace(".", "_"), value) for key, value in rows.items()}


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({}, "as_near_as_rater"),
        ({"ceiling_judge": number(0.81, 0.7, 0.9)}, "worse_than_rater"),
        ({"ceiling_judge": number(0.80, 0.7, 0.9)}, "as_near_as_rater"),
        ({"mae_vs_constant": number(-0.1, -0.2, 0.0)}, "no_better_than_constant"),
        ({"mae_vs_constant": number(0.3, 0.2, 0.4)}, "no_better_than_constant"),
        ({"mae_vs_constant": number(-0.3, -0.4, -0.2, n=29)}, "cannot_say"),
        ({"mae_vs_constant": number(-0.3, -0.4, -0.2, n=30)}, "as_near_as_rater"),
        ({"mae_vs_constant": number(-0.3, None, None)}, "cannot_say"),
        ({"mae_vs_constant": NOTHING}, "cannot_say"),
        ({"gate": label("fail")}, "cannot_say"),
        ({"gate": label("pass_low_alpha")}, "as_near_as_rater"),
        ({"gate": label("unknown")}, "better_than_constant"),
        ({"gate": label("unknown"), "mae_vs_constant": number(-0.1, -0.2, 0.1)}, "no_better_than_constant"),
        ({"ceiling_own": number(0.7, None, None)}, "better_than_constant"),
        ({"ceiling_judge": NOTHING}, "better_than_constant"),
    ],
)
def test_verdict_for_a_pool(changed: dict[str, Number], verdict: str) -> None:
    context: Any = SimpleNamespace()
    assert _pool_verdict(context, pool_rows(**changed), ("q", "us", "", "j", "c"), 1)[0] == verdict


def pair_rows(**changed: Number) -> dict[tuple[str, ...], Number]:
    rows = {
        ("gate", "q", "us", "", "", ""): label("pass"),
        ("gate", "q", "cn", "", "", ""): label("pass"),
        ("gap_test.p", "q", "us", "cn", "", ""): number(0.01, None, None),
        ("delta", "q", "us", "cn", "j", "c"): number(0.2, 0.1, 0.3),
        ("delta_sq", "q", "us", "cn", "j", "c"): number(0.4, 0.2, 0.6),
    }
    return {key: changed.get(f"{key[0]}_{key[2]}" if key[0] == "gate" else key[0].replace(".", "_"), value)
            for key, value in rows.items()}  # fmt: skip


PLUS, MINUS, NONE = number(0.2, 0.1, 0.3), number(-0.2, -0.3, -0.1), number(0.0, -0.1, 0.1)


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({}, "nearer_b"),
        ({"delta": MINUS, "delta_sq": MINUS}, "nearer_a"),
        ({"delta": PLUS, "delta_sq": MINUS}, "sign_conflict"),
        ({"delta": NONE}, "undecided"),
        ({"delta_sq": NONE}, "undecided"),
        ({"gap_test_p": number(0.05, None, None)}, "undecided"),
        ({"gap_test_p": NOTHING}, "cannot_say"),
        ({"gate_cn": label("fail")}, "cannot_say"),
        ({"gate_us": label("pass_low_alpha")}, "nearer_b"),
        ({"delta": number(0.2, 0.1, 0.3, n=29)}, "cannot_say"),
        ({"delta": number(0.2, None, None)}, "cannot_say"),
        ({"delta_sq": NOTHING}, "cannot_say"),
        ({"delta": number(0.1, 0.0, 0.2)}, "undecided"),
    ],
)
def test_verdict_for_a_pair(changed: dict[str, Number], verdict: str) -> None:
    context: Any = SimpleNamespace(panel=SimpleNamespace(question=SimpleNamespace(scale=FIVE)))
    assert _pair_verdict(context, pair_rows(**changed), ("q", "us", "cn", "j", "c"), 1)[0] == verdict


def test_verdict_for_a_pair_of_labels_has_no_squares() -> None:
    context: Any = SimpleNamespace(panel=SimpleNamespace(question=SimpleNamespace(scale=LABELS)))
    rows = pair_rows(delta_sq=NOTHING)
    assert _pair_verdict(context, rows, ("q", "us", "cn", "j", "c"), 1)[0] == "nearer_b"


def test_all_conditions_together_need_thirty_items_a_cell() -> None:
    context: Any = SimpleNamespace()
    rows = pool_rows(mae_vs_constant=number(-0.3, -0.4, -0.2, n=100))
    assert _pool_verdict(context, rows, ("q", "us", "", "j", "c"), 4) == ("cannot_say", 25)
    assert _pool_verdict(context, rows, ("q", "us", "", "j", "c"), 3) == ("as_near_as_rater", 33)
