"""A profile becomes a report: which sections there are and what stands in each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from voirdire.reporting import audit, claims, glance, headline, honesty, verdicts
from voirdire.reporting.access import Cell, ProfileLike, View
from voirdire.reporting.blocks import Bullets, Folded, Report, Section, Text, prefixed
from voirdire.reporting.grid import Builder, Footnotes, Grid
from voirdire.reporting.question import judge_sections, pool_sections
from voirdire.reporting.words import Words

MOST_OPEN = 12
GRAVE = ("freeze.file.allowed", "freeze.judged.meant")
"""Notes that stand at the top, and not only among the settings."""


def build(profile: ProfileLike, lang: str = "en", images: Path | str | None = None) -> Report:
    """The report of a profile in a language.

    images : the folder that the items' image paths are relative to; without it no image is read
    """
    view = View(profile)
    words = Words(lang, view.pools)
    footnotes = Footnotes()
    folder = Path(images) if images is not None else None
    sections = [summary(view, words, footnotes), claims.section(view, words), honesty.disclosed(view, words)]
    sections = [section for section in sections if section.blocks]
    for place, question in enumerate(view.questions):
        builder = Builder(view, words, footnotes, question["id"], verdicts.width_of(view, question["id"]))
        sections.extend(_question(builder, place, question, folder))
    sections.extend(reckoning(view, words, footnotes))
    banner = words.t("simulated") if view.meta.get("simulated") else ""
    kind = "" if view.judges else "_of_pools"
    title, subtitle = words.t(f"title{kind}"), words.t(f"subtitle{kind}")
    if name := View.clean(view.meta.get("name") or ""):
        title = words.t("title_named", title=title, name=name)
    return Report(lang, title, subtitle, banner, facts_of(view, words), sections, words)


def facts_of(view: View, words: Words) -> list[tuple[str, str]]:
    """What was audited: pools, judges, items, questions, and by which version."""
    items = [question["n_items"] for question in view.questions if question.get("n_items")]
    items = items or [row.value for row in view.rows("n_items", slice="all") if row.value is not None]
    facts = [
        (words.t("fact.pools"), words.list([View.clean(pool) for pool in view.pools])),
        (words.t("fact.judges"), words.list([words.judge(judge) for judge in view.judges]) or words.t("none")),
        (words.t("fact.items"), str(int(max(items))) if items else ""),
        (words.t("fact.questions"), words.list([View.clean(question["id"]) for question in view.questions])),
        (
            words.t("fact.made"),
            words.list([f"voirdire {view.meta.get('voirdire', '')}", f"{words.t('seed')} {view.meta.get('seed', '')}"]),
        ),
    ]
    version = _version(view)
    facts.insert(2, (words.t("fact.version"), version))
    return [(name, value) for name, value in facts if value]


def _version(view: View) -> str:
    """The version of a frozen corpus, with the first digits of its digest; empty where it is none."""
    corpus = view.meta.get("corpus") or {}
    told = (str(corpus.get("version", "")), str(corpus.get("frozen", ""))[:12])
    return ", ".join(part for part in told if part)


def summary(view: View, words: Words, footnotes: Footnotes | None = None) -> Section:
    """What a report opens with: orientation and what T is made of, the matrix, the verdicts, how to read them.

    footnotes : of the report that the section stands in; the matrix is left out where there is none
    """
    section = Section("verdicts", words.t("section.verdicts"), 2, _grave(view, words))
    judged = view.judged if view.judges else []
    several = len(view.questions) > 1
    for place, question in enumerate(entry["id"] for entry in view.questions):
        if judged and question not in judged:
            continue
        if several:
            section.blocks.append(Text((words.t("question_label", question=question),), "label"))
        if question in judged:
            section.blocks += _opening(view, words, question)
            section.blocks += [prefixed(grid, f"q{place + 1}") for grid in _glance(view, words, question, footnotes)]
            section.blocks += _warned(view, words, question)
        section.blocks += _verdicts(view, words, question, judged=question in judged)
    section.blocks.append(Text((words.t("on_this_corpus" if judged else "on_this_corpus_of_pools"),), "note"))
    if judged:
        rated = [question for question in judged if not view.votes(question)]
        cautions = _cautions(view, words, rated[0]) if rated else [words.v("caution")]
        section.blocks.append(Text((*cautions, _resampled(view, words)), "caution"))
    return section


def _grave(view: View, words: Words) -> list[Any]:
    """What must be read first: checks that failed when the corpus was frozen, judgments of another version."""
    said = [words.note(note) for note in view.meta.get("notes") or [] if note.get("key") in GRAVE]
    return [Text(tuple(said), "warning")] if said else []


def _opening(view: View, words: Words, question: str) -> list[Any]:
    """The headline: orientation by the rule, what T is made of."""
    if view.votes(question):
        return [Text((words.v("no_orientation"),), "note")]
    entries = headline.opened(view, words, question, view.main_cells())
    if not entries:
        return []
    reading = [words.x("headline.reading", a=a, b=b) for a, b in _ends(view, words, question)]
    return [Bullets(tuple(entries), "verdicts"), Text(tuple(reading), "note")]


def _ends(view: View, words: Words, question: str) -> list[tuple[str, str]]:
    """What the ends of T and W are: the pools of the only pair, or the first and second pool of any pair."""
    pairs = view.pairs(question)
    return pairs if len(pairs) < 2 else [(words.x("headline.first_pool"), words.x("headline.second_pool"))]


def _glance(view: View, words: Words, question: str, footnotes: Footnotes | None) -> list[Grid]:
    if footnotes is None:
        return []
    builder = Builder(view, words, footnotes, question, verdicts.width_of(view, question))
    grid = glance.matrix(builder, view.main_cells())
    return [] if grid is None else [grid]


def _warned(view: View, words: Words, question: str) -> list[Bullets]:
    """The warnings that apply here."""
    found = honesty.warnings(view, words, question)
    return [Bullets(((words.x("section.cautions"), tuple(found)),), "warning")] if found else []


def _verdicts(view: View, words: Words, question: str, *, judged: bool) -> list[Any]:
    """Whether the pools are good references; each judge against every pool and between each pair."""
    warned = set(honesty.warnings(view, words, question)) if judged else set()
    pools = [sentence for sentence in verdicts.pool_sentences(view, words, question) if sentence not in warned]
    blocks: list[Any] = [Bullets(((words.t("the_pools"), tuple(pools)),), "verdicts")] if pools else []
    if not judged:
        return blocks
    cells = view.main_cells()
    entries = [(words.cell(cell), tuple(verdicts.judge_sentences(view, words, question, cell))) for cell in cells]
    judges = Bullets(tuple(entries), "verdicts")
    if len(cells) <= MOST_OPEN:
        return [*blocks, judges]
    return [*blocks, Folded(words.x("headline.more", count=len(cells)), (judges,))]


def _cautions(view: View, words: Words, question: str) -> list[str]:
    cells = view.main_cells()
    caution = [words.t("caution.tilt", a=a, b=b) for a, b in _ends(view, words, question)]
    if not caution:
        return []
    known = any(headline.decomposed(view, question, pair, cell) for pair in view.pairs(question) for cell in cells)
    return [*caution, words.x("headline.caution") if known else words.t("caution.compression")]


def _resampled(view: View, words: Words) -> str:
    return words.t("caution.resample." + _resample(view))


def _resample(view: View) -> str:
    return "raters" if "rater" in str((view.meta.get("options") or {}).get("resample", "")) else "items"


def _question(b: Builder, place: int, question: dict[str, Any], folder: Path | None) -> list[Section]:
    w = b.words
    head = Section(f"q{place + 1}", w.t("section.question", question=question["id"]), 2)
    head.blocks.append(Text(tuple(about(question, w))))
    sections = [head, *pool_sections(b)]
    if b.view.judges and question["id"] in b.view.judged:
        sections.extend(judge_sections(b, folder))
    for section in sections[1:]:
        section.id = f"q{place + 1}-{section.id}"
        section.blocks = [prefixed(block, f"q{place + 1}") for block in section.blocks]
    return sections


def about(question: dict[str, Any], words: Words) -> Iterable[str]:
    """A question's wording and scale in sentences."""
    texts = question.get("text") or {}
    wording = texts.get(words.lang) or next(iter(texts.values()), "")
    if wording:
        yield words.t("question.text", text=wording)
    key = "question.inferred" if question.get("inferred") else "question.scale"
    scale = words.t(key, scale=words.scale(question))
    role = question.get("role")
    yield f"{scale} {words.t(f'role.{role}')}" if role else scale


