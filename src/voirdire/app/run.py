"""``voirdire run``: ask judges about every cell of a corpus and a grid, to the last one."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.app.price import RunPrice, capability_of, own_prices, price_of
from voirdire.app.run_inputs import DEFAULT_GRID, RunInputs, options_of, read_run
from voirdire.corpus.corpus import Note
from voirdire.errors import UsageError
from voirdire.judging.looping import in_a_loop
from voirdire.judging.nouns import Judge, RunStopped
from voirdire.judging.progress import Progress as RunProgress
from voirdire.judging.progress import Watch, is_free

if TYPE_CHECKING:
    import polars as pl

    from voirdire.judging.ledger import Ledger
    from voirdire.judging.limits import Limits
    from voirdire.judging.runner import Summary, Tariff

DEFAULT_OUT = Path("voirdire-run")
TRUSTED = ("replay", "control")
"""Providers that look their answers up: what they lack is an error of its cell, and they are asked to the end."""

HERE = (*TRUSTED, "python", "embedded")
"""Providers on this machine, whose calls no provider's rate limits concern."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A run that is about to ask: what was read, what is left to ask and to pay, and how far an earlier session came.

    price : of the cells that are left; total, done : cells of all judges
    spent : US dollars of earlier sessions, where known; unpriced : replies of these whose cost is not known
    free : whether nobody is paid for any judge of the folder; reopened : errors that are asked again
    """

    inputs: RunInputs
    price: RunPrice
    folder: Path
    total: int
    done: int
    spent: float
    unpriced: int = 0
    free: bool = False
    reopened: int = 0

    @property
    def pending(self) -> int:
        """Cells without an outcome."""
        return self.total - self.done


@dataclass(frozen=True, slots=True)
class Listeners:
    """Who wants to know what happens; see ``run_read``."""

    watch: Watch
    begun: Callable[[Begun], None] | None = None
    tell: Callable[[Note], None] | None = None


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended.

    folder : holds the ledger, run.toml and the exported tables; ``voirdire.audit(judgments=folder)`` reads it
    progress : cells by judge and status, cost, rate
    stopped : why cells are pending, or None when every cell has an outcome
    others : judges of the folder that this run did not name; ``progress`` lacks them, the judgments have them
    """

    folder: Path
    progress: RunProgress
    stopped: RunStopped | None = None
    others: tuple[str, ...] = ()

    @property
    def judgments(self) -> pl.DataFrame:
        """The exported judgments, a row a cell; ``rating`` is null unless ``status`` is ok."""
        import polars as pl

        return pl.read_parquet(self.folder / "judgments.parquet")


def run(
    corpus: Any, judges: Any = (), *, grid: Any = DEFAULT_GRID, out: Any = DEFAULT_OUT, **options: Any
) -> RunResult:
    """Ask judges about every cell; go on where an earlier run of the same folder stopped.

    Parameters
    ----------
    corpus : corpus folder, or an items table
    judges : one or several of: ``"provider/model"``, a JudgeSpec, a function ``(item) -> rating`` or ``(item,
        condition) -> rating``, an object with ``name``, ``lane``, ``settings``, ``ask`` and ``close``
    grid : names or files of grids; out : the run's folder
    options : further fields of RunOptions (repeats, questions, limit, budget, prices, judges_file, ...)

    Keys come from the environment variables that the providers document. Raises InputError and UsageError before
    anything is asked, and RunStopped when cells are left pending (budget, a judge that only fails, Ctrl-C): what was
    finished is in the folder, and the same call goes on.
    """
    result = run_read(read_run(corpus, options_of(judges, grid, options)), Path(out))
    if result.stopped is not None:
        raise result.stopped
    return result


def run_read(
    inputs: RunInputs,
    out: Path,
    *,
    watch: Watch | None = None,
    begun: Callable[[Begun], None] | None = None,
    tell: Callable[[Note], None] | None = None,
) -> RunResult:
    """Run what was read. Returns also when cells are pending; ``stopped`` says why.

    begun : called once before anybody is asked; tell : given notes while batches are under way
    """
    from voirdire.judging.spending import Budget, need_prices

    price = price_of(inputs)
    need_prices(inputs.options.budget, {judge.name: judge.price for judge in price.judges if not judge.local})
    Budget(inputs.options.budget)
    judges = make_judges(inputs, out)
    try:
        if inputs.options.batch:
            _check_batches(inputs, judges)
        _check_executor(inputs)
        return _run(inputs, judges, price, out, Listeners(watch or Watch(), begun, tell))
    finally:
        in_a_loop(_close(judges))


def make_judges(inputs: RunInputs, folder: Path | None = None) -> list[Judge]:
    """Every judge of a run into a folder. Raises UsageError where one cannot be made, for example for want of a key."""
    from voirdire.judging.providers.control import READING
    from voirdire.judging.providers.kit import Kit
    from voirdire.judging.providers.make import make_judge

    plan, options = inputs.plan, inputs.options
    shared = {READING: inputs.reading}
    kit = Kit(plan.images, plan.material, options.seed, os.environ, "", options.timeout, shared, folder)
    made: list[Judge] = []
    try:
        for spec in plan.specs:
            own = inputs.given.get(spec.name)
            made.append(make_judge(spec, kit) if own is None else own)
    except BaseException:
        in_a_loop(_close(made))
        raise
    return made


