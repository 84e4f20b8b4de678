"""The page of a screening: what is suggested for every pair, by which numbers, and how a person decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.construction.build_file import BuildFile, title_of
from voirdire.construction.concepts import ConceptItem, Concepts
from voirdire.construction.screening import GAPS, Measured, PairScreening, Screening
from voirdire.construction.screening_decisions import Outcome
from voirdire.construction.screening_opinion import SATURATED, Opinion, image_of
from voirdire.construction.screening_rule import DROP, KEEP, MEASURES, NOT_APPLICABLE, UNDECIDED
from voirdire.corpus.screened import LEAD
from voirdire.reporting.access import View
from voirdire.reporting.blocks import Bullets, Folded, ItemCard, Items, Picture, Report, Section, Text
from voirdire.reporting.grid import Column, Entry, Grid, Line
from voirdire.reporting.items import embedded
from voirdire.reporting.words import DASH, MINUS, Words
from voirdire.scales import Scale
from voirdire.texts import has, text

ORDER = (DROP, UNDECIDED, KEEP)
MOST_NAMED = 30


@dataclass(frozen=True, slots=True)
class Shown:
    """What a page is made of; folder : of the corpus; regime : of the images."""

    screening: Screening
    standing: Mapping[str, Outcome]
    build: BuildFile
    concepts: Concepts
    folder: Path
    regime: str
    opinion: Opinion | None = None
    items: Mapping[str, ConceptItem] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", {item.id: item for item in self.concepts.items})

    def of(self, verdict: str) -> list[PairScreening]:
        """The pairs with a suggestion."""
        return [pair for pair in self.screening.pairs if pair.verdict == verdict]


def page(shown: Shown, lang: str = "en", progress: Callable[[str, float], None] | None = None) -> Report:
    """The screening as a report in a language.

    progress : called with the stage and the share done, as images are made small
    """
    words = Words(lang)
    sections = [
        _first(shown, lang),
        Section("pairs", text("screening.page.pairs", lang), 2, [pairs_grid(shown, lang)]),
        *_look(shown, lang, progress or (lambda *_: None)),
        *_decided(shown, lang),
        Section(
            "rule",
            text("screening.page.rule", lang),
            2,
            [Bullets((("", tuple(rule_sentences(shown.screening, lang))),))],
        ),
        *_power(shown.screening, lang),
    ]
    title = words.t("title_named", title=text("screening.page.title", lang), name=View.clean(shown.build.name))
    return Report(lang, title, text("screening.page.subtitle", lang), "", _facts(shown, lang), sections, words)


def sentences(pair: PairScreening, lang: str) -> Iterator[str]:
    """Why a pair has its verdict: a sentence for each measure, those that made the verdict first."""
    for one in sorted(pair.measures, key=lambda one: one.name not in pair.reasons):
        yield sentence(one, lang)


def sentence(one: Measured, lang: str) -> str:
    """What one measure says, in words, with its numbers."""
    name = text(f"screening.measure.{one.name}", lang)
    if one.undefined is not None:
        key = "screening.not_applicable" if one.verdict == NOT_APPLICABLE else "screening.cannot_say"
        return text(key, lang, measure=name, reason=reason(one.undefined, lang))
    shown = {part: number(getattr(one, part), one.name) for part in ("value", "low", "high", "threshold")}
    facts = {key: number(one.facts.get(key), one.name) for key in ("observed", "noise_floor")}
    place = {
        "item": View.clean(one.facts.get("item", "")),
        "end": text(f"screening.end.{one.facts.get('end', 'high')}", lang),
        "pools": text("screening.between", lang).join(map(View.clean, one.facts.get("pools", ()))),
        "by_pool": _by_pool(one, lang),
    }
    return text(f"screening.sentence.{one.name}_{one.verdict}", lang, **shown, **facts, **place)


def reason(key: str, lang: str) -> str:
    """Why a number is undefined, in words."""
    own = f"screening.reason.{key}"
    return text(own if has(own, lang) else f"undefined.{key}", lang)


def number(value: float | None, measure: str) -> str:
    """A share in per cent, a gap in units of the scale.

    >>> number(0.5, "factual").replace(chr(0x202F), " "), number(1.25, "gap"), number(None, "gap")
    ('50 %', '1.25', '—')
    """
    if value is None:
        return DASH
    if measure != "gap":
        return f"{100 * value:.0f}\u202f%"
    return f"{value:.2f}".replace("-", MINUS)


def rule_sentences(screening: Screening, lang: str) -> Iterator[str]:
    """The rule with its thresholds, as sentences."""
    rule = screening.rule
    shares = ("confidence", "factual_share", "pile_share", "stereotype_share", "least_gap")
    told = {name: number(getattr(rule, name), "share") for name in shares}
    ends = text(f"screening.end.{rule.factual_end}", lang)
    least = next((one.threshold for pair in screening.pairs for one in pair.measures if one.name == "gap"), None)
    told |= {"end": ends, "least": number(least, "gap"), "raters": str(rule.min_raters)}
    for part in ("verdict", "interval", *MEASURES, "raters", "opinion"):
        yield text(f"screening.rule.{part}", lang, **told)


def pairs_grid(shown: Shown, lang: str) -> Grid:
    """A row for each pair: the suggestion, the four measures, what was decided."""
    named = [f"screening.measure.{name}" for name in MEASURES]
    titles = [text("screening.head.suggested", lang), *(text(key, lang) for key in named)]
    titles += [text("screening.head.opinion", lang)] if shown.opinion is not None else []
    worded = (titles[0], text("screening.head.decided", lang))
    columns = tuple(Column(title, numeric=title not in worded) for title in (*titles, worded[1]))
    groups = tuple(
        (text(f"screening.group.{verdict}", lang, count=len(pairs)), tuple(_line(pair, shown, lang) for pair in pairs))
        for verdict in ORDER
        if (pairs := shown.of(verdict))
    )
    heads = (text("screening.head.pair", lang),)
    return Grid(
        "pairs", text("screening.page.caption", lang), heads, columns, groups, (text("screening.page.legend", lang),)
    )


def decision_words(outcome: Outcome, lang: str) -> str:
    """What a person decided, in words; empty where nobody did."""
    if outcome.decided is None:
        return ""
    told = {"verdict": text(f"screening.verdict.{outcome.decided}", lang), "by": decider(outcome.by, lang)}
    key = "screening.decision.outdated" if outcome.outdated else "screening.decision.made"
    said = text(key, lang, **told, at=outcome.at[:10])
    return text("screening.decision.why", lang, decided=said, why=View.clean(outcome.why)) if outcome.why else said


def decider(by: str, lang: str) -> str:
    """Who did something, by name; the lead, who has none on the pages, in words."""
    return text("screening.decision.lead", lang) if by == LEAD else View.clean(by)


def _line(pair: PairScreening, shown: Shown, lang: str) -> Line:
    entries = [Entry(text(f"screening.verdict.{pair.verdict}", lang), numeric=False, strong=True)]
    entries += [_entry(one, lang) for one in pair.measures]
    if shown.opinion is not None:
        entries.append(_opinion_entry(pair, shown.opinion))
    outcome = shown.standing.get(pair.concept, Outcome(pair.concept))
    return Line((pair.concept,), (*entries, Entry(decision_words(outcome, lang), numeric=False)))


def _entry(one: Measured, lang: str) -> Entry:
    if one.undefined is not None:
        return Entry(DASH, reason(one.undefined, lang), numeric=False)
    mark = text(f"screening.finding.{one.verdict}", lang)
    interval = f"[{number(one.low, one.name)}, {number(one.high, one.name)}] {mark}"
    return Entry(number(one.value, one.name), interval, strong=one.verdict == DROP)


def _opinion_entry(pair: PairScreening, opinion: Opinion) -> Entry:
    found = opinion.largest(pair.items)
    return Entry(DASH if found is None else f"{found:g} / 5")


def _by_pool(one: Measured, lang: str) -> str:
    shares = one.facts.get("by_pool", {})
    told = [f"{View.clean(pool)} {number(value, one.name)}" for pool, value in shares.items()]
    return text("report.list_separator", lang).join(told)


def _facts(shown: Shown, lang: str) -> list[tuple[str, str]]:
    screening = shown.screening
    comma = text("report.list_separator", lang)
    facts = {
        "pairs": str(len(screening.pairs)),
        "pools": comma.join(map(View.clean, screening.pools)),
        "raters": f"{screening.raters:g}",
        "question": comma.join((View.clean(screening.question), _scale_words(screening.scale, lang))),
    }
    if shown.opinion is not None:
        facts["judge"] = View.clean(shown.opinion.judge)
    return [(text(f"screening.fact.{name}", lang), value) for name, value in facts.items()]


def _scale_words(scale: Scale, lang: str) -> str:
    told = {name: getattr(scale, name) for name in ("level", "low", "high", "labels", "positive")}
    return Words(lang).scale(told)


def _first(shown: Shown, lang: str) -> Section:
    section = Section("verdicts", text("screening.page.verdicts", lang), 2)
    entries = []
    for verdict in ORDER:
        pairs = [pair.concept for pair in shown.of(verdict)]
        if pairs:
            entries.append((text(f"screening.group.{verdict}", lang, count=len(pairs)), (_named(pairs, lang),)))
    section.blocks += [Bullets(tuple(entries), "verdicts"), Text((text("screening.page.suggestion", lang),), "note")]
    if shown.screening.unrated:
        count, names = len(shown.screening.unrated), _named(shown.screening.unrated, lang)
        section.blocks.append(Text((text("screening.page.unrated", lang, count=count, concepts=names),), "note"))
    return section


def _named(names: Any, lang: str) -> str:
    listed = text("report.list_separator", lang).join(list(names)[:MOST_NAMED])
    return listed + (text("report.and_more", lang, count=len(names) - MOST_NAMED) if len(names) > MOST_NAMED else "")


def _look(shown: Shown, lang: str, progress: Callable[[str, float], None]) -> Iterator[Section]:
    """A section for each pair that fails or is undecided; those that pass are folded into one."""
    yield Section("look", text("screening.page.look", lang), 2, [Text((text("screening.page.look_how", lang),))])
    kept = []
    pairs = [pair for verdict in ORDER for pair in shown.of(verdict)]
    for done, pair in enumerate(pairs):
        progress("report", done / len(pairs))
        blocks = tuple(_pair_blocks(pair, shown, lang))
        if pair.verdict == KEEP:
            kept.append(Folded(pair.concept, blocks))
            continue
        verdict = text(f"screening.verdict.{pair.verdict}", lang)
        title = text("screening.page.of_pair", lang, pair=pair.concept, verdict=verdict)
        yield Section(f"pair-{pair.concept}", title, 3, list(blocks))
    if kept:
        yield Section("kept", text("screening.page.kept", lang), 3, list(kept))


def _pair_blocks(pair: PairScreening, shown: Shown, lang: str) -> Iterator[Any]:
    yield Bullets((("", tuple(sentences(pair, lang))),))
    if shown.opinion is not None:
        yield Text((_opinion_words(pair, shown.opinion, lang),), "note")
    yield Items(tuple(_card(item, pair, shown, lang) for item in pair.items))
    if decided := decision_words(shown.standing.get(pair.concept, Outcome(pair.concept)), lang):
        yield Text((decided,), "note")
    yield Text((text("screening.page.command", lang, pair=pair.concept),), "note")


def _opinion_words(pair: PairScreening, opinion: Opinion, lang: str) -> str:
    found = opinion.largest(pair.items)
    told = {"judge": View.clean(opinion.judge), "level": SATURATED}
    if found is None:
        return text("screening.opinion.none", lang, **told)
    saturated = text("screening.opinion.yes" if found >= SATURATED else "screening.opinion.no", lang)
    return text("screening.opinion.said", lang, **told, value=f"{found:g}", saturated=saturated)


def _card(name: str, pair: PairScreening, shown: Shown, lang: str) -> ItemCard:
    item = shown.items[name]
    asked = item.prompts.get(lang) or next(iter(item.prompts.values()), "")
    worded = {"question": asked, "realisation": item.realisation}
    texts = tuple(
        (text(f"screening.item.{key}", lang), "und", View.clean(said)) for key, said in worded.items() if said
    )
    cultures = {culture.name: title_of(culture, lang) for culture in shown.build.cultures}
    about = ((text("screening.item.culture", lang), View.clean(cultures.get(item.culture, item.culture))),)
    consensus = pair.consensus.get(name, {})
    means = [mean for mean, _ in consensus.values()]
    gap = f"{max(means) - min(means):.2f}" if len(means) > 1 else DASH
    return ItemCard(name, gap, texts, about, _picture(item, shown, lang), _answers(name, pair, lang))


def _picture(item: ConceptItem, shown: Shown, lang: str) -> Picture | None:
    file = image_of(shown.folder, shown.regime, item.id)
    if file is None:
        return None
    source = file.relative_to(shown.folder).as_posix()
    alt = item.alts.get(lang) or Words(lang).t("item.image_of", item=item.id)
    return Picture(embedded(source, shown.folder), source, View.clean(alt))


def _answers(name: str, pair: PairScreening, lang: str) -> Grid:
    """The pools' means of an item, and what its raters said is wrong with it."""
    rows = [
        Line((View.clean(pool),), (Entry(f"{mean:.2f}"), Entry(str(n))))
        for pool, (mean, n) in pair.consensus.get(name, {}).items()
    ]
    heads = (text("screening.item.pool", lang),)
    columns = (Column(text("screening.item.mean", lang)), Column(text("screening.item.raters", lang)))
    votes = pair.votes.get(name, {})
    told = [f"{text(f'screening.vote.{label}', lang)} {count}" for label, count in votes.items()]
    notes = (text("screening.item.votes", lang, votes=text("report.list_separator", lang).join(told)),) if told else ()
    return Grid("", text("screening.item.caption", lang, item=name), heads, columns, (("", tuple(rows)),), notes)


