"""What the page of one item shows: its texts, what people and judges said of it, raw replies, the rest of its pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from voirdire.browsing.item_detail import (
    Answer,
    JudgeAnswers,
    PoolAnswers,
    QuestionAnswers,
    Replies,
    answers_about,
    replies_about,
)
from voirdire.browsing.item_distances import distances_of_item
from voirdire.browsing.run_answers import MOST_TRIES, Try
from voirdire.browsing.shelf_numbers import ShelfNumbers
from voirdire.browsing.table_answers import TableAnswers, table_answers
from voirdire.corpus.shown import Item
from voirdire.reporting.words import Words
from voirdire.scales import Scale
from voirdire.texts import has, text
from voirdire.web.room.items_marks import (
    Strip,
    bars_of,
    bars_of_levels,
    colour,
    place_on,
    plain,
    said_number,
    shares_of,
    tone,
)
from voirdire.web.room.items_query import Opened, Part
from voirdire.web.room.items_view import MOST_STRIPS, Cards, Fact, Worded
from voirdire.web.room.service import Room
from voirdire.web.room.thumbnails import can_be_shown, thumbnails_of

MOST_OPEN = 60
MOST_JUDGES, MOST_ROWS = 10, 60
MOST_CELLS, CELLS_A_PART = 2_000, 200
MOST_REPEATS = 100
MOST_LETTERS = 1_500
NATIVE = {"en": "English", "zh": "中文", "und": ""}


@dataclass(frozen=True, slots=True)
class CellShown:
    """The judgments of a judge under one condition. tone : shade of the mean, -1 without a rating"""

    words: str
    tone: int
    said: str = ""


@dataclass(frozen=True, slots=True)
class JudgeShown:
    """A judge's ratings as a table.

    rows : (name, cells), none where they are shown on request; columns : their names, one empty name where there is one
    part : of the conditions, where not all are shown
    tilt, apart : delta and the distances from pools in words; other_scale : it answers on a scale that nobody declared
    """

    judge: str
    mean: str
    strip: Strip
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[CellShown | None, ...]], ...]
    missing: int
    count: int
    tilt: str = ""
    other_scale: bool = False
    part: Part | None = None
    apart: str = ""


@dataclass(frozen=True, slots=True)
class PoolShown:
    """A pool's answers. levels : (name, count or share in words, share)"""

    pool: str
    colour: int
    strip: Strip
    levels: tuple[tuple[str, str, str], ...]
    consensus: str
    n: str


@dataclass(frozen=True, slots=True)
class QuestionShown:
    """One question about the item.

    together : conditions with a cell for each judge, where that is one table that can be read; else empty
    """

    id: str
    texts: tuple[Worded, ...]
    scale: str
    level_names: tuple[str, ...]
    pools: tuple[PoolShown, ...]
    judges: tuple[JudgeShown, ...]
    facts: tuple[Fact, ...]
    distribution_known: bool
    normalised: bool
    together: tuple[tuple[str, tuple[CellShown | None, ...]], ...]
    open: bool
    main: bool


@dataclass(frozen=True, slots=True)
class TryShown:
    """One call; every text is untrusted. when, tokens, seconds : in words, empty where unknown"""

    call: Try
    kind: str
    when: str
    more: str
    text: str
    reasoning: str
    cut: bool


@dataclass(frozen=True, slots=True)
class RepliesShown:
    """The calls of one judge in one source; ``tries`` is empty where they are shown on request."""

    title: str
    judge: str
    count: int
    tries: tuple[TryShown, ...]
    key: str
    part: Part | None = None


def item_fields(room: Room, cards: Cards, item: Item, number: int, opened: Opened) -> dict[str, Any]:
    """The fields of the template."""
    numbers = cards.numbers
    questions = [_question(cards, one, number, opened) for one in answers_about(numbers, item.id)]
    questions.sort(key=lambda one: not one.main)
    members = [numbers.shelf.places[name] for name in numbers.shelf.pairs.get(item.pair or "", ()) if name != item.id]
    tables = {place: _table(room, numbers, place) for place in range(len(numbers.sources))}
    found = replies_about(numbers, item.id, tables)
    (card,), columns = cards.of([number]), _columns(cards, item)
    return {
        "card": card,
        "picture_named": "image" in dict(columns),
        "picture_shown": card.pictured and can_be_shown(thumbnails_of(room), numbers.shelf, item.id),
        "languages": _languages(item),
        "questions": questions,
        "members": cards.of(members),
        "columns": columns,
        "replies": [shown for one in found for shown in _replies(one, opened, cards.lang)],
        "several": len(found) > 1,
        "notes": cards.notes,
        "controls": cards.controls,
        "without_corpus": numbers.shelf.corpus is None,
    }


def _table(room: Room, numbers: ShelfNumbers, place: int) -> TableAnswers | None:
    """What the file of a source holds of replies, read once."""

    def read() -> TableAnswers | None:
        return table_answers(numbers.sources[place], numbers.shelf.folder)

    return room.kept.get(("replies", numbers.shelf.slug, place), read)


