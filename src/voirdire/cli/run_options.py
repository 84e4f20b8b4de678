"""The options that ``run`` and ``price`` share, and the lines that both print before anything is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.app.run_inputs import RunInputs, RunOptions
    from voirdire.corpus.corpus import Note


def _option(name: str, panel: str, metavar: str | None = None) -> Any:
    key = name.removeprefix("--").replace("-", "_")
    return typer.Option(name, help=f"cli_run.option.{key}", rich_help_panel=panel, metavar=metavar)


ASKED, MONEY = "cli_run.panel.asked", "cli_run.panel.money"
Words = list[str] | None

Corpus = Annotated[Path, typer.Argument(help="cli_run.option.corpus", metavar="CORPUS")]
OptionalCorpus = Annotated[Path | None, typer.Argument(help="cli_run.option.corpus_or_run", metavar="[CORPUS]")]
JudgeNames = Annotated[Words, _option("--judge", ASKED, "PROVIDER/MODEL")]
JudgesFile = Annotated[Path | None, _option("--judges", ASKED, "FILE")]
BaseUrl = Annotated[str | None, _option("--base-url", ASKED, "URL")]
Grids = Annotated[Words, _option("--grid", ASKED, "NAME|FILE")]
Repeats = Annotated[int | None, _option("--repeats", ASKED, "N")]
Questions = Annotated[Words, _option("--questions", ASKED, "Q1,Q2")]
Limit = Annotated[int | None, _option("--limit", ASKED, "N")]
Resize = Annotated[int | None, _option("--resize", ASKED, "PIXELS")]
Seed = Annotated[int | None, _option("--seed", ASKED, "N")]
Budget = Annotated[float | None, _option("--budget", MONEY, "USD")]
Prices = Annotated[Path | None, _option("--prices", MONEY, "FILE")]
Concurrency = Annotated[int | None, _option("--concurrency", MONEY, "N")]
Rpm = Annotated[float | None, _option("--rpm", MONEY, "N")]
Tpm = Annotated[float | None, _option("--tpm", MONEY, "N")]
Timeout = Annotated[float | None, _option("--timeout", MONEY, "SECONDS")]
Batch = Annotated[bool, _option("--batch", MONEY)]
RetryErrors = Annotated[bool, _option("--retry-errors", ASKED)]
Executor = Annotated[str | None, _option("--executor", MONEY, "ray")]
RayAddress = Annotated[str | None, _option("--ray-address", MONEY, "ADDRESS")]
Status = Annotated[bool, _option("--status", "cli.panel.output")]
Out = Annotated[Path | None, _option("--out", "cli.panel.output", "DIR")]

_RENAMED = {
    "judge": "judges",
    "judges": "judges_file",
    "grid": "grids",
    "rpm": "requests_per_minute",
    "tpm": "tokens_per_minute",
}
TABLES = (
    "items",
    "ratings",
    "raters",
    "map",
    "pool",
    "pool_column",
    "level",
    "scale",
    "labels",
    "missing_label",
    "encoding",
    "unknown_items",
)
"""Options that say how the corpus is read, the same as those of ``audit``."""

_SHOWN = ("corpus", "json", "lang", "out", "status")


def collect(params: Mapping[str, Any]) -> RunOptions:
    """The options of a command line as RunOptions; what was not given keeps its default.

    >>> made = collect({"judge": ["control/random"], "grid": None, "questions": ["q1,q2"], "rpm": 60.0, "json": False})
    >>> made.judges, made.grids, made.questions, made.requests_per_minute
    (('control/random',), ('neutral',), ('q1', 'q2'), 60.0)
    """
    from voirdire.app.run_inputs import RunOptions
    from voirdire.cli.config import collect as read_as

    given: dict[str, Any] = {"tables": read_as({name: params.get(name) for name in TABLES})}
    for name, value in params.items():
        if name in (*_SHOWN, *TABLES) or value is None or value is False or value == [] or value == ():
            continue
        if name == "questions":
            value = [part.strip() for entry in value for part in entry.split(",") if part.strip()]
        given[_RENAMED.get(name, name)] = tuple(value) if isinstance(value, list | tuple) else value
    return RunOptions(**given)


def read_lines(inputs: RunInputs, lang: str) -> list[str]:
    """What was read, a line a table; and how many cells the run has, and of what."""
    from voirdire.app.inputs import Told
    from voirdire.cli.finish import said

    plan = inputs.plan
    counts = {"items": len(plan.items), "conditions": len(plan.conditions), "questions": len(plan.questions)}
    size = {**counts, "repeats": plan.repeats, "judges": len(plan.specs), "cells": f"{plan.size:,}"}
    return [*said(Told(plan.material.intake, ()), lang), text("cli_run.size", lang, **size)]


def notes_document(notes: Iterable[Note], lang: str) -> list[dict[str, Any]]:
    """Notes and warnings for machines, each with its sentence."""
    listed = list(notes)
    said = note_lines(listed, lang)
    return [
        {"kind": note.kind, "key": note.key, "fields": dict(note.fields), "message": line}
        for note, line in zip(listed, said, strict=True)
    ]


def note_lines(notes: Iterable[Note], lang: str) -> list[str]:
    """Notes and warnings as lines."""
    from voirdire.app.inputs import Told
    from voirdire.cli.finish import said

    return said(Told((), tuple(notes)), lang)
