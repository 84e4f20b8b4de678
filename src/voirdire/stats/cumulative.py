"""Penalised cumulative probit, many cells at once.

A cell is one judge in one condition. All cells of a call share the items and their regressors; each has its own
ratings. The log likelihood of ordered categories is concave in (cuts, slopes) (Pratt 1981, JASA 76, 103-106), so
Newton's method with step halving finds the one maximum; a ridge on the slopes keeps it finite under separation.

Shapes: C cells, I items, P regressors, L levels, k = L - 1 + P parameters, the cuts first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int8]
RIDGE = 0.05
TOLERANCE = 1e-9
STEPS = 60
_HALVINGS = 30
_CONVERGED = 1e-5
_LIFT = 1e-13
_TINY = 1e-300
_FLIP_FROM = 1.0
_DEEP = 1e-280
_NARROW = 1e-15
_BLOCK = 30_000
_ROOT = 1 / np.sqrt(2 * np.pi)


@dataclass(frozen=True)
class Data:
    """Ratings of cells that use the same number of levels.

    codes : (C, I) levels 0..L-1, -1 where there is no rating; x : (I, P); weights : (I,), 0 = not drawn
    """

    codes: Codes
    x: Array
    weights: Array
    levels: int
    ridge: float = RIDGE

    @property
    def n_cuts(self) -> int:
        """L - 1."""
        return self.levels - 1

    def rows(self, cells: npt.NDArray[np.int64] | slice) -> Data:
        """Some of the cells."""
        return Data(self.codes[cells], self.x, self.weights, self.levels, self.ridge)


@dataclass(frozen=True)
class Subspace:
    """What slopes are free to be: ``origin + basis @ theta``.

    origin : (C, P); basis : (C, P, Q), orthonormal columns
    """

    origin: Array
    basis: Array

    def rows(self, cells: npt.NDArray[np.int64]) -> Subspace:
        """Some of the cells."""
        return Subspace(self.origin[cells], self.basis[cells])


@dataclass(frozen=True)
class Fit:
    """Fitted cells.

    cuts : (C, L - 1), rising; slopes : (C, P); loglik : (C,) penalised log likelihood
    information : (C, k, k) negative second derivatives of the penalised log likelihood in cuts and slopes
    converged : (C,) whether the gradient by rating is below 1e-5
    """

    cuts: Array
    slopes: Array
    loglik: Array
    information: Array
    converged: npt.NDArray[np.bool_]


def fit_cells(
    data: Data,
    *,
    start: tuple[Array, Array] | None = None,
    within: Subspace | None = None,
    tolerance: float = TOLERANCE,
) -> Fit:
    """The maximum of every cell's penalised likelihood, over all slopes or within a subspace.

    start : cuts and slopes from which Newton's method starts (a former fit of the same cells)

    >>> codes = np.array([[0, 0, 1, 1, 2, 2]], dtype=np.int8)
    >>> fit = fit_cells(Data(codes, np.zeros((6, 1)), np.ones(6), 3))
    >>> np.round(fit.cuts, 4)  # the normal quantiles of 1/3 and 2/3
    array([[-0.4307,  0.4307]])
    """
    cells = len(data.codes)
    if start is None:
        cuts, slopes = first_cuts(data), np.zeros((cells, data.x.shape[1]))
    else:
        cuts, slopes = start[0].copy(), start[1].copy()
    if within is not None:
        theta = np.einsum("cpq,cp->cq", within.basis, slopes - within.origin)
        slopes = within.origin + np.einsum("cpq,cq->cp", within.basis, theta)
    value, gradient, information = _derivatives(data, cuts, slopes)
    total = np.maximum(((data.codes >= 0) * data.weights).sum(1), 1.0)
    live = np.ones(cells, dtype=bool)
    for _ in range(STEPS):
        down, curvature = _inside(gradient, information, within, data.n_cuts)
        live = np.abs(down).max(axis=1) / total > tolerance
        if not live.any():
            break
        here = np.flatnonzero(live)
        step = _newton_step(curvature[here], down[here])
        step = _outside(step, None if within is None else within.rows(here), data.n_cuts)
        moved = _line_search(data.rows(here), cuts[here], slopes[here], step, value[here])
        cuts[here], slopes[here], value[here], gradient[here], information[here] = moved
    down, _ = _inside(gradient, information, within, data.n_cuts)
    return Fit(cuts, slopes, value, information, np.asarray(np.abs(down).max(axis=1) / total <= _CONVERGED))


def _newton_step(curvature: Array, down: Array) -> Array:
    """Newton's step of every cell; a curvature that is flat in some direction is lifted by next to nothing."""
    size = np.einsum("ckk->c", curvature)[:, None, None]
    lifted = curvature + _LIFT * np.maximum(size, _TINY) * np.eye(curvature.shape[1])
    return np.asarray(np.linalg.solve(lifted, down[:, :, None])[:, :, 0])