def reckoning(view: View, words: Words, footnotes: Footnotes) -> list[Section]:
    """What was left out, the notes, the settings and the definitions."""
    left_out = Section("left-out", words.t("section.left_out"), 2)
    for grid in (audit.intake(view, words), audit.excluded(view, words)):
        if grid:
            left_out.blocks.append(grid)
    for place, question in enumerate(view.judged):
        builder = Builder(view, words, footnotes, question, verdicts.width_of(view, question))
        grid = audit.bounds(builder, _cells(view))
        if grid:
            left_out.blocks.append(prefixed(grid, f"q{place + 1}"))
    grid = audit.undefined(view, words)
    left_out.blocks.append(grid if grid else Text((words.t("nothing_undefined"),)))
    settings = Section("settings", words.t("section.settings"), 2)
    settings.blocks += [g for g in (audit.settings(view, words), audit.families(view, words)) if g]
    notes = Section("definitions", words.t("section.definitions"), 2)
    notes.blocks += [Text((words.t("definitions_intro"),)), audit.definitions(footnotes, words)]
    return [left_out, *_notes(view, words), settings, notes]


def _cells(view: View) -> list[Cell]:
    return view.full_cells() if len(view.full_cells()) <= 60 else view.main_cells()


def _notes(view: View, words: Words) -> list[Section]:
    notes = view.meta.get("notes") or []
    if not notes:
        return []
    section = Section("notes", words.t("section.notes"), 2)
    for kind, style in (("warning", "warning"), ("info", "plain")):
        found = list(dict.fromkeys(words.note(note) for note in notes if (note.get("kind") or "info") == kind))
        if found:
            section.blocks.append(Bullets(((words.t(f"notes.{kind}"), tuple(found)),), style))
    return [section]
