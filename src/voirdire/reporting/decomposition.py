"""The section on what T is made of: its figure, W between the pools, and the tables of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from voirdire.reporting import figures_experiment as charts
from voirdire.reporting import headline
from voirdire.reporting.access import Cell
from voirdire.reporting.blocks import Figure, Folded, Section, Text
from voirdire.reporting.figures import names_of
from voirdire.reporting.grid import Builder, Grid, Member, Spec
from voirdire.reporting.headline import SUMMANDS, Standing
from voirdire.reporting.tables import cell_heads, cell_members

FOUND = (
    ("orientation.w", ""),
    ("orientation.w", "pools=standardised"),
    ("orientation.pi", ""),
    ("orientation.pi", "curvature=yes"),
    ("orientation.neutrality_p", ""),
    ("orientation.neutrality_p_holm", ""),
    ("orientation.verdict", ""),
)
FURTHER = (
    ("orientation.contrast", ""),
    ("orientation.slope", ""),
    ("orientation.neutrality_lr", ""),
    ("orientation.neutrality_t", ""),
    ("orientation.neutrality_p_bh", ""),
    ("orientation.w", "consensus=raw"),
    ("orientation.pi", "pools=standardised"),
    ("orientation.flag", ""),
)
NOBODY = {"judge": "", "condition": ""}
SPLIT = (*SUMMANDS, "observed", "faithful")
MOST_JUDGES = 8
MOST_FOLDED = 800


def sections(b: Builder) -> list[Section]:
    """A section for each pair that has a decomposition."""
    found = (_section(b, number, pair) for number, pair in enumerate(b.view.pairs(b.question)))
    return [section for section in found if section.blocks]


def _section(b: Builder, number: int, pair: tuple[str, str]) -> Section:
    w, names = b.words, {"a": pair[0], "b": pair[1]}
    place = f"parts-{number + 1}"
    section = Section(place, w.x("section.parts", **names), 3)
    places = _places(b, pair, b.view.main_cells())
    if not places:
        return section
    section.blocks.append(Text((w.x("parts_intro", **names),)))
    section.blocks += _drawn(b, place, pair, places)
    section.blocks += _tables(b, place, pair, [here.cell for here in places.values()])
    detail = _places(b, pair, b.view.detail_cells())
    if detail:
        section.blocks += _folded_cells(b, place, pair, detail)
    return section


def _places(b: Builder, pair: tuple[str, str], cells: Sequence[Cell]) -> dict[str, Standing]:
    """Shown name -> where its decomposition stands, for the cells that have one."""
    found = {}
    for cell, name in names_of(cells, b.words).items():
        here = headline.standing(b.view, b.question, pair, cell)
        if here is not None:
            found[name] = here
    return found


def _drawn(b: Builder, place: str, pair: tuple[str, str], places: Mapping[str, Standing]) -> list[Figure]:
    w, names = b.words, {"a": pair[0], "b": pair[1]}
    found = []
    chart = charts.decomposition(b.view, w, b.question, pair, places, _slices(b))
    if chart is not None:
        caption, alt = w.x("figure.parts", **names), w.x("figure.parts_alt", **names)
        found.append(Figure(place, chart, caption, alt, heads=_heads(b), column=w.statistic("tilt")))
    chart = charts.weights(b.view, w, b.question, pair, places)
    if chart is not None:
        caption, alt = w.x("figure.w", **names), w.x("figure.w_alt", **names)
        column = w.statistic("orientation.w")
        found.append(Figure(f"{place}-w", chart, caption, alt, heads=(w.t("head.judge"),), column=column))
    return found


def _heads(b: Builder, first: str = "judge") -> tuple[str, ...]:
    """The headings of what stands in the figure of the parts."""
    return (b.words.t(f"head.{first}"), b.words.t("head.which"), b.words.t("head.slice"))


def _slices(b: Builder) -> list[str]:
    """All items, and each culture of the items in which T was split."""
    return ["all", *b.view.cultures(b.question, "tilt_split.observed")]


def _tables(b: Builder, place: str, pair: tuple[str, str], cells: Sequence[Cell]) -> list[Grid | Folded]:
    w, names = b.words, {"a": pair[0], "b": pair[1]}
    shown = [
        _table(b, f"{place}-found", w.x("caption.found", **names), pair, cells, FOUND),
        _table(b, f"{place}-tilt", w.x("caption.tilt_split", **names), pair, cells, _split("tilt")),
    ]
    further = [
        *_by_culture(b, place, pair, cells),
        _table(b, f"{place}-delta", w.x("caption.delta_split", **names), pair, cells, _split("delta")),
        _table(b, f"{place}-further", w.x("caption.further", **names), pair, cells, FURTHER),
        *_images(b, place, pair, cells),
    ]
    kept = [grid for grid in further if grid]
    return [*(grid for grid in shown if grid), *([Folded(w.x("fold.further"), tuple(kept))] if kept else [])]


def _split(of: str) -> tuple[tuple[str, str], ...]:
    return tuple((f"{of}_split.{part}", "") for part in SPLIT)


def _table(
    b: Builder,
    name: str,
    caption: str,
    pair: tuple[str, str],
    cells: Sequence[Cell],
    columns: Sequence[tuple[str, str]],
) -> Grid | None:
    """These statistics of the pair, a row for each cell."""
    place = {"pool": pair[0], "pool_b": pair[1]}
    specs = [
        Spec(statistic, params, _title(b, statistic, params), place=place | NOBODY if _nobody(statistic) else place)
        for statistic, params in columns
        if not params or b.view.has(statistic, params=params, question=b.question, **place)
    ]
    return b.table(name, caption, cell_heads(b, cells), specs, [("", cell_members(b, cells, cells))])


def _nobody(statistic: str) -> bool:
    """Whether an estimate is about no judge of the run."""
    return statistic.endswith(".faithful")


def _title(b: Builder, statistic: str, params: str = "") -> str:
    """The heading of a column: a part by its name alone, a variant by what sets it apart."""
    if "_split." in statistic:
        return b.words.x(f"column.{statistic.rpartition('.')[2]}")
    name = b.words.statistic(statistic)
    return b.words.x(f"variant.{params.replace('=', '_')}", name=name) if params else name


def _by_culture(b: Builder, place: str, pair: tuple[str, str], cells: Sequence[Cell]) -> list[Grid | None]:
    """The split of T in each culture of the items."""
    found = []
    for number, part in enumerate(_slices(b)[1:]):
        where = {"pool": pair[0], "pool_b": pair[1], "slice": part}
        specs = [
            Spec(name, title=_title(b, name), place=where | NOBODY if _nobody(name) else where)
            for name, _ in _split("tilt")
        ]  # fmt: skip
        caption = b.words.x("caption.tilt_split_in", a=pair[0], b=pair[1], slice=b.words.slice(part))
        members = [("", cell_members(b, cells, cells))]
        found.append(b.table(f"{place}-tilt-{number + 1}", caption, cell_heads(b, cells), specs, members))
    return found


def _images(b: Builder, place: str, pair: tuple[str, str], cells: Sequence[Cell]) -> list[Grid | None]:
    """The image effect: a column for each level of the items' culture."""
    where = {"pool": pair[0], "pool_b": pair[1]}
    levels = b.view.variants("orientation.image", question=b.question, **where)
    specs = [
        Spec("orientation.image", params, title=b.words.params(params), place=where)
        for params in levels
    ]  # fmt: skip
    members: list[Member] = cell_members(b, cells, cells)
    caption = b.words.x("caption.image", a=pair[0], b=pair[1])
    return [b.table(f"{place}-image", caption, cell_heads(b, cells), specs, [("", members)])]


