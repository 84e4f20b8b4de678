"""``voirdire demo``: the whole path, offline, on a simulated corpus that says that it is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from voirdire.app.audit import Written, audit_to
from voirdire.app.inputs import Listener, Progress


def demo(
    out: Path, lang: str = "en", *, progress: Progress | None = None, told: Listener | None = None, **options: Any
) -> Written:
    """Write the demonstration corpus to ``out/corpus`` and its audit to ``out/audit``."""
    from voirdire.simulation.demo import write_demo

    write_demo(out / "corpus")
    return audit_to(out / "audit", lang, progress=progress, told=told, folder=out / "corpus", **options)
