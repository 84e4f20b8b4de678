"""From sources and options to what a run works on: material, grid, judges, images, demonstrations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.corpus.corpus import Note
from voirdire.corpus.folder import expand_corpus
from voirdire.corpus.options import CorpusOptions
from voirdire.errors import UsageError
from voirdire.judging.nouns import JudgeSpec

if TYPE_CHECKING:
    from voirdire.judging.grid import Grid
    from voirdire.judging.material import Material
    from voirdire.judging.plan import Plan

DEFAULT_GRID = "neutral"
READING = tuple(one.name for one in fields(CorpusOptions) if one.name not in ("questions", "shares"))
"""What may be said about the tables of the corpus."""

Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What may be said of a run, besides its corpus.

    judges : ``provider/model``, a JudgeSpec, a function ``(item) -> rating`` or ``(item, condition) -> rating``, or an
        object with ``name``, ``lane``, ``settings``, ``ask`` and ``close``
    judges_file : TOML file of further judges; base_url : of the judges that are given as text
    grids : names or files; repeats, questions : instead of the grid's own
    limit : the first items only; resize : longest side of images as they are sent, in pixels
    budget : US dollars; prices : TOML file
    concurrency, requests_per_minute, tokens_per_minute : at most, for every provider; timeout : seconds for one call
    batch : by the providers' batch APIs, at their lower price and within a day
    retry_errors : ask cells that ended as error again (not refused, not malformed)
    executor : ``ray`` to ask from the nodes of a Ray cluster; ray_address : its address, ``auto`` for that of this
        machine, None to begin one here
    tables : how the corpus is read, by the names of CorpusOptions: further tables (items, ratings, raters), the
        scale (low, high, level, labels), pools, mapping, encoding, ...
    """

    judges: tuple[Any, ...] = ()
    judges_file: Path | None = None
    base_url: str | None = None
    grids: tuple[str | Path, ...] = (DEFAULT_GRID,)
    repeats: int | None = None
    questions: tuple[str, ...] = ()
    limit: int | None = None
    resize: int | None = None
    seed: int = 0
    budget: float | None = None
    prices: Path | None = None
    concurrency: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    timeout: float = 120.0
    batch: bool = False
    retry_errors: bool = False
    executor: str | None = None
    ray_address: str | None = None
    tables: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunInputs:
    """What a run works on, read and checked; nothing is spent or written yet.

    plan : what is asked of whom; corpus : as it was named; given : judges of this process, by name
    notes : what a reader should know before the run
    """

    plan: Plan
    options: RunOptions
    corpus: Any = None
    given: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    @property
    def cells_per_judge(self) -> int:
        """Cells of one judge."""
        return self.plan.size // len(self.plan.specs)

    @property
    def reading(self) -> CorpusOptions:
        """How the ratings of the corpus are read; ``ratings`` is None where there are none."""
        tables = dict(self.options.tables)
        ratings = tables.pop("ratings", None)
        if isinstance(self.corpus, str | Path) and Path(self.corpus).is_dir():
            found = expand_corpus(CorpusOptions(self.corpus, **tables), rated=False)
            return found if ratings is None else replace(found, ratings=ratings)
        return CorpusOptions(ratings, **{**tables, "items": self.corpus})


def options_of(judges: Any, grid: Any, options: Mapping[str, Any]) -> RunOptions:
    """Options as a caller in Python gives them: one judge or grid, or several; paths as text or Path.

    Raises UsageError for an unknown name.

    >>> options_of("control/random", "neutral", {"limit": 3}).judges
    ('control/random',)
    """
    known = [one.name for one in fields(RunOptions) if one.name not in ("judges", "grids", "tables")]
    reading = [name for name in READING if name not in known]
    for name in options:
        if name not in (*known, *reading):
            near = get_close_matches(name, (*known, *reading), n=3, cutoff=0.5)
            raise UsageError("app.option_unknown", option=name, known=", ".join(near or known))
    given = {name: value for name, value in options.items() if name in known}
    given["tables"] = {name: value for name, value in options.items() if name in reading}
    for name in ("judges_file", "prices"):
        if given.get(name) is not None:
            given[name] = Path(given[name])
    given["questions"] = _several(given.get("questions") or ())
    return RunOptions(judges=_several(judges), grids=_several(grid), **given)


def _several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple | set | frozenset) else (value,)


