"""Sheets of tallies: a line an item, ``item: who=rating, who=rating``, below a first line ``#tally QUESTION``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from voirdire.exchange.importers.account import MISSING, Account
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables, nearly
from voirdire.exchange.importers.records import Record, head_of, read_text
from voirdire.exchange.importers.tables import ITEMS, QUESTIONS, RATINGS, frame, question

SKIPPED = "the rater had passed the item on"


def recognise(path: Path) -> Recognition:
    head = head_of(path, 200)
    if head.startswith("#tally "):
        return YES
    return nearly("this is a tally of version 0; say: tally upgrade FILE") if head.startswith("#tally0") else NO


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    rows, items = [], []
    for path in paths:
        lines = read_text(path).splitlines()
        asked = lines[0].removeprefix("#tally ")
        for number, line in enumerate(lines[1:], start=2):
            record = Record(line, str(path), number)
            with account.record(record):
                found = _line(record, asked, options, account)
                rows += found
                items.append({"item_id": line.split(":")[0], "text.en": f"the item {line.split(':')[0]}"})
    asked_of = question(asked, "ordinal", 1, 5, text={"en": "How many?"})
    return Tables(frame(rows, RATINGS), frame(items, ITEMS), frame([asked_of], QUESTIONS))


def _line(record: Record, asked: str, options: ImportOptions, account: Account) -> list[dict[str, str]]:
    item, colon, answers = record.value.partition(":")
    if not colon:
        raise record.wrong("line", record.value, "there is no colon")
    found = []
    for answer in answers.split(","):
        who, _, rating = answer.strip().partition("=")
        account.read()
        if rating == "pass" and not options.flag("passed"):
            account.left(SKIPPED, at=record)
        elif not rating:
            account.left(MISSING, at=record)
        else:
            account.took()
            found.append({"item_id": item, "rater_id": who, "question": asked, "rating": rating})
    return found


IMPORTER = Importer("tally", "sheets of tallies", recognise, read=read, settings={"passed": "take items passed on"})
