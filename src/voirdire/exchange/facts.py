"""What the tables of a release say by themselves: counts, pools, questions, languages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from voirdire.corpus.questions import listed_labels
from voirdire.exchange.release import Release

DESCRIBING = ("culture", "category", "split")
MOST_LEVELS = 24
_LANGUAGE = re.compile(r"(?:prompt|text|alt)\.([A-Za-z]{2,3}(?:-[A-Za-z0-9]+)*)")
_CODE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")


@dataclass(frozen=True)
class PoolFacts:
    """One pool.

    raters : how many people rated (slots where raters mean nobody); ratings : given, without empty ones
    least, median, most : ratings an item and question, where there are any
    means : rows that are the pool's own means
    """

    name: str
    raters: int
    ratings: int
    least: int
    median: float
    most: int
    means: int


@dataclass(frozen=True)
class QuestionFacts:
    """One question, as far as the questions table says.

    text : language -> wording; scale : its level, its ends and its labels
    """

    id: str
    role: str = ""
    text: Mapping[str, str] = field(default_factory=dict)
    scale: tuple[str, tuple[float, float] | None, tuple[str, ...]] = ("", None, ())


@dataclass(frozen=True)
class Facts:
    """What the tables say.

    counts : column -> level -> items, for culture, category and split
    ratings, missing : answers, and rows without one
    """

    items: int
    pairs: int
    counts: Mapping[str, Mapping[str, int]]
    pools: tuple[PoolFacts, ...]
    questions: tuple[QuestionFacts, ...]
    ratings: int
    missing: int
    languages: tuple[str, ...]
    judges: tuple[str, ...]
    judgments: int


def facts_of(release: Release) -> Facts:
    """Count what is in the tables of a release."""
    items, ratings = release.tables["items"], release.tables["ratings"]
    judgments = release.tables.get("judgments", pl.DataFrame())
    return Facts(
        items=items.height,
        pairs=items["pair_id"].drop_nulls().n_unique() if "pair_id" in items.columns else 0,
        counts={name: _levels(items[name]) for name in DESCRIBING if _is_describing(items, name)},
        pools=tuple(_pool(name, ratings) for name in release.pools),
        questions=tuple(_questions(release)),
        ratings=ratings["rating"].count(),
        missing=ratings["rating"].null_count(),
        languages=languages_of(release),
        judges=tuple(judgments["judge"].drop_nulls().unique().sort()) if "judge" in judgments.columns else (),
        judgments=judgments.height,
    )


def languages_of(release: Release) -> tuple[str, ...]:
    """Languages as corpus.toml tells them, else those of the columns of texts."""
    told = [code for code in release.told.languages if _CODE.fullmatch(code)]
    if told:
        return tuple(dict.fromkeys(told))
    columns = [*release.tables["items"].columns, *release.tables.get("questions", pl.DataFrame()).columns]
    found = [match[1] for name in columns if (match := _LANGUAGE.fullmatch(name)) and match[1] != "und"]
    return tuple(dict.fromkeys(found))


def _is_describing(items: pl.DataFrame, name: str) -> bool:
    return name in items.columns and 0 < items[name].drop_nulls().n_unique() <= MOST_LEVELS


def _levels(column: pl.Series) -> dict[str, int]:
    counted = column.drop_nulls().cast(pl.String).value_counts(sort=True, name="n")
    return {str(level): int(n) for level, n in counted.sort("n", column.name, descending=[True, False]).iter_rows()}


def _pool(name: str, ratings: pl.DataFrame) -> PoolFacts:
    here = ratings.filter((pl.col("pool") == name) & pl.col("rating").is_not_null())
    people = here.filter(pl.col("rater_id").is_not_null())
    counts = people.group_by("item_id", "question").len()["len"]
    least, most, median = (counts.min(), counts.max(), counts.median()) if len(counts) else (0, 0, 0.0)
    return PoolFacts(
        name,
        people["rater_id"].n_unique(),
        people.height,
        int(least),  # type: ignore[arg-type]
        float(median),  # type: ignore[arg-type]
        int(most),  # type: ignore[arg-type]
        here.height - people.height,
    )


def _questions(release: Release) -> list[QuestionFacts]:
    rated = release.tables["ratings"]["question"].unique(maintain_order=True).to_list()
    declared = release.tables.get("questions")
    if declared is None:
        return [QuestionFacts(name) for name in rated]
    rows = {row["question"]: row for row in declared.iter_rows(named=True)}
    return [_question(name, rows.get(name, {})) for name in dict.fromkeys([*rows, *rated])]


def _question(name: str, row: Mapping[str, object]) -> QuestionFacts:
    texts = {key.partition(".")[2] or "und": str(value) for key, value in row.items() if _is_text(key) and value}
    scale = (str(row.get("level") or ""), _ends(row), listed_labels(str(row.get("labels") or "")))
    return QuestionFacts(name, str(row.get("role") or ""), texts, scale)


def _ends(row: Mapping[str, object]) -> tuple[float, float] | None:
    """The ends of a scale, where both are numbers."""
    try:
        return float(str(row.get("min"))), float(str(row.get("max")))
    except ValueError:
        return None


def _is_text(key: str) -> bool:
    return key == "text" or key.startswith("text.")
