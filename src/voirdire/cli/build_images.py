"""``voirdire build images``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli import judging_progress as jp
from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import add
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.app.build_images import ImagesResult
    from voirdire.construction.imaging.running import Session
    from voirdire.judging.progress import Progress

SHOWN = 20
"""Problems that are printed; the contact sheet and ``--json`` have them all."""


def _option(name: str, panel: str, metavar: str | None = None) -> Any:
    key = name.removeprefix("--").replace("-", "_")
    panel = f"build_images.panel.{panel}"
    return typer.Option(name, help=f"build_images.option.{key}", rich_help_panel=panel, metavar=metavar)


Folder = Annotated[Path, typer.Argument(help="build_images.option.folder", metavar="DIR")]
Provider = Annotated[str | None, _option("--provider", "made", "gemini|openai|compatible|folder")]
Model = Annotated[str | None, _option("--model", "made", "MODEL")]
BaseUrl = Annotated[str | None, _option("--base-url", "made", "URL")]
From = Annotated[Path | None, _option("--from", "made", "FOLDER")]
RegimeName = Annotated[str | None, _option("--regime", "made", "NAME")]
Subset = Annotated[str | None, _option("--subset", "which", "FILE|N")]
SeedNumber = Annotated[int, _option("--seed", "which", "N")]
Again = Annotated[o.Words, _option("--again", "which", "ITEM")]
Budget = Annotated[float | None, _option("--budget", "money", "USD")]
PriceOption = Annotated[float | None, _option("--price", "money", "USD")]
Concurrency = Annotated[int | None, _option("--concurrency", "money", "N")]
Timeout = Annotated[float | None, _option("--timeout", "money", "SECONDS")]


def register(group: typer.Typer) -> None:
    """Add the command."""
    add(group, "images", images, "build_images")


def images(
    ctx: typer.Context,
    folder: Folder,
    provider: Provider = None,
    model: Model = None,
    base_url: BaseUrl = None,
    source: From = None,
    regime: RegimeName = None,
    subset: Subset = None,
    seed: SeedNumber = 0,
    again: Again = None,
    budget: Budget = None,
    price: PriceOption = None,
    concurrency: Concurrency = None,
    timeout: Timeout = None,
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    from voirdire.app.build_images import Listening, build_images

    language = ctx.find_object(str) or "en"
    said = {name: value for name, value in ctx.params.items() if name not in ("folder", "json", "lang", "again")}
    names = [part.strip() for entry in again or () for part in entry.split(",") if part.strip()]
    watcher = Watcher(language, as_json=json)
    with watcher:
        listening = Listening(watcher.begun, watcher.looking)
        result = build_images(folder, language, listening, again=tuple(names), **said)
    if json:
        show.json({"command": "build images", **document(result, language)})
    else:
        for line in end_lines(result, language):
            show.out(line)
    if result.stopped is not None and json:
        show.err(text("cli.error", language, sentence=show.sentence(result.stopped, language)))
        raise typer.Exit(result.stopped.exit_code)
    if result.stopped is not None:
        raise result.stopped


class ImageBoard(jp.Board):
    """A bar and a line: there is one maker, whose name was said before.

    beside : dollars that a budget counts beside those of this maker
    """

    beside: float = 0.0

    def __rich__(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        now = self.snapshot()
        return Group(ProgressBar(total=max(now.total, 1), completed=now.done, width=40), Text(self.line(now)))

    def line(self, now: Progress) -> str:
        """Images, failed calls, cost and time left."""
        counts = {"done": f"{now.done:,}", "total": f"{now.total:,}", "failed": sum(map(jp.failures, now.judges))}
        in_all = replace(now, cost=(now.cost or 0.0) + self.beside) if self.beside else now
        _, _, *rest = jp.headline(in_all, self.lang)
        return text("report.list_separator", self.lang).join(
            [text("build_images.progress", self.lang, **counts), *rest]
        )


class Watcher:
    """Shows a session: a board while images are made, a bar while they are looked at."""

    def __init__(self, lang: str, *, as_json: bool) -> None:
        self.lang, self.as_json = lang, as_json
        self._board: ImageBoard | None = None
        self._bar: show.Progress | None = None

    def begun(self, session: Session) -> None:
        """Say what is asked of whom, and begin to show it."""
        ledger = session.folder.ledger
        done = sum(count for _, status, count in ledger.counts() if status != "pending")
        total = sum(count for *_, count in ledger.counts())
        names = {"maker": show.clean(session.maker.name), "batch": session.batch}
        if not self.as_json:
            counts = {"done": f"{done:,}", "total": f"{total:,}", "pending": f"{total - done:,}"}
            show.out(text("build_images.begun", self.lang, regime=session.plan.settings.regime, **names, **counts))
        self._board = ImageBoard(session.watch.snapshot, self.lang)
        self._board.beside = sum(ledger.costs().values()) + ledger.held() - ledger.costs().get(session.maker.name, 0.0)
        self._board.__enter__()
        self._board.start()

    def looking(self, share: float) -> None:
        """Images are being looked at."""
        self._end_board()
        if self._bar is None:
            self._bar = show.Progress(self.lang)
            self._bar.__enter__()
        self._bar("images", share)

    def _end_board(self) -> None:
        board, self._board = self._board, None
        if board is not None:
            board.__exit__(None, None, None)

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_board()
        if self._bar is not None:
            self._bar.__exit__(None, None, None)


def end_lines(result: ImagesResult, lang: str) -> list[str]:
    """How many images there are, what they cost, what to look at, and where."""
    counts = counts_of(result)
    shown = {name: f"{count:,}" for name, count in counts.items()}
    lines = ["", text("build_images.ended", lang, **shown), *_costs(result, lang)]
    if result.rejected:
        lines.append(text("build_images.left_out", lang, concepts=show.clean(", ".join(result.rejected))))
    problems = sentences(result, lang)
    if problems:
        lines += ["", text("build_images.problems", lang, count=f"{len(problems):,}")]
        lines += [f"  {show.clean(line)}" for line in problems[:SHOWN]]
        if len(problems) > SHOWN:
            lines.append(text("build_images.more", lang, count=f"{len(problems) - SHOWN:,}"))
    where = {"sheet": show.clean(result.sheet), "log": show.clean(result.log)}
    return [*lines, "", text("build_images.sheet.unchecked", lang), text("build_images.where", lang, **where)]


def sentences(result: ImagesResult, lang: str) -> list[str]:
    """The problems in words."""
    from voirdire.construction.imaging.sheet import sentence

    return [sentence(problem, lang) for problem in result.checked.problems]


def counts_of(result: ImagesResult) -> dict[str, int]:
    """Images of the regime by status."""
    statuses = [row.status for row in result.checked.rows.values()]
    return {name: statuses.count(name) for name in (*jp.STATUSES, "pending")}


def document(result: ImagesResult, lang: str) -> dict[str, Any]:
    """The end of a session for machines; ``error`` where images are pending."""
    settings = result.settings
    found: dict[str, Any] = {"folder": str(result.folder), "regime": settings.regime, "batch": result.batch}
    found |= {"maker": settings.maker, "complete": result.stopped is None, "images": counts_of(result)}
    found |= {"log": str(result.log), "sheet": str(result.sheet), "rejected": list(result.rejected)}
    said = zip(result.checked.problems, sentences(result, lang), strict=True)
    found["problems"] = [{"kind": one.kind, "items": list(one.items), "message": line} for one, line in said]
    if result.stopped is not None:
        error = result.stopped
        told = {"key": error.key, "message": error.message(lang), "fields": error.fields, "exit_code": error.exit_code}
        found["error"] = told
    now = result.progress
    asked = {"calls": sum(one.calls for one in now.judges), "retries": sum(one.retries for one in now.judges)}
    failures = {kind: count for one in now.judges for kind, count in one.failures.items()}
    own, in_all = result.spent, result.spent_in_all
    money: dict[str, Any] = {"cost_usd": own.dollars, "calls_without_cost": own.unknown, "budget_usd": now.budget}
    money |= {"folder_cost_usd": in_all.dollars, "folder_calls_without_cost": in_all.unknown}
    money |= {"folder_counted_usd": in_all.counted}
    return {**found, **asked, "failures": failures, **money, "seconds": round(now.seconds, 3)}


def _costs(result: ImagesResult, lang: str) -> list[str]:
    """What the images of the regime cost, and those of the folder, which ``--budget`` counts."""
    own, in_all = result.spent, result.spent_in_all
    cost, total = (jp.named_total(one.dollars, one.unknown, lang, free=one.free) for one in (own, in_all))
    lines = [text("build_images.cost", lang, regime=result.settings.regime, cost=cost, total=total)]
    if in_all.held:
        lines.append(text("build_images.counted", lang, held=jp.money(in_all.held), counted=jp.money(in_all.counted)))
    return lines + [text("cli_run.unknown_cost", lang)] * bool(in_all.unknown)
