"""The tables of one question: its pools, its pairs, each judge against every pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from voirdire.reporting.access import ALL, Cell
from voirdire.reporting.grid import Builder, Grid, Member, Spec
from voirdire.reporting.words import Words
from voirdire.signature import quote

POOL = (
    "n_items",
    "n_ratings",
    "n_raters",
    "raters_per_item",
    "consensus_mean",
    "alpha",
    "reliability",
    "split_half",
    "gate",
)
PAIR = (
    "cross_pool_pearson", "cross_pool_spearman", "cross_pool_kappa_qw", "disattenuated_r", "cross_pool_mad",
    "cross_pool_tv", "noise_floor", "gap_rms",
)  # fmt: skip
GAP = (
    "gap_test.p",
    "gap_test.null_mean",
    "gap_test.n_left_out",
    "gate.divergent",
    "gate.evaluation_not_recognition",
    "composition",
)
ANCHORS = (
    "anchor_class.high",
    "anchor_class.low",
    "anchor_class.contested",
    "anchor_class.divergent",
    "anchor_class.middle",
)
AGAINST = (
    "mae", "mae_vs_constant", "ceiling.judge", "ceiling.own", "plurality_agreement", "bias", "pearson", "spearman",
    "kappa_qw", "verdict",
)  # fmt: skip
CENTRE = (
    "delta", "delta_sq", "tilt", "tilt:form=ratio", "tilt:control=permuted", "delta_test.t_p_holm", "verdict",
    "orientation.w", "orientation.verdict",
)  # fmt: skip
FURTHER = (
    "delta_test.wilcoxon_p", "delta_test.wilcoxon_p_holm", "delta_test.wilcoxon_p_bh", "delta_test.n_zero",
    "delta_test.t_p", "delta_test.t_p_bh", "tilt.share_small_gaps", "equalised.delta", "equalised.tilt",
    "delta:control=permuted",
)  # fmt: skip
SCALE = ("mean_rating", "share_low", "share_high", "repeat_alpha", "repeat_sd", "missing_share")
SCALE_POOL = ("floor_recovery", "spread.sd_ratio", "spread.slope")
DISTANCE = ("distribution.w1", "distribution.w1_floor", "distribution.js", "distribution.js_floor")
VOTES: dict[tuple[str, ...], tuple[str, ...]] = {
    POOL: (
        "n_items", "n_ratings", "n_raters", "raters_per_item", "agreement.human", "agreement.best", "alpha",
        "reliability", "gate",
    ),
    PAIR: ("cross_pool_tv", "preference.reversed", "cross_pool_preference_r"),
    ANCHORS: (),
    AGAINST: (
        "agreement", "agreement.best", "agreement.human", "mae_vs_constant", "agreement:ties=out",
        "plurality_agreement", "preference_r", "verdict",
    ),
    CENTRE: ("delta", "tilt:form=ratio", "delta_test.t_p_holm", "verdict"),
    FURTHER: (
        "delta_test.wilcoxon_p", "delta_test.wilcoxon_p_holm", "delta_test.wilcoxon_p_bh", "delta_test.n_zero",
        "delta_test.t_p", "delta_test.t_p_bh",
    ),
    SCALE: ("ties_given", "repeat_alpha", "missing_share"),
    SCALE_POOL: (),
    DISTANCE: ("distribution.js:form=per_item", "distribution.js_floor:form=per_item"),
}  # fmt: skip
"""The columns of a question that asks for votes between two things, by those that they stand for."""
PREFERENCE = ("preference.strength", "preference.rms", "preference.ties", "position.raters")
"""How the votes of a pool fall."""
OF_THE_POOL = ("ceiling.own", "agreement.best", "agreement.human")
ROLES = ("placement", "subjectivity", "subjectivity:unit=ratings", "recognizability")


def of(b: Builder, names: tuple[str, ...]) -> tuple[str, ...]:
    """The statistics of a table: these, or those that stand for them where a question asks for votes."""
    return VOTES.get(names, names) if b.view.votes(b.question) else names


def without_pool(b: Builder, spec: Spec) -> Spec:
    """A column of what belongs to the pool alone, and of votes with a heading of their own."""
    if spec.statistic in OF_THE_POOL:
        return Spec(spec.statistic, place={"judge": "", "condition": ""})
    if spec.statistic == "mae_vs_constant" and b.view.votes(b.question):
        return Spec(spec.statistic, title=b.words.v("head.blind"))
    return spec


def specs(names: Sequence[str], **place: str) -> list[Spec]:
    """Columns of these statistics; ``name:params`` names a variant."""
    return [Spec(name.partition(":")[0], name.partition(":")[2], place=place) for name in names]


def pools(b: Builder) -> Grid | None:
    """Each pool: how many, how reliable, the gate's outcome."""
    members: list[Member] = [((pool,), {"pool": pool}) for pool in b.view.pools_of(b.question)]
    return b.table("pools", b.words.t("caption.pools"), [b.words.t("head.pool")], specs(of(b, POOL)), [("", members)])


