"""Coverage of the 95 % intervals, and how often the gap test rejects without a gap.

Run: ``python docs/studies/coverage.py``, about a quarter of an hour of one core (``--corpora 50`` for a look).

Corpora are drawn from one process: items from the strata of ``paired_world`` (each item's stratum at random, so that
items are independent), two pools whose raters differ in severity, and three judges who go by what the whole of each
pool thinks, not by the raters at hand. The target of an interval is the same statistic on 200,000 items of the
process with the same number of raters an item: with the same fixed raters for ``items`` (crossed), with raters drawn
anew for each item for ``items+raters`` and for nested raters. The statistics are means over items, so this is their
expectation over raters as well.

What is tested is the product's own code: Features, the registered statistics, item_weights, weighted_sums, percentile,
bca, RaterSampling, rater_interval and gap_test. Results are printed as the tables of coverage.md.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from voirdire.simulation.judges import judge_items, named_character
from voirdire.simulation.pools import RaterPool, draw_latent, draw_severities, expected_rating, rate
from voirdire.simulation.presets import paired_world
from voirdire.statistic import REGISTRY
from voirdire.stats import agreement, alignment, tilt  # noqa: F401  (they declare the statistics)
from voirdire.stats.features import Array, Features, PoolArrays, ScaleCuts
from voirdire.stats.gap import gap_test
from voirdire.stats.raters import RaterDraws, RaterSampling, rater_interval
from voirdire.stats.resampling import bca, item_weights, leave_one_out, percentile, weighted_sums

LEVEL = 0.95
TARGET_ITEMS = 200_000
TARGET_CHUNK = 20_000
JUDGES = ("faithful_neutral", "compressed", "oriented_a")
STATISTICS: Mapping[str, tuple[str, tuple[int, ...]]] = {
    "mae (a)": ("mae", (0,)),
    "mae (b)": ("mae", (1,)),
    "delta": ("delta", (0, 1)),
    "delta_sq": ("delta_sq", (0, 1)),
    "tilt": ("tilt", (0, 1)),
    "cross_pool_mad": ("cross_pool_mad", (0, 1)),
}
WORLD = paired_world(judges={name: name for name in JUDGES})
CUTS = ScaleCuts(1.0, 5.0, (1.0, 2.0, 3.0, 4.0, 5.0))


def named(scenario: Scenario | NoGap) -> str:
    """How tables call a scenario."""
    a, b = scenario.raters
    return f"{scenario.layout}, {a} + {b} raters, severity sd {scenario.severity}, {scenario.items} items"


@dataclass(frozen=True)
class Scenario:
    """What is drawn a thousand times.

    unit : items, or items+raters; layout : crossed (every rater rates every item) or nested (one item a rater)
    raters : in each pool (crossed) or for each item (nested); severity : sd of their severities, in scale steps
    """

    unit: str
    layout: str
    raters: tuple[int, int]
    severity: float
    items: int = 200
    draws: int = 1000
    rater_draws: int = 200

    @property
    def name(self) -> str:
        """In the tables."""
        return named(self)

    def pools(self, target: bool = False) -> tuple[RaterPool, ...]:
        """The pools; for the target of ``items+raters`` every item has raters of its own."""
        layout = "nested" if target and self.unit == "items+raters" else self.layout
        return tuple(
            RaterPool(name, n, noise=0.8, severity_sd=self.severity, severities=self._fixed(k), layout=layout)
            for k, (name, n) in enumerate(zip(("us", "cn"), self.raters, strict=True))
        )

    def _fixed(self, k: int) -> tuple[float, ...] | None:
        """Severities that are the same in every corpus and in the target, where intervals speak of these raters."""
        if self.unit == "items+raters" or self.layout == "nested":
            return None
        rng = np.random.default_rng([self.raters[k], k])
        return tuple(self.severity * rng.standard_normal(self.raters[k]))


SCENARIOS = (
    Scenario("items", "crossed", (5, 5), 0.3),
    Scenario("items", "crossed", (5, 5), 0.3, items=60),
    Scenario("items", "crossed", (3, 8), 0.3),
    Scenario("items", "nested", (5, 5), 0.3),
    Scenario("items+raters", "crossed", (5, 5), 0.2),
    Scenario("items+raters", "crossed", (5, 5), 0.5),
    Scenario("items+raters", "crossed", (10, 10), 0.5),
    Scenario("items+raters", "crossed", (30, 30), 0.5),
    Scenario("items+raters", "crossed", (5, 30), 0.5),
    Scenario("items+raters", "nested", (5, 5), 0.3),
)


@dataclass(frozen=True)
class Corpus:
    """Ratings of each pool (I, raters) and of the judges (C, I)."""

    ratings: tuple[Array, ...]
    judges: Array


def draw(
    pools: tuple[RaterPool, ...],
    items: int,
    rng: np.random.Generator,
    gap: bool = True,
    severities: tuple[Array, ...] | None = None,
) -> Corpus:
    """One corpus; without a gap both pools think alike. ``severities`` (I, raters) where they are given."""
    share = np.array([stratum.items for stratum in WORLD.strata], dtype=float)
    sizes = rng.multinomial(items, share / share.sum())
    strata = [replace(stratum, items=int(n)) for stratum, n in zip(WORLD.strata, sizes, strict=True)]
    latent = draw_latent(strata, WORLD.scale, rng)
    latent = latent if gap else np.repeat(latent[:, :1], len(pools), axis=1)
    given = severities or tuple(draw_severities(pool, items, rng) for pool in pools)
    ratings = tuple(rate(latent[:, k], given[k], pool, WORLD.scale, rng) for k, pool in enumerate(pools))
    people = [replace(pool, layout="nested", severities=None) for pool in pools]
    opinion = [expected_rating(latent[:, k], pool, np.empty((0, 0)), WORLD.scale) for k, pool in enumerate(people)]
    seen = np.stack(opinion, axis=1)
    characters = [named_character(name, ("us", "cn"), WORLD.scale) for name in JUDGES]
    judged = [judge_items(seen, np.full(items, ""), each, WORLD.scale, rng, np.zeros(items))[0] for each in characters]
    return Corpus(ratings, np.stack(judged))


def pool_arrays(ratings: tuple[Array, ...]) -> PoolArrays:
    """Consensuses of complete pools."""
    n = np.stack([np.full(len(block), float(block.shape[1])) for block in ratings])
    mean, s2 = (np.stack([f(block) for block in ratings]) for f in (lambda b: b.mean(1), lambda b: b.var(1, ddof=1)))
    return PoolArrays(mean, n, s2, CUTS)


def parts_of(features: Features) -> dict[str, Array]:
    """Label -> (features, judges, items) that the statistic sums; one row for the pools' own statistic."""
    return {
        label: np.stack([features.get(feature, target) for feature in REGISTRY[name, ""].features])
        for label, (name, target) in STATISTICS.items()
    }


