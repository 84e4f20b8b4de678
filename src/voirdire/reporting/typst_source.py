"""A built report as Typst source: every text a string, so that nothing in it can act; charts as files beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from voirdire.reporting.access import View
from voirdire.reporting.blocks import Bullets, Figure, Folded, ItemCard, Items, Notes, Report, Section, Text
from voirdire.reporting.grid import Column, Entry, Grid, Line
from voirdire.reporting.render import paint
from voirdire.reporting.words import Words

FONTS = ("Noto Sans", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", "DejaVu Sans", "Libertinus Serif")
TALL, WIDE_FROM = 250, 11
"""Points that a chart is high at most; columns from which a table stands on a page of its own, sideways."""

POINTS = 0.75
"""Points of a pixel."""

HEAD = """#set document(title: {title}, date: none)
#set page(paper: "a4", margin: (x: 1.8cm, y: 2cm), numbering: "1")
#set text(font: ({fonts}), size: 9.5pt, lang: "{lang}", fallback: true)
#set par(justify: false, leading: 0.62em)
#set table(stroke: none, inset: (x: 4pt, y: 3pt))
#show heading: set block(above: 1.4em, below: 0.7em)
#let said(body, fill) = block(width: 100%, fill: fill, inset: 7pt, radius: 2pt, body)
#let caution = rgb("#fff4e0")
#let warning = rgb("#fdeaea")
#let plain = rgb("#f4f6f8")
"""
FILLS: Mapping[str, str] = {"caution": "caution", "warning": "warning", "note": "plain", "verdicts": "plain"}
_SIZE = re.compile(
    r'<svg[^>]*?\swidth="([\d.]+)"[^>]*?\sheight="([\d.]+)"|<svg[^>]*?\sheight="([\d.]+)"[^>]*?\swidth="([\d.]+)"'
)


def source(report: Report) -> tuple[str, dict[str, str]]:
    """The source of a report, and the charts that it shows: file name -> SVG."""
    writer = _Writer(report.words)
    fonts = ", ".join(f'"{font}"' for font in FONTS)
    parts = [HEAD.format(title=string(report.title), fonts=fonts, lang=report.lang)]
    parts.append(f'#text(size: 18pt, weight: "bold", {string(report.title)})\n')
    if report.banner:
        parts.append(f"#said({_bold(report.banner)}, warning)\n")
    parts.append(_par(report.subtitle))
    facts = [(_bold(name), f"[#{string(value)}]") for name, value in report.facts]
    cells = ", ".join(cell for row in facts for cell in row)
    parts.append(f"#table(columns: (auto, 1fr), {cells})\n")
    parts += [part for section in report.sections for part in writer.section(section)]
    return "\n".join(parts), writer.charts


def string(value: Any) -> str:
    r"""A text as a Typst string: it is shown letter by letter, whatever it says.

    >>> print(string('a "b" #evil() \\ $x$'))
    "a \"b\" #evil() \\ $x$"
    """
    shown = View.clean(value).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + shown.replace("\r", "").replace("\n", "\\n").replace("\t", " ") + '"'


def _par(text: str) -> str:
    return f"#par({string(text)})\n"


def _bold(text: str) -> str:
    return f'text(weight: "bold", {string(text)})'


class _Writer:
    """The blocks of a report, and the charts that were met."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.charts: dict[str, str] = {}

    def section(self, section: Section) -> Iterator[str]:
        yield f"#heading(level: {section.level - 1}, {string(section.title)})\n"
        for block in section.blocks:
            yield from self.block(block)

    def block(self, block: Any) -> Iterator[str]:
        """One block as source."""
        if isinstance(block, Text):
            inner = " + parbreak() + ".join(string(text) for text in block.paragraphs)
            yield _said(f"[#({inner})]", block.style)
        elif isinstance(block, Bullets):
            yield _said(f"[{''.join(_bullets(block))}]", block.style)
        elif isinstance(block, Grid):
            yield from _table(block)
        elif isinstance(block, Figure):
            yield from self._figure(block)
        elif isinstance(block, Folded):
            yield f"#{_bold(block.summary)}\n"
            for inner in block.blocks:
                yield from self.block(inner)
        elif isinstance(block, Items):
            for card in block.cards:
                yield from self._card(card)
        elif isinstance(block, Notes):
            yield from _notes(block)

    def _figure(self, figure: Figure) -> Iterator[str]:
        from voirdire.reporting.drawing import svg

        drawn, name = svg(figure.spec), f"chart-{len(self.charts) + 1}.svg"
        self.charts[name] = drawn
        width, height = _size(drawn)
        scale = min(1.0, 490 / width, TALL / height)
        image = f'image("{name}", width: {width * scale:.1f}pt, alt: {string(figure.alt)})'
        yield f"#block(breakable: false)[#{image}\n#text(size: 8.5pt, {string(figure.caption)})]\n"
        if figure.data is not None:
            yield from _table(figure.data)

    def _card(self, card: ItemCard) -> Iterator[str]:
        title = f"{card.id} ({self.words.t('item.gap', gap=card.gap)})"
        yield f"#heading(level: 4, {string(title)})\n"
        if card.picture:
            yield _par(self.words.t("item.image_at", source=card.picture.source))
        yield from (_par(f"{name}: {said}") for name, _, said in card.texts)
        if card.about:
            yield _par("; ".join(f"{name}: {value}" for name, value in card.about))
        yield from _table(card.ratings)


