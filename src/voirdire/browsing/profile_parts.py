"""The parts of an audit's profile as the sections of its report: what a reader chose, and nothing computed anew."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from voirdire.analysis.naming import levels_of
from voirdire.browsing.library import MOST_LETTERS, NotThere
from voirdire.reporting import assemble, audit, claims, experiment, honesty, question, speccurve_section, tables
from voirdire.reporting.access import View
from voirdire.reporting.blocks import Bullets, Figure, Folded, Section, Text
from voirdire.reporting.chosen import WHOLE, Choice, ChosenView, compared, pairs_of, printed, read_pair, slices_of
from voirdire.reporting.grid import Builder, Footnotes, Grid
from voirdire.reporting.words import Words
from voirdire.texts import text

PARTS = ("overview", "judges", "pair", "slices", "experiment", "notes", "estimates")
OF_JUDGES = ("judges", "pair", "slices", "experiment")
BY_PAIR = ("pair",)
BY_SLICE = ("judges", "pair")
OF_RUNS = (
    "best_mae", "best_kappa", "r2", "origin_effect", "pull", "persona_match", "floor_gap", "icl_effect",
    "language_effect", "detail_effect", "factor_effect", "gap_correlation", "recognizability_bins", "regime_comparison",
)  # fmt: skip
"""Statistics, by the first part of their names, that the part on the experiment tells."""
COMMAND = "voirdire audit ..."
ANCHOR = "anchor"
"""The slices by anchor class, which no column of the items makes."""


@dataclass(frozen=True)
class Missing:
    """Something that this audit did not compute. key : of the sentence; command : that computes it"""

    key: str
    fields: Mapping[str, str]
    command: str


@dataclass(frozen=True)
class Part:
    """One part of a profile as it is read.

    sections : as in the report; missing : what was chosen and not computed
    """

    sections: tuple[Section, ...]
    missing: tuple[Missing, ...] = ()

    def grids(self) -> list[Grid]:
        """Every table, also those that are folded."""
        return [grid for section in self.sections for block in section.blocks for grid in tables_in(block)]

    def figures(self) -> list[Figure]:
        """Every chart."""
        return [block for block in self.blocks() if isinstance(block, Figure)]

    def blocks(self) -> list[Any]:
        """Every block, also those that are folded."""
        return [each for section in self.sections for block in section.blocks for each in unfolded(block)]


def unfolded(block: Any) -> list[Any]:
    """A block and those that are folded in it."""
    inner = block.blocks if isinstance(block, Folded) else ()
    return [block, *(each for one in inner for each in unfolded(one))]


def tables_in(block: Any) -> list[Grid]:
    """The tables of a block, also those that are folded."""
    return [each for each in unfolded(block) if isinstance(each, Grid)]


def parts_of(view: View, chosen: str) -> list[str]:
    """The parts that a profile has for a question, in their order."""
    judged = bool(view.judges) and chosen in view.judged
    found = []
    for name in PARTS:
        if name in OF_JUDGES and not judged:
            continue
        if name == "pair" and len(view.pools_of(chosen)) < 2:
            continue
        if name == "slices" and len(slices_of(view, chosen)) < 2:
            continue
        if name == "experiment" and not _has_experiment(view, chosen):
            continue
        found.append(name)
    return found


def _has_experiment(view: View, chosen: str) -> bool:
    held = {name.partition(".")[0] for name in view.profile.estimates.filter(question=chosen)["statistic"].unique()}
    if len(view.pools_of(chosen)) < 2:
        held -= {"best_mae", "best_kappa"}
    return not held.isdisjoint(OF_RUNS)


def choose(view: View, asked: Mapping[str, str]) -> Choice:
    """What an address asks for: ``question``, ``pair`` (``a,b``) and ``slice``; empty = the first, and all items.

    Raises NotThere for what the profile does not have; the message says how to compute a pair or a slice.
    """
    names = [str(entry["id"]) for entry in view.questions]
    if not names:
        raise NotThere("room_profiles.no_questions")
    chosen = asked.get("question") or names[0]
    if chosen not in names:
        raise NotThere("room_profiles.no_question", value=_short(chosen), known=", ".join(map(View.clean, names)))
    pair = _pair(view, chosen, asked.get("pair", ""))
    return Choice(chosen, pair, _slice(view, chosen, pair, asked.get("slice", "")))


def _pair(view: View, chosen: str, told: str) -> tuple[str, str] | None:
    if not told:
        return next(iter(pairs_of(view, chosen)), None)
    pair = read_pair(view, chosen, told)
    if pair is None:
        known = "; ".join(View.clean(printed(known)) for known in pairs_of(view, chosen)[:12])
        raise NotThere("room_profiles.no_pair", value=_short(told), known=known or "-")
    return pair


def _slice(view: View, chosen: str, pair: tuple[str, str] | None, told: str) -> str:
    if not told or told in slices_of(view, chosen):
        return told or WHOLE
    columns = {column for column, _ in levels_of(told)} if "=" in told else set()
    column = next(iter(columns), "COLUMN")
    key = "no_anchor" if column == ANCHOR else "no_slice"
    raise NotThere(f"room_profiles.{key}", value=_short(told), command=_to_slice(column, pair))


def _to_slice(column: str, pair: tuple[str, str] | None) -> str:
    """The command that makes slices by a column, or by anchor class: these belong to one pair."""
    if column == ANCHOR:
        return f"{COMMAND} --pair {_word(','.join(pair or ('A', 'B')))}"
    return f"{COMMAND} --slice {_word(column)}"


def _short(told: str) -> str:
    return View.clean(told[:MOST_LETTERS])


def _word(name: str) -> str:
    """A name as one word of a command line."""
    return shlex.quote(View.clean(name[: 2 * MOST_LETTERS]))


def part(view: View, name: str, choice: Choice, lang: str) -> Part:
    """The sections of one part of a profile in a language."""
    whole = name not in BY_SLICE
    here = ChosenView(view, replace(choice, pair=choice.pair if name in BY_PAIR else None, part=_of(choice, whole)))
    words, footnotes = Words(lang, view.pools), Footnotes()
    builder = Builder(here, words, footnotes, choice.question, here.width(choice.question))
    sections = [section for section in MAKERS[name](builder) if section.blocks]
    if name == "notes":
        sections = assemble.reckoning(view, words, footnotes)[:-1]
    missing = _missing(view, name, choice, sections, words)
    return Part((*sections, *_definitions(footnotes, words)), missing)


def _of(choice: Choice, whole: bool) -> str:
    return WHOLE if whole else choice.part


def _definitions(footnotes: Footnotes, words: Words) -> list[Section]:
    """What the columns' numbers refer to, closed at first."""
    if not footnotes.definitions:
        return []
    section = Section("definitions", words.t("section.definitions"), 2)
    notes = (Text((words.t("definitions_intro"),)), audit.definitions(footnotes, words))
    section.blocks.append(Folded(text("room_profiles.definitions", words.lang), notes))
    return [section]


