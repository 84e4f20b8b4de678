"""``voirdire price``: cells, tokens and dollars of a run before anything is spent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from voirdire.app.run_inputs import DEFAULT_GRID, RunInputs, RunOptions, options_of, read_run
from voirdire.corpus.corpus import Note

if TYPE_CHECKING:
    from voirdire.judging.nouns import JudgeSpec
    from voirdire.judging.plan import Plan
    from voirdire.judging.providers.capability import Capability, Price
    from voirdire.judging.spending import Prices
    from voirdire.judging.steps import Cell
    from voirdire.judging.tokens import PromptFacts, Range

SAMPLE = 2000
"""Prompts that are built to estimate tokens; of a larger run evenly spaced ones stand for all."""


@dataclass(frozen=True, slots=True)
class JudgePrice:
    """What one judge will take, each cell asked once.

    cells : all of the judge; input, output : tokens (low, expected, high); None for judges that count no tokens
    cost : US dollars; None where no price is known, 0 for judges of this machine
    price : per million tokens, with its date; known : whether the model stands in the catalogue
    """

    name: str
    cells: int
    input: Range | None
    output: Range | None
    cost: Range | None
    price: Price | None
    known: bool

    @property
    def local(self) -> bool:
        """Whether the judge runs here and costs nothing."""
        return self.input is None

    def times(self, cells: int) -> JudgePrice:
        """The same judge, asked about another number of cells."""
        share = cells / self.cells

        def part(number: Range | None) -> Range | None:
            return None if number is None else number * share

        return replace(self, cells=cells, input=part(self.input), output=part(self.output), cost=part(self.cost))


@dataclass(frozen=True, slots=True)
class RunPrice:
    """What a run will take.

    cells, conditions, items, repeats, questions : the run's size
    prompts : how many prompts the estimate was made from
    """

    judges: tuple[JudgePrice, ...]
    items: int
    conditions: int
    questions: int
    repeats: int
    prompts: int
    notes: tuple[Note, ...] = ()

    @property
    def cells(self) -> int:
        """Cells of all judges."""
        return sum(judge.cells for judge in self.judges)

    @property
    def cost(self) -> Range:
        """US dollars of the judges whose price is known."""
        from voirdire.judging.tokens import NOTHING

        return sum((judge.cost for judge in self.judges if judge.cost is not None), NOTHING)

    def for_cells(self, cells: Mapping[str, int]) -> RunPrice:
        """The price of a part of the run: judge -> its cells that are left. Judges with none are left out."""
        return replace(self, judges=tuple(judge.times(cells[judge.name]) for judge in self.judges if cells[judge.name]))

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Judges whose price is not known."""
        return tuple(judge.name for judge in self.judges if judge.cost is None)


def price(corpus: Any, judges: Any = (), *, grid: Any = DEFAULT_GRID, **options: Any) -> RunPrice:
    """What a run would take, without asking anybody and without keys.

    Parameters
    ----------
    corpus : corpus folder, or an items table
    judges : as for ``run``; grid : names or files
    options : further fields of RunOptions (repeats, questions, limit, prices, judges_file, ...)

    Raises InputError and UsageError as ``run`` does, for all that can be known without keys.
    """
    return price_of(read_run(corpus, options_of(judges, grid, options)))


def price_of(inputs: RunInputs) -> RunPrice:
    """Estimate tokens and dollars of a run that was read."""
    plan, own = inputs.plan, own_prices(inputs.options)
    models = [capability_of(spec) for spec in plan.specs]
    facts = list(prompt_facts(plan)) if any(models) else []
    judges = [_priced(spec, model, inputs, own, facts) for spec, model in zip(plan.specs, models, strict=True)]
    told = [
        note
        for spec, model in zip(plan.specs, models, strict=True)
        if model
        for note in model.settle(spec.parameters)[1]
    ]
    sizes = (len(plan.items), len(plan.conditions), len(plan.questions), plan.repeats)
    return RunPrice(tuple(judges), *sizes, len(facts), (*inputs.notes, *told))


def own_prices(options: RunOptions) -> Prices:
    """The prices of the user's file; none without one."""
    from voirdire.judging.spending import Prices, read_prices

    return read_prices(options.prices) if options.prices is not None else Prices()


def capability_of(spec: JudgeSpec) -> Capability | None:
    """What is known of a judge's model; None for judges that are not reached over the network."""
    import os

    from voirdire.judging.providers.catalog import capability, own_models, provider_names

    if spec.provider not in provider_names():
        return None
    return capability(spec.provider, spec.model, own_models(os.environ))


def _priced(
    spec: JudgeSpec, model: Capability | None, inputs: RunInputs, own: Prices, facts: Sequence[PromptFacts]
) -> JudgePrice:
    from voirdire.judging.spending import cost_range, estimate
    from voirdire.judging.tokens import NOTHING, CallTokens

    cells = inputs.cells_per_judge
    if model is None:
        return JudgePrice(spec.name, cells, None, None, NOTHING, None, True)
    calls = [estimate(one, model, spec.parameters) for one in facts]
    share = cells / max(len(facts), 1)
    tokens = CallTokens(
        sum((call.input for call in calls), NOTHING) * share, sum((call.output for call in calls), NOTHING) * share
    )
    price = own.of(spec.provider, spec.model, model.price)
    return JudgePrice(
        spec.name,
        cells,
        tokens.input,
        tokens.output,
        cost_range(tokens, price, batch=inputs.options.batch),
        price,
        model.known,
    )


def prompt_facts(plan: Plan, most: int = SAMPLE) -> Iterator[PromptFacts]:
    """Texts and image sizes of the run's prompts; of many, those of evenly spaced items."""
    from voirdire.judging.steps import Cell

    each = len(plan.conditions) * len(plan.questions)
    step = max(1, -(-len(plan.items) * each // most))
    for item in plan.items[::step]:
        for question in plan.questions:
            for condition in plan.conditions:
                yield _facts(plan, Cell(0, item.id, condition.full_name, question.id, 1, ""))


def _facts(plan: Plan, cell: Cell) -> PromptFacts:
    from voirdire.judging.nouns import TextPart
    from voirdire.judging.tokens import PromptFacts

    parts = plan.prompt(cell).parts
    images = [plan.images.facts(part.path) for part in parts if not isinstance(part, TextPart)]
    texts = tuple(part.text for part in parts if isinstance(part, TextPart))
    return PromptFacts(texts, tuple((image.sent_width, image.sent_height) for image in images))