def _said(body: str, style: str) -> str:
    fill = FILLS.get(style)
    return f"#said({body}, {fill})\n" if fill else f"#block{body}\n"


def _bullets(block: Bullets) -> Iterator[str]:
    for heading, sentences in block.entries:
        if heading:
            yield f"#block(below: 0.5em, {_bold(heading)})"
        yield f"#list({', '.join(string(sentence) for sentence in sentences)})"


def _table(grid: Grid) -> Iterator[str]:
    """A table; one with many columns stands sideways on a page of its own."""
    count = len(grid.heads) + len(grid.columns)
    wide = count >= WIDE_FROM
    size = 8 if count <= 7 else 7 if count < WIDE_FROM else 6.5
    align = ", ".join(["left"] * len(grid.heads) + ["right" if column.numeric else "left" for column in grid.columns])
    cells = [*_head(grid), *(cell for title, lines in grid.groups for cell in _group(title, lines, count))]
    listed = ",\n".join(cells)
    table = f"#table(columns: {count}, align: ({align},),\n{listed},\n)"
    below = [f"— ({mark}): {reason}" for mark, reason in grid.reasons] + list(grid.notes)
    notes = "".join(f"#text(size: 7.5pt, {string(line)})#linebreak()" for line in below)
    whole = f"#set text(size: {size}pt)\n#block(sticky: true, {_bold(grid.caption)})\n{table}\n{notes}"
    yield f"#page(flipped: true)[{whole}]\n" if wide else f"#block[{whole}]\n"


def _head(grid: Grid) -> Iterator[str]:
    rows = []
    if grid.grouped_columns:
        spans = [f"table.cell(colspan: {span}, align: center, {_bold(title)})" for title, span in grid.grouped_columns]
        rows += [f"table.cell(colspan: {len(grid.heads)}, [])", *spans] if grid.heads else spans
    rows += [_bold(head) for head in grid.heads] + [_title(column) for column in grid.columns]
    yield f"table.header({', '.join(rows)}, table.hline(stroke: 0.6pt))"


def _title(column: Column) -> str:
    mark = f" + super({string(column.footnote)})" if column.footnote else ""
    return f"{_bold(column.title)}{mark}"


def _group(title: str, lines: Iterable[Line], count: int) -> Iterator[str]:
    if title:
        yield f"table.cell(colspan: {count}, emph({string(title)}))"
    for line in lines:
        yield ", ".join([*(f"[#{string(head)}]" for head in line.heads), *map(_entry, line.entries)])
        yield "table.hline(stroke: 0.2pt + luma(200))"


def _entry(entry: Entry) -> str:
    shown = _bold(entry.text) if entry.strong else string(entry.text)
    mark = f" + super({string(entry.mark)})" if entry.mark else ""
    below = f" + linebreak() + text(size: 0.85em, fill: luma(90), {string(entry.interval)})" if entry.interval else ""
    fill = f"fill: {paint(entry).removeprefix('background:')}, " if entry.heat is not None else ""
    return f"table.cell({fill}[#({shown}{mark}{below})])"


def _notes(block: Notes) -> Iterator[str]:
    yield "#set text(size: 8pt)\n"
    for note in block.notes:
        parts = "; ".join(f"{key} = {value}" for key, value in note.parts)
        yield f"#par([#super({string(note.number)}) #{_bold(f'{note.name}.')} #{string(f'{note.help} {parts}')}])\n"


def _size(drawn: str) -> tuple[float, float]:
    """Width and height of a chart in points."""
    found = _SIZE.search(drawn)
    numbers: Sequence[str] = [one for one in found.groups() if one] if found else ["600", "300"]
    width, height = (float(one) * POINTS for one in numbers)
    return (width, height) if found is None or found[1] else (height, width)
