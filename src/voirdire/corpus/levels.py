"""Scales: declared or read off the data, with a note for everything that was concluded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import polars as pl

from voirdire.corpus.corpus import Note
from voirdire.corpus.intake import note, refuse, some, warning
from voirdire.errors import InputError, UsageError
from voirdire.scales import LEVELS, PAIRWISE, Scale
from voirdire.tables import Table

MAX_ORDINAL_RANGE = 10
MAX_LABELS = 100
VOTES = (
    ("a", "b", "tie"), ("first", "second", "tie"), ("left", "right", "tie"), ("model_a", "model_b", "tie"),
    ("甲", "乙", "平"),
)  # fmt: skip
"""Labels of pairwise votes that need no declaration: for the first thing, for the second, neither."""
DECIMAL_COMMA = r"^([+-]?\d+),(\d+)$"
POSITIVE = {"1", "yes", "true", "y", "t", "是", "有", "对", "真"}
NEGATIVE = {"0", "no", "false", "n", "f", "否", "无", "错", "假"}
NO_ANSWER = {
    "unsure", "not sure", "don't know", "dont know", "do not know", "i don't know", "dk", "idk", "n/a", "na", "none",
    "null", "nan", "no answer", "refused", "skip", "skipped", "cannot tell", "can't tell", "unknown",
    "不确定", "不知道", "无法判断", "说不清", "未知", "跳过", "不适用",
}  # fmt: skip


@dataclass(frozen=True)
class Spec:
    """What is declared of a question's scale; None and empty where nothing is."""

    level: str | None = None
    low: float | None = None
    high: float | None = None
    labels: tuple[str, ...] = ()
    positive: str | None = None
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.level is not None and self.level not in LEVELS:
            raise UsageError("input.choice_unknown", option="level", value=self.level, known=", ".join(LEVELS))
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise UsageError("input.ends_reversed", low=self.low, high=self.high)

    def filled(self, other: Spec) -> Spec:
        """This, with what it leaves open taken from another; ends and labels are taken as one."""
        scale = self if (self.level, self.low, self.high, self.labels) != (None, None, None, ()) else other
        return Spec(
            scale.level,
            scale.low,
            scale.high,
            scale.labels,
            self.positive or other.positive,
            (*self.missing, *other.missing),
        )


@dataclass(frozen=True)
class Settled:
    """A question's scale, whether it was read off the data, and what to say about it."""

    scale: Scale
    inferred: bool
    notes: tuple[Note, ...] = ()
    ends_open: bool = False


def share_ends(settled: Mapping[str, Settled]) -> dict[str, Settled]:
    """Questions of one table mostly share a scale: where a question's range was read off the data and lies at one
    end of the widest range so read, it takes that range.

    >>> wide, short = (Settled(Scale("ordinal", 1, high), True, (), True) for high in (5, 4))
    >>> str(share_ends({"q1": wide, "q3": short})["q3"].scale)
    'ordinal:1:5'
    """
    open_ended = {name: one for name, one in settled.items() if one.ends_open}
    if len(open_ended) < 2:
        return dict(settled)
    widest = max((one.scale for one in open_ended.values()), key=lambda scale: scale.range)
    shared = dict(settled)
    for name, one in open_ended.items():
        scale, ends = one.scale, (one.scale.low, one.scale.high)
        level = scale.level if scale.level == widest.level else None
        within = widest.low <= scale.low and scale.high <= widest.high  # type: ignore[operator]
        if level is None or ends == (widest.low, widest.high) or not within:
            continue
        means = any(said.key == "input.note.scale_from_means" for said in one.notes)
        if means or scale.low in (widest.low, scale.high) or scale.high == widest.high:
            taken = replace(scale, low=widest.low, high=widest.high)
            told = note("scale_shared", question=name, seen=str(scale), scale=str(taken))
            told = warning("scale_from_means", question=name, scale=str(taken)) if means else told
            gone = ("input.note.scale_inferred", "input.note.scale_from_means")
            kept = tuple(said for said in one.notes if said.key not in gone)
            shared[name] = replace(one, scale=taken, notes=(*kept, told))
    return shared


def zero_one(question: str, missing: tuple[str, ...]) -> Settled:
    """The two labels 0 and 1."""
    told = note("binary_inferred", question=question, labels="0, 1", positive="1")
    return Settled(Scale("nominal", 0.0, 1.0, ("0", "1"), "1", missing), True, (told,))