def preferences(b: Builder) -> Grid | None:
    """Each pool that votes between two things: how strongly it prefers, its ties, and the side it was shown first."""
    if not b.view.votes(b.question):
        return None
    members: list[Member] = [((pool,), {"pool": pool}) for pool in b.view.pools_of(b.question)]
    caption = b.words.v("caption.preferences")
    return b.table("preferences", caption, [b.words.t("head.pool")], specs(PREFERENCE), [("", members)])


def pair_members(b: Builder) -> list[Member]:
    """A row for each pair that is shown in full."""
    return [((a, c), {"pool": a, "pool_b": c}) for a, c in b.view.pairs(b.question)]


def pairs(b: Builder) -> list[Grid]:
    """Each pair of pools: agreement and gap, the gap test and the gate, anchors."""
    w = b.words
    heads = [w.t("head.pool_a"), w.t("head.pool_b")]
    parts = (("pairs", PAIR), ("gap", GAP), ("anchors", ANCHORS))
    grids = [
        b.table(name, w.t(f"caption.{name}"), heads, specs(of(b, names)), [("", pair_members(b))])
        for name, names in parts
    ]
    return [grid for grid in grids if grid]


def roles(b: Builder) -> Grid | None:
    """What the questions of placement, subjectivity and recognizability show, per pool and slice."""
    w = b.words
    places = [(pool, part) for pool in b.view.pools_of(b.question) for part in ["all", *b.view.slices]]
    members: list[Member] = [
        ((pool, w.slice(part)), {"pool": pool, "slice": part})
        for pool, part in places
        if any(b.find(spec, {"pool": pool, "slice": part}) for spec in specs(ROLES))
    ]
    return b.table("roles", w.t("caption.roles"), [w.t("head.pool"), w.t("head.slice")], specs(ROLES), [("", members)])


def role_tests(b: Builder) -> Grid | None:
    """The paired tests of recognizability."""
    w = b.words
    columns = [
        Spec(name, f"pairing={unit}", group=w.t(f"pairing.{unit}"))
        for unit in ("concept", "item")
        for name in ("recognizability_test.statistic", "recognizability_test.p")
    ]
    heads = [w.t("head.pool_a"), w.t("head.pool_b")]
    return b.table("roletests", w.t("caption.role_tests"), heads, columns, [("", pair_members(b))])


def matrix(b: Builder, statistic: str) -> Grid | None:
    """Pool by pool, as a heat map."""
    names = b.view.pools_of(b.question)
    found = [r.value for r in b.view.rows(statistic, question=b.question, slice="all") if r.value is not None]
    correlation = statistic != "cross_pool_mad" and statistic != "cross_pool_tv"
    top = 1.0 if correlation else max(found, default=0.0) or 1.0
    columns = [
        Spec(
            statistic,
            title=name,
            place={"pool_b": name},
            symmetric=True,
            heat=lambda v: v / top,
            diverging=correlation,
            plain=True,
        )
        for name in names
    ]
    members: list[Member] = [((name,), {"pool": name}) for name in names]
    caption = b.words.t("caption.matrix", name=b.words.statistic(statistic))
    return b.table(f"matrix-{statistic}", caption, [b.words.t("head.pool")], columns, [("", members)])


