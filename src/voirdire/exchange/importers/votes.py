"""Tables of votes between two things: a row or record names the two, the voter and the winner.

In general two columns hold the things (``model_a, model_b``; ``left, right``; ``a, b``; ...), one the winner and one
the voter. LMSYS Chatbot Arena is one of them: question_id, model_a, model_b, winner (model_a | model_b | tie |
tie (bothbad)), judge, conversation_a, conversation_b, turn, anony, language, tstamp, as ``clean_battle_data.py`` of
FastChat (Apache-2.0) writes it, where a vote for the left side is one for model_a.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.corpus.columns import normal
from voirdire.corpus.corpus import Note
from voirdire.errors import InputError, UsageError
from voirdire.exchange.importers.account import MISSING, Account
from voirdire.exchange.importers.cells import JUDGMENTS, cell, question, utc
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables
from voirdire.exchange.importers.judged import NONE
from voirdire.exchange.importers.judged import row as judgment
from voirdire.exchange.importers.mtbench import is_mtbench
from voirdire.exchange.importers.pairwise_things import (
    FROM_0,
    LABELS,
    NAMES,
    PLACES,
    Items,
    Side,
    conversations,
    is_number,
    two_meanings,
    until_turn,
    vote_of,
)
from voirdire.exchange.importers.people import names_a_person
from voirdire.exchange.importers.published import first_of, given_name, records_of
from voirdire.exchange.importers.records import ID, Record
from voirdire.exchange.importers.said_sides import say_sides
from voirdire.exchange.importers.tables import RATINGS, frame

PAIRS = (
    *(("model_a", "model_b"), ("model_1", "model_2"), ("left", "right"), ("option_a", "option_b")),
    *(("system_a", "system_b"), ("player_a", "player_b"), ("a", "b"), ("first", "second")),
)
WINNER = ("winner", "vote", "preference", "preferred", "choice", "winner_model")
VOTER = ("judge", "voter", "rater_id", "rater", "annotator_id", "annotator", "worker_id", "worker", "user_id", "user")
ITEM = ("question_id", "item_id", "prompt_id", "item", "id", "task", "question")
ARENA = frozenset(("model_a", "model_b", "winner", "judge", "anony", "tstamp"))
LEFT_FIRST = ("left", "right")
LONG = ("conversation_a", "conversation_b", "openai_moderation", "toxic_chat_tag")


@dataclass(frozen=True)
class Names:
    """The file's names of the columns; empty where it has none."""

    a: str
    b: str
    winner: str
    voter: str
    item: str
    turn: str = "turn"

    def __contains__(self, name: str) -> bool:
        return name in (self.a, self.b, self.winner, self.voter, self.item)


@dataclass
class _Found:
    rows: list[dict[str, Any]] = field(default_factory=list)
    items: Items = field(default_factory=Items)
    voters: Counter[str] = field(default_factory=Counter)
    named: bool = False
    ordered: bool = False
    judged: bool = False
    means: str | None = None
    numbers: dict[str, Record] = field(default_factory=dict)
    unclear: InputError | None = None


def recognise(path: Path) -> Recognition:
    """Two columns of things and one called winner, or vote, or the like; votes of MT-Bench are another format."""
    first = first_of(path)
    if is_mtbench(first):
        return NO
    found = {normal(name) for name in first}
    return YES if any({a, b} <= found for a, b in PAIRS) and found & set(WINNER) else NO


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """The votes of every file."""
    asked = options.setting("question", default="preference") or "preference"
    order = options.setting("order", ("shown", "unknown"))
    found = _Found(judged=_judged(options), means=options.setting("winner", (NAMES, PLACES, FROM_0)))
    for path in paths:
        names: Names | None = None
        for record in records_of(path, account):
            names = names or _columns(record, options)
            with account.record(record):
                _vote(record, names, asked, order, found, account)
    _check(found, ", ".join(map(str, paths)))
    say_sides(found.rows, found.items.rows.values())
    if found.judged:
        return _judgments(found, asked)
    slots = bool(found.rows) and not found.voters
    return Tables(
        ratings=frame(_slots(found.rows) if slots else found.rows, RATINGS),
        items=frame(found.items.rows.values(), ("item_id", "a", "b")),
        questions=frame([question(asked, "pairwise", labels=LABELS)]),
        notes=_notes(found, slots),
        personal_ids=found.named,
        read={"anonymous_raters": True} if slots else {},
    )


def _judged(options: ImportOptions) -> bool:
    """Whether voters are judges. Raises UsageError for what only ratings of people have."""
    judged = options.setting("as", ("ratings", "judgments"), "ratings") == "judgments"
    of_people = (options.pools, options.pool_column, options.pool, options.raters)
    if judged and any(one for one in of_people):
        raise UsageError("importing.judged_options", form="votes")
    return judged


def _check(found: _Found, file: str) -> None:
    """Raises InputError where the votes as a whole do not tell what they mean: no single record is broken then."""
    if found.unclear is not None:
        raise found.unclear
    if set(found.numbers) == {"1"} and found.means is None:
        at = found.numbers["1"]
        raise at.error("votes.only_1")
    if found.voters and any(row["rater_id"] is None for row in found.rows):
        raise InputError("research.votes.some_voters", file=file)


