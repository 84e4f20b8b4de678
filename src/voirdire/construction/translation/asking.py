"""Asking a model for translations: the judging engine, its ledger and its budget, with a translator for a judge.

``translation-run/`` in the folder of the corpus is a run folder like any other (``voirdire run --status`` reads it).
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from voirdire.construction.translation.checking import read_translation
from voirdire.construction.translation.plan import KEPT, RUN, Direction, TranslationPlan, Wanted
from voirdire.judging.limits import Limits
from voirdire.judging.looping import in_a_loop
from voirdire.judging.material import Material
from voirdire.judging.nouns import Call, Judge, JudgeSpec, Reply, RunStopped
from voirdire.judging.parsing import normalised, read_reply, separate_reasoning
from voirdire.judging.progress import Watch
from voirdire.judging.providers.kit import Kit
from voirdire.judging.providers.make import make_judge
from voirdire.judging.run_folder import MANIFEST, RunFolder, iso, write_whole
from voirdire.judging.runner import Summary, Tariff, run
from voirdire.judging.spending import Budget, need_prices
from voirdire.judging.toml_text import toml_text
from voirdire.version import VERSION

CONCURRENCY = 8
TIMEOUT = 120.0
SHOWN = 300
"""Characters of a reply that cannot be used that are written down."""

WILL_NOT = re.compile(
    r"(?:can't|cannot|can not|won't|unable to|not able to|not going to|decline to) (?:\w+ )?"
    r"(?:translate|help|assist|provide|comply|fulfil|do (?:that|this))"
    r"|(?:无法|不能|不会|不可以|拒绝)(?:为您|为你|直接|帮您|帮你)?(?:翻译|提供|协助|完成|满足)"
)
"""Words in which a model says that it does not translate."""

STOPS: Mapping[str, str] = {
    "run.stopped_budget": "translation.stopped_budget",
    "run.stopped_interrupt": "translation.stopped_interrupt",
    "run.stopped_judges": "translation.stopped_model",
    "run.stopped_pending": "translation.stopped_pending",
}


@dataclass(frozen=True, slots=True)
class Means:
    """What a session may use.

    budget : US dollars over all sessions of the folder; tariff : what a call costs, None for a model of this machine
    concurrency : calls at a time; timeout : seconds for one; limits : the shape of pauses
    """

    environment: Mapping[str, str] = field(repr=False)
    budget: float | None = None
    tariff: Tariff | None = None
    concurrency: int = CONCURRENCY
    timeout: float = TIMEOUT
    limits: Limits | None = None


class Translator:
    """A judge that is asked for translations: its words are checked, and a good reply has the rating 1."""

    def __init__(self, judge: Judge, plan: TranslationPlan) -> None:
        self.name, self.lane, self.settings = judge.name, judge.lane, judge.settings
        self._judge, self._plan = judge, plan

    async def ask(self, call: Call) -> Reply:
        """Ask once. Raises CallFailed."""
        return understood(await self._judge.ask(call), self._plan.of(call.item.id))

    async def close(self) -> None:
        """Give back what the judge holds."""
        await self._judge.close()


def understood(reply: Reply, wanted: Wanted) -> Reply:
    """A reply with the translation in it (as JSON, with the rating 1), a refusal, or one that cannot be used.

    >>> wanted = Wanted("tea/prompt/zh", "Do you like it?", "en", "zh")
    >>> understood(Reply("你喜欢吗？"), wanted).rating, understood(Reply("Do I?"), wanted).text
    (1.0, 'script: Do I?')
    """
    if reply.refusal is not None or reply.finish == "filter":
        return replace(reply, refusal=reply.refusal or reply.finish, rating=None)
    own, visible = separate_reasoning(reply.text)
    reasoning = "\n".join(part for part in (reply.reasoning, own) if part)
    if _declines(visible) and not _declines(wanted.source):
        return replace(reply, text=visible, reasoning=reasoning, refusal=visible[:SHOWN], rating=None)
    read = read_translation(visible, wanted.source, wanted.language, wanted.came_from)
    why = "cut" if reply.finish == "length" else read.why
    if why:
        return replace(reply, text=f"{why}: {visible[:SHOWN]}", reasoning=reasoning, rating=None)
    told = json.dumps({"text": read.text}, ensure_ascii=False)
    return replace(reply, text=told, reasoning=reasoning, rating=KEPT)


def _declines(words: str) -> bool:
    head = words[:1000]
    return read_reply(head, ()).kind == "refused" or WILL_NOT.search(normalised(head)) is not None


@dataclass(frozen=True, slots=True)
class Session:
    """An open run folder with everything that a session in one direction needs."""

    folder: RunFolder
    plan: TranslationPlan
    translator: Judge
    watch: Watch


def check_means(spec: JudgeSpec, means: Means) -> None:
    """Raise UsageError for a budget that cannot be kept."""
    Budget(means.budget)
    if means.tariff is not None and means.tariff.per_call is None:
        need_prices(means.budget, {spec.name: means.tariff.price})


def open_run(folder: Path) -> RunFolder:
    """The run folder of a corpus that is being built, held by this process alone."""
    return RunFolder(folder / RUN)


def begin(
    run_folder: RunFolder,
    direction: Direction,
    spec: JudgeSpec,
    wanted: Sequence[Wanted],
    means: Means,
    *,
    retry_errors: bool = False,
) -> Session:
    """Bind what is wanted to the run folder. Raises UsageError for a missing key, and what else ``make_judge`` does."""
    plan = TranslationPlan(run_folder.path.parent, direction, spec, wanted)
    material = Material(run_folder.path.parent, RUN, ())
    kit = Kit(plan.images, material, 0, means.environment, "", means.timeout, folder=run_folder.path)
    translator = Translator(make_judge(spec, kit), plan)
    run_folder.bind(
        plan.nouns(translator.settings),
        repeats=1,
        meta={"kind": "translation"},
        same={},
        session={"voirdire": VERSION, "direction": direction, "model": spec.name},
    )
    plan.run_id = run_folder.ledger.run_id
    if retry_errors:
        run_folder.ledger.reopen_errors()
    write_whole(run_folder.path / MANIFEST, toml_text(_manifest(plan, translator, run_folder)))
    return Session(run_folder, plan, translator, Watch())


def perform(session: Session, means: Means) -> Summary:
    """Ask for every translation that is wanted and not decided yet; what is pending is said by ``Summary.stopped``."""
    ledger = session.folder.ledger
    summary: Summary = in_a_loop(
        run(
            session.plan,
            [session.translator],
            ledger,
            limits=replace(means.limits or Limits(), concurrency=means.concurrency),
            tariffs={} if means.tariff is None else {session.translator.name: means.tariff},
            budget=Budget(means.budget, sum(ledger.costs().values())),
            watch=session.watch,
        )
    )
    return replace(summary, stopped=_in_own_words(summary.stopped))


def _in_own_words(stopped: RunStopped | None) -> RunStopped | None:
    return None if stopped is None else RunStopped(STOPS.get(stopped.key, stopped.key), **stopped.fields)


def _manifest(plan: TranslationPlan, translator: Judge, run_folder: RunFolder) -> dict[str, Any]:
    """What run.toml says: of what was asked for last."""
    ledger = run_folder.ledger
    begun = iso(float(ledger.meta("created") or 0))
    known = {"id": ledger.run_id, "created": begun, "updated": iso(time.time()), "voirdire": VERSION}
    asked = {"direction": plan.direction, "texts": len(plan.wanted)}
    return {
        "run": known,
        "translation": asked,
        "model": {"name": translator.name, "settings": dict(translator.settings)},
    }
