"""What an importer is, what it is told and what it gives.

An importer reads files of one format. It tells an ``Account`` of every answer that it met, and gives ``Tables`` of
text. What is the same for every format is done outside of it, in ``tables`` and in ``voirdire import``: raters'
attributes are joined, pools are given, ids that are personal are replaced, the folder is written and read back.

The shape of a module, ``mytool.py``::

    def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
        rows = []
        for path in paths:
            for record in json_records(path, account):
                with account.record(record):            # a broken record: named, or left out with --skip-broken
                    found = _answers(record, account)   # rows of this record alone, counted while they are made
                    rows += found
        return Tables(ratings=frame(rows, RATINGS))

    IMPORTER = Importer("mytool", "mytool.title", recognise, read=read, settings={"rows": "mytool.settings.rows"})

A package registers it by an entry point ``mytool = "my_package.mytool:IMPORTER"`` of the group ``voirdire.importers``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import polars as pl

from voirdire.corpus.corpus import Note
from voirdire.errors import UsageError
from voirdire.exchange.importers.account import Account

Side = Literal["ratings", "judgments", "release"]

KEEP_IDS = "keep_ids"
"""A setting of every format: ``--set keep_ids=yes`` keeps rater ids that are personal data."""

TRUE, FALSE = ("yes", "true", "1", "on"), ("no", "false", "0", "off")


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What a user says of an export.

    pools : rules over what is known of the raters, ``"us: country == 'US'"``
    pool_column : the attribute of raters, or the column of the ratings, that names the pool
    pool : one pool, of which all raters are
    raters : a table of what is known of the raters; rater_key : its column with the ids, where it is not recognised
    questions : a questions table that overrules what the export says of scales
    mapping : our name -> the export's name, where it is not recognised
    keep : statuses and kinds that are taken although they are otherwise left out
    skip_broken : leave broken records out, counted and named, instead of refusing the file
    with_text_of_raters : free texts of raters too; by default they are left out and counted
    settings : what one format alone needs, by name
    level, ends, labels, positive, missing_labels : the scale of questions that the export does not declare; ``ends``
        are its lowest and highest value, ``missing_labels`` the labels that mean no answer
    """

    pools: tuple[str, ...] = ()
    pool_column: str | None = None
    pool: str | None = None
    raters: Path | None = None
    rater_key: str | None = None
    questions: Path | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    skip_broken: bool = False
    with_text_of_raters: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
    level: str | None = None
    ends: tuple[float, float] | None = None
    labels: tuple[str, ...] = ()
    positive: str | None = None
    missing_labels: tuple[str, ...] = ()

    def setting(self, name: str, known: Sequence[str] = (), default: str | None = None) -> str | None:
        """A setting's value. Raises UsageError where it is none of the known ones.

        >>> ImportOptions(settings={"rows": "items"}).setting("rows", ("items", "raters"))
        'items'
        """
        value = self.settings.get(name, default)
        if known and value is not None and value not in known:
            raise UsageError("importing.setting_value", name=name, value=value, known=", ".join(known))
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """A setting that is yes or no.

        >>> ImportOptions(settings={"keep_ids": "yes"}).flag("keep_ids")
        True
        """
        value = self.settings.get(name)
        if value is None:
            return default
        if value.casefold() not in (*TRUE, *FALSE):
            raise UsageError("importing.setting_value", name=name, value=value, known=f"{TRUE[0]}, {FALSE[0]}")
        return value.casefold() in TRUE


@dataclass(frozen=True, slots=True)
class Recognition:
    """Whether a file is of a format.

    kind : ``yes``; ``nearly``: it is of the tool, and not what can be imported; ``no``
    key, fields : the sentence that says what to do with a file that is nearly one; ``{file}`` is filled in
    """

    kind: Literal["yes", "nearly", "no"]
    key: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)


YES, NO = Recognition("yes"), Recognition("no")


def nearly(key: str, **fields: Any) -> Recognition:
    """A file that is nearly of a format, with the sentence that explains it.

    >>> nearly("labelstudio.merged").kind
    'nearly'
    """
    return Recognition("nearly", key, fields)


@dataclass(frozen=True, slots=True)
class Tables:
    """The long tables of an import: columns of text (null where nothing is), named as in docs/howto/input.md.

    ratings : item_id, rater_id, pool (optional), question, rating, and further columns: ``status``, ``seconds``,
        ``at`` (UTC, ISO 8601) where the export has them; one row a rater, item and question
    raters : rater_id and attributes; items : item_id, text, image, prompt and further columns
    questions : question, role, level, min, max, labels, positive, text.<lang>
    judgments : item_id, judge, condition, question, repeat, rating, status, raw
    judges, conditions, shares, comments : as a corpus folder has them
    name, languages, licence : for corpus.toml, where the export tells them
    personal_ids : rater ids are identities of a person on a platform (a Prolific id): they are replaced by r1, r2, ...
        E-mail addresses are found and replaced without it
    notes : what the reader should know of this export
    read : entries of ``[read]`` in corpus.toml, which say how the audit reads the folder (``missing_labels``, ...)
    """

    ratings: pl.DataFrame | None = None
    items: pl.DataFrame | None = None
    questions: pl.DataFrame | None = None
    raters: pl.DataFrame | None = None
    judgments: pl.DataFrame | None = None
    judges: pl.DataFrame | None = None
    conditions: pl.DataFrame | None = None
    shares: pl.DataFrame | None = None
    comments: pl.DataFrame | None = None
    notes: tuple[Note, ...] = ()
    name: str = ""
    languages: tuple[str, ...] = ()
    licence: str | None = None
    personal_ids: bool = False
    read: Mapping[str, Any] = field(default_factory=dict)


TABLES = ("ratings", "items", "questions", "raters", "judgments", "judges", "conditions", "shares", "comments")

Recognise = Callable[[Path], Recognition]
Read = Callable[[Sequence[Path], ImportOptions, Account], Tables]
TakeBack = Callable[[Sequence[Path], Path], None]


@dataclass(frozen=True, slots=True)
class Importer:
    """One format.

    name : as it is registered and given on the command line
    title : key of the sentence that names the format to people, e.g. "Label Studio, JSON export"
    recognise : looks at the beginning of a file or at the names in a folder; cheap; never raises for junk
    read : the files to long tables; None for a release
    take_back : a release into an empty folder, unchanged; None for every other format
    side : what is imported
    gathers : endings of the files that a folder stands for when it is given; none where a folder is not taken apart
    settings, maps, keeps : names that ``--set``, ``--map`` and ``--keep`` may have -> key of the sentence that explains
        each; other names are refused. ``keep_ids`` is known for every format
    """

    name: str
    title: str
    recognise: Recognise
    read: Read | None = None
    take_back: TakeBack | None = None
    side: Side = "ratings"
    settings: Mapping[str, str] = field(default_factory=dict)
    maps: Mapping[str, str] = field(default_factory=dict)
    keeps: Mapping[str, str] = field(default_factory=dict)
    gathers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.read is None) == (self.take_back is None) or (self.side == "release") != (self.read is None):
            raise ValueError(f"{self.name}: give read, or for a release take_back")  # noqa: TRY003
