"""``voirdire build author``: the steps of the authoring protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import add
from voirdire.errors import UsageError
from voirdire.texts import has, text

if TYPE_CHECKING:
    from voirdire.app.build_author import Authored
    from voirdire.construction.history import Event


SINGLE = ("status", "history", "write")
"""Steps that are of one concept alone."""


def _option(name: str, panel: str, metavar: str | None = None) -> Any:
    key = name.removeprefix("--").replace("-", "_")
    return typer.Option(
        name, help=f"cli_author.option.{key}", rich_help_panel=f"cli_author.panel.{panel}", metavar=metavar
    )


Dir = Annotated[Path, typer.Argument(help="cli_build.option.dir", metavar="DIR")]
Action = Annotated[str, typer.Argument(help="cli_author.option.action", metavar="[STEP]")]
Named = Annotated[o.Words, typer.Argument(help="cli_author.option.concept", metavar="[CONCEPT]...")]
By = Annotated[str, _option("--by", "step", "NAME")]
NoteText = Annotated[str, _option("--note", "step", "TEXT")]
Reason = Annotated[str, _option("--reason", "step", "REASON")]
Raters = Annotated[Path | None, _option("--raters", "step", "FILE")]
Category = Annotated[str | None, _option("--category", "text", "NAME")]
Realisations = Annotated[o.Words, _option("--realisation", "text", "CULTURE=TEXT")]
Questions = Annotated[o.Words, _option("--question", "text", "LANG=TEXT")]
Author = Annotated[str, _option("--author", "people", "NAME")]
Reviewer = Annotated[str, _option("--reviewer", "people", "NAME")]


def register(group: typer.Typer) -> None:
    """Add the command to the group."""
    add(group, "author", author, "cli_author")


def author(
    ctx: typer.Context,
    folder: Dir,
    action: Action = "status",
    concept: Named = None,
    by: By = "",
    note: NoteText = "",
    reason: Reason = "",
    raters: Raters = None,
    category: Category = None,
    realisation: Realisations = None,
    question: Questions = None,
    new_author: Author = "",
    reviewer: Reviewer = "",
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    from voirdire.app.build_author import build_author

    spoken = ctx.find_object(str) or "en"
    names = list(dict.fromkeys(concept or [""]))
    if len(names) > 1 and action in SINGLE:
        raise UsageError("cli_author.one_concept", action=action, count=len(names))
    said: dict[str, Any] = {"by": by, "note": note, "reason": reason, "category": category, "raters": raters}
    said |= {"realisations": _pairs(realisation, "--realisation"), "questions": _pairs(question, "--question")}
    done: list[Authored] = []
    try:
        for name in names:
            done.append(build_author(folder, action, name, **said, author=new_author, reviewer=reviewer))  # noqa: PERF401
    finally:
        if done and not json:
            _tell(_together(done), action, spoken)
    if json:
        show.json({"command": "build author", "step": action, **_document(_together(done), spoken)})


def _together(done: Sequence[Authored]) -> Authored:
    """What is told of a step with several concepts: where each stands, and the sums after the last."""
    rows = tuple(row for one in done for row in one.standings)
    return replace(done[-1], standings=rows) if done[1:] else done[-1]


def state_counts(states: Mapping[str, int], lang: str) -> str:
    """How many concepts are in each state, in words."""
    return ", ".join(f"{text(f'authoring.state.{state}', lang)} {count}" for state, count in states.items() if count)


def _pairs(given: list[str] | None, option: str) -> dict[str, str]:
    """NAME=TEXT, several times. Raises UsageError for one without a name, and for a name twice."""
    found: dict[str, str] = {}
    for one in given or ():
        name, equals, value = one.partition("=")
        if not equals or not name.strip() or name.strip() in found:
            raise UsageError("cli_author.pair_form", option=option, value=one)
        found[name.strip()] = value.strip()
    return found


def _document(told: Authored, lang: str) -> dict[str, Any]:
    rows = [{**asdict(one), "waiting": one.waiting, "can": one.can()} for one in told.standings]
    people = {name: {"writes": wrote, "reviews": reviewed} for name, (wrote, reviewed) in told.loads.items()}
    notes = [text(note.key, lang, **note.fields) for note in told.notes]
    return {
        "concepts": rows,
        "planned": told.planned,
        "people": people,
        "states": told.counts,
        "events": told.events,
        "text": told.text or None,
        "digest": told.digest or None,
        "notes": notes,
    }


def _tell(told: Authored, action: str, lang: str) -> None:
    for note in told.notes:
        show.out(show.clean(text(note.key, lang, **note.fields)))
    if action == "history":
        for event in told.events:
            show.out(_event(event, lang))
        return
    columns = [text(f"cli_author.column.{name}", lang) for name in ("concept", "state", "author", "reviewer", "turn")]
    rows = [
        [one.concept, _state(one.state, one.reason, lang), one.author, one.reviewer, one.waiting]
        for one in told.standings
    ]
    show.out(show.table(columns, rows) if rows else text("cli_author.none", lang))
    if told.text:
        _tell_text(told, lang)
    elif action == "status":
        show.out("")
        _tell_sums(told, lang)


def _tell_text(told: Authored, lang: str) -> None:
    """The text of a concept, what was said of it last, and what can be done with it."""
    questions: dict[str, None] = {}
    for culture, part in told.text.items():
        shown = show.clean(part["realisation"]) or "-"
        show.out(text("cli_author.shown", lang, culture=show.clean(culture), text=shown))
        for language, said in part.get("alt", {}).items():
            show.out(text("cli_author.described", lang, language=language, text=show.clean(said)))
        for language, asked in part["prompt"].items():
            questions[text("cli_author.asked", lang, language=language, text=show.clean(asked))] = None
    for line in questions:
        show.out(line)
    for one in told.standings:
        if one.note:
            show.out(text("cli_author.said", lang, by=show.clean(one.by), note=show.clean(one.note)))
        possible = "; ".join(f"{name} ({', '.join(people)})" for name, people in one.can().items())
        show.out(text("cli_author.possible", lang, possible=show.clean(possible) or "-"))


def _tell_sums(told: Authored, lang: str) -> None:
    show.out(text("cli_author.states", lang, states=state_counts(told.counts, lang) or "-"))
    columns = [text(f"cli_author.column.{name}", lang) for name in ("person", "writes", "reviews")]
    if told.loads:
        show.out(show.table(columns, [[name, str(a), str(b)] for name, (a, b) in told.loads.items()]))
    if told.planned:
        show.out(text("cli_author.planned", lang, count=len(told.planned)))


def _event(event: Event, lang: str) -> str:
    """One line of the history; what people wrote is shown with its control characters made visible."""
    what = str(event.get("action") or event["kind"])
    told = " ".join(str(event[name]) for name in ("at", "by", "concept") if event[name])
    if event["kind"] == "assigned":
        told += text("cli_author.hands", lang, author=event.get("author", ""), reviewer=event.get("reviewer", ""))
    more = [str(event["note"])] if event.get("note") else []
    if event.get("reason"):
        what += f" ({_reason(str(event['reason']), lang)})"
    return show.clean(": ".join([f"{told} {what}", *more]))


def _state(state: str, reason: str, lang: str) -> str:
    """A state, and why, of a concept that was rejected."""
    word = text(f"authoring.state.{state}", lang)
    return f"{word}: {_reason(reason, lang)}" if reason else word


def _reason(reason: str, lang: str) -> str:
    key = f"authoring.reason.{reason}"
    return text(key, lang) if has(key, lang) else reason
