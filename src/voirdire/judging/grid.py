"""The grid of conditions: loading, joining, and what it asks of a corpus.

A grid is a TOML file (``docs/howto/grids.md``, form in ``grid.schema.json``) or one of the named ones: ``neutral``,
``paper-baseline``, ``paper-icl``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from voirdire.corpus.corpus import Note
from voirdire.corpus.shown import Item
from voirdire.errors import InputError, UsageError
from voirdire.judging.grid_checks import by_language, check_different, check_prompts, check_shown, notes_on, samples
from voirdire.judging.grid_expanding import digest, digest_of, expand
from voirdire.judging.grid_reading import GridFile, read_grid_file, read_text, shipped
from voirdire.judging.nouns import BASE_DESIGN, AskedQuestion, Condition
from voirdire.judging.prompts import UND, levels_of


@dataclass(frozen=True, slots=True)
class Grid:
    """Conditions and how often each is asked.

    repeats : times that every cell is asked
    questions : ids of the questions asked; empty = the corpus's evaluation question, else its first
    source : the TOML it was read from; digest : 16 hex digits over conditions, repeats and questions
    wordings : ``name@version`` of included sets of texts -> digest
    optional : full names of conditions that are left out where the corpus lacks their language
    """

    name: str
    conditions: tuple[Condition, ...]
    repeats: int = 1
    questions: tuple[str, ...] = ()
    source: str = ""
    digest: str = ""
    wordings: Mapping[str, str] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the conditions, in order of appearance."""
        return tuple(dict.fromkeys(condition.language for condition in self.conditions))

    @property
    def factors(self) -> tuple[str, ...]:
        """The factors of the conditions, in order of appearance."""
        return tuple(dict.fromkeys(name for condition in self.conditions for name in condition.factors))

    def for_languages(self, languages: Iterable[str]) -> tuple[Grid, tuple[Note, ...]]:
        """The grid without optional conditions of languages that a corpus lacks, and notes on what was left out.

        A corpus of which only ``und`` is known (texts whose column names no language) keeps every language. Raises
        InputError when no condition is left.

        >>> [condition.name for condition in load_grid("neutral").for_languages(["zh"])[0].conditions]
        ['neutral_zh']
        """
        here = set(languages) - {UND}
        if not here:
            return self, ()
        kept = tuple(one for one in self.conditions if one.full_name not in self.optional or one.language in here)
        if not kept:
            fields = {"grid": self.name, "known": _join(self.languages), "value": _join(sorted(here))}
            raise InputError("grid.no_common_language", **fields)
        unasked = sorted(here - {condition.language for condition in kept})
        notes = (Note("grid.note.unasked", {"grid": self.name, "languages": _join(unasked)}),) if unasked else ()
        if len(kept) == len(self.conditions):
            return self, notes if self.optional else ()
        return _with_conditions(self, kept), notes

    def showing(self, image: Literal["file", "alt", "none"]) -> Grid:
        """The grid with every image shown as a file, as its description, or not at all; digests change with it."""
        changed = [replace(condition, image=image) for condition in self.conditions]
        return _with_conditions(self, tuple(replace(condition, digest=digest_of(condition)) for condition in changed))


def named_grids() -> tuple[str, ...]:
    """The names of the shipped grids.

    >>> named_grids()
    ('neutral', 'paper-baseline', 'paper-icl')
    """
    return tuple(shipped("grids"))


def load_grid(source: str | Path, *, folder: Path | None = None) -> Grid:
    """A named grid, or a grid from a file that ends in ``.toml``.

    Parameters
    ----------
    folder : where cue images and own sets of texts are found, by default the folder of the file

    Raises UsageError for a name that there is not, InputError (file, table, what to do) for a file that cannot be
    read as meant.

    >>> len(load_grid("paper-baseline").conditions), len(load_grid("paper-icl").conditions)
    (10, 40)
    """
    known = shipped("grids")
    if str(source) in known:
        return grid_of(read_grid_file(known[str(source)], f"{source}.toml"))
    if not str(source).endswith(".toml"):
        raise UsageError("grid.unknown", value=str(source), known=_join(known))
    path = Path(source)
    if not path.is_file():
        raise InputError("grid.absent", file=str(path), known=_join(known))
    return grid_of(read_grid_file(read_text(path), str(path), path.parent if folder is None else folder))


def grid_of(read: GridFile) -> Grid:
    """The grid of a file that was read. Raises InputError."""
    conditions = expand(read)
    check_different(conditions, read.file)
    optional = frozenset(one.full_name for one in conditions) if read.fit_languages else frozenset()
    made = Grid(read.name, conditions, read.repeats, read.questions, read.source, "", read.wordings, optional)
    return _with_conditions(made, conditions)


