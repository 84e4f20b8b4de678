"""How a report opens: whether each judge is oriented to a pool, what its T is made of, and all of it at one glance.

*Oriented* is said only by the test of neutrality, *nearer* only by T and delta; where the two say different things the
report says so plainly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from voirdire.reporting.access import ALL, Cell, Row, View
from voirdire.reporting.words import Words

PARTS = ("image", "permissiveness", "orientation")
SUMMANDS = ("base", *PARTS, "remainder")
NEARER = {"nearer_a": 0, "nearer_b": 1}
ORIENTED = {"oriented_a": 0, "oriented_b": 1}
MOST_CULTURES = 3


@dataclass(frozen=True)
class Standing:
    """Where a judge stands between the pools of a pair.

    cell : the rows that were read, which is the baseline's where all conditions together have no decomposition
    nearer, oriented, leaning : 0 for the first pool, 1 for the second, None for neither or unknown; ``leaning`` is the
        side that the interval of T excludes 0 to
    tested : whether the test of neutrality gave an answer
    reason : why not (a key of the undefined numbers), empty where it did
    """

    pair: tuple[str, str]
    cell: Cell
    nearer: int | None
    oriented: int | None
    leaning: int | None
    tested: bool
    reason: str

    @property
    def misleads(self) -> bool:
        """Whether T points to a side and the test of neutrality, which gave an answer, does not point there too."""
        return self.tested and self.leaning is not None and self.leaning != self.oriented


def place_of(question: str, pair: tuple[str, str], cell: Cell) -> dict[str, str]:
    """The place of a judge's estimates between two pools."""
    return {
        "question": question, "pool": pair[0], "pool_b": pair[1], "judge": cell.judge, "condition": cell.condition,
    }  # fmt: skip


def decomposed(view: View, question: str, pair: tuple[str, str], cell: Cell) -> Cell | None:
    """The cell whose decomposition stands for this one: itself, or its judge in the first block that has one."""
    blocks = view.design(question).get("blocks") or []
    for condition in (cell.condition, *(blocks if cell.condition == ALL else ())):
        here = Cell(cell.judge, condition)
        if view.row("orientation.verdict", **place_of(question, pair, here)) is not None:
            return here
    return None


def standing(view: View, question: str, pair: tuple[str, str], cell: Cell) -> Standing | None:
    """Where a judge stands between two pools, or None where nobody computed its orientation."""
    here = decomposed(view, question, pair, cell)
    if here is None:
        return None
    place = place_of(question, pair, here)
    label = _label(view.row("orientation.verdict", **place))
    nearer = NEARER.get(_label(view.row("verdict", **place)))
    tested = label in ORIENTED or label == "not_oriented"
    reason = "" if tested else _reason(view, place)
    return Standing(pair, here, nearer, ORIENTED.get(label), _leaning(view.row("tilt", **place)), tested, reason)


def _label(row: Row | None) -> str:
    return "" if row is None or row.label is None else row.label


def _reason(view: View, place: dict[str, str]) -> str:
    """Why the orientation is undefined, as its verdict or W says; empty where the rule itself says nothing."""
    rows = (view.row(name, **place) for name in ("orientation.verdict", "orientation.w"))
    return next((row.undefined for row in rows if row is not None and row.undefined is not None), "")


def _leaning(tilt: Row | None) -> int | None:
    if tilt is None or tilt.low is None or tilt.high is None or tilt.low <= 0 <= tilt.high:
        return None
    return 0 if tilt.low > 0 else 1


def sentences(view: View, words: Words, question: str, cell: Cell) -> list[str]:
    """The headline of one judge: for each pair its standing, W and the test, the warning, and what T is made of."""
    found: list[str] = []
    for pair in view.pairs(question):
        here = standing(view, question, pair, cell)
        if here is not None:
            found += [_verdict(view, words, question, here), *_warning(words, here)]
            found += _made_of(view, words, question, here)
    return found + _weights(view, words, question, cell)


