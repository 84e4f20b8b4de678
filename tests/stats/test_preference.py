"""Pairwise votes by loops over single raters, against scikit-learn and krippendorff, and on worlds without any vote."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score

from voirdire.analysis.engine import load_plugins  # noqa: F401  (declares every statistic)
from voirdire.statistic import REGISTRY
from voirdire.stats import position, preference
from voirdire.stats.alpha import alpha
from voirdire.stats.features import Features, PoolArrays, ScaleCuts
from voirdire.stats.votes import reliability_of_votes, reliability_votes

Votes = list[list[int]]
"""The votes of a pool: for each item 0 (the first thing), 1 (the second) or 2 (a tie)."""


def counts_of(votes: Votes, labels: int = 3) -> np.ndarray:
    return np.array([np.bincount(np.array(item, dtype=int), minlength=labels) for item in votes], dtype=float)


def pools_of(*pools: Votes, labels: int = 3) -> PoolArrays:
    counts = np.stack([counts_of(votes, labels) for votes in pools])
    n = counts.sum(-1)
    with np.errstate(invalid="ignore"):
        shares = counts / n[..., None]
    mean = np.where(n > 0, 0.0, np.nan)
    return PoolArrays(mean, n, np.full_like(mean, np.nan), ScaleCuts(nominal=True), shares)


def value(name: str, features: Features, target: tuple[int, ...] = (), params: str = "") -> tuple[float | None, str]:
    """A statistic of the first cell, and why it is undefined."""
    statistic = REGISTRY[name, params]
    values, reasons = statistic.values(tuple(features.get(part, target).sum(-1) for part in statistic.features))
    return (None, reasons[0]) if reasons[0] else (float(values[0]), "")


def draw(seed: int, items: int, raters: int, labels: int = 3) -> tuple[Votes, Votes, np.ndarray]:
    """Two pools, some items without votes, and a judge's answers in two repeats, some of them missing."""
    rng = np.random.default_rng(seed)
    pools = [[rng.integers(0, labels, rng.integers(0, raters + 1)).tolist() for _ in range(items)] for _ in range(2)]
    cube = rng.integers(0, labels, (1, items, 2)).astype(float)
    cube[rng.random(cube.shape) < 0.2] = np.nan
    return pools[0], pools[1], cube


SIGN = {0: 1.0, 1: -1.0, 2: 0.0}
worlds = given(
    seed=st.integers(0, 10**6), items=st.integers(1, 8), raters=st.integers(1, 6), labels=st.sampled_from([2, 3])
)


