"""Two-way fixed-effects regression on sufficient statistics: items absorbed, errors clustered on items.

The regressors belong to cells (a judge under a condition), so that all the fit needs are sums of the outcome and of
the weights over items and over cells. Items are absorbed exactly; what is left are the normal equations of the small
side (conditions, judges, a covariate), which are solved directly: no dummies of items, no iteration, the same
formulas with and without missing cells. Shapes: C cells, I items, P columns.

Sources: Frisch and Waugh 1933, Lovell 1963 (partialling out); Liang and Zeger 1986 (clustered errors); Cameron and
Miller, A Practitioner's Guide to Cluster-Robust Inference (2015), section VI (small-sample factors).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from voirdire.stats.per_item import over

Array = npt.NDArray[np.float64]
SMALL = 1e-10


@dataclass(frozen=True)
class ItemCube:
    """An outcome of C cells on I items as the sums that a fit with item effects needs.

    weighted : (C, I) weight * outcome; 0 where there is none
    weights : (C, I), 0 where there is no outcome; None when every cell has every item with weight 1
    squares : sum of weight * outcome^2; n : outcomes
    """

    weighted: Array
    weights: Array | None
    squares: float
    n: int

    @classmethod
    def of(cls, values: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> ItemCube:
        """From outcomes (C, I), NaN where missing, and weights (C, I) of at least 0.

        ValueError: a negative weight.
        """
        y = np.asarray(values, dtype=float)
        w = np.ones(1) if weights is None else np.asarray(weights, dtype=float)
        if (w < 0).any():
            raise ValueError("weights must be at least 0")  # noqa: TRY003
        squares = float(np.vdot(y, y))
        if not np.isnan(squares) and (w == 1).all():
            return cls(y, None, squares, y.size)
        w = np.where(np.isnan(y), 0.0, w)
        known = np.where(w > 0, y, 0.0)
        product = w * known
        return cls(product, w, float(np.vdot(product, known)), int((w > 0).sum()))

    @cached_property
    def cell_weights(self) -> Array:
        """(C,) weight of each cell."""
        n_cells, n_items = self.weighted.shape
        return np.full(n_cells, float(n_items)) if self.weights is None else self.weights.sum(1)

    @cached_property
    def item_weights(self) -> Array:
        """(I,) weight of each item."""
        n_cells, n_items = self.weighted.shape
        return np.full(n_items, float(n_cells)) if self.weights is None else self.weights.sum(0)

    @cached_property
    def cell_sums(self) -> Array:
        """(C,) weighted sum of each cell's outcomes."""
        return np.asarray(self.weighted.sum(1))

    @cached_property
    def item_means(self) -> Array:
        """(I,) mean outcome of each item; 0 for items without any."""
        if self.weights is None and len(self.weighted):
            return np.asarray(self.weighted.sum(0) / len(self.weighted))
        return np.nan_to_num(over(self.weighted.sum(0), self.item_weights))

    @cached_property
    def n_items(self) -> int:
        """Items with an outcome: the clusters."""
        return int((self.item_weights > 0).sum())

    @cached_property
    def total(self) -> float:
        """Sum of squares about the overall mean."""
        weight = float(self.item_weights.sum())
        return self.squares - float(self.cell_sums.sum()) ** 2 / weight if weight > 0 else 0.0

    @cached_property
    def within(self) -> float:
        """Sum of squares about the item means."""
        return self.squares - float(self.item_weights @ self.item_means**2)

    def over_cells(self, columns: Array) -> Array:
        """(P, I) weighted sums over each item's cells of columns (C, P); (P, 1) where all items have the same."""
        if self.weights is None:
            return np.asarray(columns.sum(0)[:, None])
        return np.asarray(columns.T @ self.weights)

    def products(self, columns: Array) -> tuple[Array, Array]:
        """Cross products (P, P) of columns (C, P) and their products (P,) with the outcome, items absorbed."""
        sums = self.over_cells(columns)
        own = columns.T @ (self.cell_weights[:, None] * columns)
        right = columns.T @ self.cell_sums
        if self.weights is None:
            n_cells, n_items = self.weighted.shape
            return own - n_items / n_cells * (sums @ sums.T), right - sums[:, 0] * self.item_means.sum()
        means = np.nan_to_num(over(sums, self.item_weights))
        return own - means @ sums.T, right - sums @ self.item_means


