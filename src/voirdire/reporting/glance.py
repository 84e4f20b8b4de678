"""The matrix at the top: every judge against every pool and between every pair, in one small table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from voirdire.reporting.access import Cell, Row
from voirdire.reporting.grid import Builder, Grid, Member, Spec
from voirdire.reporting.headline import decomposed


def matrix(b: Builder, cells: Sequence[Cell]) -> Grid | None:
    """MAE with the verdict for each pool, W with the outcome of the test of neutrality for each pair."""
    w = b.words
    if b.view.votes(b.question):
        return _of_votes(b, cells)
    specs = [
        Spec("mae", title=w.x("glance.pool", pool=pool), place={"pool": pool}, second=_pool_word(b))
        for pool in b.view.pools_of(b.question)
    ]
    for pair in b.view.pairs(b.question):
        specs += _between(b, pair, cells)
    members: list[Member] = [((w.cell(cell),), {"judge": cell.judge, "condition": cell.condition}) for cell in cells]
    grid = b.table("glance", w.x("glance.caption"), [w.t("head.judge")], specs, [("", members)], [w.x("glance.note")])
    return None if grid is None else replace(grid, compact=True)


def _of_votes(b: Builder, cells: Sequence[Cell]) -> Grid | None:
    """Agreement with the verdict for each pool, delta with the verdict for each pair."""
    w = b.words
    specs = [
        Spec("agreement", title=pool, place={"pool": pool}, second=_pool_word(b))
        for pool in b.view.pools_of(b.question)
    ]
    specs += [
        Spec("delta", title=w.v("head.delta", a=a, b=c), place={"pool": a, "pool_b": c}, second=_delta_word(b))
        for a, c in b.view.pairs(b.question)
    ]
    members: list[Member] = [((w.cell(cell),), {"judge": cell.judge, "condition": cell.condition}) for cell in cells]
    grid = b.table("glance", w.v("caption.glance"), [w.t("head.judge")], specs, [("", members)], [w.v("note.glance")])
    return None if grid is None else replace(grid, compact=True)


def _delta_word(b: Builder) -> Callable[[Row], str]:
    """The verdict between two pools in a word or two."""

    def word(row: Row) -> str:
        place = {name: getattr(row, name) for name in ("question", "pool", "pool_b", "judge", "condition", "slice")}
        verdict = b.view.row("verdict", **place)
        label = None if verdict is None else verdict.label
        return "" if label is None else b.words.label("verdict", label, row.pool, row.pool_b)

    return word


def _pool_word(b: Builder) -> Callable[[Row], str]:
    """The verdict on the pool of an estimate, in a word or two."""

    def word(row: Row) -> str:
        verdict = b.view.row(
            "verdict", question=row.question, pool=row.pool, judge=row.judge, condition=row.condition, slice=row.slice
        )
        return "" if verdict is None or verdict.label is None else b.words.x(f"glance.pool_verdict.{verdict.label}")

    return word


def _between(b: Builder, pair: tuple[str, str], cells: Sequence[Cell]) -> list[Spec]:
    """A column of W, or one for each condition that it was taken from where that is not the row's own."""
    found: dict[str, None] = {}
    for cell in cells:
        here = decomposed(b.view, b.question, pair, cell)
        if here is not None:
            found.setdefault("" if here.condition == cell.condition else here.condition)
    specs = []
    for condition in found:
        title = b.words.x("glance.pair", a=pair[0], b=pair[1])
        place = {"pool": pair[0], "pool_b": pair[1]}
        if condition:
            title, place = f"{title} ({b.words.condition(condition)})", {**place, "condition": condition}
        specs.append(Spec("orientation.w", title=title, place=place, second=_pair_word(b)))
    return specs


def _pair_word(b: Builder) -> Callable[[Row], str]:
    """Whether the judge is oriented, in a word or two."""

    def word(row: Row) -> str:
        place = {"question": row.question, "pool": row.pool, "pool_b": row.pool_b, "judge": row.judge}
        verdict = b.view.row("orientation.verdict", condition=row.condition, slice=row.slice, **place)
        if verdict is None or verdict.label is None:
            return ""
        return b.words.x(f"glance.pair_verdict.{verdict.label}", a=row.pool, b=row.pool_b)

    return word