def _check_batches(inputs: RunInputs, judges: list[Judge]) -> None:
    """Raise UsageError where a judge cannot be asked in batches."""
    from voirdire.judging.batching.access import batch_judges, check_images

    material = inputs.plan.material
    check_images(batch_judges(judges), (*material.items, *material.held_out), inputs.plan.conditions)


def _check_executor(inputs: RunInputs) -> None:
    """Raise UsageError for an executor that there is not, or that cannot make this run."""
    options = inputs.options
    if options.executor is None:
        if options.ray_address is not None:
            raise UsageError("executor.address")
        return
    from voirdire.judging.executors.ray import check_ray

    if options.executor != "ray":
        raise UsageError("executor.unknown", value=options.executor)
    if options.batch:
        raise UsageError("executor.batch")
    check_ray(inputs.plan.specs, own=inputs.given, budget=options.budget)


def _run(inputs: RunInputs, judges: list[Judge], price: RunPrice, out: Path, listeners: Listeners) -> RunResult:
    from voirdire.judging.export import export
    from voirdire.judging.run_folder import RunFolder

    with RunFolder(out) as folder:
        priced = {name: asdict(one.price) for name, one in tariffs_of(inputs).items() if one.price is not None}
        folder.register(inputs.plan, judges, prices=priced, budget=inputs.options.budget)
        reopened = folder.ledger.reopen_errors() if inputs.options.retry_errors else 0
        asking = _asking(inputs, judges, folder.ledger, listeners)
        try:
            if listeners.begun is not None:
                listeners.begun(_begun(inputs, price, out, folder.ledger, reopened))
        except BaseException:
            asking.close()
            raise
        summary = in_a_loop(asking)
        folder.stopped = summary.stopped
        inputs.plan.images.forget()
        named = {judge.name for judge in judges}
        others = tuple(name for name in folder.ledger.known("judge") if name not in named)
        export(out)
    return RunResult(out, summary.progress, summary.stopped, others)


def _begun(inputs: RunInputs, price: RunPrice, out: Path, ledger: Ledger, reopened: int) -> Begun:
    counts = ledger.counts()
    left = dict.fromkeys((judge.name for judge in price.judges), 0)
    left |= {judge: count for judge, status, count in counts if status == "pending"}
    total = sum(count for _, _, count in counts)
    free = {name for name, provider in ledger.providers().items() if is_free(provider)}
    costs = ledger.costs()
    unpriced = sum(count for name, count in ledger.unpriced().items() if name not in free)
    money = (sum(costs.values()), unpriced, free == set(ledger.providers()))
    return Begun(inputs, price.for_cells(left), out, total, total - sum(left.values()), *money, reopened)


def _asking(
    inputs: RunInputs, judges: list[Judge], ledger: Ledger, listeners: Listeners
) -> Coroutine[Any, Any, Summary]:
    """The run itself, not begun yet: one process that asks, the providers' batch APIs, or Ray."""
    from voirdire.judging.batching import batch_runner
    from voirdire.judging.runner import run as run_plan
    from voirdire.judging.spending import Budget

    plan, options = inputs.plan, inputs.options
    budget = Budget(options.budget, sum(ledger.costs().values()))
    tariffs, watch = tariffs_of(inputs), listeners.watch
    if options.batch:
        return batch_runner.run_batches(
            plan,
            judges,
            ledger,
            tariffs=tariffs,
            budget=budget,
            watch=watch,
            tell=listeners.tell,
            poll_seconds=batch_runner.POLL_SECONDS,
            timeout=options.timeout,
        )
    batch_runner.refuse_while_under_way(ledger)
    limits = limits_of(inputs, judges)
    if options.executor is not None:
        from voirdire.judging.executors.ray import run_on_ray

        return run_on_ray(
            plan,
            judges,
            ledger,
            address=options.ray_address,
            limits=limits,
            tariffs=tariffs,
            watch=watch,
            timeout=options.timeout,
        )
    return run_plan(plan, judges, ledger, limits=limits, tariffs=tariffs, budget=budget, watch=watch, seed=options.seed)


def limits_of(inputs: RunInputs, judges: list[Judge]) -> dict[str, Limits]:
    """The limits of every judge: those asked for, of which rates are for judges behind an API alone."""
    from voirdire.judging.limits import Limits
    from voirdire.judging.providers.calling import CallingJudge

    options = inputs.options
    asked: dict[str, Any] = {
        "concurrency": options.concurrency,
        "requests_per_minute": options.requests_per_minute,
        "tokens_per_minute": options.tokens_per_minute,
    }
    asked = {name: value for name, value in asked.items() if value is not None}
    found = {}
    for spec, judge in zip(inputs.plan.specs, judges, strict=True):
        own: dict[str, Any] = {"final": True} if spec.provider in TRUSTED else {}
        if spec.provider in HERE:
            own |= {"requests_per_minute": None, "tokens_per_minute": None}
        if isinstance(judge, CallingJudge) and judge.threads is not None:
            own["concurrency"] = judge.threads
        found[spec.name] = Limits(**{**asked, **own})
    return found


def tariffs_of(inputs: RunInputs) -> dict[str, Tariff]:
    """What the calls of every judge behind an API cost."""
    from voirdire.judging.runner import Tariff

    own = own_prices(inputs.options)
    found = {}
    for spec in inputs.plan.specs:
        model = capability_of(spec)
        if model is not None:
            found[spec.name] = Tariff(model, spec.parameters, own.of(spec.provider, spec.model, model.price))
    return found


async def _close(judges: list[Judge]) -> None:
    for judge in judges:
        await judge.close()