@dataclass(frozen=True)
class Effect:
    """A coefficient with item (and other) effects.

    coef : change of the outcome per unit of the regressor
    influence : (I,) each item's share in coef - truth: the clustered score over the regressor's own sum of squares
    n : outcomes; n_items : clusters; n_other : rank of the other effects beside items
    """

    coef: float
    influence: Array
    n: int
    n_items: int
    n_other: int

    def se(self, kind: str) -> float:
        """Item-clustered standard error by the convention ``kind``; NaN where its factor is not defined.

        cr0 : no factor; g1 : G / (G - 1), for G items
        cr1_nested : G / (G - 1) * (N - 1) / (N - k), where k leaves out the item effects (nested in the clusters)
        cr1_full : the same with k counting the item effects too
        """
        factor = FACTORS[kind](self)
        return float(np.sqrt(factor * (self.influence @ self.influence))) if factor > 0 else float("nan")

    @property
    def df(self) -> int:
        """Degrees of freedom of its t: G - 1."""
        return self.n_items - 1


def _clusters(effect: Effect) -> float:
    return effect.n_items / (effect.n_items - 1) if effect.n_items > 1 else float("nan")


def _parameters(effect: Effect, k: int) -> float:
    return (effect.n - 1) / (effect.n - k) if effect.n > k else float("nan")


FACTORS: Mapping[str, Callable[[Effect], float]] = {
    "cr0": lambda effect: 1.0,  # noqa: ARG005
    "g1": _clusters,
    "cr1_nested": lambda effect: _clusters(effect) * _parameters(effect, effect.n_other + 2),
    "cr1_full": lambda effect: _clusters(effect) * _parameters(effect, effect.n_other + 1 + effect.n_items),
}


def item_effect(cube: ItemCube, regressor: npt.ArrayLike, others: npt.ArrayLike | None = None) -> Effect | None:
    """The coefficient of a regressor (C,) with item effects and the columns ``others`` (C, K); None if inseparable.

    others : dummies of conditions, all levels (their rank is found); None for item effects alone

    The coefficient, the four errors and the ranks equal those of the regression with all dummies.

    >>> cube = ItemCube.of([[1.0, 2.0, 4.0], [0.0, 1.5, 2.5]])
    >>> effect = item_effect(cube, [1, 0])
    >>> effect.coef, round(effect.se("g1"), 4)
    (1.0, 0.2887)
    """
    x = np.asarray(regressor, dtype=float)
    x = _centred(cube, x)
    other = np.zeros((len(x), 0)) if others is None else np.asarray(others, dtype=float)
    cross, right = cube.products(np.column_stack([other, x]))
    inverse, rank = pseudo_inverse(cross[:-1, :-1])
    along = inverse @ cross[:-1, -1]
    own = float(cross[-1, -1] - cross[-1, :-1] @ along)
    if not own > SMALL * float(cube.cell_weights @ x**2):
        return None
    coef = float(right[-1] - along @ right[:-1]) / own
    gamma = inverse @ (right[:-1] - cross[:-1, -1] * coef)
    influence = _influence(cube, (x - other @ along) / own, other @ gamma + x * coef)
    return Effect(coef, influence, cube.n, cube.n_items, rank)


def _influence(cube: ItemCube, direction: Array, fit: Array) -> Array:
    """(I,) sum over an item's cells of weight * direction * residual, for the fitted cell effects (C,)."""
    z, f, zf = cube.over_cells(np.column_stack([direction, fit, direction * fit]))
    mean_fit = np.nan_to_num(over(f, cube.item_weights))
    return np.asarray(direction @ cube.weighted - cube.item_means * z - zf + mean_fit * z)


