"""Every additive statistic as a plain loop, written from the definitions; None where it is undefined.

m(ratings) is a consensus. ``World`` holds, item by item, the ratings of two pools and of one judge's repeats.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gamma, isclose, pi, sqrt
from statistics import fmean, variance
from typing import Any

LOW, HIGH = 1.0, 5.0
LEVELS = (1.0, 2.0, 3.0, 4.0, 5.0)
N_LABELS = 3
LEAST_DF = 10
Ratings = list[float]


@dataclass(frozen=True)
class World:
    a: list[Ratings]
    b: list[Ratings]
    judge: list[Ratings]
    constants: list[float | None]
    min_gap: float = 0.0

    @property
    def items(self) -> range:
        return range(len(self.a))

    @property
    def common(self) -> list[int]:
        return [i for i in self.items if self.a[i] and self.b[i]]

    @property
    def rated(self) -> list[int]:
        return [i for i in self.items if self.a[i] and self.judge[i]]

    @property
    def judged(self) -> list[int]:
        return [i for i in self.common if self.judge[i]]


def m(ratings: Ratings) -> float:
    return sum(ratings) / len(ratings)


def over(values: list[float]) -> float | None:
    return fmean(values) if values else None


def error(w: World, i: int, pool: list[Ratings], power: int = 1) -> float:
    return fmean(abs(r - m(pool[i])) ** power for r in w.judge[i])


def gap(w: World, i: int) -> float:
    return m(w.a[i]) - m(w.b[i])


def pooled_variance(pool: list[Ratings], items: list[int] | range) -> float | None:
    several = [pool[i] for i in items if len(pool[i]) > 1]
    df = sum(len(x) - 1 for x in several)
    return sum(variance(x) * (len(x) - 1) for x in several) / df if df else None


def noise(pool: list[Ratings], i: int) -> float | None:
    """The item's own variance of the mean; the pooled one where there is one rating."""
    s2 = variance(pool[i]) if len(pool[i]) > 1 else pooled_variance(pool, range(len(pool)))
    return None if s2 is None else s2 / len(pool[i])


def noises(w: World, items: list[int]) -> list[tuple[float, float]] | None:
    found = [(noise(w.a, i), noise(w.b, i)) for i in items]
    return None if any(None in pair for pair in found) else found  # type: ignore[return-value]


def correlation(x: list[float], y: list[float]) -> float | None:
    if len(x) < 2 or max(x) - min(x) < 1e-9 or max(y) - min(y) < 1e-9:
        return None
    mx, my = fmean(x), fmean(y)
    sxy = sum((p - mx) * (q - my) for p, q in zip(x, y, strict=True))
    return sxy / sqrt(sum((p - mx) ** 2 for p in x) * sum((q - my) ** 2 for q in y))


def level(x: float) -> float:
    """The nearest level, ties to the higher."""
    return min(LEVELS, key=lambda lv: (round(abs(lv - x), 9), -lv))


def kappa(x: list[float], y: list[float]) -> float | None:
    """Weighted kappa from the table of frequencies."""
    n = len(x)
    if not n:
        return None
    observed = sum((p - q) ** 2 for p, q in zip(x, y, strict=True)) / n
    expected = sum((p - q) ** 2 for p in x for q in y) / n**2
    return None if expected == 0 else 1 - observed / expected


def reliability(pool: list[Ratings], items: list[int]) -> float | None:
    s2 = pooled_variance(pool, items)
    if len(items) < 2 or s2 is None:
        return None
    means = [m(pool[i]) for i in items]
    if max(means) - min(means) < 1e-9:
        return None
    return 1 - fmean(s2 / len(pool[i]) for i in items) / variance(means)


def gap_rms(w: World) -> float | None:
    found = noises(w, w.common)
    if not w.common or found is None:
        return None
    return sqrt(max(0.0, fmean(gap(w, i) ** 2 - p - q for i, (p, q) in zip(w.common, found, strict=True))))