def _languages(item: Item) -> list[dict[str, str]]:
    """The item's wordings language by language: what is asked, what is rated, what the picture shows."""
    codes = dict.fromkeys([*item.prompts, *item.texts, *item.alts])
    return [
        {
            "code": "" if code == "und" else code,
            "name": NATIVE.get(code, code),
            "prompt": item.prompts.get(code, ""),
            "text": item.texts.get(code, ""),
            "alt": item.alts.get(code, ""),
        }
        for code in codes
    ]


def _columns(cards: Cards, item: Item) -> list[tuple[str, str]]:
    """Further columns of the items table, as they were given."""
    table, place = cards.numbers.shelf.table, cards.numbers.shelf.places[item.id] - 1
    told = ("item_id", "prompt", "text", "alt")
    row = table.row(place, named=True)
    return [
        (name, str(cell))
        for name, cell in row.items()
        if cell not in (None, "") and name not in told and not name.startswith(("prompt.", "text.", "alt."))
    ]


def _question(cards: Cards, answers: QuestionAnswers, number: int, opened: Opened) -> QuestionShown:
    scale = answers.scale
    ends = (0.0, 1.0) if answers.normalised else _ends(scale)
    width = None if ends is None else ends[1] - ends[0]
    main = answers.question.id == cards.asked.question
    pools = tuple(_pool(cards, k, pool, width, ends) for k, pool in enumerate(answers.pools) if pool.has)
    row = cards.rows([number])[0] if main else {}
    apart = _apart(cards, answers.question.id, number, row)
    foreign = _other_scale(cards, answers.question.id)
    whole = sum(len(judge.conditions) for judge in answers.judges) <= MOST_CELLS
    parts = [_part(judge, whole, opened) for judge in answers.judges]
    judges = tuple(
        replace(_judge(cards, judge, scale, row, foreign, part), apart=apart.get(judge.judge, ""))
        for judge, part in zip(answers.judges, parts, strict=True)
    )
    return QuestionShown(
        answers.question.id,
        tuple(Worded("" if code == "und" else code, said) for code, said in answers.question.text.items()),
        _scale_words(scale, cards.lang),
        next((tuple(level.name for level in pool.levels) for pool in answers.pools if pool.levels), ()),
        pools,
        judges,
        cards.facts(row) if main else (),
        any(pool.levels for pool in answers.pools),
        answers.normalised,
        _together(judges) if whole else (),
        answers.n_judgments <= MOST_OPEN,
        main,
    )


def _apart(cards: Cards, question: str, number: int, row: dict[str, Any]) -> dict[str, str]:
    """Judge -> its distances from the pools that are shown, in words. row : of the chosen question, else empty"""
    pools, said = cards.numbers.pools(question), cards.numbers.judged(question).said
    if pools is None or said is None:
        return {}
    shown = cards.shown(pools, row) if row else range(min(len(pools.pools), MOST_STRIPS))
    far, over = distances_of_item(pools, said, number - 1)
    return {judge: cards.apart_words(pools, far[j], over[j], shown) for j, judge in enumerate(said.judges)}


def _part(judge: JudgeAnswers, whole: bool, opened: Opened) -> Part | None:
    """Which conditions of a judge are shown: all of them (None) where they are few, else some of the judge asked for.

    An empty part has its last place before its first.
    """
    if whole:
        return None
    if judge.judge != opened.ratings:
        return Part(1, 0, 0, 0)
    return Part.of(len(judge.conditions), CELLS_A_PART, opened.part)


def _together(judges: Sequence[JudgeShown]) -> tuple[tuple[str, tuple[CellShown | None, ...]], ...]:
    """One table of several judges without designs; empty where there are too many for that."""
    if not 1 < len(judges) <= MOST_JUDGES or any(len(judge.columns) > 1 for judge in judges):
        return ()
    cells = [{name: row[0] for name, row in judge.rows} for judge in judges]
    names = tuple(dict.fromkeys(name for own in cells for name in own))
    return () if len(names) > MOST_ROWS else tuple((name, tuple(own.get(name) for own in cells)) for name in names)


def _scale_words(scale: Scale, lang: str) -> str:
    """The scale as a report names it."""
    told = {"level": scale.level, "low": scale.low, "high": scale.high, "labels": scale.labels}
    return Words(lang).scale({**told, "positive": scale.positive, "scale": str(scale)})


def _ends(scale: Scale) -> tuple[float, float] | None:
    if scale.nominal or scale.low is None or scale.high is None:
        return (0.0, 1.0) if scale.binary else None
    return float(scale.low), float(scale.high)


def _pool(cards: Cards, k: int, pool: PoolAnswers, width: float | None, ends: tuple[float, float] | None) -> PoolShown:
    consensus = said_number(pool.consensus, width)
    levels = tuple(
        (level.name, f"{level.share:.0%}" if level.count is None else str(level.count), f"{level.share:.0%}")
        for level in pool.levels
    )
    counted = ", ".join(f"{name}: {count}" for name, count, _ in levels)
    key = "pool_shares" if counted else "pool_consensus"
    said = cards.said(key, pool=pool.pool, value=consensus or cards.said("none"), shares=counted)
    mark = None if levels else place_on(pool.consensus, ends)
    strip = Strip(pool.pool, colour(k), said, bars_of_levels(pool.levels), mark, (), consensus)
    return PoolShown(pool.pool, colour(k), strip, levels, consensus, "" if pool.n is None else str(pool.n))


