"""The paper's analysis as one would write it with pandas, scipy and statsmodels; nothing of voirdire.

Every function takes the drawn items, so that the same draws can be given to both sides.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

CELL = ["judge", "condition", "design"]
MEANS = ["err_us", "err_cn", "delta", "t", "rating", "low", "high"]
NAMES = (*MEANS, "pearson_us", "pearson_cn")
SLICES = ("all", "us", "cn")
COLUMNS = ["item_id", "culture", *CELL, *MEANS, "us", "cn"]


def long_table(data: Path) -> pd.DataFrame:
    """A row a judgment, with both consensuses, errors, delta and T."""
    items = pd.read_csv(data / "items.csv.gz")
    ratings = pd.read_csv(data / "ratings.csv.gz")
    means = ratings.groupby(["item_id", "pool"])["q1"].mean().unstack("pool")
    table = pd.read_csv(data / "judgments.csv.gz").merge(means, left_on="item_id", right_index=True)
    table = table.merge(items[["item_id", "culture"]], on="item_id")
    table["err_us"], table["err_cn"] = (table["rating"] - table["us"]).abs(), (table["rating"] - table["cn"]).abs()
    table["delta"] = table["err_us"] - table["err_cn"]
    gap = (table["us"] - table["cn"]).where((table["us"] - table["cn"]).abs() > 1e-9)
    table["t"] = ((2 * table["rating"] - table["us"] - table["cn"]) / gap).clip(-1, 1)
    table["low"], table["high"] = (table["rating"] <= 2).astype(float), (table["rating"] == 5).astype(float)
    return table[COLUMNS]


def draw(table: pd.DataFrame, items: np.ndarray) -> np.ndarray:
    """(3 slices, 9 statistics, 300 cells) of one resample: merge the drawn items, group by cell, scipy's pearsonr."""
    from scipy.stats import pearsonr

    drawn = pd.DataFrame({"item_id": items}).merge(table, on="item_id")
    slices = []
    for name in SLICES:
        part = drawn if name == "all" else drawn[drawn["culture"] == name]
        groups = part.groupby(CELL)
        means = groups[MEANS].mean()
        pearson = [[pearsonr(cell["rating"], cell[pool]).statistic for _, cell in groups] for pool in ("us", "cn")]
        slices.append(np.concatenate([means.to_numpy().T, np.array(pearson)]))
    return np.array(slices)


def cells(table: pd.DataFrame) -> list[tuple[str, str]]:
    """Judge and full condition of every cell, in the order of :func:`draw`."""
    return [(judge, f"{condition}/{design}") for judge, condition, design in table.groupby(CELL).groups]


def fit(table: pd.DataFrame, cell: int, items: np.ndarray) -> Any:
    """The cumulative probit of one cell on drawn items, by statsmodels' OrderedModel."""
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    judge, condition, design = list(table.groupby(CELL).groups)[cell]
    chosen = (table["judge"] == judge) & (table["condition"] == condition) & (table["design"] == design)
    drawn = pd.DataFrame({"item_id": items}).merge(table[chosen], on="item_id")
    predictors = drawn[["us", "cn"]].assign(gap=(drawn["us"] - drawn["cn"]).abs() / 2, image=drawn["culture"] == "us")
    levels = pd.Categorical(drawn["rating"], ordered=True)
    return OrderedModel(levels, predictors.astype(float), distr="probit").fit(method="bfgs", disp=False)