def first_cuts(data: Data) -> Array:
    """(C, L - 1) cuts of the model without regressors."""
    from scipy.special import ndtri

    shares = np.stack([(data.weights * (data.codes == level)).sum(1) for level in range(data.levels)], axis=1)
    below = np.cumsum(shares, axis=1)[:, :-1] / np.maximum(shares.sum(1, keepdims=True), _TINY)
    return np.asarray(ndtri(np.clip(below, 0.002, 0.998)) + 1e-6 * np.arange(data.n_cuts))


def log_likelihood(data: Data, cuts: Array, slopes: Array) -> Array:
    """(C,) the penalised log likelihood at given parameters."""
    log, _, _ = _log_share(*_ends(data, cuts, slopes))
    kept = np.where(data.codes >= 0, data.weights, 0.0)
    return np.asarray((kept * log).sum(1) - 0.5 * data.ridge * (slopes**2).sum(1))


def scores(data: Data, fit: Fit) -> tuple[Array, Array]:
    """Derivatives of every rating's log probability by the upper and by the lower end of its interval, both (C, I).

    The score of a cut is the first at ratings below it plus the second at ratings above it; that of the slopes is
    minus their sum times the item's regressors. Weighted; 0 where there is no rating.
    """
    _, above, below = _log_share(*_ends(data, fit.cuts, fit.slopes))
    kept = np.where(data.codes >= 0, data.weights, 0.0)
    return kept * above, -kept * below


def _ends(data: Data, cuts: Array, slopes: Array) -> tuple[Array, Array]:
    """Lower and upper end of every rating's interval on the latent scale, less the item's latent value."""
    edge = np.full((len(cuts), 1), np.inf)
    padded = np.concatenate([-edge, cuts, edge], axis=1)
    level = np.maximum(data.codes, 0).astype(np.intp) + (np.arange(len(cuts)) * padded.shape[1])[:, None]
    latent, flat = slopes @ data.x.T, padded.ravel()
    return flat[level] - latent, flat[level + 1] - latent


def _log_share(lower: Array, upper: Array) -> tuple[Array, Array, Array]:
    """log P(lower < Z < upper), and the densities at the upper and at the lower end over that P; exact in all tails."""
    from scipy.special import ndtr

    found = ndtr(upper) - ndtr(lower)
    tail = lower > _FLIP_FROM
    if tail.any():
        found[tail] = ndtr(-lower[tail]) - ndtr(-upper[tail])
    deep = found < _DEEP
    if not deep.any():
        return np.log(found), _density(upper) / found, _density(lower) / found
    found[deep] = 1.0
    log, above, below = np.log(found), _density(upper) / found, _density(lower) / found
    log[deep], above[deep], below[deep] = _deep_share(lower[deep], upper[deep])
    return log, above, below


def _deep_share(lower: Array, upper: Array) -> tuple[Array, Array, Array]:
    """As _log_share where P is next to nothing: from logarithms, so that a fit finds its way back from there."""
    from scipy.special import log_ndtr

    left = lower + upper < 0
    near, far = np.where(left, -upper, lower), np.where(left, -lower, upper)
    base = log_ndtr(-near)
    log = base + np.log(np.maximum(-np.expm1(log_ndtr(-far) - base), _NARROW))
    at_near, at_far = (np.exp(np.log(_ROOT) - 0.5 * end * end - log) for end in (near, far))
    return log, np.where(left, at_near, at_far), np.where(left, at_far, at_near)


def _density(z: Array) -> Array:
    return np.asarray(np.exp(-0.5 * z * z) * _ROOT)


