"""Statistics, splitting items, times and verdicts in words, for the lead's pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from pydantic import BaseModel

from voirdire.analysis.options import AuditOptions
from voirdire.analysis.profile import Profile
from voirdire.annotation.collected import Collected
from voirdire.annotation.progress import item_seconds
from voirdire.annotation.verdicts import VERDICTS, ItemVerdict, PoolAnswers
from voirdire.annotation.wording import said
from voirdire.corpus.shown import Item
from voirdire.reporting.access import View
from voirdire.reporting.verdicts import width_of
from voirdire.reporting.words import Words
from voirdire.texts import has, text
from voirdire.web.images import image_url
from voirdire.web.lead_view import duration
from voirdire.web.live import LIVE, STATISTICS_SECONDS, Standing, State
from voirdire.web.service import Service

MOST_SPLITS, MOST_TIMES = 6, 10


class StatisticsTold(BaseModel):
    """How it stands with a batch's statistics.

    event : number of the last change that they hold; running : newer ones are being computed
    behind : there are newer ratings; message : what is to be said instead of statistics, or about them
    """

    state: State
    event: int
    running: bool
    behind: bool
    message: str


def statistics_told(standing: Standing, lang: str) -> StatisticsTold:
    """The state of the statistics in words."""
    found = standing.statistics
    message = ""
    if found.state == "none":
        message = text("lead.statistics.computing", lang)
    elif found.state == "failed":
        message = text("lead.statistics.failed", lang)
    elif found.why is not None:
        message = text("lead.statistics.not_yet", lang, why=found.why.message(lang))
    elif found.profile is not None and found.collected is not None:
        ratings = sum(entry["rows_used"] for entry in found.profile.meta["intake"] if entry["table"] == "ratings")
        numbers = {"draws": LIVE.draws, "full": AuditOptions().draws, "seconds": round(STATISTICS_SECONDS)}
        message = text("lead.statistics.about", lang, ratings=ratings, **numbers)
    return StatisticsTold(
        state=found.state, event=found.event, running=standing.running, behind=standing.behind, message=message
    )


@dataclass(frozen=True, slots=True)
class Named:
    """An item for the lead's eyes: its id, what it asks or shows, its image."""

    id: str
    words: str
    image: str
    alt: str


@dataclass(frozen=True, slots=True)
class Split:
    """Items on which a pair of pools differ most."""

    about: str
    items: tuple[tuple[Named, str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Times:
    """Time per item: (item, median, ratings) of the slowest and of all."""

    slowest: tuple[tuple[Named, str, int], ...]
    rest: tuple[tuple[Named, str, int], ...]


def item_names(service: Service, lang: str) -> dict[str, Named]:
    """Every item of the corpus for the lead's eyes."""
    return {name: named(service, item, lang) for name, item in service.shown.items.items()}


def named(service: Service, item: Item, lang: str) -> Named:
    """An item for the lead's eyes."""
    image = image_url(service, item.id) if item.image is not None else ""
    alt = said(item.alts, lang) or text("lead.item_image", lang, item=item.id)
    return Named(item.id, _read(item.prompts, lang) or _read(item.texts, lang), image, alt)


def _read(texts: Mapping[str, str], lang: str) -> str:
    """A text in the lead's language, else in any."""
    return said(texts, lang) or next(iter(texts.values()), "")


def splitting(service: Service, profile: Profile, lang: str) -> list[Split]:
    """For each pair of pools the items whose means lie furthest apart."""
    if "gap" not in profile.items.columns:
        return []
    words, view = Words(lang, [pool["name"] for pool in profile.meta["pools"]]), View(profile)
    found = []
    for (question, a, b), part in profile.items.group_by("question", "pool", "pool_b", maintain_order=True):
        width = width_of(view, str(question))
        rows = [_split(service, row, (str(a), str(b)), words, width, lang) for row in part.head(MOST_SPLITS).to_dicts()]
        found.append(Split(text("lead.statistics.items_about", lang, question=question, a=a, b=b), tuple(rows)))
    return found


def _split(
    service: Service, row: Mapping[str, Any], pair: tuple[str, str], words: Words, width: float | None, lang: str
) -> tuple[Named, str, tuple[str, ...]]:
    gap = text("lead.statistics.gap", lang, gap=words.number("cross_pool_mad", abs(row["gap"]), width))
    means = []
    for pool in pair:
        value = row[f"consensus.{pool}"]
        shown = words.number("consensus_mean", value, width) if isinstance(value, float) else str(value)
        means.append(text("lead.statistics.mean", lang, pool=pool, mean=shown))
    return named(service, service.shown.items[row["item_id"]], lang), gap, tuple(means)


def timed(collected: Collected, names: Mapping[str, Named], lang: str) -> Times:
    """The median time on each item, the slowest first."""
    seconds = item_seconds(collected.answered("item"))
    medians = seconds.group_by("item_id").agg(pl.col("seconds").median(), pl.len()).sort("seconds", descending=True)
    rows = [
        (names[item], duration(median, lang), count) for item, median, count in medians.iter_rows() if item in names
    ]
    return Times(tuple(rows[:MOST_TIMES]), tuple(rows[MOST_TIMES:]))


def verdict_rows(service: Service, found: Sequence[ItemVerdict], lang: str) -> list[dict[str, Any]]:
    """The items of a pilot with what is suggested, why, and what was decided."""
    return [
        {
            "item": named(service, service.shown.items[one.item_id], lang),
            "place": place,
            "suggested": text(f"lead.verdict_name.{one.suggested}", lang),
            "verdict": one.verdict,
            "verdict_text": text(f"lead.verdict_name.{one.verdict}", lang),
            "gap": "" if one.gap is None else f"{one.gap:.1f}",
            "pools": [_pool_lines(pool, answers, lang) for pool, answers in one.pools.items()],
            "decided": one.decision is not None,
            "note": one.decision.note if one.decision else "",
            "choices": [
                (
                    verdict,
                    text(f"lead.verdict_name.{verdict}", lang),
                    one.decision is not None and one.verdict == verdict,
                )
                for verdict in VERDICTS
            ],
        }
        for place, one in enumerate(found, start=1)
    ]


def _pool_lines(pool: str, answers: PoolAnswers, lang: str) -> tuple[str, str, str]:
    """What a pool says: how many call the item usable, what is wrong, the numbers beside."""
    usable = answers.counts.get("usable", 0)
    head = text("lead.verdicts.pool_counts", lang, pool=pool, usable=usable, n=answers.n)
    wrong = [
        (text(f"lead.wrong.{why}", lang) if has(f"lead.wrong.{why}", lang) else why, n)
        for why, n in answers.reasons.items()
    ]
    separator = text("report.list_separator", lang)
    beside = []
    if answers.mean is not None:
        beside.append(text("lead.verdicts.mean", lang, mean=f"{answers.mean:.1f}"))
    if answers.subjective is not None:
        beside.append(text("lead.verdicts.subjective", lang, share=f"{answers.subjective:.0%}"))
    return head, separator.join(f"{name} {count}" for name, count in wrong), separator.join(beside)
