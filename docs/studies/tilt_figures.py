"""Figures of docs/explanation/tilt-is-not-orientation.md: T and W of planted judges.

Run: ``python docs/studies/tilt_figures.py`` (about a minute of one core). Draws corpora like the paper's with
``voirdire.simulation``, computes T on Chinese imagery and fits W with the product's own code, prints the tables of the
page, and writes three SVG files beside it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parent))

from recovery_worlds import BENCHES, CENTER, CUTS, LEVELS, design_of, drawn, kind

from voirdire.reporting.drawing import svg
from voirdire.reporting.figures import GREY, INK, PALE, POOLS, altair, finish
from voirdire.simulation.judges import Character, judge_items
from voirdire.simulation.world import FIVE
from voirdire.stats.counterfactual import Outcomes
from voirdire.stats.decomposition import code_cells, fit_all
from voirdire.stats.features import Array

FOLDER = Path(__file__).resolve().parents[1] / "explanation" / "figures"
US, CN = POOLS[:2]
COPIES = ("copy of the US pool", "copy of the Chinese pool")
JUDGES: dict[str, tuple[float, Character]] = {
    "faithful, neutral": (0.5, kind()),
    "compressed to 0.3, neutral": (0.5, kind(scale=0.3)),
    "compressed and generous, neutral": (0.5, kind(scale=0.3, offset=0.4)),
    "hard floor at 3, neutral": (0.5, kind(floor=3.0)),
    "permissive, neutral": (0.5, kind(permissiveness=0.8)),
    "compressed, follows the US pool": (0.25, kind(scale=0.4, weights=(0.75, 0.25))),
    "follows the US pool": (0.2, kind(weights=(0.8, 0.2))),
    "follows the Chinese pool": (0.8, kind(weights=(0.2, 0.8))),
}
SCALES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
PLANTED = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Found:
    """What was found over corpora: middle, and the ends between which 95 of 100 corpora lie."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, draws: Sequence[float]) -> Found:
        low, high = np.percentile(draws, [2.5, 97.5])
        return cls(float(np.mean(draws)), float(low), float(high))


def one_corpus(judges: Mapping[str, Character], seed: int) -> dict[str, tuple[float, float]]:
    """T on Chinese imagery and W of every judge, and of an exact copy of each pool, on one corpus."""
    rng = np.random.default_rng(seed)
    humans, pools = drawn(BENCHES[0], rng)
    ratings = [judge_items(humans.expected, humans.cultures, judge, FIVE, rng)[0] for judge in judges.values()]
    every = np.stack([*ratings, *pools.mean])
    x = design_of(humans, pools)
    slopes = fit_all(code_cells(every, CUTS.levels), x, len(every)).slopes
    w = slopes[:, 1] / slopes[:, :2].sum(1)
    tilts = tilt_of(every, pools.mean, humans.cultures == "cn")
    return dict(zip((*judges, *COPIES), zip(tilts, w, strict=True), strict=True))


def tilt_of(ratings: Array, means: Array, seen: np.ndarray) -> Array:
    """T of each judge (judges, items) over the items that are seen."""
    outcomes = Outcomes.of(means[0], means[1], LEVELS)
    kept = seen & (outcomes.tilted > 0)
    position = (2 * ratings - means[0] - means[1])[:, kept] / (means[0] - means[1])[kept]
    return np.asarray(np.clip(position, -1, 1).mean(1))


def over_corpora(judges: Mapping[str, Character], corpora: int) -> dict[str, tuple[Found, Found]]:
    """T and W of every judge over corpora."""
    found = [one_corpus(judges, seed) for seed in range(corpora)]
    return {
        name: (Found.of([one[name][0] for one in found]), Found.of([one[name][1] for one in found]))
        for name in found[0]
    }


def swept(corpora: int) -> list[dict[str, Any]]:
    """T and W of judges of three orientations who use ever less of the scale."""
    judges = {f"{w}/{scale}": kind(scale=scale, weights=(1 - w, w)) for w in PLANTED for scale in SCALES}
    found = over_corpora(judges, corpora)
    return [
        {
            "scale": scale,
            "planted": f"W = {w}",
            "T": found[f"{w}/{scale}"][0].value,
            "W": found[f"{w}/{scale}"][1].value,
        }
        for w in PLANTED
        for scale in SCALES
    ]


def judges_figure(found: Mapping[str, tuple[Found, Found]]) -> Any:
    """Two panels with a row for each judge: T, and W."""
    alt = altair()
    order = list(found)
    panels = []
    for place, (title, domain, middle) in enumerate(
        (("T on Chinese imagery", [-1.05, 1.05], 0.0), ("W, which pool it follows", [-0.05, 1.05], 0.5))
    ):
        points = [
            {"name": name, "value": part[place].value, "low": part[place].low, "high": part[place].high}
            for name, part in found.items()
        ]
        axis = alt.Axis(ticks=False, domain=False, labelLimit=260, labels=place == 0)
        y = alt.Y("name:N", sort=order, title=None, axis=axis)
        x = alt.X("value:Q", title=title, scale=alt.Scale(domain=domain, nice=False), axis=alt.Axis(grid=True))
        base = alt.Chart(alt.Data(values=points)).encode(y=y)
        zero = (
            alt.Chart(alt.Data(values=[{"value": middle}])).mark_rule(color=GREY, strokeDash=[4, 3]).encode(x="value:Q")
        )
        interval = base.mark_rule(strokeWidth=2, color=INK).encode(x=alt.X("low:Q", title=title), x2="high:Q")
        dots = base.mark_point(filled=True, size=60, opacity=1, color=INK).encode(x=x)
        ends = [(domain[0], "left", CN if place == 0 else US, "Chinese pool" if place == 0 else "US pool")]
        ends += [(domain[1], "right", US if place == 0 else CN, "US pool" if place == 0 else "Chinese pool")]
        texts = [
            alt.Chart(alt.Data(values=[{"value": at, "label": label}]))
            .mark_text(align=align, baseline="bottom", dy=-6, fontWeight="bold", color=paint)
            .encode(x=alt.X("value:Q", title=title), y=alt.value(0), text="label:N")
            for at, align, paint, label in ends
        ]
        panels.append(alt.layer(zero, *texts, interval, dots).properties(width=230, height=24 * len(order)))
    return finish(alt.hconcat(*panels, spacing=24))


