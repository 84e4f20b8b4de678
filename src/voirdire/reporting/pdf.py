"""The report of a profile as a PDF, set by Typst (the extra ``pdf``)."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from voirdire.errors import UsageError
from voirdire.reporting.access import ProfileLike
from voirdire.reporting.assemble import build
from voirdire.reporting.drawing import BEYOND, can_draw_chinese
from voirdire.reporting.typst_source import source


def render_pdf(profile: ProfileLike, lang: str = "en") -> bytes:
    """The report of a profile as PDF: the blocks of the page, without what folds on it.

    Raises UsageError where Typst is not installed, and where Chinese is to be set and this system has no font of it.
    """
    typst = _typst()
    content, charts = source(build(profile, lang))
    if BEYOND.search(content) and not can_draw_chinese():
        raise UsageError("pdf.no_font")
    with TemporaryDirectory(prefix="voirdire-pdf-") as held:
        folder = Path(held)
        for name, drawn in charts.items():
            (folder / name).write_text(drawn, encoding="utf-8")
        (folder / "main.typ").write_text(content, encoding="utf-8")
        return bytes(typst.compile(str(folder / "main.typ"), root=str(folder), format="pdf"))


def _typst() -> Any:
    try:
        import typst
    except ImportError as error:
        raise UsageError("pdf.not_installed") from error
    return typst
