"""The report of a factorial run: it opens with orientation, shows every part, and never mixes two definitions."""

from __future__ import annotations

import re
from dataclasses import replace
from tomllib import loads

import polars as pl
import pytest
from tests.reporting.fake_experiment import DESIGN, JUDGES, experiment
from tests.reporting.fake_profile import HOSTILE_JUDGE, FakeProfile
from tests.reporting.pages import parse
from tests.setup.scan import DYNAMIC, SOURCE, strings

from voirdire.reporting import claims
from voirdire.reporting.access import Cell, View
from voirdire.reporting.assemble import build, summary
from voirdire.reporting.best_table import best
from voirdire.reporting.blocks import Bullets, Folded
from voirdire.reporting.files import charts_of
from voirdire.reporting.glance import matrix
from voirdire.reporting.grid import Builder, Footnotes
from voirdire.reporting.headline import sentences
from voirdire.reporting.honesty import disclosed, warnings
from voirdire.reporting.latex import tables_of
from voirdire.reporting.markdown import markdown
from voirdire.reporting.render import fragment
from voirdire.reporting.report import terminal
from voirdire.reporting.words import Words

PAIR = ("us", "cn")
KEYS = ("report_experiment", "claims")


@pytest.fixture(scope="module")
def profile(profiles) -> FakeProfile:
    return profiles["factorial"]


@pytest.fixture(scope="module")
def report(profile):
    """The built report in English."""
    return build(profile, "en")


@pytest.fixture(scope="module")
def tables(report):
    """The LaTeX of the report's tables by name."""
    return tables_of(report)


def builder(profile: FakeProfile) -> Builder:
    """Fills tables of the one question."""
    return Builder(View(profile), Words("en", PAIR), Footnotes(), "q1", 4)


def changed(profile: FakeProfile, **columns: pl.Expr) -> FakeProfile:
    """The profile with some columns of its estimates replaced."""
    return replace(profile, estimates=profile.estimates.with_columns(**columns))


def at(statistic: str, judge: str, pair: bool = True) -> pl.Expr:
    """The rows of a statistic of a judge over all conditions, over all items."""
    of_pair = pl.col("pool_b") == "cn" if pair else pl.lit(value=True)
    here = (pl.col("judge") == judge) & (pl.col("condition") == "*") & (pl.col("slice") == "all")
    return (pl.col("statistic") == statistic) & here & of_pair & (pl.col("params") == "")


def told(profile: FakeProfile, oriented: str, nearer: str, tilt: float) -> list[str]:
    """The headline of one judge with these outcomes."""
    judge = JUDGES[0]
    label = (
        pl.when(at("orientation.verdict", judge))
        .then(pl.lit(oriented))
        .when(at("verdict", judge))
        .then(pl.lit(nearer))
        .otherwise("label")
    )
    ends = {
        name: pl.when(at("tilt", judge)).then(pl.lit(tilt + step)).otherwise(name)
        for name, step in (("low", -0.1), ("value", 0.0), ("high", 0.1))
    }
    made = changed(profile, label=label, **ends)
    return sentences(View(made), Words("en", PAIR), "q1", Cell(judge, "*"))