def _decided(shown: Shown, lang: str) -> Iterator[Section]:
    """What persons decided, also on pairs of earlier screenings."""
    made = [one for one in shown.standing.values() if one.decided is not None]
    if not made:
        return
    titles = ("suggested", "decided", "by", "why")
    columns = tuple(Column(text(f"screening.head.{name}", lang), numeric=False) for name in titles)
    lines = tuple(Line((one.concept,), tuple(_decision_entries(one, lang))) for one in made)
    heads = (text("screening.head.pair", lang),)
    grid = Grid("decisions", text("screening.page.decided_caption", lang), heads, columns, (("", lines),))
    yield Section("decided", text("screening.page.decided", lang), 2, [grid])


def _decision_entries(one: Outcome, lang: str) -> Iterator[Entry]:
    outdated = text("screening.decision.since", lang) if one.outdated else ""
    yield Entry(text(f"screening.verdict.{one.suggested}", lang), outdated, numeric=False)
    yield Entry(text(f"screening.verdict.{one.decided}", lang), numeric=False)
    yield Entry(decider(one.by, lang), one.at[:10], numeric=False)
    yield Entry(View.clean(one.why) or DASH, numeric=False)


def _power(screening: Screening, lang: str) -> Iterator[Section]:
    """What pilots of different size can show of a pair."""
    title = text("screening.page.power", lang)
    if not screening.power:
        yield Section("power", title, 2, [Text((text("screening.page.power_unknown", lang),))])
        return
    columns = tuple(Column(heading) for heading in power_heads(screening, lang))
    lines = tuple(Line((str(row[0]),), tuple(Entry(cell) for cell in row[1:])) for row in power_rows(screening))
    heads = (text("screening.head.raters", lang),)
    grid = Grid("power", text("screening.page.power_caption", lang), heads, columns, (("", lines),))
    yield Section("power", title, 2, [Text((text("screening.page.power_how", lang),)), grid])


def power_heads(screening: Screening, lang: str) -> list[str]:
    """The headings of the table of power, without the first one."""
    gaps = screening.power[0].gaps if screening.power else GAPS
    kept = [text("screening.head.kept", lang, gap=f"{gap:g}") for gap in gaps]
    return [*kept, text("screening.head.dropped", lang), text("screening.head.detectable", lang)]


def power_rows(screening: Screening) -> Iterator[list[str]]:
    """The cells of the table of power."""
    for one in screening.power:
        kept = [number(share, "share") for share in one.kept]
        yield [str(one.n), *kept, number(one.dropped, "share"), number(one.detectable, "gap")]
