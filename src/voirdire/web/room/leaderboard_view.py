"""A leaderboard as its page shows it: columns with their order, cells with intervals, and what is known of judges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from voirdire.analysis.profile import Profile
from voirdire.browsing.leaderboard import BETWEEN, Board, Effect, Entry, Order
from voirdire.reporting.access import NOMINAL, PAIRWISE, Row, View
from voirdire.reporting.words import Words
from voirdire.texts import has, text
from voirdire.web.room.comparison_view import Number, change, number_of, width_of

NOTHING = Number("", "", "", "")


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, its explanation, and for a pool the address that orders by it and how it is ordered now."""

    name: str
    help: str
    address: str = ""
    sorted: str = ""


@dataclass(frozen=True, slots=True)
class Judge:
    """A row. tied : that it is not told apart from the row above, in words; beside : its difference from that row."""

    name: str
    covariates: tuple[str, ...]
    cells: tuple[Number, ...]
    tied: str
    beside: str


@dataclass(frozen=True, slots=True)
class Floor:
    """A row that belongs to no judge: what a rater reaches, how far the pools are apart."""

    name: str
    cells: tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a covariate's effect, or of what explains delta: a name, a number in words."""

    name: str
    value: str
    reason: str


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of pools: the effects of covariates, and the shares of the variance of delta."""

    pair: str
    effects: tuple[tuple[str, tuple[Known, ...]], ...]
    shares: tuple[Known, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """The page. unordered : the address that shows the judges in the order of the audit."""

    statistic: str
    covariates: tuple[str, ...]
    columns: tuple[Column, ...]
    judges: tuple[Judge, ...]
    controls: tuple[Judge, ...]
    floors: tuple[Floor, ...]
    panels: tuple[Panel, ...]
    ordered_by: str
    unordered: str
    by_overlap: bool
    slices: tuple[tuple[str, str], ...]


def shown(found: Board, profile: Profile, lang: str, link: Callable[[Order], str]) -> Shown:
    """The board in words; link : the address of the page in another order."""
    words = Words(lang, found.pools)
    width = width_of(profile, found.question)
    levels = {entry["id"]: entry.get("level") for entry in profile.meta["questions"]}
    labels = levels.get(found.question) in (PAIRWISE, NOMINAL)
    return Shown(
        words.statistic(found.statistic),
        tuple(View.clean(name) for name in found.covariates),
        tuple(_columns(found, words, link)),
        tuple(_judge(entry, found, words, width, labels=labels) for entry in found.entries),
        tuple(_judge(entry, found, words, width, labels=labels) for entry in found.controls),
        tuple(_floors(found, words, width)),
        tuple(_panel(found, pair, words, width) for pair in found.pairs),
        View.clean(found.order.pool),
        link(Order()),
        any(entry.tied == "overlap" for entry in found.entries),
        tuple((name, words.slice(name)) for name in profile.meta["slices"]),
    )


def _columns(found: Board, words: Words, link: Callable[[Order], str]) -> list[Column]:
    own = words.statistic(found.statistic)
    columns = []
    for pool in found.pools:
        now = found.order.pool == pool
        ways = ("descending", "ascending")[(found.statistic in ("mae", "mae_vs_constant")) != found.order.turned]
        order = Order(pool, now and not found.order.turned)
        name = text("room_compare.board.of_pool", words.lang, statistic=own, pool=View.clean(pool))
        columns.append(Column(name, words.help(found.statistic), link(order), ways if now else ""))
    for name in BETWEEN:
        for a, b in found.pairs:
            title = text(
                "room_compare.board.of_pair",
                words.lang,
                statistic=words.statistic(name),
                first=View.clean(a),
                second=View.clean(b),
            )
            columns.append(Column(title, words.help(name)))
    return columns


def _judge(entry: Entry, found: Board, words: Words, width: float | None, *, labels: bool) -> Judge:
    rows: list[Row | None] = [entry.pools.get(pool) for pool in found.pools]
    rows += [entry.pairs.get((name, a, b)) for name in BETWEEN for a, b in found.pairs]
    beside = ""
    difference = entry.difference
    if difference is not None and None not in (difference.value, difference.low, difference.high):
        row = entry.pools[found.order.pool]
        numbers = (difference.value, difference.low, difference.high)
        value, low, high = (change(row, number, width) for number in numbers if number is not None)
        beside = text("room_compare.board.beside", words.lang, value=value, low=low, high=high)
    return Judge(
        words.judge(entry.judge, labels=labels),
        tuple(View.clean(entry.covariates.get(name) or "") for name in found.covariates),
        tuple(NOTHING if row is None else number_of(row, words, width) for row in rows),
        text(f"room_compare.board.tied.{entry.tied}", words.lang) if entry.tied else "",
        beside,
    )


def _floors(found: Board, words: Words, width: float | None) -> list[Floor]:
    made = []

    def number(row: Row | None) -> Number:
        return NOTHING if row is None else number_of(row, words, width)

    empty = [NOTHING] * len(found.pairs)
    if found.statistic == "mae" and found.ceilings:
        cells = [number(found.ceilings.get(pool)) for pool in found.pools]
        made.append(Floor(words.statistic("ceiling.own"), (*cells, *empty, *empty)))
    none = [NOTHING] * len(found.pools)
    for name, rows in (("cross_pool_mad", found.gaps), ("noise_floor", found.floors)):
        cells = [number(rows.get(pair)) for pair in found.pairs]
        if any(cell.value for cell in cells):
            made.append(Floor(words.statistic(name), (*none, *cells, *empty)))
    return made


def _panel(found: Board, pair: tuple[str, str], words: Words, width: float | None) -> Panel:
    effects = [effect for effect in found.effects if effect.pair == pair]
    return Panel(
        " / ".join(View.clean(pool) for pool in pair),
        tuple((_effect_name(effect, words), tuple(_effect(effect, words, width))) for effect in effects),
        tuple(_share(row, words) for row in found.shares.get(pair, ())),
    )


def _effect_name(effect: Effect, words: Words) -> str:
    name = View.clean(f"{effect.covariate}: {effect.level}" if effect.level else effect.covariate)
    return name if effect.condition == "*" else f"{name} · {words.condition(effect.condition)}"


def _effect(effect: Effect, words: Words, width: float | None) -> list[Known]:
    known = []
    for part in ("judge_permutation_p", "judge_t_p", "coef", "sign_change"):
        row = effect.parts.get(part)
        if row is None:
            continue
        name = words.statistic(row.statistic, row.params)
        if row.label is not None:
            known.append(Known(name, words.label(row.statistic, row.label, row.pool, row.pool_b), ""))
            continue
        number = number_of(row, words, width)
        known.append(Known(name, " ".join(piece for piece in (number.value, number.interval) if piece), number.reason))
    return known


def _share(row: Row, words: Words) -> Known:
    name = words.statistic(row.statistic)
    term = words.setting(row.params, "term")
    if term:
        named = f"room_compare.board.term.{term}"
        name = f"{name}: {text(named, words.lang) if has(named, words.lang) else term}"
    if row.value is None:
        return Known(name, "", words.reason(row.undefined or "not_computable"))
    return Known(name, f"{100 * row.value:.1f} %", "")
