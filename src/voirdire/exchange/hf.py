"""A release as a Hugging Face data set: a configuration a table, images inside the items, a card.

The folder loads with ``datasets.load_dataset(folder, "ratings")`` and can be pushed to the Hub as it is. Tables of
items and of what is said of them have a split for each value of the items' ``split``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from voirdire.errors import InputError
from voirdire.exchange.card import card
from voirdire.exchange.importing import (
    finish,
    images_of,
    keep_image,
    keep_table,
    one_folder,
    parquet,
)
from voirdire.exchange.manifest import README, read_manifest, write_manifest
from voirdire.exchange.ordering import BY_ITEM, SPLITS, partition, ranked_splits
from voirdire.exchange.release import Release
from voirdire.exchange.release_images import ReleaseImage, read_image
from voirdire.exchange.release_tables import as_csv
from voirdire.exchange.tabular import as_parquet

DATA = "data"
SPLIT_NAME = re.compile(r"\w+")
"""What ``datasets`` takes for the name of a split."""
SHARD_BYTES = 100 * 2**20
"""Images of a shard, before another one begins."""

IMAGE = pl.Struct({"bytes": pl.Binary, "path": pl.String})
"""How Hugging Face keeps an image in Parquet."""


def write_hf(release: Release, folder: Path, lang: str = "en") -> None:
    """Write a release into an empty folder: ``data/TABLE/SPLIT-00000-of-00001.parquet``, README.md and corpus.toml."""
    parts = {name: _written(name, release, folder) for name in release.tables}
    (folder / README).write_text(card(release, parts, lang), encoding="utf-8", newline="\n")
    write_manifest(release, folder, "hf", splits=ranked_splits(release.tables["items"]))


def read_hf(files: Sequence[Path], folder: Path) -> None:
    """Take a Hugging Face data set that ``write_hf`` wrote back as a corpus folder of csv and images.

    Raises InputError for a table or an image that is not the one that was released.
    """
    release = one_folder(files, "hf")
    settings = read_manifest(release, "hf")
    known = images_of(settings, release)
    splits = settings["exported"].get("splits")
    if not isinstance(splits, list) or not all(isinstance(one, str) and SPLIT_NAME.fullmatch(one) for one in splits):
        splits = [SPLITS[0]]
    for name in settings["contents"]:
        found = [_taken(path, name, folder, known) for path in _files(release, name, splits)]
        keep_table(name, as_csv(pl.concat(found)), folder, settings, release / DATA / name)
    lost = next((path for path in known if not (folder / path).is_file()), None)
    if lost is not None:
        raise InputError("release.image_differs", file=str(release), image=lost, known=known[lost])
    finish(release, folder, settings)


def _written(name: str, release: Release, folder: Path) -> dict[str, int]:
    """Write a table's files; split -> rows."""
    frame = release.tables[name]
    parts = partition(frame, release.tables["items"]) if name in BY_ITEM else {}
    parts = parts or {SPLITS[0]: frame}
    (folder / DATA / name).mkdir(parents=True)
    for split, part in parts.items():
        shards = list(_shards(part, release.images)) if name == "items" and release.images else [(0, part.height)]
        for number, (start, rows) in enumerate(shards):
            shard = part.slice(start, rows)
            shown = _with_images(shard, release.images) if name == "items" and release.images else shard
            path = folder / DATA / name / f"{split}-{number:05d}-of-{len(shards):05d}.parquet"
            as_parquet(shown, path, 100 if name == "items" else None)
    return {split: part.height for split, part in parts.items()}


def _shards(items: pl.DataFrame, images: Sequence[ReleaseImage]) -> Iterator[tuple[int, int]]:
    """First row and rows of every shard, so that none holds many more bytes of images than ``SHARD_BYTES``."""
    sizes = {image.path: image.source.stat().st_size for image in images}
    start, held = 0, 0
    for row, path in enumerate(items["image"]):
        held += sizes.get(path, 0)
        if held >= SHARD_BYTES:
            yield start, row + 1 - start
            start, held = row + 1, 0
    if start < items.height:
        yield start, items.height - start


def _with_images(items: pl.DataFrame, images: Sequence[ReleaseImage]) -> pl.DataFrame:
    by_path = {image.path: image for image in images}
    cells = [None if path is None else {"bytes": read_image(by_path[path]), "path": path} for path in items["image"]]
    return items.with_columns(pl.Series("image", cells, dtype=IMAGE))


def _files(release: Path, name: str, splits: Sequence[str]) -> list[Path]:
    """The files of a table, in the order of its rows. Raises InputError where there is none, or one is missing."""
    found = [path for split in splits for path in sorted((release / DATA / name).glob(f"{split}-*-of-*.parquet"))]
    if not found and SPLITS[0] not in splits:
        found = sorted((release / DATA / name).glob(f"{SPLITS[0]}-*-of-*.parquet"))
    if not found:
        raise InputError("release.table_missing", file=str(release / DATA / name), table=name)
    return found


def _taken(path: Path, name: str, folder: Path, known: Mapping[str, str]) -> pl.DataFrame:
    """A file's rows, with the paths of their images, which are written to the folder."""
    frame = parquet(path)
    if name != "items" or "image" not in frame.columns or not isinstance(frame["image"].dtype, pl.Struct):
        return frame
    cells = frame["image"].to_list()
    paths = [None if cell is None else cell.get("path") for cell in cells]
    for image, cell in zip(paths, cells, strict=True):
        if image is not None:
            keep_image(str(image), cell.get("bytes") or b"", folder, known.get(str(image), "-"), path)
    return frame.with_columns(pl.Series("image", paths, dtype=pl.String))
