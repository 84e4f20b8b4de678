"""``voirdire validate``: are these pools good references? The pools alone, before any judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.app.audit import Written, evaluate_inputs, write
from voirdire.app.inputs import JUDGE_TABLES, Listener, Progress, images_of, read_inputs
from voirdire.errors import UsageError

if TYPE_CHECKING:
    from voirdire.analysis.profile import Profile


def validate(
    ratings: Any = None, *, progress: Progress | None = None, told: Listener | None = None, **options: Any
) -> Profile:
    """Examine the pools alone: reliability, differences between pools, and the gate.

    Parameters
    ----------
    ratings : path, Polars or pandas frame of ratings, a folder of tables, or a Corpus
    options : as for ``audit``, without those of judgments

    Returns a Profile without judges.
    """
    for name in JUDGE_TABLES:
        if options.get(name) is not None:
            raise UsageError("app.validate_judged", option=name)
    return evaluate_inputs(read_inputs({"ratings": ratings, **options}, judged=False), progress, told)


def validate_to(
    out: Path, lang: str = "en", *, progress: Progress | None = None, told: Listener | None = None, **options: Any
) -> Written:
    """Validate, and write profile and report to a folder, in a language."""
    return write(lambda: validate(progress=progress, told=told, **options), out, lang, progress, images_of(options))
