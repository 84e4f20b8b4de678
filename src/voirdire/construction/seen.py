"""What people saw of an item when they rated it, screened it or decided on it, and whether it is still the same.

A mark is a digest of one part: a question or a description in a language (``prompt.en``, ``alt.zh``), the realisation,
the image in a regime (``image.generated``). What was empty then and is filled now is no change, as a translation is
filled in later; what was there and is another now, or is gone, is one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from voirdire.construction.concepts import ConceptItem
from voirdire.construction.imaging.files import image_file
from voirdire.construction.imaging.settings import REGIME
from voirdire.construction.regimes import regimes_in
from voirdire.corpus.folder import settings_of
from voirdire.corpus.frozen import CHANGED_ITEMS, PREFIX, RELEASED_IMAGES, file_digest
from voirdire.corpus.image_paths import IMAGES, stays_inside
from voirdire.corpus.itemtable import read_items
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.shown import UNKNOWN_LANGUAGE, WORDED, language_columns

Marks = Mapping[str, str]
"""Part -> digest."""

REALISATION, IMAGE = "realisation", "image"
LENGTH = 16
OTHERWISE = ""
"""The mark of what some raters saw otherwise: that of nothing that is there now."""


def mark(words: str) -> str:
    """The digest of a text.

    >>> mark("tea") == mark("tea "), len(mark("tea"))
    (False, 16)
    """
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:LENGTH]


def texts_of(item: ConceptItem) -> dict[str, str]:
    """The marks of what an item says."""
    found = {REALISATION: mark(item.realisation)} if item.realisation else {}
    found |= {f"prompt.{language}": mark(words) for language, words in item.prompts.items()}
    return found | {f"alt.{language}": mark(words) for language, words in item.alts.items()}


def now_of(folder: Path | str, items: Iterable[ConceptItem]) -> dict[str, dict[str, str]]:
    """Item id -> marks of its texts, and of its image in every regime of the folder.

    >>> now_of("nowhere", [ConceptItem("tea-us", "tea", "food", "us", "iced tea")])
    {'tea-us': {'realisation': '6b992344365af00c'}}
    """
    place = Path(folder)
    regimes = regimes_in(place)
    found = {}
    for item in items:
        files = {regime: image_file(place, regime, item.id) for regime in regimes}
        images = {f"{IMAGE}.{regime}": image_mark(file_digest(file)) for regime, file in files.items() if file}
        found[item.id] = texts_of(item) | images
    return found


def image_mark(digest: str) -> str:
    """The mark of an image, from the sha256 of its file.

    >>> image_mark("sha256:0123456789abcdef0123")
    '0123456789abcdef'
    """
    return digest.removeprefix(PREFIX)[:LENGTH]


def seen_beside(options: CorpusOptions, source: Any) -> dict[str, dict[str, str]]:
    """Item id -> marks of what raters saw, by the items table beside their ratings; empty where there is none.

    options : of an expanded folder; source : the ratings as they were given: where it is a folder, its ``corpus.toml``
        says in ``[images]`` which image was shown, or the image lies there; and ``[changed]`` says which items were
        changed while they were rated
    An image whose bytes nobody told has no mark.
    """
    if options.items is None:
        return {}
    folder = Path(source) if isinstance(source, str | Path) and Path(source).is_dir() else None
    told = {} if folder is None else settings_of(folder)
    images, others = (_table(told, name) for name in (RELEASED_IMAGES, CHANGED_ITEMS))
    frame = read_items(options, untested=()).frame
    columns = {kind: language_columns(frame.columns, kind) for kind in WORDED}
    found = {}
    for row in frame.iter_rows(named=True):
        marks: dict[str, str] = {}
        for kind, languages in columns.items():
            for language, column in languages.items():
                marks |= {_part(kind, language): mark(str(row[column]))} if row[column] else {}
        marks |= _image(str(row.get("image") or ""), images, folder)
        found[row["item_id"]] = _otherwise(marks, others.get(row["item_id"]))
    return found


def _table(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    told = settings.get(name, {})
    return told if isinstance(told, Mapping) else {}


def _part(kind: str, language: str) -> str:
    return REALISATION if kind == "text" else f"{kind}.{language}"


def _otherwise(marks: Mapping[str, str], columns: Any) -> dict[str, str]:
    """Marks without a digest for what was changed while it was rated: it is not known what all raters saw."""
    found = dict(marks)
    for column in columns if isinstance(columns, list) else ():
        kind, _, language = str(column).partition(".")
        if kind in WORDED:
            found[_part(kind, language or UNKNOWN_LANGUAGE)] = OTHERWISE
        elif kind == IMAGE:
            found |= dict.fromkeys([part for part in found if _is_image(part)] or [IMAGE], OTHERWISE)
    return found


def _image(path: str, told: Mapping[str, Any], folder: Path | None) -> dict[str, str]:
    """The mark of an image as ``[images]`` tells it, or of the file; under its regime where the path names one."""
    digest = str(told.get(path) or told.get(f"{IMAGES}/{path}") or "")
    if path and not digest and folder is not None and stays_inside(path) and (folder / path).is_file():
        digest = file_digest(folder / path)
    parts = Path(path).parts
    regime = parts[1] if len(parts) == 3 and parts[0] == IMAGES and REGIME.fullmatch(parts[1]) else ""
    return {f"{IMAGE}.{regime}" if regime else IMAGE: image_mark(digest)} if digest else {}


def changed(seen: Marks, now: Marks) -> tuple[str, ...]:
    """The parts that are other than they were seen.

    Images are compared by regime. One of a regime that was not seen is a change only where ``now`` has no image of one
    that was: a further regime beside it changes nothing. An image that nobody told of is passed over.

    >>> changed({"prompt.en": "a", "alt.en": "b"}, {"prompt.en": "a", "prompt.zh": "c"})
    ('alt.en',)
    >>> changed({"image.generated": "a"}, {"image.photographs": "b"})
    ('image.photographs',)
    >>> changed({"image.generated": "a"}, {"image.generated": "a", "image.photographs": "b"})
    ()
    """
    texts = {part: digest for part, digest in seen.items() if not _is_image(part)}
    found = [part for part, digest in texts.items() if not _same(part, digest, now)]
    return tuple(found + _other_images(seen, {part: digest for part, digest in now.items() if _is_image(part)}))


def _other_images(seen: Marks, images: Marks) -> list[str]:
    if not any(map(_is_image, seen)):
        return []
    known = [part for part in images if part in seen]
    if known:
        return [part for part in known if images[part] != seen[part]]
    return [] if seen.get(IMAGE) in images.values() else list(images)


def over(now: Marks, seen: Marks) -> dict[str, str]:
    """What was seen, with texts that were empty then as they are now; images of now only where ``seen`` is not told.

    >>> over({"prompt.en": "b", "prompt.zh": "c", "image.generated": "d"}, {"prompt.en": "a"})
    {'prompt.en': 'a', 'prompt.zh': 'c'}
    """
    return {part: digest for part, digest in now.items() if not _is_image(part)} | dict(seen)


def knows_image(seen: Marks) -> bool:
    """Whether it is known which image was seen."""
    return any(map(_is_image, seen))


def _is_image(part: str) -> bool:
    return part.partition(".")[0] == IMAGE


def _same(part: str, digest: str, now: Marks) -> bool:
    kind, _, language = part.partition(".")
    if language == UNKNOWN_LANGUAGE:
        return any(known == digest for name, known in now.items() if name.startswith(f"{kind}."))
    return now.get(part) == digest
