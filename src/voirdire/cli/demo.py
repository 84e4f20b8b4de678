"""``voirdire demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voirdire.cli import judging_progress as jp
from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import add
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.app.demo import DemoRun
    from voirdire.app.run import Begun, RunResult

DEFAULT_OUT = Path("voirdire-demo")


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "demo", demo, "cli.demo")


def demo(
    ctx: typer.Context,
    draws: o.Draws = None,
    seed: o.Seed = None,
    out: o.Out = None,
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    from voirdire.app.demo import prepare, report
    from voirdire.cli.finish import Reader, document, finish
    from voirdire.cli.run import document as run_document

    language, folder = ctx.find_object(str) or "en", out or DEFAULT_OUT
    asked = {name: value for name, value in (("draws", draws), ("seed", seed)) if value is not None}
    with show.Progress(language) as progress:
        run = prepare(folder, progress)
    if not json:
        show.out("\n".join(judge_lines(run, language)))
    result = _ask(run, language, quiet=json)
    if not json:
        show.out(ran_line(result, language))
    if result.stopped is not None:
        raise result.stopped
    with show.Progress(language) as progress:
        written = report(folder, run, language, progress=progress, told=Reader(language, quiet=json), **asked)
    if json:
        show.json({**document(written, "demo"), "run": run_document(result, language), "missing": run.lacks})
        return
    finish(written, "demo", as_json=False)


def _ask(run: DemoRun, lang: str, *, quiet: bool) -> RunResult:
    from voirdire.app.demo import ask
    from voirdire.judging.progress import Watch

    watch = Watch()
    with jp.Board(watch.snapshot, lang) as board:

        def begun(what: Begun) -> None:
            if not quiet:
                show.out(begun_line(what, lang))
            board.start()

        return ask(run, watch=watch, begun=begun)


def judge_lines(run: DemoRun, lang: str) -> list[str]:
    """What is simulated, who is asked, and how to get the model where it is missing."""
    from voirdire.app.demo import BLIND

    names = text("report.list_separator", lang).join(spec.name for spec in run.inputs.plan.specs)
    lines = [text("demo.simulated", lang), text("demo.judges", lang, names=names)]
    if run.lacks is None:
        return [*lines, text("demo.blind", lang, judge=BLIND)]
    return [*lines, text("demo.without", lang, why=text(f"demo.missing.{run.lacks}", lang))]


def begun_line(begun: Begun, lang: str) -> str:
    """How many cells are left to ask."""
    folder = show.clean(begun.folder)
    if not begun.pending:
        return text("demo.resumed", lang, count=f"{begun.total:,}", folder=folder)
    return text("demo.begun", lang, pending=f"{begun.pending:,}", total=f"{begun.total:,}", folder=folder)


def ran_line(result: RunResult, lang: str) -> str:
    """How far the run came."""
    progress = result.progress
    counts = {"done": f"{progress.done:,}", "total": f"{progress.total:,}"}
    took = jp.duration(progress.seconds, lang)
    return text("demo.ran", lang, time=took, folder=show.clean(result.folder), **counts)
