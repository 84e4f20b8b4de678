"""Judgments: any shape to one row per cell and repeat, checked against the corpus, on the questions' scales."""

from __future__ import annotations

import polars as pl

from voirdire.corpus import columns as names
from voirdire.corpus.cells import full_condition, judge_scales, key_factors, read_cells, read_judges
from voirdire.corpus.corpus import Corpus, Judgments, Note
from voirdire.corpus.folder import expand_judgments
from voirdire.corpus.intake import alike, choice, close, flag, merged, note, refuse, some, warning, with_rows
from voirdire.corpus.judged import give_judged_values
from voirdire.corpus.options import JudgmentOptions
from voirdire.corpus.ratings import flag_items
from voirdire.corpus.wide import check_columns, melt, numeric_columns
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


def read_judgments(options: JudgmentOptions, corpus: Corpus) -> Judgments:
    """Read what the judges said about a corpus.

    Rows of unknown items or questions are left out and counted; answers without a usable rating stay, with a
    status and no value, so that they can be counted for each cell.

    >>> from voirdire.corpus.reading import CorpusOptions, read_corpus
    >>> ratings = pl.DataFrame({"item": ["a", "a", "b", "b"], "rater": ["u", "v", "u", "v"],
    ...                         "pool": ["us", "cn", "us", "cn"], "score": [1, 5, 2, 4]})
    >>> judged = pl.DataFrame({"item": ["a", "b"], "model": "m", "score": [3, 9]})
    >>> read_judgments(JudgmentOptions(judged), read_corpus(CorpusOptions(ratings))).table["status"].to_list()
    ['ok', 'out_of_scale']
    """
    options = expand_judgments(options)
    frame, table, notes = _long(options, corpus)
    judges = list(frame["judge"].unique(maintain_order=True))
    frame, repeated = _repeats(frame)
    key = [*KEY, "repeat"] if repeated else KEY
    extra = key_factors(frame, key, table, options)
    factors = extra.names
    frame = full_condition(frame, factors, table)
    doubled = [*alike("judge", judges, table), *alike("condition", frame["_base"].unique().sort(), table)]
    if not extra.unique:
        frame, more = _duplicates(frame, key, table, options)
        doubled += more
    frame, strange = _known(frame, table, corpus)
    side, declared = read_judges(judges, options)
    scales = judge_scales(judges, declared, options)
    frame, rank_only, told = give_judged_values(frame, table, corpus, scales, options.missing_labels)
    kept = frame.filter(pl.col("_reason").is_null() | pl.col("_status").is_not_null())
    own = kept.select("judge", "condition", "_base", *factors).unique(["judge", "condition"], maintain_order=True)
    cells = read_cells(own, factors, options)
    return Judgments(
        table=kept.select(*COLUMNS[:5], "value", pl.col("_status").cast(pl.String).alias("status")),
        cells=cells.frame,
        judges=side.frame,
        factors=cells.columns,
        key_factors=factors,
        covariates=side.columns,
        rank_only=rank_only,
        maps=scales,
        intake=(close(frame, table, "judgments"), *side.intake, *cells.intake),
        notes=merged([*notes, *side.notes, *cells.notes, *extra.notes, *doubled, *strange, *told]),
    )


def _long(options: JudgmentOptions, corpus: Corpus) -> tuple[pl.DataFrame, Table, list[Note]]:
    names.check_mapping(options.mapping, TARGETS)
    given = read_table(options.judgments, options.encoding)
    check_columns(given, options.judge_columns, "--judge-columns")
    check_columns(given, options.factors, "--factors")
    gone = {"judge", "rating"} if options.judge_columns else set()
    targets = [name for name in TARGETS if name not in gone]
    kept = (*options.judge_columns, *options.factors)
    table, notes = names.take(given, "judgments", targets, options.mapping, kept, options.judge_columns)
    names.require(table, "item_id")
    if table.frame.is_empty():
        raise InputError("input.file_no_rows", file=table.file)
    frame = with_rows(table.frame)
    columns = _judge_columns(frame, options)
    if columns:
        frame, told = melt(table, frame, columns, "judge", "raw")
        notes.append(told)
        beside = some(name for name in given.frame.columns if name not in columns)
        notes.append(note("wide_columns", file=table.name, count=len(columns), used=some(columns), beside=beside))
    else:
        names.require(table, "rating")
        frame = frame.rename({"rating": "raw"}).with_columns(_column=pl.lit(None, pl.String))
    frame, more = _complete(frame, table, options, corpus)
    return frame, table, notes + more


