"""What a competent user would write without voirdire: the loops that the speed bench compares with.

Every function takes the drawn items, so that the same draws can be given to both sides. Nothing here imports voirdire.
"""

from __future__ import annotations

from typing import Any

import numpy as np

NAMES = ("mae_a", "mae_b", "pearson_a", "pearson_b", "tilt")


def alpha_value_counts(counts: np.ndarray, items: np.ndarray) -> float:
    """Ordinal alpha of resampled items (I, L) by the krippendorff package, from value counts (its fast way)."""
    import krippendorff

    kept = np.ascontiguousarray(counts[items])
    return float(krippendorff.alpha(value_counts=kept, level_of_measurement="ordinal"))


def alpha_reliability_data(ratings: np.ndarray, items: np.ndarray) -> float:
    """The same from the matrix of ratings (items, raters), as its README shows."""
    import krippendorff

    return float(krippendorff.alpha(reliability_data=ratings[items].T, level_of_measurement="ordinal"))


def numpy_draw(ratings: np.ndarray, consensus: np.ndarray, items: np.ndarray) -> np.ndarray:
    """(5, cells) the statistics of one resample: ratings (cells, I), consensus (2, I); all cells at once."""
    r, (a, b) = ratings[:, items], consensus[:, items]
    error_a, error_b, gap = np.abs(r - a), np.abs(r - b), np.abs(a - b)
    apart = gap > 1e-9
    tilt = ((error_b - error_a)[:, apart] / gap[apart]).mean(1)
    return np.stack([error_a.mean(1), error_b.mean(1), _pearson(r, a), _pearson(r, b), tilt])


def _pearson(r: np.ndarray, m: np.ndarray) -> np.ndarray:
    r, m = r - r.mean(1, keepdims=True), m - m.mean()
    correlation: np.ndarray = (r @ m) / np.sqrt((r * r).sum(1) * (m @ m))
    return correlation


def pandas_frame(ratings: np.ndarray, consensus: np.ndarray) -> Any:
    """The long table (item, cell, rating, both consensuses) that the pandas loop starts from."""
    import pandas as pd

    cells, items = ratings.shape
    columns = {"item": np.tile(np.arange(items), cells), "cell": np.repeat(np.arange(cells), items)}
    columns |= {"rating": ratings.ravel(), "a": np.tile(consensus[0], cells), "b": np.tile(consensus[1], cells)}
    return pd.DataFrame(columns)


def pandas_draw(frame: Any, items: np.ndarray) -> np.ndarray:
    """(5, cells) the statistics of one resample: merge the drawn items, group by cell, scipy's pearsonr."""
    import pandas as pd
    from scipy.stats import pearsonr

    drawn = pd.DataFrame({"item": items}).merge(frame, on="item")
    rows = []
    for _, cell in drawn.groupby("cell"):
        error_a, error_b = (cell["rating"] - cell["a"]).abs(), (cell["rating"] - cell["b"]).abs()
        gap = (cell["a"] - cell["b"]).abs()
        apart = gap > 1e-9
        tilt = ((error_b - error_a)[apart] / gap[apart]).mean()
        r_a, r_b = (pearsonr(cell["rating"], cell[side]).statistic for side in ("a", "b"))
        rows.append([error_a.mean(), error_b.mean(), r_a, r_b, tilt])
    return np.array(rows).T