@pytest.mark.parametrize(
    ("oriented", "nearer", "tilt", "sentence", "warning"),
    [
        ("oriented_b", "nearer_b", -0.5, "Oriented to cn, and nearer to cn than to us.", ""),
        ("oriented_a", "nearer_b", -0.5, "Oriented to us, although T and delta put it nearer to cn.", "opposite"),
        ("oriented_a", "undecided", 0.0, "Oriented to us; which pool it is nearer to is not decided.", ""),
        ("not_oriented", "nearer_b", -0.5, "Nearer to cn, not by orientation", "wrongly be called oriented to cn"),
        ("not_oriented", "undecided", 0.0, "Not shown to be oriented to us or to cn", ""),
        ("cannot_say", "nearer_a", 0.5, "Nearer to us; whether by orientation cannot be said", ""),
        ("cannot_say", "undecided", 0.0, "Between us and cn no orientation can be stated", ""),
    ],
)
def test_the_headline_follows_the_rule(profile, oriented, nearer, tilt, sentence, warning):
    """Oriented is said by the test of neutrality alone, nearer by T and delta, and a conflict is warned of."""
    found = told(profile, oriented, nearer, tilt)
    assert found[0].startswith(sentence)
    assert "W\u00a0" in found[0]
    assert "Neutrality test: p" in found[0]
    assert (warning in found[1]) if warning else not found[1].startswith("Warning")
    assert any(text.startswith("Its T of") for text in found)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_undefined_orientation_says_why(profile, lang):
    found = sentences(View(profile), Words(lang, PAIR), "q1", Cell("delta-judge", "*"))
    row = profile.estimates.filter(at("orientation.verdict", "delta-judge")).row(0, named=True)
    assert row["undefined"] is not None
    assert Words(lang).reason(row["undefined"]) in found[0]
    assert "W\u00a0" not in found[0]


def test_three_pools_have_weights_that_are_named_for_their_pools():
    profile = experiment(("us", "cn", "in"))
    found = sentences(View(profile), Words("en", ("us", "cn", "in")), "q1", Cell(JUDGES[0], "*"))
    assert re.search(r"Weights of the pools .*us\u00a0.*cn\u00a0.*in\u00a0", found[-1])
    assert sum(text.startswith(("us / cn: ", "us / in: ", "cn / in: ")) for text in found) == 3


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_output_opens_with_the_headline(profile, lang):
    first = sentences(View(profile), Words(lang, PAIR), "q1", Cell(JUDGES[0], "*"))[0]
    flat = re.sub(r"\s+", "", first)
    shown = re.sub(r"\s+", "", terminal(profile, lang))
    assert shown.index(flat) < shown.index("Krippendorff")
    root = parse(fragment(profile, Words(lang, PAIR), ()))
    opening = next(part for part in root.all("ul") if part.attrs.get("class") == "verdicts")
    assert re.sub(r"\s+", "", opening.text).startswith(JUDGES[0] + flat)


def test_sections_of_the_experiment_are_there_where_their_rows_are(report, profiles):
    wanted = {
        "claims", "disclosed", "q1-parts-1", "q1-ratings", "q1-best", "q1-variance", "q1-personas", "q1-factors",
        "q1-demonstrations", "q1-gaps", "q1-recognizability", "q1-regimes",
    }  # fmt: skip
    assert wanted <= {section.id for section in report.sections}
    plain = {section.id for section in build(profiles["two"], "en").sections}
    assert not plain & (wanted - {"claims", "disclosed", "q1-ratings"})


def test_the_papers_figures_are_drawn(report):
    charts = charts_of(report)
    names = {"q1-parts-1", "q1-parts-1-w", "q1-ratings", "q1-delta-1", "q1-personas-1", "q1-parts-1-judge-1"}
    assert names <= set(charts)
    for name in names:
        assert HOSTILE_JUDGE not in str(charts[name].to_dict(validate=True).get("mark"))
    drawn = charts["q1-parts-1"].to_dict(validate=False)
    assert {"all items", "culture: us", "culture: cn"} == {panel["title"]["text"] for panel in drawn["hconcat"]}


def test_table_1_marks_the_lowest_and_shows_the_cross_fitted_value(profile, report):
    grid = next(grid for grid in report.grids() if grid.id == "q1-best")
    rows = {line.heads[0]: line.entries for line in grid.groups[0][1]}
    values = profile.estimates.filter(
        (pl.col("statistic") == "best_mae.value") & (pl.col("condition") == "design=base"),
        pl.col("slice") == "culture=cn", pl.col("pool") == "us", pl.col("judge") != "*",
    )  # fmt: skip
    place = [(column.group, column.title) for column in grid.columns].index(("culture: cn", "→ us"))
    best = values.sort("value")["judge"][0]
    assert [name for name, entries in rows.items() if entries[place].strong] == [best]
    assert re.fullmatch(r"\[\d+\u00a0%\] us_en", rows[best][place].interval)
    assert re.fullmatch(r"\[.+, .+\] \[\d+\u00a0%\]", rows[best][place + 1].interval)
    lost = [(column.group, column.title) for column in grid.columns].index(("culture: us", "→ us"))
    assert rows["delta-judge"][lost].reason
    assert [line.heads[0] for line in grid.groups[1][1]] == ["average of the judges", "mean gap between the pools"]


