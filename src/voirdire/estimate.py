"""Estimates: a computed number, or the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from voirdire.signature import Signature


@dataclass(frozen=True)
class Interval:
    """An interval: its ends (infinite where unbounded), its level (0.95) and its method (``percentile``)."""

    low: float
    high: float
    level: float
    method: str

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Estimate:
    """One number of a profile.

    Exactly one of ``value``, ``label`` and ``undefined`` is given: a number, a text result (a verdict, a
    gate) or the reason why neither exists, as a key of the catalogue's ``undefined`` table. A value is never
    NaN.

    >>> Estimate.of_value(0.5, n=10).value
    0.5
    """

    signature: Signature
    value: float | None = None
    label: str | None = None
    undefined: str | None = None
    interval: Interval | None = None
    n: int = 0
    excluded: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        given = [part for part in (self.value, self.label, self.undefined) if part is not None]
        if len(given) != 1:
            raise ValueError("an estimate has a value, a label or a reason why it is undefined")  # noqa: TRY003
        if self.value is not None and math.isnan(self.value):
            raise ValueError("a value is never NaN: give the reason")  # noqa: TRY003

    @classmethod
    def of_value(cls, value: float, n: int, name: str = "value") -> Estimate:
        """An estimate with a bare signature, for examples and tests."""
        return cls(Signature(name), value=value, n=n)
