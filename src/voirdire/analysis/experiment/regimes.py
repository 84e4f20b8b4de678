"""``regime_comparison``: the same items as two kinds of images (section 4; Jury Duty, Appendix A).

``regime`` names the item column that tells the kinds apart (photographs, generated images). An item and its
counterpart are matched by a column ``counterpart`` that names the other item, else by equal ``pair_id`` and
``culture``. Only matched items count, and the unit of the bootstrap is the item with its counterpart.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from voirdire.analysis.experiment.design import Experiment
from voirdire.analysis.experiment.regime_judges import add_regime_judges
from voirdire.analysis.experiment.regime_pools import add_regime_pools
from voirdire.analysis.experiment.regime_rows import Regimes
from voirdire.errors import UsageError

Places = npt.NDArray[np.int64]
KEYS = ("pair_id", "culture")


def add_regimes(experiment: Experiment) -> None:
    """Rows ``regime_comparison.*``; none without the option.

    Raises UsageError for a column that does not exist, that has not two levels, or items without a way to be matched.
    """
    column = experiment.context.options.regime
    if column is None:
        return
    regimes = read_regimes(experiment, column)
    for pair in experiment.context.detail:
        add_regime_pools(regimes, pair)
        if regimes.n_units:
            add_regime_judges(regimes, pair)


def read_regimes(experiment: Experiment, column: str) -> Regimes:
    """The two regimes and the places of the items that are in both. Raises UsageError as :func:`add_regimes`."""
    items = experiment.corpus.items
    if column not in items.columns:
        raise UsageError("audit.regime_unknown", column=column, known=", ".join(items.columns))
    levels = sorted(items[column].cast(pl.String).drop_nulls().unique().to_list())
    if len(levels) != 2:
        raise UsageError("audit.regime_levels", column=column, known=", ".join(levels))
    if "counterpart" not in items.columns and "pair_id" not in items.columns:
        raise UsageError("audit.regime_pairs")
    rated = items[experiment.context.panel.item_rows.tolist()].with_row_index("_item")
    matched = (_by_counterpart if "counterpart" in items.columns else _by_keys)(rated, column, levels)
    first, second = (matched[name].to_numpy().astype(np.int64) for name in ("_item", "_other"))
    return Regimes(experiment, (levels[0], levels[1]), first, second)


def _sides(rated: pl.DataFrame, column: str, levels: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    regime = rated[column].cast(pl.String)
    return rated.filter(regime == levels[0]), rated.filter(regime == levels[1]).rename({"_item": "_other"})


def _by_counterpart(rated: pl.DataFrame, column: str, levels: list[str]) -> pl.DataFrame:
    """Items that name each other; one of the two names is enough."""
    first, second = _sides(rated, column, levels)
    one = first.select("_item", pl.col("item_id").cast(pl.String), pl.col("counterpart").cast(pl.String))
    two = second.select("_other", _id=pl.col("item_id").cast(pl.String), _names=pl.col("counterpart").cast(pl.String))
    named = one.join(two, left_on="counterpart", right_on="_id", how="inner").select("_item", "_other")
    naming = one.join(two, left_on="item_id", right_on="_names", how="inner").select("_item", "_other")
    return _once(pl.concat([named, naming]).unique().sort("_item", "_other"))


def _by_keys(rated: pl.DataFrame, column: str, levels: list[str]) -> pl.DataFrame:
    """Items of equal pair_id and culture."""
    keys = [name for name in KEYS if name in rated.columns]
    first, second = _sides(rated.with_columns(pl.col(keys).cast(pl.String)), column, levels)
    joined = first.join(second, on=keys, how="inner").select("_item", "_other")
    return _once(joined.sort("_item", "_other"))


def _once(joined: pl.DataFrame) -> pl.DataFrame:
    """Matches of items that have one counterpart only."""
    return joined.filter(pl.col("_item").is_unique() & pl.col("_other").is_unique())