def pair_noise(w: World, i: int) -> float | None:
    """Variance of the difference of the consensuses, within-item variances pooled over items."""
    s2 = pooled_variance(w.a, w.items), pooled_variance(w.b, w.items)
    return None if None in s2 else s2[0] / len(w.a[i]) + s2[1] / len(w.b[i])  # type: ignore[operator]


def c4(w: World, i: int) -> float:
    """E(s) / sigma of the root of the pair's own noise, for the degrees of freedom of Welch and Satterthwaite."""
    sizes = [len(pool[i]) for pool in (w.a, w.b)]
    terms = sum(1 / (n**2 * (n - 1)) for n in sizes if n > 1)
    if not terms:
        return 1.0
    df = sum(1 / n for n in sizes) ** 2 / terms
    return sqrt(2 / df) * gamma((df + 1) / 2) / gamma(df / 2)


def noise_floor(w: World) -> float | None:
    found = [(noise(w.a, i), noise(w.b, i), c4(w, i)) for i in w.common]
    if not found or any(None in each for each in found):
        return None
    return fmean(sqrt(2 * (p + q) / pi) / c for p, q, c in found)  # type: ignore[operator]


def disattenuated(w: World) -> float | None:
    r = correlation([m(w.a[i]) for i in w.common], [m(w.b[i]) for i in w.common])
    ra, rb = reliability(w.a, w.common), reliability(w.b, w.common)
    repeated = min(sum(len(pool[i]) - 1 for i in w.common if pool[i]) for pool in (w.a, w.b))
    if r is None or ra is None or rb is None or min(ra, rb) <= 0 or repeated < LEAST_DF:
        return None
    return r / sqrt(ra * rb)


def anchors(w: World, name: str) -> float | None:
    if not w.common:
        return None
    if name in ("divergent", "middle") and noises(w, w.common) is None:
        return None
    count = 0
    for i in w.common:
        high = m(w.a[i]) >= 4 and m(w.b[i]) >= 4
        low = m(w.a[i]) <= 2 and m(w.b[i]) <= 2
        kind = "high" if high else "low" if low else "contested"
        if kind == "contested" and name in ("divergent", "middle"):
            beyond = abs(gap(w, i)) > 1.959963984540054 * sqrt(pair_noise(w, i) or 0.0) + 1e-9
            kind = "divergent" if beyond else "middle"
        count += kind == name
    return float(count)


def small_gaps(w: World) -> float | None:
    return over([float(abs(gap(w, i)) < 0.5 - 1e-9) for i in tilted(w)])


def tilted(w: World) -> list[int]:
    return [i for i in w.judged if abs(gap(w, i)) > 1e-9 and abs(gap(w, i)) >= w.min_gap - 1e-9]


def tilt(w: World) -> float | None:
    """The paper's form: clip((2 r - m_a - m_b) / (m_a - m_b), -1, 1)."""
    cells = []
    for i in tilted(w):
        a, b = m(w.a[i]), m(w.b[i])
        cells.append(fmean(max(-1.0, min(1.0, (2 * r - a - b) / (a - b))) for r in w.judge[i]))
    return over(cells)


def delta(w: World) -> float | None:
    return over([error(w, i, w.a) - error(w, i, w.b) for i in w.judged])


def judged_mad(w: World) -> float | None:
    value = over([abs(gap(w, i)) for i in w.judged])
    return value if value is not None and value > 1e-9 else None


def delta_sq(w: World) -> float | None:
    found = noises(w, w.judged)
    if not w.judged or found is None:
        return None
    return fmean(error(w, i, w.a, 2) - p - error(w, i, w.b, 2) + q for i, (p, q) in zip(w.judged, found, strict=True))


def recovery(w: World) -> float | None:
    floor = [i for i in w.rated if m(w.a[i]) <= 2]
    return over([fmean(r <= 2 for r in w.judge[i]) for i in floor])


