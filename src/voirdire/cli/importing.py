"""``voirdire import``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import LocalCommand
from voirdire.errors import UsageError
from voirdire.texts import has, text

if TYPE_CHECKING:
    from voirdire.app.importing import Imported
    from voirdire.exchange.importers.account import Account, Left


def _option(name: str, metavar: str | None = None) -> Any:
    key = name.removeprefix("--").replace("-", "_")
    return typer.Option(name, help=f"importing.help.{key}", metavar=metavar)


FormatAndFiles = Annotated[list[str], typer.Argument(help="importing.help.files", metavar="[FORMAT] FILE...")]
OutOption = Annotated[Path, _option("--out", "DIR")]
PoolRules = Annotated[o.Words, _option("--pool", "RULE")]
PoolColumn = Annotated[str | None, _option("--pool-column", "COLUMN")]
OnePool = Annotated[str | None, _option("--one-pool", "NAME")]
Raters = Annotated[Path | None, _option("--raters", "FILE")]
RaterKey = Annotated[str | None, _option("--rater-key", "COLUMN")]
Questions = Annotated[Path | None, _option("--questions", "FILE")]
MapOption = Annotated[o.Words, _option("--map", "OURS=THEIRS")]
Keep = Annotated[o.Words, _option("--keep", "S1,S2")]
SkipBroken = Annotated[bool, _option("--skip-broken")]
WithText = Annotated[bool, _option("--with-text-of-raters")]
Level = Annotated[str | None, _option("--level", "LEVEL")]
ScaleOption = Annotated[str | None, _option("--scale", "LOW:HIGH")]
Labels = Annotated[o.Words, _option("--labels", "A,B,C")]
Positive = Annotated[str | None, _option("--positive", "LABEL")]
MissingLabel = Annotated[o.Words, _option("--missing-label", "LABEL")]
SetOption = Annotated[o.Words, _option("--set", "NAME=VALUE")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("import", cls=LocalCommand, help="importing.help.import", epilog="importing.help.example")(take_in)


def take_in(
    ctx: typer.Context,
    files: FormatAndFiles,
    out: OutOption,
    pool: PoolRules = None,
    pool_column: PoolColumn = None,
    one_pool: OnePool = None,
    raters: Raters = None,
    rater_key: RaterKey = None,
    questions: Questions = None,
    level: Level = None,
    scale: ScaleOption = None,
    labels: Labels = None,
    positive: Positive = None,
    missing_label: MissingLabel = None,
    mapping: MapOption = None,
    keep: Keep = None,
    skip_broken: SkipBroken = False,
    with_text_of_raters: WithText = False,
    settings: SetOption = None,
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    from voirdire.app.importing import named_format
    from voirdire.app.importing import take_in as run_import
    from voirdire.exchange.importers.contract import ImportOptions

    language = ctx.find_object(str) or "en"
    options = ImportOptions(
        tuple(pool or ()), pool_column, one_pool, raters, rater_key, questions,
        _pairs(mapping, "--map"), _listed(keep), skip_broken, with_text_of_raters, _pairs(settings, "--set"),
        **_scale(level, scale, labels, positive, missing_label),
    )  # fmt: skip
    form, paths = named_format(files)
    taken = run_import(form, paths, out, options)
    if json:
        show.json(_document(taken))
        return
    for line in _said(taken, language):
        show.out(line)


def _pairs(given: o.Words, option: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for entry in given or ():
        name, equals, value = entry.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise UsageError("importing.pair", option=option, value=entry)
        pairs[name.strip()] = value.strip()
    return pairs


def _scale(level: str | None, scale: str | None, labels: o.Words, positive: str | None, missing: o.Words) -> Any:
    """What is said of the scale, as an audit reads it."""
    from voirdire.cli.config import collect

    given = {"level": level, "scale": scale, "labels": labels, "positive": positive, "missing_label": missing}
    told = collect(given)
    ends = (told.pop("low"), told.pop("high")) if scale is not None else None
    return {**told, "ends": ends}


def _listed(given: o.Words) -> tuple[str, ...]:
    return tuple(name.strip() for words in given or () for name in words.split(",") if name.strip())


def _sentence(key: str, lang: str, **fields: Any) -> str:
    """A sentence of the catalogue; a package without a catalogue gives the sentence itself."""
    shown = {name: show.clean(value) if isinstance(value, str) else value for name, value in fields.items()}
    return text(key, lang, **shown) if has(key, lang) else show.clean(key)


def _document(taken: Imported) -> dict[str, Any]:
    document: dict[str, Any] = {"command": "import", "format": taken.importer.name, "recognised": taken.recognised}
    document |= {"folder": str(taken.folder), "files": list(taken.files)}
    document["notes"] = [{"key": note.key, "fields": note.fields, "kind": note.kind} for note in taken.notes]
    if taken.account is None:
        return document
    account = taken.account
    left = [
        {"reason": reason, "sentence": _sentence(reason, "en"), "count": count, "places": _places(account, reason)}
        for reason, count in account.counts.items()
    ]
    broken = [{"key": error.key, "fields": error.fields, "sentence": str(error)} for error in account.broken_records]
    answers = {"read": account.answers, "taken": account.taken, "left": left}
    return document | {"tables": dict(taken.rows), "answers": answers, "broken": broken}


def _places(account: Account, reason: str) -> list[dict[str, Any]]:
    return [{"file": file, "line": line} for file, line in account.reasons[reason].places]


def _said(taken: Imported, lang: str) -> Iterator[str]:
    form = taken.importer
    key = "importing.done.recognised" if taken.recognised else "importing.done.named"
    yield text(key, lang, title=_sentence(form.title, lang), name=form.name)
    if taken.account is not None:
        yield from _reckoning(taken.account, lang)
    for note in taken.notes:
        yield text(f"cli.note.{note.kind}", lang, sentence=_sentence(note.key, lang, **note.fields))
    folder = show.clean(taken.folder)
    if taken.account is None:
        counts = {"tables": len(taken.tables), "images": len(taken.images)}
        yield text("importing.done.release", lang, file=show.pasted(taken.folder), **counts)
        return
    rows = ", ".join(text("importing.done.rows", lang, table=name, count=count) for name, count in taken.rows.items())
    yield text("importing.done.written", lang, file=folder, rows=rows)
    following = "importing.done.next" if "ratings" in taken.rows else "importing.done.next_judged"
    yield text(following, lang, file=show.pasted(taken.folder))


def _reckoning(account: Account, lang: str) -> Iterator[str]:
    left = sum(account.counts.values())
    yield text("importing.done.answers", lang, read=account.answers, taken=account.taken, left=left)
    for reason, count in account.counts.items():
        where = _where(account.reasons[reason], lang)
        yield text("importing.done.left", lang, count=count, reason=_sentence(reason, lang), where=where)
    from voirdire.exchange.importers.account import SHOWN_BROKEN

    for error in account.broken_records[:SHOWN_BROKEN]:
        yield text("importing.done.broken", lang, sentence=show.sentence(error, lang))
    more = len(account.broken_records) - SHOWN_BROKEN
    if more > 0:
        yield text("importing.done.more_broken", lang, count=more)


def _where(left: Left, lang: str) -> str:
    """The first places of what was left out: file and lines."""
    if not left.places:
        return ""
    files: dict[str, list[str]] = {}
    for file, line in left.places:
        files.setdefault(file, []).append(str(line))
    alike = len({Path(file).name for file in files}) < len(files)
    shown = [
        text("importing.done.lines", lang, file=show.clean(file if alike else Path(file).name), lines=", ".join(lines))
        for file, lines in files.items()
    ]
    more = text("importing.done.and_more", lang) if left.more else ""
    return text("importing.done.where", lang, places="; ".join(shown), more=more)
