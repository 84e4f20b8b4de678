"""How far a run is: a board on a terminal, now and then a line elsewhere; and the table at the end."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from voirdire.cli import show
from voirdire.texts import has, text

if TYPE_CHECKING:
    from voirdire.judging.progress import JudgeProgress, Progress

STATUSES = ("ok", "malformed", "refused", "error")
PATIENCE, EVERY, FIRST, LINES = 2.0, 60.0, 10.0, 12

Snapshot = Callable[[], "Progress"]


class Board:
    """Shows a run while it goes on, on standard error.

    snapshot : the run at this moment; asked from a thread of the board's own, four times a second on a terminal
    on : whether standard error is a terminal; otherwise a line is logged after ten seconds and then every minute
    """

    def __init__(self, snapshot: Snapshot, lang: str, *, on: bool | None = None, patience: float = PATIENCE) -> None:
        self.snapshot = snapshot
        self.lang = lang
        self.on = sys.stderr.isatty() if on is None else on
        self.patience = patience
        self._live: Any = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._show if self.on else self._log, daemon=True)

    def __enter__(self) -> Self:
        return self

    def start(self) -> None:
        """Begin to show; what was printed before stays above."""
        self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join()

    def tell(self, said: str) -> None:
        """Print a line on standard error, above the board where there is one."""
        live = self._live
        if live is None:
            show.err(said)
        else:
            live.console.print(said, markup=False, highlight=False, soft_wrap=True)

    def line(self, now: Progress) -> str:
        """What is logged where there is no terminal."""
        return line(now, self.lang)

    def __rich__(self) -> Any:
        return board(self.snapshot(), self.lang)

    def _log(self) -> None:
        wait = FIRST
        while not self._ended.wait(wait):
            wait = EVERY
            now = self.snapshot()
            if now.total:
                show.err(f"{time.strftime('%H:%M:%S')} {self.line(now)}")

    def _show(self) -> None:
        from rich.console import Console
        from rich.live import Live

        if self._ended.wait(self.patience):
            return
        console = Console(stderr=True, force_terminal=True)
        with Live(self, console=console, refresh_per_second=4, transient=True) as self._live:
            self._ended.wait()
        self._live = None


def line(now: Progress, lang: str) -> str:
    """A run in one line: cells, rate, calls in flight, retries, failures, cost, time left."""
    cells, *rest = headline(now, lang)
    counts = [
        text("cli_run.progress.in_flight", lang, count=now.in_flight),
        text("cli_run.progress.retries", lang, count=f"{sum(judge.retries for judge in now.judges):,}"),
        text("cli_run.progress.failures", lang, count=f"{sum(map(failures, now.judges)):,}"),
    ]
    return text("report.list_separator", lang).join([cells, *counts, *rest])


def headline(now: Progress, lang: str) -> list[str]:
    """Cells, rate, cost and time left."""
    counts = {"done": f"{now.done:,}", "total": f"{now.total:,}", "percent": _percent(now)}
    parts = [
        text("cli_run.progress.cells", lang, **counts),
        text("cli_run.progress.rate", lang, rate=f"{now.per_second:.1f}"),
    ]
    parts.append(total(now, lang) if now.budget is None else spent(now.cost, now.budget, lang, now.unknown))
    if now.left is not None and now.done < now.total:
        parts.append(text("cli_run.progress.left", lang, time=duration(now.left, lang)))
    if now.stopping:
        parts.append(text("cli_run.progress.stopping", lang))
    return parts


def board(now: Progress, lang: str) -> Any:
    """A run as it stands on a terminal: a bar, a line, and a row a judge."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    bar = Table.grid()
    bar.add_row(ProgressBar(total=max(now.total, 1), completed=now.done, width=40))
    head = Text(text("report.list_separator", lang).join(headline(now, lang)))
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("judge", "done", "retries", "failures", "cost", "state"):
        words = column in ("judge", "failures", "state")
        grid.add_column(text(f"cli_run.column.{column}", lang), justify="left" if words else "right", no_wrap=True)
    for judge in now.judges[:LINES]:
        grid.add_row(*map(Text, _row(judge, lang)))
    more = len(now.judges) - LINES
    rest = [Text(text("cli_run.progress.more", lang, count=more), style="dim")] if more > 0 else []
    return Group(bar, head, grid, *rest)


def _row(judge: JudgeProgress, lang: str) -> list[str]:
    done = sum(judge.status.values())
    return [
        show.clean(judge.name),
        f"{done:,}/{done + judge.pending:,}",
        f"{judge.retries:,}",
        _kinds(judge, lang),
        cost(judge, lang),
        _named(f"cli_run.state.{judge.state}", lang),
    ]


