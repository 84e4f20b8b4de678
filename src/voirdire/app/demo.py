"""``voirdire demo``: the whole path on a bundled corpus, offline: judges asked, audited, reported.

A real small model in a local server is asked beside control judges and simulated judges of known character. The
drawings are our own and nobody rated them: the pools are simulated, and everything that is written says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.app.audit import Written, evaluate_inputs, write
from voirdire.app.inputs import Listener, Progress, images_of, read_inputs
from voirdire.corpus.corpus import Note

if TYPE_CHECKING:
    from voirdire.app.run import Begun, RunResult
    from voirdire.app.run_inputs import RunInputs
    from voirdire.judging.progress import Watch
    from voirdire.judging.providers.replay import ReplayJudge
    from voirdire.simulation.demo import DemoFiles

RUN, AUDIT = "run", "audit"
BLIND = "smollm2 blind text baseline"
"""The embedded judge as it is called in the demonstration's tables and figures."""

CONTROLS = ("control/constant_4", "control/random")
CONCURRENCY = 4


@dataclass(frozen=True, slots=True)
class DemoRun:
    """What the demonstration asks.

    inputs : corpus, judges and the ten conditions; folder : of the run
    lacks : what the embedded judge lacks on this machine (``library``, ``model``), or None where it is asked
    """

    inputs: RunInputs
    folder: Path
    lacks: str | None

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader of the report must know."""
        model = Note("demo.note.without", {}) if self.lacks else Note("demo.note.blind", {"judge": BLIND})
        found = (model, Note("demo.note.simulated", {}), Note("demo.note.controls", {}))
        return tuple(replace(note, kind="warning") for note in found)


def demo(
    out: Path, lang: str = "en", *, progress: Progress | None = None, told: Listener | None = None, **options: Any
) -> Written:
    """Write the corpus to ``out/corpus``, ask the judges into ``out/run``, write the audit to ``out/audit``.

    The same call goes on where it was stopped, and asks nobody again. Raises RunStopped when cells are left pending.
    """
    run = prepare(out, progress)
    result = ask(run)
    if result.stopped is not None:
        raise result.stopped
    return report(out, run, lang, progress=progress, told=told, **options)


def prepare(out: Path, progress: Progress | None = None) -> DemoRun:
    """Write corpus, simulated judges and grid, and read them as any run reads its corpus."""
    from voirdire.app.run_inputs import RunOptions, read_run
    from voirdire.judging.nouns import JudgeSpec
    from voirdire.judging.providers.embedded import MODEL, missing
    from voirdire.simulation.demo import write_demo

    written = write_demo(out)
    lacks = missing()
    embedded = () if lacks else (JudgeSpec(BLIND, "embedded", MODEL),)
    judges = (*embedded, *_simulated(written), *CONTROLS)
    options = RunOptions(judges=judges, grids=(written.grid,), concurrency=CONCURRENCY)
    return DemoRun(read_run(written.corpus, options, progress), out / RUN, lacks)


def ask(run: DemoRun, *, watch: Watch | None = None, begun: Callable[[Begun], None] | None = None) -> RunResult:
    """Ask every judge about every cell that has no outcome yet. ``stopped`` says why cells are pending."""
    from voirdire.app.run import run_read

    return run_read(run.inputs, run.folder, watch=watch, begun=begun)


def report(
    out: Path,
    run: DemoRun,
    lang: str = "en",
    *,
    progress: Progress | None = None,
    told: Listener | None = None,
    **options: Any,
) -> Written:
    """Audit the run and write the report; its notes say which judges are simulated and which one is blind."""
    from voirdire.simulation.demo import CORPUS

    given = {"folder": out / CORPUS, "judgments": run.folder, **options}
    read = read_inputs(given)
    noted = replace(read, corpus=replace(read.corpus, notes=(*run.notes, *read.corpus.notes)))
    return write(lambda: evaluate_inputs(noted, progress, told), out / AUDIT, lang, progress, images_of(given))


def _simulated(written: DemoFiles) -> list[ReplayJudge]:
    """The simulated judges, replayed from their table."""
    from voirdire.judging.providers.replay import ReplayJudge, read_recorded
    from voirdire.simulation.demo import JUDGES
    from voirdire.tables import read_table

    table = read_table(written.judgments)
    made = []
    for name in JUDGES:
        _, recorded = read_recorded(table, name, "q1")
        made.append(ReplayJudge(name, recorded, {"file": table.name, "sha256": table.digest, "simulated": True}))
    return made
