"""Tables of what a factor does: language, detail, demonstrations; and of what the items and regimes do."""

from __future__ import annotations

from collections.abc import Sequence

from voirdire.reporting.access import ALL, Row
from voirdire.reporting.experiment_tables import (
    Pair,
    between,
    by_judge,
    covariate_levels,
    first_block,
    judged,
    persona_levels,
    rows_of,
    slices_of,
    within,
)
from voirdire.reporting.figures import slug
from voirdire.reporting.grid import Builder, Grid, Member, Spec

FACTORS = ("language_effect", "detail_effect", "factor_effect")
MOVED = ("mean", "noise_floor", "max", "max_noise_floor", "of_means")
USE = ("mean_rating", "share_low", "share_high")
PLACED = ("tilt", "orientation.w", "delta")
TESTS = (
    "icl_effect.error.wilcoxon_cells_statistic", "icl_effect.error.n_nonzero", "icl_effect.error.wilcoxon_cells_p",
    "icl_effect.error.wilcoxon_cells_p_holm", "icl_effect.error.wilcoxon_items_p",
    "icl_effect.error.wilcoxon_items_p_holm", "icl_effect.error.t_items_p", "icl_effect.error.t_items_p_holm",
)  # fmt: skip


def factor_effects(b: Builder, statistic: str) -> list[Grid]:
    """Mean and largest matched change of each statistic, beside what the draw of items alone would make of it."""
    w = b.words
    grids = []
    for number, params in enumerate(b.view.variants(f"{statistic}.mean", question=b.question)):
        rows = [row for row in rows_of(b, f"{statistic}.mean") if row.params == params and row.judge == ALL]
        specs = [Spec(f"{statistic}.{part}", params) for part in MOVED]
        pools = list(dict.fromkeys((row.pool, row.pool_b) for row in rows))
        members: list[Member] = [
            ((w.slice(part), _named(pool)),
             {"slice": part, "pool": pool[0], "pool_b": pool[1], "judge": ALL, "condition": first_block(b)})
            for part in slices_of(b, rows)
            for pool in pools
        ]  # fmt: skip
        caption = w.x(f"caption.{statistic}", of=_of(b, params), factor=_factor(b, statistic, params))
        heads = [w.t("head.slice"), w.t("head.pool")]
        grids.append(b.table(f"{statistic.replace('_', '-')}-{number + 1}", caption, heads, specs, [("", members)]))
    return [grid for grid in grids if grid]


def _named(pools: tuple[str, str]) -> str:
    return " / ".join(pool for pool in pools if pool)


def _of(b: Builder, params: str) -> str:
    return b.words.statistic(b.words.setting(params, "of"))


def _factor(b: Builder, statistic: str, params: str) -> str:
    """The column behind an effect: of the design's parts, or named in the params."""
    named = b.words.setting(params, "factor")
    return named or str(b.view.design(b.question).get(statistic.partition("_")[0]) or "")


def levels(b: Builder, pair: Pair) -> Grid | None:
    """Use of the scale, T, W and delta under each design of demonstrations, all judges together."""
    w = b.words
    blocks = list(b.view.design(b.question).get("blocks") or [])
    if len(blocks) < 2:
        return None
    where = between(pair)
    specs = [Spec(name) for name in USE]
    specs += [Spec("floor_recovery", group=pool, place={"pool": pool}) for pool in pair]
    specs += [Spec(name, place=where) for name in PLACED]
    names = ["all", *b.view.cultures(b.question)]
    members: list[Member] = [
        ((w.slice(part), w.condition(block)), {"slice": part, "judge": ALL, "condition": block})
        for part in names
        for block in blocks
    ]
    heads = [w.t("head.slice"), w.x("head.design")]
    return b.table("designs", w.x("caption.designs", a=pair[0], b=pair[1]), heads, specs, [("", members)])


def changes(b: Builder, pair: Pair, *, whole: bool) -> list[Grid]:
    """What each design changes of T, W and delta against the same cells without demonstrations.

    whole : all judges together in every stratum; else each judge, group and persona in every culture
    """
    found = [_change(b, name, between(pair), whole=whole) for name in PLACED]
    return [grid for grid in found if grid]


def changes_of_use(b: Builder, *, whole: bool) -> list[Grid]:
    """What each design changes of the use of the scale, and of the low items of each pool."""
    found = [_change(b, name, {}, whole=whole) for name in USE]
    found += [_change(b, "floor_recovery", {"pool": pool}, whole=whole) for pool in b.view.pools_of(b.question)]
    return [grid for grid in found if grid]


