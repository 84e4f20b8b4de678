"""Starting the service: the database made ready, a first batch, the lead's link, and the web server."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from voirdire.annotation.batches import batches, create_batch
from voirdire.annotation.corpus_changes import Changes, bind_corpus, changes_since
from voirdire.annotation.database import Database
from voirdire.annotation.export import write_export
from voirdire.annotation.material import Shown, check_pictures, read_shown
from voirdire.annotation.nouns import Batch, BatchKind, BatchSpec, Study
from voirdire.annotation.service_state import set_lead
from voirdire.annotation.study_defaults import for_pilot
from voirdire.corpus.corpus import Note
from voirdire.errors import UsageError
from voirdire.texts import text
from voirdire.web.batch_form import Known, known_of
from voirdire.web.service import study_of
from voirdire.web.settings import VARIABLE, Settings, checked

FirstBatch = BatchKind | Literal["none"]
LEAD_VARIABLE = "VOIRDIRE_LEAD_SECRET"
SHORTEST_SECRET = 20
KEEP_SECONDS = 75
"""Connections stay open while a rater looks at an item, and longer than the usual 60 seconds of proxies before us."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A service that can be started.

    notes : what the lead should know of corpus and study; lead_link : opens the lead's pages
    made : the first batch, when this start made it; known : how many batches there are
    """

    settings: Settings
    shown: Shown
    study: Study
    notes: tuple[Note, ...]
    lead_link: str
    made: Batch | None
    known: int


def prepare(
    settings: Settings,
    now: float,
    told: Callable[[int, int], None] = lambda _done, _all: None,
    *,
    accept_changes: bool = False,
    first: FirstBatch = "rating",
) -> Ready:
    """Make the database ready: its tables, a first batch where there is none, the lead's secret.

    The secret is that of the environment variable VOIRDIRE_LEAD_SECRET, or a new one at each start; kept is a hash.
    Every image is looked at once; told : is called with how many were looked at and how many there are.
    first : what the first batch is of: ratings, a pilot, or ``none`` for no batch; of no matter where there is one
    accept_changes : go on with items that were changed since; those of batches must all be there
    Raises UsageError for a database that belongs to another corpus or to other items, InputError for an image that
    cannot be shown.
    """
    settings = checked(settings)
    shown = read_shown(Path(settings.corpus))
    found = study_of(settings, shown)
    check_pictures(shown, told)
    database = Database.open(settings.database)
    try:
        database.migrate()
        changes = bind_corpus(database, shown, now, accept=accept_changes)
        known = batches(database)
        spec = None if known or first == "none" else _first(shown, found.study, settings.lang, first)
        made = None if spec is None else create_batch(database, spec, now)
        secret = lead_secret()
        set_lead(database, secret)
    finally:
        database.dispose()
    link, count = lead_link(settings.url, secret), len(known) + (made is not None)
    notes = (*shown.notes, *found.notes, *_of_gold(known_of(shown, found.study)), *_accepted(changes))
    return Ready(settings, shown, found.study, notes, link, made, count)


def _of_gold(known: Known) -> tuple[Note, ...]:
    key = "lead.new.gold_alone" if known.alone else "lead.new.gold"
    return (Note(key, asdict(known)),) if known.count else ()


def _accepted(changes: Changes | None) -> tuple[Note, ...]:
    return () if changes is None else (Note("annotation.changes_accepted", changes.told(), "warning"),)


def _first(shown: Shown, study: Study, lang: str, kind: BatchKind) -> BatchSpec:
    """Test items and those that demonstrations are drawn from; of a pilot all items that are not rejected.

    Raises UsageError for a pilot whose question has no words in a language that a pool reads.
    """
    golden = {gold.item_id for gold in study.gold}
    splits = {item.split for item in shown.items.values()} - {"rejected"}
    wanted = splits if kind == "pilot" else {"test", "demonstration"}
    rated = [item for item in shown.items.values() if item.split in wanted and item.id not in golden]
    asked = {*golden, *(item.id for item in rated)}
    pairs = {item: pair for item, pair in shown.pairs.items() if item in asked}
    if kind == "pilot":
        study, name = for_pilot(study), text("web.first_pilot", lang)
    else:
        name = text("web.first_batch", lang)
    return BatchSpec(name, study, tuple(item.id for item in rated), kind, pairs)


def lead_link(url: str, secret: str) -> str:
    """The link that opens the lead's pages; what stands behind # is sent to no server by a browser.

    >>> lead_link("http://127.0.0.1:8765", "100% sure # of it, long enough")
    'http://127.0.0.1:8765/lead/enter#100%25%20sure%20%23%20of%20it%2C%20long%20enough'
    """
    return f"{url}/lead/enter#{quote(secret, safe='')}"


def lead_secret() -> str:
    """The secret of the environment, or a new one. Raises UsageError for one that is too short."""
    given = os.environ.get(LEAD_VARIABLE, "")
    if given and len(given) < SHORTEST_SECRET:
        raise UsageError("web.lead_secret_short", variable=LEAD_VARIABLE, limit=SHORTEST_SECRET)
    return given or secrets.token_urlsafe(24)


def export_batch(
    settings: Settings, folder: Path, number: int | None = None, warn: Callable[[Note], None] = lambda _note: None
) -> list[Path]:
    """Write a batch's ratings to a folder; without a number the only batch. Raises UsageError where there are several.

    warn : is called where items have changed since the service was last started; those of the corpus now are written
    Raises UsageError when an item that was rated is gone.
    Answers that are given while it runs are in it or not, each as a whole.
    """
    shown = read_shown(Path(settings.corpus))
    database = Database.open(settings.database)
    try:
        database.migrate()
        changes = changes_since(database, shown)
        if changes is not None:
            warn(Note("annotation.changes_exported", changes.told(), "warning"))
        number = _chosen(number, {batch.id: batch.spec.name for batch in batches(database)}, database)
        return write_export(database, number, shown, folder, lang=settings.lang)
    finally:
        database.dispose()


def _chosen(number: int | None, names: Mapping[int, str], database: Database) -> int:
    """The batch that is meant: of this number, or the only one."""
    if number is None and len(names) == 1:
        return next(iter(names))
    if not names:
        raise UsageError("web.no_batch", value=database.name)
    known = "; ".join(f"{key}: {name}" for key, name in names.items())
    if number is None:
        raise UsageError("web.batch_unnamed", count=len(names), known=known)
    if number not in names:
        raise UsageError("web.which_batch", value=number, known=known)
    return number


def serve(settings: Settings, workers: int = 1, application: str = "voirdire.web.application") -> None:
    """Answer requests until the process is stopped.

    workers : processes; more than one needs PostgreSQL; application : the module whose application it is
    """
    import uvicorn

    os.environ[VARIABLE] = settings.to_text()
    uvicorn.run(
        f"{application}:from_environment",
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=workers,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies or None,
        timeout_keep_alive=KEEP_SECONDS,
        timeout_graceful_shutdown=10,
    )


def refuse(settings: Settings, workers: int) -> None:
    """UsageError for several workers on SQLite, and where another program listens already."""
    if workers < 1:
        raise UsageError("web.workers", count=workers)
    if workers > 1 and settings.database.startswith("sqlite"):
        raise UsageError("web.workers_sqlite", count=workers)
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            raise UsageError(
                "web.address_taken", host=settings.host, port=settings.port, why=error.strerror or str(error)
            ) from error