def _judge_columns(frame: pl.DataFrame, options: JudgmentOptions) -> list[str]:
    if options.judge_columns:
        return list(options.judge_columns)
    if {"judge", "rating"} & set(frame.columns):
        return []
    free = [name for name in frame.columns if name not in (*TARGETS, "_row", "_reason", *options.factors)]
    if options.judges is not None:
        side, _ = names.take(read_table(options.judges, options.encoding), "judges", ("judge",), options.mapping)
        if "judge" in side.frame.columns:
            listed = set(side.frame["judge"])
            return [name for name in free if name in listed]
    return numeric_columns(frame, free)


def _complete(
    frame: pl.DataFrame, table: Table, options: JudgmentOptions, corpus: Corpus
) -> tuple[pl.DataFrame, list[Note]]:
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
    return _statuses(frame, table), notes


def _refuse_reserved(frame: pl.DataFrame, table: Table) -> None:
    """Names that mean something else in the estimates: ``*`` for all, ``control:...`` for control judges."""
    for key, taken in (
        ("judge", (pl.col("judge") == "*") | pl.col("judge").str.starts_with("control:")),
        ("condition", pl.col("condition") == "*"),
    ):
        named = frame.filter(taken)
        if not named.is_empty():
            raise refuse("name_reserved", table, named, key)


def _statuses(frame: pl.DataFrame, table: Table) -> pl.DataFrame:
    if "status" not in frame.columns:
        return frame.with_columns(_given=pl.lit("ok"))
    lower = pl.col("status").fill_null("ok").str.to_lowercase()
    frame = frame.with_columns(_given=lower.replace_strict(STATUSES, default=None, return_dtype=pl.String))
    strange = frame.filter(pl.col("_given").is_null())
    if not strange.is_empty():
        raise refuse("status_unknown", table, strange, "status", known=", ".join(STATUSES))
    return frame


def _repeats(frame: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
    if "repeat" not in frame.columns:
        return frame.with_columns(pl.lit(1, pl.Int64).alias("repeat")), False
    whole = frame["repeat"].cast(pl.Int64, strict=False)
    if whole.null_count() > frame["repeat"].null_count():
        whole = frame["repeat"].rank("dense").cast(pl.Int64)
    return frame.with_columns(whole.fill_null(1).alias("repeat")), True


def _duplicates(
    frame: pl.DataFrame, key: list[str], table: Table, options: JudgmentOptions
) -> tuple[pl.DataFrame, list[Note]]:
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
    place = pl.int_range(pl.len()).over(key)
    if policy == "repeat":
        told = note("repeats_numbered", file=table.name, count=twice.height)
        return frame.with_columns((place + 1).cast(pl.Int64).alias("repeat")), [told]
    over = place > 0 if policy == "first" else place < pl.len().over(key) - 1
    flagged = flag(frame, over, "duplicate")
    count = int((flagged["_reason"] == "duplicate").sum())
    return flagged, [warning("duplicates", count=count, policy=policy, file=table.name)]


def _known(frame: pl.DataFrame, table: Table, corpus: Corpus) -> tuple[pl.DataFrame, list[Note]]:
    frame = flag_items(frame, corpus.excluded_items)
    notes = []
    for column, known, reason in (
        ("item_id", corpus.items["item_id"], "unknown_item"),
        ("question", pl.Series([question.id for question in corpus.questions]), "unknown_question"),
    ):
        strange = ~pl.col(column).is_in(known.implode())
        lost = frame.filter(pl.col("_reason").is_null() & strange)
        if lost.is_empty():
            continue
        if lost.height == frame["_reason"].null_count():
            raise refuse(f"all_{reason}", table, lost, column, known=some(known))
        values = some(lost[column].unique(maintain_order=True))
        notes.append(warning(reason, file=table.name, count=lost.height, values=values))
        frame = flag(frame, strange, reason)
    return frame, notes