def _change(b: Builder, name: str, place: dict[str, str], *, whole: bool) -> Grid | None:
    """Rows: strata, or groups and judges in each culture; columns: designs."""
    w, statistic = b.words, f"icl_effect.{name}"
    rows = rows_of(b, statistic, **place)
    variants = list(dict.fromkeys(row.params for row in rows))
    if not variants:
        return None
    specs = [Spec(statistic, params, _design(b, params), place=place) for params in variants]
    members: list[Member] = [
        ((w.slice(row.slice), _who(b, row)), {"slice": row.slice, "judge": row.judge, "condition": row.condition})
        for row in rows
        if row.params == variants[0]
        and (row.judge == row.condition == ALL) == whole
        and (whole or row.slice in _cultures(b))
    ]
    pools = b.view.pools_of(b.question)
    pool = f" ({place['pool']})" if len(place) == 1 else ""
    caption = w.x("caption.change", name=f"{w.statistic(name)}{pool}")
    number = f"-{pools.index(place['pool']) + 1}" if pool else ""
    heads, end = [w.t("head.slice"), w.x("head.group")], "" if whole else "-groups"
    return b.table(f"icl-{slug(name, 0)}{number}{end}", caption, heads, specs, [("", members)])


def _cultures(b: Builder) -> list[str]:
    return ["all", *b.view.cultures(b.question)]


def _design(b: Builder, params: str) -> str:
    return b.words.setting(params, "design")


def _who(b: Builder, row: Row) -> str:
    """The group of a change: judges, or all judges in a persona."""
    return b.words.group(row.judge) if row.condition == ALL else b.words.condition(row.condition)


def tests(b: Builder) -> list[Grid]:
    """The change of the absolute error against each pool: over cells as published, and over items."""
    w = b.words
    grids = []
    for number, params in enumerate(b.view.variants("icl_effect.error", question=b.question)):
        rows = [row for row in rows_of(b, "icl_effect.error.wilcoxon_cells_p") if row.params == params]
        specs = [Spec(name, params) for name in ("icl_effect.error", *TESTS)]
        members: list[Member] = [
            ((w.slice(row.slice), row.pool), {"slice": row.slice, "pool": row.pool, "judge": ALL, "condition": ALL})
            for row in rows
        ]
        caption = w.x("caption.icl_tests", design=_design(b, params))
        heads = [w.t("head.slice"), w.t("head.pool")]
        grids.append(b.table(f"icl-tests-{number + 1}", caption, heads, specs, [("", members)]))
    return [grid for grid in grids if grid]


def crossed(b: Builder, pair: Pair) -> list[Grid]:
    """T under each persona and design, and of the judges of each covariate level under each design."""
    w, design = b.words, b.view.design(b.question)
    column, where = design.get("demonstrations"), between(pair)
    if not column:
        return []
    blocks = list(design.get("blocks") or [])
    personas = [(ALL, within(name, block)) for name, _ in persona_levels(b) for block in blocks]
    groups = [(name, block) for name in covariate_levels(b) for block in blocks]
    parts = _cultures(b)
    specs = [Spec("tilt", title=w.slice(part), place={**where, "slice": part}) for part in parts]
    grids = []
    for name, wanted in (("icl-personas", personas), ("icl-covariates", groups)):
        members: list[Member] = [
            ((w.group(judge) if judge != ALL else "", w.condition(condition)), {"judge": judge, "condition": condition})
            for judge, condition in wanted
        ]
        caption = w.x(f"caption.{name.replace('-', '_')}", a=pair[0], b=pair[1])
        grids.append(b.table(name, caption, [w.x("head.group"), w.x("head.design")], specs, [("", members)]))
    return [grid for grid in grids if grid]


def covariate_gaps(b: Builder, pair: Pair) -> Grid | None:
    """The distance of T between the judges of two levels, in each design and what each design changes of it."""
    w, place = b.words, between(pair)
    specs = []
    for statistic in ("icl_effect.covariate_gap", "icl_effect.covariate_gap_change"):
        for params in b.view.variants(statistic, question=b.question, **place):
            if w.setting(params, "of") == "tilt":
                sides = " \u2212 ".join(w.setting(params, name) for name in ("level", "minus"))
                group = f"{w.statistic(statistic)}: {sides}"
                specs.append(Spec(statistic, params, _design(b, params), group, place))
    return b.table(
        "icl-gaps", w.x("caption.icl_gaps", a=pair[0], b=pair[1]), [w.t("head.slice")], _anywhere(b, specs),
        [("", [((w.slice(part),), {"slice": part, "judge": ALL, "condition": ALL}) for part in _cultures(b)])],
    )  # fmt: skip


