"""``voirdire build screen`` and ``voirdire build decide``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli import judging_progress as jp
from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import add
from voirdire.cli.build_check import tell_notes
from voirdire.cli.config import collect
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.app.build_screen import Screened
    from voirdire.construction.screening_opinion import Opinion

SHOWN = 10


def _option(name: str, panel: str, metavar: str | None = None) -> Any:
    key = name.removeprefix("--").replace("-", "_")
    return typer.Option(
        name, help=f"cli_screen.option.{key}", rich_help_panel=f"cli_screen.panel.{panel}", metavar=metavar
    )


Dir = Annotated[Path, typer.Argument(help="cli_build.option.dir", metavar="DIR")]
Ratings = Annotated[Path, _option("--ratings", "pilot", "FILE")]
Checklist = Annotated[Path | None, _option("--checklist", "pilot", "FILE")]
Question = Annotated[str | None, _option("--question", "pilot", "NAME")]
Regime = Annotated[str | None, _option("--regime", "pilot", "NAME")]
Judge = Annotated[str | None, _option("--judge", "judge", "PROVIDER/MODEL")]
BaseUrl = Annotated[str | None, _option("--base-url", "judge", "URL")]
Budget = Annotated[float | None, _option("--budget", "judge", "USD")]
Concept = Annotated[str, typer.Argument(help="cli_screen.option.concept", metavar="CONCEPT")]
Verdict = Annotated[str, typer.Argument(help="cli_screen.option.verdict", metavar="VERDICT")]
By = Annotated[str, _option("--by", "decision", "NAME")]
Why = Annotated[str, _option("--why", "decision", "TEXT")]


def register(group: typer.Typer) -> None:
    """Add the two commands."""
    add(group, "screen", screen, "cli_screen.screen")
    add(group, "decide", decide, "cli_screen.decide")


def screen(
    ctx: typer.Context,
    folder: Dir,
    ratings: Ratings,
    checklist: Checklist = None,
    question: Question = None,
    regime: Regime = None,
    judge: Judge = None,
    base_url: BaseUrl = None,
    budget: Budget = None,
    raters: o.Raters = None,
    questions: o.Questions = None,
    pool: o.Pool = None,
    pool_column: o.PoolColumn = None,
    scale: o.ScaleOption = None,
    map: o.Map = None,
    missing_label: o.MissingLabel = None,
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    from voirdire.app.build_screen import Listening, build_screen
    from voirdire.construction.imaging.settings import GENERATED
    from voirdire.judging.progress import Watch

    spoken = ctx.find_object(str) or "en"
    asking = {name: value for name, value in (("base_url", base_url), ("budget", budget)) if value is not None}
    watch = Watch()
    with show.Progress(spoken) as progress, jp.Board(watch.snapshot, spoken) as board:
        made = build_screen(
            folder,
            ratings=ratings,
            checklist=checklist,
            judge=judge,
            question=question,
            regime=regime or GENERATED,
            lang=spoken,
            tables=collect({name: ctx.params[name] for name in o.RATED}),
            asking=asking,
            listening=Listening(progress if judge is None else None, watch, lambda _: board.start()),
        )
    if json:
        show.json(_document(made, spoken))
    else:
        _tell(made, folder, spoken)


def decide(
    ctx: typer.Context,
    folder: Dir,
    concept: Concept,
    verdict: Verdict,
    by: By = "",
    why: Why = "",
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    from voirdire.app.build_screen import build_decide
    from voirdire.construction.screening_decisions import step_of

    spoken = ctx.find_object(str) or "en"
    found = build_decide(folder, concept, verdict, by=by, why=why)
    step = step_of(found.suggested, verdict)
    if json:
        show.json({"command": "build decide", **asdict(found), "verdict": found.verdict, "step": step})
        return
    told = {"concept": show.clean(concept), "verdict": text(f"screening.verdict.{found.verdict}", spoken)}
    key = "cli_screen.decided" if found.decided else "cli_screen.held"
    show.out(text(key, spoken, **told, step=text(f"cli_screen.step.{step}", spoken), by=show.clean(found.by)))


def _document(made: Screened, lang: str) -> dict[str, Any]:
    from voirdire.construction.screening_page import sentences

    screening = made.screening
    pairs = [
        {
            "concept": pair.concept,
            "suggested": pair.verdict,
            "reasons": pair.reasons,
            "verdict": made.standing[pair.concept].verdict,
            "decided": made.standing[pair.concept].decided,
            "said": list(sentences(pair, lang)),
            "measures": [asdict(one) for one in pair.measures],
            "votes": pair.votes,
        }
        for pair in screening.pairs
    ]
    told: dict[str, Any] = {
        "counts": screening.counts,
        "rule": screening.rule.as_dict(),
        "unrated": screening.unrated,
        "pairs": pairs,
    }
    told |= {"raters": screening.raters, "power": [asdict(one) for one in screening.power]}
    told |= {"alike": screening.alike, "variances": screening.variances}
    opinion = None if made.opinion is None else {**asdict(made.opinion), "decides": False}
    notes = [text(note.key, lang, **note.fields) for note in made.notes]
    files = {"table": str(made.table), "page": str(made.page)}
    return {"command": "build screen", **told, "opinion": opinion, "notes": notes, **files}


def _tell(made: Screened, folder: Path, lang: str) -> None:
    from voirdire.construction.screening_rule import MEASURES

    tell_notes(made.notes, lang)
    screening = made.screening
    heads = [text(f"screening.head.{name}", lang) for name in ("pair", "suggested")]
    columns = [
        *heads,
        *(text(f"screening.measure.{name}", lang) for name in MEASURES),
        text("screening.head.decided", lang),
    ]
    if screening.pairs:
        show.out(show.table(columns, [_row(made, place, lang) for place in range(len(screening.pairs))]))
    show.out(text("cli_screen.counts", lang, pairs=len(screening.pairs), **screening.counts))
    _tell_power(made, lang)
    if screening.unrated:
        names = show.clean(", ".join(screening.unrated[:SHOWN]))
        show.out(text("cli_screen.unrated", lang, count=len(screening.unrated), concepts=names))
    if made.opinion is not None:
        _tell_opinion(made.opinion, lang)
    where = {"page": show.clean(made.page), "table": show.clean(made.table), "folder": show.pasted(folder)}
    show.out(text("cli_screen.where", lang, **where))


def _row(made: Screened, place: int, lang: str) -> list[str]:
    from voirdire.construction.screening_page import decision_words, number

    pair = made.screening.pairs[place]
    cells = [pair.concept, text(f"screening.verdict.{pair.verdict}", lang)]
    for one in pair.measures:
        finding = "" if one.undefined else f" {text(f'screening.finding.{one.verdict}', lang)}"
        cells.append(f"{_plain(number(one.value, one.name))}{finding}")
    return [*cells, decision_words(made.standing[pair.concept], lang)]


def _plain(number: str) -> str:
    """A number with a plain blank, which every terminal shows."""
    return number.replace("\u202f", " ")


def _tell_power(made: Screened, lang: str) -> None:
    """What pilots of about this size can show."""
    from voirdire.construction.screening_page import number

    screening = made.screening
    if screening.power:
        nearest = min(screening.power, key=lambda one: abs(one.n - screening.raters))
        told = {"detectable": number(nearest.detectable, "gap"), "dropped": _plain(number(nearest.dropped, "share"))}
        show.out(text("cli_screen.raters", lang, raters=f"{screening.raters:g}", **told))


def _tell_opinion(opinion: Opinion, lang: str) -> None:
    from voirdire.construction.screening_opinion import SATURATED

    told = {
        "judge": show.clean(opinion.judge),
        "count": sum(value >= SATURATED for value in opinion.ratings.values()),
        "total": len(opinion.ratings) + len(opinion.unanswered),
        "lacking": len(opinion.unanswered),
        "described": len(opinion.described),
    }
    show.out(text("cli_screen.judged", lang, level=SATURATED, **told))