def numbers(texts: pl.Series, delimiter: str = "") -> pl.Series:
    """Texts as finite numbers, null for words. In semicolon tables ``3,5`` is 3.5.

    >>> numbers(pl.Series(["1", "2.5", "unsure", "nan"])).to_list()
    [1.0, 2.5, None, None]
    """
    if delimiter == ";":
        texts = texts.str.replace(DECIMAL_COMMA, "$1.$2")
    parsed = texts.cast(pl.Float64, strict=False)
    return pl.select(pl.when(parsed.is_finite()).then(parsed)).to_series().rename(texts.name)


def comma_note(texts: pl.Series, table: Table) -> list[Note]:
    """A note when numbers of a semicolon table are read with a decimal comma."""
    if table.delimiter != ";":
        return []
    commas = texts.filter(texts.str.contains(DECIMAL_COMMA).fill_null(False))
    return [note("decimal_comma", file=table.name, value=commas[0])] if len(commas) else []


def encode(scale: Scale, texts: pl.Series, delimiter: str = "") -> pl.Series:
    """Texts as values of a scale: the number, or a label's code; null for what is neither.

    >>> encode(Scale("nominal", 0, 1, ("no", "yes"), "yes"), pl.Series(["Yes", "no", "maybe"])).to_list()
    [1.0, 0.0, None]
    """
    parsed = numbers(texts, delimiter)
    if not scale.labels:
        return parsed
    codes = {label: float(place) for place, label in enumerate(scale.labels)}
    exact = texts.replace_strict(codes, default=None, return_dtype=pl.Float64)
    as_numbers = {value: codes[label] for label in scale.labels if (value := _number(label)) is not None}
    by_number = parsed.replace_strict(as_numbers, default=None, return_dtype=pl.Float64) if as_numbers else exact
    folded = {label.casefold(): code for label, code in codes.items()}
    by_case = texts.str.to_lowercase().replace_strict(folded, default=None, return_dtype=pl.Float64)
    by_case = by_case if len(folded) == len(codes) else exact
    return pl.select(pl.coalesce(exact, by_number, by_case)).to_series()


def is_missing_label(texts: pl.Expr, labels: tuple[str, ...]) -> pl.Expr:
    """Whether a text is one of the labels that mean no answer; case does not matter, and 99 is also 99.0.

    >>> pl.DataFrame({"raw": ["99.0", "NA", "9"]}).select(is_missing_label(pl.col("raw"), ("99", "na"))).rows()
    [(True,), (True,), (False,)]
    """
    listed = texts.str.to_lowercase().is_in([label.strip().lower() for label in labels])
    values = [value for label in labels if (value := _number(label)) is not None]
    return listed | texts.cast(pl.Float64, strict=False).is_in(values).fill_null(False) if values else listed


def settle(question: str, spec: Spec, values: pl.DataFrame, table: Table) -> Settled:
    """The scale of one question.

    values : the distinct answers, missing ones left out: raw (text), n, aggregate (bool), _row, _column
    Raises InputError when the answers are of no scale: numbers mixed with words, one value only, words on a
    numeric scale, two labels of which none is known to be the positive one.
    """
    people = values.filter(~pl.col("aggregate"))
    if spec.level == PAIRWISE:
        return _of_votes(question, spec, people, table)
    if people.is_empty():
        return _of_means(question, spec, values, table)
    if spec.labels:
        return Settled(scale_of_labels(question, spec, table), inferred=False)
    parsed = numbers(people["raw"], table.delimiter)
    words = people.filter(parsed.is_null())
    if spec.level == "nominal" or spec.positive is not None:
        return _of_words(question, spec, people.with_columns(raw=_canonical(people["raw"], parsed)), table)
    if words.is_empty():
        return _of_numbers(question, spec, people.with_columns(number=parsed), table)
    if words.height < people.height or spec.level in ("interval", "ratio") or spec.low is not None:
        hint = some(words.sort("n", descending=True)["raw"])
        raise refuse("mixed_words", table, words.sort("_row"), "raw", question=question, words=hint)
    if spec.level == "ordinal":
        found = some(people["raw"].sort())
        raise refuse("order_unknown", table, people.sort("_row"), "raw", question=question, words=found)
    return _of_words(question, spec, people, table)