def test_no_column_of_the_experiment_mixes_definitions(profile, monkeypatch):
    """Every table that is filled from estimates has one definition a column."""
    seen = []
    plain = Builder._column

    def column(self, spec, rows):
        seen.append({row.definition for row in rows.values()})
        return plain(self, spec, rows)

    monkeypatch.setattr(Builder, "_column", column)
    build(profile, "en")
    assert len(seen) > 150
    assert all(len(definitions) == 1 for definitions in seen)


def test_best_conditions_of_another_definition_have_a_table_of_their_own(profile):
    other = (pl.col("statistic").str.starts_with("best_mae")) & (pl.col("judge") == JUDGES[1])
    signature = (
        pl.when(other)
        .then(pl.col("signature").str.replace("consensus=mean", "consensus=median"))
        .otherwise(pl.col("signature"))
    )
    grids = best(builder(changed(profile, signature=signature)), PAIR, "design=base", "best")
    tables = {g.id: [line.heads[0] for line in g.groups[0][1]] for g in grids}
    assert JUDGES[1] not in tables["best"]
    assert tables["best-other-1"] == [JUDGES[1]]


def test_a_changed_definition_of_one_judge_splits_the_column(profile):
    other = (pl.col("statistic") == "orientation.w") & (pl.col("judge") == JUDGES[1])
    signature = (
        pl.when(other)
        .then(pl.col("signature").str.replace("consensus=mean", "consensus=median"))
        .otherwise(pl.col("signature"))
    )
    made = changed(profile, signature=signature)
    grid = matrix(builder(made), View(made).main_cells())
    assert len([column for column in grid.columns if column.title.startswith("W: us / cn")]) == 2


def test_the_glance_has_every_pool_and_pair(report):
    grid = next(grid for grid in report.grids() if grid.id == "q1-glance")
    assert [column.title for column in grid.columns] == ["MAE: us", "MAE: cn", "W: us / cn"]
    assert [line.heads[0] for line in grid.lines] == JUDGES
    assert grid.compact
    words = [line.entries[2].interval for line in grid.lines]
    assert words[:3] == ["to us", "to cn", "not oriented"]
    assert grid.lines[3].entries[2].reason


def test_judges_are_disclosed_with_their_covariates_or_it_is_said_that_none_are_known(report, profiles):
    grid = next(grid for grid in report.grids() if grid.id == "disclosed")
    assert [entry.text for line in grid.lines for entry in line.entries] == ["us", "cn", "us", "cn"]
    section = disclosed(View(profiles["two"]), Words("en"))
    assert "No covariates of the judges were given" in str(section.blocks)


def test_warnings_are_there_where_they_apply(profile, report):
    warning = next(b for b in report.sections[0].blocks if isinstance(b, Bullets) and b.style == "warning")
    text = " ".join(warning.entries[0][1])
    for part in (
        "reflects how the corpus is composed", "changes sign between the cultures", "cells of one item",
        "too good by selection", "would show with power 0.8",
    ):  # fmt: skip
        assert part in text
    calm = replace(profile, estimates=profile.estimates.filter(pl.col("statistic") != "winners_curse"))
    assert "too good by selection" not in " ".join(warnings(View(calm), Words("en"), "q1"))


def answers(profile: FakeProfile) -> dict[str, str]:
    """The claims and the sentences that answer them."""
    section = claims.section(View(profile), Words("en", PAIR))
    return {title: found[0] for block in section.blocks if isinstance(block, Bullets) for title, found in block.entries}