def _verdict(view: View, words: Words, question: str, here: Standing) -> str:
    """One sentence by the rule, with W, its interval and the p of neutrality."""
    fields = {"a": here.pair[0], "b": here.pair[1], "reason": words.x("headline.no_reason")}
    fields["x"] = here.pair[here.oriented if here.oriented is not None else here.nearer or 0]
    fields["y"] = here.pair[1 - here.pair.index(fields["x"])]
    if here.reason:
        fields["reason"] = words.reason(here.reason)
    sentence = words.x(f"headline.{_kind(here)}", **fields)
    numbers = _w_and_p(view, words, question, here)
    sentence = words.t("with_number", sentence=sentence, number=words.list(numbers)) if numbers else sentence
    if len(view.pairs(question)) > 1:
        sentence = words.x("headline.between", sentence=sentence, a=here.pair[0], b=here.pair[1])
    return sentence


def _kind(here: Standing) -> str:
    """The key of the sentence: what the test says, then what T and delta say."""
    if here.oriented is not None:
        near = "open" if here.nearer is None else "same" if here.nearer == here.oriented else "other"
        return f"oriented.{near}"
    near = "open" if here.nearer is None else "near"
    return f"not_oriented.{near}" if here.tested else f"unknown.{near}"


def _w_and_p(view: View, words: Words, question: str, here: Standing) -> list[str]:
    place = place_of(question, here.pair, here.cell)
    found = []
    weight = view.row("orientation.w", **place)
    if weight is not None and weight.value is not None:
        value = words.number(weight.statistic, weight.value)
        found.append(f"W {value} {words.interval(weight)}".rstrip().replace(" ", "\u00a0"))
    contrast = view.row("orientation.contrast", **place)
    if not found and contrast is not None and contrast.value is not None:
        value = f"{words.number(contrast.statistic, contrast.value)} {words.interval(contrast)}".rstrip()
        shown = words.x("headline.contrast", a=here.pair[0], b=here.pair[1], value=value)
        found.append(shown)
    test = view.row("orientation.neutrality_p", **place)
    if test is not None and test.value is not None:
        found.append(words.x("headline.test", p=words.number(test.statistic, test.value)))
    if here.cell.condition not in {ALL, "-", ""} and found:
        found.append(words.x("headline.under", condition=words.selection(here.cell.condition)))
    return found


def _warning(words: Words, here: Standing) -> list[str]:
    """The plain warning where T points to one side and the test of neutrality does not."""
    if not here.misleads or here.leaning is None:
        return []
    side, other = here.pair[here.leaning], here.pair[1 - here.leaning]
    kind = "none" if here.oriented is None else "other"
    return [words.x(f"headline.warning.{kind}", x=side, y=other)]


def split(view: View, question: str, here: Standing, part: str = "all") -> dict[str, Row]:
    """The parts of T in a slice that have a value, by name."""
    place = place_of(question, here.pair, here.cell)
    rows = {name: view.row(f"tilt_split.{name}", slice=part, **place) for name in (*SUMMANDS, "observed")}
    return {name: row for name, row in rows.items() if row is not None and row.value is not None}


def faithful(view: View, question: str, pair: tuple[str, str], part: str = "all") -> Row | None:
    """T of a judge that gives the rounded mid-point of the two pools: what no orientation looks like here."""
    row = view.row("tilt_split.faithful", question=question, pool=pair[0], pool_b=pair[1], slice=part)
    return row if row is not None and row.value is not None else None


def _made_of(view: View, words: Words, question: str, here: Standing) -> list[str]:
    """What T is made of and which part is largest, permissiveness, and the use of the scale by culture."""
    found = split(view, question, here)
    told = []
    if {"observed", *SUMMANDS} <= set(found):
        shown = {name: words.number(row.statistic, row.value or 0.0) for name, row in found.items()}
        told = [words.x("headline.made_of", **shown), *_largest(words, found)]
    return [*told, *_permissive(view, words, question, here), *_use_of_scale(view, words, question, here)]


def _apart(row: Row | None, value: float = 0.0) -> bool:
    """Whether the interval leaves a value out; without an interval nothing is said."""
    return row is not None and row.low is not None and row.high is not None and not row.low <= value <= row.high


