"""Making the images of a regime: the judging engine, its ledger and its budget, with makers instead of judges.

``image-run/`` in the folder of the corpus is a run folder like any other (``voirdire run --status`` reads it), with
two folders more: ``replies/`` (received, and not safe in the ledger yet) and ``replaced/``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from voirdire.construction.imaging.files import RUN, put_back, sweep
from voirdire.construction.imaging.makers import Keeper, endpoint_of, make_maker
from voirdire.construction.imaging.plan import ImagePlan, Wanted, changed_facts
from voirdire.construction.imaging.settings import CATALOGUED, ImageSettings
from voirdire.construction.imaging.shelf import Shelf
from voirdire.errors import InputError, UsageError
from voirdire.judging.ledger import Ledger
from voirdire.judging.limits import Limits
from voirdire.judging.looping import in_a_loop
from voirdire.judging.nouns import Judge, RunStopped
from voirdire.judging.progress import Watch
from voirdire.judging.providers.catalog import capability
from voirdire.judging.run_folder import MANIFEST, RunFolder, iso, write_whole
from voirdire.judging.runner import Summary, Tariff, run
from voirdire.judging.spending import Budget
from voirdire.judging.steps import Step
from voirdire.judging.toml_text import toml_text
from voirdire.version import VERSION

CONCURRENCY = 8
TIMEOUT = 300.0
GRACE = 90.0
"""Seconds for which images that are being drawn are waited for after a first Ctrl-C: they are paid for already."""

_MADE = """
SELECT i.name, a.text FROM cell c JOIN item i ON i.id = c.item JOIN condition k ON k.id = c.condition
  JOIN outcome o ON o.cell = c.id JOIN attempt a ON a.cell = c.id AND a.number = o.attempts
