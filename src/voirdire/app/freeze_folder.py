"""What stands in the folder of a frozen corpus: tables, images, report, changelog and ``corpus.toml``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.construction.build_file import BuildFile
from voirdire.construction.concepts import Concepts
from voirdire.construction.freezing import folder as places
from voirdire.construction.freezing.demonstrations import demonstrations_of
from voirdire.construction.freezing.failures import Failure
from voirdire.construction.freezing.inspecting import Inspected, team_failures
from voirdire.construction.freezing.rated import inspect_rated
from voirdire.construction.freezing.validity import Validity
from voirdire.construction.freezing.versions import Release, changelog, releases
from voirdire.construction.freezing.wording import in_languages, wording_failures
from voirdire.construction.history import History, utc_now
from voirdire.construction.imaging.settings import TEXT
from voirdire.construction.regimes import Entry, further_ids
from voirdire.construction.same_answers import same_answers
from voirdire.construction.seen import seen_beside
from voirdire.corpus.corpus import Corpus, Note
from voirdire.corpus.equivalence import SECTION, equivalence_notes
from voirdire.corpus.folder import expand_corpus
from voirdire.corpus.frozen import ALLOWED, TABLES, allowed_notes, shown_digest
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.reading import read_corpus
from voirdire.corpus.screened import SECTION as SCREENING
from voirdire.corpus.screened import screening_notes
from voirdire.errors import InputError
from voirdire.exchange.release_tables import as_csv, pool_tables
from voirdire.exchange.told import check_pools, read_told
from voirdire.version import VERSION

if TYPE_CHECKING:
    from voirdire.analysis.profile import Profile

CHANGELOG, REPORT, VALIDITY = "CHANGELOG.md", "report.html", "validity"


@dataclass(frozen=True, slots=True)
class Written:
    """Tables and images in the folder, and what ``corpus.toml`` says until the corpus is frozen.

    top, parts : entries before the first table, and tables; counts : concepts, items, ratings
    failures : what the ratings say against the freeze; told : what its report tells too
    """

    top: Mapping[str, Any]
    parts: Mapping[str, Any]
    counts: Mapping[str, int]
    notes: tuple[Note, ...] = field(default=())
    failures: tuple[Failure, ...] = ()
    told: tuple[Note, ...] = ()


def write_tables(
    build: BuildFile,
    concepts: Concepts,
    history: History,
    inspected: Inspected,
    options: CorpusOptions,
    held: Path,
    regimes: Sequence[str],
) -> Written:
    """Write tables, images and a first ``corpus.toml``.

    options : with the ratings and how they are read; the items are those of the concepts
    regimes : whose images they are, the main one first
    Raises InputError for ratings of an item that is none of the concepts, and for what ``[release]`` and ``[[pool]]``
    of build.toml say that they cannot.
    """
    others = further_ids(Path(build.file).parent, (item.id for item in concepts.items), regimes[0])
    expanded = expand_corpus(options)
    read = _known(concepts, others, expanded, held)
    corpus = read_corpus(read, ())
    inspected = _with_same_answers(inspected, corpus, history)
    given, tables = _tables(read, corpus, inspected, held, regimes)
    tables["questions"], dropped = in_languages(tables["questions"], build.languages)
    for name in TABLES:
        if name in tables and tables[name].width:
            (held / f"{name}.csv").write_bytes(as_csv(tables[name]))
    top, parts = _manifest(build, read)
    places.write_manifest(held, top, parts)
    rated = tables["ratings"]
    _check_told(build, held, rated["pool"].drop_nulls().unique(maintain_order=True).to_list())
    seen = seen_beside(expanded, options.ratings)
    checked = inspect_rated(inspected.entries, inspected.images, seen, set(rated["item_id"]))
    aside = _aside(rated["item_id"], inspected, regimes)
    shown, lacking = demonstrations_of(inspected.items, corpus, build.splits.per_level)
    told = (*screening_notes(inspected.screening), *inspected.notes, *checked.notes, *lacking, *aside)
    left_out = _left_out(given["item_id"], inspected, others)
    counts = {"concepts": len({item.concept for item in inspected.items}), "items": len(inspected.entries)}
    parts |= _constructed(inspected, {"concepts": counts["concepts"]} | shown, regimes)
    named = [table for table in (tables["raters"], rated) if "rater_id" in table.columns]
    people = team_failures(build.authors, named)
    failures = (*checked.failures, *wording_failures(tables["questions"], build.languages, history), *people)
    return Written(top, parts, counts | {"ratings": rated.height}, (*left_out, *dropped, *told), failures, told)


def _with_same_answers(inspected: Inspected, corpus: Corpus, history: History) -> Inspected:
    """What is said of the screening, and of how many concepts the ratings are those by which they were screened."""
    same = same_answers(corpus.ratings, inspected.items, history)
    return replace(inspected, screening={**inspected.screening, "same_ratings": same}) if same else inspected


def _tables(
    read: CorpusOptions, corpus: Corpus, inspected: Inspected, held: Path, regimes: Sequence[str]
) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """The ratings as they were given, and the tables that are frozen; the images are copied."""
    tables = dict(pool_tables(read).tables)
    given = tables["ratings"]
    tables["ratings"] = given.filter(pl.col("item_id").is_in([entry.id for entry in inspected.entries]))
    who = tables["ratings"].select("rater_id").unique()
    tables["raters"] = tables["raters"].join(who, on="rater_id", how="semi")
    tables["items"] = item_table(inspected.entries, places.copy_images(inspected.images, held), regimes)
    tables["questions"] = question_table(corpus, tables.get("questions"))
    return given, tables


def _constructed(inspected: Inspected, said: Mapping[str, Any], regimes: Sequence[str]) -> dict[str, Any]:
    """What ``corpus.toml`` says of how the corpus was built; said : of its concepts and demonstrations."""
    told: dict[str, Any] = {**said, "rejected": len(inspected.rejected)}
    if regimes[1:] or TEXT in regimes:
        told["regimes"] = list(regimes)
    return {SECTION: dict(inspected.equivalence), SCREENING: dict(inspected.screening), "construction": told}


def _known(concepts: Concepts, others: Iterable[str], options: CorpusOptions, held: Path) -> CorpusOptions:
    """The ratings as they are read: of the items of the concepts, and of what other regimes show of them."""
    every = held / "items.csv"
    ids = [*(item.id for item in concepts.items), *others]
    pl.DataFrame({"item_id": ids}, schema={"item_id": pl.String}).write_csv(every)
    return replace(options, items=every)


def _left_out(rated: pl.Series, inspected: Inspected, others: Mapping[str, str]) -> list[Note]:
    """Ratings of rejected concepts, and of images that are not frozen; rated : the item of every rating."""
    items = {item.id for item in inspected.items}
    gone = rated.filter(~rated.is_in([entry.id for entry in inspected.entries]))
    rejected = sum(others.get(item, item) not in items for item in gone)
    found = {"freeze.note.left_out": rejected, "regimes.note.not_frozen": len(gone) - rejected}
    return [Note(key, {"count": count}, "warning") for key, count in found.items() if count]


def _aside(rated: pl.Series, inspected: Inspected, regimes: Sequence[str]) -> list[Note]:
    """What does not count in the check of the pools, where there are images of further regimes."""
    further = [entry.id for entry in inspected.entries if entry.counterpart]
    if not further:
        return []
    told = {"main": regimes[0], "others": ", ".join(regimes[1:]), "items": len(further)}
    return [Note("regimes.note.main", {**told, "ratings": int(rated.is_in(further).sum())})]


def _check_told(build: BuildFile, held: Path, pools: list[str]) -> None:
    """Raise InputError, naming build.toml, for what ``[release]`` and ``[[pool]]`` cannot say."""
    try:
        check_pools(read_told(held), pools, held)
    except InputError as error:
        raise InputError(error.key, **{**error.fields, "file": build.file}) from error


def item_table(entries: Sequence[Entry], images: Mapping[str, str], regimes: Sequence[str]) -> pl.DataFrame:
    """The items: id, pair, culture, category, split, image or text, questions and descriptions by language.

    images : id of an entry -> its file; regimes : with several there are columns ``regime`` and ``counterpart``
    A description is of the image of the main regime, so those of further ones have none.
    """
    rows = []
    for one in entries:
        item = one.item
        row: dict[str, str | None] = {"item_id": one.id, "pair_id": item.concept, "culture": item.culture}
        row |= {"category": item.category, "split": item.split or None}
        if regimes[1:]:
            row |= {"regime": one.regime, "counterpart": one.counterpart or None}
        row |= {"text": item.realisation} if one.regime == TEXT else {"image": images.get(one.id)}
        row |= {f"prompt.{language}": told for language, told in item.prompts.items()}
        described = {} if one.counterpart or one.regime == TEXT else item.alts
        rows.append(row | {f"alt.{language}": told for language, told in described.items()})
    columns = dict.fromkeys(name for row in rows for name in row)
    table = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String))
    return table.select(name for name in table.columns if table[name].null_count() < table.height)


def question_table(corpus: Corpus, declared: pl.DataFrame | None) -> pl.DataFrame:
    """The questions that were rated, each with its scale as it was read; further columns as they were declared."""
    rows = []
    for question in corpus.questions:
        scale = question.scale
        row: dict[str, Any] = {"question": question.id, "role": question.role, "level": scale.level}
        row |= {f"text.{language}": told for language, told in question.text.items()}
        if not scale.labels:
            row |= {"min": scale.low, "max": scale.high}
        row |= {"labels": "|".join(scale.labels) or None, "positive": scale.positive}
        rows.append(row | {"missing": "|".join(scale.missing) or None})
    made = pl.DataFrame(rows, infer_schema_length=None)
    if declared is not None:
        further = [name for name in declared.columns if name not in made.columns and name != "text"]
        made = made.join(declared.select("question", *further), on="question", how="left")
    return made.select(name for name in made.columns if made[name].null_count() < made.height)


def finish(
    written: Written,
    release: Release,
    argument: tuple[Validity, Profile],
    history: History,
    held: Path,
    lang: str,
) -> Release:
    """Write report, changelog and the ``corpus.toml`` of a frozen corpus; the release with its digest."""
    from voirdire.judging.material import read_material

    validity, profile = argument
    material = read_material(held).digest
    digests = places.digests_of(held)
    shown = shown_digest(material, places.image_digests(digests))
    release = replace(release, at=utc_now().isoformat(timespec="seconds"), tables=places.table_digests(digests, TABLES))
    allowed = tuple(release.allowed.items())
    notes = (*allowed_notes(allowed), *equivalence_notes(written.parts[SECTION]), *written.told)
    _write_report(profile, held, release, notes, lang)
    log = changelog(str(written.top["name"]), (*releases(history), release), lang)
    (held / CHANGELOG).write_text(log, encoding="utf-8", newline="\n")
    told = {"version": release.version, "at": release.at, "shown": shown, "material": material, "voirdire": VERSION}
    parts = {**written.parts, "validity": validity.as_dict()}
    parts[ALLOWED] = [{"check": check, "reason": reason} for check, reason in allowed]
    parts = places.set_digests(parts, told, places.digests_of(held))
    digest = places.write_manifest(held, {**written.top, "version": release.version}, parts)
    return replace(release, digest=digest)


def _manifest(build: BuildFile, read: CorpusOptions) -> tuple[dict[str, Any], dict[str, Any]]:
    top: dict[str, Any] = {"name": build.name, "version": build.version, "languages": list(build.languages)}
    top |= {"licence": build.license or None, "simulated": read.simulated or None}
    told = {"missing_labels": list(read.missing_labels), "anonymous_raters": read.anonymous_raters}
    told = {name: value for name, value in told.items() if value}
    return top, {"read": told, "release": build.others.get("release", {}), "pool": build.others.get("pool", [])}


def _write_report(profile: Profile, held: Path, release: Release, added: tuple[Note, ...], lang: str) -> None:
    """The validity report as a page, and its numbers, with what was found while it was built before the notes."""
    from voirdire.reporting.assemble import build
    from voirdire.reporting.render import html

    notes = [{"key": note.key, "fields": dict(note.fields), "kind": note.kind} for note in added]
    intake = [{**entry, "file": Path(str(entry["file"])).name} for entry in profile.meta["intake"]]
    corpus = {"name": profile.meta["name"], "version": release.version}
    meta = {**profile.meta, "notes": [*notes, *profile.meta["notes"]], "intake": intake, "corpus": corpus}
    told = replace(profile, meta=meta, compared=None)  # the tables of the corpus lie beside it
    (held / REPORT).write_text(html(build(told, lang, held)), encoding="utf-8")
    told.save(held / VALIDITY)
