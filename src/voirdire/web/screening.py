"""What a visitor answers before the first item: consent and screening, from a form to who may join.

A form has one field for each box that can be ticked, so that no field stands in it twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from voirdire.annotation.nouns import Screening

CONSENT = "consent"


@dataclass(frozen=True, slots=True)
class Screened:
    """What a form said.

    chosen : screening question -> values; unanswered : questions without any; consent : whether it was given
    """

    chosen: Mapping[str, tuple[str, ...]]
    unanswered: tuple[str, ...]
    consent: bool

    @property
    def complete(self) -> bool:
        """Whether there is nothing left to ask."""
        return self.consent and not self.unanswered


def field_name(question: int, option: int | None = None) -> str:
    """The name of a field: of a question of which one option is chosen, or of one box of several.

    >>> field_name(0), field_name(2, 1)
    ('screening.0', 'screening.2.1')
    """
    return f"screening.{question}" if option is None else f"screening.{question}.{option}"


def read_form(screening: Sequence[Screening], form: Mapping[str, str]) -> Screened:
    """What was chosen; options that do not exist count as not chosen.

    >>> from voirdire.annotation.nouns import Option
    >>> asked = Screening("age", (Option("24-30"), Option("other")))
    >>> read_form([asked], {"screening.0": "24-30", "consent": "yes"}).chosen
    {'age': ('24-30',)}
    """
    chosen = {asked.id: _chosen(place, asked, form) for place, asked in enumerate(screening)}
    unanswered = tuple(name for name, values in chosen.items() if not values)
    return Screened(chosen, unanswered, form.get(CONSENT) == "yes")


def passes(screening: Sequence[Screening], pool: str, chosen: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether these answers let somebody into a pool."""
    return all(_accepted(asked, pool, chosen[asked.id]) for asked in screening)


def kept(screening: Sequence[Screening], chosen: Mapping[str, tuple[str, ...]]) -> dict[str, str | list[str]]:
    """The answers that are stored: one value as a text, several as a list."""
    return {
        asked.id: list(chosen[asked.id]) if asked.kind == "many" else chosen[asked.id][0]
        for asked in screening
        if asked.keep
    }


def _chosen(place: int, asked: Screening, form: Mapping[str, str]) -> tuple[str, ...]:
    if asked.kind == "many":
        options = enumerate(asked.options)
        return tuple(option.value for number, option in options if form.get(field_name(place, number)) == option.value)
    value = form.get(field_name(place))
    return tuple(option.value for option in asked.options if option.value == value)


def _accepted(asked: Screening, pool: str, values: tuple[str, ...]) -> bool:
    if pool not in asked.accept:
        return True
    wanted = set(asked.accept[pool])
    return wanted <= set(values) if asked.all_of else bool(wanted & set(values))
