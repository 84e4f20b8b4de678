"""The pools of an audit as a section for the README of a model on Hugging Face, or for any page of Markdown.

A section and no front matter: what a card says in YAML stays the owner's (huggingface.co/docs/hub/model-cards). Names
and texts are escaped as the report escapes them; the two comments let a later export replace the section.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from voirdire.exchange.exporters.contract import Exporter
from voirdire.reporting import audit, pairwise, tables, verdicts
from voirdire.reporting.access import ProfileLike, View
from voirdire.reporting.blocks import Notes
from voirdire.reporting.grid import Builder, Footnotes, Grid, Member
from voirdire.reporting.markdown import escape, table_lines
from voirdire.reporting.words import Words
from voirdire.texts import text

BEGIN, END = "<!-- voirdire: pools -->", "<!-- /voirdire: pools -->"
POOLS = ("n_items", "n_raters", "reliability", "gate")
AGAINST = ("mae", "bias", "mae_vs_constant", "verdict")
GAPS = ("cross_pool_mad", "cross_pool_tv", "gap_test.p", "gate.divergent")
BETWEEN = ("delta", "tilt", "orientation.w", "verdict")
OF_VOTES: dict[tuple[str, ...], tuple[str, ...]] = {
    POOLS: ("n_items", "n_raters", "reliability", "gate"),
    AGAINST: ("agreement", "agreement.best", "agreement.human", "mae_vs_constant", "verdict"),
    GAPS: ("cross_pool_tv", "gap_test.p", "gate.divergent"),
    BETWEEN: ("delta", "tilt:form=ratio", "verdict"),
}


def write_model_card(profile: ProfileLike, lang: str) -> str:
    """The section: every pool, each judge against every pool, each judge between two pools, the definitions."""
    view = View(profile)
    words, footnotes = Words(lang, view.pools), Footnotes()
    found = [part for question in view.questions for part in _question(view, words, footnotes, question["id"])]
    heading = "heading_many" if len({cell.judge for cell in view.main_cells()}) > 1 else "heading"
    parts = [BEGIN, f"## {escape(_said(heading, lang))}", *_made(view, words)]
    parts += found or [escape(_said("nothing", lang))]
    parts += _definitions(footnotes, words)
    return "\n\n".join([*parts, END]) + "\n"


def _said(key: str, lang: str, **fields: Any) -> str:
    return text(f"exporting.card.{key}", lang, **{name: View.clean(value) for name, value in fields.items()})


def _made(view: View, words: Words) -> Iterator[str]:
    if view.meta.get("simulated"):
        yield f"> **{escape(words.t('simulated'))}**"
    yield escape(_said("made", words.lang, version=view.meta.get("voirdire", "")))


def _question(view: View, words: Words, footnotes: Footnotes, question: str) -> Iterator[str]:
    """The tables of a question, below its name where there are several."""
    b = Builder(view, words, footnotes, question, verdicts.width_of(view, question))
    judged = question in view.judged
    grids = [_pools(b), _gaps(b), pairwise.preferred(b) if view.votes(question) else None]
    grids += [_against(b), _between(b)] if judged else []
    shown = [grid for grid in grids if grid is not None]
    if shown and len(view.questions) > 1:
        yield f"### {escape(_said('question', words.lang, question=question))}"
    for grid in shown:
        plain = replace(grid, columns=tuple(replace(column, footnote=None) for column in grid.columns))
        yield from table_lines(plain)
    open_ones = _open(b) if judged else []
    if open_ones:
        yield f"**{escape(_said('open', words.lang))}**"
        yield "\n".join(open_ones)


def _open(b: Builder) -> list[str]:
    """Why a verdict decides nothing, judge by judge."""
    found = []
    for cell in b.view.main_cells():
        reasons = verdicts.open_sentences(b.view, b.words, b.question, cell)
        found += [f"- **{escape(b.words.cell(cell))}**: {escape(reason)}" for reason in reasons]
    return found


def _names(b: Builder, names: tuple[str, ...]) -> Sequence[str]:
    return OF_VOTES[names] if b.view.votes(b.question) else names


def _pools(b: Builder) -> Grid | None:
    members: list[Member] = [((pool,), {"pool": pool}) for pool in b.view.pools_of(b.question)]
    heads = [b.words.t("head.pool")]
    return b.table("pools", b.words.t("caption.pools"), heads, tables.specs(_names(b, POOLS)), [("", members)])


def _gaps(b: Builder) -> Grid | None:
    heads = [b.words.t("head.pool_a"), b.words.t("head.pool_b")]
    columns = tables.specs(_names(b, GAPS))
    return b.table("gaps", _said("gaps", b.words.lang), heads, columns, [("", tables.pair_members(b))])


def _against(b: Builder) -> Grid | None:
    cells = b.view.main_cells()
    members = tables.with_pools(b, tables.cell_members(b, cells, cells))
    heads = [*tables.cell_heads(b, cells), b.words.t("head.pool")]
    columns = [tables.without_pool(b, spec) for spec in tables.specs(_names(b, AGAINST))]
    return b.table("judges", b.words.t("caption.judges"), heads, columns, [("", members)])


def _between(b: Builder) -> Grid | None:
    w, cells = b.words, b.view.main_cells()
    members: list[Member] = [
        ((*heads, a, c), {**key, "pool": a, "pool_b": c})
        for heads, key in tables.cell_members(b, cells, cells)
        for a, c in b.view.pairs(b.question)
    ]
    heads = [*tables.cell_heads(b, cells), w.t("head.pool_a"), w.t("head.pool_b")]
    return b.table("pairs", _said("between", w.lang), heads, tables.specs(_names(b, BETWEEN)), [("", members)])


def _definitions(footnotes: Footnotes, words: Words) -> list[str]:
    """Every definition; settings that are the same wherever they occur are said once, at the head."""
    notes: Notes = audit.definitions(footnotes, words)
    found = Counter(part for note in notes.notes for part in note.parts)
    values = Counter(key for key, _ in found)
    common = [part for part, count in found.items() if count > 1 and values[part[0]] == 1]
    lines = [f"- {escape(_said('common', words.lang))} {_settings(common)}"] if common else []
    for note in notes.notes:
        own = _settings([part for part in note.parts if part not in common])
        lines.append(f"- **{escape(note.name)}.** {escape(note.help)} {own}".rstrip())
    return [f"**{escape(_said('definitions', words.lang))}**", "\n".join(lines)] if notes.notes else []


def _settings(parts: Sequence[tuple[str, str]]) -> str:
    return "; ".join(f"{escape(key)} = {escape(value)}" for key, value in parts)


EXPORTER = Exporter("profile", write_model_card)
