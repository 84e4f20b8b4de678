"""What is known of raters as JSON: an object of rater id -> attributes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.exchange.importers.cells import frame
from voirdire.exchange.importers.records import read_text
from voirdire.tables import Table

_TRAILING = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.S)


def read_objects(path: Path) -> dict[str, dict[str, Any]]:
    """Rater -> attributes. A comma before a closing bracket is passed over: published files have some.

    Raises InputError for a file that is no JSON, or no object of objects.

    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "people.json"
    >>> _ = file.write_text('{"Ann1": {"Age": "22",}}')
    >>> read_objects(file)
    {'Ann1': {'Age': '22'}}
    """
    text = read_text(path)
    try:
        found = json.loads(_TRAILING.sub(lambda match: match[1] or "", text))
    except (ValueError, RecursionError) as error:
        line, why = getattr(error, "lineno", 1), getattr(error, "msg", str(error))
        value = text.split("\n")[line - 1].strip()[:60]
        raise InputError("research.people.broken", file=str(path), line=line, why=why, value=value) from error
    if not isinstance(found, dict) or not all(isinstance(known, dict) for known in found.values()):
        raise InputError("research.people.shape", file=str(path))
    return found


def objects_table(path: Path) -> Table:
    """The same as a table with the ids in ``rater_id``."""
    rows = [{"rater_id": rater, **known} for rater, known in read_objects(path).items()]
    return Table(frame(rows, ("rater_id",)), str(path), "")
