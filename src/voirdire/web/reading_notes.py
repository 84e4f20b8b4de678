"""What must be known to read the numbers on pools: what is a median, what is drawn, what a correction cannot do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import polars as pl

from voirdire.analysis.profile import Profile
from voirdire.reporting.access import ALL, View
from voirdire.reporting.blocks import Text
from voirdire.reporting.words import Words
from voirdire.texts import text

WHOLE = "all"
MOST_R = 1.0
SPLITS = re.compile(r"\bsplits=(\d+)")


def reading_notes(profile: Profile, place: int, lang: str) -> tuple[Text, ...]:
    """Paragraphs for below the tables on pools of a question.

    place : of the question among those of the report, from 0
    """
    question = View(profile).questions[place]["id"]
    notes = tuple(_general(profile, question, lang))
    cautions = tuple(_corrected(profile, question, lang))
    return tuple(Text(sentences, style) for sentences, style in ((notes, "sub"), (cautions, "caution")) if sentences)


def _general(profile: Profile, question: str, lang: str) -> Iterator[str]:
    yield text("lead.reading.median", lang)
    for row in _rows(profile, "split_half", question):
        found = SPLITS.search(row["params"])
        if found and row["value"] is not None:
            yield text("lead.reading.splits", lang, splits=found[1])
            return


def _corrected(profile: Profile, question: str, lang: str) -> Iterator[str]:
    """A corrected correlation above 1, and one of a pool that does not pass the gate."""
    passed = {row["pool"] for row in _rows(profile, "gate", question) if (row["label"] or "").startswith("pass")}
    words = Words(lang, [pool["name"] for pool in profile.meta["pools"]])
    for row in _rows(profile, "disattenuated_r", question):
        if row["value"] is None:
            continue
        pair = (row["pool"], row["pool_b"])
        weak = [pool for pool in pair if pool not in passed]
        told = {"a": pair[0], "b": pair[1], "r": words.number("disattenuated_r", row["value"])}
        if row["value"] > MOST_R:
            yield text("lead.reading.above_one", lang, **told)
        elif weak:
            yield text("lead.reading.weak", lang, pools=words.list(weak), **told)


def _rows(profile: Profile, statistic: str, question: str) -> list[dict[str, Any]]:
    """The estimates of a statistic over all items."""
    wanted = (pl.col("statistic") == statistic) & (pl.col("question") == question) & (pl.col("slice") == WHOLE)
    return profile.estimates.filter(wanted & pl.col("judge").is_in(["", ALL])).to_dicts()
