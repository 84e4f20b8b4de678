"""``voirdire build images``: an image for every item of a corpus that is being built, and a sheet to look at."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.construction.build_file import BuildFile, read_build_file
from voirdire.construction.concepts import ConceptItem, Concepts, read_concepts
from voirdire.construction.history import read_history
from voirdire.construction.imaging.checking import Checked, check_images
from voirdire.construction.imaging.choosing import Chosen, choose, photographs
from voirdire.construction.imaging.logbook import current, read_log, write_log
from voirdire.construction.imaging.plan import Wanted, wanted_of
from voirdire.construction.imaging.settings import ImageSettings, check_settings, overruled, read_settings, worded
from voirdire.construction.imaging.spent import Spent, spent_in_all, spent_on
from voirdire.construction.standing import REJECTED, standings
from voirdire.errors import UsageError
from voirdire.judging.nouns import RunStopped
from voirdire.judging.progress import Progress

if TYPE_CHECKING:
    from voirdire.construction.imaging.running import Means, Session
    from voirdire.judging.limits import Limits

PHOTOGRAPHS = "photographs"


@dataclass(frozen=True, slots=True)
class ImageOptions:
    """What may be said of a session.

    provider, model, base_url, regime, price : instead of what ``[images]`` of build.toml says
    subset : a number of concepts, or a file with one a line; seed : of the drawing of a number
    again : items, or concepts, that are drawn anew; source : folder of photographs
    budget : US dollars, of all sessions; concurrency : images at a time; timeout : seconds for one
    """

    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    regime: str | None = None
    price: float | None = None
    subset: str | None = None
    seed: int = 0
    again: tuple[str, ...] = ()
    source: Path | None = None
    budget: float | None = None
    concurrency: int | None = None
    timeout: float | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    limits: Limits | None = None


@dataclass(frozen=True, slots=True)
class ImagesResult:
    """How a session ended.

    progress : of the images that were wanted; checked : all images of the regime as they are now
    log, sheet : ``images.jsonl`` and the contact sheet; stopped : why images are pending, or None
    rejected : concepts that are left out because the table or the protocol rejects them
    spent : on the regime; spent_in_all : on all regimes of the folder, which is what a budget counts
    """

    folder: Path
    settings: ImageSettings
    batch: str
    progress: Progress
    checked: Checked
    log: Path
    sheet: Path
    stopped: RunStopped | None = None
    rejected: tuple[str, ...] = ()
    spent: Spent = field(default_factory=Spent)
    spent_in_all: Spent = field(default_factory=Spent)


@dataclass(frozen=True, slots=True)
class Listening:
    """Who wants to know: of the session before anything is asked, and of the looking at images (the share done)."""

    begun: Callable[[Session], None] | None = None
    looking: Callable[[float], None] | None = None


NOBODY = Listening()


def build_images(folder: Path | str, lang: str = "en", listening: Listening = NOBODY, **options: Any) -> ImagesResult:
    """Make the images of a corpus that is being built; go on where an earlier session stopped.

    folder : holds build.toml and concepts.csv; lang : of the contact sheet; options : fields of ImageOptions

    Returns also when images are pending; ``stopped`` says why. Raises InputError and UsageError before anything is
    asked, and RunStopped where the disk takes nothing more.
    """
    from voirdire.construction.imaging.running import batch_of, check_means, open_run, perform

    place, said = Path(folder), ImageOptions(**options)
    build, concepts = read_build_file(place), read_concepts(place)
    settings = settings_of(build, said)
    out = {name for name, one in standings(read_history(place)).items() if one.state == REJECTED}
    chosen = choose(concepts, build, said.subset, said.seed, out)
    wanted = _wanted(chosen, settings, said)
    means = _means(said)
    check_means(settings, means)
    with open_run(place) as run_folder:
        session = _begun(place, settings, _drawn_anew(wanted, said.again, run_folder.ledger), means, run_folder)
        if listening.begun is not None:
            listening.begun(session)
        summary = perform(session, means)
        batch = batch_of(run_folder.ledger.run_id, settings.regime)
        checked, log = _looked_at(place, settings, concepts, listening)
        sheet = _sheet(place, checked, concepts, build, settings, batch, lang)
        spent, in_all = spent_on(run_folder.ledger, settings.regime), spent_in_all(run_folder.ledger)
    told = (summary.progress, checked, log, sheet, summary.stopped, chosen.rejected, spent, in_all)
    return ImagesResult(place, settings, batch, *told)


def settings_of(build: BuildFile, said: ImageOptions) -> ImageSettings:
    """The settings of a session: build.toml's, and what the command line says instead. Raises UsageError."""
    provider = said.provider or ("folder" if said.source is not None else None)
    if (provider == "folder") != (said.source is not None):
        raise UsageError("build_images.folder_alone")
    given: dict[str, Any] = {"model": said.model, "base_url": said.base_url, "price": said.price, "source": said.source}
    if provider == "folder":
        for name in ("model", "base_url", "price"):
            if given[name] is not None:
                raise UsageError("build_images.folder_beside", option=f"--{name.replace('_', '-')}")
        given |= {"model": "", "template": "", "parameters": {}}
    regime = said.regime or (PHOTOGRAPHS if provider == "folder" else None)
    settings = overruled(read_settings(build), provider=provider, regime=regime, **given)
    return check_settings(settings, build.file)