def _conditions_matter(cells: Sequence[Cell]) -> bool:
    return any(cell.condition not in {"-", ALL, ""} for cell in cells)


def cell_heads(b: Builder, cells: Sequence[Cell]) -> list[str]:
    """Headings of the columns that name a judge, and its condition where one is shown."""
    w = b.words
    return [w.t("head.judge"), w.t("head.condition")] if _conditions_matter(cells) else [w.t("head.judge")]


def cell_members(b: Builder, cells: Sequence[Cell], shown: Sequence[Cell]) -> list[Member]:
    """A row for each judge (and condition)."""
    with_condition, labels = _conditions_matter(shown), b.view.labels(b.question)
    return [
        (
            (b.words.judge(cell.judge, labels=labels), b.words.condition(cell.condition))
            if with_condition
            else (b.words.judge(cell.judge, labels=labels),),
            {"judge": cell.judge, "condition": cell.condition},
        )
        for cell in cells
    ]


def with_pools(b: Builder, members: Sequence[Member]) -> list[Member]:
    """Each row once for every pool."""
    return [((*heads, pool), {**key, "pool": pool}) for heads, key in members for pool in b.view.pools_of(b.question)]


def against_pools(b: Builder, cells: Sequence[Cell], controls: Sequence[Cell], name: str, caption: str) -> Grid | None:
    """Each judge against every pool, with intervals, ceilings and the control judges."""
    w = b.words
    groups = [
        ("", with_pools(b, cell_members(b, cells, cells))),
        (w.t("control_judges"), with_pools(b, cell_members(b, controls, cells))),
    ]
    columns = [without_pool(b, spec) for spec in specs(of(b, AGAINST))]
    return b.table(name, caption, [*cell_heads(b, cells), w.t("head.pool")], columns, groups)


def pair_table(
    b: Builder, pair: tuple[str, str], cells: Sequence[Cell], controls: Sequence[Cell], name: str
) -> Grid | None:
    """Each judge between two pools, with the control judges beside it."""
    w = b.words
    place = {"pool": pair[0], "pool_b": pair[1]}
    columns = [_titled(b, spec) for spec in specs(of(b, CENTRE), **place)]
    groups = [("", cell_members(b, cells, cells)), (w.t("control_judges"), cell_members(b, controls, cells))]
    caption = w.t("caption.pair", a=pair[0], b=pair[1])
    return b.table(name, caption, cell_heads(b, cells), columns, groups)


def pair_details(b: Builder, pair: tuple[str, str], cells: Sequence[Cell], name: str) -> Grid | None:
    """Further tests, the percentage of the gap, and equal raters."""
    w = b.words
    place = {"pool": pair[0], "pool_b": pair[1]}
    votes = b.view.votes(b.question)
    human = [
        Spec("percent_of_human", title=w.t("percent_against", pool=target), place={"pool": target, "pool_b": other})
        for target, other in ((pair, pair[::-1]) if not votes else ())
    ]
    columns = [*human, *(_titled(b, spec) for spec in specs(of(b, FURTHER), **place))]
    grid = b.table(name, "", cell_heads(b, cells), columns, [("", cell_members(b, cells, cells))])
    if grid is None:
        return None
    return replace(grid, caption=w.t("caption.pair_details", a=pair[0], b=pair[1], parts=w.list(detail_parts(w, grid))))


def detail_parts(words: Words, grid: Grid) -> list[str]:
    """What a table of further numbers between two pools holds, in words."""
    held = {
        "tests": grid.has(*(name for name in FURTHER if name.startswith("delta_test."))),
        "share": grid.has("percent_of_human"),
        "equal": grid.has("equalised.delta", "equalised.tilt"),
    }
    return [words.t(f"detail_part.{name}") for name, there in held.items() if there]


def _titled(b: Builder, spec: Spec) -> Spec:
    if spec.params != "control=permuted":
        return spec
    title = b.words.t("own_permuted", name=b.words.statistic(spec.statistic))
    return Spec(spec.statistic, spec.params, title, place=spec.place)


