"""Replies that were received and are not safe in the ledger yet: what was paid for is never asked for again.

A reply is written down whole, in one step, before anybody looks at it, under the id of its call
(``<run>-<cell>-<attempt>``). After a kill the same cell is asked with the same id, and finds its reply here.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from voirdire.construction.imaging.files import write_through
from voirdire.judging.batching.book import sync_to_disk
from voirdire.judging.ledger import Ledger

REPLIES = "replies"
ENDING = ".reply"
TOGETHER = 8
"""Replies that are let go at once, after one flush of the ledger."""

_CALL = re.compile(r"[0-9a-f]+-(\d+)-(\d+)")


class Shelf:
    """The replies of a run folder; price : dollars that are set aside for a call, or None."""

    def __init__(self, run: Path, price: float | None = None) -> None:
        self.price = price
        self.folder = run / REPLIES
        self.folder.mkdir(parents=True, exist_ok=True)
        self._done: list[str] = []

    def find(self, call_id: str) -> tuple[int, bytes] | None:
        """Status and body of a call's reply, or None."""
        path = self._path(call_id)
        try:
            head, _, body = path.read_bytes().partition(b"\n")
        except FileNotFoundError:
            return None
        return int(json.loads(head)["status"]), body

    def keep(self, call_id: str, status: int, body: bytes) -> None:
        """Write a reply down; it is safe when this returns."""
        head = json.dumps({"call": call_id, "status": status, "dollars": self.price or 0.0})
        write_through(self._path(call_id), head.encode() + b"\n" + body)

    def done(self, call_id: str, ledger: Path) -> None:
        """What came of a call is committed to the ledger: its reply can go, a few at a time."""
        self._done.append(call_id)
        if len(self._done) >= TOGETHER:
            self.flush(ledger)

    def flush(self, ledger: Path) -> None:
        """Let go of the replies of all calls that are done, once the ledger has reached the disk."""
        if not self._done:
            return
        sync_to_disk(ledger)
        for call_id in self._done:
            self._path(call_id).unlink(missing_ok=True)
        self._done.clear()

    def sweep(self, ledger: Ledger) -> dict[str, float]:
        """At the begin of a session: let go of replies that the ledger knows.

        Gives the calls that are left to be taken up, each with the dollars that were set aside for it.
        """
        with ledger.writing() as db:
            known = set(db.execute("SELECT cell, number FROM attempt").fetchall())
        left: dict[str, float] = {}
        for path in self.folder.glob(f"*{ENDING}"):
            found = _CALL.fullmatch(path.name.removesuffix(ENDING))
            if found is not None and (int(found[1]), int(found[2])) not in known:
                with path.open("rb") as file:
                    left[found[0]] = float(json.loads(file.readline())["dollars"])
                continue
            path.unlink()
        for path in self.folder.glob(".*"):
            path.unlink()
        return left

    def _path(self, call_id: str) -> Path:
        if not _CALL.fullmatch(call_id):
            raise ValueError(call_id)
        return self.folder / f"{call_id}{ENDING}"
