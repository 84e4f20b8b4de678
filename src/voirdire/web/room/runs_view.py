"""What the pages of a run say, in the reader's words: numbers, times, money, bars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from voirdire.browsing.progress import ALL_STATUSES, Begun, By, Line, Money, RunNow, State
from voirdire.judging.nouns import RunStopped
from voirdire.judging.spending import dollars
from voirdire.texts import has, text
from voirdire.web.room.pages import address

BAR = 1000
GROUPS: tuple[By, ...] = ("judge", "condition", "language", "question")
LINKED = ("malformed", "refused", "error", "pending")
"""Statuses by which the items of a shelf can be filtered."""
SOON, LATER = 2.0, 10.0
COUNTING = 0.3
NOTE_LETTERS = 500
REASONS = frozenset(f"run.stopped_{why}" for why in ("interrupt", "budget", "judges", "pending"))
"""The only keys of the catalogue that a ledger may name."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a bar of 1,000 units. status : also the name of its colour."""

    status: str
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Cell:
    """A count in a table, with the address of the items behind it, or none, and what that link is called."""

    status: str
    shown: str
    address: str = ""
    called: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table of cells or of failed calls. failed : kind -> calls, in the order of the columns."""

    name: str
    done: str
    bar: tuple[Piece, ...]
    counts: tuple[Cell, ...]
    failures: str
    failed: tuple[str, ...]
    cost: str


@dataclass(frozen=True, slots=True)
class Table:
    """The lines of judges, conditions, languages or questions."""

    by: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """A failed call, or several that look alike. address : of its item's page, or nothing"""

    when: str
    iso: str
    judge: str
    condition: str
    item: str
    address: str
    kind: str
    alike: str
    words: str


