"""The reference pools before any judge: section 1 of the definitions, for every pool and pair, in every slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.analysis.context import RATER_BIAS, Context, Mask, context_reason, order_reason, scale_codes, subset
from voirdire.analysis.engine import SUMS, ItemSampler, Result, active, compute_each, ruled_out
from voirdire.analysis.rater_sampler import sampler_of
from voirdire.scales import Scale
from voirdire.stats.alpha import alpha
from voirdire.stats.ceilings import (
    LeaveOneOut,
    leave_one_out,
    other_ceiling,
    other_disagreement,
    own_ceiling,
    own_disagreement,
)
from voirdire.stats.features import Array, Features
from voirdire.stats.gap import gap_test
from voirdire.stats.nominal import reliability_features, reliability_of_sums, reliability_reason
from voirdire.stats.per_item import PerItem
from voirdire.stats.raters import split_half
from voirdire.stats.resampling import fisher_z, percentile, weighted_sums
from voirdire.stats.votes import canonical, reliability_of_votes, reliability_votes, votes_reason

SPLITS = 200


def add_pools(context: Context) -> None:
    """All rows of section 1 that need no role of a question."""
    codes = scale_codes(context.panel)
    for name, mask in context.slices.items():
        part = _Part(context, name, mask, sampler_of(context, name, mask))
        _add_each_pool(part, codes)
        _add_each_pair(part, codes)
    _add_ruled_out(context, codes)
    for k in range(len(context.pools)):
        _add_split_half(context, k)


@dataclass(frozen=True)
class _Part:
    """A slice of a question's items, and the draws of them."""

    context: Context
    name: str
    mask: Mask
    sampler: ItemSampler

    @property
    def whole(self) -> bool:
        """Whether it is all items."""
        return self.name == "all"

    @cached_property
    def features(self) -> Features:
        """The pools' features on these items."""
        return Features(subset(self.context.panel.arrays, self.mask))

    @cached_property
    def counts(self) -> list[Array]:
        """(I, L) of every pool: how many of its raters gave each value."""
        return [counts[self.mask] for counts in self.context.panel.counts]

    @cached_property
    def loo(self) -> list[LeaveOneOut]:
        """Every pool with one rater left out at a time."""
        return [leave_one_out(counts, self.context.panel.values) for counts in self.counts]


def _add_each_pool(part: _Part, codes: frozenset[str]) -> None:
    context, name, mask = part.context, part.name, part.mask
    pools = [(k,) for k in range(len(context.pools))]
    statistics = active("pool", scale_codes=codes, sliced_only=not part.whole)
    each = compute_each(statistics, part.features, pools, part.sampler)
    ceilings = _ceilings(part, pools)
    _add_counts(context, name, mask)
    for (k,), results in zip(pools, each, strict=True):
        add_results(context, results, (k,), name, part.sampler)
        _add_alpha(context, k, name, mask)
        if context.panel.question.scale.nominal:
            _add_nominal_reliability(context, k, name, mask, part.sampler)
        _add_ceiling(part, (k,), ceilings)


def _add_each_pair(part: _Part, codes: frozenset[str]) -> None:
    context = part.context
    pairs = context.pairs if part.whole else context.detail
    statistics = active("pair", scale_codes=codes, sliced_only=not part.whole)
    each = compute_each(statistics, part.features, pairs, part.sampler)
    targets = [target for pair in pairs for target in (pair, pair[::-1])] if part.whole else []
    ceilings = _ceilings(part, targets)
    for pair, results in zip(pairs, each, strict=True):
        add_results(context, results, pair, part.name, part.sampler)
        _add_gap_test(context, pair, part.name, part.mask)
        if part.whole:
            _add_spearman(context, pair, part.features)
            for target in (pair, pair[::-1]):
                _add_ceiling(part, target, ceilings)


def _add_ruled_out(context: Context, codes: frozenset[str]) -> None:
    """Undefined rows of what the scale does not allow."""
    for k in range(len(context.pools)):
        add_results(context, ruled_out("pool", codes, 1), (k,), "all")
    for pair in context.pairs:
        add_results(context, ruled_out("pair", codes, 1), pair, "all")


def add_results(
    context: Context,
    results: Sequence[Result],
    target: tuple[int, ...],
    slice_name: str,
    sampler: ItemSampler | None = None,
) -> None:
    """Rows of additive statistics of a pool or pair."""
    more = {} if sampler is None else sampler.told(target)
    for result in results:
        common: dict[str, Any] = {
            "params": result.statistic.key[1],
            "n": result.n,
            "definition": context.definition(result.method, **more),
            "question": context.panel.question.id,
            "slice": slice_name,
            **context.names(target),
        }
        reasons = [context_reason(context, reason, target) for reason in result.reasons]
        context.table.add(
            result.statistic.name, result.values, reasons=reasons, low=result.low, high=result.high, **common
        )
        if result.bias is not None and np.isfinite(result.low).all():
            context.table.add(f"{result.statistic.name}{RATER_BIAS}", result.bias, **common)


