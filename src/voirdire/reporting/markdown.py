"""The report as Markdown (GitHub's kind, with footnotes)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from voirdire.reporting.access import ProfileLike, View
from voirdire.reporting.blocks import Bullets, Figure, Folded, ItemCard, Items, Notes, Report, Text
from voirdire.reporting.grid import Column, Entry, Grid

SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#$~&!])")
OPENING = re.compile(r"^(\d{1,9}(?=[.)](?:\s|$))|(?=[-+=](?![\d.])))")
"""Where a line begins as an item of a list or a rule; a number with decimals does not."""


def render_markdown(profile: ProfileLike, lang: str = "en", images: Path | str | None = None) -> str:
    """The report of a profile as Markdown."""
    from voirdire.reporting.assemble import build

    return markdown(build(profile, lang, images))


def escape(value: Any) -> str:
    r"""Text that Markdown shows as it is, in one line; backslashes are all that is added.

    >>> print(escape("a|b <i> $x_1$"))
    a\|b \<i\> \$x\_1\$
    >>> print(escape("0.31"), escape("-0.31"), escape("1. a"), escape("- a"), escape("http://a.b"))
    0.31 -0.31 1\. a \- a http:\//a.b
    """
    line = " ".join(View.clean(value).split())
    return OPENING.sub(r"\1\\", SPECIAL.sub(r"\\\1", line).replace("://", r":\//"))


def markdown(report: Report, figures: str = "figures") -> str:
    """A built report as Markdown; figures are referred to in a folder beside it."""
    parts = [f"# {escape(report.title)}"]
    if report.banner:
        parts.append(f"> **{escape(report.banner)}**")
    parts += [escape(report.subtitle), "\n".join(f"- {escape(name)}: {escape(value)}" for name, value in report.facts)]
    for section in report.sections:
        parts.append(f"{'#' * section.level} {escape(section.title)}")
        for block in section.blocks:
            parts.extend(_block(block, report, figures))
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Any, report: Report, figures: str) -> Iterable[str]:
    if isinstance(block, Text):
        mark = "> " if block.style in {"caution", "warning"} else ""
        return ["\n>\n".join(mark + escape(p) for p in block.paragraphs)] if mark else map(escape, block.paragraphs)
    if isinstance(block, Bullets):
        return _bullets(block)
    if isinstance(block, Grid):
        return table_lines(block)
    if isinstance(block, Figure):
        image = f"![{escape(block.alt)}]({figures}/{block.name}.svg)"
        return [image, f"*{escape(block.caption)}*", *(table_lines(block.data) if block.data else [])]
    if isinstance(block, Folded):
        return [
            f"**{escape(block.summary)}**",
            *(part for inner in block.blocks for part in _block(inner, report, figures)),
        ]
    if isinstance(block, Items):
        return [part for card in block.cards for part in _card(card, report)]
    return _notes(block) if isinstance(block, Notes) else []


def _bullets(block: Bullets) -> list[str]:
    parts = []
    for heading, sentences in block.entries:
        if heading:
            parts.append(f"**{escape(heading)}**")
        parts.append("\n".join(f"- {escape(sentence)}" for sentence in sentences))
    return parts


def table_lines(grid: Grid) -> list[str]:
    """A table's caption, its rows, the reasons of its marks and its notes: paragraphs to put empty lines between."""
    titles = [*map(escape, grid.heads), *map(_title, grid.columns)]
    rows = [titles, [*(["---"] * len(grid.heads)), *("---:" if column.numeric else "---" for column in grid.columns)]]
    for title, lines in grid.groups:
        if title:
            rows.append([f"*{escape(title)}*", *([""] * (len(titles) - 1))])
        rows += [[*map(escape, line.heads), *map(_entry, line.entries)] for line in lines]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    below = [f"— ({mark}): {escape(reason)}" for mark, reason in grid.reasons] + [escape(note) for note in grid.notes]
    return [f"**{escape(grid.caption)}**", table, *below]


def _title(column: Column) -> str:
    group = f"{escape(column.group)}: " if column.group else ""
    return group + escape(column.title) + (f"[^{column.footnote}]" if column.footnote else "")


def _entry(entry: Entry) -> str:
    mark = f" ({entry.mark})" if entry.mark else ""
    text = f"**{escape(entry.text)}**" if entry.strong else escape(entry.text)
    return f"{text}{mark} {escape(entry.interval)}".strip()


def _card(card: ItemCard, report: Report) -> list[str]:
    parts = [f"#### {escape(card.id)} ({escape(report.words.t('item.gap', gap=card.gap))})"]
    if card.picture:
        parts.append(escape(report.words.t("item.image_at", source=card.picture.source)))
    parts += [f"> {escape(name)}: {escape(said)}" for name, _, said in card.texts]
    if card.about:
        parts.append("; ".join(f"{escape(name)}: {escape(value)}" for name, value in card.about))
    return [*parts, *table_lines(card.ratings)]


def _notes(block: Notes) -> list[str]:
    lines = []
    for note in block.notes:
        parts = "; ".join(f"{escape(key)} = {escape(value)}" for key, value in note.parts)
        lines.append(f"[^{note.number}]: **{escape(note.name)}.** {escape(note.help)} {parts}")
    return ["\n".join(lines)]