WHERE i.planned AND k.planned AND k.name = ? AND o.status = 'ok'
"""
STOPS: Mapping[str, str] = {
    "run.stopped_budget": "build_images.stopped_budget",
    "run.stopped_interrupt": "build_images.stopped_interrupt",
    "run.stopped_judges": "build_images.stopped_maker",
    "run.stopped_pending": "build_images.stopped_pending",
}


@dataclass(frozen=True, slots=True)
class Means:
    """What a session may use: dollars, calls at a time, seconds for one call, keys, and the shape of its pauses."""

    environment: Mapping[str, str]
    budget: float | None = None
    concurrency: int = CONCURRENCY
    timeout: float = TIMEOUT
    limits: Limits | None = None


class ShelfWatch(Watch):
    """Counts what happens, and lets go of replies that are safe in the ledger."""

    def __init__(self, shelf: Shelf, run_folder: RunFolder) -> None:
        super().__init__()
        self._shelf, self._ledger = shelf, run_folder.ledger

    def stepped(self, step: Step) -> None:
        """A step was kept."""
        super().stepped(step)
        call = f"{self._ledger.run_id}-{step.attempt.cell}-{step.attempt.number}"
        self._shelf.done(call, self._ledger.path)


@dataclass(frozen=True, slots=True)
class Session:
    """An open run folder with everything that a session needs."""

    folder: RunFolder
    plan: ImagePlan
    maker: Judge
    shelf: Shelf
    watch: Watch

    @property
    def batch(self) -> str:
        """The name of the batch that the images of this regime belong to, whatever session made them."""
        return batch_of(self.folder.ledger.run_id, self.plan.settings.regime)


def batch_of(run_id: str, regime: str) -> str:
    """The name of a batch.

    >>> batch_of("1a2b3c4d", "generated")
    '1a2b3c4d-generated'
    """
    return f"{run_id}-{regime}"


def begin(
    folder: Path, settings: ImageSettings, wanted: Sequence[Wanted], means: Means, run_folder: RunFolder
) -> Session:
    """Bind what is wanted to the run folder.

    Raises InputError where the regime was begun under other parameters, and what ``check_means`` raises.
    """
    check_means(settings, means)
    plan = ImagePlan(folder, settings, wanted)
    shelf = Shelf(run_folder.path, settings.price)
    maker = make_maker(Keeper(folder, plan), shelf, means.environment, means.timeout)
    _refuse_other_parameters(run_folder.ledger, settings, folder)
    plan.session = _next_session(run_folder.ledger)
    run_folder.bind(
        plan.nouns(maker.settings),
        repeats=1,
        meta={"kind": "images"},
        same={},
        session={"voirdire": VERSION, "regime": settings.regime, "price_per_image": settings.price},
    )
    plan.run_id = run_folder.ledger.run_id
    sweep(folder, settings.regime)
    if taken_up := shelf.sweep(run_folder.ledger):
        run_folder.ledger.found(taken_up)
    _put_back(folder, plan, run_folder.ledger)
    write_whole(run_folder.path / MANIFEST, toml_text(_manifest(plan, maker, run_folder.ledger)))
    return Session(run_folder, plan, maker, shelf, ShelfWatch(shelf, run_folder))


def check_means(settings: ImageSettings, means: Means) -> None:
    """Raise UsageError for a budget that cannot be kept, a key that is missing and an address that cannot be used."""
    Budget(means.budget)
    if settings.provider == "folder":
        return
    if means.budget is not None and settings.price is None:
        raise UsageError("build_images.budget_no_price")
    endpoint_of(settings, means.environment)


def perform(session: Session, means: Means) -> Summary:
    """Ask for every image that is wanted and not decided yet; what is pending is said by ``Summary.stopped``."""
    settings, ledger = session.plan.settings, session.folder.ledger
    limits = replace(means.limits or Limits(), concurrency=means.concurrency, final=settings.provider == "folder")
    try:
        summary: Summary = in_a_loop(
            run(
                session.plan,
                [session.maker],
                ledger,
                limits=limits,
                tariffs=_tariffs(settings),
                budget=Budget(means.budget, sum(ledger.costs().values())),
                watch=session.watch,
                grace=GRACE,
            )
        )
    finally:
        session.shelf.flush(ledger.path)
    return replace(summary, stopped=_in_own_words(summary.stopped))


def draws_of(ledger: Ledger) -> dict[str, int]:
    """Item and wording -> its latest drawing."""
    found: dict[str, int] = {}
    for name in ledger.known("item"):
        item, digest, *draw = name.split(" ")
        wording = f"{item} {digest}"
        found[wording] = max(found.get(wording, 1), int(draw[0]) if draw else 1)
    return found


def decided(ledger: Ledger) -> set[str]:
    """Items of the ledger, each in its wording and drawing, that have an outcome."""
    with ledger.writing() as db:
        query = "SELECT DISTINCT i.name FROM outcome o JOIN cell c ON c.id = o.cell JOIN item i ON i.id = c.item"
        return {name for (name,) in db.execute(query)}


def open_run(folder: Path) -> RunFolder:
    """The run folder of a corpus that is being built, held by this process alone."""
    return RunFolder(folder / RUN)


def _tariffs(settings: ImageSettings) -> dict[str, Tariff]:
    if settings.price is None or settings.provider == "folder":
        return {}
    model = capability(CATALOGUED[settings.provider], settings.model)
    return {settings.maker: Tariff(model, per_call=settings.price)}


def _refuse_other_parameters(ledger: Ledger, settings: ImageSettings, folder: Path) -> None:
    """All images of a regime are made alike: another model or another template is another regime."""
    with ledger.writing() as db:
        row = db.execute("SELECT facts FROM condition WHERE name = ?", (settings.regime,)).fetchone()
    changed = changed_facts(json.loads(row[0])["asked"], settings) if row is not None else []
    if changed:
        where = {"file": str(folder / RUN), "regime": settings.regime}
        raise InputError("build_images.regime_changed", **where, what=", ".join(changed))


def _next_session(ledger: Ledger) -> int:
    with ledger.writing() as db:
        return int(db.execute("SELECT count(*) + 1 FROM session").fetchone()[0])


def _put_back(folder: Path, plan: ImagePlan, ledger: Ledger) -> None:
    """Images of wordings that were wanted before, then were not, and are wanted again: they were kept."""
    with ledger.writing() as db:
        rows = db.execute(_MADE, (plan.settings.regime,)).fetchall()
    for name, said in rows:
        facts = json.loads(said)
        put_back(folder, plan.settings.regime, plan.of(name).item.id, facts["sha256"])


def _in_own_words(stopped: RunStopped | None) -> RunStopped | None:
    return None if stopped is None else RunStopped(STOPS.get(stopped.key, stopped.key), **stopped.fields)


def _manifest(plan: ImagePlan, maker: Judge, ledger: Ledger) -> dict[str, Any]:
    """What run.toml says: of the regime that was asked for last."""
    settings = plan.settings
    begun = iso(float(ledger.meta("created") or 0))
    known = {"id": ledger.run_id, "created": begun, "updated": iso(time.time()), "voirdire": VERSION}
    regime = {"name": settings.regime, "batch": batch_of(ledger.run_id, settings.regime), "images": len(plan.wanted)}
    form = {"aspect_ratio": settings.aspect_ratio, "size": settings.size, "template": settings.template}
    own = {} if settings.provider == "folder" else form | {"language": settings.language}
    return {"run": known, "regime": regime | own, "maker": {"name": maker.name, "settings": dict(maker.settings)}}
