"""What audit, validate and demo share: running with a progress bar, and showing what was read and written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from voirdire.cli import show
from voirdire.cli.config import collect
from voirdire.texts import has, text

if TYPE_CHECKING:
    from voirdire.app.audit import Written
    from voirdire.app.inputs import Told


class Reader:
    """Shows what was taken for what and how many rows were used, before anything is computed."""

    def __init__(self, lang: str, *, quiet: bool) -> None:
        self.lang = lang
        self.quiet = quiet

    def __call__(self, told: Told) -> None:
        """Print one line for every table and every note."""
        if not self.quiet:
            for line in said(told, self.lang):
                show.out(line)


LABELLED = ("verdict", "orientation.verdict", "gate", "gate.divergent")


def run_audit(ctx: typer.Context, command: str) -> None:
    """Run ``audit`` or ``validate`` with the options of a command line and show the result."""
    from voirdire.app.audit import audit_to
    from voirdire.app.validate import validate_to

    lang, as_json = ctx.find_object(str) or "en", bool(ctx.params["json"])
    options = collect(ctx.params)
    folder = ctx.params["out"] or Path(f"voirdire-{command}")
    run = audit_to if command == "audit" else validate_to
    with show.Progress(lang) as progress:
        written = run(folder, lang, progress=progress, told=Reader(lang, quiet=as_json), **options)
    finish(written, command, as_json)


def finish(written: Written, command: str, as_json: bool) -> None:
    """Show the summary of a profile and where its files are, or all of it as JSON."""
    if as_json:
        show.json(document(written, command))
        return
    show.out("")
    show.out(written.summary)


def document(written: Written, command: str) -> dict[str, Any]:
    """What ``--json`` prints: the place of the files, what was read, and every label, verdict and gate."""
    from voirdire.version import VERSION

    meta, estimates = written.profile.meta, written.profile.estimates
    labelled = estimates.filter(estimates["statistic"].is_in(LABELLED))
    columns = ["statistic", "question", "pool", "pool_b", "judge", "condition", "slice", "label", "undefined"]
    return {
        "command": command,
        "voirdire": VERSION,
        "report": str(written.report),
        "files": [str(path) for path in written.files],
        "intake": meta.get("intake", []),
        "notes": meta.get("notes", []),
        "results": labelled.select(columns).to_dicts(),
    }


def said(told: Told, lang: str) -> list[str]:
    """The intake of every table and the notes of reading, as lines."""
    lines = [_intake(intake, lang) for intake in told.intake]
    lines += [text(f"cli.note.{note.kind}", lang, sentence=_sentence(note, lang)) for note in told.notes]
    return lines


def _intake(intake: Any, lang: str) -> str:
    counts = {"rows": f"{intake.rows_in:,}", "used": f"{intake.rows_used:,}"}
    named = {"table": _table(intake.table, lang), "file": show.clean(intake.file)}
    return text("cli.intake", lang, **named, **counts) + _left_out(intake.excluded, lang)


def _left_out(excluded: Any, lang: str) -> str:
    reasons = [f"{_reason(reason, lang)} {count:,}" for reason, count in excluded.items() if count]
    return text("cli.left_out", lang, reasons=text("report.list_separator", lang).join(reasons)) if reasons else ""


def _reason(reason: str, lang: str) -> str:
    key = f"input.reason.{reason}"
    return text(key, lang) if has(key, lang) else reason


def _table(table: str, lang: str) -> str:
    key = f"cli.table.{table}"
    return text(key, lang) if has(key, lang) else table


def _sentence(note: Any, lang: str) -> str:
    fields = {name: show.clean(value) if isinstance(value, str) else value for name, value in note.fields.items()}
    return text(note.key, lang, **fields) if has(note.key, lang) else f"{note.key} {fields}"