def scale_of_labels(question: str, spec: Spec, table: Table) -> Scale:
    """The scale that declared labels make: whole numbers in a row are an ordinal scale's ends."""
    labels, values = spec.labels, [_number(label) for label in spec.labels]
    if spec.level == PAIRWISE:
        return _votes(question, spec, labels, table)
    if len(labels) == 2 and spec.level in (None, "nominal"):
        return _binary(labels, spec, question, table)
    whole = [value for value in values if value is not None and value.is_integer()]
    in_row = len(whole) == len(labels) > 1 and all(b - a == 1 for a, b in pairwise(whole))
    if in_row and spec.level != "nominal":
        return Scale(spec.level or "ordinal", whole[0], whole[-1], missing=spec.missing)
    ordered = spec.level == "ordinal" or (spec.level is None and len(values) > 1 and None not in values)
    if ordered:
        return Scale("ordinal", 0.0, float(len(labels) - 1), labels, missing=spec.missing)
    return Scale("nominal", labels=labels, missing=spec.missing)


def _of_votes(question: str, spec: Spec, people: pl.DataFrame, table: Table) -> Settled:
    """The scale of pairwise votes: as declared, else by labels that everybody knows."""
    if people.is_empty():
        raise InputError("input.votes_as_means", file=table.file, question=question)
    if spec.labels:
        return Settled(_votes(question, spec, spec.labels, table), inferred=False)
    found = {text.casefold() for text in people["raw"]}
    known = next((labels for labels in VOTES if found <= set(labels)), None)
    if known is None:
        raise refuse(
            "votes_unknown", table, people.sort("_row"), "raw", question=question, words=some(people["raw"].sort())
        )
    told = note("votes_inferred", question=question, first=known[0], second=known[1], tie=known[2])
    return Settled(_votes(question, spec, known, table), True, (told,))


def _votes(question: str, spec: Spec, labels: tuple[str, ...], table: Table) -> Scale:
    if len(labels) not in (2, 3) or len({label.casefold() for label in labels}) < len(labels):
        raise InputError("input.votes_labels", file=table.file, question=question, words=", ".join(labels))
    if spec.positive is not None:
        raise InputError("input.votes_positive", file=table.file, question=question, value=spec.positive)
    return Scale(PAIRWISE, labels=labels, missing=spec.missing)


def _of_means(question: str, spec: Spec, values: pl.DataFrame, table: Table) -> Settled:
    parsed = numbers(values["raw"], table.delimiter)
    words = values.filter(parsed.is_null())
    if not words.is_empty():
        raise refuse("mean_not_number", table, words.sort("_row"), "raw", question=question)
    if spec.labels or spec.positive is not None:
        scale = scale_of_labels(question, spec, table)
        if scale.nominal:
            raise refuse("mean_of_nominal", table, values.sort("_row"), "raw", question=question)
        return Settled(scale, inferred=False)
    low = spec.low if spec.low is not None else math.floor(_end(parsed.min()))
    high = spec.high if spec.high is not None else math.ceil(_end(parsed.max()))
    _refuse_constant(question, low, high, values, table)
    scale = Scale(spec.level or "interval", low, high, missing=spec.missing)
    if None not in (spec.low, spec.high):
        return Settled(scale, False, _level_note(question, scale, spec))
    told = warning("scale_from_means", question=question, scale=str(scale))
    return Settled(scale, True, (told,), ends_open=spec.low is None and spec.high is None)


def _of_numbers(question: str, spec: Spec, people: pl.DataFrame, table: Table) -> Settled:
    found = people["number"]
    low, high = _end(found.min()), _end(found.max())
    whole = bool((found == found.round()).all())
    open_ended = spec.low is None and spec.high is None
    if spec.level is None and open_ended and (low, high) == (0, 1) and whole:
        return zero_one(question, spec.missing)
    low, high = (low if spec.low is None else spec.low), (high if spec.high is None else spec.high)
    if not (open_ended and whole):
        _refuse_constant(question, low, high, people, table)
    notes: list[Note] = []
    level = spec.level or ("ordinal" if whole and high - low <= MAX_ORDINAL_RANGE else "interval")
    if not whole and (spec.level == "ordinal" or (spec.level is None and None not in (spec.low, spec.high))):
        level = "interval"
        first = people.filter(found != found.round()).sort("_row").row(0, named=True)
        row, column = table.row(first["_row"]), first["_column"] or "rating"
        notes.append(
            warning("decimals", question=question, file=table.name, row=row, column=column, value=first["raw"])
        )
    scale = Scale(level, low, high, missing=spec.missing)
    if None in (spec.low, spec.high):
        notes.append(note("scale_inferred", question=question, scale=str(scale)))
        notes.extend(_outlying(question, found))
    elif not notes:
        notes.extend(_level_note(question, scale, spec))
    inferred = None in (spec.low, spec.high)
    return Settled(scale, inferred, tuple(notes), ends_open=open_ended and whole)


