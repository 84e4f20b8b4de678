"""The statistics once more, as plain as they can be written: arrays of whole items in, one number out."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.metrics import cohen_kappa_score
from tests.replication.runs import tables

from voirdire.stats.resampling import item_weights


@dataclass(frozen=True)
class Table:
    """Ratings r (cells, items) and both pools' ratings x (items, raters); some of the items."""

    r: np.ndarray
    x_us: np.ndarray
    x_cn: np.ndarray

    def __getitem__(self, items: np.ndarray) -> Table:
        return Table(self.r[:, items], self.x_us[items], self.x_cn[items])

    @property
    def us(self) -> np.ndarray:
        return self.x_us.mean(1)

    @property
    def cn(self) -> np.ndarray:
        return self.x_cn.mean(1)


def read(data: Path, cells: pl.Expr) -> tuple[Table, pl.DataFrame]:
    """The cells chosen of the simulated corpus, and its items by their ids."""
    files = tables(data)
    items = pl.read_csv(files["items"]).sort("item_id")
    order = {name: place for place, name in enumerate(items["item_id"])}
    ratings = pl.read_csv(files["ratings"]).sort(pl.col("item_id").replace_strict(order), "annotator_id")
    x = {pool: ratings.filter(pl.col("pool") == pool)["q1"].to_numpy().reshape(len(order), -1) for pool in ("us", "cn")}
    judgments = pl.read_csv(files["judgments"]).join(pl.read_csv(files["conditions"]), on="condition").filter(cells)
    judgments = judgments.sort("judge", "condition", "design", pl.col("item_id").replace_strict(order))
    return Table(judgments["rating"].to_numpy().reshape(-1, len(order)), x["us"], x["cn"]), items


def weights(n_items: int, draws: int, slice_name: str, seed: int = 0) -> np.ndarray:
    """(draws, items) of the audit's item bootstrap for question q1, from the seed in its signatures."""
    name = zlib.crc32(f"q1/items/{slice_name}".encode())
    return item_weights(n_items, draws, np.random.default_rng([seed, name]))


def interval(statistic: object, table: Table, drawn: np.ndarray) -> tuple[float, float]:
    """Percentile interval by a loop over the draws."""
    places = np.arange(drawn.shape[1])
    values = [statistic(table[np.repeat(places, times)]) for times in drawn]  # type: ignore[operator]
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def mae_us(t: Table) -> float:
    return float(np.abs(t.r - t.us).mean())


def bias_cn(t: Table) -> float:
    return float((t.r - t.cn).mean())


def delta(t: Table) -> float:
    return float((np.abs(t.r - t.us) - np.abs(t.r - t.cn)).mean())


def delta_sq(t: Table) -> float:
    noise = t.x_us.var(1, ddof=1) / t.x_us.shape[1], t.x_cn.var(1, ddof=1) / t.x_cn.shape[1]
    return float(((t.r - t.us) ** 2 - noise[0]).mean() - ((t.r - t.cn) ** 2 - noise[1]).mean())


def tilt(t: Table) -> float:
    apart = np.abs(t.us - t.cn) > 1e-9
    us, cn = t.us[apart], t.cn[apart]
    return float(np.clip((2 * t.r[:, apart] - us - cn) / (us - cn), -1, 1).mean())


def tilt_ratio(t: Table) -> float:
    return -delta(t) / cross_pool_mad(t)


def share_low(t: Table) -> float:
    return float((t.r <= 2).mean())


def floor_recovery_us(t: Table) -> float:
    return float((t.r[:, t.us <= 2 + 1e-9] <= 2).mean())


def kappa_us(t: Table) -> float:
    rounded = np.floor(t.us + 0.5 + 1e-9).astype(int)
    return float(
        cohen_kappa_score(t.r.ravel(), np.tile(rounded, len(t.r)), weights="quadratic", labels=[1, 2, 3, 4, 5])
    )


def pearson_us(t: Table) -> float:
    return float(np.mean([np.corrcoef(row, t.us)[0, 1] for row in t.r]))


def percent_of_human_us(t: Table) -> float:
    return 100 * mae_us(t) / cross_pool_mad(t)


def cross_pool_mad(t: Table) -> float:
    return float(np.abs(t.us - t.cn).mean())


def reliability_us(t: Table) -> float:
    return float(1 - t.x_us.var(1, ddof=1).mean() / t.x_us.shape[1] / t.us.var(ddof=1))


def consensus_mean_us(t: Table) -> float:
    return float(t.us.mean())