def _wanted(chosen: Chosen, settings: ImageSettings, said: ImageOptions) -> list[Wanted]:
    if settings.source is None:
        return [wanted_of(item, settings) for item in chosen.items]
    files = photographs(chosen.items, settings.source, named=said.subset is not None)
    return [wanted_of(item, settings, files[item.id]) for item in chosen.items if item.id in files]


def _drawn_anew(wanted: Sequence[Wanted], again: Sequence[str], ledger: Any) -> list[Wanted]:
    """What is wanted, in its latest drawing; one more of those that are to be drawn anew and are decided."""
    from voirdire.construction.imaging.running import decided, draws_of

    known = {name for one in wanted for name in (one.item.id, one.item.concept)}
    for name in again:
        if name not in known:
            raise UsageError("build_images.again_unknown", value=name)
    draws, done = draws_of(ledger), decided(ledger)
    found = []
    for one in wanted:
        latest = replace(one, draw=draws.get(one.wording, 1))
        more = one.item.id in again or one.item.concept in again
        found.append(replace(latest, draw=latest.draw + 1) if more and latest.name in done else latest)
    return found


def _means(said: ImageOptions) -> Means:
    from voirdire.construction.imaging.running import CONCURRENCY, TIMEOUT, Means

    for name in ("concurrency", "timeout"):
        value = getattr(said, name)
        if value is not None and not value >= 1:
            raise UsageError("build_images.number", option=f"--{name}", value=value)
    concurrency, timeout = said.concurrency or CONCURRENCY, said.timeout or TIMEOUT
    return Means(said.environment, said.budget, concurrency, timeout, said.limits)


def _begun(place: Path, settings: ImageSettings, wanted: Sequence[Wanted], means: Means, run_folder: Any) -> Session:
    from voirdire.construction.imaging.running import begin

    return begin(place, settings, wanted, means, run_folder)


def _looked_at(place: Path, settings: ImageSettings, concepts: Concepts, listening: Listening) -> tuple[Checked, Path]:
    """The log, written anew, and the images of the regime that belong to items of the table."""
    rows = read_log(place)
    log = write_log(place, rows)
    items: dict[str, ConceptItem] = {item.id: item for item in concepts.items}
    own = {item: row for item, row in current(rows, settings.regime).items() if item in items}
    asked = {} if settings.source is not None else {name: worded(settings.template, items[name]) for name in own}
    return check_images(place, own, settings, asked, listening.looking), log


def _sheet(
    place: Path,
    checked: Checked,
    concepts: Concepts,
    build: BuildFile,
    settings: ImageSettings,
    batch: str,
    lang: str,
) -> Path:
    from voirdire.construction.imaging.sheet import contact_sheet
    from voirdire.judging.run_folder import write_whole

    path = place / f"contact-sheet-{settings.regime}.html"
    write_whole(path, contact_sheet(checked, concepts, build, settings, batch, lang))
    return path