def _other_scale(cards: Cards, question: str) -> frozenset[str]:
    """The judges that answer on a scale that nobody declared."""
    said = cards.numbers.judged(question).said
    return frozenset() if said is None else said.rank_only


def _judge(
    cards: Cards, judge: JudgeAnswers, scale: Scale, row: dict[str, Any], foreign: frozenset[str], part: Part | None
) -> JudgeShown:
    ends = None if judge.judge in foreign else _ends(scale)
    width = None if ends is None else ends[1] - ends[0]
    conditions = list(judge.conditions.items())
    shown = conditions if part is None else conditions[part.first - 1 : part.last]
    columns, rows = _arranged({name: _cell(cards, name, answers, scale, ends) for name, answers in shown})
    values = [answer.value for answers in judge.conditions.values() for answer in answers if answer.value is not None]
    shares, names = shares_of(values, scale)
    mean = "" if scale.nominal else said_number(judge.mean, width)
    said = cards.said(
        "judge_ratings",
        judge=judge.judge,
        shares=", ".join(f"{n}: {s:.0%}" for n, s in zip(names, shares, strict=True)),
    )
    strip = Strip(judge.judge, -1, said, bars_of(shares, names), None, (), mean)
    missing = judge.without_rating
    tilt = cards.tilt_words(row, judge.judge)
    return JudgeShown(
        judge.judge, mean, strip, columns, rows, missing, len(values) + missing, tilt, judge.judge in foreign, part
    )


def _cell(
    cards: Cards, condition: str, answers: Sequence[Answer], scale: Scale, ends: tuple[float, float] | None
) -> CellShown:
    words = [
        _rating(answer.value, scale) if answer.value is not None else _status(answer.status, cards.lang)
        for answer in answers[:MOST_REPEATS]
    ]
    words += ["…"] if len(answers) > MOST_REPEATS else []
    values = [answer.value for answer in answers if answer.value is not None]
    mean = sum(values) / len(values) if values else None
    return CellShown(" · ".join(words), -1 if mean is None else tone(mean, ends), condition)


def _rating(value: float, scale: Scale) -> str:
    if scale.labels and value in scale.level_values:
        return scale.labels[scale.level_values.index(value)]
    return plain(value)


def _status(status: str, lang: str) -> str:
    key = f"room_items.status.{status}"
    return text(key, lang) if has(key, lang) else status


def _arranged(
    cells: dict[str, CellShown],
) -> tuple[tuple[str, ...], tuple[tuple[str, tuple[CellShown | None, ...]], ...]]:
    """Conditions in rows; those of designs (``neutral_en/aa``) with a column for each design."""
    split = {name: name.rpartition("/") for name in cells}
    columns = tuple(dict.fromkeys(tail for _, _, tail in split.values()))
    heads = tuple(dict.fromkeys(head for head, _, _ in split.values()))
    if not all(head for head in heads) or len(columns) < 2:
        return ("",), tuple((name, (cell,)) for name, cell in cells.items())
    rows = tuple((head, tuple(cells.get(f"{head}/{tail}") for tail in columns)) for head in heads)
    return columns, rows


def _replies(found: Replies, opened: Opened, lang: str) -> list[RepliesShown]:
    """Judge by judge; all at once where they are few, else a part of those of the judge that is asked for."""
    few = found.read(None, 0) if sum(found.counts.values()) <= MOST_TRIES else ()
    shown = []
    for judge, count in found.counts.items():
        key = f"{found.title}/{judge}"
        asked = key == opened.replies
        part = Part.of(count, MOST_TRIES, opened.part) if asked and count > MOST_TRIES else None
        calls = [call for call in few if call.judge == judge]
        if asked and not calls:
            calls = list(found.read(judge, 0 if part is None else part.first - 1))
        tries = tuple(_call(call, lang, whole=asked) for call in calls)
        shown.append(RepliesShown(found.title, judge, count, tries, key, part))
    return shown


def _call(call: Try, lang: str, *, whole: bool) -> TryShown:
    most = None if whole else MOST_LETTERS
    cut = call.longer or (most is not None and max(len(call.text), len(call.reasoning)) > most)
    when = "" if call.at is None else datetime.fromtimestamp(call.at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    more = []
    if call.status is not None:
        more.append(f"HTTP {call.status}")
    if call.seconds is not None:
        more.append(f"{call.seconds:.1f} s")
    if call.tokens_in is not None or call.tokens_out is not None:
        more.append(text("room_items.tokens", lang, sent=call.tokens_in or 0, received=call.tokens_out or 0))
    if call.cost:
        more.append(f"{call.cost:.6f} USD")
    key = f"room_items.attempt.{call.kind}"
    kind = text(key, lang) if has(key, lang) else call.kind
    return TryShown(call, kind, when, " · ".join(more), call.text[:most], call.reasoning[:most], cut)
