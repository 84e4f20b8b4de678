"""Small drawings of what people and judges said: numbers for the attributes of an SVG, never styles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voirdire.browsing.item_detail import Level
from voirdire.reporting.words import MINUS, digits_of
from voirdire.scales import Scale

WIDTH, HEIGHT, GAP = 120.0, 26.0, 2.0
COLOURS = 8
EDGE = 5.0
TONES = 7
MOST_BARS = 24


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a small histogram; a level that nobody gave has no height. name : of the level"""

    x: float
    y: float
    width: float
    height: float
    name: str


@dataclass(frozen=True, slots=True)
class Strip:
    """One line of a drawing.

    name : of the pool or judge; colour : its number in the palette, -1 for judges; said : the drawing in words
    bars : of the answers; mark : place of the consensus, or None; ticks : places of judges' means
    value : the number behind it, or ``reason`` why there is none
    """

    name: str
    colour: int
    said: str
    bars: tuple[Bar, ...] = ()
    mark: float | None = None
    ticks: tuple[float, ...] = ()
    value: str = ""
    reason: str = ""


def bars_of(shares: Sequence[float], names: Sequence[str]) -> tuple[Bar, ...]:
    """The bars of shares that add up to 1.

    >>> [(bar.x, bar.height) for bar in bars_of([0.5, 0.0, 0.5], ["1", "2", "3"])]
    [(0.0, 12.0), (40.7, 0.0), (81.3, 12.0)]
    """
    if not shares:
        return ()
    each = (WIDTH + GAP) / len(shares)
    wide = max(each - GAP, 0.6)
    tall = [round(share * (HEIGHT - 2), 1) for share in shares]
    return tuple(
        Bar(round(place * each, 1), round(HEIGHT - 1 - high, 1), round(wide, 1), high, name)
        for place, (high, name) in enumerate(zip(tall, names, strict=True))
    )


def bars_of_levels(levels: Sequence[Level]) -> tuple[Bar, ...]:
    """The bars of a pool's answers."""
    return bars_of([level.share for level in levels], [level.name for level in levels])


def place_on(value: float | None, ends: tuple[float, float] | None) -> float | None:
    """Where a value lies on the line between the ends of its scale; None outside of it or without ends.

    >>> place_on(3.0, (1, 5)), place_on(9.0, (1, 5))
    (60.0, None)
    """
    if value is None or ends is None or not ends[0] - 1e-9 <= value <= ends[1] + 1e-9 or ends[0] >= ends[1]:
        return None
    return round(EDGE + (value - ends[0]) / (ends[1] - ends[0]) * (WIDTH - 2 * EDGE), 1)


def tone(value: float | None, ends: tuple[float, float] | None) -> int:
    """0 (low) to 6 (high): which shade a rating has; 3 where the scale has no ends.

    >>> tone(1, (1, 5)), tone(5, (1, 5)), tone(3, None)
    (0, 6, 3)
    """
    if value is None or ends is None or ends[0] >= ends[1]:
        return TONES // 2
    share = float(np.clip((value - ends[0]) / (ends[1] - ends[0]), 0, 1))
    return round(share * (TONES - 1))


def colour(place: int) -> int:
    """The number of a pool's colour, as in the figures of a report."""
    return place % COLOURS


def said_number(value: float | None, width: float | None, *, signed: bool = False) -> str:
    """A number on a scale of this width in print; empty without one.

    >>> said_number(-0.5, 4), said_number(0.25, 4, signed=True), said_number(None, 4)
    ('−0.50', '+0.25', '')
    """
    if value is None:
        return ""
    digits = digits_of("mae", width)
    shown = f"{abs(value):,.{digits}f}"
    if float(shown.replace(",", "")) == 0:
        return shown
    return (MINUS if value < 0 else "+" if signed else "") + shown


def plain(value: float) -> str:
    """A rating as it was given.

    >>> plain(4.0), plain(99.99), plain(0.04055), plain(-1.0), plain(-0.0)
    ('4', '99.99', '0.04055', '−1', '0')
    """
    return f"{value + 0.0:.10g}".replace("-", MINUS)


def shares_of(values: Sequence[float], scale: Scale) -> tuple[list[float], list[str]]:
    """The share of each level and its name; empty where ratings are not on levels, or levels are too many."""
    levels = scale.level_values
    if len(levels) > MOST_BARS:
        return [], []
    on_levels = all(min(abs(value - level) for level in levels) < 1e-9 for value in values) if levels else False
    if not on_levels or not values:
        return [], []
    names = list(scale.labels or (plain(value) for value in levels))
    return [sum(abs(value - level) < 1e-9 for value in values) / len(values) for level in levels], names