def _add_counts(context: Context, name: str, mask: Mask) -> None:
    panel = context.panel
    for k, pool in enumerate(panel.pools):
        has = panel.arrays.has[k] & mask
        common: dict[str, Any] = {"question": panel.question.id, "pool": pool, "slice": name}
        common["definition"] = context.definition()
        n = int(has.sum())
        context.table.add("n_items", n, n=n, **common)
        rows = panel.rows[k]
        kept = mask[rows.item]
        aggregate = pool in panel.aggregate
        context.table.add("n_ratings", None if aggregate else int(kept.sum()), reasons="aggregate_pool", n=n, **common)
        anonymous = panel.raters(k) is None
        raters = None if anonymous else int(np.unique(rows.rater[kept]).size)
        unknown = "aggregate_pool" if aggregate else "anonymous_raters"
        context.table.add("n_raters", raters, reasons=unknown, n=n, **common)
        counts = panel.arrays.n[k][has]
        known = counts[~np.isnan(counts)]
        median = float(np.median(known)) if known.size else None
        reason = "aggregate_pool" if aggregate and n else "no_items"
        context.table.add("raters_per_item", median, reasons=reason, n=n, **common)


def _add_alpha(context: Context, k: int, name: str, mask: Mask) -> None:
    panel, options = context.panel, context.options
    level = alpha_level(panel.question.scale)
    level = "interval" if panel.normalised else level
    common: dict[str, Any] = {
        "params": f"level={level}",
        "definition": context.definition("percentile"),
        "question": panel.question.id,
        "pool": panel.pools[k],
        "slice": name,
    }
    if panel.pools[k] in panel.aggregate:
        context.table.add("alpha", None, reasons="aggregate_pool", **common)
        return
    if not panel.values.size:
        context.table.add("alpha", None, reasons="too_many_values", **common)
        return
    result = alpha(panel.counts[k][mask], panel.values, level, draws=options.draws, rng=context.rng("alpha", name))
    low, high = (np.nan, np.nan)
    if result.draws.size and result.n > 1:
        low, high = (float(end[0]) for end in percentile(result.draws[None], options.level))
    context.table.add("alpha", result.value, reasons=result.undefined, low=low, high=high, n=result.n, **common)


def alpha_level(scale: Scale) -> str:
    """The level of measurement that alpha takes a question for."""
    return "nominal" if scale.binary else scale.level


def _add_nominal_reliability(context: Context, k: int, name: str, mask: Mask, sampler: ItemSampler) -> None:
    votes = context.panel.question.scale.pairwise
    features_of, reason_of = (reliability_votes, votes_reason) if votes else (reliability_features, reliability_reason)
    value_of = reliability_of_votes if votes else reliability_of_sums
    features = features_of(context.panel.counts[k][mask])
    sums = features.sum(1)
    aggregate = context.pools[k] in context.panel.aggregate
    reason = "aggregate_pool" if aggregate else reason_of(sums)
    ends = (np.nan, np.nan)
    if reason is None and len(sampler.weights):
        draws = value_of(weighted_sums(sampler.weights, features))
        low, high = percentile(draws[None], context.options.level)
        ends = (float(low[0]), float(high[0]))
    context.table.add(
        "reliability",
        None if reason else float(value_of(sums)),
        reasons=reason,
        low=ends[0],
        high=ends[1],
        n=int(sums[0]),
        definition=context.definition("percentile", variance="summed_over_labels", **({"center": 0} if votes else {})),
        question=context.panel.question.id,
        slice=name,
        **context.names((k,)),
    )


def _add_gap_test(context: Context, pair: tuple[int, int], name: str, mask: Mask) -> None:
    panel, options = context.panel, context.options
    common: dict[str, Any] = {"question": panel.question.id, "slice": name, **context.names(pair)}
    if any(panel.pools[k] in panel.aggregate for k in pair):
        for part in ("p", "null_mean", "n_left_out"):
            definition = context.definition()
            context.table.add(f"gap_test.{part}", None, reasons="aggregate_pool", definition=definition, **common)
        return
    ordered = context.by_name(pair)
    rows = [panel.rows[k] for k in ordered]
    keep = [mask[row.item] for row in rows]
    item = np.concatenate([row.item[kept] for row, kept in zip(rows, keep, strict=True)])
    rater = np.concatenate([row.rater[kept] for row, kept in zip(rows, keep, strict=True)])
    value = np.concatenate([row.value[kept] for row, kept in zip(rows, keep, strict=True)])
    is_b = np.repeat([False, True], [int(kept.sum()) for kept in keep])
    if panel.question.scale.pairwise:
        value = canonical(item, value, is_b)
    result = gap_test(
        item,
        rater,
        value,
        is_b,
        rng=context.rng("gap", name, *context.names(ordered).values()),
        anonymous=panel.anonymous,
        nominal=panel.question.scale.nominal,
        permutations=options.permutations,
    )
    definition = context.definition(
        test="permutation",
        shuffled=result.method,
        permutations=result.permutations,
        seed=options.seed,
        consensus="mean",
    )
    for part, value_of in (("p", result.p), ("null_mean", result.null_mean), ("n_left_out", result.n_left_out)):
        reasons = result.undefined
        context.table.add(
            f"gap_test.{part}", value_of, reasons=reasons, n=result.n_items, definition=definition, **common
        )


