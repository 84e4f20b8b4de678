"""``voirdire run --status``: how far a run is, read beside the process that runs it."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.cli import judging_progress as jp
from voirdire.cli import show
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.judging.status import Failure, RunStatus

CALLS = ("ok", "refused")
"""Kinds of attempt that are no failed calls."""


def show_status(folder: Path | None, lang: str, *, as_json: bool) -> None:
    """Print how the run in a folder stands. Raises InputError where there is none."""
    from voirdire.app.run import DEFAULT_OUT
    from voirdire.judging.status import read_status

    place = folder or DEFAULT_OUT
    status = read_status(place)
    if as_json:
        show.json({"command": "run --status", "folder": str(place), **document(status)})
        return
    for line in lines(status, place, lang):
        show.out(line)


def lines(status: RunStatus, folder: Path, lang: str) -> list[str]:
    """Who writes, how many cells are done, a table of judges, and the latest failed calls."""
    pending = status.count("pending")
    done = status.total - pending
    share = f"{int(100 * done / status.total)}" if status.total else "100"
    counts = {"done": f"{done:,}", "total": f"{status.total:,}", "percent": share}
    said = [text("cli_run.progress.cells", lang, **counts), _total(status, lang)]
    if status.held:
        said.append(text("run.held", lang, dollars=jp.money(status.held)))
    if status.writer is not None and status.left is not None:
        said.append(text("cli_run.progress.rate", lang, rate=f"{status.per_second:.1f}"))
        said.append(text("cli_run.progress.left", lang, time=jp.duration(status.left, lang)))
    found = [text("cli_run.status.folder", lang, folder=show.clean(folder), run=status.run_id), writer(status, lang)]
    found += [text("report.list_separator", lang).join(said), "", table(status, lang)]
    if status.failures:
        found += ["", text("cli_run.status.failures", lang)]
        alike = Counter((one.judge, one.kind, one.status, one.note) for one in status.failures)
        newest = {(one.judge, one.kind, one.status, one.note): one for one in reversed(status.failures)}
        found += [_failure(newest[key], count, status.providers.get(key[0], ""), lang) for key, count in alike.items()]
    return found


def writer(status: RunStatus, lang: str) -> str:
    """Whether a process is writing, and when the last call was made."""
    last = "-" if status.last_at is None else _time(status.last_at)
    if status.writer is not None:
        return text("cli_run.status.writer", lang, pid=status.writer, last=last)
    key = "cli_run.status.idle" if status.count("pending") else "cli_run.status.finished"
    return text(key, lang, last=last)


def table(status: RunStatus, lang: str) -> str:
    """A row a judge: cells by status, failed calls, cost."""
    names = ("judge", *jp.STATUSES, "pending", "failures", "cost")
    columns = [text(f"cli_run.column.{name}", lang) for name in names]
    rows = []
    for judge in dict.fromkeys(name for name, *_ in status.cells):
        calls = status.attempts.get(judge, {})
        failed = sum(count for kind, count in calls.items() if kind not in CALLS)
        cells = [f"{status.count(kind, judge):,}" for kind in (*jp.STATUSES, "pending")]
        rows.append([judge, *cells, f"{failed:,}", _cost(status, judge, lang)])
    unknown = any(judge in status.unpriced for judge, *_ in status.cells)
    return jp.with_note(show.table(columns, rows), unknown, lang)


def _cost(status: RunStatus, judge: str, lang: str) -> str:
    if judge in status.free and not status.cost.get(judge):
        return text("cli_run.free", lang)
    return jp.money(status.cost.get(judge), status.unpriced.get(judge, 0))


def _total(status: RunStatus, lang: str) -> str:
    """What the whole folder cost, judges that are not asked any more among them."""
    dollars, unknown = sum(status.cost.values()), sum(status.unpriced.values())
    free = not dollars and not unknown and all(judge in status.free for judge, *_ in status.cells)
    return jp.named_total(dollars, unknown, lang, free=free)


def document(status: RunStatus) -> dict[str, Any]:
    """The status for machines."""
    cells = [dict(zip(("judge", "condition", "status", "cells"), row, strict=True)) for row in status.cells]
    judges = dict.fromkeys(judge for judge, *_ in status.cells)
    cost = {judge: None if judge in status.unpriced else 0.0 for judge in judges} | status.cost
    counts = {"total": status.total, "pending": status.count("pending")}
    return {**asdict(status), "cost": cost, "free": status.free, "cells": cells, **counts}


def _failure(failure: Failure, count: int, provider: str, lang: str) -> str:
    parts = [_time(failure.at), show.clean(failure.judge), jp.failure_words(failure.kind, provider, lang)]
    parts[-1] += "" if failure.status is None else f" ({failure.status})"
    parts[-1] += f" x {count}" if count > 1 else ""
    return f"  {'  '.join(parts)}  {show.clean(failure.note)[:160]}".rstrip()


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(sep=" ", timespec="seconds")[:19]