def _judgments(found: _Found, asked: str) -> Tables:
    """Votes of judges: a vote is a row, in the order in which the things were shown to the judge."""
    repeats: Counter[tuple[Any, ...]] = Counter()
    rows = []
    for vote in found.rows:
        more = {name: value for name, value in vote.items() if name not in RATINGS}
        cells = {"item_id": vote["item_id"], "judge": vote["rater_id"], "condition": NONE}
        key = (vote["item_id"], vote["rater_id"], vote["shown_first"])
        repeats[key] += 1
        rows.append(judgment(cells, asked, vote["rating"], repeat=repeats[key], **more))
    return Tables(
        judgments=frame(rows, JUDGMENTS),
        items=frame(found.items.rows.values(), ("item_id", "a", "b")),
        questions=frame([question(asked, "pairwise", labels=LABELS)]),
        notes=_notes(found, slots=False),
    )


def _columns(record: Record, options: ImportOptions) -> Names | None:
    """The columns by their names, or as they were mapped; None for a record that is no object.

    Raises InputError where one that is needed is missing.
    """
    if not isinstance(record.value, dict):
        return None
    known = {normal(name): name for name in reversed(record.value)}
    pair = next(((a, b) for a, b in PAIRS if {a, b} <= set(known)), ("", ""))
    names = {"a": known.get(pair[0], ""), "b": known.get(pair[1], "")}
    for ours, theirs in (("winner", WINNER), ("voter", VOTER), ("item", ITEM)):
        names[ours] = next((known[name] for name in theirs if name in known), "")
    for ours, mapped in options.mapping.items():
        if mapped not in record.value:
            raise _unclear(record, mapped)
        names[ours] = mapped
    lacking = [name for name in ("a", "b", "winner") if not names[name]]
    if lacking:
        raise _unclear(record, ", ".join(lacking))
    return Names(**names)


def _unclear(record: Record, value: str) -> InputError:
    known = ", ".join(map(str, record.value))
    return InputError("research.votes.columns", file=record.file, value=value, known=known)


def _vote(record: Record, names: Names | None, asked: str, order: str | None, found: _Found, account: Account) -> None:
    account.read()
    if names is None:
        raise record.error("importing.field_kind", "", record.value, wanted=dict)
    first, second = record.need(names.a, ID), record.need(names.b, ID)
    if first == second:
        raise record.error("research.votes.same", names.b, second)
    arena = set(record.value) >= ARENA
    turn = None if arena or not names.item else record.may(names.turn, ID)
    item = record.need(names.item, ID) if names.item else ""
    voter = record.need(names.voter or "judge", ID) if names.voter or found.judged else None
    word = cell(record.value.get(names.winner))
    if word is None:
        account.left(MISSING, at=record)
        return
    given = _given(record, names.winner, word, (first, second), found)
    side = Side.of(item if turn is None else f"{item} turn {turn}", first, second)
    found.items.add(side, _described(record, side, item, turn), record)
    shown = order == "shown" or (order is None and (arena or normal(names.a) in LEFT_FIRST))
    found.ordered = found.ordered or shown
    found.named = found.named or names_a_person(names.voter)
    row = {"item_id": side.item, "rater_id": voter, "question": asked, "rating": side.vote(given)}
    more = _more(record.value, names, word)
    row |= {"shown_first": side.first if shown else None} | more
    if turn is not None:
        row.pop("turn", None)
    found.voters.update([voter] if voter is not None else [])
    found.rows.append(row)
    account.took()


def _given(record: Record, name: str, word: str, things: tuple[str, str], found: _Found) -> str:
    """The vote. A word that does not tell its meaning makes the whole table unclear, also with --skip-broken."""
    first, second = things
    given = vote_of(word, first, second, found.means)
    number = is_number(word) and (word not in things or found.means not in (None, NAMES))
    if found.means is None and two_meanings(word, first, second):
        found.unclear = found.unclear or record.error("votes.two_meanings", name, word, first=first, second=second)
    elif number and given is None:
        found.unclear = found.unclear or record.error("votes.code", name, word)
    elif given is None:
        raise record.error("research.votes.winner", name, word, first=first, second=second)
    if number:
        found.numbers.setdefault(word.strip(), record)
    return given or ""


def _described(record: Record, side: Side, item: str, turn: str | None) -> dict[str, Any]:
    """What is known of an item; of a turn, the conversation as far as it."""
    if turn is None:
        return conversations(record, side)
    told = until_turn(record, int(turn)) if turn.isascii() and turn.isdigit() else record
    return {"question_id": item, "turn": turn, **conversations(told, side)}


def _more(value: Mapping[str, Any], names: Names, word: str) -> dict[str, Any]:
    """Further columns: the time as ``at``, the kind of a tie where the word tells one; long texts stay out."""
    plain = {name: one for name, one in value.items() if name not in names and name not in (*LONG, "tstamp")}
    more = {given_name(name): one for name, one in plain.items() if not isinstance(one, dict | list)}
    kind = {"given": word} if "(" in word or "bad" in word else {}
    return {"at": utc(value.get("tstamp")), **kind, **more}


def _slots(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Votes of nobody in particular: places within an item."""
    places: Counter[str] = Counter()
    made = []
    for row in rows:
        places[row["item_id"]] += 1
        made.append({**row, "rater_id": f"slot {places[row['item_id']]}"})
    return made


def _notes(found: _Found, slots: bool) -> tuple[Note, ...]:
    notes = [Note("research.votes.slots")] if slots else []
    notes.append(Note("research.votes.ordered" if found.ordered else "research.votes.unordered"))
    return tuple(notes)


IMPORTER = Importer(
    "votes",
    "research.votes.title",
    recognise,
    read=read,
    settings={
        "question": "research.votes.settings.question",
        "order": "research.votes.settings.order",
        "winner": "votes.settings.winner",
        "as": "votes.settings.as",
    },
    maps={
        "a": "research.votes.maps.a",
        "b": "research.votes.maps.b",
        "winner": "research.votes.maps.winner",
        "voter": "research.votes.maps.voter",
        "item": "research.votes.maps.item",
    },
)
