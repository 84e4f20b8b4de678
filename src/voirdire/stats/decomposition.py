"""Orientation, permissiveness, scale use and image effect of judges between pools (section 3 of the definitions).

Per cell, over items, a penalised cumulative probit with free cut points: ``latent = sum_k b_k m_k + b_g lead + image``,
where m_k are the pools' values less their rater noise and ``lead`` is the highest of them less their mean (of two pools
half their gap). W = b_b / (b_a + b_b) is the orientation and PI = b_g / (b_a + b_b) the permissiveness; cut points and
slope hold the use of the scale, so that W and PI do not change when a judge's levels are relabelled in order.

Shapes: C cells, I items (times repeats), K pools, P regressors, L values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from voirdire.stats.consensus_noise import Posterior
from voirdire.stats.cumulative import RIDGE, TOLERANCE, Array, Codes, Data, Fit, fit_cells, scores
from voirdire.stats.profiling import deviance, fixed

Ints = npt.NDArray[np.int64]
SEPARATED = 10.0
MOST_VALUES = 10
_CHUNK = 4_000_000


@dataclass(frozen=True)
class Coded:
    """Ratings of cells that answer on the same values.

    cells : (c,) their places among all cells; values : (L,) rising; codes : (c, I) places in values, -1 without rating
    n_values : how many different values there were before they were grouped
    """

    cells: Ints
    values: Array
    codes: Codes
    n_values: int


@dataclass(frozen=True)
class Part:
    """Cells of one :class:`Coded` that use the same values of it, fitted together; used : (L') places in values."""

    cells: Ints
    used: Ints
    data: Data
    fit: Fit
    values: Array


@dataclass(frozen=True)
class CellFits:
    """Every cell's fit.

    slopes : (C, P), NaN where a cell uses fewer than two values or its fit did not converge; parts : the fits behind it
    """

    slopes: Array
    parts: tuple[Part, ...]

    @property
    def fitted(self) -> npt.NDArray[np.bool_]:
        """(C,) whether the cell was fitted: it uses two values or more."""
        return np.asarray(~np.isnan(self.slopes).any(1))

    @cached_property
    def rated(self) -> Array:
        """(C,) weight of the ratings behind each fit, 0 where a cell was not fitted: its weight in a mean of cells.

        Without it a cell of few ratings, whose slopes are far off, would count as much as a full one.
        """
        total = np.zeros(len(self.slopes))
        for part in self.parts:
            total[part.cells] = np.where(part.data.codes >= 0, part.data.weights, 0.0).sum(1)
        return total

    @property
    def stuck(self) -> npt.NDArray[np.bool_]:
        """(C,) whether a fit did not converge."""
        found = np.zeros(len(self.slopes), dtype=bool)
        for part in self.parts:
            found[part.cells] = ~part.fit.converged
        return found

    @property
    def separated(self) -> npt.NDArray[np.bool_]:
        """(C,) whether a penalised slope is beyond 10: the ratings part the items without overlap."""
        return np.asarray((np.abs(np.nan_to_num(self.slopes)) > SEPARATED).any(1))


def code_cells(ratings: Array, levels: Sequence[float]) -> list[Coded]:
    """Codes of the ratings (C, I), NaN without a rating.

    Cells whose ratings are all declared levels share those; every other cell has the values that occur in it, the most
    that there are being ten: more are grouped into tenths, each with its mean rating as value.
    """
    grid = np.asarray(levels, dtype=float)
    known = ~np.isnan(ratings)
    on_levels = np.zeros(len(ratings), dtype=bool)
    if grid.size and grid.size <= MOST_VALUES:
        place = np.clip(np.searchsorted(grid, np.nan_to_num(ratings)), 0, grid.size - 1)
        on_levels = (~known | (np.abs(grid[place] - np.nan_to_num(ratings)) < 1e-9)).all(1)
    coded = []
    if on_levels.any():
        cells = np.flatnonzero(on_levels)
        codes = np.where(known[cells], place[cells], -1).astype(np.int8)
        coded.append(Coded(cells, grid, codes, grid.size))
    others = np.flatnonzero(~on_levels & known.any(1))
    return [*coded, *(_own_values(ratings[cell], int(cell)) for cell in others)]


def _own_values(ratings: Array, cell: int) -> Coded:
    known = ~np.isnan(ratings)
    values, places = np.unique(ratings[known], return_inverse=True)
    n_values = len(values)
    if n_values > MOST_VALUES:
        edges = np.unique(np.quantile(ratings[known], np.linspace(0, 1, MOST_VALUES + 1)[1:-1]))
        places = np.searchsorted(edges, ratings[known], side="left")
        places = np.unique(places, return_inverse=True)[1]
        values = np.bincount(places, ratings[known]) / np.bincount(places)
    codes = np.full((1, len(ratings)), -1, dtype=np.int8)
    codes[0, known] = places
    return Coded(np.array([cell]), values, codes, n_values)


def image_columns(codes: Ints, weights: Array | None = None) -> Array:
    """(I, L - 1) dummies of the image levels 0..L-1 whose effects sum to zero, weighted by items.

    >>> image_columns(np.array([0, 0, 0, 1]))[:, 0]
    array([ 1.,  1.,  1., -3.])
    """
    size = np.bincount(codes, weights).astype(float)
    columns = np.zeros((len(codes), len(size) - 1))
    for level in range(len(size) - 1):
        columns[codes == level, level] = 1.0
        columns[codes == len(size) - 1, level] = -size[level] / max(size[-1], 1e-12)
    return columns


def regressors(
    posterior: Posterior,
    image: Array,
    *,
    weights: Array | None = None,
    standardise: bool = False,
    squares: bool = False,
    unit: float = 1.0,
) -> Array:
    """(I, P) the K pools' values, their lead, the image columns, and with ``squares`` the K squared values.

    The pools are centred at one value, their common mean, and the lead keeps its zero, so that setting W to 1/2 and
    b_g to 0 under the same cut points is the same judge without orientation and permissiveness.
    standardise : each pool's value is divided by its sd over items, else by ``unit``, so that slopes and their penalty
    mean the same on every scale.
    """
    scale = _spread(posterior.mean, weights) if standardise else np.full(len(posterior.mean), unit)
    scaled = Posterior(posterior.mean / scale[:, None], posterior.covariance / (scale[:, None] * scale[None, :]))
    values, lead = scaled.mean, scaled.expected_lead()
    means = np.average(values, axis=1, weights=weights)
    columns = [*(values - means.mean()), lead, *image.T]
    if squares:
        own = (values - means[:, None]) ** 2
        columns += list(own - np.average(own, axis=1, weights=weights)[:, None])
    return np.stack(columns, axis=1)


def _spread(values: Array, weights: Array | None) -> Array:
    center = np.average(values, axis=1, weights=weights)[:, None]
    return np.asarray(np.sqrt(np.maximum(np.average((values - center) ** 2, axis=1, weights=weights), 1e-12)))


def fit_all(
    coded: Sequence[Coded],
    x: Array,
    n_cells: int,
    *,
    weights: Array | None = None,
    ridge: float = RIDGE,
    start: CellFits | None = None,
    tolerance: float = TOLERANCE,
) -> CellFits:
    """Fit every cell; values that a cell does not use (with weight) are merged into their neighbours first.

    start : fits of the same cells on all items, from which a resample's fits start
    """
    w = np.ones(len(x)) if weights is None else weights
    drawn = np.flatnonzero(w > 0)
    cuts_at = {} if start is None else _cuts_of(start)
    slopes = np.full((n_cells, x.shape[1]), np.nan)
    parts = []
    for entry in coded:
        codes = entry.codes[:, drawn] if len(drawn) < len(w) else entry.codes
        for rows, used in _by_used(codes, len(entry.values)):
            data = Data(_recoded(codes[rows], used, len(entry.values)), x[drawn], w[drawn], len(used), ridge)
            cells = entry.cells[rows]
            warm = None if start is None else _warm(cuts_at, start.slopes, cells, used)
            fit = fit_cells(data, start=warm, tolerance=tolerance)
            slopes[cells] = np.where(fit.converged[:, None], fit.slopes, np.nan)
            parts.append(Part(cells, used, data, fit, entry.values))
    return CellFits(slopes, tuple(parts))


def _by_used(codes: Codes, n_values: int) -> Iterator[tuple[Ints, Ints]]:
    """Cells (rows) that use the same two or more values, with these."""
    used = np.stack([(codes == value).any(1) for value in range(n_values)], axis=1)
    marks = used @ (1 << np.arange(n_values))
    for mark in np.unique(marks):
        rows = np.flatnonzero(marks == mark)
        places = np.flatnonzero(used[rows[0]])
        if len(places) > 1:
            yield rows, places


def _recoded(codes: Codes, used: Ints, n_values: int) -> Codes:
    if len(used) == n_values:
        return codes
    table = np.full(n_values + 1, -1, dtype=np.int8)
    table[used] = np.arange(len(used))
    return table[codes]


def expanded_cuts(part: Part) -> Array:
    """(c, L - 1) cuts between all values; those of values that are not used are infinite or equal to a neighbour's."""
    c = len(part.cells)
    edge = np.full((c, 1), np.inf)
    padded = np.concatenate([-edge, part.fit.cuts, edge], axis=1)
    at_most = np.searchsorted(part.used, np.arange(len(part.values) - 1), side="right")
    return padded[:, at_most]


def _cuts_of(fits: CellFits) -> dict[int, Array]:
    return {int(cell): cuts for part in fits.parts for cell, cuts in zip(part.cells, expanded_cuts(part), strict=True)}


def _warm(cuts_at: dict[int, Array], slopes: Array, cells: Ints, used: Ints) -> tuple[Array, Array]:
    return np.stack([cuts_at[int(cell)][used[:-1]] for cell in cells]), slopes[cells]


def neutrality(fits: CellFits, contrast: Array) -> tuple[Array, Array]:
    """Profile likelihood ratio of ``contrast @ slopes == 0`` and its p (chi-squared, 1 df), both (C,); NaN unfitted."""
    from scipy.stats import chi2

    ratio = np.full(len(fits.slopes), np.nan)
    for part in fits.parts:
        ratio[part.cells], _ = deviance(part.data, part.fit, fixed(contrast, np.zeros(len(part.cells))))
    return ratio, np.asarray(chi2.sf(ratio, 1))


def influence(fits: CellFits, matrix: Array, directions: Array) -> Array:
    """(S, I) what each item adds to ``directions[s] @ (mean slopes of the selection's fitted cells, by ratings)``.

    matrix : (S, C) 0/1; directions : (S, P). The sum of squares over items is the item-clustered variance.
    """
    blocks = [np.einsum("sip,sp->si", block, directions) for block in _mean_influences(fits, matrix, 1)]
    return np.concatenate([np.zeros((len(matrix), 0)), *blocks], axis=1)


def slope_covariance(fits: CellFits, matrix: Array, repeats: int = 1) -> Array:
    """(S, P, P) item-clustered covariance of the mean slopes (by ratings) of each selection, times G / (G - 1).

    repeats : ratings of one item that stand side by side
    """
    size = fits.slopes.shape[1]
    total = np.zeros((len(matrix), size, size))
    for block in _mean_influences(fits, matrix, repeats):
        by_item = block.reshape(len(matrix), -1, repeats, size).sum(2)
        total += by_item.transpose(0, 2, 1) @ by_item
    groups = max(_n_items(fits) // repeats, 2)
    return total * (groups / (groups - 1))


def _n_items(fits: CellFits) -> int:
    return fits.parts[0].data.x.shape[0] if fits.parts else 0


def _mean_influences(fits: CellFits, matrix: Array, multiple: int) -> Iterator[Array]:
    """(S, i, P) influences of runs of items on the selections' mean slopes; ``multiple``: of items in a run."""
    known = matrix * fits.rated
    total = known.sum(1, keepdims=True)
    share = known / np.where(total > 0, total, 1.0)
    n_items, size = _n_items(fits), fits.slopes.shape[1]
    step = max(1, _CHUNK // max((len(matrix) + len(fits.slopes)) * size * multiple, 1)) * multiple
    ready = [(part, *_prepared(part)) for part in fits.parts]
    for first in range(0, n_items, step):
        items = slice(first, min(first + step, n_items))
        block = np.zeros((len(matrix), items.stop - first, size))
        for part, inverse, upper, lower in ready:
            own = _slope_influence(part, inverse, upper, lower, items)
            block += (share[:, part.cells] @ own.reshape(len(own), -1)).reshape(block.shape)
        yield block


def _prepared(part: Part) -> tuple[Array, Array, Array]:
    """Rows of the slopes in the inverse information (c, P, k), and the scores by the ends of the intervals."""
    inverse = np.linalg.inv(part.fit.information)[:, part.data.n_cuts :, :].astype(float)
    return inverse, *scores(part.data, part.fit)


def _slope_influence(part: Part, inverse: Array, upper: Array, lower: Array, items: slice) -> Array:
    """(c, i, P) inverse information times every item's score, for the slopes."""
    cuts = part.data.n_cuts
    u, v = upper[:, items], lower[:, items]
    result = -(u + v)[:, :, None] * (part.data.x[items] @ inverse[:, :, cuts:].transpose(0, 2, 1))
    edge = np.zeros((len(part.cells), inverse.shape[1], 1))
    by_cut = np.concatenate([edge, inverse[:, :, :cuts], edge], axis=2).transpose(0, 2, 1)
    level = np.maximum(part.data.codes[:, items], 0).astype(np.intp)
    cell = np.arange(len(part.cells))[:, None]
    result += by_cut[cell, level + 1] * u[:, :, None] + by_cut[cell, level] * v[:, :, None]
    return np.asarray(result)


def efficient_scores(fits: CellFits, contrast: Array, n_cells: int) -> Array:
    """(C, I) efficient scores of ``contrast @ slopes`` where it is 0: what each item says against neutrality.

    Summed over cells and items they test neutrality of several cells together with items as clusters, also under
    separation, where an estimate over its standard error does not.
    """
    result = np.zeros((n_cells, _n_items(fits)))
    unit = contrast / np.linalg.norm(contrast)
    for part in fits.parts:
        space = fixed(contrast, np.zeros(len(part.cells)))
        _, null = deviance(part.data, part.fit, space)
        upper, lower = scores(part.data, null)
        cuts, turn = part.data.n_cuts, space.basis
        size = cuts + turn.shape[2]
        inside = np.zeros((len(part.cells), cuts + part.data.x.shape[1], size))
        inside[:, :cuts, :cuts] = np.eye(cuts)
        inside[:, cuts:, cuts:] = turn
        nuisance = inside.transpose(0, 2, 1) @ null.information @ inside
        cross = np.einsum("cqk,cqp,p->ck", inside, null.information[:, :, cuts:], unit)
        pull = np.einsum("cqk,ck->cq", inside, np.linalg.solve(nuisance, cross[:, :, None])[:, :, 0])
        along = unit[None] - pull[:, cuts:]
        score = -(upper + lower) * (along @ part.data.x.T)
        padded = np.concatenate([np.zeros((len(pull), 1)), -pull[:, :cuts], np.zeros((len(pull), 1))], axis=1)
        level, cell = np.maximum(part.data.codes, 0).astype(np.intp), np.arange(len(pull))[:, None]
        result[part.cells] = score + padded[cell, level + 1] * upper + padded[cell, level] * lower
    return result


def fieller(top: Array, bottom: Array, variance: tuple[Array, Array, Array], quantile: float) -> tuple[Array, Array]:
    """Fieller's set of top / bottom: variances of top, of both, of bottom. Infinite ends where the bottom may be 0."""
    vtt, vtb, vbb = variance
    a, b, c = bottom**2 - quantile**2 * vbb, top * bottom - quantile**2 * vtb, top**2 - quantile**2 * vtt
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
        bounded = a > 0
        return np.where(bounded, (b - root) / a, -np.inf), np.where(bounded, (b + root) / a, np.inf)
