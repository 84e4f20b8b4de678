"""What the best of several conditions is worth: bias and coverage of the raw minimum and of the cross-fitted value.

Run: ``python docs/studies/best_condition.py``, about ten minutes of one core (``--corpora 100`` for a look).

A judge rates items on 1 to 5 under several conditions. Its rating is the pool's consensus, plus a deviation that all
conditions share on an item, plus one of its own, plus what the condition adds on every item, rounded and clipped. The
target of the raw minimum is the smallest true MAE. The target of the cross-fitted value is the true MAE of the
condition that half of the items choose, on average. Both true values are those of a million items.

What is tested is the product's own code: halves, cross_fitted, t_interval, item_weights, weighted_sums and percentile.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from voirdire.stats.cross_fit import cross_fitted, halves, t_interval
from voirdire.stats.resampling import item_weights, percentile, weighted_sums

LEVEL, SPLITS, DRAWS = 0.95, 20, 500
TRUTH_ITEMS = 1_000_000


@dataclass(frozen=True)
class Scenario:
    """Items, what each condition adds, and the sd of the shared and of the own deviation."""

    name: str
    items: int
    added: tuple[float, ...]
    shared: float = 0.5
    own: float = 0.8


SCENARIOS = (
    Scenario("10 equal", 313, (0.5,) * 10),
    Scenario("10 equal, nothing shared", 313, (0.5,) * 10, 0.0, 1.0),
    Scenario("10 equal", 60, (0.5,) * 10),
    Scenario("50 equal", 313, (0.5,) * 50),
    Scenario("10, evenly worse", 313, tuple(np.linspace(0.3, 1.0, 10))),
    Scenario("2 equal, 8 worse", 313, (0.3,) * 2 + (1.2,) * 8),
    Scenario("1 best, 9 worse", 313, (0.0,) + (1.2,) * 9),
)


def draw_errors(scenario: Scenario, items: int, added: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(conditions, items) absolute errors."""
    consensus = rng.integers(5, 26, items) / 5
    shared = scenario.shared * rng.standard_normal(items)
    own = scenario.own * rng.standard_normal((len(added), items))
    ratings = np.clip(np.rint(consensus + shared + own + added[:, None]), 1, 5)
    return np.abs(ratings - consensus)


def true_errors(scenario: Scenario) -> np.ndarray:
    """(conditions,) the MAE on a million items."""
    rng = np.random.default_rng(1)
    levels, place = np.unique(scenario.added, return_inverse=True)
    each = [draw_errors(scenario, TRUTH_ITEMS, np.array([level]), rng).mean() for level in levels]
    return np.array(each)[place]


def one(scenario: Scenario, truth: np.ndarray, rng: np.random.Generator) -> list[float]:
    """Raw minimum with two intervals, cross-fitted value with its interval, and its target.

    The two: that of the winner's MAE, and that of a minimum which every draw takes anew.
    """
    errors = draw_errors(scenario, scenario.items, np.array(scenario.added), rng)
    counts = np.ones_like(errors)
    split = halves(np.zeros(scenario.items), SPLITS, rng)
    weights = item_weights(scenario.items, DRAWS, rng)
    cells = [np.arange(len(errors))]
    fitted = cross_fitted(errors, counts, cells, split, weights)
    low, high = t_interval(fitted.values, fitted.draws, scenario.items - 1, LEVEL)
    winner = errors.mean(1).argmin()
    drawn = weighted_sums(weights, errors) / scenario.items
    raw = percentile(np.stack([drawn[winner], drawn.min(0)]), LEVEL)
    chosen = [truth[errors[:, half].mean(1).argmin()] for part in split for half in (part, ~part)]
    ends = [*raw[0], *raw[1], fitted.values[0], low[0], high[0]]
    return [errors[winner].mean(), *map(float, ends), float(np.mean(chosen))]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpora", type=int, default=1000)
    corpora = parser.parse_args().corpora
    columns = ["conditions", "items", "raw: bias", "winner's interval covers", "redrawn minimum covers"]
    columns += ["cross-fitted: bias", "covers", "half-width", "regret"]
    print(f"| {' | '.join(columns)} |")
    print("|---|---|---|---|---|---|---|---|---|")
    for number, scenario in enumerate(SCENARIOS):
        truth = true_errors(scenario)
        rng = np.random.default_rng([7, number])
        found = np.array([one(scenario, truth, rng) for _ in range(corpora)])
        raw, low_1, low_2, high_1, high_2, value, low, high, chosen = found.T
        best, target = truth.min(), chosen.mean()
        numbers = [
            raw.mean() - best,
            np.mean((low_1 <= best) & (best <= high_1)),
            np.mean((low_2 <= best) & (best <= high_2)),
            value.mean() - target,
            np.mean((low <= target) & (target <= high)),
            np.mean(high - low) / 2,
            target - best,
        ]
        print(
            f"| {scenario.name} | {scenario.items} | " + " | ".join(f"{number:.3f}" for number in numbers) + " |",
            flush=True,
        )


if __name__ == "__main__":
    main()
