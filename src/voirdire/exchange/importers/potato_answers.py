"""What is stored for a scheme of Potato as answers to questions, and surveys as attributes of raters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from voirdire.exchange.importers import potato_schemes as kinds
from voirdire.exchange.importers.account import MISSING, Account
from voirdire.exchange.importers.answer_rows import CHOICES, NUMBER, PAIRWISE, RATING, TEXT, Answer, Control
from voirdire.exchange.importers.potato_files import Said
from voirdire.exchange.importers.potato_schemes import (
    BAD,
    FREE,
    Scheme,
    chosen,
    is_flag,
    listed,
    number,
    point,
    unchosen,
)

VOTES = {"a": "a", "b": "b", "tie": "tie"}
NEITHER = "neither"
LEFT = "potato.left"


class Reader:
    """Makes answers of what raters said, and counts what is left out.

    texts : take free texts too
    """

    def __init__(self, schemes: Mapping[str, Scheme], account: Account, *, texts: bool) -> None:
        self.schemes, self.account, self.texts = schemes, account, texts

    def answers(self, said: Said) -> Iterator[Answer]:
        """Every answer of a rater to an item; what is left out is counted."""
        for name, values in said.stored.items():
            if not unchosen(values.get(FREE)):
                yield from self._text(f"{name}: {FREE}", values[FREE], said)
            rest = {label: value for label, value in values.items() if label != FREE}
            if rest:
                yield from self._scheme(self.schemes[name], rest, said)

    def _scheme(self, scheme: Scheme, values: Mapping[str, Any], said: Said) -> Iterator[Answer]:
        kind = scheme.kind
        if kind == kinds.TEXT:
            for label, value in values.items():
                yield from self._text(scheme.name if len(values) == 1 else f"{scheme.name}: {label}", value, said)
        elif kind == kinds.OTHER:
            self._leave(f"{LEFT}.kind", said)
        elif kind in (kinds.SLIDER, kinds.NUMBER, kinds.PAIRSCALE):
            yield from self._number(scheme, values, said)
        elif kind in (kinds.PAIRWISE, kinds.RATES):
            for label, value in values.items():
                name = scheme.name if label in ("selection", "") else f"{scheme.name}: {label}"
                yield from self._one(name, kind, value, said)
        elif kind == kinds.SELECT or "" in values:
            value = values.get("", next(iter(values.values())))
            yield from self._column(scheme, value, said)
        else:
            yield from self._labels(scheme, chosen(values, said.legacy), said)

    def _labels(self, scheme: Scheme, labels: list[str], said: Said) -> Iterator[Answer]:
        """The answer that labels are: of a likert scale their number, of single choices the one chosen last."""
        if len(labels) > 1 and scheme.kind != kinds.MULTI:
            last = said.latest.get(scheme.name)
            if last not in labels:
                self._leave(f"{LEFT}.two", said)
                return
            labels = [str(last)]
        if not labels:
            self._leave(MISSING, said)
        elif scheme.kind == kinds.LIKERT:
            yield from self._point(scheme, labels[0], said)
        else:
            self.account.read()
            yield Answer(scheme.name, CHOICES, labels)

    def _point(self, scheme: Scheme, label: str, said: Said) -> Iterator[Answer]:
        found = label if label in scheme.labels else point(label)
        if label == BAD:
            self._leave(f"{LEFT}.bad_text", said)
        elif found is None:
            raise said.place.error("potato.point", scheme.name, label)
        else:
            self.account.read()
            yield Answer(scheme.name, RATING, found)

    def _column(self, scheme: Scheme, value: Any, said: Said) -> Iterator[Answer]:
        """An answer that stands as a whole: the option of a select, or a cell of an export by columns."""
        if unchosen(value):
            self._leave(MISSING, said)
        elif scheme.kind == kinds.LIKERT:
            found = number(value) if str(value) not in scheme.labels else None
            yield from self._point(scheme, str(value if found is None else found), said)
        elif scheme.kind == kinds.MULTI:
            yield from self._labels(scheme, listed(value), said)
        else:
            self.account.read()
            yield Answer(scheme.name, CHOICES, [str(value)])

    def _number(self, scheme: Scheme, values: Mapping[str, Any], said: Said) -> Iterator[Answer]:
        for value in values.values():
            found = number(value)
            if value in (None, ""):
                self._leave(MISSING, said)
            elif found is None:
                raise said.place.error("potato.number", scheme.name, value)
            else:
                self.account.read()
                yield Answer(scheme.name, NUMBER, found)

    def _one(self, name: str, kind: str, value: Any, said: Said) -> Iterator[Answer]:
        """A vote, or the rate of a row."""
        vote = VOTES.get(str(value).casefold())
        if unchosen(value):
            self._leave(MISSING, said)
        elif kind == kinds.RATES:
            self.account.read()
            yield Answer(name, CHOICES, [str(value)])
        elif str(value).casefold() == NEITHER:
            self._leave(f"{LEFT}.neither", said)
        elif vote is None:
            raise said.place.error("potato.vote", name, value)
        else:
            self.account.read()
            yield Answer(name, PAIRWISE, vote)

    def _text(self, name: str, value: Any, said: Said) -> Iterator[Answer]:
        if unchosen(value):
            return
        if self.texts:
            self.account.read()
            yield Answer(name, TEXT, str(value))
        else:
            self._leave(f"{LEFT}.text", said)

    def _leave(self, reason: str, said: Said) -> None:
        self.account.read()
        self.account.left(reason, at=said.place)


def controls_of(schemes: Mapping[str, Scheme]) -> dict[str, Control]:
    """What the config says of the scales, of the schemes that can be rated on."""
    ours = {
        kinds.RADIO: CHOICES, kinds.SELECT: CHOICES, kinds.MULTI: CHOICES, kinds.LIKERT: RATING,
        kinds.SLIDER: NUMBER, kinds.NUMBER: NUMBER, kinds.PAIRSCALE: NUMBER,
    }  # fmt: skip
    return {
        name: Control(name, ours[one.kind], one.low, one.high, one.labels, multiple=one.kind == kinds.MULTI)
        for name, one in schemes.items()
        if one.told and one.kind in ours
    }


def attributes(said: Said, *, texts: bool) -> tuple[dict[str, str], int]:
    """What a page of a survey tells of its rater, and how many free texts were left out of it."""
    found: dict[str, str] = {}
    left = 0
    for name, values in said.stored.items():
        labels = [label for label in chosen(values, said.legacy) if label not in kinds.FIXED]
        flags = [point(label) or label for label in labels if label and _is_choice(name, label, values[label], said)]
        typed = [value for label, value in values.items() if label in kinds.FIXED or label == ""]
        typed += [values[label] for label in labels if label and not _is_choice(name, label, values[label], said)]
        whole = [value for value in typed if texts or number(value) is not None or "select-one" in values]
        left += sum(not unchosen(value) for value in typed) - sum(not unchosen(value) for value in whole)
        told = [*flags, *(str(value) for value in whole if not unchosen(value))]
        if told:
            found[name] = "; ".join(told)
    return found, left


def _is_choice(scheme: str, label: str, value: Any, said: Said) -> bool:
    """Whether a label was chosen, and is not the name of a field that was filled in."""
    return is_flag(scheme, label, value) or (said.legacy and number(value) is not None)