def read_run(corpus: Any, options: RunOptions, progress: Progress | None = None) -> RunInputs:
    """Read corpus, judges and grid, and check every prompt, image and draw of the run.

    Raises InputError and UsageError for everything that would fail later: what is missing in a language, an image
    that cannot be read, a level without an example, an unknown judge or question.
    """
    from voirdire.judging.images import ImageStore
    from voirdire.judging.plan import Plan

    _check_numbers(options)
    specs, given = read_judge_list(options)
    material = _read_material(corpus, options.tables)
    grid, notes = _grid(material, options)
    whole = len(material.items)
    if options.limit is not None and options.limit < whole:
        material = replace(material, items=material.items[: options.limit])
        notes = (*notes, Note("cli_run.note.limit", {"count": options.limit, "total": whole}))
    cues = {path.parent: None for condition in grid.conditions for path in condition.cues}
    images = ImageStore(material.folder, also=tuple(cues), resize=options.resize)
    plan = Plan(material, grid, specs, images, seed=options.seed)
    count = max(len(material.images()), 1)
    checked = plan.check((lambda done: progress("images", done / count)) if progress is not None else None)
    return RunInputs(plan, options, corpus, given, (*material.notes, *notes, *checked))


def _read_material(corpus: Any, tables: Mapping[str, Any]) -> Material:
    """The corpus, with the tables and the scale that are named beside it."""
    from voirdire.judging.material import read_material

    beside = ("items", "ratings", "raters", "low", "high")
    given = {name: tables[name] for name in beside if tables.get(name) is not None}
    rest = {name: value for name, value in tables.items() if name not in beside}
    return read_material(corpus, **given, reading=CorpusOptions(None, **rest) if rest else None)


def read_judge_list(options: RunOptions) -> tuple[tuple[JudgeSpec, ...], dict[str, Any]]:
    """The judges of a run as specs, and the objects among them by name. Raises UsageError and InputError."""
    from voirdire.judging.judges_file import check_names, read_judges
    from voirdire.judging.providers.calling import describe, from_object
    from voirdire.judging.providers.make import parse_spec

    specs: list[JudgeSpec] = []
    objects: dict[str, Any] = {}
    for judge in options.judges:
        if isinstance(judge, str):
            specs.append(_with_base(parse_spec(judge), options.base_url))
        elif isinstance(judge, JudgeSpec):
            specs.append(judge)
        elif hasattr(judge, "ask") and hasattr(judge, "name"):
            specs.append(JudgeSpec(judge.name, "python", describe(judge)))
            objects[judge.name] = judge
        elif callable(judge):
            made = from_object(judge)
            specs.append(JudgeSpec(made.name, "python", describe(judge)))
            objects[made.name] = made
        else:
            raise UsageError("cli_run.judges.kind", value=type(judge).__name__)
    if options.judges_file is not None:
        specs += read_judges(options.judges_file)
    if not specs:
        raise UsageError("cli_run.judges.nobody")
    check_names(tuple(specs))
    return tuple(specs), objects


def _with_base(spec: JudgeSpec, base_url: str | None) -> JudgeSpec:
    from voirdire.judging.providers.catalog import provider_names

    return replace(spec, base_url=base_url) if base_url and spec.provider in provider_names() else spec


def _grid(material: Material, options: RunOptions) -> tuple[Grid, tuple[Note, ...]]:
    from voirdire.judging.grid import load_grid, merge

    changes: dict[str, Any] = {}
    if options.repeats is not None:
        changes["repeats"] = options.repeats
    if options.questions:
        changes["questions"] = tuple(dict.fromkeys(options.questions))
    loaded = [load_grid(source) for source in dict.fromkeys(options.grids or (DEFAULT_GRID,))]
    return merge([replace(one, **changes) for one in loaded]).for_languages(material.languages)


def _check_numbers(options: RunOptions) -> None:
    """Raise UsageError for a number below the least that makes sense."""
    least = {"repeats": 1, "limit": 1, "concurrency": 1, "seed": 0, "budget": 0}
    for name, low in least.items():
        value = getattr(options, name)
        if value is not None and not value >= low:
            raise UsageError("cli_run.number", option=f"--{name}", value=value, low=low)
    positive = {"rpm": "requests_per_minute", "tpm": "tokens_per_minute", "timeout": "timeout"}
    for option, name in positive.items():
        value = getattr(options, name)
        if value is not None and not value > 0:
            raise UsageError("cli_run.positive", option=f"--{option}", value=value)
        if value is not None and options.batch and option != "timeout":
            raise UsageError("cli_run.batch_limit", option=f"--{option}")
    if options.batch and options.concurrency is not None:
        raise UsageError("cli_run.batch_limit", option="--concurrency")
