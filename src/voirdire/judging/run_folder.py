"""The folder of a run: its lock, its ledger, and what it was begun with.

::

    RUN/
      ledger.sqlite        every attempt and outcome
      run.lock             held while a process writes; holds its process id
      run.toml             what was asked of whom
      judgments.parquet, judges.csv, conditions.csv    the exported tables, read by ``voirdire audit``
"""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import IO, Any, Self

from voirdire.errors import InputError, UsageError
from voirdire.judging.ledger import NOUNS, Ledger
from voirdire.judging.nouns import Judge, RunStopped
from voirdire.judging.plan import Plan, joined
from voirdire.judging.toml_text import toml_text
from voirdire.version import VERSION

LEDGER = "ledger.sqlite"
LOCK = "run.lock"
MANIFEST = "run.toml"
NO_PRICES: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
LOOKING = 0.1
"""Seconds between tries for the lock: who only looks whether it is held, holds it for an instant."""
ALLOWED = frozenset({LEDGER, f"{LEDGER}-wal", f"{LEDGER}-shm", LOCK, MANIFEST})
"""What a folder may hold that becomes a run: nothing else, so that no other folder is written into by mistake."""


class RunFolder:
    """A run, open for writing by this process alone.

    Raises UsageError where another process writes to it, where the path is a file, and where the folder holds files
    but no run.

    >>> import tempfile
    >>> with RunFolder(Path(tempfile.mkdtemp()) / "run") as folder:
    ...     len(folder.ledger.run_id)
    8
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        _check(path)
        path.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(path)
        self.stopped: RunStopped | None = None
        try:
            self.ledger = Ledger(path / LEDGER)
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close; a session that ended by itself says so in the ledger, with ``stopped`` where cells are pending."""
        if error is None or isinstance(error, RunStopped):
            with suppress(RunStopped, sqlite3.Error):
                self.ledger.end(error or self.stopped)
        self.close()

    def close(self) -> None:
        """Close the ledger and give the lock back."""
        self.ledger.close()
        self._lock.close()

    def register(
        self,
        plan: Plan,
        judges: Sequence[Judge],
        *,
        prices: Mapping[str, Mapping[str, Any]] = NO_PRICES,
        budget: float | None = None,
    ) -> None:
        """Bind a plan to this run and write down what is new in it.

        prices : judge -> what its tokens cost in this session; they may be others in the next one, so each session
            keeps its own
        budget : US dollars that the run may cost in all, as this session was told

        Items, judges, conditions, questions and repeats may be added to an earlier plan, or left out (what is left
        out stays and is not asked). Raises InputError where one that was planned before has changed since, or where
        the seed, or what demonstrations are drawn from, is another: their judgments would not belong together. A
        judge that never replied may change: a wrong parameter, a bug in a function can be mended.
        """
        settings = {judge.name: judge.settings for judge in judges}
        draws = plan.draws_digest()
        self.bind(
            plan.nouns(settings),
            repeats=plan.repeats,
            meta={"corpus": plan.material.name, "grid": plan.grid.name},
            same={"draws": draws, "seed": str(plan.seed)} if draws else {},
            session=_session(plan) | {"prices": dict(prices), "budget": budget},
        )
        plan.run_id = self.ledger.run_id
        write_whole(self.path / MANIFEST, toml_text(manifest(plan, settings, prices, self.ledger)))

    def bind(
        self,
        nouns: Mapping[str, Sequence[tuple[str, str, str]]],
        *,
        repeats: int,
        meta: Mapping[str, str],
        same: Mapping[str, str],
        session: Mapping[str, Any],
    ) -> None:
        """Write down what is planned, unless it contradicts what was planned before.

        nouns : (name, digests by part, facts as JSON) of every item, question, condition and judge, in order
        meta : facts about the run; same : further ones, which an earlier plan must share
        session : what is kept of this session alone
        """
        for noun in NOUNS:
            self._refuse_changes(noun, nouns[noun])
        for key, value in same.items():
            self._refuse_other(key, value)
        kept = {noun: self._with_earlier(noun, rows) for noun, rows in nouns.items()}
        self.ledger.register(kept, repeats=repeats, meta={**meta, **same}, session=json.dumps(dict(session)))

    def _refuse_changes(self, noun: str, planned: Iterable[tuple[str, str, str]]) -> None:
        known = self.ledger.known(noun)
        if noun == "judge":
            answered = self.ledger.answered()
            known = {name: digest for name, digest in known.items() if name in answered}
        changed = [(name, what) for name, digest, _ in planned if (what := differences(known.get(name, ""), digest))]
        if changed:
            name, what = changed[0]
            if noun == "item" and _only_sent(known[name], {one: digest for one, digest, _ in planned}[name]):
                raise InputError("run.changed_resize", file=str(self.path), value=name)
            raise InputError(
                f"run.changed_{noun}", file=str(self.path), value=name, what=", ".join(what), count=len(changed)
            )

    def _with_earlier(self, noun: str, planned: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
        """Digests of languages that the plan no longer has are kept, so that they cannot come back changed."""
        known = self.ledger.known(noun)
        return [(name, joined(parts(known.get(name, "")) | parts(digest)), facts) for name, digest, facts in planned]

    def _refuse_other(self, key: str, value: str) -> None:
        known = self.ledger.meta(key)
        if known not in (None, "", value):
            raise InputError(f"run.other_{key}", file=str(self.path), value=value, known=known)


def differences(known: str, now: str) -> tuple[str, ...]:
    """Which named digests are in both texts and differ; a language that is only in one of them is no difference.

    >>> differences("en=1 zh=2 image=-", "en=1 fr=3 image=7")
    ('image',)
    """
    old, new = parts(known), parts(now)
    return tuple(name for name in old if name in new and old[name] != new[name])


def _only_sent(known: str, now: str) -> bool:
    """Whether two digests of an item differ in nothing but the size in which its image is sent."""
    old, new = parts(known).get("image", "-"), parts(now).get("image", "-")
    return differences(known, now) == ("image",) and old.partition("/")[0] == new.partition("/")[0]


def parts(digest: str) -> dict[str, str]:
    """Named digests, from ``en=1 zh=2``."""
    return dict(part.split("=", 1) for part in digest.split())


def manifest(
    plan: Plan, settings: Mapping[str, Mapping[str, Any]], prices: Mapping[str, Mapping[str, Any]], ledger: Ledger
) -> dict[str, Any]:
    """What run.toml says."""
    return {
        "run": {
            "id": ledger.run_id,
            "created": iso(float(ledger.meta("created") or 0)),
            "updated": iso(time.time()),
            "seed": plan.seed,
            "repeats": plan.repeats,
            **_session(plan),
        },
        "corpus": _corpus(plan),
        "grid": {"name": plan.grid.name, "digest": plan.grid.digest, "wordings": dict(plan.grid.wordings)},
        "question": [{"id": question.id, "scale": str(question.scale)} for question in plan.questions],
        "condition": [
            {"name": one.name, "design": one.design, "language": one.language, "digest": one.digest}
            for one in plan.conditions
        ],
        "judge": [
            {
                "name": spec.name,
                "provider": spec.provider,
                "model": spec.model,
                "settings": settings[spec.name],
                "price": prices.get(spec.name),
            }
            for spec in plan.specs
        ],
    }


def iso(seconds: float) -> str:
    """Seconds since the epoch as ISO 8601 in UTC.

    >>> iso(0)
    '1970-01-01T00:00:00+00:00'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that a kill leaves either the old one or the new one."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(content.encode() if isinstance(content, str) else content)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _session(plan: Plan) -> dict[str, Any]:
    return {"voirdire": VERSION, "python": platform.python_version(), "corpus_digest": plan.material.digest}


def _corpus(plan: Plan) -> dict[str, Any]:
    """What the judges were asked about; of a frozen corpus also its version and digests."""
    material = plan.material
    told: dict[str, Any] = {"name": material.name, "digest": material.digest, "items": len(plan.items)}
    return told | (material.frozen.as_dict() if material.frozen else {})


def _check(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise UsageError("run.folder_is_file", file=str(path))
    if path.is_dir() and not (path / LEDGER).exists():
        others = sorted(entry.name for entry in path.iterdir() if entry.name not in ALLOWED)
        if others:
            raise UsageError("run.folder_other", file=str(path), found=", ".join(others[:5]))


def _locked(path: Path) -> IO[str]:
    """The lock file, held. The system lets go of it when this process ends, however it ends."""
    try:
        import fcntl
    except ImportError as error:
        raise UsageError("run.no_locks", file=str(path)) from error
    try:
        lock = (path / LOCK).open("a+")
    except OSError as error:
        raise UsageError("run.unwritable", file=str(path), why=error.strerror or str(error)) from error
    for last in (False, False, True):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except OSError as error:
            if not last:
                time.sleep(LOOKING)
                continue
            lock.seek(0)
            holder = lock.read().strip() or "?"
            lock.close()
            raise UsageError("run.locked", file=str(path), pid=holder) from error
    lock.seek(0)
    lock.truncate()
    lock.write(str(os.getpid()))
    lock.flush()
    return lock
