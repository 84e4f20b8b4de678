"""The contact sheet: every image of a regime on one page, the members of a pair side by side.

One self-contained HTML file: small copies of the images inside it, no script, nothing that is fetched, every text
escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pybase64

from voirdire.construction.build_file import BuildFile, title_of
from voirdire.construction.concepts import ConceptItem, Concepts
from voirdire.construction.imaging.checking import UNMADE, Checked, Problem
from voirdire.construction.imaging.logbook import Logged
from voirdire.construction.imaging.settings import ImageSettings
from voirdire.reporting.render import CONTROL, POLICY
from voirdire.reporting.templating import HTML_LANG, environment
from voirdire.texts import has, text


@dataclass(frozen=True, slots=True)
class Member:
    """An image of a pair as the sheet shows it; picture : a data address, empty where there is no image."""

    item: str
    culture: str
    realisation: str
    picture: str
    facts: str
    said: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """A concept as the sheet shows it; said : what concerns its images together."""

    concept: str
    category: str
    question: str
    members: tuple[Member, ...]
    said: tuple[str, ...]

    @property
    def flagged(self) -> bool:
        """Whether there is something to look at."""
        return bool(self.said or any(member.said for member in self.members))


def contact_sheet(
    checked: Checked, concepts: Concepts, build: BuildFile, settings: ImageSettings, batch: str, lang: str = "en"
) -> str:
    """The page in a language."""
    pairs = [pair for name in concepts.by_concept() if (pair := _pair(name, checked, concepts, build, lang))]
    page = (
        environment("voirdire.construction.imaging")
        .get_template("sheet.html.jinja")
        .render(
            name=build.name,
            flagged=[pair.concept for pair in pairs if pair.flagged],
            pairs=pairs,
            facts=_shared(checked, settings, batch, lang),
            counts=_counts(checked, pairs, lang),
            html_lang=HTML_LANG.get(lang, lang),
            policy=POLICY,
            t=lambda key, **fields: text(f"build_images.sheet.{key}", lang, **fields),
        )
    )
    return CONTROL.sub("\ufffd", page)


def sentence(problem: Problem, lang: str) -> str:
    """A problem in words."""
    fields = dict(problem.fields)
    if problem.kind == "malformed":
        label, _, detail = str(fields["why"]).partition(": ")
        key = f"build_images.reply.{label}"
        fields["why"] = text(key, lang, detail=detail or "-") if has(key, lang) else fields["why"]
    return text(f"build_images.problem.{problem.kind}", lang, items=", ".join(problem.items), **fields)


def _pair(name: str, checked: Checked, concepts: Concepts, build: BuildFile, lang: str) -> Pair | None:
    items = [item for item in concepts.by_concept()[name] if item.id in checked.rows]
    if not items:
        return None
    order = {culture: place for place, culture in enumerate(build.culture_names)}
    titles = {culture.name: title_of(culture, lang) for culture in build.cultures}
    items.sort(key=lambda item: order.get(item.culture, len(order)))
    members = tuple(_member(item, titles.get(item.culture, item.culture), items, checked, lang) for item in items)
    together = [one for one in checked.problems if _is_of_pair(one, items)]
    question = items[0].prompts.get(lang) or next(iter(items[0].prompts.values()), "")
    return Pair(name, items[0].category, question, members, tuple(sentence(one, lang) for one in together))


def _member(item: ConceptItem, culture: str, pair: Sequence[ConceptItem], checked: Checked, lang: str) -> Member:
    picture = facts = ""
    if (look := checked.looks.get(item.id)) is not None:
        picture = f"data:image/jpeg;base64,{pybase64.b64encode(look.thumb).decode()}"
        day = str(checked.rows[item.id].facts["at"])[:10]
        facts = f"{look.width} × {look.height} · {day} · {look.sha256[:12]}"
    said = tuple(sentence(one, lang) for one in checked.of(item.id) if not _is_of_pair(one, pair))
    return Member(item.id, culture, item.realisation, picture, facts, said)


def _is_of_pair(problem: Problem, items: Sequence[ConceptItem]) -> bool:
    return len(problem.items) > 1 and set(problem.items) <= {item.id for item in items}


def _shared(checked: Checked, settings: ImageSettings, batch: str, lang: str) -> list[tuple[str, str]]:
    """What all images of the regime share, and when they were made."""
    made = [row for row in checked.rows.values() if row.status == "ok"]
    days = sorted({str(row.facts["at"])[:10] for row in made if row.facts["at"]})
    shared = {"regime": settings.regime, "batch": batch, "maker": settings.maker}
    if settings.provider != "folder":
        shared |= {"served": _served(made)}
        shared |= {"form": f"{settings.aspect_ratio}, {settings.size}", "template": settings.template}
    shared["made"] = " - ".join(dict.fromkeys([days[0], days[-1]])) if days else "-"
    return [(text(f"build_images.sheet.{name}", lang), value) for name, value in shared.items()]


def _served(made: list[Logged]) -> str:
    return ", ".join(sorted({row.facts["served_model"] or "-" for row in made})) or "-"


def _counts(checked: Checked, pairs: list[Pair], lang: str) -> str:
    unmade = sum(row.status in UNMADE for row in checked.rows.values())
    flagged = sum(pair.flagged for pair in pairs)
    return text(
        "build_images.sheet.counts", lang, pairs=len(pairs), images=len(checked.looks), unmade=unmade, flagged=flagged
    )