def spread(w: World, slope: bool) -> float | None:
    r, c = [m(w.judge[i]) for i in w.rated], [m(w.a[i]) for i in w.rated]
    if len(r) < 2 or max(c) - min(c) < 1e-9:
        return None
    if not slope:
        return sqrt(variance(r) / variance(c))
    mr, mc = fmean(r), fmean(c)
    return sum((p - mr) * (q - mc) for p, q in zip(r, c, strict=True)) / sum((q - mc) ** 2 for q in c)


def versus_constant(w: World) -> float | None:
    both = [i for i in w.rated if w.constants[i] is not None]
    return over([error(w, i, w.a) - abs(w.constants[i] - m(w.a[i])) for i in both])  # type: ignore[operator]


def bound(w: World, pick: Callable[..., float]) -> float | None:
    scope = [i for i in w.items if w.a[i]]
    return over([error(w, i, w.a) if w.judge[i] else pick(abs(lv - m(w.a[i])) for lv in LEVELS) for i in scope])


def ceiling_judge(w: World) -> float | None:
    several = [i for i in w.rated if len(w.a[i]) > 1]
    values = []
    for i in several:
        rest = [m(w.a[i][:k] + w.a[i][k + 1 :]) for k in range(len(w.a[i]))]
        values.append(fmean(abs(r - c) for r in w.judge[i] for c in rest))
    return over(values)


def ratio_percent(w: World) -> float | None:
    mad = judged_mad(w)
    return None if mad is None else 100 * fmean(error(w, i, w.a) for i in w.judged) / mad


def tilt_ratio(w: World) -> float | None:
    d, mad = delta(w), judged_mad(w)
    return None if d is None or mad is None else -d / mad


def paired(w: World, both: bool) -> tuple[list[float], list[float]]:
    items = w.common if both else w.rated
    first = w.a if both else w.judge
    return [m(first[i]) for i in items], [m((w.b if both else w.a)[i]) for i in items]


def rounded_kappa(w: World, both: bool) -> float | None:
    x, y = paired(w, both)
    return kappa([level(v) for v in x], [level(v) for v in y])


PLAIN: dict[tuple[str, str], Callable[[World], float | None]] = {
    ("consensus_mean", ""): lambda w: over([m(x) for x in w.a if x]),
    ("reliability", ""): lambda w: (
        reliability(w.a, [i for i in w.items if w.a[i]]) if sum(len(x) - 1 for x in w.a if x) >= LEAST_DF else None
    ),
    ("cross_pool_mad", ""): lambda w: over([abs(gap(w, i)) for i in w.common]),
    ("gap_rms", ""): gap_rms,
    ("noise_floor", ""): noise_floor,
    ("cross_pool_pearson", ""): lambda w: correlation(*paired(w, True)),
    ("cross_pool_kappa_qw", ""): lambda w: rounded_kappa(w, True),
    ("disattenuated_r", ""): disattenuated,
    **{
        (f"anchor_class.{name}", ""): (lambda w, name=name: anchors(w, name))
        for name in ("high", "low", "divergent", "middle")
    },
    ("anchor_class.contested", ""): lambda w: (
        float(len(w.common) - (anchors(w, "high") or 0) - (anchors(w, "low") or 0)) if w.common else None
    ),
    ("mae", ""): lambda w: over([error(w, i, w.a) for i in w.rated]),
    ("bias", ""): lambda w: over([m(w.judge[i]) - m(w.a[i]) for i in w.rated]),
    ("pearson", ""): lambda w: correlation(*paired(w, False)),
    ("kappa_qw", ""): lambda w: rounded_kappa(w, False),
    ("spread.sd_ratio", ""): lambda w: spread(w, slope=False),
    ("spread.slope", ""): lambda w: spread(w, slope=True),
    ("mae_vs_constant", "folds=10"): versus_constant,
    ("mae.bound_low", ""): lambda w: bound(w, min),
    ("mae.bound_high", ""): lambda w: bound(w, max),
    ("ceiling.judge", ""): ceiling_judge,
    ("floor_recovery", ""): recovery,
    ("mean_rating", ""): lambda w: over([m(r) for r in w.judge if r]),
    ("share_low", ""): lambda w: over([fmean(x <= 2 for x in r) for r in w.judge if r]),
    ("share_high", ""): lambda w: over([fmean(x >= 5 for x in r) for r in w.judge if r]),
    ("missing_share", ""): lambda w: over([float(not w.judge[i]) for i in w.items if w.a[i] or w.b[i]]),
    ("delta", ""): delta,
    ("delta_sq", ""): delta_sq,
    ("tilt", ""): tilt,
    ("tilt", "form=ratio"): tilt_ratio,
    ("tilt.share_small_gaps", ""): small_gaps,
    ("percent_of_human", ""): ratio_percent,
}


