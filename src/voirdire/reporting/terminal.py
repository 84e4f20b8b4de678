"""The short account: for the terminal in plain words, for a notebook as a small page."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from voirdire.reporting import headline, pairwise, tables, verdicts
from voirdire.reporting.access import ProfileLike, View
from voirdire.reporting.grid import Builder, Footnotes, Grid
from voirdire.reporting.words import Words

MOST_JUDGES = 12
WIDTH = 100
MOST_THINGS = 12
VOTES = ("n_items", "n_raters", "agreement.human", "agreement.best", "reliability", "gate")
SHOWN = ("n_items", "n_raters", "alpha", "reliability", "gate")


def terminal(profile: ProfileLike, lang: str = "en", report: Path | str | None = None, width: int = WIDTH) -> str:
    """A short verdict for each judge, the table of pools, and where the report is.

    Texts of the corpus are shown without control characters and are never read as markup.
    """
    from rich.console import Console

    console = Console(file=StringIO(), width=width, highlight=False, markup=False, emoji=False, color_system=None)
    for part in renderables(profile, lang, report):
        console.print(part)
    shown: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in shown.splitlines())


def renderables(profile: ProfileLike, lang: str = "en", report: Path | str | None = None) -> list[Any]:
    """The same as parts for a Rich console."""
    from rich.text import Text

    view = View(profile)
    words = Words(lang, view.pools)
    parts: list[Any] = [Text(words.t("simulated")), Text()] if view.meta.get("simulated") else []
    judged = [entry for entry in view.questions if entry["id"] in view.judged] or view.questions
    for entry in judged:
        parts += _question(view, words, entry["id"], several=len(view.questions) > 1)
    if view.judged and view.judges:
        rated = [entry["id"] for entry in judged if not view.votes(entry["id"])]
        first = view.pairs(rated[0])[:1] if rated else []
        parts += [] if rated else [Text(words.v("caution"))]
        parts += [Text(words.t("caution.tilt", a=a, b=b)) for a, b in first]
    parts.append(Text(words.t("on_this_corpus" if view.judged and view.judges else "on_this_corpus_of_pools")))
    if report is not None:
        parts += [Text(), Text(words.t("terminal.report", path=report))]
    return parts


def _question(view: View, words: Words, question: str, several: bool) -> list[Any]:
    from rich.text import Text

    parts: list[Any] = [Text(words.t("question_label", question=question)), Text()] if several else []
    cells = view.main_cells()[:MOST_JUDGES] if question in view.judged else []
    parts += _listed([] if view.votes(question) else headline.opened(view, words, question, cells))
    grid = pools_grid(view, words, question)
    if grid is not None:
        parts += [_rich(grid), Text()]
    parts += [Text(sentence) for sentence in verdicts.pool_sentences(view, words, question)]
    parts.append(Text())
    parts += _things(view, words, question)
    if question not in view.judged:
        return parts
    parts += _listed(
        [(words.cell(cell), tuple(verdicts.judge_sentences(view, words, question, cell))) for cell in cells]
    )
    if len(view.main_cells()) > MOST_JUDGES:
        parts.append(Text(words.t("terminal.more", count=len(view.main_cells()) - MOST_JUDGES)))
    return parts


def _things(view: View, words: Words, question: str) -> list[Any]:
    """Of votes between two things, who prefers what; nothing where there are too many things."""
    from rich.text import Text

    if not view.votes(question):
        return []
    grid = pairwise.preferred(Builder(view, words, Footnotes(), question, 1.0), "")
    return [] if grid is None or len(grid.lines) > MOST_THINGS else [_rich(grid), Text()]


def _listed(entries: Sequence[tuple[str, tuple[str, ...]]]) -> list[Any]:
    """Headings with their sentences below, indented, and an empty line after the last."""
    from rich.padding import Padding
    from rich.text import Text

    parts: list[Any] = []
    for heading, sentences in entries:
        parts.append(Text(heading, style="bold"))
        parts += [Padding(Text(sentence), (0, 0, 0, 2)) for sentence in sentences]
    return [*parts, Text()] if parts else []


def pools_grid(view: View, words: Words, question: str) -> Grid | None:
    """The table of pools with its few most needed columns."""
    builder = Builder(view, words, Footnotes(), question, verdicts.width_of(view, question))
    members = [((View.clean(pool),), {"pool": pool}) for pool in view.pools_of(question)]
    shown = VOTES if view.votes(question) else SHOWN
    return builder.table(
        "", words.t("terminal.pools", question=question), [words.t("head.pool")], tables.specs(shown), [("", members)]
    )


def _rich(grid: Grid) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(grid.caption), title_justify="left", box=None, pad_edge=False, header_style="bold")
    for head in grid.heads:
        table.add_column(Text(head), overflow="fold")
    for column in grid.columns:
        table.add_column(Text(column.title), justify="right", overflow="fold")
    for line in grid.lines:
        entries = [Text(f"{e.text}{e.mark and f' ({e.mark})'} {e.interval}".strip()) for e in line.entries]
        table.add_row(*map(Text, line.heads), *entries)
    return _with_reasons(table, grid)


def _with_reasons(table: Any, grid: Grid) -> Any:
    from rich.console import Group
    from rich.text import Text

    notes = [Text(f"({mark}) {reason}") for mark, reason in grid.reasons] + [Text(note) for note in grid.notes]
    return Group(table, *notes)


def notebook(profile: ProfileLike, lang: str = "en") -> str:
    """A small HTML page for a notebook: the verdicts and the pools."""
    from voirdire.reporting.render import fragment

    view = View(profile)
    words = Words(lang, view.pools)
    questions = view.judged or [entry["id"] for entry in view.questions]
    grids = [grid for question in questions if (grid := pools_grid(view, words, question)) is not None]
    return fragment(profile, words, grids)
