"""A release described in Croissant 1.1, with the fields of its extension for responsible AI (RAI 1.0).

Sources: MLCommons, Croissant Format Specification 1.1 (2026); MLCommons, Croissant RAI Specification 1.0 (2024).
What corpus.toml does not tell has no field: nothing is made up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.exchange.croissant_rai import rai_fields
from voirdire.exchange.datasheet import datasheet, title_of
from voirdire.exchange.facts import facts_of
from voirdire.exchange.importing import one_folder, parquet, take_back
from voirdire.exchange.manifest import README, file_digest, read_manifest, write_manifest
from voirdire.exchange.release import Release
from voirdire.exchange.release_images import write_images
from voirdire.exchange.release_tables import as_csv
from voirdire.exchange.tabular import table_path, write_tables
from voirdire.texts import text

FILE = "croissant.json"
CORE, RAI = "http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"
KINDS: Mapping[Any, str] = {pl.Int64: "sc:Integer", pl.Float64: "sc:Float", pl.Boolean: "sc:Boolean"}
KEYS: Mapping[str, Sequence[str]] = {
    "items": ("item_id",),
    "questions": ("question",),
    "raters": ("rater_id",),
    "judges": ("judge",),
    "conditions": ("condition",),
}
LICENCES = "https://spdx.org/licenses/"
SPDX = (
    "CC0-1.0", "CC-BY-2.0", "CC-BY-2.5", "CC-BY-3.0", "CC-BY-4.0", "CC-BY-SA-2.0", "CC-BY-SA-2.5", "CC-BY-SA-3.0",
    "CC-BY-SA-4.0", "CC-BY-NC-2.0", "CC-BY-NC-3.0", "CC-BY-NC-4.0", "CC-BY-ND-4.0", "CC-BY-NC-SA-2.0",
    "CC-BY-NC-SA-3.0", "CC-BY-NC-SA-4.0", "CC-BY-NC-ND-3.0", "CC-BY-NC-ND-4.0", "ODbL-1.0", "ODC-By-1.0", "PDDL-1.0",
    "CDLA-Permissive-1.0", "CDLA-Permissive-2.0", "CDLA-Sharing-1.0", "Apache-2.0", "MIT", "ISC", "0BSD",
    "BSD-2-Clause", "BSD-3-Clause", "Unlicense", "MPL-2.0", "EUPL-1.2", "MulanPSL-2.0", "GPL-2.0-only",
    "GPL-2.0-or-later", "GPL-3.0-only", "GPL-3.0-or-later", "LGPL-3.0-only", "LGPL-3.0-or-later", "AGPL-3.0-only",
    "AGPL-3.0-or-later",
)  # fmt: skip
"""Licences of the SPDX list that data and programs go out under; of any other the words are given, and no address."""


def write_croissant(release: Release, folder: Path, lang: str = "en") -> None:
    """Write a release into an empty folder: Parquet tables, images, croissant.json, README.md and corpus.toml."""
    write_tables(release, folder, "parquet")
    write_images(release.images, folder)
    described = json.dumps(croissant(release, folder, lang), ensure_ascii=False, indent=2) + "\n"
    (folder / FILE).write_text(described, encoding="utf-8", newline="\n")
    (folder / README).write_text(datasheet(release, lang, "croissant"), encoding="utf-8", newline="\n")
    write_manifest(release, folder, "croissant")


def read_croissant(files: Sequence[Path], folder: Path) -> None:
    """Take a Croissant release back, as csv; the folder or its croissant.json is given."""
    given = [path.parent if path.name == FILE else path for path in files]
    release = one_folder(given, "croissant")
    take_back(release, folder, read_manifest(release, "croissant"), lambda _, path: as_csv(parquet(path)), "parquet")


def croissant(release: Release, folder: Path, lang: str = "en") -> dict[str, Any]:
    """The document that describes a release whose files lie in a folder."""
    told = release.told
    facts = facts_of(release)
    described = told.of("description", lang) or text("datasheet.undescribed", lang, items=facts.items)
    document: dict[str, Any] = {
        "@context": {**CONTEXT, "@language": lang},
        "@type": "sc:Dataset",
        "conformsTo": [CORE, RAI],
        "name": title_of(release, lang),
        "alternateName": told.name,
        "description": described,
        "license": _licence(told.licence),
        "version": _version(told.version),
        "url": told.of("url", lang),
        "citeAs": told.of("citation", lang),
        "datePublished": told.of("published", lang),
        "creator": [{"@type": "sc:Person", "name": name} for name in told.release.get("authors", [])],
        "inLanguage": list(facts.languages),
        "keywords": ["LLM-as-a-judge", "human ratings", *(["simulated"] if told.simulated else [])],
        "isLiveDataset": False,
    }
    document |= rai_fields(release, facts, lang)
    document["distribution"] = _distribution(release, folder, lang)
    document["recordSet"] = [_records(name, release, lang) for name in release.tables] + _image_records(release)
    return {name: value for name, value in document.items() if value not in ("", [], None)}


def _licence(licence: str | None) -> str | None:
    """The address of a licence that SPDX knows, else the words."""
    known = next((name for name in SPDX if licence and name.casefold() == licence.strip().casefold()), None)
    return f"{LICENCES}{known}" if known else licence


def _version(version: str) -> str:
    """A version in three parts, as Croissant wants it; a date or a word stays as it is."""
    return version + ".0" * (2 - version.count(".")) if re.fullmatch(r"\d+(\.\d+)?", version) else version


def _distribution(release: Release, folder: Path, lang: str) -> list[dict[str, Any]]:
    files: list[dict[str, Any]] = []
    for name in release.tables:
        path = table_path(name, "parquet")
        files.append(
            {
                "@type": "cr:FileObject",
                "@id": f"{name}-file",
                "name": f"{name}-file",
                "description": text(f"datasheet.table.{name}", lang),
                "contentUrl": path,
                "contentSize": f"{(folder / path).stat().st_size} B",
                "encodingFormat": "application/x-parquet",
                "sha256": file_digest(folder / path).removeprefix("sha256:"),
            }
        )
    kinds = sorted({image.media_type for image in release.images})
    if kinds:
        formats = kinds[0] if len(kinds) == 1 else kinds
        described: dict[str, Any] = {"name": "image-files", "encodingFormat": formats, "includes": _patterns(release)}
        files.append({"@type": "cr:FileSet", "@id": "image-files", **described})
    return files


def _patterns(release: Release) -> list[str]:
    """Patterns that take every image, whatever the depth of its folder."""
    depths = {image.path.count("/") for image in release.images}
    return ["/".join(["images", *["*"] * depth]) for depth in sorted(depths)]


def _records(name: str, release: Release, lang: str) -> dict[str, Any]:
    frame = release.tables[name]
    fields = [_field(name, column, frame, release) for column in frame.columns]
    record: dict[str, Any] = {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": text(f"datasheet.table.{name}", lang),
    }
    key = [column for column in KEYS.get(name, ()) if frame[column].n_unique() == frame.height]
    return record | ({"key": {"@id": f"{name}/{key[0]}"}} if key else {}) | {"field": fields}


def _field(name: str, column: str, frame: pl.DataFrame, release: Release) -> dict[str, Any]:
    source = {"fileObject": {"@id": f"{name}-file"}, "extract": {"column": column}}
    field: dict[str, Any] = {"@type": "cr:Field", "@id": f"{name}/{column}", "name": column}
    field |= {"dataType": KINDS.get(frame[column].dtype, "sc:Text"), "source": source}
    home = next((table for table, keys in KEYS.items() if column in keys and table != name), None)
    if home is not None and home in release.tables and column in release.tables[home].columns:
        field["references"] = {"field": {"@id": f"{home}/{column}"}}
    return field


def _image_records(release: Release) -> list[dict[str, Any]]:
    if not release.images:
        return []
    fields = []
    for name, kind, extract in (("path", "sc:Text", "fullpath"), ("content", "sc:ImageObject", "content")):
        source = {"fileSet": {"@id": "image-files"}, "extract": {"fileProperty": extract}}
        fields.append({"@type": "cr:Field", "@id": f"images/{name}", "name": name, "dataType": kind, "source": source})
    record = {"@type": "cr:RecordSet", "@id": "images", "name": "images", "key": {"@id": "images/path"}}
    return [record | {"field": fields}]


CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The recommended context of Croissant 1.1 (appendix 1)."""
