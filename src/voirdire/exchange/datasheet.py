"""The datasheet of a release, in Markdown: who rated, how they were found and paid, what is asked, what is not told.

Source of the sections: Gebru et al., Datasheets for datasets, 2021. What corpus.toml does not tell is listed as not
told; nothing is made up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from voirdire.corpus.corpus import Note
from voirdire.corpus.equivalence import equivalence_notes
from voirdire.corpus.screened import screening_notes
from voirdire.exchange.facts import Facts, PoolFacts, QuestionFacts, facts_of
from voirdire.exchange.release import Release
from voirdire.exchange.told import POOL, in_language
from voirdire.reporting.markdown import escape
from voirdire.reporting.words import Words
from voirdire.texts import has, text

MADE = ("collection", "collected_from", "collected_to", "protocol", "platform", "consent", "ethics", "funding")
USED = ("uses", "not_for", "limitations", "biases", "social_impact", "sensitive")
KEPT = ("authors", "contact", "url", "citation", "published", "maintenance")


def datasheet(release: Release, lang: str = "en", form: str = "csv") -> str:
    """The datasheet of a release.

    form : the form that the release is written in, which decides what is said of reading it
    """
    facts = facts_of(release)
    sections: list[tuple[str, list[str]]] = [
        ("contents", [*_contents(facts, release, lang), _tables(release, lang)]),
        ("questions", [*_questions(facts.questions, lang), *_equivalence(release, lang)]),
        ("raters", _raters(facts, release, lang)),
        ("made", [*_told(MADE, release, lang), *_screening(release, lang), *_frozen(release, lang)]),
        ("uses", _told(USED, release, lang)),
        ("privacy", _privacy(release, lang)),
        ("reading", [text(f"datasheet.reading.{form}", lang).strip()]),
        ("kept", _told(KEPT, release, lang)),
        ("untold", _untold(release, facts, lang)),
    ]
    parts = _head(release, facts, lang)
    for name, blocks in sections:
        if any(blocks):
            parts += [f"## {text(f'datasheet.section.{name}', lang)}", *blocks]
    return "\n\n".join(part for part in parts if part) + "\n"


def title_of(release: Release, lang: str) -> str:
    """The title that is told, else the name."""
    return release.told.of("title", lang) or release.told.name


def _head(release: Release, facts: Facts, lang: str) -> list[str]:
    told = release.told
    banner = f"> **{text('datasheet.simulated', lang)}**" if told.simulated else ""
    lines = [("version", told.version), ("licence", told.licence or ""), ("languages", ", ".join(facts.languages))]
    listed = [_line(text(f"datasheet.field.{name}", lang), value, lang) for name, value in lines if value]
    return [f"# {escape(title_of(release, lang))}", banner, escape(told.of("description", lang)), "\n".join(listed)]


def _contents(facts: Facts, release: Release, lang: str) -> list[str]:
    said = [
        text("datasheet.items", lang, items=facts.items, pairs=facts.pairs, images=len(release.images)),
        text("datasheet.ratings", lang, ratings=facts.ratings, missing=facts.missing),
    ]
    if facts.judgments:
        judges = ", ".join(facts.judges)
        said.append(text("datasheet.judgments", lang, judgments=facts.judgments, judges=escape(judges)))
    for column, levels in facts.counts.items():
        listed = text("report.list_separator", lang).join(f"{escape(level)} {count}" for level, count in levels.items())
        said.append(text(f"datasheet.by.{column}", lang, levels=listed))
    return ["\n".join(f"- {line}" for line in said)]


def _tables(release: Release, lang: str) -> str:
    rows = [
        [text(f"datasheet.table.{name}", lang), f"`{name}`", str(frame.height), escape(", ".join(frame.columns))]
        for name, frame in release.tables.items()
    ]
    return _grid(("table", "name", "rows", "columns"), rows, lang)


def _questions(questions: Sequence[QuestionFacts], lang: str) -> list[str]:
    told = [(one.id, _role(one.role, lang), in_language(one.text, lang), scale_words(one, lang)) for one in questions]
    rows = [[escape(cell) for cell in row] for row in told]
    return [_grid(("question", "role", "wording", "scale"), rows, lang)]


def scale_words(question: QuestionFacts, lang: str) -> str:
    """The scale of a question in words; a level that is none of ours as it stands.

    >>> scale_words(QuestionFacts("q1", scale=("ordinal", (1.0, 5.0), ())), "en")
    'ordered steps, 1 to 5'
    """
    level, ends, labels = question.scale
    if not has(f"report.scale_words.level.{level}", lang):
        listed = text("report.list_separator", lang).join(labels)
        return "; ".join(part for part in (level, _range(ends, lang), listed) if part)
    low, high = ends or (None, None)
    told = {"level": level, "low": low, "high": high, "labels": list(labels)}
    return Words(lang).scale(told)


def _range(ends: tuple[float, float] | None, lang: str) -> str:
    return "" if ends is None else text("datasheet.ends", lang, low=f"{ends[0]:g}", high=f"{ends[1]:g}")


def _role(role: str, lang: str) -> str:
    key = f"datasheet.role.{role}"
    return text(key, lang) if has(key, lang) else role


def _equivalence(release: Release, lang: str) -> list[str]:
    """Whether the words of the scales mean the same in each language, as far as that is told."""
    return [_noted(equivalence_notes(release.told.equivalence), lang)]


def _screening(release: Release, lang: str) -> list[str]:
    """By which rule pairs were screened, and which were kept otherwise, as far as that is told."""
    return [_noted(screening_notes(release.told.screening), lang)]


def _noted(notes: Sequence[Note], lang: str) -> str:
    return "\n".join(f"- {escape(text(note.key, lang, **note.fields))}" for note in notes)


def _raters(facts: Facts, release: Release, lang: str) -> list[str]:
    rows = [
        [escape(pool.name), str(pool.raters), str(pool.ratings), _spread(pool, lang), str(pool.means)]
        for pool in facts.pools
    ]
    blocks = [_grid(("pool", "raters", "ratings", "per_item", "means"), rows, lang)]
    for pool in facts.pools:
        lines = [
            _line(text(f"datasheet.pool.{name}", lang), release.told.of_pool(pool.name, name, lang), lang)
            for name in POOL
            if release.told.of_pool(pool.name, name, lang)
        ]
        if lines:
            blocks += [f"### {escape(pool.name)}", "\n".join(lines)]
    return blocks


def _spread(pool: PoolFacts, lang: str) -> str:
    spread = {"least": pool.least, "median": f"{pool.median:g}", "most": pool.most}
    return text("datasheet.spread", lang, **spread) if pool.ratings else ""


def _told(names: Sequence[str], release: Release, lang: str) -> list[str]:
    found = [(name, release.told.of(name, lang)) for name in names]
    return ["\n".join(_line(text(f"datasheet.field.{name}", lang), value, lang) for name, value in found if value)]


def _frozen(release: Release, lang: str) -> list[str]:
    """The version of the frozen corpus, and the checks that failed and were allowed when it was frozen."""
    told = release.told
    if not told.origin:
        return []
    version = {"name": told.name, "version": told.origin.get("version", "-")}
    said = [text("freeze.file.version", lang, **version, digest=told.origin.get("digest", "-")[:12])]
    if "judgments" in release.tables:
        said.append(text("datasheet.judged" if release.judged else "datasheet.judged_unknown", lang))
    said += [text("freeze.file.allowed", lang, check=check, reason=why) for check, why in told.allowed]
    return ["\n".join(f"- {escape(line)}" for line in said)]


def privacy_sentences(release: Release, lang: str) -> list[str]:
    """What was done so that raters are not known again, and what is left of them."""
    known = release.anonymity
    said = [text("datasheet.pseudonyms", lang)] if release.hidden else []
    if known is None:
        said.append(text("datasheet.slots", lang))
    elif "raters" in release.tables:
        columns = {"columns": ", ".join(known.columns)} if known.columns else {}
        key = "datasheet.alike" if columns else "datasheet.alike_pool"
        said.append(text(key, lang, smallest=known.smallest, k=known.k, **columns))
    if release.left_out:
        left = ", ".join(f"{table}.{column}" for table, column in release.left_out)
        said.append(text("datasheet.left_out", lang, columns=left))
    return [*said, text("datasheet.texts_in" if release.written else "datasheet.texts_out", lang)]


def _privacy(release: Release, lang: str) -> list[str]:
    return ["\n".join(f"- {escape(line)}" for line in privacy_sentences(release, lang))]


def _untold(release: Release, facts: Facts, lang: str) -> list[str]:
    missing = release.told.untold([pool.name for pool in facts.pools])
    if not missing:
        return [text("datasheet.all_told", lang)]
    lines = []
    for pool in dict.fromkeys(pool for pool, _ in missing):
        names = [name for of, name in missing if of == pool]
        words = [text(f"datasheet.{'pool' if pool else 'field'}.{name}", lang) for name in names]
        listed = text("report.list_separator", lang).join(words)
        lines.append(_line(escape(pool) if pool else text("datasheet.corpus", lang), listed, lang, bare=True))
    return [text("datasheet.untold", lang), "\n".join(lines)]


def _line(label: str, value: str, lang: str, *, bare: bool = False) -> str:
    return text("datasheet.line", lang, label=label, value=value if bare else escape(value))


def _grid(columns: Iterable[str], rows: Sequence[Sequence[str]], lang: str) -> str:
    heads = [text(f"datasheet.column.{name}", lang) for name in columns]
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