def merge(grids: Sequence[Grid]) -> Grid:
    """Several grids as one; a condition that several have counts once.

    With a design in any of them, ``design`` becomes a factor of all. Raises UsageError when grids mean different
    things by one name, or differ in repeats or questions.

    >>> len(merge([load_grid("neutral"), load_grid("paper-baseline")]).conditions)
    10
    """
    first = grids[0]
    if len(grids) == 1:
        return _with_conditions(first, first.conditions)
    conditions: dict[str, tuple[Grid, Condition]] = {}
    for grid in grids:
        if (grid.repeats, grid.questions) != (first.repeats, first.questions):
            raise UsageError("grid.merge_settings", grid=first.name, other=grid.name)
        for condition in grid.conditions:
            earlier, kept = conditions.setdefault(condition.full_name, (grid, condition))
            if kept.digest != condition.digest:
                raise UsageError("grid.merge_clash", grid=earlier.name, other=grid.name, value=condition.full_name)
    everywhere = tuple(condition for _, condition in conditions.values())
    made = Grid(
        name="+".join(grid.name for grid in grids),
        conditions=everywhere,
        repeats=first.repeats,
        questions=first.questions,
        source="\n".join(grid.source for grid in grids),
        wordings={name: found for grid in grids for name, found in grid.wordings.items()},
        optional=frozenset(_optional(grids)),
    )
    return _with_conditions(made, tuple(_with_design(everywhere)))


def asked_questions(
    grid: Grid, questions: Sequence[AskedQuestion], evaluation: str | None = None
) -> tuple[AskedQuestion, ...]:
    """The questions of a corpus that a grid asks.

    Those that the grid names; else the one called ``evaluation``, the first of role evaluation, or the first. Raises
    InputError for a name that the corpus does not have.
    """
    by_id = {question.id: question for question in questions}
    unknown = [name for name in grid.questions if name not in by_id]
    if unknown or not questions:
        raise InputError("grid.question_unknown", grid=grid.name, value=_join(unknown), known=_join(by_id) or "-")
    if grid.questions:
        return tuple(by_id[name] for name in grid.questions)
    if evaluation in by_id:
        return (by_id[str(evaluation)],)
    return (next((question for question in questions if question.role == "evaluation"), questions[0]),)


def check(
    grid: Grid,
    items: Sequence[Item],
    questions: Sequence[AskedQuestion],
    *,
    evaluation: str | None = None,
    held_out: Sequence[Item] = (),
) -> tuple[Note, ...]:
    """Whether every prompt of a grid can be made, before anything is spent; and what a reader should know.

    Parameters
    ----------
    questions : all of the corpus; evaluation : the id of its default question
    held_out : items of the demonstration split, which designs show

    Raises InputError for items without a prompt, text or description in a language of the grid (named), a question
    without integer levels, and two conditions that would ask the same. Notes: prompts of unknown language (used for
    every language), texts that speak to the judge, items with nothing to rate, tagged texts that no sentence explains.
    """
    asked = asked_questions(grid, questions, evaluation)
    for question in asked:
        for item in {item.scale: item for item in items}.values():
            levels_of(question, item)
    for language, conditions in by_language(grid.conditions).items():
        check_prompts(language, items, asked)
        shown = [*items, *(held_out if any(one.demonstrations for one in conditions) else ())]
        check_shown(language, {condition.image for condition in conditions}, shown)
    check_different(grid.conditions, grid.name, samples(items), asked[0])
    return tuple(notes_on(grid.conditions, items, asked, held_out))


def _with_conditions(grid: Grid, conditions: tuple[Condition, ...]) -> Grid:
    content = [sorted(condition.digest for condition in conditions), grid.repeats, list(grid.questions)]
    return replace(grid, conditions=conditions, digest=digest(content))


def _optional(grids: Sequence[Grid]) -> set[str]:
    """Conditions that are optional wherever they occur."""
    fixed = {one.full_name for grid in grids for one in grid.conditions if one.full_name not in grid.optional}
    return {name for grid in grids for name in grid.optional} - fixed


def _with_design(conditions: Iterable[Condition]) -> Iterator[Condition]:
    """The conditions, with ``design`` among the factors of all when it is among those of one."""
    found = tuple(conditions)
    if not any("design" in condition.factors for condition in found):
        yield from found
        return
    for condition in found:
        yield replace(condition, factors={"design": BASE_DESIGN, **condition.factors})


def _join(names: Iterable[str]) -> str:
    return ", ".join(names)
