"""``voirdire audit``: two tables in, a profile and its report out."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from voirdire.app.inputs import Inputs, Listener, Progress, images_of, read_inputs
from voirdire.errors import UsageError

if TYPE_CHECKING:
    from voirdire.analysis.profile import Profile

PROFILE = "profile.json"


@dataclass(frozen=True)
class Written:
    """A profile that was written to a folder.

    report : the file to open first; files : every file written; summary : a short account in plain words
    """

    profile: Profile
    folder: Path
    report: Path
    files: tuple[Path, ...]
    summary: str


def audit(
    ratings: Any = None,
    judgments: Any = None,
    *,
    progress: Progress | None = None,
    told: Listener | None = None,
    **options: Any,
) -> Profile:
    """Examine human pools as references, and judges against every pool.

    Parameters
    ----------
    ratings : path, Polars or pandas frame of ratings, a folder of tables, or a Corpus
    judgments : path or frame of judgments, or Judgments; without them the pools alone are examined
    progress : called with a stage and the share done
    told : called once with what was read, before anything is computed
    options : ``items``, ``raters``, ``questions``, ``judges``, ``conditions`` (paths or frames), and the fields
        of CorpusOptions, JudgmentOptions and AuditOptions by name; ``confidence`` is the level of intervals

    Returns the Profile. Nothing is written: see ``Profile.save`` and ``Profile.to_html``. Raises InputError
    for tables that cannot be read as meant and UsageError for options that do not exist or do not fit.
    """
    return evaluate_inputs(read_inputs({"ratings": ratings, "judgments": judgments, **options}), progress, told)


def audit_to(
    out: Path, lang: str = "en", *, progress: Progress | None = None, told: Listener | None = None, **options: Any
) -> Written:
    """Audit, and write profile and report to a folder, in a language."""
    return write(lambda: audit(progress=progress, told=told, **options), out, lang, progress, images_of(options))


def write(
    make: Callable[[], Profile], out: Path, lang: str, progress: Progress | None, images: Path | None = None
) -> Written:
    """Make a profile and write it with its report; the folder is checked before anything is computed.

    Files are written beside their places and moved when all are whole. Raises UsageError when that cannot be.

    images : the folder that the items' image paths are relative to (see ``images_of``)
    """
    from voirdire.analysis.item_tables import remove_tables
    from voirdire.reporting.report import write_report
    from voirdire.reporting.terminal import terminal

    check_folder(out)
    profile = make()
    if progress is not None:
        progress("report", 0.97)
    report = out / "report.html"
    summary = terminal(profile, lang, report)
    try:
        out.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".voirdire-", dir=out) as held:
            write_report(profile, held, lang, images)
            profile.save(held)
            (out / PROFILE).unlink(missing_ok=True)
            remove_tables(out)
            written = publish(Path(held), out)
    except OSError as error:
        raise UsageError("app.out_unwritable", file=str(out), why=error.strerror or str(error)) from error
    return Written(profile, out, report, tuple(sorted(written)), summary)


def check_folder(out: Path) -> None:
    """UsageError when a folder cannot be, or cannot be written to."""
    if out.exists() and not out.is_dir():
        raise UsageError("app.out_is_file", file=str(out))
    there = next((folder for folder in (out, *out.absolute().parents) if folder.exists()), out)
    if not there.is_dir():
        raise UsageError("app.out_is_file", file=str(there))
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError("app.out_unwritable", file=str(out), why=os.strerror(errno.EACCES))


def publish(held: Path, out: Path, last: str = PROFILE) -> list[Path]:
    """Move finished files to their folder, one of them last: where it stands, everything else does.

    Other files of the folder stay as they are.
    """
    made = [path.relative_to(held) for path in held.rglob("*")]
    names = sorted((name for name in made if (held / name).is_file()), key=lambda name: name.name == last)
    (out / last).unlink(missing_ok=True)
    for folder in (name for name in made if (held / name).is_dir()):
        (out / folder).mkdir(parents=True, exist_ok=True)
    for name in names:
        (held / name).replace(out / name)
    return [out / name for name in names]


def evaluate_inputs(inputs: Inputs, progress: Progress | None, told: Listener | None) -> Profile:
    """The profile of what was read; the listener hears first what that is."""
    from voirdire.analysis.evaluate import evaluate

    if told is not None:
        told(inputs.told)
    return evaluate(inputs.corpus, inputs.judgments, inputs.options, progress)