def _folded_cells(b: Builder, place: str, pair: tuple[str, str], places: Mapping[str, Standing]) -> list[Folded | Text]:
    """The same for every judge under every condition, closed at first; drawn where there are not too many."""
    w, names = b.words, {"a": pair[0], "b": pair[1]}
    cells = [here.cell for here in places.values()]
    summary = w.t("fold.cells", count=len(cells))
    if len(cells) > MOST_FOLDED:
        return [Text((w.t("too_many_rows", rows=len(cells), summary=summary),), "note")]
    columns = (*(entry for entry in FOUND if not entry[1]), *_split("tilt"))
    grid = _table(b, f"{place}-cells", w.x("caption.cells", **names), pair, cells, columns)
    return [Folded(summary, (*_drawn_cells(b, place, pair, places), *([grid] if grid else [])))]


def _drawn_cells(b: Builder, place: str, pair: tuple[str, str], places: Mapping[str, Standing]) -> list[Figure]:
    """What T is made of under every condition, a figure for each judge; none of more than a few judges."""
    by_judge: dict[str, dict[str, Standing]] = {}
    for here in places.values():
        by_judge.setdefault(here.cell.judge, {})[b.words.condition(here.cell.condition)] = here
    if len(by_judge) > MOST_JUDGES:
        return []
    found = []
    for number, (judge, conditions) in enumerate(by_judge.items()):
        names = {"a": pair[0], "b": pair[1], "judge": b.words.judge(judge)}
        chart = charts.decomposition(b.view, b.words, b.question, pair, conditions, ["all"])
        if chart is not None:
            caption, alt = b.words.x("figure.parts_of", **names), b.words.x("figure.parts_of_alt", **names)
            heads, column = _heads(b, "condition"), b.words.statistic("tilt")
            found.append(Figure(f"{place}-judge-{number + 1}", chart, caption, alt, heads=heads, column=column))
    return found
