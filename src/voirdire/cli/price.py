"""``voirdire price``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from voirdire.cli import options as o
from voirdire.cli import run_options as r
from voirdire.cli import show
from voirdire.cli.build import add
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.app.price import JudgePrice, RunPrice
    from voirdire.judging.tokens import Range


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "price", price, "cli.price")


def price(
    ctx: typer.Context,
    corpus: r.Corpus,
    judge: r.JudgeNames = None,
    judges: r.JudgesFile = None,
    base_url: r.BaseUrl = None,
    grid: r.Grids = None,
    repeats: r.Repeats = None,
    questions: r.Questions = None,
    limit: r.Limit = None,
    resize: r.Resize = None,
    seed: r.Seed = None,
    prices: r.Prices = None,
    batch: r.Batch = False,
    items: o.Items = None,
    ratings: o.Ratings = None,
    raters: o.Raters = None,
    map: o.Map = None,
    pool: o.Pool = None,
    pool_column: o.PoolColumn = None,
    level: o.Level = None,
    scale: o.ScaleOption = None,
    labels: o.Labels = None,
    missing_label: o.MissingLabel = None,
    encoding: o.Encoding = None,
    unknown_items: o.UnknownItems = None,
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    from voirdire.app.price import price_of
    from voirdire.app.run_inputs import read_run

    language = ctx.find_object(str) or "en"
    with show.Progress(language) as progress:
        inputs = read_run(corpus, r.collect(ctx.params), progress)
        found = price_of(inputs)
    if json:
        show.json({"command": "price", **document(found, language)})
        return
    for line in r.read_lines(inputs, language):
        show.out(line)
    for line in r.note_lines(found.notes, language):
        show.out(line)
    show.out("")
    show.out(table(found, language))
    show.out("")
    show.out(total(found, language))


def table(found: RunPrice, lang: str) -> str:
    """A row a judge: cells, tokens and dollars, each as expected with its range."""
    columns = [text(f"cli_run.column.{name}", lang) for name in ("judge", "cells", "input", "output", "cost")]
    return show.table(columns, [_row(judge, lang) for judge in found.judges])


def total(found: RunPrice, lang: str) -> str:
    """The whole price in a sentence, and whose price is missing."""
    missing = show.clean(text("report.list_separator", lang).join(found.unpriced))
    if not any(judge.price for judge in found.judges):
        return text("cli_run.total_unknown", lang, judges=missing) if missing else text("cli_run.total_local", lang)
    dates = sorted({judge.price.as_of or "?" for judge in found.judges if judge.price})
    as_of = text("report.list_separator", lang).join(dates)
    said = text("cli_run.total", lang, cost=dollars(found.cost, lang), as_of=show.clean(as_of))
    return f"{said} {text('cli_run.total_without', lang, judges=missing)}" if missing else said


def document(found: RunPrice, lang: str) -> dict[str, Any]:
    """The estimate for machines."""
    judges = [
        {
            "judge": judge.name,
            "cells": judge.cells,
            "input_tokens": _plain(judge.input),
            "output_tokens": _plain(judge.output),
            "cost_usd": _plain(judge.cost),
            "price": asdict(judge.price) if judge.price else None,
            "known": judge.known,
        }
        for judge in found.judges
    ]
    size = {"items": found.items, "conditions": found.conditions, "questions": found.questions}
    return {
        **size,
        "repeats": found.repeats,
        "cells": found.cells,
        "cost_usd": _plain(found.cost),
        "unpriced": list(found.unpriced),
        "judges": judges,
        "notes": r.notes_document(found.notes, lang),
    }


def dollars(cost: Range, lang: str) -> str:
    """``$12.30 ($9.10 to $40)``."""
    low, expected, high = (_money(end) for end in (cost.low, cost.expected, cost.high))
    return expected if low == high else text("cli_run.range", lang, expected=expected, low=low, high=high)


def _row(judge: JudgePrice, lang: str) -> list[str]:
    cost = "-" if judge.cost is None else text("cli_run.free", lang) if judge.local else dollars(judge.cost, lang)
    return [judge.name, f"{judge.cells:,}", _tokens(judge.input, lang), _tokens(judge.output, lang), cost]


def _tokens(tokens: Range | None, lang: str) -> str:
    if tokens is None:
        return "-"
    low, expected, high = (_count(end) for end in (tokens.low, tokens.expected, tokens.high))
    return expected if low == high else text("cli_run.range", lang, expected=expected, low=low, high=high)


def _count(number: float) -> str:
    """A number of tokens with three figures: 950, 12.3k, 4.56M."""
    for size, mark in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{mark}" if number / size < 1000 else f"{number / size:.0f}{mark}"
    return f"{number:.0f}"


def _money(amount: float) -> str:
    return f"${amount:,.2f}" if amount >= 0.1 or not amount else f"${amount:.2g}"


def _plain(numbers: Range | None) -> dict[str, float] | None:
    if numbers is None:
        return None
    return {"low": numbers.low, "expected": numbers.expected, "high": numbers.high}
