"""The fits behind orientation: every cell of a question between some pools, on the items of one slice.

Shapes: C cells, I items of the slice, U of them usable (each pool has a consensus), R repeats, P regressors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl

from voirdire.analysis.context import Context, Mask, context_reason, order_reason, subset
from voirdire.analysis.judge_rows import Judged
from voirdire.analysis.panels import Panel
from voirdire.corpus.corpus import Corpus
from voirdire.stats.consensus_noise import Shrinkage, merge_small
from voirdire.stats.decomposition import CellFits, Coded, code_cells, fit_all, image_columns, regressors
from voirdire.stats.features import TIE, Array, PoolArrays

Ints = npt.NDArray[np.int64]
LEAST_IMAGE = 20
STRATA = ("culture", "category")


@dataclass(frozen=True)
class Variant:
    """How a fit departs from the definition: raw consensuses, standardised pools, squared pool means beside them."""

    raw: bool = False
    standardise: bool = False
    squares: bool = False

    @property
    def params(self) -> str:
        """As in the params of a row."""
        parts = [(self.raw, "consensus=raw"), (self.standardise, "pools=standardised"), (self.squares, "curvature=yes")]
        return ",".join(text for holds, text in parts if holds)


PLAIN = Variant()


@dataclass(frozen=True)
class Strata:
    """Codes of all items of a question, from the corpus: strata of the consensus noise, and image levels."""

    strata: Ints
    image: Ints
    image_names: tuple[str, ...]

    @classmethod
    def of(cls, corpus: Corpus, panel: Panel) -> Strata:
        """Strata are culture x category where the items have them; the image is the culture."""
        items = corpus.items[panel.item_rows]
        columns = [name for name in STRATA if name in items.columns and items[name].dtype != pl.Null]
        texts = [items[name].cast(pl.String).fill_null("") for name in columns]
        joined = np.array(["\x1f".join(row) for row in zip(*texts, strict=True)]) if texts else np.zeros(panel.n_items)
        strata = np.unique(joined, return_inverse=True)[1].astype(np.int64)
        cultures = items["culture"].cast(pl.String).fill_null("") if "culture" in columns else None
        if cultures is None:
            return cls(strata, np.zeros(panel.n_items, dtype=np.int64), ("",))
        names, codes = np.unique(cultures.to_numpy(), return_inverse=True)
        return cls(strata, codes.astype(np.int64), tuple(str(name) for name in names))


@dataclass(frozen=True)
class SliceFits:
    """The cells of a question held between pools on the items of a slice.

    pools : indices, two for a pair; mask : (I,) items of the slice among all; usable : (I of the slice,)
    reason : why nothing is fitted, else None; image_names : the levels behind the image columns, merged ones joined
    """

    context: Context
    judged: Judged
    pools: tuple[int, ...]
    mask: Mask
    usable: Mask
    reason: str | None
    uncorrected: tuple[int, ...]
    shrinkage: Shrinkage
    image: Ints
    image_names: tuple[str, ...]
    coded: tuple[Coded, ...]
    variant: Variant

    @cached_property
    def fits(self) -> CellFits:
        """All cells fitted on all usable items."""
        return fit_all(self.coded, self.x(), len(self.judged.cube), weights=self.weights())

    @property
    def n_repeats(self) -> int:
        """R."""
        return self.judged.cube.shape[2]

    @property
    def lead(self) -> int:
        """The place of the lead among the regressors."""
        return len(self.pools)

    def weights(self, items: Array | None = None) -> Array:
        """(U * R,) weights of the ratings: an item's weight in equal parts over its repeats."""
        each = np.ones(int(self.usable.sum())) if items is None else items
        return np.repeat(each / self.n_repeats, self.n_repeats)

    def x(self, items: Array | None = None) -> Array:
        """(U * R, P) regressors, the corrections of the consensuses made with these weights of the items (U,)."""
        columns = image_columns(self.image, items)
        variant = self.variant
        posterior = self.shrinkage.posterior(items)
        by_item = regressors(
            posterior,
            columns,
            weights=items,
            standardise=variant.standardise,
            squares=variant.squares,
            unit=self.shrinkage.unit,
        )
        return np.repeat(by_item, self.n_repeats, axis=0)

    def direction(self, **pools: float) -> Array:
        """(P,) a linear function of the slopes: ``direction(p0=-1, p1=1)``, ``direction(lead=1)``."""
        size = self.x_width
        found = np.zeros(size)
        for name, value in pools.items():
            found[self.lead if name == "lead" else int(name.removeprefix("p"))] = value
        return found

    @cached_property
    def x_width(self) -> int:
        """P."""
        squares = len(self.pools) if self.variant.squares else 0
        return len(self.pools) + 1 + len(self.image_names) - 1 + squares

    def by_item(self, influence: Array) -> Array:
        """(S, U * R) sums of ratings as (S, I) sums of the slice's items; (S, 0) where no cell could be fitted."""
        if not influence.shape[1]:
            return np.zeros((len(influence), len(self.usable)))
        summed = influence.reshape(len(influence), -1, self.n_repeats).sum(2)
        result = np.zeros((len(influence), len(self.usable)))
        result[:, self.usable] = summed
        return result


