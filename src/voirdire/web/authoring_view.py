"""What the authoring pages show of concepts, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from voirdire.construction.authoring import text_digest
from voirdire.construction.build_file import BuildFile, title_of
from voirdire.construction.concepts import ConceptItem
from voirdire.construction.history import Event
from voirdire.construction.imaging.settings import GENERATED
from voirdire.construction.overview import overview
from voirdire.construction.schedule import ASSIGNED
from voirdire.construction.screening_decisions import DECIDED
from voirdire.construction.screening_opinion import image_of
from voirdire.construction.screening_page import decider
from voirdire.construction.standing import ACCEPTED, AUTHORING, MOVES, REASONS, REJECTED, TEXT, Standing
from voirdire.construction.translation.verifying import TRANSLATION
from voirdire.errors import UsageError, VoirdireError
from voirdire.reporting.access import View
from voirdire.texts import has, text
from voirdire.web.lead_access import NAMES
from voirdire.web.workshop import Bench

WAS = "was."
"""Before the name of a field: what stood there when the form was shown."""

WRITABLE = ("submit", "revise")
DECISIONS = ("review", "accept", "reject")


@dataclass(frozen=True, slots=True)
class Field:
    """A text of a concept, as a form shows it.

    name : of the field; value : typed, else what stands there; now : what stands there, where another text was typed
    stands : what stands there; sent along, so that what was not touched takes the new text when it changed meanwhile
    """

    name: str
    label: str
    value: str
    lang: str = ""
    now: str = ""
    image: str = ""
    differs: bool = False
    described: tuple[str, ...] = ()
    stands: str = ""


@dataclass(frozen=True, slots=True)
class ConceptShown:
    """A concept, its members side by side, and what a person may do with it.

    hand_in : the move that hands it in, for the author; decisions : the moves that a form offers
    """

    standing: Standing
    state: str
    reason: str
    at: str
    category: Field
    members: tuple[Field, ...]
    questions: tuple[Field, ...]
    digest: str
    hand_in: str = ""
    decisions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EventShown:
    """A step that was taken; texts : label -> what was written with it."""

    at: str
    by: str
    did: str
    note: str = ""
    texts: tuple[tuple[str, str], ...] = field(default=())


def concept_shown(
    bench: Bench, concept: str, person: str, lang: str, typed: Mapping[str, str] | None = None
) -> ConceptShown:
    """A concept as a person sees it; typed : what stands in the form instead. Raises UsageError for an unknown one."""
    items = bench.concepts.by_concept().get(concept)
    if items is None:
        raise UsageError("authoring.concept_unknown", value=concept, known="-")
    one = next(row for row in overview(bench.build, bench.concepts, bench.history).standings if row.concept == concept)
    can = [name for name, people in one.can().items() if person and person in people]
    given = typed or {}
    return ConceptShown(
        one,
        text(f"authoring.state.{one.state}", lang),
        reason_words(one.reason, lang),
        when(one.at),
        _field("category", "", items[0].category, given),
        tuple(_member(bench, item, lang, given) for item in items),
        tuple(_questions(bench, items, given)),
        text_digest(items),
        next((name for name in can if name in WRITABLE), ""),
        tuple(name for name in can if name in DECISIONS),
    )


def rows_shown(bench: Bench, lang: str) -> list[dict[str, Any]]:
    """Every concept: its state, its people, whose turn it is and for what."""
    categories = {item.concept: item.category for item in bench.concepts.items}
    return [
        {
            "concept": one.concept,
            "category": categories.get(one.concept, ""),
            "state": text(f"authoring.state.{one.state}", lang),
            "mark": one.state,
            "reason": reason_words(one.reason, lang),
            "author": one.author,
            "reviewer": one.reviewer,
            "waiting": one.waiting,
            "todo": text(f"authoring.todo.{one.state}", lang) if one.waiting else "",
            "at": when(one.at),
            "done": one.state in (ACCEPTED, REJECTED),
        }
        for one in overview(bench.build, bench.concepts, bench.history).standings
    ]


def events_shown(bench: Bench, concept: str, lang: str) -> list[EventShown]:
    """Everything that was done with a concept, the latest first."""
    return [_event(event, lang) for event in reversed(bench.history.events) if event["concept"] == concept]


def changes(bench: Bench, concept: str, form: Mapping[str, str]) -> dict[str, Any]:
    """What a form changes: ``category``, ``realisations`` by culture, ``prompts`` by language."""
    shown = concept_shown(bench, concept, "", "en", form)
    found: dict[str, Any] = {"realisations": {}, "prompts": {}}
    if shown.category.name in form and shown.category.now != "":
        found["category"] = shown.category.value
    for one in (*shown.members, *shown.questions):
        kind, _, name = one.name.partition(".")
        if one.name in form and (one.now != "" or one.differs):
            found["realisations" if kind == "realisation" else "prompts"][name] = one.value
    return found


def stands(shown: ConceptShown, form: Mapping[str, str]) -> bool:
    """Whether every text of a form that was sent stands in the table."""
    fields = [one for one in (shown.category, *shown.members, *shown.questions) if one.name in form]
    return bool(fields) and all(not one.now for one in fields)


def tidy(form: Mapping[str, str]) -> dict[str, str]:
    r"""The fields of a form with the line breaks of files, and nothing around them.

    >>> tidy({"note": " one\r\ntwo "})
    {'note': 'one\ntwo'}
    """
    return {name: value.replace("\r\n", "\n").replace("\r", "\n").strip() for name, value in form.items()}


def sentence_of(error: VoirdireError, lang: str) -> str:
    """What is wrong, in words for a page: files without the folders that they lie in, and no options of a command."""
    own = f"authoring.on_page.{error.key.rpartition('.')[2]}"
    if has(own, lang):
        fields = dict(error.fields)
        if "suggested" in fields:
            fields["suggested"] = _verdict(str(fields["suggested"]), lang)
        return text(own, lang, **fields)
    return text(error.key, lang, **on_page(error.fields)) if "file" in error.fields else error.message(lang)


def on_page(fields: Mapping[str, Any]) -> dict[str, Any]:
    """What a sentence names, for a page: the file without the folders that it lies in.

    >>> on_page({"file": "/home/ana/mine/concepts.csv", "row": 3})
    {'file': 'concepts.csv', 'row': 3}
    """
    if "file" not in fields:
        return dict(fields)
    return {**fields, "file": str(fields["file"]).replace("\\", "/").rpartition("/")[2]}


def culture_words(build: BuildFile, name: str, lang: str) -> str:
    """A culture by its title, where it has one."""
    culture = next((one for one in build.cultures if one.name == name), None)
    return name if culture is None else title_of(culture, lang)


def reason_words(reason: str, lang: str) -> str:
    """Why something was rejected, in words; a reason that other hands wrote as it stands."""
    key = f"authoring.reason.{reason}"
    return text(key, lang) if reason in REASONS and has(key, lang) else View.clean(reason)


def when(at: str) -> str:
    """A time of the history, to the minute, in UTC.

    >>> when("2026-03-01T09:30:11.120Z")
    '2026-03-01 09:30'
    """
    return View.clean(at[:16].replace("T", " "))


def _field(name: str, label: str, now: str, given: Mapping[str, str], **more: Any) -> Field:
    value = given.get(name, now)
    value = now if value == given.get(f"{WAS}{name}") else value
    return Field(name, label, value, now="" if value == now else now or "-", stands=now, **more)


def _member(bench: Bench, item: ConceptItem, lang: str, given: Mapping[str, str]) -> Field:
    label = culture_words(bench.build, item.culture, lang)
    image = f"/pictures/{item.id}" if image_of(bench.folder, GENERATED, item.id) else ""
    alts = tuple(_described(language, said, lang) for language, said in item.alts.items())
    return _field(f"realisation.{item.culture}", label, item.realisation, given, image=image, described=alts)


def _described(language: str, said: str, lang: str) -> str:
    fields = {"language": NAMES.get(language, View.clean(language)), "text": View.clean(said)}
    return text("authoring.page.described", lang, **fields)


def _questions(bench: Bench, items: Sequence[ConceptItem], given: Mapping[str, str]) -> Iterator[Field]:
    for language in bench.build.languages:
        asked = [item.prompts.get(language, "") for item in items]
        more = {"lang": language, "differs": len(set(asked)) > 1}
        yield _field(f"prompt.{language}", NAMES.get(language, language), asked[0], given, **more)


def _event(event: Event, lang: str) -> EventShown:
    texts = tuple(_texts(event, lang))
    note = View.clean(event.get("note", ""))
    nobody = text("authoring.page.rotation", lang) if event["kind"] == ASSIGNED else ""
    by = decider(str(event["by"]), lang) or nobody
    return EventShown(when(str(event["at"])), by, _did(event, lang), note, texts)


def _did(event: Event, lang: str) -> str:
    kind, action = event["kind"], str(event.get("action", ""))
    if kind == ASSIGNED:
        people = {name: View.clean(event.get(name, "")) for name in ("author", "reviewer")}
        return text("authoring.did.assigned", lang, **people)
    if kind == DECIDED:
        return text("authoring.did.decided", lang, verdict=_verdict(str(event.get("verdict", "")), lang))
    if (kind == AUTHORING and action in MOVES) or (kind == TEXT and action in ("add", "write")):
        did = text(f"authoring.did.{action}", lang)
        reason = reason_words(str(event.get("reason", "")), lang)
        return text("authoring.did.because", lang, did=did, reason=reason) if reason else did
    translated = f"authoring.did.translation_{action}"
    if kind == TRANSLATION and has(translated, lang):
        language = str(event.get("language", ""))
        return text(translated, lang, language=NAMES.get(language, View.clean(language)))
    return text("authoring.did.other", lang, kind=View.clean(kind))


def _verdict(verdict: str, lang: str) -> str:
    key = f"screening.verdict.{verdict}"
    return text(key, lang) if has(key, lang) else View.clean(verdict)


def _texts(event: Event, lang: str) -> Iterator[tuple[str, str]]:
    """The texts that stand in an event: of a move by culture, of writing by kind; questions that repeat once."""
    told = event.get("text")
    told = told if isinstance(told, Mapping) else {}
    seen: set[tuple[str, str]] = set()
    for place, part in told.items():
        for name, value in part.items() if isinstance(part, Mapping) else ((place, part),):
            for inner, said in value.items() if isinstance(value, Mapping) else ((name, value),):
                label = str(place) if name in ("realisation", "alt") else str(inner)
                words = _described(str(inner), str(said), lang) if name == "alt" else View.clean(said or "")
                line = (_label(label, lang), words)
                if line[1] and line not in seen:
                    seen.add(line)
                    yield line


def _label(name: str, lang: str) -> str:
    return text("authoring.page.category", lang) if name == "category" else NAMES.get(name, View.clean(name))