def detail_pools(b: Builder) -> list[str]:
    """The pools that get columns of their own: all of them, or those of the pairs shown in full."""
    if not b.view.many_pools:
        return b.view.pools_of(b.question)
    return list(dict.fromkeys(pool for pair in b.view.pairs(b.question) for pool in pair))


def scale_use(b: Builder, cells: Sequence[Cell], controls: Sequence[Cell], name: str, caption: str) -> Grid | None:
    """How a judge uses the scale, and how it spreads its ratings beside each pool."""
    columns = specs(of(b, SCALE))
    for pool in detail_pools(b):
        columns += [Spec(name, group=pool, place={"pool": pool}) for name in of(b, SCALE_POOL)]
    groups = [("", cell_members(b, cells, cells)), (b.words.t("control_judges"), cell_members(b, controls, cells))]
    return b.table(name, caption, cell_heads(b, cells), columns, groups)


def distances(b: Builder, cells: Sequence[Cell]) -> Grid | None:
    """Distance of the judge's ratings from each pool's, as distributions, and after recalibration."""
    w = b.words
    members = with_pools(b, cell_members(b, cells, cells))
    columns = specs(of(b, DISTANCE))
    for pool in detail_pools(b) if not b.view.votes(b.question) else ():
        title = w.t("recalibrated_on", pool=pool)
        columns.append(Spec("recalibrated_mae", f"fit={quote(pool)}", title))
    grid = b.table("distances", "", [*cell_heads(b, cells), w.t("head.pool")], columns, [("", members)])
    if grid is None:
        return None
    caption = "distances_recalibrated" if grid.has("recalibrated_mae") else "distances"
    return replace(grid, caption=w.t(f"caption.{caption}"))


def slice_maps(b: Builder, cells: Sequence[Cell]) -> list[Grid]:
    """Slices by judges as heat maps: T for each pair, MAE for each pool."""
    w = b.words
    found: list[Grid | None] = []
    votes = b.view.votes(b.question)
    for place, (a, c) in enumerate(b.view.pairs(b.question) if not votes else ()):
        caption = w.t("caption.slices_tilt", a=a, b=c)
        found.append(slice_map(b, f"slices-tilt-{place + 1}", "tilt", {"pool": a, "pool_b": c}, cells, caption))
    for place, pool in enumerate(detail_pools(b)):
        caption = w.v("caption.slices", pool=pool) if votes else w.t("caption.slices_mae", pool=pool)
        statistic = "agreement" if votes else "mae"
        found.append(slice_map(b, f"slices-{statistic}-{place + 1}", statistic, {"pool": pool}, cells, caption))
    return [grid for grid in found if grid]


def slice_map(
    b: Builder, name: str, statistic: str, place: dict[str, str], cells: Sequence[Cell], caption: str
) -> Grid | None:
    """One statistic over slices (rows) and judges (columns)."""
    w = b.words
    names = b.view.slices
    rows = b.view.rows(statistic, question=b.question, params="", **place)
    found = [row.value for row in rows if row.value is not None and row.slice in {"all", *names}]
    diverging = statistic == "tilt"
    low, high = (0.0, 1.0) if diverging else (min(found, default=0.0), max(found, default=1.0))
    span = high - low or 1.0
    columns = [
        Spec(
            statistic, title=w.cell(cell), place={**place, "judge": cell.judge, "condition": cell.condition},
            heat=lambda v: (v - low) / span, diverging=diverging,
        )
        for cell in cells
    ]  # fmt: skip
    members: list[Member] = [((w.slice(part), _items_in(b, place, part)), {"slice": part}) for part in ["all", *names]]
    if not any(b.view.has(statistic, question=b.question, slice=part, **place) for part in names):
        return None
    return b.table(name, caption, [w.t("head.slice"), w.statistic("n_items")], columns, [("", members)])


def _items_in(b: Builder, place: dict[str, str], part: str) -> str:
    """How many items a slice has, for a pair or else for its first pool."""
    for pools in (place, {"pool": place["pool"]}):
        row = b.view.row("n_items", question=b.question, slice=part, **pools)
        if row is not None and row.value is not None:
            return b.words.number("n_items", row.value)
    return ""
