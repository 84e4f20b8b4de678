"""Which columns and answers of raters go out, and what is told of each rater by them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from voirdire.annotation.nouns import NOT_APPLICABLE
from voirdire.corpus.judgments import STATUSES
from voirdire.errors import UsageError
from voirdire.exchange.anonymity import POOL
from voirdire.exchange.free_text import is_answer_text, is_free_text, is_identifier
from voirdire.exchange.release_tables import RATED, typed

STATUS_WORDS = frozenset({*STATUSES, NOT_APPLICABLE, "missing"})
"""What the column ``status`` of ratings may say, so that it is one of ours."""

TELLING = 0.1
"""A column of the ratings tells of raters when at least so many of them say mostly one thing in it."""


@dataclass(frozen=True)
class Chosen:
    """A table as it goes out.

    left_out : (table, column) that stays behind; written : whether words of raters' own are in what goes out
    """

    frame: pl.DataFrame
    left_out: tuple[tuple[str, str], ...] = ()
    written: bool = False


def chosen_columns(frame: pl.DataFrame, table: str, wanted: Sequence[str] | None, *, texts: bool) -> Chosen:
    """The columns of the ratings, or of the raters table, that are released.

    wanted : named columns; None for all that are neither free text nor names; texts : whether free text comes along

    Raises UsageError for a column that is not there, and for one of free text where that is not wanted.
    """
    always = _always(frame) if table == "ratings" else ("rater_id", POOL)
    further = [name for name in frame.columns if name not in always]
    written = [name for name in further if is_free_text(frame[name])]
    _check_wanted(wanted or (), frame, table, further, () if texts else written)
    names = [name for name in further if table == "raters" and is_identifier(frame[name])]
    kept = set(wanted) if wanted is not None else set(further) - set(written) - set(names)
    kept |= set(written) if texts else set()
    left = tuple((table, name) for name in further if name not in kept)
    shown = frame.select(name for name in frame.columns if name in always or name in kept)
    return Chosen(shown, left, bool(kept & set(written)))


def chosen_answers(frame: pl.DataFrame, labels: Mapping[str, Collection[str]], column: str, *, texts: bool) -> Chosen:
    """The rows of questions with answers to choose from; where raters wrote, rows stay behind unless texts are wanted.

    frame : with ``question``; labels : question -> declared answers; column : ``rating``, or ``label`` of the shares
    """
    if frame[column].dtype != pl.String:
        return Chosen(frame)
    cells = frame.select("question", column).drop_nulls().unique(maintain_order=True)
    by_question = cells.partition_by("question", as_dict=True, maintain_order=True)
    answers = {str(name): part[column].alias(str(name)) for (name,), part in by_question.items()}
    written = [name for name, given in answers.items() if is_answer_text(given, labels.get(name, ()))]
    if texts or not written:
        return Chosen(frame, written=bool(written))
    left = tuple(("shares" if column == "label" else "ratings", f"{column} ({name})") for name in written)
    return Chosen(typed(frame.filter(~pl.col("question").is_in(written))), left)


def without_counts(ratings: pl.DataFrame) -> Chosen:
    """The ratings with ``n`` in the rows of means alone: beside a person's rating it would count nobody."""
    if "n" not in ratings.columns:
        return Chosen(ratings)
    given = ratings.filter(pl.col("rater_id").is_not_null())["n"].count()
    frame = ratings.with_columns(n=pl.when(pl.col("rater_id").is_null()).then("n"))
    frame = frame if frame["n"].count() else frame.drop("n")
    return Chosen(frame, (("ratings", "n"),) if given else ())


def without_silent(ratings: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The ratings without those who answered nothing, whom nobody can be mistaken for; and how many they are."""
    answered = ratings.filter(pl.col("rating").is_not_null())["rater_id"].unique()
    silent = pl.col("rater_id").is_not_null() & ~pl.col("rater_id").is_in(answered.drop_nulls().implode())
    return ratings.filter(~silent), ratings.filter(silent)["rater_id"].n_unique()


def told_of_raters(raters: pl.DataFrame, ratings: pl.DataFrame) -> tuple[pl.DataFrame, list[str], dict[str, str]]:
    """What a release tells of each rater: one row a rater, the columns by which raters may be told apart, and those of
    them that stand in the ratings -> their names there.

    A further column of the ratings counts where at least a tenth of the raters say mostly one thing in it: a rater's
    value is then everything that they say in it, empty cells aside.
    """
    columns = [name for name in raters.columns if name not in ("rater_id", POOL) and not is_free_text(raters[name])]
    told, of_ratings = raters, {}
    rated = ratings.filter(pl.col("rater_id").is_not_null())
    for name in rated.columns:
        if name in _always(rated) or is_free_text(rated[name]) or not _tells(rated, name):
            continue
        own = f"ratings.{name}" if name in raters.columns else name
        said = pl.col(name).cast(pl.String).drop_nulls().unique().sort().str.join("\n").alias(own)
        each = rated.filter(pl.col(name).is_not_null()).group_by("rater_id").agg(said)
        told = told.join(each, on="rater_id", how="left", maintain_order="left")
        of_ratings[own] = name
    return told, [*columns, *of_ratings], of_ratings


def _tells(rated: pl.DataFrame, name: str) -> bool:
    counted = rated.filter(pl.col(name).is_not_null()).group_by("rater_id", name).len()
    each = counted.group_by("rater_id").agg(mostly=pl.col("len").max() * 2 > pl.col("len").sum())
    return bool(each.height) and int(each["mostly"].sum()) >= TELLING * each.height


def _always(ratings: pl.DataFrame) -> tuple[str, ...]:
    """Columns of the ratings that are released without asking; ``status`` where it says nothing but our words."""
    if "status" not in ratings.columns:
        return RATED
    said = set(ratings["status"].drop_nulls().cast(pl.String).str.to_lowercase())
    return RATED if said <= STATUS_WORDS else tuple(name for name in RATED if name != "status")


def _check_wanted(
    wanted: Sequence[str], frame: pl.DataFrame, table: str, further: Sequence[str], written: Collection[str]
) -> None:
    option = "--rater-columns" if table == "raters" else "--rating-columns"
    for name in wanted:
        if name not in frame.columns:
            raise UsageError("release.column_unknown", option=option, value=name, known=", ".join(further) or "-")
        if name in written:
            raise UsageError("release.column_written", option=option, value=name)
