"""``voirdire build translate``: texts proposed by a model, and translated back for whoever verifies them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.construction.build_file import BuildFile, read_build_file
from voirdire.construction.translation.settings import (
    languages_of,
    left_out_back,
    read_settings,
    wanted_back,
    wanted_forward,
)
from voirdire.construction.translation.verifying import Standing, read_standings, take_unverified
from voirdire.construction.translation.verifying import verify as record_verification
from voirdire.construction.translation.verifying import withdraw as take_back
from voirdire.corpus.corpus import Note
from voirdire.errors import UsageError

if TYPE_CHECKING:
    from voirdire.construction.translation.asking import Means, Session
    from voirdire.construction.translation.plan import Direction, Wanted
    from voirdire.judging.limits import Limits
    from voirdire.judging.nouns import JudgeSpec, RunStopped
    from voirdire.judging.progress import Progress

Begun = Callable[["Session"], None]
Ended = Callable[[], None]


@dataclass(frozen=True, slots=True)
class TranslateOptions:
    """What may be said of a session.

    judge : provider/model, instead of what build.toml says; base_url : instead of the provider's own address
    to : languages, by default all beside the first; only : texts, units or concepts, by default what is missing
    back : also translate back what is not verified; accept_unverified : put proposals into the files, unverified
    budget : US dollars over all sessions of the folder; prices : TOML file, as for ``voirdire run``
    retry_errors : ask again where the request failed for good
    """

    judge: str | None = None
    base_url: str | None = None
    to: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    back: bool = False
    accept_unverified: bool = False
    budget: float | None = None
    prices: Path | None = None
    concurrency: int | None = None
    timeout: float | None = None
    retry_errors: bool = False
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    limits: Limits | None = None


@dataclass(frozen=True, slots=True)
class Translated:
    """How a session ended.

    progress : of each direction that was asked; standings : where every text is now, by name
    taken : texts that were put into the files, unverified; stopped : why translations are pending
    notes : what of the parameters is not sent to this model
    usual : texts that were not translated back, as they are voirdire's own words in both languages
    """

    build: BuildFile
    model: str
    progress: tuple[Progress, ...]
    standings: Mapping[str, Standing]
    taken: tuple[Standing, ...] = ()
    stopped: RunStopped | None = None
    notes: tuple[Note, ...] = ()
    usual: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listening:
    """Who wants to know: of a direction before anything is asked, and when it has ended."""

    begun: Begun | None = None
    ended: Ended | None = None


NOBODY = Listening()


def build_translate(folder: Path | str, listening: Listening = NOBODY, **options: Any) -> Translated:
    """Translate the texts of a corpus that is being built; go on where an earlier session stopped.

    options : fields of TranslateOptions. What a model says is a proposal: files change when a person verifies it, or
    with ``accept_unverified``, which marks it as unverified.

    Returns also when translations are pending; ``stopped`` says why. Raises InputError and UsageError before anything
    is asked.
    """
    place, said = Path(folder), TranslateOptions(**options)
    build = read_build_file(place)
    settings, languages = read_settings(build), languages_of(build, said.to)
    found = read_standings(place)
    progress: list[Progress] = []
    stopped, model = None, ""
    notes: tuple[Note, ...] = ()
    usual: tuple[str, ...] = ()
    if said.judge or settings.judge or not said.accept_unverified:
        spec = settings.spec(said.judge, said.base_url)
        model, means = spec.name, _means(said, spec)
        notes = () if means.tariff is None else means.tariff.capability.settle(spec.parameters)[1]
        forward = wanted_forward(build, found, languages, settings.guidance, said.only)
        stopped = _asked(place, "forward", spec, forward, means, said, listening, progress)
        if said.back and stopped is None:
            found = read_standings(place)
            usual = left_out_back(build, found, languages, said.only)
            back = wanted_back(build, found, languages, said.only)
            stopped = _asked(place, "back", spec, back, means, said, listening, progress)
    taken = take_unverified(place) if said.accept_unverified else ()
    return Translated(build, model, tuple(progress), read_standings(place), taken, stopped, notes, usual)


def build_verify(
    folder: Path | str,
    name: str,
    *,
    by: str,
    text: str | None = None,
    take: str | None = None,
    note: str = "",
    withdraw: bool = False,
) -> Standing:
    """Record that a bilingual person verified a text, as it stands or corrected; ``withdraw`` takes it back.

    Raises UsageError (``translation.verify.*``).
    """
    if withdraw:
        return take_back(folder, name, by, note=note)
    return record_verification(folder, name, by, text=text, take=take, note=note)


def _asked(
    place: Path,
    direction: Direction,
    spec: JudgeSpec,
    wanted: Sequence[Wanted],
    means: Means,
    said: TranslateOptions,
    listening: Listening,
    progress: list[Progress],
) -> RunStopped | None:
    """Ask in one direction, where there is anything to ask; why it stopped."""
    from voirdire.construction.translation.asking import begin, open_run, perform

    if not wanted:
        return None
    with open_run(place) as run_folder:
        session = begin(run_folder, direction, spec, wanted, means, retry_errors=said.retry_errors)
        if listening.begun is not None:
            listening.begun(session)
        try:
            summary = perform(session, means)
        finally:
            if listening.ended is not None:
                listening.ended()
    progress.append(summary.progress)
    return summary.stopped


def _means(said: TranslateOptions, spec: JudgeSpec) -> Means:
    from voirdire.app.price import capability_of, own_prices
    from voirdire.app.run_inputs import RunOptions
    from voirdire.construction.translation.asking import CONCURRENCY, TIMEOUT, Means, check_means
    from voirdire.judging.runner import Tariff

    for name in ("concurrency", "timeout"):
        value = getattr(said, name)
        if value is not None and not value >= 1:
            raise UsageError("translation.number", option=f"--{name}", value=value)
    model, own = capability_of(spec), own_prices(RunOptions(prices=said.prices))
    tariff = None
    if model is not None:
        tariff = Tariff(model, spec.parameters, own.of(spec.provider, spec.model, model.price))
    concurrency, timeout = said.concurrency or CONCURRENCY, said.timeout or TIMEOUT
    means = Means(said.environment, said.budget, tariff, concurrency, timeout, said.limits)
    check_means(spec, means)
    return means