@dataclass(frozen=True)
class Explained:
    """What columns explain beside item effects: sum of squares and rank (columns that items do not hold already)."""

    squares: float
    rank: int


def explained(cube: ItemCube, columns: npt.ArrayLike) -> Explained:
    """The sum of squares that columns (C, P) add to item effects, whatever their rank."""
    cross, right = cube.products(_centred(cube, np.asarray(columns, dtype=float)))
    inverse, rank = pseudo_inverse(cross)
    return Explained(float(right @ inverse @ right), rank)


def _centred(cube: ItemCube, columns: Array) -> Array:
    return np.asarray(columns - np.nan_to_num(over(cube.cell_weights @ columns, cube.cell_weights.sum())))


@dataclass(frozen=True)
class Share:
    """R2 and adjusted R2 of a fit, NaN where undefined; n_effects : parameters, the constant among them."""

    r2: float
    adjusted: float
    n_effects: int


def r_squared(cube: ItemCube, more: Explained | None = None) -> Share:
    """R2 of item effects, and of what is added to them.

    adjusted = 1 - (RSS / (N - k)) / (TSS / (N - 1)), for N outcomes and k effects; undefined when N <= k. Both are
    undefined when all outcomes are equal.

    >>> share = r_squared(ItemCube.of([[1.0, 2.0], [1.0, 4.0]]))
    >>> round(share.r2, 4), round(share.adjusted, 4)
    (0.6667, 0.5)
    """
    extra = Explained(0.0, 0) if more is None else more
    k = cube.n_items + extra.rank
    if not cube.total > SMALL * max(cube.squares, SMALL):
        return Share(float("nan"), float("nan"), k)
    rest = max(cube.within - extra.squares, 0.0) / cube.total
    adjusted = 1 - rest * (cube.n - 1) / (cube.n - k) if cube.n > k else float("nan")
    return Share(1 - rest, adjusted, k)


def partial(cube: ItemCube, columns: npt.ArrayLike, others: npt.ArrayLike) -> tuple[Array, Array]:
    """Cross products (P, P) of columns (C, P) and products (P,) with the outcome, items and ``others`` partialled out.

    From these every regression of the outcome on combinations of the columns (a covariate of judges, permuted) follows
    without the data.
    """
    kept, other = np.asarray(columns, dtype=float), np.asarray(others, dtype=float)
    cross, right = cube.products(np.column_stack([other, kept]))
    width = other.shape[1]
    inverse, _ = pseudo_inverse(cross[:width, :width])
    along = inverse @ cross[:width, width:]
    return cross[width:, width:] - cross[width:, :width] @ along, right[width:] - along.T @ right[:width]


def pseudo_inverse(cross: Array) -> tuple[Array, int]:
    """The Moore-Penrose inverse of a symmetric matrix of cross products, and its rank.

    >>> pseudo_inverse(np.array([[2.0, 0.0], [0.0, 0.0]]))
    (array([[0.5, 0. ],
           [0. , 0. ]]), 1)
    """
    if not cross.size:
        return cross.copy(), 0
    values, vectors = np.linalg.eigh((cross + cross.T) / 2)
    kept = values > SMALL * max(float(values[-1]), SMALL)
    basis = vectors[:, kept]
    return np.asarray((basis / values[kept]) @ basis.T), int(kept.sum())


def dummies(levels: npt.ArrayLike) -> tuple[Array, list[str]]:
    """(C, K) dummies of all levels of texts (C,), and the levels in order.

    >>> dummies(["b", "a", "b"])
    (array([[0., 1.],
           [1., 0.],
           [0., 1.]]), ['a', 'b'])
    """
    names, place = np.unique(np.asarray(levels, dtype=str), return_inverse=True)
    return np.eye(len(names))[place.ravel()], names.tolist()
