from __future__ import annotations

import csv
import re
import shutil
import subprocess
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reporting.fake_profile import HOSTILE, HOSTILE_JUDGE

from voirdire.reporting import latex
from voirdire.reporting.access import View
from voirdire.reporting.files import disarmed
from voirdire.reporting.grid import Column, Entry, Grid, Line
from voirdire.reporting.markdown import escape as markdown_escape
from voirdire.reporting.report import figures, latex_tables, terminal, write_figures, write_report
from voirdire.reporting.words import Words

MISSING = re.compile(r"(?<![\w-])(nan|NaN|None|null)(?![\w-])")
TABLE_WITH_NOTES = ["table", "minipage", "minipage", "table"]


def test_markdown_tables_are_rectangular(markdown):
    tables = re.findall(r"(?:^\|.*\|$\n?)+", markdown[2], flags=re.M)
    assert tables
    for table in tables:
        widths = {len(re.split(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1, table[:300]


def test_markdown_footnotes_are_defined(markdown):
    used = set(re.findall(r"\[\^(\d+)\](?!:)", markdown[2]))
    defined = set(re.findall(r"^\[\^(\d+)\]:", markdown[2], flags=re.M))
    assert used
    assert used == defined


def test_markdown_shows_hostile_texts_as_texts(markdown):
    assert not re.search(r"(?<!\\)<(script|b|i|r)>", markdown[2])
    assert not re.search(r"(?<!\\)\]\(http", markdown[2])
    assert not MISSING.search(markdown[2])


@given(st.text())
def test_markdown_escape_leaves_no_active_mark(text):
    shown = markdown_escape(text)
    bare = re.sub(r"\\.", "", shown)
    assert not set(bare) & set("\\`*_{}[]<>|#$~&!\n\r")


@pytest.mark.parametrize("text", ["1.20", "-0.31", "+3", "12.5 % (a)", "0.31 [0.12, 0.50]"])
def test_markdown_numbers_are_copied_as_they_stand(text):
    assert markdown_escape(text).replace("\\", "") == text
    assert markdown_escape(text)[:4] == text[:4]


def test_markdown_holds_no_sign_that_is_not_seen(markdown):
    assert not re.search("[\u200b-\u200f\u2060]", markdown[2])


@pytest.mark.parametrize("text", ["1. a", "12)", "- a", "---", "+ a", "==="])
def test_markdown_lines_do_not_open_a_list_or_rule(text):
    assert re.match(r"\d*\\[-+=.)]", markdown_escape(text))


def grid_of(text):
    """A table with the text in every place that a text can have."""
    columns = (Column(text, group=text), Column("b"))
    lines = (Line((text,), (Entry(text, reason=text, mark="a"), Entry("1", "[0, 2]"))),)
    return Grid("q1-pools", text, (text,), columns, ((text, lines), ("", lines)), (text,), (("a", text),))


def active(tex):
    """Everything in LaTeX that is not set as it stands, without what stands for one sign."""
    sign = r"\\text(?:backslash|asciitilde|asciicircum|less|greater)\{\}|\\[&%$#_{}]|\\,|\{\}"
    sign += r"|\$-\$|\$\\(?:infty|bullet|odot|circ|rightarrow)\$"
    return [found for found in re.findall(rf"({sign})|(\\[a-z]+|\\.|[&%$#_{{}}~^\\])", tex, re.S) if not found[0]]


@cache
def plain():
    return active(latex.latex(grid_of("x"), Words("en")))


@given(st.text(max_size=10))
def test_latex_obeys_no_text(text):
    assert active(latex.latex(grid_of(text + "x"), Words("en"))) == plain()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\\input{/a}", r"\textbackslash{}input\{/a\}"),
        ("& % $ # _", r"\& \% \$ \# \_"),
        ("~ ^ < > |", r"\textasciitilde{} \textasciicircum{} \textless{} \textgreater{} |"),
        ("{{x^2}}", r"\{\{x\textasciicircum{}2\}\}"),
        ("<b>&lt;</b>", r"\textless{}b\textgreater{}\&lt;\textless{}/b\textgreater{}"),
        ("[1]", "[1]"),
        ("**a** `b`", "**a** `b`"),
        ("群体 甲", "群体 甲"),
        ("a\x1c\x1d\x1eb\x1f\u2028", "a???b?"),
    ],
)
def test_latex_sets_every_text_as_it_is(text, shown):
    tex = latex.latex(grid_of(text), Words("en"))
    assert tex.count(shown) == 11


def test_latex_puts_the_interval_below_the_value_and_the_reason_below_the_table():
    tex = latex.latex(grid_of("t"), Words("en"))
    assert tex.count(r"t (a) & \begin{tabular}[t]{@{}r@{}}1\\{}[0, 2]\end{tabular} \\") == 2
    assert "\n(a) t.\\\\\nt\\\\\n" in tex
    assert r"\multicolumn{1}{c}{t}" in tex
    assert r"\multicolumn{3}{l}{t}" in tex
    assert r"\multicolumn{3}{l}{Judges}" in tex
    assert tex.index(r"\multicolumn{3}{l}{t}") < tex.index(r"\multicolumn{3}{l}{Judges}")
    assert re.search(r"\\caption\{\s*\{\\large t\}\s*\}", tex)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", ["two", "six", "none", "factorial"])
def test_latex_tables_are_balanced(profiles, name, lang):
    tables = latex_tables(profiles[name], lang)
    assert any(key.endswith("-pools") for key in tables)
    assert any(key.endswith("-judges") for key in tables) == (name != "none")
    for tex in tables.values():
        assert tex.startswith("% ")
        assert not MISSING.search(tex)
        assert re.findall(r"\\(?:begin|end)\{(?!tabular)(\w+)\}", tex) in (["table"] * 2, TABLE_WITH_NOTES)
        unescaped = re.sub(r"\\[\\{}$&%#_]", "", tex)
        assert unescaped.count("{") == unescaped.count("}")
        assert unescaped.count("$") % 2 == 0
        flat = re.sub(r"\\begin\{tabular\}\[[bt]\]\{@\{\}r@\{\}\}.*?\\end\{tabular\}", "stack", tex)
        assert flat.count(r"\begin{tabular}") == flat.count(r"\end{tabular}") == 1
        width = len(re.search(r"\\begin\{tabular\}\{([lr]+)\}", flat).group(1))
        rows = re.findall(r"^(.*[^\\]) \\\\(?:\[2\.5pt\])? ?$", flat.partition(r"\toprule")[2], re.M)
        assert rows
        for row in rows:
            spans = sum(int(span) - 1 for span in re.findall(r"\\multicolumn\{(\d+)\}", row))
            assert len(re.findall(r"(?<!\\)&", row)) + 1 + spans == width


@pytest.mark.parametrize("name", ["two", "factorial"])
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_compiles(profiles, tmp_path, name):
    signs = " ".join(map(chr, range(33, 127)))
    tables = [*latex_tables(profiles[name]).values(), latex.latex(grid_of(signs), Words("en"))]
    body = "\n\\clearpage\n".join(re.sub(r"[\u3000-\u9fff]", "x", tex) for tex in tables)
    source = "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{booktabs,graphicx}\\begin{document}" + body
    (tmp_path / "t.tex").write_text(source + "\\end{document}", encoding="utf-8")
    done = subprocess.run(["pdflatex", "-halt-on-error", "t.tex"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert b"Overfull" not in done.stdout


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", ["two", "six", "none", "factorial"])
def test_terminal_is_plain_and_short(profiles, name, lang):
    shown = terminal(profiles[name], lang, report="out/report.html")
    assert "\x1b" not in shown
    assert "out/report.html" in shown
    assert not MISSING.search(shown)
    assert len(shown.splitlines()) < 160
    if name == "two":
        assert HOSTILE_JUDGE in shown


def test_terminal_cannot_be_steered_by_a_name(profiles):
    from dataclasses import replace

    import polars as pl

    profile = profiles["two"]
    bad = "evil\x1b]0;x\x07\u202e[bold]"
    swap = {"claude-like": bad}
    meta = {**profile.meta, "judges": [swap.get(judge, judge) for judge in profile.meta["judges"]]}
    meta["cells"] = [{**cell, "judge": swap.get(cell["judge"], cell["judge"])} for cell in meta["cells"]]
    changed = replace(profile, meta=meta, estimates=profile.estimates.with_columns(pl.col("judge").replace(swap)))
    shown = terminal(changed)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", shown)
    assert "[bold]" in shown


@pytest.fixture(scope="module")
def written(profiles, tmp_path_factory):
    """A written report in Chinese: its folder and files."""
    folder = tmp_path_factory.mktemp("report")
    return folder, write_report(profiles["two"], folder, "zh")


def test_written_report_has_every_kind_of_file(written):
    tmp_path, written = written
    assert all(file.is_file() and file.stat().st_size for file in written)
    names = {file.relative_to(tmp_path).as_posix() for file in written}
    assert {
        "report.html",
        "report.md",
        "tables/q1-judges.csv",
        "tables/q1-judges.tex",
        "figures/q1-tilt-1.svg",
    } <= names
    svg = (tmp_path / "figures/q1-tilt-1.svg").read_text(encoding="utf-8")
    assert "判断模型甲" in svg
    assert "<script" not in svg
    assert "<b>" not in svg
    assert all(re.fullmatch(r"[\w-]+\.\w+", file.name) for file in written)


def test_table_files_are_rectangular(written):
    for file in written[1]:
        if file.suffix == ".csv":
            rows = list(csv.reader(file.read_text(encoding="utf-8").splitlines()))
            assert len({len(row) for row in rows}) == 1, file.name


@given(st.text())
@settings(max_examples=200)
def test_no_text_starts_a_formula(text):
    assert not disarmed(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_png_without_chinese_font_falls_back_or_is_left_out(profiles, tmp_path, monkeypatch):
    from voirdire.reporting import drawing

    monkeypatch.setattr(drawing, "can_draw_chinese", lambda: False)
    names = {file.name for file in write_figures(profiles["two"], tmp_path, "zh")}
    assert "q1-tilt-1.svg" in names
    assert "q1-tilt-1.png" not in names


def test_figures_are_charts_that_show_the_ends_of_the_tilt(profiles):
    charts = figures(profiles["two"])
    assert {"q1-mae", "q1-tilt-1", "q1-distributions", "q1-slices-tilt-1"} <= set(charts)
    values = str({name: chart.to_dict(validate=True) for name, chart in charts.items()})
    assert "at us" in values
    assert "at cn" in values


def test_texts_of_items_stand_in_the_report(profiles):
    from voirdire.reporting.report import render_html

    assert "便利店的饭团看起来新鲜吗" in render_html(profiles["two"], "zh")
    assert "alert(&#39;x&#39;)" in render_html(profiles["two"], "en")
    assert HOSTILE not in render_html(profiles["two"], "en")


@given(
    st.floats(allow_nan=False), st.sampled_from(["mae", "delta", "alpha", "n_items", "gap_test.p", "percent_of_human"])
)
def test_numbers_are_never_missing_or_minus_zero(value, statistic):
    shown = Words("en").number(statistic, value)
    assert not MISSING.search(shown)
    assert not re.fullmatch(r"[\u2212+]0(\.0+)?", shown)


@given(st.text())
def test_clean_text_obeys_nobody(text):
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", View.clean(text))
