"""Scales: ends, cuts, levels and their short form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.scales import Scale
from voirdire.stats.features import ScaleCuts


@given(low=st.integers(-10, 10), width=st.integers(1, 20))
def test_cuts_are_quarters_and_levels_are_steps(low: int, width: int) -> None:
    scale = Scale("ordinal", low, low + width)
    assert scale.range == width
    assert scale.n_levels == width + 1 == len(scale.level_values)
    assert (scale.level_values[0], scale.level_values[-1]) == (low, low + width)
    assert scale.low_cut - low == pytest.approx(width / 4)
    assert low + width - scale.high_cut == pytest.approx(width / 4)
    assert scale.low_cut < scale.midpoint < scale.high_cut
    cuts = ScaleCuts(low, low + width)
    assert (cuts.low_cut, cuts.high_cut, cuts.center) == (scale.low_cut, scale.high_cut, scale.midpoint)


def test_two_labels_are_not_nominal() -> None:
    two = Scale("nominal", 0, 1, ("no", "yes"), "yes")
    assert (two.binary, two.nominal, two.level_values, str(two)) == (True, False, (0.0, 1.0), "binary:no<yes")
    three = Scale("nominal", labels=("a", "b", "c"))
    assert (three.binary, three.nominal, three.level_values, str(three)) == (
        False,
        True,
        (0.0, 1.0, 2.0),
        "nominal:a/b/c",
    )


@pytest.mark.parametrize(
    ("scale", "short", "levels"),
    [
        (Scale("ordinal", 1, 5), "ordinal:1:5", 5),
        (Scale("interval", 0, 100), "interval:0:100", None),
        (Scale("interval"), "interval", None),
        (Scale("ordinal", 0, 2, ("low", "mid", "high")), "ordinal:low/mid/high", 3),
    ],
)
def test_short_form_and_number_of_levels(scale: Scale, short: str, levels: int | None) -> None:
    assert str(scale) == short
    assert scale.n_levels == levels


def test_a_scale_without_ends_has_no_cuts() -> None:
    with pytest.raises(ValueError, match="no ends"):
        _ = Scale("interval").low_cut
    assert ScaleCuts().center is None