def mean(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None


def near(found: float | None, wanted: float | None) -> bool:
    return found == wanted or found == pytest.approx(wanted, abs=1e-12)


@worlds
def test_of_a_pool(seed: int, items: int, raters: int, labels: int) -> None:
    pool, _, _ = draw(seed, items, raters, labels)
    features = Features(pools_of(pool, labels=labels))
    rated = [item for item in pool if item]
    margins = [abs(sum(SIGN[vote] for vote in item)) / len(item) for item in rated]
    assert near(value("preference.strength", features, (0,))[0], mean(margins))
    best = [max(item.count(label) for label in range(labels)) / len(item) for item in rated]
    assert near(value("agreement.best", features, (0,))[0], mean(best))
    pairs = [[one == other for one, other in permutations(item, 2)] for item in rated if len(item) > 1]
    assert near(value("agreement.human", features, (0,))[0], mean([float(np.mean(part)) for part in pairs]))
    if labels == 3:
        assert near(value("preference.ties", features, (0,))[0], mean([item.count(2) / len(item) for item in rated]))
    else:
        assert value("preference.ties", features, (0,))[1] == ("no_tie_label" if rated else "no_items")
    decided = [[vote for vote in item if vote < 2] for item in rated]
    best = [max(item.count(0), item.count(1)) / len(item) for item in decided if item]
    assert near(value("agreement.best", features, (0,), "ties=out")[0], mean(best))
    pairs = [[one == other for one, other in permutations(item, 2)] for item in decided if len(item) > 1]
    human = mean([float(np.mean(part)) for part in pairs])
    assert near(value("agreement.human", features, (0,), "ties=out")[0], human)


@worlds
def test_of_two_pools(seed: int, items: int, raters: int, labels: int) -> None:
    one, two, _ = draw(seed, items, raters, labels)
    features = Features(pools_of(one, two, labels=labels))
    x, y = (np.array([np.mean([SIGN[v] for v in item]) if item else np.nan for item in pool]) for pool in (one, two))
    both = ~np.isnan(x) & ~np.isnan(y)
    lead = both & (np.abs(x) > 1e-9) & (np.abs(y) > 1e-9)
    wanted = float((x[lead] * y[lead] < 0).mean()) if lead.any() else None
    assert near(value("preference.reversed", features, (0, 1))[0], wanted)
    square = float((x[both] ** 2).sum() * (y[both] ** 2).sum())
    wanted = float((x[both] * y[both]).sum()) / square**0.5 if square > 1e-12 else None
    assert near(value("cross_pool_preference_r", features, (0, 1))[0], wanted)


@worlds
def test_of_a_judge(seed: int, items: int, raters: int, labels: int) -> None:
    pool, _, cube = draw(seed, items, raters, labels)
    features = Features(pools_of(pool, labels=labels), cube)
    whole, decided, products, squares, strength = [], [], [], [], []
    for item, repeats in zip(pool, cube[0], strict=True):
        given_ = [int(answer) for answer in repeats if not np.isnan(answer)]
        if not item or not given_:
            continue
        whole.append(np.mean([accuracy_score(item, [answer] * len(item)) for answer in given_]))
        votes, chosen = [v for v in item if v < 2], [answer for answer in given_ if answer < 2]
        if votes and chosen:
            decided.append(np.mean([accuracy_score(votes, [answer] * len(votes)) for answer in chosen]))
        signed, margin = np.mean([SIGN[answer] for answer in given_]), np.mean([SIGN[v] for v in item])
        products.append(signed * margin)
        squares.append(signed**2)
        strength.append(margin**2)
    assert near(value("agreement", features, (0,))[0], mean(whole))
    assert near(value("mae", features, (0,))[0], None if not whole else 1 - float(np.mean(whole)))
    assert near(value("agreement", features, (0,), "ties=out")[0], mean(decided))
    possible = sum(squares) > 1e-12 and sum(strength) > 1e-12
    wanted = sum(products) / (sum(squares) * sum(strength)) ** 0.5 if possible else None
    assert near(value("preference_r", features, (0,))[0], wanted)


@given(seed=st.integers(0, 10**6), items=st.integers(1, 8), raters=st.integers(1, 6), labels=st.sampled_from([2, 3]))
def test_alpha_is_that_of_both_orders(seed: int, items: int, raters: int, labels: int) -> None:
    pool, _, _ = draw(seed, items, raters, labels)
    found = alpha(counts_of(pool, labels), np.arange(labels, dtype=float), "pairwise")
    twice = [item for item in pool if len(item) > 1]
    twice += [[1 - vote if vote < 2 else vote for vote in item] for item in twice]
    if not twice or len({vote for item in twice for vote in item}) < 2:
        assert found.value is None
        return
    table = np.array([[item[k] if k < len(item) else np.nan for item in twice] for k in range(raters)], dtype=float)
    wanted = krippendorff.alpha(table, level_of_measurement="nominal")
    assert found.value == pytest.approx(wanted, abs=1e-12)


def test_alpha_of_raters_who_always_agree() -> None:
    """Nominal alpha is undefined where all say the same label; which thing has that label is arbitrary."""
    votes: Votes = [[0, 0], [0, 0]]
    assert alpha(counts_of(votes), np.arange(3.0), "nominal").undefined == "all_equal"
    assert alpha(counts_of(votes), np.arange(3.0), "pairwise").value == 1.0
    assert alpha(counts_of([[2, 2], [2, 2]]), np.arange(3.0), "pairwise").undefined == "all_equal"


def test_reliability_by_simulation() -> None:
    """The share of the variance of the preferences around 0 and of the ties that is not rater noise."""
    rng = np.random.default_rng(5)
    truth = rng.dirichlet([2.0, 2.0, 1.0], 4000)
    for n in (2, 5, 20):
        counts = np.array([rng.multinomial(n, share) for share in truth]).astype(float)
        found = float(reliability_of_votes(reliability_votes(counts).sum(1)))
        again = np.array([rng.multinomial(n, share) for share in truth]) / n
        shares = counts / n
        centre = np.array([(1 - shares[:, 2].mean()) / 2] * 2 + [shares[:, 2].mean()])
        wanted = ((shares - centre) * (again - centre)).sum() / ((shares - centre) ** 2).sum()
        assert found == pytest.approx(wanted, abs=0.02)


def test_strength_without_noise_by_simulation() -> None:
    rng = np.random.default_rng(6)
    truth = rng.dirichlet([2.0, 2.0, 1.0], 6000)
    wanted = float(np.sqrt(((truth[:, 0] - truth[:, 1]) ** 2).mean()))
    for n in (2, 4):
        votes = [rng.choice(3, n, p=share).tolist() for share in truth]
        found, _ = value("preference.rms", Features(pools_of(votes)), (0,))
        assert found == pytest.approx(wanted, abs=0.015)
        assert value("preference.strength", Features(pools_of(votes)), (0,))[0] > wanted  # type: ignore[operator]


@pytest.mark.parametrize(
    ("votes", "reasons"),
    [
        ([[]], {"agreement.best": "no_items", "preference.strength": "no_items"}),
        ([[0]], {"agreement.human": "one_rater", "preference.rms": "noise_unknown"}),
        ([[2, 2]], {"agreement.best,ties=out": "no_items", "agreement.human,ties=out": "one_rater"}),
    ],
)
def test_undefined_of_a_pool(votes: Votes, reasons: dict[str, str]) -> None:
    features = Features(pools_of(votes))
    for key, reason in reasons.items():
        name, _, params = key.partition(",")
        assert value(name, features, (0,), params) == (None, reason)


def test_undefined_between_pools_and_of_a_judge() -> None:
    split, ties, empty = [[0, 1]], [[2, 2]], [[]]
    assert value("preference.reversed", Features(pools_of(split, ties)), (0, 1)) == (None, "no_majorities")
    assert value("cross_pool_preference_r", Features(pools_of(split, ties)), (0, 1)) == (None, "no_preference")
    assert value("cross_pool_preference_r", Features(pools_of(split, empty)), (0, 1)) == (None, "no_common_items")
    judge = np.array([[2.0]])
    assert value("preference_r", Features(pools_of([[0, 0]]), judge), (0,)) == (None, "judge_ties")
    assert value("preference_r", Features(pools_of(split), np.array([[0.0]])), (0,)) == (None, "no_preference")
    assert value("agreement", Features(pools_of([[0]]), judge), (0,), "ties=out") == (None, "no_items")
    assert value("ties_given", Features(pools_of([[0]]), judge)) == (1.0, "")


def test_the_side_shown_first_by_hand() -> None:
    """Three items in both orders: the same thing twice, the first side twice, a tie and then the second thing."""
    first = [0, 0, 0, 1, 2, 1]
    shown = [1, -1, 1, -1, 1, -1]
    pool: Votes = [[0, 0, 1], [0, 1, 1], [0, 0]]
    cube, sides = (np.array(part, dtype=float).reshape(1, 3, 2) for part in (first, shown))
    features = Features(pools_of(pool), cube, votes=preference.Votes(shown=sides))
    assert value("position.bias", features)[0] == pytest.approx(((1 - 1) / 2 + (1 + 1) / 2 + (0 + 1) / 2) / 3)
    assert value("position.consistency", features)[0] == pytest.approx(1 / 3)
    seen_first = [2 / 3, 2 / 3, 0.0]
    seen_second = [2 / 3, 1 / 3, 0.0]
    wanted = np.mean(seen_first) - np.mean(seen_second)
    assert value("position.effect", features, (0,))[0] == pytest.approx(wanted)


def test_the_side_shown_first_unknown() -> None:
    cube = np.zeros((1, 2, 1))
    unknown, one = (preference.Votes(shown=np.full((1, 2, 1), side)) for side in (np.nan, 1.0))
    pools = pools_of([[0, 0], [0, 0]])
    for name in ("position.bias", "position.effect"):
        target = (0,) if name == "position.effect" else ()
        assert value(name, Features(pools, cube, votes=unknown), target)[1] == "no_order"
    assert value("position.bias", Features(pools, cube, votes=one)) == (1.0, "")
    for name, target in (("position.consistency", ()), ("position.effect", (0,))):
        assert value(name, Features(pools, cube, votes=one), target)[1] == "one_order"


def test_the_preferred_share_by_hand() -> None:
    """A thing that is the first, the second, and absent: a tie counts half."""
    pool: Votes = [[0, 0, 1, 2], [1, 1, 2, 2], [0]]
    thing = preference.Votes(thing=np.array([1.0, -1.0, 0.0]))
    cube = np.array([[1.0, 2.0, 0.0]])
    features = Features(pools_of(pool, [[1], [], [1]]), cube, votes=thing)
    assert value("preferred_share", features, (0,))[0] == pytest.approx((2.5 / 4 + 3 / 4) / 2)
    assert value("preferred_share.gap", features, (0, 1))[0] == pytest.approx(2.5 / 4)
    assert value("preferred_share.judge", features)[0] == pytest.approx((0 + 0.5) / 2)
    assert value("preferred_share.difference", features, (0,))[0] == pytest.approx(0.25 - (2.5 / 4 + 3 / 4) / 2)


def test_raters_who_take_what_they_see_first_by_hand() -> None:
    """Two raters of three took the thing shown first on one item; nobody says it on the other."""
    sides = preference.Votes(raters=np.array([[1.0, 0.0]]), n_raters=np.array([[3.0, 0.0]]))
    pools = pools_of([[0, 0, 1], [1]])
    assert value("position.raters", Features(pools, votes=sides), (0,)) == (pytest.approx(1 / 3), "")
    nobody = preference.Votes(raters=np.zeros((1, 2)), n_raters=np.zeros((1, 2)))
    assert value("position.raters", Features(pools, votes=nobody), (0,)) == (None, "no_order")


def test_what_is_not_given_is_an_error() -> None:
    features = Features(pools_of([[0]]), np.zeros((1, 1)))
    for name in ("for_thing", "shows_thing"):
        with pytest.raises(ValueError, match="given"):
            features.get(name, (0,))
    assert position.BY_SIDE != position.BY_THING


def published(judge: list[int], people: Votes, *, ties: bool) -> float:
    """MT-Bench's agreement: pairs of a judge's and a person's vote that are equal, over all such pairs."""
    pairs = [(mine, theirs) for mine, votes in zip(judge, people, strict=True) for theirs in votes]
    kept = [(mine, theirs) for mine, theirs in pairs if ties or 2 not in (mine, theirs)]
    return sum(mine == theirs for mine, theirs in kept) / len(kept)


def test_agreement_is_that_of_mt_bench_where_items_have_as_many_votes() -> None:
    rng = np.random.default_rng(3)
    people: Votes = [rng.choice(3, 4, p=[0.5, 0.3, 0.2]).tolist() for _ in range(30)]
    judge = rng.choice(3, 30, p=[0.6, 0.3, 0.1]).tolist()
    features = Features(pools_of(people), np.array([judge], dtype=float))
    assert value("agreement", features, (0,))[0] == pytest.approx(published(judge, people, ties=True))
    even: Votes = [rng.choice(2, 4).tolist() for _ in range(30)]
    found, _ = value("agreement", Features(pools_of(even), np.array([judge], dtype=float)), (0,), "ties=out")
    assert found == pytest.approx(published(judge, even, ties=False))


def test_every_statistic_of_votes_is_here() -> None:
    """Each is asked for by name in this file."""
    text = Path(__file__).read_text(encoding="utf-8")
    own = {key for key, one in REGISTRY.items() if one.finish.__module__ in (preference.__name__, position.__name__)}
    assert {name for name, _ in own if f'"{name}"' not in text} == set()
    assert {params for _, params in own} == {"", "ties=out"}
