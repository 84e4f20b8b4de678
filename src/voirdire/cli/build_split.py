"""``voirdire build split``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import add
from voirdire.cli.build_check import tell_notes
from voirdire.cli.config import collect
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.app.build_split import BuildSplit

SHOWN = 10


def _option(name: str, metavar: str | None = None) -> Any:
    key = name.removeprefix("--").replace("-", "_")
    return typer.Option(name, help=f"cli_build.option.{key}", rich_help_panel="cli_build.panel.split", metavar=metavar)


Dir = Annotated[Path, typer.Argument(help="cli_build.option.dir", metavar="DIR")]
Ratings = Annotated[Path | None, _option("--ratings", "FILE")]
Question = Annotated[str | None, _option("--question", "NAME")]
Demonstration = Annotated[int | None, _option("--demonstration", "N")]
Pilot = Annotated[int | None, _option("--pilot", "N")]
PerLevel = Annotated[int | None, _option("--per-level", "N")]
Seed = Annotated[int | None, _option("--seed", "N")]
Again = Annotated[bool, _option("--again")]
DryRun = Annotated[bool, _option("--dry-run")]


def register(group: typer.Typer) -> None:
    """Add the command."""
    add(group, "split", split, "cli_build.split")


def split(
    ctx: typer.Context,
    folder: Dir,
    ratings: Ratings = None,
    question: Question = None,
    demonstration: Demonstration = None,
    pilot: Pilot = None,
    per_level: PerLevel = None,
    seed: Seed = None,
    again: Again = False,
    dry_run: DryRun = False,
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
    from voirdire.app.build_split import build_split

    spoken = ctx.find_object(str) or "en"
    named = {"demonstration": demonstration, "pilot": pilot, "per_level": per_level, "seed": seed}
    reading = collect({name: ctx.params[name] for name in o.RATED})
    made = build_split(
        folder, ratings=ratings, question=question, again=again, dry_run=dry_run, tables=reading, **named
    )
    if json:
        show.json(_document(made, dry_run))
    else:
        _tell(made, spoken, dry_run)


def _document(made: BuildSplit, dry_run: bool) -> dict[str, Any]:
    told = {"splits": dict(made.split.splits), "counts": made.split.counts(), "waiting": made.split.waiting}
    told |= {"coverage": [asdict(one) for one in made.split.coverage], "plan": asdict(made.plan)}
    missing = [asdict(one) for one in made.split.missing]
    told |= {"missing": missing, "question": made.question or None, "changed": made.changed, "written": not dry_run}
    return {"command": "build split", **told}


def _tell(made: BuildSplit, lang: str, dry_run: bool) -> None:
    tell_notes(made.notes, lang)
    counts = made.split.counts()
    columns = [text(f"cli_build.split_name.{name}", lang) for name in counts]
    show.out(show.table(columns, [[str(count) for count in counts.values()]]))
    if made.split.waiting:
        names = show.clean(", ".join(made.split.waiting[:SHOWN]))
        show.out(text("cli_build.waiting", lang, count=len(made.split.waiting), concepts=names))
    if made.split.coverage:
        _tell_coverage(made, lang)
    key = "cli_build.dry" if dry_run else "cli_build.written"
    show.out(text(key, lang, count=made.changed, seed=made.plan.seed))


def _tell_coverage(made: BuildSplit, lang: str) -> None:
    """How many demonstrations stand at each level, and where they are missing."""
    rows: dict[tuple[str, str], list[str]] = {}
    for one in made.split.coverage:
        rows.setdefault((one.pool, one.culture), []).append(str(one.items))
    levels = [str(level) for level in dict.fromkeys(one.level for one in made.split.coverage)]
    columns = [text(f"cli_build.column.{name}", lang) for name in ("pool", "culture")]
    show.out(text("cli_build.coverage", lang, question=show.clean(made.question)))
    show.out(show.table([*columns, *levels], [[*place, *found] for place, found in rows.items()]))
    for gap in made.split.missing:
        key = "cli_build.missing_kept" if gap.available > gap.items else "cli_build.missing"
        place = {"pool": show.clean(gap.pool), "culture": show.clean(gap.culture), "level": gap.level}
        show.out(text(key, lang, **place, items=gap.items, wanted=made.split.per_level, available=gap.available))
