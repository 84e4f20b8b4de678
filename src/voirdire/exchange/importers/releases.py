"""The four forms of a release as importers: taken back unchanged, known by their corpus.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

from voirdire.exchange.croissant import read_croissant
from voirdire.exchange.hf import read_hf
from voirdire.exchange.importers.contract import NO, YES, Importer, Recognise, Recognition, TakeBack
from voirdire.exchange.importing import read_csv, read_parquet
from voirdire.exchange.manifest import MARK
from voirdire.exchange.told import MANIFEST


def _recognise(form: str) -> Recognise:
    def recognise(path: Path) -> Recognition:
        try:
            settings = tomllib.loads((path / MANIFEST).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return NO
        exported = settings.get(MARK)
        return YES if isinstance(exported, dict) and exported.get("format") == form else NO

    return recognise


def _release(form: str, take_back: TakeBack) -> Importer:
    return Importer(form, f"importing.title.{form}", _recognise(form), take_back=take_back, side="release")


CSV = _release("csv", read_csv)
PARQUET = _release("parquet", read_parquet)
HF = _release("hf", read_hf)
CROISSANT = _release("croissant", read_croissant)
