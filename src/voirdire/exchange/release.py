"""A release: what leaves the house of a corpus, made once and written in any form.

Rater ids are replaced, free texts of raters stay behind unless they are asked for, every rater looks like k - 1 others
in what is released of them, images are pictures inside the corpus folder under safe names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.corpus.belonging import NAMED, check_belongs, made_on
from voirdire.corpus.corpus import Note
from voirdire.corpus.folder import expand_corpus
from voirdire.corpus.intake import some
from voirdire.corpus.options import CorpusOptions
from voirdire.errors import InputError, UsageError
from voirdire.exchange.anonymity import DEFAULT_K, POOL, Anonymity, check_anonymity
from voirdire.exchange.free_text import naming_columns
from voirdire.exchange.ordering import in_order
from voirdire.exchange.pseudonyms import pseudonyms
from voirdire.exchange.release_columns import (
    chosen_answers,
    chosen_columns,
    told_of_raters,
    without_counts,
    without_silent,
)
from voirdire.exchange.release_images import Collector, Images, ReleaseImage
from voirdire.exchange.release_tables import TABLES, PoolTables, comments, judge_tables, pool_tables
from voirdire.exchange.told import Told, check_pools, read_told

Progress = Callable[[str, float], None]
WITH_RATERS = ("raters", "ratings", "comments")
SLOT = re.compile(r"(?i)slot[-_ ]?\d+")
"""The id of a place in a list, which may stay where the corpus says that its ids are places and not people."""


@dataclass(frozen=True)
class ReleaseOptions:
    """What goes into a release.

    judgments : a run folder, or a file of judgments
    text_of_raters : whether columns and answers of free text, and comments.csv, come along
    rater_columns : attributes of raters that come along; None: all that are no free text and tell not everyone apart
    rating_columns : further columns of the ratings that come along, such as ``seconds``
    k : the least number of raters who must look alike
    """

    judgments: Path | None = None
    text_of_raters: bool = False
    rater_columns: tuple[str, ...] | None = None
    rating_columns: tuple[str, ...] = ()
    k: int = DEFAULT_K


@dataclass(frozen=True)
class Release:
    """What is released.

    tables : by name, in the order of ``TABLES``; numbers are numbers, and rows are in an order of their own. A table
        without rows, as that of the raters where there are only means, is not among them
    anonymity : None where the raters are slots that mean nobody
    left_out : (table, column) that the corpus has and the release does not; answers to one question stand as
        ``rating (question)``
    read : how the ratings are read: ``missing_labels``, ``anonymous_raters``
    written : whether words of raters' own are in it; hidden : whether ids of people were replaced
    judged : what is known of the corpus that the judges were asked about (``made_on``)
    """

    told: Told
    tables: Mapping[str, pl.DataFrame]
    images: tuple[ReleaseImage, ...] = ()
    anonymity: Anonymity | None = None
    left_out: tuple[tuple[str, str], ...] = ()
    read: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    written: bool = False
    hidden: bool = True
    judged: Mapping[str, str] = field(default_factory=dict)

    @property
    def pools(self) -> list[str]:
        """The pools in the order of the ratings; those that are told of, where nothing of raters is released."""
        if "ratings" not in self.tables:
            return list(self.told.pools)
        return self.tables["ratings"][POOL].drop_nulls().unique(maintain_order=True).to_list()


def build_release(folder: Path, options: ReleaseOptions, secret: bytes, progress: Progress | None = None) -> Release:
    """Make the release of a corpus folder.

    secret : 32 random bytes that key the pseudonyms and are not kept

    Raises InputError for a corpus that cannot be read or an image that is none, and UsageError where raters would not
    be k-anonymous (it names the columns and the smallest group) and for columns that do not exist.
    """
    told = read_told(folder)
    expanded = expand_corpus(CorpusOptions(ratings=folder))
    pool = pool_tables(expanded)
    check_pools(told, pool.tables["ratings"][POOL].drop_nulls().unique(maintain_order=True).to_list(), folder)
    chosen = _gathered(pool, folder, options, anonymous=expanded.anonymous_raters)
    tables, notes = chosen.tables, [*chosen.notes, *_naming(chosen.tables, pool.tables["ratings"]["rater_id"])]
    anonymity = None if expanded.anonymous_raters else _anonymity(tables, options.k)
    images = Collector(folder, pool.item_file, pool.item_rows).collect(tables["items"], progress)
    judged = made_on(options.judgments)
    if options.judgments is not None:
        belongs = check_belongs(judged, expanded.frozen, options.judgments, meant=False)
        notes += [note for note in belongs if expanded.frozen is not None]
        _check_shown(tables["judgments"], images, options.judgments)
    if images.located:
        notes.append(Note("release.note.located", {"images": some(images.located)}, "warning"))
    slots = _slots(tables) if expanded.anonymous_raters else set()
    ordered = in_order(_pseudonymised(tables | {"items": images.items}, slots, secret))
    return Release(
        told,
        {name: ordered[name] for name in TABLES if name in ordered and ordered[name].height},
        images.files,
        anonymity,
        chosen.left_out,
        _read(expanded),
        tuple(notes),
        chosen.written,
        bool(_ids(tables) - slots),
        {name: judged[name] for name in NAMED if name in judged},
    )


def _read(expanded: CorpusOptions) -> dict[str, Any]:
    read = {"missing_labels": list(expanded.missing_labels), "anonymous_raters": expanded.anonymous_raters}
    return {name: value for name, value in read.items() if value}


@dataclass(frozen=True)
class _Gathered:
    tables: dict[str, pl.DataFrame]
    left_out: tuple[tuple[str, str], ...]
    written: bool
    notes: tuple[Note, ...]


def _gathered(pool: PoolTables, folder: Path, options: ReleaseOptions, *, anonymous: bool) -> _Gathered:
    """Every table with what is released of it. Of slots, which mean nobody, nothing is told unless it is named."""
    tables, texts = dict(pool.tables), options.text_of_raters
    of_slots = () if anonymous else None
    attributes = options.rater_columns if options.rater_columns is not None else of_slots
    answers = chosen_answers(tables["ratings"], pool.labels, "rating", texts=texts)
    if answers.frame.is_empty():
        written = some([name.removeprefix("rating (").removesuffix(")") for _, name in answers.left_out])
        raise UsageError("release.only_written", questions=written)
    heard, silent = (answers.frame, 0) if anonymous else without_silent(answers.frame)
    counted = without_counts(heard)
    ratings = chosen_columns(counted.frame, "ratings", options.rating_columns, texts=texts)
    rated = tables["raters"].join(ratings.frame.select("rater_id"), on="rater_id", how="semi", maintain_order="left")
    raters = chosen_columns(rated, "raters", attributes, texts=texts)
    tables |= {"ratings": ratings.frame, "raters": raters.frame}
    made = [raters, answers, counted, ratings]
    if "shares" in tables and {"question", "label"} <= set(tables["shares"].columns):
        made.append(chosen_answers(tables["shares"], pool.labels, "label", texts=texts))
        tables["shares"] = made[-1].frame
    said = comments(folder) if texts else None
    if said is not None:
        tables["comments"] = said
    if options.judgments is not None:
        tables |= judge_tables(options.judgments)
        _check_judged(tables, options.judgments)
    left = tuple(one for part in made for one in part.left_out)
    notes = (Note("release.note.silent", {"count": silent}),) if silent else ()
    return _Gathered(tables, left, said is not None or any(part.written for part in made), notes)


def _anonymity(tables: Mapping[str, pl.DataFrame], k: int) -> Anonymity:
    """Checks the raters with all that is released of them, also what their ratings say again and again."""
    people, columns, of_ratings = told_of_raters(tables["raters"], tables["ratings"])
    return check_anonymity(people, columns, k, of_ratings)


def _check_judged(tables: Mapping[str, pl.DataFrame], source: Path) -> None:
    """InputError for judgments of items that the corpus does not have: they belong to another corpus."""
    judged, known = tables["judgments"], tables["items"]["item_id"]
    if "item_id" not in judged.columns:
        shown = ", ".join(judged.columns[:20])
        raise InputError("input.column_missing", file=str(source), column="item_id", value=shown)
    strange = judged.filter(~pl.col("item_id").is_in(known.implode()))["item_id"].drop_nulls().unique().sort()
    if len(strange):
        raise InputError("release.judged_unknown", file=str(source), count=len(strange), items=some(strange))


def _check_shown(judged: pl.DataFrame, images: Images, source: Path) -> None:
    """InputError where a judge saw another image than the item has now; a run notes the sha256 of each."""
    if "image_sha256" not in judged.columns or not images.files:
        return
    digests = {image.path: image.sha256 for image in images.files}
    now = images.items.select("item_id", pl.col("image").replace_strict(digests, default=None, return_dtype=pl.String))
    seen = judged.filter(pl.col("image_sha256").is_not_null()).select("item_id", "image_sha256").unique()
    other = seen.join(now, on="item_id").filter(pl.col("image") != pl.col("image_sha256")).sort("item_id")
    if other.height:
        raise InputError("release.judged_image", file=str(source), count=other.height, items=some(other["item_id"]))


def _naming(tables: Mapping[str, pl.DataFrame], people: pl.Series) -> list[Note]:
    """Warnings for columns outside the ratings in which a cell is the id of a rater."""
    ids = people.drop_nulls().unique().to_list()
    found = []
    for table, frame in tables.items():
        inner = frame.drop("rater_id", strict=False) if table in WITH_RATERS else frame
        found += [f"{table}.{name}" for name in naming_columns(inner, ids)]
    return [Note("release.note.naming", {"columns": ", ".join(found)}, "warning")] if found else []


def _ids(tables: Mapping[str, pl.DataFrame]) -> set[str]:
    return {str(one) for name in WITH_RATERS if name in tables for one in tables[name]["rater_id"].drop_nulls()}


def _slots(tables: Mapping[str, pl.DataFrame]) -> set[str]:
    return {name for name in _ids(tables) if SLOT.fullmatch(name)}


def _pseudonymised(tables: Mapping[str, pl.DataFrame], slots: set[str], secret: bytes) -> dict[str, pl.DataFrame]:
    """Every rater under a pseudonym; slots, which mean nobody, keep their names."""
    named = pseudonyms(_ids(tables) - slots, secret) | {name: name for name in slots}
    made = dict(tables)
    for name in WITH_RATERS:
        if name in tables and named:
            hidden = pl.col("rater_id").replace_strict(named, default=None, return_dtype=pl.String)
            made[name] = tables[name].with_columns(hidden)
    return made