def test_claims_are_answered_by_their_rule(profile):
    found = answers(profile)
    assert found["us and cn are reliable references"].startswith("Holds.")
    assert found["Delta follows the gap between the pools"].startswith("Holds, but a constant judge")
    assert found["Personas pull each judge toward their own pool"].startswith("Holds.")
    assert found["The other pool's persona does not take a judge across the middle"].startswith("Holds.")
    assert found["What is known of the judges shifts delta a little but reliably"].startswith("Does not hold.")
    demonstrations = "Demonstrations do not bring judges nearer to the pool that they are far from"
    assert found[demonstrations].startswith("Holds.")
    assert "aa\u00a0" in found[demonstrations] or "aa " in found[demonstrations]


def test_a_claim_turns_with_its_number(profile):
    """Demonstrations that bring judges nearer: the claim that they do not no longer holds."""
    error = (pl.col("statistic") == "icl_effect.error") & (pl.col("params") == DESIGN)
    ends = {
        name: pl.when(error).then(-pl.col(other)).otherwise(name) for name, other in (("low", "high"), ("high", "low"))
    }
    found = answers(changed(profile, value=pl.when(error).then(-pl.col("value")).otherwise("value"), **ends))
    claim = "Demonstrations do not bring judges nearer to the pool that they are far from"
    assert found[claim].startswith("Does not hold.")


def test_a_claim_without_rows_is_not_tested(profile):
    gone = replace(profile, estimates=profile.estimates.filter(~pl.col("statistic").str.starts_with("pull")))
    assert "Personas pull each judge toward their own pool" not in answers(gone)
    assert "Not tested here" in str(claims.section(View(gone), Words("en", PAIR)).blocks)


def test_no_text_of_the_corpus_acts(report, tables):
    assert not re.search(r"(?<!\\)<b>", markdown(report))
    assert all("<b>" not in tex for tex in tables.values())


def test_tables_of_the_experiment_are_written_as_latex(tables):
    assert {"q1-best", "q1-parts-1-tilt", "q1-pull-tilt", "q1-designs", "q1-icl-tests-1"} <= set(tables)
    assert "q1-parts-1-cells" not in tables
    assert r"\textbf{" in tables["q1-best"]


def test_many_judges_are_folded():
    profile = experiment()
    names = [f"judge-{place}" for place in range(14)]
    copies = [
        profile.estimates.filter(pl.col("judge") == JUDGES[0]).with_columns(judge=pl.lit(name)) for name in names
    ]  # fmt: skip
    meta = {**profile.meta, "judges": [*JUDGES, *names]}
    meta["cells"] = [{**cell, "judge": name} for name in [*JUDGES, *names] for cell in profile.meta["cells"][:6]]
    many = replace(profile, estimates=pl.concat([profile.estimates, *copies]), meta=meta)
    folded = [block.summary for block in summary(View(many), Words("en", PAIR)).blocks if isinstance(block, Folded)]
    assert folded == ["All judges (18): verdict for each pool and pair"]


def test_every_text_of_the_experiment_is_used():
    """Each key is asked for as it stands, or by a pattern with a part filled in (not by one that takes any key)."""
    used = {text for _, text in strings()}
    fixed = {text for text in used if DYNAMIC not in text}
    patterns = [
        re.compile(re.escape(text).replace(DYNAMIC, r"[a-z0-9_.]+"))
        for text in used
        if DYNAMIC in text and re.fullmatch(rf"[a-z0-9_.{DYNAMIC}]+", text) and text[0] != DYNAMIC and "." in text
        and not text.startswith(tuple(f"{file}.{DYNAMIC}" for file in KEYS))
    ]  # fmt: skip
    idle = []
    for file in KEYS:
        table = loads((SOURCE / "texts" / "en" / f"{file}.toml").read_text(encoding="utf-8"))
        keys = list(_flat(table, ""))
        idle += [key for key in keys if key not in fixed and not any(p.fullmatch(key) for p in patterns)]
    assert idle == []


def _flat(table, prefix):
    for name, value in table.items():
        key = f"{prefix}{name}"
        if isinstance(value, dict):
            yield from _flat(value, f"{key}.")
        else:
            yield key
