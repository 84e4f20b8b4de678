"""``voirdire build translate`` and ``voirdire build verify``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli import judging_progress as jp
from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import add
from voirdire.cli.build_check import tell_notes
from voirdire.cli.build_images import ImageBoard
from voirdire.errors import UsageError
from voirdire.texts import has, text

if TYPE_CHECKING:
    from voirdire.app.build_translate import Translated
    from voirdire.construction.translation.asking import Session
    from voirdire.construction.translation.verifying import Standing

SHOWN = 20
"""Texts that ``translate`` shows; ``--status`` and ``--json`` have them all."""


def _option(name: str, panel: str, metavar: str | None = None) -> Any:
    key = name.removeprefix("--").replace("-", "_")
    panel = f"cli_translate.panel.{panel}"
    return typer.Option(name, help=f"cli_translate.option.{key}", rich_help_panel=panel, metavar=metavar)


Dir = Annotated[Path, typer.Argument(help="cli_build.option.dir", metavar="DIR")]
Judge = Annotated[str | None, _option("--judge", "model", "PROVIDER/MODEL")]
BaseUrl = Annotated[str | None, _option("--base-url", "model", "URL")]
To = Annotated[o.Words, _option("--to", "which", "LANG")]
Only = Annotated[o.Words, _option("--only", "which", "TEXT")]
Back = Annotated[bool, _option("--back", "which")]
RetryErrors = Annotated[bool, _option("--retry-errors", "which")]
AcceptUnverified = Annotated[bool, _option("--accept-unverified", "which")]
Budget = Annotated[float | None, _option("--budget", "money", "USD")]
Prices = Annotated[Path | None, _option("--prices", "money", "FILE")]
Concurrency = Annotated[int | None, _option("--concurrency", "money", "N")]
Timeout = Annotated[float | None, _option("--timeout", "money", "SECONDS")]
TextIds = Annotated[o.Words, typer.Argument(help="cli_translate.option.text_id", metavar="[TEXT_ID]...")]
By = Annotated[str | None, _option("--by", "verify", "NAME")]
Words = Annotated[str | None, _option("--text", "verify", "TEXT")]
Take = Annotated[str | None, _option("--take", "verify", "file|proposal")]
NoteText = Annotated[str | None, _option("--note", "verify", "TEXT")]
Withdraw = Annotated[bool, _option("--withdraw", "verify")]
Status = Annotated[bool, _option("--status", "verify")]


def register(group: typer.Typer) -> None:
    """Add the two commands."""
    add(group, "translate", translate, "cli_translate.translate")
    add(group, "verify", verify, "cli_translate.verify")


def translate(
    ctx: typer.Context,
    folder: Dir,
    judge: Judge = None,
    base_url: BaseUrl = None,
    to: To = None,
    only: Only = None,
    back: Back = False,
    retry_errors: RetryErrors = False,
    accept_unverified: AcceptUnverified = False,
    budget: Budget = None,
    prices: Prices = None,
    concurrency: Concurrency = None,
    timeout: Timeout = None,
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    from voirdire.app.build_translate import Listening, build_translate

    spoken = ctx.find_object(str) or "en"
    left = ("folder", "json", "lang", "to", "only")
    said = {name: value for name, value in ctx.params.items() if name not in left}
    watcher = _Watcher(spoken, as_json=json)
    listening = Listening(watcher.begun, watcher.ended)
    result = build_translate(folder, listening, to=_listed(to), only=_listed(only), **said)
    if json:
        show.json({"command": "build translate", **_document(result, spoken)})
    else:
        tell_notes(result.notes, spoken)
        for line in _end_lines(result, folder, spoken):
            show.out(line)
    if result.stopped is not None and json:
        show.err(text("cli.error", spoken, sentence=show.sentence(result.stopped, spoken)))
        raise typer.Exit(result.stopped.exit_code)
    if result.stopped is not None:
        raise result.stopped


def verify(
    ctx: typer.Context,
    folder: Dir,
    text_ids: TextIds = None,
    by: By = None,
    words: Words = None,
    take: Take = None,
    note: NoteText = None,
    withdraw: Withdraw = False,
    status: Status = False,
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    from voirdire.app.build_translate import build_verify

    spoken, names = ctx.find_object(str) or "en", list(dict.fromkeys(text_ids or ()))
    if status:
        _refuse_beside("--status", by=by, text=words, take=take, note=note, withdraw=withdraw or None)
        _tell_status(_asked_about(folder, names), spoken, as_json=json)
        return
    if not names:
        raise UsageError("translation.verify.no_text")
    if withdraw:
        _refuse_beside("--withdraw", text=words, take=take)
    if words is not None and len(names) > 1:
        raise UsageError("translation.verify.text_one", count=len(names))
    said: dict[str, Any] = {"by": by or "", "text": words, "take": take, "note": note or "", "withdraw": withdraw}
    done = []
    for name in names:
        done.append(build_verify(folder, name, **said))
        if not json:
            _tell_verified(done[-1], by or "", spoken, withdrawn=withdraw)
    if json:
        rows = [_row(one, spoken) for one in done]
        show.json({"command": "build verify", **(rows[0] if len(rows) == 1 else {"texts": rows})})


def _asked_about(folder: Path, names: Iterable[str]) -> dict[str, Standing]:
    """The texts of these names, of these questions or of these concepts; all where none is named."""
    from voirdire.construction.translation.verifying import read_standings

    found, shown = read_standings(folder), set[str]()
    for name in names:
        own = {text_id for text_id, one in found.items() if name in (text_id, one.unit.id, one.unit.concept)}
        if not own:
            raise UsageError("translation.verify.unknown", value=name, known=", ".join(list(found)[:5]) or "-")
        shown |= own
    return {text_id: one for text_id, one in found.items() if not names or text_id in shown}


def _tell_verified(one: Standing, by: str, lang: str, *, withdrawn: bool) -> None:
    told = {"name": show.clean(one.name), "text": show.clean(one.text), "by": show.clean(by)}
    show.out(text("cli_translate.withdrawn" if withdrawn else "cli_translate.verified", lang, **told))
    if one.numbers and not withdrawn:
        show.out(f"    {numbers_line(one, lang)}")
    _tell_own(one, lang)


def _tell_own(one: Standing, lang: str) -> None:
    """That whoever verified a text wrote it too."""
    if one.own:
        show.out(text("cli_translate.own", lang, by=show.clean(one.by)))


def _refuse_beside(other: str, **options: object) -> None:
    for name, value in options.items():
        if value is not None:
            raise UsageError("translation.verify.beside", option=f"--{name}", other=other)


def _listed(given: Iterable[str] | None) -> tuple[str, ...]:
    return tuple(part.strip() for entry in given or () for part in entry.split(",") if part.strip())


class _Watcher:
    """Shows a direction while it is asked."""

    def __init__(self, lang: str, *, as_json: bool) -> None:
        self.lang, self.as_json = lang, as_json
        self._board: jp.Board | None = None

    def begun(self, session: Session) -> None:
        """Say what is asked of whom, and begin to show it."""
        counts = session.folder.ledger.counts()
        total = sum(count for *_, count in counts)
        pending = sum(count for _, status, count in counts if status == "pending")
        told = {"model": show.clean(session.translator.name), "total": f"{total:,}", "pending": f"{pending:,}"}
        if not self.as_json:
            show.out(text(f"cli_translate.begun_{session.plan.direction}", self.lang, **told))
        self._board = ImageBoard(session.watch.snapshot, self.lang)
        self._board.__enter__()
        self._board.start()

    def ended(self) -> None:
        """The direction is over."""
        board, self._board = self._board, None
        if board is not None:
            board.__exit__(None, None, None)


def _end_lines(result: Translated, folder: Path, lang: str) -> list[str]:
    """What was proposed, what failed and why, what it cost, and what to do next."""
    states = Counter(one.state for one in result.standings.values())
    lines = [] if result.progress or not result.model else [text("cli_translate.nothing", lang)]
    for now in result.progress:
        done = Counter[str]()
        for judge in now.judges:
            done.update(judge.status)
        counts = {name: f"{done[name]:,}" for name in jp.STATUSES}
        money = text("cli_run.free", lang) if now.free else jp.money(now.cost, now.unknown)
        lines.append(text("cli_translate.ended", lang, **counts, pending=f"{now.total - now.done:,}", cost=money))
    if result.usual:
        lines.append(text("cli_translate.usual", lang, count=f"{len(result.usual):,}"))
    if result.taken:
        lines.append(text("cli_translate.taken", lang, count=f"{len(result.taken):,}"))
    failed = [one for one in result.standings.values() if _failed(one)]
    lines += [f"  {failure(one, lang)}" for one in failed[:SHOWN]]
    if len(failed) > SHOWN:
        lines.append(text("cli_translate.more", lang, count=f"{len(failed) - SHOWN:,}"))
    if failed:
        lines.append(text("cli_translate.failed_next", lang))
    lines.append(state_line(states, lang))
    if any(state != "verified" for state in states):
        lines.append(text("cli_translate.next", lang, folder=show.pasted(folder)))
    return lines


def state_line(states: Mapping[str, int], lang: str) -> str:
    """How many texts are in each state."""
    from voirdire.construction.translation.verifying import STATES

    named = [f"{text(f'cli_translate.state.{state}', lang)} {states[state]:,}" for state in STATES if states.get(state)]
    return text("cli_translate.states", lang, states=text("report.list_separator", lang).join(named) or "-")


def numbers_line(one: Standing, lang: str) -> str:
    """That numbers in digits are not the same in both texts, for the person who compares them."""
    return text("cli_translate.numbers", lang, numbers=text("report.list_separator", lang).join(one.numbers))


def failure(one: Standing, lang: str) -> str:
    """Why there is no translation of a text."""
    assert one.proposal is not None
    told = {"name": show.clean(one.name), "model": show.clean(one.proposal.model)}
    if one.proposal.status == "malformed":
        label, _, said = one.proposal.why.partition(": ")
        key = f"translation.why.{label}"
        why = text(key if has(key, lang) else "translation.why.other", lang)
        return text("cli_translate.failed_malformed", lang, **told, why=why, said=show.clean(said[:80]) or "-")
    why = show.clean(one.proposal.why[:160]) or "-"
    return text(f"cli_translate.failed_{one.proposal.status}", lang, **told, why=why)


def _failed(one: Standing) -> bool:
    return one.proposal is not None and one.proposal.status in ("refused", "malformed", "error") and not one.text


def _tell_status(found: Mapping[str, Standing], lang: str, *, as_json: bool) -> None:
    states = Counter(one.state for one in found.values())
    if as_json:
        rows = [_row(one, lang) for one in found.values()]
        show.json({"command": "build verify", "states": dict(states), "texts": rows})
        return
    for one in found.values():
        told = {"name": show.clean(one.name), "state": text(f"cli_translate.state.{one.state}", lang)}
        show.out(text("cli_translate.about", lang, **told, by=f" ({show.clean(one.by)})" if one.by else ""))
        for key, words in _words(one).items():
            show.out(f"    {text(f'cli_translate.words.{key}', lang)} {show.clean(words)}")
        if one.numbers:
            show.out(f"    {numbers_line(one, lang)}")
        _tell_own(one, lang)
        if _failed(one):
            show.out(f"    {failure(one, lang)}")
    show.out(state_line(states, lang))


def _words(one: Standing) -> dict[str, str]:
    """What a reviewer compares: the source, what stands in the file, what was proposed, and back."""
    proposed = one.proposal.text if one.proposal and one.proposal.text != one.text else ""
    back = one.back.text if one.back else ""
    words = {"source": one.unit.source, "file": one.text, "proposal": proposed, "back": back}
    return {key: said for key, said in words.items() if said}


def _row(one: Standing, lang: str) -> dict[str, Any]:
    told: dict[str, Any] = {"text_id": one.name, "language": one.language, "kind": one.unit.kind, "state": one.state}
    told |= {"source": one.unit.source, "text": one.text or None, "digest": one.digest}
    told["other_numbers"] = list(one.numbers)
    told |= {"verified_by": one.by or None, "at": one.at or None, "accepted_unverified": one.taken}
    told["verified_own"] = one.own
    for name, proposal in (("proposal", one.proposal), ("back", one.back)):
        if proposal is not None:
            known = {"model": proposal.model, "served": proposal.served or None, "status": proposal.status}
            told[name] = {
                **known,
                "text": proposal.text or None,
                "why": proposal.why or None,
                "at": proposal.at or None,
            }
    if _failed(one):
        told["message"] = failure(one, lang)
    return told


def _document(result: Translated, lang: str) -> dict[str, Any]:
    """The end of a session for machines; ``error`` where translations are pending."""
    found: dict[str, Any] = {"model": result.model or None, "complete": result.stopped is None}
    found["states"] = dict(Counter(one.state for one in result.standings.values()))
    found["not_translated_back"] = list(result.usual)
    found["taken"] = [one.name for one in result.taken]
    found["texts"] = [_row(one, lang) for one in result.standings.values()]
    found["cost_usd"] = result.progress[-1].cost if result.progress else None
    found["notes"] = [text(note.key, lang, **note.fields) for note in result.notes]
    found["calls"] = sum(judge.calls for now in result.progress for judge in now.judges)
    if result.stopped is not None:
        error = result.stopped
        told = {"key": error.key, "message": error.message(lang), "fields": error.fields, "exit_code": error.exit_code}
        found["error"] = told
    return found
