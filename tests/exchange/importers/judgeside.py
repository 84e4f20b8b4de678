"""What the tests of judgments' importers share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.contract import Importer, ImportOptions, Tables

DATA = Path(__file__).parent / "data"
CELL = ("item_id", "judge", "condition", "question", "repeat", "rating", "status")


def read(importer: Importer, *files: Path, **options: Any) -> tuple[Tables, Account]:
    """What an importer gives, once its reckoning was found to be even."""
    assert importer.read is not None
    account = Account(skip_broken=options.get("skip_broken", False))
    made = importer.read(files, ImportOptions(**options), account)
    assert account.balanced
    return made, account


def rows(made: Tables, columns: Sequence[str] = CELL) -> list[tuple[Any, ...]]:
    """The judgments, in the columns that are named."""
    assert made.judgments is not None
    return made.judgments.select(columns).rows()
