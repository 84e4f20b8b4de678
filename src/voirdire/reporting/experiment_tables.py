"""The tables of a factorial run: one for each question that the design can answer, none where it cannot.

Rows are judges (or groups of them), slices or designs; whatever is a parameter of a statistic makes a column.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from voirdire.analysis.naming import level_name
from voirdire.reporting.access import ALL, Row, View
from voirdire.reporting.grid import Builder, Grid, Member, Spec
from voirdire.reporting.words import Words
from voirdire.signature import quote

Pair = tuple[str, str]
ERRORS = ("g1", "cr0", "cr1_nested", "cr1_full")


def between(pair: Pair) -> dict[str, str]:
    """The pools of a pair as parts of a place."""
    return {"pool": pair[0], "pool_b": pair[1]}


def first_block(b: Builder) -> str:
    """The condition of the rows without demonstrations (``*`` where there are none)."""
    return str((b.view.design(b.question).get("blocks") or [ALL])[0])


def within(selection: str, block: str) -> str:
    """A selection of conditions inside a block (``persona=us`` in ``design=base``)."""
    return selection if block == ALL else f"{selection}&{block}"


def persona_levels(b: Builder) -> list[tuple[str, str]]:
    """The levels of the persona as selections, with the pool that each speaks for (none: empty); those without first.

    Empty where no factor is a persona.
    """
    design = b.view.design(b.question)
    column = design.get("persona")
    if not column:
        return []
    found = [(level_name(column, level), "") for level in design.get("neutral") or []]
    return [*found, *((level_name(column, level), pool) for level, pool in (design.get("personas") or {}).items())]


def covariate_levels(b: Builder) -> list[str]:
    """The levels of the judges' covariates as selections of judges (``origin=us``)."""
    told = (b.view.meta.get("judges_covariates") or {}).values()
    return [
        level_name(name, str(level))
        for name in b.view.meta.get("covariates") or []
        for level in dict.fromkeys(row.get(name) for row in told)
        if level is not None
    ]


def against(view: View, words: Words, params: str) -> str:
    """The covariate of an effect, its level and what this is held against: the only other level, or the rest."""
    covariate, level = words.setting(params, "covariate"), words.setting(params, "level")
    if not level:
        return words.regressor(params)
    told = (view.meta.get("judges_covariates") or {}).values()
    levels = dict.fromkeys(str(row[covariate]) for row in told if row.get(covariate) is not None)
    others = [View.clean(name) for name in levels if View.clean(name) != level]
    other = others[0] if len(others) == 1 else words.x("origin.rest")
    return words.x("origin.against", regressor=words.regressor(params), other=other)


def judged(b: Builder, rows: Iterable[Row]) -> list[str]:
    """All judges, groups and judges that rows are about, in this order; controls are left out."""
    names = dict.fromkeys(row.judge for row in rows if not row.judge.startswith("control:"))
    known = set(b.view.judges)
    return sorted(names, key=lambda name: (name in known, name != ALL))


def slices_of(b: Builder, rows: Iterable[Row]) -> list[str]:
    """The slices that rows are about, in their declared order."""
    found = {row.slice for row in rows}
    return [name for name in ("all", *b.view.slices) if name in found]


def rows_of(b: Builder, statistic: str, **place: str) -> list[Row]:
    """Every estimate of a statistic of this question, whatever its params."""
    return list(b.view.rows(statistic, question=b.question, **place))


def by_judge(
    b: Builder, name: str, caption: str, rows: Sequence[Row], specs: Sequence[Spec], condition: str
) -> Grid | None:
    """A row for each judge (and group) within each slice that the rows are about."""
    w = b.words
    slices = slices_of(b, rows)
    members: list[Member] = [
        ((w.slice(part), w.group(who)), {"judge": who, "condition": condition, "slice": part})
        for part in slices
        for who in judged(b, (row for row in rows if row.slice == part))
    ]
    return b.table(name, caption, [w.t("head.slice"), w.t("head.judge")], specs, [("", members)])


