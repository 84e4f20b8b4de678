"""The items that split two pools most: their texts, image and every rating."""

from __future__ import annotations

import base64
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

from voirdire.analysis.naming import CELL, cell_of
from voirdire.reporting.access import ALL, View
from voirdire.reporting.blocks import ItemCard, Picture
from voirdire.reporting.grid import Column, Entry, Grid, Line
from voirdire.reporting.words import Words

LIMIT = 10
ABOUT = ("culture", "category", "pair_id")
MOST_BYTES = 20_000_000
MOST_PIXELS = 50_000_000
SIDE = 480
FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")


def cards(
    view: View, words: Words, question: str, pair: tuple[str, str], images: Path | None, width: float | None
) -> list[ItemCard]:
    """The items with the widest gap of a pair, widest first."""
    frame = view.profile.items
    if frame.is_empty() or not {"question", "pool", "pool_b"} <= set(frame.columns):
        return []
    found = [
        row
        for row in frame.iter_rows(named=True)
        if row["question"] == question and (row["pool"], row["pool_b"]) == pair and row.get("gap") is not None
    ]
    found.sort(key=lambda row: -abs(row["gap"]))
    votes = view.votes(question)
    return [_card(row, words, images, width, votes=votes) for row in found[:LIMIT]]


def _card(row: dict[str, Any], words: Words, images: Path | None, width: float | None, *, votes: bool) -> ItemCard:
    texts = tuple(
        (words.t(f"item.{kind}"), lang, View.clean(row[column]))
        for kind in ("prompt", "text")
        for column, lang in _languages(row, kind, words.lang)
    )
    about = {name: View.clean(row[name]) for name in ABOUT if row.get(name) is not None}
    item = View.clean(row["item_id"])
    return ItemCard(
        item,
        words.number("cross_pool_mad", abs(row["gap"]), width),
        texts,
        tuple(about.items()),
        _picture(row, words, images),
        _ratings(row, words, item, width, votes=votes),
    )


def _languages(row: dict[str, Any], kind: str, lang: str) -> list[tuple[str, str]]:
    """The columns that hold a text in the report's language, or else in every language there is."""
    found = [
        (name, name.partition(".")[2] or "und")
        for name, value in row.items()
        if name.partition(".")[0] == kind and value
    ]
    chosen = [pair for pair in found if pair[1].split("-")[0] == lang]
    return chosen or found


def _ratings(row: dict[str, Any], words: Words, item: str, width: float | None, *, votes: bool) -> Grid:
    pools = [
        Line((View.clean(name.removeprefix("consensus.")), words.t("item.consensus")), (_number(value, words, width),))
        for name, value in row.items()
        if name.startswith("consensus.") and value is not None
    ]
    by_judge: dict[str, list[tuple[str, Any]]] = {}
    for name, value in row.items():
        if name.startswith(CELL):
            judge, condition = cell_of(name)
            by_judge.setdefault(judge, []).append((condition, value))
    judges = [
        Line((words.judge(judge), _conditions(_parts(found), words)), (_over(_whole(found), words, width),))
        for judge, found in by_judge.items()
    ]
    lines = (*pools, *judges)
    said = words.v if votes else words.t
    column = Column(said("head.rating"), numeric=any(line.entries[0].numeric for line in lines))
    heads = (words.t("head.by"), words.t("head.kind"))
    return Grid("", said("caption.item", item=item), heads, (column,), (("", lines),))


def _parts(found: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The conditions of a judge without what holds over all of them, unless that is all there is."""
    return [pair for pair in found if pair[0] != ALL] or found


def _whole(found: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """What holds over all conditions of a judge, or else the conditions."""
    return [pair for pair in found if pair[0] == ALL and pair[1] is not None] or found


def _number(value: Any, words: Words, width: float | None) -> Entry:
    if isinstance(value, str):
        return Entry(View.clean(value), numeric=False)
    return Entry(words.number("mae", float(value), width))


def _conditions(found: list[tuple[str, Any]], words: Words) -> str:
    return words.condition(found[0][0]) if len(found) == 1 else words.t("item.conditions", count=len(found))


def _over(found: list[tuple[str, Any]], words: Words, width: float | None) -> Entry:
    given = [value for _, value in found if value is not None]
    if not given:
        return Entry(words.t("item.no_rating"), numeric=False)
    if any(isinstance(value, str) for value in given):
        counts = {label: given.count(label) for label in dict.fromkeys(given)}
        return Entry(
            words.list(
                [View.clean(label) if len(given) == 1 else f"{View.clean(label)}: {n}" for label, n in counts.items()]
            ),
            numeric=False,
        )
    values = [float(value) for value in given]
    if len(values) == 1:
        return Entry(f"{values[0]:g}" if values[0].is_integer() else words.number("mae", values[0], width))
    mean = words.number("mae", sum(values) / len(values), width)
    return Entry(mean, words.t("item.spread", low=f"{min(values):.3g}", high=f"{max(values):.3g}"))


def _picture(row: dict[str, Any], words: Words, images: Path | None) -> Picture | None:
    source = row.get("image")
    if not source:
        return None
    described = next(
        (str(row[f"alt.{lang}"]) for lang in (words.lang, "en", "zh", "und") if row.get(f"alt.{lang}")), ""
    )
    alt = View.clean(described or words.t("item.image_of", item=row["item_id"]))
    return Picture(embedded(str(source), images), View.clean(source), alt)


def embedded(source: str, folder: Path | None) -> str:
    """A local image inside the items' folder as a small JPEG data URI; nothing for anything else.

    An address is never fetched, a path that leaves the folder is never read, and a file that is no image is not
    embedded.

    >>> embedded("https://example.org/a.png", Path("."))
    ''
    """
    if folder is None or "://" in source or PurePosixPath(source).is_absolute() or "\0" in source:
        return ""
    try:
        root = folder.resolve()
        file = (root / source).resolve()
        if not file.is_relative_to(root) or not file.is_file() or file.stat().st_size > MOST_BYTES:
            return ""
        return _small(file)
    except (OSError, ValueError):
        return ""


def _small(file: Path) -> str:
    from PIL import Image

    try:
        with Image.open(file, formats=FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                return ""
            image.thumbnail((SIDE, SIDE))
            shown = Image.new("RGB", image.size, "white")
            layer = image.convert("RGBA")
            shown.paste(layer, mask=layer.getchannel("A"))
            buffer = BytesIO()
            shown.save(buffer, "JPEG", quality=80)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError, Image.DecompressionBombWarning):
        return ""
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