def _of_words(question: str, spec: Spec, people: pl.DataFrame, table: Table) -> Settled:
    labels = tuple(people["raw"].unique().sort())
    shown = some(labels, 12)
    if len({label.casefold() for label in labels}) < len(labels):
        raise refuse("labels_case", table, people.sort("_row"), "raw", question=question, words=shown)
    if len(labels) > MAX_LABELS:
        raise refuse("too_many_labels", table, people.sort("_row"), "raw", question=question, count=len(labels))
    if len(labels) == 1:
        raise refuse("one_label", table, people.sort("_row"), "raw", question=question)
    doubtful = [label for label in labels if label.casefold() in NO_ANSWER]
    notes = [warning("label_no_answer", question=question, value=label) for label in doubtful]
    if len(labels) > 2:
        if spec.positive is not None:
            raise refuse("positive_of_many", table, people.sort("_row"), "raw", question=question, words=shown)
        notes.append(note("nominal_inferred", question=question, labels=shown))
        return Settled(Scale("nominal", labels=labels, missing=spec.missing), True, tuple(notes))
    scale = _binary(labels, spec, question, table)
    if spec.positive is None:
        notes.append(
            note("binary_inferred", question=question, labels=", ".join(scale.labels), positive=scale.positive)
        )
    return Settled(scale, spec.positive is None, tuple(notes))


def _binary(labels: tuple[str, ...], spec: Spec, question: str, table: Table) -> Scale:
    positive = _known_label(spec.positive, labels) if spec.positive is not None else _positive(labels)
    if positive is None:
        words = ", ".join(labels)
        key = "positive_needed" if spec.positive is None else "positive_unknown"
        raise InputError(f"input.{key}", file=table.file, question=question, words=words, value=spec.positive or "")
    negative = labels[1 - labels.index(positive)]
    return Scale("nominal", 0.0, 1.0, (negative, positive), positive, spec.missing)


def _known_label(wanted: str, labels: tuple[str, ...]) -> str | None:
    for label in labels:
        if label.casefold() == wanted.casefold() or (_number(label) is not None and _number(label) == _number(wanted)):
            return label
    return None


def _positive(labels: tuple[str, ...]) -> str | None:
    folded = [label.casefold() for label in labels]
    for place in (0, 1):
        yes, no = folded[place], folded[1 - place]
        bare = no.removeprefix("not").removeprefix("non").removeprefix("no").removeprefix("un").lstrip("_- ")
        if (yes in POSITIVE and no in NEGATIVE) or (no != yes and bare == yes):
            return labels[place]
    return None


def _canonical(texts: pl.Series, parsed: pl.Series) -> pl.Series:
    short = [text if value is None else f"{value:g}" for text, value in zip(texts, parsed, strict=True)]
    return pl.Series(texts.name, short, dtype=pl.String)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _end(value: object) -> float:
    assert isinstance(value, (int, float))
    return float(value)


def _refuse_constant(question: str, low: float, high: float, values: pl.DataFrame, table: Table) -> None:
    if low >= high:
        raise refuse("one_value", table, values.sort("_row"), "raw", question=question)


def _level_note(question: str, scale: Scale, spec: Spec) -> tuple[Note, ...]:
    return () if spec.level is not None else (note("level_inferred", question=question, level=scale.level),)


def _outlying(question: str, found: pl.Series) -> list[Note]:
    levels = found.unique().sort()
    if not 4 <= len(levels) <= 20:
        return []
    gaps = levels.diff().drop_nulls().to_list()
    notes = []
    if gaps[0] > max(gaps[1:]):
        notes.append(warning("outlying_code", question=question, value=f"{levels[0]:g}"))
    if gaps[-1] > max(gaps[:-1]):
        notes.append(warning("outlying_code", question=question, value=f"{levels[-1]:g}"))
    return notes


def with_missing(scale: Scale, missing: tuple[str, ...]) -> Scale:
    """The scale with the labels that mean no answer."""
    return replace(scale, missing=missing)