def kappa(b: Builder) -> Grid | None:
    """The best weighted kappa of any judge and condition with each pool, and which it is."""
    w = b.words
    members: list[Member] = [
        ((row.pool, w.condition(row.condition)), {"judge": ALL, "condition": row.condition, "pool": row.pool})
        for row in rows_of(b, "best_kappa.value")
        if row.pool
    ]
    specs = [Spec("best_kappa.value"), Spec("best_kappa.cell")]
    heads = [w.t("head.pool"), w.t("head.condition")]
    return b.table("best-kappa", w.x("caption.kappa"), heads, specs, [("", members)])


def r2(b: Builder, pair: Pair) -> Grid | None:
    """How much of the variance of delta the items explain, and what each term adds to them."""
    w = b.words
    block = first_block(b)
    place = between(pair)
    rows = rows_of(b, "r2_decomposition.r2", **place)
    terms = b.view.variants("r2_decomposition.increment", question=b.question, **place)
    specs = [
        Spec(f"r2_decomposition.{part}", group=w.x("r2.items"), place=place) for part in ("r2", "r2_adjusted")
    ]  # fmt: skip
    for params in terms:
        names = ("increment", "increment_adjusted", "share_of_judge")
        specs += [
            Spec(f"r2_decomposition.{part}", params, group=_term(b, params), place=place, plain=True) for part in names
        ]
    members: list[Member] = [
        ((w.slice(part),), {"slice": part, "judge": ALL, "condition": block}) for part in slices_of(b, rows)
    ]
    return b.table("r2", w.x("caption.r2", a=pair[0], b=pair[1]), [w.t("head.slice")], specs, [("", members)])


def _term(b: Builder, params: str) -> str:
    """``term=judge`` in words; a covariate by its name."""
    name = b.words.setting(params, "term")
    return b.words.x(f"r2.{name}") if name in ("judge", "condition") else name


def origin(b: Builder, pair: Pair) -> list[Grid]:
    """A covariate of the judges on delta: the judge as the unit first, then errors clustered on items."""
    place = between(pair)
    grids = []
    for number, params in enumerate(_plain(b.view.variants("origin_effect.coef", question=b.question, **place))):
        grids += [_origin(b, pair, params, number + 1, whole=whole) for whole in (False, True)]
        grids.append(_conditions(b, pair, params, number + 1))
    return [grid for grid in grids if grid]


def _plain(variants: Sequence[str]) -> list[str]:
    return [params for params in variants if "se=" not in params]


def _origin(b: Builder, pair: Pair, params: str, number: int, *, whole: bool) -> Grid | None:
    """In the baseline with one error; or (``whole``) in every block with every error."""
    w, place = b.words, between(pair)
    general, these = w.x("origin.general"), w.x("origin.these")
    specs = [Spec("origin_effect.coef", params, place=place)]
    specs += [
        Spec(f"origin_effect.{name}", params, group=general, place=place)
        for name in ("judge_permutation_p", "judge_t", "judge_t_p")
    ]
    for kind in ERRORS if whole else ERRORS[:1]:
        full = f"{params},se={kind}"
        title = w.x(f"origin.{kind}")
        specs += [
            Spec(f"origin_effect.{name}", full, f"{w.statistic(f'origin_effect.{name}')}, {title}", these, place)
            for name in ("se", "p")
        ]
    specs.append(Spec("origin_effect.sign_change", params, place=place))
    block = {} if whole else {"condition": first_block(b)}
    rows = list(b.view.rows("origin_effect.coef", question=b.question, params=params, **place, **block))
    members: list[Member] = [
        ((w.slice(row.slice), w.condition(row.condition)),
         {"judge": row.judge, "condition": row.condition, "slice": row.slice})
        for row in rows
    ]  # fmt: skip
    caption = w.x("caption.origin", covariate=against(b.view, w, params), a=pair[0], b=pair[1])
    heads = [w.t("head.slice"), w.t("head.condition")]
    name = f"origin-whole-{number}" if whole else f"origin-{number}"
    return b.table(name, caption, heads, specs, [("", members)])


