"""The fixed-effects regression against pyfixest and statsmodels, in one run: ``python bench/fixed_effects.py --help``.

delta of every item in every cell on a covariate of the judges, with item and condition effects and errors clustered on
items (g1). CPU seconds of the process (time.process_time), one thread unless the environment says otherwise; the least
of some runs on every side, after one that is not counted (compilation). Before any timing the coefficient and the
error of every side are compared with ours: the bench stops beyond 1e-8 relative.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS")
for _name in THREADS:
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from audit_speed import runs_at, timed  # noqa: E402

from voirdire.stats.regression import ItemCube, dummies, item_effect  # noqa: E402

JUDGES, CONDITIONS, ITEMS = 6, 10, 626
SEED = 1
MANY = 20
Fit = Callable[[], tuple[float, float]]


@dataclass(frozen=True)
class Data:
    """delta (C, I), NaN where missing; the covariate and the condition (C,) of each cell; the same as a long table."""

    delta: np.ndarray
    covariate: np.ndarray
    condition: np.ndarray
    table: pd.DataFrame


@dataclass(frozen=True)
class Timing:
    """CPU seconds of one side on one table."""

    times: int
    missing: float
    rows: int
    side: str
    cpu: float


def draw(times: int, missing: float) -> Data:
    """The paper's design with so many times its items; a share of the judgments missing."""
    rng = np.random.default_rng(SEED)
    covariate = np.repeat([1.0, 0.0], JUDGES // 2).repeat(CONDITIONS)
    condition = np.tile(np.arange(CONDITIONS), JUDGES)
    delta = rng.normal(0, 1, (JUDGES * CONDITIONS, ITEMS * times)) + rng.normal(0, 1, ITEMS * times)
    delta += 0.1 * covariate[:, None] + rng.normal(0, 0.3, CONDITIONS)[condition][:, None]
    delta[rng.random(delta.shape) < missing] = np.nan
    cell, item = np.nonzero(~np.isnan(delta))
    columns = {"delta": delta[cell, item], "covariate": covariate[cell], "item": item, "condition": condition[cell]}
    columns["cell"] = cell
    return Data(delta, covariate, condition, pd.DataFrame(columns))


def ours(data: Data) -> Fit:
    """From the cube, as the audit holds it."""

    def fit() -> tuple[float, float]:
        effect = item_effect(ItemCube.of(data.delta), data.covariate, dummies(data.condition)[0])
        if effect is None:
            raise ValueError("no effect")  # noqa: TRY003
        return effect.coef, effect.se("g1")

    return fit


def ours_from_table(data: Data) -> Fit:
    """From the same long table as the others: the cube is made in every run."""

    def fit() -> tuple[float, float]:
        cube = np.full(data.delta.shape, np.nan)
        cube[data.table["cell"].to_numpy(), data.table["item"].to_numpy()] = data.table["delta"].to_numpy()
        effect = item_effect(ItemCube.of(cube), data.covariate, dummies(data.condition)[0])
        if effect is None:
            raise ValueError("no effect")  # noqa: TRY003
        return effect.coef, effect.se("g1")

    return fit


def by_pyfixest(data: Data) -> Fit:
    """feols with its default way of absorbing and its default tolerance."""
    import pyfixest

    small_sample = pyfixest.ssc(k_adj=False, G_adj=True)

    def fit() -> tuple[float, float]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = pyfixest.feols(
                "delta ~ covariate | item + condition", data.table, vcov={"CRV1": "item"}, ssc=small_sample
            )
        return float(result.coef().iloc[0]), float(result.se().iloc[0])

    return fit


def by_statsmodels(data: Data) -> Fit:
    """OLS of what item and condition means leave: exact on balanced data only."""
    import statsmodels.api as sm

    def fit() -> tuple[float, float]:
        table = data.table
        kept = {}
        for name in ("delta", "covariate"):
            means = [table.groupby(by)[name].transform("mean") for by in ("item", "condition")]
            kept[name] = (table[name] - means[0] - means[1] + table[name].mean()).to_numpy()
        result = sm.OLS(kept["delta"], kept["covariate"]).fit(
            cov_type="cluster", cov_kwds={"groups": table["item"].to_numpy()}
        )
        return float(result.params[0]), float(result.bse[0])

    return fit


def compare(times: int, missing: float) -> tuple[list[Timing], float]:
    """Every side on one table, and the largest relative difference from ours."""
    data = draw(times, missing)
    sides: dict[str, Fit] = {"voirdire": ours(data), "voirdire, from the table": ours_from_table(data)}
    sides["pyfixest"] = by_pyfixest(data)
    if not missing:
        sides["statsmodels, demeaned"] = by_statsmodels(data)
    expected = np.array(sides["voirdire"]())
    worst = max(float(np.max(np.abs(np.array(fit()) / expected - 1))) for fit in sides.values())
    if not worst < 1e-8:
        raise SystemExit(f"the sides differ by {worst}")  # noqa: TRY003
    runs = runs_at(times)
    spent = {
        side: timed(_many(fit), runs) / MANY if "voirdire" in side else timed(fit, runs) for side, fit in sides.items()
    }
    return [Timing(times, missing, len(data.table), side, cpu) for side, cpu in spent.items()], worst


def _many(fit: Fit) -> Callable[[], None]:
    """The clock of the process is too coarse for one of our runs."""

    def work() -> None:
        for _ in range(MANY):
            fit()

    return work


def lines(rows: list[Timing]) -> list[str]:
    """A table in markdown; ratios to ours on the cube."""
    out = ["| rows | missing | side | CPU s | voirdire is |", "|---|---|---|---|---|"]
    own = {(row.times, row.missing): row.cpu for row in rows if row.side == "voirdire"}
    for row in rows:
        ratio = row.cpu / own[row.times, row.missing]
        told = "" if row.side == "voirdire" else f"{ratio:,.1f} times faster"
        out.append(f"| {row.rows:,} | {row.missing:.0%} | {row.side} | {row.cpu:.6f} | {told} |")
    return out


def main() -> None:
    """Run, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, nargs="+", default=[1, 10], help="times the paper's 626 items")
    parser.add_argument("--missing", type=float, nargs="+", default=[0.0, 0.1], help="shares of judgments missing")
    parser.add_argument("--json", type=Path, help="keep the numbers here")
    given = parser.parse_args()
    rows: list[Timing] = []
    worst = 0.0
    for times in given.times:
        for missing in given.missing:
            timings, difference = compare(times, missing)
            rows += timings
            worst = max(worst, difference)
    versions = {name: version(name) for name in ("numpy", "pandas", "pyfixest", "statsmodels")}
    print(f"python {sys.version.split()[0]}, " + ", ".join(f"{name} {number}" for name, number in versions.items()))
    print(f"largest relative difference of a side from ours: {worst:.1e}\n")
    print("\n".join(lines(rows)))
    if given.json:
        kept = {"versions": versions, "worst": worst, "rows": [asdict(row) for row in rows]}
        given.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