def sweep_figure(points: Sequence[Mapping[str, Any]]) -> Any:
    """Two panels against the share of the scale that is used: T slides, W stays."""
    alt = altair()
    order = [f"W = {w}" for w in PLANTED]
    paint = alt.Color("planted:N", title="planted", scale=alt.Scale(domain=order, range=[US, INK, CN]))
    shape = alt.Shape("planted:N", title="planted", scale=alt.Scale(domain=order))
    x = alt.X("scale:Q", title="share of the scale that the judge uses", scale=alt.Scale(domain=[1.0, 0.3]))
    panels = []
    for name, title, domain in (("T", "T on Chinese imagery", [-0.6, 0.6]), ("W", "W, estimated", [0, 1])):
        y = alt.Y(f"{name}:Q", title=title, scale=alt.Scale(domain=domain), axis=alt.Axis(grid=True))
        base = alt.Chart(alt.Data(values=[dict(point) for point in points])).encode(x=x, y=y, color=paint)
        marks = base.mark_line(strokeWidth=2) + base.mark_point(filled=True, size=50, opacity=1).encode(shape=shape)
        panels.append(marks.properties(width=270, height=220))
    return finish(alt.hconcat(*panels, spacing=30))


def items_figure() -> Any:
    """Three items of Chinese imagery on the scale: both pools, a faithful and a compressed neutral judge."""
    alt = altair()
    points, gaps = [], []
    for name, us, cn in (("dish one", 1.2, 4.6), ("dish two", 1.8, 4.8), ("dress", 2.6, 4.4)):
        middle = (us + cn) / 2
        given = {"US pool": us, "Chinese pool": cn, "faithful judge": middle}
        given["compressed judge"] = CENTER + 0.3 * (middle - CENTER)
        points += [{"item": name, "who": who, "rating": value} for who, value in given.items()]
        gaps.append({"item": name, "low": us, "high": cn})
    order = ["US pool", "Chinese pool", "faithful judge", "compressed judge"]
    title = "rating"
    axis = alt.Axis(values=[1, 2, 3, 4, 5], format="d", grid=True)
    x = alt.X("rating:Q", title=title, scale=alt.Scale(domain=[0.9, 5.1], zero=False, nice=False), axis=axis)
    y = alt.Y("item:N", title=None, axis=alt.Axis(ticks=False, domain=False))
    lines = alt.Chart(alt.Data(values=gaps)).mark_rule(color=PALE, strokeWidth=6)
    lines = lines.encode(x=alt.X("low:Q", title=title), x2="high:Q", y=y)
    shapes = ["circle", "circle", "triangle-up", "diamond"]
    marks = alt.Chart(alt.Data(values=points)).mark_point(filled=True, size=130, opacity=1)
    marks = marks.encode(
        x=x,
        y=y,
        color=alt.Color("who:N", title=None, scale=alt.Scale(domain=order, range=[US, CN, GREY, INK])),
        shape=alt.Shape("who:N", title=None, scale=alt.Scale(domain=order, range=shapes)),
    )
    return finish((lines + marks).properties(width=480, height=120))


def write(name: str, chart: Any, told: str) -> None:
    """A chart as SVG with a title that is read aloud."""
    drawing = svg(chart.to_dict()).replace("<svg ", '<svg role="img" ', 1)
    at = drawing.index(">") + 1
    (FOLDER / name).write_text(f"{drawing[:at]}<title>{told}</title>{drawing[at:]}\n", encoding="utf-8")


def main() -> None:
    """Draw, compute, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=int, default=40)
    corpora = parser.parse_args().corpora
    FOLDER.mkdir(exist_ok=True)
    found = over_corpora({name: character for name, (_, character) in JUDGES.items()}, corpora)
    print("| planted judge | W planted | T on Chinese imagery | W found |\n|---|---|---|---|")
    for name, (t, w) in found.items():
        planted = JUDGES[name][0] if name in JUDGES else COPIES.index(name)
        tilts = f"{t.value:+.2f} ({t.low:+.2f} to {t.high:+.2f})"
        print(f"| {name} | {planted:g} | {tilts} | {w.value:z.2f} ({w.low:z.2f} to {w.high:z.2f}) |")
    points = swept(corpora)
    print("\n| scale | planted | T | W |\n|---|---|---|---|")
    for point in points:
        print(f"| {point['scale']:g} | {point['planted']} | {point['T']:+.2f} | {point['W']:.2f} |")
    write("one-scale.svg", items_figure(), "Two pools, a faithful and a compressed neutral judge on three items")
    write("tilt-and-orientation.svg", judges_figure(found), "T and W of planted judges")
    write("compression.svg", sweep_figure(points), "T and W of judges who use ever less of the scale")


if __name__ == "__main__":
    main()
