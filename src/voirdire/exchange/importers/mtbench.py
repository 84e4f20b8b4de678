"""MT-Bench: votes of experts and authors, and GPT-4's judgments of the same pairs.

Three shapes: the records of ``lmsys/mt_bench_human_judgments`` (splits human and gpt4_pair; Parquet, JSONL or a JSON
array) with question_id, model_a, model_b, winner, judge, conversation_a, conversation_b, turn; and the file
``model_judgment/gpt-4_pair.jsonl`` of ``gen_judgment.py`` with model_1, model_2, g1_winner, g2_winner, judge, turn,
where the second game shows model_2 first. They are those of fastchat.llm_judge of FastChat (Apache-2.0): common.py
(play_a_match_pair) and compute_agreement.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.corpus.corpus import Note
from voirdire.exchange.importers.account import MISSING, Account
from voirdire.exchange.importers.cells import JUDGMENTS, cell, question, utc
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables, nearly
from voirdire.exchange.importers.judged import ERROR, MALFORMED, NONE, row, told_twice
from voirdire.exchange.importers.pairwise_things import (
    LABELS,
    Items,
    Side,
    conversations,
    until_turn,
    vote_of,
)
from voirdire.exchange.importers.published import first_of, records_of
from voirdire.exchange.importers.records import ID, Record
from voirdire.exchange.importers.said_sides import say_sides
from voirdire.exchange.importers.tables import RATINGS, frame

VOTES = frozenset(("question_id", "model_a", "model_b", "winner", "judge", "turn"))
GAMES = frozenset(("question_id", "model_1", "model_2", "g1_winner", "g2_winner", "judge"))
SINGLE = frozenset(("question_id", "model", "score", "judge", "judgment"))
PEOPLE = re.compile(r"(expert|author)_\w+")
FAILED, UNREADABLE = "$ERROR$", "error"
INCONSISTENT = "tie (inconsistent)"
GAME_FIRST = (("g1_winner", "g1_judgment", False), ("g2_winner", "g2_judgment", True))


@dataclass
class _Found:
    asked: str
    ratings: list[dict[str, Any]] = field(default_factory=list)
    judgments: list[dict[str, Any]] = field(default_factory=list)
    items: Items = field(default_factory=Items)
    inconsistent: int = 0


def is_mtbench(first: Mapping[str, Any]) -> bool:
    """Whether a first record is a vote or judgment of MT-Bench: by its fields and the kind of judge."""
    if set(first) >= GAMES:
        return True
    judge = first.get("judge")
    known = isinstance(judge, list) or (isinstance(judge, str) and (PEOPLE.fullmatch(judge) or "pair" in judge))
    return set(first) >= VOTES and bool(known)


def recognise(path: Path) -> Recognition:
    """Votes and judgments of pairs; judgments of single answers are explained."""
    first = first_of(path)
    if is_mtbench(first):
        return YES
    return nearly("research.mtbench.single") if set(first) >= SINGLE else NO


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """Votes as ratings, of the pools expert and author; judgments of models as judgments."""
    found = _Found(options.setting("question", default="preference") or "preference")
    for path in paths:
        for record in records_of(path, account):
            with account.record(record):
                games = isinstance(record.value, dict) and "g1_winner" in record.value
                (_games if games else _one)(record, found, account)
    say_sides(found.judgments, found.items.rows.values())
    notes = [Note("research.mtbench.inconsistent", {"count": found.inconsistent})] if found.inconsistent else []
    judgments = frame(_by_prompt(found.judgments), JUDGMENTS) if found.judgments else None
    if judgments is not None:
        notes += told_twice(judgments, "shown_first")
    return Tables(
        ratings=frame(found.ratings, RATINGS) if found.ratings else None,
        judgments=judgments,
        items=frame(found.items.rows.values(), ("item_id", "a", "b")),
        questions=frame([question(found.asked, "pairwise", labels=LABELS)]) if found.ratings else None,
        notes=tuple(notes),
    )


def _side(record: Record, first: str, second: str, found: _Found) -> Side:
    """The item of a question, a turn and two models, described by its first record."""
    turn = record.may("turn", int) or 1
    names = record.need(first, ID), record.need(second, ID)
    if names[0] == names[1]:
        raise record.error("research.votes.same", second, names[1])
    asked = record.need("question_id", ID)
    side = Side.of(f"{asked} turn {turn}", *names)
    said = conversations(until_turn(record, turn), side)
    found.items.add(side, {"question_id": asked, "turn": turn, **said}, record)
    return side


def _one(record: Record, found: _Found, account: Account) -> None:
    """A vote of a person, or a model's judgment with both orders taken together."""
    account.read()
    side = _side(record, "model_a", "model_b", found)
    judge, prompt = _judge(record)
    word = record.may("winner", str)
    if word is None:
        account.left(MISSING, at=record)
        return
    given = vote_of(word, side.b if side.turned else side.a, side.a if side.turned else side.b)
    if given is None:
        raise _winner(record, "winner", word)
    account.took()
    person = PEOPLE.fullmatch(judge)
    if person:
        cells = {"item_id": side.item, "rater_id": judge, "pool": person[1], "question": found.asked}
        found.ratings.append({**cells, "rating": side.vote(given)})
        return
    found.inconsistent += word == INCONSISTENT
    cells = {"item_id": side.item, "judge": judge, "condition": NONE}
    found.judgments.append(row(cells, found.asked, side.vote(given), given=word, prompt_name=prompt))


def _games(record: Record, found: _Found, account: Account) -> None:
    """A model's judgments of both orders."""
    side = _side(record, "model_1", "model_2", found)
    judge, prompt = _judge(record)
    cells = {"item_id": side.item, "judge": judge, "condition": NONE}
    for name, text, swapped in GAME_FIRST:
        account.read()
        word = record.need(name, str)
        said = cell(record.value.get(text))
        given = None if word == UNREADABLE else vote_of(word, "model_1", "model_2")
        if given is None and word != UNREADABLE:
            raise _winner(record, name, word)
        status = "ok" if given is not None else ERROR if said == FAILED else MALFORMED
        shown = {"a": "b", "b": "a"}[side.first] if swapped else side.first
        vote = None if given is None else side.vote(given)
        more: dict[str, Any] = {
            "shown_first": shown,
            "prompt_name": prompt,
            "raw": said,
            "at": utc(record.value.get("tstamp")),
        }
        found.judgments.append(row(cells, found.asked, vote, status, **more))
        account.took()


def _judge(record: Record) -> tuple[str, str | None]:
    """The judge and the name of the prompt: ``["gpt-4", "pair-v2"]``, or a name alone.

    The prompt mostly follows from the item (its category and turn), and is then no condition.
    """
    judge = record.value.get("judge")
    if isinstance(judge, list) and judge and all(isinstance(part, str) for part in judge):
        return judge[0], " ".join(judge[1:]) or None
    return str(record.need("judge", ID)), None


def _by_prompt(judgments: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The prompt is the condition after all where a judge was asked for one item with several."""
    prompts: dict[tuple[str, str], set[str | None]] = {}
    for one in judgments:
        prompts.setdefault((one["item_id"], one["judge"]), set()).add(one["prompt_name"])
    if all(len(names) == 1 for names in prompts.values()):
        return judgments
    return [{**one, "condition": one["prompt_name"] or NONE} for one in judgments]


def _winner(record: Record, name: str, word: str) -> Exception:
    return record.error("research.votes.winner", name, word, first="model_a", second="model_b")


IMPORTER = Importer(
    "mtbench",
    "research.mtbench.title",
    recognise,
    read=read,
    settings={"question": "research.votes.settings.question"},
)
