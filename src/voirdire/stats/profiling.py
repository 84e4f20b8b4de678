"""Profile likelihood of linear functions and of ratios of the slopes of a cumulative probit.

A value is in the interval when the penalised likelihood, maximised under it, is within half a chi-squared quantile of
the maximum. The signed root of that difference is almost linear in the value, so a secant finds the ends in few fits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from voirdire.stats.cumulative import Array, Data, Fit, Subspace, fit_cells

_ROUNDS = 24
_CLOSE = 1e-6
Constraint = Callable[[Array, npt.NDArray[np.int64]], Subspace]


def fixed(direction: Array, value: Array) -> Subspace:
    """Slopes with ``direction @ slopes == value`` (C,) in every cell.

    direction : (P,) or (C, P)

    >>> space = fixed(np.array([1.0, 1.0]), np.array([2.0]))
    >>> space.origin, space.basis.shape
    (array([[1., 1.]]), (1, 2, 1))
    """
    along = np.broadcast_to(direction, (len(value), direction.shape[-1])).astype(float)
    squared = (along**2).sum(1, keepdims=True)
    origin = along * (value[:, None] / squared)
    unit = along / np.sqrt(squared)
    reflection = unit.copy()
    reflection[:, 0] += np.where(unit[:, 0] >= 0, 1.0, -1.0)
    reflection /= np.linalg.norm(reflection, axis=1, keepdims=True)
    basis = np.eye(along.shape[1])[None] - 2 * reflection[:, :, None] * reflection[:, None, :]
    return Subspace(origin, basis[:, :, 1:])


def deviance(data: Data, fit: Fit, within: Subspace) -> tuple[Array, Fit]:
    """Twice the fall of the likelihood within a subspace (C,), never negative, and the fit there."""
    inside = fit_cells(data, start=(fit.cuts, fit.slopes), within=within)
    return np.maximum(2 * (fit.loglik - inside.loglik), 0.0), inside


def linear_interval(data: Data, fit: Fit, direction: Array, level: float) -> tuple[Array, Array]:
    """Profile interval (C,), (C,) of ``direction @ slopes``."""
    center = fit.slopes @ direction
    error = np.sqrt(np.maximum(_variance(fit, direction, data.n_cuts), 1e-12))

    def at(value: Array, cells: npt.NDArray[np.int64]) -> Subspace:
        return fixed(direction, value)

    low = _end(data, fit, at, center, -error, np.full(len(center), -np.inf), level)
    high = _end(data, fit, at, center, error, np.full(len(center), np.inf), level)
    return low, high


def ratio_interval(data: Data, fit: Fit, over: Array, under: Array, level: float) -> tuple[Array, Array]:
    """Profile interval of ``(over @ slopes) / (under @ slopes)``; ends are infinite where the set has none.

    The ratio is the tangent of an angle, in which the likelihood is profiled: where the denominator may be 0 the
    interval reaches the end of the angles. Only cells whose denominator is above 0 have an interval that means much.
    """
    top, bottom = fit.slopes @ over, fit.slopes @ under
    center = np.arctan2(top, bottom)
    center = np.where(center > np.pi / 2, center - np.pi, np.where(center < -np.pi / 2, center + np.pi, center))
    turn = np.stack([over, under])
    error = np.sqrt(np.maximum(_angle_variance(fit, turn, top, bottom, data.n_cuts), 1e-12))

    def at(angle: Array, cells: npt.NDArray[np.int64]) -> Subspace:
        return fixed(np.cos(angle)[:, None] * over - np.sin(angle)[:, None] * under, np.zeros(len(angle)))

    edge = np.pi / 2 - 1e-9
    low = _end(data, fit, at, center, -error, np.full(len(center), -edge), level)
    high = _end(data, fit, at, center, error, np.full(len(center), edge), level)
    with np.errstate(over="ignore"):
        return (
            np.where(low <= -edge, -np.inf, np.tan(low)),
            np.where(high >= edge, np.inf, np.tan(high)),
        )


def _end(data: Data, fit: Fit, at: Constraint, center: Array, step: Array, edge: Array, level: float) -> Array:
    """Where the signed root of the deviance passes the normal quantile, between the center and an edge."""
    from scipy.special import ndtri

    wanted = float(ndtri((1 + level) / 2))
    near, near_root = center.copy(), np.zeros(len(center))
    far, far_root = np.full(len(center), np.nan), np.full(len(center), np.nan)
    guess = _inner(center + wanted * step, center, edge)
    result = np.full(len(center), np.nan)
    cuts, slopes = fit.cuts.copy(), fit.slopes.copy()
    for _ in range(_ROUNDS):
        live = np.flatnonzero(np.isnan(result))
        if not live.size:
            break
        part = data.rows(live)
        inside = fit_cells(part, start=(cuts[live], slopes[live]), within=at(guess[live], live))
        cuts[live], slopes[live] = inside.cuts, inside.slopes
        root = np.sqrt(np.maximum(2 * (fit.loglik[live] - inside.loglik), 0.0))
        here = guess[live]
        done = np.abs(root - wanted) < _CLOSE
        at_edge = (here == edge[live]) & (root < wanted)
        result[live[done]] = here[done]
        result[live[at_edge]] = edge[live[at_edge]]
        below = root < wanted
        near[live], near_root[live] = np.where(below, here, near[live]), np.where(below, root, near_root[live])
        far[live], far_root[live] = np.where(below, far[live], here), np.where(below, far_root[live], root)
        guess = _next(near, near_root, far, far_root, edge, center, step, wanted)
    return np.where(np.isnan(result), np.where(np.isnan(far), edge, far), result)


def _next(
    near: Array, near_root: Array, far: Array, far_root: Array, edge: Array, center: Array, step: Array, wanted: float
) -> Array:
    """A secant step where both sides are known, kept off the ends; else farther out."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.clip((wanted - near_root) / (far_root - near_root), 0.02, 0.98)
        inside = near + share * (far - near)
        grow = np.where(near_root > 0, np.minimum(wanted / np.maximum(near_root, 0.05) * 1.05, 4.0), 4.0)
        outward = center + np.where(near == center, step * wanted, (near - center) * grow)
    return np.where(np.isnan(far), _inner(outward, center, edge), inside)


def _inner(guess: Array, center: Array, edge: Array) -> Array:
    """A guess that does not pass the edge."""
    return np.where(edge > center, np.minimum(guess, edge), np.maximum(guess, edge))


def _covariance(fit: Fit, n_cuts: int) -> Array:
    """(C, P, P) inverse information of the slopes."""
    return np.linalg.inv(fit.information)[:, n_cuts:, n_cuts:].astype(float)


def _variance(fit: Fit, direction: Array, n_cuts: int) -> Array:
    return np.einsum("p,cpq,q->c", direction, _covariance(fit, n_cuts), direction)


def _angle_variance(fit: Fit, turn: Array, top: Array, bottom: Array, n_cuts: int) -> Array:
    both = np.einsum("ap,cpq,bq->cab", turn, _covariance(fit, n_cuts), turn)
    radius = np.maximum(top**2 + bottom**2, 1e-12)
    gradient = np.stack([bottom / radius, -top / radius], axis=1)
    return np.einsum("ca,cab,cb->c", gradient, both, gradient)
