"""The steps from rows of judgments to checked cells, each for all rows, or for kinds of rows with their number.

A frame of kinds has one row for all rows that are alike but for their item, and their number in ``_n``.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from voirdire.corpus import columns as names
from voirdire.corpus.cells import judge_scales, read_cells, read_judges
from voirdire.corpus.corpus import Corpus, Judgments, Note
from voirdire.corpus.intake import alike, choice, close, flag, merged, note, number, refuse, some, warning
from voirdire.corpus.judged import give_judged_values
from voirdire.corpus.options import JudgmentOptions
from voirdire.corpus.ratings import flag_items
from voirdire.corpus.sides import CODE, SHOWN_FIRST
from voirdire.corpus.wide import check_columns
from voirdire.errors import InputError, UsageError
from voirdire.tables import Table, read_table

TARGETS = ("item_id", "judge", "condition", "question", "repeat", "rating", "status")
COLUMNS = ["item_id", "judge", "condition", "question", "repeat", "value", "status"]
KEY = ["item_id", "judge", "condition", "question"]
DUPLICATES = ("refuse", "repeat", "first", "last")
STATUSES = {
    "ok": "ok", "success": "ok", "valid": "ok", "done": "ok",
    "malformed": "malformed", "invalid": "malformed", "parse_error": "malformed", "unparsed": "malformed",
    "refused": "refused", "refusal": "refused",
    "error": "error", "failed": "error", "failure": "error", "timeout": "error", "exception": "error",
    "pending": "pending",
}  # fmt: skip


def take_columns(given: Table, options: JudgmentOptions) -> tuple[Table, list[Note]]:
    """The table with our names for its columns. Raises InputError without a column of items."""
    names.check_mapping(options.mapping, TARGETS)
    check_columns(given, options.judge_columns, "--judge-columns")
    check_columns(given, options.factors, "--factors")
    gone = {"judge", "rating"} if options.judge_columns else set()
    targets = [name for name in TARGETS if name not in gone]
    kept = (*options.judge_columns, *options.factors)
    table, notes = names.take(given, "judgments", targets, options.mapping, kept, options.judge_columns)
    names.require(table, "item_id")
    return table, notes


def judge_columns(columns: Sequence[str], options: JudgmentOptions) -> tuple[list[str], bool]:
    """The columns that hold a judge each, and whether they are only those that may do so if they hold numbers."""
    if options.judge_columns:
        return list(options.judge_columns), False
    if {"judge", "rating"} & set(columns):
        return [], False
    free = [name for name in columns if name not in (*TARGETS, *options.factors) and not name.startswith("_")]
    if options.judges is not None:
        side, _ = names.take(read_table(options.judges, options.encoding), "judges", ("judge",), options.mapping)
        if "judge" in side.frame.columns:
            listed = set(side.frame["judge"])
            return [name for name in free if name in listed], False
    return free, True


def conclude(
    frame: pl.DataFrame,
    judges: Sequence[str],
    factors: Sequence[str],
    table: Table,
    options: JudgmentOptions,
    corpus: Corpus,
    notes: tuple[Sequence[Note], Sequence[Note]],
) -> tuple[Judgments, pl.DataFrame]:
    """The judgments of checked rows (or kinds of rows), whose cells are unique, and the rows with their values.

    frame : the columns of a cell with ``condition`` in full and as given (``_base``), ``raw`` and ``_given``
    judges : all that occur, in the order of their first rows
    notes : what was told before and after the tables of judges and conditions
    """
    frame, strange = known(frame, table, corpus)
    side, declared = read_judges(judges, options)
    scales = judge_scales(judges, declared, options)
    frame, rank_only, told = give_judged_values(frame, table, corpus, scales, options.missing_labels)
    kept = frame.filter(pl.col("_reason").is_null() | pl.col("_status").is_not_null())
    shown = [pl.col(CODE).alias(SHOWN_FIRST)] if CODE in kept.columns else []
    own = kept.select("judge", "condition", "_base", *factors).unique(["judge", "condition"], maintain_order=True)
    cells = read_cells(own, factors, options)
    judgments = Judgments(
        rows=kept.select(*COLUMNS[:5], "value", pl.col("_status").cast(pl.String).alias("status"), *shown),
        cells=cells.frame,
        judges=side.frame,
        factors=cells.columns,
        key_factors=tuple(factors),
        covariates=side.columns,
        rank_only=rank_only,
        maps=scales,
        intake=(close(frame, table, "judgments"), *side.intake, *cells.intake),
        notes=merged([*notes[0], *side.notes, *cells.notes, *notes[1], *strange, *told]),
    )
    return judgments, frame


def names_alike(frame: pl.DataFrame, table: Table) -> list[Note]:
    """Warnings of judges or conditions (as given) whose names are hard to tell apart."""
    judges = frame["judge"].unique(maintain_order=True)
    return [*alike("judge", judges, table), *alike("condition", frame["_base"].unique().sort(), table)]


def complete(
    frame: pl.DataFrame, table: Table, options: JudgmentOptions, corpus: Corpus
) -> tuple[pl.DataFrame, list[Note]]:
    """The rows with judge, question, condition and known status; InputError for a cell that must not be empty."""
    notes = []
    if "judge" not in frame.columns:
        if options.judge_name is None:
            raise InputError("input.no_judge", file=table.file, row=1, column="judge", value=table.shown_columns)
        frame = frame.with_columns(judge=pl.lit(options.judge_name))
    if "question" not in frame.columns:
        question = options.judged_question or corpus.questions[0].id
        if question not in {known.id for known in corpus.questions}:
            known = ", ".join(known.id for known in corpus.questions)
            raise UsageError("input.judged_question_unknown", value=question, known=known)
        frame = frame.with_columns(question=pl.lit(question))
        notes.append(note("judged_question", file=table.name, question=question))
    if "condition" not in frame.columns:
        frame = frame.with_columns(condition=pl.lit("-"))
    frame = frame.with_columns(pl.col("condition").fill_null("-"))
    for key in ("item_id", "judge", "question"):
        gap = frame.filter(pl.col(key).is_null())
        if not gap.is_empty():
            raise refuse("cell_empty", table, gap, key, value="")
    _refuse_reserved(frame, table)
    return statuses(frame, table), notes


def _refuse_reserved(frame: pl.DataFrame, table: Table) -> None:
    """Names that mean something else in the estimates: ``*`` for all, ``control:...`` for control judges."""
    for key, taken in (
        ("judge", (pl.col("judge") == "*") | pl.col("judge").str.starts_with("control:")),
        ("condition", pl.col("condition") == "*"),
    ):
        named = frame.filter(taken)
        if not named.is_empty():
            raise refuse("name_reserved", table, named, key)


def statuses(frame: pl.DataFrame, table: Table) -> pl.DataFrame:
    """The rows with ``_given``, their status in our words; InputError for a word that is none."""
    if "status" not in frame.columns:
        return frame.with_columns(_given=pl.lit("ok"))
    lower = pl.col("status").fill_null("ok").str.to_lowercase()
    frame = frame.with_columns(_given=lower.replace_strict(STATUSES, default=None, return_dtype=pl.String))
    strange = frame.filter(pl.col("_given").is_null())
    if not strange.is_empty():
        raise refuse("status_unknown", table, strange, "status", known=", ".join(STATUSES))
    return frame


def repeats(frame: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
    """The rows with ``repeat`` as a whole number, and whether they had such a column."""
    if "repeat" not in frame.columns:
        return frame.with_columns(pl.lit(1, pl.Int64).alias("repeat")), False
    whole = frame["repeat"].cast(pl.Int64, strict=False)
    if whole.null_count() > frame["repeat"].null_count():
        whole = frame["repeat"].rank("dense").cast(pl.Int64)
    return frame.with_columns(whole.fill_null(1).alias("repeat")), True


def duplicates(
    frame: pl.DataFrame, key: list[str], table: Table, options: JudgmentOptions
) -> tuple[pl.DataFrame, list[Note]]:
    """The rows of cells that stand there twice: refused, numbered as repeats, or all but one flagged."""
    policy = choice("duplicates", options.duplicates, DUPLICATES)
    full = pl.struct([*key])
    twice = frame.filter(full.is_duplicated())
    if policy == "refuse":
        first = twice.row(0, named=True)
        again = twice.filter(full == twice.select(full).to_series()[0])
        raise refuse(
            "judged_twice", table, again.tail(1), "item_id", judge=first["judge"], condition=first["condition"],
            question=first["question"], earlier=table.row(first["_row"]),
        )  # fmt: skip
    place = pl.int_range(pl.len()).over(KEY if policy == "repeat" else key)
    if policy == "repeat":
        told = note("repeats_numbered", file=table.name, count=twice.height)
        return frame.with_columns((place + 1).cast(pl.Int64).alias("repeat")), [told]
    over = place > 0 if policy == "first" else place < pl.len().over(key) - 1
    flagged = flag(frame, over, "duplicate")
    count = int((flagged["_reason"] == "duplicate").sum())
    return flagged, [warning("duplicates", count=count, policy=policy, file=table.name)]


def known(frame: pl.DataFrame, table: Table, corpus: Corpus) -> tuple[pl.DataFrame, list[Note]]:
    """The rows with those of items and questions flagged that the corpus does not have; InputError for all of them."""
    frame = flag_items(frame, corpus.excluded_items)
    notes = []
    for column, there, reason in (
        ("item_id", corpus.items["item_id"], "unknown_item"),
        ("question", pl.Series([question.id for question in corpus.questions]), "unknown_question"),
    ):
        strange = ~pl.col(column).is_in(there.implode())
        lost = frame.filter(pl.col("_reason").is_null() & strange)
        if lost.is_empty():
            continue
        if lost.height == frame["_reason"].null_count():
            raise refuse(f"all_{reason}", table, lost, column, known=some(there))
        values = some(lost[column].unique(maintain_order=True))
        notes.append(warning(reason, file=table.name, count=number(lost), values=values))
        frame = flag(frame, strange, reason)
    return frame, notes
