"""``voirdire run``."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from voirdire.cli import judging_progress as jp
from voirdire.cli import options as o
from voirdire.cli import run_options as r
from voirdire.cli import show
from voirdire.cli.build import add
from voirdire.errors import UsageError
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.app.run import Begun, RunResult
    from voirdire.corpus.corpus import Note
    from voirdire.judging.progress import Progress


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "run", run, "cli.run")


def run(
    ctx: typer.Context,
    corpus: r.OptionalCorpus = None,
    judge: r.JudgeNames = None,
    judges: r.JudgesFile = None,
    base_url: r.BaseUrl = None,
    grid: r.Grids = None,
    repeats: r.Repeats = None,
    questions: r.Questions = None,
    limit: r.Limit = None,
    resize: r.Resize = None,
    seed: r.Seed = None,
    retry_errors: r.RetryErrors = False,
    budget: r.Budget = None,
    prices: r.Prices = None,
    concurrency: r.Concurrency = None,
    rpm: r.Rpm = None,
    tpm: r.Tpm = None,
    timeout: r.Timeout = None,
    batch: r.Batch = False,
    executor: r.Executor = None,
    ray_address: r.RayAddress = None,
    items: o.Items = None,
    ratings: o.Ratings = None,
    raters: o.Raters = None,
    map: o.Map = None,
    pool: o.Pool = None,
    pool_column: o.PoolColumn = None,
    level: o.Level = None,
    scale: o.ScaleOption = None,
    labels: o.Labels = None,
    missing_label: o.MissingLabel = None,
    encoding: o.Encoding = None,
    unknown_items: o.UnknownItems = None,
    out: r.Out = None,
    status: r.Status = False,
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    language = ctx.find_object(str) or "en"
    if status:
        from voirdire.cli.run_status import show_status

        show_status(out or corpus, language, as_json=json)
        return
    if corpus is None:
        raise UsageError("cli_run.no_corpus")
    _ask(ctx, corpus, out, language, as_json=json)


def _ask(ctx: typer.Context, corpus: Path, out: Path | None, lang: str, *, as_json: bool) -> None:
    from voirdire.app.run import DEFAULT_OUT, run_read
    from voirdire.app.run_inputs import read_run
    from voirdire.judging.progress import Watch

    with show.Progress(lang) as progress:
        inputs = read_run(corpus, r.collect(ctx.params), progress)
    watch = Watch()
    with jp.Board(watch.snapshot, lang) as board:
        notes: list[Note] = []

        def begun(what: Begun) -> None:
            notes.extend(what.price.notes)
            if not as_json:
                show.out("\n".join(begun_lines(what, lang)))
            board.start()

        def tell(note: Note) -> None:
            notes.append(note)
            for line in r.note_lines([note], lang):
                board.tell(line)

        result = run_read(inputs, out or DEFAULT_OUT, watch=watch, begun=begun, tell=tell)
    if as_json:
        show.json({"command": "run", **document(result, lang), "notes": r.notes_document(notes, lang)})
    else:
        for line in end_lines(result, next_command(ctx.params, result.folder), lang):
            show.out(line)
    if result.stopped is not None and as_json:
        show.err(text("cli.error", lang, sentence=show.sentence(result.stopped, lang)))
        raise typer.Exit(result.stopped.exit_code)
    if result.stopped is not None:
        raise result.stopped


def begun_lines(begun: Begun, lang: str) -> list[str]:
    """What was read, how many cells there are, what they may cost, and what to know before they are asked."""
    from voirdire.cli.price import table, total

    lines = [*r.read_lines(begun.inputs, lang), *r.note_lines(begun.price.notes, lang)]
    if begun.pending:
        lines += ["", table(begun.price, lang), "", total(begun.price, lang)]
    counts = {"done": f"{begun.done:,}", "pending": f"{begun.pending:,}", "spent": _spent(begun, lang)}
    key = "cli_run.goes_on" if begun.done or begun.spent or begun.unpriced else "cli_run.begins"
    lines.append(text(key, lang, folder=show.clean(begun.folder), **counts))
    if begun.reopened:
        lines.append(text("cli_run.reopened", lang, count=f"{begun.reopened:,}"))
    return [*lines, ""]


def next_command(params: dict[str, Any], folder: Path) -> str:
    """The audit of a run: of the corpus where it has ratings, else of ratings that are still to be named."""
    corpus, ratings = Path(params["corpus"]), params["ratings"]
    rated = corpus.is_dir() and any(corpus.glob("ratings.*"))
    items = [] if corpus.is_dir() and (rated or ratings is None) else ["--items", str(params["items"] or corpus)]
    named = ["--ratings", str(ratings or (corpus if rated else "RATINGS"))]
    return shlex.join(["voirdire", "audit", *named, *items, "--judgments", str(folder)])


def end_lines(result: RunResult, command: str, lang: str) -> list[str]:
    """The table of judges, where the judgments are, and the command that comes next."""
    progress, folder = result.progress, result.folder
    counts = {"done": f"{progress.done:,}", "total": f"{progress.total:,}"}
    took = jp.duration(progress.seconds, lang)
    said = text("cli_run.ended", lang, folder=show.clean(folder), time=took, cost=_shown_cost(progress, lang), **counts)
    others = show.clean(text("report.list_separator", lang).join(result.others))
    table = [jp.summary(progress.judges, lang), *([text("cli_run.others", lang, judges=others)] if others else [])]
    lines = [*table, "", said, *error_lines(result, lang)]
    return lines if result.stopped is not None else [*lines, text("cli_run.next", lang, command=show.clean(command))]


def _shown_cost(progress: Progress, lang: str) -> str:
    return text("cli_run.free", lang) if progress.free else jp.money(progress.cost, progress.unknown)


def _spent(begun: Begun, lang: str) -> str:
    free = begun.free and not begun.spent
    return text("cli_run.free", lang) if free else jp.money(begun.spent, begun.unpriced)


def error_lines(result: RunResult, lang: str) -> list[str]:
    """How many cells ended as error, and where to see why."""
    errors = sum(judge.status.get("error", 0) for judge in result.progress.judges)
    return [text("cli_run.errors", lang, count=errors, folder=show.pasted(result.folder))] if errors else []


def document(result: RunResult, lang: str) -> dict[str, Any]:
    """The end of a run for machines; ``error`` where cells are pending, as in every document of an error."""
    found: dict[str, Any] = {"folder": str(result.folder), "complete": result.stopped is None}
    if result.stopped is not None:
        error = result.stopped
        told = {"key": error.key, "message": error.message(lang), "fields": error.fields, "exit_code": error.exit_code}
        found["error"] = told
    return {**found, **asdict(result.progress), "unpriced": result.progress.unknown}
