"""An estimate is a value, a label or a reason, and never NaN."""

from __future__ import annotations

from itertools import product

import pytest

from voirdire.estimate import Estimate, Interval
from voirdire.signature import Signature


@pytest.mark.parametrize(("value", "label", "undefined"), list(product((None, 0.0), (None, ""), (None, "no_items"))))
def test_exactly_one_is_given(value: float | None, label: str | None, undefined: str | None) -> None:
    given = [part for part in (value, label, undefined) if part is not None]
    if len(given) == 1:
        made = Estimate(Signature("mae"), value=value, label=label, undefined=undefined)
        assert (made.value, made.label, made.undefined) == (value, label, undefined)
    else:
        with pytest.raises(ValueError, match="a value, a label or a reason"):
            Estimate(Signature("mae"), value=value, label=label, undefined=undefined)


def test_a_value_is_never_nan() -> None:
    with pytest.raises(ValueError, match="never NaN"):
        Estimate(Signature("mae"), value=float("nan"))


def test_interval_holds_its_ends_and_may_be_unbounded() -> None:
    assert 1.0 in Interval(1.0, 2.0, 0.95, "percentile")
    assert 2.1 not in Interval(1.0, 2.0, 0.95, "percentile")
    assert 1e9 in Interval(-float("inf"), float("inf"), 0.95, "fieller")
