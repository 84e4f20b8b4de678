"""Which column is what: names recognised, names mapped, and a note for each that was taken."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from voirdire.corpus.corpus import Note
from voirdire.corpus.intake import note
from voirdire.errors import InputError, UsageError
from voirdire.tables import Table

_ITEM = ("item task item_name example example_id instance instance_id task_id hit_id sample_id 条目 条目编号", "id")
_RATING = ("label score response annotation answer grade judgment judgement 评分 分数 标签", "value")
_PEOPLE = (
    "rater worker worker_id annotator annotator_id user user_id participant participant_id respondent "
    "respondent_id coder coder_id labeler labeler_id labeller performer 评分者 评分者编号 标注者 标注员"
)
_RATER = (_PEOPLE, "id")
NAMES: Mapping[str, tuple[str, str]] = {
    "item_id": _ITEM,
    "rater_id": _RATER,
    "pool": ("group population rater_pool 群体 组", ""),
    "question": ("question_id criterion dimension 题目 问题", ""),
    "rating": _RATING,
    "value": ("mean mean_rating consensus average 均值 共识", ""),
    "n": ("n_raters n_ratings 人数", ""),
    "judge": ("model model_name judge_id judge_model evaluator 评判模型 模型 裁判", "metric"),
    "condition": ("condition_id prompt_condition setting 条件", ""),
    "repeat": ("repetition rep trial run sample 重复", ""),
    "status": ("状态", ""),
    "label": ("category_label level answer 标签", ""),
    "share": ("proportion probability fraction 占比", ""),
    "role": ("角色", ""),
    "level": ("measurement scale_level", ""),
    "min": ("low minimum 最小", ""),
    "max": ("high maximum 最大", ""),
}


INTERNAL = {"raw", "value"}
RESERVED = ("item_id", "raw", "_row", "_reason", "_column", "_aggregate")
MAIN = ("ratings", "judgments")
TABLES = (*MAIN, "items", "raters", "questions", "shares", "judges", "conditions")
ITEM_COLUMNS = ("text", "prompt", "image", "culture", "category", "pair_id", "split")


def normal(name: str) -> str:
    """A column name without case, blanks, hyphens and camel humps.

    >>> normal("WorkerId"), normal("Item ID"), normal("rater-id")
    ('worker_id', 'item_id', 'rater_id')
    """
    humps = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip())
    return re.sub(r"[\s\-]+", "_", humps).casefold()


def take(
    table: Table,
    kind: str,
    targets: Sequence[str],
    mapping: Mapping[str, str],
    kept: Sequence[str] = (),
    stacked: Sequence[str] = (),
) -> tuple[Table, list[Note]]:
    """Rename the columns of a table to our names.

    kind : which table it is, one of TABLES
    targets : our names, in the order in which they are looked for
    mapping : our name -> the file's, as declared; ``judgments.rating`` speaks of one table only. A declared column
        that the table lacks is refused in the ratings and where the table is named
    kept : columns of the file that are something else already (question columns, factors); stacked : those of them
        that become rows, whose names are free
    """
    columns = table.frame.columns
    declared, strict = _mapping_for(kind, mapping)
    taken: dict[str, str] = {}
    for ours in targets:
        free = [name for name in columns if name not in taken.values() and name not in kept]
        theirs = _declared(table, ours, declared, strict) or _recognised(table, ours, free, targets)
        if theirs is not None:
            taken[ours] = theirs
    notes = [
        note("column_taken", file=table.name, ours=ours, theirs=theirs)
        for ours, theirs in taken.items()
        if ours != theirs
    ]
    renames = {theirs: ours for ours, theirs in taken.items()}
    clash = {ours for ours, theirs in taken.items() if ours != theirs} | (INTERNAL if kind in MAIN else set())
    aside = [name for name in columns if name not in renames and (name in clash or name.startswith("_"))]
    _refuse_kept(table, aside, kept, stacked)
    aside = [name for name in aside if name not in stacked]
    spare = {name: _unused(f"{name}_given", columns) for name in aside}
    frame = table.frame.rename({name: renames.get(name, spare.get(name, name)) for name in columns})
    headers = {
        **{new: name for name, new in spare.items()},
        **taken,
        "raw": taken.get("rating") or taken.get("value") or "rating",
    }
    return replace(table, frame=frame, headers=headers), notes


def check_mapping(mapping: Mapping[str, str], known: Sequence[str]) -> None:
    """UsageError when ``--map`` names something of ours that does not exist."""
    names = {*known, *NAMES, *ITEM_COLUMNS}
    for ours in mapping:
        head, _, tail = ours.partition(".")
        if (tail if head in TABLES else ours) not in names:
            raise UsageError("input.map_unknown", value=ours, known=", ".join(sorted(names)))


def require(table: Table, ours: str) -> None:
    """InputError naming the columns that are there when one of ours is missing."""
    if ours not in table.frame.columns:
        raise InputError("input.column_missing", file=table.file, row=1, column=ours, value=table.shown_columns)


def _mapping_for(kind: str, mapping: Mapping[str, str]) -> tuple[dict[str, str], set[str]]:
    parts = [(ours.partition("."), theirs) for ours, theirs in mapping.items()]
    general = {head + dot + tail: theirs for (head, dot, tail), theirs in parts if head not in TABLES}
    own = {tail: theirs for (head, _, tail), theirs in parts if head == kind}
    return general | own, set(own) | (set(general) if kind == "ratings" else set())


def _refuse_kept(table: Table, aside: Sequence[str], kept: Sequence[str], stacked: Sequence[str]) -> None:
    """InputError for a column that was asked for under a name that is taken here."""
    for name in kept:
        if name in RESERVED or (name in aside and name not in stacked):
            raise InputError("input.column_reserved", file=table.file, row=1, column=name)


def _unused(name: str, columns: Sequence[str]) -> str:
    while name in columns:
        name += "_"
    return name


def _declared(table: Table, ours: str, mapping: Mapping[str, str], strict: set[str]) -> str | None:
    theirs = mapping.get(ours)
    if theirs is not None and theirs not in table.frame.columns:
        if ours not in strict:
            return None
        raise InputError(
            "input.map_column_missing", file=table.file, row=1, column=theirs, ours=ours, value=table.shown_columns
        )
    return theirs


def _recognised(table: Table, ours: str, free: Sequence[str], targets: Sequence[str]) -> str | None:
    if ours in free:
        return ours
    likely, weak = NAMES.get(ours, ("", ""))
    for tier in (ours, likely, weak):
        known = set(tier.split())
        found = [name for name in free if normal(name) in known and name not in targets]
        if len(found) > 1:
            raise InputError("input.column_ambiguous", file=table.file, row=1, column=ours, value=", ".join(found))
        if found:
            return found[0]
    return None