def _anywhere(b: Builder, specs: Sequence[Spec]) -> list[Spec]:
    """Columns with the condition that their estimates stand at."""
    found = []
    for spec in specs:
        row = next(iter(b.view.rows(spec.statistic, question=b.question, params=spec.params, **dict(spec.place))), None)
        if row is not None:
            place = {**spec.place, "condition": row.condition}
            found.append(Spec(spec.statistic, spec.params, spec.title, spec.group, place))
    return found


def gap_correlation(b: Builder, pair: Pair) -> Grid | None:
    """Delta against the pools' gap over items, the control judges below."""
    w, place = b.words, between(pair)
    rows = rows_of(b, "gap_correlation", **place)
    block = first_block(b)
    own: list[Member] = [
        ((w.group(who),), {"judge": who, "condition": block})
        for who in judged(b, (row for row in rows if row.condition == block))
    ]
    controls: list[Member] = [
        ((w.judge(row.judge),), {"judge": row.judge, "condition": row.condition})
        for row in rows
        if row.judge.startswith("control:")
    ]
    groups = [("", own), (w.t("control_judges"), controls)]
    caption = w.x("caption.gap_correlation", a=pair[0], b=pair[1])
    return b.table("gap-correlation", caption, [w.t("head.judge")], [Spec("gap_correlation", place=place)], groups)


def bins(b: Builder, pair: Pair, of: str) -> list[Grid]:
    """T (or W) where a pool finds the items little, fairly and well recognizable: thirds, a table for each culture."""
    w, place, name = b.words, between(pair), f"recognizability_bins.{of}"
    variants = b.view.variants(name, question=b.question, **place)
    thirds = [params for params in variants if w.setting(params, "bins") == "3"]
    grids: list[Grid] = []
    for part in _cultures(b):
        rows = [row for row in rows_of(b, name, **place) if row.slice == part]
        specs = [
            Spec(name, params, w.x(f"bin.{w.setting(params, 'bin').replace('-', '_')}"),
                 w.setting(params, "by"), place)
            for params in thirds
        ]  # fmt: skip
        caption = w.x("caption.bins", name=w.statistic(of), slice=w.slice(part), a=pair[0], b=pair[1])
        end = "w-" if "." in of else ""
        grid = by_judge(b, f"bins-{end}{len(grids) + 1}", caption, rows, specs, first_block(b))
        grids += [grid] if grid else []
    return grids


def regimes(b: Builder, pair: Pair) -> list[Grid]:
    """The pools and the judges on the same items as two kinds of images."""
    w, place = b.words, between(pair)
    name = "regime_comparison"
    levels = b.view.variants(f"{name}.pearson", question=b.question, **place)
    specs = [
        Spec(f"{name}.{part}", params, group=w.params(params), place=place)
        for params in levels
        for part in ("pearson", "mad")
    ]
    across = ("gap_correlation", "gap_wilcoxon_statistic", "gap_wilcoxon_z", "gap_wilcoxon_p")
    specs += [Spec(f"{name}.{part}", group=w.x("regime.across"), place=place) for part in across]
    parts = slices_of(b, rows_of(b, f"{name}.pearson", **place))
    members: list[Member] = [((w.slice(part),), {"slice": part}) for part in parts]
    caption = w.x("caption.regimes", a=pair[0], b=pair[1])
    pools = b.table("regimes", caption, [w.t("head.slice")], specs, [("", members)])
    return [grid for grid in (pools, _regime_judges(b, pair)) if grid]


def _regime_judges(b: Builder, pair: Pair) -> Grid | None:
    w, place = b.words, between(pair)
    rows = [row for row in rows_of(b, "regime_comparison.tilt", **place) if row.condition == ALL]
    specs = [
        Spec(f"regime_comparison.{of}", params, group=w.params(params), place=place)
        for params in dict.fromkeys(row.params for row in rows)
        for of in ("tilt", "delta")
    ]
    specs += [
        Spec(f"regime_comparison.{part}", "of=tilt", group=w.x("regime.cells"), place=place)
        for part in ("cell_correlation", "sign_kept")
    ]
    return by_judge(b, "regimes-judges", w.x("caption.regime_judges", a=pair[0], b=pair[1]), rows, specs, ALL)