def _overview(b: Builder) -> list[Section]:
    """Verdicts, headline and matrix; what is claimed; the pools of the question and their gate."""
    view, words = b.view, b.words
    head = Section("question", words.t("section.question", question=b.question), 2)
    head.blocks.append(Text(tuple(said for entry in view.questions for said in assemble.about(entry, words))))
    summary = assemble.summary(view, words, b.footnotes)
    told = any(isinstance(block, Bullets) for block in summary.blocks)
    summary.blocks = [_bare(block) for block in summary.blocks]
    if view.judges and b.question not in view.judged:
        summary.blocks.insert(0, Text((text("room_profiles.not_judged", words.lang),)))
    pools = question.pool_sections(b)
    for section in pools if told else ():
        section.blocks = [block for block in section.blocks if not isinstance(block, Bullets)]
    claimed = claims.section(view, words)
    if claimed.blocks:
        claimed.blocks = [Folded(text("room_profiles.claims", words.lang), tuple(claimed.blocks))]
    return [summary, head, *pools, claimed, honesty.disclosed(view, words)]


def _bare(block: Any) -> Any:
    return replace(block, id=block.id.removeprefix("q1-")) if isinstance(block, Grid) else block


def _judges(b: Builder) -> list[Section]:
    whole = b.view.choice.part == WHOLE if isinstance(b.view, ChosenView) else True
    found = [question.against(b), *question.answers_to_votes(b)]
    return [*found, *([question.distributions(b)] if whole else []), question.scale_use(b)]


def _between(b: Builder) -> list[Section]:
    """What T is made of, T itself, and its definitions; first how far the pools are apart."""
    view = b.view
    if not isinstance(view, ChosenView) or view.choice.pair is None:
        return []
    names = dict(zip("ab", view.choice.pair, strict=True))
    title = text("room_profiles.apart", b.words.lang, **{end: View.clean(name) for end, name in names.items()})
    apart = Section("apart", title, 3, [*tables.pairs(b)])
    found = [*question.parts_of_tilt(b), *question.between_pools(b)]
    if view.choice.part == WHOLE:
        found += [] if view.votes(b.question) else speccurve_section.sections(b)
        found += question.splitting_items(b, None)
    return [*found, apart]


def _slices(b: Builder) -> list[Section]:
    return [question.slices(b)]


def _experiment(b: Builder) -> list[Section]:
    return experiment.sections(b)


def _nothing(_: Builder) -> list[Section]:
    return []


MAKERS = {
    "overview": _overview, "judges": _judges, "pair": _between, "slices": _slices, "experiment": _experiment,
    "notes": _nothing, "estimates": _nothing,
}  # fmt: skip


def _missing(view: View, name: str, choice: Choice, sections: Sequence[Section], words: Words) -> tuple[Missing, ...]:
    """What was chosen and has no estimates, with the command that computes it."""
    found = []
    if name == "pair" and choice.pair is not None and choice.pair not in compared(view, choice.question):
        a, b = choice.pair
        command = f"{COMMAND} --pair {_word(','.join(choice.pair))}"
        found.append(Missing("room_profiles.pair_missing", {"a": View.clean(a), "b": View.clean(b)}, command))
    elif name in BY_SLICE and choice.part != WHOLE and not sections:
        column = levels_of(choice.part)[0][0]
        key = "anchor_missing" if column == ANCHOR else "slice_missing"
        fields = {"slice": words.slice(choice.part)}
        found.append(Missing(f"room_profiles.{key}", fields, _to_slice(column, choice.pair)))
    return tuple(found)
