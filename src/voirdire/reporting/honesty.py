"""What a reader must know beside the numbers: the warnings that apply here, and who the judges are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from voirdire.reporting.access import ALL, Row, View
from voirdire.reporting.audit import plain_grid
from voirdire.reporting.blocks import Section, Text
from voirdire.reporting.experiment_tables import against
from voirdire.reporting.grid import Grid
from voirdire.reporting.words import Words

NAMED = 8


def warnings(view: View, words: Words, question: str) -> list[str]:
    """The warnings that apply to a question, the gravest first."""
    found: list[str] = []
    for check in (_composition, _constant, _noise, _sign_change, _few_judges, _pseudo_replication, _winners_curse):
        found.extend(check(view, words, question))
    found.extend(_detectable(view, words, question))
    return found


def _labelled(view: View, statistic: str, question: str, *labels: str) -> list[Row]:
    return [row for row in view.rows(statistic, question=question) if row.label in labels]


def _composition(view: View, words: Words, question: str) -> Iterator[str]:
    for row in _labelled(view, "composition", question, "simpson"):
        yield words.t("simpson", a=row.pool, b=row.pool_b)


def _constant(view: View, words: Words, question: str) -> Iterator[str]:
    """Judges that are no better than a constant, by pool; as they are shown at the top."""
    main = set(view.main_cells())
    rows = _labelled(view, "verdict", question, "no_better_than_constant")
    for pool in view.pools_of(question):
        judges = [row.judge for row in rows if row.pool == pool and (row.judge, row.condition) in main]
        if judges:
            yield words.x("honesty.constant", pool=pool, judges=_names(words, judges))


def _names(words: Words, names: Sequence[str]) -> str:
    """Names in one line, the first few of many."""
    unique = list(dict.fromkeys(names))
    more = words.t("and_more", count=len(unique) - NAMED) if len(unique) > NAMED else ""
    return words.list([words.group(name) for name in unique[:NAMED]]) + more


def _noise(view: View, words: Words, question: str) -> Iterator[str]:
    rows = [row for row in _labelled(view, "tilt_noise.narrower", question, "yes") if row.slice == "all"]
    for pair in dict.fromkeys((row.pool, row.pool_b) for row in rows):
        judges = [row.judge for row in rows if (row.pool, row.pool_b) == pair]
        yield words.x("honesty.noise", judges=_names(words, judges), a=pair[0], b=pair[1])


def _sign_change(view: View, words: Words, question: str) -> Iterator[str]:
    block = _block(view, question)
    for row in _labelled(view, "origin_effect.sign_change", question, "yes", "uncertain"):
        if row.condition == block:
            key = f"honesty.sign_change_{row.label}"
            yield words.x(key, covariate=against(view, words, row.params), a=row.pool, b=row.pool_b)


def _few_judges(view: View, words: Words, question: str) -> Iterator[str]:
    rows = [row for row in view.rows("origin_effect.judge_t_p", question=question) if row.undefined == "few_judges"]
    for params in dict.fromkeys(row.params for row in rows):
        yield words.x("honesty.few_judges", covariate=against(view, words, params))


def _pseudo_replication(view: View, words: Words, question: str) -> Iterator[str]:
    rows = list(view.rows("pseudo_replication", question=question))
    apart = [row for row in rows if row.label == "yes"]
    if apart:
        yield words.x("honesty.pseudo_replication", count=len(apart), total=len(rows))


def _winners_curse(view: View, words: Words, question: str) -> Iterator[str]:
    rows = list(view.rows("winners_curse", question=question))
    cursed = [row for row in rows if row.label == "yes"]
    if cursed:
        yield words.x("honesty.winners_curse", count=len(cursed), total=len(rows))


def _detectable(view: View, words: Words, question: str) -> Iterator[str]:
    """The smallest T, delta and W that could have been found, of all judges together."""
    block = _block(view, question)
    for a, b in view.pairs(question):
        shown = []
        for params in view.variants("minimum_detectable", question=question):
            place = {"question": question, "pool": a, "pool_b": b, "judge": ALL, "condition": block}
            row = view.row("minimum_detectable", params=params, **place)
            if row is not None and row.value is not None:
                name = words.statistic(params.removeprefix("of="))
                shown.append(f"{name} {words.number('minimum_detectable', row.value)}".replace(" ", "\u00a0"))
        if shown:
            yield words.x("honesty.detectable", a=a, b=b, numbers=words.list(shown))


def _block(view: View, question: str) -> str:
    return str((view.design(question).get("blocks") or [ALL])[0])


def disclosed(view: View, words: Words) -> Section:
    """Who the judges are: every judge with its covariates, or that none were told. Always part of a report."""
    section = Section("disclosed", words.x("section.disclosed"), 2)
    if not view.judges:
        return section
    section.blocks.append(Text((words.x("intro.disclosed"),)))
    grid = covariates(view, words)
    if grid is None:
        section.blocks.append(Text((words.x("disclosed.none", judges=_names(words, view.judges)),), "caution"))
    else:
        section.blocks.append(grid)
    return section


def covariates(view: View, words: Words) -> Grid | None:
    """A row for each judge, a column for each covariate; None without a covariate."""
    names = list(view.meta.get("covariates") or [])
    told = view.meta.get("judges_covariates") or {}
    unknown = words.x("disclosed.unknown")
    rows = []
    for judge in view.judges:
        known = told.get(judge) or {}
        rows.append((words.judge(judge), *(unknown if known.get(n) is None else str(known[n]) for n in names)))
    caption, head = words.x("caption.disclosed"), [words.t("head.judge")]
    return plain_grid("disclosed", caption, head, [View.clean(name) for name in names], rows) if names else None
