"""A release: what leaves the house of a corpus, made once and written in any form.

Rater ids are replaced, free texts of raters stay behind unless they are asked for, every rater looks like k - 1 others
in what is released of them, images are pictures inside the corpus folder under safe names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.corpus.belonging import check_belongs, made_on
from voirdire.corpus.corpus import Note
from voirdire.corpus.folder import expand_corpus
from voirdire.corpus.intake import some
from voirdire.corpus.options import CorpusOptions
from voirdire.errors import InputError, UsageError
from voirdire.exchange.anonymity import DEFAULT_K, POOL, Anonymity, check_anonymity
from voirdire.exchange.free_text import is_free_text, is_identifier, naming_columns
from voirdire.exchange.ordering import in_order
from voirdire.exchange.pseudonyms import pseudonyms
from voirdire.exchange.release_images import Collector, Images, ReleaseImage
from voirdire.exchange.release_tables import RATED, TABLES, comments, judge_tables, pool_tables
from voirdire.exchange.told import Told, check_pools, read_told

Progress = Callable[[str, float], None]
WITH_RATERS = ("raters", "ratings", "comments")
_SLOT = re.compile(r"(?i)slot[-_ ]?\d+$")


@dataclass(frozen=True)
class ReleaseOptions:
    """What goes into a release.

    judgments : a run folder, or a file of judgments
    text_of_raters : whether columns of free text, and comments.csv, come along
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
    left_out : (table, column) that the corpus has and the release does not
    read : how the ratings are read: ``missing_labels``, ``anonymous_raters``
    """

    told: Told
    tables: Mapping[str, pl.DataFrame]
    images: tuple[ReleaseImage, ...] = ()
    anonymity: Anonymity | None = None
    left_out: tuple[tuple[str, str], ...] = ()
    read: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

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
    tables, lost = _gathered(pool.tables, folder, options)
    anonymity = None if expanded.anonymous_raters else _anonymity(tables, options.k)
    notes = _naming(tables)
    images = Collector(folder, pool.item_file, pool.item_rows).collect(tables["items"], progress)
    if options.judgments is not None:
        belongs = check_belongs(made_on(options.judgments), expanded.frozen, options.judgments, meant=False)
        notes += [note for note in belongs if expanded.frozen is not None]
        _check_shown(tables["judgments"], images, options.judgments)
    if images.located:
        notes.append(Note("release.note.located", {"images": some(images.located)}, "warning"))
    ordered = in_order(_pseudonymised(tables | {"items": images.items}, secret))
    read = {"missing_labels": list(expanded.missing_labels), "anonymous_raters": expanded.anonymous_raters}
    return Release(
        told,
        {name: ordered[name] for name in TABLES if name in ordered and ordered[name].height},
        images.files,
        anonymity,
        lost,
        {name: value for name, value in read.items() if value},
        tuple(notes),
    )


def _gathered(
    pool: Mapping[str, pl.DataFrame], folder: Path, options: ReleaseOptions
) -> tuple[dict[str, pl.DataFrame], tuple[tuple[str, str], ...]]:
    """Every table with the columns that are released, and (table, column) of those that are not."""
    tables = dict(pool)
    tables["raters"], lost = _chosen(tables["raters"], "raters", options.rater_columns, options)
    tables["ratings"], more = _chosen(tables["ratings"], "ratings", options.rating_columns, options)
    written = comments(folder) if options.text_of_raters else None
    if written is not None:
        tables["comments"] = written
    if options.judgments is not None:
        tables |= judge_tables(options.judgments)
        _check_judged(tables, options.judgments)
    return tables, (*lost, *more)


def _chosen(
    frame: pl.DataFrame, table: str, wanted: Sequence[str] | None, options: ReleaseOptions
) -> tuple[pl.DataFrame, list[tuple[str, str]]]:
    """The columns of a table that are released, and those that are not."""
    always = RATED if table == "ratings" else ("rater_id", POOL)
    further = [name for name in frame.columns if name not in always]
    written = [name for name in further if is_free_text(frame[name])]
    option = "--rater-columns" if table == "raters" else "--rating-columns"
    for name in wanted or ():
        if name not in frame.columns:
            raise UsageError("release.column_unknown", option=option, value=name, known=", ".join(further) or "-")
        if name in written and not options.text_of_raters:
            raise UsageError("release.column_written", option=option, value=name)
    names = [name for name in further if table == "raters" and is_identifier(frame[name])]
    kept = set(wanted) if wanted is not None else set(further) - set(written) - set(names)
    kept |= set(written) if options.text_of_raters else set()
    left = [(table, name) for name in further if name not in kept]
    return frame.select(name for name in frame.columns if name in always or name in kept), left


def _anonymity(tables: Mapping[str, pl.DataFrame], k: int) -> Anonymity:
    """Checks the raters with all that is released of them, also what every rating of a rater says alike."""
    ratings = tables["ratings"].filter(pl.col("rater_id").is_not_null())
    further = [name for name in ratings.columns if name not in RATED]
    each = ratings.group_by("rater_id").agg(pl.col(further).n_unique().name.prefix("_n_"), pl.col(further).first())
    constant = [name for name in further if each.height and each[f"_n_{name}"].max() == 1]
    named = {name: f"ratings.{name}" if name in tables["raters"].columns else name for name in constant}
    raters = tables["raters"].join(each.select("rater_id", *constant).rename(named), on="rater_id", how="left")
    columns = [name for name in raters.columns if name not in ("rater_id", POOL) and not is_free_text(raters[name])]
    return check_anonymity(raters, columns, k)


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


def _naming(tables: Mapping[str, pl.DataFrame]) -> list[Note]:
    """Warnings for columns outside the ratings in which a cell is the id of a rater."""
    ids = tables["raters"]["rater_id"].to_list()
    found = []
    for table, frame in tables.items():
        inner = frame.drop("rater_id", strict=False) if table in WITH_RATERS else frame
        found += [f"{table}.{name}" for name in naming_columns(inner, ids)]
    return [Note("release.note.naming", {"columns": ", ".join(found)}, "warning")] if found else []


def _pseudonymised(tables: Mapping[str, pl.DataFrame], secret: bytes) -> dict[str, pl.DataFrame]:
    """Every rater under a pseudonym; slots, which mean nobody, keep their names."""
    ids: set[str] = set()
    for name in WITH_RATERS:
        if name in tables:
            ids |= set(tables[name]["rater_id"].drop_nulls())
    people = {name for name in ids if not _SLOT.search(name)}
    named = pseudonyms(people, secret) | {name: name for name in ids - people}
    made = dict(tables)
    for name in WITH_RATERS:
        if name in tables and named:
            hidden = pl.col("rater_id").replace_strict(named, default=None, return_dtype=pl.String)
            made[name] = tables[name].with_columns(hidden)
    return made
