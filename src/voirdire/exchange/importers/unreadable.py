"""What is said of an import that cannot go on: the folder could not be read, or nothing in the export can be taken.

The reader of an audit names files and options of its own; here they are named as the import has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from voirdire.errors import InputError, VoirdireError
from voirdire.exchange.importers.account import Account
from voirdire.tables import read_table
from voirdire.texts import has, text

REWORDED = ("bytes_utf16", "bytes_not_encoding")
"""Errors about a file of the user whose advice names an option that an import does not have."""


THEIRS = {"item": "item_id", "rater": "rater_id", "question": "question"}


class UnreadableError(InputError):
    """What the reader of an audit says of the folder that would have been written, and how to mend it here.

    Its fields are those of the reader's error, with paths of the folder that the user asked for, and item, rater and
    question of the answer in the row that it names, as ``their_item``, ``their_rater`` and ``their_question``.
    """

    reader = ""
    table = ""

    @classmethod
    def of(cls, reader: VoirdireError, folder: Path, shown: Path) -> UnreadableError:
        """The error for a folder that is not in its place yet."""
        table = _table_of(str(reader.fields.get("file", "")), folder)
        answer = _answer(reader, folder) if table == "ratings" else {}
        fields = {name: _moved(value, folder, shown) for name, value in reader.fields.items()}
        error = cls("importing.unreadable", **fields, **answer)
        error.reader, error.table = reader.key, table
        return error

    def message(self, lang: str = "en") -> str:
        """The reader's sentence, the answer that it speaks of, and our own."""
        ours = f"importing.reader.{self.reader.rpartition('.')[2]}"
        fields = dict(self.fields)
        if self.table:
            fields["file"] = text(f"importing.table.{self.table}", lang)
        why = text(ours if has(ours, lang) else self.reader, lang, **fields)
        answer = text("importing.answer", lang, **fields) if "their_item" in fields else ""
        name = fields.get("question", fields.get("their_question", "rating"))
        return text(self.key, lang, why=why, answer=answer, name=name)


class NothingTakenError(InputError):
    """No answer of an export can be taken: its file, and what was left out for which reason."""

    left: Mapping[str, int] = {}

    @classmethod
    def of(cls, file: str, account: Account) -> NothingTakenError:
        """The error, with the reckoning so far."""
        error = cls("importing.nothing_taken", file=file, read=account.answers)
        error.left = dict(account.counts)
        return error

    def message(self, lang: str = "en") -> str:
        """The sentence, with a reckoning where anything was read."""
        if not self.left:
            return text("importing.nothing_read", lang, **self.fields)
        reasons = [(count, text(key, lang) if has(key, lang) else key) for key, count in self.left.items()]
        parts = [text("importing.left_for", lang, count=count, reason=reason) for count, reason in reasons]
        return text(self.key, lang, **self.fields, reasons="; ".join(parts))


def reworded(error: VoirdireError) -> VoirdireError:
    """An error about a file that was given, with advice that an import can follow.

    >>> reworded(InputError("input.bytes_utf16", file="a.csv")).key
    'importing.bytes_utf16'
    """
    part, _, name = error.key.partition(".")
    return InputError(f"importing.{name}", **error.fields) if part == "input" and name in REWORDED else error


def _table_of(file: str, folder: Path) -> str:
    """The table of the folder that a file is, by its name; empty for another file."""
    path = Path(file)
    name = path.name.partition(".")[0]
    return name if path.parent == folder and has(f"importing.table.{name}") else ""


def _answer(reader: VoirdireError, folder: Path) -> dict[str, str]:
    """Item, rater and question of the row that an error names."""
    ratings = read_table(folder / "ratings.csv")
    row = reader.fields.get("row")
    index = next((n for n in range(ratings.frame.height) if ratings.row(n) == row), None)
    if index is None:
        return {}
    found = ratings.frame.row(index, named=True)
    return {f"their_{name}": found[column] for name, column in THEIRS.items()}


def _moved(value: object, folder: Path, shown: Path) -> object:
    return value.replace(str(folder), str(shown)) if isinstance(value, str) else value