def _add_spearman(context: Context, pair: tuple[int, int], features: Features) -> None:
    from scipy.stats import spearmanr

    a, b = pair
    mean = np.round(features.pools.mean, 9)
    common = features.pools.has[a] & features.pools.has[b]
    n = int(common.sum())
    reason, value, ends = "no_common_items", None, (np.nan, np.nan)
    if context.panel.question.scale.nominal:
        reason = order_reason(context.panel.question.scale)
    elif n > 1 and np.ptp(mean[a][common]) > 0 and np.ptp(mean[b][common]) > 0:
        value = float(spearmanr(mean[a][common], mean[b][common]).statistic)
        low, high = fisher_z(np.array([value]), np.array([n]), context.options.level, extra=value**2 / 2)
        ends = (float(low[0]), float(high[0]))
    elif n:
        reason = "one_item" if n == 1 else "constant_consensus"
    context.table.add(
        "cross_pool_spearman",
        value,
        reasons=reason,
        low=ends[0],
        high=ends[1],
        n=n,
        definition=context.definition("fisher_z", variance="bonett_wright"),
        question=context.panel.question.id,
        **context.names(pair),
    )


Ceiling = tuple[float, float, float, int]


def _ceilings(part: _Part, targets: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], Ceiling]:
    """Value, ends of the interval and n of ``ceiling.own`` of pools or ``ceiling.other`` of pairs."""
    panel = part.context.panel
    known = [target for target in targets if not any(panel.pools[k] in panel.aggregate for k in target)]
    found: dict[tuple[int, ...], Ceiling] = {}
    if not panel.values.size:
        return found
    step = max(1, SUMS // max(part.sampler.weights.size, 1))
    for start in range(0, len(known), step):
        some = known[start : start + step]
        per_items = [_ceiling(part, target) for target in some]
        ends = _intervals(per_items, part.sampler, part.context.options.level)
        for target, per_item, (low, high) in zip(some, per_items, ends, strict=True):
            found[target] = (float(per_item.mean()), low, high, int(per_item.n))
    return found


def _add_ceiling(part: _Part, target: tuple[int, ...], ceilings: Mapping[tuple[int, ...], Ceiling]) -> None:
    """``ceiling.own`` of a pool, ``ceiling.other`` of its raters' neighbours."""
    context = part.context
    statistic = "ceiling.own" if len(target) == 1 else "ceiling.other"
    common: dict[str, Any] = {
        "definition": context.definition("percentile", consensus="mean_of_others"),
        "question": context.panel.question.id,
        "slice": part.name,
        **context.names(target),
    }
    if target not in ceilings:
        aggregate = any(context.pools[k] in context.panel.aggregate for k in target)
        context.table.add(statistic, None, reasons="aggregate_pool" if aggregate else "too_many_values", **common)
        return
    value, low, high, n = ceilings[target]
    context.table.add(statistic, value, reasons="no_individual_ratings", low=low, high=high, n=n, **common)


def _ceiling(part: _Part, target: tuple[int, ...]) -> PerItem:
    counts = [part.counts[k] for k in target]
    if part.context.panel.question.scale.nominal:
        return own_disagreement(counts[0]) if len(target) == 1 else other_disagreement(*counts)
    loo = part.loo[target[0]]
    return own_ceiling(loo) if len(target) == 1 else other_ceiling(loo, counts[1])


def _intervals(per_items: Sequence[PerItem], sampler: ItemSampler, level: float) -> list[tuple[float, float]]:
    """Percentile intervals of means over items, by one product for all of them."""
    if not len(sampler.weights):
        return [(np.nan, np.nan)] * len(per_items)
    stacked = np.stack([side for each in per_items for side in (each.values, each.valid.astype(float))])
    sums = weighted_sums(sampler.weights, stacked)
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = percentile(sums[::2] / sums[1::2], level)
    usable = np.array([int(each.n) > 1 for each in per_items])
    ends = np.where(usable, (low, high), np.nan)
    return [(float(a), float(b)) for a, b in ends.T]


def _add_split_half(context: Context, k: int) -> None:
    panel = context.panel
    rows = panel.rows[k]
    common: dict[str, Any] = {
        "params": f"splits={SPLITS}",
        "definition": context.definition(seed=context.options.seed, consensus="mean"),
        "question": panel.question.id,
        "pool": panel.pools[k],
    }
    if panel.pools[k] in panel.aggregate or panel.question.scale.nominal:
        reason = "aggregate_pool" if panel.pools[k] in panel.aggregate else order_reason(panel.question.scale)
        context.table.add("split_half", None, reasons=reason, **common)
        return
    result = split_half(rows.item, rows.value, rng=context.rng("split_half", panel.pools[k]), splits=SPLITS)
    context.table.add("split_half", result.value, reasons=result.undefined, n=result.n, **common)