def _conditions(b: Builder, pair: Pair, params: str, number: int) -> Grid | None:
    """The difference within each condition, with its corrected p."""
    w, place = b.words, between(pair)
    name = "origin_effect.condition_difference"
    specs = [Spec(f"{name}{end}", params, place=place) for end in ("", "_p", "_p_holm", "_p_bh")]
    rows = b.view.rows(name, question=b.question, params=params, **place)
    members: list[Member] = [
        ((w.slice(row.slice), w.condition(row.condition)),
         {"judge": row.judge, "condition": row.condition, "slice": row.slice})
        for row in rows
    ]  # fmt: skip
    caption = w.x("caption.origin_conditions", covariate=against(b.view, w, params), a=pair[0], b=pair[1])
    heads = [w.t("head.slice"), w.t("head.condition")]
    return b.table(f"origin-conditions-{number}", caption, heads, specs, [("", members)])


def pulls(b: Builder, pair: Pair, of: str) -> Grid | None:
    """How far each persona pulls T (or W) toward its pool, and whether it takes the judge across the middle."""
    w, place = b.words, between(pair)
    specs: list[Spec] = []
    for pool in pair:
        params = next((p for p in b.view.variants("pull", question=b.question, **place) if _says(p, pool, of)), None)
        if params is not None:
            group = w.x("persona.toward", pool=pool)
            names = ("pull", "pull_p", "pull_p_holm", "pull.crossing")
            specs += [Spec(name, params, group=group, place=place) for name in names]
    both = w.x("persona.both")
    specs += [Spec(name, f"of={of}", group=both, place=place) for name in ("pull.difference", "pull.larger")]
    rows = [row for row in rows_of(b, "pull", **place) if f"of={of}" in row.params.split(",")]
    kind = "w" if "." in of else of
    caption = w.x(f"caption.pull_{kind}", a=pair[0], b=pair[1])
    return by_judge(b, f"pull-{kind}", caption, rows, specs, first_block(b))


def _says(params: str, pool: str, of: str) -> bool:
    return set(params.split(",")) == {f"toward={quote(pool)}", f"of={of}"}


def persona_match(b: Builder, *, whole: bool) -> Grid | None:
    """Own-pool error with the persona of the image's culture, and with another pool's.

    whole : over all cultures together; else in each culture, against its pool
    """
    rows = [row for row in rows_of(b, "persona_match.matched") if (row.slice == "all") == whole]
    specs = [Spec(f"persona_match.{part}") for part in ("matched", "mismatched", "difference")]
    pools = list(dict.fromkeys(row.pool for row in rows))
    w = b.words
    members: list[Member] = [
        ((w.slice(part), w.group(who)),
         {"judge": who, "condition": first_block(b), "slice": part, "pool": pool})
        for pool in pools
        for part in slices_of(b, (row for row in rows if row.pool == pool))
        for who in judged(b, (row for row in rows if row.pool == pool and row.slice == part))
    ]  # fmt: skip
    heads = [w.t("head.slice"), w.t("head.judge")]
    name = "persona-match" if whole else "persona-match-cultures"
    return b.table(name, w.x("caption.persona_match"), heads, specs, [("", members)])


def floor_gap(b: Builder) -> Grid | None:
    """Under a pool's persona: how far above the pool judges rate what that pool rates lowest."""
    w = b.words
    members: list[Member] = [
        ((w.slice(row.slice), row.pool, w.condition(row.condition)),
         {"judge": row.judge, "condition": row.condition, "slice": row.slice, "pool": row.pool})
        for row in rows_of(b, "floor_gap")
    ]  # fmt: skip
    heads = [w.t("head.slice"), w.t("head.pool"), w.t("head.condition")]
    return b.table("floor-gap", w.x("caption.floor_gap"), heads, [Spec("floor_gap")], [("", members)])