def _derivatives(data: Data, cuts: Array, slopes: Array) -> tuple[Array, Array, Array]:
    """Value, gradient and information of every cell, a few cells at a time: what fits a cache is twice as fast."""
    step = max(1, _BLOCK // max(data.codes.shape[1], 1))
    if len(cuts) <= step:
        return _derivatives_of(data, cuts, slopes)
    runs = [slice(first, first + step) for first in range(0, len(cuts), step)]
    parts = [_derivatives_of(data.rows(run), cuts[run], slopes[run]) for run in runs]
    value, gradient, information = (np.concatenate(part) for part in zip(*parts, strict=True))
    return value, gradient, information


def _derivatives_of(data: Data, cuts: Array, slopes: Array) -> tuple[Array, Array, Array]:
    lower, upper = _ends(data, cuts, slopes)
    log, du, dl = _log_share(lower, upper)
    kept = np.where(data.codes >= 0, data.weights, 0.0)
    value = (kept * log).sum(1) - 0.5 * data.ridge * (slopes**2).sum(1)
    # The second derivatives of -log P by the upper end, the lower end and both.
    uu = kept * (np.where(np.isfinite(upper), upper, 0.0) * du + du * du)
    ll = kept * (dl * dl - np.where(np.isfinite(lower), lower, 0.0) * dl)
    ul = -kept * du * dl
    return value, *_assembled(data, kept * du, kept * dl, uu, ll, ul, slopes)


def _assembled(data: Data, du: Array, dl: Array, uu: Array, ll: Array, ul: Array, slopes: Array) -> tuple[Array, Array]:
    cells, p, cuts = len(data.codes), data.x.shape[1], data.n_cuts
    gradient, information = np.empty((cells, cuts + p)), np.zeros((cells, cuts + p, cuts + p))
    gradient[:, cuts:] = (dl - du) @ data.x - data.ridge * slopes
    outer = (data.x[:, :, None] * data.x[:, None, :]).reshape(len(data.x), p * p)
    information[:, cuts:, cuts:] = ((uu + ll + 2 * ul) @ outer).reshape(cells, p, p) + data.ridge * np.eye(p)
    by_level = _sums_by_level(data, (du, dl, uu, ll, ul))
    gradient[:, :cuts] = by_level[0, :, :-1] - by_level[1, :, 1:]
    own = np.arange(cuts)
    information[:, own, own] = by_level[2, :, :-1] + by_level[3, :, 1:]
    information[:, own[1:], own[:-1]] = information[:, own[:-1], own[1:]] = by_level[4, :, 1:-1]
    from_above, from_below = uu + ul, ll + ul
    for cut in range(cuts):
        near = np.where(data.codes == cut, from_above, np.where(data.codes == cut + 1, from_below, 0.0))
        information[:, cut, cuts:] = information[:, cuts:, cut] = -near @ data.x
    return gradient, information


def _sums_by_level(data: Data, parts: tuple[Array, ...]) -> Array:
    """(parts, C, L) sums over the items of each level."""
    cells = len(data.codes)
    place = (np.maximum(data.codes, 0).astype(np.intp) + (np.arange(cells) * data.levels)[:, None]).ravel()
    sums = [np.bincount(place, part.ravel(), cells * data.levels).astype(float) for part in parts]
    return np.stack(sums).reshape(len(parts), cells, data.levels)


def _inside(gradient: Array, information: Array, within: Subspace | None, cuts: int) -> tuple[Array, Array]:
    """Gradient and information in the coordinates of a subspace."""
    if within is None:
        return gradient, information
    turn = within.basis
    down = np.concatenate([gradient[:, :cuts], np.einsum("cpq,cp->cq", turn, gradient[:, cuts:])], axis=1)
    size = cuts + turn.shape[2]
    inside = np.empty((len(gradient), size, size))
    inside[:, :cuts, :cuts] = information[:, :cuts, :cuts]
    inside[:, :cuts, cuts:] = information[:, :cuts, cuts:] @ turn
    inside[:, cuts:, :cuts] = inside[:, :cuts, cuts:].transpose(0, 2, 1)
    inside[:, cuts:, cuts:] = turn.transpose(0, 2, 1) @ information[:, cuts:, cuts:] @ turn
    return down, inside


def _outside(step: Array, within: Subspace | None, cuts: int) -> Array:
    """A step in the coordinates of a subspace as a step of cuts and slopes."""
    if within is None:
        return step
    return np.concatenate([step[:, :cuts], np.einsum("cpq,cq->cp", within.basis, step[:, cuts:])], axis=1)


def _line_search(
    data: Data, cuts: Array, slopes: Array, step: Array, value: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """Halve a cell's Newton step until its value does not fall and its cuts rise."""
    n_cuts = data.n_cuts
    scale = np.ones(len(cuts))
    for _ in range(_HALVINGS):
        new_cuts = cuts + scale[:, None] * step[:, :n_cuts]
        new_slopes = slopes + scale[:, None] * step[:, n_cuts:]
        rising = np.asarray((np.diff(new_cuts, axis=1) > 0).all(axis=1))
        if rising.all():
            found = _derivatives(data, new_cuts, new_slopes)
            bad = np.asarray(~(found[0] >= value - 1e-10 * np.abs(value)))
            if not bad.any():
                return new_cuts, new_slopes, *found
        else:
            bad = np.asarray(~rising)
        scale[bad] /= 2
    bad_cells = np.flatnonzero(scale < 2.0 ** (1 - _HALVINGS))
    new_cuts[bad_cells], new_slopes[bad_cells] = cuts[bad_cells], slopes[bad_cells]
    return new_cuts, new_slopes, *_derivatives(data, new_cuts, new_slopes)