def share(ratings: Ratings, label: float) -> float:
    return sum(r == label for r in ratings) / len(ratings)


def disagreement(w: World, i: int, pool: list[Ratings]) -> float:
    return fmean(1 - share(pool[i], r) for r in w.judge[i])


def variation(w: World, i: int) -> float:
    return sum(abs(share(w.a[i], lv) - share(w.b[i], lv)) for lv in range(N_LABELS)) / 2


def nominal_delta(w: World) -> float | None:
    return over([disagreement(w, i, w.a) - disagreement(w, i, w.b) for i in w.judged])


def nominal_over_gap(w: World, top: Callable[[World], float | None]) -> float | None:
    below = over([variation(w, i) for i in w.judged])
    return None if below is None or isclose(below, 0, abs_tol=1e-12) else top(w) / below  # type: ignore[operator]


def plurality(w: World) -> float | None:
    earned = []
    for i in w.rated:
        shares = [share(w.a[i], lv) for lv in range(N_LABELS)]
        top = [lv for lv in range(N_LABELS) if isclose(shares[lv], max(shares))]
        earned.append(fmean((r in top) / len(top) for r in w.judge[i]))
    return over(earned)


def nominal_ceiling(w: World) -> float | None:
    several = [i for i in w.rated if len(w.a[i]) > 1]
    return over(
        [
            fmean(1 - share(w.a[i][:k] + w.a[i][k + 1 :], r) for r in w.judge[i] for k in range(len(w.a[i])))
            for i in several
        ]
    )


def nominal_bound(w: World, pick: Callable[..., float]) -> float | None:
    scope = [i for i in w.items if w.a[i]]
    return over(
        [
            disagreement(w, i, w.a) if w.judge[i] else pick(1 - share(w.a[i], lv) for lv in range(N_LABELS))
            for i in scope
        ]
    )


NOMINAL: dict[tuple[str, str], Callable[[World], Any]] = {
    ("cross_pool_tv", ""): lambda w: over([variation(w, i) for i in w.common]),
    ("mae", ""): lambda w: over([disagreement(w, i, w.a) for i in w.rated]),
    ("mae_vs_constant", "folds=10"): lambda w: over(
        [
            disagreement(w, i, w.a) - 1 + share(w.a[i], w.constants[i])  # type: ignore[arg-type]
            for i in w.rated
            if w.constants[i] is not None
        ]
    ),
    ("mae.bound_low", ""): lambda w: nominal_bound(w, min),
    ("mae.bound_high", ""): lambda w: nominal_bound(w, max),
    ("delta", ""): nominal_delta,
    ("tilt", "form=ratio"): lambda w: nominal_over_gap(w, lambda v: -(nominal_delta(v) or 0.0)),
    ("percent_of_human", ""): lambda w: nominal_over_gap(
        w, lambda v: 100 * fmean(disagreement(v, i, v.a) for i in v.judged)
    ),
    ("plurality_agreement", ""): plurality,
    ("ceiling.judge", ""): nominal_ceiling,
    ("missing_share", ""): PLAIN["missing_share", ""],
}
