"""The report as a PDF: source without anything that acts, and, where Typst is installed, the PDF itself."""

from __future__ import annotations

import json
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.analysis.profile import Profile
from voirdire.app.audit import audit
from voirdire.cli.main import run
from voirdire.errors import UsageError
from voirdire.reporting.assemble import build
from voirdire.reporting.drawing import can_draw_chinese
from voirdire.reporting.typst_source import source, string
from voirdire.simulation.presets import paired_world
from voirdire.simulation.tables import simulate_tables

EVIL = '#evil("x") \\ $y$ @z <b> = a */ // ] ) "'
TYPST = find_spec("typst") is not None
needs_typst = pytest.mark.skipif(not TYPST, reason="typst is not installed")


@pytest.fixture(scope="module")
def profile() -> Profile:
    tables = simulate_tables(paired_world(items=24), seed=1)
    judge = tables.judgments["judge"][0]
    judged = tables.judgments.with_columns(pl.col("judge").replace({judge: EVIL}))
    return audit(tables.ratings, judged, items=tables.items, draws=50, decomposition_draws=20)


def unquoted(code: str) -> str:
    """What is left of a source without its strings."""
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', code)


def test_texts_are_strings_only(profile: Profile) -> None:
    code, charts = source(build(profile))
    assert EVIL.replace("\\", "\\\\").replace('"', '\\"') in code
    assert "evil" not in unquoted(code)
    assert set(re.findall(r'image\("([^"]+)"', code)) == set(charts) != set()
    assert all(drawn.startswith("<svg") for drawn in charts.values())


@given(st.text())
def test_a_string_never_ends_early(value: str) -> None:
    assert unquoted(string(value)) == '""'
    assert "\n" not in string(value)


def test_every_table_of_the_report_is_there(profile: Profile) -> None:
    report = build(profile)
    code, _ = source(report)
    assert all(string(grid.caption) in code for grid in report.grids())
    assert all(string(section.title) in code for section in report.sections)


@needs_typst
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_pdf_is_written(profile: Profile, tmp_path: Path, lang: str, capsys: pytest.CaptureFixture[str]) -> None:
    if lang == "zh" and not can_draw_chinese():
        pytest.skip("no Chinese font")
    profile.save(tmp_path / "audit")
    out = tmp_path / "new" / "report.pdf"
    command = ["export", "pdf", str(tmp_path / "audit"), "--out", str(out), "--lang", lang, "--json"]
    assert run(command) == 0
    assert json.loads(capsys.readouterr().out)["bytes"] == out.stat().st_size
    assert out.read_bytes()[:5] == b"%PDF-"
    assert len(re.findall(rb"/Type ?/Page\b", out.read_bytes())) > 3
    first = out.read_bytes()
    assert run(command) == 0
    assert len(out.read_bytes()) == len(first)


def test_without_typst_it_is_said_what_to_install(
    profile: Profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    profile.save(tmp_path / "audit")
    assert run(["export", "pdf", str(tmp_path / "audit"), "--out", str(tmp_path / "report.pdf")]) == 3
    assert "voirdire[pdf]" in capsys.readouterr().err
    assert not (tmp_path / "report.pdf").exists()


def test_options_of_a_release_mean_nothing_here(profile: Profile, tmp_path: Path) -> None:
    profile.save(tmp_path / "audit")
    said = ["export", "pdf", str(tmp_path / "audit"), "--out", str(tmp_path / "report.pdf")]
    assert run([*said, "--with-text-of-raters"]) == 3
    assert run(["export", "pdf", str(tmp_path / "audit"), "--out", str(tmp_path)]) == 3
    assert run(["export", "pdf", str(tmp_path), "--out", str(tmp_path / "report.pdf")]) == 3


def test_chinese_without_a_font_is_refused(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    from voirdire.reporting import pdf

    class Setting:
        """Stands in for Typst, which must not be asked."""

    monkeypatch.setitem(sys.modules, "typst", Setting)
    monkeypatch.setattr(pdf, "can_draw_chinese", lambda: False)
    with pytest.raises(UsageError, match="fonts-noto-cjk"):
        pdf.render_pdf(profile, "zh")