def summary(judges: Sequence[JudgeProgress], lang: str) -> str:
    """The table at the end of a run: every judge's cells by status, and its cost."""
    columns = [text(f"cli_run.column.{name}", lang) for name in ("judge", *STATUSES, "pending", "cost")]
    rows = [
        [
            judge.name,
            *(f"{judge.status.get(status, 0):,}" for status in STATUSES),
            f"{judge.pending:,}",
            cost(judge, lang),
        ]
        for judge in judges
    ]
    return with_note(show.table(columns, rows), any(judge.unknown for judge in judges), lang)


def with_note(table: str, unknown: bool, lang: str) -> str:
    """A table, and below it what + and - mean in its costs, where there are any."""
    return f"{table}\n{text('cli_run.unknown_cost', lang)}" if unknown else table


def failures(judge: JudgeProgress) -> int:
    """Calls of this session without a reply, or with one that could not be read."""
    return sum(judge.failures.values())


def cost(judge: JudgeProgress, lang: str) -> str:
    """What a judge cost; ``free`` for one that runs here and names no cost."""
    return text("cli_run.free", lang) if judge.free and not judge.cost else money(judge.cost, judge.unknown)


def total(now: Progress, lang: str) -> str:
    """What all judges cost."""
    return named_total(now.cost, now.unknown, lang, free=now.free)


def named_total(dollars: float | None, unpriced: int, lang: str, *, free: bool) -> str:
    """A cost in a sentence, in words where it is no number."""
    if free:
        return text("cli_run.free", lang)
    return text("cli_run.progress.no_cost", lang) if unpriced and not dollars else money(dollars, unpriced)


def money(dollars: float | None, unpriced: int = 0) -> str:
    """US dollars; a plus sign where some replies have no known price, a dash where none has.

    >>> money(1.5), money(0.0123), money(0.0, 3), money(1.5, 3)
    ('$1.50', '$0.0123', '-', '$1.50+')
    """
    if dollars is None or (unpriced and not dollars):
        return "-"
    from voirdire.judging.spending import dollars as shown

    return f"${shown(dollars)}{'+' if unpriced else ''}"


def spent(dollars: float | None, budget: float, lang: str, unpriced: int = 0) -> str:
    """What was spent, and of how much."""
    return text("cli_run.progress.of_budget", lang, spent=money(dollars, unpriced), budget=money(budget))


def duration(seconds: float, lang: str) -> str:
    """A time in its two largest units.

    >>> duration(42, "en"), duration(3725, "en")
    ('42 s', '1 h 2 min')
    """
    minutes = round(seconds / 60)
    if seconds < 90:
        return text("cli_run.time.seconds", lang, seconds=round(seconds))
    if minutes < 60:
        return text("cli_run.time.minutes", lang, minutes=minutes)
    hours, minutes = divmod(int(seconds) // 60, 60)
    if hours < 48:
        return text("cli_run.time.hours", lang, hours=hours, minutes=minutes)
    return text("cli_run.time.days", lang, days=hours // 24, hours=hours % 24)


def _kinds(judge: JudgeProgress, lang: str) -> str:
    """``12 (429: 8, malformed: 4)``: all, and the two most frequent kinds."""
    total = sum(judge.failures.values())
    if not total:
        return "0"
    most = sorted(judge.failures.items(), key=lambda kind: -kind[1])[:2]
    own = {"request": text("cli_run.failure.judge", lang)} if judge.free else {}
    named = ", ".join(f"{own.get(kind) or _named(f'cli_run.kind.{kind}', lang)}: {count:,}" for kind, count in most)
    return f"{total:,} ({named})"


def failure_words(kind: str, provider: str, lang: str) -> str:
    """A kind of failure in words; a judge of the user's own has no provider that refuses requests."""
    if kind == "request" and provider == "python":
        return text("cli_run.failure.judge", lang)
    if kind == "request" and provider in ("replay", "control"):
        return text("cli_run.failure.lacks", lang)
    return _named(f"cli_run.failure.{kind}", lang)


def _named(key: str, lang: str) -> str:
    """The sentence of a key; its last part where there is none, as of a plugin's own kinds."""
    return text(key, lang) if has(key, lang) else show.clean(key.rpartition(".")[2])


def _percent(now: Progress) -> str:
    share = 100 * now.done / now.total if now.total else 100.0
    return f"{int(share)}" if share in (0, 100) or share >= 1 else f"{share:.1f}"
