"""What is known of raters: joined from a table, personal data left out, ids that are personal replaced."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from voirdire.corpus.columns import NAMES, normal
from voirdire.corpus.corpus import Note
from voirdire.errors import InputError
from voirdire.exchange.importers.people_json import objects_table
from voirdire.exchange.importers.platforms import any_identity, is_identity, without_identities
from voirdire.exchange.importers.prolific import of_participants
from voirdire.tables import Table, read_table

ID = "rater_id"
EMAIL = r"^\S+@\S+\.\S+$"
MAIL_INSIDE = r"[^\s@<>()\[\]\"',;:]+@[^\s@<>()\[\]\"',;:]+\.[A-Za-z]{2,}"
_V4, _GROUP = r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}", "[0-9A-Fa-f]{1,4}"
_GROUPS = rf"{_GROUP}(?::{_GROUP}){{0,6}}"
_V6 = rf"(?:(?:{_GROUP}:){{7}}{_GROUP}|{_GROUPS}::(?:{_GROUPS})?|::{_GROUPS})"
ADDRESS = rf"^(?:{_V4}|{_V6})$"
"""An IP address: of version 4, or of version 6 with its seven colons or ``::``; a time of day is none."""

_ADDRESS_INSIDE = re.compile(rf"(?<![0-9.vV]){_V4}(?![0-9.])|(?<![0-9A-Za-z:]){_V6}(?![0-9A-Za-z:])")
KEYS = (ID, *" ".join(NAMES[ID]).split(), "prolific_id", "prolific_pid")
_PERSONAL = (
    "email e_mail email_address mail recipient_email name full_name first_name last_name firstname lastname surname "
    "recipient_first_name recipient_last_name username user_name phone telephone phone_number address street "
    "ip ip_address ipaddress latitude longitude location_latitude location_longitude lat lon lng gps "
    "姓名 名字 邮箱 电子邮件 电话 手机 手机号 地址 ip地址 纬度 经度"
)
PERSONAL = frozenset(_PERSONAL.split())
"""Names of columns that hold personal data, without case, blanks and hyphens."""

_WHO = "rater|annotator|worker|performer|voter|participant|user|coder|reviewer|labell?er|judge|respondent|expert"
_OF_WHOM = re.compile(rf"(?:{_WHO})_?(?:full|first|last|display|real|nick)?_?(?:name|e?_?mail(?:_address)?|phone|ip)")
_SHOWN = ("display_name", "real_name", "nick_name", "nickname", "prolific_id", "prolific_pid", "mturk_id")
_WRITTEN = (
    "comment comments reason reasons rationale explanation explanations justification feedback remark remarks note "
    "notes thoughts why free_text freetext 评论 理由 原因 备注 说明 意见"
)
TEXTS = frozenset(_WRITTEN.split())
"""Names of columns in which raters write in their own words."""

REMOVED = "[…]"
"""Stands in a text in the place of an e-mail address or an id of a person."""


@dataclass(frozen=True)
class People:
    """A table of raters by id, and what was left out of it."""

    frame: pl.DataFrame
    file: str
    dropped: tuple[str, ...] = ()


def is_personal(column: pl.Series) -> bool:
    """Whether a column holds personal data: by its name, or because a cell holds an e-mail address, or is an IP address
    or an id of a person on a platform.

    >>> [is_personal(pl.Series(name, [cell])) for name, cell in (("IP Address", "-"), ("x", "a@b.cn"), ("age", "40"))]
    [True, True, False]
    """
    if names_a_person(column.name):
        return True
    cells = column.cast(pl.String).str.strip_chars()
    found = cells.str.contains(EMAIL) | cells.str.contains(MAIL_INSIDE) | cells.str.contains(ADDRESS)
    return bool(found.any()) or any_identity(cells.drop_nulls().unique())


def names_a_person(name: str) -> bool:
    """Whether a column is called as one with names, addresses or the like.

    >>> [names_a_person(name) for name in ("Annotator name", "worker_email", "E-mail", "model_name", "rater_id")]
    [True, True, True, False, False]
    """
    return normal(name) in PERSONAL or about_raters(name)


def about_raters(name: str) -> bool:
    """Whether a column is called as one that tells who rated, whatever table it stands in.

    >>> about_raters("annotator_name"), about_raters("name")
    (True, False)
    """
    return normal(name) in _SHOWN or _OF_WHOM.fullmatch(normal(name)) is not None


def without_texts(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, int]]:
    """A table without the columns in which raters write, and how many texts stood in each."""
    found = {name: frame[name].len() - frame[name].null_count() for name in frame.columns if normal(name) in TEXTS}
    return frame.drop(found), found


def masked(frame: pl.DataFrame, columns: Collection[str]) -> tuple[pl.DataFrame, int]:
    """A table with e-mail addresses and ids of people taken out of some columns of texts, and how many cells had one.

    >>> masked(pl.DataFrame({"comment": ["ask a.b@c.org, please", "no"]}), ["comment"])[0]["comment"].to_list()
    ['ask […], please', 'no']
    """
    count = 0
    for name in columns:
        texts = frame[name].to_list()
        clean = [
            None if one is None else without_identities(re.sub(MAIL_INSIDE, REMOVED, one), REMOVED) for one in texts
        ]
        count += sum(a != b for a, b in zip(texts, clean, strict=True))
        frame = frame.with_columns(pl.Series(name, clean, dtype=pl.String))
    return frame, count


def without_personal(frame: pl.DataFrame, keep: Collection[str] = (ID,)) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """A table without its personal columns, and their names."""
    dropped = tuple(name for name in frame.columns if name not in keep and is_personal(frame[name]))
    return frame.drop(dropped), dropped


def read_people(path: Path, key: str | None = None) -> People:
    """A table of what is known of raters.

    key : the column with the ids; recognised where it is called as in ratings, or ``Participant id``. Of Prolific's
        export what tells of submissions is left out, and what was withdrawn is missing

    Raises InputError where no column, or more than one, can be the ids, and for a rater told differently twice.
    """
    table = objects_table(path) if path.suffix == ".json" else read_table(path)
    table = replace(table, frame=of_participants(table.frame))
    column = _key(table, key)
    frame = table.frame.rename(
        {column: ID} | ({ID: f"{ID}_given"} if column != ID and ID in table.frame.columns else {})
    )
    frame = frame.select(ID, pl.exclude(ID)).with_row_index("_row")
    frame = frame.filter(pl.col(ID).is_not_null()).unique(pl.exclude("_row"), keep="first", maintain_order=True)
    twice = frame.filter(~pl.col(ID).is_first_distinct())
    if not twice.is_empty():
        fields = {"line": table.row(twice["_row"][0]), "field": column, "value": twice[ID][0]}
        raise InputError("importing.rater_twice", file=table.file, **fields)
    clean, dropped = without_personal(frame.drop("_row"))
    return People(clean, table.name, dropped)


def join_people(raters: pl.DataFrame | None, people: People, rated: pl.Series) -> tuple[pl.DataFrame, list[Note]]:
    """The raters with what the table knows of them; what it says stands before what the export says.

    rated : ids of those who rated. Raters that the table lacks stay, without attributes; rows of others are left out.
    """
    who = rated.drop_nulls().unique(maintain_order=True)
    known = raters if raters is not None else pl.DataFrame({ID: who})
    known = pl.concat([known, pl.DataFrame({ID: who.filter(~who.is_in(known[ID].implode()))})], how="diagonal")
    theirs = people.frame
    both = [name for name in theirs.columns if name in known.columns and name != ID]
    made = known.join(theirs, on=ID, how="left", suffix="_told", maintain_order="left")
    made = made.with_columns(pl.coalesce(f"{name}_told", name).alias(name) for name in both)
    made = made.drop(f"{name}_told" for name in both)
    unknown = int((~who.is_in(theirs[ID].implode())).sum())
    others = int((~theirs[ID].is_in(who.implode())).sum())
    fields = {"file": people.file, "count": len(who) - unknown, "unknown": unknown, "others": others}
    return made, [Note("importing.note.people", fields, "warning" if unknown else "info")]


def personal_ids(ids: pl.Series, every: bool, used: Collection[str] = ()) -> dict[str, str]:
    """Ids that are personal -> r1, r2, ... in the order in which they first occur; names in use are passed over.

    every : all of them are identities; otherwise those that hold an e-mail or IP address or have a platform's form
    used : names that are taken

    >>> personal_ids(pl.Series(["a@b.org", "r1", "c@d.org", "a@b.org"]), every=False)
    {'a@b.org': 'r2', 'c@d.org': 'r3'}
    """
    who = ids.drop_nulls().unique(maintain_order=True).to_list()
    found = [one for one in who if every or _has_address(one) or is_identity(one)]
    taken = (set(who) - set(found)) | set(used)
    numbers = (f"r{n}" for n in range(1, len(found) + len(taken) + 1))
    return dict(zip(found, (name for name in numbers if name not in taken), strict=False))


def _has_address(one: str) -> bool:
    """Whether an id is or holds an e-mail or IP address."""
    return any((re.search(MAIL_INSIDE, one), re.match(EMAIL, one.strip()), _ADDRESS_INSIDE.search(one)))


def replace_ids(frame: pl.DataFrame, names: Mapping[str, str]) -> pl.DataFrame:
    """A table with its ids of raters and judges replaced; ids without a new name stay."""
    columns = [name for name in (ID, "judge") if name in frame.columns]
    return frame.with_columns(pl.col(columns).replace(dict(names))) if columns and names else frame


def _key(table: Table, key: str | None) -> str:
    columns = table.frame.columns
    if key is not None:
        if key not in columns:
            raise InputError("importing.rater_key", file=table.file, value=key, known=table.shown_columns)
        return key
    found = [name for name in columns if normal(name) in KEYS]
    found = [name for name in found if normal(name) == ID] or found
    if len(found) != 1:
        raise InputError(
            "importing.rater_key", file=table.file, value=", ".join(found) or "-", known=table.shown_columns
        )
    return found[0]
