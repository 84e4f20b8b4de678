"""The gap test: is the difference of two pools more than their raters' noise (section 1)?

The statistic is the mean over items of abs(m_a - m_b), for labels the total variation between the pools' shares.
Its null distribution comes from shuffling the pool labels:

- *whole raters*, when raters rate several items: a rater keeps all ratings. Shuffling within items would then take
  each rater's severity for noise of single ratings and reject a true null far too often. Raters with the same set of
  items are shuffled among themselves when nearly all raters share their set with raters of the other pool (batches,
  or everybody rating everything). Else the raters of both pools are shuffled together, pool b being filled until it
  has as many ratings as before (raters of one pool may rate many more items than those of the other), or, with fewer
  than 30 raters in a pool, as many raters as before (the severity of a few raters of many items would average out).
- *within items*, when each rater rates one item or raters are anonymous slots.

Items with one rater in each pool say nothing about chance (swapping the two leaves the difference as it is) and are
left out and counted, with both methods. Where whole raters are shuffled together an item's numbers of raters change
from draw to draw: its difference is multiplied by sqrt((1/n_a + 1/n_b observed) / (1/n_a + 1/n_b drawn)), so that the
null distribution is that of the numbers of raters at hand; items that lose a pool in a draw are left out of it.
Without this the test would never reject in corpora where each rater rates a few of many items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb, exp, inf, lgamma

import numpy as np
import numpy.typing as npt

from voirdire.stats.per_item import Array, Mask

Ints = npt.NDArray[np.int64]
WHOLE, WITHIN = "whole raters", "within items"
TOLERANCE = 1e-9
EXACT_LIMIT = 5_000
SHARED_SETS = 0.95
FEW_ASSIGNMENTS = 40
FEW_RATERS = 30
CHUNK = 2_000_000


@dataclass(frozen=True)
class GapTest:
    """Result of the permutation test of two pools.

    p : share of label assignments (exact) or (1 + draws) / (1 + permutations) at least as far apart as observed
    observed : mean absolute difference on the items that count
    null_mean : its mean under shuffling
    n_items, n_left_out : items that count; items with one rater in each pool
    method : ``whole raters``, ``whole raters within item sets`` or ``within items``, with ``, exact`` when all
        assignments were enumerated
    permutations : how many assignments or draws
    """

    p: float | None
    observed: float | None
    null_mean: float | None
    n_items: int
    n_left_out: int
    method: str
    permutations: int
    undefined: str | None = None


@dataclass(frozen=True)
class _Ratings:
    """Ratings of both pools on the items that count; items and units numbered from 0."""

    item: Ints
    unit: Ints
    value: Array
    is_b: Mask
    n_items: int
    nominal: bool


def gap_test(
    item: npt.ArrayLike,
    rater: npt.ArrayLike,
    value: npt.ArrayLike,
    is_b: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    anonymous: bool = False,
    nominal: bool = False,
    permutations: int = 1_000,
    exact_limit: int = EXACT_LIMIT,
) -> GapTest:
    """Permutation test of pool labels for a pair of pools.

    item, rater, value, is_b : (ratings,) one entry a rating: item and rater numbers, the rating (the code of the
        label when ``nominal``), whether the rater is of pool b. Items need not have both pools.
    anonymous : rater numbers mean nothing across items
    permutations : draws when there are more than ``exact_limit`` assignments

    A rater who rates in both pools counts as two. Undefined: ``no_common_items``; ``one_rater`` when every common
    item has one rater in each pool.

    >>> rng = np.random.default_rng(1)
    >>> item, rater = np.repeat([0, 1, 2, 3], 6), np.tile(np.arange(6), 4)
    >>> result = gap_test(item, rater, rater // 3 + item % 2, rater >= 3, rng=rng)
    >>> result.method, result.p, result.observed
    ('whole raters, exact', 0.1, 1.0)
    """
    data, common, left_out = _prepare(item, rater, value, is_b, nominal)
    several = not anonymous and bool((_per_unit(data) > 1).any())
    if data.n_items == 0:
        reason = "one_rater" if common else "no_common_items"
        return GapTest(None, None, None, 0, left_out, WHOLE if several else WITHIN, 0, reason)
    observed = float(_statistic(data, data.is_b[None], np.arange(len(data.item)))[0])
    design = _design(data, several)
    method, extra = design.method, 1
    if _n_assignments(design) <= exact_limit:
        null = _statistic(data, _all_assignments(design), design.units)
        method, extra = f"{method}, exact", 0
    elif design.method == WITHIN:
        null = _within_items(data, permutations, rng)
    else:
        null = _whole_raters(data, design, permutations, rng)
    null = null[~np.isnan(null)]
    p = (extra + int((null >= observed - TOLERANCE).sum())) / (extra + len(null))
    return GapTest(p, observed, float(null.mean()), data.n_items, left_out, method, len(null))


def _prepare(
    item: npt.ArrayLike, rater: npt.ArrayLike, value: npt.ArrayLike, is_b: npt.ArrayLike, nominal: bool
) -> tuple[_Ratings, int, int]:
    """The ratings of items that count; how many items have both pools; how many of them one rater in each."""
    items, in_b, values = np.asarray(item, np.int64), np.asarray(is_b, bool), np.asarray(value, float)
    width = int(items.max(initial=-1)) + 1
    n_a, n_b = (np.bincount(items[side], minlength=width) for side in (~in_b, in_b))
    common = (n_a > 0) & (n_b > 0)
    used = common & (n_a + n_b > 2)
    kept = used[items]
    number = np.cumsum(used) - 1
    key = 2 * np.asarray(rater, np.int64)[kept] + in_b[kept]
    unit = np.unique(key, return_inverse=True)[1]
    if nominal:
        values = np.unique(values, return_inverse=True)[1].astype(float)
    data = _Ratings(number[items[kept]], unit, values[kept], in_b[kept], int(used.sum()), nominal)
    return data, int(common.sum()), int((common & ~used).sum())


def _per_unit(data: _Ratings) -> Ints:
    return np.bincount(data.unit)


@dataclass(frozen=True)
class _Design:
    """What is shuffled: labels of the units, the unit of each rating, the block of each unit and the method."""

    labels: Mask
    units: Ints
    blocks: Ints
    method: str


def _design(data: _Ratings, several: bool) -> _Design:
    if not several:
        return _Design(data.is_b, np.arange(len(data.item)), data.item, WITHIN)
    labels = np.zeros(int(data.unit.max()) + 1, bool)
    labels[data.unit] = data.is_b
    sets = _Design(labels, data.unit, _item_sets(data), "whole raters within item sets")
    if not sets.blocks.any():
        return replace(sets, method=WHOLE)
    size, in_b = np.bincount(sets.blocks), np.bincount(sets.blocks, weights=labels)
    mixed = (in_b > 0) & (in_b < size)
    if mixed[sets.blocks].mean() >= SHARED_SETS and _n_assignments(sets) >= FEW_ASSIGNMENTS:
        return sets
    return replace(sets, blocks=np.zeros_like(sets.blocks), method=WHOLE)


def _item_sets(data: _Ratings) -> Ints:
    """(units,) number of the set of items that a unit rated; equal sets have equal numbers."""
    order = np.lexsort((data.item, data.unit))
    edges = np.cumsum(_per_unit(data))[:-1]
    known: dict[bytes, int] = {}
    return np.array([known.setdefault(part.tobytes(), len(known)) for part in np.split(data.item[order], edges)])


def _n_assignments(design: _Design) -> float:
    """How many ways there are to give the labels within the blocks (inf when beyond floating point)."""
    size, in_b = np.bincount(design.blocks), np.bincount(design.blocks, weights=design.labels).astype(int)
    logs = sum(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) for n, k in zip(size, in_b, strict=True))
    return inf if logs > 50 else round(exp(logs))


def _groups(design: _Design) -> list[Ints]:
    """The units of each block."""
    order = np.argsort(design.blocks, kind="stable")
    return np.split(order, np.cumsum(np.bincount(design.blocks))[:-1])


def _all_assignments(design: _Design) -> Mask:
    """(assignments, units) every assignment of the labels within the blocks."""
    result = np.zeros((1, len(design.labels)), bool)
    for members in _groups(design):
        chosen = int(design.labels[members].sum())
        table = np.zeros((comb(len(members), chosen), len(members)), bool)
        for row, places in enumerate(combinations(range(len(members)), chosen)):
            table[row, list(places)] = True
        repeated = np.repeat(result, len(table), axis=0)
        repeated[:, members] = np.tile(table, (len(result), 1))
        result = repeated
    return result


def _whole_raters(data: _Ratings, design: _Design, permutations: int, rng: np.random.Generator) -> Array:
    """(permutations,) the statistic under seeded random assignments of whole raters."""
    in_b = int(design.labels.sum())
    by_number = design.blocks.any() or min(in_b, len(design.labels) - in_b) < FEW_RATERS
    result = [np.empty(0)]
    for size in _chunks(permutations, len(design.labels) + data.n_items):
        if by_number:
            labels = np.tile(design.labels, (size, 1))
            for group in _groups(design):
                labels[:, group] = rng.permuted(labels[:, group], axis=1)
        else:
            labels = _same_workload(design.labels, _per_unit(data), size, rng)
        result.append(_statistic(data, labels, design.units))
    return np.concatenate(result)


def _same_workload(labels: Mask, workload: Ints, draws: int, rng: np.random.Generator) -> Mask:
    """(draws, units) labels of units in random order until pool b has as many ratings as it has."""
    order = np.argsort(rng.random((draws, len(labels))), axis=1)
    middle = np.cumsum(workload[order], axis=1) - workload[order] / 2
    result = np.zeros((draws, len(labels)), bool)
    np.put_along_axis(result, order, middle < workload[labels].sum(), axis=1)
    return result


def _statistic(data: _Ratings, labels: Mask, units: Ints) -> Array:
    """(assignments,) mean distance of the pools for assignments (assignments, units) of labels."""
    from scipy.sparse import csr_array

    n_units = labels.shape[1]
    levels = int(data.value.max()) + 1 if data.nominal else 1
    row = data.item * levels + (data.value.astype(np.int64) if data.nominal else 0)
    weight = np.ones(len(row)) if data.nominal else data.value
    table = csr_array((weight, (row, units)), shape=(data.n_items * levels, n_units))
    count = csr_array((np.ones(len(row)), (data.item, units)), shape=(data.n_items, n_units))
    result = [np.empty(0)]
    for chunk in np.array_split(labels, max(1, labels.size // CHUNK, len(labels) * data.n_items * levels // CHUNK)):
        chosen = np.ascontiguousarray(chunk.T, dtype=float)
        in_b, n_b = (table @ chosen).reshape(data.n_items, levels, -1), count @ chosen
        in_a = table.sum(1).reshape(data.n_items, levels, 1) - in_b
        result.append(_mean_distance(data, in_a, in_b, count.sum(1)[:, None] - n_b, n_b))
    return np.concatenate(result)


def _mean_distance(data: _Ratings, in_a: Array, in_b: Array, n_a: Array, n_b: Array) -> Array:
    """(assignments,) mean over items that keep both pools, from sums (items, levels, assignments).

    Differences are scaled to the observed numbers of raters (a factor of 1 when they are the same).
    """
    kept = (n_a > 0) & (n_b > 0)
    n_a, n_b = np.maximum(n_a, 1), np.maximum(n_b, 1)
    difference = np.abs(in_a / n_a[:, None] - in_b / n_b[:, None]).sum(1) * (0.5 if data.nominal else 1.0)
    scale = np.sqrt(_inverse_n(data)[:, None] / (1 / n_a + 1 / n_b))
    with np.errstate(invalid="ignore"):
        result: Array = np.where(kept, difference * scale, 0.0).sum(0) / kept.sum(0)
    return result


def _inverse_n(data: _Ratings) -> Array:
    """(items,) 1 / n_a + 1 / n_b as observed."""
    n_b = np.bincount(data.item[data.is_b], minlength=data.n_items)
    return 1 / n_b + 1 / (np.bincount(data.item, minlength=data.n_items) - n_b)


def _within_items(data: _Ratings, permutations: int, rng: np.random.Generator) -> Array:
    """(permutations,) mean distance when labels are shuffled within items.

    Per item the number of b labels on each distinct value is drawn in turn from hypergeometric distributions. Items
    are sorted by how many distinct values they have, so that slot s concerns a prefix of them.
    """
    values, counts, n_a, n_b = _distinct(data)
    width = (counts > 0).sum(1)
    prefix = [int((width > slot).sum()) for slot in range(counts.shape[1])]
    varying = prefix[1] if len(prefix) > 1 else 0
    result = [np.empty(0)]
    for size in _chunks(permutations, varying):
        need = np.tile(n_b[:varying], (size, 1))
        left = (n_a + n_b)[:varying]
        distance = np.zeros((size, varying))
        for slot, stop in enumerate(min(end, varying) for end in prefix):
            count = counts[:stop, slot]
            left[:stop] -= count
            drawn = rng.hypergeometric(count, left[:stop], need[:, :stop])
            need[:, :stop] -= drawn
            share = drawn * (1 / n_a[:stop] + 1 / n_b[:stop]) - count / n_a[:stop]
            distance[:, :stop] += np.abs(share) / 2 if data.nominal else share * values[:stop, slot]
        result.append(np.abs(distance).sum(1) / data.n_items)
    return np.concatenate(result)


def _distinct(data: _Ratings) -> tuple[Array, Ints, Ints, Ints]:
    """Distinct values (items, slots) of each item, their counts (0 in empty slots), and raters by pool (items,)."""
    pairs, count = np.unique(np.stack([data.item.astype(float), data.value]), axis=1, return_counts=True)
    item = pairs[0].astype(np.int64)
    width = np.bincount(item, minlength=data.n_items)
    slot = np.arange(len(item)) - np.repeat(np.cumsum(width) - width, width)
    values, counts = np.zeros((data.n_items, width.max())), np.zeros((data.n_items, width.max()), np.int64)
    values[item, slot], counts[item, slot] = pairs[1], count
    order = np.argsort(-width, kind="stable")
    n_b = np.bincount(data.item[data.is_b], minlength=data.n_items)
    n_a = np.bincount(data.item[~data.is_b], minlength=data.n_items)
    return values[order], counts[order], n_a[order], n_b[order]


def _chunks(total: int, width: int) -> Iterator[int]:
    """Sizes of chunks of draws so that chunk x width stays near a fixed memory."""
    step = max(1, CHUNK // max(width, 1))
    while total > 0:
        yield min(step, total)
        total -= step
