"""What models proposed, read from the ledger beside whoever writes it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from voirdire.construction.translation.plan import FORWARD, RUN
from voirdire.judging.reading import reading, steady
from voirdire.judging.run_folder import LEDGER, iso

_CELLS = """
SELECT i.facts, k.name, j.name, coalesce(o.status, 'pending'), coalesce(a.number, 0), a.at, a.text, a.note, g.served
FROM cell c JOIN item i ON i.id = c.item JOIN condition k ON k.id = c.condition JOIN judge j ON j.id = c.judge
  LEFT JOIN outcome o ON o.cell = c.id
  LEFT JOIN attempt a ON a.cell = c.id AND a.number = (SELECT max(b.number) FROM attempt b WHERE b.cell = c.id)
  LEFT JOIN origin g ON g.id = a.origin
ORDER BY a.at, c.id
"""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What became of asking a model for one translation.

    name : of the text; direction : forward or back; source : what was translated
    status : ok, refused, malformed, error, pending; text : the translation, where it is ok; why : else, untrusted
    model : as it was asked; served : as it says; at : when it answered
    """

    name: str
    direction: str
    source: str
    status: str
    model: str
    text: str = ""
    why: str = ""
    served: str = ""
    at: str = ""
    attempts: int = 0


@steady
def read_proposals(folder: Path | str) -> tuple[Proposal, ...]:
    """Everything that models were asked, the latest answer at the end; nothing where none was ever asked."""
    run = Path(folder) / RUN
    if not (run / LEDGER).is_file():
        return ()
    with reading(run) as db:
        return tuple(_proposal(row) for row in db.execute(_CELLS))


def newest(proposals: Iterable[Proposal], direction: str = FORWARD) -> dict[tuple[str, str], Proposal]:
    """(text, what was translated) -> the latest usable proposal of a direction, else the latest that there is.

    >>> good = Proposal("tea/prompt/zh", "forward", "Good?", "ok", "a/b", "好吗？")
    >>> bad = Proposal("tea/prompt/zh", "forward", "Good?", "refused", "c/d")
    >>> newest([good, bad])["tea/prompt/zh", "Good?"].text
    '好吗？'
    """
    found: dict[tuple[str, str], Proposal] = {}
    for one in proposals:
        key = (one.name, one.source)
        known = found.get(key)
        if one.direction == direction and (known is None or one.status == "ok" or known.status != "ok"):
            found[key] = one
    return found


def _proposal(row: tuple[object, ...]) -> Proposal:
    facts, direction, model, status, attempts, at, said, note, served = row
    told = json.loads(str(facts))
    good = status == "ok"
    why = "" if good else str(said or note or "")
    return Proposal(
        name=told["name"],
        direction=str(direction),
        source=told["source"],
        status=str(status),
        model=str(model),
        text=json.loads(str(said))["text"] if good else "",
        why=why,
        served=str(served or ""),
        at=iso(float(str(at))) if at else "",
        attempts=int(str(attempts)),
    )