def _largest(words: Words, found: dict[str, Row]) -> list[str]:
    """The largest of the parts whose intervals leave out 0, or that none does; nothing where there are no intervals."""
    apart = [name for name in SUMMANDS if _apart(found[name])]
    if apart:
        largest = max(apart, key=lambda name: abs(found[name].value or 0.0))
        return [words.x("headline.largest", largest=words.x(f"part.{largest}"))]
    return [words.x("headline.no_part")] if all(found[name].low is not None for name in SUMMANDS) else []


def _permissive(view: View, words: Words, question: str, here: Standing) -> list[str]:
    """Whether the judge sides with the pool that rates an item higher (or lower), where pi's interval says so."""
    row = view.row("orientation.pi", **place_of(question, here.pair, here.cell))
    if row is None or row.value is None or not _apart(row):
        return []
    number = f"{words.number(row.statistic, row.value)} {words.interval(row)}".rstrip().replace(" ", "\u00a0")
    return [words.x(f"headline.pi.{'higher' if row.value > 0 else 'lower'}", number=number)]


def _use_of_scale(view: View, words: Words, question: str, here: Standing) -> list[str]:
    """T by culture of the items where the use of the scale alone takes T farther off 0 than a faithful judge's does.

    Over all items the cultures cancel. Of many cultures only those where it does are told.
    """
    found = {}
    for part in view.cultures(question, "tilt_split.base"):
        rows, neutral = split(view, question, here, part), faithful(view, question, here.pair, part)
        if "base" in rows and "observed" in rows and neutral is not None:
            found[part] = (rows["observed"], rows["base"], neutral)
    differ = [part for part, (_, base, neutral) in found.items() if _farther(base, neutral.value or 0.0)]
    if not differ:
        return []
    told = list(found) if len(found) <= MOST_CULTURES else differ
    parts = [
        words.x("headline.in_culture", slice=words.slice(part), **_numbers(words, found[part]))
        for part in told
    ]  # fmt: skip
    return [words.x("headline.use_of_scale", parts=words.x("headline.and_then").join(parts))]


def _farther(base: Row, neutral: float) -> bool:
    """Whether a part's interval leaves out both 0 and a faithful judge's value, and it is the farther from 0."""
    return _apart(base) and _apart(base, neutral) and abs(base.value or 0.0) > abs(neutral)


def _numbers(words: Words, rows: tuple[Row, Row, Row]) -> dict[str, str]:
    names = ("observed", "base", "faithful")
    return {name: words.number(row.statistic, row.value or 0.0) for name, row in zip(names, rows, strict=True)}


def _weights(view: View, words: Words, question: str, cell: Cell) -> list[str]:
    """With more than two pools: how much weight each pool has in the judge's ratings."""
    shown = []
    for pool in view.pools_of(question):
        row = view.row("orientation.weight", question=question, pool=pool, judge=cell.judge, condition=cell.condition)
        if row is not None and row.value is not None:
            value = f"{words.number(row.statistic, row.value)} {words.interval(row)}".rstrip()
            shown.append(f"{pool} {value}".replace(" ", "\u00a0"))
    return [words.x("headline.weights", weights=words.list(shown))] if len(shown) > 2 else []


def opened(view: View, words: Words, question: str, cells: Sequence[Cell]) -> list[tuple[str, tuple[str, ...]]]:
    """The headline: each judge with its sentences; judges without a decomposition are left out.

    One sentence where the same reason keeps every judge from having one.
    """
    found = [standing(view, question, pair, cell) for cell in cells for pair in view.pairs(question)]
    reasons = {here.reason if here.nearer is None else "" for here in found if here is not None}
    if len(found) > 1 and len(reasons) == 1 and "" not in reasons:
        return [("", (words.x("headline.none", reason=words.reason(reasons.pop())),))]
    entries = ((words.cell(cell), tuple(sentences(view, words, question, cell))) for cell in cells)
    return [entry for entry in entries if entry[1]]
