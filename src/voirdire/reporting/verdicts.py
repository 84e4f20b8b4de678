"""The verdicts in sentences: the pools first, then each judge against every pool and between each pair."""

from __future__ import annotations

from voirdire.reporting import pairwise
from voirdire.reporting.access import Cell, Row, View
from voirdire.reporting.words import Words

POOL_LABELS = ("as_near_as_rater", "better_than_constant", "worse_than_rater", "no_better_than_constant", "cannot_say")
PAIR_LABELS = ("nearer_a", "nearer_b", "sign_conflict", "undecided", "cannot_say")
LEAST = 30
VOTES = ("as_near_as_rater", "better_than_constant", "worse_than_rater", "no_better_than_constant")
"""Verdicts that read otherwise where a question asks for votes between two things."""
OPEN = ("undecided", "cannot_say", "sign_conflict")
GATES = ("pass", "pass_low_alpha", "fail", "unknown", "not_asked")


def width_of(view: View, question: str) -> float | None:
    """How wide the question's scale is, for rounding; 1 for shares of labels, None when unknown."""
    return view.width(question)


def judge_sentences(view: View, words: Words, question: str, cell: Cell) -> list[str]:
    """What can be said of one judge on this corpus."""
    if view.many_pools:
        sentences = _pools_by_label(view, words, question, cell)
    else:
        sentences = [s for pool in view.pools_of(question) if (s := _pool_sentence(view, words, question, cell, pool))]
    pairs = [s for pair in view.pairs(question) if (s := _pair_sentence(view, words, question, cell, pair))]
    return [*sentences, *pairs] or [words.t("verdict.none")]


def open_sentences(view: View, words: Words, question: str, cell: Cell) -> list[str]:
    """The sentences of those verdicts on one judge that decide nothing; each says why."""
    at = {"question": question, "judge": cell.judge, "condition": cell.condition}
    pools = [pool for pool in view.pools_of(question) if _label(view.row("verdict", pool=pool, **at)) in OPEN]
    pairs = [
        pair for pair in view.pairs(question) if _label(view.row("verdict", pool=pair[0], pool_b=pair[1], **at)) in OPEN
    ]
    return [
        *(_pool_sentence(view, words, question, cell, pool) for pool in pools),
        *(_pair_sentence(view, words, question, cell, pair) for pair in pairs),
    ]


def _pool_sentence(view: View, words: Words, question: str, cell: Cell, pool: str) -> str:
    place = {"question": question, "pool": pool, "judge": cell.judge, "condition": cell.condition}
    row = view.row("verdict", **place)
    label = _label(row)
    if label is None:
        return ""
    key = _why(view, question, label, row, (pool,))
    if view.votes(question):
        sentence = _of_votes(words, key, pool)
        numbers = pairwise.numbers(view, words, place)
        return words.t("with_number", sentence=sentence, number=words.list(numbers)) if numbers else sentence
    sentence = words.t(f"verdict.pool.{key}", pool=pool, least=LEAST)
    mae = view.row("mae", **place)
    if mae is None or mae.value is None:
        return sentence
    numbers = [_numbers(words, mae, width_of(view, question))]
    against = view.row("mae_vs_constant", **place)
    if label == "no_better_than_constant" and against is not None and against.value is not None:
        numbers.append(_numbers(words, against, width_of(view, question)))
    return words.t("with_number", sentence=sentence, number=words.list(numbers))


def _of_votes(words: Words, key: str, pool: str) -> str:
    """The verdict on a pool, of a question that asks for votes."""
    own = f"verdict.{key}"
    return words.v(own, pool=pool) if key in VOTES else words.t(f"verdict.pool.{key}", pool=pool, least=LEAST)


def _pools_by_label(view: View, words: Words, question: str, cell: Cell) -> list[str]:
    """One sentence for all the pools with the same verdict for the same reason."""
    by_key: dict[str, list[str]] = {}
    for pool in view.pools_of(question):
        row = view.row("verdict", question=question, pool=pool, judge=cell.judge, condition=cell.condition)
        label = _label(row)
        if label is not None:
            by_key.setdefault(_why(view, question, label, row, (pool,)), []).append(pool)
    order = [*POOL_LABELS, "cannot_say_few", "cannot_say_gate"]
    keys = sorted(by_key, key=order.index)
    if view.votes(question):
        return [_of_votes(words, key, words.list(by_key[key])) for key in keys]
    return [words.t(f"verdict.pool.{key}", pool=words.list(by_key[key]), least=LEAST) for key in keys]