class Words:
    """Says things in one language."""

    def __init__(self, lang: str) -> None:
        self.lang = lang

    def say(self, key: str, **fields: Any) -> str:
        """A sentence of the run's pages."""
        return text(f"room_runs.{key}", self.lang, **fields)

    def when(self, seconds: float | None) -> str:
        """A time of day of this machine, a dash where there is none.

        >>> Words("en").when(None)
        '–'
        """
        if seconds is None:
            return "–"
        at = datetime.fromtimestamp(seconds).astimezone()
        parts = {"year": f"{at.year}", "month": f"{at.month:02d}", "day": f"{at.day:02d}"}
        return self.say("when", **parts, clock=f"{at:%H:%M:%S}")

    def duration(self, seconds: float) -> str:
        """A time in its two largest units.

        >>> Words("en").duration(42), Words("zh").duration(3725)
        ('42 s', '1 小时 2 分钟')
        """
        minutes = round(seconds / 60)
        if seconds < 90:
            return text("cli_run.time.seconds", self.lang, seconds=round(seconds))
        if minutes < 60:
            return text("cli_run.time.minutes", self.lang, minutes=minutes)
        hours, minutes = divmod(int(seconds) // 60, 60)
        if hours < 48:
            return text("cli_run.time.hours", self.lang, hours=hours, minutes=minutes)
        return text("cli_run.time.days", self.lang, days=hours // 24, hours=hours % 24)

    def status(self, name: str) -> str:
        """How a cell ended."""
        return text(f"cli_run.column.{name}", self.lang)

    def kind(self, name: str, provider: str = "") -> str:
        """A kind of failed call; the judges of one's own have no provider that refuses requests."""
        own = {"python": "judge", "replay": "lacks", "control": "lacks"}.get(provider) if name == "request" else None
        key = f"cli_run.failure.{own or name}"
        return text(key, self.lang) if has(key, self.lang) else name

    def rate(self, per_second: float | None) -> str:
        """Cells a second, or a minute where they are few."""
        if per_second is None:
            return self.say("no_rate")
        if per_second < 1:
            return self.say("per_minute", rate=f"{per_second * 60:.1f}")
        return self.say("per_second", rate=f"{per_second:,.1f}")

    def cost(self, money: Money) -> str:
        """What calls cost, in words where it is no number."""
        if money.free:
            return self.say("free")
        if not money.unpriced:
            return f"${dollars(money.known)}"
        return self.say("cost_least", cost=f"${dollars(money.known)}") if money.known else self.say("cost_unknown")

    def short_cost(self, money: Money) -> str:
        """What calls cost, for a table: a plus where some are not priced, a dash where none is.

        >>> Words("en").short_cost(Money(1.5, 2)), Words("en").short_cost(Money(0.0, 2))
        ('$1.50+', '–')
        """
        if money.free:
            return text("cli_run.free", self.lang)
        if money.unpriced and not money.known:
            return "–"
        return f"${dollars(money.known)}{'+' if money.unpriced else ''}"


def percent(line: Line) -> int:
    """How many cells have ended, rounded down: 100 means all."""
    return 100 * line.done // line.total if line.total else 0


def bar(cells: Mapping[str, int]) -> tuple[Piece, ...]:
    """The parts of a bar, in the order of the statuses; what is pending stays empty.

    >>> [(piece.status, piece.start, piece.width) for piece in bar({"ok": 1, "error": 1, "pending": 2})]
    [('ok', 0.0, 250.0), ('error', 250.0, 250.0)]
    """
    total, start, pieces = sum(cells.values()), 0.0, []
    for status in ALL_STATUSES[:-1]:
        if count := cells.get(status, 0):
            width = round(BAR * count / total, 2)
            pieces.append(Piece(status, start, width))
            start = round(start + width, 2)
    return tuple(pieces)


@dataclass(frozen=True)
class RunView:
    """A run as its page shows it. shelf : slug of the shelf of its items, or ""; places : item -> number on it."""

    now: RunNow
    words: Words
    shelf: str = ""
    places: Mapping[str, int] | None = None

    @property
    def state(self) -> State:
        """Whether it runs, and else how it ended."""
        return self.now.state

    @property
    def again(self) -> float | None:
        """Seconds until the page looks again; None where there is nothing more to see."""
        if not self.now.counted.whole:
            return COUNTING
        return {"running": SOON, "finished": None}.get(self.state, LATER)

    @property
    def about(self) -> str:
        """What is to be known of its state."""
        counted = self.now.counted
        ended = counted.session.ended or {}
        at = ended.get("at")
        return self.words.say(
            f"about.{self.state}",
            pid=self.now.writer,
            since=self.words.when(counted.session.at),
            last=self.words.when(counted.last_at),
            pending=f"{counted.count('pending'):,}",
            ended=self.words.when(at if isinstance(at, (int, float)) else None),
        )

    @property
    def why(self) -> str:
        """Why it stopped with cells pending, where it says; the names and words in it are untrusted."""
        ended = self.now.counted.session.ended or {}
        key, fields = ended.get("why"), ended.get("fields")
        if self.state != "stopped" or key not in REASONS or not isinstance(fields, dict):
            return ""
        try:
            return RunStopped(key, **{str(name): value for name, value in fields.items()}).message(self.words.lang)
        except (KeyError, TypeError, ValueError):
            return ""

    @property
    def progress(self) -> str:
        """How many cells have ended."""
        line = self.now.total
        return self.words.say("cells", done=f"{line.done:,}", total=f"{line.total:,}", percent=percent(line))

    @property
    def said(self) -> str:
        """What is read out when it changes: the state and each tenth of the way."""
        tenths = percent(self.now.total) // 10 * 10
        return self.words.say("said", state=self.words.say(f"state.{self.state}"), percent=tenths)

    @property
    def counting(self) -> str:
        """How far the first count of a large ledger is; nothing where it is done."""
        counted = self.now.counted
        if counted.whole:
            return ""
        return self.words.say("counting", percent=100 * counted.read // max(1, counted.attempts))

    @property
    def left(self) -> str:
        """When it will be over at this rate."""
        return "–" if self.now.left is None else self.words.duration(max(1.0, self.now.left))

    @cached_property
    def others(self) -> bool:
        """Whether there were calls of judges that are asked no longer."""
        return sum(line.calls for line in self.now.by("judge")) != self.now.total.calls

    @property
    def cost(self) -> str:
        """What it has cost, where that is known."""
        return self.words.cost(self.now.total.money)

    @property
    def money_notes(self) -> list[str]:
        """What belongs to the cost: the budget, replies without a price, and what a budget counts for them."""
        budget, held, unpriced = (
            self.now.counted.session.budget,
            self.now.counted.held,
            self.now.total.money.unpriced,
        )
        notes = [] if budget is None else [self.words.say("budget", budget=f"${dollars(budget)}")]
        notes += [self.words.say("unpriced", count=f"{unpriced:,}")] if unpriced else []
        return notes + ([self.words.say("held", dollars=f"${dollars(held)}")] if held else [])

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The lines by judge, condition, language and question; the last two where there is something to compare."""
        found = [Table(by, tuple(self._row(line, by) for line in self.now.by(by))) for by in GROUPS]
        return tuple(one for one in found if one.by in ("judge", "condition") or len(one.rows) > 1)

    @cached_property
    def whole(self) -> Row:
        """The row of all judges together."""
        return self._row(self.now.total, None)

    @cached_property
    def kinds(self) -> tuple[tuple[str, str], ...]:
        """The kinds of failed calls that there were, with what they are called."""
        return tuple((kind, self._kind(kind)) for kind in self.now.kinds)

    @property
    def errors(self) -> tuple[Failed, ...]:
        """The latest failed calls."""
        found = []
        for one in self.now.errors:
            call, said = one.newest, self.words
            kind = said.kind(call.kind, self.now.counted.providers.get(call.judge, ""))
            found.append(
                Failed(
                    said.when(call.at),
                    datetime.fromtimestamp(call.at).astimezone().isoformat(timespec="seconds"),
                    call.judge,
                    call.condition,
                    call.item,
                    self._item(call.item),
                    kind if call.status is None else f"{kind} ({call.status})",
                    said.say("alike", count=one.count) if one.count > 1 else "",
                    _plain(call.note),
                )
            )
        return tuple(found)

    def _item(self, item: str) -> str:
        """The address of an item's page, or nothing."""
        place = (self.places or {}).get(item)
        return f"/items/{self.shelf}/{place}" if self.shelf and place else ""

    def _kind(self, kind: str) -> str:
        counted = self.now.counted
        providers = {counted.providers.get(place.judge, "") for place, name in counted.calls if name == kind}
        return self.words.kind(kind, providers.pop() if len(providers) == 1 else "")

    def _row(self, line: Line, by: By | None) -> Row:
        name = line.name or (self.words.say("all") if by is None else self.words.say("no_language"))
        return Row(
            name,
            f"{percent(line)} %",
            bar(line.cells),
            tuple(self._cell(line, status, by) for status in ALL_STATUSES),
            f"{line.failures:,}",
            tuple(f"{line.failed.get(kind, 0):,}" for kind in self.now.kinds),
            self.words.short_cost(line.money),
        )

    def _cell(self, line: Line, status: str, by: By | None) -> Cell:
        count = line.cells.get(status, 0)
        shown = f"{count:,}"
        if not (count and self.shelf and status in LINKED and by in (None, "judge")):
            return Cell(status, shown)
        judge = line.name if by == "judge" else None
        told = {"judge": judge, "status": self.words.status(status), "count": shown}
        called = self.words.say("show_items" if judge else "show_items_all", **told)
        return Cell(status, shown, address(f"/items/{self.shelf}", {"status": status, "judge": judge}), called)


def facts(begun: Begun, run_id: str, folder: str, words: Words) -> list[tuple[str, str]]:
    """What a run was begun with: names and values, those that are known."""
    told = {"run": run_id, "folder": folder, **begun.facts}
    with suppress(KeyError, ValueError):
        told["created"] = words.when(datetime.fromisoformat(told["created"]).timestamp())
    if begun.conditions:
        told["conditions"] = f"{begun.conditions:,}"
    if begun.scales:
        told["scales"] = _listed(
            (f"{name} ({scale})" if scale else name for name, scale in begun.scales.items()), words
        )
    order = (
        "corpus", "version", "corpus_digest", "items", "grid", "grid_digest", "conditions", "scales", "repeats", "seed",
        "created", "voirdire", "python", "run", "folder",
    )  # fmt: skip
    return [(words.say(f"fact.{name}"), told[name]) for name in order if name in told]


def _listed(parts: Iterable[str], words: Words) -> str:
    return text("report.list_separator", words.lang).join(parts)


def _plain(note: str) -> str:
    """Words of others in one line: no control characters, not too many."""
    shown = "".join(letter if letter.isprintable() else " " for letter in note[:NOTE_LETTERS])
    return " ".join(shown.split()) + ("…" if len(note) > NOTE_LETTERS else "")