def resampled(weights: np.ndarray, part: Array) -> Array:
    """(features, judges, draws) sums under every resample of items."""
    return weighted_sums(weights, part.reshape(-1, part.shape[-1])).reshape(*part.shape[:2], -1)


def values_of(label: str, sums: Array) -> Array:
    """The statistic from sums (features, ...)."""
    return REGISTRY[STATISTICS[label][0], ""].numbers(tuple(sums))


def target_of(scenario: Scenario) -> dict[str, Array]:
    """(judges,) each statistic on 200,000 items of the process."""
    rng = np.random.default_rng([7, SCENARIOS.index(scenario)])
    total: dict[str, Array] = {}
    for _ in range(TARGET_ITEMS // TARGET_CHUNK):
        corpus = draw(scenario.pools(target=True), TARGET_CHUNK, rng)
        for label, part in parts_of(Features(pool_arrays(corpus.ratings), corpus.judges)).items():
            total[label] = total.get(label, 0.0) + part.sum(-1)
    return {label: values_of(label, sums) for label, sums in total.items()}


Ends = tuple[Array, Array]


def item_intervals(scenario: Scenario, corpus: Corpus, rng: np.random.Generator) -> dict[str, dict[str, Ends]]:
    """Method -> label -> ends (judges,) of the item bootstrap."""
    weights = item_weights(scenario.items, scenario.draws, rng)
    found: dict[str, dict[str, Ends]] = {"percentile": {}, "bca": {}}
    for label, part in parts_of(Features(pool_arrays(corpus.ratings), corpus.judges)).items():
        point, draws = values_of(label, part.sum(-1)), values_of(label, resampled(weights, part))
        left_out = leave_one_out(lambda *sums, label=label: values_of(label, np.stack(sums)), part)
        found["percentile"][label] = percentile(draws, LEVEL)
        found["bca"][label] = bca(point, draws, left_out, LEVEL)
    return found


def rater_values(draws: RaterDraws, judges: Array) -> dict[str, Array]:
    """Label -> (judges, draws): the drawn consensuses laid side by side as if they were items."""
    mean, n, s2 = (part.swapaxes(0, 1).reshape(part.shape[1], -1) for part in (draws.mean, draws.n, draws.s2))
    features = Features(PoolArrays(mean, n, s2, CUTS), np.tile(judges, (1, len(draws.mean))))
    return {
        label: values_of(label, part.reshape(*part.shape[:2], len(draws.mean), -1).sum(-1))
        for label, part in parts_of(features).items()
    }


def rater_intervals(scenario: Scenario, corpus: Corpus, rng: np.random.Generator) -> dict[str, dict[str, Ends]]:
    """Method -> label -> ends (judges,): estimate +- t SE of draws of items and of raters."""
    weights = item_weights(scenario.items, scenario.draws, rng)
    sampling = rater_sampling(scenario, corpus.ratings)
    chunks = [rater_values(chunk, corpus.judges) for chunk in sampling.draws(scenario.rater_draws, rng)]
    found: dict[str, Ends] = {}
    for label, part in parts_of(Features(pool_arrays(corpus.ratings), corpus.judges)).items():
        interval = rater_interval(
            values_of(label, part.sum(-1)),
            values_of(label, resampled(weights, part)),
            np.concatenate([chunk[label] for chunk in chunks], axis=-1),
            level=LEVEL,
            df_items=scenario.items - 1,
            df_raters=sampling.df(*STATISTICS[label][1]),
        )
        found[label] = (interval.low, interval.high)
    return {"t": found}


def long_form(layout: str, ratings: tuple[Array, ...]) -> tuple[Array, Array, Array, Array]:
    """Item, rater, pool and value of every rating."""
    parts = []
    for k, block in enumerate(ratings):
        item, slot = np.indices(block.shape)
        rater = slot if layout == "crossed" else item * block.shape[1] + slot
        parts.append([item.ravel(), rater.ravel() + 1_000_000 * k, np.full(block.size, k), block.ravel()])
    item, rater, pool, value = (np.concatenate(column) for column in zip(*parts, strict=True))
    return item, rater, pool, value


def rater_sampling(scenario: Scenario, ratings: tuple[Array, ...]) -> RaterSampling:
    """The ratings ready to draw raters from."""
    return RaterSampling(*long_form(scenario.layout, ratings), n_items=scenario.items, n_pools=len(ratings))


def hits_of(
    scenario: Scenario, place: int, target: Mapping[str, Array], seed: int
) -> dict[str, dict[str, list[Array]]]:
    """Method -> label -> hits and widths (judges,) of one corpus."""
    rng = np.random.default_rng([seed, place, SCENARIOS.index(scenario)])
    corpus = draw(scenario.pools(), scenario.items, rng)
    intervals = item_intervals if scenario.unit == "items" else rater_intervals
    return {
        method: {
            label: [((low <= target[label]) & (target[label] <= high)).astype(float), high - low]
            for label, (low, high) in found.items()
        }
        for method, found in intervals(scenario, corpus, rng).items()
    }


def study(scenario: Scenario, corpora: int, seed: int) -> dict[str, object]:
    """Coverage and mean width of every interval of a scenario."""
    start = time.process_time()
    target = target_of(scenario)
    runs = [hits_of(scenario, place, target, seed) for place in range(corpora)]
    rows = []
    for method in runs[0]:
        for label in STATISTICS:
            hits, widths = (np.mean([run[method][label][part] for run in runs], axis=0) for part in (0, 1))
            judges = JUDGES if len(hits) > 1 else ("",)
            for judge, hit, width, goal in zip(judges, hits, widths, target[label], strict=True):
                values = {"coverage": float(hit), "width": float(width), "target": float(goal)}
                rows.append({"method": method, "statistic": label, "judge": judge, **values})
    cpu = time.process_time() - start
    print(f"{scenario.unit}: {scenario.name}: {cpu:.0f} CPU s", file=sys.stderr, flush=True)
    return {**asdict(scenario), "name": scenario.name, "corpora": corpora, "rows": rows, "cpu": cpu}


@dataclass(frozen=True)
class NoGap:
    """A corpus whose pools think alike: how often does the gap test reject?"""

    layout: str
    raters: tuple[int, int]
    severity: float
    items: int = 150
    permutations: int = 400

    @property
    def name(self) -> str:
        """In the tables."""
        return named(self)


NO_GAP = (
    NoGap("crossed", (5, 5), 0.2),
    NoGap("crossed", (5, 5), 0.5),
    NoGap("crossed", (10, 10), 0.5),
    NoGap("crossed", (5, 15), 0.5),
    NoGap("batches", (5, 5), 0.5),
    NoGap("nested", (5, 5), 0.3),
    NoGap("nested", (2, 6), 0.3),
)
BATCH = 25


def batches(scenario: NoGap, rng: np.random.Generator) -> tuple[Array, tuple[Array, ...]]:
    """Raters who rate one batch of items each: their numbers (ratings,) and severities, (I, raters) a pool."""
    batch = np.arange(scenario.items) // BATCH
    width = sum(scenario.raters)
    rater = [(batch[:, None] * width + np.arange(n) + 1_000_000 * k).ravel() for k, n in enumerate(scenario.raters)]
    shift = [scenario.severity * rng.standard_normal((batch.max() + 1, n))[batch] for n in scenario.raters]
    return np.concatenate(rater), tuple(shift)


def p_value(scenario: NoGap, seed: int, place: int) -> float:
    """The p value of one corpus."""
    rng = np.random.default_rng([seed, place, NO_GAP.index(scenario), 1])
    layout = "nested" if scenario.layout == "nested" else "crossed"
    pairs = zip("ab", scenario.raters, strict=True)
    pools = tuple(RaterPool(name, n, 0.8, scenario.severity, layout=layout) for name, n in pairs)
    rater, severities = batches(scenario, rng) if scenario.layout == "batches" else (None, None)
    ratings = draw(pools, scenario.items, rng, gap=False, severities=severities).ratings
    item, numbers, pool, value = long_form(layout, ratings)
    result = gap_test(
        item, numbers if rater is None else rater, value, pool == 1, rng=rng, permutations=scenario.permutations
    )
    return 1.0 if result.p is None else result.p


def gap_study(scenario: NoGap, corpora: int, seed: int) -> dict[str, object]:
    """How often the test rejects at 5 % and 1 % when there is no gap."""
    start = time.process_time()
    p = np.array([p_value(scenario, seed, place) for place in range(corpora)])
    cpu = time.process_time() - start
    print(f"gap_test: {scenario.name}: {cpu:.0f} CPU s", file=sys.stderr, flush=True)
    shares = {"at_5": float((p <= 0.05).mean()), "at_1": float((p <= 0.01).mean())}
    return {**asdict(scenario), "name": scenario.name, "corpora": corpora, **shares, "cpu": cpu}


def error_of(share: float, corpora: int) -> float:
    """Monte Carlo standard error of a share."""
    return float(np.sqrt(max(share * (1 - share), 1e-12) / corpora))


def coverage_table(results: list[dict[str, object]]) -> str:
    """A row a scenario and method: the coverage of each statistic, for the three judges where they differ."""
    lines = ["| draws of | corpora | interval | " + " | ".join(STATISTICS) + " |", "|---" * (3 + len(STATISTICS)) + "|"]
    for result in results:
        for method in dict.fromkeys(row["method"] for row in result["rows"]):
            cells = []
            for label in STATISTICS:
                shares = [r["coverage"] for r in result["rows"] if (r["method"], r["statistic"]) == (method, label)]
                cells.append(" ".join(f"{share:.3f}" for share in shares))
            lines.append(f"| {result['unit']} | {result['name']} | {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def gap_table(results: list[dict[str, object]]) -> str:
    """How often the gap test rejects without a gap."""
    lines = ["| corpora without a gap | p <= 0.05 | p <= 0.01 |", "|---|---|---|"]
    for result in results:
        error = error_of(result["at_5"], result["corpora"])
        lines.append(f"| {result['name']} | {result['at_5']:.3f} (± {error:.3f}) | {result['at_1']:.3f} |")
    return "\n".join(lines)


def main() -> None:
    """Run the scenarios and print the tables; ``--json`` keeps every number."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", help="scenarios whose name holds this text")
    parser.add_argument("--json", type=Path, help="write every number here")
    options = parser.parse_args()
    chosen = [s for s in SCENARIOS if not options.only or options.only in f"{s.unit}: {s.name}"]
    alike = [s for s in NO_GAP if not options.only or options.only in f"gap_test: {s.name}"]
    jobs: list[tuple[Callable[..., dict[str, object]], object]] = [
        *((study, s) for s in chosen),
        *((gap_study, s) for s in alike),
    ]
    with ProcessPoolExecutor(options.processes) as pool:
        waiting = [pool.submit(work, scenario, options.corpora, options.seed) for work, scenario in jobs]
        results = [future.result() for future in waiting]
    covered, rejections = results[: len(chosen)], results[len(chosen) :]
    print(coverage_table(covered), gap_table(rejections), sep="\n\n")
    if options.json:
        options.json.write_text(json.dumps({"coverage": covered, "gap_test": rejections}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