def _pair_sentence(view: View, words: Words, question: str, cell: Cell, pair: tuple[str, str]) -> str:
    place = {"question": question, "pool": pair[0], "pool_b": pair[1], "judge": cell.judge, "condition": cell.condition}
    row = view.row("verdict", **place)
    label = _label(row)
    if label is None:
        return ""
    key = _undecided(view, place) if label == "undecided" else _why(view, question, label, row, pair)
    if label in {"nearer_a", "nearer_b"} and view.row("orientation.verdict", **place) is not None:
        key = f"{label}_told"
    if view.votes(question):
        return _pair_of_votes(view, words, place, label, key)
    sentence = words.t(f"verdict.pair.{key}", a=pair[0], b=pair[1], least=LEAST)
    tilt = view.row("tilt", **place)
    if tilt is None or tilt.value is None or label == "cannot_say":
        return sentence
    sentence = words.t("with_number", sentence=sentence, number=_numbers(words, tilt, None))
    permuted = view.row("tilt", params="control=permuted", **place)
    if permuted is None or permuted.value is None:
        return sentence
    return words.t("then", first=sentence, second=words.t("verdict.permuted", value=_number(words, permuted)))


def _pair_of_votes(view: View, words: Words, place: dict[str, str], label: str, key: str) -> str:
    """The verdict between two pools, of a question that asks for votes, with delta."""
    names = {"a": place["pool"], "b": place["pool_b"]}
    near = label in {"nearer_a", "nearer_b"}
    sentence = words.v(f"verdict.{label}", **names) if near else words.t(f"verdict.pair.{key}", least=LEAST, **names)
    told = pairwise.delta(view, words, place)
    return words.t("then", first=sentence, second=told) if told else sentence


def _undecided(view: View, place: dict[str, str]) -> str:
    """The key of the sentence that says which condition of the rule is not met."""
    pools = {name: place[name] for name in ("question", "pool", "pool_b")}
    if _label(view.row("gate.divergent", **pools)) == "no":
        return "undecided_gap"
    delta = view.row("delta", **place)
    if delta is None or delta.low is None or delta.high is None or delta.low <= 0 <= delta.high:
        return "undecided"
    return "undecided_noise"


def _why(view: View, question: str, label: str, row: Row | None, pools: tuple[str, ...]) -> str:
    """The key of a verdict's sentence; *cannot say* names the first reason of the rule that applies."""
    if label != "cannot_say":
        return label
    failed = [_label(view.row("gate", question=question, pool=pool)) == "fail" for pool in pools]
    if any(failed):
        return "cannot_say_gate_both" if len(failed) > 1 and all(failed) else "cannot_say_gate"
    return "cannot_say_few" if row is not None and row.n is not None and row.n < LEAST else label


def _numbers(words: Words, row: Row, width: float | None) -> str:
    name = words.statistic(row.statistic)
    value = words.number(row.statistic, row.value or 0.0, width)
    return f"{name} {value} {words.interval(row, width)}".rstrip().replace(" ", "\u00a0")


def _number(words: Words, row: Row) -> str:
    return words.number(row.statistic, row.value or 0.0, None)


def _label(row: Row | None) -> str | None:
    return None if row is None else row.label


def pool_sentences(view: View, words: Words, question: str) -> list[str]:
    """Whether the pools are good references, and whether they differ."""
    sentences = _gates(view, words, question)
    for pair in view.pairs(question):
        sentences.extend(_pair_gate(view, words, question, pair))
    return sentences


def _gates(view: View, words: Words, question: str) -> list[str]:
    by_label: dict[str, list[str]] = {}
    for pool in view.pools_of(question):
        label = _label(view.row("gate", question=question, pool=pool))
        if label is not None:
            by_label.setdefault(label, []).append(pool)
    return [words.t(f"gate.{label}", pools=words.list(by_label[label])) for label in GATES if label in by_label]


def _pair_gate(view: View, words: Words, question: str, pair: tuple[str, str]) -> list[str]:
    place = {"question": question, "pool": pair[0], "pool_b": pair[1]}
    names = {"a": pair[0], "b": pair[1]}
    sentences = []
    divergent = _label(view.row("gate.divergent", **place))
    if divergent is not None:
        sentence = words.t(f"divergent.{divergent}", **names)
        test = view.row("gap_test.p", **place)
        if test is not None and test.value is not None:
            shown = words.number("gap_test.p", test.value)
            number = words.t("named_number", name=words.statistic("gap_test.p"), number=shown)
            sentence = words.t("with_number", sentence=sentence, number=number)
        sentences.append(sentence)
    recognition = _label(view.row("gate.evaluation_not_recognition", **place))
    if recognition in {"yes", "sides_differ", "not_subjective"}:
        sentences.append(words.t(f"recognition.{recognition}", **names))
    if _label(view.row("composition", **place)) == "simpson":
        sentences.append(words.t("simpson", **names))
    return sentences
