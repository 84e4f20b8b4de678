"""``voirdire build screen`` and ``voirdire build decide``: what a pilot says of a pair, and what a person decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.construction.build_file import BuildFile, read_build_file
from voirdire.construction.concepts import Concepts, read_concepts, replace_table
from voirdire.construction.imaging.settings import GENERATED
from voirdire.construction.regimes import check_regime, further_ids
from voirdire.construction.same_answers import MARKS
from voirdire.construction.screening import Screening, screen
from voirdire.construction.screening_decisions import Outcome, outcomes, record
from voirdire.construction.screening_decisions import decide as record_decision
from voirdire.construction.screening_opinion import Opinion, read_opinion, run_folder, write_items
from voirdire.construction.screening_pilot import read_pilot
from voirdire.construction.screening_rule import read_rule
from voirdire.construction.seen import knows_image, now_of, over, seen_beside
from voirdire.construction.team import who_rates
from voirdire.corpus.corpus import Note
from voirdire.corpus.folder import expand_corpus
from voirdire.corpus.options import CorpusOptions

if TYPE_CHECKING:
    from voirdire.app.run import Begun
    from voirdire.judging.progress import Watch

TABLE, PAGE = "screening.csv", "screening.html"


@dataclass(frozen=True, slots=True)
class Screened:
    """A screening that was written, and where every pair stands.

    table, page : the files; opinion : of a judge, where one was asked
    """

    build: BuildFile
    screening: Screening
    table: Path
    page: Path
    standing: Mapping[str, Outcome] = field(default_factory=dict)
    opinion: Opinion | None = None
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Listening:
    """Who wants to know how far it is.

    progress : called with a stage and the share done, while the page is made
    watch, begun : of the judge's run, as for ``voirdire.app.run.run_read``
    """

    progress: Callable[[str, float], None] | None = None
    watch: Watch | None = None
    begun: Callable[[Begun], None] | None = None


@dataclass(frozen=True, slots=True)
class _Asking:
    judge: Any
    regime: str
    options: Mapping[str, Any]
    listening: Listening


def build_screen(
    folder: Path | str,
    *,
    ratings: Any,
    checklist: Any = None,
    judge: Any = None,
    question: str | None = None,
    regime: str = GENERATED,
    lang: str = "en",
    tables: Mapping[str, Any] | None = None,
    asking: Mapping[str, Any] | None = None,
    listening: Listening | None = None,
) -> Screened:
    """Screen the pairs of a folder by the answers of a pilot; write ``screening.csv``, the page, and the history.

    ratings : a table or a corpus folder; checklist : a table of answers to ``usable`` or ``stereotype``, where the
        ratings do not hold them; answers about items of further regimes are left aside
    judge : asked for a second opinion, which decides nothing; asking : further options of its run (budget, base_url)
    question : the evaluation question, where its role does not name it; regime : whose images are shown
    tables : how the ratings are read, by the names of CorpusOptions (low, high, raters, pools, ...)
    listening : who wants to know how far it is

    The judge's answers are kept: the same command goes on where it stopped. Raises InputError, UsageError, and
    RunStopped where the judge is not done.
    """
    check_regime(regime)
    place, listening = Path(folder), listening or Listening()
    build, concepts = read_build_file(place), read_concepts(place)
    rule, options = read_rule(build), CorpusOptions(ratings, **(tables or {}))
    further = further_ids(place, (item.id for item in concepts.items))
    pilot = read_pilot(concepts, options, question=question, checklist=checklist, further=further)
    screening = screen(pilot, rule)
    team = _team(build, pilot.raters, options)
    notes = (*screening.notes, *(Note("screening.author_rates", one, "warning") for one in team))
    told = {"team": team, "shown": _shown(place, concepts, screening, options), MARKS: pilot.marks}
    standing = record(place, screening, told)
    replace_table(place / TABLE, screening.table())
    made = Screened(build, screening, place / TABLE, place / PAGE, standing, notes=notes)
    _write_page(made, concepts, regime, lang, listening)
    if judge is not None:
        asked = _Asking(judge, regime, asking or {}, listening)
        made = replace(made, opinion=_opinion(made, concepts, asked))
        _write_page(made, concepts, regime, lang, listening)
    return made


def build_decide(folder: Path | str, concept: str, verdict: str, *, by: str, why: str = "") -> Outcome:
    """Confirm or overrule the verdict on a pair, in the history of the folder; ``undecided`` takes it back.

    Raises UsageError (``screening.decide.*``).
    """
    read_build_file(folder)
    return record_decision(folder, concept, verdict, by, why=why)


def screened_pairs(folder: Path | str) -> dict[str, Outcome]:
    """concept -> what the latest screening suggested, what was decided, and what holds."""
    from voirdire.construction.history import read_history

    return outcomes(read_history(folder))


def _shown(
    place: Path, concepts: Concepts, screening: Screening, options: CorpusOptions
) -> dict[str, dict[str, dict[str, str]]]:
    """Concept -> item -> marks of what the pilot's raters saw: as the items beside their ratings say, else as it is."""
    beside = seen_beside(expand_corpus(options), options.ratings)
    named = {pair.concept for pair in screening.pairs}
    now = now_of(place, [item for item in concepts.items if item.concept in named])
    found: dict[str, dict[str, dict[str, str]]] = {}
    for item in concepts.items:
        if item.id in now:
            seen = beside.get(item.id, {})
            kept = over(now[item.id], seen) if knows_image(seen) else {**now[item.id], **seen}
            found.setdefault(item.concept, {})[item.id] = kept
    return found


def _team(build: BuildFile, ids: Sequence[str], options: CorpusOptions) -> list[dict[str, str]]:
    """Each member of the construction team who is among the pilot's raters, by id or by what is known of raters."""
    read = expand_corpus(options)
    found = list(who_rates(build.authors, pl.DataFrame({"rater_id": ids}, schema={"rater_id": pl.String})))
    found += who_rates(build.authors, read.raters, read.mapping) if read.raters is not None else ()
    named = {one.author: one.value for one in found}
    return [{"author": who, "value": value} for who, value in named.items()]


def _opinion(made: Screened, concepts: Concepts, asked: _Asking) -> Opinion:
    """Ask a judge about the items of every screened pair; what it answered before is kept. Raises RunStopped."""
    from voirdire.app.run import run_read
    from voirdire.app.run_inputs import DEFAULT_GRID, options_of, read_run

    place, named = made.page.parent, {pair.concept for pair in made.screening.pairs}
    items = [item for item in concepts.items if item.concept in named]
    path, described = write_items(place, made.build, items, asked.regime)
    judge = asked.judge
    name = judge if isinstance(judge, str) else getattr(judge, "__name__", type(judge).__name__)
    inputs = read_run(path, options_of(judge, DEFAULT_GRID, asked.options))
    listening = asked.listening
    result = run_read(inputs, run_folder(place, name, asked.regime), watch=listening.watch, begun=listening.begun)
    if result.stopped is not None:
        raise result.stopped
    return read_opinion(name, result.judgments, described)


def _write_page(made: Screened, concepts: Concepts, regime: str, lang: str, listening: Listening) -> None:
    from voirdire.construction.screening_page import Shown, page
    from voirdire.judging.run_folder import write_whole
    from voirdire.reporting.render import html

    shown = Shown(made.screening, made.standing, made.build, concepts, made.page.parent, regime, made.opinion)
    write_whole(made.page, html(page(shown, lang, listening.progress)))