def slice_fits(
    context: Context,
    judged: Judged,
    strata: Strata,
    pools: tuple[int, ...],
    mask: Mask,
    variant: Variant = PLAIN,
) -> SliceFits:
    """Prepare the fits of a slice; they are computed when first asked for."""
    arrays = subset(context.panel.arrays, mask)
    usable = np.asarray(arrays.has[list(pools)].all(0))
    chosen = np.flatnonzero(usable)
    here = np.ix_(np.array(pools), chosen)
    picked = PoolArrays(
        arrays.mean[here],
        arrays.n[here],
        arrays.s2[here],
        arrays.scale,
    )
    shrinkage = Shrinkage.of(picked, strata.strata[mask][chosen], correct=not variant.raw)
    uncorrected = tuple(pools[k] for k in np.flatnonzero(~shrinkage.corrected)) if not variant.raw else ()
    image, names = _image(strata, mask, chosen)
    ratings = judged.cube[:, np.flatnonzero(mask)[chosen]].reshape(len(judged.cube), -1)
    reason = _reason(context, pools, picked)
    coded = tuple(code_cells(ratings, context.panel.arrays.scale.levels)) if reason is None else ()
    return SliceFits(context, judged, pools, mask, usable, reason, uncorrected, shrinkage, image, names, coded, variant)


def _image(strata: Strata, mask: Mask, chosen: Ints) -> tuple[Ints, tuple[str, ...]]:
    """Codes of the image levels after those under 20 items are merged, and their names."""
    given = strata.image[mask][chosen]
    merged = merge_small(given, LEAST_IMAGE)
    names = tuple(
        "+".join(strata.image_names[code] for code in np.unique(given[merged == level]))
        for level in range(int(merged.max()) + 1 if merged.size else 0)
    )
    return merged, names or ("",)


def _reason(context: Context, pools: tuple[int, ...], arrays: PoolArrays) -> str | None:
    """Why the cells cannot be held between these pools."""
    panel = context.panel
    if panel.question.scale.nominal:
        return order_reason(panel.question.scale)
    if panel.normalised:
        return "item_scales"
    if arrays.mean.shape[1] < 10 + 2 * len(pools):
        return "few_items" if arrays.mean.shape[1] else "no_common_items"
    gaps = [first - second for first, second in combinations(arrays.mean, 2)]
    if any((np.abs(gap) <= TIE).all() for gap in gaps):
        return "equal_consensuses"
    if len(pools) == 2 and ((gaps[0] >= -TIE).all() or (gaps[0] <= TIE).all()):
        return "gaps_one_sign"
    return None


def reason_of(fits: SliceFits) -> str | None:
    """The reason in its context, also where a pool's rater noise is not known."""
    if fits.reason is None and fits.uncorrected:
        return context_reason(fits.context, "noise_unknown", fits.uncorrected)
    return fits.reason
