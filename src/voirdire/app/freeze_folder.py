"""What stands in the folder of a frozen corpus: tables, images, report, changelog and ``corpus.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.construction.build_file import BuildFile
from voirdire.construction.concepts import ConceptItem, Concepts
from voirdire.construction.freezing import folder as places
from voirdire.construction.freezing.inspecting import Inspected
from voirdire.construction.freezing.validity import Validity
from voirdire.construction.freezing.versions import Release, changelog, releases
from voirdire.construction.history import History, utc_now
from voirdire.corpus.corpus import Corpus, Note
from voirdire.corpus.equivalence import SECTION, equivalence_notes
from voirdire.corpus.folder import expand_corpus
from voirdire.corpus.frozen import ALLOWED, TABLES, allowed_notes, shown_digest
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.reading import read_corpus
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
    """

    top: Mapping[str, Any]
    parts: Mapping[str, Any]
    counts: Mapping[str, int]
    notes: tuple[Note, ...] = field(default=())


def write_tables(
    build: BuildFile, concepts: Concepts, inspected: Inspected, options: CorpusOptions, held: Path
) -> Written:
    """Write tables, images and a first ``corpus.toml``.

    options : with the ratings and how they are read; the items are those of the concepts
    Raises InputError for ratings of an item that is none of the concepts, and for what ``[release]`` and ``[[pool]]``
    of build.toml say that they cannot.
    """
    every = held / "items.csv"
    item_table(concepts.items, {}).write_csv(every)
    read = replace(expand_corpus(options), items=every)
    tables = dict(pool_tables(read).tables)
    kept = [item.id for item in inspected.items]
    rated = tables["ratings"].filter(pl.col("item_id").is_in(kept))
    left_out = tables["ratings"].height - rated.height
    tables["ratings"] = rated
    tables["raters"] = tables["raters"].join(rated.select("rater_id").unique(), on="rater_id", how="semi")
    tables["items"] = item_table(inspected.items, places.copy_images(inspected.images, held))
    tables["questions"] = question_table(read_corpus(read, ()), tables.get("questions"))
    for name in TABLES:
        if name in tables and tables[name].width:
            (held / f"{name}.csv").write_bytes(as_csv(tables[name]))
    top, parts = _manifest(build, read)
    places.write_manifest(held, top, parts)
    _check_told(build, held, rated["pool"].drop_nulls().unique(maintain_order=True).to_list())
    counts = {"concepts": len({item.concept for item in inspected.items}), "items": len(kept), "ratings": rated.height}
    notes = (Note("freeze.note.left_out", {"count": left_out}, "warning"),) if left_out else ()
    parts[SECTION] = dict(inspected.equivalence)
    parts["construction"] = {"concepts": counts["concepts"], "rejected": len(inspected.rejected)}
    return Written(top, parts, counts, notes)


def _check_told(build: BuildFile, held: Path, pools: list[str]) -> None:
    """Raise InputError, naming build.toml, for what ``[release]`` and ``[[pool]]`` cannot say."""
    try:
        check_pools(read_told(held), pools, held)
    except InputError as error:
        raise InputError(error.key, **{**error.fields, "file": build.file}) from error


def item_table(items: tuple[ConceptItem, ...], images: Mapping[str, str]) -> pl.DataFrame:
    """The items: id, pair, culture, category, split, image, questions and descriptions by language."""
    rows = []
    for item in items:
        row: dict[str, str | None] = {"item_id": item.id, "pair_id": item.concept, "culture": item.culture}
        row |= {"category": item.category, "split": item.split or None, "image": images.get(item.id)}
        row |= {f"prompt.{language}": told for language, told in item.prompts.items()}
        rows.append(row | {f"alt.{language}": told for language, told in item.alts.items()})
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
    notes = (*allowed_notes(allowed), *equivalence_notes(written.parts[SECTION]))
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
    told = replace(profile, meta=meta)
    (held / REPORT).write_text(html(build(told, lang, held)), encoding="utf-8")
    told.save(held / VALIDITY)
